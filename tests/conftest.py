"""Fixtures of all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import toy
from tflabs.course.layout import Course

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """The toy course, built, in a folder of its own."""
    return toy.make_course(tmp_path / "course")


@pytest.fixture(scope="session")
def real_course() -> Course:
    """The course of this repository."""
    return Course(toy.ROOT)

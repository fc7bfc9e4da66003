"""Fixtures of all tests."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest

import toy
from share import share_of
from tflabs.course.layout import Course

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def pytest_addoption(parser: pytest.Parser) -> None:
    words = "of cases of which there are many (proofs of labs, hostile notebooks, …) run one in N"
    parser.addoption("--share", type=int, default=1, metavar="N", help=words)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    share = share_of(config.getoption("--share"))
    many = [item for item in items if item.get_closest_marker("many")]
    groups = itertools.groupby(many, lambda item: item.nodeid.partition("[")[0])
    taken = {item for _, group in groups for item in share.some(list(group))}
    left = [item for item in many if item not in taken]
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if item not in set(left)]


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """The toy course, built, in a folder of its own."""
    return toy.make_course(tmp_path / "course")


@pytest.fixture(scope="session")
def real_course() -> Course:
    """The course of this repository."""
    return Course(toy.ROOT)

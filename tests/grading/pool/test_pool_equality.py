"""`tflabs grade` and `nbgrader autograde` leave the same gradebook and the same notebooks behind.

TFLABS_POOL_SUBMISSIONS says of how many submissions, TFLABS_POOL_PLAIN how many of them are graded without our
configuration, too: that takes seconds for each.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pool_cases
import pytest

import toy
from tflabs.course.layout import Course

COUNT = int(os.environ.get("TFLABS_POOL_SUBMISSIONS", "32"))
PLAIN = int(os.environ.get("TFLABS_POOL_PLAIN", "10"))
pytestmark = [pytest.mark.xdist_group("pool-equality"), pytest.mark.timeout(900 + 30 * max(COUNT, PLAIN))]


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return pool_cases.prepared(tmp_path_factory.mktemp("pool") / "course", COUNT)


@pytest.fixture(scope="module")
def autograded(handed_in: Course, tmp_path_factory: pytest.TempPathFactory) -> Course:
    course = pool_cases.copied(handed_in, tmp_path_factory.mktemp("pool") / "autograded")
    pool_cases.nbgrader(course, "autograde", toy.LAB)
    return course


@pytest.mark.parametrize("jobs", [1, 4])
def test_the_gradebook_and_the_notebooks_are_those_of_nbgrader_autograde(
    handed_in: Course, autograded: Course, tmp_path: Path, jobs: int
) -> None:
    course = pool_cases.copied(handed_in, tmp_path / "course")
    document = json.loads(pool_cases.grade(course, "--jobs", str(jobs), "--json").stdout)
    assert document["graded"] == COUNT and document["failed"] == 0
    assert pool_cases.rows(course) == pool_cases.rows(autograded)
    assert pool_cases.texts(course) == pool_cases.texts(autograded)
    assert any(penalty for *_, penalty in pool_cases.rows(course)["submissions"])
    assert not list((course.root / ".grading").rglob("*.json"))


def test_many_jobs_at_a_time_do_not_meet_in_the_gradebook(tmp_path: Path) -> None:
    """More than two nurseries hold, and more than SQLite's lock would bear if each wrote for itself."""
    count = 66
    course = pool_cases.prepared(tmp_path / "course", count, kinds=pool_cases.PLAIN)
    document = json.loads(pool_cases.grade(course, "--jobs", "64", "--json").stdout)
    assert document["graded"] == count and document["failed"] == 0
    grades = [(student, cell, score) for student, cell, score, *_ in pool_cases.rows(course)["grades"]]
    due = {"solved": (1, 4), "untouched": (0, 0), "wrong": (1, 0), "half": (0, 4), "own-cells": (1, 4)}
    for student, cell, score in grades:
        assert score == due[student.partition("-")[2]][cell == "double-test"], (student, cell)
    assert len(grades) == 2 * count


def test_plain_work_gets_from_stock_nbgrader_what_it_gets_here(tmp_path: Path) -> None:
    course = pool_cases.prepared(tmp_path / "ours", PLAIN, kinds=pool_cases.PLAIN)
    stock = pool_cases.copied(course, tmp_path / "stock")
    stock.nbgrader_config.write_text(f"c = get_config()\n{pool_cases.POLICY.replace('c.Judge.timeout = 6', '')}")
    pool_cases.nbgrader(stock, "autograde", toy.LAB)
    pool_cases.grade(course)
    assert pool_cases.rows(course) == pool_cases.rows(stock)

"""`tflabs grade` and `nbgrader autograde` leave the same gradebook and the same notebooks behind."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pool_cases
import pytest

import toy
from tflabs.course.layout import Course

COUNT = int(os.environ.get("TFLABS_POOL_SUBMISSIONS", "32"))
pytestmark = [pytest.mark.xdist_group("pool-equality"), pytest.mark.timeout(900 + 30 * COUNT)]


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


def test_plain_work_gets_from_stock_nbgrader_what_it_gets_here(tmp_path: Path) -> None:
    course = pool_cases.prepared(tmp_path / "ours", 10, kinds=pool_cases.PLAIN)
    stock = pool_cases.copied(course, tmp_path / "stock")
    stock.nbgrader_config.write_text(f"c = get_config()\n{pool_cases.POLICY.replace('c.Judge.timeout = 6', '')}")
    pool_cases.nbgrader(stock, "autograde", toy.LAB)
    pool_cases.grade(course)
    assert pool_cases.rows(course) == pool_cases.rows(stock)

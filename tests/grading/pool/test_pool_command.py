"""What `tflabs grade` refuses, and in which words; what it grades, what it leaves."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pool_cases
import pytest

import toy
from tflabs.course.files import read_notebook
from tflabs.course.layout import Course

pytestmark = [pytest.mark.xdist_group("pool-command"), pytest.mark.timeout(300)]
KINDS = {"solved": pool_cases.answered, "wrong": pool_cases.KINDS["wrong"]}


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return pool_cases.prepared(tmp_path_factory.mktemp("pool") / "course", 3, kinds=KINDS)


@pytest.fixture
def course(handed_in: Course, tmp_path: Path) -> Course:
    return pool_cases.copied(handed_in, tmp_path / "course")


def states(course: Course, *arguments: str, code: int = 0) -> dict[str, str]:
    return {row["student"]: row["state"] for row in document(course, *arguments, code=code)["submissions"]}


def document(course: Course, *arguments: str, code: int = 0) -> Any:
    return json.loads(pool_cases.grade(course, "--json", *arguments, code=code).stdout)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["1-1-tyo"], "there is no lab '1-1-tyo'; did you mean 1-1-toy?"),
        (["1-2-later"], "the lab 1-2-later is not written yet"),
        (["--student", "000-slved"], "there is no submission of the student '000-slved'; did you mean 000-solved"),
        (["--jobs", "0"], "Invalid value for '--jobs'"),
        (["--scheduler", "tcp://127.0.0.1:9"], "no scheduler answers at tcp://127.0.0.1:9"),
    ],
)
def test_bad_usage_is_one_line(course: Course, arguments: list[str], words: str) -> None:
    done = pool_cases.grade(course, *arguments, code=2)
    assert words in done.stderr and not done.stdout
    assert len(done.stderr.strip().splitlines()) == 1


def test_no_folder_no_submission_no_assignment(course: Course) -> None:
    (course.root / "gradebook.db").rename(course.root / "elsewhere.db")
    done = pool_cases.grade(course, code=2)
    assert "the gradebook does not know 1-1-toy; run `nbgrader generate_assignment 1-1-toy` first" in done.stderr
    assert not (course.root / "gradebook.db").exists()
    shutil.rmtree(course.root / "submitted")
    assert "nothing was collected yet" in pool_cases.grade(course, code=2).stderr
    (course.root / "submitted" / "somebody" / "ps1").mkdir(parents=True)
    assert "there is no submission in" in pool_cases.grade(course, code=2).stderr
    assert "there is no submission of 1-1-toy in" in pool_cases.grade(course, toy.LAB, code=2).stderr


def test_a_configuration_without_our_judge_is_refused(course: Course) -> None:
    course.nbgrader_config.write_text("c = get_config()\n")
    assert "does not judge submissions by" in pool_cases.grade(course, code=2).stderr


def test_without_a_sandbox_nothing_is_graded(course: Course) -> None:
    course.nbgrader_config.write_text(f"{course.nbgrader_config.read_text()}\nc.Judge.backend = 'landlock'\n")
    command = [sys.executable, "-c", NO_SANDBOX]
    environment = pool_cases.environment(course)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "nothing more can be graded" in done.stderr and "cannot be confined" in done.stderr
    assert not (course.root / "autograded").exists()


# A machine whose kernel knows no Landlock.
NO_SANDBOX = """
import sys
from tflabs.grading.sandbox import landlock
landlock.version = lambda: 0
sys.argv = ["tflabs", "grade"]
from tflabs.cli import main
main()
"""


def test_what_is_no_notebook_of_the_lab_is_graded_as_one_without_answers(course: Course) -> None:
    def broken(student: str, text: str) -> Path:
        path = pool_cases.folder(course, student) / f"{toy.LAB}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
        return path

    reasons = {
        "no-json": "no JSON",
        "empty": "is empty",
        "old": "is in notebook format 3",
        "foreign": "holds none of the lab's exercises",
        "large": f"{toy.LAB}.ipynb' was left out: it is no plain file, or too large",
        "pipe": f"{toy.LAB}.ipynb' was left out: it is no plain file, or too large",
    }
    broken("no-json", "{")
    broken("empty", "")
    broken("old", '{"nbformat": 3, "worksheets": []}')
    broken("foreign", '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}')
    with broken("large", "").open("r+b") as file:
        file.truncate(65 << 20)
    path = broken("pipe", "")
    path.unlink()
    os.mkfifo(path)
    done = pool_cases.grade(course, "--json")
    rows = {row["student"]: row for row in json.loads(done.stdout)["submissions"]}
    for student, reason in reasons.items():
        assert rows[student]["state"] == "graded" and rows[student]["points"] == 0, rows[student]
        (line,) = [line for line in done.stderr.splitlines() if line.startswith(f"{student} · {toy.LAB}: ")]
        assert "graded as if it had no answers" in line
        graded = pool_cases.folder(course, student, "autograded") / f"{toy.LAB}.ipynb"
        assert reason in read_notebook(graded).cells[0].source


def test_what_lies_beside_a_notebook_costs_nothing(course: Course) -> None:
    pool_cases.submit(course, "link", pool_cases.answered(course))
    (pool_cases.folder(course, "link") / "data.txt").symlink_to(course.root / "gradebook.db")
    pool_cases.submit(course, "bad-time", pool_cases.answered(course), "yesterday, I think")
    rows = {row["student"]: row for row in document(course)["submissions"]}
    for student, name in (("link", "data.txt"), ("bad-time", "timestamp.txt")):
        assert rows[student]["points"] == rows[student]["max_points"], rows[student]
        autograded = pool_cases.folder(course, student, "autograded")
        assert not (autograded / name).exists()
        assert f"{name}' was left out" in read_notebook(autograded / f"{toy.LAB}.ipynb").cells[0].source


def test_one_that_cannot_be_graded_does_not_hold_up_the_others(course: Course) -> None:
    pool_cases.folder(course, "nothing").mkdir(parents=True)
    done = pool_cases.grade(course, "--json", code=1)
    read = json.loads(done.stdout)
    assert read["graded"] == 3 and read["failed"] == 1
    row = next(row for row in read["submissions"] if row["student"] == "nothing")
    assert row["state"] == "failed" and "it holds no notebook" in row["reason"]
    assert f"✗ nothing · {toy.LAB}: {row['reason']}" in done.stderr.splitlines()
    assert not pool_cases.folder(course, "nothing", "autograded").exists()
    again = states(course, code=1)
    assert {state for student, state in again.items() if student != "nothing"} == {"skipped"}


def test_what_is_graded_is_left_until_a_newer_submission_comes(course: Course) -> None:
    assert states(course, "--student", "000-solved") == {"000-solved": "graded"}
    first = pool_cases.texts(course)
    assert states(course) == {"000-solved": "skipped", "001-wrong": "graded", "002-solved": "graded"}
    assert first.items() <= pool_cases.texts(course).items()
    pool_cases.submit(course, "001-wrong", pool_cases.answered(course), pool_cases.LATE)
    pool_cases.submit(course, "002-solved", pool_cases.KINDS["wrong"](course), pool_cases.LATE)  # the time it had
    assert states(course) == {"000-solved": "skipped", "001-wrong": "graded", "002-solved": "skipped"}
    read = document(course, "--force", "--student", "001-wrong", "--student", "002-solved")
    rows = {row["student"]: row for row in read["submissions"]}
    assert {student: row["state"] for student, row in rows.items()} == {"001-wrong": "graded", "002-solved": "graded"}
    assert [rows[student]["points"] for student in rows] == [2, 0]  # three hours late, of 5 points and of 1
    assert read["graded"] == 2 and read["failed"] == read["pending"] == 0
    grades = {row[0]: row[2] for row in pool_cases.rows(course)["submissions"]}
    assert grades == {"000-solved": None, "001-wrong": 3, "002-solved": 1}


def test_a_grade_given_by_hand_stays(course: Course) -> None:
    import sqlite3

    pool_cases.grade(course)
    with sqlite3.connect(course.root / "gradebook.db") as gradebook:
        gradebook.execute("update grade set manual_score = 0.5")
    pool_cases.nbgrader(course, "autograde", toy.LAB, "--force")
    stock = pool_cases.rows(course)
    pool_cases.grade(course, "--force")
    assert pool_cases.rows(course) == stock
    assert all(manual == 0.5 and needs for *_, manual, _, needs in stock["grades"])


def test_the_table_says_what_was_done(course: Course) -> None:
    done = pool_cases.grade(course, "--jobs", "2")
    assert "3 graded" in done.stdout and toy.LAB in done.stdout
    assert "time left" in done.stderr

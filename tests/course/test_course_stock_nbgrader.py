"""The stock nbgrader commands work in a course of ours as they are."""

from __future__ import annotations

import csv

import pytest

import toy
from spoilt import nbgrader
from tflabs.course.layout import Course


@pytest.mark.timeout(300)
def test_a_term_with_stock_commands(course: Course) -> None:
    for student, notebook in {
        "ada": toy.solved(course),
        "bob": toy.learner_notebook(course, guess="guessed = 4"),
    }.items():
        toy.save(notebook, course.root / "submitted" / student / toy.LAB / f"{toy.LAB}.ipynb")
    nbgrader(course, "generate_assignment", toy.LAB, "--force")
    nbgrader(course, "autograde", toy.LAB)
    nbgrader(course, "generate_feedback", toy.LAB)
    nbgrader(course, "export", "--to", "grades.csv")
    with (course.root / "grades.csv").open(encoding="utf-8") as file:
        scores = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
    assert scores == {"ada": 5.0, "bob": 1.0}
    feedback = course.root / "feedback" / "bob" / toy.LAB / f"{toy.LAB}.html"
    assert "not answered yet" in feedback.read_text(encoding="utf-8")


def test_validate_tells_a_learner_what_fails(course: Course) -> None:
    path = toy.save(toy.learner_notebook(course, guess="guessed = 5"), course.root / "here.ipynb")
    assert "twice two is 4, found 5" in nbgrader(course, "validate", str(path)).stdout
    path = toy.save(toy.solved(course), path)
    assert "Success!" in nbgrader(course, "validate", str(path)).stdout

"""`nbgrader autograde` with our configuration: the points of `tflabs check`, whatever was submitted."""

from __future__ import annotations

import copy
import csv
import json
from collections.abc import Callable
from typing import Any

import pytest

import toy
from spoilt import cell, nbgrader, old_format, pass_every_test, retype
from tflabs.course.build import read_source
from tflabs.course.files import read_notebook
from tflabs.course.layout import Course
from tflabs.grading.grade import grade
from tflabs.grading.places import place_for_own_work
from tflabs.grading.run import Limits

DOUBLE = "def double(x):\n    if type(x) is not int: raise TypeError\n    return 2 * x"
SECONDS = 4


def answered(course: Course, double: str, guess: str = "guessed = 4") -> Any:
    return toy.learner_notebook(course, guess=guess, double=double)


def edited(course: Course, edit: Callable[[Any], None]) -> Any:
    notebook = copy.deepcopy(toy.solved(course))
    edit(notebook)
    return notebook


NOISY = f"import os, sys\nprint('careful', file=sys.stderr)\nos.write(2, b'log line')\n{DOUBLE}"
WARNS = DOUBLE.replace("return", "import warnings; warnings.warn('x'); return")
SUBMISSIONS: dict[str, tuple[float, Callable[[Course], Any]]] = {
    "solved": (5, toy.solved),
    "untouched": (0, toy.learner_notebook),
    "wrong": (1, lambda course: answered(course, "def double(x): return 4")),
    "noisy": (5, lambda course: answered(course, NOISY)),
    "warns": (5, lambda course: answered(course, WARNS)),
    "exits": (1, lambda course: answered(course, "import os\ndef double(x): os._exit(0)")),
    "exits-at-once": (4, lambda course: answered(course, DOUBLE, "import os\nos._exit(0)")),
    "endless": (1, lambda course: answered(course, "def double(x):\n    while True: pass")),
    "retyped": (5, lambda course: edited(course, retype)),
    "reversed": (5, lambda course: edited(course, lambda notebook: notebook.cells.reverse())),
    "deleted": (5, lambda course: edited(course, lambda notebook: notebook.cells.remove(cell(notebook, "guess-test")))),
    "doubled": (5, lambda course: edited(course, lambda notebook: notebook.cells.append(cell(notebook, "double")))),
    "old-format": (5, lambda course: edited(course, old_format)),
    "changed-tests": (1, lambda course: edited(course, pass_every_test)),
    "value-as-points": (1, lambda course: answered(course, "def double(x): return 0\nfloat('nan')")),
    "large-output": (5, lambda course: answered(course, f"print('x' * 30_000_000)\n{DOUBLE}")),
}


@pytest.mark.timeout(400)
def test_every_submission_gets_the_points_of_check_and_a_reason(course: Course) -> None:
    course.nbgrader_config.write_text(f"{course.nbgrader_config.read_text()}\nc.Judge.timeout = {SECONDS}\n")
    for student, (_, submission) in SUBMISSIONS.items():
        path = course.root / "submitted" / student / toy.LAB / f"{toy.LAB}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(submission(course)), encoding="utf-8")
    nbgrader(course, "generate_assignment", toy.LAB, "--force")
    nbgrader(course, "autograde", toy.LAB)
    nbgrader(course, "export", "--to", "grades.csv")
    with (course.root / "grades.csv").open(encoding="utf-8") as file:
        scores = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
    assert scores == {student: points for student, (points, _) in SUBMISSIONS.items()}
    assert scores == checked(course)
    for student, points in scores.items():
        path = course.root / "autograded" / student / toy.LAB / f"{toy.LAB}.ipynb"
        errors = [output for each in read_notebook(path).cells for output in each.get("outputs", [])]
        assert points == 5 or any(output.output_type == "error" and output.evalue for output in errors), student
        assert path.stat().st_size < 2_000_000
    repaired = (course.root / "autograded" / "deleted" / toy.LAB / f"{toy.LAB}.ipynb").read_text(encoding="utf-8")
    assert "the test 'guess-test' was missing; it was put back" in repaired


def checked(course: Course) -> dict[str, float]:
    lab, release = read_source(course, toy.LAB), read_notebook(course.release(toy.LAB))
    points = {}
    with place_for_own_work((str(course.root),)) as place:
        kernels, spawn = place.kernels(("json",), {}), place.examiner(("json",), {})
        for student in SUBMISSIONS:
            notebook = read_notebook(course.root / "submitted" / student / toy.LAB / f"{toy.LAB}.ipynb")
            limits = Limits(cell_seconds=SECONDS)
            points[student] = grade(lab, release, notebook, kernels, course.root, limits, spawn=spawn).points
    return points

"""A class of mixed submissions of the toy lab, and what nbgrader has of it in the end, for the pool's tests."""

from __future__ import annotations

import copy
import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat

import toy
from spoilt import cell, environment, nbgrader, old_format, pass_every_test, retype
from tflabs.course.layout import Course

DOUBLE = "def double(x):\n    if type(x) is not int: raise TypeError\n    return 2 * x"
DUE, EARLY, LATE = "2026-05-01 12:00:00 UTC", "2026-05-01 10:00:00 UTC", "2026-05-01 15:30:00 UTC"
# A point an hour, at most all of them: whole points in the gradebook.
POLICY = """

from nbgrader.plugins import LateSubmissionPlugin


class AnHour(LateSubmissionPlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return total_seconds_late // 3600


c.AssignLatePenalties.plugin_class = AnHour
c.Judge.timeout = 6
"""


def answered(course: Course, double: str = DOUBLE, guess: str = "guessed = 4") -> Any:
    return toy.learner_notebook(course, guess=guess, double=double)


def _edited(edit: Callable[[Any], None]) -> Callable[[Course], Any]:
    def make(course: Course) -> Any:
        notebook = copy.deepcopy(answered(course))
        edit(notebook)
        return notebook

    return make


def _own_cells(notebook: Any) -> None:
    for source in ("print(double(21))", "# a note to myself", "", "raise ValueError('just trying')"):
        notebook.cells.append(nbformat.v4.new_code_cell(source))
    notebook.cells.append(nbformat.v4.new_markdown_cell("Done."))


NOISY = f"import sys\nprint('careful', file=sys.stderr)\n{DOUBLE}"
READS = f"factor = int(open('factor.txt').read())\n{DOUBLE.replace('2 * x', 'factor * x')}"
# What a stock kernel judges as we do.
PLAIN: dict[str, Callable[[Course], Any]] = {
    "solved": answered,
    "untouched": toy.learner_notebook,
    "wrong": lambda course: answered(course, "def double(x): return 5"),
    "half": lambda course: answered(course, guess="guessed = 5"),
    "own-cells": _edited(_own_cells),
}
KINDS = PLAIN | {
    "noisy": lambda course: answered(course, NOISY),
    "exits": lambda course: answered(course, "import os\ndef double(x): os._exit(0)"),
    "exits-at-once": lambda course: answered(course, guess="import os\nos._exit(0)"),
    "retyped": _edited(retype),
    "reversed": _edited(lambda notebook: notebook.cells.reverse()),
    "deleted": _edited(lambda notebook: notebook.cells.remove(cell(notebook, "guess-test"))),
    "twice": _edited(lambda notebook: notebook.cells.append(copy.deepcopy(cell(notebook, "double")))),
    "old-format": _edited(old_format),
    "changed-tests": _edited(pass_every_test),
    "renamed": answered,
    "with-file": lambda course: answered(course, READS),
}


def hand_in(course: Course, count: int, kinds: dict[str, Callable[[Course], Any]] | None = None) -> list[str]:
    """Mixed submissions of so many students, some with a timestamp, some late; the students' names."""
    kinds = kinds or KINDS
    students = []
    for number in range(count):
        kind = list(kinds)[number % len(kinds)]
        student = f"{number:03}-{kind}"
        stamp = (None, EARLY, LATE)[number % 3]
        submit(course, student, kinds[kind](course), stamp, "mine (1).ipynb" if kind == "renamed" else None)
        if kind == "with-file":
            (folder(course, student) / "factor.txt").write_text("2", encoding="utf-8")
        students.append(student)
    return students


def folder(course: Course, student: str, step: str = "submitted") -> Path:
    return course.root / step / student / toy.LAB


def submit(course: Course, student: str, notebook: Any, stamp: str | None = None, name: str | None = None) -> None:
    path = folder(course, student) / (name or f"{toy.LAB}.ipynb")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook), encoding="utf-8")
    if stamp is not None:
        (path.parent / "timestamp.txt").write_text(stamp, encoding="utf-8")


def prepared(root: Path, count: int, **more: Any) -> Course:
    """The toy course with a late policy, its lab in the gradebook, and submissions."""
    course = toy.make_course(root)
    course.nbgrader_config.write_text(f"{course.nbgrader_config.read_text()}{POLICY}")
    nbgrader(course, "generate_assignment", toy.LAB, "--force")
    nbgrader(course, "db", "assignment", "add", toy.LAB, f"--duedate={DUE}")
    hand_in(course, count, **more)
    return course


def copied(course: Course, root: Path) -> Course:
    shutil.copytree(course.root, root)
    return Course(root)


def grade_command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "tflabs", "grade", *arguments]


def grade(course: Course, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        grade_command(*arguments), env=environment(course), capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done


GRADES = """
select student.id, base_cell.name, grade.auto_score, grade.manual_score, grade.extra_credit, grade.needs_manual_grade
from grade join submitted_notebook on grade.notebook_id = submitted_notebook.id
join submitted_assignment on submitted_notebook.assignment_id = submitted_assignment.id
join student on submitted_assignment.student_id = student.id
join base_cell on grade.cell_id = base_cell.id order by 1, 2
"""
COMMENTS = """
select student.id, base_cell.name, comment.auto_comment, comment.manual_comment
from comment join submitted_notebook on comment.notebook_id = submitted_notebook.id
join submitted_assignment on submitted_notebook.assignment_id = submitted_assignment.id
join student on submitted_assignment.student_id = student.id
join base_cell on comment.cell_id = base_cell.id order by 1, 2
"""
SUBMISSIONS = """
select student.id, submitted_assignment.timestamp, submitted_notebook.late_submission_penalty
from submitted_notebook join submitted_assignment on submitted_notebook.assignment_id = submitted_assignment.id
join student on submitted_assignment.student_id = student.id order by 1
"""


def rows(course: Course) -> dict[str, list[Any]]:
    """What the gradebook holds of the students' work: nothing in it is drawn at random, as nbgrader's ids are."""
    with sqlite3.connect(course.root / "gradebook.db") as gradebook:
        queries = {"grades": GRADES, "comments": COMMENTS, "submissions": SUBMISSIONS}
        return {name: gradebook.execute(query).fetchall() for name, query in queries.items()}


def texts(course: Course) -> dict[str, str]:
    """What each learner is told: the text of every autograded notebook, and the rights and names of what lies there."""
    found = {}
    for path in sorted((course.root / "autograded").rglob("*")):
        if path.is_file():
            name = path.relative_to(course.root).as_posix()
            found[name] = f"{path.stat().st_mode:o} {path.read_text(encoding='utf-8')}"
    return found

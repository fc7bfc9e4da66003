"""Checks one notebook of a learner's."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tflabs.course.editions import edition_for
from tflabs.course.files import read_notebook
from tflabs.course.lab import Lab, grade_id
from tflabs.course.layout import Course
from tflabs.course.merge import mark_of, require_lab
from tflabs.course.syllabus import Syllabus
from tflabs.errors import UserError
from tflabs.grading.examinations import Spawn
from tflabs.grading.grade import grade
from tflabs.grading.kernels import Kernels
from tflabs.grading.report import Report
from tflabs.program import PROGRAM


@dataclass(frozen=True)
class Subject:
    """A notebook to check, and the lab it belongs to."""

    lab: Lab
    release: Any
    notebook: Any
    path: Path
    note: str = ""  # about the release that the notebook was made from


def read_subject(course: Course, syllabus: Syllabus, path: Path, lab: str | None) -> Subject:
    """Read a notebook and find its lab; `lab` is the one that it must belong to, if the caller knows.

    Raises:
        UserError: the notebook is broken, foreign, or of another lab.
    """
    notebook = read_notebook(path)
    named = lab or mark_of(notebook, "lab")
    if named is None:
        raise UserError(f"{path} does not say which lab it belongs to; name the lab: {PROGRAM} check LAB --file {path}")
    syllabus.section(named)
    if not course.release(named).is_file():
        raise UserError(f"the lab {named} is not written yet")
    require_lab(notebook, read_notebook(course.release(named)), str(path))
    edition = edition_for(course, named, notebook)
    return Subject(edition.lab, edition.release, notebook, path, edition.note)


def check(
    subject: Subject,
    kernels: Kernels,
    spawn: Spawn,
    on_step: Callable[[str], None] = lambda step: None,
) -> Report:
    """Run the notebook as it is saved, in a fresh kernel; a fresh examiner judges it by all tests of the lab."""
    exercises = {
        name: exercise
        for exercise in subject.lab.exercises
        for name in (exercise.id, *(test.grade_id for test in exercise.tests))
    }

    def on_cell(cell: Any) -> None:
        exercise = exercises.get(grade_id(cell) or "")
        if exercise is not None:
            on_step(f"exercise {exercise.number} of {len(subject.lab.exercises)}: {exercise.title}")

    folder = subject.path.resolve().parent
    if not os.access(folder, os.R_OK | os.X_OK):
        raise UserError(f"cannot work in the folder {folder}")
    on_step("starting")
    told = (subject.note,) if subject.note else ()
    return grade(
        subject.lab, subject.release, subject.notebook, kernels, folder, on_cell=on_cell, spawn=spawn, told=told
    )

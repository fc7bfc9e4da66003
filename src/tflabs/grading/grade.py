"""Grades one notebook: put right, run, scored, explained."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tflabs.course.lab import Exercise, Lab, grade_id, parsed
from tflabs.course.lint import assigned
from tflabs.course.merge import put_right
from tflabs.grading.examinations import Examination, Spawn
from tflabs.grading.kernels import Kernels
from tflabs.grading.report import ExerciseResult, Report, TestResult
from tflabs.grading.run import UNREADABLE, CellRun, Limits, run_cells

LONGEST_MESSAGE = 1000
# What ends a test in the examiner, for one who does not know that there is an examiner.
_EXAMINERS_WORDS = {
    "LearnerExit": "your code raised SystemExit or KeyboardInterrupt, or ended in another way than by an exception",
    "LiveObjectError": "what your code gave is no plain value (a number, text, list, array …) that could be compared",
    "KernelSilent": "the kernel did not serve this test: it was changed, or held up; this test gives no points",
    "ProtocolError": "your code disturbed the test; this test gives no points",
}
UNANSWERED = "not answered yet"


def grade(
    lab: Lab,
    release: Any,
    learner: Any,
    kernels: Kernels,
    cwd: Path,
    limits: Limits | None = None,
    on_cell: Callable[[Any], None] = lambda cell: None,
    spawn: Spawn | None = None,
    told: tuple[str, ...] = (),
) -> Report:
    """Run the learner's notebook with all tests of the lab, hidden ones too.

    Args:
        lab: the instructor version, from which the tests are taken.
        release: the student version, against which the learner's notebook is put right.
        learner: the notebook as it was saved.
        cwd: the folder in which its cells run.
        on_cell: called with each cell before it runs.
        spawn: starts the examiner that judges the tests; without one they run in the kernel.
        told: notes of what happened before.
    """
    examination = Examination(spawn, answer_names(lab)) if spawn is not None else None
    merged = put_right(release, learner)
    runs = run_cells(with_full_tests(merged.notebook, lab).cells, kernels, cwd, limits, on_cell, examination)
    return score(lab, runs, merged.repairs, told=told)


def answer_names(lab: Lab) -> list[str]:
    """The names that the lab's solutions bind: what its tests may want of a learner."""
    return sorted({name for exercise in lab.exercises for name in assigned(parsed(exercise.solution))})


def with_full_tests(notebook: Any, lab: Lab) -> Any:
    """The notebook with the instructor's tests in the place of the visible ones."""
    tests = {test.grade_id: test.source for exercise in lab.exercises for test in exercise.tests}
    notebook = copy.deepcopy(notebook)
    for cell in notebook.cells:
        cell.source = tests.get(grade_id(cell) or "", cell.source)
    return notebook


def score(
    lab: Lab, runs: list[CellRun], repairs: tuple[str, ...] = (), only_proven: bool = False, told: tuple[str, ...] = ()
) -> Report:
    """Points and words for what the cells did. A test that did not end without an error is worth nothing.

    Args:
        only_proven: a test that has only the kernel's word is worth nothing, too: a grade is not given for that.
        told: notes of what happened before the cells ran.
    """
    by_id = {run.grade_id: run for run in runs if run.grade_id is not None}
    exercises = []
    for exercise in lab.exercises:
        answer = by_id.get(exercise.id)
        tests = []
        for test in exercise.tests:
            run = by_id.get(test.grade_id)
            message = _doubt(run, only_proven) if run and run.state == "ok" else explain(exercise, answer, run)
            points = 0.0 if message else test.points
            tests.append(TestResult(test.grade_id, points, test.points, message, run.judged if run else ""))
        exercises.append(ExerciseResult(exercise.id, exercise.title, tuple(tests)))
    return Report(lab.id, tuple(exercises), repairs, (*told, *_notes(runs)))


def _doubt(run: CellRun, only_proven: bool) -> str:
    """Why a test that passed gives no points all the same; empty if it gives them."""
    if not run.asked:
        return "the test passed without asking anything of your code: it proves nothing, and gives no points"
    if only_proven and run.judged == "kernel":
        return "no examiner judged this test, and what your own kernel says of it proves nothing; it gives no points"
    return ""


def explain(exercise: Exercise, answer: CellRun | None, test: CellRun | None) -> str:
    """Why a test gave no points, in words for the learner."""
    if test is None:
        return "the test did not run"
    if answer is not None and answer.state != "ok":
        what = _what(answer)
        return what if what == UNANSWERED else _cut(f"your cell for this exercise did not run: {what}")
    if test.state == "error" and test.ename == "NotImplementedError":
        return UNANSWERED if not test.evalue else _cut(f"NotImplementedError: {test.evalue}")
    if test.state == "error" and test.ename == "AssertionError":
        return _cut(_located(test.evalue or "an assertion of the test failed", test))
    return _cut(_what(test))


def _what(run: CellRun) -> str:
    if run.state == "timeout":
        return f"it did not end within {run.seconds:.0f} seconds"
    if run.ename == UNREADABLE:
        return f"its kernel sent messages that could not be read ({run.evalue})"
    if run.state == "died":
        return "it ended the kernel: the process exited, crashed, or ran out of memory"
    if run.ename == "NotImplementedError" and not run.evalue:
        return UNANSWERED
    if run.ename == "Altered":
        return f"{run.evalue}; it gives no points"
    if run.ename in _EXAMINERS_WORDS:
        return _EXAMINERS_WORDS[run.ename]
    return _located(f"{run.ename}: {run.evalue}" if run.evalue else run.ename, run)


def _located(text: str, run: CellRun) -> str:
    return f"{text} ({run.where})" if run.where else text


def _notes(runs: list[CellRun]) -> list[str]:
    """What a learner should know about cells that are no tests."""
    notes = []
    if any(run.role == "test" and run.judged == "kernel" for run in runs):
        notes.append("no examiner was asked: the tests ran in your kernel, and the points are its word")
    for run in runs:
        if run.role in ("free", "given") and run.state in ("timeout", "died"):
            notes.append(f"the cell {run.grade_id or run.id!r}: {_what(run)}; the rest ran in a new kernel")
        elif run.role == "given" and run.state == "error":
            notes.append(f"the given cell {run.grade_id!r} failed: {_what(run)}")
    return notes


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_MESSAGE else text[:LONGEST_MESSAGE] + " …"

"""The instructors' command: what is graded, and how it is shown."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

from tflabs.course.layout import Course, find_course
from tflabs.course.syllabus import read_syllabus
from tflabs.errors import UserError

if TYPE_CHECKING:
    from tflabs.grading.pool.grader import Outcome
    from tflabs.grading.pool.journal import Journal
    from tflabs.grading.pool.pool import Pool
    from tflabs.grading.pool.submissions import Submission


@dataclass(frozen=True)
class Wanted:
    """What was asked for; `jobs` None is as many as there are cores, `scheduler` None is this machine."""

    labs: tuple[str, ...] = ()
    students: tuple[str, ...] = ()
    jobs: int | None = None
    scheduler: str | None = None
    force: bool = False


def grade(wanted: Wanted, *, as_json: bool) -> int:
    """Grade the submissions of the named labs and students, or all; returns the exit code."""
    from tflabs.grading.pool.journal import Journal

    course = find_course()
    _require_written(course, wanted.labs)
    journal = Journal(course.root / ".grading")
    with journal.locked():
        shown = _Shown(Console(stderr=True, highlight=False, soft_wrap=True))
        _grade(course, journal, wanted, shown)
    document = shown.document()
    if as_json:
        print(json.dumps(document, ensure_ascii=False, indent=1))
    else:
        Console(highlight=False).print(_table(document))
    return 1 if shown.broken or shown.count()["failed"] else 0


def _grade(course: Course, journal: Journal, wanted: Wanted, shown: _Shown) -> None:
    from tflabs.grading.pool.grader import Grader
    from tflabs.grading.pool.pool import PoolBroken
    from tflabs.grading.pool.submissions import Submissions
    from tflabs.grading.pool.writer import Writer
    from tflabs.grading.sandbox import SandboxUnavailable

    writer = Writer(course, journal.folder)
    submissions = Submissions(course, writer.coursedir, writer.read_only, writer.cell_seconds)
    chosen = submissions.found(list(wanted.labs), list(wanted.students))
    for name in submissions.foreign() if not wanted.labs else []:
        shown.line(f"{name} is no lab of this course; it is left to `nbgrader autograde`")
    for lab in sorted({each.lab for each in chosen}):
        writer.require_assignment(lab)
    due = [each for each in chosen if wanted.force or journal.holds(each.lab, each.student) or submissions.is_due(each)]
    shown.found(chosen, due)
    if wanted.force:
        for each in due:
            journal.forget(each.lab, each.student)
    try:
        if due:
            with _pool(course, wanted, writer.backend) as pool, shown.progress:
                Grader(submissions, journal, writer, pool, shown.outcome).grade(due)
    except (PoolBroken, SandboxUnavailable) as error:
        shown.broken = str(error)
        shown.line(f"✗ nothing more can be graded: {error}")
    for lab in {each.lab for each in chosen}:
        shown.points[lab] = writer.points(lab)


def _pool(course: Course, wanted: Wanted, backend: str) -> contextlib.closing[Pool]:
    """Raises SandboxUnavailable if this machine allows no box, UserError if the scheduler cannot be used."""
    if wanted.scheduler is not None:
        from tflabs.grading.pool.cluster import ClusterPool

        return contextlib.closing(ClusterPool(wanted.scheduler, backend))
    from tflabs.grading.pool.local import LocalPool
    from tflabs.grading.sandbox import choose

    choose(backend)
    return contextlib.closing(LocalPool(wanted.jobs or os.cpu_count() or 1, (str(course.root),), backend))


def _require_written(course: Course, labs: tuple[str, ...]) -> None:
    syllabus, written = read_syllabus(course.syllabus), course.written_labs()
    for lab in labs:
        syllabus.section(lab)
        if lab not in written:
            raise UserError(f"the lab {lab} is not written yet; written are: {', '.join(written)}")


class _Shown:
    """What the user sees while the grading goes on, and the result of it."""

    def __init__(self, console: Console) -> None:
        left = TextColumn("time left"), TimeRemainingColumn()
        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), *left
        self.progress = Progress(*columns, console=console)
        self.broken = ""  # why no more could be graded
        self.points: dict[str, dict[str, tuple[float, float]]] = {}  # by lab and student: points, most points
        self._rows: dict[Submission, tuple[str, str]] = {}  # state, reason
        self._task: TaskID | None = None
        self._began = time.monotonic()

    def line(self, text: str) -> None:
        self.progress.console.print(text, markup=False)

    def found(self, chosen: list[Submission], due: list[Submission]) -> None:
        self._rows = dict.fromkeys(chosen, ("skipped", "it is graded already"))
        self._rows |= dict.fromkeys(due, ("pending", "it was not come to"))
        self._task = self.progress.add_task("grading", total=len(due))

    def outcome(self, outcome: Outcome) -> None:
        each = outcome.submission
        self._rows[each] = ("failed", outcome.reason) if outcome.reason else ("graded", "")
        if outcome.reason:
            self.line(_printable(f"✗ {each.student} · {each.lab}: {outcome.reason}"))
        elif outcome.refusal:
            self.line(_printable(f"{each.student} · {each.lab}: {outcome.refusal}"))
        assert self._task is not None
        self.progress.advance(self._task)

    def count(self) -> Counter[str]:
        return Counter(state for state, _ in self._rows.values())

    def document(self) -> dict[str, Any]:
        """What `--json` prints."""
        rows = []
        for each, (state, reason) in self._rows.items():
            points, most = self.points.get(each.lab, {}).get(each.student, (None, None))
            row = {"lab": each.lab, "student": each.student, "state": state, "reason": reason}
            rows.append(row | {"points": points if state in ("graded", "skipped") else None, "max_points": most})
        counts = {state: self.count()[state] for state in ("graded", "skipped", "failed", "pending")}
        seconds = round(time.monotonic() - self._began, 3)
        return {**counts, "broken": self.broken, "seconds": seconds, "submissions": rows}


def _printable(text: str) -> str:
    """One line, in which a learner's file name cannot steer the terminal."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)


def _table(document: dict[str, Any]) -> Table:
    """A line for each lab."""
    table = Table(title=f"{document['graded']} graded in {document['seconds']:.0f} s", title_justify="left")
    states = ("graded", "skipped", "failed", "pending")
    for column in ("lab", *states, "mean points", "of"):
        table.add_column(column, justify="left" if column == "lab" else "right")
    for lab in dict.fromkeys(row["lab"] for row in document["submissions"]):
        rows = [row for row in document["submissions"] if row["lab"] == lab]
        counts = Counter(row["state"] for row in rows)
        points = [row["points"] for row in rows if row["points"] is not None]
        mean = f"{sum(points) / len(points):.1f}" if points else ""
        most = next((f"{row['max_points']:g}" for row in rows if row["max_points"] is not None), "")
        table.add_row(lab, *(str(counts[state]) for state in states), mean, most)
    return table

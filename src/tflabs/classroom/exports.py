"""Exports of the gradebook that learning management systems import: plug-ins for `nbgrader export`.

    nbgrader export --exporter=tflabs.classroom.exports.CanvasExport --to canvas.csv
    nbgrader export --exporter=tflabs.classroom.exports.MoodleExport --to moodle.csv

A student without a submission gets an empty cell, which both systems take for "no grade"; late penalties are deducted,
as in nbgrader's own CSV. Which students and assignments is said by nbgrader's options `--student` and `--assignment`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.plugins import ExportPlugin
from traitlets import Bool, Dict, Enum, Unicode

from tflabs.course.files import write_text
from tflabs.errors import UserError


class _Export(ExportPlugin):  # type: ignore[misc]
    """A row for each student, a column for each assignment. A subclass says which, and how a student is named."""

    zero_if_missing = Bool(False, help="write 0 for a student who has not submitted, not an empty cell").tag(
        config=True
    )
    file_name = "grades.csv"

    def export(self, gradebook: Gradebook) -> None:
        """Write the file, whole or not at all; what cannot be exported is said, and ends nbgrader with exit code 1."""
        try:
            self._export(gradebook)
        except UserError as error:
            self.log.error(str(error))
            raise SystemExit(1) from None

    def _export(self, gradebook: Gradebook) -> None:
        """Raises UserError: a name that was asked for, or configured, is not in the gradebook; an id is none."""
        assignments = _chosen(gradebook.assignments, self.assignment, "name", "assignment")
        students = sorted(_chosen(gradebook.students, self.student, "id", "student"), key=lambda each: each.id)
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerows(self.head(assignments))
        for student in students:
            scores = [self._score(gradebook, assignment.name, student.id) for assignment in assignments]
            writer.writerow([*self.names_of(student), *scores])
        destination = Path(self.to or self.file_name)
        write_text(destination, text.getvalue())
        self.log.info("%d students, %d assignments: %s", len(students), len(assignments), destination)

    def head(self, assignments: list[Any]) -> list[list[str]]:
        raise NotImplementedError

    def names_of(self, student: Any) -> list[str]:
        raise NotImplementedError

    def _score(self, gradebook: Gradebook, assignment: str, student: str) -> str:
        try:
            submission = gradebook.find_submission(assignment, student)
        except MissingEntry:
            return "0" if self.zero_if_missing else ""
        return _number(max(0.0, submission.score - (submission.late_submission_penalty or 0.0)))


class CanvasExport(_Export):
    """What Canvas imports in its gradebook (its lib/gradebook_importer.rb).

    Canvas finds a student by the number in "ID", else by "SIS User ID", else by "SIS Login ID", else by name; and an
    assignment by the number in brackets behind its name, else by its name, else it proposes to make a new one.
    """

    assignment_ids = Dict(
        value_trait=Unicode(),
        key_trait=Unicode(),
        help="the number of each assignment in Canvas, by its name in nbgrader; its address there ends with it",
    ).tag(config=True)
    lms_user_id = Enum(("ID", "SIS User ID"), "ID", help="what nbgrader's `lms_user_id` of a student is in Canvas").tag(
        config=True
    )
    file_name = "canvas.csv"

    def head(self, assignments: list[Any]) -> list[list[str]]:
        _must_be_known(self.assignment_ids, assignments, "CanvasExport.assignment_ids", self.assignment)
        for name, number in self.assignment_ids.items():
            if not number.isdecimal():
                raise UserError(f"CanvasExport.assignment_ids: {number!r} of {name} is no number")
        titles = [
            f"{each.name} ({number})" if (number := self.assignment_ids.get(each.name)) else each.name
            for each in assignments
        ]
        points = [_number(each.max_score) for each in assignments]
        names = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
        return [[*names, *titles], ["    Points Possible", "", "", "", "", *points]]

    def names_of(self, student: Any) -> list[str]:
        number = student.lms_user_id or ""
        if self.lms_user_id == "ID" and number and not number.isdecimal():
            raise UserError(
                f"lms_user_id of {student.id} is {number!r}, and Canvas' ID is a number; "
                "if it is the id of the student information system: CanvasExport.lms_user_id = 'SIS User ID'"
            )
        ids = [number, ""] if self.lms_user_id == "ID" else ["", number]
        return [_full_name(student), *ids, student.id, ""]


class MoodleExport(_Export):
    """What Moodle imports under "Grades, Import, CSV file" (its grade/import/csv).

    There one column is mapped to the user: "Username" to `username`, "ID number" to `useridnumber`, or "Email address"
    to `useremail`; a row that is empty there is left out without a word. An empty grade removes none and sets none.
    """

    grade_items = Dict(
        value_trait=Unicode(),
        key_trait=Unicode(),
        help="the name of each grade item in Moodle, by the assignment's name in nbgrader: as in Moodle's own export, "
        "without its ` (Real)`",
    ).tag(config=True)
    file_name = "moodle.csv"

    def head(self, assignments: list[Any]) -> list[list[str]]:
        _must_be_known(self.grade_items, assignments, "MoodleExport.grade_items", self.assignment)
        names = ["First name", "Last name", "Username", "ID number", "Email address"]
        return [[*names, *(self.grade_items.get(each.name, each.name) for each in assignments)]]

    def names_of(self, student: Any) -> list[str]:
        fields = (student.first_name, student.last_name, student.id, student.lms_user_id, student.email)
        return [field or "" for field in fields]


def _chosen(entries: Iterable[Any], wanted: list[Any], key: str, kind: str) -> list[Any]:
    """The entries of the gradebook with these names, or all."""
    known = {getattr(entry, key): entry for entry in entries}
    names = [str(name) for name in wanted]
    for name in names:
        if name not in known:
            raise UserError(f"the gradebook has no {kind} {name}")
    return [entry for name, entry in known.items() if not names or name in names]


def _must_be_known(configured: dict[str, str], assignments: list[Any], where: str, wanted: list[Any]) -> None:
    """A misspelt name would silently make a new assignment over there."""
    names = {each.name for each in assignments}
    for name in configured:
        if name not in names and not wanted:
            raise UserError(f"{where} names {name}, which is no assignment of the gradebook")


def _full_name(student: Any) -> str:
    names = [name for name in (student.last_name, student.first_name) if name]
    return ", ".join(names) or str(student.id)


def _number(value: float) -> str:
    """Without a needless fraction: 3, 2.5. Both systems show two digits."""
    return f"{value:.2f}".rstrip("0").rstrip(".")

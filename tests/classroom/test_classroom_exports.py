"""The gradebook in the formats that Canvas and Moodle import, and what would make them import something else."""

from __future__ import annotations

import csv
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook

from tflabs.classroom.exports import CanvasExport, MoodleExport

HERE = Path(sys.executable).parent


@pytest.fixture(scope="module")
def gradebook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gradebook]:
    """Two assignments and three students, of whom one has not handed in the second."""
    folder = tmp_path_factory.mktemp("course")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{HERE}:{os.environ['PATH']}")  # nbgrader runs `alembic` by name
        gradebook = Gradebook(f"sqlite:///{folder}/gradebook.db")
    for name, points in (("1-1-lineage", 4), ("2-2-session", 2)):
        gradebook.add_assignment(name)
        gradebook.add_notebook("lab", name)
        gradebook.add_grade_cell("graded", "lab", name, max_score=points, cell_type="code")
    people = {
        "ada": {"first_name": "Ada", "last_name": "Lovelace, Countess", "email": "ada@x.y", "lms_user_id": "4711"},
        "bob": {"first_name": "Bob", "last_name": 'O"Neil', "lms_user_id": "0815"},
        "cyd": {},
    }
    for student, details in people.items():
        gradebook.add_student(student, **details)
        for name, score in (("1-1-lineage", 2.5), ("2-2-session", 2.0)):
            if (student, name) == ("cyd", "2-2-session"):
                continue
            with gradebook.db.no_autoflush:
                submission = gradebook.add_submission(name, student)
            submission.notebooks[0].grades[0].auto_score = score
            if (student, name) == ("bob", "2-2-session"):
                submission.notebooks[0].late_submission_penalty = 0.5
    gradebook.db.commit()
    with gradebook:
        yield gradebook


def rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_canvas_gets_its_columns_ids_and_points(gradebook: Gradebook, tmp_path: Path) -> None:
    CanvasExport(to=str(tmp_path / "c.csv"), assignment_ids={"2-2-session": "99"}).export(gradebook)
    assert rows(tmp_path / "c.csv") == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "1-1-lineage", "2-2-session (99)"],
        ["    Points Possible", "", "", "", "", "4", "2"],
        ["Lovelace, Countess, Ada", "4711", "", "ada", "", "2.5", "2"],
        ['O"Neil, Bob', "0815", "", "bob", "", "2.5", "1.5"],
        ["cyd", "", "", "cyd", "", "2.5", ""],
    ]


def test_canvas_can_be_given_the_ids_of_the_student_information_system(gradebook: Gradebook, tmp_path: Path) -> None:
    path = tmp_path / "out" / "c.csv"
    CanvasExport(to=str(path), student=["ada", "cyd"], lms_user_id="SIS User ID", zero_if_missing=True).export(
        gradebook
    )
    head, _, *students = rows(path)
    assert [dict(zip(head, row, strict=True))["SIS User ID"] for row in students] == ["4711", ""]
    assert students[1][-1] == "0"


def test_moodle_gets_the_names_of_its_users_and_grade_items(gradebook: Gradebook, tmp_path: Path) -> None:
    items = {"1-1-lineage": "Assignment: Lineage"}
    MoodleExport(to=str(tmp_path / "m.csv"), grade_items=items).export(gradebook)
    head, ada, _, cyd = rows(tmp_path / "m.csv")
    users = ["First name", "Last name", "Username", "ID number", "Email address"]
    assert head == [*users, "Assignment: Lineage", "2-2-session"]
    assert ada == ["Ada", "Lovelace, Countess", "ada", "4711", "ada@x.y", "2.5", "2"]
    assert cyd == ["", "", "cyd", "", "", "2.5", ""]


@pytest.mark.parametrize(
    ("exporter", "options", "words"),
    [
        (CanvasExport, {"assignment_ids": {"2-2-sesion": "9"}}, "2-2-sesion"),
        (CanvasExport, {"assignment_ids": {"2-2-session": "x9"}}, "'x9'"),
        (MoodleExport, {"grade_items": {"2-2-sesion": "x"}}, "2-2-sesion"),
        (MoodleExport, {"student": ["dan"]}, "no student dan"),
        (MoodleExport, {"assignment": ["9-9"]}, "no assignment 9-9"),
        (MoodleExport, {"to": "/proc/nowhere/grades.csv"}, "/proc/nowhere"),
    ],
)
def test_what_would_be_imported_wrongly_is_refused(
    gradebook: Gradebook,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    exporter: type[Any],
    options: dict[str, Any],
    words: str,
) -> None:
    plugin = exporter(**{"to": str(tmp_path / "grades.csv")} | options)
    plugin.log = logging.getLogger()
    with pytest.raises(SystemExit):
        plugin.export(gradebook)
    assert words in caplog.messages[-1]
    assert list(tmp_path.iterdir()) == []


def test_nbgrader_knows_them_and_an_id_that_is_no_number_is_none_of_canvas(
    gradebook: Gradebook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{HERE}:{os.environ['PATH']}")
    gradebook.update_or_create_student("cyd", lms_user_id="s-12")
    database = f"--db={gradebook.engine.url}"
    for exporter, code in (("MoodleExport", 0), ("CanvasExport", 1)):
        command = [HERE / "nbgrader", "export", f"--exporter=tflabs.classroom.exports.{exporter}", database]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
    assert "'s-12'" in done.stderr and "SIS User ID" in done.stderr and "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.glob("*.csv")] == ["moodle.csv"]

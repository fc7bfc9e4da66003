"""The gradebook in the formats that Canvas and Moodle import, and what would make them import something else."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

HERE = Path(sys.executable).parent


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A gradebook with two assignments and three students, of whom one has not handed in the second."""
    monkeypatch.setenv("PATH", f"{HERE}:/usr/bin:/bin")  # nbgrader runs `alembic` by name
    with Gradebook(f"sqlite:///{tmp_path}/gradebook.db") as gradebook:
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
                submission = gradebook.add_submission(name, student)
                submission.notebooks[0].grades[0].auto_score = score
                if (student, name) == ("bob", "2-2-session"):
                    submission.notebooks[0].late_submission_penalty = 0.5
        gradebook.db.commit()
    return tmp_path


def export(course: Path, exporter: str, *arguments: str, config: str = "") -> subprocess.CompletedProcess[str]:
    (course / "nbgrader_config.py").write_text(f"c = get_config()\n{config}\n", encoding="utf-8")
    command = [HERE / "nbgrader", "export", f"--exporter=tflabs.classroom.exports.{exporter}", *arguments]
    return subprocess.run(command, cwd=course, capture_output=True, text=True, check=False)


def rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_canvas_gets_its_columns_ids_and_points(course: Path) -> None:
    done = export(course, "CanvasExport", config="c.CanvasExport.assignment_ids = {'2-2-session': '99'}")
    assert done.returncode == 0, done.stderr
    assert rows(course / "canvas.csv") == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "1-1-lineage", "2-2-session (99)"],
        ["    Points Possible", "", "", "", "", "4", "2"],
        ["Lovelace, Countess, Ada", "4711", "", "ada", "", "2.5", "2"],
        ['O"Neil, Bob', "0815", "", "bob", "", "2.5", "1.5"],
        ["cyd", "", "", "cyd", "", "2.5", ""],
    ]


def test_canvas_can_be_given_the_ids_of_the_student_information_system(course: Path) -> None:
    config = "c.CanvasExport.lms_user_id = 'SIS User ID'\nc.CanvasExport.zero_if_missing = True"
    done = export(course, "CanvasExport", "--to", "out/c.csv", "--student=['ada', 'cyd']", config=config)
    assert done.returncode == 0, done.stderr
    head, _, *students = rows(course / "out" / "c.csv")
    assert [dict(zip(head, row, strict=True))["SIS User ID"] for row in students] == ["4711", ""]
    assert students[1][-1] == "0"


def test_moodle_gets_the_names_of_its_users_and_grade_items(course: Path) -> None:
    done = export(course, "MoodleExport", config="c.MoodleExport.grade_items = {'1-1-lineage': 'Assignment: Lineage'}")
    assert done.returncode == 0, done.stderr
    head, ada, _, cyd = rows(course / "moodle.csv")
    users = ["First name", "Last name", "Username", "ID number", "Email address"]
    assert head == [*users, "Assignment: Lineage", "2-2-session"]
    assert ada == ["Ada", "Lovelace, Countess", "ada", "4711", "ada@x.y", "2.5", "2"]
    assert cyd == ["", "", "cyd", "", "", "2.5", ""]


@pytest.mark.parametrize(
    ("exporter", "arguments", "config", "words"),
    [
        ("CanvasExport", (), "c.CanvasExport.assignment_ids = {'2-2-sesion': '9'}", "2-2-sesion"),
        ("CanvasExport", (), "c.CanvasExport.assignment_ids = {'2-2-session': 'x9'}", "'x9'"),
        ("MoodleExport", (), "c.MoodleExport.grade_items = {'2-2-sesion': 'x'}", "2-2-sesion"),
        ("MoodleExport", ("--student=['dan']",), "", "no student dan"),
        ("MoodleExport", ("--assignment=['9-9']",), "", "no assignment 9-9"),
        ("MoodleExport", ("--to", "/proc/nowhere/grades.csv"), "", "/proc/nowhere"),
    ],
)
def test_what_would_be_imported_wrongly_is_refused(
    course: Path, exporter: str, arguments: tuple[str, ...], config: str, words: str
) -> None:
    done = export(course, exporter, *arguments, config=config)
    assert done.returncode != 0
    assert words in done.stderr.splitlines()[-1]
    assert list(course.glob("*.csv")) == []


def test_an_id_that_is_no_number_is_none_of_canvas(course: Path) -> None:
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        gradebook.update_or_create_student("cyd", lms_user_id="s-12")
    done = export(course, "CanvasExport")
    assert done.returncode != 0 and "'s-12'" in done.stderr and "SIS User ID" in done.stderr

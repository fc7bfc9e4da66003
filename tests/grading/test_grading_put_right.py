"""Oddities of honest notebooks: each is put right, graded and told, by `check` and by `nbgrader autograde` alike."""

from __future__ import annotations

import csv
import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest

import toy
from spoilt import nbgrader
from tflabs.course.build import build_lab
from tflabs.course.editions import edition_for
from tflabs.course.files import read_notebook
from tflabs.course.layout import Course
from tflabs.course.merge import mark_of
from tflabs.course.syllabus import read_syllabus
from tflabs.grading.autograde import under_its_name
from tflabs.grading.boxes import Boxes
from tflabs.learning.check import check, read_subject

# The older release doubles texts, too, and has only one of the two exercises.
FIRST, SECOND = (toy.TEXT.index(f"# %% [markdown]\n# ### Exercise {number}") for number in (1, 2))
OLDER = (
    (toy.TEXT[:FIRST] + toy.TEXT[SECOND:])
    .replace('double("a")\nexcept TypeError', 'assert double("a") == "aa"\nexcept ZeroDivisionError')
    .replace("else:\n    raise AssertionError(", "else:\n    print(")
    .replace('    if type(x) is not int:\n        raise TypeError("an int is wanted")\n', "")
)
DOUBLES_TEXTS = "def double(x):\n    return x + x"


@dataclass(frozen=True)
class Case:
    """A submission: how it differs from a solved notebook, its points, and what must be told of it."""

    edit: Callable[[Any], None]
    points: float
    told: str
    file: str = f"{toy.LAB}.ipynb"


def cell(notebook: Any, name: str) -> Any:
    return next(each for each in notebook.cells if each["id"] == name)


def saved_as(minor: int) -> Callable[[Any], None]:
    def edit(notebook: Any) -> None:
        notebook.nbformat_minor = minor
        for each in notebook.cells:
            del each["id"]

    return edit


def retyped(kind: str, back: bool = False) -> Callable[[Any], None]:
    """A cell that was made Markdown or raw text; and back, by which it has lost its outputs and its id."""

    def edit(notebook: Any) -> None:
        old = cell(notebook, "double")
        new = {"markdown": nbformat.v4.new_markdown_cell, "raw": nbformat.v4.new_raw_cell}[kind](
            old.source, metadata=old.metadata
        )
        if back:
            new = nbformat.v4.new_code_cell(new.source, metadata=new.metadata)
        notebook.cells[notebook.cells.index(old)] = new

    return edit


def doubled(notebook: Any) -> None:
    copy = nbformat.from_dict(json.loads(json.dumps(cell(notebook, "double"))))
    copy["id"] = "another"
    notebook.cells.insert(0, copy)


def swapped(notebook: Any) -> None:
    notebook.cells.reverse()


def kernel(spec: dict[str, str] | None) -> Callable[[Any], None]:
    def edit(notebook: Any) -> None:
        notebook.metadata.pop("kernelspec")
        if spec is not None:
            notebook.metadata["kernelspec"] = spec

    return edit


def foreign(notebook: Any) -> None:
    keys = {
        "grade": True,
        "grade_id": "of-another",
        "locked": True,
        "points": 9,
        "schema_version": 3,
        "solution": False,
    }
    notebook.cells.append(nbformat.v4.new_code_cell("pass", metadata={"nbgrader": keys | {"task": False}}))


def unmarked(notebook: Any) -> None:
    notebook.metadata = nbformat.from_dict({"kernelspec": notebook.metadata["kernelspec"]})


def unknown(notebook: Any) -> None:
    notebook.metadata["tflabs"]["edition"] = "0123456789ab"


def odd(notebook: Any) -> None:
    notebook.metadata["tflabs"]["edition"] = "--output=/tmp/x"


def older(answer: str) -> Callable[[Any], None]:
    def edit(notebook: Any) -> None:
        cell(notebook, "double").source = answer

    return edit


CASES = {
    "plain": Case(lambda notebook: None, 5, ""),
    **{f"format-{minor}": Case(saved_as(minor), 5, f"saved in nbformat 4.{minor}") for minor in range(5)},
    "markdown": Case(retyped("markdown"), 5, "the answer 'double' was no longer a code cell"),
    "raw": Case(retyped("raw"), 5, "the answer 'double' was no longer a code cell"),
    "there-and-back": Case(retyped("markdown", back=True), 5, ""),
    "doubled": Case(doubled, 5, "the answer 'double' was there 2 times; the last one counts"),
    "reordered": Case(swapped, 5, "cells of the lab stood in another order"),
    "conda": Case(kernel({"name": "conda-tf", "display_name": "tf", "language": "python"}), 5, "kernel 'conda-tf'"),
    "no-kernel": Case(kernel(None), 5, "named no kernel"),
    "foreign": Case(foreign, 5, ""),
    "renamed": Case(lambda notebook: None, 5, "file was named 'my work (1).ipynb'", "my work (1).ipynb"),
    "unmarked": Case(unmarked, 5, "does not say which release it was made from"),
    "unknown": Case(unknown, 5, "made from a release ('0123456789ab') that is not known here"),
    "odd": Case(odd, 5, "that is not known here"),
    "current-texts": Case(older(DOUBLES_TEXTS), 1, ""),
    "older": Case(older(DOUBLES_TEXTS), 4, "graded by the tests of that release"),
    "older-wrong": Case(older("def double(x):\n    return 4"), 0, "graded by the tests of that release"),
    "older-as-now": Case(lambda notebook: None, 0, "graded by the tests of that release"),
}


def git(course: Course, *arguments: str) -> None:
    names = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *names, *arguments], cwd=course.root, check=True, capture_output=True)


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Two releases of the toy lab in a repository, and the submissions; those of older ones were made before."""
    made = toy.make_course(tmp_path_factory.mktemp("put-right") / "course", OLDER)
    git(made, "init", "-q")
    git(made, "add", "-A")
    git(made, "commit", "-qm", "older")
    for newer in (False, True):
        if newer:
            made.text(toy.LAB).write_text(toy.TEXT, encoding="utf-8")
            build_lab(made, toy.LAB).write()
            git(made, "commit", "-qam", "newer")
        for name, case in CASES.items():
            if name.startswith("older") != newer:
                notebook = toy.solved(made)
                case.edit(notebook)
                path = made.root / "submitted" / name / toy.LAB / case.file
                path.parent.mkdir(parents=True)
                path.write_text(json.dumps(notebook), encoding="utf-8")
    return made


def submitted(course: Course, name: str) -> Path:
    return course.root / "submitted" / name / toy.LAB / CASES[name].file


def test_check_puts_right_grades_and_tells(course: Course) -> None:
    syllabus = read_syllabus(course.syllabus)
    with Boxes((str(course.root),)) as boxes:
        kernels, spawn = boxes.kernels(("json",), {}), boxes.examiner(("json",), {})
        for name, case in CASES.items():
            report = check(read_subject(course, syllabus, submitted(course, name), toy.LAB), kernels, spawn)
            told = "\n".join([*report.repairs, *report.notes])
            assert (name, report.points) == (name, case.points), report
            named_by_file = case.file != f"{toy.LAB}.ipynb"  # `check` is told the file
            assert named_by_file or (case.told in told if case.told else not told), (name, told)


@pytest.mark.timeout(300)
def test_autograde_puts_right_grades_and_tells(course: Course) -> None:
    for arguments in (["generate_assignment", toy.LAB, "--force"], ["autograde", toy.LAB], ["export", "--to", "g.csv"]):
        nbgrader(course, *arguments)
    with (course.root / "g.csv").open(encoding="utf-8") as file:
        scores = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
    assert scores == {name: case.points for name, case in CASES.items()}
    for name, case in CASES.items():
        graded = read_notebook(course.root / "autograded" / name / toy.LAB / f"{toy.LAB}.ipynb")
        told = "\n".join(each.source for each in graded.cells if each["id"] == "put-right-before-grading")
        assert case.told in told if case.told else not told, (name, told)
        missing = "this exercise is not in the release that the notebook was made from" in str(graded)
        assert missing == name.startswith("older"), name


def test_an_older_release_is_found_in_the_history_alone(course: Course, tmp_path: Path) -> None:
    notebook = read_notebook(submitted(course, "older"))
    edition = edition_for(course, toy.LAB, notebook)
    assert not edition.is_current and mark_of(edition.release, "edition") == mark_of(notebook, "edition")
    unversioned = toy.make_course(tmp_path / "archive")
    assert "not known here" in edition_for(unversioned, toy.LAB, notebook).note


def test_only_one_notebook_can_be_the_renamed_one(course: Course, tmp_path: Path) -> None:
    paths = [str(toy.save(toy.solved(course), tmp_path / name)) for name in ("a.ipynb", "b.ipynb")]
    under_its_name(toy.LAB, both := list(paths))
    assert both == paths
    under_its_name(toy.LAB, one := paths[:1])
    assert one == [str(tmp_path / f"{toy.LAB}.ipynb")] and Path(paths[0]).is_file()
    assert mark_of(read_notebook(Path(one[0])), "file") == "a.ipynb"

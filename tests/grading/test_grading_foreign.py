"""An assignment that is no lab of the course is graded by stock nbgrader, with its kernel in a box."""

from __future__ import annotations

import sqlite3
from typing import Any

import nbformat

import toy
from spoilt import nbgrader
from tflabs.course.files import read_notebook
from tflabs.course.layout import Course

LOOKS = """import os, sys
seen = [os.path.exists(path) for path in ({gradebook!r}, {submitted!r})] + [os.environ.get("NBGRADER_EXECUTION")]
open("kept.txt", "w").write("mine")
open("given.txt", "w").write("changed")
os.symlink({gradebook!r}, "link.txt")
os.mkfifo("pipe.txt")
print(seen)
"""


def graded(source: str, grade_id: str) -> Any:
    keys = {"grade": True, "grade_id": grade_id, "locked": True, "points": 2, "schema_version": 3, "solution": False}
    return nbformat.v4.new_code_cell(source, metadata={"nbgrader": keys | {"task": False}})


def test_its_kernel_sees_nothing_of_the_course_and_leaves_plain_files(course: Course) -> None:
    notebook = nbformat.v4.new_notebook(cells=[graded("assert seen[0] is False", "t")])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    toy.save(notebook, course.root / "source" / "ps1" / "p1.ipynb")
    (course.root / "source" / "ps1" / "given.txt").write_text("given")
    nbgrader(course, "generate_assignment", "ps1")
    submitted = course.root / "submitted" / "mary" / "ps1" / "p1.ipynb"
    paths = {"gradebook": str(course.root / "gradebook.db"), "submitted": str(submitted)}
    notebook.cells.insert(0, nbformat.v4.new_code_cell(LOOKS.format(**paths)))
    toy.save(notebook, submitted)
    nbgrader(course, "autograde", "ps1")
    folder = course.root / "autograded" / "mary" / "ps1"
    assert "[False, False, 'autograde']" in str(read_notebook(folder / "p1.ipynb").cells[0].outputs)
    assert {path.name for path in folder.iterdir()} == {"p1.ipynb", "given.txt", "kept.txt"}
    assert (folder / "given.txt").read_text() == "given" and (folder / "kept.txt").read_text() == "mine"
    with sqlite3.connect(course.root / "gradebook.db") as gradebook:
        assert gradebook.execute("select auto_score from grade").fetchall() == [(2.0,)]

"""What learners do to a notebook of the toy lab, each edit in place, and nbgrader's command on the toy course."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat

from tflabs.course.layout import Course

BINARIES = Path(sys.executable).parent


def environment(course: Course) -> dict[str, str]:
    """Variables of a command that works in this course."""
    path = f"{BINARIES}{os.pathsep}{os.environ['PATH']}"
    return os.environ | {"PATH": path, "TFLABS_COURSE": str(course.root), "NO_COLOR": "1"}


def nbgrader(course: Course, *arguments: str, fails: bool = False) -> subprocess.CompletedProcess[str]:
    """Run nbgrader's command line in the course; an error fails the test, unless it `fails`."""
    command = [str(BINARIES / "nbgrader"), *arguments]
    done = subprocess.run(
        command, cwd=course.root, env=environment(course), capture_output=True, text=True, check=False
    )
    assert fails or done.returncode == 0, done.stderr
    return done


def cell(notebook: Any, name: str) -> Any:
    return next(cell for cell in notebook.cells if cell["id"] == name)


def retype(notebook: Any) -> None:
    """The answer to `double` becomes Markdown."""
    old = cell(notebook, "double")
    new = nbformat.v4.new_markdown_cell(old.source, id=old["id"], metadata=old.metadata)
    notebook.cells[notebook.cells.index(old)] = new


def pass_every_test(notebook: Any) -> None:
    """Tests that cannot fail and give a hundred points, and a wrong answer."""
    for test in notebook.cells:
        if test["id"].endswith("-test"):
            test.source = "pass"
            test.metadata["nbgrader"]["points"] = 100
    cell(notebook, "double").source = "def double(x): return 0"


def old_format(notebook: Any) -> None:
    """Of nbformat 4.0, in which cells have no ids."""
    notebook.nbformat_minor = 0
    for each in notebook.cells:
        del each["id"]

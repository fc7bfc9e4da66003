"""The hostile cells, and the submissions that they make of the toy lab with three exercises.

A secret lies in every hidden test and solution, in the gradebook, and in the grader's files, environment and processes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

import toy
from tflabs.course.lab import grade_id
from tflabs.course.layout import Course
from three import IN_SOLUTION, IN_TEST, RIGHT

CELLS = Path(__file__).parent / "cells"
GROUPS = ("escape", "exhaustion", "forgery", "leakage")
# A secret says where it lay. None is spelled in a cell of the corpus.
IN_BOOK, IN_FILE, IN_ENVIRONMENT = "tapir_marks1", "tapir_file01", "tapir_environ"
IN_PROCESS, IN_VICTIM = "tapir_process", "tapir_victim"
SECRETS = (IN_TEST, IN_SOLUTION, IN_BOOK, IN_FILE, IN_ENVIRONMENT, IN_PROCESS, IN_VICTIM)

# Right for the tests that one can see, wrong for the hidden ones; `guess` has no hidden test.
LAZY = RIGHT | {"double": "def double(x):\n    return 4", "triple": "def triple(x):\n    return 6"}


@dataclass(frozen=True)
class Cell:
    """What a hostile student left in one cell.

    `where` is the exercise that it stands for, or 'free' (a cell of the student's own behind the first), 'last' (one at
    the end) or 'markdown'. The other exercises are answered by `LAZY`, which earns one point. `points` are all scores
    that may come of it. `must` is what must be found in the student's graded notebook. `needs` names the backend
    without which it is not contained: docs/security.md says so.
    """

    name: str
    group: str
    where: str
    points: tuple[float, ...]
    must: str
    source: str
    leaks: bool = False
    since: tuple[int, ...] = ()
    needs: str = ""


def read_cells(group: str) -> list[Cell]:
    """The cells of one file of the corpus."""
    cells = []
    for part in re.split(r"^# %% ", (CELLS / f"{group}.py").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        head, _, source = part.partition("\n")
        keys = dict(re.findall(r'(\w+)="([^"]*)"', head))
        unknown = keys.keys() - {"name", "where", "points", "must", "leaks", "since", "needs"}
        assert not unknown, (group, head)
        points = tuple(float(number) for number in keys.get("points", "1").split("|"))
        since = tuple(int(number) for number in keys.get("since", "0").split("."))
        where, must = keys.get("where", "double"), keys.get("must", "")
        more = "leaks" in keys, since, keys.get("needs", "")
        cells.append(Cell(keys["name"], group, where, points, must, source.strip() + "\n", *more))
    return cells


def notebook_with(course: Course, cell: Cell, places: dict[str, str]) -> Any:
    """The submission: the lab, lazily answered, with this cell in it."""
    source = re.sub(r"@([A-Z]+)@", lambda match: places[match[1]], cell.source)
    if cell.where in LAZY:
        return toy.learner_notebook(course, **LAZY | {cell.where: source})
    notebook = toy.learner_notebook(course, **LAZY)
    if cell.where == "markdown":
        words = "\n".join(line.removeprefix("# ").removeprefix("#") for line in source.splitlines())
        notebook.cells.insert(1, nbformat.v4.new_markdown_cell(words))
    elif cell.where == "last":
        notebook.cells.append(nbformat.v4.new_code_cell(source))
    else:
        place = next(index for index, each in enumerate(notebook.cells) if grade_id(each) == "guess")
        notebook.cells.insert(place, nbformat.v4.new_code_cell(source))
    return notebook

"""The lab that hostile submissions attack: the toy lab, with a third exercise whose test runs in the learner's process,
and a secret in every hidden test, every solution, the gradebook, and the grader's files, environment and processes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

import toy
from tflabs.course.build import build_lab
from tflabs.course.lab import grade_id
from tflabs.course.layout import Course

CELLS = Path(__file__).parent / "cells"
GROUPS = ("escape", "exhaustion", "forgery", "leakage")
POINTS = {"guess": 1.0, "double": 4.0, "triple": 2.0}
# A secret says where it lay. None is spelled in a cell of the corpus.
IN_TEST, IN_SOLUTION, IN_BOOK, IN_FILE = "tapir_test01", "tapir_solved", "tapir_marks1", "tapir_file01"
IN_ENVIRONMENT, IN_PROCESS, IN_VICTIM = "tapir_environ", "tapir_process", "tapir_victim"
SECRETS = (IN_TEST, IN_SOLUTION, IN_BOOK, IN_FILE, IN_ENVIRONMENT, IN_PROCESS, IN_VICTIM)
SCRIPT = "tapirscript"  # what a page of the grader's would run

TRIPLE = f"""
# %% [markdown]
# ### Exercise 3 · Triple (2 points)
#
# `triple(x)` gives three times an int.
#
# <details><summary>Hint 1</summary>Add.</details>
# <details><summary>Hint 2</summary>Twice.</details>

{toy.solution("triple")}
def triple(x):
    \"\"\"Three times x.\"\"\"
    ### BEGIN SOLUTION
    word = "{IN_SOLUTION}"
    return x + x + x
    ### END SOLUTION


{toy.test_of("triple", 2)}
# examiner: same process – what an exercise may need
assert triple(2) == 6, f"triple(2) is 6, found {{triple(2)}}"
### BEGIN HIDDEN TESTS
{IN_TEST} = "{IN_TEST}"
due = {{x: 3 * x for x in (5, 41, 1111)}}
for x in due:
    assert triple(x) == due[x], "a number is tripled"
same(triple(7), 21)
np.testing.assert_array_equal(triple(9), 27)
### END HIDDEN TESTS
"""
GIVEN = """import random
import numpy as np


def same(found, due):
    assert found == due, "they are not the same"
"""


def text() -> str:
    planted = f'### BEGIN HIDDEN TESTS\n{IN_TEST} = "{IN_TEST}"  # {IN_TEST}\n'
    whole = toy.TEXT.replace("### BEGIN HIDDEN TESTS\n", planted).replace("import random\n", GIVEN, 1)
    return (
        whole.replace("guessed = 2 + 2", f'guessed = 2 + 2  # "{IN_SOLUTION}"').replace("5 points", "7 points") + TRIPLE
    )


def make(folder: Path) -> Course:
    """The course, built."""
    course = toy.make_course(folder, text(), build=False)
    syllabus = course.syllabus.read_text(encoding="utf-8")
    syllabus = syllabus.replace('preload = ["json"]', 'preload = ["json", "numpy"]').replace("points = 5", "points = 7")
    course.syllabus.write_text(syllabus.replace('"double"]', '"double", "triple"]'), encoding="utf-8")
    build_lab(course, toy.LAB).write()
    return course


RIGHT = {
    "guess": "guessed = 4",
    "double": "def double(x):\n    if type(x) is not int: raise TypeError\n    return 2 * x",
    "triple": "def triple(x):\n    return 3 * x",
}
# Right for the tests that one can see, wrong for the hidden ones; `guess` has no hidden test.
LAZY = RIGHT | {"double": "def double(x):\n    return 4", "triple": "def triple(x):\n    return 6"}


@dataclass(frozen=True)
class Cell:
    """What a hostile student left in one cell.

    `where` is the exercise that it stands for, or 'free' (a cell of the student's own behind the first), 'last' (one at
    the end) or 'markdown'. The other exercises are answered by `LAZY`, which earns one point. `points` are all scores
    that may come of it. `must` is what must be found in the student's graded notebook.
    """

    name: str
    group: str
    where: str
    points: tuple[float, ...]
    must: str
    source: str
    leaks: bool = False
    since: tuple[int, ...] = ()


def read_cells(group: str) -> list[Cell]:
    """The cells of one file of the corpus."""
    cells = []
    for part in re.split(r"^# %% ", (CELLS / f"{group}.py").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        head, _, source = part.partition("\n")
        keys = dict(re.findall(r'(\w+)="([^"]*)"', head))
        unknown = keys.keys() - {"name", "where", "points", "must", "leaks", "since"}
        assert not unknown, (group, head)
        points = tuple(float(number) for number in keys.get("points", "1").split("|"))
        since = tuple(int(number) for number in keys.get("since", "0").split("."))
        where, must = keys.get("where", "double"), keys.get("must", "")
        cells.append(Cell(keys["name"], group, where, points, must, source.strip() + "\n", "leaks" in keys, since))
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

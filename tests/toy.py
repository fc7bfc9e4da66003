"""A course with one small lab, for tests: it needs no TensorFlow, so its kernels start in a moment."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from tflabs.course.build import build_lab
from tflabs.course.files import notebook_text, read_notebook
from tflabs.course.lab import grade_id
from tflabs.course.layout import Course

ROOT = Path(__file__).parents[1]
LAB = "1-1-toy"

SYLLABUS = """
[[unit]]
id = "1"
title = "Toys"
original = "Spielzeug"

[[unit.lab]]
id = "1-1-toy"
title = "A toy"
original = "Ein Spielzeug"
question = "What is a toy?"
minutes = 10
points = 5
preload = ["json"]
bullets = [{ id = "doubling", en = "Doubling", original = "Verdoppeln", exercises = ["guess", "double"] }]

[[unit.lab]]
id = "1-2-later"
title = "Later"
original = "Später"
bullets = [{ id = "later", en = "Later", original = "Später" }]
"""


def _keys(**changes: object) -> str:
    import json

    keys: dict[str, object] = {"grade": False, "grade_id": "", "locked": True, "points": 0}
    keys |= {"schema_version": 3, "solution": False, "task": False} | changes
    return f"nbgrader={json.dumps(keys, sort_keys=True)}"


def given(name: str) -> str:
    return "# %% " + _keys(grade_id=name)


def solution(name: str) -> str:
    return "# %% " + _keys(grade_id=name, solution=True, locked=False)


def test_of(name: str, points: int) -> str:
    return "# %% " + _keys(grade_id=f"{name}-test", grade=True, points=points)


test_of.__test__ = False  # type: ignore[attr-defined]

TEXT = f"""# %% [markdown]
# # A toy
#
# What is a toy?
#
# 10 minutes · 5 points · Before this lab: nothing.
#
# When you have saved, `./tflabs check 1-1-toy` grades your answers.

{given("given-imports")}
import random

# %%
print("look:", random.randrange(3) < 3)

# %% [markdown]
# ### Exercise 1 · Guess (1 point)
#
# Set `guessed` to twice two.

{solution("guess")}
### BEGIN SOLUTION
guessed = 2 + 2
### END SOLUTION

{test_of("guess", 1)}
assert type(guessed) is int, "guessed is an int"
assert guessed == 4, f"twice two is 4, found {{guessed}}"


# %% [markdown] after_passing="guess"
# Twice two is four.

# %% [markdown]
# ### Exercise 2 · Double (4 points)
#
# `double(x)` gives twice an int; anything else is a TypeError.
#
# <details><summary>Hint 1</summary>Add.</details>
# <details><summary>Hint 2</summary>One line.</details>

{solution("double")}
def double(x):
    \"\"\"Twice x.\"\"\"
    ### BEGIN SOLUTION
    if type(x) is not int:
        raise TypeError("an int is wanted")
    return x + x
    ### END SOLUTION


{test_of("double", 4)}
assert double(2) == 4, f"double(2) is 4, found {{double(2)}}"
### BEGIN HIDDEN TESTS
number = random.SystemRandom().randrange(5, 10**6)
assert double(number) == 2 * number, f"double({{number}}) is {{2 * number}}, found {{double(number)}}"
try:
    double("a")
except TypeError:
    pass
else:
    raise AssertionError("double of a text is a TypeError")
### END HIDDEN TESTS

# %% [markdown] after_passing="double"
# A sum is enough.
"""

ANSWERS = """# %% wrong="guess" why="twice three"
guessed = 6

# %% wrong="double" why="answers the example"
def double(x):
    return 4

# %% wrong="double" why="squares"
def double(x):
    return x * x

# %% wrong="double" why="doubles texts too"
def double(x):
    return x + x

# %% right="double" why="multiplies"
def double(x):
    if not type(x) is int:
        raise TypeError(x)
    return 2 * x
"""


def make_course(folder: Path, text: str = TEXT, answers: str = ANSWERS, build: bool = True) -> Course:
    """The toy course in a folder, built."""
    course = Course(folder)
    for path, content in [
        (course.syllabus, SYLLABUS),
        (course.text(LAB), text),
        (course.answers(LAB), answers),
        (course.readme, "# Toys\n\n<!-- labs: begin -->\n<!-- labs: end -->\n"),
        (course.nbgrader_config, (ROOT / "nbgrader_config.py").read_text(encoding="utf-8")),
    ]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    if build:
        build_lab(course, LAB).write()
    return course


def learner_notebook(course: Course, **answers: str) -> Any:
    """The student version with answers written into it."""
    notebook = copy.deepcopy(read_notebook(course.release(LAB)))
    for cell in notebook.cells:
        if grade_id(cell) in answers:
            cell.source = answers[grade_id(cell) or ""]
    return notebook


def solved(course: Course) -> Any:
    return learner_notebook(
        course,
        guess="guessed = 4",
        double="def double(x):\n    if type(x) is not int: raise TypeError\n    return 2 * x",
    )


def save(notebook: Any, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(notebook_text(notebook), encoding="utf-8")
    return path

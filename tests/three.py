"""The toy lab with a third exercise, whose test runs in the learner's process, and a secret in each hidden test."""

from __future__ import annotations

from pathlib import Path

import toy
from tflabs.course.build import build_lab
from tflabs.course.layout import Course

LAB = toy.LAB
POINTS = {"guess": 1.0, "double": 4.0, "triple": 2.0}
IN_TEST, IN_SOLUTION = "tapir_test01", "tapir_solved"  # secrets; each says where it lies

_GIVEN = """import random
import numpy as np


def same(found, due):
    assert found == due, "they are not the same"
"""
_TRIPLE = f"""
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
RIGHT = {
    "guess": "guessed = 4",
    "double": "def double(x):\n    if type(x) is not int: raise TypeError\n    return 2 * x",
    "triple": "def triple(x):\n    return 3 * x",
}


def text() -> str:
    planted = f'### BEGIN HIDDEN TESTS\n{IN_TEST} = "{IN_TEST}"  # {IN_TEST}\n'
    whole = toy.TEXT.replace("### BEGIN HIDDEN TESTS\n", planted).replace("import random\n", _GIVEN, 1)
    solved = whole.replace("guessed = 2 + 2", f'guessed = 2 + 2  # "{IN_SOLUTION}"')
    return solved.replace("5 points", "7 points") + _TRIPLE


def make(folder: Path) -> Course:
    """The course, built."""
    course = toy.make_course(folder, text(), build=False)
    syllabus = course.syllabus.read_text(encoding="utf-8")
    syllabus = syllabus.replace('preload = ["json"]', 'preload = ["json", "numpy"]').replace("points = 5", "points = 7")
    course.syllabus.write_text(syllabus.replace('"double"]', '"double", "triple"]'), encoding="utf-8")
    build_lab(course, LAB).write()
    return course

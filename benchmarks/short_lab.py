"""A course with one short lab that uses TensorFlow, and a class that has handed it in."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from classes import command, hand_in

from tflabs.course.build import build_lab
from tflabs.course.files import read_notebook
from tflabs.course.lab import grade_id
from tflabs.course.layout import Course, find_course

LAB = "1-1-short"

SYLLABUS = f"""
[[unit]]
id = "1"
title = "Short"
original = "Kurz"

[[unit.lab]]
id = "{LAB}"
title = "A short one"
original = "Ein kurzes"
question = "What is short?"
minutes = 10
points = 5
bullets = [{{ id = "all", en = "All", original = "Alles", exercises = ["square", "slope"] }}]
"""


def header(name: str, **changes: object) -> str:
    keys: dict[str, object] = {"grade": False, "grade_id": name, "locked": True, "points": 0, "schema_version": 3}
    return "# %% nbgrader=" + json.dumps(keys | {"solution": False, "task": False} | changes, sort_keys=True)


TEXT = f"""# %% [markdown]
# # A short one
#
# What is short?
#
# 10 minutes · 5 points · Before this lab: nothing.
#
# When you have saved, `./tflabs check {LAB}` grades your answers.

{header("given-imports")}
import tensorflow as tf

# %%
print(tf.reduce_sum(tf.constant([1.0, 2.0])).numpy())

# %% [markdown]
# ### Exercise 1 · Square (2 points)
#
# `square(xs)` is the list of the squares of a list of numbers, computed by TensorFlow.
#
# <details><summary>Hint 1</summary>`tf.square`.</details>
# <details><summary>Hint 2</summary>`.numpy().tolist()`.</details>

{header("square", solution=True, locked=False)}
def square(xs):
    ### BEGIN SOLUTION
    return tf.square(tf.constant(xs)).numpy().tolist()
    ### END SOLUTION

{header("square-test", grade=True, points=2)}
assert square([1.0, 2.0, 3.0]) == [1.0, 4.0, 9.0], "the squares of 1, 2, 3 are 1, 4, 9"
### BEGIN HIDDEN TESTS
assert square([4.0]) == [16.0], "the square of 4 is 16"
### END HIDDEN TESTS

# %% [markdown] after_passing="square"
# A square is an op.

# %% [markdown]
# ### Exercise 2 · Slope (3 points)
#
# `slope(x)` is the derivative of `x * x * x` at `x`, as a float, by TensorFlow.
#
# <details><summary>Hint 1</summary>`tf.GradientTape`.</details>
# <details><summary>Hint 2</summary>Watch a constant.</details>

{header("slope", solution=True, locked=False)}
def slope(x):
    ### BEGIN SOLUTION
    x = tf.Variable(float(x))
    with tf.GradientTape() as tape:
        y = x * x * x
    return float(tape.gradient(y, x))
    ### END SOLUTION

{header("slope-test", grade=True, points=3)}
assert slope(2.0) == 12.0, "the slope at 2 is 12"
### BEGIN HIDDEN TESTS
assert slope(-1.0) == 3.0, "the slope at -1 is 3"
### END HIDDEN TESTS

# %% [markdown] after_passing="slope"
# A tape remembers.
"""
RIGHT = {
    "square": "def square(xs):\n    return tf.square(tf.constant(xs)).numpy().tolist()",
    "slope": "def slope(x):\n    x = tf.Variable(float(x))\n    with tf.GradientTape() as tape:\n"
    "        y = x * x * x\n    return float(tape.gradient(y, x))",
}
WRONG = RIGHT | {"slope": "def slope(x):\n    return 12.0"}


def make_course(root: Path, count: int) -> Course:
    """A course with the short lab in its gradebook; every third submission is wrong in one exercise."""
    course = Course(root)
    for path, text in [(course.syllabus, SYLLABUS), (course.text(LAB), TEXT)]:
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
    shutil.copy(find_course().nbgrader_config, course.nbgrader_config)
    build_lab(course, LAB).write()
    for number in range(count):
        notebook = read_notebook(course.release(LAB))
        for cell in notebook.cells:
            cell.source = (WRONG if number % 3 == 2 else RIGHT).get(grade_id(cell) or "", cell.source)
        hand_in(course, LAB, number, notebook)
    command(course, "nbgrader", "generate_assignment", LAB, "--force")
    return course

"""How long a class waits: `tflabs grade` against stock `nbgrader autograde`, and what a further kernel costs in memory.

    .venv/bin/python benchmarks/grading.py [--submissions 24 120] [--jobs N] [--workers 1 2 4]

A short TensorFlow notebook is handed in by so many students. Both commands grade them in the same run on the same
machine, each in a course of its own, start-up included; stock nbgrader with its own configuration. What matters are the
ratios. Beside them stands the limit: what the notebook's cells take in a warm kernel, over the cores.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tflabs.course.build import build_lab, read_source
from tflabs.course.files import notebook_text, read_notebook
from tflabs.course.lab import grade_id
from tflabs.course.layout import Course, find_course
from tflabs.grading.boxes import BoxedKernels, Boxes
from tflabs.grading.examinations import Examination
from tflabs.grading.grade import answer_names
from tflabs.grading.kernels import stop
from tflabs.grading.run import run_cells

BINARIES = Path(sys.executable).parent
LAB = "1-1-short"
KERNELS = 4  # of which the memory is measured

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


@dataclass(frozen=True)
class Row:
    way: str
    submissions: int
    seconds: float
    scores: dict[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--submissions", type=int, nargs="+", default=[24, 120], help="sizes of the class")
    parser.add_argument("--jobs", type=int, default=2 * (os.cpu_count() or 1), help="of `tflabs grade`")
    parser.add_argument("--workers", type=int, nargs="*", default=[], help="sizes of a Dask cluster on this machine")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tflabs-benchmark-") as name:
        folder = Path(name)
        for count in options.submissions:
            show(measure(folder / str(count), count, options.jobs, options.workers))
        limit, memory = kernels(make_course(folder / "kernels", 0))
    cores = os.cpu_count() or 1
    print(f"cells of one notebook, warm: {limit:.3f} s; over {cores} cores {limit / cores:.3f} s a submission")
    print(f"memory (PSS) of a further kernel that has run an op: {memory:.0f} MiB")


def measure(folder: Path, count: int, jobs: int, workers: list[int]) -> list[Row]:
    """Every way once, the same submissions in each."""
    stock, ours = make_course(folder / "stock", count), make_course(folder / "ours", count)
    stock.nbgrader_config.write_text("c = get_config()\n", encoding="utf-8")
    rows = [
        timed(stock, "stock nbgrader autograde", count, "nbgrader", "autograde", LAB),
        timed(ours, f"tflabs grade --jobs {jobs}", count, "tflabs", "grade", LAB, "--jobs", str(jobs)),
    ]
    for size in workers:
        course = make_course(folder / f"cluster-{size}", count)
        with cluster(size) as address:
            way = f"tflabs grade --scheduler, workers: {size}"
            rows.append(timed(course, way, count, "tflabs", "grade", LAB, "--scheduler", address))
    assert all(row.scores == rows[0].scores for row in rows), rows
    return rows


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
        path = root / "submitted" / f"student-{number:03}" / LAB / f"{LAB}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(notebook_text(notebook), encoding="utf-8")
    command(course, "nbgrader", "generate_assignment", LAB, "--force")
    return course


def timed(course: Course, way: str, count: int, *arguments: str) -> Row:
    started = time.monotonic()
    command(course, *arguments)
    seconds = time.monotonic() - started
    command(course, "nbgrader", "export", "--to", "grades.csv")
    with (course.root / "grades.csv").open(encoding="utf-8") as file:
        scores = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
    return Row(way, count, seconds, scores)


def command(course: Course, *arguments: str) -> None:
    path = f"{BINARIES}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "TFLABS_COURSE": str(course.root), "TF_CPP_MIN_LOG_LEVEL": "3"}
    program = BINARIES / arguments[0]
    done = subprocess.run(
        [program, *arguments[1:]], cwd=course.root, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@contextmanager
def cluster(workers: int) -> Iterator[str]:
    from distributed import LocalCluster

    with (
        tempfile.TemporaryDirectory(prefix="tflabs-benchmark-dask-") as folder,
        LocalCluster(workers, threads_per_worker=1, dashboard_address=None, local_directory=folder) as started,
    ):
        yield started.scheduler_address


def kernels(course: Course) -> tuple[float, float]:
    """Seconds of the solved notebook's cells in a warm kernel; MiB (PSS) by which a further kernel grows them all."""
    lab = read_source(course, LAB)
    with Boxes((str(course.root),)) as boxes:
        warm, spawn = boxes.kernels(("tensorflow",), {}), boxes.examiner(("tensorflow",), {})
        for _ in range(2):
            examination = Examination(spawn, answer_names(lab))
            runs = run_cells(lab.notebook.cells, warm, course.root, examination=examination)
        sizes = asyncio.run(growing(warm, course.root))
    return sum(run.seconds for run in runs), (sizes[-1] - sizes[0]) / (len(sizes) - 1)


async def growing(warm: BoxedKernels, folder: Path) -> list[float]:
    """MiB of the fork server and its kernels, each of which has run an op, as they become more."""
    assert warm.server is not None
    managers, sizes = [], []
    try:
        for _ in range(KERNELS):
            managers.append(manager := await warm.start(folder))
            client = manager.client()
            client.start_channels(hb=False)
            await client.wait_for_ready()
            await client.execute_interactive("import tensorflow as tf; tf.reduce_sum(tf.constant([1.0])).numpy();")
            client.stop_channels()
            sizes.append(sum(map(pss, [warm.server.pid, *(each.provisioner.pid for each in managers)])))
    finally:
        for manager in managers:
            await stop(manager)
    return sizes


def pss(pid: int) -> float:
    """MiB of a process, shared pages by their share."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def show(rows: list[Row]) -> None:
    stock = rows[0].seconds
    table = Table(title=f"{rows[0].submissions} submissions of a short TensorFlow notebook")
    for column in ("way", "seconds", "a submission", "times as fast as stock"):
        table.add_column(column, justify="left" if column == "way" else "right")
    for row in rows:
        each = row.seconds / row.submissions
        table.add_row(row.way, f"{row.seconds:.1f}", f"{each:.3f}", f"{stock / row.seconds:.1f}")
    Console().print(table)


if __name__ == "__main__":
    main()

"""Classes that hand in, and the commands that grade them, timed."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tflabs.course.files import notebook_text
from tflabs.course.layout import Course

BINARIES = Path(sys.executable).parent


@dataclass(frozen=True)
class Row:
    """One way of grading a class: what it took, and each student's score."""

    way: str
    submissions: int
    seconds: float
    scores: dict[str, float]


def hand_in(course: Course, lab: str, number: int, notebook: Any) -> None:
    path = course.root / "submitted" / f"student-{number:03}" / lab / f"{lab}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(notebook_text(notebook), encoding="utf-8")


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

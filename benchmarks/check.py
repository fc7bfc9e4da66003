"""How long a learner waits: `check` and `watch` on a solved lab, against stock nbgrader and against the cells alone.

    .venv/bin/python benchmarks/check.py [LAB] [--rounds N]

Everything is measured in one run on one machine; what matters are the ratios and what is added to the cells. The cells
alone are timed one by one; in a cold kernel the first one imports TensorFlow.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tflabs.authoring.solved import solved
from tflabs.course.build import read_source
from tflabs.course.files import notebook_text, read_notebook
from tflabs.course.layout import Course, find_course
from tflabs.course.syllabus import Syllabus, read_syllabus
from tflabs.grading.grade import with_full_tests
from tflabs.grading.kernels import Kernels
from tflabs.grading.places import place_for_own_work
from tflabs.grading.run import run_cells
from tflabs.learning.check import check, read_subject

BINARIES = Path(sys.executable).parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lab", nargs="?", default="2-2-session")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    course = find_course()
    syllabus = read_syllabus(course.syllabus)
    with tempfile.TemporaryDirectory(prefix="tflabs-benchmark-") as folder:
        path = Path(folder) / options.lab / f"{options.lab}.ipynb"
        path.parent.mkdir()
        path.write_text(notebook_text(solved(course, options.lab)), encoding="utf-8")
        show(options.lab, measure(course, syllabus, options.lab, path, options.rounds))


def measure(course: Course, syllabus: Syllabus, lab: str, path: Path, rounds: int) -> dict[str, float]:
    """Median seconds of each way, the rounds of all ways taking turns."""
    section = syllabus.section(lab)
    cells = with_full_tests(read_notebook(path), read_source(course, lab)).cells

    def alone(kernels: Kernels) -> float:
        return sum(run.seconds for run in run_cells(cells, kernels, path.parent))

    with place_for_own_work((str(course.root),)) as place:
        warm = place.kernels(section.preload, section.environment)
        spawn = place.examiner(section.preload, section.environment)

        def watched() -> None:
            report = check(read_subject(course, syllabus, path, lab), warm, spawn)
            assert report.passed, report

        ways: dict[str, Callable[[], float]] = {
            "cells alone, cold": lambda: alone(place.cold(section.environment)),
            "cells alone, warm": lambda: alone(warm),
            "tflabs check": lambda: seconds(lambda: command("tflabs", "check", lab, "--file", str(path))),
            "tflabs watch, from save to result": lambda: seconds(watched),
            "nbgrader validate": lambda: seconds(lambda: command("nbgrader", "validate", str(path))),
        }
        samples: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(rounds):
            for name, way in ways.items():
                samples[name].append(way())
    return {name: statistics.median(values) for name, values in samples.items()}


def command(*arguments: str) -> None:
    subprocess.run([BINARIES / arguments[0], *arguments[1:]], check=True, capture_output=True)


def seconds(action: Callable[[], None]) -> float:
    started = time.monotonic()
    action()
    return time.monotonic() - started


def show(lab: str, found: dict[str, float]) -> None:
    stock = found["nbgrader validate"]
    table = Table(title=f"{lab}, solved (medians)")
    for column in ("way", "seconds", "added to the cells", "of nbgrader validate"):
        table.add_column(column, justify="left" if column == "way" else "right")
    for name, value in found.items():
        warm = "warm" in name or "watch" in name
        added = value - found["cells alone, warm" if warm else "cells alone, cold"]
        table.add_row(name, f"{value:.2f}", "" if "alone" in name else f"{added:.2f}", f"{value / stock:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()

"""How long a class waits: `tflabs grade` against stock `nbgrader autograde`, and what kernels cost.

    .venv/bin/python benchmarks/grading.py [--submissions 24 120] [--labs LAB …] [--jobs N] [--workers 1 2 4]

A short TensorFlow notebook is handed in by so many students, then real labs by 24, answered in full, by half, wrongly
and not at all. Both commands grade the same submissions in the same run on the same machine, each in a course of its
own, start-up included; stock nbgrader with its own configuration. What matters are the ratios. Beside them stands the
limit: what the notebooks' cells take in a warm kernel one after the other, over the cores.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

import kernel_costs
import real_labs
import short_lab
from classes import Row, cluster, timed
from rich.console import Console
from rich.table import Table

from tflabs.course.files import read_notebook
from tflabs.course.layout import Course

CLASS = 24  # students who hand in a real lab


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--submissions", type=int, nargs="*", default=[24, 120], help="sizes of the class")
    parser.add_argument("--labs", nargs="*", default=[], help="real labs that are graded, too")
    parser.add_argument("--jobs", type=int, default=2 * (os.cpu_count() or 1), help="of `tflabs grade`")
    parser.add_argument("--workers", type=int, nargs="*", default=[], help="sizes of a Dask cluster on this machine")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tflabs-benchmark-") as name:
        folder = Path(name)
        for count in options.submissions:
            title = f"{count} submissions of a short TensorFlow notebook"
            show(title, *short(folder / str(count), count, options.jobs, options.workers))
        for lab in options.labs:
            show(f"{CLASS} submissions of {lab}", *real(folder / lab, lab, options.jobs))
    plain, boxed = kernel_costs.cold_starts()
    print(f"a cold kernel answers after {plain:.3f} s, in a box after {boxed:.3f} s: {boxed - plain:+.3f} s")
    print(f"memory (PSS) of a further kernel that has run an op: {kernel_costs.further_kernel():.0f} MiB")


def short(folder: Path, count: int, jobs: int, workers: list[int]) -> tuple[list[Row], float]:
    """Every way once, the same submissions in each; and the limit in seconds."""
    lab = short_lab.LAB
    stock, ours = short_lab.make_course(folder / "stock", count), short_lab.make_course(folder / "ours", count)
    rows = both(stock, ours, lab, count, jobs)
    for size in workers:
        course = short_lab.make_course(folder / f"cluster-{size}", count)
        with cluster(size) as address:
            way = f"tflabs grade --scheduler, workers: {size}"
            rows.append(timed(course, way, count, "tflabs", "grade", lab, "--scheduler", address))
    assert all(row.scores == rows[0].scores for row in rows), rows
    handed_in = [read_notebook(path) for path in ours.root.glob(f"submitted/*/{lab}/{lab}.ipynb")]
    return rows, real_labs.cells_alone(ours, lab, handed_in[:6]) * count / 6


def real(folder: Path, lab: str, jobs: int) -> tuple[list[Row], float]:
    """Both ways once, the same submissions in each; and the limit in seconds."""
    kinds = real_labs.kinds(lab)
    notebooks = kinds * (CLASS // len(kinds))
    stock, ours = (real_labs.make_course(folder / name, lab, notebooks) for name in ("stock", "ours"))
    rows = both(stock, ours, lab, len(notebooks), jobs)
    return rows, real_labs.cells_alone(ours, lab, kinds) * len(notebooks) / len(kinds)


def both(stock: Course, ours: Course, lab: str, count: int, jobs: int) -> list[Row]:
    stock.nbgrader_config.write_text("c = get_config()\n", encoding="utf-8")
    return [
        timed(stock, "stock nbgrader autograde", count, "nbgrader", "autograde", lab),
        timed(ours, f"tflabs grade --jobs {jobs}", count, "tflabs", "grade", lab, "--jobs", str(jobs)),
    ]


def show(title: str, rows: list[Row], cells: float) -> None:
    limit = cells / (os.cpu_count() or 1)
    table = Table(title=title)
    for column in ("way", "seconds", "a submission", "times as fast as stock", "times the limit"):
        table.add_column(column, justify="left" if column == "way" else "right")
    for way, seconds in [*((row.way, row.seconds) for row in rows), ("the limit: cells over the cores", limit)]:
        each, faster = seconds / rows[0].submissions, rows[0].seconds / seconds
        table.add_row(way, f"{seconds:.1f}", f"{each:.3f}", f"{faster:.1f}", f"{seconds / limit:.2f}")
    Console(width=120).print(table)


if __name__ == "__main__":
    main()

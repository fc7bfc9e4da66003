"""The authors' commands: what is done to which labs, and how it is shown."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from typing import TYPE_CHECKING

from rich.console import Console
from rich.status import Status
from rich.table import Table

from tflabs.course.layout import Course, find_course
from tflabs.course.syllabus import Section, Syllabus, read_syllabus

if TYPE_CHECKING:
    from tflabs.authoring.verify import Proof


def build(names: list[str], *, check: bool) -> int:
    """Build the named labs, or all; returns the exit code."""
    from tflabs.authoring.table import readme_with_table
    from tflabs.course.build import build_lab
    from tflabs.course.files import write_text
    from tflabs.course.lint import lint

    console = Console(stderr=True, highlight=False, soft_wrap=True)
    course = find_course()
    syllabus = read_syllabus(course.syllabus)
    findings = 0
    stale = []
    for section in _written(course, syllabus, names):
        built = build_lab(course, section.id)
        stale += built.stale() if check else built.write()
        text = course.text(section.id)
        for finding in lint(built.lab, built.files[text], str(text.relative_to(course.root)), section):
            findings += 1
            console.print(str(finding), markup=False)
    if course.readme.is_file():
        old = course.readme.read_text(encoding="utf-8")
        new = readme_with_table(old, syllabus)
        if new != old:
            stale.append(course.readme)
            if not check:
                write_text(course.readme, new)
    for path in stale:
        console.print(f"{'stale' if check else 'built'}: {path.relative_to(course.root)}", markup=False)
    if not stale:
        console.print("everything is built")
    return 1 if findings or (check and stale) else 0


def verify(names: list[str], *, exercise: str | None, jobs: int) -> int:
    """Prove the named labs, or all; returns the exit code."""
    from tflabs.authoring.verify import verify as prove
    from tflabs.grading.boxes import PROOF
    from tflabs.grading.places import place_for_own_work

    course = find_course()
    sections = _written(course, read_syllabus(course.syllabus), names)
    held = True
    with place_for_own_work((str(course.root),), PROOF) as place:
        for section in sections:
            with Console(stderr=True).status(f"{section.id} …") as status:
                on_step = functools.partial(_update, status, section.id)
                proof = prove(course, section, place, only=exercise, jobs=jobs, on_step=on_step)
            _show(proof)
            held = held and proof.holds
    return 0 if held else 1


def _show(proof: Proof) -> None:
    console = Console(highlight=False)
    table = Table(title=f"{proof.lab} · {proof.seconds:.1f} s, {proof.peak_mib:.0f} MiB", title_justify="left")
    for column in ("exercise", "points", "wrong caught", "right accepted", "seconds", "MiB"):
        table.add_column(column, justify="left" if column == "exercise" else "right")
    for row in proof.exercises.values():
        table.add_row(
            row.id,
            f"{row.points:g}",
            f"{row.wrong_caught} of {row.wrong_tried}",
            f"{row.right_accepted} of {row.right_tried}",
            f"{row.seconds:.2f}",
            f"{row.peak_mib:.0f}",
        )
    console.print(table)
    for finding in proof.findings:
        console.print(f"✗ {finding}", markup=False, soft_wrap=True)
    if proof.holds:
        console.print("✓ the proof holds")


def _update(status: Status, lab: str, step: str) -> None:
    status.update(f"{lab}: {step}")


def test(arguments: list[str]) -> int:
    """Run pytest in the course's folder; two tests at a time unless the arguments say otherwise."""
    course = find_course()
    chosen = any(argument.startswith(("-n", "--numprocesses", "-s", "--pdb")) for argument in arguments)
    parallel = [] if chosen else ["-n", "2", "--dist", "loadgroup"]
    environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"}
    return subprocess.call([sys.executable, "-m", "pytest", *parallel, *arguments], cwd=course.root, env=environment)


def _written(course: Course, syllabus: Syllabus, names: list[str]) -> list[Section]:
    """The sections of the named labs; of all written labs if none is named."""
    return [syllabus.section(name) for name in names or course.written_labs()]

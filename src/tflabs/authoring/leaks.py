"""Finds in a student version what must not be there: solutions, hidden tests, outputs, notes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tflabs.course.lab import HIDDEN, Lab, grade_id

SOLUTION = re.compile(r"^[ \t]*### BEGIN SOLUTION$\n(.*?)^[ \t]*### END SOLUTION$", re.MULTILINE | re.DOTALL)
MARKERS = ("BEGIN SOLUTION", "END SOLUTION", "BEGIN HIDDEN TESTS", "END HIDDEN TESTS")
SHORTEST = 18  # a line like `return result` says nothing about where it came from


def leaks(lab: Lab, release: Any) -> Iterator[str]:
    """What the student version of a lab gives away, in words."""
    secrets = dict(_secret_lines(lab))
    for cell in release.cells:
        where = grade_id(cell) or f"the cell that begins {cell.source[:30]!r}"
        for marker in MARKERS:
            if marker in cell.source:
                yield f"{where} holds the marker `{marker}`"
        if cell.get("outputs") or cell.get("execution_count"):
            yield f"{where} holds outputs"
        if "after_passing" in cell.metadata:
            yield f"{where} is a note for after passing"
        yield from (f"{where} {leak}" for leak in _leaked_lines(cell.source, secrets))


def _leaked_lines(source: str, secrets: dict[str, str]) -> Iterator[str]:
    """A line of a solution gives it away; of hidden tests two in a row: tests share phrases with what is shown."""
    before = None
    for line in _telling(source):
        owner = secrets.get(line)
        if owner is not None and (owner.startswith("the solution") or owner == before):
            yield f"holds a line of {owner}: {line!r}"
        before = owner


def _secret_lines(lab: Lab) -> Iterator[tuple[str, str]]:
    for exercise in lab.exercises:
        shown = {line.strip() for line in SOLUTION.sub("", exercise.solution).splitlines()}
        for region in SOLUTION.findall(exercise.solution):
            for line in _telling(region):
                if line not in shown:
                    yield line, f"the solution of {exercise.id}"
        for test in exercise.tests:
            shown = {line.strip() for line in HIDDEN.sub("", test.source).splitlines()}
            for region in HIDDEN.findall(test.source):
                for line in _telling(region):
                    if line not in shown:
                        yield line, f"the hidden tests of {test.grade_id}"


def _telling(region: str) -> Iterator[str]:
    for line in map(str.strip, region.splitlines()):
        if len(line) >= SHORTEST and not line.startswith(("#", "import ", "from ", "with tf.Graph()")):
            yield line

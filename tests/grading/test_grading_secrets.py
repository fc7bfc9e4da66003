"""What lies in hidden tests is nowhere that a learner can read: not in a release, not in a box while the test runs, not
in outputs or feedback; for the toy lab a planted secret, for the real labs their own lines.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import spy

import ordinary
import three
import toy
from grader import Grader
from tflabs.course.build import read_source
from tflabs.course.files import read_notebook
from tflabs.course.lab import HIDDEN, visible
from tflabs.course.layout import Course

SHORTEST = 24  # characters; a shorter line says nothing about where it came from
SPY = spy.source(three.IN_TEST, three.IN_SOLUTION)
RAISES = f"{SPY}\ndef double(x):\n    raise ValueError(str(look()))"


def hidden_lines(course: Course, lab: str) -> dict[str, str]:
    """The telling lines of a lab's hidden tests that no visible cell holds, with the test that they are of."""
    source = read_source(course, lab)
    tests = [test for exercise in source.exercises for test in exercise.tests]
    shown = {line.strip() for cell in source.notebook.cells for line in visible(cell.source).splitlines()}
    return {
        line: test.grade_id
        for test in tests
        for region in HIDDEN.findall(test.source)
        for line in map(str.strip, region.splitlines())
        if len(line) >= SHORTEST and line not in shown
    }


@pytest.mark.parametrize("lab", Course(toy.ROOT).written_labs())
def test_no_line_of_a_hidden_test_is_in_a_release(real_course: Course, lab: str) -> None:
    secrets = hidden_lines(real_course, lab)
    assert secrets or "BEGIN HIDDEN" not in real_course.text(lab).read_text(encoding="utf-8")
    release = real_course.release(lab)
    for path in (path for path in release.parent.rglob("*") if path.is_file()):
        lines = {line.strip() for line in readable(path).splitlines()}
        assert not lines & secrets.keys(), f"{path}: {sorted((secrets[line], line) for line in lines & secrets.keys())}"


def readable(path: Path) -> str:
    """The texts of a file that stands beside a released notebook, or of the notebook."""
    if path.suffix != ".ipynb":
        return path.read_bytes().decode("utf-8", "replace")
    return "\n".join(cell.source + json.dumps(cell.get("outputs", [])) for cell in read_notebook(path).cells)


@pytest.mark.parametrize("backend", ["auto", "landlock"])
def test_a_planted_secret_is_nowhere_in_the_box_while_its_test_runs(tmp_path: Path, backend: str) -> None:
    ordinary.need(backend)
    if backend == "landlock":
        ordinary.need_open_interpreter()
    course = three.make(tmp_path / "course")
    assert three.IN_TEST in course.source(toy.LAB).read_text(encoding="utf-8")
    assert three.IN_TEST not in course.release(toy.LAB).read_text(encoding="utf-8")
    grader = Grader(course, backend=backend)
    try:
        answers = three.RIGHT | {"double": RAISES}
        notebook = toy.learner_notebook(course, **answers)
        path = grader.submit("spy", notebook)
        path.with_name("notes.txt").write_text(spy.NEEDLE, encoding="utf-8")
        grader.autograde("spy")
        found = grader.told("spy")
        assert "ValueError: [0, 0, " in found and "ValueError: [0, 0, 0]" not in found, found
        for file in grader.feedback("spy"):
            text = file.read_text(encoding="utf-8")
            assert three.IN_TEST not in text and three.IN_SOLUTION not in text, file
    finally:
        grader.close()

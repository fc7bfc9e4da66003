"""Every lab of this repository, proved."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import toy
from tflabs.authoring.verify import verify
from tflabs.course.build import build_lab
from tflabs.course.layout import Course
from tflabs.course.syllabus import read_syllabus
from tflabs.grading.places import Place, place_for_own_work

LABS = Course(toy.ROOT).written_labs()


@pytest.mark.parametrize("lab", LABS)
def test_the_committed_notebooks_are_what_the_text_builds(lab: str, real_course: Course) -> None:
    stale = build_lab(real_course, lab).stale()
    assert stale == [], f"stale: {', '.join(map(str, stale))}; run `tflabs build {lab}`"


@pytest.fixture(scope="session")
def place() -> Iterator[Place]:
    with place_for_own_work((str(toy.ROOT),)) as running:
        yield running


@pytest.mark.parametrize("lab", LABS)
def test_the_proof_holds(lab: str, real_course: Course, place: Place) -> None:
    # Not cold: the test in the browser runs the solved notebook so. Two kernels, for many wrong answers only wait.
    proof = verify(real_course, read_syllabus(real_course.syllabus).section(lab), place, jobs=2, cold=False)
    assert proof.holds, "\n".join(proof.findings)

"""Every lab of this repository, proved."""

from __future__ import annotations

import pytest

import toy
from tflabs.authoring.verify import verify
from tflabs.course.build import build_lab
from tflabs.course.layout import Course
from tflabs.course.syllabus import read_syllabus

LABS = Course(toy.ROOT).written_labs()


@pytest.mark.parametrize("lab", LABS)
def test_the_committed_notebooks_are_what_the_text_builds(lab: str, real_course: Course) -> None:
    stale = build_lab(real_course, lab).stale()
    assert stale == [], f"stale: {', '.join(map(str, stale))}; run `tflabs build {lab}`"


@pytest.mark.parametrize("lab", LABS)
def test_the_proof_holds(lab: str, real_course: Course) -> None:
    # One kernel at a time: pytest runs two tests at once.
    proof = verify(real_course, read_syllabus(real_course.syllabus).section(lab), jobs=1)
    assert proof.holds, "\n".join(proof.findings)

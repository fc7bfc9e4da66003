"""Every lab of this repository, proved."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import toy
from share import Share
from tflabs.authoring.verify import Mode, verify
from tflabs.course.layout import Course
from tflabs.course.syllabus import read_syllabus
from tflabs.grading.boxes import PROOF
from tflabs.grading.places import Place, place_for_own_work

LABS = Course(toy.ROOT).written_labs()


@pytest.fixture(scope="session")
def place() -> Iterator[Place]:
    with place_for_own_work((str(toy.ROOT),), PROOF) as running:
        yield running


@pytest.mark.parametrize("lab", LABS)
def test_the_proof_holds(lab: str, real_course: Course, place: Place, share: Share) -> None:
    # That the committed notebooks are what the text builds is part of the proof. Not cold: the test in the browser runs
    # the solved notebook so. Two kernels, for many wrong answers only wait. The answers are tried as they are graded;
    # in the notebook, where the tests run on the solution and on the student version here, `tflabs verify` tries them.
    section = read_syllabus(real_course.syllabus).section(lab)
    modes = (Mode.EXAMINER,)
    proof = verify(real_course, section, place, jobs=2, cold=False, modes=modes, choose=share.answers)
    assert proof.holds, "\n".join(proof.findings)

"""Every lab of this repository, proved."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import toy
from tflabs.authoring.solved import solved
from tflabs.authoring.verify import Mode, verify
from tflabs.course.build import build_lab, read_source
from tflabs.course.files import read_notebook
from tflabs.course.layout import Course
from tflabs.course.syllabus import read_syllabus
from tflabs.grading.boxes import PROOF
from tflabs.grading.grade import grade
from tflabs.grading.places import Place, place_for_own_work

LABS = Course(toy.ROOT).written_labs()


@pytest.fixture(scope="session")
def place() -> Iterator[Place]:
    with place_for_own_work((str(toy.ROOT),), PROOF) as running:
        yield running


@pytest.mark.parametrize("lab", LABS)
def test_it_is_built_and_our_answers_get_all_points(lab: str, real_course: Course, place: Place) -> None:
    assert build_lab(real_course, lab).stale() == []
    section = read_syllabus(real_course.syllabus).section(lab)
    kernels = place.kernels(section.preload, section.environment)
    spawn = place.examiner(section.preload, section.environment)
    source, release = read_source(real_course, lab), read_notebook(real_course.release(lab))
    folder = real_course.release(lab).parent
    report = grade(source, release, solved(real_course, lab), kernels, folder, spawn=spawn)
    assert report.passed, report


@pytest.mark.many
@pytest.mark.parametrize("lab", LABS)
def test_the_proof_holds(lab: str, real_course: Course, place: Place) -> None:
    # Not cold: the test in the browser runs the solved notebook so. Two kernels, for many wrong answers only wait. The
    # answers are tried as they are graded; in the notebook, where the tests run on the solution and on the student
    # version here, `tflabs verify` tries them.
    section = read_syllabus(real_course.syllabus).section(lab)
    proof = verify(real_course, section, place, jobs=2, cold=False, modes=(Mode.EXAMINER,))
    assert proof.holds, "\n".join(proof.findings)

"""The map of the course: complete, true to the outlines, and carried by exercises wherever a lab is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import toy
from tflabs.authoring.table import readme_with_table
from tflabs.course.build import read_source
from tflabs.course.layout import Course
from tflabs.course.syllabus import nearest, read_syllabus
from tflabs.errors import UserError

SYLLABUS = read_syllabus(Course(toy.ROOT).syllabus)
WRITTEN = Course(toy.ROOT).written_labs()
COMPLETE = ("1", "2")  # units


def test_every_unit_section_and_bullet_of_both_outlines_is_there() -> None:
    assert [len(unit.sections) for unit in SYLLABUS.units] == [4, 7, 10, 6]
    assert sum(len(section.bullets) for section in SYLLABUS.sections) == 72
    for section in SYLLABUS.sections:
        assert section.original and section.bullets, section.id
        assert all(bullet.original and bullet.en for bullet in section.bullets), section.id


@pytest.mark.parametrize("unit", COMPLETE)
def test_a_complete_unit_has_a_lab_for_each_section(unit: str) -> None:
    (found,) = [each for each in SYLLABUS.units if each.id == unit]
    assert [section.id for section in found.sections if section.id not in WRITTEN] == []


@pytest.mark.parametrize("lab", WRITTEN)
def test_every_bullet_of_a_written_lab_is_carried_by_a_graded_exercise(lab: str, real_course: Course) -> None:
    section, read = SYLLABUS.section(lab), read_source(real_course, lab)
    graded = {exercise.id for exercise in read.exercises if exercise.points > 0}
    for bullet in section.bullets:
        assert bullet.exercises, f"{lab}: no exercise carries the bullet {bullet.id!r} ({bullet.original})"
        unknown = set(bullet.exercises) - graded
        assert not unknown, f"{lab}: the bullet {bullet.id!r} names exercises that are not graded: {sorted(unknown)}"
    carried = {name for bullet in section.bullets for name in bullet.exercises}
    assert carried == graded, f"{lab}: these exercises carry no bullet: {sorted(graded - carried)}"
    assert section.question and section.minutes and section.points == read.points


def test_sections_without_a_lab_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    missing = [section for section in SYLLABUS.sections if section.id not in WRITTEN]
    with capsys.disabled():
        print(f"\n{len(missing)} sections have no lab yet: {', '.join(section.id for section in missing) or 'none'}")
    assert {section.id for section in missing} | set(WRITTEN) == {section.id for section in SYLLABUS.sections}


def test_the_readme_holds_the_table(real_course: Course) -> None:
    text = real_course.readme.read_text(encoding="utf-8")
    assert readme_with_table(text, SYLLABUS) == text, "README's table is stale: run `tflabs build`"


def test_a_misspelt_lab_gets_the_nearest_names() -> None:
    with pytest.raises(UserError, match="did you mean 2-2-session"):
        SYLLABUS.section("2-2-sesion")
    assert nearest("session", [section.id for section in SYLLABUS.sections]) == "did you mean 2-2-session?"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('id = "1-1-toy"', 'id = "1-2-later"', "stand there twice"),
        ("minutes = 10", 'minutes = "ten"', "minutes is a int"),
        ("minutes = 10", "minuts = 10", "unknown field 'minuts'"),
        ('title = "A toy"\n', "", "'title' is missing"),
        ("minutes = 10", 'prerequisites = ["0-0-none"]', "prerequisite '0-0-none'"),
        ("[[unit]]", "[[unit", "cannot read"),
    ],
)
def test_a_broken_syllabus_says_where(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "syllabus.toml"
    path.write_text(toy.SYLLABUS.replace(old, new), encoding="utf-8")
    with pytest.raises(UserError, match=message):
        read_syllabus(path)


def test_metadata_of_a_release_name_its_lab(real_course: Course) -> None:
    for lab in WRITTEN:
        metadata = json.loads(real_course.release(lab).read_text(encoding="utf-8"))["metadata"]
        assert metadata["tflabs"]["lab"] == lab

"""docs/glossary.md: one row for each word, in order, and in the lab that a row names the word is really there."""

from __future__ import annotations

import re

import jupytext
import pytest

import toy
from tflabs.course.layout import Course
from tflabs.course.syllabus import read_syllabus

COURSE = Course(toy.ROOT)
ROW = re.compile(r"\| (?P<word>[^|]+) \| (?P<meaning>[^|]+) \| (?P<lab>\d-\d) \|")


def rows() -> list[re.Match[str]]:
    lines = (toy.ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").splitlines()
    table = [line for line in lines if line.startswith("|")][2:]
    found = [ROW.fullmatch(line) for line in table]
    assert None not in found, f"no row of the glossary: {table[found.index(None)]}"
    return [row for row in found if row is not None]


def test_words_stand_once_and_in_their_order() -> None:
    words = [row["word"].lower() for row in rows()]
    assert words == sorted(set(words))


def test_rows_name_labs_of_the_syllabus_and_end_in_a_full_stop() -> None:
    labs = {section.id[:3] for unit in read_syllabus(COURSE.syllabus).units for section in unit.sections}
    for row in rows():
        assert row["lab"] in labs, row[0]
        assert row["meaning"].endswith("."), row[0]


@pytest.mark.parametrize("path", sorted(toy.ROOT.glob("labs/4-*/*.py")), ids=lambda path: path.stem)
def test_a_lab_has_the_words_that_are_said_to_appear_in_it(path) -> None:
    cells = jupytext.read(path, fmt="py:percent").cells
    prose = " ".join(" ".join(cell.source.split()) for cell in cells if cell.cell_type == "markdown").lower()
    for row in rows():
        if path.stem.startswith(row["lab"]):
            names = re.split(r" \(|\)|, | and ", row["word"].lower())
            assert any(stem(name) in prose for name in names if name), f"{row['word']!r} does not appear in {path.stem}"


def stem(word: str) -> str:
    """A word without the endings that it may lose in a sentence."""
    return re.sub(r"(ing|ed|s|e)$", "", word)

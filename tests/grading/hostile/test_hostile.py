"""Submissions of hostile students: nothing is earned, nobody else is touched, each ends with a grade and a reason."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

import hostile_lab as lab
import pytest
from corruption import CORRUPTIONS, Corruption
from hostile_course import LATER, Arena

import toy
from tflabs.course.files import read_notebook

CELLS = [cell for group in lab.GROUPS for cell in lab.read_cells(group)]
REMAINING = lab.read_cells("remaining")


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    made = Arena(tmp_path_factory.mktemp("hostile"))
    try:
        yield made
        # What was planted acts on nobody who comes later.
        seen = made.grade(LATER)
        assert not seen.breaches((7.0,), secrets_may_leak=True) and "PLANTED" not in seen.told + seen.given
    finally:
        made.close()


def test_the_corpus_is_large_and_every_idea_has_a_name() -> None:
    names = [each.name for each in (*CELLS, *CORRUPTIONS, *REMAINING)]
    assert len(names) == len(set(names)) and len(CELLS) + len(CORRUPTIONS) >= 80
    sources = "".join(cell.source for cell in CELLS)
    assert not any(secret in sources for secret in lab.SECRETS)


@pytest.mark.many
@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: f"{cell.group}-{cell.name}")
def test_a_hostile_cell_is_contained(arena: Arena, cell: lab.Cell) -> None:
    if cell.needs not in ("", arena.grader.backend):
        pytest.skip(f"under {arena.grader.backend} it is not contained")
    arena.grader.submit(cell.name, lab.notebook_with(arena.course, cell, arena.places))
    seen = arena.grade(cell.name)
    assert not (found := seen.breaches(cell.points)), (found, seen)
    assert re.search(cell.must, seen.told), seen


@pytest.mark.many
@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=lambda corruption: corruption.name)
def test_a_spoilt_submission_is_graded_all_the_same(arena: Arena, corruption: Corruption) -> None:
    path = arena.grader.submit(corruption.name, toy.learner_notebook(arena.course, **lab.LAZY))
    corruption.spoil(path, arena.places)
    seen = arena.grade(corruption.name)
    assert not (found := seen.breaches(corruption.points)), (found, seen)
    assert re.search(corruption.must, seen.told), seen


@pytest.mark.many
@pytest.mark.parametrize("cell", REMAINING, ids=lambda cell: cell.name)
def test_what_docs_security_says_is_possible_is_possible(arena: Arena, cell: lab.Cell) -> None:
    if sys.version_info < cell.since:
        pytest.skip(f"needs Python {'.'.join(map(str, cell.since))}")
    assert cell.name in (toy.ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    arena.grader.submit(cell.name, lab.notebook_with(arena.course, cell, arena.places))
    seen = arena.grade(cell.name)
    assert not (found := seen.breaches(cell.points, secrets_may_leak=cell.leaks)), (found, seen)
    assert not cell.leaks or lab.IN_TEST in seen.told, seen


def test_no_hidden_test_is_in_the_release(arena: Arena) -> None:
    assert lab.IN_TEST in arena.course.source(toy.LAB).read_text(encoding="utf-8")
    assert not any(secret in str(read_notebook(arena.course.release(toy.LAB))) for secret in lab.SECRETS)

"""A learner's notebook is put right before it is graded, and carried over to a newer release."""

from __future__ import annotations

import copy
from typing import Any

import nbformat
import pytest

import toy
from tflabs.course.build import build_lab
from tflabs.course.files import parse_notebook, read_notebook
from tflabs.course.lab import grade_id
from tflabs.course.layout import Course
from tflabs.course.merge import carry_over, put_right, require_lab
from tflabs.errors import UserError

ANSWER = "guessed = 4"


@pytest.fixture
def release(course: Course) -> Any:
    return read_notebook(course.release(toy.LAB))


@pytest.fixture
def learner(course: Course) -> Any:
    return toy.solved(course)


def position(notebook: Any, name: str) -> int:
    return next(index for index, cell in enumerate(notebook.cells) if grade_id(cell) == name)


def sources(notebook: Any) -> dict[str | None, str]:
    return {grade_id(cell): cell.source for cell in notebook.cells if grade_id(cell)}


def test_an_honest_notebook_needs_no_repair(release: Any, learner: Any) -> None:
    merged = put_right(release, learner)
    assert merged.repairs == ()
    assert [cell.source for cell in merged.notebook.cells] == [cell.source for cell in learner.cells]


def test_a_deleted_test_is_put_back(release: Any, learner: Any) -> None:
    del learner.cells[position(learner, "guess-test")]
    merged = put_right(release, learner)
    assert merged.repairs == ("the test 'guess-test' was missing; it was put back",)
    assert sources(merged.notebook) == sources(toy_with_answers(release, learner))


def test_a_deleted_answer_is_a_stub_never_the_solution(release: Any, learner: Any) -> None:
    del learner.cells[position(learner, "double")]
    merged = put_right(release, learner)
    assert "NotImplementedError" in sources(merged.notebook)["double"]


def test_a_changed_test_is_put_right(release: Any, learner: Any) -> None:
    learner.cells[position(learner, "double-test")].source = "pass"
    merged = put_right(release, learner)
    assert merged.repairs == ("the test 'double-test' was changed; the lab's own is used",)
    assert sources(merged.notebook)["double-test"] == sources(release)["double-test"]


def test_a_changed_role_changes_nothing(release: Any, learner: Any) -> None:
    cell = learner.cells[position(learner, "double-test")]
    cell.metadata["nbgrader"] |= {"grade": False, "solution": True, "locked": False}
    cell.source = "pass"
    assert sources(put_right(release, learner).notebook)["double-test"] == sources(release)["double-test"]


def test_of_two_answers_the_last_one_that_is_no_stub_counts(release: Any, learner: Any) -> None:
    at = position(learner, "guess")
    learner.cells.insert(at, copy.deepcopy(release.cells[at]))
    learner.cells.append(copy.deepcopy(release.cells[at]))
    merged = put_right(release, learner)
    assert sources(merged.notebook)["guess"] == ANSWER
    assert "the answer 'guess' was there 3 times; the last one counts" in merged.repairs


def test_another_order_is_put_right(release: Any, learner: Any) -> None:
    learner.cells.reverse()
    merged = put_right(release, learner)
    assert [name for name in map(grade_id, merged.notebook.cells) if name] == [
        name for name in map(grade_id, release.cells) if name
    ]
    assert any("another order" in repair for repair in merged.repairs)
    assert sources(merged.notebook)["guess"] == ANSWER


def test_a_retyped_answer_is_run_as_code(release: Any, learner: Any) -> None:
    learner.cells[position(learner, "guess")].cell_type = "markdown"
    merged = put_right(release, learner)
    assert merged.notebook.cells[position(merged.notebook, "guess")].cell_type == "code"
    assert merged.repairs == ("the answer 'guess' was no longer a code cell; it is run as code",)


def test_cells_of_the_learner_stay_where_they_were(release: Any, learner: Any) -> None:
    at = position(learner, "double")
    learner.cells.insert(at, nbformat.v4.new_code_cell("helper = 1"))
    merged = put_right(release, learner)
    assert merged.repairs == ()
    assert merged.notebook.cells[position(merged.notebook, "double") - 1].source == "helper = 1"


def test_an_editor_that_drops_metadata_or_ids_is_borne(release: Any, learner: Any) -> None:
    without_metadata, without_ids = copy.deepcopy(learner), copy.deepcopy(learner)
    for cell in without_metadata.cells:
        cell.metadata.clear()
    for number, cell in enumerate(without_ids.cells):
        cell["id"] = f"new-{number}"
    without_metadata.metadata.clear()
    for notebook in (without_metadata, without_ids):
        require_lab(notebook, release, "here")
        assert sources(put_right(release, notebook).notebook)["guess"] == ANSWER


def test_a_foreign_notebook_is_refused(release: Any, learner: Any) -> None:
    learner.metadata["tflabs"]["lab"] = "2-2-session"
    with pytest.raises(UserError, match="is the notebook of the lab 2-2-session, not of 1-1-toy"):
        require_lab(learner, release, "here")
    with pytest.raises(UserError, match="holds none of the lab's exercises"):
        require_lab(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1")]), release, "here")


def newer(course: Course, *changes: tuple[str, str]) -> Any:
    text = toy.TEXT
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    course.text(toy.LAB).write_text(text, encoding="utf-8")
    built = build_lab(course, toy.LAB)
    return parse_notebook(built.files[course.release(toy.LAB)], "newer")


def test_answers_and_own_cells_are_carried_over(course: Course, learner: Any) -> None:
    learner.cells.insert(position(learner, "double"), nbformat.v4.new_code_cell("helper = 1"))
    release = newer(course, ("Set `guessed` to twice two", "Set `guessed` to two times two"))
    merged = carry_over(release, learner)
    assert merged.repairs == ()
    assert sources(merged.notebook)["guess"] == ANSWER
    texts = [cell.source for cell in merged.notebook.cells]
    assert "helper = 1" in texts
    assert any("two times two" in text for text in texts)
    assert not any("Set `guessed` to twice two" in text for text in texts)
    assert merged.notebook.metadata["tflabs"] == release.metadata["tflabs"]


def test_a_text_cell_that_the_learner_edited_is_kept(course: Course, learner: Any) -> None:
    learner.cells[0].source += "\n\nMy own note."
    merged = carry_over(newer(course, ("What is a toy?", "What are toys?")), learner)
    assert any("My own note." in cell.source for cell in merged.notebook.cells)


def test_an_exercise_that_is_gone_is_told_and_kept(course: Course, learner: Any) -> None:
    release = newer(course, ('"guess"', '"conjecture"'), ("guess-test", "conjecture-test"))
    merged = carry_over(release, learner)
    assert merged.repairs == ("the exercise 'guess' is no more; your answer stands where it was",)
    kept = [cell for cell in merged.notebook.cells if cell.source == ANSWER]
    assert len(kept) == 1 and "nbgrader" not in kept[0].metadata


def toy_with_answers(release: Any, learner: Any) -> Any:
    result = copy.deepcopy(release)
    for cell in result.cells:
        if grade_id(cell) in ("guess", "double"):
            cell.source = sources(learner)[grade_id(cell)]
    return result

"""Honest notebooks with something odd about them: none loses a point that it earned, and each repair is told."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from honest_cases import CASES, Honest

import three
import toy
from grader import Grader
from tflabs.course.files import notebook_text


@pytest.fixture(scope="module")
def grader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grader]:
    made = Grader(three.make(tmp_path_factory.mktemp("honest") / "course"))
    try:
        yield made
    finally:
        made.close()


def submit(grader: Grader, student: str, case: Honest) -> None:
    answers = three.RIGHT | {"double": case.double, "triple": case.triple}
    notebook = toy.learner_notebook(grader.course, **answers)
    if case.free:
        place = next(index for index, each in enumerate(notebook.cells) if each["id"] == "guess")
        notebook.cells.insert(
            place, type(notebook.cells[place])(cell_type="code", metadata={}, source=case.free, id="own")
        )
        notebook.cells[place] |= {"outputs": [], "execution_count": None}
    edited = case.edit(notebook)
    text = notebook_text(edited if hasattr(edited, "cells") else notebook)
    path = grader.folder("submitted", student) / f"{toy.LAB}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_bytes(case.saved(text).encode())
    for name, content in case.files.items():
        beside = path.parent / name
        beside.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(content, encoding="utf-8")


@pytest.mark.many
@pytest.mark.parametrize("name", CASES)
def test_an_oddity_costs_nothing(grader: Grader, name: str) -> None:
    case = CASES[name]
    submit(grader, name, case)
    log = grader.autograde(name)
    told = grader.told(name)
    assert grader.score(name) == case.points, (told, log)
    assert re.search(case.told, told) and re.search(case.shown, told), told
    # Nothing is said to be put right where there was nothing.
    repairs = [each.source for each in grader.graded(name).cells if each.id == "put-right-before-grading"]
    assert bool(repairs) == bool(case.told), repairs


def test_a_page_that_shows_nothing_harmful_shows_the_rest(grader: Grader) -> None:
    """Feedback keeps what honest Markdown and outputs are made of."""
    student = "shows"
    notebook = toy.learner_notebook(grader.course, **three.RIGHT)
    table = "| a | b |\n|---|---|\n| 1 | **2** |"
    markdown = f"## A title\n\n<details><summary>Why</summary>\n\n{table}\n\n</details>\n\n```python\nx = 1\n```"
    notebook.cells[0].source += f"\n\n{markdown}\n\n$a < b$ and [a link](https://www.tensorflow.org/guide)"
    grader.submit(student, notebook)
    grader.autograde(student)
    (page,) = [path.read_text(encoding="utf-8") for path in grader.feedback(student)]
    for part in (
        "<details>",
        "<summary>",
        "<table>",
        "<strong>",
        'class="highlight',
        "$a &lt; b$",
        "www.tensorflow.org/guide",
    ):
        assert part in page, part

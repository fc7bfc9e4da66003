"""Right and wrong answers to a lab's exercises, from `tests/answers/LAB.py`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tflabs.course.lab import Lab
from tflabs.course.text import FORMAT, cell_lines
from tflabs.errors import UserError


@dataclass(frozen=True)
class Answer:
    """A replacement for one exercise's solution cell, and a word on why it is right or wrong."""

    exercise: str
    is_right: bool
    why: str
    source: str
    line: int


def read_answers(path: Path, lab: Lab) -> list[Answer]:
    """The answers in a percent file with headers like `# %% wrong="parse-key" why="reads base 10"`.

    Raises:
        UserError: there is no such file, or a header names no exercise of the lab, or gives no reason.
    """
    import jupytext

    if not path.is_file():
        raise UserError(f"there are no answers to {lab.id}: write {path}")
    text = path.read_text(encoding="utf-8")
    notebook = jupytext.reads(text, fmt=FORMAT)
    answers = []
    for cell, line in zip(notebook.cells, cell_lines(text), strict=True):
        if cell.cell_type == "markdown":
            continue
        kinds = [kind for kind in ("wrong", "right") if kind in cell.metadata]
        if len(kinds) != 1:
            raise UserError(f'{path}:{line}: a cell begins with `# %% wrong="EXERCISE" why="…"`, or `right`')
        exercise, why = str(cell.metadata[kinds[0]]), str(cell.metadata.get("why", ""))
        lab.exercise(exercise)
        if not why:
            raise UserError(f"{path}:{line}: the answer does not say why it is {kinds[0]}")
        answers.append(Answer(exercise, kinds[0] == "right", why, cell.source, line))
    return answers

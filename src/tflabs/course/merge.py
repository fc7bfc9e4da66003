"""Brings a learner's notebook together with the student version of its lab.

Used twice: before grading (the lab's own cells are put back as they were, whatever the learner did to them) and when a
newer release of a lab meets work done in an older one. Only data: nothing is run, nothing is written.
"""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tflabs.course.lab import grade_id, role
from tflabs.course.text import text_id
from tflabs.errors import UserError

STUB = "raise NotImplementedError()"


@dataclass(frozen=True)
class Merged:
    """The notebook, and in words what was repaired on the way."""

    notebook: Any
    repairs: tuple[str, ...]


def mark_of(notebook: Any, key: str) -> str | None:
    """What the build wrote into a notebook's metadata: its `lab`, or the `edition` of the lab's text.

    Reading adds the `format` of one that was saved in another than 4.5, grading the `file` of one that was renamed.
    """
    marks = notebook.metadata.get("tflabs")
    mark = marks.get(key) if isinstance(marks, dict) else None
    return mark if isinstance(mark, str) else None


def require_lab(notebook: Any, release: Any, where: str) -> None:
    """Refuse a notebook that is not of the release's lab.

    Raises:
        UserError: it names another lab, or (re-saved without metadata) shares no cell with this one.
    """
    lab, named = mark_of(release, "lab"), mark_of(notebook, "lab")
    if named is not None and named != lab:
        raise UserError(f"{where} is the notebook of the lab {named}, not of {lab}")
    known = _roles(release)
    if not any(_place(cell, known) for cell in notebook.cells):
        raise UserError(f"{where} is not the notebook of the lab {lab}: it holds none of the lab's exercises")


def put_right(release: Any, learner: Any) -> Merged:
    """The learner's notebook with the lab's cells put right: what a grader runs.

    Cells of the lab stand in the lab's order, given cells and tests as released, answers as the learner wrote them.
    Everything else in the learner's notebook stays behind the cell of the lab that it followed.
    """
    work = _take_apart(release, learner)
    cells = _copies(work.others[None])
    for cell in release.cells:
        name = grade_id(cell)
        if name is not None:
            cells.append(_answered(cell, work))
            cells.extend(_copies(work.others.get(name, [])))
    merged = _with_cells(learner, cells)
    for key in ("format", "file"):  # told now
        if mark_of(merged, key) is not None:
            del merged.metadata["tflabs"][key]
    return Merged(merged, (*_repairs_of_file(release, learner), *_repairs(release, work)))


def carry_over(release: Any, learner: Any) -> Merged:
    """The release with the learner's answers and own cells in it: what a newer release makes of older work."""
    work = _take_apart(release, learner)
    texts = {cell.source for cell in release.cells}
    lost: list[str] = []

    def own(cells: list[Any]) -> list[Any]:
        kept = []
        for cell in cells:
            if cell.source.strip() and cell.source not in texts and cell["id"] != text_id(cell):
                if role(cell) in ("given", "test"):
                    continue  # the lab's, of the older release
                if role(cell) == "solution":
                    lost.append(f"the exercise {grade_id(cell)!r} is no more; your answer stands where it was")
                    cell.metadata.pop("nbgrader", None)
                kept.append(cell)
        return kept

    cells = own(_copies(work.others[None]))
    for cell in release.cells:
        name = grade_id(cell)
        cells.append(_answered(cell, work))
        if name is not None:
            cells.extend(own(_copies(work.others.get(name, []))))
    return Merged(_with_cells(release, cells), tuple(lost))


@dataclass
class _Work:
    """A learner's notebook taken apart: answers by grade id, the learner's own cells by the cell that they follow."""

    answers: dict[str, str] = field(default_factory=dict)
    others: dict[str | None, list[Any]] = field(default_factory=lambda: {None: []})
    found: list[str] = field(default_factory=list)
    changed: set[str] = field(default_factory=set)
    retyped: set[str] = field(default_factory=set)


def _roles(release: Any) -> dict[str, str]:
    return {name: role(cell) for cell in release.cells if (name := grade_id(cell)) is not None}


def _place(cell: Any, known: dict[str, Any]) -> str | None:
    """The grade id of the lab's cell that this is: by nbgrader's metadata, else by the cell's id (they are equal)."""
    nbgrader = cell.metadata.get("nbgrader")
    named = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    return next((name for name in (named, cell.get("id")) if isinstance(name, str) and name in known), None)


def _take_apart(release: Any, learner: Any) -> _Work:
    known = {str(grade_id(cell)): cell for cell in release.cells if grade_id(cell) is not None}
    work = _Work()
    after: str | None = None
    for cell in learner.cells:
        name = _place(cell, known)
        if name is None:
            work.others.setdefault(after, []).append(cell)
            continue
        after = name
        work.found.append(name)
        if cell.cell_type != known[name].cell_type:
            work.retyped.add(name)
        if role(known[name]) == "solution":
            # The kernel would remember the last one that ran; a stub behind an answer is a leftover copy.
            if name not in work.answers or STUB not in cell.source:
                work.answers[name] = cell.source
        elif cell.source.strip() != known[name].source.strip():
            work.changed.add(name)
    return work


def _answered(cell: Any, work: _Work) -> Any:
    cell = copy.deepcopy(cell)
    if role(cell) == "solution":
        cell.source = work.answers.get(grade_id(cell) or "", cell.source)
    return cell


def _repairs_of_file(release: Any, learner: Any) -> list[str]:
    """What was put right about the notebook as a whole."""
    repairs, kernels = [], [notebook.metadata.get("kernelspec") for notebook in (release, learner)]
    due, found = [kernel.get("name") if isinstance(kernel, dict) else None for kernel in kernels]
    if (name := mark_of(learner, "file")) is not None:
        repairs.append(f"the notebook's file was named {name!r}")
    if (number := mark_of(learner, "format")) is not None:
        repairs.append(f"the notebook was saved in nbformat {number}")
    if found != due:
        kernel = f"named the kernel {str(found)[:60]!r}" if found is not None else "named no kernel"
        repairs.append(f"the notebook {kernel}; it is run with the lab's own")
    return repairs


def _repairs(release: Any, work: _Work) -> list[str]:
    roles, counts, repairs = _roles(release), Counter(work.found), []
    words = {"test": "the test", "given": "the given cell", "solution": "the answer"}
    for name, kind in roles.items():
        what = f"{words[kind]} {name!r}"
        if name not in counts:
            repairs.append(f"{what} was missing; it was put back")
        if counts[name] > 1:
            rule = "the last one counts" if kind == "solution" else "it is run once"
            repairs.append(f"{what} was there {counts[name]} times; {rule}")
        if name in work.changed:
            repairs.append(f"{what} was changed; the lab's own is used")
        if name in work.retyped:
            repairs.append(f"{what} was no longer a code cell; it is run as code")
    once = list(dict.fromkeys(work.found))
    if once != [name for name in roles if name in counts]:
        repairs.append("cells of the lab stood in another order; they are run in the lab's order")
    return repairs


def _copies(cells: list[Any]) -> list[Any]:
    return [copy.deepcopy(cell) for cell in cells]


def _with_cells(notebook: Any, cells: list[Any]) -> Any:
    """The notebook with other cells, each with an id of its own (a copied cell may carry the id of its original)."""
    result = copy.deepcopy(notebook)
    result.cells = cells
    taken = {name for cell in cells if (name := grade_id(cell)) is not None}
    seen: set[str] = set()
    for number, cell in enumerate(cells):
        if cell["id"] in seen or (cell["id"] in taken and grade_id(cell) is None):
            cell["id"] = f"own-{number}"
        seen.add(cell["id"])
    return result

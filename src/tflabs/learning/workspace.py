"""The learner's folder: copies of the labs to work in. Nothing here ever overwrites what a learner wrote."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tflabs.course.files import notebook_text, read_notebook, write_text
from tflabs.course.lab import grade_id, role
from tflabs.course.layout import Course, section_number
from tflabs.course.merge import STUB, carry_over, mark_of, require_lab
from tflabs.errors import UserError


@dataclass(frozen=True)
class Workspace:
    """A learner's folder. `state` holds what is ours in it."""

    root: Path

    def notebook(self, lab: str) -> Path:
        return self.root / lab / f"{lab}.ipynb"

    @property
    def state(self) -> Path:
        return self.root / ".tflabs"

    @property
    def start_page(self) -> Path:
        return self.root / "start.ipynb"


def released_labs(course: Course) -> list[str]:
    """The labs that have a student version, in the course's order."""
    names = [path.parent.name for path in course.root.glob("release/*/*.ipynb") if path.stem == path.parent.name]
    return sorted(names, key=section_number)


def bring_up_to_date(course: Course, workspace: Workspace) -> Iterator[str]:
    """Copy the labs that are missing, and carry work over to newer releases. Yields a line for each thing done.

    Raises:
        UserError: the folder cannot be written to.
    """
    for lab in released_labs(course):
        path = workspace.notebook(lab)
        if not path.exists():
            write_text(path, course.release(lab).read_text(encoding="utf-8"))
            yield f"{lab}: copied to {path}"
            continue
        try:
            learner = read_notebook(path)
            release = read_notebook(course.release(lab))
            require_lab(learner, release, str(path))
        except UserError as error:
            yield f"{lab}: left alone: {error}"
            continue
        if mark_of(learner, "edition") != mark_of(release, "edition"):
            yield from _carry_over(path, lab, learner, release)


def _carry_over(path: Path, lab: str, learner: Any, release: Any) -> Iterator[str]:
    merged = carry_over(release, learner)
    kept = _keep(path)
    write_text(path, notebook_text(merged.notebook))
    yield f"{lab}: a newer release: your answers were carried over; the old notebook is {kept.name}"
    for repair in merged.repairs:
        yield f"{lab}: {repair}"


def reset(course: Course, workspace: Workspace, lab: str) -> Path | None:
    """A fresh copy of the lab in the place of the learner's; returns where the old one is kept, if there was one."""
    release = course.release(lab)
    if not release.is_file():
        raise UserError(f"the lab {lab} is not written yet")
    path = workspace.notebook(lab)
    fresh = release.read_text(encoding="utf-8")
    is_fresh = path.exists() and path.read_bytes() == fresh.encode()
    kept = _keep(path) if path.exists() and not is_fresh else None
    write_text(path, fresh)
    return kept


def _keep(path: Path) -> Path:
    """Copy a notebook to a name that is free, beside it. The bytes are copied: it may be no readable notebook."""
    number = 1
    while (kept := path.with_name(f"{path.stem}.old-{number}.ipynb")).exists():
        number += 1
    try:
        with kept.open("xb") as copy:
            copy.write(path.read_bytes())
    except OSError as error:
        raise UserError(f"cannot keep a copy of {path} as {kept.name}: {error.strerror}") from None
    return kept


def is_begun(workspace: Workspace, lab: str) -> bool:
    """Whether the learner has the lab, and any of its answers is more than its stub.

    Raises:
        UserError: the notebook cannot be read.
    """
    path = workspace.notebook(lab)
    answers = [cell for cell in read_notebook(path).cells if role(cell) == "solution"] if path.exists() else []
    return any(STUB not in cell.source for cell in answers if grade_id(cell) is not None)

"""From a lab's text to nbgrader's instructor notebook, the same bytes on every machine and every day."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

from tflabs.errors import UserError

FORMAT = "py:percent"
KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UserError(f"there is no lab text {path}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {path}: {error}") from None


def to_notebook(text: str, lab: str) -> Any:
    """The instructor notebook of a lab's text.

    Cell ids come from grade ids, else from the cell's text; the notebook's metadata name the lab and the edition of its
    text, by which `check` knows a learner's notebook and the release it was made from.
    """
    notebook = _cells_of(text)
    notebook.metadata = {
        "kernelspec": KERNELSPEC,
        "language_info": {"name": "python"},
        "tflabs": {"edition": edition(text), "lab": lab},
    }
    seen: dict[str, int] = {}
    for cell in notebook.cells:
        cell.metadata.pop("lines_to_next_cell", None)
        name = _cell_name(cell)
        seen[name] = seen.get(name, 0) + 1
        cell["id"] = name if seen[name] == 1 else f"{name}-{seen[name]}"
    notebook.nbformat_minor = 5
    return notebook


def canonical(text: str) -> str:
    """The text as jupytext writes it after an edit of the notebook: the same cells, its blank lines between them."""
    import jupytext

    notebook = _cells_of(text)
    for cell in notebook.cells:
        cell.metadata.pop("lines_to_next_cell", None)
    return str(jupytext.writes(notebook, fmt=FORMAT))


def edition(text: str) -> str:
    """A short name of a text that changes when the text does, blank lines between cells aside."""
    return hashlib.sha256(canonical(text).encode()).hexdigest()[:12]


def cell_lines(text: str) -> list[int]:
    """For each cell the number of the line on which its header stands, counted from 1."""
    return [number for number, line in enumerate(text.splitlines(), 1) if re.match(r"# %%(\s|$)", line)]


def _cells_of(text: str) -> Any:
    import jupytext

    try:
        notebook = jupytext.reads(text, fmt=FORMAT)
    except Exception as error:
        raise UserError(f"the lab's text is no percent notebook: {error}") from None
    notebook.metadata = {"jupytext": {"notebook_metadata_filter": "-all", "cell_metadata_filter": "all"}}
    return notebook


def _cell_name(cell: Any) -> str:
    grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
    if isinstance(grade_id, str):
        return re.sub(r"[^A-Za-z0-9_-]", "-", grade_id)[:60]
    return text_id(cell)


def text_id(cell: Any) -> str:
    """The id that the build gives to a cell without a role: it tells a cell of the lab from one that was edited."""
    return hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:12]

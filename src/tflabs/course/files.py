"""Reading notebooks that may be broken, and writing files that are never half-written."""

from __future__ import annotations

import contextlib
import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat

from tflabs.errors import UserError

HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")  # as JSON writes it; two of them are one character
CELL_ID = re.compile(r"[\w-]{1,64}", re.ASCII)  # nbformat's rule
MOST_DEPTH = 100  # of lists and objects in a notebook's JSON


def read_notebook(path: Path) -> Any:
    """A notebook in nbformat 4.5, whichever 4.x it was written in.

    Raises:
        UserError: the file is missing, unreadable, empty, no JSON, no notebook, or older than nbformat 4.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")  # some editors begin a file with a byte order mark
    except FileNotFoundError:
        raise UserError(f"there is no notebook {path}") from None
    except IsADirectoryError:
        raise UserError(f"{path} is a folder, not a notebook") from None
    except UnicodeDecodeError:
        raise UserError(f"{path} is not a notebook: it is not a text file in UTF-8") from None
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    return parse_notebook(text, str(path))


def parse_notebook(text: str, where: str) -> Any:
    """The notebook in a JSON text; `where` stands in the error messages. Errors as in `read_notebook`."""
    if not text.strip():
        raise UserError(f"{where} is empty; was its saving interrupted? JupyterLab keeps a copy in .ipynb_checkpoints")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError: also a number of more digits than Python reads
        raise UserError(f"{where} is not a notebook: no JSON ({error})") from None
    _check_depth(data, where)
    if HALF_CHARACTER.search(text):  # which no file in UTF-8 can hold
        data = json.loads(json.dumps(data, ensure_ascii=False).encode("utf-8", "replace"))
    if not isinstance(data, dict) or not isinstance(data.get("nbformat"), int):
        raise UserError(f"{where} is not a notebook: its JSON has no `nbformat` number")
    if data["nbformat"] != 4:
        raise UserError(
            f"{where} is in notebook format {data['nbformat']}; format 4 is needed. "
            "Open and save it in JupyterLab, or run: jupyter nbconvert --to notebook --inplace FILE"
        )
    return as_current(nbformat.from_dict(_mended(data, where)))


def _check_depth(data: Any, where: str) -> None:
    """Refuse what is nested deeper than any notebook: everything that reads one goes down by recursion."""
    level, depth = [data], 0
    while level:
        depth += 1
        if depth > MOST_DEPTH:
            raise UserError(f"{where} is not a notebook: its JSON is nested deeper than {MOST_DEPTH} levels")
        inside = (list(each.values()) if isinstance(each, dict) else each for each in level)
        level = [part for parts in inside for part in parts if isinstance(part, dict | list)]


def _mended(data: dict[str, Any], where: str) -> dict[str, Any]:
    """Fill in what other editors leave out and grading can do without; what has no meaning is an error."""
    if type(data.setdefault("nbformat_minor", 0)) is not int:
        data["nbformat_minor"] = 0
    if not isinstance(data.setdefault("metadata", {}), dict):
        data["metadata"] = {}
    cells = data.get("cells")
    if not isinstance(cells, list):
        raise UserError(f"{where} is not a notebook: it has no list of cells")
    for number, cell in enumerate(cells, 1):
        source = cell.get("source") if isinstance(cell, dict) else None
        if isinstance(source, list) and all(isinstance(line, str) for line in source):
            source = cell["source"] = "".join(source)
        if not isinstance(source, str):
            raise UserError(f"{where}: cell {number} has no source text")
        cell["source"] = source.replace("\r\n", "\n")
        if cell.get("cell_type") not in ("code", "markdown", "raw"):
            raise UserError(f"{where}: cell {number} is of the unknown type {cell.get('cell_type')!r}")
        if not isinstance(cell.setdefault("metadata", {}), dict):
            cell["metadata"] = {}
        if not _are_attachments(cell.get("attachments", {})):
            del cell["attachments"]
        if cell["cell_type"] == "code":
            outputs = cell.get("outputs")
            if not isinstance(outputs, list) or not all(isinstance(output, dict) for output in outputs):
                cell["outputs"] = []
            cell.setdefault("execution_count", None)
    return data


def _are_attachments(found: Any) -> bool:
    """Whether these are files by name, each with its content by type."""
    return isinstance(found, dict) and all(
        isinstance(file, dict) and file and all(isinstance(content, str) for content in file.values())
        for file in found.values()
    )


def as_current(notebook: Any) -> Any:
    """Make a notebook of format 4.x one of 4.5, which differs by the cells' ids only; the same object is returned.

    The format that it had is kept among the marks of its metadata, for `merge` to tell.
    """
    if notebook.nbformat_minor < 5:
        marks = notebook.metadata.get("tflabs")
        had = {"format": f"4.{notebook.nbformat_minor}"}
        notebook.metadata["tflabs"] = nbformat.from_dict((marks if isinstance(marks, dict) else {}) | had)
    notebook.nbformat_minor = 5
    seen: set[str] = set()
    for number, cell in enumerate(notebook.cells):
        if not isinstance(cell.get("id"), str) or not CELL_ID.fullmatch(cell["id"]) or cell["id"] in seen:
            cell["id"] = f"cell-{number}"
        seen.add(cell["id"])
    return notebook


def notebook_text(notebook: Any) -> str:
    """The one way in which this project writes a notebook: as nbformat does, with a newline at the end."""
    return str(nbformat.writes(notebook)).rstrip("\n") + "\n"


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all: to a neighbour first, then renamed over the old one.

    Raises:
        UserError: the folder cannot be written to or the disk is full; the old file is as it was.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _neighbour(path) as (handle, name):
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            if path.exists():
                Path(name).chmod(path.stat().st_mode & 0o777)
            Path(name).replace(path)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}") from None


@contextlib.contextmanager
def _neighbour(path: Path) -> Iterator[tuple[int, str]]:
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    mask = os.umask(0)
    os.umask(mask)
    Path(name).chmod(0o666 & ~mask)
    try:
        yield handle, name
    finally:
        Path(name).unlink(missing_ok=True)

"""Takes in what was submitted, whatever it is: nbgrader then finds plain files and a notebook that can be read.

nbgrader copies everything that lies in a submission's folder, through links too, and from devices; it gives no grade
for a notebook that cannot be read. Here what is no plain file of a decent size is set aside before it copies, and a
notebook that cannot be read is graded as one without answers, with the reason on top.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbgrader.utils import parse_utc

from tflabs.course.files import parse_notebook
from tflabs.errors import UserError

MOST_FILES, MOST_BYTES = 1000, 256 << 20  # of one submission
MOST_NOTEBOOK = 64 << 20  # bytes; one that printed 30 MB is graded
_IGNORED = ".ipynb_checkpoints"  # nbgrader does not look into it
_ASIDE = "left-out"
UNREADABLE = "tflabs_unreadable"  # among an exporter's resources: why the submission could not be read


class ReadsAnything(NotebookExporter):
    """nbgrader's exporter of `autograde`: what is no notebook becomes an empty one, and its resources say why."""

    def from_file(self, file_stream: Any, resources: Any = None, **more: Any) -> Any:
        try:
            notebook = parse_notebook(file_stream.read().removeprefix("\ufeff"), Path(file_stream.name).name)
        except UnicodeDecodeError:
            notebook, resources[UNREADABLE] = nbformat.v4.new_notebook(), "the notebook is not a text file in UTF-8"
        except UserError as error:
            notebook, resources[UNREADABLE] = nbformat.v4.new_notebook(), str(error)
        return super().from_notebook_node(notebook, resources, **more)  # type: ignore[no-untyped-call]


def take_in(folder: Path, notebook: str | None) -> None:
    """Set aside what is no plain file of a submission.

    Nothing is deleted but a link where the folder for what is set aside must be.

    Args:
        notebook: the lab's file name. Where it was set aside, an empty one is there afterwards. None if the submission
            is of no lab: a time in it that cannot be read is nbgrader's to refuse.
    """
    count = size = 0
    for path in _odd_first(folder):
        is_plain = stat.S_ISREG(path.lstat().st_mode) and (
            path.suffix != ".ipynb" or path.stat().st_size <= MOST_NOTEBOOK
        )
        fits = is_plain and count < MOST_FILES and size + path.stat().st_size <= MOST_BYTES
        if fits and (notebook is None or _is_time(path, folder)):
            count, size = count + 1, size + path.stat().st_size
        else:
            _set_aside(path, folder)
    if notebook is not None and left_out(folder) and not any(folder.glob("*.ipynb")):
        (folder / notebook).touch()


def left_out(folder: Path) -> list[str]:
    """The names of what was set aside, as text that can be shown."""
    with contextlib.suppress(OSError):
        return sorted(path.name.encode("utf-8", "replace").decode() for path in (folder / _IGNORED / _ASIDE).iterdir())
    return []


def _odd_first(folder: Path) -> Iterator[Path]:
    """Everything in a folder that nbgrader would copy, and folders that stand where a notebook should."""
    for here, folders, names in os.walk(folder):
        path = Path(here)
        folders[:] = [name for name in folders if name != _IGNORED]
        for name in sorted(folders):
            if (path / name).is_symlink() or (path == folder and name.endswith(".ipynb")):
                folders.remove(name)
                yield path / name
        # The notebooks come first: they count before what lies beside them.
        ordered = sorted(names, key=lambda name: (not name.endswith(".ipynb"), name))
        yield from (path / name for name in ordered if name != _IGNORED)


def _is_time(path: Path, folder: Path) -> bool:
    """Whether nbgrader can read the time of submission in `timestamp.txt`; True of any other file."""
    if path != folder / "timestamp.txt":
        return True
    try:
        text = path.read_text(encoding="utf-8").strip() if path.stat().st_size < 100 else "x"
        return not text or parse_utc(text) is not None
    except (ValueError, OverflowError):
        return False


def _set_aside(path: Path, folder: Path) -> None:
    place = folder
    for name in (_IGNORED, _ASIDE):
        place = place / name
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            place.unlink()
        place.mkdir(exist_ok=True)
    target, number = place / path.name, 1
    while os.path.lexists(target):
        number += 1
        target = place / f"{number}-{path.name}"[:200]
    path.rename(target)

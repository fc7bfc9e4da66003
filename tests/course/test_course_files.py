"""Broken notebooks are named, and no file is ever half-written."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import toy
from tflabs.course.files import notebook_text, parse_notebook, read_notebook, write_text
from tflabs.course.layout import Course
from tflabs.errors import UserError


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"  \n", "is empty"),
        (b"print(1)", "no JSON"),
        (b"[1, 2]", "has no `nbformat`"),
        (b'{"cells": []}', "has no `nbformat`"),
        (b'{"nbformat": 4, "nbformat_minor": 5}', "no list of cells"),
        (b'{"nbformat": 4, "cells": [3]}', "cell 1 has no source"),
        (b'{"nbformat": 4, "cells": [{"source": "x", "cell_type": "poem"}]}', "unknown type 'poem'"),
        (b'{"nbformat": 3, "worksheets": []}', "format 3; format 4 is needed"),
        (b"\xff\xfe\x00x", "not a text file in UTF-8"),
        (b'{"nbformat": 4, "cells": [' + b"[" * 100_000, "no JSON"),
    ],
)
def test_what_is_no_notebook_is_refused_in_words(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "broken.ipynb"
    path.write_bytes(content)
    with pytest.raises(UserError, match=message) as caught:
        read_notebook(path)
    assert str(path) in str(caught.value)


def test_missing_and_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no notebook"):
        read_notebook(tmp_path / "none.ipynb")
    with pytest.raises(UserError, match="is a folder"):
        read_notebook(tmp_path)


@pytest.mark.parametrize("minor", range(6))
def test_every_minor_format_is_read(course: Course, minor: int) -> None:
    data = json.loads(course.release(toy.LAB).read_text(encoding="utf-8"))
    data["nbformat_minor"] = minor
    if minor < 5:
        for cell in data["cells"]:
            del cell["id"]
    notebook = parse_notebook(json.dumps(data), "here")
    assert notebook.nbformat_minor == 5
    assert len({cell["id"] for cell in notebook.cells}) == len(notebook.cells)


def test_what_other_editors_leave_out_is_filled_in() -> None:
    data = {"nbformat": 4, "cells": [{"cell_type": "code", "source": ["a = 1\n", "b = 2"]}]}
    notebook = parse_notebook(json.dumps(data), "here")
    assert notebook.cells[0].source == "a = 1\nb = 2"
    notebook_text(notebook)


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "a" / "file"
    write_text(path, "one")
    write_text(path, "two")
    assert path.read_text(encoding="utf-8") == "two"
    assert [entry.name for entry in path.parent.iterdir()] == ["file"]


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    write_text(path, "old")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError, match="No space left on device"):
        write_text(path, "new")
    assert path.read_text(encoding="utf-8") == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]

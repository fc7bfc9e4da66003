"""Which line of a learner's cell raised an exception, read off the texts that Python and IPython make of tracebacks."""

from __future__ import annotations

import re

LONGEST_LINE = 100  # characters
_FRAME = re.compile(r'^  File ".*ipykernel_[^"]*", line (\d+), in .*\n(?:    (\S.*)\n)?', re.MULTILINE)  # traceback's
_CELL = re.compile(r"^ *Cell In\[\d+\], line (\d+)", re.MULTILINE)  # IPython's


def in_trace(trace: str) -> str:
    """Of Python's text of a traceback: the innermost line that stands in a cell; empty if there is none."""
    found = _FRAME.findall(trace)
    return _told(*found[-1]) if found else ""


def in_cell(source: str, traceback: str) -> str:
    """Of IPython's text of what a cell raised: the cell's own line.

    The innermost line that stands in a cell may be another cell's, whose text is not known here.
    """
    found = _CELL.findall(traceback)
    lines = source.splitlines()
    number = int(found[0]) if found else 0
    return _told(number, lines[number - 1].strip()) if 0 < number <= len(lines) else ""


def _told(number: int | str, code: str) -> str:
    code = code if len(code) <= LONGEST_LINE else code[:LONGEST_LINE] + " …"
    return f"line {number} of your cell: {code}" if code else f"line {number} of your cell"

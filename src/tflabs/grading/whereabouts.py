"""Which line of a learner's cell raised an exception, read off the texts that Python and IPython make of tracebacks."""

from __future__ import annotations

import re

LONGEST_LINE = 100  # characters
_FRAME = re.compile(r'^  File ".*ipykernel_[^"]*", line (\d+), in .*\n    (\S.*)$', re.MULTILINE)  # Python's
_CELL = re.compile(r"^ *Cell In\[\d+\], line (\d+)", re.MULTILINE)  # IPython's


def in_trace(trace: str, sources: list[str]) -> str:
    """Of Python's text of a traceback: the innermost line that stands in a cell with one of these sources."""
    for number, code in reversed(_FRAME.findall(trace)):
        if any(_line(source, int(number)) == code for source in sources):
            return _told(int(number), code)
    return ""


def in_cell(source: str, traceback: str) -> str:
    """Of IPython's text of what a cell raised: the cell's own line."""
    found = _CELL.findall(traceback)
    code = _line(source, int(found[0])) if found else ""
    return _told(int(found[0]), code) if code else ""


def _line(source: str, number: int) -> str:
    lines = source.lstrip("\n").splitlines()  # IPython runs a cell without the empty lines at its top
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""


def _told(number: int, code: str) -> str:
    return f"line {number} of your cell: {code if len(code) <= LONGEST_LINE else code[:LONGEST_LINE] + ' …'}"

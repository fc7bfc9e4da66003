"""`protocol`: the calls between the parties of a session, one row each, in the order in which they were made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .draw import NAME, SMALL, Header, arrow_head, hue_entry, mark, num, path, rect, text
from .layout import Rect
from .picture import Picture
from .sheet import compose
from .text import plural, text_width, wrap

_LANE, _HEAD, _ROW = (
    82.0,
    44.0,
    25.0,
)  # px: between lifelines at least; height of the names above; height of a row of one line
_GAP = 18.0  # px between columns
_COLUMNS = ("call", "carries", "answer")
_LIMIT = 210.0  # px: words wider than this continue on the next line
_STAGES = ("session opened or closed", "registration", "execution", "a tensor fetched")  # by hue
_HUE_OF = {"RegisterGraph": 1, "DeregisterGraph": 1, "RunStep": 2, "RunGraph": 2, "CleanupGraph": 2, "RecvTensor": 3}


@dataclass(frozen=True)
class Call:
    """One call of `MasterService` or `WorkerService` (core/protobuf/master.proto and worker.proto of TensorFlow).

    `carries` and `answer` say in words what the request and the answer carried; each may be empty.
    """

    caller: str
    callee: str
    method: str
    carries: str = ""
    answer: str = ""


def protocol(calls: Sequence[Call], *, title: str | None = None) -> Picture:
    """Draws a lifeline for each party and an arrow from caller to callee for each call, the first call on top.

    Args:
        calls: in the order of the requests. Parties stand in alphabetical order.
        title: stands above the picture.

    Raises:
        ValueError: there are no calls, or a party calls itself.
    """
    if not calls:
        raise ValueError("no calls to draw")
    if own := [call for call in calls if call.caller == call.callee]:
        raise ValueError(f"{own[0].caller} calls itself: {own[0].method}")
    parties = sorted({party for call in calls for party in (call.caller, call.callee)})
    apart = max(_LANE, *(text_width(party, NAME, True) + 14 for party in parties))
    lanes = {party: apart * (place + 0.5) for place, party in enumerate(parties)}
    rows = [[wrap(words, _LIMIT, SMALL) for words in (call.method, call.carries, call.answer)] for call in calls]
    tops = _tops(rows)
    lefts, width = _columns(rows, apart * len(lanes) + _GAP)
    parts = [_names(lanes, lefts, tops[-1], width)]
    for call, row, top, below in zip(calls, rows, tops, tops[1:], strict=False):
        parts.append(_arrow(call, lanes, (top + below) / 2))
        parts.append(_words(row, lefts, top, below))
    used = sorted({_hue(call) for call in calls})
    header = Header(title or "", [hue_entry(hue, _STAGES[hue]) for hue in used])
    return compose(header, "".join(parts), width, tops[-1] + 8, title or "Calls of a session", _told(calls))


def _hue(call: Call) -> int:
    return _HUE_OF.get(call.method, 0)


def _tops(rows: Sequence[Sequence[Sequence[str]]]) -> list[float]:
    """Where each row begins, in px, and where the last one ends."""
    tops = [_HEAD]
    for row in rows:
        tops.append(tops[-1] + _ROW + (max(len(cell) for cell in row) - 1) * 14)
    return tops


def _columns(rows: Sequence[Sequence[Sequence[str]]], left: float) -> tuple[list[float], float]:
    """The left end of each column of words, and the width of the whole."""
    lefts = []
    for index, name in enumerate(_COLUMNS):
        lefts.append(left)
        widest = max(text_width(line, SMALL, index == 0) for row in rows for line in row[index])
        left += max(widest, text_width(name, SMALL)) + _GAP
    return lefts, left - _GAP


def _names(lanes: dict[str, float], lefts: Sequence[float], bottom: float, width: float) -> str:
    """Names of parties and columns, and the lifelines."""
    parts = [path(f"M0 {num(_HEAD)}H{num(width)}", "edge", ' stroke-width="1"')]
    for name, x in lanes.items():
        parts.append(text(x, _HEAD - 14, name, NAME, bold=True, anchor="middle"))
        parts.append(path(f"M{num(x)} {num(_HEAD - 6)}V{num(bottom + 6)}", "edge", ' stroke-width="1"'))
    parts += [text(x, _HEAD - 14, name, SMALL, "muted") for name, x in zip(_COLUMNS, lefts, strict=True)]
    return "".join(parts)


def _arrow(call: Call, lanes: dict[str, float], y: float) -> str:
    hue, start, end = _hue(call), lanes[call.caller], lanes[call.callee]
    way = 1 if end > start else -1
    line = path(f"M{num(start)} {num(y)}H{num(end - 9 * way)}", f"line{hue}", ' stroke-width="2"')
    head = arrow_head((end - 9 * way, y), (end - way, y), f"solid{hue}", half=4.2)
    return line + head + rect(Rect(start - 6, y - 6, 12, 12), f"hue{hue}", radius=2) + mark(hue, start, y, 3.4)


def _words(row: Sequence[Sequence[str]], lefts: Sequence[float], top: float, below: float) -> str:
    parts = []
    for index, (lines, x) in enumerate(zip(row, lefts, strict=True)):
        y = (top + below) / 2 - 7 * (len(lines) - 1) + 4
        for number, line in enumerate(filter(None, lines)):
            parts.append(text(x, y + 14 * number, line, SMALL, bold=index == 0))
    return "".join(parts)


def _told(calls: Sequence[Call]) -> str:
    """The calls in words."""
    said = []
    for call in calls:
        carries = f" with {call.carries}" if call.carries else ""
        answer = f"; answer: {call.answer}" if call.answer else ""
        said.append(f"{call.caller} calls {call.method} of {call.callee}{carries}{answer}.")
    return f"{plural(len(calls), 'call')}, in order. " + " ".join(said)

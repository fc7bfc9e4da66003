"""`queue_levels`, `interleaving`: how full a queue was while threads used it; an order made of several sources."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from .draw import NAME, SMALL, Entry, Header, line_entry, num, path, rect, swatch, text
from .layout import Rect
from .picture import Picture
from .sheet import compose
from .text import listed, plural, text_width
from .theme import HUES
from .workflow import Span, draw_lanes

_LEVEL = 5  # hue of the level: sky blue, no lane of a usual picture has it
_STEP, _MOST = 20.0, 140.0  # px: height of one element, of the whole queue at most
_CELL, _ROW = 40.0, 30.0  # px: a place in the order, a source

Level = tuple[float, int]


def queue_levels(
    spans: Sequence[Span],
    levels: Sequence[Level],
    *,
    capacity: int,
    title: str | None = None,
    notes: Sequence[str] = (),
) -> Picture:
    """Draws what threads did, and below it on the same axis of time how many elements a queue held.

    Args:
        spans: as for `activity`; a lane waits for the queue.
        levels: pairs of a time in µs, from the same origin as the spans, and the queue's size from then on, by time.
            Before the first one the queue is taken to be empty.
        capacity: of the queue.

    Raises:
        ValueError: there are no spans or no levels, or a size is below 0 or above the capacity.
    """
    if not spans or not levels:
        raise ValueError("there are no spans or no levels to draw")
    strange = [size for _, size in levels if not 0 <= size <= capacity]
    if strange:
        raise ValueError(f"a queue of capacity {capacity} cannot hold {strange[0]}")
    origin = min(min(span.start for span in spans), levels[0][0])
    end = max(max(span.end for span in spans), levels[-1][0])
    total = max(end - origin, 1e-3)
    tall = min(capacity * _STEP, _MOST)
    label = "elements in the queue"
    lanes = draw_lanes(spans, origin, total, least_gutter=text_width(label, NAME, True) + 52, below=tall + 36)
    top = lanes.height + 22
    drawn = _level(levels, origin, total, lanes.scale, capacity, Rect(lanes.gutter, top, total * lanes.scale, tall))
    drawn += swatch(_LEVEL, 0, top + tall / 2 - 7) + text(22, top + tall / 2 + 4, label, NAME, bold=True)
    keys = [_renamed(key) for key in lanes.keys] + [line_entry("edge", "room for all", ' stroke-dasharray="5 3"')]
    header = Header(title or "", keys, notes)
    words = f"{lanes.words} {_shares(levels, origin, end, capacity)}"
    height = top + tall + 14
    return compose(header, lanes.drawn + drawn, lanes.width, height, title or "A queue over time", words)


def _renamed(key: Entry) -> Entry:
    return Entry(key.key, key.words.replace("the other half", "the queue"))


def _level(levels: Sequence[Level], origin: float, total: float, scale: float, capacity: int, at: Rect) -> str:
    """The level as a filled staircase, with its axis and the line of the capacity."""
    high = at.h / capacity
    bottom = at.y + at.h
    corners, before = [f"M{num(at.x)} {num(bottom)}"], 0
    for time, size in levels:
        x = at.x + (time - origin) * scale
        corners.append(f"L{num(x)} {num(bottom - before * high)}L{num(x)} {num(bottom - size * high)}")
        before = size
    corners.append(f"L{num(at.x + total * scale)} {num(bottom - before * high)}")
    outline = "".join(corners)
    closed = f"{outline}L{num(at.x + total * scale)} {num(bottom)}Z"
    parts = [path(closed, f"tint{_LEVEL}", ' stroke-width="0"'), path(outline, f"line{_LEVEL}", ' stroke-width="1.6"')]
    parts.append(path(f"M{num(at.x)} {num(at.y)}H{num(at.x + at.w)}", "edge", ' stroke-dasharray="5 3"'))
    parts.append(path(f"M{num(at.x)} {num(bottom)}H{num(at.x + at.w)}", "edge", ' stroke-width="1"'))
    ends = ((0, bottom), (capacity, at.y))
    parts += [text(at.x - 8, y + 4, str(size), SMALL, "muted", anchor="end") for size, y in ends]
    return "".join(parts)


def _shares(levels: Sequence[Level], origin: float, end: float, capacity: int) -> str:
    """For how much of the time the queue was empty and full, in words."""
    spent: dict[int, float] = {}
    steps = [(origin, 0), *levels, (end, 0)]
    for (start, size), (stop, _) in pairwise(steps):
        spent[size] = spent.get(size, 0.0) + max(stop - start, 0.0)
    whole = max(end - origin, 1e-3)
    empty, full = spent.get(0, 0.0) / whole, spent.get(capacity, 0.0) / whole
    return f"The queue has room for {capacity}; it is empty {empty:.0%} and full {full:.0%} of the time."


def interleaving(
    elements: Sequence[Any], source: Callable[[Any], int], *, title: str | None = None, notes: Sequence[str] = ()
) -> Picture:
    """Draws an order of elements that come from several sources: a row for each source, a column for each place.

    Args:
        elements: in their order; their text stands in the cells.
        source: the number of an element's source, from 0 on.

    Raises:
        ValueError: there are no elements.
    """
    if not elements:
        raise ValueError("there are no elements to draw")
    sources = [source(element) for element in elements]
    rows = max(sources) + 1
    cell = max(_CELL, max(text_width(str(element), SMALL) for element in elements) + 12)
    gutter = text_width(f"source {rows - 1}", NAME, True) + 40
    width = gutter + cell * len(elements)
    parts = [text(gutter - 10, 14, "place", SMALL, "muted", anchor="end")]
    for row in range(rows):
        y = 22 + row * _ROW
        parts.append(rect(Rect(0, y, width, _ROW), "shade") if row % 2 == 0 else "")
        parts.append(swatch(row % len(HUES), 4, y + 8) + text(26, y + 19, f"source {row}", NAME, bold=True))
    for place, (element, row) in enumerate(zip(elements, sources, strict=True)):
        box = Rect(gutter + place * cell + 2, 22 + row * _ROW + 4, cell - 4, _ROW - 8)
        parts.append(text(box.cx, 14, str(place + 1), SMALL, "muted", anchor="middle"))
        parts.append(rect(box, f"tint{row % len(HUES)}", radius=3, extra=' stroke-width="1"'))
        parts.append(text(box.cx, box.cy + 4, str(element), SMALL, anchor="middle"))
    words = f"{plural(len(elements), 'element')} of {plural(rows, 'source')} in the order "
    words += listed([f"{element} (source {row})" for element, row in zip(elements, sources, strict=True)], 60) + "."
    return compose(
        Header(title or "", notes=notes), "".join(parts), width, 22 + rows * _ROW, title or "An order", words
    )

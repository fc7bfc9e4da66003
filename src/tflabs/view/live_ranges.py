"""`live_ranges`: how long each value of a straight-line program is needed, in which register, beside which others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from .draw import NAME, SMALL, Entry, Header, line_entry, mark, num, path, rect, swatch, text
from .layout import Rect
from .picture import Picture
from .sheet import compose
from .text import plural, text_width
from .theme import HUES

_ROW, _LANE, _NODE = 26.0, 34.0, 15.0  # px: an instruction, a bar's column, a node's radius
_NO_REGISTER = 5  # hue of values without a register: sky blue


@dataclass(frozen=True)
class LiveRange:
    """The value that an instruction makes: it is alive from its own place on, up to the place `end` of its last use.

    There the result of that instruction may take its register over. A value that is needed after the program has the
    number of instructions as its end.
    """

    words: str
    end: int
    register: int | None = None


def live_ranges(values: Sequence[LiveRange], *, title: str | None = None) -> Picture:
    """Draws a program line by line, a bar for each live range, and the interference graph.

    Values without registers get a column each; values with registers stand in the column of their register.

    Raises:
        ValueError: there are no values, only some have a register, a range ends before it begins or after the program,
            or two values that are alive together have the same register.
    """
    _check(values)
    held = [value.register for value in values if value.register is not None]
    lanes = max(held) + 1 if held else len(values)
    gutter = max(text_width(f"%{i} = {value.words}", NAME) for i, value in enumerate(values)) + 24
    top, height = 24.0, len(values) * _ROW
    right = gutter + lanes * _LANE + 12
    alive_wide = text_width("alive", SMALL) + 34
    parts = [_program(values, right, alive_wide, top)]
    parts += [
        _bar(i, value, i if value.register is None else value.register, gutter, top) for i, value in enumerate(values)
    ]
    if held:
        heads = (f"r{register}" for register in range(lanes))
        parts += [_head(gutter, lane, head) for lane, head in enumerate(heads)]
    graph, size = _graph(values, right + alive_wide)
    most = max(_alive(values, i) for i in range(len(values)))
    words = "colour and column: the register" if held else "a value and the range of its life"
    entries = [Entry(swatch(_hue(values[0]), 4, 0), words), line_entry("edge", "alive at the same time (interference)")]
    notes = [f"{plural(len(values), 'value')}, at most {most} alive at the same time"]
    if held:
        notes[0] += f", {plural(len(set(held)), 'register')} used"
    width = right + alive_wide + size
    header = Header(title or "", entries, notes)
    return compose(
        header, "".join(parts) + graph, width, max(top + height, size + 20) + 8, title or "Live ranges", _alt(values)
    )


def interfere(values: Sequence[LiveRange], a: int, b: int) -> bool:
    """Whether the values of two places are alive at the same time."""
    first, second = min(a, b), max(a, b)
    return values[first].end > second


def _check(values: Sequence[LiveRange]) -> None:
    if not values:
        raise ValueError("there are no values to draw")
    if len({value.register is None for value in values}) > 1:
        raise ValueError("either all values have a register, or none")
    for i, value in enumerate(values):
        if not i < value.end <= len(values):
            raise ValueError(f"value {i} of {len(values)} cannot live up to place {value.end}")
    for a, b in combinations(range(len(values)), 2):
        if values[a].register is not None and values[a].register == values[b].register and interfere(values, a, b):
            raise ValueError(f"values {a} and {b} are alive together and have the same register")


def _hue(value: LiveRange) -> int:
    return _NO_REGISTER if value.register is None else value.register % len(HUES)


def _alive(values: Sequence[LiveRange], place: int) -> int:
    return sum(value.end > place for value in values[: place + 1])


def _program(values: Sequence[LiveRange], right: float, wide: float, top: float) -> str:
    """The lines of the program, and how many values are alive behind each."""
    parts = [text(right + wide / 2 - 14, 14, "alive", SMALL, "muted", anchor="middle")]
    for i, value in enumerate(values):
        y = top + i * _ROW
        if i % 2 == 0:
            parts.append(rect(Rect(0, y, right + wide - 28, _ROW), "shade"))
        parts.append(text(6, y + 17, f"%{i} = {value.words}", NAME))
        parts.append(text(right + wide / 2 - 14, y + 17, str(_alive(values, i)), NAME, bold=True, anchor="middle"))
    return "".join(parts)


def _head(gutter: float, lane: int, words: str) -> str:
    return text(gutter + (lane + 0.5) * _LANE, 14, words, NAME, bold=True, anchor="middle")


def _bar(place: int, value: LiveRange, lane: int, gutter: float, top: float) -> str:
    """A live range, from the middle of the line that makes it to the middle of the line that uses it last."""
    begin = top + (place + 0.5) * _ROW + 1
    box = Rect(gutter + lane * _LANE + 5, begin, _LANE - 10, (value.end - place) * _ROW - 2)
    hue = _hue(value)
    shape = rect(box, f"tint{hue}", radius=4, extra=' stroke-width="1.5"')
    label = text(box.cx, box.y + 14, f"%{place}", SMALL, bold=True, anchor="middle")
    return shape + label


def _graph(values: Sequence[LiveRange], left: float) -> tuple[str, float]:
    """The interference graph on a circle. Returns SVG and its width, which is its height, too."""
    count = len(values)
    radius = max(count * 3.2 * _NODE / (2 * math.pi), 34.0) if count > 1 else 0.0
    size = 2 * (radius + _NODE) + 6
    middle = (left + size / 2, 24 + size / 2)

    def spot(i: int) -> tuple[float, float]:
        turn = 2 * math.pi * i / count - math.pi / 2
        return middle[0] + radius * math.cos(turn), middle[1] + radius * math.sin(turn)

    parts = [text(middle[0], 14, "interference graph", SMALL, "muted", anchor="middle")]
    for a, b in combinations(range(count), 2):
        if interfere(values, a, b):
            (x0, y0), (x1, y1) = spot(a), spot(b)
            parts.append(path(f"M{num(x0)} {num(y0)}L{num(x1)} {num(y1)}", "edge", ' stroke-width="1.4"'))
    for i, value in enumerate(values):
        x, y = spot(i)
        hue = _hue(value)
        box = Rect(x - _NODE, y - _NODE + 2, 2 * _NODE, 2 * _NODE - 4)
        parts.append(rect(box, f"tint{hue}", radius=11, extra=' stroke-width="1.8"'))
        words = f"%{i}"
        parts.append(text(x, y + 4, words, SMALL, bold=True, anchor="middle"))
        if value.register is not None:
            parts.append(
                rect(Rect(x + 7, y - _NODE - 3, 12, 12), f"hue{hue}", radius=2) + mark(hue, x + 13, y - _NODE + 3, 3.2)
            )
    return "".join(parts), max(size + 8, text_width("interference graph", SMALL) + 8)


def _alt(values: Sequence[LiveRange]) -> str:
    def told(i: int, value: LiveRange) -> str:
        where = "" if value.register is None else f" in r{value.register}"
        until = "the end" if value.end == len(values) else f"%{value.end}"
        return f"%{i} = {value.words}{where}, needed until {until}"

    pairs = [f"%{a} and %{b}" for a, b in combinations(range(len(values)), 2) if interfere(values, a, b)]
    lines = "; ".join(told(i, value) for i, value in enumerate(values))
    return f"{plural(len(values), 'value')}: {lines}. Alive at the same time: {', '.join(pairs) or 'no two'}."

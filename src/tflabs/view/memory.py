"""`memory_map`, `memory_strip`: which bytes of one region an allocator gave away, over time and at one moment.

Chunks in use are read from events; what lies between them is free. A best-fit allocator with coalescing joins free
neighbours at once, so that each gap is one free chunk.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol

from .draw import SMALL, Entry, Header, line_entry, num, path, rect, text
from .layout import Rect
from .picture import Picture
from .sheet import compose
from .text import listed, plural, text_width

_USED, _LOST = 5, 1  # hues: sky blue, orange
_WIDE, _TALL = 660.0, 380.0  # px: the longest axis of steps, of addresses
_LEAST, _LEAST_STRIP = 2.5, 9.0  # px: no stretch between two borders is drawn smaller
_BYTES = 86.0  # px: height of the curves below the map
_GUTTER = 84.0  # px: left of the map, for addresses
_REST = 96.0  # px: the end of a region that is free from some address on
_UNIT, _BINS = 256, 21  # bytes of the smallest chunk; number of bins (xla/tsl/framework/bfc_allocator.h)


class MemoryEvent(Protocol):
    """What happened to one chunk: it was given away ("allocate") or taken back ("free"). Sizes in bytes."""

    @property
    def kind(self) -> str: ...
    @property
    def offset(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def requested(self) -> int: ...
    @property
    def op(self) -> str: ...


@dataclass(frozen=True)
class Block:
    """A chunk in use from event `first` up to, not including, event `end`. Sizes in bytes."""

    offset: int
    size: int
    requested: int
    first: int
    end: int
    op: str


@dataclass(frozen=True)
class Gap:
    """A free chunk."""

    offset: int
    size: int

    @property
    def bin(self) -> int:
        """The number of its bin, as `BFCAllocator::BinNumForSize` computes it."""
        return min(_BINS - 1, (max(self.size, _UNIT) // _UNIT).bit_length() - 1)


def blocks(events: Sequence[MemoryEvent]) -> list[Block]:
    """The chunks that events speak of, by their beginnings; one that is not freed ends with the events.

    Raises:
        ValueError: a chunk lies on one in use, or what is freed is not in use.
    """
    live: dict[int, Block] = {}
    done: list[Block] = []
    for number, event in enumerate(events):
        if event.kind == "free":
            if event.offset not in live:
                raise ValueError(f"event {number} frees {event.offset}, where no chunk in use begins")
            done.append(replace(live.pop(event.offset), end=number))
            continue
        made = Block(event.offset, event.size, event.requested, number, len(events), event.op)
        for other in live.values():
            if made.offset < other.offset + other.size and other.offset < made.offset + made.size:
                raise ValueError(f"event {number}: bytes from {made.offset} on are in use from {other.offset} on")
        live[made.offset] = made
    return sorted([*done, *live.values()], key=lambda block: block.first)


def gaps(live: Sequence[Block], size: int) -> list[Gap]:
    """The free chunks between the chunks in use, by address."""
    found, at = [], 0
    for block in sorted(live, key=lambda block: block.offset):
        if block.offset > at:
            found.append(Gap(at, block.offset - at))
        at = block.offset + block.size
    return [*found, Gap(at, size - at)] if size > at else found


def byte_words(count: int) -> str:
    """A number of bytes, in the largest unit in which it is at least 1."""
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if count >= 1 << power:
            return f"{count / (1 << power):.1f}".removesuffix(".0") + f" {unit}"
    return f"{count} B"


class _Axis:
    """Addresses on a line. A stretch between two borders is as long as its bytes, but not too short to be seen."""

    def __init__(self, borders: Sequence[int], length: float, least: float) -> None:
        self.borders = sorted({0, *borders})
        total = max(self.borders[-1], 1)
        spans = [max(least, (b - a) / total * length) for a, b in pairwise(self.borders)]
        self.places = [0.0]
        for span in spans:
            self.places.append(self.places[-1] + span)

        self.to_scale = all(span > least for span in spans)

    @property
    def length(self) -> float:
        return self.places[-1]

    def place(self, address: int) -> float:
        """Where an address is, in px from address 0."""
        index = min(bisect_right(self.borders, address), len(self.borders) - 1)
        low, high = self.borders[index - 1 : index + 1]
        share = (address - low) / (high - low)
        return self.places[index - 1] + share * (self.places[index] - self.places[index - 1])


def memory_map(events: Sequence[MemoryEvent], *, title: str | None = None, notes: Sequence[str] = ()) -> Picture:
    """Draws one region of memory over time: events to the right, addresses upwards, below them the bytes in use.

    Each chunk in use is a box from the event that gave it away to the one that took it back. Its part that nobody asked
    for is drawn apart.

    Raises:
        ValueError: there are no events, or they contradict each other.
    """
    found = blocks(events)
    if not found:
        raise ValueError("there are no events to draw")
    step = min(26.0, max(2.5, _WIDE / len(events)))
    axis = _Axis([edge for b in found for edge in (b.offset, b.offset + b.size)], _TALL, _LEAST)
    wide = step * len(events)
    at = Rect(_GUTTER, 6, wide, axis.length)
    parts = [rect(at, "panel", extra=' stroke-width="0.5"'), _addresses(axis, at)]
    parts += [_box(block, axis, at, step) for block in found]
    below = Rect(_GUTTER, at.y + at.h + 20, wide, _BYTES)
    curves, peak = _curves(found, len(events), below, step)
    entries = [
        *_chunk_entries(),
        Entry(rect(Rect(4, 0, 14, 14), "panel", extra=' stroke-width="1"'), "free"),
        line_entry(f"line{_USED}", "bytes in use", ' stroke-width="1.8"'),
        line_entry("edge", "bytes asked for", ' stroke-width="1.4" stroke-dasharray="4 2"'),
    ]
    header = Header(title or "", entries, [*notes, *_scale_notes(axis.to_scale)])
    words = (
        f"{plural(len(events), 'event')} in one region: {plural(len(found), 'chunk')} given away, the highest ends at "
        f"{byte_words(axis.borders[-1])}. At most {byte_words(peak)} are in use."
    )
    height = below.y + below.h + 24
    return compose(header, "".join(parts) + curves, _GUTTER + wide + 24, height, title or "Memory over time", words)


def _chunk_entries() -> list[Entry]:
    """The two parts of a chunk in use, as they are drawn."""
    return [
        Entry(rect(Rect(4, 0, 14, 14), f"tint{_USED}", extra=' stroke-width="0.6"'), "in use: asked for"),
        Entry(rect(Rect(4, 0, 14, 14), f"hue{_LOST}"), "in use: added by rounding, or given whole"),
    ]


def _scale_notes(to_scale: bool) -> list[str]:
    """What is said of an axis of addresses that is stretched."""
    return [] if to_scale else ["Addresses are in order, but not to scale."]


def _addresses(axis: _Axis, at: Rect) -> str:
    """Labels of borders, as many as there is room for, and the axis' name."""
    bottom, free = at.y + at.h, float("inf")
    parts = [text(0, at.y + 10, "address", SMALL, "muted")]
    for border in axis.borders:
        y = bottom - axis.place(border)
        if free - y >= 15 and y >= at.y + 22:
            free = y
            parts.append(text(at.x - 6, y + 4, byte_words(border), SMALL, "muted", anchor="end"))
            parts.append(path(f"M{num(at.x - 4)} {num(y)}H{num(at.x)}", "edge", ' stroke-width="1"'))
    return "".join(parts)


def _box(block: Block, axis: _Axis, at: Rect, step: float) -> str:
    """One chunk's life: the part asked for below, the rest above it."""
    low, high = axis.place(block.offset), axis.place(block.offset + block.size)
    left, right = at.x + block.first * step, at.x + block.end * step
    asked = (high - low) * min(block.requested / block.size, 1.0)
    bottom = at.y + at.h - low
    lower = Rect(left, bottom - asked, right - left, asked)
    upper = Rect(left, bottom - (high - low), right - left, high - low - asked)
    parts = [rect(lower, f"tint{_USED}", extra=' stroke-width="0.6"')] if asked > 0 else []
    if upper.h > 0.05:
        parts.append(rect(upper, f"hue{_LOST}"))
    if lower.h >= 12 and text_width(block.op, SMALL) + 4 <= lower.w:
        parts.append(text(lower.cx, lower.cy + 4, block.op, SMALL, anchor="middle"))
    return f'<g class="chunk">{"".join(parts)}</g>'


def _curves(found: Sequence[Block], steps: int, at: Rect, step: float) -> tuple[str, int]:
    """Bytes in use and bytes asked for after each event, as staircases. Returns them and the most in use."""
    used, asked = [0] * (steps + 1), [0] * (steps + 1)
    for block in found:
        for numbers, count in ((used, block.size), (asked, block.requested)):
            numbers[block.first] += count
            numbers[block.end] -= count
    for numbers in (used, asked):
        for index in range(1, steps):
            numbers[index] += numbers[index - 1]
    peak = max(used[:steps])
    parts = [path(f"M{num(at.x)} {num(at.y + at.h)}H{num(at.x + at.w)}", "edge", ' stroke-width="1"')]
    for numbers, css, extra in (
        (asked, "edge", ' stroke-width="1.4" stroke-dasharray="4 2"'),
        (used, f"line{_USED}", ' stroke-width="1.8"'),
    ):
        corners = [f"M{num(at.x)} {num(at.y + at.h)}"]
        for index, count in enumerate(numbers[:steps]):
            y = at.y + at.h - count / peak * at.h
            corners.append(f"V{num(y)}H{num(at.x + (index + 1) * step)}")
        parts.append(path("".join(corners), css, extra))
    for count, y in ((0, at.y + at.h), (peak, at.y)):
        parts.append(text(at.x - 6, y + 4, byte_words(count), SMALL, "muted", anchor="end"))
    every = next(n for n in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10**9) if n * step >= 34)
    below = at.y + at.h + 16
    parts += [text(at.x + index * step, below, str(index), SMALL, "muted") for index in range(0, steps, every)]
    parts.append(text(0, below, "event", SMALL, "muted"))
    return "".join(parts), peak


def memory_strip(
    events: Sequence[MemoryEvent], *, size: int, title: str | None = None, notes: Sequence[str] = ()
) -> Picture:
    """Draws one region of `size` bytes after these events: its chunks by address, and the bins of the free ones.

    Raises:
        ValueError: the events contradict each other, or go beyond the region.
    """
    live = sorted((b for b in blocks(events) if b.end == len(events)), key=lambda block: block.offset)
    end = max((block.offset + block.size for block in live), default=0)
    if end > size:
        raise ValueError(f"the region ends at {size}, a chunk at {end}")
    free = gaps(live, size)
    tail = free[-1] if live and free and free[-1].offset >= end and free[-1].size > size * 0.5 else None
    inner = [gap for gap in free if gap is not tail]
    borders = [end] if tail else [size]
    parts_of_it: list[Block | Gap] = [*live, *inner]
    borders += [edge for part in parts_of_it for edge in (part.offset, part.offset + part.size)]
    axis = _Axis(borders, _WIDE - (_REST if tail else 0), _LEAST_STRIP)
    at = Rect(0, 4, axis.length, 46)
    parts = [_used(block, axis, at) for block in live] + [_free(gap.size, _span(gap, axis, at)) for gap in inner]
    wide = axis.length
    if tail:
        parts.append(_free(tail.size, Rect(axis.length, at.y, _REST, at.h)))
        wide += _REST
    wide = max(wide, _WIDE)
    parts.append(text(0, at.y + at.h + 15, "0", SMALL, "muted"))
    parts.append(text(wide, at.y + at.h + 15, byte_words(size), SMALL, "muted", anchor="end"))
    drawn, height = _tables(live, free, at.y + at.h + 28, wide)
    entries = [
        *_chunk_entries(),
        Entry(rect(Rect(4, 0, 14, 14), "panel", extra=' stroke-width="1" stroke-dasharray="2 2"'), "free"),
    ]
    header = Header(title or "", entries, [*notes, *_scale_notes(axis.to_scale and tail is None)])
    words = (
        f"A region of {byte_words(size)}: {plural(len(live), 'chunk')} in use, {plural(len(free), 'free chunk')}. "
        f"{_totals(live, free)}"
    )
    return compose(header, "".join(parts) + drawn, wide, height, title or "A region of memory", words)


def _span(part: Gap | Block, axis: _Axis, at: Rect) -> Rect:
    left, right = axis.place(part.offset), axis.place(part.offset + part.size)
    return Rect(at.x + left, at.y, right - left, at.h)


def _used(block: Block, axis: _Axis, at: Rect) -> str:
    box = _span(block, axis, at)
    asked = box.w * min(block.requested / block.size, 1.0)
    parts = [rect(Rect(box.x, box.y, asked, box.h), f"tint{_USED}", extra=' stroke-width="0"')]
    if box.w - asked > 0.05:
        parts.append(rect(Rect(box.x + asked, box.y, box.w - asked, box.h), f"hue{_LOST}"))
    parts.append(rect(box, "outline", extra=' stroke-width="1"'))
    lines = (block.op, byte_words(block.requested))
    if max(text_width(line, SMALL) for line in lines) + 6 <= asked:
        parts += [
            text(box.x + asked / 2, box.cy - 3 + 14 * row, line, SMALL, anchor="middle")
            for row, line in enumerate(lines)
        ]
    return f'<g class="chunk">{"".join(parts)}</g>'


def _free(size: int, box: Rect) -> str:
    parts = rect(box, "panel", extra=' stroke-width="1" stroke-dasharray="2 2"')
    if text_width(byte_words(size), SMALL) + 6 <= box.w:
        parts += text(box.cx, box.cy + 4, byte_words(size), SMALL, "muted", anchor="middle")
    return f'<g class="gap">{parts}</g>'


def _totals(live: Sequence[Block], free: Sequence[Gap]) -> str:
    total, largest = sum(gap.size for gap in free), max((gap.size for gap in free), default=0)
    used, asked = sum(block.size for block in live), sum(block.requested for block in live)
    return (
        f"In use {byte_words(used)}, of which {byte_words(asked)} were asked for; "
        f"free {byte_words(total)}, the largest free chunk {byte_words(largest)}."
    )


def _tables(live: Sequence[Block], free: Sequence[Gap], top: float, wide: float) -> tuple[str, float]:
    """Two bars (all that is free, the largest free chunk), and the bins that are not empty. Returns SVG and its end."""
    total, largest = sum(gap.size for gap in free), max((gap.size for gap in free), default=0)
    used = sum(block.size for block in live)
    whole, left = max(total + used, 1), 150.0
    rows = (("in use", used, f"tint{_USED}"), ("free", total, "panel"), ("largest free chunk", largest, "panel"))
    parts = []
    for row, (name, count, css) in enumerate(rows):
        y = top + row * 20
        parts.append(text(0, y + 12, name, SMALL, bold=True))
        parts.append(rect(Rect(left, y + 1, (wide - left - 90) * count / whole, 14), css, extra=' stroke-width="1"'))
        parts.append(text(left + (wide - left - 90) * count / whole + 8, y + 12, byte_words(count), SMALL))
    top += len(rows) * 20 + 10
    parts.append(text(0, top + 12, "bins of free chunks", SMALL, bold=True))
    numbers = sorted({gap.bin for gap in free})
    for row, number in enumerate(numbers):
        inside = sorted((gap for gap in free if gap.bin == number), key=lambda gap: (gap.size, gap.offset))
        what = listed([f"{byte_words(gap.size)} at {byte_words(gap.offset)}" for gap in inside], 4)
        low = byte_words(_UNIT << number)
        parts.append(text(left, top + row * 20 + 12, f"bin {number}, from {low} on:  {what}", SMALL))
    if not numbers:
        parts.append(text(left, top + 12, "all empty", SMALL, "muted"))
    return "".join(parts), top + max(len(numbers), 1) * 20 + 8

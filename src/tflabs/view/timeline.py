"""`timeline`: when each node ran, from the step_stats of one traced step."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .devices import short_device
from .draw import SMALL, Entry, Header, Line, block, escape, num, path, rect, swatch, text
from .layout import Rect
from .picture import Picture
from .read import message_name
from .sheet import compose
from .text import plural, text_width
from .theme import HUES

_WIDTH = 570.0  # px: the time axis; with the lanes' titles as wide as a cell of JupyterLab
_BAR, _ROW, _LEAST = 17.0, 21.0, 2.5  # px: height of a bar, of a row, width of a bar that took no time
_CROWDED = 1500  # bars: beyond, bars of less than a pixel that touch are drawn as one
_NAMED = 40  # bars of a lane that may have a name: the longest
_CASCADE = 6  # rows that a lane may take so that bars can have their names beside them
_TRANSFERS = ("Send", "Recv", "RecvTensor", "HostSend", "HostRecv")


Where = Literal["inside", "beside", "before", "none"]
Span = tuple[float, float]  # px


@dataclass(frozen=True)
class Bar:
    """One execution of a node: start and end in µs since the first start of the step."""

    name: str
    op: str
    device: str
    thread: int
    start: float
    end: float

    @property
    def transfer(self) -> bool:
        """Whether it sends or receives a tensor."""
        return self.op.lstrip("_") in _TRANSFERS


@dataclass(frozen=True)
class Placed:
    """A bar in a row of its lane, in px from the lane's left end; `label` says where its name fits."""

    bar: Bar
    row: int
    x: float
    width: float
    label: Where


def timeline(obj: Any, *, title: str | None = None, lanes: str = "thread") -> Picture:
    """Draws the step_stats of one step: time runs to the right, in µs since the first node started.

    Args:
        obj: RunMetadata or StepStats.
        title: stands above the picture.
        lanes: "thread" gives each thread of a device its own lane, "device" each device.

    Returns:
        The picture. A bar reaches from `all_start_micros` to `all_end_rel_micros` after it (nanoseconds where the
        runtime wrote them); bars of one lane that overlap, or whose names would, stand in different rows.

    Raises:
        TypeError: `obj` is neither RunMetadata nor StepStats.
        ValueError: it holds no node, or `lanes` is something else.
    """
    if lanes not in ("thread", "device"):
        raise ValueError(f'lanes must be "thread" or "device", found {lanes!r}')
    bars = read_bars(obj)
    if not bars:
        raise ValueError("no step_stats: trace the step with RunOptions(trace_level=RunOptions.FULL_TRACE)")
    end = max(bar.end for bar in bars)
    devices = sorted({bar.device for bar in bars})
    named = _lanes(bars, lanes)
    gutter = max(line.width for words, _ in named for line in _lane_title(words)) + 34
    content, height, unnamed = _draw_lanes(named, devices, gutter, max(end, 1e-3))
    notes = [f"{unnamed:,} of {plural(len(bars), 'bar')} without room for a name."] if unnamed else []
    header = Header(title or "", _entries(bars), notes)
    width = gutter + _WIDTH + 14
    return compose(header, content, width, height, title or "Timeline", _describe(bars, devices, end, lanes))


def read_bars(obj: Any) -> list[Bar]:
    """Reads all executions of RunMetadata or StepStats, by start."""
    if message_name(obj) == "tensorflow.RunMetadata":
        obj = obj.step_stats
    if message_name(obj) != "tensorflow.StepStats":
        raise TypeError(f"expected RunMetadata or StepStats, found {type(obj).__name__}")
    found = [(*_times(s), s, d.device) for d in obj.dev_stats for s in d.node_stats]
    origin = min((start for start, *_ in found), default=0)
    bars = [
        Bar(s.node_name, _op(s), device, s.thread_id, (start - origin) / 1000, (end - origin) / 1000)
        for start, end, s, device in found
    ]
    return sorted(bars, key=lambda b: (b.start, b.end, b.device, b.name))


def _times(stats: Any) -> tuple[int, int]:
    """Start and end of a NodeExecStats in ns. The microsecond fields are older; some writers fill only them."""
    start = stats.all_start_nanos or stats.all_start_micros * 1000
    took = max(stats.all_end_rel_nanos, stats.op_end_rel_nanos)
    return start, start + (took or max(stats.all_end_rel_micros, stats.op_end_rel_micros) * 1000)


def _op(stats: Any) -> str:
    """The op type, from a label such as "c = MatMul(a, b)" (step_stats_collector.cc)."""
    _, found, call = stats.timeline_label.partition(" = ")
    return call.partition("(")[0] if found else ""


def _lanes(bars: Sequence[Bar], lanes: str) -> list[tuple[str, list[Bar]]]:
    """Lane titles with their bars: by device, then thread number."""
    found: dict[tuple[str, int], list[Bar]] = {}
    for bar in bars:
        found.setdefault((bar.device, bar.thread if lanes == "thread" else 0), []).append(bar)
    threads = lanes == "thread"
    return [
        (short_device(device) + (f" · thread {thread}" if threads else ""), found[device, thread])
        for device, thread in sorted(found)
    ]


def _lane_title(words: str) -> list[Line]:
    device, _, thread = words.partition(" · ")
    return [Line(device)] + ([Line(thread, css="muted")] if thread else [])


def place_bars(bars: Sequence[Bar], scale: float, width: float) -> list[Placed]:
    """Puts the bars of one lane into rows such that neither bars nor names overlap, the longest bars' names first.

    Args:
        bars: by start.
        scale: px per µs.
        width: px from the lane's left to its right end.
    """
    rows: list[list[Span]] = []
    placed, unnamed = [], []
    shown = _joined(bars, scale)
    for i, bar in enumerate(sorted(shown, key=lambda b: (b.start - b.end, b.start))):
        x, took = bar.start * scale, (bar.end - bar.start) * scale
        fit = _fit(rows, x, took, text_width(bar.name, SMALL) + 8, width) if i < _NAMED else None
        if fit is None:
            unnamed.append(bar)
            continue
        label, row, span = fit
        _take(rows, row, span)
        placed.append(Placed(bar, row, x, max(took, _LEAST), label))
    first = len(rows)
    for bar in sorted(unnamed, key=lambda b: b.start):
        x, took = bar.start * scale, (bar.end - bar.start) * scale
        # Bars without names have rows of their own, lest they seem to own a name, and may touch: only those that
        # overlap in time are stacked.
        span = (x + 1e-6, x + took)
        row = next((i for i in range(first, len(rows)) if _free(rows, i, span)), len(rows))
        _take(rows, row, span)
        placed.append(Placed(bar, row, x, max(took, _LEAST), "none"))
    return sorted(placed, key=lambda p: (p.x, p.row))


def _free(rows: Sequence[Sequence[Span]], row: int, span: Span) -> bool:
    return row >= len(rows) or all(end <= span[0] or span[1] <= start for start, end in rows[row])


def _take(rows: list[list[Span]], row: int, span: Span) -> None:
    if row == len(rows):
        rows.append([])
    rows[row].append(span)


def _fit(
    rows: Sequence[Sequence[Span]], x: float, took: float, need: float, width: float
) -> tuple[Where, int, Span] | None:
    """Chooses where a bar's name of `need` px goes: place, row, and what both take of the row; None if nowhere.

    Names stand to the right of their bars, and to the left only at the right end of the picture.
    """
    bar = max(took, _LEAST)
    if need <= took:
        label: Where = "inside"
        span = (x, x + took + 1)
    elif x + bar + need <= width:
        label, span = "beside", (x, x + bar + need)
    else:
        label, span = "before", (x - need, x + bar + 1)
    row = next((i for i in range(min(len(rows) + 1, _CASCADE)) if _free(rows, i, span)), None)
    return None if row is None or span[0] < 0 else (label, row, span)


def _joined(bars: Sequence[Bar], scale: float) -> list[Bar]:
    """In a crowded lane, neighbouring bars that together span less than a pixel become one."""
    if len(bars) <= _CROWDED:
        return list(bars)
    joined: list[list[Bar]] = []
    for bar in bars:
        if joined and (bar.end - joined[-1][0].start) * scale < 1:
            joined[-1].append(bar)
        else:
            joined.append([bar])
    return [
        run[0] if len(run) == 1
        else Bar(plural(len(run), "node"), "", run[0].device, run[0].thread, run[0].start, max(b.end for b in run))
        for run in joined
    ]  # fmt: skip


def _draw_lanes(
    named: Sequence[tuple[str, list[Bar]]], devices: Sequence[str], gutter: float, end: float
) -> tuple[str, float, int]:
    """Draws all lanes and the axis. Returns SVG, height in px, and how many bars have no name beside them."""
    scale = _WIDTH / end
    ticks = tick_marks(end)
    lanes, top, unnamed = [], 22.0, 0
    for i, (words, bars) in enumerate(named):
        placed = place_bars(bars, scale, _WIDTH)
        head = _lane_title(words)
        height = max((max(p.row for p in placed) + 1) * _ROW, len(head) * 15) + 7
        hue = devices.index(bars[0].device)
        shade = rect(Rect(0, top, gutter + _WIDTH, height), "shade") if i % 2 == 0 else ""
        label = swatch(hue, 4, top + 6) + block(26, top + 6, head)
        lanes.append((shade, label + "".join(_draw_bar(p, gutter, top + 5, hue) for p in placed)))
        unnamed += sum(p.label == "none" for p in placed)
        top += height
    grid = "".join(path(f"M{num(gutter + t * scale)} 22V{num(top)}", "grid", ' stroke-width="1"') for t in ticks)
    axis = "".join(_tick(gutter + t * scale, t, ticks) for t in ticks)
    return "".join(s for s, _ in lanes) + grid + axis + "".join(s for _, s in lanes), top, unnamed


def tick_marks(end: float, wanted: int = 8) -> list[float]:
    """Returns multiples of 1, 2 or 5 times a power of ten from 0 to at most `end`, about `wanted` of them."""
    power = 10.0 ** math.floor(math.log10(end / wanted))
    step = next(m * power for m in (1, 2, 5, 10) if m * power * wanted >= end)
    return [i * step for i in range(int(end / step + 1e-9) + 1)]


def _tick(x: float, value: float, ticks: Sequence[float]) -> str:
    digits = max(0, -math.floor(math.log10(ticks[1]))) if len(ticks) > 1 else 0
    words = f"{value:,.{digits}f}" + (" µs" if value == ticks[-1] else "")
    return text(x, 14, words, SMALL, "muted", anchor="middle" if value else "start")


def _draw_bar(placed: Placed, left: float, top: float, hue: int) -> str:
    bar, x, y = placed.bar, left + placed.x, top + placed.row * _ROW
    face = Rect(x, y, placed.width, _BAR)
    index = hue % len(HUES)
    parts = [rect(face, f"tint{index}" if placed.width > 5 else f"solid{index}", extra=' stroke-width="1"')]
    if bar.transfer:
        parts.append(hatching(face, index))
    if placed.label == "inside":
        parts.append(text(x + placed.width / 2, y + 12.5, bar.name, SMALL, anchor="middle"))
    elif placed.label == "beside":
        parts.append(text(x + placed.width + 4, y + 12.5, bar.name, SMALL))
    elif placed.label == "before":
        parts.append(text(x - 4, y + 12.5, bar.name, SMALL, anchor="end"))
    words = escape(f"{bar.name}{f' ({bar.op})' if bar.op else ''}: {bar.start:.1f} to {bar.end:.1f} µs")
    return f'<g class="bar" data-name="{escape(bar.name)}"><title>{words}</title>{"".join(parts)}</g>'


def hatching(face: Rect, index: int) -> str:
    """Draws diagonal lines inside a rectangle, as one path: converters differ in how they draw patterns."""
    lines = []
    step = 5.0
    for k in range(int((face.w + face.h) / step) + 1):
        offset = k * step
        x0, x1 = max(face.x, face.x + offset - face.h), min(face.x + face.w, face.x + offset)
        y0, y1 = face.y + offset - (x0 - face.x), face.y + offset - (x1 - face.x)
        lines.append(f"M{num(x0)} {num(y0)}L{num(x1)} {num(y1)}")
    return path("".join(lines), f"line{index}", ' stroke-width="1"')


def _entries(bars: Iterable[Bar]) -> list[Entry]:
    if not any(bar.transfer for bar in bars):
        return []
    face = Rect(2, 0, 18, 14)
    return [Entry(rect(face, "card") + hatching(face, 0), "Send or Recv")]


def _describe(bars: Sequence[Bar], devices: Sequence[str], end: float, lanes: str) -> str:
    longest = sorted(bars, key=lambda b: (b.start - b.end, b.name))[:3]
    each = [f"{short_device(d)} ({plural(sum(b.device == d for b in bars), 'bar')})" for d in devices]
    return (
        f"Timeline of one step, one lane for each {lanes}: {plural(len(bars), 'execution')} in {end:,.1f} µs on "
        f"{', '.join(each)}. Longest: {', '.join(f'{b.name} ({b.end - b.start:,.1f} µs)' for b in longest)}."
    )

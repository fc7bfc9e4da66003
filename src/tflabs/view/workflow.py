"""`record_fields`, `activity`, `step_activity`, `input_player`: a training job's records, and when its halves work.

A job has two halves that meet at a queue or at an iterator: the input half makes batches, the training half uses them.
Each half is a lane. A filled bar is work; a hatched bar is a wait for the other half.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .draw import NAME, SMALL, Entry, Header, Line, block, num, path, rect, swatch, text
from .layout import Rect
from .picture import Picture
from .sheet import compose
from .text import plural, text_width, wrap
from .timeline import hatching, read_bars, tick_marks

_WIDTH = 620.0  # px: the time axis, where the names of the lanes leave so much
_PAGE = 798.0  # px: with a picture's margins not wider than a cell of JupyterLab
_MARGIN = 22.0  # px to the right of the axis, for its last label
_LANE, _BAR = 34.0, 20.0  # px: from lane to lane, height of a bar
_TOUCHING = 0.8  # px: bars of a lane that are nearer than this are drawn as one
_BYTES = 16  # in a row of a record
_ROWS = 8  # of a field that are shown, at most
_CELL, _ROW = 21.0, 17.0  # px: a byte, a row of bytes
_MEANING = 260.0  # px: width of the last column


# ---- a record, byte by byte


def record_fields(data: bytes, payload: str = "", *, title: str | None = None) -> Picture:
    """Draws the first record of a TFRecord file, field by field, in hexadecimal digits.

    Args:
        data: the file's bytes. Checksums are shown, not checked.
        payload: what the payload means.

    Raises:
        ValueError: the data end within the first record.
    """
    if len(data) < 12 or len(data) < (end := 16 + struct.unpack_from("<Q", data)[0]):
        raise ValueError(f"{plural(len(data), 'byte')} hold no whole record")
    fields = [
        ("length", data[:8], f"little-endian: {end - 16:,}"),
        ("CRC of the length", data[8:12], "masked CRC-32C of the 8 bytes above"),
        ("payload", data[12 : end - 4], payload),
        ("CRC of the payload", data[end - 4 : end], "masked CRC-32C of the payload"),
    ]
    gutter = max(text_width(name, NAME, True) for name, *_ in fields) + 42
    parts, top = [], 4.0
    for hue, (name, content, meaning) in enumerate(fields):
        drawn, height = _field(hue, name, content, meaning, gutter, top)
        parts.append(drawn)
        top += height + 12
    rest = len(data) - end
    notes = [f"The first {end} of {plural(len(data), 'byte')}. " + ("The next record follows." if rest else "")]
    words = "; ".join(f"{name}, {plural(len(content), 'byte')}: {meaning}" for name, content, meaning in fields)
    width = gutter + _BYTES * _CELL + 20 + _MEANING
    return compose(Header(title or "", notes=notes), "".join(parts), width, top, title or "A record", f"{words}.")


def _field(hue: int, name: str, content: bytes, meaning: str, gutter: float, top: float) -> tuple[str, float]:
    """Draws one field: its name, its bytes, what they mean. Returns SVG and height in px."""
    rows = [content[i : i + _BYTES] for i in range(0, min(len(content), _ROWS * _BYTES), _BYTES)]
    height = max(len(rows), 2) * _ROW + 4
    widest = max((len(row) for row in rows), default=1)
    size = plural(len(content), "byte")
    parts = [swatch(hue, 0, top + 2), block(24, top, [Line(name, NAME, bold=True), Line(size, css="muted")])]
    parts.append(rect(Rect(gutter - 6, top, widest * _CELL + 8, len(rows) * _ROW + 6), f"tint{hue}", radius=3))
    for i, row in enumerate(rows):
        cut = i == _ROWS - 1 and len(content) > _ROWS * _BYTES
        for j, byte in enumerate(row):
            last = cut and j == _BYTES - 1
            x, y = gutter + (j + 0.5) * _CELL - 2, top + (i + 1) * _ROW - 2
            parts.append(text(x, y, "…" if last else f"{byte:02x}", SMALL, anchor="middle"))
    lines = [Line(part) for part in wrap(meaning, _MEANING - 10, SMALL)]
    parts.append(block(gutter + _BYTES * _CELL + 20, top + 1, lines))
    return "".join(parts), max(height, len(lines) * 14.5)


# ---- who works when


@dataclass(frozen=True)
class Span:
    """A stretch of time in a lane: work, or a wait for another lane.

    Attributes:
        lane: the lane's name.
        start: in µs, from any origin that all spans share.
        end: in µs.
        label: is written into the bar where it fits.
        waiting: whether the lane waits.
    """

    lane: str
    start: float
    end: float
    label: str = ""
    waiting: bool = False


def activity(
    spans: Sequence[Span], *, title: str | None = None, notes: Sequence[str] = (), length: float | None = None
) -> Picture:
    """Draws lanes of spans below each other on one axis of time.

    Args:
        spans: lanes stand in the order in which they first occur here. Work of one lane that touches is drawn as one
            bar, unless it has labels.
        length: µs that the axis covers, so that two pictures have one scale; by default those of the spans.

    Raises:
        ValueError: there is no span, or one lies beyond `length`.
    """
    if not spans:
        raise ValueError("there are no spans to draw")
    covers = max(max(span.end for span in spans) - min(span.start for span in spans), 1e-3)
    total = covers if length is None else length
    if covers > total * 1.001:  # sums of times round
        raise ValueError(f"spans of {covers:,.0f} µs do not fit an axis of {total:,.0f} µs")
    lanes = draw_lanes(spans, min(span.start for span in spans), total)
    header = Header(title or "", lanes.keys, notes)
    return compose(header, lanes.drawn, lanes.width, lanes.height + 4, title or "Who works when", lanes.words)


@dataclass(frozen=True)
class Lanes:
    """Drawn lanes with their axis of time.

    Attributes:
        drawn: SVG, from (0, 0).
        width, height: in px.
        gutter: px from the left end to the time 0.
        scale: px per µs.
        keys: legend entries that the lanes need.
        words: what they show.
    """

    drawn: str
    width: float
    height: float
    gutter: float
    scale: float
    keys: list[Entry]
    words: str


def draw_lanes(
    spans: Sequence[Span], origin: float, total: float, *, least_gutter: float = 0, below: float = 0
) -> Lanes:
    """Draws spans in lanes on an axis of `total` µs from `origin`.

    Args:
        least_gutter: px that something else needs to the left of the axis.
        below: px by which the grid of the axis goes on below the lanes.
    """
    lanes = list(dict.fromkeys(span.lane for span in spans))
    gutter = max(least_gutter, *(text_width(lane, NAME, True) + 40 for lane in lanes))
    width = max(min(_WIDTH, _PAGE - _MARGIN - gutter), _WIDTH / 2)
    scale = width / total
    height = 22 + _LANE * len(lanes)
    parts = [_axis(total, gutter, scale, height + below)]
    for hue, lane in enumerate(lanes):
        y = 22 + _LANE * hue
        parts.append(swatch(hue, 0, y + 10) + text(22, y + 21, lane, NAME, bold=True))
        own = [span for span in spans if span.lane == lane]
        for span in _joined([s for s in own if s.waiting], scale) + _joined([s for s in own if not s.waiting], scale):
            x, long = gutter + (span.start - origin) * scale, (span.end - span.start) * scale
            parts.append(_bar(span, hue, Rect(x, y + (_LANE - _BAR) / 2, long, _BAR)))
    words = _words(spans, lanes, total)
    return Lanes("".join(parts), gutter + width + _MARGIN, height, gutter, scale, _keys(spans), words)


def step_activity(
    stats: Any,
    lanes: Mapping[str, Iterable[str]],
    waits: Mapping[str, str],
    *,
    title: str | None = None,
    notes: Sequence[str] = (),
) -> Picture:
    """Draws recorded steps as lanes.

    Args:
        stats: RunMetadata or StepStats; it may hold several steps, one after the other in `dev_stats`.
        lanes: by lane, the names of the nodes whose executions are its work. Other nodes are not drawn.
        waits: by node name, the lane that waits as long as this node runs, such as a dequeue.
        notes: stand below the title.

    Raises:
        ValueError: no node of `lanes` ran.
    """
    spans = step_spans(stats, lanes, waits)
    if not any(not span.waiting for span in spans):
        raise ValueError(f"none of the nodes of {', '.join(lanes)} ran in these steps")
    return activity(spans, title=title, notes=notes)


def step_spans(stats: Any, lanes: Mapping[str, Iterable[str]], waits: Mapping[str, str]) -> list[Span]:
    """The spans of `step_activity`, lanes in the order of `lanes`; lanes that only wait come last."""
    lane_of = {name: lane for lane, names in lanes.items() for name in names}
    order = {lane: number for number, lane in enumerate(lanes)}
    spans = []
    for bar in read_bars(stats):
        if bar.name in lane_of:
            spans.append(Span(lane_of[bar.name], bar.start, bar.end))
        elif bar.name in waits:
            spans.append(Span(waits[bar.name], bar.start, bar.end, waiting=True))
    return sorted(spans, key=lambda span: (order.get(span.lane, len(order)), span.start, span.end))


def _joined(spans: Sequence[Span], scale: float) -> list[Span]:
    """Bars without a label that touch, as one: a step has many nodes."""
    joined: list[Span] = []
    for span in sorted(spans, key=lambda s: (s.start, s.end)):
        last = joined[-1] if joined else None
        if last and not last.label and not span.label and (span.start - last.end) * scale < _TOUCHING:
            joined[-1] = Span(last.lane, last.start, max(last.end, span.end), "", last.waiting)
        else:
            joined.append(span)
    return joined


def _bar(span: Span, hue: int, box: Rect) -> str:
    if span.waiting:
        box = Rect(box.x, box.y + 4, box.w, box.h - 8)
        if box.w < 3:
            return ""
        return rect(box, "card", extra=' stroke-width="1"') + hatching(box, hue)
    face = Rect(box.x, box.y, max(box.w, 1.2), box.h)
    drawn = rect(face, f"tint{hue}" if face.w > 4 else f"solid{hue}", extra=' stroke-width="1"')
    if span.label and text_width(span.label, SMALL) + 4 <= face.w:
        drawn += text(box.x + box.w / 2, box.y + 14, span.label, SMALL, anchor="middle")
    return drawn


def _axis(total: float, gutter: float, scale: float, height: float) -> str:
    """Grid lines and their labels, in ms from 10 ms on."""
    unit, words = (1000.0, "ms") if total >= 10_000 else (1.0, "µs")
    ticks = tick_marks(total / unit)
    parts = []
    for tick in ticks:
        x = gutter + tick * unit * scale
        label = f"{tick:,g}" + (f" {words}" if tick == ticks[-1] else "")
        parts.append(path(f"M{num(x)} 20V{num(height)}", "grid", ' stroke-width="1"'))
        parts.append(text(x, 13, label, SMALL, "muted", anchor="middle" if tick else "start"))
    return "".join(parts)


def _keys(spans: Sequence[Span]) -> list[Entry]:
    if not any(span.waiting for span in spans):
        return []
    work, wait = Rect(1, 0, 20, 14), Rect(1, 2, 20, 10)
    return [
        Entry(rect(work, "tint0", extra=' stroke-width="1"'), "at work"),
        Entry(rect(wait, "card", extra=' stroke-width="1"') + hatching(wait, 0), "waits for the other half"),
    ]


def _words(spans: Sequence[Span], lanes: Sequence[str], total: float) -> str:
    each = []
    for lane in lanes:
        work = covered([span for span in spans if span.lane == lane and not span.waiting])
        wait = covered([span for span in spans if span.lane == lane and span.waiting])
        said = f"{lane}: at work {work / total:.0%} of the time"
        each.append(said + (f", waits {wait / total:.0%}" if wait else ""))
    return f"{plural(len(lanes), 'lane')} over {total:,.0f} µs. " + "; ".join(each) + "."


def covered(spans: Iterable[Span]) -> float:
    """Microseconds that at least one of the spans covers."""
    total, until = 0.0, float("-inf")
    for span in sorted(spans, key=lambda s: s.start):
        total += max(span.end - max(span.start, until), 0.0)
        until = max(until, span.end)
    return total


# ---- moved by hand


def simulated(element: float, batch: int, step: float, prefetch: int, steps: int) -> list[Span]:
    """The halves of a job with constant costs, as spans of the lanes "input" and "training".

    Args:
        element: µs that the input half needs for one element.
        batch: elements of a batch.
        step: µs of a training step.
        prefetch: batches that may be ready before they are asked for; with 0 a batch is made when it is asked for.
        steps: training steps.
    """
    spans = []
    taken: list[float] = []  # when training took batch k
    made = asked = 0.0
    for k in range(steps):
        room = taken[k - prefetch] if 0 < prefetch <= k else 0.0
        start = max(made, room) if prefetch else asked
        made_before, made = made, start + element * batch
        if prefetch and start > made_before:
            spans.append(Span("input", made_before, start, waiting=True))
        spans.append(Span("input", start, made, str(k)))
        take = max(made, asked)
        if take > asked:
            spans.append(Span("training", asked, take, waiting=True))
        spans.append(Span("training", take, take + step, str(k)))
        taken.append(take)
        asked = take + step
    return sorted(spans, key=lambda span: (span.lane, span.start))


def input_player(*, steps: int = 8) -> Any:
    """A player: set the costs of both halves, the batch and the prefetch, and see who waits for whom.

    Returns:
        An ipywidget.
    """
    import ipywidgets as widgets

    def slider(name: str, value: int, least: int, most: int, by: int = 1) -> Any:
        style, layout = {"description_width": "140px"}, widgets.Layout(width="420px")
        return widgets.IntSlider(
            value=value, min=least, max=most, step=by, description=name, style=style, layout=layout
        )

    element, batch = slider("element, µs", 60, 5, 200, 5), slider("batch", 32, 1, 64)
    step, prefetch = slider("training step, µs", 1500, 100, 6000, 100), slider("prefetch", 0, 0, 4)
    picture = widgets.HTML()

    def show(_change: object = None) -> None:
        spans = simulated(element.value, batch.value, step.value, prefetch.value, steps)
        picture.value = played(spans, element.value * batch.value, step.value).html

    for control in (element, batch, step, prefetch):
        control.observe(show, names="value")
    show()
    return widgets.VBox([element, batch, step, prefetch, picture])


def played(spans: Sequence[Span], batch_cost: float, step_cost: float) -> Picture:
    """The picture of the player: who works when, and the share of time in which training waits."""
    waits = covered([span for span in spans if span.lane == "training" and span.waiting])
    end = max(span.end for span in spans if span.lane == "training")
    costs = f"A batch costs {batch_cost:,.0f} µs, a training step {step_cost:,.0f} µs."
    return activity(spans, title=f"Training waits {waits / end:.0%} of the time", notes=[costs])

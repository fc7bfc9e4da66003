"""`ready_queue`, `makespans`, `schedule_player`: who ran when, who waited for a thread, what more would do.

A node is ready when all that it waits for is done. From then on until a thread takes it, it stands in the ready queue.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from .draw import NAME, SMALL, Entry, Header, escape, hue_entry, line_entry, num, path, rect, swatch, text
from .layout import Rect
from .picture import Picture
from .read import message_name
from .sheet import compose
from .text import listed, plural, text_width
from .timeline import hatching, tick_marks

_WIDTH = 620.0  # px: the time axis
_ROW, _BAR = 24.0, 19.0  # px: from row to row, height of a bar
_GAP = 16.0  # px: between the threads and the queue
_LEAST = 2.0  # px: width of a bar that took no time
_RUNS, _WAITS, _CHOSEN, _MARKED = 0, 1, 3, 4  # hues
_TALL = 150.0  # px: the highest bar of `makespans`


@dataclass(frozen=True)
class Turn:
    """One run of a node.

    Attributes:
        node: its name.
        ready: when nothing was left that it waits for, in any unit and from any origin that all turns share.
        start: when a thread began to run it.
        end: when it was done.
    """

    node: str
    ready: float
    start: float
    end: float


def ready_queue(
    obj: Any,
    *,
    title: str | None = None,
    unit: str = "µs",
    marked: Collection[str] = (),
    word: str = "on the critical path",
    notes: Sequence[str] = (),
    length: float | None = None,
) -> Picture:
    """Draws the runs of nodes in as few rows as they need, and below, on the same axis, the nodes that stood ready.

    TensorFlow's CPU executor does not record which thread ran a kernel. So a run stands in the first row that is free:
    as many rows are taken as kernels ran at one moment.

    Args:
        obj: RunMetadata or StepStats (`scheduled_nanos` is when a node became ready), or `Turn`s.
        unit: of the times of `Turn`s.
        marked: nodes that are drawn in another colour, which the legend calls `word`.
        length: of the axis, so that several pictures have one scale; by default that of the turns.

    Raises:
        TypeError: `obj` is something else.
        ValueError: there is nothing to draw, or a turn does not fit the axis.
    """
    turns = read_turns(obj)
    if not turns:
        raise ValueError("no node ran: trace the step with RunOptions(trace_level=RunOptions.FULL_TRACE)")
    covers = max(max(turn.end for turn in turns), 1e-3)
    total = covers if length is None else length
    if covers > total * 1.001:
        raise ValueError(f"turns of {covers:,.0f} {unit} do not fit an axis of {total:,.0f} {unit}")
    scale = _WIDTH / total
    running = rows_of([(turn.start, turn.end) for turn in turns])
    waits = [turn for turn in turns if (turn.start - turn.ready) * scale >= 1]
    waiting = rows_of([(turn.ready, turn.start) for turn in waits])
    names = [f"thread {row + 1}" for row in range(max(running) + 1)]
    gutter = max(text_width(name, NAME, True) for name in [*names, "ready queue"]) + 36
    below = 22 + len(names) * _ROW + _GAP
    height = below + (max(waiting, default=0) + 1) * _ROW
    parts = [_axis(total, gutter, scale, height, unit)]
    for row, name in enumerate(names):
        parts.append(text(22, 22 + row * _ROW + 16, name, NAME, bold=True))
    parts.append(swatch(_RUNS, 0, 22 + 4) + swatch(_WAITS, 0, below + 4))
    parts.append(text(22, below + 16, "ready queue", NAME, bold=True))
    for turn, row in zip(turns, running, strict=True):
        hue = _MARKED if turn.node in marked else _RUNS
        face = Rect(gutter + turn.start * scale, 22 + row * _ROW + 2, (turn.end - turn.start) * scale, _BAR)
        parts.append(_bar(face, turn.node, f"{turn.node} runs", turn.start, turn.end, unit, hue))
    for turn, row in zip(waits, waiting, strict=True):
        face = Rect(gutter + turn.ready * scale, below + row * _ROW + 2, (turn.start - turn.ready) * scale, _BAR)
        parts.append(_bar(face, turn.node, f"{turn.node} is ready", turn.ready, turn.start, unit, _WAITS))
    header = Header(title or "", _entries(marked, turns, word), notes)
    words = describe(turns, len(names), unit)
    return compose(header, "".join(parts), gutter + _WIDTH + 22, height + 4, title or "The ready queue", words)


def read_turns(obj: Any) -> list[Turn]:
    """The turns of RunMetadata, of StepStats (in µs since the first node became ready), or as they were given."""
    name = message_name(obj)
    if name == "tensorflow.RunMetadata":
        obj, name = obj.step_stats, "tensorflow.StepStats"
    if name == "tensorflow.StepStats":
        found = [
            (node.node_name, node.scheduled_nanos or node.all_start_nanos, node.all_start_nanos, node.all_end_rel_nanos)
            for device in obj.dev_stats
            for node in device.node_stats
            if node.node_name != "_SOURCE"  # scheduled when the step was, before anything could run
        ]
        origin = min((min(ready, start) for _, ready, start, _ in found), default=0)
        turns = [
            Turn(name, (min(ready, start) - origin) / 1000, (start - origin) / 1000, (start + took - origin) / 1000)
            for name, ready, start, took in found
        ]
    elif isinstance(obj, Sequence) and all(isinstance(turn, Turn) for turn in obj):
        turns = list(obj)
    else:
        raise TypeError(f"expected RunMetadata, StepStats or Turns, found {type(obj).__name__}")
    return sorted(turns, key=lambda turn: (turn.start, turn.end, turn.node))


def rows_of(spans: Sequence[tuple[float, float]]) -> list[int]:
    """A row for each span, in the order of their starts the first one that is free: spans of a row do not overlap."""
    free: list[float] = []
    chosen = [0] * len(spans)
    for index in sorted(range(len(spans)), key=lambda i: spans[i]):
        start, end = spans[index]
        row = next((i for i, until in enumerate(free) if until <= start), len(free))
        free[row : row + 1] = [end]
        chosen[index] = row
    return chosen


def describe(turns: Sequence[Turn], threads: int, unit: str) -> str:
    """What the picture shows, in words."""
    most = max(sum(other.ready <= turn.ready < other.start for other in turns) for turn in turns)
    longest = max(turns, key=lambda turn: (turn.start - turn.ready, turn.node))
    end = max(turn.end for turn in turns)
    words = f"{plural(len(turns), 'run')} in {end:,.0f} {unit}; {plural(threads, 'row')} of threads."
    if most == 0:
        return f"{words} The ready queue is always empty."
    waited = f"{longest.node} waits longest, {longest.start - longest.ready:,.0f} {unit}."
    return f"{words} At most {plural(most, 'node')} in the ready queue; {waited}"


def _axis(total: float, left: float, scale: float, bottom: float, unit: str) -> str:
    ticks = tick_marks(total)
    parts = []
    for value in ticks:
        x = left + value * scale
        words = f"{value:,.6g}" + (f" {unit}" if value == ticks[-1] else "")
        parts.append(path(f"M{num(x)} 20V{num(bottom)}", "grid", ' stroke-width="1"'))
        parts.append(text(x, 13, words, SMALL, "muted", anchor="middle" if value else "start"))
    return "".join(parts)


def _bar(face: Rect, name: str, words: str, start: float, end: float, unit: str, hue: int) -> str:
    face = Rect(face.x, face.y, max(face.w, _LEAST), face.h)
    parts = [rect(face, f"tint{hue}" if face.w > 5 else f"solid{hue}", extra=' stroke-width="1"')]
    room = text_width(name, SMALL) + 6
    if hue == _WAITS and face.w > 5:
        parts.append(hatching(face, hue))
        if room <= face.w:
            parts.append(rect(Rect(face.cx - room / 2, face.y + 3, room, face.h - 6), f"tint{hue}"))
    if room <= face.w:
        parts.append(text(face.cx, face.y + 13.5, name, SMALL, anchor="middle"))
    told = escape(f"{words}: {start:,.6g} to {end:,.6g} {unit}")
    return f'<g class="bar" data-name="{escape(name)}"><title>{told}</title>{"".join(parts)}</g>'


def _entries(marked: Collection[str], turns: Sequence[Turn], word: str) -> list[Entry]:
    face = Rect(2, 0, 18, 14)
    entries = [hue_entry(_RUNS, "runs")]
    if any(turn.node in marked for turn in turns):
        entries.append(hue_entry(_MARKED, f"runs, and is {word}"))
    return [*entries, Entry(rect(face, f"tint{_WAITS}") + hatching(face, _WAITS), "ready, waits for a thread")]


# ---- more threads


def makespans(ends: Sequence[float], floor: float, work: float, *, now: int = 0, unit: str = "µs") -> Picture:
    """Draws how long a graph takes with 1, 2, 3, … threads, and the two lines that no schedule can be below.

    Args:
        ends: the length of the schedule, from one thread on.
        floor: the cost of the critical path.
        work: the cost of all nodes.
        now: this number of threads is marked.

    Raises:
        ValueError: there is no schedule, or one takes no time.
    """
    if not ends or min(ends) <= 0:
        raise ValueError("there are no schedules that take time")
    step = min(70.0, _WIDTH / len(ends))
    left, bottom, high = 70.0, 20 + _TALL, _TALL / max(*ends, floor, work)
    width = left + step * len(ends)
    parts = []
    for index, end in enumerate(ends):
        face = Rect(left + index * step + step * 0.15, bottom - end * high, step * 0.7, end * high)
        parts.append(rect(face, f"tint{_CHOSEN if index + 1 == now else _RUNS}", extra=' stroke-width="1"'))
        parts.append(text(face.cx, face.y - 4, f"{end:,.0f}", SMALL, anchor="middle"))
        parts.append(text(face.cx, bottom + 14, str(index + 1), SMALL, "muted", anchor="middle"))
    corners = [(left + (i + at) * step, bottom - work / (i + 1) * high) for i in range(len(ends)) for at in (0, 1)]
    share = "M" + "L".join(f"{num(x)} {num(y)}" for x, y in corners)
    parts.append(path(share, "line2", ' stroke-width="1.8" stroke-dasharray="2 3"'))
    level = num(bottom - floor * high)
    parts.append(path(f"M{num(left)} {level}H{num(width)}", "edge", ' stroke-width="1.6" stroke-dasharray="7 4"'))
    parts.append(path(f"M{num(left)} {num(bottom)}H{num(width)}", "edge", ' stroke-width="1"'))
    parts.append(text(left - 8, bottom + 14, "threads", SMALL, "muted", anchor="end"))
    parts.append(text(left - 8, 24, unit, SMALL, "muted", anchor="end"))
    keys = [hue_entry(_RUNS, "length of the schedule")]
    keys += [hue_entry(_CHOSEN, f"the one above: {plural(now, 'thread')}")] if now else []
    keys.append(line_entry("edge", f"critical path: {floor:,.0f}", ' stroke-dasharray="7 4"'))
    keys.append(line_entry("line2", f"work / threads: {work:,.0f} / n", ' stroke-dasharray="2 3" stroke-width="1.8"'))
    words = listed([f"{plural(i + 1, 'thread')}: {end:,.0f} {unit}" for i, end in enumerate(ends)])
    told = f"{words}. The critical path takes {floor:,.0f} {unit}, all nodes together {work:,.0f}."
    return compose(Header("", keys), "".join(parts), width, bottom + 20, "Threads and time", told)


def schedule_player(
    schedule: Callable[[int, int], Sequence[Turn]],
    path_of: Callable[[int], Sequence[str]],
    *,
    most: int = 6,
    graphs: int = 20,
    unit: str = "µs",
) -> Any:
    """Returns an ipywidget: sliders for the graph and for the number of threads, the schedule, and what threads bring.

    Args:
        schedule: the turns of a graph, by its number from 0 on and the number of threads.
        path_of: the nodes of its critical path.
        most: threads.
        graphs: how many there are to choose from.
    """
    import ipywidgets as widgets

    number = widgets.IntSlider(0, 0, graphs - 1, description="graph")
    threads = widgets.IntSlider(1, 1, most, description="threads")
    upper, lower = widgets.HTML(), widgets.HTML()

    def show(_change: object = None) -> None:
        runs = [list(schedule(number.value, count)) for count in range(1, most + 1)]
        path_nodes = set(path_of(number.value))
        ends = [max(turn.end for turn in turns) for turns in runs]
        chosen = runs[threads.value - 1]
        floor = sum(turn.end - turn.start for turn in chosen if turn.node in path_nodes)
        work = sum(turn.end - turn.start for turn in chosen)
        upper.value = ready_queue(chosen, marked=path_nodes, unit=unit, length=ends[0]).html
        lower.value = makespans(ends, floor, work, now=threads.value, unit=unit).html

    number.observe(show, "value")
    threads.observe(show, "value")
    show()
    return widgets.VBox([widgets.HBox([number, threads]), upper, lower])

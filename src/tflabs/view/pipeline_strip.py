"""`pipeline_strip`, `pipeline_player`: when each instruction of a program is issued, and for what it waits.

The schedule is the caller's: nothing here knows when an instruction may begin.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from .draw import SMALL, Entry, Header, line_entry, mark, num, path, rect, swatch, text
from .layout import Rect
from .picture import Picture
from .sheet import compose
from .text import listed, plural, text_width

_RUNS, _LATE, _STALL = 0, 4, 1  # hues: blue, vermillion, orange
_ROW, _WIDE = 20.0, 540.0  # px: an instruction; all cycles together, at most
_MOST = 60  # instructions that are drawn

Program = TypeVar("Program")


@dataclass(frozen=True)
class Issue:
    """An instruction on its way through the pipeline, in cycles.

    Args:
        words: the instruction.
        turn: the first cycle at which it could have been issued, had its operands been there.
        start: the cycle at which it was.
        ready: the cycle at which its result is there.
        waits_for: the place in the list of the instruction for whose result it waited.
        slow: a load that missed the cache.
    """

    words: str
    turn: int
    start: int
    ready: int
    waits_for: int | None = None
    slow: bool = False


def pipeline_strip(issues: Sequence[Issue], *, title: str | None = None) -> Picture:
    """Draws instructions below each other, cycles from left to right: who waits, who is under way.

    Raises:
        ValueError: there are no instructions, or one is ready before it was issued, or issued before its turn.
    """
    if not issues:
        raise ValueError("there are no instructions to draw")
    strange = [issue for issue in issues if not issue.turn <= issue.start <= issue.ready]
    if strange:
        raise ValueError(f"turn, start and ready of {strange[0].words!r} are not in this order")
    shown = issues[:_MOST]
    cycles = max(issue.ready for issue in issues)
    scale = min(_WIDE / max(cycles, 1), 26.0)
    gutter = max(text_width(issue.words, SMALL) for issue in shown) + 18
    top, height = 24.0, len(shown) * _ROW
    parts = [_axis(cycles, scale, Rect(gutter, top, cycles * scale, height))]
    parts += [_row(issue, gutter, top + row * _ROW, scale) for row, issue in enumerate(shown)]
    parts += [_wait(issues, row, gutter, top, scale) for row in range(len(shown))]
    stalls = sum(issue.start - issue.turn for issue in issues)
    notes = [f"{plural(len(issues), 'instruction')}, {plural(cycles, 'cycle')}, of them {stalls} stalled"]
    if len(issues) > _MOST:
        notes.append(f"the first {_MOST} are shown")
    header = Header(title or "", _entries(issues), notes)
    return compose(
        header, "".join(parts), gutter + cycles * scale + 4, top + height + 6, title or "A pipeline", _alt(issues)
    )


def _entries(issues: Sequence[Issue]) -> list[Entry]:
    entries = [Entry(swatch(_RUNS, 4, 0), "issued, result under way"), Entry(swatch(_STALL, 4, 0), "stall")]
    if any(issue.slow for issue in issues):
        entries.append(Entry(swatch(_LATE, 4, 0), "load that missed the cache"))
    if any(issue.waits_for is not None for issue in issues):
        entries.append(line_entry("edge", "waits for this result", ' stroke-dasharray="3 2"'))
    return entries


def _axis(cycles: int, scale: float, at: Rect) -> str:
    """Numbers of cycles, and a line at each."""
    step = next(step for step in (1, 5, 10, 20, 50, 100, 200, 500, 1000, 5000, cycles + 1) if step * scale >= 24)
    parts = [text(at.x - 10, at.y - 8, "cycle", SMALL, "muted", anchor="end")]
    for cycle in range(0, cycles + 1, step):
        x = at.x + cycle * scale
        parts.append(path(f"M{num(x)} {num(at.y - 4)}V{num(at.y + at.h)}", "grid", ' stroke-width="1"'))
        parts.append(text(x, at.y - 8, str(cycle), SMALL, "muted", anchor="middle"))
    return "".join(parts)


def _row(issue: Issue, left: float, y: float, scale: float) -> str:
    hue = _LATE if issue.slow else _RUNS
    parts = [text(left - 10, y + 14, issue.words, SMALL, anchor="end")]
    if issue.start > issue.turn:
        box = Rect(left + issue.turn * scale, y + 6, (issue.start - issue.turn) * scale, _ROW - 12)
        parts.append(rect(box, f"hue{_STALL}") + (mark(_STALL, box.cx, box.cy, 3) if box.w > 9 else ""))
    bar = Rect(left + issue.start * scale, y + 3, max((issue.ready - issue.start) * scale, 1.5), _ROW - 6)
    parts.append(rect(bar, f"tint{hue}", radius=2, extra=' stroke-width="1.2"'))
    parts.append(rect(Rect(bar.x, bar.y, min(scale, bar.w), bar.h), f"hue{hue}", radius=2))
    if min(scale, bar.w) > 9:
        parts.append(mark(hue, bar.x + min(scale, bar.w) / 2, bar.cy, 3))
    return "".join(parts)


def _wait(issues: Sequence[Issue], row: int, left: float, top: float, scale: float) -> str:
    """A line from the end of the result that was waited for down to the instruction that needed it."""
    source = issues[row].waits_for
    if source is None or not 0 <= source < min(len(issues), _MOST):
        return ""
    x = left + issues[source].ready * scale
    line = f"M{num(x)} {num(top + source * _ROW + _ROW - 4)}V{num(top + row * _ROW + _ROW / 2)}"
    return path(line, "edge", ' stroke-width="1.3" stroke-dasharray="3 2"')


def _alt(issues: Sequence[Issue]) -> str:
    def told(issue: Issue) -> str:
        after = "" if issue.waits_for is None else f" after waiting for {issues[issue.waits_for].words}"
        return f"{issue.words} at {issue.start}{after}, ready at {issue.ready}"

    cycles = max(issue.ready for issue in issues)
    return (
        f"{plural(len(issues), 'instruction')} in {plural(cycles, 'cycle')}: {listed([told(i) for i in issues], 40)}."
    )


def pipeline_player(
    programs: Mapping[str, Program],
    schedule: Callable[[Program, Mapping[str, int]], Sequence[Issue]],
    latency: Mapping[str, int],
    longest: Mapping[str, int],
) -> Any:
    """A player: choose a program and move the latencies; the strip follows.

    Args:
        programs: name -> whatever `schedule` takes.
        schedule: the instructions of a program under these latencies.
        latency: all latencies in cycles, as they are at first.
        longest: for those that can be moved, the end of their slider; it begins at 1.

    Returns:
        An ipywidget.

    Raises:
        ValueError: there are no programs, or a latency to move is unknown.
    """
    import ipywidgets as widgets

    unknown = set(longest) - set(latency)
    if not programs or unknown:
        raise ValueError(f"no latency {sorted(unknown)[0]!r} to move" if unknown else "there are no programs")
    program = widgets.ToggleButtons(
        options=list(programs), description="program", style={"button_width": "max-content"}
    )
    layout = widgets.Layout(width="300px")
    sliders = {
        name: widgets.IntSlider(latency[name], 1, most, description=f"{name}, cycles", layout=layout)
        for name, most in longest.items()
    }
    picture = widgets.HTML()

    def show(_: object = None) -> None:
        now = {**latency, **{name: slider.value for name, slider in sliders.items()}}
        picture.value = pipeline_strip(schedule(programs[program.value], now), title=program.value).html

    for control in (program, *sliders.values()):
        control.observe(show, "value")
    show()
    return widgets.VBox([program, widgets.HBox(list(sliders.values()), layout={"flex_flow": "row wrap"}), picture])

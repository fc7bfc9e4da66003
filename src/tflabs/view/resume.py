"""`attempts`, `resume_player`: which steps the processes of one training job did, and what a kill cost.

A step is kept if a checkpoint was written after it, lost if its process died before that. A lost step is done again, by
the next process, and is lost again or kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .draw import NAME, SMALL, Entry, Header, hue_entry, num, path, polygon, rect, swatch, text
from .layout import Rect
from .picture import Picture
from .sheet import compose
from .text import plural, text_width

KEPT, LOST, AGAIN = 2, 4, 1
"""Hues: bluish green, vermillion, orange."""
_WORDS = {KEPT: "kept", LOST: "lost by the kill", AGAIN: "lost before and kept now"}
_WIDTH, _CELL = 640.0, (9.0, 28.0)  # px: all steps together, one step
_ROW, _HIGH = 58.0, 16.0  # px: from process to process, height of a step


@dataclass(frozen=True)
class Attempt:
    """What one process of a training job did.

    Attributes:
        steps: the global steps that it finished, in order.
        saved: the global steps after which it wrote a checkpoint (0: before the first one).
        end: how it ended, in a few words.
        killed: whether it was killed.
    """

    steps: Sequence[int]
    saved: Sequence[int]
    end: str
    killed: bool = False


def hues(attempts: Sequence[Attempt]) -> list[list[int]]:
    """For each process, the hue of each of its steps: `KEPT`, `LOST` or `AGAIN` (kept, and done before, too)."""
    done: set[int] = set()
    found = []
    for attempt in attempts:
        limit = max(attempt.saved, default=0) if attempt.killed else max(attempt.steps, default=0)
        found.append([LOST if step > limit else AGAIN if step in done else KEPT for step in attempt.steps])
        done.update(attempt.steps)
    return found


def attempts(of: Sequence[Attempt], *, title: str | None = None) -> Picture:
    """Draws the steps of the processes of a job on one line of global steps, and their checkpoints as marks below.

    Raises:
        ValueError: no process did a step.
    """
    steps = [step for attempt in of for step in attempt.steps]
    if not steps:
        raise ValueError("no process did a step")
    last = max(*steps, *(step for attempt in of for step in attempt.saved))
    cell = min(max(_WIDTH / last, _CELL[0]), _CELL[1])
    gutter = text_width(f"process {len(of)}", NAME, True) + 24
    parts = [_axis(last, cell, gutter)]
    rows = list(zip(of, hues(of), strict=True))
    for number, (attempt, row) in enumerate(rows):
        parts.append(_process(number, attempt, row, cell, gutter))
    entries = [hue_entry(hue, _WORDS[hue]) for hue in (KEPT, LOST, AGAIN)]
    entries.append(Entry(polygon([(11, 2), (16, 12), (6, 12)], "arrow"), "checkpoint"))
    ends = [(min(each.steps, default=1) - 1) * cell + text_width(each.end, SMALL) for each in of]
    width = gutter + max(last * cell + 24, *ends)
    words = " ".join(_told(number, *pair) for number, pair in enumerate(rows))
    return compose(Header(title or "", entries), "".join(parts), width, len(of) * _ROW + 22, title or "Attempts", words)


def _axis(last: int, cell: float, left: float) -> str:
    """Numbers of steps, at the right end of each."""
    every = next(every for every in (1, 2, 5, 10, 20, 50, 100, 200, 500, 10**9) if every * cell >= 26)
    parts = [text(left - 10, 10, "step", SMALL, "muted", anchor="end")]
    for step in range(every, last + 1, every):
        x = left + step * cell
        parts.append(text(x - cell / 2, 10, str(step), SMALL, "muted", anchor="middle"))
    return "".join(parts)


def _process(number: int, attempt: Attempt, row: Sequence[int], cell: float, left: float) -> str:
    top = 20 + number * _ROW
    parts = [text(0, top + 13, f"process {number + 1}", NAME, bold=True)]
    for step, hue in zip(attempt.steps, row, strict=True):
        box = Rect(left + (step - 1) * cell + 0.5, top, cell - 1, _HIGH)
        parts.append(rect(box, f"tint{hue}", radius=1.5, extra=' stroke-width="1"'))
        parts.append(swatch(hue, box.cx - 3.5, box.cy - 3.5, 7))
    for step in attempt.saved:
        x, y = left + step * cell, top + _HIGH + 3
        parts.append(polygon([(x, y), (x + 5, y + 9), (x - 5, y + 9)], "arrow"))
    if attempt.killed:
        x, y = left + max(attempt.steps, default=0) * cell + 8, top + _HIGH / 2
        parts.append(path(f"M{num(x - 5)} {num(y - 5)}l10 10m0 -10l-10 10", f"line{LOST}", ' stroke-width="2.4"'))
    begin = left + (min(attempt.steps, default=1) - 1) * cell
    parts.append(text(begin, top + _HIGH + 26, attempt.end, SMALL, "muted"))
    return "".join(parts)


def _told(number: int, attempt: Attempt, row: Sequence[int]) -> str:
    """One process in words."""
    if not attempt.steps:
        return f"Process {number + 1} did no step; {attempt.end}."
    counts = ", ".join(f"{row.count(hue)} {_WORDS[hue]}" for hue in (KEPT, LOST, AGAIN) if hue in row)
    saved = ", ".join(map(str, attempt.saved)) or "none"
    steps = f"steps {attempt.steps[0]} to {attempt.steps[-1]}"
    return f"Process {number + 1}: {steps} ({counts}); checkpoints after {saved}; {attempt.end}."


def planned(last: int, every: int, kill: int) -> list[Attempt]:
    """The two processes of a job of `last` steps that saves every so many steps; the first is killed after step `kill`.

    Saves as `CheckpointSaverHook` does: when a session is made, every `every` steps after that, and at the end.

    Raises:
        ValueError: the kill comes after the last step, or the interval is below 1.
    """
    if not 0 <= kill < last or every < 1:
        raise ValueError(f"no kill after step {kill} of {last}, or no interval {every}")
    first = Attempt(range(1, kill + 1), range(0, kill + 1, every), f"killed after step {kill}", killed=True)
    start = first.saved[-1]
    saved = sorted({*range(start, last + 1, every), last})
    return [first, Attempt(range(start + 1, last + 1), saved, f"resumes at {start}, ends after step {last}")]


def resume_player(last: int = 40, every: int = 10, kill: int = 25) -> Any:
    """A player: move the interval between checkpoints and the moment of the kill, and see which steps it costs.

    Returns:
        An ipywidget.

    Raises:
        ValueError: as for `planned`.
    """
    import ipywidgets as widgets

    planned(last, every, kill)
    whole = {"description_width": "initial"}  # px below: words, number, and room for the slider itself
    interval, moment = (
        widgets.IntSlider(value, 1, most, description=words, style=whole, layout=widgets.Layout(width=f"{width}px"))
        for value, most, words, width in [
            (every, last, "steps between checkpoints", 410),
            (kill, last - 1, "killed after step", 350),
        ]
    )
    picture, cost = widgets.HTML(), widgets.HTML()

    def show(_: object = None) -> None:
        both = planned(last, interval.value, moment.value)
        lost = hues(both)[0].count(LOST)
        cost.value = (
            f"{plural(moment.value - lost, 'step')} kept, {plural(lost, 'step')} lost and done again, "
            f"{plural(sum(len(each.saved) for each in both), 'checkpoint')} written."
        )
        picture.value = attempts(both, title=f"A job of {last} steps").html

    interval.observe(show, "value")
    moment.observe(show, "value")
    show()
    return widgets.VBox([widgets.HBox([interval, moment]), cost, picture])

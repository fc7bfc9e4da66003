"""`space_time`, `staleness_histogram`, `loss_curves`, `staleness_player`: workers that train over a parameter server.

A gradient is stale by as many pushes as the server has applied since the worker pulled the parameters that the gradient
was computed at. In all pictures here a staleness has the same hue and mark.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from .controls import button
from .draw import NAME, SMALL, Entry, Header, arrow_head, hue_entry, mark, num, path, rect, swatch, text
from .layout import Point, Rect
from .picture import Picture
from .sheet import compose
from .text import listed, plural, text_width
from .theme import HUES
from .timeline import tick_marks

KINDS = ("pull", "step", "push")
INTERLEAVINGS = ("in turn", "at random", "one slow worker")
OLDEST = len(HUES) - 1  # this staleness and every larger one share a hue

_WIDTH = 640.0  # px: the axis of events
_LANE, _BAR = 34.0, 12.0  # px: from lane to lane, height of the bar of a worker that computes
_NUMBERED = 13.0  # px between events, from which on a push has its staleness written above it
_LAST_BIN = 12  # in histograms this staleness and every larger one share a bar
_PLOT = (560.0, 210.0)  # px: width and height of a plot of loss curves
_DECADES = 6  # labels on a logarithmic axis, at most


@dataclass(frozen=True)
class Exchange:
    """One event between a worker and its server.

    Attributes:
        worker: number of the worker, from 0.
        kind: "pull" (the worker takes the parameters), "step" (it computes a gradient) or "push" (it sends one).
        staleness: of a push, pushes that the server applied since this worker's last pull.
        loss: of a push, the loss that goes with it; None leaves it out of the curve.
    """

    worker: int
    kind: str
    staleness: int = 0
    loss: float | None = None


# ---- who pulled and pushed when


def space_time(events: Sequence[Exchange], *, title: str | None = None) -> Picture:
    """Draws the events of one server in the order in which it saw them, and the loss of the pushes below.

    Arrows lead from the server's line down to the worker that pulls, and up from the worker that pushes. A worker's bar
    reaches from its pull to the push of a gradient that was computed at what it pulled.

    Raises:
        ValueError: there are no events, or a kind is unknown.
    """
    if not events:
        raise ValueError("no events to draw")
    if unknown := {event.kind for event in events} - set(KINDS):
        raise ValueError(f"unknown kind of event: {', '.join(sorted(unknown))}; known are {', '.join(KINDS)}")
    workers = max(event.worker for event in events) + 1
    gutter = text_width(f"worker {workers - 1}", NAME) + 16
    spacing = _WIDTH / len(events)
    xs = [gutter + (index + 0.5) * spacing for index in range(len(events))]
    lanes = [24 + _LANE * (1 + worker) for worker in range(workers)]
    parts = [_lane_lines(gutter, lanes), _bars(events, xs, lanes), _arrows(events, xs, lanes)]
    if spacing >= _NUMBERED:
        pushes = [(x, event.staleness) for x, event in zip(xs, events, strict=True) if event.kind == "push"]
        parts += [text(x, 11, str(age), SMALL, "fg", anchor="middle") for x, age in pushes]
    height = lanes[-1] + 22
    losses = [(x, e.loss) for x, e in zip(xs, events, strict=True) if e.kind == "push" and e.loss is not None]
    if losses:
        box = Rect(gutter, height + 24, _WIDTH, 96)
        parts.append(text(gutter, height + 14, "loss", SMALL, "muted") + _losses_below(losses, box))
        height += 24 + 96 + 10
    notes = ["The server's order of events, from left to right. A push is marked with its staleness."]
    header = Header(title or "", _space_time_entries(events), notes)
    return compose(
        header, "".join(parts), gutter + _WIDTH + 10, height, title or "Pulls and pushes", _told(events, workers)
    )


def _lane_lines(gutter: float, lanes: Sequence[float]) -> str:
    parts = [text(0, 28, "server", NAME, bold=True), path(f"M{num(gutter)} 24H{num(gutter + _WIDTH)}", "edge")]
    for worker, y in enumerate(lanes):
        parts.append(text(0, y + 4, f"worker {worker}", NAME))
        parts.append(path(f"M{num(gutter)} {num(y)}H{num(gutter + _WIDTH)}", "grid"))
    return "".join(parts)


def _bars(events: Sequence[Exchange], xs: Sequence[float], lanes: Sequence[float]) -> str:
    """A bar from where a worker's copy was pulled, or last pushed from, to each push."""
    since: dict[int, float] = {}
    parts = []
    for event, x in zip(events, xs, strict=True):
        y = lanes[event.worker]
        if event.kind == "step":
            parts.append(path(f"M{num(x)} {num(y - 9)}V{num(y + 9)}", "edge", ' stroke-width="1.5"'))
            continue
        if event.kind == "push" and event.worker in since:
            left = since[event.worker]
            bar = Rect(left, y - _BAR / 2, x - left, _BAR)
            parts.insert(0, rect(bar, f"tint{_hue(event.staleness)}", extra=' stroke-width="1"'))
        since[event.worker] = x
    return "".join(parts)


def _arrows(events: Sequence[Exchange], xs: Sequence[float], lanes: Sequence[float]) -> str:
    parts = []
    for event, x in zip(events, xs, strict=True):
        y, hue = lanes[event.worker], _hue(event.staleness)
        if event.kind == "pull":
            parts.append(path(f"M{num(x)} 24V{num(y - 9)}", "edge", ' stroke-width="1" stroke-dasharray="3 2"'))
            parts.append(arrow_head((x, y - 10), (x, y - 3), "arrow"))
        elif event.kind == "push":
            parts.append(path(f"M{num(x)} {num(y)}V31", f"line{hue}", ' stroke-width="2"'))
            parts.append(rect(Rect(x - 6, 18, 12, 12), f"hue{hue}", radius=2) + mark(hue, x, 24, 3.4))
    return "".join(parts)


def _losses_below(losses: Sequence[tuple[float, float]], box: Rect) -> str:
    frame = _Log.over(loss for _, loss in losses)
    points = [(x, frame.y(loss, box)) for x, loss in losses if loss > 0 and math.isfinite(loss)]
    return frame.draw(box) + _polyline(points, "line0")


def _space_time_entries(events: Sequence[Exchange]) -> list[Entry]:
    pull = path("M0 7H16", "edge", ' stroke-dasharray="3 2"') + arrow_head((15, 7), (22, 7), "arrow")
    entries = [Entry(pull, "pull")]
    if any(event.kind == "step" for event in events):
        entries.append(Entry(path("M11 0V14", "edge", ' stroke-width="1.5"'), "step"))
    ages = {_hue(event.staleness) for event in events if event.kind == "push"}
    return entries + [hue_entry(age, f"push, staleness {_age_name(age)}") for age in sorted(ages)]


def _told(events: Sequence[Exchange], workers: int) -> str:
    pushes = [event for event in events if event.kind == "push"]
    ages = listed([str(event.staleness) for event in pushes], 40)
    words = f"{plural(len(events), 'event')} of {plural(workers, 'worker')} in the order of the server. "
    words += f"Staleness of the {_pushes(len(pushes))}, in order: {ages or 'none'}."
    losses = [event.loss for event in pushes if event.loss is not None]
    return words + (f" The loss goes from {losses[0]:.3g} to {losses[-1]:.3g}." if losses else "")


def _pushes(count: int) -> str:
    return "1 push" if count == 1 else f"{count:,} pushes"


def _hue(staleness: int) -> int:
    return min(staleness, OLDEST)


def _age_name(hue: int) -> str:
    return f"{hue} or more" if hue == OLDEST else str(hue)


# ---- how stale pushes were


def staleness_histogram(groups: Mapping[str, Sequence[int]], *, title: str | None = None) -> Picture:
    """Draws a histogram of staleness for each group, below each other on one axis, with its mean.

    Args:
        groups: by name, the staleness of each push.

    Raises:
        ValueError: there is no group, or one is empty.
    """
    if not groups or not all(groups.values()):
        raise ValueError("a histogram needs at least one push in each group")
    last = min(_LAST_BIN, max(max(ages) for ages in groups.values()))
    gutter = max(text_width(name, NAME, True) for name in groups) + 20
    width, row = 42.0, 78.0
    tallest = max(max(_counts(ages, last)) / len(ages) for ages in groups.values())
    parts, top = [], 14.0
    for name, ages in groups.items():
        parts.append(text(0, top + row - 4, name, NAME, bold=True))
        parts.append(_histogram_row(ages, last, Rect(gutter, top, width * (last + 1), row), tallest))
        top += row + 24
    top += 8
    clipped = any(max(ages) > last for ages in groups.values())
    for age in range(last + 1):
        words = _bin_name(age, last, clipped)
        parts.append(text(gutter + (age + 0.5) * width, top, words, SMALL, "fg", anchor="middle"))
    parts.append(text(gutter, top + 18, "staleness: pushes applied since the pull", SMALL, "muted"))
    header = Header(title or "", notes=["Share of the pushes, in per cent. The triangle is the mean."])
    alt = " ".join(_histogram_words(name, ages, last, clipped) for name, ages in groups.items())
    total = max(gutter + width * (last + 1), gutter + text_width("staleness: pushes applied since the pull", SMALL))
    return compose(header, "".join(parts), total + 8, top + 24, title or "Staleness of pushes", alt)


def _histogram_row(ages: Sequence[int], last: int, box: Rect, tallest: float) -> str:
    """Draws the bars of one group; the largest share in the picture, `tallest`, is as high as the box allows."""
    counts, width = _counts(ages, last), box.w / (last + 1)
    parts = []
    for age, count in enumerate(counts):
        share = count / len(ages)
        high = share / tallest * (box.h - 16)
        x, hue = box.x + age * width, _hue(age)
        if count:
            bar = Rect(x + 4, box.y + box.h - high, width - 8, max(high, 1))
            parts.append(rect(bar, f"tint{hue}", extra=' stroke-width="1"'))
            parts.append(text(x + width / 2, bar.y - 4, _per_cent(share), SMALL, "fg", anchor="middle"))
            if high > 14:
                parts.append(rect(Rect(x + width / 2 - 6, bar.y + 2, 12, 12), f"hue{hue}", radius=2))
                parts.append(mark(hue, x + width / 2, bar.y + 8, 3.4))
    base = box.y + box.h
    parts.append(path(f"M{num(box.x)} {num(base)}H{num(box.x + box.w)}", "edge"))
    mean = sum(ages) / len(ages)
    at = box.x + (min(mean, last) + 0.5) * width
    words = f"mean {mean:.1f}"
    room = box.x + box.w - at - 8 >= text_width(words, SMALL)
    parts.append(arrow_head((at, base + 10), (at, base + 2), "arrow", half=5))
    parts.append(text(at + (8 if room else -8), base + 13, words, SMALL, "muted", anchor="start" if room else "end"))
    return "".join(parts)


def _counts(ages: Sequence[int], last: int) -> list[int]:
    counts = [0] * (last + 1)
    for age in ages:
        counts[min(age, last)] += 1
    return counts


def _per_cent(share: float) -> str:
    return f"{share * 100:.0f}" if share >= 0.005 else "<1"


def _bin_name(age: int, last: int, clipped: bool) -> str:
    return f"{age}+" if clipped and age == last else str(age)


def _histogram_words(name: str, ages: Sequence[int], last: int, clipped: bool) -> str:
    shares = [(_bin_name(age, last, clipped), count) for age, count in enumerate(_counts(ages, last)) if count]
    words = ", ".join(f"{bin_name}: {_per_cent(count / len(ages))} %" for bin_name, count in shares)
    return f"{name}, {_pushes(len(ages))}, mean staleness {sum(ages) / len(ages):.1f}: {words}."


# ---- how the loss went


@dataclass(frozen=True)
class _Log:
    """A logarithmic axis from 10**low to 10**high."""

    low: int
    high: int

    @staticmethod
    def over(values: Iterable[float], top: float = math.inf, floor: float = 0.0) -> _Log:
        """The whole decades around the finite positive values between `floor` and `top`."""
        shown = [min(max(v, floor), top) for v in values if v > 0 and not math.isnan(v) and min(v, top) < math.inf]
        low = math.floor(math.log10(min(shown, default=1)))
        return _Log(low, max(math.ceil(math.log10(max(shown, default=1))), low + 1))

    def y(self, value: float, box: Rect) -> float:
        """Where a value stands in a box."""
        return box.y + box.h * (self.high - math.log10(value)) / (self.high - self.low)

    def draw(self, box: Rect) -> str:
        """Grid lines and their labels, left of the box."""
        stride = math.ceil((self.high - self.low + 1) / _DECADES)
        parts = []
        for power in range(self.low, self.high + 1, stride):
            y = self.y(10.0**power, box)
            parts.append(path(f"M{num(box.x)} {num(y)}H{num(box.x + box.w)}", "grid"))
            parts.append(text(box.x - 6, y + 4, "1" if power == 0 else f"1e{power}", SMALL, "muted", anchor="end"))
        return "".join(parts)


def loss_curves(
    curves: Mapping[str, Sequence[float]], *, title: str | None = None, top: float = 1e4, floor: float = 1e-12
) -> Picture:
    """Draws losses on a logarithmic scale, one curve for each entry, against the number of pushes.

    Args:
        curves: by name, one loss per push; at most as many as there are hues.
        top: a curve that grows above it leaves the picture there.
        floor: smaller losses are drawn here.

    Raises:
        ValueError: there is no curve, one is empty, or there are too many.
    """
    if not curves or not all(curves.values()) or len(curves) > len(HUES):
        raise ValueError(f"1 to {len(HUES)} curves with at least one loss each are drawn, found {len(curves)}")
    box = Rect(48, 8, *_PLOT)
    frame = _Log.over((loss for losses in curves.values() for loss in losses), top, floor)
    longest = max(len(losses) for losses in curves.values())
    parts = [frame.draw(box), _push_axis(longest, box)]
    ends = []
    for hue, (name, losses) in enumerate(curves.items()):
        points = _curve_points(losses, longest, frame, box, top, floor)
        parts.append(_polyline(points, f"line{hue}"))
        parts += [swatch(hue, x - 6, y - 6, 12) for x, y in points[:: max(len(points) // 6, 1)][1:]]
        ends.append((points[-1][1], hue, name))
    parts.append(_end_labels(ends, box))
    width = box.x + box.w + 30 + max(text_width(name, SMALL) for name in curves)
    gone = any(not loss <= top for losses in curves.values() for loss in losses)
    notes = [f"A curve that ends at the upper edge has grown beyond {top:g}."] if gone else []
    header = Header(title or "", notes=notes)
    words = "; ".join(f"{name}: from {losses[0]:.3g} to {losses[-1]:.3g}" for name, losses in curves.items())
    alt = f"Loss after each push, on a logarithmic scale. {words}."
    return compose(header, "".join(parts), width, box.y + box.h + 36, title or "Loss", alt)


def _curve_points(
    losses: Sequence[float], longest: int, frame: _Log, box: Rect, top: float, floor: float
) -> list[Point]:
    """The points of a curve until it leaves the picture."""
    points = []
    for index, loss in enumerate(losses):
        gone = not loss <= top  # also when it is not a number
        x = box.x + box.w * index / max(longest - 1, 1)
        points.append((x, box.y if gone else frame.y(max(loss, floor), box)))
        if gone:
            break
    return points


def _polyline(points: Sequence[Point], css: str) -> str:
    if not points:
        return ""
    return path("M" + "L".join(f"{num(x)} {num(y)}" for x, y in points), css, ' stroke-width="2"')


def _push_axis(longest: int, box: Rect) -> str:
    base = box.y + box.h
    parts = [path(f"M{num(box.x)} {num(base)}H{num(box.x + box.w)}", "edge")]
    for count in tick_marks(max(longest - 1, 1), 6):
        x = box.x + box.w * count / max(longest - 1, 1)
        parts.append(text(x, base + 15, f"{count:,.0f}", SMALL, "muted", anchor="middle"))
    words = "loss, against the number of pushes"
    return "".join(parts) + text(box.x + box.w / 2, base + 30, words, SMALL, "muted", anchor="middle")


def _end_labels(ends: Sequence[tuple[float, int, str]], box: Rect) -> str:
    """Names at the right edge, each as near to its curve's end as those above it allow."""
    parts, least = [], -math.inf
    room = 17.0 * len(ends)
    for y, hue, name in sorted(ends):
        room -= 17
        at = max(min(y, box.y + box.h - room), least)
        least = at + 17
        parts.append(swatch(hue, box.x + box.w + 8, at - 7, 14) + text(box.x + box.w + 27, at + 4, name, SMALL))
    return "".join(parts)


# ---- moved by hand


Train = Callable[[list[int], int, int, int], list[Exchange]]


def schedule(interleaving: str, workers: int, steps: int, seed: int = 0) -> list[int]:
    """Which worker takes each of `steps` steps.

    "in turn": 0, 1, 2, 0, …; "at random": each step drawn by itself; "one slow worker": in turn, but worker 0 takes
    part only in every fourth round.

    Raises:
        ValueError: the interleaving is unknown.
    """
    if interleaving == "in turn":
        return [step % workers for step in range(steps)]
    if interleaving == "at random":
        rng = random.Random(seed)
        return [rng.randrange(workers) for _ in range(steps)]
    if interleaving == "one slow worker":
        rounds = [[w for w in range(workers) if w or turn % 4 == 0 or workers == 1] for turn in range(steps)]
        return [worker for turn in rounds for worker in turn][:steps]
    raise ValueError(f"interleaving must be one of {', '.join(INTERLEAVINGS)}, found {interleaving!r}")


def staleness_player(train: Train, *, steps: int = 240, shown: int = 48) -> Any:
    """A player: set workers, intervals and interleaving, and see events, staleness and loss.

    Args:
        train: called as `train(schedule, workers, fetch, push)`; returns the events in the server's order.
        steps: steps of all workers together.
        shown: events that the space-time diagram shows, the first ones.

    Returns:
        An ipywidget.
    """
    import ipywidgets as widgets

    def slider(name: str, value: int, most: int) -> Any:
        return widgets.IntSlider(
            value=value, min=1, max=most, description=name, continuous_update=False, style={"description_width": "90px"}
        )

    workers, fetch, push = slider("workers", 3, 8), slider("fetch every", 2, 8), slider("push every", 1, 8)
    order = widgets.Dropdown(options=INTERLEAVINGS, value="at random", description="interleaving")
    again = button("another draw")
    pictures = [widgets.HTML() for _ in range(3)]
    seed = [0]

    def show(_change: object = None) -> None:
        drawn = schedule(order.value, workers.value, steps, seed[0])
        events = train(drawn, workers.value, fetch.value, push.value)
        for place, picture in zip_longest(pictures, played(events, shown)):
            place.value = picture.html if picture else ""

    def draw(_button: object) -> None:
        seed[0] += 1
        show()

    for control in (workers, fetch, push, order):
        control.observe(show, names="value")
    again.on_click(draw)
    show()
    return widgets.VBox([widgets.HBox([workers, fetch, push]), widgets.HBox([order, again]), *pictures])


def played(events: Sequence[Exchange], shown: int) -> list[Picture]:
    """The three pictures of the player; only the first if nothing was pushed."""
    pushes = [event for event in events if event.kind == "push"]
    first = f"The first {shown} of {len(events)} events" if len(events) > shown else "All events"
    pictures = [space_time([Exchange(e.worker, e.kind, e.staleness) for e in events[:shown]], title=first)]
    if pushes:
        ages, losses = [e.staleness for e in pushes], [e.loss for e in pushes if e.loss is not None]
        pictures.append(staleness_histogram({"all pushes": ages}, title="Staleness"))
        pictures += [loss_curves({"loss": losses}, title="Loss at the server")] if losses else []
    return pictures

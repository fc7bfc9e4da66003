"""`descent`: how optimizers walk down a bowl of two dimensions, and a player that moves their rates."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .controls import button, telling_line
from .draw import NAME, SMALL, Header, arrow_head, line_entry, num, path, rect, swatch, text
from .layout import Point, Rect
from .picture import Picture
from .sheet import compose
from .text import plural, wrap

_PANEL, _TALL, _GAP, _TOP = 252.0, 190.0, 16.0, 26.0  # px: three panels are not wider than a cell of JupyterLab
_LEVELS = 6  # contours that lie within a panel
_ARROW = 100.0  # px: the longest slot of a walk
_THIN, _THICK = ' stroke-width="1"', ' stroke-width="2.4"'


@dataclass(frozen=True)
class Bowl:
    """The loss ½·(a·x² + b·y²), and the part of the plane that is shown: |x| ≤ reach[0], |y| ≤ reach[1]."""

    curvature: Point
    reach: Point

    def loss(self, at: Point) -> float:
        """The height of the bowl."""
        return 0.5 * sum(c * p * p for c, p in zip(self.curvature, at, strict=True))

    def gradient(self, at: Point) -> Point:
        """The slope of the bowl."""
        return self.curvature[0] * at[0], self.curvature[1] * at[1]


@dataclass(frozen=True)
class Walk:
    """Where an optimizer was, beginning with its start, and its slot at each of these points (None: no slot)."""

    points: Sequence[Point]
    slots: Sequence[Point | None]


def descent(bowl: Bowl, walks: Mapping[str, Walk | str], step: int, *, title: str | None = None) -> Picture:
    """Draws walks down a bowl beside each other, up to a step, each with its slot there as an arrow.

    Args:
        walks: name -> walk, or words that say why there is none.
        step: the last point drawn, counted from 0; a shorter walk ends earlier.

    Returns:
        The picture. A walk that leaves the shown part is drawn up to there.
    """
    parts, said = [], []
    for index, (name, walk) in enumerate(walks.items()):
        face = Rect(index * (_PANEL + _GAP), _TOP, _PANEL, _TALL)
        parts.append(swatch(index, face.x, 2, 14) + text(face.x + 21, 14, name, NAME, bold=True))
        parts.append(rect(face, "panel", radius=4, extra=_THIN) + _contours(bowl, face))
        if isinstance(walk, str):
            parts.append(_words(walk, face))
            said.append(f"{name}: {walk}.")
        else:
            parts.append(_walk(bowl, walk, step, index, face))
            said.append(f"{name}: {_told(bowl, walk, step)}.")
    entries = [
        line_entry("grid", "equal loss", ' stroke-width="1.5"'),
        line_entry("edge", "the slot, negative; each walk has its own scale", _THICK),
    ]
    width = len(walks) * (_PANEL + _GAP) - _GAP
    header = Header(title or "", entries)
    alt = f"Walks down the bowl ½({bowl.curvature[0]:g}x² + {bowl.curvature[1]:g}y²). {' '.join(said)}"
    return compose(header, "".join(parts), width, _TOP + _TALL + 24, title or "Descent", alt)


def _told(bowl: Bowl, walk: Walk, step: int) -> str:
    last = min(step, len(walk.points) - 1)
    at = walk.points[last]
    slot = walk.slots[last]
    where = f"after {plural(last, 'step')} at ({at[0]:.3g}, {at[1]:.3g}), loss {bowl.loss(at):.3g}"
    return where if slot is None else f"{where}, slot ({slot[0]:.3g}, {slot[1]:.3g})"


def _on_page(bowl: Bowl, at: Point, face: Rect) -> Point:
    return face.cx + at[0] / bowl.reach[0] * face.w / 2, face.cy - at[1] / bowl.reach[1] * face.h / 2


def _inside(bowl: Bowl, at: Point) -> bool:
    return all(abs(p) <= r for p, r in zip(at, bowl.reach, strict=True))  # not of a NaN


def _contours(bowl: Bowl, face: Rect) -> str:
    """Ellipses of equal loss that lie within the panel, and its lowest point."""
    ratio = [r * math.sqrt(c) for r, c in zip(bowl.reach, bowl.curvature, strict=True)]
    largest = min(ratio)
    parts = []
    for level in range(1, _LEVELS + 1):
        radius = largest * level / _LEVELS * 0.98
        rx, ry = (radius / q * side / 2 for q, side in zip(ratio, (face.w, face.h), strict=True))
        d = f"M{num(face.cx - rx)} {num(face.cy)}"
        for end in (face.cx + rx, face.cx - rx):
            d += f"A{num(rx)} {num(ry)} 0 0 1 {num(end)} {num(face.cy)}"
        parts.append(path(d, "grid", ' stroke-width="1.5"'))
    cross = f"M{num(face.cx - 4)} {num(face.cy)}h8M{num(face.cx)} {num(face.cy - 4)}v8"
    return "".join(parts) + path(cross, "edge", ' stroke-width="1.3"')


def _walk(bowl: Bowl, walk: Walk, step: int, hue: int, face: Rect) -> str:
    """The path, a mark at each point, the slot at the last one, and the loss below the panel."""
    shown: list[Point] = []
    for at in walk.points[: step + 1]:
        if not _inside(bowl, at):
            break
        shown.append(_on_page(bowl, at, face))
    d = "M" + "L".join(f"{num(x)} {num(y)}" for x, y in shown) if shown else ""
    parts = [path(d, f"line{hue}", ' stroke-width="1.6"')] if len(shown) > 1 else []
    parts += [f'<circle cx="{num(x)}" cy="{num(y)}" r="2.4" class="solid{hue}"/>' for x, y in shown]
    last = min(step, len(walk.points) - 1)
    left = len(shown) <= last
    if not left:
        parts.append(_slot(bowl, walk, last, shown[-1], face))
        parts.append(swatch(hue, shown[-1][0] - 5, shown[-1][1] - 5, 10))
    words = f"step {last}: loss {bowl.loss(walk.points[last]):.3g}" + (", beyond the picture" if left else "")
    return "".join(parts) + text(face.x, face.y + face.h + 16, words, SMALL)


def _slot(bowl: Bowl, walk: Walk, last: int, at: Point, face: Rect) -> str:
    """The negative slot as an arrow from a point; the largest of the walk is as long as `_ARROW`."""
    sizes = [_length(bowl, slot, face) for slot in walk.slots if slot is not None]
    slot = walk.slots[last]
    largest = max((size for size in sizes if math.isfinite(size)), default=0.0)
    if slot is None or not largest or not math.isfinite(size := _length(bowl, slot, face)) or size < 1e-9 * largest:
        return ""
    dx, dy = _pixels(bowl, slot, face)
    scale = _ARROW / largest
    tip = _held(at[0] - dx * scale, at[1] - dy * scale, face)
    long = math.hypot(tip[0] - at[0], tip[1] - at[1])
    if long < 12:
        return ""
    base = tip[0] - (tip[0] - at[0]) / long * 8, tip[1] - (tip[1] - at[1]) / long * 8
    line = path(f"M{num(at[0])} {num(at[1])}L{num(base[0])} {num(base[1])}", "edge", _THICK)
    return line + arrow_head(base, tip, "arrow", 4.2)


def _pixels(bowl: Bowl, vector: Point, face: Rect) -> Point:
    return vector[0] / bowl.reach[0] * face.w / 2, -vector[1] / bowl.reach[1] * face.h / 2


def _length(bowl: Bowl, vector: Point, face: Rect) -> float:
    return math.hypot(*_pixels(bowl, vector, face))


def _held(x: float, y: float, face: Rect) -> Point:
    """The nearest point of a panel."""
    return min(max(x, face.x), face.x + face.w), min(max(y, face.y), face.y + face.h)


def _words(words: str, face: Rect) -> str:
    lines = wrap(words, face.w - 40, SMALL)
    top = face.cy - 8 * len(lines)
    return "".join(
        rect(Rect(face.x + 16, top + 16 * i, face.w - 32, 16), "shade")
        + text(face.cx, top + 12 + 16 * i, line, SMALL, anchor="middle")
        for i, line in enumerate(lines)
    )


Way = Callable[[Callable[[Point], Point], Point, float, float, int], Walk]


def walks_of(bowl: Bowl, ways: Mapping[str, Way], start: Point, rates: Point, steps: int) -> dict[str, Walk | str]:
    """Lets each way walk; one that raises gives its error's words instead."""
    walks: dict[str, Walk | str] = {}
    for name, way in ways.items():
        try:
            walks[name] = way(bowl.gradient, start, *rates, steps)
        except NotImplementedError:
            walks[name] = "not built yet"
        except Exception as error:
            walks[name] = telling_line(error)
    return walks


def descent_player(bowl: Bowl, ways: Mapping[str, Way], start: Point, *, steps: int = 60) -> Any:
    """A player: set learning rate, momentum and step, and see where each optimizer has come to.

    Args:
        ways: name -> function, called as `way(gradient, start, learning_rate, momentum, steps)`; it returns a Walk of
            steps + 1 points.
        start: where all begin.

    Returns:
        An ipywidget.
    """
    import ipywidgets as w

    wide = {"style": {"description_width": "95px"}, "layout": w.Layout(width="330px")}
    rate = w.FloatLogSlider(0.05, base=10, min=-3, max=0, step=0.05, description="learning rate", **wide)
    momentum = w.FloatSlider(0.9, min=0.0, max=0.99, step=0.01, description="momentum", **wide)
    step = w.IntSlider(steps // 2, min=0, max=steps, description="step", **wide)
    picture, again = w.HTML(), button("As at first")
    walks: dict[str, Walk | str] = {}
    first = (rate.value, momentum.value, step.value)

    def walk(_change: object = None) -> None:
        walks.update(walks_of(bowl, ways, start, (rate.value, momentum.value), steps))
        show()

    def show(_change: object = None) -> None:
        title = f"Learning rate {rate.value:.3g}, momentum {momentum.value:.2f}"
        picture.value = descent(bowl, walks, step.value, title=title).html

    def restore(_button: object) -> None:
        rate.value, momentum.value, step.value = first

    for slider in (rate, momentum):
        slider.observe(walk, "value")
    step.observe(show, "value")
    again.on_click(restore)
    walk()
    return w.VBox([w.HBox([rate, momentum]), w.HBox([step, again]), picture])

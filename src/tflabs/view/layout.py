"""Where boxes and arrows go: sizes in, coordinates out, by Graphviz's `dot`.

Graphviz gets fixed sizes and never measures text, so its fonts do not matter; drawing is `draw`'s job.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Point = tuple[float, float]


@dataclass(frozen=True)
class Arc:
    """An arrow to lay out; `label` is the width and height in px to keep free for its label, or None.

    `back` arrows close a cycle: they run against the direction of the others.
    """

    tail: str
    head: str
    label: tuple[float, float] | None = None
    weight: int = 1
    back: bool = False


@dataclass(frozen=True)
class Frame:
    """A box around other boxes; `title` is the width and height in px to keep free for its title."""

    name: str
    title: tuple[float, float]
    boxes: tuple[str, ...]
    frames: tuple[Frame, ...] = ()


@dataclass(frozen=True)
class Rect:
    """An axis-aligned rectangle in px: left, top, width, height."""

    x: float
    y: float
    w: float
    h: float

    @property
    def cx(self) -> float:
        """Horizontal centre."""
        return self.x + self.w / 2

    @property
    def cy(self) -> float:
        """Vertical centre."""
        return self.y + self.h / 2

    def moved(self, dx: float, dy: float) -> Rect:
        """Returns the rectangle shifted."""
        return Rect(self.x + dx, self.y + dy, self.w, self.h)


@dataclass(frozen=True)
class Route:
    """The course of an arrow: control points of a cubic Bézier spline, the tip of its head, the centre of its label."""

    points: tuple[Point, ...]
    tip: Point | None = None
    label: Point | None = None

    def moved(self, dx: float, dy: float) -> Route:
        """Returns the route shifted."""

        def shift(p: Point | None) -> Point | None:
            return None if p is None else (p[0] + dx, p[1] + dy)

        return Route(tuple((x + dx, y + dy) for x, y in self.points), shift(self.tip), shift(self.label))


@dataclass(frozen=True)
class Layout:
    """Where everything is, in px, y downwards. `routes[i]` belongs to the i-th arc."""

    width: float
    height: float
    boxes: dict[str, Rect]
    routes: list[Route]
    frames: dict[str, Rect] = field(default_factory=dict)


def arrange(
    boxes: Mapping[str, tuple[float, float]],
    arcs: Sequence[Arc],
    frames: Sequence[Frame] = (),
    *,
    direction: str = "TB",
    gap: tuple[float, float] = (18, 30),
    ranks: Sequence[Sequence[str]] = (),
) -> Layout:
    """Lays out boxes (name -> width, height in px) and arcs between them.

    Args:
        direction: "TB" (down) or "LR" (to the right).
        gap: least px between neighbours in a rank, and between ranks.
        ranks: names that must stand in one rank, for each such rank.

    Raises:
        ImportError: pygraphviz, which carries Graphviz, is not installed.
        ValueError: `direction` is something else.
    """
    if direction not in ("TB", "LR"):
        raise ValueError(f'direction must be "TB" or "LR", found {direction!r}')
    if not boxes:
        return Layout(0, 0, {}, [])
    ids = {name: f"n{i}" for i, name in enumerate(boxes)}
    head = (
        f"digraph {{ rankdir={direction}; nodesep={gap[0] / 72:.4f}; ranksep={gap[1] / 72:.4f}; newrank=true; "
        'node [shape=box, fixedsize=true, label=""]; edge [arrowsize=0.7];'
    )
    lines = [f"{ids[name]} [width={w / 72:.4f}, height={h / 72:.4f}];" for name, (w, h) in boxes.items()]
    lines += [_arc_line(i, arc, ids) for i, arc in enumerate(arcs)]
    lines += ["{rank=same; " + "; ".join(ids[name] for name in rank) + "}" for rank in ranks]
    order: list[Frame] = []
    lines += [_frame_lines(frame, ids, order) for frame in frames]
    return _read(_dot("\n".join([head, *lines, "}"])), boxes, arcs, order)


def _arc_line(index: int, arc: Arc, ids: Mapping[str, str]) -> str:
    label = "" if arc.label is None else f", label={_space(arc.label)}"
    tail, head = (arc.head, arc.tail) if arc.back else (arc.tail, arc.head)
    way = ", dir=back" if arc.back else ""
    return f'{ids[tail]} -> {ids[head]} [comment="{index}", weight={arc.weight}{label}{way}];'


def _frame_lines(frame: Frame, ids: Mapping[str, str], order: list[Frame]) -> str:
    number = len(order)
    order.append(frame)
    inner = " ".join(_frame_lines(f, ids, order) for f in frame.frames)
    members = " ".join(f"{ids[name]};" for name in frame.boxes)
    return (
        f'subgraph cluster_{number} {{ comment="{number}"; margin=10; labelloc=t; labeljust=l; '
        f"label={_space(frame.title)}; {members} {inner} }}"
    )


def _space(size: tuple[float, float]) -> str:
    """An HTML-like label of exactly this size, without text."""
    w, h = (round(v) + 1 for v in size)
    return (
        '<<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0" FIXEDSIZE="TRUE" '
        f'WIDTH="{w}" HEIGHT="{h}"><TR><TD></TD></TR></TABLE>>'
    )


def graphviz() -> Any:
    """Returns the module pygraphviz.

    Raises:
        ImportError: it is not installed; the message says how to get it.
    """
    try:
        import pygraphviz
    except ImportError as e:
        raise ImportError(
            "Pictures of graphs need pygraphviz, whose wheels carry Graphviz: pip install 'pygraphviz==2.0.*' "
            f"(importing it failed: {e})"
        ) from e
    return pygraphviz


def _dot(source: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(graphviz().AGraph(string=source).draw(format="json0", prog="dot"))
    return answer


def _read(
    answer: dict[str, Any], boxes: Mapping[str, tuple[float, float]], arcs: Sequence[Arc], frames: Sequence[Frame]
) -> Layout:
    _, _, width, height = _floats(answer["bb"])
    objects: list[dict[str, str]] = answer.get("objects", [])
    edges: list[dict[str, str]] = answer.get("edges", [])
    placed = {o["name"]: o for o in objects}
    rects = {}
    for i, (name, (w, h)) in enumerate(boxes.items()):
        x, y = _floats(placed[f"n{i}"]["pos"])
        rects[name] = Rect(x - w / 2, height - y - h / 2, w, h)
    outlines = {}
    for i, frame in enumerate(frames):
        x0, y0, x1, y1 = _floats(placed[f"cluster_{i}"]["bb"])
        outlines[frame.name] = Rect(x0, height - y1, x1 - x0, y1 - y0)
    by_index = {int(e["comment"]): e for e in edges}
    routes = [_route(by_index[i], arc, height, rects) for i, arc in enumerate(arcs)]
    return Layout(width, height, rects, routes, outlines)


def _route(edge: dict[str, str], arc: Arc, height: float, rects: Mapping[str, Rect]) -> Route:
    if "pos" not in edge:  # dot gives up on a spline now and then ("lost edge")
        return _straight(rects[arc.tail], rects[arc.head])
    tip, points = None, []
    for part in edge["pos"].replace("\\\n", "").split():
        x, y = _floats(part[2:] if part[1] == "," and part[0] in "es" else part)
        if part.startswith(("e,", "s,")):
            tip = (x, height - y)
        else:
            points.append((x, height - y))
    label = None
    if "lp" in edge:
        x, y = _floats(edge["lp"])
        label = (x, height - y)
    return Route(tuple(reversed(points) if arc.back else points), tip, label)


def _straight(tail: Rect, head: Rect) -> Route:
    """A straight arrow between the borders of two boxes."""
    dx, dy = head.cx - tail.cx, head.cy - tail.cy
    length = max((dx * dx + dy * dy) ** 0.5, 1e-6)

    def border(r: Rect, sign: float) -> Point:
        t = min(r.w / 2 / max(abs(dx), 1e-6), r.h / 2 / max(abs(dy), 1e-6))
        return r.cx + sign * dx * t, r.cy + sign * dy * t

    start, tip = border(tail, 1), border(head, -1)
    end = tip[0] - dx / length * 7, tip[1] - dy / length * 7
    return Route((start, start, end, end), tip, ((start[0] + tip[0]) / 2, (start[1] + tip[1]) / 2))


def _floats(text: object) -> list[float]:
    return [float(v) for v in str(text).split(",")]


def pack(layouts: Sequence[Layout], gap: float, least: float) -> list[Point]:
    """Returns left top corners that put layouts into rows, each as wide as the widest layout or `least` px."""
    limit = max([least, *(layout.width for layout in layouts)])
    corners, x, y, row = [], 0.0, 0.0, 0.0
    for layout in layouts:
        if x and x + layout.width > limit:
            x, y, row = 0.0, y + row + gap, 0.0
        corners.append((x, y))
        x += layout.width + gap
        row = max(row, layout.height)
    return corners

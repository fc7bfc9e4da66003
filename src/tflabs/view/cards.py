"""Cards: the boxes that nodes are drawn as, measured before layout and drawn after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .draw import NAME, Line, block, escape, mark, polygon, rect
from .layout import Point, Rect
from .model import Node
from .text import wrap
from .theme import HUES

_LIMIT = 210.0  # px: names wider than this continue on the next line
_SIDE = 18.0  # px: the strip at the left with the device's mark, and the space at the right for the highlight's
_POINT = 7.0  # px: how far the point of a Send, or the notch of a Recv, reaches
_BEHIND = 4.0  # px: how far the second card of a group shows


@dataclass(frozen=True)
class Card:
    """A node ready to draw: its lines of text, and the hues of its strip (device) and badge (highlight)."""

    node: Node
    lines: tuple[Line, ...]
    strip: int | None = None
    badge: int | None = None
    plain: bool = False  # room is kept for a badge, but none is drawn

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in px."""
        width = max(line.width for line in self.lines) + 20
        width += _SIDE * (self.strip is not None) + _SIDE * (self.badge is not None or self.plain)
        height = sum(line.height for line in self.lines) + 11
        if self.node.role in ("send", "recv"):
            height += _POINT
        if self.node.role == "group":
            return width + _BEHIND, height + _BEHIND
        return max(width, 44), height

    def draw(self, at: Rect) -> str:
        """Draws the card into the rectangle that the layout gave it."""
        face = Rect(at.x, at.y, at.w - _BEHIND, at.h - _BEHIND) if self.node.role == "group" else at
        left = face.x + (_SIDE if self.strip is not None else 0)
        right = face.x + face.w - (_SIDE if self.badge is not None or self.plain else 0)
        top = face.y + 5 + (_POINT if self.node.role == "recv" else 0)
        parts = [self._behind(at), self._face(face), block((left + right) / 2, top, self.lines, "middle")]
        if self.badge is not None:
            parts.append(
                _badge(self.badge, right + _SIDE / 2 - 3, face.y + 11 + (_POINT if self.node.role == "recv" else 0))
            )
        full = escape(self.node.name)
        return (
            f'<g class="node" data-name="{full}" data-role="{self.node.role}"><title>{full}</title>{"".join(parts)}</g>'
        )

    def _behind(self, at: Rect) -> str:
        if self.node.role != "group":
            return ""
        return rect(Rect(at.x + _BEHIND, at.y + _BEHIND, at.w - _BEHIND, at.h - _BEHIND), "card", radius=4)

    def _face(self, face: Rect) -> str:
        css = "card" if self.badge is None else f"tint{self.badge % len(HUES)}"
        extra = f' stroke-width="{1 if self.badge is None else 2}"'
        if self.node.role == "missing":
            extra += ' stroke-dasharray="2 3"'
        if self.node.role in ("send", "recv"):
            outline = polygon(_signal(face, self.node.role), css, extra)
        else:
            outline = rect(face, css, radius=self._radius(face), extra=extra)
        return outline + ("" if self.strip is None else self._strip(face))

    def _radius(self, face: Rect) -> float:
        return min(face.h / 2, 12) if self.node.role == "input" else 3

    def _strip(self, face: Rect) -> str:
        assert self.strip is not None
        index, width = self.strip, _SIDE - 2
        centre = face.x + width / 2
        if self.node.role in ("send", "recv"):
            shape = polygon(_signal_strip(face, self.node.role, width), f"hue{index % len(HUES)}")
        else:
            r = self._radius(face)
            d = [(face.x + width, face.y), (face.x + width, face.y + face.h)]
            shape = _rounded_left(face, width, r, f"hue{index % len(HUES)}") if r else polygon(d, "")
        return shape + mark(index, centre, face.cy, 4.2)


def make_card(
    node: Node, extra: Sequence[str] = (), *, strip: int | None = None, badge: int | None = None, relative_to: str = ""
) -> Card:
    """Measures a node.

    Args:
        extra: lines to show under the node's own.
        relative_to: a name scope that is drawn as a box around the node and need not be repeated in its title.
    """
    title = (node.title or node.name).removeprefix(relative_to) or node.name
    lines = [*_title_lines(title, node.role)]
    if node.op and node.role != "group":
        lines.append(Line(node.op, css="muted"))
    for content in (*node.lines, *extra):
        lines += [Line(part) for part in wrap(content, _LIMIT, Line("").size)]
    return Card(node, tuple(lines), strip, badge)


def _title_lines(title: str, role: str) -> list[Line]:
    """The name scope small above, the last part of the name large below."""
    scope, slash, leaf = title[:-1].rpartition("/") if title.endswith("/") else title.rpartition("/")
    leaf += "/" if title.endswith("/") else ""
    small = [Line(part, css="muted") for part in wrap(scope + slash, _LIMIT, Line("").size)] if scope else []
    return small + [Line(part, NAME, bold=True) for part in wrap(leaf, _LIMIT, NAME, True)]


def _badge(index: int, x: float, y: float) -> str:
    box = Rect(x - 7, y - 7, 14, 14)
    hue = index % len(HUES)
    return (
        rect(box, f"hue{hue}", radius=2)
        + mark(index, x, y, 3.9)
        + rect(box, "outline", radius=2, extra=' stroke-width="1"')
    )


def _signal(face: Rect, role: str) -> list[Point]:
    """The outline of a Send (points down) or a Recv (notched at the top), as in UML's signal actions."""
    x0, x1, y0, y1, c = face.x, face.x + face.w, face.y, face.y + face.h, face.cx
    if role == "send":
        return [(x0, y0), (x1, y0), (x1, y1 - _POINT), (c, y1), (x0, y1 - _POINT)]
    return [(x0, y0), (c, y0 + _POINT), (x1, y0), (x1, y1), (x0, y1)]


def _signal_strip(face: Rect, role: str, width: float) -> list[Point]:
    """The part of `_signal` that lies within `width` of its left side."""
    x0, y0, y1 = face.x, face.y, face.y + face.h
    drop = _POINT * width / (face.w / 2)
    if role == "send":
        return [(x0, y0), (x0 + width, y0), (x0 + width, y1 - _POINT + drop), (x0, y1 - _POINT)]
    return [(x0, y0), (x0 + width, y0 + drop), (x0 + width, y1), (x0, y1)]


def _rounded_left(face: Rect, width: float, r: float, css: str) -> str:
    """A rectangle at the left of `face` whose left corners have radius `r`."""
    from .draw import num, path

    x, y, h = face.x, face.y, face.h
    return path(
        f"M{num(x + width)} {num(y)}H{num(x + r)}A{num(r)} {num(r)} 0 0 0 {num(x)} {num(y + r)}"
        f"V{num(y + h - r)}A{num(r)} {num(r)} 0 0 0 {num(x + r)} {num(y + h)}H{num(x + width)}Z",
        css,
    )

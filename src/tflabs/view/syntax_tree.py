"""`syntax_tree`: a tree of nested tuples, as a parser returns it, with its leaves in the order of the text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .draw import NAME, Header, hue_entry, num, path, rect, text
from .layout import Rect
from .picture import Picture
from .sheet import compose
from .text import text_width

_HIGH, _GAP, _LEVEL = 24.0, 14.0, 50.0  # px: a box, between neighbours, from a row to the next
_OPERATION, _LEAF = 0, 2  # hues: blue, bluish green


@dataclass(frozen=True)
class _Node:
    """A sub-tree that was laid out: its words, centre and depth, and the nodes below."""

    words: str
    x: float
    depth: int
    below: tuple[_Node, ...]

    @property
    def width(self) -> float:
        return text_width(self.words, NAME, True) + 18


def syntax_tree(tree: Any, *, title: str | None = None) -> Picture:
    """Draws a tree: a tuple of a name and its parts. Tuples among these are drawn below, the others beside the name.

    Raises:
        ValueError: it is no such tuple.
    """
    root, right = _placed(tree, 0.0, 0)
    nodes = _all(root)
    depth = max(node.depth for node in nodes)
    left = min(node.x - node.width / 2 for node in nodes)
    right = max(right, *(node.x + node.width / 2 for node in nodes))
    lines = "".join(_line(node, below, left) for node in nodes for below in node.below)
    boxes = "".join(_box(node, left) for node in nodes)
    entries = [hue_entry(_LEAF, "leaf")] + ([hue_entry(_OPERATION, "operation")] if root.below else [])
    width, height = right - left, depth * _LEVEL + _HIGH
    return compose(
        Header(title or "", entries), lines + boxes, width, height, title or "A syntax tree", _told(root) + "."
    )


def _placed(tree: Any, left: float, depth: int) -> tuple[_Node, float]:
    """Lays a sub-tree out from `left` on. Returns it and the right end of what it takes up."""
    if not isinstance(tree, tuple) or not tree or not isinstance(tree[0], str):
        raise ValueError(f"a tree is a tuple that begins with a name, found {tree!r}")
    words = " ".join([tree[0], *(str(part) for part in tree[1:] if not isinstance(part, tuple))])
    below, right = [], left
    for part in tree[1:]:
        if isinstance(part, tuple):
            node, end = _placed(part, right, depth + 1)
            below.append(node)
            right = end + _GAP
    wide = text_width(words, NAME, True) + 18
    if not below:
        return _Node(words, left + wide / 2, depth, ()), left + wide
    centre = (below[0].x + below[-1].x) / 2
    if centre - wide / 2 < left:  # a name that is wider than what is below it
        moved = left + wide / 2 - centre
        below = [_moved(node, moved) for node in below]
        centre, right = centre + moved, right + moved
    return _Node(words, centre, depth, tuple(below)), max(right - _GAP, centre + wide / 2)


def _moved(node: _Node, by: float) -> _Node:
    return _Node(node.words, node.x + by, node.depth, tuple(_moved(below, by) for below in node.below))


def _all(node: _Node) -> list[_Node]:
    return [node, *(found for below in node.below for found in _all(below))]


def _line(node: _Node, below: _Node, left: float) -> str:
    top, bottom = node.depth * _LEVEL + _HIGH, below.depth * _LEVEL
    return path(f"M{num(node.x - left)} {num(top)}L{num(below.x - left)} {num(bottom)}", "edge", ' stroke-width="1.4"')


def _box(node: _Node, left: float) -> str:
    box = Rect(node.x - node.width / 2 - left, node.depth * _LEVEL, node.width, _HIGH)
    css, radius = (f"tint{_OPERATION}", 3) if node.below else (f"tint{_LEAF}", 11)
    face = rect(box, css, radius=radius, extra=' stroke-width="1.4"')
    return face + text(box.cx, box.cy + 4.5, node.words, NAME, bold=True, anchor="middle")


def _told(node: _Node) -> str:
    return f"{node.words} of ({', '.join(_told(below) for below in node.below)})" if node.below else node.words

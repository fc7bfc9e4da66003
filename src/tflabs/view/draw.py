"""SVG elements, and the few shapes that all pictures share: marks, cards, arrows, frames, legends.

Every function returns SVG text. Colours are class names of `theme`; nothing here names a colour.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape as _escape

from .layout import Point, Rect, Route
from .text import text_width, wrap
from .theme import HUES

NAME, SMALL, TITLE = 13.0, 11.0, 15.0  # font sizes in px
LEADING = 1.3  # line height in font sizes
MARKS = 8
_HEADER = 560.0  # px: a header widens a narrow picture up to this


def escape(text: str) -> str:
    """Returns `text` for use between tags or in a double-quoted attribute; control characters become U+FFFD."""
    return _escape(re.sub(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]", "\ufffd", text), {'"': "&quot;"})


def num(value: float) -> str:
    """Returns a coordinate with at most one decimal."""
    digits = f"{value:.1f}".removesuffix(".0")
    return "0" if digits == "-0" else digits


def text(
    x: float, y: float, content: str, size: float, css: str = "fg", *, bold: bool = False, anchor: str = "start"
) -> str:
    """Draws one line of text with its baseline at `y`."""
    weight = ' font-weight="600"' if bold else ""
    where = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return (
        f'<text x="{num(x)}" y="{num(y)}" font-size="{num(size)}" class="{css}"{weight}{where}>{escape(content)}</text>'
    )


def rect(r: Rect, css: str, *, radius: float = 0, extra: str = "") -> str:
    """Draws a rectangle."""
    rx = f' rx="{num(radius)}"' if radius else ""
    return f'<rect x="{num(r.x)}" y="{num(r.y)}" width="{num(r.w)}" height="{num(r.h)}"{rx} class="{css}"{extra}/>'


def path(d: str, css: str, extra: str = "") -> str:
    """Draws a path."""
    return f'<path d="{d}" class="{css}"{extra}/>'


def polygon(points: Sequence[Point], css: str, extra: str = "") -> str:
    """Draws a closed polygon."""
    return path("M" + "L".join(f"{num(x)} {num(y)}" for x, y in points) + "Z", css, extra)


def mark(index: int, x: float, y: float, r: float = 4) -> str:
    """Draws the mark that always goes with hue `index`, centred at (x, y), in that hue's ink."""
    css = f"ink{index % len(HUES)}"
    shape = index % MARKS
    line = f' stroke-width="{num(r / 2.2)}"'
    if shape == 0:
        return f'<circle cx="{num(x)}" cy="{num(y)}" r="{num(r * 0.85)}" class="{css}"/>'
    if shape == 1:
        return rect(Rect(x - r * 0.75, y - r * 0.75, 1.5 * r, 1.5 * r), css)
    if shape == 2:
        return polygon([(x, y - r), (x + r, y + r * 0.8), (x - r, y + r * 0.8)], css)
    if shape == 3:
        return polygon([(x, y - r * 1.1), (x + r * 1.1, y), (x, y + r * 1.1), (x - r * 1.1, y)], css)
    if shape == 4:
        return path(f"M{num(x - r)} {num(y)}h{num(2 * r)}M{num(x)} {num(y - r)}v{num(2 * r)}", css, line)
    if shape == 5:
        a, b = r * 0.8, r * 1.6
        return path(f"M{num(x - a)} {num(y - a)}l{num(b)} {num(b)}m0 {num(-b)}l{num(-b)} {num(b)}", css, line)
    if shape == 6:
        return polygon([(x, y + r), (x + r, y - r * 0.8), (x - r, y - r * 0.8)], css)
    return path(f"M{num(x - r)} {num(y)}h{num(2 * r)}", css, line)


def swatch(index: int, x: float, y: float, size: float = 14) -> str:
    """Draws hue and mark `index` as a square whose left top corner is (x, y)."""
    box = Rect(x, y, size, size)
    return (
        rect(box, f"hue{index % len(HUES)}", radius=2)
        + mark(index, x + size / 2, y + size / 2, size * 0.28)
        + rect(box, "outline", radius=2, extra=' stroke-width="1"')
    )


def block(x: float, top: float, lines: Sequence[Line], anchor: str = "start") -> str:
    """Draws lines of text below each other from `top`."""
    parts, y = [], top
    for line in lines:
        y += line.height
        parts.append(text(x, y - line.size * 0.32, line.text, line.size, line.css, bold=line.bold, anchor=anchor))
    return "".join(parts)


@dataclass(frozen=True)
class Line:
    """One line of text in a card or legend."""

    text: str
    size: float = SMALL
    css: str = "fg"
    bold: bool = False

    @property
    def width(self) -> float:
        """Width in px, at most."""
        return text_width(self.text, self.size, self.bold)

    @property
    def height(self) -> float:
        """Height in px, with the space to the next line."""
        return self.size * LEADING


def curve(route: Route) -> str:
    """Returns the path data of a route's spline."""
    (x, y), rest = route.points[0], route.points[1:]
    return f"M{num(x)} {num(y)}C" + " ".join(f"{num(px)} {num(py)}" for px, py in rest)


def arrow(route: Route, css: str = "edge", head: str = "arrow", extra: str = "") -> str:
    """Draws a route and its arrow head."""
    return path(curve(route), css, extra) + ("" if route.tip is None else arrow_head(route.points[-1], route.tip, head))


def arrow_head(base: Point, tip: Point, css: str, half: float = 3.2) -> str:
    """Draws a filled arrow head from `base` to `tip`."""
    dx, dy = tip[0] - base[0], tip[1] - base[1]
    length = max((dx * dx + dy * dy) ** 0.5, 1e-6)
    nx, ny = -dy / length * half, dx / length * half
    return polygon([(base[0] + nx, base[1] + ny), tip, (base[0] - nx, base[1] - ny)], css)


def label(centre: Point, content: str, css: str = "muted", size: float = SMALL) -> str:
    """Draws a one-line label on a patch of background, centred at a point."""
    w = text_width(content, size) + 4
    patch = Rect(centre[0] - w / 2, centre[1] - size * 0.65, w, size * 1.3)
    return rect(patch, "halo", radius=2) + text(centre[0], centre[1] + size * 0.35, content, size, css, anchor="middle")


@dataclass(frozen=True)
class Entry:
    """One legend entry: a drawn key of 22 × 14 px at the origin, and its words."""

    key: str
    words: str

    @property
    def width(self) -> float:
        """Width in px with the space to the next entry."""
        return 28 + text_width(self.words, SMALL) + 18


def hue_entry(index: int, words: str) -> Entry:
    """A legend entry that explains a hue and its mark."""
    return Entry(swatch(index, 4, 0), words)


def line_entry(css: str, words: str, extra: str = "") -> Entry:
    """A legend entry that explains a kind of line."""
    return Entry(path("M0 7H22", css, extra), words)


def legend(entries: Sequence[Entry], x: float, y: float, width: float) -> tuple[str, float]:
    """Draws entries in rows no wider than `width`. Returns SVG and height."""
    parts, left, top = [], x, y
    for entry in entries:
        if left > x and left + entry.width > x + width + 0.5:
            left, top = x, top + 20
        words = text(left + 28, top + 11, entry.words, SMALL, "fg")
        parts.append(f'<g class="legend"><g transform="translate({num(left)} {num(top)})">{entry.key}</g>{words}</g>')
        left += entry.width
    return "".join(parts), (top + 20 - y if entries else 0)


@dataclass(frozen=True)
class Header:
    """What stands above a picture: its title, remarks, and its legend."""

    title: str
    entries: Sequence[Entry] = ()
    notes: Sequence[str] = ()

    def draw(self, x: float, y: float, width: float) -> tuple[str, float]:
        """Draws the header from (x, y) in `width` px. Returns SVG and height, with the space below."""
        lines = self._lines(width)
        top = y + sum(line.height for line in lines) + (8 if lines else 0)
        drawn, height = legend(self.entries, x, top, width)
        return block(x, y, lines) + drawn, top + height + (8 if self.entries else 0) - y

    def width(self, least: float) -> float:
        """The header's width in px: at least `least`, else what its lines and one legend row want, up to 560."""
        row = sum(entry.width for entry in self.entries)
        title = text_width(self.title, TITLE, True)
        notes = max((text_width(note, SMALL) for note in self.notes), default=0)
        widest = max((entry.width for entry in self.entries), default=0)
        return max(least, widest, min(_HEADER, max(row, title, notes)))

    def _lines(self, width: float) -> list[Line]:
        lines = [Line(t, TITLE, bold=True) for t in wrap(self.title, width, TITLE, True)] if self.title else []
        return lines + [Line(t, SMALL, "muted") for note in self.notes for t in wrap(note, width, SMALL)]

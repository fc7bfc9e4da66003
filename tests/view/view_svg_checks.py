"""Measures SVG pictures: where boxes, texts and arrows are on the page, in px."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import resvg_py
from PIL import Image

from tflabs.view import Picture
from tflabs.view.text import text_width

SVG = "{http://www.w3.org/2000/svg}"


@dataclass(frozen=True)
class Box:
    left: float
    top: float
    right: float
    bottom: float

    def inside(self, other: Box, slack: float = 0.6) -> bool:
        return (
            self.left >= other.left - slack
            and self.top >= other.top - slack
            and self.right <= other.right + slack
            and self.bottom <= other.bottom + slack
        )

    def overlaps(self, other: Box, slack: float = 0.6) -> bool:
        return (
            self.left < other.right - slack
            and other.left < self.right - slack
            and self.top < other.bottom - slack
            and other.top < self.bottom - slack
        )

    def distance(self, x: float, y: float) -> float:
        dx = max(self.left - x, 0, x - self.right)
        dy = max(self.top - y, 0, y - self.bottom)
        return (dx * dx + dy * dy) ** 0.5


def parse(picture: Picture) -> ET.Element:
    return ET.fromstring(picture.svg)


def walk(element: ET.Element, dx: float = 0, dy: float = 0) -> Iterator[tuple[ET.Element, float, float]]:
    """Yields every element with the translation that applies to it."""
    if transform := element.get("transform"):
        x, y = re.fullmatch(r"translate\((\S+) (\S+)\)", transform).groups()
        dx, dy = dx + float(x), dy + float(y)
    yield element, dx, dy
    for child in element:
        yield from walk(child, dx, dy)


def page(root: ET.Element) -> Box:
    return Box(*(float(v) for v in root.get("viewBox").split()))


def shape_box(element: ET.Element, dx: float, dy: float) -> Box:
    if element.tag == f"{SVG}rect":
        x, y, w, h = (float(element.get(key, 0)) for key in ("x", "y", "width", "height"))
        return Box(x + dx, y + dy, x + w + dx, y + h + dy)
    points = [(float(a) + dx, float(b) + dy) for a, b in re.findall(r"(-?[\d.]+) (-?[\d.]+)", element.get("d"))]
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    return Box(min(xs), min(ys), max(xs), max(ys))


def text_box(element: ET.Element, dx: float, dy: float) -> Box:
    size = float(element.get("font-size"))
    width = text_width(element.text, size, element.get("font-weight") == "600")
    x, y = float(element.get("x")) + dx, float(element.get("y")) + dy
    left = {"start": x, "middle": x - width / 2, "end": x - width}[element.get("text-anchor", "start")]
    return Box(left, y - size * 0.8, left + width, y + size * 0.25)


def texts(root: ET.Element) -> list[tuple[str, Box]]:
    return [(e.text, text_box(e, dx, dy)) for e, dx, dy in walk(root) if e.tag == f"{SVG}text"]


def groups(root: ET.Element, css: str) -> list[tuple[ET.Element, float, float]]:
    return [found for found in walk(root) if found[0].tag == f"{SVG}g" and found[0].get("class") == css]


def cards(root: ET.Element) -> list[tuple[ET.Element, Box, float, float]]:
    """Each card with its outline: the union of the shapes that are as large as cards."""
    found = []
    for g, dx, dy in groups(root, "node"):
        shapes = [shape_box(e, dx, dy) for e in g if e.tag in (f"{SVG}rect", f"{SVG}path")][:2]
        if g.get("data-role") != "group":
            shapes = shapes[:1]
        outline = Box(
            min(b.left for b in shapes), min(b.top for b in shapes),
            max(b.right for b in shapes), max(b.bottom for b in shapes),
        )  # fmt: skip
        found.append((g, outline, dx, dy))
    return found


def node_boxes(root: ET.Element) -> dict[str, Box]:
    """Outline of each card by the name of its node."""
    return {g.get("data-name"): outline for g, outline, _, _ in cards(root)}


def edges(root: ET.Element) -> list[dict[str, str]]:
    return [dict(g.attrib) for g, _, _ in groups(root, "arc")]


def legend(root: ET.Element) -> list[str]:
    return [g.find(f"{SVG}text").text for g, _, _ in groups(root, "legend")]


def check_page(picture: Picture) -> None:
    """Asserts what holds of every picture: accessible, themed, nothing cut, no two cards on each other."""
    root = parse(picture)
    assert root.get("role") == "img"
    title, desc = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert root.get("aria-labelledby").split() == [title.get("id"), desc.get("id")]
    assert title.text and desc.text == re.sub(r"[\x00-\x08]", "\ufffd", picture.alt)
    assert "@media (prefers-color-scheme: dark)" in picture.svg
    body = picture.svg.partition("</style>")[2]
    assert not re.search(r'(fill|stroke|color)="(?!none)[^"]*"', body), "a colour outside of the themed stylesheet"
    for words, box in texts(root):
        assert box.inside(page(root)), f"text cut at the page: {words!r}"
    for (a, box_a, *_), (b, box_b, *_) in combinations(cards(root), 2):
        assert not box_a.overlaps(box_b), f"{a.get('data-name')} and {b.get('data-name')} lie on each other"
    for g, outline, dx, dy in cards(root):
        for words, box in [(e.text, text_box(e, dx, dy)) for e in g if e.tag == f"{SVG}text"]:
            assert box.inside(outline), f"text outside of its card: {words!r}"


def check_arrows(picture: Picture, reach: float = 9) -> None:
    """Asserts that every arrow begins at its tail's card and ends at its head's."""
    root = parse(picture)
    boxes = node_boxes(root)
    for g, dx, dy in groups(root, "arc"):
        line, head = [e for e in g if e.tag == f"{SVG}path"][:2]
        points = [(float(a) + dx, float(b) + dy) for a, b in re.findall(r"(-?[\d.]+) (-?[\d.]+)", line.get("d"))]
        tip = [(float(a) + dx, float(b) + dy) for a, b in re.findall(r"(-?[\d.]+) (-?[\d.]+)", head.get("d"))][1]
        where = f"{g.get('data-tail')} -> {g.get('data-head')}"
        assert boxes[g.get("data-tail")].distance(*points[0]) <= reach, f"{where} begins beside its tail"
        assert boxes[g.get("data-head")].distance(*tip) <= reach, f"{where} ends beside its head"


def check_pixels(picture: Picture) -> None:
    """Asserts that a rasteriser draws something, and that only the background touches the border."""
    data = resvg_py.svg_to_bytes(svg_string=picture.svg)
    image = Image.open(io.BytesIO(bytes(data))).convert("RGB")
    assert image.size == picture.size
    w, h = image.size
    border = [image.getpixel((x, y)) for x in range(w) for y in (0, 1, h - 2, h - 1)]
    border += [image.getpixel((x, y)) for y in range(h) for x in (0, 1, w - 2, w - 1)]
    assert set(border) == {(255, 255, 255)}
    colours = image.getcolors(maxcolors=w * h)
    drawn = w * h - max(count for count, _ in colours)
    assert drawn > 0.01 * w * h

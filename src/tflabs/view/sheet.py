"""Draws a `Model` on a sheet: cards, arrows, boxes around them, and the legend of what was used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from .cards import Card, make_card
from .draw import SMALL, Entry, Header, Line, arrow, block, escape, hue_entry, line_entry, num, rect, text
from .grouping import back_edges
from .layout import Arc, Frame, Layout, Rect, Route, arrange, pack
from .model import Cluster, Edge, Model
from .picture import Picture, assemble
from .text import text_width, wrap

MARGIN = 16.0
_BETWEEN = 28.0  # px: between parts of a graph that no edge joins
_PAGE = 900.0  # px: such parts stand beside each other up to this width
_FRAME_LIMIT = 260.0  # px: titles of boxes wider than this continue on the next line
_STROKES = {
    "data": ' stroke-width="1.3"',
    "control": ' stroke-width="1.3" stroke-dasharray="4 3"',
    "transfer": ' stroke-width="2" stroke-dasharray="9 3 2 3"',
}
_WORDS = {"control": "control edge", "transfer": "transfer between devices"}


@dataclass(frozen=True)
class Decor:
    """What a picture adds to the nodes of a model: hues by node name, and lines of text by node name."""

    strips: Mapping[str, int] = field(default_factory=dict)
    badges: Mapping[str, int] = field(default_factory=dict)
    lines: Mapping[str, Sequence[str]] = field(default_factory=dict)


def cards_of(model: Model, decor: Decor) -> dict[str, Card]:
    """Measures all nodes of a model. Inside a box whose name is a scope, titles leave the scope out."""
    scope = {name: f"{box.name}/" for top in model.clusters for box in top.walk() for name in box.nodes}
    return {
        node.name: make_card(
            node,
            decor.lines.get(node.name, ()),
            strip=decor.strips.get(node.name),
            badge=decor.badges.get(node.name),
            relative_to=scope.get(node.name, ""),
        )
        for node in model.nodes
    }


def place(model: Model, cards: Mapping[str, Card], direction: str = "TB") -> Layout:
    """Lays a model out: each connected part by itself, the parts beside and below each other."""
    back = back_edges(model)
    boxes, routes, frames = dict[str, Rect](), dict[int, Route](), dict[str, Rect]()
    parts = _parts(model)
    layouts = []
    for clusters, names, edges in parts:
        arcs = [_arc(model.edges[i], i in back) for i in edges]
        sizes = {name: cards[name].size for name in names}
        layouts.append(arrange(sizes, arcs, [_frame(box) for box in clusters], direction=direction))
    corners = pack(layouts, _BETWEEN, _PAGE)
    for (_, _, edges), layout, (x, y) in zip(parts, layouts, corners, strict=True):
        boxes |= {name: at.moved(x, y) for name, at in layout.boxes.items()}
        frames |= {name: at.moved(x, y) for name, at in layout.frames.items()}
        routes |= {i: route.moved(x, y) for i, route in zip(edges, layout.routes, strict=True)}
    width = max((x + layout.width for layout, (x, _) in zip(layouts, corners, strict=True)), default=0)
    height = max((y + layout.height for layout, (_, y) in zip(layouts, corners, strict=True)), default=0)
    return Layout(width, height, boxes, [routes[i] for i in range(len(model.edges))], frames)


def _arc(edge: Edge, back: bool) -> Arc:
    return Arc(edge.tail, edge.head, label_size(edge), back=back)


def _parts(model: Model) -> list[tuple[list[Cluster], list[str], list[int]]]:
    """The connected parts of a model: boxes, nodes, positions of edges. A box keeps its nodes together.

    Parts that are one box, such as a function, come behind the others; else the largest is first.
    """
    root = {node.name: node.name for node in model.nodes}

    def find(name: str) -> str:
        while root[name] != name:
            root[name] = root[root[name]]
            name = root[name]
        return name

    together = [[name for box in top.walk() for name in box.nodes] for top in model.clusters]
    for a, b in [(e.tail, e.head) for e in model.edges] + [(names[0], n) for names in together for n in names]:
        root[find(b)] = find(a)
    parts: dict[str, tuple[list[Cluster], list[str], list[int]]] = {}
    for node in model.nodes:
        parts.setdefault(find(node.name), ([], [], []))[1].append(node.name)
    for top, names in zip(model.clusters, together, strict=True):
        parts[find(names[0])][0].append(top)
    for i, edge in enumerate(model.edges):
        parts[find(edge.tail)][2].append(i)
    boxed = {name for names in together for name in names}
    return sorted(parts.values(), key=lambda part: (boxed.issuperset(part[1]), -len(part[1])))


def edge_label(edge: Edge) -> str:
    """What is written at an arrow: its own label, and how many edges it stands for."""
    count = f"×{edge.count}" if edge.count > 1 else ""
    return " ".join(part for part in (edge.label, count) if part)


def label_size(edge: Edge) -> tuple[float, float] | None:
    """Width and height in px of an arrow's label, None without one."""
    words = edge_label(edge)
    return (text_width(words, SMALL) + 8, 16) if words else None


def _title_lines(title: str) -> list[Line]:
    return [Line(part, css="muted", bold=True) for part in wrap(title, _FRAME_LIMIT, Line("").size, True)]


def _frame(box: Cluster) -> Frame:
    lines = _title_lines(box.title)
    size = (max(line.width for line in lines), sum(line.height for line in lines) + 4)
    return Frame(box.name, size, box.nodes, tuple(_frame(inner) for inner in box.clusters))


def draw_frames(clusters: Iterable[Cluster], layout: Layout) -> tuple[str, str]:
    """Draws the boxes around nodes, outer before inner ones. Returns the boxes, and the titles to draw above arrows."""
    faces, titles = [], []
    for box in (box for top in clusters for box in top.walk()):
        r, lines = layout.frames[box.name], _title_lines(box.title)
        patch = Rect(r.x + 6, r.y + 4, max(line.width for line in lines) + 8, sum(line.height for line in lines) + 2)
        face = rect(r, "panel", radius=6, extra=' stroke-width="1"')
        faces.append(f'<g class="frame" data-name="{escape(box.name)}">{face}</g>')
        titles.append(rect(patch, "shade", radius=2, extra=' fill-opacity="0.8"') + block(r.x + 10, r.y + 5, lines))
    return "".join(faces), "".join(titles)


def draw_edge(edge: Edge, route: Route) -> str:
    """Draws one arrow and its label."""
    words = edge_label(edge)
    tag = ""
    if words and route.label:
        x, y = route.label
        tag = text(x, y + 4, words, SMALL, "muted", anchor="middle")
    return (
        f'<g class="arc" data-tail="{escape(edge.tail)}" data-head="{escape(edge.head)}" data-kind="{edge.kind}" '
        f'data-count="{edge.count}">{arrow(route, extra=_STROKES[edge.kind])}{tag}</g>'
    )


def draw_model(model: Model, cards: Mapping[str, Card], layout: Layout) -> str:
    """Draws a model that was laid out, with the layout's origin at (0, 0)."""
    frames, titles = draw_frames(model.clusters, layout)
    edges = (draw_edge(edge, route) for edge, route in zip(model.edges, layout.routes, strict=True))
    return "".join([frames, *edges, titles, *(cards[name].draw(at) for name, at in layout.boxes.items())])


def kind_entries(model: Model) -> list[Entry]:
    """Legend entries for the kinds of arrows and cards that a model uses, if they need words."""
    kinds = [kind for kind in _WORDS if any(edge.kind == kind for edge in model.edges)]
    entries = [line_entry("edge", "data edge", _STROKES["data"])] if "control" in kinds else []
    entries += [line_entry("edge", _WORDS[kind], _STROKES[kind]) for kind in kinds]
    if any(node.role == "group" for node in model.nodes):
        behind = rect(Rect(6, 3, 16, 10), "card", radius=2)
        entries.append(Entry(behind + rect(Rect(3, 0, 16, 10), "card", radius=2), "several nodes drawn as one"))
    if any(node.role == "missing" for node in model.nodes):
        extra = ' stroke-dasharray="2 3"'
        entries.append(Entry(rect(Rect(3, 1, 17, 12), "card", radius=2, extra=extra), "not in this graph"))
    return entries


def hue_entries(hues: Mapping[str, int]) -> list[Entry]:
    """Legend entries for named hues, such as devices."""
    return [hue_entry(index, words) for words, index in hues.items()]


def compose(header: Header, content: str, width: float, height: float, name: str, alt: str) -> Picture:
    """Puts a header above drawn content of `width` × `height` px, with margins, and makes the picture."""
    wide = header.width(width)
    top, used = header.draw(MARGIN, MARGIN, wide)
    body = f'{top}<g transform="translate({num(MARGIN + (wide - width) / 2)} {num(MARGIN + used)})">{content}</g>'
    return assemble(body, wide + 2 * MARGIN, height + used + 2 * MARGIN, name, alt)

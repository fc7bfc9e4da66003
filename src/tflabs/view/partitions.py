"""`partitions`: the graphs that TensorFlow cut one graph into, side by side, and the transfers between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from .cards import Card
from .devices import short_device
from .draw import Header, Line, arrow_head, block, escape, label, num, path, rect, swatch
from .grouping import back_edges, group
from .layout import Arc, Layout, Point, Rect, Route, arrange
from .model import Edge, Model, transfer_pairs
from .picture import Picture
from .read import graph_def_of, message_name, read_nodes, transfer_key
from .sheet import Decor, cards_of, compose, draw_model, edge_label, kind_entries, label_size
from .text import listed, plural, text_width

_LIMIT = 40  # nodes of one partition beyond which it is grouped
_PAD, _HEAD = 14.0, 30.0  # px: space inside a partition's box, and for its title
_TRACK, _LANE = 17.0, 9.0  # px: between transfers that run beside each other, across and down
_THIN = ' stroke-width="1"'
_NOTCH = 7.0  # px: a transfer ends in the notch of the Recv's card


@dataclass(frozen=True)
class Column:
    """One partition: its device, the nodes to draw, their cards."""

    device: str
    model: Model
    cards: Mapping[str, Card]


def partitions(obj: Any, *, title: str | None = None, labels: Mapping[str, str] | None = None) -> Picture:
    """Draws every partition in its own box, and an arrow from each `_Send` to the `_Recv` with the same key.

    Args:
        obj: RunMetadata of a step run with `RunOptions(output_partition_graphs=True)`, or device name -> GraphDef.
        title: stands above the picture.
        labels: node name -> one more line of text in the node.

    Returns:
        The picture. Rows are common to all boxes: a node stands below everything it waits for. A partition of more
        than 40 nodes is grouped by name scope.

    Raises:
        TypeError: `obj` is neither of them.
        ValueError: it holds no partition.
    """
    graphs = _graphs(obj)
    lines = {name: (words,) for name, words in (labels or {}).items()}
    whole, transfers = read_partitions(graphs)
    columns, arcs = _shown(whole, transfers, lines)
    content, width, height = draw_columns(columns, arcs)
    models = [column.model for column in columns]
    everything = Model(
        tuple(n for m in models for n in m.nodes), (*(e for m in models for e in m.edges), *arcs), notes=_notes(columns)
    )
    header = Header(title or "", kind_entries(everything), everything.notes)
    return compose(header, content, width, height, title or "Partitions", _describe(whole, transfers))


def _graphs(obj: Any) -> list[tuple[str, Any]]:
    """Device name and GraphDef of each partition, sorted by device name."""
    if message_name(obj) == "tensorflow.RunMetadata":
        found = [(next((node.device for node in g.node if node.device), ""), g) for g in obj.partition_graphs]
    elif isinstance(obj, Mapping):
        found = [(str(device), graph_def_of(g)) for device, g in obj.items()]
    else:
        raise TypeError(f"expected RunMetadata or a dict from device name to GraphDef, found {type(obj).__name__}")
    if not found:
        raise ValueError("no partition graphs: run the step with RunOptions(output_partition_graphs=True)")
    return sorted(found, key=lambda pair: pair[0])


def read_partitions(graphs: Sequence[tuple[str, Any]]) -> tuple[list[tuple[str, Model]], list[Edge]]:
    """The model of every partition, and the transfers between them. Ids get a number where names are not unique."""
    names = [node.name for _, g in graphs for node in g.node]
    distinct = len(names) == len(set(names))
    models: list[tuple[str, Model]] = []
    ends: dict[str, tuple[str, str, str, str]] = {}
    for i, (device, g) in enumerate(graphs):
        prefix = "" if distinct else f"{i}:"
        model = read_nodes(g.node, prefix)
        models.append((device, replace(model, edges=tuple(e for e in model.edges if e.kind != "transfer"))))
        roles = {node.name: node.role for node in model.nodes}
        ends |= {prefix + n.name: transfer_key(n) for n in g.node if roles[prefix + n.name] in ("send", "recv")}
    return models, [Edge(send, recv, "transfer", tensor) for send, recv, tensor in transfer_pairs(ends)]


def _shown(
    whole: Sequence[tuple[str, Model]], transfers: Sequence[Edge], lines: Mapping[str, Sequence[str]]
) -> tuple[list[Column], list[Edge]]:
    """Groups large partitions, and lets transfers end at the groups."""
    columns, stands_for = [], dict[str, str]()
    for device, model in whole:
        ends = [node.name for node in model.nodes if node.role in ("send", "recv")]
        small = group(model, _LIMIT, keep=[*ends, *(name for name in lines if name not in ends)])
        small = replace(small, clusters=())
        stands_for |= {member: node.name for node in small.nodes for member in node.members}
        plain = {n.name: lines.get(n.title or n.name, ()) for n in small.nodes}
        columns.append(Column(device, small, cards_of(small, Decor(lines=plain))))
    found: dict[tuple[str, str], list[Edge]] = {}
    for edge in transfers:
        found.setdefault((stands_for.get(edge.tail, edge.tail), stands_for.get(edge.head, edge.head)), []).append(edge)
    arcs = [
        Edge(tail, head, "transfer", edges[0].label if len(edges) == 1 else "", len(edges))
        for (tail, head), edges in found.items()
    ]
    return columns, arcs


def _notes(columns: Sequence[Column]) -> tuple[str, ...]:
    return tuple(f"{short_device(c.device)}: {note}" for c in columns for note in c.model.notes)


def ranks_of(columns: Sequence[Column], arcs: Sequence[Edge]) -> list[list[str]]:
    """Rows common to all columns, top first: dot's own choice for the uncut graph, transfers being short."""
    boxes = {name: (card.size[0], 10.0) for column in columns for name, card in column.cards.items()}
    edges = (*(edge for column in columns for edge in column.model.edges), *arcs)
    back = back_edges(Model(tuple(node for column in columns for node in column.model.nodes), edges))
    weights = {"transfer": 20}
    layout = arrange(
        boxes, [Arc(e.tail, e.head, weight=weights.get(e.kind, 1), back=i in back) for i, e in enumerate(edges)]
    )
    rows: dict[float, list[str]] = {}
    for name, at in layout.boxes.items():
        rows.setdefault(round(at.cy, 1), []).append(name)
    return [rows[y] for y in sorted(rows)]


@dataclass(frozen=True)
class Track:
    """The free space that a transfer uses: a slot in the gap below its Send, and one in the gap above its Recv."""

    leave: tuple[int, int]  # gap, slot; gap g lies above row g
    enter: tuple[int, int]

    @property
    def straight(self) -> bool:
        """Whether one horizontal line is enough."""
        return self.leave == self.enter


def tracks_of(arcs: Sequence[Edge], row_of: Mapping[str, int]) -> list[Track]:
    """Gives every transfer slots of its own."""
    used: dict[int, int] = {}

    def slot(gap: int) -> tuple[int, int]:
        used[gap] = used.get(gap, -1) + 1
        return gap, used[gap]

    tracks = []
    for edge in arcs:
        leave = slot(row_of[edge.tail] + 1)
        enter = leave if leave[0] == row_of[edge.head] else slot(row_of[edge.head])
        tracks.append(Track(leave, enter))
    return tracks


@dataclass(frozen=True)
class Rows:
    """Where the rows that all columns share are, in px: centres and heights, and the tops of the gaps above each."""

    centres: Sequence[float]
    heights: Sequence[float]
    gaps: Sequence[float]
    bottom: float

    def slot(self, gap: int, slot: int) -> float:
        """The height at which a transfer runs."""
        return self.gaps[gap] + 12 + slot * _TRACK

    def map(self, y: float, own: Sequence[float]) -> float:
        """Maps a height in a column's own layout, whose rows have the centres `own`, to the common rows."""
        both = zip(own, self.centres, self.heights, strict=True)
        knots = [(o + s * h / 2, c + s * h / 2) for o, c, h in both for s in (-1, 1)]
        if y <= knots[0][0]:
            return y - knots[0][0] + knots[0][1]
        for (a, fa), (b, fb) in pairwise(knots):
            if y <= b:
                return fa + (fb - fa) * (y - a) / (b - a) if b > a else fb
        return y - knots[-1][0] + knots[-1][1]


def _rows(heights: Sequence[float], raw: Sequence[_Raw], tracks: Sequence[Track]) -> Rows:
    """Spaces the rows such that the arrows of every column and all transfers have room."""
    slots = [0] * (len(heights) + 1)
    for track in tracks:
        for gap, slot in (track.leave, track.enter):
            slots[gap] = max(slots[gap], slot + 1)
    centres, gaps, y = [], [], _HEAD
    for i, height in enumerate([*heights, 0.0]):
        between = 0 < i < len(heights)
        own = (
            max((r.spine[i] - r.spine[i - 1] - (height + heights[i - 1]) / 2 for r in raw), default=0) if between else 4
        )
        gaps.append(y)
        y += max(own, slots[i] * _TRACK + 16 if slots[i] else 0)
        centres.append(y + height / 2)
        y += height
    return Rows(centres[:-1], heights, gaps, y + 6)


@dataclass(frozen=True)
class _Raw:
    """A column as dot laid it out, and where dot put the centres of the common rows."""

    layout: Layout
    spine: list[float]


def _place_column(column: Column, ranks: Sequence[Sequence[str]], heights: Sequence[float]) -> _Raw:
    """Lays one column out in the common rows, which an invisible chain of boxes as high as the rows enforces."""
    spine = [f"\0{i}" for i in range(len(ranks))]
    boxes = {name: card.size for name, card in column.cards.items()}
    boxes |= {name: (1.0, height) for name, height in zip(spine, heights, strict=True)}
    back = back_edges(column.model)
    arcs = [Arc(e.tail, e.head, label_size(e), back=i in back) for i, e in enumerate(column.model.edges)]
    links = [Arc(a, b) for a, b in pairwise(spine)]
    same = [[spine[i], *(n for n in rank if n in column.cards)] for i, rank in enumerate(ranks)]
    layout = arrange(boxes, [*arcs, *links], ranks=same)
    kept = replace(
        layout, boxes={n: layout.boxes[n] for n in column.cards}, routes=layout.routes[: len(arcs)], frames={}
    )
    return _Raw(kept, [layout.boxes[name].cy for name in spine])


def _in_rows(column: Column, raw: _Raw, rows: Rows) -> Layout:
    """Moves a column's boxes and arrows to the common rows, and its left end to 0."""
    layout = raw.layout
    xs = [x for at in layout.boxes.values() for x in (at.x, at.x + at.w)]
    xs += [x for route in layout.routes for x, _ in route.points]
    sizes = [label_size(edge) for edge in column.model.edges]
    labels = [(r.label[0], s[0] / 2) for r, s in zip(layout.routes, sizes, strict=True) if r.label and s]
    xs += [x + sign * half for x, half in labels for sign in (-1, 1)]
    left, right = min(xs, default=0), max(xs, default=0)

    def move(p: Point) -> Point:
        return p[0] - left, rows.map(p[1], raw.spine)

    boxes = {n: Rect(at.x - left, rows.map(at.cy, raw.spine) - at.h / 2, at.w, at.h) for n, at in layout.boxes.items()}
    routes = [
        Route(tuple(move(p) for p in r.points), r.tip and move(r.tip), r.label and move(r.label)) for r in layout.routes
    ]
    return Layout(right - left, rows.bottom, boxes, routes)


@dataclass(frozen=True)
class Plan:
    """Everything that the drawing of transfers needs: columns' left ends and widths, nodes, rows, gutters."""

    lefts: Sequence[float]
    widths: Sequence[float]
    boxes: Mapping[str, Rect]
    column_of: Mapping[str, int]
    rows: Rows

    @property
    def width(self) -> float:
        """Right end of the last column."""
        return self.lefts[-1] + self.widths[-1]

    def gutter(self, near: int, towards: int) -> tuple[float, float]:
        """The free space beside column `near` on the side of column `towards`: its ends, the near one first."""
        if towards > near:
            return self.lefts[near] + self.widths[near], self.lefts[near + 1]
        return self.lefts[near], self.lefts[near - 1] + self.widths[near - 1]


def draw_columns(columns: Sequence[Column], arcs: Sequence[Edge]) -> tuple[str, float, float]:
    """Draws all partitions and transfers. Returns SVG, width and height."""
    ranks = ranks_of(columns, arcs)
    row_of = {name: i for i, rank in enumerate(ranks) for name in rank}
    sizes = {name: card.size for column in columns for name, card in column.cards.items()}
    heights = [max(sizes[name][1] for name in rank) for rank in ranks]
    raw = [_place_column(column, ranks, heights) for column in columns]
    tracks = tracks_of(arcs, row_of)
    rows = _rows(heights, raw, tracks)
    layouts = [_in_rows(column, r, rows) for column, r in zip(columns, raw, strict=True)]
    plan = _plan(columns, layouts, arcs, tracks, rows)
    parts = []
    for i, column in enumerate(columns):
        parts.append(_draw_frame(i, column, Rect(plan.lefts[i], 0, plan.widths[i], rows.bottom)))
    lanes: dict[int, int] = {}
    for edge, track in zip(arcs, tracks, strict=True):
        head = plan.column_of[edge.head]
        if not track.straight:
            lanes[head] = lanes.get(head, -1) + 1
        parts.append(_draw_transfer(edge, track, plan, lanes.get(head, 0)))
    for i, (column, layout) in enumerate(zip(columns, layouts, strict=True)):
        shift = f"translate({num(plan.lefts[i] + _inset(layout, column))} 0)"
        parts.append(f'<g transform="{shift}">{draw_model(column.model, column.cards, layout)}</g>')
    return "".join(parts), plan.width, rows.bottom


def _title(column: Column) -> Line:
    return Line(f"{short_device(column.device)} · {plural(column.model.size, 'node')}", bold=True)


def _inset(layout: Layout, column: Column) -> float:
    """Space at the left of a column's nodes inside its box, which is as wide as its title at least."""
    return max(_PAD, (_title(column).width + 48 - layout.width) / 2)


def _plan(
    columns: Sequence[Column], layouts: Sequence[Layout], arcs: Sequence[Edge], tracks: Sequence[Track], rows: Rows
) -> Plan:
    """Puts the columns side by side, with gutters as wide as the transfers' labels and verticals need."""
    column_of = {name: i for i, column in enumerate(columns) for name in column.cards}
    room = [44.0] * max(len(columns) - 1, 0)
    bends = sum(not track.straight for track in tracks)
    for edge in arcs:
        tail, head = column_of[edge.tail], column_of[edge.head]
        if tail != head:
            k = tail if head > tail else tail - 1
            room[k] = max(room[k], text_width(edge_label(edge), 11) + 28)
    widths = [layout.width + 2 * _inset(layout, column) for layout, column in zip(layouts, columns, strict=True)]
    lefts, x = [], 0.0
    for i, width in enumerate(widths):
        lefts.append(x)
        x += width + (room[i] + 2 * _LANE * bends if i < len(room) else 0)
    boxes = {
        name: at.moved(lefts[i] + _inset(layouts[i], columns[i]), 0)
        for i, layout in enumerate(layouts)
        for name, at in layout.boxes.items()
    }
    return Plan(lefts, widths, boxes, column_of, rows)


def _draw_frame(index: int, column: Column, at: Rect) -> str:
    title = swatch(index, at.x + 10, at.y + 7) + block(at.x + 30, at.y + 6, [_title(column)])
    name = escape(column.device)
    return f'<g class="frame" data-name="{name}">{rect(at, "panel", radius=6, extra=_THIN)}{title}</g>'


def _draw_transfer(edge: Edge, track: Track, plan: Plan, lane: int) -> str:
    """Draws one transfer: down from the Send, across in the gaps between rows, down to the Recv."""
    tail, head = plan.boxes[edge.tail], plan.boxes[edge.head]
    i, j = plan.column_of[edge.tail], plan.column_of[edge.head]
    first, last = plan.rows.slot(*track.leave), plan.rows.slot(*track.enter)
    notch = _NOTCH if edge.count == 1 else 0.0
    corners = [(tail.cx, tail.y + tail.h), (tail.cx, first)]
    if not track.straight:
        near, far = plan.gutter(j, i) if i != j else (plan.lefts[j], plan.lefts[j] + 1)
        x = near + (1 if far > near else -1) * (_LANE * (lane + 0.8) if i != j else -5)
        corners += [(x, first), (x, last)]
    tip = (head.cx, head.y + notch)
    corners += [(head.cx, last), (head.cx, tip[1] - 8)]
    words = edge_label(edge)
    middle = sum(plan.gutter(i, j)) / 2 if i != j else tail.cx
    tag = label((middle, first), words) if words else ""
    line = path(_rounded(corners), "edge", ' stroke-width="2" stroke-dasharray="9 3 2 3"')
    return (
        f'<g class="arc" data-tail="{escape(edge.tail)}" data-head="{escape(edge.head)}" data-kind="transfer" '
        f'data-count="{edge.count}">{line}{arrow_head(corners[-1], tip, "arrow", 4)}{tag}</g>'
    )


def _rounded(corners: Sequence[Point], radius: float = 7) -> str:
    """Path data of a line through `corners`, which differ in x or in y only, with rounded bends."""
    d = f"M{num(corners[0][0])} {num(corners[0][1])}"
    for before, at, after in zip(corners, corners[1:], corners[2:], strict=False):
        r = min(radius, _distance(before, at) / 2, _distance(at, after) / 2)
        a, b = _towards(at, before, r), _towards(at, after, r)
        d += f"L{num(a[0])} {num(a[1])}Q{num(at[0])} {num(at[1])} {num(b[0])} {num(b[1])}"
    return d + f"L{num(corners[-1][0])} {num(corners[-1][1])}"


def _distance(a: Point, b: Point) -> float:
    return float(abs(a[0] - b[0]) + abs(a[1] - b[1]))


def _towards(start: Point, end: Point, by: float) -> Point:
    full = _distance(start, end)
    t = by / full if full else 0.0
    return start[0] + (end[0] - start[0]) * t, start[1] + (end[1] - start[1]) * t


def _describe(whole: Sequence[tuple[str, Model]], transfers: Sequence[Edge]) -> str:
    boxes = []
    for device, model in whole:
        names = listed([node.title or node.name for node in model.nodes], 12)
        boxes.append(f"{short_device(device)} has {plural(model.size, 'node')} ({names})")
    home = {node.name: short_device(device) for device, model in whole for node in model.nodes}
    sent = [f"{e.label or e.tail} from {home[e.tail]} to {home[e.head]}" for e in transfers]
    said = f"{plural(len(whole), 'partition')}: {'; '.join(boxes)}. {plural(len(transfers), 'transfer')}"
    return said + (f": {listed(sent, 12)}." if sent else ".")

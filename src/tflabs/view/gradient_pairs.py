"""`gradient_pairs`: a graph and the gradients that were added to it, side by side, each beside what it belongs to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from .cards import Card, make_card
from .draw import Header, arrow, escape, line_entry
from .layout import Arc, Frame, Layout, Point, Rect, Route, arrange
from .model import Cluster, Edge, Kind, Model, Node
from .picture import Picture
from .read import graph_def_of, parse_input
from .sheet import compose, draw_edge, draw_frames, label_size
from .text import listed, plural, text_width

_SAVED = ' stroke-width="1.3" stroke-dasharray="1.5 3"'
_CONTROL = ' stroke-width="1.3" stroke-dasharray="4 3"'
_FORWARD, _BACKWARD = "forward", "backward"


@dataclass(frozen=True)
class Halves:
    """A graph with gradients, taken apart.

    Attributes:
        forward: names of the nodes of the forward half.
        partner: node of the backward half -> node of the forward half that it belongs to.
        apart: nodes of the backward half whose partner the graph does not tell.
    """

    forward: tuple[str, ...]
    partner: Mapping[str, str]
    apart: tuple[str, ...]


def take_apart(graph: Any, y: str, scope: str) -> Halves:
    """Finds which node of the forward half each node under `scope` belongs to.

    `SCOPE/NAME_grad/…` belongs to NAME (`gradients_util._GradientsHelper` opens such a name scope for each op); the
    seed `SCOPE/grad_ys_0` and what it reads, to `y`; an `AddN`, which sums up the gradients of one tensor, to the last
    node that has enough readers and from which all its summands' owners follow.

    Args:
        graph: a GraphDef in topological order.
        y: the node whose gradients they are.
        scope: the name scope of the gradients.
    """
    nodes = {node.name: node for node in graph.node}
    behind = [name for name in nodes if name.startswith(f"{scope}/")]
    forward = [name for name in nodes if name not in set(behind)]
    partner = {name: found for name in behind if (found := _named(name, scope, nodes))}
    rest = [name for name in behind if name not in partner]
    sums = [name for name in rest if nodes[name].op == "AddN"]
    partner |= {name: y for name in rest if name not in sums}
    apart = []
    for name in sums:
        sources = [partner.get(source, source) for source in _inputs(nodes[name])]
        if (owner := _summed(sources, forward, nodes)) is None:
            apart.append(name)
        else:
            partner[name] = owner
    return Halves(tuple(forward), partner, tuple(apart))


def _summed(sources: list[str], forward: list[str], nodes: Mapping[str, Any]) -> str | None:
    """The last node that is read at least as often as there are summands, and from which all who feed them follow."""
    for name in reversed(forward):
        reads = sum(_inputs(nodes[other]).count(name) for other in forward)
        if reads >= len(sources) and set(sources) <= _following(name, forward, nodes):
            return name
    return None


def _inputs(node: Any) -> list[str]:
    """The nodes that a node reads, without control inputs."""
    return [name for name, _, control in map(parse_input, node.input) if not control]


def _named(name: str, scope: str, nodes: Mapping[str, Any]) -> str | None:
    inner = name.removeprefix(f"{scope}/")
    ends = [i for i in range(len(inner)) if inner.startswith("_grad/", i)]
    return next((inner[:end] for end in reversed(ends) if inner[:end] in nodes), None)


def _following(name: str, forward: Iterable[str], nodes: Mapping[str, Any]) -> set[str]:
    """The forward nodes that data edges reach from `name`."""
    found: set[str] = set()
    for other in forward:  # readers stand behind what they read
        if any(source == name or source in found for source in _inputs(nodes[other])):
            found.add(other)
    return found


def gradient_pairs(graph: Any, y: str, *, scope: str = "gradients", title: str | None = None) -> Picture:
    """Draws the forward half of a graph at the left and its gradients at the right, partners in one row.

    All gradient nodes of one forward node are one card. The forward half flows down, the gradients up; a dotted arrow
    is a value of the forward half that a gradient reads.

    Args:
        graph: GraphDef, tf.Graph, FuncGraph or ConcreteFunction.
        y: name of the node whose gradients were added.
        scope: the name scope in which they are.

    Returns:
        The picture.

    Raises:
        ValueError: there is no node `y`, or none under the scope.
        TypeError: `graph` is nothing that can be drawn.
    """
    definition = graph_def_of(graph)
    names = [node.name for node in definition.node]
    if y not in names:
        raise ValueError(f"the graph has no node {y!r}")
    halves = take_apart(definition, y, scope)
    if not halves.partner:
        raise ValueError(f"the graph has no gradients under {scope!r}/")
    model, cards = _cards(definition, halves, scope)
    layout = _place(model, cards, halves)
    drawn = _draw(model, cards, layout)
    entries = [line_entry("edge", "a tensor", ' stroke-width="1.3"')]
    if any(edge.kind == "control" for edge in model.edges):
        entries.append(line_entry("edge", "control edge", _CONTROL))
    if any(edge.kind == "transfer" for edge in model.edges):
        entries.append(line_entry("edge", "forward value that a gradient reads", _SAVED))
    notes = ["Same row, same colour, same mark: a node and its gradient nodes.", *_notes(halves)]
    alt = _describe(model, halves, cards)
    header = Header(title or "", entries, notes)
    return compose(header, drawn, layout.width, layout.height, title or "Graph and gradients", alt)


def _notes(halves: Halves) -> list[str]:
    return [f"Belongs to no single node: {listed(list(halves.apart))}."] if halves.apart else []


def _back(name: str) -> str:
    """The id of the card that holds the gradient nodes of a forward node."""
    return f"{_BACKWARD} {name}"


def _cards(graph: Any, halves: Halves, scope: str) -> tuple[Model, dict[str, Card]]:
    """One card for each forward node and one for its gradients; edges between cards, with how many tensors they are."""
    nodes = {node.name: node for node in graph.node}
    hues = {name: i for i, name in enumerate(dict.fromkeys(_in_order(halves)))}
    card_of = {name: name for name in halves.forward}
    card_of |= {name: _back(owner) for name, owner in halves.partner.items()} | {name: name for name in halves.apart}
    cards, boxes = {}, []
    for name in (*halves.forward, *halves.apart):
        box = Node(name, nodes[name].op, role="input" if nodes[name].op == "Placeholder" else "op")
        boxes.append(box)
        cards[name] = make_card(box, badge=hues.get(name))
    for name, hue in hues.items():
        members = [member for member, owner in halves.partner.items() if owner == name]
        box = Node(_back(name), title=_title(members, name, scope), members=tuple(members))
        boxes.append(box)
        cards[box.name] = make_card(box, _ops([nodes[member] for member in members]), badge=hue)
    clusters = tuple(_boxes(halves, cards))
    return Model(tuple(boxes), tuple(_edges(nodes, card_of, halves)), clusters), cards


def _in_order(halves: Halves) -> list[str]:
    owners = set(halves.partner.values())
    return [name for name in halves.forward if name in owners]


def _title(members: list[str], name: str, scope: str) -> str:
    """The scope of a node's gradients, or the only node if they have none."""
    own = f"{scope}/{name}_grad/"
    if any(member.startswith(own) for member in members):
        return own.removesuffix("/")
    return members[-1]


def _ops(members: list[Any]) -> list[str]:
    """The op types of gradient nodes, constants last, each with its number."""
    counts = Counter(node.op for node in sorted(members, key=lambda node: node.op == "Const"))
    return [op if count == 1 else f"{op} ×{count}" for op, count in counts.items()]


def _edges(nodes: Mapping[str, Any], card_of: Mapping[str, str], halves: Halves) -> list[Edge]:
    """Arrows between cards; from the forward half into the other they have the kind "transfer".

    Of control edges only those of the forward half are drawn.
    """
    forward = set(halves.forward)
    found: list[tuple[str, str, Kind]] = []
    for name, node in nodes.items():
        for source, _, control in map(parse_input, node.input):
            tail, head = card_of[source], card_of[name]
            if control and source in forward and name in forward:
                found.append((tail, head, "control"))
            elif not control and tail != head:
                found.append((tail, head, "transfer" if source in forward and name not in forward else "data"))
    counted = [(key, len(list(same))) for key, same in groupby(sorted(found))]
    return [Edge(tail, head, kind, count=count if kind == "data" else 1) for (tail, head, kind), count in counted]


def _place(model: Model, cards: Mapping[str, Card], halves: Halves) -> Layout:
    """Two boxes side by side, partners in one rank; gradients run against the direction of the ranks."""
    behind = {card for card in cards if card not in halves.forward}
    arcs = [
        Arc(
            edge.tail,
            edge.head,
            label_size(edge),
            weight=1 if edge.kind == "transfer" else 3,
            back=edge.tail in behind,
        )
        for edge in model.edges
    ]
    frames = [_frame(box) for box in model.clusters]
    ranks = [[name, _back(name)] for name in _in_order(halves)]
    sizes = {name: card.size for name, card in cards.items()}
    layout = arrange(sizes, arcs, frames, gap=(22, 26), ranks=ranks)
    return layout if layout.frames[_FORWARD].cx < layout.frames[_BACKWARD].cx else _mirrored(layout)


def _mirrored(layout: Layout) -> Layout:
    """A layout with left and right exchanged."""

    def point(p: Point) -> Point:
        return layout.width - p[0], p[1]

    def maybe(p: Point | None) -> Point | None:
        return None if p is None else point(p)

    def box(r: Rect) -> Rect:
        return Rect(layout.width - r.x - r.w, r.y, r.w, r.h)

    return Layout(
        layout.width,
        layout.height,
        {name: box(at) for name, at in layout.boxes.items()},
        [Route(tuple(map(point, route.points)), maybe(route.tip), maybe(route.label)) for route in layout.routes],
        {name: box(at) for name, at in layout.frames.items()},
    )


def _boxes(halves: Halves, cards: Mapping[str, Card]) -> list[Cluster]:
    """The forward half and the gradients."""
    behind = tuple(card for card in cards if card not in halves.forward)
    return [
        Cluster(_FORWARD, "forward, downwards", halves.forward),
        Cluster(_BACKWARD, "gradients, upwards", behind),
    ]


def _frame(box: Cluster) -> Frame:
    return Frame(box.name, (text_width(box.title, 11, True), 18), box.nodes)


def _draw(model: Model, cards: Mapping[str, Card], layout: Layout) -> str:
    frames, titles = draw_frames(model.clusters, layout)
    lines = [
        _saved(edge, route) if edge.kind == "transfer" else draw_edge(edge, route)
        for edge, route in zip(model.edges, layout.routes, strict=True)
    ]
    return "".join([frames, *lines, titles, *(cards[name].draw(at) for name, at in layout.boxes.items())])


def _saved(edge: Edge, route: Route) -> str:
    return (
        f'<g class="arc" data-tail="{escape(edge.tail)}" data-head="{escape(edge.head)}" data-kind="saved">'
        f"{arrow(route, extra=_SAVED)}</g>"
    )


def _describe(model: Model, halves: Halves, cards: Mapping[str, Card]) -> str:
    """Says in words which gradient nodes belong to which node, and what they read of the forward half."""
    counts = plural(len(halves.forward), "node"), plural(len(halves.partner), "gradient node")
    said = [f"Graph of {counts[0]}, with {counts[1]} beside it."]
    for name in _in_order(halves):
        box = cards[_back(name)].node
        read = sorted({edge.tail for edge in model.edges if edge.head == box.name and edge.kind == "transfer"})
        reads = f", which read {listed(read)} of the forward half" if read else ""
        said.append(f"{name}: {listed(list(box.members))}{reads}.")
    return " ".join([*said, *_notes(halves)])

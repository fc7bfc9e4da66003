"""`graph_text`: the text of a small graph beside its drawing; pointing at a line lights up what the line speaks of."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from .cards import Card
from .draw import Header, arrow, escape, num
from .graph import describe
from .layout import Layout
from .model import Edge, Model
from .picture import Picture
from .read import graph_def_of, parse_input, read_graph
from .sheet import Decor, cards_of, compose, draw_model, kind_entries, place

_LIT = 4  # hue: vermillion
_PROMPT = "Point at a line of the text."


@dataclass(frozen=True)
class LinkedText:
    """The text of a graph, line by line, and its drawing; notebooks show both, linked by style rules alone."""

    html: str = field(repr=False)
    picture: Picture
    lit: dict[str, Picture] = field(repr=False)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """Gives IPython the linked HTML, and the drawing alone where HTML is not shown."""
        return {"text/html": self.html, "image/svg+xml": self.picture.svg, "text/plain": self.picture.alt}


@dataclass(frozen=True)
class Line:
    """One line of text, and the key of what it lights up: `n0` is the first node, `e0` the first edge."""

    text: str
    key: str = ""


def graph_text(obj: Any, *, title: str = "Graph") -> LinkedText:
    """Shows the text of a graph in protocol buffers' text format, attributes named only, beside its drawing.

    Args:
        obj: GraphDef, tf.Graph, FuncGraph or ConcreteFunction of up to about a dozen nodes, all inputs in the graph.
        title: stands above the drawing.

    Raises:
        TypeError: `obj` is no graph.
        ValueError: an input names a node that is not in the graph.
    """
    definition = graph_def_of(obj)
    model = _with_output_numbers(read_graph(definition))
    lost = [node.name for node in model.nodes if node.role == "missing"]
    if lost:
        raise ValueError(f"inputs name nodes that are not in the graph: {', '.join(lost)}")
    layout = place(model, _cards(model))
    notes = {f"n{i}": f"A node: {node.name}, of the op {node.op}." for i, node in enumerate(model.nodes)}
    notes |= {f"e{i}": note for i, note in enumerate(_edge_notes(definition))}
    headers = {key: Header(title, kind_entries(model), [note]) for key, note in ({"": _PROMPT} | notes).items()}
    width = max(header.width(layout.width) for header in headers.values())
    pictures = {key: _drawn(model, layout, key, header, width) for key, header in headers.items()}
    return LinkedText(_html(list(text_lines(definition)), pictures), pictures.pop(""), pictures)


def text_lines(definition: Any) -> Iterator[Line]:
    """The lines of a GraphDef's text: what each field of each node says."""
    edge = 0
    for index, node in enumerate(definition.node):
        key = f"n{index}"
        yield Line("node {", key)
        yield Line(f'  name: "{node.name}"', key)
        yield Line(f'  op: "{node.op}"', key)
        for text in node.input:
            yield Line(f'  input: "{text}"', f"e{edge}")
            edge += 1
        if node.attr:
            yield Line(f"  # attributes: {', '.join(sorted(node.attr))}", key)
        yield Line("}", key)


def _with_output_numbers(model: Model) -> Model:
    """The same model; where a node has several outputs that are read, the edges of output 0 say so as well."""
    several = {edge.tail for edge in model.edges if edge.label}
    edges = (
        replace(edge, label=":0") if edge.kind == "data" and not edge.label and edge.tail in several else edge
        for edge in model.edges
    )
    return replace(model, edges=tuple(edges))


def _cards(model: Model, lit: str = "") -> dict[str, Card]:
    """The cards of all nodes, with room for the mark of a lit one, so that lighting moves nothing."""
    cards = cards_of(model, Decor(badges={lit: _LIT}))
    return {name: replace(card, plain=name != lit) for name, card in cards.items()}


def _edge_notes(definition: Any) -> Iterator[str]:
    for node in definition.node:
        for position, text in enumerate(node.input):
            source, index, control = parse_input(text)
            if control:
                yield f"A control edge: {node.name} waits for {source}. No tensor."
            else:
                yield f"An edge: output {index or 0} of {source} is input {position} of {node.name}."


def _drawn(model: Model, layout: Layout, key: str, header: Header, width: float) -> Picture:
    """The drawing with one node or edge lit; all of one graph have the same size."""
    number = int(key[1:] or 0)
    cards = _cards(model, model.nodes[number].name if key.startswith("n") else "")
    content = draw_model(model, cards, layout)
    if key.startswith("e"):
        content += _lit_edge(model.edges[number], layout, number)
    content = f'<g transform="translate({num((width - layout.width) / 2)} 0)">{content}</g>'
    alt = " ".join([describe(model, model, {}), *(header.notes if key else ())])
    return compose(header, content, width, layout.height, header.title, alt)


def _lit_edge(edge: Edge, layout: Layout, number: int) -> str:
    dashes = ' stroke-dasharray="6 4"' if edge.kind == "control" else ""
    lit = arrow(layout.routes[number], f"line{_LIT}", f"solid{_LIT}", f' stroke-width="3.5"{dashes}')
    return f'<g class="lit" data-tail="{escape(edge.tail)}" data-head="{escape(edge.head)}">{lit}</g>'


def _html(lines: list[Line], pictures: dict[str, Picture]) -> str:
    """Text and pictures side by side. A picture lies over the first while its lines are pointed at or have the focus.

    Style rules, no script: it works in a saved page. Where style is removed (a notebook that is not trusted), the
    attribute `hidden` leaves the text and the first picture.
    """
    scope = "tf" + hashlib.sha256(pictures[""].svg.encode()).hexdigest()[:10]
    rules = [
        f"#{scope}{{display:flex;flex-wrap:wrap;gap:24px;align-items:flex-start}}",
        f"#{scope} .text{{font:13px/1.35 var(--jp-code-font-family,monospace);white-space:pre;padding:12px 0}}",
        f"#{scope} .text div{{padding:0 8px;border-radius:2px}}",
        f"#{scope} .text div:hover,#{scope} .text div:focus{{background:var(--jp-layout-color3,#8884)}}",
        f"#{scope} .drawings{{display:grid}}#{scope} .drawings>div{{grid-area:1/1}}",
    ]
    rules += [
        f"#{scope}:has(.t-{key}:is(:hover,:focus)) .p-{key}{{display:block!important}}" for key in pictures if key
    ]
    text = "".join(f'<div class="t-{line.key}" tabindex="0">{escape(line.text)}</div>' for line in lines)
    drawings = "".join(
        f'<div class="p-{key or "first"}"{" hidden" if key else ""}>{picture.html}</div>'
        for key, picture in pictures.items()
    )
    return (
        f'<div id="{scope}"><style>{"".join(rules)}</style>'
        f'<div class="text">{text}</div><div class="drawings">{drawings}</div></div>'
    )

"""`graph`: a TensorFlow graph, or HLO's DOT text, as a picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from .devices import hues_of, short_device
from .dot import read_dot
from .draw import Header
from .grouping import group
from .model import Model
from .picture import Picture
from .read import graph_def_of, read_graph
from .sheet import Decor, cards_of, compose, draw_model, hue_entries, kind_entries, place
from .text import listed, plural

Highlight = Iterable[str] | Mapping[str, str]


def graph(
    obj: Any,
    *,
    highlight: Highlight = (),
    labels: Mapping[str, str] | None = None,
    title: str | None = None,
    direction: str = "TB",
    max_nodes: int = 80,
) -> Picture:
    """Draws a graph.

    Args:
        obj: GraphDef, tf.Graph, FuncGraph, ConcreteFunction, or DOT text (`optimized_hlo_dot`). Functions that a
            GraphDef's nodes call are drawn in boxes of their own, their nodes being called "function/node".
        highlight: node names, or node name -> name of its group; every group gets its own colour and mark.
        labels: node name -> one more line of text in the node.
        title: stands above the picture.
        direction: "TB" (inputs on top) or "LR" (inputs at the left).
        max_nodes: a larger graph is grouped by name scope, or where there are none by depth, into at most about so
            many boxes. Highlighted nodes stay visible while they fit.

    Returns:
        The picture. Names in `highlight` or `labels` that are not in the graph are listed in it.

    Raises:
        TypeError: `obj` is nothing that can be drawn.
        ImportError: pygraphviz is missing.
    """
    model = read_any(obj)
    groups = dict(highlight) if isinstance(highlight, Mapping) else dict.fromkeys(highlight, "highlighted")
    lines = {name: (text,) for name, text in (labels or {}).items()}
    shown = group(model, max_nodes, keep=[*groups, *lines])
    return draw_graph(model, shown, groups, lines, title, direction)


def read_any(obj: Any) -> Model:
    """Reads everything that `graph` draws."""
    return read_dot(obj) if isinstance(obj, str) else read_graph(graph_def_of(obj))


def draw_graph(
    model: Model,
    shown: Model,
    groups: Mapping[str, str],
    lines: Mapping[str, tuple[str, ...]],
    title: str | None,
    direction: str,
) -> Picture:
    """Draws `shown`, the form of `model` that fits on a page."""
    devices = hues_of(node.device for node in model.nodes)
    first = len(devices)
    badges = {words: first + i for i, words in enumerate(dict.fromkeys(groups.values()))}
    decor = Decor(
        strips={n.name: devices[n.device] for n in shown.nodes if n.device in devices},
        badges=_badges(shown, groups, badges),
        lines=lines,
    )
    header = Header(
        title or "",
        hue_entries({short_device(name): i for name, i in devices.items()}) + hue_entries(badges) + kind_entries(shown),
        [*shown.notes, *_unknown(model, [*groups, *lines])],
    )
    cards = cards_of(shown, decor)
    layout = place(shown, cards, direction)
    alt = describe(model, shown, groups)
    content = draw_model(shown, cards, layout)
    return compose(header, content, layout.width, layout.height, title or "Graph", alt)


def _badges(shown: Model, groups: Mapping[str, str], hues: Mapping[str, int]) -> dict[str, int]:
    """The highlight of each shown node; a group of nodes has one only if all its nodes share it."""
    found = {}
    for node in shown.nodes:
        wanted = {groups.get(name) for name in (node.members or (node.name,))}
        if len(wanted) == 1 and (words := wanted.pop()) is not None:
            found[node.name] = hues[words]
    return found


def _unknown(model: Model, names: Iterable[str]) -> list[str]:
    known = {node.name for node in model.nodes}
    strangers = sorted(set(names) - known)
    return [f"Asked for, but not in this graph: {listed(strangers, 5)}."] if strangers else []


def describe(model: Model, shown: Model, groups: Mapping[str, str]) -> str:
    """Says in words what a graph's picture shows."""
    controls = sum(edge.count for edge in model.edges if edge.kind == "control")
    counts = [plural(model.size, "node"), plural(model.edge_count, "edge")]
    said = [f"Graph of {' and '.join(counts)}" + (f", {controls} of them control edges." if controls else ".")]
    devices = Counter(short_device(node.device) for node in model.nodes if node.role != "missing")
    if any(node.device for node in model.nodes):
        each = ", ".join(f"{name} ({plural(n, 'node')})" for name, n in sorted(devices.items()))
        said.append(f"Devices: {each}.")
    for words in dict.fromkeys(groups.values()):
        members = [name for name, other in groups.items() if other == words]
        said.append(f"{words}: {listed(members)}.")
    names = [f"{node.title or node.name} ({node.op})" if node.op else node.title or node.name for node in shown.nodes]
    said.append(f"{'Nodes' if shown is model else 'Boxes'}: {listed(names, 25)}.")
    return " ".join([*said, *shown.notes])

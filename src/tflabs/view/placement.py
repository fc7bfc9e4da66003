"""`placement`: what a graph asks of the placer beside what the placer made of it; and a player that moves both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from .controls import button, telling_line
from .devices import LOCAL, hues_of, short_device
from .draw import NAME, Header, escape, num, text
from .model import Cluster
from .picture import Picture
from .placer import PREFIX, Group, Placed, ask_placer, copied, label_node, labels_of
from .read import read_graph
from .sheet import Decor, cards_of, compose, draw_model, hue_entries, place
from .text import listed, text_width

_SIDES = ("one side of the clash", "the other side")
_SIDE_HUES = (4, 5)  # vermillion with a plus, sky blue with a cross
_GAP, _TITLE = 34.0, 26.0  # px between the two drawings, and above them


def placement(graph: Any, placed: Placed | None = None, *, title: str | None = None) -> Picture:
    """Draws what a graph asks for and, beside it, what the placer made of it.

    Args:
        graph: a GraphDef or tf.Graph.
        placed: the answer of `ask_placer`; without it only the requests are drawn.

    Returns:
        The picture: devices as colours with marks, groups of several nodes in a frame with their merged request. After
        a clash, the groups of the two nodes carry the colours and marks of its two sides.
    """
    graph = graph.as_graph_def() if hasattr(graph, "as_graph_def") else graph
    model = read_graph(graph)
    asked = {node.name: _asked(node) for node in graph.node}
    if placed is None:
        cards = cards_of(model, Decor(lines=asked))
        layout = place(model, cards)
        heading = Header(title or "What was asked")
        content = draw_model(model, cards, layout)
        return compose(heading, content, layout.width, layout.height, "Requests", _said(asked))
    hues = hues_of(placed.devices.values())
    made = replace(model, clusters=_frames(placed))
    right = cards_of(made, _decor(placed, asked, hues))
    layout = place(made, right)
    shift = layout.width + _GAP
    content = _panel("asked", draw_model(model, cards_of(model, Decor(lines=asked)), layout), 0)
    content += _panel("made of it by the placer", draw_model(made, right, layout), shift)
    entries = hue_entries({short_device(name): hue for name, hue in hues.items()})
    entries += hue_entries(dict(zip(_SIDES, _SIDE_HUES, strict=True))) if placed.clash else []
    header = Header(title or "Placement", entries, _notes(placed))
    alt = f"{_said(asked)} {_outcome(placed)}"
    return compose(header, content, shift + layout.width, layout.height + _TITLE, "Placement", alt)


def _panel(title: str, content: str, left: float) -> str:
    head = text(0, NAME, title, NAME, "muted", bold=True)
    return f'<g transform="translate({num(left)} 0)">{head}<g transform="translate(0 {num(_TITLE)})">{content}</g></g>'


def _asked(node: Any) -> tuple[str, ...]:
    request = (f"asks {_short(node.device)}",) if node.device else ()
    return (*request, *(PREFIX + label for label in labels_of(node)))


def _short(request: str) -> str:
    """A request as it is written in a card: the device's type and index where nothing else is named."""
    return request.removeprefix(LOCAL).removeprefix("/device:") or request


def _decor(placed: Placed, asked: Mapping[str, tuple[str, ...]], hues: Mapping[str, int]) -> Decor:
    lines = {name: [*words] for name, words in asked.items()}
    for name, device in placed.devices.items():
        lines[name].append(f"on {_short(device)}")
    badges: dict[str, int] = {}
    for node, hue in zip(placed.clash or (), _SIDE_HUES, strict=False):
        badges |= dict.fromkeys(placed.group_of(node).nodes, hue)
        lines[node].append("named in the error")
    strips = {name: hues[device] for name, device in placed.devices.items()}
    return Decor(strips=strips, badges=badges, lines=lines)


def _frames(placed: Placed) -> tuple[Cluster, ...]:
    sides = [placed.group_of(node) for node in placed.clash or ()]
    shown = [group for group in placed.groups if len(group.nodes) > 1 or group in sides]
    return tuple(Cluster(group.nodes[0], f"together: {_merged(group)}", group.nodes) for group in shown)


def _merged(group: Group) -> str:
    return _short(group.request) if group.request else "no request"


def _notes(placed: Placed) -> list[str]:
    if placed.clash is None:
        return []
    node, root = placed.clash
    return [f"Cannot colocate nodes {node} and {root}: {placed.reason}"]


def _said(asked: Mapping[str, tuple[str, ...]]) -> str:
    return "Asked: " + "; ".join(f"{name}: {', '.join(words) or 'nothing'}" for name, words in asked.items()) + "."


def _outcome(placed: Placed) -> str:
    groups = "; ".join(f"{listed(group.nodes)} ({_merged(group)})" for group in placed.groups)
    if placed.clash is None:
        where = "; ".join(f"{name} on {_short(device)}" for name, device in placed.devices.items())
        return f"Groups with their merged requests: {groups}. Placed: {where}."
    node, root = (f"{name} ({_merged(placed.group_of(name))})" for name in placed.clash)
    return f"Clash between the group of {node} and the group of {root}. Groups by then: {groups}."


# ---- the player


class PlacementModel:
    """The state behind the player: a graph whose requests and labels can be set, and the placer's answer to it."""

    def __init__(self, graph: Any, cpus: int) -> None:
        self.graph, self.cpus = copied(graph), cpus
        self.placed = ask_placer(self.graph, cpus)

    @property
    def wishes(self) -> dict[str, tuple[str, str]]:
        """Node -> its request and the first of its labels ("" for none)."""
        return {node.name: (node.device, next(iter(labels_of(node)), "")) for node in self.graph.node}

    def wish(self, wishes: Mapping[str, tuple[str, str]]) -> None:
        """Sets request and label of some nodes and asks the placer.

        Raises:
            whatever `ask_placer` raises; the graph is then as it was.
        """
        changed = copied(self.graph)
        for node in changed.node:
            if node.name in wishes:
                node.device, label = wishes[node.name]
                label_node(node, [label] if label else [])
        self.placed = ask_placer(changed, self.cpus)
        self.graph = changed

    def picture(self) -> Picture:
        """The graph and the placer's last answer."""
        clash = self.placed.clash
        return placement(self.graph, self.placed, title="The placer refuses" if clash else "The placer's answer")


def placement_player(graph: Any, cpus: int = 3) -> Any:
    """A player: a request and a label for each node; groups, merged requests and devices, or the clash, follow.

    Args:
        graph: as for `ask_placer`; a node has at most one label.
        cpus: how many CPU devices there are.

    Returns:
        An ipywidget.

    Raises:
        whatever `ask_placer` raises.
    """
    import ipywidgets as w

    model = PlacementModel(graph, cpus)
    start = model.wishes
    requests = ["", "/device:CPU:*", *(f"/device:CPU:{number}" for number in range(cpus))]
    choosers = {name: _choosers(name, wish, requests, list(start)) for name, wish in start.items()}
    picture, said = w.HTML(), w.HTML()
    moving = [False]  # several choosers are set at once: ask the placer once, not for each

    def show() -> None:
        said.value, picture.value = "", model.picture().html

    def moved(name: str, _: Any) -> None:
        if moving[0]:
            return
        try:
            model.wish({name: (choosers[name][0].value, choosers[name][1].value)})
        except Exception as error:
            said.value = f"<code>{escape(telling_line(error))}</code>"
            return
        show()

    def set_all(wishes: Mapping[str, tuple[str, str]]) -> None:
        moving[0] = True
        for name, values in wishes.items():
            for chooser, value in zip(choosers[name], values, strict=True):
                chooser.value = value
        moving[0] = False
        model.wish(wishes)
        show()

    for name, pair in choosers.items():
        for chooser in pair:
            chooser.observe(partial(moved, name), "value")
    back, clear = button("As at first"), button("Ask for nothing")
    back.on_click(lambda _: set_all(start))
    clear.on_click(lambda _: set_all(dict.fromkeys(start, ("", ""))))
    show()
    rows = w.VBox([w.HBox(pair) for pair in choosers.values()])
    return w.VBox([rows, w.HBox([back, clear]), said, picture])


def _choosers(name: str, wish: tuple[str, str], requests: Sequence[str], names: Sequence[str]) -> tuple[Any, Any]:
    """Two lists for a node: requests, and the earlier nodes that a label can name."""
    import ipywidgets as w

    request, label = wish
    asks = [(_short(value) or "nothing", value) for value in dict.fromkeys([*requests, request])]
    labels = [("no label", ""), *((PREFIX + other, other) for other in names[: names.index(name)])]
    wide = max(text_width(f"{other} asks for", NAME) for other in names)
    layout = w.Layout(width=f"{wide + 120:.0f}px", flex="0 0 auto")
    style = {"description_width": f"{wide:.0f}px"}
    asking = w.Dropdown(options=asks, value=request, description=f"{name} asks for", layout=layout, style=style)
    beside = w.Layout(width="190px", flex="0 0 auto")
    belongs = w.Dropdown(
        options=labels, value=label, description="and carries", tooltip=f"label of {name}", layout=beside
    )
    return asking, belongs

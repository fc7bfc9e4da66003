"""`stages`: what becomes of a graph before it runs: as written, pruned for a step, and cut apart by device."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .controls import telling_line
from .devices import hues_of, short_device
from .draw import NAME, Header, escape, num, text
from .model import Edge, Model
from .partitions import Column, draw_columns, read_partitions
from .picture import Picture
from .read import graph_def_of, read_nodes
from .sheet import Decor, cards_of, compose, draw_model, hue_entries, kind_entries, place
from .text import listed, plural, text_width

_GAP, _HEAD = 40.0, 26.0  # px: between panels, and for a panel's title
_PAGE = 1000.0  # px: panels stand beside each other up to this width
_GONE, _NEW = "cut away", "added"


@dataclass(frozen=True)
class Panel:
    """One form of the graph: its title, its nodes, and which of them are marked, by name."""

    title: str
    model: Model
    marks: Mapping[str, str]


@dataclass(frozen=True)
class Parts:
    """The partitions of a step, to be drawn side by side."""

    models: Sequence[tuple[str, Model]]  # device and nodes, sorted by device
    transfers: Sequence[Edge]

    @property
    def nodes(self) -> list[tuple[str, str, str]]:
        """Of each node its id in the models, its device and its name."""
        return [(node.name, device, node.title or node.name) for device, model in self.models for node in model.nodes]

    @property
    def whole(self) -> Model:
        """All partitions as one model."""
        edges = [edge for _, model in self.models for edge in model.edges]
        return Model(tuple(node for _, model in self.models for node in model.nodes), (*edges, *self.transfers))


def read_parts(parts: Mapping[str, Any]) -> Parts:
    """Reads device name -> GraphDef.

    Raises:
        ValueError: there are no parts.
    """
    if not parts:
        raise ValueError("a step has at least one partition")
    models, transfers = read_partitions([(device, graph_def_of(part)) for device, part in sorted(parts.items())])
    return Parts(models, transfers)


def draw_parts(parts: Parts, decor: Decor, notes: Mapping[str, str] | None = None) -> tuple[str, float, float]:
    """Draws the partitions; `notes` are words behind a device's name. Returns SVG, width and height in px."""
    columns = [
        Column(device + (f" · {notes[device]}" if notes and device in notes else ""), model, cards_of(model, decor))
        for device, model in parts.models
    ]
    return draw_columns(columns, parts.transfers)


def stages(written: Any, pruned: Any, parts: Mapping[str, Any], *, title: str | None = None) -> Picture:
    """Draws a graph as it was written, as it was pruned for a step, and as it was cut apart, panel beside panel.

    Nodes that pruning removed are marked where they were last, and so are nodes where they were added.

    Args:
        written: GraphDef, or whatever `graph` takes.
        pruned: the graph of the step before the cut.
        parts: device name -> GraphDef.
        title: stands above the picture.

    Raises:
        ValueError: there are no parts.
    """
    read = read_parts(parts)
    panels = _panels(graph_def_of(written), graph_def_of(pruned), read)
    devices = hues_of(node.device for panel in panels for node in panel.model.nodes)
    marks = {words: len(devices) + i for i, words in enumerate((_GONE, _NEW))}
    used = {words: hue for words, hue in marks.items() if any(words in panel.marks.values() for panel in panels)}
    decors = [_decor(panel, devices, marks) for panel in panels]
    drawn = [_draw(panel.model, decor) for panel, decor in zip(panels[:2], decors[:2], strict=True)]
    content, width, height = _beside(panels, [*drawn, _Drawn(*draw_parts(read, decors[2]))])
    everything = Model((), tuple(edge for panel in panels for edge in panel.model.edges))
    entries = [
        *hue_entries({short_device(name): hue for name, hue in devices.items()}),
        *hue_entries(used),
        *kind_entries(everything),
    ]
    return compose(Header(title or "", entries), content, width, height, title or "Stages of a graph", _words(panels))


def _panels(written: Any, pruned: Any, parts: Parts) -> list[Panel]:
    first, second = read_nodes(written.node, "written:"), read_nodes(pruned.node, "pruned:")
    before, after = {node.name for node in written.node}, {node.name for node in pruned.node}
    nodes, transfers = plural(parts.whole.size, "node"), plural(len(parts.transfers), "transfer")
    return [
        Panel(
            f"As written: {plural(first.size, 'node')}",
            first,
            {f"written:{name}": _GONE for name in sorted(before - after)},
        ),
        Panel(
            f"Pruned: {plural(second.size, 'node')}",
            second,
            {f"pruned:{name}": _NEW for name in sorted(after - before)},
        ),
        Panel(
            f"Cut apart: {plural(len(parts.models), 'partition')}, {nodes}, {transfers}",
            parts.whole,
            {identity: _NEW for identity, _, name in parts.nodes if name not in after},
        ),
    ]


@dataclass(frozen=True)
class _Drawn:
    """A panel's content, with its origin at (0, 0), and its size in px."""

    content: str
    width: float
    height: float


def _decor(panel: Panel, devices: Mapping[str, int], marks: Mapping[str, int]) -> Decor:
    return Decor(
        strips={node.name: devices[node.device] for node in panel.model.nodes if node.device in devices},
        badges={name: marks[words] for name, words in panel.marks.items()},
    )


def _draw(model: Model, decor: Decor) -> _Drawn:
    cards = cards_of(model, decor)
    layout = place(model, cards)
    return _Drawn(draw_model(model, cards, layout), layout.width, layout.height)


def _beside(panels: Sequence[Panel], drawn: Sequence[_Drawn]) -> tuple[str, float, float]:
    """Puts panels beside each other, and in a new row where the page is full. Returns SVG, width and height."""
    parts, x, top, row, width = [], 0.0, 0.0, 0.0, 0.0
    for panel, one in zip(panels, drawn, strict=True):
        wide = max(one.width, text_width(panel.title, NAME, True))
        if x > 0 and x + wide > _PAGE:
            x, top, row = 0.0, top + row + _GAP, 0.0
        parts.append(text(x, top + NAME, panel.title, NAME, bold=True))
        parts.append(f'<g transform="translate({num(x)} {num(top + _HEAD)})">{one.content}</g>')
        row, width = max(row, one.height + _HEAD), max(width, x + wide)
        x += wide + _GAP
    return "".join(parts), width, top + row


def _words(panels: Sequence[Panel]) -> str:
    said = []
    for panel in panels:
        titles = {node.name: node.title or node.name for node in panel.model.nodes}
        marked = [titles[name] for name in panel.marks if name in titles]
        kind = next(iter(panel.marks.values()), "")
        said.append(f"{panel.title}" + (f"; {kind}: {listed(sorted(marked), 30)}." if marked else "."))
    return " ".join(said)


Cut = Callable[[list[str], list[str]], tuple[Any, Mapping[str, Any]]]


def stages_player(written: Any, cut: Cut, fetches: Mapping[str, bool], feeds: Mapping[str, bool]) -> Any:
    """A player: tick what is fetched and what is fed, and the three forms of the graph follow.

    Args:
        written: a GraphDef.
        cut: gives the pruned graph and the parts of a step that fetches and feeds these names.
        fetches: what can be fetched, and whether it is at first.
        feeds: what can be fed, and whether it is at first.

    Returns:
        An ipywidget. What `cut` raises is shown in words.
    """
    import ipywidgets as w

    picture, said = w.HTML(), w.HTML()
    ticks = {
        kind: {name: w.Checkbox(value=on, description=name, indent=False) for name, on in names.items()}
        for kind, names in (("fetch", fetches), ("feed", feeds))
    }

    def chosen(kind: str) -> list[str]:
        return [name for name, tick in ticks[kind].items() if tick.value]

    def show(_: object = None) -> None:
        try:
            pruned, parts = cut(chosen("fetch"), chosen("feed"))
        except Exception as error:
            said.value = f"<code>{escape(telling_line(error))}</code>"
            return
        said.value = escape(f"fetch {', '.join(chosen('fetch'))}; feed {', '.join(chosen('feed')) or 'nothing'}")
        picture.value = stages(written, pruned, parts).html

    rows = []
    for kind, names in ticks.items():
        for tick in names.values():
            tick.observe(show, "value")
            tick.layout = w.Layout(width="auto", margin="0 16px 0 0")
        rows.append(w.HBox([w.HTML(f"<b>{kind}</b>", layout=w.Layout(width="60px")), *names.values()]))
    show()
    return w.VBox([*rows, said, picture])

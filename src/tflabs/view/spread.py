"""`spread`: a player that moves the nodes of a graph between devices and shows what the runtime makes of it.

The partitions and the letters are those of a real step: the player holds no rule of its own about either.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from .controls import button, telling_line
from .draw import NAME, escape
from .partitions import partitions
from .picture import Picture
from .read import transfer_key
from .text import plural, text_width

_DEVICE = "/job:localhost/replica:0/task:0/device:CPU:"


@dataclass(frozen=True)
class Letter:
    """A tensor that crossed in a step, from one device to another, and how many inputs read it there."""

    tensor: str
    source: str
    destination: str
    readers: int

    @property
    def words(self) -> str:
        """The letter in words."""
        return f"{self.tensor} from {self.source} to {self.destination} ({plural(self.readers, 'reader')})"


def run_spread(graph: Any, places: Mapping[str, int], target: str, devices: int) -> Any:
    """Runs a step of `graph` with its nodes on these devices; its RunMetadata with the partition graphs.

    Args:
        graph: a GraphDef. Placeholders are fed with ones; their shapes must be known.
        places: node name -> number of the CPU device.
        target: the node whose output 0 is fetched.
        devices: how many CPU devices the session has.

    Raises:
        whatever `session.run` raises.
    """
    import numpy as np
    import tensorflow as tf

    placed = type(graph)()
    placed.CopyFrom(graph)
    for node in placed.node:
        node.device = f"{_DEVICE}{places[node.name]}"
    config = tf.compat.v1.ConfigProto(device_count={"CPU": devices})
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.optimizer_options.opt_level = tf.compat.v1.OptimizerOptions.L0
    options = tf.compat.v1.RunOptions(output_partition_graphs=True)
    metadata = tf.compat.v1.RunMetadata()
    with tf.Graph().as_default() as imported, tf.compat.v1.Session(config=config) as session:
        tf.import_graph_def(placed, name="")
        fed = [op.outputs[0] for op in imported.get_operations() if op.type == "Placeholder"]
        feeds = {tensor: np.ones(tensor.shape.as_list(), tensor.dtype.as_numpy_dtype) for tensor in fed}
        session.run(f"{target}:0", feeds, options=options, run_metadata=metadata)
    return metadata


def letters_of(metadata: Any) -> list[Letter]:
    """The letters of a step, sorted by where they come from, where they go, and what they carry."""
    nodes = [node for part in metadata.partition_graphs for node in part.node]
    receivers = {transfer_key(node)[1:]: node.name for node in nodes if node.op == "_Recv"}
    reads = [text.partition(":")[0] for node in nodes for text in node.input]
    letters = []
    for node in nodes:
        if node.op == "_Send":
            key = transfer_key(node)[1:]
            source, destination = (place.rpartition("device:")[2] for place in key[1:])
            letters.append(Letter(_tensor(node.input[0]), source, destination, reads.count(receivers[key])))
    return sorted(letters, key=lambda letter: (letter.source, letter.destination, letter.tensor))


def _tensor(text: str) -> str:
    """An input as a tensor with its index; an `_Arg` of the runtime as what was fed."""
    if fed := re.fullmatch(r"_arg_(.+)_(\d+)_\d+", text):
        return f"{fed[1]}:{fed[2]}, which was fed,"
    return text if ":" in text else f"{text}:0"


class SpreadModel:
    """The state behind the player: where each node is, and the step that was run last."""

    def __init__(self, graph: Any, target: str, devices: int) -> None:
        self.nodes = [node.name for node in graph.node]
        if target not in self.nodes:
            raise ValueError(f"the graph has no node {target!r} to fetch")
        if devices < 1:
            raise ValueError(f"at least one device is needed, found {devices}")
        self._graph, self._target, self._devices = graph, target, devices
        self.places = {node.name: min(_number(node.device), devices - 1) for node in graph.node}
        self.run()

    def move(self, node: str, device: int) -> None:
        """Puts a node on a device and runs the step."""
        self.places[node] = device
        self.run()

    def move_all(self, places: Mapping[str, int]) -> None:
        """Puts nodes on devices and runs the step once."""
        self.places.update(places)
        self.run()

    def run(self) -> None:
        """Runs a step with the nodes where they are."""
        self._metadata = run_spread(self._graph, self.places, self._target, self._devices)

    @property
    def letters(self) -> list[Letter]:
        """The letters of the last step."""
        return letters_of(self._metadata)

    def picture(self) -> Picture:
        """The partitions of the last step."""
        count = len(self._metadata.partition_graphs)
        title = f"{plural(count, 'partition')}, {plural(len(self.letters), 'letter')}"
        return partitions(self._metadata, title=title)

    def said(self) -> str:
        """The letters of the last step, as HTML."""
        items = "".join(f"<li>{escape(letter.words)}</li>" for letter in self.letters)
        return f"Letters of the step:<ul>{items}</ul>" if items else "No letter is sent in this step."


def _number(device: str) -> int:
    found = re.search(r":(\d+)$", device)
    return int(found[1]) if found else 0


def spread(graph: Any, target: str, devices: int = 2) -> Any:
    """A player: a choice of device for each node; the partitions and the letters of a real step follow.

    Args:
        graph: a GraphDef; a node starts on the device that it names. Placeholders are fed with ones.
        target: the node whose output 0 is fetched.
        devices: how many CPU devices there are.

    Returns:
        An ipywidget.

    Raises:
        ValueError: the graph has no node `target`, or there are no devices.
    """
    import ipywidgets as w

    model = SpreadModel(graph, target, devices)
    start = dict(model.places)
    picture, said = w.HTML(), w.HTML()
    choosers = {name: _chooser(name, devices, place) for name, place in model.places.items()}
    moving = [False]  # several choosers are set at once: run one step, not one for each

    def show() -> None:
        picture.value, said.value = model.picture().html, model.said()

    def moved(name: str, change: Any) -> None:
        if moving[0]:
            return
        try:
            model.move(name, change["new"])
        except Exception as error:
            said.value = f"<code>{escape(telling_line(error))}</code>"
            return
        show()

    def restore(_: Any) -> None:
        moving[0] = True
        for name, place in start.items():
            choosers[name].value = place
        moving[0] = False
        model.move_all(start)
        show()

    for name, chooser in choosers.items():
        chooser.observe(partial(moved, name), "value")
    back = button("As at first")
    back.on_click(restore)
    show()
    return w.VBox([_in_columns(choosers), w.HBox([back]), said, picture])


def _chooser(name: str, devices: int, place: int) -> Any:
    """A button for each device."""
    import ipywidgets as w

    options = [(f"CPU:{number}", number) for number in range(devices)]
    return w.ToggleButtons(
        options=options,
        value=place,
        tooltips=[f"{name} on {device}" for device, _ in options],
        style={"button_width": "64px"},
        layout=w.Layout(width=f"{72 * devices}px", flex="0 0 auto"),
    )


def _in_columns(choosers: Mapping[str, Any]) -> Any:
    """The name of each node, and beside it its chooser, below each other in two columns."""
    import ipywidgets as w

    width = max(text_width(name, NAME) for name in choosers) + 12
    rows = [
        w.HBox([w.Label(name, layout=w.Layout(width=f"{width:.0f}px", flex="0 0 auto")), chooser])
        for name, chooser in choosers.items()
    ]
    half, fixed = (len(rows) + 1) // 2, w.Layout(flex="0 0 auto", margin="0 24px 0 0")
    return w.HBox([w.VBox(rows[:half], layout=fixed), w.VBox(rows[half:], layout=fixed)])

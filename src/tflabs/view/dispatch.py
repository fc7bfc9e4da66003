"""`dispatch`: a player that runs steps of a session and shows, for a list of device types, which kernel each node gets.

What ran is read from the trace of a real step, and which kernel fits from TensorFlow's own registry.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .controls import button, ones, telling_line
from .draw import Header, escape, hue_entry
from .graph import read_any
from .picture import Picture
from .sheet import Decor, cards_of, compose, draw_model, kind_entries, place
from .text import listed, plural

_RAN = 2  # hue: bluish green
_COMPILE_ONLY = frozenset({"XLA_CPU_JIT", "XLA_GPU_JIT"})  # `AddSymbolicExecutionDevice`, core/framework/device_base.cc
_DEVICES = ("CPU", "GPU", "TPU", "XLA_CPU_JIT")


@dataclass(frozen=True)
class Choice:
    """The device type that a node gets, and the device type that its kernel is registered for (or "DEFAULT")."""

    device: str
    registered_for: str

    @property
    def words(self) -> str:
        """The choice in a line."""
        return f"{self.device}: {'own' if self.registered_for == self.device else self.registered_for} kernel"


def kernel_choice(node: Any, devices: Iterable[str]) -> Choice | None:
    """The first of `devices` that has a kernel for a node; None if none has.

    Follows `FindKernelRegistration` (core/framework/op_kernel.cc) for nodes without a label, priorities left out.

    Args:
        node: a NodeDef with all its attributes, as `tf.Graph.as_graph_def` gives it.
    """
    from tensorflow.python.framework import kernels

    fitting = {
        kernel.device_type for kernel in kernels.get_registered_kernels_for_op(node.op).kernel if _fits(kernel, node)
    }
    for device in devices:
        if device in fitting:
            return Choice(device, device)
        if "DEFAULT" in fitting and device not in _COMPILE_ONLY:
            return Choice(device, "DEFAULT")
    return None


def _fits(kernel: Any, node: Any) -> bool:
    if kernel.label:
        return False
    for part in kernel.constraint:
        value, allowed = node.attr[part.name], part.allowed_values.list.type
        if not all(dtype in allowed for dtype in value.list.type or [value.type]):
            return False
    return True


def dispatched(graph: Any, ran: Collection[str], choices: Mapping[str, Choice | None], note: str = "") -> Picture:
    """Draws a graph: nodes in `ran` are coloured, and each node says which kernel it gets.

    Args:
        graph: what `tflabs.view.graph` draws.
        ran: names of the nodes whose kernels ran.
        choices: by node name.
        note: stands under the title.
    """
    model = read_any(graph)
    lines = {name: (choice.words if choice else "no kernel",) for name, choice in choices.items()}
    cards = cards_of(model, Decor(badges=dict.fromkeys(ran, _RAN), lines=lines))
    layout = place(model, cards)
    title = "What runs, and by which kernel"
    header = Header(
        title,
        [hue_entry(_RAN, "ran in this step"), *kind_entries(model)],
        [note] if note else [],
    )
    each = "; ".join(f"{name}: {words}" for name, (words,) in lines.items())
    alt = f"Graph of {plural(model.size, 'node')}. {note} Ran: {listed(sorted(ran), 30) or 'none'}. Kernels: {each}."
    return compose(header, draw_model(model, cards, layout), layout.width, layout.height, title, alt)


def run_nodes(session: Any, fetches: Sequence[str], feeds: Sequence[str]) -> list[str]:
    """Runs a step and returns the sorted names of the graph's own nodes whose kernels ran.

    Args:
        session: an open `tf.compat.v1.Session` that leaves the graph as it is (no Grappler, no folding).
        fetches: names of nodes; all their outputs are fetched.
        feeds: names of tensors; ones are fed.

    Raises:
        whatever `session.run` raises.
    """
    import tensorflow as tf

    values = ones(session.graph, feeds)
    operations = [session.graph.get_operation_by_name(name) for name in fetches]
    asked = [item for operation in operations for item in (operation.outputs or [operation])]
    options = tf.compat.v1.RunOptions(trace_level=tf.compat.v1.RunOptions.FULL_TRACE)
    metadata = tf.compat.v1.RunMetadata()
    session.run(asked, values, options=options, run_metadata=metadata)
    names = {stats.node_name for device in metadata.step_stats.dev_stats for stats in device.node_stats}
    return sorted(name for name in names if not name.startswith("_"))


def dispatch(session: Any, devices: Sequence[str] = _DEVICES) -> Any:
    """A player: choose fetches and feeds and run, reorder device types, and see what ran and which kernel nodes get.

    Args:
        session: an open `tf.compat.v1.Session` that leaves the graph as it is. One step is run when the player is made.
        devices: device types, in the order in which they are tried at first.

    Returns:
        An ipywidget.
    """
    import ipywidgets as w

    model = DispatchModel(session, devices)
    rows = min(len(model.nodes), 9)
    fetches = w.SelectMultiple(options=model.nodes, value=model.fetches, rows=rows, description="fetch")
    feeds = w.SelectMultiple(options=model.tensors, value=model.feeds, rows=rows, description="feed")
    order = w.Select(options=model.devices, rows=len(devices), description="devices")
    up, away, back = button("Move up"), button("Take away"), button("All back")
    picture, said = w.HTML(), w.HTML()

    def run(_: object = None) -> None:
        said.value = model.run(fetches.value, feeds.value)
        picture.value = model.picture().html

    def changed(chosen: str | None) -> None:
        order.options = model.devices
        order.value = chosen if chosen in model.devices else next(iter(model.devices), None)
        up.disabled = away.disabled = not model.devices
        picture.value = model.picture().html

    def move(_: object) -> None:
        model.move_up(order.value)
        changed(order.value)

    def take(_: object) -> None:
        model.take_away(order.value)
        changed(None)

    def restore(_: object) -> None:
        model.all_back()
        changed(order.value)

    for control, action in ((up, move), (away, take), (back, restore)):
        control.on_click(action)
    for chooser in (fetches, feeds):
        chooser.observe(run, "value")
    run()
    buttons = w.VBox([up, away, back], layout=w.Layout(flex="0 0 auto"))
    return w.VBox([w.HBox([fetches, feeds, order, buttons]), said, picture])


class DispatchModel:
    """The state behind the player: what ran last, and the device types in the order in which they are tried."""

    def __init__(self, session: Any, devices: Sequence[str]) -> None:
        operations = session.graph.get_operations()
        self._session, self._all = session, tuple(devices)
        self.devices = list(devices)
        self.nodes = [operation.name for operation in operations]
        self.tensors = [tensor.name for operation in operations for tensor in operation.outputs]
        self.fetches = tuple(self.nodes[-1:])
        self.feeds = tuple(op.outputs[0].name for op in operations if op.type == "Placeholder")
        self.ran: list[str] = []

    def run(self, fetches: Sequence[str], feeds: Sequence[str]) -> str:
        """Runs a step; what went wrong, as HTML, or an empty string."""
        self.ran = []
        if not fetches:
            return "Nothing is fetched: no step is run."
        try:
            self.ran = run_nodes(self._session, fetches, feeds)
        except Exception as error:
            return f"<code>{escape(telling_line(error))}</code>"
        return ""

    def move_up(self, device: str) -> None:
        """Puts a device type before the one that stood before it."""
        place = self.devices.index(device)
        self.devices.insert(max(place - 1, 0), self.devices.pop(place))

    def take_away(self, device: str) -> None:
        """Removes a device type from the list."""
        self.devices.remove(device)

    def all_back(self) -> None:
        """The list as it was at first."""
        self.devices = list(self._all)

    def picture(self) -> Picture:
        """The graph as things stand."""
        graph, order = self._session.graph.as_graph_def(), ", ".join(self.devices) or "none"
        choices = {node.name: kernel_choice(node, self.devices) for node in graph.node}
        return dispatched(
            graph,
            self.ran,
            choices,
            f"Under each node, the kernel it would get; device types tried in the order {order}.",
        )

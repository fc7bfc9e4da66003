"""`ask_placer`: what the runtime's placer makes of a graph: devices, colocation groups, merged requests, or the clash.

All of it is read from a step that the runtime ran, and from the errors with which it refused others. Nothing here
decides where a node goes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

PREFIX = "loc:@"
_PROBES = {"probe_a": "/replica:7", "probe_b": "/task:7"}  # fields that no request of the graph may name
_CLASH = re.compile(r"Cannot colocate nodes \{\{colocation_node (\S+)\}\} and \{\{colocation_node (\S+)\}\}: (.*)")


@dataclass(frozen=True)
class Group:
    """Nodes that the placer keeps together, in the graph's order, and their requests merged into one."""

    nodes: tuple[str, ...]
    request: str


@dataclass(frozen=True)
class Placed:
    """What the placer made of a graph.

    Attributes:
        devices: node -> full name of its device; empty after a clash.
        groups: every node is in one; after a clash, the groups as they were when it happened.
        clash: the two nodes that the error names, in its order, or None.
        reason: why the two could not be put together, in the runtime's words.
    """

    devices: Mapping[str, str]
    groups: tuple[Group, ...]
    clash: tuple[str, str] | None = None
    reason: str = ""

    def group_of(self, node: str) -> Group:
        """The group that a node is in."""
        return next(group for group in self.groups if node in group.nodes)


def ask_placer(graph: Any, cpus: int) -> Placed:
    """Has the runtime place a graph on this many CPU devices, without soft placement.

    Args:
        graph: a GraphDef whose nodes stand in topological order and run without feeds. A label `loc:@x` names an
            earlier node; no request names a replica or a task, because the placer is probed with these.

    Raises:
        ValueError: the graph is not so.
        tf.errors.InvalidArgumentError: a request fits no device.
    """
    _check(graph)
    devices, clash = _try(graph, cpus)
    if clash is None:
        return Placed(devices, _groups(graph, cpus))
    return Placed({}, _groups(_before(graph, clash[1], cpus), cpus), (clash[1], clash[2]), clash[3])


def _check(graph: Any) -> None:
    earlier: set[str] = set()
    for node in graph.node:
        if re.search(r"replica|task", node.device):
            raise ValueError(f"{node.name!r} requests {node.device!r}: replica and task are needed to probe the placer")
        for label in labels_of(node):
            if label not in earlier:
                raise ValueError(f"{node.name!r} has the label {PREFIX + label!r}, which names no earlier node")
        earlier.add(node.name)


def labels_of(node: Any) -> list[str]:
    """The names in the `loc:@` labels of a NodeDef, in their order."""
    words = [word.decode() for word in node.attr["_class"].list.s] if "_class" in node.attr else []
    return [word.removeprefix(PREFIX) for word in words if word.startswith(PREFIX)]


def label_node(node: Any, labels: Sequence[str]) -> None:
    """Gives a NodeDef these labels and no others."""
    node.attr.pop("_class", None)
    if labels:
        node.attr["_class"].list.s.extend((PREFIX + label).encode() for label in labels)


def copied(graph: Any) -> Any:
    """A copy of a GraphDef."""
    copy = type(graph)()
    copy.CopyFrom(graph)
    return copy


def _step(graph: Any, cpus: int) -> dict[str, str]:
    """Runs all nodes; node -> device. Raises whatever the session raises."""
    import tensorflow as tf

    config = tf.compat.v1.ConfigProto(device_count={"CPU": cpus, "GPU": 0})
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.optimizer_options.opt_level = tf.compat.v1.OptimizerOptions.L0
    options, metadata = tf.compat.v1.RunOptions(output_partition_graphs=True), tf.compat.v1.RunMetadata()
    with tf.Graph().as_default() as imported, tf.compat.v1.Session(config=config) as session:
        tf.import_graph_def(graph, name="")
        for node in graph.node:  # the import has given nodes the device of the node that their label names
            imported.get_operation_by_name(node.name)._set_device(node.device)
        session.run(imported.get_operations(), options=options, run_metadata=metadata)
    names = {node.name for node in graph.node}
    found = {node.name: node.device for part in metadata.partition_graphs for node in part.node}
    return {name: device for name, device in found.items() if name in names}


def _try(graph: Any, cpus: int) -> tuple[dict[str, str], re.Match[str] | None]:
    """A step's devices, or the clash that the placer named."""
    import tensorflow as tf

    try:
        return _step(graph, cpus), None
    except tf.errors.InvalidArgumentError as error:
        if clash := _CLASH.search(str(error)):
            return {}, clash
        raise


def _before(graph: Any, node: str, cpus: int) -> Any:
    """The graph with the labels that the placer had read when `node` clashed.

    It reads them node by node, so those of later nodes go; and of the node's own labels the last ones, until it lands.
    """
    names = [part.name for part in graph.node]
    cut = copied(graph)
    for part in cut.node[names.index(node) + 1 :]:
        label_node(part, ())
    own = cut.node[names.index(node)]
    labels = labels_of(own)
    while labels and _try(cut, cpus)[1] is not None:
        labels = labels[:-1]
        label_node(own, labels)
    return cut


def _groups(graph: Any, cpus: int) -> tuple[Group, ...]:
    """The placer's groups, in the order of their first nodes."""
    groups: list[Group] = []
    for node in graph.node:
        if not any(node.name in group.nodes for group in groups):
            groups.append(_probe(graph, node.name, cpus))
    return tuple(groups)


def _probe(graph: Any, node: str, cpus: int) -> Group:
    """A node's group, read from the error that two nodes provoke which join it and ask for what does not exist.

    Two, so that the merged request is that of no single node: only then does the error list the group
    (`ColocationGraph::GetDevicesForNode`).
    """
    import tensorflow as tf

    probed = copied(graph)
    for name, request in _PROBES.items():
        label_node(probed.node.add(name=name, op="NoOp", device=request), [node])
    said = ""
    try:
        _step(probed, cpus)
    except tf.errors.InvalidArgumentError as error:
        said = str(error)
    found = re.search(r"requested_device_name_='([^']*)'", said)
    members = re.findall(r"^  (\S+) \(\w+\)", said.partition("Colocation members")[2], re.MULTILINE)
    if found is None or not members:
        raise RuntimeError(f"this TensorFlow describes a colocation group in other words: {said}")
    merged = found[1]
    for probe in _PROBES.values():
        merged = merged.replace(probe, "")
    return Group(tuple(name for name in members if name not in _PROBES), merged)

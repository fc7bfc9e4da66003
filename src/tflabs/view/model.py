"""The one node-and-edge model that every graph picture is drawn from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Role = Literal["op", "input", "constant", "send", "recv", "group", "missing"]
Kind = Literal["data", "control", "transfer"]


@dataclass(frozen=True)
class Node:
    """One box. `name` is unique in its model; `title` is what the box shows (the name, unless said otherwise)."""

    name: str
    op: str = ""
    device: str = ""
    role: Role = "op"
    title: str = ""
    lines: tuple[str, ...] = ()
    members: tuple[str, ...] = ()  # the nodes that a group stands for


@dataclass(frozen=True)
class Edge:
    """One arrow from the node `tail` to the node `head`. `count` tensors share it when it joins groups."""

    tail: str
    head: str
    kind: Kind = "data"
    label: str = ""
    count: int = 1


@dataclass(frozen=True)
class Cluster:
    """A titled box around nodes and other boxes."""

    name: str
    title: str
    nodes: tuple[str, ...] = ()
    clusters: tuple[Cluster, ...] = ()

    def walk(self) -> Iterator[Cluster]:
        """Yields this box and all boxes inside, outermost first."""
        yield self
        for inner in self.clusters:
            yield from inner.walk()


@dataclass(frozen=True)
class Model:
    """A graph to draw. `notes` are sentences about what the picture does not show."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    clusters: tuple[Cluster, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """How many nodes the graph has, those inside groups included."""
        return sum(len(node.members) or 1 for node in self.nodes)

    @property
    def edge_count(self) -> int:
        """How many edges the drawn arrows stand for."""
        return sum(edge.count for edge in self.edges)


def transfer_pairs(nodes: dict[str, tuple[str, str, str, str]]) -> list[tuple[str, str, str]]:
    """Pairs senders with receivers.

    Args:
        nodes: node name -> (role, tensor_name, send_device, recv_device) of the `_Send` and `_Recv` nodes.

    Returns:
        (send node, recv node, tensor_name) wherever the three parts of the rendezvous key agree
        (`Rendezvous::CreateKey`, core/framework/rendezvous.h), in the order of the senders.
    """
    receivers: dict[tuple[str, str, str], list[str]] = {}
    for name, (role, *key) in nodes.items():
        if role == "recv":
            receivers.setdefault((key[0], key[1], key[2]), []).append(name)
    pairs = []
    for name, (role, *key) in nodes.items():
        if role == "send":
            pairs += [(name, recv, key[0]) for recv in receivers.get((key[0], key[1], key[2]), [])]
    return pairs

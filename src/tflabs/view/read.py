"""Reads TensorFlow's graphs into `model.Model`. Imports nothing of TensorFlow: objects are told by what they carry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .model import Cluster, Edge, Model, Node, Role, transfer_pairs
from .text import listed, plural

_ROLES: dict[str, Role] = {
    "Placeholder": "input", "PlaceholderWithDefault": "input", "PlaceholderV2": "input", "_Arg": "input",
    "_DeviceArg": "input", "Const": "constant", "_HostConst": "constant", "_Send": "send", "_HostSend": "send",
    "_Recv": "recv", "_HostRecv": "recv",
}  # fmt: skip


def message_name(obj: object) -> str:
    """Returns the full name of a protocol buffer's type, such as "tensorflow.GraphDef", or ""."""
    return str(getattr(getattr(obj, "DESCRIPTOR", None), "full_name", ""))


def graph_def_of(obj: Any) -> Any:
    """Returns the GraphDef of a GraphDef, tf.Graph, FuncGraph or ConcreteFunction.

    Raises:
        TypeError: `obj` is none of these; a tf.function is told to be traced first.
    """
    if message_name(obj) == "tensorflow.GraphDef":
        return obj
    if hasattr(obj, "as_graph_def"):
        return obj.as_graph_def()
    if hasattr(obj, "get_concrete_function") and not hasattr(obj, "graph"):
        raise TypeError("a tf.function has one graph for each signature: pass f.get_concrete_function(...)")
    if hasattr(getattr(obj, "graph", None), "as_graph_def"):
        return obj.graph.as_graph_def()
    raise TypeError(f"expected a GraphDef, tf.Graph, ConcreteFunction or DOT text, found {type(obj).__name__}")


def read_nodes(nodes: Iterable[Any], prefix: str = "") -> Model:
    """Reads NodeDefs. Inputs that name no node become nodes with the role "missing"; a name defined twice gets "#2".

    Args:
        nodes: NodeDefs; inputs as GraphDef writes them (`node`, `node:1`, `^node`).
        prefix: put before every node's id (not its title), to keep several graphs in one model apart.
    """
    named, notes = list(_unique_names(nodes)), []
    ids = {name: prefix + name for name, _ in named}
    boxes = [_node(ids[name], name, node) for name, node in named]
    edges, missing = [], dict[str, None]()
    for name, node in named:
        for text in node.input:
            tail, index, control = parse_input(text)
            if tail not in ids:
                ids[tail] = prefix + tail
                missing[tail] = None
            tag = f":{index}" if index not in ("", "0") else ""
            edges.append(Edge(ids[tail], ids[name], "control" if control else "data", tag))
    boxes += [Node(ids[tail], role="missing", title=tail, lines=("not in this graph",)) for tail in missing]
    if missing:
        notes.append(f"Inputs that name no node of the graph: {', '.join(missing)}.")
    return Model(tuple(boxes), (*edges, *_transfers(named, ids)), notes=tuple(notes))


def parse_input(text: str) -> tuple[str, str, bool]:
    """Splits an input into node name, what follows its colon, and whether it is a control input."""
    if text.startswith("^"):
        return text[1:], "", True
    name, _, index = text.partition(":")
    return name, index, False


def _unique_names(nodes: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    seen: dict[str, int] = {}
    for node in nodes:
        seen[node.name] = seen.get(node.name, 0) + 1
        yield (node.name if seen[node.name] == 1 else f"{node.name}#{seen[node.name]}"), node


def _node(identity: str, name: str, node: Any) -> Node:
    calls = [value.func.name for value in node.attr.values() if value.WhichOneof("value") == "func"]
    lines = tuple(f"calls {function}" for function in sorted(calls) if function)
    return Node(identity, node.op, node.device, _ROLES.get(node.op, "op"), "" if identity == name else name, lines)


def _transfers(named: list[tuple[str, Any]], ids: dict[str, str]) -> list[Edge]:
    ends = {ids[name]: transfer_key(node) for name, node in named if _ROLES.get(node.op) in ("send", "recv")}
    return [Edge(send, recv, "transfer", tensor) for send, recv, tensor in transfer_pairs(ends)]


def transfer_key(node: Any) -> tuple[str, str, str, str]:
    """Returns (role, tensor_name, send_device, recv_device) of a `_Send` or `_Recv` NodeDef."""
    keys = ("tensor_name", "send_device", "recv_device")
    tensor, sender, receiver = (node.attr[key].s.decode() if key in node.attr else "" for key in keys)
    return str(_ROLES[node.op]), tensor, sender, receiver


def read_graph(graph_def: Any) -> Model:
    """Reads a GraphDef: its nodes, and each function that they call (also indirectly) in a box of its own."""
    top = read_nodes(graph_def.node)
    library = {function.signature.name: function for function in graph_def.library.function}
    called = _called(graph_def.node, library) or ([] if graph_def.node else list(library))
    parts = [read_function(library[name]) for name in called]
    notes = list(top.notes)
    unused = [name for name in library if name not in called]
    if unused:
        notes.append(f"Not drawn, because no node calls them: {plural(len(unused), 'function')} ({listed(unused, 5)}).")
    return Model(
        top.nodes + tuple(node for part in parts for node in part.nodes),
        top.edges + tuple(edge for part in parts for edge in part.edges),
        tuple(cluster for part in parts for cluster in part.clusters),
        tuple(notes),
    )


def _called(nodes: Iterable[Any], library: dict[str, Any]) -> list[str]:
    """Names of the functions that `nodes` reach, in the order in which they are met."""
    found: dict[str, None] = {}
    todo = [list(nodes)]
    while todo:
        for node in todo.pop():
            for name in _functions_of(node):
                if name in library and name not in found:
                    found[name] = None
                    todo.append(list(library[name].node_def))
    return list(found)


def _functions_of(node: Any) -> list[str]:
    """Functions named by a NodeDef: its func and list(func) attributes in order of attribute name, or its op itself."""
    names = [node.op]
    for key in sorted(node.attr):
        value = node.attr[key]
        names += [value.func.name, *(function.name for function in value.list.func)]
    return [name for name in names if name]


def read_function(function: Any) -> Model:
    """Reads a FunctionDef as one box. Its nodes' ids are "function/node"; arguments and results are nodes too.

    Inputs are written as FunctionDef does it (framework/function.proto): `argument`, `node:output:index`, `^node`.
    """
    name = function.signature.name
    prefix = f"{name}/"
    arguments = [Node(prefix + a.name, "argument", role="input", title=a.name) for a in function.signature.input_arg]
    inner = [_node(prefix + node.name, node.name, node) for node in function.node_def]
    returned = [a.name for a in function.signature.output_arg]  # `ret` is a map, whose order changes
    results = [Node(f"{prefix}return {key}", "result", title=key) for key in returned]
    wires = [(prefix + node.name, text) for node in function.node_def for text in node.input]
    wires += [(f"{prefix}return {key}", function.ret[key]) for key in returned]
    outputs: dict[str, set[str]] = {}
    for _, text in wires:
        tail, output, _ = parse_input(text)
        outputs.setdefault(tail, set()).add(output)
    edges = []
    for head, text in wires:
        tail, output, control = parse_input(text)
        tag = f":{output}" if len(outputs[tail] - {""}) > 1 else ""
        edges.append(Edge(prefix + tail, head, "control" if control else "data", tag))
    nodes = (*arguments, *inner, *results)
    box = Cluster(name, f"function {name}", tuple(node.name for node in nodes))
    return Model(nodes, tuple(edges), (box,))

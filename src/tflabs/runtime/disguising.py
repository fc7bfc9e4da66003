"""A graph whose structure is left and whose op types mean nothing to TensorFlow."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

    from tensorflow.core.framework.graph_pb2 import GraphDef


def disguise(graph: GraphDef, rng: random.Random) -> tuple[GraphDef, dict[str, str]]:
    """A copy of `graph` in which every op type has another name, and the map from real to disguised op types.

    Two nodes have the same op type afterwards exactly if they had before. Names, inputs, devices and attributes of the
    nodes stay. The disguised names look like `Q7`; none of them is an op type or a library function of `graph`.

    Only `graph.node` is renamed. The function library is copied as it is: a node that calls a library function
    (its op type is the function's name) is renamed like any other and no longer finds it.

    Args:
        graph: left as it is.
        rng: a `random.Random`; the same state gives the same names.
    """
    ops = sorted({node.op for node in graph.node})
    taken = {*ops, *(function.signature.name for function in graph.library.function)}
    free = [
        name for name in (f"Q{number}" for number in range(1, 4 * (len(ops) + len(taken)) + 1)) if name not in taken
    ]
    names = dict(zip(ops, rng.sample(free, len(ops)), strict=True))
    disguised = type(graph)()
    disguised.CopyFrom(graph)
    for node in disguised.node:
        node.op = names[node.op]
    return disguised, names

# %% [markdown]
# # Three ways to execute
#
# Of all the nodes of a graph, which run in a step, which run at the same time, and which on another machine? A step is
# **partial**: it runs what its fetches need. It is **concurrent**: what does not depend on each other may run at once.
# And it may be **distributed**: a part of it runs elsewhere, and tensors travel.
#
# At the end you can name the nodes of any step before it runs, you have built an executor with a ready queue and a pool
# of threads, you can say how much concurrency can give at most and how much of it a trace shows, and you can list, with
# their bytes, the tensors that cross between two servers.
#
# 125 minutes · 19 points · Before this lab: 2-7 (a graph with a backward half), 2-2 (one step of a graph) and 1-3 (one
# graph, four stages).
#
# When you have saved, `./tflabs check 3-1-execution` or Check on the start page grades your answers, also with tests
# that you do not see here.

# %% [markdown]
# ## What the last labs left
#
# Lab 2-7 made a graph with two halves: `gradients` added a backward half to what computes forward. A step that asks for
# the loss alone runs none of it, and a training step runs both. Nobody said so to the runtime. It reads it off the
# fetches.
#
# Two labs came near. In lab 1-3 you pruned a graph of data edges and split it by device; in lab 2-2 you ran a step
# node by node, backwards from the fetches, in one thread. Unit 3 goes inside the runtime. This lab opens it with the
# rule for all edges, an executor that works forwards with several threads, as TensorFlow's does, and real wires.

# %% nbgrader={"grade": false, "grade_id": "given-imports", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
from tflabs.runtime import quiet

with quiet():
    import tensorflow as tf

import contextlib
import heapq
import itertools
import math
import os
import random
import re
import socket
import subprocess
import sys
import threading
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait  # noqa: F401
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from tensorflow.core.framework.step_stats_pb2 import StepStats

from tflabs.runtime import answer_to, disguise, plain_config, trace_run, withheld

tf1 = tf.compat.v1
GraphDef, NodeDef = tf1.GraphDef, tf1.NodeDef
# What tests withhold: whatever runs a graph or makes one from a GraphDef.
TF_STEPS = (
    "tensorflow.compat.v1.Session",
    "tensorflow.compat.v1.InteractiveSession",
    "tensorflow.python.client.session.BaseSession",
    "tensorflow.compat.v1.Session.run",
    "tensorflow.import_graph_def",
    "tensorflow.python.framework.importer._import_graph_def_internal",
)


# %% [markdown]
# ## 1. Partial: which nodes run
#
# A graph of twenty nodes. It has what the rule has to deal with: a node with two outputs (`cut`), control edges (dashed
# in the picture), a placeholder that has a default (`p`), and nodes that nobody reads.

# %% nbgrader={"grade": false, "grade_id": "given-twenty-nodes", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def twenty_nodes() -> GraphDef:
    """Twenty nodes over float32 vectors of 4 elements; `x` is the only placeholder without a default. Given."""
    ops = tf.raw_ops
    with tf.Graph().as_default() as drawn:
        x = tf1.placeholder(tf.float32, [4], name="x")
        a = ops.Mul(x=x, y=tf.constant([0.5, -1.0, 2.0, 1.0], name="w"), name="a")
        pack = ops.Pack(values=[a, ops.Square(x=x, name="s")], name="pack")
        left, right = ops.Unpack(value=pack, num=2, name="cut")
        start = tf.constant(0.0, name="start")
        with tf.control_dependencies([start]):
            b = ops.AddV2(x=left, y=right, name="b")
        check = ops.Neg(x=tf.constant(1.0, name="one"), name="check")
        with tf.control_dependencies([check]):
            k = tf.constant(3.0, name="k")
        c = ops.Mul(x=b, y=k, name="c")
        d = ops.Neg(x=b, name="d")
        p = tf1.placeholder_with_default(ops.Tanh(x=right, name="e"), [4], name="p")
        h = ops.AddV2(x=c, y=p, name="h")
        y = ops.Sub(x=h, y=a, name="y")
        ops.Maximum(x=d, y=y, name="z")
        ops.Neg(x=k, name="n")
        with tf.control_dependencies([h]):
            ops.NoOp(name="log")
    return drawn.as_graph_def()


def ran_in(graph: GraphDef, fetches: list[str], feeds: dict[str, object]) -> list[str]:
    """Sorted names of the graph's nodes that ran in a step of TensorFlow's, from the step statistics. Given."""
    with tf.Graph().as_default():
        tf.import_graph_def(graph, name="")
        with tf1.Session(config=plain_config()) as session:
            ran = set(trace_run(session, fetches, feeds).nodes())
    return sorted(node.name for node in graph.node if node.name in ran)


# %% [markdown]
# Three steps. The first asks for everything. The second asks for `y:0` alone. The third asks for `z:0` and feeds a
# tensor in the middle, `h:0`. The statistics of each step (`RunMetadata.step_stats`) name the nodes that ran; the
# picture says in which of the steps a node was among them.

# %%
from tflabs import view

vector = np.float32([1, 2, 3, 4])
steps = [
    ran_in(twenty_nodes(), ["z:0", "n:0", "log"], {"x:0": vector}),
    ran_in(twenty_nodes(), ["y:0"], {"x:0": vector}),
    ran_in(twenty_nodes(), ["z:0"], {"x:0": vector, "h:0": vector}),
]
for number, names in enumerate(steps, 1):
    print(f"step {number}: {len(names)} nodes")
groups = {}
for node in twenty_nodes().node:
    among = [str(number) for number, names in enumerate(steps, 1) if node.name in names]
    if among:
        groups[node.name] = f"ran in {'step' if len(among) == 1 else 'steps'} {', '.join(among)}"
view.graph(twenty_nodes(), highlight=groups, title="Twenty nodes, three steps")

# %% [markdown]
# `x` ran in none: it is fed in all three. With `h:0` fed, `c` and `p` and what only they need are left out of the third
# step, but `b` runs, since `d` reads it. And `start` runs with `b` in every step, although `b` does not read it.
#
# A feed takes the place of a **tensor**. Whoever reads that tensor no longer needs the node. A control edge is another
# matter: it asks for the node to have **run**, and a fed value does not make a node run. Here `log` waits for `h` by a
# control edge, and `h:0` is fed:

# %%
for fetches, feeds in [
    (["log"], {"x:0": vector, "h:0": vector}),
    (["y:0"], {"x:0": vector, "cut:1": vector}),
    (["h:0"], {"h:0": vector}),
]:
    print(
        f"fetch {', '.join(fetches):<4} feed {', '.join(feeds):<11} ran: {' '.join(ran_in(twenty_nodes(), fetches, feeds))}"
    )

# %% [markdown]
# In the first line `h` runs, with all that it needs, and its value is thrown away. In the second, one output of `cut`
# is fed and the other is read, so `cut` runs. The third needs nothing.
#
# ### Exercise 1 · Which nodes run? (1 point)
#
# The graph is that of the picture. A step fetches `c:0` and feeds `b:0`, and nothing else. Set `RAN` to the set of
# the names of the nodes that run. Decide before you run anything. For the last of the three lines above it would be
# `set()`.

# %% nbgrader={"grade": false, "grade_id": "predict-nodes", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
# RAN = {"...", "..."}
### BEGIN SOLUTION
RAN = {"one", "check", "k", "c"}
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "predict-nodes-test", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
assert type(RAN) is set, f"RAN is a set of names; it is a {type(RAN).__name__}"
strange_names = sorted(map(repr, RAN - {node.name for node in twenty_nodes().node}))
assert not strange_names, f"RAN holds names of nodes of the graph; {', '.join(strange_names)} is none"
### BEGIN HIDDEN TESTS
real_ran = set(ran_in(twenty_nodes(), ["c:0"], {"b:0": np.float32([1, 1, 1, 1])}))
assert real_ran == RAN, (
    f"{len(RAN - real_ran)} of your names did not run, and {len(real_ran - RAN)} that ran are missing. Start at c: which "
    "edges lead into it, which of them carries the fed tensor, and what do the others lead to? A control edge counts."
)
### END HIDDEN TESTS

# %% [markdown] after_passing="predict-nodes"
# The feed cut off the whole upper half, `start` with it: it was there for `b`, and `b` does not run. `k` is a
# constant, and yet two nodes must run before it, because it waits for `check`. `d` reads the fed tensor, but nobody
# asked for it. TensorFlow rewrites the graph of the step in `RewriteGraphForExecution` (core/graph/subgraph.cc); the
# truth of the test was `RunMetadata.step_stats`, that is, what the executor noted node by node.

# %% [markdown]
# ### Exercise 2 · The rule (4 points)
#
# Write `prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef`: the nodes that run, each
# unchanged, in the order of `graph`. (`versions` may be copied or not.)
#
# - A feed is a tensor: `a:0` (also written `a`), `a:1`. A fetch is a tensor, written in the same way, or `^a`: the
#   operation `a`.
# - An input in `node.input` is `a`, `a:1` or, for a control edge, `^a`. A node that runs needs the nodes of its inputs.
# - An input that is a **fed tensor** needs nothing. Other outputs of the same node, and control edges from it, still
#   need the node. With one exception, which is TensorFlow's: a control edge from a node of type `Placeholder` whose
#   output 0 is fed needs nothing, for such a node could only fail. A `PlaceholderWithDefault` can run, and so is needed.
# - A fetched tensor that is fed needs nothing. A fetch `^a` always needs `a`, even a `Placeholder`.
# - A fetch or a feed whose node is not in the graph raises `ValueError` with the node's name in the message. (Whether
#   the index exists need not be checked.)
#
# There are no cycles. Nodes stand in any order, and a graph may be 3,000 nodes deep. In the tests all op types but
# `Placeholder` and `PlaceholderWithDefault` have other names, which TensorFlow does not know, and sessions are withheld.
#
# ```
# >>> [node.name for node in prune(twenty_nodes(), ["z", "^start"], ["h:0", "a", "b"]).node]
# ['start', 'd', 'y', 'z']
# ```
#
# (Exercise 3 does not hang on this one: further down, a given cell holds a pruner of ours. Write yours first.)
#
# <details><summary>Hint 1</summary>
#
# It is a walk backwards from the fetches. The question is asked at each *edge*, not at each node: does this edge still
# need the node at its other end? A fetch is one more edge.
# </details>
#
# <details><summary>Hint 2</summary>
#
# One function brings `a` and `a:0` to one spelling and leaves `^a` alone. One says whether an edge needs its node.
# Then: a list of names to visit, begun with the fetches; take one, and if it is new, add the nodes of those inputs
# that need theirs. At the end go through `graph.node` once, for the order.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-names", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def tensor_name(text: str) -> str:
    """One spelling for an input, a fetch or a feed: "a" is "a:0"; "a:1" and "^a" stay as they are. Given."""
    return text if text.startswith("^") or ":" in text else f"{text}:0"


def node_of(text: str) -> str:
    """The node of an input, a fetch or a feed: "a" of "a", "a:1" and "^a". Given."""
    return text.removeprefix("^").partition(":")[0]


def random_graph(rng: random.Random, size: int = 14) -> GraphDef:
    """A random graph of float32 vectors of 2 elements, its nodes in any order. Given; you need not read it.

    Const, Placeholder (`p0` and more), PlaceholderWithDefault, Neg, AddV2, Identity, Pack and Unpack (two outputs), NoOp;
    a third of the nodes have control inputs.
    """
    with tf.Graph().as_default() as drawn:
        tensors = [tf1.placeholder(tf.float32, [2], name="p0"), tf.constant([0.5, -1.0], name="c0")]
        for number in range(size):
            waits = rng.sample(drawn.get_operations(), rng.choice([0, 0, 0, 0, 1, 2]))
            with tf.control_dependencies(waits):
                tensors += _random_node(rng, tensors[-8:], str(number))
    nodes = list(drawn.as_graph_def().node)
    order = rng.sample(nodes, len(nodes)) if rng.random() < 0.5 else nodes
    return GraphDef(node=order, versions=drawn.as_graph_def().versions)


def _random_node(rng: random.Random, tensors: list[tf.Tensor], number: str) -> list[tf.Tensor]:
    """Add one node, or a Pack and the Unpack that reads it, and return the new tensors."""
    ops, name = tf.raw_ops, f"n{number}"
    kinds = ["Const", "Placeholder", "Default", "Neg", "Identity", "AddV2", "AddV2", "Unpack", "Unpack", "NoOp"]
    kind, first, second = rng.choice(kinds), rng.choice(tensors), rng.choice(tensors)
    if kind == "Const":
        return [tf.constant([rng.random(), rng.random()], tf.float32, name=name)]
    if kind == "Placeholder":
        return [tf1.placeholder(tf.float32, [2], name=f"p{number}")]
    if kind == "Default":
        return [tf1.placeholder_with_default(first, [2], name=name)]
    if kind == "Unpack":
        return list(ops.Unpack(value=ops.Pack(values=[first, second], name=f"q{number}"), num=2, name=name))
    if kind == "NoOp":
        ops.NoOp(name=name)
        return []
    if kind == "AddV2":
        return [ops.AddV2(x=first, y=second, name=name)]
    return [ops.Neg(x=first, name=name) if kind == "Neg" else ops.Identity(input=first, name=name)]


def tensors_of(graph: GraphDef) -> list[str]:
    """The tensors of a random graph that are vectors of 2 elements. Given."""
    outputs = {"Unpack": 2, "NoOp": 0, "Pack": 0}
    return [f"{node.name}:{index}" for node in graph.node for index in range(outputs.get(node.op, 1))]


def random_step(rng: random.Random, graph: GraphDef) -> tuple[dict[str, np.ndarray], list[str]]:
    """Feeds (all placeholders and up to 3 other tensors) and fetches: 1 or 2 tensors, and at times an operation. Given."""
    placeholders = {f"{node.name}:0" for node in graph.node if node.op == "Placeholder"}
    others = [name for name in tensors_of(graph) if name not in placeholders]
    fed = sorted(placeholders) + rng.sample(others, rng.randrange(4))
    feeds = {name: np.float32([rng.uniform(-1, 1), rng.uniform(-1, 1)]) for name in fed}
    operations = [f"^{node.name}" for node in graph.node if node.op != "Placeholder"]
    return feeds, rng.sample(others, rng.randrange(1, 3)) + rng.sample(operations, rng.choice([0, 0, 1]))


def spelled(rng: random.Random, names: list[str]) -> list[str]:
    """The same names; some of `n:0` spelled `n`. Given."""
    return [name.removesuffix(":0") if rng.random() < 0.4 else name for name in names]


def assert_kept(words: str, pruned: object, due: list[str]) -> None:
    """Assert that `pruned` is a GraphDef of the nodes `due`, in this order. Given, for the tests."""
    assert type(pruned) is GraphDef, f"{words}: prune returns a GraphDef, not a {type(pruned).__name__}"
    found = [node.name for node in pruned.node]
    assert sorted(found) == sorted(due), f"{words}: in TensorFlow {sorted(due)} run, you keep {sorted(found)}"
    assert found == due, f"{words}: the order of the graph is {due}, yours is {found}"


# %% nbgrader={"grade": false, "grade_id": "prune", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The nodes that run for these fetches when these tensors are fed, unchanged and in the order of `graph`.

    Raises:
        ValueError: the node of a fetch or of a feed is not in the graph; the message names it.
    """
    ### BEGIN SOLUTION
    nodes = {node.name: node for node in graph.node}
    for name in map(node_of, [*fetches, *feeds]):
        if name not in nodes:
            raise ValueError(f"the graph has no node {name!r}")
    fed = set(map(tensor_name, feeds))

    def frees(text: str) -> bool:
        """Whether a control edge from this node is satisfied by a feed."""
        return text.startswith("^") and nodes[node_of(text)].op == "Placeholder" and f"{node_of(text)}:0" in fed

    needed: set[str] = set()
    to_visit = [node_of(text) for text in fetches if tensor_name(text) not in fed]
    while to_visit:
        name = to_visit.pop()
        if name not in needed:
            needed.add(name)
            to_visit += [
                node_of(text) for text in nodes[name].input if tensor_name(text) not in fed and not frees(text)
            ]
    return GraphDef(node=[node for node in graph.node if node.name in needed], versions=graph.versions)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "prune-test", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
for asked, cut, due in [
    (["z", "^start"], ["h:0", "a", "b"], ["start", "d", "y", "z"]),
    (["^log"], ["c", "e:0", "h:0"], ["p", "h", "log"]),
    (["e:0"], ["x", "cut:0"], ["w", "a", "s", "pack", "cut", "e"]),
    (["h:0"], ["h"], []),
]:
    case = f"twenty_nodes(), fetch {asked}, feed {cut}"
    with withheld(*TF_STEPS):
        pruned = answer_to(case, (), prune, twenty_nodes(), list(asked), list(cut))
    assert_kept(case, pruned, [node.name for node in twenty_nodes().node if node.name in due])
for asked, cut in ((["ghost:0"], ["x"]), (["^ghost"], ["x"]), (["y"], ["x", "ghost:1"])):
    case = f"twenty_nodes(), fetch {asked}, feed {cut}"
    try:
        pruned = answer_to(case, (ValueError,), prune, twenty_nodes(), list(asked), list(cut))
    except ValueError as error:
        assert "ghost" in str(error), f"{case}: the ValueError must name ghost; it says {str(error)!r}"
    else:
        raise AssertionError(f"{case}: the graph has no node ghost, ValueError is due")


### BEGIN HIDDEN TESTS
def opaque(graph, rng):
    """The graph with other op types, but for the two kinds of placeholder, and a function that puts the types back."""
    hidden, _ = disguise(graph, rng)
    real = {node.name: node.op for node in graph.node}
    for node in hidden.node:
        if real[node.name] in ("Placeholder", "PlaceholderWithDefault"):
            node.op = real[node.name]

    def put_back(pruned):
        shown = GraphDef()
        shown.CopyFrom(pruned)
        for node in shown.node:
            node.op = real[node.name]
        return shown

    return hidden, put_back


def with_arguments(pruned, feeds):
    """The pruned graph, able to run alone: where it reads a fed tensor stands a placeholder. The new feeds, by name."""
    present, given = {node.name for node in pruned.node}, {}
    whole = GraphDef()
    whole.versions.producer = tf.version.GRAPH_DEF_VERSION
    for tensor in feeds:
        name = "fed_" + tensor.replace(":", "_")
        given[tensor] = name
        whole.node.add(name=name, op="Placeholder").attr["dtype"].type = tf.float32.as_datatype_enum
    for node in pruned.node:
        kept = whole.node.add()
        kept.CopyFrom(node)
        texts = [given.get(tensor_name(text), text) for text in node.input]
        gone = [text.startswith("^") and node_of(text) not in present for text in node.input]
        kept.input[:] = [f"^{given[node_of(t) + ':0']}" if out else t for t, out in zip(texts, gone, strict=True)]
    return whole, {f"{given[tensor]}:0": value for tensor, value in feeds.items()}


def session_run(graph, fetches, feeds):
    """Values of a step, and the names of the nodes that ran."""
    with tf.Graph().as_default():
        tf.import_graph_def(graph, name="")
        with tf1.Session(config=plain_config()) as runtime:
            step = trace_run(runtime, fetches, feeds)
    return step.values, set(step.nodes())


def two_outputs():
    """A chain with a knot: p → u (two outputs) → v, w; seen waits for p, late for u, default d for its own default."""
    with tf.Graph().as_default() as drawn:
        ops = tf.raw_ops
        p = tf1.placeholder(tf.float32, [2], name="p")
        u = ops.Unpack(value=ops.Pack(values=[p, p], name="q"), num=2, name="u")
        v, w = ops.Neg(x=u[0], name="v"), ops.Neg(x=u[1], name="w")
        d = tf1.placeholder_with_default(v, [2], name="d")
        for name, node in (("seen", p), ("late", u[0]), ("dflt", d)):
            with tf.control_dependencies([node]):
                ops.NoOp(name=name)
        ops.AddV2(x=d, y=w, name="z")
    return drawn.as_graph_def()


def check_pruning(words, graph, fetches, feeds, rng):
    """Ask for one step; TensorFlow's nodes of this step are due, and the pruned graph must give the same values."""
    hidden, put_back = opaque(graph, rng)
    before = {node.name: node.SerializeToString(deterministic=True) for node in hidden.node}
    words = f"{words}, fetch {fetches}, feed {sorted(feeds)}"
    with withheld(*TF_STEPS):
        pruned = answer_to(words, (), prune, hidden, spelled(rng, fetches), spelled(rng, list(feeds)))
    names = [fetch.removeprefix("^") for fetch in fetches]
    values, ran = session_run(graph, names, feeds)
    assert_kept(words, pruned, [node.name for node in graph.node if node.name in ran])
    for node in pruned.node:
        assert node.SerializeToString(deterministic=True) == before[node.name], f"{words}: {node.name} was changed"
    alone, given = with_arguments(put_back(pruned), feeds)
    again, _ = session_run(alone, [name for name in names if name not in feeds], given)
    wanted = [value for name, value in zip(names, values, strict=True) if name not in feeds]
    for value, want in zip(again, wanted, strict=True):
        assert (value is None) == (want is None), f"{words}: the pruned graph runs to another result"
        if want is not None:
            np.testing.assert_array_equal(value, want, f"{words}: the pruned graph, run alone", strict=True)


def check_deep_graph():
    """A chain of 3,000 nodes: deeper than Python's stack."""
    chain = GraphDef()
    for number in range(3000):
        chain.node.add(name=f"n{number}", op="Q1", input=[f"n{number - 1}"] if number else [])
    case = "a chain of 3,000 nodes, cut in the middle"
    length = len(answer_to(case, (), prune, chain, ["n2999"], ["n1500:0"]).node)
    assert length == 1499, f"{case}: 1,499 nodes run, you keep {length}"


def check_twenty_nodes():
    """The step of exercise 1, one more, and a placeholder that is fetched and fed: TensorFlow runs it, and it fails."""
    for asked, cut, due in [
        (["c:0"], ["b:0"], ["one", "check", "k", "c"]),
        (["h", "^n"], ["p:0", "b"], ["one", "check", "k", "c", "h", "n"]),
        (["^x"], ["x:0"], ["x"]),
        (["^x", "e"], ["e:0", "x"], ["x"]),
    ]:
        case = f"twenty_nodes(), fetch {asked}, feed {cut}"
        with withheld(*TF_STEPS):
            pruned = answer_to(case, (), prune, twenty_nodes(), list(asked), list(cut))
        assert_kept(case, pruned, [node.name for node in twenty_nodes().node if node.name in due])


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
check_twenty_nodes()
pair = np.float32([1, 2])
for fetches, feeds in [
    (["z:0", "^seen"], {"p:0": pair}),
    (["w:0"], {"u:1": pair, "p:0": pair}),
    (["z:0"], {"u:0": pair, "p:0": pair}),
    (["^late", "v:0"], {"u:0": pair, "p:0": pair}),
    (["^dflt"], {"d:0": pair, "p:0": pair}),
    (["z:0", "^v"], {"d:0": pair, "w:0": pair, "v:0": pair, "p:0": pair}),
    (["z:0"], {"z:0": pair}),
]:
    check_pruning("p → q → u, two outputs → v, w; d defaults to v; z = d + w", two_outputs(), fetches, feeds, rng)
check_deep_graph()
for case in range(8):
    graph = random_graph(rng)
    feeds, fetches = random_step(rng, graph)
    check_pruning(f"seed {seed}, case {case}", graph, fetches, feeds, rng)
### END HIDDEN TESTS

# %% [markdown] after_passing="prune"
# On random graphs with feeds anywhere you kept the nodes that TensorFlow's step statistics name, and what you kept
# ran alone to the same values. TensorFlow rewrites instead of asking: `FeedInputs` (core/graph/subgraph.cc) puts an
# `_Arg` where a tensor is fed and moves its readers over, with control edges only for a `Placeholder`; then
# `PruneForReverseReachability` (core/graph/algorithm.cc) drops what the fetches cannot reach. Ours asks at each edge,
# so that the nodes stay as they are.

# %% [markdown]
# ## 2. Concurrent: the ready queue
#
# Pruning says *which* nodes. In which order, and in which thread? TensorFlow's executor knows neither beforehand. It
# keeps a number for each node, the **pending count**: how many of its inputs have not come yet. When a node is done,
# the count of each reader goes down by one, and a reader whose count reaches 0 is **ready**. Ready nodes wait in a
# queue until a thread takes them (cheap ones may go on in the thread that made them ready). Nothing else decides what
# runs when.
#
# The statistics of a step say of each node when it became ready (`scheduled_nanos`), when it started and when it ended.
# Below, six products that do not depend on each other, first with one thread for nodes, then with two. TensorFlow's CPU
# executor does not note *which* thread ran a node, so the picture puts a node in the first row that is free.

# %%
SIZE = 300


def six_products() -> tf.Graph:
    """t0 to t5, each the tanh of a product of x with another matrix; y is their sum."""
    matrices = np.random.default_rng(0).normal(size=(6, SIZE, SIZE)).astype(np.float32) / SIZE
    with tf.Graph().as_default() as drawn:
        x = tf1.placeholder(tf.float32, [SIZE, SIZE], name="x")
        products = [
            tf.raw_ops.MatMul(a=x, b=tf.constant(w, name=f"w{i}"), name=f"m{i}") for i, w in enumerate(matrices)
        ]
        tf.raw_ops.AddN(inputs=[tf.raw_ops.Tanh(x=m, name=f"t{i}") for i, m in enumerate(products)], name="y")
    return drawn


def traced(graph: tf.Graph, fetch: str, feeds: dict[str, np.ndarray], inter_op: int):
    """RunMetadata of the fourth run of a step, with `inter_op` threads for nodes."""
    config = plain_config()
    config.use_per_session_threads = True  # else the pool of the first session of the process is used
    config.inter_op_parallelism_threads = inter_op
    with tf1.Session(graph=graph, config=config) as session:
        for _ in range(3):
            session.run(fetch, feeds)
        return trace_run(session, fetch, feeds).metadata


fed = {"x:0": np.ones((SIZE, SIZE), np.float32)}
one_thread, two_threads = (traced(six_products(), "y:0", fed, count) for count in (1, 2))
view.ready_queue(one_thread, title="One inter-op thread")

# %%
view.ready_queue(two_threads, title="Two inter-op threads")


# %% [markdown]
# With one thread, all six products are ready at once, one is taken and five wait; which is next is nobody's promise.
# A `tanh` is ready as soon as its product is done. `y` is ready when the last of its six inputs has come. On a
# machine that is busy with other things, two threads may show less overlap than you expect: what *may* run at once is
# a property of the graph, what *does* is not.
#
# ### Exercise 3 · Ready queue and pool (4 points)
#
# Write `execute(graph, feeds, fetches, workers=2) -> list`: one step, with a pool of `workers` threads.
#
# - `feeds`: tensor → `np.ndarray`, `fetches`: tensors (`a`, `a:0`, `a:1`) or operations (`^a`). The result has one
#   entry per fetch, in order, repeats included: the array, or `None` for an operation. A fetched tensor that is fed
#   gives the fed array. Names in feeds and fetches are spelled `a` or `a:0`, as it comes.
# - The nodes that run are those of exercise 2; `given_prune`, below, tells them. Each runs **once**, by
#   `KERNELS[node.op](node, inputs)` with the list of its data inputs; a kernel returns the list of its outputs. A fed
#   tensor keeps its fed value, also when its node runs for another reason.
# - A node is handed to the pool when all that it waits for is done, **and not before; and as soon as it is**: no node
#   waits for another that it does not depend on. Control edges count. A node does not wait for the node of a fed tensor
#   that it reads, even if that node runs.
# - At most `workers` kernels run at a time, and if `workers` nodes are ready, so many do run.
# - When a kernel raises, no node that becomes ready after that is started (one that was ready before may be), the
#   kernels that are running are waited for, and the first error is raised as it is. When `execute` comes back,
#   nothing of it runs any more.
# - `workers < 1` raises `ValueError`.
#
# No test asks for a node that is not in the graph. Sessions and `tf.import_graph_def` are withheld.
#
# ```
# >>> execute(twenty_nodes(), {}, ["k", "^check", "one:0"])
# [array(3., dtype=float32), None, array(1., dtype=float32)]
# ```
#
# Some of the given kernels watch your executor. What they go by (`group`, `roll`, …) are attributes of their nodes:
#
# | kernel | does |
# | --- | --- |
# | `Pass` | gives back its inputs, as `Identity` does; TensorFlow does not know it |
# | `Meet` | waits until `parties` nodes of its `group` run at the same moment, then gives back its inputs; after `patience` seconds it raises `threading.BrokenBarrierError` |
# | `Ticket` | takes the next number from `roll`: 0, 1, 2, … in the order in which such nodes run |
# | `Pause` | meets its group, waits for `seconds`, then takes a number from `roll` |
# | `Fail` | meets its group, if it has one, waits for `seconds`, if it has any, then raises `LookupError` |
#
# <details><summary>Hint 1</summary>
#
# Count edges, not nodes: a node that reads the same tensor twice has two edges from it, and both counts go down when it
# is done. Who counts down must not be disturbed by another thread that does the same: take a lock, or let one thread
# alone do the counting.
# </details>
#
# <details><summary>Hint 2</summary>
#
# Before anything starts: for each node the edges that wait for a node that runs too; from them the pending counts and,
# the other way round, the readers. A function `run(name)` in the pool calls the kernel, then under a lock stores the
# outputs, counts the readers down and submits those at 0. The main thread waits on an event that is set when the last
# node is done or one has failed. Decide which nodes are ready at the start before you submit the first of them.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-pruner", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def given_prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> dict[str, NodeDef]:
    """The nodes that run, by name: the rule of exercise 2, so that exercise 3 does not hang on it. Given."""
    nodes, fed = {node.name: node for node in graph.node}, {tensor_name(text) for text in feeds}
    marked: dict[str, NodeDef] = {}
    edges = deque(fetches)
    while edges:
        text = edges.popleft()
        node = nodes[node_of(text)]
        by_feed = text[0] == "^" and text not in fetches and node.op == "Placeholder" and f"{node.name}:0" in fed
        if tensor_name(text) not in fed and not by_feed and node.name not in marked:
            marked[node.name] = node
            edges += node.input
    return marked


# %% nbgrader={"grade": false, "grade_id": "given-kernels", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
Kernel = Callable[[NodeDef, list[np.ndarray]], list[np.ndarray]]
_meetings: dict[str, threading.Barrier] = {}
_rolls: dict[str, Iterator[int]] = {}
_at_tables = threading.Lock()


def constant_kernel(node: NodeDef, inputs: list[np.ndarray]) -> list[np.ndarray]:
    """Const: the value stands in the node."""
    return [tf.make_ndarray(node.attr["value"].tensor)]


def placeholder_kernel(node: NodeDef, inputs: list[np.ndarray]) -> list[np.ndarray]:
    """Placeholder: runs only if nobody fed it, and then fails."""
    raise tf.errors.InvalidArgumentError(None, None, f"You must feed a value for placeholder tensor {node.name!r}")


def meet_kernel(node: NodeDef, inputs: list[np.ndarray]) -> list[np.ndarray]:
    """Meet: returns its inputs when `parties` nodes of its `group` are here; at once, if it has none.

    Raises:
        threading.BrokenBarrierError: they were not, after `patience` seconds.
    """
    if "group" not in node.attr:
        return inputs
    group = node.attr["group"].s.decode()
    with _at_tables:
        barrier = _meetings.setdefault(group, threading.Barrier(node.attr["parties"].i))
    try:
        barrier.wait(node.attr["patience"].f)
    except threading.BrokenBarrierError:
        _meetings.pop(group, None)
        raise
    return inputs


def ticket_kernel(node: NodeDef, inputs: list[np.ndarray]) -> list[np.ndarray]:
    """Ticket: the next number of its `roll`, int64."""
    with _at_tables:
        return [np.array(next(_rolls.setdefault(node.attr["roll"].s.decode(), itertools.count())), np.int64)]


def linger(seconds: float) -> None:
    """Wait in a hundred turns: if all threads are held up for a while, the others get theirs before this one is done."""
    for _ in range(100):
        threading.Event().wait(seconds / 100)


def pause_kernel(node: NodeDef, inputs: list[np.ndarray]) -> list[np.ndarray]:
    """Pause: meets its group as Meet does, waits for `seconds`, then does as Ticket does."""
    meet_kernel(node, inputs)
    linger(node.attr["seconds"].f)
    return ticket_kernel(node, inputs)


def fail_kernel(node: NodeDef, inputs: list[np.ndarray]) -> list[np.ndarray]:
    """Fail: meets its group as Meet does, waits for `seconds`, if it has any, then fails."""
    meet_kernel(node, inputs)
    if "seconds" in node.attr:
        linger(node.attr["seconds"].f)
    raise LookupError(f"the kernel of {node.name} failed")


KERNELS: dict[str, Kernel] = {
    "Const": constant_kernel,
    "Placeholder": placeholder_kernel,
    "PlaceholderWithDefault": lambda node, inputs: [inputs[0]],
    "Identity": lambda node, inputs: [inputs[0]],
    "Pass": lambda node, inputs: [inputs[0]],
    "Neg": lambda node, inputs: [-inputs[0]],
    "Square": lambda node, inputs: [np.square(inputs[0])],
    "Tanh": lambda node, inputs: [np.tanh(inputs[0])],
    "AddV2": lambda node, inputs: [inputs[0] + inputs[1]],
    "Sub": lambda node, inputs: [inputs[0] - inputs[1]],
    "Mul": lambda node, inputs: [inputs[0] * inputs[1]],
    "Maximum": lambda node, inputs: [np.maximum(*inputs)],
    "Pack": lambda node, inputs: [np.stack(inputs)],
    "Unpack": lambda node, inputs: list(inputs[0]),
    "NoOp": lambda node, inputs: [],
    "Meet": meet_kernel,
    "Ticket": ticket_kernel,
    "Pause": pause_kernel,
    "Fail": fail_kernel,
}


def special_node(name: str, op: str, inputs: tuple[str, ...] = (), **attributes: object) -> NodeDef:
    """A node for one of the kernels that watch; attributes are str, int or float."""
    node = NodeDef(name=name, op=op, input=inputs)
    for key, value in attributes.items():
        if isinstance(value, str):
            node.attr[key].s = value.encode()
        elif isinstance(value, int):
            node.attr[key].i = value
        else:
            node.attr[key].f = value
    return node


def meeting(group: str, parties: int, patience: float) -> GraphDef:
    """`parties` nodes that must meet; the first is at the head of the graph, each other one behind a longer chain.

    `all` waits for all of them and gives the value of `c`.
    """
    graph = GraphDef(node=[NodeDef(name="c", op="Const")])
    graph.node[0].attr["value"].tensor.CopyFrom(tf.make_tensor_proto(np.float32([1, 2])))
    for number in range(parties):
        source = "c"
        for step in range(2 * number):
            graph.node.append(NodeDef(name=f"s{number}_{step}", op="Pass", input=[source]))
            source = f"s{number}_{step}"
        graph.node.append(
            special_node(f"m{number}", "Meet", (source,), group=group, parties=parties, patience=patience)
        )
    graph.node.append(NodeDef(name="all", op="Pass", input=["c", *(f"^m{number}" for number in range(parties))]))
    return graph


def within(seconds: float, words: str, function: Callable, *arguments: object) -> object:
    """What `function(*arguments)` returns or raises, in a thread of its own.

    Raises:
        AssertionError: it has not come back after `seconds`; the message begins with `words`.
    """
    came: list[tuple[str, object]] = []

    def call() -> None:
        try:
            came.append(("returned", function(*arguments)))
        except Exception as raised:
            came.append(("raised", raised))

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(seconds)
    assert came, f"{words}: execute has not come back after {seconds:g} seconds"
    [(how, what)] = came
    if how == "raised":
        raise what
    return what


def asked_step(
    function: Callable,
    words: str,
    graph: GraphDef,
    feeds: dict[str, np.ndarray],
    fetches: list[str],
    workers: int,
    due: tuple[type[Exception], ...] = (),
) -> object:
    """A step of the learner's `execute`, bounded in time; errors in `due` pass. Given, for the tests."""
    with withheld(*TF_STEPS):
        return within(8.0, words, answer_to, words, due, function, graph, feeds, fetches, workers)


def assert_values(words: str, got: object, want: list[np.ndarray | None]) -> None:
    """Assert that a step gave these values: arrays (or a NumPy scalar for shape ()), exactly, and None."""
    assert type(got) is list, f"{words}: execute returns a list, not a {type(got).__name__}"
    assert len(got) == len(want), f"{words}: {len(want)} fetches, found {len(got)} values: {got!r}"
    for place, (value, due) in enumerate(zip(got, want, strict=True)):
        if due is None:
            assert value is None, f"{words}: entry {place} is that of an operation: None is due, found {value!r}"
        else:
            told = f"{words}: entry {place} is wrong: due is {due!r}, found {value!r}"
            assert type(value) in (np.ndarray, due.dtype.type), told
            assert (value.dtype, value.shape, value.tolist()) == (due.dtype, due.shape, due.tolist()), told


# %% nbgrader={"grade": false, "grade_id": "executor", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def execute(
    graph: GraphDef, feeds: dict[str, np.ndarray], fetches: list[str], workers: int = 2
) -> list[np.ndarray | None]:
    """Run one step with `workers` threads; one entry per fetch, `None` for an operation `^a`.

    Raises:
        ValueError: `workers` is below 1.
        the first error that a kernel raised.
    """
    ### BEGIN SOLUTION
    if workers < 1:
        raise ValueError(f"at least one worker is due, not {workers}")
    values = {tensor_name(name): value for name, value in feeds.items()}
    fed, nodes = set(values), given_prune(graph, fetches, list(feeds))
    edges = {
        name: [node_of(text) for text in node.input if tensor_name(text) not in fed and node_of(text) in nodes]
        for name, node in nodes.items()
    }
    readers = defaultdict(list)
    for name, sources in edges.items():
        for source in sources:
            readers[source].append(name)
    pending, left = {name: len(sources) for name, sources in edges.items()}, set(nodes)
    lock, over, errors = threading.Lock(), threading.Event(), []

    def run(name: str) -> None:
        if errors:
            return
        node = nodes[name]
        try:
            outputs = KERNELS[node.op](node, [values[tensor_name(t)] for t in node.input if not t.startswith("^")])
        except Exception as error:
            errors.append(error)
            over.set()
            return
        with lock:
            for index, output in enumerate(outputs):
                values.setdefault(f"{name}:{index}", output)
            for reader in readers[name]:
                pending[reader] -= 1
                if pending[reader] == 0 and not over.is_set():
                    pool.submit(run, reader)
            left.remove(name)
            if not left:
                over.set()

    with ThreadPoolExecutor(workers) as pool:
        with lock:  # no count goes down before the first ready nodes are submitted
            for name in [name for name, count in pending.items() if count == 0]:
                pool.submit(run, name)
        if nodes:
            over.wait()
        with lock:
            over.set()
    if errors:
        raise errors[0]
    return [None if fetch.startswith("^") else values[tensor_name(fetch)] for fetch in fetches]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "executor-test", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
case = "the graph of section 1, fetch c, ^check, b, c:0, ^b with x and b:0 fed"
fed_there = {"x": np.float32([1, 2, 3, 4]), "b:0": np.float32([1, 1, 1, 1])}
got = asked_step(execute, case, twenty_nodes(), dict(fed_there), ["c", "^check", "b", "c:0", "^b"], 2)
assert_values(case, got, [np.float32([3] * 4), None, np.float32([1] * 4), np.float32([3] * 4), None])
for workers in (0, -1):
    case = f"workers={workers}"
    try:
        got = asked_step(execute, case, twenty_nodes(), {}, ["k"], workers, (ValueError,))
    except ValueError:
        pass
    else:
        raise AssertionError(f"{case}: ValueError is due, found {got!r}")
seed = random.SystemRandom().randrange(10**9)
case = "two Meet nodes, one behind a chain of two, on 2 workers: both must have been started before either ends"
try:
    got = asked_step(execute, case, meeting(f"two {seed}", 2, 3.0), {}, ["all"], 2, (threading.BrokenBarrierError,))
except threading.BrokenBarrierError:
    raise AssertionError(f"{case}; they did not meet within 3 seconds") from None
assert_values(case, got, [np.float32([1, 2])])


### BEGIN HIDDEN TESTS
def check_real_values():
    """Random graphs and steps; TensorFlow's values. Some Identity nodes are Pass, and some must meet."""
    seed = random.SystemRandom().randrange(10**6)
    rng = random.Random(seed)
    for case in range(8):
        graph = random_graph(rng)
        feeds, fetches = random_step(rng, graph)
        free = [name for name in tensors_of(graph) if name not in feeds and not name.startswith("p")]
        pairs = case % 4 == 0
        sources = rng.sample(free, 2) if len(free) > 1 else ["c0:0", "c0:0"]
        for number, source in enumerate(sources):
            graph.node.append(NodeDef(name=f"i{number}", op="Identity", input=[source]))
            graph.node[-1].attr["T"].type = tf.float32.as_datatype_enum
        graph.node.append(NodeDef(name="sum", op="AddV2", input=["i0", "i1"]))
        graph.node[-1].attr["T"].type = tf.float32.as_datatype_enum
        fetches = ["sum:0", *fetches, *rng.sample(["sum:0", "^sum", *feeds], 2)]
        mine = GraphDef()
        mine.CopyFrom(graph)
        for node in mine.node:
            if node.op == "Identity":
                node.op = "Pass"
            if pairs and node.name in ("i0", "i1"):
                node.CopyFrom(
                    special_node(node.name, "Meet", node.input, group=f"{seed} {case}", parties=2, patience=3.0)
                )
        words = f"seed {seed}, case {case}, fetch {fetches}, feed {sorted(feeds)}"
        asked = dict(zip(spelled(rng, list(feeds)), feeds.values(), strict=True))
        got = asked_step(execute, words, mine, asked, spelled(rng, fetches), 2 + case % 3)
        with tf.Graph().as_default():
            tf.import_graph_def(graph, name="")
            with tf1.Session(config=plain_config()) as runtime:
                want = runtime.run([fetch.removeprefix("^") for fetch in fetches], feeds)
        assert_values(words, got, want)


def check_numbers(words, graph, needed, roll, workers):
    """Nodes that take numbers: each runs once, none before what it waits for, none but the needed ones."""
    names, size = [node.name for node in needed], len(needed)
    got = asked_step(execute, words, graph, {}, names, workers)
    assert type(got) is list and len(got) == size, f"{words}: {size} values are due, found {got!r}"
    assert {type(value) for value in got} == {np.ndarray}, f"{words}: {size} arrays are due, found {got!r}"
    numbers = {name: int(value) for name, value in zip(names, got, strict=True)}
    assert sorted(numbers.values()) == list(range(size)), (
        f"{words}: the numbers 0 to {size - 1} are due, each once; found {sorted(numbers.values())}. A gap says that "
        "a node ran twice, or that one ran which nobody needs"
    )
    for node in needed:
        for text in node.input:
            assert numbers[node_of(text)] < numbers[node.name], (
                f"{words}: {node.name} has the input {text!r} and ran before it: as number {numbers[node.name]}, "
                f"{node_of(text)} as number {numbers[node_of(text)]}"
            )
    last = GraphDef(node=[special_node("last", "Ticket", (), roll=roll)])
    [after] = asked_step(execute, words, last, {}, ["last"], 1)
    assert int(after) == size, f"{words}: after the step, number {size} is due, found {after}: a node ran again"


def check_order():
    """A chain with a node that reads its head twice, its end once, and one that waits for its end; random graphs."""
    seed = random.SystemRandom().randrange(10**9)
    rng = random.Random(seed)
    edges = {"n0": (), "n1": ("n0",), "n2": ("n1",), "n3": ("n2",), "twice": ("n0", "n0", "n3"), "late": ("^n3",)}
    for workers in (1, 3):
        roll = f"chain {seed} {workers}"
        nodes = [special_node(name, "Ticket", inputs, roll=roll) for name, inputs in edges.items()]
        words = f"Ticket nodes with the inputs {edges}, workers={workers}"
        check_numbers(words, GraphDef(node=nodes), nodes, roll, workers)
    for case in range(4):
        roll, nodes = f"roll {seed} {case}", []
        for number in range(24):
            chosen = [f"n{rng.randrange(max(0, number - 6), number)}" for _ in range(rng.randrange(4)) if number]
            cut = rng.randrange(len(chosen) + 1)
            inputs = (*chosen[:cut], *dict.fromkeys(f"^{name}" for name in chosen[cut:]))
            nodes.append(special_node(f"n{number}", "Ticket", inputs, roll=roll))
        unread = [special_node(f"unread{i}", "Ticket", (rng.choice(nodes).name,), roll=roll) for i in range(4)]
        graph = GraphDef(node=rng.sample(nodes + unread, 28))
        words = f"seed {seed}, case {case}: 24 Ticket nodes that are needed, 4 that are not, workers={case + 1}"
        check_numbers(words, graph, nodes, roll, case + 1)


def check_fed_nodes():
    """A node that is fed and runs all the same: because another waits for it, because its other output is read."""
    roll = f"fed {random.SystemRandom().randrange(10**9)}"
    nodes = [special_node("after", "Ticket", ("^first",), roll=roll), special_node("first", "Ticket", (), roll=roll)]
    words = "first:0 is fed, and after waits for first by a control edge; both are Ticket nodes, workers=1"
    got = asked_step(execute, words, GraphDef(node=nodes), {"first:0": np.array(7, np.int64)}, ["after", "first"], 1)
    assert_values(words, got, [np.array(1, np.int64), np.array(7, np.int64)])
    pair = [np.float32([1, 2]), np.float32([3, 4])]
    graph = GraphDef(
        node=[
            NodeDef(name="p", op="Placeholder"),
            NodeDef(name="q", op="Pack", input=["p", "p"]),
            NodeDef(name="u", op="Unpack", input=["q"]),
            NodeDef(name="n", op="Neg", input=["u:1"]),
            NodeDef(name="z", op="AddV2", input=["n", "u"]),
        ]
    )
    words = "u has two outputs: u:0 is fed, u:1 is read; z = u:0 - u:1"
    got = asked_step(execute, words, graph, {"p": pair[0], "u": pair[1]}, ["z", "u:0", "u:1"], 2)
    assert_values(words, got, [pair[1] - pair[0], pair[1], pair[0]])
    together = {"group": roll, "parties": 2, "patience": 3.0}
    graph = GraphDef(
        node=[
            special_node("c", "Ticket", (), roll=f"{roll} c"),
            special_node("a", "Meet", ("c",), **together),
            special_node("b", "Meet", ("a",), **together),
        ]
    )
    words = "b reads a:0, which is fed; a runs, as ^a is fetched. Both are Meet nodes: b may not wait for a. workers=2"
    try:
        got = asked_step(execute, words, graph, {"a:0": pair[0]}, ["^a", "b"], 2, (threading.BrokenBarrierError,))
    except threading.BrokenBarrierError:
        raise AssertionError(f"{words}; they did not meet within 3 seconds") from None
    assert_values(words, got, [None, pair[0]])


def check_pool():
    """At most `workers` at a time, and so many if they are ready."""
    seed = random.SystemRandom().randrange(10**9)
    words = "four Meet nodes, workers=4"
    got = asked_step(execute, words, meeting(f"four {seed}", 4, 3.0), {}, ["all"], 4)
    assert_values(words, got, [np.float32([1, 2])])
    for parties, workers in ((2, 1), (3, 2)):
        words = f"{parties} Meet nodes that wait for each other, workers={workers}"
        graph = meeting(f"{parties} on {workers} {seed}", parties, 0.15)
        try:
            got = asked_step(execute, words, graph, {}, ["all"], workers, (threading.BrokenBarrierError,))
        except threading.BrokenBarrierError:
            pass
        else:
            raise AssertionError(f"{words}: they cannot meet, BrokenBarrierError is due; found {got!r}")


def check_failure():
    """A kernel fails beside two others that take their time, and one of them fails too. Nothing starts after that."""
    roll = f"failing {random.SystemRandom().randrange(10**9)}"
    together = {"group": roll, "parties": 3, "patience": 3.0}
    graph = GraphDef(
        node=[
            special_node("slow", "Pause", (), roll=roll, seconds=0.6, **together),
            special_node("broken", "Fail", (), **together),
            special_node("later", "Fail", (), seconds=0.8, **together),
            special_node("next", "Ticket", ("slow",), roll=roll),
            special_node("also", "Ticket", ("slow",), roll=roll),
            NodeDef(name="end", op="NoOp", input=["^later", "^next", "^also", "^broken"]),
        ]
    )
    words = (
        "workers=3; broken fails while slow and later run. slow runs for 0.6 seconds more, and two nodes read it; later "
        "runs for 0.8 seconds more, then fails too"
    )
    try:
        got = asked_step(execute, words, graph, {}, ["^end"], 3, (LookupError,))
    except LookupError as error:
        assert type(error) is LookupError, f"{words}: the kernel's LookupError is due, found {type(error).__name__}"
        assert str(error) == "the kernel of broken failed", f"{words}: the first error is due, as it is; found: {error}"
    else:
        raise AssertionError(f"{words}: the error of the kernel is due, execute returned {got!r}")
    [number] = asked_step(execute, words, GraphDef(node=[special_node("t", "Ticket", (), roll=roll)]), {}, ["t"], 1)
    assert int(number) == 1, (
        f"{words}: when execute comes back, slow must be done and its readers not started, for they became ready after the "
        f"error. So one number has been taken; found {number}"
    )
    words = "a failing node that nobody needs"
    graph = GraphDef(node=[special_node("t", "Ticket", (), roll=f"{roll} 2"), special_node("broken", "Fail", ("t",))])
    [number] = asked_step(execute, words, graph, {}, ["t"], 2)
    assert int(number) == 0, f"{words}: the node t takes number 0, found {number!r}"


check_order()
check_fed_nodes()
check_pool()
check_failure()
check_real_values()
### END HIDDEN TESTS

# %% [markdown] after_passing="executor"
# Your executor gave TensorFlow's values on random graphs, ran each node once and in an order that its edges allow, and
# used its threads. TensorFlow's is `ExecutorState` (core/common_runtime/executor.cc); its counts stand in
# `PendingCounts` (pending_counts.h), and `SimplePropagatorState` or, with loops, `PropagatorState` counts them down. It
# runs one of the ready nodes in the thread that made it ready and hands the expensive others to the pool. Ours hands
# over all, so that the queue of the pool is the whole ready queue.

# %% [markdown]
# ## 3. What concurrency can give
#
# More threads help until every thread waits for the same chain of nodes. So two numbers of a step matter: the
# **work**, which is the cost of all nodes together, and the **length**, which is the cost of the costliest path through
# the graph, its **critical path**. If the costs stay what they are, no number of threads beats the length, and with n
# threads a step takes at least work / n. The work divided by the length says how many threads can be busy on average,
# at most.
#
# A real step has costs: the microseconds of each node in its statistics.

# %% nbgrader={"grade": false, "grade_id": "given-costs", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def costs_of(metadata: tf1.RunMetadata) -> dict[str, int]:
    """Microseconds of each node of a traced step, by name; `_SOURCE` is left out. Given."""
    costs: dict[str, int] = Counter()
    for device in metadata.step_stats.dev_stats:
        for node in device.node_stats:
            if node.node_name != "_SOURCE":
                costs[node.node_name] += node.all_end_rel_micros
    return dict(costs)


def assert_bound(words: str, got: object, graph: GraphDef, costs: dict[str, int], length: int) -> None:
    """Assert that a bound is that of the graph, whose costliest path costs `length`."""
    assert type(got) is tuple and [type(part) for part in got] == [int, list, float], (
        f"{words}: a tuple of int, list and float is due, found {got!r}"
    )
    inputs = {node.name: {node_of(text) for text in node.input} for node in graph.node}
    assert got[0] == length, f"{words}: the costliest path costs {length}, found {got[0]}"
    path = got[1]
    assert [type(name) for name in path] == [str] * len(path), f"{words}: the path is a list of names, found {path!r}"
    strange = [name for name in path if name not in inputs]
    assert not strange, f"{words}: {strange} on the path are no nodes of the graph"
    for first, second in itertools.pairwise(path):
        assert first in inputs[second], f"{words}: on the path, {first} stands before {second} and is no input of it"
    total = sum(costs.get(name, 0) for name in path)
    assert total == length, f"{words}: the costs on the path {path} sum up to {total}, not {length}"
    work = sum(costs.get(name, 0) for name in inputs)
    ratio = work / length if length else 1.0
    assert math.isclose(got[2], ratio, rel_tol=1e-9), f"{words}: the ratio is {ratio}, found {got[2]}"


# %%
measured = costs_of(one_thread)
print("costliest nodes:", sorted(measured.items(), key=lambda item: -item[1])[:7])
print("all nodes together:", sum(measured.values()), "µs")


# %% [markdown]
# ### Exercise 4 · What concurrency can give (3 points)
#
# Write `bound(graph: GraphDef, costs: dict[str, int]) -> tuple[int, list[str], float]`. The three are:
#
# 1. the **length**: the largest sum of costs along a path. A path is a list of nodes, each of which is an input (data
#    or control) of the next. Costs are whole numbers, 0 or more; a node without a cost counts 0, and a cost whose
#    name is no node of the graph counts for nothing;
# 2. one **path** with that sum, as names from first to last. If there are several, any of them. It may begin or end
#    with nodes of cost 0, or stop short of them: only the sum and the edges are checked. With length 0 it may be
#    empty;
# 3. the **ratio**: the sum of the costs of all nodes of the graph, divided by the length; 1.0 if the length is 0.
#
# An input whose node is not in the graph (it was fed, and pruned) is no edge. An empty graph gives `(0, [], 1.0)`. A
# cycle raises `ValueError`. Nodes stand in any order, and a graph may be 3,000 nodes deep.
#
# ```
# >>> bound(twenty_nodes(), {"x": 1, "a": 5, "s": 2, "start": 20, "d": 9, "c": 1})
# (29, ['start', 'b', 'd'], 1.3103448275862069)
# ```
#
# <details><summary>Hint 1</summary>
#
# The costliest path that ends at a node is the node's cost and the costliest path that ends at one of its inputs. So
# visit a node after its inputs, which is what a ready queue does without any threads.
# </details>
#
# <details><summary>Hint 2</summary>
#
# Count the pending inputs, as in exercise 3, over the edges that lie in the graph. Take a ready node, set
# `ends[name] = cost + max(ends of its inputs, or 0)`, and remember which input it was. If some node never got ready,
# there is a cycle. The path is read from the costliest end backwards, and then turned round.
# </details>

# %% nbgrader={"grade": false, "grade_id": "critical-path", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def bound(graph: GraphDef, costs: dict[str, int]) -> tuple[int, list[str], float]:
    """Length of the costliest path, one such path, and the work divided by the length.

    Raises:
        ValueError: the graph has a cycle.
    """
    ### BEGIN SOLUTION
    names = {node.name for node in graph.node}
    inputs = {node.name: {node_of(text) for text in node.input} & names for node in graph.node}
    readers = defaultdict(list)
    for name, sources in inputs.items():
        for source in sources:
            readers[source].append(name)
    pending = {name: len(sources) for name, sources in inputs.items()}
    ready = [name for name, count in pending.items() if count == 0]
    ends: dict[str, int] = {}
    before: dict[str, str | None] = {}
    while ready:
        name = ready.pop()
        before[name] = max(inputs[name], key=ends.__getitem__, default=None)
        ends[name] = costs.get(name, 0) + ends.get(before[name], 0)
        for reader in readers[name]:
            pending[reader] -= 1
            if pending[reader] == 0:
                ready.append(reader)
    if len(ends) < len(names):
        raise ValueError(f"a cycle leads through some of {sorted(names - set(ends))}")
    path, name = [], max(ends, key=ends.__getitem__, default=None)
    length = ends.get(name, 0)
    while name is not None:
        path.append(name)
        name = before[name]
    work = sum(costs.get(name, 0) for name in names)
    return length, path[::-1], work / length if length else 1.0
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "critical-path-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
example_costs = {"x": 1, "a": 5, "s": 2, "start": 20, "d": 9, "c": 1}
case = f"twenty_nodes() with the costs {example_costs}"
assert_bound(case, answer_to(case, (), bound, twenty_nodes(), dict(example_costs)), twenty_nodes(), example_costs, 29)
case = "an empty graph"
got = answer_to(case, (), bound, GraphDef(), {"a": 3})
assert type(got) is tuple and got == (0, [], 1.0), f"{case}: (0, [], 1.0) is due, found {got!r}"


### BEGIN HIDDEN TESTS
def costliest(graph, costs):
    """The largest cost of a path, from the definition: every path is walked."""
    inputs = {node.name: {node_of(text) for text in node.input} for node in graph.node}
    readers = {name: [other for other, sources in inputs.items() if name in sources] for name in inputs}

    def onward(name):
        return costs.get(name, 0) + max(map(onward, readers[name]), default=0)

    return max(map(onward, inputs), default=0)


def random_costs_graph(rng):
    """Up to 12 nodes in any order, with data edges, second outputs, control edges, inputs from outside; and costs."""
    names = [f"n{number}" for number in range(rng.randrange(1, 13))]
    kinds = ("{}", "{}:1", "^{}")
    nodes = []
    for number, name in enumerate(names):
        chosen = rng.sample(names[:number], min(number, rng.randrange(4)))
        inputs = [rng.choice(kinds).format(source) for source in chosen + ["gone"] * (rng.random() < 0.2)]
        nodes.append(NodeDef(name=name, op="Q", input=sorted(inputs, key=lambda text: text[0] == "^")))
    costs = {name: rng.choice([0, 1, rng.randrange(60)]) for name in names if rng.random() < 0.85}
    return GraphDef(node=rng.sample(nodes, len(nodes))), costs | {"gone": 500, "_SOURCE": 70}


def wide_and_deep():
    """Three paths: the one with most nodes, the one that a greedy walk takes, and a costlier one over a control edge."""
    edges = {
        "a": [],
        "b": ["a"], "b2": ["b"], "b3": ["b2"], "b4": ["b3"],
        "g": ["a"], "g2": ["g"],
        "d": ["a:1"], "d2": ["^d"],
        "lone": [],
    }  # fmt: skip
    costs = {"a": 1, "b": 2, "b2": 2, "b3": 2, "b4": 2, "g": 9, "g2": 1, "d": 3, "d2": 30, "lone": 8}
    return GraphDef(node=[NodeDef(name=name, op="Q", input=inputs) for name, inputs in edges.items()]), costs


def check_cycles():
    for edges in (
        {"a": ["b"], "b": ["^a"]},
        {"a": ["a"]},
        {"s": [], "a": ["s", "c:1"], "b": ["a"], "c": ["b"], "e": ["c"]},
    ):
        case = f"a graph with a cycle, inputs {edges}"
        looped = GraphDef(node=[NodeDef(name=name, op="Q", input=inputs) for name, inputs in edges.items()])
        try:
            got = answer_to(case, (ValueError,), bound, looped, {"a": 1})
        except ValueError:
            pass
        else:
            raise AssertionError(f"{case}: a cycle is a ValueError, found {got!r}")


def check_bounds():
    seed = random.SystemRandom().randrange(10**6)
    rng = random.Random(seed)
    cases = [("wide and deep", *wide_and_deep())]
    cases += [(f"seed {seed}, case {case}", *random_costs_graph(rng)) for case in range(25)]
    with tf.Graph().as_default():
        tf.import_graph_def(twenty_nodes(), name="")
        with tf1.Session(config=plain_config()) as runtime:
            step = trace_run(runtime, ["z:0", "log"], {"x:0": np.ones(4, np.float32)})
    [partition] = step.partitions.values()
    cases.append(("the graph and the microseconds of a step of TensorFlow's", partition, costs_of(step.metadata)))
    for words, graph, costs in cases:
        got = answer_to(words, (), bound, graph, dict(costs))
        inputs = {node.name: list(node.input) for node in graph.node}
        assert_bound(f"{words}, inputs {inputs}, costs {costs}", got, graph, costs, costliest(graph, costs))
    chain = GraphDef()
    for number in reversed(range(3000)):
        chain.node.add(name=f"n{number}", op="Q", input=[f"n{number - 1}"] if number else [])
    words = "a chain of 3,000 nodes of cost 2, the last one first"
    ones = {node.name: 2 for node in chain.node}
    assert_bound(words, answer_to(words, (), bound, chain, dict(ones)), chain, ones, 6000)


check_cycles()
check_bounds()
### END HIDDEN TESTS

# %% [markdown] after_passing="critical-path"
# Your length was the largest over all paths, walked one by one, on random graphs and on the graph and microseconds of
# a real step. TensorFlow has no such call for a session's step. Its grappler has a relative, `VirtualScheduler`
# (core/grappler/costs/virtual_scheduler.cc), which plays the graph through with estimated costs and reports when the
# last node ends. Ours needs no schedule: one visit per node, in the order in which a ready queue with endless threads
# would take them.

# %% [markdown]
# What it says of the six products, if `bound` is written: work, length, and the most threads that can be busy. Then the
# picture of the same step, with the nodes of the path marked.

# %%
partition = next(iter(one_thread.partition_graphs))
try:
    length, path, ratio = bound(partition, measured)
except NotImplementedError:
    path = []
    print("bound is not written yet")
else:
    print(f"work {sum(measured.values())} µs, length {length} µs, ratio {ratio:.2f}; path {path}")
view.ready_queue(one_thread, marked=set(path), title="One thread: the critical path among the bars")


# %% [markdown]
# ## 4. Reading it off a trace
#
# How much of that does a step reach? A trace answers with three numbers: how many kernels ran at one moment at most,
# on how many threads (if the device notes them; a CPU does not), and how long anything ran at all. TensorFlow has two
# settings that bear on them.
#
# - `inter_op_parallelism_threads` is the size of the pool that takes nodes from the ready queue. It is one of the
#   session's if `use_per_session_threads` is set; else that of the first session of the process serves all.
# - `intra_op_parallelism_threads` is the size of another pool, which a single kernel may use to cut up its own work.
#   Devices of a process share it, so the first session decides for all; 0 stands for the number of processors.
#
# The second kind shows in no bar of a trace. Below, a step whose only costly node is one product, with one inter-op
# thread. The trace says that one kernel ran at a time. Linux says which threads of the process worked for it.

# %%
def clock_ticks() -> dict[str, int]:
    """Processor time of each thread of this process, in ticks, usually of 10 ms."""
    fields = {
        path.parent.name: path.read_text().rpartition(")")[2].split() for path in Path("/proc/self/task").glob("*/stat")
    }
    return {thread: int(values[11]) + int(values[12]) for thread, values in fields.items()}


config = plain_config()
config.use_per_session_threads, config.inter_op_parallelism_threads = True, 1
with tf.Graph().as_default():
    ones = tf.constant(np.ones((1200, 1200), np.float32))
    product = tf.raw_ops.MatMul(a=ones, b=ones, name="product")
    with tf1.Session(config=config) as session:
        session.run(product.op)
        before = clock_ticks()
        for _ in range(3):
            step = trace_run(session, product.op)
        ticks = {thread: count - before.get(thread, 0) for thread, count in clock_ticks().items()}
print("microseconds of the nodes:", costs_of(step.metadata))
print("processors:", os.cpu_count(), "· ticks of the threads that worked:", sorted(filter(None, ticks.values())))

# %% [markdown]
# Where there is more than one processor, several threads worked at one kernel; the trace showed one bar.
#
# Below is a recorded step over two CPU devices. It is kept here as a table, so that its answer is fixed. Each row is
# a `NodeExecStats`. It holds more times than one needs, in microseconds: `all_start_micros` is absolute, and what has
# `rel` in its name counts from there. Between `all_start` and `all_end` the executor has the node in hand; its
# `Compute` takes from `op_start` to `op_end`.

# %% nbgrader={"grade": false, "grade_id": "given-recorded", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
# device, node, scheduled, all_start, op_start_rel, op_end_rel, all_end_rel; the times from 1796063840000000 on
RECORDED = """
CPU:1 _SOURCE        585718 585725 0   0   0
CPU:1 d              585733 585736 0 172 174
CPU:1 c              585733 585914 0 165 166
CPU:0 _SOURCE        585136 585148 0   0   1
CPU:0 w              585149 585158 0   1   4
CPU:0 _arg_x_0_0     585162 585163 0   1   2
CPU:0 b              585165 585166 0 461 463
CPU:0 a              585165 585282 0 174 178
CPU:0 tanh           585629 585630 1  16  17
CPU:0 y              586082 586086 0   6   7
CPU:0 _retval_y_0_0  586093 586094 0   0   0
"""


def stats_of(rows: list[tuple]) -> StepStats:
    """StepStats from rows (device, thread, node, all_start, op_start_rel, op_end_rel, all_end_rel), in µs. Given.

    Each device has one entry in `dev_stats`; a device whose name ends in `*` has an entry for each row.
    """
    stats, entries = StepStats(), {}
    for device, thread, node, start, op_start, op_end, end in rows:
        name = device.removesuffix("*")
        if device.endswith("*") or name not in entries:
            entries[name] = stats.dev_stats.add(device=f"/job:localhost/replica:0/task:0/device:{name}")
        entries[name].node_stats.add(
            node_name=node,
            thread_id=thread,
            scheduled_micros=max(start - 3, 0),
            all_start_micros=start,
            op_start_rel_micros=op_start,
            op_end_rel_micros=op_end,
            all_end_rel_micros=end,
        )
    return stats


def recorded_stats() -> StepStats:
    """The recorded step. Given."""
    cells = [line.split() for line in RECORDED.strip().splitlines()]
    return stats_of([(row[0], 0, row[1], 1796063840000000 + int(row[3]), *map(int, row[4:])) for row in cells])


def assert_overlap(words: str, got: object, want: dict[str, int]) -> None:
    """Assert that the three numbers are these."""
    assert type(got) is dict, f"{words}: overlap returns a dict, not a {type(got).__name__}"
    assert sorted(map(str, got)) == ["busy", "most", "threads"], (
        f"{words}: the keys are most, threads, busy; found {list(got)}"
    )
    for key, due in want.items():
        assert type(got[key]) is int, f"{words}: {key!r} is an int, found {got[key]!r}"
        assert got[key] == due, f"{words}: {key!r} is {due}, found {got[key]}"


# %%
view.timeline(recorded_stats(), lanes="device", title="The recorded step")


# %% [markdown]
# ### Exercise 5 · Read a trace (3 points)
#
# Write `overlap(stats: StepStats) -> dict[str, int]` with three whole numbers:
#
# - `"most"`: the largest number of kernels that ran at one moment. Here a kernel counts as running for as long as the
#   executor has it in hand: from `all_start_micros`, for `all_end_rel_micros`. One that ends at t does not overlap one
#   that starts at t, and one of zero length counts for nothing.
# - `"threads"`: the number of different `thread_id`s on each device, summed over the devices. Here a kernel of zero
#   length counts like any other. A device may have more than one entry in `dev_stats`; it is one device all the same.
# - `"busy"`: the microseconds in which at least one kernel ran.
#
# Nodes named `_SOURCE` are left out of all three. Use the fields in microseconds; those in nanoseconds may be missing.
# Rows stand in any order. Statistics without a kernel give three zeros.
#
# ```
# >>> overlap(recorded_stats())
# {'most': 2, 'threads': 2, 'busy': 833}
# ```
#
# (The executor leaves `thread_id` at 0 for kernels on a CPU, so there `"threads"` says how many devices ran something.)
#
# <details><summary>Hint 1</summary>
#
# Between two neighbouring points in time at which something starts or ends, nothing changes. So it is enough to go
# through these points in order and to keep one number.
# </details>
#
# <details><summary>Hint 2</summary>
#
# For each kernel of positive length two events: `(start, +1)` and `(end, -1)`. Sort them; at equal times the ends
# must come first, which they do, as −1 < 1. Keep a running sum: its maximum is `"most"`, and a stretch of time before
# an event is busy if the sum was above 0.
# </details>

# %% nbgrader={"grade": false, "grade_id": "overlap", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def overlap(stats: StepStats) -> dict[str, int]:
    """Most kernels at one moment, number of threads over all devices, and busy microseconds of a step."""
    ### BEGIN SOLUTION
    kernels = [(d.device, n) for d in stats.dev_stats for n in d.node_stats if n.node_name != "_SOURCE"]
    events = []
    for _, node in kernels:
        if node.all_end_rel_micros > 0:
            events.append((node.all_start_micros, 1))
            events.append((node.all_start_micros + node.all_end_rel_micros, -1))
    running = most = busy = last = 0
    for time_of, change in sorted(events):
        if running:
            busy += time_of - last
        running, last = running + change, time_of
        most = max(most, running)
    return {"most": most, "threads": len({(device, node.thread_id) for device, node in kernels}), "busy": busy}
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "overlap-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
case = "the recorded step"
assert_overlap(case, answer_to(case, (), overlap, recorded_stats()), {"most": 2, "threads": 2, "busy": 833})
case = "two kernels, one after the other: a from 5 to 9, b from 9 to 12"
rows = [("CPU:0", 0, "a", 5, 1, 3, 4), ("CPU:0", 0, "b", 9, 0, 3, 3)]
assert_overlap(case, answer_to(case, (), overlap, stats_of(rows)), {"most": 1, "threads": 1, "busy": 7})
case = "no kernel"
assert_overlap(case, answer_to(case, (), overlap, StepStats()), {"most": 0, "threads": 0, "busy": 0})


### BEGIN HIDDEN TESTS
def counted(stats):
    """The three numbers, by counting at every microsecond."""
    rows = [(d.device, n) for d in stats.dev_stats for n in d.node_stats if n.node_name != "_SOURCE"]
    spans = [(n.all_start_micros, n.all_start_micros + n.all_end_rel_micros) for _, n in rows]
    first, last = min((start for start, _ in spans), default=0), max((end for _, end in spans), default=0)
    ticks = np.zeros(last - first, int)
    for start, end in spans:
        ticks[start - first : end - first] += 1
    threads = Counter(device for device, _ in {(device, n.thread_id) for device, n in rows})
    return {"most": int(max(ticks, default=0)), "threads": sum(threads.values()), "busy": int(np.count_nonzero(ticks))}


def random_rows(rng, most):
    """Up to `most` kernels on up to 3 devices; starts and ends often coincide."""
    devices = rng.sample(["CPU:0", "CPU:0*", "CPU:1", "CPU:1*", "GPU:0"], rng.randrange(1, 4))
    origin, rows = rng.choice([0, 1796063840000000]), []
    for number in range(rng.randrange(1, most + 1)):
        start, length = rng.randrange(40), rng.choice([0, 1, rng.randrange(12), rng.randrange(30)])
        began = rng.randrange(length + 1)
        ended = rng.randrange(began, length + 1)
        name = "_SOURCE" if rng.random() < 0.1 else f"n{number}"
        device, thread = rng.choice(devices), rng.choice([0, 0, 1, 7])
        rows.append((device, thread, name, origin + start, began, ended, 300 if name == "_SOURCE" else length))
    return rows


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
cases = [
    # a long kernel over several short ones that do not overlap each other
    [("CPU:0", 0, "long", 10, 0, 30, 30), *(("CPU:0", 1, f"n{i}", 12 + 4 * i, 0, 3, 3) for i in range(5))],
    # the same thread number on two devices; a third device with kernels of no length alone
    [("CPU:0", 3, "a", 0, 0, 5, 5), ("CPU:1", 3, "b", 0, 0, 5, 5), ("GPU:0", 3, "c", 2, 0, 0, 0)],
    # a device with two entries; the kernels are over before the executor is done with them
    [("CPU:0*", 0, "a", 0, 1, 2, 9), ("CPU:0*", 0, "b", 5, 0, 1, 6), ("CPU:0*", 0, "_SOURCE", 0, 0, 90, 99)],
    [("CPU:0", 0, "a", 7, 0, 0, 0), ("CPU:0", 0, "b", 7, 0, 0, 0)],
]
for number, rows in enumerate([*cases, *(random_rows(rng, 2 + size // 2) for size in range(25))]):
    words = f"seed {seed}, case {number}, rows (device, thread, node, all_start, op_start, op_end, all_end) {rows}"
    assert_overlap(words, answer_to(words, (), overlap, stats_of(rows)), counted(stats_of(rows)))
with tf.Graph().as_default():
    tf.import_graph_def(twenty_nodes(), name="")
    with tf1.Session(config=plain_config()) as runtime:
        live = trace_run(runtime, ["z:0", "log"], {"x:0": np.ones(4, np.float32)}).metadata.step_stats
words = "a step that TensorFlow has just run"
assert_overlap(words, answer_to(words, (), overlap, live), counted(live))
### END HIDDEN TESTS

# %% [markdown] after_passing="overlap"
# On random statistics and on a live step your numbers were those of counting at every microsecond. The records are
# made by `NodeExecStatsWrapper` and collected by `StepStatsCollector` (core/common_runtime/step_stats_collector.cc);
# the executor calls it between the stages of a node. Yours sorts the times and sweeps over them once, so a step of a
# minute costs no more than one of a millisecond.

# %% [markdown]
# The two traces of section 2 in these numbers, if `overlap` is written. The first number is the wall time of the step.
# With two threads the work tends to grow: kernels that run at once share the processors and the intra-op pool, so each
# takes longer. Costs measured with one thread are no promise for two. (`threads` stays 1: a CPU notes none.)

# %%
for words, metadata in (("one inter-op thread ", one_thread), ("two inter-op threads", two_threads)):
    spans = [
        (node.all_start_micros, node.all_start_micros + node.all_end_rel_micros)
        for device in metadata.step_stats.dev_stats
        for node in device.node_stats
        if node.node_name != "_SOURCE"
    ]
    took = max(end for _, end in spans) - min(start for start, _ in spans)
    try:
        print(f"{words}: {took:6} µs, work {sum(costs_of(metadata).values()):6} µs, {overlap(metadata.step_stats)}")
    except NotImplementedError:
        print(f"{words}: {took:6} µs, work {sum(costs_of(metadata).values()):6} µs; overlap is not written yet")

# %% [markdown]
# ## 5. Distributed: two server processes
#
# The third way. Two TensorFlow servers, each in a process of its own, form a cluster with the job `worker` and the
# tasks 0 and 1. A session in this notebook is a client of server 0. It hands over the whole graph; server 0 prunes it,
# places it, cuts it in two and gives server 1 its part. (The helper starts the servers when they are first needed, from
# the C++ library alone. They end with the notebook's kernel, even if that is killed: it holds the pipe that they read.)
#
# First the twenty nodes once more: every other one on task 0, the rest on task 1.

# %% nbgrader={"grade": false, "grade_id": "given-servers", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
TASKS = [f"/job:worker/replica:0/task:{task}/device:CPU:0" for task in (0, 1)]
# A process that becomes two, each with a server of TensorFlow's C++ library, without the Python package. Both live until
# their standard input ends, which the kernel of this notebook holds open.
SERVERS = """
import ctypes, os, sys
library, *definitions = sys.argv[1:]
c = ctypes.CDLL(library)  # before the fork, so once: loading starts no threads
mine = bytes.fromhex(definitions[0 if os.fork() else 1])
c.TF_NewStatus.restype = c.TF_NewServer.restype = ctypes.c_void_p
status = ctypes.c_void_p(c.TF_NewStatus())
server = ctypes.c_void_p(c.TF_NewServer(mine, ctypes.c_size_t(len(mine)), status))
if c.TF_GetCode(status) == 0:
    c.TF_ServerStart(server, status)
os.write(1, b"up\\n" if c.TF_GetCode(status) == 0 else b"no\\n")
sys.stdin.read()
os._exit(0)
"""


class Cluster(NamedTuple):
    """Two running servers."""

    target: str  # for a session: the master of server 0
    process: subprocess.Popen


@cache
def two_servers() -> Cluster:
    """Start two servers on free ports of this machine, at the first call. Given.

    Raises:
        RuntimeError: they did not come up, five times over.
    """
    [library] = Path(tf.__file__).parent.glob("libtensorflow_cc.so.*")
    for _ in range(5):
        with contextlib.ExitStack() as held:
            sockets = [held.enter_context(socket.socket()) for _ in range(2)]
            for one in sockets:
                one.bind(("localhost", 0))
            addresses = [f"localhost:{one.getsockname()[1]}" for one in sockets]
        cluster = tf.train.ClusterSpec({"worker": addresses}).as_cluster_def()
        definitions = [
            tf.train.ServerDef(cluster=cluster, job_name="worker", task_index=task, protocol="grpc") for task in (0, 1)
        ]
        process = subprocess.Popen(
            [sys.executable, "-c", SERVERS, str(library), *(one.SerializeToString().hex() for one in definitions)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        with contextlib.ExitStack() as ends:
            ends.callback(process.stdin.close)  # also if the wait is interrupted: no process stays behind
            if [process.stdout.readline() for _ in TASKS] == [b"up\n"] * 2:
                ends.pop_all()
                return Cluster(f"grpc://{addresses[0]}", process)
    raise RuntimeError("two servers could not be started on this machine")


def end_servers() -> None:
    """End the two servers, if they run; the next call of `two_servers` starts others. Given."""
    if two_servers.cache_info().currsize:
        process = two_servers().process
        process.stdin.close()
        process.wait()
    two_servers.cache_clear()


def described(drawn: tf.Graph) -> GraphDef:
    """The GraphDef of a graph, with two attributes more in each node. Given.

    `_output_shapes` (list of shapes) as `as_graph_def(add_shapes=True)` writes it, and beside it `_output_types` (list of
    dtypes), which is ours.
    """
    graph = drawn.as_graph_def(add_shapes=True)
    for node in graph.node:
        types = [tensor.dtype.as_datatype_enum for tensor in drawn.get_operation_by_name(node.name).outputs]
        node.attr["_output_types"].list.type.extend(types)
    return graph


def two_task_graph() -> tf.Graph:
    """A graph over the two tasks; the length of `some` is known only when it has run. Given."""
    ops = tf.raw_ops
    with tf.Graph().as_default() as drawn:
        with tf.device(TASKS[0]):
            r = ops.RandomUniform(shape=tf.constant([1000], name="shape"), dtype=tf.float32, name="r")
            double = ops.Cast(x=r, DstT=tf.float64, name="double")
        with tf.device(TASKS[1]):
            a, b = ops.Neg(x=r, name="a"), ops.Square(x=r, name="b")
            less = ops.Less(x=a, y=b, name="less")
            some = ops.Where(condition=less, name="some")
            ops.Neg(x=double, name="unused")
        with tf.device(TASKS[0]), tf.control_dependencies([a]):
            ops.Select(condition=less, x=double, y=double, name="y")
            ops.Neg(x=some, name="z")
    return drawn


# %%
spread = twenty_nodes()
for number, node in enumerate(spread.node):
    node.device = TASKS[number % 2]
runs = []
for graph, target in ((spread, two_servers().target), (twenty_nodes(), "")):
    with tf.Graph().as_default():
        tf.import_graph_def(graph, name="")
        with tf1.Session(target, config=plain_config()) as session:
            runs.append(trace_run(session, "y:0", {"x:0": vector}))
there, here = runs
print("server processes:", two_servers().process.pid, "and its child; this kernel:", os.getpid())
for task, device in enumerate(TASKS):
    entries = [entry for entry in there.metadata.step_stats.dev_stats if entry.device == device]
    ran = {node.node_name for entry in entries for node in entry.node_stats}
    print(f"ran on task {task}:", [node.name for node in spread.node if node.name in ran])
print("y there:", there.values, "y here:", here.values)

# %% [markdown]
# The same nodes ran as in step 2 of section 1, and gave the same. Each process ran its part with an executor of its
# own; what reads a tensor of the other side became ready when a `_Recv` had got it.
#
# Now what travels. A smaller graph with several types, and a step of it that fetches `y:0`. The runtime reports the
# partition graphs that the two processes ran.

# %%
with tf1.Session(two_servers().target, graph=two_task_graph(), config=plain_config()) as session:
    step = trace_run(session, "y:0")
view.partitions(step.partitions, title="One graph, two server processes, fetch y:0")


# %% [markdown]
# `r` has two readers on task 1 and is sent once. `double` stays at home: its reader on task 1 is not needed. A
# control edge across tasks is sent too, as an empty dummy tensor, which carries nothing but the news.
# `_send_y_0` is no crossing: it hands the fetched value to the session, from the client's device, which is on task 0,
# to itself. A value that is fetched from task 1 is brought to task 0 for that.
#
# ### Exercise 6 · What crosses the wire (4 points)
#
# Write `crossings(graph: GraphDef, fetch: str) -> list[tuple[str, int, int, int | None]]`: for each tensor that crosses
# from one task to another in a step that fetches the tensor `fetch` (`a`, `a:0` or `a:1`) and feeds nothing:
#
# `(name:index, from task, to task, bytes)`
#
# - Once for each tensor and task that it goes to, however many readers it has there.
# - Only what the fetch needs. The fetched tensor itself has one more reader: the session's client, on task 0.
# - Bytes: the number of elements times the size of one. Types and shapes stand in the node that makes the tensor, in
#   the attributes `_output_types` and `_output_shapes`, by output index. `None` if the rank or a dimension is
#   unknown.
# - Control edges keep the node that they come from needed; across tasks they are not listed.
# - The list is sorted.
# - A node that is needed and whose `device` names no task (`/task:` and a number) raises `ValueError` with the node's
#   name in the message. Nodes that are not needed may be anywhere. Tests use tasks 0 and 1.
#
# The op types in the tests are not TensorFlow's, and nodes stand in any order. There are no placeholders, and no type
# without a fixed size (such as string).
#
# ```
# >>> crossings(described(two_task_graph()), "y:0")
# [('less:0', 1, 0, 1000), ('r:0', 0, 1, 4000)]
# >>> crossings(described(two_task_graph()), "z")
# [('r:0', 0, 1, 4000), ('some:0', 1, 0, None)]
# ```
#
# <details><summary>Hint 1</summary>
#
# First the nodes, then the edges. The first half is exercise 2 without feeds. In the second, collect pairs of a tensor
# and the task of its reader in a set: that is where "once" comes from.
# </details>
#
# <details><summary>Hint 2</summary>
#
# `re.search(r"/task:(\d+)", node.device)`. For a tensor `a:1`, `node.attr["_output_types"].list.type[1]` is a number
# for `tf.as_dtype`, which has a `size`; `tf.TensorShape(node.attr["_output_shapes"].list.shape[1])` has
# `is_fully_defined()` and `num_elements()`.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-two-tasks", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def random_two_task_graph(rng: random.Random, size: int = 12) -> tf.Graph:
    """A random graph, each node on task 0 or 1; vectors of several types and lengths, some of unknown length. Given.

    Nodes `n0`, `n1`, … and their helpers. No Const but the shapes of random ops, on the task of their reader.
    """
    with tf.Graph().as_default() as drawn:
        known: list[tf.Tensor] = []
        for number in range(size):
            earlier = [node for node in drawn.get_operations() if not node.name.endswith("shape")]
            waits = rng.sample(earlier, 1) if earlier and rng.random() < 0.25 else []
            with tf.device(rng.choice(TASKS)), tf.control_dependencies(waits):
                known += _random_tensors(rng, known, f"n{number}")
    return drawn


def _random_tensors(rng: random.Random, known: list[tf.Tensor], name: str) -> list[tf.Tensor]:
    """Add a node of a random kind, and return its tensors."""
    ops = tf.raw_ops
    numeric = [tensor for tensor in known if tensor.dtype in (tf.float32, tf.float64, tf.float16)]
    fixed = [tensor for tensor in numeric if tensor.shape.is_fully_defined()]
    kind = rng.choice(["random", "Neg", "AddV2", "AddV2", "Less", "Cast", "Unpack", "Unpack", "Unique"])
    if kind == "random" or not fixed:
        with tf.control_dependencies(None):
            shape = tf.constant([rng.randrange(1, 9)], name=f"{name}_shape")
        dtype = rng.choice([tf.float32, tf.float64, tf.float16])
        return [ops.RandomUniform(shape=shape, dtype=dtype, name=name)]
    first = rng.choice(fixed)
    second = rng.choice([tensor for tensor in fixed if (tensor.dtype, tensor.shape) == (first.dtype, first.shape)])
    if kind == "Neg":
        return [ops.Neg(x=rng.choice(numeric), name=name)]
    if kind == "AddV2":
        return [ops.AddV2(x=first, y=second, name=name)]
    if kind == "Less":
        return [ops.Less(x=first, y=second, name=name)]
    if kind == "Cast":
        return [ops.Cast(x=first, DstT=rng.choice([tf.float32, tf.float64, tf.int32]), name=name)]
    if kind == "Unpack":
        return list(ops.Unpack(value=ops.Pack(values=[first, second], name=f"{name}p"), num=2, name=name))
    with tf.control_dependencies(None):
        single = ops.Cast(x=rng.choice(numeric), DstT=tf.float32, name=f"{name}c")
    return list(ops.Unique(x=single, name=name))


def assert_crossings(words: str, got: object, want: list[tuple[str, int, int, int | None]]) -> None:
    """Assert that these tensors cross, and that the answer is a list of plain tuples."""
    assert type(got) is list, f"{words}: crossings returns a list, not a {type(got).__name__}"
    for entry in got:
        assert type(entry) is tuple and len(entry) == 4, f"{words}: each entry is a tuple of four, found {entry!r}"
        assert [type(part) for part in entry[:3]] == [str, int, int], f"{words}: str, int, int are due, found {entry!r}"
        assert type(entry[3]) in (int, type(None)), f"{words}: bytes are an int or None, found {entry!r}"
    assert [entry[:3] for entry in got] == [entry[:3] for entry in want], (
        f"{words}: these cross: {[entry[:3] for entry in want]}, found {[entry[:3] for entry in got]}"
    )
    assert got == want, f"{words}: with their bytes these cross: {want}, found {got}"


# %% nbgrader={"grade": false, "grade_id": "wire", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def crossings(graph: GraphDef, fetch: str) -> list[tuple[str, int, int, int | None]]:
    """The tensors that cross between tasks in a step: name, from task, to task, bytes (None if unknown); sorted.

    Raises:
        ValueError: a needed node has no task; the message names it.
    """
    ### BEGIN SOLUTION
    nodes = {node.name: node for node in graph.node}

    def task_of(name: str) -> int:
        found = re.search(r"/task:(\d+)", nodes[name].device)
        if found is None:
            raise ValueError(f"node {name!r} has no task: {nodes[name].device!r}")
        return int(found[1])

    def size_of(tensor: str) -> int | None:
        name, _, index = tensor.partition(":")
        shape = tf.TensorShape(nodes[name].attr["_output_shapes"].list.shape[int(index)])
        dtype = tf.as_dtype(nodes[name].attr["_output_types"].list.type[int(index)])
        return shape.num_elements() * dtype.size if shape.is_fully_defined() else None

    tasks: dict[str, int] = {}
    to_visit = [node_of(fetch)]
    while to_visit:
        name = to_visit.pop()
        if name not in tasks:
            tasks[name] = task_of(name)
            to_visit += map(node_of, nodes[name].input)
    reads = {(tensor_name(fetch), 0)}
    for name, task in tasks.items():
        reads |= {(tensor_name(text), task) for text in nodes[name].input if not text.startswith("^")}
    return sorted(
        (tensor, tasks[node_of(tensor)], task, size_of(tensor))
        for tensor, task in reads
        if tasks[node_of(tensor)] != task
    )
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "wire-test", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
for fetch, want in [
    ("y:0", [("less:0", 1, 0, 1000), ("r:0", 0, 1, 4000)]),
    ("z", [("r:0", 0, 1, 4000), ("some:0", 1, 0, None)]),
    ("less", [("less:0", 1, 0, 1000), ("r:0", 0, 1, 4000)]),
    ("double:0", []),
]:
    case = f"the graph of the picture, fetch {fetch}"
    assert_crossings(case, answer_to(case, (), crossings, described(two_task_graph()), fetch), want)
homeless = described(two_task_graph())
for node in homeless.node:
    if node.name in ("less", "unused"):
        node.device = "/job:worker/replica:0/device:CPU:0"
case = "the same graph, in which less has no task"
try:
    got = answer_to(case, (ValueError,), crossings, homeless, "y:0")
except ValueError as error:
    assert "less" in str(error), f"{case}: the ValueError must name less; it says {str(error)!r}"
else:
    raise AssertionError(f"{case}: ValueError is due, found {got!r}")
case = "the same graph, in which unused, which is not needed, has no task"
for node in homeless.node:
    if node.name == "less":
        node.device = TASKS[1]
assert_crossings(case, answer_to(case, (), crossings, homeless, "y:0"), [("less:0", 1, 0, 1000), ("r:0", 0, 1, 4000)])


### BEGIN HIDDEN TESTS
def sent_in(session, fetch, names):
    """The tensors that the servers sent each other in a real step, from the partition graphs; without bytes."""
    found = []
    for partition in trace_run(session, fetch).metadata.partition_graphs:
        for node in partition.node:
            if node.op != "_Send" or node_of(node.input[0]) not in names:
                continue
            ends = [
                int(re.search(r"/task:(\d+)", node.attr[key].s.decode())[1]) for key in ("send_device", "recv_device")
            ]
            if ends[0] != ends[1]:
                found.append((tensor_name(node.input[0]), *ends))
    return sorted(found)


def two_outputs_cross():
    """Second outputs in both directions, of another type and shape than the first; r is needed there for a control edge."""
    ops = tf.raw_ops
    with tf.Graph().as_default() as drawn:
        with tf.device(TASKS[0]):
            r = ops.RandomUniform(shape=tf.constant([2], name="r_shape"), dtype=tf.float64, name="r")
            u = ops.Unpack(value=ops.Pack(values=[r, r, r], name="p"), num=3, name="u")
        with tf.device(TASKS[1]):
            v = ops.Unique(x=ops.Neg(x=u[1], name="n"), name="v")
            alone = ops.Square(x=r, name="alone")
        with tf.device(TASKS[0]), tf.control_dependencies([alone]):
            ops.Neg(x=v.idx, name="w")
    return drawn


def check_wire(words, drawn, fetch, rng):
    """Ask for one step; what two real servers send is due."""
    hidden, _ = disguise(described(drawn), rng)
    hidden = GraphDef(versions=hidden.versions, node=rng.sample(list(hidden.node), len(hidden.node)))
    words = f"{words}, fetch {fetch}"
    with withheld(*TF_STEPS):
        got = answer_to(words, (), crossings, hidden, spelled(rng, [fetch])[0])
    with tf1.Session(two_servers().target, graph=drawn, config=plain_config()) as runtime:
        sent = sent_in(runtime, fetch, {node.name for node in hidden.node})
        values = runtime.run([name for name, *_ in sent]) if sent else []
    shapes = [drawn.get_tensor_by_name(name).shape for name, *_ in sent]
    want = [
        (*entry, value.nbytes if shape.is_fully_defined() else None)
        for entry, value, shape in zip(sent, values, shapes, strict=True)
    ]
    assert_crossings(words, got, want)


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
for fetch in ("w:0", "v:0", "v:1", "u:1"):
    words = (
        "task 0: r, u (three outputs of r), w; task 1: v (two outputs) of u:1, alone of r; w reads v:1, waits for alone"
    )
    check_wire(words, two_outputs_cross(), fetch, rng)
for case in range(8):
    drawn = random_two_task_graph(rng)
    last = [f"n{number}" for number in range(12) if drawn.get_operation_by_name(f"n{number}").outputs]
    fetch = rng.choice(drawn.get_operation_by_name(rng.choice(last[-5:])).outputs).name
    check_wire(f"seed {seed}, case {case}", drawn, fetch, rng)
### END HIDDEN TESTS

# %% [markdown] after_passing="wire"
# On random graphs you named the tensors that two real servers sent each other, and their bytes. The cut is made by
# `Partition` (core/graph/graph_partition.cc), which keeps a table of what it has already sent where; server 1 asks
# for a tensor by a `RecvTensor` call (`RpcRendezvousMgr`, core/distributed_runtime/rpc/rpc_rendezvous_mgr.cc). The
# random graphs have hardly a Const: the runtime may compute with constants once the graph is cut, and then sends less
# than the cut says. Ours uses a set of pairs, which is that table.

# %% [markdown]
# ## 6. Check: your pieces against TensorFlow
#
# The servers have done their work. (Cells above that need them start them again.)

# %%
end_servers()


# %% [markdown]
# Pruned by your `prune`, run by your `execute`: 30 random graphs, and how long the critical path is, in nodes, against
# all that runs.

# %%
def checked(rng: random.Random, rounds: int = 30) -> str:
    ran, written, longest = 0, 0, 0
    for _ in range(rounds):
        graph = random_graph(rng, 20)
        feeds, fetches = random_step(rng, graph)
        pruned = prune(graph, fetches, list(feeds))
        mine = execute(graph, dict(feeds), fetches, workers=3)
        with tf.Graph().as_default():
            tf.import_graph_def(graph, name="")
            with tf1.Session(config=plain_config()) as session:
                theirs = session.run([fetch.removeprefix("^") for fetch in fetches], feeds)
        for value, want in zip(mine, theirs, strict=True):
            np.testing.assert_array_equal(value, want)
        ran, written = ran + len(pruned.node), written + len(graph.node)
        longest += bound(pruned, {node.name: 1 for node in pruned.node})[0]
    return (
        f"{rounds} random graphs, {written} nodes, of which {ran} ran; the values are TensorFlow's.\n"
        f"The critical paths have {longest} nodes together: with a cost of 1 each, {ran / longest:.1f} threads can be busy."
    )


try:
    print(checked(random.Random(31)))
except NotImplementedError:
    print("prune, execute or bound is not written yet")


# %% [markdown]
# ## 7. Play: how many threads?
#
# Random graphs, played with a virtual clock: a node costs as many microseconds as it was given, a ready node is taken
# in the order in which it became ready, and nothing else costs time. Move the sliders. The dashed line is the length
# of the critical path, the dotted one the work divided by the number of threads; marked bars are on the path.
# (Without your `bound` there is no path and the line lies at 0.)
#
# - Find a graph on which a third thread brings hardly anything. What is its ratio?
# - Find one whose schedule stays above both lines even with six threads. What does the queue show there?
# - Does one more thread ever make it slower?
#
# <details><summary>Answers</summary>
#
# Graph 13 has the ratio 1.5: more than 1.5 threads cannot be busy on average. Graphs 9 and 21 are above both lines:
# the next node of the path became ready while all threads were busy with others, and had to wait; nobody knew that it
# was on the path. And slower: in none of these graphs. But it happens. A node that is taken earlier can hold up a
# costlier one, and then a thread more makes the schedule longer: Graham's anomalies (1966).
# </details>

# %%
def virtual_graph(number: int) -> tuple[GraphDef, dict[str, int]]:
    """A random graph in layers, and a cost for each node."""
    rng = random.Random(number)
    graph, names = GraphDef(), []
    for index in range(22):
        chosen = rng.sample(names[-8:], min(len(names), rng.choice([0, 1, 1, 2, 2, 3])))
        graph.node.add(name=f"n{index}", op="Q", input=chosen)
        names.append(f"n{index}")
    return graph, {name: rng.choice([10, 20, 30, 80]) for name in names}


@cache
def schedule(number: int, threads: int) -> list[view.Turn]:
    """Play the graph with a virtual clock: events are ends of nodes, the ready queue is first in, first out."""
    graph, costs = virtual_graph(number)
    pending = {node.name: len(node.input) for node in graph.node}
    ready = deque((0, name) for name, count in pending.items() if count == 0)
    running, turns, now = [], [], 0
    while ready or running:
        while ready and len(running) < threads:
            since, name = ready.popleft()
            heapq.heappush(running, (now + costs[name], len(turns), name))
            turns.append(view.Turn(name, since, now, now + costs[name]))
        now, _, done = heapq.heappop(running)
        for node in graph.node:
            pending[node.name] -= list(node.input).count(done)
            if done in node.input and pending[node.name] == 0:
                ready.append((now, node.name))
    return turns


def path_of(number: int) -> list[str]:
    try:
        return bound(*virtual_graph(number))[1]
    except NotImplementedError:
        return []


view.schedule_player(schedule, path_of, most=6, graphs=30)

# %% [markdown]
# ## Read on
#
# | what | where in TensorFlow 2.21 |
# | --- | --- |
# | pruning | core/graph/subgraph.cc: `RewriteGraphForExecution`, `FeedInputs`; core/graph/algorithm.cc: `PruneForReverseReachability` |
# | the executor | core/common_runtime/executor.cc: `ExecutorImpl`, `ExecutorState` (`Process`, `NodeDone`, `ScheduleReady`) |
# | pending counts | core/common_runtime/pending_counts.h; simple_propagator_state.cc, propagator_state.cc (with loops) |
# | which nodes are worth a thread | core/common_runtime/executor.cc: `ExecutorImpl::KernelStats`, `IsExpensive` |
# | the pools | core/common_runtime/direct_session.cc: `GetOrCreateExecutors`, `SchedClosure`; process_util.cc: `NewThreadPoolFromSessionOptions` |
# | statistics | core/common_runtime/step_stats_collector.cc; python/client/timeline.py: `Timeline` makes a Chrome trace of them |
# | the cut | core/graph/graph_partition.cc: `Partition`; core/distributed_runtime/master_session.cc, graph_mgr.cc |
# | the wire | core/distributed_runtime/rpc/rpc_rendezvous_mgr.cc; grpc_worker_service.cc: `GrpcWorker::GrpcRecvTensorAsync` |
#
# What changed since 1.x: pruning by fetches is left to sessions. A `tf.function` fixes its outputs when it is traced,
# and whatever has an effect is tied to them by control edges (`AutomaticControlDependencies`,
# python/framework/auto_control_deps.py), so that every call of it runs the same nodes. The executor, its counts and
# its statistics have stayed; functions run through the same interface (`Executor`, core/common_runtime/executor.h).
# Lab 3-2 crosses the border between Python and all of this.

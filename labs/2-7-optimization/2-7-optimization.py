# %% [markdown]
# # Gradients and optimizers
#
# How does a graph that only computes forward become one that also learns? Nobody writes the backward half: a function
# walks over the graph and adds it, node for node. Then something has to turn gradients into new values, and it needs a
# memory of its own.
#
# At the end you have written that function, `gradients`, with a rule for each op, and it agrees with TensorFlow's on
# graphs that it has never seen. And you have written Momentum and Adam with the state that TensorFlow keeps for them,
# equal to TensorFlow's over 50 steps.
#
# 130 minutes · 22 points · Before this lab: 2-4 (variables, and the graph as a GraphDef) and 2-6 (the loop around a
# training step).
#
# When you have saved, `./tflabs check 2-7-optimization` or Check on the start page grades your answers, also with tests
# that you do not see here.

# %% [markdown]
# ## What the last labs left
#
# Lab 2-4 took a variable apart: a handle, a buffer in the session, nodes that assign and nodes that read. Lab 2-6 built
# the loop around a training step, which counts, saves and survives. In both the step itself was one name, `train_op`,
# and what it does was taken for granted. This lab opens it.
#
# It has two parts, and `minimize` calls one after the other. `compute_gradients` makes the backward half of the graph:
# exercises 1 to 5. `apply_gradients` adds the nodes that write into variables: exercises 6 to 8. Lab 1-1 made such an
# optimizer out of ordinary nodes; here are the two that nearly everybody uses.

# %% nbgrader={"grade": false, "grade_id": "given-imports", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
from tflabs.runtime import quiet

with quiet():
    import tensorflow as tf

import random
import re
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from typing import NamedTuple

import numpy as np
from tensorflow.python.framework import ops

from tflabs.runtime import answer_to, disguise, plain_config, withheld

tf1 = tf.compat.v1
GraphDef, NodeDef, AttrValue = tf1.GraphDef, tf1.NodeDef, tf1.AttrValue
# What tests withhold: whatever differentiates (or makes nodes, as that does), clips, optimizes, or runs an op.
TF_GRADIENTS = (
    "tensorflow.gradients",
    "tensorflow.compat.v1.gradients",
    "tensorflow.python.ops.gradients_util._GradientsHelper",
    "tensorflow.GradientTape",
    "tensorflow.python.eager.imperative_grad.imperative_grad",
    "tensorflow.autodiff.ForwardAccumulator",
    "tensorflow.Graph",
    "tensorflow.python.framework.ops.Graph._create_op_internal",
    "tensorflow.python.framework.ops._create_c_op",
)
TF_RULES = (
    "tensorflow.python.framework.ops.get_gradient_function",
    "tensorflow.python.framework.registry.Registry.lookup",
    "tensorflow.python.ops.math_grad._MatMulGrad",
    "tensorflow.python.ops.math_grad._MulGrad",
    "tensorflow.python.ops.math_grad._SubGrad",
    "tensorflow.python.ops.math_grad._AddGrad",
    "tensorflow.python.ops.math_grad._SquareGrad",
    "tensorflow.python.ops.math_grad._ReduceGradientArgs",
    "tensorflow.python.ops.nn_grad._ReluGrad",
)
TF_RUNS = (
    "tensorflow.python.pywrap_tfe.TFE_Py_FastPathExecute",
    "tensorflow.python.pywrap_tfe.TFE_Py_Execute",
    "tensorflow.python.pywrap_tfe.TFE_Py_ExecuteCancelable",
    "tensorflow.python.eager.execute.quick_execute",
    "tensorflow.python.eager.execute.execute_with_cancellation",
    "tensorflow.compat.v1.Session",
    "tensorflow.python.client.session.BaseSession",
    "tensorflow.python.client.session.BaseSession._do_call",
    "tensorflow.python.client.session.BaseSession._Callable.__call__",
    "subprocess.Popen",
    "multiprocessing.process.BaseProcess.start",
)
TF_CLIPS = (
    "tensorflow.clip_by_global_norm",
    "tensorflow.linalg.global_norm",
    "tensorflow.clip_by_norm",
    *TF_RUNS,
)
TF_OPTIMIZERS = (
    "tensorflow.compat.v1.train.Optimizer",
    "tensorflow.compat.v1.train.MomentumOptimizer",
    "tensorflow.compat.v1.train.AdamOptimizer",
    "tensorflow.keras.optimizers.Optimizer",
    "tensorflow.keras.optimizers.SGD",
    "tensorflow.keras.optimizers.Adam",
    *TF_RUNS,
)


def copied(graph: GraphDef) -> GraphDef:
    """A copy of a GraphDef."""
    made = GraphDef()
    made.CopyFrom(graph)
    return made


def source(text: str) -> str:
    """The node that a node's input names: `n`, `n:0` and the control input `^n` all give `n`."""
    return text.removeprefix("^").partition(":")[0]


def attr_value(value: object) -> AttrValue:
    """An attribute from a Python value: AttrValue, bool, int, DType, TensorShape, str or NumPy array."""
    if isinstance(value, AttrValue):
        return value
    if isinstance(value, np.ndarray | np.generic):
        return AttrValue(tensor=tf.make_tensor_proto(value))
    if isinstance(value, tf.DType):
        return AttrValue(type=value.as_datatype_enum)
    if isinstance(value, tf.TensorShape):
        return AttrValue(shape=value.as_proto())
    kinds = {bool: "b", int: "i", str: "s"}
    return AttrValue(**{kinds[type(value)]: value.encode() if isinstance(value, str) else value})


def append_node(graph: GraphDef, name: str, op: str, inputs: Sequence[str] = (), **attributes: object) -> str:
    """Append a NodeDef to `graph` and return its name; attribute values are converted by `attr_value`."""
    graph.node.add(
        name=name, op=op, input=inputs, attr={key: attr_value(value) for key, value in attributes.items()}
    )
    return name


def new_graph() -> GraphDef:
    """An empty GraphDef, marked as made by this version of TensorFlow."""
    made = GraphDef()
    made.versions.producer = tf.version.GRAPH_DEF_VERSION
    return made


# %% [markdown]
# ## 1. The backward half
#
# A graph of four nodes computes y = x·x·x + x. One call adds the gradient of y with respect to x. `tf1.gradients`
# returns a tensor, and it computes nothing: it makes nodes, under the name scope `gradients/`.

# %% nbgrader={"grade": false, "grade_id": "given-cube", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def cube_and_line() -> tf.Graph:
    """y = x·x·x + x of a float32 scalar."""
    with tf.Graph().as_default() as graph:
        x = tf1.placeholder(tf.float32, [], name="x")
        tf.add(x * x * x, x, name="y")
    return graph


# %%
cube = cube_and_line()
print("before:", [f"{op.type} {op.name}" for op in cube.get_operations()])
with cube.as_default():
    slope = tf1.gradients(cube.get_tensor_by_name("y:0"), cube.get_tensor_by_name("x:0"))[0]
print("after: ", len(cube.get_operations()), "nodes; the gradient is", slope.name)
with tf1.Session(graph=cube, config=plain_config()) as session:
    print("at x = 2 it is", session.run(slope, {"x:0": 2.0}), "and 3x² + 1 is", 3 * 2.0**2 + 1)

# %%
from tflabs import view

view.graph(cube_and_line(), direction="LR", title="y = x·x·x + x, before")

# %% [markdown]
# ### Exercise 1 · Where the paths meet (1 point)
#
# Each *input* that is x sends a gradient back to it. More than one arrives here, and they are added up by one `AddN`,
# whose output is dy/dx: it is the node that `slope.name` named.
#
# Set `SUMMANDS` to the number of tensors that this `AddN` adds, an `int`. For y = x·x it would be 2.

# %% nbgrader={"grade": false, "grade_id": "predict-fanout", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
# SUMMANDS = ...
### BEGIN SOLUTION
SUMMANDS = 4
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "predict-fanout-test", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
assert type(SUMMANDS) is int, f"SUMMANDS is an int; it is a {type(SUMMANDS).__name__}"
### BEGIN HIDDEN TESTS
fresh = cube_and_line()
with fresh.as_default():
    added = tf1.gradients(fresh.get_tensor_by_name("y:0"), fresh.get_tensor_by_name("x:0"))[0]
assert added.op.type == "AddN", "this TensorFlow adds in another way"
assert len(added.op.inputs) == SUMMANDS, (
    f"you said {SUMMANDS}; TensorFlow adds another number of tensors. Each input of a node that is x brings one gradient "
    "back: how often does x stand in the four nodes as an input?"
)
### END HIDDEN TESTS

# %% [markdown] after_passing="predict-fanout"
# x is an input four times: twice of `mul`, once of `mul_1`, once of `y`. Each brings one tensor, whatever the formula
# looks like, and the chain rule for several paths is a sum. `_AggregatedGrads` (python/ops/gradients_util.py) makes the
# `AddN`, one for each tensor with more than one gradient. That they can be added only when all of them are there
# decides the order of everything that follows.

# %% [markdown]
# Now the whole graph, its two halves side by side. A node and the gradient nodes that were made for it stand in one
# row. Read the right half from below: it begins with a `Fill` that makes ones, dy/dy. For each node that y was computed
# through, in the opposite order, a **gradient function** gets the gradient of the node's output and makes nodes for the
# gradients of its inputs. For `Mul` these are two more `Mul`; for this `AddV2` nothing is needed, both inputs get what
# came in. Dotted arrows are values of the forward half: `mul_grad` multiplies by x.

# %%
view.gradient_pairs(cube, "y", title="y = x·x·x + x, and its gradient")

# %% [markdown]
# ## 2. Which nodes, in which order?
#
# Not every node of a graph takes part. What y does not depend on has no gradient; what depends on none of the xs needs
# none. And a gradient function may be called only when the gradient of its output is complete, that is, when all nodes
# that read this output and take part have been dealt with.
#
# Tests need graphs, many of them. `random_net` makes them: MatMul, sums and products with broadcasting, fan-out, dead
# ends, control edges. **Every op has one output**, all of them are float64, and nodes stand in topological order: each
# behind everything that it names as an input. A node's inputs are written `n` or `n:0`, control inputs `^n` at the end.
# You need not read the cell.

# %% nbgrader={"grade": false, "grade_id": "given-nets", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
SHAPES = [(2, 3), (3, 2), (3,), (2, 1), (), (3, 3), (1, 3)]
UNARY = ["Tanh", "Relu", "Square", "Neg", "Identity"]


class Made(NamedTuple):
    """What random_net knows of a tensor: its shape, and a bound of its values."""

    shape: tuple[int, ...]
    bound: float


def random_net(seed: int, stops: bool = False) -> tuple[GraphDef, list[str]]:
    """A random graph whose last node is `y`, and the names of its placeholders; y depends on one of them at least.

    With `stops` there are StopGradient nodes in it.
    """
    rng = random.Random(seed)
    graph, known = new_graph(), {}
    xs = [f"x{number}" for number in range(rng.randint(2, 4))]
    for x in xs:
        known[x] = Made(rng.choice(SHAPES), 2.0)
        append_node(graph, x, "Placeholder", dtype=tf.float64, shape=tf.TensorShape(known[x].shape))
    for number in range(rng.randint(6, 13)):
        name = rng.choice(["n", "block/n", "a_grad/n"]) + str(number)
        known[name] = _random_node(rng, graph, name, known, stops)
    name, (shape, _) = list(known.items())[-1]
    summed = rng.random() < 0.5
    op, inputs = rng.choice([("Square", [name]), ("AddV2", [name, name])])
    end = append_node(graph, "end" if summed else "y", op, inputs, T=tf.float64)
    if summed:
        axes = append_node(graph, "all", "Const", dtype=tf.int32, value=np.arange(len(shape), dtype=np.int32))
        append_node(graph, "y", "Sum", [end, axes], T=tf.float64, Tidx=tf.int32, keep_dims=False)
    _spell(rng, graph)
    return graph, xs


def _random_node(rng: random.Random, graph: GraphDef, name: str, known: dict[str, Made], stops: bool) -> Made:
    """Append one node that reads tensors in `known`."""
    latest = list(known)[-4:]
    a = rng.choice(latest if rng.random() < 0.6 else list(known))
    op = rng.choice(["MatMul", "MatMul", "AddV2", "Sub", "Mul", "Sum", *UNARY, *(["StopGradient"] if stops else [])])
    shape, bound = known[a]
    if bound > 50:
        op = "Tanh"
    if op == "MatMul":
        return _matmul(rng, graph, name, known)
    if op in ("AddV2", "Sub", "Mul"):
        b = rng.choice([other for other in known if _fit(shape, known[other].shape)])
        append_node(graph, name, op, rng.sample([a, b], 2), T=tf.float64)
        high = known[b].bound
        return Made(np.broadcast_shapes(shape, known[b].shape), bound * high if op == "Mul" else bound + high)
    if op == "Sum":
        axes = rng.sample(range(len(shape)), rng.randint(0, len(shape)))
        keep = rng.random() < 0.5
        negative = np.array([axis - len(shape) * rng.randrange(2) for axis in axes], np.int32)
        append_node(graph, f"{name}/axes", "Const", dtype=tf.int32, value=negative)
        append_node(graph, name, op, [a, f"{name}/axes"], T=tf.float64, Tidx=tf.int32, keep_dims=keep)
        left = [(1 if axis in axes else size) for axis, size in enumerate(shape) if keep or axis not in axes]
        return Made(tuple(left), bound * float(np.prod([shape[axis] for axis in axes])))
    append_node(graph, name, op, [a], T=tf.float64)
    return Made(shape, {"Tanh": 1.0, "Square": bound**2}.get(op, bound))


def _fit(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Whether two shapes can be broadcast together."""
    return all(1 in pair or pair[0] == pair[1] for pair in zip(reversed(a), reversed(b), strict=False))


def _matmul(rng: random.Random, graph: GraphDef, name: str, known: dict[str, Made]) -> Made:
    """Append a MatMul of two matrices; a Tanh if there are none that fit."""
    matrices = [other for other in known if len(known[other].shape) == 2]
    choices = [
        (a, b, ta, tb)
        for a in matrices
        for b in matrices
        for ta in (False, True)
        for tb in (False, True)
        if known[a].shape[0 if ta else 1] == known[b].shape[1 if tb else 0]
    ]
    if not choices:
        a = rng.choice(list(known))
        append_node(graph, name, "Tanh", [a], T=tf.float64)
        return Made(known[a].shape, 1.0)
    a, b, ta, tb = rng.choice(choices)
    append_node(graph, name, "MatMul", [a, b], T=tf.float64, transpose_a=ta, transpose_b=tb)
    inner = known[a].shape[0 if ta else 1]
    rows, columns = known[a].shape[1 if ta else 0], known[b].shape[0 if tb else 1]
    return Made((rows, columns), inner * known[a].bound * known[b].bound)


def _spell(rng: random.Random, graph: GraphDef) -> None:
    """Write some inputs as `n:0`, and add control inputs from earlier nodes."""
    earlier: list[str] = []
    for node in graph.node:
        if node.op not in ("Placeholder", "Const"):
            for index, text in enumerate(node.input):
                node.input[index] = f"{text}:0" if rng.random() < 0.3 else text
            if rng.random() < 0.4:
                read = {source(text) for text in node.input}
                node.input.extend(f"^{name}" for name in rng.sample(earlier, rng.randint(1, 2)) if name not in read)
        earlier.append(node.name)


def diamond() -> GraphDef:
    """y = tanh(x) · (−x), with a dead end, a constant, and a control edge from the dead end."""
    graph = new_graph()
    append_node(graph, "x", "Placeholder", dtype=tf.float64, shape=tf.TensorShape([2]))
    append_node(graph, "c", "Const", dtype=tf.float64, value=np.array([1.0, 3.0]))
    append_node(graph, "left", "Tanh", ["x"], T=tf.float64)
    append_node(graph, "dead", "Square", ["left"], T=tf.float64)
    append_node(graph, "right", "Neg", ["x:0"], T=tf.float64)
    append_node(graph, "more", "AddV2", ["right", "c", "^dead"], T=tf.float64)
    append_node(graph, "y", "Mul", ["left", "more"], T=tf.float64)
    return graph


# %%
view.graph(diamond(), highlight={"y": "y", "x": "x"}, title="The graph of the example")


# %% [markdown]
# ### Exercise 2 · Which nodes, in which order? (3 points)
#
# Write `backward_order(graph: GraphDef, y: str, xs: list[str]) -> list[str]`. It returns the names of the nodes whose
# gradient function has to be called for the gradients of `y` with respect to the nodes `xs`, in an order in which they
# can be called.
#
# A node takes part if it lies on a path of **data edges** from some x to y: at least one edge leads to it from an x,
# and y is the node or is reached from it. So an x itself takes part only if it lies behind another x: `xs` may be any
# nodes of the graph. Control edges carry no value and no gradient. A node that is listed stands before everything it
# reads. There may be several such orders; any is right. If y depends on no x, the list is empty. A name, y or an x,
# that is not in the graph raises `KeyError`.
#
# In tests all op types have strange names. They do not matter here.
#
# ```
# >>> backward_order(diamond(), "y", ["x"])
# ['y', 'more', 'right', 'left']
# >>> backward_order(diamond(), "y", ["x", "right"])     # behind x there is right
# ['y', 'more', 'right', 'left']
# >>> backward_order(diamond(), "y", ["right"])
# ['y', 'more']
# ```
#
# <details><summary>Hint 1</summary>
#
# Two walks. Forward from the xs: which nodes are reached? Backward from y: from which nodes is y reached? And the graph
# already comes in an order that you can use.
# </details>
#
# <details><summary>Hint 2</summary>
#
# Since nodes are in topological order, one pass over `graph.node` finds what is reached: a node is, if one of its data
# inputs is an x or was reached. One pass over `reversed(graph.node)` finds what leads to y, and can write the list at
# the same time.
# </details>

# %% nbgrader={"grade": false, "grade_id": "order", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def backward_order(graph: GraphDef, y: str, xs: list[str]) -> list[str]:
    """The nodes whose gradient function is called for d y / d xs, each before everything that it reads.

    Args:
        graph: its nodes are in topological order.

    Raises:
        KeyError: `y` or one of `xs` is no node of the graph.
    """
    ### BEGIN SOLUTION
    inputs = {node.name: [source(text) for text in node.input if not text.startswith("^")] for node in graph.node}
    for name in (y, *xs):
        if name not in inputs:
            raise KeyError(name)
    reached: set[str] = set()
    for name, read in inputs.items():
        if any(one in reached or one in xs for one in read):
            reached.add(name)
    leads, order = {y}, []
    for name in reversed(inputs):
        if name in leads and name in reached:
            leads.update(inputs[name])
            order.append(name)
    return order
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "order-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
for wanted_xs, due in [(["x"], ["left", "more", "right", "y"]), (["x", "right"], ["left", "more", "right", "y"]), (["right"], ["more", "y"])]:
    nodes_due = answer_to(f"diamond, xs {wanted_xs}", (), backward_order, diamond(), "y", list(wanted_xs))
    assert type(nodes_due) is list, f"backward_order returns a list, not a {type(nodes_due).__name__}"
    assert sorted(nodes_due, key=str) == due, f"diamond, xs {wanted_xs}: the nodes are {due} in some order, found {nodes_due}"
    assert nodes_due[0] == "y", f"diamond, xs {wanted_xs}: y stands before everything it reads; found {nodes_due}"
    assert due == ["more", "y"] or nodes_due.index("more") < nodes_due.index("right"), (
        f"diamond, xs {wanted_xs}: 'more' reads 'right', so it stands before it; found {nodes_due}"
    )
for asked in [("z", ["x"]), ("y", ["x", "z"])]:
    try:
        refused = answer_to(f"diamond, y and xs are {asked}", (KeyError,), backward_order, diamond(), *asked)
    except KeyError:
        pass
    else:
        raise AssertionError(f"there is no node 'z' in the diamond: {asked} must raise KeyError; {refused!r} came back")


### BEGIN HIDDEN TESTS
def called_by_tensorflow(cases, probe):
    """For each (graph, y, xs) the nodes whose gradient function tf.gradients calls, in the order of the calls."""
    calls, found = [], []

    @tf.RegisterGradient(probe)
    def note(op, *gradients):
        calls.append(op.name)
        return ops.gradient_registry.lookup(op.type)(op, *gradients)

    with tf.Graph().as_default() as real:
        for number, (graph, y, xs) in enumerate(cases):
            marked = copied(graph)
            for node in marked.node:
                if node.op not in ("Const", "Placeholder"):
                    node.attr["_gradient_op_type"].s = probe.encode()
            tf.import_graph_def(marked, name=f"g{number}")
            tensors = [real.get_tensor_by_name(f"g{number}/{name}:0") for name in (y, *xs)]
            calls.clear()
            found.append((tf1.gradients(tensors[0], tensors[1:]), [name.removeprefix(f"g{number}/") for name in calls]))
    return found


def triangles():
    """left → right, and y reads both: right has to come before left, whichever of them y names first."""
    for order_of_two in (["left", "right"], ["right", "left"]):
        graph = new_graph()
        append_node(graph, "x", "Placeholder", dtype=tf.float64, shape=tf.TensorShape([4]))
        append_node(graph, "left", "Tanh", ["x"], T=tf.float64)
        append_node(graph, "right", "Neg", ["left"], T=tf.float64)
        append_node(graph, "y", "Mul", order_of_two, T=tf.float64)
        yield graph, "y", ["x"]


seed = random.SystemRandom().randrange(10**9)
rng = random.Random(seed)
cases = [*triangles()]
for number in range(14):
    graph, xs = random_net(seed + number)
    inner = [node.name for node in graph.node if node.op not in ("Const", "Placeholder")]
    some = rng.sample(xs, rng.randint(1, len(xs))) + (rng.sample(inner, rng.randint(1, 2)) if number % 2 else [])
    rng.shuffle(some)
    cases.append((graph, "y", some))
answers = []
for graph, y, some in cases:
    hidden, _ = disguise(graph, rng)
    with withheld(*TF_GRADIENTS):
        answers.append(answer_to(f"seed {seed}: y is {y}, xs {some}", (), backward_order, hidden, y, list(some)))
truths = called_by_tensorflow(cases, f"Probe{seed}")
for (graph, _, some), mine, (gradients_there, calls) in zip(cases, answers, truths, strict=True):
    edges = {node.name: [source(text) for text in node.input if text[0] != "^"] for node in graph.node}
    where = f"seed {seed}: xs {some}, data inputs {edges}"
    due = sorted(calls) if any(gradient is not None for gradient in gradients_there) else []
    assert type(mine) is list, f"{where}: a list is due, found a {type(mine).__name__}"
    assert {type(name) for name in mine} <= {str}, f"{where}: names are due, found {mine!r}"
    assert len(mine) == len(set(mine)), f"{where}: a node is listed twice in {mine}"
    assert sorted(mine) == due, f"{where}: too many: {sorted(set(mine) - set(due))}, missing: {sorted(set(due) - set(mine))}"
    place = {name: index for index, name in enumerate(mine)}
    for reader, read in edges.items():
        late = [name for name in read if name in place and reader in place and place[name] < place[reader]]
        assert not late, f"{where}: {reader} reads {late[0]}, so it has to stand before it; found {mine}"
# What y does not depend on, alone.
lone, _ = disguise(diamond(), rng)
for asked in [("more", ["dead"]), ("x", ["x"]), ("c", ["x"])]:
    mine = answer_to(f"diamond, y and xs are {asked}", (), backward_order, lone, *asked)
    assert mine == [], f"the diamond, y and xs are {asked}: nothing takes part (a control edge carries nothing), found {mine!r}"
### END HIDDEN TESTS

# %% [markdown] after_passing="order"
# Your list and TensorFlow's calls were compared on random graphs: a probe was registered as the gradient function of
# every node and noted who was called. TensorFlow counts instead of sorting: `_PendingCount`
# (python/ops/gradients_util.py) counts for each op how many readers between xs and y will deliver a gradient, and an op
# is ready at zero. The topological order of a GraphDef saves us the counting.

# %% [markdown]
# ## 3. One rule an op
#
# A gradient function knows one op and nothing of the graph around. It is given the node and the name of the gradient of
# its output, and it *adds nodes* that compute the gradients of its inputs. TensorFlow keeps such functions in a
# registry, under the op's name. Ours is `RULES`, filled by the decorator `rule`, and we call the functions rules.
#
# The nodes are added by a function `add` that a rule is given: `add(op, inputs, **attributes)` appends a node and
# returns its name. An input is a name or a NumPy array; an array becomes a `Const`. Attributes are those of the op,
# each as AttrValue, `bool`, `int` or DType; `node.attr["T"]` is the node's own type. The next cell has four rules. Read
# the first three of them; `Sum` undoes what it removed and spreads the gradient out. From `Case` on the cell is for
# tests; you need not read it.

# %% nbgrader={"grade": false, "grade_id": "given-rules", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
Add = Callable[..., str]
Rule = Callable[[Add, NodeDef, str], list[str | None]]
RULES: dict[str, Rule] = {}


def rule(op: str) -> Callable[[Rule], Rule]:
    """Register a rule for an op. (TensorFlow's RegisterGradient refuses a name that is taken; ours replaces.)"""

    def register(function: Rule) -> Rule:
        RULES[op] = function
        return function

    return register


def type_of(node: NodeDef) -> int:
    """The type of a node whose output has the type of its inputs, as the number in the enum DataType; 0 if it has none."""
    return next((node.attr[key].type for key in ("T", "dtype") if key in node.attr), 0)


class Builder:
    """A copy of a GraphDef to which nodes are added. All their names begin with `grad/`."""

    def __init__(self, graph: GraphDef) -> None:
        self.graph = copied(graph)
        self._types = {node.name: type_of(node) for node in graph.node}

    def dtype_of(self, name: str) -> tf.DType:
        """The type of a node's output, for a node whose output has the type of its inputs."""
        return tf.as_dtype(self._types[source(name)])

    def add(self, op: str, inputs: Sequence[str | np.ndarray], **attributes: object) -> str:
        """Append a node and return its name."""
        return self._add("grad", op, inputs, attributes)

    def under(self, name: str) -> Add:
        """A function like `add` that puts its nodes under `grad/NAME_grad/`, as TensorFlow does it."""
        return lambda op, inputs, **attributes: self._add(f"grad/{name}_grad", op, inputs, attributes)

    def _add(self, scope: str, op: str, inputs: Sequence[str | np.ndarray], attributes: dict[str, object]) -> str:
        names = [each if isinstance(each, str) else self._const(scope, np.asarray(each)) for each in inputs]
        made = append_node(self.graph, self._free(f"{scope}/{op}"), op, names, **attributes)
        self._types[made] = type_of(self.graph.node[-1])
        return made

    def _const(self, scope: str, value: np.ndarray) -> str:
        name = self._free(f"{scope}/Const")
        append_node(self.graph, name, "Const", dtype=tf.as_dtype(value.dtype), value=value)
        self._types[name] = type_of(self.graph.node[-1])
        return name

    def _free(self, name: str) -> str:
        """The name, with a number behind it if it is taken."""
        numbered = (f"{name}_{number}" if number else name for number in range(len(self._types) + 1))
        return next(each for each in numbered if each not in self._types)


@rule("Identity")
def identity_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = x: the gradient is handed on, and no node is needed."""
    return [gradient]


@rule("Neg")
def neg_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = −x."""
    return [add("Neg", [gradient], T=node.attr["T"])]


@rule("Tanh")
def tanh_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = tanh x, dy/dx = 1 − y². The op TanhGrad computes gradient · (1 − y²) from the node's own output."""
    return [add("TanhGrad", [node.name, gradient], T=node.attr["T"])]


@rule("Sum")
def sum_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """Each summand gets the gradient of its sum. The second input, the axes, has none."""
    x, axes = node.input[:2]
    kind, whole = node.attr["T"], {"T": tf.int32}
    shape = add("Shape", [x], T=kind, out_type=tf.int32)
    rank = add("Size", [shape], out_type=tf.int32, **whole)
    positive = add("FloorMod", [add("AddV2", [axes, rank], **whole), rank], **whole)
    ones = add("OnesLike", [positive], **whole)
    every = add("Range", [np.int32(0), rank, np.int32(1)], Tidx=tf.int32)
    kept = add("DynamicStitch", [every, positive, shape, ones], N=2, **whole)  # the shape with 1 for each summed axis
    reshaped = add("Reshape", [gradient, kept], T=kind, Tshape=tf.int32)
    return [add("BroadcastTo", [reshaped, shape], T=kind, Tidx=tf.int32), None]


class Case(NamedTuple):
    """One node to differentiate: its op and attributes, its inputs, and the gradient of its output."""

    op: str
    inputs: list[np.ndarray]
    gradient: np.ndarray
    attributes: dict[str, bool]


def case_graph(cases: Sequence[Case]) -> GraphDef:
    """A graph with, for case k, the node `node_k` that reads `a_k` (and `b_k`), and `gradient_k`. Nodes have a control input."""
    graph = new_graph()
    append_node(graph, "first", "NoOp")
    for k, case in enumerate(cases):
        for letter, value in zip(["gradient", "a", "b"], [case.gradient, *case.inputs], strict=False):
            append_node(graph, f"{letter}_{k}", "Const", dtype=tf.float64, value=value)
        names = [f"a_{k}", f"b_{k}:0"][: len(case.inputs)]
        append_node(graph, f"node_{k}", case.op, [*names, "^first"], T=tf.float64, **case.attributes)
    return graph


def _whose(told: str, cases: Sequence[Case]) -> str:
    """Which rule an error of TensorFlow is about, from the first node_k in it."""
    number = re.search(r"node_(\d+)", told)
    if number is None:
        return "the nodes that your rules add"
    case = cases[int(number[1])]
    return f"what the rule for {case.op}{case.attributes or ''} adds, inputs of shapes {[v.shape for v in case.inputs]}"


def assert_plain(nodes: Iterable[NodeDef], where: str) -> None:
    """Fail if an added node calls a function, and so could let TensorFlow differentiate. For tests."""
    for node in nodes:
        called = [key for key, value in node.attr.items() if value.WhichOneof("value") == "func" or value.list.func]
        assert not called, f"{where}: {node.name} is a {node.op}, which calls a function (attribute {called[0]!r}); use plain ops"
        assert "PyFunc" not in node.op, f"{where}: {node.name} is a {node.op}, which calls Python; use plain ops"


def by_rules(rules: dict[str, Rule], cases: Sequence[Case], withhold: Sequence[str]) -> list[list[np.ndarray | None]]:
    """The gradients of each case's inputs, by the rule for its op, computed by TensorFlow. For tests."""
    graph = case_graph(cases)
    by_name = {node.name: node for node in graph.node}
    builder, answers = Builder(graph), []
    for k, case in enumerate(cases):
        where = f"{case.op}{case.attributes or ''} with inputs of shapes {[value.shape for value in case.inputs]}"
        before = len(builder.graph.node)
        with withheld(*withhold):
            names = answer_to(where, (), rules[case.op], builder.under(f"node_{k}"), by_name[f"node_{k}"], f"gradient_{k}")
        assert_plain(builder.graph.node[before:], where)
        assert type(names) is list, f"{where}: a rule returns a list, not a {type(names).__name__}"
        assert len(names) == len(case.inputs), f"{where}: one entry for each data input is due, found {names!r}"
        kinds = {type(name) for name in names}
        assert kinds <= {str, type(None)}, f"{where}: entries are names or None, found {names!r}"
        answers.append(names)
    fetches = [[name for name in names if name is not None] for names in answers]
    try:
        with tf.Graph().as_default() as imported:
            tf.import_graph_def(builder.graph, name="")
            tensors = [[imported.get_tensor_by_name(n if ":" in n else f"{n}:0") for n in names] for names in fetches]
            with tf1.Session(graph=imported, config=plain_config()) as session:
                values = session.run(tensors)
    except (ValueError, KeyError, tf.errors.OpError) as error:
        told = next(line for line in str(error).splitlines() if line.strip())
        raise AssertionError(f"TensorFlow does not run {_whose(told, cases)}: {told[:300]}") from error
    flat = [iter(found) for found in values]
    return [[None if name is None else next(there) for name in names] for names, there in zip(answers, flat, strict=True)]


# %% [markdown]
# ### Exercise 3 · Rules (4 points)
#
# Complete the seven rules. Each is called as `rule(add, node, gradient)` and returns a list with one entry for each
# data input of the node, in order: the name of the gradient of that input, or `None` if nothing goes back there. A name
# may be `n` or, for a second output, `n:1`. An input of the node is written `n` or `n:0`, and `add` takes either; at
# the end it may have control inputs, `^n`, which are not counted. Take types from the node (in tests they are float64).
#
# The nodes you add are plain ops. `SymbolicGradient`, the op that differentiates another op, is not allowed, nor is any
# other op that calls a function (one with a function as an attribute) or Python (`PyFunc` and its like). In tests no
# `tf.Graph` can be made, and no node in one, while a rule runs: `add` is all that is needed.
#
# - `MatMul`, with `transpose_a` and `transpose_b` in all four settings. Without transposes the gradients of a and b are
#   g·bᵀ and aᵀ·g.
# - `Mul`, `Sub`, `AddV2` **broadcast**: (2, 3) plus (3,) is (2, 3). A row that was used twice gets the sum of both
#   gradients, and the gradient of an input always has the input's shape. `BroadcastGradientArgs` tells what to sum: its
#   inputs are the two shapes (int32, attribute `T` is their type), its outputs `:0` and `:1` the axes along which the
#   first and the second input was repeated. Then `Sum` (attributes `T`, `Tidx`, `keep_dims`) and `Reshape` (`T`,
#   `Tshape`).
# - `Relu`: 0 where the input is 0 or below. `ReluGrad` takes the gradient and the input.
# - `Square`: 2·x·gradient. `StopGradient`: nothing goes back.
#
# `Shape` has the attributes `T` (of its input) and `out_type`; `MatMul` has `T`, `transpose_a` and `transpose_b`;
# `Mul`, `Neg` and `ReluGrad` have `T`. For `Neg`, `neg_gradient` in the cell above is the example of what a rule looks
# like. A constant has to have the node's type: with `kind = tf.as_dtype(node.attr["T"].type).as_numpy_dtype`,
# `add("Mul", [x, np.asarray(2, kind)], T=node.attr["T"])` multiplies by 2. `unbroadcast` is a suggestion and is not
# tested by itself; if you do not want it, delete it.
#
# <details><summary>Hint 1</summary>
#
# The three ops that broadcast share all but one line: what the gradients would be if nothing were broadcast. Write the
# rest once, as a function of `add`, the node and these two gradients. For MatMul write down c = op(a)·op(b), and check
# each formula by its shapes: only one order of the two factors gives the shape of a.
# </details>
#
# <details><summary>Hint 2</summary>
#
# `unbroadcast`: two `Shape`, one `BroadcastGradientArgs`, then for each input `Reshape(Sum(gradient, axes), shape)`.
# MatMul, for a: without `transpose_a` it is g·op(b)ᵀ, so `transpose_b` of the new node is `not tb`; with it, the whole
# is transposed: op(b)·gᵀ, with `transpose_a=tb` and `transpose_b=True`. For b likewise.
# </details>

# %% nbgrader={"grade": false, "grade_id": "rules", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def unbroadcast(add: Add, node: NodeDef, gradients: list[str]) -> list[str | None]:
    """For the three ops that broadcast: each of two gradients, summed over what its input was repeated along."""
    ### BEGIN SOLUTION
    kind = node.attr["T"]
    shapes = [add("Shape", [text], T=kind, out_type=tf.int32) for text in node.input[:2]]
    axes = add("BroadcastGradientArgs", shapes, T=tf.int32)
    summed = [
        add("Sum", [gradient, f"{axes}:{index}"], T=kind, Tidx=tf.int32, keep_dims=False)
        for index, gradient in enumerate(gradients)
    ]
    return [add("Reshape", [each, shape], T=kind, Tshape=tf.int32) for each, shape in zip(summed, shapes, strict=True)]
    ### END SOLUTION


@rule("MatMul")
def matmul_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = op(a) · op(b), where op transposes if the attribute says so."""
    ### BEGIN SOLUTION
    a, b = node.input[:2]
    ta, tb = node.attr["transpose_a"].b, node.attr["transpose_b"].b

    def product(left: str, right: str, first: bool, second: bool) -> str:
        return add("MatMul", [left, right], T=node.attr["T"], transpose_a=first, transpose_b=second)

    return [
        product(b, gradient, tb, True) if ta else product(gradient, b, False, not tb),
        product(gradient, a, True, ta) if tb else product(a, gradient, not ta, False),
    ]
    ### END SOLUTION


@rule("Mul")
def mul_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a · b, element by element, with broadcasting."""
    ### BEGIN SOLUTION
    a, b = node.input[:2]
    return unbroadcast(add, node, [add("Mul", [gradient, other], T=node.attr["T"]) for other in (b, a)])
    ### END SOLUTION


@rule("Sub")
def sub_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a − b, with broadcasting."""
    ### BEGIN SOLUTION
    return unbroadcast(add, node, [gradient, add("Neg", [gradient], T=node.attr["T"])])
    ### END SOLUTION


@rule("AddV2")
def add_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a + b, with broadcasting."""
    ### BEGIN SOLUTION
    return unbroadcast(add, node, [gradient, gradient])
    ### END SOLUTION


@rule("Relu")
def relu_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = max(x, 0)."""
    ### BEGIN SOLUTION
    return [add("ReluGrad", [gradient, node.input[0]], T=node.attr["T"])]
    ### END SOLUTION


@rule("Square")
def square_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = x²."""
    ### BEGIN SOLUTION
    kind = node.attr["T"]
    two = np.asarray(2, tf.as_dtype(kind.type).as_numpy_dtype)
    return [add("Mul", [gradient, add("Mul", [node.input[0], two], T=kind)], T=kind)]
    ### END SOLUTION


@rule("StopGradient")
def stop_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = x, through which no gradient goes back."""
    ### BEGIN SOLUTION
    return [None]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "rules-test", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
mine = {
    "MatMul": matmul_gradient,
    "Mul": mul_gradient,
    "Sub": sub_gradient,
    "AddV2": add_gradient,
    "Relu": relu_gradient,
    "Square": square_gradient,
    "StopGradient": stop_gradient,
}
two, three = np.array([1.0, 2.0]), np.array([[3.0, 5.0], [7.0, 11.0]])
plain = [
    (Case("Mul", [two, two + 4.0], two, {}), [[5.0, 12.0], [1.0, 4.0]]),
    (Case("AddV2", [three, two], three, {}), [[[3.0, 5.0], [7.0, 11.0]], [10.0, 16.0]]),
    (Case("MatMul", [three, three], np.eye(2), {"transpose_a": False, "transpose_b": False}), [[[3.0, 7.0], [5.0, 11.0]]] * 2),
    (Case("StopGradient", [two], two, {}), [None]),
]
for (case, due), came in zip(plain, by_rules(mine, [case for case, _ in plain], TF_GRADIENTS + TF_RULES), strict=True):
    where = f"{case.op} of {[value.tolist() for value in case.inputs]}, gradient of the output {case.gradient.tolist()}"
    came = [None if value is None else value.tolist() for value in came]
    assert came == due, f"{where}: the gradients are {due}, found {came}"


### BEGIN HIDDEN TESTS
def by_tensorflow(cases):
    """The gradients of each case's inputs, by tf.gradients."""
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(case_graph(cases), name="")
        made = []
        for k, case in enumerate(cases):
            tensors = [graph.get_tensor_by_name(f"{name}_{k}:0") for name in ["node", "gradient", "a", "b"][: 2 + len(case.inputs)]]
            made.append(tf1.gradients(tensors[0], tensors[2:], grad_ys=tensors[1]))
        with tf1.Session(graph=graph, config=plain_config()) as session:
            found = iter(session.run([tensor for tensors in made for tensor in tensors if tensor is not None]))
        return [[None if tensor is None else next(found) for tensor in tensors] for tensors in made]


seed = random.SystemRandom().randrange(10**9)
rng, numbers = random.Random(seed), np.random.default_rng(seed)
cases = []
for ta in (False, True):
    for tb in (False, True):
        rows, inner, columns = rng.sample(range(2, 6), 3)
        shapes = ((inner, rows) if ta else (rows, inner)), ((columns, inner) if tb else (inner, columns))
        cases.append(("MatMul", shapes, (rows, columns), {"transpose_a": ta, "transpose_b": tb}))
pairs = [((2, 3), (3,)), ((3,), (2, 3)), ((2, 3), (2, 1)), ((2, 1), (3,)), ((), (2, 3)), ((2, 3), ()), ((2, 3), (2, 3)), ((1, 3), (4, 1, 1)), ((1, 1), (3,))]
for op in ("Mul", "Sub", "AddV2"):
    cases += [(op, pair, np.broadcast_shapes(*pair), {}) for pair in rng.sample(pairs, 8)]
cases += [(op, (shape,), shape, {}) for op in ("Relu", "Square", "StopGradient") for shape in [(4, 3), (5,), ()]]
cases = [Case(op, [numbers.normal(size=s) for s in shapes], numbers.normal(size=out), attributes) for op, shapes, out, attributes in cases]
flat = np.array([-1.0, 0.0, 2.0, 0.0])
cases.append(Case("Relu", [flat], np.array([3.0, 5.0, 7.0, -5.0]), {}))
rng.shuffle(cases)
came = by_rules(mine, cases, TF_GRADIENTS + TF_RULES)
for case, mine_there, due in zip(cases, came, by_tensorflow(cases), strict=True):
    where = f"seed {seed}: {case.op}{case.attributes or ''} of shapes {[value.shape for value in case.inputs]}"
    for which, (got, want) in enumerate(zip(mine_there, due, strict=True)):
        assert (got is None) == (want is None), f"{where}: the gradient of input {which} is {'None' if want is None else 'a tensor'}, yours is {got!r}"
        if want is not None:
            assert got.shape == want.shape, f"{where}: the gradient of input {which} has its input's shape {want.shape}, yours has {got.shape}"
            np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12, strict=True, err_msg=f"{where}, input {which}")
### END HIDDEN TESTS

# %% [markdown] after_passing="rules"
# Seven rules, and they compose: this is all that reverse mode has to know about mathematics. TensorFlow's are in
# python/ops/math_grad.py (`_MatMulGrad`, `_MulGrad`) and nn_grad.py, registered by `RegisterGradient`. Where both
# shapes are known and equal, they leave the sums out, as in the picture of section 1. `None` is not zero: it says that
# no path leads back, and saves every node that would only have computed zeros.

# %% [markdown]
# The next cell has our rules and our order, so that a gap above costs nothing below. Open it when exercises 2 and 3 are
# done.

# %% nbgrader={"grade": false, "grade_id": "given-all-rules", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def _unbroadcast(add: Add, node: NodeDef, pair: Sequence[str]) -> list[str | None]:
    """Each of two gradients in the shape of its input."""
    shapes = [add("Shape", [text], T=node.attr["T"], out_type=tf.int32) for text in node.input[:2]]
    repeated = add("BroadcastGradientArgs", shapes, T=tf.int32)
    found: list[str | None] = []
    for index, gradient in enumerate(pair):
        less = add("Sum", [gradient, f"{repeated}:{index}"], T=node.attr["T"], Tidx=tf.int32, keep_dims=False)
        found.append(add("Reshape", [less, shapes[index]], T=node.attr["T"], Tshape=tf.int32))
    return found


def _matmul_rule(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    (a, b), turns = node.input[:2], [node.attr[f"transpose_{letter}"].b for letter in "ab"]
    for_a = (b, gradient, turns[1], True) if turns[0] else (gradient, b, False, not turns[1])
    for_b = (gradient, a, True, turns[0]) if turns[1] else (a, gradient, not turns[0], False)
    return [
        add("MatMul", factors, T=node.attr["T"], transpose_a=first, transpose_b=second)
        for *factors, first, second in (for_a, for_b)
    ]


def _mul_rule(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    factors = [add("Mul", [gradient, text], T=node.attr["T"]) for text in reversed(node.input[:2])]
    return _unbroadcast(add, node, factors)


def _sub_rule(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    return _unbroadcast(add, node, [gradient, add("Neg", [gradient], T=node.attr["T"])])


def _square_rule(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    two = np.asarray(2, tf.as_dtype(node.attr["T"].type).as_numpy_dtype)
    return [add("Mul", [add("Mul", [gradient, node.input[0]], T=node.attr["T"]), two], T=node.attr["T"])]


def _clip_rule(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """For any op with one input: hands the gradient on, clipped to −½ … ½."""
    kind = tf.as_dtype(node.attr["T"].type).as_numpy_dtype
    return [add("ClipByValue", [gradient, np.asarray(-0.5, kind), np.asarray(0.5, kind)], T=node.attr["T"])]


GIVEN_RULES: dict[str, Rule] = {
    "Identity": identity_gradient,
    "Neg": neg_gradient,
    "Tanh": tanh_gradient,
    "Sum": sum_gradient,
    "MatMul": _matmul_rule,
    "Mul": _mul_rule,
    "Sub": _sub_rule,
    "AddV2": lambda add, node, gradient: _unbroadcast(add, node, [gradient, gradient]),
    "Relu": lambda add, node, gradient: [add("ReluGrad", [gradient, node.input[0]], T=node.attr["T"])],
    "Square": _square_rule,
    "StopGradient": lambda add, node, gradient: [None],
}
GIVEN_RULES |= {f"Lab.{op}": function for op, function in GIVEN_RULES.items()}  # the same under another name
GIVEN_RULES["Lab.Clip"] = _clip_rule


def given_order(graph: GraphDef, y: str, xs: list[str]) -> list[str]:
    """What exercise 2 asks for: the nodes that take part, each before everything that it reads."""
    reads = {node.name: {source(text) for text in node.input if text[0] != "^"} for node in graph.node}
    if missing := {y, *xs} - set(reads):
        raise KeyError(missing.pop())
    behind, before = set(), {y}
    for name in reads:
        behind |= {name} if reads[name] & {*behind, *xs} else set()
    backward = [*reads][::-1]
    for name in backward:
        before |= reads[name] if name in before else set()
    return [name for name in backward if name in behind & before]


class Net(NamedTuple):
    """A graph, what to fetch from it (node names, None for nothing), and what to feed (node name → array)."""

    graph: GraphDef
    names: list[str | None]
    feeds: dict[str, np.ndarray]


def run_nets(nets: Sequence[Net]) -> list[list[np.ndarray | None]]:
    """The values of each net's names, all in one session. For tests."""
    with tf.Graph().as_default() as whole:
        for k, net in enumerate(nets):
            try:
                tf.import_graph_def(net.graph, name=f"net{k}")
            except (ValueError, tf.errors.OpError) as error:
                told = next(line for line in str(error).splitlines() if line.strip())
                raise AssertionError(f"TensorFlow does not import the graph that came back: {told[:300]}") from error
        tensors = [[whole.get_tensor_by_name(f"net{k}/{n}:0") for n in net.names if n is not None] for k, net in enumerate(nets)]
        feeds = {f"net{k}/{x}:0": value for k, net in enumerate(nets) for x, value in net.feeds.items()}
        with tf1.Session(graph=whole, config=plain_config()) as session:
            try:
                found = [iter(there) for there in session.run(tensors, feeds)]
            except tf.errors.OpError as error:
                told = next(line for line in error.message.splitlines() if line.strip())
                raise AssertionError(f"TensorFlow does not run the gradients that came back: {told[:300]}") from error
    return [[None if n is None else next(there) for n in net.names] for net, there in zip(nets, found, strict=True)]


# %% [markdown]
# ## 4. Reverse mode
#
# Order and rules are there; what is left is the book-keeping between them. Every node that takes part collects the
# gradients that its readers send back. When its turn comes they are complete; they are added up, the rule is called
# with the sum, and what it returns is sent on to the inputs.
#
# Which rule? TensorFlow looks at the node's attribute `_gradient_op_type` first. If it has one, that name is looked up
# in the registry instead of the op's type: this is how a gradient is **overridden** for some nodes of a graph. Then a
# node can be an ordinary `Identity` when it runs and something else when it is differentiated.
#
# ### Exercise 4 · Reverse mode over a GraphDef (4 points)
#
# Write `gradients(graph: GraphDef, y: str, xs: list[str]) -> tuple[GraphDef, list[str | None]]`. It returns a graph
# with all nodes of `graph`, unchanged and in their order, and new ones whose names begin with `grad/`; and for each x,
# in the order of `xs`, the name of the node that is the gradient of y with respect to it. Use the given
# `Builder(graph)`, which copies the graph: `builder.add` or, tidier, `builder.under(NAME)` is what a rule is called
# with as its `add`, `builder.dtype_of(name)` is a node's type, and `builder.graph` is the result. Use `GIVEN_RULES`
# and, if you like, `given_order(graph, y, xs)`.
#
# - y may have any shape. The start is a tensor of ones in the shape of y: a `Fill` (inputs: the `Shape` of y, and the
#   scalar 1 as an array of y's type; attributes `T` and `index_type`, the type of the shape).
# - The rule for a node is the one under its attribute `_gradient_op_type` (`.s`, bytes) if it has one, else under its
#   op type. (Ask `"_gradient_op_type" in node.attr` first: reading an attribute that is not there makes an empty one.)
#   A node that takes part, gets a gradient and has no rule raises `LookupError` with the node's name in the message. A
#   node that takes no part, or that no gradient reaches, needs no rule.
# - A node that takes part, or is one of the xs, and gets more than one gradient adds them by exactly one `AddN`
#   (attributes `N` and `T`), all at once. You add no other `AddN`.
# - As in exercise 3: only plain ops, so no function in the graph's library either, and no `tf.Graph` can be made.
# - Types are float64 or float32; take them from the graph.
# - `None` for an x on which y does not depend by data edges, or only through rules that return `None`. If y itself is
#   one of the xs, its gradient is the start.
# - As in exercise 2: xs may be any nodes, also one behind the other, and the gradient goes on through an x to another
#   one. An unknown name raises `KeyError`. Names may be listed twice.
#
# ```
# >>> made, names = gradients(diamond(), "y", ["x", "c"])     # names: two strings that begin with "grad/"
# ```
#
# At x = [0, 1] the two gradients are [1, 0.0784] and [0, 0.7616]: dy/dx is (1 − tanh² x)·(c − x) − tanh x, dy/dc is
# tanh x.
#
# <details><summary>Hint 1</summary>
#
# A dict from node name to the list of gradients that have arrived, with the start in it for y. Then go through the
# order. At the end ask the same dict about each x: an x that takes no part was never added up, because nobody called
# its rule.
# </details>
#
# <details><summary>Hint 2</summary>
#
# A small function `total(name)`: no list → `None`; one entry → it; several → add the `AddN`, put `[sum]` back into the
# dict, return it. So it can be asked twice. In the loop: `total(node)`; if it is `None`, go on with the next node; else
# call the rule and append each entry that is not `None` to the list of the data input at its position, the control
# inputs being at the end.
# </details>

# %% nbgrader={"grade": false, "grade_id": "gradients", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def gradients(graph: GraphDef, y: str, xs: list[str]) -> tuple[GraphDef, list[str | None]]:
    """The graph with nodes added under `grad/`, and for each x the name of d y / d x, or None.

    Raises:
        KeyError: `y` or one of `xs` is no node of the graph.
        LookupError: there is no rule for a node that gets a gradient; the message names it.
    """
    ### BEGIN SOLUTION
    builder = Builder(graph)
    nodes = {node.name: node for node in graph.node}
    order = given_order(graph, y, xs)
    kind = builder.dtype_of(y)
    shape = builder.add("Shape", [y], T=kind, out_type=tf.int32)
    start = builder.add("Fill", [shape, np.asarray(1, kind.as_numpy_dtype)], T=kind, index_type=tf.int32)
    arrived: dict[str, list[str]] = {y: [start]}

    def total(name: str) -> str | None:
        there = arrived.get(name, [])
        if len(there) > 1:
            added = builder.under(name)("AddN", there, N=len(there), T=builder.dtype_of(name))
            arrived[name] = there = [added]
        return there[0] if there else None

    for name in order:
        node, gradient = nodes[name], total(name)
        if gradient is None:
            continue
        key = node.attr["_gradient_op_type"].s.decode() if "_gradient_op_type" in node.attr else node.op
        if key not in GIVEN_RULES:
            raise LookupError(f"no rule {key!r} for the node {name!r}")
        parts = GIVEN_RULES[key](builder.under(name), node, gradient)
        for text, part in zip(node.input, parts, strict=False):  # control inputs are at the end and have no part
            if part is not None:
                arrived.setdefault(source(text), []).append(part)
    return builder.graph, [total(x) for x in xs]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "gradients-test", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
asked_xs = {"x": np.array([0.0, 1.0])}
with withheld(*TF_GRADIENTS, *TF_RULES):
    pair = answer_to("the diamond, xs ['x', 'c', 'dead']", (), gradients, diamond(), "y", ["x", "c", "dead"])
assert type(pair) is tuple and len(pair) == 2, f"gradients returns a graph and a list, found {pair!r:.200}"
made, names = pair
assert type(made) is GraphDef and type(names) is list, f"a GraphDef and a list are due, found {type(made)} and {type(names)}"
assert [type(name) for name in names] == [str, str, type(None)], f"two names and None for 'dead' are due, found {names}"
assert [node for node in made.node if not node.name.startswith("grad/")] == list(diamond().node), (
    "the nodes of the graph stay as they are, in their order, and the names of all others begin with 'grad/'; found "
    f"{[node.name for node in made.node]}"
)
slope_x, slope_c, _ = run_nets([Net(made, names, asked_xs)])[0]
np.testing.assert_allclose(slope_x, [1.0, 0.07838], atol=1e-4, strict=True, err_msg="d y / d x of the diamond")
np.testing.assert_allclose(slope_c, [0.0, 0.76159], atol=1e-4, strict=True, err_msg="d y / d c of the diamond")
try:
    refused = answer_to("the diamond, y is 'z'", (KeyError,), gradients, diamond(), "z", ["x"])
except KeyError:
    pass
else:
    raise AssertionError("there is no node 'z' in the diamond, so KeyError is due; something came back")
no_rule = diamond()
no_rule.node[4].op = "Digamma"
try:
    refused = answer_to("the diamond, 'right' is a Digamma", (LookupError,), gradients, no_rule, "y", ["x"])
except LookupError as error:
    assert "right" in str(error), f"the message names the node that has no rule, 'right'; it says {error}"
else:
    raise AssertionError("there is no rule for Digamma, which takes part: LookupError is due; something came back")
no_rule = diamond()
no_rule.node[3].op = "Digamma"
answer_to("the diamond, 'dead' is a Digamma, takes no part and needs no rule", (), gradients, no_rule, "y", ["x"])
no_rule = diamond()
no_rule.node[2].op, no_rule.node[3].op, no_rule.node[6].input[0] = "Digamma", "StopGradient", "dead"
answer_to("y reads StopGradient('left'), so no gradient reaches the Digamma 'left'", (), gradients, no_rule, "y", ["x"])


### BEGIN HIDDEN TESTS
def clean(graph, clip):
    """The graph with TensorFlow's own gradient functions, and `clip` where the rule Lab.Clip is asked for."""
    plain = copied(graph)
    for node in plain.node:
        wish = node.attr["_gradient_op_type"].s if "_gradient_op_type" in node.attr else b""
        node.attr.pop("_gradient_op_type", None)
        if wish == b"Lab.Clip":
            node.attr["_gradient_op_type"].s = clip.encode()
    return plain


def by_tensorflow(cases, clip):
    """For each (graph, xs, feeds) the gradients by tf.gradients, and how many AddN it made."""

    @tf.RegisterGradient(clip)
    def clipped(op, gradient):
        return tf.clip_by_value(gradient, -0.5, 0.5)

    with tf.Graph().as_default() as graph:
        tensors, sums, feeds = [], [], {}
        for k, (net, xs, values) in enumerate(cases):
            tf.import_graph_def(clean(net, clip), name=f"net{k}")
            before = len(graph.get_operations())
            y, *wanted = [graph.get_tensor_by_name(f"net{k}/{name}:0") for name in ("y", *xs)]
            tensors.append(tf1.gradients(y, wanted))
            sums.append([op.type for op in graph.get_operations()[before:]].count("AddN"))
            feeds |= {f"net{k}/{x}:0": value for x, value in values.items()}
        with tf1.Session(graph=graph, config=plain_config()) as session:
            found = iter(session.run([tensor for there in tensors for tensor in there if tensor is not None], feeds))
        return [[None if tensor is None else next(found) for tensor in there] for there in tensors], sums


def several(graph, xs):
    """The nodes that get more than one gradient: readers that take part, and the start for y."""
    order = given_order(graph, "y", xs)
    sent = ["y"]
    for node in graph.node:
        if node.name in order:
            sent += [source(text) for text in node.input if text[0] != "^"]
    return [node.name for node in graph.node if node.name in [*order, *xs] and sent.count(node.name) > 1]


seed = random.SystemRandom().randrange(10**9)
rng, numbers = random.Random(seed), np.random.default_rng(seed)
overridden = diamond()
overridden.node[4].attr["_gradient_op_type"].s = b"Lab.Clip"
cases = [
    (cube_and_line().as_graph_def(), ["x", "y"], {"x": np.float32(2.0)}),  # four summands, and float32
    (diamond(), ["y", "x"], asked_xs),  # y has two elements
    (overridden, ["x"], asked_xs),
]
for number in range(12):
    graph, xs = random_net(seed + number, stops=number % 2 == 0)
    feeds = {node.name: numbers.normal(size=[d.size for d in node.attr["shape"].shape.dim]) for node in graph.node if node.op == "Placeholder"}
    some = [*xs, *rng.sample([node.name for node in graph.node if node.op not in ("Const", "Placeholder", "NoOp")], 2)]
    some += ["y", rng.choice(some)] if number % 4 == 1 else []
    rng.shuffle(some)
    live = [node for node in graph.node if node.name in given_order(graph, "y", some)]
    for node in rng.sample(live, -(-len(live) // 2)):
        node.attr["_gradient_op_type"].s = f"Lab.{node.op}".encode()
    if single := [node for node in live if node.op in ("Tanh", "Relu", "Square", "Neg", "Identity")]:
        rng.choice(single).attr["_gradient_op_type"].s = b"Lab.Clip"
    cases.append((graph, some, feeds))
results = []
for graph, some, _ in cases:
    with withheld(*TF_GRADIENTS, *TF_RULES):
        results.append(answer_to(f"seed {seed}: xs {some}", (), gradients, copied(graph), "y", list(some)))
nets = []
for (graph, some, feeds), result in zip(cases, results, strict=True):
    where = f"seed {seed}: xs {some}"
    assert type(result) is tuple and len(result) == 2, f"{where}: a graph and a list are due, found {result!r:.200}"
    made, names = result
    assert type(made) is GraphDef and type(names) is list, f"{where}: a GraphDef and a list are due, found {type(made)} and {type(names)}"
    assert len(names) == len(some), f"{where}: one entry for each x is due, found {names}"
    own = [node.name for node in made.node if node.name.startswith("grad/")]
    assert {type(name) for name in names} <= {str, type(None)}, f"{where}: entries are names or None, found {names}"
    assert {name for name in names if name is not None} <= set(own), f"{where}: a gradient is a node under grad/, found {names}"
    assert [node for node in made.node if not node.name.startswith("grad/")] == list(graph.node), f"{where}: the graph's own nodes changed"
    assert_plain([node for node in made.node if node.name.startswith("grad/")], where)
    assert not made.library.function, f"{where}: the graph has no functions, found {[f.signature.name for f in made.library.function]}"
    nets.append(Net(made, names, feeds))
came = run_nets(nets)
truths, sums = by_tensorflow(cases, f"Clip{seed}")
for (graph, some, _), net, mine, due, addns in zip(cases, nets, came, truths, sums, strict=True):
    listing = [f"{node.name} = {node.attr['_gradient_op_type'].s.decode() or node.op}({', '.join(node.input)})" for node in graph.node]
    where = f"seed {seed}: xs {some}, nodes {listing}"
    for x, got, want in zip(some, mine, due, strict=True):
        assert (got is None) == (want is None), f"{where}: the gradient for {x} is {'None' if want is None else 'a tensor'}, yours is {got!r}"
        if want is not None:
            assert got.shape == want.shape, f"{where}: the gradient for {x} has the shape {want.shape}, yours has {got.shape}"
            scale = max(1.0, float(np.max(np.abs(want), initial=0.0)))
            np.testing.assert_allclose(got, want, rtol=1e-7, atol=1e-9 * scale, strict=True, err_msg=f"{where}: {x}")
    if all(node.op != "StopGradient" for node in graph.node):
        mine_added = [f"{node.name}({', '.join(node.input)})" for node in net.graph.node if node.op == "AddN"]
        assert len(mine_added) == addns, (
            f"seed {seed}: xs {some}: {several(graph, some)} get several gradients each, so {addns} AddN are due; yours are {mine_added}"
        )
### END HIDDEN TESTS

# %% [markdown] after_passing="gradients"
# Your function agreed with `tf.gradients` on random graphs, to the last `None`. In TensorFlow it is `_GradientsHelper`
# (python/ops/gradients_util.py); `get_gradient_function` (python/framework/ops.py) looks at `_gradient_op_type` first.
# The C++ API has its own: `SymbolicGradientBuilder` (cc/framework/gradients.cc). Ours keeps one list a node, because
# here each op has one output; TensorFlow keeps one for each output, and makes zeros for outputs that nobody read.

# %% [markdown]
# Here is the graph that your function makes of the diamond, drawn like the first one. (Before it is written, the cell
# says so.) The nodes that the rules added are named after the nodes that they are for, so the pairing can be read off.

# %%
try:
    mine_drawn, _ = gradients(diamond(), "y", ["x"])
    picture = view.gradient_pairs(mine_drawn, "y", scope="grad", title="The diamond, and the gradients of your function")
except NotImplementedError:
    picture = "gradients is not written yet"
picture


# %% [markdown]
# ## 5. When the gradient is not the derivative
#
# What a gradient function returns is its author's choice. Four ways to make use of that:
#
# - `tf.stop_gradient(x)` is x, and nothing goes back.
# - A gradient function may return `None`; that of `tf.round` does. Then it is as if there were no path.
# - `graph.gradient_override_map({"Round": "Identity"})`: nodes of this type that are made in its block get the
#   attribute `_gradient_op_type`, and are differentiated by the gradient function of `Identity`.
# - `tf.custom_gradient` decorates a function that returns its result and a function for its gradient.

# %% nbgrader={"grade": false, "grade_id": "given-overrides", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
@tf.custom_gradient
def careful(x: tf.Tensor) -> tuple[tf.Tensor, Callable[[tf.Tensor], tf.Tensor]]:
    """x itself; the gradient that goes back is clipped to −1 … 1."""
    return tf.identity(x), lambda gradient: tf.clip_by_value(gradient, -1.0, 1.0)


def four_ys(x: tf.Tensor) -> dict[str, tf.Tensor]:
    """Four tensors that are computed from a scalar x, in its graph."""
    with tf1.get_default_graph().gradient_override_map({"Round": "Identity"}):
        overridden = tf.round(x)
    return {
        "stopped": tf.stop_gradient(x) * x,
        "rounded": tf.round(x),
        "overridden": overridden * x,
        "careful": 10.0 * careful(x) + x,
    }


# %% [markdown]
# ### Exercise 5 · Four gradients (1 point)
#
# x is 2.75. Set `SLOPES` to a dict with the four keys of `four_ys` and as values the gradient that
# `tf1.gradients(y, x)` gives for each, a `float`, or `None` where it gives `None`. For x·x it would be 5.5.

# %% nbgrader={"grade": false, "grade_id": "predict-override", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
# SLOPES = {"stopped": ..., "rounded": ..., "overridden": ..., "careful": ...}
### BEGIN SOLUTION
SLOPES = {"stopped": 2.75, "rounded": None, "overridden": 5.75, "careful": 2.0}
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "predict-override-test", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
assert type(SLOPES) is dict, f"SLOPES is a dict; it is a {type(SLOPES).__name__}"
keys = ["careful", "overridden", "rounded", "stopped"]
assert sorted(SLOPES, key=str) == keys, f"SLOPES has the keys {keys}; it has {list(SLOPES)}"
assert {type(SLOPES[key]) for key in keys} <= {float, type(None)}, f"values are float or None, found {SLOPES!r}"
### BEGIN HIDDEN TESTS
with tf.Graph().as_default() as four:
    point = tf1.placeholder(tf.float32, [])
    slopes_there = {key: tf1.gradients(y, point)[0] for key, y in four_ys(point).items()}
    with tf1.Session(graph=four, config=plain_config()) as session:
        known = session.run({key: tensor for key, tensor in slopes_there.items() if tensor is not None}, {point: 2.75})
wrong_keys = [key for key in keys if SLOPES[key] != (float(known[key]) if key in known else None)]
assert not wrong_keys, (
    f"TensorFlow gives something else for {' and for '.join(wrong_keys)}. Go back from y: which inputs get a gradient, "
    "and what does the gradient function in use make of it?"
)
### END HIDDEN TESTS

# %% [markdown] after_passing="predict-override"
# With the gradient of `Identity`, a rounded x is differentiated as if it had not been rounded: a *straight-through*
# estimator, with which quantised models are trained. `tf.custom_gradient` (python/ops/custom_gradient.py) uses the same
# attribute: it registers your function under a fresh name and marks an `IdentityN` with it. `_RoundGrad`
# (python/ops/math_grad.py) returns `None`; `StopGradient` is registered as `NotDifferentiable` (array_grad.py).

# %% [markdown]
# ## 6. Between the two halves of minimize
#
# `minimize` is two calls. `compute_gradients` is what you have built, with the trainable variables as xs, and returns
# pairs of a gradient and a variable. `apply_gradients` takes such pairs. Whoever wants to do something with gradients
# does it in between.

# %%
with tf.Graph().as_default() as halves:
    w = tf1.get_variable("w", initializer=np.float32([3.0, 4.0]), use_resource=True)
    unused = tf1.get_variable("unused", initializer=0.0, use_resource=True)
    optimizer = tf1.train.GradientDescentOptimizer(0.1)
    pairs_of_w = optimizer.compute_gradients(tf.reduce_sum(w * w))
    train_op = optimizer.apply_gradients(pairs_of_w)
for gradient, variable in pairs_of_w:
    print(variable.op.name, "←", gradient if gradient is None else gradient.name)
print("train_op:", train_op.type, "which waits for", [f"{op.type} {op.name}" for op in train_op.control_inputs])


# %% [markdown]
# One thing that is done in between is clipping. Where a loss is steep one gradient can undo a thousand steps. Clipping
# each number by itself would change the direction of the step; clipping by the **global norm** does not. The norm is
# that of all gradients together, as if they were one long vector, and if it is above a limit all are scaled by the same
# factor.
#
# ### Exercise 6 · Clip by the global norm (2 points)
#
# Write `clip(gradients: list[np.ndarray | None], limit: float) -> tuple[list[np.ndarray | None], float]`. The arrays of
# a list have one type, float32 or float64, and any shapes, also `()`. It returns the list of clipped gradients, each
# with its shape and type, and the global norm before clipping, a Python `float`. For the shape `()` a NumPy scalar will
# do as a result. Compute in NumPy: in the tests of this exercise and the next two no TensorFlow op runs.
#
# The norm is the square root of the sum of the squares of all numbers; in tests these do not overflow. If it is above
# `limit`, every gradient is multiplied by limit / norm; else nothing changes. `None` stays `None` and counts nothing; a
# list without arrays has the norm 0.0. If the norm is not finite, because a number is infinite or NaN, every gradient
# becomes NaN in all places: a broken step is to be seen. The norm is then returned as it is, `inf` or `nan`. A limit of
# 0 or less raises `ValueError`.
#
# ```
# >>> clip([np.array([3.0]), None, np.array([[4.0]])], 2.5)
# ([array([1.5]), None, array([[2.]])], 5.0)
# ```
#
# <details><summary>Hint 1</summary>
#
# One number, the scale, is all that has to be found. There are three cases, and each can be written as a value of it.
# </details>
#
# <details><summary>Hint 2</summary>
#
# `limit / norm` if the norm is above the limit, 1 if it is not, and `nan` if `not math.isfinite(norm)` (or
# `np.isfinite`): a number times NaN is NaN. A Python float as factor leaves the type of an array alone.
# </details>

# %% nbgrader={"grade": false, "grade_id": "clip", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def clip(gradients: list[np.ndarray | None], limit: float) -> tuple[list[np.ndarray | None], float]:
    """The gradients scaled so that their global norm is at most `limit`, and the norm that they had.

    Raises:
        ValueError: the limit is not above 0.
    """
    ### BEGIN SOLUTION
    if limit <= 0:
        raise ValueError(f"a limit is above 0, not {limit}")
    norm = float(np.sqrt(sum(float(np.sum(np.square(each))) for each in gradients if each is not None)))
    scale = float(limit / norm if norm > limit else 1.0) if np.isfinite(norm) else float("nan")
    return [None if each is None else np.asarray(each * scale, each.dtype) for each in gradients], norm
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "clip-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
with withheld(*TF_CLIPS):
    clipped = answer_to("clip([[3.], None, [[4.]]], 2.5)", (), clip, [np.array([3.0]), None, np.array([[4.0]])], 2.5)
assert type(clipped) is tuple and len(clipped) == 2, f"clip returns a list and the norm, found {clipped!r}"
assert type(clipped[0]) is list and len(clipped[0]) == 3, f"a list of three is due, found {clipped[0]!r}"
assert type(clipped[1]) is float, f"the norm is a Python float, found a {type(clipped[1]).__name__}"
assert clipped[1] == 5.0, f"the norm of 3 and 4 together is 5.0, found {clipped[1]}"
assert clipped[0][1] is None, f"None stays None, found {clipped[0][1]!r}"
np.testing.assert_allclose(clipped[0][0], [1.5], strict=True, err_msg="3 times 2.5 / 5")
np.testing.assert_allclose(clipped[0][2], [[2.0]], strict=True, err_msg="4 times 2.5 / 5")
for bad in (0.0, -1.0):
    try:
        refused = answer_to(f"a limit of {bad}", (ValueError,), clip, [np.array([3.0])], bad)
    except ValueError:
        pass
    else:
        raise AssertionError(f"a limit of {bad} must raise ValueError; {refused!r} came back")
### BEGIN HIDDEN TESTS
seed = random.SystemRandom().randrange(10**9)
rng, numbers = random.Random(seed), np.random.default_rng(seed)
lists = []
for number in range(16):
    kind = [np.float64, np.float32][number % 2]
    shapes = [rng.choice([(2,), (3, 2), (), (0,), (1, 2, 2)]) for _ in range(rng.randint(0, 3))] + [(3,)]
    there = [np.asarray(numbers.normal(size=shape) * 2, kind) for shape in shapes]
    lists.append([*there, None] if number % 3 == 0 else there)
lists[2].insert(0, None)
lists[3] = [np.zeros((2, 2), np.float32), np.zeros(3, np.float32)]
lists[4][-2 if lists[4][-1] is None else -1][0] = np.inf
lists[5] = [np.array([1.0, np.nan], np.float32), None, np.array([[2.0]], np.float32)]
lists[6] = [np.array([-np.inf, 1.0]), np.ones((2, 2))]
limits = [rng.choice([0.5, 1.0, 2.0, 100.0]) for _ in lists]
limits[0], limits[1] = 100.0, 0.25
with withheld(*TF_CLIPS):
    answers = [
        answer_to(f"seed {seed}: clip({there}, {limit})", (), clip, [None if one is None else one.copy() for one in there], limit)
        for there, limit in zip(lists, limits, strict=True)
    ]
    empty = answer_to("clip([None], 1.0)", (), clip, [None], 1.0)
assert empty == ([None], 0.0), f"a list without arrays has the norm 0.0 and stays as it is; clip([None], 1.0) gave {empty!r}"
with tf.Graph().as_default() as graph, tf1.Session(graph=graph, config=plain_config()) as session:
    made = [tf.clip_by_global_norm([None if one is None else tf.constant(one) for one in there], limit) for there, limit in zip(lists, limits, strict=True)]
    truths = session.run([([one for one in there if one is not None], norm) for there, norm in made])
for there, limit, mine, (due, norm) in zip(lists, limits, answers, truths, strict=True):
    where = f"seed {seed}: clip({there}, {limit})"
    assert type(mine) is tuple and len(mine) == 2 and type(mine[0]) is list, f"{where}: a list and the norm are due, found {mine!r}"
    assert [one is None for one in mine[0]] == [one is None for one in there], f"{where}: None stays None, found {mine[0]!r}"
    assert type(mine[1]) is float, f"{where}: the norm is a Python float, found {mine[1]!r}"
    np.testing.assert_allclose(mine[1], float(norm), rtol=1e-6, strict=True, err_msg=f"{where}: the norm")
    for got, want in zip([one for one in mine[0] if one is not None], due, strict=True):
        assert type(got) in (np.ndarray, np.float64, np.float32), f"{where}: arrays are due, found a {type(got).__name__}"
        assert got.dtype == want.dtype, f"{where}: the type stays {want.dtype}, found {got.dtype}"
        np.testing.assert_allclose(got, want, rtol=2e-6, strict=True, err_msg=f"{where}; TensorFlow on the right")
### END HIDDEN TESTS

# %% [markdown] after_passing="clip"
# Equal to `tf.clip_by_global_norm` (python/ops/clip_ops.py), also where it hurts: an infinite norm gives NaN
# everywhere, so that the next loss is NaN and a hook like the NaN stop of lab 2-6 sees it. In a graph the norm is one
# number that all gradients wait for, so with clipping no variable is updated before the whole backward half has run. A
# zero norm divides nothing, because nothing is above the limit.

# %% [markdown]
# ## 7. An optimizer and its slots
#
# Plain gradient descent is `w ← w − lr · g` and remembers nothing. Other optimizers keep something for each variable: a
# **slot**, a variable of the same shape that is made when `apply_gradients` is called, is not trainable, and is saved
# in checkpoints. Adam keeps two more numbers that belong to no variable.

# %%
for made_by in (tf1.train.MomentumOptimizer(0.1, 0.9), tf1.train.AdamOptimizer(0.1)):
    with tf.Graph().as_default() as graph:
        v = tf1.get_variable("w", initializer=np.float64([1.0, 2.0]), use_resource=True)
        made_by.apply_gradients([(tf.constant([1.0, 1.0], tf.float64), v)])
        print(type(made_by).__name__, "slots:", made_by.get_slot_names())
        for state in made_by.variables():
            print("   ", f"{state.op.name:12} {state.dtype.name} {state.shape}")
        print("    trainable:", [each.op.name for each in tf1.trainable_variables()])
        print("    updates by", [op.type for op in graph.get_operations() if "Apply" in op.type])


# %% [markdown]
# Two remarks before you build them.
#
# **Rates are float32**, whatever the variable is: `beta1_power` is float32 beside a float64 variable. 0.1 becomes
# 0.100000001490116. The given `as_rate` rounds a number so; tests pass rates that went through it, and the results
# can then be compared to the last digits.
#
# **Sparse gradients.** The gradient of `tf.gather(w, rows)` concerns only the rows that were read, and TensorFlow does
# not make a dense array of it. It is an `IndexedSlices`: indices of rows, and values for these. A row may appear more
# than once. `Sparse` is our name for it.

# %% nbgrader={"grade": false, "grade_id": "given-sparse", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
class Sparse(NamedTuple):
    """A gradient of some rows (axis 0) of a variable: `indices` (k,), integers ≥ 0, and `values` (k, *rest of the shape)."""

    indices: np.ndarray
    values: np.ndarray


def as_rate(number: float) -> float:
    """The number as TensorFlow keeps a rate: rounded to float32."""
    return float(np.float32(number))


class Step(NamedTuple):
    """One step of a test: a learning rate, and a gradient for each variable."""

    rate: float
    gradients: dict[str, np.ndarray | Sparse | None]


def random_gradient(rng: random.Random, numbers: np.random.Generator, like: np.ndarray, sparse: float) -> np.ndarray | Sparse:
    """A gradient for a variable, sparse with this probability if the variable has rows."""
    if like.ndim and rng.random() < sparse:
        count = rng.randint(1, 4)
        rows = np.array([rng.randrange(len(like)) for _ in range(count)], np.int64)
        return Sparse(rows, numbers.normal(size=(count, *like.shape[1:])).astype(like.dtype))
    return np.asarray(numbers.normal(size=like.shape), like.dtype)


def fed(place: dict[str, tf.Tensor], gradient: np.ndarray | Sparse) -> dict[tf.Tensor, np.ndarray]:
    """What to feed for a gradient: into `dense`, or into `indices` and `values`."""
    if isinstance(gradient, Sparse):
        return {place["indices"]: gradient.indices, place["values"]: gradient.values}
    return {place["dense"]: gradient}


def placeholders(like: np.ndarray) -> dict[str, tf.Tensor]:
    """Where the gradients of a variable are fed, in the default graph."""
    dtype = tf.as_dtype(like.dtype)
    found = {"dense": tf1.placeholder(dtype, like.shape)}
    if like.ndim:
        found |= {"indices": tf1.placeholder(tf.int64, [None]), "values": tf1.placeholder(dtype, [None, *like.shape[1:]])}
    return found


def gradient_tensor(place: dict[str, tf.Tensor], like: np.ndarray, gradient: np.ndarray | Sparse | None) -> object:
    """The tensor or IndexedSlices of the kind that `gradient` has, or None."""
    if isinstance(gradient, Sparse):
        return tf.IndexedSlices(place["values"], place["indices"], tf.constant(like.shape, tf.int64))
    return None if gradient is None else place["dense"]


# %% [markdown]
# ### Exercise 7 · Momentum (3 points)
#
# Write `momentum(var, slots, grad, lr, mu, nesterov=False) -> tuple[np.ndarray, dict[str, np.ndarray]]`: one step of
# `MomentumOptimizer` for one variable. `var` is an array, float32 or float64, of any shape; `slots` a dict, `{}` before
# the first step, with the one key `"momentum"` after it: an array of the variable's shape and type, zeros at first.
# `grad` is an array of the same shape and type, or a `Sparse`. `lr` and `mu` are floats.
#
# Returned are the new value and the new slots, of the type of `var`. For the shape `()` a NumPy scalar will do as a
# result, and the gradient is never `Sparse`. Arguments may be changed in place. Compute in NumPy: in the tests of this
# exercise and the next no TensorFlow op runs.
#
# With the slot *a*: first `a ← mu · a + g`, then `var ← var − lr · a`. With `nesterov` the second line is
# `var ← var − lr · (g + mu · a)`, with the new a. The rate stays outside of the slot: it may be another one in each
# step.
#
# With a `Sparse` gradient the values of a row that is named more than once are added up first. Then **only the rows
# that are named** take part: all other rows keep value and slot as they are. A gradient whose shape does not fit (for a
# `Sparse`: `values.shape` must be `(len(indices), *var.shape[1:])`) raises `ValueError`.
#
# ```
# >>> momentum(np.array([1.0, 2.0]), {"momentum": np.array([4.0, 4.0])}, np.array([1.0, 0.0]), lr=0.5, mu=0.5)
# (array([-0.5,  1. ]), {'momentum': array([3., 2.])})
# >>> once = Sparse(np.array([1]), np.array([2.0]))
# >>> momentum(np.array([1.0, 2.0]), {"momentum": np.array([4.0, 4.0])}, once, lr=0.5, mu=0.5)
# (array([1., 0.]), {'momentum': array([4., 4.])})
# ```
#
# <details><summary>Hint 1</summary>
#
# Dense and sparse differ only in which rows are touched. If you have the touched rows and the summed gradient of each,
# the rest is the same arithmetic on `var[rows]` and `a[rows]`, written back into copies.
# </details>
#
# <details><summary>Hint 2</summary>
#
# `np.unique(indices, return_inverse=True)` gives the rows and, for each value, the place of its row; `np.add.at` adds
# with repetitions. For a dense gradient `...` is an index that touches everything, also in an array without axes.
# </details>

# %% nbgrader={"grade": false, "grade_id": "momentum", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def momentum(
    var: np.ndarray,
    slots: dict[str, np.ndarray],
    grad: np.ndarray | Sparse,
    lr: float,
    mu: float,
    nesterov: bool = False,
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """One step of MomentumOptimizer for one variable: its new value and its new slots, `{"momentum": …}`.

    Raises:
        ValueError: the gradient does not have the shape of the variable, or of rows of it.
    """
    ### BEGIN SOLUTION
    values = grad.values if isinstance(grad, Sparse) else grad
    due = (len(grad.indices), *var.shape[1:]) if isinstance(grad, Sparse) else var.shape
    if values.shape != due:
        raise ValueError(f"a gradient of shape {due} is due, found {values.shape}")
    rows = ...
    if isinstance(grad, Sparse):
        rows, place = np.unique(grad.indices, return_inverse=True)
        values = np.zeros((len(rows), *var.shape[1:]), var.dtype)
        np.add.at(values, place, grad.values)
    new, slot = var.copy(), slots.get("momentum", np.zeros_like(var)).copy()
    slot[rows] = mu * slot[rows] + values
    new[rows] -= lr * (values + mu * slot[rows] if nesterov else slot[rows])
    return new, {"momentum": slot}
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "momentum-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
four_four = np.array([4.0, 4.0])
by_hand = [
    ("dense", np.array([1.0, 0.0]), False, [-0.5, 1.0], [3.0, 2.0]),
    ("dense, nesterov", np.array([1.0, 0.0]), True, [-0.25, 1.5], [3.0, 2.0]),
    ("row 1", Sparse(np.array([1]), np.array([2.0])), False, [1.0, 0.0], [4.0, 4.0]),
    ("row 0 twice", Sparse(np.array([0, 0]), np.array([1.0, 1.0])), False, [-1.0, 2.0], [4.0, 4.0]),
]
at = "var [1, 2], slot [4, 4], lr = mu = 0.5, gradient"
with withheld(*TF_OPTIMIZERS):
    results = [
        answer_to(f"{at} {words}", (), momentum, np.array([1.0, 2.0]), {"momentum": four_four.copy()}, grad, 0.5, 0.5, nesterov)
        for words, grad, nesterov, *_ in by_hand
    ]
for (words, _, _, var_due, slot_due), came in zip(by_hand, results, strict=True):
    where = f"{at} {words}"
    assert type(came) is tuple and len(came) == 2, f"{where}: a tuple of value and slots is due, found {came!r}"
    assert type(came[1]) is dict and list(came[1]) == ["momentum"], f"{where}: slots is a dict with the key 'momentum', found {came[1]!r}"
    np.testing.assert_allclose(came[1]["momentum"], slot_due, strict=True, err_msg=f"{where}: the slot")
    np.testing.assert_allclose(came[0], var_due, strict=True, err_msg=f"{where}: the value")
for words, grad in [("[1, 2, 3]", np.ones(3)), ("[[1, 1]]", np.ones((1, 2))), ("1", np.array(1.0)), ("2 values for 1 row", Sparse(np.array([0]), np.ones(2)))]:
    try:
        refused = answer_to(f"var [1, 2], gradient {words}", (ValueError,), momentum, np.array([1.0, 2.0]), {}, grad, 0.5, 0.5)
    except ValueError:
        pass
    else:
        raise AssertionError(f"a gradient {words} does not fit a variable of shape (2,) and must raise ValueError; {refused!r} came back")


### BEGIN HIDDEN TESTS
def by_tensorflow(cases):
    """For each (start, mu, nesterov, steps): the slot names, and value and slots after every step."""
    with tf.Graph().as_default() as graph:
        wanted, choices, rates = [], [], []
        for number, (start, mu, nesterov, steps) in enumerate(cases):
            v = tf1.get_variable(f"v{number}", initializer=start, use_resource=True)
            rate, place = tf1.placeholder(tf.float32, []), placeholders(start)
            optimizer = tf1.train.MomentumOptimizer(rate, mu, use_nesterov=nesterov)
            kinds = {type(step.gradients["v"]): step.gradients["v"] for step in steps}
            choices.append({kind: optimizer.apply_gradients([(gradient_tensor(place, start, one), v)]) for kind, one in kinds.items()})
            wanted.append((v, {name: optimizer.get_slot(v, name) for name in optimizer.get_slot_names()}))
            rates.append((rate, place))
        found = []
        with tf1.Session(graph=graph, config=plain_config()) as session:
            session.run(tf1.global_variables_initializer())
            for now in zip(*[steps for *_, steps in cases], strict=True):
                feeds = {}
                for step, (rate, place) in zip(now, rates, strict=True):
                    feeds |= {rate: step.rate, **fed(place, step.gradients["v"])}
                session.run([choice[type(step.gradients["v"])] for step, choice in zip(now, choices, strict=True)], feeds)
                found.append(session.run(wanted))
    return found


seed = random.SystemRandom().randrange(10**9)
rng, numbers = random.Random(seed), np.random.default_rng(seed)
cases = []
for shape, dtype, nesterov, sparse in [((3, 2), np.float64, False, 0.0), ((4,), np.float64, True, 0.5), ((4, 2), np.float64, False, 0.6), ((), np.float32, True, 0.0), ((5, 2), np.float32, False, 0.5)]:
    start = np.asarray(numbers.normal(size=shape), dtype)
    mu = as_rate(rng.choice([0.5, 0.9, 0.8]))
    steps = [Step(as_rate(rng.choice([0.1, 0.02, 0.3])), {"v": random_gradient(rng, numbers, start, sparse)}) for _ in range(50)]
    cases.append((start, mu, nesterov, steps))
paths = []
with withheld(*TF_OPTIMIZERS):
    for start, mu, nesterov, steps in cases:
        value, slots, path = start, {}, []
        for number, step in enumerate(steps):
            where = f"seed {seed}: step {number} of 50, shape {start.shape}, {start.dtype}, mu {mu}, nesterov {nesterov}"
            came = answer_to(where, (), momentum, *deepcopy((value, slots, step.gradients["v"])), step.rate, mu, nesterov)
            assert type(came) is tuple and len(came) == 2 and type(came[1]) is dict, f"{where}: value and slots are due, found {came!r}"
            value, slots = came
            kinds = {type(one) for one in [value, *slots.values()]}
            assert kinds <= {np.ndarray, np.float64, np.float32}, f"{where}: arrays are due, found {came!r}"
            value, slots = np.asarray(value), {name: np.asarray(slot) for name, slot in slots.items()}
            path.append((value, slots))
        paths.append(path)
truth = by_tensorflow(cases)
for which, (start, mu, nesterov, _) in enumerate(cases):
    rtol, atol = (1e-9, 1e-11) if start.dtype == np.float64 else (1e-4, 1e-3)
    for number in range(50):
        where = f"seed {seed}: after step {number} of 50, shape {start.shape}, {start.dtype}, mu {mu}, nesterov {nesterov}"
        (value, slots), (value_due, slots_due) = paths[which][number], truth[number][which]
        assert list(slots) == list(slots_due), f"{where}: TensorFlow's slots are {list(slots_due)}, yours {list(slots)}"
        for words, got, want in [("the slot", slots["momentum"], slots_due["momentum"]), ("the value", value, value_due)]:
            assert got.dtype == want.dtype, f"{where}: {words} has the type {want.dtype}, yours {got.dtype}"
            np.testing.assert_allclose(got, want, rtol=rtol, atol=atol, strict=True, err_msg=f"{where}: {words}")
### END HIDDEN TESTS

# %% [markdown] after_passing="momentum"
# Equal over 50 steps, in float64 to nine digits, with rates that changed on the way. The kernels are
# `ResourceApplyMomentum` and `ResourceSparseApplyMomentum` (core/kernels/training_ops.cc); repeated rows are added up
# before, in Python (`_resource_apply_sparse_duplicate_indices`, python/training/optimizer.py). That rows which are not
# named keep their momentum untouched is a choice: for a rare word of an embedding, time stands still until it comes
# again.

# %% [markdown]
# ### Exercise 8 · Adam (4 points)
#
# Adam keeps a running mean *m* of the gradients and one, *v*, of their squares. Both begin at zero and are too small at
# first; the powers of the betas correct that. They count steps, so they belong to the optimizer and not to a variable:
# however many variables there are, they move once a step.
#
# Write `adam(variables, state, gradients, lr, beta1, beta2, epsilon) -> tuple[dict[str, np.ndarray], State]`: one
# `apply_gradients` of `AdamOptimizer`, in NumPy. `variables` is a dict from name to array (float32 or float64, any
# shape), `gradients` a dict with the same keys and as values an array, a `Sparse` or `None`. `state` is the given
# `State`: before the first step `State({}, {})`, afterwards
#
# - `slots`: for each variable that ever had a gradient a dict `{"m": …, "v": …}`, arrays of its shape and type,
# - `powers`: `{"beta1_power": …, "beta2_power": …}`, two `np.float32`. They are made with the values beta1 and beta2,
#   which are right for the first step; **after** each step they are multiplied by beta1 and beta2, in float32.
#
# For a variable with the gradient g, with the powers as they are before this step's multiplication:
#
# 1. `m ← beta1 · m + (1 − beta1) · g` and `v ← beta2 · v + (1 − beta2) · g²`
# 2. `rate = lr · √(1 − beta2_power) / (1 − beta1_power)`
# 3. `var ← var − rate · m / (√v + epsilon)`: epsilon is added to the root of v as it is.
#
# With a `Sparse` gradient repeated rows are added up first, and then the step is that of the dense gradient with zeros
# in all other rows: m and v of **all** rows decay, and all rows move. A variable whose gradient is `None` keeps value
# and slots; if it never had a gradient, it has no entry in `slots`. If all gradients are `None`, or the dict is empty,
# `ValueError` is raised; also if a shape does not fit, as in exercise 7.
#
# Return all variables. Types stay: float32 for float32. As in exercise 7, for the shape `()` a NumPy scalar will do as
# a result, and the gradient is never `Sparse`; arguments may be changed in place; in the tests no TensorFlow op runs.
#
# ```
# >>> var, state = adam({"w": np.array([1.0])}, State({}, {}), {"w": np.array([2.0])}, 0.5, 0.75, 0.5, 0.25)
# >>> state
# State(slots={'w': {'m': array([0.5]), 'v': array([2.])}}, powers={'beta1_power': np.float32(0.5625), 'beta2_power': np.float32(0.25)})
# ```
#
# Here rate is 0.5 · √0.5 / 0.25 ≈ 1.4142 and w becomes 1 − 1.4142 · 0.5 / (1.4142 + 0.25) ≈ 0.5751.
#
# <details><summary>Hint 1</summary>
#
# First the powers: those in the state, or new ones. Then each variable by itself, all with the same powers. Then the
# powers again, once. A sparse gradient can be made dense before anything else is done with it.
# </details>
#
# <details><summary>Hint 2</summary>
#
# `dense = np.zeros_like(var); np.add.at(dense, grad.indices, grad.values)`. Compute the rate as a Python float:
# `float(powers["beta1_power"])` is the number in the float32, and a Python float leaves the type of arrays alone.
# `np.float32(power * np.float32(beta1))` is the product, in float32.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-state", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
class State(NamedTuple):
    """What Adam remembers: slots by variable and slot name, and the powers of the betas by name."""

    slots: dict[str, dict[str, np.ndarray]]
    powers: dict[str, np.float32]


# %% nbgrader={"grade": false, "grade_id": "adam", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def adam(
    variables: dict[str, np.ndarray],
    state: State,
    gradients: dict[str, np.ndarray | Sparse | None],
    lr: float,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> tuple[dict[str, np.ndarray], State]:
    """One step of AdamOptimizer for all variables: their new values and the new state.

    Raises:
        ValueError: no variable has a gradient, or the shape of one does not fit.
    """
    ### BEGIN SOLUTION
    if all(grad is None for grad in gradients.values()):
        raise ValueError("no gradients provided for any variable")
    powers = state.powers or {"beta1_power": np.float32(beta1), "beta2_power": np.float32(beta2)}
    rate = lr * (1 - float(powers["beta2_power"])) ** 0.5 / (1 - float(powers["beta1_power"]))
    values, slots = dict(variables), dict(state.slots)
    for name, grad in gradients.items():
        if grad is None:
            continue
        var = variables[name]
        if isinstance(grad, Sparse):
            if grad.values.shape != (len(grad.indices), *var.shape[1:]):
                raise ValueError(f"{name}: {grad.values.shape} are no rows of a variable of shape {var.shape}")
            dense = np.zeros_like(var)
            np.add.at(dense, grad.indices, grad.values)
            grad = dense
        if grad.shape != var.shape:
            raise ValueError(f"{name}: a gradient of shape {var.shape} is due, found {grad.shape}")
        old = slots.get(name) or {"m": np.zeros_like(var), "v": np.zeros_like(var)}
        m = np.asarray(beta1 * old["m"] + (1 - beta1) * grad)
        v = np.asarray(beta2 * old["v"] + (1 - beta2) * grad * grad)
        values[name] = np.asarray(var - rate * m / (np.sqrt(v) + epsilon))
        slots[name] = {"m": m, "v": v}
    moved = {
        "beta1_power": np.float32(powers["beta1_power"] * np.float32(beta1)),
        "beta2_power": np.float32(powers["beta2_power"] * np.float32(beta2)),
    }
    return values, State(slots, moved)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "adam-test", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
with withheld(*TF_OPTIMIZERS):
    came = answer_to("the example", (), adam, {"w": np.array([1.0]), "idle": np.array([7.0])}, State({}, {}), {"w": np.array([2.0]), "idle": None}, 0.5, 0.75, 0.5, 0.25)
assert type(came) is tuple and len(came) == 2, f"adam returns the variables and the state, found {came!r}"
values, state = came
assert type(values) is dict and sorted(values) == ["idle", "w"], f"all variables come back in a dict, found {values!r}"
assert type(state) is State, f"the second is a State, found a {type(state).__name__}"
assert type(state.powers) is dict and sorted(state.powers) == ["beta1_power", "beta2_power"], f"powers are 'beta1_power' and 'beta2_power', found {state.powers!r}"
kinds = [type(state.powers[name]) for name in ("beta1_power", "beta2_power")]
assert kinds == [np.float32, np.float32], f"both powers are np.float32, found {state.powers!r}"
assert state.powers == {"beta1_power": 0.5625, "beta2_power": 0.25}, f"after one step the powers are 0.75² and 0.5², found {state.powers}"
assert type(state.slots) is dict and list(state.slots) == ["w"], f"slots has an entry for w and none for idle, which never had a gradient; found {state.slots!r}"
assert sorted(state.slots["w"]) == ["m", "v"], f"the slots of w are 'm' and 'v', found {list(state.slots['w'])}"
np.testing.assert_allclose(state.slots["w"]["m"], [0.5], strict=True, err_msg="m = 0.25 · 2")
np.testing.assert_allclose(state.slots["w"]["v"], [2.0], strict=True, err_msg="v = 0.5 · 2²")
np.testing.assert_allclose(values["w"], [0.57511], rtol=1e-4, strict=True, err_msg="w of the example")
assert values["idle"].tolist() == [7.0], f"a variable without a gradient keeps its value, found {values['idle']}"
for words, bad in [("all None", {"w": None}), ("none", {}), ("a wrong shape", {"w": np.ones(2)}), ("a wrong shape", {"w": np.array(1.0)}), ("2 values for 1 row", {"w": Sparse(np.array([0]), np.ones(2))})]:
    try:
        refused = answer_to(f"gradients: {words}", (ValueError,), adam, {"w": np.ones(3)}, State({}, {}), bad, 0.5, 0.75, 0.5, 0.25)
    except ValueError:
        pass
    else:
        raise AssertionError(f"gradients {bad} for a variable of shape (3,): ValueError is due; {refused!r} came back")


### BEGIN HIDDEN TESTS
def by_tensorflow(cases):
    """For each (starts, beta1, beta2, epsilon, steps): values, slots by name, and powers after every step."""
    with tf.Graph().as_default() as graph:
        wanted, choices, rates = [], [], []
        for number, (starts, beta1, beta2, epsilon, steps) in enumerate(cases):
            variables = {n: tf1.get_variable(f"c{number}/{n}", initializer=start, use_resource=True) for n, start in starts.items()}
            rate, places = tf1.placeholder(tf.float32, []), {n: placeholders(start) for n, start in starts.items()}
            optimizer = tf1.train.AdamOptimizer(rate, beta1, beta2, epsilon, name=f"Adam{number}")
            kinds = {tuple(map(type, step.gradients.values())): step.gradients for step in steps}
            choices.append({})
            for kind, example in kinds.items():
                tensors = [(gradient_tensor(places[n], starts[n], one), variables[n]) for n, one in example.items()]
                choices[-1][kind] = optimizer.apply_gradients(tensors)
            slots = {n: {slot: optimizer.get_slot(v, slot) for slot in optimizer.get_slot_names()} for n, v in variables.items()}
            powers = [v for v in optimizer.variables() if "_power" in v.op.name]
            names = [next(word for word in ("beta1_power", "beta2_power") if word in v.op.name) for v in powers]
            wanted.append((variables, slots, dict(zip(names, powers, strict=True))))
            rates.append((rate, places))
        found = []
        with tf1.Session(graph=graph, config=plain_config()) as session:
            session.run(tf1.global_variables_initializer())
            for now in zip(*[steps for *_, steps in cases], strict=True):
                feeds, runs = {}, []
                for step, (rate, places), choice in zip(now, rates, choices, strict=True):
                    feeds[rate] = step.rate
                    runs.append(choice[tuple(map(type, step.gradients.values()))])
                    for n, one in step.gradients.items():
                        feeds |= {} if one is None else fed(places[n], one)
                session.run(runs, feeds)
                found.append(session.run(wanted))
    return found


seed = random.SystemRandom().randrange(10**9)
rng, numbers = random.Random(seed), np.random.default_rng(seed)
cases = []
for dtype, shapes, betas, epsilon, mixes in [
    (np.float64, {"w": (4, 2), "b": (2,)}, (0.9, 0.999), 1e-8, ["sd", "d-", "-s"]),
    (np.float64, {"w": (3,)}, (0.875, 0.96875), 0.1, ["d"]),
    (np.float32, {"w": (5, 2), "s": ()}, (0.9, 0.99), 0.01, ["sd", "dd"]),
]:
    starts = {name: np.asarray(numbers.normal(size=shape), dtype) for name, shape in shapes.items()}
    steps = []
    for number in range(50):  # each step has one of the mixes of sparse gradients, dense ones and None
        kinds = dict(zip(starts, rng.choice(mixes) if number > 1 else mixes[0], strict=True))
        there = {name: None if kinds[name] == "-" else random_gradient(rng, numbers, start, kinds[name] == "s") for name, start in starts.items()}
        steps.append(Step(as_rate(rng.choice([0.1, 0.02, 0.3])), there))
    cases.append((starts, *map(as_rate, (*betas, epsilon)), steps))
paths = []
with withheld(*TF_OPTIMIZERS):
    for starts, beta1, beta2, epsilon, steps in cases:
        values, state, path = starts, State({}, {}), []
        for number, step in enumerate(steps):
            where = f"seed {seed}: step {number} of 50, betas {beta1} and {beta2}, epsilon {epsilon}, variables {list(starts)}"
            came = answer_to(where, (), adam, *deepcopy((values, state, step.gradients)), step.rate, beta1, beta2, epsilon)
            assert type(came) is tuple and len(came) == 2, f"{where}: variables and state are due, found {came!r}"
            values, state = came
            assert type(values) is dict and sorted(values) == sorted(starts), f"{where}: all variables are due, found {values!r}"
            assert type(state) is State and type(state.slots) is dict and type(state.powers) is dict, f"{where}: a State is due, found {state!r}"
            slots = {name: dict(there) for name, there in state.slots.items()}
            kinds = {type(one) for there in [values, *slots.values()] for one in there.values()}
            assert kinds <= {np.ndarray, np.float64, np.float32}, f"{where}: values and slots are arrays, found {came!r}"
            values = {name: np.asarray(value) for name, value in values.items()}
            state = State({name: {slot: np.asarray(one) for slot, one in there.items()} for name, there in slots.items()}, state.powers)
            path.append((values, state))
        paths.append(path)
truth = by_tensorflow(cases)
for which, (starts, beta1, beta2, epsilon, _) in enumerate(cases):
    for number in range(50):
        where = f"seed {seed}: after step {number} of 50, betas {beta1} and {beta2}, epsilon {epsilon}"
        (values, state), (values_due, slots_due, powers_due) = paths[which][number], truth[number][which]
        powers = {name: type(power) is np.float32 and float(power) for name, power in state.powers.items()}
        due = {name: float(power) for name, power in powers_due.items()}
        assert powers == due, f"{where}: the powers are {due}, as np.float32; yours {state.powers}"
        assert sorted(state.slots) == sorted(slots_due), f"{where}: slots for {sorted(slots_due)} are due, found {sorted(state.slots)}"
        for name, start in starts.items():
            names = sorted(state.slots[name])
            assert names == sorted(slots_due[name]), f"{where}: {name} has the slots {sorted(slots_due[name])}, yours {names}"
            rtol, atol = (1e-9, 1e-11) if start.dtype == np.float64 else (1e-4, 1e-4)
            pairs_there = [(f"slot {slot} of {name}", state.slots[name][slot], slots_due[name][slot], rtol, atol) for slot in names]
            pairs_there.append((name, values[name], values_due[name], max(rtol, 2e-6), max(atol, 2e-6)))
            for words, got, want, rtol, atol in pairs_there:
                assert got.dtype == want.dtype, f"{where}: {words} has the type {want.dtype}, yours {got.dtype}"
                np.testing.assert_allclose(got, want, rtol=rtol, atol=atol, strict=True, err_msg=f"{where}: {words}")
### END HIDDEN TESTS

# %% [markdown] after_passing="adam"
# Equal over 50 steps: slots, powers and values. `ResourceApplyAdam` (core/kernels/training_ops.cc) does it in one pass;
# the sparse path is put together from assignments and a scatter-add (`_apply_sparse_shared`, python/training/adam.py),
# which is why it touches every row. The powers are multiplied in `_finish`, when all updates
# are done: with two multiplications a step, one for each variable, the correction would end too early.

# %% [markdown]
# ## 8. All of it, against the real thing
#
# A small network, tanh(x·w + b)·u, is fitted to a curve, twice from the same start. Once with `compute_gradients`,
# `clip_by_global_norm` and `apply_gradients` of TensorFlow. And once with your functions: `gradients` makes the backward
# half with your rules from `RULES` (ours where one is not written), a session only computes values, `clip` and `adam` do
# the rest. (Until they are written, the cell says so.)

# %%
from unittest.mock import patch

rng_of_net = np.random.default_rng(7)
inputs_x = np.linspace(-2, 2, 24)[:, None]
targets = np.sin(2 * inputs_x)
start_values = {name: rng_of_net.normal(size=shape) for name, shape in [("w", (1, 8)), ("b", (8,)), ("u", (8, 1))]}


def loss_of(w: tf.Tensor, b: tf.Tensor, u: tf.Tensor) -> tf.Tensor:
    hidden = tf.tanh(tf.raw_ops.AddV2(x=tf.matmul(tf.constant(inputs_x), w), y=b))
    return tf.reduce_sum(tf.square(tf.raw_ops.Sub(x=tf.matmul(hidden, u), y=tf.constant(targets))), name="loss")


def train_tensorflow(steps: int) -> list[float]:
    with tf.Graph().as_default():
        variables = [tf1.get_variable(n, initializer=value, use_resource=True) for n, value in start_values.items()]
        loss = loss_of(*[v.read_value() for v in variables])
        optimizer = tf1.train.AdamOptimizer(as_rate(0.05))
        found = [gradient for gradient, _ in optimizer.compute_gradients(loss, variables)]
        clipped_there, _ = tf.clip_by_global_norm(found, 5.0)
        train = optimizer.apply_gradients(list(zip(clipped_there, variables, strict=True)))
        with tf1.Session(config=plain_config()) as session:
            session.run(tf1.global_variables_initializer())
            return [float(session.run([loss, train])[0]) for _ in range(steps)]


def yours_first(op: str) -> Rule:
    ours = GIVEN_RULES[op]

    def either(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
        try:
            return RULES[op](add, node, gradient)
        except NotImplementedError:
            print(f"{node.name}: your rule for {op} is not written yet, ours is used")
            return ours(add, node, gradient)

    return either


def train_own(steps: int) -> list[float]:
    with tf.Graph().as_default() as forward:
        loss_of(*[tf1.placeholder(tf.float64, value.shape, name=n) for n, value in start_values.items()])
    with patch.dict(GIVEN_RULES, {op: yours_first(op) for op in RULES.keys() & GIVEN_RULES.keys()}):
        both_halves, names = gradients(forward.as_graph_def(), "loss", list(start_values))
    values, state, losses = dict(start_values), State({}, {}), []
    with tf.Graph().as_default():
        tf.import_graph_def(both_halves, name="")
        with tf1.Session(config=plain_config()) as session:
            for _ in range(steps):
                loss, *found = session.run(["loss:0", *[f"{n}:0" for n in names]], {f"{n}:0": v for n, v in values.items()})
                shorter, _ = clip(found, 5.0)
                values, state = adam(values, state, dict(zip(values, shorter, strict=True)), as_rate(0.05), as_rate(0.9), as_rate(0.999), as_rate(1e-8))
                losses.append(loss)
    return losses


theirs = train_tensorflow(100)
try:
    ours = train_own(100)
except NotImplementedError:
    print("gradients, clip or adam is not written yet. TensorFlow's loss after 0, 50, 99 steps:", theirs[::50] + theirs[-1:])
else:
    for number in (0, 1, 10, 50, 99):
        print(f"step {number:2}   TensorFlow {theirs[number]:.10f}   yours {ours[number]:.10f}")

# %% [markdown]
# ## Play
#
# A bowl that is twenty times as steep in one direction as in the other, from the same start: plain descent, your
# `momentum`, your `adam`. (One that is not written is left out.) The arrow is the slot, with a minus: where the memory
# alone would go. Momentum is mu for Momentum and beta1 for Adam; plain descent has none.
#
# Find the learning rate above which plain descent flies out, and watch what it does in the flat direction just below.
# Then give Momentum that rate. When does Adam's first step depend on how steep the bowl is?
#
# <details><summary>Answers</summary>
#
# The steep direction is multiplied by 1 − 20 lr in each step, so it grows above lr = 0.1; the flat one shrinks only by
# 1 − lr. With momentum mu the limit is 2·(1 + mu)/20, at mu = 0.9 nearly twice as much. Adam's first step never depends
# on it: m and v are corrected to g and g², and g/√g² is its sign, so both coordinates move by the learning rate.
# </details>

# %%
bowl = view.Bowl(curvature=(1.0, 20.0), reach=(10.0, 3.0))


def plain_walk(gradient, start, lr, mu, steps) -> view.Walk:
    points = [start]
    for _ in range(steps):
        points.append(tuple(p - lr * g for p, g in zip(points[-1], gradient(points[-1]), strict=True)))
    return view.Walk(points, [None] * len(points))


def momentum_walk(gradient, start, lr, mu, steps) -> view.Walk:
    value, slots = np.array(start), {}
    points, arrows = [start], [None]
    for _ in range(steps):
        value, slots = momentum(value, slots, np.array(gradient(tuple(value))), lr, mu)
        points.append(tuple(value.tolist()))
        arrows.append(tuple(slots["momentum"].tolist()))
    return view.Walk(points, arrows)


def adam_walk(gradient, start, lr, mu, steps) -> view.Walk:
    values, state = {"p": np.array(start)}, State({}, {})
    points, arrows = [start], [None]
    for _ in range(steps):
        slope_there = {"p": np.array(gradient(points[-1]))}
        values, state = adam(values, state, slope_there, lr, as_rate(mu), as_rate(0.999), 1e-8)
        points.append(tuple(values["p"].tolist()))
        arrows.append(tuple(state.slots["p"]["m"].tolist()))
    return view.Walk(points, arrows)


view.descent_player(bowl, {"plain": plain_walk, "Momentum": momentum_walk, "Adam": adam_walk}, start=(-8.0, 2.0))

# %% [markdown]
# ## Read on
#
# | what | where in TensorFlow 2.21 |
# | --- | --- |
# | reverse mode over a graph | python/ops/gradients_util.py: `_GradientsHelper`, `_PendingCount`, `_StopOps`, `_AggregatedGrads` |
# | the registry | python/framework/ops.py: `RegisterGradient`, `get_gradient_function`, `gradient_registry` |
# | gradient functions | python/ops/math_grad.py, nn_grad.py, array_grad.py |
# | the same in C++ | cc/framework/gradients.cc: `SymbolicGradientBuilder`; cc/gradients/math_grad.cc |
# | overriding | python/framework/ops.py: `Graph.gradient_override_map`; python/ops/custom_gradient.py |
# | clipping | python/ops/clip_ops.py: `clip_by_global_norm` |
# | optimizers of v1 | python/training/optimizer.py: `Optimizer`, `_slot_dict`; momentum.py, adam.py; slot_creator.py |
# | their kernels | core/kernels/training_ops.cc: `ApplyMomentum`, `ApplyAdam` |
#
# What changed since 1.x: a `tf.GradientTape` records ops while they run, and goes back over its record instead of over
# a graph (`TFE_Py_TapeGradient`; python/eager/backprop.py). It calls the same gradient functions; inside of a
# `tf.function` the record is of symbolic ops, and what comes out is a graph with two halves as in section 1. The
# optimizers of Keras write m and v in ordinary ops, keep the step as an integer and compute the powers from it.
#
# That closes the unit on the programming model: graphs, sessions, devices, variables, input, loops, and now what
# learns. Unit 3 goes inside the runtime, and lab 3-1 starts with the question which of all these nodes a step really
# runs.

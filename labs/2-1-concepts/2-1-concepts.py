# %% [markdown]
# # Eight words
#
# What do graph, op, node, tensor, edge, session, device, variable and queue mean, exactly enough to be computed with?
# Everybody who uses TensorFlow has an idea of each. In this lab each of them becomes a rule that a short function can
# follow and the runtime can confirm.
#
# At the end you can write a graph by hand and say what TensorFlow adds to it, read every edge out of its text, build it
# in the order in which TensorFlow does, and tell which phase will notice a mistake. And you know where a value lives
# after a step: nowhere, in a variable, or in a queue, and of which session.
#
# 100 minutes · 20 points · Before this lab: 1-3 (one graph, four stages) and 1-4 (the workflow).
#
# When you have saved, `./tflabs check 2-1-concepts` or Check on the start page grades your answers, also with tests
# that you do not see here.

# %% [markdown]
# ## What lab 1-4 left undefined
#
# Lab 1-4 took a job from records on disk to a restored model, twice. Its first form was a graph: a queue held the
# records between two steps, variables held `w` and `b`, `loss:0` named a tensor, and a session ran the target `train`.
# In lab 1-3 a client made such a graph, a master cut and split it by device, and workers ran the parts.
#
# All of these words were used and none was defined. What exactly stands in a graph before anything runs? Why is it
# `loss:0` in one place and `train` in another? Which of these things are gone when a step ends, and which when the
# session is closed? Each part of this lab takes one or two of the words.

# %% nbgrader={"grade": false, "grade_id": "given-imports", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
from tflabs.runtime import quiet

with quiet():
    import tensorflow as tf

import heapq
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from tensorflow.core.framework.op_def_pb2 import OpDef
from tensorflow.python.framework import op_def_registry

from tflabs.runtime import answer_to, disguise, plain_config, trace_run, withheld

tf1 = tf.compat.v1
GraphDef, NodeDef, AttrValue = tf1.GraphDef, tf1.NodeDef, tf1.AttrValue
# What tests withhold: whatever runs or makes nodes.
TF_SESSIONS = (
    "tensorflow.compat.v1.Session",
    "tensorflow.compat.v1.InteractiveSession",
    "tensorflow.python.client.session.BaseSession",
    "tensorflow.compat.v1.Session.run",
)
TF_NODES = (
    "tensorflow.import_graph_def",
    "tensorflow.python.framework.importer._import_graph_def_internal",
    "tensorflow.compat.v1.placeholder",
    "tensorflow.Graph.create_op",
    "tensorflow.python.framework.ops.Graph._create_op_internal",
)
# A search through all modules: withheld once, where a graph of NoOps would give the answer away.
TF_IMPORT_IN_C = "tensorflow.python.client.pywrap_tf_session.TF_GraphImportGraphDefWithResults"


# %% [markdown]
# ## A graph is a list of nodes
#
# A `GraphDef` is a protocol buffer: plain data that can be written to a file or sent to another machine. It holds a
# list of `NodeDef`s. A `NodeDef` has a **name**, an **op** (what kind of node it is), a list of **inputs** (text that
# names other nodes) and a map of **attributes** (constants that are known before anything runs, such as a dtype). You
# need no session and no op call to make one. Below are six nodes, written by hand.

# %% nbgrader={"grade": false, "grade_id": "given-nodes", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def attr_value(value: object) -> AttrValue:
    """An attribute from a Python value: bool, int, float, str, DType, TensorShape, NumPy array, or a list of them."""
    if isinstance(value, list):
        made = AttrValue(list=AttrValue.ListValue())
        for part in value:
            made.list.MergeFrom(_one_item(attr_value(part)))
        return made
    if isinstance(value, np.ndarray):
        return AttrValue(tensor=tf.make_tensor_proto(value))
    if isinstance(value, tf.DType):
        return AttrValue(type=value.as_datatype_enum)
    if isinstance(value, tf.TensorShape):
        return AttrValue(shape=value.as_proto())
    kinds = {bool: "b", int: "i", float: "f", str: "s"}
    return AttrValue(**{kinds[type(value)]: value.encode() if isinstance(value, str) else value})


def _one_item(value: AttrValue) -> AttrValue.ListValue:
    """A list attribute with one element."""
    kind = value.WhichOneof("value")
    return AttrValue.ListValue(**{kind: [getattr(value, kind)]})


def node_def(name: str, op: str, inputs: Iterable[str] = (), **attributes: object) -> NodeDef:
    """A NodeDef with these inputs and attributes, and no others."""
    return NodeDef(name=name, op=op, input=inputs, attr={key: attr_value(value) for key, value in attributes.items()})


def graph_of(nodes: Iterable[NodeDef]) -> GraphDef:
    """A GraphDef of these nodes, marked as made by this version of TensorFlow."""
    made = GraphDef(node=nodes)
    made.versions.producer = tf.version.GRAPH_DEF_VERSION
    return made


def imported(graph: GraphDef) -> tf.Graph:
    """The graph that TensorFlow makes from a GraphDef."""
    with tf.Graph().as_default() as made:
        tf.import_graph_def(graph, name="")
    return made


def six_nodes() -> GraphDef:
    """x cut into two halves; square = (sum of the halves)²; done waits for it."""
    return graph_of(
        [
            node_def("x", "Placeholder", dtype=tf.float32),
            node_def("axis", "Const", dtype=tf.int32, value=np.array(0, np.int32)),
            node_def("halves", "Split", ["axis", "x"], T=tf.float32, num_split=2),
            node_def("sum", "AddV2", ["halves", "halves:1"], T=tf.float32),
            node_def("square", "Mul", ["sum", "sum"], T=tf.float32),
            node_def("done", "NoOp", ["^square"]),
        ]
    )


# %% [markdown]
# Is this a graph that TensorFlow accepts, and does it compute?

# %%
with tf1.Session(graph=imported(six_nodes()), config=plain_config()) as session:
    print(session.run(["halves:0", "halves:1", "square:0", "done"], {"x:0": [1.0, 2.0, 3.0, 4.0]}))

# %% [markdown]
# It does. Here is the text of the graph beside its drawing. Point at a line (or step through the lines with the Tab
# key): the node or the edge that it speaks of lights up. Look at the three ways in which a line of `input` can be
# written, and at how often `sum` is read.

# %%
from tflabs import view

view.graph_text(six_nodes(), title="Six nodes, as text and as a drawing")

# %% [markdown]
# ## Two phases
#
# A graph lives through two phases. First it is **constructed**: nodes are written down, by hand or by calls such as
# `tf.add`. Then it is **executed**, by a session, as often as one likes. What a construction call returns is a
# `tf.Tensor` without a value. It stands for an output of the new node: it has a name, a dtype and, as far as that can
# be known, a shape.

# %%
with tf.Graph().as_default() as drawn:
    a = tf.constant([1.0, 2.0], name="a")
    b = tf.add(a, a, name="b")
    print("construction returned:", b)
    print("nodes:", [node.name for node in drawn.as_graph_def().node])
    with tf1.Session(config=plain_config()) as session:
        print("execution returned:   ", session.run(b))

# %% [markdown]
# ### Exercise 1 · Twice or three times? (1 point)
#
# `tf.numpy_function(note, [], tf.float32)` makes a node whose kernel calls the Python function `note`. This program
# runs:
#
# ```python
# log = []
#
# def note():
#     log.append("run")
#     return np.float32(0)
#
# with tf.Graph().as_default():
#     for _ in range(3):
#         log.append("py")
#         last = tf.numpy_function(note, [], tf.float32)
#     with tf1.Session() as session:
#         session.run(last)
#         session.run(last)
# ```
#
# Set `counts` to a tuple of two `int`: how often `"py"` and how often `"run"` stand in `log` at the end. Decide before
# you run anything. If nothing were run at all, it would be `(3, 0)`.

# %% nbgrader={"grade": false, "grade_id": "what-ran-when", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
# counts = (..., ...)  how often "py", how often "run"
### BEGIN SOLUTION
counts = (3, 2)
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "what-ran-when-test", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
assert type(counts) is tuple, f"counts is a tuple of two int; it is a {type(counts).__name__}"
assert [type(count) for count in counts] == [int, int], f"counts is a tuple of two int; it is {counts!r}"


### BEGIN HIDDEN TESTS
def counted_words():
    """The program of the exercise, and how often each word was logged."""
    heard = []

    def kernel():
        heard.append("run")
        return np.zeros([], np.float32)

    with tf.Graph().as_default():
        for _turn in (1, 2, 3):
            heard.append("py")
            newest = tf.numpy_function(kernel, [], tf.float32)
        with tf1.Session(config=plain_config()) as session:
            session.run(newest)
            session.run(newest)
    return heard.count("py"), heard.count("run")


real_counts = counted_words()
assert counts == real_counts, (
    f"{counts} is not what the log holds. Which lines are Python's, and in which phase does Python run them? How many "
    "of the nodes does one session.run need, and how often is it called?"
)
### END HIDDEN TESTS

# %% [markdown] after_passing="what-ran-when"
# Python's loop ran three times while the graph was constructed; it left three nodes, and not one of them had run. Each
# `session.run` then ran the one node that it needed, and Python's loop took no part in that. The node is a `PyFunc`
# (core/ops/script_ops.cc); its kernel, `PyFuncOp` (python/lib/core/py_func.cc), calls back into Python, which is how we
# could watch it.

# %% [markdown]
# A `tf.function` has the same two phases. The first call traces: Python runs and constructs a graph. Every call
# executes that graph.

# %%
words = []


@tf.function(autograph=False)
def traced():
    words.append("py")
    return tf.numpy_function(lambda: words.append("run") or np.float32(0), [], tf.float32)


for _ in range(3):
    traced()
print(Counter(words))


# %% [markdown]
# ## Op and node
#
# An **op** is a kind: `MatMul` exists once, in TensorFlow's registry, as an `OpDef`. It says which inputs and outputs
# there are, which attributes, and which of these have a default value. A **node** is one use of an op in one graph. The
# node names its op; the op completes the node. Below, a `MatMul` that was written with one attribute, and what
# TensorFlow made of it.

# %% nbgrader={"grade": false, "grade_id": "given-ops", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def op_definition(name: str) -> OpDef | None:
    """The definition of an op in TensorFlow's registry, or None."""
    return op_def_registry.get(name)


def assert_same_node(got: object, want: NodeDef, where: str) -> None:
    """Assert that two NodeDefs are equal, and say which attribute or field is not."""
    assert type(got) is NodeDef, f"{where}: a NodeDef is due, found a {type(got).__name__}"
    for field, found, due in [
        ("name", got.name, want.name),
        ("op", got.op, want.op),
        ("device", got.device, want.device),
        ("list of inputs", list(got.input), list(want.input)),
    ]:
        assert found == due, f"{where}: the {field} stays as it is: due is {due!r}, found {found!r}"
    for name in sorted({*got.attr, *want.attr}):
        found, due = (_attribute(node, name) for node in (got, want))
        assert found == due, f"{where}: attribute {name!r} is due as {due}, found {found}"
    assert got == want, f"{where}: a field that is no attribute was changed: {' '.join(str(got).split())}"


def _attribute(node: NodeDef, name: str) -> str:
    if name not in node.attr:
        return "(not there)"
    return " ".join(str(node.attr[name]).split()) or "(empty)"


# %%
matmul = op_definition("MatMul")
print("inputs:    ", [argument.name for argument in matmul.input_arg])
for attribute in matmul.attr:
    default = attribute.default_value if attribute.HasField("default_value") else "no default"
    print(f"attribute:  {attribute.name}, {attribute.type}, {str(default).strip()}")

written = node_def("m", "MatMul", ["a", "b"], T=tf.float32)
inputs = [node_def(name, "Placeholder", dtype=tf.float32) for name in "ab"]
[made] = [node for node in imported(graph_of([*inputs, written])).as_graph_def().node if node.name == "m"]
print("\nwritten:   ", sorted(written.attr))
print("imported:  ", sorted(made.attr))


# %% [markdown]
# ### Exercise 2 · The op completes the node (3 points)
#
# Write `complete(node: NodeDef, definition: OpDef | None) -> NodeDef`. It returns `node` completed: each attribute that
# the definition has, that the node lacks and that has a default, is set to this default. All that the node has stays:
# name, op, inputs, device, and its attributes, also those that the op does not define (`_class`).
#
# - Without a definition (`None`) it raises `tf.errors.NotFoundError` with the op's name in the message. Its constructor
#   takes `(None, None, message)`.
# - An attribute of the definition that the node lacks and that has no default raises `ValueError` with the attribute's
#   name in the message.
# - `definition.input_arg` lists the inputs. If none of them has a `number_attr` or a `type_list_attr`, each of them is
#   one tensor, and a node with more or fewer data inputs raises `ValueError`. (Otherwise attributes say how many there
#   are, and you need not count.) Control inputs (`^name`) are not data inputs.
#
# A default may be false, 0 or an empty list; `attribute.HasField("default_value")` says whether there is one. Tests
# break one rule at a time. Importing graphs is withheld, and hidden tests give ops names that TensorFlow does not know.
#
# ```
# >>> sorted(complete(node_def("m", "MatMul", ["a", "b"], T=tf.float32), op_definition("MatMul")).attr)
# ['T', 'grad_a', 'grad_b', 'transpose_a', 'transpose_b']
# ```
#
# <details><summary>Hint 1</summary>
#
# The work is one walk over `definition.attr`, and there are three cases for each attribute: the node has it, the op has
# a default for it, neither. What the node has beyond that is never looked at.
# </details>
#
# <details><summary>Hint 2</summary>
#
# `made = NodeDef()`, `made.CopyFrom(node)`. For an attribute in `made.attr` do nothing; else
# `made.attr[name].CopyFrom(attribute.default_value)`, or raise. Ask `name in made.attr`: reading `made.attr[name]`
# creates an empty one. Before that, compare the number of inputs without `^` to `len(definition.input_arg)`, if the
# arguments are plain.
# </details>

# %% nbgrader={"grade": false, "grade_id": "complete-node", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def complete(node: NodeDef, definition: OpDef | None) -> NodeDef:
    """The node, with the defaults of its op filled in.

    Raises:
        tf.errors.NotFoundError: there is no definition; the message names the op.
        ValueError: an attribute without default is missing (the message names it), or the number of inputs is wrong.
    """
    ### BEGIN SOLUTION
    if definition is None:
        raise tf.errors.NotFoundError(None, None, f"op type {node.op!r} is not registered")
    plain = not any(argument.number_attr or argument.type_list_attr for argument in definition.input_arg)
    count = sum(not text.startswith("^") for text in node.input)
    if plain and count != len(definition.input_arg):
        raise ValueError(f"{node.op} takes {len(definition.input_arg)} inputs, {node.name!r} has {count}")
    made = NodeDef()
    made.CopyFrom(node)
    for attribute in definition.attr:
        if attribute.name in made.attr:
            continue
        if not attribute.HasField("default_value"):
            raise ValueError(f"node {node.name!r} lacks the attribute {attribute.name!r}, which has no default")
        made.attr[attribute.name].CopyFrom(attribute.default_value)
    return made
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "complete-node-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
plain_matmul = node_def("m", "MatMul", ["a", "b", "^a"], T=tf.float32, transpose_b=True)
where = "a MatMul of a and b with transpose_b set, which also waits for a"
with withheld(*TF_NODES):
    completed = answer_to(where, (), complete, plain_matmul, op_definition("MatMul"))
assert_same_node(
    completed,
    node_def(
        "m",
        "MatMul",
        ["a", "b", "^a"],
        T=tf.float32,
        transpose_a=False,
        transpose_b=True,
        grad_a=False,
        grad_b=False,
    ),
    where,
)
for broken, known, error_type, told in [
    (node_def("m", "MatMul", ["a", "b"]), True, ValueError, "T"),
    (node_def("m", "MatMul", ["a"], T=tf.float32), True, ValueError, ""),
    (node_def("m", "Matmul", ["a", "b"], T=tf.float32), False, tf.errors.NotFoundError, "Matmul"),
]:
    words = f"node {' '.join(str(broken).split())}"
    try:
        with withheld(*TF_NODES):
            refused = answer_to(words, (error_type,), complete, broken, op_definition("MatMul") if known else None)
    except error_type as error:
        assert told in str(error), f"{words}: the message must name {told!r}; it says {str(error)!r}"
    else:
        raise AssertionError(f"{words}: {error_type.__name__} is due, returned {' '.join(str(refused).split())}")


### BEGIN HIDDEN TESTS
# Per op: attributes without a default, and another value for those that have one.
USES = {
    "Sum": ({"T": tf.float32}, {"keep_dims": True, "Tidx": tf.int64}),
    "Conv2D": (
        {"T": tf.float32, "strides": [1, 1, 1, 1], "padding": "SAME"},
        {"use_cudnn_on_gpu": False, "data_format": "NCHW", "dilations": [1, 1, 2, 2]},
    ),
    "ArgMax": ({"T": tf.float32}, {"Tidx": tf.int64, "output_type": tf.int32}),
    "Pack": ({"N": 2, "T": tf.float32}, {"axis": 1}),
    "Softmax": ({"T": tf.float64}, {}),
    "StridedSlice": ({"T": tf.float32, "Index": tf.int32}, {"begin_mask": 1, "end_mask": 1, "shrink_axis_mask": 2}),
    "Squeeze": ({"T": tf.float32}, {"squeeze_dims": [0]}),
    "OneHot": ({"T": tf.float32}, {"axis": 0, "TI": tf.int32}),
    "MaxPool": (
        {"ksize": [1, 2, 2, 1], "strides": [1, 1, 1, 1], "padding": "SAME"},
        {"T": tf.float64, "data_format": "NHWC"},
    ),
    "LRN": ({}, {"depth_radius": 3, "bias": 2.0, "alpha": 0.5, "beta": 0.25, "T": tf.bfloat16}),
    "Cast": ({"SrcT": tf.float32, "DstT": tf.int32}, {"Truncate": True}),
    "IdentityN": ({"T": [tf.float32, tf.int32]}, {}),
    "FIFOQueueV2": (
        {"component_types": [tf.float32]},
        {"shapes": [tf.TensorShape([2])], "capacity": 5, "container": "c", "shared_name": "s"},
    ),
    "VarHandleOp": (
        {"dtype": tf.float32, "shape": tf.TensorShape([2, None])},
        {"container": "c", "shared_name": "s", "debug_name": "d", "allowed_devices": ["/device:CPU:0"]},
    ),
}


def use_of(op, name, chosen):
    """A node of this op with the chosen attributes, and the placeholders that its inputs need."""
    definition, node = op_definition(op), node_def(name, op, **USES[op][0], **chosen)
    defaults = {attribute.name: attribute.default_value for attribute in definition.attr}
    feeding = []
    for argument in definition.input_arg:
        if argument.type_list_attr:
            kinds = node.attr[argument.type_list_attr].list.type
        elif argument.type_attr:
            kinds = [(node.attr if argument.type_attr in node.attr else defaults)[argument.type_attr].type]
        else:
            kinds = [argument.type]
        for kind in list(kinds) * (node.attr[argument.number_attr].i if argument.number_attr else 1):
            feeding.append(node_def(f"{name}_in{len(feeding)}", "Placeholder", dtype=tf.as_dtype(kind)))
    node.input.extend(source.name for source in feeding)
    return node, feeding


def under(name, message):
    """A NodeDef or OpDef under another op name."""
    copied = type(message)()
    copied.CopyFrom(message)
    if type(message) is OpDef:
        copied.name = name
    else:
        copied.op = name
    return copied


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
names = {op: f"Q{number}" for op, number in zip(USES, rng.sample(range(1, 100), len(USES)), strict=True)}
nodes, sources = [], [node_def("first", "NoOp")]
for op, (_, others) in USES.items():
    chosen = set(rng.sample(sorted(others), rng.randrange(len(others) + 1)))
    for number, present in enumerate((chosen, set(others) - chosen)):
        node, feeding = use_of(op, f"{op}_{number}", {name: others[name] for name in sorted(present)})
        if rng.random() < 0.5:
            node.attr["_class"].list.s.append(b"loc:@first")
        else:
            node.device = "/device:CPU:1"
        if rng.random() < 0.5:
            node.input.append("^first")
        nodes.append(node)
        sources += feeding
told_as = [
    f"seed {seed}: a {node.op} (called {names[node.op]}) written with {', '.join(sorted(node.attr)) or 'no attribute'}"
    for node in nodes
]
with withheld(*TF_NODES):
    mine = [
        answer_to(case, (), complete, *(under(names[node.op], known) for known in (node, op_definition(node.op))))
        for case, node in zip(told_as, nodes, strict=True)
    ]
real_nodes = {node.name: node for node in imported(graph_of([*sources, *nodes])).as_graph_def().node}
for case, node, got in zip(told_as, nodes, mine, strict=True):
    assert_same_node(got, under(names[node.op], real_nodes[node.name]), case)


def refusal(action, *arguments):
    """The type and the message of the error that `action` raises; a pair of empty texts if it raises none."""
    try:
        action(*arguments)
    except (ValueError, tf.errors.NotFoundError) as error:
        return type(error).__name__, str(error)
    return "", ""


faults = []
for op, attribute in [
    ("Cast", "DstT"),
    ("MaxPool", "ksize"),
    ("StridedSlice", "Index"),
    ("FIFOQueueV2", "component_types"),
]:
    node, feeding = use_of(op, "n", {})
    del node.attr[attribute]
    faults.append((node, feeding, attribute, f"a {op} without its attribute {attribute}"))
for op, kept in [("Sum", 1), ("Softmax", 0), ("Squeeze", 3), ("OneHot", 3), ("VarHandleOp", 1)]:
    node, feeding = use_of(op, "n", {})
    feeding = feeding or [node_def("n_in0", "Placeholder", dtype=tf.float32)]
    del node.input[:]
    node.input.extend((feeding * 3)[index].name for index in range(kept))
    if op in ("Sum", "Softmax"):
        node.input.append("^first")
    faults.append((node, feeding, "", f"a {op} with {kept} data inputs"))
for node, feeding, told, fault in faults:
    with withheld(*TF_NODES):
        pair = (under(names[node.op], known) for known in (node, op_definition(node.op)))
        kind, message = refusal(answer_to, fault, (ValueError, tf.errors.NotFoundError), complete, *pair)
    real_kind, _ = refusal(imported, graph_of([node_def("first", "NoOp"), *feeding, node]))
    assert kind == real_kind, f"{fault}: TensorFlow raises {real_kind}, complete {kind or 'nothing'}"
    assert told in message, f"{fault}: the message must name the attribute; it says {message!r}"
with withheld(*TF_NODES):
    kind, message = refusal(complete, node_def("n", "NoSuchOp"), None)
real_kind, _ = refusal(imported, graph_of([node_def("n", "NoSuchOp")]))
assert (kind, "NoSuchOp" in message) == (real_kind, True), (
    f"without a definition {real_kind} is due, which names the op; complete raises {kind or 'nothing'} {message!r}"
)
### END HIDDEN TESTS

# %% [markdown] after_passing="complete-node"
# Your function made of fourteen ops' nodes what TensorFlow's importer makes of them, under names that hold no
# information. In the runtime this is `AddDefaultsToNodeDef`, and the checks are `ValidateNodeDef` (both in
# core/framework/node_def_util.cc). That defaults live with the op is what lets a graph of an old version run: an
# attribute that was added later must have a default, and the importer fills it in.

# %% [markdown]
# ## Tensor and edge
#
# A node has any number of outputs, numbered from 0. Each output is a **tensor** of the graph, named `node:index`. An
# edge goes from an output of one node to an input of another; it carries one tensor. A **control edge** carries no
# tensor: it only says that the one node must have run before the other starts.
#
# In a `NodeDef` all of this is one list of texts. `halves:1` is output 1 of `halves`; `halves` is short for `halves:0`;
# `^square` is a control edge from `square`. A session's fetches and feeds name tensors in full: `square:0`. A fetch
# without a colon means the node, which is run and returns nothing; a feed always names a tensor. That is why lab 1-4
# fetched `loss:0` and ran `train`.
#
# ### Exercise 3 · What a string of input says (2 points)
#
# Write `edges(graph: GraphDef) -> list[Edge]`. It lists all edges: node by node in the graph's order, and for each node
# in the order of its inputs. `input` counts the data inputs of the target from 0. For a control edge, `output` and
# `input` are −1. A tensor that a node reads twice makes two edges.
#
# An input may be written `n`, `n:1` (also `n:0`) or `^n`. Names of nodes may hold letters, digits, `_`, `/`, `.` and
# `-`. Control inputs come after data inputs. An input whose node is not in the graph raises `ValueError` with the name
# of that node in the message. Importing graphs is withheld, and op types in tests are names that TensorFlow does not
# know.
#
# ```
# >>> edges(six_nodes())[2:4]
# [Edge(source='halves', output=0, target='sum', input=0), Edge(source='halves', output=1, target='sum', input=1)]
# >>> edges(six_nodes())[-1]
# Edge(source='square', output=-1, target='done', input=-1)
# ```
#
# <details><summary>Hint 1</summary>
#
# Two loops, over nodes and over the inputs of each. Ask first whether the text starts with `^`. Since control inputs
# come last, counting the inputs of a node gives the right numbers to its data inputs.
# </details>
#
# <details><summary>Hint 2</summary>
#
# `name, _, index = text.partition(":")`, and `int(index or 0)`. Collect the names of all nodes first: a node may stand
# behind its readers.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-edges", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
class Edge(NamedTuple):
    """An edge of a graph. −1 in both numbers marks a control edge, as `Graph::kControlSlot` does in C++. Given."""

    source: str
    output: int
    target: str
    input: int


def random_graph(rng: random.Random, size: int = 12) -> GraphDef:
    """About `size` nodes in random order, with nodes of several outputs, control edges, and tensors read twice."""
    nodes = [
        node_def("x", "Placeholder", dtype=tf.float32),
        node_def("axis", "Const", dtype=tf.int32, value=np.array(0, np.int32)),
    ]
    tensors = ["x"]
    for number in range(size):
        name = rng.choice([f"n{number}", f"n_{number}", f"a.b/n{number}", f"n{number}_1", f"a/n-{number}"])
        waits = sorted(f"^{node.name}" for node in rng.sample(nodes, rng.choice([0, 0, 1, 2])))
        kind = rng.choice(["Neg", "AddV2", "AddN", "Split", "Split", "NoOp"])
        reads = [rng.choice(tensors) for _ in range({"Neg": 1, "AddV2": 2, "AddN": 3}.get(kind, 1))]
        if kind == "AddN":
            reads[-1] = reads[0]
        if kind == "NoOp":
            nodes.append(node_def(name, "NoOp", waits))
        elif kind == "Split":
            nodes.append(node_def(name, "Split", ["axis", *reads, *waits], T=tf.float32, num_split=3))
            tensors += [name, f"{name}:1", f"{name}:2"]
        else:
            count = {"N": 3} if kind == "AddN" else {}
            nodes.append(node_def(name, kind, [*reads, *waits], T=tf.float32, **count))
            tensors += [name, f"{name}:0"]
    return graph_of(rng.sample(nodes, len(nodes)))


def disguised(graph: GraphDef, rng: random.Random, keep: tuple[str, ...] = ()) -> GraphDef:
    """The same structure under op types that mean nothing, except those in `keep`."""
    made, names = disguise(graph, rng)
    real = {names[op]: op for op in keep if op in names}
    for node in made.node:
        node.op = real.get(node.op, node.op)
    return made


# %% nbgrader={"grade": false, "grade_id": "edges", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def edges(graph: GraphDef) -> list[Edge]:
    """List all edges of a graph, node by node, the inputs of each in their order.

    Raises:
        ValueError: an input names a node that is not there; the message holds that name.
    """
    ### BEGIN SOLUTION
    names = {node.name for node in graph.node}
    found = []
    for node in graph.node:
        for position, text in enumerate(node.input):
            source, _, output = text.removeprefix("^").partition(":")
            if source not in names:
                raise ValueError(f"node {node.name!r} reads {text!r}, and there is no node {source!r}")
            if text.startswith("^"):
                found.append(Edge(source, -1, node.name, -1))
            else:
                found.append(Edge(source, int(output or 0), node.name, position))
    return found
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "edges-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
five = graph_of(node for node in six_nodes().node if node.name != "done")
with withheld(*TF_NODES):
    five_edges = answer_to("the first five of the six nodes", (), edges, five)
assert type(five_edges) is list, f"edges returns a list, not a {type(five_edges).__name__}"
assert [type(edge) for edge in five_edges] == [Edge] * 6, f"six Edges are due, found {five_edges!r}"
assert five_edges == [
    Edge("axis", 0, "halves", 0),
    Edge("x", 0, "halves", 1),
    Edge("halves", 0, "sum", 0),
    Edge("halves", 1, "sum", 1),
    Edge("sum", 0, "square", 0),
    Edge("sum", 0, "square", 1),
], f"the first five of the six nodes have these edges: {five_edges}"
for lost in ["nowhere", "no/where:1", "^nowhere_1"]:
    name = lost.removeprefix("^").partition(":")[0]
    try:
        with withheld(*TF_NODES):
            with_lost = graph_of([node_def("axis", "NoOp"), node_def("n", "Neg", [lost])])
            refused = answer_to(f"input {lost!r}", (ValueError,), edges, with_lost)
    except ValueError as error:
        assert name in str(error), f"input {lost!r}: the message must name {name!r}; it says {str(error)!r}"
    else:
        raise AssertionError(f"input {lost!r} names a node that is not there: ValueError is due, found {refused!r}")


### BEGIN HIDDEN TESTS
def real_edges(graph):
    """The edges that TensorFlow sees, in the order of the GraphDef."""
    made, found = imported(graph), []
    for node in graph.node:
        operation = made.get_operation_by_name(node.name)
        for position, tensor in enumerate(operation.inputs):
            found.append(Edge(tensor.op.name, tensor.value_index, node.name, position))
        found += [Edge(waited.name, -1, node.name, -1) for waited in operation.control_inputs]
    return found


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
drawn_graphs = [random_graph(rng, size) for size in [0, 1, 3, *[12] * 5, 40]]
with withheld(*TF_NODES):
    all_mine = []
    for drawn in drawn_graphs:
        written = [f"{node.name}({', '.join(node.input)})" for node in drawn.node]
        all_mine.append(answer_to(f"seed {seed}: {written}", (), edges, disguised(drawn, rng)))
for drawn, mine in zip(drawn_graphs, all_mine, strict=True):
    expected = real_edges(drawn)
    assert type(mine) is list, f"seed {seed}: edges returns a list, not a {type(mine).__name__}"
    assert [type(edge) for edge in mine] == [Edge] * len(expected), (
        f"seed {seed}: {len(expected)} Edges are due, found {len(mine)}: {mine!r}"
    )
    for index, (got, want) in enumerate(zip(mine, expected, strict=True)):
        texts = next(list(node.input) for node in drawn.node if node.name == want.target)
        assert got == want, f"seed {seed}: edge {index} is {want} in TensorFlow, yours is {got}; inputs {texts}"
### END HIDDEN TESTS

# %% [markdown] after_passing="edges"
# You read the edges of graphs as TensorFlow does, from the text alone. In C++ the text is read by `ParseTensorName`
# (core/graph/tensor_id.cc), and an `Edge` (core/graph/graph.h) holds `src`, `src_output`, `dst` and `dst_input`, with
# `kControlSlot` for a control edge. A colon cannot stand in a name, so cutting at it is safe.

# %% [markdown]
# ## What makes a list of nodes a graph
#
# A `GraphDef` may hold its nodes in any order; only names connect them. But a graph is constructed node by node, and a
# node can be added when everything that it reads is there. So the importer has to find an order. There is one whenever
# the graph has no cycle. Below, the six nodes were put in another order; each says its position, from 0 on, in the
# order in which TensorFlow created them.

# %%
mixed = graph_of(sorted(six_nodes().node, key=lambda node: node.name))
created = [operation.name for operation in imported(mixed).get_operations()]
view.graph(
    mixed,
    labels={name: f"position {number} in the order" for number, name in enumerate(created)},
    title=f"Written as {', '.join(node.name for node in mixed.node)}",
)


# %% [markdown]
# ### Exercise 4 · The order in which a graph can be built (3 points)
#
# Write `import_order(graph: GraphDef) -> list[str]`, the names of the nodes in the order in which TensorFlow creates
# them. The rule: again and again, of the nodes whose inputs (control inputs too) have all been created and that are not
# created themselves, take the one that stands **first in the GraphDef**.
#
# There is one kind of cycle that is allowed. A loop of the old control flow ends in a node with the op `NextIteration`,
# whose output goes back to a node with the op `Merge` at its beginning. A `Merge` does not wait for data from a
# `NextIteration`; it waits for its other input. In our graphs a `Merge` that reads a `NextIteration` has exactly one
# other data input and no control edge from a `NextIteration`. Every other edge is waited for, also those into a `Merge`
# and those out of a `NextIteration`.
#
# If nodes remain that can never be created, raise `ValueError` with their number in the message. All inputs name nodes
# that exist. Graphs have up to 3,000 nodes, also in one chain, and a chain may stand in the GraphDef back to front;
# Python's recursion ends earlier. Importing graphs is withheld, and op types other than `Merge` and `NextIteration` are
# names that TensorFlow does not know.
#
# ```
# >>> import_order(mixed)      # axis, done, halves, square, sum, x
# ['axis', 'x', 'halves', 'sum', 'square', 'done']
# ```
#
# <details><summary>Hint 1</summary>
#
# Keep for each node how many of its inputs are still missing, and for each node who waits for it. A node that reads the
# same tensor twice misses two inputs; when its source is created, both are there.
# </details>
#
# <details><summary>Hint 2</summary>
#
# Positions instead of names: the ready nodes are a heap of positions in the GraphDef (`heapq.heappush`,
# `heapq.heappop`, imported already). Take the smallest, note its name, subtract one for each edge to a reader, and push
# a reader when its count reaches 0. What never reached 0 remains.
# </details>

# %% nbgrader={"grade": false, "grade_id": "import-order", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def import_order(graph: GraphDef) -> list[str]:
    """Names of the nodes in the order in which TensorFlow creates them.

    Raises:
        ValueError: some nodes wait for each other; the message holds their number.
    """
    ### BEGIN SOLUTION
    position = {node.name: index for index, node in enumerate(graph.node)}
    missing = [0] * len(graph.node)
    readers: list[list[int]] = [[] for _ in graph.node]
    for index, node in enumerate(graph.node):
        for text in node.input:
            source = position[text.removeprefix("^").partition(":")[0]]
            if node.op == "Merge" and graph.node[source].op == "NextIteration":
                continue
            readers[source].append(index)
            missing[index] += 1
    ready = [index for index, count in enumerate(missing) if count == 0]
    order = []
    while ready:
        created = heapq.heappop(ready)
        order.append(graph.node[created].name)
        for reader in readers[created]:
            missing[reader] -= 1
            if missing[reader] == 0:
                heapq.heappush(ready, reader)
    if len(order) < len(graph.node):
        raise ValueError(f"{len(graph.node) - len(order)} nodes wait for each other")
    return order
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "import-order-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
five = graph_of(
    [
        node_def("total", "Q1", ["left", "right", "^wait"]),
        node_def("left", "Q2", ["x:1"]),
        node_def("wait", "Q3"),
        node_def("x", "Q4"),
        node_def("right", "Q2", ["x", "x"]),
    ]
)
with withheld(*TF_NODES):
    order_of_five = answer_to("total, left, wait, x, right", (), import_order, five)
assert type(order_of_five) is list, f"import_order returns a list, not a {type(order_of_five).__name__}"
assert order_of_five == ["wait", "x", "left", "right", "total"], (
    f"total, left, wait, x, right: wait and x read nothing, and wait stands first of the two; found {order_of_five}"
)
knot = graph_of([node_def("a", "Q1", ["b"]), node_def("b", "Q2", ["a"]), node_def("c", "Q3")])
try:
    with withheld(*TF_NODES):
        refused = answer_to("a reads b and b reads a", (ValueError,), import_order, knot)
except ValueError as error:
    told = re.findall(r"\b\d+\b", str(error))
    assert "2" in told, f"2 nodes remain (a and b), the message must hold this number; it says {str(error)!r}"
else:
    raise AssertionError(f"a reads b and b reads a: ValueError is due, returned {refused!r}")


### BEGIN HIDDEN TESTS
def counting_loop():
    """A loop in the old control flow that counts to 3, nodes in the order of execution."""
    loop = {"frame_name": "loop", "is_constant": False, "parallel_iterations": 10, "T": tf.int32}
    number = {"T": tf.int32}
    return [
        node_def("zero", "Const", dtype=tf.int32, value=np.array(0, np.int32)),
        node_def("three", "Const", dtype=tf.int32, value=np.array(3, np.int32)),
        node_def("enter", "Enter", ["zero"], **loop),
        node_def("limit", "Enter", ["three"], **loop | {"is_constant": True}),
        node_def("merge", "Merge", ["enter", "next"], N=2, **number),
        node_def("less", "Less", ["merge", "limit"], **number),
        node_def("cond", "LoopCond", ["less"]),
        node_def("switch", "Switch", ["merge", "cond"], **number),
        node_def("one", "Const", ["^switch"], dtype=tf.int32, value=np.array(1, np.int32)),
        node_def("add", "AddV2", ["switch:1", "one"], **number),
        node_def("next", "NextIteration", ["add"], **number),
        node_def("exit", "Exit", ["switch"], **number),
    ]


def joined(first, second):
    """A Merge that is in no loop; `a`, which `early` reads, is ready before `b`. It waits for both."""
    number = {"T": tf.float32}
    return [
        node_def("merge", "Merge", [first, second], N=2, **number),
        node_def("a", "Placeholder", dtype=tf.float32),
        node_def("early", "Neg", ["a"], **number),
        node_def("b", "Placeholder", dtype=tf.float32),
    ]


def watched_loop():
    """A NextIteration that others read too, and a Merge that has its back edge first and waits for `late`."""
    number = {"T": tf.float32}
    return [
        node_def("seen", "Neg", ["next"], **number),
        node_def("behind", "NoOp", ["^next"]),
        node_def("merge", "Merge", ["next", "x", "^late"], N=2, **number),
        node_def("next", "NextIteration", ["merge"], **number),
        node_def("x", "Placeholder", dtype=tf.float32),
        node_def("other", "Neg", ["x"], **number),
        node_def("late", "NoOp"),
    ]


def tied(graph, rng):
    """The same graph with three more nodes that wait for each other, and one that waits for those."""
    made = GraphDef()
    made.CopyFrom(graph)
    made.node.add(name="k0", op="Neg", input=["k2"]).attr["T"].type = tf.float32.as_datatype_enum
    made.node.add(name="k1", op="Neg", input=["k0"]).attr["T"].type = tf.float32.as_datatype_enum
    made.node.add(name="k2", op="Neg", input=["k1"]).attr["T"].type = tf.float32.as_datatype_enum
    made.node.add(name="behind", op="NoOp", input=["^k1"])
    return graph_of(rng.sample(list(made.node), len(made.node)))


def created_by_tensorflow(graph):
    """Names in the order in which the importer created the nodes."""
    return [operation.name for operation in imported(graph).get_operations()]


def outcome(action, *arguments):
    """What `action` returns, or "ValueError" and the numbers in its message."""
    try:
        return action(*arguments)
    except ValueError as error:
        return ("ValueError", *re.findall(r"\b\d+\b", str(error)))


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
loops = [graph_of(counting_loop()[::-1]), graph_of(watched_loop())]
loops += [graph_of(rng.sample(nodes, len(nodes))) for nodes in [counting_loop()] * 3 + [watched_loop()] * 2]
drawn_graphs = [graph_of(joined("a", "b")), graph_of(joined("b", "a"))]
drawn_graphs += [random_graph(rng, size) for size in [0, 1, *[12] * 6, 40]]
knots = [tied(random_graph(rng, 6), rng) for _ in range(2)]
drawn_kinds = ["graph"] * len(drawn_graphs) + ["loop"] * len(loops) + ["cycle"] * len(knots)
drawn_graphs += loops + knots
texts = [[f"{node.name}({', '.join(node.input)})" for node in drawn.node] for drawn in drawn_graphs]
with withheld(*TF_NODES, TF_IMPORT_IN_C):
    all_mine = []
    for written, drawn in zip(texts, drawn_graphs, strict=True):
        without_ops = disguised(drawn, rng, keep=("Merge", "NextIteration"))
        all_mine.append(outcome(answer_to, f"seed {seed}: {written}", (ValueError,), import_order, without_ops))
for kind, written, drawn, mine in zip(drawn_kinds, texts, drawn_graphs, all_mine, strict=True):
    expected = outcome(created_by_tensorflow, drawn)
    assert type(mine) is type(expected), (
        f"seed {seed}: TensorFlow gives {str(expected)[:200]}, import_order {str(mine)[:200]}; "
        f"a {kind} written as {written}"
    )
    if kind == "cycle":
        assert expected[1] in mine[1:], (
            f"seed {seed}: of {written}, {expected[1]} nodes remain; the message holds the numbers {mine[1:]}"
        )
        continue
    differing = [place for place, want in enumerate(expected) if [*mine[place : place + 1]] != [want]]
    first = (differing or [len(expected)])[0]
    assert mine == expected, (
        f"seed {seed}: from position {first} on TensorFlow creates {expected[first : first + 3]}, import_order "
        f"{mine[first : first + 3]!r}; a {kind} written as {written}"
    )
# A chain can be built in one order only, however it is written.
links = [node_def("n0", "Q1"), *(node_def(f"n{i}", "Q1", [f"^n{i - 1}"]) for i in range(1, 3000))]
for way, chain in [("back to front", links[::-1]), ("shuffled", rng.sample(links, len(links)))]:
    with withheld(*TF_NODES):
        try:
            mine = import_order(graph_of(chain))
        except RecursionError:
            mine = "RecursionError"
    assert mine == [f"n{index}" for index in range(3000)], (
        f"seed {seed}: a chain n0, n1, … of 3,000 nodes, {way}, is created from n0 on; found {str(mine)[:80]} …"
    )
### END HIDDEN TESTS

# %% [markdown] after_passing="import-order"
# Node by node, you created random graphs in TensorFlow's own order, and a `while` loop among them. In C++ this is
# `GraphConstructor` (core/common_runtime/graph_constructor.cc): `InitFromEdges` counts what each node waits for,
# `Convert` takes ready nodes from an ordered set of positions. Ours uses a heap for the same purpose: the smallest
# position must come out fast, also when 3,000 nodes stand in the worst order.

# %% [markdown]
# ## Which phase notices?
#
# Two phases mean that a mistake has more than one place to be found in. Shapes show it well. A placeholder has a
# **static** shape, which may leave dimensions open (`None`), or even their number. A fed array has all of them. Below,
# three programs that multiply matrices, each wrong in its own moment.

# %%
def attempt(words: str, action: Callable[[], object]) -> None:
    """Print the result of an action, or its error in one line."""
    try:
        print(words, action())
    except (ValueError, tf.errors.OpError) as error:
        lines = [
            line
            for line in str(error).splitlines()
            if "incompatible" in line or "Cannot feed" in line or "must be" in line
        ]
        print(words, type(error).__name__, "·", (lines or [str(error)])[0][:88])


def product(static_a: object, static_b: object, value_a: tuple, value_b: tuple) -> object:
    """Construct a MatMul of two placeholders, feed it with ones and run it."""
    with tf.Graph().as_default():
        a, b = tf1.placeholder(tf.float32, static_a, "a"), tf1.placeholder(tf.float32, static_b, "b")
        made = tf.raw_ops.MatMul(a=a, b=b)
        with tf1.Session(config=plain_config()) as session:
            return session.run(made, {a: np.ones(value_a), b: np.ones(value_b)}).shape


attempt("[2, 3] by [2, 3]:      ", lambda: product([2, 3], [2, 3], (2, 3), (2, 3)))
attempt("[2, None] fed (3, 3):  ", lambda: product([2, None], [None, 3], (3, 3), (3, 3)))
attempt("(2, 3) by (2, 3) fed:  ", lambda: product([2, None], None, (2, 3), (2, 3)))

# %% [markdown]
# ### Exercise 5 · Which phase notices? (2 points)
#
# The graph is one node, `MatMul` of two placeholders `a` and `b` (float32, nothing transposed). `static_a` and
# `static_b` are their static shapes: a tuple of `int` and `None`, or `None` where not even the rank is known. They are
# fed with arrays of the shapes `value_a` and `value_b`, tuples of two `int` from 1 on.
#
# Write `first_refusal(static_a, static_b, value_a, value_b) -> str`, which says where this program first fails:
#
# - `"construction"`: the node cannot be made. It cannot if a static shape of known rank does not have rank 2, or if the
#   columns of `a` and the rows of `b` are both known and differ.
# - `"feeding"`: the session refuses an array before it runs anything, because the array does not fit its placeholder.
#   It fits a shape of unknown rank always, else if the ranks agree and every known dimension does.
# - `"running"`: the kernel refuses the two arrays.
# - `"none"`: nothing fails.
#
# Trying it out is withheld (sessions, placeholders, `MatMul` and the making of nodes). `tf.TensorShape` is not.
#
# ```
# >>> first_refusal((2, None), None, (2, 3), (2, 3))
# 'running'
# ```
#
# <details><summary>Hint 1</summary>
#
# Take the phases in their order and return at the first that fails. What is the same question in two phases, asked of
# different numbers?
# </details>
#
# <details><summary>Hint 2</summary>
#
# A helper says whether a value fits a static shape: the static one is `None`, or both have the same length and in each
# place the static dimension is `None` or equal. The kernel looks at the values only: the columns of the first against
# the rows of the second.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-shapes", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
TF_MATMUL = (*TF_SESSIONS, *TF_NODES, "tensorflow.raw_ops.MatMul", "tensorflow.linalg.matmul")
TF_MATMUL += ("tensorflow.python.ops.gen_math_ops.mat_mul",)
Shape = tuple[int | None, ...] | None


def random_shapes(rng: random.Random) -> tuple[Shape, Shape, tuple[int, int], tuple[int, int]]:
    """Two static shapes, of unknown, right or wrong rank, and two value shapes that often fit them."""
    statics, values = [], []
    for _ in range(2):
        value = tuple(rng.choice([1, 2, 3]) for _ in range(2))
        static = tuple(rng.choice([None, size, size, 2]) for size in value)
        if rng.random() < 0.15:
            static = rng.choice([(), (2,), (None,), (2, 2, None)])
        statics.append(None if rng.random() < 0.15 else static)
        values.append(value)
    return statics[0], statics[1], values[0], values[1]


# %% nbgrader={"grade": false, "grade_id": "first-refusal", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def first_refusal(static_a: Shape, static_b: Shape, value_a: tuple[int, int], value_b: tuple[int, int]) -> str:
    """Say which phase first refuses a MatMul: "construction", "feeding", "running" or "none"."""
    ### BEGIN SOLUTION

    def fits(static, value):
        return static is None or (
            len(static) == len(value) and all(due in (None, size) for due, size in zip(static, value, strict=True))
        )

    if any(static is not None and len(static) != 2 for static in (static_a, static_b)):
        return "construction"
    if static_a and static_b and None not in (static_a[1], static_b[0]) and static_a[1] != static_b[0]:
        return "construction"
    if not (fits(static_a, value_a) and fits(static_b, value_b)):
        return "feeding"
    return "none" if value_a[1] == value_b[0] else "running"
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "first-refusal-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
for shapes, due in [
    (((2, 3), (2, 3), (2, 3), (2, 3)), "construction"),
    (((2, None), (None, 3), (3, 3), (3, 3)), "feeding"),
    (((2, None), None, (2, 3), (2, 3)), "running"),
    (((2, None), (3, 1), (2, 3), (3, 1)), "none"),
]:
    with withheld(*TF_MATMUL):
        said = answer_to(f"static shapes {shapes[:2]}, fed {shapes[2:]}", (), first_refusal, *shapes)
    assert type(said) is str, f"first_refusal returns a str, not a {type(said).__name__}"
    assert said == due, f"static shapes {shapes[:2]}, fed {shapes[2:]}: {due!r} is due, found {said!r}"


### BEGIN HIDDEN TESTS
def real_refusals(cases):
    """The three steps, tried on TensorFlow: one graph for all cases, one run for each node that could be made."""
    found = []
    with tf.Graph().as_default(), tf1.Session(config=plain_config()) as session:
        made = []
        for static_a, static_b, _, _ in cases:
            a, b = tf1.placeholder(tf.float32, static_a), tf1.placeholder(tf.float32, static_b)
            try:
                made.append((a, b, tf.raw_ops.MatMul(a=a, b=b)))
            except ValueError:
                made.append(None)
        for nodes, (_, _, value_a, value_b) in zip(made, cases, strict=True):
            if nodes is None:
                found.append("construction")
                continue
            a, b, multiplied = nodes
            try:
                session.run(multiplied.op, {a: np.ones(value_a, np.float32), b: np.ones(value_b, np.float32)})
                found.append("none")
            except ValueError:
                found.append("feeding")
            except tf.errors.InvalidArgumentError:
                found.append("running")
    return found


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
cases = [
    (None, None, (2, 3), (3, 1)),
    (None, None, (2, 3), (2, 3)),
    (None, (2, 2), (2, 3), (3, 2)),
    ((), None, (2, 2), (2, 2)),
    (None, (2,), (2, 2), (2, 2)),
    ((1, 2, 3), None, (1, 2), (2, 3)),
    ((2, 3), (2, 3), (3, 3), (2, 3)),
    ((3, None), (None, 3), (2, 2), (2, 3)),
    ((None, 2), (None, 1), (1, 2), (2, 3)),
    ((None, 3), (3, None), (1, 2), (2, 3)),
    ((None, 2), (None, None), (1, 2), (1, 1)),
    ((2, 3), (3, 1), (2, 2), (2, 1)),
    ((2, 3), (3, 1), (2, 3), (3, 2)),
    *(random_shapes(rng) for _ in range(40)),
]
with withheld(*TF_MATMUL):
    mine = [
        answer_to(f"seed {seed}: static shapes {case[:2]}, fed {case[2:]}", (), first_refusal, *case) for case in cases
    ]
for case, got, want in zip(cases, mine, real_refusals(cases), strict=True):
    assert type(got) is str, f"seed {seed}: first_refusal returns a str, not a {type(got).__name__}"
    assert got == want, (
        f"seed {seed}: static shapes {case[0]} and {case[1]}, fed {case[2]} and {case[3]}: "
        f"TensorFlow says {want!r}, first_refusal {got!r}"
    )
### END HIDDEN TESTS

# %% [markdown] after_passing="first-refusal"
# Three different pieces of code refused, and you told which would be first. At construction it is the op's shape
# function (`MatMulShape`, core/framework/common_shape_fns.cc); at feeding it is Python's session
# (`BaseSession._run`, python/client/session.py), before the runtime is called; at run time it is the kernel
# (`BaseBatchMatMulOp`, core/kernels/matmul_op_impl.h). What a shape leaves open, an earlier phase cannot see.

# %% [markdown]
# ## Device
#
# A **device** is a place where kernels run and tensors lie. A session has a list of them, each with a full name:
# `/job:localhost/replica:0/task:0/device:CPU:0`. Job and task name a process of a cluster, type and number a device of
# that process (lab 1-1's parameter server would be `/job:ps`). A node carries a **request**, which may leave out any of
# the parts. Before a step runs, each of its nodes gets one device that fits.

# %%
def device_of(session: tf1.Session, name: str) -> str:
    """Runs a node and reads its device from the graphs that the step ran."""
    graphs = trace_run(session, name).partitions.values()
    return next(node.device for graph in graphs for node in graph.node if node.name == name)


with tf.Graph().as_default() as four_requests:
    with tf.device("/cpu:0"):
        x = tf.constant(np.zeros(20, np.float32))
    for number, wanted in enumerate(["", "/cpu:1", "/task:0/device:CPU:2", "/gpu:0"]):
        with tf.device(wanted):
            tf.negative(x, name=f"n{number}")

config = plain_config(3)
config.graph_options.place_pruned_graph = True  # place only what a step needs, so that one error is not everybody's
with tf1.Session(graph=four_requests, config=config) as session:
    print("devices:", *(device.name for device in session.list_devices()), sep="\n    ")
    for operation in four_requests.get_operations()[1:]:
        try:
            print(f"{operation.name} requests {operation.device!r:<24} gets {device_of(session, operation.name)}")
        except tf.errors.InvalidArgumentError as error:
            print(f"{operation.name} requests {operation.device!r:<24} gets", type(error).__name__)

# %% [markdown]
# ### Exercise 6 · The full name of a place (3 points)
#
# Write `full_device(request: str, devices: list[str]) -> str`. `devices` are the full names of a session's devices, in
# its order: always job, replica, task and device, the type in capitals. The result is the first of them that fits the
# request. (Which of several fitting devices TensorFlow prefers is lab 2-3; among CPUs it is the first.)
#
# A request names any of `job:NAME`, `replica:N`, `task:N` and a device, each at most once, in any order, separated by
# `/`; a leading `/` may be missing. A device is written `device:TYPE:N` or, for the types `cpu` and `gpu`, short
# `TYPE:N`. The types `cpu` and `gpu` may be written in small letters or in capitals (`device:cpu:1`, `GPU:0`), and mean
# the same; other types do not occur.
#
# `*` in the place of the device's number fits any. Parts that are not named fit all, so the empty request fits every
# device. Job names are compared as they are. (TensorFlow reads a few more forms, such as `/job:*` and `/cpu`; they do
# not occur here.)
#
# If no device fits, raise `tf.errors.InvalidArgumentError` (its constructor takes `(None, None, message)`) with the
# request in the message. `tf.DeviceSpec`, `tf.device` and sessions are withheld.
#
# ```
# >>> full_device("cpu:1", ["/job:w/replica:0/task:0/device:CPU:0", "/job:w/replica:0/task:0/device:CPU:1"])
# '/job:w/replica:0/task:0/device:CPU:1'
# ```
#
# <details><summary>Hint 1</summary>
#
# Turn a name into a dict of its parts (job, replica, task, type, number), and do the same with the names of the
# devices. A request fits when each of its entries is found in the device's dict.
# </details>
#
# <details><summary>Hint 2</summary>
#
# `key, *rest = part.split(":")` for each part between slashes, empty parts left out. For `job`, `replica` and `task`
# the rest is one value. Else drop a leading `device`: what is left is the type, in capitals, and the number, which is
# not entered if it is `*`.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-devices", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
TF_DEVICES = (
    *TF_SESSIONS,
    "tensorflow.device",
    "tensorflow.DeviceSpec",
    "tensorflow.compat.v1.DeviceSpec",
    "tensorflow.python.framework.device_spec.DeviceSpecV2._string_to_components",
    "tensorflow.DeviceSpec.from_string",
    "tensorflow.DeviceSpec.parse_from_string",
    "tensorflow.compat.v1.DeviceSpec.from_string",
    "tensorflow.compat.v1.DeviceSpec.parse_from_string",
)


def random_request(rng: random.Random, jobs: list[str]) -> str:
    """Some of the four parts in random order and writing; about half of the requests name a device."""
    parts = []
    if rng.random() < 0.4:
        parts.append(f"job:{rng.choice(jobs)}")
    if rng.random() < 0.3:
        parts.append(f"replica:{rng.choice([0, 0, 0, 1])}")
    if rng.random() < 0.4:
        parts.append(f"task:{rng.choice([0, 0, 1])}")
    if rng.random() < 0.7 or not parts:
        kind = rng.choice(["cpu", "CPU", "cpu", "CPU", "gpu", "GPU"])
        parts.append(rng.choice(["", "device:"]) + f"{kind}:{rng.choice(['0', '1', '2', '*'])}")
    rng.shuffle(parts)
    return rng.choice(["/", "/", ""]) + "/".join(parts)


# %% nbgrader={"grade": false, "grade_id": "full-device", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def full_device(request: str, devices: list[str]) -> str:
    """The first of `devices` (full names) that fits `request`.

    Raises:
        tf.errors.InvalidArgumentError: none fits; the message holds the request.
    """
    ### BEGIN SOLUTION

    def parts_of(name):
        found = {}
        for part in filter(None, name.split("/")):
            key, *rest = part.split(":")
            if key in ("job", "replica", "task"):
                found[key] = rest[0]
                continue
            kind, number = rest if key == "device" else (key, *rest)
            found["type"] = kind.upper()
            if number != "*":
                found["number"] = number
        return found

    wanted = parts_of(request).items()
    for device in devices:
        if wanted <= parts_of(device).items():
            return device
    raise tf.errors.InvalidArgumentError(None, None, f"no device fits the request {request!r}")
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "full-device-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
three_cpus = [f"/job:localhost/replica:0/task:0/device:CPU:{number}" for number in range(3)]
for request, due in [("/cpu:1", 1), ("/device:CPU:2/task:0", 2), ("cpu:*", 0), ("", 0)]:
    with withheld(*TF_DEVICES):
        found = answer_to(f"request {request!r} among three CPUs", (), full_device, request, list(three_cpus))
    assert type(found) is str, f"full_device returns a str, not a {type(found).__name__}"
    assert found == three_cpus[due], (
        f"request {request!r} among three CPUs: {three_cpus[due]!r} is due, found {found!r}"
    )
for request in ["/gpu:0", "/job:ps/cpu:0", "CPU:3"]:
    case = f"request {request!r} among three CPUs"
    try:
        with withheld(*TF_DEVICES):
            found = answer_to(case, (tf.errors.InvalidArgumentError,), full_device, request, list(three_cpus))
    except tf.errors.InvalidArgumentError as error:
        assert request in str(error), f"the message must hold the request {request!r}; it says {str(error)!r}"
    else:
        raise AssertionError(
            f"no device among three CPUs fits {request!r}: InvalidArgumentError is due, found {found!r}"
        )


### BEGIN HIDDEN TESTS
def placed_by_tensorflow(requests):
    """The device on which a session with three CPUs runs a Neg with each request, None where it refuses."""
    config = plain_config(3)
    config.device_count["GPU"] = 0
    config.graph_options.place_pruned_graph = True  # an impossible request fails its own step only
    placed = []
    with tf.Graph().as_default():
        with tf.device("/cpu:0"):
            fed = tf1.placeholder(tf.float32, [20], name="fed")
        for number, wish in enumerate(requests):
            with tf.device(wish):
                tf.raw_ops.Neg(x=fed, name=f"n{number}")
        with tf1.Session(config=config) as session:
            for number, _ in enumerate(requests):
                said = tf1.RunMetadata()
                try:
                    session.run(f"n{number}", {fed: [0.0] * 20}, tf1.RunOptions(output_partition_graphs=True), said)
                except tf.errors.InvalidArgumentError:
                    placed.append(None)
                    continue
                nodes = [node for graph in said.partition_graphs for node in graph.node]
                placed.append(next(node.device for node in nodes if node.name == f"n{number}"))
    return placed


def fitting(request, devices):
    """The first device whose fields agree with all that TensorFlow reads out of the request."""
    spec = tf.DeviceSpec.from_string(request)
    fields = ("job", "replica", "task", "device_type", "device_index")
    wanted = {field: getattr(spec, field) for field in fields if getattr(spec, field) is not None}
    for device in devices:
        full = tf.DeviceSpec.from_string(device)
        if wanted == {field: getattr(full, field) for field in wanted}:
            return device
    return None


def asked(request, devices):
    """What full_device returns, or None if it raises the error that is due."""
    case = f"seed {seed}: request {request!r} among the devices {devices}"
    with withheld(*TF_DEVICES):
        try:
            return answer_to(case, (tf.errors.InvalidArgumentError,), full_device, request, list(devices))
        except tf.errors.InvalidArgumentError as error:
            assert request in str(error), f"the message must hold the request {request!r}; it says {str(error)!r}"
            return None


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
requests = [
    "",
    "/job:localhost",
    "/cpu:2",
    "cpu:0",
    "/device:cpu:1",
    "/task:0",
    "/task:1",
    "/replica:1",
    "/device:GPU:*",
]
requests += ["CPU:1/job:localhost", "/job:LOCALHOST", "/task:0/job:localhost/cpu:1"]
requests += [random_request(rng, ["localhost", "localhost", "ps"]) for _ in range(20)]
mine = [asked(request, three_cpus) for request in requests]
for request, got, want in zip(requests, mine, placed_by_tensorflow(requests), strict=True):
    assert got == want, f"seed {seed}: request {request!r} among three CPUs: TensorFlow's is {want}, yours {got!r}"
cluster = [
    f"/job:{job}/replica:0/task:{task}/device:{device}"
    for job, task in [("ps", 0), ("worker", 0), ("worker", 1), ("worker", 10)]
    for device in ["CPU:0", "CPU:10", "CPU:1", "GPU:0", "GPU:2"]
]
told = [
    "/cpu:1",
    "/cpu:*",
    "/task:1",
    "/gpu:*",
    "/job:worker/gpu:2",
    "/job:ps",
    "/task:10/cpu:*",
    "/job:work",
    "/cpu:1/task:10",
]
cases = [(request, devices) for request in told for devices in (cluster, cluster[::-1])]
for _ in range(40):
    cases.append((random_request(rng, ["ps", "worker", "work"]), rng.sample(cluster, rng.choice([6, len(cluster)]))))
for request, devices in cases:
    got = asked(request, devices)
    assert got == fitting(request, devices), (
        f"seed {seed}: request {request!r}: due is {fitting(request, devices)}, yours {got!r}; "
        f"devices, in their order: {', '.join(devices)}"
    )
### END HIDDEN TESTS

# %% [markdown] after_passing="full-device"
# You found the device on which a session with three CPUs ran each node, and read requests as `tf.DeviceSpec` does, also
# in a cluster that is not there. In C++ names are read by `DeviceNameUtils::ParseFullName` and matched by
# `IsCompleteSpecification` (xla/tsl/util/device_name_utils.cc). Comparing parts and not texts is what keeps `CPU:1`
# from fitting `CPU:10`. Nodes that must stand together, and what soft placement changes, are lab 2-3.

# %% [markdown]
# ## Session and variable
#
# A tensor has a value during a step, and then it is gone: the next step computes it again. What is to outlive a step
# must stand in a node with a memory of its own. There are two kinds in this graph: a **variable** `v` and a **queue**.
# The picture shows them with the nodes that use them, and leaves a few others out. `queue` carries a request:
# `tf.queue.FIFOQueue` asks for a CPU of any number. The queue is for the last part.

# %% nbgrader={"grade": false, "grade_id": "given-state", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def stateful_graph(capacity: int = 3) -> tf.Graph:
    """A variable and a queue of float32 scalars, and the nodes that use them.

    Placeholders: `x` (float32), `n` (int32). Of the variable: targets `init`; tensors `add:0` (v after v += x), `t:0`
    (v + 10). Of the queue: targets `enqueue` (of x), `close`; tensors `dequeue:0`, `dequeue_many:0` and
    `dequeue_up_to:0` (of n), `size:0`, `is_closed:0`.
    """
    with tf.Graph().as_default() as made:
        x = tf1.placeholder(tf.float32, [], name="x")
        n = tf1.placeholder(tf.int32, [], name="n")
        v = tf1.get_variable("v", [], initializer=tf1.zeros_initializer(), use_resource=True)
        tf.group(v.initializer, name="init")
        tf.identity(v.assign_add(x), name="add")
        tf.add(v, 10.0, name="t")
        queue = tf.queue.FIFOQueue(capacity, tf.float32, shapes=[[]], name="queue")
        queue.enqueue(x, name="enqueue")
        queue.dequeue(name="dequeue")
        queue.dequeue_many(n, name="dequeue_many")
        queue.dequeue_up_to(n, name="dequeue_up_to")
        queue.size(name="size")
        queue.is_closed(name="is_closed")
        queue.close(name="close")
    return made


def assert_replayed(mine: object, real: list, actions: list[tuple], where: str) -> None:
    """Assert that two lists of results agree action by action, in value and in type."""
    assert type(mine) is list, f"{where}: a list with one result per action is due, found a {type(mine).__name__}"
    assert len(mine) == len(actions), f"{where}: {len(actions)} actions, {len(mine)} results: {mine!r}"
    for index, (got, want) in enumerate(zip(mine, real, strict=True)):
        same = type(got) is type(want) and got == want
        if same and type(want) is list:
            same = [type(part) for part in got] == [type(part) for part in want]
        assert same, (
            f"{where}: action {index}, {actions[index]}, gives {want!r} in TensorFlow, yours {got!r}; "
            f"before it came {actions[:index]}"
        )


# %%
aside = {
    "v/IsInitialized/VarIsInitializedOp",
    "v/Read/ReadVariableOp",
    "ReadVariableOp",
}  # made, and used by nobody here
aside |= {"n", "dequeue_many", "dequeue_up_to", "size", "is_closed", "close"}
shown = graph_of(node for node in stateful_graph().as_graph_def().node if node.name not in aside)
memory = {"v": "holds a value between steps", "queue": "holds elements between steps"}
view.graph(shown, highlight=memory, direction="LR", title="Two nodes with a memory, and who uses them")

# %% [markdown]
# The node of the variable, `v`, is a `VarHandleOp`. Its output is not the value but a *handle*, which says where the
# value is. And where is it? Not in the graph: the graph is plain data, and two sessions may share it.

# %%
with tf1.Session(graph=stateful_graph(), config=plain_config()) as a, tf1.Session(graph=a.graph) as b:
    a.run("init")
    print("a adds 5:  ", a.run("add:0", {"x:0": 5.0}))
    print("a reads t: ", a.run("t:0"))
    try:
        b.run("t:0")
    except tf.errors.FailedPreconditionError as error:
        print("b reads t: ", type(error).__name__)

# %% [markdown]
# ### Exercise 7 · What lives where (2 points)
#
# Several sessions share one graph: a float32 variable `v` whose initialiser gives 0, `add` = v after `v += x`, and `t`
# = `v + 10`. Write `replay(actions: list[tuple]) -> list[float | str | None]`, with one result per action. An action is
# one of these, where `s` is the name of a session:
#
# - `(s, "init")` runs the initialiser. Result: `None`.
# - `(s, "add", x)` adds the `float` x and fetches `add`. Result: a `float`.
# - `(s, "read")` fetches `t`. Result: a `float`.
# - `(s, "restart")` closes the session s and opens a new one over the same graph, again called s. Result: `None`.
#
# Where TensorFlow raises because `v` has no value in that session, the result is `"uninitialised"`. (A read raises
# `FailedPreconditionError` and `add` raises `NotFoundError`; both are `"uninitialised"` here.) Every session is open at
# the beginning and nothing has been run in it; names of sessions are not known beforehand. All x are multiples of 0.5
# below 64, so that float32 loses nothing. Sessions, variables and `tf.function` are withheld.
#
# ```
# >>> replay([("A", "init"), ("A", "add", 5.0), ("A", "read"), ("B", "read")])
# [None, 5.0, 15.0, 'uninitialised']
# ```
#
# <details><summary>Hint 1</summary>
#
# Decide for each of `v`, `add` and `t` whether something has to be kept between two actions, and for whom. What does a
# second `init` do to it?
# </details>
#
# <details><summary>Hint 2</summary>
#
# A dict from the name of a session to the value of `v` there. A session without an entry has no value: `init` makes the
# entry, `restart` takes it away, if there is one.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-actions", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
TF_STATE = (
    *TF_SESSIONS,
    "tensorflow.Variable",
    "tensorflow.function",
    "tensorflow.compat.v1.get_variable",
    "tensorflow.raw_ops.VarHandleOp",
    "tensorflow.python.ops.gen_resource_variable_ops.var_handle_op",
    "tensorflow.python.eager.execute.quick_execute",
)


def random_actions(rng: random.Random, count: int = 18) -> list[tuple]:
    """Actions on three sessions: a fifth of them initialise, few restart."""
    actions = []
    for _ in range(count):
        name, kind = (
            rng.choice("ABC"),
            rng.choice(["init", "add", "add", "add", "read", "read", "read", "restart", "init"]),
        )
        actions.append((name, kind, rng.randrange(1, 128) / 2) if kind == "add" else (name, kind))
    return actions


# %% nbgrader={"grade": false, "grade_id": "two-sessions", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def replay(actions: list[tuple]) -> list[float | str | None]:
    """What each action on a session returns: a float, None, or "uninitialised"."""
    ### BEGIN SOLUTION
    values: dict[str, float] = {}
    results: list[float | str | None] = []
    for session, kind, *rest in actions:
        result: float | str | None = None
        if kind == "init":
            values[session] = 0.0
        elif kind == "restart":
            values.pop(session, None)
        elif session not in values:
            result = "uninitialised"
        elif kind == "add":
            values[session] += rest[0]
            result = values[session]
        else:
            result = values[session] + 10.0
        results.append(result)
    return results
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "two-sessions-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
eight = [
    ("A", "init"),
    ("A", "add", 5.0),
    ("B", "add", 1.0),
    ("B", "init"),
    ("B", "read"),
    ("A", "read"),
    ("A", "restart"),
    ("A", "read"),
]
with withheld(*TF_STATE):
    eight_results = answer_to(f"actions {eight}", (), replay, list(eight))
assert_replayed(eight_results, [None, 5.0, "uninitialised", None, 10.0, 15.0, None, "uninitialised"], eight, "A and B")


### BEGIN HIDDEN TESTS
def real_replay(actions, shared):
    """The same actions on real sessions over one graph."""
    results, sessions = [], {}
    for name, kind, *rest in actions:
        if name not in sessions:
            sessions[name] = tf1.Session(graph=shared, config=plain_config())
        session = sessions[name]
        result = None
        try:
            if kind == "init":
                session.run("init")
            elif kind == "add":
                result = float(session.run("add:0", {"x:0": rest[0]}))
            elif kind == "read":
                result = float(session.run("t:0"))
            else:
                session.close()
                sessions[name] = tf1.Session(graph=shared, config=plain_config())
        except (tf.errors.FailedPreconditionError, tf.errors.NotFoundError):
            result = "uninitialised"
        results.append(result)
    for session in sessions.values():
        session.close()
    return results


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
shared = stateful_graph()
sequences = [
    [("s1", "add", 2.0), ("s1", "init"), ("s1", "read"), ("s1", "read"), ("s1", "add", 2.5), ("s1", "read")],
    [
        ("A", "init"),
        ("A", "add", 3.0),
        ("A", "init"),
        ("A", "read"),
        ("B", "read"),
        ("A", "restart"),
        ("A", "add", 1.0),
    ],
    [
        ("B", "restart"),
        ("B", "init"),
        ("A", "init"),
        ("A", "add", 7.5),
        ("B", "add", 0.5),
        ("A", "read"),
        ("B", "read"),
    ],
    [],
]
for actions in sequences + [random_actions(rng) for _ in range(6)]:
    with withheld(*TF_STATE):
        mine = answer_to(f"seed {seed}: actions {actions}", (), replay, list(actions))
    assert_replayed(mine, real_replay(actions, shared), actions, f"seed {seed}")
### END HIDDEN TESTS

# %% [markdown] after_passing="two-sessions"
# You predicted real sessions through random sequences. A variable's value is a resource in the `ResourceMgr`
# (core/framework/resource_mgr.h) of a device, found by its name; and each `DirectSession`
# (core/common_runtime/direct_session.h) has devices of its own, which go with it. So a new session over the old graph
# knows nothing of the old values. `t` needed no entry: what is no resource is computed in each step anew.

# %% [markdown]
# In TensorFlow 2 nobody opens a session. There is one runtime for the whole process, and a `tf.Variable` is a Python
# object that owns its resource: the value lives as long as the object does.

# %%
kept = tf.Variable(0.0)


@tf.function(autograph=False)
def add(x):
    return kept.assign_add(x)


print(add(5.0).numpy(), add(1.0).numpy(), (kept + 10.0).numpy())

# %% [markdown]
# ## Queue
#
# A queue is the other node with a memory. Steps put elements in and take them out; between steps the elements stay. And
# a queue has something that no other node of this lab has: an operation on it can **wait**, for room or for elements,
# and with it the `session.run` that asked for it. Lab 1-4's input half and training half met in one.
#
# So that waiting can end, a queue can be closed: nothing more is put in, and what is inside may still be taken out.
# Whoever asks for more than is left gets an error and not an endless wait.

# %%
with tf1.Session(graph=stateful_graph(), config=plain_config()) as session:
    for value in (1.0, 2.0, 3.0):
        session.run("enqueue", {"x:0": value})
    print("dequeue:            ", session.run("dequeue:0"))
    session.run("close")
    try:
        session.run("dequeue_many:0", {"n:0": 3})
    except tf.errors.OutOfRangeError as error:
        print("dequeue_many of 3:  ", type(error).__name__)
    print("size:               ", session.run("size:0"))
    print("dequeue_up_to of 3: ", session.run("dequeue_up_to:0", {"n:0": 3}))

# %% [markdown]
# ### Exercise 8 · A queue is a node with memory (4 points)
#
# Write `replay_queue(capacity: int, actions: list[tuple]) -> list`. A first-in-first-out queue of float32 scalars
# starts empty and open; actions follow one after the other. The result has one entry per action. An action that would
# wait gives `"blocks"` and is taken back: it changes nothing. x is a `float`, n an `int` from 1 on.
#
# | action | open queue | closed queue |
# | --- | --- | --- |
# | `("enqueue", x)` | `None`; waits while the queue is full | `"CancelledError"` |
# | `("dequeue",)` | the first element; waits while there is none | the same; `"OutOfRangeError"` if there is none |
# | `("dequeue_many", n)` | a list of n elements; waits while there are fewer | the same; `"OutOfRangeError"` if there are fewer, and they stay in |
# | `("dequeue_up_to", n)` | as `dequeue_many` | up to n elements; `"OutOfRangeError"` if there is none |
# | `("size",)` | the number of elements, an `int` | the same |
# | `("close",)` | `None`; the elements stay in | `"CancelledError"` |
#
# Elements come back as `float`, lists as `list` of `float`. n may be larger than the capacity; then an open queue
# waits. All x are multiples of 0.5 below 64, so that float32 loses nothing. `capacity < 1` raises `ValueError`
# (TensorFlow takes a negative one for no limit). TensorFlow's queues and sessions are withheld.
#
# ```
# >>> replay_queue(2, [("enqueue", 1.5), ("enqueue", 2.0), ("enqueue", 3.0), ("dequeue",), ("dequeue_many", 2)])
# [None, None, 'blocks', 1.5, 'blocks']
# ```
#
# <details><summary>Hint 1</summary>
#
# All three ways to take elements out are one: take n, or say why not. What differs is what happens on a closed queue
# when fewer than n are left.
# </details>
#
# <details><summary>Hint 2</summary>
#
# A list of elements and a flag. For the three dequeues: n (1 for `dequeue`); on a closed queue `dequeue_up_to` wants
# min(n, what is left), but at least 1. If there are fewer than wanted, the answer is `"OutOfRangeError"` when closed,
# else `"blocks"`; otherwise cut them off at the front.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-queue", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
TF_QUEUES = (
    *TF_SESSIONS,
    "tensorflow.queue",
    "tensorflow.raw_ops.FIFOQueueV2",
    "tensorflow.raw_ops.FIFOQueue",
    "tensorflow.raw_ops.PaddingFIFOQueueV2",
    "tensorflow.raw_ops.PriorityQueueV2",
    "tensorflow.python.ops.gen_data_flow_ops.fifo_queue_v2",
    "tensorflow.python.ops.gen_data_flow_ops.padding_fifo_queue_v2",
    "tensorflow.python.ops.gen_data_flow_ops.priority_queue_v2",
    "tensorflow.python.eager.execute.quick_execute",
    "tensorflow.python.ops.data_flow_ops.QueueBase.__init__",
)


def random_queue_actions(rng: random.Random, count: int = 20) -> list[tuple]:
    """Actions on a queue, which is closed at some time in most cases."""
    actions: list[tuple] = []
    for index in range(count):
        kinds = ["enqueue"] * 5 + ["dequeue", "dequeue", "dequeue_many", "dequeue_up_to", "dequeue_up_to", "size"]
        kind = rng.choice(kinds + ["close"] * (index > 5))
        if kind == "enqueue":
            actions.append((kind, rng.randrange(128) / 2))
        else:
            actions.append((kind, rng.randrange(1, 5)) if kind.startswith("dequeue_") else (kind,))
    return actions


# %% nbgrader={"grade": false, "grade_id": "fifo", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def replay_queue(capacity: int, actions: list[tuple]) -> list:
    """What each action on a first-in-first-out queue returns, "blocks" where it would wait.

    Raises:
        ValueError: the capacity is less than 1.
    """
    ### BEGIN SOLUTION
    if capacity < 1:
        raise ValueError(f"a queue holds at least one element, the capacity is {capacity}")
    elements: list[float] = []
    closed = False

    def take(kind, count):
        wanted = max(1, min(count, len(elements))) if closed and kind == "dequeue_up_to" else count
        if len(elements) < wanted:
            return "OutOfRangeError" if closed else "blocks"
        taken = elements[:wanted]
        del elements[:wanted]
        return taken[0] if kind == "dequeue" else taken

    results: list = []
    for kind, *rest in actions:
        result = None
        if kind == "size":
            result = len(elements)
        elif kind.startswith("dequeue"):
            result = take(kind, rest[0] if rest else 1)
        elif closed:
            result = "CancelledError"
        elif kind == "close":
            closed = True
        elif len(elements) == capacity:
            result = "blocks"
        else:
            elements.append(rest[0])
        results.append(result)
    return results
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "fifo-test", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
nine = [
    ("dequeue",),
    ("enqueue", 1.5),
    ("enqueue", 2.0),
    ("enqueue", 3.0),
    ("dequeue",),
    ("dequeue_up_to", 2),
    ("close",),
    ("dequeue_up_to", 2),
    ("dequeue",),
]
with withheld(*TF_QUEUES):
    nine_results = answer_to(f"capacity 2, actions {nine}", (), replay_queue, 2, list(nine))
assert_replayed(
    nine_results,
    ["blocks", None, None, "blocks", 1.5, "blocks", None, [2.0], "OutOfRangeError"],
    nine,
    "a queue of capacity 2",
)
for bad in (0, -1):
    try:
        with withheld(*TF_QUEUES):
            refused = answer_to(f"capacity {bad}", (ValueError,), replay_queue, bad, [])
    except ValueError:
        pass
    else:
        raise AssertionError(f"capacity {bad} must raise ValueError; {refused!r} came back")


### BEGIN HIDDEN TESTS
def would_wait(kind, amount, size, closed, capacity):
    """Whether the action cannot be done now, but could be later."""
    if closed or kind in ("size", "close"):
        return False
    return size == capacity if kind == "enqueue" else size < amount


def real_queue(capacity, actions, shared):
    """The same actions on a real queue. Its size and state are asked first; what would wait is not run."""
    results = []
    with tf1.Session(graph=shared, config=plain_config()) as session:
        for kind, *rest in actions:
            size, closed = session.run(["size:0", "is_closed:0"])
            if would_wait(kind, rest[0] if rest else 1, size, closed, capacity):
                results.append("blocks")
                continue
            try:
                if kind == "enqueue":
                    results.append(session.run("enqueue", {"x:0": rest[0]}))
                elif kind == "close":
                    results.append(session.run("close"))
                else:
                    results.append(session.run(f"{kind}:0", {"n:0": rest[0]} if rest else {}).tolist())
            except tf.errors.OpError as error:
                results.append(type(error).__name__)
    return results


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
fill = [("enqueue", 1.0), ("enqueue", 2.5), ("enqueue", 4.0)]
fixed = [
    (3, [*fill, ("dequeue_many", 2), ("size",), ("dequeue_many", 2), ("size",), ("dequeue_up_to", 1), ("size",)]),
    (
        3,
        [*fill, ("close",), ("size",), ("dequeue_many", 4), ("size",), ("dequeue_many", 2), ("dequeue",), ("dequeue",)],
    ),
    (
        3,
        [*fill, ("close",), ("enqueue", 5.0), ("close",), ("dequeue_up_to", 2), ("enqueue", 6.0), ("dequeue_up_to", 2)],
    ),
    (3, [("close",), ("close",), ("dequeue_up_to", 1), ("dequeue_many", 1), ("dequeue",), ("size",), ("enqueue", 1.0)]),
    (2, [*fill, ("dequeue_many", 3), ("dequeue_up_to", 3), ("size",), ("dequeue_many", 1), ("dequeue_up_to", 1)]),
    (1, [("dequeue_up_to", 2), *fill, ("dequeue_up_to", 2), ("close",), ("dequeue_up_to", 2), ("dequeue_up_to", 1)]),
]
graphs = {capacity: stateful_graph(capacity) for capacity in (1, 2, 3)}
for capacity, actions in fixed + [(rng.choice([1, 2, 3]), random_queue_actions(rng)) for _ in range(6)]:
    with withheld(*TF_QUEUES):
        case = f"seed {seed}: capacity {capacity}, actions {actions}"
        mine = answer_to(case, (), replay_queue, capacity, list(actions))
    real = real_queue(capacity, actions, graphs[capacity])
    assert_replayed(mine, real, actions, f"seed {seed}, capacity {capacity}")
### END HIDDEN TESTS

# %% [markdown] after_passing="fifo"
# Your queue answered as TensorFlow's did, full, empty and closed. `QueueBase` (core/kernels/queue_base.cc) keeps two
# lists of attempts, those to enqueue and those to dequeue; an attempt that cannot be completed stays in its list and is
# tried again when something changes. `FIFOQueue::TryDequeueMany` (fifo_queue.cc) may take elements one by one while it
# waits; on a closed queue it puts them back, which is why they "stay in".

# %% [markdown]
# ## Play
#
# One graph, two sessions, a small program. Move through the program step by step: the figure shows the variable and the
# queue in each session after that step, and what the step returned. Add steps of your own to the end: initialise in one
# session only, fill a queue, close it, restart a session. What is added or put in, x, is the number of the step. The
# values are read from TensorFlow: for each step the program is run up to it, in fresh sessions.

# %%
from tflabs.view import two_sessions

steps = (
    "A init, A add, A enqueue, B t, B enqueue, A enqueue, B init, A dequeue, B add, A t, A restart, A dequeue, B close"
)
two_sessions(stateful_graph(), capacity=3, program=[tuple(step.split()) for step in f"{steps}, B dequeue".split(", ")])

# %% [markdown]
# ## Read on
#
# - `core/framework/graph.proto`, `node_def.proto`, `attr_value.proto`, `op_def.proto`: the data of this lab, each with
#   comments that say more than most documentation.
# - `core/common_runtime/graph_constructor.cc`: `GraphConstructor`, from `GraphDef` to the runtime's `Graph`
#   (core/graph/graph.h: `Graph`, `Node`, `Edge`). `core/framework/node_def_util.cc`: what makes a node valid.
# - `core/framework/common_shape_fns.cc`: shape functions. `xla/tsl/util/device_name_utils.cc`: device names.
# - `core/framework/resource_mgr.h`: `ResourceMgr`; `core/kernels/queue_base.cc` and `fifo_queue.cc`: queues.
#
# What changed since 1.x: graphs are still `GraphDef`s of `NodeDef`s, and each trace of a `tf.function` is one.
# Variables were nodes whose output was a reference to the value (`VariableV2`); they are resources now (`VarHandleOp`).
# The place of queues has been taken by `tf.data` (lab 2-5), and that of sessions by one runtime for each process. Lab
# 2-2 takes the session apart.

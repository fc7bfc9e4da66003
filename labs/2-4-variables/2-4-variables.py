# %% [markdown]
# # Variables
#
# What is behind the one line that makes a variable, and in which order can a model full of them come to life? A
# variable is several nodes of the graph and one buffer outside of it. Between the line that declares it and the first
# step that reads it, something has to write into that buffer, and what is written may depend on other variables.
#
# At the end you can find the parts of every variable in a graph and build them from raw ops, ask a running session what
# has no value yet, plan an initialisation whose values depend on each other, and refuse the circle that has no first
# step. And you can say which value a read sees, for both kinds of variable, when two clients write.
#
# 110 minutes · 22 points · Before this lab: 2-2 (what a session keeps between two runs) and 2-3 (devices and
# colocation).
#
# When you have saved, `./tflabs check 2-4-variables` or Check on the start page grades your answers, also with tests
# that you do not see here.

# %% [markdown]
# ## What the last labs left
#
# Lab 2-1 put a variable `v` into a graph and saw that its value belongs to a session: another session over the same
# graph knew nothing of it. Lab 2-2 took the session apart and found plans in it, but no tensor of any earlier step. Lab
# 2-3 asked on which device a node may stand, and how `loc:@v` in a `_class` attribute ties one node to another. At its
# end a read ran where its variable was, whatever it had asked for.
#
# One thing was taken for granted each time: a target called `init`, which ran first. This lab is about what that target
# does, and about the node that it does it to.

# %% nbgrader={"grade": false, "grade_id": "given-imports", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
from tflabs.runtime import quiet

with quiet():
    import tensorflow as tf

import random
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tflabs.runtime import answer_to, disguise, plain_config, withheld

tf1 = tf.compat.v1
GraphDef, NodeDef, AttrValue = tf1.GraphDef, tf1.NodeDef, tf1.AttrValue
# What tests withhold: whatever makes variables, tells what is uninitialised, or runs a step.
TF_VARIABLES = (
    "tensorflow.Variable",
    "tensorflow.compat.v1.Variable",
    "tensorflow.compat.v1.get_variable",
    "tensorflow.python.ops.resource_variable_ops.ResourceVariable",
)
TF_REPORTS = ("tensorflow.compat.v1.report_uninitialized_variables",)
TF_STEPS = (
    "tensorflow.compat.v1.Session",
    "tensorflow.compat.v1.InteractiveSession",
    "tensorflow.python.client.session.BaseSession",
    "tensorflow.compat.v1.Session.run",
    "tensorflow.Variable",
    "tensorflow.function",
    "tensorflow.python.eager.execute.quick_execute",
)
# A search through all modules: withheld once, where a step would give the answer away.
TF_STEP_IN_C = "tensorflow.python.client.pywrap_tf_session.TF_SessionRun_wrapper"

CONTROL = -1


def endpoint(text: str) -> tuple[str, int]:
    """Read a node's input: `n` and `n:0` → (n, 0), `n:1` → (n, 1), `^n` → (n, CONTROL)."""
    if text.startswith("^"):
        return text[1:], CONTROL
    node, _, index = text.partition(":")
    return node, int(index or 0)


def attr_value(value: object) -> AttrValue:
    """An attribute from a Python value: bool, int, float, str, DType, TensorShape or NumPy array."""
    if isinstance(value, np.ndarray | np.generic):
        return AttrValue(tensor=tf.make_tensor_proto(value))
    if isinstance(value, tf.DType):
        return AttrValue(type=value.as_datatype_enum)
    if isinstance(value, tf.TensorShape):
        return AttrValue(shape=value.as_proto())
    kinds = {bool: "b", int: "i", float: "f", str: "s"}
    return AttrValue(**{kinds[type(value)]: value.encode() if isinstance(value, str) else value})


def add_node(graph: GraphDef, name: str, op: str, inputs: Iterable[str] = (), **attributes: object) -> None:
    """Append a NodeDef to `graph`; attribute values are converted by `attr_value`."""
    graph.node.add(
        name=name, op=op, input=inputs, attr={key: attr_value(value) for key, value in attributes.items()}
    )


def new_graph() -> GraphDef:
    """An empty GraphDef, marked as made by this version of TensorFlow."""
    made = GraphDef()
    made.versions.producer = tf.version.GRAPH_DEF_VERSION
    return made


def copied(graph: GraphDef) -> GraphDef:
    """A copy of a GraphDef."""
    made = GraphDef()
    made.CopyFrom(graph)
    return made


def imported(graph: GraphDef) -> tf.Graph:
    """The graph that TensorFlow makes from a GraphDef."""
    with tf.Graph().as_default() as made:
        tf.import_graph_def(graph, name="")
    return made


def complaint(error: tf.errors.OpError) -> str:
    """What an error of the runtime says, without the lines on where the node was made."""
    around = ("\t", " ", "Graph execution error", "Detected at", "Node:")
    return next(line for line in error.message.splitlines() if line and not line.startswith(around))


# %% [markdown]
# ## One line, five nodes
#
# Here is the line, twice: a variable of today, a *resource* variable, and one of the kind that TensorFlow 1 began with,
# a *reference* variable, in short ref. TensorFlow 2.21 still runs both. The picture shows all nodes that the two lines
# added to the graph.

# %%
from tflabs import view

with tf.Graph().as_default() as both:
    for name, use_resource in [("resource", True), ("ref", False)]:
        with tf1.variable_scope(name):
            tf1.get_variable("v", initializer=np.float32([1, 2]), use_resource=use_resource)

ROLES = {
    "VarHandleOp": "the variable",
    "VariableV2": "the variable",
    "Const": "initial value",
    "AssignVariableOp": "initialiser",
    "Assign": "initialiser",
    "ReadVariableOp": "read",
    "Identity": "read",
}
view.graph(
    both,
    highlight={node.name: ROLES[node.op] for node in both.as_graph_def().node if node.op in ROLES},
    title="get_variable, as resource (5 nodes) and as ref (4 nodes)",
)

# %% [markdown]
# The node that stands for the variable has no input. What it puts out differs. A `VarHandleOp` gives a *handle*, a
# small tensor that names a buffer in the session; only `ReadVariableOp` turns it into a value. A `VariableV2` gives a
# *reference*: the buffer itself, under a dtype of its own. An `Identity` is enough to read it.

# %%
for name in ("resource/v", "ref/v"):
    node = both.get_operation_by_name(name)
    readers = [f"{reader.type} {reader.name}" for reader in node.outputs[0].consumers()]
    print(f"{node.type} {name}: output {node.outputs[0].dtype}, read by {', '.join(readers)}")


# %% [markdown]
# One more look, before it is explained in the last part. The graph below does three things, and control edges leave no
# choice in which order: it reads `v`, it adds 1 to `v` (the add waits through the constant that it adds), it uses what
# was read. `read_add_use` builds it for either kind.

# %% nbgrader={"grade": false, "grade_id": "given-read-add-use", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def read_add_use(use_resource: bool) -> tf.Graph:
    """`init` sets v to 0. `y` is the value of a read, used after `v += 1`, which comes after the read."""
    with tf.Graph().as_default() as made:
        v = tf1.get_variable("v", initializer=0.0, use_resource=use_resource)
        tf.group(v.initializer, name="init")
        read = v.value()
        with tf.control_dependencies([read]):
            added = v.assign_add(1.0)
        with tf.control_dependencies([added]):
            tf.identity(read, name="y")
    return made


# %%
drawn = read_add_use(use_resource=False)
aside = {"init", "v/Assign", "v/initial_value"}
kept = GraphDef(node=[node for node in drawn.as_graph_def().node if node.name not in aside])
view.graph(kept, direction="LR", title="read → add → use, for a ref variable")

# %% [markdown]
# ### Exercise 1 · Which value does the read see? (1 point)
#
# A session runs `init`, then fetches `y:0`, once for each kind of variable. Set `SEEN` to a dict with the keys `"ref"`
# and `"resource"` and as values the two `float` that `y` has. Decide before you run anything. If the read always came
# back as 7, it would be `{"ref": 7.0, "resource": 7.0}`.

# %% nbgrader={"grade": false, "grade_id": "predict-read", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
# SEEN = {"ref": ..., "resource": ...}
### BEGIN SOLUTION
SEEN = {"ref": 1.0, "resource": 0.0}
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "predict-read-test", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
assert type(SEEN) is dict, f"SEEN is a dict; it is a {type(SEEN).__name__}"
assert sorted(SEEN, key=str) == ["ref", "resource"], f"SEEN has the keys 'ref' and 'resource'; it has {list(SEEN)}"
assert [type(SEEN[kind]) for kind in ("ref", "resource")] == [float, float], f"both values are float; found {SEEN!r}"


### BEGIN HIDDEN TESTS
def really_seen():
    """What `y` is in a session, for both kinds."""
    found = {}
    for kind in ("ref", "resource"):
        with tf1.Session(graph=read_add_use(use_resource=kind == "resource"), config=plain_config()) as session:
            session.run("init")
            found[kind] = float(session.run("y:0"))
    return found


seen_by_runtime = really_seen()
wrong_kinds = [kind for kind in ("ref", "resource") if SEEN[kind] != seen_by_runtime[kind]]
assert not wrong_kinds, (
    f"TensorFlow gives another value for {' and for '.join(wrong_kinds)}. What does the reading node hand on: a value, "
    "or the place where the value is kept?"
)
### END HIDDEN TESTS

# %% [markdown] after_passing="predict-read"
# The same three steps in the same forced order, and two values. `Identity` handed the buffer of the ref variable on
# (`IdentityOp`, core/kernels/identity_op.h, copies nothing), and `AssignAdd` wrote into that buffer before `y` looked.
# `ReadVariableOp` also copies nothing; but it holds the buffer, and `AssignAddVariableOp` then makes itself a new one
# (`PrepareToUpdateVariable`, core/kernels/training_op_helpers.h). So the read of a resource variable is a value.

# %% [markdown]
# ## The parts, found
#
# A saver, an optimiser, a tool that freezes a graph: all of them meet a graph that somebody else built, and have to
# know which nodes belong to a variable. Names do not tell. The first node that reads `v` is called
# `v/Read/ReadVariableOp`, the next one `ReadVariableOp_3` or whatever was free, and a `GraphDef` from another tool may
# call its nodes as it likes. What tells is who is joined to whom.
#
# ### Exercise 2 · Find the parts of every variable (3 points)
#
# Write `find_variables(graph: GraphDef) -> dict[str, Parts]`. For every variable there is one entry, under the name of
# the node that stands for it (`VariableV2` or `VarHandleOp`, here called the handle). The fields of the given `Parts`:
#
# - `kind`: `"ref"` for a `VariableV2`, `"resource"` for a `VarHandleOp`. `handle`: the name again.
# - `assign`: the initialiser, that is the name of the first node in the graph's order that is an `Assign` (ref) or
#   `AssignVariableOp` (resource) and has the handle as its first input.
# - `initial`: the tensor which that node writes, its second input, always written with its output index: `n:0`, `n:1`.
# - `reads`: the sorted names of all `Identity` (ref) or `ReadVariableOp` (resource) nodes whose data input is the
#   handle.
#
# A variable without such an initialiser raises `ValueError` with the handle's name in the message; `AssignAdd` and
# `AssignAddVariableOp` initialise nothing. Conclude nothing from names of nodes: in some tests they are random. An
# input may be written `n` or `n:0`, and `^n` is a control input; the given `endpoint` reads all three.
#
# Of the given cell below you need only `Parts`; the rest makes random graphs for the tests. For the graph `both` above,
# whose variables are `resource/v` and `ref/v`:
#
# ```
# >>> find_variables(both.as_graph_def())["ref/v"]
# Parts(kind='ref', handle='ref/v', initial='ref/v/initial_value:0', assign='ref/v/Assign', reads=['ref/v/read'])
# ```
#
# <details><summary>Hint 1</summary>
#
# First collect the handles. Every other part is found by looking at the first input of some other node: which handle is
# it, and is it a data input? One more walk over the nodes answers that for all variables at once.
# </details>
#
# <details><summary>Hint 2</summary>
#
# Two dicts by handle: `assigns`, where `setdefault` keeps the first, and `reads`, which holds lists. A table
# `{"VariableV2": ("ref", "Assign", "Identity"), …}` says which op types count for which kind. At the end go through the
# handles: no entry in `assigns` is the error, everything else is a `Parts`.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-models", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
class Parts(NamedTuple):
    """The nodes of one variable, by name; `initial` is a tensor. Given."""

    kind: str
    handle: str
    initial: str
    assign: str
    reads: list[str]


class Model(NamedTuple):
    """A graph and the variables that were made in it, in that order. Given."""

    graph: tf.Graph
    variables: list[tf1.Variable]


def random_model(rng: random.Random, *, linked: bool = True, most: int = 5) -> Model:
    """One to `most` float32 variables of shape [2], of both kinds, with updates, extra reads and uses.

    If `linked`, an initial value may read an earlier resource variable.
    """
    made: list[tf1.Variable] = []
    with tf.Graph().as_default() as drawn:
        for index in range(rng.randrange(1, most + 1)):
            with tf1.variable_scope(rng.choice(["a", "b", "a/c"])):
                initial = _initial_value(rng, [v for v in made if linked and v.op.type == "VarHandleOp"])
                made.append(tf1.get_variable(f"v{index}", initializer=initial, use_resource=rng.random() < 0.5))
            _use(rng, made[-1])
    return Model(drawn, made)


def _initial_value(rng: random.Random, earlier: list[tf1.Variable]) -> object:
    """An array, the second half of a `Split`, or twice the value of an earlier (resource) variable."""
    kind = rng.choice(["array", "split", "linked"])
    if kind == "linked" and earlier:
        source = rng.choice(earlier)
        return lambda: source.read_value() * 2.0
    if kind == "split":
        return lambda: tf.split([1.0, 2.0, 3.0, 4.0], 2)[1]
    return np.float32([rng.randrange(9), 1])


def _use(rng: random.Random, v: tf1.Variable) -> None:
    """Add some of: an update, a later assignment, another read, a use, a node that only waits, a test."""
    uses = [
        lambda: v.assign_add([1.0, 1.0]),
        lambda: v.assign(v.value() * 2.0),
        lambda: v.read_value(),
        lambda: tf.identity(v),
        lambda: _identity_after(v.op),
        lambda: _asked(v.op),
    ]
    for use in rng.sample(uses, rng.randrange(len(uses))):
        use()


def _asked(variable: tf.Operation) -> None:
    """A test whether a variable has a value."""
    if variable.type == "VarHandleOp":
        tf.raw_ops.VarIsInitializedOp(resource=variable.outputs[0])
    else:
        tf.raw_ops.IsVariableInitialized(ref=variable.outputs[0])


def _identity_after(operation: tf.Operation) -> None:
    """An Identity of a constant that waits for an operation: its control input is no read."""
    value = tf.constant([0.0, 0.0])
    with tf.control_dependencies([operation]):
        tf.identity(value)


def renamed(graph: GraphDef, rng: random.Random, colons: float = 0.5) -> tuple[GraphDef, dict[str, str]]:
    """`graph` with random names of nodes, and the map from old to new; this part of its inputs `n` is written `n:0`."""
    numbers = rng.sample(range(10 * len(graph.node)), len(graph.node))
    names = {node.name: f"k{number}" for node, number in zip(graph.node, numbers, strict=True)}
    anew = copied(graph)
    for node in anew.node:
        node.name = names[node.name]
        for position, text in enumerate(node.input):
            source, index = endpoint(text)
            suffix = f":{index}" if index > 0 or rng.random() < colons else ""
            node.input[position] = f"^{names[source]}" if index == CONTROL else names[source] + suffix
        if "_class" in node.attr:
            groups = [text.decode().removeprefix("loc:@") for text in node.attr["_class"].list.s]
            node.attr["_class"].list.s[:] = [f"loc:@{names[group]}".encode() for group in groups]
    return anew, names


def assert_same_parts(got: object, want: dict[str, Parts], where: str) -> None:
    """Assert that two answers agree variable by variable and field by field."""
    assert type(got) is dict, f"{where}: find_variables returns a dict, not a {type(got).__name__}"
    assert sorted(got, key=str) == sorted(want), f"{where}: the variables are {sorted(want)}, found {list(got)}"
    for name, due in want.items():
        assert type(got[name]) is Parts, f"{where}: {name!r} is due as Parts, found a {type(got[name]).__name__}"
        for field, found, wanted in zip(Parts._fields, got[name], due, strict=True):
            same = type(found) is type(wanted) and found == wanted
            assert same, f"{where}: {field} of {name!r} is {wanted!r}, found {found!r}"


# %% nbgrader={"grade": false, "grade_id": "parts", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def find_variables(graph: GraphDef) -> dict[str, Parts]:
    """The parts of every variable in a graph, by the name of its handle.

    Raises:
        ValueError: a variable has no initialiser; the message names it.
    """
    ### BEGIN SOLUTION
    kinds = {
        "VariableV2": ("ref", "Assign", "Identity"),
        "VarHandleOp": ("resource", "AssignVariableOp", "ReadVariableOp"),
    }
    handles = {node.name: kinds[node.op] for node in graph.node if node.op in kinds}
    assigns: dict[str, tuple[str, str]] = {}
    reads: dict[str, list[str]] = {handle: [] for handle in handles}
    for node in graph.node:
        handle = endpoint(node.input[0])[0] if node.input else ""
        if handle not in handles:
            continue
        _, assign, read = handles[handle]
        if node.op == assign:
            source, output = endpoint(node.input[1])
            assigns.setdefault(handle, (f"{source}:{output}", node.name))
        elif node.op == read:
            reads[handle].append(node.name)
    missing = [handle for handle in handles if handle not in assigns]
    if missing:
        raise ValueError(f"no initialiser writes {', '.join(missing)}")
    return {name: Parts(kind, name, *assigns[name], sorted(reads[name])) for name, (kind, _, _) in handles.items()}
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "parts-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
with tf.Graph().as_default() as two:
    for name, initial in [("old", np.float32([1, 2])), ("new", lambda: tf.split([1.0, 2.0, 3.0, 4.0], 2)[1])]:
        v = tf1.get_variable(name, initializer=initial, use_resource=name == "new")
        v.assign_add([1.0, 1.0])
        tf1.assign(v, [5.0, 5.0])
        _identity_after(v.op)
two_parts = answer_to("a ref and a resource variable", (), find_variables, two.as_graph_def())
assert_same_parts(
    two_parts,
    {
        "old": Parts("ref", "old", "old/initial_value:0", "old/Assign", ["old/read"]),
        "new": Parts(
            "resource",
            "new",
            "new/Initializer/split:1",
            "new/Assign",
            ["ReadVariableOp", "ReadVariableOp_1", "new/Read/ReadVariableOp"],
        ),
    },
    "a ref and a resource variable, each with an update, a second assignment and an Identity that waits for it",
)


### BEGIN HIDDEN TESTS
def parts_in_python(model):
    """The parts of a model's variables, from the objects that made them."""
    found = {}
    with model.graph.as_default():
        for v in model.variables:
            kind = "resource" if v.op.type == "VarHandleOp" else "ref"
            read = "ReadVariableOp" if kind == "resource" else "Identity"
            readers = sorted(reader.name for reader in v.op.outputs[0].consumers() if reader.type == read)
            found[v.op.name] = Parts(kind, v.op.name, v.initial_value.name, v.initializer.name, readers)
    return found


def under_new_names(parts, names):
    """The same parts after renaming."""
    initial = "{0}:{2}".format(names[parts.initial.partition(":")[0]], *parts.initial.partition(":")[1:])
    handle, assign = names[parts.handle], names[parts.assign]
    return Parts(parts.kind, handle, initial, assign, sorted(names[read] for read in parts.reads))


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
for number in range(4):
    model = random_model(rng)
    as_built = model.graph.as_graph_def()
    anew, names = copied(as_built), {node.name: node.name for node in as_built.node}
    if number % 2:
        anew, names = renamed(as_built, rng, colons=number / 3)
    where = f"seed {seed}, model {number}{', with random names' if number % 2 else ''}"
    mine = answer_to(where, (), find_variables, copied(anew))
    real = {names[name]: under_new_names(parts, names) for name, parts in parts_in_python(model).items()}
    assert_same_parts(mine, real, where)
for op, writer, typed in [("VariableV2", "AssignAdd", "T"), ("VarHandleOp", "AssignAddVariableOp", "dtype")]:
    bare, names = renamed(as_built, rng)
    lost = f"lost{rng.randrange(1000)}"
    add_node(bare, lost, op, dtype=tf.float32, shape=tf.TensorShape([]))
    add_node(bare, "one", "Const", dtype=tf.float32, value=np.float32(1))
    add_node(bare, "more", writer, [lost, "one"], **{typed: tf.float32})
    where = f"seed {seed}: a {op} {lost!r} to which only {writer} writes"
    try:
        refused = answer_to(where, (ValueError,), find_variables, bare)
    except ValueError as error:
        assert lost in str(error), f"{where}: the message must name {lost!r}; it says {str(error)!r}"
    else:
        raise AssertionError(f"{where}: ValueError is due, returned {refused!r}")
### END HIDDEN TESTS

# %% [markdown] after_passing="parts"
# Your answer agreed with what `tf1.Variable` objects say of themselves, also where every name was random. In TensorFlow
# these parts are made by `ResourceVariable` (python/ops/resource_variable_ops.py) and `RefVariable`
# (python/ops/ref_variable.py). The `Variable` object keeps them as attributes; in a bare `GraphDef` only the edges are
# left, which is why `tf1.train.export_meta_graph` stores a `VariableDef` for each variable beside the graph.

# %% [markdown]
# ## The parts, built
#
# `get_variable` is Python. It wrote five nodes, and you can write them yourself. One attribute decides more than its
# look suggests: a handle finds its buffer by `shared_name`, in the resource manager of the device. Below are two
# handles without one. What is written through the first is read through the second.

# %%
with tf.Graph().as_default():
    a = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[], name="a")
    b = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[], name="b")
    write_a = tf.raw_ops.AssignVariableOp(resource=a, value=7.0)
    read_b = tf.raw_ops.ReadVariableOp(resource=b, dtype=tf.float32)
    with tf1.Session(config=plain_config()) as session:
        session.run(write_a)
        print("b, which nobody wrote:", session.run(read_b))


# %% [markdown]
# ### Exercise 3 · Build a variable from raw ops (3 points)
#
# Write `add_variable(graph: GraphDef, name: str, initial: np.ndarray) -> GraphDef`. It returns a copy of `graph` with
# the five nodes of a resource variable added. With N for `name`:
#
# | node | op | inputs | attributes |
# | --- | --- | --- | --- |
# | `N/Initializer/initial_value` | `Const` | none | `dtype`, `value` |
# | `N` | `VarHandleOp` | none | `dtype`, `shape` (of `initial`), `shared_name` (N) |
# | `N/IsInitialized/VarIsInitializedOp` | `VarIsInitializedOp` | `N` | none |
# | `N/Assign` | `AssignVariableOp` | `N`, the initial value | `dtype` |
# | `N/Read/ReadVariableOp` | `ReadVariableOp` | `N` | `dtype` |
#
# `initial` is an array of any shape (also `()` and with sizes of 0) and of dtype float32, float64, int32 or int64;
# `dtype` is always its dtype. Other attributes may be left out or stand at the defaults of their op, inputs are written
# without `:0`. If `graph` has a node called `name`, of whatever op, raise `ValueError`. The given `add_node(graph,
# name, op, inputs, **attributes)` appends one node and converts `tf.DType`, `tf.TensorShape`, `str` and arrays to
# attributes. `get_variable` and the classes of variables are withheld.
#
# ```
# >>> [node.name for node in add_variable(new_graph(), "w", np.zeros(3, np.float32)).node][:2]
# ['w/Initializer/initial_value', 'w']
# ```
#
# The order of the nodes does not matter.
#
# <details><summary>Hint 1</summary>
#
# The read takes the handle, not the value: `N/Read/ReadVariableOp` must be able to run in a step in which `N/Assign`
# does not. `tf.as_dtype(initial.dtype)` and `tf.TensorShape(initial.shape)` are what two of the attributes want.
# </details>
#
# <details><summary>Hint 2</summary>
#
# Copy the graph (`copied`), look `name` up among the names of all its nodes, then call `add_node` five times. The value
# of the `Const` is the array itself.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-assert-nodes", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def assert_has_nodes(got: object, wanted: Iterable[NodeDef], where: str) -> None:
    """Assert that a GraphDef has these nodes, with their op, inputs and the attributes that carry meaning here."""
    assert type(got) is GraphDef, f"{where}: a GraphDef is due, found a {type(got).__name__}"
    nodes = {node.name: node for node in got.node}
    assert len(nodes) == len(got.node), f"{where}: two nodes have one name in {[node.name for node in got.node]}"
    for want in wanted:
        assert want.name in nodes, f"{where}: there is no node {want.name!r}; the nodes are {sorted(nodes)}"
        node = nodes[want.name]
        assert node.op == want.op, f"{where}: {want.name!r} is a {want.op}, found {node.op}"
        found, due = list(node.input), list(want.input)
        assert found == due, f"{where}: the inputs of {want.name!r} are {due}, found {found}"
        for key in ("dtype", "shape", "shared_name", "value"):
            found, due = (_readable(each, key) for each in (node, want))
            assert found == due, f"{where}: {key} of {want.name!r} is due as {due}, found {found}"


def _readable(node: NodeDef, key: str) -> str:
    """An attribute in words; two attributes are equal exactly if their words are."""
    if key not in node.attr:
        return "nothing"
    if key == "value":
        array = tf.make_ndarray(node.attr[key].tensor)
        return f"{array.dtype} {list(array.shape)} {array.tolist()}"
    return " ".join(str(node.attr[key]).split()) or "empty"


# %% nbgrader={"grade": false, "grade_id": "raw-variable", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def add_variable(graph: GraphDef, name: str, initial: np.ndarray) -> GraphDef:
    """A copy of `graph` with the five nodes of a resource variable.

    Raises:
        ValueError: the graph has a node of this name.
    """
    ### BEGIN SOLUTION
    if any(node.name == name for node in graph.node):
        raise ValueError(f"the graph has a node {name!r} already")
    dtype, shape = tf.as_dtype(initial.dtype), tf.TensorShape(initial.shape)
    made = copied(graph)
    add_node(made, f"{name}/Initializer/initial_value", "Const", dtype=dtype, value=initial)
    add_node(made, name, "VarHandleOp", dtype=dtype, shape=shape, shared_name=name)
    add_node(made, f"{name}/IsInitialized/VarIsInitializedOp", "VarIsInitializedOp", [name])
    add_node(made, f"{name}/Assign", "AssignVariableOp", [name, f"{name}/Initializer/initial_value"], dtype=dtype)
    add_node(made, f"{name}/Read/ReadVariableOp", "ReadVariableOp", [name], dtype=dtype)
    return made
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "raw-variable-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
with withheld(*TF_VARIABLES):
    built = answer_to("a float32 vector w", (), add_variable, new_graph(), "w", np.float32([1, 2, 3]))
with tf.Graph().as_default() as by_python:
    tf1.get_variable("w", initializer=np.float32([1, 2, 3]), use_resource=True)
assert_has_nodes(built, by_python.as_graph_def().node, "a float32 vector w")
assert len(built.node) == 5, f"five nodes are due, found {[node.name for node in built.node]}"
with tf1.Session(graph=imported(built), config=plain_config()) as session:
    assert not session.run("w/IsInitialized/VarIsInitializedOp:0"), "w has a value before w/Assign ran"
    session.run("w/Assign")
    np.testing.assert_array_equal(session.run("w/Read/ReadVariableOp:0"), np.float32([1, 2, 3]), strict=True)

### BEGIN HIDDEN TESTS
seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
dtypes = [np.float32, np.float64, np.int32, np.int64]
shapes = [(), (4,), (2, 3), (0, 2), (1, 2, 3), (rng.randrange(4), rng.randrange(4)), (rng.randrange(1, 9),), ()]
arrays = {}
for number, shape in enumerate(rng.sample(shapes, len(shapes))):
    dtype = dtypes[number % 4]
    values = np.random.default_rng(rng.randrange(2**32)).uniform(-9, 9, shape)
    arrays[rng.choice(["v{}", "net/v{}", "net/layer/v{}"]).format(number)] = np.asarray(values, dtype)
chain, links = new_graph(), []
add_node(chain, "bystander", "Const", dtype=tf.float32, value=np.float32(1))
told_as = [f"seed {seed}: {name!r}, {array.dtype} of shape {array.shape}" for name, array in arrays.items()]
with withheld(*TF_VARIABLES):
    for where, (name, array) in zip(told_as, arrays.items(), strict=True):
        before = [node.name for node in chain.node]
        chain = answer_to(where, (), add_variable, copied(chain), name, array.copy())
        assert type(chain) is GraphDef, f"{where}: a GraphDef is due, found a {type(chain).__name__}"
        links.append((where, before, chain))
with tf.Graph().as_default() as by_python:
    for name, array in arrays.items():
        tf1.get_variable(name, initializer=array, use_resource=True)
for (where, before, chain), name in zip(links, arrays, strict=True):
    due = [node for node in by_python.as_graph_def().node if f"{node.name}/".startswith(f"{name}/")]
    assert_has_nodes(chain, due, where)
    lost_nodes = sorted(set(before) - {node.name for node in chain.node})
    assert not lost_nodes, f"{where}: the nodes {lost_nodes} are gone"
    assert len(chain.node) == len(before) + 5, f"{where}: five nodes are added, found {len(chain.node) - len(before)}"
with tf1.Session(graph=imported(chain), config=plain_config()) as session:
    flags = session.run([f"{name}/IsInitialized/VarIsInitializedOp:0" for name in arrays])
    assert [bool(flag) for flag in flags] == [False] * len(arrays), f"seed {seed}: a variable has a value too early"
    session.run([f"{name}/Assign" for name in arrays])
    values = session.run([f"{name}/Read/ReadVariableOp:0" for name in arrays])
for (name, array), value in zip(arrays.items(), values, strict=True):
    np.testing.assert_array_equal(value, array, strict=True, err_msg=f"seed {seed}: the value of {name!r}")
for taken in ("bystander", next(iter(arrays))):
    try:
        with withheld(*TF_VARIABLES):
            answer_to(f"seed {seed}: {taken!r} again", (ValueError,), add_variable, copied(chain), taken, np.zeros(2))
    except ValueError:
        pass
    else:
        raise AssertionError(f"seed {seed}: the graph has a node {taken!r}; ValueError is due")
### END HIDDEN TESTS

# %% [markdown] after_passing="raw-variable"
# Your nodes are those of `get_variable`, and they ran. `VarHandleOp` (core/kernels/resource_variable_ops.cc) holds no
# buffer: its handle names one, by container and `shared_name`, and `AssignVariableOp` makes the `Var`
# (core/framework/resource_var.h) when it finds none. Since the read hangs on the handle alone, nothing in the graph
# says that the assignment comes first: that is what "uninitialised" means.

# %% [markdown]
# ## Who has no value yet?
#
# A read before the first write is an error, and it comes when it is too late: in the middle of a step. So TensorFlow 1
# asks beforehand. `report_uninitialized_variables` adds nodes to the graph that list, whenever they are run, the names
# of the variables without a value. Running it changes nothing.

# %%
with tf.Graph().as_default():
    w, old = (tf1.get_variable(n, initializer=1.0, use_resource=n == "w") for n in ("w", "old"))
    missing = tf1.report_uninitialized_variables()
    with tf1.Session(config=plain_config()) as session:
        print("at first:            ", session.run(missing))
        try:
            session.run(w.value())
        except tf.errors.FailedPreconditionError as error:
            print("a read of w:         ", complaint(error)[:70], "…")
        session.run(w.initializer)
        print("after w.initializer: ", session.run(missing))


# %% [markdown]
# ### Exercise 4 · Report what has no value (2 points)
#
# Write `add_report(graph: GraphDef) -> GraphDef`. It returns a copy of `graph` with nodes added, one of them called
# `report`, so that a fetch of `report:0` gives a string tensor of rank 1: the names of the variables that have no value
# in this session at this moment, in the order in which their nodes stand in `graph`. When all have one, or when the
# graph has no variable, it has length 0.
#
# A variable is a `VarHandleOp` or a `VariableV2`; its name is the name of that node. The first is asked by
# `VarIsInitializedOp(resource)`, the second by `IsVariableInitialized(ref)`, each of which gives a bool. The nodes of
# `graph` stay as they are, and none is called `report` or has a name that begins with `report/`. Fetching the report
# gives no variable a value. `tf1.report_uninitialized_variables` is withheld; all other ops are yours to use.
#
# For a graph with the variables `w` and `old`, of which `w` was initialised, the fetch gives `[b'old']`.
#
# <details><summary>Hint 1</summary>
#
# Every name is known when you build the graph; whether it belongs into the report is known only when it is run. So the
# graph needs one constant with all names, one bool for each of them, and an op that keeps part of a tensor.
# </details>
#
# <details><summary>Hint 2</summary>
#
# `with imported(graph).as_default() as made:` lets you add nodes with ordinary calls: collect one bool per variable
# with `tf.raw_ops`, `tf.stack` them, `tf.boolean_mask(names, tf.logical_not(mask))`, and a last `tf.identity(…,
# name="report")`. Give that name to nothing else: a second `report` would become `report_1`. `made.as_graph_def()` is
# the result. Nothing can be stacked if there is no variable.
# </details>

# %% nbgrader={"grade": false, "grade_id": "report", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def add_report(graph: GraphDef) -> GraphDef:
    """A copy of `graph` with a node `report`: the names of the variables that have no value, as a string vector."""
    ### BEGIN SOLUTION
    variables = [node for node in graph.node if node.op in ("VarHandleOp", "VariableV2")]
    with imported(graph).as_default() as made, tf.name_scope("report/"):
        flags = []
        for node in variables:
            handle = made.get_tensor_by_name(f"{node.name}:0")
            if node.op == "VarHandleOp":
                flags.append(tf.raw_ops.VarIsInitializedOp(resource=handle))
            else:
                flags.append(tf.raw_ops.IsVariableInitialized(ref=handle))
        names = tf.constant([node.name for node in variables], tf.string)
        missing = tf.boolean_mask(names, tf.logical_not(tf.stack(flags))) if flags else names
        with tf.name_scope(""):
            tf.identity(missing, name="report")
    return made.as_graph_def()
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "report-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
with tf.Graph().as_default() as two:
    for name in ("w", "old"):
        tf1.get_variable(name, initializer=1.0, use_resource=name == "w")
with withheld(*TF_REPORTS):
    with_report = answer_to("variables w and old", (), add_report, two.as_graph_def())
assert type(with_report) is GraphDef, f"add_report returns a GraphDef, not a {type(with_report).__name__}"
numbered = [f"; there is {n.name!r}: was the name given twice?" for n in with_report.node if n.name.startswith("report_")]
assert "report" in [n.name for n in with_report.node], f"there is no node called report{''.join(numbered[:1])}"
with tf1.Session(graph=imported(with_report), config=plain_config()) as session:
    told = [session.run("report:0")]
    session.run("w/Assign")
    told.append(session.run("report:0"))
assert [list(names) for names in told] == [[b"w", b"old"], [b"old"]], (
    f"at first w and old have no value, after w/Assign only old has none; reported were {told}"
)


### BEGIN HIDDEN TESTS
def as_told(session, fetched, where):
    """A report as a list of str; an AssertionError if it is no string vector."""
    try:
        value = session.run(fetched)
    except (KeyError, ValueError, tf.errors.OpError) as error:
        told = f"{type(error).__name__}: {str(error)[:200]}"
        raise AssertionError(f"{where}: fetching {fetched} raised {told}") from error
    assert value.dtype == object and value.ndim == 1, f"{where}: a string vector is due, found {value!r}"
    return [name.decode() for name in value]


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
for number in range(2):
    model = random_model(rng, linked=False, most=3 + 2 * number)
    as_built = model.graph.as_graph_def()
    names = [v.op.name for v in model.variables]
    where = f"seed {seed}, model {number} with the variables {names}"
    with withheld(*TF_REPORTS):
        mine = answer_to(where, (), add_report, copied(as_built))
    assert type(mine) is GraphDef, f"{where}: a GraphDef is due, found a {type(mine).__name__}"
    kept = {node.name: node for node in mine.node}
    touched = [node.name for node in as_built.node if kept.get(node.name) != node]
    assert not touched, f"{where}: the nodes {touched} were changed or are gone"
    with model.graph.as_default():
        theirs = tf1.report_uninitialized_variables(model.variables)
    runs = [tf1.Session(graph=graph, config=plain_config()) for graph in (imported(mine), model.graph)]
    done, left = [], rng.sample(model.variables, len(model.variables))
    for count in (0, len(left) // 2, len(left)):
        now, left = left[:count], left[count:]
        done += [v.op.name for v in now]
        for run in runs:
            run.run([v.initializer.name for v in now])
        got, want = as_told(runs[0], "report:0", where), as_told(runs[1], theirs, where)
        assert got == want, f"{where}: after the initialisers of {done} TensorFlow reports {want}, yours {got}"
    for run in runs:
        run.close()
bare = new_graph()
add_node(bare, "one", "Const", dtype=tf.float32, value=np.float32(1))
with withheld(*TF_REPORTS):
    mine = answer_to("a graph without variables", (), add_report, bare)
with tf1.Session(graph=imported(mine), config=plain_config()) as run:
    nothing = as_told(run, "report:0", "a graph without variables")
assert nothing == [], f"a graph without variables has nothing to report, found {nothing}"
### END HIDDEN TESTS

# %% [markdown] after_passing="report"
# Your nodes told the same as `report_uninitialized_variables` (python/ops/variables.py), after each initialiser. The
# question is asked when the nodes run, so one graph serves every session and every moment. `SessionManager`
# (python/training/session_manager.py) runs such a report as its `ready_op`: a model is ready when it is empty. Lab 2-6
# uses that to let one process wait for another.

# %% [markdown]
# ## In which order?
#
# `tf1.global_variables_initializer()` is one node: a `NoOp` that waits for the initialisers of all variables in a list.
# Among themselves they have no order. That is fine as long as initial values are constants or random numbers. Now let
# one variable begin as twice another.

# %%
with tf.Graph().as_default() as twice:
    a = tf1.get_variable("a", initializer=3.0, use_resource=True)
    b = tf1.get_variable("b", initializer=lambda: a.value() * 2.0, use_resource=True)

marks = {
    "b/Assign": "initialises b",
    "b/Initializer/ReadVariableOp": "reads a for it",
    "a/Assign": "initialises a",
}
aside = ("a/IsInitialized/", "a/Read/", "b/IsInitialized/", "b/Read/")
wanted = [node for node in twice.as_graph_def().node if not node.name.startswith(aside)]
view.graph(
    GraphDef(node=wanted), highlight=marks, title="b begins as 2·a; no edge leads from a/Assign to the read of a"
)

# %%
with tf1.Session(graph=twice, config=plain_config()) as session:
    try:
        session.run("b/Assign")
    except tf.errors.FailedPreconditionError as error:
        print("b first:      ", complaint(error)[:60], "…")
    session.run("a/Assign")
    session.run("b/Assign")
    print("a, and then b:", session.run(b))

# %% [markdown]
# The reading node and `a/Assign` are joined only through the handle `a`, which is ready from the start. If both are
# needed in one step, the executor may run either first, and whether initialisation succeeds is luck: worse than an
# error. TensorFlow 1 told users to write `a.initialized_value()`, a conditional on whether `a` has a value. In 2.21 it
# helps neither kind: for resource variables it is not implemented, and for a ref variable the conditional is a
# `StatelessIf`, among whose inputs is the very value that may be missing. (Built from `Switch` and `Merge`, as after
# `tf1.disable_control_flow_v2()`, it still works for a ref.)

# %%
for kind in ("resource", "ref"):
    with tf.Graph().as_default(), tf1.Session(config=plain_config()) as session:
        a = tf1.get_variable("a", initializer=3.0, use_resource=kind == "resource")
        try:
            session.run(a.initialized_value())
        except (NotImplementedError, tf.errors.FailedPreconditionError) as error:
            why = complaint(error) if isinstance(error, tf.errors.OpError) else ""
            print(f"{kind:<9}{type(error).__name__} {why}")


# %% [markdown]
# So let us find the order. A slow way is to try: in a session, compute every initial value that is left; the variables
# for which that does not fail make up one *wave*; run their initialisers, and go on until nothing succeeds any more.
# `by_trial` does it. What is left then is *stuck*: no order gives it a value.

# %% nbgrader={"grade": false, "grade_id": "given-by-trial", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
class Plan(NamedTuple):
    """In which order variables can be initialised, and which cannot. Names are sorted in each list. Given."""

    waves: list[list[str]]
    stuck: list[str]


def by_trial(graph: GraphDef) -> Plan:
    """The plan of a graph of variables and initialisers, found by trying in a session. Needs real ops."""
    assigns = {endpoint(node.input[0])[0]: node for node in graph.node if node.op == "AssignVariableOp"}
    left, waves = sorted(node.name for node in graph.node if node.op == "VarHandleOp"), []
    with tf1.Session(graph=imported(graph), config=plain_config()) as session:
        while True:
            wave = [v for v in left if v in assigns and _computes(session, assigns[v])]
            if not wave:
                return Plan(waves, left)
            session.run([assigns[v].name for v in wave])
            waves = [*waves, wave]
            left = [v for v in left if v not in wave]


def _computes(session: tf1.Session, assign: NodeDef) -> bool:
    """Whether the value that an initialiser assigns can be computed now. Nothing is assigned."""
    try:
        session.run([endpoint(text)[0] for text in assign.input[1:]])
    except tf.errors.FailedPreconditionError:
        return False
    return True


def three_variables() -> GraphDef:
    """c = 1; b = −c; a = b + c, and a plain use of a, which no initialiser needs."""
    graph, scalar = new_graph(), tf.TensorShape([])
    for name in "abc":
        add_node(graph, name, "VarHandleOp", dtype=tf.float32, shape=scalar, shared_name=name)
    for name, read in [("a/b", "b"), ("a/c", "c"), ("b/c", "c"), ("use/a", "a")]:
        add_node(graph, name, "ReadVariableOp", [read], dtype=tf.float32)
    add_node(graph, "a/sum", "AddV2", ["a/b", "a/c"], T=tf.float32)
    add_node(graph, "b/minus", "Neg", ["b/c"], T=tf.float32)
    add_node(graph, "c/one", "Const", dtype=tf.float32, value=np.float32(1))
    add_node(graph, "use", "Neg", ["use/a"], T=tf.float32)
    for name, value in [("a", "a/sum"), ("b", "b/minus"), ("c", "c/one")]:
        add_node(graph, f"{name}/Assign", "AssignVariableOp", [name, value], dtype=tf.float32)
    return graph


# %%
by_trial(three_variables())

# %% [markdown]
# Trying costs a run for each attempt, needs every op that an initial value is made of, and draws random initial values
# and reads files that nobody asked for. All that decides the order stands in the graph.
#
# ### Exercise 5 · In which order can they be initialised? (4 points)
#
# Write `initialisation_plan(graph: GraphDef) -> Plan`. The variables are the `VarHandleOp` nodes. Each has at most one
# `AssignVariableOp` with this handle as its first input, its initialiser. The initialiser *needs* every node that is
# reached from it by going back along inputs, data and control, through any number of nodes. It *reads* the variable x
# if it needs a `ReadVariableOp` of the handle x.
#
# - `waves[0]`: the variables whose initialisers read no variable. `waves[k]`: those not in an earlier wave whose
#   initialisers read only variables of earlier waves. No wave is empty; names are sorted in each.
# - `stuck`: all variables that are in no wave, sorted: those that read each other in a circle (or themselves), those
#   without an initialiser, and all that wait for one of these.
#
# No initialiser is an input of another node. All ops but `VarHandleOp`, `ReadVariableOp` and `AssignVariableOp` have
# names that TensorFlow does not know, so nothing can be imported or tried; `by_trial` needs real ops, and sessions are
# withheld. You need nothing of the given cell below: it makes random graphs for the tests.
#
# ```
# >>> initialisation_plan(three_variables())
# Plan(waves=[['c'], ['b'], ['a']], stuck=[])
# ```
#
# <details><summary>Hint 1</summary>
#
# Two questions, one after the other. First, for each variable: which variables does its initialiser read? That is a
# walk backwards that remembers where it has been. Then forget the graph and work with these sets alone.
# </details>
#
# <details><summary>Hint 2</summary>
#
# `reads: dict[str, set[str]]`, with no entry for a variable without initialiser. Then repeat: the next wave is every
# variable that is not done and whose set is a subset of `done`. When a wave comes out empty, what is not done is stuck.
# No recursion is needed, and a circle ends the loop by itself.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-random-handles", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
STATEFUL = ("VarHandleOp", "ReadVariableOp", "AssignVariableOp")


def random_handles(rng: random.Random, *, cyclic: bool, size: int = 6) -> GraphDef:
    """`size` scalar variables whose initial values read each other.

    If `cyclic`, some reads go in a circle, and a variable may lack its initialiser. Order and names of the nodes are
    random.
    """
    names = [f"{letter}{rng.randrange(100)}" for letter in rng.sample("abcdefghij", size)]
    graph = new_graph()
    for name in names:
        add_node(graph, name, "VarHandleOp", dtype=tf.float32, shape=tf.TensorShape([]), shared_name=name)
    missing = rng.sample(names, rng.randrange(2)) if cyclic else []
    first = rng.randrange(size)  # a circle of one to three variables begins here
    for index, name in enumerate(names):
        reads = rng.sample(names[:index], min(index, rng.choice([0, 1, 1, 2])))
        if cyclic and index == first:
            reads.append(names[min(size - 1, index + rng.randrange(3))])
        _add_initialiser(graph, rng, name, reads, assigned=name not in missing)
    if cyclic:
        _close_circle(graph, names, first)
    shuffled = rng.sample(list(graph.node), len(graph.node))
    return renamed(GraphDef(node=shuffled, versions=graph.versions), rng)[0]


def _close_circle(graph: GraphDef, names: list[str], first: int) -> None:
    """Let every variable after `first` that `first` reads also read `first`."""
    by_name = {node.name: node for node in graph.node}
    for later in names[first + 1 :]:
        if f"{names[first]}/of/{later}" in by_name and f"{later}/value" in by_name:
            back = f"{later}/back"
            add_node(graph, back, "ReadVariableOp", [names[first]], dtype=tf.float32)
            by_name[f"{later}/value"].input.append(f"^{back}")


def _add_initialiser(graph: GraphDef, rng: random.Random, name: str, reads: list[str], *, assigned: bool) -> None:
    """A value that reads `reads` (as data, through other nodes, or by control), its Assign, and reads for others."""
    add_node(graph, f"{name}/base", "Const", dtype=tf.float32, value=np.float32(rng.randrange(1, 9)))
    value, waits = f"{name}/base", []
    for read in dict.fromkeys(reads):
        add_node(graph, f"{name}/of/{read}", "ReadVariableOp", [read], dtype=tf.float32)
        source, way = f"{name}/of/{read}", rng.choice(["data", "through", "control"])
        if way == "control":
            waits.append(f"^{source}")
            continue
        if way == "through":
            add_node(graph, f"{name}/minus/{read}", "Neg", [source], T=tf.float32)
            source = f"{name}/minus/{read}"
        add_node(graph, f"{name}/plus/{read}", "AddV2", [value, source], T=tf.float32)
        value = f"{name}/plus/{read}"
    add_node(graph, f"{name}/value", "Identity", [value, *waits], T=tf.float32)
    if assigned:
        add_node(graph, f"{name}/Assign", "AssignVariableOp", [name, f"{name}/value"], dtype=tf.float32)
    add_node(graph, f"{name}/Read", "ReadVariableOp", [name], dtype=tf.float32)
    add_node(graph, f"{name}/square", "Mul", [f"{name}/Read", f"{name}/Read"], T=tf.float32)


def opaque(graph: GraphDef, rng: random.Random) -> GraphDef:
    """A copy in which all ops but `STATEFUL` have names that TensorFlow does not know."""
    made, names = disguise(graph, rng)
    real = {names[op]: op for op in STATEFUL if op in names}
    for node in made.node:
        node.op = real.get(node.op, node.op)
    return made


def assert_same_plan(got: object, want: Plan, where: str) -> None:
    """Assert that two plans agree, and say where they part."""
    assert type(got) is Plan, f"{where}: a Plan is due, found a {type(got).__name__}"
    assert type(got.waves) is list, f"{where}: waves is a list of lists, found a {type(got.waves).__name__}"
    for index, wave in enumerate(want.waves):
        found = got.waves[index] if index < len(got.waves) else "nothing"
        assert found == wave, f"{where}: wave {index} is {wave}, found {found}; your plan is {got}"
    assert got.waves == want.waves, f"{where}: there are {len(want.waves)} waves; your plan is {got}"
    assert got.stuck == want.stuck, f"{where}: stuck are {want.stuck}, found {got.stuck}"


# %% nbgrader={"grade": false, "grade_id": "plan", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def initialisation_plan(graph: GraphDef) -> Plan:
    """In which waves the variables of a graph can be initialised, and which of them cannot."""
    ### BEGIN SOLUTION
    nodes = {node.name: node for node in graph.node}
    handles = {node.name for node in graph.node if node.op == "VarHandleOp"}
    reads = {endpoint(n.input[0])[0]: variables_read(nodes, n) for n in graph.node if n.op == "AssignVariableOp"}
    waves: list[list[str]] = []
    done: set[str] = set()
    while wave := sorted(v for v in reads if v not in done and reads[v] <= done):
        waves.append(wave)
        done.update(wave)
    return Plan(waves, sorted(handles - done))


def variables_read(nodes: dict[str, NodeDef], assign: NodeDef) -> set[str]:
    """The variables that an initialiser reads, through any number of nodes."""
    found, seen, todo = set(), set(), [assign.name]
    while todo:
        node = nodes[todo.pop()]
        if node.name in seen:
            continue
        seen.add(node.name)
        if node.op == "ReadVariableOp":
            found.add(endpoint(node.input[0])[0])
        todo += [endpoint(text)[0] for text in node.input]
    return found
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "plan-test", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
no_ops = opaque(three_variables(), random.Random(1))
with withheld(*TF_STEPS):
    plan_of_three = answer_to("three_variables()", (), initialisation_plan, no_ops)
assert_same_plan(plan_of_three, Plan([["c"], ["b"], ["a"]], []), "three_variables()")

### BEGIN HIDDEN TESTS
seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
circle = three_variables()
for node in circle.node:
    if node.name == "c/one":
        node.input.append("^use/a")
waiting = copied(circle)
add_node(waiting, "free", "VarHandleOp", dtype=tf.float32, shape=tf.TensorShape([]), shared_name="free")
add_node(waiting, "free/Assign", "AssignVariableOp", ["free", "free/one"], dtype=tf.float32)
add_node(waiting, "free/one", "Const", dtype=tf.float32, value=np.float32(1))
add_node(waiting, "tail", "VarHandleOp", dtype=tf.float32, shape=tf.TensorShape([]), shared_name="tail")
add_node(waiting, "tail/a", "ReadVariableOp", ["a"], dtype=tf.float32)
add_node(waiting, "tail/Assign", "AssignVariableOp", ["tail", "tail/a"], dtype=tf.float32)
add_node(waiting, "idle", "VarHandleOp", dtype=tf.float32, shape=tf.TensorShape([]), shared_name="idle")
cases = [
    (circle, "three_variables(), where c now also waits for a read of a"),
    (waiting, "three_variables(), where c also waits for a read of a; tail = a, free = 1, idle has no initialiser"),
]
for number in range(4):
    cyclic = number % 2 == 1
    words = f"random_handles(random.Random({seed + number}), cyclic={cyclic})"
    cases.append((random_handles(random.Random(seed + number), cyclic=cyclic), words))
with withheld(*TF_STEPS, TF_STEP_IN_C):
    plans = [answer_to(f"seed {seed}: {words}", (), initialisation_plan, opaque(graph, rng)) for graph, words in cases]
for (graph, words), mine in zip(cases, plans, strict=True):
    assert_same_plan(mine, by_trial(graph), f"seed {seed}: {words}")
### END HIDDEN TESTS

# %% [markdown] after_passing="plan"
# The runtime, which could only try, came to the same waves and the same remainder as you, who only read. What
# TensorFlow 1 had in this place is `_try_guard_against_uninitialized_dependencies` (python/ops/variables.py): it
# rewrites the initial value of one variable with `initialized_value`, on a best-effort basis, and for resource
# variables not at all. Our loop needs no search for circles: whatever never becomes ready is stuck, circle or not.

# %% [markdown]
# ## One run
#
# With a plan one could run wave after wave. But `init` is one target, and a session is asked to run it once. Then the
# order has to stand in the graph, as edges, and there is a kind of edge for this: the control edge.
#
# ### Exercise 6 · Make one run enough (3 points)
#
# Write `guarded(graph: GraphDef) -> GraphDef`. The graph is as in the exercise before, with real ops. The result is a
# copy of it with these changes and no others:
#
# - Each `ReadVariableOp` that some initialiser needs gets one more input: a control input from the initialiser of the
#   variable that it reads. Reads that no initialiser needs get none.
# - One node is added: a `NoOp` called `init` with a control input from each initialiser, each once.
#
# Control inputs come after the data inputs; beyond that neither their order nor that of the nodes matters. If some
# variable is stuck, raise `ValueError` with the names of all stuck variables in the message. You may call `by_trial`,
# or your plan if you have one.
#
# In `guarded(three_variables())` the inputs of `b/c` are `['c', '^c/Assign']`, and `use/a` keeps `['a']`.
#
# <details><summary>Hint 1</summary>
#
# Which node must not run too early? Not the initialiser that uses the value, but the node that takes it out of the
# variable. Make *that* node wait. Who needs it is the walk backwards from all initialisers at once.
# </details>
#
# <details><summary>Hint 2</summary>
#
# First the stuck ones. Then a dict from variable to its initialiser, a list of nodes to look at that begins with all
# initialisers, and a set of those already seen. For a `ReadVariableOp` in it, take the name of the variable from its
# first input and append `^` and the initialiser. Note the inputs of a node as things to look at *before* you append.
# </details>

# %% nbgrader={"grade": false, "grade_id": "one-run", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def guarded(graph: GraphDef) -> GraphDef:
    """A copy of `graph` in which one run of `init` gives all variables their values, in whatever order nodes run.

    Raises:
        ValueError: some variables are stuck; the message names all of them.
    """
    ### BEGIN SOLUTION
    stuck = by_trial(graph).stuck
    if stuck:
        raise ValueError(f"no order can initialise {', '.join(stuck)}")
    made = copied(graph)
    nodes = {node.name: node for node in made.node}
    assigns = {endpoint(node.input[0])[0]: node.name for node in made.node if node.op == "AssignVariableOp"}
    todo, seen = list(assigns.values()), set()
    while todo:
        node = nodes[todo.pop()]
        if node.name in seen:
            continue
        seen.add(node.name)
        todo += [endpoint(text)[0] for text in node.input]
        if node.op == "ReadVariableOp":
            node.input.append(f"^{assigns[endpoint(node.input[0])[0]]}")
    add_node(made, "init", "NoOp", [f"^{name}" for name in assigns.values()])
    return made
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "one-run-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
one_run = answer_to("three_variables()", (), guarded, three_variables())
assert type(one_run) is GraphDef, f"guarded returns a GraphDef, not a {type(one_run).__name__}"
inputs_now = {node.name: sorted(node.input) for node in one_run.node}
for name, due in [("a/b", ["^b/Assign", "b"]), ("a/c", ["^c/Assign", "c"]), ("b/c", ["^c/Assign", "c"])]:
    found_now = inputs_now.get(name)
    assert found_now == due, f"an initialiser needs {name}: its inputs are {due}, found {found_now}"
found_now = inputs_now.get("use/a")
assert found_now == ["a"], f"no initialiser needs use/a: its inputs are ['a'], found {found_now}"
assert inputs_now.get("init") == ["^a/Assign", "^b/Assign", "^c/Assign"], f"init waits for {inputs_now.get('init')}"
with tf1.Session(graph=imported(one_run), config=plain_config()) as session:
    session.run("init")
    value_of_use = session.run("use:0")
assert value_of_use == 0.0, f"after init, a = −1 + 1 = 0 and use = −a; found {value_of_use}"


### BEGIN HIDDEN TESTS
def with_guards(graph):
    """For each node, its sorted inputs in a guarded copy, from the sub-graphs that TensorFlow extracts."""
    assigns = {endpoint(node.input[0])[0]: node.name for node in graph.node if node.op == "AssignVariableOp"}
    needed = {node.name for node in tf1.graph_util.extract_sub_graph(graph, list(assigns.values())).node}
    inputs = {node.name: sorted(node.input) for node in graph.node}
    for node in graph.node:
        if node.op == "ReadVariableOp" and node.name in needed:
            inputs[node.name] = sorted([*node.input, f"^{assigns[endpoint(node.input[0])[0]]}"])
    return inputs | {"init": sorted(f"^{assign}" for assign in assigns.values())}


def values_after(graph, targets):
    """The values of all variables when the targets were run, one run after the other."""
    with imported(graph).as_default() as made, tf1.Session(config=plain_config()) as session:
        reads = {
            node.name: tf.raw_ops.ReadVariableOp(resource=made.get_tensor_by_name(f"{node.name}:0"), dtype=tf.float32)
            for node in graph.node
            if node.op == "VarHandleOp"
        }
        for target in targets:
            session.run(target)
        return {name: float(value) for name, value in session.run(reads).items()}


seed = random.SystemRandom().randrange(10**6)
for number in range(2):
    graph = random_handles(random.Random(seed + number), cyclic=False)
    where = f"seed {seed}: random_handles(random.Random({seed + number}), cyclic=False)"
    mine = answer_to(where, (), guarded, copied(graph))
    assert type(mine) is GraphDef, f"{where}: a GraphDef is due, found a {type(mine).__name__}"
    found, due = {node.name: sorted(node.input) for node in mine.node}, with_guards(graph)
    assert len(found) == len(mine.node), f"{where}: two nodes have one name"
    assert sorted(found) == sorted(due), f"{where}: nodes added or gone: {sorted(set(found) ^ set(due))}"
    for name, inputs in due.items():
        assert found[name] == inputs, f"{where}: the inputs of {name!r} are {inputs}, found {found[name]}"
    try:
        values = values_after(mine, ["init"])
    except (ValueError, tf.errors.OpError) as error:
        raise AssertionError(f"{where}: one run of init raised {type(error).__name__}: {str(error)[:200]}") from error
    plan = by_trial(graph)
    assigns = {endpoint(node.input[0])[0]: node.name for node in graph.node if node.op == "AssignVariableOp"}
    in_waves = values_after(graph, [[assigns[name] for name in wave] for wave in plan.waves])
    assert values == in_waves, f"{where}: run wave by wave the values are {in_waves}, in one run {values}"
circle = three_variables()
for node in circle.node:
    if node.name == "c/one":
        node.input.append("^use/a")
for graph, words in [
    (circle, "three_variables(), where c now also waits for a read of a"),
    (random_handles(random.Random(seed), cyclic=True), f"random_handles(random.Random({seed}), cyclic=True)"),
]:
    where, said = f"seed {seed}: {words}", None
    try:
        refused = answer_to(where, (ValueError,), guarded, copied(graph))
    except ValueError as error:
        said = str(error)
    stuck = by_trial(graph).stuck
    assert said is not None, f"{where}: {stuck} are stuck and ValueError is due, returned a {type(refused).__name__}"
    unnamed = [name for name in stuck if name not in said]
    assert not unnamed, f"{where}: the message must name {unnamed}; it says {said!r}"
### END HIDDEN TESTS

# %% [markdown] after_passing="one-run"
# Each value came out as in the waves, in one run, and by structure: every read that matters has the assignment it needs
# among its ancestors, so no order of execution can go wrong. This is what `initialized_value` was for, without its
# conditional. Guarding *all* reads would be wrong in another way: a training step would then initialise the model
# again, since a control input makes a node run.

# %% [markdown]
# Does it matter in practice? Twenty sessions, each with two threads of its own, for each of two graphs: first with an
# `init` without guards, then guarded by you. A read waits for its handle alone, an initialiser for its value as well,
# so a read often comes first; but the executor hands ready nodes to threads (`ExecutorState::ScheduleReady`,
# core/common_runtime/executor.cc), and no edge says which one wins. The first number may be anything from 0, with which
# a graph passes its tests, to 20. The second can only be 0.

# %%
def failures(graph: GraphDef, sessions: int = 20) -> int:
    """In how many fresh sessions one run of `init` raises FailedPreconditionError."""
    failed, shared, config = 0, imported(graph), plain_config()
    config.inter_op_parallelism_threads = 2
    config.use_per_session_threads = True  # otherwise all sessions share the threads that the first of them made
    for _ in range(sessions):
        with tf1.Session(graph=shared, config=config) as session:
            try:
                session.run("init")
            except tf.errors.FailedPreconditionError:
                failed += 1
    return failed


graphs = {"three variables": three_variables(), "random graph": random_handles(random.Random(17), cyclic=False)}
for name, unguarded in graphs.items():
    with_edges = guarded(unguarded)
    add_node(unguarded, "init", "NoOp", [f"^{node.name}" for node in unguarded.node if node.op == "AssignVariableOp"])
    print(f"{name}: failed without guards {failures(unguarded)} of 20, with guards {failures(with_edges)} of 20")


# %% [markdown]
# A circle is refused by TensorFlow too, but later and with fewer words: with guards a circle of reads becomes a circle
# of edges, and importing such a graph raises `ValueError` because it has nodes in a cycle. In TensorFlow 2 neither
# comes up outside of `tf.function`: a `tf.Variable` is initialised in the line that makes it, so the order of the lines
# is the order of initialisation, and no line can read a variable that is yet to be made.

# %% [markdown]
# ## Which list does it land in?
#
# A graph keeps lists of variables, its *collections*, each made for somebody. `global_variables_initializer` and the
# saver go through the global ones. `local_variables_initializer` goes through the local ones: counters that belong to
# one process and are not saved. An optimizer updates the trainable ones. A model's variables are those that inference
# needs. No kind of variable is meant: they are all the same nodes, on different lists.
#
# `get_variable` has two arguments for this: `collections`, the lists it lands in (only the global one if left out), and
# `trainable` (True if left out), which adds it to the trainable list. `get_local_variable`, metrics and the global step
# set both for you.

# %% nbgrader={"grade": false, "grade_id": "given-declared", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def declared() -> tf.Graph:
    """A graph with variables on several lists."""
    keys = tf1.GraphKeys
    with tf.Graph().as_default() as made:
        tf1.get_variable("weights", [])
        tf1.get_variable("frozen", [], trainable=False)
        tf1.get_variable("cache", [], collections=[keys.LOCAL_VARIABLES])
        tf1.get_local_variable("epoch", [])
        tf1.get_variable("gamma", [], collections=[keys.MODEL_VARIABLES, keys.GLOBAL_VARIABLES])
        tf1.metrics.mean(tf.constant([1.0]), name="loss")
        tf1.train.get_or_create_global_step()
    return made


# %%
sorted(set(declared().get_all_collection_keys()))

# %% [markdown]
# ### Exercise 7 · Which list does it land in? (1 point)
#
# Set four lists to the names of the variables of `declared()` above, without `:0`, each in the order in which the lines
# add them: `TRAINABLE`, `LOCAL`, `MODEL` and `GLOBAL`. The running mean called `loss` keeps two variables, `loss/total`
# and `loss/count`, in this order; the global step is called `global_step`. Decide before you look.

# %% nbgrader={"grade": false, "grade_id": "collections", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
# TRAINABLE = [...]
# LOCAL = [...]
# MODEL = [...]
# GLOBAL = [...]
### BEGIN SOLUTION
TRAINABLE = ["weights", "cache", "gamma"]
LOCAL = ["cache", "epoch", "loss/total", "loss/count"]
MODEL = ["gamma"]
GLOBAL = ["weights", "frozen", "gamma", "global_step"]
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "collections-test", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
for word, names in [("TRAINABLE", TRAINABLE), ("LOCAL", LOCAL), ("MODEL", MODEL), ("GLOBAL", GLOBAL)]:
    assert type(names) is list, f"{word} is a list of names; it is a {type(names).__name__}"
    assert [type(name) for name in names] == [str] * len(names), f"{word} is a list of str; it is {names!r}"


### BEGIN HIDDEN TESTS
def really_declared(made, key):
    """The names on one of a graph's lists."""
    return [v.op.name for v in made.get_collection(key)]


declared_graph = declared()
told_lists = {"TRAINABLE": TRAINABLE, "LOCAL": LOCAL, "MODEL": MODEL, "GLOBAL": GLOBAL}
real_lists = {
    "TRAINABLE": really_declared(declared_graph, tf1.GraphKeys.TRAINABLE_VARIABLES),
    "LOCAL": really_declared(declared_graph, tf1.GraphKeys.LOCAL_VARIABLES),
    "MODEL": really_declared(declared_graph, tf1.GraphKeys.MODEL_VARIABLES),
    "GLOBAL": really_declared(declared_graph, tf1.GraphKeys.GLOBAL_VARIABLES),
}
differing = [word for word, names in told_lists.items() if names != real_lists[word]]
assert not differing, (
    f"{' and '.join(differing)}: TensorFlow keeps another list. Take the lines one by one: does `collections` replace "
    "the list that a variable would land in, and does it say anything about being trainable?"
)
### END HIDDEN TESTS

# %% [markdown] after_passing="collections"
# `collections` replaces the global list, and `trainable` adds another one, whatever `collections` says. So `cache` is
# updated by an optimizer, initialised by `local_variables_initializer` alone, and never saved. `_VariableStore`
# (python/ops/variable_scope.py) passes both arguments on; `ResourceVariable._init_from_args` puts the variable on the
# lists. In TensorFlow 2 no graph keeps lists: a `tf.Module` or a layer finds its variables by its own attributes.

# %% [markdown]
# ## Two clients, one variable
#
# Back to the read of Exercise 1. Two clients share `v`; each reads it, adds something to what it read, and writes the
# sum back. A wants to add 1, B wants to add 2. If both read before either writes, one update is lost: the bug is as old
# as shared memory. To see it without luck, control edges force one order of all six events. In `ORDER` both read, then
# A computes and writes, then B computes and writes.

# %% nbgrader={"grade": false, "grade_id": "given-kind-ops", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
class Ops(NamedTuple):
    """The ops of a kind of variable, and the attribute that says the dtype of its reads and writes. Given."""

    variable: str
    read: str
    assign: str
    add: str
    dtype: str


OPS = {
    "ref": Ops("VariableV2", "Identity", "Assign", "AssignAdd", "T"),
    "resource": Ops("VarHandleOp", "ReadVariableOp", "AssignVariableOp", "AssignAddVariableOp", "dtype"),
}


def add_scalar(graph: GraphDef, kind: str, name: str) -> None:
    """Append a float32 scalar variable of a kind and `NAME/init`, which sets it to 0."""
    ops = OPS[kind]
    add_node(graph, name, ops.variable, dtype=tf.float32, shape=tf.TensorShape([]), shared_name=name)
    add_node(graph, f"{name}/zero", "Const", dtype=tf.float32, value=np.float32(0))
    add_node(graph, f"{name}/init", ops.assign, [name, f"{name}/zero"], **{ops.dtype: tf.float32})


def clients(kind: str, adds: dict[str, float]) -> GraphDef:
    """Clients of one variable `v`, with nothing that orders them among each other.

    A client A has the nodes `A/read`, `A/by` (what it adds), `A/compute` and `A/write`. `done` waits for all writes,
    and `end` reads v after it.
    """
    graph, ops = new_graph(), OPS[kind]
    typed = {ops.dtype: tf.float32}
    add_scalar(graph, kind, "v")
    for name, value in adds.items():
        add_node(graph, f"{name}/read", ops.read, ["v"], **typed)
        add_node(graph, f"{name}/by", "Const", dtype=tf.float32, value=np.float32(value))
        add_node(graph, f"{name}/compute", "AddV2", [f"{name}/read", f"{name}/by"], T=tf.float32)
        add_node(graph, f"{name}/write", ops.assign, ["v", f"{name}/compute"], **typed)
    add_node(graph, "done", "NoOp", [f"^{name}/write" for name in adds])
    add_node(graph, "end", ops.read, ["v", "^done"], **typed)
    return graph


# %%
ORDER = ["A/read", "B/read", "A/compute", "A/write", "B/compute", "B/write"]


def in_order(graph: GraphDef, order: list[str]) -> GraphDef:
    """A copy of a graph in which each node of `order` waits for the one before it."""
    chained = copied(graph)
    by_name = {node.name: node for node in chained.node}
    for earlier, later in pairwise(order):
        by_name[later].input.append(f"^{earlier}")
    return chained


for kind in OPS:
    ordered = in_order(clients(kind, {"A": 1.0, "B": 2.0}), ORDER)
    with tf1.Session(graph=imported(ordered), config=plain_config()) as session:
        session.run("v/init")
        a, b, end = session.run(["A/compute:0", "B/compute:0", "end:0"])
    print(f"{kind:<9} A computed {a:g}, B computed {b:g}, v ends as {end:g}")

# %%
wanted = [node for node in ordered.node if node.name not in ("v/zero", "v/init")]
view.graph(GraphDef(node=wanted), title="Two clients, six events in a forced order")

# %% [markdown]
# For the resource variable the update of A is lost, as it should be under this order: B computed with a *stale* value,
# right when it was read and overtaken since. For the ref variable nothing is lost, and that is not better. B read
# before A wrote and yet computed with what A wrote: its "read" was only an alias of the buffer, and changed under its
# hands. Move one event, and the result may be another. Move the reader into another process, and the alias becomes a
# copy at the moment of the transfer; onto another CPU device of the same process, and it stays an alias.

# %%
with tf.Graph().as_default():
    v = tf1.get_variable("v", initializer=0.0, use_resource=False)
    with tf.device("/CPU:1"):
        moved = tf.identity(v.value())
    with tf.control_dependencies([moved]):
        added = v.assign_add(1.0)
    with tf.device("/CPU:1"), tf.control_dependencies([added]):
        used = tf.identity(moved)
    with tf1.Session(config=plain_config(cpus=2)) as session:
        session.run(v.initializer)
        print("on CPU:1 before the add, used there after it:", session.run(used))


# %% [markdown]
# ### Exercise 8 · Two clients, one variable (3 points)
#
# Write `simulate(kind: str, schedule: list[tuple]) -> tuple[float, list[float]]`. A schedule is a list of events, which
# happen one after the other. `c` is the number of a client, `k` a `float`:
#
# - `("read", c)`: the client reads the variable.
# - `("compute", c, k)`: it adds k to what it read last, and keeps the sum in a buffer of its own.
# - `("write", c)`: it assigns to the variable what it computed last.
# - `("add", c, k)`: k is added to the variable in one step (`assign_add`).
#
# The variable starts as 0. For `"resource"` a read gives a value, the one of that moment. For `"ref"` a read gives an
# alias: whenever it is used, it has the value that the variable has then. Any other kind raises `ValueError`.
#
# The result: the final value, and what each client computed last, in the order of the clients' numbers; a client that
# computed nothing is left out. All values are `float`. A client reads before it computes and computes before it writes;
# it may go several rounds. All sums are small whole numbers, exact in float32. Sessions and variables are withheld.
#
# ```
# >>> both_read = [("read", 0), ("read", 1), ("compute", 0, 1.0), ("write", 0), ("compute", 1, 2.0), ("write", 1)]
# >>> simulate("resource", both_read), simulate("ref", both_read)
# ((2.0, [1.0, 2.0]), (3.0, [1.0, 3.0]))
# ```
#
# <details><summary>Hint 1</summary>
#
# The two kinds differ in one event only. At which moment is the number taken out of the variable: when the client
# reads, or when it uses what it read?
# </details>
#
# <details><summary>Hint 2</summary>
#
# One float for the variable and two dicts by client, `read` and `computed`. `compute` adds k to `read[c]` or to the
# variable as it is now, by kind; `write` takes `computed[c]`; `add` looks at no dict.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-schedules", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def random_schedule(rng: random.Random) -> list[tuple]:
    """One to three clients, each with one or two rounds, their events interleaved at random."""
    left = []
    for client in range(rng.randrange(1, 4)):
        events: list[tuple] = []
        for _ in range(rng.choice([1, 1, 2])):
            k = float(rng.randrange(1, 6))
            whole = [("read", client), ("compute", client, k), ("write", client)]
            events += rng.choice([whole, whole, whole[:2], whole[:1], [("add", client, k)]])
        left.append(events)
    schedule = []
    while any(left):
        schedule.append(rng.choice([events for events in left if events]).pop(0))
    return schedule


# %% nbgrader={"grade": false, "grade_id": "schedule", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def simulate(kind: str, schedule: list[tuple]) -> tuple[float, list[float]]:
    """The variable's final value and what each client computed last, by client number.

    Raises:
        ValueError: the kind is neither "ref" nor "resource".
    """
    ### BEGIN SOLUTION
    if kind not in ("ref", "resource"):
        raise ValueError(f"a variable is 'ref' or 'resource', not {kind!r}")
    value = 0.0
    read: dict[int, float] = {}
    computed: dict[int, float] = {}
    for event, client, *rest in schedule:
        if event == "read":
            read[client] = value
        elif event == "compute":
            computed[client] = (value if kind == "ref" else read[client]) + rest[0]
        elif event == "write":
            value = computed[client]
        else:
            value += rest[0]
    return value, [computed[client] for client in sorted(computed)]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "schedule-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
both_read = [("read", 0), ("read", 1), ("compute", 0, 1.0), ("write", 0), ("compute", 1, 2.0), ("write", 1)]
for kind, due in [("resource", (2.0, [1.0, 2.0])), ("ref", (3.0, [1.0, 3.0]))]:
    with withheld(*TF_STEPS):
        simulated = answer_to(f"{kind}, {both_read}", (), simulate, kind, list(both_read))
    assert type(simulated) is tuple, f"simulate returns a tuple, not a {type(simulated).__name__}"
    assert simulated == due, f"{kind}: final value and computed values are {due}, found {simulated} for {both_read}"
try:
    with withheld(*TF_STEPS):
        simulated = answer_to("the kind 'copy'", (ValueError,), simulate, "copy", list(both_read))
except ValueError:
    pass
else:
    raise AssertionError(f"'copy' is no kind of variable and must raise ValueError; returned {simulated!r}")


### BEGIN HIDDEN TESTS
def really_run(kind, schedules):
    """Each schedule on a variable of its own, its events chained by control edges, all in one step of one session."""
    graph, ops = new_graph(), OPS[kind]
    attributes = {ops.dtype: tf.float32}
    fetches = []
    for number, schedule in enumerate(schedules):
        v = f"s{number}"
        add_scalar(graph, kind, v)
        after, read, computed = [], {}, {}
        for index, (event, client, *rest) in enumerate(schedule):
            here = f"{v}/{index}"
            if rest:
                add_node(graph, f"{here}/k", "Const", dtype=tf.float32, value=np.float32(rest[0]))
            if event == "read":
                add_node(graph, here, ops.read, [v, *after], **attributes)
                read[client] = here
            elif event == "compute":
                add_node(graph, here, "AddV2", [read[client], f"{here}/k", *after], T=tf.float32)
                computed[client] = here
            elif event == "write":
                add_node(graph, here, ops.assign, [v, computed[client], *after], **attributes)
            else:
                add_node(graph, here, ops.add, [v, f"{here}/k", *after], **attributes)
            after = [f"^{here}"]
        add_node(graph, f"{v}/end", ops.read, [v, *after], **attributes)
        fetches.append((f"{v}/end:0", [f"{computed[client]}:0" for client in sorted(computed)]))
    with tf1.Session(graph=imported(graph), config=plain_config()) as session:
        session.run([f"s{number}/init" for number in range(len(schedules))])
        found = session.run(fetches)
    return [(float(end), [float(value) for value in values]) for end, values in found]


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
schedules = [
    [("read", 0), ("add", 1, 4.0), ("compute", 0, 1.0), ("write", 0)],
    [("read", 0), ("compute", 0, 1.0), ("add", 1, 4.0), ("write", 0), ("add", 1, 2.0)],
    [("read", 1), ("read", 0), ("compute", 1, 2.0), ("compute", 0, 1.0), ("write", 0), ("write", 1)],
    [("read", 2), ("add", 0, 3.0), ("read", 10), ("add", 0, 1.0), ("compute", 10, 2.0), ("compute", 2, 5.0)],
    [("read", 1), ("read", 0), ("compute", 0, 3.0), ("write", 0), ("read", 2)],
    [("read", 0), ("add", 1, 1.0), ("compute", 0, 1.0), ("add", 1, 5.0), ("compute", 0, 2.0), ("write", 0)],
    [("read", 0), ("compute", 0, 1.0), ("add", 0, 2.0), ("add", 0, 4.0)],
    [("add", 0, 2.0)],
    [],
    *(random_schedule(rng) for _ in range(20)),
]
with withheld(*TF_STEPS, TF_STEP_IN_C):
    simulations = {
        kind: [
            answer_to(f"seed {seed}: {kind}, events {schedule}", (), simulate, kind, list(schedule))
            for schedule in schedules
        ]
        for kind in OPS
    }
real_ends = {kind: really_run(kind, schedules) for kind in OPS}
for number, schedule in enumerate(schedules):
    for kind in OPS:
        mine, where = simulations[kind][number], f"seed {seed}: {kind}, events {schedule}"
        assert type(mine) is tuple and len(mine) == 2, f"{where}: a tuple of two is due, found {mine!r}"
        end, values = mine
        assert type(end) is float, f"{where}: the final value is due as a float, found {end!r} ({type(end).__name__})"
        assert type(values) is list, f"{where}: what the clients computed is a list, found a {type(values).__name__}"
        assert mine == real_ends[kind][number], f"{where}: TensorFlow gives {real_ends[kind][number]}, yours {mine!r}"
        assert [type(value) for value in values] == [float] * len(values), f"{where}: {values!r} are not all float"
### END HIDDEN TESTS

# %% [markdown] after_passing="schedule"
# Your few lines agreed with graphs in which TensorFlow had no choice of order. For a ref variable `Assign` copies into
# the buffer that is there (`AssignRefVariable`, core/framework/ref_var.cc), so every alias sees it. For a resource
# variable `AssignVariableOp` puts another buffer in its place (core/kernels/resource_variable_ops.cc), and who has read
# keeps the old one. `add` appears in no dict because nothing is taken out: that is why `assign_add` loses nothing here.

# %% [markdown]
# ## Lost for certain
#
# A race that shows up once in a thousand runs is hard to believe in and hard to test. The graph offers something
# better: edges that make the bad order the only one. The clients below have no order among each other; every run may
# end in another way. Your task is to make sure that it always ends badly.
#
# ### Exercise 9 · Lose every update but one (2 points)
#
# Write `lose_updates(graph: GraphDef, keep: str) -> GraphDef`. `graph` comes from the given `clients(kind, adds)`, with
# two or more clients and either kind of variable; `keep` is one of the clients. Return a copy in which control inputs
# were added to nodes, and nothing else was changed, such that in *every* order that the edges still allow, `v` (set to
# 0 before) ends as what `keep` adds: the updates of all other clients are lost.
#
# Tests do not try their luck. They look at the edges: each node that has to come before another must be reached from it
# by going back along inputs. Which those are is for you to find; mind that a ref variable is used when it is
# *computed* with. Then the graph is run.
#
# `lose_updates(clients("resource", {"A": 1.0, "B": 2.0}), "A")` ends as 1.0, with `"B"` as 2.0.
#
# <details><summary>Hint 1</summary>
#
# Follow the one client that wins. Which writes must its sum know nothing of? And when must its own write happen, so
# that nobody undoes it?
# </details>
#
# <details><summary>Hint 2</summary>
#
# The clients are the names before `/write`. For each of the others two edges are enough: its write waits for the moment
# at which `keep` has its sum, and the write of `keep` waits for its write.
# </details>

# %% nbgrader={"grade": false, "grade_id": "lost-update", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def lose_updates(graph: GraphDef, keep: str) -> GraphDef:
    """A copy with control inputs added, so that of all updates only that of the client `keep` is ever left."""
    ### BEGIN SOLUTION
    made = copied(graph)
    nodes = {node.name: node for node in made.node}
    others = [name for name in nodes if name.endswith("/write") and name != f"{keep}/write"]
    for write in others:
        nodes[write].input.append(f"^{keep}/compute")
        nodes[f"{keep}/write"].input.append(f"^{write}")
    return made
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "lost-update-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
lossy = answer_to("clients A and B, keep A", (), lose_updates, clients("resource", {"A": 1.0, "B": 2.0}), "A")
assert type(lossy) is GraphDef, f"lose_updates returns a GraphDef, not a {type(lossy).__name__}"
lossy_inputs = {node.name: list(node.input) for node in lossy.node}
assert sorted(lossy_inputs) == sorted(node.name for node in clients("resource", {"A": 1.0, "B": 2.0}).node), (
    f"no node is added and none is taken away; the nodes are {sorted(lossy_inputs)}"
)
assert lossy_inputs["A/compute"][:2] == ["A/read", "A/by"], f"the inputs of A/compute are {lossy_inputs['A/compute']}"
with tf1.Session(graph=imported(lossy), config=plain_config()) as session:
    session.run("v/init")
    lossy_end = session.run("end:0")
assert lossy_end == 1.0, f"A adds 1 and must be the only update left; v ends as {lossy_end}"


### BEGIN HIDDEN TESTS
def assert_forced(graph, earlier, later, where):
    """Assert that the edges of a graph leave no order in which `later` comes before `earlier`."""
    before = {node.name for node in tf1.graph_util.extract_sub_graph(graph, [later]).node} - {later}
    assert earlier in before, f"{where}: nothing forces {earlier} to come before {later}"


def without_added(node, original):
    """A node without the control inputs that its original does not have."""
    made = NodeDef()
    made.CopyFrom(node)
    del made.input[:]
    made.input.extend(text for text in node.input if text in original.input or not text.startswith("^"))
    return made


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
for kind, size in [("ref", 2), ("resource", 2), ("ref", 4), ("resource", 3)]:
    names = rng.sample(["A", "B", "C", "left", "right"], size)
    adds = {name: float(2**power) for power, name in enumerate(names)}
    keep = rng.choice(names)
    where = f"seed {seed}: clients({kind!r}, {adds}), keep {keep}"
    graph = clients(kind, adds)
    mine = answer_to(where, (), lose_updates, copied(graph), keep)
    assert type(mine) is GraphDef, f"{where}: a GraphDef is due, found a {type(mine).__name__}"
    now = {node.name: node for node in mine.node}
    assert len(mine.node) == len(now) == len(graph.node), f"{where}: {len(graph.node)} nodes are due, each name once"
    changed = [node.name for node in graph.node if node.name not in now or without_added(now[node.name], node) != node]
    assert not changed, f"{where}: more than added control inputs was changed at {changed}"
    try:
        made = imported(mine)
    except ValueError as error:
        raise AssertionError(f"{where}: TensorFlow does not import the graph: {str(error)[:200]}") from error
    used = f"{keep}/compute" if kind == "ref" else f"{keep}/read"
    for other in names:
        if other != keep:
            assert_forced(mine, used, f"{other}/write", where)
            assert_forced(mine, f"{other}/write", f"{keep}/write", where)
    with tf1.Session(graph=made, config=plain_config()) as session:
        session.run("v/init")
        end = float(session.run("end:0"))
    assert end == adds[keep], f"{where}: v ends as {end}, due is {adds[keep]}"
### END HIDDEN TESTS

# %% [markdown] after_passing="lost-update"
# With two edges for each loser the loss is no longer a matter of timing, for either kind of variable. So resource
# variables did not abolish the lost update: whoever reads, computes and writes in three steps can lose it. What they
# did abolish is the alias, and the unlocked update: `AssignAdd` of a ref variable takes no lock unless `use_locking`
# says so (`DenseUpdateOp`, core/kernels/dense_update_ops.cc), `AssignAddVariableOp` always holds the variable's mutex.

# %% [markdown]
# The cure is in the graph as well. One step instead of three (`assign_add`), or, where the computation does not fit
# into one op, `tf.CriticalSection`: it keeps a mutex as a resource, and only one client at a time is inside.

# %%
with tf.Graph().as_default():
    old = tf1.get_variable("old", initializer=0.0, use_resource=False)
    print("ref, use_locking of an add:", old.assign_add(1.0).op.get_attr("use_locking"))

with tf.Graph().as_default():
    v = tf1.get_variable("v", initializer=0.0, use_resource=True)
    section = tf.CriticalSection()

    def three_steps(k: float) -> Callable[[], tf.Tensor]:
        """Read, compute, write: to be executed in the section."""
        return lambda: tf1.assign(v, v.read_value() + k, name="write")

    inside = [section.execute(three_steps(k)) for k in (1.0, 2.0, 4.0)]
    with tf1.Session(config=plain_config()) as session:
        session.run(v.initializer)
        session.run(inside)
        print("three clients, one critical section:", session.run(v))

# %% [markdown]
# ## Play
#
# Two clients, three steps each. A wants to add 1, B wants to add 2; 3 is right. Choose whose step comes next, in any
# order, and see what is where after it: a ref variable on the left, a resource variable on the right, under the same
# order. A read of the ref variable is drawn as a line to the buffer, because that is all it is. Find an order in which
# the left one is right and the right one is not. Is there one the other way round? The values are read from TensorFlow:
# every order is run, with control edges, on both kinds.
#
# <details><summary>Is there one?</summary>
#
# No. Of the 20 orders, 8 are right for the ref variable, and only two of these for the resource variable: all of A
# before all of B, and the other way round. If a read gives a value, whoever comes second must read after the other's
# write; then its alias says the same.
# </details>

# %%
from tflabs.view import variable_race

variable_race(["A", "B", "A", "A", "B", "B"])

# %% [markdown]
# ## Read on
#
# - `python/ops/variable_scope.py`: `get_variable`, `_VariableStore`. `python/ops/resource_variable_ops.py`:
#   `BaseResourceVariable`, `ResourceVariable`. `python/ops/ref_variable.py`: `RefVariable`.
# - `python/ops/variables.py`: `global_variables_initializer`, `report_uninitialized_variables`,
#   `_try_guard_against_uninitialized_dependencies`.
# - `core/framework/resource_var.h`: `Var`, a tensor with a mutex. `core/kernels/resource_variable_ops.cc`: its kernels;
#   the comment at the head of the file tells the rules of copy-on-write. `core/kernels/variable_ops.h`: `VariableOp`.
# - `core/kernels/assign_op.h`: `AssignOp`; `core/framework/ref_var.cc`: `AssignRefVariable`.
#   `python/ops/critical_section_ops.py`: `CriticalSection`; `core/kernels/mutex_ops.cc`: its mutex.
#
# What changed since 1.x: there every variable was a `VariableV2` until `use_resource=True` was asked for, and the value
# of a read depended on when, and in which process, it was used. In 2.21 resource variables are the default, in explicit
# graphs too. Reads in a `tf.function` are ordered by automatic control dependencies
# (`python/framework/auto_control_deps.py`), so a program of today states the order by the order of its lines. And there
# is no `init` target: a variable has its value from the moment it is made.
#
# A variable brings state into a step from the step before. What brings new data in from outside, and how a step waits
# for it, is lab 2-5.

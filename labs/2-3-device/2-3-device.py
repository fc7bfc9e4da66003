# %% [markdown]
# # Devices
#
# Where may a node run, given what the program asked for, what belongs together and what there is? A program asks in
# three ways: with the name of a device, with the scopes around a line of code, and with the wish that two nodes stay
# together. The **placer** turns all of it into one device for each node, or says which two nodes it cannot satisfy.
#
# At the end you can read and write device names as TensorFlow does, say what request a node gets inside any nesting of
# scopes, find the groups of nodes that must stay together, and predict for a whole graph where each node lands, or
# between which two nodes it fails. All of it is checked against the runtime's own placement.
#
# 80 minutes · 18 points · Before this lab: 2-1 (node, attribute, device) and 2-2 (sessions and their executors).
#
# When you have saved, `./tflabs check 2-3-device` or Check on the start page grades your answers, also with tests that
# you do not see here.

# %% [markdown]
# ## What lab 2-2 left unexplained
#
# Lab 2-2 said what a session does when it makes an executor: it prunes the graph, *places* the nodes on devices, splits
# the graph by device and prepares every kernel. You built the pruning and the plan. The second verb was skipped: there,
# every node ran on the one device that there was.
#
# It showed in one place only. A node that asked for `/device:CPU:7` stopped an ordinary session in its first step, for
# a fetch that did not need this node, and did not stop an `InteractiveSession`, which places only what the step needs.
# So a request can be impossible, and somebody decides that it is. In lab 2-1 you found the first device that fits one
# request. Here are the rules for a whole graph.

# %% nbgrader={"grade": false, "grade_id": "given-imports", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
from tflabs.runtime import quiet

with quiet():
    import tensorflow as tf

import contextlib
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from tflabs.runtime import answer_to, disguise, plain_config, withheld

tf1 = tf.compat.v1
GraphDef, NodeDef = tf1.GraphDef, tf1.NodeDef
CPUS = [f"/job:localhost/replica:0/task:0/device:CPU:{index}" for index in range(3)]
# What tests withhold: whatever could ask the placer.
TF_PLACERS = (
    "tensorflow.compat.v1.Session",
    "tensorflow.compat.v1.InteractiveSession",
    "tensorflow.python.client.session.BaseSession",
    "tensorflow.compat.v1.Session.run",
    "tensorflow.compat.v1.Session.make_callable",
    "tensorflow.import_graph_def",
    "tensorflow.python.framework.importer._import_graph_def_internal",
    "tensorflow.function",
    "tensorflow.python.eager.polymorphic_function.concrete_function.ConcreteFunction",
    "tensorflow.compat.v1.train.Server",
    "tensorflow.python.grappler.item.Item",
    "tensorflow.python.grappler.cluster.Cluster",
)


# %% [markdown]
# ## Look
#
# A request stands in the field `device` of a NodeDef. The wish to stay together stands in its attribute `_class`, a
# list of strings `loc:@NAME`: "I belong to the group of NAME". We write graphs as lists of rows: name, inputs, request,
# labels. A node without inputs is a `Const` of 20 elements (the runtime copies constants of up to 16 elements to all
# devices that read them, if several do), one with one input a `Neg`, one with two an `AddV2`.

# %% nbgrader={"grade": false, "grade_id": "given-graphs", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
class Row(NamedTuple):
    """A node as we write it down. Given."""

    name: str
    inputs: str = ""  # names, with spaces between
    request: str = ""
    labels: str = ""  # names, with spaces between: "a b" for loc:@a and loc:@b


def graph_of(rows: Iterable[Row]) -> GraphDef:
    """A GraphDef with one node for each row."""
    made = GraphDef()
    made.versions.producer = tf.version.GRAPH_DEF_VERSION
    value = tf.make_tensor_proto(np.zeros(20, np.float32))
    for row in rows:
        inputs = row.inputs.split()
        node = made.node.add(name=row.name, op=["Const", "Neg", "AddV2"][len(inputs)], input=inputs, device=row.request)
        node.attr["T" if inputs else "dtype"].type = tf.float32.as_datatype_enum
        if not inputs:
            node.attr["value"].tensor.CopyFrom(value)
        if row.labels:
            node.attr["_class"].list.s.extend(f"loc:@{name}".encode() for name in row.labels.split())
    return made


def load(graph: GraphDef) -> tf.Graph:
    """The graph of a GraphDef, every node with the request that stands in the GraphDef.

    `import_graph_def` alone will not do: it overwrites a node's request by that of a node named in its labels
    (`_ProcessNewOps`, python/framework/importer.py), so some clashes would never reach the placer.
    """
    with tf.Graph().as_default() as made:
        tf.import_graph_def(graph, name="")
    for wanted in graph.node:
        made.get_operation_by_name(wanted.name)._set_device(wanted.device)
    return made


def three_cpus(soft: bool = False) -> tf1.ConfigProto:
    """A session's configuration with three CPU devices and no optimisers; `plain_config` turns the optimisers off."""
    config = plain_config(3)
    config.device_count["GPU"] = 0
    config.allow_soft_placement = soft
    return config


def run_placed(graph: GraphDef, soft: bool = False) -> dict[str, str]:
    """Run all nodes in a session with three CPU devices; node → full name of the device on which it ran.

    Raises:
        tf.errors.InvalidArgumentError: the placer refuses the graph.
    """
    options, metadata = tf1.RunOptions(output_partition_graphs=True), tf1.RunMetadata()
    with tf1.Session(graph=load(graph), config=three_cpus(soft)) as session:
        session.run(session.graph.get_operations(), options=options, run_metadata=metadata)
    ran = {node.name: node.device for part in metadata.partition_graphs for node in part.node}
    return {node.name: ran[node.name] for node in graph.node}


def short(device: str) -> str:
    """`CPU:1` of a full name."""
    return device.rpartition("device:")[2]


# %% [markdown]
# Nine nodes, three CPU devices. Some nodes ask for a device, some for any CPU, some for nothing, and some carry a
# label.

# %%
nine_nodes = graph_of(
    [
        Row("data", request="/device:CPU:1"),
        Row("a", "data"),
        Row("b", "data", "/device:CPU:2"),
        Row("c", "a", "/device:CPU:*"),
        Row("d", "b", labels="b"),
        Row("e", "c d", labels="d"),
        Row("f", "e", "/device:CPU:*", labels="c"),
        Row("g", "e", "/device:CPU:1", labels="f"),
        Row("h", "f g"),
    ]
)
for name, device in run_placed(nine_nodes).items():
    print(name, "ran on", device)

# %% [markdown]
# Below, what was asked is on the left and what the placer made of it on the right: colours for devices, a frame around
# nodes that had to stay together. (`ask_placer` learns the groups by adding nodes that ask for what does not exist: the
# placer's error then lists the group and its request.) Look at `e`: it asks for nothing, and neither does `d`, which
# its label names. Look at `c` and `f`: any CPU would do for either of them. And look at `a`, which reads `data`.

# %%
from tflabs.view import ask_placer, placement

placement(nine_nodes, ask_placer(nine_nodes, cpus=3), title="Nine nodes on three CPUs")


# %% [markdown]
# ### Exercise 1 · Where will it run? (1 point)
#
# The graph below runs on three CPU devices. Set `places` to a dict that says for each of the five nodes `free`, `any`,
# `near`, `next` and `named` on which device it runs: name → `"CPU:0"`, `"CPU:1"` or `"CPU:2"`. Decide before you run
# anything.

# %% nbgrader={"grade": false, "grade_id": "given-five", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def five_and_three() -> GraphDef:
    """The five nodes of exercise 1 and three that say what they want."""
    return graph_of(
        [
            Row("data", request="/device:CPU:1"),
            Row("far", "data", "/device:CPU:2"),
            Row("free", "far"),
            Row("any", "data", "/device:CPU:*"),
            Row("near", "data", labels="far"),
            Row("next", "free", labels="near"),
            Row("named", "any"),
            Row("namer", "next", "/device:CPU:1", labels="named"),
        ]
    )


# %%
placement(five_and_three(), title="Where will it run?")

# %% nbgrader={"grade": false, "grade_id": "where-will-it-run", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
# places = {"free": ..., "any": ..., "near": ..., "next": ..., "named": ...}
### BEGIN SOLUTION
places = {"free": "CPU:0", "any": "CPU:0", "near": "CPU:2", "next": "CPU:2", "named": "CPU:1"}
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "where-will-it-run-test", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
five = ["any", "free", "named", "near", "next"]
assert type(places) is dict, f"places is a dict from name to device; it is a {type(places).__name__}"
assert sorted(places) == five, f"places has the five names {five}; it has {sorted(places)}"
assert all(type(places[name]) is str and places[name] in ("CPU:0", "CPU:1", "CPU:2") for name in five), (
    f'each device is "CPU:0", "CPU:1" or "CPU:2"; found {places}'
)
### BEGIN HIDDEN TESTS
ran_on = run_placed(five_and_three())
real_places = {name: short(ran_on[name]) for name in five}
wrong_places = sum(places[name] != real_places[name] for name in five)
assert places == real_places, (
    f"the placer decides otherwise for {wrong_places} of the five. Ask of each: which nodes must it stay with, however "
    "many labels lie between? What do these ask for, all together? If they ask for nothing, what is the first device?"
)
### END HIDDEN TESTS

# %% [markdown] after_passing="where-will-it-run"
# The placer has no liking for neighbours: a node that nobody constrains goes to the first device that has a kernel for
# it, not to its input's (`Placer::Run`, core/common_runtime/placer.cc; only nodes without inputs and ops that read
# nothing but a shape follow a neighbour). A label works in both directions and over any number of steps, and whatever
# one node of the group asks for holds for all.

# %% [markdown]
# ## A device's name
#
# A name has up to five fields: a job, a replica and a task (which process), a type and an index (which device in it).
# A *full* name has all five and means one device; a request may leave out any of them. Python reads requests when a
# scope is opened, in a lenient way; C++ reads what then stands in the node, and is stricter: `/device:cpu:0` fits no
# device there, and `/cpu` is a "Malformed device specification".

# %%
for text in ["/job:w/replica:0/task:1/device:GPU:0", "/device:CPU:*", "gpu:1", "/task:1/job:w", "/cpu"]:
    spec = tf.DeviceSpec.from_string(text)
    print(f"{text!r:<40} job {spec.job!r}, task {spec.task!r}, {spec.device_type!r} {spec.device_index!r}", end="")
    print(f"  → {spec.to_string()!r}")


# %% [markdown]
# ### Exercise 2 · Read a device name (3 points)
#
# Write `parse_device(text: str) -> Spec` and `format_device(spec: Spec) -> str`.
#
# A name consists of parts with slashes between them, in any order; empty parts are skipped. A part is one of
#
# - `job:NAME`, `replica:N`, `task:N`, where N is a number as `int` reads it (`12`, but also `-1` and `1_0`);
# - `device:TYPE:INDEX`, where INDEX is such a number or `*`;
# - short: `cpu`, `gpu` or `tpu` in any mixture of small letters and capitals, alone or with `:INDEX`.
#
# NAME and TYPE are not empty in the tests.
#
# In a `Spec`, a field that is not named is `None`, and so is an index that is not written or is `*`. A short type is
# kept in capitals; after `device:`, only `cpu` and `gpu` in small letters become capitals, and every other type (`Cpu`,
# `tpu`) is kept as it is written. A second job, replica or task replaces the first. A part of any other form, a number
# that is none (also one that a later part would replace) and a second device raise `ValueError`.
#
# `format_device` writes `/job:NAME/replica:N/task:N/device:TYPE:INDEX` in this order and leaves out what is `None`. If
# the type is known and the index is not, the index is `*`; an index without a type is not written. `tf.DeviceSpec` and
# `tf.device` are withheld.
#
# ```
# >>> parse_device("/task:1/gpu:0")
# Spec(job=None, replica=None, task=1, type='GPU', index=0)
# >>> format_device(parse_device("cpu/job:w"))
# '/job:w/device:CPU:*'
# ```
#
# <details><summary>Hint 1</summary>
#
# Split at slashes, then each part at its colons. The first word and the number of words say which form it is; what fits
# none of the forms is an error. Is index 0 different from no index everywhere in your code?
# </details>
#
# <details><summary>Hint 2</summary>
#
# Collect the fields in a dict that begins with five times `None`, and make `Spec(**fields)` at the end. A short form is
# a device form that lacks its first word: bring both to (type, index text) and go on in common code. `int` raises what
# is wanted.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-spec", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
class Spec(NamedTuple):
    """A device name, field by field; `None` where it says nothing. Given."""

    job: str | None = None
    replica: int | None = None
    task: int | None = None
    type: str | None = None
    index: int | None = None


TF_SPECS = (
    "tensorflow.device",
    "tensorflow.compat.v1.device",
    "tensorflow.DeviceSpec",
    "tensorflow.compat.v1.DeviceSpec",
    "tensorflow.python.framework.device_spec.DeviceSpecV2._string_to_components",
    "tensorflow.python.framework.device_spec.DeviceSpecV2._components_to_string",
    "tensorflow.DeviceSpec.from_string",
    "tensorflow.DeviceSpec.parse_from_string",
    "tensorflow.compat.v1.DeviceSpec.from_string",
    "tensorflow.compat.v1.DeviceSpec.parse_from_string",
    "tensorflow.python.framework.device.canonical_name",
)


# %% nbgrader={"grade": false, "grade_id": "parse-device", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def parse_device(text: str) -> Spec:
    """Read a device name.

    Raises:
        ValueError: a part has none of the forms, a number is none, or there is a second device.
    """
    ### BEGIN SOLUTION
    fields: dict[str, str | int | None] = dict.fromkeys(Spec._fields)
    for part in filter(None, text.split("/")):
        key, *rest = part.split(":")
        if key == "job" and len(rest) == 1:
            fields["job"] = rest[0]
        elif key in ("replica", "task") and len(rest) == 1:
            fields[key] = int(rest[0])
        else:
            kind, index = type_and_index(part)
            if fields["type"] is not None:
                raise ValueError(f"{text!r} names a second device, {part!r}")
            fields["type"] = kind
            fields["index"] = None if index == "*" else int(index)
    return Spec(**fields)


def type_and_index(part: str) -> tuple[str, str]:
    """The two words that say which device, of either form; the index may be "*"."""
    words = part.split(":")
    if words[0] == "device" and len(words) == 3:
        return words[1].upper() if words[1] in ("cpu", "gpu") else words[1], words[2]
    if words[0].upper() in ("CPU", "GPU", "TPU") and len(words) <= 2:
        return words[0].upper(), words[1] if len(words) == 2 else "*"
    raise ValueError(f"{part!r} is no part of a device name")
    ### END SOLUTION


def format_device(spec: Spec) -> str:
    """Write a device name in the order job, replica, task, device."""
    ### BEGIN SOLUTION
    named = [f"/{field}:{getattr(spec, field)}" for field in Spec._fields[:3] if getattr(spec, field) is not None]
    if spec.type is not None:
        named.append(f"/device:{spec.type}:{'*' if spec.index is None else spec.index}")
    return "".join(named)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "parse-device-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
visible_names = [
    (
        "/job:w/replica:0/task:1/device:GPU:0",
        Spec(job="w", replica=0, task=1, type="GPU", index=0),
        "/job:w/replica:0/task:1/device:GPU:0",
    ),
    ("cpu:1", Spec(type="CPU", index=1), "/device:CPU:1"),
    ("/task:3/device:XLA_CPU:*/job:ps", Spec(job="ps", task=3, type="XLA_CPU"), "/job:ps/task:3/device:XLA_CPU:*"),
    ("//", Spec(), ""),
]
with withheld(*TF_SPECS):
    read = [answer_to(f"parse_device({text!r})", (), parse_device, text) for text, _, _ in visible_names]
    wrote = [answer_to(f"format_device({want})", (), format_device, want) for _, want, _ in visible_names]
for (text, want, written), spec, got in zip(visible_names, read, wrote, strict=True):
    assert type(spec) is Spec, f"parse_device returns a Spec, not a {type(spec).__name__}"
    assert spec == want, f"{text!r} says {want}; found {spec}"
    assert [type(field) for field in spec] == [type(field) for field in want], (
        f"{text!r}: job and type are str, the others int; found {spec}"
    )
    assert type(got) is str, f"format_device returns a str, not a {type(got).__name__}"
    assert got == written, f"{want} is written {written!r}; found {got!r}"
for text in ["/device:CPU", "/cpu:0/gpu:0"]:
    try:
        with withheld(*TF_SPECS):
            spec = answer_to(f"parse_device({text!r})", (ValueError,), parse_device, text)
    except ValueError:
        pass
    else:
        raise AssertionError(f"{text!r} is no device name and must raise ValueError; it gave {spec!r}")


### BEGIN HIDDEN TESTS
PARTS = [
    *["job:w", "job:ps", "job:w-1_x", "replica:0", "replica:2", "task:3", "task:0", "task:x", "task:", "replica:a1"],
    *["device:CPU:1", "device:gpu:0", "device:GPU:12", "device:CPU:*", "device:Npu:0", "device:CPU", "device:CPU:x"],
    *["cpu:0", "GPU:2", "tpu:1", "Gpu:1", "cpu", "TPU", "gpu:*", "cpu:1:2", "cpu:y"],
    *["foo:1", "", "job:a:b", "task", "device", "job", "Job:w"],
    *["device:Cpu:0", "device:Gpu:1", "device:tpu:0", "device:Tpu:0", "task:-1", "cpu:1_0", "device:GPU:+2"],
]


def real_spec(text):
    """What TensorFlow reads, as a Spec; None where it refuses, or where a number is none that a later part replaces."""
    try:
        real = tf.DeviceSpec.from_string(text)
    except ValueError:
        return None
    for number in re.findall(r"(?:replica|task):([^/]*)", text):
        try:
            int(number)
        except ValueError:
            return None
    return Spec(real.job, real.replica, real.task, real.device_type, real.device_index)


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
texts = [f"{first}/{second}" for first in PARTS[:3] + PARTS[10:12] for second in PARTS]
texts += ["task:x/task:3", "/task:3/task:4/job:a/job:b", "/cpu:0//", "gpu:0/device:GPU:0", "replica:1/replica:0"]
texts += [rng.choice(["", "/"]) + "/".join(rng.sample(PARTS, rng.randrange(4))) for _ in range(160)]
read = []
with withheld(*TF_SPECS):
    for text in texts:
        read.append(None)
        with contextlib.suppress(ValueError):
            read[-1] = answer_to(f"parse_device({text!r}) (seed {seed})", (ValueError,), parse_device, text)
for text, mine in zip(texts, read, strict=True):
    where = f"parse_device({text!r}) (seed {seed})"
    want = real_spec(text)
    due = "ValueError" if want is None else str(want)
    assert mine == want, f"{where}: {due} is due, found {'ValueError' if mine is None else mine}"
    if want is not None:
        assert type(mine) is Spec, f"{where} returns a Spec, not a {type(mine).__name__}"
        kinds = [type(field) for field in want]
        assert [type(field) for field in mine] == kinds, f"{where}: job and type are str, the others int; found {mine}"
to_write = []
for _ in range(40):
    fields = ["w", rng.choice([0, 3]), rng.choice([0, 12]), rng.choice(["CPU", "GPU"]), rng.choice([0, 0, 5])]
    to_write.append(Spec(*(field if rng.random() < 0.6 else None for field in fields)))
to_write += [Spec(index=3), Spec(type="CPU", index=0), Spec(job="w", replica=0, task=0)]
with withheld(*TF_SPECS):
    wrote = [answer_to(f"format_device({spec})", (), format_device, spec) for spec in to_write]
for spec, mine in zip(to_write, wrote, strict=True):
    want = tf.DeviceSpec(spec.job, spec.replica, spec.task, spec.type, spec.index).to_string()
    assert type(mine) is str, f"format_device({spec}) returns a str, not a {type(mine).__name__}"
    assert mine == want, f"seed {seed}: format_device({spec}) is {want!r} in TensorFlow; found {mine!r}"
### END HIDDEN TESTS

# %% [markdown] after_passing="parse-device"
# You read names as `DeviceSpecV2` (python/framework/device_spec.py) does, but for one thing: it turns a task into a
# number only at the end, so `/task:x/task:3` is fine for it. (It also takes the short types `custom` and `epu`.) What
# stands in a node is read again in C++, by `DeviceNameUtils::ParseFullName` (xla/tsl/util/device_name_utils.cc), which
# wants a leading slash and knows no bare `/cpu`. Ours brings both device forms to one pair first, so there is one place
# where an index is read and one where a second device is noticed.

# %% [markdown]
# ## Scopes
#
# Few programs write requests into nodes. They open scopes, and scopes nest. `tf.device` takes a string, a
# `tf.DeviceSpec` or `None`; `Graph.device`, which it calls, also takes a function that is called with each new
# operation. When a node is made, the graph goes through its open scopes **from the innermost out** and lets each do
# something to the node's request.

# %%
with tf.Graph().as_default() as nested:
    with tf.device("/job:w/device:CPU:1"), tf.device("/task:2/gpu:0"):
        tf.no_op(name="inner_fields_win")
    with tf.device("/cpu:1"), tf.device("/device:GPU:*"):
        tf.no_op(name="index_from_outside")
    with tf.device("/job:w"), tf.device(None), tf.device("/cpu:2"):
        tf.no_op(name="cut_off")
    with tf.device("/job:w"), nested.device(lambda operation: "/cpu:3"), tf.device("/task:1"):
        tf.no_op(name="replaced")
    with nested.device(lambda operation: "/cpu:3"), tf.device("/task:1"):
        tf.no_op(name="as_written")
for operation in nested.get_operations():
    print(f"{operation.name:<20} {operation.device!r}")


# %% [markdown]
# The second line is often taken for a mistake: the inner scope said "any GPU", and the node asks for GPU 1, because the
# index was still open and the outer scope filled it in. In the fourth, the function threw away the task that the scope
# inside it had set; the scope outside then filled in the job.
#
# ### Exercise 3 · Nested scopes (4 points)
#
# Write `device_of(scopes: list, op: str) -> str`: the request that a node of op type `op` gets inside these scopes. The
# list begins with the outermost. A scope is a string, `None`, or a function `(op, device) -> str` that gets the op type
# and the request so far. The request begins as `""`; scopes are applied from the innermost out:
#
# - A string fills in the fields that are still open. Fields that are set stay. Type and index are two fields, each for
#   itself. The result is written as `format_device` writes it.
# - A string that names no field (`""`, `"/"`) changes nothing at all, not even how the request is written.
# - A function's answer *replaces* the request, as it is written. It is a well-formed device name or `""`.
# - At `None` one stops: scopes outside it do not count, and functions among them are not called.
#
# A string that is no device name raises `ValueError`, also where it would not be reached. `tf.device`, `Graph.device`
# and what merges specs in TensorFlow are withheld. Given are `spec_of(text) -> Spec` and `text_of(spec) -> str`, which
# read and write names as `parse_device` and `format_device` are meant to.
#
# ```
# >>> device_of(["/cpu:1", "/device:GPU:*"], "NoOp")
# '/device:GPU:1'
# >>> def to_three(op, device): return "/cpu:3"
# >>> device_of(["/job:w", to_three, "/task:1"], "NoOp"), device_of([to_three, "/task:1"], "NoOp")
# ('/job:w/device:CPU:3', '/cpu:3')
# ```
#
# <details><summary>Hint 1</summary>
#
# Keep one string, the request so far, and walk the list backwards. Ask of each scope which of the four kinds it is.
# When must strings be checked, if a bad one counts also where the walk does not come?
# </details>
#
# <details><summary>Hint 2</summary>
#
# Merging is one line once both sides are Specs: for each pair of fields take the one of the request so far if it is not
# `None`, else that of the scope. `zip` pairs the fields of two tuples.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-spec-of", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def spec_of(text: str) -> Spec:
    """The fields of a device name, as TensorFlow reads it. Raises ValueError if it is none."""
    read = tf.DeviceSpec.from_string(text)
    return Spec(read.job, read.replica, read.task, read.device_type, read.device_index)


def text_of(spec: Spec) -> str:
    """A device name, as TensorFlow writes it."""
    return tf.DeviceSpec(*spec).to_string()


TF_SCOPES = (
    "tensorflow.device",
    "tensorflow.compat.v1.device",
    "tensorflow.Graph.device",
    "tensorflow.Graph._apply_device_functions",
    "tensorflow.python.framework.device.merge_device",
    "tensorflow.python.framework.device.MergeDevice",
    "tensorflow.DeviceSpec.make_merged_spec",
    "tensorflow.python.framework.device_spec.DeviceSpecV2._get_combined_properties",
    "tensorflow.compat.v1.DeviceSpec.merge_from",
)


def always(text: str) -> Callable[[str, str], str]:
    """A scope function that gives every node this request."""
    return lambda op, device: text


def keep(op: str, device: str) -> str:
    """A scope function that hands back what it sees."""
    return device


def only(chosen: str, text: str) -> Callable[[str, str], str]:
    """A scope function that gives nodes of one op type a request and leaves the others alone."""
    return lambda op, device: text if op == chosen else device


# %% nbgrader={"grade": false, "grade_id": "device-scopes", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def device_of(scopes: list, op: str) -> str:
    """The request of a node of type `op` inside `scopes`, outermost first.

    Raises:
        ValueError: a string among the scopes is no device name.
    """
    ### BEGIN SOLUTION
    fields = [spec_of(scope) if isinstance(scope, str) else scope for scope in scopes]
    device = ""
    for scope, spec in zip(reversed(scopes), reversed(fields), strict=True):
        if scope is None:
            break
        if callable(scope):
            device = scope(op, device)
        elif spec != Spec():
            inner = spec_of(device)
            device = text_of(Spec(*(outer if mine is None else mine for mine, outer in zip(inner, spec, strict=True))))
    return device
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "device-scopes-test", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
for scopes, want, why in [
    (["/job:w/device:CPU:1", "/task:2/gpu:0"], "/job:w/task:2/device:GPU:0", "inner fields stay, open ones are filled"),
    (["/cpu:1", "/device:GPU:*"], "/device:GPU:1", "type and index are two fields"),
    (["/job:w", None, "/cpu:2"], "/device:CPU:2", "nothing outside of None counts"),
    (["/job:w", always("/cpu:3"), "/task:1"], "/job:w/device:CPU:3", "a function's answer replaces the request"),
]:
    shown = [scope if scope is None or type(scope) is str else 'always("/cpu:3")' for scope in scopes]
    with withheld(*TF_SCOPES):
        got = answer_to(f"scopes {shown}", (), device_of, list(scopes), "NoOp")
    assert type(got) is str, f"device_of returns a str, not a {type(got).__name__}"
    assert got == want, f"scopes {shown}: {why}; {want!r} is due, found {got!r}"


### BEGIN HIDDEN TESTS
def real_device(graph, scopes, op):
    """The request that TensorFlow writes into a node of the graph; None where a scope is refused."""
    with contextlib.ExitStack() as stack:
        for scope in scopes:
            try:
                stack.enter_context(graph.device(as_tensorflow_wants(scope)))
            except ValueError:
                return None
        return graph.create_op(op, [], [], name=f"n{graph.version}").device


def as_tensorflow_wants(scope):
    """A function of op type and request as a function of an operation."""
    return (lambda operation: scope(operation.type, operation.device)) if callable(scope) else scope


FUNCTIONS = {
    'always("/cpu:3")': always("/cpu:3"),
    'always("")': always(""),
    'always("/job:f")': always("/job:f"),
    "keep": keep,
    'only("NoOp", "/gpu:4")': only("NoOp", "/gpu:4"),
    'only("ControlTrigger", "/task:5/cpu:*")': only("ControlTrigger", "/task:5/cpu:*"),
}
STRINGS = ["", "/", "/cpu:1", "cpu:0", "/device:GPU:*", "/job:w", "/job:ps/task:1", "/task:3/gpu:2", "/replica:0"]
STRINGS += ["/job:w/cpu:0", "/device:TPU:2", "/task:0", "gpu"]


def random_scopes(rng):
    """Names of up to five scopes: strings, None, functions by their text in FUNCTIONS; few are malformed."""
    kinds = rng.choices(["text", "function", "none", "bad"], [70, 22, 6, 2], k=rng.randrange(1, 6))
    pools = {"text": STRINGS, "function": list(FUNCTIONS), "none": [None], "bad": ["/foo:1", "/device:CPU"]}
    return [rng.choice(pools[kind]) for kind in kinds]


def explode(op, device):
    raise RuntimeError("this function stands outside of None and was called")


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
nestings = [
    [],
    ["", 'always("/cpu:3")'],
    ["/job:w", "", 'always("/cpu:3")'],
    ["/", 'always("/cpu:3")'],
    ["/foo:1", None, "/cpu:1"],
    ["/cpu:x"],
    ["/cpu:0", "keep", "/gpu:1"],
    ["/job:w/task:0", 'always("")', "/task:1/cpu:0"],
    ['always("/job:f")', None, "/cpu:1"],
    ["/device:TPU:2", "gpu", "/job:w"],
    ["keep", "cpu:0"],
]
nestings = [(names, "NoOp", "a fixed case") for names in nestings]
nestings += [(random_scopes(rng), rng.choice(["NoOp", "ControlTrigger"]), f"seed {seed}") for _ in range(200)]
requests_inside = []
with withheld(*TF_SCOPES):
    for names, op, where in nestings:
        scopes = [FUNCTIONS.get(name, name) for name in names]
        requests_inside.append(None)
        with contextlib.suppress(ValueError):
            told = f"scopes {names}, op {op!r} ({where})"
            requests_inside[-1] = answer_to(told, (ValueError,), device_of, scopes, op)
    got = answer_to("a function outside of None must not be called", (), device_of, [explode, None, "/cpu:1"], "NoOp")
assert got == "/device:CPU:1", f"a function, None, '/cpu:1': only the string counts; found {got!r}"
with tf.Graph().as_default() as scoped:
    for (names, op, where), mine in zip(nestings, requests_inside, strict=True):
        want = real_device(scoped, [FUNCTIONS.get(name, name) for name in names], op)
        due, found = ("ValueError" if answer is None else repr(answer) for answer in (want, mine))
        assert mine == want, f"scopes {names}, op {op!r} ({where}): TensorFlow says {due}, found {found}"
        assert want is None or type(mine) is str, f"device_of returns a str, not a {type(mine).__name__}"
### END HIDDEN TESTS

# %% [markdown] after_passing="device-scopes"
# Your requests were those that TensorFlow wrote into nodes, for random nestings. The walk is
# `Graph._apply_device_functions` (python/framework/ops.py): the stack is read from its top, `None` breaks the loop, a
# null merge is skipped. A string was turned into a `MergeDevice` (python/framework/device.py) when its scope was
# opened, which is why a malformed one fails there; ours therefore reads all strings before it walks.

# %% [markdown]
# ## If it cannot be had
#
# A request is a constraint, not a hint: a device that does not exist is an error. With **soft placement** it becomes a
# preference. A `ConfigProto` has it off; programs of today run with it on.

# %%
lonely = graph_of([Row("data", request="/device:CPU:1"), Row("n", "data", "/device:GPU:0")])
print("soft:", short(run_placed(lonely, soft=True)["n"]))
try:
    run_placed(lonely)
except tf.errors.InvalidArgumentError as error:
    print("hard:", re.search(r"was explicitly .*?\]", str(error))[0])
print("soft placement in a session by default:", tf1.ConfigProto().allow_soft_placement)
print("soft placement in tf.function and eager mode:", tf.config.get_soft_device_placement())


# %% [markdown]
# Two things decide: which devices there are, and for which types of device the op has a **kernel**. The placer looks at
# devices in an order of preference: by the priority of their type, GPUs before CPUs, then its own process before
# others, then by name. A soft request does not turn into "some CPU": an op with a GPU kernel that asks for a GPU too
# many gets the first one.
#
# ### Exercise 4 · If it cannot be had (3 points)
#
# Write `choose(request: str, devices: list[str], kernels: set[str], soft: bool) -> str`: the device of a node.
#
# - `devices` are full names in the order of preference; `kernels` are the device types for which the node's op has a
#   kernel (`{"CPU", "GPU"}`). Only devices of these types come into question.
# - The result is the first of them that fits the request in all fields that it names. `*` and a field that is not named
#   fit all.
# - If there is none and `soft` is true, the request's type and index are given up; job, replica and task are not. The
#   result is the first device in question that now fits.
# - Otherwise raise `tf.errors.InvalidArgumentError` (its constructor takes `(None, None, message)`) with the request in
#   the message, as it is written.
#
# Requests are device names that `spec_of` reads. Sessions, `tf.import_graph_def`, `tf.function` and other ways to ask
# the placer are withheld.
#
# ```
# >>> choose("/gpu:0", CPUS, {"CPU"}, True)
# '/job:localhost/replica:0/task:0/device:CPU:0'
# >>> two_tasks = ["/job:w/replica:0/task:1/device:CPU:0", "/job:w/replica:0/task:0/device:CPU:0"]
# >>> choose("/task:0/cpu:*", two_tasks, {"CPU"}, False)
# '/job:w/replica:0/task:0/device:CPU:0'
# ```
#
# <details><summary>Hint 1</summary>
#
# Both attempts are the same question with another request: which is the first device in question that fits? Write that
# once. What does the second request look like, as a Spec?
# </details>
#
# <details><summary>Hint 2</summary>
#
# A device fits if for each pair of fields the request's is `None` or equal. `spec._replace(type=None, index=None)` is
# the second request. Order of the attempts: for each request, for each device.
# </details>

# %% nbgrader={"grade": false, "grade_id": "soft-placement", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def choose(request: str, devices: list[str], kernels: set[str], soft: bool) -> str:
    """The device of a node whose op has kernels for the types `kernels`.

    Raises:
        tf.errors.InvalidArgumentError: no device fits; the message holds the request.
    """
    ### BEGIN SOLUTION
    wanted = spec_of(request)
    attempts = [wanted, wanted._replace(type=None, index=None)] if soft else [wanted]
    for attempt in attempts:
        for device in devices:
            spec = spec_of(device)
            fits = all(mine in (None, field) for mine, field in zip(attempt, spec, strict=True))
            if fits and spec.type in kernels:
                return device
    raise tf.errors.InvalidArgumentError(None, None, f"no device fits the request {request!r}")
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "soft-placement-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
for request, soft, want in [("/cpu:1", False, CPUS[1]), ("/device:CPU:*", False, CPUS[0]), ("/gpu:0", True, CPUS[0])]:
    told = f"choose({request!r}, CPUS, {{'CPU'}}, {soft})"
    with withheld(*TF_PLACERS):
        got = answer_to(told, (), choose, request, list(CPUS), {"CPU"}, soft)
    assert type(got) is str, f"choose returns a str, not a {type(got).__name__}"
    assert got == want, f"request {request!r} among three CPUs, soft {soft}: {want!r} is due, found {got!r}"
try:
    with withheld(*TF_PLACERS):
        got = choose("/gpu:0", list(CPUS), {"CPU"}, False)
except tf.errors.InvalidArgumentError as error:
    assert "/gpu:0" in str(error), f"the message must hold the request /gpu:0; it says {str(error)!r}"
else:
    raise AssertionError(f"three CPUs hold no GPU: InvalidArgumentError is due without soft placement, found {got!r}")


### BEGIN HIDDEN TESTS
def placed_by_tensorflow(requests, soft):
    """The device of a Neg with each request on three CPUs; None where TensorFlow refuses."""
    config = three_cpus(soft)
    config.graph_options.place_pruned_graph = True  # an impossible request fails its own step only
    rows = [Row("data", request="/device:CPU:1")]
    rows += [Row(f"n{number}", "data", text_of(spec_of(request))) for number, request in enumerate(requests)]
    found, options = [], tf1.RunOptions(output_partition_graphs=True)
    with tf1.Session(graph=load(graph_of(rows)), config=config) as session:
        for row in rows[1:]:
            said = tf1.RunMetadata()
            try:
                session.run([row.name], options=options, run_metadata=said)
            except tf.errors.InvalidArgumentError:
                found.append(None)
                continue
            nodes = [node for part in said.partition_graphs for node in part.node]
            found.append(next(node.device for node in nodes if node.name == row.name))
    return found


def first_fit(request, devices, kernels, soft):
    """The promise, for lists of devices that this machine does not have."""
    fields = ("job", "replica", "task", "device_type", "device_index")
    asked = {field: getattr(tf.DeviceSpec.from_string(request), field) for field in fields}
    able = [device for device in devices if tf.DeviceSpec.from_string(device).device_type in kernels]
    for dropped in [(), fields[3:]] if soft else [()]:
        named = {field for field in fields if asked[field] is not None} - set(dropped)
        for device in able:
            if all(getattr(tf.DeviceSpec.from_string(device), field) == asked[field] for field in named):
                return device
    return None


def random_request(rng, jobs, tasks):
    parts = [rng.choice(["", "", *jobs]), rng.choice(["", "", "/replica:0", "/replica:1"])]
    parts += [rng.choice(["", "", *tasks])]
    kinds = ["", "/cpu:*", "/device:CPU:1", "/device:CPU:2", "/cpu:7", "/gpu:0", "/gpu:1", "/device:GPU:*", "/tpu:1"]
    return "".join([*parts, rng.choice(kinds)])


def case_of(request, devices, kernels, soft, where):
    """The case in a form that can be pasted, for messages."""
    first = [] if devices == CPUS else ["devices = [", *(f"    {device!r}," for device in devices), "]"]
    called = f"choose({request!r}, {'devices' if first else 'CPUS'}, {kernels}, {soft}) ({where})"
    return "\n".join([*first, called])


def chosen(request, devices, kernels, soft, where):
    """The learner's choice, and the message of the error that was raised in its place."""
    case = case_of(request, devices, kernels, soft, where)
    due = (tf.errors.InvalidArgumentError,)
    try:
        return answer_to(case, due, choose, request, list(devices), set(kernels), soft), None
    except tf.errors.InvalidArgumentError as error:
        return None, str(error)


def check_choice(question, answer, want):
    request, case, (mine, message) = question[0], case_of(*question), answer
    expected = "InvalidArgumentError" if want is None else repr(want)
    assert mine == want, f"{case}: {expected} is due, found {'that error' if message else repr(mine)}"
    if want is None:
        assert message is not None, f"{case}: InvalidArgumentError is due, found {mine!r}"
        assert request in message, f"{case}: the message must hold the request; it says {message!r}"


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
requests = ["/gpu:0", "/cpu:7", "/job:ps/cpu:0", "/job:ps", "/task:2/gpu:0", "/device:TPU:*", "", "/cpu:2"]
requests += [random_request(rng, ["/job:localhost", "/job:ps"], ["/task:0", "/task:2"]) for _ in range(20)]
here = [(request, CPUS, {"CPU"}, soft, f"three CPUs, seed {seed}") for soft in (False, True) for request in requests]
cluster = [f"/job:{job}/replica:0/task:{task}" for job in ("w", "ps") for task in (0, 1)]
elsewhere = []
for turn in range(60):
    processes = rng.sample(cluster, 3)
    devices = [f"{process}/device:GPU:{index}" for process in processes for index in range(rng.randrange(3))]
    devices += [f"{process}/device:CPU:{index}" for process in processes for index in range(rng.randrange(1, 3))]
    kernels = rng.choice([{"CPU"}, {"CPU", "GPU"}, {"GPU"}])
    request = random_request(rng, ["/job:w", "/job:ps", "/job:x"], ["/task:0", "/task:1"])
    elsewhere.append((request, devices, kernels, turn % 3 > 0, f"a cluster, seed {seed}"))
few = [f"/job:w/replica:0/task:0/device:{name}" for name in ("GPU:0", "GPU:1", "CPU:0")]
for request, kernels, soft in [
    ("/gpu:8", {"CPU", "GPU"}, True),
    ("/gpu:0", {"CPU"}, True),
    ("/gpu:0", {"CPU"}, False),
    ("", {"CPU"}, False),
    ("/gpu:1", {"CPU", "GPU"}, True),
    ("/task:1/gpu:0", {"CPU", "GPU"}, True),
]:
    elsewhere.append((request, few, kernels, soft, "a fixed case"))
with withheld(*TF_PLACERS):
    choices = [chosen(*question) for question in here + elsewhere]
wanted = placed_by_tensorflow(requests, False) + placed_by_tensorflow(requests, True)
wanted += [first_fit(*question[:4]) for question in elsewhere]
for question, choice, want in zip(here + elsewhere, choices, wanted, strict=True):
    check_choice(question, choice, want)
### END HIDDEN TESTS

# %% [markdown] after_passing="soft-placement"
# On three CPUs your choices were the runtime's, hard and soft; on clusters with GPUs they followed its rule. The rule
# is in `ColocationGraph::GetDevicesForNode` and `GetSoftDeviceCandidates` (core/common_runtime/colocation_graph.cc);
# the order of preference is made by `FilterSupportedDevices` there and `DeviceSet` (core/common_runtime/device_set.cc).
# Soft placement never leaves the process that was asked for: giving up the task would move data between machines.

# %% [markdown]
# ## Who belongs together
#
# A variable's initial value should be computed where the variable is; an optimizer's slot should be beside the weights
# that it is for. Neither of them knows where that will be. So a node can ask for company instead of a place: with
# `Graph.colocate_with`, or by a label in a NodeDef. Without a label, an operation's group bears its own name:

# %%
with tf.Graph().as_default() as together:
    with tf.device("/cpu:2"):
        base = tf.constant(np.zeros(20), name="base")
    with tf.device("/cpu:1"), together.colocate_with(base.op):
        beside = tf.negative(base, name="beside")
    with together.colocate_with(beside.op):
        third = tf.negative(beside, name="third")
for operation in together.get_operations():
    print(f"{operation.name:<8} request {operation.device!r}, groups {operation.colocation_groups()}")


# %% [markdown]
# In Python `colocate_with` is careful: it looks up the label of the label, and takes over the device of the node that
# it names, so `/cpu:1` around it did not count. A GraphDef is not so tidy. Labels may name nodes that carry labels
# themselves, a node may have several, and they may contradict its request.
#
# ### Exercise 5 · Who belongs together (3 points)
#
# Write `colocation_groups(graph: GraphDef) -> list[list[str]]`. Every node is in exactly one group. Each string
# `loc:@x` in the list of a node's attribute `_class` puts the node into the group of `x`; strings of other forms mean
# nothing here. This holds through any number of steps and in both directions. `x` may stand anywhere in the graph.
#
# In a group, nodes stand in the order of the graph; groups stand in the order of their first nodes. A label whose `x`
# is no node of the graph raises `ValueError` with `x` in the message. Nodes with several labels and chains of 1,200
# nodes occur; a solution that needs time in proportion to the square of their number is fast enough. Op types may be
# names that TensorFlow does not know. The ways to ask the placer are withheld, as in exercise 4.
#
# ```
# >>> colocation_groups(graph_of([Row("a"), Row("b", "a"), Row("c", "a", labels="a"), Row("d", "b", labels="c")]))
# [['a', 'c', 'd'], ['b']]
# ```
#
# <details><summary>Hint 1</summary>
#
# A node with two labels joins the groups of both, so groups have to be merged while you read. Labels are edges of an
# undirected graph, and groups its connected components.
# </details>
#
# <details><summary>Hint 2</summary>
#
# Union-find: a dict `parent`, at first each node its own; `find` follows it to the end with a `while` loop (a chain of
# 1,200 is too deep for recursion); each label sets `parent[find(node)] = find(x)`. At the end, go through the graph
# once and collect nodes by `find(node)` in a dict, which keeps order. The strings in `node.attr["_class"].list.s` are
# `bytes`.
# </details>

# %% nbgrader={"grade": false, "grade_id": "colocation-groups", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def colocation_groups(graph: GraphDef) -> list[list[str]]:
    """The groups of nodes that must stay together, each in the graph's order.

    Raises:
        ValueError: a label names no node of the graph.
    """
    ### BEGIN SOLUTION
    parent = {node.name: node.name for node in graph.node}

    def find(name):
        while parent[name] != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    for node in graph.node:
        for word in node.attr["_class"].list.s if "_class" in node.attr else []:
            prefix, at, other = word.decode().partition("loc:@")
            if prefix or not at:
                continue
            if other not in parent:
                raise ValueError(f"node {node.name!r} has a label for {other!r}, which is no node")
            parent[find(node.name)] = find(other)
    groups = defaultdict(list)
    for node in graph.node:
        groups[find(node.name)].append(node.name)
    return list(groups.values())
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "colocation-groups-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
six_rows = [Row("a"), Row("b", "a"), Row("c", "a", labels="a"), Row("d", "b", labels="b c")]
six_rows += [Row("e", "d"), Row("f", "e")]
with withheld(*TF_PLACERS):
    six_groups = answer_to("six nodes", (), colocation_groups, graph_of(six_rows))
assert type(six_groups) is list, f"colocation_groups returns a list, not a {type(six_groups).__name__}"
assert six_groups == [["a", "b", "c", "d"], ["e"], ["f"]], (
    f"c belongs to a, and d to b and to c; e and f are alone: four, one and one; found {six_groups}"
)
try:
    with withheld(*TF_PLACERS):
        haunted = graph_of([Row("a", labels="ghost")])
        six_groups = answer_to("a label for `ghost`", (ValueError,), colocation_groups, haunted)
except ValueError as error:
    assert "ghost" in str(error), f"the message must name the unknown node, ghost; it says {str(error)!r}"
else:
    raise AssertionError(f"a label for a node that is not in the graph must raise ValueError; it gave {six_groups!r}")


### BEGIN HIDDEN TESTS
def random_labels(rng, names):
    """Labels for each of the nodes: none, one or two, for any node of the graph."""
    return {name: rng.sample(names, rng.choices([0, 1, 2], [10, 7, 4])[0]) for name in names}


def groups_by_probing(labels_of_all):
    """The groups of several graphs, by the placer.

    For each node in turn, a copy of its graph in which this node alone requests CPU:1; who lands there is its group.
    All copies run as one graph. Their nodes read one constant: data edges mean nothing to groups.
    """
    rows, probes = [Row("data", request="/device:CPU:0")], []
    for number, labels in enumerate(labels_of_all):
        for probed in labels:
            prefix = f"g{number}-{probed}-"
            probes.append((number, prefix))
            for name, others in labels.items():
                request = "/device:CPU:1" if name == probed else ""
                rows.append(Row(prefix + name, "data", request, " ".join(prefix + other for other in others)))
    ran = run_placed(graph_of(rows))
    found = [[] for _ in labels_of_all]
    for number, prefix in probes:
        group = [name for name in labels_of_all[number] if short(ran[prefix + name]) == "CPU:1"]
        if group not in found[number]:
            found[number].append(group)
    return found


def dressed(labels, rng):
    """A graph with these labels: random inputs, other strings among the labels, op types under other names."""
    names = list(labels)
    inputs = [[names[rng.randrange(at)] for _ in range(rng.randrange(1, 3))] if at else [] for at in range(len(names))]
    graph = graph_of(Row(name, " ".join(tails)) for name, tails in zip(names, inputs, strict=True))
    for node in graph.node:
        strings = [f"loc:@{other}" for other in labels[node.name]]
        strings += rng.choice([[], [], ["other"], ["loc:a"], ["a loc:@n0"], [f"loc:@{node.name}"]])
        if strings or rng.random() < 0.2:
            node.attr["_class"].list.s.extend(word.encode() for word in rng.sample(strings, len(strings)))
    return disguise(graph, rng)[0]


def strings_of(graph):
    """What stands in `_class`, node by node, for messages."""
    return {
        node.name: [word.decode() for word in node.attr["_class"].list.s] if "_class" in node.attr else []
        for node in graph.node
    }


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
cases = [random_labels(rng, [f"n{index}" for index in range(6)]) for _ in range(8)]
cases += [{"a": [], "b": ["c"], "c": [], "d": ["b", "a"]}, {"a": [], "b": [], "c": ["a"], "d": ["b"], "e": ["c", "d"]}]
graphs = [dressed(labels, rng) for labels in cases]
told = [f"_class is {strings_of(graph)} (seed {seed})" for graph in graphs]
with withheld(*TF_PLACERS):
    answers = [answer_to(where, (), colocation_groups, graph) for where, graph in zip(told, graphs, strict=True)]
for where, mine, want in zip(told, answers, groups_by_probing(cases), strict=True):
    assert type(mine) is list, f"{where}: colocation_groups returns a list, not a {type(mine).__name__}"
    assert mine == want, f"{where}: the placer keeps together {want}; found {mine}"

# Each node of one chain names the node before it, each of the other the node after it.
down = {f"d{index}": [f"d{index - 1}"] if index else [] for index in range(1200)}
up = {f"u{index}": [f"u{index - 1}"] if index else [] for index in reversed(range(1200))}
with withheld(*TF_PLACERS):
    mine = answer_to("two chains of 1,200 labels", (), colocation_groups, dressed({"alone": []} | down | up, rng))
assert mine == [["alone"], list(down), list(up)], (
    "two chains of 1,200 nodes are two groups in the graph's order, behind one node that is alone; found "
    f"{str(mine)[:60]} …"
)
unknown = dressed({"a": [], "b": ["a"]}, rng)
unknown.node[1].attr["_class"].list.s.append(b"loc:@nowhere")
refused = ""
try:
    with withheld(*TF_PLACERS):
        answer_to("a second label for `nowhere`", (ValueError,), colocation_groups, unknown)
except ValueError as error:
    refused = str(error)
assert "nowhere" in refused, f"a label for `nowhere`, no node, must raise ValueError and name it; found {refused!r}"
### END HIDDEN TESTS

# %% [markdown] after_passing="colocation-groups"
# The placer was asked node by node (this one on CPU:1, who comes along?) and gave your groups. In
# `ColocationGraph` (core/common_runtime/colocation_graph.cc) every node is a `Member` of a union-find forest;
# `ColocateAllNodes` reads the labels and `ColocateNodeToGroup` merges, by rank and with path compression. An unknown
# label does not come that far: `import_graph_def` refuses it. Ours shortens paths only while it looks something up,
# which is all that a chain needs.

# %% [markdown]
# ## Where a group lands, and why not
#
# The last step puts both halves together. A group has one device, so the requests of its nodes must be met by one
# device: the placer merges them, field by field. `CPU:*` and `/task:0/device:CPU:1` make `/task:0/device:CPU:1`. Where
# two of them name different values for one field, nothing can be done, and the error says which two nodes could not be
# put together. It names the two at which the placer noticed, and these need not be the ones that asked:

# %%
clashing = graph_of(
    [
        Row("data", request="/device:CPU:0"),
        Row("a", "data", "/device:CPU:1"),
        Row("b", "a", labels="a"),
        Row("c", "data", "/device:CPU:2"),
        Row("d", "c", labels="c"),
        Row("e", "b d", labels="b d"),
    ]
)
try:
    run_placed(clashing)
except tf.errors.InvalidArgumentError as error:
    print(re.search("Cannot colocate.*", str(error))[0])

# %%
placement(clashing, ask_placer(clashing, cpus=3), title="Two groups that cannot become one")


# %% [markdown]
# `e` asks for nothing. Its first label put it into the group of `b`, whose request is CPU:1 because of `a`; its second
# label then names `d`, whose group's request is CPU:2 because of `c`. So the error says `e` and `d`: the node that was
# being read, and the first node that used this label.
#
# ### Exercise 6 · Where each group lands, and why not (4 points)
#
# Write `land(graph: GraphDef, devices: list[str]) -> dict[str, str]`: the device of each node, without soft placement.
#
# - Nodes are read in the order of the graph; for each its `loc:@` labels in their order, then, as if it were one more
#   label, its own name. The first node that uses a label is the **root** of this label. Each later one that uses it is
#   merged with the root: their groups become one, if they are not one already.
# - A group's request is that of its nodes put together, field by field. The first merge of two groups whose requests
#   name different values for a field raises `Clash(node, root)`: the node that is being read, and the root of its
#   label.
# - Otherwise each group lands on the first of `devices` that fits its request. In the tests there always is one.
#   `devices` holds full names in the order of preference, not always those of `CPUS` nor in their order.
#
# The result maps every node's name to a full device name; it may have any order. Labels name nodes of the graph, also
# later ones. Requests are device names that `spec_of` reads. Op types may be names that TensorFlow does not know, and
# all devices have kernels for them. Leave out the placer's two heuristics (Read on): for `land`, no node follows its
# input or its reader. Given: `spec_of`, `text_of`, and `labels_of(node) -> list[str]`, the names in a node's labels, in
# order. The ways to ask the placer are withheld.
#
# ```
# >>> land(clashing, CPUS)
# Clash: e, d
# >>> land(graph_of([Row("a", request="/cpu:*"), Row("b", "a", "/device:CPU:2", labels="a")]), CPUS)["a"]
# '/job:localhost/replica:0/task:0/device:CPU:2'
# ```
#
# <details><summary>Hint 1</summary>
#
# Union-find again, with a request at each group's root member. Mind the two meanings of root: the first node that used
# a *label* never changes and is the one that `Clash` names; the representative of a *group* changes with each merge and
# holds the request.
# </details>
#
# <details><summary>Hint 2</summary>
#
# One loop over nodes, one over `[*labels_of(node), node.name]`. `roots.setdefault(label, node.name)` gives the label's
# root, also for its first user, for whom there is nothing to merge. Merge two requests as in exercise 3, after you have
# looked for a field that both name and that differs. At the end, the device of a node is that of its group's request.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-clash", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
class Clash(Exception):
    """Two nodes that cannot be put together: the node that was being read, and the root of its label. Given."""

    def __init__(self, node: str, root: str) -> None:
        super().__init__(node, root)
        self.node, self.root = node, root

    def __str__(self) -> str:
        return f"{self.node}, {self.root}"


def labels_of(node: NodeDef) -> list[str]:
    """The names in a node's labels `loc:@NAME`, in order."""
    words = [word.decode() for word in node.attr["_class"].list.s] if "_class" in node.attr else []
    return [word.removeprefix("loc:@") for word in words if word.startswith("loc:@")]


REQUESTS = ["", "", "", "/device:CPU:*", "/job:localhost", "/task:0/device:CPU:*", "/replica:0/device:CPU:2"]
REQUESTS += ["/device:CPU:1", "/device:CPU:2"]


def random_graph(rng: random.Random) -> GraphDef:
    """Four to nine nodes: constants with a full request first, then nodes with any request or none; labels for some."""
    rows: list[Row] = []
    size = rng.randrange(4, 10)
    for index in range(size):
        earlier = [row.name for row in rows]
        inputs = rng.choices(earlier, k=rng.choice([1, 2])) if index > 1 else []
        request = rng.choice(REQUESTS) if inputs else rng.choice(CPUS)
        some = rng.choices([0, 1, 2], [11, 7, 3])[0]
        labels = rng.sample([f"n{other}" for other in range(size if rng.random() < 0.15 else index)], min(some, index))
        rows.append(Row(f"n{index}", " ".join(inputs), request, " ".join(labels)))
    return graph_of(rows)


# %% nbgrader={"grade": false, "grade_id": "landing", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def land(graph: GraphDef, devices: list[str]) -> dict[str, str]:
    """The device of each node.

    Raises:
        Clash: two groups that must be one name different values for a field of their requests.
    """
    ### BEGIN SOLUTION
    parent = {node.name: node.name for node in graph.node}
    requests = {node.name: spec_of(node.device) for node in graph.node}
    roots: dict[str, str] = {}

    def find(name):
        while parent[name] != name:
            name = parent[name]
        return name

    for node in graph.node:
        for label in [*labels_of(node), node.name]:
            root = roots.setdefault(label, node.name)
            mine, other = find(node.name), find(root)
            if mine == other:
                continue
            pairs = list(zip(requests[mine], requests[other], strict=True))
            if any(a is not None and b is not None and a != b for a, b in pairs):
                raise Clash(node.name, root)
            parent[mine] = other
            requests[other] = Spec(*(b if a is None else a for a, b in pairs))

    def first_fit(request):
        for device in devices:
            if all(mine in (None, field) for mine, field in zip(request, spec_of(device), strict=True)):
                return device
        raise ValueError(f"no device fits {text_of(request)!r}")

    return {node.name: first_fit(requests[find(node.name)]) for node in graph.node}
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "landing-test", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
landing_rows = [
    Row("data", request="/device:CPU:1"),
    Row("a", "data", "/device:CPU:*"),
    Row("b", "a", labels="a"),
    Row("c", "data", "/task:0/device:CPU:2", labels="b"),
    Row("d", "c"),
]
with withheld(*TF_PLACERS):
    landed = answer_to("five nodes that land", (), land, graph_of(landing_rows), list(CPUS))
assert type(landed) is dict, f"land returns a dict, not a {type(landed).__name__}"
assert landed == {"data": CPUS[1], "a": CPUS[2], "b": CPUS[2], "c": CPUS[2], "d": CPUS[0]}, (
    "a, b and c are one group and its request is that of c; data is on CPU:1, and d, free, on CPU:0; found "
    f"{ {name: short(str(device)) for name, device in landed.items()} }"
)
clash_rows = [*landing_rows, Row("e", "d", "/device:CPU:0"), Row("f", "e", labels="e b")]
try:
    with withheld(*TF_PLACERS):
        landed = answer_to("f between two groups", (Clash,), land, graph_of(clash_rows), list(CPUS))
except Clash as clash:
    assert (clash.node, clash.root) == ("f", "b"), (
        f"f is in the group of e when its second label is read; the root of that label is b; found {clash}"
    )
else:
    raise AssertionError(f"the groups of e (CPU:0) and b (CPU:2) cannot become one: Clash is due, found {landed}")


### BEGIN HIDDEN TESTS
def real_landing(graph):
    """Node → device, or the two nodes that the placer could not put together."""
    try:
        return run_placed(graph)
    except tf.errors.InvalidArgumentError as error:
        named = r"\{\{colocation_node (\S+)\}\}"
        said = re.search(f"Cannot colocate nodes {named} and {named}", str(error))
        assert said is not None, f"the placer refused a graph of this test in other words: {error}"
        return said[1], said[2]


def with_cpus(graph, order):
    """The graph with the index order[i] where a request names CPU:i."""
    changed = GraphDef.FromString(graph.SerializeToString())
    for node in changed.node:
        node.device = re.sub(r"CPU:(\d)", lambda found: f"CPU:{order[int(found[1])]}", node.device)
    return changed


def told_of(graph, devices, where):
    """The case in a form that can be pasted, for messages."""
    spelt = {name: f"CPUS[{index}]" for index, name in enumerate(CPUS)}
    rows = []
    for node in graph.node:
        request = spelt.get(node.device, repr(node.device))
        rows.append(f"    Row({node.name!r}, {' '.join(node.input)!r}, {request}, {' '.join(labels_of(node))!r}),")
    listed = (", " if devices[0] in spelt else ",\n    ").join(spelt.get(device, repr(device)) for device in devices)
    return "\n".join([f"devices = [{listed}]", "land(graph_of([", *rows, f"]), devices) ({where})"])


def brief(landed):
    """A result without what all devices have in common, for messages."""
    return {name: str(at).removeprefix(CPUS[0][:-5]).removeprefix("/job:w/replica:0") for name, at in landed.items()}


def check_landings(cases, rng):
    """Compare the learner's answers with the placer's; returns how many graphs clash and how many land.

    The placer knows one order of three CPUs. Another order is another numbering: where `devices` is CPUS[order[0]],
    CPUS[order[1]], CPUS[order[2]], the learner gets the placer's graph with order[i] for the index i.
    """
    asked, answers, kinds = [], [], [0, 0]
    for graph, order, where in cases:
        devices, mine = [CPUS[index] for index in order], with_cpus(graph, order)
        asked.append((disguise(mine, rng)[0], devices, told_of(mine, devices, where)))
    with withheld(*TF_PLACERS):
        for graph, devices, told in asked:
            try:
                answers.append(answer_to(told, (Clash,), land, graph, list(devices)))
                assert type(answers[-1]) is dict, f"land returns a dict, not a {type(answers[-1]).__name__}; {told}"
            except Clash as clash:
                answers.append((clash.node, clash.root))
    for (graph, _, _), (_, devices, told), mine in zip(cases, asked, answers, strict=True):
        want = real_landing(graph)
        if type(want) is dict:
            want = {name: devices[CPUS.index(device)] for name, device in want.items()}
        due, found = (f"Clash{answer}" if type(answer) is tuple else brief(answer) for answer in (want, mine))
        assert mine == want, f"{told}: the placer says {due}, found {found}"
        kinds[type(want) is dict] += 1
    return kinds


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
start = [Row("s", request=CPUS[0]), Row("t", request=CPUS[1])]
fixed_rows = [
    # Over two steps: only the merged requests clash.
    [Row("a", "s", CPUS[1]), Row("b", "s", labels="a"), Row("c", "s", "/device:CPU:2"), Row("d", "s", labels="c b")],
    # The type, and the job.
    [Row("a", "s", "/device:GPU:0"), Row("b", "s", "/device:CPU:*", labels="a")],
    [Row("a", "s", "/job:ps/device:CPU:0"), Row("b", "s", labels="a"), Row("c", "s", "/job:localhost", labels="b")],
    # The root of a label is the first node that uses it, not the node that it names, nor the first of the group.
    [Row("a", "s", CPUS[1], labels="c"), Row("b", "s"), Row("c", "s"), Row("d", "s", "/device:CPU:2", labels="c")],
    [Row("a", "s", labels="c"), Row("b", "s", "/device:CPU:2", labels="a"), Row("c", "s", "/device:CPU:1")],
    # A node whose name an earlier node used: its own labels count first.
    [Row("a", "s", "/device:CPU:1", labels="c"), Row("b", "s", "/device:CPU:2"), Row("c", "s", labels="b")],
    # Groups that are one already are not compared again; a group takes what any of its nodes names.
    [Row("a", "s", "/task:0"), Row("b", "s", "/device:CPU:*", labels="a"), Row("c", "s", CPUS[2], labels="a b")],
    # Two labels whose groups clash, and a request of the node itself that clashes with the second.
    [Row("a", "s", "/device:CPU:*"), Row("b", "t", "/device:CPU:2"), Row("c", "a b", "/device:CPU:1", labels="a b")],
    [Row("a", "s", "/device:CPU:1"), Row("b", "a", "/device:CPU:2", labels="t"), Row("c", "a b")],
]
check_landings([(graph_of([*start, *rows]), (2, 0, 1), "a fixed case") for rows in fixed_rows], rng)

# GPUs, and processes in another order: no machine needs to have them, so the expected devices are written out.
cluster = [f"/job:w/replica:0/task:{task}/device:{kind}" for kind in ("GPU:0", "GPU:1", "CPU:0") for task in (1, 0)]
cluster_rows = [
    Row("free"),
    Row("any", "free", "/device:CPU:*"),
    Row("near", "free", "/device:GPU:1"),
    Row("task", "near", "/task:0", labels="near"),
    Row("last", "task", labels="any"),
    Row("first", "free", "/task:0"),
]
due = dict(zip([row.name for row in cluster_rows], [cluster[at] for at in (0, 4, 3, 3, 4, 1)], strict=True))
told = told_of(graph_of(cluster_rows), cluster, "GPUs before CPUs, task 1 before task 0")
with withheld(*TF_PLACERS):
    landed = answer_to(told, (), land, disguise(graph_of(cluster_rows), rng)[0], list(cluster))
assert type(landed) is dict, f"land returns a dict, not a {type(landed).__name__}"
assert landed == due, f"{told}: {brief(due)} is due, found {brief(landed)}"

kinds = [0, 0]
for _ in range(8):
    drawn = [(random_graph(rng), rng.sample(range(3), 3), f"seed {seed}") for _ in range(36)]
    kinds = [sum(pair) for pair in zip(kinds, check_landings(drawn, rng), strict=True)]
    if min(kinds) >= 10:
        break
assert min(kinds) >= 10, f"seed {seed}: of each kind at least ten graphs are due, drawn were {kinds}"
### END HIDDEN TESTS

# %% [markdown] after_passing="landing"
# On random graphs you named the device of every node, or the two nodes between which the placer failed. TensorFlow does
# the merging in `Member::MergeDeviceNames` (through `DeviceNameUtils::MergeDevNames`), called by
# `ColocationGraph::ColocateNodes`, before it looks at any device; `Placer::Run` then takes the first device of
# `GetDevicesForNode`. Ours keeps the merged request at the group's representative, as a `Member` does; that is why
# conflicts over many steps cost one comparison each.

# %% [markdown]
# ## What a session does with the same graph when it is soft
#
# With soft placement a clash is no error either. Where the requests of two groups that should be merged differ in the
# index, the index is given up; where they differ in the type, type and index are; where they differ in job, replica or
# task, the label itself is ignored, and each side goes where it asked. No error says so, and no warning.

# %%
print({name: short(device) for name, device in run_placed(clashing, soft=True).items()})

# %% [markdown]
# Neither CPU:1 nor CPU:2, which were asked for: all of the group is on CPU:0. That is what a program of today gets,
# since it is soft by default. A profile that shows work on a device that nobody named may begin here.
#
# Labels are not the only ties. A node that takes a **resource**, such as the handle of a variable, must be where the
# resource is; here the runtime even sets aside what the reader asked for:

# %%
with tf.Graph().as_default() as with_variable:
    with tf.device("/cpu:2"):
        handle = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[20], shared_name="v", name="v")
    with tf.device("/cpu:1"):
        read = tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32, name="read")
    assign = tf.raw_ops.AssignVariableOp(resource=handle, value=tf.ones([20]), name="assign")
metadata = tf1.RunMetadata()
with tf1.Session(graph=with_variable, config=three_cpus()) as session:
    session.run(assign)
    session.run(read, options=tf1.RunOptions(output_partition_graphs=True), run_metadata=metadata)
ran = {node.name: short(node.device) for part in metadata.partition_graphs for node in part.node}
print("read asks for", read.op.device, "and runs on", ran["read"], "beside v on", ran["v"])

# %% [markdown]
# ## Play
#
# For each node, choose what it asks for and which label it carries. Every change asks the placer anew: frames are its
# groups, with the merged request on top; a clash shows both sides, each with its colour and its mark, and the groups as
# they were when it happened. Let `last` ask for CPU:2: which nodes does the error name, and which one asked for CPU:1?
# Then give `right` the label `loc:@left`, and find two ways to settle it. Can you put all nodes into one group in which
# two nodes ask for different things, and nothing clashes?

# %%
from tflabs.view import placement_player

placement_player(
    graph_of(
        [
            Row("data", request="/device:CPU:0"),
            Row("left", "data", "/device:CPU:1"),
            Row("right", "data", "/device:CPU:2"),
            Row("more", "left", labels="left"),
            Row("most", "right", labels="right"),
            Row("last", "more most", labels="more"),
        ]
    )
)

# %% [markdown]
# ## Read on
#
# - `python/framework/device_spec.py`: `DeviceSpecV2`; `python/framework/device.py`: `MergeDevice`;
#   `python/framework/ops.py`: `Graph.device`, `Graph.colocate_with`, `Graph._apply_device_functions`.
# - `core/common_runtime/placer.cc`: `Placer::Run`, with the two heuristics that this lab left out: a node without
#   inputs waits for its readers, a node that reads only a shape follows its input.
# - `core/common_runtime/colocation_graph.cc`: `Member`, `ColocationGraph`. `core/common_runtime/device_set.cc`:
#   `DeviceSet`. `xla/tsl/util/device_name_utils.cc`: `DeviceNameUtils`, which XLA and TensorFlow share.
#
# What changed since 1.x: a `DeviceSpec` of 1.x can be changed in place, that of today cannot. `tf.device` took
# functions; today only `tf.compat.v1.device` and `Graph.device` do. Sessions are hard unless told otherwise, everything
# else is soft. In the first releases the placer was `SimplePlacer` (core/common_runtime/simple_placer.cc), with the
# colocation graph inside it, and a node's own name counted as a label only if it carried no other. What you built here
# still places the graph of a `tf.function`.
#
# Next, lab 2-4 opens a variable: a handle, an initial value, an assign and a read, tied to one device by what you saw
# last here, and an order in which all of them have to run once before the first step.

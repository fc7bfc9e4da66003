# %% [markdown]
# # Between devices: Send, Recv and the rendezvous
#
# A tensor is made on one device and read on another. The two sides run at the same time, on threads or machines of
# their own, and neither knows when the other will come. How does the tensor find its reader? And what happens if it
# never comes, or comes from a process that died?
#
# At the end you can cut a graph into pieces that run on several devices, read and write the label under which a tensor
# crosses, and you have built the place where both sides meet: one that blocks, wakes, fails and never mixes two steps.
#
# 100 minutes · 19 points · Before this lab: 1-3 (one graph, four stages), 2-3 (devices) and 3-5 (local mode).
#
# When you have saved, `./tflabs check 3-8-communication` or Check on the start page grades your answers, also with tests that you do
# not see here.

# %% nbgrader={"grade": false, "grade_id": "given-imports", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
from tflabs.runtime import quiet

with quiet():
    import tensorflow as tf

import itertools
import random
import re
import struct
import threading
import time
from collections import Counter, defaultdict, deque
from functools import cache
from typing import NamedTuple

import numpy as np
from tensorflow.python.framework import op_def_registry

from tflabs.runtime import in_fresh_process, plain_config, trace_run, withheld

tf1 = tf.compat.v1
GraphDef, NodeDef = tf1.GraphDef, tf1.NodeDef
CPU = [f"/job:localhost/replica:0/task:0/device:CPU:{number}" for number in range(3)]

# %% [markdown]
# ## 1. Look: one step on two devices
#
# A graph is written once, with a device for each node. Before it runs, TensorFlow cuts it into one **partition** for
# each device. An edge that crosses the cut is replaced by two nodes: a `_Send` where the tensor is made and a `_Recv`
# where it is read. The cell runs a step with tracing on and draws the partitions as the runtime reports them. Under a
# node stands when it began and when it ended, in microseconds of the step. The runtime does not time `_Send` and
# `_Recv`. The node `Const` holds the axis of the sum.

# %%
from tflabs import view

with tf.Graph().as_default():
    with tf.device("/cpu:0"):
        matrix = tf.constant(np.random.default_rng(0).normal(size=(300, 300)), tf.float32, name="matrix")
        product = tf.matmul(matrix, matrix, name="product")
    with tf.device("/cpu:1"):
        joined = tf.add(tf.nn.relu(product, name="relu"), tf.square(product, name="square"), name="joined")
    with tf.device("/cpu:0"):
        total = tf.reduce_sum(joined, name="total")
    with tf1.Session(config=plain_config(cpus=2)) as session:
        session.run(total)  # makes the kernels; the steps after it are alike
        traced_steps = [trace_run(session, total) for _ in range(40)]


def times_of(step) -> dict[tuple[str, str], tuple[int, int]]:
    """When each node of a step began and ended, by device and node, in µs since the first one began."""
    stats = [(device.device, node) for device in step.metadata.step_stats.dev_stats for node in device.node_stats]
    start = min(node.all_start_micros for _, node in stats)
    times = {}
    for device, node in stats:
        begin = node.all_start_micros - start
        times[device, node.node_name] = (begin, begin + node.all_end_rel_micros)
    return times


step = traced_steps[-1]
labels = {node: f"{begin:,} – {end:,} µs" for (_, node), (begin, end) in times_of(step).items()}
view.partitions(step.partitions, labels=labels, title="One step on two devices")

# %% [markdown]
# `product` has two readers on CPU:1 and crosses once. A `_Recv` has no inputs, so it is ready as soon as its device
# begins the step: at the time of the node `_SOURCE`, which the runtime puts in front of every partition. Is that before
# or after the product is there? The cell looks at all forty steps.

# %%
waits = []
for traced in traced_steps:
    times = times_of(traced)
    waits.append(times[CPU[0], "product"][1] - times[CPU[1], "_SOURCE"][0])
early = [wait for wait in waits if wait > 0]
print(f"In {len(early)} of {len(waits)} steps the receiver came first and waited, up to {max(early, default=0):,} µs.")
print(f"In {len(waits) - len(early)} the tensor came first and waited for its receiver.")


# %% [markdown]
# Nothing in the graph decides who comes first; with few threads a device begins only when one is free. Both orders
# must give the same result, and neither side may be lost.
#
# The two nodes of a pair are not connected: no edge leads from one partition to the other. They meet by a name.
# TensorFlow writes these names to its log if asked to before it starts, so the next cell runs a step in a process of
# its own. The graph has a loop, which doubles a number on CPU:1 and counts on CPU:0.

# %%
def loop_on_two_devices() -> float:
    """Doubles 1.0 three times on CPU:1, while CPU:0 counts."""
    import tensorflow as tf

    from tflabs.runtime import plain_config

    def body(count, value):
        with tf.device("/cpu:1"):
            doubled = tf.multiply(value, 2.0, name="doubled")
        return count + 1, doubled

    tf.compat.v1.disable_control_flow_v2()
    with tf.Graph().as_default():
        with tf.device("/cpu:0"):
            _, result = tf.while_loop(lambda count, value: count < 3, body, [tf.constant(0), tf.constant(1.0)])
        with tf.compat.v1.Session(config=plain_config(cpus=2)) as session:
            return float(session.run(result))


finished = in_fresh_process(loop_on_two_devices, env={"TF_CPP_MIN_LOG_LEVEL": "0", "TF_CPP_VMODULE": "sendrecv_ops=2"})
posted = re.findall(r"sendrecv_ops\.cc:\d+\] (Send|Recv) (/job:\S+)", finished.stderr)
print(f"The loop gave {finished.value}. Its nodes used {len({name for _, name in posted})} names. Those of two edges:")
for name in sorted({name for _, name in posted if re.search("doubled|LoopCond", name)}):
    sides = Counter(side for side, other in posted if other == name)
    print(f"{sides['Send']} Send, {sides['Recv']} Recv   {name}")


# %% [markdown]
# Each name was used by one Send and one Recv. It is the **rendezvous key**, and this lab is about it: first how many
# tensors cross (exercise 1), then how the key is read and written (2, 3), who puts the pairs into the graph (4), where
# the two sides meet (5), and what keeps steps and restarted processes apart (6, 7).
#
# ## 2. Predict: how many transfers?
#
# ### Exercise 1 · How many transfers? (1 point)
#
# The graph drawn below stands on three devices. `split` cuts a vector of 40 numbers on CPU:0 into two halves, `split:0`
# and `split:1`. Three nodes on CPU:1 and one on CPU:2 read `split:0`; one node on CPU:1 reads `split:1`; the node
# `after` on CPU:1 has a control edge from `split`, so it starts when `split` is done but reads nothing.
#
# Say before you run anything how many `_Send` nodes the runtime adds when all nodes of this graph are run: `answer` is
# a dict with two whole numbers, `"data"` for the Sends that carry a tensor of the graph and `"control"` for those that
# only tell another device that a node is done.
#
# With one node on CPU:0 that is read by one node on CPU:1, the answer would be `{"data": 1, "control": 0}`.

# %% nbgrader={"grade": false, "grade_id": "given-pairs", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def pairs_graph() -> GraphDef:
    """The graph of exercise 1, with full device names."""
    with tf.Graph().as_default() as graph:
        with tf.device(CPU[0]):
            vector = tf.constant(np.linspace(-1.0, 1.0, 40), tf.float32, name="vector")
            first, second = tf.split(vector, 2, name="split")
        with tf.device(CPU[1]):
            tf.negative(first, name="negative")
            tf.square(first, name="square")
            tf.exp(first, name="exp")
            tf.nn.relu(second, name="relu")
            with tf.control_dependencies([first.op]):
                tf.no_op(name="after")
        with tf.device(CPU[2]):
            tf.tanh(first, name="tanh")
        return graph.as_graph_def()


# %%
view.graph(pairs_graph(), title="Exercise 1: which edges cross?")

# %% nbgrader={"grade": false, "grade_id": "predict-pairs", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
# How many _Send nodes does the runtime add? {"data": …, "control": …}
### BEGIN SOLUTION
answer = {"data": 3, "control": 1}
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "predict-pairs-test", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
assert type(answer) is dict, f"answer is a dict, not {type(answer).__name__}"
assert sorted(answer) == ["control", "data"], f'answer has the keys "data" and "control", found {sorted(answer)}'
assert [type(count) for count in answer.values()] == [int, int], f"both values are whole numbers, found {answer}"
### BEGIN HIDDEN TESTS
said = dict(answer)
with tf.Graph().as_default() as truth_graph:
    tf.import_graph_def(pairs_graph(), name="")
    with tf1.Session(config=plain_config(cpus=3)) as truth_session:
        truth = trace_run(truth_session, truth_graph.get_operations()).partitions
sent = [node.input[0] for part in truth.values() for node in part.node if node.op == "_Send"]
carries_nothing = [name for name in sent if re.search(r"/ctrl/_\d+$", name)]
counted = {"data": len(sent) - len(carries_nothing), "control": len(carries_nothing)}
assert said["data"] == counted["data"], (
    f"you predicted {said['data']} data transfers, the runtime made another number: count the different pairs of "
    "(tensor, destination device), not the edges and not the devices"
)
assert said["control"] == counted["control"], (
    f"you predicted {said['control']} control transfers, the runtime made another number: "
    "an edge that carries no tensor needs a message too when it crosses"
)
### END HIDDEN TESTS

# %% [markdown] after_passing="predict-pairs"
# A tensor crosses once for each destination device, however many nodes read it there: `split:0` to CPU:1, `split:0` to
# CPU:2, `split:1` to CPU:1. A control edge carries no tensor, but the other device must still be told, so the runtime
# sends an empty one. TensorFlow keeps the pairs it has made in a table, `DupRecvTable` in
# tensorflow/core/graph/graph_partition.cc, keyed by source node, output and destination; our count is the size of that
# table.

# %% [markdown]
# ## 3. One letter box per edge
#
# A tensor that crosses is posted in a letter box and picked up there. The label on the box is the rendezvous key.
# Sender and receiver never talk to each other: each computes the same label by itself, from what partitioning wrote
# into its node. So the label must say everything that tells two tensors apart, in five parts joined by `;`:
#
# | part | what it says | in the loop above |
# | --- | --- | --- |
# | source | the device that sends | `/job:localhost/replica:0/task:0/device:CPU:1` |
# | incarnation | a number that the source device drew when its process started, in base 16 | `0000000000000001` |
# | destination | the device that receives | `/job:localhost/replica:0/task:0/device:CPU:0` |
# | edge | the name of the edge that crosses | `edge_24_while/doubled` |
# | frame `:` iteration | which loop, and which turn of it; `0:0` outside of loops. Both in base 10 | `18186195969791715286:2` |
#
# A local session always writes incarnation 1: its devices live and die with it. A server draws a random one of 64 bits.
#
# ### Exercise 2 · Read a key (3 points)
#
# Complete `parse_key(text)`. It takes a key (`str`) and returns a `Key`: three strings and three whole numbers, in the
# order of the table. The edge may hold any character but `;`, so also `:` and `^`.
#
# ```
# >>> parse_key("/job:w/task:1/device:CPU:0;00000000000000ff;/job:w/task:0/device:CPU:1;edge_4_c;2:7")
# Key(source='/job:w/task:1/device:CPU:0', incarnation=255, destination='/job:w/task:0/device:CPU:1', edge='edge_4_c', frame=2, iteration=7)
# ```
#
# What is not a key is refused with a `ValueError` whose message holds the words of the part at fault:
#
# | fault | the message holds |
# | --- | --- |
# | more or fewer than five parts | `5 parts` |
# | source, destination or edge is empty | `source`, `destination` or `edge` |
# | the incarnation is not 1 to 16 hexadecimal digits, upper or lower case, and nothing else | `incarnation` |
# | the frame, or the iteration, is not a decimal number: digits, perhaps after one `-`, and nothing else | `frame` or `iteration` |
# | the fifth part has no colon, or more than one | `frame` or `iteration`, as you like |
#
# You need not check that a device name is well formed.
#
# <details><summary>Hint 1</summary>
#
# Split at `;` first and count. Only the fifth part is split again, so a colon in a device or an edge does no harm.
# `int(text, 16)` reads more than TensorFlow does: `0x1f`, `1_0`, `-1` and ` 1` all pass. The module `re` is imported.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# ```
# source, incarnation, destination, edge, where = text.split(";")     # but count the parts first
# # one check for each part: re.fullmatch(r"[0-9a-fA-F]{1,16}", incarnation), …
# frame, colon, iteration = where.partition(":")
# return Key(source, int(incarnation, 16), …
# ```
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-key", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
class Key(NamedTuple):
    """A rendezvous key, part by part."""

    source: str
    incarnation: int
    destination: str
    edge: str
    frame: int
    iteration: int


# %% nbgrader={"grade": false, "grade_id": "parse-key", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def parse_key(text: str) -> Key:
    """Take a rendezvous key apart.

    Raises:
        ValueError: `text` is no key; the message names the part at fault.
    """
    ### BEGIN SOLUTION
    parts = text.split(";")
    if len(parts) != 5:
        raise ValueError(f"a key has 5 parts, this one has {len(parts)}: {text!r}")
    source, incarnation, destination, edge, where = parts
    for name, part in [("source", source), ("destination", destination), ("edge", edge)]:
        if not part:
            raise ValueError(f"the {name} is empty in {text!r}")
    if not re.fullmatch(r"[0-9a-fA-F]{1,16}", incarnation):
        raise ValueError(f"the incarnation {incarnation!r} is not 1 to 16 hexadecimal digits")
    frame, _, iteration = where.partition(":")
    for name, part in [("frame", frame), ("iteration", iteration)]:
        if not re.fullmatch(r"-?[0-9]+", part):
            raise ValueError(f"the {name} {part!r} is not a decimal number in {text!r}")
    return Key(source, int(incarnation, 16), destination, edge, int(frame), int(iteration))
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "parse-key-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
key = parse_key("/job:w/task:1/device:CPU:0;00000000000000ff;/job:w/task:0/device:CPU:1;edge_4_c;2:7")
assert type(key) is Key, f"parse_key returns a Key, not {type(key).__name__}"
assert key.source == "/job:w/task:1/device:CPU:0", f"the source is the first part; got {key.source!r}"
assert key.incarnation == 255, f"the incarnation is written in base 16, so ff is 255; got {key.incarnation!r}"
assert key.edge == "edge_4_c", f"the edge is the fourth part; got {key.edge!r}"
assert key[4:] == (2, 7), f"the last part is frame:iteration, two decimal numbers; got {key[4:]}"
for broken, word in [("a;1;b;e", "5 parts"), ("a;xyz;b;e;0:0", "incarnation"), ("a;1;b;e;x:0", "frame")]:
    try:
        returned = parse_key(broken)
    except ValueError as error:
        assert word in str(error), f"the message for {broken!r} must hold {word!r}; it says {str(error)!r}"
    else:
        raise AssertionError(f"{broken!r} is not a key and must be refused with a ValueError; got {returned!r}")
### BEGIN HIDDEN TESTS
# Attributes that the runtime wrote, put together by hand with incarnations and loop turns of all sizes.
seed = random.SystemRandom().randrange(10**9)
rng = random.Random(seed)
whole = [0, 1, 2**63 - 1, 2**63, 2**64 - 1]
with tf.Graph().as_default() as truth_graph:
    tf.import_graph_def(pairs_graph(), name="")
    with tf1.Session(config=plain_config(cpus=3)) as truth_session:
        truth = trace_run(truth_session, truth_graph.get_operations()).partitions
senders = [node for part in truth.values() for node in part.node if node.op == "_Send"]
for case in range(60):
    node = rng.choice(senders)
    wanted = Key(
        node.attr["send_device"].s.decode(),
        rng.choice([*whole, rng.getrandbits(64), rng.getrandbits(20)]),
        node.attr["recv_device"].s.decode(),
        node.attr["tensor_name"].s.decode() if case % 3 else rng.choice(["x:0", "feed:x:0", "^after", "a b/c:1"]),
        rng.choice([*whole, rng.getrandbits(64)]),
        rng.choice([0, 1, -1, 2**63 - 1, rng.randrange(1000)]),
    )
    digits = f"{wanted.incarnation:016X}" if case % 5 == 0 else f"{wanted.incarnation:016x}"
    text = ";".join([wanted.source, digits, *wanted[2:4], f"{wanted.frame}:{wanted.iteration}"])
    try:
        got = parse_key(text)
    except Exception as error:
        raise AssertionError(
            f"seed {seed}: {text!r} is a key; parse_key raised {type(error).__name__}: {error}"
        ) from None
    assert type(got) is Key, f"seed {seed}: parse_key({text!r}) is no Key but {type(got).__name__}"
    kinds = [type(part).__name__ for part in got]
    assert kinds == ["str", "int", "str", "str", "int", "int"], f"seed {seed}: the parts of {text!r} are {kinds}"
    assert got == wanted, f"seed {seed}: parse_key({text!r}) gave {got}, expected {wanted}"
for broken, words in [
    ("", ["5 parts"]),
    ("a;1;b;e;0:0;", ["5 parts"]),
    (";1;b;e;0:0", ["source"]),
    ("a;;b;e;0:0", ["incarnation"]),
    ("a;0x1f;b;e;0:0", ["incarnation"]),
    ("a;-1;b;e;0:0", ["incarnation"]),
    ("a;1_0;b;e;0:0", ["incarnation"]),
    ("a; 1;b;e;0:0", ["incarnation"]),
    ("a;ff\n;b;e;0:0", ["incarnation"]),
    ("a;٣;b;e;0:0", ["incarnation"]),
    ("a;11112222333344445;b;e;0:0", ["incarnation"]),
    ("a;1;;e;0:0", ["destination"]),
    ("a;1;b;;0:0", ["edge"]),
    ("a;1;b;e;ff:0", ["frame"]),
    ("a;1;b;e;:0", ["frame"]),
    ("a;1;b;e;0:", ["iteration"]),
    ("a;1;b;e;0:1.5", ["iteration"]),
    ("a;1;b;e;0:1_0", ["iteration"]),
    ("a;1;b;e;0:0\n", ["iteration"]),
    ("a;1;b;e;٣:0", ["frame"]),
    ("a;1;b;e;--1:0", ["frame"]),
    ("a;1;b;e;-:0", ["frame"]),
    ("a;1;b;e;+1:0", ["frame"]),
    ("a;1;b;e;0: 1", ["iteration"]),
    ("a;1;b;e;0", ["frame", "iteration"]),
    ("a;1;b;e;0:0:0", ["frame", "iteration"]),
]:
    try:
        returned = parse_key(broken)
    except ValueError as error:
        found = [word for word in words if word in str(error)]
        assert found, f"the message for {broken!r} must hold {' or '.join(words)}; it says {str(error)!r}"
    except Exception as error:
        raise AssertionError(f"{broken!r} must be refused with a ValueError, not {type(error).__name__}") from None
    else:
        raise AssertionError(f"{broken!r} is not a key and must be refused with a ValueError; got {returned!r}")
### END HIDDEN TESTS

# %% [markdown] after_passing="parse-key"
# You read what `Rendezvous::ParseKey` reads (tensorflow/core/framework/rendezvous.cc). TensorFlow splits at `;` as you
# did and is nearly as strict about the incarnation (it lets extra leading zeros pass): a server answers `0x1f` or `1_0`
# with INVALID_ARGUMENT. It does not look into frame and iteration, because for the rendezvous the whole key is one
# string that must be equal on both sides; it parses only what it needs to route the tensor. Our solution checks part by
# part with regular expressions, because `int` accepts spellings that no TensorFlow process writes.

# %% [markdown]
# ## 4. Both sides write the same key
#
# Partitioning writes what a key needs into the attributes of both nodes of a pair, so that each side can compute it
# without the other. Frame and iteration are known only when the node runs.
#
# A node keeps its attributes in a protobuf. `attributes(node)` below turns them into Python values; `add_node` makes a
# node with attributes.

# %% nbgrader={"grade": false, "grade_id": "given-attributes", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def attributes(node: NodeDef) -> dict[str, str | int | bool]:
    """A node's attributes as Python values: strings, numbers, truth values; types by their DataType number."""
    values = {}
    for name, value in node.attr.items():
        kind = value.WhichOneof("value")
        if kind == "s":
            values[name] = value.s.decode()
        elif kind in ("i", "b", "f", "type"):
            values[name] = getattr(value, kind)
    return values


def add_node(graph: GraphDef, name: str, op: str, device: str, inputs: list[str], attributes: dict) -> NodeDef:
    """Appends a node to `graph` and returns it. An attribute is a str, bool, int, tf.DType or TensorProto."""
    node = graph.node.add(name=name, op=op, device=device, input=inputs)
    for attribute, value in attributes.items():
        if isinstance(value, tf.DType):
            node.attr[attribute].type = value.as_datatype_enum
        elif isinstance(value, str):
            node.attr[attribute].s = value.encode()
        elif isinstance(value, bool):
            node.attr[attribute].b = value
        elif isinstance(value, int):
            node.attr[attribute].i = value
        else:
            node.attr[attribute].tensor.CopyFrom(value)
    return node


# %% [markdown]
# To see whether a key is right, ask a TensorFlow server. The next cell speaks to one the way another server does: over
# gRPC, in the messages of `WorkerService`. The Python package does not contain them, so the cell declares the fields
# that this lab needs, from tensorflow/core/protobuf/worker.proto. You need not read it; four calls matter:
#
# | call | what it does |
# | --- | --- |
# | `RegisterGraph` | hands a partition over; returns a handle |
# | `RunGraph` | runs it in a step; `send` puts tensors into the step's rendezvous beforehand, `recv_key` picks some up afterwards |
# | `RecvTensor` | what a `_Recv` on another machine sends: the tensor under this key, in this step |
# | `CleanupGraph` | the step is over |

# %% nbgrader={"grade": false, "grade_id": "given-worker", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from tensorflow.core.framework import device_attributes_pb2, graph_pb2, tensor_pb2
from tensorflow.core.protobuf import named_tensor_pb2

WORKER_PROTO = {
    "GetStatusRequest": {},
    "GetStatusResponse": {"device_attributes": (1, "repeated DeviceAttributes")},
    "RegisterGraphRequest": {"graph_def": (2, "GraphDef")},
    "RegisterGraphResponse": {"graph_handle": (1, "string")},
    "RunGraphRequest": {
        "graph_handle": (1, "string"),
        "step_id": (2, "int64"),
        "send": (3, "repeated NamedTensorProto"),
        "recv_key": (4, "repeated string"),
    },
    "RunGraphResponse": {"recv": (1, "repeated NamedTensorProto")},
    "RecvTensorRequest": {"step_id": (1, "int64"), "rendezvous_key": (2, "string")},
    "RecvTensorResponse": {"tensor": (1, "TensorProto")},
    "CleanupGraphRequest": {"step_id": (1, "int64")},
    "CleanupGraphResponse": {},
}


@cache
def worker_messages() -> dict[str, type]:
    """Message classes for WORKER_PROTO, by name."""
    field = descriptor_pb2.FieldDescriptorProto
    scalars = {"string": field.TYPE_STRING, "int64": field.TYPE_INT64}
    file = descriptor_pb2.FileDescriptorProto(name="tflabs/worker.proto", package="tflabs.worker", syntax="proto3")
    for module in (device_attributes_pb2, graph_pb2, named_tensor_pb2, tensor_pb2):
        file.dependency.append(module.DESCRIPTOR.name)
    for message, fields in WORKER_PROTO.items():
        described = file.message_type.add(name=message)
        for name, (number, kind) in fields.items():
            entry = described.field.add(name=name, number=number)
            entry.label = field.LABEL_REPEATED if kind.startswith("repeated ") else field.LABEL_OPTIONAL
            kind = kind.removeprefix("repeated ")
            entry.type = scalars.get(kind, field.TYPE_MESSAGE)
            if kind not in scalars:
                entry.type_name = f".tensorflow.{kind}"
    pool = descriptor_pool.Default()
    pool.AddSerializedFile(file.SerializeToString())
    found = pool.FindMessageTypeByName
    return {name: message_factory.GetMessageClass(found(f"tflabs.worker.{name}")) for name in WORKER_PROTO}


class WorkerError(RuntimeError):
    """A TensorFlow server refused a call. The text is "CODE: message"."""


class Worker:
    """A new TensorFlow server in this process, spoken to as another server would. Keys are rendezvous keys."""

    def __init__(self) -> None:
        self.server = tf1.train.Server.create_local_server()
        self.channel = grpc.insecure_channel(self.server.target.removeprefix("grpc://"))

    def start(self, method: str, timeout: float = 30.0, **fields) -> grpc.Future:
        """Sends a request and returns at once; `timeout` is in seconds."""
        messages = worker_messages()
        call = self.channel.unary_unary(
            f"/tensorflow.WorkerService/{method}",
            request_serializer=messages[f"{method}Request"].SerializeToString,
            response_deserializer=messages[f"{method}Response"].FromString,
        )
        return call.future(messages[f"{method}Request"](**fields), timeout=timeout)

    def call(self, method: str, timeout: float = 30.0, **fields):
        """Sends a request and waits for the response. A refusal raises WorkerError."""
        return self.result(self.start(method, timeout, **fields))

    def result(self, request: grpc.Future):
        """The response to a request that `start` sent. A refusal raises WorkerError."""
        try:
            return request.result()
        except grpc.RpcError as error:
            raise WorkerError(f"{error.code().name}: {error.details()}") from None

    def devices(self) -> dict[str, int]:
        """The incarnation of each device, by device name."""
        return {device.name: device.incarnation for device in self.call("GetStatus").device_attributes}

    def run(
        self,
        step: int,
        sends: dict[str, np.ndarray],
        recvs: list[str],
        graph: GraphDef | None = None,
        timeout: float = 30.0,
    ) -> dict[str, np.ndarray]:
        """Runs a partition in a step: puts `sends` into the step's rendezvous, then takes `recvs` out of it."""
        if graph is None:
            graph = GraphDef()
            add_node(graph, "nothing", "NoOp", next(iter(self.devices())), [], {})
        handle = self.call("RegisterGraph", graph_def=graph).graph_handle
        named = [
            named_tensor_pb2.NamedTensorProto(name=key, tensor=tf.make_tensor_proto(value))
            for key, value in sends.items()
        ]
        response = self.call("RunGraph", timeout, graph_handle=handle, step_id=step, send=named, recv_key=recvs)
        return {entry.name: tf.make_ndarray(entry.tensor) for entry in response.recv}

    def recv(self, step: int, key: str, timeout: float = 30.0) -> np.ndarray:
        """The tensor that waits under a key in a step, as a `_Recv` on another machine would get it."""
        return tf.make_ndarray(self.call("RecvTensor", timeout, step_id=step, rendezvous_key=key).tensor)

    def cleanup(self, step: int) -> None:
        """Ends a step."""
        self.call("CleanupGraph", step_id=step)


@cache
def shared_worker() -> Worker:
    """One server for the whole notebook, started at the first call."""
    return Worker()


# %% [markdown]
# ### Exercise 3 · Write a key that a server understands (2 points)
#
# Complete `make_key(node, frame=0, iteration=0)`. It takes the NodeDef of a `Send`, `Recv`, `_Send` or `_Recv` and
# returns its key (`str`) in that frame and iteration. These attributes matter: `send_device`, `recv_device`,
# `tensor_name` (the edge; it has nothing to do with the node's own name) and `send_device_incarnation`.
#
# The incarnation is an unsigned number of 64 bits, but an attribute holds a signed one: an incarnation of 2⁶⁴ − 1
# stands there as −1. The key has the unsigned value, as 16 hexadecimal digits in lower case, with zeros in front.
#
# ```
# >>> make_key(node)      # a _Recv on CPU:1 for the edge "edge_4_c", whose incarnation attribute is -1
# '/job:localhost/replica:0/task:0/device:CPU:0;ffffffffffffffff;/job:localhost/replica:0/task:0/device:CPU:1;edge_4_c;0:0'
# ```
#
# For a node with another op: `ValueError` with the op in its message. The tests hand your keys to a TensorFlow server,
# which gives the tensor only to a caller who knows the key that it computed itself.
#
# <details><summary>Hint 1</summary>
#
# In Python the remainder of a division by a positive number is never negative: what is `-1 % 2**64`?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Refuse other ops first. Then one f-string: `f"{source};{incarnation:016x};{destination};{edge};{frame}:{iteration}"`.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "make-key", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def make_key(node: NodeDef, frame: int = 0, iteration: int = 0) -> str:
    """The rendezvous key of a Send or Recv node in a frame and iteration.

    Raises:
        ValueError: the node is neither Send nor Recv; the message holds its op.
    """
    ### BEGIN SOLUTION
    if node.op not in ("Send", "Recv", "_Send", "_Recv"):
        raise ValueError(f"{node.name} is a {node.op}: only Send and Recv have a rendezvous key")
    values = attributes(node)
    incarnation = values["send_device_incarnation"] % 2**64
    source, destination, edge = values["send_device"], values["recv_device"], values["tensor_name"]
    return f"{source};{incarnation:016x};{destination};{edge};{frame}:{iteration}"
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "make-key-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
example = GraphDef()
pair = {"send_device": CPU[0], "recv_device": CPU[1], "tensor_name": "edge_4_c", "client_terminated": False}
add_node(example, "c/_3", "_Recv", CPU[1], [], {**pair, "send_device_incarnation": -1, "tensor_type": tf.float32})
key = make_key(example.node[0])
wanted = f"{CPU[0]};ffffffffffffffff;{CPU[1]};edge_4_c;0:0"
assert type(key) is str, f"make_key returns a str, not {type(key).__name__}"
assert key.split(";")[0] == CPU[0], f"the sending device comes first, whichever side computes the key; got {key!r}"
assert key == wanted, f"got      {key!r}, expected {wanted!r}"
### BEGIN HIDDEN TESTS
seed = random.SystemRandom().randrange(10**9)
rng = random.Random(seed)
devices = [*CPU, "/job:ps/replica:0/task:3/device:CPU:0", "/job:worker/replica:0/task:11/device:GPU:1"]
for case in range(100):
    number = rng.choice(
        [0, 1, 255, 2**63 - 1, 2**63, 2**64 - 1, rng.getrandbits(64), rng.getrandbits(64), rng.getrandbits(30)]
    )
    pair = {
        "send_device": rng.choice(devices),
        "recv_device": rng.choice(devices),
        "client_terminated": rng.random() < 0.5,
    }
    pair["tensor_name"] = rng.choice(["edge_4_c", "x:0", "feed:x:0", f"edge_{rng.randrange(99)}_a/b"])
    pair["send_device_incarnation"] = number - 2**64 if number >= 2**63 else number
    op = ["Send", "Recv", "_Send", "_Recv"][case % 4]
    inputs, kind = (["c:1"], "T") if "Send" in op else ([], "tensor_type")
    example = GraphDef()
    node = add_node(example, f"c/_{case}", op, rng.choice(devices), inputs, {**pair, kind: tf.float32})
    frame, iteration = rng.choice([(0, 0), (rng.getrandbits(64), rng.randrange(100)), (2**64 - 1, -1)])
    digits = hex(number)[2:].rjust(16, "0")
    wanted = ";".join([pair["send_device"], digits, pair["recv_device"], pair["tensor_name"], f"{frame}:{iteration}"])
    try:
        got = make_key(node) if (frame, iteration) == (0, 0) else make_key(node, frame, iteration)
    except Exception as error:
        raise AssertionError(f"seed {seed}: for this {op} make_key raised {type(error).__name__}: {error}") from None
    assert type(got) is str, f"seed {seed}: make_key returned {type(got).__name__}, not a str"
    assert got == wanted, f"seed {seed}: for this {op} make_key gave {got!r}, expected {wanted!r}"
for op in ["Identity", "CollectiveBcastSend", "_HostCast"]:
    example = GraphDef()
    node = add_node(example, "other", op, CPU[0], [], {**pair, "T": tf.float32})
    try:
        returned = make_key(node)
    except ValueError as refusal:
        assert op in str(refusal), f"the ValueError for a {op} must name the op; it says {str(refusal)!r}"
    except Exception as error:
        raise AssertionError(f"a {op} must be refused with a ValueError, not {type(error).__name__}") from None
    else:
        raise AssertionError(f"a {op} has no rendezvous key and must be refused with a ValueError; got {returned!r}")

# A server runs a partition and gives its result to whoever knows the key.
for case in range(6):
    worker = shared_worker() if case else Worker()
    cpu, number = next(iter(worker.devices().items()))
    ends = {"send_device": cpu, "recv_device": cpu, "client_terminated": True}
    ends["send_device_incarnation"] = number - 2**64 if number >= 2**63 else number
    names = [f"in_{case}", f"out:{case}"]
    served = GraphDef()
    first = {**ends, "tensor_name": names[0], "tensor_type": tf.float32}
    last = {**ends, "tensor_name": names[1], "T": tf.float32}
    # Names of their own: a server keeps kernels of stateful nodes, and with them their keys, by node name (OpSegment).
    receiver = add_node(served, f"first_{case}", "_Recv", cpu, [], first)
    add_node(served, "negative", "Neg", cpu, [f"first_{case}"], {"T": tf.float32})
    sender = add_node(served, f"last_{case}", "_Send", cpu, ["negative"], last)
    keys = [make_key(receiver), make_key(sender)]
    value = np.float32([rng.random(), case])
    try:
        answered = worker.run(100 + case, {keys[0]: value}, [keys[1]], served, timeout=10.0)
    except WorkerError as refusal:
        raise AssertionError(f"seed {seed}: the server does not know your keys {keys}: {str(refusal)[:200]}") from None
    np.testing.assert_array_equal(
        answered[keys[1]], -value, strict=True, err_msg=f"seed {seed}: another tensor came back"
    )
    worker.cleanup(100 + case)
### END HIDDEN TESTS

# %% [markdown] after_passing="make-key"
# A TensorFlow server ran a partition and gave you its result, because you and its kernels computed the same string:
# `SendOp::Compute` and `RecvOp::ComputeAsync` in tensorflow/core/kernels/sendrecv_ops.cc build it from these
# attributes, and `Rendezvous::CreateKey` has the same format. This is also how a master feeds and fetches on its
# workers. Our solution takes the incarnation modulo 2⁶⁴, which is what reading the bits of an `int64` as `uint64` does.

# %% [markdown]
# The same by hand, with the keys in sight: a partition that squares what the client puts in. The attribute
# `client_terminated` says that the client itself feeds or fetches the tensor; between devices it is `False`.

# %%
# A partition with a door at each end: it takes "in" from the step's rendezvous, squares it, and leaves "out" there.
cpu, incarnation = next(iter(shared_worker().devices().items()))
door = {"send_device": cpu, "recv_device": cpu, "client_terminated": True}
door["send_device_incarnation"] = struct.unpack("<q", struct.pack("<Q", incarnation))[0]
partition = GraphDef()
add_node(partition, "from_client", "_Recv", cpu, [], {**door, "tensor_name": "in", "tensor_type": tf.float32})
add_node(partition, "square", "Square", cpu, ["from_client"], {"T": tf.float32})
add_node(partition, "to_client", "_Send", cpu, ["square"], {**door, "tensor_name": "out", "T": tf.float32})

into, out = make_key(partition.node[0]), make_key(partition.node[2])
print("put in under ", into)
print("taken from   ", out)
print(shared_worker().run(1, {into: np.float32([1, 2, 3])}, [out], partition)[out])

# %% [markdown]
# ## 5. Cut the graph
#
# Now you are the partitioner. Given a graph with a device for each node, put the pairs in. The result is still one
# graph, but no edge of it joins two devices any more, so that each device could be given its part and nothing else.
#
# A tensor with a reader on another device:
#
# | before | after |
# | --- | --- |
# | `a` on CPU:0 | `a` on CPU:0 |
# | | `_Send` on CPU:0 with input `a` |
# | | `_Recv` on CPU:1, no input |
# | `b` on CPU:1 with input `a` | `b` on CPU:1 with the `_Recv` as input |
#
# A control edge `^a` carries no tensor, and a `_Send` needs one. So a small constant is made once `a` is done:
#
# | before | after |
# | --- | --- |
# | `a` on CPU:0 | `a` on CPU:0 |
# | | `Const` on CPU:0 with input `^a` |
# | | `_Send` on CPU:0 with the `Const` as input |
# | | `_Recv` on CPU:1, no input |
# | | `Identity` on CPU:1 with the `_Recv` as input |
# | `b` on CPU:1 with input `^a` | `b` on CPU:1 with input `^` and the name of the `Identity` |
#
# ### Exercise 4 · Split every crossing edge (5 points)
#
# Complete `insert_transfers(graph)`. It takes a GraphDef whose nodes stand in topological order and have full device
# names (`CPU[0]` and the like), without loops, and returns a new GraphDef:
#
# - Start from `GraphDef(versions=graph.versions)`. The nodes of `graph` are all there, in their order. Nothing changes
#   in them but inputs that crossed; those stay in their place. New nodes may stand anywhere between them.
# - For each tensor and each *destination* device on which it has a reader there is one pair, however many readers. `x`
#   and `x:0` are the same tensor. For each node and destination with a crossing control edge there is one chain as
#   above. An edge within one device gets nothing.
# - The new nodes are named with `new_name`, a `_Send` stands on the source device, a `_Recv` on the destination.
# - Both nodes of a pair have `tensor_name`, `send_device`, `recv_device`, `send_device_incarnation` (1, as in every
#   local session) and `client_terminated` (`False`), with equal values. The `_Send` has its tensor's type as `T`, the
#   `_Recv` as `tensor_type`. Choose any `tensor_name` you like, but no two pairs may have the same key.
# - The `Const` has the attributes `dtype` and `value`, for instance `tf.float32` and `tf.make_tensor_proto(0.0)`; the
#   `Identity` has its type as `T`.
# - A node without a device: `ValueError` with the node's name in its message.
#
# Given are `dtype_of(graph, "split:1")`, the `tf.DType` of a tensor of `graph`; `new_name("split")`, a node name such
# as `split/_t7` that is not taken; and `add_node` from above, as in
#
# ```
# add_node(result, new_name("a"), "_Send", CPU[0], ["a"], {"T": tf.float32, "tensor_name": "edge_1_a", …})
# ```
#
# `Send` and `Recv` without the underscore are accepted as well. Sessions, `tf.function`, servers and new processes are
# withheld while your code runs. The tests compare with what the runtime did with the same graph, and run yours. The
# second of the next two cells holds `review(graph, result)`, which says in words what is wrong with a result; you may
# call it, and need not read it. You get a copy of the graph and may change it.
#
# <details><summary>Hint 1</summary>
#
# Walk over the nodes and copy each. When an input comes from another device, you need the name that stands for it
# there. Keep these names in a dict; if the name is missing, make the pair. What must the dict's key hold, so that two
# readers on one device share a pair, and two outputs of one node do not?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# ```
# arrived = {}       # (tensor or "^node", destination) → the input to write instead
# ```
#
# The source of `^a`, `a` and `a:1` is `a`. One function that adds a pair for a tensor and returns the name of the
# `_Recv` serves both cases: for a control edge the tensor is the output of the `Const`.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-transfers", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
_numbers = itertools.count()


def new_name(base: str) -> str:
    """A node name that begins with `base` and that no node has."""
    return f"{base}/_t{next(_numbers)}"


def dtype_of(graph: GraphDef, tensor: str) -> tf.DType:
    """The type of the tensor "x", "x:0" or "x:1" of `graph`, from the attributes of its node."""
    name, _, output = whole_name(tensor).partition(":")
    node = next((node for node in graph.node if node.name == name), None)
    if node is None:
        raise KeyError(f"dtype_of({tensor!r}): the graph has no node {name!r}")
    types = []
    for result in op_def_registry.get(node.op).output_arg:
        count = node.attr[result.number_attr].i if result.number_attr else 1
        types += [node.attr[result.type_attr].type if result.type_attr else result.type] * count
    return tf.as_dtype(types[int(output)])


def whole_name(name: str) -> str:
    """An input as a node has it, with the output written out: "x" is "x:0"; "x:1" and "^x" stay as they are."""
    return name if name.startswith("^") or ":" in name else f"{name}:0"


def is_send(node: NodeDef) -> bool:
    return node.op in ("Send", "_Send")


def is_recv(node: NodeDef) -> bool:
    return node.op in ("Recv", "_Recv")


class Transfer(NamedTuple):
    """What a pair carries ("x:1", or "^x" for a control edge), from one device to another."""

    carries: str
    source: str
    destination: str


def transfers(original: GraphDef, nodes: list[NodeDef]) -> list[Transfer]:
    """The pairs in `nodes`, sorted; `nodes` are those of `original`, all of them, with pairs put in."""
    inputs = {node.name: list(node.input) for node in nodes}
    own = {node.name for node in original.node}
    found = []
    for node in filter(is_send, nodes):
        made_by = node.input[0].partition(":")[0]
        carries = whole_name(node.input[0]) if made_by in own else next(iter(inputs[made_by]), made_by)
        found.append(Transfer(carries, node.attr["send_device"].s.decode(), node.attr["recv_device"].s.decode()))
    return sorted(found)


def runtime_transfers(graph: GraphDef) -> list[Transfer]:
    """The pairs that TensorFlow puts in when it runs all nodes of `graph` in a local session, sorted."""
    with tf.Graph().as_default() as imported:
        tf.import_graph_def(graph, name="")
        with tf1.Session(config=plain_config(cpus=len(CPU))) as session:
            parts = trace_run(session, imported.get_operations()).partitions
    return transfers(graph, [node for part in parts.values() for node in part.node])


def values_of(graph: GraphDef, tensors: list[str]) -> list[np.ndarray]:
    """Runs all nodes of `graph` in a local session and fetches `tensors`. Gives up after 10 s."""
    with tf.Graph().as_default() as imported:
        tf.import_graph_def(graph, name="")
        with tf1.Session(config=plain_config(cpus=len(CPU))) as session:
            fetches = (tensors, imported.get_operations())
            return session.run(fetches, options=tf1.RunOptions(timeout_in_ms=10_000))[0]


def random_graph(seed: int, nodes: int = 12) -> GraphDef:
    """A graph on three devices with several types, Split and control edges. Some inputs are spelled "x:0"."""
    draw = random.Random(seed)
    with tf.Graph().as_default() as graph:
        floats, ints = [], []
        for count in range(nodes):
            kind = (
                draw.choice(["add", "multiply", "negative", "split", "cast", "sum", "no_op"])
                if count > 2
                else "constant"
            )
            operations = graph.get_operations()
            after = draw.sample(operations, min(len(operations), draw.choice([0, 0, 0, 1, 2])))
            with tf.device(draw.choice(CPU)), tf.control_dependencies(after):
                if kind == "constant":
                    floats.append(tf.constant([draw.uniform(-1, 1) for _ in range(20)], name="constant"))
                elif kind == "add":
                    floats.append(tf.add(draw.choice(floats), draw.choice(floats)))
                elif kind == "multiply":
                    floats.append(tf.multiply(draw.choice(floats), draw.choice(floats)))
                elif kind == "negative":
                    floats.append(tf.negative(draw.choice(floats)))
                elif kind == "split":
                    halves = tf.split(draw.choice(floats), 2)
                    floats += [tf.tile(half, [2]) for half in draw.sample(halves, draw.choice([1, 2]))]
                    with tf.device(draw.choice(CPU)):
                        floats.append(tf.concat(halves[::-1], 0))
                elif kind == "cast" or not ints:
                    ints.append(tf.cast(draw.choice(floats), tf.int32))
                elif kind == "sum":
                    ints.append(tf.add(draw.choice(ints), draw.choice(ints)))
                else:
                    tf.no_op()
        definition = graph.as_graph_def()
    for node in definition.node:
        for index, name in enumerate(node.input):
            if not name.startswith("^") and draw.random() < 0.3:
                node.input[index] = whole_name(name)
    return definition


# %% nbgrader={"grade": false, "grade_id": "given-review", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def review(graph: GraphDef, result: GraphDef) -> list[str]:
    """What is wrong with `result` as the answer to `insert_transfers(graph)`, in words; empty if nothing was found.

    Use it on graphs of your own: `review(random_graph(1), insert_transfers(random_graph(1)))`.
    """
    if type(result) is not GraphDef:
        return [f"insert_transfers returns a GraphDef, not {type(result).__name__}"]
    names = Counter(node.name for node in result.node)
    wrong = [f"the result has {count} nodes named {name!r}" for name, count in names.items() if count > 1]
    sources = {name.lstrip("^").partition(":")[0] for node in result.node for name in node.input}
    wrong += [f"an input names the node {name!r}, which is not there" for name in sources if name not in names]
    wrong += [] if wrong else _same_keys(result)
    return wrong or [*_about_old_nodes(graph, result), *_about_edges(result), *_about_pairs(graph, result)]


def _same_keys(result: GraphDef) -> list[str]:
    wrong = []
    for side, is_side in [("_Send", is_send), ("_Recv", is_recv)]:
        keys = Counter(map(make_key_or_none, filter(is_side, result.node)))
        wrong += [f"{count} {side} nodes have the same key {key}" for key, count in keys.items() if key and count > 1]
    return wrong


def _about_old_nodes(graph: GraphDef, result: GraphDef):
    nodes = {node.name: node for node in result.node}
    kept = [node.name for node in result.node if node.name in {old.name for old in graph.node}]
    if kept != [node.name for node in graph.node]:
        yield f"the graph's own nodes are not all there, or not in their order; found {kept}"
        return
    if result.versions != graph.versions:
        yield "start from GraphDef(versions=graph.versions): the versions differ"
    for old in graph.node:
        new, before = NodeDef(), NodeDef()
        new.CopyFrom(nodes[old.name])
        before.CopyFrom(old)
        del new.input[:], before.input[:]
        if new != before:
            yield f"{old.name}: op, device and attributes must stay as they were"
        inputs = list(nodes[old.name].input)
        if len(inputs) != len(old.input):
            yield f"{old.name} had {len(old.input)} inputs and now has {len(inputs)}: {inputs}"
            continue
        for index, (name, was) in enumerate(zip(inputs, old.input, strict=True)):
            came = _behind(name, nodes)
            if whole_name(came) != whole_name(was):
                yield f"input {index} of {old.name} was {was!r}; now it is {name!r}, behind which is {came!r}"


def _behind(name: str, nodes: dict[str, NodeDef]) -> str:
    """What an input stands for, seen through a pair: "x:1" or "^x"; a pair that does not lead anywhere is itself."""
    node, is_control = nodes[name.lstrip("^").partition(":")[0]], name.startswith("^")
    if is_control and node.op == "Identity" and node.input:
        node = nodes.get(node.input[0], node)
    if not is_recv(node):
        return name
    for sender in filter(is_send, nodes.values()):
        if make_key_or_none(sender) == make_key_or_none(node) and sender.input:
            if not is_control:
                return sender.input[0]
            signal = nodes[sender.input[0].partition(":")[0]]
            return signal.input[0] if signal.op == "Const" and signal.input else name
    return name


def make_key_or_none(node: NodeDef) -> tuple | None:
    """What the key of a Send or Recv is made of; None if an attribute is missing."""
    parts = ("send_device", "send_device_incarnation", "recv_device", "tensor_name")
    return tuple(str(node.attr[part]) for part in parts) if set(parts) <= set(node.attr) else None


def _about_edges(result: GraphDef):
    device = {node.name: node.device for node in result.node}
    for node in result.node:
        for came in node.input:
            source = came.lstrip("^").partition(":")[0]
            if device[source] != node.device:
                yield f"the edge {came} → {node.name} still joins {short(device[source])} and {short(node.device)}"


def _about_pairs(graph: GraphDef, result: GraphDef):
    sends, recvs = list(filter(is_send, result.node)), list(filter(is_recv, result.node))
    for node in sends + recvs:
        written = attributes(node)
        side = "send_device" if is_send(node) else "recv_device"
        if make_key_or_none(node) is None or "client_terminated" not in written:
            yield f"{node.name}: a {node.op} needs the five attributes of a pair; it has {sorted(written)}"
        elif written[side] != node.device:
            where = f"on {short(written[side])} (its {side}), found {short(node.device)}"
            yield f"{node.name}: this {node.op} must be {where}"
        elif (written["send_device_incarnation"], written["client_terminated"]) != (1, False):
            yield f"{node.name}: send_device_incarnation must be 1 and client_terminated False"
    if {make_key_or_none(node) for node in sends} != {make_key_or_none(node) for node in recvs}:
        yield "some _Send has no _Recv with the same key, or the other way round"
    elif not (own_types := _types_of_pairs(graph, sends, recvs)):
        twice = [pair for pair, count in Counter(transfers(graph, list(result.node))).items() if count > 1]
        yield from (f"{pair.carries} is sent to {short(pair.destination)} more than once" for pair in twice)
    else:
        yield from own_types


def _types_of_pairs(graph: GraphDef, sends: list[NodeDef], recvs: list[NodeDef]) -> list[str]:
    own, wrong = {node.name for node in graph.node}, []
    announced = {make_key_or_none(node): node.attr["tensor_type"].type for node in recvs}
    for node in sends:
        if len(node.input) != 1:
            return [f"{node.name}: a _Send has one input, found {list(node.input)}"]
        if node.input[0].partition(":")[0] in own:
            needed = dtype_of(graph, node.input[0])
            if node.attr["T"].type != needed.as_datatype_enum:
                wrong.append(f"{node.name}: T must be the type of {node.input[0]}, {needed.name}")
        if node.attr["T"].type != announced[make_key_or_none(node)]:
            wrong.append(f"{node.name}: T of the _Send and tensor_type of its _Recv must be the same type")
    return wrong


def short(device: str) -> str:
    """The last part of a device name: "CPU:1"."""
    return device.rpartition("device:")[2] or "no device"


# %% nbgrader={"grade": false, "grade_id": "insert-transfers", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def insert_transfers(graph: GraphDef) -> GraphDef:
    """The same graph with a Send/Recv pair in place of every edge between two devices.

    Raises:
        ValueError: a node has no device; the message holds the node's name.
    """
    ### BEGIN SOLUTION
    result = GraphDef(versions=graph.versions)
    device = {node.name: node.device for node in graph.node}
    arrived = {}

    def add_pair(tensor: str, dtype: tf.DType, source: str, destination: str) -> str:
        pair = {
            "tensor_name": f"edge_{len(arrived)}_{source}",
            "send_device": device[source],
            "recv_device": destination,
            "send_device_incarnation": 1,
            "client_terminated": False,
        }
        add_node(result, new_name(source), "_Send", device[source], [tensor], {**pair, "T": dtype})
        return add_node(result, new_name(source), "_Recv", destination, [], {**pair, "tensor_type": dtype}).name

    def transfer(name: str, source: str, destination: str) -> str:
        if not name.startswith("^"):
            return add_pair(name, dtype_of(graph, name), source, destination)
        value = {"dtype": tf.float32, "value": tf.make_tensor_proto(0.0)}
        signal = add_node(result, new_name(f"{source}/ctrl"), "Const", device[source], [name], value).name
        received = add_pair(signal, tf.float32, source, destination)
        return "^" + add_node(result, new_name(source), "Identity", destination, [received], {"T": tf.float32}).name

    for node in graph.node:
        if not node.device:
            raise ValueError(f"{node.name} has no device: place the graph before cutting it")
        inputs = []
        for name in node.input:
            source = name.removeprefix("^").partition(":")[0]
            if device[source] == node.device:
                inputs.append(name)
                continue
            place = (whole_name(name), node.device)
            if place not in arrived:
                arrived[place] = transfer(name, source, node.device)
            inputs.append(arrived[place])
        copy = result.node.add()
        copy.CopyFrom(node)
        copy.input[:] = inputs
    return result
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "insert-transfers-test", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
# What would cut the graph for you, by any name: sessions, servers, tf.function, and processes of your own.
withheld_names = ["tensorflow.compat.v1.Session", "tensorflow.compat.v1.InteractiveSession"]
withheld_names += [f"tensorflow.compat.v1.Session.{name}" for name in ("run", "partial_run", "make_callable")]
withheld_names += [
    f"tensorflow.python.client.session.BaseSession{part}" for part in ("", "._do_run", "._call_tf_sessionrun")
]
withheld_names += ["tensorflow.python.client.session.BaseSession._make_callable_from_options"]
withheld_names += ["tensorflow.function", "tensorflow.compat.v1.wrap_function", "tensorflow.compat.v1.train.Server"]
withheld_names += ["tensorflow.python.eager.context.Context.export_run_metadata"]
withheld_names += ["tflabs.runtime.in_fresh_process", "subprocess.Popen", "multiprocessing.process.BaseProcess.start"]
with withheld(*withheld_names):
    cut = insert_transfers(pairs_graph())
found = review(pairs_graph(), cut)
assert found == [], found[0]
carried = [tuple(map(short, pair)) for pair in transfers(pairs_graph(), list(cut.node))]
wanted = [
    ("^split", "CPU:0", "CPU:1"),
    ("split:0", "CPU:0", "CPU:1"),
    ("split:0", "CPU:0", "CPU:2"),
    ("split:1", "CPU:0", "CPU:1"),
]
assert carried == wanted, f"the pairs carry {carried}, expected {wanted}"
homeless = pairs_graph()
homeless.node[-1].device = ""
try:
    insert_transfers(GraphDef.FromString(homeless.SerializeToString()))
except ValueError as error:
    assert homeless.node[-1].name in str(error), (
        f"the ValueError must name the node {homeless.node[-1].name!r}; it says {str(error)!r}"
    )
else:
    raise AssertionError(f"the node {homeless.node[-1].name!r} has no device: insert_transfers must raise a ValueError")
### BEGIN HIDDEN TESTS


def namesakes() -> GraphDef:
    """Two nodes named split and split_1; whole numbers and floats that cross; one tensor under two spellings."""
    here, there, yonder = CPU
    with tf.Graph().as_default() as graph:
        with tf.device(here):
            floats = tf.split(tf.constant(np.linspace(-2.0, 2.0, 40), tf.float32), 2)
            ints = tf.split(tf.constant(np.arange(40), tf.int32), 2)
        with tf.device(there):
            reads = [tf.negative(tensor) for tensor in [*floats, *ints, floats[0]]]
            with tf.control_dependencies([ints[0].op]):
                tf.identity(floats[1])
        with tf.device(yonder), tf.control_dependencies([reads[0].op, reads[1].op]):
            tf.add(floats[1], floats[0])
    made = graph.as_graph_def()
    for node in made.node:
        if node.name == reads[-1].op.name:
            node.input[0] = whole_name(node.input[0])
    return made


seed = random.SystemRandom().randrange(10**9)
homeless = pairs_graph()
lost = homeless.node[seed % len(homeless.node)]
lost.device = ""
try:
    insert_transfers(GraphDef.FromString(homeless.SerializeToString()))
except ValueError as error:
    assert lost.name in str(error), f"the ValueError must name the node {lost.name!r}; it says {str(error)!r}"
except Exception as error:
    raise AssertionError(f"{lost.name!r} has no device: a ValueError is due, not {type(error).__name__}") from None
else:
    raise AssertionError(f"the node {lost.name!r} has no device: insert_transfers must raise a ValueError")
graphs = {"pairs_graph()": pairs_graph(), "a graph with split and split_1": namesakes()}
graphs |= {f"random_graph({number})": random_graph(number) for number in range(seed, seed + 16)}
for name, graph in graphs.items():
    with withheld(*withheld_names):
        try:
            cut = insert_transfers(GraphDef.FromString(graph.SerializeToString()))
        except Exception as error:
            raise AssertionError(f"{name}: {type(error).__name__}: {error}") from None
    found = review(graph, cut)
    assert found == [], f"{name}: {found[0]}"
    ours, theirs = transfers(graph, list(cut.node)), runtime_transfers(graph)
    missing, surplus = sorted(set(theirs) - set(ours)), sorted(set(ours) - set(theirs))
    assert ours == theirs, f"{name}: the runtime also makes {missing[:3]}; only you make {surplus[:3]}"
    tensors = [f"{node.name}:0" for node in graph.node if node.op != "NoOp"]
    tensors += [f"{node.name}:1" for node in graph.node if node.op == "Split"]
    try:
        got = values_of(cut, tensors)
    except Exception as error:
        raise AssertionError(f"{name}: TensorFlow cannot run the result: {str(error)[:300]}") from None
    for tensor, value, wanted in zip(tensors, got, values_of(graph, tensors), strict=True):
        np.testing.assert_array_equal(value, wanted, strict=True, err_msg=f"{name}: another {tensor}")
### END HIDDEN TESTS

# %% [markdown] after_passing="insert-transfers"
# On random graphs you made the transfers that TensorFlow makes, and TensorFlow ran your graph: it found nothing left to
# cut. The original is `Partition` in tensorflow/core/graph/graph_partition.cc, with `AddSend`, `AddRecv`,
# `AddDummyConst` for control edges, and `DupRecvKey` for what you kept in a dict. It names edges `edge_ID_node` with a
# number that is unique in the graph; ours counts the pairs instead. Node and output alone are not enough: joined by
# `_`, output 1 of `split` is `split_1`, which is also the name of another node.

# %% [markdown]
# Your cut graph, drawn as in section 1: the dash-dotted arrows are no edges, only a name that both nodes of a pair have.

# %%
view.graph(insert_transfers(pairs_graph()), title="The graph of exercise 1, cut by insert_transfers")

# %% [markdown]
# ## 6. Where both sides meet
#
# A **rendezvous** is a table from keys to letter boxes. `Send` puts a value under a key and goes on. `Recv` takes the
# value under a key, or waits until one comes. Whoever comes first leaves something behind: the sender its value, the
# receiver its wish. So a box holds values or waiting receivers, never both.
#
# When a node of a step fails, the values that other devices wait for will never come. Then the step **aborts** its
# rendezvous: everyone who waits, and everyone who comes later, gets the error instead of a value. That is how an error
# on one device ends a step on all of them. The cell shows it: a `Recv` for which no `Send` exists, beside a node that
# fails.

# %%
with tf.Graph().as_default():
    door = {"send_device": CPU[0], "recv_device": CPU[0], "send_device_incarnation": 1}
    nobody_sends = tf.raw_ops.Recv(tensor_type=tf.float32, tensor_name="never", **door)
    fails = tf.raw_ops.CheckNumerics(tensor=tf.constant(float("nan")), message="a node of this step failed")
    with tf1.Session(config=plain_config()) as session:
        for fetches, timeout in [([nobody_sends], 200), ([nobody_sends, fails], 60_000)]:
            try:
                session.run(fetches, options=tf1.RunOptions(timeout_in_ms=timeout))
            except tf.errors.OpError as error:
                words = re.search(r"\nNode: .*\n(.*)", error.message)
                print(f"{type(error).__name__}: {words[1] if words else 'the time of the step was up'}")

# %% [markdown]
# ### Exercise 5 · Whoever comes first (4 points)
#
# Complete the class `Rendezvous`. Many threads call its methods at the same time.
#
# - `send(key, value)` puts a value (any object, also `0.0` or `None`) under a key (`str`), returns `None` and never
#   waits. A second value under the same key stands behind the first.
# - `recv(key, timeout)` returns the oldest value under the key and removes it. If there is none it waits, at most
#   `timeout` seconds (more than 0) in all, however often it is woken in between; then it raises `TimeoutError`. Of
#   several receivers that wait for one key, the one that came first is served first. A receiver that timed out is gone:
#   it takes no value that comes later.
# - `abort(error)` takes an exception object and never waits. Every `recv` that waits and every later `send` and `recv`
#   raises that error, also if a value is there: the same type with the same arguments. Only the first `abort` counts.
# - Keys are independent: a value wakes the receiver that waits for its key, whoever else waits. Two `Rendezvous`
#   objects share nothing: they are two steps, and the same key in both is two boxes.
#
# ```
# >>> box = Rendezvous()
# >>> box.send("a", 1.0)
# >>> box.send("a", 2.0)
# >>> box.recv("a", 1.0), box.recv("a", 1.0)
# (1.0, 2.0)
# >>> box.recv("a", 0.1)          # after a tenth of a second
# TimeoutError
# ```
#
# Given is `run_chains(rendezvous, chains)`. A chain is a list of `("send", key, value)` and `("recv", key)`; each chain
# runs in a thread of its own, one entry after the other. It returns the received values, one list per chain, or in
# their place the name of the error that ended the chain.
#
# <details><summary>Hint 1</summary>
#
# A `threading.Condition` is a lock with a waiting room. `condition.wait_for(predicate, timeout)` returns what the
# predicate gave last; it looks at the predicate each time the room is woken, and counts the time from its call. Whom
# must `send` wake, if one room serves all keys? And whom does a receiver that leaves make first in line?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Per key a deque of values and a deque of waiting receivers, one condition for all, and the error:
#
# ```
# def recv(self, key, timeout):
#     with self._room:
#         me = object()
#         # stand in line for the key
#         came = self._room.wait_for(lambda: aborted, or a value is there and I am first, timeout)
#         # leave the line and wake the others: someone else is first now
#         # aborted? raise.  not came? TimeoutError.  else take the oldest value
# ```
#
# Until the receiver has woken, its value and it are both there. The line sees to it that nobody else takes the value.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-chains", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
PATIENCE = 5.0  # seconds after which threads that still wait are given up


class Started:
    """A function that runs in a thread of its own. It is there when the thread is about to call the function."""

    def __init__(self, function, *args) -> None:
        self.outcome = "still waiting"
        self.raised = None  # type and arguments of the error that ended the function
        self._begun = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(function, *args), daemon=True)
        self._thread.start()
        self._begun.wait(PATIENCE)

    def _run(self, function, *args) -> None:
        self._begun.set()
        try:
            self.outcome = function(*args)
        except BaseException as error:
            self.outcome, self.raised = type(error).__name__, (type(error), error.args)

    def wait(self, patience: float = PATIENCE):
        """What the function returned, the name of the error that it raised, or "still waiting"."""
        self._thread.join(patience)
        return self.outcome


def wait_all(started: list[Started]) -> list:
    """The outcome of each, after all have ended or PATIENCE is over."""
    end = time.monotonic() + PATIENCE
    return [thread.wait(max(end - time.monotonic(), 0)) for thread in started]


def run_chains(rendezvous, chains: list[list[tuple]], timeout: float = 2 * PATIENCE) -> list:
    """Runs each chain in a thread. Per chain: the list of values it received, or the name of the error that ended it.

    `timeout` is that of each recv, in seconds. A chain that has not ended after PATIENCE is "still waiting".
    """

    def run(chain: list[tuple]) -> list:
        received = []
        for what, key, *value in chain:
            if what == "send":
                rendezvous.send(key, *value)
            else:
                received.append(rendezvous.recv(key, timeout))
        return received

    return wait_all([Started(run, chain) for chain in chains])


# %% nbgrader={"grade": false, "grade_id": "rendezvous", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
class Rendezvous:
    """Where Send and Recv of one step meet, whichever comes first. All methods may be called from many threads."""

    def __init__(self) -> None:
        ### BEGIN SOLUTION
        self._changed = threading.Condition()
        self._values = defaultdict(deque)
        self._waiting = defaultdict(deque)
        self._error = None
        ### END SOLUTION

    def send(self, key: str, value) -> None:
        """Leave a value under a key; never waits.

        Raises:
            the error given to `abort`, after an abort.
        """
        ### BEGIN SOLUTION
        with self._changed:
            if self._error is not None:
                raise self._error
            self._values[key].append(value)
            self._changed.notify_all()
        ### END SOLUTION

    def recv(self, key: str, timeout: float):
        """Take the oldest value under a key; waits for one, at most `timeout` seconds.

        Raises:
            TimeoutError: none came.
            the error given to `abort`, after or during an abort.
        """
        ### BEGIN SOLUTION
        with self._changed:
            me, line = object(), self._waiting[key]
            line.append(me)
            came = self._changed.wait_for(
                lambda: self._error is not None or (self._values[key] and line[0] is me), timeout
            )
            line.remove(me)
            self._changed.notify_all()
            if self._error is not None:
                raise self._error
            if not came:
                raise TimeoutError(f"nothing came under {key!r} within {timeout} s")
            return self._values[key].popleft()
        ### END SOLUTION

    def abort(self, error: Exception) -> None:
        """Make every waiting and every later `send` and `recv` raise `error`. Only the first call counts."""
        ### BEGIN SOLUTION
        with self._changed:
            if self._error is None:
                self._error = error
                self._changed.notify_all()
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "rendezvous-test", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
got = run_chains(Rendezvous(), [[("send", "a", 1.0), ("recv", "b")], [("recv", "a"), ("send", "b", 2.0)]])
assert got == [[2.0], [1.0]], f"two chains that answer each other must receive [[2.0], [1.0]], got {got}"
box = Rendezvous()
for value in (1.0, 2.0):
    sender = Started(box.send, "a", value)
    assert sender.wait() is None, (
        f"send must return None at once, also if nobody waits for the value; got {sender.outcome!r}"
    )
got = run_chains(box, [[("recv", "a"), ("recv", "a")]])
assert got == [[1.0, 2.0]], f"two values were sent under one key; they must come out in that order, got {got}"
got = run_chains(box, [[("recv", "a")]], timeout=0.1)
assert got == ["TimeoutError"], f"both values were taken: a third recv must raise TimeoutError, got {got}"
waiter = Started(box.recv, "never", 2 * PATIENCE)
lever = Started(box.abort, RuntimeError("a node failed"))
assert lever.wait() is None, f"abort must return None at once; got {lever.outcome!r}"
assert waiter.wait() == "RuntimeError", (
    f"abort must end a recv that waits, with the error given to it; got {waiter.outcome!r}"
)
assert waiter.raised == (RuntimeError, ("a node failed",)), f"recv must raise abort's error; it raised {waiter.raised}"
### BEGIN HIDDEN TESTS
seed = random.SystemRandom().randrange(10**9)
rng = random.Random(seed)


def waiting(box, key: str, patience: float = 0.01) -> Started:
    """A receiver that has had `patience` seconds to begin waiting."""
    receiver = Started(box.recv, key, 2 * PATIENCE)
    assert receiver.wait(patience) == "still waiting", (
        f"nothing was sent under {key!r}, so recv must wait; it ended with {receiver.outcome!r}"
    )
    return receiver


# A value wakes the receiver of its key, whoever else waits.
for keys in [["a", "b"], ["a", "c", "d", "b"]] * 2:
    box = Rendezvous()
    waiters = {key: waiting(box, key) for key in keys}
    box.send("b", 1.0)
    got = waiters["b"].wait(PATIENCE / 2)
    assert got == 1.0, (
        f"a receiver waits for key a, another for key b ({len(keys)} receivers in all); after send(b) "
        f"the receiver of b {'still waits' if got == 'still waiting' else f'got {got!r}'}"
    )
    for key in keys[:-1]:
        assert waiters[key].outcome == "still waiting", (
            f"only b was sent; the receiver of {key} got {waiters[key].outcome!r}"
        )
        box.send(key, key)
        got = waiters[key].wait()
        assert got == key, f"the receiver of {key} must get the value sent under {key}, got {got!r}"

# A value may be anything.
for value in (0.0, False, None, "", []):
    box = Rendezvous()
    receiver = waiting(box, "k")
    box.send("k", value)
    got = [receiver.wait(PATIENCE / 2)]
    box.send("k", value)
    got.append(Started(box.recv, "k", 2.0).wait())
    assert got == [value, value], (
        f"{value!r} is a value like any other; a waiting and a later recv must get it, got {got}"
    )


def random_chains() -> list[list[tuple]]:
    """Three chains; each key is sent once and received once."""
    chains, entries = [[], [], []], []
    for number in range(rng.randrange(2, 7)):
        entries += [("send", f"key {number}", float(rng.randrange(1000))), ("recv", f"key {number}")]
    rng.shuffle(entries)
    for entry in entries:
        rng.choice(chains).append(entry)
    return chains


def can_end(chains: list[list[tuple]]) -> bool:
    """Whether no chain waits for ever. It only says how long to wait; the outcome is TensorFlow's."""
    left, sent, moved = [list(chain) for chain in chains], set(), True
    while moved:
        moved = False
        for chain in left:
            while chain and (chain[0][0] == "send" or chain[0][1] in sent):
                sent.add(chain.pop(0)[1])
                moved = True
    return not any(left)


def in_tensorflow(sets: list, timeout: int) -> list[list[list[float]]] | str:
    """Each set of chains as Send and Recv nodes, all in one step; `timeout` in ms."""
    ends = {"send_device": CPU[0], "recv_device": CPU[0], "send_device_incarnation": 1}
    with tf.Graph().as_default():
        received, last = [[[] for _ in chains] for chains in sets], []
        for number, chains in enumerate(sets):
            for chain, values in zip(chains, received[number], strict=True):
                before = []
                for kind, label, *value in chain:
                    name = f"set {number} {label}"
                    with tf.control_dependencies(before):
                        if kind == "send":
                            node = tf.raw_ops.Send(tensor=tf.constant(value[0]), tensor_name=name, **ends)
                        else:
                            node = tf.raw_ops.Recv(tensor_type=tf.float32, tensor_name=name, **ends)
                            values.append(node)
                    before = [node]
                last += before
        with tf1.Session(config=plain_config()) as truth:
            try:
                got = truth.run((received, last), options=tf1.RunOptions(timeout_in_ms=timeout))[0]
            except tf.errors.DeadlineExceededError:
                return "DeadlineExceededError"
    return [[[float(value) for value in values] for values in chains] for chains in got]


ending, stuck = [], []
while len(ending) < 26 or len(stuck) < 4:
    chains = random_chains()
    ending += [chains] if can_end(chains) and len(ending) < 26 else []
    stuck += [chains] if not can_end(chains) and len(stuck) < 4 else []
answers = [run_chains(Rendezvous(), chains) for chains in ending]
for chains, got, wanted in zip(ending, answers, in_tensorflow(ending, 20_000), strict=True):
    assert got == wanted, f"seed {seed}: {chains} received {got}, TensorFlow's step {wanted}"
for chains in stuck:
    got = run_chains(Rendezvous(), chains, timeout=0.08)
    assert in_tensorflow([chains], 80) == "DeadlineExceededError", f"seed {seed}: {chains} ended in TensorFlow"
    assert "TimeoutError" in got, f"seed {seed}: {chains} wait for each other, so a recv must time out; got {got}"


def send_then_recv(box):
    box.send("k", 1)
    return box.recv("k", 0.03)


# First come, first served, also before one who comes with the value. That a receiver waits cannot be seen from outside:
# it may have been held up at the door. So ten rounds of up to fourteen must be right, and later ones have more patience.
orders, wanted = [], ["TimeoutError", 1, 2, 3]
for patience in [0.01] * 8 + [0.05] * 2 + [0.2] * 4:
    box = Rendezvous()
    waiters = [waiting(box, "k", patience) for _ in range(3)]
    orders.append([Started(send_then_recv, box).wait()])
    if orders[-1] == wanted[:1]:
        box.send("k", 2)
        box.send("k", 3)
        orders[-1] += wait_all(waiters)
    Started(box.abort, RuntimeError("the round is over")).wait()
    right = orders.count(wanted)
    if right == 10 or len(orders) - right == 5:
        break
assert right == 10, (
    "three receivers wait for one key, then a thread sends 1 and waits behind them for 0.03 s, then 2 and 3 are sent; "
    f"that thread and the three must end with {wanted}, they ended with {orders}"
)

# A receiver that timed out is gone.
box = Rendezvous()
for _ in range(2):
    late = Started(box.recv, "k", 0.05)
    assert late.wait() == "TimeoutError", f"nothing was sent: recv must raise TimeoutError, got {late.outcome!r}"
box.send("k", 5.0)
late = Started(box.recv, "k", 2.0)
assert late.wait() == 5.0, (
    f"two receivers timed out, then a value came: the next recv must get it, got {late.outcome!r}"
)

# The time is counted from the call, not from the last time that something happened under another key.
box = Rendezvous()
late = Started(box.recv, "k", 0.4)
for turn in range(1500):
    box.send("other", turn)
    box.recv("other", PATIENCE)
    if late.wait(0.002) != "still waiting":
        break
assert late.outcome == "TimeoutError", (
    f"traffic under other keys must not prolong the wait of recv; got {late.outcome!r}"
)

# Many threads: every value arrives once, and in order.
box = Rendezvous()
senders = [[("send", f"key {(s + i) % 4}", (s, i)) for i in range(40)] for s in range(8)]
receivers = [[("recv", f"key {r % 4}")] * 40 for r in range(8)]
got = run_chains(box, senders + receivers)
assert "still waiting" not in got, "eight senders, eight receivers, four keys: not all threads came to their end"
assert all(type(values) is list for values in got), f"eight senders and receivers on four keys: a thread raised {got}"
arrived = sorted((value for values in got[8:] for value in values), key=repr)
wanted = sorted(((s, i) for s in range(8) for i in range(40)), key=repr)
assert arrived == wanted, "320 values were sent; they did not each arrive exactly once"
for values in got[8:]:
    for s in range(8):
        mine = [i for sender, i in values if sender == s]
        assert mine == sorted(mine), f"a receiver got the values of one sender in the order {mine}"

# Two steps share nothing.
one, two = Rendezvous(), Rendezvous()
one.send("k", 1.0)
other = Started(two.recv, "k", 0.1)
assert other.wait() == "TimeoutError", f"a value sent in one rendezvous was received in another: {other.outcome!r}"
two.abort(ValueError("the other step failed"))
mine = Started(one.recv, "k", 10.0)
assert mine.wait() == 1.0, f"another rendezvous was aborted; this one must still give its value, got {mine.outcome!r}"

# Abort ends who waits and who comes, even where a value is left; the first abort wins.
box = Rendezvous()
waiters = [waiting(box, f"never {number}") for number in range(3)]
box.send("left", 1.0)
for error in (ValueError("the first error", 7), RuntimeError("the second error")):
    lever = Started(box.abort, error)
    assert lever.wait() is None, f"abort must return None at once, a second one too; got {lever.outcome!r}"
late = [Started(box.send, "late", 1.0), Started(box.recv, "late", 10.0), Started(box.recv, "left", 10.0)]
outcomes = wait_all(waiters + late)
assert outcomes == ["ValueError"] * 6, (
    f"three waiting recvs, then abort with a ValueError, then send, recv, recv: they ended in {outcomes}"
)
raised = [call.raised for call in waiters + late]
assert raised == [(ValueError, ("the first error", 7))] * 6, (
    f"all calls must raise the error of the first abort, ValueError('the first error', 7); they raised {raised}"
)
### END HIDDEN TESTS

# %% [markdown] after_passing="rendezvous"
# Your class did what Send and Recv nodes do in a step, and stood up to sixteen threads. TensorFlow's is
# `LocalRendezvous` (tensorflow/core/framework/local_rendezvous.cc: `Send`, `RecvAsync`, `StartAbort`). It keeps one
# queue per key that holds values or waiting receivers, never both, and a waiting receiver is a callback, so no thread
# sleeps there. Ours wakes all waiters of all keys and lets each look: more wake-ups, but one lock, one rule, and no
# value can be handed to a receiver that has just left.

# %% [markdown]
# ### The step of section 1, on your rendezvous
#
# The partitions that TensorFlow made in section 1, each in a thread of its own. `run_partition` computes the nodes with
# NumPy; for a `_Send` and a `_Recv` it calls your `make_key` and your `Rendezvous`.

# %%
def run_partition(partition: GraphDef, rendezvous) -> dict[str, np.ndarray]:
    """Computes all nodes of a partition; returns the values by node name."""
    nodes = {node.name: node for node in partition.node}
    kernels = {"MatMul": np.matmul, "Relu": lambda x: np.maximum(x, 0), "Square": np.square, "AddV2": np.add}
    kernels["Sum"] = lambda x, axis: x.sum(axis=tuple(axis), dtype=x.dtype)
    values = {}

    def value(name: str) -> np.ndarray | None:
        node = nodes[name.lstrip("^").partition(":")[0]]
        if node.name not in values:
            inputs = [value(source) for source in node.input]
            if node.op == "Const":
                values[node.name] = tf.make_ndarray(node.attr["value"].tensor)
            elif node.op == "_Recv":
                values[node.name] = rendezvous.recv(make_key(node), 10.0)
            elif node.op == "_Send":
                values[node.name] = rendezvous.send(make_key(node), inputs[0])
            else:
                values[node.name] = inputs[0] if node.op == "_Retval" else kernels[node.op](*inputs)
        return values[node.name]

    for node in sorted(partition.node, key=lambda node: node.op == "_Recv"):
        value(node.name)
    return values


meeting = Rendezvous()
running = [Started(run_partition, partition, meeting) for partition in step.partitions.values()]
computed = {name: value for device in running for name, value in device.wait().items()}
print("on your rendezvous:", computed["total"], "  in TensorFlow:", step.values)

# %% [markdown]
# ## 7. Two steps never meet
#
# Two steps of one graph may run at the same time, and both use the same keys: a key says nothing about the step. Steps
# are kept apart one level above. `Session.run` in a local session makes a new rendezvous for every step and drops it at
# the end. A server serves steps that others start, so it keeps a table from step to rendezvous. An entry appears when
# the first call names the step, be it `RunGraph` from the master or `RecvTensor` from another server, whichever is
# first. It goes at the latest when the master says that the step is over (TensorFlow drops it earlier if nobody holds
# it: no value, no call). The cell sends under one key in steps 7 and 8 of a server.
#
# Then a receiver comes late to step 7. The step runs once more, for a server aborts the waiters only of a step that it
# runs; then the step is cleaned up.

# %%
worker = shared_worker()
cpu, incarnation = next(iter(worker.devices().items()))
name = f"{cpu};{incarnation:016x};{cpu};edge_1_x;0:0"

early = worker.start("RecvTensor", step_id=8, rendezvous_key=name)
worker.run(7, {name: np.float32(7.0)}, [])
print("step 8 has asked, step 7 has sent: the receiver of step 8", "has its answer" if early.done() else "still waits")
worker.run(8, {name: np.float32(8.0)}, [])
print("step 8 receives", tf.make_ndarray(worker.result(early).tensor), "  step 7 receives", worker.recv(7, name))

late = worker.start("RecvTensor", timeout=5.0, step_id=7, rendezvous_key=name)
time.sleep(0.2)
worker.run(7, {name.replace("edge_1_x", "edge_2_y"): np.float32(0.0)}, [])
worker.cleanup(7)
try:
    worker.result(late)
except WorkerError as error:
    print("step 7 is over; who still waited in it gets:", error)


# %% [markdown]
# ### Exercise 6 · One rendezvous per step (2 points)
#
# Complete the class `StepTable(make, abort)`, the table of a server. Rendezvous objects are numbers here, so that you
# see what becomes of each: `make()` makes a new one and returns its number (`int`), `abort(number, text)` aborts one.
#
# - `find(step)` returns the number of the step's rendezvous. The first call for a step (`int`) makes it, all later ones
#   give the same. Many threads may ask for one step at the same moment: `make` is called once for it, and all get that
#   number.
# - `cleanup(step)` ends a step: its rendezvous leaves the table and is then aborted with the text that you saw above,
#   for step 7 `Cleanup 7`. A step that is not in the table is no error, and nothing is aborted. If `find` names the
#   step again, a new rendezvous is made.
# - While `abort` runs, no lock is held: the receivers it wakes may call `find` for any step, and must get an answer.
#
# ```
# >>> table = StepTable(make=itertools.count(100).__next__, abort=print)
# >>> table.find(7), table.find(8), table.find(7)
# (100, 101, 100)
# >>> table.cleanup(7)
# 100 Cleanup 7
# >>> table.find(7)
# 102
# ```
#
# <details><summary>Hint 1</summary>
#
# "Look whether it is there, if not make it" are two steps, and another thread can come between them.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# A dict and a `threading.Lock`. `find` looks and makes inside of `with self._lock:`. `cleanup` takes the entry out of
# the dict inside of it, and aborts after it.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "step-table", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
class StepTable:
    """The rendezvous of each step that a server takes part in. All methods may be called from many threads."""

    def __init__(self, make, abort) -> None:
        """`make() -> int` makes a rendezvous; `abort(number: int, text: str)` aborts one."""
        ### BEGIN SOLUTION
        self._make, self._abort = make, abort
        self._lock = threading.Lock()
        self._numbers = {}
        ### END SOLUTION

    def find(self, step: int) -> int:
        """The number of the step's rendezvous, which is made if there is none."""
        ### BEGIN SOLUTION
        with self._lock:
            if step not in self._numbers:
                self._numbers[step] = self._make()
            return self._numbers[step]
        ### END SOLUTION

    def cleanup(self, step: int) -> None:
        """End a step: take its rendezvous out of the table, then abort it with the text "Cleanup STEP"."""
        ### BEGIN SOLUTION
        with self._lock:
            number = self._numbers.pop(step, None)
        if number is not None:
            self._abort(number, f"Cleanup {step}")
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "step-table-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
make, aborted = itertools.count(100).__next__, []
table = StepTable(make, lambda number, text: aborted.append((number, text)))
got = [Started(table.find, step).wait() for step in (7, 8, 7)]
assert got == [100, 101, 100], f"steps 7, 8 and 7 again must give rendezvous [100, 101, 100], got {got}"
ended = Started(table.cleanup, 7)
assert ended.wait() is None, f"cleanup(7) must return None; it ended with {ended.outcome!r}"
assert aborted == [(100, "Cleanup 7")], f"cleanup(7) must abort rendezvous 100 with 'Cleanup 7'; aborted were {aborted}"
got = Started(table.find, 7).wait()
assert got == 102, f"step 7 was cleaned up: find must give a new rendezvous, 102, got {got}"
### BEGIN HIDDEN TESTS
for step in (99, 99):
    ended = Started(table.cleanup, step)
    assert ended.wait() is None, (
        f"cleanup({step}): the step is not in the table, that is no error; it ended with {ended.outcome!r}"
    )
assert aborted == [(100, "Cleanup 7")], (
    f"step 99 was never in the table: nothing may be aborted, aborted were {aborted}"
)
got = table.find(8)
assert got == 101, f"step 8 was not cleaned up: it keeps rendezvous 101, got {got}"
fresh = StepTable(make, lambda number, text: aborted.append((number, text)))
got = fresh.find(8)
assert got == 103, f"another table must make rendezvous of its own: 103, got {got}"
got = Started(StepTable(lambda: 0, lambda number, text: aborted.append((number, text))).find, 0).wait()
assert got == 0, f"0 is a rendezvous like any other: find must give 0, got {got!r}"

# Two threads ask for one step. The first is held inside of make until the second has its answer, or 0.4 seconds.
made, inside, answered = [], threading.Event(), threading.Event()


def slow_make() -> int:
    made.append(len(made))
    inside.set()
    answered.wait(0.4)
    return made[-1] if len(made) > 1 else 0


table = StepTable(slow_make, lambda number, text: None)
first = Started(table.find, 5)
assert inside.wait(PATIENCE), f"find never called make; it gave {first.outcome!r}"
second = Started(lambda: (table.find(5), answered.set())[0])
got = wait_all([first, second])
assert len(made) == 1, f"two threads asked for one step at the same moment and make was called {len(made)} times"
assert got == [0, 0], f"two threads asked for one step: both must get rendezvous 0, got {got}"
# 32 threads, each asking for the same 20 steps.
table = StepTable(itertools.count().__next__, lambda number, text: None)
asked = [Started(lambda: [table.find(step) for step in range(20)]) for _ in range(32)]
got = wait_all(asked)
assert type(got[0]) is list, f"32 threads asked for 20 steps; one of them ended in {got[0]!r}"
assert sorted(got[0]) == list(range(20)), f"20 steps have 20 rendezvous, numbered from 0; found {got[0]}"
assert got == [got[0]] * 32, "32 threads asked for the same 20 steps and did not get the same rendezvous"
# While abort runs, another thread can use the table, and the entry is gone already.
seen = []
table = StepTable(
    itertools.count().__next__,
    lambda number, text: seen.append([Started(table.find, step).wait(3.0) for step in (1, 2)]),
)
table.find(1)
cleaned = Started(table.cleanup, 1)
assert cleaned.wait() is None, f"cleanup must return None, got {cleaned.outcome!r}"
assert seen == [[1, 2]], (
    f"while abort ran, steps 1 and 2 were asked for: they must get new rendezvous [1, 2], got {seen}"
)

# The same calls on a TensorFlow server, with one key in all steps.
seed = random.SystemRandom().randrange(10**9)
rng = random.Random(seed)
worker = Worker()
device, number = next(iter(worker.devices().items()))
letter = f"{device};{number:016x};{device};edge_1_x;0:0"
boxes, texts = [], []


def new_box() -> int:
    boxes.append(deque())
    return len(boxes) - 1


table = StepTable(new_box, lambda number, text: texts.append(text))
waiting, events = Counter(), []
for turn in range(60):
    step = rng.randrange(1, 4)
    event = rng.choice(["send", "send", "recv", "recv", "cleanup"])
    if event == "recv" and not waiting[step]:
        continue
    events.append((event, step))
    waiting[step] = {"send": waiting[step] + 1, "recv": waiting[step] - 1, "cleanup": 0}[event]
    if event == "send":
        boxes[table.find(step)].append(float(turn))
        worker.run(step, {letter: np.float32(turn)}, [])
    elif event == "recv":
        found = boxes[table.find(step)]
        got, wanted = found.popleft() if found else "nothing", float(worker.recv(step, letter))
        assert got == wanted, f"seed {seed}: after {events} step {step} receives {got}, on a TensorFlow server {wanted}"
    else:
        table.cleanup(step)
        worker.cleanup(step)
texts.clear()
table.find(12)
table.cleanup(12)
pending = worker.start("RecvTensor", step_id=12, rendezvous_key=letter)
while not pending.done():  # RunGraph opens the step's rendezvous, so that a receiver which came before it is served
    worker.run(12, {letter.replace("edge_1_x", "edge_2_y"): np.float32(0.0)}, [])
    worker.cleanup(12)
try:
    worker.result(pending)
except WorkerError as refusal:
    assert texts == [str(refusal).removeprefix("ABORTED: ")], (
        f"cleanup aborts with {texts}, a TensorFlow server with {refusal}"
    )
### END HIDDEN TESTS

# %% [markdown] after_passing="step-table"
# Values sent in one step never reach a Recv of another, on your table as on a TensorFlow server. There it is
# `BaseRendezvousMgr` (tensorflow/core/distributed_runtime/base_rendezvous_mgr.h), whose table `RendezvousCache` has
# `FindOrCreate` and `RemoveAndAbort`; `RpcRendezvousMgr` makes the entries. A local session needs no table:
# `DirectSession` makes a `RefCountedIntraProcessRendezvous` in every run (a `PrivateIntraProcessRendezvous` if there is
# one partition and no timeout). Our solution makes inside of the lock and aborts outside of it, as TensorFlow does,
# because an abort runs the code of whoever waits.

# %% [markdown]
# ## 8. A letter to the dead
#
# A server dies in the middle of a step and is started again, with the same address and the same device names. A `_Recv`
# on another machine still asks for a tensor of the old process. It must not get one of the new process, which has lost
# all its variables. That is what the incarnation in the key is for. Nobody dies in the cell: it starts two servers,
# which have the same device names, and shows what each says to a key that was made for the first.

# %%
servers = [Worker(), Worker()]
for server in servers:
    print(server.devices())
cpu, incarnation = next(iter(servers[0].devices().items()))
letter = f"{cpu};{incarnation:016x};{cpu};edge_1_x;0:0"
servers[0].run(1, {letter: np.float32(1.0)}, [])
for server in servers:
    try:
        print("it gives", server.recv(1, letter))
    except WorkerError as error:
        print("it says", error)


# %% [markdown]
# ### Exercise 7 · A letter to the dead (2 points)
#
# Complete `check(key, alive)`, which a server asks before it looks for a tensor. `key` is a well-formed rendezvous key
# (`str`), `alive` the server's devices: device name → incarnation, a whole number from 0 to 2⁶⁴ − 1.
#
# - The source device lives and has the key's incarnation: return the string `"ok"`.
# - It lives with another incarnation: raise `Stale`. The message holds both numbers in **decimal**, as TensorFlow's
#   does in the output above.
# - It is not in `alive`: raise `KeyError` with the device's name in its message. Names are equal or not; nothing is
#   normalised.
#
# An incarnation is a number, however it is spelled: for this check `00ff`, `ff` and `FF` are one (the box itself is
# then found by the exact text). The destination is not checked: it is whoever asks, and the server need not know it.
#
# ```
# >>> check("/job:w/task:1/device:CPU:0;00000000000000ff;/job:w/task:0/device:CPU:1;edge_4_c;0:0", {"/job:w/task:1/device:CPU:0": 255})
# 'ok'
# ```
#
# Given is `given_parse_key(text) -> Key`, which takes well-formed keys apart, and the exception `Stale`.
#
# <details><summary>Hint 1</summary>
#
# Is the device there? Then: has it that number?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# ```
# key = given_parse_key(key)
# # key.source not in alive?  →  KeyError
# # alive[key.source] != key.incarnation?  →  Stale with both numbers
# ```
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-stale", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
class Stale(ValueError):
    """A key was made for an earlier incarnation of its source device."""


def given_parse_key(text: str) -> Key:
    """The parts of a key that is well formed; nothing is checked."""
    source, incarnation, destination, edge, where = text.split(";")
    return Key(source, int(incarnation, 16), destination, edge, *map(int, where.split(":")))


# %% nbgrader={"grade": false, "grade_id": "incarnations", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def check(key: str, alive: dict[str, int]) -> str:
    """Whether the source of a key is the process that it was when the key was made: "ok".

    Raises:
        Stale: the device has another incarnation; the message holds both numbers in decimal.
        KeyError: the device is not in `alive`; the message holds its name.
    """
    ### BEGIN SOLUTION
    parsed = given_parse_key(key)
    if parsed.source not in alive:
        raise KeyError(f"unknown device {parsed.source}")
    if alive[parsed.source] != parsed.incarnation:
        raise Stale(f"the key is for incarnation {parsed.incarnation}, {parsed.source} has {alive[parsed.source]}")
    return "ok"
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "incarnations-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
letter = "/job:w/task:1/device:CPU:0;00000000000000ff;/job:w/task:0/device:CPU:1;edge_4_c;0:0"
try:
    got = check(letter, {"/job:w/task:1/device:CPU:0": 255, "/job:w/task:1/device:CPU:1": 3})
except Exception as error:
    got = error
assert type(got) is str and got == "ok", (
    "the source lives and has incarnation 255, which is ff, and the destination is not checked: "
    f"check must return 'ok', got {got!r}"
)
try:
    got = check(letter, {"/job:w/task:1/device:CPU:0": 256})
except Stale as error:
    assert "255" in str(error) and "256" in str(error), f"the message must hold 255 and 256; it says {str(error)!r}"
else:
    raise AssertionError(f"the key is for incarnation 255 and the device has 256: check must raise Stale; got {got!r}")
### BEGIN HIDDEN TESTS
seed = random.SystemRandom().randrange(10**9)
rng = random.Random(seed)


def outcome_of(call, *args) -> tuple[str, str, str]:
    """ "ok" or the name of the exception; what it says; and both as a sentence."""
    try:
        returned = call(*args)
        said = "ok" if type(returned) is str and returned == "ok" else "another value"
        return said, "", f"it returned {returned!r}"
    except Stale as error:
        return "Stale", str(error), f"it raised {type(error).__name__}: {error}"
    except KeyError as error:
        return "KeyError", str(error), f"it raised {type(error).__name__}: {error}"
    except Exception as error:
        return type(error).__name__, str(error), f"it raised {type(error).__name__}: {error}"


started = [Worker(), Worker()]
cpu = next(iter(started[0].devices()))
other = "/job:nobody/replica:0/task:4/device:CPU:9"
numbers = [server.devices()[cpu] for server in started]
cases = [(f"{numbers[0]:016x}", 0), (f"{numbers[0]:016x}", 1), (f"{numbers[1]:016X}", 1), (f"{numbers[1]:x}", 1)]
cases += [(f"{numbers[0] ^ 1 << 4 * rng.randrange(16):016x}", 0) for _ in range(10)]
cases += [(f"{numbers[0] ^ 1 << 63:x}", 0), (f"{numbers[0] % 2**63:016x}", 0), ("0", 1), ("f" * 16, 1)]
for number, (digits, place) in enumerate(cases):
    letter = f"{cpu};{digits};{rng.choice([cpu, other])};edge_{number}_x;0:0"
    got, said, it = outcome_of(check, letter, dict(started[place].devices()))
    started[place].run(1, {letter: np.float32(number)}, [])
    truth, words, _ = outcome_of(started[place].recv, 1, letter)
    if truth == "WorkerError":
        assert words.startswith("ABORTED"), (
            f"seed {seed}: the server was expected to refuse {letter!r}; it said {words}"
        )
        both = re.findall(r"\d+", words.partition("vs.")[0])[-1], str(numbers[place])
        missing = [number for number in both if number not in said]
        assert got == "Stale", (
            f"seed {seed}: the server refuses {letter!r} ({words[:110]}), so check must raise Stale; {it}"
        )
        assert not missing, f"seed {seed}: the message must hold both incarnations in decimal, {both}; it says {said!r}"
    else:
        assert got == "ok", (
            f"seed {seed}: the source lives and has the key's incarnation, {numbers[place]}, and the destination is not "
            f"checked: a server accepts {letter!r}, so check must return 'ok'; {it}"
        )
# Numbers on both sides of 2**63, and devices that are not there.
for number in [0, 1, 2**63 - 1, 2**63, 2**64 - 1]:
    letter = f"{cpu};{number:016x};{other};edge_1_x;0:0"
    got, said, it = outcome_of(check, letter, {cpu: number})
    assert got == "ok", f"the device has incarnation {number}, the key too: check must return 'ok' for {letter!r}; {it}"
    got, said, it = outcome_of(check, letter, {cpu: number ^ 2**63})
    assert got == "Stale", (
        f"the device has incarnation {number ^ 2**63}, the key {number}: check must raise Stale; {it}"
    )
for source in [other, cpu.replace("CPU:0", "CPU:00"), cpu[:-1]]:
    letter = f"{source};{numbers[0]:016x};{cpu};edge_1_x;0:0"
    got, said, it = outcome_of(check, letter, dict(started[0].devices()))
    assert got == "KeyError", f"{source} is not alive: check must raise KeyError; {it}"
    assert source in said, f"the KeyError must name the device {source}; it says {said}"
### END HIDDEN TESTS

# %% [markdown] after_passing="incarnations"
# You judged keys as two live servers do: `Worker::PrepareRecvTensor` in tensorflow/core/distributed_runtime/worker.cc
# makes this comparison before it looks for a tensor, and answers with `Aborted`. `MonitoredSession` takes that error as
# the sign that a worker was restarted, and recovers from the last checkpoint. The comparison is one of numbers, because
# the text of a key is only fixed by the side that wrote it.

# %% [markdown]
# ## 9. Play: a wall of letter boxes
#
# Two steps of one graph, side by side, with the same two keys. Send and receive in any order and watch what waits on
# which side of a box. Then abort a step while a receiver waits in it, and send or receive once more. Clean up a step:
# it begins anew under the same number.
#
# Can you bring a box into a state in which a value and a receiver wait at the same time?

# %%
from tflabs.view.letterbox import letterbox

letterbox(keys=("edge_4_c", "edge_7_d"), steps=(7, 8))

# %% [markdown]
# ## Read on
#
# | what | where in TensorFlow 2.21 |
# | --- | --- |
# | pairs are put in | tensorflow/core/graph/graph_partition.cc: `Partition`, `AddSend`, `AddRecv`, `AddDummyConst`, `DupRecvKey` |
# | the two kernels | tensorflow/core/kernels/sendrecv_ops.cc: `SendOp`, `RecvOp` (an `AsyncOpKernel`: it holds no thread while it waits) |
# | the key | tensorflow/core/framework/rendezvous.cc: `Rendezvous::CreateKey`, `Rendezvous::ParseKey` |
# | the boxes | tensorflow/core/framework/local_rendezvous.cc: `LocalRendezvous` |
# | devices of one process | tensorflow/core/common_runtime/rendezvous_mgr.h: `RefCountedIntraProcessRendezvous`, one for each step of a `DirectSession` with several partitions; `PrivateIntraProcessRendezvous` if there is one |
# | devices of other processes | tensorflow/core/distributed_runtime/rpc/rpc_rendezvous_mgr.cc: `RpcRendezvousMgr`; a receiver asks with `RecvTensor`, nobody pushes |
# | the table of steps | tensorflow/core/distributed_runtime/base_rendezvous_mgr.h; tensorflow/core/common_runtime/eager/rendezvous_cache.h: `RendezvousCache` |
#
# What changed since 1.x: a `tf.function` over several devices is cut by the same `Partition` and meets in the same kind
# of rendezvous; only the session is gone. The nodes are still there, as `tf.raw_ops.Send` and `tf.raw_ops.Recv`. What
# `tf.distribute` adds up over several devices mostly travels by collective ops instead (lab 4-5): all devices take part
# at once, and no edge needs a key.

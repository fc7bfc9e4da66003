# %% [markdown]
# # One graph, four stages
#
# What happens between `session.run` and the number that comes back, and who does what? A graph is **constructed** by a
# client, **partitioned** by a master, **registered** with workers, and **executed** by them, step after step. What the
# parties say to each other is a handful of calls, and each carries something else.
#
# At the end you have built the three parties: a client that writes nodes, a master that cuts a graph down and apart and
# runs a step of it, and a worker that is handed a graph once and then runs it by its handle. Together they give
# TensorFlow's results on random graphs over two and three devices, with as many transfers as TensorFlow makes.
#
# 110 minutes · 20 points · Before this lab: 1-2 (primitive operations, deferred execution, one abstraction for many
# devices).
#
# When you have saved, `./tflabs check 1-3-architecture` or Check on the start page grades your answers, also with tests
# that you do not see here.

# %% [markdown]
# ## What the three principles left open
#
# Lab 1-2 left three facts. A node is one small op that a table of kernels can serve on any device. Building the graph
# computes nothing. When something is asked for, only what it needs is run. So between building and running there is a
# moment in which the whole graph is known and nothing has happened yet.
#
# TensorFlow uses that moment. The graph that you wrote is cut down to what this step needs, cut apart along the devices,
# and its parts are handed to those who have the devices. In lab 1-1 the split between worker and server was fixed when
# the system was written; here it is made anew for each graph.

# %% nbgrader={"grade": false, "grade_id": "given-imports", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
from tflabs.runtime import quiet

with quiet():
    import tensorflow as tf

import itertools
import random
import re
import threading
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

import numpy as np
from tensorflow.core.protobuf.config_pb2 import CallableOptions

from tflabs.runtime import disguise, in_fresh_process, plain_config, trace_run, withheld

tf1 = tf.compat.v1
GraphDef, NodeDef = tf1.GraphDef, tf1.NodeDef
CPU = [f"/job:localhost/replica:0/task:0/device:CPU:{number}" for number in range(3)]


# %% [markdown]
# ## 1. Look: one graph becomes two
#
# A graph of seven nodes, written once, with a device for each node. Nobody will ask for `unused`.

# %% nbgrader={"grade": false, "grade_id": "given-seven-nodes", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def seven_nodes(first: str = CPU[0], second: str = CPU[1]) -> GraphDef:
    """x · w crosses from `first` to `second`, its sum with its square crosses back; float32, [20], x a placeholder."""
    import tensorflow as tf

    with tf.Graph().as_default() as drawn:
        with tf.device(first):
            x = tf.compat.v1.placeholder(tf.float32, [20], name="x")
            w = tf.constant([0.5] * 20, name="w")
            product = tf.raw_ops.Mul(x=x, y=w, name="product")
        with tf.device(second):
            square = tf.raw_ops.Square(x=product, name="square")
            total = tf.raw_ops.AddV2(x=product, y=square, name="total")
            tf.raw_ops.Neg(x=product, name="unused")
        with tf.device(first):
            tf.raw_ops.Maximum(x=total, y=w, name="result")
    return drawn.as_graph_def()


# %%
from tflabs import view

view.graph(seven_nodes(), title="Constructed: the graph as the client wrote it")

# %% [markdown]
# Now a step of it. With tracing on, the runtime reports the graphs that it really ran: one **partition** for each
# device. `plain_config` turns the optimisers off, so that nothing else changes.

# %%
with tf.Graph().as_default():
    tf.import_graph_def(seven_nodes(), name="")
    with tf1.Session(config=plain_config(cpus=2)) as session:
        step = trace_run(session, "result:0", {"x:0": np.linspace(-1, 1, 20)})

view.partitions(step.partitions, title="Partitioned: what the two devices were given")


# %% [markdown]
# Three things happened. `unused` is gone: no partition has it. In the place of what you feed stands an `_Arg`, and a
# `_Retval` takes what you fetch. And a tensor that crosses has a pair of nodes now, a `_Send` and a `_Recv`: one puts it
# under a label, the other waits for what comes under that label. `product` has two readers on CPU:1 and crosses once.
# How labels are made and how the two meet is lab 3-8; here a pair is a letter.
#
# ### Exercise 1 · How many letters? (1 point)
#
# The graph below is run with the operation `out` as the only target: nothing is fed, and nothing is fetched. Say before
# you run anything:
#
# - `partitions` (`int`): how many partition graphs the runtime makes,
# - `transfers` (`int`): how many `_Send`/`_Recv` pairs are in them, all together.
#
# An edge marked `:1` carries output 1 of its node, the others output 0. In the step above the answer would have been
# `partitions = 2` and `transfers = 2`.

# %% nbgrader={"grade": false, "grade_id": "given-letters", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def letters_graph() -> GraphDef:
    """The graph of exercise 1, on three devices."""
    ops = tf.raw_ops
    with tf.Graph().as_default() as drawn:
        with tf.device(CPU[0]):
            base = tf.constant(np.linspace(-1, 1, 20), tf.float32, name="base")
            wide = tf.constant(np.linspace(-2, 2, 40), tf.float32, name="wide")
            left, right = ops.Split(axis=tf.constant(0, name="axis"), value=wide, num_split=2, name="split")
        with tf.device(CPU[1]):
            a, b, c = ops.Neg(x=base, name="a"), ops.Square(x=base, name="b"), ops.Tanh(x=base, name="c")
            d, e = ops.AddV2(x=right, y=a, name="d"), ops.Mul(x=right, y=b, name="e")
            f = ops.Sub(x=left, y=c, name="f")
            h = ops.Maximum(x=ops.AddV2(x=d, y=e, name="g"), y=f, name="h")
        with tf.device(CPU[0]):
            out = ops.Sub(x=h, y=base, name="out")
            ops.Relu(features=a, name="u")
        with tf.device(CPU[2]):
            ops.Neg(x=out, name="v")
    return drawn.as_graph_def()


# %%
view.graph(letters_graph(), highlight={"out": "target"}, direction="LR", title="Exercise 1: which edges cross for out?")

# %% nbgrader={"grade": false, "grade_id": "count-transfers", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
# partitions = …
# transfers = …
### BEGIN SOLUTION
partitions = 2
transfers = 4
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "count-transfers-test", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
assert type(partitions) is int, f"partitions is a whole number, found {partitions!r}"
assert type(transfers) is int, f"transfers is a whole number, found {transfers!r}"
### BEGIN HIDDEN TESTS
said = (int(partitions), int(transfers))
with tf.Graph().as_default() as truth_graph:
    tf.import_graph_def(letters_graph(), name="")
    with tf1.Session(config=plain_config(cpus=3)) as truth_session:
        truth = trace_run(truth_session, truth_graph.get_operation_by_name("out")).partitions
counted = sum(node.op == "_Send" for part in truth.values() for node in part.node)
assert said[0] == len(truth), (
    f"you predicted {said[0]} partitions, the runtime made another number: which devices have a node that out needs?"
)
assert said[1] == counted, (
    f"you predicted {said[1]} transfers, the runtime made another number: leave out what out does not need, then count "
    "the different pairs of (tensor, destination device). Two outputs of one node are two tensors"
)
### END HIDDEN TESTS

# %% [markdown] after_passing="count-transfers"
# A tensor crosses once to each device that reads it: `base`, `split:0` and `split:1` to CPU:1, and `h` back to CPU:0.
# What `out` does not need was pruned before the graph was cut, so `u` and `v` cost nothing, and CPU:2 got no partition.
# TensorFlow does both in this order: `RewriteGraphForExecution` (core/graph/subgraph.cc) makes the client graph of a
# step, `Partition` (core/graph/graph_partition.cc) cuts it.

# %% [markdown]
# ## 2. Look: who says what to whom
#
# In one process all of this is function calls and cannot be seen. So the next cells spread the same graph over three
# TensorFlow servers and listen on every line between them. The parties have names:
#
# - the **client** is the Python program: it has a session, and the graph as it was written;
# - the **master** serves the session: it plans a step and drives it;
# - a **worker** has devices and kernels: it keeps its part of the graph and runs it.
#
# A server process holds both services, a master and a worker. Here one server is the master; its own devices hold no
# node of the graph. The other two are the workers, one for each device of the graph.
#
# Each line is tapped by a small relay, which notes a call and passes it on unchanged. The cell is long because the
# Python package does not contain the messages of this protocol: it declares the fields that it reads (from
# core/protobuf/master.proto and worker.proto). You need not read it.

# %% nbgrader={"grade": false, "grade_id": "given-wire", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
PARTIES = ("Client", "Master", "Worker 0", "Worker 1")
# Message, field, number, type, of what the relay reads; * is repeated.
PROTOCOL = """
CreateSessionRequest graph_def 1 GraphDef; CreateSessionResponse session_handle 1 string
GetStatusResponse device_attributes 1 *DeviceAttributes; CreateWorkerSessionRequest session_handle 1 string
RunStepRequest feed 2 *NamedTensorProto; RunStepRequest fetch 3 *string; RunStepResponse tensor 1 *NamedTensorProto
RegisterGraphRequest graph_def 2 GraphDef; RegisterGraphResponse graph_handle 1 string
RunGraphRequest graph_handle 1 string; RunGraphRequest step_id 2 int64; RecvTensorRequest step_id 1 int64
RecvTensorRequest rendezvous_key 2 string; RecvTensorResponse tensor 1 TensorProto; CleanupGraphRequest step_id 1 int64
"""


def record_sessions(graph: bytes, sessions: list[list[str]]) -> list[list[tuple[str, ...]]]:
    """Sessions on a master and two workers: a step for each fetch, x:0 fed in all. Runs in a process of its own.

    Returns for each session a tuple for each call that crossed a line, in the order of the requests: caller, callee,
    method, what the request carried, what the answer carried.
    """
    import threading
    from concurrent.futures import ThreadPoolExecutor

    import grpc
    import tensorflow as tf
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    from tensorflow.core.framework import device_attributes_pb2, graph_pb2, tensor_pb2
    from tensorflow.core.protobuf import named_tensor_pb2

    from tflabs.runtime import plain_config

    tf1, field = tf.compat.v1, descriptor_pb2.FieldDescriptorProto
    scalars = {"string": field.TYPE_STRING, "int64": field.TYPE_INT64}
    file = descriptor_pb2.FileDescriptorProto(name="lab/wire.proto", package="wire", syntax="proto3")
    file.dependency.extend(
        module.DESCRIPTOR.name for module in (device_attributes_pb2, graph_pb2, tensor_pb2, named_tensor_pb2)
    )
    declared = {}
    for entry in PROTOCOL.replace("\n", ";").strip(";").split(";"):
        message, name, number, kind = entry.split()
        declared.setdefault(message, file.message_type.add(name=message) if message not in declared else None)
        made = declared[message].field.add(name=name, number=int(number))
        made.label = field.LABEL_REPEATED if kind.startswith("*") else field.LABEL_OPTIONAL
        kind = kind.removeprefix("*")
        made.type = scalars.get(kind, field.TYPE_MESSAGE)
        if kind not in scalars:
            made.type_name = f".tensorflow.{kind}"
    pool = descriptor_pool.Default()
    pool.AddSerializedFile(file.SerializeToString())

    def read(name: str, data: bytes):
        """The message `name`, or None if nothing of it is declared."""
        if name not in declared:
            return None
        return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"wire.{name}")).FromString(data)

    steps: dict[int, int] = {}

    def carried(method: str, data: bytes) -> str:
        """What a request carries, in words."""
        got = read(f"{method}Request", data)
        if method == "CreateSession":
            return f"the graph: {len(got.graph_def.node)} nodes"
        if method == "RunStep":
            return f"feed {', '.join(entry.name for entry in got.feed)}; fetch {', '.join(got.fetch)}"
        if method == "RegisterGraph":
            return f"a partition: {len(got.graph_def.node)} nodes"
        if method in ("RunGraph", "RecvTensor", "CleanupGraph"):
            step = f"step {steps.setdefault(got.step_id, len(steps) + 1)}"
            what = {"RunGraph": lambda: f"handle …{got.graph_handle[-3:]}", "RecvTensor": lambda: got.rendezvous_key}
            said = what.get(method, str)()
            return f"{step}, {said.split(';')[3] if ';' in said else said}".removesuffix(", ")
        return "session name" if method in ("CreateWorkerSession", "CloseSession", "DeleteWorkerSession") else ""

    def answered(method: str, data: bytes) -> str:
        """What an answer carries, in words."""
        got = read(f"{method}Response", data)
        if method == "CreateSession":
            return "session name"
        if method == "GetStatus":
            return f"{len(got.device_attributes)} device"
        if method == "RunStep":
            return ", ".join(entry.name for entry in got.tensor)
        if method == "RegisterGraph":
            return f"handle …{got.graph_handle[-3:]}"
        return "a tensor" if method == "RecvTensor" else ""

    calls, noting, servers, relays, lines = [], threading.Lock(), [], [], {}

    def relay(caller: int, callee: int) -> str:
        """Starts a relay; its address."""

        class Noted(grpc.GenericRpcHandler):
            def service(self, details):
                def pass_on(request: bytes, context) -> bytes:
                    method = details.method.rpartition("/")[2]
                    with noting:
                        note = [PARTIES[caller], PARTIES[callee], method, carried(method, request), ""]
                        calls.append(note)
                    answer = lines[callee].unary_unary(details.method)(request, timeout=60)
                    note[4] = answered(method, answer)
                    return answer

                return grpc.unary_unary_rpc_method_handler(pass_on)

        server = grpc.server(ThreadPoolExecutor(8), handlers=[Noted()])
        port = server.add_insecure_port("localhost:0")
        server.start()
        relays.append(server)
        return f"localhost:{port}"

    address = {(a, b): relay(a, b) for a in range(4) for b in range(1, 4) if a != b}
    for me in (1, 2, 3):
        seen = {party: "localhost:0" if party == me else address[me, party] for party in (1, 2, 3)}
        cluster = {"master": [seen[1]], "worker": [seen[2], seen[3]]}
        job, task = ("master", 0) if me == 1 else ("worker", me - 2)
        servers.append(tf1.train.Server(cluster, job_name=job, task_index=task))
        lines[me] = grpc.insecure_channel(servers[-1].target.removeprefix("grpc://"))
    heard = []
    with tf.Graph().as_default():
        tf.import_graph_def(tf1.GraphDef.FromString(graph), name="")
        for fetches in sessions:
            with tf1.Session(f"grpc://{address[0, 1]}", config=plain_config()) as session:
                for name in fetches:
                    session.run(name, {"x:0": [1.0] * 20})
            with noting:
                heard.append([tuple(note) for note in calls])
                calls.clear()
    for server in relays:
        server.stop(None).wait()
    return heard


@cache
def recorded() -> list[list[tuple[str, ...]]]:
    """What `record_sessions` heard: the session drawn below, and that of exercise 2. Takes a few seconds at first."""
    graph = seven_nodes("/job:worker/task:0/device:CPU:0", "/job:worker/task:1/device:CPU:0")
    sessions = [["result:0", "result:0"], ["result:0", "result:0", "result:0", "square:0"]]
    return in_fresh_process(
        record_sessions, graph.SerializeToString(), sessions, env={"TF_CPP_MIN_LOG_LEVEL": "3"}
    ).value


# %% [markdown]
# A session that runs the same step twice: every call, from top to bottom. An arrow goes from who calls to who is called;
# the answer goes the other way.

# %%
two_steps = [view.Call(*call) for call in recorded()[0]]
view.protocol(two_steps, title="Two steps of one session, as heard on the lines")

# %% [markdown]
# What travels in which call is worth a second look:
#
# | call | from, to | it carries | how often |
# | --- | --- | --- | --- |
# | `CreateSession` | client, master | the graph as it was written, `unused` included | once, before the first step |
# | `RunStep` | client, master | names of fetches, names and values of feeds; back come the fetched values | each step |
# | `RegisterGraph` | master, worker | a partition; back comes a **handle** | once for each part of each kind of step |
# | `RunGraph` | master, worker | a handle and the step's number: no graph | each step, each partition |
# | `RecvTensor` | receiver, sender | the label of a letter; back comes the tensor | each step, each transfer between servers |
# | `CleanupGraph` | master, worker | the number of a step that is over | each step |
#
# The other calls open and close: `GetStatus` asks a server which devices it has, `CreateWorkerSession` and
# `DeleteWorkerSession` tell a worker that a session begins and that it is over, and `CloseSession` tells the master.
#
# Nobody pushes a tensor: who needs it asks for it (`RpcRendezvousMgr`, core/distributed_runtime/rpc). A `RecvTensor` may
# come before the `RunGraph` that makes its tensor: then the answer waits. So the order of the calls within a step
# differs from run to run.
#
# What is fed enters on one device, the session's **client device** (`DeviceSet::client_device`,
# core/common_runtime/device_set.h), and what is fetched leaves there. Here it belongs to the master's server: worker 0
# fetched `x:0` from the master, and the master `result:0` from worker 0. So the master's server has a part of the graph
# too. It registers and runs it inside of the process, where no line is tapped.
#
# ### Exercise 2 · Which calls, how often? (1 point)
#
# The same graph, on the same master and workers. A client opens a session, runs four steps, all with `x:0` fed, and
# closes the session:
#
# 1. fetch `result:0`, three times;
# 2. fetch `square:0`, once.
#
# Set `calls` to a dict with three whole numbers, for the whole session: how many `"RegisterGraph"` and `"RunGraph"`
# calls the two workers receive together, and how many `"RecvTensor"` calls go from one *worker* to the *other*, in
# either direction. For the two steps above it would be `{"RegisterGraph": 2, "RunGraph": 4, "RecvTensor": 4}`.

# %% nbgrader={"grade": false, "grade_id": "count-calls", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
# calls = {"RegisterGraph": …, "RunGraph": …, "RecvTensor": …}
### BEGIN SOLUTION
calls = {"RegisterGraph": 4, "RunGraph": 8, "RecvTensor": 7}
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "count-calls-test", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
assert type(calls) is dict, f"calls is a dict, found {calls!r}"
assert sorted(calls) == ["RecvTensor", "RegisterGraph", "RunGraph"], (
    f'calls has the keys "RegisterGraph", "RunGraph" and "RecvTensor", found {sorted(calls)}'
)
assert [type(count) for count in calls.values()] == [int] * 3, f"all three values are whole numbers, found {calls}"
### BEGIN HIDDEN TESTS
said = dict(calls)
heard = Counter(
    method
    for caller, callee, method, *_ in recorded()[1]
    if callee.startswith("Worker") and (method != "RecvTensor" or caller.startswith("Worker"))
)
assert said["RegisterGraph"] == heard["RegisterGraph"], (
    f"you predicted {said['RegisterGraph']} RegisterGraph calls, the workers received another number: a partition is "
    "handed over once, and what a fetch needs decides what the partitions are"
)
assert said["RunGraph"] == heard["RunGraph"], (
    f"you predicted {said['RunGraph']} RunGraph calls, the workers received another number: how many per step?"
)
assert said["RecvTensor"] == heard["RecvTensor"], (
    f"you predicted {said['RecvTensor']} RecvTensor calls between the workers, there was another number: which tensors "
    "cross in a step for result:0, which in one for square:0?"
)
### END HIDDEN TESTS

# %% [markdown] after_passing="count-calls"
# Planning is paid once for each kind of step, running in each step. The master keeps the plans by the names of feeds,
# fetches and targets (`MasterSession::StartStep`, which looks for a `ReffedClientGraph`;
# core/distributed_runtime/master_session.cc), and each plan keeps the handles of its partitions. A step for `square:0`
# is a plan of its own, although its nodes are a part of the first one's; `total` does not cross in it.

# %% [markdown]
# ## 3. Construction: the client writes nodes
#
# What a client hands over is a `GraphDef`: a list of `NodeDef`s. Each has a name, an op type, the names of its inputs, a
# device, and attributes. So this is what a client has to write. No kernel takes part, and nothing is computed.
#
# Names tie it together: an input is the name of the node that makes it. So a name must be there once, and a client that
# is asked for a name twice makes another one of it.

# %%
with tf.Graph().as_default() as drawn:
    with tf.device(CPU[1]):
        x = tf.raw_ops.Placeholder(dtype=tf.float32, shape=[40], name="x")
        _, right = tf.raw_ops.Split(axis=tf.constant(0, name="axis"), value=x, num_split=2, name="X")
    with tf.control_dependencies([x.op]):
        tf.raw_ops.AddV2(x=right, y=right)
    tf.raw_ops.Neg(x=right, name="x")
for node in drawn.as_graph_def().node:
    print(f"{node.name:<8} {node.op:<12} {list(node.input)}  {node.device}")


# %% [markdown]
# ### Exercise 3 · The client writes nodes (3 points)
#
# Write `class GraphBuilder`, which starts empty, with two methods:
#
# - `add(op, inputs=(), name=None, device="", control=(), **attributes) -> str` writes one NodeDef and returns its name.
#   `op`, `name` and `device` are `str`, `inputs` and `control` are lists of `str`.
# - `graph() -> GraphDef` returns the graph with all nodes in the order in which they were added.
#
# The rules, which are TensorFlow's:
#
# - Without a name, a node is asked for by its op type. If the name is taken, letter case ignored, it gets `_1`, `_2` and
#   so on: the first that is free (letter case ignored here too). The letters stay as they were given: a second `x` and
#   then an `X` become `x_1` and `X_2`.
# - `inputs` are tensors: `node`, `node:0` or `node:1`. Output 0 is written without its index: `node:0` becomes `node`.
# - `control` are names of nodes, each named once. They are written behind all tensors, as `^node`; their order among
#   themselves is free. None of them is the node of an input (TensorFlow would leave it out).
# - Each attribute is what `attribute(value)` makes of it; there are no others. Op types are written as they come. The tests
#   use some that TensorFlow does not know, and withhold `tf.Graph.unique_name`.
# - An input or control whose node has not been added, in just this spelling, raises `ValueError` with the node's name in
#   its message. Then nothing was added, and no name is taken by it.
#
# ```
# >>> builder = GraphBuilder()
# >>> builder.add("Placeholder", name="x", dtype=tf.float32, shape=[20])
# 'x'
# >>> builder.add("Mul", ["x:0", "x"], name="X", device=CPU[1], T=tf.float32)
# 'X_1'
# >>> builder.add("Neg", ["X_1:0"], control=["x"], T=tf.float32)
# 'Neg'
# >>> [list(node.input) for node in builder.graph().node]
# [[], ['x', 'x'], ['X_1', '^x']]
# ```
#
# <details><summary>Hint 1</summary>
#
# Check all inputs before you write anything. Two questions are asked about names: "is it taken?" ignores case, "is there
# such a node?" does not.
# </details>
#
# <details><summary>Hint 2</summary>
#
# ```
# # __init__: an empty GraphDef, a set of names, a set of the same names in lower case
# # add: refuse unknown inputs and controls first
# #      name = asked, asked_1, asked_2, … until name.lower() is not taken
# node = (the GraphDef).node.add(op=op, name=name, device=device, input=[...])
# #      for each attribute: node.attr[...].CopyFrom(attribute(...))
# ```
# </details>
#
# Given is `attribute`, the first function of the next cell. The rest of it reads your graph for the test.

# %% nbgrader={"grade": false, "grade_id": "given-attribute", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def attribute(value: object) -> tf1.AttrValue:
    """The attribute for a dtype, a whole number, a shape (a list), or the value of a constant (an array)."""
    if isinstance(value, tf.DType):
        return tf1.AttrValue(type=value.as_datatype_enum)
    if isinstance(value, int):
        return tf1.AttrValue(i=value)
    if isinstance(value, list):
        return tf1.AttrValue(shape=tf.TensorShape(value).as_proto())
    return tf1.AttrValue(tensor=tf.make_tensor_proto(value))


class Written(NamedTuple):
    """A node as its client wrote it; `control` is sorted, without the `^`."""

    name: str
    op: str
    inputs: list[str]
    control: list[str]
    device: str


def written(graph: GraphDef) -> list[Written]:
    """The nodes of a graph in their order."""
    assert type(graph) is GraphDef, f"graph() returns a GraphDef, not a {type(graph).__name__}"
    nodes = []
    for node in graph.node:
        control = [name.startswith("^") for name in node.input]
        assert control == sorted(control), f"{node.name}: control inputs come behind tensors, found {list(node.input)}"
        tensors = [name for name in node.input if not name.startswith("^")]
        waits = sorted(name[1:] for name in node.input if name.startswith("^"))
        nodes.append(Written(node.name, node.op, tensors, waits, node.device))
    return nodes


def difference(found: Written, due: Written) -> str:
    """The first field in which two nodes differ, in words; empty if there is none."""
    for field, value, want in zip(Written._fields, found, due, strict=True):
        if value != want:
            return f"{field} of {due.name}: {want!r} is due, found {value!r}"
    return ""


# %% nbgrader={"grade": false, "grade_id": "graph-builder", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
class GraphBuilder:
    """Writes a GraphDef node by node."""

    def __init__(self) -> None:
        ### BEGIN SOLUTION
        self._graph = GraphDef()
        self._names: set[str] = set()
        self._taken: set[str] = set()
        ### END SOLUTION

    def add(
        self,
        op: str,
        inputs: list[str] = (),
        name: str | None = None,
        device: str = "",
        control: list[str] = (),
        **attributes: object,
    ) -> str:
        """Write one node and return its name, which is `name` (or `op`) or, if that is taken, made unique.

        Raises:
            ValueError: the node of an input or control has not been added; the message names it.
        """
        ### BEGIN SOLUTION
        for used in [*inputs, *control]:
            if used.partition(":")[0] not in self._names:
                raise ValueError(f"{op}: there is no node {used.partition(':')[0]!r}")
        asked = unique = name or op
        number = 0
        while unique.lower() in self._taken:
            number += 1
            unique = f"{asked}_{number}"
        self._names.add(unique)
        self._taken.add(unique.lower())
        tensors = [used.removesuffix(":0") for used in inputs]
        node = self._graph.node.add(op=op, name=unique, device=device)
        node.input.extend([*tensors, *(f"^{used}" for used in control)])
        for key, value in attributes.items():
            node.attr[key].CopyFrom(attribute(value))
        return unique
        ### END SOLUTION

    def graph(self) -> GraphDef:
        """The graph that was written so far."""
        ### BEGIN SOLUTION
        return self._graph
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "graph-builder-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
builder = GraphBuilder()
names = [
    builder.add("Placeholder", name="x", device=CPU[1], dtype=tf.float32, shape=[40]),
    builder.add("Const", name="axis", dtype=tf.int32, value=np.int32(0)),
    builder.add("Split", ["axis:0", "x"], name="X", device=CPU[1], num_split=2, T=tf.float32),
]
assert names == ["x", "axis", "X_1"], f"the names x, axis and, since case is ignored, X_1 are due; add returned {names}"
names = [
    builder.add("AddV2", ["X_1:1", "X_1:1"], control=["x"], T=tf.float32),
    builder.add("Neg", ["X_1:0"], name="x", T=tf.float32),
]
assert names == ["AddV2", "x_2"], f"without a name, then with x once more: AddV2 and x_2 are due; add returned {names}"
for unknown in ({"inputs": ["y:0"]}, {"inputs": ["x"], "control": ["y"]}):
    try:
        builder.add("Neg", name="z", T=tf.float32, **unknown)
    except ValueError as error:
        assert re.search(r"\by\b", str(error)), f"the ValueError must name the node y; it says {str(error)!r}"
    else:
        raise AssertionError(f"no node y was added: add with {unknown} must raise a ValueError")
name = builder.add("Neg", ["x"], name="z", T=tf.float32)
assert name == "z", f"two nodes z were refused, so that the name is free: z is due, add returned {name!r}"
found = written(builder.graph())
wanted = [
    Written("x", "Placeholder", [], [], CPU[1]),
    Written("axis", "Const", [], [], ""),
    Written("X_1", "Split", ["axis", "x"], [], CPU[1]),
    Written("AddV2", "AddV2", ["X_1:1", "X_1:1"], ["x"], ""),
    Written("x_2", "Neg", ["X_1"], [], ""),
    Written("z", "Neg", ["x"], [], ""),
]
assert len(found) == 6, f"six nodes were added and two refused; the graph has {[node.name for node in found]}"
for node, want in zip(found, wanted, strict=True):
    assert node == want, difference(node, want)


### BEGIN HIDDEN TESTS
def add_in_tensorflow(graph, op, inputs, name, device, control, attributes):
    """Make the same call on a tf.Graph; the name of the new node, None if an input does not exist."""
    arguments = {"Relu": ("features",), "Split": ("axis", "value"), "Placeholder": ()}
    arguments |= dict.fromkeys(["AddV2", "Sub", "Mul", "Maximum"], ("x", "y"))
    arguments |= dict.fromkeys(["Neg", "Square", "Tanh"], ("x",))
    with graph.as_default():
        try:
            tensors = [graph.get_tensor_by_name(text if ":" in text else f"{text}:0") for text in inputs]
            waits = [graph.get_operation_by_name(text) for text in control]
        except KeyError:
            return None
        with graph.device(device or None), tf.control_dependencies(waits):
            if op == "Const":
                made = tf.constant(attributes["value"], name=name)
            else:
                others = {key: value for key, value in attributes.items() if key != "T"}
                made = getattr(tf.raw_ops, op)(**dict(zip(arguments[op], tensors, strict=True)), **others, name=name)
    return (made[0] if op == "Split" else made).op.name


def random_call(rng, tensors, halves, nodes, axes, refused):
    """One call of add: (op, inputs, name, device, control, attributes). `tensors` have 20 elements, `halves` 10."""
    name = rng.choice(["x", "X", "x_1", "x_2", "X_1", "q1", None])
    device = rng.choice(["", *CPU])
    op = rng.choice(["Const", "Placeholder", "AddV2", "Sub", "Mul", "Maximum", "Neg", "Square", "Tanh", "Relu"])
    if refused:
        ghost = rng.choice(["ghost", *(node.swapcase() for node in nodes if node.swapcase() not in nodes)])
        if rng.random() < 0.5:
            return ("Neg", [rng.choice(tensors)], name, device, [ghost], {"T": tf.float32})
        ghost += rng.choice(["", ":0", ":1"])
        return ("AddV2", [rng.choice(tensors), ghost], name, device, [], {"T": tf.float32})
    if op == "Const":
        return (op, [], name, device, [], {"dtype": tf.float32, "value": np.float32([rng.random()] * 20)})
    if op == "Placeholder":
        return (op, [], name, device, [], {"dtype": tf.float32, "shape": [20]})
    binary = op in ("AddV2", "Sub", "Mul", "Maximum")
    inputs = [rng.choice(tensors) for _ in range(2 if binary else 1)]
    if rng.random() < 0.2:
        op, inputs = "Split", [rng.choice(axes), inputs[0]]
    elif not binary and halves and rng.random() < 0.6:
        inputs = [rng.choice(halves)]
    read = {text.partition(":")[0] for text in inputs}
    others = [node for node in nodes if node not in read]
    control = rng.sample(others, min(len(others), rng.choice([0, 0, 1, 2])))
    return (op, inputs, name, device, control, {"T": tf.float32} | ({"num_split": 2} if op == "Split" else {}))


def check_random_builders():
    """Random sequences of calls, on the learner's builder, with disguised op types, and in TensorFlow."""
    seed = random.SystemRandom().randrange(10**6)
    rng = random.Random(seed)
    for case in range(8):
        builder, graph, names, given = GraphBuilder(), tf.Graph(), [], []
        tensors, nodes, axes, halves = [], [], [], []
        ops = ["Const", "Placeholder", "Split", "AddV2", "Sub", "Mul", "Maximum", "Neg", "Square", "Tanh", "Relu"]
        hidden = {op: f"Q{number}" for number, op in enumerate(rng.sample(ops, len(ops)))}
        for number in range(21):
            if number < 2:
                call = [
                    ("Const", [], "axis", "", [], {"dtype": tf.int32, "value": np.int32(0)}),
                    ("Placeholder", [], "x", CPU[0], [], {"dtype": tf.float32, "shape": [20]}),
                ][number]
            else:
                call = random_call(rng, tensors, halves, nodes, axes, refused=rng.random() < 0.12)
            op, inputs, name, device, control, attributes = call
            said = f"add({hidden[op]!r}, {inputs}, {name!r}, {device!r}, {control})"
            words = f"seed {seed}, case {case}: after {names}, {said}"
            try:
                with withheld("tensorflow.Graph.unique_name"):
                    added = builder.add(hidden[op], list(inputs), name, device, list(control), **attributes)
            except ValueError as error:
                added, said = None, str(error)
                ghosts = {text.partition(":")[0] for text in (*inputs, *control)} - set(nodes)
                assert all(ghost in said for ghost in ghosts), f"{words} raised {said!r}; due is the name of {ghosts}"
            assert added is None or type(added) is str, f"{words} returned {added!r}, not a name"
            truth = add_in_tensorflow(graph, op, inputs, name or hidden[op], device, control, attributes)
            assert added == truth, f"{words}: {truth or 'a ValueError'} is due, found {added or 'a ValueError'}"
            names.append(added)
            if added is None:
                continue
            if op == "Split":
                halves += [added, f"{added}:0", f"{added}:1", f"{added}:1"]
            elif number == 0:
                axes = ["axis", "axis:0"]
            elif not set(inputs) & set(halves):
                tensors += [added, f"{added}:0"]
            nodes.append(added)
            given.append(attributes)
        found = written(builder.graph())
        wanted = [node._replace(op=hidden[node.op]) for node in written(graph.as_graph_def())]
        assert [node.name for node in found] == [node.name for node in wanted], (
            f"seed {seed}, case {case}: nodes {[node.name for node in wanted]} are due, found {[n.name for n in found]}"
        )
        for node, want in zip(found, wanted, strict=True):
            assert node == want, f"seed {seed}, case {case}: {difference(node, want)}"
        for node, attributes in zip(builder.graph().node, given, strict=True):
            found, wanted = dict(node.attr), {key: attribute(value) for key, value in attributes.items()}
            assert sorted(found) == sorted(wanted), (
                f"seed {seed}, case {case}: {node.name} has the attributes {sorted(found)}, {sorted(wanted)} were given"
            )
            for key, value in wanted.items():
                assert found[key] == value, f"seed {seed}, case {case}: attribute {key} of {node.name} is another value"


check_random_builders()
### END HIDDEN TESTS

# %% [markdown] after_passing="graph-builder"
# The same calls gave the same nodes in TensorFlow. There, `Graph.unique_name` (python/framework/ops.py) makes the names,
# with the same disregard for case, and `TF_FinishOperation` (c/c_api.cc) writes the node. TensorFlow's client does more
# when it writes one: it infers shapes and types, and refuses what cannot be. Ours keeps two sets of names, because one
# question about a name ignores case and the other does not.

# %% [markdown]
# ## 4. Partitioning: only what this step needs
#
# Now you are the master. A client asks for a step: these fetches, these feeds. The graph that it sent once may hold the
# whole training program; the step needs a small part of it. What does it need? The nodes of the fetches, then whatever
# these read, and so on, backwards, until there is nothing left to read, or until a value was fed.
#
# A feed cuts at a *tensor*, not at a node. The cell asks the runtime which nodes of exercise 1's graph it left out for
# `out:0`, with one half of the split fed, and then with both. (The cell before it runs such steps, and later those of
# the tests. You need not read it.)

# %% nbgrader={"grade": false, "grade_id": "given-real-step", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
class RealStep(NamedTuple):
    """A step that TensorFlow ran: values of the fetches, partition graphs by device, and the names that were fed."""

    values: list[np.ndarray]
    parts: dict[str, GraphDef]
    fed: list[str]


def real_steps(cases: list[tuple[GraphDef, list[str], list[dict[str, np.ndarray]]]]) -> list[list[RealStep]]:
    """Run steps in TensorFlow, all in one session: for each case (graph, fetches, feeds) one for each of `feeds`.

    Fetches are `n:0` or, as `^n`, operations. Feeds are by tensor, `n:0`; those of a case feed the same tensors, and all
    cases have as many. Each feed enters on the device of its node and each fetch leaves there. A plain `session.run` lets
    both pass through the client's device, CPU:0, which costs a transfer for each that is elsewhere.
    """
    options, made, first = CallableOptions(fetch_skip_sync=True), [], []
    options.run_options.output_partition_graphs = True
    with tf.Graph().as_default() as joined, tf1.Session(config=plain_config(cpus=3)) as session:
        for number, (graph, fetches, feeds) in enumerate(cases):
            scope = f"case{number}/"
            tf.import_graph_def(graph, name=scope)
            made.append([name for name in fetches if name[0] != "^" and name not in feeds[0]])
            first.append({"_Arg": len(options.feed), "_Retval": len(options.fetch)})
            options.target.extend(scope + name[1:] for name in fetches if name[0] == "^")
            for names, listed, places in [
                (feeds[0], options.feed, options.feed_devices),
                (made[-1], options.fetch, options.fetch_devices),
            ]:
                listed.extend(scope + name for name in names)
                places.update({scope + name: joined.get_tensor_by_name(scope + name).device for name in names})
        call = session._make_callable_from_options(options) if options.fetch or options.target else None
        turns = []
        for turn in range(len(cases[0][2])):
            fed, metadata = [value for _, _, feeds in cases for value in feeds[turn].values()], tf1.RunMetadata()
            turns.append((call(*fed, run_metadata=metadata) if call else [], metadata.partition_graphs))
    steps = []
    for number, (_, fetches, feeds) in enumerate(cases):
        own = [_own_nodes(part, f"case{number}/", first[number]) for part in turns[0][1]]
        parts = {part.node[0].device: part for part in own if part.node}
        steps.append([])
        for fed, (results, _) in zip(feeds, turns, strict=True):
            start = first[number]["_Retval"]
            values = fed | dict(zip(made[number], results[start : start + len(made[number])], strict=True))
            steps[-1].append(RealStep([values[name] for name in fetches if name[0] != "^"], parts, list(fed)))
    return steps


def _own_nodes(part: GraphDef, scope: str, first: dict[str, int]) -> GraphDef:
    """The nodes of one case in a partition graph of all cases, its `_Arg`s and `_Retval`s counted from 0."""
    own = GraphDef(versions=part.versions)
    for node in part.node:
        if scope in node.name:
            kept = own.node.add()
            kept.CopyFrom(node)
            kept.name = node.name.replace(scope, "")
            kept.input[:] = [text.replace(scope, "") for text in node.input]
            if node.op in first:
                kept.attr["index"].i -= first[node.op]
    return own


def real_step(graph: GraphDef, fetches: list[str], feeds: dict[str, np.ndarray]) -> RealStep:
    """One step of `graph` in TensorFlow, as `real_steps` runs it."""
    return real_steps([(graph, fetches, [feeds])])[0][0]


def kept_nodes(graph: GraphDef, step: RealStep) -> list[str]:
    """The names of the nodes of `graph` that TensorFlow kept for a step, in the order of `graph`."""
    ran = {node.name for part in step.parts.values() for node in part.node}
    return [node.name for node in graph.node if node.name in ran]


# %%
half = np.zeros(20, np.float32)
for feeds in ({}, {"split:0": half}, {"split:0": half, "split:1": half}):
    kept = kept_nodes(letters_graph(), real_step(letters_graph(), ["out:0"], feeds))
    left_out = [node.name for node in letters_graph().node if node.name not in kept]
    print(f"fed {list(feeds)}: left out are {', '.join(left_out)}")


# %% [markdown]
# ### Exercise 4 · Only what this step needs (2 points)
#
# Write `prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef`. The result has the nodes that must
# run, each unchanged, in the order of `graph`.
#
# - A fetch is a tensor (`n`, `n:0`, `n:1`; `n` is `n:0`) or, as `^n`, an operation. A feed is a tensor in the same
#   spelling.
# - A fed tensor needs nothing. Another output of the same node, or the operation itself, still does. A fetch that is fed
#   needs nothing.
# - A fetch or a feed whose node is not in the graph raises `ValueError` with the node's name in its message. (Whether an
#   index exists need not be checked.)
#
# Nodes have data inputs only, spelled as above. Graphs may be thousands of nodes deep, and nodes may stand in any order.
# The tests rename all op types and withhold sessions, so that TensorFlow could not run the graph for you.
#
# ```
# >>> [node.name for node in prune(seven_nodes(), ["total:0"], ["product"]).node]
# ['square', 'total']
# ```
#
# <details><summary>Hint 1</summary>
#
# Two spellings of a tensor must become one before you compare. Then walk backwards from the fetches with a list of
# nodes to visit; ask at each *edge* whether its tensor is fed.
# </details>
#
# <details><summary>Hint 2</summary>
#
# ```
# # a dict from name to node
# to_visit = [node of each fetch that is not fed]
# needed = set()
# while to_visit: take one; if it is new, add it to needed, and to to_visit the nodes of its inputs that are not fed
# ```
#
# At the end, copy those of `graph.node` whose name is in `needed`.
# </details>
#
# Given is `tensor_name`. The cell after it makes the random graphs of the tests; you need not read it.

# %% nbgrader={"grade": false, "grade_id": "given-tensor-name", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def tensor_name(text: str) -> str:
    """A tensor with its index: "n" is "n:0"."""
    return text if ":" in text else f"{text}:0"


# %% nbgrader={"grade": false, "grade_id": "given-random-graph", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
BINARY, UNARY = ("AddV2", "Sub", "Mul", "Maximum"), ("Neg", "Square", "Tanh", "Relu")


def random_graph(rng: random.Random, devices: int = 3, size: int = 14) -> GraphDef:
    """A random graph of float32 vectors, each node on one of `devices` CPUs.

    Placeholders `p`, `q` (20 elements) and `w` (40), a constant `c`, then `size` nodes `n0`, `n1`, …; a `Split` halves
    `w`. Values stay below 50 for feeds in [-1, 1]. All vectors have 20 elements, for TensorFlow copies a constant of up
    to 16 that is read on two devices or more to each of them, and sends nothing
    (core/common_runtime/replicate_constants_pass.cc).
    """
    graph = GraphDef()
    graph.versions.producer = tf.version.GRAPH_DEF_VERSION

    def add(name: str, op: str, inputs: list[str], device: str, **attributes: object) -> None:
        attr = {key: attribute(value) for key, value in attributes.items()}
        graph.node.append(NodeDef(name=name, op=op, device=device, input=inputs, attr=attr))

    for name, length in (("p", 20), ("q", 20), ("w", 40)):
        add(name, "Placeholder", [], rng.choice(CPU[:devices]), dtype=tf.float32, shape=[length])
    constant = np.float32([rng.uniform(-1, 1) for _ in range(20)])
    add("c", "Const", [], rng.choice(CPU[:devices]), dtype=tf.float32, value=constant)
    bounds = {"p": 1.0, "q": 1.0, "c": 1.0}  # tensors of 20 elements, and what their values stay below
    for number in range(size):
        name, device = f"n{number}", rng.choice(CPU[:devices])
        op, inputs, made = _random_node(rng, bounds, name)
        bounds |= made
        if op == "Split":
            add(inputs[0], "Const", [], device, dtype=tf.int32, value=np.int32(0))
        add(name, op, inputs, device, T=tf.float32, **({"num_split": 2} if op == "Split" else {}))
    return graph


def _random_node(rng: random.Random, bounds: dict[str, float], name: str) -> tuple[str, list[str], dict[str, float]]:
    """A node that reads some of the last tensors: its op, its inputs, and its outputs with their bounds."""
    op = rng.choice([*BINARY, *UNARY, "Split"])
    if op == "Split":
        return op, [f"{name}_axis", "w"], {name: 1.0, f"{name}:1": 1.0}
    inputs = [rng.choice(list(bounds)[-8:]) for _ in range(2 if op in BINARY else 1)]
    limits = [bounds[tensor] for tensor in inputs]
    bound = {"Mul": np.prod(limits), "Square": limits[0] ** 2, "Maximum": max(limits), "Tanh": 1.0}.get(op, sum(limits))
    if bound > 50:
        op, inputs, bound = "Tanh", inputs[:1], 1.0
    return op, inputs, {name: float(bound)}


def tensors_of(graph: GraphDef) -> list[str]:
    """The tensors of a random graph, `n:0`, those of a Split both; without the axes of the Splits."""
    outputs = {node.name: 2 if node.op == "Split" else 1 for node in graph.node if "_axis" not in node.name}
    return [f"{name}:{index}" for name, count in outputs.items() for index in range(count)]


def random_feeds(rng: random.Random, tensors: list[str]) -> dict[str, np.ndarray]:
    """Values in [-1, 1] for these tensors of a random graph: 40 of them for `w:0`, else 20."""
    generator = np.random.default_rng(rng.randrange(2**32))
    return {name: generator.uniform(-1, 1, 40 if name == "w:0" else 20).astype(np.float32) for name in tensors}


def spelled(rng: random.Random, names: list[str]) -> list[str]:
    """The same tensors; some of `n:0` spelled `n`."""
    return [name.removesuffix(":0") if rng.random() < 0.4 else name for name in names]


# %% nbgrader={"grade": false, "grade_id": "prune-for-step", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The nodes that must run for these fetches when these tensors are fed, in the order of `graph`.

    Raises:
        ValueError: the node of a fetch or feed is not in the graph; the message names it.
    """
    ### BEGIN SOLUTION
    def tensor(name: str) -> str:
        return name if name[0] == "^" or ":" in name else f"{name}:0"

    def node_of(name: str) -> str:
        return name.removeprefix("^").partition(":")[0]

    nodes = {node.name: node for node in graph.node}
    for name in map(node_of, [*fetches, *feeds]):
        if name not in nodes:
            raise ValueError(f"the graph has no node {name!r}")
    fed = set(map(tensor, feeds))
    needed, to_visit = set(), [node_of(name) for name in fetches if tensor(name) not in fed]
    while to_visit:
        name = to_visit.pop()
        if name not in needed:
            needed.add(name)
            to_visit += [node_of(text) for text in nodes[name].input if tensor(text) not in fed]
    return GraphDef(versions=graph.versions, node=[node for node in graph.node if node.name in needed])
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "prune-for-step-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
pruned = prune(seven_nodes(), ["total:0"], ["product"])
assert type(pruned) is GraphDef, f"prune returns a GraphDef, not a {type(pruned).__name__}"
found = [node.name for node in pruned.node]
assert found == ["square", "total"], f"fetch total:0, feed product: square, then total, must run; found {found}"
found = [node.name for node in prune(letters_graph(), ["d"], ["split:1", "base"]).node]
assert found == ["a", "d"], f"exercise 1's graph, fetch d, feed split:1 and base: a, then d, must run; found {found}"
for ghost_fetches, ghost_feeds in ((["ghost:0"], []), (["^ghost"], []), (["total:0"], ["ghost"])):
    try:
        prune(seven_nodes(), ghost_fetches, ghost_feeds)
    except ValueError as error:
        assert "ghost" in str(error), f"the ValueError must name the node ghost; it says {str(error)!r}"
    else:
        raise AssertionError(f"fetches {ghost_fetches}, feeds {ghost_feeds}: there is no node ghost; ValueError is due")


### BEGIN HIDDEN TESTS
def random_question(rng, graph):
    """What to fetch and what to feed; sometimes one half of a Split, sometimes an operation whose output is fed."""
    own = [name for name in tensors_of(graph) if name not in ("p:0", "q:0", "w:0")]
    halves = [name for name in own if name.endswith(":1")]
    half = [name.replace(":1", rng.choice([":0", ":1"])) for name in rng.sample(halves, min(len(halves), 1))]
    cut = sorted({*half, *rng.sample(own[-9:], 2), "p:0", "q:0", "w:0"})
    operations = ["^" + name.partition(":")[0] for name in (*own, *cut[:-3] * 4)]
    return rng.sample([rng.choice(own[-6:]), rng.choice(own), rng.choice(cut), rng.choice(operations)], 2), cut


def check_random_prunings():
    """Random graphs, fetches and feeds, and two known graphs; what TensorFlow keeps for the step."""
    seed = random.SystemRandom().randrange(10**6)
    rng = random.Random(seed)
    known = [(seven_nodes(), ["^square"], ["square:0", "x:0"])]
    known += [(letters_graph(), ["^a", "split:0", "e:0"], ["a:0", "split:0"])]
    cases, answers = [], []
    for case in range(16):
        if case < len(known):
            graph, fetches, cut = known[case]
        else:
            graph = random_graph(rng)
            fetches, cut = random_question(rng, graph)
        if case % 2:
            graph = GraphDef(versions=graph.versions, node=rng.sample(list(graph.node), len(graph.node)))
        hidden, _ = disguise(graph, rng)
        before = {node.name: node.SerializeToString(deterministic=True) for node in hidden.node}
        words = f"seed {seed}, case {case}: fetch {fetches}, feed {cut}"
        try:
            with withheld("tensorflow.compat.v1.Session"):
                pruned = prune(hidden, spelled(rng, fetches), spelled(rng, cut))
        except Exception as error:
            raise AssertionError(f"{words}: prune raised {type(error).__name__}: {error}") from None
        assert type(pruned) is GraphDef, f"{words}: prune returned a {type(pruned).__name__}"
        answers.append((words, [(node.name, node.SerializeToString(deterministic=True)) for node in pruned.node], before))
        cases.append((graph, fetches, [random_feeds(rng, cut)]))
    for (graph, *_), (step,), (words, answer, before) in zip(cases, real_steps(cases), answers, strict=True):
        wanted, found = kept_nodes(graph, step), [name for name, _ in answer]
        assert sorted(found) == sorted(wanted), f"{words}: TensorFlow keeps {sorted(wanted)}, you keep {sorted(found)}"
        assert found == wanted, f"{words}: the order of the graph is {wanted}, yours is {found}"
        for name, text in answer:
            assert text == before[name], f"{words}: {name} was changed"


def check_deep_pruning():
    """A chain of 3,000 nodes, deeper than Python's stack."""
    chain = GraphDef()
    for number in range(3000):
        chain.node.add(name=f"n{number}", op="Q1", input=[f"n{number - 1}"] if number else [])
    try:
        found = len(prune(chain, ["n2999"], ["n1500:0"]).node)
    except RecursionError:
        raise AssertionError("a chain of 3,000 nodes ends Python's recursion: keep a list of nodes to visit") from None
    assert found == 1499, f"a chain of 3,000 nodes, cut by a feed in the middle: 1,499 nodes are due, found {found}"


check_deep_pruning()
check_random_prunings()
### END HIDDEN TESTS

# %% [markdown] after_passing="prune-for-step"
# On random graphs you kept what TensorFlow kept. There it is done by rewriting: `FeedInputs` (core/graph/subgraph.cc)
# puts an `_Arg` (for workers elsewhere: a `_Recv`) where a tensor is fed and moves its readers over, `FetchOutputs` adds
# a node for each fetch, and `PruneForReverseReachability` (core/graph/algorithm.cc) drops what these cannot reach. Ours
# asks at each edge whether it is fed, which leaves the nodes unchanged. It keeps a list of what to visit, since a graph
# may be deeper than Python's stack.

# %% [markdown]
# ## 5. Partitioning: cut along the devices
#
# What is left of the graph is cut into one graph for each device. The nodes only move; what changes are the edges that
# join two devices. For such a **tensor** and each device that reads it there is one `_Send` and one `_Recv`:
#
# | before, in one graph | after, on CPU:0 | after, on CPU:1 |
# | --- | --- | --- |
# | `product`, on CPU:0 | `product` | |
# | | `_Send` with input `product` | `_Recv`, no inputs |
# | `square` and `total`, on CPU:1, read `product` | | `square` and `total` read the `_Recv` |
#
# No edge is left between the two graphs. What ties `_Send` and `_Recv` together is the label in their attribute
# `tensor_name`, which must be the same in both, and another for every other pair.
#
# ### Exercise 5 · Cut along the devices (4 points)
#
# Write `partition(graph: GraphDef) -> dict[str, GraphDef]`: for each device that has a node, the graph of its nodes. In
# `graph` every node stands after those that it reads, edges are data edges only, and every node has a full device name.
#
# - Each node of `graph` is in the graph of its device, in the order of `graph`. Nothing changes in it but the inputs
#   that came from another device: in their place stands the name of the `_Recv`.
# - For each tensor and each *other* device that reads it there is one pair, however many readers. `n` and `n:0` are one
#   tensor, `n:0` and `n:1` are two. The `_Send` has the tensor as its only input and the source's device; the `_Recv`
#   has no input and the destination's device. Both have the attribute `tensor_name` with the value
#   `letter(tensor, source, destination)`, the tensor written with its index.
# - New nodes may have any names, as long as no two nodes of all graphs together have the same.
# - Each graph can be played from top to bottom: every node stands after those that it reads; a `_Send` stands before
#   every node that stood later than its sender; a `_Recv` stands before its first reader and after every node of its
#   graph that stood before that reader. In short: a `_Send` comes directly behind its sender (only other `_Send`s of it
#   between), a `_Recv` directly before its first reader (only its other `_Recv`s between). Then all letters are posted
#   before anything is waited for that could depend on them.
# - A node without a device raises `ValueError` with its name in the message.
#
# Given are `letter` and `label_of`: read them. The cell after them holds `review(graph, parts)`, which says in words what
# is wrong with a result: call it, you need not read it. The tests rename op types and withhold sessions.
#
# ```
# >>> {device[-5:]: [node.name for node in part.node] for device, part in partition(seven_nodes()).items()}
# {'CPU:0': ['x', 'w', 'product', 'send_1', 'recv_2', 'result'], 'CPU:1': ['recv_1', 'square', 'total', 'send_2', 'unused']}
# ```
#
# <details><summary>Hint 1</summary>
#
# Go through the nodes in order and keep a dict of the pairs made so far. What must its key hold, so that two readers on
# one device share a pair, and two outputs of one node do not?
#
# If the pair is made when the reader comes, the `_Recv` falls into its place by itself, but the `_Send` comes too late:
# nodes that stood behind the sender may be written already. So the readers must be known when the *sender* is written.
# </details>
#
# <details><summary>Hint 2</summary>
#
# ```
# # first pass: for each node, which (tensor, destination) pairs leave it, in order, each once
# # second pass: for each node
# #     for each input from another device: is there a _Recv of this tensor on this device? if not, add it now
# #     add a copy of the node, with the names of the _Recvs put in
# #     for each pair that leaves it: add the _Send now
# ```
#
# `part.node.add(name=…, op="_Send", device=…, input=[tensor])`, then `node.attr["tensor_name"].s = text.encode()`.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-letter", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def letter(tensor: str, source: str, destination: str) -> str:
    """The label of a transfer, such as "product:0 from CPU:0 to CPU:1".

    Devices are shortened to CPU:0 and the like, which is enough within one process.
    """
    return f"{tensor} from {source.rpartition('device:')[2]} to {destination.rpartition('device:')[2]}"


def label_of(node: NodeDef) -> str:
    """The label of a `_Send` or `_Recv`, which is its attribute `tensor_name`."""
    return node.attr["tensor_name"].s.decode()


# %% nbgrader={"grade": false, "grade_id": "given-review", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
class Transfer(NamedTuple):
    """A tensor `n:0` that is sent from one device to another."""

    tensor: str
    source: str
    destination: str


def transfers_in(step: RealStep) -> list[Transfer]:
    """The transfers of a step that TensorFlow ran, sorted."""
    nodes = [node for part in step.parts.values() for node in part.node]
    fed = {f"{node.name}:0": step.fed[node.attr["index"].i] for node in nodes if node.op == "_Arg"}
    found = []
    for send in (node for node in nodes if node.op == "_Send"):
        tensor = tensor_name(send.input[0])
        places = [send.attr[side].s.decode() for side in ("send_device", "recv_device")]
        found.append(Transfer(fed.get(tensor, tensor), *places))
    return sorted(found)


def step_graph(graph: GraphDef, step: RealStep) -> GraphDef:
    """The nodes of `graph` that TensorFlow kept for a step, and the placeholders that were fed and read in it."""
    nodes = [node for part in step.parts.values() for node in part.node]
    fed = {step.fed[node.attr["index"].i].partition(":")[0] for node in nodes if node.op == "_Arg"}
    kept = {node.name for node in nodes} | fed
    return GraphDef(versions=graph.versions, node=[node for node in graph.node if node.name in kept])


def review(graph: GraphDef, parts: dict[str, GraphDef]) -> list[str]:
    """What is wrong with `parts` as the answer to `partition(graph)`, in words; empty if nothing was found."""
    if type(parts) is not dict or any(type(part) is not GraphDef for part in parts.values()):
        return [f"partition returns a dict from device to GraphDef, found {type(parts).__name__}"]
    devices = sorted({node.device for node in graph.node})
    if sorted(parts) != devices:
        return [f"graphs are due for the devices {devices}, found {sorted(parts)}"]
    names = Counter(node.name for part in parts.values() for node in part.node)
    wrong = [f"{count} nodes have the name {name!r}" for name, count in names.items() if count > 1]
    wrong = wrong or [text for device, part in parts.items() for text in _about_nodes(graph, device, part)]
    wrong = wrong or _about_labels(parts)
    wrong = wrong or _about_inputs(graph, parts)
    return wrong or [text for part in parts.values() for text in _about_order(graph, part)]


def _about_nodes(graph: GraphDef, device: str, part: GraphDef):
    """Devices, and that the graph's own nodes are there, unchanged but for inputs."""
    known = {node.name: node for node in graph.node}
    for node in part.node:
        if node.device != device:
            yield f"{node.name} is in the graph of {device}, its device is {node.device or 'not set'}"
        if node.name not in known and node.op not in ("_Send", "_Recv"):
            yield f"{node.name} is new and neither a _Send nor a _Recv, but a {node.op}"
        if node.name in known:
            old, new = NodeDef(), NodeDef()
            old.CopyFrom(known[node.name])
            new.CopyFrom(node)
            if len(old.input) != len(new.input):
                yield f"{node.name} has {len(old.input)} inputs, found {len(new.input)}"
            del old.input[:], new.input[:]
            if old != new:
                yield f"of {node.name} only inputs may change"
    own = [node.name for node in graph.node if node.device == device]
    found = [node.name for node in part.node if node.name in known]
    if found != own:
        yield f"the graph of {device} must have the nodes {own} in this order, found {found}"


def _about_labels(parts: dict[str, GraphDef]) -> list[str]:
    """Whether each label is on one _Send and one _Recv."""
    nodes = [node for part in parts.values() for node in part.node]
    wrong = [f"{node.name}: a _Send has one input" for node in nodes if node.op == "_Send" and len(node.input) != 1]
    wrong += [f"{node.name}: a _Recv has no inputs" for node in nodes if node.op == "_Recv" and node.input]
    sides = {op: Counter(label_of(node) for node in nodes if node.op == op) for op in ("_Send", "_Recv")}
    for op, other in (("_Send", "_Recv"), ("_Recv", "_Send")):
        wrong += [f"{count} nodes {op} have the label {label!r}" for label, count in sides[op].items() if count > 1]
        wrong += [f"a {op} has the label {label!r}, no {other} has" for label in sides[op] if label not in sides[other]]
    return wrong


def _about_inputs(graph: GraphDef, parts: dict[str, GraphDef]) -> list[str]:
    """Whether every input comes from the own device and is, through a pair, what it was; and what labels say."""
    place = {node.name: node.device for part in parts.values() for node in part.node}
    nodes = {node.name: node for part in parts.values() for node in part.node}
    sends = {label_of(node): node for node in nodes.values() if node.op == "_Send"}
    reads = [(node, text) for node in nodes.values() for text in node.input]
    lost = [(node, text) for node, text in reads if place.get(text.partition(":")[0]) != node.device]
    wrong = [f"{node.name}, on {node.device}, reads {text}, which is not there" for node, text in lost]
    if wrong:
        return wrong
    for old in graph.node:
        for index, (was, now) in enumerate(zip(old.input, nodes[old.name].input, strict=True)):
            maker = nodes[now.partition(":")[0]]
            seen = sends[label_of(maker)].input[0] if maker.op == "_Recv" and tensor_name(now)[-2:] == ":0" else now
            if tensor_name(seen) != tensor_name(was):
                wrong.append(f"input {index} of {old.name} was {was}; now it is {now}, which brings {seen}")
    for node in nodes.values():
        if node.op == "_Recv":
            sender = sends[label_of(node)]
            due = letter(tensor_name(sender.input[0]), sender.device, node.device)
            if label_of(node) != due:
                wrong.append(f"{node.name}: the label {due!r} is due, found {label_of(node)!r}")
    return wrong


def _about_order(graph: GraphDef, part: GraphDef):
    """Whether a graph can be played from top to bottom."""
    place = {node.name: index for index, node in enumerate(part.node)}
    stood = {node.name: index for index, node in enumerate(graph.node)}
    own = [node for node in part.node if node.name in stood]
    for node in part.node:
        early = [text for text in node.input if place[text.partition(":")[0]] > place[node.name]]
        yield from (f"{node.name} stands before {text}, which it reads" for text in early)
    for send in (node for node in part.node if node.op == "_Send"):
        sender = stood.get(send.input[0].partition(":")[0], -1)
        before = [other.name for other in own if stood[other.name] > sender and place[other.name] < place[send.name]]
        yield from (f"{send.name} sends {send.input[0]}; it must stand before {name}" for name in before)
    for recv in (node for node in part.node if node.op == "_Recv"):
        readers = [node for node in own if any(text.partition(":")[0] == recv.name for text in node.input)]
        if not readers:
            yield f"nobody reads {recv.name}"
            continue
        first = stood[readers[0].name]
        after = [other.name for other in own if stood[other.name] < first and place[other.name] > place[recv.name]]
        words = f"{recv.name} is read first by {readers[0].name}; it must stand after"
        yield from (f"{words} {name}" for name in after)


# %% nbgrader={"grade": false, "grade_id": "partition", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def partition(graph: GraphDef) -> dict[str, GraphDef]:
    """One graph for each device, with a `_Send` and a `_Recv` for each tensor that another device reads.

    Raises:
        ValueError: a node has no device; the message names it.
    """
    ### BEGIN SOLUTION
    place = {node.name: node.device for node in graph.node}
    taken = set(place)

    def new_name(base: str) -> str:
        name = next(name for number in itertools.count(1) if (name := f"{base}_{number}") not in taken)
        taken.add(name)
        return name

    received: dict[tuple[str, str], str] = {}  # tensor, destination: name of the _Recv
    leaving: dict[str, list[tuple[str, str]]] = {node.name: [] for node in graph.node}
    for reader in graph.node:
        if not reader.device:
            raise ValueError(f"{reader.name} has no device")
        for tensor in map(tensor_name, reader.input):
            source = tensor.partition(":")[0]
            if place[source] != reader.device and (tensor, reader.device) not in leaving[source]:
                leaving[source].append((tensor, reader.device))

    parts = {device: GraphDef(versions=graph.versions) for device in dict.fromkeys(place.values())}

    def add(op: str, device: str, inputs: list[str], label: str) -> str:
        added = parts[device].node.add(name=new_name(op[1:].lower()), op=op, device=device, input=inputs)
        added.attr["tensor_name"].s = label.encode()
        return added.name

    for own in graph.node:
        inputs = list(own.input)
        for position, tensor in enumerate(map(tensor_name, own.input)):
            source = place[tensor.partition(":")[0]]
            if source != own.device:
                if (tensor, own.device) not in received:
                    label = letter(tensor, source, own.device)
                    received[tensor, own.device] = add("_Recv", own.device, [], label)
                inputs[position] = received[tensor, own.device]
        copy = parts[own.device].node.add()
        copy.CopyFrom(own)
        copy.input[:] = inputs
        for tensor, destination in leaving[own.name]:
            add("_Send", own.device, [tensor], letter(tensor, own.device, destination))
    return parts
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "partition-test", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
parts = partition(seven_nodes())
wrong = review(seven_nodes(), parts)
assert wrong == [], wrong[0]
sent = sorted(label_of(node) for part in parts.values() for node in part.node if node.op == "_Send")
assert sent == ["product:0 from CPU:0 to CPU:1", "total:0 from CPU:1 to CPU:0"], (
    f"product goes to CPU:1 and total to CPU:0, each once; the letters are {sent}"
)
homeless = seven_nodes()
homeless.node[3].device = ""
try:
    partition(homeless)
except ValueError as error:
    assert "square" in str(error), f"the ValueError must name the node without a device, square; it says {str(error)!r}"
else:
    raise AssertionError("square has no device: partition must raise a ValueError")


### BEGIN HIDDEN TESTS
def outputs_of(node, op, inputs):
    """What a node makes, its disguised op type being `op`."""
    if op == "Const":
        return [tf.make_ndarray(node.attr["value"].tensor)]
    if op == "Split":
        return np.split(inputs[1], 2)
    if op == "Relu":
        return [np.maximum(inputs[0], 0)]
    named = {"AddV2": np.add, "Sub": np.subtract, "Mul": np.multiply, "Neg": np.negative}
    return [(named.get(op) or getattr(np, op.lower()))(*inputs)]


def played(parts, feeds, fetches, ops):
    """Play all parts from top to bottom, taking turns; the fetched values, or which nodes still wait."""
    left = {device: list(part.node) for device, part in parts.items()}
    values, letters, moved = dict(feeds), {}, True
    while moved:
        moved = False
        for nodes in left.values():
            while nodes and (nodes[0].op != "_Recv" or label_of(nodes[0]) in letters):
                node = nodes.pop(0)
                inputs = [values[tensor_name(text)] for text in node.input]
                moved = True
                if node.op == "_Send":
                    letters[label_of(node)] = inputs[0]
                elif node.op == "_Recv":
                    values[f"{node.name}:0"] = letters[label_of(node)]
                elif f"{node.name}:0" not in feeds:
                    outputs = outputs_of(node, ops[node.op], inputs)
                    values |= {f"{node.name}:{index}": value for index, value in enumerate(outputs)}
    waiting = [nodes[0].name for nodes in left.values() if nodes]
    return waiting or [values[fetch] for fetch in fetches]


def respelled(graph, rng):
    """Some inputs `n` written `n:0`, which is the same tensor."""
    made = GraphDef()
    made.CopyFrom(graph)
    for node in made.node:
        node.input[:] = [tensor_name(text) if rng.random() < 0.4 else text for text in node.input]
    return made


def check_random_partitions():
    """Random graphs on two and three devices, cut down by TensorFlow; then its transfers and its values."""
    seed = random.SystemRandom().randrange(10**6)
    rng = random.Random(seed)
    cases = []
    for case in range(12):
        graph = random_graph(rng, devices=2 + case % 2, size=16)
        own = [name for name in tensors_of(graph) if name not in ("p:0", "q:0", "w:0")]
        cases.append((graph, rng.sample(own[-8:], 3), [random_feeds(rng, ["p:0", "q:0", "w:0"])]))
    for case, ((graph, fetches, (feeds,)), (step,)) in enumerate(zip(cases, real_steps(cases), strict=True)):
        whole = respelled(step_graph(graph, step), rng)
        hidden, renamed = disguise(whole, rng)
        words = f"seed {seed}, case {case}"
        copy = GraphDef()
        copy.CopyFrom(hidden)
        try:
            with withheld("tensorflow.compat.v1.Session"):
                parts = partition(copy)
        except Exception as error:
            raise AssertionError(f"{words}: partition raised {type(error).__name__}: {error}") from None
        wrong = review(hidden, parts)
        assert wrong == [], f"{words}: {wrong[0]}"
        labels = sorted(label_of(node) for part in parts.values() for node in part.node if node.op == "_Send")
        due = sorted(letter(*transfer) for transfer in transfers_in(step))
        missing, surplus = sorted(set(due) - set(labels)), sorted(set(labels) - set(due))
        assert labels == due, f"{words}: TensorFlow also sends {missing[:3]}, only you send {surplus[:3]}"
        ops = {name: op for op, name in renamed.items()}
        present = {node.name for node in whole.node}
        fed = {name: value for name, value in feeds.items() if name.partition(":")[0] in present}
        found = played(parts, fed, fetches, ops)
        assert type(found[0]) is not str, f"{words}: played from top to bottom, these wait for each other: {found}"
        for fetch, value, want in zip(fetches, found, step.values, strict=True):
            np.testing.assert_allclose(
                value, want, 1e-4, 1e-4, strict=True, verbose=False, err_msg=f"{words}: {fetch} has another value"
            )


def check_two_outputs():
    """Both halves of a Split cross, to two devices, under two spellings; and nodes with the names of new ones."""
    source = GraphDef()
    source.node.add(name="s", op="Q3", device=CPU[0])
    for number, text in enumerate(["s", "s:0", "s:1", "s:1", "s", "s:1"]):
        source.node.add(name=f"r{number}", op="Q4", device=CPU[1 + number // 3], input=[text])
    for number in range(1, 5):
        for name in (f"send_{number}", f"recv_{number}", f"s/_{number}", f"send{number}", f"recv{number}"):
            source.node.add(name=name, op="Q5", device=CPU[2], input=["r5"])
    copy = GraphDef()
    copy.CopyFrom(source)
    parts = partition(copy)
    wrong = review(source, parts)
    assert wrong == [], f"a node s with two outputs, three readers each on CPU:1 and CPU:2: {wrong[0]}"
    labels = sorted(label_of(node) for part in parts.values() for node in part.node if node.op == "_Send")
    due = sorted(letter(tensor, CPU[0], place) for tensor in ("s:0", "s:1") for place in CPU[1:])
    assert labels == due, f"s:0 and s:1 each go to CPU:1 and to CPU:2; the letters are {labels}"


check_two_outputs()
check_random_partitions()
### END HIDDEN TESTS

# %% [markdown] after_passing="partition"
# Your graphs have the transfers that TensorFlow's have, on random graphs over two and three devices. `Partition`
# (core/graph/graph_partition.cc) keeps its pairs in a table keyed by source node, output and destination (`DupRecvKey`).
# It runs twice: a master cuts by task (`SplitByWorker` in master_session.cc), a worker cuts its part by device
# (`GraphMgr::InitItem`). The order rules are ours; TensorFlow's executors take any order, as the next exercise does.
# Ours goes over the graph twice, because a letter belongs behind its sender, whose readers come later.

# %%
view.partitions(partition(seven_nodes()), title="The whole graph of section 1, cut by partition")

# %% [markdown]
# ## 6. Registration and execution: the worker
#
# A worker is handed a graph **once**. It creates a kernel for every node (lab 1-2: the registry decides which), keeps
# both under a handle, and returns the handle. From then on a step needs no graph: the handle, the values that are fed, and
# the place where this step's letters are posted. You saw it on the lines: after the first step, `RunGraph` alone.
#
# The place for letters is the step's **rendezvous**. The worker posts its `_Send`s there, and takes its `_Recv`s from
# there. The given one has these functions:
#
# | call | what it does |
# | --- | --- |
# | `send(key, value)` | posts a value under a label; a label can be used once |
# | `recv(key)` | waits for the letter with this label and takes it |
# | `any_of(keys)` | waits until one of these labels has been posted, and returns the one that was posted first; takes nothing |
# | `abort(reason)` | everyone who waits, and everyone who comes later, gets `StepAborted` (for exercise 7) |
#
# Who waits longer than 5 seconds gets a `TimeoutError`, so that a mistake ends. In which order may a worker take its
# `_Recv`s? Another worker may be waiting for something of ours before it can post what we want. So whatever can run,
# runs first, and then we take what has come, not what we would like to come.
#
# ### Exercise 6 · Register once, run by handle (5 points)
#
# Write `class Worker`. `Worker(create_kernel)` gets a function: `create_kernel(node)` returns the kernel of a node, a
# function that is called with the values of the node's inputs and returns the list of its outputs. A worker does one run
# at a time, and a graph is not changed by others once it is registered.
#
# - `register(graph: GraphDef) -> str` creates one kernel for each node, but none for a `_Send`, `_Recv` or `Placeholder`,
#   and returns a handle: 16 hexadecimal digits in lower case that count from 1 (`0000000000000001`, …). A handle is never
#   used again. Several graphs may be registered at a time.
# - `run(handle, feeds: dict[str, np.ndarray], fetches: list[str], rendezvous=None) -> list[np.ndarray]` plays the graph and
#   returns the values of the fetches in their order. It creates no kernel, nothing is left of it for the next run, and
#   `feeds` is not changed. Feeds are by tensor with its index (`n:0`), fetches are tensors (`n`, `n:0`, `n:1`). The
#   rendezvous may be None if the graph has no `_Send` and no `_Recv`.
# - A run plays every node of the graph, once, whatever is fetched: the master has pruned before. So all `_Send`s are
#   posted. Nodes may stand in any order.
# - A fed tensor has the fed value, whatever its node would have made. A `Placeholder` of the graph that is not fed raises
#   `tf.errors.InvalidArgumentError` with its name in the message, even if all its readers are fed.
# - While any other node can run, no `_Recv` is waited for. Of several, the one that was posted first is taken. The
#   label of a `_Send` or `_Recv` is `label_of(node)`.
# - `deregister(handle)` forgets a graph. `run` and `deregister` with a handle that is unknown or forgotten raise
#   `tf.errors.AbortedError` with the handle in its message.
#
# Raise TensorFlow's errors as `tf.errors.AbortedError(None, None, "message")`.
#
# ```
# >>> worker = Worker(create_kernel)
# >>> handle = worker.register(seven_nodes()); handle
# '0000000000000001'
# >>> worker.run(handle, {"x:0": np.float32([1] * 20)}, ["result:0"])[0][:3]
# array([0.75, 0.75, 0.75], dtype=float32)
# ```
#
# <details><summary>Hint 1</summary>
#
# A dict from tensor (`n:0`) to value is all that a run needs to remember, and the feeds are its first entries. A node
# can run when the tensors of all its inputs are in the dict. Look again and again at the nodes that have not run.
# </details>
#
# <details><summary>Hint 2</summary>
#
# ```
# values, waiting = dict(feeds), all nodes of the graph
# while waiting:
#     ready = those of waiting that are no _Recv and whose inputs are all in values
#     # play each: a _Send posts; a Placeholder must have been fed; others call their kernel
#     if nothing was ready:
#         key = rendezvous.any_of(labels of the _Recvs in waiting)
#         # take this one, its value is n:0 of that node
# ```
#
# A fed tensor is already in `values`: `values.setdefault(f"{node.name}:{index}", value)` lets it stay.
# </details>
#
# The next cell holds `create_kernel`, and the one after it the rendezvous, whose functions the table above describes.

# %% nbgrader={"grade": false, "grade_id": "given-kernels", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
KERNELS = {"AddV2": np.add, "Sub": np.subtract, "Mul": np.multiply, "Maximum": np.maximum}
KERNELS |= {"Neg": np.negative, "Square": np.square, "Tanh": np.tanh, "Relu": lambda x: np.maximum(x, 0)}


def create_kernel(node: NodeDef) -> Callable[..., list[np.ndarray]]:
    """The kernel for a node: a function that is called with the values of its inputs and returns a list of outputs.

    Raises:
        KeyError: there is no kernel for its op.
    """
    if node.op == "Const":
        value = tf.make_ndarray(node.attr["value"].tensor)
        return lambda: [value]
    if node.op == "Split":
        return lambda axis, value: np.split(value, node.attr["num_split"].i, int(axis))
    compute = KERNELS[node.op]
    return lambda *inputs: [compute(*inputs)]


# %% nbgrader={"grade": false, "grade_id": "given-rendezvous", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
class StepAborted(RuntimeError):
    """The step of a rendezvous was aborted: some other part of it failed."""


class Rendezvous(NamedTuple):
    """The place where the letters of one step are posted and taken. All functions may be called from many threads."""

    send: Callable[[str, np.ndarray], None]
    recv: Callable[[str], np.ndarray]
    any_of: Callable[[list[str]], str]
    abort: Callable[[str], None]


def new_rendezvous(patience: float = 5.0) -> Rendezvous:
    """A rendezvous for one step. Whoever waits longer than `patience` seconds gets a TimeoutError."""
    changed = threading.Condition()
    letters: dict[str, np.ndarray] = {}  # posted and not yet taken, the oldest first
    used: set[str] = set()
    reasons: list[str] = []

    def check() -> None:
        if reasons:
            raise StepAborted(f"the step was aborted: {reasons[0]}")

    def send(key: str, value: np.ndarray) -> None:
        with changed:
            check()
            if key in used:
                raise ValueError(f"a letter was posted under {key!r} before: a step has a rendezvous of its own")
            used.add(key)
            letters[key] = value
            changed.notify_all()

    def any_of(keys: list[str]) -> str:
        wanted = set(keys)
        with changed:
            changed.wait_for(lambda: reasons or wanted & letters.keys(), patience)
            check()
            if not wanted & letters.keys():
                raise TimeoutError(
                    f"nobody posted any of {sorted(wanted)} in {patience} seconds: was every part played, were all "
                    "played at the same time, and was what can run played before anything was waited for?"
                )
            return next(key for key in letters if key in wanted)

    def recv(key: str) -> np.ndarray:
        with changed:
            return letters.pop(any_of([key]))

    def abort(reason: str) -> None:
        with changed:
            reasons.append(reason)
            changed.notify_all()

    return Rendezvous(send, recv, any_of, abort)


def noting(rendezvous: Rendezvous, labels: list[str]) -> Rendezvous:
    """The same rendezvous; the labels of the letters that are posted are noted in a list."""

    def send(key: str, value: np.ndarray) -> None:
        labels.append(key)
        rendezvous.send(key, value)

    return rendezvous._replace(send=send)


# %% nbgrader={"grade": false, "grade_id": "worker", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
class Worker:
    """Keeps graphs with their kernels, and runs them by handle."""

    def __init__(self, create_kernel: Callable[[NodeDef], Callable[..., list[np.ndarray]]]) -> None:
        ### BEGIN SOLUTION
        self._create_kernel = create_kernel
        self._registered: dict[str, tuple[list[NodeDef], dict]] = {}
        self._count = 0
        ### END SOLUTION

    def register(self, graph: GraphDef) -> str:
        """Create the kernels of a graph and keep both; the handle to run it by."""
        ### BEGIN SOLUTION
        without = ("_Send", "_Recv", "Placeholder")
        kernels = {node.name: self._create_kernel(node) for node in graph.node if node.op not in without}
        self._count += 1
        handle = f"{self._count:016x}"
        self._registered[handle] = (list(graph.node), kernels)
        return handle
        ### END SOLUTION

    def run(
        self,
        handle: str,
        feeds: dict[str, np.ndarray],
        fetches: list[str],
        rendezvous: Rendezvous | None = None,
    ) -> list[np.ndarray]:
        """Play a registered graph once; the values of the fetches.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
            tf.errors.InvalidArgumentError: a placeholder was not fed; the message names it.
        """
        ### BEGIN SOLUTION
        nodes, kernels = self._find(handle)
        values, waiting = dict(feeds), list(nodes)

        def can_run(node: NodeDef) -> bool:
            return node.op != "_Recv" and all(tensor_name(text) in values for text in node.input)

        while waiting:
            ready = [node for node in waiting if can_run(node)]
            waiting = [node for node in waiting if not any(node is other for other in ready)]
            for node in ready:
                inputs = [values[tensor_name(text)] for text in node.input]
                if node.op == "_Send":
                    rendezvous.send(label_of(node), inputs[0])
                elif node.op != "Placeholder":
                    for index, value in enumerate(kernels[node.name](*inputs)):
                        values.setdefault(f"{node.name}:{index}", value)
                elif f"{node.name}:0" not in values:
                    raise tf.errors.InvalidArgumentError(None, None, f"placeholder {node.name} must be fed")
            if not ready:
                key = rendezvous.any_of([label_of(node) for node in waiting if node.op == "_Recv"])
                node = next(node for node in waiting if node.op == "_Recv" and label_of(node) == key)
                values[f"{node.name}:0"] = rendezvous.recv(key)
                waiting.remove(node)
        return [values[tensor_name(fetch)] for fetch in fetches]
        ### END SOLUTION

    def deregister(self, handle: str) -> None:
        """Forget a graph.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
        """
        ### BEGIN SOLUTION
        self._find(handle)
        del self._registered[handle]

    def _find(self, handle: str) -> tuple[list[NodeDef], dict]:
        if handle not in self._registered:
            raise tf.errors.AbortedError(None, None, f"Graph handle is not found: {handle}")
        return self._registered[handle]
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "worker-test", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
# examiner: same process – the worker's threads meet those of the test in a live rendezvous
worker = Worker(create_kernel)
handle = worker.register(seven_nodes())
assert handle == "0000000000000001", f"the first handle is 0000000000000001, found {handle!r}"
ones, feeds_of_x = np.ones(20, np.float32), {}
for factor in (1, 2):
    feeds_of_x["x:0"] = factor * ones
    got = worker.run(handle, feeds_of_x, ["result:0", "product"])
    want = real_step(seven_nodes(), ["result:0", "product:0"], {"x:0": factor * ones}).values
    assert type(got) is list and len(got) == 2, f"run returns a list with a value for each of two fetches, found {got!r}"
    for name, value, due in zip(("result:0", "product"), got, want, strict=True):
        np.testing.assert_allclose(
            value, due, 1e-5, strict=True, verbose=False, err_msg=f"x fed with {factor}: {name} is wrong"
        )
    assert list(feeds_of_x) == ["x:0"], f"run must not write into feeds; fed was x:0, now it holds {list(feeds_of_x)}"
for unfed in ({}, {"product:0": ones}):
    try:
        worker.run(handle, unfed, ["result:0"])
    except tf.errors.InvalidArgumentError as error:
        assert re.search(r"\bx\b", error.message), f"the error must name the placeholder x; it says {error.message!r}"
    except Exception as error:
        raise AssertionError(
            f"fed {list(unfed)}, so not x: tf.errors.InvalidArgumentError is due, run raised {type(error).__name__}"
        ) from None
    else:
        raise AssertionError(f"fed {list(unfed)}, so not x: run must raise tf.errors.InvalidArgumentError")
worker.deregister(handle)
second = worker.register(seven_nodes())
assert second == "0000000000000002", f"a handle is never used again: the second ends in 2, found {second!r}"
for name, call in [
    ("run", lambda: worker.run(handle, {"x:0": ones}, ["result:0"])),
    ("deregister", lambda: worker.deregister(handle)),
]:
    try:
        call()
    except tf.errors.AbortedError as error:
        assert handle in error.message, f"the error must hold the handle {handle}; it says {error.message!r}"
    except Exception as error:
        raise AssertionError(
            f"{name} with a forgotten handle must raise tf.errors.AbortedError, it raised {type(error).__name__}"
        ) from None
    else:
        raise AssertionError(f"{name} with a forgotten handle must raise tf.errors.AbortedError, it returned")


### BEGIN HIDDEN TESTS
def side_by_side(calls: list[Callable[[], object]], rendezvous: Rendezvous) -> list[object]:
    """Run functions in threads of their own; what they return. The first error aborts the rendezvous and is raised."""
    results, errors = [None] * len(calls), []

    def run(index: int) -> None:
        try:
            results[index] = calls[index]()
        except Exception as error:
            errors.append(error)
            rendezvous.abort(f"{type(error).__name__}: {error}")

    threads = [threading.Thread(target=run, args=(index,), daemon=True) for index in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(15.0)
    if errors:
        raise errors[0]
    assert not any(thread.is_alive() for thread in threads), "a run has not come to its end after 15 seconds"
    return results


def real_parts(step: RealStep, fetches: list[str]) -> dict[str, tuple[GraphDef, dict[str, str], list[str]]]:
    """TensorFlow's partition graphs of a step, made into graphs for a `Worker`.

    By device: the graph, with `Placeholder` for `_Arg`, without `_Retval`, and with the label in `tensor_name`; which
    feed stands behind which placeholder (`n:0` → name of the feed); the fetches that are made there.
    """
    made = {}
    for device, part in step.parts.items():
        graph, fed, fetched = GraphDef(), {}, []
        for node in part.node:
            if node.op == "_Retval":
                fetched.append(fetches[node.attr["index"].i])
                continue
            moved = graph.node.add()
            moved.CopyFrom(node)
            if node.op == "_Arg":
                moved.op = "Placeholder"
                fed[f"{node.name}:0"] = step.fed[node.attr["index"].i]
            elif node.op in ("_Send", "_Recv"):
                parts = [node.attr[key].s.decode() for key in ("send_device", "recv_device", "tensor_name")]
                moved.attr["tensor_name"].s = ";".join(parts).encode()
        made[device] = (graph, fed, fetched)
    return made


def hide(graph, rng, created, called):
    """Op types renamed but for those that a worker must know, nodes shuffled; and create_kernel for the new names.

    `created` gets the names of the nodes for which a kernel was created, `called` those whose kernel was called.
    """
    hidden, renamed = disguise(graph, rng)
    for node, real in zip(hidden.node, graph.node, strict=True):
        if real.op in ("_Send", "_Recv", "Placeholder"):
            node.op = real.op
    ops = {name: op for op, name in renamed.items()}

    def create(node):
        created.append(node.name)
        assert node.op in ops, f"create_kernel was called for {node.name}, a {node.op}"
        real = NodeDef()
        real.CopyFrom(node)
        real.op = ops[node.op]
        kernel, name = create_kernel(real), node.name
        return lambda *inputs: (called.append(name), kernel(*inputs))[1]

    return GraphDef(node=rng.sample(list(hidden.node), len(hidden.node))), create


def check_random_steps():
    """TensorFlow's own partitions of random steps, one worker for each device, three steps by the same handles."""
    seed = random.SystemRandom().randrange(10**6)
    rng = random.Random(seed)
    cases = []
    for case in range(6):
        graph = random_graph(rng, devices=2 + case % 2, size=20)
        own = [name for name in tensors_of(graph) if name not in ("p:0", "q:0", "w:0")]
        cases.append((graph, rng.sample(own[-8:], 3), [random_feeds(rng, ["p:0", "q:0", "w:0"]) for _ in range(3)]))
    for case, ((_, fetches, turns), steps) in enumerate(zip(cases, real_steps(cases), strict=True)):
        check_random_case(rng, f"seed {seed}, case {case}", fetches, turns, steps)


def check_random_case(rng, words, fetches, turns, steps):
    """One random graph: its partitions are registered once, and run once for each of the turns."""
    places = real_parts(steps[0], fetches)
    workers, handles, due = {}, {}, {}
    created, called = {device: [] for device in places}, {device: [] for device in places}
    for device, (part, _, _) in places.items():
        hidden, create = hide(part, rng, created[device], called[device])
        workers[device] = Worker(create)
        handles[device] = workers[device].register(hidden)
        due[device] = sorted(node.name for node in part.node if node.op not in ("_Send", "_Recv", "Placeholder"))
        assert type(handles[device]) is str, f"{words}: register returned {handles[device]!r}, not a handle"
        assert sorted(created[device]) == due[device], (
            f"{words}: register must create kernels for {due[device]}, it did so for {sorted(created[device])}"
        )
    for turn, (feeds, step) in enumerate(zip(turns, steps, strict=True)):
        truth = dict(zip(fetches, step.values, strict=True))
        rendezvous, calls = new_rendezvous(), []
        for device, (_, fed, fetched) in places.items():
            called[device].clear()
            values = {name: feeds[feed] for name, feed in fed.items()}
            calls.append(partial(workers[device].run, handles[device], values, list(fetched), rendezvous))
        said = f"{words}, step {turn + 1} by the same handles"
        try:
            results = side_by_side(calls, rendezvous)
        except Exception as error:
            raise AssertionError(f"{said}: a worker raised {type(error).__name__}: {error}") from None
        for (device, (_, _, fetched)), values in zip(places.items(), results, strict=True):
            assert type(values) is list and len(values) == len(fetched), (
                f"{said}: {len(fetched)} fetches on {device}, run returned {values!r}"
            )
            for name, value in zip(fetched, values, strict=True):
                np.testing.assert_allclose(
                    value, truth[name], 1e-4, 1e-4, strict=True, verbose=False, err_msg=f"{said}: {name} is wrong"
                )
            assert sorted(created[device]) == due[device], f"{said}: run creates no kernel, but it created some"
            assert sorted(called[device]) == due[device], (
                f"{said}: each node is played once; kernels called were {sorted(called[device])}, due {due[device]}"
            )


def two_letters(first, second):
    """A part that receives two letters, in this order in its graph, and answers the letter `b` by the letter `reply`."""
    part = GraphDef()
    for label in (first, second):
        part.node.add(name=f"r{label}", op="_Recv", device=CPU[0]).attr["tensor_name"].s = label.encode()
    part.node.add(name="early", op="_Send", device=CPU[0], input=["x"]).attr["tensor_name"].s = b"early"
    part.node.add(name="n", op="Neg", device=CPU[0], input=["rb"])
    part.node.add(name="reply", op="_Send", device=CPU[0], input=["n"]).attr["tensor_name"].s = b"reply"
    part.node.add(name="sum", op="AddV2", device=CPU[0], input=["ra:0", "n:0"])
    part.node.add(name="x", op="Placeholder", device=CPU[0])
    return part


def check_order_of_letters():
    """The letter `b` comes only after `early` was read, and `a` only after the reply to `b` was."""
    for order in (("a", "b"), ("b", "a")):
        worker, rendezvous = Worker(create_kernel), new_rendezvous(4.0)
        handle = worker.register(two_letters(*order))

        def other_side(at=rendezvous):
            at.send("b", at.recv("early"))
            at.send("a", 10 * at.recv("reply"))

        calls = [lambda w=worker, h=handle, at=rendezvous: w.run(h, {"x:0": ones}, ["sum"], at), other_side]
        words = f"a graph that receives {order[0]}, then {order[1]}; b is posted after `early` was read, a after the reply"
        try:
            values = side_by_side(calls, rendezvous)[0]
        except Exception as error:
            raise AssertionError(f"{words}: {type(error).__name__}: {error}") from None
        assert type(values) is list and len(values) == 1, f"{words}: run returned {values!r}"
        np.testing.assert_allclose(values[0], -11 * ones, strict=True, err_msg=f"{words}: the sum is wrong")


def check_posted_first():
    """Both letters are there: the one that was posted first is taken first."""
    for posted in ("ab", "ba"):
        taken, at = [], new_rendezvous(4.0)
        for label in posted:
            at.send(label, ones)
        noted = at._replace(recv=lambda key, at=at, taken=taken: (taken.append(key), at.recv(key))[1])
        worker = Worker(create_kernel)
        worker.run(worker.register(two_letters("a", "b")), {"x:0": ones}, [], noted)
        assert taken == list(posted), f"posted were {list(posted)}, in this order; the worker took {taken}"


def check_feeds_and_handles():
    """A fed half of a Split; two registrations side by side; a handle that never was."""
    part = GraphDef()
    part.node.add(name="s", op="Split", input=["axis", "w"]).attr["num_split"].i = 2
    part.node.add(name="axis", op="Const").attr["value"].tensor.CopyFrom(tf.make_tensor_proto(np.int32(0)))
    part.node.add(name="w", op="Placeholder")
    part.node.add(name="d", op="Sub", input=["s:0", "s:1"])
    wide = np.arange(40, dtype=np.float32)
    worker = Worker(create_kernel)
    handles = [worker.register(part), worker.register(two_letters("a", "b")), worker.register(part)]
    for turn, fed in ((0, -ones), (2, 3 * ones)):
        values = worker.run(handles[turn], {"w:0": wide, "s:0": fed}, ["d", "s:1", "s:0", "d:0"])
        due = [fed - wide[20:], wide[20:], fed, fed - wide[20:]]
        assert type(values) is list and len(values) == 4, f"four fetches, one twice: run returned {values!r}"
        for name, value, want in zip(("d", "s:1", "s:0", "d:0"), values, due, strict=True):
            begins = f"it begins with {np.ravel(value)[:2]}, {want[:2]} is due"
            np.testing.assert_allclose(
                value, want, strict=True, verbose=False, err_msg=f"s:0 and w:0 are fed: {name} is wrong, {begins}"
            )
    assert handles == [f"{number:016x}" for number in (1, 2, 3)], f"three graphs were registered; handles are {handles}"
    for ghost in ("00000000000000ff", "1"):
        for call in (lambda g=ghost: worker.run(g, {}, []), lambda g=ghost: worker.deregister(g)):
            try:
                call()
            except tf.errors.AbortedError as error:
                assert ghost in error.message, f"the error must hold the handle {ghost}; it says {error.message!r}"
            except Exception as error:
                raise AssertionError(
                    f"{ghost} was never handed out: tf.errors.AbortedError is due, found {type(error).__name__}"
                ) from None
            else:
                raise AssertionError(f"{ghost} was never handed out: tf.errors.AbortedError is due")
    for _ in range(20):
        worker.deregister(handles[-1])
        handles.append(worker.register(part))
    assert handles[-1] == "0000000000000017", f"23 graphs were registered: the handle is …17, found {handles[-1]!r}"


check_feeds_and_handles()
check_posted_first()
check_order_of_letters()
check_random_steps()
### END HIDDEN TESTS

# %% [markdown] after_passing="worker"
# Your workers ran TensorFlow's own partitions, from threads, and gave its values. `GraphMgr::Register`
# (core/distributed_runtime/graph_mgr.cc) counts handles and makes an executor with all kernels for each device.
# `GraphMgr::ExecuteAsync` refuses an unknown handle as `Aborted`: to a master the sign that the worker was restarted.
# TensorFlow's `_Recv` is asynchronous: `ExecutorState` (core/common_runtime/executor.cc) starts it as soon as the step
# begins and goes on with other nodes. Ours has one thread, so it takes what was posted first and holds nobody up.

# %% [markdown]
# ## 7. Execution: the master runs one step
#
# The parts are registered. Now a step: all parts at once, for each may wait for another; one rendezvous, made for this
# step and for no other; the feeds to whoever holds them, the fetches from whoever makes them.
#
# And if one part fails? Then its letters never come, and the others would wait for ever. So the step is **aborted**,
# which ends all waiting, and the caller must be told what went wrong first, not that others were interrupted by it. In
# the cell CPU:1 waits for what CPU:0 cannot make.

# %%
with tf.Graph().as_default():
    with tf.device(CPU[0]):
        x = tf1.placeholder(tf.float32, [20], name="x")
        checked = tf.debugging.check_numerics(x, "a node on CPU:0 failed", name="checked")
    with tf.device(CPU[1]):
        last = tf.negative(checked, name="last")
    with tf1.Session(config=plain_config(cpus=2)) as session:
        try:
            session.run(last, {x: [float("nan")] * 20})
        except tf.errors.InvalidArgumentError as error:
            print(type(error).__name__, re.search(r".*Tensor had NaN.*", error.message)[0].strip(), sep=": ")


# %% [markdown]
# ### Exercise 7 · The master runs one step (4 points)
#
# Write `run_step(parts, feeds, fetches, play, new_rendezvous) -> list[np.ndarray]`:
#
# - `parts: dict[str, GraphDef]`: the graph of each device. `feeds: dict[str, np.ndarray]` by tensor (`n:0`), `fetches:
#   list[str]` tensors (`n`, `n:0`, `n:1`). The node of each is in exactly one part.
# - `play(part, feeds, fetches, rendezvous) -> list[np.ndarray]` runs one part: with those of the feeds whose node it
#   holds, for those of the fetches whose node it holds, spelled as they came (each once, or as often as it came). It may
#   block until another part has sent, and it raises if a node fails. Play each part once, in a thread of its own, all at
#   the same time, also the parts from which nothing is fetched.
# - `new_rendezvous()` makes a rendezvous: one for the whole step, a new one for each step.
# - The results come in the order of `fetches`, which may name a tensor several times.
# - If a part raises, abort the rendezvous with a reason of your choice (a `str`), wait until all parts have ended, and
#   raise the error that came first in time. Aborting makes other parts fail, with `StepAborted` or an error of their
#   own; these come later and are not raised.
# - A fetch whose node is in no part raises `ValueError` with the node's name, before any part is played.
# - When `run_step` returns or raises, no part is still being played.
#
# ```
# >>> run_step(two_parts(), {"x:0": np.float32([1] * 20)}, ["result:0"], play, new_rendezvous)[0][:3]
# array([0.75, 0.75, 0.75], dtype=float32)
# ```
#
# <details><summary>Hint 1</summary>
#
# First find out, for each part, which feeds and which fetches are its own. Then threads: each puts its values, or its
# error, where you find it after all have ended. Who is first in time? Whoever comes to an empty list of errors.
# </details>
#
# <details><summary>Hint 2</summary>
#
# ```
# home = {node.name: device for each node of each part}
# # refuse unknown fetches
# # one rendezvous; a dict of values, a list of errors, for all threads
#
# def run(device):
#     mine = the fetches of this device, each once
#     try:
#         # play its part; put the values of mine into the dict
#     except Exception as error:
#         # put the error into the list (append is safe from many threads), then abort
# ```
#
# Append before you abort. Start one thread per device, join all, then look at `errors`.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-play", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def play(part: GraphDef, feeds: dict[str, np.ndarray], fetches: list[str], rendezvous: Rendezvous) -> list[np.ndarray]:
    """Play a part from top to bottom, in the order in which its nodes stand; the values of the fetches."""
    values = dict(feeds)
    for node in part.node:
        read = [values[tensor_name(text)] for text in node.input]
        match node.op:
            case "_Send":
                rendezvous.send(label_of(node), *read)
            case "_Recv":
                values[f"{node.name}:0"] = rendezvous.recv(label_of(node))
            case "Placeholder":
                assert f"{node.name}:0" in values, f"the placeholder {node.name} must be fed"
            case _:
                outputs = create_kernel(node)(*read)
                values |= {f"{node.name}:{index}": value for index, value in enumerate(outputs)}
    return [values[tensor_name(text)] for text in fetches]


def two_parts() -> dict[str, GraphDef]:
    """The two partitions that the runtime made in section 1, as graphs for `play`."""
    nodes = {node.name: node for node in seven_nodes().node}
    product, total = letter("product:0", *CPU[:2]), letter("total:0", CPU[1], CPU[0])
    for reader, position in (("square", 0), ("total", 0), ("result", 0)):
        nodes[reader].input[position] = "total/recv" if reader == "result" else "product/recv"
    for name, op, device, inputs, label in [
        ("product/send", "_Send", CPU[0], ["product"], product),
        ("product/recv", "_Recv", CPU[1], [], product),
        ("total/send", "_Send", CPU[1], ["total"], total),
        ("total/recv", "_Recv", CPU[0], [], total),
    ]:
        nodes[name] = NodeDef(name=name, op=op, device=device, input=inputs)
        nodes[name].attr["tensor_name"].s = label.encode()
    orders = [["x", "w", "product", "product/send", "total/recv", "result"]]
    orders += [["product/recv", "square", "total", "total/send"]]
    return {CPU[number]: GraphDef(node=[nodes[name] for name in order]) for number, order in enumerate(orders)}


# %% nbgrader={"grade": false, "grade_id": "run-step", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def run_step(
    parts: dict[str, GraphDef],
    feeds: dict[str, np.ndarray],
    fetches: list[str],
    play: Callable[[GraphDef, dict[str, np.ndarray], list[str], Rendezvous], list[np.ndarray]],
    new_rendezvous: Callable[[], Rendezvous],
) -> list[np.ndarray]:
    """Run one step: all parts at once, with one rendezvous.

    Raises:
        ValueError: the node of a fetch is in no part; the message names it.
        the first error that a part raised.
    """
    ### BEGIN SOLUTION
    home = {node.name: device for device, part in parts.items() for node in part.node}
    for fetch in fetches:
        if fetch.partition(":")[0] not in home:
            raise ValueError(f"no part has the node {fetch.partition(':')[0]!r}")

    def of(device: str, names: list[str]) -> list[str]:
        return [name for name in dict.fromkeys(names) if home.get(name.partition(":")[0]) == device]

    rendezvous, values, errors = new_rendezvous(), {}, []

    def run(device: str) -> None:
        mine = of(device, fetches)
        try:
            fed = {name: feeds[name] for name in of(device, list(feeds))}
            values.update(zip(mine, play(parts[device], fed, mine, rendezvous), strict=True))
        except Exception as error:
            errors.append(error)
            rendezvous.abort(f"{device}: {error}")

    threads = [threading.Thread(target=run, args=(device,)) for device in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return [values[fetch] for fetch in fetches]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "run-step-test", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
# examiner: same process – the threads of a step meet in a live rendezvous
step_names = ["total:0", "product", "result:0", "total:0"]
for factor in (1, 2):
    fed_x = {"x:0": np.full(20, factor, np.float32)}
    got = run_step(two_parts(), dict(fed_x), list(step_names), play, new_rendezvous)
    want = real_step(seven_nodes(), [tensor_name(name) for name in step_names], fed_x).values
    assert type(got) is list and len(got) == 4, f"four fetches, one of them twice: a list of four is due, found {got!r}"
    for name, value, due in zip(step_names, got, want, strict=True):
        np.testing.assert_allclose(
            value, due, 1e-5, strict=True, verbose=False, err_msg=f"x fed with {factor}: {name} is wrong"
        )
try:
    run_step(two_parts(), dict(fed_x), ["result:0", "ghost:0"], play, new_rendezvous)
except ValueError as error:
    assert "ghost" in str(error), f"the ValueError must name the node ghost; it says {str(error)!r}"
else:
    raise AssertionError("no part has the node ghost: run_step must raise a ValueError")


### BEGIN HIDDEN TESTS
def cut(graph: GraphDef) -> dict[str, GraphDef]:
    """What exercise 5 asks for; the new nodes are sorted into their places at the end."""
    stood = {node.name: index for index, node in enumerate(graph.node)}
    place = {node.name: node.device for node in graph.node}
    rows: list[tuple[tuple[int, int], NodeDef]] = []
    receivers: dict[str, str] = {}
    for index, node in enumerate(graph.node):
        copy = NodeDef()
        copy.CopyFrom(node)
        rows.append(((index, 1), copy))
        for position, text in enumerate(node.input):
            tensor = tensor_name(text)
            source = tensor.partition(":")[0]
            if place[source] == node.device:
                continue
            label = letter(tensor, place[source], node.device)
            if label not in receivers:
                receivers[label] = f"pair_{len(receivers)}/recv"
                pair = {"tensor_name": tf1.AttrValue(s=label.encode())}
                names = [f"pair_{len(receivers) - 1}/{side}" for side in ("send", "recv")]
                send = NodeDef(name=names[0], op="_Send", device=place[source], input=[tensor], attr=pair)
                receive = NodeDef(name=names[1], op="_Recv", device=node.device, attr=pair)
                rows += [((stood[source], 2), send), ((index, 0), receive)]
            copy.input[position] = receivers[label]
    rows.sort(key=lambda row: row[0])
    parts: dict[str, GraphDef] = {}
    for _, node in rows:
        parts.setdefault(node.device, GraphDef()).node.append(node)
    return parts


def watched(play):
    """The same function, what was begun (device, feeds, fetches, thread), and the devices of those that have ended."""
    begun, ended = [], []

    def watching(part, feeds, fetches, rendezvous):
        begun.append((part.node[0].device, sorted(feeds), list(fetches), threading.current_thread()))
        try:
            return play(part, feeds, fetches, rendezvous)
        finally:
            ended.append(part.node[0].device)

    return watching, begun, ended


def check_random_steps():
    """Random graphs on two and three devices, two steps each: values, letters, and who was given what."""
    seed = random.SystemRandom().randrange(10**6)
    rng = random.Random(seed)
    cases = []
    for case in range(6):
        graph = random_graph(rng, devices=2 + case % 2, size=20)
        own = [name for name in tensors_of(graph) if name not in ("p:0", "q:0", "w:0")]
        fetches = rng.sample(own[-8:], 3)
        fetches += rng.choices(fetches, k=case % 3)
        cases.append((graph, fetches, [random_feeds(rng, ["p:0", "q:0", "w:0"]) for _ in range(2)]))
    for case, ((graph, fetches, turns), steps) in enumerate(zip(cases, real_steps(cases), strict=True)):
        asked, parts = spelled(rng, fetches), cut(step_graph(graph, steps[0]))
        for turn, (feeds, step) in enumerate(zip(turns, steps, strict=True)):
            check_random_step(f"seed {seed}, case {case}, step {turn + 1}, fetches {asked}", parts, feeds, asked, step)


def check_random_step(words, parts, feeds, asked, step):
    """One step of one random graph."""
    home = {node.name: device for device, part in parts.items() for node in part.node}
    fed = {name: value for name, value in feeds.items() if name.partition(":")[0] in home}
    posted, made = [], []

    def noted_rendezvous():
        made.append(noting(new_rendezvous(), posted))
        return made[-1]

    watching, begun, ended = watched(play)
    try:
        got = run_step(dict(parts), dict(fed), list(asked), watching, noted_rendezvous)
    except Exception as error:
        raise AssertionError(f"{words}: run_step raised {type(error).__name__}: {error}") from None
    assert len(made) == 1, f"{words}: one rendezvous for each step is due, {len(made)} were made"
    assert sorted(call[0] for call in begun) == sorted(parts), (
        f"{words}: each part is played once; played were {sorted(call[0] for call in begun)}"
    )
    assert len(ended) == len(parts), f"{words}: run_step came back while a part was being played"
    for device, part_feeds, part_fetches, _ in begun:
        due = sorted(name for name in fed if home[name.partition(":")[0]] == device)
        assert part_feeds == due, f"{words}: the feeds of {device} are {due}, play was given {part_feeds}"
        due = {name for name in asked if home[name.partition(":")[0]] == device}
        assert set(part_fetches) == due, f"{words}: fetches of {device} are {due}, play was given {part_fetches}"
    due = sorted(letter(*transfer) for transfer in transfers_in(step))
    assert sorted(posted) == due, f"{words}: TensorFlow makes the transfers {due}, yours posted {sorted(posted)}"
    assert type(got) is list and len(got) == len(asked), f"{words}: a list of {len(asked)}, found {got!r}"
    for name, value, want in zip(asked, got, step.values, strict=True):
        np.testing.assert_allclose(
            value, want, 1e-4, 1e-4, strict=True, verbose=False, err_msg=f"{words}: {name} is wrong"
        )


def three_parts(order):
    """A part for each device, in this order, with one node each: `n0`, `n1`, `n2`."""
    return {CPU[i]: GraphDef(node=[NodeDef(name=f"n{i}", op="Neg", device=CPU[i])]) for i in order}


def slow_abort(reasons, begun):
    """A rendezvous whose first abort returns when the parts that it interrupts are over, as TensorFlow's may.

    Over is a part whose thread has ended. A thread may live on, as those of a pool do; then a moment must do.
    """
    at = new_rendezvous(4.0)

    def abort(reason):
        reasons.append(reason)
        at.abort(str(reason))
        others = [call[-1] for call in begun if call[-1] is not threading.current_thread()]
        for thread in others if len(reasons) == 1 else []:
            thread.join(0.25)

    return at._replace(abort=abort)


def error_of_step(words, parts, playing, rendezvous):
    """The error that run_step raises."""
    try:
        got = run_step(parts, {}, ["n0:0"], playing, rendezvous)
    except Exception as error:
        return error
    raise AssertionError(f"{words}: the error of n1 is due, run_step returned {got!r}")


def check_failures():
    """n1 fails. n0 waits for it and is interrupted. n2 waits too, and fails in its own way when it is interrupted."""
    for order in ((0, 1, 2), (2, 1, 0), (1, 0, 2)):
        waiting, interrupted, reasons = {name: threading.Event() for name in ("n0", "n2")}, [], []

        def failing(part, feeds, fetches, rendezvous, waiting=waiting, interrupted=interrupted):
            name = part.node[0].name
            if name == "n1":
                for event in waiting.values():
                    event.wait(2.0)
                raise LookupError("the kernel of n1 failed")
            waiting[name].set()
            try:
                return [rendezvous.recv(f"never sent to {name}")]
            except StepAborted as error:
                interrupted.append(name)
                if name == "n0":
                    raise
                raise OSError("n2 cannot be cleared up") from error

        watching, begun, ended = watched(failing)
        words = f"parts in the order {order}; the part of n1 fails, the others wait for it"
        raised = error_of_step(words, three_parts(order), watching, partial(slow_abort, reasons, begun))
        assert len(begun) == 3, f"{words}: three parts are played, found {len(begun)}"
        assert len(ended) == 3, f"{words}: run_step came back while a part was being played"
        assert sorted(interrupted) == ["n0", "n2"], (
            f"{words}: an abort must end their waiting; interrupted were {sorted(interrupted)}"
        )
        assert type(reasons[0]) is str, f"{words}: the reason of an abort is a str, found {reasons[0]!r}"
        assert type(raised) is LookupError, (
            f"{words}: its LookupError is due, it came first; run_step raised {type(raised).__name__}: {raised}"
        )


def check_last_to_end():
    """n1 fails, n2 is done, and n0, interrupted, does not end before run_step has come back, which it must not do."""
    came_back, waiting = threading.Event(), threading.Event()

    def lasting(part, feeds, fetches, rendezvous):
        name = part.node[0].name
        if name == "n1":
            waiting.wait(2.0)
            raise LookupError("the kernel of n1 failed")
        if name == "n0":
            waiting.set()
            try:
                rendezvous.recv("never sent to n0")
            finally:
                came_back.wait(0.6)  # for a right answer all of it
        return []

    watching, _, ended = watched(lasting)
    words = "the part of n1 fails, that of n0 takes its time to clear up"
    error_of_step(words, three_parts((0, 1, 2)), watching, partial(new_rendezvous, 4.0))
    over = len(ended)
    came_back.set()
    assert over == 3, f"{words}: run_step came back while a part was being played; wait for each, however long it takes"


def check_refusal():
    """An unknown fetch is refused before anything is played."""
    watching, begun, _ = watched(play)
    for names in (["ghost"], ["product:0", "ghost:1"]):
        try:
            run_step(two_parts(), dict(fed_x), names, watching, new_rendezvous)
        except ValueError as error:
            assert "ghost" in str(error), f"the ValueError must name the node ghost; it says {str(error)!r}"
        else:
            raise AssertionError(f"fetches {names}: no part has the node ghost, ValueError is due")
        assert begun == [], f"fetches {names}: refused before any part is played; begun were {[call[0] for call in begun]}"


check_refusal()
check_failures()
check_last_to_end()
check_random_steps()
### END HIDDEN TESTS

# %% [markdown] after_passing="run-step"
# A step of yours gave TensorFlow's values with TensorFlow's transfers, and a failing part ended it with the right error.
# `MasterSession::ReffedClientGraph::RunPartitionsHelper` (core/distributed_runtime/master_session.cc) starts a `RunGraph`
# for each partition; its `RunManyGraphs` collects errors and cancels the other calls at the first. In one process
# `ExecutorBarrier` (core/common_runtime/executor.h) aborts the rendezvous. Errors that follow from it are marked
# (`StatusGroup::MakeDerived`) and yield to the cause. Ours needs no mark: it notes its error before it aborts.

# %% [markdown]
# ## 8. Check: your client, master and workers against TensorFlow
#
# The pieces together. A session of yours: the client has written a graph, the master below prunes it, cuts it,
# registers the parts with your workers at the first step of a kind, and runs every step by handles. One thing is added:
# where a tensor is fed, a placeholder stands in for it, as TensorFlow's `_Arg` does.

# %%
def with_arguments(pruned: GraphDef, graph: GraphDef, feeds: list[str]) -> GraphDef:
    """The pruned graph with a placeholder `arg/n/0`, on the device of `n`, for each fed tensor `n:0` that it reads."""
    place, names = {node.name: node.device for node in graph.node}, {}
    result = GraphDef(versions=graph.versions)
    for tensor in feeds:
        if any(tensor_name(text) == tensor for node in pruned.node for text in node.input):
            names[tensor] = "arg/" + tensor.replace(":", "/")
            result.node.add(name=names[tensor], op="Placeholder", device=place[tensor.partition(":")[0]])
    for node in pruned.node:
        kept = result.node.add()
        kept.CopyFrom(node)
        kept.input[:] = [names.get(tensor_name(text), text) for text in node.input]
    return result


class Master:
    """Serves one session on workers, one for each device."""

    def __init__(self, graph: GraphDef) -> None:
        self.graph, self.plans, self.letters = graph, {}, []
        self.workers = {device: Worker(create_kernel) for device in CPU}

    def run(self, fetches: list[str], feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
        """One step. Fetches and feeds are tensors `n:0`; none is both."""
        kind = (frozenset(fetches), frozenset(feeds))
        if kind not in self.plans:
            pruned = prune(self.graph, fetches, list(feeds))
            parts = partition(with_arguments(pruned, self.graph, list(feeds)))
            self.plans[kind] = parts, {device: self.workers[device].register(part) for device, part in parts.items()}
        parts, handles = self.plans[kind]
        present = {node.name for part in parts.values() for node in part.node}
        arguments = {"arg/" + tensor.replace(":", "/"): value for tensor, value in feeds.items()}
        arguments = {f"{name}:0": value for name, value in arguments.items() if name in present}

        def run_part(part, feeds, fetches, rendezvous):
            device = part.node[0].device
            return self.workers[device].run(handles[device], feeds, fetches, rendezvous)

        return run_step(parts, arguments, fetches, run_part, lambda: noting(new_rendezvous(), self.letters))


def written_by_client(graph: GraphDef) -> GraphDef:
    """The same graph, written node by node with your GraphBuilder."""
    builder = GraphBuilder()
    kinds = {"type": lambda a: tf.as_dtype(a.type), "i": lambda a: a.i, "tensor": lambda a: tf.make_ndarray(a.tensor)}
    kinds["shape"] = lambda a: tf.TensorShape(a.shape).as_list()
    for wanted in graph.node:
        attributes = {key: kinds[value.WhichOneof("value")](value) for key, value in wanted.attr.items()}
        builder.add(wanted.op, list(wanted.input), wanted.name, wanted.device, **attributes)
    return GraphDef(versions=graph.versions, node=builder.graph().node)


rng, cases = random.Random(13), []
for case in range(20):
    graph = written_by_client(random_graph(rng, devices=2 + case % 2, size=16))
    own = [name for name in tensors_of(graph) if name not in ("p:0", "q:0", "w:0")]
    for names in (rng.sample(own, 3), rng.sample(own, 2)):
        cut = sorted({"p:0", "q:0", "w:0", *rng.sample([name for name in own if name not in names], 2)})
        cases.append((graph, names, [random_feeds(rng, cut) for _ in range(2)]))
letters, masters = {2: 0, 3: 0}, [Master(graph) for graph, *_ in cases[::2]]
for case, ((_, names, turns), steps) in enumerate(zip(cases, real_steps(cases), strict=True)):
    master = masters[case // 2]
    for feeds, theirs in zip(turns, steps, strict=True):
        master.letters.clear()
        mine = master.run(names, feeds)
        for value, want in zip(mine, theirs.values, strict=True):
            np.testing.assert_allclose(value, want, rtol=1e-4, atol=1e-4)
        assert len(master.letters) == len(transfers_in(theirs)), "another number of transfers than TensorFlow's"
        letters[2 + case // 2 % 2] += len(master.letters)
assert [len(master.plans) for master in masters] == [2] * 20, "four steps of two kinds: two plans"
print("20 random graphs, 80 steps: the values are TensorFlow's, and so is the number of transfers of every step.")
print(f"Transfers: {letters[2]} on two devices, {letters[3]} on three.")

# %% [markdown]
# ## 9. Play: move the nodes
#
# The graph of section 1, in a plain `session.run` of `result:0` with `x:0` fed. Put each node on a device, and see the
# partitions that the runtime makes of it, and the letters of the step.
#
# - Can you place the nodes so that there are two partitions and only one letter is sent? What is the most you can reach?
# - Start over, then move all nodes to CPU:1. There are still two partitions: which two letters are left, and why?
# - Move `unused` back and forth. Why does nothing change?

# %%
view.spread(seven_nodes(), "result", devices=2)

# %% [markdown]
# ## Read on
#
# | stage | where in TensorFlow 2.21 |
# | --- | --- |
# | construction | python/framework/ops.py: `Graph`, `unique_name`; c/c_api.cc: `TF_FinishOperation` |
# | the client's session | python/client/session.py; core/distributed_runtime/rpc/grpc_session.cc: `GrpcSession` for a master elsewhere, core/common_runtime/direct_session.cc: `DirectSession` for one process |
# | the protocol | core/protobuf/master.proto, worker.proto; master_service.proto and worker_service.proto say which calls there are |
# | the master | core/distributed_runtime/master.cc: `Master`; master_session.cc: `MasterSession`, `ReffedClientGraph` |
# | pruning, partitioning | core/graph/subgraph.cc: `RewriteGraphForExecution`; core/graph/graph_partition.cc: `Partition` |
# | the worker | core/distributed_runtime/worker.cc: `Worker`; graph_mgr.cc: `GraphMgr` |
# | execution | core/common_runtime/executor.cc: `ExecutorState`; core/distributed_runtime/base_rendezvous_mgr.cc |
#
# In one process, `DirectSession` is master and worker in one: `GetOrCreateExecutors` plans and registers, `RunInternal`
# runs, and no protocol is spoken. Labs 3-5 and 3-6 take the two apart; 3-7 and 3-8 go deeper into the stages.
#
# What changed since 1.x: the client is no longer a session but a `tf.function` that is called. Its graph is registered as
# a function with all devices of a cluster, by another service (core/protobuf/eager_service.proto: `EagerService`), and it is
# cut by the same `Partition`, called from core/common_runtime/partitioning_utils.cc. The four stages have stayed.

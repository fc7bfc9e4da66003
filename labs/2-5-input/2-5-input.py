# %% [markdown]
# # Input pipelines
#
# A step needs a batch, and the batch comes from somewhere slower than the step. How does data reach a step without the
# step waiting for it? And how does a pipeline that runs in threads of its own stop, so that no element is lost and no
# thread is left?
#
# At the end you know what each way of feeding costs, you have built TensorFlow's queue with its blocked callers, its
# ways of closing and its shuffled cousin, let threads loose on it, shut a pipeline down in the right order, and built
# `interleave` and `prefetch` of `tf.data`, the first one with a state that can be saved in mid-epoch.
#
# 130 minutes · 22 points · Before this lab: 1-4 (a training job from end to end), 2-1 (the queue as a node with memory) and 2-4 (variables).
#
# When you have saved, `./tflabs check 2-5-input` or Check on the start page grades your answers, also with tests that
# you do not see here.

# %% [markdown]
# ## What the last labs left
#
# Lab 2-4 was about variables: nodes whose value outlives a step, and the order in which they are initialised. A
# variable keeps what a step has **learned**. This lab is about the other thing that a step needs from outside: what it
# learns **from**.
#
# Two pieces are there already. In lab 1-4 a job had two halves, input and training, which met at a queue or at an
# iterator; with a prefetch both worked at the same time. And in lab 2-1 you replayed a queue action by action: what
# would have waited was written down as `"blocks"` and taken back. Here nothing is taken back. Whoever must wait waits,
# in a thread, and the question is what becomes of the waiting when others come, when the queue is closed and when
# something fails.

# %% nbgrader={"grade": false, "grade_id": "given-imports", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
from tflabs.runtime import quiet

with quiet():
    import tensorflow as tf

import itertools
import random
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import NamedTuple

import numpy as np

from tflabs.runtime import plain_config, withheld

tf1 = tf.compat.v1


# %% [markdown]
# ## 1. Look: one step, fed in several ways
#
# The step is small: `model(x)` adds up the squares of a batch. The data: 1000 rows of 10 numbers, float32, so 40,000
# bytes. How does a batch of 32 rows get from Python's memory, or from a file, into the step?
#
# - **feed**: a placeholder; with each `run` Python hands over the batch.
# - **preload**: the array is a constant of the graph, and the graph cuts the batch out of it.
# - **slices**: a pipeline made with `Dataset.from_tensor_slices(array)`, with an iterator in the graph.
# - **records**: a pipeline that reads a file, here of records of fixed length.
# - **queue**: a thread in Python makes batches and puts them into a queue; the step takes them out. (Here once, and
#   without a thread.)

# %% nbgrader={"grade": false, "grade_id": "given-feeding", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def model(x: tf.Tensor) -> tf.Tensor:
    """The sum of the squares of all numbers of a batch, a scalar of the batch's type. Given."""
    return tf.reduce_sum(x * x, name="y")


def serialized_size(graph: tf.Graph) -> int:
    """The bytes of the graph as a GraphDef on the wire. Given."""
    return graph.as_graph_def().ByteSize()


# %%
rows = np.random.default_rng(0).normal(size=(1000, 10)).astype(np.float32)


def feed(path: str) -> tf.Tensor:
    return tf1.placeholder(tf.float32, [None, 10], name="x")


def preload(path: str) -> tf.Tensor:
    position = tf1.get_variable("position", [], tf.int64, tf1.zeros_initializer(), use_resource=True)
    first = position.assign_add(32) - 32
    return tf.constant(rows)[first : first + 32]


def slices(path: str) -> tf.Tensor:
    iterator = tf1.data.make_initializable_iterator(tf1.data.Dataset.from_tensor_slices(rows).batch(32))
    tf1.add_to_collection(tf1.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
    return iterator.get_next()


def records(path: str) -> tf.Tensor:
    raw = tf1.data.FixedLengthRecordDataset(path, record_bytes=rows[0].nbytes)
    iterator = tf1.data.make_initializable_iterator(raw.batch(32))
    tf1.add_to_collection(tf1.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
    return tf.io.decode_raw(iterator.get_next(), tf.float32)


def queue(path: str) -> tf.Tensor:
    room = tf.queue.FIFOQueue(4, tf.float32, shapes=[[32, 10]])
    room.enqueue(tf1.placeholder(tf.float32, [32, 10], name="made"), name="enqueue")
    return room.dequeue()


with tempfile.TemporaryDirectory(prefix="tflabs-input-") as folder:
    file = str(Path(folder) / "rows")
    Path(file).write_bytes(rows.tobytes())
    for way in (feed, preload, slices, records, queue):
        with tf.Graph().as_default() as graph, tf1.Session(config=plain_config()) as session:
            y = model(way(file))
            session.run([tf1.global_variables_initializer(), tf1.tables_initializer()])
            if way is queue:
                session.run("enqueue", {"made:0": rows[:32]})
            result = session.run(y, {"x:0": rows[:32]} if way is feed else {})
            print(f"{way.__name__:8} graph of {serialized_size(graph):6,} bytes   first step: {result:.5f}")

# %% [markdown]
# The same batch and the same result. Two graphs carry the data with them wherever they go, to a worker or into an
# exported model, and at 2 GB a protocol buffer is full. Feeding keeps the graph small, but every batch passes through
# Python, and the step cannot begin before Python has it ready. With the last two the graph holds only a recipe, and the
# data may be made while a step runs.
#
# The queue is the place where both sides meet, so let us watch one. A thread, and in the second picture two, make
# elements, 4 ms each, and put them into a queue with room for 4. The training thread takes one and works on it for 3
# ms. All times, and the queue's size after each operation, are read in the graph with `tf.timestamp` and
# `queue.size()`.

# %%
from tflabs import view


def at_work(seconds: float) -> Callable[[], np.float32]:
    """A slow part of a pipeline: it waits for a disk, say."""

    def work() -> np.float32:
        time.sleep(seconds)
        return np.float32(1.0)

    return work


def in_sequence(*parts: Callable[[], object]) -> list:
    """What the parts return; each is built such that it runs after the one before."""
    results: list = []
    for part in parts:
        with tf.control_dependencies(results[-1:]):
            results.append(part())
    return results


def watched_run(runners: int, elements: int) -> tuple[list[view.Span], list[tuple[float, int]]]:
    """What each thread did, and the queue's size after each operation; times in µs."""
    with tf.Graph().as_default():
        room = tf.queue.FIFOQueue(4, tf.float32, shapes=[[]])
        put = in_sequence(
            tf.timestamp,
            lambda: tf.numpy_function(at_work(0.004), [], tf.float32),
            tf.timestamp,
            lambda: room.enqueue(1.0),
            tf.timestamp,
            room.size,
        )
        taken = in_sequence(
            tf.timestamp,
            room.dequeue,
            tf.timestamp,
            room.size,
            lambda: tf.numpy_function(at_work(0.003), [], tf.float32),
            tf.timestamp,
        )
        close = room.close(cancel_pending_enqueues=True)
        spans, sizes = [], []
        config = plain_config()
        config.inter_op_parallelism_threads, config.use_per_session_threads = 8, True  # a part at work holds a thread
        with tf1.Session(config=config) as session:
            session.run([put[-1], taken[-1]])  # makes the kernels

            def produce(lane: str) -> None:
                while True:
                    try:
                        began, made, came, size = session.run([put[0], put[2], put[4], put[5]])
                    except tf.errors.CancelledError:
                        return
                    spans.append(view.Span(lane, began * 1e6, made * 1e6))
                    spans.append(view.Span(lane, made * 1e6, came * 1e6, waiting=True))
                    sizes.append((came * 1e6, int(size)))

            threads = [threading.Thread(target=produce, args=(f"runner {n + 1}",)) for n in range(runners)]
            for thread in threads:
                thread.start()
            for _ in range(elements):
                asked, got, size, done = session.run([taken[0], taken[2], taken[3], taken[5]])
                spans.append(view.Span("training", asked * 1e6, got * 1e6, waiting=True))
                spans.append(view.Span("training", got * 1e6, done * 1e6))
                sizes.append((got * 1e6, int(size)))
            session.run(close)
            for thread in threads:
                thread.join()
    return sorted(spans, key=lambda span: (span.lane, span.start)), sorted(sizes)


watched = {runners: watched_run(runners, 24) for runners in (1, 2)}
view.queue_levels(*watched[1], capacity=4, title="One runner: an element takes 4 ms, a step 3 ms")

# %%
view.queue_levels(*watched[2], capacity=4, title="Two runners: an element every 2 ms, a step takes 3 ms")

# %% [markdown]
# The level tells which half is the bottleneck. With one runner an element takes 4 ms and a step 3 ms: each element is
# taken as soon as it is there, and training waits in `dequeue`. The level hardly leaves 0, since a dequeue that waits
# gets the element before `size` is read. With two runners an element comes every 2 ms: the queue fills up, and the
# runners wait in `enqueue`. (A busy machine blurs both pictures.) A queue does not make anything faster. It lets both
# halves work at the same time and evens out what is irregular; the slower half decides.
#
# ## 2. What each way costs
#
# ### Exercise 1 · `batch` before or after `repeat` (1 point)
#
# Most ways to feed end in batches, and data are gone through several times. Two pipelines over the numbers 0 to 4:
#
# ```
# repeat_first = tf.data.Dataset.range(5).repeat(2).batch(3)
# batch_first = tf.data.Dataset.range(5).batch(3, drop_remainder=True).repeat(2)
# ```
#
# Say before you run anything which batches each of them gives: `REPEAT_FIRST` and `BATCH_FIRST`, each a list of lists
# of `int`. For `Dataset.range(3).batch(2)` the answer would be `[[0, 1], [2]]`.

# %% nbgrader={"grade": false, "grade_id": "predict-batches", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
# Which batches come, and in which order?
### BEGIN SOLUTION
REPEAT_FIRST = [[0, 1, 2], [3, 4, 0], [1, 2, 3], [4]]
BATCH_FIRST = [[0, 1, 2], [0, 1, 2]]
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "predict-batches-test", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
said = {"REPEAT_FIRST": REPEAT_FIRST, "BATCH_FIRST": BATCH_FIRST}
for name, batches in said.items():
    assert type(batches) is list, f"{name} is a list of batches, found a {type(batches).__name__}"
    kinds = {type(batch) for batch in batches} | {type(number) for batch in batches for number in batch}
    assert kinds == {list, int}, f"each batch of {name} is a list of int, found {batches!r}"
### BEGIN HIDDEN TESTS
numbers = tf.data.Dataset.range(5)
pipelines = {
    "REPEAT_FIRST": (numbers.repeat(2).batch(3), "repeat is first, so batch never sees where a pass ends"),
    "BATCH_FIRST": (numbers.batch(3, drop_remainder=True).repeat(2), "batch sees one pass, and drops its short end"),
}
for name, (pipeline, reason) in pipelines.items():
    came = [batch.tolist() for batch in pipeline.as_numpy_iterator()]
    assert said[name] == came, f"{name}: you predicted {said[name]}, the pipeline gives something else: {reason}"
### END HIDDEN TESTS

# %% [markdown] after_passing="predict-batches"
# Each stage knows only the stage before it: `BatchDatasetOp` (core/kernels/data/batch_dataset_op.cc) asks its input for
# elements until a batch is full or the input is at its end, and behind `RepeatDatasetOp` (repeat_dataset_op.cc) the end
# of a pass cannot be seen. So the order of two calls decides whether a batch may mix two passes, and which rows a model
# never sees.

# %% [markdown]
# ### Exercise 2 · What does each way cost? (2 points)
#
# Write `cost(array, batch, steps)`. `array` is a NumPy array of at least 2 rows (axis 0); `batch` is the rows of a
# batch, `steps` the number of steps (0 or more). The step takes batch after batch; after a pass over the rows the next
# pass begins, and the last batch of each pass may be short: passes do not mix, as in
# `Dataset.from_tensor_slices(array).batch(batch).repeat()`.
#
# The result is a dict with four entries, each a tuple of two `int`: the bytes of array data that stand in the GraphDef,
# and the bytes of array data that Python hands to `run` over all steps together.
#
# - `"feed"`: a placeholder for the batch, fed in each step.
# - `"preload"`: the array is a `tf.constant` of the graph, and the graph cuts the batches out of it.
# - `"slices"`: `tf1.data.make_initializable_iterator` over `Dataset.from_tensor_slices(array)`, built in the graph.
# - `"records"`: a pipeline that reads a file, as `FixedLengthRecordDataset` does; the file was written before.
#
# Array data are the numbers themselves, as many bytes each as their type has. Names, shapes and paths do not count.
# `batch < 1` raises `ValueError`.
#
# ```
# >>> cost(np.arange(10, dtype=np.float32).reshape(5, 2), batch=2, steps=4)["feed"]     # rows: 2, 2, 1, 2
# (0, 56)
# ```
#
# <details><summary>Hint 1</summary>
#
# Where is the array after the graph was built and before the first step? The cell of section 1 printed sizes of
# graphs: which two had the data inside?
# </details>
#
# <details><summary>Hint 2</summary>
#
# `array.nbytes` and `array[0].nbytes` are all you need of the array. A pass has ⌈rows / batch⌉ steps and hands over
# every row once; what is left over of `steps` after whole passes takes min(left · batch, rows) rows more.
# </details>

# %% nbgrader={"grade": false, "grade_id": "three-ways", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def cost(array: np.ndarray, batch: int, steps: int) -> dict[str, tuple[int, int]]:
    """Bytes of array data in the graph, and handed over by Python in all steps, for four ways to feed.

    Raises:
        ValueError: the batch is less than 1.
    """
    ### BEGIN SOLUTION
    if batch < 1:
        raise ValueError(f"a batch has at least one row, not {batch}")
    count = len(array)
    passes, left = divmod(steps, -(-count // batch))
    fed = passes * count + min(left * batch, count)
    inside = (array.nbytes, 0)
    return {"feed": (0, fed * array[0].nbytes), "preload": inside, "slices": inside, "records": (0, 0)}
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "three-ways-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
example = np.arange(10_000, dtype=np.float32).reshape(1000, 10)
costs = cost(example.copy(), 32, 3)
assert type(costs) is dict, f"cost returns a dict, not a {type(costs).__name__}"
ways = ["feed", "preload", "records", "slices"]
assert sorted(costs) == ways, f"the dict has the keys {ways}, found {sorted(costs)}"
for way, pair in costs.items():
    kinds = (type(pair), *map(type, pair))
    assert kinds == (tuple, int, int), f"{way}: a tuple of two int is due, found {pair!r}"
assert costs["feed"] == (0, 3840), f"3 batches of 32 rows of 40 bytes are fed, none is in the graph; found {costs['feed']}"
assert costs["preload"] == (40_000, 0), f"a constant of 40,000 bytes is in the graph; found {costs['preload']}"
idle = cost(example.copy(), 32, 0)["feed"]
assert idle == (0, 0), f"without a step nothing is fed; found {idle!r}"
for bad in (0, -3):
    try:
        refused = cost(example.copy(), bad, 1)
    except ValueError:
        pass
    else:
        raise AssertionError(f"a batch of {bad} rows must raise ValueError; {refused!r} came back")


### BEGIN HIDDEN TESTS
def bytes_in_graph(array, build):
    """The bytes of constants with the array's type and number of elements, in the graph that `build` makes."""
    with tf.Graph().as_default() as graph:
        build(array)
        definition = graph.as_graph_def()
    nodes = [*definition.node, *(node for function in definition.library.function for node in function.node_def)]
    held = [node.attr["value"].tensor for node in nodes if node.op == "Const"]
    own = [t for t in held if t.dtype == tf.as_dtype(array.dtype).as_datatype_enum and tf.TensorShape(t.tensor_shape).num_elements() == array.size]
    return sum(len(tensor.tensor_content) for tensor in own)


graphs = {
    "feed": lambda array: model(tf1.placeholder(array.dtype, [None, *array.shape[1:]])),
    "preload": lambda array: model(tf.constant(array)[:2]),
    "slices": lambda array: model(
        tf1.data.make_initializable_iterator(tf1.data.Dataset.from_tensor_slices(array)).get_next()
    ),
    "records": lambda array: tf1.data.make_initializable_iterator(
        tf1.data.FixedLengthRecordDataset("rows", array[0].nbytes)
    ).get_next(),
}
seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
for case in range(3):
    count, batch = rng.randrange(2, 60), rng.randrange(1, 24)
    steps = [-(-count // batch), rng.randrange(2, 40), rng.randrange(40, 400)][case]
    kind = rng.choice(["float32", "float64", "int32", "int64", "float16"])
    shape = (count, *rng.choice([(), (3,), (2, 5)]))
    array = np.random.default_rng(seed + case).permutation(int(np.prod(shape))).reshape(shape).astype(kind)
    it = f"seed {seed}: {kind} of shape {shape}, batch {batch}, steps {steps}"
    costs = cost(array.copy(), batch, steps)
    assert type(costs) is dict, f"{it}: cost returned a {type(costs).__name__}, not a dict"
    one_pass = [part.nbytes for part in tf.data.Dataset.from_tensor_slices(array).batch(batch).as_numpy_iterator()]
    handed = {"feed": sum(itertools.islice(itertools.cycle(one_pass), steps))}
    for way, build in graphs.items():
        due = (bytes_in_graph(array, build), handed.get(way, 0))
        assert costs.get(way) == due, f"{it}: {way} costs {due}, yours says {costs.get(way)!r}"
### END HIDDEN TESTS

# %% [markdown] after_passing="three-ways"
# Your numbers are those of real graphs. That `from_tensor_slices` puts the array into the graph is a surprise to many:
# `_TensorSliceDataset` (python/data/ops/from_tensor_slices_op.py) makes a constant of it. A proto of more than 2 GB
# cannot be serialised, so a large array ends in an error there. In TensorFlow 2 an eager tensor is not copied into a
# graph until something serialises it, which only moves the surprise to `saved_model.save`.

# %% [markdown]
# ## 3. The queue
#
# A queue in TensorFlow is a list of elements and **two lists of attempts**: those to put in and those to take out. An
# operation on the queue becomes an attempt at the end of its list. Then the queue serves the first attempt of each list
# as far as it can, until nothing moves any more. What is not finished stays in its list. No thread waits inside: a
# `session.run` waits for the callback that belongs to its attempt.
#
# The next cell has a way to run a script on a real queue and see all of that. Each operation is a `session.run` in a
# thread of its own. How to know that an operation has reached the queue, without looking at a clock? The session has
# one thread for its nodes: when a node in front of the operation has run, and then two other steps came and went, the
# operation has been taken up. You need not read it.

# %% nbgrader={"grade": false, "grade_id": "given-scripts", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
PATIENCE = 5.0  # seconds after which a thread that still waits is given up

# What tests withhold: whatever could ask a real queue.
TF_QUEUES = (
    "tensorflow.compat.v1.Session",
    "tensorflow.compat.v1.Session.run",
    "tensorflow.compat.v1.InteractiveSession",
    "tensorflow.python.client.session.BaseSession",
    "tensorflow.python.client.session.BaseSession.make_callable",
    "tensorflow.python.eager.execute.quick_execute",
    "tensorflow.python.ops.data_flow_ops.QueueBase.__init__",
)


class Replay(NamedTuple):
    """What became of a script: per operation its status and values, and the queue's size after it. Given."""

    outcomes: list[tuple[str, list | None]]
    sizes: list[int]


_begun: dict[int, threading.Event] = {}


@cache
def queue_graph(capacity: int, least: int | None) -> tf.Graph:
    """The operations on a queue of int64, each behind a node that tells Python that it runs. Given."""

    def tell(number: np.ndarray) -> np.ndarray:
        _begun[int(number)].set()
        return number

    with tf.Graph().as_default() as graph:
        if least is None:
            room = tf.queue.FIFOQueue(capacity, tf.int64, shapes=[[]])
        else:
            room = tf.queue.RandomShuffleQueue(capacity, least, tf.int64, shapes=[[]])
        values, n = tf1.placeholder(tf.int64, [None], name="values"), tf1.placeholder(tf.int32, [], name="n")
        told = tf.numpy_function(tell, [tf1.placeholder(tf.int64, [], name="number")], tf.int64)
        with tf.control_dependencies([told]):
            room.enqueue_many(values, name="enqueue")
            room.dequeue_many(n, name="dequeue")
            room.dequeue_up_to(n, name="dequeue_up_to")
            room.close(name="close")
            room.close(cancel_pending_enqueues=True, name="cancel")
        room.size(name="size")
    return graph


def on_tensorflow(capacity: int, script: list[tuple], least: int | None = None) -> Replay:
    """Runs a script on a real queue; at its end what still waits is cancelled. Given.

    Args:
        script: of `("enqueue", values)`, `("dequeue", n)`, `("dequeue_up_to", n)`, `("close",)` and `("cancel",)`,
            which is `close(cancel_pending_enqueues=True)`.
        least: None for a FIFOQueue, else min_after_dequeue of a RandomShuffleQueue.
    """
    config = tf1.ConfigProto(inter_op_parallelism_threads=1, use_per_session_threads=True)
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    outcomes: dict[int, tuple[str, list | None]] = {}
    sizes, threads = [], []
    with tf1.Session(graph=queue_graph(capacity, least), config=config) as session:
        size = session.make_callable("size:0")

        def run(number: int, kind: str, feeds: dict) -> None:
            try:
                got = session.run(f"{kind}:0" if "dequeue" in kind else kind, feeds)
                outcomes[number] = ("ok", None if got is None else got.tolist())
            except tf.errors.OpError as error:
                outcomes[number] = (type(error).__name__, None)

        for number, (kind, *rest) in enumerate([*script, ("cancel",)]):
            feeds = {"values:0": rest[0]} if kind == "enqueue" else {"n:0": rest[0]} if rest else {}
            begun = _begun[number] = threading.Event()
            threads.append(threading.Thread(target=run, args=(number, kind, {**feeds, "number:0": number}), daemon=True))
            threads[-1].start()
            if not begun.wait(10 * PATIENCE):
                raise TimeoutError(f"operation {number} of {script} did not begin")
            size()
            sizes.append(int(size()))
        for thread in threads:
            thread.join(10 * PATIENCE)
    return Replay([outcomes[number] for number in range(len(script))], sizes[:-1])


def random_script(rng: random.Random, length: int) -> list[tuple]:
    """A script of `length` operations with different values; most have one or two closes in their second half. Given."""
    values, script = itertools.count(rng.randrange(100)), []
    for _ in range(length):
        kind = rng.choice(["enqueue"] * 5 + ["dequeue"] * 3 + ["dequeue_up_to"] * 2)
        if kind == "enqueue":
            script.append((kind, list(itertools.islice(values, rng.choice([1, 1, 2, 3])))))
        else:
            script.append((kind, rng.randrange(1, 5)))
    for kind in rng.choice([[], ["close"], ["cancel"], ["close", "close"], ["close", "cancel"], ["cancel", "close"]]):
        script.insert(rng.randrange(length // 2, len(script) + 1), (kind,))
    return script


# %%
script = [("enqueue", [1, 2, 3]), ("dequeue_up_to", 2), ("dequeue", 4), ("close",), ("enqueue", [9]), ("dequeue_up_to", 4)]
for operation, outcome, size in zip(script, *on_tensorflow(2, script), strict=True):
    print(f"{operation!s:24} size then {size}   in the end {outcome}")


# %% [markdown]
# A queue with room for 2. The first enqueue has three values: two go in, the third waits. The next operation takes two
# out, and the third value comes in. `dequeue(4)` takes it and waits for three more, so the size is 0. Then the queue is
# closed: the four can never be complete, so the attempt fails, and what it held goes back. The last dequeue asks for up
# to four and gets it.
#
# ### Exercise 3 · A queue is two lists of attempts (5 points)
#
# Complete the class `FIFOQueue(capacity)`. It has no threads and never waits: each call returns what it completed. An
# operation has a **ticket**, an `int` that the caller chose and that no other operation of this queue has.
#
# - `enqueue(ticket, values)`: an attempt to put in a list of values (at least one), in order.
# - `dequeue(ticket, n, up_to=False)`: an attempt to take out n values (n ≥ 1).
# - `close(ticket, cancel_pending=False)`: see below.
# - `size()` returns the number of elements inside, an `int`. What an attempt has taken already is not inside.
#
# The first three return a list of `Done(ticket, status, values)`, in any order: one for each operation that this call
# completed, its own or one that waited. `status` is `"ok"`, `"CancelledError"` or `"OutOfRangeError"`. `values` is the
# list of values of a dequeue that is `"ok"`, otherwise `None`. The rules:
#
# 1. Attempts to put in are served strictly first come, first served; so are those to take out. A small one does not
#    overtake a large one.
# 2. An enqueue puts in what fits and waits with the rest. A dequeue takes what is there and waits for the rest, holding
#    what it took, also with `up_to`.
# 3. `close(ticket)` is an attempt in the list of those to put in: it takes effect after the enqueues that came before
#    it, and is `"ok"` then. An enqueue or a close that comes to its turn on a closed queue is a `"CancelledError"`.
# 4. `close(ticket, cancel_pending=True)` takes effect at once and is always `"ok"`: all waiting attempts to put in,
#    closes too, become `"CancelledError"`. What a cancelled enqueue had put in stays in.
# 5. On a closed queue a dequeue that cannot be filled puts back what it holds: in front, in the old order. With `up_to`
#    it then gets all that is left, if that is anything. Otherwise it becomes an `"OutOfRangeError"`.
#
# `capacity < 1` raises `ValueError`. An example, with a capacity of 2:
#
# ```
# >>> queue = FIFOQueue(2)
# >>> queue.enqueue(0, [1, 2, 3]), queue.size()
# ([], 2)
# >>> queue.dequeue(1, 2), queue.size()
# ([Done(ticket=1, status='ok', values=[1, 2]), Done(ticket=0, status='ok', values=None)], 1)
# >>> queue.dequeue(2, 4), queue.close(3), queue.size()
# ([], [Done(ticket=3, status='ok', values=None), Done(ticket=2, status='OutOfRangeError', values=None)], 1)
# ```
#
# Given is `drive(queue, script)`, which runs a script on your queue and returns a `Replay` as `on_tensorflow` does.
# Compare the two on scripts of your own. Sessions and TensorFlow's queues are withheld while your code is tested.
#
# <details><summary>Hint 1</summary>
#
# All three operations do the same: put an attempt at the end of a list, then let the queue serve both lists. Only
# `cancel_pending` is different, since it does not wait for its turn. An attempt must remember what is left to do: the
# values that did not fit, or the values that it holds.
# </details>
#
# <details><summary>Hint 2</summary>
#
# ```
# repeat
#     serve the first attempt to put in
#     serve the first attempt to take out
# until neither changed anything
# ```
#
# Serving looks at the first attempt of a list, moves what can be moved, completes the attempt if it is
# finished (append to `done`, remove from the list), and returns whether anything changed. `deque.extendleft` puts back
# in front, the last of its argument foremost.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-drive", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
class Done(NamedTuple):
    """An operation that is completed. Given."""

    ticket: int
    status: str
    values: list | None


def drive(queue, script: list[tuple]) -> Replay:
    """Runs a script on a queue of exercise 3, as `on_tensorflow` does on a real one. Tickets are 0, 1, … Given."""
    outcomes: dict[int, tuple[str, list | None]] = {}
    sizes = []
    for ticket, (kind, *rest) in enumerate([*script, ("cancel",)]):
        if kind == "enqueue":
            done = queue.enqueue(ticket, list(rest[0]))
        elif kind == "close":
            done = queue.close(ticket)
        elif kind == "cancel":
            done = queue.close(ticket, cancel_pending=True)
        else:
            done = queue.dequeue(ticket, rest[0], up_to=True) if kind == "dequeue_up_to" else queue.dequeue(ticket, rest[0])
        where = f"operation {ticket}, {(kind, *rest)}, of {script}"
        assert type(done) is list, f"{where}: a list of Done is due, found {done!r}"
        for record in done:
            assert type(record) is Done, f"{where}: the list has a {type(record).__name__} in it, not a Done"
            assert 0 <= record.ticket <= ticket, f"{where}: no operation has the ticket {record.ticket}"
            assert record.ticket not in outcomes, f"{where}: ticket {record.ticket} was completed twice"
            outcomes[record.ticket] = (record.status, record.values)
        sizes.append(queue.size())
    return Replay([outcomes.get(ticket, ("never completed", None)) for ticket in range(len(script))], sizes[:-1])


def difference(script: list[tuple], yours: Replay, due: Replay) -> str:
    """Where two replays of a script differ, in words; empty if they do not. Given."""
    for number, operation in enumerate(script):
        if yours.sizes[number] != due.sizes[number]:
            size, real = yours.sizes[number], due.sizes[number]
            return f"after operation {number}, {operation}, of {script} the size must be {real}, yours is {size!r}"
    for number, operation in enumerate(script):
        if yours.outcomes[number] != due.outcomes[number]:
            got, real = yours.outcomes[number], due.outcomes[number]
            return f"operation {number}, {operation}, of {script} must end in {real}, yours in {got}"
    return ""


# %% nbgrader={"grade": false, "grade_id": "queue", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
class FIFOQueue:
    """A bounded first-in-first-out queue as TensorFlow's, without threads: who must wait stays in a list.

    Raises:
        ValueError: the capacity is less than 1.
    """

    def __init__(self, capacity: int) -> None:
        ### BEGIN SOLUTION
        if capacity < 1:
            raise ValueError(f"a queue has room for at least one element, not for {capacity}")
        self._capacity, self._closed = capacity, False
        self._elements: deque = deque()
        self._putting: deque = deque()  # (ticket, values that did not fit; None for a close)
        self._taking: deque = deque()  # (ticket, n, up_to, values that it holds)
        ### END SOLUTION

    def enqueue(self, ticket: int, values: list) -> list[Done]:
        """Puts values in, as many as fit; the rest waits."""
        ### BEGIN SOLUTION
        self._putting.append((ticket, deque(values)))
        return self._flush()
        ### END SOLUTION

    def dequeue(self, ticket: int, n: int, up_to: bool = False) -> list[Done]:
        """Takes n values out, as many as there are, and waits for the rest; `up_to`: fewer, if the queue is closed."""
        ### BEGIN SOLUTION
        self._taking.append((ticket, n, up_to, []))
        return self._flush()
        ### END SOLUTION

    def close(self, ticket: int, cancel_pending: bool = False) -> list[Done]:
        """Closes the queue, after the enqueues that wait or, with `cancel_pending`, instead of them."""
        ### BEGIN SOLUTION
        if not cancel_pending:
            self._putting.append((ticket, None))
            return self._flush()
        cancelled = [Done(waiting, "CancelledError", None) for waiting, _ in self._putting]
        self._putting.clear()
        self._closed = True
        return [*cancelled, Done(ticket, "ok", None), *self._flush()]
        ### END SOLUTION

    def size(self) -> int:
        """The number of elements inside."""
        ### BEGIN SOLUTION
        return len(self._elements)

    def _flush(self) -> list[Done]:
        done: list[Done] = []
        while self._serve_putting(done) or self._serve_taking(done):
            pass
        return done

    def _serve_putting(self, done: list[Done]) -> bool:
        """Serves the first attempt to put in; whether anything changed."""
        if not self._putting:
            return False
        ticket, rest = self._putting[0]
        status, moved = "ok", False
        if self._closed:
            status = "CancelledError"
        elif rest is None:
            self._closed = True
        else:
            while rest and len(self._elements) < self._capacity:
                self._elements.append(rest.popleft())
                moved = True
            if rest:
                return moved
        self._putting.popleft()
        done.append(Done(ticket, status, None))
        return True

    def _serve_taking(self, done: list[Done]) -> bool:
        """Serves the first attempt to take out; whether anything changed."""
        if not self._taking:
            return False
        ticket, n, up_to, held = self._taking[0]
        if self._closed and len(held) + len(self._elements) < n:
            self._elements.extendleft(reversed(held))
            n = len(self._elements) if up_to else 0
            held = []
        before = len(held)
        while len(held) < n and self._elements:
            held.append(self._elements.popleft())
        if len(held) < n:
            return len(held) > before
        self._taking.popleft()
        done.append(Done(ticket, "ok", held) if held else Done(ticket, "OutOfRangeError", None))
        return True
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "queue-test", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
first = [("enqueue", [1, 2, 3]), ("dequeue", 2), ("dequeue", 4), ("close",)]
drain_it = [("enqueue", [1, 2]), ("enqueue", [3]), ("close",), ("dequeue", 2), ("dequeue_up_to", 5), ("dequeue", 1)]
for capacity, operations in [(2, first), (2, drain_it)]:
    with withheld(*TF_QUEUES):
        yours = drive(FIFOQueue(capacity), operations)
    wrong = difference(operations, yours, on_tensorflow(capacity, operations))
    assert not wrong, f"capacity {capacity}: {wrong}"
for bad in (0, -1):
    try:
        FIFOQueue(bad)
    except ValueError:
        pass
    else:
        raise AssertionError(f"a capacity of {bad} must raise ValueError")
### BEGIN HIDDEN TESTS
seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
fixed = [
    # A close waits behind an enqueue; a second one, and an enqueue, are refused when their turn comes.
    (1, [("enqueue", [1, 2]), ("close",), ("enqueue", [3]), ("close",), ("dequeue", 1), ("dequeue", 1), ("dequeue", 1)]),
    # A dequeue takes what is there while it waits, and gives it back in order.
    (3, [("enqueue", [1, 2, 3]), ("dequeue", 5), ("enqueue", [4]), ("close",), ("dequeue", 2), ("dequeue_up_to", 3)]),
    # A small dequeue does not overtake; after the close it gets what the large one gave back.
    (4, [("enqueue", [1, 2]), ("dequeue", 4), ("dequeue", 1), ("dequeue_up_to", 3), ("cancel",), ("dequeue", 1)]),
    # Up to three, but the queue is open: it waits.
    (4, [("enqueue", [1, 2]), ("dequeue_up_to", 3), ("dequeue", 1), ("enqueue", [3, 4]), ("dequeue_up_to", 3), ("close",)]),
    # What a cancelled enqueue had put in stays in; cancelling always succeeds.
    (2, [("enqueue", [1, 2, 3]), ("close",), ("cancel",), ("cancel",), ("close",), ("dequeue", 2), ("dequeue_up_to", 1)]),
    (1, [("dequeue_up_to", 3), ("dequeue", 2), ("enqueue", [1, 2, 3, 4]), ("cancel",), ("dequeue", 1)]),
]
scripts = [(rng.randrange(1, 6), random_script(rng, rng.randrange(6, 14))) for _ in range(7)]
for capacity, operations in fixed + scripts:
    with withheld(*TF_QUEUES):
        yours = drive(FIFOQueue(capacity), operations)
    wrong = difference(operations, yours, on_tensorflow(capacity, operations))
    assert not wrong, f"seed {seed}, capacity {capacity}: {wrong}"


def shared_queue(rng):
    """Two producers and two consumers call a queue in a random order; then it is closed. What each took, and what is due."""
    queue, sent, received = FIFOQueue(rng.randrange(1, 5)), [0, 0], [[], []]
    waiting, owner = set(), {}

    def settle(done):
        for record in done:
            waiting.discard(owner[record.ticket])
            if owner[record.ticket] in (2, 3) and record.status == "ok":
                received[owner[record.ticket] - 2].append(record.values)

    for ticket in range(24):
        free = [actor for actor in range(4) if actor not in waiting]
        if not free:
            break
        owner[ticket] = actor = rng.choice(free)
        waiting.add(actor)
        if actor < 2:
            count = rng.randrange(1, 4)
            values = [(actor, sent[actor] + number) for number in range(count)]
            sent[actor] += count
            settle(queue.enqueue(ticket, values))
        else:
            settle(queue.dequeue(ticket, rng.randrange(1, 4), up_to=rng.random() < 0.5))
    owner[24] = 4
    settle(queue.close(24))
    for ticket in range(25, 125):
        owner[ticket] = 2
        if waiting.isdisjoint({0, 1}):
            break
        settle(queue.dequeue(ticket, 1))
    settle(queue.dequeue(ticket, 1000, up_to=True))
    return received, sorted((actor, number) for actor in (0, 1) for number in range(sent[actor]))


for round_ in range(25):
    received, due = shared_queue(random.Random(seed + round_))
    came = sorted(value for batches in received for batch in batches for value in batch)
    assert came == due, (
        f"seed {seed + round_}: two producers sent {due} and all was closed and drained, "
        f"but the consumers received {received}: every value must arrive exactly once"
    )
### END HIDDEN TESTS

# %% [markdown] after_passing="queue"
# Your queue does what TensorFlow's does, size for size. The two lists are `enqueue_attempts_` and `dequeue_attempts_` of
# `QueueBase` (core/kernels/queue_base.cc); your loop is `FlushUnlocked`, and `CloseAndCancel` is the close that does
# not wait. The rules for one attempt are closures that `FIFOQueue` (fifo_queue.cc) puts into the list. Our solution
# serves one attempt at a time and asks only whether something moved, so no order of events needs a case of its own.

# %% [markdown]
# ### When a step is cancelled in the middle of a dequeue
#
# An attempt belongs to a step, and a step can be cancelled: by a timeout, by `session.close()`, by an error in another
# of its nodes. What becomes of the values that its dequeue held?

# %%
with tf.Graph().as_default():
    room = tf.queue.FIFOQueue(5, tf.int64, shapes=[[]])
    put_two, take_three = room.enqueue_many([tf.constant([1, 2], tf.int64)]), room.dequeue_many(3)
    with tf1.Session(config=plain_config(cpus=1)) as session:
        session.run(put_two)
        print("size before the step:", session.run(room.size()))
        try:
            session.run(take_three, options=tf1.RunOptions(timeout_in_ms=200))
        except tf.errors.DeadlineExceededError as error:
            print("the step ends with:  ", type(error).__name__)
        print("size after the step: ", session.run(room.size()))


# %% [markdown]
# They are gone: a cancelled attempt is dropped with what it holds, and rule 5 puts back only when the queue is closed.
# So a pipeline that must not lose an element is not stopped by cancelling its readers. It is closed, and drained.
#
# ## 4. Threads at the queue
#
# Your queue is a machine without threads: someone calls a method and learns what was completed, perhaps for others. To
# let threads use it, two things are missing. Only one thread at a time may be inside, since the methods change lists;
# in TensorFlow this is the mutex `mu_`. And a thread whose operation is not completed must sleep until another thread's
# call completes it.
#
# ### Exercise 4 · A queue that threads share (3 points)
#
# **The next cell holds a whole solution of exercise 3: do not read on before exercise 3 is done.**
#
# Complete the class `ThreadQueue(machine)`. `machine` is a queue with the methods of exercise 3 (a `GivenFIFOQueue`, see
# the next cell, or one that watches what you do). Many threads call these methods at the same time:
#
# - `enqueue(values)` returns `None` when all values are in. `close(cancel_pending=False)` returns `None` when it has
#   taken effect.
# - `dequeue(n, up_to=False)` returns the list of values.
# - Each waits as long as its operation is not completed. If the operation ends with an error, the call raises
#   `failure(status)`, a `tf.errors.CancelledError` or `tf.errors.OutOfRangeError`.
# - `size()` returns the machine's size.
#
# What must hold:
#
# - At most one thread at a time is inside a method of the machine, `size` too.
# - Each call calls the machine once, in the calling thread, with a ticket that no other call of this queue gets.
# - A thread returns as soon as its operation is completed, whoever's call did that, and whoever else still waits.
# - If a method of the machine raises an error, the call raises it too, and the queue still serves the other threads.
#
# ```
# >>> queue = ThreadQueue(GivenFIFOQueue(2))
# >>> queue.enqueue([1, 2])
# >>> queue.dequeue(5, up_to=True)      # waits, until another thread has called queue.close()
# [1, 2]
# ```
#
# Given are `run_schedule(ThreadQueue, seed)`, which lets four threads call a queue in an order that it decides, and
# `run_storm(ThreadQueue, seed, ending)`, in which producers and consumers run freely until the queue is closed
# (`"close"`), cancelled (`"cancel"`), or a producer fails (`"error"`). Both return what went wrong in words, or `""`.
# You need not read them; they wait for events, and give a thread up after 5 seconds.
#
# <details><summary>Hint 1</summary>
#
# `threading.Condition` is a lock with a waiting room: `with condition:` takes the lock, `condition.wait_for(predicate)`
# gives it back while it sleeps and has it again when it returns. The call that completes an operation knows its ticket,
# not its thread. Where can it leave the `Done`, and whom must it wake?
# </details>
#
# <details><summary>Hint 2</summary>
#
# One method for all three, called with the machine's method and its arguments:
#
# ```
# with the lock:
#     draw a new ticket                           (itertools.count)
#     call the machine; note every Done that it returns, by ticket
#     wake everybody
#     wait until my ticket is among those that were noted; take it out
# raise, or return the values
# ```
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-machine", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
class GivenFIFOQueue:
    """The queue of exercise 3. `elements` (a list, the first in front) and `closed` may be read by subclasses. Given."""

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"capacity {capacity}: at least 1 is due")
        self.capacity = capacity
        self.elements: list = []
        self.closed = False
        self._givers: list[tuple[int, list | None]] = []
        self._takers: list[tuple[int, int, bool, list]] = []

    def _may_take(self) -> bool:
        """Whether an element may leave now."""
        return len(self.elements) > 0

    def _take(self):
        """Removes an element, and returns it."""
        return self.elements.pop(0)

    def enqueue(self, ticket: int, values: list) -> list[Done]:
        self._givers.append((ticket, list(values)))
        return self._settle([])

    def dequeue(self, ticket: int, n: int, up_to: bool = False) -> list[Done]:
        self._takers.append((ticket, n, up_to, []))
        return self._settle([])

    def close(self, ticket: int, cancel_pending: bool = False) -> list[Done]:
        completed = []
        if cancel_pending:
            self.closed = True
            completed = [Done(giver, "CancelledError", None) for giver, _ in self._givers] + [Done(ticket, "ok", None)]
            self._givers = []
        else:
            self._givers.append((ticket, None))
        return self._settle(completed)

    def size(self) -> int:
        return len(self.elements)

    def waiting(self) -> int:
        """The number of attempts that wait."""
        return len(self._givers) + len(self._takers)

    def _settle(self, completed: list[Done]) -> list[Done]:
        changed = True
        while changed:
            changed = bool(self._givers) and self._give(completed, *self._givers[0])
            changed = (bool(self._takers) and self._hand_out(completed, *self._takers[0])) or changed
        return completed

    def _give(self, completed: list[Done], ticket: int, values: list | None) -> bool:
        """Serves the first giver; whether anything changed."""
        outcome = "CancelledError" if self.closed else "ok"
        if values is None:
            self.closed = True
        elif outcome == "ok":
            room = self.capacity - len(self.elements)
            self.elements += values[:room]
            del values[:room]
            if values:
                return room > 0
        completed.append(Done(ticket, outcome, None))
        del self._givers[0]
        return True

    def _hand_out(self, completed: list[Done], ticket: int, n: int, up_to: bool, got: list) -> bool:
        """Serves the first taker; whether anything changed."""
        if self.closed and len(got) + len(self.elements) < n:
            self.elements[:0] = got
            got, n = [], len(self.elements) if up_to else 0
        had = len(got)
        while len(got) < n and self._may_take():
            got.append(self._take())
        if len(got) < n:
            return had < len(got)
        completed.append(Done(ticket, "ok" if got else "OutOfRangeError", got or None))
        del self._takers[0]
        return True


def failure(status: str) -> tf.errors.OpError:
    """The error that belongs to the status "CancelledError" or "OutOfRangeError". Given."""
    kind = {"CancelledError": tf.errors.CancelledError, "OutOfRangeError": tf.errors.OutOfRangeError}[status]
    return kind(None, None, "the queue is closed")


# %% nbgrader={"grade": false, "grade_id": "given-storms", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
class Started:
    """A function in a thread of its own. Given.

    Attributes:
        outcome: what it returned or the error that it raised, once the thread has ended.
        raised: whether it raised an error.
    """

    def __init__(self, function: Callable, *args) -> None:
        self.outcome: object = "still waiting"
        self.raised = False
        self.thread = threading.Thread(target=self._run, args=(function, *args), daemon=True)
        self.thread.start()

    def _run(self, function: Callable, *args) -> None:
        try:
            self.outcome = function(*args)
        except BaseException as problem:
            self.outcome, self.raised = problem, True

    def end(self) -> str:
        """How it ended, in words."""
        if self.thread.is_alive():
            return "it still waits"
        return f"it {'raised' if self.raised else 'returned'} {self.outcome!r:.300}"

    def wait(self, patience: float = PATIENCE) -> object:
        """The outcome, or "still waiting" after so many seconds."""
        self.thread.join(patience)
        return self.outcome


class WatchedMachine:
    """A GivenFIFOQueue that watches who calls it. Given.

    Args:
        report: is called after each call, still inside of it, with (ticket, method, arguments) and the list of
            Done.
        inside: is called in the middle of each call; by default it lets other threads run.
        broken: a value that cannot be put in: an enqueue that has it raises RuntimeError.
    """

    def __init__(
        self,
        capacity: int,
        report: Callable[[tuple, list[Done]], None] = lambda call, done: None,
        inside: Callable[[], None] = lambda: time.sleep(0),
        broken: object = None,
    ) -> None:
        self.queue = GivenFIFOQueue(capacity)
        self.tickets: list[int] = []
        self.faults: list[str] = []
        self._report, self._inside, self._broken = report, inside, broken
        self._door = threading.Lock()

    def _watch(self, method: Callable, *arguments):
        alone = self._door.acquire(blocking=False)
        if not alone:
            self.faults.append("two threads were inside of the machine at the same time")
        try:
            self._inside()
            return method(*arguments)
        finally:
            if alone:
                self._door.release()

    def _operation(self, method: Callable, ticket: int, *arguments) -> list[Done]:
        if ticket in self.tickets:
            self.faults.append(f"ticket {ticket!r} was used twice")
        self.tickets.append(ticket)

        def operate() -> list[Done]:
            if self._broken is not None and self._broken in (arguments[0] if method == self.queue.enqueue else []):
                raise RuntimeError("the machine refuses this value")
            done = method(ticket, *arguments)
            self._report((ticket, method.__name__, *arguments), done)
            return done

        return self._watch(operate)

    def enqueue(self, ticket: int, values: list) -> list[Done]:
        return self._operation(self.queue.enqueue, ticket, values)

    def dequeue(self, ticket: int, n: int, up_to: bool = False) -> list[Done]:
        return self._operation(self.queue.dequeue, ticket, n, up_to)

    def close(self, ticket: int, cancel_pending: bool = False) -> list[Done]:
        return self._operation(self.queue.close, ticket, cancel_pending)

    def size(self) -> int:
        return self._watch(self.queue.size)


class Crew:
    """Threads that make one call each, when told to. What they do comes back as `events`. Given."""

    def __init__(self, count: int) -> None:
        self.events: SimpleQueue = SimpleQueue()
        self.orders = [SimpleQueue() for _ in range(count)]
        self.threads = [threading.Thread(target=self._work, args=(n,), daemon=True) for n in range(count)]
        for thread in self.threads:
            thread.start()

    def _work(self, number: int) -> None:
        while (order := self.orders[number].get()) is not None:
            method, *arguments = order
            try:
                came = ("ok", method(*arguments))
            except tf.errors.OpError as error:
                came = (type(error).__name__, None)
            except BaseException as raised:
                came = (f"{type(raised).__name__}: {raised}", None)
            self.events.put(("returned", number, came))

    def saw(self, call: tuple, done: list[Done]) -> None:
        """Reports a call of the machine, from the thread that makes it."""
        names = [thread.ident for thread in self.threads]
        caller = threading.get_ident()
        self.events.put(("called", names.index(caller) if caller in names else None, (call, done)))

    def leave(self) -> str:
        """Sends all home; what is wrong if one stays."""
        for order in self.orders:
            order.put(None)
        for thread in self.threads:
            thread.join(PATIENCE)
        return "a thread is left at the end" if any(thread.is_alive() for thread in self.threads) else ""


def run_schedule(make: Callable, seed: int, calls: int = 12) -> str:
    """Four threads call `make(machine)` one after the other in a random order. What went wrong in words, or "". Given."""
    rng, crew = random.Random(seed), Crew(5)
    machine = WatchedMachine(rng.randrange(1, 5), crew.saw)
    queue, owner, waiting, told = make(machine), {}, set(), []
    values = itertools.count()

    def follow(number: int, *order) -> str:
        """Reads events until everybody whose operation is completed has returned."""
        due: dict[int, tuple[str, list | None]] = {}
        called = False
        while not called or due:
            try:
                event, who, what = crew.events.get(timeout=PATIENCE)
            except Empty:
                if called:
                    return f"{told}: the operations of threads {sorted(due)} were completed, but these threads still wait"
                return f"{told}: the last call does not reach the machine"
            if event == "called":
                (ticket, *called_with), completed = what
                if who != number or called_with != list(order):
                    return f"{told}: thread {number} must call the machine with {order}, thread {who} did with {called_with}"
                owner[ticket], called = number, True
                due |= {owner[done.ticket]: (done.status, done.values) for done in completed}
            elif who not in due:
                return f"{told}: thread {who} returned {what} before its operation was completed"
            else:
                outcome = due.pop(who)
                waiting.discard(who)
                if what != outcome:
                    return f"{told}: thread {who} must get {outcome}, got {what}"
        return ""

    fault = ""
    for turn in range(calls + 1):
        free = [number for number in range(4) if number not in waiting] if turn < calls else [4]
        if not free:
            continue
        number = rng.choice(free)
        kind = rng.choice(["enqueue"] * 6 + ["dequeue"] * 6 + ["close"] * (turn > calls // 2)) if turn < calls else "cancel"
        if kind == "enqueue":
            order = ("enqueue", list(itertools.islice(values, rng.randrange(1, 4))))
        elif kind == "dequeue":
            order = ("dequeue", rng.randrange(1, 4), rng.random() < 0.5)
        else:
            order = ("close", kind == "cancel")
        told.append((number, *order))
        waiting.add(number)
        methods = {"enqueue": queue.enqueue, "dequeue": queue.dequeue, "close": queue.close}
        crew.orders[number].put((methods[order[0]], *order[1:]))
        fault = follow(number, *order)
        if fault:
            break
    fault = fault or (f"{told}: threads {sorted(waiting)} still wait" if waiting else "")
    return fault or "; ".join(machine.faults[:1]) or crew.leave()


def run_storm(make: Callable, seed: int, ending: str) -> str:
    """Producers and consumers at `make(machine)`, free running. What went wrong in words, or "". Given.

    Args:
        ending: "close": closed when all producers are done; "cancel": a consumer cancels in the middle; "error": a
            producer fails in the middle, and cancels for it.
    """
    rng = random.Random(seed)
    machine = WatchedMachine(rng.randrange(1, 5))
    queue = make(machine)
    chunks = [[rng.randrange(1, 4) for _ in range(rng.randrange(2, 7))] for _ in range(rng.randrange(1, 4))]
    wishes = [[(rng.randrange(1, 5), rng.random() < 0.5) for _ in range(3)] for _ in range(rng.randrange(1, 4))]
    broken = (rng.randrange(len(chunks)), rng.randrange(2))  # this producer fails at this chunk
    sent, received = [0] * len(chunks), [[] for _ in wishes]
    calls = Counter()

    def produce(who: int) -> None:
        for number, count in enumerate(chunks[who]):
            if ending == "error" and (who, number) == broken:
                calls["made"] += 1
                queue.close(True)
                raise RuntimeError("the source of this producer fails")
            queue.enqueue([(who, sent[who] + offset) for offset in range(count)])
            sent[who] += count

    def consume(who: int) -> None:
        for turn, (n, up_to) in enumerate(itertools.cycle(wishes[who])):
            received[who] += queue.dequeue(n, up_to)
            if ending == "cancel" and who == 0 and turn == 1:
                queue.close(True)

    producers = [Started(produce, who) for who in range(len(chunks))]
    consumers = [Started(consume, who) for who in range(len(wishes))]
    ends = [type(producer.wait()).__name__ for producer in producers]
    closed = Started(queue.close).wait()
    ends += [type(consumer.wait(0.1 if "str" in ends else PATIENCE)).__name__ for consumer in consumers]
    plan = f"ending {ending!r}, producers {chunks}, consumers {wishes}, capacity {machine.queue.capacity}"
    if "str" in ends or closed == "still waiting":
        return f"{plan}: a thread still waits at the end; the threads ended with {ends} ('str': still waits)"
    allowed = {"close": {"NoneType"}, "cancel": {"NoneType", "CancelledError"}}.get(ending, {"CancelledError", "NoneType", "RuntimeError"})
    if not set(ends[: len(chunks)]) <= allowed or set(ends[len(chunks) :]) != {"OutOfRangeError"}:
        return f"{plan}: producers may end with {sorted(allowed)}, consumers with OutOfRangeError; they ended with {ends}"
    if machine.faults or machine.queue.waiting():
        return f"{plan}: {machine.faults[0] if machine.faults else 'attempts are left in the machine'}"
    return _lost_or_doubled(received, machine.queue.elements, sent, [sum(c) for c in chunks], ending, plan)


def _lost_or_doubled(received: list[list], left: list, sent: list[int], total: list[int], ending: str, plan: str) -> str:
    """What is wrong with the elements that arrived or are left, in words, or ""."""
    for who, (least, most) in enumerate(zip(sent, total, strict=True)):
        numbers = sorted(number for part in [*received, left] for owner, number in part if owner == who)
        if numbers != list(range(len(numbers))) or not least <= len(numbers) <= most or (ending == "close" and least < most):
            return f"{plan}: producer {who} put in {least} of {most} elements; of them came out or are left: {numbers}"
        for part in received:
            mine = [number for owner, number in part if owner == who]
            if mine != sorted(mine):
                return f"{plan}: a consumer got the elements of producer {who} in the order {mine}"
    return ""


# %% nbgrader={"grade": false, "grade_id": "threads", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
class ThreadQueue:
    """A queue that many threads call: who must wait, waits. All methods may be called from any thread."""

    def __init__(self, machine) -> None:
        ### BEGIN SOLUTION
        self._machine = machine
        self._changed = threading.Condition()
        self._done: dict[int, Done] = {}
        self._tickets = itertools.count()
        ### END SOLUTION

    def enqueue(self, values: list) -> None:
        """Puts values in; waits until all are in.

        Raises:
            tf.errors.CancelledError: the queue was closed before.
        """
        ### BEGIN SOLUTION
        return self._call(self._machine.enqueue, values)
        ### END SOLUTION

    def dequeue(self, n: int, up_to: bool = False) -> list:
        """Takes n values out; waits until they are there, or with `up_to` until the queue is closed.

        Raises:
            tf.errors.OutOfRangeError: the queue is closed and has too few.
        """
        ### BEGIN SOLUTION
        return self._call(self._machine.dequeue, n, up_to)
        ### END SOLUTION

    def close(self, cancel_pending: bool = False) -> None:
        """Closes the queue; waits until that has taken effect.

        Raises:
            tf.errors.CancelledError: it is closed already.
        """
        ### BEGIN SOLUTION
        return self._call(self._machine.close, cancel_pending)
        ### END SOLUTION

    def size(self) -> int:
        """The number of elements inside."""
        ### BEGIN SOLUTION
        with self._changed:
            return self._machine.size()

    def _call(self, method, *arguments):
        with self._changed:
            ticket = next(self._tickets)
            for done in method(ticket, *arguments):
                self._done[done.ticket] = done
            self._changed.notify_all()
            self._changed.wait_for(lambda: ticket in self._done)
            mine = self._done.pop(ticket)
        if mine.status != "ok":
            raise failure(mine.status)
        return mine.values
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "threads-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
# examiner: same process – the subject is threads that wait in the queue while the test decides who calls next
machine = WatchedMachine(2)
shared = ThreadQueue(machine)
outcome = Started(shared.enqueue, [1, 2]).wait()
assert outcome is None, f"there is room for two: enqueue([1, 2]) must return None at once, it gave {outcome!r}"
assert shared.size() == 2, f"two elements are inside, size() says {shared.size()}"
blocked = Started(shared.enqueue, [3])
outcome = Started(shared.dequeue, 2).wait()
assert outcome == [1, 2], f"dequeue(2) must return [1, 2], it gave {outcome!r}"
outcome = blocked.wait()
assert outcome is None, f"there is room now: the enqueue that waited must return None, it gave {outcome!r}"
outcome = Started(shared.close).wait()
assert outcome is None, f"close() must return None, it gave {outcome!r}"
outcome = Started(shared.dequeue, 5, True).wait()
assert outcome == [3], f"dequeue(5, up_to=True) of a closed queue with one element must return [3], it gave {outcome!r}"
for call, arguments, due in [("dequeue", (1,), "OutOfRangeError"), ("enqueue", ([4],), "CancelledError")]:
    caller = Started({"dequeue": shared.dequeue, "enqueue": shared.enqueue}[call], *arguments)
    ended = (type(caller.wait()).__name__, caller.raised)
    assert ended == (due, True), f"{call} on a closed empty queue must raise tf.errors.{due}, {caller.end()}"
assert not machine.faults, machine.faults[0]
for seed in range(3):
    wrong = run_schedule(ThreadQueue, seed)
    assert not wrong, f"run_schedule(ThreadQueue, {seed}): (thread, what it calls, with what): {wrong}"
### BEGIN HIDDEN TESTS
# A thread is kept inside of the machine; nobody else may come in, whatever they call.
for call in ("enqueue", "dequeue", "close", "size"):
    reached, go, first_visit = threading.Event(), threading.Event(), [True]

    def keep_the_first(reached=reached, go=go, first_visit=first_visit):
        if first_visit and first_visit.pop():
            reached.set()
            go.wait(PATIENCE)

    machine = WatchedMachine(3, inside=keep_the_first)
    shared = ThreadQueue(machine)
    visitor = Started(shared.enqueue, [1])
    assert reached.wait(PATIENCE), "enqueue must call the machine, in the calling thread"
    arguments = {"enqueue": ([2],), "dequeue": (1,), "close": (), "size": ()}[call]
    method = {"enqueue": shared.enqueue, "dequeue": shared.dequeue, "close": shared.close, "size": shared.size}[call]
    second = Started(method, *arguments)
    second.wait(0.02)
    go.set()
    outcomes = [visitor.wait(), second.wait()]
    assert not machine.faults, f"one thread was inside of enqueue, another called {call}: {machine.faults[0]}"
    due = {"enqueue": None, "dequeue": [1], "close": None, "size": 1}[call]
    assert outcomes == [None, due], f"enqueue([1]) and then {call}{arguments} must give {[None, due]}, gave {outcomes}"

# An error of the machine goes to the caller, and to nobody else.
machine = WatchedMachine(2, broken="bad")
shared = ThreadQueue(machine)
waiter = Started(shared.dequeue, 2)
ended = []
for values in ([1], ["bad"], [2]):
    caller = Started(shared.enqueue, values)
    ended.append((type(caller.wait()).__name__, caller.raised))
assert ended == [("NoneType", False), ("RuntimeError", True), ("NoneType", False)], (
    f"three enqueues, the machine raises a RuntimeError in the second: (what came, raised?) must tell so, found {ended}"
)
assert waiter.wait() == [1, 2], f"the thread that waited for two elements must get [1, 2], got {waiter.outcome!r}"
assert len(machine.tickets) == 4, f"four calls call the machine four times, not {len(machine.tickets)}"

seed = random.SystemRandom().randrange(10**6)
for number in range(seed, seed + 110):
    wrong = run_schedule(ThreadQueue, number, 9)
    assert not wrong, f"run_schedule(ThreadQueue, {number}, 9): (thread, what it calls, with what): {wrong}"
before = set(threading.enumerate())
for number in range(seed, seed + 99):
    ending = ("close", "cancel", "error")[number % 3]
    wrong = run_storm(ThreadQueue, number, ending)
    assert not wrong, f"run_storm(ThreadQueue, {number}, {ending!r}): {wrong}"
left = [thread.name for thread in threading.enumerate() if thread not in before]
assert not left, f"after 99 storms threads are left: {left}"
### END HIDDEN TESTS

# %% [markdown] after_passing="threads"
# In hundreds of schedules no element was lost or doubled and no thread was left: not when the queue was closed, not
# when waiting producers were cancelled, not when one of them failed. TensorFlow has the same lock (`QueueBase::mu_`) but
# no waiting room: its kernels are `AsyncOpKernel`s (core/kernels/queue_op.h), so an attempt holds a callback, and only
# the client's thread sleeps, in `Session.run`. Ours wakes everybody, because a `Done` names a ticket and not a thread.

# %% [markdown]
# Your two classes together: two consumers, and then three producers, come to your queue of exercise 3.

# %%
shared, batches = ThreadQueue(FIFOQueue(3)), {"left": [], "right": []}


def consume(name: str) -> None:
    while True:
        batches[name].append(shared.dequeue(4, up_to=True))


consumers = [Started(consume, name) for name in batches]
producers = [Started(shared.enqueue, [10 * who + number for number in range(6)]) for who in (1, 2, 3)]
for producer in producers:
    producer.wait()
shared.close()
print("consumers end with", [type(consumer.wait()).__name__ for consumer in consumers])
print(batches)
print("elements:", sum(len(batch) for part in batches.values() for batch in part), "of 18, size", shared.size())

# %% [markdown]
# ## 5. A queue that shuffles
#
# Training wants its examples in random order, and a file has them in one order. `tf.queue.RandomShuffleQueue` is a bag:
# whoever takes gets an element at random. But a bag with two elements shuffles badly. So it has a limit:
# `min_after_dequeue` elements must stay inside as long as more may come.

# %%
script = [("enqueue", [0, 1, 2, 3, 4, 5]), ("dequeue", 6), ("close",)]
for operation, outcome, size in zip(script, *on_tensorflow(8, script, least=2), strict=True):
    print(f"{operation!s:36} size then {size}   in the end {outcome}")


# %% [markdown]
# The dequeue of six takes four and waits: two must stay. After the close nobody can come any more, the limit is gone,
# and it gets the rest.
#
# ### Exercise 5 · `min_after_dequeue` (2 points)
#
# Complete the class `ShuffleQueue(capacity, min_after_dequeue, choose)`, a subclass of `GivenFIFOQueue` (given in
# exercise 4). It has two methods to override, and nothing else needs to change:
#
# - `_may_take()` returns whether an element may leave now (`bool`): only while more than `min_after_dequeue` are
#   inside; on a closed queue while there is any.
# - `_take()` removes one element of `self.elements` (a list) and returns it: that at the index which `choose(n)` gives,
#   where n is the number of elements inside at that moment. `choose` is called once for each removal. In which order
#   the others stand afterwards is up to you. New elements are appended.
#
# `self.closed` says whether the queue is closed. A `min_after_dequeue` that is negative or not less than the capacity
# raises `ValueError`, and so does a capacity below 1.
#
# ```
# >>> bag = ShuffleQueue(4, 1, choose=lambda n: n - 1)
# >>> bag.enqueue(0, ["a", "b", "c"])
# [Done(ticket=0, status='ok', values=None)]
# >>> bag.dequeue(1, 2), bag.dequeue(2, 1)
# ([Done(ticket=1, status='ok', values=['c', 'b'])], [])
# ```
#
# <details><summary>Hint 1</summary>
#
# The base class asks `_may_take()` before each single element, also in the middle of a `dequeue` of many.
# </details>
#
# <details><summary>Hint 2</summary>
#
# `_may_take` is one comparison with a limit that is 0 when closed. `_take` is one line: `list.pop` takes an index.
# Check the arguments, then call `super().__init__(capacity)`.
# </details>

# %% nbgrader={"grade": false, "grade_id": "shuffle", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
class ShuffleQueue(GivenFIFOQueue):
    """A queue that gives its elements in the order in which `choose` picks them.

    Raises:
        ValueError: min_after_dequeue is negative or not less than the capacity.
    """

    def __init__(self, capacity: int, min_after_dequeue: int, choose: Callable[[int], int]) -> None:
        ### BEGIN SOLUTION
        if not 0 <= min_after_dequeue < capacity:
            raise ValueError(f"min_after_dequeue is {min_after_dequeue}: it must be from 0 to {capacity - 1}")
        super().__init__(capacity)
        self._least, self._choose = min_after_dequeue, choose
        ### END SOLUTION

    def _may_take(self) -> bool:
        """Whether an element may leave now."""
        ### BEGIN SOLUTION
        return len(self.elements) > (0 if self.closed else self._least)
        ### END SOLUTION

    def _take(self):
        """Removes the element at the index that `choose` gives, and returns it."""
        ### BEGIN SOLUTION
        return self.elements.pop(self._choose(len(self.elements)))
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "shuffle-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
noted = []
bag = ShuffleQueue(4, 1, lambda n: noted.append(n) or n - 1)
answer = bag._may_take()
assert type(answer) is bool, f"_may_take() returns True or False, it gave {answer!r}"
bag.enqueue(0, ["a", "b", "c"])
got = bag.dequeue(1, 2)
assert got == [Done(1, "ok", ["c", "b"])], f"of a, b, c the last two must leave, the last one first; got {got!r}"
assert noted == [3, 2], f"choose must be called with the number of elements inside, 3 and then 2; it got {noted}"
got = bag.dequeue(2, 1)
assert got == [], f"one element is inside, and min_after_dequeue is 1: the dequeue must wait; got {got!r}"
got = bag.close(3)
assert sorted(got) == [Done(2, "ok", ["a"]), Done(3, "ok", None)], f"after close the last element may leave; got {got!r}"
for capacity, least in [(3, 3), (3, 4), (3, -1), (0, 0)]:
    try:
        ShuffleQueue(capacity, least, lambda n: n - 1)
    except ValueError:
        pass
    else:
        raise AssertionError(f"capacity {capacity} and min_after_dequeue {least} must raise ValueError")
### BEGIN HIDDEN TESTS
seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
fixed = [
    (4, 2, [("enqueue", [1, 2, 3, 4]), ("dequeue", 3), ("dequeue", 1), ("enqueue", [5]), ("close",), ("dequeue_up_to", 4)]),
    (3, 1, [("enqueue", [1, 2, 3, 4, 5]), ("dequeue_up_to", 2), ("dequeue", 2), ("cancel",), ("dequeue", 1), ("dequeue", 1)]),
    (2, 0, [("enqueue", [1]), ("dequeue", 2), ("close",), ("dequeue_up_to", 2), ("dequeue_up_to", 2)]),
]
scripts = []
for _ in range(5):
    capacity = rng.randrange(2, 7)
    scripts.append((capacity, rng.randrange(capacity), random_script(rng, rng.randrange(6, 13))))
for capacity, least, operations in fixed + scripts:
    sizes_noted = []

    def choose_noted(n, sizes_noted=sizes_noted):
        sizes_noted.append(n)
        return rng.randrange(n)

    it = f"seed {seed}: capacity {capacity}, min_after_dequeue {least}, {operations}"
    yours = drive(ShuffleQueue(capacity, least, choose_noted), operations)
    due = on_tensorflow(capacity, operations, least)
    assert yours.sizes == due.sizes, f"{it}: the sizes must be {due.sizes}, yours are {yours.sizes}"
    counts = [[(status, values and len(values)) for status, values in replay.outcomes] for replay in (yours, due)]
    assert counts[0] == counts[1], f"{it}: status and number of values must be {counts[1]}, yours are {counts[0]}"
    came = [value for _, values in yours.outcomes for value in values or []]
    put = [value for kind, *rest in operations if kind == "enqueue" for value in rest[0]]
    assert len(came) == len(set(came)) and set(came) <= set(put), f"{it}: not every value came once; came {came}"
    assert len(sizes_noted) >= len(came), f"{it}: {len(came)} elements left, choose was called {len(sizes_noted)} times"
# choose decides which one leaves.
for pick in range(4):
    bag = ShuffleQueue(5, 0, lambda n: min(pick, n - 1))  # noqa: B023
    bag.enqueue(0, ["a", "b", "c", "d"])
    got = bag.dequeue(1, 1)
    assert got == [Done(1, "ok", ["abcd"[pick]])], f"choose(4) gave {pick}: {'abcd'[pick]} of a, b, c, d must leave; got {got!r}"
### END HIDDEN TESTS

# %% [markdown] after_passing="shuffle"
# Against TensorFlow's bag your sizes and statuses agree through random scripts. `RandomShuffleQueue`
# (core/kernels/random_shuffle_queue_op.cc) has the same few lines around the rule: `min_after_dequeue_`, set aside when
# `closed_`. It fills the hole with the last element, so that taking costs the same at any size. Ours is one `pop`,
# because nothing may depend on the order inside a bag.

# %% [markdown]
# ## 6. Threads that fill the queue, and how they stop
#
# Who runs the enqueues? In TensorFlow 1 it was Python: a `QueueRunner` has a list of enqueue ops and starts one thread
# for each, which runs its op again and again. A `Coordinator` is what all threads share: whoever has a reason to stop
# says so (`request_stop`), everybody asks (`should_stop`), and the first error is kept until `join` raises it.
#
# The hard part is the end. Each source ends when it likes, with an `OutOfRangeError`. The queue may be closed only when
# the **last** one has ended, and not by cancelling, since others may wait with an element in their hands. The reader
# goes on until the closed queue is empty. And only then may anyone wait for the threads: a thread that waits in an
# enqueue, for room that nobody makes any more, never ends.
#
# ### Exercise 6 · Shut down without losing an element (3 points)
#
# Write `drain(sources, capacity, batch)`. `sources` is a list of functions without arguments, as `source(values)`,
# given, makes them: called, each adds a source to the default graph and returns its next element, an int64 scalar
# tensor. Build in a graph of your own, calling each function once, one enqueue op for each source and one
# `tf.queue.FIFOQueue` of that capacity; run the enqueue ops in threads, all at the same time; and read with
# `dequeue_up_to(batch)` until the queue is closed and empty. Return the batches, a list of lists of `int`.
#
# - Every element of every source comes exactly once, those of one source in their order. Every batch but the last has
#   `batch` elements, whatever the capacity; no batch is empty. If there are no elements, the result is `[]`.
# - A source may give its next element only when another source was asked too.
# - A source that holds a number below 0 fails there with `tf.errors.InvalidArgumentError`. `drain` raises that error.
# - When `drain` returns or raises, none of its threads is alive.
#
# ```
# >>> drain([source([1, 2, 3]), source([])], capacity=2, batch=2)
# [[1, 2], [3]]
# ```
#
# `tf1.train.QueueRunner(queue, enqueue_ops)` and `tf1.train.Coordinator()` do most of it, if you use them in the right
# order; threads of your own are as good. `capacity` and `batch` are at least 1, `sources` has at least one function.
#
# <details><summary>Hint 1</summary>
#
# `runner.create_threads(session, coord=…, start=True)` returns the threads. When an enqueue op ends with
# `OutOfRangeError` the runner counts; after the last it closes the queue. When one ends with another error, the runner
# tells the coordinator, and a further thread cancels what is pending. What does your `dequeue_up_to` get in either case?
# </details>
#
# <details><summary>Hint 2</summary>
#
# ```
# start the threads of the runner
# read until the error that says: closed and empty      (it comes after a good end and after a bad one)
# ask the coordinator to stop                           (wakes the thread that waits to close the queue)
# join the threads                                      (raises the first error, if there was one)
# ```
#
# All of it inside of the `with` block of the session. `session.run(…, options=tf1.RunOptions(timeout_in_ms=5000))` ends
# a read that would wait forever while you try things out.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-source", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def source(values: list[int]) -> Callable[[], tf.Tensor]:
    """A function that adds a source of these values to the default graph, and returns the next of them. Given.

    That is an int64 scalar. A `run` of it gives each value once, then raises OutOfRangeError; a value below 0 raises
    InvalidArgumentError.
    """

    def add() -> tf.Tensor:
        dataset = tf1.data.Dataset.from_tensor_slices(tf.constant(values, tf.int64, shape=[len(values)]))
        following = tf1.data.make_one_shot_iterator(dataset).get_next()
        with tf.control_dependencies([tf.raw_ops.Assert(condition=following >= 0, data=[following])]):
            return tf.identity(following)

    return add


# %% nbgrader={"grade": false, "grade_id": "drain", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def drain(sources: list[Callable[[], tf.Tensor]], capacity: int, batch: int) -> list[list[int]]:
    """All elements of some sources that run at the same time, in batches.

    Raises:
        tf.errors.InvalidArgumentError: a source failed.
    """
    ### BEGIN SOLUTION
    batches = []
    with tf.Graph().as_default():
        queue = tf.queue.FIFOQueue(capacity, tf.int64, shapes=[[]])
        runner = tf1.train.QueueRunner(queue, [queue.enqueue(add()) for add in sources])
        dequeue = queue.dequeue_up_to(batch)
        coordinator = tf1.train.Coordinator()
        with tf1.Session(config=plain_config()) as session:
            threads = runner.create_threads(session, coord=coordinator, start=True)
            try:
                while True:
                    batches.append(session.run(dequeue).tolist())
            except tf.errors.OutOfRangeError:
                coordinator.request_stop()
            coordinator.join(threads)
    return batches
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "drain-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
# examiner: same process – that no thread of drain is left can be seen only where its threads are
before = set(threading.enumerate())
call = Started(drain, [source([1, 2, 3]), source([])], 2, 2)
batches = call.wait()
assert batches == [[1, 2], [3]], (
    f"drain([source([1, 2, 3]), source([])], 2, 2) must return [[1, 2], [3]], {call.end()} (if it waits: "
    f"which of its threads wait, and for whom?)"
)
left = [thread.name for thread in threading.enumerate() if thread not in before and thread is not call.thread]
assert not left, f"drain has returned, but some of its threads are alive: {left}"
### BEGIN HIDDEN TESTS
graphs = []


def noted(values):
    """A source that notes the graph to which it is added."""
    add = source(values)

    def add_and_note():
        graphs.append(tf1.get_default_graph())
        return add()

    return add_and_note


def meeting():
    """Two sources of three elements each; each gives an element only when the other has one too."""
    told = []  # a queue for each source, in the graph of the first that is added

    def add(who):
        if not told:
            told.extend(tf.queue.FIFOQueue(9, tf.int64, shapes=[[]]) for _ in range(2))
        element = source([10 * who, 10 * who + 1, 10 * who + 2])()
        with tf.control_dependencies([told[1 - who].enqueue(element)]), tf.control_dependencies([told[who].dequeue()]):
            return tf.identity(element)

    return [lambda: add(0), lambda: add(1)]


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
cases = [
    ([[]], 1, 1),
    ([[], list(range(100, 140))], 1, 3),  # the first source ends at once
    ([[], list(range(100, 120)), [], list(range(300, 330))], 1, 4),
    ([[1, 2], list(range(100, 107)), list(range(200, 219))], 2, 5),  # batches larger than the queue
]
lists = [[100 * who + number for number in range(rng.randrange(8))] for who in range(rng.randrange(1, 5))]
cases.append((lists, rng.randrange(1, 5), rng.randrange(1, 7)))
for lists, capacity, batch in cases:
    it = f"seed {seed}: drain of sources of {lists}, capacity {capacity}, batch {batch}"
    graphs.clear()
    call = Started(drain, [noted(list(values)) for values in lists], capacity, batch)
    batches = call.wait()
    assert type(batches) is list, (
        f"{it}: a list of batches is due, {call.end()} (if it waits: which of its threads wait, and for whom?)"
    )
    due = [len(part) for part in tf.data.Dataset.range(sum(map(len, lists))).batch(batch).as_numpy_iterator()]
    came = [value for part in batches for value in part]
    assert sorted(came) == sorted(itertools.chain(*lists)), f"{it}: each element must come exactly once, came {batches}"
    assert [len(part) for part in batches] == due, f"{it}: the batches must have {due} elements, came {batches}"
    for values in lists:
        mine = [value for value in came if value in values]
        assert mine == values, f"{it}: the elements of one source must come in their order, came {mine}"
    assert all(type(part) is list for part in batches), f"{it}: each batch is a list, came {batches!r}"
    left = [thread.name for thread in threading.enumerate() if thread not in before and thread is not call.thread]
    assert not left, f"{it}: drain has returned, but some of its threads are alive: {left}"
    assert len(graphs) == len(lists), f"{it}: each of {len(lists)} functions is called once; they were called {len(graphs)} times"
    operations = graphs[0].get_operations()
    rooms = [operation.get_attr("capacity") for operation in operations if operation.type == "FIFOQueueV2"]
    assert rooms == [capacity], f"{it}: the graph of the sources must hold one FIFOQueue of that capacity, it has {rooms}"
    enqueues = sum(operation.type == "QueueEnqueueV2" for operation in operations)
    assert enqueues == len(lists), f"{it}: one enqueue op for each source is due, the graph has {enqueues}"
call = Started(drain, meeting(), 2, 4)
batches = call.wait()
assert type(batches) is list, (
    f"two sources, each gives an element only when the other was asked too, capacity 2, batch 4: "
    f"batches are due, {call.end()} (do your enqueue ops run at the same time?)"
)
came = sorted(value for part in batches for value in part)
assert came == [0, 1, 2, 10, 11, 12], f"two sources that wait for each other: 0, 1, 2, 10, 11, 12 are due, came {batches}"
for lists in ([[-1], list(range(100, 150))], [[], [*range(20), -5]]):
    it = f"drain of sources of {lists}, capacity 2, batch 2,"
    call = Started(drain, [source(list(values)) for values in lists], 2, 2)
    ended = (type(call.wait()).__name__, call.raised)
    assert ended == ("InvalidArgumentError", True), f"{it} must raise InvalidArgumentError, {call.end()}"
    left = [thread.name for thread in threading.enumerate() if thread not in before and thread is not call.thread]
    assert not left, f"{it}: drain has raised, but some of its threads are alive: {left}"
### END HIDDEN TESTS

# %% [markdown] after_passing="drain"
# Nothing was lost, no thread was left, and a failure came out where it can be handled. The counting of sources is in
# `QueueRunner._run` (python/training/queue_runner_impl.py): each thread that ends lowers `_runs_per_session`, and the
# last one runs `_close_op`, the close without cancelling. `_close_on_stop` is the thread that cancels when the
# coordinator stops. Our solution reads to the end first and joins last: the reader is what makes room for the others.

# %% [markdown]
# What if someone stops the pipeline before the reader is at its end? The cell waits until the queue is full and the
# runner stands at its door with an element in its hands. Then it stops and joins, and reads what is left.

# %%
with tf.Graph().as_default():
    room = tf.queue.FIFOQueue(2, tf.int64, shapes=[[]])
    runner = tf1.train.QueueRunner(room, [room.enqueue(source(list(range(9)))())])
    size, everything = room.size(), room.dequeue_up_to(20)
    stopper = tf1.train.Coordinator()
    with tf1.Session(config=plain_config(cpus=1)) as session:
        running = runner.create_threads(session, coord=stopper, start=True)
        while session.run(size) < 2:
            pass
        stopper.request_stop()
        stopper.join(running)
        print("came out:", session.run(everything).tolist(), "of", list(range(9)))

# %% [markdown]
# All threads have ended, and most of the elements were never delivered. `request_stop` tells all to stop, and a thread of
# the runner then cancels what waits at the queue: right for a job that is to end now, wrong at the end of the data.

# %% [markdown]
# ## 7. The same as `tf.data`
#
# Queue runners were retired. `tf.data` makes the input half a chain of iterators in C++: each asks the one before it,
# and the threads are inside of those stages that need them. Two such stages make up the rest of this lab: one that
# mixes several sources, and one that works ahead. What queues never had comes with them: a position that can be saved.
#
# `interleave` opens `cycle_length` sources at a time and takes `block_length` elements of one, then as many of the
# next. Three sources, two at a time, two elements each:

# %%
lengths = tf.constant([5, 3, 4], tf.int64)


@tf.autograph.experimental.do_not_convert
def numbered(index: tf.Tensor) -> tf.data.Dataset:
    """The elements of a source: 100 times its number, and their positions."""
    return tf.data.Dataset.range(lengths[index]).map(lambda position: 100 * index + position)


mixed = tf.data.Dataset.range(3).interleave(numbered, cycle_length=2, block_length=2)
came = [int(element) for element in mixed]
view.interleaving(came, source=lambda element: element // 100, title="Three sources, cycle_length=2, block_length=2")

# %% [markdown]
# Source 1 ends in the middle of its block; the turn goes on to source 0, and only when it comes round again is the free
# slot given to source 2.
#
# An iterator of `tf.data` can be saved like a variable, in mid-epoch:

# %%
with tempfile.TemporaryDirectory(prefix="tflabs-input-") as folder:
    iterator = iter(mixed)
    print("before:   ", [int(next(iterator)) for _ in range(5)])
    saved = tf.train.Checkpoint(iterator=iterator).save(f"{folder}/state")
    print("went on:  ", [int(element) for element in iterator])
    fresh = iter(mixed)
    tf.train.Checkpoint(iterator=fresh).restore(saved).assert_consumed()
    print("restored: ", [int(element) for element in fresh])


# %% [markdown]
# ### Exercise 7 · Interleave, and stop in mid-epoch (4 points)
#
# Complete the class `Interleave(sources, cycle_length, block_length)`, an iterator over the elements of a list of
# lists. The elements may be any Python objects, `None` and equal ones too.
#
# - There are `cycle_length` slots, empty at first, and one of them has the turn, the first at the beginning. If the slot
#   that has the turn is empty, it is filled with the next source that was not opened yet; if none is left, the turn goes
#   on.
# - The source of the slot gives up to `block_length` elements, one per `next`. Then the turn goes to the next slot,
#   after the last one to the first.
# - That a source is at its end shows only when it is asked for an element that it does not have. Then, also in the
#   middle of a block, the slot becomes empty and the turn goes on; the slot is filled only when its turn comes again. A
#   source whose last element completed a block is therefore asked once more, in its next turn, and uses up that turn.
#   So does a source without elements.
# - When all slots are empty and no source is left, `next` raises `StopIteration`, and does so from then on.
# - `iter()` of the object is the object itself.
# - `save()` returns the state as plain data: a dict with keys of type `str` whose values are made of `int`, `None`,
#   `bool`, `str`, lists, tuples and dicts, and not of elements. It stays as it is when the iterator goes on.
# - `restore(state)` on an `Interleave` with equal arguments, fresh or used: what follows is what followed when `state`
#   was saved. `state` is not changed, so that it can be restored again.
#
# `cycle_length` or `block_length` below 1 raises `ValueError`.
#
# ```
# >>> it = Interleave([["a", "b", "c"], ["d"], ["e", "f"]], cycle_length=2, block_length=2)
# >>> [next(it), next(it), next(it)]
# ['a', 'b', 'd']
# >>> state = it.save()
# >>> list(it)
# ['c', 'e', 'f']
# >>> list(Interleave([[0, 1], [10, 11, 12], [20]], 2, 2))    # 0, 1 is a whole block: the next turn of its slot is lost
# [0, 1, 10, 11, 12, 20]
# ```
#
# `tf.data` is the judge: of positions, as it cannot carry the elements of your sources.
#
# <details><summary>Hint 1</summary>
#
# Write down what must be known to go on: which source each slot has and how far it is, who has the turn, how much of
# the block is used up, and which source is opened next. That is the state, and it is all of the object's data.
# </details>
#
# <details><summary>Hint 2</summary>
#
# `next` is a loop that ends with an element or with `StopIteration`. In each turn of it: the slot is empty (fill it, or
# if nothing is left pass the turn on), or its source has an element (return it, passing the turn on when the block is
# complete), or it is at its end (empty the slot, pass the turn on). Passing the turn on sets the block's count to 0.
# </details>

# %% nbgrader={"grade": false, "grade_id": "interleave", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
class Interleave:
    """The elements of several lists, `block_length` of one and then of the next, `cycle_length` lists at a time.

    Raises:
        ValueError: a length is less than 1.
    """

    def __init__(self, sources: list[list], cycle_length: int, block_length: int) -> None:
        ### BEGIN SOLUTION
        if cycle_length < 1 or block_length < 1:
            raise ValueError(f"cycle_length and block_length are 1 or more, not {cycle_length} and {block_length}")
        self._sources, self._block = sources, block_length
        self._slots: list = [None] * cycle_length  # [source, position]
        self._turn = self._given = self._opened = 0
        ### END SOLUTION

    def __iter__(self):
        ### BEGIN SOLUTION
        return self
        ### END SOLUTION

    def __next__(self):
        """The next element.

        Raises:
            StopIteration: there is none.
        """
        ### BEGIN SOLUTION
        while self._opened < len(self._sources) or any(slot is not None for slot in self._slots):
            if self._slots[self._turn] is None and self._opened < len(self._sources):
                self._slots[self._turn] = [self._opened, 0]
                self._opened += 1
            slot = self._slots[self._turn]
            if slot is None or slot[1] == len(self._sources[slot[0]]):
                self._slots[self._turn] = None
                self._pass_on()
                continue
            element = self._sources[slot[0]][slot[1]]
            slot[1] += 1
            self._given += 1
            if self._given == self._block:
                self._pass_on()
            return element
        raise StopIteration

    def _pass_on(self) -> None:
        self._turn = (self._turn + 1) % len(self._slots)
        self._given = 0
        ### END SOLUTION

    def save(self) -> dict:
        """Where the iterator stands, as plain data."""
        ### BEGIN SOLUTION
        slots = [None if slot is None else list(slot) for slot in self._slots]
        return {"slots": slots, "turn": self._turn, "given": self._given, "opened": self._opened}
        ### END SOLUTION

    def restore(self, state: dict) -> None:
        """Goes to where another iterator over the same sources stood when it was saved."""
        ### BEGIN SOLUTION
        self._slots = [None if slot is None else list(slot) for slot in state["slots"]]
        self._turn, self._given, self._opened = state["turn"], state["given"], state["opened"]
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "interleave-test", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
# examiner: same process – whether a saved state goes on changing shows only beside the iterator that made it
letters = [["a", "b", "c"], ["d"], ["e", "f"]]
mixing = Interleave(letters, 2, 2)
assert iter(mixing) is mixing, "iter() of an Interleave must be the object itself"
got = [next(mixing) for _ in range(3)]
assert got == ["a", "b", "d"], f"two of a slot, then the turn goes on: the first three are a, b, d; got {got}"
state = mixing.save()
got = list(itertools.islice(mixing, 20))
assert got == ["c", "e", "f"], f"after a, b, d come c, e, f; got {got}"
again = Interleave(letters, 2, 2)
again.restore(state)
got = list(itertools.islice(again, 20))
assert got == ["c", "e", "f"], f"saved after a, b, d and restored elsewhere: c, e, f must follow; got {got}"
got = list(itertools.islice(Interleave([[0, 1], [10, 11, 12], [20]], 2, 2), 20))
assert got == [0, 1, 10, 11, 12, 20], (
    f"0, 1 completed a block, so that their source ends shows only in its next turn: 0, 1, 10, 11, 12, 20 come; got {got}"
)
for lengths_ in [(0, 1), (1, 0), (-1, 2)]:
    try:
        Interleave(letters, *lengths_)
    except ValueError:
        pass
    else:
        raise AssertionError(f"cycle_length and block_length {lengths_} must raise ValueError")


### BEGIN HIDDEN TESTS
def not_plain(value):
    """What in a state is no plain data, as text; empty if nothing."""
    if type(value) in (list, tuple):
        return "".join(map(not_plain, value))
    if type(value) is dict:
        strangers = "".join(f"key {key!r} " for key in value if type(key) is not str)
        return strangers + "".join(map(not_plain, value.values()))
    return "" if value is None or type(value) in (int, bool, str) else f"{type(value).__name__} "


def real_pipeline(counts, cycle_length, block_length):
    """100 times the source's number plus the position, in tf.data's order."""

    @tf.autograph.experimental.do_not_convert
    def of_source(which, count):
        return tf.data.Dataset.range(100 * which, 100 * which + count)

    sources = tf.data.Dataset.from_tensor_slices((tf.range(tf.size(counts, tf.int64)), counts))
    return sources.interleave(of_source, cycle_length, block_length)


@tf.function(autograph=False, input_signature=[tf.TensorSpec([None], tf.int64), *[tf.TensorSpec([], tf.int64)] * 2])
def real_order(counts, cycle_length, block_length):
    """All of the pipeline, and -1 at the end."""
    end = tf.data.Dataset.from_tensors(tf.constant(-1, tf.int64))
    return real_pipeline(counts, cycle_length, block_length).concatenate(end).batch(100).get_single_element()


def real_rest(counts, cycle_length, block_length, stop):
    """What an iterator gives that was saved after `stop` elements and restored into a new one."""
    pipeline = real_pipeline(tf.constant(counts, tf.int64), cycle_length, block_length)
    iterator, fresh = iter(pipeline), iter(pipeline)
    for _ in range(stop):
        next(iterator)
    with tempfile.TemporaryDirectory(prefix="tflabs-input-") as folder:
        path = tf.train.Checkpoint(iterator=iterator).save(f"{folder}/state")
        tf.train.Checkpoint(iterator=fresh).restore(path).assert_consumed()
    return [divmod(int(number), 100) for number in fresh]


def compared(got, due):
    """What came and what is due, in words, and where they first differ."""
    place = next((n for n in range(min(len(got), len(due))) if got[n] != due[n]), min(len(got), len(due)))
    there = [str(part[place]) if place < len(part) else "the end" for part in (due, got)]
    return f"index {place} must be {there[0]}, yours is {there[1]}; due are {due}, yours are {got}"


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
fixed = [
    ([1, 3, 2], 1, 2, 2), ([3, 1, 4, 2], 2, 2, 4), ([0, 2, 0, 3], 2, 3, 1), ([4, 1, 5], 3, 3, 5), ([2, 5, 1, 4], 2, 3, 3),
]  # fmt: skip
drawn = [
    ([rng.randrange(0, 6) for _ in range(rng.randrange(7))], rng.randrange(1, 5), rng.randrange(1, 4), rng.randrange(8))
    for _ in range(15)
]
kinds = [None, "same", ("a", 1), 0, float("inf"), b"x", frozenset({3})]
for case, (counts, cycle_length, block_length, stop) in enumerate(fixed + drawn):
    numbers = real_order(tf.constant(counts, tf.int64), cycle_length, block_length).numpy().tolist()
    due_positions = [divmod(number, 100) for number in numbers[:-1]]
    if case == 3:
        rest = real_rest(counts, cycle_length, block_length, stop)
        assert rest == due_positions[stop:], f"tf.data itself went on with {rest} after {stop} of {due_positions}"
    pairs = [[(who, place) for place in range(count)] for who, count in enumerate(counts)]
    strange = [[(rng.choice(kinds), who, place) if rng.random() < 0.8 else rng.choice(kinds) for who, place in part] for part in pairs]
    for shown, elements in (("(source, position)", pairs), ("elements", strange)):
        it = f"seed {seed}: lengths {counts}, cycle_length {cycle_length}, block_length {block_length}; as {shown}"
        due = [elements[who][place] for who, place in due_positions]
        mixing = Interleave([list(part) for part in elements], cycle_length, block_length)
        got = list(itertools.islice(mixing, 100))
        assert got == due, f"{it}: {compared(got, due)}"
        assert next(mixing, "the end") == "the end", f"{it}: after its end the iterator must stay at its end"
        mixing = Interleave([list(part) for part in elements], cycle_length, block_length)
        states = []
        for _ in range(len(due) + 1):
            states.append(mixing.save())
            next(mixing, None)
        assert type(states[0]) is dict, f"{it}: save() returns a dict, not a {type(states[0]).__name__}"
        strangers = not_plain(states[min(stop, len(due))])
        assert not strangers, f"{it}: the state must be plain data, it holds {strangers}: {states[min(stop, len(due))]}"
        for taken in sorted({0, min(stop, len(due)), len(due) // 2, len(due)}):
            for time_ in ("first", "second"):
                fresh = Interleave([list(part) for part in elements], cycle_length, block_length)
                fresh.restore(states[taken])
                got, rest = list(itertools.islice(fresh, 100)), due[taken:]
                assert got == rest, f"{it}: saved after {taken} elements, restored for the {time_} time: {compared(got, rest)}"
        mixing.restore(states[0])
        got = list(itertools.islice(mixing, 100))
        assert got == due, f"{it}: a used iterator, restored to the beginning: {compared(got, due)}"
### END HIDDEN TESTS

# %% [markdown] after_passing="interleave"
# Order and remainder are those of `tf.data` on every case, with elements that it could not carry. The slots are
# `current_elements_` in `InterleaveDatasetOp` (core/kernels/data/interleave_dataset_op.cc), the turn is `cycle_index_`,
# the block `block_index_`; its `SaveInternal` writes them down, and for each open source the state of its own iterator.
# Ours writes two numbers for each slot, because a list can be entered anywhere.

# %% [markdown]
# ### Working ahead
#
# `prefetch(n)` is a queue between two stages: a thread takes elements from the stage before it and keeps up to n of
# them ready. The cell counts how far it is ahead of its reader. `tf.data` adds such a stage by itself
# (`inject_prefetch`), which is switched off here.

# %%
quiet_options = tf.data.Options()
quiet_options.experimental_optimization.inject_prefetch = False
quiet_options.autotune.enabled = False


def leads(n: int, count: int = 4) -> list[int]:
    """How many elements a prefetch(n) has pulled and not handed over, after each of some elements."""
    moved, pulled = threading.Condition(), [0]

    def note(element: np.ndarray) -> np.ndarray:
        with moved:
            pulled[0] += 1
            moved.notify_all()
        return element

    @tf.autograph.experimental.do_not_convert
    def noted(element: tf.Tensor) -> tf.Tensor:
        return tf.numpy_function(note, [element], tf.int64)

    pipeline = tf.data.Dataset.range(20).map(noted)
    iterator, seen = iter(pipeline.prefetch(n).with_options(quiet_options)), []
    for taken in range(1, count + 1):
        next(iterator)
        with moved:
            moved.wait_for(lambda taken=taken: pulled[0] == taken + n, PATIENCE)
            moved.wait_for(lambda taken=taken: pulled[0] > taken + n, 0.02)  # would it pull more, if it were given time?
            seen.append(pulled[0] - taken)
    return seen


for n in (1, 2, 3):
    print(f"prefetch({n}): ahead by {leads(n)}")

# %% [markdown]
# How large should n be? `tf.data.AUTOTUNE` leaves it to the runtime, which measures its stages while they work and
# keeps a model of them. The model of a small pipeline after 200 elements, with the parameters that it may turn:

# %%
from tensorflow.core.framework import model_pb2

tuned = tf.data.Dataset.range(1000).map(tf.square, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)
iterator = iter(tuned)
for _ in range(200):
    next(iterator)
stored = tf.raw_ops.IteratorGetModelProto(iterator=iterator._iterator_resource)
for node in model_pb2.ModelProto.FromString(stored.numpy()).nodes.values():
    for parameter in node.parameters:
        print(f"{node.name:30} {parameter.name:12} = {parameter.value:g}   tunable: {parameter.tunable}")


# %% [markdown]
# ### Exercise 8 · One thread ahead (2 points)
#
# Write `prefetch(source, n)`. `source` is an iterator; the result is an iterator over the same elements in the same
# order, and a thread of yours pulls from `source` ahead of the reader.
#
# - Never more than n elements have been pulled and not yet been handed to the reader. But so many: as long as the
#   reader does something else, the thread goes on until n are ready or the source has ended.
# - Pulling begins at the latest with the reader's first `next`; whether it begins with the call already is up to you.
#   Only the thread calls `next(source)`, never the reader's own, and one call at a time.
# - After the last element `next` raises `StopIteration`. If the source raises another error, the reader's `next`
#   raises that error (the same object) in its place, after all elements before it, and then `StopIteration`. In both
#   cases `StopIteration` comes again with each further `next`, without waiting, and the thread ends.
# - `n < 1` raises `ValueError` when `prefetch` is called, not later.
#
# An element may be any object, `None` too. Make the thread a daemon: a reader may go away before the end.
#
# ```
# >>> list(prefetch(iter("abc"), 2))
# ['a', 'b', 'c']
# ```
#
# Given is `Buffer()`, an unbounded queue: `put(value)` never waits, `get()` waits for a value.
# `threading.Semaphore(n)` has n permits: `acquire()` waits for one, `release()` gives one back.
#
# <details><summary>Hint 1</summary>
#
# A bounded queue between the two is one too many: the thread pulls an element, and then waits with it in its hand. So
# the thread must wait **before** it pulls.
# </details>
#
# <details><summary>Hint 2</summary>
#
# The thread takes a permit, pulls, and puts the element into the buffer; the reader's side gets it and gives the permit
# back. End and error go through the buffer too, so mark what kind of thing each entry is. A generator function starts
# only at the first `next`: check n in a function around it.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-buffer", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
class Buffer:
    """A queue without a bound, for threads. Given."""

    def __init__(self) -> None:
        self._values: SimpleQueue = SimpleQueue()

    def put(self, value) -> None:
        """Puts a value in, at once."""
        self._values.put(value)

    def get(self):
        """Takes the oldest value out; waits for one."""
        return self._values.get()


class CountedSource:
    """An iterator over elements that notes who pulls when, and how far ahead of the reader. Given.

    Args:
        elements: an exception among them is raised in its place.
        n: the lead that is allowed.
    """

    def __init__(self, elements: list, n: int) -> None:
        self.pulled, self.asked, self.faults = 0, 0, []
        self.thread: threading.Thread | None = None
        self._elements, self._n = iter(elements), n
        self._moved = threading.Condition()

    def __iter__(self):
        return self

    def __next__(self):
        with self._moved:
            self.thread = self.thread or threading.current_thread()
            if threading.current_thread() is not self.thread:
                self.faults.append("two threads pulled from the source")
            element = next(self._elements)
            if isinstance(element, Exception):
                raise element
            self.pulled += 1
            if self.pulled - self.asked > self._n:
                self.faults.append(f"{self.pulled} were pulled when the reader had asked for {self.asked}")
            self._moved.notify_all()
        return element

    def read(self, reader: Iterator):
        """The reader's next element, read in a thread of its own; an error, or "still waiting", in its place."""
        with self._moved:
            self.asked += 1
        call = Started(next, reader)
        outcome = call.wait()
        if isinstance(outcome, BaseException) and not call.raised:
            self.faults.append(f"next returned {outcome!r} as an element, it must raise it")
        return outcome

    def reaches(self, pulled: int, patience: float = PATIENCE) -> bool:
        """Waits until so many elements were pulled; whether they were."""
        with self._moved:
            return self._moved.wait_for(lambda: self.pulled >= pulled, patience)


# %% nbgrader={"grade": false, "grade_id": "prefetch", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def prefetch(source: Iterator, n: int) -> Iterator:
    """The elements of `source`, pulled by a thread that is up to n elements ahead.

    Raises:
        ValueError: n is less than 1.
    """
    ### BEGIN SOLUTION
    if n < 1:
        raise ValueError(f"prefetch needs room for at least one element, not for {n}")
    permits, ready = threading.Semaphore(n), Buffer()

    def pull() -> None:
        try:
            while True:
                permits.acquire()
                ready.put((True, next(source)))
        except StopIteration:
            ready.put((False, None))
        except BaseException as error:
            ready.put((False, error))

    def hand_over() -> Iterator:
        threading.Thread(target=pull, daemon=True).start()
        while True:
            is_element, what = ready.get()
            if not is_element:
                break
            permits.release()
            yield what
        if what is not None:
            raise what

    return hand_over()
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "prefetch-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
# examiner: same process – the learner's thread pulls from an iterator that the test watches while it waits
counted = CountedSource([10, 20, 30, 40], 2)
reader = prefetch(counted, 2)
got = counted.read(reader)
assert got == 10, f"the first of 10, 20, 30, 40 is 10; got {got!r}"
assert counted.reaches(3), (
    f"one element was taken and nobody asks for more: a prefetch of 2 must have pulled 3; it has pulled {counted.pulled}"
)
got = [counted.read(reader) for _ in range(3)]
assert got == [20, 30, 40], f"then come 20, 30, 40; got {got}"
assert type(counted.read(reader)) is StopIteration, "after the last element next must raise StopIteration"
assert not counted.faults, counted.faults[0]
for bad in (0, -2):
    try:
        refused = prefetch(iter([1]), bad)
    except ValueError:
        pass
    else:
        raise AssertionError(f"prefetch(source, {bad}) must raise ValueError when it is called; {refused!r:.80} came back")
### BEGIN HIDDEN TESTS
seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
options = tf.data.Options()
options.experimental_optimization.inject_prefetch = False
options.autotune.enabled = False
for n in (1, 2, rng.randrange(3, 6)):
    pipeline = tf.data.Dataset.range(12).shuffle(12, seed=seed).map(tf.identity)
    due = list(pipeline.prefetch(n).with_options(options).as_numpy_iterator())
    due = [None if number == 3 else ("element", int(number)) for number in due]
    error = ValueError("the source fails")
    for ending in ([], [error], [StopAsyncIteration("an unusual error")]):
        it = f"seed {seed}: prefetch(…, {n}) of {len(due)} elements" + (f" and then {ending[0]!r}" if ending else "")
        counted = CountedSource([*due, *ending], n)
        reader = prefetch(counted, n)
        got = []
        for taken in range(1, len(due) + 1):
            got.append(counted.read(reader))
            if taken in (1, 2, 5, 12):
                wanted = min(taken + n, len(due))
                assert counted.reaches(wanted, 2.0), (
                    f"{it}: {taken} were taken, so {wanted} must get pulled without the reader's help; it stays at {counted.pulled}"
                )
                counted.reaches(wanted + 1, 0.03 if taken in (1, 5) and not ending else 0.0)
        assert not counted.faults, f"{it}: {counted.faults[0]}; at most {n} may be pulled and not handed over"
        assert got == due, f"{it}: the elements must come in the order of the source, {due}; came {got}"
        after = [counted.read(reader) for _ in range(3)]
        kinds = [type(value) for value in after]
        assert kinds == [*map(type, ending), *[StopIteration] * 3][:3], f"{it}: then comes the end, again and again; came {after}"
        assert not counted.faults, f"{it}: {counted.faults[0]}"
        assert not ending or after[0] is ending[0], f"{it}: the reader must get the source's own error object, got {after[0]!r}"
        assert counted.thread is not threading.current_thread(), f"{it}: a thread of its own must pull"
        counted.thread.join(PATIENCE)
        assert not counted.thread.is_alive(), f"{it}: the source has ended, the thread that pulls must end too"
# Another reader's source is another's: two at a time share nothing.
sources = [CountedSource(list(range(4)), 2), CountedSource(list("abcd"), 2)]
readers = [prefetch(counted, 2) for counted in sources]
got = [counted.read(reader) for _ in range(4) for counted, reader in zip(sources, readers, strict=True)]
assert got == [0, "a", 1, "b", 2, "c", 3, "d"], f"two prefetches side by side must not mix; read in turn they gave {got}"
### END HIDDEN TESTS

# %% [markdown] after_passing="prefetch"
# Your thread stays as far ahead as allowed and no further. `PrefetchDatasetOp` (core/kernels/data/prefetch_dataset_op.cc)
# has a `buffer_` and a thread that waits while it is full, also before it pulls; the thread starts with the first
# `GetNext`. One difference: after an error TensorFlow's iterator goes on with the next element, and yours ends. Ours
# counts permits instead of looking at a length, so the element in the thread's hand is counted too.

# %% [markdown]
# ## 8. Play
#
# A real `tf.queue.FIFOQueue` with room for 3. Put in one, or three at a time; take out one, or up to four; close it,
# with and without cancelling. The figure shows the slots, the two lists of attempts that wait, and what became of the
# others. Everything is read from TensorFlow: for each step the whole script runs on a fresh queue, each operation in a
# thread of its own; what a waiting dequeue holds is found by closing the queue afterwards.
#
# Can you make a state in which both lists have an attempt that waits?
#
# <details><summary>Answer</summary>
#
# No. An enqueue waits only when the queue is full. A dequeue waits only when it is empty, since it takes what is there
# before it waits for more. And the queue has room for at least one.
# </details>

# %%
view.queue_player(capacity=3, script=[("enqueue", 3), ("enqueue", 1), ("dequeue", 1), ("dequeue", 4)])

# %% [markdown]
# ## Read on
#
# | what | where in TensorFlow 2.21 |
# | --- | --- |
# | the two lists, the loop, the closes | core/kernels/queue_base.cc: `QueueBase`, `FlushUnlocked`, `TryAttemptLocked`, `CloseAndCancel`, `Cancel` |
# | kinds of queue | core/kernels/fifo_queue.cc, random_shuffle_queue_op.cc, padding_fifo_queue.cc, priority_queue.cc |
# | the ops, which hold no thread while they wait | core/kernels/queue_op.h: `EnqueueOp`, `DequeueOp` |
# | threads in Python | python/training/queue_runner_impl.py: `QueueRunner`; python/training/coordinator.py: `Coordinator` |
# | stages of a pipeline | core/framework/dataset.h: `DatasetBase`, `IteratorBase`; core/kernels/data: `interleave_dataset_op.cc`, `prefetch_dataset_op.cc` |
# | saving an iterator | core/kernels/data/iterator_ops.cc: `SerializeIteratorOp`; python/data/ops/iterator_ops.py: `OwnedIterator` |
# | tuning | core/framework/model.h: `Model`; core/kernels/data/prefetch_autotuner.h: `PrefetchAutotuner` |
#
# What changed since 1.x: there, input was queues all the way. A queue of file names fed a reader, the reader a queue of
# examples, and `tf.train.batch` or `shuffle_batch` made batches out of it, with Python threads between them. Nobody
# could save the position. `tf.data` came with 1.4 and replaced all of it: threads in C++, one iterator for each epoch,
# and a state in the checkpoint. In 2.x the queues are still there, and work eagerly too; inside of `tf.data` the same
# pair of a lock and a condition does their work.
#
# What comes next: data now reach the step, and the pipeline ends in good order. Lab 2-6 is about the loop around the
# step: hooks that watch it, the coordinator from the inside, and a training job that is killed and goes on as if
# nothing had been lost.

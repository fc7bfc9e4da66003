# %% [markdown]
# # From DistBelief to TensorFlow
#
# In 2011 Google trained neural networks on thousands of machines with a system called DistBelief. Four years later
# TensorFlow took its place. What did DistBelief keep in the code of its servers that TensorFlow made into nodes of a
# graph, and what did that buy?
#
# At the end you have built the core of both: a sharded parameter server with workers that train at the same time and
# never wait for each other; and the same server as a graph without a line of server code. You can say how old a gradient
# is when it arrives and what that does to training. And you can find one computation again in three generations of the
# system: session, `tf.function`, XLA.
#
# 130 minutes · 22 points · Before this lab: Python and NumPy, and that training means to move parameters against a
# gradient. Nothing about TensorFlow's inside: this is the first lab of the course.
#
# ## How to work here
#
# Run the cells from top to bottom with Shift+Enter. Cells that show something are yours to change. In an exercise you
# replace `raise NotImplementedError()` by your code and run the test cell below it: it tells you in words what is wrong.
# `./tflabs check 1-1-lineage` in a terminal also runs the hidden tests, which hold your code against TensorFlow on cases
# that you have not seen. Each exercise stands alone: skip one and the rest still works, but "Run All" stops at the first
# that is not solved. Hints are folded; open them when you are stuck, not before. A test cell that begins with
# `# examiner: same process` judges objects that live on between calls, such as a server or a thread.

# %% nbgrader={"grade": false, "grade_id": "given-imports", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
from tflabs.runtime import quiet

with quiet():
    import tensorflow as tf

import contextlib
import copy
import random
import re
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from tensorflow.compiler.xla.service.hlo_pb2 import HloModuleProto
from tensorflow.python.ops import gen_training_ops

from tflabs.runtime import disguise, in_fresh_process, plain_config, withheld

tf1 = tf.compat.v1
GraphDef = tf1.GraphDef


# %% [markdown]
# ## 1. Look: a training cluster of 2011
#
# A model that does not fit on one machine, and data that one machine cannot read in time: DistBelief answered both with
# two kinds of processes. **Parameter servers** hold the parameters, each server one part of them, a **shard**.
# **Workers** read the data. A worker **pulls** the parameters from all servers, computes a gradient on a small batch of
# examples, and **pushes** the gradient back; each server applies its part. Then the worker does it again. Workers do not
# wait for each other. This is Downpour SGD (Dean et al., *Large Scale Distributed Deep Networks*, 2012).
#
# The model here is small, so that you can watch the machinery: 40 weights, and the squared error of a linear function.
# First the server of one shard, as plain as can be.

# %% nbgrader={"grade": false, "grade_id": "given-server", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
class Pulled(NamedTuple):
    """What a worker gets from a server: the shard's values, and how many pushes they have seen. Given."""

    values: np.ndarray
    version: int


class PlainServer:
    """Holds one shard; a push moves it against the gradient. Given."""

    def __init__(self, values: np.ndarray, rate: float) -> None:
        self.values, self.rate, self.version = values.copy(), rate, 0

    def pull(self) -> Pulled:
        return Pulled(self.values.copy(), self.version)

    def push(self, gradient: np.ndarray) -> int:
        """Apply a gradient; returns the new version."""
        self.values -= self.rate * gradient
        self.version += 1
        return self.version


def gradient(w: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Gradient of the mean squared error of x·w against y. w: [n], x: [batch, n], y: [batch], all float64; returns [n]."""
    return 2 * x.T @ (x @ w - y) / len(y)


def examples() -> tuple[np.ndarray, np.ndarray]:
    """2000 examples of a linear function of 40 numbers: x [2000, 40] and y [2000], float64."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(2000, 40)) * np.linspace(1, 0.3, 40)
    return x, x @ rng.normal(size=40)


# %% [markdown]
# Now the processes. A server waits for messages on its connections: `None` asks for the parameters, anything else is a
# gradient. It logs what it did, in its own order. You need not read this cell to go on; look only at `serve`, the loop
# that answers.

# %% nbgrader={"grade": false, "grade_id": "given-cluster", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def serve(server, connections: list) -> list[tuple[int, str, int]]:
    """Answer the workers until all have hung up. Returns (worker, "pull" or "push", staleness) in the order served."""
    from multiprocessing.connection import wait

    number = {connection: worker for worker, connection in enumerate(connections)}
    seen, log = {}, []
    while connections:
        for connection in wait(connections):
            try:
                message = connection.recv()
            except EOFError:
                connections.remove(connection)
                continue
            worker = number[connection]
            if message is None:
                values, seen[worker] = server.pull()
                connection.send((values, seen[worker]))
                log.append((worker, "pull", 0))
            else:
                version = server.push(message)
                connection.send(version)
                log.append((worker, "push", version - 1 - seen[worker]))
    return log


def work(connections: list, worker: int, steps: int, start) -> list[float]:
    """Train for some steps once all workers are at `start`. Returns the loss over all examples before each step."""
    x, y = examples()
    rng = np.random.default_rng(worker)
    losses = []
    start.wait()
    for _ in range(steps):
        for connection in connections:
            connection.send(None)
        w = np.concatenate([connection.recv()[0] for connection in connections])
        batch = rng.integers(0, len(x), 256)
        parts = np.array_split(gradient(w, x[batch], y[batch]), len(connections))
        losses.append(float(np.mean((x @ w - y) ** 2)))
        for connection, part in zip(connections, parts, strict=True):
            connection.send(part)
        for connection in connections:
            connection.recv()
    return losses


def cluster(servers: list, workers: int, steps: int) -> tuple[list, list]:
    """Run each server and each worker as a process. Returns the servers' logs and the workers' losses."""
    import multiprocessing

    context = multiprocessing.get_context("fork")
    lines = {(s, w): context.Pipe() for s in range(len(servers)) for w in range(workers)}  # (server's end, worker's end)
    start = context.Barrier(workers)

    def run(report, own: list, function: Callable, *args) -> None:
        for end in (end for pair in lines.values() for end in pair if end not in own):
            end.close()  # so that a server notices when its workers have hung up
        report.send(function(*args))

    jobs = []
    for s, server in enumerate(servers):
        own = [lines[s, w][0] for w in range(workers)]
        jobs.append((own, serve, server, list(own)))
    for w in range(workers):
        own = [lines[s, w][1] for s in range(len(servers))]
        jobs.append((own, work, own, w, steps, start))
    reports = [context.Pipe(duplex=False) for _ in jobs]
    for (_, report), job in zip(reports, jobs, strict=True):
        context.Process(target=run, args=(report, *job), daemon=True).start()
    for end in (end for pair in lines.values() for end in pair):
        end.close()
    results = [here.recv() for here, _ in reports]
    return results[: len(servers)], results[len(servers) :]


# %% [markdown]
# Two servers, three workers, eight steps each: five processes. (`in_fresh_process` runs the cluster outside of this
# notebook's process, which holds TensorFlow and its threads and must not fork.) The picture shows what the first server
# saw.

# %%
from tflabs import view


def exchanges(log: list[tuple[int, str, int]], losses: list[list[float]]) -> list[view.Exchange]:
    """A server's log with the workers' losses, as the picture wants it."""
    left = [iter(own) for own in losses]
    return [view.Exchange(w, kind, age, next(left[w]) if kind == "push" else None) for w, kind, age in log]


def plain_servers(rate: float, shards: int = 2) -> list[PlainServer]:
    return [PlainServer(part, rate) for part in np.array_split(np.zeros(40), shards)]


logs, losses = in_fresh_process(cluster, plain_servers(rate=0.2), 3, 8).value
view.space_time(exchanges(logs[0], losses), title="What the first server saw")

# %% [markdown]
# Read it like this. A dashed arrow is a pull: parameters go down to a worker. A coloured line is a push: a gradient comes
# back. Follow one bar from its pull to its push and count the pushes of the others that reached the server in between:
# that is the number at its end. The gradient was computed at parameters that the server no longer has. It is **stale**
# by that many pushes; its colour says the same number, not which worker it is. Run the cell again: the order is another
# one each time, nobody controls it.
#
# The lab goes on like this: cut the parameters (exercise 1), hold a shard (2), count staleness (3), write the worker
# (4), let many run at once (5). Then the same as a graph (6), and the graph in three generations (7, 8).
#
# ## 2. Cut a parameter into shards
#
# Which server holds which rows? Every worker must know without asking, so it has to follow from two numbers: how many
# rows there are, and how many shards. TensorFlow kept this part of DistBelief: a *partitioned variable* is one variable
# for the reader and several in the graph, each of which can stand on a server of its own.

# %%
with tf.Graph().as_default():
    whole = tf1.get_variable("w", [10, 2], partitioner=tf1.fixed_size_partitioner(4))
    for part in whole:
        print(part.name, part.shape)


# %% [markdown]
# ### Exercise 1 · Cut a parameter into shards (2 points)
#
# Write `shard_ranges(rows, shards) -> list[Range]`, which cuts the rows `0 … rows − 1` into consecutive ranges, in order.
# A `Range` goes from `start` up to, but not including, `stop`; both are `int`.
#
# - Lengths differ by at most one, and the longer ranges come first.
# - No range is empty: with more shards than rows there are only `rows` ranges.
# - `rows < 1` or `shards < 1` raises `ValueError`.
#
# The partitioners and `get_variable` are withheld while the tests run your code: they raise an error.
#
# ```
# >>> shard_ranges(10, 3)
# [Range(start=0, stop=4), Range(start=4, stop=7), Range(start=7, stop=10)]
# ```
#
# <details><summary>Hint 1</summary>
#
# How long is every range at least, and how many of them are one longer? One built-in function gives both numbers.
# </details>
#
# <details><summary>Hint 2</summary>
#
# First make `shards` no larger than `rows`. Then `length, longer = divmod(rows, shards)`: range number `i` has `length`
# rows, and one more if `i < longer`. Keep a running `start`.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-ranges", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
class Range(NamedTuple):
    """Rows from `start` up to, but not including, `stop`. Given."""

    start: int
    stop: int


# What tests withhold in exercise 1: what would cut a variable.
TF_PARTITIONERS = (
    "tensorflow.compat.v1.get_variable",
    "tensorflow.compat.v1.fixed_size_partitioner",
    "tensorflow.compat.v1.variable_axis_size_partitioner",
    "tensorflow.compat.v1.min_max_variable_partitioner",
    "tensorflow.python.ops.partitioned_variables.create_partitioned_variables",
    "tensorflow.python.ops.variable_scope._iter_slices",
)


def assert_ranges(got: object, want: list[Range], call: str) -> None:
    """Assert that `got` is this list of `Range` of `int`, exactly."""
    assert type(got) is list, f"{call} returns a list, not a {type(got).__name__}"
    kinds = sorted({type(part).__name__ for part in got})
    assert kinds == ["Range"], f"{call}: every item is a Range, found {', '.join(kinds) or 'no item at all'}"
    ends = sorted({type(end).__name__ for part in got for end in part})
    assert ends == ["int"], f"{call}: start and stop are int, found {', '.join(ends)}"
    assert got == want, f"{call}: TensorFlow cuts {[tuple(part) for part in want]}, you {[tuple(part) for part in got]}"


# %% nbgrader={"grade": false, "grade_id": "shard-ranges", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def shard_ranges(rows: int, shards: int) -> list[Range]:
    """Cut `rows` rows into at most `shards` consecutive, non-empty ranges, the longer ones first.

    Raises:
        ValueError: `rows` or `shards` is less than 1.
    """
    ### BEGIN SOLUTION
    if rows < 1 or shards < 1:
        raise ValueError(f"rows and shards are at least 1, found {rows} and {shards}")
    length, longer = divmod(rows, min(shards, rows))
    ranges, start = [], 0
    while start < rows:
        stop = start + length + (len(ranges) < longer)
        ranges.append(Range(start, stop))
        start = stop
    return ranges
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "shard-ranges-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
with withheld(*TF_PARTITIONERS):
    cut = shard_ranges(10, 3)
assert_ranges(cut, [Range(0, 4), Range(4, 7), Range(7, 10)], "shard_ranges(10, 3)")
for rows, shards in [(0, 1), (1, 0), (-3, 2), (4, -1)]:
    try:
        with withheld(*TF_PARTITIONERS):
            refused = shard_ranges(rows, shards)
    except ValueError:
        pass
    else:
        raise AssertionError(f"shard_ranges({rows}, {shards}) must raise ValueError; it returned {refused!r}")


### BEGIN HIDDEN TESTS
def real_ranges(rows, shards):
    """The rows of each part of a partitioned variable of TensorFlow."""
    with tf.Graph().as_default():
        parts = tf1.get_variable("w", [rows, 1], partitioner=tf1.fixed_size_partitioner(shards))
        slices = [part._get_save_slice_info() for part in parts]
    return [Range(int(s.var_offset[0]), int(s.var_offset[0] + s.var_shape[0])) for s in slices]


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
cases = [(10, 4), (11, 4), (3, 5), (1, 8), (6, 6), (7, 1), (5, 4)]
cases += [(rng.randint(1, 6), rng.randint(1, 8)) for _ in range(6)]
cases += [(rng.randint(7, 200), rng.randint(2, 7)) for _ in range(6)]
for rows, shards in cases:
    with withheld(*TF_PARTITIONERS):
        cut = shard_ranges(rows, shards)
    assert_ranges(cut, real_ranges(rows, shards), f"seed {seed}: shard_ranges({rows}, {shards})")
### END HIDDEN TESTS

# %% [markdown] after_passing="shard-ranges"
# Your cut is the one TensorFlow makes, on random sizes too: `fixed_size_partitioner`
# (python/ops/partitioned_variables.py) says into how many parts, `_iter_slices` (python/ops/variable_scope.py) where each
# begins. Ours keeps a running start, so the ranges cannot overlap and cannot leave a row out.

# %% [markdown]
# ## 3. A server with a memory
#
# `PlainServer` moves every parameter by the same rate. DistBelief's servers used **Adagrad** instead (Duchi et al., 2011):
# each parameter has its own rate, which shrinks with the gradients that the parameter has seen. The server keeps one more
# number for each parameter, the sum of its squared gradients. A shard needs nothing from other shards for that. This is
# why the rule could live in the server.
#
# ### Exercise 2 · One shard's server, with its own Adagrad (3 points)
#
# Write the class `ShardServer(values, rate, accumulator)`. `values` is a float32 array of one or more dimensions, `rate`
# and `accumulator` are positive Python floats.
#
# - The server keeps the values, in an array of its own, and, for each parameter, an entry of an accumulator, which starts
#   at `accumulator`; both are float32 of the shape of `values`. The array that was passed is not changed, and who writes
#   on it later does not change the server.
# - `push(gradient) -> int` takes a float32 array g of that shape. It adds g² to the accumulator, and then subtracts
#   `rate · g / sqrt(accumulator)` from the values, entry by entry. It returns the version: how many pushes the server has
#   applied, this one included, as `int`.
# - `pull() -> Pulled` gives the values, as a float32 array, and the version, 0 before the first push. The array is a
#   copy: who writes on it does not change the server.
# - A gradient of another shape raises `ValueError` and changes nothing, neither values nor accumulator nor version.
#
# TensorFlow's own Adagrad (the ops whose names contain `Apply`, the optimizers) is withheld.
#
# ```
# >>> server = ShardServer(np.float32([1, 2]), rate=0.5, accumulator=1.0)
# >>> server.push(np.float32([0, 1]))          # the second entry: 2 − 0.5 · 1 / sqrt(1 + 1)
# 1
# >>> server.pull()
# Pulled(values=array([1.       , 1.6464466], dtype=float32), version=1)
# ```
#
# <details><summary>Hint 1</summary>
#
# NumPy broadcasts: a gradient of one entry, or a single number, would be added to all entries without a complaint. So ask
# for the shape before anything changes.
# </details>
#
# <details><summary>Hint 2</summary>
#
# `__init__` stores `values.copy()`, the rate, `np.full_like(values, accumulator)` and a version of 0. `push` is five
# lines: check the shape, accumulator, values, version, return. The order of the second and the third matters.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-adagrad", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
# What tests withhold in exercise 2: TensorFlow's optimizers and the ops that they use.
ADAGRAD_OPS = [name for name in dir(gen_training_ops) if "adagrad" in name.lower() and not name.startswith(("_", "TV_"))]
TF_OPTIMIZERS = (
    *(f"tensorflow.python.ops.gen_training_ops.{name}" for name in ADAGRAD_OPS),
    "tensorflow.compat.v1.train.AdagradOptimizer",
    "tensorflow.compat.v1.train.Optimizer.apply_gradients",
    "tensorflow.keras.optimizers.Adagrad",
    "tensorflow.keras.optimizers.Adagrad.update_step",
    "tensorflow.keras.optimizers.Optimizer.apply",
    "tensorflow.keras.optimizers.Optimizer.apply_gradients",
)


def assert_near(got: object, want: np.ndarray, where: str, rtol: float = 1e-5, atol: float = 1e-6) -> None:
    """Assert that `got` is an array like `want`: same shape, same dtype, same values to rounding."""
    assert type(got) is np.ndarray, f"{where}: expected an array, found {type(got).__name__}"
    kinds = [(array.shape, str(array.dtype)) for array in (want, got)]
    assert kinds[0] == kinds[1], f"{where}: expected shape and dtype {kinds[0]}, found {kinds[1]}"
    try:
        np.testing.assert_allclose(got, want, rtol=rtol, atol=atol, strict=True)
    except AssertionError:
        raise AssertionError(f"{where}: expected {want.tolist()}, found {got.tolist()}") from None


def assert_pulled(got: object, values: np.ndarray, version: int, where: str) -> None:
    """Assert that `got` is a Pulled with these float32 values, to rounding, and this version."""
    assert type(got) is Pulled, f"{where}: pull returns a Pulled, not a {type(got).__name__}"
    assert type(got.version) is int, f"{where}: the version is an int, not a {type(got.version).__name__}"
    assert got.version == version, f"{where}: {version} pushes were applied, the version says {got.version}"
    assert_near(got.values, values, f"{where}, the pulled values")


# %% nbgrader={"grade": false, "grade_id": "parameter-server", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
class ShardServer:
    """One shard of the parameters, with its own Adagrad.

    Args:
        values: float32, one or more dimensions: where the parameters begin. Not changed.
        rate: Adagrad's rate.
        accumulator: where each entry of the accumulator begins.
    """

    def __init__(self, values: np.ndarray, rate: float, accumulator: float) -> None:
        ### BEGIN SOLUTION
        self._values = values.copy()
        self._accumulator = np.full_like(values, accumulator)
        self._rate = rate
        self._version = 0
        ### END SOLUTION

    def pull(self) -> Pulled:
        """A copy of the parameters as they are now, and how many pushes they have seen."""
        ### BEGIN SOLUTION
        return Pulled(self._values.copy(), self._version)
        ### END SOLUTION

    def push(self, gradient: np.ndarray) -> int:
        """Apply one gradient; returns the new version.

        Raises:
            ValueError: the gradient has another shape than the shard.
        """
        ### BEGIN SOLUTION
        if gradient.shape != self._values.shape:
            raise ValueError(f"a gradient of shape {gradient.shape} for a shard of shape {self._values.shape}")
        self._accumulator += gradient**2
        self._values -= self._rate * gradient / np.sqrt(self._accumulator)
        self._version += 1
        return self._version
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "parameter-server-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
# examiner: same process – whether pull hands out a copy shows only beside the server's own array
begin = np.float32([1, 2, -3])
with withheld(*TF_OPTIMIZERS):
    server = ShardServer(begin, 0.5, 1.0)
    versions = [server.push(np.float32([0, 1, 2])), server.push(np.float32([3, 1, 0]))]
    pulled = server.pull()
assert [type(version) for version in versions] == [int, int], f"push returns the version, an int; found {versions!r}"
assert versions == [1, 2], f"push returns how many pushes were applied: 1, then 2; found {versions}"
assert_pulled(pulled, np.float32([0.52565837, 1.3577713, -3.4472136]), 2, "after two pushes")
assert_near(begin, np.float32([1, 2, -3]), "the array passed to ShardServer, which pushes must not change")
begin[...] = 77
with withheld(*TF_OPTIMIZERS):
    pulled = server.pull()
assert_pulled(pulled, np.float32([0.52565837, 1.3577713, -3.4472136]), 2, "77 written over the array that was passed")
for shape in [(), (1,), (2,), (1, 3)]:
    try:
        with withheld(*TF_OPTIMIZERS):
            server.push(np.ones(shape, np.float32))
    except ValueError:
        pass
    else:
        raise AssertionError(f"a gradient of shape {shape} for a shard of shape (3,) must raise ValueError")


### BEGIN HIDDEN TESTS
def real_adagrad(shards, rate, accumulator):
    """TensorFlow's Adagrad on one variable per shard: a function push(number, gradient), and one that reads all."""
    graph = tf.Graph()
    with graph.as_default():
        variables = [tf1.get_variable(f"s{i}", initializer=shard, use_resource=True) for i, shard in enumerate(shards)]
        fed = [tf1.placeholder(tf.float32, shard.shape) for shard in shards]
        optimizer = tf1.train.AdagradOptimizer(rate, initial_accumulator_value=accumulator)
        applied = [optimizer.apply_gradients([pair]) for pair in zip(fed, variables, strict=True)]
        initial = tf1.global_variables_initializer()
    session = tf1.Session(graph=graph, config=plain_config())
    session.run(initial)
    return lambda i, g: session.run(applied[i], {fed[i]: g}), lambda: session.run(variables), session.close


seed = random.SystemRandom().randrange(10**6)
rng = np.random.default_rng(seed)
for _ in range(4):
    shapes = [(int(rng.integers(1, 9)),), (int(rng.integers(1, 5)), 2), (int(rng.integers(2, 9)),)]
    shards = [rng.normal(size=shape).astype(np.float32) for shape in shapes]
    rate, accumulator = float(rng.uniform(0.05, 1)), float(rng.uniform(0.1, 1))
    real_push, real_values, real_close = real_adagrad(shards, rate, accumulator)
    with withheld(*TF_OPTIMIZERS):
        servers = [ShardServer(shard.copy(), rate, accumulator) for shard in shards]
    applied = [0, 0, 0]
    for step in range(1, 31):
        chosen = int(rng.integers(3))
        pushed = rng.normal(size=shapes[chosen]) * rng.choice([0.0, 0.1, 1.0, 10.0], size=shapes[chosen])
        pushed = pushed.astype(np.float32)
        with withheld(*TF_OPTIMIZERS):
            version = servers[chosen].push(pushed.copy())
        applied[chosen] += 1
        where = f"seed {seed}: after {step} pushes to random shards"
        assert type(version) is int, f"{where}: push returns an int, not a {type(version).__name__}"
        assert version == applied[chosen], f"{where}: shard {chosen} has seen {applied[chosen]}, push says {version}"
        real_push(chosen, pushed)
        if step % 10:
            continue
        for number, own in enumerate(shapes):
            for shape in sorted({(1, *own), (*own[:-1], 1), (*own, 2)} - {own}):
                with contextlib.suppress(ValueError), withheld(*TF_OPTIMIZERS):
                    servers[number].push(np.ones(shape, np.float32))
        with withheld(*TF_OPTIMIZERS):
            servers[chosen].pull().values[...] = 77  # on a copy
            now = [server.pull() for server in servers]
        for number, (mine, real) in enumerate(zip(now, real_values(), strict=True)):
            assert_pulled(mine, real, applied[number], f"{where}, some of other shapes, and a pulled array written over")
    real_close()
### END HIDDEN TESTS

# %% [markdown] after_passing="parameter-server"
# Your server agreed with TensorFlow's Adagrad on random shards: the op is `ResourceApplyAdagrad`, its kernel
# `ApplyAdagradOp` (core/kernels/training_ops.cc). The accumulator is what TensorFlow calls a *slot*: state of the
# optimizer, one per variable. Ours checks the shape first and changes state after, so a refused push leaves no trace.

# %% [markdown]
# ## 4. How old is a gradient?
#
# A worker need not pull before every step, and need not push after every step. DistBelief gave it two intervals. It
# **fetches** the parameters before each of its steps whose number is a multiple of `fetch` (its own steps, counted from
# 0), and it pushes after every `push` of its steps what it has accrued since. In between it works on its own copy.
#
# The **staleness** of a push is the number of pushes, of any worker, that the server has applied between the pusher's last
# fetch and this push. The push itself does not count; earlier pushes of the same worker since its fetch do.
#
# ### Exercise 3 · How old is that gradient? (1 point)
#
# Two workers, A and B, `fetch` = 4, `push` = 2. They take their steps in this order:
#
# ```
# A A B A B B B B A A B A
# ```
#
# Set `staleness_answer` to the staleness of each push, in the order in which the server applies them: a list of six `int`.
# Work it out by hand. For the order `A B B A` alone it would be `[0, 1]`: B pushes first, at version 0, and A fetched at
# version 0 too.

# %% nbgrader={"grade": false, "grade_id": "staleness-prediction", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
# staleness_answer = [...]  six numbers, one per push, in the order of the pushes
### BEGIN SOLUTION
staleness_answer = [0, 0, 1, 3, 1, 1]
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "staleness-prediction-test", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
assert type(staleness_answer) is list, f"staleness_answer is a list, not a {type(staleness_answer).__name__}"
kinds = [type(age).__name__ for age in staleness_answer]
assert kinds == ["int"] * 6, f"staleness_answer is a list of six int; it is {staleness_answer!r}"


### BEGIN HIDDEN TESTS
def real_staleness(order, fetch, push):
    """The staleness of each push, read from version counters that are variables of a TensorFlow graph."""
    found, steps = [], Counter()
    with tf.Graph().as_default():
        version = tf1.get_variable("version", initializer=0, use_resource=True)
        seen = {worker: tf1.get_variable(worker, initializer=0, use_resource=True) for worker in set(order)}
        fetched = {worker: seen[worker].assign(version.read_value()).op for worker in seen}
        age = {worker: version.read_value() - seen[worker].read_value() for worker in seen}
        pushed = version.assign_add(1).op
        with tf1.Session(config=plain_config()) as session:
            session.run(tf1.global_variables_initializer())
            for worker in order:
                if steps[worker] % fetch == 0:
                    session.run(fetched[worker])
                steps[worker] += 1
                if steps[worker] % push == 0:
                    found.append(int(session.run(age[worker])))
                    session.run(pushed)
    return found


real_ages = real_staleness("AABABBBBAABA", 4, 2)
wrong_places = sum(mine != real for mine, real in zip(staleness_answer, real_ages, strict=True))
assert staleness_answer == real_ages, (
    f"{wrong_places} of the six differ from what the graph says. Write the server's version beside each step. A worker "
    "notes the version when it fetches (its steps 0 and 4); at its push, subtract. The push itself comes after that."
)
### END HIDDEN TESTS

# %% [markdown] after_passing="staleness-prediction"
# Staleness is a difference of two versions, which is why the server counts pushes: nobody has to know who pushed what.
# The test read it from variables of a TensorFlow graph. In TensorFlow's own training loops the version is the variable
# `global_step`, which every `apply_gradients` can count up (python/training/training_util.py).

# %% [markdown]
# ## 5. The worker
#
# ### Exercise 4 · The worker between fetch and push (4 points)
#
# Write `downpour(steps, size, workers, fetch, push, rate) -> tuple[np.ndarray, list[int]]`. It plays a schedule of steps,
# one after the other, against one server, and returns the server's parameters at the end and the staleness of every push,
# in order, as `int`. Everything is float64.
#
# - `steps` is a list of `Step`: which worker takes it (0 … `workers` − 1), and its batch, `x` of shape [batch, size] and
#   `y` of shape [batch].
# - The server starts with `size` zeros. It uses plain SGD: a push of a subtracts `rate · a`.
# - Each worker counts its own steps from 0. Before a step whose number is a multiple of `fetch`, it takes the server's
#   parameters as its own copy.
# - A step computes g = `gradient(own copy, x, y)` (given above), adds g to what the worker has accrued, and moves the
#   worker's own copy by −`rate` · g.
# - After every `push` of its steps the worker pushes what it has accrued, and accrues from zero again. Its own copy stays
#   as it is until the next fetch. What is accrued at the end of the schedule and not pushed is lost.
# - `fetch < 1` or `push < 1` raises `ValueError`.
#
# Two steps of worker 0 at the same example, x = [[1]], y = [1], with rate 0.25. The gradient at 0 is −2, so its own copy
# moves to 0.5, where the gradient is −1. With `fetch` = `push` = 2, one push of −3 arrives:
#
# ```
# >>> once = Step(0, np.ones((1, 1)), np.ones(1))
# >>> downpour([once, once], size=1, workers=1, fetch=2, push=2, rate=0.25)
# (array([0.75]), [0])
# ```
#
# <details><summary>Hint 1</summary>
#
# A worker has four things: its own copy, what it has accrued, the version that it saw at its last fetch, and how many steps
# it has done. Nothing else is shared but the server's parameters and version.
# </details>
#
# <details><summary>Hint 2</summary>
#
# A loop over `steps` with three parts. Fetch: if the worker's count is a multiple of `fetch`, copy parameters and version.
# Step: gradient, accrue, move the own copy, count. Push: if the count is now a multiple of `push`, note the staleness, move
# the server, reset what was accrued.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-steps", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
class Step(NamedTuple):
    """One step of a schedule: who takes it, and its batch, x [batch, size] and y [batch]. Given."""

    worker: int
    x: np.ndarray
    y: np.ndarray


def random_steps(rng: np.random.Generator, count: int, workers: int, size: int) -> list[Step]:
    """A random schedule with batches of three examples."""
    return [
        Step(int(rng.integers(workers)), rng.normal(size=(3, size)), rng.normal(size=3)) for _ in range(count)
    ]


def assert_downpour(got: object, parameters: np.ndarray, ages: list[int], where: str) -> None:
    """Assert that `got` is what `downpour` should return: these parameters, to rounding, and exactly these ages."""
    assert type(got) is tuple, f"{where}: downpour returns a tuple, not a {type(got).__name__}"
    kinds = [type(part).__name__ for part in got]
    assert kinds == ["ndarray", "list"], f"{where}: the tuple holds an array and a list, found {kinds}"
    inner = sorted({type(age).__name__ for age in got[1]})
    assert inner in ([], ["int"]), f"{where}: each staleness is an int, found {', '.join(inner)}"
    assert got[1] == ages, f"{where}: the staleness of the pushes is {ages}, found {got[1]}"
    assert_near(got[0], parameters, f"{where}, the server's parameters at the end", rtol=1e-9, atol=1e-12)


# %% nbgrader={"grade": false, "grade_id": "downpour", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def downpour(
    steps: list[Step], size: int, workers: int, fetch: int, push: int, rate: float
) -> tuple[np.ndarray, list[int]]:
    """Play a schedule of Downpour SGD; returns the server's parameters [size] and the staleness of each push.

    Raises:
        ValueError: `fetch` or `push` is less than 1.
    """
    ### BEGIN SOLUTION
    if fetch < 1 or push < 1:
        raise ValueError(f"fetch and push are at least 1, found {fetch} and {push}")
    parameters, version, ages = np.zeros(size), 0, []
    own = [np.zeros(size)] * workers
    accrued = [np.zeros(size)] * workers
    seen = [0] * workers
    count = [0] * workers
    for worker, x, y in steps:
        if count[worker] % fetch == 0:
            own[worker], seen[worker] = parameters, version
        g = gradient(own[worker], x, y)
        accrued[worker] = accrued[worker] + g
        own[worker] = own[worker] - rate * g
        count[worker] += 1
        if count[worker] % push == 0:
            ages.append(version - seen[worker])
            parameters = parameters - rate * accrued[worker]
            version += 1
            accrued[worker] = np.zeros(size)
    return parameters, ages
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "downpour-test", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
once = Step(0, np.ones((1, 1)), np.ones(1))
assert_downpour(downpour([once, once], 1, 1, 2, 2, 0.25), np.array([0.75]), [0], "two steps of one worker")
other = Step(1, np.full((1, 1), 2.0), np.ones(1))
played = downpour([once, other, once, other, other, once], 1, 2, 2, 1, 0.0625)
assert_downpour(played, np.array([0.5693359375]), [0, 0, 2, 2, 0, 0], "six steps of two workers, fetch 2, push 1")
for bad_fetch, bad_push in [(0, 1), (1, 0), (-2, 3)]:
    try:
        refused = downpour([once], 1, 1, bad_fetch, bad_push, 0.5)
    except ValueError:
        pass
    else:
        raise AssertionError(f"fetch={bad_fetch}, push={bad_push} must raise ValueError; it returned {refused!r}")


### BEGIN HIDDEN TESTS
def real_downpour(steps, size, workers, fetch, push, rate):
    """The same as a TensorFlow graph: parameters, versions, own copies and what is accrued are variables."""

    def variable(value):
        return tf1.get_variable(f"v{len(tf1.global_variables())}", initializer=value, use_resource=True)

    with tf.Graph().as_default():
        x, y = tf1.placeholder(tf.float64, [None, size]), tf1.placeholder(tf.float64, [None])
        parameters, version = variable(np.zeros(size)), variable(0)
        fetched, stepped, pushed, age = [], [], [], []
        for _ in range(workers):
            own, accrued, seen = variable(np.zeros(size)), variable(np.zeros(size)), variable(0)
            fetched.append(tf.group(own.assign(parameters.read_value()), seen.assign(version.read_value())))
            error = tf.linalg.matvec(x, own.read_value()) - y
            g = tf.linalg.matvec(x, 2 * error / tf.cast(tf.size(y), tf.float64), transpose_a=True)
            stepped.append(tf.group(accrued.assign_add(g), own.assign_sub(rate * g)))
            age.append(version.read_value() - seen.read_value())
            with tf.control_dependencies([parameters.assign_sub(rate * accrued.read_value())]):
                pushed.append(tf.group(accrued.assign(tf.zeros(size, tf.float64)), version.assign_add(1)))
        with tf1.Session(config=plain_config()) as session:
            session.run(tf1.global_variables_initializer())
            count, ages = [0] * workers, []
            for step in steps:
                if count[step.worker] % fetch == 0:
                    session.run(fetched[step.worker])
                session.run(stepped[step.worker], {x: step.x, y: step.y})
                count[step.worker] += 1
                if count[step.worker] % push == 0:
                    ages.append(int(session.run(age[step.worker])))
                    session.run(pushed[step.worker])
            return session.run(parameters), ages


seed = random.SystemRandom().randrange(10**6)
rng = np.random.default_rng(seed)
shapes = [(1, 1, 1), (2, 3, 2), (3, 2, 3), (4, 5, 2)]
shapes += [tuple(int(n) for n in rng.integers(1, [5, 6, 6])) for _ in range(2)]
for workers, fetch, push in shapes:
    size = int(rng.integers(1, 6))
    steps = random_steps(rng, 51, workers, size)
    mine = downpour(copy.deepcopy(steps), size, workers, fetch, push, 0.05)
    real = real_downpour(steps, size, workers, fetch, push, 0.05)
    assert_downpour(mine, *real, f"seed {seed}: {workers} workers, fetch {fetch}, push {push}")
### END HIDDEN TESTS

# %% [markdown] after_passing="downpour"
# Your worker did what Dean et al. describe in the appendix of their paper, and agreed with a TensorFlow graph in which even
# the workers' copies are variables. (Their pseudo-code pushes after steps 0, n, 2n, …; ours after every n-th step.)
# TensorFlow's heir for those who do not want stale gradients is `ConditionalAccumulator`
# (core/kernels/conditional_accumulator_base.h): it drops a gradient that is older than its own step.

# %% [markdown]
# ## 6. Many workers at once
#
# So far a schedule said who is next. A real cluster has none. From here on a worker is a thread that goes as fast as it
# can. The servers look after themselves: `pull` and `push` of the given `Shard` hold a lock, so that two threads never
# change one shard in the same moment. Two *shards* are not tied to each other: a worker's push may reach one shard before
# another worker's and the second shard after it. So each shard has its own staleness.

# %% nbgrader={"grade": false, "grade_id": "given-shard", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
class Batch(NamedTuple):
    """Examples for one step: x [batch, n] and y [batch], float64. Given."""

    x: np.ndarray
    y: np.ndarray


class Shard:
    """A shard with Adagrad that several threads may use at once; it counts its pulls. Given."""

    def __init__(self, values: np.ndarray, rate: float, accumulator: float) -> None:
        self._lock, self._rate = threading.Lock(), rate
        self._now, self._squares = values.copy(), np.full(values.shape, accumulator, values.dtype)
        self.version = self.pulls = 0

    def pull(self) -> Pulled:
        with self._lock:
            self.pulls += 1
            return Pulled(self._now.copy(), self.version)

    def push(self, gradient: np.ndarray) -> int:
        """Apply a gradient; returns the new version."""
        if np.shape(gradient) != self._now.shape:
            raise ValueError(f"the shard has the shape {self._now.shape}, the gradient {np.shape(gradient)}")
        with self._lock:
            self._squares = self._squares + gradient * gradient
            self._now = self._now - self._rate * gradient / np.sqrt(self._squares)
            self.version += 1
            return self.version


def shards_of(values: np.ndarray, ranges: list[Range], rate: float, accumulator: float) -> list[Shard]:
    """A server for each range of `values` [n]."""
    return [Shard(values[part.start : part.stop], rate, accumulator) for part in ranges]


# %% [markdown]
# Only the tests use the next cell. How do you test something that happens in another order each time? By taking away its freedom where it shows and nowhere
# else: a worker asks for its next batch at the end of each step, so an iterator that makes it wait decides who is next.
# `Turns` does that for any schedule. And a `Meeting` is a shard whose `pull` and `push` return only when all workers have
# called: workers that do not run at the same time never get past it.

# %% nbgrader={"grade": false, "grade_id": "given-turns", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
PATIENCE = 4.0  # seconds until a wait that should be short is given up
MOMENT = 0.5  # seconds that a slow worker takes for its second batch


class Turns:
    """Hands out batches in the order of a schedule of workers, each turn as long as the step takes. Given."""

    def __init__(self, schedule: list[int]) -> None:
        self._left, self._room, self._late = deque(schedule), threading.Condition(), False

    def stream(self, worker: int, batches: list[Batch]) -> Iterator[Batch]:
        """The batches of one worker; its turn ends when it asks for the next one."""
        for batch in batches:
            with self._room:
                self._wait(worker)
            yield batch
            with self._room:
                self._left.popleft()
                self._room.notify_all()

    def _wait(self, worker: int) -> None:
        """Wait for the worker's turn as long as somebody else moves on."""
        while not self._late and self._left[0] != worker:
            left = len(self._left)
            if not self._room.wait_for(lambda left=left: self._late or len(self._left) != left, PATIENCE):
                self._late = True
                self._room.notify_all()
        if self._late:
            raise TimeoutError(f"worker {worker} waited {PATIENCE:g} s for its turn: another worker did not end its step")


class Meeting(Shard):
    """A shard at which `workers` threads must call `pull` at the same time, and `push` too. Given.

    A push is applied when all have called, and returns when all are applied.
    """

    def __init__(self, values: np.ndarray, rate: float, accumulator: float, workers: int) -> None:
        super().__init__(values, rate, accumulator)
        self._all = threading.Barrier(workers)

    def pull(self) -> Pulled:
        self._all.wait(PATIENCE)
        return super().pull()

    def push(self, gradient: np.ndarray) -> int:
        self._all.wait(PATIENCE)
        version = super().push(gradient)
        self._all.wait(PATIENCE)
        return version


def outcome(function: Callable[..., object], *args: object) -> object:
    """What a call returned, or the exception that it raised."""
    try:
        return function(*args)
    except Exception as error:
        return error


def assert_form(got: object, pushes: list[int], servers: int, where: str) -> None:
    """Assert that `got` has a list per worker, with that many tuples of `servers` ints."""
    assert not isinstance(got, Exception), f"{where}: train raised {type(got).__name__}: {got}"
    assert type(got) is list, f"{where}: train returns a list, not a {type(got).__name__}"
    kinds = [type(own).__name__ for own in got]
    assert kinds == ["list"] * len(pushes), f"{where}: train returns {len(pushes)} lists, one per worker; found {kinds}"
    counts = [len(own) for own in got]
    assert counts == pushes, f"{where}: the workers push {pushes} times; the result says {counts}"
    for push in (push for own in got for push in own):
        assert type(push) is tuple, f"{where}: each push is a tuple, not a {type(push).__name__}"
        kinds = [type(age).__name__ for age in push]
        assert kinds == ["int"] * servers, f"{where}: a push has one int for each of {servers} servers, found {push!r}"


def assert_stale(got: object, want: list[list[tuple[int, ...]]], servers: int, where: str) -> None:
    """Assert that `got` is exactly this list of lists of tuples of int."""
    assert_form(got, [len(own) for own in want], servers, where)
    for worker, (mine, real) in enumerate(zip(got, want, strict=True)):
        assert mine == real, f"{where}: worker {worker}, staleness per push and shard: expected {real}, found {mine}"


# %% [markdown]
# ### Exercise 5 · Workers that run at once (3 points)
#
# Write `train(servers, ranges, batches, fetch, push, rate) -> list[list[tuple[int, ...]]]`. It runs one thread for each
# iterator in `batches`, all at the same time, and returns when all have ended.
#
# - `servers` are shards as above; `servers[s]` holds the parameters from `ranges[s].start` up to `ranges[s].stop`. The
#   ranges follow each other and may have any lengths.
# - A worker takes its next `Batch` from its iterator when the step before is complete, until the iterator ends. Its steps
#   are those of exercise 4: before a step whose number is a multiple of `fetch` it pulls from every server, in order;
#   each step accrues the gradient at its own copy and moves the own copy by −`rate` · g; after every `push` steps it pushes
#   to every server, in order, that server's part of what it has accrued, and accrues from zero again.
# - A worker pulls from a server when it fetches and at no other time. It takes no lock and waits for no other worker.
# - The result has a list for each worker, in the order of `batches`, with a tuple for each of its pushes, in order: the
#   staleness of this push at each server. As before that is the number of pushes which this server applied, from whomever,
#   between this worker's last pull and this push.
# - `fetch` and `push` are at least 1, and there is at least one worker.
# - If a worker fails (its iterator or a server raises), the others go on to their end; then `train` raises the error of the
#   worker, or that of one of them if several failed.
#
# One worker, two servers, `fetch` = 2, `push` = 1, three batches: the second push finds the first one applied.
#
# ```
# >>> train(servers, [Range(0, 2), Range(2, 3)], [iter([batch, batch, batch])], fetch=2, push=1, rate=0.1)
# [[(0, 0), (1, 1), (0, 0)]]
# ```
#
# <details><summary>Hint 1</summary>
#
# Write the worker as an ordinary function of one iterator that returns its list, and think about threads last. To know the
# staleness you need no further question to the server: `push` returns the version after the push.
# </details>
#
# <details><summary>Hint 2</summary>
#
# `with ThreadPoolExecutor(len(batches)) as pool:` submit the worker for every iterator before asking for any result. A
# future's `result()` returns what the function returned, or raises what it raised; leaving the `with` block waits for
# all. In the worker, `for step, (x, y) in enumerate(stream):`.
# </details>

# %% nbgrader={"grade": false, "grade_id": "run-at-once", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def train(
    servers: list[Shard], ranges: list[Range], batches: list[Iterator[Batch]], fetch: int, push: int, rate: float
) -> list[list[tuple[int, ...]]]:
    """Run one thread per iterator of batches; returns, per worker and push, the staleness at each server.

    Raises:
        Exception: what a worker raised, after all workers have ended.
    """

    ### BEGIN SOLUTION
    def work(stream: Iterator[Batch]) -> list[tuple[int, ...]]:
        stale = []
        accrued = own = np.zeros(ranges[-1].stop)
        seen: list[int] = []
        for step, (x, y) in enumerate(stream):
            if step % fetch == 0:
                pulled = [server.pull() for server in servers]
                own = np.concatenate([part.values for part in pulled])
                seen = [part.version for part in pulled]
            g = gradient(own, x, y)
            accrued = accrued + g
            own = own - rate * g
            if (step + 1) % push == 0:
                parts = [accrued[part.start : part.stop] for part in ranges]
                versions = [server.push(part) for server, part in zip(servers, parts, strict=True)]
                stale.append(tuple(after - 1 - before for after, before in zip(versions, seen, strict=True)))
                accrued = np.zeros_like(accrued)
        return stale

    with ThreadPoolExecutor(len(batches)) as pool:
        futures = [pool.submit(work, stream) for stream in batches]
    return [future.result() for future in futures]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "run-at-once-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
# examiner: same process – the subject is threads that share live servers
batch = Batch(np.float64([[1, 2, 3]]), np.float64([1]))
two = [Range(0, 2), Range(2, 3)]
servers = shards_of(np.zeros(3), two, 0.5, 1.0)
stale = outcome(train, servers, two, [iter([batch, batch, batch])], 2, 1, 0.1)
assert_stale(stale, [[(0, 0), (1, 1), (0, 0)]], 2, "one worker, three steps")
pulls = [server.pulls for server in servers]
assert pulls == [2, 2], f"fetch = 2 and three steps: two pulls from each server; counted {pulls}"
meetings = [Meeting(np.zeros(2), 0.5, 1.0, 3), Meeting(np.zeros(1), 0.5, 1.0, 3)]
stale = outcome(train, meetings, two, [iter([batch]) for _ in range(3)], 1, 1, 0.1)
assert type(stale) is not threading.BrokenBarrierError, (
    f"three workers, each of which waits in a server's pull or push until all three have called it: after {PATIENCE:g} s "
    "not all had come. Start all threads before you wait for one, and hold no lock while you call a server"
)
assert_form(stale, [1, 1, 1], 2, "three workers with one batch each")
firsts = [sorted(own[0][s] for own in stale) for s in range(2)]
assert firsts == [[0, 1, 2], [0, 1, 2]], (
    "three workers pull at the same time and push once each: on each server the staleness is 0, 1 and 2, in some order; "
    f"found {stale!r}. A server's version before or after your push may be that of other pushes; `push` returns yours"
)


### BEGIN HIDDEN TESTS
def real_graph(initial, ranges, workers, rate, shard_rate, accumulator):
    """Servers and workers as variables and ops of the default graph, by name; lists have one entry per worker or shard."""
    size = len(initial)

    def variable(value):
        return tf1.get_variable(f"v{len(tf1.global_variables())}", initializer=value, use_resource=True)

    x, y = tf1.placeholder(tf.float64, [None, size]), tf1.placeholder(tf.float64, [None])
    shards, versions = [variable(initial[part.start : part.stop]) for part in ranges], [variable(0) for _ in ranges]
    optimizer = tf1.train.AdagradOptimizer(shard_rate, initial_accumulator_value=accumulator)
    ops = {"x": x, "y": y, "shards": shards, "fetched": [], "stepped": [], "pushed": [], "age": []}
    ops["counted"] = [version.assign_add(1).op for version in versions]
    for _ in range(workers):
        own, accrued, seen = variable(np.zeros(size)), variable(np.zeros(size)), [variable(0) for _ in ranges]
        noted = [note.assign(version.read_value()) for note, version in zip(seen, versions, strict=True)]
        ops["fetched"].append(tf.group(own.assign(tf.concat([shard.read_value() for shard in shards], 0)), *noted))
        error = tf.linalg.matvec(x, own.read_value()) - y
        g = tf.linalg.matvec(x, 2 * error / tf.cast(tf.size(y), tf.float64), transpose_a=True)
        ops["stepped"].append(tf.group(accrued.assign_add(g), own.assign_sub(rate * g)))
        ops["age"].append([now.read_value() - then.read_value() for now, then in zip(versions, seen, strict=True)])
        parts = [accrued.read_value()[part.start : part.stop] for part in ranges]
        with tf.control_dependencies([optimizer.apply_gradients(list(zip(parts, shards, strict=True)))]):
            emptied = accrued.assign(tf.zeros(size, tf.float64))
            ops["pushed"].append(tf.group(emptied, *[version.assign_add(1) for version in versions]))
    return ops


def real_train(schedule, streams, outsiders, fetch, push, *of_graph):
    """The same in the order of a schedule, as a TensorFlow graph. `outsiders[step]` is a server that someone else
    pushes zeros to before that step, or None. Returns the parameters, and the staleness per worker."""
    with tf.Graph().as_default():
        initial, ranges, *rates = of_graph
        ops = real_graph(initial, ranges, len(streams), *rates)
        with tf1.Session(config=plain_config()) as session:
            session.run(tf1.global_variables_initializer())
            count, stale, left = [0] * len(streams), [[] for _ in streams], [iter(own) for own in streams]
            for worker, outsider in zip(schedule, outsiders, strict=True):
                if outsider is not None:
                    session.run(ops["counted"][outsider])
                if count[worker] % fetch == 0:
                    session.run(ops["fetched"][worker])
                batch = next(left[worker])
                session.run(ops["stepped"][worker], {ops["x"]: batch.x, ops["y"]: batch.y})
                count[worker] += 1
                if count[worker] % push == 0:
                    stale[worker].append(tuple(int(n) for n in session.run(ops["age"][worker])))
                    session.run(ops["pushed"][worker])
            return np.concatenate(session.run(ops["shards"])), stale


def in_turns(schedule, streams, servers, outsiders):
    """The streams, each of which waits for its turns; an outsider pushes zeros when the step's turn has come."""
    turns, left = Turns(schedule), iter(outsiders)

    def stream(worker):
        for batch in turns.stream(worker, streams[worker]):
            outsider = next(left)
            if outsider is not None:
                servers[outsider].push(np.zeros_like(servers[outsider].pull().values))
            yield batch

    return [stream(worker) for worker in range(len(streams))]


seed = random.SystemRandom().randrange(10**6)
rng = np.random.default_rng(seed)
cuts = {1: [Range(0, 5)], 2: [Range(0, 1), Range(1, 5)], 3: [Range(0, 3), Range(3, 4), Range(4, 5)]}
for workers, fetch, push, shards in [(1, 1, 1, 2), (3, 1, 1, 1), (2, 3, 2, 3), (4, 2, 3, 2)]:
    ranges, initial = cuts[shards], rng.normal(size=5)
    schedule = [int(worker) for worker in rng.permutation(np.repeat(np.arange(workers), 12))]
    streams = [[Batch(rng.normal(size=(3, 5)), rng.normal(size=3)) for _ in range(12)] for _ in range(workers)]
    outsiders = [int(rng.integers(shards)) if workers > 1 and rng.random() < 0.3 else None for _ in schedule]
    servers = shards_of(initial, ranges, 0.25, 0.5)  # rates that float32 holds exactly: TensorFlow rounds them to it
    waiting = in_turns(schedule, streams, servers, outsiders)
    stale = outcome(train, servers, list(ranges), waiting, fetch, push, 0.05)
    pulls = [server.pulls for server in servers]
    parameters, real = real_train(schedule, streams, outsiders, fetch, push, initial, ranges, 0.05, 0.25, 0.5)
    where = f"seed {seed}: {workers} workers, {shards} shards, fetch {fetch}, push {push}, in forced turns"
    assert_stale(stale, real, shards, where)
    ends = np.concatenate([server.pull().values for server in servers])
    assert_near(ends, parameters, f"{where}, the servers' parameters at the end", rtol=1e-9, atol=1e-12)
    due = [workers * -(-12 // fetch) + outsiders.count(s) for s in range(shards)]
    assert pulls == due, f"{where}: {due} pulls are due per server (the test's own included), counted {pulls}"

left_train = threading.Event()


def loses_its_disk():
    yield batch
    raise KeyError("a worker lost its disk")


def goes_on():
    yield batch
    left_train.wait(MOMENT)  # a right train stays until this worker has ended, so this wait ends by itself
    yield from [batch] * 300


servers = shards_of(np.zeros(3), two, 0.5, 1.0)
raised = outcome(train, servers, list(two), [loses_its_disk(), goes_on(), goes_on()], 1, 1, 0.1)
counts = [server.version for server in servers]
left_train.set()
assert type(raised) is KeyError, f"the iterator of a worker raised KeyError; train must raise it too, it gave {raised!r}"
assert counts == [603, 603], (
    "worker 0 fails after one push, two others push 301 times each: when train raises, each server has applied 603; "
    f"found {counts}. Do the others go on to their end before train raises?"
)



def refuses(pushed):
    raise ConnectionError("the server is gone")


servers = shards_of(np.zeros(3), two, 0.5, 1.0)
servers[1].push = refuses
raised = outcome(train, servers, list(two), [iter([batch]), iter([batch])], 1, 1, 0.1)
assert type(raised) is ConnectionError, f"a server's push raised ConnectionError; train must raise it, it gave {raised!r}"

crowd = [Meeting(np.zeros(3), 0.5, 1.0, 40)]
stale = outcome(train, crowd, [Range(0, 3)], [iter([batch]) for _ in range(40)], 1, 1, 0.1)
assert type(stale) is not threading.BrokenBarrierError, "forty workers do not run at once: one thread for each iterator"
assert_form(stale, [1] * 40, 1, "forty workers with one batch each")

servers = shards_of(np.zeros(3), two, 0.5, 1.0)
free = outcome(train, servers, list(two), [iter([batch] * 40) for _ in range(4)], 1, 1, 0.1)
assert_form(free, [40] * 4, 2, "four workers with 40 batches each, in no forced order")
counts = [server.version for server in servers]
assert counts == [160, 160], f"four workers push 40 times each: version 160 on both servers, found {counts}"
### END HIDDEN TESTS

# %% [markdown] after_passing="run-at-once"
# You ran a parameter server: threads in forced turns gave the numbers of a TensorFlow graph, and left to themselves they
# met in `pull` and in `push` and lost nothing. With one worker, `fetch` = `push` = 1, it is plain sequential training.
# In TensorFlow the same part is played by a client thread per worker that calls `session.run`, or by
# `ParameterServerStrategy` with its coordinator (python/distribute/parameter_server_strategy_v2.py). The staleness comes
# from the version that `push` returns: asking the server afterwards would count pushes that came later.

# %% [markdown]
# ## 7. What staleness does
#
# Now with real processes again. The cell runs the cluster of section 1 with one, four and eight workers, always with 240
# pushes in all, once with `PlainServer` and once with Adagrad, and measures the staleness of every push. The histogram
# adds up both: 480 pushes for each number of workers.

# %%
def adagrad_servers(rate: float, shards: int = 2) -> list[Shard]:
    return [Shard(part, rate, 0.1) for part in np.array_split(np.zeros(40), shards)]


def run_clusters() -> dict[tuple[str, int], tuple[list, list]]:
    """240 pushes by one, four and eight workers, on servers of both kinds: the first server's log and the losses."""
    results = {}
    for rule, servers_of in [("plain SGD", plain_servers), ("Adagrad", adagrad_servers)]:
        for workers in (1, 4, 8):
            logs, losses = cluster(servers_of(0.35), workers, 240 // workers)
            results[rule, workers] = logs[0], losses
    return results


ages: dict[str, list[int]] = {}
curves: dict[str, dict[str, list[float]]] = {"plain SGD": {}, "Adagrad": {}}
for (rule, workers), (log, losses) in in_fresh_process(run_clusters).value.items():
    name = f"{workers} worker{'s' * (workers > 1)}"
    pushes = [event for event in exchanges(log, losses) if event.kind == "push"]
    curves[rule][name] = [event.loss for event in pushes]
    ages.setdefault(name, []).extend(event.staleness for event in pushes)
view.staleness_histogram(ages, title="Staleness at the first server")

# %% [markdown]
# One worker is never stale. With W workers that pull and push in every step, the mean is at most W − 1, whatever the
# order: a push can fall between the pull and the push of each other worker at most once. How near the mean comes to
# that, and how long the tail is, depends on your machine. Now the price, first with plain SGD at a rate of 0.35.

# %%
view.loss_curves(curves["plain SGD"], title="Plain SGD, rate 0.35")

# %%
view.loss_curves(curves["Adagrad"], title="Adagrad at the server, rate 0.35")


# %% [markdown]
# A rate that is good for one worker makes eight workers diverge under plain SGD: each corrects an error that the others
# have corrected already, and all together overshoot. With Adagrad the steps shrink where gradients have been large, and
# the same workers converge. Dean et al. found this with thousands of cores: Adagrad in the servers made Downpour SGD
# robust. The rule lived in the server's code, and that was the trouble with it, as the next part shows.

# %% [markdown]
# ## 8. 2015: state is a node
#
# Somebody invents an optimizer. In DistBelief the rule by which a gradient changes a parameter was C++ in the parameter
# server, behind a fixed interface: read parameters, send a gradient. A rule with more state, one that changes two
# parameters together, or one that changes nothing under some condition meant a new server. That is one of the reasons
# which the TensorFlow paper gives for starting again (Abadi et al., *TensorFlow: A system for large-scale machine
# learning*, 2016, section 2).
#
# TensorFlow has no server code for this. A program is a **graph**. A **node** is one operation; an **edge** carries a
# tensor from the node that makes it to a node that reads it. A **variable** is a node too: `VarHandleOp` gives a handle to
# a value that outlives one `session.run`, `ReadVariableOp` and the `Assign…` nodes read and change it. A **session** runs
# the nodes that you name, and what they need.
#
# The words of the next cell: a **placeholder** is a node whose value the caller feeds with `session.run`.
# `use_resource=True` asks for the kind of variable just described. `read_value=False` makes an assignment only, without
# a read of the new value. `tf.group` makes a node without a value that waits for others; the edges by which it waits
# carry no tensor. These are **control edges**, dashed in the picture. Here is Adagrad, from the most ordinary operations.

# %% nbgrader={"grade": false, "grade_id": "given-adagrad-graph", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def adagrad_graph(initial: np.ndarray, rate: float, accumulator: float) -> GraphDef:
    """A server as a graph: `init` sets the state, `push` applies the fed `gradient`, `pull:0` is the parameters."""
    with tf.Graph().as_default() as drawn:
        parameters = tf1.get_variable("parameters", initializer=initial, use_resource=True)
        squares = tf1.get_variable("squares", initializer=np.full_like(initial, accumulator), use_resource=True)
        fed = tf1.placeholder(initial.dtype, initial.shape, name="gradient")
        total = squares.read_value() + fed * fed
        tf.group(
            squares.assign(total, read_value=False),
            parameters.assign_sub(rate * fed / tf.sqrt(total), read_value=False),
            name="push",
        )
        tf.identity(parameters.read_value(), name="pull")
        tf1.variables_initializer([parameters, squares], name="init")
    return drawn.as_graph_def()


@contextlib.contextmanager
def imported(graph: GraphDef) -> Iterator[tf1.Session]:
    """A session on `graph`, with optimisers and soft placement off."""
    with tf.Graph().as_default():
        tf.import_graph_def(graph, name="")
        with tf1.Session(config=plain_config()) as session:
            yield session


def needed(graph: GraphDef, wanted: list[str]) -> GraphDef:
    """The part of `graph` that these nodes need."""
    nodes = {node.name: node for node in graph.node}
    found, todo = set(), list(wanted)
    while todo:
        name = todo.pop().lstrip("^").partition(":")[0]
        if name not in found:
            found.add(name)
            todo += nodes[name].input
    return GraphDef(node=[node for node in graph.node if node.name in found], versions=graph.versions)


# %%
server_graph = adagrad_graph(np.zeros(3), rate=0.3, accumulator=0.1)
state = {"parameters": "state", "squares": "state", "gradient": "fed by a worker", "push": "asked for", "pull": "asked for"}
view.graph(needed(server_graph, ["push", "pull"]), highlight=state, title="A parameter server: push and pull")

# %% [markdown]
# Find in it what you wrote in exercise 2: two pieces of state, a square, a sum, a root, a division, two assignments. The
# session runs `push` when a worker wants it and `pull` when a worker wants that; nothing else is left of the server. One
# worker in lock-step must then get the same numbers from both. (A fed tensor is named `gradient:0`: output 0 of the node
# `gradient`.)

# %%
x, y = examples()
start, batches = np.zeros(40), np.random.default_rng(0).integers(0, len(x), (50, 256))
server = Shard(start, 0.3, 0.1)
for chosen in batches:
    server.push(gradient(server.pull().values, x[chosen], y[chosen]))
with imported(adagrad_graph(start, 0.3, 0.1)) as session:
    session.run("init")
    for chosen in batches:
        session.run("push", {"gradient:0": gradient(session.run("pull:0"), x[chosen], y[chosen])})
    by_graph, by_server = session.run("pull:0"), server.pull().values
print(f"After 50 steps: {np.abs(by_graph - by_server).max():.1e} is the largest difference in values from", end=" ")
print(f"{by_server.min():.2f} to {by_server.max():.2f}")


# %% [markdown]
# Now three threads on one graph, as three workers. One thing is missing for the measurement: a version that belongs to the
# values. So a third variable counts the pushes, and a `tf.CriticalSection` makes a pull or a push one thing that nothing
# can come between. This too is no server code: version and lock are nodes. Writing related parameters together is one of
# the things that DistBelief's interface could not say.

# %%
def shared_graph(initial: np.ndarray, rate: float, accumulator: float) -> GraphDef:
    """As `adagrad_graph`, with a version; `pulled:0`, `seen:0` and `pushed:0` exclude each other."""
    with tf.Graph().as_default() as drawn:
        parameters = tf1.get_variable("parameters", initializer=initial, use_resource=True)
        squares = tf1.get_variable("squares", initializer=np.full_like(initial, accumulator), use_resource=True)
        version = tf1.get_variable("version", initializer=0, use_resource=True)
        fed = tf1.placeholder(initial.dtype, initial.shape, name="gradient")
        section = tf.CriticalSection(name="one_at_a_time")

        def push():
            total = squares.read_value() + fed * fed
            moved = parameters.assign_sub(rate * fed / tf.sqrt(total), read_value=False)
            with tf.control_dependencies([moved, squares.assign(total, read_value=False)]):
                return version.assign_add(1).read_value()

        tf.identity(section.execute(push), name="pushed")
        values, seen = section.execute(lambda: (parameters.read_value(), version.read_value()))
        tf.identity(values, name="pulled")
        tf.identity(seen, name="seen")
        tf1.global_variables_initializer()
    return drawn.as_graph_def()


def worker(session: tf1.Session, number: int, steps: int) -> list[tuple[int, int, float]]:
    """Train; returns the version seen, the version made and the loss of each step."""
    rng, done = np.random.default_rng(number), []
    for _ in range(steps):
        values, seen = session.run(["pulled:0", "seen:0"])
        chosen = rng.integers(0, len(x), 256)
        made = session.run("pushed:0", {"gradient:0": gradient(values, x[chosen], y[chosen])})
        done.append((int(seen), int(made), float(np.mean((x @ values - y) ** 2))))
    return done


with imported(shared_graph(np.zeros(40), 0.3, 0.1)) as session, ThreadPoolExecutor(3) as threads:
    session.run("init")
    runs = list(threads.map(lambda number: worker(session, number, 8), range(3)))

# A pull at version v came after push v and before push v + 1: so the versions give the order of the events.
events = [((seen, 1), view.Exchange(number, "pull")) for number, run in enumerate(runs) for seen, _, _ in run]
events += [
    ((made, 0), view.Exchange(number, "push", made - 1 - seen, loss))
    for number, run in enumerate(runs)
    for seen, made, loss in run
]
view.space_time([event for _, event in sorted(events, key=lambda pair: pair[0])], title="Three threads, one graph")


# %% [markdown]
# ### Exercise 6 · A new optimizer without a new server (4 points)
#
# PowerSign (Bello et al., *Neural Optimizer Search with Reinforcement Learning*, 2017) makes a step larger where the
# gradient agrees in sign with its own running mean m, and smaller where it does not. Write
# `powersign_graph(initial, rate, base, decay, beta) -> GraphDef`, a server as a graph like `adagrad_graph`.
#
# - `initial` is a float32 array of any shape, where the parameters p begin; m begins at zeros of that shape. The others
#   are Python floats.
# - It has a placeholder `gradient` (float32, the shape of `initial`), a node `init` that sets the state, a node `push` that
#   applies the fed gradient g once, and a tensor `pull:0`, the parameters as they are when it runs.
# - A push first sets m ← `beta` · m + (1 − `beta`) · g, and then
#   p ← p − `rate` · exp(ln(`base`) · `decay` · sign(g) · sign(m)) · g, with the *new* m.
# - If any entry of g is not finite (NaN, ±infinity), a push changes nothing, neither p nor m.
# - No node's op type contains `Apply` or `PyFunc`: TensorFlow has this optimizer as one C++ kernel, and you do without;
#   and nothing is left to Python.
#
# Tests run `init` once, then `push` and `pull:0`, each by itself. With `initial` = [1, 1], `rate` = 0.1, `base` = 2,
# `decay` = 1, `beta` = 0.5 and a first push of [1, −2], m becomes [0.5, −1], so both signs agree and the step is
# 0.1 · 2 · g:
#
# ```
# >>> with imported(powersign_graph(np.float32([1, 1]), 0.1, 2.0, 1.0, 0.5)) as session:
# ...     session.run("init"); session.run("push", {"gradient:0": [1, -2]}); session.run("pull:0")
# array([0.8, 1.4], dtype=float32)
# ```
#
# <details><summary>Hint 1</summary>
#
# A graph has no order of lines: a node runs when its inputs are there. `m.read_value()` written below `m.assign(…)` may
# run before it. Compute the new m as a tensor from one read, and use that tensor wherever you need the new m.
# </details>
#
# <details><summary>Hint 2</summary>
#
# `ok = tf.reduce_all(tf.math.is_finite(g))` is a tensor. Compute the new p and the new m as if all were well, and assign
# `tf.where(ok, new, old)` to each variable: `where` chooses, so a NaN that is not chosen does no harm. `tf.group(…,
# name="push")` makes one node of both assignments.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-pushes", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def after_pushes(graph: object, gradients: list[np.ndarray]) -> list[np.ndarray]:
    """What `pull:0` gives after each push. Asserts that `graph` is a GraphDef with the nodes that were asked for."""
    assert type(graph) is GraphDef, f"powersign_graph returns a GraphDef, not a {type(graph).__name__}"
    names = {node.name for node in graph.node}
    missing = [name for name in ("gradient", "init", "push", "pull") if name not in names]
    assert not missing, f"the graph has no node {', '.join(missing)}; it has {sorted(names)}"
    inner = [node for function in graph.library.function for node in function.node_def]
    barred = sorted({node.op for node in [*graph.node, *inner] if "Apply" in node.op or "PyFunc" in node.op})
    assert not barred, f"no op type may contain Apply or PyFunc; found {', '.join(barred)}"
    (fed,) = (node for node in graph.node if node.name == "gradient")
    assert fed.op == "Placeholder", f"gradient is a Placeholder, found {fed.op}"
    values = []
    with imported(graph) as session:
        session.run("init")
        for pushed in gradients:
            session.run("push", {"gradient:0": pushed})
            values.append(session.run("pull:0"))
    return values


# %% nbgrader={"grade": false, "grade_id": "optimizer-as-nodes", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def powersign_graph(initial: np.ndarray, rate: float, base: float, decay: float, beta: float) -> GraphDef:
    """PowerSign as a graph with nodes `gradient`, `init`, `push` and `pull`; a gradient that is not finite is ignored."""
    ### BEGIN SOLUTION
    with tf.Graph().as_default() as graph:
        weights = tf1.get_variable("weights", initializer=initial, use_resource=True)
        mean = tf1.get_variable("mean", initializer=np.zeros_like(initial), use_resource=True)
        g = tf1.placeholder(tf.float32, initial.shape, name="gradient")
        p, m = weights.read_value(), mean.read_value()
        new_m = beta * m + (1 - beta) * g
        new_p = p - rate * tf.exp(np.log(base) * decay * tf.sign(g) * tf.sign(new_m)) * g
        ok = tf.reduce_all(tf.math.is_finite(g))
        tf.group(
            weights.assign(tf.where(ok, new_p, p), read_value=False),
            mean.assign(tf.where(ok, new_m, m), read_value=False),
            name="push",
        )
        tf.identity(weights.read_value(), name="pull")
        tf1.variables_initializer([weights, mean], name="init")
    return graph.as_graph_def()
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "optimizer-as-nodes-test", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
drawn = powersign_graph(np.float32([1, 1]), 0.1, 2.0, 1.0, 0.5)
first, second = after_pushes(drawn, [np.float32([1, -2]), np.float32([-2, -1])])
assert_near(first, np.float32([0.8, 1.4]), "after a push of [1, -2], which makes m = [0.5, -1]")
assert_near(second, np.float32([1.2, 1.6]), "then after a push of [-2, -1], which makes m = [-0.75, -1]")


### BEGIN HIDDEN TESTS
def real_powersign(initial, rate, base, decay, beta, gradients):
    """The parameters after each push, by TensorFlow's kernel, which is run for finite gradients only."""
    values = []
    with tf.Graph().as_default():
        p = tf1.get_variable("p", initializer=initial, use_resource=True)
        m = tf1.get_variable("m", initializer=np.zeros_like(initial), use_resource=True)
        g = tf1.placeholder(tf.float32, initial.shape)
        pushed = tf.raw_ops.ResourceApplyPowerSign(
            var=p.handle, m=m.handle, lr=rate, logbase=np.float32(np.log(base)), sign_decay=decay, beta=beta, grad=g
        )
        with tf1.Session(config=plain_config()) as session:
            session.run(tf1.global_variables_initializer())
            for fed in gradients:
                if np.count_nonzero(np.isfinite(fed)) == fed.size:
                    session.run(pushed, {g: fed})
                values.append(session.run(p))
    return values


seed = random.SystemRandom().randrange(10**6)
rng = np.random.default_rng(seed)
for shape in [(1,), (5,), (2, 3), (7,)]:
    initial = rng.normal(size=shape).astype(np.float32)
    rate, decay, beta = (float(rng.uniform(0.1, 0.9)) for _ in range(3))
    base = float(rng.choice([1.5, np.e, 4.0]))
    fed = [rng.normal(size=shape).astype(np.float32) for _ in range(15)]
    fed[4].flat[0] = 0.0
    fed[6].flat[-1] = np.nan
    fed[10].flat[0] = rng.choice([np.inf, -np.inf])
    mine = after_pushes(powersign_graph(initial.copy(), rate, base, decay, beta), fed)
    for step, (got, want) in enumerate(zip(mine, real_powersign(initial, rate, base, decay, beta, fed), strict=True)):
        where = f"seed {seed}, shape {shape}, rate {rate:.3g}, base {base:.3g}, decay {decay:.3g}, beta {beta:.3g}: after "
        where += f"push {step} of {fed[step].tolist()}"
        odd = [number for number in (6, 10) if number < step]
        if odd:
            where += f" (push {odd[-1]} had NaN or infinity in it: m must not have changed either)"
        assert_near(got, want, f"{where}, compared with TensorFlow's kernel", rtol=1e-4, atol=1e-5)
### END HIDDEN TESTS

# %% [markdown] after_passing="optimizer-as-nodes"
# You added an optimizer with state of its own and a conditional update, and no server changed. TensorFlow's own PowerSign is
# one kernel, `ApplyPowerSignOp` (core/kernels/training_ops.cc), which does in one node what yours do in many, with equal
# numbers. Ours lets data order everything: m is read once, and both the sign and the assignment use the tensor that
# was computed from that read.

# %% [markdown]
# ## 9. One computation, three generations
#
# The graph outlived the session. In the first generation (2015) you wrote a graph and ran it in a session. In the second
# (2019) Python runs eagerly, and `tf.function` **traces** a Python function into a graph. In the third, the compiler XLA
# (public since 2017, reached from `tf.function` by `jit_compile=True`) takes that graph and makes a program in its own
# language, HLO, from it. Here is one computation in all three.

# %% nbgrader={"grade": false, "grade_id": "given-generations", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
Program = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]
SQUARE = tf.TensorSpec([4, 4], tf.float32)


def layer(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    """relu(x·y) · 1.5."""
    product = tf.matmul(x, y, name="product")
    return tf.multiply(tf.nn.relu(product, name="relu"), tf.constant(1.5, name="factor"), name="scaled")


def traced(program: Program) -> tuple[GraphDef, GraphDef]:
    """The same program as a graph for a session, and as the graph of a `tf.function`; x and y are [4, 4], float32."""
    with tf.Graph().as_default() as old:
        program(*(tf1.placeholder(tf.float32, [4, 4], name=name) for name in "xy"))
    function = tf.function(program, autograph=False)
    new = function.get_concrete_function(*(tf.TensorSpec([4, 4], tf.float32, name=name) for name in "xy"))
    return old.as_graph_def(), new.graph.as_graph_def()


def hlo_of(program: Program) -> str:
    """What XLA makes of the program, before XLA's own optimisations, as text."""
    function = tf.function(program, autograph=False, jit_compile=True)
    return function.experimental_get_compiler_ir(SQUARE, SQUARE)(stage="hlo")


# %%
value = np.float32(np.arange(16).reshape(4, 4) - 8)
with tf.Graph().as_default():
    result = layer(tf.constant(value), tf.constant(value))
    with tf1.Session(config=plain_config()) as session:
        by_session = session.run(result)
by_function = tf.function(layer, autograph=False)(value, value).numpy()
by_xla = tf.function(layer, autograph=False, jit_compile=True)(value, value).numpy()
print("largest difference from the session:", np.abs(by_function - by_session).max(), np.abs(by_xla - by_session).max())

for title, generation in zip(["graph for a session", "graph of a tf.function"], traced(layer), strict=True):
    print(f"\n{title}")
    for node in generation.node:
        print(f"  {node.name:<9}{node.op:<12}inputs {', '.join(node.input) or '–':<17}attributes {', '.join(sorted(node.attr))}")

# %%
view.graph(traced(layer)[1], title="The graph of the tf.function")


# %% [markdown]
# The nodes are the same, but for two things: a `tf.function` notes the name of its arguments in an attribute that begins
# with `_`, and it ends in an `Identity`, which passes a value on. The names agree here because the program gave them. That
# is luck: names are for people. What makes two nodes the same computation?
#
# ### Exercise 7 · One computation, two generations (3 points)
#
# Write `same_nodes(old, new) -> dict[str, str]`. It maps the name of each node of the GraphDef `old` to the name of the
# node of `new` that computes the same.
#
# - Two nodes are the same if they have the same op type, the same attributes, and inputs that are the same, in the same
#   order, each from the same output of its node. Attributes whose names begin with `_` do not count.
# - Nodes of type `Placeholder` correspond in the order in which they stand, the first of `old` to the first of `new`; both
#   graphs have equally many.
# - Nodes of type `Identity` in `new` are looked through: who reads one reads what it reads. They are in no map. `old` has
#   none.
# - A node without a partner is left out, and so is then every node that reads it.
#
# In both graphs a node stands after the nodes that it reads. An input is written `n` or `n:0` for output 0 of node n, `n:1`
# for output 1; both spellings of output 0 occur. There are no control inputs. No two nodes of one graph are the same.
# Names in `new` mean nothing, and it has nodes that `old` does not have. Hidden tests also rename op types, `Placeholder`
# and `Identity` aside (`MatMul` may be called `Q17`, in both graphs): compare them and do not look them up.
#
# ```
# >>> same_nodes(*traced(layer))
# {'x': 'x', 'y': 'y', 'product': 'product', 'relu': 'relu', 'factor': 'factor', 'scaled': 'scaled'}
# ```
#
# <details><summary>Hint 1</summary>
#
# Give every node a key such that equal keys mean the same computation. Once the inputs of a node have partners, everything
# that the key needs is known. Go through `new` first and remember which key belongs to which node.
# </details>
#
# <details><summary>Hint 2</summary>
#
# Key: op type, a sorted tuple of (name, `value.SerializeToString(deterministic=True)`) of the attributes, and a tuple of
# (node, output) of the inputs, with nodes named as in `new`. For `new` keep a dictionary from the name of an `Identity`
# to what it reads. For `old` translate each input by the map that you are building; an input that is not in it means: no
# partner.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-programs", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def random_program(rng: random.Random, size: int) -> Program:
    """A program of `size` ops on two [4, 4] tensors in which no op is called twice with the same operands.

    Every op has a name of its own; among them are constants, `Sub`, and `Split`, whose outputs are joined again.
    """
    names, calls, used = ["x", "y"], [], set()
    while len(calls) < size:
        kind = rng.choice(["MatMul", "Sub", "Sub", "AddV2", "Mul", "Relu", "Tanh", "Neg", "constant", "halves"])
        left, right = rng.choice(names), rng.choice(names)
        order = rng.choice([(0, 1), (1, 0), (0, 0), (1, 1)])
        call = {"constant": (kind, rng.uniform(-2, 2)), "halves": (kind, left, order)}.get(
            kind, (kind, left, right) if kind in ("MatMul", "Sub", "AddV2", "Mul") else (kind, left)
        )
        if call not in used:
            used.add(call)
            calls.append((f"op{len(calls)}", call))
            names.append(calls[-1][0])
    return lambda x, y: _run_calls(calls, {"x": x, "y": y})


def near_misses(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    """Nodes that differ in one thing only: the order of inputs, the output that they read, a constant's value."""
    calls = [("constant", 0.25), ("constant", 0.75), ("Sub", "x", "y"), ("Sub", "y", "x"), ("Mul", "op0", "x")]
    calls += [("Mul", "op1", "x"), *[("halves", "x", order) for order in ((0, 1), (1, 0), (0, 0), (1, 1))]]
    return _run_calls([(f"op{number}", call) for number, call in enumerate(calls)], {"x": x, "y": y})


def _run_calls(calls: list[tuple], values: dict[str, tf.Tensor]) -> tf.Tensor:
    axis, splits = tf.constant(0, name="axis"), {}
    for name, (kind, *operands) in calls:
        if kind == "constant":
            values[name] = tf.constant(operands[0], tf.float32, [4, 4], name=name)
        elif kind == "halves":
            source, order = operands
            if source not in splits:
                splits[source] = tf.raw_ops.Split(axis=axis, value=values[source], num_split=2, name=f"{name}_split")
            halves = [splits[source][index] for index in order]
            values[name] = tf.raw_ops.ConcatV2(values=halves, axis=axis, name=name)
        elif kind == "MatMul":
            a, b = (values[operand] for operand in operands)
            values[name] = tf.raw_ops.MatMul(a=a, b=b, name=name)
        elif kind in ("Sub", "AddV2", "Mul"):
            x, y = (values[operand] for operand in operands)
            values[name] = getattr(tf.raw_ops, kind)(x=x, y=y, name=name)
        else:
            argument = "features" if kind == "Relu" else "x"
            values[name] = getattr(tf.raw_ops, kind)(**{argument: values[operands[0]]}, name=name)
    return values[name]


def renamed(graph: GraphDef, rng: random.Random) -> tuple[GraphDef, dict[str, str]]:
    """`graph` with other names, in another valid order (placeholders keep theirs), and the map from old to new names.

    Some inputs then read through `Identity` nodes, and some spell output 0 out, as `n:0`.
    """
    numbers = rng.sample(range(10, 99), len(graph.node))
    names = {node.name: f"n{number}" for node, number in zip(graph.node, numbers, strict=True)}
    result, left, done = GraphDef(versions=graph.versions), list(graph.node), set()
    while left:
        ready = [node for node in left if {text.partition(":")[0] for text in node.input} <= done]
        waiting = [node for node in ready if node.op == "Placeholder"]
        node = rng.choice([node for node in ready if node not in waiting[1:]])
        left.remove(node)
        done.add(node.name)
        copied = result.node.add()
        copied.CopyFrom(node)
        copied.name = names[node.name]
        for index, text in enumerate(node.input):
            name, _, output = text.partition(":")
            copied.input[index] = names[name] + (f":{output}" if output else rng.choice(["", ":0"]))
    return result, names


# %% nbgrader={"grade": false, "grade_id": "same-nodes", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def same_nodes(old: GraphDef, new: GraphDef) -> dict[str, str]:
    """Map each node of `old` to the node of `new` that computes the same; nodes without a partner are left out."""
    ### BEGIN SOLUTION
    def ends(node: tf1.NodeDef) -> list[tuple[str, int]]:
        parts = [text.partition(":") for text in node.input]
        return [(name, int(output or 0)) for name, _, output in parts]

    def key(node: tf1.NodeDef, inputs: list[tuple[str | None, int]]) -> tuple:
        counted = [name for name in sorted(node.attr) if not name.startswith("_")]
        values = tuple((name, node.attr[name].SerializeToString(deterministic=True)) for name in counted)
        return node.op, values, tuple(inputs)

    placeholders = [[node.name for node in graph.node if node.op == "Placeholder"] for graph in (old, new)]
    same = dict(zip(*placeholders, strict=True))
    behind, by_key = {}, {}
    for node in new.node:
        inputs = [behind.get(end, end) for end in ends(node)]
        if node.op == "Identity":
            behind[node.name, 0] = inputs[0]
        elif node.op != "Placeholder":
            by_key[key(node, inputs)] = node.name
    for node in old.node:
        partner = by_key.get(key(node, [(same.get(name), output) for name, output in ends(node)]))
        if partner is not None:
            same[node.name] = partner
    return same
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "same-nodes-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
graphs = traced(layer)
same = same_nodes(*copy.deepcopy(graphs))
assert type(same) is dict, f"same_nodes returns a dict, not a {type(same).__name__}"
in_both = {name: name for name in ["x", "y", "product", "relu", "factor", "scaled"]}
assert same == in_both, f"the six nodes of `layer` have these partners: {in_both}; found {same}"
other, names = renamed(graphs[1], random.Random(1))
same = same_nodes(copy.deepcopy(graphs[0]), copy.deepcopy(other))
expected = {name: names[name] for name in in_both}
assert same == expected, f"names in `new` mean nothing: after renaming, the partners are {expected}; found {same}"


### BEGIN HIDDEN TESTS
def add_identities(graph, rng):
    """Some inputs read through Identity nodes, up to two behind each other."""
    result = GraphDef(versions=graph.versions)
    types = {"axis": tf.int32.as_datatype_enum}
    for node in graph.node:
        for index, text in enumerate(node.input):
            for _ in range(rng.choice([0, 0, 0, 1, 2])):
                name = f"through{len(result.node)}"
                passed = result.node.add(name=name, op="Identity", input=[node.input[index]])
                passed.attr["T"].type = types.get(text, tf.float32.as_datatype_enum)
                node.input[index] = name
        result.node.add().CopyFrom(node)
    return result


def annotated(graph, rng):
    """Attributes that begin with `_`, such as colocation leaves, on some nodes; and some outputs 0 spelt out."""
    result = GraphDef(node=graph.node, versions=graph.versions)
    for node in result.node:
        node.input[:] = [text if ":" in text else text + rng.choice(["", "", ":0"]) for text in node.input]
        if rng.random() < 0.4:
            node.attr["_class"].list.s.append(f"loc:@{rng.choice('abc')}".encode())
        if rng.random() < 0.4:
            shape = tf.TensorShape([rng.choice([4, None]), 4]).as_proto()
            node.attr["_output_shapes"].list.shape.append(shape)
    return result


def change(graph, rng):
    """Changes the op type or an attribute of one node, or a constant's value; returns the node's name."""
    kept = ("Placeholder", "Identity", "Split")
    node = rng.choice([node for node in graph.node if node.op not in kept and node.name != "axis"])
    if node.op == "Const":
        node.attr["value"].CopyFrom(tf1.AttrValue(tensor=tf.make_tensor_proto(rng.uniform(3, 9), tf.float32, [4, 4])))
    elif node.op == "MatMul":
        node.attr["transpose_b"].b = True
    elif node.op == "Sub":
        node.op = "SquaredDifference"
    else:
        node.attr["marked"].b = True
    return node.name


def in_disguise(old, new, rng):
    """Both graphs with the same disguise; Placeholder and Identity keep their types."""
    both = GraphDef(node=[*old.node, *new.node], versions=old.versions)
    both, ops = disguise(both, rng)
    back = {ops[op]: op for op in ("Placeholder", "Identity") if op in ops}
    for node in both.node:
        node.op = back.get(node.op, node.op)
    parts = both.node[: len(old.node)], both.node[len(old.node) :]
    return [GraphDef(node=part, versions=old.versions) for part in parts]


def told(graph, name):
    """A node in words: name, type, inputs and attributes that count."""
    for node in graph.node:
        if node.name == name:
            attributes = sorted(attribute for attribute in node.attr if not attribute.startswith("_"))
            return f"{name}: {node.op}, inputs {list(node.input)}, attributes {attributes}"
    return "none" if name is None else f"{name!r}, which is no node"


def has_twins(graph):
    """Whether two nodes have the same op type, attributes and inputs."""
    seen = []
    for node in graph.node:
        bare = tf1.NodeDef(op=node.op, input=node.input, attr=node.attr)
        if node.op != "Placeholder" and bare in seen:
            return True
        seen.append(bare)
    return False


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
for trial in range(20):
    old, new = traced(random_program(rng, 6 + trial * 14 // 19) if trial else near_misses)
    differing = set()
    for _ in range(trial % 3):
        changed = copy.deepcopy(new)
        name = change(changed, rng)
        if not has_twins(changed):
            new = changed
            differing.add(name)
    for node in new.node:
        if any(text.partition(":")[0] in differing for text in node.input):
            differing.add(node.name)
    own = GraphDef(node=[node for node in new.node if node.op != "Identity"], versions=new.versions)
    new, names = renamed(add_identities(own, rng), rng)
    truth = {node.name: names[node.name] for node in old.node if node.name not in differing}
    old, new = in_disguise(annotated(old, rng), annotated(new, rng), rng)
    mine = same_nodes(copy.deepcopy(old), copy.deepcopy(new))
    assert type(mine) is dict, f"seed {seed}: same_nodes returns a dict, not a {type(mine).__name__}"
    wrong = [node.name for node in old.node if truth.get(node.name) != mine.get(node.name)]
    wrong += [name for name in mine if name not in truth and name not in wrong]
    assert mine == truth, (
        f"seed {seed}, program {trial} of {len(old.node)} nodes: {len(wrong)} have another partner. The first of them:\n"
        f"in old {told(old, wrong[0])}\n"
        f"partner in new {told(new, truth.get(wrong[0]))}\nyours {told(new, mine.get(wrong[0]))}"
    )
### END HIDDEN TESTS

# %% [markdown] after_passing="same-nodes"
# You recognised a computation without its names: by op type, attributes and inputs. TensorFlow needs the same key to drop
# a computation that a graph holds twice: `OptimizerCSE` (core/graph/optimizer_cse.cc) hashes and compares just these. Ours
# can go through each graph once because a node stands behind what it reads, and because equal keys in `new` would be the
# same node.

# %% [markdown]
# ## 10. The third generation
#
# Before XLA's own optimisations an HLO program still shows what came from where: each instruction carries the type and the
# name of its TensorFlow op. This is `layer` again; the lines of the `ENTRY` computation, without where the op stood in a
# Python file. (`transpose` with `dimensions={0,1}` keeps the order of dimensions: `MatMul` emits it always.)

# %%
for line in hlo_of(layer).split("ENTRY")[1].splitlines()[1:-1]:
    print(re.sub(r" source_file=.*(?=})|, frontend_attributes={[^}]*}|, parameter_replication={[^}]*}", "", line))


# %% [markdown]
# ### Exercise 8 · The third generation (2 points)
#
# Write `hlo_origins(text) -> dict[str, list[str]]`. `text` is what `hlo_of` returns. For each TensorFlow node that is named
# in the `ENTRY` computation, by its `op_name`, the dict holds the opcodes of the HLO instructions that it became, in the
# order in which they stand.
#
# - An instruction stands on a line of its own: name `=` shape opcode`(`operands`)`, attributes. The last instruction of a
#   computation has `ROOT` before its name. A shape is `f32[4,4]{1,0}` or, for several values, `(s32[], f32[4,4]{1,0})`.
# - An instruction without `op_type` in its `metadata` is XLA's own, such as a parameter, and is left out.
# - Only the computation whose first line begins with `ENTRY` counts. It ends with a line that begins with `}`. Others,
#   such as the body of a loop, may stand before or after it.
#
# The parser of this course's pictures, `tflabs.view.hlo_text`, is withheld while the tests run your code.
#
# ```
# >>> hlo_origins(hlo_of(layer))
# {'product': ['dot', 'transpose'], 'relu': ['constant', 'broadcast', 'maximum'],
#  'scaled': ['constant', 'broadcast', 'multiply']}
# ```
#
# The node `factor` is missing: its value was known while `scaled` was translated, so the constant counts for `scaled`.
#
# <details><summary>Hint 1</summary>
#
# Two steps: first find the lines of the `ENTRY` computation, then take each line apart. Print a program with
# `tf.reduce_sum` or `tf.while_loop` to see what other computations look like.
# </details>
#
# <details><summary>Hint 2</summary>
#
# One regular expression finds the opcode: after ` = ` comes either a parenthesised shape or one without a space, then a
# space, then the opcode up to `(`. Another finds `op_name="…"`. `dict.setdefault(name, []).append(opcode)` collects.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-hlo-programs", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def random_steps_of(rng: random.Random) -> Program:
    """A program of reductions, elementwise ops and a matrix product, for XLA."""
    unary = {
        "sum": lambda value, name: value - tf.reduce_sum(value, 1, keepdims=True, name=name),
        "max": lambda value, name: value - tf.reduce_max(value, 0, keepdims=True, name=name),
        "mean": lambda value, name: value * tf.reduce_mean(value, name=name),
        "softmax": lambda value, name: tf.nn.softmax(value, name=name),
        "sorted": lambda value, name: tf.math.top_k(value, 4, name=name)[0],
        "tanh": lambda value, name: tf.tanh(value, name=name),
        "flipped": lambda value, name: tf.transpose(value, name=name),
    }
    chosen = [rng.choice(sorted(unary)) for _ in range(rng.randint(2, 5))]

    def program(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        value = tf.matmul(x, y, name="product")
        for number, kind in enumerate(chosen):
            value = unary[kind](value, f"{kind}{number}")
        return value

    return program


def looping(x: tf.Tensor, y: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Multiplies x by y three times, in a loop: HLO has the body as a computation of its own."""
    _, power = tf.while_loop(
        lambda count, power: count < 3,
        lambda count, power: (count + 1, tf.matmul(power, y, name="inner")),
        [tf.constant(0), tf.nn.relu(x, name="relu")],
        name="loop",
    )
    return power, tf.reduce_sum(power, name="total")


# %% nbgrader={"grade": false, "grade_id": "hlo-origins", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def hlo_origins(text: str) -> dict[str, list[str]]:
    """For each TensorFlow node named in the ENTRY computation, the opcodes of its instructions, in their order."""
    ### BEGIN SOLUTION
    origins: dict[str, list[str]] = {}
    entry = text[re.search("^ENTRY ", text, re.MULTILINE).start() :]
    for line in entry.splitlines()[1:]:
        if line.startswith("}"):
            break
        opcode = re.search(r" = (?:\(.*?\)|\S+) ([\w-]+)\(", line)
        name = re.search(r'metadata={op_type="[^"]+" op_name="([^"]+)"', line)
        if opcode and name:
            origins.setdefault(name[1], []).append(opcode[1])
    return origins
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "hlo-origins-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
of_pictures = [f"tflabs.view.hlo_text.{part}" for part in ("parse_hlo", "_computations", "_statements", "_instruction")]
with withheld(*of_pictures):
    origins = hlo_origins(hlo_of(layer))
assert type(origins) is dict, f"hlo_origins returns a dict, not a {type(origins).__name__}"
expected = {"product": ["dot", "transpose"], "relu": ["constant", "broadcast", "maximum"]}
expected |= {"scaled": ["constant", "broadcast", "multiply"]}
assert origins == expected, f"in `layer` the nodes became {expected}; found {origins}"


### BEGIN HIDDEN TESTS
def text_and_origins(program):
    """The HLO text, and the origins read from the program as XLA serialises it."""
    function = tf.function(program, autograph=False, jit_compile=True)
    stages = function.experimental_get_compiler_ir(SQUARE, SQUARE)
    text, module = stages(stage="hlo"), HloModuleProto.FromString(stages(stage="hlo_serialized"))
    (entry,) = (part for part in module.computations if part.id == module.entry_computation_id)
    origins = {}
    for instruction in entry.instructions:
        if instruction.metadata.op_type:
            origins.setdefault(instruction.metadata.op_name, []).append(instruction.opcode)
    return text, origins


def lines_of(names, text):
    """The lines of the ENTRY computation that name these nodes, without their place in a Python file."""
    entry = text[text.index("\nENTRY ") :].partition("\n}")[0].splitlines()
    lines = [line for line in entry if any(f'op_name="{name}"' in line for name in names)]
    return "\n".join(re.sub(r" source_file=.*?(?=})", "", line) for line in lines) or "ENTRY names none of them"


def entry_first(text):
    """The same program with the ENTRY computation before the others; the meaning does not change."""
    head, *computations = re.split(r"\n\n(?=\S)", text.strip())
    return "\n\n".join([head, *sorted(computations, key=lambda part: not part.startswith("ENTRY"))]) + "\n"


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
for program in [layer, looping, *[random_steps_of(rng) for _ in range(6)]]:
    text, real = text_and_origins(program)
    for given in (text, entry_first(text)):
        with withheld(*of_pictures):
            mine = hlo_origins(given)
        assert type(mine) is dict, f"seed {seed}: hlo_origins returns a dict, not a {type(mine).__name__}"
        wrong = {name: (real.get(name), mine.get(name)) for name in [*real, *mine] if real.get(name) != mine.get(name)}
        assert mine == real, f"seed {seed}: these nodes differ (right, yours): {wrong}.\n{lines_of(wrong, given)}"
### END HIDDEN TESTS

# %% [markdown] after_passing="hlo-origins"
# You followed every node into the third generation; the test read the same from XLA's serialised program. The metadata
# are set while TensorFlow's graph is translated: for each node, `XlaCompilationDevice::Compute`
# (compiler/tf2xla/xla_compilation_device.cc) sets its type and name on the builder before the node's `XlaOpKernel` emits
# instructions. Ours reads line by line, because HLO text has one instruction per line.

# %% [markdown]
# ## Play
#
# Everything that you built, moved by hand, with every bit of it as nodes of one TensorFlow graph: the parameters, the
# version, and also what a worker holds, its own copy, what it has accrued and the version that it saw. A schedule runs
# those nodes. Set the number of workers and the two intervals, choose who takes the steps, and watch events, staleness and
# loss. Ask: which costs more, a long fetch interval or one more worker? Does a slow worker hurt, or only its own gradients?

# %%
def downpour_graph(size: int, workers: int, rate: float) -> GraphDef:
    """All of Downpour SGD as a graph: `fetch0`, `step0` and `push0` for worker 0, and so on."""

    def state(name: str, value: object) -> tf.Variable:
        return tf1.get_variable(name, initializer=value, use_resource=True)

    with tf.Graph().as_default() as drawn:
        x = tf1.placeholder(tf.float64, [None, size], name="x")
        y = tf1.placeholder(tf.float64, [None], name="y")
        parameters, version = state("parameters", np.zeros(size)), state("version", 0)
        for number in range(workers):
            own, accrued = state(f"own{number}", np.zeros(size)), state(f"accrued{number}", np.zeros(size))
            seen = state(f"seen{number}", 0)
            tf.group(own.assign(parameters.read_value()), seen.assign(version.read_value()), name=f"fetch{number}")
            error = tf.linalg.matvec(x, own.read_value()) - y
            g = 2 * tf.linalg.matvec(x, error, transpose_a=True) / tf.cast(tf.size(y), tf.float64)
            tf.group(accrued.assign_add(g), own.assign_sub(rate * g), name=f"step{number}")
            tf.subtract(version.read_value(), seen.read_value(), name=f"staleness{number}")
            with tf.control_dependencies([parameters.assign_sub(rate * accrued.read_value())]):
                emptied = accrued.assign(tf.zeros(size, tf.float64))
                tf.group(emptied, version.assign_add(1), name=f"push{number}")
        error = tf.linalg.matvec(x, parameters.read_value()) - y
        tf.reduce_mean(error * error, name="loss")
        tf1.global_variables_initializer()
    return drawn.as_graph_def()


def run_schedule(schedule: list[int], workers: int, fetch: int, push: int) -> list[view.Exchange]:
    """Run the nodes of a schedule; what happened, in the order of the server."""
    x, y = examples()
    rng, count, events = np.random.default_rng(0), [0] * workers, []
    with imported(downpour_graph(40, workers, rate=0.2)) as session:
        session.run("init")
        for who in schedule:
            if count[who] % fetch == 0:
                session.run(f"fetch{who}")
                events.append(view.Exchange(who, "pull"))
            chosen = rng.integers(0, len(x), 64)
            session.run(f"step{who}", {"x:0": x[chosen], "y:0": y[chosen]})
            events.append(view.Exchange(who, "step"))
            count[who] += 1
            if count[who] % push == 0:
                age = int(session.run(f"staleness{who}:0"))
                session.run(f"push{who}")
                loss = float(session.run("loss:0", {"x:0": x, "y:0": y}))
                events.append(view.Exchange(who, "push", age, loss))
    return events


view.staleness_player(run_schedule)

# %% [markdown]
# ## Read on
#
# - Dean et al., *Large Scale Distributed Deep Networks*, NIPS 2012: Downpour SGD and its pseudo-code. Abadi et al.,
#   *TensorFlow: A system for large-scale machine learning*, OSDI 2016: section 2 says what DistBelief could not do.
# - `python/training/adagrad.py` (`AdagradOptimizer`, its slots) and `core/kernels/training_ops.cc` (`ApplyAdagradOp`,
#   `ApplyPowerSignOp`): an optimizer as Python that builds nodes, and as one fused kernel.
# - `core/kernels/resource_variable_ops.cc`: `VarHandleOp`, `ReadVariableOp`, `AssignVariableOp`.
#   `python/ops/critical_section_ops.py`: `CriticalSection`. `core/kernels/conditional_accumulator_base.h`: gradients that
#   are dropped when they are stale.
# - `python/training/sync_replicas_optimizer.py`: `SyncReplicasOptimizer`, lock-step for several workers.
#
# What changed since 1.x: `tf1.train.replica_device_setter` put variables on parameter servers and ops on workers, one
# session per worker. Today `ParameterServerStrategy` does it with a coordinator that hands functions to workers, and most
# training is synchronous: `MirroredStrategy`, `MultiWorkerMirroredStrategy`, without servers and without stale gradients.
# The graph stayed: lab 1-2 takes its three principles apart.

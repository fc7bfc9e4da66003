# %% [markdown]
# # Sessions
#
# What does a session keep between two `run` calls, and who decides which session and which graph a bare line of code
# means? A session is more than a handle to a graph: it holds plans for the steps it has run before, and TensorFlow
# holds a stack of sessions for each thread.
#
# At the end you have built a session: it takes apart and puts together any structure of fetches, runs one step of a
# graph, plans each kind of step once and knows when it is closed. And you can say which session is the default after
# any order of opening and closing, also in the orders that nobody intends.
#
# 100 minutes · 20 points · Before this lab: 2-1 (graph, node, tensor names such as `node:1`, control inputs such as
# `^node`).
#
# When you have saved, `./tflabs check 2-2-session` or Check on the start page grades your answers, also with tests that you do
# not see here.

# %% nbgrader={"grade": false, "grade_id": "given-imports", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
from tflabs.runtime import quiet

with quiet():
    import tensorflow as tf

import contextlib
import copy
import ctypes
import gc
import random
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
from tensorflow.core.protobuf.config_pb2 import CallableOptions

from tflabs.runtime import disguise, plain_config, trace_run, withheld

tf1 = tf.compat.v1
GraphDef = tf1.GraphDef
# What tests withhold: sessions, and the stack that their scopes go through.
TF_SESSIONS = (
    "tensorflow.compat.v1.Session",
    "tensorflow.compat.v1.InteractiveSession",
    "tensorflow.python.client.session.BaseSession",
    "tensorflow.compat.v1.Session.run",
)
TF_DEFAULTS = (
    "tensorflow.compat.v1.get_default_session",
    "tensorflow.compat.v1.Session.as_default",
    "tensorflow.python.framework.stack.DefaultStack.get_controller",
)


# %% [markdown]
# ## What the last lab left
#
# Lab 2-1 made eight words exact. One of them stayed a door to something else: a value of a step lives nowhere, or in a
# variable or queue **of a session**; another session over the same graph knows nothing of it. A session was something
# that runs a step and remembers two kinds of values.
#
# It does more. It is asked again and again, mostly for the same, by programs that seldom say which session they mean.
# What it prepares once and keeps for the next call, and how a bare line of code finds it, is the subject here.
#
# ## What a session keeps
#
# A `run` call carries three sets of names. **Feeds** are tensors whose values you bring, **fetches** are tensors whose
# values you want, **targets** are operations that shall run although nothing is fetched from them. From these sets the
# session makes an **executor**: it cuts the graph down to what this step needs, places the nodes on devices, splits the
# graph by device and prepares every kernel. That costs more than a small step itself. So the session keeps the executor
# and looks for it at the next call.
#
# You can watch it. With `build_cost_model`, a session returns a cost graph with every step but the first one of an
# executor. An empty cost graph therefore means: this executor is new. `plain_config()` turns the optimisers off, so
# that the graph that runs is the graph that was written.

# %% nbgrader={"grade": false, "grade_id": "given-watched", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def watched_config() -> tf1.ConfigProto:
    """Under this configuration `RunMetadata.cost_graph` is empty in the first step of an executor, and only there."""
    config = plain_config()
    config.graph_options.build_cost_model = 1
    config.graph_options.build_cost_model_after = 1
    return config


def small_graph() -> tf.Graph:
    """x (float32, [2]) → h = x·3 → y = h + 1 → z = y²; and n = −x, which nobody reads."""
    with tf.Graph().as_default() as drawn:
        x = tf1.placeholder(tf.float32, [2], name="x")
        three = tf.constant([3.0, 3.0], name="three")
        one = tf.constant([1.0, 1.0], name="one")
        h = tf.multiply(x, three, name="h")
        y = tf.add(h, one, name="y")
        tf.square(y, name="z")
        tf.negative(x, name="n")
    return drawn


# %% [markdown]
# Five calls on one session. The column before the values says how many nodes the step's own graph has. In that graph,
# `_Arg` nodes stand where feeds enter and `_Retval` nodes where fetches leave.

# %%
from tflabs.view import graph

steps = []
with tf1.Session(graph=small_graph(), config=watched_config()) as session:
    for fetches, feeds in [
        (["y:0"], {"x:0": [1, 2]}),
        (["y:0"], {"x:0": [1, 2]}),
        (["z:0"], {"x:0": [1, 2]}),
        (["y:0"], {"h:0": [5, 5]}),
        (["y:0", "z:0"], {"x:0": [1, 2]}),
    ]:
        options, metadata = tf1.RunOptions(output_partition_graphs=True), tf1.RunMetadata()
        values = session.run(fetches, feeds, options=options, run_metadata=metadata)
        steps.append(metadata.partition_graphs[0])
        said = "hit " if metadata.cost_graph.node else "miss"
        names = f"fetch {', '.join(fetches)}; feed {', '.join(feeds)}"
        print(f"{said}  {names:<28} {len(steps[-1].node)} nodes  {[value.tolist() for value in values]}")


# %% [markdown]
# What an executor costs, on this machine: a call that has to make one, and the same call once it is there.

# %%
def milliseconds(action: Callable[[], object], times: int) -> float:
    """Mean time of an action."""
    start = time.perf_counter()
    for _ in range(times):
        action()
    return (time.perf_counter() - start) / times * 1000


with tf1.Session(graph=small_graph(), config=plain_config()) as session:
    session.run("x:0", {"x:0": [1, 2]})
    miss = milliseconds(lambda: session.run("z:0", {"x:0": [1, 2]}), 1)
    hit = milliseconds(lambda: session.run("z:0", {"x:0": [1, 2]}), 200)
print(f"miss {miss:.2f} ms, hit {hit:.2f} ms: {miss / hit:.0f} times")

# %% [markdown]
# The whole graph, with the nodes of the first call marked, and then the graph that the fourth call ran. A feed cuts: a
# fed `x:0` takes the place of `x`, so `x` itself is not marked; when `h:0` is fed, neither `h` nor anything above it
# belongs to the step.

# %%
first = [node.name for node in steps[0].node if not node.name.startswith("_")]
graph(small_graph(), highlight=dict.fromkeys(first, "in the first call"), title="The graph of the session")

# %%
graph(steps[3], title="What ran for fetch y:0, feed h:0")

# %% [markdown]
# ### Exercise 1 · Which calls plan nothing? (1 point)
#
# The graph is `small_graph()` above. A session has run `session.run(["y:0", "z:0"], {"x:0": [1, 2]})` once; that was a
# miss. Now it makes these six calls, in this order:
#
# 1. `session.run(["z:0", "y:0"], {"x:0": [1, 2]})`
# 2. `session.run(["y:0", "y:0", "z:0"], {"x:0": [1, 2]})`
# 3. `session.run(["y:0", "z:0"], {"x:0": [8, 9]})`
# 4. `session.run(["y:0", "z:0"], {"h:0": [1, 2]})`
# 5. `session.run(["y:0", "z"], {"x:0": [1, 2]})`, where `"z"` is the operation, not its tensor
# 6. A node that reads `z:0` is added to the graph. Then `session.run(["y:0", "z:0"], {"x:0": [1, 2]})`
#
# Set `hits` to a list of six `bool`: `True` where the session finds an executor that it has, `False` where it makes a
# new one. Decide before you run anything. For five other calls it could read `[True, False, False, True, True]`.

# %% nbgrader={"grade": false, "grade_id": "hit-or-miss", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
# hits = [...]  six times True (hit) or False (miss)
### BEGIN SOLUTION
hits = [True, True, True, False, False, True]
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "hit-or-miss-test", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
assert type(hits) is list, f"hits is a list of six bool; it is a {type(hits).__name__}"
assert [type(hit) for hit in hits] == [bool] * 6, f"hits is a list of six bool; it is {hits!r}"


### BEGIN HIDDEN TESTS
def predicted_calls():
    """Whether TensorFlow reuses an executor in each of the six calls."""
    found = []
    with small_graph().as_default() as drawn, tf1.Session(config=watched_config()) as session:
        fed = {"x:0": [1, 2]}
        calls = [
            (["y:0", "z:0"], fed),
            (["z:0", "y:0"], fed),
            (["y:0", "y:0", "z:0"], fed),
            (["y:0", "z:0"], {"x:0": [8, 9]}),
            (["y:0", "z:0"], {"h:0": [1, 2]}),
            (["y:0", "z"], fed),
            (["y:0", "z:0"], fed),
        ]
        for number, (fetches, feeds) in enumerate(calls):
            if number == 6:
                tf.identity(drawn.get_tensor_by_name("z:0"), name="later")
            said = tf1.RunMetadata()
            session.run(fetches, feeds, tf1.RunOptions(output_partition_graphs=True), said)
            found.append(len(said.cost_graph.node) > 0)
    assert found[0] is False, "the opening call must be a miss"
    return found[1:]


real_hits = predicted_calls()
differ = sum(mine != real for mine, real in zip(hits, real_hits, strict=True))
assert hits == real_hits, (
    f"TensorFlow decides otherwise in {differ} of the six calls. Ask of each call: which tensors are fed, which are "
    "fetched, which operations are targets? Then: are these the sets of an earlier call?"
)
### END HIDDEN TESTS

# %% [markdown] after_passing="hit-or-miss"
# The key is made of names alone: of the fed tensors, the fetched tensors and the target operations, each as a set.
# Values are no part of it, and a graph that grew leaves old executors as they are. This is
# `DirectSession::GetOrCreateExecutors` (core/common_runtime/direct_session.cc): it looks under the names as they came,
# then under the sorted names. Repeats never reach it: Python's session removes them. A tensor and its operation stand
# in different parts of the key.

# %% [markdown]
# ## Any structure of fetches
#
# The runtime knows only flat lists of names. Yet `session.run` takes a dict of lists of tuples and gives back a dict of
# lists of tuples. Python's session does both translations: on the way in it lists each tensor once, on the way out it
# rebuilds what you passed, type by type.

# %%
class Losses(NamedTuple):
    train: object
    valid: object


with tf1.Session(graph=small_graph()) as session:
    print(session.run({"both": Losses("z:0", "y:0"), "again": ["y:0", ("n", {})]}, {"x:0": [1, 2]}))


# %% [markdown]
# ### Exercise 2 · Any structure of fetches (3 points)
#
# Write two functions. Fetches are names (`str`) in any nesting of `list`, `tuple`, NamedTuple, `dict` and
# `OrderedDict`, or one name alone. A name with a colon is a tensor (`y:0`), one without is an operation (`n`).
#
# - `unique_fetches(fetches) -> list[str]`: the tensors, each once, in the order in which they first appear. Order is
#   depth first; a dict is walked in its own order. Operations are left out.
# - `pack(fetches, values: dict[str, np.ndarray]) -> object`: the same structure with the same types at every level (a
#   NamedTuple stays that NamedTuple, an `OrderedDict` an `OrderedDict`, keys keep their order). In the place of a
#   tensor stands its entry of `values`, in the place of an operation `None`.
#
# Empty structures are allowed. In both functions a leaf of another kind (`None`, a number, a set) raises `TypeError`.
# (TensorFlow also takes names as `bytes`; you need not, and no test does.) `tf.nest` and sessions are withheld, and so
# are the classes in which a session does this.
#
# ```
# >>> unique_fetches({"b": ["y:0", "n"], "a": ("x:0", "y:0")})
# ['y:0', 'x:0']
# >>> pack({"b": ["y:0", "n"], "a": ("x:0", "y:0")}, {"x:0": X, "y:0": Y})
# {'b': [Y, None], 'a': (X, Y)}
# ```
#
# <details><summary>Hint 1</summary>
#
# Both functions walk the same structure. Decide for each value what it is, in this order: a name, a mapping, a
# sequence, something else. A `str` is a sequence too, so it has to be asked for first.
# </details>
#
# <details><summary>Hint 2</summary>
#
# A recursive generator `names(fetches)` yields every name; `unique_fetches` keeps the first of each that has a colon
# (`dict.fromkeys` keeps order). `pack` calls itself on the parts: `type(fetches)(parts)` rebuilds a list or a tuple; a
# NamedTuple has `_fields` and wants its parts one by one: `type(fetches)(*parts)`.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-nests", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
class Pair(NamedTuple):
    """A NamedTuple for the tests. Given."""

    left: object
    right: object


def assert_same(got: object, want: object, where: str) -> None:
    """Assert that two structures agree: exact types at every level, arrays to float32 rounding.

    `where` names the place in the message; a part of it is named as in `result['a'][0]`.
    """
    found = f"found {type(got).__name__}: {got!r}"
    assert type(got) is type(want), f"{where}: expected {type(want).__name__}, {found}"
    if isinstance(want, dict):
        assert list(got) == list(want), f"{where}: the keys are {list(want)} in this order, found {list(got)}"
        for key in want:
            assert_same(got[key], want[key], f"{where}[{key!r}]")
    elif isinstance(want, list | tuple):
        assert len(got) == len(want), f"{where}: {len(want)} items belong here, found {len(got)}: {got!r}"
        for index, (item, wanted) in enumerate(zip(got, want, strict=True)):
            assert_same(item, wanted, f"{where}[{index}]")
    elif want is not None:
        try:
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6, strict=True)
        except AssertionError:
            raise AssertionError(f"{where}: expected {want!r}, found {got!r}") from None


def plain(value: object) -> object:
    """`value`, if it is made of list, tuple, str, int, bool and None alone, subclasses excluded; else AssertionError."""
    assert type(value) in (list, tuple, str, int, bool, type(None)), (
        f"plain data are due (list, tuple, str, int, bool, None), found {type(value).__name__}: {value!r}"
    )
    for part in value if type(value) in (list, tuple) else ():
        plain(part)
    return value


def random_nest(rng: random.Random, names: list[str], depth: int = 4) -> object:
    """A random structure over `names`, with repeats and empty parts, at most `depth` levels deep."""
    if depth == 0 or rng.random() < 0.3:
        return rng.choice(names)
    parts = [random_nest(rng, names, depth - 1) for _ in range(rng.randrange(4))]
    keys = rng.sample("abcdefgh", len(parts))
    kind = rng.randrange(5)
    if kind == 0:
        return tuple(parts)
    if kind == 1:
        return Pair(random_nest(rng, names, depth - 1), random_nest(rng, names, depth - 1))
    if kind == 2:
        return dict(zip(keys, parts, strict=True))
    if kind == 3:
        return OrderedDict(zip(keys, parts, strict=True))
    return parts


# %% nbgrader={"grade": false, "grade_id": "pack", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def unique_fetches(fetches: object) -> list[str]:
    """List the tensors in a structure of fetches, each once, in order of first appearance, depth first.

    Raises:
        TypeError: a leaf is not a `str`.
    """
    ### BEGIN SOLUTION
    return [name for name in dict.fromkeys(leaves(fetches)) if ":" in name]
    ### END SOLUTION


def pack(fetches: object, values: dict[str, np.ndarray]) -> object:
    """Rebuild the structure of `fetches` with `values` in the place of tensors and `None` in the place of operations.

    Raises:
        TypeError: a leaf is not a `str`.
    """
    ### BEGIN SOLUTION
    if isinstance(fetches, str):
        return values[fetches] if ":" in fetches else None
    if isinstance(fetches, dict):
        return type(fetches)((key, pack(part, values)) for key, part in fetches.items())
    if isinstance(fetches, list | tuple):
        parts = [pack(part, values) for part in fetches]
        return type(fetches)(*parts) if hasattr(fetches, "_fields") else type(fetches)(parts)
    raise TypeError(f"a fetch is a name, not {fetches!r}")


def leaves(fetches: object) -> Iterator[str]:
    """Every name in a structure of fetches, depth first, with repeats."""
    if isinstance(fetches, str):
        yield fetches
    elif isinstance(fetches, dict | list | tuple):
        for part in fetches.values() if isinstance(fetches, dict) else fetches:
            yield from leaves(part)
    else:
        raise TypeError(f"a fetch is a name, not {fetches!r}")
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "pack-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
TF_PACKS = [f"tensorflow.nest.{name}" for name in ("flatten", "map_structure", "pack_sequence_as")] + [
    *TF_SESSIONS,
    "tensorflow.python.client.session._FetchMapper.for_fetch",
]
example = {"b": ["y:0", "n"], "a": ("x:0", "y:0")}
example_values = {"x:0": np.float32([1, 2]), "y:0": np.float32([4, 7])}
with withheld(*TF_PACKS):
    names_of_example = unique_fetches(example)
    packed_example = pack(example, example_values)
assert type(names_of_example) is list, f"unique_fetches returns a list, not a {type(names_of_example).__name__}"
assert plain(names_of_example) == ["y:0", "x:0"], (
    f"unique_fetches of {example}: y:0 is met first, then x:0, n is an operation; found {names_of_example}"
)
assert_same(
    packed_example, {"b": [np.float32([4, 7]), None], "a": (np.float32([1, 2]), np.float32([4, 7]))}, "pack(example)"
)
for bad in (None, 3, [None], {"a": ("y:0", 2.5)}, ["y:0", {"x:0"}]):
    for asked in ("unique_fetches", "pack"):
        try:
            with withheld(*TF_PACKS):
                refused = unique_fetches(bad) if asked == "unique_fetches" else pack(bad, example_values)
        except TypeError:
            pass
        else:
            raise AssertionError(
                f"{asked}({bad!r}) holds a leaf that is no name and must raise TypeError; it returned {refused!r}"
            )


### BEGIN HIDDEN TESTS
def nested_run(nest):
    """What `session.run` returns for a structure, and the tensors that the runtime is asked for, in order."""
    with tf.Graph().as_default():
        for index, name in enumerate("vwxyz"):
            tf.constant(np.float32([index, index + 0.5]), name=name)
        tf.no_op(name="n")
        tf.no_op(name="m")
        asked = []
        with tf1.Session(config=plain_config()) as runtime:
            step = runtime._do_run  # what Python's session calls once it has translated the names

            def watched_step(handle, targets, fetches, *rest):
                asked.extend(tensor.name for tensor in fetches)
                return step(handle, targets, fetches, *rest)

            runtime._do_run = watched_step
            return runtime.run(nest), asked


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
all_values = {f"{name}:0": np.float32([index, index + 0.5]) for index, name in enumerate("vwxyz")}
fixed = [
    "w:0",
    "n",
    [],
    {},
    (),
    ["n", "m"],
    Pair("x:0", ("x:0",)),
    OrderedDict([("z", "v:0"), ("a", ["w:0"])]),
    {"z": "x:0", "a": "w:0"},
    [["y:0", "x:0"], "y:0", {"k": Pair("n", [])}],
]
for nest in fixed + [random_nest(rng, [*all_values, "n", "m"]) for _ in range(24)]:
    with withheld(*TF_PACKS):
        mine = unique_fetches(copy.deepcopy(nest))
        packed = pack(copy.deepcopy(nest), dict(all_values))
    expected, asked = nested_run(nest)
    assert type(mine) is list, f"seed {seed}: unique_fetches({nest!r}) returns a list, not a {type(mine).__name__}"
    assert plain(mine) == asked, (
        f"seed {seed}: for {nest!r} TensorFlow fetches {asked} in this order; unique_fetches gives {mine}"
    )
    assert_same(packed, expected, f"seed {seed}: pack({nest!r})")
### END HIDDEN TESTS

# %% [markdown] after_passing="pack"
# Your two functions did what `session.run` does before and after it calls the runtime, compared level by level, and
# listed the tensors as Python hands them to the runtime. TensorFlow has one small class per kind of structure:
# `_FetchMapper` and its subclasses in python/client/session.py; `_uniquify_fetches` drops repeats. Ours is recursive
# because the structure is; the only special case is the NamedTuple, whose constructor takes its fields one by one.

# %% [markdown]
# ## One step of a graph
#
# What does an executor do in a step? It runs every node that the fetches need, each once, when everything that the node
# waits for is done. A kernel is a function of arrays. Here are some, with one signature for all: `kernel(node, inputs)`
# takes the NodeDef (a `Const` finds its value there, a `Split` the number of its outputs) and the list of input arrays,
# and returns the list of output arrays. In TensorFlow, too, a placeholder is a node with a kernel: one that can only
# fail.

# %% nbgrader={"grade": false, "grade_id": "given-kernels", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
NodeDef = tf1.NodeDef
Kernel = Callable[[NodeDef, list[np.ndarray]], list[np.ndarray]]


def constant_kernel(node: NodeDef, inputs: list[np.ndarray]) -> list[np.ndarray]:
    """Const: the value stands in the node."""
    return [tf.make_ndarray(node.attr["value"].tensor)]


def placeholder_kernel(node: NodeDef, inputs: list[np.ndarray]) -> list[np.ndarray]:
    """Placeholder: runs only if nobody fed it, and then fails (core/kernels/constant_op.cc, `PlaceholderOp`)."""
    raise tf.errors.InvalidArgumentError(None, None, f"You must feed a value for placeholder tensor {node.name!r}")


def split_kernel(node: NodeDef, inputs: list[np.ndarray]) -> list[np.ndarray]:
    """Split: inputs are the axis (a scalar) and the value."""
    axis, value = inputs
    return np.split(value, node.attr["num_split"].i, axis=int(axis))


def elementwise(function: Callable[..., np.ndarray]) -> Kernel:
    """A kernel that applies a NumPy function to its inputs."""
    return lambda node, inputs: [function(*inputs)]


KERNELS: dict[str, Kernel] = {
    "Const": constant_kernel,
    "Placeholder": placeholder_kernel,
    "NoOp": lambda node, inputs: [],
    "Identity": lambda node, inputs: [inputs[0]],
    "Split": split_kernel,
    "AddV2": elementwise(np.add),
    "Sub": elementwise(np.subtract),
    "Mul": elementwise(np.multiply),
    "Neg": elementwise(np.negative),
    "Square": elementwise(np.square),
}

CONTROL = -1


def endpoint(text: str) -> tuple[str, int]:
    """Read a node's input: `n` → (n, 0), `n:1` → (n, 1), `^n` → (n, CONTROL). As `ParseTensorName` in C++ does."""
    if text.startswith("^"):
        return text[1:], CONTROL
    node, _, index = text.partition(":")
    return node, int(index or 0)


def called(kernels: dict[str, Kernel], calls: list[str]) -> dict[str, Kernel]:
    """The same kernels, which also append the name of the node to `calls` whenever they run."""

    def counted(kernel: Kernel) -> Kernel:
        def run(node: NodeDef, inputs: list[np.ndarray]) -> list[np.ndarray]:
            calls.append(node.name)
            return kernel(node, inputs)

        return run

    return {op: counted(kernel) for op, kernel in kernels.items()}


# %% [markdown]
# Feeding has a fine point, and TensorFlow shows it. Below, `done` waits for `h` by a control edge, and `y` reads `h`.
# If `h:0` is fed, `y` no longer needs `h`. But `done` asked for the *node* to run, not for its value. The list says
# what ran.

# %%
with tf.Graph().as_default() as controlled:
    x = tf1.placeholder(tf.float32, [2], name="x")
    h = tf.negative(x, name="h")
    tf.square(h, name="y")
    with tf.control_dependencies([h]):
        tf.no_op(name="done")
    with tf.control_dependencies([x]):
        tf.no_op(name="seen")

with tf1.Session(graph=controlled, config=plain_config()) as session:
    for fetches, feeds in [
        ("y:0", {"h:0": [1, 2]}),
        ("done", {"h:0": [1, 2], "x:0": [0, 0]}),
        ("seen", {"x:0": [0, 0]}),
    ]:
        ran = [name for name in trace_run(session, fetches, feeds).nodes() if not name.startswith("_")]
        print(f"fetch {fetches:<5} feed {', '.join(feeds):<9} → ran {ran}")


# %% [markdown]
# In the second line `h` ran although its tensor was fed. In the third, `x` did not run although `seen` waits for it:
# for a fed *placeholder* TensorFlow moves the control edge to the feed. Without that rule, its kernel would run, and
# fail, as it does when the operation `x` itself is fetched, fed or not.
#
# ### Exercise 3 · One step of a graph (4 points)
#
# Write `execute(graph, feeds, fetches, rendezvous=None, *, kernels=KERNELS) -> list`.
#
# - `feeds`: tensor name (`node:index`) → `np.ndarray`. `fetches`: tensor names, or `^node` for an operation. The result
#   has one entry per fetch, in order, repeats included: the array, or `None` for an operation. A fetched tensor that is
#   fed gives the fed array.
# - A fed tensor replaces that tensor for everyone who reads it; other outputs of the same node are not fed. A control
#   edge is not cut by a feed, unless it comes from a fed node of type `Placeholder`. Tests never fetch a placeholder as
#   `^node`.
# - A needed node runs once, by `kernels[node.op](node, inputs)` with the NodeDef and the list of its data inputs; all
#   other nodes never run. A test counts the calls. An error of a kernel goes through to the caller, so a placeholder
#   that is needed and not fed ends the step with the `tf.errors.InvalidArgumentError` of its kernel.
# - A fetch of a node that is not in the graph raises `ValueError`, such a feed `TypeError`; feeds are asked first, as in
#   `session.run`.
#
# Nodes stand in any order in the GraphDef. There are no cycles, but chains of 3,000 nodes: Python's recursion ends
# earlier. Apart from `Placeholder`, op types in tests may be names that TensorFlow does not know: trust `kernels`
# alone. Sessions and `tf.import_graph_def` are withheld. `rendezvous` stays unused here; labs 3-5 and 3-8 pass the
# mailbox of a step in it.
#
# The given `endpoint` reads what stands in `node.input` (`n`, `n:1`, `^n`), and names of tensors just as well. In
# `six_nodes()` (below) `y` is −(x·c) with c = [2, 3], and `done` waits for x·c by a control edge:
#
# ```
# >>> execute(six_nodes(), {"x:0": np.float32([1, 1])}, ["y:0", "^done"])
# [array([-2., -3.], dtype=float32), None]
# ```
#
# With `controlled` above and only `h:0` fed, `["y:0", "^done"]` needs `y`, `done`, `h` (for `done`) and `x` (for `h`),
# and so fails with the error of the unfed `x`.
#
# <details><summary>Hint 1</summary>
#
# Write down first what one node waits for: for each of its inputs, which node must have run before? A fed data input
# asks for no node; a control input does, unless the feed rule for placeholders frees it. What a *fetch* waits for is
# the same question.
# </details>
#
# <details><summary>Hint 2</summary>
#
# Keep a list of nodes to do, starting with the nodes of the fetches that are not fed. Look at the last one: if
# something it waits for has not run, append that; otherwise take the node off and, if it has not run yet, run it and
# keep its outputs. When the list is empty, every fetch is in `feeds` or among the outputs. This is a depth-first search
# with a stack of its own.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-random-graphs", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def six_nodes() -> GraphDef:
    """y = −(x·c) and done, which waits for m = x·c."""
    with tf.Graph().as_default() as drawn:
        x = tf1.placeholder(tf.float32, [2], name="x")
        m = tf.raw_ops.Mul(x=x, y=tf.constant([2.0, 3.0], name="c"), name="m")
        tf.raw_ops.Neg(x=m, name="y")
        tf.raw_ops.Square(x=x, name="unused")
        with tf.control_dependencies([m]):
            tf.raw_ops.NoOp(name="done")
    return drawn.as_graph_def()


def chain(length: int) -> GraphDef:
    """x → n0 → n1 → … : each node negates the one before."""
    deep = GraphDef(versions=six_nodes().versions)
    deep.node.add(name="x", op="Placeholder")
    for index in range(length):
        deep.node.add(name=f"n{index}", op="Neg", input=[f"n{index - 1}" if index else "x"])
    return deep


class Drawn(NamedTuple):
    """A random graph and, by name, the length of each of its tensors. Given."""

    graph: GraphDef
    lengths: dict[str, int]


def random_graph(rng: random.Random, size: int = 12) -> Drawn:
    """A graph of about `size` nodes over float32 vectors, with control edges and `Split`s, nodes in random order."""
    lengths: dict[str, int] = {}
    with tf.Graph().as_default() as drawn:
        for index, length in enumerate((4, 4, 2)):
            lengths[tf1.placeholder(tf.float32, [length], name=f"p{index}").name] = length
        lengths[tf.constant([0.5, -1.0, 2.0, 1.5], name="c").name] = 4
        for index in range(size):
            waits = rng.sample(drawn.get_operations(), rng.choice([0, 0, 0, 1, 2]))
            with tf.control_dependencies(waits):
                lengths |= _random_node(rng, drawn, lengths, f"n{index}")
    graph = drawn.as_graph_def()
    shuffled = GraphDef(versions=graph.versions)
    shuffled.node.extend(rng.sample(list(graph.node), len(graph.node)))
    return Drawn(shuffled, lengths)


def _random_node(rng: random.Random, drawn: tf.Graph, lengths: dict[str, int], name: str) -> dict[str, int]:
    """Add one node and return its tensors with their lengths."""
    kind = rng.choice(["AddV2", "Sub", "Mul", "Neg", "Square", "Identity", "Split", "NoOp"])
    if kind == "NoOp":
        tf.raw_ops.NoOp(name=name)
        return {}
    chosen = rng.choice([tensor for tensor in lengths if kind != "Split" or lengths[tensor] > 1])
    value = drawn.get_tensor_by_name(chosen)
    if kind == "Split":
        return {
            part.name: lengths[chosen] // 2 for part in tf.raw_ops.Split(axis=0, value=value, num_split=2, name=name)
        }
    if kind in ("AddV2", "Sub", "Mul"):
        other = rng.choice([tensor for tensor in lengths if lengths[tensor] == lengths[chosen]])
        made = getattr(tf.raw_ops, kind)(x=value, y=drawn.get_tensor_by_name(other), name=name)
    elif kind == "Identity":
        made = tf.raw_ops.Identity(input=value, name=name)
    else:
        made = getattr(tf.raw_ops, kind)(x=value, name=name)
    return {made.name: lengths[chosen]}


def random_step(rng: random.Random, drawn: Drawn, fed: float = 1.0) -> tuple[dict[str, np.ndarray], list[str]]:
    """Random feeds and fetches: each placeholder is fed with probability `fed`, and up to three other tensors.

    Fetches are one to four tensors (`n1:0`) or operations (`^n1`), never the operation of a placeholder.
    """
    tensors = sorted(drawn.lengths)
    names = [name for name in tensors if name.startswith("p") and rng.random() < fed]
    names += rng.sample([name for name in tensors if not name.startswith("p")], rng.randrange(4))
    generator = np.random.default_rng(rng.randrange(2**32))
    feeds = {name: generator.uniform(-1, 1, drawn.lengths[name]).astype(np.float32) for name in names}
    operations = [f"^{node.name}" for node in drawn.graph.node if node.op != "Placeholder" and "/" not in node.name]
    return feeds, rng.sample(tensors, rng.randrange(1, 3)) + rng.sample(operations, rng.randrange(3))


# %% nbgrader={"grade": false, "grade_id": "execute", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def execute(
    graph: GraphDef,
    feeds: dict[str, np.ndarray],
    fetches: list[str],
    rendezvous: object = None,
    *,
    kernels: dict[str, Kernel] = KERNELS,
) -> list[np.ndarray | None]:
    """Run one step of `graph` and return one entry per fetch: the array of a tensor, `None` for an operation `^node`.

    Raises:
        TypeError: a feed names a node that is not in the graph.
        ValueError: a fetch does.
    """
    ### BEGIN SOLUTION
    nodes = {node.name: node for node in graph.node}
    for tensor in feeds:
        if endpoint(tensor)[0] not in nodes:
            raise TypeError(f"feed {tensor!r}: the graph has no such node")
    for fetch in fetches:
        if endpoint(fetch)[0] not in nodes:
            raise ValueError(f"fetch {fetch!r}: the graph has no such node")

    def waits_for(inputs):
        """The nodes that must have run before these inputs can be read."""
        for name, index in map(endpoint, inputs):
            fed_placeholder = nodes[name].op == "Placeholder" and f"{name}:0" in feeds
            if f"{name}:{index}" not in feeds and not (index == CONTROL and fed_placeholder):
                yield name

    def value(text):
        name, index = endpoint(text)
        return feeds[f"{name}:{index}"] if f"{name}:{index}" in feeds else outputs[name][index]

    outputs: dict[str, list[np.ndarray]] = {}
    to_do = list(waits_for(fetches))
    while to_do:
        node = nodes[to_do[-1]]
        waiting = [name for name in waits_for(node.input) if name not in outputs]
        if waiting:
            to_do += waiting
            continue
        to_do.pop()
        if node.name not in outputs:
            outputs[node.name] = kernels[node.op](node, [value(text) for text in node.input if text[0] != "^"])
    return [None if fetch[0] == "^" else value(fetch) for fetch in fetches]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "execute-test", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
run_calls = []
answer = execute(six_nodes(), {"x:0": np.float32([1, 1])}, ["y:0", "^done", "m:0"], kernels=called(KERNELS, run_calls))
assert_same(answer, [np.float32([-2, -3]), None, np.float32([2, 3])], "fetch y:0, ^done, m:0 with x:0 fed: result")
assert sorted(run_calls) == ["c", "done", "m", "y"], (
    f"c, m, y and done run, each once; these kernels were called: {sorted(run_calls)}"
)
run_calls = []
answer = execute(six_nodes(), {"m:0": np.float32([5, 6])}, ["y:0"], kernels=called(KERNELS, run_calls))
assert_same(answer, [np.float32([-5, -6])], "fetch y:0 with m:0 fed: result")
assert run_calls == ["y"], f"with m:0 fed, only y has to run for y:0; these kernels were called: {run_calls}"
try:
    answer = execute(chain(3000), {"x:0": np.float32([1, 2])}, ["n2999:0"])
except RecursionError:
    raise AssertionError("a chain of 3,000 nodes ends Python's recursion: keep a list of nodes to do instead") from None
assert_same(answer, [np.float32([1, 2])], "the last of a chain of 3,000 negations: result")
for step_feeds, step_fetches, expected in [
    ({"nowhere:0": np.float32([1])}, ["c:0"], TypeError),
    ({}, ["nowhere:0"], ValueError),
    ({}, ["^nowhere"], ValueError),
    ({"nowhere:0": np.float32([1])}, ["nowhere:0"], TypeError),
    ({}, ["y:0"], tf.errors.InvalidArgumentError),
    ({"m:0": np.float32([1, 1])}, ["y:0", "^done"], tf.errors.InvalidArgumentError),
]:
    try:
        answer = execute(six_nodes(), step_feeds, step_fetches)
    except expected:
        pass
    else:
        raise AssertionError(
            f"fetch {step_fetches}, feed {list(step_feeds)}: {expected.__name__} is due, found {answer!r}"
        )


### BEGIN HIDDEN TESTS
TF_STEPS = (
    *TF_SESSIONS,
    "tensorflow.import_graph_def",
    "tensorflow.python.framework.importer._import_graph_def_internal",
)


def real_step(graph, feeds, fetches):
    """A step in TensorFlow: values and sorted names of the nodes that ran; the error's name and [] if it failed."""
    with tf.Graph().as_default():
        tf.import_graph_def(graph_def=graph, name="")
        with tf1.Session(config=plain_config()) as runtime:
            try:
                trace = trace_run(runtime, [fetch.removeprefix("^") for fetch in fetches], feeds)
            except tf.errors.InvalidArgumentError:
                return "InvalidArgumentError", []
    return trace.values, [name for name in trace.nodes() if not name.startswith("_")]


def hide(graph, rng):
    """Op types renamed, but for Placeholder; and the kernels of these under the new names, in random order."""
    hidden, renamed = disguise(graph, rng)
    renamed["Placeholder"] = "Placeholder"
    for node, real in zip(hidden.node, graph.node, strict=True):
        node.op = renamed[real.op]
    return hidden, {renamed[op]: KERNELS[op] for op in rng.sample(sorted(renamed), len(renamed))}


def knots():
    """A Split with two readers, a diamond, control edges from a placeholder and from the Split; nodes in reverse."""
    with tf.Graph().as_default() as drawn:
        p = tf1.placeholder(tf.float32, [4], name="p")
        s = tf.raw_ops.Split(axis=0, value=p, num_split=2, name="s")
        t = tf.raw_ops.Square(x=s[0], name="t")
        total = tf.raw_ops.AddV2(x=t, y=tf.raw_ops.Neg(x=s[1], name="u"), name="sum")
        tf.raw_ops.Mul(x=total, y=total, name="twice")
        with tf.control_dependencies([p]):
            tf.raw_ops.NoOp(name="seen")
        with tf.control_dependencies([s[0].op]):
            tf.raw_ops.NoOp(name="later")
    straight = drawn.as_graph_def()
    turned = GraphDef(versions=straight.versions)
    turned.node.extend(reversed(straight.node))
    return turned


def check_step(graph, feeds, fetches, where, rng):
    """Run the learner's step on the disguised graph, then TensorFlow's on the graph, and compare values and nodes."""
    hidden, hidden_kernels = hide(graph, rng)
    calls, answer, failed = [], None, False
    try:
        with withheld(*TF_STEPS):
            answer = execute(hidden, dict(feeds), list(fetches), kernels=called(hidden_kernels, calls))
    except tf.errors.InvalidArgumentError:
        failed = True
    values, ran = real_step(graph, feeds, fetches)
    where = f"fetch {fetches}, feed {sorted(feeds)} ({where})"
    fails = type(values) is str
    due = "the error of an unfed placeholder is due" if fails else "a result is due"
    assert failed is fails, f"{where}: {due}, found {'that error' if failed else repr(answer)}"
    if not failed:
        assert_same(answer, values, f"{where}: result")
        assert sorted(calls) == ran, (
            f"{where}: in TensorFlow these nodes ran: {ran}; your kernels were called for: {sorted(calls)}"
        )


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
half, whole = np.float32([3, 4]), np.float32([1, 2, 3, 4])
for step_feeds, step_fetches in [
    ({"p:0": whole}, ["twice:0", "^later", "^seen", "s:1", "twice:0"]),
    ({"p:0": whole}, ["^seen"]),
    ({}, ["^seen"]),
    ({"s:0": half}, ["t:0"]),
    ({"p:0": whole, "s:0": half}, ["sum:0"]),
    ({"p:0": whole, "s:1": half}, ["u:0", "s:0"]),
    ({"s:0": half, "s:1": half}, ["sum:0"]),
    ({"p:0": whole, "s:0": half, "s:1": half}, ["sum:0", "^later"]),
    ({"p:0": whole, "sum:0": half}, ["sum:0", "^t"]),
    ({"p:0": whole, "t:0": half}, ["^t", "t:0"]),
    ({"sum:0": half}, ["sum:0"]),
    ({"sum:0": half, "u:0": half}, ["twice:0", "u:0"]),
]:
    words = "s splits p; t = s:0 squared; u = -s:1; sum = t + u; twice = sum * sum; seen waits for p, later for s"
    check_step(knots(), step_feeds, step_fetches, words, rng)
for case in range(20):
    drawn = random_graph(rng, 14)
    step_feeds, step_fetches = random_step(rng, drawn, fed=1.0 if case % 4 else 0.7)
    check_step(drawn.graph, step_feeds, step_fetches, f"seed {seed}, case {case}", rng)
### END HIDDEN TESTS

# %% [markdown] after_passing="execute"
# Your step gave TensorFlow's values and ran TensorFlow's set of nodes on random graphs, with feeds anywhere. TensorFlow
# does it in two moves: `FeedInputs` (core/graph/subgraph.cc) and `PruneForReverseReachability` (core/graph/algorithm.cc)
# cut the graph down when the executor is made, and `ExecutorState` (core/common_runtime/executor.cc) with its propagator
# state (simple_propagator_state.cc) counts down the inputs that each node still waits for. Ours asks backwards instead,
# node by node, with a stack of its own: the same nodes, one thread, and no plan to keep.

# %% [markdown]
# ## Plan once
#
# The executor for a step is worth keeping. The table that holds executors has one rule, and exercise 1 showed it: the
# *sets* of feeds, fetches and targets are the key. Values are not part of it, nor is order.
#
# ### Exercise 4 · Plan once (3 points)
#
# Write `class ExecutorCache`. `ExecutorCache(make)` gets a function `make(feeds, fetches, targets)` that makes an
# executor: any object; you only keep it.
#
# - `get(feeds: list[str], fetches: list[str], targets: list[str]) -> object` returns the executor for these names.
#   Calls whose three sets are the same get the same executor; order and repeats in a list do not count. Any name may
#   stand in any of the three lists, and a name in one list says nothing about the others.
# - `make` is called once for each new key, with three sorted lists without repeats.
# - `hits` and `misses` (`int`) count the calls of `get`. If `make` raises, the error goes through, the call counts as a
#   miss, and nothing is kept: the next call with these names calls `make` again.
# - Two caches share nothing.
#
# ```
# >>> cache = ExecutorCache(lambda feeds, fetches, targets: f"{feeds} {fetches} {targets}")
# >>> cache.get(["x:0"], ["z:0", "y:0", "z:0"], [])
# "['x:0'] ['y:0', 'z:0'] []"
# >>> cache.get(["x:0"], ["y:0", "z:0"], []); (cache.hits, cache.misses)
# (1, 1)
# ```
#
# <details><summary>Hint 1</summary>
#
# A dictionary needs a key that is equal for equal sets and different for all others, and that can be hashed. Three
# names joined to one string are not: `"ab" + "c"` is `"a" + "bc"`.
# </details>
#
# <details><summary>Hint 2</summary>
#
# A sorted tuple or a `frozenset` stands for a set and can be hashed, and so can a tuple of three of them. `make` may
# raise: what must have happened before you call it, and what must not happen unless it comes back?
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-numbered", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def numbered(made: list) -> Callable[[list[str], list[str], list[str]], str]:
    """A `make` for the tests: appends its arguments to `made` and returns "executor 1", "executor 2" and so on."""

    def make(feeds: list[str], fetches: list[str], targets: list[str]) -> str:
        made.append((feeds, fetches, targets))
        return f"executor {len(made)}"

    return make


# %% nbgrader={"grade": false, "grade_id": "executor-cache", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
class ExecutorCache:
    """Executors by what they feed, fetch and run.

    Attributes:
        hits, misses: how many calls of `get` found an executor, and how many did not.
    """

    def __init__(self, make: Callable[[list[str], list[str], list[str]], object]) -> None:
        """Start empty; `make(feeds, fetches, targets)` makes an executor."""
        ### BEGIN SOLUTION
        self.hits = self.misses = 0
        self._make = make
        self._executors: dict[tuple[tuple[str, ...], ...], object] = {}
        ### END SOLUTION

    def get(self, feeds: list[str], fetches: list[str], targets: list[str]) -> object:
        """Return the executor for these names; make it if there is none yet."""
        ### BEGIN SOLUTION
        key = tuple(tuple(sorted(set(names))) for names in (feeds, fetches, targets))
        if key in self._executors:
            self.hits += 1
        else:
            self.misses += 1
            self._executors[key] = self._make(*map(list, key))
        return self._executors[key]
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "executor-cache-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
made = []
cache = ExecutorCache(numbered(made))
got = [
    cache.get(["x:0", "w:0"], ["y:0"], []),
    cache.get(["w:0", "x:0"], ["y:0", "y:0"], []),
    cache.get(["x:0", "w:0"], ["y:0"], ["y"]),
    cache.get(["x:0"], ["y:0"], []),
    cache.get(["x:0", "w:0"], ["y:0"], []),
]
assert plain(got) == [f"executor {number}" for number in (1, 1, 2, 3, 1)], (
    f"the second and the last call have the sets of the first; found {got}"
)
assert plain(made) == [(["w:0", "x:0"], ["y:0"], []), (["w:0", "x:0"], ["y:0"], ["y"]), (["x:0"], ["y:0"], [])], (
    f"make gets three sorted lists without repeats, once per key; it was called with {made}"
)
assert plain((cache.hits, cache.misses)) == (2, 3), (
    f"2 hits and 3 misses are due, found {cache.hits} and {cache.misses}"
)


### BEGIN HIDDEN TESTS
def fails_once(made):
    """A `make` whose first call fails."""

    def make(feeds, fetches, targets):
        made.append(feeds)
        if len(made) == 1:
            raise LookupError("no kernel")
        return f"executor of call {len(made)}"

    return make


first, second = ExecutorCache(numbered([])), ExecutorCache(numbered([]))
got = [cache.get(["x:0"], ["y:0"], []) for cache in (first, second)]
assert plain((second.hits, second.misses)) == (0, 1), (
    "two caches share nothing: what one has is a miss in the other, which has 0 hits and 1 miss then; "
    f"found {second.hits} and {second.misses}"
)

made = []
cache = ExecutorCache(fails_once(made))
try:
    cache.get(["x:0"], ["y:0"], [])
except LookupError:
    pass
else:
    raise AssertionError("the error of make goes through to the caller of get")
assert plain(cache.get(["x:0"], ["y:0"], [])) == "executor of call 2", (
    "after make failed nothing is kept: the next call makes the executor"
)
assert plain(cache.get(["x:0"], ["y:0"], [])) == "executor of call 2", "what make returned the second time is kept"
assert plain((cache.hits, cache.misses)) == (1, 2), (
    f"a failed make counts as a miss: 1 hit, 2 misses; found {cache.hits} and {cache.misses}"
)

made = []
cache = ExecutorCache(numbered(made))
tricky = [
    (["ab", "c"], ["d"], []),
    (["a", "bc"], ["d"], []),
    (["abc"], ["d"], []),
    (["ab,c"], ["d"], []),
    (["a"], ["b"], ["c"]),
    (["b"], ["a"], ["c"]),
    (["c"], ["b"], ["a"]),
    ([], ["a", "b"], ["c"]),
    ([], ["a"], ["b", "c"]),
    (["a", "b"], [], ["c"]),
]
for number, names in enumerate(tricky, 1):
    got = cache.get(*names)
    assert plain(got) == f"executor {number}", (
        f"feeds, fetches, targets = {names} is a key of its own; get returned {got!r}, made for {tricky[:number]}"
    )
assert plain((cache.hits, cache.misses)) == (0, len(tricky)), (
    f"{len(tricky)} keys, no hit: found {cache.hits} hits and {cache.misses} misses"
)
joints = [*map(chr, range(128)), "->", ", ", "::", "||"]
cache = ExecutorCache(numbered([]))
for number, names in enumerate([["a", "b"], *([f"a{joint}b"] for joint in joints)], 1):
    got = cache.get(names, [], [])
    assert plain(got) == f"executor {number}", (
        f"feeds {names}: a name may hold any character, so this is a key of its own; get returned {got!r}"
    )
cache = ExecutorCache(numbered([]))
for number, joint in enumerate(joint for joint in joints if not joint.isalnum()):
    glued = [([f"a{joint}"], ["b"], []), (["a"], [f"{joint}b"], [])]
    got = [cache.get(*names) for names in glued]
    assert plain(got) == [f"executor {2 * number + 1}", f"executor {2 * number + 2}"], (
        f"feeds, fetches, targets = {glued} are two keys, for a name may hold any character; get returned {got}"
    )


def sums() -> tf.Graph:
    """Three placeholders and four sums of them."""
    with tf.Graph().as_default() as drawn:
        total = tf.add_n([tf1.placeholder(tf.float32, [], name=f"x{index}") for index in range(3)], name="y0")
        for index in range(1, 4):
            tf.add(total, float(index), name=f"y{index}")
    return drawn


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
for case in range(6):
    made, answers = [], []
    cache = ExecutorCache(numbered(made))
    for _ in range(12):
        fed = rng.sample(["x0:0", "x1:0", "x2:0"], 3)
        fetched = [f"y{rng.randrange(4)}:0" for _ in range(rng.randrange(1, 4))]
        targets = [f"y{rng.randrange(4)}" for _ in range(rng.randrange(3))]
        got = cache.get(list(fed), list(fetched), list(targets))
        answers.append(((fed, fetched, targets), plain((got, cache.hits, cache.misses)), plain(list(made))))
    due_made, due_hits = [], 0
    with tf1.Session(graph=sums(), config=watched_config()) as session:
        for call, ((fed, fetched, targets), answer, made_now) in enumerate(answers):
            said = tf1.RunMetadata()
            session.run([fetched, targets], dict.fromkeys(fed, 1.0), tf1.RunOptions(output_partition_graphs=True), said)
            real, tidy = len(said.cost_graph.node) > 0, tuple(sorted(set(part)) for part in (fed, fetched, targets))
            due_hits, due_made = due_hits + real, due_made if real else [*due_made, tidy]
            due = (f"executor {due_made.index(tidy) + 1}", due_hits, call + 1 - due_hits)
            where = f"seed {seed}, session {case}, call {call}: feeds {fed}, fetches {fetched}, targets {targets}"
            assert answer == due, (
                f"{where}: a {'hit' if real else 'miss'} in TensorFlow; due are, as result of get, hits and misses, "
                f"{due}, found {answer}"
            )
            assert made_now == due_made, f"{where}: make is due for {due_made}; it was called for {made_now}"
### END HIDDEN TESTS

# %% [markdown] after_passing="executor-cache"
# In eight real sessions your cache hit exactly where TensorFlow reused an executor, over 120 calls. TensorFlow's is the
# map `executors_` in `DirectSession::GetOrCreateExecutors` (core/common_runtime/direct_session.cc); it stores each
# entry twice, under the names as they came and under the sorted names, so that a repeated call need not sort. Ours
# sorts always: one entry per key, and nothing to keep in step. Its key is one string with commas, which is safe only
# because no node name has a comma; ours takes any name.

# %% [markdown]
# ## From create to close
#
# Now the whole life of a session. `run` asks in this order: is the session closed, is the graph empty, are the feeds
# tensors of this graph and of the right shape, are the fetches there? All this is asked in Python, before any executor
# is made. The rows below show each of these errors, and some that come from below.

# %%
def telling(error: Exception) -> str:
    """The line of an error's text that says what is wrong; TensorFlow wraps it in where the node was made."""
    wrapping = (" ", "\t", "Graph execution error", "Detected at", "Node:")
    return next(line for line in str(error).splitlines() if line and not line.startswith(wrapping))


def attempt(words: str, action: Callable[[], object]) -> None:
    """Print what an action returns or raises, on one line."""
    try:
        result = repr(action())
    except Exception as error:
        result = f"{type(error).__name__}: {telling(error)[:84]}"
    print(f"{words:<34} {result}")


empty = tf1.Session(graph=tf.Graph())
attempt("empty graph, fetch nothing", lambda: empty.run([]))
session = tf1.Session(graph=small_graph(), config=plain_config())
with_feeds, without = session.make_callable("y:0", ["x:0"]), session.make_callable("three:0")
attempt("unknown fetch", lambda: session.run("q:0"))
attempt("unknown fetch, unknown feed", lambda: session.run("q:0", {"w:0": 1}))
attempt("feed names an operation", lambda: session.run("y:0", {"x": [1, 2]}))
attempt("feed of another shape", lambda: session.run("y:0", {"x:0": [1, 2, 3]}))
attempt("a fetch that is fed", lambda: session.run("x:0", {"x:0": [1, 2]}))
attempt("an unfed placeholder", lambda: session.run("y:0"))
attempt("operation x, though x:0 is fed", lambda: session.run("x", {"x:0": [1, 2]}))
session.close()
attempt("closed: run", lambda: session.run([]))
attempt("closed: run of an empty graph", lambda: (empty.close(), empty.run([])))
attempt("closed: close again", session.close)
attempt("closed: callable with feed_list", lambda: with_feeds([1, 2]))
attempt("closed: callable without feed_list", without)
with session.graph.as_default():
    tf.constant(1.0, name="later")
attempt("closed: send a new node", session._extend_graph)


# %% [markdown]
# Two layers say "closed", each in its own way. Python's `run` looks at a flag and raises `RuntimeError`, and a function
# from `make_callable` with a `feed_list` calls `run`. One without a `feed_list` goes past that check; so does
# `_extend_graph`, which `run` calls to send new nodes. They reach the C++ session, and its own check answers
# `CancelledError`.
#
# A Python graph grows, and the session sends to C++ only the nodes that are new. To see what C++ says to a node that it
# has already, we have to go below Python. Lab 3-2 is about that boundary; here it is one given function,
# `extend_error`.

# %% nbgrader={"grade": false, "grade_id": "given-session-parts", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def extend_error(graph: GraphDef, extension: GraphDef, *, closed: bool = False) -> type[Exception] | None:
    """The error with which a C++ session that holds `graph` refuses `extension`, or None (C API: `TF_ExtendGraph`).

    With `closed`, the session is closed in between.
    """
    api = ctypes.CDLL(str(next(Path(tf.__file__).parent.glob("libtensorflow_cc*"))))
    for name in ("TF_NewStatus", "TF_NewSessionOptions", "TF_NewDeprecatedSession"):
        getattr(api, name).restype = ctypes.c_void_p
    status, options = ctypes.c_void_p(api.TF_NewStatus()), ctypes.c_void_p(api.TF_NewSessionOptions())
    session = ctypes.c_void_p(api.TF_NewDeprecatedSession(options, status))
    for part in (graph, extension):
        if part is extension and closed:
            api.TF_CloseDeprecatedSession(session, status)
        data = part.SerializeToString()
        api.TF_ExtendGraph(session, data, ctypes.c_size_t(len(data)), status)
    code = api.TF_GetCode(status)
    api.TF_DeleteDeprecatedSession(session, status)
    api.TF_DeleteSessionOptions(options)
    api.TF_DeleteStatus(status)
    return tf1.errors.exception_type_from_error_code(code) if code else None


def plan(graph: GraphDef, feeds: list[str], fetches: list[str], targets: list[str]) -> Callable[[dict], list]:
    """Make an executor in TensorFlow (`DirectSession::MakeCallable`) for steps with these feeds, fetches and targets.

    The returned function takes the fed values by name and returns the values of `fetches`, in their order. TensorFlow
    refuses to fetch a tensor that is fed.
    """
    with tf.Graph().as_default() as imported:
        tf.import_graph_def(graph, name="")
    types = [imported.get_tensor_by_name(name).dtype.as_numpy_dtype for name in feeds]
    options = CallableOptions(feed=feeds, fetch=fetches, target=targets)
    step = tf1.Session(graph=imported, config=plain_config())._make_callable_from_options(options)
    return lambda values: step(*[np.asarray(values[name], dtype) for name, dtype in zip(feeds, types, strict=True)])


def flatten(fetches: object) -> list[str]:
    """All names in a structure of fetches, with repeats.

    Raises:
        TypeError: a leaf is not a name.
    """
    parts = tf.nest.flatten(fetches)
    for part in parts:
        if not isinstance(part, str):
            raise TypeError(f"only names can be fetched, not {part!r}")
    return parts


def rebuild(fetches: object, values: dict[str, np.ndarray]) -> object:
    """The structure of `fetches` with `values` in the place of names; names without a value become `None`."""
    return tf.nest.map_structure(values.get, fetches)


# %%
with tf.Graph().as_default() as more:
    tf.constant(1.0, name="later")
print("a new node:              ", extend_error(small_graph().as_graph_def(), more.as_graph_def()))
print("the same nodes once more:", extend_error(small_graph().as_graph_def(), small_graph().as_graph_def()).__name__)
print("after close:             ", extend_error(GraphDef(), more.as_graph_def(), closed=True).__name__)


# %% [markdown]
# ### Exercise 5 · From create to close (4 points)
#
# Write `class MiniSession`, built as `MiniSession(graph: GraphDef, plan)`. `plan` is the function above or one with its
# signature: `plan(graph, feeds, fetches, targets)` gets the whole graph of the session and three sorted lists without
# repeats, and returns a step: a function from fed values (a `dict` by tensor name) to the list of fetched values.
# `flatten` and `rebuild` are given; sessions are withheld, only `plan` has one. `run(fetches, feeds=None)` returns the
# structure of `fetches` with values; `feeds` maps tensor names to arrays. It asks in this order:
#
# 1. The session is closed: `RuntimeError` with "closed" in its message, whatever the arguments, also for `run([])`.
# 2. The graph has no nodes: `RuntimeError` with "empty" in its message.
# 3. For each feed in turn: a key that is not `node:index` of a node of the graph raises `TypeError`. A value for a
#    `Placeholder` whose shape does not fit the node's attribute `shape` (`tf.TensorShape` reads it; unknown dimensions
#    fit all) raises `ValueError`. (TensorFlow checks every tensor of known shape, and the index. No test does, and
#    placeholders in tests have the attribute.)
# 4. A leaf of `fetches` that is no name raises `TypeError`, a fetch of a node that is not in the graph `ValueError`.
# 5. Fetches that are fed get the fed array and are not planned. If then nothing is left to fetch or to run, no plan is
#    looked for. Otherwise the step for the sets of (feeds, fetches, targets) is taken from the session's cache or
#    planned; a name without a colon is a target, its value is `None`.
#
# Raise exactly these types, not subclasses of them. `hits` and `misses` (`int`) count the look-ups in the cache. A step
# that raises keeps its plan. Two sessions share nothing. A dictionary of your own is enough as cache; if you use your
# `ExecutorCache`, this exercise needs exercise 4 to be right.
#
# `extend(graph)` adds nodes; steps planned before stay as they are. If a node's name is in the session already, even
# with an equal node, `tf.errors.InvalidArgumentError` with that name is raised and nothing is added. (In TensorFlow also
# if a name is twice in `graph`; no test does that.) After close it raises `tf.errors.CancelledError`.
#
# `close()` may be called twice. `with MiniSession(…) as session:` closes at the end of the body, also when the body
# raises; the error goes on.
#
# ```
# >>> session = MiniSession(small_graph().as_graph_def(), plan)
# >>> session.run({"y": ["y:0", "n"]}, {"x:0": np.float32([1, 2])})
# {'y': [array([4., 7.], dtype=float32), None]}
# >>> session.close(); session.run([])
# RuntimeError: the session is closed
# ```
#
# <details><summary>Hint 1</summary>
#
# Write `run` as the five points, one after the other; each is two to five lines. `tensor.partition(":")` tells a
# tensor's node and whether there was a colon. What is planned are two sets: leaves with a colon minus the feeds, and
# leaves without.
# </details>
#
# <details><summary>Hint 2</summary>
#
# `wanted = sorted(…)`, `targets = sorted(…)`; the key is `(tuple(sorted(feeds)), tuple(wanted), tuple(targets))` in a
# dictionary of this session; `values = {**feeds, **dict(zip(wanted, step(feeds)))}`; the answer is `rebuild(fetches,
# values)`. `extend` checks all names first and adds afterwards. `__exit__` calls `close` and returns nothing, so an
# error goes on. Errors of `tf.errors` are built as `tf.errors.CancelledError(None, None, message)`.
# </details>

# %% nbgrader={"grade": false, "grade_id": "mini-session", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
class MiniSession:
    """A session over a GraphDef: plans each kind of step once, and knows when it is closed.

    Attributes:
        hits, misses: how many runs found the plan of their step, and how many had to make it.
    """

    def __init__(self, graph: GraphDef, plan: Callable[..., Callable[[dict], list]]) -> None:
        """Open a session whose steps `plan(graph, feeds, fetches, targets)` makes."""
        ### BEGIN SOLUTION
        self.hits = self.misses = 0
        self._graph = GraphDef()
        self._graph.CopyFrom(graph)
        self._plan = plan
        self._steps: dict[tuple, Callable[[dict], list]] = {}
        self._closed = False
        ### END SOLUTION

    def __enter__(self) -> "MiniSession":
        """Begin a `with`: the session itself."""
        ### BEGIN SOLUTION
        return self
        ### END SOLUTION

    def __exit__(self, *error: object) -> None:
        """End a `with`: the session is closed, an error goes on."""
        ### BEGIN SOLUTION
        self.close()
        ### END SOLUTION

    def close(self) -> None:
        """End the session; nothing happens if it has ended already."""
        ### BEGIN SOLUTION
        self._closed = True
        self._steps.clear()
        ### END SOLUTION

    def extend(self, graph: GraphDef) -> None:
        """Add the nodes of `graph`, all or none.

        Raises:
            tf.errors.CancelledError: the session is closed.
            tf.errors.InvalidArgumentError: a node of that name is there; the message names it.
        """
        ### BEGIN SOLUTION
        if self._closed:
            raise tf.errors.CancelledError(None, None, "the session is closed")
        names = {node.name for node in self._graph.node}
        for node in graph.node:
            if node.name in names:
                raise tf.errors.InvalidArgumentError(None, None, f"the session has a node {node.name!r} already")
        self._graph.node.extend(graph.node)
        ### END SOLUTION

    def run(self, fetches: object, feeds: dict[str, np.ndarray] | None = None) -> object:
        """Run one step and return the structure of `fetches` with its values.

        Raises:
            RuntimeError: the session is closed, or its graph is empty.
            TypeError: a feed is no tensor of the graph, or a leaf of `fetches` is no name.
            ValueError: a fed value does not fit its placeholder, or a fetch is not in the graph.
        """
        ### BEGIN SOLUTION
        if self._closed:
            raise RuntimeError("the session is closed")
        if not self._graph.node:
            raise RuntimeError("the graph is empty")
        feeds = feeds or {}
        nodes = {node.name: node for node in self._graph.node}
        for tensor, value in feeds.items():
            self._check_feed(nodes, tensor, value)
        names = set(flatten(fetches))
        for name in names:
            if name.partition(":")[0] not in nodes:
                raise ValueError(f"fetch {name!r}: the graph has no such node")
        wanted = sorted(name for name in names if ":" in name and name not in feeds)
        targets = sorted(name for name in names if ":" not in name)
        values = dict(feeds)
        if wanted or targets:
            values |= zip(wanted, self._step(sorted(feeds), wanted, targets)(feeds), strict=True)
        return rebuild(fetches, values)

    def _check_feed(self, nodes: dict[str, NodeDef], tensor: str, value: np.ndarray) -> None:
        name, colon, _ = tensor.partition(":")
        if not colon or name not in nodes:
            raise TypeError(f"feed {tensor!r}: the graph has no such tensor")
        if nodes[name].op == "Placeholder":
            shape = tf.TensorShape(nodes[name].attr["shape"].shape)
            if not shape.is_compatible_with(np.shape(value)):
                raise ValueError(f"feed {tensor!r} has shape {np.shape(value)}, the placeholder {shape}")

    def _step(self, feeds: list[str], fetches: list[str], targets: list[str]) -> Callable[[dict], list]:
        key = (tuple(feeds), tuple(fetches), tuple(targets))
        if key in self._steps:
            self.hits += 1
        else:
            self.misses += 1
            self._steps[key] = self._plan(self._graph, feeds, fetches, targets)
        return self._steps[key]
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "mini-session-test", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
session = MiniSession(small_graph().as_graph_def(), plan)
answer = session.run({"y": ["y:0", "n"]}, {"x:0": np.float32([1, 2])})
assert_same(answer, {"y": [np.float32([4, 7]), None]}, "fetch {'y': ['y:0', 'n']}, feed x:0 = [1, 2]: result")
answer = session.run(("n", "y:0"), {"x:0": np.float32([0, 1])})
assert_same(answer, (None, np.float32([1, 4])), "fetch ('n', 'y:0'), feed x:0 = [0, 1]: result")
assert plain((session.hits, session.misses)) == (1, 1), (
    f"the second run has the names of the first; found {session.hits} hits, {session.misses} misses"
)
session.close()
session.close()
try:
    answer = session.run([])
except RuntimeError as error:
    assert "closed" in str(error), f"the message says that the session is closed; it says {str(error)!r}"
else:
    raise AssertionError(f"run([]) of a closed session must raise RuntimeError; it returned {answer!r}")


### BEGIN HIDDEN TESTS
def traced_plan(log, runtime):
    """A `plan` that needs no new session: each plan is a copy of the graph in that of `runtime`, under its own prefix.

    It writes to `log` for what it is called, and which nodes each step runs.
    """
    prefixes = []

    def make(graph, feeds, fetches, targets):
        log.append(("plan", feeds, fetches, targets))
        prefix = f"plan{len(prefixes)}/"
        prefixes.append(prefix)
        with runtime.graph.as_default():
            tf.import_graph_def(graph_def=graph, name=prefix.rstrip("/"))
        fed, fetched, run_too = ([prefix + name for name in names] for names in (feeds, fetches, targets))
        traced = tf1.RunOptions(trace_level=tf1.RunOptions.FULL_TRACE)
        step = runtime._make_callable_from_options(
            CallableOptions(feed=fed, fetch=fetched, target=run_too, run_options=traced)
        )

        def run(values):
            said = tf1.RunMetadata()
            answer = step(*[np.float32(values[name]) for name in feeds], run_metadata=said)
            names = {stats.node_name for part in said.step_stats.dev_stats for stats in part.node_stats}
            log.append(("ran", sorted(name.removeprefix(prefix) for name in names if name.startswith(prefix))))
            return answer

        return run

    return make


def random_extension(rng, drawn, number, duplicate):
    """A GraphDef with one new node that reads an old one; with `duplicate`, a node that exists follows."""
    grown = GraphDef(versions=drawn.graph.versions)
    node = grown.node.add(
        name=f"e{number}", op=rng.choice(["Neg", "Square"]), input=[rng.choice(sorted(drawn.lengths))]
    )
    node.attr["T"].type = tf.float32.as_datatype_enum
    if duplicate:
        grown.node.append(rng.choice(drawn.graph.node))
    return grown


def random_actions(rng, drawn, count=12):
    """What a client does to a session, mostly allowed. Steps come again, their names in other orders and structures."""
    pool = [random_step(rng, drawn) for _ in range(3)]
    actions = []
    for number in range(count):
        feeds, fetches = rng.choice(pool)
        leaves = [name.removeprefix("^") for name in rng.sample(fetches, len(fetches))]
        kind = rng.choices(
            [
                "run",
                "fed",
                "nothing",
                "fetch",
                "leaf",
                "feed",
                "operation",
                "shape",
                "both",
                "extend",
                "duplicate",
                "close",
            ],
            [9, 2, 1, 1, 1, 1, 1, 1, 1, 2, 2, 1 if number > 5 else 0],
        )[0]
        if kind == "close":
            actions.append(("close",))
        elif kind in ("extend", "duplicate"):
            actions.append(("extend", random_extension(rng, drawn, number, kind == "duplicate")))
            pool[0] = (feeds, [*fetches[:1], f"e{number}:0"])
        else:
            first = rng.choice([name for name in drawn.lengths if name.startswith("p")])
            wrong = {
                "feed": {"nowhere:0": np.float32([1])},
                "operation": {"n0": np.float32([1])},
                "both": {"nowhere:0": np.float32([1])},
                "shape": {first: np.zeros(7, np.float32)},
            }
            nest = {
                "fed": [list(feeds), leaves],
                "nothing": rng.choice([[], {}, Pair([], ())]),
                "fetch": [leaves, "nowhere:0"],
                "leaf": [rng.choice([None, 3]), leaves],
                "both": ["nowhere:0"],
            }
            shaped = [*leaves, random_nest(rng, leaves, 2)]
            actions.append(("run", nest.get(kind, shaped), {**feeds, **wrong.get(kind, {})}))
    return actions


def real_life(graph, actions):
    """What TensorFlow's session does: for each action (value, error type, executor found or None, nodes that ran, names).

    The names are the feeds, fetches and targets with which Python's session asks C++.
    """
    outcomes, closed = [], False
    with tf.Graph().as_default() as grown:
        tf.import_graph_def(graph_def=graph, name="")
        session = tf1.Session(config=watched_config())
        step, asked = session._do_run, []

        def watched_step(handle, targets, fetches, feeds, *rest):
            sets = (
                [key.deref().name for key in feeds],
                [part.name for part in fetches],
                [part.name for part in targets],
            )
            asked.append(tuple(sorted(set(names)) for names in sets))
            return step(handle, targets, fetches, feeds, *rest)

        session._do_run = watched_step
        for kind, *arguments in actions:
            del asked[:]
            value = error = hit = ran = None
            said = tf1.RunMetadata()
            try:
                if kind == "run":
                    value = session.run(*arguments, tf1.RunOptions(output_partition_graphs=True), said)
                elif kind == "close":
                    session.close()
                    closed = True
                else:
                    error = extend_error(grown.as_graph_def(), arguments[0], closed=closed)
                    if error is None:
                        new = {node.name for node in arguments[0].node}
                        inputs = [
                            text for node in arguments[0].node for text in node.input if endpoint(text)[0] not in new
                        ]
                        read = {
                            f"{name}:{index}": grown.get_tensor_by_name(f"{name}:{index}")
                            for name, index in map(endpoint, inputs)
                        }
                        tf.import_graph_def(arguments[0], input_map=read, name="")
            except Exception as raised:
                error = type(raised)
            if said.partition_graphs:
                hit = len(said.cost_graph.node) > 0
                ran = sorted(
                    node.name for part in said.partition_graphs for node in part.node if not node.name.startswith("_")
                )
            outcomes.append((value, error, hit, ran, list(asked)))
        session.close()
    return outcomes


def in_words(kind, *arguments):
    if kind == "extend":
        return f"extend with {[node.name for node in arguments[0].node][:4]}"
    return f"run({arguments[0]!r}, feeds {list(arguments[1])})" if kind == "run" else "close()"


def lead_a_life(graph, actions, where):
    """Let the learner's session do the actions, then TensorFlow's, and compare action by action."""
    log, answers, runtime = [], [], tf1.Session(graph=tf.Graph(), config=plain_config())
    with withheld(*TF_SESSIONS):
        session = MiniSession(copy.deepcopy(graph), traced_plan(log, runtime))
        after = plain([session.hits, session.misses])
        for kind, *arguments in actions:
            del log[:]
            before, value, error = after, None, None
            try:
                does = {"run": session.run, "extend": session.extend, "close": session.close}[kind]
                value = does(*copy.deepcopy(arguments))
            except Exception as raised:
                error = raised
            after = plain([session.hits, session.misses])
            answers.append((value, error, after[0] - before[0], after[1] - before[1], list(log)))
    runtime.close()
    for number, (real, mine) in enumerate(zip(real_life(graph, actions), answers, strict=True)):
        before = ", ".join(in_words(*action) for action in actions[:number][-4:])
        compare_action(
            real, mine, in_words(*actions[number]), f"{where}, action {number}; before it: {before or 'nothing'}"
        )


def compare_action(real, mine, action, where):
    """Compare one action of TensorFlow's session with the same of the learner's."""
    (want, want_error, hit, ran, asked), (value, error, hits, misses, log) = real, mine
    name = want_error.__name__ if want_error else "no error"
    assert type(error) is (want_error or type(None)), f"{action}: TensorFlow has {name}, yours {error!r} ({where})"
    if want_error is None:
        assert_same(value, want, f"{action}: result ({where})")
    plans = [entry[1:] for entry in log if entry[0] == "plan"]
    nodes = [entry[1] for entry in log if entry[0] == "ran"]
    due = "no look-up" if hit is None else "a hit" if hit else "a miss"
    assert plain(plans) == ([] if hit is not False else asked), (
        f"{action}: {due} in TensorFlow; plan is due for feeds, fetches, targets = "
        f"{[] if hit is not False else asked}, each sorted and without repeats; yours called it for {plans} ({where})"
    )
    assert nodes == ([] if hit is None else [ran]), (
        f"{action}: in TensorFlow these nodes ran: {ran}; in yours: {nodes} ({where})"
    )
    counts = (int(hit is True), int(hit is False))
    assert (hits, misses) == counts, (
        f"{action}: {due} in TensorFlow; your hits went up by {hits}, misses by {misses} ({where})"
    )


def new_node(name, source, op="Neg"):
    """A GraphDef with one node over float32."""
    grown = GraphDef(versions=small_graph().as_graph_def().versions)
    grown.node.add(name=name, op=op, input=[source]).attr["T"].type = tf.float32.as_datatype_enum
    return grown


small = small_graph().as_graph_def()
fed, h_fed = {"x:0": np.float32([1, 2])}, {"h:0": np.float32([5, 6])}
clash = new_node("e1", "z:0")
clash.node.append(small.node[0])
# Every promise once, in an order that tells them apart.
lead_a_life(
    small,
    [
        ("run", ["y:0", "z:0"], fed),
        ("run", Pair("z:0", ["y:0", "z:0"]), {"x:0": np.float32([8, 9])}),
        ("run", ["y:0", "z"], fed),
        ("run", ["y:0", "n"], fed),
        ("run", ["y:0"], fed),
        ("run", "y:0", h_fed),
        ("run", "y", fed),
        ("run", ["y", "y", "y:0"], fed),
        ("run", ("x:0", {"y": "y:0"}), fed),
        ("run", ["x:0"], fed),
        ("run", [["x:0"], "h:0"], {**fed, **h_fed}),
        ("run", {}, {}),
        ("run", [(), {}], fed),
        ("run", ["one:0", "three:0"], {}),
        ("run", {"a": "three:0", "b": OrderedDict(c="one:0")}, {}),
        ("run", ["q:0"], fed),
        ("run", ["q"], fed),
        ("run", [None, "y:0"], fed),
        ("run", 3, fed),
        ("run", ["y:0"], {"q:0": np.float32([1])}),
        ("run", ["y:0"], {"x": np.float32([1, 2])}),
        ("run", ["y:0"], {"x:0": np.float32([1, 2, 3])}),
        ("run", ["y:0"], {"x:0": np.float32(1)}),
        ("run", ["q:0"], {"q:0": np.float32([1])}),
        ("run", ["q:0"], {"x:0": np.float32([1, 2, 3])}),
        ("run", None, {"q:0": np.float32([1])}),
        ("run", [], {"x:0": np.float32([1, 2, 3])}),
        ("extend", small),
        ("extend", clash),
        ("run", ["e1:0"], fed),
        ("extend", new_node("e1", "z:0")),
        ("run", ["y:0", "z:0"], fed),
        ("run", ["e1:0", "y:0"], fed),
        ("extend", new_node("e1", "z:0")),
        ("run", {"e1:0": ["e1:0"]}, {"z:0": np.float32([3, 4])}),
        ("run", ["y:0", "e1:0"], fed),
        ("close",),
        ("close",),
        ("run", ["y:0"], fed),
        ("run", [], {}),
        ("run", ["q:0"], {"q:0": np.float32([1])}),
        ("extend", new_node("e2", "z:0")),
        ("extend", small),
    ],
    "small_graph()",
)
lead_a_life(
    GraphDef(),
    [
        ("run", [], {}),
        ("run", ["q:0"], {"z:0": np.float32([1])}),
        ("extend", small),
        ("run", ["y:0"], fed),
        ("run", ["y:0"], fed),
    ],
    "from an empty graph",
)
lead_a_life(GraphDef(), [("close",), ("run", [], {}), ("run", ["q:0"], {})], "an empty graph")
seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
for case in range(6):
    drawn = random_graph(rng, 10)
    lead_a_life(drawn.graph, random_actions(rng, drawn), f"seed {seed}, session {case}")

session = MiniSession(GraphDef(), plan)
for words, action in [("empty", lambda: session.run([])), ("closed", lambda: (session.close(), session.run([])))]:
    try:
        action()
    except RuntimeError as error:
        assert words in str(error), f"the message of the RuntimeError names the reason, {words}; it says {str(error)!r}"
    else:
        raise AssertionError(f"the session is {words}: run must raise RuntimeError")
session = MiniSession(copy.deepcopy(small), plan)
try:
    session.extend(copy.deepcopy(clash))
except tf.errors.InvalidArgumentError as error:
    assert clash.node[1].name in str(error), (
        f"the message names the node that exists, {clash.node[1].name}; it says {str(error)!r}"
    )
else:
    raise AssertionError("extend with a node that exists must raise tf.errors.InvalidArgumentError")

# Two sessions share nothing.
negative, square = GraphDef(), GraphDef()
for part, op in [(negative, "Neg"), (square, "Square")]:
    part.CopyFrom(new_node("y", "c", op))
    part.node.append(next(node for node in small.node if node.name == "three"))
    part.node[-1].name = "c"
for part, want in [(negative, np.float32([-3, -3])), (square, np.float32([9, 9]))]:
    session = MiniSession(copy.deepcopy(part), plan)
    assert_same(session.run("y:0"), want, "two sessions with other graphs and the same names: result")
    assert plain((session.hits, session.misses)) == (0, 1), (
        f"a new session has no plans and no counts; found {session.hits} hits, {session.misses} misses"
    )

# A step that raises keeps its plan. A body that raises leaves the session closed.
two_shapes = GraphDef()
two_shapes.node.add(name="x", op="Placeholder").attr["shape"].shape.dim.add(size=-1)
two_shapes.node.add(name="y", op="Neg", input=["x"])
planned = []


def picky_plan(graph, feeds, fetches, targets):
    """A plan whose steps take arrays of two elements only."""
    planned.append((feeds, fetches, targets))

    def step(values):
        if len(values["x:0"]) != 2:
            raise tf.errors.InvalidArgumentError(None, None, "two elements, please")
        return [np.negative(values["x:0"])]

    return step


session = MiniSession(two_shapes, picky_plan)
try:
    session.run("y:0", {"x:0": np.float32([1, 2, 3])})
except tf.errors.InvalidArgumentError:
    pass
else:
    raise AssertionError("an error of a step goes through to the caller of run")
assert_same(
    session.run("y:0", {"x:0": np.float32([1, 2])}), np.float32([-1, -2]), "run after a step that raised: result"
)
assert plain(planned) == [(["x:0"], ["y:0"], [])], f"a step that raised keeps its plan; plan was called for {planned}"
try:
    with MiniSession(two_shapes, picky_plan) as session:
        assert_same(session.run("y:0", {"x:0": np.float32([1, 2])}), np.float32([-1, -2]), "run in a with: result")
        raise KeyError("from the body")
except KeyError:
    pass
else:
    raise AssertionError("an error of the body of a with must go on")
for leaving in ("an error", "its end"):
    try:
        session.run([])
    except RuntimeError as error:
        assert "closed" in str(error), f"a with left by {leaving} closes the session; run says {str(error)!r}"
    else:
        raise AssertionError(f"a with left by {leaving} must close the session")
    with MiniSession(two_shapes, picky_plan) as session:
        pass
### END HIDDEN TESTS

# %% [markdown] after_passing="mini-session"
# Your session lived through random lives beside TensorFlow's: same values, same error types, an executor made or found
# in the same calls, and the same nodes ran. The checks in Python are those of `BaseSession._run`
# (python/client/session.py); `DirectSession::Extend` and `CheckNotClosed` are in core/common_runtime/direct_session.cc
# and direct_session.h. Ours checks everything before it plans, so a refused call leaves no trace in the cache.

# %% [markdown]
# ### Check against the real thing
#
# Your `MiniSession` on your `execute`, with no TensorFlow runtime below, beside `tf.compat.v1.Session`, on random
# graphs with feeds anywhere and nested fetches. (This cell needs your answers to exercises 3 and 5.)

# %%
def own_plan(graph: GraphDef, feeds: list[str], fetches: list[str], targets: list[str]) -> Callable[[dict], list]:
    """An executor that is your own `execute`."""
    everything = [*fetches, *(f"^{name}" for name in targets)]
    return lambda values: execute(graph, values, everything, kernels=called(KERNELS, ran))[: len(fetches)]


ran, dice, agree, kernels_run = [], random.Random(2), 0, 0
for _ in range(20):
    drawn = random_graph(dice)
    feeds, fetches = random_step(dice, drawn)
    names = [name.removeprefix("^") for name in fetches]
    nest = {"names": names, "nest": random_nest(dice, names)}
    ran.clear()
    with MiniSession(drawn.graph, own_plan) as mine:
        answer = mine.run(nest, feeds)
    with tf.Graph().as_default():
        tf.import_graph_def(drawn.graph, name="")
        with tf1.Session(config=plain_config()) as session:
            trace = trace_run(session, nest, feeds)
    assert_same(answer, trace.values, "result")
    agree += sorted(ran) == [name for name in trace.nodes() if not name.startswith("_")]
    kernels_run += len(ran)
print(f"20 random graphs: all values agree, the same nodes ran in {agree} of 20, {kernels_run} kernel calls")

# %% [markdown]
# ## Two more ways into a session
#
# `make_callable` does the translation of names once and returns a function. With `feed_list` it only wraps `run`;
# without, it goes straight to C++ and shares the cache of executors with `run`. A third form,
# `_make_callable_from_options`, which the given `plan` uses, is C++'s `MakeCallable`: its executor is its own and never
# in the cache.

# %%
with tf1.Session(graph=small_graph(), config=watched_config()) as session:
    said = tf1.RunMetadata()
    session.run("one:0")
    session.make_callable("one:0", accept_options=True)(run_metadata=said)
    print("make_callable finds the executor of run: ", len(said.cost_graph.node) > 0)
    session._make_callable_from_options(CallableOptions(feed=["x:0"], fetch=["z:0"]))(np.float32([1, 2]))
    session.run("z:0", {"x:0": [1, 2]}, run_metadata=said)
    print("run finds the executor of MakeCallable:  ", len(said.cost_graph.node) > 0)

# %% [markdown]
# `partial_run` splits one step in time: set up all feeds and fetches, then bring some feeds, look at some fetches, and
# decide what to feed next. The handle shows the cache's key as C++ writes it,
# `feeds->fetches/targets/is_partial_run/debug;number`. The step stays alive between the calls, and each tensor may be
# fed or fetched once. It is deprecated since 2023; a program of today has two functions instead.

# %%
with tf.Graph().as_default():
    a, b = tf1.placeholder(tf.float32, [], name="a"), tf1.placeholder(tf.float32, [], name="b")
    p = tf.add(a, 1.0, name="p")
    q = tf.multiply(p, b, name="q")
    with tf1.Session(config=plain_config()) as session:
        handle = session.partial_run_setup([p, q], [a, b])
        print("handle:                           ", handle)
        middle = session.partial_run(handle, p, {a: 1.0})
        print("fed a, fetched p:                 ", middle)
        print("fed b, fetched q:                 ", session.partial_run(handle, q, {b: 10 * middle}))
        attempt("after the last:", lambda: session.partial_run(handle, q, {b: 1.0}))


# %% [markdown]
# ## Which session does a bare line mean?
#
# `y.eval()` names no session. It takes the *default* session: the innermost one whose scope is open in this thread.
# `with session.as_default():` opens such a scope and does not close the session at its end. `with session:` opens it,
# makes the session's graph the default graph too, and closes the session. Both kinds of default are stacks, and each
# thread has its own.

# %%
def default_name(**sessions: object) -> str:
    """The name of this thread's default session among `sessions`."""
    return next((name for name, session in sessions.items() if session is tf1.get_default_session()), "none")


def eval_with(session: tf1.Session, tensor: tf.Tensor) -> np.ndarray:
    """Evaluate in a scope that this thread opens for itself."""
    with session.as_default():
        return tensor.eval()


with small_graph().as_default() as drawn, ThreadPoolExecutor(1) as other:
    outer, inner, one = tf1.Session(), tf1.Session(), drawn.get_tensor_by_name("one:0")
    with outer.as_default():
        with inner.as_default():
            print("inside both scopes:               ", default_name(outer=outer, inner=inner))
            print("at the same time in a thread:     ", other.submit(default_name, outer=outer, inner=inner).result())
            print("the same default graph there:     ", other.submit(tf1.get_default_graph).result() is drawn)
            attempt("so eval fails there:", lambda: other.submit(one.eval).result())
            attempt("its own scope repairs it:", lambda: other.submit(eval_with, outer, one).result())
        print("inner left:                       ", default_name(outer=outer, inner=inner))
    print("both left:                        ", default_name(outer=outer, inner=inner))
    print("outer is still open:              ", outer.run("one:0"))
    outer.close()
    inner.close()


# %% [markdown]
# A scope need not be left in order: nothing in Python stops you from calling `__exit__` on the outer one first. This is
# what happens then. The scope of `first` is used up, so nobody can take `first` off any more. (We do it in a thread of
# its own, because the stack keeps the damage.)

# %%
def leave(scope: contextlib.AbstractContextManager) -> str:
    scope.__exit__(None, None, None)
    return "left"


def left_in_the_wrong_order() -> None:
    with small_graph().as_default():
        first, second = tf1.Session(), tf1.Session()
        scopes = [first.as_default(), second.as_default()]
        for scope in scopes:
            scope.__enter__()
        attempt("leave first, while second is open:", lambda: leave(scopes[0]))
        print("default now:                      ", default_name(first=first, second=second))
        attempt("leave second:", lambda: leave(scopes[1]))
        print("default now:                      ", default_name(first=first, second=second))
        attempt("leave first once more:", lambda: leave(scopes[0]))
        print("default now:                      ", default_name(first=first, second=second))
        first.close()
        second.close()


with ThreadPoolExecutor(1) as thread:
    thread.submit(left_in_the_wrong_order).result()


# %% [markdown]
# ### Exercise 6 · Whose turn is it? (2 points)
#
# Write `class DefaultStack`, made as `DefaultStack()`:
#
# - `current() -> object`: the innermost value in this thread, `None` if there is none.
# - `scope(value)`: a context manager that makes `value` the current one inside. Each call gives a new scope, which is
#   entered and left once, by `with` or by calling `__enter__()` and `__exit__(None, None, None)`.
#
# Each thread has its own stack, empty at first; a scope is entered and left in the same thread. Leaving a scope whose
# value is not on top raises `AssertionError` and leaves the stack as it is. What counts is the *value*, and its
# identity: of two lists that are equal, each is a value of its own, but a value that was entered twice may be left by
# either scope first, because the one on top is the same. A scope is left also when its body raises, and the error goes
# on. (No test does both: raise in the body and leave out of order.)
#
# `tf.compat.v1.get_default_session`, `Session.as_default` and TensorFlow's own `DefaultStack`, on which they and
# `Graph.as_default` stand, are withheld.
#
# ```
# >>> stack = DefaultStack()
# >>> with stack.scope("A"):
# ...     with stack.scope("B"): print(stack.current())
# ...     print(stack.current())
# B
# A
# ```
#
# <details><summary>Hint 1</summary>
#
# `threading.local()` is an object whose attributes each thread sees for itself. What your `__init__` puts into it
# exists only in the thread that made the stack; another thread finds no such attribute there.
# </details>
#
# <details><summary>Hint 2</summary>
#
# Let the list be made when a thread first asks for it (or make your class a *subclass* of `threading.local`: its
# `__init__` runs again in each thread). `scope` is a method under `@contextlib.contextmanager`: append, `try: yield`,
# and in `finally` compare the last entry with `value` by `is` before you take it off.
# </details>

# %% nbgrader={"grade": false, "grade_id": "default-stack", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
class DefaultStack:
    """A stack of default values for each thread."""

    def __init__(self) -> None:
        """Start empty in every thread."""
        ### BEGIN SOLUTION
        self._local = threading.local()
        ### END SOLUTION

    def current(self) -> object:
        """Return the innermost value of the thread that asks, or None."""
        ### BEGIN SOLUTION
        return self._values()[-1] if self._values() else None
        ### END SOLUTION

    def scope(self, value: object) -> contextlib.AbstractContextManager:
        """Return a context manager that makes `value` the current one inside.

        Leaving it raises AssertionError while another value is on top.
        """
        ### BEGIN SOLUTION
        return contextlib.contextmanager(self._inside)(value)

    def _inside(self, value: object) -> Iterator[object]:
        values = self._values()
        values.append(value)
        try:
            yield value
        finally:
            if values[-1] is not value:
                raise AssertionError("this scope is not the innermost one")
            values.pop()

    def _values(self) -> list[object]:
        """The stack of the thread that asks."""
        if not hasattr(self._local, "values"):
            self._local.values = []
        return self._local.values
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "default-stack-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
# examiner: same process – which stack a thread sees, and which of two equal objects is meant, is known only there.
seen = []
with withheld(*TF_DEFAULTS):
    stack = DefaultStack()
    seen.append(stack.current())
    with stack.scope("A"):
        seen.append(stack.current())
        with stack.scope("B"):
            seen.append(stack.current())
        seen.append(stack.current())
    seen.append(stack.current())
assert seen == [None, "A", "B", "A", None], f"None, A, B, A, None are due in turn; found {seen}"


### BEGIN HIDDEN TESTS
def play(moves, scope, current):
    """Make the moves, each in its thread, one by one. Returns (position of the current value, error's name) of each."""
    threads = [ThreadPoolExecutor(1), ThreadPoolExecutor(1)]
    scopes, found = {}, []

    def move(kind, number, value):
        error = ""
        try:
            if kind == "enter":
                scopes[number] = scope(value)
                scopes[number].__enter__()
            else:
                scopes.pop(number).__exit__(None, None, None)
        except Exception as raised:
            error = type(raised).__name__
        now = current()
        return next(
            (index for index, value in enumerate(values) if value is now), None if now is None else "a stranger"
        ), error

    for thread, kind, number, value in moves:
        found.append(threads[thread].submit(move, kind, number, value).result(timeout=20))
    # Leave what is still open, so that no generator is left to complain when it is collected.
    for number, thread in [
        (number, thread) for thread, kind, number, _ in moves if kind == "enter" and number in scopes
    ]:
        threads[thread].submit(move, "leave", number, None).result(timeout=20)
    for thread in threads:
        thread.shutdown()
    return found


def random_moves(rng, values, count=16):
    """Enter and leave in two threads, half of the time in order; values repeat, each scope is left at most once."""
    moves, open_scopes = [], ([], [])
    for number in range(count):
        thread = rng.randrange(2)
        if not open_scopes[thread] or rng.random() < 0.5:
            moves.append((thread, "enter", number, rng.choice(values)))
            open_scopes[thread].append(number)
        else:
            chosen = -1 if rng.random() < 0.5 else rng.randrange(len(open_scopes[thread]))
            moves.append((thread, "leave", open_scopes[thread].pop(chosen), None))
    return moves


def in_words_of(value):
    return next((f" of value {index}" for index, other in enumerate(values) if other is value), "")


# Equal values, each of them another object.
values = [["session"], ["session"], ["session"]]
a, b, c = values
fixed = [
    [(0, "enter", 0, a), (1, "enter", 1, b), (0, "leave", 0, None), (1, "leave", 1, None)],
    [(0, "enter", 0, a), (0, "enter", 1, b), (0, "leave", 0, None), (0, "leave", 1, None)],
    [(0, "enter", 0, a), (0, "enter", 1, b), (0, "enter", 2, c), (0, "leave", 1, None), (0, "leave", 2, None)],
    [(0, "enter", 0, a), (0, "enter", 1, a), (0, "leave", 0, None), (0, "leave", 1, None)],
]
seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
for moves in fixed + [random_moves(rng, values) for _ in range(12)]:
    with withheld(*TF_DEFAULTS):
        stack = DefaultStack()
        mine = play(moves, stack.scope, stack.current)
    # TensorFlow's own stack takes any value: as_default never looks at the session.
    real = play(moves, tf1.Session.as_default, tf1.get_default_session)
    words = [f"thread {thread}: {kind} scope {number}{in_words_of(value)}" for thread, kind, number, value in moves]
    for index, (got, want) in enumerate(zip(mine, real, strict=True)):
        assert got == want, (
            f"current value (by number) and error: {want} in TensorFlow, {got} in your stack, "
            f"after {words[: index + 1]} (seed {seed})"
        )

outcome = []
with withheld(*TF_DEFAULTS):
    stack = DefaultStack()
    try:
        with stack.scope("A"):
            raise KeyError("from the body")
    except KeyError:
        outcome.append("the error went on")
    outcome.append(stack.current())
    second = DefaultStack()
    with stack.scope("A"):
        outcome.append(second.current())
assert outcome == ["the error went on", None, None], (
    f"a body that raises leaves its scope, its error goes on, and two stacks share nothing; found {outcome}"
)
### END HIDDEN TESTS

# %% [markdown] after_passing="default-stack"
# Your stack agreed with TensorFlow's own after every move of two threads, in order and out of order. TensorFlow's is
# `DefaultStack` in python/framework/stack.py, a subclass of `threading.local`; the default graph's stack
# (`_DefaultGraphStack`, python/framework/ops.py) is another. TensorFlow's `__init__` runs anew in each thread; ours
# makes the list when a thread first asks, which says the same in plain code.

# %% [markdown]
# ## What an interactive session adds, and what it leaves behind
#
# In a shell, `with` blocks are in the way. `InteractiveSession` makes itself the default session when it is *created*,
# and the graph that it was given the default graph. It adds two settings: `gpu_options.allow_growth`, if you bring no
# configuration, and always `place_pruned_graph`, which it writes into the very `ConfigProto` that you bring: only the
# nodes of the step are placed on devices, so a node that cannot be placed hurts no one who does not need it. An ordinary
# session places the whole graph.

# %%
with tf.Graph().as_default():
    near = tf.constant(2.0, name="near")
    with tf.device("/device:CPU:7"):
        tf.constant(1.0, name="far")
    strict = tf1.ConfigProto(allow_soft_placement=False)
    with tf1.Session(config=strict) as session:
        attempt("Session, fetch near:", lambda: session.run("near:0"))
    interactive = tf1.InteractiveSession(config=strict)
    attempt("InteractiveSession, fetch near:", lambda: near.eval())
    attempt("InteractiveSession, fetch far:", lambda: interactive.run("far:0"))
    watch = weakref.ref(interactive)
    del interactive
    gc.collect()
    print("no variable holds it; it lives:   ", watch() is not None)
    print("it is the default session:        ", watch() is tf1.get_default_session())
    watch().close()
    gc.collect()
    print("closed; it lives:                 ", watch() is not None)
    print("default session:                  ", tf1.get_default_session())


# %% [markdown]
# So it leaks: until somebody closes it, the stack of the thread holds the session, and with it the graph and, on a GPU,
# its memory. A second one warns of this in the log. And if two are closed in the wrong order, the stack keeps a session
# that is closed. Both are shown below; `caught_log` keeps the log line from standard error.

# %% nbgrader={"grade": false, "grade_id": "given-log", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
@contextlib.contextmanager
def caught_log() -> Iterator[list[str]]:
    """Collect what TensorFlow's Python logger says inside the `with` block, instead of printing it."""
    lines: list[str] = []

    def keep(record: object) -> bool:
        lines.append(record.getMessage())
        return False

    logger = tf.get_logger()
    logger.addFilter(keep)
    try:
        yield lines
    finally:
        logger.removeFilter(keep)


# %%
def closed_in_the_wrong_order() -> None:
    with small_graph().as_default(), caught_log() as lines:
        first, second = tf1.InteractiveSession(), tf1.InteractiveSession()
        print("log:", lines[0][:68], "…")
        attempt("close first:", first.close)
        print("default now:                      ", default_name(first=first, second=second))
        attempt("close second:", second.close)
        print("default now:                      ", default_name(first=first, second=second))
        attempt("run in the default session:", lambda: tf1.get_default_session().run("one:0"))


with ThreadPoolExecutor(1) as thread:
    thread.submit(closed_in_the_wrong_order).result()


# %% [markdown]
# ### Exercise 7 · What an interactive session leaves behind (3 points)
#
# Write `defaults(actions)`, which says how the default session changes. An action is a pair of a kind and the name of a
# session; each name is opened once and closed or left at most once.
#
# - `("with", s)`: a new `Session` s is made and the scope of `s.as_default()` entered.
# - `("leave", s)`: that scope is left. Leaving does not close the session: a left `with` of this kind stays open.
# - `("interactive", s)`: a new `InteractiveSession` s is made.
# - `("close", s)`: that `InteractiveSession` is closed.
#
# The result is a list with one tuple per action: the name of the default session after it (`None` if there is none),
# whether that session is closed (`False` if there is none), and `"nesting"` if the action raised `AssertionError`
# because s was not on top, else `""`. When `close` raises, s is closed all the same. When an action raises, the stack
# stays as it is. All actions happen in one thread. Sessions and TensorFlow's `DefaultStack` are withheld.
#
# ```
# >>> defaults([("interactive", "A"), ("interactive", "B"), ("close", "A"), ("close", "B")])
# [('A', False, ''), ('B', False, ''), ('B', False, 'nesting'), ('A', True, '')]
# ```
#
# <details><summary>Hint 1</summary>
#
# Two things change: a stack of names, and the set of names that are closed. Opening of either kind does the same to the
# stack, and so does ending of either kind. Only one of the four kinds touches the set.
# </details>
#
# <details><summary>Hint 2</summary>
#
# Ask of each action: what does it do to the stack, what to the set, and is there a note? `close` touches the set
# whether or not the name is on top. The tuple is then read off the stack and the set, in the same way for all four
# kinds.
# </details>

# %% nbgrader={"grade": false, "grade_id": "interactive", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def defaults(actions: list[tuple[str, str]]) -> list[tuple[str | None, bool, str]]:
    """After each action: the default session's name, whether it is closed, "nesting" if the action raised for it."""
    ### BEGIN SOLUTION
    stack: list[str] = []
    closed: set[str] = set()
    states = []
    for kind, name in actions:
        note = ""
        if kind in ("with", "interactive"):
            stack.append(name)
        else:
            if kind == "close":
                closed.add(name)
            if stack[-1] == name:
                stack.pop()
            else:
                note = "nesting"
        top = stack[-1] if stack else None
        states.append((top, top in closed, note))
    return states
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "interactive-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
wrong_order = [("interactive", "A"), ("interactive", "B"), ("close", "A"), ("close", "B")]
with withheld(*TF_SESSIONS, *TF_DEFAULTS):
    default_states = defaults(list(wrong_order))
assert type(default_states) is list, f"defaults returns a list, not a {type(default_states).__name__}"
assert plain(default_states) == [("A", False, ""), ("B", False, ""), ("B", False, "nesting"), ("A", True, "")], (
    f"A cannot be taken off while B is on top, and is closed all the same; found {default_states}"
)


### BEGIN HIDDEN TESTS
def random_life(rng):
    """Up to ten actions; half of the endings are out of order."""
    actions, open_now = [], []
    for number in range(rng.randrange(3, 11)):
        if not open_now or rng.random() < 0.5:
            action = (rng.choice(["with", "interactive"]), f"s{number}")
            open_now.append(action)
            actions.append(action)
        else:
            chosen = -1 if rng.random() < 0.5 else rng.randrange(len(open_now))
            kind, name = open_now.pop(chosen)
            actions.append(("leave" if kind == "with" else "close", name))
    return actions


def real_defaults(actions):
    """The same with real sessions, in the thread of the caller. What is still open is left and closed at the end."""
    states, sessions, scopes = [], {}, {}
    with tf.Graph().as_default():
        one = tf.constant(1.0)

        def is_closed(session):
            try:
                session.run(one)
            except RuntimeError:
                return True
            return False

        def act(kind, name):
            if kind == "interactive":
                sessions[name] = tf1.InteractiveSession()
            elif kind == "with":
                sessions[name] = tf1.Session()
                scopes[name] = sessions[name].as_default()
                scopes[name].__enter__()
            elif kind == "leave":
                scopes.pop(name).__exit__(None, None, None)
            else:
                sessions[name].close()

        for kind, name in actions:
            note = "nesting"
            with contextlib.suppress(AssertionError):
                act(kind, name)
                note = ""
            now = tf1.get_default_session()
            top = next((name for name, session in sessions.items() if session is now), None)
            states.append((top, now is not None and is_closed(now), note))
        for name in list(scopes):
            with contextlib.suppress(AssertionError):
                act("leave", name)
        for name in sessions:
            with contextlib.suppress(AssertionError):
                act("close", name)
    return states


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
lives = [
    [("interactive", "A"), ("with", "B"), ("close", "A"), ("leave", "B")],
    [("with", "A"), ("interactive", "B"), ("leave", "A"), ("close", "B"), ("with", "C"), ("leave", "C")],
    [("interactive", "A"), ("interactive", "B"), ("interactive", "C"), ("close", "B"), ("close", "C"), ("close", "A")],
    [("with", "A"), ("leave", "A"), ("interactive", "B"), ("close", "B")],
    [],
]
for actions in lives + [random_life(rng) for _ in range(40)]:
    with withheld(*TF_SESSIONS, *TF_DEFAULTS):
        mine = defaults(list(actions))
    with ThreadPoolExecutor(1) as thread, caught_log():
        real = thread.submit(real_defaults, actions).result(timeout=60)
    assert type(mine) is list, f"seed {seed}: defaults returns a list, not a {type(mine).__name__}"
    assert len(mine) == len(actions), f"seed {seed}: {len(actions)} actions, {len(mine)} states, for {actions}"
    for index, (got, want) in enumerate(zip(mine, real, strict=True)):
        assert plain(got) == want, (
            f"seed {seed}: after {actions[: index + 1]} TensorFlow's state is {want}, yours {got!r}"
        )
### END HIDDEN TESTS

# %% [markdown] after_passing="interactive"
# You predicted TensorFlow's default session through random orders of opening and closing, with the two accidents in
# them: a scope that cannot be left any more, and a default session that is closed. `InteractiveSession`
# (python/client/session.py) means to avoid them: it sets `enforce_nesting = False` on its scope. But the scope is a
# context manager of `contextlib`, and the flag that counts is the one on `DefaultStack`, so nothing reads it.

# %% [markdown]
# ## Play
#
# In the upper part of the figure, choose fetches, targets and feeds and run: it shows the key, whether TensorFlow's
# session had an executor for it, and the cache. Try an operation instead of its tensor, or feed `h:0`. In the lower
# part, open and end sessions in any order and watch the default stack. Every run is a real run of a real session; every
# entry and exit is made on TensorFlow's own `DefaultStack`.

# %%
from tflabs.view import session_cache

session_cache(tf1.Session(graph=small_graph(), config=watched_config()))

# %% [markdown]
# ## Read on
#
# - `python/client/session.py`: `BaseSession` (`_run`, `_do_run`, `make_callable`), `_FetchMapper` and its subclasses,
#   `_FetchHandler`, `Session`, `InteractiveSession`.
# - `core/common_runtime/direct_session.cc`: `DirectSession` (`Extend`, `Run`, `GetOrCreateExecutors`,
#   `CreateExecutors`, `PRunSetup`, `MakeCallable`, `Close`). `core/common_runtime/graph_execution_state.cc`:
#   `GraphExecutionState`, the graph between `Extend` and `CreateExecutors`.
# - `core/graph/subgraph.cc`: `FeedInputs`, `FetchOutputs`, `PruneForTargets`. `python/framework/stack.py`:
#   `DefaultStack`.
#
# What changed since 1.x: a program of today has no session. `tf.function` keeps concrete functions by the types and
# shapes of their arguments, where a session keeps executors by names; a `ConcreteFunction` is to it what an executor is
# to a session. The default graph is still a stack of each thread: tracing pushes a `FuncGraph` on it. Sessions remain
# under `tf.compat.v1` and below every saved 1.x model.

# %% [markdown]
# # From ops to machine code
#
# A Python function that calls TensorFlow is not what the processor runs. Between the two lie a graph of TensorFlow ops, a
# program in the language of the compiler XLA, the same program rewritten, the language of the compiler LLVM, and machine
# code. Which forms are these, and what is decided on the way from one to the next?
#
# At the end you can say when TensorFlow traces a function again and when XLA refuses it, read XLA's programs and run them
# with an interpreter of your own, and tell for each kernel which TensorFlow ops it carries out.
#
# 100 minutes · 17 points · Before this lab: 4-1 (terminology, machine code, intermediate representation, SSA values).
#
# When you have saved, `./tflabs check 4-2-lowering` or Check on the start page grades your answers, also with tests that you do
# not see here.

# %% nbgrader={"grade": false, "grade_id": "given-imports", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
from tflabs.runtime import quiet

with quiet():
    import tensorflow as tf

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from tensorflow.compiler.xla.service.hlo_pb2 import HloModuleProto
from tensorflow.compiler.xla.xla_data_pb2 import PrimitiveType
from tensorflow.python.framework.kernels import get_registered_kernels_for_op

from tflabs.runtime import withheld, xla_dump
from tflabs.view.hlo_text import parse_hlo as read_hlo

GraphDef = tf.compat.v1.GraphDef

# %% [markdown]
# ## 1. Look: one function, five forms
#
# **Lowering** means to rewrite a program in a language that is closer to the machine. It is done in several steps, and each
# language on the way makes other decisions easy. The function below is a small classifier: two matrix products, a bias, a
# ReLU and a softmax. `jit_compile=True` asks TensorFlow to hand it to **XLA**, the compiler for tensor programs. XLA compiles
# when the function is called (**just in time**), not before the program starts (**ahead of time**).
#
# Before that, TensorFlow runs the Python code once, with placeholders instead of tensors, and keeps the ops that the code
# calls as a graph. This is called **tracing**. The size of the batch is left open in the signature.

# %%
from tflabs import view


def classify(x, w, b, v):
    hidden = tf.nn.relu(tf.matmul(x, w) + b)
    return tf.nn.softmax(tf.matmul(hidden, v))


shapes = {"x": [None, 16], "w": [16, 48], "b": [48], "v": [48, 10]}
signature = [tf.TensorSpec(shape, name=name) for name, shape in shapes.items()]


def arguments(batch: int) -> list:
    return [tf.ones([batch if size is None else size for size in spec.shape]) for spec in signature]


# Without AutoGraph, which makes ops of Python's `if` and `while`: there are none here.
compiled = tf.function(classify, input_signature=signature, autograph=False, jit_compile=True)
for batch in [64, 5]:
    concrete = compiled.get_concrete_function(*arguments(batch))
print("traces for batches of 64 and of 5:", compiled.experimental_get_tracing_count())
print("ops of the trace:", [operation.type for operation in concrete.graph.get_operations()])


# %% [markdown]
# One trace serves both batches. Now the function is called with both, in a process of its own: XLA writes down what it does
# only if the environment variable `XLA_FLAGS` says so before it compiles for the first time. What it wrote is in
# `dump.files`. The two middle forms can also be had without a dump, from `experimental_get_compiler_ir`.

# %%
def call_it(batches: list[int]) -> None:
    function = tf.function(classify, input_signature=signature, autograph=False, jit_compile=True)
    for batch in batches:
        function(*arguments(batch))


dump = xla_dump(call_it, [64, 5])  # with XLA_FLAGS="--xla_dump_to=… --xla_dump_hlo_as_text"
modules = sorted({name.split(".")[0] for name in dump.files})
first = {name: content for name, content in dump.files.items() if name.startswith(modules[0])}
print(f"XLA compiled {len(modules)} modules and wrote {len(first)} files about the first")

stage_of = compiled.experimental_get_compiler_ir(*arguments(64))
lowered = view.Lowered(concrete, stage_of(stage="hlo"), stage_of(stage="optimized_hlo"), view.kernels(first))
view.lowering_stage(lowered, "graph")

# %% [markdown]
# **The traced graph.** From here on Python is not needed. Every op has a colour and a mark; they follow it through the other
# four forms.
#
# A **module** is one compiled program. One trace has become two modules, because XLA wants to know every size: one is for
# 64 rows, the other for 5. That is **specialisation**: code for one case only, in exchange for loops of known length.

# %%
view.lowering_stage(lowered, "hlo")

# %% [markdown]
# **HLO**, "high level operations", is XLA's language. A module holds **computations** (functions); the one called `ENTRY` is
# where it starts. A computation is a list of **instructions**. Each has a name, a **shape** with an element type
# (`f32[64,48]`: 64 × 48 numbers of 32 bits), an **opcode** that says what it does (`dot`) and **operands**, the names of the
# instructions whose values it takes. Nothing is implicit: a bias is first **broadcast** to the shape of what it is added to.
#
# One op can become many instructions: about half of the lines are one softmax, with two **reductions** (`reduce` combines
# all numbers along a dimension, by the computation in `to_apply`). **StableHLO** is the form of HLO in which programs are
# handed from one tool to another; `stage="stablehlo"` prints it.

# %%
view.lowering_stage(lowered, "optimized_hlo")

# %% [markdown]
# **Optimised HLO.** A **compiler pass** is one walk over the program that rewrites it, and XLA has made dozens. Reshapes and
# transposes that change nothing are gone. Instructions whose results are needed only by each other were put into a
# **fusion**, a box above: its inner values are never stored. Each box is one **kernel**, a piece of machine code that is
# called once (a lone `reduce` gets a box too, so that it becomes a kernel); each `dot` outside counts as one, too. `add`
# and `Relu` share a kernel, `Softmax` has four.
#
# The text also fixes two things that the picture does not show: the **schedule** (the order of its lines, by which XLA
# plans the memory) and the **layout** of each array, written behind its shape: in `{1,0}`, dimension 1 varies fastest.

# %%
view.lowering_stage(lowered, "llvm")

# %% [markdown]
# **LLVM IR** is the language of LLVM, the compiler under XLA (and under clang). Here shapes are gone: there are loops over
# addresses, and one number at a time. This is the kernel that adds the bias and applies the ReLU. `fadd` adds; `fcmp` and
# `select` choose the larger of the sum and 0. The names of TensorFlow's ops end at the kernel; lines are coloured by what
# they do.
#
# The two `dot` instructions have no LLVM IR. For them XLA's runtime calls a library that was compiled long before.

# %%
view.lowering_stage(lowered, "assembly")


# %% [markdown]
# **Machine code.** LLVM writes an **object file**: bytes for the processor, and a table of **symbols**, the names under which
# functions are found. A disassembler (capstone) turns the bytes back into **assembly**, one line for an instruction with its
# address in front. On an x86 processor with AVX, whose vector registers hold eight numbers, `vaddps` adds eight at a time and
# `vmaxps` takes eight maxima. There, LLVM has put eight turns of the inner loop into one instruction and written the six
# that remain one after the other: only the loop over the rows is left. (Narrower registers make it more than six.) The
# bias is loaded once, before that loop. The result goes back to where the product came from: XLA has given both arrays the same memory.
#
# The rest of the lab takes these steps one by one: when a trace is made (exercises 1, 2), what XLA refuses (3), how HLO is
# written (4), what it computes (5), and how one finds the ops in the kernels again (6).
#
# ## 2. One trace or several?
#
# A graph has no Python left in it, so one graph serves only calls for which the Python code would have done the same. A
# trace is made for a **signature**, and TensorFlow looks for one that fits before it traces again. What Python prints, it
# prints while a trace is made:

# %%
@tf.function(autograph=False)
def double(value):
    print("tracing: value is", value)
    return tf.add(value, value)


for value in [tf.constant(1), tf.constant(2), tf.constant(0.5)]:
    print("result", double(value).numpy())


# %% [markdown]
# The second call found the trace of the first: in the graph a tensor is a placeholder, so its value plays no role. Its
# element type does. Python values do become part of the graph. What counts as the same Python value? Guess; a wrong
# guess costs nothing, since you can check again.
#
# ### Exercise 1 · One trace or several (1 point)
#
# `fresh()` returns a new `tf.function` that takes any arguments. Four such functions are called as follows, each in this
# order:
#
# | | calls |
# | --- | --- |
# | 0 | `f(1)`, `f(1.0)`, `f(True)` |
# | 1 | `f(1)`, `f(2)` |
# | 2 | `f(tf.zeros([2]))`, `f(tf.zeros([3]))`, `f(tf.zeros([2]))` |
# | 3 | `f(np.float32(1))`, `f(tf.constant(1.0))` |
#
# Say before you run anything how many traces each function has afterwards: `predicted` is a list of four whole numbers.
# For the three calls of `double` above, the number would be 2.

# %% nbgrader={"grade": false, "grade_id": "given-fresh", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def fresh():
    """A `tf.function` without traces that takes any arguments."""

    def anything(*arguments):
        return tf.constant(0)

    return tf.function(anything, autograph=False)


# %% nbgrader={"grade": false, "grade_id": "predict-traces", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
# How many traces does each of the four functions have afterwards? [ …, …, …, … ]
### BEGIN SOLUTION
predicted = [1, 2, 2, 1]
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "predict-traces-test", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
assert type(predicted) is list, f"predicted is a list, not {type(predicted).__name__}"
assert [type(count) for count in predicted] == [int] * 4, f"predicted holds four whole numbers, found {predicted}"
### BEGIN HIDDEN TESTS
said = list(predicted)
call_lists = [
    [1, 1.0, True],
    [1, 2],
    [tf.zeros([2]), tf.zeros([3]), tf.zeros([2])],
    [np.float32(1), tf.constant(1.0)],
]
look_at = [
    "Python values are compared with ==, whatever their types",
    "a Python number is part of the graph, so another number needs another graph",
    "the shape is part of a tensor's signature, and a trace is kept",
    "a NumPy scalar is turned into a tensor before it is looked at",
]
for number, (call_list, hint) in enumerate(zip(call_lists, look_at, strict=True)):
    traced_function = fresh()
    for argument in call_list:
        traced_function(argument)
    counted = traced_function.experimental_get_tracing_count()
    assert said[number] == counted, (
        f"row {number}: you predicted {said[number]}, TensorFlow made another number: {hint}"
    )
### END HIDDEN TESTS

# %% [markdown] after_passing="predict-traces"
# 1, 1.0 and True are equal in Python, and TensorFlow asks no more: they share a trace, made for whichever came first. So
# `double(1)` followed by `double(1.0)` returns the integer 2 both times. Python values are `Literal`s in
# tensorflow/core/function/trace_type/default_types.py; the answer is what `experimental_get_tracing_count` says. NumPy
# scalars count as tensors.

# %% [markdown]
# ### Exercise 2 · When is a function traced again? (3 points)
#
# Complete `count_traces(calls)`. It returns, as an `int`, how many traces the function of `fresh()` has after these calls.
# `calls` is a list of tuples; each tuple holds the arguments of one call, in their order. An argument is
#
# - a `Tensor(dtype, shape)`, which stands for a tensor: two count as the same if dtype and shape are the same;
# - an `int`, `float`, `bool`, `str` or `None`: two count as the same if they are equal (`==`); `nan` does not occur;
# - a `list`, `tuple` or `dict` of such arguments, nested to any depth. Two count as the same if they are of the same kind
#   (a list is no tuple) and have the same length and the same parts. Dicts have strings as keys; they need the same keys,
#   in any order.
#
# Two calls share a trace if they have equally many arguments and these count as the same, place by place. No calls make
# 0 traces. Any other argument, such as a set or bytes, alone or inside a container, raises a `TypeError`.
# (TensorFlow itself would take bytes.)
#
# ```
# >>> count_traces([(1, "a"), (1.0, "a"), ([1],), ((1,),), (Tensor("float32", (2,)),), (Tensor("float32", (2,)),)])
# 4
# ```
#
# `traces_of(calls)`, given below, asks TensorFlow. Use it to try things out; `tf.function` and the code of TensorFlow that
# compares arguments are withheld while your function is tested.
#
# <details><summary>Hint 1</summary>
#
# Turn each call into a key that can be put into a set, so that two calls have equal keys exactly if they share a trace.
# Python's `==` already finds 1, 1.0 and True equal, also inside tuples.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# ```
# def key_of(one_argument):
#     # Tensor        → (a word for tensors, its dtype, its shape)
#     # plain value   → (a word for values, the value)
#     # list or tuple → (its kind, key of each part …)
#     # dict          → (a word for dicts, its (name, key of part) pairs without their order)
# return the size of the set of the keys of all calls
# ```
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-traces", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
@dataclass(frozen=True)
class Tensor:
    """Stands for a tensor among the arguments of a call."""

    dtype: str
    shape: tuple[int, ...]


def real(described):
    """The argument itself, with a tensor of zeros for each `Tensor`."""
    kind = type(described)
    if kind is Tensor:
        return tf.zeros(described.shape, described.dtype)
    if kind is dict:
        return {name: real(part) for name, part in described.items()}
    return kind(real(part) for part in described) if kind in (list, tuple) else described


def traces_of(calls: list[tuple]) -> int:
    """How many traces TensorFlow makes for these calls of one function."""
    function = fresh()
    for call in calls:
        function(*real(call))
    return function.experimental_get_tracing_count()


# %% nbgrader={"grade": false, "grade_id": "traces", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def count_traces(calls: list[tuple]) -> int:
    """Count the traces that a `tf.function` makes for these calls.

    Raises:
        TypeError: an argument, or a part of one, is none of the kinds above.
    """
    ### BEGIN SOLUTION

    def key(argument):
        if type(argument) is Tensor:
            return ("tensor", argument.dtype, argument.shape)
        if argument is None or type(argument) in (int, float, bool, str):
            return ("value", argument)
        if type(argument) in (list, tuple):
            return (type(argument).__name__, *(key(part) for part in argument))
        if type(argument) is dict:
            return ("dict", frozenset((name, key(part)) for name, part in argument.items()))
        raise TypeError(f"{argument!r} is no argument that this function counts")

    return len({tuple(key(argument) for argument in call) for call in calls})
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "traces-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
of_tensorflow = [
    "tensorflow.function",
    "tensorflow.python.eager.polymorphic_function.polymorphic_function.Function.__call__",
    "tensorflow.core.function.trace_type.trace_type_builder.from_value",
]
for calls, wanted, why in [
    ([], 0, "without a call there is no trace"),
    ([(1,), (1.0,), (True,)], 1, "1, 1.0 and True are equal"),
    ([(1,), (2,)], 2, "1 and 2 differ"),
    (
        [(Tensor("float32", (2,)),), (Tensor("float32", (3,)),), (Tensor("float32", (2,)),)],
        2,
        "the shapes are (2,), (3,), (2,)",
    ),
    ([(Tensor("float32", ()),), (Tensor("int32", ()),)], 2, "the dtypes differ"),
    ([([1],), ((1,),), ({"a": 1},)], 3, "a list, a tuple and a dict are three kinds"),
    ([({"a": 1, "b": "x"},), ({"b": "x", "a": 1},)], 1, "the order of a dict's keys plays no role"),
]:
    with withheld(*of_tensorflow):
        counted = count_traces(calls)
    assert type(counted) is int, f"count_traces returns an int, not {type(counted).__name__}, for {calls}"
    assert counted == wanted, f"{calls}: {why}, so the number of traces is {wanted}; got {counted}"
try:
    counted = count_traces([({1, 2},)])
except TypeError:
    pass
else:
    raise AssertionError(f"a set is no argument that can be counted: a TypeError is due; got {counted!r}")
### BEGIN HIDDEN TESTS
seed = random.SystemRandom().randrange(10**9)
rng = random.Random(seed)


def any_argument(depth):
    kind = rng.random()
    if kind < 0.3 or depth == 0:
        sizes = tuple(rng.randint(1, 2) for _ in range(rng.randint(0, 2)))
        return Tensor(rng.choice(["float32", "int32"]), sizes)
    if kind < 0.65:
        return rng.choice([0, 1, 2, 0.0, 1.0, 2.0, True, False, "", "a", "1", None])
    if kind < 0.9:
        return (list if kind < 0.78 else tuple)(any_argument(depth - 1) for _ in range(rng.randint(0, 2)))
    return {name: any_argument(depth - 1) for name in rng.sample("xyz", rng.randint(0, 2))}


pair = [Tensor("float32", (2,)), Tensor("float32", (1,))]
call_lists = [
    [(), (), (None,), (0,), (False,), ("",), ([],), ((),), ({},), (-1,), (-1.0,)],
    [("1",), (1,), (1.0,), (True,), ("a",), ("a",)],
    [(pair,), (tuple(pair),), (pair[::-1],), (*pair,), (pair[0],), (list(pair),)],
    [({"x": 1, "y": [2]},), ({"y": [2.0], "x": True},), ({"x": 1},), ({"y": 1},), ({"x": 1, "y": (2,)},)],
    [
        (Tensor("float32", (1, 2)),),
        (Tensor("float32", (2, 1)),),
        (Tensor("float32", (2,)),),
        (Tensor("float64", (2,)),),
    ],
    [([1, [2, {"x": None}]],), ([True, [2.0, {"x": None}]],), ([1, (2, {"x": None})],), ([1, [2, {"x": 0}]],)],
]
for _ in range(9):
    pool = [any_argument(2) for _ in range(4)]
    call_lists.append([tuple(rng.choice(pool) for _ in range(rng.randint(0, 2))) for _ in range(8)])
for calls in call_lists:
    with withheld(*of_tensorflow):
        counted = count_traces(calls)
    wanted = traces_of(calls)
    assert type(counted) is int, f"seed {seed}: count_traces returns an int, not {type(counted).__name__}, for {calls}"
    assert counted == wanted, f"seed {seed}: the number of traces is {wanted} for {calls}; got {counted}"
for stranger in [b"a", 1j, {1}, frozenset(), object(), ["a", {"x": ({2},)}], (b"",)]:
    try:
        counted = count_traces([(1,), (stranger,)])
    except TypeError:
        pass
    else:
        raise AssertionError(f"the argument {stranger!r} is due a TypeError; got {counted!r}")
### END HIDDEN TESTS

# %% [markdown] after_passing="traces"
# Your keys tell apart exactly the calls for which TensorFlow makes another graph. TensorFlow's key is built by `from_value`
# in tensorflow/core/function/trace_type/trace_type_builder.py, and the traces are looked up by it in `FunctionCache`
# (tensorflow/core/function/polymorphism/function_cache.py). Our solution turns each call into nested tuples because these
# are compared by `==`, part by part, as TensorFlow's trace types are.

# %% [markdown]
# A loop that calls a function with a Python counter makes a trace for every turn; pass `tf.constant(turn)` instead. An
# `input_signature` with unknown sizes, as in section 1, keeps one trace for all batches, and `reduce_retracing=True` lets
# TensorFlow find such a signature itself. Under `jit_compile=True` each new shape is still compiled: XLA specialises
# after TensorFlow has stopped to.
#
# ## 3. What XLA cannot compile
#
# Without XLA, TensorFlow runs each op by a **kernel** of its own: here the word means an implementation that was registered
# for an op, a device and some element types. For each op, XLA needs a rule that says which HLO instructions the op becomes.
# It is registered as a kernel too, for a device that exists only for this: `XLA_CPU_JIT` is the one behind
# `jit_compile=True` on a CPU. Ops that compute with strings have no rule, others have one for some element types only. A function with
# such an op is refused as a whole:

# %%
def rounded(x):
    whole = tf.cumsum(tf.cast(x, tf.int16))
    return tf.strings.to_number(tf.strings.as_string(x, precision=2)) + tf.cast(whole, tf.float32)


x = tf.constant([0.123, 4.567])
print("without XLA:", tf.function(rounded, autograph=False)(x).numpy())
try:
    tf.function(rounded, autograph=False, jit_compile=True)(x)
except tf.errors.InvalidArgumentError as error:
    print("with XLA:", *str(error).splitlines()[:2])


# %% [markdown]
# The error names the device, the op and, in `{{node …}}`, the node. `Cumsum` has a rule, so the error goes on to say which
# attributes the node asked for: the rule is not for `T=DT_INT16`. Then it stops, at the first such node. This function has
# two more, on strings.
#
# ### Exercise 3 · What XLA cannot compile (3 points)
#
# Complete `unsupported(graph)`. `graph` is the `GraphDef` of a traced function. It returns a `list` with the names of all
# nodes for which XLA has no rule, in the order of the graph. It has one for a node if at least one kernel of the node's op
# **fits**: the kernel's device is `"XLA_CPU_JIT"`, and for each attribute that the kernel constrains, the node's type is
# among those allowed. Nodes of op `Placeholder` stand for the arguments and need no rule. For an op without any kernel
# there is none.
#
# `kernels(op)`, given, lists the kernels of an op as `Kernel(device, types)`. `types` maps the name of each constrained
# attribute to the allowed types, as the numbers that `node.attr[name].type` holds too. In the graphs of this exercise
# such an attribute always holds one type, and no node calls another function.
#
# ```
# >>> unsupported(graph_of(rounded, tf.TensorSpec([2])))
# ['Cumsum', 'AsString', 'StringToNumber']
# ```
#
# <details><summary>Hint 1</summary>
#
# There are two questions: is there **any** kernel for the device, of which **all** constraints hold? A kernel without
# constraints fits every node of its op.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# ```
# def fits(node, kernel): device is right, and for every name, allowed in kernel.types.items(): …
# return [node.name for node in graph.node if it is no Placeholder and no kernel of its op fits]
# ```
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-kernels", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
class Kernel(NamedTuple):
    """One registered kernel: its device, and the types allowed for each attribute that it constrains."""

    device: str
    types: dict[str, frozenset[int]]


def kernels(op: str) -> list[Kernel]:
    """The kernels that TensorFlow has registered for an op."""
    return [
        Kernel(kernel.device_type, {c.name: frozenset(c.allowed_values.list.type) for c in kernel.constraint})
        for kernel in get_registered_kernels_for_op(op).kernel
    ]


def graph_of(function: Callable, *specs: tf.TensorSpec) -> GraphDef:
    """The graph of a Python function, traced for arguments of these shapes and types."""
    return tf.function(function, autograph=False).get_concrete_function(*specs).graph.as_graph_def()


def one_more(x):
    return x + 1


def as_text(x):
    return tf.strings.length(tf.strings.as_string(tf.nn.relu(x)))


# XLA registers its rules when it compiles for the first time; before, there is no kernel for XLA_CPU_JIT.
tf.function(one_more, autograph=False, jit_compile=True)(tf.constant(0))


# %% nbgrader={"grade": false, "grade_id": "unsupported", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def unsupported(graph: GraphDef) -> list[str]:
    """Names of the nodes for which XLA has no rule for a CPU, in the order of the graph."""
    ### BEGIN SOLUTION

    def fits(node, kernel):
        return kernel.device == "XLA_CPU_JIT" and all(
            node.attr[name].type in allowed for name, allowed in kernel.types.items()
        )

    return [
        node.name
        for node in graph.node
        if node.op != "Placeholder" and not any(fits(node, kernel) for kernel in kernels(node.op))
    ]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "unsupported-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
found = unsupported(graph_of(as_text, tf.TensorSpec([3])))
assert type(found) is list, f"unsupported returns a list, not {type(found).__name__}"
assert found == ["AsString", "StringLength"], f"AsString and StringLength have no kernel for XLA_CPU_JIT; got {found}"
found = unsupported(graph_of(one_more, tf.TensorSpec([3])))
assert found == [], f"x + 1 can be compiled as it is; got {found}"
### BEGIN HIDDEN TESTS
seed = random.SystemRandom().randrange(10**9)
rng = random.Random(seed)


def sine(v):
    return tf.sin(v)


def through_text(v):
    return tf.strings.to_number(tf.strings.as_string(v))


def short_sum(v):
    return tf.cast(tf.cumsum(tf.cast(v, tf.int16)), tf.float32)


def long_sum(v):
    return tf.cast(tf.cumsum(tf.cast(v, tf.int32)), tf.float32)


def gathered_text(v):
    return tf.cast(tf.strings.length(tf.gather(tf.strings.as_string(v), [0, 0, 0])), tf.float32)


def missing(v):
    return v + tf.reduce_sum(tf.raw_ops.ListDiff(x=v, y=v).out)


def bessel(v):
    return tf.math.bessel_i0(v)


def half_soft(v):
    return tf.nn.softmax(v) + tf.nn.relu(v)


def chained(plan, order):
    """Takes the steps of a plan on values chosen at random, and adds all up."""

    def function(x):
        choose, values = random.Random(order), [x]
        for one in plan:
            values.append(one(choose.choice(values)))
        return tf.add_n(values)

    return function


good, bad = [sine, long_sum, half_soft], [through_text, short_sum, gathered_text, missing, bessel]
plans = [good, *([one] for one in bad)] + [rng.choices(good + bad, k=5) for _ in range(8)]
for number, plan in enumerate(plans):
    function = chained(plan, rng.randrange(10**9))
    graph = graph_of(function, tf.TensorSpec([3]))
    got = unsupported(graph)
    wanted = []
    for node in graph.node:
        fitting = [
            kernel
            for kernel in get_registered_kernels_for_op(node.op).kernel
            if kernel.device_type == "XLA_CPU_JIT"
            and not [c for c in kernel.constraint if node.attr[c.name].type not in c.allowed_values.list.type]
        ]
        if not fitting and node.op != "Placeholder":
            wanted.append(node.name)
    ops = [node.op for node in graph.node]
    assert type(got) is list, f"seed {seed}: unsupported returns a list, not {type(got).__name__}"
    assert got == wanted, (
        f"seed {seed}: in a graph with the ops {ops} the nodes {wanted} have no fitting kernel; got {got}"
    )
    if number > len(bad):
        continue
    # XLA itself must agree: it refuses exactly the functions with such a node, and names one of them.
    try:
        tf.function(function, autograph=False, jit_compile=True)(tf.constant([0.5, 1.0, 2.0]))
        named = None
    except tf.errors.InvalidArgumentError as refusal:
        named = re.search(r"\{\{node ([^}]+)\}\}", str(refusal))[1]
    assert named in got if got else named is None, (
        f"seed {seed}: XLA names the node {named}; got {got} for the ops {ops}"
    )
### END HIDDEN TESTS

# %% [markdown] after_passing="unsupported"
# Of the functions of the tests, your list is empty exactly for those that XLA compiles. There is a second reason for a
# refusal: a size that depends on values known only at run time. XLA's own check is `RecursiveCompilabilityChecker` in
# tensorflow/compiler/jit/compilability_check_util.cc, which asks the registry of `XlaOpRegistry`
# (tensorflow/compiler/tf2xla/xla_op_registry.cc) and reports the first node. Our solution nests `any` over `all`: one kernel
# suffices, but it must fit in every attribute. (Only `DataFormatVecPermute` has two rules for a CPU, with the same types.)

# %% [markdown]
# ## 4. Read HLO
#
# A line of HLO, as `experimental_get_compiler_ir` prints it, has this form:
#
# `  ROOT %name = type opcode(operands), attribute=value, attribute=value`
#
# `ROOT` marks the instruction whose value the computation returns. Stage `hlo` writes the type before each operand, stage
# `optimized_hlo` does not. `metadata` says which TensorFlow op the instruction comes from; the cell cuts the place in the
# source out of it.

# %%
for stage, text in {"hlo": lowered.hlo, "optimized_hlo": lowered.optimized_hlo}.items():
    line = next(line for line in text.splitlines() if " dot(" in line)
    print(f"--- {stage}", re.sub(r" source_file=.*?(?=})", "", line), sep="\n")


# %% [markdown]
# ### Exercise 4 · Read HLO (3 points)
#
# Complete `parse_instruction(line)`. It takes one line (`str`) and returns an `Instruction`:
#
# | field | content |
# | --- | --- |
# | `name` | without `%` |
# | `dtype`, `shape` | `f32[4,16]{1,0}` gives `"f32"` and `(4, 16)`; the layout in braces is dropped. `f32[]` has shape `()`. A type in parentheses is that of a tuple: `"tuple"` and `()` |
# | `opcode` | as written, such as `get-tuple-element` |
# | `operands` | a `tuple` of names without `%` and without types. A comment such as `/*index=5*/` before an operand is dropped |
# | `attributes` | a `dict`; each value is the text behind the first `=`, as it stands, braces, quotes and `%` included |
# | `root` | whether the line begins with `ROOT` |
#
# `parameter` and `constant` have no operands: the text in their parentheses, as it stands, is the attribute `"value"`. The
# name may come without `%`, and the line with or without space before it. A line that is no instruction (empty, a
# brace, the first line of a module or of a computation) raises a `ValueError`.
#
# ```
# >>> parse_instruction("  ROOT %add.3 = f32[4]{0} add(f32[4]{0} %x.1, f32[4]{0} %y.2), metadata={op_name=\"add\"}")
# Instruction(name='add.3', dtype='f32', shape=(4,), opcode='add', operands=('x.1', 'y.2'),
#             attributes={'metadata': '{op_name="add"}'}, root=True)
# ```
#
# `split_top(text)`, given, splits at commas outside of brackets and quotes. The tests read the HLO of random functions, made
# by `random_case` below, and compare with XLA's own record of it. The pictures of this course have a parser of
# their own, `tflabs.view.hlo_text`; it is withheld while your function is tested.
#
# <details><summary>Hint 1</summary>
#
# A regular expression reads the line up to the opening parenthesis behind the opcode: everything before it has a fixed
# form. From there on brackets are nested, so find the parenthesis that closes it by counting. `split_top` does the rest.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# ```
# match = re.match(r"\s*(ROOT )?%?(name) = (type) (opcode)\((rest)$", line)    # no match → ValueError
# # type: either \(.*?\) for a tuple, or (\w+)\[([\d,]*)\] and perhaps {…}
# # walk over the rest with a depth that starts at 1; where it reaches 0, the operands end and the attributes begin
# # an operand's name is the last word of its text
# ```
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-instruction", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
class Instruction(NamedTuple):
    """One HLO instruction."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    opcode: str
    operands: tuple[str, ...]
    attributes: dict[str, str]
    root: bool


def split_top(text: str) -> list[str]:
    """Split at commas that stand outside of brackets and quotes. No parts if there is nothing but space."""
    parts, depth, quoted = [""], 0, False
    for character in text:
        quoted ^= character == '"'
        if not quoted:
            depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0 and not quoted:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts] if text.strip() else []


class Case(NamedTuple):
    """A random function: what it computes, the shapes of its three float32 arguments."""

    function: Callable
    shapes: tuple[list[int], list[int], list[int]]

    def stages(self) -> Callable:
        """`stages(stage="hlo")` is a form in which XLA has the function."""
        compiled = tf.function(self.function, autograph=False, jit_compile=True)
        return compiled.experimental_get_compiler_ir(*(tf.TensorSpec(shape) for shape in self.shapes))


KINDS = (
    "relu", "tanh", "multiply", "subtract", "where", "softmax", "transpose", "divide", "mean", "reshape", "cast",
    "gram", "columns", "minimum", "table", "exp",
)  # fmt: skip


def step(kind: str, v: tf.Tensor, u: tf.Tensor) -> tf.Tensor:
    """One step of a random function; `v` and `u` are matrices of the same shape."""
    steps = {
        "relu": lambda: tf.nn.relu(v),
        "tanh": lambda: tf.tanh(v),
        "multiply": lambda: v * tf.tanh(u),
        "subtract": lambda: v - u,
        "where": lambda: tf.where(v > u, v, -u),
        "softmax": lambda: tf.nn.softmax(v),
        "transpose": lambda: tf.transpose(v),
        "divide": lambda: v / (1.0 + tf.abs(u)),
        "mean": lambda: v - tf.reduce_mean(v, axis=-1, keepdims=True),
        "reshape": lambda: tf.reshape(v, [v.shape[1], v.shape[0]]),
        "cast": lambda: tf.cast(tf.cast(v > 0.5, tf.int32) * 2, tf.float32),
        "gram": lambda: tf.tanh(tf.matmul(v, u, transpose_b=True)),
        "columns": lambda: v - tf.reduce_max(u, axis=0),
        "minimum": lambda: tf.minimum(v, u - 0.25),
        "table": lambda: v + tf.constant(np.linspace(-1, 1, v.shape[1]), tf.float32),
        "exp": lambda: tf.exp(tf.tanh(v)),
    }
    return steps[kind]()


def random_case(seed: int, kinds: list[str], sizes: tuple[int, int, int]) -> Case:
    """A function of x, w and b that takes steps of these kinds one after the other, some with an earlier value.

    Args:
        sizes: x is a float32 matrix of sizes[0] × sizes[1], w of sizes[1] × sizes[2], b a vector of sizes[2].
    """

    def function(x, w, b):
        dice = random.Random(seed)
        values = [x, tf.matmul(x, w) + b]
        for kind in kinds:
            v = values[-1]
            values.append(step(kind, v, dice.choice([u for u in values if u.shape == v.shape])))
        return tf.reduce_sum(values[-1], axis=dice.choice([0, 1])) if dice.random() < 0.5 else values[-1]

    rows, inner, columns = sizes
    return Case(function, ([rows, inner], [inner, columns], [columns]))


# %% nbgrader={"grade": false, "grade_id": "parse-hlo", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def parse_instruction(line: str) -> Instruction:
    """Read one line of HLO text.

    Raises:
        ValueError: the line is no instruction.
    """
    ### BEGIN SOLUTION
    match = re.match(
        r"\s*(?P<root>ROOT )?%?(?P<name>[\w.\-]+) = "
        r"(?:(?P<tuple>\(.*?\))|(?P<dtype>\w+)\[(?P<sizes>[\d,]*)\](?:\{[^}]*\})?) "
        r"(?P<opcode>[a-z][\w\-]*)\((?P<rest>.*)$",
        line,
    )
    if match is None:
        raise ValueError(f"this is no HLO instruction: {line!r}")
    rest, depth, end = match["rest"], 1, 0
    while depth:
        if end == len(rest):
            raise ValueError(f"a parenthesis is not closed: {line!r}")
        depth += (rest[end] in "([{") - (rest[end] in ")]}")
        end += 1
    inside, behind = rest[: end - 1], rest[end:]
    attributes = dict(part.split("=", 1) for part in split_top(behind.lstrip(", ")))
    operands = ()
    if match["opcode"] in ("parameter", "constant"):
        attributes["value"] = inside
    else:
        operands = tuple(part.split()[-1].split("*/")[-1].lstrip("%") for part in split_top(inside))
    dtype = "tuple" if match["tuple"] else match["dtype"]
    shape = tuple(int(size) for size in (match["sizes"] or "").split(",") if size)
    return Instruction(match["name"], dtype, shape, match["opcode"], operands, attributes, match["root"] is not None)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "parse-hlo-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
metadata = '{op_type="MatMul" op_name="MatMul"}'
parts = ("parse_hlo", "_instruction", "_take_shape", "_until_closed", "_split", "_operand", "_attribute")
of_pictures = [f"tflabs.view.hlo_text.{part}" for part in parts]
for line, wanted in [
    (
        "  %MatMul.2 = f32[4,16]{1,0} dot(f32[4,8]{1,0} %x.3, f32[8,16]{1,0} %w.4), "
        f"lhs_contracting_dims={{1}}, metadata={metadata}",
        (
            "MatMul.2",
            "f32",
            (4, 16),
            "dot",
            ("x.3", "w.4"),
            {"lhs_contracting_dims": "{1}", "metadata": metadata},
            False,
        ),
    ),
    (
        "  ROOT %Relu.0 = f32[4]{0} maximum(%add.0, %Relu.1)",
        ("Relu.0", "f32", (4,), "maximum", ("add.0", "Relu.1"), {}, True),
    ),
    ("  %c.1 = f32[] constant(-inf)", ("c.1", "f32", (), "constant", (), {"value": "-inf"}, False)),
]:
    with withheld(*of_pictures):
        parsed = parse_instruction(line)
    assert type(parsed) is Instruction, f"parse_instruction returns an Instruction, not {type(parsed).__name__}"
    for field, got, due in zip(Instruction._fields, parsed, wanted, strict=True):
        assert type(got) is type(due), f"{field} of {line!r} is a {type(due).__name__}, not a {type(got).__name__}"
        assert got == due, f"{field} of {line!r} is {due!r}; got {got!r}"
try:
    parsed = parse_instruction("ENTRY %main.3 (x.1: f32[4]) -> f32[4] {")
except ValueError:
    pass
else:
    raise AssertionError(f"the first line of a computation is no instruction: a ValueError is due; got {parsed!r}")
### BEGIN HIDDEN TESTS
seed = random.SystemRandom().randrange(10**9)
rng = random.Random(seed)


def attributes_in(line, opcode):
    """What follows the opcode's parentheses, and for parameter and constant what they hold."""
    start = line.index(f" {opcode}(") + len(opcode) + 2
    depth, end = 1, start
    while depth:
        depth += {"(": 1, ")": -1}.get(line[end], 0)
        end += 1
    found = {key: value for key, _, value in (part.partition("=") for part in split_top(line[end:].lstrip(", ")))}
    return found | ({"value": line[start : end - 1]} if opcode in ("parameter", "constant") else {})


def with_types(module):
    """Instructions as the compiler itself has them, by name: all fields but the attributes."""
    names = {i.id: i.name for c in module.computations for i in c.instructions}
    return {
        (c.name, i.name): (
            i.name,
            PrimitiveType.Name(i.shape.element_type).lower(),
            tuple(i.shape.dimensions),
            i.opcode,
            tuple(names[operand] for operand in i.operand_ids),
            i.id == c.root_id,
        )
        for c in module.computations
        for i in c.instructions
    }


def two_outputs(x, w, b):
    return tf.matmul(x, w) + tf.constant([[1.0, -2.5], [3.0, float("-inf")]]), tf.reduce_max(x, axis=1) > -7.0


kinds = ["table", "softmax", *rng.sample(KINDS, 3)]
rng.shuffle(kinds)
cases = [random_case(seed, kinds, (4, 6, 5)), Case(two_outputs, ([2, 3], [3, 2], [1]))]
for case in cases:
    stages = case.stages()
    for stage in ["hlo", "optimized_hlo"]:
        truth = with_types(HloModuleProto.FromString(stages(stage=f"{stage}_serialized")))
        computation, count = "", 0
        for line in stages(stage=stage).splitlines():
            if line.endswith("{"):
                computation = line.removeprefix("ENTRY ").lstrip("%").split(" ")[0]
            if not line.startswith("  "):
                try:
                    parsed = parse_instruction(line)
                except ValueError:
                    continue
                raise AssertionError(f"seed {seed}: {line!r} is no instruction: a ValueError is due; got {parsed!r}")
            name = line.strip().removeprefix("ROOT ").lstrip("%").split(" ")[0]
            fields = truth[computation, name]
            wanted = Instruction(*fields[:5], attributes_in(line, fields[3]), fields[5])
            with withheld(*of_pictures):
                parsed = parse_instruction(line)
            assert type(parsed) is Instruction, (
                f"seed {seed}: {line!r} gives no Instruction but {type(parsed).__name__}"
            )
            for field, got, due in zip(Instruction._fields, parsed, wanted, strict=True):
                where = f"seed {seed}: {field} of {line!r} is"
                assert type(got) is type(due), f"{where} a {type(due).__name__}, not a {type(got).__name__}"
                assert got == due, f"{where} {due!r}; got {got!r}"
            count += 1
        assert count == len(truth), f"seed {seed}: the test has read {count} of {len(truth)} instructions"
fusion = "fusion(%a, %b, %c.1, %d, %e, /*index=5*/%f), kind=kLoop, calls=%fused.2"
table = "{ { 1, 2 }, { 3, -4.5 } }"
for line, wanted in [
    (
        f"ROOT call.1 = (f32[2]{{0}}, s32[]) {fusion}",
        (
            "call.1",
            "tuple",
            (),
            "fusion",
            ("a", "b", "c.1", "d", "e", "f"),
            {"kind": "kLoop", "calls": "%fused.2"},
            True,
        ),
    ),
    (f"  %t = f32[2,2]{{1,0}} constant({table})", ("t", "f32", (2, 2), "constant", (), {"value": table}, False)),
]:
    with withheld(*of_pictures):
        parsed = parse_instruction(line)
    assert parsed == Instruction(*wanted), f"{line!r} is {Instruction(*wanted)!r}; got {parsed!r}"
### END HIDDEN TESTS

# %% [markdown] after_passing="parse-hlo"
# Your parser agrees with the compiler's own record of each instruction, the `HloModuleProto`, name by name and operand by
# operand. XLA reads this text with `HloParserImpl` (xla/hlo/parser/hlo_parser.cc), a recursive-descent parser like the one of
# lab 4-1. Our solution mixes two methods because the line does: a regular expression up to the opcode, where nothing is
# nested, and counting behind it.

# %% [markdown]
# ## 5. Run HLO
#
# A language is understood when one can run it. An interpreter walks over the instructions of a computation in their order
# and keeps the value of each under its name; an operand has always been computed before. These are the opcodes it must
# know, `a`, `b` and `c` being the values of the operands:
#
# | opcode | value |
# | --- | --- |
# | `parameter` | the argument whose number is `attributes["value"]` |
# | `constant` | `array_of(attributes["value"], dtype, shape)`, given |
# | `add` `subtract` `multiply` `divide` `maximum` `minimum` | a and b have the same shape: element by element |
# | `negate` `abs` `exponential` `tanh` | element by element |
# | `compare` | booleans; the attribute `direction` is `EQ`, `NE`, `LT`, `LE`, `GT` or `GE` |
# | `select` | where a is true b, elsewhere c |
# | `broadcast` | dimension `i` of a becomes dimension `dimensions[i]` of the result; along the others a is repeated |
# | `reshape` `bitcast` `copy` | the same numbers in row-major order, in the new shape |
# | `transpose` | dimension `i` of the result is dimension `dimensions[i]` of a |
# | `convert` | the numbers of a with the element type of the instruction |
# | `dot` | products summed over dimensions `lhs_contracting_dims` of a and `rhs_contracting_dims` of b; the result has the other dimensions of a, then those of b |
# | `reduce` | a combined along `dimensions` **with the initial value b**, by addition or maximum: the opcode of the ROOT of the computation in `to_apply` says which |
# | `fusion` | what the computation in `calls` returns for the operands |
# | `tuple` | all operands together; `get-tuple-element` takes number `index` of them |

# %% [markdown]
# ### Exercise 5 · Run HLO (5 points)
#
# Complete `evaluate_hlo(text, *arrays)`. `text` is a module, of stage `hlo` or `optimized_hlo`; `arrays` are NumPy arrays, the
# arguments in the order of the parameters of ENTRY. It returns the value of the ROOT of ENTRY as an `ndarray`; of a tuple,
# its first element. Each instruction's value is an array (no scalar) with exactly the shape and element type that the
# instruction states; so is the result. Results may differ from TensorFlow's by rounding (`rtol` and `atol` 1e-4).
#
# An opcode that is not in the table raises `NotImplementedError` with the opcode in its message. More or fewer arrays than
# ENTRY has parameters raise a `ValueError`. Dots have no batch dimensions, no `bitcast` changes a layout, and divisions are
# of floats. The texts of the tests carry no metadata; attributes that the table does not name can be ignored.
#
# ```
# >>> evaluate_hlo("""HloModule double
# ...
# ... ENTRY %main (x: f32[2]) -> f32[2] {
# ...   %x = f32[2]{0} parameter(0)
# ...   ROOT %sum = f32[2]{0} add(%x, %x)
# ... }
# ... """, np.array([1, 2], np.float32))
# array([2., 4.], dtype=float32)
# ```
#
# Given are `parse_hlo(text)`, which returns all computations as `{name: [Instruction, …]}` and the name of ENTRY,
# `array_of`, `DTYPE`, from `"f32"` to `np.float32` and so on, and `BINARY`, `UNARY` and `COMPARE`, from the words of HLO to
# NumPy's functions. In what `parse_hlo` returns, `calls` and `to_apply` are names without `%`.
#
# A message about a random function names the call that makes it again, `random_case(…)`. Of such a `case`,
# `case.stages()(stage="hlo")` is the text, `case.function(x, w, b)` TensorFlow's value for arrays of `case.shapes`.
#
# <details><summary>Hint 1</summary>
#
# Write an inner function that runs one computation, given its name and its arguments; a fusion calls it again. At the end
# of each instruction one line makes sure of the element type, and an `assert` of the shape finds most mistakes at once.
#
# For `broadcast`, first give a as many dimensions as the result, of size 1 where it is repeated. For `dot` there is
# `np.tensordot`.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# ```
# def run(one computation, the values of its parameters):
#     values = {}
#     for line in computations[…]:
#         a = the values of the operands
#         if line.opcode in BINARY: value = BINARY[line.opcode](*a)
#         elif …
#         values[line.name] = value if it is a tuple else np.asarray(value, DTYPE[line.dtype])
#     return values[the name of the ROOT]
# ```
#
# `np.add.reduce(array, axis=(0, 1))` sums along several dimensions; the initial value is then added once more.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-module", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
DTYPE = {
    "pred": np.bool_, "s8": np.int8, "s16": np.int16, "s32": np.int32, "s64": np.int64, "u8": np.uint8, "u16": np.uint16,
    "u32": np.uint32, "u64": np.uint64, "f16": np.float16, "f32": np.float32, "f64": np.float64,
}  # fmt: skip
BINARY = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "maximum": np.maximum,
    "minimum": np.minimum,
}  # fmt: skip
UNARY = {"negate": np.negative, "abs": np.abs, "exponential": np.exp, "tanh": np.tanh}
COMPARE = {
    "EQ": np.equal, "NE": np.not_equal, "LT": np.less, "LE": np.less_equal, "GT": np.greater, "GE": np.greater_equal,
}  # fmt: skip


def parse_hlo(text: str) -> tuple[dict[str, list[Instruction]], str]:
    """All computations of a module by name, and the name of ENTRY. `calls` and `to_apply` are names without `%`."""

    def converted(line) -> Instruction:
        dtype, shape = "tuple", ()
        if not line.shape.startswith("("):
            dtype, _, sizes = line.shape.rstrip("]").partition("[")
            shape = tuple(int(size) for size in sizes.split(",") if size)
        attributes = line.attributes | ({"value": line.literal} if line.opcode in ("parameter", "constant") else {})
        return Instruction(line.name, dtype, shape, line.opcode, line.operands, attributes, line.root)

    module = read_hlo(text)
    found = {name: [converted(line) for line in c.instructions] for name, c in module.computations.items()}
    return found, module.entry.name


def array_of(text: str, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """The array that the parentheses of a constant hold."""
    words = re.findall(r"[^\s{},]+", text)
    if dtype == "pred":
        values = [word == "true" for word in words]
    else:
        values = [float(word) if dtype.startswith("f") else int(word) for word in words]
    return np.array(values, DTYPE[dtype]).reshape(shape)


def layer(x, w, b):
    return tf.nn.relu(tf.matmul(x, w) + b)


# %% nbgrader={"grade": false, "grade_id": "evaluate-hlo", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def evaluate_hlo(text: str, *arrays: np.ndarray) -> np.ndarray:
    """Run an HLO module.

    Raises:
        NotImplementedError: an opcode is not among those of the table; the message names it.
        ValueError: there are more or fewer arrays than ENTRY has parameters.
    """
    ### BEGIN SOLUTION
    computations, entry = parse_hlo(text)
    wanted = sum(instruction.opcode == "parameter" for instruction in computations[entry])
    if len(arrays) != wanted:
        raise ValueError(f"the module has {wanted} parameters, {len(arrays)} arrays were given")

    def numbers(instruction, name):
        return tuple(int(number) for number in re.findall(r"\d+", instruction.attributes.get(name, "")))

    def value_of(instruction, a, arguments):
        opcode, attributes = instruction.opcode, instruction.attributes
        dimensions = numbers(instruction, "dimensions")
        if opcode in BINARY:
            return BINARY[opcode](*a)
        if opcode in UNARY:
            return UNARY[opcode](*a)
        match opcode:
            case "parameter":
                return arguments[int(attributes["value"])]
            case "constant":
                return array_of(attributes["value"], instruction.dtype, instruction.shape)
            case "compare":
                return COMPARE[attributes["direction"]](*a)
            case "select":
                return np.where(*a)
            case "broadcast":
                sizes = [1] * len(instruction.shape)
                for dimension, size in zip(dimensions, a[0].shape, strict=True):
                    sizes[dimension] = size
                return np.broadcast_to(a[0].reshape(sizes), instruction.shape)
            case "reshape" | "bitcast" | "copy":
                return a[0].reshape(instruction.shape)
            case "transpose":
                return a[0].transpose(dimensions)
            case "convert":
                return a[0].astype(DTYPE[instruction.dtype])
            case "dot":
                sides = [numbers(instruction, f"{side}_contracting_dims") for side in ("lhs", "rhs")]
                return np.tensordot(*a, axes=sides)
            case "reduce":
                root = next(inner for inner in computations[attributes["to_apply"]] if inner.root)
                combine = BINARY[root.opcode]
                return combine(combine.reduce(a[0], axis=dimensions), a[1])
            case "fusion":
                return run(attributes["calls"], a)
            case "tuple":
                return tuple(a)
            case "get-tuple-element":
                return a[0][int(attributes["index"])]
        raise NotImplementedError(f"there is no rule for the opcode {opcode}")

    def run(name, arguments):
        values, result = {}, None
        for instruction in computations[name]:
            value = value_of(instruction, [values[operand] for operand in instruction.operands], arguments)
            if instruction.dtype != "tuple":
                value = np.asarray(value, DTYPE[instruction.dtype])
                assert value.shape == instruction.shape, f"{instruction} has a value of shape {value.shape}"
            values[instruction.name] = value
            if instruction.root:
                result = value
        return result

    result = run(entry, arrays)
    return result[0] if type(result) is tuple else result
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "evaluate-hlo-test", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
x, w, b = (np.random.default_rng(1).normal(size=size).astype(np.float32) for size in [(4, 6), (6, 5), (5,)])
stages = Case(layer, ([4, 6], [6, 5], [5])).stages()
for stage in ("hlo", "optimized_hlo"):
    result = evaluate_hlo(re.sub(r", metadata=\{[^}]*\}", "", stages(stage=stage)), x.copy(), w.copy(), b.copy())
    message = f"relu(x @ w + b), stage {stage}: your value (first) is not TensorFlow's (second)"
    assert type(result) is np.ndarray, f"evaluate_hlo returns an ndarray, not {type(result).__name__} (stage {stage})"
    np.testing.assert_allclose(result, layer(x, w, b).numpy(), rtol=1e-4, atol=1e-4, strict=True, err_msg=message)
outcome = "no exception"
try:
    evaluate_hlo(re.sub(r", metadata=\{[^}]*\}", "", stages(stage="hlo")), x.copy())
except Exception as error:
    outcome = type(error).__name__
assert outcome == "ValueError", f"one array for three parameters: a ValueError is due; got {outcome}"
### BEGIN HIDDEN TESTS
rng = random.SystemRandom()


def stripped(text):
    return re.sub(r", metadata=\{[^}]*\}", "", text)


def must_equal(text, arguments, wanted, what):
    """`what` names the call, or shows the module: it follows the numbers, because long messages are cut at the end."""
    try:
        result = evaluate_hlo(text, *(argument.copy() for argument in arguments))
    except Exception as error:
        raise AssertionError(f"{type(error).__name__}: {str(error)[:300]}\nin {what}") from error
    assert type(result) is np.ndarray, f"the value is no ndarray but {type(result).__name__}\nin {what}"
    try:
        np.testing.assert_allclose(result, wanted, rtol=1e-4, atol=1e-4, strict=True)
    except AssertionError as error:
        numbers = "your value (ACTUAL) is not the one that is due (DESIRED)" + str(error)[:620]
        raise AssertionError(f"{numbers}\nin {what}") from None


def several(x, w, b):
    return tf.abs(x) - 1.0, tf.matmul(w, x, transpose_a=True, transpose_b=True)


def drawn(case):
    """Arguments, and what TensorFlow makes of them; not such that rounding decides a comparison."""
    data = np.random.default_rng(rng.randrange(10**9))
    while True:
        arguments = [data.normal(size=shape).astype(np.float32) for shape in case.shapes]
        wanted = case.function(*(tf.constant(argument) for argument in arguments)).numpy()
        nudged = case.function(*(tf.constant(argument * np.float32(1 + 1e-5)) for argument in arguments)).numpy()
        if np.max(np.abs(wanted - nudged)) < 2e-3:
            return arguments, wanted


def written(lines):
    """A module of one computation, ENTRY, from its lines."""
    parameters = re.findall(r"%(\w+) = (\w+\[[\d,]*\])\S* parameter\((\d+)\)", lines)
    takes = ", ".join(f"{name}: {kind}" for name, kind, _ in sorted(parameters, key=lambda found: int(found[2])))
    gives = re.search(r"ROOT %\w+ = (\w+\[[\d,]*\])", lines)[1]
    body = "\n".join("  " + line.strip() for line in lines.strip().splitlines())
    return f"\nENTRY %main ({takes}) -> {gives} {{\n{body}\n}}\n"


def must_run(lines, wanted, *arguments, before=""):
    """A module whose lines a person wrote. `before`: its other computations."""
    text = "HloModule written\n" + before + written(lines)
    must_equal(text, arguments, np.asarray(wanted), f"this module:\n{text}")


COMBINE = """
%combine (l: KIND, r: KIND) -> KIND {
  %l = KIND parameter(0)
  %r = KIND parameter(1)
  ROOT %both = KIND HOW(%l, %r)
}
"""
FUSED = """
%inner (b: f32[2,3], a: f32[2,3]) -> f32[2,3] {
  %a = f32[2,3]{1,0} parameter(1)
  %b = f32[2,3]{1,0} parameter(0)
  ROOT %c = f32[2,3]{1,0} subtract(%b, %a)
}

%outer (a: f32[2,3], b: f32[3,2]) -> f32[3,2] {
  %b = f32[3,2]{1,0} parameter(1)
  %c = f32[2,3]{1,0} bitcast(%b)
  %a = f32[2,3]{1,0} parameter(0)
  %d = f32[2,3]{1,0} fusion(%a, %c), kind=kLoop, calls=%inner
  ROOT %e = f32[3,2]{1,0} bitcast(%d)
}
"""
data = np.random.default_rng(0)
flat, thin, cube = (data.normal(size=size).astype(np.float32) for size in [(2, 3), (3, 2), (2, 3, 4)])
square, other = (data.normal(size=(3, 3)).astype(np.float32) for _ in range(2))
vector, plane = (data.normal(size=size).astype(np.float32) for size in [(3,), (3, 4)])
x, y = np.array([-3, 2, 1, 7], np.float32), np.array([2, 2, 5, -3], np.float32)
FLAT, CUBE = "%x = f32[2,3]{1,0} parameter(0)", "%x = f32[2,3,4]{2,1,0} parameter(0)"
SQUARE, OTHER = "%x = f32[3,3]{1,0} parameter(0)", "%y = f32[3,3]{1,0} parameter(1)"
for opcode in ("reshape", "bitcast"):
    must_run(f"{FLAT}\n ROOT %r = f32[3,2]{{1,0}} {opcode}(%x)", tf.reshape(flat, [3, 2]), flat)
must_run(f"{CUBE}\n ROOT %r = f32[4,6]{{1,0}} reshape(%x)", tf.reshape(cube, [4, 6]), cube)
must_run(f"{FLAT}\n ROOT %r = f32[2,3]{{1,0}} copy(%x)", flat, flat)
line = "ROOT %t = f32[4,2,3]{2,1,0} transpose(%x), dimensions={2,0,1}"
must_run(f"{CUBE}\n{line}", tf.transpose(cube, [2, 0, 1]), cube)
for dimension, due in [(0, tf.repeat(vector[:, None], 3, axis=1)), (1, tf.repeat(vector[None], 3, axis=0))]:
    line = f"ROOT %b = f32[3,3]{{1,0}} broadcast(%x), dimensions={{{dimension}}}"
    must_run(f"%x = f32[3]{{0}} parameter(0)\n{line}", due, vector)
line = "ROOT %b = f32[2,4,3]{2,1,0} broadcast(%x), dimensions={0,2}"
must_run(f"{FLAT}\n{line}", tf.repeat(flat[:, None], 4, axis=1), flat)
for left in (0, 1):
    for right in (0, 1):
        line = f"ROOT %d = f32[3,3]{{1,0}} dot(%x, %y), lhs_contracting_dims={{{left}}}, rhs_contracting_dims={{{right}}}"
        due = tf.matmul(square, other, transpose_a=left == 0, transpose_b=right == 1)
        must_run(f"{SQUARE}\n{OTHER}\n{line}", due, square, other)
line = "ROOT %d = f32[2]{0} dot(%x, %y), lhs_contracting_dims={1,2}, rhs_contracting_dims={0,1}"
must_run(f"{CUBE}\n%y = f32[3,4]{{1,0}} parameter(1)\n{line}", tf.einsum("ijk,jk->i", cube, plane), cube, plane)
for how, due in {"add": tf.reduce_sum(cube, [0, 2]) + 1.75, "maximum": tf.maximum(tf.reduce_max(cube, [0, 2]), 1.75)}.items():
    lines = f"{CUBE}\n%i = f32[] constant(1.75)\n ROOT %r = f32[3]{{0}} reduce(%x, %i), dimensions={{0,2}}, to_apply=%combine"
    must_run(lines, due, cube, before=COMBINE.replace("KIND", "f32[]").replace("HOW", how))
lines = f"{FLAT}\n%i = f32[] parameter(1)\n ROOT %r = f32[] reduce(%x, %i), dimensions={{0,1}}, to_apply=%combine"
half = np.array(0.5, np.float32)
must_run(lines, tf.reduce_sum(flat) + 0.5, flat, half, before=COMBINE.replace("KIND", "f32[]").replace("HOW", "add"))
lines = "%x = f32[] parameter(0)\n%two = f32[] constant(2)\n ROOT %m = f32[] multiply(%x, %two)"
must_run(lines, np.array(1, np.float32), half)
# Where NumPy would choose another type, and a number that the stated one does not hold shows it.
lines = """%x = s8[3]{0} parameter(0)
    %i = s8[] constant(0)
    %s = s8[] reduce(%x, %i), dimensions={0}, to_apply=%combine
    ROOT %r = s32[] convert(%s)"""
small = np.array([100, 100, 1], np.int8)
due = np.array(small.sum(dtype=np.int8), np.int32)
must_run(lines, due, small, before=COMBINE.replace("KIND", "s8[]").replace("HOW", "add"))
lines = """%x = f32[4]{0} parameter(0)
    %h = f16[4]{0} convert(%x)
    %i = s32[4]{0} convert(%x)
    %g = f32[4]{0} convert(%h)
    %j = f32[4]{0} convert(%i)
    ROOT %d = f32[4]{0} subtract(%g, %j)"""
odd = np.array([2049, -2.75, 0.5, -0.5], np.float32)
must_run(lines, tf.cast(tf.cast(odd, tf.float16), tf.float32) - tf.cast(tf.cast(odd, tf.int32), tf.float32), odd)
lines = """%y = f32[3,2]{1,0} parameter(1)
    %x = f32[2,3]{1,0} parameter(0)
    ROOT %f = f32[3,2]{1,0} fusion(%x, %y), kind=kLoop, calls=%outer
    %n = f32[3,2]{1,0} negate(%f)
"""
must_run(lines, tf.reshape(flat - tf.reshape(thin, [2, 3]), [3, 2]), flat, thin, before=FUSED)
lines = f"""{FLAT}
    %y = f32[3,2]{{1,0}} parameter(1)
    %t = (f32[2,3]{{1,0}}, f32[3,2]{{1,0}}) tuple(%x, %y)
    ROOT %g = f32[3,2]{{1,0}} get-tuple-element(%t), index=1"""
must_run(lines, thin, flat, thin)
both = "%x = f32[4]{0} parameter(0)\n%y = f32[4]{0} parameter(1)\n"
for direction, compare in {
    "EQ": tf.equal, "NE": tf.not_equal, "LT": tf.less, "LE": tf.less_equal, "GT": tf.greater, "GE": tf.greater_equal
}.items():  # fmt: skip
    must_run(f"{both} ROOT %c = pred[4]{{0}} compare(%x, %y), direction={direction}", compare(x, y), x, y)
    choice = f"%c = pred[4]{{0}} compare(%x, %y), direction={direction}\n ROOT %s = f32[4]{{0}} select(%c, %x, %y)"
    must_run(both + choice, tf.where(compare(x, y), x, y), x, y)
for opcode, operation in {
    "add": tf.add, "subtract": tf.subtract, "multiply": tf.multiply, "divide": tf.divide, "maximum": tf.maximum,
    "minimum": tf.minimum,
}.items():  # fmt: skip
    must_run(f"{both} ROOT %r = f32[4]{{0}} {opcode}(%x, %y)", operation(x, y), x, y)
for opcode, operation in {"negate": tf.negative, "abs": tf.abs, "exponential": tf.exp, "tanh": tf.tanh}.items():
    must_run(f"%x = f32[4]{{0}} parameter(0)\n ROOT %r = f32[4]{{0}} {opcode}(%x)", operation(x), x)
# Programs as XLA writes them: in each run every kind of step.
deck = list(KINDS)
rng.shuffle(deck)
deck += rng.sample(KINDS, 4)
for number, sizes in enumerate([(4, 6, 5), (5, 3, 3), (3, 4, 7), (4, 6, 6)]):
    kinds, seed = deck[number * 5 : number * 5 + 5], rng.randrange(10**6)
    case = random_case(seed, kinds, sizes)
    stages = case.stages()
    arguments, wanted = drawn(case)
    for stage in ["hlo", "optimized_hlo"]:
        text = stripped(stages(stage=stage))
        if "]{0,1}" not in text or "bitcast(" not in text:  # a bitcast that changes a layout is not promised
            must_equal(text, arguments, wanted, f"random_case({seed}, {kinds}, {sizes}), stage {stage}")
stages = Case(several, ([3, 2], [2, 3], [1])).stages()
for stage in ["hlo", "optimized_hlo"]:
    text = stripped(stages(stage=stage))
    must_equal(text, [thin, flat, half.reshape(1)], (tf.abs(thin) - 1.0).numpy(), f"a tuple: its first element, stage {stage}")
for opcode in ("sine", "log-plus-one", "sort"):
    text = "HloModule m\n" + written(f"%x = f32[4]{{0}} parameter(0)\n ROOT %s = f32[4]{{0}} {opcode}(%x)")
    outcome = "no exception"
    try:
        evaluate_hlo(text, x.copy())
    except Exception as error:
        outcome = f"{type(error).__name__}: {error}"
    assert outcome.startswith("NotImplementedError") and opcode in outcome, (
        f"there is no rule for {opcode!r}: a NotImplementedError that names it is due; got {outcome}"
    )
text = "HloModule m\n" + written(f"{both} ROOT %s = f32[4]{{0}} add(%x, %y)")
for count in (0, 1, 3):
    outcome = "no exception"
    try:
        evaluate_hlo(text, *[x.copy()] * count)
    except Exception as error:
        outcome = type(error).__name__
    assert outcome == "ValueError", f"the number of arrays is {count}, of parameters 2: a ValueError is due; got {outcome}"
### END HIDDEN TESTS

# %% [markdown] after_passing="evaluate-hlo"
# You have run programs that XLA wrote, before and after its passes, and got TensorFlow's numbers: the passes may change
# everything but these. XLA has such an interpreter too, `HloEvaluator` (xla/hlo/evaluator/hlo_evaluator.cc); its constant
# folding pass runs on it. Our solution states the element type once for all instructions, because NumPy chooses its own
# (a float64 from a Python number) where HLO has written it down.

# %% [markdown]
# ## 6. Which op did this come from?
#
# A profiler, which measures where the time goes, reports kernels; a programmer thinks in ops. The metadata of the
# instructions lead back. But a fusion has only the metadata of its ROOT: of all that was fused, one op. Look at the ENTRY
# computation of `classify`:

# %%
entry = lowered.optimized_hlo[lowered.optimized_hlo.index("ENTRY") :]
for line in entry.splitlines():
    if match := re.search(r"%(\S+) = .* (dot|fusion)\(.*op_name=\"(\w+)\"", line):
        print(f"{match[2]:8}{match[1]:30}metadata name {match[3]}")

# %% [markdown]
# The fusion that adds the bias says `Relu`; `add` is named nowhere.
#
# ### Exercise 6 · Which op did this come from? (2 points)
#
# Complete `origin(text)`. `text` is a module, of either stage. It returns a `dict`: for each name of a TensorFlow op that
# occurs in the module, the sorted `list` of the names of those ENTRY instructions that hold at least one instruction from
# it. An ENTRY instruction holds itself, the instructions of the computations that it calls (attributes `calls` and
# `to_apply`), of those that these call, and so on. `XLA_Args`, `XLA_Retvals` and `""` are not names of ops and are left out.
# Every computation in these modules is called from ENTRY, directly or not.
#
# For `classify`, `origin` of the optimised module has `"Relu": ["broadcast_maximum_fusion"]` and the same list for `"add"`.
#
# `op_name(instruction)`, given, is the name in the metadata of an instruction, `""` if there is none. `parse_hlo` is the
# one of exercise 5. The pictures, `tflabs.view.lowering`, are withheld while your function is tested.
#
# <details><summary>Hint 1</summary>
#
# First write a function that returns the set of op names in one instruction and all that it calls. It calls itself.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# ```
# def names(line): its own op_name, and the names of every line of what it "calls" or applies ("to_apply")
# # then, for each line of ENTRY and each of its names: append to the list of that name; sort the lists
# ```
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-op-name", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
SMALL = """HloModule small, is_scheduled=true

%region_0 (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0), metadata={op_name="Sum"}
  %b = f32[] parameter(1), metadata={op_name="Sum"}
  ROOT %c = f32[] add(%a, %b), metadata={op_type="Sum" op_name="Sum"}
}

%fused_computation (p.0: f32[4,5], p.1: f32[4,5]) -> f32[4] {
  %p.0 = f32[4,5]{1,0} parameter(0)
  %p.1 = f32[4,5]{1,0} parameter(1)
  %add.1 = f32[4,5]{1,0} add(%p.0, %p.1), metadata={op_type="AddV2" op_name="add"}
  %zero = f32[] constant(0), metadata={op_type="Relu" op_name="Relu"}
  %zeros = f32[4,5]{1,0} broadcast(%zero), dimensions={}, metadata={op_type="Relu" op_name="Relu"}
  %relu.1 = f32[4,5]{1,0} maximum(%add.1, %zeros), metadata={op_type="Relu" op_name="Relu"}
  ROOT %sum.1 = f32[4]{0} reduce(%relu.1, %zero), dimensions={1}, to_apply=%region_0, metadata={op_type="Sum" op_name="Sum"}
}

ENTRY %main (x: f32[4,6], w: f32[6,5], y: f32[4,5]) -> f32[4] {
  %x = f32[4,6]{1,0} parameter(0), metadata={op_name="XLA_Args"}
  %w = f32[6,5]{1,0} parameter(1), metadata={op_name="XLA_Args"}
  %y = f32[4,5]{1,0} parameter(2), metadata={op_name="XLA_Args"}
  %dot.1 = f32[4,5]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="MatMul"}
  ROOT %add_reduce_fusion = f32[4]{0} fusion(%dot.1, %y), kind=kLoop, calls=%fused_computation, metadata={op_name="Sum"}
}
"""


def network(x, w, b):
    return tf.nn.softmax(tf.nn.relu(tf.matmul(x, w) + b))


def op_name(instruction: Instruction) -> str:
    """The name of the TensorFlow op that an instruction comes from, "" if its metadata say nothing."""
    match = re.search(r'op_name="([^"]*)"', instruction.attributes.get("metadata", ""))
    return match[1] if match else ""


# %% nbgrader={"grade": false, "grade_id": "origin", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def origin(text: str) -> dict[str, list[str]]:
    """For each TensorFlow op, the ENTRY instructions that hold an instruction from it."""
    ### BEGIN SOLUTION
    computations, entry = parse_hlo(text)

    def names(instruction):
        found = {op_name(instruction)}
        for attribute in ("calls", "to_apply"):
            for inner in computations.get(instruction.attributes.get(attribute), []):
                found |= names(inner)
        return found

    holders = {}
    for instruction in computations[entry]:
        for name in names(instruction) - {"", "XLA_Args", "XLA_Retvals"}:
            holders.setdefault(name, []).append(instruction.name)
    return {name: sorted(found) for name, found in holders.items()}
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "origin-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
of_pictures = ["tflabs.view.lowering", "tflabs.view.lowering_stage"]
with withheld(*of_pictures):
    found = origin(SMALL)
wanted = {
    "MatMul": ["dot.1"],
    "Relu": ["add_reduce_fusion"],
    "Sum": ["add_reduce_fusion"],
    "add": ["add_reduce_fusion"],
}
assert type(found) is dict, f"origin returns a dict, not {type(found).__name__}"
assert sorted(found) == sorted(wanted), f"the ops of SMALL are {sorted(wanted)}; got {sorted(found)}"
for name, holders in wanted.items():
    assert found[name] == holders, f"{name} is part of the ENTRY instructions {holders} of SMALL; got {found[name]!r}"
### BEGIN HIDDEN TESTS
seed = random.SystemRandom().randrange(10**9)
rng = random.Random(seed)


def by_the_compiler(module):
    """The same map from the compiler's own record, where calls are numbers."""
    inside = {c.id: c.instructions for c in module.computations}
    found = {}
    for top in inside[module.entry_computation_id]:
        todo, seen = [top], set()
        while todo:
            one = todo.pop()
            seen.add(one.metadata.op_name)
            for called in one.called_computation_ids:
                todo.extend(inside[called])
        for name in seen - {"", "XLA_Args", "XLA_Retvals"}:
            found.setdefault(name, set()).add(top.name)
    return {name: sorted(holders) for name, holders in found.items()}


def renamed(text, module):
    """Gives the instructions of reductions' computations a name of their own, in the text and in the record."""
    combined = set(re.findall(r"to_apply=%([\w.\-]+)", text))
    changed = type(module)()
    changed.CopyFrom(module)
    for computation in changed.computations:
        for instruction in computation.instructions:
            if computation.name in combined and instruction.metadata.op_name:
                instruction.metadata.op_name = "combine"
    lines, inside = [], False
    for line in text.splitlines():
        if line.endswith("{"):
            inside = line.lstrip("%").split(" ")[0] in combined
        lines.append(re.sub(r'op_name="[^"]*"', 'op_name="combine"', line) if inside else line)
    return "\n".join(lines) + "\n", changed


cases = [Case(network, ([4, 6], [6, 5], [5]))]
for count in (2, 5, 7):
    kinds = [*rng.sample(KINDS, count), "softmax", "relu"]
    rng.shuffle(kinds)
    cases.append(random_case(rng.randrange(10**9), kinds, (4, 6, 5)))
for number, case in enumerate(cases):
    stages = case.stages()
    for stage in ("hlo", "optimized_hlo") if number == 0 else ("hlo",):
        text, record = stages(stage=stage), HloModuleProto.FromString(stages(stage=f"{stage}_serialized"))
        for changed_text, changed_record in [(text, record), renamed(text, record)]:
            with withheld(*of_pictures):
                found = origin(changed_text)
            wanted = by_the_compiler(changed_record)
            assert type(found) is dict, f"seed {seed}: origin returns a dict, not {type(found).__name__}"
            for name in sorted(wanted):
                got = found.get(name)
                assert got == wanted[name], (
                    f"seed {seed}, {stage}: {name} is in {wanted[name]}; got {got} for\n{changed_text}"
                )
            assert found == wanted, f"seed {seed}, {stage}: no op has the name {sorted(set(found) - set(wanted))}"
### END HIDDEN TESTS

# %% [markdown] after_passing="origin"
# Several ops share a kernel and one op is spread over several: your map shows both, and agrees with the compiler's own
# record. The names are written by TensorFlow while it lowers a graph, in `XlaCompilationDevice::Compute`
# (tensorflow/compiler/tf2xla/xla_compilation_device.cc), as `OpMetadata` (xla/xla_data.proto); profilers use them to give a
# kernel's time back to ops. Our solution walks down the calls because a pass that fuses keeps the metadata inside.

# %% [markdown]
# ## 7. Play
#
# Move the slider from the graph to the machine code. Choose an op and see what became of it: which op vanishes into a
# kernel with another, which falls into pieces, which has no code of its own? Of `Softmax` the shortest kernel is shown: its
# LLVM IR divides in one line. In how many lines does its machine code divide, and why?
#
# Below, call a function that is new with one argument after the other. Try to guess each time whether it is traced again.

# %%
choices = {
    "tf.constant(1)": (tf.constant(1),),
    "tf.constant(2): another value": (tf.constant(2),),
    "tf.constant(1.0): another dtype": (tf.constant(1.0),),
    "tf.constant([1]): another shape": (tf.constant([1]),),
    "1: a Python number": (1,),
    "1.0": (1.0,),
    "True": (True,),
    "2": (2,),
    "np.int32(1)": (np.int32(1),),
    "[1]: a list": ([1],),
    "(1,): a tuple": ((1,),),
}
view.lowering(lowered, function=fresh(), arguments=choices)

# %% [markdown]
# ## 8. Read on
#
# - Tracing: tensorflow/python/eager/polymorphic_function/polymorphic_function.py (`Function`), and
#   tensorflow/core/function/trace_type (what a signature is).
# - From graph to HLO ("tf2xla"): tensorflow/compiler/tf2xla/xla_compiler.cc (`XlaCompiler`), and one file for each op in
#   tensorflow/compiler/tf2xla/kernels, such as softmax_op.cc.
# - XLA's passes for a CPU in their order: xla/service/cpu/cpu_compiler.cc (`CpuCompiler`). To see what each did, add
#   `flags=["--xla_dump_hlo_pass_re=.*"]` to the call of `xla_dump` in section 1.
# - From HLO to LLVM IR: the folder xla/backends/cpu/codegen. Lab 4-4 builds passes of this kind, lab 4-6 reads the object
#   file by hand.
# - Since 1.x: there, a graph was what one had built, and XLA compiled clusters of it that it chose itself
#   (`OptimizerOptions.global_jit_level` of a session). With `tf.function`, the function is what is traced and compiled.

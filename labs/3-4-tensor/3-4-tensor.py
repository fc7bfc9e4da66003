# %% [markdown]
# # What a tensor is
#
# What are the three parts of a tensor (type, shape, buffer), what is known of them before anything runs, and where do
# its bytes come from? A kernel of lab 3-3 got its tensors and gave some back. This lab is about what it held.
#
# At the end you can say which results share bytes with their input, turn a `TensorProto` into values as the runtime
# does, infer the shapes of a whole graph with dimensions that nobody knows yet, and you have built the allocator from
# which the bytes come, equal to TensorFlow's in every decision on runs that TensorFlow recorded.
#
# 140 minutes · 20 points · Before this lab: 2-1 (what a GraphDef says) and 3-3 (what an op is).
#
# When you have saved, `./tflabs check 3-4-tensor` or Check on the start page grades your answers, also with tests that
# you do not see here.

# %% [markdown]
# ## What the last lab left
#
# In lab 3-3 an op was four things: a definition in a registry, a **shape function**, kernels for some types, a
# gradient. The shape function answered for one node: given what is known of its inputs, what is known of its outputs?
# Here you let such functions loose on a graph, one node after the other, until every edge has an answer.
#
# And a kernel called `allocate_output` and got a tensor to write into. Who gave it? Behind that call stands an
# allocator with a region of memory, which it cuts into pieces and puts together again. It is the last thing you build.
#
# Two variables are set before TensorFlow starts. On a CPU it takes memory from the C library unless told otherwise; the
# first one makes it use the kind of allocator that a GPU has. The second keeps oneDNN, which brings its own, out.

# %% nbgrader={"grade": false, "grade_id": "given-imports", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
import os

os.environ["TF_CPU_ALLOCATOR_USE_BFC"] = "1"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

from tflabs.runtime import quiet

with quiet():
    import tensorflow as tf

import math
import random
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
from tensorflow.core.framework.tensor_pb2 import TensorProto

from tflabs.runtime import answer_to, in_fresh_process, plain_config, trace_run, withheld

tf1 = tf.compat.v1
GraphDef, NodeDef, AttrValue = tf1.GraphDef, tf1.NodeDef, tf1.AttrValue
# What tests withhold: whatever runs ops, builds graphs, infers shapes or reads a TensorProto.
TF_RUNS = (
    "tensorflow.python.pywrap_tfe.TFE_Py_FastPathExecute",
    "tensorflow.python.pywrap_tfe.TFE_Py_Execute",
    "tensorflow.python.pywrap_tfe.TFE_Py_ExecuteCancelable",
    "tensorflow.python.eager.execute.quick_execute",
    "tensorflow.compat.v1.Session",
    "tensorflow.compat.v1.Session.run",
    "tensorflow.python.client.session.BaseSession._do_call",
)
TF_GRAPHS = (
    "tflabs.runtime.in_fresh_process",
    "tensorflow.Graph",
    "tensorflow.function",
    "tensorflow.import_graph_def",
    "tensorflow.python.framework.importer._import_graph_def_internal",
    "tensorflow.Graph.as_default",
    "tensorflow.Graph.create_op",
    "tensorflow.python.framework.ops.Graph._create_op_internal",
)
# A search through all modules: withheld once.
TF_IMPORT_IN_C = "tensorflow.python.client.pywrap_tf_session.TF_GraphImportGraphDefWithResults"
TF_SHAPES = (
    "tensorflow.TensorShape",
    "tensorflow.compat.v1.Dimension",
    "tensorflow.broadcast_static_shape",
    "tensorflow.python.framework.common_shapes.broadcast_shape",
    "tensorflow.python.framework.common_shapes._broadcast_shape_helper",
)
TF_PROTOS = (
    "tensorflow.make_ndarray",
    "tensorflow.constant",
    "tensorflow.convert_to_tensor",
    "tensorflow.io.parse_tensor",
    "tensorflow.raw_ops.ParseTensor",
)


# %% [markdown]
# ## 1. One buffer, many tensors
#
# A tensor of the runtime (`Tensor`, core/framework/tensor.h) has three parts: a **type**, a **shape**, and a pointer to
# a **buffer**, which counts how many tensors point to it. There is no more: no offset, no strides. So two tensors share
# bytes only if the second one's elements lie side by side in the first one's buffer, in its own order.
#
# An eager tensor hands out its bytes without a copy, which tells their address.

# %% nbgrader={"grade": false, "grade_id": "given-address", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def address(tensor: tf.Tensor) -> int:
    """The address of an eager tensor's first byte."""
    return np.array(memoryview(tensor), copy=False).ctypes.data


def distance(result: tf.Tensor, tensor: tf.Tensor) -> int | None:
    """By how many bytes the bytes of `result` begin behind those of `tensor`, or None if they lie elsewhere."""
    found = address(result) - address(tensor)
    return found if 0 <= found < tensor.shape.num_elements() * tensor.dtype.size else None


# %%
from tflabs import view

u = tf.reshape(tf.range(128), [8, 16])  # int32: a row has 64 bytes
results = {
    "u": u,
    "tf.identity(u)": tf.identity(u),
    "tf.expand_dims(u, 0)": tf.expand_dims(u, 0),
    "u[1]": u[1],
    "u[2:5]": u[2:5],
    "u[::2]": u[::2],
    "u[2:, 0:8]": u[2:, 0:8],
    "tf.unstack(u)[7]": tf.unstack(u)[7],
    "tf.broadcast_to(u[:1], [8, 16])": tf.broadcast_to(u[:1], [8, 16]),
    "-u": -u,
    "u + 0": u + 0,
}
spans = {name: (distance(r, u), r.shape.num_elements() * 4) for name, r in results.items()}
view.byte_ruler(spans, 512, title="An int32 tensor of shape (8, 16), and ten results computed from it")

# %% [markdown]
# Rows that follow each other share. Every second row, half a row and a row that is repeated do not: NumPy would make a
# view with strides of each of them, and a `Tensor` cannot say such a thing.
#
# ### Exercise 1 · Whose bytes are these? (1 point)
#
# `t` is a float32 tensor of shape (8, 16) that stays alive. Set `views` to a list of ten entries, one for each
# expression of the table in this order: the distance in bytes (`int`) from the first byte of `t` to that of the result
# if the result shares the buffer of `t`, else `None`. Decide before you run any of them. For `t[1]` the entry would be
# 64. Entries 2 and 6 ask for nothing to be done; whether they copy is up to their kernels.
#
# | | expression | | expression |
# | --- | --- | --- | --- |
# | 0 | `tf.reshape(t, [16, 8])` | 5 | `tf.bitcast(t, tf.int32)` |
# | 1 | `tf.transpose(t)` | 6 | `tf.cast(t, tf.float32)` |
# | 2 | `tf.transpose(t, [0, 1])` | 7 | `tf.split(t, 2, axis=0)[1]` |
# | 3 | `t[2:]` | 8 | `tf.split(t, 2, axis=1)[1]` |
# | 4 | `t[:, 1:]` | 9 | `tf.gather(t, [0])` |

# %% nbgrader={"grade": false, "grade_id": "predict-views", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
# views = [...]  one entry for each expression: a distance in bytes, or None
### BEGIN SOLUTION
views = [0, None, 0, 2 * 16 * 4, None, 0, 0, 4 * 16 * 4, None, None]
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "predict-views-test", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
assert type(views) is list, f"views is a list of ten entries; it is a {type(views).__name__}"
assert len(views) == 10, f"views has one entry for each of the ten expressions; it has {len(views)}"
strange = [entry for entry in views if entry is not None and type(entry) is not int]
assert not strange, f"each entry is a whole number of bytes or None; found {strange[:3]!r}"


### BEGIN HIDDEN TESTS
def really_shared():
    """The ten expressions, and where each result really is."""
    t = tf.reshape(tf.range(128, dtype=tf.float32), [8, 16])
    made = {
        "tf.reshape(t, [16, 8])": tf.reshape(t, [16, 8]),
        "tf.transpose(t)": tf.transpose(t),
        "tf.transpose(t, [0, 1])": tf.transpose(t, [0, 1]),
        "t[2:]": t[2:],
        "t[:, 1:]": t[:, 1:],
        "tf.bitcast(t, tf.int32)": tf.bitcast(t, tf.int32),
        "tf.cast(t, tf.float32)": tf.cast(t, tf.float32),
        "tf.split(t, 2, axis=0)[1]": tf.split(t, 2, axis=0)[1],
        "tf.split(t, 2, axis=1)[1]": tf.split(t, 2, axis=1)[1],
        "tf.gather(t, [0])": tf.gather(t, [0]),
    }
    return {text: distance(result, t) for text, result in made.items()}


shared_there = really_shared()
wrong_places = [text for text, mine in zip(shared_there, views, strict=True) if shared_there[text] != mine]
assert not wrong_places, (
    f"not so for {', '.join(wrong_places)}. Do the result's elements lie side by side in t's buffer, in the result's "
    "order? How many bytes has a row?"
)
### END HIDDEN TESTS

# %% [markdown] after_passing="predict-views"
# What only changes the words for the same bytes shares: `Reshape` and `Bitcast` (`Tensor::CopyFrom`,
# `Tensor::BitcastFrom` in core/framework/tensor.cc), a cast to the same type, a permutation that moves nothing. What
# takes leading rows may share (`Tensor::Slice`). `transpose(t)` has another order, so it copies, unlike NumPy's.

# %% [markdown]
# Is every slice of leading rows a view? Here is one that is not:

# %%
narrow = tf.reshape(tf.range(24, dtype=tf.float32), [8, 3])  # a row has 12 bytes
wide = tf.reshape(tf.range(128, dtype=tf.float32), [8, 16])  # a row has 64 bytes
for name, tensor in [("narrow", narrow), ("wide", wide)]:
    for start in (1, 4):
        found = distance(tensor[start:], tensor)
        print(f"{name}[{start}:]", "is a copy" if found is None else f"begins {found} bytes behind {name}")


# %% [markdown]
# Kernels load several numbers at a time, and want a tensor's first byte at a multiple of 64 (`kAllocatorAlignment`,
# xla/tsl/framework/allocator.h). A view must keep that promise. So the kernel of `t[start:stop]` asks
# `IsDim0SliceAligned` (core/framework/ops_util.h), and copies if the answer is no. The function has two cases, and it
# may be more careful than it would have to be:
#
# - A tensor of rank 1: the bytes before `start` and the bytes before `stop` must both be a multiple of 64.
# - A tensor of higher rank: the bytes of one row (all dimensions but the first) must be a multiple of 64. Neither
#   `start` nor `stop` is looked at.
#
# One question comes before: a slice that takes all rows *is* the tensor, whatever its rows are.
#
# ### Exercise 2 · Which slice is a view? (2 points)
#
# Write `view_offset(shape, itemsize, start, stop)`: for a tensor of that `shape` (a tuple of at least one `int`, each
# at least 1), whose elements have `itemsize` bytes, where `t[start:stop]` begins: the distance in bytes (`int`) from
# the first byte of `t` if the slice shares its buffer, else `None`. `start` and `stop` are `int` with
# 0 ≤ `start` < `stop` ≤ `shape[0]`; anything else: `ValueError`. TensorFlow's ops and the given `address` are withheld
# while your function runs.
#
# ```
# >>> view_offset((8, 16), 4, 2, 8)
# 128
# >>> view_offset((8, 3), 4, 0, 4) is None
# True
# ```
#
# <details><summary>Hint 1</summary>
#
# The order of the questions matters: are the bounds good, are all rows taken, and only then which rank it is. `(8, 3)`
# of float32 has rows of 12 bytes, and `t[0:8]` is still a view.
# </details>
#
# <details><summary>Hint 2</summary>
#
# `row = itemsize * math.prod(shape[1:])` serves both ranks: the product of nothing is 1. The answer is `start * row` or
# `None`.
# </details>

# %% nbgrader={"grade": false, "grade_id": "leading-slice", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def view_offset(shape: tuple[int, ...], itemsize: int, start: int, stop: int) -> int | None:
    """Where t[start:stop] begins in the buffer of t, in bytes, or None if it is a copy.

    Args:
        shape: of t; itemsize: the bytes of one element.

    Raises:
        ValueError: not 0 <= start < stop <= shape[0].
    """
    ### BEGIN SOLUTION
    if not 0 <= start < stop <= shape[0]:
        raise ValueError(f"no rows {start}:{stop} in {shape[0]}")
    row = itemsize * math.prod(shape[1:])
    if (start, stop) == (0, shape[0]):
        return 0
    aligned = start * row % 64 == stop * row % 64 == 0 if len(shape) == 1 else row % 64 == 0
    return start * row if aligned else None
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "leading-slice-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
for shape, itemsize, start, stop, due in [((8, 16), 4, 2, 8, 128), ((8, 3), 4, 0, 4, None), ((8, 3), 4, 0, 8, 0)]:
    case = f"view_offset({shape}, {itemsize}, {start}, {stop})"
    found = answer_to(case, (), view_offset, shape, itemsize, start, stop)
    assert found is None or type(found) is int, f"{case} is a whole number or None; it is a {type(found).__name__}"
    assert found == due, f"{case} is {due}, as TensorFlow's addresses say; yours is {found}"
for start, stop in [(2, 2), (3, 2), (0, 9), (-1, 4)]:
    case = f"view_offset((8, 16), 4, {start}, {stop})"
    try:
        found = answer_to(case, (ValueError,), view_offset, (8, 16), 4, start, stop)
    except ValueError:
        pass
    else:
        raise AssertionError(f"{case}: there is no such slice, a ValueError is due; found {found!r}")


### BEGIN HIDDEN TESTS
def slice_cases(rng):
    """Slices of which about half are views: the corners first, then random ones."""
    yield from [((64,), 4, 16, 32), ((64,), 4, 16, 36), ((64,), 4, 8, 32), ((64,), 1, 0, 64), ((70,), 4, 0, 70)]
    yield from [((70,), 4, 16, 70), ((9, 3), 4, 0, 9), ((9, 48), 4, 5, 6), ((64, 1), 4, 16, 32), ((5, 4, 8), 2, 1, 4)]
    yield from [((5, 4, 8), 1, 1, 4), ((5, 4, 8), 1, 2, 4), ((32, 3, 3), 8, 8, 16), ((6, 8), 8, 1, 3), ((6, 4), 8, 2, 4)]
    for _ in range(60):
        first, itemsize = rng.choice([4, 9, 64, 96]), rng.choice([1, 2, 4, 8])
        shape = (first, *(rng.choice([1, 2, 3, 4, 8, 16, 20]) for _ in range(rng.choice([0, 1, 1, 2]))))
        start = rng.randrange(first) if rng.random() < 0.5 else rng.randrange(0, first, 4)
        yield shape, itemsize, start, rng.randrange(start + 1, first + 1)


def slice_there(shape, itemsize, start, stop):
    """Where TensorFlow puts the slice."""
    whole = tf.zeros(shape, {1: tf.uint8, 2: tf.float16, 4: tf.float32, 8: tf.int64}[itemsize])
    return distance(whole[start:stop], whole)


seed = random.SystemRandom().randrange(10**6)
slices = list(slice_cases(random.Random(seed)))
with withheld(*TF_RUNS, *TF_GRAPHS, "__main__.address"):
    offsets = [answer_to(f"seed {seed}: view_offset{case}", (), view_offset, *case) for case in slices]
for (shape, itemsize, start, stop), found in zip(slices, offsets, strict=True):
    case = f"seed {seed}: view_offset({shape}, {itemsize}, {start}, {stop})"
    due = slice_there(shape, itemsize, start, stop)
    row = itemsize * math.prod(shape[1:])
    assert found is None or type(found) is int, f"{case} is a whole number or None; it is a {type(found).__name__}"
    assert found == due, f"{case}, whose rows have {row} bytes, is {due} in TensorFlow; yours is {found}"
### END HIDDEN TESTS

# %% [markdown] after_passing="leading-slice"
# The addresses agree. `StridedSliceOp` (core/kernels/strided_slice_op.cc) hands on its input for a slice of everything,
# calls `Tensor::Slice` where `IsDim0SliceAligned` allows it, and else copies. The test of a row's bytes is on the safe
# side: rows of 12 bytes make `t[16:]` a copy, although 16 of them are 192 bytes and the view would be aligned.

# %% [markdown]
# ## 2. From bytes to values
#
# A tensor that is saved, sent or written into a `Const` node is a `TensorProto` (core/framework/tensor.proto): a
# `dtype`, a `tensor_shape`, and the values in one of two places. `tensor_content` holds the bytes of the buffer as they
# are. Or the values stand in a list that is typed: `float_val`, `int_val` and so on. Such a list may be short, which
# makes a tensor full of one number cheap:

# %%
for values in (np.full([1, 3], 7, np.float32), np.full([2, 500], 7, np.float32)):
    written = tf.make_tensor_proto(values)
    short = TensorProto(dtype=1, tensor_shape=written.tensor_shape, float_val=[7])
    print(values.shape, "as bytes:", written.ByteSize(), "bytes of proto; as one value, repeated:", short.ByteSize())

# %% [markdown]
# ### Exercise 3 · From bytes to values (3 points)
#
# Write `decode(proto)`, which takes a `TensorProto` and returns the NumPy array (`np.ndarray`, for rank 0 too) that
# TensorFlow's runtime makes of it. Type and shape are what the proto says. For the values:
#
# - If `tensor_content` is not empty, it holds the bytes of all elements, the last dimension fastest. The typed list is
#   ignored. If its length is not that of all elements: `ValueError` (for a tensor of no elements TensorFlow ignores
#   these bytes; `decode` refuses them too).
# - Else the typed list (`FIELDS` says which) fills the elements in order. If it is shorter, its last value fills the
#   rest; if it is empty, all are zero; if it is longer, the rest of it is dropped.
# - `half_val` does not hold numbers but the 16 bits of each, as an `int`: 15360 is `0x3c00`, the float16 1.0.
# - A `dtype` that is not in `NUMPY`: `TypeError`, wherever the values are.
#
# ```
# >>> decode(TensorProto(dtype=1, tensor_shape=tf.TensorShape([2, 3]).as_proto(), float_val=[1, 2]))
# array([[1., 2., 2.],
#        [2., 2., 2.]], dtype=float32)
# ```
#
# All sizes in `tensor_shape.dim` are known; some may be 0. The numbers of a list fit the type. What TensorFlow has for
# this purpose (`tf.make_ndarray`, `tf.io.parse_tensor`, constants, sessions) is withheld while your function runs.
#
# <details><summary>Hint 1</summary>
#
# `math.prod` of no sizes is 1: a tensor of rank 0 has one element. Cut the list first, then ask whether there is a last
# value.
# </details>
#
# <details><summary>Hint 2</summary>
#
# `np.frombuffer(content, dtype)` for the bytes. For a list `values` that is cut to `count` elements:
# `values + values[-1:] * (count - len(values))`, or zeros. Bit patterns are an array of `np.uint16`, seen through
# `.view(np.float16)`. At the end one `reshape` for all cases.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-fields", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
FIELDS = {
    1: "float_val",
    2: "double_val",
    3: "int_val",
    4: "int_val",
    6: "int_val",
    9: "int64_val",
    10: "bool_val",
    19: "half_val",
}
NUMPY = {
    1: np.dtype(np.float32),
    2: np.dtype(np.float64),
    3: np.dtype(np.int32),
    4: np.dtype(np.uint8),
    6: np.dtype(np.int8),
    9: np.dtype(np.int64),
    10: np.dtype(np.bool_),
    19: np.dtype(np.float16),
}


# %% nbgrader={"grade": false, "grade_id": "decode-proto", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def decode(proto: TensorProto) -> np.ndarray:
    """The array that TensorFlow's runtime makes of a TensorProto.

    Raises:
        TypeError: the dtype is not in NUMPY.
        ValueError: tensor_content has not the length of all elements.
    """
    ### BEGIN SOLUTION
    if proto.dtype not in NUMPY:
        raise TypeError(f"dtype {proto.dtype} is not known here")
    dtype, shape = NUMPY[proto.dtype], [dim.size for dim in proto.tensor_shape.dim]
    count = math.prod(shape)
    if proto.tensor_content:
        if len(proto.tensor_content) != count * dtype.itemsize:
            raise ValueError(f"{len(proto.tensor_content)} bytes for {count} elements of {dtype.itemsize} bytes")
        return np.frombuffer(proto.tensor_content, dtype).reshape(shape)
    values = list(getattr(proto, FIELDS[proto.dtype]))[:count]
    values = values + values[-1:] * (count - len(values)) or [0] * count
    if dtype == np.float16:
        return np.array(values, np.uint16).view(np.float16).reshape(shape)
    return np.array(values, dtype).reshape(shape)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "decode-proto-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
short_list = TensorProto(dtype=1, tensor_shape=tf.TensorShape([2, 3]).as_proto(), float_val=[1, 2])
found = answer_to("float_val [1, 2] in the shape (2, 3)", (), decode, short_list)
assert type(found) is np.ndarray, f"decode returns an np.ndarray; it returned a {type(found).__name__}"
assert found.shape == (2, 3), f"the shape is what the proto says, (2, 3); yours is {found.shape}"
due = np.float32([[1, 2, 2], [2, 2, 2]])
np.testing.assert_array_equal(found, due, strict=True, err_msg="float_val [1, 2] in (2, 3): the last value fills the rest")


### BEGIN HIDDEN TESTS
def random_proto(rng, number):
    """A TensorProto, and what is in it: bytes, or a list that is full, short, empty or too long, or both."""
    number_of_type = sorted(NUMPY)[number % len(NUMPY)]
    kind = ["content", "full", "short", "empty", "long", "both"][number // len(NUMPY) % 6]
    shape = [rng.choice([1, 2, 3]) for _ in range(rng.randrange(4))]
    if rng.random() < 0.1 and shape:
        shape[rng.randrange(len(shape))] = 0
    count, dtype = math.prod(shape), NUMPY[number_of_type]
    made = TensorProto(dtype=number_of_type, tensor_shape=tf.TensorShape(shape).as_proto())
    if kind in ("content", "both"):
        made.tensor_content = np.array([rng.randrange(2) for _ in range(count)]).astype(dtype).tobytes()
    length = {"content": 0, "full": count, "short": max(count - 2, 1), "empty": 0, "long": count + 2, "both": count}[kind]
    draw = {19: lambda: rng.randrange(0x3C00, 0x4800), 10: lambda: rng.random() < 0.5}
    getattr(made, FIELDS[number_of_type]).extend(draw.get(number_of_type, lambda: rng.randrange(100))() for _ in range(length))
    return made, f"{dtype}, shape {tuple(shape)}, {kind}: {' '.join(str(made).split())[:200]}"


def runtime_decodes(protos):
    """What the runtime makes of them: each is the value of a Const node, all fetched at once."""
    written = GraphDef()
    for number, proto in enumerate(protos):
        node = written.node.add(name=f"c{number}", op="Const")
        node.attr["dtype"].type = proto.dtype
        node.attr["value"].tensor.CopyFrom(proto)
    with tf.Graph().as_default():
        tf.import_graph_def(written, name="")
        with tf1.Session(config=plain_config()) as session:
            return session.run([f"c{number}:0" for number in range(len(protos))])


def wrong_protos():
    """Protos that cannot be decoded, with the error that is due."""
    shape = tf.TensorShape([2]).as_proto()
    for size in (4, 7, 12):
        yield TensorProto(dtype=1, tensor_shape=shape, tensor_content=b"\1" * size), ValueError, f"{size} bytes for two float32"
    yield TensorProto(dtype=1, tensor_shape=shape, tensor_content=b"\1", float_val=[1, 2]), ValueError, "1 byte, and a full list"
    yield TensorProto(dtype=1, tensor_shape=tf.TensorShape([0]).as_proto(), tensor_content=b"\1\1\1\1"), ValueError, "4 bytes for no element"
    yield TensorProto(dtype=7, tensor_shape=shape, string_val=[b"a"]), TypeError, "dtype 7 (string)"
    yield TensorProto(dtype=14, tensor_shape=shape, half_val=[1]), TypeError, "dtype 14 (bfloat16)"
    yield TensorProto(dtype=14, tensor_shape=shape, tensor_content=b"\1" * 4), TypeError, "dtype 14 (bfloat16), 4 bytes"
    yield TensorProto(dtype=8, tensor_shape=shape, tensor_content=b"\1" * 16), TypeError, "dtype 8 (complex64), 16 bytes"


def no_elements():
    """A full list for a tensor of no elements, of each type."""
    for number, field in FIELDS.items():
        made = TensorProto(dtype=number, tensor_shape=tf.TensorShape([2, 0]).as_proto())
        getattr(made, field).extend([1, 0])
        yield made, f"{NUMPY[number]}, shape (2, 0), two numbers in {field}"


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
drawn_protos = [*no_elements(), *[random_proto(rng, number) for number in range(144)]]
with withheld(*TF_PROTOS, *TF_RUNS, *TF_GRAPHS):
    decoded = [answer_to(f"seed {seed}: {words}", (), decode, proto) for proto, words in drawn_protos]
for (_, words), found, due in zip(drawn_protos, decoded, runtime_decodes([p for p, _ in drawn_protos]), strict=True):
    assert type(found) is np.ndarray, f"seed {seed}: {words}: an np.ndarray is due, found a {type(found).__name__}"
    np.testing.assert_array_equal(found, np.asarray(due), strict=True, err_msg=f"seed {seed}: {words}")
for proto, error_due, words in wrong_protos():
    try:
        found = answer_to(words, (error_due,), decode, proto)
    except error_due:
        pass
    else:
        raise AssertionError(f"{words}: {error_due.__name__} is due, found {found!r}")
### END HIDDEN TESTS

# %% [markdown] after_passing="decode-proto"
# Your arrays are those of `Tensor::FromProto` (core/framework/tensor.cc), which takes the bytes if there are any and
# else calls `FromProtoField`. That function fills with the last value and drops what is too much; `tf.make_ndarray`,
# written in Python, refuses surplus values. Zeros of an empty list are the value of a `T()` in C++.

# %% [markdown]
# ## 3. Two shapes meet
#
# Before anything runs, a shape may be known in part. This lab writes a shape as a tuple of dimensions, in which `None`
# is a dimension that is not known, and writes `None` for a shape of which not even the rank is known. It is what
# `tensor.shape.as_list()` shows, as a tuple.

# %% nbgrader={"grade": false, "grade_id": "given-shapes", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
Shape = tuple[int | None, ...] | None


def shape_of(tensor: tf.Tensor) -> Shape:
    """What is known of a graph tensor's shape."""
    return None if tensor.shape.rank is None else tuple(tensor.shape.as_list())


# %%
with tf.Graph().as_default():
    images = tf1.placeholder(tf.float32, [None, 28, 28, 1])
    for tensor in (images, tf.reshape(images, [-1, 784]), images[:10], tf1.placeholder(tf.float32)):
        print(f"{tensor.name:20}", shape_of(tensor))


# %% [markdown]
# Shapes meet in two ways. In `a + b` they are of two tensors, and one of them may be stretched: **broadcasting**. In a
# sum of n tensors (`AddN`), or where two paths bring news of the same tensor, both speak of one shape: **merging**.
#
# ### Exercise 4 · Two shapes meet (3 points)
#
# Write two functions. Both take two shapes and return one; dimensions are at least 1 where they are known.
#
# `broadcast(a, b)` is the shape of `a + b`. Dimensions are aligned at the right; what the shorter shape lacks counts
# as 1. Of two dimensions:
#
# | | the result |
# | --- | --- |
# | one is 1 | the other, whether it is known or not |
# | one is known and greater than 1, the other unknown | the known one: if that proves wrong, the run fails |
# | both unknown | unknown |
# | both known, equal | that |
# | both known, not equal, neither is 1 | `ValueError` |
#
# An unknown rank on either side makes the result unknown, `None`.
#
# `merge(a, b)` is for two shapes of one tensor. What is known on one side is known: a known rank beats an unknown one,
# a known dimension an unknown one. Nothing is stretched. Different ranks, or different known dimensions: `ValueError`.
#
# ```
# >>> broadcast((None, 1), (4,)), merge((None, 3), (2, None))
# ((None, 4), (2, 3))
# ```
#
# TensorFlow's graphs and its functions on shapes are withheld while yours run. Exercise 6 needs both functions and
# brings its own in a locked cell: write yours before you look there.
#
# <details><summary>Hint 1</summary>
#
# Write each rule for two dimensions first. In `broadcast`, the rules for 1 come before the rule for unknown: is `1`
# against `None` known or not?
# </details>
#
# <details><summary>Hint 2</summary>
#
# ```
# def broadcast(a, b):
#     if a is None or b is None: …
#     pairs = zip_longest(…, fillvalue=1)     # from the right: of what is reversed
#     return tuple(reversed([… for x, y in pairs]))
# ```
#
# `merge` handles the two unknown ranks, then the ranks, then one `zip`.
# </details>

# %% nbgrader={"grade": false, "grade_id": "broadcast-and-merge", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def broadcast(a: Shape, b: Shape) -> Shape:
    """The shape of a + b. ValueError if it has none."""
    ### BEGIN SOLUTION
    if a is None or b is None:
        return None

    def joined(x: int | None, y: int | None) -> int | None:
        if x == 1 or x == y:
            return y
        if y == 1:
            return x
        if x is not None and y is not None:
            raise ValueError(f"{a} and {b} do not broadcast")
        return x or y

    pairs = zip_longest(reversed(a), reversed(b), fillvalue=1)
    return tuple(reversed([joined(x, y) for x, y in pairs]))
    ### END SOLUTION


def merge(a: Shape, b: Shape) -> Shape:
    """What two shapes say together of one tensor. ValueError if they contradict each other."""
    ### BEGIN SOLUTION
    if a is None or b is None:
        return a if b is None else b
    if len(a) != len(b) or any(x != y for x, y in zip(a, b, strict=True) if None not in (x, y)):
        raise ValueError(f"{a} and {b} are not of one tensor")
    return tuple(y if x is None else x for x, y in zip(a, b, strict=True))
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "broadcast-and-merge-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
for function, a, b, due in [
    (broadcast, (None, 1), (4,), (None, 4)),
    (broadcast, (3, None), (None, 2), (3, 2)),
    (merge, (None, 3), (2, None), (2, 3)),
    (merge, None, (5,), (5,)),
]:
    name = "broadcast" if due in [(None, 4), (3, 2)] else "merge"
    found = answer_to(f"{name}({a}, {b})", (), function, a, b)
    assert type(found) is tuple, f"{name}({a}, {b}) is a tuple; it is a {type(found).__name__}"
    assert found == due, f"{name}({a}, {b}) is {due}; yours is {found}"


### BEGIN HIDDEN TESTS
def random_shape(rng):
    """Rank 0 to 3, or unknown."""
    if rng.random() < 0.15:
        return None
    return tuple(rng.choice([None, 1, 2, 3, 6]) for _ in range(rng.randrange(4)))


def met_there(name, pairs):
    """For each pair the shape of TensorFlow's result, or "ValueError"."""
    operation = {"broadcast": lambda x, y: tf.raw_ops.AddV2(x=x, y=y), "merge": lambda x, y: tf.raw_ops.AddN(inputs=[x, y])}[name]
    with tf.Graph().as_default():
        inputs = {shape: tf1.placeholder(tf.float32, shape) for shape in {shape for pair in pairs for shape in pair}}
        there = []
        for a, b in pairs:
            try:
                there.append(shape_of(operation(inputs[a], inputs[b])))
            except ValueError:
                there.append("ValueError")
    return there


def met_by_learner(name, function, pairs):
    """The same by the learner's function."""
    met = []
    for a, b in pairs:
        try:
            met.append(answer_to(f"seed {seed}: {name}({a}, {b})", (ValueError,), function, a, b))
        except ValueError:
            met.append("ValueError")
    return met


def random_pairs(rng, count):
    """Half of them any two shapes; in the others the second is the first, with 1, unknown or missing dimensions."""
    for _ in range(count):
        a, b = random_shape(rng), random_shape(rng)
        yield a, b
        if a is not None:
            b = tuple(rng.choice([size, size, 1, None]) for size in a)
            yield a, b[rng.randrange(len(b) + 1) :]
            yield tuple(rng.choice([size, size, None]) for size in a), b


def assert_met(pairs):
    """Ask both functions about all pairs, then TensorFlow."""
    with withheld(*TF_GRAPHS, *TF_SHAPES):
        met = [met_by_learner("broadcast", broadcast, pairs), met_by_learner("merge", merge, pairs)]
    for name, answers in zip(("broadcast", "merge"), met, strict=True):
        for (a, b), found, due in zip(pairs, answers, met_there(name, pairs), strict=True):
            assert type(found) is type(due), f"seed {seed}: {name}({a}, {b}) is {due!r}; yours is {found!r}"
            assert found == due, f"seed {seed}: {name}({a}, {b}) is {due!r}; yours is {found!r}"


seed = random.SystemRandom().randrange(10**6)
assert_met([(a, b) for a in [None, (), (None,), (1,), (2,), (3,)] for b in [None, (), (None,), (1,), (2,)]])
assert_met(list(random_pairs(random.Random(seed), 70)))
### END HIDDEN TESTS

# %% [markdown] after_passing="broadcast-and-merge"
# `BroadcastBinaryOpOutputShapeFnHelper` (core/framework/common_shape_fns.cc) and `InferenceContext::Merge`
# (core/framework/shape_inference.cc) said the same of every pair. The known dimension that beats an unknown one in a
# broadcast is a bet: the unknown one must turn out to be 1 or the same, and if it is not, the kernel fails, so nothing
# is inferred that a successful run could contradict.

# %% [markdown]
# ## 4. What is known before running
#
# A shape function sees the shapes of its node's inputs, and now and then a value: `Reshape` needs to know *to what*.
# If the input that says so is a `Const`, its value is there before anything runs.
#
# The next cell has helpers for graphs written by hand, and `six_nodes`. In it, `rows` cuts the numbers of `x` into rows
# of three, `both` joins `rows` to itself along axis 0, `product` multiplies `both` by a constant of shape (3, 5),
# `fixed` makes rows of two from a constant of shape (4, 3), `total` adds `p`, of shape (None, 1), and `q`, of shape
# (1, 4).

# %% nbgrader={"grade": false, "grade_id": "given-graphs", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def attr_value(value: object) -> AttrValue:
    """An attribute from a Python value: bool, int, str, list of int, DType, TensorShape or NumPy array."""
    if isinstance(value, list):
        return AttrValue(list=AttrValue.ListValue(i=value))
    if isinstance(value, np.ndarray):
        return AttrValue(tensor=tf.make_tensor_proto(value))
    if isinstance(value, tf.DType):
        return AttrValue(type=value.as_datatype_enum)
    if isinstance(value, tf.TensorShape):
        return AttrValue(shape=value.as_proto())
    kinds = {bool: "b", int: "i", str: "s"}
    return AttrValue(**{kinds[type(value)]: value.encode() if isinstance(value, str) else value})


def add_node(graph: GraphDef, name: str, op: str, inputs: Iterable[str] = (), **attributes: object) -> None:
    """Append a NodeDef to `graph`; attribute values are converted by `attr_value`."""
    graph.node.add(name=name, op=op, input=inputs, attr={key: attr_value(value) for key, value in attributes.items()})


def add_placeholder(graph: GraphDef, name: str, shape: Shape) -> None:
    """Append a float32 Placeholder."""
    add_node(graph, name, "Placeholder", dtype=tf.float32, shape=tf.TensorShape(shape))


def add_const(graph: GraphDef, name: str, value: object, dtype: type = np.int32) -> None:
    """Append a Const."""
    array = np.array(value, dtype)
    add_node(graph, name, "Const", dtype=tf.as_dtype(array.dtype), value=array)


def copied(graph: GraphDef) -> GraphDef:
    """A copy of a GraphDef."""
    made = GraphDef()
    made.CopyFrom(graph)
    return made


def six_nodes() -> GraphDef:
    """The graph of exercise 5, without a shape but those of its placeholders and constants."""
    made = GraphDef()
    made.versions.producer = tf.version.GRAPH_DEF_VERSION
    for name, shape in [("x", (None, 6)), ("p", (None, 1)), ("q", (1, 4))]:
        add_placeholder(made, name, shape)
    for name, value in [("three", [-1, 3]), ("two", [-1, 2]), ("zero", 0)]:
        add_const(made, name, value)
    for name, shape in [("weights", (3, 5)), ("table", (4, 3))]:
        add_const(made, name, np.ones(shape), np.float32)
    add_node(made, "rows", "Reshape", ["x", "three"], T=tf.float32)
    add_node(made, "both", "ConcatV2", ["rows", "rows", "zero"], T=tf.float32, N=2)
    add_node(made, "product", "MatMul", ["both", "weights"], T=tf.float32)
    add_node(made, "fixed", "Reshape", ["table", "two"], T=tf.float32)
    add_node(made, "total", "AddV2", ["p", "q"], T=tf.float32)
    return made


# %%
view.graph(six_nodes(), direction="LR", title="Six nodes whose shapes are asked for: x, rows, both, product, fixed, total")

# %% [markdown]
# ### Exercise 5 · What is known before running (1 point)
#
# Set `shapes` to a dict with the keys `"x"`, `"rows"`, `"both"`, `"product"`, `"fixed"` and `"total"`. The value of
# each is the shape of that node's output as TensorFlow knows it when the graph has been built: a tuple of `int` and
# `None`, or `None` for an unknown rank. Decide before you run anything. The entry of `"q"` would be `(1, 4)`.

# %% nbgrader={"grade": false, "grade_id": "predict-shape", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
# shapes = {"x": ..., "rows": ..., "both": ..., "product": ..., "fixed": ..., "total": ...}
### BEGIN SOLUTION
shapes = {
    "x": (None, 6),
    "rows": (None, 3),
    "both": (None, 3),
    "product": (None, 5),
    "fixed": (6, 2),
    "total": (None, 4),
}
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "predict-shape-test", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
names = ["both", "fixed", "product", "rows", "total", "x"]
assert type(shapes) is dict, f"shapes is a dict; it is a {type(shapes).__name__}"
assert sorted(shapes, key=str) == names, f"shapes has the keys {names}; it has {list(shapes)}"
for name in names:
    assert shapes[name] is None or type(shapes[name]) is tuple, f"shapes[{name!r}] is a tuple or None; it is {shapes[name]!r}"
    sizes = shapes[name] or ()
    assert all(size is None or type(size) is int for size in sizes), f"shapes[{name!r}] holds int and None; it is {sizes!r}"


### BEGIN HIDDEN TESTS
def six_shapes():
    """What TensorFlow knows of the six nodes."""
    with tf.Graph().as_default() as made:
        tf.import_graph_def(six_nodes(), name="")
    return {name: shape_of(made.get_tensor_by_name(f"{name}:0")) for name in names}


shapes_there = six_shapes()
wrong_names = [name for name in names if shapes[name] != shapes_there[name]]
assert not wrong_names, (
    f"not so for {', '.join(wrong_names)}. Which numbers are known: those of the batch, those of a constant? What is a "
    "sum of which one term is unknown?"
)
### END HIDDEN TESTS

# %% [markdown] after_passing="predict-shape"
# -1 became 6 where all numbers of the input were known, and stayed unknown where the batch was not. The two unknown
# dimensions of `both` add up to an unknown one: TensorFlow keeps no formula such as 2·n. `total` has an unknown first
# dimension because 1 gives way to it.

# %% [markdown]
# ## 5. A graph of shapes
#
# `ShapeRefiner` (core/common_runtime/shape_refiner.cc) visits every node that is added to a graph, calls the shape
# function of its op, and keeps the result: the nodes after it build on that. Here are the rules of 20 ops, which is
# enough for a residual network and its loss. Where a rule says *must*, the opposite is a contradiction.
#
# | op | its outputs (one, if nothing else is said) |
# | --- | --- |
# | `Placeholder` | what the attribute `shape` says |
# | `Const` | the shape of its value |
# | `Identity`, `Relu`, `Neg`, `Tanh` | the shape of the input |
# | `AddV2`, `Sub`, `Mul`, `Maximum` | the two inputs, broadcast |
# | `AddN` | all inputs, merged |
# | `MatMul`, `Pack`, `Split`, `Transpose`, `Sum`, `Reshape` | see below |
# | `BiasAdd`, `ConcatV2`, `Conv2D` | by given functions, see below |
#
# Two things hold for all of them. Where an input must have a certain rank, an unknown rank counts as that many unknown
# dimensions. An axis must be in range of the rank; a negative one counts from the end.
#
# **MatMul.** Both inputs must have rank 2. With the attribute `transpose_a` the first is swapped, with `transpose_b`
# the second. The two inner dimensions must agree as in a merge. The result has the outer two.
#
# **Pack.** All inputs are merged, and their number is put in as a new dimension at the attribute `axis`, an axis of the
# *result*. If no input's rank is known, the result's is not.
#
# **Split.** The first input is a `Const`, the axis. The second is cut into `num_split` (an attribute) outputs, all
# alike. The dimension at the axis must be a multiple of that number and is divided by it; unknown stays unknown. An
# input of unknown rank gives outputs of unknown rank, whatever the axis is.
#
# **Transpose.** The last input is a `Const`, a permutation of two or more axes, and the other must have as many
# dimensions. Dimension i of the result is dimension `perm[i]` of the input.
#
# **Sum.** The last input is a `Const`, one axis or a list of axes. These dimensions vanish, or are 1 if the attribute
# `keep_dims` is true. An unknown rank stays unknown.
#
# **Reshape.** The last input is a `Const`, the shape wanted, in which -1 is unknown. The result is that shape, in which
# one unknown may be found. If the input's rank is unknown, or if the input has two or more unknown dimensions, or the
# shape wanted two or more -1, nothing more is known. Else compare the products of the known sizes, *i* of the input and
# *w* of the shape wanted:
#
# - No unknown on either side: they must be equal.
# - One -1, input known: *i* must be a multiple of *w*, and -1 becomes *i*/*w*.
# - Wanted known, one unknown in the input: *w* must be a multiple of *i*.
# - One on each side: it stays unknown.
#
# **Given.** Three rules are more typing than insight: `given_bias_add(value, bias)`, `given_concat(parts, axis)` and
# `given_conv2d(images, filters, strides, padding)` take shapes and return the result's, or raise `ValueError`. The last
# input of `ConcatV2` is a `Const`, the axis. `strides` are the two of height and width, which may differ.
#
# `Conv2D` has images (batch, height, width, depth) and filters (height, width, depth, count). Read its function: of a
# filter of unknown size `padding` `b"SAME"` makes a known size nevertheless, `b"VALID"` does not.
#
# ### Exercise 6 · Shape inference over a graph (5 points)
#
# Write `infer_shapes(graph)`. It takes a `GraphDef` and returns a plain `dict` with one entry for every node, under its
# name: a list with one shape for each of its outputs. The nodes stand in topological order. An input is written `n` or
# `n:1` (the given `endpoint` reads both); there are no control inputs. No known dimension is 0.
#
# Given are, besides the three rules: `shape_of_proto(proto)`, the shape in an attribute's `TensorShapeProto`;
# `constant(node)`, the value of a `Const` as an array; `ranked(shape, rank)`, which makes an unknown rank a shape of
# unknown dimensions and refuses another rank; `in_range(axis, rank)`, which refuses an axis or counts it from 0 on; and
# `given_broadcast` and `given_merge`, working versions of exercise 4.
#
# ```
# >>> infer_shapes(six_nodes())["product"]
# [(None, 5)]
# ```
#
# The first node with a contradiction raises `ValueError`. The message holds that node's name and no later node's. An op
# that is not in the table: `KeyError`. TensorFlow's graphs and its functions on shapes are withheld while yours runs.
#
# <details><summary>Hint 1</summary>
#
# Three parts. A walk over the nodes that looks up the inputs' shapes. One rule for each op (or group of ops): a small
# function, from node, shapes and constants to a list of shapes. And one place that turns a rule's `ValueError` into one
# that names the node.
# </details>
#
# <details><summary>Hint 2</summary>
#
# ```
# def infer_shapes(graph):
#     for node in graph.node:
#         known = …       the shape of each input, from what was found before
#         values = …      for each input the constant, if the node that it comes from is a Const, else None
#         try: …[node.name] = RULES[node.op](node, known, values)
#         except ValueError as error: raise ValueError(f"{node.name}: {error}") from None
# ```
#
# `given_merge((x,), (y,))` merges two dimensions. `node.attr["strides"].list.i` is [1, s_h, s_w, 1]: height and width
# each have their own. Booleans are in `.b`, whole numbers in `.i`, `padding` in `.s`.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-rules", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def endpoint(text: str) -> tuple[str, int]:
    """Read a node's input: `n` and `n:0` → (n, 0), `n:1` → (n, 1). Given."""
    node, _, index = text.partition(":")
    return node, int(index or 0)


def shape_of_proto(proto: Any) -> Shape:
    """The shape that a TensorShapeProto holds. Given."""
    return None if proto.unknown_rank else tuple(None if dim.size < 0 else dim.size for dim in proto.dim)


def constant(node: NodeDef) -> np.ndarray:
    """The value of a Const. Given."""
    return tf.make_ndarray(node.attr["value"].tensor)


def ranked(shape: Shape, rank: int) -> tuple[int | None, ...]:
    """The shape, or as many unknown dimensions if its rank is unknown; ValueError for another rank. Given."""
    if shape is None:
        return (None,) * rank
    if len(shape) != rank:
        raise ValueError(f"rank {rank} is due, not {shape}")
    return shape


def in_range(axis: int, rank: int) -> int:
    """The axis, counted from 0 on; ValueError if a shape of this rank has none such. Given."""
    if not -rank <= axis < rank:
        raise ValueError(f"there is no axis {axis} in rank {rank}")
    return int(axis) % rank


def given_bias_add(value: Shape, bias: Shape) -> Shape:
    """BiasAdd: the shape of `value`, of rank 2 or more, its last dimension merged with the only one of `bias`. Given."""
    bias = ranked(bias, 1)
    if value is None:
        return None
    if len(value) < 2:
        raise ValueError(f"rank 2 or more is due, not {value}")
    return (*value[:-1], *given_merge(value[-1:], bias))


def given_concat(parts: list[Shape], axis: int) -> Shape:
    """ConcatV2: along the axis the sizes are added up, one unknown makes the sum unknown; the others are merged. Given.

    Known ranks must be equal, and say the rank of the other parts. None is known: the result's is not.
    """
    rank = next((len(part) for part in parts if part is not None), None)
    if rank is None:
        return None
    parts, axis = [ranked(part, rank) for part in parts], in_range(axis, rank)
    sizes, rest = [part[axis] for part in parts], (None,) * rank
    for part in parts:
        rest = given_merge(rest, (*part[:axis], None, *part[axis + 1 :]))
    return (*rest[:axis], None if None in sizes else sum(sizes), *rest[axis + 1 :])


def given_conv2d(images: Shape, filters: Shape, strides: tuple[int, int], padding: bytes) -> Shape:
    """Conv2D (`data_format` NHWC, no dilations): (batch, height, width, count). Given.

    SAME gives ⌈in / s⌉, VALID ⌊(in − k) / s⌋ + 1, where k, the filter's size, must not be greater than in. The images'
    depth must be a multiple of the filters', n times it, and the count a multiple of n, the number of groups.
    """
    (batch, *sizes, depth), (*windows, its_depth, count) = ranked(images, 4), ranked(filters, 4)
    if depth is not None and its_depth is not None:
        groups, rest = divmod(depth, its_depth)
        if rest or (count or 0) % groups:
            raise ValueError(f"a depth of {depth} and {count} filters of depth {its_depth}")
    made = []
    for size, window, stride in zip(sizes, windows, strides, strict=True):
        if size is None or (padding == b"VALID" and window is None):
            made.append(None)
        elif padding == b"SAME":
            made.append(-(-size // stride))
        elif size < window:
            raise ValueError(f"a filter of {window} does not fit into {size}")
        else:
            made.append((size - window) // stride + 1)
    return (batch, *made, count)


# %% nbgrader={"grade": false, "grade_id": "given-inference", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def given_broadcast(a: Shape, b: Shape) -> Shape:
    """The shape of a + b; ValueError if it has none. Given."""
    if None in (a, b):
        return None
    made = []
    for x, y in zip_longest(a[::-1], b[::-1], fillvalue=1):
        if x != y and 1 not in (x, y) and None not in (x, y):
            raise ValueError(f"{x} and {y} do not broadcast, of {a} and {b}")
        made.append(y if x == 1 else x if y in (1, None) else y)
    return tuple(made[::-1])


def given_merge(a: Shape, b: Shape) -> Shape:
    """What two shapes say together of one tensor; ValueError if they contradict each other. Given."""
    if None in (a, b):
        return b if a is None else a
    made = [y if x is None else x for x, y in zip_longest(a, b)]
    if len(a) != len(b) or any(y not in (None, size) for size, y in zip(made, b, strict=True)):
        raise ValueError(f"{a} and {b} are not shapes of one tensor")
    return tuple(made)


# %% nbgrader={"grade": false, "grade_id": "infer-shapes", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def infer_shapes(graph: GraphDef) -> dict[str, list[Shape]]:
    """The shapes of every node's outputs, by the node's name.

    Raises:
        ValueError: a contradiction; the message holds the node's name.
        KeyError: an op that has no rule here.
    """
    ### BEGIN SOLUTION
    seen, found = {}, {}
    for node in graph.node:
        compute = RULES[node.op]
        feeds = [endpoint(text) for text in node.input]
        consts = [constant(seen[name]) if seen[name].op == "Const" else None for name, _ in feeds]
        try:
            found[node.name] = compute(node.attr, [found[name][index] for name, index in feeds], consts)
        except ValueError as error:
            raise ValueError(f"{node.name}, a {node.op}: {error}") from None
        seen[node.name] = node
    return found
    ### END SOLUTION


### BEGIN SOLUTION
def same_size(x, y):
    return given_merge((x,), (y,))[0]


def merged(known):
    found = None
    for shape in known:
        found = given_merge(found, shape)
    return found


def matmul(attr, known, values):
    a, b = ranked(known[0], 2), ranked(known[1], 2)
    a = a[::-1] if attr["transpose_a"].b else a
    b = b[::-1] if attr["transpose_b"].b else b
    same_size(a[1], b[0])
    return [(a[0], b[1])]


def concat(attr, known, values):
    return [given_concat(known[:-1], values[-1])]


def pack(attr, known, values):
    shape = merged(known)
    if shape is None:
        return [None]
    axis = in_range(attr["axis"].i, len(shape) + 1)
    return [(*shape[:axis], len(known), *shape[axis:])]


def split(attr, known, values):
    count = attr["num_split"].i
    if known[1] is None:
        return [None] * count
    axis = in_range(values[0], len(known[1]))
    size = known[1][axis]
    if size is not None and size % count:
        raise ValueError(f"{size} is not a multiple of {count}")
    return [(*known[1][:axis], size and size // count, *known[1][axis + 1 :])] * count


def transpose(attr, known, values):
    shape = ranked(known[0], len(values[1]))
    return [tuple(shape[axis] for axis in values[1])]


def reduced(attr, known, values):
    if known[0] is None:
        return [None]
    axes = {in_range(axis, len(known[0])) for axis in np.ravel(values[1])}
    if attr["keep_dims"].b:
        return [tuple(1 if axis in axes else size for axis, size in enumerate(known[0]))]
    return [tuple(size for axis, size in enumerate(known[0]) if axis not in axes)]


def reshape(attr, known, values):
    wanted = tuple(None if size < 0 else int(size) for size in values[1])
    if known[0] is None or known[0].count(None) > 1 or wanted.count(None) > 1:
        return [wanted]
    have, need = (math.prod(size for size in shape if size is not None) for shape in (known[0], wanted))
    if None in known[0] and None in wanted:
        return [wanted]
    if None in known[0]:
        have, need = need, have
    elif None not in wanted and have != need:
        raise ValueError(f"{known[0]} and {wanted} differ in the number of elements")
    if have % need:
        raise ValueError(f"{have} elements do not make {need}")
    return [tuple(have // need if size is None else size for size in wanted)]


def conv2d(attr, known, values):
    return [given_conv2d(*known, attr["strides"].list.i[1:3], attr["padding"].s)]


RULES = {
    "Placeholder": lambda attr, known, values: [shape_of_proto(attr["shape"].shape)],
    "Const": lambda attr, known, values: [shape_of_proto(attr["value"].tensor.tensor_shape)],
    **dict.fromkeys(["Identity", "Relu", "Neg", "Tanh"], lambda attr, known, values: known),
    **dict.fromkeys(["AddV2", "Sub", "Mul", "Maximum"], lambda attr, known, values: [given_broadcast(*known)]),
    "AddN": lambda attr, known, values: [merged(known)],
    "MatMul": matmul,
    "BiasAdd": lambda attr, known, values: [given_bias_add(*known)],
    "ConcatV2": concat,
    "Pack": pack,
    "Split": split,
    "Transpose": transpose,
    "Sum": reduced,
    "Reshape": reshape,
    "Conv2D": conv2d,
}
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "infer-shapes-test", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
found = answer_to("the graph of exercise 5", (), infer_shapes, six_nodes())
assert type(found) is dict, f"infer_shapes returns a dict; it returned a {type(found).__name__}"
six = [node.name for node in six_nodes().node]
assert sorted(found, key=str) == sorted(six), f"there is one entry for every node, {sorted(six)}; yours: {sorted(found, key=str)}"
for name, due in [("x", [(None, 6)]), ("weights", [(3, 5)]), ("product", [(None, 5)])]:
    assert type(found[name]) is list, f"{name}: a list with one shape for each output is due; found {found[name]!r}"
    assert found[name] == due, f"{name}: {due} is due, found {found[name]}"


### BEGIN HIDDEN TESTS
def case_graph(cases):
    """A GraphDef with one node for each case: its op, the shapes of its inputs, its constant, its attributes."""
    made = GraphDef()
    made.versions.producer = tf.version.GRAPH_DEF_VERSION
    for number, (op, known, value, attributes) in enumerate(cases):
        inputs = [f"in{number:03}_{index}" for index in range(len(known))]
        for name, shape in zip(inputs, known, strict=True):
            add_placeholder(made, name, shape)
        if value is not None:
            add_const(made, f"c{number:03}", value)
            inputs = [f"c{number:03}", *inputs] if op == "Split" else [*inputs, f"c{number:03}"]
        if op in ("AddN", "Pack", "ConcatV2"):
            attributes = {**attributes, "N": len(known)}
        add_node(made, f"case{number:03}", op, inputs, T=tf.float32, **attributes)
    return made


def good_cases():
    """One case for each corner of a rule."""
    valid, same = {"padding": "VALID"}, {"padding": "SAME"}
    yield from [("MatMul", [a, b], None, {}) for a, b in [((2, 3), (3, 4)), (None, (3, 4)), ((2, None), None), (None, None), ((None, 3), (None, 5))]]
    yield ("MatMul", [(3, 2), (3, 4)], None, {"transpose_a": True})
    yield ("MatMul", [(2, 3), (4, 3)], None, {"transpose_b": True})
    yield ("MatMul", [(3, None), (5, 3)], None, {"transpose_a": True, "transpose_b": True})
    yield from [("BiasAdd", [a, b], None, {}) for a, b in [((2, None), (3,)), (None, (3,)), ((2, 3), None), ((2, 2, None), None), ((None, 3), (None,))]]
    yield from [("AddN", known, None, {}) for known in [[None, (2, None), (None, 3)], [None, None], [(), ()], [(1, 2), (1, None), None]]]
    yield from [("ConcatV2", known, axis, {}) for known, axis in [([(2, 3), None], 0), ([None, None], -1), ([None, (2, 3)], -1), ([(2, 3), (2, None)], -1), ([(None, 3), (2, None)], 1), ([(2, None), (4, 3), None], 0), ([(5,), (6,)], 0), ([(2, None, 1), (2, 7, 1), (2, 7, None)], -2)]]
    yield from [("Pack", known, None, {"axis": axis}) for known, axis in [([(2, 3), None], 0), ([None, None], 0), ([(2, 3), (None, 3)], -1), ([(2, None), (None, 3), None], 1), ([(), ()], 0), ([(2, 3), (2, 3)], -3), ([(4,), (4,)], 1)]]
    yield from [("Split", [known], axis, {"num_split": count}) for known, axis, count in [((4, None), 0, 2), ((4, None), 1, 2), (None, 0, 3), (None, -1, 2), ((4, 6), -1, 3), ((6,), 0, 1), ((2, 2, 8), -1, 4)]]
    yield from [("Transpose", [known], perm, {}) for known, perm in [((2, 3), [1, 0]), (None, [1, 0]), ((2, None, 4), [2, 0, 1]), ((2, 3, 4), [1, 2, 0]), (None, [2, 1, 0])]]
    yield from [("Sum", [known], axes, {"keep_dims": keep}) for keep in (False, True) for known, axes in [((2, 3, 4), [1]), ((2, 3, 4), [-1]), ((2, None, 5), [0, 1]), ((2, 3), 1), ((2, 3), -2), (None, [0]), ((2, 3, None), [0, -1])]]
    yield from [("Reshape", [known], wanted, {}) for known, wanted in [((2, 3), [6]), ((2, 3), [-1]), ((2, 6), [-1, 4]), ((2, None), [-1]), ((2, None), [2, -1]), ((2, 7, None), [28]), ((2, 7, None), [12, -1]), ((None, None), [5]), ((None, None), [5, -1]), ((2, 3), [-1, -1]), (None, [2, -1]), (None, [4]), ((1, 1), [1]), ((), [-1])]]
    for padding in (valid, same):
        for known, filters, stride in [((None, 8, 8, 3), (3, 3, 3, 4), 2), ((1, 8, None, 4), (3, None, 2, 4), 1), ((2, 7, 9, 6), (3, 2, 3, 8), 3), ((1, 3, 3, 1), (3, 3, 1, 5), 2), ((1, 5, 9, None), (None, 3, 3, None), 2), (None, (3, 3, 3, 4), 1), ((1, 8, 6, 2), None, 2), ((4, 10, 10, 6), (4, 3, 2, None), 3)]:
            yield ("Conv2D", [known, filters], None, {"strides": [1, stride, 1 if stride == 3 else stride, 1], **padding})


def bad_cases():
    """One contradiction for each "must"."""
    strides = {"strides": [1, 1, 1, 1]}
    yield from [("MatMul", [a, b], None, {}) for a, b in [((2, 3), (2, 3)), ((2, 3, 4), (4, 2)), (None, (3,))]]
    yield ("MatMul", [(2, None), (3, 4)], None, {"transpose_a": True})
    yield from [(op, [(2, 3), (2,)], None, {}) for op in ("AddV2", "Sub", "Mul", "Maximum", "BiasAdd")]
    yield from [("BiasAdd", [a, b], None, {}) for a, b in [((3,), (3,)), (None, (2, 3)), ((2, 3), ())]]
    yield from [("AddN", known, None, {}) for known in [[(1, 2), (3, 2)], [(2,), None, (2, 1)]]]
    yield from [("ConcatV2", known, axis, {}) for known, axis in [([(2, 3), (2, 4)], 0), ([(2,), (2, 3)], 0), ([(2, 3), (2, 3)], 2), ([None, (2, 3)], -3)]]
    yield from [("Pack", known, None, {"axis": axis}) for known, axis in [([(2, 3), (2, 4)], 0), ([(2,), (2, 3)], 0), ([(2, 3), None], 3), ([(2, 3), (2, 3)], -4)]]
    yield from [("Split", [known], axis, {"num_split": 2}) for known, axis in [((5, 4), 0), ((4, 6), 2), ((4, 6), -3)]]
    yield from [("Transpose", [(2, 3)], [0, 2, 1], {}), ("Transpose", [(2, 3, 4)], [1, 0], {})]
    yield from [("Sum", [(2, 3)], axes, {}) for axes in [[2], -3, [0, 2]]]
    yield from [("Reshape", [known], wanted, {}) for known, wanted in [((2, 3), [7]), ((2, 3), [4, -1]), ((2, 7, None), [12]), ((2, 3), [3])]]
    yield from [("Conv2D", [a, b], None, {**strides, "padding": padding}) for a, b, padding in [((1, 2, 8, 4), (3, 3, 4, 4), "VALID"), ((1, 8, 8, 4), (3, 3, 3, 4), "SAME"), ((1, 8, 8, 6), (3, 3, 2, 4), "SAME"), ((1, 8, 8), (3, 3, 3, 4), "SAME"), (None, (3, 3, 1), "VALID")]]


def random_graph(rng, size):
    """A GraphDef of about `size` nodes that TensorFlow accepts: each takes tensors at random, and stays if it may."""
    numbers, pool, raw = iter(range(10**6)), [], tf.raw_ops

    def new_name():
        return f"n{next(numbers):04}"

    def pick(*ranks):
        return rng.choice([t for t in pool if t.shape.rank is None or not ranks or t.shape.rank in ranks] or pool)

    def const(value):
        return tf.constant(np.int32(value), name=new_name())

    def axis(tensor):
        return rng.randrange(-(tensor.shape.rank or 1), tensor.shape.rank or 1)

    makers = [
        lambda a, b: [raw.Relu(features=a, name=new_name())],
        lambda a, b: [raw.Identity(input=a, name=new_name())],
        lambda a, b: [raw.Neg(x=a, name=new_name())],
        lambda a, b: [raw.Tanh(x=a, name=new_name())],
        lambda a, b: [raw.AddV2(x=a, y=rng.choice([a, b]), name=new_name())],
        lambda a, b: [raw.Sub(x=a, y=pick(0, 1), name=new_name())],
        lambda a, b: [raw.Mul(x=a, y=b, name=new_name())],
        lambda a, b: [raw.Maximum(x=pick(1, 2), y=pick(2), name=new_name())],
        lambda a, b: [raw.AddN(inputs=[a, b], name=new_name())],
        lambda a, b: [raw.MatMul(a=pick(2), b=pick(2), transpose_a=rng.random() < 0.5, transpose_b=rng.random() < 0.5, name=new_name())],
        lambda a, b: [raw.BiasAdd(value=pick(2, 3, 4), bias=pick(1), name=new_name())],
        lambda a, b: [raw.ConcatV2(values=[a, rng.choice([a, b])], axis=const(axis(a)), name=new_name())],
        lambda a, b: [raw.Pack(values=[a, rng.choice([a, b])], axis=axis(a), name=new_name())],
        lambda a, b: list(raw.Split(axis=const(axis(a)), value=a, num_split=rng.choice([1, 2, 3]), name=new_name())),
        lambda a, b: [raw.Transpose(x=a, perm=const(rng.sample(range(n := a.shape.rank or 3), max(n, 2))), name=new_name())],
        lambda a, b: [raw.Sum(input=a, axis=const([axis(a)]), keep_dims=rng.random() < 0.5, name=new_name())],
        lambda a, b: [raw.Reshape(tensor=a, shape=const([rng.choice([-1, 1, 2, 2, 4, 8]) for _ in range(rng.randrange(1, 5))]), name=new_name())],
        lambda a, b: [raw.Conv2D(input=pick(4), filter=pick(4), strides=[1, rng.choice([1, 2]), rng.choice([1, 2]), 1], padding=rng.choice(["SAME", "VALID"]), name=new_name())],
    ]
    with tf.Graph().as_default() as made:
        for rank in (2, 2, 4, 4, 1, 1, 3, 2, 4):
            shape = None if rng.random() < 0.1 else [rng.choice([None, 1, 2, 2, 4]) for _ in range(rank)]
            pool.append(tf1.placeholder(tf.float32, shape, name=new_name()))
        for turn in range(size):
            try:
                pool += makers[turn % len(makers)](pick(), pick())
            except (ValueError, TypeError):
                continue
            if len(made.get_operations()) >= size:
                break
    return made.as_graph_def()


def shapes_in_tensorflow(graph):
    """What TensorFlow's shape functions say of a GraphDef."""
    with tf.Graph().as_default() as made:
        tf.import_graph_def(graph, name="")
    return {operation.name: [shape_of(tensor) for tensor in operation.outputs] for operation in made.get_operations()}


def refused_node(graph):
    """The name of the node that TensorFlow refuses, or None."""
    try:
        shapes_in_tensorflow(graph)
    except ValueError as error:
        return re.search(r"\{\{node (\S+)\}\}", str(error))[1]
    return None


def refusal(case, graph):
    """The message of the learner's ValueError, and what came back instead of one."""
    try:
        return None, answer_to(case, (ValueError,), infer_shapes, graph)
    except ValueError as error:
        return str(error), None


def changed_graphs(rng, graph, count):
    """Copies of a graph with one dimension of one placeholder changed, so that TensorFlow refuses a node."""
    inputs = [index for index, node in enumerate(graph.node) if node.op == "Placeholder" and len(node.attr["shape"].shape.dim) > 0]
    for _ in range(4 * count):
        changed = copied(graph)
        dims = changed.node[rng.choice(inputs)].attr["shape"].shape.dim
        rng.choice(dims).size = rng.choice([5, 7])
        refused = refused_node(changed)
        if refused:
            yield changed, refused
            count -= 1
        if count == 0:
            break


def assert_inferred(case, graph, *more):
    """Ask the learner's function about a graph, then TensorFlow, and compare node by node."""
    with withheld(*TF_GRAPHS, *TF_SHAPES, *more):
        found = answer_to(case, (), infer_shapes, copied(graph))
    due = shapes_in_tensorflow(graph)
    assert type(found) is dict, f"{case}: a dict is due, found a {type(found).__name__}"
    assert sorted(found, key=str) == sorted(due), f"{case}: there is one entry for every node and no other"
    read = {node.name: [due[name][index] for name, index in map(endpoint, node.input)] for node in graph.node}
    for node in graph.node:
        assert found[node.name] == due[node.name], (
            f"{case}: {node.name}, a {node.op} of {read[node.name]}, has {due[node.name]} in TensorFlow; yours {found[node.name]}. "
            f"Its constants: {[constant(n).tolist() for n in graph.node if n.op == 'Const' and n.name in node.input]}"
        )


def assert_refusals(cases):
    """Ask about graphs that TensorFlow refuses: the error is due, and the name of the node."""
    with withheld(*TF_GRAPHS, *TF_SHAPES):
        refusals = [refusal(case, copied(graph)) for case, graph in cases]
    for (case, graph), (message, found) in zip(cases, refusals, strict=True):
        due = refused_node(graph)
        assert message is not None, f"{case}: TensorFlow refuses {due}, a ValueError is due; found {found!r:.300}"
        assert due in message, f"{case}: the message names the node, {due}; it says {message!r}"
        order = [node.name for node in graph.node]
        later = [name for name in order[order.index(due) + 1 :] if name in message]
        assert not later, f"{case}: the message names {due} and no later node; it names {later[:3]} too: {message[:300]!r}"


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
assert_inferred("a graph of single cases", case_graph(good_cases()))
contradictions = list(bad_cases())
assert_refusals([(f"{op} of {known}, constant {value}, {more}", case_graph([(op, known, value, more)])) for op, known, value, more in contradictions])
assert_refusals([(f"{len(some)} contradictions, each in a node of its own", case_graph(some)) for some in (contradictions[:2], contradictions[-3:])])
unknown_op = GraphDef()
add_placeholder(unknown_op, "x", (2,))
add_node(unknown_op, "y", "Exp", ["x"], T=tf.float32)
try:
    found = answer_to("a graph with an Exp", (KeyError,), infer_shapes, unknown_op)
except KeyError:
    pass
else:
    raise AssertionError(f"Exp is not in the table, a KeyError is due; found {found!r}")
drawn_graphs = [random_graph(rng, 140) for _ in range(2)]
for number, graph in enumerate(drawn_graphs):
    assert_inferred(f"seed {seed}, random graph {number}", graph, *[TF_IMPORT_IN_C][number:])
changed = changed_graphs(rng, random_graph(rng, 30), 3)
assert_refusals([(f"seed {seed}: a random graph with one dimension changed", graph) for graph, _ in changed])
### END HIDDEN TESTS

# %% [markdown] after_passing="infer-shapes"
# Every output of every node agrees, and every contradiction was found at the node at which TensorFlow finds it. The
# functions stand in core/framework/common_shape_fns.cc (`MatMulShape`, `Conv2DShape`, `ConcatV2Shape`) and beside the
# ops in core/ops/array_ops.cc and math_ops.cc. A rule never sees the graph: that is why an unknown dimension has no
# name, and why 20 small functions are enough for any graph of 20 ops.

# %% [markdown]
# ## 6. Where the bytes come from
#
# Now something runs. Not every output needs new memory: a kernel may write its result over an input that nobody else
# holds (`OpKernelContext::forward_input_or_allocate_output`, core/framework/op_kernel.cc). In the graph below `sum`
# and `relu` do so. `negated` reads `product` too: does it get a buffer of its own? That varies from run to run.

# %%
with tf.Graph().as_default():
    a = tf1.placeholder(tf.float32, [64, 64], name="a")
    product = tf.matmul(a, a, name="product")
    tf.nn.relu(tf.add(product, 1.0, name="sum"), name="relu")
    tf.negative(product, name="negated")
    with tf1.Session(config=plain_config()) as session:
        for fetches in (["relu:0"], ["relu:0", "negated:0"]):
            run = trace_run(session, fetches, {"a:0": np.zeros([64, 64], np.float32)})
            nodes = {node.node_name: node for device in run.metadata.step_stats.dev_stats for node in device.node_stats}
            where = {n: nodes[n].output[0].tensor_description.allocation_description.ptr for n in ("product", "sum", "relu", "negated") if n in nodes}
            names = {place: f"buffer {number}" for number, place in enumerate(dict.fromkeys(where.values()))}
            print({node: names[place] for node, place in where.items()})


# %% [markdown]
# Whichever of the two readers comes first must leave the bytes alone; the last one takes them. What no kernel can take
# over comes from an allocator. TensorFlow's own is the **BFC allocator**, best fit with coalescing
# (xla/tsl/framework/bfc_allocator.cc). It asks the system for a large **region** and divides it:
#
# - The region is cut into **chunks** without gaps; each is in use or free. At first there is one, free.
# - A request is rounded up to a multiple of 256 bytes.
# - Of the free chunks that are large enough, the smallest is taken: **best fit**.
# - What is too much is cut off and stays free, or it is given along.
# - A chunk that comes back is joined with free neighbours at once: **coalescing**.
#
# It writes down what it does in the trace of the profiler: each `MemoryAllocation` has the bytes that were asked for,
# the bytes that were given, and the address. The next cell has such a record, `RECORDED`: of one training step, the
# first thing to run in its process, so that all of it lies in the first region that TensorFlow asked for.
# `read_events` reads the notation. The cell after it shows how it was recorded, and does it again; runs differ in a few
# of the smallest tensors.

# %% nbgrader={"grade": false, "grade_id": "given-recording", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
class Event(NamedTuple):
    """What the allocator did: it gave a chunk away ("allocate") or got it back ("free"). Bytes. Given."""

    kind: str
    requested: int
    size: int
    offset: int
    op: str


def read_events(text: str) -> list[Event]:
    """Events in a short notation: `+requested/size@offset:op` for a chunk given away, `-offset` for one given back."""
    events = []
    for word in text.split():
        if word.startswith("-"):
            events.append(Event("free", 0, 0, int(word[1:]), ""))
        else:
            requested, size, offset, op = re.fullmatch(r"\+(\d+)/(\d+)@(\d+):?(.*)", word).groups()
            events.append(Event("allocate", int(requested), int(size), int(offset), op))
    return events


REGION = 2 << 20  # bytes: the first region that TensorFlow asks for
RECORDED = """
+8/256@0 +12288/12288@256:RandomStandardNormal +12288/12288@12544:Mul +12288/12288@24832:AddV2 -0 -256 -12544
+8/256@0 +192/256@256:RandomStandardNormal +192/256@512:Mul +192/256@768:AddV2 -0 -256 -512 +8/256@0
+24576/24576@37120:RandomStandardNormal +24576/24576@61696:Mul +24576/24576@86272:AddV2 -0 -37120 -61696
+200/256@0:VarHandleOp +8/256@256 +15360/23808@1024:RandomStandardNormal +15360/15360@37120:Mul
+15360/15360@52480:AddV2 -256 -1024 -37120 +200/256@256:VarHandleOp +8/256@512 +160/256@37120:RandomStandardNormal
+160/256@37376:Mul +160/256@37632:AddV2 -512 -37120 -37376 +200/256@512:VarHandleOp +18432/18432@67840:MatMul
+18432/23808@1024:Relu -67840 +7680/14592@37888:MatMul +7680/7680@67840:Relu -37888 +192/256@37120:MatMul
+192/256@37376:Sub +192/256@75520:Pow +8/256@75776 +4/256@76032:Mean +8/256@76288 +8/256@76544 +192/256@76800:Tile
-76544 +4/256@76544 +192/256@77056:RealDiv -76800 -75776 +192/256@75776:Mul +4/256@76800:Sub +192/256@77312:Pow
-76800 +192/256@76800:Mul -75776 -77312 -77056 -37376 -75520 +192/256@37376:Neg -37120 -37376
+7680/9216@77056:MatMul +160/256@37120:MatMul -76800 +7680/14592@37888:ReluGrad -77056 +18432/18432@110848:MatMul
+15360/15360@129280:MatMul -37888 +18432/18432@144640:ReluGrad -110848 -1024 +24576/24576@163072:MatMul -144640
+24576/24576@187648:Mul -187648 +15360/18432@110848:Mul -110848 +160/256@37376:Mul -37376 -129280 -163072 -24832
-768 -52480 -256 -86272 -0 -67840 -37632 -512 -76032 -37120
"""


# %%
def training_step() -> None:
    """One step of a small network with two hidden layers, by hand."""
    x, y = tf.random.normal([48, 64]), tf.random.normal([48, 1])
    weights = [tf.Variable(tf.random.normal(shape)) for shape in ([64, 96], [96, 40], [40, 1])]
    with tf.GradientTape() as tape:
        hidden = x
        for w in weights[:-1]:
            hidden = tf.nn.relu(hidden @ w)
        loss = tf.reduce_mean((hidden @ weights[-1] - y) ** 2)
    for w, gradient in zip(weights, tape.gradient(loss, weights), strict=True):
        w.assign_sub(0.01 * gradient)


def recorded(job: Callable[[], None]) -> list[Event]:
    """Runs a job under the profiler and reads what the allocator did; offsets are from the lowest address."""
    import tempfile
    from pathlib import Path

    import tensorflow as tf
    from tensorflow.tsl.profiler.protobuf.xplane_pb2 import XSpace

    with tempfile.TemporaryDirectory(prefix="tflabs-tensor-") as folder:
        with tf.profiler.experimental.Profile(folder):
            job()
        (path,) = Path(folder).rglob("*.xplane.pb")
        space = XSpace.FromString(path.read_bytes())
    found = []
    for plane in space.planes:
        for line in plane.lines:
            for event in line.events:
                kind = plane.event_metadata[event.metadata_id].name
                if kind in ("MemoryAllocation", "MemoryDeallocation"):
                    stats = {plane.stat_metadata[stat.metadata_id].name: stat for stat in event.stats}
                    found.append((line.timestamp_ns * 1000 + event.offset_ps, kind, plane.stat_metadata, stats))
    found.sort(key=lambda entry: entry[0])
    base = min(stats["addr"].uint64_value or stats["addr"].int64_value for *_, stats in found)
    events = []
    for _, kind, metadata, stats in found:
        number = {name: stat.uint64_value or stat.int64_value for name, stat in stats.items()}
        if kind == "MemoryDeallocation":
            events.append(Event("free", 0, 0, number["addr"] - base, ""))
        else:
            op = stats["tf_op"].str_value or metadata[stats["tf_op"].ref_value].name if "tf_op" in stats else ""
            events.append(Event("allocate", number["requested_bytes"], number["allocation_bytes"], number["addr"] - base, op))
    return events


environment = {"TF_CPU_ALLOCATOR_USE_BFC": "1", "TF_ENABLE_ONEDNN_OPTS": "0", "TF_USE_LEGACY_KERAS": "1"}
now = in_fresh_process(recorded, training_step, env=environment).value
kept = read_events(RECORDED)
same = next((n for n, (a, b) in enumerate(zip(now, kept, strict=False)) if a != b), min(len(now), len(kept)))
print(f"{len(kept)} events in the record, {len(now)} just now; the first {same} are equal")
view.memory_map(kept, title="The first training step of a process, in its first region of memory")

# %% [markdown]
# Follow one column upwards: those are the bytes at one moment. The three large `AddV2` are the input and the two larger
# weights: the last of the ops that draw numbers. What the ops before them needed is a hole soon, and others fill it.
# The large orange part is not rounding: a `Relu` of 18432 bytes got a hole of 23808, *whole*. Cutting would have left
# 5376 bytes.
#
# That is the one rule that is not in the list above. A chunk is **split** only if it is at least twice the rounded
# request, or if 128 MiB or more would be left. Else it is given whole, so that memory does not fill with crumbs.
#
# Free chunks are kept in 21 **bins** by size, each bin for sizes from 256·2ᵏ bytes on, each sorted by size, then by
# address. The bins make the search short; they do not change what is found.

# %%
view.memory_strip(kept[:79], size=REGION, title="The same region after 79 events")


# %% [markdown]
# ### Exercise 7 · Best fit with coalescing (5 points)
#
# Write the class `Allocator`. `Allocator(size)` manages one region of `size` bytes, a multiple of 256, of which
# nothing is in use. There is no memory behind it: chunks are known by their offset, in bytes from the region's start.
#
# - `allocate(n)` rounds n (an `int`, at least 1) up to a multiple of 256, takes the smallest free chunk that is large
#   enough (of equal ones the one with the lowest offset), and returns its offset (`int`). The chunk is split if its
#   size is at least twice the rounded request, or if at least 128 MiB (2²⁷ bytes) would be left; the lower part is
#   given away. Else it is given whole. No chunk is large enough: `MemoryError`, and nothing has changed.
# - `free(offset)` gives the chunk back that begins there, and joins it with its free neighbours, on both sides. No
#   chunk in use begins there (also: it was freed already): `ValueError`, and nothing has changed.
# - `in_use` (an attribute or property, `int`): the bytes of all chunks in use; not what was asked for, what was given.
# - `largest_free` (`int`): the largest n for which `allocate(n)` would succeed now, 0 if there is none.
#
# `replay(allocator, trace)`, given below, plays a trace: a list of `("allocate", bytes)` and `("free", index)`, where
# the index counts the allocates of the trace from 0. For a region of 4096 bytes:
#
# ```
# >>> [step.offset for step in replay(Allocator(4096), [("allocate", 1000), ("allocate", 300), ("free", 0), ("allocate", 700)])]
# [0, 1024, None, 0]
# ```
#
# The last request is rounded to 768 and gets the hole of 1024 bytes whole: it is not twice as large. `in_use` is then
# 1024 + 512 = 1536. The tests replay what TensorFlow recorded and random traces, of small and of very large regions.
#
# <details><summary>Hint 1</summary>
#
# Two dicts from offset to size, one for free chunks and one for those in use, say everything. Best fit is one `min`.
# Who is the neighbour on the right? The chunk that begins where this one ends. And on the left?
# </details>
#
# <details><summary>Hint 2</summary>
#
# ```
# def allocate(self, n):
#     need = …
#     size, offset = …        the smallest such pair of a free chunk with size >= need; none: MemoryError
#     …                       it is not free any more
#     if …:                   to be split: the rest is free from offset + need on, and size is need
#     …
# ```
#
# In `free`, look for the free chunk that ends at the offset first, then for the one that begins at the end.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-replay", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
class Step(NamedTuple):
    """An allocator after one event; offset: of the chunk given away, None for a free or a `MemoryError`. Given."""

    offset: int | None
    in_use: int
    largest_free: int


Trace = list[tuple[str, int]]


def replay(allocator: Any, trace: Trace) -> list[Step]:
    """What an allocator does on a trace. A free of an allocate that failed is left out. Given."""
    offsets, steps = [], []
    for kind, number in trace:
        offset = None
        if kind == "allocate":
            with suppress(MemoryError):
                offset = allocator.allocate(number)
            offsets.append(offset)
        elif offsets[number] is not None:
            allocator.free(offsets[number])
        steps.append(Step(offset, allocator.in_use, allocator.largest_free))
    return steps


def trace_of(events: list[Event]) -> Trace:
    """The trace of a record: what was asked for, and which of it was given back. Given."""
    live, trace, count = {}, [], 0
    for event in events:
        if event.kind == "free":
            trace.append(("free", live.pop(event.offset)))
        else:
            live[event.offset] = count
            trace.append(("allocate", event.requested))
            count += 1
    return trace


# %% nbgrader={"grade": false, "grade_id": "bfc", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
class Allocator:
    """Best fit with coalescing over one region of `size` bytes. Offsets and sizes in bytes.

    in_use: the bytes of all chunks in use. largest_free: the largest request that would succeed.
    """

    ### BEGIN SOLUTION
    def __init__(self, size: int) -> None:
        self._free, self._used = {0: size}, {}

    @property
    def in_use(self) -> int:
        return sum(self._used.values())

    @property
    def largest_free(self) -> int:
        return max(self._free.values(), default=0)

    def allocate(self, n: int) -> int:
        need = -(-n // 256) * 256
        fitting = [(size, offset) for offset, size in self._free.items() if size >= need]
        if not fitting:
            raise MemoryError(f"no free chunk of {need} bytes, the largest has {self.largest_free}")
        size, offset = min(fitting)
        del self._free[offset]
        if size >= 2 * need or size - need >= 128 << 20:
            self._free[offset + need] = size - need
            size = need
        self._used[offset] = size
        return offset

    def free(self, offset: int) -> None:
        if offset not in self._used:
            raise ValueError(f"no chunk in use begins at {offset}")
        size = self._used.pop(offset)
        size += self._free.pop(offset + size, 0)
        for left, its_size in self._free.items():
            if left + its_size == offset:
                self._free[left] = its_size + size
                return
        self._free[offset] = size

    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "bfc-test", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
trace = [("allocate", 1000), ("allocate", 300), ("free", 0), ("allocate", 700), ("allocate", 2561)]
found = answer_to("the trace of five events in a region of 4096 bytes", (), replay, Allocator(4096), trace)
due = [Step(0, 1024, 3072), Step(1024, 1536, 2560), Step(None, 512, 2560), Step(0, 1536, 2560), Step(None, 1536, 2560)]
for number, (mine, theirs) in enumerate(zip(found, due, strict=True)):
    assert mine == theirs, f"event {number}, {trace[number]}: {theirs} is due; yours is {mine}"


### BEGIN HIDDEN TESTS
ANOTHER = """
+8/256@0 +1332/1536@256 +1332/1536@1792 +1332/1536@3328 -0 -256 -1792 +8/256@0 +1332/1536@256 +1332/1536@1792
+1332/1536@4864 -0 -256 -1792 +8/256@0 +1332/1536@256 +1332/1536@1792 +1332/1536@6400 -0 -256 -1792 +8/256@0
+76320/76544@7936 +76320/76544@84480 +76320/76544@161024 -0 -7936 -84480 +200/256@0 +8/256@256 +1908/2816@512 -256
+8/256@256 +1908/2048@7936 -256 +3240/3328@9984 +7632/7680@13312 +1908/2048@20992 +1908/2048@23040 +1908/2048@25088
+1908/2048@27136 -13312 +1908/2048@13312 +1908/2048@15360 +1908/3584@17408 +1908/2048@29184 +1908/2048@31232
+1908/2048@33280 +1908/2048@35328 +1908/2048@37376 +1908/2048@39424 -512 +3240/3328@41472 +7632/7680@44800
+1908/3072@256 +1908/2048@52480 +1908/2048@54528 +1908/2048@56576 -44800 -20992 -23040 -25088 -27136
+1908/2048@44800 +1908/2048@46848 +1908/3584@48896 +1908/2048@20992 +1908/2048@23040 +1908/2048@25088
+1908/2048@27136 +1908/2048@58624 +1908/2048@60672 +3240/3328@62720 +7632/7680@66048 +1908/2048@73728
+1908/2048@75776 +1908/2048@77824 +1908/2048@79872 -66048 -256 -52480 -54528 -56576 +1908/3072@256 +1908/2048@52480
+1908/2048@54528 +1908/2048@56576 +1908/2048@66048 +1908/2048@68096 +1908/3584@70144 +1908/2048@81920
+1908/2048@83968 +1908/2048@86016 +8/256@88064 +4/256@88320 +8/256@88576 +8/256@88832 +1908/2048@89088 -88832 -88064
-86016 +1908/2304@86016 +1908/2048@91136 -89088 +1908/2304@88832 -91136 -86016 +1908/2304@86016 +1908/2048@91136
-88832 +1908/2304@88832 -86016 -70144 +1908/2304@86016 -91136 -81920 -66048 -52480 +1908/2048@52480 +1908/2048@66048
-25088 +1908/2048@25088 +1908/2048@81920 -88832 +1908/3584@70144 -66048 -256 +1908/2048@66048 -25088 -54528
+1908/2048@25088 -81920 -56576 +7632/7680@88832 -25088 -86016 -70144 -66048 +3240/3584@70144 +76320/76544@237568
-88832 -62720 +8/256@25088 +1332/1792@25344 +1908/2048@81920 -70144 -60672 -25344 +1908/2304@86016 +1908/3072@256
-81920 +1908/2048@81920 -86016 -27136 +1908/2304@86016 -256 -58624 +1908/3072@256 -81920 -52480 -23040 -46848
+1908/2048@23040 +1908/2048@46848 -33280 +1908/2048@33280 +1908/2048@81920 -256 +1908/3072@256 -46848 -44800
+1908/3584@70144 -33280 -48896 +1908/2048@33280 -81920 -20992 +7632/7680@44800 -33280 -86016 -256 -70144
+3240/3584@70144 +76320/76544@314112 -44800 -41472 +8/256@20992 +1332/1792@21248 +1908/2048@33280 -70144 -39424
-21248 +1908/2048@81920 +1908/2304@86016 -33280 +1908/2048@33280 -81920 -35328 +1908/2048@35328 -86016 -37376
+1908/2048@81920 -33280 -23040 -31232 -15360 +1908/2048@15360 +1908/2304@86016 -7936 -15360 +1908/2048@7936
+1908/2048@15360 -81920 +1908/2048@81920 -86016 -13312 +1908/2048@13312 -7936 -17408 +1908/2048@7936 -15360 -29184
+7632/9984@25344 -7936 -35328 -81920 -13312 +76320/76544@390656 -25344 -9984 +76320/76544@467200 -390656 -314112
-237568 +76320/76544@237568 -467200 -237568 -4864 -3328 -83968 -68096 -161024 -0 -6400 -73728 -75776 -77824 -79872
-88320
"""


def bfc_steps(size, trace):
    """What TensorFlow's allocator does on a trace: a Step for each event, and the sizes of the chunks given.

    tests/oracle/test_oracle_bfc.py runs it against `BFCAllocator` itself.
    """
    cuts, taken, offsets, steps, sizes = [0, size], set(), [], [], []
    for kind, number in trace:
        begins = cuts[:-1]
        given = None
        if kind != "free":
            need = max(256, (number + 255) // 256 * 256)
            holes = [(cuts[i + 1] - cut, cut) for i, cut in enumerate(begins) if cut not in taken and cuts[i + 1] - cut >= need]
            if holes:
                hole, given = min(holes)
                taken.add(given)
                if hole >= 2 * need or hole - need >= 128 * 1024 * 1024:
                    cuts = sorted([*cuts, given + need])
            offsets.append(given)
        elif offsets[number] is not None:
            taken.remove(offsets[number])
            # A border between two free chunks vanishes.
            cuts = [c for i, c in enumerate(cuts) if c in (0, size) or c in taken or cuts[i - 1] in taken]
        spans = [(cut, cuts[i + 1] - cut) for i, cut in enumerate(cuts[:-1])]
        used = sum(length for cut, length in spans if cut in taken)
        steps.append(Step(given, used, max([length for cut, length in spans if cut not in taken], default=0)))
        sizes.append(dict(spans).get(given) if given is not None else None)
    return steps, sizes


def random_trace(rng, events, largest, frees):
    """Requests of all orders of magnitude up to `largest`; a share of the events gives one of them back."""
    made, live = [], []
    for _ in range(events):
        if live and rng.random() < frees:
            made.append(("free", live.pop(rng.randrange(len(live)))))
        else:
            live.append(sum(kind == "allocate" for kind, _ in made))
            made.append(("allocate", max(1, int(largest ** rng.uniform(0.45, 1)))))
    return made


def written_traces():
    """One trace for each rule."""
    mib = 1 << 20

    def take(*numbers):
        return [("allocate", number) for number in numbers]

    def back(*indices):
        return [("free", index) for index in indices]

    yield "a split at exactly twice the request", 4096, [*take(1024, 256), *back(0), *take(512, 256)]
    yield "a chunk of one unit less than twice is given whole", 4096, [*take(768, 256), *back(0), *take(300, 256)]
    yield "equal holes: the lowest", 8192, [*take(512, 256, 512, 256, 512, 256), *back(4, 0, 2), *take(300, 300, 300)]
    yield "the best hole is not the first", 8192, [*take(2048, 256, 512, 256), *back(0, 2), *take(500, 256)]
    yield "joined on both sides", 4096, [*take(1024, 1024, 1024, 1024), *back(0, 2, 1), *take(3072)]
    yield "joined on the left", 4096, [*take(1024, 1024, 2048), *back(0, 1), *take(2048)]
    yield "joined on the right", 4096, [*take(1024, 1024, 2048), *back(1, 0), *take(2048)]
    yield "no free chunk at all, and the whole region again", 1024, [*take(1024, 1), *back(0), *take(1024)]
    yield "free bytes in two holes", 4096, [*take(1024, 1024, 1024, 1024), *back(0, 2), *take(1025, 2048, 1024)]
    yield "a byte above a multiple of 256", 2048, [*take(257, 256, 1, 1024), *back(1), *take(2)]
    yield "128 MiB would be left", 600 * mib, [*take(400 * mib, 200 * mib), *back(0), *take(272 * mib, 1)]
    yield "one unit less than 128 MiB would be left", 600 * mib, [*take(400 * mib, 200 * mib), *back(0), *take(272 * mib + 1, 1)]


def assert_steps(case, trace, found, due):
    """Compare step by step and say where the first difference is."""
    assert len(found) == len(due), f"{case}: {len(due)} steps are due, found {len(found)}"
    for number, (mine, theirs) in enumerate(zip(found, due, strict=True)):
        assert [type(entry) for entry in mine] == [type(entry) for entry in theirs], f"{case}: event {number}: {theirs} is due; yours is {mine!r}"
        assert mine == theirs, f"{case}: event {number}, {trace[number]} after {trace[max(0, number - 6):number]}: TensorFlow's allocator gives {theirs}; yours {mine}"


def assert_refused(allocator, offset, case):
    """A free of something that is not in use raises ValueError and changes nothing."""
    before = (allocator.in_use, allocator.largest_free)
    try:
        answer_to(case, (ValueError,), allocator.free, offset)
    except ValueError:
        pass
    else:
        raise AssertionError(f"{case}: a ValueError is due")
    after = (allocator.in_use, allocator.largest_free)
    assert after == before, f"{case}: in_use and largest_free stay {before}; they are {after}"


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
for case, size, trace in written_traces():
    assert_steps(case, trace, answer_to(case, (), replay, Allocator(size), trace), bfc_steps(size, trace)[0])
for case, size, largest, frees in [("small", 16384, 4000, 0.4), ("large", 96 << 20, 20 << 20, 0.45), ("huge", 3 << 30, 700 << 20, 0.4)]:
    trace = random_trace(rng, 90, largest, frees)
    case = f"seed {seed}: a random trace in a {case} region of {size} bytes"
    with withheld("tensorflow.raw_ops.Empty", "tensorflow.zeros"):
        found = answer_to(case, (), replay, Allocator(size), trace)
    assert_steps(case, trace, found, bfc_steps(size, trace)[0])
for case, text in [("the training step that was recorded", RECORDED), ("another run that was recorded", ANOTHER)]:
    events = read_events(text)
    steps_there, used = [], 0
    found = answer_to(case, (), replay, Allocator(REGION), trace_of(events))
    for number, (event, mine) in enumerate(zip(events, found, strict=True)):
        due = event.offset if event.kind == "allocate" else None
        assert mine.offset == due, f"{case}: event {number}, {event}: yours is at {mine.offset}"
    in_use_there = bfc_steps(REGION, trace_of(events))[0][-1].in_use
    assert found[-1].in_use == in_use_there, f"{case}: in the end {in_use_there} bytes are in use; yours {found[-1].in_use}"
allocator = Allocator(4096)
for number in (1000, 300, 300):
    allocator.allocate(number)
allocator.free(0)
for offset, why in [(0, "it was freed already"), (256, "it is inside of a free chunk"), (1280, "it is inside of a chunk in use"), (2048, "it is free"), (4096, "the region ends there")]:
    assert_refused(allocator, offset, f"free({offset}): {why}")
### END HIDDEN TESTS

# %% [markdown] after_passing="bfc"
# All offsets are TensorFlow's: those of two recorded runs, and those of a reference that the tests of this course check
# against `BFCAllocator` itself. `AllocateRawInternal`, `FindChunkPtr`, `SplitChunk` and `Coalesce`
# (xla/tsl/framework/bfc_allocator.cc) do it with chunks in a doubly linked list and free ones in bins, so that no
# request looks at all of them. Our two dicts look at every free chunk, which is the same choice made slowly.

# %% [markdown]
# ## 7. Against the real thing
#
# Your allocator and the one in this process get the same 200 events, about half of them requests. `tf.raw_ops.Empty`
# gives memory without touching it. First it asks for 64 MiB, for which the system must be asked for a region: its
# address is the base. The requests that follow have 2.1 MiB or more, too much for the region of 2 MiB in which the
# small tensors of this notebook live, so all of them end in the large one.
#
# (If you have made large tensors in this notebook, some requests find room where they were. Restart the kernel then.)

# %%
def live_offsets(trace: Trace, size: int) -> list[int | None]:
    """Where this process's allocator puts the requests of a trace, in bytes from the base of a new region."""
    region = tf.raw_ops.Empty(shape=[size], dtype=tf.uint8)
    base = address(region)
    del region
    tensors, offsets = [], []
    for kind, number in trace:
        if kind == "free":
            tensors[number] = None
            continue
        tensors.append(tf.raw_ops.Empty(shape=[number], dtype=tf.uint8))
        offset = address(tensors[-1]) - base
        offsets.append(offset if 0 <= offset < size else None)  # None: in another region
    return offsets


draw = random.Random(4)
trace, live = [], []
while len(trace) < 200:
    if len(live) > draw.randrange(8):
        trace.append(("free", live.pop(draw.randrange(len(live)))))
    else:
        live.append(sum(kind == "allocate" for kind, _ in trace))
        trace.append(("allocate", int(draw.uniform(2.1, 9) * 2**20)))

theirs = live_offsets(trace, 64 << 20)
written = globals().get("Allocator")  # None until exercise 7 is solved
if written:
    steps = replay(written(64 << 20), trace)
    mine = [step.offset for step, (kind, _) in zip(steps, trace, strict=True) if kind == "allocate"]
    equal = sum(a == b for a, b in zip(mine, theirs, strict=True))
    print(f"{equal} of {len(theirs)} offsets are equal")
else:
    print("Allocator is not written yet. TensorFlow's first offsets:", theirs[:4])

# %% [markdown]
# ## Play
#
# Above: a region of 8 KiB, moved by hand through *your* `Allocator`. Below: the recorded step, event by event, as it
# was. Make the region refuse a request although more than twice as many bytes are free. With how few chunks in use can
# you do that? And in the recorded run: at which event is the first chunk given whole, and which hole was it?
#
# <details><summary>Answers</summary>
#
# Two. Give away 2560, 256, 2560 and 256, and free the two large ones: 7680 bytes are free, in three holes of 2560, and
# 2561 are refused. With one chunk in use there are at most two holes, and the larger has at least half of what is free.
# In the record it is the 24th event: 15360 bytes get the hole of 23808 between `y` and `x` that two tensors of the
# first draw had left.
# </details>

# %%
view.memory_player(read_events(RECORDED), globals().get("Allocator"), size=REGION)

# %% [markdown]
# ## Read on
#
# | what | where in TensorFlow 2.21 |
# | --- | --- |
# | a tensor, its views, its proto | core/framework/tensor.h, tensor.cc: `Tensor`, `TensorBuffer`, `Tensor::Slice`, `Tensor::FromProto` |
# | when rows may be a view | core/framework/ops_util.h: `IsDim0SliceAligned`, `IsInnerDimsSizeAligned`; core/kernels/strided_slice_op.cc, split_op.cc |
# | shapes known in part | core/framework/partial_tensor_shape.h, tensor_shape.h; shape_inference.h: `InferenceContext` |
# | shape functions | core/framework/common_shape_fns.cc; beside each op in core/ops/*.cc |
# | inference over a graph | core/common_runtime/shape_refiner.cc: `ShapeRefiner::AddNode`; core/grappler/costs/graph_properties.cc |
# | outputs, and inputs that become outputs | core/framework/op_kernel.cc: `allocate_output`, `forward_input_or_allocate_output` |
# | the allocator | xla/tsl/framework/bfc_allocator.h, bfc_allocator.cc; core/common_runtime/process_state.cc: `GetCPUAllocator` |
#
# What changed since 1.x: the allocator moved from core/common_runtime to TSL, which XLA and TensorFlow share, and can
# give whole regions back to the system (`garbage_collection` in its options). Shape functions were Python first, then
# C++ that Python called for each op; today `TF_FinishOperation` (c/c_api.cc) runs them when it adds a node.
# For a `tf.function` the shapes of the arguments choose the graph, and `None` in a `TensorSpec` keeps it general.
#
# Types and shapes are known, memory is there. What lab 3-5 adds is the executor that asks for it: it runs a step in
# local mode, branches and loops included.

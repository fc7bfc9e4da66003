# %% [markdown]
# # The machine-learning workflow
#
# A model is trained by a job: bytes come from a disk, become batches, move parameters, and the parameters go back to a
# disk. What are the parts of such a job, what must each of them promise to the next, and which of them is holding the
# others up?
#
# At the end you have read TensorFlow's record files byte by byte, built the stages of an input pipeline, written a
# training loop as a graph with a queue, trained the same model with `tf.data` and `tf.function` so that it can be
# stopped and continued as if nothing had happened, and computed from a recorded trace which half of a job is the
# bottleneck.
#
# 110 minutes · 19 points · Before this lab: 1-3 (client, master and worker; how one step of a graph is executed).
#
# When you have saved, `./tflabs check 1-4-workflow` or Check on the start page grades your answers, also with tests
# that you do not see here.

# %% [markdown]
# ## What lab 1-3 left
#
# In lab 1-3 one graph went through four stages. A client **constructed** it. A master cut it down to what a step
# needs and **partitioned** it along the devices. Each part was **registered** with a worker, which answered with a
# handle. And by handle the parts were **executed**, with one rendezvous for the tensors that cross. That was one
# step, on values that the client had.
#
# A training job takes that step thousands of times. So the questions change. Where do the values come from, and who
# fetches them while the last step is still running? What does a step leave behind for the next one? And what is needed
# on disk so that another process can take the next step? Lab 2-5 goes deep into input, lab 2-6 into training that
# survives. This lab goes once from end to end.

# %% nbgrader={"grade": false, "grade_id": "given-imports", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
from tflabs.runtime import quiet

with quiet():
    import tensorflow as tf

import contextlib
import copy
import random
import re
import struct
import tempfile
import threading
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from tensorflow.core.framework.step_stats_pb2 import StepStats
from tensorflow.python.lib.io import _pywrap_record_io as record_io

from tflabs.runtime import SharedFolder, plain_config, shared_folder, withheld

tf1 = tf.compat.v1
GraphDef = tf1.GraphDef

# %% [markdown]
# ## 1. Look: a job from end to end
#
# The data: examples of a linear function of three numbers, y = w·x + b. Each example is a `tf.train.Example`, a
# protocol buffer that maps names to lists, serialised to bytes. A file of such records is made for each cell that needs
# one, in a temporary folder that goes away with the cell.

# %% nbgrader={"grade": false, "grade_id": "given-records", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
FEATURES = {"x": tf.io.FixedLenFeature([3], tf.float32), "y": tf.io.FixedLenFeature([], tf.float32)}
TRUE_W, TRUE_B = (1.0, -2.0, 0.5), 0.25


def example(x: np.ndarray, y: float) -> bytes:
    """A serialised `tf.train.Example` with the float32 lists "x" and "y". Given."""
    lists = {"x": x, "y": [y]}
    feature = {name: tf.train.Feature(float_list=tf.train.FloatList(value=list_)) for name, list_ in lists.items()}
    return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()


def examples(count: int, seed: int) -> list[bytes]:
    """Serialised examples of y = TRUE_W · x + TRUE_B, with x of shape [3]. Given."""
    rng = np.random.default_rng(seed)
    return [example(x, float(x @ np.array(TRUE_W) + TRUE_B)) for x in rng.normal(size=(count, 3))]


@contextlib.contextmanager
def records_file(records: list[bytes]) -> Iterator[str]:
    """The path of a TFRecord file with these records; file and folder are gone after the `with` block. Given."""
    with tempfile.TemporaryDirectory(prefix="tflabs-workflow-") as folder:
        path = str(Path(folder) / "train.tfrecord")
        with tf.io.TFRecordWriter(path) as writer:
            for record in records:
                writer.write(record)
        yield path


# %% [markdown]
# The whole job, as it is written today. `tf.data` opens the file, cuts it into records, repeats it, makes batches and
# parses them. `GradientTape` differentiates. `tf.function` makes the step one graph. Count the parts: source, pipeline,
# step, loop.

# %%
parse = partial(tf.io.parse_example, features=FEATURES)  # strings [batch] become x, [batch, 3], and y, [batch]
w, b = tf.Variable(tf.zeros(3)), tf.Variable(0.0)


@tf.function(autograph=False)
def train_step(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    with tf.GradientTape() as recording:
        loss = tf.reduce_mean((tf.linalg.matvec(x, w) + b - y) ** 2)
    gradients = recording.gradient(loss, [w, b])
    w.assign_sub(0.1 * gradients[0])
    b.assign_sub(0.1 * gradients[1])
    return loss


with records_file(examples(40, seed=1)) as path:
    data = Path(path).read_bytes()
    dataset = tf.data.TFRecordDataset(path).repeat().batch(8).map(parse)
    for number, batch in enumerate(dataset.take(61)):
        loss = train_step(batch["x"], batch["y"])
        if number % 15 == 0:
            print(f"step {number:2}: loss {float(loss):.6f}")
print("learned ", w.numpy().round(3), b.numpy().round(3), " true ", TRUE_W, TRUE_B)

# %% [markdown]
# What is on the disk? The first record of that file, field by field:

# %%
from tflabs import view

first = next(iter(examples(1, seed=1)))
parsed = parse(tf.constant([first]))
meaning = "a tf.train.Example: x = " + ", ".join(f"{value:.3f}" for value in parsed["x"][0].numpy())
view.record_fields(data, f"{meaning}; y = {float(parsed['y'][0]):.3f}", title="The first record")

# %% [markdown]
# Now the job in time. The op `tf.timestamp` reads the time where it stands in a graph, so each batch can carry the
# moments at which the pipeline began and finished it; the training step notes its own. To have something to see, the
# records are wider here (4,000 numbers), the input half adds noise to them, and the model has a hidden layer.

# %%
WIDE = {"x": tf.io.FixedLenFeature([4000], tf.float32), "y": tf.io.FixedLenFeature([], tf.float32)}


def wide_examples(count: int) -> list[bytes]:
    return [example(x, float(x[0])) for x in np.random.default_rng(0).normal(size=(count, 4000))]


@tf.autograph.experimental.do_not_convert
def timed_input(records: tf.Tensor) -> tuple[tf.Tensor, ...]:
    """A batch, and when the pipeline began and finished it, in seconds."""
    began = tf.timestamp()
    with tf.control_dependencies([began]):
        parsed = tf.io.parse_example(records, WIDE)
        x = parsed["x"] + 0.1 * tf.random.normal([32, 4000])
    with tf.control_dependencies([x, parsed["y"]]):
        return x, parsed["y"], began, tf.timestamp()


def timed_job(path: str, prefetch: int) -> list[view.Span]:
    """Steps −3 to 10: when each half worked. `prefetch` batches may be made before they are asked for."""
    hidden, out = tf.Variable(tf.random.normal([4000, 128]) * 0.01), tf.Variable(tf.random.normal([128, 1]) * 0.1)

    @tf.function(autograph=False)
    def step(x: tf.Tensor, y: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        began = tf.timestamp()
        with tf.control_dependencies([began]), tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.tanh(x @ hidden) @ out - y[:, None]) ** 2)
        gradients = tape.gradient(loss, [hidden, out])
        moved = [hidden.assign_sub(1e-4 * gradients[0]), out.assign_sub(1e-4 * gradients[1])]
        with tf.control_dependencies(moved):
            return began, tf.timestamp()

    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False  # else tf.data puts a prefetch at the end by itself
    dataset = tf.data.TFRecordDataset(path).repeat().batch(32).map(timed_input).with_options(options)
    spans = []
    for number, (x, y, *made) in enumerate(islice(dataset.prefetch(prefetch) if prefetch else dataset, 14)):
        trained = step(x, y)
        for lane, (began, ended) in [("input", made), ("training", trained)]:
            spans.append(view.Span(lane, float(began) * 1e6, float(ended) * 1e6, str(number - 3)))
    return spans


def eight_steps(spans: list[view.Span]) -> tuple[list[view.Span], np.ndarray]:
    """What lies between the end of step −1 and that of step 7; and the µs of each of these 8 steps, end to end."""
    ends = [span.end for span in spans if span.lane == "training"][2:11]  # the steps before build and warm up
    cut = [(span, max(span.start, ends[0]), min(span.end, ends[-1])) for span in sorted(spans, key=lambda s: s.lane)]
    inside = [view.Span(span.lane, start, end, span.label) for span, start, end in cut if start < end]
    return inside, np.diff(ends)


with records_file(wide_examples(64)) as wide_path:
    in_turn, each_in_turn = eight_steps(timed_job(wide_path, prefetch=0))
    ahead, each_ahead = eight_steps(timed_job(wide_path, prefetch=2))
axis = max(each_in_turn.sum(), each_ahead.sum())  # one scale for both pictures
for how, each in [("without", each_in_turn), ("with", each_ahead)]:
    print(f"median time of a step, {how} prefetch: {np.median(each) / 1000:.1f} ms")
view.activity(in_turn, title="Without prefetch: eight steps, one half at a time", length=axis)

# %%
view.activity(ahead, title="With prefetch(2): the next batches are made while a step runs", length=axis)


# %% [markdown]
# The numbers in the bars are batches; both pictures go from the end of step −1 to the end of step 7. Without
# `prefetch`, batch 1 is begun when training asks for it: one half at a time. The gaps belong to neither half: Python
# between the two calls.
#
# With `prefetch`, a thread of `tf.data` makes the next batches while a step runs. On a busy machine the two may come
# out alike; look at whether bars overlap, not at the length. How much can be saved depends on which half is the
# longer one. Section 6 finds out, from a trace; first come the parts.
#
# ## 2. Records
#
# A TFRecord file has no header, no index and no end mark. It is one record after the other, each with four fields, as
# in the picture above:
#
# | bytes | field |
# | --- | --- |
# | 8 | length of the payload, unsigned, little-endian |
# | 4 | masked checksum of these 8 bytes, little-endian |
# | length | payload |
# | 4 | masked checksum of the payload, little-endian |
#
# The checksum is CRC-32C. It is stored **masked**, because a checksum over bytes that contain checksums of the same
# kind is weak: rotate the 32 bits of the CRC right by 15, then add `0xa282ead8` modulo 2³².
#
# What does TensorFlow's reader say about damaged files? Three records, damaged in four ways:

# %%
def read_by_tensorflow(data: bytes) -> list[bytes] | str:
    """The records of a file with these bytes, or what TensorFlow says instead."""
    with records_file([]) as path:
        Path(path).write_bytes(data)
        try:
            return list(tf.data.TFRecordDataset(path).as_numpy_iterator())
        except tf.errors.DataLossError as error:
            return re.search(r"\w+ record at \d+", error.message)[0]


with records_file([b"first", b"second", b"third"]) as path:
    whole = Path(path).read_bytes()
flipped = bytearray(whole)
flipped[12] ^= 1  # one bit of the first payload
wrong_length = bytearray(whole)
wrong_length[21] ^= 1  # one bit of the second length
print("whole                         ", read_by_tensorflow(whole))
print("a bit of a payload is wrong   ", read_by_tensorflow(bytes(flipped)))
print("a bit of a length is wrong    ", read_by_tensorflow(bytes(wrong_length)))
print("ends within the third payload ", read_by_tensorflow(whole[:-6]))
print("ends within the third header  ", read_by_tensorflow(whole[:50]))


# %% [markdown]
# The last line deserves a second look: a file that was cut within a header reads as a shorter file, without a word.
#
# ### Exercise 1 · A file of records (3 points)
#
# Write `read_records(data) -> list[bytes]`. `data` is the content of a TFRecord file (`bytes`); the result is the list
# of payloads, in order. Given is `crc32c(data: bytes) -> int`, the checksum before it is masked.
#
# - A wrong checksum raises `tf.errors.DataLossError` with `corrupted record at N` in its message, as TensorFlow's
#   reader does: if it is the length's, N is the offset at which the record begins; if it is the payload's, the offset
#   at which the payload begins.
# - Data that end after the 12 bytes of a header, but within its payload or the payload's checksum, raise
#   `DataLossError` with `truncated record at N`, where N is the offset at which the record begins.
# - Data that end within the 12 bytes of a header end the file; the records before it are returned.
# - When an error is raised, nothing is returned. A payload may be empty.
#
# The error is made as `tf.errors.DataLossError(None, None, "corrupted record at 0")`. TensorFlow's readers of records
# and calls of a `tf.function` are withheld while the tests run your code.
#
# ```
# >>> read_records(whole)
# [b'first', b'second', b'third']
# ```
#
# <details><summary>Hint 1</summary>
#
# Keep one number, the offset at which the next record begins, and go on as long as 12 bytes are left from there.
# `struct.unpack("<Q", …)` reads a length, `"<I"` a checksum.
# </details>
#
# <details><summary>Hint 2</summary>
#
# A function `check(content, stored, offset)` of your own compares the masked `crc32c(content)` with the four bytes
# `stored`; it serves both checksums. Rotating right by 15 is `crc >> 15 | crc << 17`, cut to 32 bits. Check the
# length before you believe it.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-crc", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def crc_table() -> list[int]:
    """The CRC-32C of each byte by itself, without the inversions at both ends."""
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


CRC_TABLE = crc_table()


def crc32c(data: bytes) -> int:
    """The CRC-32C (Castagnoli) of `data`, not masked. Given."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC_TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


# %% nbgrader={"grade": false, "grade_id": "read-records", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def read_records(data: bytes) -> list[bytes]:
    """The payloads of a TFRecord file, in order.

    Raises:
        tf.errors.DataLossError: a checksum is wrong ("corrupted record at N"), or the data end within a payload or its
            checksum ("truncated record at N").
    """
    ### BEGIN SOLUTION
    records, offset = [], 0
    while offset + 12 <= len(data):
        check(data[offset : offset + 8], data[offset + 8 : offset + 12], offset)
        (length,) = struct.unpack_from("<Q", data, offset)
        start, end = offset + 12, offset + 12 + length
        if end + 4 > len(data):
            raise tf.errors.DataLossError(None, None, f"truncated record at {offset}")
        check(data[start:end], data[end : end + 4], start)
        records.append(data[start:end])
        offset = end + 4
    return records


def check(content: bytes, stored: bytes, offset: int) -> None:
    """Refuses content whose masked checksum is not the one that is stored."""
    crc = crc32c(content)
    masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    if stored != struct.pack("<I", masked):
        raise tf.errors.DataLossError(None, None, f"corrupted record at {offset}")
    ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "given-outcome", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
# What tests withhold in exercise 1: what reads records, also by a way around.
TF_READERS = (
    "tensorflow.data.Dataset",
    "tensorflow.compat.v1.Session",
    "tensorflow.python.lib.io._pywrap_record_io.RecordIterator",
    "tensorflow.python.lib.io._pywrap_record_io.RandomRecordReader",
    *(f"tensorflow.python.ops.gen_dataset_ops.tf_record_dataset{version}" for version in ("", "_v2")),
    "tensorflow.python.eager.execute.quick_execute",  # ops by name, functions that were traced before
)


def outcome(function: Callable[..., object], *args: object) -> object:
    """What a call returned, or the exception that it raised."""
    try:
        return function(*args)
    except Exception as error:
        return error


def telling(result: object) -> str:
    """A result in one line: its repr, or what an exception says."""
    if type(result) in (GraphDef, tf.Graph):
        return f"a {type(result).__name__}"
    if not isinstance(result, Exception):
        return " ".join(repr(result).split())[:200]
    said, wrapping = getattr(result, "message", str(result)), ("Graph exec", "Detected", "Node:", " ")
    lines = [line for line in said.splitlines() if line.strip() and not line.startswith(wrapping)]
    return f"{type(result).__name__}: {lines[0] if lines else ''}"


def assert_records(got: object, want: list[bytes] | str, where: str) -> None:
    """Assert that `got` is this list of `bytes`, or a DataLossError whose message holds these words."""
    if type(want) is str:
        assert type(got) is tf.errors.DataLossError, f"{where}: DataLossError ({want}) is due; found {telling(got)}"
        said = re.search(r"(corrupted|truncated) record at \d+", got.message)
        assert said, f"{where}: the message must hold {want!r}; it is {got.message!r}"
        assert said[0] == want, f"{where}: the message must hold {want!r}; it says {said[0]!r}"
        return
    assert type(got) is list, f"{where}: a list of {len(want)} records is due; found {telling(got)}"
    kinds = sorted({type(record).__name__ for record in got})
    assert kinds in ([], ["bytes"]), f"{where}: every record is bytes, found {', '.join(kinds)}"
    assert got == want, f"{where}: the records are {want}; found {got}"


# %% nbgrader={"grade": true, "grade_id": "read-records-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
with records_file([b"first", b"second", b"third"]) as file:
    content = Path(file).read_bytes()
broken = bytearray(content)
broken[12] ^= 1
with withheld(*TF_READERS):
    answers = [outcome(read_records, data) for data in (content, content[:50], content[:-6], bytes(broken))]
assert_records(answers[0], [b"first", b"second", b"third"], "three records")
assert_records(answers[1], [b"first", b"second"], "the file ends within the third header")
assert_records(answers[2], "truncated record at 43", "the file ends within the third payload")
assert_records(answers[3], "corrupted record at 12", "one bit of the first payload is wrong")


### BEGIN HIDDEN TESTS
def by_tensorflow(content):
    """The records of a file with these bytes, by the reader that `TFRecordDataset` has; or the words of its error."""
    with records_file([]) as path:
        Path(path).write_bytes(content)
        try:
            return list(record_io.RecordIterator(path, ""))
        except tf.errors.DataLossError as error:
            return re.search(r"(corrupted|truncated) record at \d+", error.message)[0]


def written(records):
    """The bytes of a TFRecord file with these records."""
    with records_file(records) as path:
        return Path(path).read_bytes()


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
files = [("an empty file", b"")]
two = written([b"", b"a record"])
files += [(f"two records, cut after {cut} of {len(two)} bytes", two[:cut]) for cut in range(len(two) + 1)]
one_bit_each = [0, 4, 7, 8, 11, 12, 15, 16, 23, 24, 27, 28, 35, 36, 39]  # in every field of both records
for number in range(35):
    payloads = [rng.randbytes(rng.choice([0, 1, 5, 20])) for _ in range(rng.randrange(1, 4))]
    data = bytearray(two if number < 15 else written(payloads))
    place = one_bit_each[number] if number < 15 else rng.randrange(len(data))
    if number < 28:
        data[place] ^= 1 << rng.randrange(8)
    files.append((f"a file {f'with byte {place} changed' if number < 28 else 'as it was written'}", bytes(data)))
with withheld(*TF_READERS):
    mine = [outcome(read_records, data) for _, data in files]
for (what, data), got in zip(files, mine, strict=True):
    assert_records(got, by_tensorflow(data), f"seed {seed}: {what}, {data!r}")
### END HIDDEN TESTS

# %% [markdown] after_passing="read-records"
# You read what `tf.io.TFRecordWriter` wrote and refused what TensorFlow refuses, with its words:
# `RecordReader::ReadRecord` and `ReadChecksummed` (xla/tsl/lib/io/record_reader.cc); the mask is `crc32c::Mask`
# (xla/tsl/lib/hash/crc32c.h). There too the length has a checksum of its own, checked first: a wrong length would make
# everything behind it unreadable. A cut header is no error there because the stream reports the end of the file, which
# the reader passes on.

# %% [markdown]
# ## 3. Stages
#
# A pipeline is a chain of stages. Each has one input and gives elements to whoever asks. Nothing moves until the last
# stage is asked; then it asks its input, and so on down to the file. What comes out depends on their order:

# %%
five = tf.data.Dataset.range(5)
print("batch(2), then repeat(2):", [part.tolist() for part in five.batch(2).repeat(2).as_numpy_iterator()])
print("repeat(2), then batch(2):", [part.tolist() for part in five.repeat(2).batch(2).as_numpy_iterator()])

# %% [markdown]
# ### Exercise 2 · Batch, then repeat? (1 point)
#
# A dataset has 10 elements, a batch 4; the data are read 3 times. How many batches come out? Set `batches` to a tuple
# of four `int`, for these pipelines in this order:
#
# 1. `dataset.batch(4).repeat(3)`
# 2. `dataset.batch(4, drop_remainder=True).repeat(3)`
# 3. `dataset.repeat(3).batch(4)`
# 4. `dataset.repeat(3).batch(4, drop_remainder=True)`
#
# Decide before you run anything. For the five elements above, in batches of 2, read twice: `(6, 4, 5, 5)`.

# %% nbgrader={"grade": false, "grade_id": "batch-count", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
# batches = (..., ..., ..., ...)  four numbers of batches
### BEGIN SOLUTION
batches = (9, 6, 8, 7)
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "batch-count-test", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
assert type(batches) is tuple, f"batches is a tuple of four int; it is a {type(batches).__name__}"
assert [type(count) for count in batches] == [int] * 4, f"batches is a tuple of four int; it is {batches!r}"
### BEGIN HIDDEN TESTS
ten = tf.data.Dataset.range(10)
chains = [ten.batch(4).repeat(3), ten.batch(4, drop_remainder=True).repeat(3)]
chains += [ten.repeat(3).batch(4), ten.repeat(3).batch(4, drop_remainder=True)]
counted = tuple(len(list(chain.as_numpy_iterator())) for chain in chains)
differ = sum(mine != real for mine, real in zip(batches, counted, strict=True))
assert batches == counted, (
    f"{differ} of the four numbers differ from what TensorFlow counts. Ask of each pipeline: what does the second stage "
    "get from the first, and how often does a short batch occur, once in each epoch or once in all?"
)
### END HIDDEN TESTS

# %% [markdown] after_passing="batch-count"
# Each stage knows only its input: `repeat` repeats batches if batches are what it gets. That is why training pipelines
# repeat first when every batch shall be full, and batch first when an epoch shall end where the data end.
# `drop_remainder` belongs to `batch` (`BatchDatasetOp`, core/kernels/data/batch_dataset_op.cc) and drops whatever is
# short when *its* input ends.

# %% [markdown]
# ### Exercise 3 · Stages in order (3 points)
#
# Write `pipeline(source, stages) -> Iterator`. `source` is a function without arguments: each call opens the input anew
# and returns an iterator over `int`. `stages` is a list of tuples, the first stage first:
#
# | stage | gives |
# | --- | --- |
# | `("take", n)` | the first n elements; all with n = −1 |
# | `("skip", n)` | all but the first n; with n = −1 no element at all |
# | `("repeat", n)` | its input n times over, n ≥ 0, opened again for each epoch |
# | `("shard", shards, index)` | elements number index, index + shards, index + 2 · shards, … counted from 0 |
# | `("batch", size, drop_remainder)` | lists of `size` elements; the last may be shorter, unless `drop_remainder` |
# | `("unbatch",)` | the elements of its input's lists, one by one |
#
# - The result is an iterator: `next(result)` gives an element, and it ends when the elements do. Batches are of type
#   `list`.
# - No stage asks its input for an element before it needs it to give one. `take` never asks for one too many, and
#   `("take", 0)`, `("repeat", 0)` and `("skip", -1)` ask for none. A source may be endless.
# - An unknown stage raises `ValueError` in the call of `pipeline`, not at the first `next`.
#
# `tf.data` is withheld while the tests run your code.
#
# ```
# >>> def seven(): return iter(range(7))
# >>> list(pipeline(seven, [("shard", 2, 1), ("repeat", 2), ("batch", 4, False)]))
# [[1, 3, 5, 1], [3, 5]]
# ```
#
# <details><summary>Hint 1</summary>
#
# `repeat` must be able to open *its* input again, and that input is a chain of stages, not the source. So what each
# stage gets should not be an iterator, but a function that opens one.
# </details>
#
# <details><summary>Hint 2</summary>
#
# `run(stage, open_input)` is a generator for one stage; `open_input()` opens what is before it. `pipeline` wraps
# `source` in one stage after the other with `partial(run, stage, opened)` and calls the last. A generator runs nothing
# before its first `next`, so `pipeline` itself must not be one. `islice` is most of `take`, `skip`, `shard`.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-stage", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
Stage = tuple[str | int | bool, ...]  # such as ("take", 3)


# %% nbgrader={"grade": false, "grade_id": "pipeline", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def pipeline(source: Callable[[], Iterator[int]], stages: list[Stage]) -> Iterator:
    """Chain stages behind a source; nothing is drawn from it before the first element is asked for.

    Raises:
        ValueError: a stage is unknown.
    """
    ### BEGIN SOLUTION
    opened = source
    for stage in stages:
        if stage[0] not in ("take", "skip", "repeat", "shard", "batch", "unbatch"):
            raise ValueError(f"there is no stage {stage[0]!r}")
        opened = partial(run_stage, stage, opened)
    return opened()


def run_stage(stage: Stage, open_input: Callable[[], Iterator]) -> Iterator:
    """The elements of one stage; its input is opened when the first of them is asked for."""
    match stage:
        case ("take", count):
            yield from islice(open_input(), None if count < 0 else count)
        case ("skip", count) if count >= 0:
            yield from islice(open_input(), count, None)
        case ("repeat", count):
            for _ in range(count):
                yield from open_input()
        case ("shard", shards, index):
            yield from islice(open_input(), index, None, shards)
        case ("batch", size, drop_remainder):
            elements = open_input()
            while len(batch := list(islice(elements, size))) == size:
                yield batch
            if batch and not drop_remainder:
                yield batch
        case ("unbatch",):
            for batch in open_input():
                yield from batch
    ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "given-stages", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
FAR = 2000  # a source that should be endless gives up after so many elements, so that a test ends


class Counted:
    """A source of the numbers 0 … size − 1; counts how often it was opened and how many were drawn. Given."""

    def __init__(self, size: int) -> None:
        self.size, self.opened, self.drawn = size, 0, 0

    def open(self) -> Iterator[int]:
        """An opening counts from the first element on that is asked for."""
        self.opened += 1
        for number in range(self.size):
            self.drawn += 1
            if self.drawn > FAR:
                raise RuntimeError(f"more than {FAR} elements were drawn from an endless source")
            yield number


def drawn_by(run: Callable[[Callable, list[Stage]], Iterator], size: int, stages: list[Stage], asked: int) -> tuple:
    """The elements that a pipeline gives when it is asked `asked` times, and the counts of its source."""
    source, elements = Counted(size), []
    iterator = run(source.open, stages)
    with contextlib.suppress(StopIteration):
        while len(elements) < asked:
            elements.append(next(iterator))
    return elements, source.opened, source.drawn


def random_stages(rng: random.Random) -> list[Stage]:
    """Up to six stages with at most one level of batches."""
    stages, batched = [], False
    for _ in range(rng.randint(1, 6)):
        kind = rng.choice(["take", "skip", "repeat", "shard", "unbatch" if batched else "batch"])
        if kind in ("take", "skip"):
            stages.append((kind, rng.choice([-1, 0, 1, 2, 3, 5] if kind == "take" else [-1, 0, 0, 1, 2, 3])))
        elif kind == "repeat":
            stages.append((kind, rng.randint(0, 3) or rng.randint(0, 3)))
        elif kind == "shard":
            shards = rng.randint(1, 3)
            stages.append((kind, shards, rng.randrange(shards)))
        elif kind == "batch":
            stages.append((kind, rng.randint(1, 4), rng.random() < 0.5))
        else:
            stages.append((kind,))
        batched = kind == "batch" or (batched and kind != "unbatch")
    return stages


# %% nbgrader={"grade": true, "grade_id": "pipeline-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
with withheld("tensorflow.data.Dataset"):
    shown = outcome(drawn_by, pipeline, 7, [("shard", 2, 1), ("repeat", 2), ("batch", 4, False)], 50)
    early = outcome(pipeline, Counted(3).open, [("take", 2), ("shuffle", 3)])
    first_of_many = outcome(drawn_by, pipeline, 10**9, [("skip", 2), ("batch", 3, True), ("take", 1)], 5)
assert type(shown) is tuple, f"shard, repeat, batch: the pipeline raised {shown!r}"
due = "[[1, 3, 5, 1], [3, 5]]"
assert repr(shown[0]) == due, f"shard, repeat, batch must give {due}; got {shown[0]}"
assert shown[1] == 2, f"repeat(2) opens its input anew for each epoch: 2 openings are due, found {shown[1]}"
assert type(early) is ValueError, f"an unknown stage must raise ValueError in the call of pipeline; found {early!r}"
assert type(first_of_many) is tuple, f"skip, batch, take on an endless source: the pipeline raised {first_of_many!r}"
assert repr(first_of_many[0]) == "[[2, 3, 4]]", f"skip, batch, take must give [[2, 3, 4]]; got {first_of_many[0]}"
assert first_of_many[2] == 5, (
    f"skip(2), batch(3), take(1): 5 elements must be drawn for its one batch, found {first_of_many[2]}"
)


### BEGIN HIDDEN TESTS
def elements_of(dataset, stages):
    """An iterator over the same stages of `tf.data`, with nothing added that reads ahead."""
    for kind, *parts in stages:
        if kind == "batch":
            dataset = dataset.batch(parts[0], drop_remainder=parts[1])
        else:
            dataset = getattr(dataset, kind)(*parts)
    return (element.tolist() for element in dataset.with_options(nothing_added).as_numpy_iterator())


def opened_anew():
    """Opens the source that `counted_source` holds: one dataset serves all cases."""
    return counted_source[0].open()


def real_draws(size, stages, asked):
    """What TensorFlow gives when it is asked so often, and what it has drawn by then."""
    counted_source[:] = [Counted(size)]
    given = list(islice(elements_of(generated, stages), asked))
    return given, counted_source[0].opened, counted_source[0].drawn


nothing_added = tf.data.Options()
nothing_added.experimental_optimization.inject_prefetch = False
nothing_added.experimental_optimization.apply_default_optimizations = False
nothing_added.autotune.enabled = False
counted_source = []
generated = tf.data.Dataset.from_generator(opened_anew, output_signature=tf.TensorSpec([], tf.int64))
seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
chains = [(rng.randrange(4, 16), random_stages(rng)) for _ in range(14)]
chains += [(6, [("batch", 4, True), ("repeat", 2)]), (6, [("batch", 4, False), ("repeat", 2)])]
chains += [(8, [("shard", 3, 2)]), (5, [("take", -1)]), (5, [("skip", -1)]), (4, [])]
chains += [(8, [("batch", 4, False)]), (0, [("batch", 3, False)]), (5, [("take", 7), ("skip", 1)])]
chains += [(6, [("batch", 2, False), ("shard", 2, 1), ("unbatch",)]), (5, [("repeat", 3), ("batch", 4, True)])]
draws = [(10**9, [("take", 3)], 4), (5, [("take", 0)], 1), (5, [("repeat", 2)], 5), (5, [("repeat", 2)], 6)]
draws += [(5, [("repeat", 2)], 11), (10**9, [("shard", 3, 1)], 2), (10**9, [("batch", 2, False), ("unbatch",)], 3)]
draws += [(5, [("skip", -1)], 1), (5, [("repeat", 0)], 1), (4, [("take", 2), ("repeat", 3), ("skip", 1)], 3)]
with withheld("tensorflow.data.Dataset"):
    mine = [outcome(drawn_by, pipeline, size, list(stages), 500) for size, stages in chains]
    mine_drawn = [outcome(drawn_by, pipeline, size, list(stages), asked) for size, stages, asked in draws]
for (size, stages), got in zip(chains, mine, strict=True):
    assert type(got) is tuple, f"seed {seed}: {size} elements, stages {stages}: the pipeline raised {got!r}"
    want = list(elements_of(tf.data.Dataset.range(size), stages))
    assert repr(got[0]) == repr(want), f"seed {seed}: {size} elements, stages {stages} must give {want}; got {got[0]}"
for (size, stages, asked), got in zip(draws, mine_drawn, strict=True):
    what = f"{'an endless source' if size == 10**9 else f'{size} elements'}, stages {stages}, asked {asked} times"
    assert type(got) is tuple, f"{what}: the pipeline raised {got!r}"
    want = real_draws(size, stages, asked)
    assert repr(got[0]) == repr(want[0]), f"{what}: must give {want[0]}; got {got[0]}"
    assert got[1:] == want[1:], (
        f"{what}: TensorFlow opens the source {want[1]} times and draws {want[2]} elements; you {got[1]} and {got[2]}"
    )
unknown = [[("shuffle", 2)], [("batch", 2, True), ("cache",), ("take", 1)], [("map", 1)]]
with withheld("tensorflow.data.Dataset"):
    refused = [outcome(pipeline, Counted(3).open, stages) for stages in unknown]
for stages, got in zip(unknown, refused, strict=True):
    assert type(got) is ValueError, f"stages {stages}: ValueError is due in the call of pipeline; found {got!r}"
### END HIDDEN TESTS

# %% [markdown] after_passing="pipeline"
# Your chain gave what `tf.data` gives and drew no element more. TensorFlow does it the same way: a `DatasetBase` only
# describes a stage and can make an iterator as often as it is asked; the iterator's `GetNext` calls the `GetNext` of
# its input (core/framework/dataset.h; a file for each stage in core/kernels/data, such as repeat_dataset_op.cc). Ours
# hands down functions that open, because that is what a dataset is: `repeat` needs the description, not the iterator.

# %% [markdown]
# ## 4. The loop as a graph
#
# Before `tf.data` the input half lived in the training graph too. The two halves met at a **queue**, a node with state
# like a variable: ops put elements in, ops take them out, and whoever finds it full or empty waits. Each half was a
# `session.run` of its own, in a thread of its own, on one graph:

# %%
with tf.Graph().as_default() as meeting:
    numbers = tf1.placeholder(tf.float32, [None], name="numbers")
    queue = tf.queue.FIFOQueue(capacity=8, dtypes=[tf.float32], shapes=[[]], name="queue")
    put, size, close = queue.enqueue_many([numbers], name="put"), queue.size(), queue.close(name="close")
    mean = tf.reduce_mean(queue.dequeue_many(3, name="three"), name="mean")
with tf1.Session(graph=meeting, config=plain_config()) as session:
    session.run(put, {numbers: [1, 2, 3, 4, 5, 6, 7]})
    print("size", session.run(size), "· mean of three", session.run(mean), "· size", session.run(size))
    session.run(close)
    print("closed · mean of three", session.run(mean), "· size", session.run(size))
    try:
        session.run(mean)
    except tf.errors.OutOfRangeError as error:
        print("OutOfRangeError:", re.search(r"FIFOQueue.*\)", error.message)[0])

# %%
view.graph(meeting, title="Two halves that meet at a queue")


# %% [markdown]
# A queue that is closed gives what it still has, as long as that fills what is asked for; then the reader gets an error
# instead of waiting for ever. `dequeue_many` needs to know the shape of an element beforehand (`shapes`); the graph
# builds without it, the step then fails.
#
# ### Exercise 4 · The loop as a graph (4 points)
#
# Write `training_graph(capacity, batch, rate) -> GraphDef`: the job of section 1 as one graph. `FEATURES` says how to
# parse a record (x: float32 [3], y: float32 scalar). The graph has these nodes, by these names:
#
# | name | is | does |
# | --- | --- | --- |
# | `records` | placeholder, strings, `[None]` | |
# | `enqueue` | target | puts the fed records into a FIFO queue of `capacity` records |
# | `init` | target | sets the parameters to zeros; the queue stays as it is |
# | `train` | target | takes `batch` records from the queue, parses them, and does one step of gradient descent |
# | `loss:0` | float32 scalar | fetched together with `train`: the loss *before* the step, on the same batch |
# | `w:0`, `b:0` | float32 `[3]` and scalar | the values of the parameters (fetched in a step of their own) |
# | `size:0` | int32 scalar | how many records are in the queue |
# | `close` | target | closes the queue |
#
# The loss is the mean over the batch of (w·x + b − y)²; a step subtracts `rate` times its gradient. A step takes
# `batch` records from the queue, whether `loss:0` is fetched with it or not. After `close`, `train` raises
# `OutOfRangeError` when it finds fewer than `batch`. `batch > capacity` raises `ValueError` in the call of
# `training_graph`.
#
# The tests import the graph and run it in a session, beside a loop with `GradientTape`. Losses and parameters must
# agree to float32 rounding.
#
# ```
# >>> sorted(node.op for node in training_graph(64, 8, 0.1).node if "Queue" in node.op)
# ['FIFOQueueV2', 'QueueCloseV2', 'QueueDequeueManyV2', 'QueueEnqueueManyV2', 'QueueSizeV2']
# ```
#
# <details><summary>Hint 1</summary>
#
# Everything hangs on one `dequeue_many`: `loss` and `train` must both lie behind that single node. A node called `w`
# cannot be the variable itself, for `w:0` of a resource variable is a handle: give the variable another name and
# `tf.identity` of its `read_value()` the name `w`.
# </details>
#
# <details><summary>Hint 2</summary>
#
# `tf.queue.FIFOQueue(capacity, [tf.string], shapes=[[]])`, its `enqueue_many`, `size`, `close`; `tf.io.parse_example`
# on the dequeued strings; `tf1.get_variable(…, use_resource=True)` twice; `tf.reduce_mean(…, name="loss")`;
# `tf1.train.GradientDescentOptimizer(rate).minimize(loss, name="train")`;
# `tf1.variables_initializer([…], name="init")`.
# </details>

# %% nbgrader={"grade": false, "grade_id": "session-graph", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def training_graph(capacity: int, batch: int, rate: float) -> GraphDef:
    """The graph of a training job whose halves meet at a queue of `capacity` serialised records.

    Raises:
        ValueError: a batch does not fit into the queue.
    """
    ### BEGIN SOLUTION
    if batch > capacity:
        raise ValueError(f"a batch of {batch} never fits into a queue of {capacity}")
    with tf.Graph().as_default() as drawn:
        queue = tf.queue.FIFOQueue(capacity, [tf.string], shapes=[[]], name="queue")
        queue.enqueue_many([tf1.placeholder(tf.string, [None], name="records")], name="enqueue")
        queue.close(name="close")
        tf.identity(queue.size(), name="size")
        weights = tf1.get_variable("weights", initializer=np.zeros(3, np.float32), use_resource=True)
        bias = tf1.get_variable("bias", initializer=np.float32(0), use_resource=True)
        parsed = tf.io.parse_example(queue.dequeue_many(batch), FEATURES)
        w = tf.identity(weights.read_value(), name="w")
        b = tf.identity(bias.read_value(), name="b")
        loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2, name="loss")
        w_gradient, b_gradient = tf1.gradients(loss, [w, b])
        tf.group(weights.assign_sub(rate * w_gradient), bias.assign_sub(rate * b_gradient), name="train")
        tf1.variables_initializer([weights, bias], name="init")
    return drawn.as_graph_def()
    ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "given-jobs", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
PATIENCE_MS = 4000  # a step that takes longer is taken for one that waits for ever
JOB_NODES = ("records", "enqueue", "init", "train", "loss", "w", "b", "size", "close")


class TapeJob(NamedTuple):
    """What a training job gave: losses before each step, on the same batch after it, then w [3] and b [], float32."""

    losses: list[float]
    losses_after: list[float]
    w: np.ndarray
    b: np.ndarray


@tf.function(
    autograph=False,
    input_signature=[tf.TensorSpec(shape) for shape in ([None, 3], [None], [3], [])],
)
def tape_step(x: tf.Tensor, y: tf.Tensor, w: tf.Tensor, b: tf.Tensor) -> tuple[tf.Tensor, ...]:
    """The loss of the linear model on a batch of any size, and its gradients by w and b. Given."""
    with tf.GradientTape() as recording:
        recording.watch([w, b])
        loss = tf.reduce_mean((tf.linalg.matvec(x, w) + b - y) ** 2)
    return loss, *recording.gradient(loss, [w, b])


def tape_job(path: str, batch: int, rate: float, steps: int) -> TapeJob:
    """Train on a file, in order, over and over, from zeros. Given."""
    w, b, losses, losses_after = tf.zeros(3), tf.constant(0.0), [], []
    for taken in tf.data.TFRecordDataset(path).repeat().batch(batch).take(steps):
        values = tf.io.parse_example(taken, FEATURES)
        loss, w_gradient, b_gradient = tape_step(values["x"], values["y"], w, b)
        w, b = w - rate * w_gradient, b - rate * b_gradient
        losses.append(float(loss))
        losses_after.append(float(tape_step(values["x"], values["y"], w, b)[0]))
    return TapeJob(losses, losses_after, w.numpy(), b.numpy())


@contextlib.contextmanager
def imported(graph: GraphDef) -> Iterator[Callable]:
    """Imports a graph into a new session; gives a function `run(fetches, feeds=None, patience=…)`. Given.

    A step that the runtime refuses, or that waits longer than `patience` in ms, raises tf.errors.OpError.
    """
    with tf.Graph().as_default():
        tf.import_graph_def(graph, name="")
        with tf1.Session(config=plain_config()) as session:

            def run(fetches: object, feeds: dict | None = None, patience: int = PATIENCE_MS) -> object:
                return session.run(fetches, feeds, options=tf1.RunOptions(timeout_in_ms=patience))

            yield run


def ran(run: Callable, what: str, *args: object) -> object:
    """What `run(*args)` returns; AssertionError in words if it raises."""
    result = outcome(run, *args)
    waited = type(result) is tf.errors.DeadlineExceededError
    assert not waited, f"{what}: the step waits for ever. Does it take more from the queue than one batch?"
    assert not isinstance(result, Exception), f"{what}: the step fails with {telling(result)}"
    return result


def assert_close(got: object, want: object, where: str, hint: str = "") -> None:
    """Assert that float32 numbers agree to rounding, shape and type included."""
    try:
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6, strict=True)
    except AssertionError:
        raise AssertionError(f"{where}: expected {want}, found {got!r}{hint}") from None


def assert_loss(got: object, job: TapeJob, step: int, where: str) -> None:
    """Assert that `got` is the loss of `job` before this step."""
    late = type(got) is np.float32 and np.isclose(got, job.losses_after[step], rtol=1e-5, atol=1e-6)
    hint = " (is it the loss after the step?)" if late else ""
    assert_close(got, np.float32(job.losses[step]), f"{where}: loss before step {step}", hint)


def assert_job(graph: object) -> None:
    """Assert that `graph` is a GraphDef with the nodes of exercise 4."""
    assert type(graph) is GraphDef, f"training_graph returns a GraphDef; found {telling(graph)}"
    missing = [name for name in JOB_NODES if name not in {node.name for node in graph.node}]
    assert not missing, f"the graph lacks the nodes {', '.join(missing)}; names are given with name=…"
    handles = [node.name for node in graph.node if node.name in ("w", "b") and node.op == "VarHandleOp"]
    assert not handles, f"{' and '.join(handles)}: a variable's handle; give this name to the variable's value instead"


# %% nbgrader={"grade": true, "grade_id": "session-graph-test", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
graph = outcome(training_graph, 64, 8, 0.1)
assert_job(graph)
records = examples(16, seed=2)
with imported(graph) as run:
    ran(run, "init", "init")
    ran(run, "enqueue", "enqueue", {"records:0": records})
    filled = ran(run, "size after 16 records", "size:0")
    trained = [ran(run, f"step {number}", ["loss:0", "train"])[0] for number in range(2)]
    after = ran(run, "size and parameters", ["size:0", "w:0", "b:0"])
with records_file(records) as file:
    real = tape_job(file, batch=8, rate=0.1, steps=2)
assert filled == 16, f"16 records were put into the queue; size:0 says {filled}"
assert after[0] == 0, f"two steps take two batches of 8 from the queue of 16; size:0 says {after[0]} are left"
assert_loss(trained[0], real, 0, "16 records, batch 8, rate 0.1")
assert_loss(trained[1], real, 1, "16 records, batch 8, rate 0.1")
assert_close(after[1], real.w, "w:0 after two steps")
assert_close(after[2], real.b, "b:0 after two steps")
too_small = outcome(training_graph, 7, 8, 0.1)
assert type(too_small) is ValueError, f"batch 8 and capacity 7 must raise ValueError; found {telling(too_small)}"


### BEGIN HIDDEN TESTS
def check_job(run, real, records, capacity, batch, where):
    """Play a job with a queue that is filled in pieces, beside TensorFlow's own loop over the same records."""
    ran(run, f"{where}, init", "init")
    inside, put = 0, 0
    for number in range(len(real.losses)):
        if inside < batch:
            count = min(capacity - inside, len(records) - put)
            ran(run, f"{where}, enqueue of {count}", "enqueue", {"records:0": records[put : put + count]})
            inside, put = inside + count, put + count
        if number % 4 == 3:
            ran(run, f"{where}, step {number} without a fetch", "train")
        else:
            assert_loss(ran(run, f"{where}, step {number}", ["loss:0", "train"])[0], real, number, where)
        inside -= batch
        if number % 4 > 1:
            size = ran(run, f"{where}, size", "size:0")
            assert size == inside, f"{where}: after step {number} the queue must hold {inside} records, found {size}"
    w, b = ran(run, f"{where}, parameters", ["w:0", "b:0"])
    assert_close(w, real.w, f"{where}: w:0 at the end")
    assert_close(b, real.b, f"{where}: b:0 at the end")


def check_init_and_close(run, real, records, capacity, batch, where):
    """The parameters begin anew, the queue does not; then it is filled, emptied and closed."""
    ran(run, f"{where}, enqueue of {batch - 1}", "enqueue", {"records:0": records[: batch - 1]})
    ran(run, f"{where}, init again", "init")
    left, start = ran(run, f"{where}, size and w", ["size:0", "w:0"])
    assert left == batch - 1, f"{where}: init must leave the queue as it is: {batch - 1} records; size:0 says {left}"
    assert_close(start, np.zeros(3, np.float32), f"{where}: w:0 after init has run again")
    ran(run, f"{where}, enqueue up to the capacity", "enqueue", {"records:0": records[batch - 1 : capacity]})
    over = outcome(run, "enqueue", {"records:0": records[:1]}, 200)
    assert type(over) is tf.errors.DeadlineExceededError, (
        f"{where}: the queue holds {capacity} records: enqueue must wait for room; found {telling(over)}"
    )
    assert_loss(ran(run, f"{where}, a step", ["loss:0", "train"])[0], real, 0, f"{where}, after init has run again")
    for _ in range(capacity // batch - 1):
        ran(run, f"{where}, a step", "train")
    ran(run, f"{where}, close", "close")
    w, ended, w_after = ran(run, f"{where}, w", "w:0"), outcome(run, "train"), ran(run, f"{where}, w", "w:0")
    assert type(ended) is tf.errors.OutOfRangeError, (
        f"{where}: {capacity % batch} records are left in a closed queue; train must raise OutOfRangeError, "
        f"found {telling(ended)}"
    )
    assert_close(w_after, w, f"{where}: w:0 after the step that failed")


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
batches_of_two = rng.randint(5, 9)
for capacity, batch, steps in [(6, 6, 5), (2 * batches_of_two + rng.randint(1, 4), batches_of_two, 15)]:
    rate = rng.choice([0.02, 0.05])
    where = f"seed {seed}: capacity {capacity}, batch {batch}, rate {rate}"
    records = examples(batch * steps, seed=rng.randrange(10**6))
    with records_file(records) as file:
        real = tape_job(file, batch, rate, steps)
    graph = outcome(training_graph, capacity, batch, rate)
    assert_job(graph)
    with imported(graph) as run:
        check_job(run, real, records, capacity, batch, where)
        check_init_and_close(run, real, records, capacity, batch, where)
### END HIDDEN TESTS

# %% [markdown] after_passing="session-graph"
# A session ran your graph and found the losses of the loop with `GradientTape`. One `QueueDequeueManyV2` feeds `loss`
# and `train`, so both speak of the same batch; it waits without holding a thread, and after `close` it fails when it
# cannot be filled: `FIFOQueue::TryDequeueMany` (core/kernels/fifo_queue.cc). Our loss reads the parameters once and the
# step is computed from that read, which is what puts the loss before the step.

# %% [markdown]
# ## 5. Stop and go on
#
# The process dies, or the machine is needed for something else. What must be on disk so that the next process takes the
# next step, as if nothing had happened? The parameters, that is clear. But also how far the job had come, and *which
# record comes next*. Without the last, every restart trains the beginning of the data once more.
#
# `tf.train.Checkpoint` saves a graph of Python objects: variables, and anything else that can save itself, such as an
# iterator of `tf.data`. A name in the file is the path to the value from the root:

# %%
with tempfile.TemporaryDirectory(prefix="tflabs-workflow-") as folder:
    position = iter(tf.data.Dataset.range(100).batch(3))
    saved = tf.train.Checkpoint(counter=tf.Variable(7), position=position)
    next(position), next(position)
    saved.save(str(Path(folder) / "checkpoint"))
    for name, shape in tf.train.load_checkpoint(folder).get_variable_to_shape_map().items():
        print(f"{name:60} {shape}")
    print("then    ", next(position).numpy(), next(position).numpy())
    saved.restore(tf.train.latest_checkpoint(folder))
    print("restored", next(position).numpy(), next(position).numpy())


# %% [markdown]
# ### Exercise 5 · Stop, start, as if nothing had happened (5 points)
#
# Write `train(path, directory, steps, batch=8, rate=0.1) -> list[float]` with `tf.data`, `GradientTape` and
# `tf.function`. It does `steps` steps of the model of section 1 on the TFRecord file `path`, from zeros, and returns
# the loss before each step. The file is read in order, over and over; every batch is full, so batches run across the
# file's end.
#
# - At the end it saves a checkpoint in `directory` (a folder that exists), so that
#   `tf.train.latest_checkpoint(directory)` finds it, with the variables `w` (float32 [3]), `b` (float32 scalar) and
#   `step` (int64, how many steps the job has done in all) under the names `w/.ATTRIBUTES/VARIABLE_VALUE` and so on. How
#   you save where the input is, is up to you.
# - If `directory` holds a checkpoint that `train` saved, it goes on from there, with the next record, and the result is
#   the losses of the new steps. `path`, `batch` and `rate` are then the same as before; `directory` may be a copy of
#   the folder. Finished steps are not done again: their records may by then be others of the same length.
# - `steps=0` returns `[]` and leaves `directory` as it is.
# - The result is a `list` of `float`. What was trained in one directory has no effect on another.
#
# Sessions are withheld. The tests stop and continue jobs, and compare with a session and a queue that never stopped:
#
# ```
# >>> train(path, folder_1, 3) + train(path, folder_1, 4) == train(path, folder_2, 7)   # to rounding
# True
# ```
#
# <details><summary>Hint 1</summary>
#
# What you save decides what you can restore: the checkpoint's root must hold the same objects by the same names in
# every call, and they must exist before `restore`. An iterator is such an object. A number of steps would do as well:
# how many records have been used after `step` steps?
# </details>
#
# <details><summary>Hint 2</summary>
#
# `iterator = iter(tf.data.TFRecordDataset(path).repeat().batch(batch))`; three variables;
# `tf.train.Checkpoint(w=w, b=b, step=step, iterator=iterator)`;
# `tf.train.CheckpointManager(checkpoint, directory, max_to_keep=1)`; then
# `checkpoint.restore(manager.latest_checkpoint)`, which does nothing if there is none. Parse each batch with
# `tf.io.parse_example`, and create no variable inside the `tf.function`.
# </details>

# %% nbgrader={"grade": false, "grade_id": "resume", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def train(path: str, directory: str, steps: int, batch: int = 8, rate: float = 0.1) -> list[float]:
    """Train for some steps from where the checkpoint in `directory` ends; returns the losses before each step.

    Saves the variables w, b and step, and where the input is, in `directory`.
    """
    ### BEGIN SOLUTION
    if steps == 0:
        return []
    iterator = iter(tf.data.TFRecordDataset(path).repeat().batch(batch))
    w, b, step = tf.Variable(tf.zeros(3)), tf.Variable(0.0), tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(w=w, b=b, step=step, iterator=iterator)
    manager = tf.train.CheckpointManager(checkpoint, directory, max_to_keep=1)
    checkpoint.restore(manager.latest_checkpoint)

    @tf.function(autograph=False)  # no Python control flow that were to be converted
    def advance(records: tf.Tensor) -> tf.Tensor:
        parsed = tf.io.parse_example(records, FEATURES)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2)
        w_gradient, b_gradient = tape.gradient(loss, [w, b])
        w.assign_sub(rate * w_gradient)
        b.assign_sub(rate * b_gradient)
        step.assign_add(1)
        return loss

    losses = [float(advance(next(iterator))) for _ in range(steps)]
    manager.save()
    return losses
    ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "given-checkpoints", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
TF_SESSIONS = ("tensorflow.compat.v1.Session", "tensorflow.python.client.session.BaseSession")


def queue_graph() -> GraphDef:
    """A queue's job for any batch and rate; its input half parses the records before it puts them in. Given."""
    with tf.Graph().as_default() as whole:
        parsed = tf.io.parse_example(tf1.placeholder(tf.string, [None], name="records"), FEATURES)
        waiting = tf.queue.FIFOQueue(1000, [tf.float32] * 2, shapes=[[3], []])
        waiting.enqueue_many([parsed["x"], parsed["y"]], name="enqueue")
        x, y = waiting.dequeue_many(tf1.placeholder(tf.int32, [], name="batch"))
        kernel = tf1.get_variable("kernel", initializer=np.zeros(3, np.float32), use_resource=True)
        offset = tf1.get_variable("offset", initializer=np.float32(0), use_resource=True)
        errors = tf.linalg.matvec(x, kernel.read_value()) + offset.read_value() - y
        loss = tf.reduce_mean(errors**2, name="loss")
        optimizer = tf1.train.GradientDescentOptimizer(tf1.placeholder(tf.float32, [], name="rate"))
        optimizer.minimize(loss, name="train")
        tf.identity(kernel.read_value(), name="w")
        tf.identity(offset.read_value(), name="b")
        tf1.variables_initializer([kernel, offset], name="init")
    return whole.as_graph_def()


QUEUE_GRAPH = queue_graph()


def queue_job(records: list[bytes], batch: int, rate: float, steps: int) -> tuple[list[float], np.ndarray, np.ndarray]:
    """Train from zeros, in order, over and over, in a session: the losses before each step, w and b. Given."""
    taken = [records[number % len(records)] for number in range(steps * batch)]
    with imported(QUEUE_GRAPH) as run:
        run("init")
        run("enqueue", {"records:0": taken})
        losses = [float(run(["loss:0", "train"], {"batch:0": batch, "rate:0": rate})[0]) for _ in range(steps)]
        return losses, *run(["w:0", "b:0"])


def record_bytes(records: list[bytes]) -> dict[str, bytes]:
    """The file `train.tfrecord` with these records. Given."""
    with records_file(records) as path:
        return {"train.tfrecord": Path(path).read_bytes()}


def checkpointed(folder: SharedFolder) -> dict[str, np.ndarray]:
    """`w`, `b` and `step` of the latest checkpoint in a folder; AssertionError in words if they are not there."""
    with folder.snapshot() as copy:
        found = tf.train.latest_checkpoint(copy)
        there = sorted(folder.files()) or "no file"
        assert found, f"tf.train.latest_checkpoint finds nothing; the folder holds {there}"
        reader = tf.train.load_checkpoint(found)
        names = {name: f"{name}/.ATTRIBUTES/VARIABLE_VALUE" for name in ("w", "b", "step")}
        missing = [name for name in names.values() if not reader.has_tensor(name)]
        held = sorted(reader.get_variable_to_shape_map())
        assert not missing, f"the checkpoint lacks {', '.join(missing)}; it holds {held}"
        return {name: reader.get_tensor(key) for name, key in names.items()}


def without_sessions(train: Callable, data: SharedFolder, kept: SharedFolder, *args: object) -> object:
    """What `train` on the records in `data`, with `kept` as its directory, returns or raises; without sessions."""
    with withheld(*TF_SESSIONS):
        return outcome(train, f"{data.path}/train.tfrecord", kept.path, *args)


def assert_losses(got: object, want: list[float], where: str, hint: str = "") -> None:
    """Assert that `got` is a list of these losses, `float`, to float32 rounding."""
    assert type(got) is list, f"{where}: train returns a list, found {telling(got)}"
    kinds = sorted({type(loss).__name__ for loss in got})
    assert kinds in ([], ["float"]), f"{where}: every loss is a float, found {', '.join(kinds)}"
    assert len(got) == len(want), f"{where}: {len(want)} losses are due, found {len(got)}"
    for number, (mine, real) in enumerate(zip(got, want, strict=True)):
        assert_close(np.float32(mine), np.float32(real), f"{where}: loss number {number} of this call", hint)


# %% nbgrader={"grade": true, "grade_id": "resume-test", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
records = examples(5, seed=6)  # fewer than one batch
with shared_folder(record_bytes(records)) as data, shared_folder() as kept:
    first_four = without_sessions(train, data, kept, 4)
    before = kept.files()
    none = without_sessions(train, data, kept, 0)
    after = kept.files()
    real_losses, real_w, real_b = queue_job(records, batch=8, rate=0.1, steps=4)
    assert_losses(first_four, real_losses, "four steps on 5 records in batches of 8")
    saved = checkpointed(kept)
assert saved["step"].dtype == np.int64, f"step is an int64, found {saved['step'].dtype}"
assert int(saved["step"]) == 4, f"four steps were done; the checkpoint's step is {saved['step']}"
assert_close(saved["w"], real_w, "w in the checkpoint after four steps")
assert_close(saved["b"], real_b, "b in the checkpoint after four steps")
assert type(none) is list, f"steps=0 returns an empty list, found {none!r}"
assert none == [], f"steps=0 returns an empty list, found {none!r}"
assert before == after, "steps=0 must leave the directory as it is: files have changed"


### BEGIN HIDDEN TESTS
seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
next_record = " (is it the next record that is trained?)"

# A job that is stopped twice; the second time it goes on in a copy of its folder, in the midst of an epoch, and what it
# has read in that epoch has changed meanwhile. What it reads ahead, beyond the end of the file, is not looked at.
before, rate = rng.choice([4, 8, 11]), rng.choice([0.02, 0.05])
used = before * 7 % 24  # records of the last epoch, at most 10, so that two more batches stay in it
where = f"seed {seed}: 24 records, batch 7, rate {rate}"
records = examples(24, seed=rng.randrange(10**6))
losses, w, b = queue_job(records, 7, rate, before + 2)
with shared_folder(record_bytes(records)) as data, shared_folder() as one:
    got = without_sessions(train, data, one, before - 2, 7, rate)
    assert_losses(got, losses[: before - 2], f"{where}, steps 0 to {before - 3}")
    got = without_sessions(train, data, one, 2, 7, rate)
    what = f"{where}, steps {before - 2} and {before - 1} after a restart"
    assert_losses(got, losses[before - 2 : before], what, next_record)
    kept = one.files()
    data.write(record_bytes(examples(used, seed=rng.randrange(10**6)) + records[used:]))
    with shared_folder(kept) as copied:
        got = without_sessions(train, data, copied, 2, 7, rate)
        what = f"{where}, steps {before} and {before + 1} in a copy of the folder; the first {used} records, used, are others"
        assert_losses(got, losses[before:], what, next_record)
        saved = checkpointed(copied)
    assert one.files() == kept, "training in one directory has changed the files of another"
    assert int(saved["step"]) == before + 2, f"{where}: {before + 2} steps were done; the checkpoint says {saved['step']}"
    assert_close(saved["w"], w, f"{where}: w in the checkpoint")
    assert_close(saved["b"], b, f"{where}: b in the checkpoint")
    with shared_folder() as empty:
        assert_losses(without_sessions(train, data, empty, 0), [], f"seed {seed}: no steps in an empty directory")
        left = sorted(empty.files())
    assert left == [], f"steps=0 must leave an empty directory empty; found {left}"
### END HIDDEN TESTS

# %% [markdown] after_passing="resume"
# Stopped or not, the losses are those of a session that never stopped. `Checkpoint` walks your objects and names each
# value by its path (python/checkpoint/checkpoint.py); `BundleWriter` writes them (core/util/tensor_bundle); an iterator
# saves itself by the `Save` of every stage of its chain (`IteratorBase::Save`, core/framework/dataset.h). Ours saves
# the iterator rather than counting records, because then the training loop need not know how the stages count. The
# price: the job that goes on must have the stages that saved; with a shuffle put in, restore fails.

# %% [markdown]
# Two generations of TensorFlow, one job: forty steps by a session and a queue, and by `tf.data` and `tf.function`.

# %%
with records_file(examples(30, seed=1)) as path:
    queued, taped = queue_job(examples(30, seed=1), 8, 0.1, 40), tape_job(path, 8, 0.1, 40)
print("step   queue + session   tf.data + tf.function")
for number in range(0, 40, 8):
    print(f"{number:4}   {queued[0][number]:15.9f}   {taped.losses[number]:21.9f}")
print("largest difference of a loss:", max(abs(old - new) for old, new in zip(queued[0], taped.losses, strict=True)))

# %% [markdown]
# The same losses. What changed between the generations is where the halves live and who drives them, not what is
# computed.
#
# ## 6. Who waits for whom?
#
# A job is as fast as its slower half. To speed up the other one is wasted work, so before anything else one must know
# which it is. The runtime can tell: a session records for each node when it started and when it was done, in
# `StepStats`.
#
# The next cell builds a job with a queue again. Everything in scope `input` parses and adds noise, in a thread that
# fills the queue; everything in scope `training` is the model; between them stand `enqueue`, `queue` and `dequeue`. Two
# knobs: `noise`, how often the input half adds noise, and `hidden`, how wide the model's hidden layer is. `recorded`
# runs both halves at the same time, and collects all steps of both in one `StepStats`. It asks for `SOFTWARE_TRACE`: a
# `FULL_TRACE` occupies the one profiler of the process, and two steps cannot have it at once.

# %% nbgrader={"grade": false, "grade_id": "given-halves", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
WIDTH, BATCH = 2000, 32
WIDE_FEATURES = {"x": tf.io.FixedLenFeature([WIDTH], tf.float32), "y": tf.io.FixedLenFeature([], tf.float32)}


def two_halves(noise: int, hidden: int) -> tf.Graph:
    """A job whose halves meet at a queue of two batches: `enqueue` drives one, `training/train` the other. Given."""
    rng = np.random.default_rng(0)
    with tf.Graph().as_default() as drawn:
        records = tf1.placeholder(tf.string, [None], name="records")
        queue = tf.queue.FIFOQueue(2 * BATCH, [tf.float32] * 2, shapes=[[WIDTH], []], name="queue")
        with tf.name_scope("input"):
            parsed = tf.io.parse_example(records, WIDE_FEATURES)
            x = parsed["x"]
            for _ in range(noise):
                x = x + 0.1 * tf.random.normal([BATCH, WIDTH])
        queue.enqueue_many([x, parsed["y"]], name="enqueue")
        x, y = queue.dequeue_many(BATCH, name="dequeue")
        with tf.name_scope("training"):
            first = np.float32(rng.normal(size=(WIDTH, hidden)) * 0.01)
            inner = tf1.get_variable("inner", initializer=first, use_resource=True)
            outer = tf1.get_variable("outer", initializer=np.full((hidden, 1), 0.1, np.float32), use_resource=True)
            errors = tf.tanh(x @ inner.read_value()) @ outer.read_value() - y[:, None]
            tf1.train.GradientDescentOptimizer(1e-4).minimize(tf.reduce_mean(errors**2), name="train")
        tf1.variables_initializer(tf1.global_variables(), name="init")
    return drawn


def halves(graph: tf.Graph) -> tuple[set[str], set[str]]:
    """The names of the nodes of the input half and of the training half. Given."""
    names = [operation.name for operation in graph.get_operations()]
    return tuple({name for name in names if name.startswith(f"{half}/")} for half in ("input", "training"))


def recorded(graph: tf.Graph, steps: int) -> StepStats:
    """Run both halves at the same time, `steps` times each; what the runtime recorded of all steps. Given."""
    record = np.random.default_rng(1).normal(size=WIDTH)
    feeds, traces = {"records:0": [example(record, 1.0)] * BATCH}, []

    def work(target: str, feeds: dict | None, times: int) -> None:
        for _ in range(times):
            options = tf1.RunOptions(trace_level=tf1.RunOptions.SOFTWARE_TRACE, timeout_in_ms=20_000)
            traces.append(tf1.RunMetadata())
            session.run(target, feeds, options=options, run_metadata=traces[-1])

    with tf1.Session(graph=graph, config=plain_config()) as session:
        session.run("init")
        work("enqueue", feeds, 1)
        work("training/train", None, 1)
        traces.clear()  # the first step of each half makes its executor
        filling = threading.Thread(target=work, args=("enqueue", feeds, steps))
        filling.start()
        work("training/train", None, steps)
        filling.join()
    collected = StepStats()
    for trace in traces:
        collected.MergeFrom(trace.step_stats)
    return collected


# %%
def halves_picture(graph: tf.Graph, stats: StepStats, title: str) -> view.Picture:
    lanes = dict(zip(["input", "training"], halves(graph), strict=True))
    return view.step_activity(stats, lanes, {"dequeue": "training", "enqueue": "input"}, title=title)


noisy, deep = two_halves(noise=4, hidden=8), two_halves(noise=0, hidden=256)
noisy_stats, deep_stats = recorded(noisy, steps=6), recorded(deep, steps=6)
halves_picture(noisy, noisy_stats, "Much noise, a small model")

# %%
halves_picture(deep, deep_stats, "No noise, a large model")

# %% [markdown]
# What a `NodeExecStats` holds, for the longest `dequeue` of the first job, in microseconds:

# %%
longest = max(
    (node for device in noisy_stats.dev_stats for node in device.node_stats if node.node_name == "dequeue"),
    key=lambda node: node.op_end_rel_micros,
)
for field in ("all_start_micros", "op_start_rel_micros", "op_end_rel_micros", "all_end_rel_micros"):
    print(f"{field:20} {getattr(longest, field)}")
print(longest.timeline_label)


# %% [markdown]
# `all_start_micros` is a time since 1970: the executor took the node up. The others count from there: when its kernel
# started, when the kernel was done, when the executor was done with the node. The kernel of a dequeue is asynchronous:
# it starts, finds too little in the queue, gives its thread back, and is *done* when a batch was there. Its bar is a
# wait, not work. That is why neither half holds the queue's nodes.
#
# ### Exercise 6 · Who waits for whom? (3 points)
#
# Write `bottleneck(stats, input_nodes, training_nodes) -> Verdict`. `stats` is a `StepStats`; the sets hold the names
# (`node_name`) of the nodes of each half.
#
# - A node is at work from `all_start_micros + op_start_rel_micros` up to, but not including,
#   `all_start_micros + op_end_rel_micros`. Every entry of every device counts, also when one device has several entries
#   in `dev_stats`. Nodes that are in neither set do not count.
# - `input_only`: the number of microseconds in which at least one node of the input half is at work and none of the
#   training half; `training_only`: the other way round; `both`: those in which both halves work. All three are `int`.
# - `half` is `"input"` or `"training"`, the half that has more microseconds alone, and `"balanced"` if they are equal.
# - If `stats` holds no node of the input half and none of the training half, `ValueError`.
#
# ```
# >>> trace = [("CPU:0", "parse", 100, 0, 30), ("CPU:0", "noise", 100, 20, 50), ("CPU:0", "matmul", 140, 5, 25)]
# >>> bottleneck(stats_of(trace), {"parse", "noise"}, {"matmul"})   # at work: input 100 to 150, training 145 to 165
# Verdict(half='input', input_only=45, training_only=15, both=5)
# ```
#
# <details><summary>Hint 1</summary>
#
# Bars of one half overlap, and a microsecond counts once however many nodes are at work in it. So do not add up
# durations: ask for each stretch of time between two events (a start or an end of any node) who is at work in it.
# </details>
#
# <details><summary>Hint 2</summary>
#
# Make a list of events `(time, half, +1 or -1)`, sort it, and walk along it with a count of nodes at work for each
# half. Before you apply an event, the stretch since the one before belongs to what the counts say.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-verdict", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
class Verdict(NamedTuple):
    """Which half of a job is the bottleneck, and the microseconds that say so. Given."""

    half: str
    input_only: int
    training_only: int
    both: int


def stats_of(executions: list[tuple[str, str, int, int, int]]) -> StepStats:
    """StepStats of executions (device, node, all_start, op_start_rel, op_end_rel) in µs, one entry each. Given."""
    stats = StepStats()
    for device, name, start, op_start, op_end in executions:
        entry = stats.dev_stats.add(device=f"/job:localhost/replica:0/task:0/device:{device}")
        times = {"all_start_micros": start, "op_start_rel_micros": op_start, "op_end_rel_micros": op_end}
        entry.node_stats.add(node_name=name, all_end_rel_micros=op_end + 3, **times)
    return stats


# %% nbgrader={"grade": false, "grade_id": "bottleneck", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def bottleneck(stats: StepStats, input_nodes: set[str], training_nodes: set[str]) -> Verdict:
    """Which half of a job has more microseconds of work alone.

    Raises:
        ValueError: no node of either half is in the trace.
    """
    ### BEGIN SOLUTION
    events = []
    for device in stats.dev_stats:
        for node in device.node_stats:
            if node.node_name in input_nodes | training_nodes:
                half = "input" if node.node_name in input_nodes else "training"
                events.append((node.all_start_micros + node.op_start_rel_micros, half, 1))
                events.append((node.all_start_micros + node.op_end_rel_micros, half, -1))
    if not events:
        raise ValueError("no node of either half is in the trace")
    events.sort()
    working = {"input": 0, "training": 0}
    spent = {(True, False): 0, (False, True): 0, (True, True): 0, (False, False): 0}
    last = events[0][0]
    for moment, half, change in events:
        spent[working["input"] > 0, working["training"] > 0] += moment - last
        working[half] += change
        last = moment
    alone = spent[True, False], spent[False, True]
    verdict = "balanced" if alone[0] == alone[1] else "input" if alone[0] > alone[1] else "training"
    return Verdict(verdict, *alone, spent[True, True])
    ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "given-assert-verdict", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def assert_verdict(got: object, want: Verdict, where: str) -> None:
    """Assert that `got` is exactly this Verdict of a str and three int."""
    assert type(got) is Verdict, f"{where}: a Verdict is due, found {telling(got)}"
    kinds = [type(field).__name__ for field in got]
    assert kinds == ["str", "int", "int", "int"], f"{where}: a Verdict holds a str and three int, found {kinds}"
    assert got == want, f"{where}: the trace says {want}; found {got}"


# %% nbgrader={"grade": true, "grade_id": "bottleneck-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
trace = [("CPU:0", "parse", 100, 0, 30), ("CPU:0", "noise", 100, 20, 50), ("CPU:0", "matmul", 140, 5, 25)]
answer = outcome(bottleneck, stats_of(trace), {"parse", "noise"}, {"matmul"})
assert_verdict(answer, Verdict("input", 45, 15, 5), "parse 100–130, noise 120–150, matmul 145–165")
trace += [("CPU:0", "dequeue", 0, 10, 140), ("CPU:1", "matmul", 200, 4, 44)]
answer = outcome(bottleneck, stats_of(trace), {"parse", "noise"}, {"matmul"})
assert_verdict(answer, Verdict("training", 45, 55, 5), "the same, a dequeue 10–140, and matmul 204–244 on CPU:1")
alone = outcome(bottleneck, stats_of(trace), {"parse"}, set())
assert_verdict(alone, Verdict("input", 30, 0, 0), "of the same trace, parse alone")
nobody = outcome(bottleneck, stats_of(trace), {"read"}, set())
assert type(nobody) is ValueError, f"a trace without a node of either half must raise ValueError; found {nobody!r}"


### BEGIN HIDDEN TESTS
def counted_verdict(stats, input_nodes, training_nodes):
    """The verdict by definition: microsecond by microsecond."""
    at_work = {True: set(), False: set()}
    for device in stats.dev_stats:
        for node in device.node_stats:
            if node.node_name in input_nodes or node.node_name in training_nodes:
                start = node.all_start_micros + node.op_start_rel_micros
                end = node.all_start_micros + node.op_end_rel_micros
                at_work[node.node_name in input_nodes].update(range(start, end))
    alone = len(at_work[True] - at_work[False]), len(at_work[False] - at_work[True])
    half = "balanced" if alone[0] == alone[1] else "input" if alone[0] > alone[1] else "training"
    return Verdict(half, *alone, len(at_work[True] & at_work[False]))


def grouped(stats):
    """The same executions with one entry for each device."""
    together = StepStats()
    for name in sorted({device.device for device in stats.dev_stats}):
        entry = together.dev_stats.add(device=name)
        for device in stats.dev_stats:
            entry.node_stats.extend(device.node_stats if device.device == name else [])
    return together


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
job = two_halves(noise=1, hidden=8)
real = recorded(job, steps=2)
cases = [("a recorded trace", real, *halves(job))]
input_names, training_names = {"parse", "noise", "read"}, {"matmul", "tanh"}
names = ["parse", "parse", "noise", "matmul", "matmul", "tanh", "dequeue", "_SOURCE"]
epoch = 10**15 + rng.randrange(10**9)
traces = [[("CPU:0", "parse", 10, 0, 20), ("CPU:1", "tanh", 10, 30, 50)], [("CPU:0", "noise", 10, 4, 4)]]
for _ in range(30):
    traces.append([])
    for _ in range(rng.randint(2, 9)):
        start = rng.randrange(8)
        end = start + rng.choice([0, 1, rng.randrange(40)])
        traces[-1].append((f"CPU:{rng.randrange(2)}", rng.choice(names), epoch + rng.randrange(60), start, end))
for number, trace in enumerate(traces):
    if any(name in input_names | training_names for _, name, *_ in trace):
        stats = grouped(stats_of(trace)) if number % 2 else stats_of(trace)
        what = f"input {sorted(input_names)}, training {sorted(training_names)}, trace {trace}"
        cases.append((what, stats, input_names, training_names))
one_half = stats_of([("CPU:0", "parse", 10, 0, 20), ("CPU:0", "matmul", 15, 0, 30)])
cases += [("parse 10–30, matmul 15–45, and the input set is empty", one_half, set(), {"matmul"})]
cases += [("parse 10–30, matmul 15–45, and no node of the training set is there", one_half, {"parse"}, {"tanh"})]
for what, stats, inputs, training in cases:
    mine = outcome(bottleneck, copy.deepcopy(stats), set(inputs), set(training))
    assert_verdict(mine, counted_verdict(stats, inputs, training), f"seed {seed}: {what}")
others = stats_of([("CPU:0", "dequeue", 10, 0, 20), ("CPU:0", "_SOURCE", 10, 0, 20)])
for what, stats in [("an empty trace", StepStats()), ("a trace of other nodes", others)]:
    mine = outcome(bottleneck, stats, set(input_names), set(training_names))
    assert type(mine) is ValueError, f"{what} must raise ValueError; found {mine!r}"
### END HIDDEN TESTS

# %% [markdown] after_passing="bottleneck"
# Your verdict is computed from what the executor recorded: `NodeExecStatsInterface`
# (core/common_runtime/step_stats_collector.h) is told when a node is taken up, when its kernel starts and when it is
# done; `all_start_micros` and the rest are what it writes down. Ours walks over events instead of single microseconds,
# so its cost grows with the number of nodes, not with the length of the trace.

# %% [markdown]
# Your verdict on the two jobs that were recorded above:

# %%
print("much noise, a small model:", bottleneck(noisy_stats, *halves(noisy)))
print("no noise, a large model:  ", bottleneck(deep_stats, *halves(deep)))

# %% [markdown]
# ## Play
#
# The two halves with constant costs, and a prefetch of your choice: 0 makes a batch when it is asked for, n lets n
# batches wait. Find settings in which `prefetch` 1 takes nearly all waiting away, apart from the first batch. Then find
# some in which no `prefetch` helps. What is different? And why does 4 change nothing that 1 has not changed already, as
# long as costs are constant?

# %%
view.input_player()

# %% [markdown]
# ## Read on
#
# - Records: `RecordWriter`, `RecordReader` (xla/tsl/lib/io), `Example` (core/example/example.proto),
#   `TFRecordDatasetOp` (core/kernels/data/tf_record_dataset_op.cc), `ParseExampleV2`
#   (core/kernels/example_parsing_ops.cc).
# - Stages: `DatasetBase`, `IteratorBase`, `DatasetIterator` in core/framework/dataset.h. What the runtime adds to your
#   pipeline: `inject_prefetch` and others in python/data/ops/options.py (`OptimizationOptions`).
# - Queues: `QueueInterface` (core/framework/queue_interface.h), `FIFOQueue` (core/kernels/fifo_queue.cc); the threads
#   that filled them: `QueueRunner` (python/training/queue_runner_impl.py). Lab 2-5 builds both.
# - Checkpoints: python/checkpoint, core/util/tensor_bundle. Lab 2-6 reads one without TensorFlow.
# - Traces: `StepStats` (core/framework/step_stats.proto). core/grappler/clusters/single_machine.cc has the problem of
#   section 6 too: at most one hardware trace at a time, so queue runners get a software trace.
#
# What changed since 1.x: queues were nodes of the training graph, and queue runners filled them from Python threads.
# `tf.data` made the input half a graph of its own, behind an iterator, and moved the threads into C++; `tf.function`
# took the place of `session.run` for the training half. What a job must promise stayed: order, whole batches, an end,
# and a state that can be saved as one.

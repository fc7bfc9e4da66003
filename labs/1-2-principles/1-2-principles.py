# %% [markdown]
# # Three design principles
#
# Why are TensorFlow's ops small, why does building a graph compute nothing, and how can one and the same node run on
# devices that share no code? These are three decisions, and each of them is visible in the installed library.
#
# At the end you have put a loss and a layer together from small ops so that their gradients come for free, built a
# tensor that records instead of computing and then computes only what was asked for, read the registry that says which
# device has a kernel for which node, and built that registry yourself.
#
# 90 minutes · 19 points · Before this lab: 1-1 (DistBelief's parameter server, and the same as nodes of a graph).
#
# When you have saved, `./tflabs check 1-2-principles` or Check on the start page grades your answers, also with tests that you do
# not see here.

# %% [markdown]
# ## What DistBelief left to decide
#
# In lab 1-1 a parameter server held the shards of a model. Its roles were fixed: a worker pulls values and pushes
# gradients, a server keeps the values and applies the update rule. The rule was code *of the server*: another optimizer
# meant another server. The layers of a model were code of the worker in the same way. And the split between the two was
# made once, by whoever wrote the system, for one kind of machine.
#
# TensorFlow made all of it nodes of one graph: parameters, update rule, layers. For this to work, three questions
# needed an answer. How large is a node? When does it compute? Who can run it? Each part of this lab takes one.

# %% nbgrader={"grade": false, "grade_id": "given-imports", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
from tflabs.runtime import quiet

with quiet():
    import tensorflow as tf

import operator
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from functools import cache
from typing import NamedTuple

import numpy as np
from tensorflow.core.framework.kernel_def_pb2 import KernelDef, KernelList
from tensorflow.python.framework import kernels as registered
from tensorflow.python.framework import op_def_registry

from tflabs.runtime import plain_config, trace_run

tf1 = tf.compat.v1
GraphDef, NodeDef = tf1.GraphDef, tf1.NodeDef


# %% [markdown]
# ## 1. Primitive operations
#
# The loss of nearly every classifier is the cross-entropy of a softmax. TensorFlow has one op for it,
# `SoftmaxCrossEntropyWithLogits`. A textbook writes it with smaller ones: exponentials, divided by their sum, then the
# logarithm, times the labels, summed, negated. Both are in this graph, on the same two inputs.

# %% nbgrader={"grade": false, "grade_id": "given-two-losses", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def two_losses() -> GraphDef:
    """`fused`: the loss as one op. `textbook`: the loss as its formula has it. Both read `logits` and `labels`."""
    with tf.Graph().as_default() as drawn:
        scores = tf1.placeholder(tf.float32, [None, None], name="logits")
        targets = tf1.placeholder(tf.float32, [None, None], name="labels")
        tf.raw_ops.SoftmaxCrossEntropyWithLogits(features=scores, labels=targets, name="fused")
        axis = tf.constant([1], name="axis")
        exp = tf.exp(scores, name="exp")
        sums = tf.raw_ops.Sum(input=exp, axis=axis, keep_dims=True, name="sums")
        log = tf.math.log(tf.raw_ops.RealDiv(x=exp, y=sums, name="softmax"), name="log")
        terms = tf.raw_ops.Mul(x=targets, y=log, name="terms")
        tf.negative(tf.raw_ops.Sum(input=terms, axis=axis, name="sum"), name="textbook")
    return drawn.as_graph_def()


# %%
from tflabs import view

one_op = {"fused": "one op"}
small_ops = dict.fromkeys(["axis", "exp", "sums", "softmax", "log", "terms", "sum", "textbook"], "small ops")
view.graph(two_losses(), highlight=one_op | small_ops, title="One loss, written twice")

# %% [markdown]
# Do they give the same numbers?

# %%
with tf.Graph().as_default():
    tf.import_graph_def(two_losses(), name="")
    with tf1.Session(config=plain_config()) as session:
        for row in ([1.0, 2.0, 3.0], [10.0, 20.0, 30.0], [100.0, 200.0, 300.0]):
            fused, textbook = session.run(["fused:0", "textbook:0"], {"logits:0": [row], "labels:0": [[0.2, 0.3, 0.5]]})
            print(f"logits {row}: one op {fused[0]:.5f}, small ops {textbook[0]:.5f}")

# %% [markdown]
# For small logits they do. For large ones the textbook's graph breaks: float32 ends at about 3.4e38, and e¹⁰⁰ is beyond
# it. This is no property of small ops, it is a property of the formula. A formula that holds can be written with the
# same ops.
#
# What is won by that? A device, a compiler or an automatic differentiation must know every op there is. Each new loss
# or layer made from known ops costs them nothing. So TensorFlow's core holds ops with one simple meaning each, and most
# layers and losses are graphs of them. `PRIMITIVES` below is such a set. It is all that the first two exercises may
# use.

# %% nbgrader={"grade": false, "grade_id": "given-primitives", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
PRIMITIVES = frozenset(
    {
        *("Placeholder", "Const", "Identity", "StopGradient"),
        *("Add", "AddV2", "Sub", "Mul", "RealDiv", "Neg"),
        *("Exp", "Log", "Sqrt", "Rsqrt", "Square"),
        *("Max", "Sum"),
    }
)


def assert_primitive(graph: GraphDef, inputs: dict[str, list[int | None]], output: str) -> None:
    """Assert that a graph has these float32 placeholders and no others, a node `output`, and only PRIMITIVES."""
    assert type(graph) is GraphDef, f"a GraphDef is wanted, found a {type(graph).__name__}"
    strangers = sorted({node.op for node in graph.node} - PRIMITIVES)
    assert not strangers, f"only op types of PRIMITIVES are allowed; the graph also holds {', '.join(strangers)}"
    assert len(graph.library.function) == 0, "the graph holds functions: write their nodes into the graph itself"
    placeholders = {node.name: node.attr for node in graph.node if node.op == "Placeholder"}
    assert sorted(placeholders) == sorted(inputs), (
        f"the placeholders must be {', '.join(sorted(inputs))}; found {', '.join(sorted(placeholders)) or 'none'}"
    )
    for name, wanted in inputs.items():
        dtype, shape = tf.as_dtype(placeholders[name]["dtype"].type), tf.TensorShape(placeholders[name]["shape"].shape)
        assert dtype is tf.float32, f"placeholder {name} must be float32, found {dtype.name}"
        assert str(shape) == str(tf.TensorShape(wanted)), f"placeholder {name}: shape {wanted} is due, found {shape}"
    assert any(node.name == output for node in graph.node), f"the graph has no node named {output!r}"


def values_and_gradients(
    graph: GraphDef, output: str, feeds: dict[str, np.ndarray], by: list[str], weights: np.ndarray
) -> list[np.ndarray]:
    """The value of `output:0`, then the gradients of the sum of `weights · output:0` by the tensors `by`.

    The gradients are TensorFlow's own: `tf.gradients` asks the registered gradient of each op in the graph.
    """
    with tf.Graph().as_default() as whole:
        try:
            tf.import_graph_def(graph, name="")
        except ValueError as error:
            raise AssertionError(f"TensorFlow refuses this graph: {error}") from None
        tensor = whole.get_tensor_by_name(f"{output}:0")
        upstream = tf.constant(weights, name="upstream_of_the_test")
        slopes = tf1.gradients(tensor, [whole.get_tensor_by_name(f"{name}:0") for name in by], upstream)
        for name, slope in zip(by, slopes, strict=True):
            assert slope is not None, f"TensorFlow finds no path of gradients from {output} to {name}"
        with tf1.Session(config=plain_config()) as session:
            return session.run([tensor, *slopes], {f"{name}:0": value for name, value in feeds.items()})


def assert_close(got: np.ndarray, want: np.ndarray, where: str, rtol: float, atol: float) -> None:
    """Assert that two arrays have the same dtype and shape and agree to `atol + rtol · |want|`."""
    assert (got.dtype, got.shape) == (want.dtype, want.shape), (
        f"{where}: {want.dtype.name} of shape {want.shape} is due, found {got.dtype.name} of shape {got.shape}"
    )
    try:
        np.testing.assert_allclose(got, want, rtol=rtol, atol=atol, strict=True)
    except AssertionError:
        off = ~np.isclose(got, want, rtol=rtol, atol=atol)
        place = tuple(int(index) for index in np.argwhere(off)[0])
        raise AssertionError(
            f"{where}: {want[place]} is due at {place}, found {got[place]} ({off.sum()} of {off.size} values are off)"
        ) from None


# %% [markdown]
# ### Exercise 1 · One loss from a dozen small ops (3 points)
#
# Write `cross_entropy_graph() -> GraphDef`. The graph has two placeholders, `logits` and `labels`, both float32 of
# shape `[None, None]` (rows, classes), and a node `loss`. The tensor `loss:0` is float32 of shape `[rows]`: for each
# row −Σ labels · log softmax(logits). All nodes have an op type of `PRIMITIVES`, and the graph holds no functions.
# Names of the other nodes are free.
#
# Each row of `labels` is a distribution: not negative, sum 1. Logits lie between −1e4 and 1e4, in one row or between
# rows. There, tests want the loss to a relative 1e-5 (absolute 1e-5 near zero), and the gradient of the losses by
# `logits`, which TensorFlow derives from your graph, to an absolute 1e-5. You compute no gradient yourself.
#
# Build it inside `with tf.Graph().as_default() as graph:` and return `graph.as_graph_def()`. Python operators and
# functions such as `tf.exp`, `tf.reduce_sum`, `tf.reduce_max`, `tf.math.log` make the nodes you expect; to be sure of
# an op type use `tf.raw_ops`. The function has no arguments, so there is no wrong input to refuse.
#
# For logits `[[1, 2, 3]]` and labels `[[0.2, 0.3, 0.5]]` the tensor `loss:0` is `[1.1076059]`.
#
# <details><summary>Hint 1</summary>
#
# Softmax does not change if the same number is taken from all logits of a row. Which number makes the largest
# exponential exactly 1, so that none can overflow and their sum is at least 1? That mends overflow. The logarithm of a
# softmax that is rounded to 0 is the other leak: the logarithm of a quotient need not be taken from a quotient.
# </details>
#
# <details><summary>Hint 2</summary>
#
# Per row, with `keepdims` so that the result still fits the row: `shifted = logits − max`; `log_sum` = logarithm of the
# sum of exp(shifted). Then log softmax is `shifted − log_sum`, and no quotient is left. Multiply by the labels, sum
# over the classes, negate, and name the last node.
# </details>

# %% nbgrader={"grade": false, "grade_id": "cross-entropy", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def cross_entropy_graph() -> GraphDef:
    """Cross-entropy of a softmax from PRIMITIVES: placeholders `logits`, `labels` [None, None], node `loss` [None]."""
    ### BEGIN SOLUTION
    with tf.Graph().as_default() as graph:
        logits = tf1.placeholder(tf.float32, [None, None], name="logits")
        labels = tf1.placeholder(tf.float32, [None, None], name="labels")
        shifted = logits - tf.reduce_max(logits, axis=1, keepdims=True)
        log_sum = tf.math.log(tf.reduce_sum(tf.exp(shifted), axis=1, keepdims=True))
        tf.negative(tf.reduce_sum(labels * (shifted - log_sum), axis=1), name="loss")
    return graph.as_graph_def()
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "cross-entropy-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
loss_graph = cross_entropy_graph()
assert_primitive(loss_graph, {"logits": [None, None], "labels": [None, None]}, "loss")
one_row = {"logits": np.float32([[1, 2, 3]]), "labels": np.float32([[0.2, 0.3, 0.5]])}
found = values_and_gradients(loss_graph, "loss", one_row, ["logits"], np.float32([1]))
expected = tf.nn.softmax_cross_entropy_with_logits(**one_row).numpy()
assert_close(found[0], expected, "loss for logits [[1, 2, 3]], labels [[0.2, 0.3, 0.5]]", 1e-5, 1e-5)
far = {"logits": np.float32([[100, 200, 300]]), "labels": np.float32([[0.2, 0.3, 0.5]])}
found = values_and_gradients(loss_graph, "loss", far, ["logits"], np.float32([1]))
expected = tf.nn.softmax_cross_entropy_with_logits(**far).numpy()
assert_close(found[0], expected, "loss for logits [[100, 200, 300]], labels [[0.2, 0.3, 0.5]]", 1e-5, 1e-5)


### BEGIN HIDDEN TESTS
def random_batch(generator, scale, one_hot):
    """Logits up to ±scale, and labels that are one-hot or drawn from a Dirichlet distribution."""
    rows, classes = generator.integers(2, 7), generator.integers(2, 10)
    labels = generator.dirichlet(np.ones(classes), size=rows)
    if one_hot:
        labels = np.eye(classes)[generator.integers(0, classes, rows)]
    return {
        "logits": generator.uniform(-scale, scale, (rows, classes)).astype(np.float32),
        "labels": labels.astype(np.float32),
    }


def check_random_batches():
    """Rows far apart, and random batches of all sizes of logits."""
    seed = random.SystemRandom().randrange(10**6)
    generator = np.random.default_rng(seed)
    apart = {
        "logits": np.float32([[1e4, 9999, 9998], [-9998, -1e4, -9999]]),
        "labels": np.float32([[0.25, 0.25, 0.5]] * 2),
    }
    cases = [("rows that lie far apart", apart)]
    for one_hot in (False, True):
        for scale in (1, 30, 1e3, 1e4):
            kind = "one-hot labels" if one_hot else "labels of several classes"
            cases.append((f"logits up to ±{scale:g}, {kind} (seed {seed})", random_batch(generator, scale, one_hot)))
    for words, batch in cases:
        weights = np.ones(len(batch["logits"]), np.float32)
        value, slope = values_and_gradients(loss_graph, "loss", batch, ["logits"], weights)
        with tf.GradientTape() as tape:
            logits = tf.constant(batch["logits"])
            tape.watch(logits)
            expected = tf.nn.softmax_cross_entropy_with_logits(labels=batch["labels"], logits=logits)
        assert_close(value, expected.numpy(), f"loss, {words}", 1e-5, 1e-5)
        assert_close(slope, tape.gradient(expected, logits).numpy(), f"gradient by logits, {words}", 0, 1e-5)


check_random_batches()
### END HIDDEN TESTS

# %% [markdown] after_passing="cross-entropy"
# Your graph agreed with TensorFlow's fused op in value and in gradient, and nobody wrote a gradient for it: each op
# brought its own. The fused kernel (`XentEigenImpl` in core/kernels/xent_op.h) takes the same steps, shift by the
# maximum included, in one pass over memory, and hands the gradient out as a second output. The maximum needs no
# `StopGradient`: what flows through it adds up to zero, as the softmax does not depend on the shift.

# %% [markdown]
# The same graph is inside TensorFlow, at another place. XLA has no instruction for a softmax. When it compiles the
# fused op, it takes it apart into instructions of HLO, its own set of primitives. At the left hangs the op's second
# output, the gradient: the kernel always emits it, and here nobody reads it.

# %%
@tf.function(jit_compile=True, autograph=False)
def fused_loss(logits, labels):
    return tf.raw_ops.SoftmaxCrossEntropyWithLogits(features=logits, labels=labels, name="fused").loss


matrix = tf.TensorSpec([8, 10], tf.float32)
hlo = fused_loss.experimental_get_compiler_ir(matrix, matrix)(stage="hlo")
entry = hlo[hlo.index("\nENTRY") :]
print(Counter(re.findall(r"= \S+ ([a-z-]+)\(", entry)))
view.hlo(hlo, title="SoftmaxCrossEntropyWithLogits, as XLA takes it apart")


# %% [markdown]
# `compare` and `select` put a zero in the place of the log softmax wherever the label is zero. A log softmax can be −∞
# (for a logit of −∞), and 0 · −∞ would be NaN.
#
# One such decomposition in `softmax_op.cc` of compiler/tf2xla serves every device that XLA compiles for. That is the
# gain of primitives. The price is on the same page: run one by one, a dozen small kernels write and read a dozen
# intermediate tensors. So there are fused kernels next to the primitives, and compilers that fuse (labs 4-2 and 4-4).
#
# ### Exercise 2 · Normalise with the same set (3 points)
#
# Write `layer_norm_graph(width: int, epsilon: float) -> GraphDef`. The placeholders, all float32: `x` of shape
# `[None, width]`, `gamma` and `beta` of shape `[width]`. The node `y` gives float32 of shape `[None, width]`:
#
# y = (x − mean) / √(variance + epsilon) · gamma + beta
#
# Mean and variance are those of each row; the variance is the mean of the squared distances from the mean (divided by
# `width`, not `width − 1`). Only `PRIMITIVES`, which hold no `Mean`; no functions. `width < 1` raises `ValueError`.
#
# Tests compare y, and the gradients by `x`, by `gamma` and by `beta` that TensorFlow derives from your graph, each to a
# relative 1e-4 plus an absolute 1e-4. Values lie about 0, each 0.4 to 1.6 from the next larger one (`epsilon` 1e-3 or
# 1e-6). With 1e-3 rows may also stand at 100 with a spread of 1 (width 8), have a spread of 0.01, be constant (a whole
# number, width 4), or have width 1.
#
# No graph of float32 holds to this everywhere. The mean of a constant row of other numbers can be off by a rounding
# error; then the distances from it are not 0, and 1 / √epsilon enlarges them.
#
# In `layer_norm_graph(4, 1e-3)`, for x `[[1, 2, 3, 4]]`, gamma `[1, 1, 1, 1]` and beta `[0, 0, 0, 10]`, the tensor
# `y:0` is `[[-1.3411044, -0.4470348, 0.4470348, 11.341104]]`.
#
# <details><summary>Hint 1</summary>
#
# A mean is a sum and a number that is known when the graph is built. There are two formulas for the variance: the mean
# of (x − mean)², and the mean of x² less the square of the mean. They differ in what float32 leaves of them when x is
# about 100.
# </details>
#
# <details><summary>Hint 2</summary>
#
# `centred` = x less its row mean (`keepdims=True`). The variance is the row mean of the square of `centred`. Then
# `centred`, times `tf.math.rsqrt` of (variance + epsilon), times gamma, plus beta. Gamma and beta meet the rows by
# broadcasting.
# </details>

# %% nbgrader={"grade": false, "grade_id": "layer-norm", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def layer_norm_graph(width: int, epsilon: float) -> GraphDef:
    """Layer normalisation from PRIMITIVES: placeholders `x` [None, width], `gamma`, `beta` [width], node `y`.

    Raises:
        ValueError: `width` is less than 1.
    """
    ### BEGIN SOLUTION
    if width < 1:
        raise ValueError(f"a row needs at least one value, width is {width}")

    def row_mean(value):
        return tf.reduce_sum(value, axis=1, keepdims=True) / width

    with tf.Graph().as_default() as graph:
        x = tf1.placeholder(tf.float32, [None, width], name="x")
        gamma = tf1.placeholder(tf.float32, [width], name="gamma")
        beta = tf1.placeholder(tf.float32, [width], name="beta")
        centred = x - row_mean(x)
        scale = tf.math.rsqrt(row_mean(tf.square(centred)) + epsilon)
        tf.add(centred * scale * gamma, beta, name="y")
    return graph.as_graph_def()
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "layer-norm-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
norm_graph = layer_norm_graph(4, 1e-3)
assert_primitive(norm_graph, {"x": [None, 4], "gamma": [4], "beta": [4]}, "y")
norm_feeds = {"x": np.float32([[1, 2, 3, 4]]), "gamma": np.float32([1] * 4), "beta": np.float32([0, 0, 0, 10])}
found = values_and_gradients(norm_graph, "y", norm_feeds, ["x", "gamma", "beta"], np.ones([1, 4], np.float32))
moments = tf.nn.moments(tf.constant(norm_feeds["x"]), [1], keepdims=True)
expected = tf.nn.batch_normalization(norm_feeds["x"], *moments, norm_feeds["beta"], norm_feeds["gamma"], 1e-3)
assert_close(found[0], expected.numpy(), "y for x [[1, 2, 3, 4]], gamma 1, beta [0, 0, 0, 10]", 1e-4, 1e-4)
for bad in (0, -3):
    try:
        refused = layer_norm_graph(bad, 1e-3)
    except ValueError:
        pass
    else:
        raise AssertionError(f"width {bad} is no width and must raise ValueError; a {type(refused).__name__} came back")


### BEGIN HIDDEN TESTS
def real_layer_norm(feeds, epsilon, weights):
    """y and its three gradients from `tf.nn`, computed in float64 and rounded to float32."""
    tensors = [tf.constant(feeds[name].astype(np.float64)) for name in ("x", "gamma", "beta")]
    x, gamma, beta = tensors
    with tf.GradientTape() as tape:
        tape.watch(tensors)
        mean, variance = tf.nn.moments(x, [1], keepdims=True)
        y = tf.nn.batch_normalization(x, mean, variance, beta, gamma, np.float64(epsilon))
    slopes = tape.gradient(y, tensors, output_gradients=weights.astype(np.float64))
    return [value.numpy().astype(np.float32) for value in (y, *slopes)]


def spread_rows(generator, rows, columns):
    """Rows of values that are 0.4 to 1.6 apart from the next larger one, in random order."""
    steps = np.tile(np.arange(columns) - columns / 2, (rows, 1))
    return generator.permuted(steps + generator.uniform(-0.3, 0.3, (rows, columns)), axis=1)


def check_random_rows():
    """Rows far from zero, constant, narrow, and random ones."""
    seed = random.SystemRandom().randrange(10**6)
    generator = np.random.default_rng(seed)
    cases = [("rows at 100 with a spread of 1", 1e-3, 100 + spread_rows(generator, 24, 8) / 2)]
    cases.append(("constant rows", 1e-3, np.full((3, 4), [[2.0], [0.0], [-5.0]])))
    cases.append(("rows of width 1", 1e-3, generator.normal(0, 3, (5, 1))))
    cases.append(("rows with a spread of 0.01", 1e-3, generator.normal(0, 0.01, (4, 6))))
    for case in range(4):
        rows, columns = generator.integers(1, 8), generator.integers(2, 12)
        epsilon = (1e-3, 1e-6)[case % 2]
        cases.append((f"random rows, epsilon {epsilon}", epsilon, spread_rows(generator, rows, columns)))
    for words, epsilon, rows in cases:
        columns = rows.shape[1]
        feeds = {
            "x": rows.astype(np.float32),
            "gamma": (generator.uniform(0.5, 1.5, columns) * generator.choice([-1, 1], columns)).astype(np.float32),
            "beta": generator.uniform(-1, 1, columns).astype(np.float32),
        }
        weights = generator.uniform(-1, 1, rows.shape).astype(np.float32)
        graph_of_case = layer_norm_graph(columns, epsilon)
        assert_primitive(graph_of_case, {"x": [None, columns], "gamma": [columns], "beta": [columns]}, "y")
        found = values_and_gradients(graph_of_case, "y", feeds, ["x", "gamma", "beta"], weights)
        expected = real_layer_norm(feeds, epsilon, weights)
        for name, got, want in zip(
            ["y", "gradient by x", "gradient by gamma", "gradient by beta"], found, expected, strict=True
        ):
            assert_close(got, want, f"{name}, {words}, width {columns} (seed {seed})", 1e-4, 1e-4)


check_random_rows()
### END HIDDEN TESTS

# %% [markdown] after_passing="layer-norm"
# A layer for which most devices have no kernel of its own, with three gradients, from the same seventeen op types.
# `tf.nn.moments` and `tf.nn.batch_normalization` (python/ops/nn_impl.py) are compositions of this kind; Keras'
# `LayerNormalization` takes its moments from the former and composes the rest. A fused kernel exists (`MklLayerNormOp`,
# core/kernels/mkl/mkl_layer_norm_op.cc): Grappler's remapper can put it in the place of such a pattern. Ours centres
# first and squares then: the other formula for the variance takes two large numbers from each other.

# %% [markdown]
# ## 2. Deferred execution
#
# Building a graph and running it are two acts. The cell below builds a graph with a matrix that would fill four
# terabytes. It can, because a node is only a record: a name, an op type, names of inputs, attributes. Shapes are known
# (they are inferred when a node is added), values are not.

# %%
with tf.Graph().as_default() as huge:
    x = tf1.placeholder(tf.float32, [], name="x")
    matrix = tf.fill([10**6, 10**6], x, name="matrix")
    product = tf.matmul(matrix, matrix, name="product")
    y = tf.square(x + 1.0, name="y")
print(product)
print(
    f"would be {product.shape.num_elements() * 4 / 1e12:.0f} TB; "
    f"the GraphDef has {huge.as_graph_def().ByteSize()} bytes"
)
with tf1.Session(graph=huge, config=plain_config()) as session:
    print("y =", session.run("y:0", {"x:0": 2.0}))

# %% [markdown]
# The session ran `y` and never touched `matrix`. Because nothing runs until something is fetched, the runtime sees the
# whole graph and the whole question before it begins. Below, the graph of the two losses with the fetch `textbook:0`:
# coloured is what ran in this step, read from the step's own trace. `fused` was not asked for. The placeholders were
# fed, so their kernels did not run either.

# %%
with tf.Graph().as_default():
    tf.import_graph_def(two_losses(), name="")
    with tf1.Session(config=plain_config()) as session:
        step = trace_run(session, "textbook:0", {"logits:0": [[1.0, 2.0, 3.0]], "labels:0": [[0.2, 0.3, 0.5]]})
ran = [name for name in step.nodes() if not name.startswith("_")]
view.graph(two_losses(), highlight=dict.fromkeys(ran, "ran for textbook:0"), title="What a fetch runs")


# %% [markdown]
# The trace also names nodes that the runtime adds: `_SOURCE`, and `_Arg` and `_Retval` for what goes in and out. Their
# names begin with `_`, and we leave them out.
#
# ### Exercise 3 · What will run? (1 point)
#
# A graph of ten nodes:

# %% nbgrader={"grade": false, "grade_id": "given-ten-nodes", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def ten_nodes() -> GraphDef:
    """A placeholder, two constants, and what is computed from them; one branch ends in `out`, another in `v`."""
    with tf.Graph().as_default() as drawn:
        x = tf1.placeholder(tf.float32, [2], name="x")
        w = tf.constant([3.0, 5.0], name="w")
        two = tf.constant([2.0, 2.0], name="two")
        m = tf.raw_ops.Mul(x=x, y=w, name="m")
        p = tf.raw_ops.AddV2(x=m, y=two, name="p")
        q = tf.raw_ops.Mul(x=p, y=p, name="q")
        r = tf.raw_ops.Sub(x=q, y=p, name="r")
        tf.raw_ops.Mul(x=r, y=w, name="out")
        u = tf.raw_ops.Exp(x=p, name="u")
        tf.raw_ops.Neg(x=u, name="v")
    return drawn.as_graph_def()


# %%
view.graph(ten_nodes(), title="Ten nodes")

# %% [markdown]
# The step is `session.run("out:0", {"m:0": [1, 1]})`: it fetches `out` and feeds the inner tensor `m:0`.
#
# Set `kernels_run` to the number (an `int`) of kernels of these ten nodes that run in this step. A constant has a
# kernel, too. Count before you run anything. For fetch `m:0` and feed `x:0` the number would be 2: `w` and `m`.

# %% nbgrader={"grade": false, "grade_id": "kernel-count", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
# kernels_run = ...  a number from 0 to 10
### BEGIN SOLUTION
kernels_run = 6
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "kernel-count-test", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
assert type(kernels_run) is int, f"kernels_run is an int, not a {type(kernels_run).__name__}"


### BEGIN HIDDEN TESTS
def kernels_that_ran():
    """How many nodes of the graph itself ran in the step of the exercise."""
    with tf.Graph().as_default():
        tf.import_graph_def(ten_nodes(), name="")
        with tf1.Session(config=plain_config()) as runtime:
            trace = trace_run(runtime, "out:0", {"m:0": [1.0, 1.0]})
    return sum(not name.startswith("_") for name in trace.nodes())


real_count = kernels_that_ran()
assert kernels_run == real_count, (
    f"{kernels_run} kernels is not what the trace shows. Go upwards from out, note each node once, and stop at what is "
    "fed. Which nodes of the upper half can still be reached by another way?"
)
### END HIDDEN TESTS

# %% [markdown] after_passing="kernel-count"
# `out`, `r`, `q`, `p`, `two` and `w` ran: `p` once, however often it is read, `w` because `out` reads it past the fed
# tensor; `x` and `m` not at all. The session decides this before the step (`RewriteGraphForExecution`,
# core/graph/subgraph.cc): it puts an `_Arg` in the place of each fed tensor and then searches backwards from the
# fetches (`PruneForReverseReachability`, core/graph/algorithm.cc).

# %% [markdown]
# ### A tensor that records
#
# How does a line of Python such as `x * x + 2` become nodes? Through Python's operators: `x * x` calls `x.__mul__(x)`,
# and TensorFlow's tensors answer by adding a node. The number in `2 - x` does not know how to subtract a tensor, so
# Python asks the other side: `x.__rsub__(2)`. A number becomes a node of its own:

# %%
with tf.Graph().as_default() as drawn:
    x = tf1.placeholder(tf.float32, [], name="x")
    y = 2 - x * x
    dead = x + 1
for node in drawn.as_graph_def().node:
    print(f"{node.name:<6} {node.op:<12} {list(node.input)}")


# %% [markdown]
# ### Exercise 4 · Record now, compute later (5 points)
#
# Write the class `LazyTensor` and the function `lazy(name: str) -> LazyTensor`, which makes a named input.
#
# - `+ - * @` between LazyTensors and unary `-` give a new LazyTensor and record one node: `AddV2`, `Sub`, `Mul`,
#   `MatMul`, `Neg`. For `+ - *` one side, left or right, may be a Python number (`int` or `float`): it is recorded as
#   one `Const` node, in float32, and the order of the sides is kept. An operand of another kind raises `TypeError`: a
#   `str`, a list, a NumPy array on either side, and for `@` a number. Operators compute nothing.
# - `t.graph() -> GraphDef` holds exactly the nodes that t depends on, t's own included, each once, and inputs before
#   their readers. An input is a placeholder under its own name. Names of other nodes are free but unique, whatever the
#   inputs are called: if your own names are n0, n1, …, an input may be called n1.
# - `t.run(kernels, /, **inputs) -> np.ndarray` computes t. Every value is float32. `kernels["Sub"](a, b)` and so on
#   compute one node from arrays (`Neg` has one argument); a constant reaches a kernel as a NumPy value of shape `()`.
#   Inputs are float32 arrays. `Const` and inputs have no kernel. Only nodes that t depends on are computed, each once
#   per `run`; nothing is kept from one `run` to the next.
# - If an input that t needs is missing, `run` raises `KeyError` with its name. Inputs that t does not need may be
#   missing, and may be given. An input may be called `kernels` or `self`: hence the `/`.
#
# In one expression tests make each input once; other expressions may use the same name again. No expression is more
# than 30 operations deep. Leave `__array_ufunc__ = None` in the class: in `array * x` NumPy is asked first, and by this
# line it leaves the answer to x. (TensorFlow's tensors have an `__array_priority__` for the same purpose.)
#
# Given are three makers of nodes and NumPy `KERNELS`:
#
# ```
# >>> x = lazy("x"); y = x * x + 2; dead = x - 1
# >>> y.run(KERNELS, x=np.float32([1, 2]))
# array([3., 6.], dtype=float32)
# >>> [node.op for node in y.graph().node]        # another valid order would do as well
# ['Placeholder', 'Mul', 'Const', 'AddV2']
# ```
#
# <details><summary>Hint 1</summary>
#
# A LazyTensor need only know its op type, the LazyTensors that it reads, and, for an input or a number, the name or the
# value. Then nothing has to be recorded elsewhere: whoever holds `y` holds all that y depends on. `graph` and `run`
# both need the nodes below t, each once, inputs first: write that once.
# </details>
#
# <details><summary>Hint 2</summary>
#
# `order()`: visit the inputs of a tensor, then append the tensor, unless it was visited before (two expressions may be
# equal and yet two nodes: remember by `id`). `run` walks `order()` with a dict of values that it makes anew each time;
# `graph` walks it with a dict of names. An operator turns the other side into a LazyTensor, or returns
# `NotImplemented`, whereupon Python raises `TypeError`. `__radd__`, `__rsub__`, `__rmul__` get the number that stood on
# the left.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-nodes", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def input_node(name: str) -> NodeDef:
    """A float32 placeholder of unknown shape."""
    node = NodeDef(name=name, op="Placeholder")
    node.attr["dtype"].type = tf.float32.as_datatype_enum
    return node


def number_node(name: str, value: float) -> NodeDef:
    """A float32 constant of shape ()."""
    node = NodeDef(name=name, op="Const")
    node.attr["dtype"].type = tf.float32.as_datatype_enum
    node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(value, tf.float32))
    return node


def op_node(name: str, op: str, inputs: Iterable[str]) -> NodeDef:
    """A node of one of the five op types with float32 inputs, which are names of nodes."""
    node = NodeDef(name=name, op=op, input=inputs)
    node.attr["T"].type = tf.float32.as_datatype_enum
    return node


KERNELS: dict[str, Callable[..., np.ndarray]] = {
    "AddV2": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Neg": np.negative,
    "MatMul": np.matmul,
}


def called(calls: list[str]) -> dict[str, Callable[..., np.ndarray]]:
    """KERNELS, which also append their op type to `calls` whenever they run, and always return float32 arrays."""

    def counted(op: str) -> Callable[..., np.ndarray]:
        def run(*arrays: np.ndarray) -> np.ndarray:
            calls.append(op)
            return np.asarray(KERNELS[op](*(np.asarray(array, np.float32) for array in arrays)))

        return run

    return {op: counted(op) for op in KERNELS}


class Number(NamedTuple):
    """A Python number in a plan. Given."""

    value: int | float


OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "@": operator.matmul}


def evaluated(plan: list[tuple], inputs: list) -> list:
    """Carry out a plan with Python's operators on any kind of tensor; all its values, the inputs first.

    An entry is `("neg", a)` or `(sign, a, b)`; a and b are a `Number` or the index of an earlier value.
    """
    values = list(inputs)
    for sign, *sides in plan:
        operands = [side.value if type(side) is Number else values[side] for side in sides]
        values.append(-operands[0] if sign == "neg" else OPERATORS[sign](*operands))
    return values


def in_words(plan: list[tuple], names: list[str]) -> str:
    """A plan as Python lines."""
    names, lines = list(names), []
    for number, (sign, *sides) in enumerate(plan):
        words = [repr(side.value) if type(side) is Number else names[side] for side in sides]
        names.append(f"t{number}")
        lines.append(f"t{number} = " + (f"-{words[0]}" if sign == "neg" else f" {sign} ".join(words)))
    return "; ".join(lines)


def assert_ordered(graph: GraphDef, where: str) -> None:
    """Assert that a GraphDef has unique names and inputs before their readers, and no functions."""
    assert type(graph) is GraphDef, f"{where}: graph() returns a GraphDef, not a {type(graph).__name__}"
    seen: set[str] = set()
    for node in graph.node:
        assert node.name not in seen, f"{where}: two nodes are called {node.name!r}"
        late = [name for name in node.input if name.removesuffix(":0") not in seen]
        assert not late, f"{where}: node {node.name!r} reads {', '.join(late)}, which does not stand before it"
        seen.add(node.name)


def last_value(graph: GraphDef, feeds: dict[str, np.ndarray]) -> np.ndarray:
    """What TensorFlow computes for the last node of a graph."""
    with tf.Graph().as_default():
        try:
            tf.import_graph_def(graph, name="")
        except ValueError as error:
            raise AssertionError(f"TensorFlow refuses this graph: {error}") from None
        with tf1.Session(config=plain_config()) as session:
            return session.run(f"{graph.node[-1].name}:0", {f"{name}:0": value for name, value in feeds.items()})


# %% nbgrader={"grade": false, "grade_id": "lazy-tensor", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
class LazyTensor:
    """A tensor that remembers how it is computed and has no value."""

    __array_ufunc__ = None  # NumPy's operators return NotImplemented, so Python asks this class

    def __init__(self, op: str, inputs: tuple["LazyTensor", ...] = (), content: str | float | None = None) -> None:
        """`content`: the name of a Placeholder, the number of a Const. These arguments are a proposal: change them."""
        ### BEGIN SOLUTION
        self._op, self._inputs, self._content = op, inputs, content

    def _record(self, op: str, left: object, right: object) -> "LazyTensor":
        sides = []
        for side in (left, right):
            if isinstance(side, int | float) and op != "MatMul":
                side = LazyTensor("Const", content=float(side))
            if not isinstance(side, LazyTensor):
                return NotImplemented
            sides.append(side)
        return LazyTensor(op, tuple(sides))

    def _order(self) -> list["LazyTensor"]:
        """This tensor and all that it depends on, each once, inputs before their readers."""
        found: dict[int, LazyTensor] = {}

        def visit(tensor: LazyTensor) -> None:
            if id(tensor) not in found:
                for read in tensor._inputs:
                    visit(read)
                found[id(tensor)] = tensor

        visit(self)
        return list(found.values())
        ### END SOLUTION

    def __add__(self, other: object) -> "LazyTensor":
        ### BEGIN SOLUTION
        return self._record("AddV2", self, other)
        ### END SOLUTION

    def __radd__(self, other: object) -> "LazyTensor":
        ### BEGIN SOLUTION
        return self._record("AddV2", other, self)
        ### END SOLUTION

    def __sub__(self, other: object) -> "LazyTensor":
        ### BEGIN SOLUTION
        return self._record("Sub", self, other)
        ### END SOLUTION

    def __rsub__(self, other: object) -> "LazyTensor":
        ### BEGIN SOLUTION
        return self._record("Sub", other, self)
        ### END SOLUTION

    def __mul__(self, other: object) -> "LazyTensor":
        ### BEGIN SOLUTION
        return self._record("Mul", self, other)
        ### END SOLUTION

    def __rmul__(self, other: object) -> "LazyTensor":
        ### BEGIN SOLUTION
        return self._record("Mul", other, self)
        ### END SOLUTION

    def __matmul__(self, other: object) -> "LazyTensor":
        ### BEGIN SOLUTION
        return self._record("MatMul", self, other)
        ### END SOLUTION

    def __neg__(self) -> "LazyTensor":
        ### BEGIN SOLUTION
        return LazyTensor("Neg", (self,))
        ### END SOLUTION

    def graph(self) -> GraphDef:
        """The nodes that this tensor depends on, itself included, each once, inputs before their readers."""
        ### BEGIN SOLUTION
        order = self._order()
        taken = {tensor._content for tensor in order if tensor._op == "Placeholder"}
        free = (name for name in (f"n{number}" for number in range(len(order) + len(taken))) if name not in taken)
        names: dict[int, str] = {}
        graph = GraphDef()
        for tensor in order:
            name = names[id(tensor)] = tensor._content if tensor._op == "Placeholder" else next(free)
            if tensor._op == "Placeholder":
                graph.node.append(input_node(name))
            elif tensor._op == "Const":
                graph.node.append(number_node(name, tensor._content))
            else:
                graph.node.append(op_node(name, tensor._op, [names[id(read)] for read in tensor._inputs]))
        return graph
        ### END SOLUTION

    def run(self, kernels: dict[str, Callable[..., np.ndarray]], /, **inputs: np.ndarray) -> np.ndarray:
        """Compute this tensor from the named inputs, each node that it needs once.

        Raises:
            KeyError: an input that is needed is missing; the argument is its name.
        """
        ### BEGIN SOLUTION
        values: dict[int, np.ndarray] = {}
        for tensor in self._order():
            if tensor._op == "Placeholder":
                value = inputs[tensor._content]
            elif tensor._op == "Const":
                value = np.float32(tensor._content)
            else:
                value = kernels[tensor._op](*[values[id(read)] for read in tensor._inputs])
            values[id(tensor)] = value
        return values[id(self)]
        ### END SOLUTION


def lazy(name: str) -> LazyTensor:
    """A named input."""
    ### BEGIN SOLUTION
    return LazyTensor("Placeholder", content=name)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "lazy-tensor-test", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
lazy_x = lazy("x")
lazy_y = lazy_x * lazy_x + 2
lazy_dead = lazy_x - 1
kernel_calls = []
lazy_value = lazy_y.run(called(kernel_calls), x=np.float32([1, 2]))
assert type(lazy_value) is np.ndarray, f"run returns an array, not a {type(lazy_value).__name__}"
assert_close(lazy_value, np.float32([3, 6]), "x * x + 2 for x = [1, 2]", 1e-5, 1e-6)
assert sorted(kernel_calls) == ["AddV2", "Mul"], (
    f"x * x + 2 needs one Mul and one AddV2; these kernels were called: {kernel_calls}"
)
lazy_graph = lazy_y.graph()
assert_ordered(lazy_graph, "x * x + 2")
lazy_ops = sorted(node.op for node in lazy_graph.node)
assert lazy_ops == ["AddV2", "Const", "Mul", "Placeholder"], f"x * x + 2 is four nodes; its graph holds {lazy_ops}"
assert_close(
    last_value(lazy_graph, {"x": np.float32([1, 2])}), np.float32([3, 6]), "the graph of x * x + 2", 1e-5, 1e-6
)
kernel_calls = []
lazy_value = (2 - lazy_x).run(called(kernel_calls), x=np.float32([1, 2]))
assert_close(lazy_value, np.float32([1, 0]), "2 - x for x = [1, 2]", 1e-5, 1e-6)
assert kernel_calls == ["Sub"], f"2 - x is one Sub; these kernels were called: {kernel_calls}"
lazy_doubled = lazy("x")
for _ in range(12):
    lazy_doubled = lazy_doubled + lazy_doubled
kernel_calls = []
lazy_value = lazy_doubled.run(called(kernel_calls), x=np.float32([1]))
assert_close(lazy_value, np.float32([4096]), "1 doubled 12 times by t = t + t", 1e-5, 1e-6)
assert len(kernel_calls) == 12, (
    f"12 times t = t + t are 12 nodes, each runs once; {len(kernel_calls)} kernels were called"
)
try:
    lazy_value = (lazy_x + lazy("other")).run(called([]), x=np.float32([1]))
except KeyError as error:
    assert "other" in str(error), f"the KeyError must name the missing input 'other'; it says {error}"
else:
    raise AssertionError(f"x + other without other must raise KeyError; it gave {lazy_value!r}")
for sign in OPERATORS:
    for operand in ("text", [1.0, 2.0], np.float32([1, 2]), *([2] if sign == "@" else [])):
        for left, right, words in (
            (lazy_x, operand, f"x {sign} {operand!r}"),
            (operand, lazy_x, f"{operand!r} {sign} x"),
        ):
            try:
                lazy_value = OPERATORS[sign](left, right)
            except TypeError:
                pass
            else:
                raise AssertionError(f"{words} must raise TypeError; it gave a {type(lazy_value).__name__}")


### BEGIN HIDDEN TESTS
def random_plan(rng, inputs, length):
    """A plan over 3×3 matrices of small integers, in which no value leaves the integers that float32 has exactly."""
    plan, sizes = [], [3.0] * inputs  # the largest value of each tensor, at most
    while len(plan) < length:
        sign = rng.choice(["+", "-", "-", "*", "@", "neg"])
        a, b = (max(0, len(sizes) - 1 - int(rng.expovariate(0.4))) for _ in range(2))
        if sign == "neg":
            plan.append(("neg", a))
            sizes.append(sizes[a])
            continue
        sides, size = [a, b], [sizes[a], sizes[b]]
        if sign != "@" and rng.random() < 0.4:
            place = rng.randrange(2)
            sides[place], size[place] = Number(rng.choice([2, 3, -1, 2.0, -3.0])), 3.0
        grown = {"+": sum(size), "-": sum(size), "*": size[0] * size[1], "@": 3 * size[0] * size[1]}[sign]
        if grown < 2**22:
            plan.append((sign, *sides))
            sizes.append(grown)
    return plan


kernel_ops = set(KERNELS)


def real_expression(plan, names, feeds):
    """TensorFlow's value, kernels that ran, all nodes that the value depends on, and the needed inputs."""
    with tf.Graph().as_default():
        value = evaluated(plan, [tf1.placeholder(tf.float32, [3, 3], name=name) for name in names])[-1]
        below, to_do = {}, [value.op]
        while to_do:
            op = to_do.pop()
            if op.name not in below:
                below[op.name] = op
                to_do += [tensor.op for tensor in op.inputs]
        with tf1.Session(config=plain_config()) as runtime:
            trace = trace_run(runtime, value, {f"{name}:0": feeds[name] for name in names})
    ran = [below[name].type for name in trace.nodes() if name in below]
    needed = sorted(name for name, op in below.items() if op.type == "Placeholder")
    nodes = sorted(op.type for op in below.values())
    return trace.values, sorted(op for op in ran if op in kernel_ops), nodes, needed


def check_random_expressions():
    """Values, kernels and graphs of expressions, each against TensorFlow's own tensors."""
    seed = random.SystemRandom().randrange(10**6)
    rng = random.Random(seed)
    fixed = [
        [("*", 0, 1), ("-", 3, 2), ("+", 0, Number(7)), ("-", Number(5), 4), ("@", 6, 4)],
        [("@", 0, 1), ("@", 1, 0), ("-", 3, 4), ("neg", 5)],
        [("*", 0, 1), ("*", 0, 1), ("-", 3, 4), ("+", 5, 0)],
        [("*", Number(3), 2), ("+", Number(-1.0), 3), ("*", 4, 4), ("-", 0, 1)],
        [("-", 2, Number(2)), ("neg", 3), ("neg", 3), ("-", 4, 5), ("*", 6, Number(0.5))],
    ]
    names = ["alpha", "beta", "gamma"]
    for case, plan in enumerate(fixed + [random_plan(rng, 3, rng.randrange(6, 14)) for _ in range(15)]):
        where = f"{in_words(plan, names)} (seed {seed}, case {case})"
        tensor = evaluated(plan, [lazy(name) for name in names])[-1]
        drawn_graph = tensor.graph()
        runs = []
        for _ in range(2):
            generator = np.random.default_rng(rng.randrange(2**32))
            feeds = {name: generator.integers(-3, 4, (3, 3)).astype(np.float32) for name in names}
            calls = []
            runs.append((feeds, tensor.run(called(calls), **feeds), calls))
        assert_ordered(drawn_graph, where)
        for number, (feeds, value, calls) in enumerate(runs, 1):
            want, ran, nodes, needed = real_expression(plan, names, feeds)
            assert type(value) is np.ndarray, f"run {number} returns an array, not a {type(value).__name__}: {where}"
            assert_close(value, want, f"run {number} of {where}", 1e-5, 1e-6)
            assert sorted(calls) == ran, (
                f"run {number}: TensorFlow ran {ran}, your kernels were {sorted(calls)}: {where}"
            )
        held = sorted(node.op for node in drawn_graph.node)
        assert held == nodes, f"the graph must hold {nodes}, found {held}: {where}"
        inputs_held = sorted(node.name for node in drawn_graph.node if node.op == "Placeholder")
        assert inputs_held == needed, f"placeholders {needed} are needed, the graph has {inputs_held}: {where}"
        in_graph = last_value(drawn_graph, {name: feeds[name] for name in needed})
        assert_close(in_graph, want, f"the last node of the graph of {where}", 1e-5, 1e-6)
        calls = []
        only_needed = tensor.run(called(calls), **{name: feeds[name] for name in needed})
        assert_close(only_needed, want, f"run with the needed inputs alone, of {where}", 1e-5, 1e-6)


def check_crowded_names():
    """Inputs called as nodes of an earlier graph were: the same names, and the same with other numbers."""
    first_names = [node.name for node in (lazy("p") * 2 + lazy("q") - 1).graph().node]
    stems = sorted({re.sub(r"\d+", "{}", name) for name in first_names if name not in ("p", "q")})
    taken = sorted(
        {stem.format(*[number] * stem.count("{}")) for stem in stems for number in range(40)} | set(first_names)
    )
    sums = [lazy(name) for name in taken]
    while len(sums) > 1:
        rest = sums[len(sums) // 2 * 2 :]
        sums = [left * 1 + right for left, right in zip(sums[0:-1:2], sums[1::2], strict=True)] + rest
    crowded = sums[0].graph()
    assert_ordered(crowded, f"inputs called {', '.join(taken[:4])}, …, as nodes of an earlier graph were")
    inputs_held = sorted(node.name for node in crowded.node if node.op == "Placeholder")
    assert inputs_held == taken, "inputs keep their own names, also if an earlier graph had nodes of these names"


def check_odd_kernels():
    """Kernels that compute something else: their results are used, and constants reach them as NumPy values."""
    constants = []

    def odd_sub(left, right):
        constants.append(left)
        return np.asarray(left + 10 * right, np.float32)

    def odd_mul(left, right):
        constants.append(right)
        return np.asarray(left - right, np.float32)

    given = {"kernels": np.float32([1, 2]), "self": np.float32([[3, 1]])}
    odd = {"Sub": odd_sub, "Mul": odd_mul, "AddV2": np.minimum}
    value = ((5 - lazy("kernels")) * 3 + lazy("self")).run(dict(odd), **given)
    words = "(5 - kernels) * 3 + self with inputs of these names, and kernels that compute something else than NumPy's"
    kinds = [type(one) in (np.float32, np.ndarray) and (one.dtype.name, one.shape) for one in constants]
    assert kinds == [("float32", ())] * 2, (
        f"{words}: Sub and Mul each get a constant once, a NumPy float32 of shape (); they got "
        f"{', '.join(f'{type(one).__name__} {one!r}' for one in constants) or 'none'}"
    )
    want = np.minimum(odd_mul(odd_sub(np.float32(5), given["kernels"]), np.float32(3)), given["self"])
    assert type(value) is np.ndarray, f"{words}: run returns an array, not a {type(value).__name__}"
    assert_close(value, want, words, 1e-5, 1e-6)


def check_later_readers():
    """A tensor's graph does not grow by what reads the tensor later."""
    alone = lazy("x")
    inner = alone - 3
    outer = inner * inner
    for tensor, words, want in [
        (alone, "an input", ["Placeholder"]),
        (inner, "x - 3, which another tensor reads,", ["Const", "Placeholder", "Sub"]),
        (outer, "t * t with t = x - 3", ["Const", "Mul", "Placeholder", "Sub"]),
    ]:
        held = sorted(node.op for node in tensor.graph().node)
        assert held == want, f"the graph of {words} holds {want}; found {held}"


check_random_expressions()
check_crowded_names()
check_odd_kernels()
check_later_readers()
### END HIDDEN TESTS

# %% [markdown] after_passing="lazy-tensor"
# The same Python lines, on your tensors and on TensorFlow's: same values, same kernels called, each once, and your
# graph runs in TensorFlow. TensorFlow overloads the operators in python/framework/override_binary_operator.py and
# python/ops/tensor_math_operator_overrides.py; the selection of what must run is `PruneForReverseReachability`
# (core/graph/algorithm.cc). TensorFlow's nodes belong to one `Graph`, which also keeps the dead ones; ours hang together
# only by their inputs, so that what nobody holds is gone and no pruning is needed.

# %% [markdown]
# A program of today writes no session, but `tf.function` works the same way: the Python function is run once with
# tensors that record, and the graph that comes out is run by the same runtime. Pruning too is the same: `dead` below is
# in the traced graph and not in the graph that runs. (Grappler has put a square in the place of `x * x` as well.)

# %%
from tflabs.runtime import trace_call


@tf.function(autograph=False)
def modern(x):
    print("Python runs the function, and x is", x)
    tf.exp(x, name="dead")  # nobody reads it
    return tf.subtract(2.0, x * x, name="result")


traced = trace_call(modern, tf.constant(3.0))
print("value:", traced.value.numpy())
print("traced:", sorted(node.name for node in traced.before.node))
print("runs:  ", sorted(node.name for part in traced.partitions.values() for node in part.node))

# %% [markdown]
# ## 3. One abstraction for many devices
#
# A node says *what*: an op type, attributes such as the dtype `T`, inputs. It may name a device, but it says nothing
# about how that device does it. The *how* is a **kernel**, and every kernel is registered under the op's name with a
# device type and constraints on attributes. CPU and GPU kernels of one op share no code; XLA's kernel of it does not
# even compute, it emits HLO. What they share is the node.

# %% nbgrader={"grade": false, "grade_id": "given-registry", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
# XLA enters its kernels into the registry when it is first used. A tiny compilation makes sure that they are there.
tf.function(tf.negative, jit_compile=True, autograph=False)(tf.constant(1.0))

# Device types that only compile (`AddSymbolicExecutionDevice` in TensorFlow).
COMPILE_ONLY = {"XLA_CPU_JIT", "XLA_GPU_JIT"}


def registrations(op: str) -> KernelList:
    """All registered kernels of an op, as TensorFlow's registry lists them."""
    return registered.get_registered_kernels_for_op(op)


def dtype_number(name: str) -> int:
    """The number of a dtype in protos: 1 for "float32"."""
    return tf.as_dtype(name).as_datatype_enum


def dtype_names(numbers: Iterable[int]) -> str:
    """Sorted names of dtypes, by comma."""
    return ", ".join(sorted(tf.as_dtype(number).name for number in numbers))


def op_dtypes(op: str) -> str:
    """The dtypes that the definition of an op admits for its attribute T."""
    [attribute] = [attr for attr in op_def_registry.get(op).attr if attr.name == "T"]
    return dtype_names(attribute.allowed_values.list.type) or "any"


def print_registrations(op: str) -> None:
    """Print what an op admits, and by device type and label the union of what its registrations admit for T."""
    print(f"{op}: its definition admits T = {op_dtypes(op)}")
    rows: dict[tuple[str, str], list[KernelDef]] = defaultdict(list)
    for kernel in registrations(op).kernel:
        rows[kernel.device_type, kernel.label].append(kernel)
    for (device, label), kernels in sorted(rows.items()):
        lists = [part.allowed_values.list.type for kernel in kernels for part in kernel.constraint if part.name == "T"]
        free = any(all(part.name != "T" for part in kernel.constraint) for kernel in kernels)
        words = "no constraint on T" if free else f"T = {dtype_names({number for one in lists for number in one})}"
        others: dict[str, set[int]] = defaultdict(set)
        for part in (part for kernel in kernels for part in kernel.constraint if part.name != "T"):
            others[part.name].update(part.allowed_values.list.type)
        more = "".join(f"; also constrained: {name} = {dtype_names(others[name])}" for name in sorted(others))
        print(f"    {device:<12} {len(kernels):>3} registered, {words}{more}" + (f"; label {label!r}" if label else ""))


# %% [markdown]
# One node, and two of its kernels. Eager execution on the CPU runs the CPU kernel; `jit_compile` runs what the kernel
# for the device type `XLA_CPU_JIT` emitted, compiled to machine code.

# %%
with tf.Graph().as_default() as drawn:
    tf.raw_ops.Softplus(features=tf1.placeholder(tf.float32, [3], name="x"), name="y")
print(drawn.as_graph_def().node[1])
values = tf.constant([-1.0, 0.0, 1.0])
with tf.device("/CPU:0"):
    print("CPU kernel:   ", tf.raw_ops.Softplus(features=values).numpy())
compiled = tf.function(lambda x: tf.raw_ops.Softplus(features=x), jit_compile=True, autograph=False)
print("through XLA:  ", compiled(values).numpy())
print_registrations("Softplus")

# %% [markdown]
# The whole registry of this installation, by device type; and how many ops have a kernel for the CPU and for no other
# device type. `DEFAULT` is no device. Kernels registered for it pass tensors on or work in host memory, so they serve
# every device type that has no kernel of its own for the node. The device types that only compile are left out of this:
# for XLA, a kernel must emit HLO.

# %%
everything = registered.get_all_registered_kernels().kernel
print(Counter(kernel.device_type for kernel in everything).most_common())
device_types_of = defaultdict(set)
for kernel in everything:
    device_types_of[kernel.op].add(kernel.device_type)
alone = sum(types == {"CPU"} for types in device_types_of.values())
print(f"{len(device_types_of)} ops have kernels; {alone} of them for the CPU only")
print("MatMul:", sorted(device_types_of["MatMul"]))

# %% [markdown]
# Even a build for CPUs has kernels for `GPU`: most of them pass tensors on, steer control flow or work in host memory,
# which needs no code for a GPU. Those that compute on a GPU, `MatMul`'s among them, come with a build for GPUs.
#
# ### Exercise 5 · Who has a kernel? (1 point)
#
# Four ops, their definitions and their registrations:

# %%
for op in ["IdentityN", "BesselI0", "Reciprocal", "Unique"]:
    print_registrations(op)

# %% [markdown]
# The first line of an op is what its *definition* admits: nodes with another `T` cannot even be built. (`IdentityN` has
# a list of types for `T`.) The lines below say what was registered. A node runs on the CPU if a kernel fits.
#
# Set `answers` to a dict with these four keys, op and dtype of T, and `True` where the op runs on the CPU, eagerly
# under `tf.device("/CPU:0")`, else `False`: `"IdentityN float32"`, `"BesselI0 bfloat16"`, `"Reciprocal int32"`,
# `"Unique uint16"`. For two other pairs it could read `{"Softplus float32": True, "BesselI0 float32": True}`.

# %% nbgrader={"grade": false, "grade_id": "device-prediction", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
# answers = {"IdentityN float32": ..., "BesselI0 bfloat16": ..., "Reciprocal int32": ..., "Unique uint16": ...}
### BEGIN SOLUTION
answers = {"IdentityN float32": True, "BesselI0 bfloat16": False, "Reciprocal int32": False, "Unique uint16": True}
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "device-prediction-test", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
asked_pairs = ["IdentityN float32", "BesselI0 bfloat16", "Reciprocal int32", "Unique uint16"]
assert type(answers) is dict, f"answers is a dict, not a {type(answers).__name__}"
assert sorted(answers) == sorted(asked_pairs), f"the keys are {asked_pairs}; found {list(answers)}"
assert [type(answers[pair]) for pair in asked_pairs] == [bool] * 4, f"each answer is True or False; found {answers}"


### BEGIN HIDDEN TESTS
def runs(op, dtype):
    """Whether an op runs eagerly on the CPU."""
    value = tf.zeros([2], dtype)
    argument = {"IdentityN": {"input": [value]}}.get(op, {"x": value})
    try:
        with tf.device("/CPU:0"):
            getattr(tf.raw_ops, op)(**argument)
    except tf.errors.NotFoundError:
        return False
    return True


real_answers = {pair: runs(*pair.split()) for pair in asked_pairs}
differ = sum(answers[pair] is not real_answers[pair] for pair in asked_pairs)
assert answers == real_answers, (
    f"TensorFlow decides otherwise in {differ} of the four. Which lines count for the device type CPU? What does "
    "DEFAULT stand for, and what does the line of an op's definition say about kernels?"
)
### END HIDDEN TESTS

# %% [markdown] after_passing="device-prediction"
# `IdentityN` has no kernel for the CPU by that name and runs there by `DEFAULT`. `BesselI0` may be built with bfloat16
# and `Reciprocal` with int32, yet no CPU kernel takes them: an op's definition is a promise about nodes, not about
# kernels. For `Reciprocal` of int32 the error message even lists XLA's kernel, which the CPU cannot use. `Unique` is
# also constrained in `out_idx`, whose default has a kernel.

# %% [markdown]
# ### Exercise 6 · Read the registry (3 points)
#
# Write `device_types(kernels: KernelList, dtype: int, devices: list[str]) -> list[str]`: those of `devices` (device
# types, each once), in their order, on which a node with `T = dtype` has a kernel.
#
# A `KernelList` has a repeated field `kernel` of `KernelDef`s. Read of each: `device_type`; `label`; and `constraint`,
# a repeated field of parts with a `name` and the numbers of the allowed dtypes in `allowed_values.list.type`.
#
# - A registration fits if its label is empty and each constraint named `T` allows the dtype. Constraints with other
#   names do not matter here; one without a constraint named `T` allows all dtypes. (A label is asked for by the
#   attribute `_kernel` of a node; ours have none.)
# - A device type has a kernel if a registration for it fits, or one for `DEFAULT`. `DEFAULT` does not count for the
#   device types in `COMPILE_ONLY`. `devices` never holds `DEFAULT` itself.
# - Registrations stand in any order, and a device type may have any number of them.
#
# The function looks at its arguments alone. In tests some registrations are TensorFlow's own under another `op` name,
# and some are made up, as are some device types: asking the runtime is of no use. An empty list of either kind gives
# `[]`.
#
# ```
# >>> device_types(registrations("BesselI0"), dtype_number("float32"), ["GPU", "CPU", "XLA_CPU_JIT"])
# ['CPU']
# >>> device_types(registrations("IdentityN"), dtype_number("float32"), ["GPU", "CPU", "XLA_CPU_JIT"])
# ['GPU', 'CPU', 'XLA_CPU_JIT']
# ```
#
# <details><summary>Hint 1</summary>
#
# Two questions, one after the other: which registrations fit this dtype, whatever their device? And given the device
# types of those: is this device among them, or is `DEFAULT`?
# </details>
#
# <details><summary>Hint 2</summary>
#
# Collect `fitting = {kernel.device_type for kernel in kernels.kernel if …}`; the condition is `not kernel.label and
# all(…)` over the constraints named `T`. Then one list comprehension over `devices`.
# </details>

# %% nbgrader={"grade": false, "grade_id": "find-kernels", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def device_types(kernels: KernelList, dtype: int, devices: list[str]) -> list[str]:
    """Those of `devices`, in their order, that have a kernel for a node with `T = dtype` (a number of DataType)."""
    ### BEGIN SOLUTION
    fitting = {
        kernel.device_type
        for kernel in kernels.kernel
        if not kernel.label
        and all(dtype in part.allowed_values.list.type for part in kernel.constraint if part.name == "T")
    }
    return [device for device in devices if device in fitting or ("DEFAULT" in fitting and device not in COMPILE_ONLY)]
    ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "given-truth", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
UNARY_OPS = [
    *("Abs", "BesselI0", "Cosh", "Digamma", "Elu", "Erf", "Exp", "Floor", "Invert", "IsNan", "Lgamma"),
    *("Neg", "PopulationCount", "Reciprocal", "Relu", "Rint", "Rsqrt", "Sign", "Sin", "Softplus", "Sqrt", "ZerosLike"),
]


@cache
def unary_pairs() -> list[tuple[str, int]]:
    """Each of UNARY_OPS with each numeric dtype that its definition admits."""
    numeric = {dtype_number(name) for name in ("bfloat16", "complex64", "complex128")}
    numeric |= {dtype_number(f"float{bits}") for bits in (16, 32, 64)}
    numeric |= {dtype_number(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)}
    pairs = []
    for op in UNARY_OPS:
        [attribute] = [attr for attr in op_def_registry.get(op).attr if attr.name == "T"]
        admitted = set(attribute.allowed_values.list.type) or numeric
        pairs += [(op, dtype) for dtype in sorted(admitted & numeric)]
    return pairs


def applied(op: str, value: tf.Tensor, name: str | None = None) -> tf.Tensor:
    """An op with one argument, applied to a value."""
    argument = op_def_registry.get(op).input_arg[0].name
    return getattr(tf.raw_ops, op)(**{argument: value}, name=name)


@cache
def eager_kernel(op: str, dtype: int) -> bool:
    """Whether the runtime finds a CPU kernel for an op with one argument, eagerly."""
    try:
        with tf.device("/CPU:0"):
            applied(op, tf.zeros([2], tf.as_dtype(dtype)))
    except tf.errors.NotFoundError:
        return False
    return True


@cache
def compiled_kernel(op: str, dtype: int) -> bool:
    """Whether XLA compiles an op with one argument for the CPU."""
    compiled = tf.function(lambda value: applied(op, value), jit_compile=True, autograph=False)
    try:
        compiled(tf.zeros([2], tf.as_dtype(dtype)))
    except tf.errors.InvalidArgumentError as error:
        assert f"No registered '{op}' OpKernel" in error.message, error.message
        return False
    return True


# %% nbgrader={"grade": true, "grade_id": "find-kernels-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
for dtype, found_by_tensorflow in (("float32", ["CPU"]), ("float16", ["CPU"]), ("bfloat16", [])):
    found_types = device_types(registrations("BesselI0"), dtype_number(dtype), ["GPU", "CPU", "XLA_CPU_JIT"])
    assert type(found_types) is list, f"device_types returns a list, not a {type(found_types).__name__}"
    assert found_types == found_by_tensorflow, (
        f"BesselI0 of {dtype} on GPU, CPU, XLA_CPU_JIT: {found_by_tensorflow} is due, found {found_types}"
    )
found_types = device_types(registrations("IdentityN"), dtype_number("float32"), ["TPU", "CPU"])
assert type(found_types) is list, f"device_types returns a list, not a {type(found_types).__name__}"
assert found_types == ["TPU", "CPU"], f"IdentityN is registered for DEFAULT: TPU and CPU have it; found {found_types}"


### BEGIN HIDDEN TESTS
def hidden_list(kernels, rng):
    """The same registrations in random order, under another op name."""
    name = f"Op{rng.randrange(10**6)}"
    shuffled = KernelList()
    for kernel in rng.sample(list(kernels), len(kernels)):
        shuffled.kernel.add().CopyFrom(kernel)
        shuffled.kernel[-1].op = name
    return shuffled


def made_up(device, label="", **constraints):
    """A registration; `constraints` are lists of dtype numbers by attribute."""
    kernel = KernelDef(device_type=device, label=label)
    for name, allowed in constraints.items():
        kernel.constraint.add(name=name).allowed_values.list.type.extend(allowed)
    return kernel


def in_short(kernels):
    """Registrations in words, such as "NPU for float32; DEFAULT for all types"."""
    lines = []
    for kernel in kernels:
        limits = {part.name: dtype_names(part.allowed_values.list.type) for part in kernel.constraint}
        words = [f"{kernel.device_type} for {limits.pop('T', 'all types')}"]
        words += [f"{name} = {types}" for name, types in limits.items()]
        lines.append(", ".join(words + ([f"label {kernel.label!r}"] if kernel.label else [])))
    return "; ".join(lines) or "no registration"


def labelled_op_runs():
    """Whether a node without a label runs if all kernels of its op have one."""
    with tf.Graph().as_default() as drawn:
        node = drawn.create_op("KernelLabelRequired", [tf.constant([1])], [tf.string])
        with tf1.Session(config=plain_config()) as runtime:
            try:
                runtime.run(node)
            except tf.errors.InvalidArgumentError:
                return False
    return True


def ask(rng, kernels, dtype, devices, words):
    """The learner's answer, checked for its type."""
    answer = device_types(hidden_list(kernels, rng), dtype, list(devices))
    assert type(answer) is list, f"{words}: device_types returns a list, not a {type(answer).__name__}"
    kinds = sorted({type(device).__name__ for device in answer} - {"str"})
    assert not kinds, f"{words}: the list holds device types, which are str; found {', '.join(kinds)}"
    return answer


def check_own_registrations():
    """TensorFlow's registrations against what the runtime finds."""
    seed = random.SystemRandom().randrange(10**6)
    rng = random.Random(seed)
    for op, dtype in unary_pairs():
        words = f"{op} of {tf.as_dtype(dtype).name} on CPU (seed {seed})"
        answer = ask(rng, registrations(op).kernel, dtype, ["CPU"], words)
        want = ["CPU"] if eager_kernel(op, dtype) else []
        assert answer == want, (
            f"{words}: eagerly TensorFlow finds {'a kernel' if want else 'no kernel'}, device_types gives {answer}"
        )
    emitting = ["Neg float32", "Reciprocal int32", "PopulationCount int32", "Rint bfloat16", "Lgamma bfloat16"]
    silent = ["BesselI0 float32", "Dawsn float32", "Spence float64", "DebugIdentityV3 float32"]
    for pair in emitting + silent:
        op, name = pair.split()
        words = f"{op} of {name} on XLA_CPU_JIT (seed {seed})"
        answer = ask(rng, registrations(op).kernel, dtype_number(name), ["XLA_CPU_JIT"], words)
        want = ["XLA_CPU_JIT"] if compiled_kernel(op, dtype_number(name)) else []
        devices = ", ".join(sorted({kernel.device_type for kernel in registrations(op).kernel}))
        assert answer == want, (
            f"{words}: the op is registered for {devices}; XLA finds {'a kernel' if want else 'no kernel'}, "
            f"device_types gives {answer}"
        )
    answer = ask(
        rng, registrations("KernelLabelRequired").kernel, dtype_number("int32"), ["CPU"], "labelled kernels only"
    )
    want = ["CPU"] if labelled_op_runs() else []
    assert answer == want, (
        f"all kernels of this op have a label: TensorFlow finds {'a kernel' if want else 'no kernel'}, "
        f"device_types gives {answer}"
    )
    answer = ask(rng, registrations("Unique").kernel, dtype_number("uint16"), ["CPU"], "Unique of uint16")
    assert answer == ["CPU"], f"Unique is also constrained in out_idx, which does not matter here; found {answer}"


def check_made_up_registrations():
    """One rule for all device types: own kernels, then DEFAULT, except for those that only compile."""
    rng = random.Random(random.SystemRandom().randrange(10**6))
    cases = []
    FLOAT, INT, HALF = 1, 3, 19
    cases.append(([made_up("NPU", T=[INT]), made_up("NPU", T=[FLOAT])], FLOAT, ["NPU"], ["NPU"]))
    cases.append(([made_up("NPU", T=[FLOAT]), made_up("DEFAULT", T=[INT])], INT, ["NPU", "CPU"], ["NPU", "CPU"]))
    real = ["DSP", "XLA_CPU", "GPU", "DSP_JIT"]  # among devices that only compile, and with names like theirs
    cases.append(([made_up("DEFAULT")], HALF, ["XLA_GPU_JIT", *real, "XLA_CPU_JIT"], real))
    cases.append(
        ([made_up("DEFAULT"), made_up("XLA_GPU_JIT", T=[HALF])], HALF, ["XLA_GPU_JIT", "XLA_CPU_JIT"], ["XLA_GPU_JIT"])
    )
    cases.append(([made_up("DSP", "fast", T=[FLOAT]), made_up("GPU", T=[FLOAT])], FLOAT, ["DSP", "GPU"], ["GPU"]))
    cases.append(([made_up("DEFAULT", "fast"), made_up("CPU")], FLOAT, ["GPU", "CPU"], ["CPU"]))
    cases.append(([made_up("GPU", Tidx=[INT], T=[FLOAT])], FLOAT, ["GPU"], ["GPU"]))
    cases.append(([made_up("GPU", Tidx=[FLOAT], T=[INT])], FLOAT, ["GPU"], []))
    cases.append(([made_up("GPU", Tidx=[INT])], FLOAT, ["GPU"], ["GPU"]))
    cases.append(([], FLOAT, ["GPU", "CPU"], []))
    cases.append(([made_up("GPU"), made_up("CPU")], FLOAT, [], []))
    many = rng.sample([f"TYPE{number}" for number in range(9)], 9)
    cases.append(([made_up(device) for device in sorted(many)], FLOAT, many, many))
    for kernels, dtype, devices, want in cases:
        words = f"registered: {in_short(kernels)}. A node of {dtype_names([dtype])} on {', '.join(devices) or 'no device'}"
        answer = ask(rng, kernels, dtype, devices, words)
        assert answer == want, f"{words}: {want} is due, found {answer}"


check_own_registrations()
check_made_up_registrations()
### END HIDDEN TESTS

# %% [markdown] after_passing="find-kernels"
# Your reading of the registry agreed with what the runtime found, for every numeric dtype of twenty-two ops on the CPU
# and for a sample under XLA. TensorFlow's is `FindKernelRegistration` (core/framework/op_kernel.cc): the key is op,
# device type and label, then the attributes are compared, then the same again for `DEFAULT` unless
# `IsSymbolicExecutionDevice`. It compares all constraints, not only `T`, and of several that fit the priority decides
# (lab 3-10). Ours first collects what fits, because the two passes then are one line.

# %% [markdown]
# ### Exercise 7 · The same, turned round (3 points)
#
# Now the side that answers: the registry itself. Write `class KernelRegistry` (no arguments).
#
# - `register(op: str, device: str, types: set[int] | None, kernel: object) -> None` enters a kernel for an op on a
#   device type, for a set of dtype numbers (not empty) or, with `None`, for all dtypes. `device` may be `"DEFAULT"`,
#   and a kernel any object but `None`. If the same op has an entry for the same device with a type in common (`None`
#   has all in common with everything), it raises `ValueError` and enters nothing. Entries for a device and for
#   `DEFAULT` do not clash.
# - `find(op: str, dtype: int, requested: str | None, available: list[str]) -> tuple[str, object]` returns a device type
#   and its kernel. It tries the requested device type, if it is among the available ones, and then the available ones
#   in their order: this is soft placement. On each it takes a kernel that was registered for this device, else one for
#   `DEFAULT`; the device type in the result is never `DEFAULT`. It does not go on to the next device while the first
#   has a `DEFAULT` kernel that fits.
# - If nothing is found, it raises `NotFoundError`, made as `NotFoundError(None, None, message)`; the message names the
#   op.
#
# There are no labels here and no compile-only devices, and `available` never holds `DEFAULT`. Two registries share
# nothing.
#
# ```
# >>> registry = KernelRegistry()
# >>> registry.register("Add", "CPU", {1, 2}, "add on CPU")
# >>> registry.register("Add", "DEFAULT", None, "add anywhere")
# >>> registry.find("Add", 1, "GPU", ["CPU"]), registry.find("Add", 3, None, ["CPU"])
# (('CPU', 'add on CPU'), ('CPU', 'add anywhere'))
# >>> registry.find("Add", 1, "GPU", ["CPU", "GPU"])
# ('GPU', 'add anywhere')
# ```
#
# <details><summary>Hint 1</summary>
#
# Two loops, one in the other: the outer one over device types in the order in which they are tried, the inner one over
# where the kernel may have been registered for: this device type, then `DEFAULT`. The first hit is the answer.
# </details>
#
# <details><summary>Hint 2</summary>
#
# Keep per (op, device) a list of (types, kernel). Two entries clash if either types is `None` or the sets meet. An
# entry fits if types is `None` or holds the dtype. The order to try is `[requested] + available`, without the requested
# one if it is not available; that it is tried twice does no harm.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-not-found", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
NotFoundError = tf.errors.NotFoundError


def assert_found(answer: tuple, want: tuple, where: str) -> None:
    """Assert that `find` returned this device type and this kernel, in a tuple."""
    assert type(answer) is tuple, f"{where}: find returns a tuple, not a {type(answer).__name__}"
    same_types = [type(part) for part in answer] == [type(part) for part in want]
    assert same_types and answer == want, f"{where}: {want} is due, found {answer}"


# %% nbgrader={"grade": false, "grade_id": "kernel-registry", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
class KernelRegistry:
    """Kernels by op, device type and dtype."""

    def __init__(self) -> None:
        ### BEGIN SOLUTION
        self._entries: dict[tuple[str, str], list[tuple[set[int] | None, object]]] = defaultdict(list)
        ### END SOLUTION

    def register(self, op: str, device: str, types: set[int] | None, kernel: object) -> None:
        """Enter a kernel for dtypes (None: for all).

        Raises:
            ValueError: the op has an entry for this device with a type in common; nothing is entered.
        """
        ### BEGIN SOLUTION
        for taken, _ in self._entries[op, device]:
            if taken is None or types is None or taken & types:
                raise ValueError(f"{op} on {device} already has a kernel for some of these types")
        self._entries[op, device].append((types, kernel))
        ### END SOLUTION

    def find(self, op: str, dtype: int, requested: str | None, available: list[str]) -> tuple[str, object]:
        """The device type that a node gets, and the kernel: the requested device type first, then the available ones.

        Raises:
            NotFoundError: no available device type has a kernel; the message names the op.
        """
        ### BEGIN SOLUTION
        for device in [requested, *available]:
            for registered_for in (device, "DEFAULT") if device in available else ():
                for types, kernel in self._entries.get((op, registered_for), []):
                    if types is None or dtype in types:
                        return device, kernel
        raise NotFoundError(None, None, f"no kernel of {op} for dtype {dtype} on any of {available}")
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "kernel-registry-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
registry = KernelRegistry()
registry.register("Add", "CPU", {1, 2}, "add on CPU")
registry.register("Add", "DEFAULT", None, "add anywhere")
registry.register("Mul", "GPU", {1}, "mul on GPU")
for asked, expected in [
    (("Add", 1, "GPU", ["CPU"]), ("CPU", "add on CPU")),
    (("Add", 3, None, ["CPU"]), ("CPU", "add anywhere")),
    (("Add", 1, "GPU", ["CPU", "GPU"]), ("GPU", "add anywhere")),
    (("Add", 1, None, ["CPU", "GPU"]), ("CPU", "add on CPU")),
    (("Mul", 1, "CPU", ["CPU", "GPU"]), ("GPU", "mul on GPU")),
]:
    assert_found(registry.find(*asked), expected, f"find{asked}")
for asked in [("Mul", 1, "GPU", ["CPU"]), ("Mul", 2, None, ["GPU"]), ("Sub", 1, None, ["CPU", "GPU"])]:
    try:
        answer = registry.find(*asked)
    except NotFoundError as error:
        assert asked[0] in error.message, f"the message for find{asked} must name {asked[0]}; it says {error.message!r}"
    else:
        raise AssertionError(f"find{asked}: no kernel fits, NotFoundError is due; found {answer}")
for types in ({2, 3}, None):
    try:
        registry.register("Add", "CPU", types, "another")
    except ValueError:
        pass
    else:
        raise AssertionError(f"Add on CPU has a kernel for types 1 and 2; register for {types} must raise ValueError")
assert_found(
    registry.find("Add", 3, None, ["CPU"]),
    ("CPU", "add anywhere"),
    "a refused registration leaves nothing behind; Add of type 3 on CPU",
)


### BEGIN HIDDEN TESTS
def placed(pairs):
    """By pair: the device type where TensorFlow puts a node that asks for a GPU, of which there is none; or None."""
    config = plain_config()
    config.allow_soft_placement = True
    config.device_count["GPU"] = 0
    config.graph_options.place_pruned_graph = True  # a node that cannot be placed hurts only its own step
    found = {}
    with tf.Graph().as_default() as drawn:
        with drawn.device("/device:GPU:0"):
            for number, (op, dtype) in enumerate(pairs):
                applied(op, tf.constant(0, tf.as_dtype(dtype), [20]), name=f"asked{number}")
        with tf1.Session(config=config) as runtime:
            for number, pair in enumerate(pairs):
                name = f"asked{number}"
                try:
                    parts = trace_run(runtime, drawn.get_operation_by_name(name)).partitions
                except tf.errors.InvalidArgumentError:
                    found[pair] = None
                    continue
                [device] = [device for device, part in parts.items() if name in {node.name for node in part.node}]
                found[pair] = device.rsplit(":", 2)[1]
    return found


def expected_answer(entries, op, dtype, requested, available):
    """The rule over a list of (op, device, types, kernel), entry by entry."""
    tried = ([requested] if requested in available else []) + [one for one in available if one != requested]
    for device in tried:
        for source in (device, "DEFAULT"):
            for entry_op, entry_device, types, kernel in entries:
                if (entry_op, entry_device) == (op, source) and (types is None or dtype in types):
                    return device, kernel
    return None


def asked_of(learners, *question):
    """The learner's answer; None for NotFoundError."""
    try:
        answer = learners.find(*question)
    except NotFoundError as error:
        assert question[0] in error.message, (
            f"the message for find{question} must name the op; it says {error.message!r}"
        )
        return None
    assert type(answer) is tuple, f"find{question} returns a tuple or raises; found a {type(answer).__name__}"
    return answer


def check_own_entries():
    """TensorFlow's own registrations, the kernel being the device type it is registered for."""
    seed = random.SystemRandom().randrange(10**6)
    rng = random.Random(seed)
    learners = KernelRegistry()
    entered = []
    for op in rng.sample(UNARY_OPS, len(UNARY_OPS)):
        for kernel in registrations(op).kernel:
            allowed = [set(part.allowed_values.list.type) for part in kernel.constraint if part.name == "T"]
            if not kernel.label and kernel.device_type not in COMPILE_ONLY:
                entered.append((op, kernel.device_type, allowed[0] if allowed else None, kernel.device_type))
    for op, device, types, kernel in entered:
        learners.register(op, device, None if types is None else set(types), kernel)
    rare = [("Lgamma", "bfloat16"), ("BesselI0", "bfloat16"), ("Reciprocal", "int32"), ("Rint", "float16")]
    pairs = rng.sample(unary_pairs(), 56) + [(op, dtype_number(name)) for op, name in rare]
    mine = {pair: asked_of(learners, *pair, "GPU", ["CPU"]) for pair in pairs}
    real = placed(pairs)
    for op, dtype in mine:
        words = f"{op} of {tf.as_dtype(dtype).name}, requested GPU, available CPU (seed {seed})"
        device, answer = real[op, dtype], mine[op, dtype]
        if device is None:
            assert answer is None, f"{words}: TensorFlow finds no kernel, find gives {answer}"
        else:
            want = expected_answer(entered, op, dtype, "GPU", [device])
            assert answer is not None, f"{words}: TensorFlow puts it on {device}; {want} is due, found NotFoundError"
            assert_found(answer, want, f"{words}: TensorFlow puts it on {device}")


def check_made_up_entries():
    """Entries for devices that this machine does not have."""
    seed = random.SystemRandom().randrange(10**6)
    rng = random.Random(seed)
    for case in range(20):
        learners, entries = KernelRegistry(), []
        for number in range(12):
            op, device = rng.choice(["Add", "Mul"]), rng.choice(["CPU", "GPU", "NPU", "DEFAULT"])
            types = None if rng.random() < 0.2 else set(rng.sample(range(1, 7), rng.randrange(1, 3)))
            clash = any(
                entry[:2] == (op, device) and (types is None or entry[2] is None or types & entry[2])
                for entry in entries
            )
            refused = False
            try:
                learners.register(op, device, None if types is None else set(types), number)
            except ValueError:
                refused = True
            history = "; ".join(f"{entry[3]!r} for {entry[0]} on {entry[1]}, types {entry[2]}" for entry in entries)
            assert refused is clash, (
                f"registered: {history or 'nothing'}. Then {op} on {device}, types {types}: "
                f"{'ValueError is due' if clash else 'no error is due, ValueError came'} (seed {seed}, case {case})"
            )
            if not clash:
                entries.append((op, device, types, number))
        for _ in range(24):
            available = rng.sample(["CPU", "GPU", "NPU"], rng.randrange(1, 4))
            question = (
                rng.choice(["Add", "Mul"]),
                rng.randrange(1, 7),
                rng.choice([None, "CPU", "GPU", "NPU"]),
                available,
            )
            answer = asked_of(learners, *question[:3], list(available))
            want = expected_answer(entries, *question)
            words = f"registered: {history}. find{question} (seed {seed}, case {case})"
            assert (answer is None) is (want is None), (
                f"{words}: {want or 'NotFoundError'} is due, found {answer or 'NotFoundError'}"
            )
            if want is not None:
                assert_found(answer, want, words)


check_own_entries()
check_made_up_entries()
### END HIDDEN TESTS

# %% [markdown] after_passing="kernel-registry"
# Filled with TensorFlow's registrations, your registry put every node where the runtime put it, and found no kernel
# where the runtime found none. In TensorFlow the registry is a map with the key op, device type, label
# (`KernelRegistry`, core/framework/op_kernel.cc); the placer asks `SupportedDeviceTypesForNode` which device types can
# take a node and picks among them (core/common_runtime/placer.cc). TensorFlow lets two registrations clash and
# complains when a node meets both; ours refuses the second at once, where the mistake is made.

# %% [markdown]
# ## Play
#
# The figure runs steps of a real session over a small graph, on the CPU. Choose what is fetched and what is fed: the
# nodes whose kernels ran light up. Under each node stands a what-if: the first device type of the list that has a kernel
# for it, and whose kernel that is, read from TensorFlow's registry. Reorder the list, or take some away.
#
# - `GPU` first: `total` gets a kernel of the GPU's own, in a build for CPUs. A `Reshape` moves no numbers, so no code for
#   a GPU is needed. `root` and `product` compute, and fall through to the next of the list.
# - `XLA_CPU_JIT` first: all nodes get a kernel of XLA's but two, which fall through. Nobody has written one for the
#   `BesselI0` of `scale`; and the placeholder has one for `DEFAULT`, which does not serve devices that only compile.
#
# What ran, ran by the session's own choice, here on the CPU, whatever the line under the node says.

# %%
from tflabs.view import dispatch


def mixed_graph() -> tf.Graph:
    """Ops that differ in which device types have a kernel for them."""
    with tf.Graph().as_default() as drawn:
        x = tf1.placeholder(tf.float32, [4], name="x")
        scale = tf.raw_ops.BesselI0(x=x, name="scale")
        root = tf.raw_ops.Sqrt(x=scale, name="root")
        kept = tf.stop_gradient(root, name="kept")
        total = tf.raw_ops.Reshape(tensor=kept, shape=tf.constant([2, 2], name="shape"), name="total")
        tf.raw_ops.MatMul(a=total, b=total, name="product")
        tf.raw_ops.IdentityN(input=[x], name="copy")
        values, _ = tf.raw_ops.Unique(x=x, name="unique")
        tf.raw_ops.Neg(x=values, name="minus")
    return drawn


dispatch(tf1.Session(graph=mixed_graph(), config=plain_config()))

# %% [markdown]
# ## Read on
#
# - `core/framework/op_def.proto` and `core/framework/kernel_def.proto`: what an op is, and what a kernel is registered
#   with. `core/framework/op_kernel.cc`: `KernelRegistry`, `FindKernelRegistration`, `SupportedDeviceTypesForNode`.
# - `core/kernels/xent_op.h` and `compiler/tf2xla/kernels/softmax_op.cc`: one op, as a fused kernel and as a
#   decomposition. `python/ops/nn_impl.py`: layers and losses that are compositions.
# - `core/graph/subgraph.cc`: `RewriteGraphForExecution`. `core/graph/algorithm.cc`: `PruneForReverseReachability`.
#   `python/framework/ops.py` and `python/framework/override_binary_operator.py`: how Python's operators add nodes.
# - `core/common_runtime/placer.cc` and `colocation_graph.cc`: the choice among device types (labs 2-3 and 3-9).
#
# What changed since 1.x: eager execution gave up the second principle at the surface: an op runs when Python reaches
# it. `tf.function` brought it back where it pays. Both use the same ops, the same kernels and the same registry. XLA
# takes the first principle further: it takes ops apart into the few primitives of HLO, and fuses what it gets. Kernels
# for `DEFAULT` serve pluggable devices: a new device need not register what is the same on all.

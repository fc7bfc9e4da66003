"""TensorFlow's own objects, made once, that the picture tests draw."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


@pytest.fixture(scope="session")
def tf():
    import tensorflow

    tensorflow.get_logger().setLevel("ERROR")
    return tensorflow


def run_traced(tf, build, cpus: int):
    """Runs what `build` returns, twice; returns the graph and the second run's metadata."""
    v1 = tf.compat.v1
    config = v1.ConfigProto(device_count={"CPU": cpus})
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.optimizer_options.opt_level = -1
    options = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE, output_partition_graphs=True)
    metadata = v1.RunMetadata()
    with tf.Graph().as_default() as graph:
        fetched = build()
        with v1.Session(graph=graph, config=config) as session:
            session.run(fetched)
            session.run(fetched, options=options, run_metadata=metadata)
    return SimpleNamespace(graph=graph, metadata=metadata)


@pytest.fixture(scope="session")
def two_devices(tf):
    def build():
        with tf.device("/CPU:0"):
            a = tf.constant([[1.0, 2.0], [3.0, 4.0]], name="a")
            b = tf.matmul(a, a, name="b")
        with tf.device("/CPU:1"):
            c = tf.matmul(b, b, name="c")
            d = tf.nn.relu(c, name="d")
        with tf.device("/CPU:0"), tf.control_dependencies([c]):
            return tf.add(d, b, name="training/Adam/gradients/mul_grad/Reshape_1")

    return run_traced(tf, build, 2)


@pytest.fixture(scope="session")
def three_devices(tf):
    def build():
        towers = []
        for i in range(3):
            with tf.device(f"/CPU:{i}"):
                x = tf.constant([[1.0, 2.0], [3.0, 4.0]], name=f"x{i}")
                towers.append(tf.matmul(x, x, name=f"tower_{i}/matmul"))
        with tf.device("/CPU:0"):
            total = tf.add_n(towers, name="sum")
        scaled = []
        for i in range(3):
            with tf.device(f"/CPU:{i}"):
                scaled.append(tf.multiply(towers[i], total, name=f"tower_{i}/scaled"))
        with tf.device("/CPU:2"):
            return tf.concat(scaled, 0, name="out")

    return run_traced(tf, build, 3)


@pytest.fixture(scope="session")
def loop(tf):
    def build():
        v1 = tf.compat.v1
        was = v1.control_flow_v2_enabled()
        v1.disable_control_flow_v2()
        try:
            start = [tf.constant(0, name="i"), tf.constant(1.0, name="x")]
            return tf.while_loop(lambda i, _: i < 3, lambda i, x: (i + 1, x * 2.0), start, name="loop")
        finally:
            if was:
                v1.enable_control_flow_v2()

    return run_traced(tf, build, 1)


@pytest.fixture(scope="session")
def layers(tf):
    """A graph of more than 500 nodes in name scopes."""
    with tf.Graph().as_default() as graph:
        h = tf.compat.v1.placeholder(tf.float32, [None, 8], name="images")
        kernels = []
        for layer in range(30):
            with tf.compat.v1.variable_scope(f"dense_{layer}"):
                kernels.append(tf.compat.v1.get_variable("kernel", [8, 8]))
                h = tf.nn.relu(tf.matmul(h, kernels[-1]))
        tf.compat.v1.gradients(tf.reduce_mean(h, name="loss"), kernels, name="gradients")
    return graph


@pytest.fixture(scope="session")
def chain(tf):
    """A graph of 600 nodes without name scopes, of which n300 is one."""
    with tf.Graph().as_default() as graph:
        x = tf.constant(1.0, name="n0")
        for i in range(1, 600):
            x = (tf.negative if i % 2 else tf.exp)(x, name=f"n{i}")
    return graph


@pytest.fixture(scope="session")
def traced(tf):
    """A tf.function with a loop and a condition, as a ConcreteFunction."""

    @tf.function
    def f(x):
        y = tf.zeros_like(x)
        for _ in tf.range(3):
            y = y + x if tf.reduce_sum(x) > 0 else y - x
        return tf.nn.relu(y)

    return f.get_concrete_function(tf.TensorSpec([4], tf.float32))


@pytest.fixture(scope="session")
def programs(tf):
    """Name -> compiler stage -> text, of three jitted functions."""

    def dense(x, w, b):
        return tf.nn.relu(x @ w + b)

    def softmax(x):
        return tf.nn.softmax(x)

    def fma_chain(a, b, c):
        return tf.tanh(a * b + c) * 2.0 - a

    x, w, b = tf.ones([32, 16]), tf.ones([16, 8]), tf.ones([8])
    texts = {}
    for function, args in ((dense, (x, w, b)), (softmax, (x,)), (fma_chain, (x, x, x))):
        read = tf.function(function, jit_compile=True).experimental_get_compiler_ir(*args)
        stages = ("hlo", "optimized_hlo", "optimized_hlo_dot")
        texts[function.__name__] = {stage: read(stage=stage) for stage in stages}
    return texts

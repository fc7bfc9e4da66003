import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.eager import context

from tflabs.runtime import plain_config, trace_call, trace_run

tf1 = tf.compat.v1
CPU0, CPU1 = (f"/job:localhost/replica:0/task:0/device:CPU:{index}" for index in range(2))


def test_the_graph_that_runs_is_the_graph_that_was_written() -> None:
    with tf.Graph().as_default():
        with tf.device("/cpu:0"):
            a = tf.constant(np.arange(20.0), name="a")
        # Grappler would fold all of it into one constant, and the session would merge the two sums.
        with tf.device("/cpu:1"):
            left, right = tf.add(a, a, name="left"), tf.add(a, a, name="right")
        with tf.device("/cpu:0"):
            y = tf.multiply(left, right, name="y")
        tf.negative(y, name="unused")
        with tf1.Session(config=plain_config(2)) as session:
            trace = trace_run(session, y)
    np.testing.assert_array_equal(trace.values, (2 * np.arange(20.0)) ** 2, strict=True)
    assert set(trace.partitions) == {CPU0, CPU1}
    nodes = {device: {node.name for node in graph.node} for device, graph in trace.partitions.items()}
    assert {"a", "y"} <= nodes[CPU0]
    assert {"left", "right"} <= nodes[CPU1]
    assert {"a", "left", "right", "y"} <= set(trace.nodes())
    assert "unused" not in trace.nodes()
    assert trace.nodes() == sorted(set(trace.nodes()))
    assert trace.metadata.step_stats.dev_stats


def test_nodes_that_were_not_reached_are_not_named() -> None:
    with tf.Graph().as_default(), tf1.Session(config=plain_config()) as session:
        flag, x = tf1.placeholder(tf.bool, name="flag"), tf1.placeholder(tf.float32, [], name="x")
        no, yes = tf.raw_ops.Switch(data=x, pred=flag)
        merged = tf.raw_ops.Merge(inputs=[tf.negative(no, name="if_false"), tf.exp(yes, name="if_true")]).output
        trace = trace_run(session, {"out": merged}, {flag: False, x: 3.0})
    assert trace.values == {"out": -3.0}
    assert "if_false" in trace.nodes()
    assert "if_true" not in trace.nodes()


def test_plain_config_devices() -> None:
    for count in (1, 3):
        with tf.Graph().as_default(), tf1.Session(config=plain_config(count)) as session:
            assert sum(device.device_type == "CPU" for device in session.list_devices()) == count


def lesson() -> tf.types.experimental.GenericFunction:
    @tf.function
    def f(x: tf.Tensor) -> tf.Tensor:
        return tf.matmul(x, x) + tf.constant(2.0, name="two") * tf.constant(3.0, name="three")

    return f


def ops(graph: tf1.GraphDef) -> list[str]:
    return [node.op for node in graph.node]


def check(trace: object) -> None:
    np.testing.assert_array_equal(trace.value, np.full((3, 3), 9.0, np.float32), strict=True)
    assert {"two", "three"} <= {node.name for node in trace.before.node}
    assert not {"two", "three"} & {node.name for node in trace.after.node}
    assert ops(trace.after).count("MatMul") == 1
    assert list(trace.partitions) == [CPU0]
    assert "_Retval" in ops(trace.partitions[CPU0])


def test_a_call_is_traced_completely_every_time() -> None:
    f, x = lesson(), tf.ones((3, 3))
    check(trace_call(f, x))
    check(trace_call(f, x))
    f(x)
    check(trace_call(f, x))
    f = lesson()
    f(x)
    check(trace_call(f, x))


def test_a_function_that_makes_its_variable_and_calls_another() -> None:
    class Model(tf.Module):
        weight = None

        @tf.function
        def __call__(self, x: tf.Tensor) -> tf.Tensor:
            if self.weight is None:
                self.weight = tf.Variable(2.0)
            return inner(x) * self.weight

    @tf.function
    def inner(x: tf.Tensor) -> tf.Tensor:
        return x + 1.0 if x > 0.0 else x

    model = Model()
    for _ in range(2):
        trace = trace_call(model.__call__, tf.constant(4.0))
        assert trace.value.numpy() == 10.0
        assert "ReadVariableOp" in ops(trace.after)


def collecting() -> bool:
    """Whether the context still collects the graphs of functions that it instantiates."""
    context.context().clear_kernel_cache()
    lesson()(tf.ones((3, 3)))
    return len(context.export_run_metadata().function_graphs) > 0


def test_collection_is_off_after_success_and_after_an_exception() -> None:
    x = tf.ones((3, 3))
    context.enable_graph_collection()
    assert collecting()
    trace_call(lesson(), x)
    assert not collecting()

    @tf.function
    def fails(x: tf.Tensor) -> tf.Tensor:
        tf.debugging.assert_less(x, 0.0, message="on purpose")
        return x

    with pytest.raises(tf.errors.InvalidArgumentError, match="on purpose"):
        trace_call(fails, x)
    context.enable_graph_collection()
    lesson()(x)
    (graphs,) = context.export_run_metadata().function_graphs
    assert "Assert" not in ops(graphs.post_optimization_graph)  # nothing of the failed call
    context.disable_graph_collection()
    with pytest.raises(tf.errors.InvalidArgumentError, match="on purpose"):
        trace_call(fails, x)
    assert not collecting()


def test_a_failed_call_of_others_does_not_get_into_the_trace() -> None:
    @tf.function
    def fails(x: tf.Tensor) -> tf.Tensor:
        tf.debugging.assert_less(x, 0.0, message="on purpose")
        return x

    x = tf.ones((3, 3))
    context.enable_graph_collection()
    with pytest.raises(tf.errors.InvalidArgumentError, match="on purpose"):
        fails(x)
    check(trace_call(lesson(), x))


def test_what_others_left_on_does_not_get_into_the_trace() -> None:
    x = tf.ones((3, 3))
    context.enable_run_metadata()
    lesson()(x)
    context.disable_run_metadata()  # leaves the collection on (2.21)
    lesson()(x)
    check(trace_call(lesson(), x))
    assert not collecting()


def test_what_is_not_one_function_graph_is_refused() -> None:
    f, x = lesson(), tf.ones((3, 3))
    with pytest.raises(ValueError, match="ran 0 function graphs"):
        trace_call(lambda: None)
    with pytest.raises(ValueError, match="ran 0 function graphs"):
        trace_call(tf.function(lambda x: x + x, jit_compile=True), x)
    with pytest.raises(ValueError, match="ran 3 function graphs"):
        trace_call(lambda x: f(x) + lesson()(x), x)

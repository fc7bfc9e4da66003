import random

import pytest
import tensorflow as tf

from tflabs.runtime import disguise

tf1 = tf.compat.v1


def sample() -> tf1.GraphDef:
    @tf.function
    def square(x: tf.Tensor) -> tf.Tensor:
        return x * x

    with tf.Graph().as_default() as graph:
        x = tf1.placeholder(tf.float32, [2], name="x")
        with tf.control_dependencies([tf.add(x, x, name="sum")]):
            tf.add(tf.multiply(x, 2.0, name="twice"), square(x), name="y")
    return graph.as_graph_def()


def test_only_op_types_change() -> None:
    graph = sample()
    untouched = graph.SerializeToString(deterministic=True)
    disguised, names = disguise(graph, random.Random(1))
    assert graph.SerializeToString(deterministic=True) == untouched
    assert set(names) == {node.op for node in graph.node}
    assert len(set(names.values())) == len(names)
    assert not set(names) & set(names.values())
    assert all(name[0] == "Q" and name[1:].isdigit() for name in names.values())
    back = {disguised_name: real for real, disguised_name in names.items()}
    for node in disguised.node:
        node.op = back[node.op]
    assert disguised == graph


def test_library_is_left_and_calls_are_renamed() -> None:
    graph = sample()
    disguised, names = disguise(graph, random.Random(1))
    assert len(graph.library.function) == 1
    assert disguised.library == graph.library
    assert names["StatefulPartitionedCall" if "StatefulPartitionedCall" in names else "PartitionedCall"][0] == "Q"


def test_tensorflow_can_no_longer_import_it() -> None:
    disguised, _ = disguise(sample(), random.Random(1))
    with tf.Graph().as_default(), pytest.raises(tf.errors.NotFoundError, match="Op type not registered 'Q"):
        tf.import_graph_def(disguised)


def test_the_seed_decides() -> None:
    graph = sample()
    assert disguise(graph, random.Random(3))[1] == disguise(graph, random.Random(3))[1]
    assert len({str(disguise(graph, random.Random(seed))[1]) for seed in range(20)}) > 10


def test_a_graph_that_is_disguised_already_and_an_empty_one() -> None:
    graph = sample()
    for seed in range(50):
        once, _ = disguise(graph, random.Random(seed))
        twice, names = disguise(once, random.Random(seed + 1))
        assert not set(names) & set(names.values())
        assert len({node.op for node in twice.node}) == len({node.op for node in graph.node})
    empty, names = disguise(tf1.GraphDef(), random.Random(0))
    assert (len(empty.node), names) == (0, {})

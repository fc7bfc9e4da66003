"""A graph beside its gradients: who belongs to whom is right, and partners stand in one row."""

from __future__ import annotations

from typing import Any

import pytest
import view_svg_checks as checks

from tflabs.view import Picture, gradient_pairs
from tflabs.view.gradient_pairs import take_apart


@pytest.fixture(scope="module")
def cube(tf: Any) -> Any:
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [], name="x")
        y = tf.add(x * x * x, x, name="y")
        tf.compat.v1.gradients(y, x)
    return graph


@pytest.fixture(scope="module")
def layer(tf: Any) -> Any:
    """A layer whose output is read twice, once through a node that hands its gradient on."""
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [4, 3], name="x")
        w = tf.compat.v1.placeholder(tf.float32, [3, 2], name="w")
        b = tf.compat.v1.placeholder(tf.float32, [2], name="b")
        h = tf.tanh(tf.add(tf.matmul(x, w, name="product"), b, name="sum"), name="h")
        y = tf.reduce_sum(tf.multiply(h, tf.identity(h, name="again"), name="square"), name="y")
        tf.compat.v1.gradients(y, [w, b])
    return graph


def halves_of(graph: Any) -> Any:
    return take_apart(graph.as_graph_def(), "y", "gradients")


def test_each_gradient_node_belongs_to_its_node(cube: Any) -> None:
    assert halves_of(cube).forward == ("x", "mul", "mul_1", "y")
    assert dict(halves_of(cube).partner) == {
        "gradients/Shape": "y",
        "gradients/grad_ys_0/Const": "y",
        "gradients/grad_ys_0": "y",
        "gradients/mul_1_grad/Mul": "mul_1",
        "gradients/mul_1_grad/Mul_1": "mul_1",
        "gradients/mul_grad/Mul": "mul",
        "gradients/mul_grad/Mul_1": "mul",
        "gradients/AddN": "x",
    }


def test_a_sum_belongs_to_the_node_whose_gradients_it_adds(layer: Any) -> None:
    halves = halves_of(layer)
    assert halves.partner["gradients/AddN"] == "h"
    assert halves.apart == ()
    assert set(halves.partner.values()) == {"product", "sum", "h", "square", "y"}  # `again` hands on, without a node


def test_names_under_another_scope_are_read(tf: Any) -> None:
    graph = tf.compat.v1.GraphDef()
    names = ["x", "block/a", "y", "grad/Fill", "grad/block/a_grad/Neg", "grad/x_grad/AddN"]
    reads = [[], ["x"], ["block/a", "x"], [], ["grad/Fill"], ["grad/Fill", "grad/block/a_grad/Neg"]]
    for name, inputs in zip(names, reads, strict=True):
        graph.node.add(name=name, op="AddN" if name.endswith("AddN") else "Neg", input=inputs)
    halves = take_apart(graph, "y", "grad")
    assert dict(halves.partner) == {"grad/Fill": "y", "grad/block/a_grad/Neg": "block/a", "grad/x_grad/AddN": "x"}
    checks.check_page(gradient_pairs(graph, "y", scope="grad"))


def test_a_sum_that_fits_no_node_is_said_to_belong_to_none(tf: Any) -> None:
    graph = tf.compat.v1.GraphDef()
    graph.node.add(name="x", op="Placeholder")
    graph.node.add(name="y", op="Neg", input=["x"])
    graph.node.add(name="gradients/a", op="Const")
    graph.node.add(name="gradients/AddN", op="AddN", input=["gradients/a", "gradients/a"])
    picture = gradient_pairs(graph, "y")
    checks.check_page(picture)
    assert "Belongs to no single node: gradients/AddN." in picture.alt


def pairs_of(picture: Picture, names: list[str]) -> list[tuple[checks.Box, checks.Box]]:
    boxes = checks.node_boxes(checks.parse(picture))
    return [(boxes[name], boxes[f"backward {name}"]) for name in names]


def test_partners_stand_in_one_row_forward_at_the_left(cube: Any, layer: Any) -> None:
    for graph, names in ((cube, ["x", "mul", "mul_1", "y"]), (layer, ["product", "sum", "h", "square", "y"])):
        picture = gradient_pairs(graph, "y", title="A title")
        checks.check_page(picture)
        checks.check_arrows(picture)
        checks.check_pixels(picture)
        rows = pairs_of(picture, names)
        for forward, backward in rows:
            assert forward.right < backward.left
            assert abs((forward.top + forward.bottom) - (backward.top + backward.bottom)) / 2 < 1
        assert [forward.top for forward, _ in rows] == sorted(forward.top for forward, _ in rows)


def test_arrows_count_tensors_and_tell_saved_values(cube: Any) -> None:
    arrows = {(a["data-tail"], a["data-head"]): a for a in checks.edges(checks.parse(gradient_pairs(cube, "y")))}
    into_x = {tail: int(a["data-count"]) for (tail, head), a in arrows.items() if head == "backward x"}
    assert into_x == {"backward y": 1, "backward mul_1": 1, "backward mul": 2}
    saved = sorted(ends for ends, a in arrows.items() if a["data-kind"] == "saved")
    assert saved == [("mul", "backward mul_1"), ("x", "backward mul"), ("x", "backward mul_1")]


def test_control_edges_of_the_forward_half_are_drawn_and_explained(tf: Any) -> None:
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [], name="x")
        with tf.control_dependencies([tf.negative(x, name="first")]):
            y = tf.square(x, name="y")
        tf.compat.v1.gradients(y, x)
    picture = gradient_pairs(graph, "y")
    checks.check_page(picture)
    control = [a for a in checks.edges(checks.parse(picture)) if a["data-kind"] == "control"]
    assert [(a["data-tail"], a["data-head"]) for a in control] == [("first", "y")]
    assert "control edge" in checks.legend(checks.parse(picture))


def test_the_words_say_what_belongs_to_what(cube: Any) -> None:
    assert gradient_pairs(cube, "y").alt == (
        "Graph of 4 nodes, with 8 gradient nodes beside it. x: gradients/AddN. mul: gradients/mul_grad/Mul, "
        "gradients/mul_grad/Mul_1, which read x of the forward half. mul_1: gradients/mul_1_grad/Mul, "
        "gradients/mul_1_grad/Mul_1, which read mul, x of the forward half. y: gradients/Shape, "
        "gradients/grad_ys_0/Const, gradients/grad_ys_0."
    )


def test_a_graph_without_gradients_is_refused(cube: Any) -> None:
    with pytest.raises(ValueError, match="no node 'z'"):
        gradient_pairs(cube, "z")
    with pytest.raises(ValueError, match="no gradients under 'grad'"):
        gradient_pairs(cube, "y", scope="grad")

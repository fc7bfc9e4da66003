"""The text of a graph beside its drawing: every line lights up what it speaks of, and nothing moves meanwhile."""

from __future__ import annotations

import re
from typing import Any

import pytest
import view_svg_checks as checks

from tflabs.view import graph_text
from tflabs.view.graph_text import LinkedText, text_lines


@pytest.fixture(scope="module")
def definition(tf: Any) -> Any:
    """Two outputs, a tensor that is read twice, a control edge."""
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [4], name="x")
        low, high = tf.split(x, 2, name="halves")
        total = tf.add(low, high, name="sum")
        tf.multiply(total, total, name="square")
        with tf.control_dependencies([total]):
            tf.no_op(name="done")
    return graph.as_graph_def()


@pytest.fixture(scope="module")
def linked(definition: Any) -> LinkedText:
    return graph_text(definition, title="A graph")


def names(definition: Any) -> list[str]:
    return [node.name for node in definition.node]


def test_every_node_and_every_input_has_lines(definition: Any) -> None:
    lines = list(text_lines(definition))
    inputs = [f'  input: "{text}"' for node in definition.node for text in node.input]
    assert [line.text for line in lines if line.key.startswith("e")] == inputs
    assert [line.key for line in lines if line.key.startswith("e")] == [f"e{index}" for index in range(len(inputs))]
    for index, name in enumerate(names(definition)):
        assert f'  name: "{name}"' in [line.text for line in lines if line.key == f"n{index}"]


def test_the_text_without_its_comments_is_the_graph_without_attributes(definition: Any, tf: Any) -> None:
    from google.protobuf import text_format

    read = text_format.Parse("\n".join(line.text for line in text_lines(definition)), tf.compat.v1.GraphDef())
    assert [(n.name, n.op, list(n.input)) for n in read.node] == [
        (n.name, n.op, list(n.input)) for n in definition.node
    ]


def test_each_picture_is_whole_and_all_have_one_size(linked: LinkedText) -> None:
    for picture in (linked.picture, *linked.lit.values()):
        checks.check_page(picture)
        checks.check_arrows(picture)
        checks.check_pixels(picture)
        assert picture.size == linked.picture.size
        assert checks.node_boxes(checks.parse(picture)) == checks.node_boxes(checks.parse(linked.picture))


def test_a_line_lights_its_node_or_its_edge(linked: LinkedText, definition: Any) -> None:
    index = names(definition).index("sum")
    assert "A node: sum, of the op AddV2." in linked.lit[f"n{index}"].alt
    lit = {key: re.findall(r'class="lit" data-tail="(\w+)" data-head="(\w+)"', p.svg) for key, p in linked.lit.items()}
    expected = [
        (re.sub(r"^\^|:\d+$", "", text).replace("/", "_"), node.name)
        for node in definition.node
        for text in node.input
        if "/" not in text
    ]
    assert [pairs[0] for key, pairs in lit.items() if key.startswith("e") and pairs] == expected
    assert all(not pairs for key, pairs in lit.items() if key.startswith("n"))
    notes = " ".join(picture.alt for picture in linked.lit.values())
    assert "An edge: output 1 of halves is input 1 of sum." in notes
    assert "A control edge: done waits for sum. No tensor." in notes


def test_outputs_are_numbered_where_there_are_several(linked: LinkedText) -> None:
    words = [text for text, _ in checks.texts(checks.parse(linked.picture))]
    assert words.count(":0") == words.count(":1") == 1


def test_lines_and_drawings_are_linked_by_style_alone(linked: LinkedText) -> None:
    bundle = linked._repr_mimebundle_()
    assert bundle["text/plain"] == linked.picture.alt
    assert bundle["image/svg+xml"] == linked.picture.svg
    html = bundle["text/html"]
    assert "<script" not in html
    for key in linked.lit:
        assert f".t-{key}:is(:hover,:focus)) .p-{key}" in html
        assert f'<div class="p-{key}" hidden>' in html
        assert f'<div class="t-{key}" tabindex="0">' in html
    assert html.count("<img ") == 1 + len(linked.lit)


def test_equal_input_gives_equal_bytes(definition: Any) -> None:
    assert graph_text(definition).html == graph_text(definition).html


def test_a_graph_with_a_lost_input_is_refused(tf: Any) -> None:
    broken = tf.compat.v1.GraphDef()
    broken.node.add(name="n", op="Neg", input=["nowhere"])
    with pytest.raises(ValueError, match="nowhere"):
        graph_text(broken)

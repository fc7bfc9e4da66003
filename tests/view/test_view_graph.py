"""`graph`: what a picture of a graph says, on graphs that TensorFlow made."""

from __future__ import annotations

import random
import sys

import pytest
from view_svg_checks import check_arrows, check_page, check_pixels, edges, legend, node_boxes, parse, texts

from tflabs.view import graph
from tflabs.view.graph import draw_graph
from tflabs.view.grouping import depth_of, group
from tflabs.view.model import Edge, Model, Node


def words_of(picture) -> list[str]:
    return [words for words, _ in texts(parse(picture))]


def test_every_node_and_edge_is_drawn(two_devices):
    picture = graph(two_devices.graph, title="A graph on two devices")
    check_page(picture)
    check_arrows(picture)
    root = parse(picture)
    proto = two_devices.graph.as_graph_def()
    assert set(node_boxes(root)) == {node.name for node in proto.node}
    drawn = sorted((e["data-tail"], e["data-head"], e["data-kind"]) for e in edges(root))
    expected = sorted(
        (text.lstrip("^").partition(":")[0], node.name, "control" if text.startswith("^") else "data")
        for node in proto.node
        for text in node.input
    )
    assert drawn == expected
    assert any(kind == "control" for _, _, kind in drawn)


def test_devices_have_a_legend_and_a_mark(two_devices):
    picture = graph(two_devices.graph)
    assert legend(parse(picture)) == ["/device:CPU:0", "/device:CPU:1", "data edge", "control edge"]
    assert "/device:CPU:0 (3 nodes), /device:CPU:1 (2 nodes)" in picture.alt
    assert 'class="hue0"' in picture.svg and 'class="ink0"' in picture.svg


def test_highlights_are_named_and_use_other_hues_than_devices(two_devices):
    picture = graph(two_devices.graph, highlight={"b": "cut", "d": "cut", "a": "fed"}, labels={"c": "shape [2, 2]"})
    check_page(picture)
    assert legend(parse(picture))[2:4] == ["cut", "fed"]
    assert "cut: b, d. fed: a." in picture.alt
    assert "shape [2, 2]" in words_of(picture)
    assert picture.svg.count('class="tint2"') == 2 and picture.svg.count('class="tint3"') == 1


def test_unknown_names_are_said_not_dropped(two_devices):
    picture = graph(two_devices.graph, highlight=["b", "nonesuch"])
    assert "Asked for, but not in this graph: nonesuch." in words_of(picture)
    assert "highlighted" in legend(parse(picture))


def test_an_input_that_names_no_node_is_shown(tf):
    broken = tf.compat.v1.GraphDef()
    broken.node.add(name="y", op="Neg", input=["x:0"])
    picture = graph(broken)
    check_page(picture)
    assert node_boxes(parse(picture)).keys() == {"x", "y"}
    assert "not in this graph" in legend(parse(picture))
    assert "Inputs that name no node of the graph: x." in picture.alt


def test_a_name_that_is_defined_twice_is_drawn_twice(tf):
    broken = tf.compat.v1.GraphDef()
    broken.node.add(name="x", op="Const")
    broken.node.add(name="x", op="Neg", input=["x"])
    assert node_boxes(parse(graph(broken))).keys() == {"x", "x#2"}


def test_markup_and_control_characters_in_names_are_harmless(tf):
    odd = tf.compat.v1.GraphDef()
    odd.node.add(name='a<b>&"c"', op="Const")
    odd.node.add(name="tab\tbell\x07", op="Neg", input=['a<b>&"c"'])
    odd.node.add(name='back\\slash "quoted"', op="Neg")
    picture = graph(odd)
    check_page(picture)
    assert 'a<b>&"c"' in node_boxes(parse(picture))


def test_long_names_are_wrapped_not_cut(tf):
    long = tf.compat.v1.GraphDef()
    names = ["training/Adam/gradients/mul_grad/Reshape_1", "x" * 150, "SparseSoftmaxCrossEntropyWithLogits" * 3]
    for name in names:
        long.node.add(name=name, op="SparseSoftmaxCrossEntropyWithLogits")
    picture = graph(long)
    check_page(picture)
    joined = "".join(words_of(picture))
    assert all(name in joined for name in names)
    assert picture.size[0] < 800


def test_empty_graphs_are_pictures_too(tf):
    picture = graph(tf.Graph(), title="Nothing")
    check_page(picture)
    assert "0 nodes" in picture.alt


def test_the_functions_that_nodes_call_are_boxed(traced):
    picture = graph(traced)
    check_page(picture)
    check_arrows(picture)
    library = traced.graph.as_graph_def().library.function
    body = next(f for f in library if "while_body" in f.signature.name)
    names = node_boxes(parse(picture)).keys()
    assert {f"{body.signature.name}/{node.name}" for node in body.node_def} <= names
    assert {f"{body.signature.name}/{a.name}" for a in body.signature.input_arg} <= names
    assert f"function {body.signature.name}" in " ".join(words_of(picture)).replace("_ ", "_")
    assert all(graph(traced.graph).svg == picture.svg for _ in range(3))


def test_a_tf_function_is_told_to_be_traced(tf):
    with pytest.raises(TypeError, match="get_concrete_function"):
        graph(tf.function(lambda x: x))
    with pytest.raises(TypeError, match="expected a GraphDef"):
        graph(7)


def test_loops_run_upwards_only_where_they_close(loop):
    proto = loop.metadata.partition_graphs[0]
    picture = graph(proto)
    check_page(picture)
    check_arrows(picture)
    root = parse(picture)
    boxes = node_boxes(root)
    ops = {node.name: node.op for node in proto.node}
    up = {(ops[e["data-tail"]], ops[e["data-head"]]) for e in edges(root)
          if boxes[e["data-tail"]].top > boxes[e["data-head"]].top}  # fmt: skip
    assert up == {("NextIteration", "Merge")}


def test_send_and_recv_in_one_graph_are_joined(tf, two_devices):
    joined = tf.compat.v1.GraphDef()
    for part in two_devices.metadata.partition_graphs:
        joined.node.extend(part.node)
    root = parse(graph(joined))
    transfers = {(e["data-tail"], e["data-head"]) for e in edges(root) if e["data-kind"] == "transfer"}
    ops = {node.name: node.op for node in joined.node}
    assert len(transfers) == sum(op == "_Send" for op in ops.values()) >= 2
    assert all((ops[a], ops[b]) == ("_Send", "_Recv") for a, b in transfers)
    assert "transfer between devices" in legend(root)


def test_direction(two_devices):
    def flow(direction):
        boxes = node_boxes(parse(graph(two_devices.graph, direction=direction)))
        return boxes["d"].left - boxes["a"].left, boxes["d"].top - boxes["a"].top

    assert flow("LR")[0] > 200 and flow("TB")[1] > 150
    with pytest.raises(ValueError, match="direction"):
        graph(two_devices.graph, direction="up")


def test_large_graphs_are_grouped_by_scope(layers):
    proto = layers.as_graph_def()
    assert len(proto.node) > 500
    picture = graph(proto, highlight=["dense_7/MatMul", "gradients/dense_7/MatMul_grad/MatMul"])
    check_page(picture)
    check_arrows(picture)
    root = parse(picture)
    boxes = node_boxes(root)
    assert len(boxes) <= 80 and picture.size[0] < 2500
    assert {"dense_7/MatMul", "gradients/dense_7/MatMul_grad/MatMul"} <= boxes.keys() and "highlighted" in legend(root)
    assert "several nodes drawn as one" in legend(root)
    assert f"{len(proto.node)} nodes" in picture.alt
    assert "dense_3 … dense_5" in words_of(picture)


def test_large_graphs_without_scopes_are_grouped_by_depth(chain):
    picture = graph(chain, highlight=["n300"])
    check_page(picture)
    check_arrows(picture)
    boxes = node_boxes(parse(picture))
    assert {"n299", "n300", "n301"} <= boxes.keys()
    assert len(boxes) < 20
    assert "600 nodes" in picture.alt
    assert any(words.startswith("depth 0–") for words in words_of(picture))
    assert all(boxes[e["data-tail"]].top < boxes[e["data-head"]].top for e in edges(parse(picture)))


def random_model(seed: int) -> Model:
    """A graph of random scopes, edges and cycles."""
    r = random.Random(seed)
    n, depth = r.choice([1, 2, 30, 120, 300]), r.choice([0, 1, 3])
    names = ["/".join([*(f"s{r.randrange(4)}" for _ in range(r.randint(0, depth))), f"n{i}"]) for i in range(n)]
    nodes = tuple(Node(name, r.choice(["MatMul", "Merge"]), r.choice(["", "/device:CPU:0"])) for name in names)
    arcs = [
        (r.randrange(max(0, i - r.choice([3, 40, n])), i), i) for i in range(1, n) for _ in range(r.choice([0, 1, 2]))
    ]
    arcs += [(r.randrange(n), r.randrange(n)) for _ in range(r.choice([0, 4]))]
    edges = tuple(Edge(names[a], names[b], r.choice(["data", "control"]), r.choice(["", ":1"])) for a, b in arcs)
    return Model(nodes, edges)


@pytest.mark.parametrize("seed", range(24))
def test_grouping_loses_nothing_and_layout_holds(seed):
    model = random_model(seed)
    r = random.Random(seed)
    keep = r.sample([node.name for node in model.nodes], min(3, len(model.nodes)))
    limit = r.choice([1, 13, 40])
    shown = group(model, limit, keep)
    members = [name for node in shown.nodes for name in (node.members or (node.name,))]
    assert sorted(members) == sorted(node.name for node in model.nodes)
    assert len(shown.nodes) <= limit
    home = {name: node.name for node in shown.nodes for name in (node.members or (node.name,))}
    inside = sum(home[e.tail] == home[e.head] and bool({e.tail, e.head} - home.keys() or home[e.tail] != e.tail)
                 for e in model.edges)  # fmt: skip
    assert sum(edge.count for edge in shown.edges) == len(model.edges) - inside
    picture = draw_graph(model, shown, {}, {}, None, "TB")
    check_page(picture)
    check_arrows(picture)


def test_depth_is_the_longest_path():
    model = Model(
        tuple(Node(name) for name in "abcd"), (Edge("a", "b"), Edge("b", "c"), Edge("a", "c"), Edge("d", "c"))
    )
    assert depth_of(model) == {"a": 0, "b": 1, "c": 2, "d": 0}


def test_dot_of_xla_is_read(programs):
    picture = graph(programs["softmax"]["optimized_hlo_dot"])
    check_page(picture)
    check_arrows(picture)
    words = words_of(picture)
    assert {"reduce", "exponential", "divide", "ROOT"} <= set(words)
    assert any("fusion" in line for line in words)
    assert "googleapis" not in picture.svg
    with pytest.raises(ValueError, match="digraph"):
        graph("graph { a -- b }")


def test_without_graphviz_the_error_says_what_to_install(two_devices, monkeypatch):
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    with pytest.raises(ImportError, match="pip install 'pygraphviz"):
        graph(two_devices.graph)


def test_pixels(two_devices, traced, layers):
    for obj in (two_devices.graph, traced, layers):
        check_pixels(graph(obj, title="A title", highlight=["a"]))

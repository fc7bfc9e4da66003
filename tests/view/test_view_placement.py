"""What the placer says of a graph, its picture, and the player that changes the graph."""

from __future__ import annotations

from typing import Any

import pytest
from view_svg_checks import check_page, check_pixels, groups, legend, parse, texts
from view_widgets import below, controls, html

from tflabs.view import Group, Picture, Placed, ask_placer, placement, placement_player
from tflabs.view.placement import PlacementModel

ROWS = [
    ("data", "", "/device:CPU:1", []),
    ("a", "data", "/device:CPU:2", []),
    ("b", "data", "/device:CPU:*", ["a"]),
    ("c", "b", "", []),
    ("d", "c", "", ["b", "c"]),
]
CLASH = [*ROWS, ("e", "d", "/device:CPU:0", []), ("f", "e", "", ["e", "d"]), ("g", "f", "", ["f"])]


def graph_of(tf: Any, rows: list[tuple[str, str, str, list[str]]]) -> Any:
    """Constants and Negs: name, input, request, labels."""
    made = tf.compat.v1.GraphDef()
    made.versions.producer = tf.version.GRAPH_DEF_VERSION
    for name, tail, request, labels in rows:
        node = made.node.add(name=name, op="Neg" if tail else "Const", device=request)
        node.attr["T" if tail else "dtype"].type = 1
        if tail:
            node.input.append(tail)
        else:
            node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto([1.0] * 20))
        if labels:
            node.attr["_class"].list.s.extend(f"loc:@{label}".encode() for label in labels)
    return made


@pytest.fixture(scope="module")
def graph(tf: Any) -> Any:
    return graph_of(tf, ROWS)


@pytest.fixture(scope="module")
def placed(graph: Any) -> Placed:
    return ask_placer(graph, 3)


@pytest.fixture(scope="module")
def refused(tf: Any) -> tuple[Any, Placed]:
    made = graph_of(tf, CLASH)
    return made, ask_placer(made, 3)


def sides(picture: Picture) -> dict[str, str]:
    """Node -> the class of its tinted face, for nodes with one."""
    found = {}
    for node, _, _ in groups(parse(picture), "node"):
        faces = [part.get("class") for part in node.iter() if (part.get("class") or "").startswith("tint")]
        if faces:
            found[node.get("data-name")] = faces[0]
    return found


def marked_with(picture: Picture, ink: str) -> list[str]:
    """The nodes that carry a mark of this ink, sorted."""
    nodes = [node for node, _, _ in groups(parse(picture), "node")]
    return sorted(node.get("data-name") for node in nodes if any(ink in part.get("class", "") for part in node.iter()))


def frames(picture: Picture) -> list[str]:
    return [frame.get("data-name") for frame, _, _ in groups(parse(picture), "frame")]


def test_the_placer_tells_devices_groups_and_merged_requests(placed: Placed) -> None:
    assert {name: device[-5:] for name, device in placed.devices.items()} == {
        "data": "CPU:1", "a": "CPU:2", "b": "CPU:2", "c": "CPU:2", "d": "CPU:2",
    }  # fmt: skip
    assert placed.groups == (Group(("data",), "/device:CPU:1"), Group(("a", "b", "c", "d"), "/device:CPU:2"))
    assert placed.clash is None


def test_a_clash_tells_its_nodes_and_the_groups_at_that_moment(refused: tuple[Any, Placed]) -> None:
    _, placed = refused
    assert placed.clash == ("f", "d")
    assert placed.devices == {}
    assert placed.group_of("f") == Group(("e", "f"), "/device:CPU:0")
    assert placed.group_of("d") == Group(("a", "b", "c", "d"), "/device:CPU:2")
    assert placed.group_of("g") == Group(("g",), "")
    assert "incompatible ids" in placed.reason


def test_a_group_of_one_constant_without_a_request_is_told(tf: Any) -> None:
    assert ask_placer(graph_of(tf, [("k", "", "", []), ("n", "k", "", [])]), 1).groups == (
        Group(("k",), ""),
        Group(("n",), ""),
    )


def test_it_refuses_graphs_that_it_cannot_probe(tf: Any) -> None:
    with pytest.raises(ValueError, match="replica and task"):
        ask_placer(graph_of(tf, [("k", "", "/task:0", [])]), 1)
    with pytest.raises(ValueError, match="no earlier node"):
        ask_placer(graph_of(tf, [("k", "", "", []), ("n", "k", "", ["m"]), ("m", "k", "", [])]), 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="explicitly assigned"):
        ask_placer(graph_of(tf, [("k", "", "/device:CPU:5", [])]), 1)


def test_requests_alone(graph: Any) -> None:
    picture = placement(graph)
    check_page(picture)
    check_pixels(picture)
    words = [line for line, _ in texts(parse(picture))]
    assert "asks CPU:*" in words
    assert "loc:@b" in words
    assert not any(line.startswith("on ") for line in words)
    assert frames(picture) == []


def test_requests_beside_the_placement(graph: Any, placed: Placed) -> None:
    picture = placement(graph, placed, title="Five nodes")
    check_page(picture)
    check_pixels(picture)
    words = [line for line, _ in texts(parse(picture))]
    assert words.count("asks CPU:*") == 2
    assert words.count("on CPU:2") == 4
    assert "together: CPU:2" in words
    assert frames(picture) == ["a"]
    assert legend(parse(picture)) == ["/device:CPU:1", "/device:CPU:2"]
    assert "b on CPU:2" in picture.alt
    assert sides(picture) == {}


def test_both_sides_of_a_clash_carry_colour_and_mark(refused: tuple[Any, Placed]) -> None:
    graph, placed = refused
    picture = placement(graph, placed)
    check_page(picture)
    check_pixels(picture)
    assert sides(picture) == dict.fromkeys("ef", "tint4") | dict.fromkeys("abcd", "tint5")
    assert legend(parse(picture)) == ["one side of the clash", "the other side"]
    words = [line for line, _ in texts(parse(picture))]
    assert words.count("named in the error") == 2
    assert any("Cannot colocate nodes f and d" in line for line in words)
    assert "f (CPU:0) and the group of d (CPU:2)" in picture.alt
    assert marked_with(picture, "ink4") == ["e", "f"]
    assert marked_with(picture, "ink5") == ["a", "b", "c", "d"]


def test_a_graph_is_as_good_as_its_def(tf: Any) -> None:
    with tf.Graph().as_default() as made, tf.device("/cpu:0"):
        tf.constant([1.0] * 20, name="k")
    assert placement(made).alt == "Asked: k: asks CPU:0."


def test_wishes_change_what_the_placer_says(graph: Any) -> None:
    model = PlacementModel(graph, 3)
    assert model.wishes["b"] == ("/device:CPU:*", "a")
    model.wish({"b": ("/device:CPU:0", "")})
    assert model.placed.group_of("b").request == "/device:CPU:0"
    model.wish({"b": ("/device:CPU:0", "a")})
    assert model.placed.clash == ("b", "a")
    assert "refuses" in model.picture().svg
    assert graph.node[2].device == "/device:CPU:*", "the caller's graph is left alone"


def test_the_player_follows_its_lists(tf: Any) -> None:
    rows = [("data", "", "/device:CPU:0", []), ("a", "data", "/device:CPU:1", []), ("b", "a", "", [])]
    player = placement_player(graph_of(tf, rows), cpus=2)
    found = controls(player)
    labels = {part.tooltip: part for part in below(player) if getattr(part, "tooltip", None)}
    first = html(player)
    assert list(labels["label of a"].options) == [("no label", ""), ("loc:@data", "data")]
    labels["label of b"].value = "a"
    assert html(player) != first
    found["b asks for"].value = "/device:CPU:0"
    assert picture_says(player, "Clash between the group of b (CPU:0) and the group of a (CPU:1)")
    found["Ask for nothing"].click()
    assert picture_says(player, "b on CPU:0")
    found["As at first"].click()
    assert html(player) == first


def picture_says(player: Any, words: str) -> bool:
    return any(words in text for text in html(player))

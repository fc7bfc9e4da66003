"""`stepper`: the states of nodes at every position, and the widget that shows them."""

from __future__ import annotations

import pytest
from view_svg_checks import check_arrows, check_page, legend, node_boxes, parse, texts

from tflabs.view import Step, stepper
from tflabs.view.graph import read_any
from tflabs.view.model import Edge, Model, Node
from tflabs.view.stepper import Player, states

DIAMOND = Model(
    tuple(Node(name) for name in "abcd"),
    (Edge("a", "b"), Edge("a", "c"), Edge("b", "d"), Edge("c", "d")),
)


def steps(names: str) -> list[Step]:
    return [Step(name) for name in names]


@pytest.mark.parametrize(
    ("position", "expected"),
    [
        (0, {"a": "ready", "b": "waiting", "c": "waiting", "d": "waiting"}),
        (1, {"a": "running", "b": "waiting", "c": "waiting", "d": "waiting"}),
        (2, {"a": "done", "b": "running", "c": "ready", "d": "waiting"}),
        (3, {"a": "done", "b": "done", "c": "running", "d": "waiting"}),
        (4, {"a": "done", "b": "done", "c": "done", "d": "running"}),
        (5, {"a": "done", "b": "done", "c": "done", "d": "done"}),
    ],
)
def test_states_of_a_diamond(position, expected):
    assert states(DIAMOND, steps("abcd"), position) == expected


def test_a_node_that_never_runs_is_never_ready():
    found = [states(DIAMOND, steps("ab"), k) for k in range(4)]
    assert all(state["c"] == state["d"] == "waiting" for state in found)


def test_without_steps_everything_waits():
    assert set(states(DIAMOND, [], 0).values()) == {"waiting"}


def test_given_ready_nodes_win():
    given = [Step("a", ready=("d",)), Step("b", ready=())]
    assert states(DIAMOND, given, 1) == {"a": "running", "b": "waiting", "c": "waiting", "d": "ready"}
    assert states(DIAMOND, given, 2)["d"] == "waiting"


def test_nodes_of_a_loop_become_ready_again():
    arcs = [("start", "merge"), ("body", "merge"), ("merge", "body"), ("merge", "exit")]
    ring = Model(tuple(Node(n) for n in ("start", "merge", "body", "exit")), tuple(Edge(a, b) for a, b in arcs))
    order = [Step(name) for name in ("start", "merge", "body", "merge", "body", "merge", "exit")]

    def at(position):
        return tuple(states(ring, order, position).values())

    assert at(2) == ("done", "running", "waiting", "waiting"), "exit is not ready: this time the loop goes on"
    assert at(3) == ("done", "done", "running", "waiting")
    assert at(4) == ("done", "running", "done", "waiting")
    assert at(6) == ("done", "running", "done", "waiting")
    assert at(7) == ("done", "done", "done", "running")


def test_a_node_is_ready_again_once_its_input_ran_again():
    pair = Model((Node("switch"), Node("left"), Node("right")), (Edge("switch", "left"), Edge("switch", "right")))
    order = [Step(name) for name in ("switch", "left", "right", "switch", "right", "left")]
    assert states(pair, order, 2) == {"switch": "ready", "left": "running", "right": "ready"}
    assert states(pair, order, 4) == {"switch": "running", "left": "done", "right": "done"}
    assert states(pair, order, 5) == {"switch": "done", "left": "ready", "right": "running"}


def test_every_position_of_a_traced_loop_is_drawn(loop):
    proto = loop.metadata.partition_graphs[0]
    names = {node.name for node in proto.node}
    ran = [s.node_name for s in loop.metadata.step_stats.dev_stats[0].node_stats if s.node_name in names]
    assert len(ran) > len(set(ran)), "nodes of the loop ran several times"
    player = Player(read_any(proto), [Step(name) for name in ran], "A loop")
    sizes = set()
    for position in range(0, player.last + 1, 7):
        picture = player.picture(position)
        check_page(picture)
        check_arrows(picture)
        sizes.add(picture.size)
        assert node_boxes(parse(picture)).keys() == names
        assert legend(parse(picture))[:3] == ["ready", "running", "done"]
    assert len(sizes) == 1, "the picture must not jump"
    words = [w for w, _ in texts(parse(player.picture(player.last)))]
    assert "done ×4" in words and "waiting" not in words


def test_the_widget_moves(two_devices):
    names = [node.name for node in two_devices.graph.as_graph_def().node]
    widget = stepper(two_devices.graph, [Step(names[0], note="first <one>"), *names[1:]], title="Execution")
    controls, caption, image = widget.children
    back, forth, slider = controls.children
    assert slider.value == 0 and back.disabled and not forth.disabled
    shown = image.value
    forth.click()
    assert slider.value == 1 and image.value != shown and "first &lt;one&gt;" in caption.value
    assert "<img" in image.value and "http" not in image.value
    back.click()
    assert image.value == shown
    slider.value = slider.max
    assert slider.max == len(names) + 1 and forth.disabled
    assert f"after {len(names)} steps" in caption.value


def test_the_widget_without_steps(two_devices):
    controls, caption, _ = stepper(two_devices.graph, []).children
    assert all(control.disabled for control in controls.children)
    assert caption.value == "no steps"


def test_unknown_nodes_are_refused(two_devices):
    with pytest.raises(ValueError, match="no node named nonesuch"):
        stepper(two_devices.graph, ["nonesuch"])
    with pytest.raises(ValueError, match="no node named other"):
        stepper(two_devices.graph, [Step("a", ready=["other"])])


def test_large_graphs_are_grouped(layers):
    names = [node.name for node in layers.as_graph_def().node][:200]
    player = Player(read_any(layers), [Step(name) for name in names], None)
    picture = player.picture(100)
    check_page(picture)
    assert any(" of " in w and w.endswith("done") for w, _ in texts(parse(picture)))

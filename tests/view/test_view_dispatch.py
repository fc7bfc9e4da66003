"""The dispatch player: what it says ran is what ran, and the kernels it names are those the runtime finds."""

from __future__ import annotations

import re
from typing import Any

import pytest
import view_svg_checks as checks
from view_widgets import controls, html

from tflabs.view import Picture, dispatch
from tflabs.view.dispatch import Choice, DispatchModel, dispatched, kernel_choice, run_nodes

DEVICES = ("CPU", "GPU", "XLA_CPU_JIT")


@pytest.fixture(scope="module")
def session(tf: Any) -> Any:
    """Over x → b → root and x → copy; XLA's kernels are in the registry."""
    v1 = tf.compat.v1
    tf.function(tf.negative, jit_compile=True, autograph=False)(tf.constant(1.0))
    config = v1.ConfigProto(device_count={"CPU": 1})
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.optimizer_options.opt_level = -1
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [4], name="x")
        b = tf.raw_ops.BesselI0(x=x, name="b")
        tf.raw_ops.Sqrt(x=b, name="root")
        tf.raw_ops.IdentityN(input=[x], name="copy")
    opened = v1.Session(graph=graph, config=config)
    yield opened
    opened.close()


def nodes(session: Any) -> dict[str, Any]:
    return {node.name: node for node in session.graph.as_graph_def().node}


def words(picture: Picture) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", picture.svg)


def test_the_first_device_with_a_kernel_is_chosen(session: Any) -> None:
    node = nodes(session)
    assert kernel_choice(node["b"], ["GPU", "XLA_CPU_JIT", "CPU"]) == Choice("CPU", "CPU")
    assert kernel_choice(node["root"], ["XLA_CPU_JIT", "CPU"]) == Choice("XLA_CPU_JIT", "XLA_CPU_JIT")
    assert kernel_choice(node["copy"], ["ANYTHING", "CPU"]) == Choice("ANYTHING", "DEFAULT")
    assert kernel_choice(node["b"], ["GPU", "XLA_CPU_JIT"]) is None
    assert kernel_choice(node["b"], []) is None


def test_default_kernels_do_not_serve_devices_that_only_compile(session: Any, tf: Any) -> None:
    with tf.Graph().as_default() as graph:
        tf.raw_ops.DebugIdentityV3(input=tf.constant(1.0), name="watched", io_of_node="n")
    [node] = [node for node in graph.as_graph_def().node if node.name == "watched"]
    assert kernel_choice(node, ["XLA_CPU_JIT"]) is None
    assert kernel_choice(node, ["CPU"]) == Choice("CPU", "DEFAULT")
    with pytest.raises(tf.errors.InvalidArgumentError, match="No registered 'DebugIdentityV3'"):
        tf.function(lambda x: tf.raw_ops.DebugIdentityV3(input=x), jit_compile=True, autograph=False)(1.0)


def test_all_constrained_attributes_count(tf: Any) -> None:
    with tf.Graph().as_default() as graph:
        values = tf.constant([1, 2], tf.uint16, name="values")
        tf.raw_ops.Unique(x=values, name="fits")
        tf.raw_ops.Unique(x=tf.constant([1j, 2j]), name="fits_not")
    found = {node.name: kernel_choice(node, ["CPU"]) for node in graph.as_graph_def().node}
    assert found["fits"] == Choice("CPU", "CPU")
    assert found["fits_not"] is None


def test_what_ran_is_read_from_the_step(session: Any) -> None:
    assert run_nodes(session, ["root"], ["x:0"]) == ["b", "root"]
    assert run_nodes(session, ["root"], ["b:0"]) == ["root"]
    assert run_nodes(session, ["copy", "b"], ["x:0"]) == ["b", "copy"]


def test_the_picture_is_whole_and_says_what_it_shows(session: Any) -> None:
    choices = {name: kernel_choice(node, ["GPU", "CPU"]) for name, node in nodes(session).items()}
    picture = dispatched(session.graph, ["b"], choices, "Device types, in the order tried: GPU, CPU.")
    checks.check_page(picture)
    checks.check_arrows(picture)
    checks.check_pixels(picture)
    assert {"CPU: own kernel", "GPU: DEFAULT kernel", "ran in this step"} <= set(words(picture))
    assert "Ran: b." in picture.alt
    assert "copy: GPU: DEFAULT kernel" in picture.alt
    assert dispatched(session.graph, ["b"], dict.fromkeys(choices)).alt.endswith("root: no kernel; copy: no kernel.")


def test_the_model_orders_device_types(session: Any) -> None:
    model = DispatchModel(session, DEVICES)
    model.move_up("XLA_CPU_JIT")
    assert model.devices == ["CPU", "XLA_CPU_JIT", "GPU"]
    model.move_up("CPU")
    assert model.devices == ["CPU", "XLA_CPU_JIT", "GPU"]
    model.take_away("CPU")
    assert "b: no kernel" in model.picture().alt
    model.all_back()
    assert model.devices == list(DEVICES)


def test_the_player_runs_reorders_and_shows_errors(session: Any) -> None:
    player = dispatch(session, DEVICES)
    parts = controls(player)
    said, picture = html(player)
    assert "Ran: copy." in picture
    parts["fetch"].value = ("root",)
    assert "Ran: b, root." in html(player)[1]
    parts["devices"].value = "GPU"
    parts["Move up"].click()
    assert parts["devices"].options == ("GPU", "CPU", "XLA_CPU_JIT")
    assert parts["devices"].value == "GPU"
    assert "copy: GPU: DEFAULT kernel" in html(player)[1]
    for _ in DEVICES:
        parts["Take away"].click()
    assert parts["Move up"].disabled
    assert "tried in the order none." in html(player)[1]
    parts["All back"].click()
    assert parts["devices"].options == DEVICES
    parts["feed"].value = ()
    said, picture = html(player)
    assert "You must feed a value for placeholder tensor" in said
    assert "Ran: none." in picture
    parts["fetch"].value = ()
    assert "Nothing is fetched" in html(player)[0]

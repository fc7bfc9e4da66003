"""The picture of a graph as written, pruned and cut apart, and the player that moves it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from view_svg_checks import check_arrows, check_page, check_pixels, legend, node_boxes, parse, texts
from view_widgets import controls, html

from tflabs.view import stages, stages_player

DEVICE = "/job:localhost/replica:0/task:0/device:CPU:"


@pytest.fixture(scope="module")
def step(tf: Any) -> SimpleNamespace:
    """x → double → total on two devices, `unused` beside it; the graph of a step that feeds x, whole and in parts."""
    with tf.Graph().as_default() as drawn:
        with tf.device(DEVICE + "0"):
            x = tf.compat.v1.placeholder(tf.float32, [20], name="x")
            double = tf.raw_ops.AddV2(x=x, y=x, name="double")
        with tf.device(DEVICE + "1"):
            total = tf.raw_ops.Square(x=double, name="total")
            tf.raw_ops.Neg(x=total, name="unused")
    written = drawn.as_graph_def()
    config = tf.compat.v1.ConfigProto(device_count={"CPU": 2}, allow_soft_placement=True)
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.optimizer_options.opt_level = tf.compat.v1.OptimizerOptions.L0
    found = []
    for devices in (1, 2):
        config.device_count["CPU"] = devices
        metadata, options = tf.compat.v1.RunMetadata(), tf.compat.v1.RunOptions(output_partition_graphs=True)
        with tf.compat.v1.Session(graph=drawn, config=config) as session:
            session.run("total:0", {"x:0": [1.0] * 20}, options=options, run_metadata=metadata)
        found.append({part.node[0].device: part for part in metadata.partition_graphs})
    (pruned,) = found[0].values()
    return SimpleNamespace(written=written, pruned=pruned, parts=found[1])


def test_the_picture_says_what_was_cut_and_what_was_added(step: SimpleNamespace) -> None:
    picture = stages(step.written, step.pruned, step.parts, title="Three forms")
    assert picture.alt.startswith(
        "As written: 4 nodes; cut away: unused, x. Pruned: 4 nodes; added: _arg_x_0_0, _retval_total_0_0. "
        "Cut apart: 2 partitions, 8 nodes, 2 transfers; added: "
    )
    words = [line for line, _ in texts(parse(picture))]
    assert words.count("Three forms") == 1
    assert {"As written: 4 nodes", "Pruned: 4 nodes", "Cut apart: 2 partitions, 8 nodes, 2 transfers"} <= set(words)
    assert [words.count(name) for name in ("unused", "double", "total")] == [1, 3, 3]
    assert {"cut away", "added", "transfer between devices"} <= set(legend(parse(picture)))


def test_the_picture_is_sound(step: SimpleNamespace) -> None:
    picture = stages(step.written, step.pruned, step.parts)
    check_page(picture)
    check_pixels(picture)


def test_arrows_end_at_their_nodes_in_each_panel(step: SimpleNamespace) -> None:
    picture = stages(step.written, step.pruned, step.parts)
    names = set(node_boxes(parse(picture)))
    assert {"written:double", "pruned:double", "double"} <= names
    check_arrows(picture)


def test_a_step_has_parts(step: SimpleNamespace) -> None:
    with pytest.raises(ValueError, match="at least one partition"):
        stages(step.written, step.pruned, {})


def test_the_player_asks_for_what_is_ticked(step: SimpleNamespace) -> None:
    asked = []

    def cut(fetches: list[str], feeds: list[str]) -> tuple[Any, Any]:
        asked.append((fetches, feeds))
        if not fetches:
            raise ValueError("Must specify at least one target to fetch or execute.")
        return step.pruned, step.parts

    player = stages_player(step.written, cut, {"total:0": True, "^unused": False}, {"x:0": True})
    assert asked == [(["total:0"], ["x:0"])]
    found, before = controls(player), html(player)
    assert any("Cut apart: 2 partitions" in text for text in before)
    assert "fetch total:0; feed x:0" in before
    found["^unused"].value = True
    assert asked[-1] == (["total:0", "^unused"], ["x:0"])
    found["x:0"].value = False
    assert "fetch total:0, ^unused; feed nothing" in html(player)
    found["total:0"].value = False
    found["^unused"].value = False
    assert "<code>ValueError: Must specify at least one target to fetch or execute.</code>" in html(player)
    assert any("Cut apart: 2 partitions" in text for text in html(player)), "the last picture stays"

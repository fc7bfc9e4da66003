"""The player of one step over all partitions: who is ready, who waits for which letter, and what a lost one does."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from view_svg_checks import check_page, check_pixels, legend, parse, texts
from view_widgets import controls, html

from tflabs.view import step_player
from tflabs.view.step_player import StepModel, step_picture

DEVICES = [f"/job:localhost/replica:0/task:0/device:CPU:{number}" for number in (0, 1)]


@pytest.fixture(scope="module")
def parts(tf: Any) -> dict[str, Any]:
    """a goes from CPU:0 to CPU:1, its double comes back as b and is read by c; each part has a node named "x"."""
    graphs = {device: tf.compat.v1.GraphDef() for device in DEVICES}
    there, back = (*DEVICES, "edge_1_a"), (*reversed(DEVICES), "edge_2_b")

    def add(place: int, name: str, op: str, inputs: list[str], pair: tuple[str, ...] = ()) -> None:
        node = graphs[DEVICES[place]].node.add(name=name, op=op, device=DEVICES[place], input=inputs)
        for attribute, value in zip(("send_device", "recv_device", "tensor_name"), pair, strict=False):
            node.attr[attribute].s = value.encode()

    add(0, "c", "Neg", ["x", "^a"])
    add(0, "x", "_Recv", [], back)
    add(0, "a", "Const", [])
    add(0, "a/_1", "_Send", ["a"], there)
    add(1, "x", "_Recv", [], there)
    add(1, "b", "AddV2", ["x", "x:0"])
    add(1, "b/_2", "_Send", ["b"], back)
    return graphs


def states(model: StepModel) -> dict[str, str]:
    """The state of each node, by device number and name."""
    return {f"{name.rpartition('CPU:')[2]}": model.state(name) for name in model.nodes}


def test_what_is_ready_at_first(parts: dict[str, Any]) -> None:
    assert states(StepModel(parts)) == {
        "0:c": "not ready", "0:x": "waits for a letter", "0:a": "ready", "0:a/_1": "not ready",
        "1:x": "waits for a letter", "1:b": "not ready", "1:b/_2": "not ready",
    }  # fmt: skip


def test_a_receiver_waits_for_its_letter(parts: dict[str, Any]) -> None:
    model = StepModel(parts)
    assert not model.run(DEVICES[1])
    assert model.log == ["/device:CPU:1 waits for 1 letter: edge_1_a"]
    assert model.run(DEVICES[0])
    assert model.run(DEVICES[0])
    assert model.log[-1] == "/device:CPU:0 ran a/_1: the letter edge_1_a lies in the rendezvous"
    assert "In the rendezvous: edge_1_a for /device:CPU:1." in model.words
    assert not model.run(DEVICES[0])
    assert model.run(DEVICES[1])
    assert model.log[-1] == "/device:CPU:1 ran x: it took the letter edge_1_a"
    assert "The rendezvous is empty." in model.words


def test_a_lost_letter_holds_up_all_that_need_it(parts: dict[str, Any]) -> None:
    model = StepModel(parts)
    model.lose()
    model.run_all()
    assert model.lost == [("edge_1_a", *DEVICES)]
    assert model.log[-2:] == [
        "/device:CPU:0 waits for 1 letter: edge_2_b",
        "/device:CPU:1 waits for 1 letter: edge_1_a",
    ]
    assert len(model.done) == 2
    model.reset()
    assert (model.done, model.lost, model.losing, model.log) == (set(), [], False, [])


@settings(max_examples=50)
@given(order=st.lists(st.sampled_from(DEVICES), max_size=12))
def test_any_order_comes_to_the_same_end(parts: dict[str, Any], order: list[str]) -> None:
    model = StepModel(parts)
    for device in order:
        model.run(device)
        assert all(model.state(name) == "has run" for name in model.done)
    model.run_all()
    assert model.done == set(model.nodes)
    assert model.letters == []
    assert model.log[-2:] == [f"/device:CPU:{number} is done" for number in (0, 1)]


def test_the_picture_is_sound_and_names_handles(parts: dict[str, Any]) -> None:
    model = StepModel(parts)
    model.run(DEVICES[0])
    picture = step_picture(
        model, parts, {device: f"{number:016x}" for number, device in enumerate(DEVICES, 1)}, "A step"
    )
    check_page(picture)
    check_pixels(picture)
    words = [line for line, _ in texts(parse(picture))]
    assert "/device:CPU:1 · handle 0000000000000002 · 3 nodes" in words
    assert {"has run", "ready", "waits for a letter", "not ready"} <= set(legend(parse(picture)))
    assert picture.alt == model.words
    assert picture.svg != step_picture(StepModel(parts), parts).svg


def test_the_buttons_move_the_step(parts: dict[str, Any]) -> None:
    player = step_player(parts)
    found, first = controls(player), html(player)
    assert set(found) >= {"Run /device:CPU:0", "Run all until they wait", "Lose the next letter", "Start over"}
    found["Run /device:CPU:1"].click()
    assert any("waits for 1 letter: edge_1_a" in text for text in html(player))
    found["Run all until they wait"].click()
    assert any(re.search("CPU:0: 4 have run", text) for text in html(player))
    found["Start over"].click()
    assert html(player) == first
    found["Lose the next letter"].click()
    found["Run all until they wait"].click()
    assert any("Lost: edge_1_a." in text for text in html(player))


def test_a_step_needs_parts() -> None:
    with pytest.raises(ValueError, match="at least one partition"):
        step_player({})

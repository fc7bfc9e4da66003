"""The player that moves nodes: partitions and letters are those of the runtime, for every placement."""

from __future__ import annotations

from typing import Any

import pytest
from view_svg_checks import check_page, check_pixels, parse, texts
from view_widgets import controls, html

from tflabs.view import spread
from tflabs.view.spread import Letter, SpreadModel

DEVICE = "/job:localhost/replica:0/task:0/device:CPU:"


@pytest.fixture(scope="module")
def graph(tf: Any) -> Any:
    """x → square → total ← x on CPU:0 and CPU:1; `unused` reads x on CPU:1."""
    with tf.Graph().as_default() as drawn:
        with tf.device(DEVICE + "0"):
            x = tf.compat.v1.placeholder(tf.float32, [20], name="x")
            double = tf.raw_ops.AddV2(x=x, y=x, name="double")
        with tf.device(DEVICE + "1"):
            square = tf.raw_ops.Square(x=double, name="square")
            tf.raw_ops.AddV2(x=double, y=square, name="total")
            tf.raw_ops.Neg(x=double, name="unused")
    return drawn.as_graph_def()


def test_nodes_start_where_the_graph_has_them(graph: Any) -> None:
    model = SpreadModel(graph, "total", 2)
    assert model.places == {"x": 0, "double": 0, "square": 1, "total": 1, "unused": 1}
    # The fetched total leaves on CPU:0, the device of the client's side.
    assert [(letter.tensor, letter.readers) for letter in model.letters] == [("double:0", 2), ("total:0", 1)]


def test_a_moved_node_takes_its_letters_along(graph: Any) -> None:
    model = SpreadModel(graph, "total", 2)
    model.move("square", 0)
    assert [letter.tensor for letter in model.letters] == ["double:0", "square:0", "total:0"]
    model.move("total", 0)
    assert model.letters == []
    assert model.said() == "No letter is sent in this step."
    assert model.picture().alt.startswith("1 ")


def test_what_is_fed_enters_on_the_first_device(graph: Any) -> None:
    model = SpreadModel(graph, "total", 2)
    model.move_all(dict.fromkeys(model.nodes, 1))
    fed, fetched = model.letters
    assert fed == Letter("x:0, which was fed,", "CPU:0", "CPU:1", 2)
    assert fetched.words == "total:0 from CPU:1 to CPU:0 (1 reader)"


def test_the_picture_is_sound_and_counts(graph: Any) -> None:
    picture = SpreadModel(graph, "total", 3).picture()
    check_page(picture)
    check_pixels(picture)
    words = [line for line, _ in texts(parse(picture))]
    assert "2 partitions, 2 letters" in words
    assert "unused" not in words


def test_the_player_follows_its_buttons(graph: Any) -> None:
    player = spread(graph, "total")
    found = controls(player)
    assert set(found) >= {"x", "double", "square", "total", "unused", "As at first"}
    before = html(player)
    found["square"].value = 0
    assert html(player) != before
    assert any("square:0 from" in text for text in html(player))
    found["total"].value = 0
    assert any("No letter is sent" in text for text in html(player))
    found["As at first"].click()
    assert html(player) == before
    assert found["square"].value == 1


def test_it_refuses_what_it_cannot_run(graph: Any) -> None:
    with pytest.raises(ValueError, match="no node 'ghost'"):
        spread(graph, "ghost")
    with pytest.raises(ValueError, match="at least one device"):
        spread(graph, "total", devices=0)

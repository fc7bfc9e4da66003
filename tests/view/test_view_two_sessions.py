"""The player of two sessions: what it says is held is what real sessions hold, and its picture is whole."""

from __future__ import annotations

import re
from typing import Any

import pytest
import view_svg_checks as checks
from view_widgets import controls

from tflabs.view import two_sessions
from tflabs.view.two_sessions import Held, ProgramModel, State, after, held_picture

PROGRAM = (
    ("A", "init"),
    ("A", "add"),
    ("A", "enqueue"),
    ("B", "t"),
    ("B", "enqueue"),
    ("B", "close"),
    ("A", "restart"),
)


@pytest.fixture(scope="module")
def graph(tf: Any) -> Any:
    """A variable and a queue of two, with the names that the player asks for."""
    v1 = tf.compat.v1
    with tf.Graph().as_default() as made:
        x, n = v1.placeholder(tf.float32, [], name="x"), v1.placeholder(tf.int32, [], name="n")
        v = v1.get_variable("v", [], initializer=v1.zeros_initializer(), use_resource=True)
        tf.group(v.initializer, name="init")
        tf.identity(v.assign_add(x), name="add")
        tf.add(v, 10.0, name="t")
        queue = tf.queue.FIFOQueue(2, tf.float32, shapes=[[]])
        queue.enqueue(x, name="enqueue")
        queue.dequeue(name="dequeue")
        queue.dequeue_up_to(n, name="dequeue_up_to")
        queue.size(name="size")
        queue.is_closed(name="is_closed")
        queue.close(name="close")
    return made


def shown(widget: Any) -> str:
    return str(re.findall(r'alt="([^"]*)"', controls(widget)["HTML"].value))


def test_a_session_holds_what_its_own_steps_left(graph: Any) -> None:
    assert after(graph, 2, ()) == State({"A": Held(), "B": Held()})
    assert after(graph, 2, PROGRAM[:3]) == State({"A": Held(2.0, (3.0,)), "B": Held()}, "done")
    assert after(graph, 2, PROGRAM[:4]).result in ("FailedPreconditionError", "NotFoundError")
    assert after(graph, 2, PROGRAM[:6]) == State({"A": Held(2.0, (3.0,)), "B": Held(None, (5.0,), True)}, "done")
    assert after(graph, 2, PROGRAM) == State({"A": Held(), "B": Held(None, (5.0,), True)}, "a new session")


def test_steps_return_what_tensorflow_returns(graph: Any) -> None:
    fill = (("A", "enqueue"), ("A", "enqueue"))
    assert after(graph, 2, (*fill, ("A", "enqueue"))) == State(
        {"A": Held(None, (1.0, 2.0)), "B": Held()}, "would wait: not run"
    )
    assert after(graph, 2, (("B", "dequeue"),)).result == "would wait: not run"
    assert after(graph, 2, (*fill, ("A", "dequeue"))).result == "1"
    assert after(graph, 2, (("A", "close"), ("A", "enqueue"))).result == "CancelledError"
    assert after(graph, 2, (("A", "close"), ("A", "dequeue"))).result == "OutOfRangeError"
    assert after(graph, 2, (("A", "init"), ("A", "add"), ("A", "t"))).result == "12"


def test_each_picture_is_whole_and_says_what_it_shows(graph: Any) -> None:
    model = ProgramModel(graph, 2, PROGRAM)
    for done in range(len(PROGRAM) + 1):
        model.done = done
        picture = model.picture()
        checks.check_page(picture)
        checks.check_pixels(picture)
    assert picture.alt == (
        "Program of 7 steps. After step 7: A restart, a new session. session A: v has no value, the queue holds "
        "nothing; session B: v has no value, the queue holds 5, closed."
    )
    assert "Nothing has run." in held_picture((), [State({"A": Held(), "B": Held()})], 2).alt


def test_only_what_changed_is_marked(graph: Any) -> None:
    model = ProgramModel(graph, 2, PROGRAM)
    model.done = 1
    assert model.picture().svg.count('class="tint1"') == 1  # v of A
    model.done = 4
    assert 'class="tint1"' not in model.picture().svg
    model.done = 7
    assert model.picture().svg.count('class="tint1"') == 2  # v of A and the only slot that was taken


def test_going_back_and_forth_runs_nothing_twice(graph: Any) -> None:
    model = ProgramModel(graph, 2, PROGRAM)
    model.done = 5
    model.picture()
    runs = model._after.cache_info().misses
    for model.done in (2, 5, 0):
        model.picture()
    assert model._after.cache_info().misses == runs == 6


def test_the_player_moves_adds_and_takes_away(graph: Any) -> None:
    player = two_sessions(graph, capacity=2, program=PROGRAM)
    parts = controls(player)
    assert "Nothing has run." in shown(player)
    parts["Next step"].click()
    assert "After step 1: A init, done." in shown(player)
    parts["steps run"].value = 3
    assert "After step 3: A enqueue, done." in shown(player)
    parts["ToggleButtons"].value, parts["Dropdown"].value = "B", "init"
    parts["Add step"].click()
    assert "After step 8: B init, done." in shown(player)
    assert (parts["steps run"].value, parts["steps run"].max, parts["Next step"].disabled) == (8, 8, True)
    parts["Take last away"].click()
    assert "After step 7: A restart, a new session." in shown(player)
    parts["Start over"].click()
    assert "Program of 7 steps. Nothing has run." in shown(player)
    assert parts["steps run"].value == 0
    parts["Empty"].click()
    assert "Program of 0 steps. Nothing has run." in shown(player)
    assert parts["Take last away"].disabled and parts["Next step"].disabled and parts["steps run"].disabled
    parts["Add step"].click()
    assert "Program of 1 step. After step 1: B init, done. session A: v has no value" in shown(player)
    parts["Start over"].click()
    assert "Program of 7 steps. Nothing has run." in shown(player)


def test_a_program_with_an_unknown_step_is_refused(graph: Any) -> None:
    with pytest.raises(ValueError, match="flush"):
        two_sessions(graph, capacity=2, program=[("A", "flush")])

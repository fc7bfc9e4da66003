"""A player that shows a real queue: its slots, who waits on either side, and what became of the others."""

from __future__ import annotations

import threading

import pytest
from view_svg_checks import check_page, check_pixels, legend, parse, texts
from view_widgets import controls, html

from tflabs.view import queue_player
from tflabs.view.queue_player import QueueModel, State, Waiting, after, numbered, queue_picture

SCRIPT = (("enqueue", 3), ("enqueue", 1), ("dequeue", 1), ("dequeue", 4))


def shown(picture: object) -> list[str]:
    return [words for words, _ in texts(parse(picture))]


def test_elements_are_numbered_through_the_script() -> None:
    assert numbered([("enqueue", 2), ("close", 1), ("enqueue", 3)]) == [(1, 2), (), (3, 4, 5)]
    assert numbered([]) == []


@pytest.mark.usefixtures("tf")
def test_a_queue_on_which_nothing_was_done_is_empty() -> None:
    assert after(2, ()) == State()


@pytest.mark.usefixtures("tf")
def test_attempts_to_put_in_wait_in_their_order() -> None:
    state = after(3, [("enqueue", 2), ("enqueue", 3), ("enqueue", 1), ("close", 1)])
    assert state.elements == (1, 2, 3)
    assert state.putting == (Waiting(1, (4, 5)), Waiting(2, (6,)), Waiting(3, ()))
    assert state.taking == () and not state.closed
    assert state.results == ("done", "waits", "waits", "waits")


@pytest.mark.usefixtures("tf")
@pytest.mark.parametrize("kind", ["dequeue", "dequeue_up_to"])
def test_what_a_waiting_dequeue_holds_is_found(kind: str) -> None:
    state = after(3, [("enqueue", 2), (kind, 4), ("dequeue", 1), ("dequeue_up_to", 2)])
    assert state.elements == ()
    assert state.taking == (Waiting(1, (1, 2)), Waiting(2, ()), Waiting(3, ()))
    assert state.results == ("done", "waits", "waits", "waits")


@pytest.mark.usefixtures("tf")
def test_a_large_dequeue_may_hold_more_than_there_is_room() -> None:
    state = after(1, [("dequeue", 5), ("enqueue", 3)])
    assert state.taking == (Waiting(0, (1, 2, 3)),) and state.results == ("waits", "done")


@pytest.mark.usefixtures("tf")
def test_closing_ends_what_waits() -> None:
    state = after(2, [("enqueue", 3), ("close", 1), ("cancel", 1), ("close", 1), ("dequeue", 3), ("dequeue_up_to", 3)])
    assert state == State(
        closed=True, results=("CancelledError", "CancelledError", "done", "CancelledError", "OutOfRangeError", "[1, 2]")
    )
    left = after(2, [("enqueue", 2), ("close", 1)])
    assert left.elements == (1, 2) and left.closed


@pytest.mark.usefixtures("tf")
def test_no_thread_is_left() -> None:
    before = threading.active_count()
    for capacity in (1, 2):
        after(capacity, SCRIPT)
    assert threading.active_count() == before


@pytest.mark.parametrize(
    "state",
    [
        State(),
        State((1, 2, 3), (Waiting(0, (4, 5)), Waiting(1, ())), (), False, ("waits", "waits")),
        State((), (), (Waiting(0, (1,)), Waiting(1, ())), False, ("waits", "waits")),
        State((2,), (), (), True, ("CancelledError", "[1]")),
    ],
)
@pytest.mark.parametrize("capacity", [3, 12])
def test_every_state_is_drawn(state: State, capacity: int) -> None:
    script = [("enqueue", 40), ("close", 1)][: len(state.results)]
    picture = queue_picture(capacity, script, state)
    check_page(picture)
    check_pixels(picture)
    assert legend(parse(picture)) == ["element", "ended with an error"]
    words = shown(picture)
    assert ("closed" if state.closed else "open") in words
    assert words.count("nobody") == (not state.putting) + (not state.taking)
    assert f"A queue with room for {capacity} elements, {'closed' if state.closed else 'open'}." in picture.alt


def test_slots_and_lists_are_read_in_the_picture() -> None:
    state = State((3, 4), (Waiting(2, (5, 6)),), (), False, ("done", "[1, 2]", "waits"))
    picture = queue_picture(2, [("enqueue", 4), ("dequeue", 2), ("enqueue", 2)], state)
    words = shown(picture)
    assert [word for word in words if word in {"3", "4"}] == ["4", "3"]  # the front is at the right
    assert {"3: enqueue 5, 6", "not in yet: 5, 6", "1: enqueue 1, 2, 3, 4", "2: dequeue 2", "[1, 2]", "waits"} <= set(
        words
    )
    assert picture.alt == (
        "A queue with room for 2 elements, open. Inside, from the front: 3, 4. "
        "Waiting to put in: 3: enqueue 5, 6 (not in yet: 5, 6). Waiting to take out: nobody. "
        "Ended: 1: enqueue 1, 2, 3, 4: done; 2: dequeue 2: [1, 2]."
    )


def test_only_the_last_operations_are_listed() -> None:
    script = [("enqueue", 1)] * 20
    picture = queue_picture(3, script, State((1,), (), (), False, ("done",) * 20))
    check_page(picture)
    assert "20: enqueue 20" in shown(picture) and "12: enqueue 12" not in shown(picture)


@pytest.mark.usefixtures("tf")
def test_the_model_goes_forth_and_back() -> None:
    model = QueueModel(3, SCRIPT)
    assert model.state.taking == (Waiting(3, (2, 3, 4)),)
    model.add("close")
    assert model.state.closed and model.state.elements == (2, 3, 4)
    model.drop()
    model.drop()
    assert model.state.elements == (2, 3, 4) and model.state.results[-1] == "[1]"
    model.clear()
    assert model.state == State()
    model.again()
    assert model.script == SCRIPT


@pytest.mark.usefixtures("tf")
def test_the_player_does_what_its_buttons_say() -> None:
    player = queue_player(capacity=1)
    found = controls(player)
    seen = html(player)
    assert found["Take last back"].disabled
    for words in ("enqueue 3", "dequeue up to 4", "close", "close, cancel pending"):
        found[words].click()
        seen += html(player)
    assert len(set(seen)) == 5 and not found["Take last back"].disabled
    for _ in range(4):
        found["Take last back"].click()
    assert html(player) == seen[:1]


@pytest.mark.parametrize(("capacity", "script"), [(0, ()), (2, [("pop", 1)]), (2, [("enqueue", 0)])])
def test_what_cannot_be_played_is_refused(capacity: int, script: list[tuple[str, int]]) -> None:
    with pytest.raises(ValueError, match="from 1 on"):
        queue_player(capacity=capacity, script=script)

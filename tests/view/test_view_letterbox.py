"""The letter-box player: its rules are those of a rendezvous, its pictures say what the state is."""

import re
import xml.etree.ElementTree as ElementTree
from collections import defaultdict, deque

import pytest
import resvg_py
from hypothesis import given
from hypothesis import strategies as st

from tflabs.view.letterbox import Player, Step, abort, cleanup, letterbox, recv, send, wall
from tflabs.view.text import text_width

KEYS = ("edge_4_c", "edge_7_d")


def words(step: Step) -> list[str]:
    return [outcome.words for outcome in step.outcomes]


def test_a_letter_waits_for_its_receiver() -> None:
    step = send(send(Step(7), "k", 1), "k", 2)
    assert step.values["k"] == (1, 2)
    step = recv(step, "k", 1)
    assert step.values["k"] == (2,)
    assert words(step)[-1] == "R1 took letter 1 at k"


def test_a_receiver_waits_for_its_letter() -> None:
    step = recv(recv(Step(7), "k", 1), "k", 2)
    assert step.waiting["k"] == (1, 2)
    step = send(step, "k", 5)
    assert step.waiting["k"] == (2,)
    assert step.values.get("k", ()) == ()
    assert words(step)[-1] == "letter 5 woke R1 at k"


def test_abort_ends_all_who_wait_and_all_who_come() -> None:
    step = send(recv(recv(Step(7), "a", 1), "b", 2), "c", 1)
    step = abort(step, "Internal: broken")
    assert not any(step.values.values())
    assert not any(step.waiting.values())
    assert [outcome.words for outcome in step.outcomes if outcome.failed] == [
        "recv of R1 raised Internal: broken",
        "recv of R2 raised Internal: broken",
    ]
    late = recv(send(step, "a", 2), "c", 3)
    assert words(late)[-2:] == ["send of letter 2 raised Internal: broken", "recv of R3 raised Internal: broken"]
    assert all(outcome.failed for outcome in late.outcomes[-2:])


def test_the_first_abort_counts() -> None:
    assert abort(abort(Step(7), "first"), "second").error == "first"


def test_cleanup_ends_who_waits_and_opens_an_empty_step() -> None:
    step = cleanup(recv(send(Step(7), "a", 1), "b", 1))
    assert (step.values, step.waiting, step.error) == ({}, {}, "")
    assert "recv of R1 raised Aborted: Cleanup 7" in words(step)
    assert send(step, "a", 2).values["a"] == (2,)
    assert cleanup(abort(Step(7), "broken")).error == ""


@given(st.lists(st.tuples(st.sampled_from(["send", "recv"]), st.sampled_from(KEYS)), max_size=40))
def test_any_order_is_first_in_first_out_and_never_both_wait(calls: list[tuple[str, str]]) -> None:
    step = Step(1)
    letters: dict[str, deque[int]] = defaultdict(deque)
    receivers: dict[str, deque[int]] = defaultdict(deque)
    for number, (what, key) in enumerate(calls):
        mine, theirs = (letters, receivers) if what == "send" else (receivers, letters)
        step = (send if what == "send" else recv)(step, key, number)
        if theirs[key]:
            met = theirs[key].popleft()
            letter, receiver = (number, met) if what == "send" else (met, number)
            assert (
                f"{letter} woke R{receiver} " in words(step)[-1]
                or f"R{receiver} took letter {letter} " in words(step)[-1]
            )
        else:
            mine[key].append(number)
        for name in KEYS:
            assert step.values.get(name, ()) == tuple(letters[name])
            assert step.waiting.get(name, ()) == tuple(receivers[name])
            assert not (letters[name] and receivers[name])


def test_steps_of_a_player_share_nothing() -> None:
    player = Player(KEYS, (7, 8))
    player.send(0, "edge_4_c")
    player.recv(1, "edge_4_c")
    assert player.steps[0].values["edge_4_c"] == (1,)
    assert player.steps[1].waiting["edge_4_c"] == (1,)
    player.abort(1)
    assert player.steps[0].error == ""
    player.reset()
    assert player.steps == [Step(7), Step(8)]


def busy_player() -> Player:
    player = Player(KEYS, (7, 8))
    for _ in range(7):
        player.send(0, "edge_4_c")
    for _ in range(3):
        player.recv(0, "edge_7_d")
    player.recv(1, "edge_7_d")
    player.abort(1)
    return player


def test_the_picture_says_its_state_in_words() -> None:
    alt = wall(busy_player().steps, KEYS).alt
    assert (
        "Step 7, open: edge_4_c holds 7 letters: 1, 2, 3, 4, 5, 6, 7; at edge_7_d 3 receivers wait: R1, R2, R3." in alt
    )
    assert "Step 8, aborted with InvalidArgument: a node failed: edge_4_c is empty" in alt


def test_the_words_name_all_whom_an_abort_ended() -> None:
    alt = wall([abort(recv(recv(Step(7), "a", 1), "b", 2), "Internal: broken")], ("a", "b")).alt
    assert "recv of R1 raised Internal: broken; recv of R2 raised Internal: broken." in alt


def test_the_picture_is_wellformed_and_counts_what_it_does_not_show() -> None:
    picture = wall(busy_player().steps, KEYS, "A <title> & more")
    root = ElementTree.fromstring(picture.svg)
    shown = ["".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"1", "4", "+3", "R1", "R3", "step 7", "step 8"} <= set(shown)
    assert "5" not in shown
    assert bytes(resvg_py.svg_to_bytes(svg_string=picture.svg)).startswith(b"\x89PNG")


def test_long_names_stay_inside() -> None:
    key = "edge_1234_" + "a/very/long/scope/" * 8
    step = abort(recv(Step(7), key, 1), "Internal: " + "a long message " * 20)
    picture = wall([step], [key])
    width = picture.size[0]
    texts = re.findall(r'<text x="([\d.]+)" y="[\d.]+" font-size="([\d.]+)"([^>]*)>([^<]*)<', picture.svg)
    assert any(content.endswith("…") for *_, content in texts)
    for x, size, rest, content in texts:
        length = text_width(content, float(size), "bold" in rest or "600" in rest)
        left, right = {"end": (length, 0.0), "middle": (length / 2, length / 2)}.get(
            (re.findall(r'text-anchor="(\w+)"', rest) or ["start"])[0], (0.0, length)
        )
        assert float(x) - left >= 0, content
        assert float(x) + right <= width, content


def test_a_wall_needs_a_step_and_a_key() -> None:
    with pytest.raises(ValueError, match="at least one step and one key"):
        wall([], KEYS)
    with pytest.raises(ValueError, match="at least one step and one key"):
        wall([Step(1)], [])


def buttons(widget: object) -> dict[str, list[object]]:
    found: dict[str, list[object]] = defaultdict(list)
    todo = [widget]
    while todo:
        part = todo.pop(0)
        todo += getattr(part, "children", ())
        if hasattr(part, "click"):
            found[part.description].append(part)
    return found


def test_the_buttons_move_the_wall() -> None:
    player = letterbox(KEYS, (7, 8))
    image, pressed = player.children[-1], buttons(player)
    empty = image.value
    assert {name: len(found) for name, found in pressed.items()} == {
        "send edge_4_c": 2,
        "recv edge_4_c": 2,
        "send edge_7_d": 2,
        "recv edge_7_d": 2,
        "abort": 2,
        "clean up": 2,
        "start over": 1,
    }
    pressed["send edge_4_c"][0].click()
    assert "Step 7, open: edge_4_c holds 1 letter: 1" in image.value
    assert "Step 8, open: edge_4_c is empty" in image.value
    pressed["recv edge_7_d"][1].click()
    assert "at edge_7_d 1 receiver waits: R1" in image.value
    pressed["abort"][1].click()
    assert "Step 8, aborted with InvalidArgument: a node failed" in image.value
    pressed["clean up"][1].click()
    assert "Step 8, open" in image.value
    pressed["start over"][0].click()
    assert image.value == empty


def test_keys_and_steps_are_given_once() -> None:
    with pytest.raises(ValueError, match="given once"):
        letterbox(("a", "a"))
    with pytest.raises(ValueError, match="given once"):
        letterbox(("a",), (1, 1))

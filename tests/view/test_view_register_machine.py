"""The small machine: its program with the program counter, what was just written, and a player that steps."""

from __future__ import annotations

import pytest
from view_svg_checks import check_page, check_pixels, groups, parse, texts, walk
from view_widgets import controls, html

from tflabs.view import MachineState, Picture, machine_player, machine_state

PROGRAM = [("load", "r1", 0), ("mul", "r1", "r1", "r1"), ("store", "r1", 1)]
STATES = [
    MachineState(0, {}, [7, 0], "before the first instruction"),
    MachineState(1, {"r1": 7}, [7, 0], "load"),
    MachineState(2, {"r1": 49}, [7, 0], "mul"),
    MachineState(3, {"r1": 49}, [7, 49], "store"),
]


def count(picture: Picture, css: str) -> int:
    root = parse(picture)
    keys = {id(e) for group, *_ in groups(root, "legend") for e in group.iter()}
    return sum(e.get("class") == css and id(e) not in keys for e, *_ in walk(root))


def test_a_state_shows_the_counter_and_what_was_written() -> None:
    picture = machine_state(PROGRAM, STATES[2], STATES[1], title="After two")
    check_page(picture)
    check_pixels(picture)
    assert count(picture, "tint0") == 1 and count(picture, "tint1") == 1
    words = [line for line, _ in texts(parse(picture))]
    assert {"After two", "mul", "mul r1, r1, r1", "store r1, 1", "r1", "49", "[0]", "[1]"} <= set(words)
    assert picture.alt == "A program of 3 instructions. Next: store r1, 1. Registers: r1 = 49. Memory: 7, 0."


def test_at_the_end_no_instruction_is_next() -> None:
    picture = machine_state(PROGRAM, STATES[3], STATES[2])
    check_page(picture)
    assert count(picture, "tint0") == 0 and "end" in [line for line, _ in texts(parse(picture))]
    assert "Next: the end." in picture.alt


def test_machines_of_any_size_are_drawn() -> None:
    many = MachineState(99, {f"register_{i}": -(2**31) + i for i in range(20)}, range(200))
    check_page(machine_state([("add", "a", "b", 2**31 - 1)] * 100, many))
    check_page(machine_state([("bnz", 1, 0)], MachineState(0)))
    with pytest.raises(ValueError, match="no program"):
        machine_state([], MachineState(0))


def test_the_player_steps_both_ways() -> None:
    player = machine_player(PROGRAM, STATES)
    found = controls(player)
    first = html(player)
    assert found["Step back"].disabled and not found["Step"].disabled
    for _ in range(5):
        found["Step"].click()
    assert found["executed"].value == 3 and found["Step"].disabled
    assert "Memory: 7, 49." in html(player)[0]
    found["executed"].value = 0
    assert html(player) == first
    with pytest.raises(ValueError, match="no states"):
        machine_player(PROGRAM, [])

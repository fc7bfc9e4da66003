"""The player of two clients of one variable: its values are those of real runs, and its picture is whole."""

from __future__ import annotations

import re
from itertools import permutations
from typing import Any

import pytest
import view_svg_checks as checks
from view_widgets import controls

from tflabs.view import variable_race
from tflabs.view.variable_race import Held, OrderModel, after, events, race_picture

LOST = ("A", "B", "A", "A", "B", "B")
"""Both read; A computes and writes; B computes and writes."""


def shown(widget: Any) -> str:
    return str(re.findall(r'alt="([^"]*)"', controls(widget)["HTML"].value))


def test_an_alias_follows_the_variable_and_a_value_does_not(tf: Any) -> None:
    assert after(LOST[:4]) == {
        "ref": Held(1.0, {"A": 1.0, "B": 1.0}, {"A": 1.0}),
        "resource": Held(1.0, {"A": 0.0, "B": 0.0}, {"A": 1.0}),
    }
    assert after(LOST) == {
        "ref": Held(3.0, {"A": 3.0, "B": 3.0}, {"A": 1.0, "B": 3.0}),
        "resource": Held(2.0, {"A": 0.0, "B": 0.0}, {"A": 1.0, "B": 2.0}),
    }
    assert after(()) == {kind: Held(0.0, {}, {}) for kind in ("ref", "resource")}


def test_whatever_a_value_gets_right_an_alias_gets_right(tf: Any) -> None:
    """Under some orders only the ref variable ends right, under none only the resource variable."""
    ends = [after(order) for order in sorted(set(permutations("AAABBB")))]
    right = {(end["ref"].value == 3.0, end["resource"].value == 3.0) for end in ends}
    assert len(ends) == 20
    assert right == {(True, True), (True, False), (False, False)}


def test_each_picture_is_whole_and_says_what_it_shows(tf: Any) -> None:
    model = OrderModel(LOST)
    for done in range(len(LOST) + 1):
        model.done = done
        picture = model.picture()
        checks.check_page(picture)
        checks.check_pixels(picture)
    assert picture.alt == (
        "Order of 6 steps: A read, B read, A compute, A write, B compute, B write. After step 6: B write. ref: v is 3, "
        "A's read is an alias of v, now 3, A computed 1, B's read is an alias of v, now 3, B computed 3; resource: v "
        "is 2, A's read is 0, A computed 1, B's read is 0, B computed 2."
    )
    assert "both updates are there" in picture.svg and "an update is lost" in picture.svg
    empty = race_picture((), [{kind: Held(0.0, {}, {}) for kind in ("ref", "resource")}])
    assert empty.alt.startswith("Order of 0 steps: empty. Nothing has run.")


def test_only_what_changed_is_marked(tf: Any) -> None:
    model = OrderModel(LOST)
    model.done = 2
    assert model.picture().svg.count('class="tint1"') == 2  # B's read, in both
    model.done = 4
    assert model.picture().svg.count('class="tint1"') == 4  # v in both, and both aliases


def test_going_back_and_forth_runs_nothing_twice(tf: Any) -> None:
    model = OrderModel(LOST)
    model.done = 5
    model.picture()
    for model.done in (2, 5, 0):
        model.picture()
    assert model._after.cache_info().misses == 6


def test_the_player_moves_adds_and_takes_away(tf: Any) -> None:
    parts = controls(player := variable_race(LOST))
    assert "Nothing has run." in shown(player)
    assert parts["A's next step"].disabled and parts["Move earlier"].disabled
    parts["Next step"].click()
    parts["steps run"].value = 4
    assert "After step 4: A write." in shown(player)
    parts["Move later"].click()
    assert "A read, B read, A compute, B compute, A write, B write. After step 5: A write." in shown(player)
    parts["Move later"].click()
    assert "After step 6: A write." in shown(player) and parts["Move later"].disabled
    parts["Move earlier"].click()
    assert parts["steps run"].value == 5
    parts["Take last away"].click()
    assert "Order of 5 steps" in shown(player) and not parts["B's next step"].disabled
    parts["B's next step"].click()
    assert "After step 6: B write." in shown(player)
    for _ in range(6):
        parts["Take last away"].click()
    assert "Order of 0 steps: empty. Nothing has run." in shown(player)
    assert parts["steps run"].disabled and parts["Take last away"].disabled
    parts["B's next step"].click()
    assert "Order of 1 step: B read. After step 1: B read." in shown(player)
    parts["Start over"].click()
    assert "Order of 6 steps" in shown(player) and parts["steps run"].value == 0


def test_an_order_with_a_stranger_or_a_fourth_step_is_refused() -> None:
    assert events(("B", "A", "B")) == [("B", "read"), ("A", "read"), ("B", "compute")]
    with pytest.raises(ValueError, match="at most 3 times"):
        variable_race(["A", "C"])
    with pytest.raises(ValueError, match="at most 3 times"):
        variable_race(["A"] * 4)

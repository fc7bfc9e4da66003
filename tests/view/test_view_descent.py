"""Walks down a bowl: what is drawn is where they were, whatever they do; and the player lets them walk."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
import view_svg_checks as checks
from view_widgets import controls

from tflabs.view import Bowl, Walk, descent, descent_player
from tflabs.view.descent import walks_of

BOWL = Bowl((1.0, 20.0), (10.0, 3.0))
START = (-8.0, 2.0)


def plain(gradient: Any, start: Any, lr: float, mu: float, steps: int) -> Walk:
    points = [start]
    for _ in range(steps):
        points.append(tuple(p - lr * g for p, g in zip(points[-1], gradient(points[-1]), strict=True)))
    return Walk(points, [None] * len(points))


def heavy(gradient: Any, start: Any, lr: float, mu: float, steps: int) -> Walk:
    points, slots = [start], [None]
    slot = (0.0, 0.0)
    for _ in range(steps):
        slot = tuple(mu * s + g for s, g in zip(slot, gradient(points[-1]), strict=True))
        points.append(tuple(p - lr * s for p, s in zip(points[-1], slot, strict=True)))
        slots.append(slot)
    return Walk(points, slots)


def unwritten(*_: Any) -> Walk:
    raise NotImplementedError


def broken(*_: Any) -> Walk:
    raise ValueError("a gradient of shape (2,) is due")


WAYS = {"plain": plain, "Momentum": heavy, "Adam": unwritten, "mine": broken}


def test_the_bowl_is_as_steep_as_it_says() -> None:
    assert BOWL.loss((2.0, 1.0)) == 12.0
    assert BOWL.gradient((2.0, 1.0)) == (2.0, 20.0)


def test_a_way_that_fails_leaves_its_words() -> None:
    walks = walks_of(BOWL, WAYS, START, (0.05, 0.9), 3)
    assert walks["Adam"] == "not built yet"
    assert walks["mine"] == "ValueError: a gradient of shape (2,) is due"
    assert len(walks["plain"].points) == 4


@pytest.mark.parametrize("rate", [0.001, 0.05, 0.11, 0.5, 1.0])
@pytest.mark.parametrize("step", [0, 1, 40])
def test_pictures_are_whole_also_when_a_walk_flies_out(rate: float, step: int) -> None:
    picture = descent(BOWL, walks_of(BOWL, WAYS, START, (rate, 0.9), 40), step, title="A title")
    checks.check_page(picture)
    checks.check_pixels(picture)
    for element, dx, dy in checks.walk(checks.parse(picture)):
        if element.tag == f"{checks.SVG}path" and "line" in (element.get("class") or ""):
            assert checks.shape_box(element, dx, dy).inside(checks.page(checks.parse(picture)))


def test_a_walk_into_infinity_is_drawn_up_to_there() -> None:
    lost = Walk([START, (math.inf, 1.0), (math.nan, math.nan)], [None, (math.inf, 0.0), (math.nan, 0.0)])
    picture = descent(BOWL, {"lost": lost}, 2)
    checks.check_page(picture)
    assert picture.svg.count("<circle") == 2  # the start, and the mark of the name
    assert "beyond the picture" in picture.svg


def test_the_words_and_the_arrow_are_those_of_the_step() -> None:
    walks = walks_of(BOWL, {"Momentum": heavy}, START, (0.05, 0.5), 2)
    first = descent(BOWL, walks, 0)
    assert first.alt == "Walks down the bowl ½(1x² + 20y²). Momentum: after 0 steps at (-8, 2), loss 72."
    second = descent(BOWL, walks, 1)
    assert second.alt.endswith("Momentum: after 1 step at (-7.6, 0), loss 28.9, slot (-8, 40).")
    assert second.svg.count('class="arrow"') == 1 and first.svg.count('class="arrow"') == 0
    beyond = descent(BOWL, walks, 9)
    assert "after 2 steps" in beyond.alt


def shown(player: Any) -> str:
    found = re.search(r'alt="([^"]*)"', controls(player)["HTML"].value)
    assert found
    return found[1]


def test_the_player_walks_again_for_new_rates_only() -> None:
    asked = []

    def noted(gradient: Any, start: Any, lr: float, mu: float, steps: int) -> Walk:
        asked.append((round(lr, 3), mu, steps))
        return heavy(gradient, start, lr, mu, steps)

    player = descent_player(BOWL, {"Momentum": noted}, START, steps=20)
    parts = controls(player)
    assert asked == [(0.05, 0.9, 20)] and "after 10 steps" in shown(player)
    parts["step"].value = 3
    assert len(asked) == 1 and "after 3 steps" in shown(player)
    parts["momentum"].value = 0.5
    parts["learning rate"].value = 0.1
    assert asked[1:] == [(0.05, 0.5, 20), (0.1, 0.5, 20)]
    parts["As at first"].click()
    assert asked[-1] == (0.05, 0.9, 20) and "after 10 steps" in shown(player)

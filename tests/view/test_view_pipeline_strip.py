"""Strips of a pipeline: bars where the schedule says, stalls between turn and start."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from view_svg_checks import check_page, check_pixels, groups, legend, parse, shape_box, texts, walk
from view_widgets import controls, html

from tflabs.view import Issue, Picture, pipeline_player, pipeline_strip

FOUR = [
    Issue("load x, 0", 0, 0, 30, slow=True),
    Issue("load y, 1", 1, 1, 4),
    Issue("mul x, x, y", 2, 30, 33, 0),
    Issue("add n, n, -1", 31, 31, 32),
]


def bars(picture: Picture, css: str) -> list[float]:
    """Widths of the shapes of a class, without those of the legend."""
    root = parse(picture)
    keys = {id(e) for group, *_ in groups(root, "legend") for e in group.iter()}
    boxes = [shape_box(e, x, y) for e, x, y in walk(root) if e.get("class") == css and id(e) not in keys]
    return [box.right - box.left for box in boxes]


def test_bars_are_as_long_as_their_cycles() -> None:
    picture = pipeline_strip(FOUR, title="Four instructions")
    check_page(picture)
    check_pixels(picture)
    (late,) = bars(picture, "tint4")
    cycle = late / 30
    assert [round(width / cycle) for width in bars(picture, "tint0")] == [3, 3, 1]
    assert [round(width / cycle) for width in bars(picture, "hue1")] == [28]
    words = [line for line, _ in texts(parse(picture))]
    assert {"Four instructions", "4 instructions, 33 cycles, of them 28 stalled", "mul x, x, y", "cycle"} <= set(words)
    assert legend(parse(picture))[-1] == "waits for this result"
    assert "mul x, x, y at 30 after waiting for load x, 0, ready at 33" in picture.alt


def test_without_misses_and_waits_the_legend_is_short() -> None:
    picture = pipeline_strip([Issue("add a, b, c", 0, 0, 1)])
    check_page(picture)
    assert legend(parse(picture)) == ["issued, result under way", "stall"]


@pytest.mark.parametrize("count", [1, 45, 200])
@pytest.mark.parametrize("latency", [1, 30, 20000])
def test_programs_of_any_length_are_drawn(count: int, latency: int) -> None:
    made = [Issue(f"load r{i}, {i}", i, i, i + latency, i - 1 if i else None) for i in range(count)]
    picture = pipeline_strip(made)
    check_page(picture)
    assert ("the first 60 are shown" in picture.svg) == (count > 60)


@pytest.mark.parametrize(
    ("issues", "words"),
    [
        ([], "no instructions"),
        ([Issue("a", 2, 1, 3)], "not in this order"),
        ([Issue("a", 1, 2, 1)], "not in this order"),
    ],
)
def test_what_is_no_schedule_is_refused(issues: list[Issue], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        pipeline_strip(issues)


def test_the_player_follows_its_latencies() -> None:
    def schedule(program: int, latency: Mapping[str, int]) -> list[Issue]:
        return [Issue(f"mul a{i}", i, i, i + latency["mul"]) for i in range(program)]

    player = pipeline_player({"one": 1, "two": 2}, schedule, {"mul": 3, "add": 1}, {"mul": 9})
    found = controls(player)
    assert "1 instruction in 3 cycles" in html(player)[0]
    found["mul, cycles"].value = 8
    assert "1 instruction in 8 cycles" in html(player)[0]
    found["program"].value = "two"
    assert "2 instructions in 9 cycles" in html(player)[0]
    with pytest.raises(ValueError, match="no latency 'div'"):
        pipeline_player({"one": 1}, schedule, {"mul": 3}, {"div": 9})
    with pytest.raises(ValueError, match="no programs"):
        pipeline_player({}, schedule, {"mul": 3}, {})

"""Pictures of a queue's level over time, and of an order made of several sources."""

from __future__ import annotations

import pytest
from view_svg_checks import check_page, check_pixels, legend, parse, texts

from tflabs.view import Span, interleaving, queue_levels

SPANS = [
    Span("runner", 0, 400),
    Span("runner", 400, 600, waiting=True),
    Span("training", 100, 400, waiting=True),
    Span("training", 400, 1000),
]


def shown(picture: object) -> list[str]:
    return [words for words, _ in texts(parse(picture))]


def test_the_level_stands_below_the_lanes() -> None:
    picture = queue_levels(SPANS, [(200, 1), (400, 0), (600, 2)], capacity=2, title="A queue", notes=["A note."])
    check_page(picture)
    check_pixels(picture)
    assert picture.size[0] <= 830, "wider than a cell of JupyterLab: the end of the axis is out of sight"
    assert {"runner", "training", "elements in the queue", "0", "2", "A queue", "A note."} <= set(shown(picture))
    assert legend(parse(picture)) == ["at work", "waits for the queue", "room for all"]
    assert picture.alt == (
        "2 lanes over 1,000 µs. runner: at work 40% of the time, waits 20%; "
        "training: at work 60% of the time, waits 30%. The queue has room for 2; "
        "it is empty 40% and full 40% of the time."
    )


def test_the_staircase_follows_the_sizes() -> None:
    picture = queue_levels([Span("a", 0, 100)], [(0, 4), (50, 1)], capacity=4)
    (outline,) = [e for e in parse(picture).iter() if e.get("class") == "line5"]
    heights = [float(point.split()[1]) for point in outline.get("d")[1:].split("L")]
    bottom, top = max(heights), min(heights)
    steps = [round((bottom - height) / (bottom - top) * 4) for height in heights]
    assert steps == [0, 0, 4, 4, 1, 1]


@pytest.mark.parametrize("capacity", [1, 7, 500])
@pytest.mark.parametrize("total", [0.5, 900.0, 5e6])
def test_queues_of_any_size_and_time_are_drawn(capacity: int, total: float) -> None:
    levels = [(7.0, capacity), (7.0 + total / 2, 0)]
    picture = queue_levels([Span("a lane with a rather long name", 7.0, 7.0 + total)], levels, capacity=capacity)
    check_page(picture)
    assert "empty 50% and full 50%" in picture.alt


def test_thousands_of_levels_are_one_line() -> None:
    picture = queue_levels(SPANS, [(i / 10, i % 3) for i in range(9000)], capacity=2)
    check_page(picture)
    assert picture.svg.count("<path") < 60


@pytest.mark.parametrize(
    ("spans", "levels", "words"),
    [
        ([], [(0, 1)], "no spans or no levels"),
        (SPANS, [], "no spans or no levels"),
        (SPANS, [(0, 3)], "of capacity 2 cannot hold 3"),
        (SPANS, [(0, -1)], "of capacity 2 cannot hold -1"),
    ],
)
def test_what_no_queue_can_hold_is_refused(spans: list[Span], levels: list[tuple[float, int]], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        queue_levels(spans, levels, capacity=2)


def test_an_order_is_drawn_source_by_source() -> None:
    picture = interleaving([0, 1, 100, 2, 200], lambda element: element // 100, title="An order of three")
    check_page(picture)
    check_pixels(picture)
    words = shown(picture)
    assert {"source 0", "source 1", "source 2", "place", "An order of three"} <= set(words)
    assert [word for word in words if word in {"0", "100", "200"}] == ["0", "100", "200"]
    assert picture.alt == (
        "5 elements of 3 sources in the order 0 (source 0), 1 (source 0), 100 (source 1), 2 (source 0), 200 (source 2)."
    )


def test_orders_of_any_elements_are_drawn() -> None:
    check_page(interleaving(["an element with many words", None, "<&>"], lambda element: 9 if element is None else 0))
    with pytest.raises(ValueError, match="no elements"):
        interleaving([], int)

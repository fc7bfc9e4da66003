"""Pictures of who runs and who waits for a thread, and the player of a schedule."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest
from view_svg_checks import check_page, check_pixels, groups, legend, parse, shape_box, texts
from view_widgets import controls, html

from tflabs.view import Turn, makespans, ready_queue, schedule_player
from tflabs.view.ready_queue import read_turns, rows_of

TURNS = [Turn("a", 0, 0, 100), Turn("b", 0, 0, 300), Turn("c", 0, 100, 200), Turn("d", 100, 200, 250)]


def shown(picture: object) -> list[str]:
    return [words for words, _ in texts(parse(picture))]


def test_who_is_ready_stands_below_who_runs() -> None:
    picture = ready_queue(TURNS, title="A queue", notes=["A note."], marked={"b"})
    check_page(picture)
    check_pixels(picture)
    assert picture.size[0] <= 830, "wider than a cell of JupyterLab: the end of the axis is out of sight"
    assert {"thread 1", "thread 2", "ready queue", "A queue", "A note.", "a", "b", "c", "d"} <= set(shown(picture))
    assert legend(parse(picture)) == ["runs", "runs, and is on the critical path", "ready, waits for a thread"]
    assert picture.alt == (
        "4 runs in 300 µs; 2 rows of threads. At most 1 node in the ready queue; d waits longest, 100 µs."
    )


def test_bars_of_a_row_do_not_overlap_and_have_one_scale() -> None:
    root = parse(ready_queue(TURNS, length=600))
    boxes = [shape_box(g[0 if len(g) == 0 else 1], dx, dy) for g, dx, dy in groups(root, "bar")]
    assert len(boxes) == 6  # four runs, two waits
    for number, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:number])
    assert boxes[1].right - boxes[1].left == pytest.approx(310, abs=0.2)


@pytest.mark.parametrize(
    ("spans", "rows"),
    [
        ([], []),
        ([(0, 2), (1, 3), (2, 4), (3, 5)], [0, 1, 0, 1]),
        ([(5, 6), (0, 9), (0, 5)], [0, 1, 0]),
        ([(1, 1), (1, 1), (1, 2)], [0, 0, 0]),
    ],
)
def test_a_span_takes_the_first_free_row(spans: list[tuple[float, float]], rows: list[int]) -> None:
    assert rows_of(spans) == rows


def test_a_traced_step_is_read(two_devices: SimpleNamespace) -> None:
    turns = read_turns(two_devices.metadata)
    assert {"a", "b", "c", "d"} <= {turn.node for turn in turns}
    assert "_SOURCE" not in {turn.node for turn in turns}
    assert min(turn.ready for turn in turns) == 0
    assert all(turn.ready <= turn.start <= turn.end for turn in turns)
    check_page(ready_queue(two_devices.metadata.step_stats))


def test_a_queue_that_is_always_empty() -> None:
    picture = ready_queue([Turn("a node with a name that does not fit <&>", 3, 3, 3.5), Turn("z", 0, 0, 90_000)])
    check_page(picture)
    assert picture.alt.endswith("The ready queue is always empty.")


@pytest.mark.parametrize("value", [3, [3], "turns", None])
def test_something_else_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="expected RunMetadata, StepStats or Turns"):
        ready_queue(value)


def test_nothing_and_too_much_are_refused() -> None:
    with pytest.raises(ValueError, match="no node ran"):
        ready_queue([])
    with pytest.raises(ValueError, match="do not fit"):
        ready_queue(TURNS, length=200)
    with pytest.raises(ValueError, match="no schedules"):
        makespans([0.0], 0, 0)


@pytest.mark.parametrize("ends", [[500.0], [500.0, 300.0, 260.0], [9e6 / n for n in range(1, 17)]])
def test_more_threads_are_drawn_with_their_two_limits(ends: list[float]) -> None:
    picture = makespans(ends, 250, ends[0], now=1)
    check_page(picture)
    check_pixels(picture)
    assert {str(number + 1) for number in range(len(ends))} | {"threads"} <= set(shown(picture))
    assert [words.partition(":")[0] for words in legend(parse(picture))] == [
        "length of the schedule",
        "the one above",
        "critical path",
        "work / threads",
    ]


def test_the_player_shows_the_chosen_schedule() -> None:
    def schedule(number: int, threads: int) -> list[Turn]:
        both = [Turn("a", 0, 0, 10 + number), Turn("b", 0, 0, 10)]
        return both if threads > 1 else [both[0], Turn("b", 0, 10 + number, 20 + number)]

    player = schedule_player(schedule, lambda number: ["a"], most=3, graphs=2)
    words = lambda: re.findall(r'alt="([^"]*)"', " ".join(html(player)))  # noqa: E731
    assert words()[0].startswith("2 runs in 20 µs; 1 row of threads. At most 1 node in the ready queue")
    assert words()[1].startswith("1 thread: 20 µs, 2 threads: 10 µs, 3 threads: 10 µs. The critical path takes 10 µs")
    controls(player)["threads"].value = 2
    controls(player)["graph"].value = 1
    assert words()[0] == "2 runs in 11 µs; 2 rows of threads. The ready queue is always empty."

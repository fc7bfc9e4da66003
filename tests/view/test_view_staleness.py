"""Pictures of pulls, pushes and staleness: they show what they are given, and the player follows its controls."""

from __future__ import annotations

import math
import random

import pytest
from view_svg_checks import check_page, check_pixels, legend, parse, texts

from tflabs.view import Exchange, loss_curves, space_time, staleness_histogram, staleness_player
from tflabs.view.staleness import INTERLEAVINGS, OLDEST, played, schedule


def events_of(workers: int, count: int, seed: int = 0) -> list[Exchange]:
    """Random pulls and pushes, each push with its true staleness."""
    rng, seen, version, events = random.Random(seed), {}, 0, []
    while len(events) < count:
        worker = rng.randrange(workers)
        if worker in seen:
            events.append(Exchange(worker, "push", version - seen.pop(worker), 20 * 0.9**version))
            version += 1
        else:
            seen[worker] = version
            events.append(Exchange(worker, "pull"))
    return events


def shown(picture: object) -> list[str]:
    return [words for words, _ in texts(parse(picture))]


@pytest.mark.parametrize(("workers", "count"), [(1, 2), (3, 48), (8, 200)])
def test_space_time_is_a_sound_picture(workers: int, count: int) -> None:
    picture = space_time(events_of(workers, count), title="What the server saw")
    check_page(picture)
    check_pixels(picture)
    assert {"server", "worker 0", f"worker {workers - 1}", "loss"} <= set(shown(picture))


def test_space_time_names_the_staleness_of_each_push() -> None:
    events = [
        Exchange(0, "pull"), Exchange(1, "pull"), Exchange(0, "push", 0, 4.0), Exchange(1, "push", 1, 3.0),
        Exchange(1, "pull"), Exchange(1, "step"), Exchange(1, "push", OLDEST + 3, 0.5),
    ]  # fmt: skip
    picture = space_time(events)
    assert legend(parse(picture)) == [
        "pull", "step", "push, staleness 0", "push, staleness 1", f"push, staleness {OLDEST} or more",
    ]  # fmt: skip
    assert "Staleness of the 3 pushes, in order: 0, 1, 9." in picture.alt
    assert "The loss goes from 4 to 0.5." in picture.alt
    assert {"0", "1", "9"} <= set(shown(picture))


def test_space_time_without_pushes_or_losses() -> None:
    picture = space_time([Exchange(0, "pull")])
    check_page(picture)
    assert "loss" not in shown(picture)
    assert "Staleness of the 0 pushes, in order: none." in picture.alt


def test_space_time_refuses_nothing_and_the_unknown() -> None:
    with pytest.raises(ValueError, match="no events"):
        space_time([])
    with pytest.raises(ValueError, match="unknown kind of event: nap; known are pull, step, push"):
        space_time([Exchange(0, "nap")])


def test_histogram_counts_in_per_cent_and_shows_the_mean() -> None:
    picture = staleness_histogram({"1 worker": [0] * 10, "4 workers": [0, 1, 1, 3], "slow": [2, 40]}, title="Staleness")
    check_page(picture)
    check_pixels(picture)
    words = shown(picture)
    assert {"100", "25", "50", "mean 0.0", "mean 1.2", "mean 21.0", "12+"} <= set(words)
    assert "4 workers, 4 pushes, mean staleness 1.2: 0: 25 %, 1: 50 %, 3: 25 %." in picture.alt
    assert "slow, 2 pushes, mean staleness 21.0: 2: 50 %, 12+: 50 %." in picture.alt


def test_histogram_names_rare_pushes() -> None:
    picture = staleness_histogram({"many": [0] * 999 + [1]})
    assert "<1" in shown(picture)
    with pytest.raises(ValueError, match="at least one push"):
        staleness_histogram({"none": []})


def test_curves_end_where_they_leave_the_picture() -> None:
    curves = {
        "one": [20 * 0.9**k for k in range(240)],
        "two": [20 * 1.2**k for k in range(240)],
        "three": [1.0, math.nan],
        "four": [5.0] * 240,
    }
    picture = loss_curves(curves, title="Plain SGD")
    check_page(picture)
    check_pixels(picture)
    assert {"one", "two", "three", "four", "0", "200"} <= set(shown(picture))
    assert any("grown beyond 10000" in words for words in shown(picture))
    assert "one: from 20 to" in picture.alt
    assert not any("grown" in words for words in shown(loss_curves({"one": curves["one"]})))


@pytest.mark.parametrize("losses", [[1.0], [0.0, 0.0], [1e-30, 1e3], [math.inf, 1.0]])
def test_curves_of_odd_losses_are_drawn(losses: list[float]) -> None:
    check_page(loss_curves({"odd": losses}))


def test_curves_refuse_none_and_too_many() -> None:
    for curves in ({}, {"empty": []}, {str(k): [1.0] for k in range(8)}):
        with pytest.raises(ValueError, match="1 to 7 curves"):
            loss_curves(curves)


def test_schedules() -> None:
    assert schedule("in turn", 3, 7) == [0, 1, 2, 0, 1, 2, 0]
    assert schedule("one slow worker", 3, 9) == [0, 1, 2, 1, 2, 1, 2, 1, 2]
    assert schedule("one slow worker", 1, 4) == [0, 0, 0, 0]
    drawn = schedule("at random", 4, 400, seed=1)
    assert drawn == schedule("at random", 4, 400, seed=1) != schedule("at random", 4, 400, seed=2)
    assert set(drawn) == {0, 1, 2, 3}
    assert all(len(schedule(kind, 5, 123)) == 123 for kind in INTERLEAVINGS)
    with pytest.raises(ValueError, match="interleaving must be one of"):
        schedule("backwards", 2, 4)


def test_the_player_trains_anew_when_a_control_moves() -> None:
    asked: list[tuple[int, int, int, int]] = []

    def train(drawn: list[int], workers: int, fetch: int, push: int) -> list[Exchange]:
        asked.append((len(drawn), workers, fetch, push))
        return events_of(workers, 60)

    player = staleness_player(train, steps=100)
    sliders, (order, again), *pictures = player.children[0].children, player.children[1].children, *player.children[2:]
    assert asked == [(100, 3, 2, 1)]
    before = [picture.value for picture in pictures]
    sliders[0].value = 6
    assert asked[-1] == (100, 6, 2, 1)
    # The loss that `train` makes up is the same for any number of workers.
    assert all(now.value != then for now, then in zip(pictures[:2], before[:2], strict=True))
    sliders[1].value, sliders[2].value, order.value = 4, 3, "in turn"
    assert asked[-1] == (100, 6, 4, 3)
    count = len(asked)
    again.click()
    assert len(asked) == count + 1


def test_the_player_shows_the_first_events_only() -> None:
    pictures = played(events_of(3, 120), 48)
    for picture in pictures:
        check_page(picture)
    assert "48 events" in pictures[0].alt
    assert "The first 48 of 120 events" in shown(pictures[0])


def test_the_player_shows_schedules_without_a_push() -> None:
    pictures = played([Exchange(0, "pull"), Exchange(0, "step")], 48)
    assert len(pictures) == 1

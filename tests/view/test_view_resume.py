"""Pictures of the processes of a training job: what is kept, lost and done again, and the player that moves it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from view_svg_checks import check_page, check_pixels, legend, parse, texts
from view_widgets import below

from tflabs.view import Attempt, attempts, resume_player
from tflabs.view.resume import AGAIN, KEPT, LOST, hues, planned


def test_each_step_is_kept_lost_or_done_again() -> None:
    both = planned(12, 3, 7)
    assert both == [
        Attempt(range(1, 8), range(0, 8, 3), "killed after step 7", killed=True),
        Attempt(range(7, 13), [6, 9, 12], "resumes at 6, ends after step 12"),
    ]
    assert hues(both) == [[KEPT] * 6 + [LOST], [AGAIN] + [KEPT] * 5]


@pytest.mark.parametrize("last", [2, 3, 17, 40])
def test_nothing_is_skipped_and_only_lost_steps_are_repeated(last: int) -> None:
    for every in range(1, last + 2):
        for kill in range(last):
            first, second = planned(last, every, kill)
            start = first.saved[-1]
            assert [*range(1, start + 1), *second.steps] == list(range(1, last + 1))
            marks = hues([first, second])
            assert marks[0].count(LOST) == marks[1].count(AGAIN) == kill - start < every
            assert second.saved[0] == start and second.saved[-1] == last


def test_the_picture_is_whole_and_says_what_it_shows() -> None:
    picture = attempts(planned(50, 10, 35), title="Killed for real")
    check_page(picture)
    check_pixels(picture)
    assert picture.size[0] <= 830, "wider than a cell of JupyterLab"
    assert legend(parse(picture)) == ["kept", "lost by the kill", "lost before and kept now", "checkpoint"]
    assert {"process 1", "process 2", "5", "50", "Killed for real"} <= {words for words, _ in texts(parse(picture))}
    assert picture.alt == (
        "Process 1: steps 1 to 35 (30 kept, 5 lost by the kill); checkpoints after 0, 10, 20, 30; "
        "killed after step 35. "
        "Process 2: steps 31 to 50 (15 kept, 5 lost before and kept now); checkpoints after 30, 40, 50; "
        "resumes at 30, ends after step 50."
    )


@pytest.mark.parametrize("last", [1, 9, 200])
def test_jobs_of_any_length_are_drawn(last: int) -> None:
    picture = attempts([Attempt([], [0], "killed at once", killed=True), Attempt(range(1, last + 1), [last], "done")])
    check_page(picture)
    assert picture.alt.startswith("Process 1 did no step; killed at once.")


def test_what_is_no_job_is_refused() -> None:
    with pytest.raises(ValueError, match="no process did a step"):
        attempts([Attempt([], [0], "killed", killed=True)])
    for every, kill in [(0, 3), (5, 10), (5, -1)]:
        with pytest.raises(ValueError, match="no kill after step"):
            planned(10, every, kill)


def test_the_player_follows_both_sliders() -> None:
    player: Any = resume_player(20, 5, 13)
    sliders = {part.description: part for part in below(player) if type(part).__name__ == "IntSlider"}
    cost, picture = [part for part in below(player) if type(part).__name__ == "HTML"]
    assert cost.value == "10 steps kept, 3 steps lost and done again, 6 checkpoints written."
    sliders["steps between checkpoints"].value = 20
    assert cost.value == "0 steps kept, 13 steps lost and done again, 3 checkpoints written."
    sliders["killed after step"].value = 1
    assert cost.value.startswith("0 steps kept, 1 step lost")
    assert "steps 1 to 1 (1 lost by the kill)" in str(re.findall(r'alt="([^"]*)"', picture.value))

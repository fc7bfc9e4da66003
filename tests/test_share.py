"""The shares of many cases: together they are all of them, and each answer's exercise keeps what a proof needs."""

from __future__ import annotations

from collections import Counter

import pytest

from share import Share
from tflabs.authoring.answers import Answer
from tflabs.authoring.verify import RIGHT_ANSWERS, WRONG_ANSWERS


@pytest.mark.parametrize("count", [0, 1, 2, 7, 30])
@pytest.mark.parametrize("of", [1, 3, 4])
def test_each_case_is_in_one_share(count: int, of: int) -> None:
    cases = list(range(count))
    shares = [Share(of, first).some(cases) for first in range(of)]
    assert sorted(case for share in shares for case in share) == cases


@pytest.mark.parametrize("first", range(3))
def test_a_share_of_answers_is_enough_for_a_proof_in_their_order(first: int) -> None:
    kinds = [("one", False)] * 8 + [("one", True)] * 2 + [("two", False)] * 4 + [("two", True)] + [("one", False)] * 4
    answers = [Answer(name, is_right, "why", f"x = {line}", line) for line, (name, is_right) in enumerate(kinds)]
    taken = Share(3, first).answers(answers)
    assert taken == [answer for answer in answers if answer in taken]
    counted = Counter((answer.exercise, answer.is_right) for answer in taken)
    assert counted["one", False] == 4 and counted["two", False] == WRONG_ANSWERS
    assert counted["one", True] == counted["two", True] == RIGHT_ANSWERS

"""Test cells say of which case they asked."""

from __future__ import annotations

import pytest

from tflabs.runtime import answer_to


def quotient(x: int, y: int) -> float:
    return x / y


def test_the_answer_is_what_the_function_returns() -> None:
    assert answer_to("6 and 3", (), quotient, 6, 3) == 2.0


def test_an_error_that_is_not_due_is_told_with_the_case() -> None:
    with pytest.raises(AssertionError, match=r"your function raised ZeroDivisionError: .*; the case: seed 7: 6 and 0"):
        answer_to("seed 7: 6 and 0", (ValueError,), quotient, 6, 0)


def test_a_due_error_and_that_of_an_unanswered_exercise_pass() -> None:
    with pytest.raises(ZeroDivisionError):
        answer_to("6 and 0", (ZeroDivisionError,), quotient, 6, 0)

    def unanswered() -> None:
        raise NotImplementedError

    with pytest.raises(NotImplementedError):
        answer_to("nothing", (), unanswered)

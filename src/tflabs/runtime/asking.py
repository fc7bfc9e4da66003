"""Test cells ask the learner's code, and say of which case they asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def answer_to(case: str, due: tuple[type[Exception], ...], function: Callable[..., Any], *arguments: object) -> Any:
    """What the learner's function returns for these arguments.

    Args:
        case: what is asked, in words, with the seed of random cases.
        due: errors that would be right here. They pass, as `NotImplementedError` of an unanswered exercise does.

    Raises:
        AssertionError: the function raised another error; its words name that error and the case.
    """
    passing: tuple[type[Exception], ...] = (NotImplementedError, *due)
    try:
        return function(*arguments)
    except passing:
        raise
    except Exception as error:
        told = f"{type(error).__name__}: {str(error)[:300]}"
        raise AssertionError(f"your function raised {told}; the case: {case}") from error

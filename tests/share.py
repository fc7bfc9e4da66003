"""A part of the cases of which there are many: `--share N` takes one in N, and others at other commits.

Continuous integration uses it, for labs and corpora grow and its patience does not. Without the option everything runs.
"""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import toy
from tflabs.authoring.answers import Answer
from tflabs.authoring.verify import RIGHT_ANSWERS, WRONG_ANSWERS

T = TypeVar("T")


@dataclass(frozen=True)
class Share:
    """One case in `of`, beginning with the `first`."""

    of: int
    first: int

    def some(self, cases: Sequence[T], least: int = 0) -> list[T]:
        """Every `of`-th case, and where these are fewer than `least`, as many of those after them."""
        taken = [case for number, case in enumerate(cases) if (number - self.first) % self.of == 0]
        others = [case for number, case in enumerate(cases) if (number - self.first) % self.of != 0]
        return taken + others[: max(0, least - len(taken))]

    def answers(self, answers: list[Answer]) -> list[Answer]:
        """Of each exercise, at least as many right and wrong answers as a proof needs."""
        taken = []
        for (_, is_right), group in itertools.groupby(sorted(answers, key=_kind), _kind):
            taken += self.some(list(group), RIGHT_ANSWERS if is_right else WRONG_ANSWERS)
        return sorted(taken, key=answers.index)


def share_of(count: int) -> Share:
    """One in `count`; which one follows from the commit's name, so that a failure can be repeated."""
    asked = ["git", "rev-parse", "HEAD"]
    done = subprocess.run(asked, cwd=toy.ROOT, capture_output=True, text=True, check=False)
    return Share(count, int(done.stdout.strip() or "0", 16) % count)


def _kind(answer: Answer) -> tuple[str, bool]:
    return answer.exercise, answer.is_right

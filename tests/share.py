"""A part of the cases of which there are many: `--share N` takes one in N, and others at other commits.

Continuous integration uses it, for labs and corpora grow and its patience does not. Without the option everything runs.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import toy

T = TypeVar("T")


@dataclass(frozen=True)
class Share:
    """One case in `of`, beginning with the `first`."""

    of: int
    first: int

    def some(self, cases: Sequence[T]) -> list[T]:
        """Every `of`-th case."""
        return [case for number, case in enumerate(cases) if (number - self.first) % self.of == 0]


def share_of(count: int) -> Share:
    """One in `count`; which one follows from the commit's name, so that a failure can be repeated."""
    asked = ["git", "rev-parse", "HEAD"]
    done = subprocess.run(asked, cwd=toy.ROOT, capture_output=True, text=True, check=False)
    return Share(count, int(done.stdout.strip() or "0", 16) % count)

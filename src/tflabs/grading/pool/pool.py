"""What the grader asks of a pool, wherever that runs its work."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Protocol

from tflabs.grading.pool.work import Work
from tflabs.grading.run import CellRun


class Ungradable(Exception):
    """This work could not be run, and would not be by trying again; the text says why."""


class PoolBroken(Exception):
    """No work can be run here any more; the text says why."""


class Pool(Protocol):
    """Runs work somewhere else. Its futures end with the runs, with Ungradable or with PoolBroken."""

    def submit(self, work: Work) -> Future[list[CellRun]]:
        """Have work run. A worker that is lost costs nothing: its work is run again elsewhere."""
        ...

    def width(self) -> int:
        """How much work can run at a time, at least 1."""
        ...

    def close(self) -> None:
        """End everything that runs."""
        ...

"""What a run of `tflabs grade` leaves for the next one, should it be killed.

    .grading/lock                      held while a run grades; the kernel lets go of it however the run ends
    .grading/runs/LAB/STUDENT.json     what the cells did, from when that is known until nbgrader has recorded it
    .grading/recording/LAB/STUDENT     there while nbgrader records a submission

Files appear whole or not at all. They are small, and gone when everything is recorded.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path

from tflabs.errors import UserError
from tflabs.grading.pool.work import runs_from_text, runs_to_text
from tflabs.grading.run import CellRun


class Journal:
    """Of one course. The folder is made when something is first written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep every other run out.

        Raises:
            UserError: another run is in.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "lock").open("a+", encoding="ascii") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.seek(0)
                holder = file.read().strip() or "unknown"
                raise UserError(
                    f"this course is being graded already, by process {holder}; wait for it, or end it"
                ) from None
            file.truncate(0)
            file.write(f"{os.getpid()}\n")
            file.flush()
            yield

    def keep(self, lab: str, student: str, digest: str, runs: list[CellRun]) -> None:
        """Keep what the cells did of the work with this digest."""
        path = self._runs(lab, student)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{path.name}.part")  # one writer: the lock is held
        part.write_text(json.dumps({"digest": digest, "runs": runs_to_text(runs)}), encoding="utf-8")
        part.replace(path)

    def find(self, lab: str, student: str, digest: str) -> list[CellRun] | None:
        """What the cells did, if exactly this work ran; a damaged file counts for nothing."""
        try:
            kept = json.loads(self._runs(lab, student).read_text(encoding="utf-8"))
            return runs_from_text(kept["runs"]) if kept["digest"] == digest else None
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def forget(self, lab: str, student: str) -> None:
        """What the cells did is recorded, or is not to be used."""
        self._runs(lab, student).unlink(missing_ok=True)

    @contextlib.contextmanager
    def recording(self, lab: str, student: str) -> Iterator[None]:
        """Mark a submission while nbgrader records it; the mark stays if that did not come to its end."""
        mark = self._mark(lab, student)
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
        yield
        mark.unlink()

    def holds(self, lab: str, student: str) -> bool:
        """Whether this submission ran and is not recorded, or was being recorded when the run was killed."""
        return self._mark(lab, student).exists() or self._runs(lab, student).exists()

    def _runs(self, lab: str, student: str) -> Path:
        return self.folder / "runs" / lab / f"{student}.json"

    def _mark(self, lab: str, student: str) -> Path:
        return self.folder / "recording" / lab / student

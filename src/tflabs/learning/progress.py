"""What a learner has done, kept in `.tflabs/progress.json` of their folder."""

from __future__ import annotations

import contextlib
import fcntl
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from tflabs.course.files import write_text
from tflabs.errors import UserError
from tflabs.grading.report import Report
from tflabs.learning.workspace import Workspace

VERSION = 1


class Progress:
    """The results of past checks: the latest points of every exercise, and when it was first passed.

    The file survives an upgrade of the course (exercises are kept by id) and a crash (it is replaced whole). A file
    that cannot be read is moved aside, never overwritten.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.path = workspace.state / "progress.json"
        self.warning = ""
        self.labs: dict[str, dict[str, Any]] = self._read()

    def points(self, lab: str) -> float | None:
        """The points of the latest check; None if the lab was never checked."""
        if lab not in self.labs:
            return None
        return float(sum(exercise["points"] for exercise in self.labs[lab]["exercises"].values()))

    def has_passed(self, lab: str, exercise: str) -> bool:
        """Whether the exercise ever got all its points."""
        return bool(self.labs.get(lab, {}).get("exercises", {}).get(exercise, {}).get("passed"))

    def record(self, report: Report) -> list[str]:
        """Keep the result of a check; returns the exercises that were passed for the first time."""
        with self._locked():
            self.labs = self._read()
            known = self.labs.get(report.lab, {}).get("exercises", {})
            now = datetime.now(UTC).isoformat(timespec="seconds")
            exercises: dict[str, Any] = {}
            fresh = []
            for exercise in report.exercises:
                passed = known.get(exercise.id, {}).get("passed")
                if exercise.passed and not passed:
                    passed = now
                    fresh.append(exercise.id)
                exercises[exercise.id] = {
                    "points": exercise.points,
                    "max_points": exercise.max_points,
                    "passed": passed,
                }
            self.labs[report.lab] = {"checked": now, "exercises": exercises}
            write_text(self.path, json.dumps({"version": VERSION, "labs": self.labs}, indent=1, sort_keys=True) + "\n")
        return fresh

    def _read(self) -> dict[str, dict[str, Any]]:
        try:
            data = json.loads(self.path.read_text(encoding="utf-8"))
            if data["version"] != VERSION:
                raise ValueError(f"it is of version {data['version']}")
            labs: dict[str, dict[str, Any]] = data["labs"]
            for lab in labs.values():
                for exercise in lab["exercises"].values():
                    float(exercise["points"])
            return labs
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            self._move_aside(error)
            return {}

    def _move_aside(self, error: Exception) -> None:
        number = 1
        while (kept := self.path.with_name(f"progress.broken-{number}.json")).exists():
            number += 1
        try:
            self.path.rename(kept)
        except OSError:
            raise UserError(f"cannot read {self.path}: {error}") from None
        self.warning = f"your record of progress could not be read ({error}); it was kept as {kept}, a new one begins"

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Two checks at once take turns."""
        try:
            self.workspace.state.mkdir(parents=True, exist_ok=True)
            with (self.workspace.state / "lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                yield
        except OSError as error:
            raise UserError(f"cannot keep your progress in {self.workspace.state}: {error.strerror}") from None

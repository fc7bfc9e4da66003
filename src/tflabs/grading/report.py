"""What grading found, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class TestResult:
    """One graded cell. `message` is empty when all its points were given; `judged` is as in `CellRun`."""

    __test__ = False  # for pytest, which takes a name like this for a class of tests

    id: str
    points: float
    max_points: float
    message: str
    judged: str = "kernel"


@dataclass(frozen=True)
class ExerciseResult:
    id: str
    title: str
    tests: tuple[TestResult, ...]

    @property
    def points(self) -> float:
        return sum(test.points for test in self.tests)

    @property
    def max_points(self) -> float:
        return sum(test.max_points for test in self.tests)

    @property
    def passed(self) -> bool:
        return self.points == self.max_points


@dataclass(frozen=True)
class Report:
    """The result of one notebook. `repairs` says what was put right before it ran, `notes` what went wrong then."""

    lab: str
    exercises: tuple[ExerciseResult, ...]
    repairs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def points(self) -> float:
        return sum(exercise.points for exercise in self.exercises)

    @property
    def max_points(self) -> float:
        return sum(exercise.max_points for exercise in self.exercises)

    @property
    def passed(self) -> bool:
        return all(exercise.passed for exercise in self.exercises)

    def to_json(self) -> dict[str, Any]:
        """The document that `check --json` prints."""
        return {
            "lab": self.lab,
            "points": self.points,
            "max_points": self.max_points,
            "repairs": list(self.repairs),
            "notes": list(self.notes),
            "exercises": [
                {
                    "id": exercise.id,
                    "title": exercise.title,
                    "points": exercise.points,
                    "max_points": exercise.max_points,
                    "tests": [
                        {
                            "id": test.id,
                            "points": test.points,
                            "max_points": test.max_points,
                            "message": test.message,
                            "judged": test.judged,
                        }
                        for test in exercise.tests
                    ],
                }
                for exercise in self.exercises
            ],
        }

"""A lab as its instructor notebook describes it: exercises, their tests, their notes."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Any

from tflabs.errors import UserError

HEADING = re.compile(r"^### Exercise (?P<number>\d+) · (?P<title>.+) \((?P<points>\d+) points?\)\s*$", re.MULTILINE)
HIDDEN = re.compile(r"^[ \t]*### BEGIN HIDDEN TESTS$.*?^[ \t]*### END HIDDEN TESTS$\n?", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class GradedCell:
    """A graded cell (nbgrader: autograder tests)."""

    grade_id: str
    points: float
    source: str


@dataclass(frozen=True)
class Exercise:
    """One thing that is learned: a solution cell, and the tests behind it.

    `id` is the grade id of the solution cell; the grade ids of its tests begin with it. `note` is what `check` says
    once the exercise passed.
    """

    id: str
    number: int
    title: str
    text: str
    solution: str
    tests: tuple[GradedCell, ...]
    note: str

    @property
    def points(self) -> float:
        return sum(test.points for test in self.tests)

    @property
    def is_built(self) -> bool:
        """Whether the learner writes a function or a class here; else the exercise is a prediction."""
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        return any(isinstance(node, kinds) for node in ast.walk(parsed(self.solution)))


@dataclass(frozen=True)
class Lab:
    """A lab's notebook (nbformat 4.5, instructor version) and the exercises found in it."""

    id: str
    title: str
    notebook: Any
    exercises: tuple[Exercise, ...]

    @property
    def points(self) -> float:
        return sum(exercise.points for exercise in self.exercises)

    def exercise(self, name: str) -> Exercise:
        names = [exercise.id for exercise in self.exercises]
        if name not in names:
            raise UserError(f"{self.id} has no exercise {name!r}; its exercises are: {', '.join(names)}")
        return self.exercises[names.index(name)]


def role(cell: Any) -> str:
    """What nbgrader takes a cell for: 'solution', 'test', 'given' (locked, not graded) or 'free' (everything else)."""
    nbgrader = cell.metadata.get("nbgrader") or {}
    if not isinstance(nbgrader, dict) or not isinstance(nbgrader.get("grade_id"), str):
        return "free"
    if nbgrader.get("solution"):
        return "solution"
    if nbgrader.get("grade"):
        return "test"
    return "given" if nbgrader.get("locked") else "free"


def grade_id(cell: Any) -> str | None:
    """The nbgrader id of a cell that has a role."""
    return str(cell.metadata["nbgrader"]["grade_id"]) if role(cell) != "free" else None


def read_lab(notebook: Any, lab: str) -> Lab:
    """Find the exercises of an instructor notebook.

    Raises:
        UserError: a solution cell has no heading `### Exercise N · Title (P points)` above it, or no test below it,
            or a test belongs to no exercise.
    """
    notes = {cell.metadata["after_passing"]: cell.source for cell in notebook.cells if "after_passing" in cell.metadata}
    exercises: list[Exercise] = []
    heading: tuple[re.Match[str], str] | None = None
    solution: Any = None
    tests: list[GradedCell] = []

    def finish() -> None:
        if solution is None:
            return
        name = grade_id(solution)
        if heading is None:
            raise UserError(f"{lab}: no heading `### Exercise N · Title (P points)` stands above the cell {name!r}")
        if not tests:
            raise UserError(f"{lab}: no test follows the exercise {name!r}; its grade_id would be '{name}-test'")
        match, text = heading
        number, title = int(match["number"]), match["title"]
        exercises.append(Exercise(str(name), number, title, text, solution.source, tuple(tests), notes.pop(name, "")))

    for cell in notebook.cells:
        if cell.cell_type == "markdown" and (match := HEADING.search(cell.source)):
            finish()
            heading, solution, tests = (match, cell.source), None, []
        elif role(cell) == "solution":
            if solution is not None:
                finish()
                heading, tests = None, []
            solution = cell
        elif role(cell) == "test":
            name = grade_id(cell) or ""
            if solution is None or not name.startswith(f"{grade_id(solution)}-test"):
                raise UserError(
                    f"{lab}: the test {name!r} belongs to no exercise; its grade_id begins with the exercise's, "
                    "as in 'parse-key' and 'parse-key-test', and it stands below it"
                )
            tests.append(GradedCell(name, float(cell.metadata["nbgrader"]["points"]), cell.source))
    finish()
    if notes:
        raise UserError(f"{lab}: a note after passing names the unknown exercise {sorted(notes)[0]!r}")
    return Lab(lab, _title(notebook, lab), notebook, tuple(exercises))


def visible(test_source: str) -> str:
    """A test cell without its hidden regions."""
    return HIDDEN.sub("", test_source)


def parsed(source: str) -> ast.Module:
    """The syntax tree of a cell, IPython's magics left out."""
    try:
        return ast.parse(source)
    except SyntaxError:
        lines = [line if not re.match(r"\s*[%!]", line) else "" for line in source.splitlines()]
        return ast.parse("\n".join(lines))


def _title(notebook: Any, lab: str) -> str:
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and (match := re.match(r"# (.+)", cell.source)):
            return match[1].strip()
    raise UserError(f"{lab}: the first cell has no title (`# Title`)")

"""The authors' proof: a lab's tests are right only if they were seen to judge right."""

from __future__ import annotations

import asyncio
import functools
import tempfile
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tflabs.authoring.answers import Answer, read_answers
from tflabs.authoring.leaks import leaks
from tflabs.course.build import build_lab
from tflabs.course.files import parse_notebook
from tflabs.course.lab import Exercise, Lab, grade_id, role
from tflabs.course.layout import Course
from tflabs.course.lint import lint
from tflabs.course.merge import put_right
from tflabs.course.syllabus import Section
from tflabs.grading.grade import score, with_full_tests
from tflabs.grading.kernels import ColdKernels, Kernels, warm_kernels
from tflabs.grading.report import Report
from tflabs.grading.run import CellRun, Limits, run_cells_async

WRONG_ANSWERS = 3  # at least, for an exercise in which something is built
RIGHT_ANSWERS = 1
MOST_MIB = 2048.0
NO_MISTAKE = {"NameError", "SyntaxError", "IndentationError", "ImportError", "ModuleNotFoundError"}


@dataclass
class ExerciseProof:
    """What was tried on one exercise, and what it cost in the solution's run (seconds, MiB)."""

    id: str
    points: float
    wrong_tried: int = 0
    wrong_caught: int = 0
    right_tried: int = 0
    right_accepted: int = 0
    seconds: float = 0.0
    peak_mib: float = 0.0


@dataclass
class Proof:
    """The proof of one lab. It holds if there are no findings."""

    lab: str
    exercises: dict[str, ExerciseProof]
    findings: list[str] = field(default_factory=list)
    seconds: float = 0.0
    peak_mib: float = 0.0

    @property
    def holds(self) -> bool:
        return not self.findings


def verify(
    course: Course,
    section: Section,
    only: str | None = None,
    jobs: int = 2,
    on_step: Callable[[str], None] = lambda step: None,
) -> Proof:
    """Prove one lab.

    Args:
        section: the lab in the syllabus.
        only: try the answers to this exercise alone (for an author at work).
        jobs: how many kernels run at a time.
        on_step: told what is being tried.
    """
    built = build_lab(course, section.id)
    lab = built.lab
    answers = read_answers(course.answers(lab.id), lab)
    proof = Proof(lab.id, {exercise.id: ExerciseProof(exercise.id, exercise.points) for exercise in lab.exercises})
    proof.findings += [f"{path} is stale; run `tflabs build {lab.id}`" for path in built.stale()]
    text = built.files[course.text(lab.id)]
    proof.findings += [str(found) for found in lint(lab, text, str(course.text(lab.id)), section)]
    release = parse_notebook(built.files[course.release(lab.id)], str(course.release(lab.id)))
    proof.findings += [f"student version: {leak}" for leak in leaks(lab, release)]
    proof.findings += list(_too_few_answers(lab, answers))
    with (
        warm_kernels(section.preload, section.environment) as warm,
        tempfile.TemporaryDirectory(prefix="tflabs-verify-") as scratch,
    ):
        trial = _Trial(lab, release, ColdKernels(section.environment), warm, Path(scratch), proof, on_step)
        asyncio.run(trial.run(answers, only, jobs))
    return proof


def _too_few_answers(lab: Lab, answers: list[Answer]) -> Iterable[str]:
    for exercise in lab.exercises:
        wrong = sum(answer.exercise == exercise.id and not answer.is_right for answer in answers)
        right = sum(answer.exercise == exercise.id and answer.is_right for answer in answers)
        least_wrong, least_right = (WRONG_ANSWERS, RIGHT_ANSWERS) if exercise.is_built else (1, 0)
        if wrong < least_wrong:
            yield f"{exercise.id}: {wrong} wrong answers are tried, at least {least_wrong} are needed"
        if right < least_right:
            yield f"{exercise.id}: {right} right answers are tried, at least {least_right} are needed"


@dataclass
class _Trial:
    """Everything that is run for one lab, and what it shows."""

    lab: Lab
    release: Any
    cold: Kernels
    warm: Kernels
    scratch: Path
    proof: Proof
    on_step: Callable[[str], None]

    async def run(self, answers: list[Answer], only: str | None, jobs: int) -> None:
        steps: list[tuple[str, Callable[[], Awaitable[None]]]] = []
        if only is None:
            steps.append(("the solution", self.solution_as_a_learner_runs_it))
            steps.append(("the solution again", self.solution_again))
            steps.append(("the student version", self.student_version))
            steps += [
                (f"{exercise.id} left out", functools.partial(self.left_out, exercise))
                for exercise in self.lab.exercises
            ]
        for answer in answers:
            if only in (None, answer.exercise):
                kind = "right" if answer.is_right else "wrong"
                steps.append((f"{answer.exercise}, {kind}: {answer.why}", functools.partial(self.answer, answer)))
        slots = asyncio.Semaphore(jobs)

        async def one(step: str, action: Callable[[], Awaitable[None]]) -> None:
            async with slots:
                self.on_step(step)
                await action()

        await asyncio.gather(*(one(step, action) for step, action in steps))

    async def solution_as_a_learner_runs_it(self) -> None:
        """Top to bottom in a new process: every cell, the pictures too."""
        runs = await run_cells_async(self.lab.notebook.cells, self.cold, self._folder(), Limits(measure_memory=True))
        self._must_be_perfect(runs, "the solution")
        self.proof.seconds = sum(run.seconds for run in runs)
        self.proof.peak_mib = max(run.peak_mib for run in runs)
        if self.proof.peak_mib > MOST_MIB:
            self._find(f"the notebook needs {self.proof.peak_mib:.0f} MiB; at most {MOST_MIB:.0f} are meant")
        for exercise in self.lab.exercises:
            ids = {exercise.id, *(test.grade_id for test in exercise.tests)}
            mine = [run for run in runs if run.grade_id in ids]
            row = self.proof.exercises[exercise.id]
            row.seconds = sum(run.seconds for run in mine)
            row.peak_mib = max((run.peak_mib for run in mine), default=0.0)

    async def solution_again(self) -> None:
        """Other random cases, and only the cells that count: graded cells need no figure above them."""
        self._must_be_perfect(await self._graded({}), "the solution, run without the cells that are not graded")

    async def student_version(self) -> None:
        merged = put_right(self.release, self.release)
        if merged.repairs:
            self._find(f"the student version needs repairs: {'; '.join(merged.repairs)}")
        cells = with_full_tests(merged.notebook, self.lab).cells
        report = score(self.lab, await run_cells_async(cells, self.warm, self._folder()))
        for exercise in report.exercises:
            if exercise.points:
                self._find(f"{exercise.id}: the untouched student version gets {exercise.points:g} points")
        for run in await run_cells_async(self.release.cells, self.warm, self._folder()):
            if run.role == "test" and run.state == "ok":
                self._find(f"{run.grade_id}: its visible part passes on the untouched student version")

    async def left_out(self, exercise: Exercise) -> None:
        """The stub in the place of one answer costs that exercise and no other."""
        stub = next(cell.source for cell in self.release.cells if grade_id(cell) == exercise.id)
        report = score(self.lab, await self._graded({exercise.id: stub}))
        for other in self._others_lost(report, exercise.id):
            self._find(f"{other}: leans on {exercise.id}: without it, {self._why(report, other)}")

    async def answer(self, answer: Answer) -> None:
        runs = await self._graded({answer.exercise: answer.source})
        report = score(self.lab, runs)
        mine = next(exercise for exercise in report.exercises if exercise.id == answer.exercise)
        row = self.proof.exercises[answer.exercise]
        where = f"{answer.exercise}: the answer in line {answer.line} ({answer.why})"
        if answer.is_right:
            row.right_tried += 1
            row.right_accepted += mine.passed
            if not mine.passed:
                self._find(f"{where} is right, but loses points: {self._why(report, answer.exercise)}")
            self._must_be_silent(runs, where)
        else:
            row.wrong_tried += 1
            row.wrong_caught += not mine.passed
            if mine.passed:
                self._find(f"{where} is wrong, but gets all {mine.points:g} points")
            self._must_be_a_mistake(runs, answer, where)
        for other in self._others_lost(report, answer.exercise):
            self._find(f"{where} costs the points of {other} too: {self._why(report, other)}")

    async def _graded(self, replaced: dict[str, str]) -> list[CellRun]:
        """Run the cells with a role, some solutions replaced."""
        cells = [
            type(cell)(cell | {"source": replaced.get(grade_id(cell) or "", cell.source)})
            for cell in self.lab.notebook.cells
            if role(cell) != "free"
        ]
        return await run_cells_async(cells, self.warm, self._folder())

    def _folder(self) -> Path:
        return Path(tempfile.mkdtemp(dir=self.scratch))

    def _find(self, finding: str) -> None:
        self.proof.findings.append(finding)

    def _must_be_perfect(self, runs: list[CellRun], what: str) -> None:
        for run in runs:
            if run.state != "ok":
                self._find(f"{run.grade_id or run.id}: {what}: {run.state}: {run.ename}: {run.evalue[:300]}")
        self._must_be_silent(runs, what)

    def _must_be_silent(self, runs: list[CellRun], what: str) -> None:
        for run in runs:
            if run.stderr:
                self._find(f"{run.grade_id or run.id}: {what} writes to stderr: {run.stderr[:200]!r}")

    def _must_be_a_mistake(self, runs: list[CellRun], answer: Answer, where: str) -> None:
        """A wrong answer that does not even run proves nothing about the test."""
        tests = {test.grade_id for test in self.lab.exercise(answer.exercise).tests}
        for run in runs:
            if run.grade_id == answer.exercise and run.state != "ok":
                self._find(f"{where} does not run: {run.ename}: {run.evalue[:200]}")
            elif run.grade_id in tests and run.ename in NO_MISTAKE:
                self._find(f"{where} is caught by a {run.ename} alone: {run.evalue[:200]}")

    @staticmethod
    def _others_lost(report: Report, exercise: str) -> list[str]:
        return [other.id for other in report.exercises if other.id != exercise and not other.passed]

    @staticmethod
    def _why(report: Report, exercise: str) -> str:
        found = next(result for result in report.exercises if result.id == exercise)
        return next((test.message for test in found.tests if test.message), "")[:300]

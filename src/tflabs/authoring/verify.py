"""The authors' proof: a lab's tests are right only if they were seen to judge right."""

from __future__ import annotations

import asyncio
import enum
import functools
import tempfile
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import nbformat

from tflabs.authoring.answers import Answer, read_answers
from tflabs.authoring.leaks import leaks
from tflabs.authoring.leftovers import leftovers, look
from tflabs.course.build import build_lab
from tflabs.course.files import parse_notebook
from tflabs.course.lab import Exercise, Lab, grade_id, parsed, role
from tflabs.course.layout import Course
from tflabs.course.lint import assigned, lint
from tflabs.course.merge import put_right
from tflabs.course.syllabus import Section
from tflabs.grading.examinations import Examination, Spawn
from tflabs.grading.grade import answer_names, score, with_full_tests
from tflabs.grading.kernels import Kernels
from tflabs.grading.places import Place, Unconfined
from tflabs.grading.run import CellRun, Limits, run_cells_async
from tflabs.program import PROGRAM

WRONG_ANSWERS = 3  # at least, for an exercise in which something is built
RIGHT_ANSWERS = 1
MOST_MIB = 2048.0
NO_MISTAKE = {"NameError", "SyntaxError", "IndentationError", "ImportError", "ModuleNotFoundError"}


class Mode(enum.Enum):
    """Where tests run, in the words of a finding."""

    NOTEBOOK = ""
    EXAMINER = " through the examiner"


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
    place: Place,
    *,
    only: str | None = None,
    jobs: int = 2,
    cold: bool = True,
    modes: tuple[Mode, ...] = tuple(Mode),
    on_step: Callable[[str], None] = lambda step: None,
) -> Proof:
    """Prove one lab.

    Args:
        section: the lab in the syllabus.
        place: where kernels come from; labs proved together share its servers.
        only: try the answers to this exercise alone (for an author at work).
        jobs: how many kernels run at a time.
        cold: run the solved notebook in a new process too, top to bottom, its time and memory measured.
        modes: where the tests run on the answers; both must say the same of each.
        on_step: told what is being tried.
    """
    built = build_lab(course, section.id)
    lab = built.lab
    answers = read_answers(course.answers(lab.id), lab)
    proof = Proof(lab.id, {exercise.id: ExerciseProof(exercise.id, exercise.points) for exercise in lab.exercises})
    proof.findings += [f"{path} is stale; run `{PROGRAM} build {lab.id}`" for path in built.stale()]
    text = built.files[course.text(lab.id)]
    proof.findings += [str(found) for found in lint(lab, text, str(course.text(lab.id)), section)]
    release = parse_notebook(built.files[course.release(lab.id)], str(course.release(lab.id)))
    proof.findings += [f"student version: {leak}" for leak in leaks(lab, release)]
    proof.findings += list(_too_few_answers(lab, answers))
    kernels = place.cold(section.environment), place.kernels(section.preload, section.environment)
    spawn = place.examiner(section.preload, section.environment)
    with tempfile.TemporaryDirectory(prefix="tflabs-verify-") as scratch:
        trial = _Trial(
            lab, release, *kernels, spawn, Path(scratch), proof, modes, on_step, isinstance(place, Unconfined)
        )
        asyncio.run(trial.run(answers, only, jobs, cold))
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


@dataclass(frozen=True)
class _Verdict:
    """What the tests said of one answer: passed or why not, what is odd about it, and which exercises it harmed."""

    passed: bool
    reason: str
    faults: list[str]
    harm: list[tuple[str, str]]


@dataclass
class _Trial:
    """Everything that is run for one lab, and what it shows."""

    lab: Lab
    release: Any
    cold: Kernels
    warm: Kernels
    spawn: Spawn
    scratch: Path
    proof: Proof
    modes: tuple[Mode, ...]
    on_step: Callable[[str], None]
    shares_files: bool  # whether others write where this lab's kernels do

    async def run(self, answers: list[Answer], only: str | None, jobs: int, cold: bool) -> None:
        self.on_step("each exercise without the others")
        leant_on = await self.leant_on()
        steps: list[tuple[str, Callable[[], Awaitable[None]]]] = []
        if only is None and cold:
            steps.append(("the solution", self.solution_as_a_learner_runs_it))
        if only is None:
            steps.append(("the student version", self.student_version))
        chosen = [exercise for exercise in self.lab.exercises if only in (None, exercise.id)]
        for group in (chosen[number::jobs] for number in range(min(jobs, len(chosen)))):
            what = f"answers to {', '.join(exercise.id for exercise in group)}"
            mine = [answer for answer in answers if answer.exercise in {exercise.id for exercise in group}]
            steps.append((what, functools.partial(self.answers, group, mine, leant_on)))
        slots = asyncio.Semaphore(jobs)

        async def one(step: str, action: Callable[[], Awaitable[None]]) -> None:
            async with slots:
                self.on_step(step)
                await action()

        await asyncio.gather(*(one(step, action) for step, action in steps))

    async def solution_as_a_learner_runs_it(self) -> None:
        """Top to bottom in a new process: every cell, the pictures too."""
        cells = [look(), *self.lab.notebook.cells, look()]
        before, *runs, after = await run_cells_async(cells, self.cold, self._folder(), Limits(measure_memory=True))
        if self._must_be_perfect([before, *runs, after], "the solution"):
            left = leftovers(before, after)
            for what in (*left.processes, *(() if self.shares_files else left.files)):
                self._find(f"the notebook leaves behind: {what}")
        self.proof.seconds = sum(run.seconds for run in runs)
        self.proof.peak_mib = max(run.peak_mib for run in runs)
        if self.proof.peak_mib > MOST_MIB:
            self._find(f"the notebook needs {self.proof.peak_mib:.0f} MiB; at most {MOST_MIB:.0f} are meant")
        for exercise in self.lab.exercises:
            mine = [run for run in runs if run.grade_id in ids(exercise)]
            row = self.proof.exercises[exercise.id]
            row.seconds = sum(run.seconds for run in mine)
            row.peak_mib = max((run.peak_mib for run in mine), default=0.0)

    async def student_version(self) -> None:
        """No points for it: neither from a whole test cell nor from the part of one that the learner sees.

        The part is for the notebook alone; the examiner runs whole cells.
        """
        merged = put_right(self.release, self.release)
        if merged.repairs:
            self._find(f"the student version needs repairs: {'; '.join(merged.repairs)}")
        seen = {grade_id(cell): cell for cell in merged.notebook.cells if role(cell) == "test"}
        cells: list[Any] = []
        for cell in with_full_tests(merged.notebook, self.lab).cells:
            cells += [cell, seen[grade_id(cell)]] if role(cell) == "test" else [cell]
        runs = await self._run(cells, Mode.NOTEBOOK)
        tests = [run for run in runs if run.role == "test"]
        whole, visible = tests[::2], tests[1::2]
        examined = await self._run(with_full_tests(merged.notebook, self.lab).cells, Mode.EXAMINER)
        for mode, judged in ((Mode.NOTEBOOK, whole), (Mode.EXAMINER, examined)):
            for exercise in score(self.lab, judged).exercises:
                if exercise.points:
                    points = f"{exercise.points:g} points{mode.value}"
                    self._find(f"{exercise.id}: the untouched student version gets {points}")
        for run in visible:
            if run.state == "ok":
                self._find(f"{run.grade_id}: its visible part passes on the untouched student version")

    async def leant_on(self) -> set[str]:
        """The exercises whose solution another one needs, which costs a learner points twice; found and said.

        Each exercise must pass while all others are unanswered. One kernel serves all: it runs the graded cells once
        for each exercise, and forgets in between what the answers have bound.
        """
        plan: list[tuple[str | None, Any]] = []  # the exercise that a test belongs to, a cell
        for exercise in self.lab.exercises:
            plan += [(None, _forget(other)) for other in self.lab.exercises]
            for cell in self._runnable_graded():
                own = grade_id(cell) in ids(exercise)
                if role(cell) == "solution" and not own:
                    other = self.lab.exercise(str(grade_id(cell)))
                    plan.append((None, _solution(other, self._stub(other))))
                elif role(cell) != "test" or own:
                    plan.append((exercise.id if role(cell) == "test" else None, cell))
        runs = await self._run([cell for _, cell in plan], Mode.NOTEBOOK)
        lost = {}
        for (whose, _), run in zip(plan, runs, strict=True):
            if whose is not None and run.state != "ok":
                lost[whose] = f"{run.ename or run.state}: {run.evalue[:300]}"
        leant_on, explained = set(), set()
        for exercise in self.lab.exercises if lost else []:
            runs = await self._graded({exercise.id: self._stub(exercise)}, Mode.NOTEBOOK)
            for harmed, message in self._harm(runs, exercise.id):
                self._find(f"{harmed}: leans on {exercise.id}: without it, {message}")
                leant_on.add(exercise.id)
                explained.add(harmed)
        for exercise_id in lost.keys() - explained:
            self._find(f"{exercise_id}: does not pass while all others are unanswered: {lost[exercise_id]}")
        return leant_on

    async def answers(self, exercises: list[Exercise], answers: list[Answer], leant_on: set[str]) -> None:
        """Our solution, then every answer to these exercises, one after the other in one kernel.

        One kernel for all is what makes the proof of many labs affordable. Whatever is not as it should be there is
        tried again, each answer alone in a new kernel, and then only that decides.
        """
        for mode in self.modes:
            verdicts = await self._verdicts(exercises, answers, leant_on, mode)
            if verdicts is None:
                return
            for answer, verdict in zip(answers, verdicts, strict=True):
                self._judge(answer, verdict, mode)
                if mode is self.modes[0]:
                    self._count(answer, verdict)

    async def _verdicts(
        self, exercises: list[Exercise], answers: list[Answer], leant_on: set[str], mode: Mode
    ) -> list[_Verdict] | None:
        """One verdict for each answer; what is not as it should be was tried alone. None if our own solution fails."""
        together = await self._together(exercises, answers, mode)
        if together is None:
            return None
        verdicts, spoilt = together
        for number, (answer, verdict) in enumerate(zip(answers, verdicts, strict=True)):
            if spoilt or answer.exercise in leant_on or verdict.passed != answer.is_right or verdict.faults:
                verdicts[number] = await self._alone(answer, mode)
        return verdicts

    async def _together(
        self, exercises: list[Exercise], answers: list[Answer], mode: Mode
    ) -> tuple[list[_Verdict], bool] | None:
        """The verdicts in one kernel; whether an answer spoilt it, so that our solution no longer passes at its end.

        The kernel begins with our solution, on other random cases than before and without the cells that are not
        graded: graded cells need no figure above them.
        """
        graded = self._runnable_graded()
        every_test = [cell for cell in graded if role(cell) == "test"]
        plan: list[tuple[int | None, Any]] = [(None, cell) for cell in graded]  # the number of the answer, a cell
        for exercise in exercises:
            tests = [cell for cell in every_test if grade_id(cell) in ids(exercise)]
            for number, answer in enumerate(answers):
                if answer.exercise == exercise.id:
                    plan += [(number, cell) for cell in (_solution(exercise, answer.source), *tests)]
            plan += [(None, cell) for cell in (_forget(exercise), _solution(exercise, exercise.solution))]
        plan += [(None, cell) for cell in every_test]
        runs = await self._run([cell for _, cell in plan], mode)
        what = f"the solution, run without the cells that are not graded{mode.value}"
        if not self._must_be_perfect(runs[: len(graded)], what):
            return None  # then a test that fails says nothing of an answer
        for run in runs[: len(graded)]:
            if run.state == "ok" and not run.asked:
                self._find(f"{run.grade_id}: the test passes without asking anything of the learner's code")
        judged: dict[int | None, list[CellRun]] = {}
        for (whose, _), run in zip(plan, runs, strict=True):
            judged.setdefault(whose, []).append(run)
        verdicts = [self._verdict(answer, judged[number]) for number, answer in enumerate(answers)]
        return verdicts, any(run.state != "ok" for run in runs[-len(every_test) :])

    async def _alone(self, answer: Answer, mode: Mode) -> _Verdict:
        runs = await self._graded({answer.exercise: answer.source}, mode)
        mine = [run for run in runs if run.grade_id in ids(self.lab.exercise(answer.exercise))]
        return replace(self._verdict(answer, mine), harm=self._harm(runs, answer.exercise))

    def _verdict(self, answer: Answer, runs: list[CellRun]) -> _Verdict:
        """What the runs of an answer and its tests show. A wrong answer that does not even run proves nothing."""
        failed = next((run for run in runs if run.state != "ok"), None)
        faults = []
        if answer.is_right:
            faults += [f"writes to stderr: {run.stderr[:200]!r}" for run in runs if run.stderr]
        elif runs[0].state != "ok":
            faults.append(f"does not run: {runs[0].ename}: {runs[0].evalue[:200]}")
        elif failed is not None and failed.ename in NO_MISTAKE:
            faults.append(f"is caught by a {failed.ename} alone: {failed.evalue[:200]}")
        reason = "" if failed is None else f"{failed.ename or failed.state}: {failed.evalue[:300]}"
        return _Verdict(failed is None, reason, faults, [])

    def _count(self, answer: Answer, verdict: _Verdict) -> None:
        row = self.proof.exercises[answer.exercise]
        if answer.is_right:
            row.right_tried += 1
            row.right_accepted += verdict.passed
        else:
            row.wrong_tried += 1
            row.wrong_caught += not verdict.passed

    def _judge(self, answer: Answer, verdict: _Verdict, mode: Mode) -> None:
        """Findings where the tests do not say of an answer what it deserves."""
        where = f"{answer.exercise}: the answer in line {answer.line} ({answer.why})"
        if answer.is_right and not verdict.passed:
            self._find(f"{where} is right, but loses points{mode.value}: {verdict.reason}")
        if not answer.is_right and verdict.passed:
            points = self.proof.exercises[answer.exercise].points
            self._find(f"{where} is wrong, but gets all {points:g} points{mode.value}")
        for fault in verdict.faults:
            self._find(f"{where} {fault}{mode.value}")
        for other, message in verdict.harm:
            self._find(f"{where} costs the points of {other} too{mode.value}: {message}")

    def _harm(self, runs: list[CellRun], exercise: str) -> list[tuple[str, str]]:
        """The other exercises that lost points, and why."""
        report = score(self.lab, runs)
        lost = [other for other in report.exercises if other.id != exercise and not other.passed]
        return [(other.id, next(test.message for test in other.tests if test.message)[:300]) for other in lost]

    def _runnable_graded(self) -> list[Any]:
        """The code cells with a role, our solutions in them; those that the runner would skip left out."""
        cells = [cell for cell in self.lab.notebook.cells if role(cell) != "free"]
        return [cell for cell in cells if cell.cell_type == "code" and cell.source.strip()]

    def _stub(self, exercise: Exercise) -> str:
        return next(str(cell.source) for cell in self.release.cells if grade_id(cell) == exercise.id)

    async def _graded(self, replaced: dict[str, str], mode: Mode) -> list[CellRun]:
        """Run the cells with a role, some solutions replaced."""
        cells = [
            type(cell)(cell | {"source": replaced.get(grade_id(cell) or "", cell.source)})
            for cell in self.lab.notebook.cells
            if role(cell) != "free"
        ]
        return await self._run(cells, mode)

    async def _run(self, cells: list[Any], mode: Mode) -> list[CellRun]:
        """Run cells in a warm kernel, the tests where the mode says."""
        examination = Examination(self.spawn, answer_names(self.lab)) if mode is Mode.EXAMINER else None
        return await run_cells_async(cells, self.warm, self._folder(), examination=examination)

    def _folder(self) -> Path:
        return Path(tempfile.mkdtemp(dir=self.scratch))

    def _find(self, finding: str) -> None:
        if finding not in self.proof.findings:  # each group of exercises begins with the solution
            self.proof.findings.append(finding)

    def _must_be_perfect(self, runs: list[CellRun], what: str) -> bool:
        """Findings for what fails or writes to stderr; whether everything ran."""
        failed = [run for run in runs if run.state != "ok"]
        for run in failed:
            self._find(f"{run.grade_id or run.id}: {what}: {run.state}: {run.ename}: {run.evalue[:300]}")
        self._must_be_silent(runs, what)
        return not failed

    def _must_be_silent(self, runs: list[CellRun], what: str) -> None:
        for run in runs:
            if run.stderr:
                self._find(f"{run.grade_id or run.id}: {what} writes to stderr: {run.stderr[:200]!r}")


def ids(exercise: Exercise) -> set[str]:
    """The grade ids of an exercise: its solution cell and its tests."""
    return {exercise.id, *(test.grade_id for test in exercise.tests)}


def _solution(exercise: Exercise, source: str) -> Any:
    keys = {"grade_id": exercise.id, "grade": False, "solution": True, "locked": False}
    return nbformat.v4.new_code_cell(source, metadata={"nbgrader": keys})


def _forget(exercise: Exercise) -> Any:
    """A cell that unbinds what answers to an exercise have bound, so that none of it is taken for the solution's."""
    names = sorted(assigned(parsed(exercise.solution)))
    return nbformat.v4.new_code_cell(f"for name in {names}:\n    globals().pop(name, None)")

"""Grades submissions: keeps a pool busy, and has each submission recorded as soon as it ran."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass

from tflabs.errors import UserError
from tflabs.grading.pool.journal import Journal
from tflabs.grading.pool.pool import Pool, Ungradable
from tflabs.grading.pool.submissions import Submission, Submissions, Task
from tflabs.grading.pool.writer import Writer
from tflabs.grading.run import CellRun


@dataclass(frozen=True)
class Outcome:
    """What became of a submission: `reason` is empty if it was graded.

    `refusal` says why it was taken for one without answers, if it was.
    """

    submission: Submission
    reason: str = ""
    refusal: str = ""


@dataclass(frozen=True)
class _Running:
    submission: Submission
    task: Task


@dataclass(frozen=True)
class Grader:
    """Of one course.

    Args:
        on_outcome: called with each outcome when it is known.
    """

    submissions: Submissions
    journal: Journal
    writer: Writer
    pool: Pool
    on_outcome: Callable[[Outcome], None]

    def grade(self, due: list[Submission]) -> None:
        """Grade these submissions.

        Raises:
            PoolBroken: no more can be run; what was recorded is recorded.
        """
        waiting = deque(due)
        running: dict[Future[list[CellRun]], _Running] = {}
        while waiting or running:
            # As much again as can run: a worker that is done must not wait for the writer.
            while waiting and len(running) < 2 * self.pool.width():
                self._begin(waiting.popleft(), running)
            done = wait(running, return_when=FIRST_COMPLETED).done
            ended = [(running.pop(future), future) for future in done]
            recordable = [each for each, future in ended if self._keep(each, future)]
            for each in recordable:
                self._record(each.submission, each.task.refusal)

    def _begin(self, submission: Submission, running: dict[Future[list[CellRun]], _Running]) -> None:
        try:
            task = self.submissions.task(submission)
        except UserError as error:
            self._record(
                submission, words=str(error)
            )  # nbgrader refuses it too, and has the student in the gradebook then
            return
        if self.journal.find(submission.lab, submission.student, task.work.digest) is not None:
            self._record(submission, task.refusal)  # it ran before the last run was killed
        else:
            running[self.pool.submit(task.work)] = _Running(submission, task)

    def _keep(self, each: _Running, future: Future[list[CellRun]]) -> bool:
        """Keep what the cells did; whether there is something to record."""
        try:
            self.journal.keep(each.submission.lab, each.submission.student, each.task.work.digest, future.result())
        except Ungradable as error:
            self.on_outcome(Outcome(each.submission, str(error)))
            return False
        return True

    def _record(self, submission: Submission, refusal: str = "", words: str = "") -> None:
        """Have nbgrader record it; `words` say better than nbgrader's own why it could not."""
        with self.journal.recording(submission.lab, submission.student):
            reason = self.writer.record(submission.lab, submission.student)
        if not reason:
            self.journal.forget(submission.lab, submission.student)
        self.on_outcome(Outcome(submission, reason and (words or reason), refusal))

"""nbgrader, as the one writer of the gradebook: it copies, sanitizes, scores and records one submission at a time."""

from __future__ import annotations

import contextlib
import glob
import logging
import stat
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.apps.autogradeapp import AutogradeApp
from nbgrader.converters import Autograde, NbGraderException
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import SAWarning, SQLAlchemyError

from tflabs.course.layout import Course
from tflabs.errors import UserError
from tflabs.grading.autograde import Judge
from tflabs.grading.pool.dialect import is_there, with_dialect


class Writer:
    """nbgrader's autograde with the configuration of a course, as `nbgrader autograde` would have it there.

    Args:
        course: its root is where the configuration is read.
        journal: where `Judge` finds what the submissions did when they ran.

    Raises:
        UserError: the configuration does not judge submissions by `Judge`.
    """

    def __init__(self, course: Course, journal: Path) -> None:
        with contextlib.chdir(course.root):  # where nbgrader looks for its configuration
            self._app = AutogradeApp()
            self._app.initialize([])
        self._app.config.Judge.journal = str(journal)
        self.coursedir: CourseDirectory = self._app.coursedir
        self.coursedir.db_url = with_dialect(self.coursedir.db_url)
        converter = Autograde(coursedir=self.coursedir, parent=self._app)
        if Judge not in converter.autograde_preprocessors:
            raise UserError(f"{course.nbgrader_config} does not judge submissions by tflabs.grading.autograde.Judge")
        judge = Judge(parent=converter)
        self.cell_seconds, self.backend = float(judge.timeout), str(judge.backend)
        self.read_only = not int(str(converter.permissions), 8) & stat.S_IWUSR
        self._log = _Log()
        self._app.log.handlers = [self._log]
        self._app.log.propagate = False

    def require_assignment(self, lab: str) -> None:
        """Raises UserError if the gradebook does not know the lab."""
        if is_there(self.coursedir.db_url):  # else asking would make it
            with contextlib.suppress(MissingEntry), self._gradebook() as gradebook:
                gradebook.find_assignment(lab)
                return
        raise UserError(f"the gradebook does not know {lab}; run `nbgrader generate_assignment {lab}` first")

    def record(self, lab: str, student: str) -> str:
        """Have nbgrader grade a submission, whether it did so before or not; why it could not, empty if it could."""
        self._log.errors.clear()
        self.coursedir.assignment_id, self.coursedir.student_id = lab, glob.escape(student)
        converter = Autograde(coursedir=self.coursedir, parent=self._app)
        converter.force = True
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SAWarning)  # of nbgrader's own queries
                converter.start()
        except NbGraderException as error:
            return self._log.errors[0] if self._log.errors else str(error)
        return ""

    def points(self, lab: str) -> dict[str, tuple[float, float]]:
        """Points and most points of every submission of the lab, by student; late penalties are taken off."""
        with self._gradebook() as gradebook:
            found = gradebook.assignment_submissions(lab)
            return {
                each.student_id: (max(0.0, each.score - (each.late_submission_penalty or 0.0)), each.max_score)
                for each in found
            }

    @contextlib.contextmanager
    def _gradebook(self) -> Iterator[Any]:
        with Gradebook(self.coursedir.db_url, self.coursedir.course_id) as gradebook:
            yield gradebook


class _Log(logging.Handler):
    """Keeps, of what nbgrader logs, the exceptions that it caught, in words."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.errors: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        error = sys.exc_info()[1]
        if error is not None and (words := _words(error)):
            self.errors.append(words)


def _words(error: BaseException) -> str:
    if isinstance(error, UserError | NbGraderException):
        return str(error)
    if isinstance(error, SQLAlchemyError):
        return f"the gradebook could not be used: {getattr(error, 'orig', None) or error}"
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:500]

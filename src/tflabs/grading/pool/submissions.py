"""What lies in `submitted/`, whether it is due to be graded, and what of it is to be run."""

from __future__ import annotations

import contextlib
import datetime
import glob
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from nbformat.v4 import new_notebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import find_all_files

from tflabs.course.editions import edition_for
from tflabs.course.files import read_notebook
from tflabs.course.layout import Course
from tflabs.course.syllabus import nearest
from tflabs.errors import UserError
from tflabs.grading.autograde import made_right, notebook_of, work_for
from tflabs.grading.boxes import bounded
from tflabs.grading.grade import with_full_tests
from tflabs.grading.intake import take_in
from tflabs.grading.pool.work import Work


@dataclass(frozen=True, order=True)
class Submission:
    lab: str
    student: str


@dataclass(frozen=True)
class Task:
    """What is to be run of a submission; `refusal` says why it is taken for one without answers, if it is."""

    work: Work
    refusal: str = ""


@dataclass(frozen=True)
class Submissions:
    """The submissions of a course.

    Args:
        coursedir: nbgrader's, which says where they lie.
        read_only: whether nbgrader takes the right to write off what it has graded, as it does by default.
        cell_seconds: how long a cell may take.
    """

    course: Course
    coursedir: CourseDirectory
    read_only: bool
    cell_seconds: float

    def found(self, labs: list[str], students: list[str]) -> list[Submission]:
        """Of the named labs and students, or of all labs of the course and all students; in order.

        Raises:
            UserError: there is no folder of submissions, or none of a lab or student that was named.
        """
        folder = Path(self.coursedir.format_path(self.coursedir.submitted_directory, ".", ".")).resolve()
        if not folder.is_dir():
            raise UserError(f"there is no folder {folder}: nothing was collected yet")
        every = self._listed()
        for lab in labs:
            if not any(each.lab == lab for each in every):
                raise UserError(f"there is no submission of {lab} in {folder}")
        chosen = [each for each in every if each.lab in labs or not labs]
        names = sorted({each.student for each in chosen})
        for student in students:
            if student not in names:
                hint = nearest(student, names).replace("the labs are:", "there are:") if names else ""
                raise UserError(f"there is no submission of the student {student!r}; {hint}".rstrip("; "))
        if not chosen:
            raise UserError(f"there is no submission in {folder}")
        return [each for each in chosen if each.student in students or not students]

    def foreign(self) -> list[str]:
        """Names of assignments in `submitted/` that are no lab of this course."""
        return sorted({each.lab for each in self._all()} - set(self._labs()))

    def is_due(self, submission: Submission) -> bool:
        """What nbgrader would grade without `--force`, and what it left unfinished when it was killed."""
        graded = self._folder(self.coursedir.autograded_directory, submission)
        if not graded.exists() or not self._is_finished(graded / f"{submission.lab}.ipynb"):
            return True
        new = self._timestamp(self._folder(self.coursedir.submitted_directory, submission))
        old = self._timestamp(graded)
        return new is not None and old is not None and new > old

    def task(self, submission: Submission) -> Task:
        """What `Judge` will want to have run once nbgrader has sanitized the submission.

        What is no plain file is set aside, as nbgrader's hook would do.

        Raises:
            UserError: there is nothing to grade; the text says why.
        """
        folder = self._folder(self.coursedir.submitted_directory, submission)
        take_in(folder, f"{submission.lab}.ipynb")
        path = notebook_of(submission.lab, sorted(map(str, folder.glob("*.ipynb"))))
        if path is None:
            raise UserError(f"it holds no notebook {submission.lab}.ipynb, and none that could be it")
        try:
            notebook, refused = read_notebook(path), ""
        except UserError as error:
            notebook, refused = new_notebook(), str(error)
        made = made_right(self.course, submission.lab, notebook, submission.student, folder, refused)
        notebook = made.notebook
        edition = edition_for(self.course, submission.lab, notebook)
        if edition.is_current:
            notebook = with_full_tests(notebook, edition.lab)
        files = bounded(self._copied(submission))
        work = work_for(self.course, submission.lab, edition, notebook, files, self.cell_seconds)
        return Task(work, made.refusal)

    def _copied(self, submission: Submission) -> dict[str, Path]:
        """What nbgrader copies beside the notebook, by its path there: the submission's files, then the source's."""
        copied: dict[str, Path] = {}
        source = Path(self.coursedir.format_path(self.coursedir.source_directory, ".", submission.lab))
        for folder in (self._folder(self.coursedir.submitted_directory, submission), source):
            for name in find_all_files(str(folder), [*self.coursedir.ignore, "*.ipynb"]):
                copied[str(Path(name).relative_to(folder))] = Path(name)
        return copied

    def _is_finished(self, notebook: Path) -> bool:
        """nbgrader sets the rights last, and before that the notebook is there without its results."""
        try:
            mode = notebook.stat().st_mode
        except OSError:
            return False
        return not (self.read_only and mode & stat.S_IWUSR)

    def _timestamp(self, folder: Path) -> datetime.datetime | None:
        with contextlib.suppress(Exception):  # nbgrader says what is wrong with it when it grades
            found: datetime.datetime | None = self.coursedir.get_existing_timestamp(str(folder))
            return found
        return None

    def _folder(self, step: str, submission: Submission) -> Path:
        return Path(os.path.normpath(self.coursedir.format_path(step, submission.student, submission.lab)))

    def _labs(self) -> list[str]:
        return self.course.written_labs()

    def _listed(self) -> list[Submission]:
        labs = self._labs()
        known = [each for each in self._all() if each.lab in labs]
        return sorted(known, key=lambda each: (labs.index(each.lab), each.student))

    def _all(self) -> list[Submission]:
        step = self.coursedir.submitted_directory
        pattern = re.compile(
            self.coursedir.format_path(step, "(?P<student>[^/]+)", "(?P<lab>[^/]+)", escape=True) + "$"
        )
        folders = glob.glob(self.coursedir.format_path(step, "*", "*"))  # noqa: PTH207 (a whole path, as nbgrader does)
        matches = [match for folder in folders if Path(folder).is_dir() and (match := pattern.match(folder))]
        return [Submission(match["lab"], match["student"]) for match in matches]

"""nbgrader preprocessors that our `nbgrader_config.py` puts into `autograde`: submissions are put right, then judged.

With them `nbgrader autograde LAB`, Formgrader's button and `tflabs check` give the same points. An assignment that is
no lab of the course is graded as by stock nbgrader, except that its kernel is in a box.
"""

from __future__ import annotations

import atexit
import contextlib
import copy
import functools
import html
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_output
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Float, Unicode

from tflabs.course.editions import Edition, edition_for
from tflabs.course.files import as_current, notebook_text, read_notebook, write_text
from tflabs.course.lab import grade_id, role
from tflabs.course.layout import Course
from tflabs.course.merge import mark_of, put_right, require_lab
from tflabs.course.syllabus import read_syllabus
from tflabs.errors import UserError
from tflabs.grading import foreign
from tflabs.grading.boxes import Boxes, beside
from tflabs.grading.grade import score, with_full_tests
from tflabs.grading.intake import UNREADABLE, left_out, take_in
from tflabs.grading.pool.journal import Journal
from tflabs.grading.pool.work import Work, execute, work_of
from tflabs.grading.report import TestResult
from tflabs.grading.run import CellRun

MOST_OUTPUT = 1 << 20  # characters of one picture or table that a cell showed
REPAIRS = "put-right-before-grading"
SHOWN = ("text/plain", "text/html", "text/markdown", "text/latex", "image/png", "image/jpeg", "image/svg+xml")
MOST_TOLD = 20  # files that are named


class PutRight(NbGraderPreprocessor):  # type: ignore[misc]
    """Bring a submission together with the student version of its lab, and say in a cell at its top what that took.

    First among the sanitizing steps: nbgrader refuses notebooks with foreign, missing or retyped cells. It knows the
    current release only, so that a notebook of an older one gets the current cells here, and `Judge` puts it back.
    What is no notebook of this lab is graded as one without answers.
    """

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        course, known, folder = _course(self), resources["nbgrader"], Path(resources["metadata"]["path"])
        refused = resources.get(UNREADABLE, "")
        if not course.has(known["assignment"]):
            if refused:
                raise UserError(refused)
            return nb, resources
        made = made_right(course, known["notebook"], nb, known["student"], folder, refused)
        if made.refusal:
            self.log.warning("%s: %s", known["student"], made.refusal)
        return made.notebook, resources


class Judge(NbGraderPreprocessor):  # type: ignore[misc]
    """Run a submission in boxes, and write into its cells what nbgrader takes the score from.

    A graded cell that was judged right has no output; any other holds an error with the reason in words. What a cell
    wrote to stderr is left out: nbgrader takes every line of it for a failure.
    """

    timeout = Float(120.0, help="seconds that a cell may take").tag(config=True)
    backend = Unicode("auto", help="the sandbox's backend; 'none' confines nothing and must be named").tag(config=True)
    journal = Unicode("", help="folder where `tflabs grade` keeps what submissions did when they ran").tag(config=True)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        course, name = _course(self), resources["nbgrader"]["notebook"]
        if not course.has(resources["nbgrader"]["assignment"]):
            return foreign.execute(nb, resources, self, self.backend)
        edition = edition_for(course, name, nb)
        work = work_for(course, name, edition, nb, beside(Path(resources["metadata"]["path"])), self.timeout)
        runs = self._known(work, name, resources["nbgrader"]["student"]) or self._run(course, work)
        report = score(edition.lab, runs, only_proven=True)
        for note in report.notes:
            self.log.warning("%s: %s", resources["nbgrader"]["student"], note)
        tests = {test.id: test for exercise in report.exercises for test in exercise.tests}
        by_id = {run.id: run for run in runs}
        for cell in nb.cells:
            if role(cell) == "test":
                cell.outputs = _verdict(cell, tests.get(cell["id"]), by_id.get(cell["id"]))
            elif cell.cell_type == "code":
                cell.outputs = _outputs(by_id[cell["id"]]) if cell["id"] in by_id else []
        return nb, resources

    def _known(self, work: Work, lab: str, student: str) -> list[CellRun] | None:
        """What the cells did, if exactly this work ran already."""
        return Journal(Path(self.journal)).find(lab, student, work.digest) if self.journal else None

    def _run(self, course: Course, work: Work) -> list[CellRun]:
        boxes, environment = _boxes(course.root, self.backend), dict(work.environment)
        kernels, spawn = boxes.kernels(work.preload, environment), boxes.examiner(work.preload, environment)
        with ThreadPoolExecutor(1) as thread:  # Formgrader's own event loop runs in this one
            return thread.submit(execute, work, kernels, spawn).result()


@dataclass(frozen=True)
class MadeRight:
    """A submission as it is graded, and why it is taken for one without answers; empty if it is not."""

    notebook: Any
    refusal: str


def made_right(course: Course, name: str, notebook: Any, student: str, folder: Path, refused: str = "") -> MadeRight:
    """A submission brought together with the current student version, and told of in its first cell.

    Args:
        folder: of the submission; what was set aside there is told.
        refused: why the notebook could not be read, if so.
    """
    release = read_notebook(course.release(name))
    submitted, refusal = _accepted(notebook, release, student, refused)
    submitted.cells = [cell for cell in submitted.cells if cell["id"] != REPAIRS]
    edition = edition_for(course, name, submitted)
    merged = put_right(release, submitted)
    repairs = merged.repairs if edition.is_current else put_right(edition.release, submitted).repairs
    known = {found for cell in release.cells if (found := grade_id(cell)) is not None}
    for cell in merged.notebook.cells:
        if grade_id(cell) not in known:
            # The role of an exercise that is no more, or of another notebook; tags and titles act on pages.
            cell.metadata = NotebookNode()
    marks = {key: mark for key in ("lab", "edition") if (mark := mark_of(merged.notebook, key)) is not None}
    merged.notebook.metadata = release.metadata | {"tflabs": marks}
    aside = [f"{each!r} was left out: it is no plain file, or too large" for each in left_out(folder)]
    if told := [*filter(None, (refusal, edition.note)), *repairs, *aside[:MOST_TOLD]]:
        lines = "\n".join(f"- {html.escape(each, quote=False)}" for each in told)  # names and texts of the learner's
        text = f"**Put right before grading**\n\n{lines}"
        merged.notebook.cells.insert(0, new_markdown_cell(text, id=REPAIRS))
    return MadeRight(merged.notebook, refusal)


def _accepted(notebook: Any, release: Any, student: str, refused: str) -> tuple[Any, str]:
    """The submission as a notebook of the lab, and why it is taken for one without answers; empty if it is not."""
    if not refused:
        submitted = as_current(notebook)
        try:
            require_lab(submitted, release, f"the submission of {student}")
        except UserError as error:
            refused = str(error)
        else:
            return submitted, ""
    return copy.deepcopy(release), f"what was submitted is graded as if it had no answers: {refused}"


def work_for(
    course: Course, name: str, edition: Edition, notebook: Any, files: dict[str, bytes], cell_seconds: float
) -> Work:
    """What is to be run of a notebook that was made right and has the full tests, beside these files."""
    cells = notebook.cells if edition.is_current else _as_released(edition, notebook)
    return work_of(edition.lab, read_syllabus(course.syllabus).section(name), cells, files, cell_seconds)


def received(assignment: str, notebooks: list[str], **_: Any) -> None:
    """nbgrader's `pre_convert_hook`: the folder of a submission holds plain files, and the notebook has its name.

    nbgrader calls it in the course's folder.
    """
    name = f"{assignment}.ipynb"
    is_lab = Course(Path.cwd()).has(assignment)
    folders = sorted({Path(path).parent for path in notebooks})
    for folder in folders:
        take_in(folder, name if is_lab else None)
    there = [path for path in notebooks if Path(path).is_file()]
    if not is_lab:
        notebooks[:] = there
        return
    notebooks[:] = there or [str(folder / name) for folder in folders if (folder / name).is_file()]
    under_its_name(assignment, notebooks)


def under_its_name(assignment: str, notebooks: list[str], **_: Any) -> None:
    """A submission whose notebook was renamed gets a copy of it under the lab's name.

    Nothing is done where a notebook of that name is there, or where more than one could be meant.
    """
    found = notebook_of(assignment, notebooks)
    if found is None or found.name == f"{assignment}.ipynb":
        return
    notebook = read_notebook(found)
    marks = notebook.metadata.get("tflabs")
    notebook.metadata["tflabs"] = (marks if isinstance(marks, dict) else {}) | {"file": found.name}
    copied = found.with_name(f"{assignment}.ipynb")
    write_text(copied, notebook_text(notebook))
    notebooks[:] = [str(copied)]


def notebook_of(assignment: str, notebooks: list[str]) -> Path | None:
    """Which of a submission's notebooks is meant: the one of the lab's name, or the only one that could be it."""
    paths = [Path(path) for path in notebooks]
    if named := [path for path in paths if path.stem == assignment]:
        return named[0]
    possible = []
    for path in paths:
        with contextlib.suppress(UserError):
            if mark_of(read_notebook(path), "lab") in (assignment, None):
                possible.append(path)
    return possible[0] if len(possible) == 1 else None


def _as_released(edition: Edition, nb: Any) -> list[Any]:
    """The cells of a submission in the order and with the tests of an older release."""
    known = {grade_id(cell) for cell in edition.release.cells}
    restored = with_full_tests(put_right(edition.release, nb).notebook, edition.lab)
    return [cell for cell in restored.cells if role(cell) == "free" or grade_id(cell) in known]


def _verdict(cell: Any, test: TestResult | None, run: CellRun | None) -> list[Any]:
    """What nbgrader takes the score of a test from; its points are those of the current release."""
    if test is None:
        words = "this exercise is not in the release that the notebook was made from"
        return [new_output("error", ename="NotThere", evalue=words, traceback=[words])]
    if not test.message:
        return []
    ename = run.ename or run.state if run is not None else "NotRun"
    return [new_output("error", ename=ename, evalue=test.message, traceback=[test.message])]


def _outputs(run: CellRun) -> list[Any]:
    """What is kept of the output of a cell that is no test."""
    outputs = [new_output("stream", name="stdout", text=run.stdout)] if run.stdout else []
    outputs += [_shown(shown) for shown in run.shown if len(str(shown)) <= MOST_OUTPUT]
    if run.state != "ok":
        words = run.evalue or run.state
        outputs.append(new_output("error", ename=run.ename or run.state, evalue=words, traceback=[words]))
    return outputs


def _shown(output: Any) -> Any:
    """A picture, a table or a value, without what only a live page could show: widgets, scripts, frames."""
    data = {kind: text for kind, text in output.data.items() if kind in SHOWN and isinstance(text, str)}
    return new_output("display_data", data=data)


def _course(step: NbGraderPreprocessor) -> Course:
    """The course whose gradebook nbgrader writes into."""
    return Course(Path(CourseDirectory(config=step.config).root).resolve())


@functools.cache
def _boxes(root: Path, backend: str) -> Boxes:
    """Servers for as long as this process grades: nbgrader makes new preprocessors for every notebook."""
    boxes = Boxes((str(root),), backend)
    atexit.register(boxes.close)
    return boxes

"""nbgrader preprocessors that our `nbgrader_config.py` puts into `autograde`: submissions are put right, then judged.

With them `nbgrader autograde LAB`, Formgrader's button and `tflabs check` give the same points.
"""

from __future__ import annotations

import atexit
import contextlib
import copy
import functools
import html
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_output
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Float, Unicode

from tflabs.course.editions import Edition, edition_for
from tflabs.course.files import as_current, notebook_text, read_notebook, write_text
from tflabs.course.lab import Lab, grade_id, role
from tflabs.course.layout import Course
from tflabs.course.merge import mark_of, put_right, require_lab
from tflabs.course.syllabus import read_syllabus
from tflabs.errors import UserError
from tflabs.grading.boxes import Boxes
from tflabs.grading.examinations import Examination
from tflabs.grading.grade import answer_names, score, with_full_tests
from tflabs.grading.intake import UNREADABLE, left_out, take_in
from tflabs.grading.report import TestResult
from tflabs.grading.run import CellRun, Limits, run_cells

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
        course, name = _course(self), resources["nbgrader"]["notebook"]
        release = read_notebook(course.release(name))
        submitted, refused = _accepted(nb, release, resources)
        submitted.cells = [cell for cell in submitted.cells if cell["id"] != REPAIRS]
        edition = edition_for(course, name, submitted)
        merged = put_right(release, submitted)
        repairs = merged.repairs if edition.is_current else put_right(edition.release, submitted).repairs
        known = {name for cell in release.cells if (name := grade_id(cell)) is not None}
        for cell in merged.notebook.cells:
            if grade_id(cell) not in known:
                # The role of an exercise that is no more, or of another notebook; tags and titles act on pages.
                cell.metadata = NotebookNode()
        marks = {key: mark for key in ("lab", "edition") if (mark := mark_of(merged.notebook, key)) is not None}
        merged.notebook.metadata = release.metadata | {"tflabs": marks}
        aside = [f"{each!r} was left out: it is no plain file, or too large" for each in left_out(_folder(resources))]
        if told := [*refused, *([edition.note] if edition.note else []), *repairs, *aside[:MOST_TOLD]]:
            lines = "\n".join(
                f"- {html.escape(repair, quote=False)}" for repair in told
            )  # names and texts of the learner's
            text = f"**Put right before grading**\n\n{lines}"
            merged.notebook.cells.insert(0, new_markdown_cell(text, id=REPAIRS))
        return merged.notebook, resources


class Judge(NbGraderPreprocessor):  # type: ignore[misc]
    """Run a submission in boxes, and write into its cells what nbgrader takes the score from.

    A graded cell that was judged right has no output; any other holds an error with the reason in words. What a cell
    wrote to stderr is left out: nbgrader takes every line of it for a failure.
    """

    timeout = Float(120.0, help="seconds that a cell may take").tag(config=True)
    backend = Unicode("auto", help="the sandbox's backend; 'none' confines nothing and must be named").tag(config=True)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        course, name = _course(self), resources["nbgrader"]["notebook"]
        edition = edition_for(course, name, nb)
        cells = nb.cells if edition.is_current else _as_released(edition, nb)
        runs = self._run(course, name, edition.lab, cells, Path(resources["metadata"]["path"]))
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

    def _run(self, course: Course, name: str, lab: Lab, cells: list[Any], folder: Path) -> list[CellRun]:
        section = read_syllabus(course.syllabus).section(name)
        boxes = _boxes(course.root, self.backend)
        kernels = boxes.kernels(section.preload, section.environment)
        examination = Examination(boxes.examiner(section.preload, section.environment), answer_names(lab))
        limits = Limits(cell_seconds=self.timeout)
        with ThreadPoolExecutor(1) as thread:  # Formgrader's own event loop runs in this one
            return thread.submit(run_cells, cells, kernels, folder, limits, examination=examination).result()


def received(assignment: str, notebooks: list[str], **_: Any) -> None:
    """nbgrader's `pre_convert_hook`: the folder of a submission holds plain files, and the notebook has its name."""
    name = f"{assignment}.ipynb"
    folders = sorted({Path(path).parent for path in notebooks})
    for folder in folders:
        take_in(folder, name)
    there = [path for path in notebooks if Path(path).is_file()]
    notebooks[:] = there or [str(folder / name) for folder in folders if (folder / name).is_file()]
    under_its_name(assignment, notebooks)


def under_its_name(assignment: str, notebooks: list[str], **_: Any) -> None:
    """A submission whose notebook was renamed gets a copy of it under the lab's name.

    Nothing is done where a notebook of that name is there, or where more than one could be meant.
    """
    if any(Path(path).stem == assignment for path in notebooks):
        return
    named: dict[str, Any] = {}
    for path in notebooks:
        with contextlib.suppress(UserError):
            notebook = read_notebook(Path(path))
            if mark_of(notebook, "lab") in (assignment, None):
                named[path] = notebook
    if len(named) != 1:
        return
    path, notebook = named.popitem()
    marks = notebook.metadata.get("tflabs")
    notebook.metadata["tflabs"] = (marks if isinstance(marks, dict) else {}) | {"file": Path(path).name}
    copied = Path(path).with_name(f"{assignment}.ipynb")
    write_text(copied, notebook_text(notebook))
    notebooks[:] = [str(copied)]


def _accepted(nb: Any, release: Any, resources: Any) -> tuple[Any, list[str]]:
    """The submission as a notebook of the lab, and why it is taken for one without answers, if it is."""
    refused = resources.get(UNREADABLE, "")
    if not refused:
        submitted = as_current(nb)
        try:
            require_lab(submitted, release, f"the submission of {resources['nbgrader']['student']}")
        except UserError as error:
            refused = str(error)
        else:
            return submitted, []
    return copy.deepcopy(release), [f"what was submitted is graded as if it had no answers: {refused}"]


def _folder(resources: Any) -> Path:
    return Path(resources["metadata"]["path"])


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

"""nbgrader preprocessors that our `nbgrader_config.py` puts into `autograde`: submissions are put right, then judged.

With them `nbgrader autograde LAB`, Formgrader's button and `tflabs check` give the same points.
"""

from __future__ import annotations

import atexit
import functools
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from nbformat.v4 import new_markdown_cell, new_output
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Float, Unicode

from tflabs.course.build import read_source
from tflabs.course.files import as_current, read_notebook
from tflabs.course.layout import Course
from tflabs.course.merge import put_right, require_lab
from tflabs.course.syllabus import read_syllabus
from tflabs.grading.boxes import Boxes
from tflabs.grading.examinations import Examination
from tflabs.grading.grade import answer_names, score
from tflabs.grading.run import CellRun, Limits, run_cells

MOST_OUTPUT = 1 << 20  # characters of one picture or table that a cell showed
REPAIRS = "put-right-before-grading"


class PutRight(NbGraderPreprocessor):  # type: ignore[misc]
    """Bring a submission together with the student version of its lab, and say in a cell at its top what that took.

    First among the sanitizing steps: nbgrader refuses notebooks with foreign, missing or retyped cells.
    """

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        name = resources["nbgrader"]["notebook"]
        release = read_notebook(_course(self).release(name))
        submitted = as_current(nb)
        require_lab(submitted, release, f"the submission of {resources['nbgrader']['student']}")
        submitted.cells = [cell for cell in submitted.cells if cell["id"] != REPAIRS]
        merged = put_right(release, submitted)
        if merged.repairs:
            lines = "\n".join(f"- {repair}" for repair in merged.repairs)
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
        lab, section = read_source(course, name), read_syllabus(course.syllabus).section(name)
        boxes = _boxes(course.root, self.backend)
        kernels = boxes.kernels(section.preload, section.environment)
        examination = Examination(boxes.examiner(section.preload, section.environment), answer_names(lab))
        folder, limits = Path(resources["metadata"]["path"]), Limits(cell_seconds=self.timeout)
        with ThreadPoolExecutor(1) as thread:  # Formgrader's own event loop runs in this one
            runs = thread.submit(run_cells, nb.cells, kernels, folder, limits, examination=examination).result()
        report = score(lab, runs, only_proven=True)
        for note in report.notes:
            self.log.warning("%s: %s", resources["nbgrader"]["student"], note)
        reasons = {test.id: test.message for exercise in report.exercises for test in exercise.tests}
        by_id = {run.id: run for run in runs}
        for cell in nb.cells:
            if cell.cell_type == "code":
                run = by_id.get(cell["id"])
                cell.outputs = [] if run is None else _outputs(run, reasons.get(run.grade_id or "", ""))
        return nb, resources


def _outputs(run: CellRun, reason: str) -> list[Any]:
    """What is kept of a cell's output. Of a test nothing that the learner's process showed: nbgrader may score it."""
    outputs = []
    if run.role != "test":
        outputs += [new_output("stream", name="stdout", text=run.stdout)] if run.stdout else []
        outputs += [shown for shown in run.shown if len(str(shown)) <= MOST_OUTPUT]
    if run.state != "ok":
        words = reason or run.evalue or run.state
        outputs.append(new_output("error", ename=run.ename or run.state, evalue=words, traceback=[words]))
    return outputs


def _course(step: NbGraderPreprocessor) -> Course:
    """The course whose gradebook nbgrader writes into."""
    return Course(Path(CourseDirectory(config=step.config).root).resolve())


@functools.cache
def _boxes(root: Path, backend: str) -> Boxes:
    """Servers for as long as this process grades: nbgrader makes new preprocessors for every notebook."""
    boxes = Boxes((str(root),), backend)
    atexit.register(boxes.close)
    return boxes

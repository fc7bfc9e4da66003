"""nbgrader preprocessor that our `nbgrader_config.py` puts in the place of Execute in `autograde`."""

from __future__ import annotations

from typing import Any

from nbformat.v4 import new_output
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Float, Unicode

from tflabs.course.build import read_source
from tflabs.course.layout import Course
from tflabs.course.syllabus import read_syllabus
from tflabs.grading.boxes import Boxes
from tflabs.grading.examinations import Examination
from tflabs.grading.grade import answer_names, score
from tflabs.grading.run import CellRun, Limits, run_cells


class Judge(NbGraderPreprocessor):  # type: ignore[misc]
    """Run a submission in boxes and write into its cells what nbgrader takes the score from.

    A graded cell that was judged right has no error output; any other holds one, with the reason in words. What a cell
    wrote to stderr is left out, for nbgrader takes every such line for a failure.
    """

    timeout = Float(120.0, help="seconds that a cell may take").tag(config=True)
    backend = Unicode("auto", help="the sandbox's backend; 'none' confines nothing and must be named").tag(config=True)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        from pathlib import Path

        course = Course(Path(self.coursedir_root(resources)))
        name = resources["nbgrader"]["assignment"]
        lab, section = read_source(course, name), read_syllabus(course.syllabus).section(name)
        with Boxes((str(course.root),), self.backend) as boxes:
            examination = Examination(boxes.cold_examiner(section.environment), answer_names(lab))
            folder = Path(resources["metadata"]["path"])
            limits = Limits(cell_seconds=self.timeout)
            kernels = boxes.cold(section.environment)
            runs = run_cells(nb.cells, kernels, folder, limits, examination=examination)
        report = score(lab, runs)
        reasons = {test.id: test.message for exercise in report.exercises for test in exercise.tests}
        by_id = {run.id: run for run in runs}
        for cell in nb.cells:
            if cell.cell_type == "code":
                run = by_id.get(cell["id"])
                cell.outputs = _outputs(run, reasons.get(run.grade_id or "", "")) if run is not None else []
        return nb, resources

    def coursedir_root(self, resources: Any) -> str:
        """The course that the submission belongs to: nbgrader's, whose database it is graded into."""
        return str(self.parent.coursedir.root)


def _outputs(run: CellRun, reason: str) -> list[Any]:
    outputs = [new_output("stream", name="stdout", text=run.stdout)] if run.stdout else []
    if run.state != "ok":
        words = reason or run.evalue or run.state
        outputs.append(new_output("error", ename=run.ename or run.state, evalue=words, traceback=[words]))
    return outputs

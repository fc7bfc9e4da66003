"""Grades submissions as `nbgrader autograde` does with our configuration, in this process: all share its boxes."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import nbformat
from jinja2 import FileSystemBytecodeCache
from nbconvert.exporters import HTMLExporter
from nbconvert.exporters.templateexporter import TemplateExporter
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from nbgrader.server_extensions.formgrader import formgrader
from traitlets.config.loader import PyFileConfigLoader

import toy
from spoilt import environment
from tflabs.course.layout import Course
from tflabs.grading import autograde, examinations
from tflabs.grading.boxes import KERNEL, Boxes
from tflabs.grading.sandbox import Limits, choose

BACKEND = os.environ.get("TFLABS_TEST_BACKEND", "auto")  # "landlock": what machines without namespaces have


class Grader:
    """nbgrader with a course's own configuration, except for the limits.

    Args:
        seconds: that a cell may take.
        limits: of the boxes.
        backend: of the boxes.
    """

    def __init__(self, course: Course, seconds: float = 60.0, limits: Limits = KERNEL, backend: str = BACKEND) -> None:
        self.course = course
        self.backend = choose(backend)
        self.stack = contextlib.ExitStack()
        given = course.nbgrader_config.read_text(encoding="utf-8")
        course.nbgrader_config.write_text(f"{given}\nc.Judge.timeout = {seconds}\n", encoding="utf-8")
        config = PyFileConfigLoader("nbgrader_config.py", path=str(course.root)).load_config()
        config.CourseDirectory.root = str(course.root)
        self.api = NbGraderAPI(config=config)
        self.api.log_level = "WARN"
        opened = self.stack.enter_context(Boxes((str(course.root),), self.backend, limits))
        self.stack.enter_context(replaced(autograde, "_boxes", lambda root, backend: opened))
        # A kernel that hangs is waited for less long; nothing here takes part of a second.
        self.stack.enter_context(replaced(examinations, "HOMEWARD", 1.0))
        self._cache_templates()
        with mock.patch.dict(os.environ, PATH=environment(course)["PATH"]):  # a new gradebook asks the command alembic
            done = self.api.generate_assignment(toy.LAB, force=True)
        assert done["success"], done

    def close(self) -> None:
        self.stack.close()

    def _cache_templates(self) -> None:
        """Compile the pages' templates once: each command of nbgrader's has an environment of its own."""
        cache = FileSystemBytecodeCache(self.stack.enter_context(tempfile.TemporaryDirectory(prefix="templates-")))
        make = TemplateExporter._create_environment

        def cached(exporter: Any) -> Any:
            made = make(exporter)
            made.bytecode_cache = cache
            return made

        self.stack.enter_context(replaced(TemplateExporter, "_create_environment", cached))

    def folder(self, step: str, student: str) -> Path:
        return self.course.root / step / student / toy.LAB

    def submit(self, student: str, notebook: Any) -> Path:
        return toy.save(notebook, self.folder("submitted", student) / f"{toy.LAB}.ipynb")

    def autograde(self, student: str) -> str:
        """What nbgrader logs."""
        done = self.api.autograde(toy.LAB, student)
        return str(done.get("log", "")) + str(done.get("error", ""))

    def feedback(self, student: str) -> list[Path]:
        """What the student gets."""
        self.api.generate_feedback(toy.LAB, student)
        found = self.folder("feedback", student).rglob("*")
        return [path for path in found if path.is_file() and not path.is_symlink()]

    def graded(self, student: str) -> Any:
        """The graded notebook, if there is one."""
        path = self.folder("autograded", student) / f"{toy.LAB}.ipynb"
        return nbformat.read(path, as_version=4) if path.is_file() else None

    def told(self, student: str) -> str:
        """Of the graded notebook: its outputs, what stands above its cells, and its metadata."""
        notebook = self.graded(student)
        if notebook is None:
            return ""
        outputs = [cell.get("outputs", []) for cell in notebook.cells]
        repairs = [cell.source for cell in notebook.cells if cell.get("id") == autograde.REPAIRS]
        return json.dumps([outputs, repairs, notebook.metadata], ensure_ascii=False)

    def book(self) -> Any:
        return Gradebook(f"sqlite:///{self.course.root}/gradebook.db")

    def score(self, student: str) -> float | None:
        """None without a grade."""
        with self.book() as book:
            try:
                submission = book.find_submission(toy.LAB, student)
            except Exception:
                return None
            grades = [grade for each in submission.notebooks for grade in each.grades]
            graded = all(grade.auto_score is not None or grade.manual_score is not None for grade in grades)
            return float(submission.score) if graded else None

    def graders_page(self, student: str) -> str:
        """The page that Formgrader makes of a submission, as its handler does; empty without one."""
        path = self.folder("autograded", student) / f"{toy.LAB}.ipynb"
        if not path.is_file():
            return ""
        config = self.api.config.copy()
        config.HTMLExporter.template_name = "formgrade"
        config.HTMLExporter.extra_template_basedirs = [str(Path(formgrader.__file__).parent / "templates")]
        resources = {"assignment_id": "a", "notebook_id": "n", "submission_id": "s", "index": 0, "total": 1}
        resources |= {"base_url": "", "student": "x", "last_name": "", "first_name": "", "notebook_path": ""}
        return str(HTMLExporter(config=config).from_filename(str(path), resources=resources)[0])


@contextlib.contextmanager
def replaced(module: Any, name: str, value: Any) -> Iterator[None]:
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)

"""Builds `source/` and `release/` from the texts of the labs, and says what is stale."""

from __future__ import annotations

import contextlib
import logging
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tflabs.course import text as labtext
from tflabs.course.files import notebook_text, parse_notebook, write_text
from tflabs.course.lab import Lab, read_lab
from tflabs.course.layout import Course
from tflabs.errors import UserError
from tflabs.program import PROGRAM


@dataclass(frozen=True)
class Built:
    """What the build makes of one lab: file contents by path, and the lab as it was understood."""

    lab: Lab
    files: dict[Path, str]

    def stale(self) -> list[Path]:
        """The files that are not on disk as they should be."""
        return [path for path, content in self.files.items() if not _same(path, content)]

    def write(self) -> list[Path]:
        """Bring the files on disk up to date; those that are, are not touched."""
        stale = self.stale()
        for path in stale:
            write_text(path, self.files[path])
        return stale


def build_lab(course: Course, name: str) -> Built:
    """The canonical text, the instructor version and the student version of one lab. Nothing is written.

    Raises:
        UserError: the text is no lab, or nbgrader refuses it.
    """
    written = labtext.read_text(course.text(name))
    notebook = labtext.to_notebook(written, name)
    lab = read_lab(notebook, name)
    source = notebook_text(notebook)
    files = {
        course.text(name): labtext.canonical(written),
        course.source(name): source,
        course.release(name): _generate(course, name, source),
    }
    return Built(lab, files)


def read_source(course: Course, name: str) -> Lab:
    """The lab as built, without building it again."""
    path = course.source(name)
    if not path.is_file():
        raise UserError(f"the lab {name} is not built: there is no {path}. Run: {PROGRAM} build {name}")
    return read_lab(parse_notebook(path.read_text(encoding="utf-8"), str(path)), name)


def _same(path: Path, content: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == content


def _generate(course: Course, name: str, source: str) -> str:
    """nbgrader's own `generate_assignment`, with the course's configuration, in a scratch folder."""
    from nbgrader.converters import GenerateAssignment
    from nbgrader.coursedir import CourseDirectory
    from nbgrader.preprocessors import SaveCells
    from traitlets.config import Config
    from traitlets.config.loader import PyFileConfigLoader

    config: Any = Config()
    if course.nbgrader_config.is_file():
        config.merge(PyFileConfigLoader(course.nbgrader_config.name, path=str(course.root)).load_config())
    with tempfile.TemporaryDirectory(prefix="tflabs-build-") as scratch, _kept_messages() as messages:
        root = Path(scratch)
        (root / "source" / name).mkdir(parents=True)
        (root / "source" / name / f"{name}.ipynb").write_text(source, encoding="utf-8")
        config.CourseDirectory.root = scratch
        config.CourseDirectory.assignment_id = name
        # A build is no release: it leaves no trace in a gradebook.
        config.GenerateAssignment.no_database = True
        converter = GenerateAssignment(coursedir=CourseDirectory(config=config), config=config)
        converter.preprocessors = [step for step in converter.preprocessors if step is not SaveCells]
        try:
            converter.start()
        except (Exception, SystemExit) as error:
            reason = "\n".join(messages) or str(error)
            raise UserError(f"nbgrader generate_assignment refused {name}: {reason}") from None
        return (root / "release" / name / f"{name}.ipynb").read_text(encoding="utf-8")


@contextlib.contextmanager
def _kept_messages() -> Iterator[list[str]]:
    """Collect what nbgrader logs, instead of printing it."""
    messages: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            messages.append(record.getMessage())

    logger, handler = logging.getLogger("traitlets"), Keep(logging.WARNING)
    propagate, logger.propagate = logger.propagate, False
    logger.addHandler(handler)
    try:
        yield messages
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagate

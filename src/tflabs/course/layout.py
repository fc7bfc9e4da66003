"""Where the parts of a course lie."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from tflabs.errors import UserError


@dataclass(frozen=True)
class Course:
    """A course folder. Every path below it is named here and nowhere else."""

    root: Path

    @property
    def syllabus(self) -> Path:
        return self.root / "labs" / "syllabus.toml"

    @property
    def readme(self) -> Path:
        return self.root / "README.md"

    @property
    def nbgrader_config(self) -> Path:
        return self.root / "nbgrader_config.py"

    def text(self, lab: str) -> Path:
        """The lab as it is written: a jupytext percent file."""
        return self.root / "labs" / lab / f"{lab}.py"

    def source(self, lab: str) -> Path:
        """nbgrader's instructor version, built from the text."""
        return self.root / "source" / lab / f"{lab}.ipynb"

    def release(self, lab: str) -> Path:
        """nbgrader's student version, built from the instructor version."""
        return self.root / "release" / lab / f"{lab}.ipynb"

    def answers(self, lab: str) -> Path:
        """Right and wrong answers to every exercise of the lab, for `verify`."""
        return self.root / "tests" / "answers" / f"{lab}.py"

    def has(self, name: str) -> bool:
        """Whether an assignment of this name is a lab of the course that is written."""
        return self.text(name).is_file()

    def written_labs(self) -> list[str]:
        """Names of the labs that have a text, sorted by unit and section."""
        names = [path.parent.name for path in self.root.glob("labs/*/*.py") if path.stem == path.parent.name]
        return sorted(names, key=section_number)


def section_number(lab: str) -> tuple[int, int, str]:
    """`3-10-kernel` comes after `3-9-placement`."""
    unit, section, *_ = [*lab.split("-"), "0", "0"]
    return (int(unit) if unit.isdigit() else 99, int(section) if section.isdigit() else 99, lab)


def find_course() -> Course:
    """The course that TFLABS_COURSE names, else the one around the current folder, else the one of this package."""
    named = os.environ.get("TFLABS_COURSE")
    if named:
        course = Course(Path(named).resolve())
        if not course.syllabus.is_file():
            raise UserError(f"TFLABS_COURSE is {named}, but there is no {course.syllabus}")
        return course
    here = Path.cwd()
    for folder in (here, *here.parents, Path(__file__).resolve().parents[3]):
        if (folder / "labs" / "syllabus.toml").is_file():
            return Course(folder)
    raise UserError(f"found no course: neither {here} nor a folder above it holds labs/syllabus.toml")

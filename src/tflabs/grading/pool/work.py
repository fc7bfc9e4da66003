"""One submission's cells, described so that they can run anywhere: no path, no course, no database."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import tempfile
from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell

import tflabs
from tflabs.course.lab import Lab, grade_id, role
from tflabs.course.syllabus import Section
from tflabs.errors import UserError
from tflabs.grading.examinations import Examination, Spawn
from tflabs.grading.grade import answer_names
from tflabs.grading.kernels import Kernels
from tflabs.grading.run import CellRun, Limits, run_cells

_ROLES = {
    "solution": {"solution": True, "grade": False, "locked": False},
    "test": {"solution": False, "grade": True, "locked": True},
    "given": {"solution": False, "grade": False, "locked": True},
}


@dataclass(frozen=True)
class Cell:
    """A code cell; `role` and `grade_id` as in `course.lab`."""

    id: str
    source: str
    role: str
    grade_id: str | None


@dataclass(frozen=True)
class Work:
    """What a worker needs to run one notebook.

    Attributes:
        cells: the code cells in order, the tests with their hidden parts.
        names: what the lab's answers define; a test gets no other name from the learner.
        preload: modules that a warm kernel has imported.
        environment: variables that a kernel must have from its start.
        files: (path from the notebook's folder, content) of what lies beside it.
        cell_seconds: how long a cell may take.
    """

    cells: tuple[Cell, ...]
    names: tuple[str, ...]
    preload: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]
    files: tuple[tuple[str, bytes], ...]
    cell_seconds: float

    def to_bytes(self) -> bytes:
        """The same work, the same bytes; another version or another text of this package, other bytes."""
        data = asdict(self) | {"files": [(name, base64.b64encode(content).decode()) for name, content in self.files]}
        return json.dumps(data | {"version": own_version()}, sort_keys=True).encode()

    @property
    def digest(self) -> str:
        """Identifies the work: SHA-256 in hex."""
        return hashlib.sha256(self.to_bytes()).hexdigest()


@functools.cache
def own_version() -> str:
    """This package's version and a digest of its sources: in a clone they change while the version stays."""
    package = Path(tflabs.__file__).parent
    sources = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        content = path.read_bytes()
        sources.update(f"{path.relative_to(package).as_posix()} {len(content)}\n".encode() + content)
    return f"{version('tflabs')}+{sources.hexdigest()[:12]}"


def work_of(lab: Lab, section: Section, cells: list[Any], files: dict[str, bytes], cell_seconds: float) -> Work:
    """The work of a notebook that was put right; `cells` are nbformat's, with the full tests."""
    code = [cell for cell in cells if cell.cell_type == "code" and cell.source.strip()]
    return Work(
        cells=tuple(Cell(cell["id"], cell.source, role(cell), grade_id(cell)) for cell in code),
        names=tuple(answer_names(lab)),
        preload=section.preload,
        environment=tuple(sorted(section.environment.items())),
        files=tuple(sorted(files.items())),
        cell_seconds=cell_seconds,
    )


def work_from_bytes(data: bytes) -> Work:
    """The work that `Work.to_bytes` wrote.

    Raises:
        UserError: another version of this package wrote it.
    """
    read = json.loads(data)
    if (theirs := read.pop("version")) != (ours := own_version()):
        raise UserError(f"the grader has tflabs {theirs}, this worker {ours}; they must be the same")
    return Work(
        cells=tuple(Cell(**cell) for cell in read["cells"]),
        names=tuple(read["names"]),
        preload=tuple(read["preload"]),
        environment=tuple((name, value) for name, value in read["environment"]),
        files=tuple((name, base64.b64decode(content)) for name, content in read["files"]),
        cell_seconds=read["cell_seconds"],
    )


def execute(work: Work, kernels: Kernels, spawn: Spawn) -> list[CellRun]:
    """Run the work: its tests in an examiner that `spawn` starts, the rest in one of `kernels`."""
    examination = Examination(spawn, list(work.names))
    with tempfile.TemporaryDirectory(prefix="tflabs-work-") as folder:
        for name, content in work.files:
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        cells = [_as_cell(cell) for cell in work.cells]
        limits = Limits(cell_seconds=work.cell_seconds)
        return run_cells(cells, kernels, Path(folder), limits, examination=examination)


def _as_cell(cell: Cell) -> Any:
    nbgrader = {"nbgrader": _ROLES[cell.role] | {"grade_id": cell.grade_id}} if cell.role in _ROLES else {}
    return new_code_cell(cell.source, id=cell.id, metadata=nbgrader)


def runs_to_text(runs: list[CellRun]) -> str:
    return json.dumps([{field.name: getattr(run, field.name) for field in fields(CellRun)} for run in runs])


def runs_from_text(text: str) -> list[CellRun]:
    """What `runs_to_text` wrote.

    Raises:
        ValueError, TypeError, KeyError: it is something else.
    """
    return [CellRun(**run | {"shown": tuple(map(nbformat.from_dict, run["shown"]))}) for run in json.loads(text)]

"""The learner's commands: what is done, and how it is shown."""

from __future__ import annotations

import functools
import json
import sys
from itertools import zip_longest
from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown
from rich.status import Status
from rich.syntax import Syntax

from tflabs.course.build import read_source
from tflabs.course.layout import Course, find_course
from tflabs.course.syllabus import Syllabus, read_syllabus
from tflabs.errors import UserError
from tflabs.grading.report import Report
from tflabs.learning.progress import Progress
from tflabs.learning.show import progress_view, report_view
from tflabs.learning.workspace import Workspace, bring_up_to_date, is_begun, released_labs
from tflabs.learning.workspace import reset as reset_lab
from tflabs.program import PROGRAM


def study(lab: str | None, *, browser: bool, port: int | None, folder: Path | None) -> int:
    from tflabs.learning.study import open_labs

    console = Console(stderr=True, highlight=False, soft_wrap=True)
    course, syllabus, workspace = _places(folder)
    page = "start.ipynb"
    if lab is not None:
        _must_be_written(course, syllabus, lab)
        page = f"{lab}/{lab}.ipynb"
    for line in bring_up_to_date(course, workspace):
        console.print(line, markup=False)
    return open_labs(course, workspace, page, port, browser, lambda line: console.print(line, markup=False))


def check(labs: list[str], *, file: Path | None, as_json: bool, folder: Path | None) -> int:
    from tflabs.grading.places import place_for_own_work

    course, syllabus, workspace = _places(folder)
    if file is not None and len(labs) > 1:
        raise UserError("--file is one notebook, of one lab; name at most one")
    for lab in labs:
        _must_be_written(course, syllabus, lab)
    chosen = labs if labs or file is not None else _begun(course, workspace)
    out, err = Console(highlight=False), Console(stderr=True, highlight=False)
    documents, passed = [], True
    with place_for_own_work((str(course.root),)) as place:  # labs that import the same share one warm process
        for lab in chosen[:1]:  # it imports TensorFlow while the notebooks are read
            place.begin(syllabus.section(lab).preload, syllabus.section(lab).environment)
        from tflabs.learning.check import check, read_subject

        paths = [file] if file is not None else [_saved(workspace, lab) for lab in chosen]
        subjects = [read_subject(course, syllabus, *pair) for pair in zip_longest(paths, chosen)]
        for subject in subjects:
            section = syllabus.section(subject.lab.id)
            with err.status(f"{section.id}: starting") as status:
                kernels = place.kernels(section.preload, section.environment)
                spawn = place.examiner(section.preload, section.environment)
                report = check(subject, kernels, spawn, on_step=functools.partial(_update, status, section.id))
            fresh = [] if file is not None else _record(workspace, report, err)
            documents.append(report.to_json())
            passed = passed and report.passed
            if not as_json:
                out.print(report_view(report, subject.lab, fresh))
    if as_json:
        print(json.dumps(documents[0] if len(documents) == 1 else documents, ensure_ascii=False, indent=1))
    return 0 if passed else 1


def watch(labs: list[str], *, folder: Path | None) -> int:
    from tflabs.learning.watch import watch

    course, syllabus, workspace = _places(folder)
    for lab in labs:
        _must_be_written(course, syllabus, lab)
        _saved(workspace, lab)
    try:
        watch(course, syllabus, workspace, labs, Console(highlight=False))
    except KeyboardInterrupt:
        print("watching ended", file=sys.stderr)
    return 0


def progress(*, folder: Path | None) -> int:
    course, syllabus, workspace = _places(folder)
    kept = Progress(workspace)
    if kept.warning:
        print(f"tflabs: {kept.warning}", file=sys.stderr)
    Console(highlight=False).print(progress_view(syllabus, kept, released_labs(course)))
    return 0


def reset(lab: str, *, folder: Path | None) -> int:
    course, syllabus, workspace = _places(folder)
    _must_be_written(course, syllabus, lab)
    kept = reset_lab(course, workspace, lab)
    print(f"{lab}: a fresh copy is in {workspace.notebook(lab)}")
    if kept is not None:
        print(f"{lab}: your old notebook is kept as {kept}; points once earned stay in `{PROGRAM} progress`")
    return 0


def solution(lab: str, exercise: str, *, folder: Path | None) -> int:
    course, syllabus, workspace = _places(folder)
    _must_be_written(course, syllabus, lab)
    found = read_source(course, lab).exercise(exercise)
    if not Progress(workspace).has_passed(lab, exercise):
        how = f"{PROGRAM} check {lab}"
        print(f"tflabs: our solution of {exercise} is shown once yours has passed: {how}", file=sys.stderr)
        return 1
    console = Console(highlight=False)
    lines = [line for line in found.solution.splitlines() if line.strip() not in _MARKS]
    console.print(Syntax("\n".join(lines), "python", theme="ansi_dark", background_color="default"))
    console.print(Markdown(found.note))
    return 0


_MARKS = ("### BEGIN SOLUTION", "### END SOLUTION")


def _places(folder: Path | None) -> tuple[Course, Syllabus, Workspace]:
    course = find_course()
    return course, read_syllabus(course.syllabus), Workspace((folder or course.root / "work").resolve())


def _must_be_written(course: Course, syllabus: Syllabus, lab: str) -> None:
    syllabus.section(lab)
    if lab not in released_labs(course):
        raise UserError(f"the lab {lab} is not written yet; written are: {', '.join(released_labs(course))}")


def _saved(workspace: Workspace, lab: str) -> Path:
    path = workspace.notebook(lab)
    if not path.exists():
        raise UserError(f"there is no {path}; `{PROGRAM} study` copies the labs there")
    return path


def _begun(course: Course, workspace: Workspace) -> list[str]:
    begun = [lab for lab in released_labs(course) if is_begun(workspace, lab)]
    if not begun:
        raise UserError(f"no lab in {workspace.root} was begun; `{PROGRAM} study` opens them")
    return begun


def _update(status: Status, lab: str, step: str) -> None:
    status.update(f"{lab}: {step}")


def _record(workspace: Workspace, report: Report, err: Console) -> list[str]:
    kept = Progress(workspace)
    fresh = kept.record(report)
    if kept.warning:
        err.print(f"tflabs: {kept.warning}", markup=False)
    return fresh

"""Checks a notebook again each time it is saved, in a kernel forked from a warm process."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from tflabs.course.layout import Course
from tflabs.course.syllabus import Section, Syllabus
from tflabs.errors import UserError
from tflabs.grading.places import Place, place_for_own_work
from tflabs.learning.check import check, read_subject
from tflabs.learning.progress import Progress
from tflabs.learning.show import report_view
from tflabs.learning.workspace import Workspace, is_begun, released_labs

INTERVAL = 0.1  # seconds between two looks at the files


def watch(course: Course, syllabus: Syllabus, workspace: Workspace, labs: list[str], console: Console) -> None:
    """Watch the notebooks of these labs, or of all that are begun, until interrupted; one screen, always current."""
    views: dict[str, RenderableType] = {lab: Text(f"{lab}: waiting for its first check") for lab in labs}
    if not labs and not any(_is_begun(workspace, lab) for lab in released_labs(course)):
        console.print(f"no lab is begun yet; watching {workspace.root}", markup=False, soft_wrap=True)
    try:
        with (
            place_for_own_work((str(course.root),)) as place,
            Live(console=console, screen=console.is_terminal, auto_refresh=False) as live,
        ):

            def show(state: str) -> None:
                hint = Text(f"{state}  (save a notebook to check it again; Ctrl-C ends)", style="dim")
                live.update(Group(*views.values(), hint), refresh=True)

            show("watching")
            for lab in saved(workspace, labs or released_labs(course)):
                if not (labs or _is_begun(workspace, lab)):
                    continue
                result = _checked(course, syllabus, workspace, syllabus.section(lab), place, show)
                with _uninterrupted():  # what is recorded is shown
                    views[lab] = result()
                    show("watching")
    finally:
        if console.is_terminal:  # the screen of the watch is gone, and was perhaps too small for all of it
            console.print(*views.values())


def saved(workspace: Workspace, labs: list[str]) -> Iterator[str]:
    """Names of labs whose notebook is new or was saved since it was last yielded. Never ends."""
    seen: dict[str, tuple[int, int, int]] = {}
    while True:
        for lab in labs:
            stamp = _stamp(workspace.notebook(lab))
            if stamp is not None and stamp != seen.get(lab):
                seen[lab] = stamp
                yield lab
        time.sleep(INTERVAL)


def _is_begun(workspace: Workspace, lab: str) -> bool:
    try:
        return is_begun(workspace, lab)
    except UserError:
        return True  # the check says what is wrong with it


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None  # an editor is replacing it
    return status.st_mtime_ns, status.st_size, status.st_ino


def _checked(
    course: Course, syllabus: Syllabus, workspace: Workspace, section: Section, place: Place, show: object
) -> Callable[[], RenderableType]:
    """Check a lab's notebook; the result records what was passed and gives what to show."""
    started, lab = time.monotonic(), section.id
    kernels = place.kernels(section.preload, section.environment)
    spawn = place.examiner(section.preload, section.environment)
    try:
        subject = read_subject(course, syllabus, workspace.notebook(lab), lab)
        report = check(subject, kernels, spawn, lambda step: show(f"{lab}: {step}"))  # type: ignore[operator]
    except UserError as error:
        words = f"{lab}: {error}"
        return lambda: Text(words, style="red")

    def recorded() -> RenderableType:
        try:
            newly_passed = Progress(workspace).record(report)
        except UserError as error:
            return Text(f"{lab}: {error}", style="red")
        seconds = Text(f"checked in {time.monotonic() - started:.1f} s\n", style="dim")
        return Group(report_view(report, subject.lab, newly_passed), seconds)

    return recorded


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C takes effect at the end of the block."""
    came = []
    before = signal.signal(signal.SIGINT, lambda *_: came.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        raise KeyboardInterrupt

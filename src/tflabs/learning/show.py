"""How results look in a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Group, RenderableType
from rich.markdown import Markdown
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tflabs.course.lab import Lab
from tflabs.course.syllabus import Section, Syllabus
from tflabs.grading.grade import UNANSWERED
from tflabs.grading.report import Report
from tflabs.learning.progress import Progress
from tflabs.program import PROGRAM


def report_view(report: Report, lab: Lab, newly_passed: Iterable[str] = ()) -> RenderableType:
    """A table of exercises with the reason for each lost point, then what was repaired, then what was just proved."""
    table = Table(title=f"{lab.id} · {lab.title}", title_justify="left", title_style="bold", expand=False)
    table.add_column("exercise")
    table.add_column("points", justify="right", no_wrap=True)
    table.add_column("what is missing", overflow="fold")
    for exercise in report.exercises:
        messages = "\n".join(test.message for test in exercise.tests if test.message)
        mark = "✓" if exercise.passed else "·" if messages == UNANSWERED else "✗"
        style = "green" if exercise.passed else ""
        table.add_row(
            Text(f"{mark} {exercise.title}\n", style=style).append(exercise.id, style="dim"),
            f"{exercise.points:g} of {exercise.max_points:g}",
            Text(messages),
        )
    parts: list[RenderableType] = [table, Text(f"{report.points:g} of {report.max_points:g} points", style="bold")]
    parts += [Text(f"repaired: {repair}") for repair in report.repairs]
    parts += [Text(f"note: {note}") for note in report.notes]
    fresh = set(newly_passed)
    for passed in (exercise for exercise in lab.exercises if exercise.id in fresh):
        parts.append(Text(f"\nPassed: {passed.title}", style="bold green"))
        parts.append(Padding(Markdown(passed.note), (0, 0, 0, 2)))
        parts.append(Text(f"  Our solution: {PROGRAM} solution {lab.id} {passed.id}", style="dim"))
    return Group(*parts)


def progress_view(syllabus: Syllabus, progress: Progress, written: list[str]) -> RenderableType:
    """The course as a table: what is done, what is next."""
    table = Table(expand=False)
    table.add_column("lab")
    table.add_column("points", justify="right", no_wrap=True)
    table.add_column("minutes", justify="right")
    for unit in syllabus.units:
        table.add_row(Text(f"Unit {unit.id} · {unit.title}", style="bold"), "", "")
        for section in unit.sections:
            table.add_row(*_lab_row(section, progress, section.id in written))
    upcoming = next_lab(syllabus, progress, written)
    line = "everything that is written is done" if upcoming is None else f"next: {upcoming.id} · {upcoming.title}"
    return Group(table, Text(line, style="bold"))


def next_lab(syllabus: Syllabus, progress: Progress, written: list[str]) -> Section | None:
    """The first written lab that is not done; one that was begun comes before one that was not."""
    open_labs = [section for section in syllabus.sections if section.id in written and not is_done(section, progress)]
    begun = [section for section in open_labs if progress.points(section.id)]
    return next(iter(begun or open_labs), None)


def is_done(section: Section, progress: Progress) -> bool:
    return progress.points(section.id) == section.points


def _lab_row(section: Section, progress: Progress, is_written: bool) -> tuple[RenderableType, str, str]:
    if not is_written:
        return Text(f"  {section.id} · {section.title}", style="dim"), "", "not written yet"
    points = progress.points(section.id)
    mark = "✓" if is_done(section, progress) else "…" if points is not None else " "
    shown = f"{points or 0:g} of {section.points}"
    return Text(f"{mark} {section.id} · {section.title}"), shown, str(section.minutes)

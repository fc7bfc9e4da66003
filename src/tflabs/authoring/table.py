"""The table of labs in the README, made from the syllabus."""

from __future__ import annotations

from tflabs.course.syllabus import Section, Syllabus
from tflabs.errors import UserError

BEGIN, END = "<!-- labs: begin -->", "<!-- labs: end -->"


def readme_with_table(readme: str, syllabus: Syllabus) -> str:
    """The README's text with the table between its two marks made anew.

    Raises:
        UserError: the marks are not there.
    """
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise UserError(f"README.md has no place for the table of labs: put {BEGIN} and {END} into it")
    return f"{before}{BEGIN}\n{table(syllabus)}\n{END}{after}"


def table(syllabus: Syllabus) -> str:
    """A Markdown table: one row a lab, grouped by unit. A lab that is not written yet has no link."""
    rows = ["| lab | question | minutes | points |", "| --- | --- | ---: | ---: |"]
    for unit in syllabus.units:
        rows.append(f"| **Unit {unit.id} · {unit.title}** ({unit.original}) | | | |")
        rows += [_row(section) for section in unit.sections]
    return "\n".join(rows)


def _row(section: Section) -> str:
    if not section.points:
        return f"| {section.id} · {section.title} | *to be written* | | |"
    link = f"[{section.id}](labs/{section.id}/{section.id}.py) · {section.title}"
    return f"| {link} | {section.question} | {section.minutes} | {section.points} |"

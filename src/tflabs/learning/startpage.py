"""The start page `work/start.ipynb`: the course as a map, with a link to open and a button to check each lab."""

from __future__ import annotations

import html
import json
import subprocess
import sys
import threading
from datetime import datetime
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from tflabs.course.build import read_source
from tflabs.course.layout import Course, find_course
from tflabs.course.syllabus import Section, Syllabus, Unit, read_syllabus
from tflabs.errors import UserError
from tflabs.grading.grade import UNANSWERED
from tflabs.learning.progress import Progress
from tflabs.learning.show import is_done, next_lab
from tflabs.learning.workspace import Workspace, released_labs
from tflabs.program import PROGRAM

SOURCE = "from tflabs.learning.startpage import start_page\n\nstart_page()"
HOW = (
    "Write your answers in a lab's notebook and save it; Check then grades the notebook as it is saved, with the tests "
    "that you see and others that you do not."
)


def start_page() -> Any:
    """The map as a widget, for the learner's folder that this kernel works in."""
    course = find_course()
    return StartPage(course, read_syllabus(course.syllabus), Workspace(Path.cwd())).widget


class StartPage:
    """The widgets of the map, and what happens when one is pressed."""

    def __init__(self, course: Course, syllabus: Syllabus, workspace: Workspace) -> None:
        self.course, self.syllabus, self.workspace = course, syllabus, workspace
        released = released_labs(course)
        self.written = [section for section in syllabus.sections if section.id in released]
        self.head = widgets.Output()
        self.labels = {section.id: widgets.HTML(layout={"flex": "1 1 auto", "margin": "0"}) for section in self.written}
        self.results = {section.id: widgets.Output(layout={"margin": "0 0 0 1.4em"}) for section in self.written}
        self.widget = widgets.VBox(
            [self.head, *(self._unit(unit) for unit in syllabus.units)], layout={"max_width": "60em"}
        )
        self.refresh()

    def refresh(self) -> None:
        """Show the progress as it is on disk now."""
        progress = Progress(self.workspace)
        show(self.head, self._head(progress))
        for section in self.written:
            self.labels[section.id].value = _label(section, progress)

    def check(self, lab: str, button: Any) -> None:
        """Check a lab in a process of its own; the page stays usable."""
        button.disabled, button.description = True, "checking …"
        self.results[lab].outputs = ()

        def work() -> None:
            try:
                show(self.results[lab], check_result(lab, self.course, self.workspace))
                self.refresh()
            except (OSError, UserError) as error:
                show(self.results[lab], f"<pre>{html.escape(str(error))}</pre>")
            finally:
                button.disabled, button.description = False, "Check"

        threading.Thread(target=work, daemon=True).start()

    def _unit(self, unit: Unit) -> Any:
        title = widgets.HTML(f"<h3 style='margin: 1em 0 0.2em'>Unit {unit.id} · {html.escape(unit.title)}</h3>")
        rows = [self._row(section) for section in unit.sections if section in self.written]
        later = [section.id for section in unit.sections if section not in self.written]
        if later:
            rows.append(widgets.HTML(_line(f"Not written yet: {', '.join(later)}", opacity=0.6)))
        return widgets.VBox([title, *rows])

    def _row(self, section: Section) -> Any:
        button = widgets.Button(
            description="Check", tooltip=f"Grade {section.id} as it is saved", layout={"width": "7em", "margin": "0"}
        )
        button.on_click(lambda button: self.check(section.id, button))
        opener = widgets.Output(layout={"width": "4.5em", "margin": "0"})
        show(opener, link(section.id, "Open"))
        row = widgets.HBox([self.labels[section.id], opener, button], layout={"align_items": "center"})
        return widgets.VBox([row, self.results[section.id]])

    def _head(self, progress: Progress) -> str:
        done = sum(progress.points(section.id) or 0 for section in self.written)
        total = sum(section.points for section in self.written)
        upcoming = next_lab(self.syllabus, progress, [section.id for section in self.written])
        line = (
            "Everything is done."
            if upcoming is None
            else f"Next: {link(upcoming.id, f'{upcoming.id} · {upcoming.title}')}"
        )
        warning = f"\n<p>{html.escape(progress.warning)}</p>" if progress.warning else ""
        return f"<h2>TensorFlow Internals Labs</h2>\n<p>{done:g} of {total} points. {line}</p>\n<p>{HOW}</p>{warning}"


def _label(section: Section, progress: Progress) -> str:
    points = progress.points(section.id)
    mark = "✓" if is_done(section, progress) else "…" if points is not None else "○"
    facts = f"{points or 0:g} of {section.points} points · {section.minutes} minutes"
    facts = f"<span style='float: right; margin: 0 1.5em; opacity: 0.75'>{facts}</span>"
    return _line(f"{facts}{mark} <b>{section.id}</b> · {html.escape(section.title)}")


def _line(text: str, opacity: float = 1) -> str:
    return f"<div style='line-height: 1.6; opacity: {opacity}'>{text}</div>"


def link(lab: str, text: str) -> str:
    """A link to a lab. JupyterLab opens it in a tab of its own where it stands in an output."""
    return f'<a href="{lab}/{lab}.ipynb">{html.escape(text)}</a>'


def show(output: Any, markdown: str) -> None:
    """Make text, Markdown with HTML in it, all that an output widget shows."""
    data = {"text/markdown": markdown, "text/plain": markdown}
    output.outputs = ({"output_type": "display_data", "data": data, "metadata": {}},)


def check_result(lab: str, course: Course, workspace: Workspace) -> str:
    """Check a lab and say in Markdown what became of each exercise.

    Raises:
        OSError: there is no notebook of the lab.
        UserError: the lab itself cannot be read.
    """
    saved = datetime.fromtimestamp(workspace.notebook(lab).stat().st_mtime)
    command = [sys.executable, "-m", "tflabs", "check", lab, "--json", "--dir", str(workspace.root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        report = json.loads(done.stdout)
    except json.JSONDecodeError:
        return f"<pre>{html.escape(done.stderr.strip() or 'the check gave no result')}</pre>"
    parts = [f"<p>Graded as saved at {saved:%H:%M:%S}: {report['points']:g} of {report['max_points']:g} points.</p>"]
    parts += [f"<p>{html.escape(line)}</p>" for line in (*report["repairs"], *report["notes"])]
    notes = {exercise.id: exercise.note for exercise in read_source(course, lab).exercises}
    parts += [_exercise(lab, exercise, notes.get(exercise["id"], "")) for exercise in report["exercises"]]
    return "\n\n".join(parts)


def _exercise(lab: str, exercise: dict[str, Any], note: str) -> str:
    points = f"{exercise['points']:g} of {exercise['max_points']:g}"
    title = f"<b>{html.escape(exercise['title'])}</b> · {points}"
    messages = [test["message"] for test in exercise["tests"] if test["message"]]
    if not messages:
        how = f"Our solution: `{PROGRAM} solution {lab} {exercise['id']}`"
        return f"<details><summary>✓ {title}</summary>\n\n{note}\n\n{how}\n\n</details>"
    mark = "·" if messages == [UNANSWERED] else "✗"
    words = html.escape("\n".join(messages)).replace("\n", "<br>")
    return f"<div style='margin: 0.6em 0'>{mark} {title}<br>{words}</div>"

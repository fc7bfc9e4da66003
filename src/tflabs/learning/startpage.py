"""The start page `work/start.ipynb`: the course as a map, with a button to open and one to check each lab."""

from __future__ import annotations

import html
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from tflabs.course.layout import Course, find_course
from tflabs.course.syllabus import Section, Syllabus, Unit, read_syllabus
from tflabs.learning.progress import Progress
from tflabs.learning.show import is_done, next_lab
from tflabs.learning.workspace import Workspace, released_labs

SOURCE = "from tflabs.learning.startpage import start_page\n\nstart_page()"


def start_page() -> Any:
    """The map as a widget, for the learner's folder that this kernel works in."""
    course = find_course()
    return StartPage(course, read_syllabus(course.syllabus), Workspace(Path.cwd())).widget


class StartPage:
    """The widgets of the map, and what happens when one is pressed."""

    def __init__(self, course: Course, syllabus: Syllabus, workspace: Workspace) -> None:
        self.course, self.syllabus, self.workspace = course, syllabus, workspace
        self.written = released_labs(course)
        self.head = widgets.HTML()
        self.labels = {
            section.id: widgets.HTML(layout={"flex": "0 1 40em", "margin": "0"}) for section in syllabus.sections
        }
        self.details = {section.id: widgets.HTML() for section in syllabus.sections}
        self.widget = widgets.VBox([self.head, *(self._unit(unit) for unit in syllabus.units)])
        self.refresh()

    def refresh(self) -> None:
        """Show the progress as it is on disk now."""
        progress = Progress(self.workspace)
        self.head.value = self._head(progress)
        for section in self.syllabus.sections:
            self.labels[section.id].value = self._label(section, progress)

    def check(self, lab: str, button: Any) -> None:
        """Check a lab in a process of its own; the page stays usable."""
        button.disabled, button.description = True, "checking …"
        self.details[lab].value = ""

        def work() -> None:
            self.details[lab].value = check_result(lab, self.workspace)
            button.disabled, button.description = False, "Check"
            self.refresh()

        threading.Thread(target=work, daemon=True).start()

    def _unit(self, unit: Unit) -> Any:
        title = widgets.HTML(f"<h3 style='margin: 1em 0 0.2em'>Unit {unit.id} · {html.escape(unit.title)}</h3>")
        return widgets.VBox([title, *(self._row(section) for section in unit.sections)])

    def _row(self, section: Section) -> Any:
        parts = [self.labels[section.id]]
        if section.id in self.written:
            button = widgets.Button(description="Check", tooltip=f"Grade {section.id} as it is saved")
            button.on_click(lambda button: self.check(section.id, button))
            parts += [open_link(section.id), button]
        row = widgets.HBox(parts, layout={"align_items": "center"})
        return widgets.VBox([row, self.details[section.id]])

    def _head(self, progress: Progress) -> str:
        done = sum(progress.points(section.id) or 0 for section in self.syllabus.sections)
        total = sum(section.points for section in self.syllabus.sections)
        upcoming = next_lab(self.syllabus, progress, self.written)
        line = (
            "Everything is done." if upcoming is None else f"Next: <b>{upcoming.id} · {html.escape(upcoming.title)}</b>"
        )
        warning = f"<p>{html.escape(progress.warning)}</p>" if progress.warning else ""
        return f"<h2>TensorFlow Internals Labs</h2><p>{done:g} of {total} points. {line}</p>{warning}"

    def _label(self, section: Section, progress: Progress) -> str:
        name = f"{section.id} · {html.escape(section.title)}"
        if section.id not in self.written:
            return _line(f"<span style='opacity: 0.6'>{name} · not written yet</span>")
        points = progress.points(section.id)
        mark = "✓" if is_done(section, progress) else "…" if points is not None else "○"
        facts = f"{points or 0:g} of {section.points} points · {section.minutes} minutes"
        return _line(f"{mark} <b>{name}</b> &nbsp; <span style='opacity: 0.75'>{facts}</span>")


LINK = "text-decoration: none; margin: 0"


def _line(text: str) -> str:
    return f"<div style='line-height: 1.6'>{text}</div>"


def open_link(lab: str) -> Any:
    """A link that JupyterLab opens in a tab of its own: an output's links go through its document manager."""
    link = f'<a href="{lab}/{lab}.ipynb" class="jupyter-button lm-Widget" style="{LINK}">Open</a>'
    output = {
        "output_type": "display_data",
        "data": {"text/html": link, "text/plain": f"{lab}/{lab}.ipynb"},
        "metadata": {},
    }
    return widgets.Output(outputs=(output,), layout={"width": "5em", "margin": "0"})


def check_result(lab: str, workspace: Workspace) -> str:
    """Check a lab and say in HTML what is missing."""
    command = [sys.executable, "-m", "tflabs", "check", lab, "--json", "--dir", str(workspace.root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        report = json.loads(done.stdout)
    except json.JSONDecodeError:
        return f"<pre>{html.escape(done.stderr.strip() or 'the check gave no result')}</pre>"
    missing = [
        f"<li><b>{html.escape(exercise['title'])}</b>: {html.escape(test['message'])}</li>"
        for exercise in report["exercises"]
        for test in exercise["tests"]
        if test["message"]
    ]
    return f"<ul>{''.join(missing)}</ul>" if missing else "<p>All points.</p>"

"""Formgrader in JupyterLab, on a course with our configuration: its button grades as `nbgrader autograde` does."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest
from chromium import MARKS, keep
from playwright.sync_api import BrowserContext, FrameLocator, expect

import toy
from spoilt import environment, nbgrader
from tflabs.course.files import read_notebook
from tflabs.course.layout import Course
from waiting import eventually

pytestmark = MARKS
# Stock nbgrader gives the first no points, for what it writes to stderr, and the second no grade at all.
SUBMISSIONS = {
    "noisy": (
        5,
        "import operator, sys\ndef double(x):\n    print('careful', file=sys.stderr)\n    return x + operator.index(x)",
    ),
    "exits": (1, "import os\ndef double(x): os._exit(0)"),
}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A released lab and what two students have handed in."""
    course = toy.make_course(tmp_path_factory.mktemp("formgrader") / "course")
    nbgrader(course, "generate_assignment", toy.LAB, "--force")
    for student, (_, double) in SUBMISSIONS.items():
        notebook = toy.learner_notebook(course, guess="guessed = 4", double=double)
        toy.save(notebook, course.root / "submitted" / student / toy.LAB / f"{toy.LAB}.ipynb")
    return course


@pytest.fixture(scope="module")
def url(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """JupyterLab's, started in the course's folder."""
    home = tmp_path_factory.mktemp("home")
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--port=0"]
    settings = home / "settings" / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"checkForUpdates": false, "fetchNews": "false"}', encoding="utf-8")
    variables = environment(course) | {
        "HOME": str(home),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
    }
    with (home / "log").open("wb") as log:
        server = subprocess.Popen(command, cwd=course.root, env=variables, stdout=log, stderr=log)
    try:
        described = home / "runtime" / f"jpserver-{server.pid}.json"
        assert eventually(lambda: described.is_file() and described.read_text().endswith("}"), 60.0)
        found = json.loads(described.read_text())
        yield f"{found['url']}lab?token={found['token']}"
    finally:
        server.terminate()
        server.wait(30)


def test_the_button_grades_by_our_path(browser: BrowserContext, course: Course, url: str) -> None:
    page = browser.new_page()
    page.set_default_timeout(60_000)
    page.goto(url)
    page.get_by_role("menuitem", name="Nbgrader", exact=True).click()
    page.locator(".lm-Menu-item:visible", has=page.get_by_text("Formgrader", exact=True)).click()
    formgrader = page.frame_locator("iframe[src*='formgrader']")
    formgrader.locator("td.num-submissions a").click()
    for student, (points, _) in SUBMISSIONS.items():
        grade(formgrader, student)
        expect(formgrader.locator("tr", has_text=student).locator("td.score")).to_have_text(f"{points} / 5")
    keep(page, "formgrader")
    graded = read_notebook(course.root / "autograded" / "exits" / toy.LAB / f"{toy.LAB}.ipynb")
    (error,) = [output for cell in graded.cells for output in cell.get("outputs", []) if output.output_type == "error"]
    assert error.evalue == "it ended the kernel: the process exited, crashed, or ran out of memory"
    page.close()


def grade(formgrader: FrameLocator, student: str) -> None:
    """Press the button of a student's submission, and wait for what it says."""
    formgrader.locator("tr", has_text=student).locator("td.autograde a").click()
    told = formgrader.locator(".modal-dialog:visible")
    expect(told).to_contain_text(f"Successfully autograded '{toy.LAB}' for student '{student}'.", timeout=60_000)
    told.locator(".modal-footer button").click()
    expect(told).to_have_count(0)

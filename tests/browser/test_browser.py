"""The course in a real browser: `study` opens JupyterLab, and every solved lab runs clean, in light and in dark."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
from chromium import MARKS, keep
from playwright.sync_api import BrowserContext, Page

import toy
from tflabs.authoring.solved import solved
from tflabs.course.build import read_source
from tflabs.course.files import notebook_text
from tflabs.course.layout import Course
from tflabs.grading.grade import with_full_tests

LABS = Course(toy.ROOT).written_labs()
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
MOST_MIB = 2048

pytestmark = MARKS


@dataclass(frozen=True)
class Site:
    """A running `tflabs study` on a folder in which every lab is solved."""

    url: str
    folder: Path
    process: psutil.Process

    def address(self, notebook: str) -> str:
        """Of a notebook alone: a workspace of its own, for JupyterLab opens again what a workspace had open."""
        name = Path(notebook).stem
        return self.url.replace("/lab/tree/start.ipynb?", f"/lab/workspaces/{name}/tree/{notebook}?")

    def peak_mib(self) -> float:
        """The most memory that one kernel has held so far."""
        peaks = [0.0]
        for process in self.process.children(recursive=True):
            with contextlib.suppress(psutil.Error, OSError):
                if "ipykernel_launcher" in process.cmdline():
                    status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
                    peaks.append(int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) / 1024)
        return max(peaks)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("study")
    course = Course(toy.ROOT)
    for lab in LABS:
        path = folder / "work" / lab / f"{lab}.ipynb"
        path.parent.mkdir(parents=True)
        # With the hidden tests: they too must run clean in a new kernel, after every figure above them.
        notebook = with_full_tests(solved(course, lab), read_source(course, lab))
        path.write_text(notebook_text(notebook), encoding="utf-8")
    command = [sys.executable, "-m", "tflabs", "study", "--no-browser", "--dir", str(folder / "work")]
    study = subprocess.Popen(command, env=environment(folder), stderr=subprocess.PIPE, text=True)
    try:
        assert study.stderr is not None
        url = next(match[0] for line in study.stderr if (match := re.search(r"http://\S+", line)))
        yield Site(url, folder / "work", psutil.Process(study.pid))
    finally:
        study.terminate()
        study.communicate(timeout=30)


def environment(home: Path) -> dict[str, str]:
    """A home of its own, and no cell left undrawn because it is out of view."""
    settings = home / "settings" / "@jupyterlab"
    for plugin, values in {
        "apputils-extension/themes": {"theme": THEMES["light"]},
        "notebook-extension/tracker": {"windowingMode": "none"},
    }.items():
        path = settings / f"{plugin}.jupyterlab-settings"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(values), encoding="utf-8")
    return os.environ | {"HOME": str(home), "JUPYTERLAB_SETTINGS_DIR": str(home / "settings")}


@pytest.fixture
def page(browser: BrowserContext, site: Site) -> Iterator[Page]:
    opened = browser.new_page()
    opened.set_default_timeout(30_000)
    yield opened
    opened.close()


def themes(page: Page) -> Iterator[str]:
    """The name of the theme that is on, and of the other one while that is on; it stays."""
    was_light = page.locator("body[data-jp-theme-light=true]").count() == 1
    yield "light" if was_light else "dark"
    other = "dark" if was_light else "light"
    page.get_by_role("menuitem", name="Settings", exact=True).click()
    for label in ("Theme", THEMES[other]):
        page.locator(".lm-Menu-item:visible", has=page.get_by_text(label, exact=True)).click()
    page.wait_for_selector(f"body[data-jp-theme-light={str(not was_light).lower()}]", state="attached")
    page.wait_for_timeout(500)  # the style sheet of the theme is on its way
    yield other


def test_the_start_page_shows_the_map_and_its_buttons_work(page: Page, site: Site) -> None:
    page.goto(site.url)
    page.wait_for_selector("text=TensorFlow Internals Labs")
    for unit in ("System architecture", "Programming model", "Inside the runtime", "Compilers and hardware"):
        assert page.locator(f"h3:has-text('{unit}')").count() == 1
    for theme in themes(page):
        keep(page, f"start-{theme}")
    row = page.locator(".widget-hbox", has_text=LABS[0])
    row.get_by_role("button", name="Check").click()
    page.wait_for_selector("text=Graded as saved at", timeout=180_000)
    assert re.search(r"✓\s*" + LABS[0], row.inner_text())
    passed = page.locator("details", has_text="✓")
    assert passed.count() == len(read_source(Course(toy.ROOT), LABS[0]).exercises)
    passed.first.locator("summary").click()
    assert f"solution {LABS[0]}" in passed.first.inner_text()
    keep(page, "start-checked")
    row.get_by_role("link", name="Open").click()
    page.wait_for_function(f"location.pathname.endsWith('{LABS[0]}/{LABS[0]}.ipynb')")
    page.wait_for_selector(".jp-Notebook:visible h1")


@pytest.mark.many
@pytest.mark.parametrize("lab", LABS)
def test_a_solved_lab_runs_clean_and_its_pictures_are_whole(page: Page, site: Site, lab: str) -> None:
    page.goto(site.address(f"{lab}/{lab}.ipynb"))
    run_all(page)
    notebook = page.locator(".jp-Notebook:visible")
    assert notebook.locator("[data-mime-type='application/vnd.jupyter.error']").all_inner_texts() == []
    assert notebook.locator("[data-mime-type='application/vnd.jupyter.stderr']").all_inner_texts() == []
    assert 100 < site.peak_mib() < MOST_MIB
    widgets = notebook.locator(".jp-OutputArea .jupyter-widgets")
    assert widgets.count(), "the lab has nothing to play with"
    assert move_a_widget(page), "no control changes what is shown"
    assert page.evaluate(CUT_BUTTONS) == []
    assert page.get_by_text("Validate", exact=True).count() == 0  # nbgrader's button knows no hidden tests
    for theme in themes(page):
        pictures = page.evaluate(PICTURES)
        assert pictures, "the lab shows no picture"
        assert [picture for picture in pictures if not picture["whole"]] == [], theme
        assert [picture for picture in pictures if not picture["alt"]] == [], theme
        screenshots_of_outputs(page, f"{lab}-{theme}")


# Every image of an output: drawn, not cut by a box that does not scroll, and with words for who cannot see it.
PICTURES = """
() => [...document.querySelectorAll(".jp-Notebook .jp-OutputArea-output img, .jp-Notebook .jp-OutputArea-output svg")]
  .filter(picture => picture.getBoundingClientRect().width > 40)
  .map(picture => {
    let whole = picture.tagName !== "IMG" || (picture.complete && picture.naturalWidth > 0);
    const box = picture.getBoundingClientRect();
    for (let parent = picture.parentElement; parent && !parent.matches(".jp-Notebook"); parent = parent.parentElement) {
      const style = getComputedStyle(parent), outer = parent.getBoundingClientRect();
      const hidden = style.overflowX === "hidden" || style.overflowX === "clip";
      if (hidden && box.right > outer.right + 1) whole = false;
      if (style.overflowX === "auto" || style.overflowX === "scroll") break;
    }
    const alt = picture.getAttribute("alt") || picture.getAttribute("aria-label") ||
      picture.querySelector?.("title")?.textContent || "";
    return {whole, alt, width: box.width, height: box.height};
  })
"""


# Words of buttons that do not fit into them.
CUT_BUTTONS = """
() => [...document.querySelectorAll(".jp-Notebook .jp-OutputArea button.jupyter-button")]
  .filter(button => button.scrollWidth > button.clientWidth + 1)
  .map(button => button.textContent)
"""


def run_all(page: Page) -> None:
    page.wait_for_selector(".jp-Notebook:visible .jp-CodeCell")
    # The status bar knows the kernel last; whoever runs a cell before that is asked which kernel to take.
    page.locator("#jp-main-statusbar", has_text=re.compile(r"Python 3 \(ipykernel\) \| Idle")).wait_for()
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status='idle']:visible")
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    page.wait_for_function(ALL_DONE, timeout=300_000, polling=500)  # not at each frame: it walks the whole page


ALL_DONE = """
() => {
  const shown = [...document.querySelectorAll(".jp-Notebook")].filter(notebook => notebook.offsetParent !== null);
  const cells = shown.flatMap(notebook => [...notebook.querySelectorAll(".jp-CodeCell")]);
  return cells.length > 0 && cells.every(cell => /\\[\\d+\\]/.test(cell.querySelector(".jp-InputPrompt").textContent));
}
"""


def move_a_widget(page: Page) -> bool:
    """Try the controls of the last figure until one of them changes what the figure shows."""
    figure = page.locator(".jp-Notebook:visible .jp-OutputArea:has(.jupyter-widgets)").last
    figure.scroll_into_view_if_needed()
    before = figure.inner_html()
    controls: list[Any] = figure.locator("button:visible:not([disabled])").all()
    for control in controls:
        control.click()
        if changed(page, figure, before):
            return True
    for slider in figure.locator(".noUi-handle:visible").all():
        slider.focus()
        page.keyboard.press("ArrowRight")
        if changed(page, figure, before):
            return True
    return False


def changed(page: Page, figure: Any, before: str) -> bool:
    for _ in range(20):
        page.wait_for_timeout(100)
        if figure.inner_html() != before:
            return True
    return False


def screenshots_of_outputs(page: Page, name: str) -> None:
    if os.environ.get("TFLABS_SCREENSHOTS"):
        outputs = page.locator(".jp-Notebook:visible .jp-OutputArea-output:has(img, svg, .jupyter-widgets)").all()
        for number, output in enumerate(outputs):
            output.scroll_into_view_if_needed()
            keep(page, f"{name}-{number:02}")

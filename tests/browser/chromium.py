"""Debian's chromium, for tests that see the course as its users do.

Set TFLABS_SCREENSHOTS to a folder to keep what the browser showed.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Page

CHROMIUM = shutil.which("chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
MARKS = [
    pytest.mark.browser,
    pytest.mark.xdist_group("browser"),
    pytest.mark.skipif(CHROMIUM is None and not os.environ.get("CI"), reason="Debian's package `chromium` is missing"),
]


def keep(page: Page, name: str) -> None:
    folder = os.environ.get("TFLABS_SCREENSHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=str(Path(folder) / f"{name}.png"))

"""The browser of the tests in this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from chromium import CHROMIUM, FLAGS
from playwright.sync_api import BrowserContext, sync_playwright


@pytest.fixture(scope="module")
def browser() -> Iterator[BrowserContext]:
    """One context for all tests of a module: what JupyterLab loads is in its cache after the first."""
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield running.new_context(viewport={"width": 1280, "height": 1000})
        running.close()

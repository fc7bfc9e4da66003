"""Some hostile and some honest submissions, graded by an ordinary user, and the search for a planted secret."""

from __future__ import annotations

from pathlib import Path

import pytest

import ordinary

HERE = Path(__file__).parent
# Some of each kind that depends on who grades: files, processes, memory, devices, what is left behind.
HOSTILE = (
    *("reads-gradebook", "looks-in-every-file", "reads-environment", "reads-memory-of-processes", "writes-gradebook"),
    *("kills-everything", "kills-its-parents", "kills-a-process", "connects-to-an-abstract-socket", "becomes-root"),
    *("goes-on-as-a-daemon", "goes-on-with-ignored-signals", "fork-bomb", "memory-in-the-answer"),
    *("patches-the-agent-for-the-witness", "equal-to-everything", "a-link-to-the-gradebook", "a-pipe"),
)
OTHERS = ("a_page_that_shows", "crlf", "planted_secret_is_nowhere")
UNDER_LANDLOCK = (
    *("looks-in-every-file", "kills-everything", "connects-to-an-abstract-socket", "goes-on-as-a-daemon"),
    *("equal-to-everything", "patches-the-agent-for-the-witness", "planted_secret_is_nowhere"),
)


@ordinary.only_root
@pytest.mark.timeout(900)
@pytest.mark.parametrize("backend", ["auto", "landlock"])
def test_submissions_are_graded_alike_by_an_ordinary_user(backend: str) -> None:
    ordinary.need(backend)
    tests = [str(HERE / name) for name in ("hostile", "honest", "test_grading_secrets.py")]
    selected = UNDER_LANDLOCK if backend == "landlock" else HOSTILE + OTHERS
    ordinary.passes("-n", "0", "-k", " or ".join(selected), *tests, TFLABS_TEST_BACKEND=backend)

"""The build: the same bytes everywhere, the same notebook as stock nbgrader, and a word on what is stale."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import toy
from spoilt import BINARIES, nbgrader
from tflabs.course.build import build_lab, read_source
from tflabs.course.layout import Course
from tflabs.errors import UserError


def test_student_version_has_stubs_and_visible_tests_only(course: Course) -> None:
    text = course.release(toy.LAB).read_text(encoding="utf-8")
    assert "raise NotImplementedError()" in text
    for secret in ("BEGIN SOLUTION", "BEGIN HIDDEN", "x + x", "SystemRandom", "A sum is enough", "after_passing"):
        assert secret not in text


def test_cell_ids_are_grade_ids_or_come_from_the_text(course: Course) -> None:
    cells = json.loads(course.source(toy.LAB).read_text(encoding="utf-8"))["cells"]
    for cell in cells:
        if "nbgrader" in cell["metadata"]:
            assert cell["id"] == cell["metadata"]["nbgrader"]["grade_id"]
    assert len({cell["id"] for cell in cells}) == len(cells)
    assert not any("lines_to_next_cell" in cell["metadata"] for cell in cells)


def test_building_twice_changes_nothing(course: Course) -> None:
    built = build_lab(course, toy.LAB)
    assert built.stale() == []
    assert built.write() == []


@pytest.mark.parametrize("seed", ["1", "77"])
def test_bytes_do_not_depend_on_machine_or_day(tmp_path: Path, course: Course, seed: str) -> None:
    other = toy.make_course(tmp_path / f"elsewhere-{seed}" / "deeper", build=False)
    environment = os.environ | {"PYTHONHASHSEED": seed, "TZ": "Asia/Tokyo", "LANG": "C", "HOME": str(tmp_path)}
    program = (
        "import sys, time; from pathlib import Path\n"
        "clock = time.time; time.time = lambda: clock() + 1e8\n"
        "from tflabs.course.build import build_lab; from tflabs.course.layout import Course\n"
        "build_lab(Course(Path(sys.argv[1])), sys.argv[2]).write()"
    )
    subprocess.run([sys.executable, "-c", program, str(other.root), toy.LAB], env=environment, check=True)
    assert other.source(toy.LAB).read_bytes() == course.source(toy.LAB).read_bytes()
    assert other.release(toy.LAB).read_bytes() == course.release(toy.LAB).read_bytes()


def test_stock_nbgrader_generates_the_same_student_version(course: Course) -> None:
    ours = course.release(toy.LAB).read_bytes()
    shutil.rmtree(course.root / "release")
    nbgrader(course, "generate_assignment", toy.LAB)
    assert course.release(toy.LAB).read_bytes() == ours


def test_an_edit_of_the_notebook_flows_back_to_the_text(course: Course) -> None:
    shutil.copy(toy.ROOT / "jupytext.toml", course.root)
    source = course.source(toy.LAB)
    source.write_text(source.read_text(encoding="utf-8").replace("Twice two is four.", "Four, then."), encoding="utf-8")
    os.utime(course.text(toy.LAB), (0, 0))
    subprocess.run([BINARIES / "jupytext", "--sync", source], cwd=course.root, check=True)
    assert course.text(toy.LAB).read_text(encoding="utf-8") == toy.TEXT.replace("Twice two is four.", "Four, then.")


def test_an_edit_in_jupyterlab_flows_back_to_the_text(course: Course, tmp_path: Path) -> None:
    shutil.copy(toy.ROOT / "jupytext.toml", course.root)
    with jupyter_server(course.root, tmp_path) as contents:
        address = f"source/{toy.LAB}/{toy.LAB}.ipynb"
        model = contents("GET", address)
        for cell in model["content"]["cells"]:
            cell["source"] = cell["source"].replace("Twice two is four.", "Four, then.")
        contents("PUT", address, {key: model[key] for key in ("type", "format", "content")})
    assert course.text(toy.LAB).read_text(encoding="utf-8") == toy.TEXT.replace("Twice two is four.", "Four, then.")


@contextlib.contextmanager
def jupyter_server(root: Path, home: Path) -> Iterator[Callable[..., Any]]:
    """The server behind JupyterLab, and a function that calls its contents API."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "jupyter_server", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    command += ["--ServerApp.ip=localhost", "--no-browser", "--allow-root"]
    environment = os.environ | {"HOME": str(home), "JUPYTER_TOKEN": "secret"}
    server = subprocess.Popen(command, cwd=root, env=environment, stderr=subprocess.DEVNULL)

    def call(method: str, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        url = f"http://localhost:{port}/api/contents/{path}"
        request = urllib.request.Request(url, data, {"Authorization": "token secret"}, method=method)
        with urllib.request.urlopen(request, timeout=30) as reply:
            return json.load(reply)

    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                call("GET", "")
                break
            except OSError:
                assert server.poll() is None and time.monotonic() < deadline
                time.sleep(0.1)
        yield call
    finally:
        server.terminate()
        server.wait(30)


def test_stale_files_are_named(course: Course) -> None:
    text = course.text(toy.LAB)
    text.write_text(toy.TEXT.replace("twice two", "twice 2"), encoding="utf-8")
    assert build_lab(course, toy.LAB).stale() == [course.source(toy.LAB), course.release(toy.LAB)]
    course.release(toy.LAB).unlink()
    assert course.release(toy.LAB) in build_lab(course, toy.LAB).stale()


def test_the_text_is_brought_into_canonical_form(course: Course) -> None:
    text = course.text(toy.LAB)
    text.write_text(toy.TEXT.replace("\n\n# %% [markdown]", "\n# %% [markdown]"), encoding="utf-8")
    assert text in build_lab(course, toy.LAB).write()
    assert text.read_text(encoding="utf-8") == toy.TEXT


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("### Exercise 2 · Double (4 points)", "Double"), "no heading"),
        (("double-test", "other-test"), "belongs to no exercise"),
        (('after_passing="double"', 'after_passing="triple"'), "unknown exercise 'triple'"),
        (("    ### END SOLUTION\n", ""), "refused"),
        (("# # A toy", "# A toy"), "has no title"),
    ],
)
def test_a_text_that_is_no_lab_is_refused_in_words(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    course = toy.make_course(tmp_path, toy.TEXT.replace(*change), build=False)
    with pytest.raises(UserError, match=message):
        build_lab(course, toy.LAB)


def test_a_lab_that_is_not_built_says_how_to_build_it(tmp_path: Path) -> None:
    course = toy.make_course(tmp_path, build=False)
    with pytest.raises(UserError, match="tflabs build 1-1-toy"):
        read_source(course, toy.LAB)


def test_exercises_are_read_from_the_notebook(course: Course) -> None:
    lab = read_source(course, toy.LAB)
    assert [(exercise.id, exercise.title, exercise.points) for exercise in lab.exercises] == [
        ("guess", "Guess", 1),
        ("double", "Double", 4),
    ]
    assert [exercise.is_built for exercise in lab.exercises] == [False, True]
    assert lab.exercises[1].note == "A sum is enough."

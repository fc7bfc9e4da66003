"""Cells run in cold and in warm kernels alike; what one of them does to the kernel costs that one alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import psutil
import pytest

import toy
from tflabs.course.build import read_source
from tflabs.course.files import read_notebook
from tflabs.course.layout import Course
from tflabs.errors import UserError
from tflabs.grading.boxes import Boxes
from tflabs.grading.grade import grade
from tflabs.grading.kernels import ColdKernels, Kernels
from tflabs.grading.report import Report
from tflabs.grading.run import CellRun, Limits, run_cells


@pytest.fixture(scope="module", params=["unconfined", "cold", "warm"])
def kernels(request: pytest.FixtureRequest) -> Iterator[Kernels]:
    environment = {"TOY": "set"}
    if request.param == "unconfined":
        yield ColdKernels(environment)
        return
    with Boxes((str(toy.ROOT),)) as boxes:
        yield boxes.cold(environment) if request.param == "cold" else boxes.kernels(("json",), environment)


def run(sources: list[str], kernels: Kernels, folder: Path, **limits: Any) -> list[CellRun]:
    return run_cells([nbformat.v4.new_code_cell(source) for source in sources], kernels, folder, Limits(**limits))


def test_cells_share_a_kernel_in_the_folder(kernels: Kernels, tmp_path: Path) -> None:
    runs = run(["import os\na = 1", "print(a, os.getcwd(), os.environ['TOY'])"], kernels, tmp_path)
    assert [cell.state for cell in runs] == ["ok", "ok"]
    folder = str(tmp_path) if isinstance(kernels, ColdKernels) else "/sandbox/work"
    assert runs[1].stdout.split() == ["1", folder, "set"]


def test_errors_and_streams_are_kept(kernels: Kernels, tmp_path: Path) -> None:
    runs = run(["1 / 0", "import sys; print('no', file=sys.stderr)", "def (", "x = 3"], kernels, tmp_path)
    assert [cell.state for cell in runs] == ["error", "ok", "error", "ok"]
    assert (runs[0].ename, runs[0].evalue) == ("ZeroDivisionError", "division by zero")
    assert runs[1].stderr == "no\n"
    assert runs[2].ename == "SyntaxError"


def test_a_cell_that_ends_the_kernel_costs_itself(kernels: Kernels, tmp_path: Path) -> None:
    runs = run(["a = 1", "import os\nos._exit(3)", "print(a)"], kernels, tmp_path)
    assert [cell.state for cell in runs] == ["ok", "died", "ok"]
    assert runs[2].stdout == "1\n"


def test_a_cell_without_an_end_costs_itself(kernels: Kernels, tmp_path: Path) -> None:
    endless = "while True:\n    try:\n        while True: pass\n    except BaseException: pass"
    runs = run(["a = 1", endless, "print(a)"], kernels, tmp_path, cell_seconds=2.0)
    assert [cell.state for cell in runs] == ["ok", "timeout", "ok"]


def test_output_is_capped(kernels: Kernels, tmp_path: Path) -> None:
    (cell,) = run(["print('x' * 10_000)"], kernels, tmp_path, output=100)
    assert len(cell.stdout) < 150 and cell.stdout.endswith("cut off here")


def test_a_flood_of_output_is_dropped_as_it_comes(kernels: Kernels, tmp_path: Path) -> None:
    lines = "for _ in range(300): print('y' * 10_000)"
    shown = "from IPython.display import display, HTML\nfor _ in range(20): display(HTML('z' * 1_000_000))"
    line, many, pictures, after = run(["print('x' * 20_000_000)", lines, shown, "print(1)"], kernels, tmp_path)
    assert [cell.state for cell in (line, many, pictures, after)] == ["ok"] * 4
    assert len(line.stdout) < 201_000 and len(many.stdout) < 201_000
    assert 1 <= len(pictures.shown) <= 5 and after.stdout == "1\n"


def test_memory_is_measured(kernels: Kernels, tmp_path: Path) -> None:
    source = "import time\nheld = bytearray(200 * 2**20)\ntime.sleep(0.3)"
    small, large = run(["pass", source], kernels, tmp_path, measure_memory=True)
    assert 10 < small.peak_mib < 190 < large.peak_mib < 500


def test_no_process_and_no_file_is_left(kernels: Kernels, tmp_path: Path) -> None:
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    run(["a = 1", "import os\nos._exit(3)"], kernels, tmp_path)
    after = {child.pid for child in psutil.Process().children(recursive=True) if child.status() != "zombie"}
    assert after <= before
    assert list(tmp_path.iterdir()) == []


def test_a_warm_kernel_holds_nothing_of_the_one_before(tmp_path: Path) -> None:
    with Boxes() as boxes:
        warm = boxes.kernels(("json",), {})
        first = run(["import json, random\njson.mark = 1\nprint(random.random())"], warm, tmp_path)
        second = run(["import json, random\nprint(random.random(), hasattr(json, 'mark'))"], warm, tmp_path)
    assert second[0].stdout.split()[1] == "False"
    assert second[0].stdout.split()[0] != first[0].stdout.split()[0]


def test_a_module_that_cannot_be_preloaded_is_named() -> None:
    with Boxes() as boxes, pytest.raises(UserError, match="No module named 'nosuchmodule'"):
        boxes.kernels(("nosuchmodule",), {})


def test_the_fork_server_ends_with_its_context() -> None:
    before = set(psutil.Process().children())
    with Boxes() as boxes:
        boxes.kernels(("json",), {})
        started = set(psutil.Process().children()) - before
    assert started and not any(process.is_running() for process in started)


def test_where_the_server_does_not_fork_the_kernel_starts_cold(tmp_path: Path) -> None:
    with Boxes() as boxes:
        warm = boxes.kernels(("json",), {})
        os.kill(boxes.kernels(("json",), {}).server.pid, 9)  # type: ignore[union-attr]
        assert run(["print(1)"], warm, tmp_path)[0].stdout == "1\n"
        again = boxes.kernels(("json",), {})
        assert again.server is not None and again.server.alive()


def test_a_box_sees_the_files_beside_the_notebook_and_nothing_of_the_course(tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_text("beside")
    (tmp_path / "other.ipynb").write_text("{}")
    (tmp_path / "link.txt").symlink_to(toy.ROOT / "pyproject.toml")
    source = f"""
import os
print(open('data.txt').read(), sorted(os.listdir('.')))
print(*[os.path.exists(path) for path in {[str(toy.ROOT / name) for name in ("source", "tests", "pyproject.toml")]}])
open('data.txt', 'w').write('changed')
import tflabs.view, tflabs.runtime
try: import tflabs.course
except ImportError: print('no course')
"""
    with Boxes((str(toy.ROOT),)) as boxes:
        for kernels in (boxes.cold({}), boxes.kernels(("json",), {})):
            (cell,) = run([source], kernels, tmp_path)
            lines = cell.stdout.splitlines()
            assert cell.state == "ok" and lines[0].startswith("beside ['data.txt', 'k"), (cell, lines)
            assert lines[1:] == ["False False False", "no course"]
    assert (tmp_path / "data.txt").read_text() == "beside"


def graded(course: Course, notebook: Any, kernels: Kernels, **limits: Any) -> Report:
    lab, release = read_source(course, toy.LAB), read_notebook(course.release(toy.LAB))
    return grade(lab, release, notebook, kernels, course.root, Limits(**limits))


def messages(report: Report) -> list[str]:
    return [test.message for exercise in report.exercises for test in exercise.tests]


def test_a_solved_notebook_gets_every_point(course: Course, kernels: Kernels) -> None:
    report = graded(course, toy.solved(course), kernels)
    assert (report.points, report.max_points, report.passed) == (5, 5, True)
    assert messages(report) == ["", ""]


def test_an_untouched_notebook_gets_none(course: Course, kernels: Kernels) -> None:
    report = graded(course, toy.learner_notebook(course), kernels)
    assert report.points == 0
    assert messages(report) == ["not answered yet", "not answered yet"]


def test_a_lost_point_is_explained_in_the_words_of_the_test(course: Course, kernels: Kernels) -> None:
    report = graded(
        course, toy.learner_notebook(course, guess="guessed = 5", double="def double(x): return 4"), kernels
    )
    assert report.points == 0
    assert messages(report)[0] == "twice two is 4, found 5"
    assert "found 4" in messages(report)[1]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("def double(x): return y", "NameError: name 'y' is not defined"),
        ("def double(x) return", "your cell for this exercise did not run: SyntaxError: expected ':'"),
        ("import os\ndef double(x): os._exit(1)", "it ended the kernel"),
        ("def double(x):\n    while True: pass", "it did not end within 2 seconds"),
        ("def double(x): raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("def double(x): raise SystemExit(1)", "SystemExit"),
    ],
)
def test_a_broken_answer_costs_its_exercise_alone(course: Course, kernels: Kernels, answer: str, message: str) -> None:
    notebook = toy.learner_notebook(course, guess="guessed = 4", double=answer)
    report = graded(course, notebook, kernels, cell_seconds=2.0)
    assert [exercise.points for exercise in report.exercises] == [1, 0]
    assert message in messages(report)[1]


def test_tests_are_the_instructors_whatever_the_learner_saved(course: Course, kernels: Kernels) -> None:
    notebook = toy.learner_notebook(course)
    for cell in notebook.cells:
        if cell["id"].endswith("-test"):
            cell.source = "pass"
    report = graded(course, notebook, kernels)
    assert report.points == 0
    assert len(report.repairs) == 2


def test_a_cell_of_the_learners_that_ends_the_kernel_is_told(course: Course, kernels: Kernels) -> None:
    notebook = toy.solved(course)
    notebook.cells.insert(2, nbformat.v4.new_code_cell("import os\nos._exit(1)"))
    report = graded(course, notebook, kernels)
    assert report.points == 5
    assert "the rest ran in a new kernel" in report.notes[-1]


def test_home_start_up_files_do_not_matter(course: Course, kernels: Kernels, tmp_path: Path) -> None:
    startup = tmp_path / ".ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "00.py").write_text("guessed = 4", encoding="utf-8")
    home, os.environ["HOME"] = os.environ.get("HOME", ""), str(tmp_path)
    try:
        assert graded(course, toy.learner_notebook(course), kernels).points == 0
    finally:
        os.environ["HOME"] = home

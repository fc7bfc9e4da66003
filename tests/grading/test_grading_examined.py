"""A learner's notebook judged by an examiner: the same points as in the notebook, and nothing for a forgery."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

import toy
from tflabs.course.build import read_source
from tflabs.course.files import read_notebook
from tflabs.course.layout import Course
from tflabs.grading.boxes import Boxes
from tflabs.grading.examinations import Spawn
from tflabs.grading.grade import grade, score, with_full_tests
from tflabs.grading.kernels import Kernels
from tflabs.grading.places import Unconfined
from tflabs.grading.report import Report
from tflabs.grading.run import Limits, run_cells

Room = tuple[Kernels, Spawn]


@pytest.fixture(scope="module", params=["unconfined", "cold", "warm"])
def room(request: pytest.FixtureRequest) -> Iterator[Room]:
    if request.param == "unconfined":
        yield Unconfined().cold({}), Unconfined().examiner((), {})
        return
    with Boxes((str(toy.ROOT),)) as boxes:
        if request.param == "cold":
            yield boxes.cold({}), boxes.examiner(("json",), {})
        else:
            yield boxes.kernels(("json",), {}), boxes.examiner(("json",), {})


@pytest.fixture(scope="module")
def warm() -> Iterator[Room]:
    with Boxes((str(toy.ROOT),)) as boxes:
        yield boxes.kernels(("json",), {}), boxes.examiner(("json",), {})


def graded(course: Course, notebook: Any, room: Room) -> Report:
    lab, release = read_source(course, toy.LAB), read_notebook(course.release(toy.LAB))
    return grade(lab, release, notebook, room[0], course.root, Limits(cell_seconds=3.0), spawn=room[1])


def messages(report: Report) -> list[str]:
    return [test.message for exercise in report.exercises for test in exercise.tests]


def test_a_solved_notebook_gets_every_point_and_an_untouched_one_none(course: Course, room: Room) -> None:
    report = graded(course, toy.solved(course), room)
    assert (report.points, messages(report)) == (5, ["", ""])
    assert {test.judged for exercise in report.exercises for test in exercise.tests} == {"examiner"}
    report = graded(course, toy.learner_notebook(course), room)
    assert report.points == 0
    assert messages(report) == ["not answered yet", "not answered yet"]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("def double(x): return 4", "found 4"),
        ("def double(x):\n    return y", "NameError: name 'y' is not defined (line 2 of your cell: return y)"),
        ("def inner(x): return [][x]\ndef double(x):\n    return inner(x)", "(line 1 of your cell: def inner(x): ret"),
        ("def double(x) return", "SyntaxError: expected ':' (line 1 of your cell: def double(x) return)"),
        ("import math\nmath.sqrt(-1)", "ValueError: math domain error (line 2 of your cell: math.sqrt(-1))"),
        ("def double(x):\n    if type(x) is int: return x + x\n    raise KeyError", "(line 3 of your cell: raise KeyE"),
        ("import os\ndef double(x): os._exit(1)", "it ended the kernel"),
        ("def double(x):\n    while True: pass", "it did not end within 3 seconds"),
        ("def double(x): raise SystemExit(1)", "your code raised SystemExit"),
    ],
)
def test_a_broken_answer_costs_its_exercise_alone(course: Course, room: Room, answer: str, message: str) -> None:
    # Solved in the other order, so that the exercise behind the broken one is seen to keep its points.
    notebook = toy.learner_notebook(course, guess="guessed = 4", double=answer)
    report = graded(course, notebook, room)
    assert [exercise.points for exercise in report.exercises] == [1, 0]
    assert message in messages(report)[1]


def test_no_line_is_told_of_an_error_that_the_test_wanted(course: Course, warm: Room) -> None:
    answer = "def double(x):\n    if type(x) is not int:\n        raise TypeError('an int is wanted')\n    return 4"
    report = graded(course, toy.learner_notebook(course, guess="guessed = 4", double=answer), warm)
    assert "found 4" in messages(report)[1] and "line" not in messages(report)[1]


@pytest.mark.parametrize(
    "guess",
    ["import os\nos._exit(0)", "while True:\n    try:\n        while True: pass\n    except BaseException: pass"],
    ids=["exit", "endless"],
)
def test_what_ends_the_kernel_leaves_the_next_exercise_its_points(course: Course, room: Room, guess: str) -> None:
    solved = {cell["id"]: cell.source for cell in toy.solved(course).cells}
    report = graded(course, toy.learner_notebook(course, guess=guess, double=solved["double"]), room)
    assert [exercise.points for exercise in report.exercises] == [0, 4]


FORGERIES = {
    "equal to everything": """
class E(int):
    def __eq__(self, other): return True
    __hash__ = None
def double(x): return E()
""",
    "drops asserts": """
import ast
class Drop(ast.NodeTransformer):
    def visit_Assert(self, node): return ast.Pass()
get_ipython().ast_transformers.append(Drop())
get_ipython().input_transformers_cleanup.append(lambda lines: [])
def double(x): return 0
""",
    "patched kernel": """
import ipykernel.ipkernel as k
async def run(*args, **more): return {"status": "ok", "execution_count": 1, "payload": [], "user_expressions": {}}
k.IPythonKernel.do_execute = run
type(get_ipython()).run_cell = lambda *a, **m: None
def double(x): return 0
""",
    "patched agent": """
import tflabs.grading.examiner.agent as a
a.serve = lambda *args: None
def double(x): return 0
""",
    "reads its caller": """
import sys
def double(x):
    frame, found = sys._getframe(1), []
    while frame: found += frame.f_code.co_consts; frame = frame.f_back
    return next((c for c in found if type(c) is int and c == 2 * x), 0) if x != 2 else 0
""",
    "patched builtins": """
import builtins
builtins.AssertionError = TypeError
builtins.type = lambda x: int
def double(x): return 0
""",
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_gets_no_point(course: Course, warm: Room, name: str) -> None:
    report = graded(course, toy.learner_notebook(course, guess="guessed = 4", double=FORGERIES[name]), warm)
    assert report.exercises[1].points == 0, messages(report)
    assert report.exercises[0].points == 1


def test_no_hidden_test_is_found_in_the_learners_process(course: Course, warm: Room) -> None:
    spy = """
import gc
def double(x):
    seen = [s for s in gc.get_objects() if isinstance(s, str)]
    seen += [str(get_ipython().user_ns.get("In")), str(get_ipython().history_manager.input_hist_raw)]
    marks = ["System" + "Random().randrange(5", "double of a " + "text is"]
    raise ValueError([m for m in marks if any(m in s for s in seen)])
"""
    report = graded(course, toy.learner_notebook(course, double=spy), warm)
    assert messages(report)[1].startswith("ValueError: [] (line 6 of your cell: raise")


def test_an_own_cell_that_ends_the_kernel_is_told(course: Course, warm: Room) -> None:
    notebook = toy.solved(course)
    notebook.cells.insert(2, nbformat.v4.new_code_cell("import os\nos._exit(1)"))
    report = graded(course, notebook, warm)
    assert report.points == 5 and "the rest ran in a new kernel" in report.notes[0]


MARK = "# examiner: same process – for the test"
IN_THE_KERNEL = toy.TEXT.replace("assert double(2) == 4, f", f"{MARK}\nassert double(2) == 4, f")


@pytest.mark.parametrize("name", ["equal to everything", "drops asserts", "patched kernel", "patched agent"])
def test_a_test_in_the_kernel_goes_past_the_learners_ipython(tmp_path: Path, warm: Room, name: str) -> None:
    course = toy.make_course(tmp_path / "course", IN_THE_KERNEL)
    report = graded(course, toy.solved(course), warm)
    assert report.points == 5
    assert [test.judged for exercise in report.exercises for test in exercise.tests] == ["examiner", "witness"]
    report = graded(course, toy.learner_notebook(course, guess="guessed = 4", double=FORGERIES[name]), warm)
    # An object that is equal to everything passes an assertion in its own process; the hidden TypeError is not met.
    assert [exercise.points for exercise in report.exercises] == [1, 0], messages(report)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("def double(x): return 5", "double(2) is 4, found 5"),
        ("import os\ndef double(x): os._exit(0)", "it ended the kernel"),
        ("def double(x):\n    while True: pass", "it did not end within 3 seconds"),
        ("def double(x): raise SystemExit", "your code raised SystemExit"),
    ],
)
def test_a_test_in_the_kernel_explains_itself(tmp_path: Path, warm: Room, answer: str, message: str) -> None:
    course = toy.make_course(tmp_path / "course", IN_THE_KERNEL)
    report = graded(course, toy.learner_notebook(course, guess="guessed = 4", double=answer), warm)
    assert report.exercises[1].points == 0 and message in messages(report)[1], messages(report)


def test_who_judged_is_told_and_a_kernels_word_is_no_proof(course: Course, warm: Room) -> None:
    lab, release = read_source(course, toy.LAB), read_notebook(course.release(toy.LAB))
    report = grade(lab, release, toy.solved(course), warm[0], course.root)
    assert report.points == 5 and "no examiner was asked" in report.notes[0]
    cells = with_full_tests(toy.solved(course), lab).cells
    runs = run_cells(cells, warm[0], course.root)
    assert score(lab, runs).points == 5
    unproven = score(lab, runs, only_proven=True)
    assert unproven.points == 0 and all("no examiner judged this test" in message for message in messages(unproven))


def test_a_test_that_asks_nothing_gives_nothing(tmp_path: Path, warm: Room) -> None:
    idle = toy.TEXT.replace("assert type(guessed) is int", "assert type(4) is int").replace(
        "assert guessed == 4, f", "f"
    )
    course = toy.make_course(tmp_path / "course", idle.replace(", found {guessed}", ""))
    report = graded(course, toy.solved(course), warm)
    assert report.points == 4 and "without asking anything of your code" in messages(report)[0]

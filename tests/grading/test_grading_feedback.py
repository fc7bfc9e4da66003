"""Nothing of a hidden test reaches a learner: a secret planted in each is looked for wherever one could read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
import spy

import toy
from spoilt import nbgrader
from tflabs.course.files import read_notebook
from tflabs.grading.feedback import KeepTestsBack

SECRET = "quagga_7f31"
SPY = f"{spy.source(SECRET)}\nsecret, needle = look()\nprint('secret', secret, 'needle', needle > 0)"
LOOKS = (
    f"{SPY}\ndef double(x):\n    raise ValueError(str(words[0].findall(repr([x, sys._getframe(1).f_locals]).encode())))"
)
ECHO = "def double(x):\n    raise AssertionError(f'found {{double(number)}}')"


def secretive() -> str:
    """The toy lab with the secret in its hidden tests: a name, a comment and a text that is no message."""
    planted = f"### BEGIN HIDDEN TESTS\n{SECRET} = 'a {SECRET}'  # {SECRET}\nassert {SECRET}[0] == 'a'\n"
    return toy.TEXT.replace("### BEGIN HIDDEN TESTS\n", planted)


SUBMISSIONS = {
    "solved": "def double(x):\n    if type(x) is not int: raise TypeError\n    return 2 * x",
    "wrong": "def double(x):\n    return 4",
    "visible": "def double(x):\n    return 2 * x",
    "raises": "def double(x):\n    raise KeyError(x)",
    "echo": ECHO,
    "looks": LOOKS,
}


@pytest.mark.timeout(300)
def test_a_planted_secret_is_found_nowhere_that_a_learner_can_read(tmp_path: Path) -> None:
    course = toy.make_course(tmp_path / "course", secretive())
    assert SECRET in course.source(toy.LAB).read_text(encoding="utf-8")
    for student, double in SUBMISSIONS.items():
        notebook = toy.learner_notebook(course, guess="guessed = 4", double=double)
        notebook.cells.append(nbformat.v4.new_code_cell(SPY))
        path = toy.save(notebook, course.root / "submitted" / student / toy.LAB / f"{toy.LAB}.ipynb")
        path.with_name("notes.txt").write_text(spy.NEEDLE, encoding="utf-8")
    nbgrader(course, "generate_assignment", toy.LAB, "--force")
    nbgrader(course, "autograde", toy.LAB)
    nbgrader(course, "generate_feedback", toy.LAB)
    assert SECRET not in course.release(toy.LAB).read_text(encoding="utf-8")
    for student in SUBMISSIONS:
        graded = read_notebook(course.root / "autograded" / student / toy.LAB / f"{toy.LAB}.ipynb")
        outputs = json.dumps([cell.get("outputs", []) for cell in graded.cells])
        assert SECRET not in outputs and "secret 0 needle True" in outputs, student
        feedback = (course.root / "feedback" / student / toy.LAB / f"{toy.LAB}.html").read_text(encoding="utf-8")
        assert SECRET not in feedback and "SystemRandom" not in feedback
        assert "Further tests, which are not shown." in feedback
    wrong = (course.root / "feedback" / "wrong" / toy.LAB / f"{toy.LAB}.html").read_text(encoding="utf-8")
    assert "found 4" in wrong and "Traceback (most recent" not in wrong and "1.0" in wrong


def test_echoes_and_tracebacks_are_left_out() -> None:
    hidden = "x = 1\n### BEGIN HIDDEN TESTS\nassert answer == 6 * 7, 'no'\n### END HIDDEN TESTS\n"
    keys = {"grade": True, "grade_id": "t", "locked": True, "points": 1, "solution": False}
    test = nbformat.v4.new_code_cell(hidden, metadata={"nbgrader": keys})
    error = nbformat.v4.new_output("error", ename="AssertionError", evalue="no", traceback=["assert answer == 6 * 7"])
    test.outputs = [nbformat.v4.new_output("stream", text="x"), error]
    echo = nbformat.v4.new_code_cell("print(In[-1])")
    echo.outputs = [
        nbformat.v4.new_output("stream", text="a\nassert answer == 6 * 7, 'no'\nb"),
        nbformat.v4.new_output("execute_result", data={"text/plain": "'assert answer == 6 * 7, 'no''"}),
    ]
    notebook: Any = nbformat.v4.new_notebook(cells=[test, echo])
    KeepTestsBack().preprocess(notebook, {})
    assert [output.output_type for output in test.outputs] == ["error"] and test.outputs[0].traceback == ["no"]
    assert echo.outputs[0].text == "a\n…\nb" and "6 * 7" not in json.dumps(notebook)

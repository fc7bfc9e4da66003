"""The proof holds for a sound lab, and finds every fault that is planted in one."""

from __future__ import annotations

from pathlib import Path

import pytest

import toy
from tflabs.authoring.answers import read_answers
from tflabs.authoring.verify import Proof, verify
from tflabs.course.build import build_lab, read_source
from tflabs.course.files import notebook_text, read_notebook
from tflabs.course.layout import Course
from tflabs.course.syllabus import read_syllabus
from tflabs.errors import UserError
from tflabs.grading.places import place_for_own_work


def proof_of(course: Course) -> Proof:
    with place_for_own_work((str(course.root),)) as place:
        return verify(course, read_syllabus(course.syllabus).section(toy.LAB), place)


def planted(folder: Path, *changes: tuple[str, str], answers: str = toy.ANSWERS) -> list[str]:
    """The findings for the toy lab with some of its text replaced."""
    text = toy.TEXT
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return proof_of(toy.make_course(folder, text, answers)).findings


def test_the_proof_of_a_sound_lab_holds(course: Course) -> None:
    proof = proof_of(course)
    assert proof.findings == []
    double = proof.exercises["double"]
    assert (double.wrong_tried, double.wrong_caught, double.right_tried, double.right_accepted) == (3, 3, 1, 1)
    assert double.points == 4 and double.seconds > 0 and double.peak_mib > 10


def test_a_test_that_cannot_fail_is_found(tmp_path: Path) -> None:
    hidden = toy.TEXT[toy.TEXT.index("number =") : toy.TEXT.index("### END HIDDEN TESTS")]
    found = planted(tmp_path, (hidden, 'assert type(double(1)) in (int, str), "type"\n'))
    assert [line for line in found if "(answers the example) is wrong, but gets all 4 points" in line]
    assert [line for line in found if "(squares) is wrong, but gets all 4 points" in line]


def test_a_test_that_rejects_a_right_answer_is_found(tmp_path: Path) -> None:
    found = planted(
        tmp_path,
        ("except TypeError:", "except TypeError as error:\n    assert str(error) == 'an int is wanted', str(error)"),
    )
    assert [line for line in found if "(multiplies) is right, but loses points" in line]


def test_a_solution_line_in_the_student_version_is_found(tmp_path: Path) -> None:
    line = 'raise TypeError("an int is wanted")'
    assert [
        found
        for found in planted(tmp_path / "hint", ("Add.</details>", f"\n#\n# {line}\n#\n# </details>"))
        if "holds a line of the solution of double" in found
    ]


def test_a_student_version_that_was_tampered_with_is_found(course: Course) -> None:
    release = read_notebook(course.release(toy.LAB))
    release.cells[-1].source += "\n### BEGIN HIDDEN TESTS\nassert double(3) == 6\n### END HIDDEN TESTS"
    toy.save(release, course.release(toy.LAB))
    assert [line for line in proof_of(course).findings if "is stale" in line]


def test_a_hidden_test_in_the_student_version_is_found(tmp_path: Path) -> None:
    lines = toy.TEXT[toy.TEXT.index("number =") : toy.TEXT.index("try:\n    double")]
    found = planted(tmp_path, ('print("look:"', f'double = abs\n{lines}\nprint("look:"'))
    assert [leak for leak in found if "holds a line of the hidden tests of double-test" in leak]


def test_what_a_notebook_leaves_behind_is_found(tmp_path: Path) -> None:
    """A process that nobody waits for, in a session of its own, and a file in the temporary folder."""
    leaving = (
        "import subprocess, tempfile, pathlib\n"
        "subprocess.Popen(['sh', '-c', 'sleep 61.5 & exit'], start_new_session=True).wait()\n"
        "pathlib.Path(tempfile.gettempdir(), 'left-here').touch()\n"
    )
    found = planted(tmp_path, ('print("look:"', f'{leaving}print("look:"'))
    assert [line.rpartition("/")[2] for line in found] == ["the notebook leaves behind: sleep 61.5", "left-here"]


def test_points_for_an_empty_notebook_are_found(tmp_path: Path) -> None:
    found = planted(
        tmp_path,
        ('assert type(guessed) is int, "guessed is an int"\n', ""),
        ('assert guessed == 4, f"twice two is 4, found {guessed}"', 'assert (lambda: guessed) is not None, "name"'),
    )
    assert [line for line in found if "guess: the untouched student version gets 1 points" in line]


def test_an_exercise_that_leans_on_the_one_before_is_found(tmp_path: Path) -> None:
    found = planted(tmp_path, ("return x + x", "return x + x + guessed - 4"))
    assert [line for line in found if line.startswith("double: leans on guess")]
    assert [line for line in found if "(twice three) costs the points of double too" in line]


def test_an_exercise_that_leans_without_naming_what_it_needs_is_found(tmp_path: Path) -> None:
    found = planted(tmp_path, ("return x + x", 'return x + x + globals()["gues" + "sed"] - 4'))
    assert [line for line in found if line.startswith("double: leans on guess")]


def test_text_on_stderr_is_found(tmp_path: Path) -> None:
    found = planted(tmp_path, ('print("look:"', 'import sys; print("noise", file=sys.stderr)\nprint("look:"'))
    assert [line for line in found if "writes to stderr: 'noise" in line]


def test_a_cell_that_fails_is_found(tmp_path: Path) -> None:
    found = planted(tmp_path, ('print("look:"', '1 / 0\nprint("look:"'))
    assert [line for line in found if "ZeroDivisionError" in line]


def test_too_few_answers_are_found(tmp_path: Path) -> None:
    answers = toy.ANSWERS[: toy.ANSWERS.index('# %% wrong="double" why="doubles')]
    found = planted(tmp_path, answers=answers)
    assert "double: 2 wrong answers are tried, at least 3 are needed" in found
    assert "double: 0 right answers are tried, at least 1 are needed" in found


def test_a_wrong_answer_that_only_misspells_is_found(tmp_path: Path) -> None:
    found = planted(tmp_path, answers=toy.ANSWERS.replace("return x * x", "return y * y"))
    assert [line for line in found if "is caught by a NameError alone" in line]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('wrong="guess"', 'wrong="gues"', "has no exercise 'gues'"),
        (' why="squares"', "", "does not say why"),
        ('wrong="double" why="squares"', "", "a cell begins with"),
    ],
)
def test_a_broken_file_of_answers_says_where(tmp_path: Path, old: str, new: str, message: str) -> None:
    course = toy.make_course(tmp_path, answers=toy.ANSWERS.replace(old, new))
    with pytest.raises(UserError, match=message):
        read_answers(course.answers(toy.LAB), read_source(course, toy.LAB))


def test_missing_answers_say_what_to_write(course: Course) -> None:
    course.answers(toy.LAB).unlink()
    with pytest.raises(UserError, match="there are no answers to 1-1-toy: write"):
        proof_of(course)


def test_nothing_is_written(course: Course) -> None:
    def state() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in course.root.rglob("*") if path.is_file()}

    before = state()
    proof_of(course)
    assert state() == before
    assert (
        notebook_text(read_notebook(course.source(toy.LAB))) == build_lab(course, toy.LAB).files[course.source(toy.LAB)]
    )


def test_a_test_that_only_the_notebook_can_run_is_found(tmp_path: Path) -> None:
    found = planted(tmp_path, ('assert double(2) == 4, f"', 'assert globals()["double"](2) == 4, f"'))
    assert len(found) == 1, found  # nothing is said of answers
    assert "double-test: the solution" in found[0] and "through the examiner: error: KeyError" in found[0]

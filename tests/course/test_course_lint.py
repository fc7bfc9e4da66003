"""Each rule of a lab's text finds what breaks it, says where, and leaves a clean text alone."""

from __future__ import annotations

from pathlib import Path

import pytest

import toy
from tflabs.course.lab import read_lab
from tflabs.course.layout import Course
from tflabs.course.lint import Finding, lint
from tflabs.course.syllabus import read_syllabus
from tflabs.course.text import to_notebook

SHOWN = 'assert double(2) == 4, f"double(2) is 4, found {double(2)}"'
HIDDEN = "number = random.SystemRandom().randrange(5, 10**6)"


def findings(text: str, tmp_path: Path) -> list[Finding]:
    path = tmp_path / "syllabus.toml"
    path.write_text(toy.SYLLABUS, encoding="utf-8")
    lab = read_lab(to_notebook(text, toy.LAB), toy.LAB)
    return lint(lab, text, "toy.py", read_syllabus(path).section(toy.LAB))


def test_a_clean_text_has_no_findings(tmp_path: Path) -> None:
    assert findings(toy.TEXT, tmp_path) == []


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (SHOWN, f"import math\n{SHOWN}", "a test cell imports"),
        (SHOWN, f"class A: pass\n{SHOWN}", "defines a class"),
        (SHOWN, f"def helper(): pass\n{SHOWN}", "the visible test defines `helper`"),
        (SHOWN, f'assert double(2) == double(1) + double(1), "same"\n{SHOWN}', "two results of the learner"),
        (
            SHOWN,
            f"np.testing.assert_allclose(double(1), double(2), strict=True)\n{SHOWN}",
            "two results of the learner",
        ),
        (SHOWN, f'assert (double(2) == [4]).all(), "all"\n{SHOWN}', "`.all()`"),
        (SHOWN, f'assert np.allclose(double(2), 4), "close"\n{SHOWN}', "`allclose` broadcasts"),
        (SHOWN, f"np.testing.assert_allclose(double(2), 4)\n{SHOWN}", "without strict=True"),
        (SHOWN, f'for a, b in zip(double(2), [4]):\n    assert a == b, "pair"\n{SHOWN}', "a bare `zip`"),
        (SHOWN, f'assert list(map(double, [2], [3])) == [4], "map"\n{SHOWN}', "a bare `map`"),
        (SHOWN, f'assert shape.is_compatible_with(double(2)), "shape"\n{SHOWN}', "`is_compatible_with`"),
        (SHOWN, f'assert isinstance(double(2), int), "int"\n{SHOWN}', "`isinstance` looks into"),
        (SHOWN, f'assert inspect.signature(double), "signature"\n{SHOWN}', "`inspect` looks into"),
        (SHOWN, f"time.sleep(1)\n{SHOWN}", "calls `time.sleep`"),
        (SHOWN, f"started = time.perf_counter()\n{SHOWN}", "calls `time.perf_counter`"),
        (SHOWN, f"# examiner: same process\n{SHOWN}", "gives no reason"),
        (SHOWN, "assert double(2) == 4", "an assert has no message"),
        (SHOWN, f'assert (double(2) == 4, "four")\n{SHOWN}', "an assert cannot fail"),
        (SHOWN, 'assert 4 == 2 + 2, "sum"', "does not use the learner's names"),
        (SHOWN, f"{SHOWN}\nassert (", "it is no Python"),
        ("(4 points)", "(3 points)", "promises 3 points, its tests give 4"),
        ("### Exercise 2", "### Exercise 3", "are numbered [1, 3]"),
        ("# <details><summary>Hint 2</summary>One line.</details>\n", "", "fewer than two folded hints"),
        ('# %% [markdown] after_passing="double"\n# A sum is enough.\n', "", "no note for after passing"),
        ('"locked": true, "points": 0', '"points": 0', "lack locked"),
        ("10 minutes · 5 points", "10 minutes", "does not say '10 minutes · 5 points · Before this lab:'"),
        ("`./tflabs check 1-1-toy`", "Check", "does not say '`./tflabs check 1-1-toy`'"),
    ],
)
def test_a_broken_rule_is_found(tmp_path: Path, old: str, new: str, problem: str) -> None:
    assert old in toy.TEXT
    found = findings(toy.TEXT.replace(old, new), tmp_path)
    assert [finding for finding in found if problem in finding.problem], [str(finding) for finding in found]


def test_a_finding_says_where_and_what_to_do(tmp_path: Path) -> None:
    text = toy.TEXT.replace(SHOWN, f"import math\n{SHOWN}")
    (finding,) = findings(text, tmp_path)
    assert text.splitlines()[finding.line - 1] == "import math"
    assert str(finding) == (
        f"toy.py:{finding.line}: double-test: a test cell imports. Import in a locked cell with a grade_id (given-…)."
    )


def test_helpers_may_stand_in_hidden_tests(tmp_path: Path) -> None:
    text = toy.TEXT.replace(HIDDEN, f"def twice(x):\n    return 2 * x\n{HIDDEN}")
    assert findings(text, tmp_path) == []


def test_a_test_that_leaves_names_for_later_cells_is_found(tmp_path: Path) -> None:
    text = toy.TEXT.replace("assert guessed == 4", "wanted = 4\nassert guessed == 4").replace(
        "    return x + x", "    return x + x * (wanted - 3)"
    )
    (finding,) = findings(text, tmp_path)
    assert finding.problem == "it assigns `wanted`, which double needs"


def test_a_local_name_of_a_later_cell_is_no_need(tmp_path: Path) -> None:
    text = toy.TEXT.replace("assert guessed == 4", "x = 4\nassert guessed == 4")
    assert findings(text, tmp_path) == []


@pytest.mark.parametrize("lab", Course(toy.ROOT).written_labs())
def test_written_labs_keep_the_rules(lab: str, real_course: Course) -> None:
    text = real_course.text(lab).read_text(encoding="utf-8")
    section = read_syllabus(real_course.syllabus).section(lab)
    found = lint(read_lab(to_notebook(text, lab), lab), text, f"labs/{lab}/{lab}.py", section)
    assert found == [], "\n".join(map(str, found))

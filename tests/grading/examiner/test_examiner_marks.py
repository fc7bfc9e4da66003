"""Which test cells are judged in the learner's kernel."""

from __future__ import annotations

import pytest

from tflabs.grading.examiner.marks import judged_in_kernel, reason_for_kernel


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("# examiner: same process – threads wait inside\nassert f()", "threads wait inside"),
        ("x = 1\n  \n#examiner:same process - a reason\n", "a reason"),
        ("# examiner: same process", ""),
        ("def f():\n    # examiner: same process – indented\n    pass", "indented"),
        ("assert f()", None),
        ("x = 1  # examiner: same process – behind code", None),
        ('text = """\n# examiner: same process – in a string\n"""', None),
        ("# examiner: same processes", None),
        ("(", None),
    ],
)
def test_a_comment_line_marks_a_cell(source: str, reason: str | None) -> None:
    assert reason_for_kernel(source) == reason
    assert judged_in_kernel(source) is (reason is not None)

"""The line of the learner's that raised."""

from __future__ import annotations

from tflabs.grading.whereabouts import in_cell, in_trace

TRACE = """  File "/tmp/ipykernel_7/11.py", line 2, in double
    return halve(x)
  File "/tmp/ipykernel_7/22.py", line 1, in halve
    def halve(x): return x / 0
  File "/usr/lib/python3.11/statistics.py", line 2, in mean
    return halve(x)
"""
MINE, GIVEN = "\n\ndef double(x):\n    return halve(x)", "def halve(x): return x / 0"


def test_the_innermost_line_of_the_learners_is_told() -> None:
    assert in_trace(TRACE, [MINE]) == "line 2 of your cell: return halve(x)"
    assert in_trace(TRACE, [MINE, GIVEN]) == "line 1 of your cell: def halve(x): return x / 0"
    assert in_trace(TRACE, ["def other(x):\n    pass"]) == in_trace("", [MINE]) == ""


def test_a_cell_tells_its_own_line() -> None:
    traceback = "Traceback (most recent call last):\n  Cell In[4], line 2\n    g()\n  Cell In[3], line 9 in g"
    assert in_cell("x = 1\ng()", traceback) == "line 2 of your cell: g()"
    assert in_cell("x = 1", traceback) == in_cell("x = 1", "ValueError") == ""


def test_a_long_line_is_cut() -> None:
    assert len(in_cell("x" * 500, "Cell In[1], line 1")) < 140

"""A test in the learner's process: what is left of it, and whether another can answer in the witness's place."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from examiner_rig import Rig, rig

from tflabs.grading.examiner.client import planting_source

GIVEN = "import random\n\n\ndef check(x, due):\n    assert x == due, f'{due} is due, found {x}'\n"
WORD = "numbat_5d2e"
TEST = f"""# {WORD}
{WORD} = 'a {WORD}'


def of_{WORD}(x):
    return x


check(double(2), 4)
assert {WORD}[0] == 'a'
"""
SPY = f"""
import gc
drow, found = "{WORD[::-1]}", []
for thing in gc.get_objects():
    if type(thing) in (list, tuple, set):
        found += [1 for part in thing if type(part) is str and drow in part[::-1]]
    elif type(thing) is dict:
        found += [1 for pair in list(thing.items()) for part in pair if type(part) is str and drow in part[::-1]]
    elif type(thing) is type(lambda: 0):
        found += [1 for part in (thing.__code__.co_names, thing.__code__.co_consts) if drow in repr(part)[::-1]]
print("found", len(found))
"""


@pytest.fixture
def planted() -> Iterator[Rig]:
    with rig() as made:
        made.learner(planting_source(made.path))
        made.given(GIVEN)
        assert made.client.note("given").state == "ok"
        yield made


@pytest.mark.parametrize(("double", "state"), [("2 * x", "ok"), ("3 * x", "error")])
def test_nothing_of_a_test_is_left_behind(planted: Rig, double: str, state: str) -> None:
    planted.learner(f"def double(x):\n    return {double}")
    assert planted.test(TEST, there=True, names=["double"]).state == state
    assert planted.learner(SPY) == "found 0\n"


def test_while_it_runs_the_learners_code_can_read_it(planted: Rig) -> None:
    """As `docs` say of such tests: a frame leads to the caller's. What it may read by that, it may not change."""
    planted.learner(
        "import sys\ndef double(x):\n    seen.append(sorted(sys._getframe(1).f_globals))\n    return 4\nseen = []"
    )
    assert planted.test(TEST, there=True, names=["double"]).state == "ok"
    assert WORD in planted.learner("print(seen)")


def test_nobody_answers_in_the_place_of_the_witness(planted: Rig) -> None:
    """A thread that takes the witness's messages, or writes into its connection, spoils the test and wins nothing."""
    planted.learner(
        "import os, socket, threading, time\n"
        "def double(x): return 5\n"
        "def spoil():\n"
        "    for _ in range(4000):\n"
        "        for number in range(3, 200):\n"
        "            try:\n"
        "                if os.readlink(f'/proc/self/fd/{number}').startswith('socket'):\n"
        "                    own = socket.socket(fileno=os.dup(number))\n"
        "                    if own.family == socket.AF_UNIX and not own.getsockname():\n"
        "                        own.send((40).to_bytes(4, 'little') + bytes(32) + b'True\\n\\n\\n\\n')\n"
        "                    own.close()\n"
        "            except OSError:\n"
        "                pass\n"
        "        time.sleep(0.001)\n"
        "threading.Thread(target=spoil, daemon=True).start()"
    )
    result = planted.test(TEST, there=True, names=["double"], wait=False, cell_seconds=20)
    planted.manager.shutdown_kernel(now=True)
    assert result.state != "ok"


def test_a_witness_that_was_not_planted_is_no_proof() -> None:
    with rig() as made:
        made.given(GIVEN)
        made.learner("def double(x): return 4")
        assert made.test(TEST, there=True, names=["double"], cell_seconds=3).state != "ok"

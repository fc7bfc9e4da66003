"""Learners who attack: nothing is earned, nothing of a hidden test is seen, the examiner goes on.

Each attack is a cell that a learner could have written. The test cell behind it demands what the attack does not
deliver; `SECRET` stands in its text and must be nowhere in the learner's process.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from examiner_rig import Rig, rig

from tflabs.grading.examiner.report import CellResult

GIVEN = """
import threading
from typing import NamedTuple
import numpy as np
class Pair(NamedTuple):
    a: int
    b: int
"""
TEST = """
got = answer(20)
assert type(got) is int, f"SECRET type {type(got).__name__}"
assert got == 7391, "SECRET 7391"
"""


@pytest.fixture(scope="module")
def shared() -> Iterator[Rig]:
    with rig("numpy") as made:
        yield made


@pytest.fixture
def arena(shared: Rig) -> Iterator[Rig]:
    """One examiner for all attacks, and a kernel: a new one if an attack has ruined the last."""
    if shared.ruined or not shared.manager.is_alive():
        shared.restart_kernel()
    shared.ruined = False
    shared.given(GIVEN)
    yield shared
    assert shared.process.poll() is None, "the examiner ended"


def lost(result: CellResult) -> None:
    assert result.state != "ok", result


FORGERIES = {
    "an input transformer that drops assertions": """
ip = get_ipython()
ip.input_transformers_cleanup.append(lambda lines: [l for l in lines if not l.lstrip().startswith("assert")])
def answer(x): return 0
""",
    "an AST transformer that drops assertions": """
import ast
class Drop(ast.NodeTransformer):
    def visit_Assert(self, node): return ast.Pass()
get_ipython().ast_transformers.append(Drop())
def answer(x): return 0
""",
    "a patched run_cell": """
def answer(x): return 0
shell = type(get_ipython())
run = shell.run_cell_async
async def run_cell_async(self, source, *a, **k):
    return await run(self, "pass" if "serve" in source else source, *a, **k)
shell.run_cell_async = run_cell_async
""",
    "a patched do_execute": """
def answer(x): return 0
kernel = get_ipython().kernel
async def do_execute(*a, **k):
    return {"status": "ok", "execution_count": 1, "payload": [], "user_expressions": {}}
kernel.do_execute = do_execute
""",
    "an object equal to everything": """
class Everything:
    __hash__ = None
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __bool__(self): return True
    def __sub__(self, other): return 0
    __rsub__ = __sub__
    __class__ = int
def answer(x): return Everything()
""",
    "a subclass of int": """
class Int(int):
    def __eq__(self, other): return True
    __hash__ = int.__hash__
    def __sub__(self, other): return 0
def answer(x): return Int(3)
""",
    "a class that calls itself int": "answer = lambda x: type('int', (), {'__eq__': lambda s, o: True})()",
    "an object that reduces to something else": """
class Reduced:
    def __reduce__(self): return eval, ("7390 + 1",)
    def __reduce_ex__(self, protocol): return eval, ("7390 + 1",)
    def __int__(self): return 7390 + 1
def answer(x): return Reduced()
""",
    "a metaclass": """
class Meta(type):
    def __eq__(cls, other): return True
    __hash__ = type.__hash__
    def __instancecheck__(cls, x): return True
class Made(metaclass=Meta): pass
def answer(x): return Made
""",
    "a look at the caller's frames": """
import sys
def answer(x):
    frame = sys._getframe()
    while frame:
        for constant in frame.f_code.co_consts:
            if type(constant) is int and 7000 < constant < 8000: return constant
        frame = frame.f_back
    return 0
""",
    "an exception that ends the test as passed": "def answer(x):\n    raise SystemExit(0)",
    "StopIteration": "def answer(x):\n    raise StopIteration",
    "GeneratorExit": "def answer(x):\n    raise GeneratorExit",
    "the module that serves, replaced": """
import sys, types
fake = types.ModuleType("tflabs.grading.examiner.agent")
fake.serve = lambda *a: None
sys.modules["tflabs.grading.examiner.agent"] = fake
def answer(x): return 0
""",
    "the codec, replaced": """
from tflabs.grading.examiner import codec
before = codec.dumps
def dumps(value, other=None):
    if type(value) is list and value[0] == "ok": value = ["pass", *value[1:]]
    return before(value, other)
codec.dumps = dumps
def answer(x): return 0
""",
    "assertion helpers and builtins, replaced": """
import builtins, numpy.testing
builtins.type = lambda x: int
builtins.AssertionError = Warning
numpy.testing.assert_equal = lambda *a, **k: None
def answer(x): return 0
""",
    "a name of Python's": "type = lambda x: int\nclass AssertionError(Exception): pass\ndef answer(x): return 0",
    "a thread that acts later": """
import threading, time
def answer(x):
    threading.Thread(target=lambda: (time.sleep(0.05), globals().update(got=7391))).start()
    return 0
""",
    "garbage collection and tracing": """
import gc, re, sys
found = []
trace = lambda frame, event, arg: found.append(frame.f_code.co_consts) if len(found) < 10000 else None
sys.settrace(trace)
threading.settrace(trace)
def answer(x):
    found.extend(o for o in gc.get_objects() if type(o) is tuple)
    texts = [str(o) for o in gc.get_objects() if type(o) is str]
    for consts in found:
        for c in consts:
            if type(c) is int and 7000 < c < 8000: return c
            if type(c) is str: texts.append(c)
    for text in texts:
        if m := re.search("SEC" + "RET (73.*)", text): return int(m[1])
    return 0
""",
    "messages on IOPub": """
def answer(x):
    kernel = get_ipython().kernel
    for kind, content in [("execute_result", {"data": {"text/plain": "1.0"}, "metadata": {}, "execution_count": 1}),
                          ("status", {"execution_state": "idle"})]:
        kernel.session.send(kernel.iopub_socket, kind, content, parent=kernel.get_parent(), ident=kind.encode())
    return 0
""",
    "a reply of its own on another connection": """
import glob, socket, threading
from tflabs.grading.examiner import codec
from tflabs.grading.examiner.channel import Channel
def answer(x):
    for role in ("main", "control", "call", "back"):
        for number in range(-1, 30):
            s = socket.socket(socket.AF_UNIX); s.connect("examiner"); c = Channel(s)
            try: c.send(codec.dumps([role, number])); c.send(codec.dumps(["ok", number, "", 7391]))
            except OSError: pass
    return 0
""",
    "the examiner's sockets closed": """
import os
def answer(x):
    for descriptor in range(3, 200):
        try: target = os.readlink(f"/proc/self/fd/{descriptor}")
        except OSError: continue
        if target.startswith("socket:"): os.close(descriptor)
    return 0
""",
    "a name of a megabyte": """
class Long:
    def __repr__(self): return "x" * 10**7
Long.__name__ = "L" * 10**6
def answer(x): return Long()
""",
    "an exception whose str is hostile": """
class Hostile(Exception):
    def __str__(self): raise SystemExit
    __repr__ = __str__
    args = property(lambda self: 1 / 0)
    message = property(lambda self: (_ for _ in ()).throw(KeyboardInterrupt))
Hostile.__name__ = "x" * 10**5
def answer(x): raise Hostile()
""",
    "an exception class with a hostile metaclass": """
class Meta(type):
    def __subclasscheck__(cls, other): return True
    def __instancecheck__(cls, x): return True
class Odd(Exception, metaclass=Meta): pass
def answer(x): raise Odd("x")
""",
    "an answer of 100 megabytes": "def answer(x): return bytes(100 << 20)",
    "a cyclic answer": "def answer(x):\n    a = []\n    a.append(a)\n    return a",
    "the end of the process": "import os\ndef answer(x): os._exit(0)",
    "a signal to the process": "import os, signal\ndef answer(x): os.kill(os.getpid(), signal.SIGKILL)",
}


HARMLESS = ("an object equal", "a subclass", "a class that", "an object that", "a metaclass", "a look", "a name of a")
HARMLESS += ("StopIteration", "GeneratorExit", "an exception", "an answer", "a cyclic")


@pytest.mark.parametrize("attack", FORGERIES)
def test_a_forgery_earns_nothing(arena: Rig, attack: str) -> None:
    arena.ruined = not attack.startswith(HARMLESS)
    arena.learner(FORGERIES[attack])
    result = arena.test(TEST, wait=not arena.ruined, call_seconds=2.0, cell_seconds=2.5)
    lost(result)
    assert len(result.evalue) < 30_000 and len(result.ename) < 300 and len(result.stdout) < 210_000
    assert not result.stdout.startswith("1.0")


def test_an_attack_that_hangs_ends_in_time_and_the_next_cell_passes(arena: Rig) -> None:
    arena.learner(
        "import time\ndef answer(x):\n    while True: pass\ndef sleeps(): time.sleep(1000)\ndef fine(): return 1"
    )
    for call in ("answer(1)", "sleeps()"):
        began = time.monotonic()
        result = arena.test(call, call_seconds=0.5)
        assert (result.state, result.ename) == ("timeout", "CallTimeout") and time.monotonic() - began < 10
        assert arena.test("assert fine() == 1").state == "ok"
    result = arena.test("while True: fine()", cell_seconds=1.0)
    assert (result.state, result.ename) == ("timeout", "CellTimeout")
    result = arena.test("try:\n    while True: pass\nexcept BaseException: pass", cell_seconds=1.0)
    assert result.state == "timeout", result


def test_a_hang_that_swallows_interrupts_does_not_hold_the_examiner(arena: Rig) -> None:
    arena.learner(
        "import signal\ndef answer(x):\n    signal.signal(signal.SIGINT, signal.SIG_IGN)\n    while True: pass\n"
    )
    arena.ruined = True
    began = time.monotonic()
    assert arena.test("answer(1)", wait=False, call_seconds=0.5).state == "timeout"
    assert time.monotonic() - began < 12


LEAKS = """
import builtins, gc, inspect, sys, threading
seen = []
traced = []
sys.settrace(lambda frame, event, arg: traced.append(frame.f_code.co_consts) if len(traced) < 10000 else None)
def collect():
    found = [str(value) for value in list(get_ipython().user_ns.get("In", []))]
    for frame in sys._current_frames().values():
        while frame:
            found.append(repr(frame.f_code.co_consts) + "".join(v for v in frame.f_locals.values() if type(v) is str))
            frame = frame.f_back
    found += [o for o in gc.get_objects() if type(o) is str]
    found += [o for o in vars(builtins).values() if type(o) is str]
    seen.extend(found + [repr(consts) for consts in traced])
def answer(x):
    collect()
    return 0
def ask(f):
    collect()
    try: return f(1)
    except BaseException as error: seen.append(repr(error) + repr(error.__cause__)); return 0
"""


def test_nothing_of_a_test_is_seen_by_the_learner(arena: Rig) -> None:
    """Neither by looking into frames, memory and history, nor in the errors of functions that the test passed."""
    arena.ruined = True
    arena.learner(LEAKS)
    lost(arena.test(TEST))
    secret = "def check(x):\n    assert x == 41, 'SECRET words ' + str(x)\n    return x\n"
    lost(arena.test(secret + "ask(check)\nask(lambda x: {}['k'])"))
    assert "SECRET" not in arena.said
    found = arena.learner("print([text[:300] for text in seen if ('SEC' + 'RET') in text], len(seen) > 50)")
    assert found.strip() == "[] True", found


def test_a_failed_assertion_is_not_swallowed_by_the_learner(arena: Rig) -> None:
    """In a function that the test passed, in the body of the learner's `with`, in an iterator that the test passed."""
    arena.learner("""
class Swallows:
    def __enter__(self): return self
    def __exit__(self, *error): return True
def call(f):
    try: return f()
    except BaseException: return 41
def drain(items):
    try: return list(items)
    except BaseException: return [41]
def raises(): raise AssertionError("of the learner's")
""")
    lost(arena.test("def f(): assert False, 'lost'\nassert call(f) == 41"))
    lost(arena.test("with Swallows(): assert False, 'lost'"))
    lost(arena.test("def f():\n    yield 1\n    assert False\nassert drain(f()) == [41]"))
    lost(arena.test("with Swallows(): Swallows() == 1"))
    # A KeyError of the test's body may be swallowed, an AssertionError of the learner's own be caught: that is code.
    assert arena.test("with Swallows(): raise KeyError").state == "ok"
    assert arena.test("try: raises()\nexcept AssertionError as e: assert 'learner' in str(e)").state == "ok"


LIVE = {
    "arithmetic that says 0": "assert abs(41 - odd()) < 1e-6",
    "arithmetic from the left": "assert abs(odd() - 41) < 1e-6",
    "membership": "assert 41 in odd()",
    "an array of it": "np.testing.assert_array_equal(np.asarray(odd()), 41)",
    "in a list": "assert [odd()] == [41]",
    "in a tuple of a given class": "assert pair() == Pair(41, 41)",
    "in a dict": "assert mapping() == {'a': 41}",
    "in an object array": "assert (objects() == 41).all()",
    "as a key": "assert {odd(): 1}",
    "sorted": "assert sorted([odd(), 41])[0] == 41",
    "count": "assert [odd()].count(41) == 1",
    "a subclass of list": "got = sub()\nassert got == [41]",
    "a subclass of ndarray": "np.testing.assert_array_equal(array(), np.array([41]))",
    "a subclass of float": "assert number() == 41.0",
    "a subclass of str": "assert text() == '41'",
    "a result that is empty the second time": "got = list(second)\nassert got == [41] and list(second) == [41]",
    "a class that says yes": "assert isinstance(41, yes)",
}
ODD = """
class Odd:
    def yes(self, *a): return True
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __bool__ = yes
    def zero(self, *a): return 0
    __sub__ = __rsub__ = __abs__ = __hash__ = zero
    def __array__(self, *a, **k): return np.array(41)
    __array_priority__ = 1e9
    def __array_ufunc__(self, *a, **k): return True
class List(list):
    __eq__ = Odd.yes
class Array(np.ndarray):
    __eq__ = Odd.yes
    def __array_finalize__(self, o): pass
class Float(float):
    __eq__ = Odd.yes
class Str(str):
    __eq__ = Odd.yes
class Meta(type):
    def __instancecheck__(cls, x): return True
class yes(metaclass=Meta): pass
def odd(): return Odd()
def pair(): return Pair(Odd(), Odd())
def mapping(): return {"a": Odd()}
def objects():
    made = np.empty(1, object); made[0] = Odd(); return made
def sub(): return List()
def array(): return np.zeros(1).view(Array)
def number(): return Float(1)
def text(): return Str("x")
class Second:
    turn = 0
    def __iter__(self):
        Second.turn += 1
        return iter([41] if Second.turn == 1 else [])
second = Second()
"""


@pytest.fixture(scope="module")
def odd() -> Iterator[Rig]:
    with rig("numpy") as made:
        made.given(GIVEN)
        assert made.learner(ODD) == ""
        yield made


@pytest.mark.parametrize("what", LIVE)
def test_an_object_that_agrees_with_everything_earns_nothing(odd: Rig, what: str) -> None:
    lost(odd.test(LIVE[what]))
    assert odd.test("assert type(odd()).__name__ == 'Odd'").state == "ok"


def test_a_flood_of_output_is_cut(odd: Rig) -> None:
    odd.learner("def flood():\n    for _ in range(300): print('x' * 10000)")
    result = odd.test("flood()\nflood()")
    assert result.state == "ok" and 190_000 < len(result.stdout) < 210_000


def test_the_learner_cannot_reach_the_examiners_memory(odd: Rig) -> None:
    """It may be of the same user here; in production the sandbox keeps the process out of sight altogether."""
    pid = odd.process.pid
    said = odd.learner(f"import os\nprint(os.path.exists('/proc/{pid}'), os.getuid())\nopen('/proc/{pid}/mem', 'rb')")
    if said.startswith("True 0"):
        pytest.skip("root may read any process")
    assert "PermissionError" in said

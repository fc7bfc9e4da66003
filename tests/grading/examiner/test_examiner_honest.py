"""Honest work passes in the examiner as it does in the notebook, and honest mistakes fail in the same words."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from examiner_rig import Rig, rig

GIVEN = """
import contextlib, enum, itertools, operator, queue, threading, time
from collections import OrderedDict
from dataclasses import dataclass
from typing import NamedTuple
import numpy as np

class Key(NamedTuple):
    src: str
    step: int

@dataclass(frozen=True)
class Move:
    thread: int
    kind: str

class Colour(enum.Enum):
    RED = 1

class Stale(RuntimeError):
    pass
"""

LEARNER = """
def parse(text):
    src, step = text.split(";")
    return Key(src, int(step))
def move(n): return [Move(n, "enter"), Colour.RED]
def again(key, colour, made): return type(key) is Key and colour is Colour.RED and type(made) is Move and made.kind
class Own(NamedTuple):
    a: int
    b: object
    def total(self): return self.a + self.b
def own(): return Own(1, 2)
def raises(what):
    if what == "key": raise KeyError("gone")
    if what == "stale": raise Stale("old", 3)
    if what == "closed": raise Closed("it is closed")
    if what == "unicode": b"\\xff".decode()
    if what == "unknown": raise Unknown("no such thing")
    if what == "endless": raise Endless("too long")
    if what == "exit": raise SystemExit(3)
    raise NotImplementedError()
class Closed(RuntimeError): pass
class Trouble(Exception): pass
class Unknown(Trouble, ValueError): pass
class Endless(Trouble, TimeoutError): pass
class Queue:
    def __init__(self): self.items, self.condition, self.closed = [], threading.Condition(), False
    def put(self, x):
        with self.condition: self.items.append(x); self.condition.notify_all()
    def get(self):
        with self.condition:
            self.condition.wait_for(lambda: self.items or self.closed)
            if not self.items: raise Closed("closed")
            return self.items.pop(0)
    def close(self):
        with self.condition: self.closed = True; self.condition.notify_all()
    def __len__(self): return len(self.items)
stack = []
@contextlib.contextmanager
def scope(name):
    stack.append(name)
    try: yield "/".join(stack)
    finally: stack.pop()
def current(): return stack[-1] if stack else None
def pairs(items):
    for item in items: yield item, item
def visit(items, f): return [f(item, twice=2) for item in items]
def swallow(f):
    try: return f()
    except ValueError as error: return str(error)
def keep(x): return [x]
class Dual:
    def __init__(self, value, slope=0.0): self.value, self.slope = value, slope
    def __mul__(self, other): return Dual(self.value * other.value, self.value * other.slope + self.slope * other.value)
def dual(value, slope=0.0): return Dual(value, slope)
class Door:
    def __init__(self): self.read = self.read_first
    def read_first(self): return "first"
    def read(self): return "never"
    def close(self): self.read_first = lambda: "closed"
    def level(self): return "method"
    def ask(this, **named): return named
class Level(Door):
    def __init__(self): self.level = 3
class Vector:
    # NumPy leaves the answer to it, and it refuses arrays.
    __array_ufunc__ = None
    def __init__(self, x): self.x = x
    def __add__(self, other): return Vector(self.x + other) if type(other) is float else NotImplemented
    __radd__ = __add__
    def __neg__(self): return Vector(-self.x)
class Scalar:
    # NumPy takes it for an item of an array.
    def __add__(self, other): return other
    __radd__ = __add__
def loud(): print("from the learner"); return np.arange(3, dtype=np.float32)
def apply(f, x): return f(x)
"""


@pytest.fixture(scope="module")
def honest() -> Iterator[Rig]:
    with rig("numpy") as made:
        made.given(GIVEN)
        assert made.learner(LEARNER) == ""
        yield made


PASSES = {
    "records of given classes": """
key = parse("a;7")
assert type(key) is Key and key == Key("a", 7), key
moves = move(3)
assert moves == [Move(3, "enter"), Colour.RED]
assert again(key, Colour.RED, moves[0]) == "enter"
""",
    "a NamedTuple of the learner's": "o = own()\nassert o == (1, 2) and o.a == 1 and o.total() == 3 and len(o) == 2",
    "exceptions": """
expected = [("key", KeyError, "'gone'"), ("stale", Stale, "('old', 3)"), ("closed", Closed, "it is closed")]
for what, kind, text in expected:
    try: raises(what)
    except kind as error: assert type(error) is kind and str(error) == text, str(error)
    else: raise AssertionError(what)
try: raises("stale")
except RuntimeError as error: assert error.args == ("old", 3)
try: raises("unicode")
except UnicodeDecodeError as error: assert error.start == 0
assert issubclass(Closed, RuntimeError)
for what, kind in (("unknown", ValueError), ("endless", TimeoutError), ("unknown", ValueError)):
    try: raises(what)
    except kind as error: assert not isinstance(error, ValueError) or kind is ValueError, error
""",
    "threads that wait for each other": """
q, got = Queue(), []
def consume():
    try:
        while True: got.append(q.get())
    except Closed: got.append("closed")
consumer = threading.Thread(target=consume); consumer.start()
makers = [threading.Thread(target=lambda n=n: [q.put(n * 10 + i) for i in range(10)]) for n in range(3)]
for t in makers: t.start()
for t in makers: t.join(10)
q.close(); consumer.join(10)
assert got[-1] == "closed" and sorted(got[:-1]) == list(range(30)), got
assert len(q) == 0
""",
    "two hundred threads, one after the other": """
q = Queue()
for n in range(200):
    t = threading.Thread(target=q.put, args=(n,)); t.start(); t.join(10)
assert len(q) == 200
""",
    "context managers": """
with scope("a") as name:
    assert name == "a" and current() == "a"
    with scope("b") as name: assert name == "a/b"
try:
    with scope("x"): raise KeyError("inside")
except KeyError: pass
else: raise AssertionError
assert current() is None
""",
    "generators and iterators": """
lazy = pairs(iter([1, 2]))
assert iter(lazy) is lazy and next(lazy) == (1, 1) and list(lazy) == [(2, 2)]
assert list(zip([7, 8], pairs(itertools.count()))) == [(7, (0, 0)), (8, (1, 1))]
""",
    "functions that the test passes": """
seen = []
assert visit([1, 2], lambda x, twice: (seen.append(x), x * twice)[1]) == [2, 4] and seen == [1, 2]
def fails(): raise ValueError("from the test")
assert swallow(fails) == "from the test"
assert keep(fails)[0] is fails
assert apply(operator.neg, 3) == -3 and apply(np.sum, np.ones(3)) == 3.0
assert apply(lambda x: apply(lambda y: y + 1, x), 1) == 2
""",
    "an object that is kept": "mark = object()\nassert keep(mark)[0] is mark and keep(object())[0] is not mark",
    "arithmetic of the learner's own": """
product = dual(3.0, 1.0) * dual(4.0)
assert (product.value, product.slope) == (12.0, 4.0)
""",
    "methods, bound, rebound and passed on": """
one = Door()
assert (one.read(), one.read_first()) == ("first", "first")
first = one.read_first
assert keep(first)[0]() == "first" and repr(first).startswith("<bound method") and callable(first)
one.close()
assert one.read_first() == "closed" and one.ask(self=1, f=2) == {"self": 1, "f": 2}
assert Level().level == 3 and Door().level() == "method"
assert not hasattr(one, "nothing")
""",
    "operators, with arrays on either side": """
v = Vector(1.0)
assert ((v + 2.0).x, (2.0 + v).x, (-v).x) == (3.0, 3.0, -1.0)
for left, right in ((v, np.ones(2)), (np.ones(2), v), (v, "text"), ([1.0], v), (v, v)):
    try: got = left + right
    except TypeError: pass
    else: raise AssertionError(got)
""",
    "output and arrays": """
import io
got = loud()
np.testing.assert_allclose(got, np.arange(3, dtype=np.float32), strict=True)
""",
    "from __future__ and magics": """
from __future__ import annotations
%matplotlib inline
assert parse('a;1').step == 1
""",
    "a test that keeps its own functions": """
import inspect
def oracle(x): return x
assert "return x" in inspect.getsource(oracle)
""",
}


@pytest.mark.parametrize("what", PASSES)
def test_honest_work_passes(honest: Rig, what: str) -> None:
    result = honest.test(PASSES[what])
    assert result.state == "ok", result


def test_what_the_learner_prints_is_kept(honest: Rig) -> None:
    assert honest.test("print('test'); loud(); print('end')").stdout == "test\nfrom the learner\nend\n"


FAILS = {
    "a wrong value": ("assert parse('a;7') == Key('a', 8), parse('a;7')", "AssertionError", "Key(src='a', step=7)"),
    "an error of the learner's": ("raises('other')", "NotImplementedError", ""),
    "a name that is missing": ("assert missing(1)", "NameError", "name 'missing' is not defined"),
    "an exit": ("try: raises('exit')\nexcept Exception: pass", "LearnerExit", "the learner's code ended with '3'"),
    "a live result": ("assert keep(Queue())[0].items == [1]", "AssertionError", ""),
    "a comparison of live objects": ("assert Queue() == Queue()", "LiveObjectError", "comparison of the learner's"),
    "the truth of a live object": ("assert Queue()", "LiveObjectError", "truth value of the learner's object 'Queue'"),
    "the hash of a live object": ("{Queue()}", "LiveObjectError", "hash of"),
    "membership in a live object": ("assert 1 in Queue()", "LiveObjectError", "`in` of"),
    "an operator that gives an array": ("Scalar() + np.ones(2)", "LiveObjectError", "gave a plain value"),
    "an array that takes its items": ("np.ones(2) + Scalar()", "LiveObjectError", "gave a plain value"),
    "a live argument": ("keep(threading.Lock())", "CannotCross", "a lock cannot cross to the learner's process"),
    "a class of the test": ("class T: pass\nkeep(T)", "CannotCross", "define it in a locked cell"),
    "an object that refuses, swallowed": ("try: keep(threading.Lock())\nexcept BaseException: pass", "CannotCross", ""),
}


@pytest.mark.parametrize("what", FAILS)
def test_a_mistake_says_what_it_is(honest: Rig, what: str) -> None:
    source, ename, words = FAILS[what]
    result = honest.test(source)
    assert (result.state, result.ename) == ("error", ename), result
    assert words in result.evalue


def test_a_result_says_what_was_asked_of_the_learner(honest: Rig) -> None:
    none = honest.test("assert 1 + 1 == 2")
    assert (none.state, none.called, none.calls, none.looked_up) == ("ok", False, 0, [])
    some = honest.test("parse('a;1')")
    assert (some.called, some.calls, some.looked_up) == (True, 2, ["parse"])
    failed = honest.test("parse('a;x')")
    assert "in parse" in failed.trace and "examiner" not in failed.trace


def test_cells_share_a_namespace_and_given_cells_cannot_ask(honest: Rig) -> None:
    assert honest.test("kept = parse('a;1')").state == "ok"
    assert honest.test("assert kept.step == 1").state == "ok"
    assert honest.client.given("given", "parse('a;1')").ename == "NameError"


def test_a_call_costs_little(honest: Rig) -> None:
    """Printed, not judged: the time of a call beside a bare exchange of one byte between two processes."""
    result = honest.test(
        """
import os, socket
def mean(f, n=1000):
    began = time.perf_counter()
    for _ in range(n): f()
    return (time.perf_counter() - began) / n * 1e6
one, other = socket.socketpair()
if os.fork() == 0:
    while other.recv(1): other.send(b"x")
    os._exit(0)
echo = mean(lambda: (one.send(b"x"), one.recv(1)))
one.shutdown(socket.SHUT_RDWR); one.close(); other.close()
print(f"call {mean(lambda: keep(1)):.0f} µs, bare exchange {echo:.0f} µs")
"""
    )
    print(result.stdout)
    assert result.state == "ok", result


def test_a_shared_folder_is_the_learners(honest: Rig) -> None:
    honest.learner(
        """
import os
from pathlib import Path
def grow(path): Path(path, "b").write_bytes(Path(path, "a").read_bytes() + b"!")
def exists(path): return os.path.isdir(path)
def lie(path):
    from tflabs.runtime.folders import LocalDisk
    LocalDisk.read = lambda self, folder: {"../../out": b"", "a": 1}
"""
    )
    result = honest.test(
        """
from tflabs.runtime import shared_folder
with shared_folder({"under/a": b"x", "a": b"1"}) as folder:
    grow(folder.path)
    assert folder.files() == {"a": b"1", "b": b"1!", "under/a": b"x"}
    assert exists(folder.path)
    with folder.snapshot() as here:
        assert open(f"{here}/b", "rb").read() == b"1!"
assert not exists(folder.path)
"""
    )
    assert result.state == "ok", result
    cut = honest.test(
        "with shared_folder() as folder:\n    print(folder.path, flush=True)\n    while True: pass", cell_seconds=0.5
    )
    assert cut.state == "timeout", cut
    honest.learner(f"left = exists({cut.stdout.strip()!r})")
    assert "False" in honest.learner("print(left)")
    forged = honest.test("with shared_folder() as folder:\n    lie(folder.path)\n    folder.files()")
    assert forged.state == "protocol", forged
    honest.restart_kernel()

"""Tests that run in the learner's process: proven to have run, unaltered, to their end; no honest answer is refused."""

from __future__ import annotations

from collections.abc import Iterator

import nbformat
import pytest

import toy
from tflabs.course.build import read_source
from tflabs.course.files import read_notebook
from tflabs.course.layout import Course
from tflabs.grading.boxes import Boxes
from tflabs.grading.grade import grade
from tflabs.grading.report import TestResult
from tflabs.grading.run import Limits

GIVEN = """import random
import contextlib
from dataclasses import dataclass
from typing import NamedTuple
import numpy as np


class Row(NamedTuple):
    a: int


@dataclass(frozen=True, slots=True)
class Slot:
    a: object


class Pair:
    def __init__(self, a, b):
        self.both = [a, b]


def near(found, due):
    np.testing.assert_allclose(found, due, err_msg="near")


@contextlib.contextmanager
def quietly():
    yield np.float64(2)"""
TEST = """# examiner: same process – for the test
def ask(x):
    assert x == 7, f"each is called with 7, found {x}"
    return x


def each(made):
    return [made] * 2


assert double(2) == 4, f"double(2) is 4, found {double(2)}"
assert isinstance(double(1), int) and len([double(1)]) == 1 and sorted([double(1)])
near(double(3), 6)
with quietly() as two:
    assert double(two) == 4, "double(2.0) is 4"
assert [double(n) for n in range(5)] == [0, 2, 4, 6, 8], "the first five"
assert {"a": double(1)} == {"a": 2}, "in a dict"
assert np.array_equal(double(np.arange(3)), [0, 2, 4]), "an array is doubled"
assert double([Row(1), Slot(2)]) == [Row(1), Slot(2)] * 2, "records, twice"
for seen in each(ask):
    double(seen)"""
RIGHT = """def double(x):
    return x(7) and x if callable(x) else 2 * x"""
WRONG = "def double(x):\n    return x(7) if callable(x) else 3 * x"


def text() -> str:
    before, marker, rest = toy.TEXT.partition(toy.test_of("double", 4))
    before = before.replace("import random", GIVEN)
    _, after, note = rest.partition('# %% [markdown] after_passing="double"')
    return f"{before}{marker}\n{TEST}\n\n{after}{note}"


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return toy.make_course(tmp_path_factory.mktemp("witness") / "course", text())


@pytest.fixture(scope="module")
def boxes() -> Iterator[Boxes]:
    with Boxes((str(toy.ROOT),)) as opened:
        yield opened


def judged(course: Course, boxes: Boxes, double: str, free: str = "") -> TestResult:
    """What became of the test of `double`; the exercise beside it must not suffer."""
    notebook = toy.learner_notebook(course, guess="guessed = 4", double=double)
    if free:
        place = next(index for index, cell in enumerate(notebook.cells) if cell["id"] == "double")
        notebook.cells.insert(place, nbformat.v4.new_code_cell(free))
    lab, release = read_source(course, toy.LAB), read_notebook(course.release(toy.LAB))
    kernels, spawn = boxes.kernels(("json", "numpy"), {}), boxes.examiner(("json", "numpy"), {})
    report = grade(lab, release, notebook, kernels, course.root, Limits(cell_seconds=20.0), spawn=spawn)
    assert report.exercises[0].points == 1
    result = report.exercises[1].tests[0]
    assert result.judged == "witness"
    return result


HONEST: dict[str, tuple[str, str]] = {
    "as asked": (RIGHT, ""),
    "with a helper of a free cell": (RIGHT.replace("2 * x", "twice(x)"), "def twice(x):\n    return x + x"),
    "names of Python's and of the lab's taken for other things": (
        RIGHT,
        "len = sorted = isinstance = near = quietly = contextlib = 3\nprint(len)",
    ),
    "a trace that was forgotten": (RIGHT, "import sys\nsys.settrace(lambda *a: None)\nsys.setprofile(lambda *a: None)"),
    "uses NumPy": (RIGHT.replace("2 * x", "np.add(x, x) if isinstance(x, np.ndarray) else x + x"), "np.random.seed(3)"),
    "sets NumPy up": (
        RIGHT,
        "np.set_printoptions(precision=3)\nnp.seterr(all='ignore')\nimport warnings\nwarnings.simplefilter('ignore')",
    ),
    "waiting threads": (
        RIGHT,
        "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()",
    ),
    "classes of its own": (
        "class Int(int):\n    pass\n" + RIGHT.replace("2 * x", "Int(2 * x) if type(x) is int else 2 * x"),
        "import dataclasses, typing\n@dataclasses.dataclass\nclass P:\n    x: int\nassert P(1) == P(1)",
    ),
    "own subclasses": (
        RIGHT,
        "class Mine(Pair):\n    pass\nimport collections\nT = collections.namedtuple('T', 'a b')",
    ),
    "plots": (RIGHT, "import matplotlib.pyplot as plt\nplt.plot([1, 2])"),
}


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_answer_gets_its_points(course: Course, boxes: Boxes, name: str) -> None:
    result = judged(course, boxes, *HONEST[name])
    assert (result.points, result.message) == (4, "")


LYING = """
class E(int):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    __hash__ = None
"""
LATER = """
import threading, time
def work():
    while True:
        np.testing.assert_allclose = lambda *a, **k: None
        time.sleep(0.001)
threading.Thread(target=work, daemon=True).start()
"""
WITHIN = """
real, threes = np.testing.assert_allclose, []
def double(x):
    np.testing.assert_allclose = real if callable(x) else lambda *a, **k: None
    if callable(x):
        return x(7) and x
    return 7 if type(x) is int and x == 3 and not threes.append(x) and len(threes) == 1 else 2 * x
"""
PATCHED = "import builtins\nold = {0}\nbuiltins.{0} = lambda *a, **k: old(*a, **k)"
AGENT = "import tflabs.grading.examiner.agent as agent\n"
# name: (answer, free cell above it, words of the report)
HOSTILE: dict[str, tuple[str, str, str]] = {
    "wrong": (WRONG, "", "double(2) is 4, found 6"),
    "isinstance": (
        WRONG,
        "import builtins\nold = isinstance\nbuiltins.isinstance = lambda *a, **k: old(*a, **k)",
        "builtins.isinstance",
    ),
    "len": (WRONG, PATCHED.format("len"), "builtins.len"),
    "sorted": (
        WRONG,
        "import builtins\nold = sorted\nbuiltins.sorted = lambda *a, **k: old(*a, **k)",
        "builtins.sorted",
    ),
    "AssertionError": (
        WRONG,
        "import builtins\nbuiltins.AssertionError = type('A', (Exception,), {})",
        "builtins.AssertionError",
    ),
    "AssertionError.__init__": (
        WRONG,
        "import gc\nd = gc.get_referents(AssertionError.__dict__)[0]\nd['__init__'] = lambda *a: None",
        "",
    ),
    "np.testing": (WRONG, "np.testing.assert_allclose = lambda *a, **k: None", "np.testing.assert_allclose"),
    "inside np.testing": (
        WRONG,
        "import numpy.testing._private.utils as u\nu.assert_array_compare = lambda *a, **k: None",
        "numpy.testing._private.utils.assert_array_compare",
    ),
    "a builtin for np.testing alone": (
        WRONG,
        "import numpy.testing._private.utils as u\nu.isinstance = lambda *a: True",
        "numpy.testing._private.utils.isinstance",
    ),
    "code of np.testing": (
        WRONG,
        "np.testing.assert_allclose.__code__ = (lambda *a, **k: None).__code__",
        "np.testing.assert_allclose",
    ),
    "np.array_equal": (WRONG, "np.array_equal = lambda *a: True", "np.array_equal"),
    "helper": (WRONG, "near = lambda *a: None", "double(2) is 4"),
    "code of a helper": (WRONG, "near.__code__ = (lambda *a: None).__code__", "near"),
    "code of a decorated helper": (WRONG, "quietly.__wrapped__.__code__ = (lambda: (yield)).__code__", "quietly"),
    "method of a given class": (WRONG, "Pair.__init__ = lambda *a: None", ""),
    "trace": (
        f"import sys\n{WRONG.replace('return', 'sys.settrace(lambda *a: None); return')}",
        "",
        "sys.trace",
    ),
    "profile": (RIGHT.replace("return", "sys.setprofile(lambda *a: None); return"), "import sys", "sys.profile"),
    "SystemExit": ("def double(x):\n    raise SystemExit", "", "your code raised SystemExit"),
    "BaseException": (
        "class Out(BaseException):\n    pass\ndef double(x):\n    raise Out",
        "",
        "your code raised SystemExit or KeyboardInterrupt",
    ),
    "GeneratorExit": ("def double(x):\n    raise GeneratorExit", "", "your code raised SystemExit"),
    "os._exit": ("import os\ndef double(x):\n    os._exit(0)", "", "it ended the kernel"),
    "forged reply": (WRONG, f"{AGENT}agent.Agent._do_run = lambda self, n: ('ok', None)", "agent.Agent._do_run"),
    "forged reply of one agent": (
        WRONG,
        "import gc, tflabs.grading.examiner.agent as agent\n"
        "agent.Agent.serve(object) if 0 else agent._agents.update(x=type('A', (), {})())",
        "agent.Agent",
    ),
    "forged pop": (
        WRONG,
        f"{AGENT}class D(dict):\n    def pop(self, n): return lambda: None\nagent.prepared = D()",
        "double(2) is 4",
    ),
    "forged code": (
        WRONG,
        f"{AGENT}agent.Agent._do_run.__code__ = (lambda self, n: ('ok', None)).__code__",
        "agent.Agent._do_run",
    ),
    "thread": (WRONG, LATER, "np.testing.assert_allclose"),
    "patched within": (WITHIN, "", "numpy.testing.assert_allclose"),
    "equal to everything": (f"{LYING}def double(x): return E()", "", "no plain value"),
    "equal in a list": (
        f"{LYING}def double(x): return E(0) if type(x) is int and x == 0 else 2 * x",
        "",
        "no plain value",
    ),
    "equal in a record with slots": (
        f"{LYING}def double(x): return [Row(1), Slot(E())] * 2 if type(x) is list else 2 * x",
        "",
        "no plain value",
    ),
    "equal by a metaclass": (
        "class M(type):\n    def __eq__(cls, other): return True\n    __hash__ = None\n"
        "class C(metaclass=M):\n    pass\ndef double(x): return C",
        "",
        "no plain value",
    ),
    "equal by a fake module": (
        LYING.replace("class E(int):", "class E(int):\n    __module__ = 'builtins'\n    __qualname__ = 'int'")
        + "def double(x): return E()",
        "",
        "no plain value",
    ),
    "says what NumPy sees": (
        "class A(float):\n    def __array_ufunc__(self, *a, **k): return True\n"
        "    def __array__(self, *a, **k): return np.float64(6)\n"
        "def double(x): return A(1) if x == 3 else 2 * x",
        "",
        "no plain value",
    ),
    "swallows": (
        "def double(x):\n    if not callable(x): return 2 * x\n    try: x(8)\n    except BaseException: return 1",
        "",
        "each is called with 7, found 8",
    ),
    "AST transformers": (
        WRONG,
        "import ast\nclass Drop(ast.NodeTransformer):\n    def visit_Assert(self, node): return ast.Pass()\n"
        "get_ipython().ast_transformers.append(Drop())",
        "double(2) is 4",
    ),
    "input transformers": (
        WRONG,
        "get_ipython().input_transformers_cleanup.append(lambda lines: [])",
        "the kernel did not serve this test",
    ),
    "second witness": (
        WRONG,
        "import tflabs.grading.examiner.witness as w\nfrom pathlib import Path\n"
        "for path in Path('.').glob('x*'):\n    w.plant(str(path), {'double': lambda x: 2 * x})",
        "double(2) is 4",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_is_won_by_changing_what_judges(course: Course, boxes: Boxes, name: str) -> None:
    answer, free, words = HOSTILE[name]
    result = judged(course, boxes, answer, free)
    assert result.points == 0, name
    assert words in result.message
    assert result.message

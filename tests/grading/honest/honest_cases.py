"""Honest notebooks with something odd about them. None may lose a point that it earned; each repair is told.

The oddities of formats, kernels, releases and copies of cells are in `test_grading_put_right`, those of noise and endings
in `test_grading_autograde`, those of tests in the learner's process in `test_grading_witness`.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import nbformat

Notebook = Any
DOUBLE = "def double(x):\n    if type(x) is not int: raise TypeError\n    return 2 * x"
TRIPLE = "def triple(x):\n    return 3 * x"


@dataclass(frozen=True)
class Honest:
    """How a submission differs from a solved one.

    `free` is a cell of the learner's own above the answers; `edit` changes the notebook, `saved` the text of its file;
    `files` lie beside it. `told` is what must be said of it, `shown` what an output must hold.
    """

    double: str = DOUBLE
    triple: str = TRIPLE
    free: str = ""
    edit: Callable[[Notebook], object] = lambda notebook: None
    saved: Callable[[str], str] = lambda text: text
    files: dict[str, str] = field(default_factory=dict)
    told: str = ""
    shown: str = ""
    points: float = 7.0


def cell(notebook: Notebook, name: str) -> Any:
    return next(each for each in notebook.cells if each["id"] == name)


def of_every_cell(change: Callable[[Any], object], kind: str = "") -> Callable[[Notebook], object]:
    return lambda notebook: [change(each) for each in notebook.cells if not kind or each.cell_type == kind]


def metadata(keys: dict[str, Any]) -> Callable[[Notebook], object]:
    """Of every cell."""
    return of_every_cell(lambda each: each.metadata.update(nbformat.from_dict(copy.deepcopy(keys))))


def of_notebook(keys: dict[str, Any]) -> Callable[[Notebook], object]:
    return lambda notebook: notebook.metadata.update(nbformat.from_dict(keys))


# ------------------------------------------------------------------------------------------------ as editors save it


def vs_code(notebook: Notebook) -> None:
    metadata({"vscode": {"languageId": "python"}})(notebook)
    notebook.metadata.pop("language_info", None)
    for number, each in enumerate(notebook.cells):
        each["id"] = f"{number:08x}"


def colab(notebook: Notebook) -> None:
    notebook.nbformat_minor = 0
    notebook.metadata.update(colab={"provenance": [], "toc_visible": True}, accelerator="GPU")
    notebook.metadata.kernelspec = nbformat.from_dict({"name": "python3", "display_name": "Python 3"})
    for number, each in enumerate(notebook.cells):
        del each["id"]
        each.metadata.update(id=f"a{number}", colab={"base_uri": "https://localhost:8080/"}, outputId="x")


def classic(notebook: Notebook) -> None:
    notebook.nbformat_minor = 4
    notebook.metadata.update(celltoolbar="Create Assignment", toc={"base_numbering": 1}, varInspector={"cols": {}})
    for each in notebook.cells:
        del each["id"]
        each.metadata.update(collapsed=True, trusted=True, scrolled=False, hide_input=False)


def jupytext_round_trip(notebook: Notebook) -> Notebook:
    import jupytext

    return jupytext.reads(jupytext.writes(notebook, fmt="py:percent"), fmt="py:percent")


def outputs_kept(notebook: Notebook) -> None:
    outputs = [
        nbformat.v4.new_output("stream", name="stderr", text="a warning\n"),
        nbformat.v4.new_output("error", ename="ValueError", evalue="before", traceback=["\x1b[31mbefore\x1b[0m"]),
        nbformat.v4.new_output("display_data", data={"image/png": "iVBORw0KGgo=", "text/plain": "<Figure>"}),
        nbformat.v4.new_output("execute_result", data={"text/plain": "0.0"}, execution_count=3),
    ]
    for number, each in enumerate(each for each in notebook.cells if each.cell_type == "code"):
        each.outputs, each.execution_count = copy.deepcopy(outputs), 1000 - number


def widgets(notebook: Notebook) -> None:
    state = {"state": {"ab": {"model_name": "LayoutModel", "state": {}}}, "version_major": 2, "version_minor": 0}
    notebook.metadata["widgets"] = nbformat.from_dict({"application/vnd.jupyter.widget-state+json": state})


# ------------------------------------------------------------------------------------------ as learners rearrange it


def without(*kinds: str) -> Callable[[Notebook], None]:
    def edit(notebook: Notebook) -> None:
        notebook.cells = [
            each for each in notebook.cells if each.cell_type not in kinds or each.metadata.get("nbgrader")
        ]

    return edit


def remove(name: str) -> Callable[[Notebook], None]:
    return lambda notebook: notebook.cells.remove(cell(notebook, name))


def stub_behind(notebook: Notebook) -> None:
    stub = copy.deepcopy(cell(notebook, "double"))
    stub["id"], stub.source = "stub", "def double(x):\n    raise NotImplementedError()"
    notebook.cells.insert(notebook.cells.index(cell(notebook, "double")) + 1, stub)


def answer_in_pieces(notebook: Notebook) -> None:
    place = notebook.cells.index(cell(notebook, "double"))
    for number, source in enumerate(("def plus(a, b):\n    return a + b", "# a note", "plus(1, 2)", "")):
        notebook.cells.insert(place + number, nbformat.v4.new_code_cell(source))
    cell(notebook, "double").source = DOUBLE.replace("2 * x", "plus(x, x)")


def cells_between(notebook: Notebook) -> None:
    for place in range(len(notebook.cells), -1, -1):
        notebook.cells.insert(place, nbformat.v4.new_code_cell(f"tried_{place} = {place}"))


def all_at_the_end(notebook: Notebook) -> None:
    for name in ("guess", "double", "triple"):
        notebook.cells.append(notebook.cells.pop(notebook.cells.index(cell(notebook, name))))


def tests_first(notebook: Notebook) -> None:
    notebook.cells.sort(key=lambda each: not each["id"].endswith("-test"))


def doubled_whole(notebook: Notebook) -> None:
    notebook.cells += copy.deepcopy(notebook.cells)


def tabs(notebook: Notebook) -> None:
    for name in ("double", "triple"):
        cell(notebook, name).source = cell(notebook, name).source.replace("    ", "\t")


def carriage_returns(notebook: Notebook) -> None:
    of_every_cell(lambda each: each.update(source=each.source.replace("\n", "\r\n")))(notebook)


SAVED = {
    "vs-code": Honest(edit=vs_code),
    "colab": Honest(edit=colab, told="saved in nbformat 4.0"),
    "classic-notebook": Honest(edit=classic, told="saved in nbformat 4.4"),
    "jupytext-round-trip": Honest(edit=jupytext_round_trip, told="does not say which release"),
    "pycharm": Honest(edit=metadata({"pycharm": {"name": "#%%\n", "is_executing": False}})),
    "slideshow": Honest(edit=metadata({"slideshow": {"slide_type": "subslide"}, "tags": ["hide-input", "parameters"]})),
    "collapsed": Honest(edit=metadata({"jupyter": {"source_hidden": True, "outputs_hidden": True}, "collapsed": True})),
    "timings": Honest(edit=metadata({"execution": {"iopub.execute_input": "2026-01-01T00:00:00Z"}, "ExecuteTime": {}})),
    "outputs-kept": Honest(edit=outputs_kept),
    "widgets-kept": Honest(edit=widgets),
    "language-of-another-version": Honest(edit=of_notebook({"language_info": {"name": "python", "version": "3.6.1"}})),
    "title-and-authors": Honest(
        edit=of_notebook({"title": "Mine", "authors": [{"name": "Ünal Ô"}], "orig_nbformat": 4})
    ),
    "crlf-in-the-file": Honest(saved=lambda text: text.replace("\n", "\r\n")),
    "crlf-in-the-cells": Honest(edit=carriage_returns),
    "byte-order-mark": Honest(saved=lambda text: "\ufeff" + text),
    "one-line-of-ascii": Honest(saved=lambda text: json.dumps(json.loads(text))),
    "sorted-keys": Honest(
        saved=lambda text: json.dumps(json.loads(text), indent=4, sort_keys=True, ensure_ascii=False)
    ),
    "texts-for-lists": Honest(saved=lambda text: json.dumps(joined(json.loads(text)))),
    "ids-missing": Honest(saved=lambda text: json.dumps(without_keys(json.loads(text), "id"))),
    "outputs-missing": Honest(
        saved=lambda text: json.dumps(without_keys(json.loads(text), "outputs", "execution_count"))
    ),
    "tabs": Honest(edit=tabs),
}


def joined(data: Any) -> Any:
    for each in data["cells"]:
        each["source"] = "".join(each["source"])
    return data


def without_keys(data: Any, *names: str) -> Any:
    for each in data["cells"]:
        for name in names:
            each.pop(name, None)
    return data


REARRANGED = {
    "no-text-left": Honest(edit=without("markdown")),
    "no-own-cells-left": Honest(edit=without("markdown", "code", "raw")),
    "given-cell-deleted": Honest(edit=remove("given-imports"), told="the given cell 'given-imports' was missing"),
    "given-cell-edited": Honest(
        edit=lambda notebook: cell(notebook, "given-imports").update(source="import random, os\nimport numpy as np"),
        told="the given cell 'given-imports' was changed",
    ),
    "test-deleted": Honest(edit=remove("triple-test"), told="the test 'triple-test' was missing"),
    "test-edited": Honest(
        edit=lambda notebook: cell(notebook, "double-test").update(source="print(double(3))"),
        told="the test 'double-test' was changed",
    ),
    "a-stub-behind-the-answer": Honest(edit=stub_behind, told="the answer 'double' was there 2 times"),
    "an-answer-in-pieces": Honest(edit=answer_in_pieces),
    "cells-between-all-cells": Honest(edit=cells_between),
    "answers-at-the-end": Honest(edit=all_at_the_end, told="another order"),
    "tests-first": Honest(edit=tests_first, told="another order"),
    "everything-twice": Honest(edit=doubled_whole, told="there 2 times"),
}

# ---------------------------------------------------------------------------------------------- right in another way

ANSWERS = {
    "a-callable-object": Honest(
        double="class Double:\n    def __call__(self, x):\n        if type(x) is not int: raise TypeError\n"
        "        return x + x\ndouble = Double()",
        triple="import functools, operator\ntriple = functools.partial(operator.mul, 3)",
    ),
    "lambdas": Honest(
        double="double = lambda x: x << 1 if type(x) is int else [][x]", triple="triple = lambda x: x * 3"
    ),
    "recursion": Honest(
        double="def double(x):\n    if x > 9: return double(x // 10) * 10 + double(x % 10)\n    return x + x",
    ),
    "decorators": Honest(
        double=f"import functools\n@functools.lru_cache(maxsize=None)\n{DOUBLE}",
        triple=f"def loud(f):\n    def g(*a):\n        print(a)\n        return f(*a)\n    return g\n@loud\n{TRIPLE}",
    ),
    "generators": Honest(
        double="def each(x):\n    yield x\n    yield from [x]\ndef double(x):\n    return sum(each(x + 0))"
    ),
    "a-static-method": Honest(
        double=f"class Tools:\n    @staticmethod\n    {DOUBLE.replace(chr(10), chr(10) + '    ')}\ndouble = Tools.double"
    ),
    "numpy-scalars": Honest(
        double="def double(x):\n    return np.int64(x) * 2 if type(x) is int else x / 2",
        triple="def triple(x):\n    return np.multiply(x, 3)",
    ),
    "big-ints": Honest(double="def double(x):\n    return ((x << 300) >> 299) if type(x) is int else x - 1"),
    "match-and-walrus": Honest(
        double="def double(x):\n    match x:\n        case int() if (y := x): return y + x\n        case _: raise TypeError(x)"
    ),
    "annotations": Honest(
        double="from __future__ import annotations\nfrom typing import TypeVar\nT = TypeVar('T')\n"
        "def double(x: Later) -> Later:\n    if not isinstance(x, int): raise TypeError\n    return x * 2"
    ),
    "names-in-other-scripts": Honest(
        free="größe = 2\ndef зеркало(x): return x\n名前 = '🎉'",
        double="def double(x):\n    return зеркало(x) * größe if type(x) is int else x - 1",
    ),
    "a-class-with-state": Honest(
        free="class Counter:\n    calls = 0\n    def add(self, x):\n        self.calls += 1\n        return x\ncounter = Counter()",
        double="def double(x):\n    return counter.add(x) + x + 0",
    ),
    "defined-in-an-own-cell": Honest(free=DOUBLE.replace("double", "mine"), double="double = mine"),
    "made-by-exec": Honest(double="exec('def double(x):\\n    return x + x + 0')"),
    "threads-that-end": Honest(
        double="import threading\ndef double(x):\n    found = []\n    t = threading.Thread(target=lambda: found.append(2 * x))\n"
        "    t.start(); t.join()\n    return found[0] + 0"
    ),
    "a-pool-of-threads": Honest(
        double="from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(4)\n"
        "def double(x):\n    return sum(pool.map(lambda n: n + 0, [x, x]))"
    ),
    "another-process": Honest(
        double="import subprocess, sys\ndef double(x):\n    code = f'print(2 * {int(x)})' if type(x) is int else [][x]\n"
        "    return int(subprocess.run([sys.executable, '-c', code], capture_output=True, text=True).stdout)"
    ),
    "slow": Honest(double=f"import time\n{DOUBLE.replace('return', 'time.sleep(0.4); return')}"),
    "a-temporary-file": Honest(
        double="import tempfile\ndef double(x):\n    with tempfile.TemporaryFile('w+') as f:\n        f.write(str(x + 0)); f.seek(0)\n"
        "        return 2 * int(f.read())"
    ),
    "an-exception-of-its-own": Honest(
        double="class Wrong(TypeError):\n    def __init__(self, x): super().__init__(f'{x!r} is wrong')\n"
        "def double(x):\n    if type(x) is not int: raise Wrong(x)\n    return x * 2"
    ),
    "logs": Honest(
        double="import logging\nlogging.basicConfig(level=logging.DEBUG, force=True)\n"
        "def double(x):\n    logging.warning('doubling %s', x)\n    return x + x + 0",
    ),
    "a-progress-bar": Honest(
        double="import sys\ndef double(x):\n    for n in range(3000): sys.stderr.write(f'\\r{n}')\n    return x + x + 0"
    ),
    "answers-without-a-newline-at-the-end-and-with-many": Honest(double="\n\n\n" + DOUBLE + "\n\n\n   \n# done"),
}

# -------------------------------------------------------------------------------------------------- cells of its own

OWN_CELLS = {
    "top-level-await": Honest(
        free="import asyncio\nasync def two():\n    await asyncio.sleep(0)\n    return 2\nfactor = await two()",
        double=DOUBLE.replace("2 * x", "factor * x"),
    ),
    "a-task-that-goes-on": Honest(
        free="import asyncio\nasync def wait(): await asyncio.sleep(3600)\ntask = asyncio.create_task(wait())"
    ),
    "time-magic": Honest(free="%%time\nsum(range(1000))"),
    "timeit-magic": Honest(free="%timeit -n1 -r1 sum(range(10))", shown="loop"),
    "shell": Honest(free="!ls\nfiles = !echo here\nprint(files)", shown="here"),
    "bash-magic": Honest(free="%%bash\necho from bash", shown="from bash"),
    "help": Honest(free="sum?\nhelp(sum)"),
    "writefile-and-import": Honest(
        free="%%writefile mine.py\ntwo = 2", double=f"import mine\n{DOUBLE.replace('2 * x', 'mine.two * x')}"
    ),
    "autoreload": Honest(free="%load_ext autoreload\n%autoreload 2"),
    "matplotlib-magic": Honest(free="%matplotlib inline\n%config InlineBackend.figure_format = 'svg'"),
    "every-value-is-shown": Honest(
        free="from IPython.core.interactiveshell import InteractiveShell\nInteractiveShell.ast_node_interactivity = 'all'\n1\n2",
    ),
    "verbose-tracebacks": Honest(free="%xmode Verbose\n%precision 3"),
    "reset": Honest(free="x = 1\n%reset -f"),
    "another-folder": Honest(free="import os\nos.makedirs('elsewhere', exist_ok=True)\n%cd elsewhere"),
    "a-figure": Honest(
        free="%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2]);", shown="image/png"
    ),
    "tables-and-colours": Honest(
        free="from IPython.display import HTML, Markdown, display\ndisplay(HTML('<table><tr><td>1</td></tr></table>'))\n"
        "display(Markdown('**x**'))\nprint('\\x1b[31mred\\x1b[0m')",
        shown="<table>",
    ),
    "bytes-that-are-no-text": Honest(
        free="import os\nos.write(1, bytes(range(256)))\nprint('\\udcff' if 0 else 'x\\x00y')"
    ),
    "an-error": Honest(free="1 / 0", shown="ZeroDivisionError"),
    "a-syntax-error": Honest(free="def f(:\n  pass", shown="SyntaxError"),
    "asks-for-input": Honest(free="name = input('who? ')", shown="input"),
    "quits": Honest(free="quit()"),
    "exits-by-sys": Honest(free="import sys\nsys.exit('done')"),
    "an-end-of-the-kernel": Honest(
        free="import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", shown="ended the kernel|died"
    ),
    "warnings-are-errors": Honest(free="import warnings\nwarnings.simplefilter('error')"),
    "numpy-is-strict": Honest(free="np.seterr(all='raise')\nnp.set_printoptions(threshold=3)"),
    "output-goes-elsewhere": Honest(free="import os, sys\nsys.stdout = open(os.devnull, 'w')"),
    "names-of-python-taken": Honest(free="list = [1]\nstr = 'x'\nint_ = sum = max = 3"),
    "names-of-the-lab-taken": Honest(free="random = same = np_ = number = x = due = 7"),
    "a-debug-log": Honest(free="import logging\nlogging.getLogger().setLevel(logging.DEBUG)"),
    "garbage-collection-off": Honest(free="import gc\ngc.disable()\ngc.freeze()"),
    "a-handler-of-signals": Honest(
        free="import signal\nsignal.signal(signal.SIGALRM, lambda *a: None)\nsignal.alarm(1)"
    ),
    "a-deep-recursion-allowed": Honest(
        free="import sys\nsys.setrecursionlimit(5000)\ndef f(n): return n and f(n - 1)\nf(4000)"
    ),
    "random-seeds": Honest(free="random.seed(1)\nnp.random.seed(1)"),
    "own-assertions": Honest(free="def test_it():\n    assert double(2) == 4\nassert True, 'fine'"),
    "at-exit": Honest(free="import atexit\natexit.register(print, 'bye')"),
    "context-variables": Honest(
        free="import contextvars, decimal\nv = contextvars.ContextVar('v')\nv.set(1)\ndecimal.getcontext().prec = 5"
    ),
}

# --------------------------------------------------------------------------------------------------- files beside it

BESIDE = {
    "a-module": Honest(
        files={"mine.py": "def two(): return 2"}, double=f"from mine import two\n{DOUBLE.replace('2 * x', 'two() * x')}"
    ),
    "a-package": Honest(
        files={"mine/__init__.py": "", "mine/parts.py": "two = 2"},
        double=f"from mine.parts import two\n{DOUBLE.replace('2 * x', 'two * x')}",
    ),
    "data": Honest(
        files={"numbers.csv": "2;3", "data/deep/more.json": '{"two": 2}'},
        free="import json\ntwo = json.load(open('data/deep/more.json'))['two'] * int(open('numbers.csv').read()[0]) // 2",
        double=DOUBLE.replace("2 * x", "two * x"),
    ),
    "modules-named-like-pythons": Honest(
        files={f"{name}.py": "1 / 0" for name in ("code", "http", "typing", "gzip", "types", "queue")}
    ),
    "files-named-like-the-graders": Honest(files=dict.fromkeys(("k-1", "k-5", "x1", "x2", "kernel.json"), "x")),
    "a-folder-named-like-the-graders": Honest(files={"k-2/x": "x", "x1/y": "y"}),
    "a-time": Honest(files={"timestamp.txt": "2026-01-02 03:04:05.678 UTC"}),
    "checkpoints": Honest(files={".ipynb_checkpoints/1-1-toy-checkpoint.ipynb": "{}"}),
    "names-with-spaces-and-umlauts": Honest(files={"mein Ünal (1).txt": "x", "日本.txt": "y"}),
    "another-notebook": Honest(
        files={"scratch.ipynb": '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'}
    ),
}

CASES = {
    f"{group}-{name}": case
    for group, cases in (
        ("saved", SAVED),
        ("rearranged", REARRANGED),
        ("answer", ANSWERS),
        ("own", OWN_CELLS),
        ("beside", BESIDE),
    )
    for name, case in cases.items()
}

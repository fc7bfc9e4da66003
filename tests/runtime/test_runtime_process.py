"""in_fresh_process and xla_dump. Most calls do without TensorFlow: a child of this size takes 0.1 s."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from tflabs.runtime import FreshProcessError, XlaDump, in_fresh_process, process, xla_dump


@dataclass(frozen=True)
class Point:
    x: int


def double(point: Point) -> Point:
    return Point(2 * point.x)


def failure(function: Callable[..., Any], *args: Any, **options: Any) -> FreshProcessError:
    with pytest.raises(FreshProcessError) as caught:
        in_fresh_process(function, *args, **options)
    return caught.value


def wait_until_gone(pid: int) -> None:
    """Returns when no process `pid` runs (a zombie that its parent has not fetched does not run)."""
    while True:
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return
        except (ProcessLookupError, FileNotFoundError):
            return


@pytest.fixture
def children_before() -> set[psutil.Process]:
    """The children that other tests of this process have, such as a browser's driver."""
    return set(psutil.Process().children(recursive=True))


def new_children(before: set[psutil.Process]) -> set[psutil.Process]:
    """Children that were not there before; one that ended and was not waited for is still there."""
    return set(psutil.Process().children(recursive=True)) - before


def test_value_and_output() -> None:
    def function(name: str) -> int:
        print("Grüße", name)
        os.write(1, b"native\n")
        print("error", file=sys.stderr)
        return os.getpid()

    finished = in_fresh_process(function, "Ada")
    assert finished.value != os.getpid()
    assert finished.stdout == "Grüße Ada\nnative\n"
    assert finished.stderr == "error\n"


def test_buffers_of_c_are_flushed() -> None:
    def function() -> None:
        import ctypes

        ctypes.CDLL(None).printf(b"by printf\n")

    assert in_fresh_process(function).stdout == "by printf\n"


def test_what_travels() -> None:
    offset = 3
    assert in_fresh_process(lambda x: x + offset, 4).value == 7
    value = in_fresh_process(double, Point(2)).value  # by reference, from this module
    assert value == Point(4)
    assert type(value) is Point

    @dataclass
    class Local:
        x: int

    value = in_fresh_process(lambda local: Local(local.x + 1), Local(1)).value  # by value, and the same class again
    assert value == Local(2)
    assert type(value) is Local


def test_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEPT", "kept")
    monkeypatch.setenv("REMOVED", "x")
    names = ("KEPT", "REMOVED", "NEW")
    read = in_fresh_process(lambda: [os.environ.get(name) for name in names], env={"REMOVED": None, "NEW": "new"})
    assert read.value == ["kept", None, "new"]
    assert "NEW" not in os.environ


def test_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, "/somewhere"])
    cwd, path, argv, stdin = in_fresh_process(
        lambda: (str(Path.cwd()), sys.path, len(sys.argv), sys.stdin.read())
    ).value
    assert (cwd, path, argv, stdin) == (str(tmp_path), sys.path, 1, "")


def test_50_megabytes_both_ways_leave_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, children_before: set[psutil.Process]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = len(list(Path("/dev/fd").iterdir()))
    data = bytes(50_000_000)
    assert in_fresh_process(lambda data: data[::-1], data).value == data
    assert list(tmp_path.iterdir()) == []
    assert len(list(Path("/dev/fd").iterdir())) == before
    assert new_children(children_before) == set()


def test_output_is_capped() -> None:
    def function() -> None:
        print("first")
        for _ in range(40):
            os.write(1, b"x" * 100_000)
        print("last")

    stdout = in_fresh_process(function).stdout
    assert stdout.startswith("first\nx")
    assert stdout.endswith("xlast\n")
    left_out = 4_000_000 + len("first\nlast\n") - process.OUTPUT_LIMIT
    assert f"\n[… {left_out} bytes left out …]\n" in stdout
    assert len(stdout) < process.OUTPUT_LIMIT + 100


def test_exception() -> None:
    def function() -> None:
        print("printed")
        raise LookupError("not there")

    error = failure(function)
    assert str(error) == "LookupError: not there"
    assert "raise LookupError" in error.traceback  # the source line travelled along
    assert error.__notes__ == [f"In the fresh process:\n{error.traceback}"]
    assert error.stdout == "printed\n"


def test_exception_that_cannot_travel_and_value_that_cannot() -> None:
    class Odd(Exception):
        def __init__(self) -> None:
            super().__init__("odd", threading.Lock())

        def __str__(self) -> str:
            return "odd text"

    def function() -> None:
        raise Odd

    assert str(failure(function)).endswith("Odd: odd text")
    assert "cannot pickle" in str(failure(threading.Lock))
    assert str(failure(sys.exit, 3)) == "SystemExit: 3"
    with pytest.raises(TypeError, match="cannot pickle"):
        in_fresh_process(print, threading.Lock())


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (signal.SIGABRT, "SIGABRT: it aborted"),
        (signal.SIGSEGV, "SIGSEGV: segmentation fault"),
        (signal.SIGKILL, "SIGKILL: it was killed"),
        (signal.SIGUSR1, "SIGUSR1: User defined signal 1"),
    ],
)
def test_death_by_signal(number: int, words: str) -> None:
    def function() -> None:
        for line in range(100):
            print("line", line, file=sys.stderr)
        os.kill(os.getpid(), number)

    error = failure(function)
    assert str(error).startswith(f"the process died by {words}")
    assert "line 99" in str(error)
    assert "line 9\n" not in str(error)
    assert "line 9\n" in error.stderr


def test_end_without_an_answer() -> None:
    message = str(failure(os._exit, 7))
    assert message == "the process ended with exit status 7 before the function returned\nIts stderr is empty."


def test_timeout_kills_the_whole_group(children_before: set[psutil.Process]) -> None:
    def function() -> None:
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        print(child.pid, file=sys.stderr)
        threading.Event().wait()

    # The limit is far above what a child needs to start; it never finishes by itself.
    error = failure(function, timeout=2)
    assert str(error).startswith("timeout: not finished after 2 s; its process group was killed")
    wait_until_gone(int(error.stderr))
    assert new_children(children_before) == set()


def test_threads_and_children_do_not_hold_it_up() -> None:
    def function() -> int:
        threading.Thread(target=threading.Event().wait).start()
        return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"]).pid

    wait_until_gone(in_fresh_process(function).value)


def test_a_process_that_left_the_group_and_keeps_stdout_open() -> None:
    def function() -> int:
        print("text")
        program = "import time; time.sleep(1000)"
        return subprocess.Popen([sys.executable, "-c", program], start_new_session=True).pid

    finished = in_fresh_process(function)
    os.kill(finished.value, signal.SIGKILL)
    assert finished.stdout == "text\n"


def script(body: str) -> subprocess.Popen[str]:
    """A parent in a process of its own, whose __main__ defines the function."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(body)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


ENDLESS = """
    import os, threading
    from tflabs.runtime import in_fresh_process
    read, write = os.pipe()
    def endless(path):
        with open(path, "w") as file:
            print(os.getpid(), file=file)
        threading.Event().wait()
    in_fresh_process(endless, {path!r})
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_interrupt_or_death_of_the_parent_ends_the_child(number: int, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    parent = script(ENDLESS.format(path=str(fifo)))
    child = int(fifo.read_text())
    parent.send_signal(number)
    _, stderr = parent.communicate()
    assert ("KeyboardInterrupt" in stderr) == (number == signal.SIGINT)
    wait_until_gone(child)


def test_functions_and_classes_of_main() -> None:
    parent = script("""
        from dataclasses import dataclass
        from tflabs.runtime import in_fresh_process
        FACTOR = 3
        @dataclass
        class Pair:
            a: int
        def helper(a):
            return Pair(a * FACTOR)
        def function(pair):
            return helper(pair.a)
        value = in_fresh_process(function, Pair(2)).value
        print(value, type(value) is Pair)
    """)
    assert parent.communicate() == ("Pair(a=6) True\n", "")


def test_modules_beside_a_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "beside_a_lab.py").write_text("def answer():\n    return __name__, __file__\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    import beside_a_lab

    assert in_fresh_process(beside_a_lab.answer).value == ("beside_a_lab", str(tmp_path / "beside_a_lab.py"))


def test_tensorflow_sees_the_environment_and_autograph_the_source() -> None:
    def function() -> tuple[float, str]:
        assert "tensorflow" not in sys.modules
        import tensorflow as tf

        @tf.function
        def halve_until_small(x):  # AutoGraph does not find a local `tf` in annotations
            while x > 1.0:
                x = x / 2.0
            return x

        return float(halve_until_small(tf.constant(12.0))), os.environ["TF_CPP_VMODULE"]

    finished = in_fresh_process(function, env={"TF_CPP_MIN_LOG_LEVEL": "0", "TF_CPP_VMODULE": "executor=1"})
    assert finished.value == (0.75, "executor=1")
    assert "Process node: " in finished.stderr  # the executor's own lines


def fused(size: int) -> None:
    import tensorflow as tf

    @tf.function(jit_compile=True)
    def f(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
        return a * b + a

    f(tf.ones([size]), tf.ones([size]))


def test_xla_dump(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    dump = xla_dump(fused, 321, flags=["--xla_dump_hlo_pass_re=.*"])
    assert list(tmp_path.iterdir()) == []
    assert list(dump.files) == sorted(dump.files)
    assert "f32[321]" in dump.text("before_optimizations.txt").splitlines()[0]
    assert "fusion(" in dump.text("cpu_after_optimizations.txt")
    assert "fusion(" not in dump.text("before_optimizations.txt")
    assert next(content for name, content in dump.files.items() if name.endswith(".o")).startswith(b"\x7fELF")
    assert len(dump.files) > 20  # the flag: a file per pass
    with pytest.raises(LookupError, match=r"no file ends with '\.exe'; candidates:\n  module_"):
        dump.text(".exe")
    with pytest.raises(LookupError, match=r"files end with '\.txt'") as caught:
        dump.text(".txt")
    assert "\n  " in str(caught.value)
    assert ".o\n" not in str(caught.value)


def test_xla_dump_of_an_unknown_flag() -> None:
    with pytest.raises(FreshProcessError, match="Unknown flag in XLA_FLAGS: --xla_no_such_flag"):
        xla_dump(fused, 4, flags=["--xla_no_such_flag=1"])


def test_xla_dump_of_nothing() -> None:
    with pytest.raises(ValueError, match="XLA compiled nothing"):
        xla_dump(lambda: None)
    with contextlib.suppress(LookupError):
        XlaDump({}).text("")
        pytest.fail("an empty dump has no text")

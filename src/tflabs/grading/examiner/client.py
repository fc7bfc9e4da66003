"""The driver's side: starts an examiner, gives it cells and reads its results."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Self

from tflabs.grading.examiner import codec
from tflabs.grading.examiner.channel import Channel
from tflabs.grading.examiner.errors import ProtocolError
from tflabs.grading.examiner.report import CellResult, Task, result_of, to_plain

SLACK = 15.0  # seconds beyond its time in which an examiner must report a cell
MAX_RESULT = 8 << 20  # bytes


def listen(path: Path) -> socket.socket:
    """The socket on which the learner's process connects. Its path has at most 107 bytes and is seen in the sandbox."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(64)
    return listener


def serving_source(path: Path | str, number: int) -> str:
    """What the learner's kernel executes while the test of that number runs. Its output is of no account.

    Args:
        path: of the socket that the examiner listens on, as the kernel names it; "" if there is a line to the kernel.
    """
    module = "tflabs.grading.examiner.agent"
    return f"__import__({module!r}, fromlist=['serve']).serve({str(path)!r}, globals(), {number})"


def planting_source(path: Path | str) -> str:
    """What the learner's kernel executes before anything else, where a test must run in it; `path` as above."""
    module = "tflabs.grading.examiner.witness"
    return f"__import__({module!r}, fromlist=['plant']).plant({str(path)!r}, globals())"


def spawn(control: socket.socket, feed: socket.socket, preload: tuple[str, ...], cwd: Path) -> subprocess.Popen[bytes]:
    """An examiner as a process of its own, without a sandbox; the sockets become its standard output and error."""
    return subprocess.Popen(
        [sys.executable, "-m", "tflabs.grading.examiner", *preload],
        stdin=subprocess.DEVNULL,
        stdout=control.fileno(),
        stderr=feed.fileno(),
        cwd=cwd,
        env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"},
        start_new_session=True,
    )


class Client:
    """One examiner. Not thread-safe; `abandon` may be called from any thread.

    A test takes three steps: `begin` it, let the learner's kernel execute `serving_source(path, number)`, and read its
    `result`. When the result is there the kernel's serving ends by itself; a kernel that goes on is to be interrupted
    and, if it does not care, replaced (`admit` the next one).
    """

    def __init__(self, control: socket.socket, feed: socket.socket) -> None:
        self._feed = feed
        self._channel = Channel(control, MAX_RESULT)
        self._number = 0
        self._task: Task | None = None
        self._gone = ""
        self._lock = threading.Lock()

    def given(self, name: str, source: str, cell_seconds: float = 120.0) -> CellResult:
        """Run a locked cell that is not graded; the learner's kernel runs its own copy."""
        self._start(Task(self._next(), "given", name, source, cell_seconds, cell_seconds))
        return self.result()

    def note(self, name: str, cell_seconds: float = 120.0) -> CellResult:
        """The learner's kernel has run the given cell of that name; to be called before it runs anything else."""
        self._start(Task(self._next(), "note", name, "", cell_seconds, cell_seconds))
        return self.result()

    def begin(
        self,
        name: str,
        source: str,
        cell_seconds: float = 120.0,
        call_seconds: float = 60.0,
        names: list[str] | None = None,
        there: bool = False,
    ) -> int:
        """Start a test cell and return its number.

        Args:
            cell_seconds: for the whole cell.
            call_seconds: for one call into the learner's code, callbacks into the test not counted.
            names: the learner's names that it may use, None for any. With them, a name that a given cell should have
                defined is never taken from the learner.
            there: run it in the learner's process, in which a witness was planted.
        """
        number = self._next()
        self._start(Task(number, "there" if there else "test", name, source, cell_seconds, call_seconds, names))
        return number

    def result(self) -> CellResult:
        """Wait for the cell that was started. If the examiner ended or hangs, the state is 'examiner-gone'."""
        task, self._task = self._task, None
        if task is None:
            raise RuntimeError("no cell was started")
        if not self._gone:
            try:
                return result_of(codec.loads(self._channel.receive(time.monotonic() + task.cell_seconds + SLACK)))
            except TimeoutError:
                self._gone = "the examiner did not report in time"
            except (EOFError, OSError):
                self._gone = "the examiner ended"
            except ProtocolError as error:
                self._gone = f"the examiner sent no result: {error}"
            self.close()
        return CellResult(task.name, "examiner-gone", "ExaminerGone", self._gone, "", False, 0.0, 0, [], "")

    def admit(self, listener: socket.socket) -> None:
        """A new kernel of the learner's will connect on this listener, which may be closed here afterwards.

        It may also be a line, over which the kernel sends one end of each of its connections.
        """
        self._send(["new learner"])
        with contextlib.suppress(OSError):
            socket.send_fds(self._feed, [b"l"], [listener.fileno()])

    def close(self) -> None:
        """Hang up: the examiner ends."""
        self._channel.close()
        self._feed.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _next(self) -> int:
        self._number += 1
        return self._number

    def _start(self, task: Task) -> None:
        if self._task is not None:
            raise RuntimeError(f"the cell {self._task.name!r} was not waited for")
        self._task = task
        self._send(["run", *to_plain(task)])

    def _send(self, message: list[object]) -> None:
        with contextlib.suppress(OSError):
            self._channel.send(codec.dumps(message), time.monotonic() + SLACK)

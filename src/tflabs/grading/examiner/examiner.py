"""The examiner's process: runs given cells and test cells, and reports.

It is started with two sockets: `control`, on which the driver gives tasks and gets results, and `feed`, on which the
driver passes a listening socket for each kernel of the learner's. Nothing of the learner's is executed here.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import io
import os
import random
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

from tflabs.grading.examiner import codec
from tflabs.grading.examiner.cells import Cells, quiet_message
from tflabs.grading.examiner.channel import Channel
from tflabs.grading.examiner.disk import Disk
from tflabs.grading.examiner.errors import (
    CallTimeout,
    CellTimeout,
    LearnerGone,
    ProtocolError,
)
from tflabs.grading.examiner.link import Cell, Link
from tflabs.grading.examiner.proof import altered, program
from tflabs.grading.examiner.report import CellResult, Task, task_of, to_plain

MAX_STDOUT = 200_000
PR_SET_DUMPABLE = 4  # linux/prctl.h
_STATE_OF: dict[type[BaseException], str] = {
    CallTimeout: "timeout",
    CellTimeout: "timeout",
    LearnerGone: "learner-gone",
    ProtocolError: "protocol",
}


def main(control: socket.socket, feed: socket.socket, preload: tuple[str, ...] = ()) -> None:
    """Serve the driver until it hangs up. Must be called on the main thread of a process that runs nothing else.

    A child of a fork server calls it after it has closed every other descriptor.
    """
    _close_memory()
    for module in preload:
        importlib.import_module(module)
    _reseed()
    examiner = Examiner()
    channel = Channel(control)
    with contextlib.suppress(EOFError, OSError):
        while True:
            kind, *rest = codec.loads(channel.receive())
            if kind == "run":
                channel.send(codec.dumps(to_plain(examiner.run(task_of(rest)))))
            elif kind == "new learner":
                _, (descriptor,), _, _ = socket.recv_fds(feed, 1, 1)
                examiner.new_learner(socket.socket(fileno=descriptor))


def serve_on_streams(*preload: str) -> None:
    """As `main`, where standard output is the control socket and standard error the feed: a box can be given these."""
    control, feed = (socket.socket(fileno=os.dup(number)) for number in (1, 2))
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (1, 2):
        os.dup2(nowhere, number)
    main(control, feed, preload)


class Examiner:
    """Runs cells one after the other, tests with the learner's process at the other end of the listener."""

    def __init__(self) -> None:
        self._listener: socket.socket | None = None
        self._cells = Cells(self._look_up)
        self._link = Link(self._cells.classes)
        self._is_test = False
        self._running = False
        self._output = _Capped()
        signal.signal(signal.SIGALRM, self._alarm)
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def new_learner(self, listener: socket.socket) -> None:
        """A kernel was started that will connect here. Objects of the one before are of no use any more."""
        self._link.close()
        self._link = Link(self._cells.classes)
        if self._listener is not None:
            self._listener.shutdown(socket.SHUT_RDWR)  # ends the thread that waits on it
            self._listener.close()
        self._listener = listener
        threading.Thread(target=self._accept, args=(listener, self._link), daemon=True).start()

    def run(self, task: Task) -> CellResult:
        """Run one cell to its end, or to its time."""
        started = time.monotonic()
        names = None if task.names is None else frozenset(task.names)
        cell = Cell(task.number, started + task.cell_seconds, task.call_seconds, names)
        self._output = _Capped()
        self._is_test = task.kind in ("test", "there")
        if self._is_test:
            self._link.begin(cell)
        error: BaseException | None = None
        try:
            with self._watched(task.cell_seconds), self._captured():
                self._do(task, cell)
        except BaseException as raised:
            error = raised
        if self._is_test:
            error = cell.failure or error  # what the cell swallowed counts all the same
            self._link.finish(cell)
        self._is_test = False
        return self._result(task, cell, error, time.monotonic() - started)

    def _do(self, task: Task, cell: Cell) -> None:
        if task.kind == "given":
            self._cells.run_given(task.name, task.source)
        elif task.kind == "note":
            self._link.witness(cell).note(self._cells.given.get(task.name, []))
        elif task.kind == "there":
            self._run_there(task, cell)
        else:
            with self._acting_there():
                self._cells.run(task.name, task.source)

    def _run_there(self, task: Task, cell: Cell) -> None:
        """Have the learner's process run a test, and believe it only with the witness's proof."""
        cells, witness = self._cells, self._link.witness(cell)
        given = {name: cells.namespace[name] for names in cells.given.values() for name in names}
        made = program(task.source, f"<{task.name}>", cells.flags, given, list(cells.sources.values()))
        if names := witness.changed(made):
            raise self._link.noted(altered(names))
        witness.prepare(task.number, made, task.names)
        error: BaseException | None = None
        try:
            self._link.request("run", task.number)
        except (LearnerGone, CallTimeout, CellTimeout):
            raise
        except BaseException as raised:
            error = raised
        cell.failure = None  # the witness knows better
        outcome = witness.outcome(task.number)
        if names := outcome.changed | witness.changed(made):
            raise altered(names)
        if (ending := error if isinstance(error, Exception) else outcome.ending(error)) is not None:
            raise ending

    def _result(self, task: Task, cell: Cell, error: BaseException | None, seconds: float) -> CellResult:
        state = "ok" if error is None else _STATE_OF.get(type(error), "error")
        ename = "" if error is None else type(error).__name__[:200]
        evalue = "" if error is None else quiet_message(error)
        raised = cell.raised
        trace = raised.trace if error and raised and raised.is_told_by(error, evalue) else ""
        text, looked_up = self._output.getvalue(), sorted(cell.values)
        return CellResult(task.name, state, ename, evalue, text, cell.calls > 0, seconds, cell.calls, looked_up, trace)

    def _look_up(self, name: str) -> Any:
        if not self._is_test:
            raise KeyError(name)
        return self._link.look_up(name)

    def _accept(self, listener: socket.socket, link: Link) -> None:
        for connection in connections(listener):
            threading.Thread(target=lambda: link.welcome(connection), daemon=True).start()  # noqa: B023

    @contextlib.contextmanager
    def _watched(self, seconds: float) -> Iterator[None]:
        """Ends the cell with CellTimeout. The alarm comes again: a cell may swallow it."""
        self._running = True
        signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
        try:
            yield
        finally:
            self._running = False
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _alarm(self, *_: Any) -> None:
        # While the main thread waits for the learner's process it watches the time itself and leaves in good order.
        if self._running and not self._link.io.waiting:
            raise self._link.noted(CellTimeout("the cell took too long"))

    @contextlib.contextmanager
    def _captured(self) -> Iterator[None]:
        with contextlib.redirect_stdout(self._output), contextlib.redirect_stderr(self._output):
            yield

    @contextlib.contextmanager
    def _acting_there(self) -> Iterator[None]:
        """`withheld` and `shared_folder` act in the learner's process.

        Here the names stay: what a test takes as true is made with them. The learner's process is asked, no more: one
        that was modified can say that it did and not do it.
        """
        from tflabs.runtime import folders, withholding

        install, disk = withholding._install, folders._disk
        withholding._install, folders._disk = self._link.withhold, Disk(self._link)  # the only seams, see there
        try:
            yield
        finally:
            withholding._install, folders._disk = install, disk


def connections(listener: socket.socket) -> Iterator[socket.socket]:
    """What connects on a listener, or comes over a line, until that is shut down.

    The learner's side can send any descriptor over a line: what is no stream socket is let go.
    """
    is_line = not listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
    with contextlib.suppress(OSError):
        while True:
            if not is_line:
                yield listener.accept()[0]
                continue
            said, descriptors, _, _ = socket.recv_fds(listener, 1, 1)
            if not said:
                return
            for descriptor in descriptors:
                if connection := _stream(descriptor):
                    yield connection


def _stream(descriptor: int) -> socket.socket | None:
    try:
        connection = socket.socket(fileno=descriptor)
    except OSError:  # it is no socket
        os.close(descriptor)
        return None
    if (connection.family, connection.type) == (socket.AF_UNIX, socket.SOCK_STREAM):
        return connection
    connection.close()
    return None


class _Capped(io.StringIO):
    """Keeps the first characters of what is written."""

    def write(self, text: str) -> int:
        if self.tell() < MAX_STDOUT:
            super().write(text[: MAX_STDOUT - self.tell()])
            if self.tell() >= MAX_STDOUT:
                super().write("\n… cut off here")
        return len(text)


def _close_memory() -> None:
    """No other process of this user may read this one's memory or trace it (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def _reseed() -> None:
    """Two children of one fork server must not draw the same hidden cases."""
    random.seed(os.urandom(32))
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(int.from_bytes(os.urandom(4), "little"))

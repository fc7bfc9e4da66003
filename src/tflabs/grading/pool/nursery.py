"""Forks a process for each piece of work: `python -m tflabs.grading.pool.nursery DESCRIPTOR BACKEND [HIDDEN…]`.

It keeps the fork servers, which its children share: TensorFlow is imported once, however many children run. It never
runs an event loop or a thread while it forks. It ends, and with it its children and every box, when its pool lets go of
it or dies.
"""

from __future__ import annotations

import contextlib
import gc
import os
import selectors
import signal
import socket
import sys
import tempfile
from dataclasses import dataclass, field

from nbformat.v4 import new_code_cell

import tflabs.grading.client  # noqa: F401 (what a child needs is imported before it is forked)
from tflabs.errors import UserError
from tflabs.grading.boxes import Boxes, examiner_of
from tflabs.grading.pool import frames
from tflabs.grading.pool.work import Work, execute, runs_to_text, work_from_bytes
from tflabs.grading.sandbox import ForkRefused, ForkServer, SandboxUnavailable, libc

CHILDREN = 24  # at a time: their boxes share the users of a fork server
_USERS_PER_CHILD = 4  # for a kernel and an examiner: the box that runs, and one that is about to end
_PR_SET_PDEATHSIG = 1


@dataclass
class _Child:
    number: int
    pid: int
    output: int  # the reading end of its pipe
    place: int  # which of the server's users are its
    server: ForkServer
    said: bytearray = field(default_factory=bytearray)


class Nursery:
    """One pool's.

    Args:
        pool: where work comes from and results go.
        boxes: the fork servers.
    """

    def __init__(self, pool: socket.socket, boxes: Boxes) -> None:
        self.pool, self.boxes = pool, boxes
        self._children: dict[int, _Child] = {}  # by the descriptor of the pipe
        self._selector = selectors.DefaultSelector()
        self._selector.register(pool, selectors.EVENT_READ)

    def serve(self) -> None:
        """Until the pool hangs up."""
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is not self.pool:
                    self._hear(self._children[key.fd])
                elif (frame := frames.read(self.pool)) is None:
                    return
                else:
                    self._begin(frame)

    def end_children(self) -> None:
        for child in self._children.values():
            os.kill(child.pid, signal.SIGKILL)
            os.waitpid(child.pid, 0)

    def _begin(self, frame: frames.Frame) -> None:
        try:
            work = work_from_bytes(frame.content)
            server = self.boxes.warm(work.preload, dict(work.environment))
        except SandboxUnavailable as error:
            self._say(frame.number, "unavailable", str(error))
        except UserError as error:
            self._say(frame.number, "refused", str(error))
        else:
            self._fork(frame.number, work, server)

    def _fork(self, number: int, work: Work, server: ForkServer) -> None:
        place = next(n for n in range(CHILDREN) if n not in {child.place for child in self._children.values()})
        reading, writing = os.pipe()
        nursery = os.getpid()
        pid = os.fork()
        if pid == 0:
            libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != nursery:
                os._exit(1)
            self.pool.close()
            _run(work, self.boxes, server, place, writing)
        os.close(writing)
        self._children[reading] = _Child(number, pid, reading, place, server)
        self._selector.register(reading, selectors.EVENT_READ)
        self._say(number, "began", str(pid))

    def _hear(self, child: _Child) -> None:
        if data := os.read(child.output, 1 << 20):
            child.said += data
            return
        self._selector.unregister(child.output)
        os.close(child.output)
        del self._children[child.output]
        status = os.waitstatus_to_exitcode(os.waitpid(child.pid, 0)[1])
        if not child.server.alive():
            # A kernel that died with its server must not be taken for one that the learner's code ended.
            self._say(child.number, "again", "the fork server ended")
        elif status == 0:
            kind, _, words = child.said.partition(b"\n")
            frames.write(self.pool, frames.Frame(child.number, kind.decode(), bytes(words)))
        else:
            self._say(child.number, "died", f"signal {-status}" if status < 0 else f"exit code {status}")

    def _say(self, number: int, kind: str, words: str) -> None:
        frames.write(self.pool, frames.Frame(number, kind, words.encode()))


def _run(work: Work, boxes: Boxes, server: ForkServer, place: int, writing: int) -> None:
    """What a child does. It ends without a farewell to what it shares with the nursery."""
    server.keep_to(range(place * _USERS_PER_CHILD, (place + 1) * _USERS_PER_CHILD))
    environment = dict(work.environment)
    kernels, spawn = boxes.kernels_of(server, environment), examiner_of(server)
    try:
        said = "runs", runs_to_text(execute(work, kernels, spawn))
    except ForkRefused as error:
        said = "again", str(error)
    except Exception as error:
        said = "failed", f"{type(error).__name__}: {error}"[:1000]
    with contextlib.suppress(BrokenPipeError), os.fdopen(writing, "wb") as pipe:
        pipe.write(f"{said[0]}\n{said[1]}".encode(errors="replace"))
    os._exit(0)


def main(descriptor: int, backend: str, hidden: tuple[str, ...]) -> None:
    # Ctrl-C is for the grader, which then lets go of this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pool = socket.socket(fileno=descriptor)
    pool.set_inheritable(False)
    new_code_cell("")  # compiles nbformat's schema: for itself, a child would take longer for that than for its work
    with tempfile.TemporaryDirectory(prefix="tflabs-pool-") as folder, Boxes(hidden, backend) as boxes:
        tempfile.tempdir = folder  # a child that is killed leaves its folders here
        gc.freeze()
        nursery = Nursery(pool, boxes)
        try:
            with contextlib.suppress(BrokenPipeError):
                nursery.serve()
        finally:
            nursery.end_children()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], tuple(sys.argv[3:]))

"""The pool on this machine: processes that a nursery forks, one for each piece of work."""

from __future__ import annotations

import itertools
import queue
import socket
import subprocess
import sys
import tempfile
import threading
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field

from tflabs.grading.pool import frames
from tflabs.grading.pool.nursery import CHILDREN
from tflabs.grading.pool.pool import PoolBroken, Ungradable
from tflabs.grading.pool.work import Work, runs_from_text
from tflabs.grading.run import CellRun

DEATHS = 2  # of the process that runs a piece of work, before it is given up
_LOSSES = 5  # nurseries and fork servers that end in a row, with no result between them, before the pool is given up


@dataclass
class _Job:
    number: int
    content: bytes
    future: Future[list[CellRun]]
    deaths: int = 0


@dataclass
class _Nursery:
    process: subprocess.Popen[bytes]
    end: socket.socket
    errors: tempfile.SpooledTemporaryFile[bytes]
    room: int
    jobs: dict[int, _Job] = field(default_factory=dict)  # that it runs
    outbox: queue.SimpleQueue[frames.Frame | None] = field(default_factory=queue.SimpleQueue)  # None ends it


class LocalPool:
    """Runs up to `jobs` pieces of work at a time. Its methods may be called from any thread.

    Args:
        jobs: how many; beyond 24 there is more than one nursery.
        hidden: folders that no box may see: the course.
        backend: as of `sandbox.start`.
    """

    def __init__(self, jobs: int, hidden: tuple[str, ...] = (), backend: str = "auto") -> None:
        self._jobs, self._hidden, self._backend = jobs, hidden, backend
        self._lock = threading.RLock()
        self._waiting: deque[_Job] = deque()
        self._numbers = itertools.count()
        self._losses = 0
        self._ended = ""  # why no more work is taken
        self._nurseries: list[_Nursery] = []
        for first in range(0, jobs, CHILDREN):
            self._open(min(CHILDREN, jobs - first))

    def width(self) -> int:
        return self._jobs

    def submit(self, work: Work) -> Future[list[CellRun]]:
        job = _Job(next(self._numbers), work.to_bytes(), Future())
        job.future.set_running_or_notify_cancel()
        with self._lock:
            if self._ended:
                job.future.set_exception(PoolBroken(self._ended))
            else:
                self._waiting.append(job)
                self._dispatch()
        return job.future

    def close(self) -> None:
        with self._lock:
            self._break("the pool is closed")
            nurseries, self._nurseries = self._nurseries, []
        for nursery in nurseries:
            _close(nursery)

    def _open(self, room: int) -> None:
        ours, theirs = socket.socketpair()
        errors = tempfile.SpooledTemporaryFile()  # noqa: SIM115 (closed with the nursery)
        arguments = [str(theirs.fileno()), self._backend, *self._hidden]
        process = subprocess.Popen(
            [sys.executable, "-m", "tflabs.grading.pool.nursery", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors.fileno(),
            pass_fds=[theirs.fileno()],
            start_new_session=True,  # Ctrl-C is for the grader
        )
        theirs.close()
        nursery = _Nursery(process, ours, errors, room)
        self._nurseries.append(nursery)
        for task in (self._listen, _send):
            threading.Thread(target=task, args=(nursery,), daemon=True).start()

    def _dispatch(self) -> None:
        """Hand out what waits, evenly."""
        while self._waiting:
            nursery = max(self._nurseries, key=lambda each: each.room - len(each.jobs), default=None)
            if nursery is None or len(nursery.jobs) >= nursery.room:
                return
            job = self._waiting.popleft()
            nursery.jobs[job.number] = job
            nursery.outbox.put(frames.Frame(job.number, "work", job.content))

    def _listen(self, nursery: _Nursery) -> None:
        while (frame := frames.read(nursery.end)) is not None:
            if frame.kind == "began":
                continue
            with self._lock:
                job = nursery.jobs.pop(frame.number, None)
                if job is not None:
                    self._finish(job, frame.kind, frame.content.decode(errors="replace"))
                    self._dispatch()
        with self._lock:
            if not self._ended:
                self._replace(nursery)

    def _finish(self, job: _Job, kind: str, words: str) -> None:
        if kind == "runs":
            self._losses = 0
            job.future.set_result(runs_from_text(words))
        elif kind == "unavailable":
            self._break(words)
            job.future.set_exception(PoolBroken(words))
        elif kind == "again":
            self._count_loss(words)
            self._again(job)
        elif kind == "died":
            job.deaths += 1
            if job.deaths < DEATHS:
                self._again(job)
            else:
                reason = f"the process that ran it was ended {DEATHS} times, by {words} the last time"
                job.future.set_exception(Ungradable(reason))
        else:
            job.future.set_exception(Ungradable(words))

    def _again(self, job: _Job) -> None:
        if self._ended:
            job.future.set_exception(PoolBroken(self._ended))
        else:
            self._waiting.appendleft(job)

    def _count_loss(self, words: str) -> None:
        self._losses += 1
        if self._losses >= _LOSSES:
            self._break(f"the workers end again and again: {words}")

    def _replace(self, nursery: _Nursery) -> None:
        """A nursery has ended by itself: its work goes to a new one."""
        self._nurseries.remove(nursery)
        jobs = list(nursery.jobs.values())
        words = _close(nursery)
        self._count_loss(words)
        for job in jobs:
            self._again(job)
        if not self._ended:
            self._open(nursery.room)
            self._dispatch()

    def _break(self, words: str) -> None:
        """Give up everything that has no result."""
        self._ended = self._ended or words
        jobs = [*self._waiting, *(job for nursery in self._nurseries for job in nursery.jobs.values())]
        self._waiting.clear()
        for nursery in self._nurseries:
            nursery.jobs.clear()
        for job in jobs:
            job.future.set_exception(PoolBroken(words))


def _send(nursery: _Nursery) -> None:
    """Sends what is in the outbox. Whoever holds the pool's lock must not wait for a nursery that waits to be heard."""
    while (frame := nursery.outbox.get()) is not None:
        try:
            frames.write(nursery.end, frame)
        except OSError:
            return  # it ended: `_listen` sees it too, and hands its jobs to another


def _close(nursery: _Nursery) -> str:
    """Let a nursery go, which ends it; the last line that it wrote to stderr."""
    nursery.outbox.put(None)
    nursery.end.shutdown(socket.SHUT_RDWR)
    try:
        nursery.process.wait(60)
    except subprocess.TimeoutExpired:
        nursery.process.kill()
        nursery.process.wait()
    nursery.end.close()
    nursery.errors.seek(0)
    lines = nursery.errors.read().decode(errors="replace").strip().splitlines()
    nursery.errors.close()
    return lines[-1] if lines else f"exit code {nursery.process.returncode}"

"""A function call in a Python process of its own, with the environment set before anything is imported."""

from __future__ import annotations

import contextlib
import io
import linecache
import marshal
import os
import pickle
import selectors
import signal
import subprocess
import sys
import tempfile
import time
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Generic, TypeVar

T = TypeVar("T")

OUTPUT_LIMIT = 1 << 20  # bytes kept of each of stdout and stderr: the first and the last half
TAIL_LINES = 20  # lines of stderr that an error message quotes
TICK = 0.02  # seconds between two looks at whether the child has ended
CHILD = Path(__file__).with_name("_child.py")

_SIGNALS = {
    signal.SIGABRT: "it aborted, as a failed CHECK in C++ does",
    signal.SIGSEGV: "segmentation fault: it used memory that is not its own",
    signal.SIGBUS: "bus error: misaligned or missing memory",
    signal.SIGFPE: "arithmetic error, such as an integer division by zero",
    signal.SIGILL: "illegal instruction: this processor does not have it",
    signal.SIGKILL: "it was killed from outside, often because memory ran out",
    signal.SIGTERM: "it was asked to end from outside",
}


@dataclass(frozen=True)
class Finished(Generic[T]):
    """What a call in a fresh process left.

    Attributes:
        value: what the function returned.
        stdout: what it wrote to descriptor 1, Python and C alike; the middle is cut out above `OUTPUT_LIMIT` bytes.
        stderr: the same for descriptor 2.
    """

    value: T
    stdout: str
    stderr: str


class FreshProcessError(RuntimeError):
    """The call in a fresh process gave no value.

    The message is the child's exception (type and text; the traceback is a note), or says in words how the process
    ended and quotes the tail of its stderr.

    Attributes:
        traceback: the child's traceback as text; empty if it ended without a Python exception.
        stdout, stderr: as in `Finished`.
    """

    def __init__(self, message: str, traceback: str = "", stdout: str = "", stderr: str = "") -> None:
        super().__init__(message)
        self.traceback = traceback
        self.stdout = stdout
        self.stderr = stderr


def in_fresh_process(
    function: Callable[..., T],
    *args: Any,
    env: Mapping[str, str | None] | None = None,
    timeout: float = 120,
) -> Finished[T]:
    """Calls `function(*args)` in a new Python process and waits for its value.

    Functions and classes of `__main__` (a notebook, a script), lambdas and closures travel by value (cloudpickle), all
    others by reference: the child has this process's `sys.path` and working directory. Source text travels along, so
    that AutoGraph and tracebacks find it. Standard input is empty.

    The child heads a process group of its own. The group is killed when the call ends, whichever way it ends: by a
    value, an exception, a timeout or a KeyboardInterrupt here; and when this process dies. The child ends as soon as
    its function has returned: it does not wait for threads and runs no `atexit` functions.

    Args:
        function: anything cloudpickle can pickle; so must be `args` and the returned value.
        env: environment variables set (or, where the value is None, removed) beside the inherited ones.
        timeout: seconds until the process is killed; importing TensorFlow takes 3–6 of them.

    Raises:
        FreshProcessError: the function raised, the process died or the time was up.
    """
    environment = {**os.environ, **(env or {})}
    with tempfile.TemporaryFile() as request, tempfile.TemporaryFile() as result:
        request.write(_request(function, args))
        request.flush()
        request.seek(0)
        returncode, stdout, stderr = _run_child(
            request, result, {key: value for key, value in environment.items() if value is not None}, timeout
        )
        result.seek(0)
        answer = result.read()
    if returncode is None:
        raise _died(f"timeout: not finished after {timeout:g} s; its process group was killed", stdout, stderr)
    if not answer:
        raise _died(_ending(returncode), stdout, stderr)
    returned, content, traceback = pickle.loads(answer)
    if not returned:
        error = FreshProcessError(content, traceback, stdout, stderr)
        error.add_note(f"In the fresh process:\n{traceback}")
        raise error
    return Finished(pickle.loads(content), stdout, stderr)


def _request(function: Callable[..., Any], args: tuple[Any, ...]) -> bytes:
    """What the child reads: search path, source lines by file name, the pickled function and its arguments."""
    import cloudpickle

    files: set[str] = set()

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        def reducer_override(self, obj: Any) -> Any:
            # cloudpickle drops the file names of code, and with them the way to its source, which AutoGraph needs.
            # Both interpreters are the same, so that marshal serves.
            if isinstance(obj, types.CodeType):
                files.add(obj.co_filename)
                return marshal.loads, (marshal.dumps(obj),)
            return super().reducer_override(obj)

    payload = io.BytesIO()
    Pickler(payload, protocol=pickle.HIGHEST_PROTOCOL).dump((function, args))
    sources = {name: lines for name in sorted(files) if (lines := linecache.getlines(name))}
    return pickle.dumps((sys.path, sources, payload.getvalue()))


def _run_child(
    request: IO[bytes], result: IO[bytes], environment: dict[str, str], timeout: float
) -> tuple[int | None, str, str]:
    """Starts the child and collects its output until it ends. Exit status (None after a timeout), stdout, stderr."""
    lifeline, held = os.pipe()  # nobody writes to it: the child sees its end when this process is gone
    descriptors = (request.fileno(), result.fileno(), lifeline)
    try:
        process = subprocess.Popen(
            # -u: what was printed before a crash arrives; -P: the child's own directory is not on sys.path.
            [sys.executable, "-u", "-P", "-X", "utf8", str(CHILD), *map(str, descriptors)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            pass_fds=descriptors,
            start_new_session=True,
        )
        outputs = _Output(), _Output()
        with process:
            try:
                finished = _collect(process, outputs, time.monotonic() + timeout)
            finally:
                _kill_group(process)
            _drain(process, outputs)
        return process.returncode if finished else None, outputs[0].text(), outputs[1].text()
    finally:
        os.close(lifeline)
        os.close(held)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Ends the child and what it started."""
    # Processes of the group may be left after its head has ended; the system gives the number to nobody else till then.
    with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS: PermissionError if only zombies are left
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class _Output:
    """The first and the last bytes of a stream of any length."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._length = 0

    def add(self, data: bytes) -> None:
        half = OUTPUT_LIMIT // 2
        room = half - len(self._head)
        self._length += len(data)
        self._head += data[:room]
        self._tail += data[room:]
        del self._tail[:-half]

    def text(self) -> str:
        cut = self._length - len(self._head) - len(self._tail)
        gap = f"\n[… {cut} bytes left out …]\n".encode() if cut else b""
        return bytes(self._head + gap + self._tail).decode(errors="replace")


def _collect(process: subprocess.Popen[bytes], outputs: tuple[_Output, _Output], deadline: float) -> bool:
    """Reads both streams until the child has ended (True) or the deadline has passed (False).

    The end of the child counts, not the end of the streams: a process that it started may keep them open.
    """
    with selectors.DefaultSelector() as selector:
        for stream, output in zip(_streams(process), outputs, strict=True):
            os.set_blocking(stream.fileno(), False)
            selector.register(stream, selectors.EVENT_READ, output)
        while process.poll() is None:
            if time.monotonic() > deadline:
                return False
            for key, _ in selector.select(TICK):
                if not _read(key.fd, key.data):
                    selector.unregister(key.fileobj)
    return True


def _drain(process: subprocess.Popen[bytes], outputs: tuple[_Output, _Output]) -> None:
    """Reads what the streams still hold, without waiting for a process that left the group and keeps them open."""
    for stream, output in zip(_streams(process), outputs, strict=True):
        with contextlib.suppress(BlockingIOError):
            while _read(stream.fileno(), output):
                pass


def _streams(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    assert process.stdout is not None and process.stderr is not None
    return process.stdout, process.stderr


def _read(descriptor: int, output: _Output) -> bool:
    """Moves what is there from `descriptor` to `output`; False at the end of the stream."""
    data = os.read(descriptor, 1 << 16)
    output.add(data)
    return bool(data)


def _ending(returncode: int) -> str:
    """In words, how a process without an answer ended."""
    if returncode >= 0:
        return f"the process ended with exit status {returncode} before the function returned"
    number = signal.Signals(-returncode) if -returncode in set(signal.Signals) else None
    name = number.name if number else f"signal {-returncode}"
    meaning = _SIGNALS.get(number) if number else None
    return f"the process died by {name}: {meaning or signal.strsignal(-returncode)}"


def _died(message: str, stdout: str, stderr: str) -> FreshProcessError:
    """The error for a child that gave no answer: only its stderr may say why."""
    tail = "\n".join(stderr.rstrip().splitlines()[-TAIL_LINES:])
    return FreshProcessError(
        f"{message}\nIts stderr ended with:\n{tail}" if tail else f"{message}\nIts stderr is empty.",
        stdout=stdout,
        stderr=stderr,
    )

"""In the learner's kernel: serves the examiner's calls while a test cell runs over there.

`serve(path, namespace, cell)` is what the kernel executes in the place of a test cell. It connects to the examiner's
socket and answers on the kernel's main thread, because TensorFlow's graph stacks are thread-local; the test's other
threads get connections and threads of their own. It returns when the examiner hangs up at the end of the cell.

Whatever happens here, the examiner believes nothing but plain values: this module may be replaced by the learner.
"""

from __future__ import annotations

import contextlib
import io
import operator
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from tflabs.grading.examiner import codec
from tflabs.grading.examiner.channel import Channel
from tflabs.grading.examiner.errors import CannotCross, ProtocolError
from tflabs.grading.examiner.exceptions import message_of, plain_arguments, trace_of
from tflabs.grading.examiner.objects import Objects

MAX_STDOUT = 200_000  # characters of one call
# What runs the learner's code.
LEARNERS = frozenset(("run", "name", "call", "method", "get", "set", "isinstance", "special", "reckon"))

_agents: dict[str, Agent] = {}
prepared: dict[int, Callable[[], None]] = {}  # the test that the witness has made ready


def serve(path: str, namespace: dict[str, Any], cell: int) -> None:
    """Answer the examiner until it ends the test cell of that number; `path` as of `connected`."""
    if path not in _agents:
        _agents[path] = Agent(path, namespace)
    _agents[path].serve(cell)


def connected(path: str) -> socket.socket:
    """A connection to the examiner that listens on `path`.

    Without a path nothing can be connected to: one end of a new pair is sent to it over standard input.
    """
    if path:
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(path)
        return connection
    connection, theirs = socket.socketpair()
    with theirs, socket.socket(fileno=os.dup(0)) as line:
        socket.send_fds(line, [b"c"], [theirs.fileno()])
    return connection


class _Output:
    """A text stream that sorts by thread: what a call prints goes to the call's buffer, the rest where it went."""

    def __init__(self, real: Any, buffers: dict[int, io.StringIO]) -> None:
        self._real, self._buffers = real, buffers

    def write(self, text: str) -> int:
        buffer = self._buffers.get(threading.get_ident())
        if buffer is None:
            return int(self._real.write(text) or 0)
        return buffer.write(text) if buffer.tell() < MAX_STDOUT else len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


class Agent:
    """The examiner's counterpart in the learner's process."""

    def __init__(self, path: str, namespace: dict[str, Any]) -> None:
        self._path = path
        self._objects = Objects(namespace, self._ask)
        self._local = threading.local()  # .channel: this thread's connection
        self._buffers: dict[int, io.StringIO] = {}
        self._withheld: dict[int, Any] = {}  # what ends each block of `withheld` of the test's
        self._blocks = 0
        self._folders: set[str] = set()  # that are shared with the test
        self._main = threading.main_thread().ident
        self._can_interrupt = False  # whether the main thread is in the learner's code
        control = self._connect("control", 0)
        threading.Thread(target=self._control, args=(control,), daemon=True).start()

    def serve(self, cell: int) -> None:
        """Serve on this thread, the kernel's main thread."""
        channel = self._connect("main", cell)
        self._objects.forget_given()
        before = signal.signal(signal.SIGINT, self._interrupted)
        try:
            with self._capture():
                self._serve(channel)
        finally:
            signal.signal(signal.SIGINT, before)
            channel.close()
            for number in list(self._withheld):  # a test that was cut short
                self._do_restore(number)
            for folder in list(self._folders):
                self._do_remove(folder)

    def _connect(self, role: str, number: int) -> Channel:
        channel = Channel(connected(self._path))
        channel.send(codec.dumps([role, number]))
        return channel

    def _control(self, channel: Channel) -> None:
        """On a thread of its own: opens a connection for another thread of the test, interrupts the main thread."""
        with contextlib.suppress(EOFError, OSError, ProtocolError):
            while True:
                action, number = codec.loads(channel.receive())
                if action == "interrupt":
                    os.kill(os.getpid(), signal.SIGINT)
                else:
                    threading.Thread(target=lambda: self._serve(self._connect("call", number)), daemon=True).start()  # noqa: B023

    def _interrupted(self, *_: Any) -> None:
        if self._can_interrupt:
            self._can_interrupt = False
            raise KeyboardInterrupt

    def _set_interruptible(self, state: bool) -> bool:
        """Whether Ctrl-C may end what this thread does now: the learner's code, never half a message.

        Only Python's main thread is interrupted; returns what held before.
        """
        before = self._can_interrupt
        if threading.get_ident() == self._main:
            self._can_interrupt = state
        return before

    @contextlib.contextmanager
    def _capture(self) -> Iterator[None]:
        streams = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = (_Output(stream, self._buffers) for stream in streams)
        try:
            yield
        finally:
            sys.stdout, sys.stderr = streams

    def _serve(self, channel: Channel) -> None:
        """Answer on one connection until the examiner closes it."""
        self._local.channel = channel
        with contextlib.suppress(EOFError, OSError, ProtocolError):
            while True:
                self._answer(channel, codec.loads(channel.receive(), self._objects.table))

    def _answer(self, channel: Channel, request: list[Any]) -> None:
        _, sequence, released, operation, *arguments = request
        thread = threading.get_ident()
        outer, self._buffers[thread] = self._buffers.get(thread), io.StringIO()
        self._objects.release(released)
        try:
            reply = self._perform(operation, arguments)
        finally:
            said = self._buffers.pop(thread).getvalue()[:MAX_STDOUT]
            if outer is not None:
                self._buffers[thread] = outer
        channel.send(self._message(sequence, said, reply))

    def _message(self, sequence: int, said: str, reply: tuple[Any, ...]) -> bytes:
        try:
            return codec.dumps([reply[0], sequence, said, *reply[1:]], self._objects.encode)
        except CannotCross as error:
            return codec.dumps(["cannot", sequence, said, str(error)])
        except Exception as error:  # an object that fails when it is looked at
            return codec.dumps(["cannot", sequence, said, f"{type(error).__name__}: {message_of(error)[:1000]}"])

    def _perform(self, operation: str, arguments: list[Any]) -> tuple[Any, ...]:
        """Do what the examiner asks; returns ("ok", value), or what else there is to say."""
        before = self._set_interruptible(operation in LEARNERS)
        try:
            reply: tuple[Any, ...] = getattr(self, f"_do_{operation}")(*arguments)
            return reply
        except BaseException as error:
            return "raise", type(error), plain_arguments(error), message_of(error), trace_of(error)
        finally:
            self._set_interruptible(before)

    def _ask(self, *request: Any) -> Any:
        """Call back into the test: on this thread's connection, or on a new one for a thread of the learner's."""
        before = self._set_interruptible(False)
        try:
            channel: Channel | None = getattr(self._local, "channel", None)
            if channel is None:
                channel = self._local.channel = self._connect("back", 0)
            channel.send(codec.dumps(list(request), self._objects.encode))
            return self._answered(channel)
        finally:
            self._set_interruptible(before)

    def _answered(self, channel: Channel) -> Any:
        """What a callback gave. The test may call us from within it."""
        while True:
            kind, *rest = codec.loads(channel.receive(), self._objects.table)
            if kind == "result":
                return rest[0]
            if kind == "stop":
                raise StopIteration(rest[0])
            if kind == "raise":
                raise rest[0]
            if kind == "abandon":
                raise KeyboardInterrupt
            self._answer(channel, [kind, *rest])

    # ------------------------------------------------------------------------------ what the examiner may ask

    def _do_records(self, names: list[str]) -> tuple[Any, ...]:
        self._objects.records = frozenset(names)
        return "ok", None

    def _do_run(self, number: int) -> tuple[Any, ...]:
        """A test that must run here. What it found, the witness tells."""
        prepared.pop(number)()
        return "ok", None

    def _do_name(self, name: str) -> tuple[Any, ...]:
        if name not in self._objects.namespace:
            return ("none",)
        value = self._objects.namespace[name]
        return ("module",) if isinstance(value, ModuleType) else ("ok", value)

    def _do_call(self, x: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        return "ok", x(*args, **kwargs)

    def _do_method(self, x: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        return "ok", getattr(x, name)(*args, **kwargs)

    def _do_get(self, x: Any, name: str) -> tuple[Any, ...]:
        return "ok", getattr(x, name)

    def _do_set(self, x: Any, name: str, value: Any) -> tuple[Any, ...]:
        setattr(x, name, value)
        return "ok", None

    def _do_isinstance(self, kind: Any, x: Any) -> tuple[Any, ...]:
        return "ok", isinstance(x, kind)

    def _do_special(self, x: Any, name: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """A special method, looked up on the type as Python does."""
        method = getattr(type(x), name, None)
        if method is None and name == "__iter__" and hasattr(type(x), "__getitem__"):
            return "ok", iter(x)
        if method is None:
            raise TypeError(f"{type(x).__name__!r} object does not support {name}")
        if name != "__next__":
            return "ok", method(x, *args)
        try:
            return "ok", method(x)
        except StopIteration as end:
            return "stop", end.value

    def _do_reckon(self, name: str, operands: tuple[Any, ...]) -> tuple[Any, ...]:
        """An operator's expression, as Python works it out."""
        return "ok", getattr(operator, name)(*operands)

    def _do_withhold(self, names: tuple[str, ...]) -> tuple[Any, ...]:
        from tflabs.runtime import withholding

        restore = withholding._install(names)
        self._blocks += 1
        self._withheld[self._blocks] = restore
        return "ok", self._blocks

    def _do_restore(self, number: int) -> tuple[Any, ...]:
        restore = self._withheld.pop(number, None)
        if restore is not None:
            restore()
        return "ok", None

    def _do_folder(self, action: str, *arguments: Any) -> tuple[Any, ...]:
        from tflabs.runtime.folders import LocalDisk

        found = getattr(LocalDisk(), action)(*arguments)
        if action == "make":
            self._folders.add(found)
        return "ok", found

    def _do_remove(self, folder: str) -> tuple[Any, ...]:
        self._folders.discard(folder)
        return self._do_folder("remove", folder)

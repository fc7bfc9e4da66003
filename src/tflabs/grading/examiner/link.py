"""The examiner's end of the connections to the learner's process."""

from __future__ import annotations

import contextlib
import itertools
import socket
import sys
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tflabs.grading.examiner import codec
from tflabs.grading.examiner.channel import Channel
from tflabs.grading.examiner.codec import need
from tflabs.grading.examiner.errors import (
    CallTimeout,
    CannotCross,
    CellTimeout,
    ExaminerError,
    LearnerExit,
    LearnerGone,
    LiveObjectError,
    ProtocolError,
)
from tflabs.grading.examiner.exceptions import MAX_MESSAGE, MAX_TRACE, made
from tflabs.grading.examiner.proof import Witness
from tflabs.grading.examiner.values import Values, from_learner

MAX_CONNECTIONS = 128
MAX_HELLO = 256  # bytes of the first message of a connection
MAX_STDOUT = 200_000
PATIENCE = 10.0  # seconds in which the learner's process must connect
GRACE = 3.0  # seconds in which it must answer after it was interrupted
ENDS = ("restore", "remove")  # of `withheld` and `shared_folder`: done also when the cell's time is over
ROLES = ("main", "control", "call", "back", "witness")


TOLD = 60  # characters of an exception's words by which a test's message is known to tell of it


@dataclass(frozen=True)
class Raised:
    """An exception of the learner's code."""

    error: BaseException
    words: str  # its class and what it says
    trace: str  # where it was raised, in the learner's words

    def is_told_by(self, error: BaseException, message: str) -> bool:
        """Whether a cell that ends with this error and message fails for this exception."""
        return error is self.error or self.words[:TOLD] in message


@dataclass
class Cell:
    """A cell while it runs."""

    number: int
    deadline: float  # of time.monotonic()
    call_seconds: float
    names: frozenset[str] | None  # the learner's names that it may look up; None: any
    values: dict[str, Any] = field(default_factory=dict)  # what was looked up
    calls: int = 0  # requests about the learner's objects
    failure: BaseException | None = None  # what ends the cell as failed, whatever the cell makes of it
    raised: Raised | None = None  # what the learner's code raised last
    channel: Channel | None = None  # the main thread's
    announced: bool = False  # whether the learner's process was told which classes this process has


@dataclass
class _Io:
    """Whether the main thread waits for the learner's process, and shall not be torn from it."""

    waiting: bool = False


@dataclass(eq=False)
class _Mine:
    """A thread's connection. It is dropped when the thread ends: with the thread's locals, this object goes."""

    channel: Channel


class Link:
    """Calls into one learner's process, for the cells that run here one after the other.

    Each thread has a connection of its own, so that calls that block do not block each other: the main thread one
    for each cell, on which the learner's kernel serves on its main thread; others one that the learner's process opens
    when it is asked to. Callbacks from threads that the learner started come in on connections that the learner opens.
    """

    def __init__(self, own: dict[str, type]) -> None:
        self.values = Values(self, own)
        self.cell: Cell | None = None
        self.io = _Io()
        self._main = threading.get_ident()
        self._local = threading.local()
        self._changed = threading.Condition()
        self._channels: dict[tuple[str, int], Channel] = {}
        self._live: set[Channel] = set()
        self._numbers = itertools.count(1)
        self._told: list[str] = []
        self._ended = False
        self._witness: Witness | None = None
        self._over = 0  # the number of the last cell that is over

    # --------------------------------------------------------------------------------------- connections

    def welcome(self, connection: socket.socket) -> None:
        """A process has connected. Called on a thread of its own; nothing is believed of what it says."""
        channel = Channel(connection, MAX_HELLO)
        with self._changed:
            if self._ended or len(self._live) >= MAX_CONNECTIONS:
                channel.close()
                return
            self._live.add(channel)
        try:
            self._introduce(channel)
        except (ExaminerError, OSError, EOFError):
            self._drop(channel)

    def _introduce(self, channel: Channel) -> None:
        hello = codec.loads(channel.receive(time.monotonic() + PATIENCE))
        need(type(hello) is list and len(hello) == 2 and hello[0] in ROLES and type(hello[1]) is int, "no greeting")
        role, number = hello
        channel.limit = codec.MAX_BYTES
        if role == "back":
            self._serve_back(channel)
            return
        with self._changed:
            wanted = role != "main" or number > self._over  # the kernel may be quicker than the driver's task
            need(wanted and (role, number) not in self._channels, "nobody waits for this connection")
            self._channels[role, number] = channel
            self._changed.notify_all()

    def witness(self, cell: Cell) -> Witness:
        """What was planted in the learner's process before its first cell."""
        if self._witness is None:
            until = min(time.monotonic() + PATIENCE, cell.deadline)
            self._witness = Witness(self._wait("witness", 0, until))
        return self._witness

    def _drop(self, channel: Channel) -> None:
        channel.close()
        with self._changed:
            self._live.discard(channel)
            for key in [key for key, value in self._channels.items() if value is channel]:
                del self._channels[key]
            if self.cell is not None and self.cell.channel is channel:
                self.cell.channel = None

    def _wait(self, role: str, number: int, until: float) -> Channel:
        with self._changed:
            while (role, number) not in self._channels:
                if self._ended or not self._changed.wait(max(0.0, until - time.monotonic())):
                    raise LearnerGone("the learner's kernel does not answer: it ended, or was modified")
            return self._channels[role, number]

    def _channel(self, cell: Cell) -> Channel:
        """This thread's connection."""
        until = min(time.monotonic() + PATIENCE, cell.deadline)
        if threading.get_ident() == self._main:
            cell.channel = cell.channel or self._wait("main", cell.number, until)
            return cell.channel
        mine: _Mine | None = getattr(self._local, "mine", None)
        if mine is None:
            number = next(self._numbers)
            self._tell("spawn", number, until)
            mine = self._local.mine = _Mine(self._wait("call", number, until))
            weakref.finalize(mine, self._drop, mine.channel).atexit = False
        return mine.channel

    def _tell(self, action: str, number: int, until: float) -> None:
        """Ask the learner's process for a connection, or to interrupt its main thread."""
        control = self._wait("control", 0, until)
        with self._changed:
            try:
                control.send(codec.dumps([action, number]), until)
            except OSError:
                raise LearnerGone("the learner's process ended") from None

    # --------------------------------------------------------------------------------------------- cells

    def begin(self, cell: Cell) -> None:
        """From now on, calls belong to this cell."""
        with self._changed:
            self.cell = cell
        self.values.new_cell()

    def finish(self, cell: Cell) -> None:
        """The cell is over: the learner's kernel is sent home, what the cell gave out has expired."""
        self.values.new_cell()
        with self._changed:
            self.cell, self._over = None, cell.number
            late = [
                value for (role, number), value in self._channels.items() if role == "main" and number <= self._over
            ]
        for channel in late:
            self._drop(channel)

    def close(self) -> None:
        """The learner's process is of no interest any more."""
        with self._changed:
            self._ended = True
            channels = list(self._live)
            self._changed.notify_all()
        for channel in channels:
            self._drop(channel)

    def noted(self, error: ExaminerError) -> ExaminerError:
        """The same error; the running cell fails with it even if a test swallows it."""
        if self.cell is not None and self.cell.failure is None:
            self.cell.failure = error
        return error

    def note_failure(self, error: BaseException) -> None:
        """The learner's code may now see an exception of the test's: a failed assertion must not be lost in there."""
        failed = isinstance(error, AssertionError | ExaminerError) and not from_learner(error)
        if failed and self.cell is not None and self.cell.failure is None:
            self.cell.failure = error

    # ------------------------------------------------------------------------------------------ requests

    def look_up(self, name: str) -> Any:
        """The learner's value of a global name, the same for the whole cell.

        Raises:
            KeyError: the learner has no such name.
        """
        cell = self._current()
        if cell.names is not None and name not in cell.names:
            raise KeyError(name)
        if name not in cell.values:
            cell.values[name] = self.request("name", name)
        return cell.values[name]

    def withhold(self, names: tuple[str, ...]) -> Callable[[], None]:
        """Withhold names in the learner's process, as `tflabs.runtime.withholding._install` does here."""
        number = self.request("withhold", names)
        return lambda: self.request("restore", number)

    def request(self, operation: str, *arguments: Any) -> Any:
        """Ask the learner's process and wait for its answer.

        Raises:
            ExaminerError: there is no proper answer in time.
            Exception: what the learner's code raised.
        """
        cell = self._current()
        if isinstance(cell.failure, LearnerGone | ProtocolError):
            raise cell.failure
        if operation not in (*ENDS, "withhold", "records", "folder"):
            cell.calls += 1
        try:
            if not cell.announced:
                cell.announced = True
                self._announce()
            before = self._set_waiting(True)
            try:
                reply = self._exchange(cell, self._channel(cell), operation, arguments)
            finally:
                self._set_waiting(before)
            return self._result(cell, reply, stops=operation == "special" and arguments[1] == "__next__")
        except ExaminerError as error:
            raise self.noted(error) from None

    def _current(self) -> Cell:
        if self.cell is None or self._ended:
            raise LearnerGone("no cell is run for this learner's process")
        return self.cell

    def _announce(self) -> None:
        """Tell which classes this process has too, if that has changed."""
        records = self.values.records()
        if records != self._told:
            self._told = records
            self.request("records", records)

    def _set_waiting(self, state: bool) -> bool:
        """Whether this thread waits for the learner's process; only the main thread's counts. Returns what held."""
        before = self.io.waiting
        if threading.get_ident() == self._main:
            self.io.waiting = state
        return before

    def _exchange(self, cell: Cell, channel: Channel, operation: str, arguments: tuple[Any, ...]) -> list[Any]:
        sequence = next(self._numbers)
        message = codec.dumps(["ask", sequence, self.values.dropped(), operation, *arguments], self.values.encode)
        now = time.monotonic()
        until = now + GRACE if operation in ENDS else min(now + cell.call_seconds, cell.deadline)
        try:
            channel.send(message, until)
            return self._reply(cell, channel, sequence, until)
        except TimeoutError:
            self._interrupt(cell, channel, sequence)
            if time.monotonic() >= cell.deadline:
                raise CellTimeout("the cell took too long, in the learner's code") from None
            raise CallTimeout(f"no answer from the learner's code within {cell.call_seconds:g} seconds") from None
        except (OSError, EOFError):
            raise LearnerGone("the learner's process ended") from None
        except ProtocolError:
            self._drop(channel)
            raise

    def _interrupt(self, cell: Cell, channel: Channel, sequence: int) -> None:
        """Bring a late call to its end, so that the connection can be used again; or give the connection up."""
        until = time.monotonic() + GRACE
        try:
            if threading.get_ident() == self._main:
                self._tell("interrupt", 0, until)
                self._reply(cell, channel, sequence, until, late=True)
                return
        except (OSError, EOFError, ExaminerError):
            pass
        self._local.mine = None
        self._drop(channel)

    def _reply(self, cell: Cell, channel: Channel, sequence: int, until: float, late: bool = False) -> list[Any]:
        """The answer of that number. Answers of other numbers are late ones and are dropped."""
        while True:
            message: list[Any] = codec.loads(channel.receive(until), self.values.table)
            need(type(message) is list and len(message) >= 2, "no message")
            if message[0] in ("call", "next"):
                if late:
                    channel.send(codec.dumps(["abandon"]), until)
                else:
                    until = min(until + self._call_back(channel, message, until), cell.deadline)
            elif message[1] == sequence and type(message[1]) is int:
                return message

    def _result(self, cell: Cell, reply: list[Any], stops: bool) -> Any:
        need(len(reply) >= 3 and type(reply[0]) is str and type(reply[2]) is str, "no answer")
        kind, _, said, *rest = reply
        if said:
            sys.stdout.write(said[:MAX_STDOUT])
        if cell.failure is not None and isinstance(cell.failure, AssertionError):
            raise cell.failure  # failed in a callback
        if kind == "ok" and len(rest) == 1:
            return rest[0]
        if kind == "stop" and len(rest) == 1 and stops:
            raise StopIteration(rest[0])
        if kind == "none" and not rest:
            raise KeyError
        if kind == "module" and not rest:
            raise CannotCross("a test uses a module that only the learner imported: import it in a locked cell")
        if kind == "cannot" and len(rest) == 1 and type(rest[0]) is str:
            raise LiveObjectError(f"the learner's result cannot be looked at: {rest[0][:MAX_MESSAGE]}")
        need(kind == "raise" and len(rest) == 4, "no answer")
        raise self._raised(cell, *rest)

    def _raised(self, cell: Cell, kind: Any, arguments: Any, message: Any, trace: Any) -> BaseException:
        need(isinstance(kind, type) and issubclass(kind, BaseException), "no exception")
        need(arguments is None or type(arguments) is tuple, "no exception")
        need(type(message) is str and type(trace) is str, "no exception")
        if issubclass(kind, ExaminerError):
            return LearnerExit(f"the learner's code ended with {message[:200]!r}")
        if issubclass(kind, StopIteration | StopAsyncIteration):  # would silently end a loop of the test
            return RuntimeError(f"the learner's code raised {kind.__name__}")
        error = made(kind, arguments, message[:MAX_MESSAGE])
        cell.raised = Raised(error, f"{kind.__name__}: {message}", trace[:MAX_TRACE])
        with contextlib.suppress(Exception):
            error._x_from_learner = True  # type: ignore[attr-defined]
        return error

    # ----------------------------------------------------------------------------------------- callbacks

    def _call_back(self, channel: Channel, message: list[Any], until: float) -> float:
        """Do what the learner's process asks of the test, and answer; returns the seconds that it took.

        Only this can be asked: to call a function that this cell passed, or to advance an iterator that it passed.
        """
        began = time.monotonic()
        answer, ending = self._acted(self._action(message))
        try:
            reply = codec.dumps(answer, self.values.encode)
        except CannotCross as error:
            reply, ending = codec.dumps(["abandon"]), error
        spent = time.monotonic() - began
        channel.send(reply, until + spent)
        if ending is not None:
            raise ending
        return spent

    def _acted(self, action: Callable[[], Any]) -> tuple[list[Any], BaseException | None]:
        """What to answer, and the exception that ends the cell, if it is one of those."""
        before = self._set_waiting(False)
        try:
            return ["result", action()], None
        except StopIteration as end:
            return ["stop", end.value], None
        except Exception as error:
            self.note_failure(error)
            return ["raise", error], None
        except BaseException as error:
            self.note_failure(error)
            return ["abandon"], error
        finally:
            self._set_waiting(before)

    def _action(self, message: list[Any]) -> Callable[[], Any]:
        kind, thing = self.values.given.find(message[1])
        need(kind == message[0], "a function is called, an iterator advanced")
        if kind == "next":
            need(len(message) == 2, "no callback")
            return lambda: next(thing)
        need(len(message) == 4 and type(message[2]) is tuple and type(message[3]) is dict, "no callback")
        need(all(type(key) is str for key in message[3]), "no callback")
        return lambda: thing(*message[2], **message[3])

    def _serve_back(self, channel: Channel) -> None:
        """Callbacks from a thread that the learner started."""
        self._local.mine = _Mine(channel)  # the test may call the learner's code from within
        while True:
            message = codec.loads(channel.receive(), self.values.table)
            need(type(message) is list and len(message) >= 2 and message[0] in ("call", "next"), "no callback")
            self._call_back(channel, message, time.monotonic() + PATIENCE)

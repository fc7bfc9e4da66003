"""A box from the outside: what runs in it, how to stop it, why it ended, and where to read what it left."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from _socket import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tflabs.grading.sandbox import libc, wire


@dataclass(frozen=True)
class Verdict:
    """Why a box ended.

    Attributes:
        kind: "exit N", "signal N", or the limit that ended it: "memory", "wall", "cpu", "files", "disk"; "killed" by
            its driver; "failed" to run the command; "lost", when it ended without a word.
        words: the same as a sentence, with numbers.
        status: the exit code as in `subprocess`, negative for a signal; -9 where the box was ended from outside.
    """

    kind: str
    words: str
    status: int


class Box:
    """A running command, and every process that it starts. Close it when done with its folder.

    Attributes:
        backend: "namespaces", "landlock" or "none".
        network: "loopback" or "none": what it got, which may be less than its policy allows.
        pid: the command's process id on the host.
        folder: its working folder. Read it through `safe_read` alone. Under "namespaces" it lies in a file system that
            only this process can name, by a descriptor: the path holds in this process, and for Unix sockets too.
        inside: the same folder as the box names it.
        line: under "landlock", where a box can connect to nothing, the other end of its standard input: nothing can be
            sent to the box, which can hand out descriptors over it.
    """

    backend: str
    network: str
    pid: int
    folder: Path
    inside: str
    verdict: Verdict | None = None

    def __init__(self, connection: socket, backend: str, network: str, folder: str | None, line: socket | None) -> None:
        self.backend, self.network, self.line = backend, network, line
        self.inside = folder or "/sandbox/work"
        self._connection = connection
        self._host_folder = folder
        self._descriptors: list[int] = []
        self._on_close: list[Callable[[], None]] = []

    def fileno(self) -> int:
        """Readable when the box has ended: for `select` and event loops."""
        return int(self._connection.fileno())

    def poll(self) -> int | None:
        """The status of a box that has ended, or None. When it has ended, no process of it is left."""
        return self.wait(0)

    def wait(self, timeout: float | None = None) -> int | None:
        """Wait for the end, at most `timeout` seconds; its status, or None if it still runs."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while self.verdict is None:
            rest = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not self._receive(rest):
                return None
        return self.verdict.status

    def command_ended(self) -> bool:
        """Whether the command has ended. It does before the box: what is left in that is ended then."""
        if not self._descriptors:
            return self.verdict is not None
        poll = select.poll()
        poll.register(self._descriptors[1], select.POLLIN)
        return bool(poll.poll(0))

    def interrupt(self) -> None:
        """SIGINT to the command alone, as a notebook's stop button does. Nothing happens once it ended."""
        if self._descriptors:
            with contextlib.suppress(ProcessLookupError):
                libc.send_signal(self._descriptors[1], signal.SIGINT)

    def kill(self, timeout: float = 30.0) -> None:
        """End every process of the box, and return when none is left.

        Raises:
            TimeoutError: the kernel did not end them in time; it goes on trying.
        """
        if self.verdict is None:
            with contextlib.suppress(OSError):
                wire.send(self._connection, {"command": "kill"})
            if self.wait(timeout) is None:
                raise TimeoutError(f"the box of process {self.pid} has not ended within {timeout:g} seconds")

    def close(self) -> None:
        """End the box if it runs, and let its folder go."""
        if self._connection.fileno() < 0:
            return
        try:
            self.kill()
        finally:
            self._connection.close()
            if self.line is not None:
                self.line.close()
            for descriptor in self._descriptors:
                os.close(descriptor)
            self._descriptors = []
            for release in self._on_close:
                release()

    def on_close(self, release: Callable[[], None]) -> None:
        """Call `release` when the box is closed."""
        self._on_close.append(release)

    def await_start(self, timeout: float) -> str | None:
        """Wait until the command is about to run; why it does not, or None."""
        deadline = time.monotonic() + timeout
        while not self._descriptors and self.verdict is None:
            if not self._receive(max(0.0, deadline - time.monotonic())):
                return f"it was not set up within {timeout:g} seconds"
        return self.verdict.words if self.verdict is not None and not self._descriptors else None

    def await_event(self, timeout: float) -> dict[str, object] | None:
        """The next event other than the start and the end: what a fork server says. None when there is none."""
        deadline = time.monotonic() + timeout
        while self.verdict is None:
            event = self._next(max(0.0, deadline - time.monotonic()))
            if event is None:
                return None
            if not self._note(event):
                return event.fields
        return None

    def _receive(self, timeout: float | None) -> bool:
        event = self._next(timeout)
        if event is not None:
            self._note(event)
        return event is not None

    def _next(self, timeout: float | None) -> wire.Message | None:
        if timeout is not None:
            poll = select.poll()
            poll.register(self._connection.fileno(), select.POLLIN)
            if not poll.poll(1000 * timeout):
                return None
        lost = {"event": "ended", "verdict": "lost", "words": "its keeper ended", "status": None}
        return wire.receive(self._connection) or wire.Message(lost, [], 0)

    def _note(self, message: wire.Message) -> bool:
        fields = message.fields
        if fields.get("event") == "started":
            self.pid, self._descriptors = fields["pid"], message.descriptors
            self.folder = Path(self._host_folder or f"/proc/self/fd/{message.descriptors[0]}")
        elif fields.get("event") == "ended":
            status = {"failed": 126}.get(fields["verdict"], -9) if fields["status"] is None else fields["status"]
            self.verdict = Verdict(fields["verdict"], fields["words"], status)
        else:
            return False
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

"""Messages over a stream socket: a little-endian uint32 with the length, and the bytes."""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import time

from tflabs.grading.examiner.codec import MAX_BYTES
from tflabs.grading.examiner.errors import ProtocolError

_LENGTH = struct.Struct("<I")
_CHUNK = 1 << 20


class Channel:
    """One end of a connection. One thread at a time sends, one at a time receives.

    A deadline is a time of `time.monotonic()`. A receive that ran into its deadline loses nothing: the next one goes
    on where it stopped.
    """

    def __init__(self, connection: socket.socket, limit: int = MAX_BYTES) -> None:
        self.limit = limit  # bytes of a message; what a peer claims beyond it is refused before it is read
        self._socket = connection
        self._socket.setblocking(False)
        self._buffer = bytearray()
        self._readable, self._writable = select.poll(), select.poll()
        self._readable.register(connection, select.POLLIN)
        self._writable.register(connection, select.POLLOUT)

    def send(self, message: bytes, deadline: float | None = None) -> None:
        """Send one message.

        Raises:
            TimeoutError: the peer does not read; the connection is of no use any more.
            OSError: the connection is gone.
        """
        data = memoryview(_LENGTH.pack(len(message)) + message)
        while data:
            try:
                data = data[self._socket.send(data) :]
            except BlockingIOError:
                _wait(self._writable, deadline)

    def receive(self, deadline: float | None = None) -> bytes:
        """Wait for one message.

        Raises:
            TimeoutError: it did not come, or not all of it.
            EOFError, OSError: the connection is gone.
            ProtocolError: the message is longer than the limit.
        """
        self._fill(_LENGTH.size, deadline)
        (length,) = _LENGTH.unpack_from(self._buffer)
        if length > self.limit:
            raise ProtocolError(f"a message of {length} bytes; the limit is {self.limit}")
        end = _LENGTH.size + length
        self._fill(end, deadline)
        message = bytes(memoryview(self._buffer)[_LENGTH.size : end])
        del self._buffer[:end]
        return message

    def close(self) -> None:
        """End the connection, also for a thread that waits on it."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _fill(self, size: int, deadline: float | None) -> None:
        """Read until the buffer holds `size` bytes. Memory grows with what came, not with what was claimed."""
        while len(self._buffer) < size:
            _wait(self._readable, deadline)
            with contextlib.suppress(BlockingIOError):
                data = self._socket.recv(min(_CHUNK, max(4096, size - len(self._buffer))))
                if not data:
                    raise EOFError("the connection was closed")
                self._buffer += data


def _wait(readiness: select.poll, deadline: float | None) -> None:
    """Wait until a socket can be read or written."""
    if deadline is None:
        readiness.poll()
    elif not readiness.poll(max(0.0, deadline - time.monotonic()) * 1000):
        raise TimeoutError("the deadline has passed")

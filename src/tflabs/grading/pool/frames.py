"""Messages between a pool and its nurseries, over a stream socket."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass

_HEAD = struct.Struct("!QQ16s")  # number, length of the content, kind


@dataclass(frozen=True)
class Frame:
    """`number` says which work it is about, `kind` what it says of it (at most 16 ASCII characters)."""

    number: int
    kind: str
    content: bytes = b""


def write(end: socket.socket, frame: Frame) -> None:
    """Raises OSError if the other end is gone."""
    end.sendall(_HEAD.pack(frame.number, len(frame.content), frame.kind.encode()) + frame.content)


def read(end: socket.socket) -> Frame | None:
    """The next message; None if the other end is gone, in the midst of one or between two."""
    try:
        head = _exactly(end, _HEAD.size)
        if head is None:
            return None
        number, size, kind = _HEAD.unpack(head)
        content = _exactly(end, size)
    except OSError:
        return None
    return None if content is None else Frame(number, kind.rstrip(b"\0").decode(), content)


def _exactly(end: socket.socket, size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        more = end.recv(min(size - len(data), 1 << 20))
        if not more:
            return None
        data += more
    return bytes(data)

"""Messages between the driver, the keeper and the processes that set a box up: one packet each, descriptors beside it.

Both ends run this package and the same interpreter, and no learner's code runs before its end of a socket is closed.
"""

from __future__ import annotations

import marshal
import os
import struct
from _socket import AF_UNIX, MSG_CTRUNC, SCM_RIGHTS, SOCK_SEQPACKET, SOL_SOCKET, socket, socketpair

from tflabs.grading.sandbox.quiet import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_SO_PASSCRED, _SCM_CREDENTIALS, _MSG_CMSG_CLOEXEC = 16, 2, 0x40000000
_SIZE, _ANCILLARY = 1 << 16, 512


class Message:
    """One packet: its fields, the descriptors that came with it, and the sender's pid as seen here (0 if not asked)."""

    __slots__ = ("descriptors", "fields", "pid")

    def __init__(self, fields: dict[str, Any], descriptors: list[int], pid: int) -> None:
        self.fields, self.descriptors, self.pid = fields, descriptors, pid


def pair() -> tuple[socket, socket]:
    """Two connected ends. Neither is inherited by what is executed."""
    first, second = socketpair(AF_UNIX, SOCK_SEQPACKET)
    return first, second


def identify_senders(end: socket) -> None:
    """Have the kernel attach the sender's pid, translated into this process' pid namespace, to what arrives here."""
    end.setsockopt(SOL_SOCKET, _SO_PASSCRED, 1)


def send(end: socket, fields: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
    rights = [(SOL_SOCKET, SCM_RIGHTS, struct.pack(f"{len(descriptors)}i", *descriptors))] if descriptors else []
    end.sendmsg([marshal.dumps(fields)], rights)


def receive(end: socket) -> Message | None:
    """The next message, or None when the other end is closed."""
    try:
        data, ancillary, flags, _ = end.recvmsg(_SIZE, _ANCILLARY, _MSG_CMSG_CLOEXEC)
    except ConnectionResetError:
        return None
    if not data:
        return None
    descriptors: list[int] = []
    pid = 0
    for level, kind, value in ancillary:
        if (level, kind) == (SOL_SOCKET, SCM_RIGHTS):
            descriptors += struct.unpack(f"{len(value) // 4}i", value[: len(value) // 4 * 4])
        elif (level, kind) == (SOL_SOCKET, _SCM_CREDENTIALS):
            pid = struct.unpack("iII", value)[0]
    if flags & MSG_CTRUNC:
        for descriptor in descriptors:
            with suppress(OSError):
                os.close(descriptor)
        raise OSError("descriptors were lost: too many files are open")
    return Message(marshal.loads(data), descriptors, pid)


def read_request(descriptor: int) -> dict[str, Any]:
    """A request lies in a file, since it may hold files; several processes read it, each from its start."""
    size = os.fstat(descriptor).st_size
    data = b""
    while len(data) < size:
        data += os.pread(descriptor, size - len(data), len(data))
    fields: dict[str, Any] = marshal.loads(data)
    return fields


def write_request(descriptor: int, fields: dict[str, Any]) -> None:
    data = memoryview(marshal.dumps(fields))
    while data:
        data = data[os.write(descriptor, data) :]

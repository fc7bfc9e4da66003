"""Users for boxes: run by root, each box has a user id that no other box and no account of the machine has."""

from __future__ import annotations

import os
import socket
from pathlib import Path

BLOCK = 128  # ids per box; a fork server gives the others to its kernels
_BLOCKS, _BLOCKS_IN_CONTAINER = 1024, 64
_WANTED = 1_900_000_000  # above systemd's containers (they end at 1879048191), below 2**31


class Slot:
    """A block of user and group ids, this process' until it is released or the process ends."""

    def __init__(self, first: int, lock: socket.socket) -> None:
        self.first = first
        self._lock = lock

    def release(self) -> None:
        self._lock.close()


def take() -> Slot | None:
    """A free block; None where this process cannot become another user, or knows of none.

    The lock is the name of an abstract Unix socket: it needs no file, and the kernel frees it with its holder.

    Raises:
        RuntimeError: all blocks are taken.
    """
    blocks = _blocks()
    for first in blocks:
        lock = socket.socket(socket.AF_UNIX)
        try:
            lock.bind(f"\0tflabs-sandbox-{first}")
        except OSError:
            lock.close()
            continue
        return Slot(first, lock)
    if blocks:
        raise RuntimeError(f"{len(blocks)} boxes run already")
    return None


def _blocks() -> range:
    """The first ids of the blocks, inside what this user namespace maps (a container may know only 65536 ids)."""
    if os.geteuid() != 0:
        return range(0)
    size, small = _BLOCKS * BLOCK, _BLOCKS_IN_CONTAINER * BLOCK
    for begin, end in _mapped("uid"):
        if not any(low <= begin and end <= high for low, high in _mapped("gid")):
            continue
        if begin <= _WANTED and _WANTED + size <= end:
            return range(_WANTED, _WANTED + size, BLOCK)
        if end - begin > 4 * small:
            last = end - 2  # the last two are nobody's by custom
            return range(last - small, last, BLOCK)
    return range(0)


def _mapped(kind: str) -> list[tuple[int, int]]:
    lines = Path(f"/proc/self/{kind}_map").read_text().splitlines()
    fields = [[int(field) for field in line.split()] for line in lines]
    return [(inside, inside + count) for inside, _, count in fields]

"""Creates a file in a box's folder from outside: where the box has users of its own, root is none of them."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def as_owner(folder: Path) -> Iterator[None]:
    """What this thread creates inside the block belongs to the owner of `folder` (setfsuid, setfsgid; Linux).

    Without root's rights this process owns the folder anyway, and nothing is changed.
    """
    if os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None)
    owner = folder.stat()
    user, group = os.geteuid(), os.getegid()
    libc.setfsgid(owner.st_gid)
    libc.setfsuid(owner.st_uid)  # last: it takes the rights to change the others
    try:
        yield
    finally:
        libc.setfsuid(user)
        libc.setfsgid(group)

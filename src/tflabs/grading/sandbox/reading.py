"""Reads what a box left behind. A name in it may be a link, a pipe, a device or somebody else's file.

A naive read as root follows a planted link to wherever it points.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from tflabs.grading.sandbox.libc import open_beneath


class UnsafeFile(Exception):
    """A file that a box left is not what may be read: it is missing, no regular file, linked or too big."""


def safe_read(folder: Path | int, name: str, cap: int) -> bytes:
    """The content of one regular file that a box left.

    Args:
        folder: the box's folder, or a descriptor of it.
        name: a path relative to it. No part of it may be a link or lead to another file system.
        cap: the most bytes that it may have.

    Raises:
        UnsafeFile: anything else lies there.
    """
    with _opened(folder) as top:
        try:
            place = open_beneath(top, name, os.O_PATH)  # opening has no effect yet, whatever it is
        except OSError as error:
            raise UnsafeFile(f"{name!r}: {error.strerror}") from None
        try:
            found = _checked(place, name, cap)
        finally:
            os.close(place)
        try:
            file = open_beneath(top, name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
        except OSError as error:
            raise UnsafeFile(f"{name!r}: {error.strerror}") from None
        try:
            if _checked(file, name, cap) != found:
                raise UnsafeFile(f"{name!r} was exchanged while it was read")
            return _read(file, name, cap)
        finally:
            os.close(file)


def safe_names(folder: Path | int, most: int = 1000) -> list[str]:
    """The names of the regular files directly in a box's folder, sorted; at most `most` entries are looked at.

    Names that are not UTF-8, or hold control characters, are left out: they are for nobody to read.
    """
    names = []
    with _opened(folder) as top, os.scandir(top) as entries:
        for count, entry in enumerate(entries):
            if count >= most:
                break
            if entry.name.isprintable() and entry.is_file(follow_symlinks=False):
                names.append(entry.name)
    return sorted(names)


@contextlib.contextmanager
def _opened(folder: Path | int) -> Iterator[int]:
    if isinstance(folder, int):
        yield folder
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _checked(descriptor: int, name: str, cap: int) -> tuple[int, int]:
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        raise UnsafeFile(f"{name!r} is not a regular file")
    if found.st_nlink != 1:
        raise UnsafeFile(f"{name!r} has {found.st_nlink} links")
    if found.st_size > cap:
        raise UnsafeFile(f"{name!r} has {found.st_size} bytes; at most {cap} are read")
    return found.st_dev, found.st_ino


def _read(descriptor: int, name: str, cap: int) -> bytes:
    content = b""
    while part := os.read(descriptor, min(1 << 20, cap + 1 - len(content))):
        content += part
        if len(content) > cap:  # it grew meanwhile
            raise UnsafeFile(f"{name!r} has more than {cap} bytes")
    return content

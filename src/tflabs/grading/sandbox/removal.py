# ruff: noqa: PTH106, PTH208
# The keeper imports this module and starts for every box; pathlib takes too long to import.
"""Removes a folder that an attacker filled, without following a link and whatever the depth of its folders."""

from __future__ import annotations

import os
import stat

from tflabs.grading.sandbox.quiet import suppress

_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_tree(path: str) -> None:
    """Remove the folder `path` and all in it. Nobody may be writing to it any more, but others may be removing from it.

    A folder inside a folder is moved up to the top before it is emptied, so neither recursion nor the length of a path
    bounds the depth.
    """
    try:
        top = os.open(path, _OPEN)
    except FileNotFoundError:
        return
    try:
        moved = 0
        while names := os.listdir(top):
            for name in names:
                with suppress(FileNotFoundError):
                    moved = _remove(top, name, moved)
    finally:
        os.close(top)
    with suppress(FileNotFoundError):
        os.rmdir(path)


def _remove(top: int, name: str, moved: int) -> int:
    if not _is_folder(top, name):
        os.unlink(name, dir_fd=top)
        return moved
    folder = _open_folder(top, name)
    try:
        for inner in os.listdir(folder):
            if _is_folder(folder, inner):
                _open_close(folder, inner)
                while _exists(top, f"{moved}"):
                    moved += 1
                os.rename(inner, f"{moved}", src_dir_fd=folder, dst_dir_fd=top)
            else:
                os.unlink(inner, dir_fd=folder)
    finally:
        os.close(folder)
    os.rmdir(name, dir_fd=top)
    return moved


def _open_folder(parent: int, name: str) -> int:
    """Open a folder whose mode its maker may have taken away from its owner."""
    try:
        descriptor = os.open(name, _OPEN, dir_fd=parent)
    except PermissionError:
        os.chmod(name, 0o700, dir_fd=parent)  # not a link: nobody else is left to exchange it
        descriptor = os.open(name, _OPEN, dir_fd=parent)
    os.fchmod(descriptor, 0o700)
    return descriptor


def _open_close(parent: int, name: str) -> None:
    """A folder without write permission cannot be moved: its entry `..` changes."""
    os.close(_open_folder(parent, name))


def _is_folder(parent: int, name: str) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)


def _exists(parent: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True

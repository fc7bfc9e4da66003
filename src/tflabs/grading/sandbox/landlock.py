# ruff: noqa: PTH112
# The keeper imports this module and starts for every box; pathlib takes too long to import.
"""Landlock: a process gives up, for itself and what it starts, the file system but for what it names (Linux 5.13)."""

from __future__ import annotations

import ctypes
import os
import struct

from tflabs.grading.sandbox import libc

_CREATE, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_RULE_PATH_BENEATH = 1
_QUERY_VERSION = 1

EXECUTE, WRITE, READ, LIST = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REFER, TRUNCATE, IOCTL = 1 << 13, 1 << 14, 1 << 15  # versions 2, 3 and 5
_ALL = (1 << 16) - 1
_OF_FILES = EXECUTE | WRITE | READ | TRUNCATE | IOCTL
_MAKE_DEVICES = 1 << 6 | 1 << 11
READ_ONLY = EXECUTE | READ | LIST
READ_WRITE = _ALL & ~_MAKE_DEVICES & ~IOCTL

_SCOPE_ABSTRACT_UNIX, _SCOPE_SIGNALS = 1, 2
SCOPES_SINCE = 6  # Linux 6.12


def version() -> int:
    """The version of Landlock's interface in the running kernel; 0 if it is missing or switched off."""
    try:
        return libc.syscall(_CREATE, None, 0, _QUERY_VERSION, what="landlock_create_ruleset")
    except OSError:
        return 0


def scope() -> None:
    """Confine signals and abstract Unix sockets to this process and its descendants, and nothing else."""
    _restrict(_ruleset(0, _SCOPE_ABSTRACT_UNIX | _SCOPE_SIGNALS))


def restrict(rules: list[tuple[str, int]]) -> None:
    """Keep, of the file system, these paths with these rights. Paths that do not exist are left out."""
    known = version()
    handled = _ALL
    for since, right in ((5, IOCTL), (3, TRUNCATE), (2, _REFER)):
        if known < since:
            handled &= ~right
    ruleset = _ruleset(handled, _SCOPE_ABSTRACT_UNIX | _SCOPE_SIGNALS if known >= SCOPES_SINCE else 0)
    for path, rights in rules:
        _allow(ruleset, path, rights & handled)
    _restrict(ruleset)


def _ruleset(files: int, scopes: int) -> int:
    attributes = struct.pack("QQQ", files, 0, scopes)
    size = len(attributes) if scopes else 8  # older kernels refuse fields that they do not know
    return libc.syscall(_CREATE, ctypes.c_char_p(attributes), size, 0, what="landlock_create_ruleset")


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, PermissionError):
        return
    try:
        if not os.path.isdir(path):
            rights &= _OF_FILES
        rule = struct.pack("=Qi", rights, descriptor)
        libc.syscall(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, ctypes.c_char_p(rule), 0, what=f"landlock rule {path}")
    finally:
        os.close(descriptor)


def _restrict(ruleset: int) -> None:
    libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
    libc.syscall(_RESTRICT_SELF, ruleset, 0, what="landlock_restrict_self")
    os.close(ruleset)

"""What a box may see, use and hold."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal

_PACKAGE = Path(__file__).resolve().parents[2]
# What labs import, and what runs on the kernel's side of the fork server and of the examiner. Nothing of the course.
_PARTS = ("__init__.py", "errors.py", "view", "runtime", "grading")


# A box has these for itself; what the host has there is covered, but for readable trees below /tmp.
_OWN = ("/proc", "/dev", "/sandbox")


def _processes() -> int:
    """Threads count as processes, on 2 cores 26 of TensorFlow's own and 85 of each server of a local cluster.

    A server's threads stay when it is let go, and a lab of clusters starts five of them.
    """
    return 1024 + 48 * (os.cpu_count() or 1)


@dataclass(frozen=True)
class Limits:
    """How much a box may take.

    Attributes:
        memory_mib: resident memory of all processes together, shared pages counted once.
        processes: processes and threads.
        disk_mib: bytes in all files together. The files lie in memory, beside `memory_mib`.
        inodes: files, folders and links.
        file_mib: bytes of one file.
        open_files: open descriptors of one process; all processes together may hold eight times as many.
        cpu_seconds: CPU time of all processes together.
        wall_seconds: from the start of the command to its end.
    """

    memory_mib: int = 2048
    processes: int = field(default_factory=_processes)
    disk_mib: int = 512
    inodes: int = 16384
    file_mib: int = 256
    open_files: int = 1024
    cpu_seconds: float = 3600.0
    wall_seconds: float = 1800.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value <= 0:
                raise ValueError(f"the limit {name} must be above 0, not {value}")

    @property
    def data_mib(self) -> int:
        """Bound of one process' data segment: its memory and its threads' stacks, 8 MiB each and mostly untouched.

        Above it an allocation fails and the learner gets a MemoryError, where the bound on the tree ends the box.
        """
        return self.memory_mib + 4 * self.processes


@dataclass(frozen=True)
class Policy:
    """What a box is given.

    Attributes:
        readable: files and folders that it sees at their own paths, read-only, besides the system's.
        listable: folders whose names it may read, and those of the folders below, where Landlock confines it: Python
            imports a package only from a folder that it can list. Under "namespaces" a folder shows what is readable.
        files: (relative path, content) of what lies in its working folder when it starts.
        environment: all its environment variables; HOME, TMPDIR, USER and PATH are added.
        limits: how much it may take.
        network: "loopback", an own network with nothing but 127.0.0.1 and ::1, or "none".
        hidden: folders that must stay out of sight, such as the course: no readable tree may be or contain one.
    """

    readable: tuple[str, ...] = ()
    listable: tuple[str, ...] = ()
    files: tuple[tuple[str, bytes], ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    network: Literal["loopback", "none"] = "loopback"
    hidden: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for path in self.readable:
            normal = os.path.normpath(path)
            own = any(Path(normal).is_relative_to(top) for top in _OWN)
            if own or not Path(path).is_absolute() or normal in ("/", "/etc", "/tmp"):
                raise ValueError(
                    f"{path!r} cannot be shown to a box: it is relative, all of the system, or the box's own"
                )
        check_names(self.files)
        for hidden in self.hidden:
            self._check_hidden(Path(os.path.realpath(hidden)))

    def _check_hidden(self, hidden: Path) -> None:
        for path in ("/usr", *self.readable, *self.listable):
            if hidden.is_relative_to(os.path.realpath(path)):
                raise ValueError(f"{path} would show {hidden} to a box, which must stay hidden")


def check_names(files: tuple[tuple[str, bytes], ...]) -> None:
    """Refuse names of files that do not stay in the working folder."""
    for name, _ in files:
        path = PurePosixPath(name)
        if path.is_absolute() or not path.parts or ".." in path.parts or "\0" in name:
            raise ValueError(f"{name!r} does not lie in the working folder")


def python_policy(
    files: tuple[tuple[str, bytes], ...] = (),
    environment: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    hidden: tuple[str, ...] = (),
) -> Policy:
    """A policy under which this Python, its packages and what labs import of tflabs work."""
    return Policy(
        readable=(*interpreter_trees(), *package_trees()),
        listable=(str(_PACKAGE.parent),),
        files=files,
        environment=environment or {},
        limits=limits or Limits(),
        hidden=hidden,
    )


def interpreter_trees() -> tuple[str, ...]:
    """The folders of this interpreter and of its virtual environment, by every name under which it looks for them."""
    trees = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    program = sys.executable
    while Path(program).is_symlink():  # a virtual environment's `python` may link to another link
        program = os.path.normpath(Path(program).parent / Path(program).readlink())
        trees.add(str(Path(program).parent.parent))
    trees |= {os.path.realpath(tree) for tree in trees}
    return tuple(sorted(tree for tree in trees if tree not in ("/", "/usr")))


def package_trees() -> tuple[str, ...]:
    """The parts of this package that a box imports. An editable installation lies inside the course's folder."""
    return tuple(str(_PACKAGE / part) for part in _PARTS)

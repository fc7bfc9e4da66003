"""Folders that a test and the learner's code both use, wherever the learner's code runs."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


class Disk(Protocol):
    """Folders of one process. A test's folders are made where the learner's code runs."""

    def make(self) -> str:
        """The path of a new, empty folder."""

    def write(self, folder: str, files: Mapping[str, bytes]) -> None:
        """Write files, by their paths from the folder."""

    def read(self, folder: str) -> dict[str, bytes]:
        """All files, by their paths from the folder; what a link points to is not read."""

    def remove(self, folder: str) -> None:
        """Remove a folder and what is in it."""


class LocalDisk:
    """This process's own."""

    def make(self) -> str:
        return tempfile.mkdtemp(prefix="tflabs-")

    def write(self, folder: str, files: Mapping[str, bytes]) -> None:
        root = Path(folder)
        for name, data in files.items():
            path = Path(name)
            if path.is_absolute() or not path.parts or ".." in path.parts:
                raise ValueError(f"{name!r} is not the path of a file inside the folder")
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(data)

    def read(self, folder: str) -> dict[str, bytes]:
        files = sorted(path for path in Path(folder).rglob("*") if path.is_file() and not path.is_symlink())
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}

    def remove(self, folder: str) -> None:
        shutil.rmtree(folder, ignore_errors=True)


_disk: Disk = LocalDisk()  # the only seam of `shared_folder`


@dataclass(frozen=True)
class SharedFolder:
    """A folder that the learner's code finds under `path`. The test reads and writes its files by value.

    The learner's code may run in another process, which sees other files than the test: a test hands out `path` and
    opens nothing below it.
    """

    path: str

    def write(self, files: Mapping[str, bytes]) -> None:
        """Write files, by their paths from the folder; subfolders are made.

        Raises:
            ValueError: a path leads out of the folder.
        """
        _disk.write(self.path, files)

    def files(self) -> dict[str, bytes]:
        """What every file holds now, by its path from the folder, in the order of the paths."""
        return _disk.read(self.path)

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[str]:
        """The path of a copy of the folder as it is now, in the test's own process, for readers that want a path."""
        here = LocalDisk()
        copy = here.make()
        try:
            here.write(copy, self.files())
            yield copy
        finally:
            here.remove(copy)


@contextlib.contextmanager
def shared_folder(files: Mapping[str, bytes] | None = None) -> Iterator[SharedFolder]:
    """A temporary folder with these files, for a test and the learner's code; gone after the `with` block."""
    folder = SharedFolder(_disk.make())
    try:
        folder.write(files or {})
        yield folder
    finally:
        _disk.remove(folder.path)

"""Where notebooks run: in boxes, or unconfined on the machine of the one who wrote them."""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from tflabs.grading.boxes import KERNEL, Boxes
from tflabs.grading.examinations import Spawn
from tflabs.grading.examiner.client import spawn
from tflabs.grading.kernels import ColdKernels, Kernels
from tflabs.grading.sandbox import Limits, SandboxUnavailable, choose


class Place(Protocol):
    """Something that has kernels for labs."""

    def cold(self, environment: dict[str, str]) -> Kernels:
        """Kernels that start as new processes with these variables set."""
        ...

    def begin(self, preload: tuple[str, ...], environment: dict[str, str]) -> None:
        """Have `preload` imported from now on, for the kernels and examiners that will be asked for."""
        ...

    def kernels(self, preload: tuple[str, ...], environment: dict[str, str]) -> Kernels:
        """Kernels that have imported `preload` before they start, where that can be had."""
        ...

    def examiner(self, preload: tuple[str, ...], environment: dict[str, str]) -> Spawn:
        """Starts examiners that have imported `preload`, where that can be had."""
        ...


class Unconfined:
    """Plain processes: for what the user of this machine wrote, where no sandbox works (macOS)."""

    def cold(self, environment: dict[str, str]) -> Kernels:
        return ColdKernels(environment)

    def begin(self, preload: tuple[str, ...], environment: dict[str, str]) -> None:
        pass

    def kernels(self, preload: tuple[str, ...], environment: dict[str, str]) -> Kernels:
        return ColdKernels(environment)

    def examiner(self, preload: tuple[str, ...], environment: dict[str, str]) -> Spawn:
        return lambda control, feed: _Plain(spawn(control, feed, (), Path(tempfile.gettempdir())))


class _Plain:
    """A process, closed like a box."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


@contextlib.contextmanager
def place_for_own_work(hidden: tuple[str, ...] = (), limits: Limits = KERNEL) -> Iterator[Place]:
    """Boxes where this machine allows them, else plain processes. For `check`, `watch` and `verify`.

    Whoever grades the work of others uses `Boxes`, which refuses loudly.
    """
    try:
        choose()
    except SandboxUnavailable:
        yield Unconfined()
        return
    with Boxes(hidden, limits=limits) as boxes:
        yield boxes

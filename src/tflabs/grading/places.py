"""Where notebooks run: in boxes, or unconfined on the machine of the one who wrote them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Protocol

from tflabs.grading.boxes import Boxes
from tflabs.grading.kernels import ColdKernels, Kernels
from tflabs.grading.sandbox import SandboxUnavailable, choose


class Place(Protocol):
    """Something that has kernels for labs."""

    def cold(self, environment: dict[str, str]) -> Kernels:
        """Kernels that start as new processes with these variables set."""
        ...

    def kernels(self, preload: tuple[str, ...], environment: dict[str, str]) -> Kernels:
        """Kernels that have imported `preload` before they start, where that can be had."""
        ...


class Unconfined:
    """Plain processes: for what the user of this machine wrote, where no sandbox works (macOS)."""

    def cold(self, environment: dict[str, str]) -> Kernels:
        return ColdKernels(environment)

    def kernels(self, preload: tuple[str, ...], environment: dict[str, str]) -> Kernels:
        return ColdKernels(environment)


@contextlib.contextmanager
def place_for_own_work(hidden: tuple[str, ...] = ()) -> Iterator[Place]:
    """Boxes where this machine allows them, else plain processes. For `check`, `watch` and `verify`.

    Whoever grades the work of others uses `Boxes`, which refuses loudly.
    """
    try:
        choose()
    except SandboxUnavailable:
        yield Unconfined()
        return
    with Boxes(hidden) as boxes:
        yield boxes

"""Judges the test cells of one notebook by an examiner, while the learner's kernel serves it."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from tflabs.course.lab import grade_id
from tflabs.grading.examiner.client import Client, listen, planting_source, serving_source
from tflabs.grading.examiner.marks import judged_in_kernel
from tflabs.grading.examiner.report import CellResult
from tflabs.grading.sandbox.owner import as_owner

CALL_SECONDS = 60.0  # of one call into the learner's code; above every wait in the labs' tests
HOMEWARD = 5.0  # seconds in which a kernel must stop serving once its cell is judged


class Process(Protocol):
    """What an examiner runs in: a box, or a plain process."""

    def close(self) -> None: ...


# Starts an examiner with these two sockets as its standard output and error.
Spawn = Callable[[socket.socket, socket.socket], Process]


@dataclass
class Examination:
    """One examiner and the kernel that it talks to, for the cells of one notebook.

    Args:
        spawn: starts an examiner.
        names: the names that the lab's answers define; a test gets no other name from the learner.
    """

    spawn: Spawn
    names: list[str] | None = None
    witnessed: bool = False  # whether a test must run in the kernel; set before a kernel starts
    _client: Client = field(init=False)
    _process: Process = field(init=False)
    _given: dict[str, str] = field(default_factory=dict, init=False)  # the given cells that ran, by name
    _path: str = field(init=False)  # of the examiner's socket, as the kernel names it; "" where a line leads to it
    _sockets: int = field(default=0, init=False)

    def open(self) -> None:
        """Start the examiner."""
        (control, theirs), (feed, their_feed) = socket.socketpair(), socket.socketpair()
        with theirs, their_feed:
            self._process = self.spawn(theirs, their_feed)
        self._client = Client(control, feed)

    def close(self) -> None:
        self._client.close()
        self._process.close()

    def admit(self, manager: Any) -> None:
        """From now on this kernel is the learner's. Call it before the kernel runs a cell: it could plant the name."""
        box = getattr(manager.provisioner, "box", None)
        if box is not None and box.line is not None:
            self._client.admit(box.line)
            self._path = ""
            return
        self._sockets += 1
        folder = box.folder if box is not None else Path(manager.connection_file).parent
        inside = Path(box.inside) if box is not None else folder
        name = f"x{self._sockets}"  # no file beside a notebook may have such a name, see `boxes.beside`
        with contextlib.ExitStack() as stack:
            if box is not None:
                stack.enter_context(as_owner(folder))
            self._client.admit(stack.enter_context(listen(folder / name)))
        self._path = str(inside / name)

    async def plant(self, kernel: Any) -> None:
        """Have a witness in the kernel, where one is needed. To be called after `admit`, before a cell runs."""
        if self.witnessed:
            await _is_home(kernel, kernel.kc.execute(planting_source(self._path), store_history=False))

    async def note(self, cell: Any, seconds: float) -> None:
        """The kernel, too, has run a given cell. To be called before it runs another cell."""
        if self.witnessed:
            await asyncio.to_thread(self._client.note, grade_id(cell) or cell["id"], seconds)

    async def given(self, cell: Any, seconds: float) -> None:
        """Run a given cell in the examiner; its kernel runs its own copy. A failure shows in the kernel, too."""
        self._given[grade_id(cell) or cell["id"]] = cell.source
        await asyncio.to_thread(self._client.given, grade_id(cell) or cell["id"], cell.source, seconds)

    async def judge(self, cell: Any, kernel: Any, seconds: float) -> tuple[CellResult, bool]:
        """The result of a test cell, and whether the kernel has come home."""
        name = grade_id(cell) or cell["id"]
        there = judged_in_kernel(cell.source)
        call_seconds = seconds if there else min(CALL_SECONDS, seconds)
        number = self._client.begin(name, cell.source, seconds, call_seconds, self.names, there)
        request = kernel.kc.execute(serving_source(self._path, number), store_history=False, allow_stdin=False)
        result = await asyncio.to_thread(self._client.result)
        home = await _is_home(kernel, request)
        if result.state == "learner-gone" and await kernel.km.is_alive():
            result = replace(result, state="protocol", ename="KernelSilent")
        if result.state == "examiner-gone":
            await self._replace(seconds)
            home = False  # the kernel must meet the new examiner from the start
        return result, home

    async def _replace(self, seconds: float) -> None:
        """A new examiner in the place of one that ended."""
        self._process.close()
        self.open()
        for name, source in self._given.items():
            await asyncio.to_thread(self._client.given, name, source, seconds)


async def _is_home(kernel: Any, request: str) -> bool:
    """Wait until the kernel no longer serves; it is interrupted once."""
    from queue import Empty

    for last in (False, True):
        deadline = time.monotonic() + HOMEWARD
        while (rest := deadline - time.monotonic()) > 0:
            try:
                message = await kernel.kc.get_iopub_msg(timeout=min(rest, 0.5))
                mine = message["parent_header"].get("msg_id") == request
                if mine and message["content"].get("execution_state") == "idle":
                    return True
                continue
            except Empty:
                pass
            except Exception:  # the learner's kernel sent what is no message
                return False
            if not await kernel.km.is_alive():
                return False
        if not last:
            await kernel.km.interrupt_kernel()
    return False

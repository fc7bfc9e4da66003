"""A learner's kernel, an examiner and a driver between them, without a sandbox."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from queue import Empty
from typing import Any

from jupyter_client.manager import KernelManager

from tflabs.grading.examiner.client import Client, listen, serving_source, spawn
from tflabs.grading.examiner.report import CellResult


class Rig:
    """One examiner and one kernel at a time."""

    def __init__(self, folder: Path, preload: tuple[str, ...]) -> None:
        self.path = folder / "examiner"
        self.folder = folder
        (mine, theirs), (feed, their_feed) = socket.socketpair(), socket.socketpair()
        with theirs, their_feed:
            self.process = spawn(theirs, their_feed, preload, folder)
        self.client = Client(mine, feed)
        self.admit()
        self.manager: Any = None
        self.kernels = 0
        self.kernel: Any = None
        self.ruined = False  # whether the kernel is of no more use
        self.said = ""  # what the kernel showed while it served

    def admit(self) -> None:
        """A socket for the next kernel."""
        self.path.unlink(missing_ok=True)
        with listen(self.path) as listener:
            self.client.admit(listener)

    def start_kernel(self) -> None:
        """A new kernel."""
        self.kernels += 1
        address = str(self.folder / f"k{self.kernels}")  # a path: no two kernels ever want one port
        self.manager = KernelManager(kernel_name="python3", transport="ipc", ip=address)
        environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"}
        self.manager.start_kernel(
            cwd=str(self.folder),
            env=environment,
            extra_arguments=["--HistoryManager.enabled=False"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.kernel = self.manager.client()
        self.kernel.start_channels(hb=False)
        self.kernel.wait_for_ready(timeout=60)

    def restart_kernel(self) -> None:
        """As a driver does when the kernel has died."""
        self.stop_kernel()
        self.start_kernel()
        self.admit()

    def stop_kernel(self) -> None:
        self.kernel.stop_channels()
        self.manager.shutdown_kernel(now=True)

    def learner(self, source: str) -> str:
        """Run a cell in the kernel; returns what it showed, errors too."""
        shown: list[str] = []

        def keep(message: Any) -> None:
            content = message["content"]
            shown.append(content.get("text", "") + "\n".join(content.get("traceback", [])))

        self.kernel.execute_interactive(source, output_hook=keep, timeout=120, allow_stdin=False)
        return "".join(shown)

    def given(self, source: str, kernel_too: bool = True) -> None:
        """Run a locked cell on both sides."""
        result = self.client.given("given", source)
        assert result.state == "ok", result
        if kernel_too:
            self.learner(source)

    def test(self, source: str, wait: bool = True, **limits: Any) -> CellResult:
        """Run a test cell in the examiner while the kernel serves."""
        number = self.client.begin("test", source, **limits)
        request = self.kernel.execute(serving_source(self.path, number), store_history=False, allow_stdin=False)
        result = self.client.result()
        if wait:
            self._idle(request)
        return result

    def _idle(self, request: str) -> None:
        """Wait until the kernel has gone home; interrupt it if it does not want to."""
        self.said = ""
        for attempt in range(40):
            with contextlib.suppress(Empty):
                while True:
                    message = self.kernel.get_iopub_msg(timeout=0.5)
                    if message["parent_header"].get("msg_id") != request:
                        continue
                    self.said += str(message["content"].get("text", "")) + str(message["content"].get("traceback", ""))
                    if message["content"].get("execution_state") == "idle":
                        return
            if not self.manager.is_alive():
                return
            if attempt > 10:
                self.manager.interrupt_kernel()
        raise AssertionError("the kernel goes on serving")


@contextlib.contextmanager
def rig(*preload: str) -> Iterator[Rig]:
    """A rig with a fresh kernel."""
    with tempfile.TemporaryDirectory(prefix="tfx-", dir="/tmp") as folder:
        made = Rig(Path(folder), preload)
        made.start_kernel()
        try:
            yield made
        finally:
            made.client.close()
            made.stop_kernel()
            try:
                made.process.wait(10)
            finally:
                made.process.kill()

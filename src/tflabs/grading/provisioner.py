"""A kernel in a box, as jupyter_client sees it.

`tflabs` hands it a function that opens the box. Named by a kernelspec (entry point `tflabs-box`), it opens a cold box
of its own, so that stock nbgrader and nbclient run their kernels in boxes too.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jupyter_client.provisioning.provisioner_base import KernelProvisionerBase
from traitlets import Unicode

from tflabs.grading.sandbox import Box

ENTRY_POINT = "tflabs-box"
CONNECTION_FILE = "kernel.json"
# The box's own folder in its sockets' names: a path relative to it is short, and the same for every backend.
SOCKETS = "k"
OpenBox = Callable[[Path, dict[str, bytes]], Box]  # from a working folder on the host and files to put beside its own
_TOLD = ("NBGRADER_EXECUTION",)  # variables of which nbgrader promises notebooks that they are there
_PORTS = ("shell", "iopub", "stdin", "control", "hb")


class BoxProvisioner(KernelProvisionerBase):
    """Stands where jupyter_client expects a subprocess.

    Args:
        open_box: how to open a box; left out, it is a cold one.
        on_end: called with a box that has ended and the folder that its kernel was started for, before its files go.
    """

    backend = Unicode("auto", help="the sandbox's backend; 'none' confines nothing and must be named").tag(config=True)

    def __init__(
        self, *, open_box: OpenBox | None = None, on_end: Callable[[Box, Path], None] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self._open = open_box or self._cold
        self._on_end = on_end
        self._folder = Path()
        self.box: Box | None = None
        self.process: Box | None = None  # nbclient looks here to see whether a kernel was started

    @property
    def has_process(self) -> bool:
        return self.process is not None

    @property
    def pid(self) -> int:
        """The kernel's process id on the host."""
        assert self.box is not None
        return self.box.pid

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        return await super().pre_launch(cmd=[], **kwargs)

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        """Open the box. Its environment is its own, and not the caller's."""
        numbers = {f"{name}_port": number for number, name in enumerate(_PORTS, 1)}
        info = {**numbers, "transport": "ipc", "signature_scheme": "hmac-sha256", "kernel_name": "python3"}
        key = uuid.uuid4().hex
        written = {CONNECTION_FILE: json.dumps(info | {"ip": SOCKETS, "key": key}).encode()}
        self._folder = Path(kwargs.get("cwd") or ".")
        self.box = self.process = self._open(self._folder, written)
        return info | {"key": key.encode(), "ip": f"{self.box.folder}/{SOCKETS}"}

    async def post_launch(self, **kwargs: Any) -> None:
        """Wait for the kernel's sockets: a client that connects too early tries again only after a while."""
        assert self.box is not None
        while self.box.poll() is None and not all(
            (self.box.folder / f"{SOCKETS}-{number}").exists() for number in range(1, len(_PORTS) + 1)
        ):
            await asyncio.sleep(0.002)

    async def poll(self) -> int | None:
        return self.box.poll() if self.box is not None else 0

    async def wait(self) -> int | None:
        """The exit code; the box is let go."""
        while self.box is not None and self.box.poll() is None:
            await asyncio.sleep(0.002)
        status = await self.poll()
        await self.cleanup()
        return status

    async def send_signal(self, signum: int) -> None:
        if self.box is None or signum == 0:
            return
        if signum == signal.SIGINT:
            self.box.interrupt()
        elif signum in (signal.SIGKILL, signal.SIGTERM):
            self.box.kill()

    async def kill(self, restart: bool = False) -> None:
        await self.send_signal(signal.SIGKILL)

    async def terminate(self, restart: bool = False) -> None:
        await self.send_signal(signal.SIGTERM)

    async def cleanup(self, restart: bool = False) -> None:
        if self.box is not None and self.process is not None:
            self.box.kill()
            if self._on_end is not None:
                self._on_end(self.box, self._folder)
            self.box.close()
        self.process = None

    def _cold(self, cwd: Path, written: dict[str, bytes]) -> Box:
        from tflabs.grading.boxes import cold_kernel, hidden_from_environment

        environment = {name: os.environ[name] for name in _TOLD if name in os.environ}
        return cold_kernel(cwd, written, environment, hidden_from_environment(), self.backend, sees_folder=True)

"""Starts the kernels in which notebooks are graded: cold from this environment, or forked from a warm server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from tflabs.errors import UserError

# No history file, and no tracebacks: they are not shown, and that of a deep recursion takes IPython 15 seconds to draw.
ARGUMENTS = ["--HistoryManager.enabled=False", "--InteractiveShell.xmode=Minimal"]


class Kernels(Protocol):
    """Something that starts kernels."""

    async def start(self, cwd: Path) -> Any:
        """A running AsyncKernelManager whose kernel works in the folder `cwd`. `stop` it when done."""
        ...


@dataclass(frozen=True)
class ColdKernels:
    """A new Python process for each kernel, with these environment variables set before it starts."""

    environment: dict[str, str]

    async def start(self, cwd: Path) -> Any:
        manager = _manager()
        await manager.start_kernel(
            cwd=str(cwd),
            env=_environment(manager, self.environment),
            extra_arguments=ARGUMENTS,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return manager


@dataclass(frozen=True)
class WarmKernels:
    """Kernels forked from a server that has imported the lab's modules. Made by `warm_kernels`."""

    socket_path: str
    environment: dict[str, str]

    async def start(self, cwd: Path) -> Any:
        manager = _manager()
        manager.provisioner = _Forked(
            kernel_id="", kernel_spec=manager.kernel_spec, parent=manager, socket_path=self.socket_path
        )
        await manager.start_kernel(cwd=str(cwd), env=_environment(manager, self.environment), extra_arguments=ARGUMENTS)
        return manager


@contextlib.contextmanager
def warm_kernels(preload: tuple[str, ...], environment: dict[str, str]) -> Iterator[WarmKernels]:
    """A fork server that has imported `preload`, for as long as the context lasts.

    Raises:
        UserError: a module of `preload` cannot be imported.
    """
    with tempfile.TemporaryDirectory(prefix="tflabs-", dir=_short_temporary_folder()) as folder:
        path = os.path.join(folder, "fork")  # noqa: PTH118 (a socket's address is a string)
        server = subprocess.Popen(
            [sys.executable, "-m", "tflabs.grading.forkserver", path, *preload],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"} | environment,
            start_new_session=True,
        )
        assert server.stdin and server.stdout and server.stderr
        try:
            if server.stdout.readline() != b"ready\n":
                _, errors = server.communicate()
                reason = errors.decode(errors="replace").strip().splitlines()[-1:] or ["it ended"]
                raise UserError(f"the warm kernels for {', '.join(preload)} did not start: {reason[0]}")
            yield WarmKernels(path, environment)
        finally:
            server.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                server.wait(10)
            server.kill()
            server.wait()
            server.stdout.close()
            server.stderr.close()


class WarmServers(contextlib.ExitStack):
    """Fork servers, one for each set of modules and variables; each starts when it is first needed.

    All of them end with the context.
    """

    def __init__(self) -> None:
        super().__init__()
        self._running: dict[object, WarmKernels] = {}

    def kernels(self, preload: tuple[str, ...], environment: dict[str, str]) -> WarmKernels:
        """Kernels that have imported `preload`. Errors as of `warm_kernels`."""
        key = (preload, tuple(sorted(environment.items())))
        if key not in self._running:
            self._running[key] = self.enter_context(warm_kernels(preload, environment))
        return self._running[key]


async def stop(manager: Any) -> None:
    """End a kernel at once (nothing in it is worth a farewell) and remove its folder."""
    folder = Path(manager.connection_file).parent
    if manager.has_kernel:
        with contextlib.suppress(ProcessLookupError):
            await manager.provisioner.kill()
        await manager.provisioner.wait()
    await manager.cleanup_resources()
    shutil.rmtree(folder, ignore_errors=True)


def _manager() -> Any:
    """A kernel manager that talks over Unix sockets in a folder of its own: no port is taken."""
    folder = tempfile.mkdtemp(prefix="tflabs-", dir=_short_temporary_folder())
    manager = AsyncKernelManager(
        transport="ipc",
        ip=f"{folder}/k",
        connection_file=f"{folder}/kernel.json",
        kernel_spec_manager=KernelSpecManager(kernel_dirs=[]),
    )
    manager._kernel_spec = KernelSpec(
        argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        display_name="Python 3 (ipykernel)",
        language="python",
    )
    return manager


def _short_temporary_folder() -> str | None:
    """A Unix socket's path holds about 100 characters; a user's TMPDIR may be longer."""
    return None if len(tempfile.gettempdir()) < 60 else "/tmp"


def _environment(manager: Any, extra: dict[str, str]) -> dict[str, str]:
    folder = str(Path(manager.connection_file).parent)
    inherited = {name: value for name, value in os.environ.items() if name != "JPY_PARENT_PID"}
    return inherited | {"TF_CPP_MIN_LOG_LEVEL": "3", "IPYTHONDIR": f"{folder}/ipython", "MPLBACKEND": "agg"} | extra


class _Forked(LocalProvisioner):
    """A kernel that the fork server forked; it stands where jupyter_client expects a subprocess."""

    parent: Any
    process: Any

    def __init__(self, *, socket_path: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.socket_path = socket_path

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        request = {
            "connection_file": self.parent.connection_file,
            "cwd": kwargs["cwd"],
            "environment": kwargs["env"],
            "arguments": ARGUMENTS,
        }
        connection = socket.socket(socket.AF_UNIX)
        connection.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(connection, self.socket_path)
        await loop.sock_sendall(connection, json.dumps(request).encode() + b"\n")
        reply = await loop.sock_recv(connection, 4096)
        if not reply:
            raise RuntimeError("the fork server ended")
        self.process = _ForkedProcess(connection, json.loads(reply)["pid"])
        self.pid = self.pgid = self.process.pid
        return self.connection_info

    async def wait(self) -> int | None:
        """As LocalProvisioner's, without its polling every 0.1 seconds."""
        while self.process is not None and self.process.poll() is None:
            await asyncio.sleep(0.002)
        return await super().wait()


class _ForkedProcess:
    """The part of `subprocess.Popen` that jupyter_client uses, over the connection to the fork server."""

    stdin = stdout = stderr = None

    def __init__(self, connection: socket.socket, pid: int) -> None:
        self.connection, self.pid = connection, pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            try:
                reply = self.connection.recv(4096)
            except BlockingIOError:
                return None
            self.returncode = json.loads(reply)["status"] if reply else -9
        return self.returncode

    def wait(self) -> int | None:
        self.connection.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(9)

    def terminate(self) -> None:
        self.send_signal(15)

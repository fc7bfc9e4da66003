"""Starts and stops kernels. Those of this module run unconfined; `boxes` has those that run in boxes."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import AsyncKernelManager

# No history file, and plain tracebacks: only a line is told of them, and a coloured one of a deep recursion takes 15 s.
ARGUMENTS = ["--HistoryManager.enabled=False", "--InteractiveShell.xmode=Plain"]
# A module beside the notebook must not be imported before the witness is there: the kernels of this package start with
# Python's -P and look into their working folder, as IPython does, once they have executed this.
OWN_FOLDER = (
    "(lambda path: '' in path or path.insert("
    "next((place for place, folder in enumerate(path) if folder.endswith('-packages')), len(path)), ''"
    "))(__import__('sys').path)"
)
VARIABLES = {"TF_CPP_MIN_LOG_LEVEL": "3"}


class Kernels(Protocol):
    """Something that starts kernels."""

    async def start(self, cwd: Path) -> Any:
        """A running AsyncKernelManager. `stop` it when done.

        An unconfined kernel works in the folder `cwd`; one in a box has a folder of its own with copies of its files.
        """
        ...


@dataclass(frozen=True)
class ColdKernels:
    """A new Python process for each kernel, with these environment variables set before it starts."""

    environment: dict[str, str]

    async def start(self, cwd: Path) -> Any:
        manager = new_manager()
        await manager.start_kernel(
            cwd=str(cwd),
            env=_environment(manager, self.environment),
            extra_arguments=ARGUMENTS,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return manager


async def stop(manager: Any) -> None:
    """End a kernel at once (nothing in it is worth a farewell) and remove its folder."""
    folder = Path(manager.connection_file).parent
    if manager.has_kernel:
        with contextlib.suppress(ProcessLookupError):
            await manager.provisioner.kill()
        await manager.provisioner.wait()
    await manager.cleanup_resources()
    shutil.rmtree(folder, ignore_errors=True)


def new_manager() -> Any:
    """A kernel manager that talks over Unix sockets in a folder of its own: no port is taken."""
    folder = tempfile.mkdtemp(prefix="tflabs-", dir=short_temporary_folder())
    manager = AsyncKernelManager(
        transport="ipc",
        ip=f"{folder}/k",
        connection_file=f"{folder}/kernel.json",
        kernel_spec_manager=KernelSpecManager(kernel_dirs=[]),
    )
    manager._kernel_spec = KernelSpec(
        argv=[sys.executable, "-P", "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        display_name="Python 3 (ipykernel)",
        language="python",
    )
    return manager


def short_temporary_folder() -> str | None:
    """A Unix socket's path holds about 100 characters; a user's TMPDIR may be longer."""
    return None if len(tempfile.gettempdir()) < 60 else "/tmp"


def _environment(manager: Any, extra: dict[str, str]) -> dict[str, str]:
    folder = str(Path(manager.connection_file).parent)
    inherited = {name: value for name, value in os.environ.items() if name != "JPY_PARENT_PID"}
    return inherited | VARIABLES | {"IPYTHONDIR": f"{folder}/ipython", "MPLBACKEND": "agg"} | extra

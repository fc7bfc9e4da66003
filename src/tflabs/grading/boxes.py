"""Opens boxes for kernels, cold or forked from a server that has imported the lab's modules."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tflabs.errors import UserError
from tflabs.grading.examinations import Spawn
from tflabs.grading.kernels import ARGUMENTS, VARIABLES, new_manager
from tflabs.grading.provisioner import CONNECTION_FILE, SOCKETS, BoxProvisioner
from tflabs.grading.sandbox import (
    Box,
    ForkRefused,
    ForkServer,
    Limits,
    Policy,
    python_policy,
    start,
)

# The largest lab needs 0.9 GiB, a local cluster more; the wall clock is for the whole notebook, not for a cell.
KERNEL = Limits(memory_mib=3072, wall_seconds=7200, cpu_seconds=14400)
PROOF = Limits(memory_mib=6144, processes=4096, wall_seconds=7200, cpu_seconds=14400)  # all answers in one kernel
_SOURCE = str(Path(__file__).resolve().parents[2])
# Also what a kernel imports when it starts (the debugger's modules are half of that time), not only what starts it.
_KERNEL_MODULES = (
    "ipykernel.kernelapp",
    "ipykernel.ipkernel",
    "ipykernel.debugger",
    "ipykernel.comm",
    "ipykernel.displayhook",
    "IPython",
    "IPython.core.completerlib",
    "IPython.core.debugger",
    "IPython.core.oinspect",
    "IPython.extensions.storemagic",
    "tornado.platform.asyncio",
)
_EXAMINER_MODULE = "tflabs.grading.examiner.examiner"
_TAKEN = re.compile(rf"{re.escape(SOCKETS)}-\d+|x\d+|{re.escape(CONNECTION_FILE)}")  # the kernel's and the examiner's
_MOST_FILES, _MOST_BYTES = 200, 16 << 20  # of what lies beside a notebook


def kernel_policy(environment: dict[str, str], hidden: tuple[str, ...], limits: Limits = KERNEL) -> Policy:
    """What a lab's kernel may see: this Python, and of tflabs what labs import."""
    own = {"PYTHONPATH": _SOURCE, "MPLBACKEND": "agg"}
    return python_policy(environment=VARIABLES | own | environment, limits=limits, hidden=hidden)


def cold_kernel(
    cwd: Path,
    written: dict[str, bytes],
    environment: dict[str, str],
    hidden: tuple[str, ...],
    backend: str = "auto",
    limits: Limits = KERNEL,
    sees_folder: bool = False,
) -> Box:
    """A kernel in a box and a process of its own. Errors as of `sandbox.start`.

    Args:
        sees_folder: whether it imports modules beside the notebook without having executed `kernels.OWN_FOLDER`.
    """
    policy = kernel_policy(environment, hidden, limits)
    files = (*beside(cwd).items(), *written.items())
    safely = [] if sees_folder else ["-P"]
    command = [sys.executable, *safely, "-m", "ipykernel_launcher", "-f", CONNECTION_FILE, *ARGUMENTS]
    return start(command, Policy(**{**vars(policy), "files": files}), backend)


def hidden_from_environment() -> tuple[str, ...]:
    """The course that nbgrader works in, where only the current folder and the environment can say so."""
    return (os.environ.get("TFLABS_COURSE") or os.getcwd(),)  # noqa: PTH109


def beside(folder: Path) -> dict[str, bytes]:
    """The files below a notebook's folder, by their paths from there, that its kernel gets."""
    found: dict[str, Path] = {}
    for here, folders, names in os.walk(folder):  # follows no link to a folder
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths = [Path(here, name) for name in names]
        found.update((str(path.relative_to(folder)), path) for path in paths)
    return bounded(found)


def bounded(files: Mapping[str, Path]) -> dict[str, bytes]:
    """What of these files, given by their paths from one folder, a kernel gets: no notebook, link or hidden file."""
    found: dict[str, bytes] = {}
    rest = _MOST_BYTES
    for name, path in sorted(files.items()):
        parts = Path(name).parts
        is_plain = path.is_file() and not path.is_symlink() and path.suffix != ".ipynb"
        is_shown = is_plain and not any(part.startswith(".") for part in parts) and not _TAKEN.fullmatch(parts[0])
        if is_shown and len(found) < _MOST_FILES and path.stat().st_size <= rest:
            found[name] = path.read_bytes()
            rest -= len(found[name])
    return found


@dataclass(frozen=True)
class BoxedKernels:
    """Kernels in boxes. With a server they are forked from it, and started cold where it refuses."""

    environment: dict[str, str]
    hidden: tuple[str, ...]
    backend: str
    limits: Limits
    server: ForkServer | None = None

    async def start(self, cwd: Path) -> Any:
        manager = new_manager()
        manager.provisioner = BoxProvisioner(
            kernel_id="", kernel_spec=manager.kernel_spec, parent=manager, open_box=self._open
        )
        await manager.start_kernel(cwd=str(cwd))
        return manager

    def _open(self, cwd: Path, written: dict[str, bytes]) -> Box:
        if self.server is not None:
            files = (*beside(cwd).items(), *written.items())
            arguments = {"argv": ["-f", CONNECTION_FILE, *ARGUMENTS]}
            with contextlib.suppress(ForkRefused):
                return self.server.start(
                    "ipykernel.kernelapp:IPKernelApp.launch_instance", arguments, files=files, limits=self.limits
                )
        return cold_kernel(cwd, written, self.environment, self.hidden, self.backend, self.limits)


def examiner_of(server: ForkServer) -> Spawn:
    """Examiners forked from this server."""
    entry = f"{_EXAMINER_MODULE}:serve_on_streams"
    return lambda control, feed: server.start(entry, stdout=control.fileno(), stderr=feed.fileno())


class Boxes(contextlib.ExitStack):
    """Fork servers, one for each set of modules and variables; each starts when it is first needed.

    All of them end with the context. An ended one is replaced when it is next asked for.

    Args:
        hidden: folders that no box may see: the course.
        backend: as of `sandbox.start`.
        limits: of a kernel, and of an examiner.
    """

    def __init__(self, hidden: tuple[str, ...] = (), backend: str = "auto", limits: Limits = KERNEL) -> None:
        super().__init__()
        self.hidden, self.backend, self.limits = hidden, backend, limits
        self._servers: dict[object, ForkServer] = {}

    def cold(self, environment: dict[str, str]) -> BoxedKernels:
        """Kernels that start as new processes."""
        return BoxedKernels(environment, self.hidden, self.backend, self.limits)

    def kernels(self, preload: tuple[str, ...], environment: dict[str, str]) -> BoxedKernels:
        """Kernels that have imported `preload`. Errors as of `warm`."""
        return self.kernels_of(self.warm(preload, environment), environment)

    def kernels_of(self, server: ForkServer, environment: dict[str, str]) -> BoxedKernels:
        """Kernels forked from this server."""
        return BoxedKernels(environment, self.hidden, self.backend, self.limits, server)

    def examiner(self, preload: tuple[str, ...], environment: dict[str, str]) -> Spawn:
        """Examiners that have imported `preload`. Errors as of `warm`."""
        return examiner_of(self.warm(preload, environment))

    def warm(self, preload: tuple[str, ...], environment: dict[str, str]) -> ForkServer:
        """The server for both, so that TensorFlow is imported once: it never holds anything of a learner's.

        Raises:
            UserError: a module cannot be imported.
            SandboxUnavailable: this machine allows no box.
        """
        return self.server(*self._warm(preload, environment))

    def begin(self, preload: tuple[str, ...], environment: dict[str, str]) -> None:
        """Start the server of `warm`, which imports while the caller does something else."""
        self._server(*self._warm(preload, environment))

    def server(self, modules: tuple[str, ...], policy: Policy) -> ForkServer:
        """The server that has imported these modules under this policy. Errors as of `warm`."""
        server = self._server(modules, policy)
        try:
            server.await_ready()
        except ForkRefused as error:
            raise UserError(f"the warm kernels for {', '.join(modules)} did not start: {error}") from None
        return server

    def _warm(self, preload: tuple[str, ...], environment: dict[str, str]) -> tuple[tuple[str, ...], Policy]:
        policy = kernel_policy(environment, self.hidden, self.limits)
        return (*_KERNEL_MODULES, _EXAMINER_MODULE, *preload), policy

    def _server(self, modules: tuple[str, ...], policy: Policy) -> ForkServer:
        key = modules, tuple(sorted(policy.environment.items())), tuple(vars(policy.limits).items())
        known = self._servers.get(key)
        if known is None or not known.alive():
            known = self._servers[key] = self.enter_context(ForkServer(policy, modules, self.backend))
        return known

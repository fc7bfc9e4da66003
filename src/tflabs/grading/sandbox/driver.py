"""Starts a keeper and asks it for boxes."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tflabs.grading.sandbox import slots, wire
from tflabs.grading.sandbox.box import Box
from tflabs.grading.sandbox.filesystem import HOME
from tflabs.grading.sandbox.policy import Limits, Policy
from tflabs.grading.sandbox.removal import remove_tree

_ROOT = str(Path(__file__).resolve().parents[3])
_BOOT = "import sys; sys.path.insert(0, sys.argv.pop()); from tflabs.grading.sandbox.keeper import main; main()"
_PATH = "/usr/local/bin:/usr/bin:/bin"


class Link:
    """A keeper process, and the users that its boxes take. Closing it ends every box that it keeps."""

    def __init__(self, backend: str) -> None:
        self.backend = backend
        self.slot = slots.take() if backend != "none" else None
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed in `close`)
        self._folders: list[str] = []
        self._end, keepers_end = wire.pair()
        # No site and no environment: the keeper needs neither, and starts in a third of the time.
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-X", "utf8", "-c", _BOOT, str(keepers_end.fileno()), _ROOT],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
            pass_fds=[keepers_end.fileno()],
            env={},
            cwd="/",
            start_new_session=True,
        )
        keepers_end.close()

    def outer(self) -> tuple[int, int] | None:
        return None if self.slot is None else (self.slot.first, slots.BLOCK)

    def open(self, request: dict[str, Any], stdout: int | None, stderr: int | None) -> Box:
        """Send a request; the box is not awaited."""
        ours, keepers_end = wire.pair()
        line, stdin = socket.socketpair() if self.backend == "landlock" else (None, None)
        if line is not None:
            line.shutdown(socket.SHUT_WR)  # what reads its input finds the end of it, as in /dev/null
        if request["folder"] is not None:
            self._folders.append(str(Path(request["folder"]).parent))
        streams = {"input": None if stdin is None else stdin.fileno(), "output": stdout, "error": stderr}
        fields = {name: fd is not None for name, fd in streams.items()}
        with tempfile.TemporaryFile() as file:
            wire.write_request(file.fileno(), request)
            given = [fd for fd in streams.values() if fd is not None]
            with contextlib.suppress(BrokenPipeError):  # the box then says that its keeper ended
                wire.send(self._end, fields, [file.fileno(), keepers_end.fileno(), *given])
        keepers_end.close()
        if stdin is not None:
            stdin.close()
        network = (
            request["network"] if self.backend == "namespaces" else "none" if self.backend == "landlock" else "host"
        )
        return Box(ours, self.backend, network, request["folder"], line)

    def errors(self) -> str:
        """The last line that the keeper wrote, for a keeper that failed."""
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""

    def close(self) -> None:
        self._end.close()
        if not self._ended(30.0):
            self._process.kill()
        self._process.wait()
        self._errors.close()
        for folder in self._folders:  # the keeper removed them, unless it was killed
            with contextlib.suppress(OSError):
                remove_tree(folder)
        if self.slot is not None:
            self.slot.release()

    def _ended(self, timeout: float) -> bool:
        """Whether the keeper ends in time. `Popen.wait` would sleep between its looks."""
        process = os.pidfd_open(self._process.pid)
        try:
            poll = select.poll()
            poll.register(process, select.POLLIN)
            return bool(poll.poll(1000 * timeout))
        finally:
            os.close(process)


def describe(
    link: Link,
    kind: str,
    policy: Policy,
    *,
    files: tuple[tuple[str, bytes], ...] = (),
    environment: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    **more: Any,
) -> dict[str, Any]:
    """A request to a keeper, with nothing in it that a box must not have."""
    folder = _host_folder(link) if link.backend != "namespaces" else None
    home = HOME if folder is None else f"{Path(folder).parent}/home"
    temporary = "/tmp" if folder is None else f"{Path(folder).parent}/tmp"
    base = {"PATH": _PATH, "HOME": home, "TMPDIR": temporary, "USER": "learner", "LANG": "C.UTF-8"}
    limits = limits or policy.limits
    return {
        "kind": kind,
        "backend": link.backend,
        "outer": link.outer(),
        "slot": None,
        "readable": list(policy.readable),
        "listable": list(policy.listable),
        "files": [(str(name), bytes(content)) for name, content in files],
        "environment": base | dict(environment if environment is not None else policy.environment),
        "limits": vars(limits) | {"data_mib": limits.data_mib},
        "network": policy.network,
        "folder": folder,
        "keep": [],
    } | more


def _host_folder(link: Link) -> str:
    """Where a box has no file system of its own: folders that only its user can use, below one that none can list."""
    parent = Path(tempfile.mkdtemp(prefix="tflabs-", dir="/tmp"))
    try:
        for name in ("work", "home", "tmp"):
            (parent / name).mkdir(0o700)
            if link.slot is not None:
                os.chown(parent / name, link.slot.first, link.slot.first)
        if link.slot is not None:
            os.chown(parent, 0, link.slot.first)
            parent.chmod(0o710)
    except BaseException:
        shutil.rmtree(parent, ignore_errors=True)
        raise
    return str(parent / "work")

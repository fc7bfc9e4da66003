"""A server that has imported what a lab needs and forks a box for each call, in milliseconds."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Self

from tflabs.grading.sandbox import slots
from tflabs.grading.sandbox.backends import SandboxUnavailable, choose
from tflabs.grading.sandbox.box import Box
from tflabs.grading.sandbox.driver import Link, describe
from tflabs.grading.sandbox.landlock import SCOPES_SINCE, version
from tflabs.grading.sandbox.policy import Limits, Policy, check_names

_PATIENCE = 300.0  # seconds for the imports


class ForkRefused(RuntimeError):
    """The server did not fork. The caller starts a cold box instead."""


class ForkServer:
    """A warm Python in a box; the boxes forked from it are nested in that one and see neither it nor each other.

    Args:
        policy: what the boxes may see. Its files and limits are those of each box, unless `start` gives others.
        preload: modules to import before the first fork. None of them may run an operation or start a thread later.
        backend: as for `start`.

    It imports while the caller goes on; `start` waits for it, and so does `await_ready`.

    Raises:
        SandboxUnavailable: this machine allows no box.
    """

    def __init__(self, policy: Policy, preload: Sequence[str] = (), backend: str = "auto") -> None:
        self.policy = policy
        chosen = choose(backend)
        if chosen == "landlock" and version() < SCOPES_SINCE:
            raise SandboxUnavailable("without namespaces, boxes that share a user need Landlock 6 (Linux 6.12)")
        self._link = Link(chosen)
        self._users: dict[int, Box] = {}
        self._own_users = range(slots.BLOCK - 1)
        self._is_ready = False
        command = [sys.executable, "-P", "-m", "tflabs.grading.sandbox.server", *preload]
        try:
            request = describe(self._link, "server", policy, command=command)
            self._box = self._link.open(request, None, None)
        except BaseException:
            self._link.close()
            raise

    @property
    def pid(self) -> int:
        """The server's process id on the host."""
        return self._box.pid

    def await_ready(self) -> None:
        """Wait until the server can fork.

        Raises:
            SandboxUnavailable: this machine allows no box.
            ForkRefused: a module could not be imported.
        """
        if self._is_ready:
            return
        reason = self._box.await_start(60.0)
        if reason is not None:
            self._box.close()
            raise SandboxUnavailable(f"the fork server could not be set up: {reason}. {self._link.errors()}".strip())
        event = self._box.await_event(_PATIENCE)
        if event is None or event.get("event") != "ready":
            words = (
                str(event["words"]) if event else self._box.verdict.words if self._box.verdict else "it did not answer"
            )
            self._box.close()
            raise ForkRefused(f"the fork server did not start: {words}")
        self._is_ready = True

    def alive(self) -> bool:
        """Whether the server still runs. False before any box that ended with it shows its end."""
        return self._box.poll() is None and not self._box.command_ended()

    def keep_to(self, users: range) -> None:
        """From now on start boxes as these of the server's users alone, numbers below `slots.BLOCK` - 1.

        For a process forked from the one that made this server: both use it, and neither knows of the other's boxes.
        """
        self._own_users = users

    def start(
        self,
        entry: str,
        arguments: Sequence[Any] | Mapping[str, Any] = (),
        *,
        files: tuple[tuple[str, bytes], ...] | None = None,
        environment: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        stdout: int | None = None,
        stderr: int | None = None,
    ) -> Box:
        """Call a function in a fresh fork of the server, in a box of its own.

        Args:
            entry: the function, as "package.module:name"; the name may have dots. Its return is exit code 0.
            arguments: JSON values: a sequence by position, or a mapping by keyword.
            files: instead of the policy's.
            environment: instead of the policy's.
            limits: instead of the policy's.
            stdout: as for `start` of a cold box.
            stderr: as for `start` of a cold box.

        Raises:
            ForkRefused: the server has ended, has run an operation, or has as many boxes as it can hold.
            SandboxUnavailable: as of `await_ready`.
        """
        self.await_ready()
        given = self.policy.files if files is None else files
        check_names(given)
        if not self.alive():
            raise ForkRefused("the fork server has ended")
        slot = self._free_user()
        request = describe(
            self._link,
            "fork",
            self.policy,
            files=given,
            environment=environment,
            limits=limits,
            entry=entry,
            arguments=json.dumps(arguments if isinstance(arguments, Mapping) else list(arguments)),
            slot=slot if self._link.backend == "namespaces" and self._link.slot is not None else None,
        )
        box = self._link.open(request, stdout, stderr)
        self._users[slot] = box
        box.on_close(lambda: self._release(slot, box))
        reason = box.await_start(60.0)
        if reason is not None:
            box.close()
            raise ForkRefused(reason)
        return box

    def close(self) -> None:
        """End the server and every box forked from it."""
        for box in list(self._users.values()):
            box.close()
        self._box.close()
        self._link.close()

    def _release(self, slot: int, box: Box) -> None:
        if self._users.get(slot) is box:
            del self._users[slot]

    def _free_user(self) -> int:
        for slot in self._own_users:
            if slot not in self._users:
                return slot
        raise ForkRefused(f"{len(self._own_users)} boxes of this server are not closed yet")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

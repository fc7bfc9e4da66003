"""Starts a command in a box."""

from __future__ import annotations

from collections.abc import Sequence

from tflabs.grading.sandbox.backends import SandboxUnavailable, choose
from tflabs.grading.sandbox.box import Box
from tflabs.grading.sandbox.driver import Link, describe
from tflabs.grading.sandbox.policy import Policy

_PATIENCE = 60.0  # seconds for the set-up, which takes some hundredths of one


def start(
    command: Sequence[str],
    policy: Policy,
    backend: str = "auto",
    stdout: int | None = None,
    stderr: int | None = None,
) -> Box:
    """Run a command in a box of its own.

    Args:
        command: the program, as the box sees it, and its arguments.
        policy: what it may see, use and hold.
        backend: "auto" for the best that works, or one by name; "none" confines nothing.
        stdout: a descriptor for its output, else /dev/null. Give it a pipe: a file could be opened again from inside.
        stderr: the same for its errors.

    Raises:
        SandboxUnavailable: this machine allows no box, or not this one.
    """
    link = Link(choose(backend))
    try:
        request = describe(
            link, "cold", policy, files=policy.files, environment=policy.environment, command=[str(c) for c in command]
        )
        box = link.open(request, stdout, stderr)
        reason = box.await_start(_PATIENCE)
        if reason is not None:
            box.close()
            raise SandboxUnavailable(f"the box for {command[0]} could not be set up: {reason}. {link.errors()}".strip())
    except BaseException:
        link.close()
        raise
    box.on_close(link.close)
    return box

"""Which ways of confining work on this machine, best first, and why the others do not."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass
from pathlib import Path

from tflabs.errors import UserError
from tflabs.grading.sandbox import landlock, seccomp
from tflabs.grading.sandbox.driver import Link, describe
from tflabs.grading.sandbox.policy import Limits, Policy

BACKENDS = ("namespaces", "landlock")
_ADVICE = {
    "namespaces": {
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": (
            "1",
            "AppArmor forbids user namespaces to programs without a profile: "
            "`sysctl kernel.apparmor_restrict_unprivileged_userns=0`, or a profile with `userns,` for this Python",
        ),
        "/proc/sys/kernel/unprivileged_userns_clone": (
            "0",
            "user namespaces are switched off: `sysctl kernel.unprivileged_userns_clone=1`",
        ),
        "/proc/sys/user/max_user_namespaces": (
            "0",
            "user namespaces are switched off: `sysctl user.max_user_namespaces=10000`",
        ),
    }
}


class SandboxUnavailable(UserError):
    """No box can be had: the text says what was tried, why it failed, and what to install or allow."""


@dataclass(frozen=True)
class Finding:
    """What a trial of one backend showed: whether it works, else the kernel's answer and what to do about it."""

    backend: str
    works: bool
    reason: str


def probe() -> list[Finding]:
    """Try each backend with a small box of its own, best first."""
    return [_try(backend) for backend in BACKENDS]


def choose(backend: str = "auto") -> str:
    """The backend to use: the one named, or the best that works.

    Raises:
        SandboxUnavailable: it does not work here, or none does. "none", no protection at all, is never chosen.
        ValueError: there is no such backend.
    """
    if backend == "none":
        return backend
    if backend not in ("auto", *BACKENDS):
        raise ValueError(f"backend must be 'auto', 'none' or one of {BACKENDS}, not {backend!r}")
    findings = []
    for name in BACKENDS if backend == "auto" else (backend,):
        finding = _tried(name)
        if finding.works:
            return name
        findings.append(finding)
    tried = "\n".join(f"  {finding.backend}: {finding.reason}" for finding in findings)
    raise SandboxUnavailable(
        f"Untrusted code cannot be confined on this machine. Tried:\n{tried}\n"
        "Allow one of them (in a container: run it with user namespaces and an unmasked /proc, "
        "or on Linux 6.12 or later with Landlock), or grade on another machine. "
        "`backend='none'` runs the code without any protection."
    )


def _tried(backend: str) -> Finding:
    """What works does not change while this process runs, so one trial is enough; a failure is tried again."""
    return Finding(backend, True, "it worked before") if _works(backend) else _try(backend)


@functools.cache
def _works(backend: str) -> bool:
    return _try(backend).works


def _try(backend: str) -> Finding:
    missing = _missing(backend)
    if missing:
        return Finding(backend, False, missing)
    link = Link(backend)
    try:
        limits = Limits(memory_mib=64, disk_mib=1, inodes=64, wall_seconds=30)
        policy = Policy(limits=limits)
        box = link.open(describe(link, "cold", policy, command=["/bin/true"]), None, None)
        with box:
            reason = box.await_start(30.0)
            if reason is None and box.wait(30.0) == 0:
                return Finding(backend, True, "works")
            reason = reason or (box.verdict.words if box.verdict else "/bin/true did not end")
    finally:
        link.close()
    return Finding(backend, False, f"{reason}{_advice(backend)}")


def _missing(backend: str) -> str:
    machine = os.uname().machine
    if machine not in seccomp.AUDIT_ARCHITECTURE:
        return f"the filter of system calls is written for {' and '.join(seccomp.AUDIT_ARCHITECTURE)}, not {machine}"
    if backend != "landlock":
        return ""
    version = landlock.version()
    if version == 0:
        return "the kernel has no Landlock (Linux 5.13, in the list `lsm=` of its command line), or a filter forbids it"
    if os.geteuid() != 0 and version < landlock.SCOPES_SINCE:
        return (
            f"Landlock has version {version} here; without root, version {landlock.SCOPES_SINCE} (Linux 6.12) is "
            "needed to keep a box from signalling its user's other processes"
        )
    return ""


def _advice(backend: str) -> str:
    for path, (value, words) in _ADVICE.get(backend, {}).items():
        if Path(path).exists() and Path(path).read_text().strip() == value:
            return f"; {words}"
    return ""

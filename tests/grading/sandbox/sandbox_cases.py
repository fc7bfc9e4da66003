"""Runs Python code in a box and hands back what it printed and how it ended."""

from __future__ import annotations

import functools
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tflabs.grading.sandbox import (
    Box,
    ForkServer,
    Limits,
    Policy,
    Verdict,
    interpreter_trees,
    package_trees,
    probe,
    start,
)

BACKENDS = ("namespaces", "landlock", "warm")  # "warm" is a fork of a server, under "namespaces"
# Attacks need no package: the system's Python starts fastest, and every user can read it.
SYSTEM_PYTHON = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable
SMALL = Limits(memory_mib=300, processes=64, disk_mib=16, inodes=200, file_mib=8, open_files=64, wall_seconds=60)
_MOST = 1 << 20


@dataclass(frozen=True)
class Ran:
    """What a box printed, and its verdict."""

    out: str
    verdict: Verdict


@functools.cache
def findings() -> dict[str, str]:
    return {finding.backend: "" if finding.works else finding.reason for finding in probe()}


def need(backend: str) -> None:
    """Skip where the machine cannot do it, and say why."""
    if reason := findings()["namespaces" if backend == "warm" else backend]:
        pytest.skip(f"{backend}: {reason}")


def small_policy(**changes: object) -> Policy:
    """For attacks: the system's Python alone."""
    trees = () if SYSTEM_PYTHON.startswith("/usr/") else interpreter_trees()
    return replace(Policy(readable=trees, limits=SMALL), **changes)


def lab_policy(**changes: object) -> Policy:
    """For honest work: this interpreter with its packages, wherever they came from."""
    packages = [path for path in sys.path if path.endswith("site-packages")]
    source = str(Path(package_trees()[0]).parents[1])
    environment = {"PYTHONPATH": os.pathsep.join([*packages, source]), "TF_CPP_MIN_LOG_LEVEL": "3", "MPLBACKEND": "agg"}
    trees = (*interpreter_trees(), *package_trees(), *packages)
    policy = Policy(
        readable=trees, listable=(source,), environment=environment, limits=Limits(memory_mib=3000, wall_seconds=120)
    )
    return replace(policy, **changes)


@contextmanager
def captured() -> Iterator[tuple[int, Callable[[], str]]]:
    """A pipe for a box's output, and a function that gives all of it once its writers are gone."""
    read, write = os.pipe()
    parts: list[bytes] = []

    def drain() -> None:
        while part := os.read(read, 65536):
            if sum(map(len, parts)) < _MOST:
                parts.append(part)

    thread = threading.Thread(target=drain, daemon=True)
    thread.start()
    closed = False

    def text() -> str:
        nonlocal closed
        if not closed:
            os.close(write)
            closed = True
        thread.join(60)
        return b"".join(parts).decode(errors="replace")

    try:
        yield write, text
    finally:
        text()
        os.close(read)


def run(code: str, backend: str, policy: Policy | None = None, python: str = SYSTEM_PYTHON, *arguments: str) -> Ran:
    """Run code to its end, in a cold box or in one forked from a warm server ("warm")."""
    with captured() as (write, text), launched(code, backend, write, policy, python, *arguments) as box:
        return finished(box, text)


def launched(
    code: str,
    backend: str,
    write: int | None = None,
    policy: Policy | None = None,
    python: str = SYSTEM_PYTHON,
    *arguments: str,
) -> Box:
    """As `run`, without waiting."""
    policy = policy or small_policy()
    if backend == "warm":
        need("namespaces")
        prelude = f"import sys; sys.argv = ['-c', *{arguments!r}]\n"
        given = {"files": policy.files, "limits": policy.limits, "environment": policy.environment}
        return warm_server().start("builtins:exec", [prelude + code, {}], **given, stdout=write, stderr=write)
    if backend != "none":
        need(backend)
    return start([python, "-c", code, *arguments], policy, backend, stdout=write, stderr=write)


@functools.cache
def warm_server() -> ForkServer:
    """One server for all tests; `conftest.py` closes it."""
    return ForkServer(lab_policy(), ["json"], "namespaces")


ATTEMPT = """
import errno, json, os, sys
def attempt(function, *arguments):
    try: return repr(function(*arguments))
    except OSError as error: return errno.errorcode.get(error.errno, str(error))
def pids():
    try: return sorted(int(pid) for pid in os.listdir('/proc') if pid.isdigit())
    except OSError: return []
def say(**answers): print(json.dumps(answers), flush=True)
"""


def answers(code: str, backend: str, policy: Policy | None = None, *arguments: str) -> dict[str, str]:
    """What code says of its attempts: `attempt` gives the name of the error, `say` ends the answer."""
    ran = run(ATTEMPT + code, backend, policy, SYSTEM_PYTHON, *arguments)
    assert ran.verdict.kind == "exit 0", (ran.out, ran.verdict)
    found: dict[str, str] = json.loads(ran.out.strip().splitlines()[-1])
    return found


def finished(box: Box, text: Callable[[], str]) -> Ran:
    box.wait(120)
    verdict = box.verdict
    assert verdict is not None, "the box did not end"
    return Ran(text(), verdict)

"""Runs tests once more as an ordinary user: run by root, as in many a continuous integration, they become one.

The user is a number alone; no account is needed. Where a folder above the interpreter or the course is closed to others
(root's home is), the tests run in a mount namespace in which it is open and holds nothing else.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import toy
from tflabs.grading.sandbox import SandboxUnavailable, choose

USER = 65533
_APART = ("unshare", "--mount", "--propagation=private")
only_root = pytest.mark.skipif(os.geteuid() != 0, reason="the other tests have just run as an ordinary user")


def passes(*arguments: str, **variables: str) -> None:
    """Run pytest with these arguments and variables as the user; a failure fails the test that called."""
    probe = subprocess.run([*_APART, "true"], capture_output=True, text=True, check=False)
    if probe.returncode:
        pytest.skip(f"no mount namespace can be had here: {probe.stderr.strip()}")
    with tempfile.TemporaryDirectory(prefix="tflabs-user-", dir="/tmp") as home:
        os.chown(home, USER, USER)
        Path(home).chmod(0o755)
        environment = {
            "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
            "HOME": home,
            "USER": "ordinary",
            "PYTHONPATH": os.pathsep.join([str(toy.ROOT / "src"), str(toy.ROOT / "tests")]),
            "PYTHONDONTWRITEBYTECODE": "1",
            **variables,
        }
        become = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
        options = ["-q", "-ra", "-p", "no:cacheprovider", f"--basetemp={home}/pytest"]
        tests = shlex.join([*become, sys.executable, "-m", "pytest", *options, *arguments])
        script = "\n".join(["set -e", *_opening(Path(home)), f"exec {tests}"])
        ran = subprocess.run(
            [*_APART, "sh", "-c", script], cwd=toy.ROOT, env=environment, capture_output=True, text=True, check=False
        )
    assert ran.returncode == 0, ran.stdout[-6000:] + ran.stderr[-2000:]
    print(ran.stdout)


def need(backend: str) -> None:
    """Skip the test where this backend of boxes does not work."""
    try:
        choose(backend)
    except SandboxUnavailable as error:
        pytest.skip(str(error))


def need_open_interpreter() -> None:
    """Skip the test where root's boxes, which have other users, cannot start this Python under Landlock."""
    if os.geteuid() == 0 and (closed := _closed(Path(sys.base_prefix).resolve())):
        pytest.skip(f"only root can enter {closed[0]}")


def _closed(path: Path) -> list[Path]:
    """The folders above that others cannot enter and read, the topmost first."""
    return [each for each in reversed(path.parents) if each.stat().st_mode & 0o005 != 0o005]


def _opening(home: Path) -> list[str]:
    """Commands after which the user can reach what it must, under the names that it has."""
    needed = {Path(path).resolve() for path in (toy.ROOT, sys.prefix, sys.base_prefix)}
    closed: dict[Path, list[Path]] = {}
    for path in sorted(needed):
        if above := _closed(path):
            closed.setdefault(above[0], []).append(path)
    commands = []
    for folder, paths in closed.items():
        kept = {path: home / f"kept-{number}" for number, path in enumerate(paths)}
        for path, place in kept.items():
            commands += [f"mkdir {place}", shlex.join(["mount", "--bind", str(path), str(place)])]
        commands.append(shlex.join(["mount", "-t", "tmpfs", "-o", "mode=0755", "tmpfs", str(folder)]))
        for path, place in kept.items():
            commands += [shlex.join(["mkdir", "-p", str(path)]), shlex.join(["mount", "--bind", str(place), str(path)])]
            commands.append(f"umount {place}")
            commands.append(f"rmdir {place}")
    return commands

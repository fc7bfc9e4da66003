"""Some of the hostile submissions once more, graded by an ordinary user: run by root, these tests become one.

Where the interpreter lies in root's home, the system's Python of the same version takes its place, with this
environment's packages on PYTHONPATH.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

HERE = Path(__file__).parent
USER = 65533
# One of each kind that depends on who grades: files, processes, memory, devices, what is left behind.
SELECTED = (
    *("reads-gradebook", "looks-in-every-file", "reads-environment", "reads-memory-of-processes", "writes-gradebook"),
    *("kills-everything", "kills-its-parents", "kills-a-process", "connects-to-an-abstract-socket", "becomes-root"),
    *("goes-on-as-a-daemon", "goes-on-with-ignored-signals", "fork-bomb", "memory-in-the-answer", "disk"),
    *(
        "patches-the-agent-for-the-witness",
        "equal-to-everything",
        "a-link-to-the-gradebook",
        "a-pipe",
        "names-that-are-odd",
    ),
)


def open_to_all(path: Path) -> bool:
    return all(part.stat().st_mode & 0o005 == 0o005 for part in (path, *path.parents))


def python_for_a_user() -> str:
    own = Path(sys.executable)
    if open_to_all(own.parent) and open_to_all(own.resolve()):
        return str(own)
    system = Path(f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}")
    if not system.exists():
        pytest.skip(f"an ordinary user can read neither {own.resolve()} nor a system Python of its version")
    return str(system)


@pytest.mark.skipif(os.geteuid() != 0, reason="the other tests have just run as an ordinary user")
def test_hostile_submissions_are_contained_for_an_ordinary_user() -> None:
    packages = [path for path in sys.path if path.endswith("site-packages")]
    source, tests = HERE.parents[2] / "src", HERE.parents[1]
    for path in (source, tests, *map(Path, packages)):
        if not open_to_all(path):
            pytest.skip(f"an ordinary user cannot read {path}")
    with tempfile.TemporaryDirectory(prefix="tflabs-user-", dir="/tmp") as home:
        os.chown(home, USER, USER)
        Path(home).chmod(0o755)
        python = python_for_a_user()
        alembic = Path(home) / "bin" / "alembic"  # which nbgrader calls by name
        alembic.parent.mkdir()
        alembic.write_text(f'#!/bin/sh\nexec {python} -m alembic "$@"\n', encoding="utf-8")
        alembic.chmod(0o755)
        environment = {
            "PATH": f"{alembic.parent}:/usr/bin:/bin",
            "HOME": home,
            "USER": "ordinary",
            "PYTHONPATH": os.pathsep.join([*packages, str(source), str(tests)]),
            "PYTHONDONTWRITEBYTECODE": "1",
            "JUPYTER_PATH": str(Path(sys.prefix) / "share" / "jupyter"),
        }
        options = ["-q", "-ra", "-n", "0", "-p", "no:cacheprovider", f"--basetemp={home}/pytest", "-W", "ignore"]
        chosen = " or ".join(SELECTED)
        ran = subprocess.run(
            [python, "-m", "pytest", *options, "-k", chosen, str(HERE / "test_hostile.py")],
            cwd=HERE.parents[2],
            env=environment,
            user=USER,
            group=USER,
            extra_groups=[],
            capture_output=True,
            text=True,
        )
    assert ran.returncode == 0, ran.stdout[-6000:] + ran.stderr[-2000:]
    print(ran.stdout)

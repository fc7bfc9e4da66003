"""The same tests by an ordinary user: run by root, they run once more as one.

The user is a number alone; no account is needed. Where the interpreter lies in root's home, the system's Python of
the same version takes its place, with this environment's packages on PYTHONPATH.
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
# What does not depend on the user is not run twice, and TensorFlow is started once.
LEFT_OUT = (
    "seccomp",
    "as_user",
    "tensorflow_works_under_landlock",
    "removal_follows",
    "grows_or_is_exchanged",
    "verdicts",
)
SELECTED = " and ".join(f"not {name}" for name in LEFT_OUT)


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
def test_everything_holds_for_an_ordinary_user() -> None:
    packages = [path for path in sys.path if path.endswith("site-packages")]
    source, tests = HERE.parents[2] / "src", HERE.parents[1]
    for path in (source, tests, *map(Path, packages)):
        if not open_to_all(path):
            pytest.skip(f"an ordinary user cannot read {path}")
    with tempfile.TemporaryDirectory(prefix="tflabs-user-", dir="/tmp") as home:
        os.chown(home, USER, USER)
        environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": home,
            "PYTHONPATH": os.pathsep.join([*packages, str(source), str(tests)]),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        options = [
            "-q",
            "-ra",
            "-n",
            "2",
            "--dist",
            "loadfile",
            "-p",
            "no:cacheprovider",
            f"--basetemp={home}/pytest",
            "-k",
            SELECTED,
        ]
        ran = subprocess.run(
            [python_for_a_user(), "-m", "pytest", *options, str(HERE)],
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

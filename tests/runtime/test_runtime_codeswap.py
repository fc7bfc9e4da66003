"""The cases of `codeswap_cases` here and in every other supported Python that is installed."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import codeswap_cases
import pytest

SOURCE = Path(__file__).parents[2] / "src"


@pytest.mark.parametrize("case", codeswap_cases.CASES.values(), ids=codeswap_cases.CASES)
def test_here(case: Callable[[], None]) -> None:
    case()


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_in_other_interpreters(version: str) -> None:
    program = shutil.which(f"python{version}")
    if program is None or subprocess.run([program, "-c", ""], capture_output=True).returncode != 0:
        pytest.skip(f"no Python {version}")
    done = subprocess.run(
        [program, "-W", "error", codeswap_cases.__file__],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.stderr) == (f"{len(codeswap_cases.CASES)} cases\n", "")


def test_warnings_are_errors_here_too() -> None:
    done = subprocess.run([sys.executable, "-W", "error", codeswap_cases.__file__], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (f"{len(codeswap_cases.CASES)} cases\n", "")

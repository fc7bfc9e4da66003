"""nbgrader's own tests, as its package has them, end the same with our configuration in force as without it.

Their assignments are no labs of a course: it is stock nbgrader that grades them, with the kernels in boxes. Here runs a
part of them; TFLABS_STOCK_SUITE=all runs all that are about grading, which takes some minutes. Eleven of those fail in
either case: they read a file of nbgrader's repository that its package does not have.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import toy
from spoilt import BINARIES

ALL = os.environ.get("TFLABS_STOCK_SUITE") == "all"
MODULES = ("nbgrader.tests.apps.test_nbgrader_autograde", "nbgrader.tests.preprocessors")
# What our steps stand in the way of: files beside a notebook, an endless cell, times and folders that miss, options.
SELECTED = "missing_files or side_effects or infinite_loop or no_execute or validating_envvar or empty_timestamp"
pytestmark = pytest.mark.timeout(7200 if ALL else 600)

# Says that a kernel was started by our step.
TELLS = """
from pathlib import Path
from tflabs.grading import foreign

def told(*arguments, execute=foreign.execute):
    Path({path!r}).touch()
    return execute(*arguments)

foreign.execute = told
"""


def outcomes(folder: Path, configuration: str) -> dict[str, str]:
    """What became of each test, by its name, with this text as nbgrader's configuration."""
    folder.mkdir()
    (folder / "nbgrader_config.py").write_text(configuration, encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "TFLABS"))}
    environment |= {
        "PATH": f"{BINARIES}{os.pathsep}{os.environ['PATH']}",
        "JUPYTER_CONFIG_DIR": str(folder),
        "PYTHONPATH": os.pathsep.join([str(toy.ROOT / "src"), os.environ.get("PYTHONPATH", "")]),
    }
    options = ["-q", "-p", "no:cacheprovider", "-c", os.devnull, f"--rootdir={folder}", "--junitxml=outcomes.xml"]
    selected = [] if ALL else ["-k", SELECTED]
    subprocess.run(
        [sys.executable, "-m", "pytest", *options, *selected, "--pyargs", *(MODULES if ALL else MODULES[:1])],
        cwd=folder,
        env=environment,
        capture_output=True,
        check=False,
    )
    cases = ElementTree.parse(folder / "outcomes.xml").iter("testcase")
    return {f"{case.get('classname')}.{case.get('name')}": case[0].tag if len(case) else "passed" for case in cases}


def test_nbgraders_own_tests_end_the_same_with_our_configuration(tmp_path: Path) -> None:
    stock = outcomes(tmp_path / "stock", "c = get_config()\n")
    assert list(stock.values()).count("passed") >= (180 if ALL else 6)
    ours = toy.ROOT.joinpath("nbgrader_config.py").read_text(encoding="utf-8")
    configured = outcomes(tmp_path / "ours", ours + TELLS.format(path=str(tmp_path / "told")))
    assert (tmp_path / "told").exists()
    assert configured == stock

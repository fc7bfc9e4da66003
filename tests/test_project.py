"""The repository itself: dependencies named once, locked with hashes and no addresses; code that keeps the rules."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import toy

ROOT = toy.ROOT
BINARIES = Path(sys.executable).parent


def tracked() -> list[Path]:
    """The files of the repository, whether committed yet or not."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def pyproject() -> dict[str, object]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_environment_yml_names_the_versions_of_pyproject() -> None:
    project = pyproject()["project"]
    assert isinstance(project, dict)
    text = (ROOT / "environment.yml").read_text(encoding="utf-8")
    pip = re.findall(r"^      - (\S.*)$", text, re.MULTILINE)
    assert pip == [*project["dependencies"], "--editable ."]
    assert f"  - python{project['requires-python']}" in text


@pytest.mark.parametrize("name", ["cpu", "gpu", "test"])
def test_locks_have_hashes_and_no_addresses(name: str) -> None:
    text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    assert "://" not in text
    for requirement in re.split(r"\n(?=\S)", text.strip()):
        assert re.match(r"[\w.-]+(\[[\w,-]+\])?==\S+", requirement), requirement
        assert "--hash=sha256:" in requirement, requirement


def test_locks_fit_pyproject() -> None:
    locked = dict(re.findall(r"^([\w.-]+)==([\w.]+)", (ROOT / "requirements" / "cpu.txt").read_text(), re.MULTILINE))
    project = pyproject()["project"]
    assert isinstance(project, dict)
    for requirement in project["dependencies"]:
        name, version = re.match(r"([\w-]+)[>=]=([\d.]+)", requirement).groups()  # type: ignore[union-attr]
        assert locked[name].startswith(version.rstrip(".")) or ">=" in requirement, requirement
    gpu = (ROOT / "requirements" / "gpu.txt").read_text(encoding="utf-8")
    assert "tensorflow-cpu" not in gpu and "nvidia-" in gpu and f"\ntensorflow=={locked['tensorflow-cpu']}" in gpu


def test_no_file_names_a_package_registry_or_this_machine() -> None:
    hosts = re.compile(
        "pypi" + r"\.org|" + "python" + "hosted|" + r"registry\.npmjs|" + r"npmjs\.org|" + r"conda\.anaconda\.org"
    )
    home = re.compile(r"(?<![\w.])/(root|home/\w+|work/main)\b")
    for path in tracked():
        if path.suffix in (".png", ".ico"):
            continue
        text = path.read_text(encoding="utf-8")
        assert not hosts.search(text), f"{path} names a package registry"
        assert not home.search(text), f"{path} names a folder of one machine: {home.search(text)}"


ALLOWED = {
    "errors": set(),
    "program": set(),
    "view": set(),
    "runtime": set(),
    "course": {"errors", "program"},
    "grading": {"errors", "course", "runtime"},  # withheld() acts in the learner's process
    "learning": {"errors", "program", "course", "grading"},
    "authoring": {"errors", "program", "course", "grading"},
    "classroom": {"errors", "course"},
    "cli": {"errors", "program", "learning", "authoring", "grading"},
    "bootstrap": set(),
    "__main__": {"cli"},
    "__init__": set(),
}


def test_arrows_between_packages_point_one_way() -> None:
    for path in sorted((ROOT / "src" / "tflabs").rglob("*.py")):
        package = path.relative_to(ROOT / "src" / "tflabs").parts[0].removesuffix(".py")
        used = imported(path.read_text(encoding="utf-8")) - {package}
        assert used <= ALLOWED[package], f"{path} imports {sorted(used - ALLOWED[package])}"


@pytest.mark.parametrize("path", sorted(ROOT.glob("labs/*/*.py")), ids=lambda path: path.stem)
def test_labs_import_only_view_and_runtime(path: Path) -> None:
    assert imported(path.read_text(encoding="utf-8")) <= {"view", "runtime"}


def imported(source: str) -> set[str]:
    """The parts of tflabs that a file imports, wherever in it."""
    parts: set[str] = set()
    source = "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in source.splitlines())
    for node in ast.walk(ast.parse(source)):
        modules = []
        if isinstance(node, ast.ImportFrom) and node.module:
            modules = [node.module] if node.module != "tflabs" else [f"tflabs.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        parts |= {module.split(".")[1] for module in modules if module.startswith("tflabs.")}
    return parts


@pytest.mark.parametrize(
    "command",
    [["ruff", "check", "."], ["ruff", "format", "--check", "src", "tests", "benchmarks"], ["mypy"]],
    ids=" ".join,
)
def test_the_code_keeps_the_rules(command: list[str]) -> None:
    done = subprocess.run([BINARIES / command[0], *command[1:]], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr

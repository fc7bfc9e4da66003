"""Set-up: made once, safe when interrupted or started twice, and clear about what is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import toy
from tflabs import bootstrap

LAUNCHER = toy.ROOT / "tflabs"


class Recorder:
    """Stands in for uv, pip and venv: it notes what it was asked and can fail at a given command."""

    def __init__(self, fail_at: int | None = None) -> None:
        self.commands: list[list[str]] = []
        self.fail_at = fail_at

    def __call__(self, command: list[str], count: int = 0) -> None:
        self.commands.append(command)
        bootstrap.VENV.mkdir(exist_ok=True)
        if len(self.commands) - 1 == self.fail_at:
            raise KeyboardInterrupt


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with lock files, on which the module works instead of this repository."""
    monkeypatch.setattr(bootstrap, "ROOT", tmp_path)
    monkeypatch.setattr(bootstrap, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(bootstrap, "INSTALLED", tmp_path / ".venv" / "tflabs")
    monkeypatch.setattr(bootstrap, "READY", tmp_path / ".venv" / "tflabs" / "ready")
    (tmp_path / "requirements").mkdir()
    for name in ("cpu", "gpu", "test"):
        (tmp_path / "requirements" / f"{name}.txt").write_text(f"{name} 1\n", encoding="utf-8")
    return tmp_path


def record(monkeypatch: pytest.MonkeyPatch, fail_at: int | None = None, uv: str | None = "uv") -> Recorder:
    recorder = Recorder(fail_at)
    monkeypatch.setattr(bootstrap, "run", recorder)
    monkeypatch.setattr(shutil, "which", lambda name: uv)
    return recorder


@pytest.mark.parametrize("uv", ["uv", None])
def test_set_up_is_made_once_from_hashes(root: Path, monkeypatch: pytest.MonkeyPatch, uv: str | None) -> None:
    recorder = record(monkeypatch, uv=uv)
    assert bootstrap.main(["cpu"]) == 0
    made, installed, package = recorder.commands
    assert "--clear" in made and ("uv" in made[0]) == (uv is not None)
    assert "--require-hashes" in installed and str(root / "requirements" / "cpu.txt") in installed
    assert "--no-deps" in package and "--no-build-isolation" in package
    assert bootstrap.main(["cpu"]) == 0
    assert len(recorder.commands) == 3


def test_a_changed_lock_is_installed_without_starting_over(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record(monkeypatch)
    bootstrap.main(["cpu"])
    (root / "requirements" / "cpu.txt").write_text("cpu 2\n", encoding="utf-8")
    recorder = record(monkeypatch)
    assert bootstrap.main(["cpu", "test"]) == 0
    assert not any("venv" in command for command in recorder.commands)
    assert bootstrap.is_ready(["cpu", "test"])


def test_what_uv_made_is_updated_without_uv(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """uv makes an environment without pip; the next update may come where uv is not on PATH."""
    record(monkeypatch)
    bootstrap.main(["cpu"])
    (root / "requirements" / "cpu.txt").write_text("cpu 2\n", encoding="utf-8")
    recorder = record(monkeypatch, uv=None)
    assert bootstrap.main(["cpu"]) == 0
    python = str(bootstrap.VENV / "bin" / "python")
    assert recorder.commands[0] == [python, "-m", "ensurepip"]
    assert recorder.commands[1][:4] == [python, "-m", "pip", "install"]


def test_pip_is_put_where_it_is_not(root: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", bootstrap.VENV], check=True)
    asked = [str(bootstrap.VENV / "bin" / "python"), "-m", "pip", "--version"]
    assert subprocess.run(asked, capture_output=True).returncode != 0
    bootstrap.ensure_pip()
    assert str(root) in subprocess.run(asked, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("step", [0, 1, 2])
def test_an_interrupted_set_up_is_made_anew(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], step: int
) -> None:
    record(monkeypatch, fail_at=step)
    assert bootstrap.main(["cpu"]) == 130
    assert "run the same command again" in capsys.readouterr().err
    assert not bootstrap.is_ready(["cpu"])
    recorder = record(monkeypatch)
    assert bootstrap.main(["cpu"]) == 0
    assert "--clear" in recorder.commands[0]


def test_an_update_that_is_interrupted_is_made_anew(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record(monkeypatch)
    bootstrap.main(["cpu"])
    (root / "requirements" / "cpu.txt").write_text("cpu 2\n", encoding="utf-8")
    record(monkeypatch, fail_at=0)
    assert bootstrap.main(["cpu"]) == 130
    recorder = record(monkeypatch)
    assert bootstrap.main(["cpu"]) == 0
    assert "--clear" in recorder.commands[0]


def test_the_other_tensorflow_is_removed_first(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = record(monkeypatch)
    bootstrap.main(["cpu"])
    (root / ".venv" / "lib" / "python3.11" / "site-packages" / "tensorflow_cpu-2.21.0.dist-info").mkdir(parents=True)
    recorder = record(monkeypatch)
    assert bootstrap.main(["gpu"]) == 0
    assert recorder.commands[0][-2:] == ["uninstall", "tensorflow-cpu"]


def test_an_unknown_variant_is_named(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bootstrap.main(["tpu"]) == 2
    assert "TFLABS_TENSORFLOW is one of: cpu, gpu, test" in capsys.readouterr().err


def test_a_command_that_fails_is_named(root: Path) -> None:
    with pytest.raises(bootstrap.SetupError, match="failed with exit code 3"):
        bootstrap.run([sys.executable, "-c", "raise SystemExit(3)"])


def test_pip_is_shown_as_one_count(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    said = "for number in range(80): print(f'Collecting package{number}')\nprint('Installing collected packages: all')"
    bootstrap.run([sys.executable, "-c", said], count=80)
    out, err = capfd.readouterr()
    assert out == "" and "fetched 40 of 80 packages" in err and "unpacking 80 packages" in err
    assert len(err.split()) < 25


def test_a_folder_that_cannot_be_written_is_named(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / ".venv.lock").mkdir()  # also for root, who may write everywhere
    assert bootstrap.main(["cpu"]) == 2
    assert "cannot set up" in capsys.readouterr().err


HOLD = """
import sys, time
from pathlib import Path
from tflabs import bootstrap
bootstrap.ROOT = Path(sys.argv[1])
with bootstrap.only_one():
    order = Path(sys.argv[1]) / "order"
    order.open("a").write(f"{sys.argv[2]} begins\\n")
    time.sleep(0.3)
    order.open("a").write(f"{sys.argv[2]} ends\\n")
"""


def test_two_set_ups_take_turns(root: Path) -> None:
    both = [
        subprocess.Popen([sys.executable, "-c", HOLD, str(root), name], stderr=subprocess.PIPE, text=True)
        for name in "ab"
    ]
    errors = "".join(process.communicate()[1] for process in both)
    first, second, third, fourth = (root / "order").read_text(encoding="utf-8").splitlines()
    assert first.split()[0] == second.split()[0] and third.split()[0] == fourth.split()[0]
    assert "another set-up of this folder is running" in errors or first.split()[0] != third.split()[0]


def test_without_python_or_uv_the_launcher_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "requirements").mkdir()
    shutil.copy(LAUNCHER, tmp_path / "tflabs")
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in ("sh", "dirname", "cmp"):
        (tools / tool).symlink_to(shutil.which(tool) or "")
    done = subprocess.run([tmp_path / "tflabs", "study"], env={"PATH": str(tools)}, capture_output=True, text=True)
    assert done.returncode == 2
    assert "found neither Python 3.11, 3.12 or 3.13 nor uv" in done.stderr


def test_the_launcher_is_plain_sh() -> None:
    assert LAUNCHER.read_text(encoding="utf-8").startswith("#!/bin/sh\n")
    assert os.access(LAUNCHER, os.X_OK)

"""Makes or mends `.venv` from the lock files. Run by the launcher with any Python 3.11–3.13, so: standard library only.

The environment is complete when `.venv/tflabs/ready` exists; that file is written last. An environment without it was
interrupted and is made anew, because a package that was being unpacked looks installed to pip and to uv.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
INSTALLED = VENV / "tflabs"
READY = INSTALLED / "ready"


class SetupError(Exception):
    """Set-up cannot go on; the text says what to do."""


def main(locks: list[str]) -> int:
    """Bring `.venv` to the state that the named lock files (`cpu`, `gpu`, `test`) ask for."""
    try:
        missing = [name for name in locks if not lock_file(name).is_file()]
        if missing:
            known = ", ".join(sorted(path.stem for path in (ROOT / "requirements").glob("*.txt")))
            raise SetupError(f"there is no requirements/{missing[0]}.txt; TFLABS_TENSORFLOW is one of: {known}")
        with only_one():
            if not is_ready(locks):
                install(locks)
    except SetupError as error:
        print(f"tflabs: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\ntflabs: set-up interrupted; run the same command again to go on", file=sys.stderr)
        return 130
    except OSError as error:
        print(f"tflabs: cannot set up {VENV}: {error}", file=sys.stderr)
        return 2
    return 0


def lock_file(name: str) -> Path:
    return ROOT / "requirements" / f"{name}.txt"


def is_ready(locks: list[str]) -> bool:
    def same(name: str) -> bool:
        copy = INSTALLED / f"{name}.txt"
        return copy.is_file() and copy.read_bytes() == lock_file(name).read_bytes()

    return READY.is_file() and all(same(name) for name in locks)


@contextlib.contextmanager
def only_one() -> Iterator[None]:
    """Hold the set-up lock of this course folder; the kernel releases it even after `kill -9`."""
    with (ROOT / ".venv.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("tflabs: another set-up of this folder is running; waiting for it", file=sys.stderr)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def install(locks: list[str]) -> None:
    uv = shutil.which("uv")
    tool = "uv" if uv else "pip"
    if not READY.is_file():
        print(f"tflabs: making .venv with {tool} (once; about 2 GB, a few minutes)", file=sys.stderr, flush=True)
        make_venv(uv)
    else:
        print(f"tflabs: bringing .venv up to date with {tool}", file=sys.stderr, flush=True)
        if not uv:
            ensure_pip()
        READY.unlink()
    requirements = [part for name in locks for part in ("-r", str(lock_file(name)))]
    python = str(VENV / "bin" / "python")
    pip = [uv, "pip", "install", "--python", python] if uv else [python, "-m", "pip", "install"]
    # The CPU and the GPU wheel both own the folder `tensorflow`: the other one goes first. (On Arm there is only one.)
    other = {"cpu": "tensorflow", "gpu": "tensorflow-cpu"}[locks[0]]
    pattern = f"python3.*/site-packages/{other.replace('-', '_')}-*.dist-info"
    if platform.machine() == "x86_64" and any((VENV / "lib").glob(pattern)):
        uninstall = [*pip[:-1], "uninstall", other]
        run([*uninstall, "-y"] if not uv else uninstall)
    if uv:
        run([*pip, "--compile-bytecode", "--require-hashes", *requirements])
    else:
        run([*pip, "--require-hashes", *requirements], count=sum(map(packages, locks)))
    run([*pip, "--quiet", "--no-deps", "--no-build-isolation", "--editable", str(ROOT)])
    shutil.rmtree(INSTALLED, ignore_errors=True)
    INSTALLED.mkdir()
    for name in locks:
        shutil.copyfile(lock_file(name), INSTALLED / f"{name}.txt")
    READY.touch()
    print("tflabs: ready", file=sys.stderr)


def packages(name: str) -> int:
    """How many packages a lock file names."""
    return sum("==" in line for line in lock_file(name).read_text(encoding="utf-8").splitlines())


def make_venv(uv: str | None) -> None:
    if uv:
        run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(VENV)])
        return
    with named_package():
        run([sys.executable, "-m", "venv", "--clear", str(VENV)])


def ensure_pip() -> None:
    """Put pip into `.venv` if it is not there: uv makes environments without it. Python has one with it, so offline."""
    if not any((VENV / "lib").glob("python3.*/site-packages/pip")):
        with named_package():
            run([str(VENV / "bin" / "python"), "-m", "ensurepip"])


@contextlib.contextmanager
def named_package() -> Iterator[None]:
    """Say what to install where a system's Python lacks venv and ensurepip."""
    try:
        yield
    except SetupError as error:
        remedy = "Debian and Ubuntu keep it in a package of its own: apt install python3-venv"
        raise SetupError(f"{error}\n{remedy}") from None


def run(command: list[str], count: int = 0) -> None:
    """Run a command to its end. Of a pip that installs `count` packages only its progress and its errors are shown."""
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_PROGRESS_BAR": "off"}
    output = subprocess.PIPE if count else None
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, text=True)
    try:
        if process.stdout is not None:
            show_progress(process.stdout, count)
        status = process.wait()
    except KeyboardInterrupt:
        process.wait()  # the terminal sent Ctrl-C to it as well
        raise
    if status:
        raise SetupError(f"`{' '.join(command[:6])} …` failed with exit code {status}; its message is above")


def show_progress(lines: Iterable[str], count: int) -> None:
    """Make pip's hundreds of lines one that counts; in a log, where a line cannot be written over, a few."""
    at_hand = 0
    on_terminal = sys.stderr.isatty()
    before, after = ("\r", "") if on_terminal else ("", "\n")
    for line in lines:
        at_hand += line.lstrip().startswith("Collecting ")
        if line.startswith("Installing collected packages"):
            print(f"{before}tflabs: unpacking {at_hand} packages (a minute or two)", file=sys.stderr, flush=True)
        elif line.lstrip().startswith("Collecting ") and (on_terminal or at_hand % 40 == 0):
            print(f"{before}tflabs: fetched {at_hand} of {count} packages", end=after, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

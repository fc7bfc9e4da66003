"""What a notebook leaves behind, seen from inside its kernel: processes that go on, files outside its folder."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import nbformat

from tflabs.grading.run import CellRun

# A child process inherits the environment, wherever it goes and whoever becomes its parent.
_LOOK = """
import json, os, psutil, tempfile, time
from pathlib import Path

os.environ.setdefault("TFLABS_LEFTOVERS", f"{os.getpid()}-{os.urandom(8).hex()}")

def is_ours(process):
    try:
        same = process.environ().get("TFLABS_LEFTOVERS") == os.environ["TFLABS_LEFTOVERS"]
        return same and process.pid != os.getpid() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False

def name(process):
    try:
        return " ".join(process.cmdline())[:200] or process.name()
    except psutil.Error:
        return "a process"

folders = {Path(tempfile.gettempdir()), Path("/dev/shm"), Path.home()}
caches = {".cache", ".config", ".local", ".keras"}  # of libraries; they are there once for all notebooks
for _ in range(50):  # what was told to end may take a moment
    ours = [name(each) for each in psutil.process_iter() if is_ours(each)]
    if not ours:
        break
    time.sleep(0.1)
paths = {path for folder in folders if folder.is_dir() for path in folder.iterdir()}
files = [str(path) for path in paths if path.name not in caches]
print(json.dumps([ours, sorted(files)]))
"""
_CELL = f"exec({_LOOK!r}, {{'__name__': 'leftovers'}})"


@dataclass(frozen=True)
class Leftovers:
    """Command lines of processes, and paths."""

    processes: tuple[str, ...]
    files: tuple[str, ...]


def look() -> Any:
    """A cell that finds out what there is. One goes before the notebook's first cell, one behind its last."""
    return nbformat.v4.new_code_cell(_CELL)


def leftovers(before: CellRun, after: CellRun) -> Leftovers:
    """What is there after the notebook and was not before it."""
    _, had = json.loads(before.stdout)
    processes, files = json.loads(after.stdout)
    return Leftovers(tuple(processes), tuple(path for path in files if path not in had))

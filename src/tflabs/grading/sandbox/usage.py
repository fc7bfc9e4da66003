# ruff: noqa: PTH116, PTH123
# The keeper imports this module and starts for every box; pathlib takes too long to import.
"""What the processes of a box hold and have used, as the host's /proc tells it."""

from __future__ import annotations

import os

from tflabs.grading.sandbox.launch import children

_TICKS = os.sysconf("SC_CLK_TCK")


class Usage:
    """Of all processes of a box but its init: memory in KiB, seconds of CPU, their number, their open descriptors."""

    __slots__ = ("cpu_seconds", "descriptors", "memory_kib", "processes")

    def __init__(self, memory_kib: int, cpu_seconds: float, processes: int, descriptors: int) -> None:
        self.memory_kib, self.cpu_seconds = memory_kib, cpu_seconds
        self.processes, self.descriptors = processes, descriptors


def tree(init: int, payload: int) -> list[int]:
    """The processes of a box but its init: the payload, which a fork server may have as its child, and what came of it.

    Orphans are children of the init, so this is the whole box.
    """
    found = [payload, *(pid for pid in children(init) if pid != payload)]
    for pid in found:
        found += children(pid)
    return found


def measure(init: int, payload: int, limit_kib: int) -> Usage:
    """What the box holds. Where the sum of resident memory is above the limit, shared pages are counted once."""
    pids = tree(init, payload)
    memory = sum(map(_resident, pids))
    if memory > limit_kib and len(pids) > 1:
        memory = sum(map(_proportional, pids))
    return Usage(memory, sum(map(_cpu, pids)) + _cpu_of_reaped(init), len(pids), sum(map(_descriptors, pids)))


def written(folder: str) -> tuple[int, int]:
    """Bytes on disk and number of files below a folder that its owner is changing; links are not followed.

    Raises:
        RecursionError: folders lie in folders beyond any need.
    """
    size = files = 0
    for _, folders, names, descriptor in os.fwalk(folder, onerror=None, follow_symlinks=False):
        files += len(folders) + len(names)
        for name in names:
            try:
                size += os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_blocks * 512
            except OSError:
                continue
    return size, files


def _resident(pid: int) -> int:
    """KiB of pages in memory and in swap and of page tables, which a sparse mapping can make large."""
    return _sum(f"/proc/{pid}/status", ("VmRSS:", "VmSwap:", "VmPTE:"))


def _proportional(pid: int) -> int:
    try:
        return _sum(f"/proc/{pid}/smaps_rollup", ("Pss:", "SwapPss:")) + _sum(f"/proc/{pid}/status", ("VmPTE:",))
    except PermissionError:
        return _resident(pid)  # it made itself unreadable; then it pays for what it shares


def _sum(path: str, fields: tuple[str, ...]) -> int:
    total = 0
    try:
        with open(path) as file:
            for line in file:
                name, _, value = line.partition("\t") if line.startswith("Vm") else line.partition(" ")
                if name in fields:
                    total += int(value.split()[0])
    except (FileNotFoundError, ProcessLookupError):
        return 0  # it has ended
    return total


def _cpu(pid: int) -> float:
    """Seconds used by a process and by those of its children that it has waited for."""
    return _stat_ticks(pid, 11, 15)


def _cpu_of_reaped(init: int) -> float:
    return _stat_ticks(init, 13, 15)


def _stat_ticks(pid: int, first: int, end: int) -> float:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()  # the name before may hold anything
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return sum(map(int, fields[first:end])) / _TICKS


def _descriptors(pid: int) -> int:
    try:
        return os.stat(f"/proc/{pid}/fd").st_size  # their number, since Linux 6.2; 0 before
    except OSError:
        return 0

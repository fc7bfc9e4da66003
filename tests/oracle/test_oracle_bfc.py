"""TensorFlow's own `BFCAllocator`, compiled against the installed wheel, says the same as what lab 3-4 teaches."""

from __future__ import annotations

import ast
import ctypes
import random
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jupytext
import pytest

import toy
from tflabs.runtime import in_fresh_process
from tflabs.view import memory

pytestmark = pytest.mark.xdist_group("oracle-bfc")  # built once

LAB = "3-4-tensor"
Trace = list[tuple[str, int]]
Decisions = list[tuple[int, int] | None]  # (offset, size) of each allocate, None where there was no chunk


@pytest.fixture(scope="session")
def library(build_oracle: Callable[[str], ctypes.CDLL]) -> ctypes.CDLL:
    """The library of bfc.cc, in Python's types."""
    loaded = build_oracle("bfc.cc")
    loaded.bfc_new.restype, loaded.bfc_new.argtypes = ctypes.c_void_p, [ctypes.c_int64]
    loaded.bfc_delete.restype, loaded.bfc_delete.argtypes = None, [ctypes.c_void_p]
    for name in ("bfc_allocate", "bfc_size", "bfc_free"):
        function = getattr(loaded, name)
        function.restype, function.argtypes = ctypes.c_int64, [ctypes.c_void_p, ctypes.c_int64]
    loaded.bfc_free.restype = None
    loaded.bfc_in_use.restype, loaded.bfc_in_use.argtypes = ctypes.c_int64, [ctypes.c_void_p]
    return loaded


class Oracle:
    """TensorFlow's allocator over one region, with the methods that the lab asks for."""

    def __init__(self, library: ctypes.CDLL, size: int) -> None:
        self._library, self._allocator, self._size = library, library.bfc_new(size), size

    def close(self) -> None:
        self._library.bfc_delete(self._allocator)

    def allocate(self, n: int) -> int:
        offset: int = self._library.bfc_allocate(self._allocator, n)
        if offset < 0:
            raise MemoryError(n)
        return offset

    def free(self, offset: int) -> None:
        self._library.bfc_free(self._allocator, offset)

    def chunk(self, offset: int) -> int:
        return int(self._library.bfc_size(self._allocator, offset))

    @property
    def in_use(self) -> int:
        return int(self._library.bfc_in_use(self._allocator))

    @property
    def largest_free(self) -> int:
        """Found by asking: a chunk that is given away and given back leaves everything as it was."""
        least, most = 0, self._size // 256
        while least < most:
            middle = (least + most + 1) // 2
            offset = self._library.bfc_allocate(self._allocator, middle * 256)
            if offset < 0:
                most = middle - 1
            else:
                self.free(offset)
                least = middle
        return least * 256


@cache
def lab() -> SimpleNamespace:
    """What the test needs of the lab: the hidden reference, the solution, the records and how they are read."""
    notebook = jupytext.read(toy.ROOT / "labs" / LAB / f"{LAB}.py")
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    wanted = {"bfc_steps", "random_trace", "written_traces", "Allocator", "Event", "read_events", "Step", "Trace"}
    wanted |= {"replay", "trace_of", "REGION", "RECORDED", "ANOTHER", "training_step", "recorded"}
    names: dict[str, Any] = {}
    exec("import random, re\nfrom collections.abc import Callable\nfrom contextlib import suppress", names)
    exec("from typing import Any, NamedTuple", names)
    for source in sources:
        for node in ast.parse(source).body:
            target = node.targets[0] if isinstance(node, ast.Assign) else node
            name = getattr(target, "name", None) or getattr(target, "id", None)
            if name in wanted:
                exec(compile(ast.Module([node], []), LAB, "exec"), names)
    assert wanted <= names.keys(), wanted - names.keys()
    return SimpleNamespace(**{name: names[name] for name in wanted})


def decisions(allocator: Any, trace: Trace) -> tuple[Decisions, list[tuple[int, int]]]:
    """What TensorFlow's allocator decides on a trace, and (in use, largest free) after each event."""
    given: Decisions = []
    after = []
    for kind, number in trace:
        if kind == "allocate":
            try:
                offset = allocator.allocate(number)
                given.append((offset, allocator.chunk(offset)))
            except MemoryError:
                given.append(None)
        elif (chunk := given[number]) is not None:
            allocator.free(chunk[0])
        after.append((allocator.in_use, allocator.largest_free))
    return given, after


def assert_reference_agrees(library: ctypes.CDLL, size: int, trace: Trace) -> int:
    """The hidden reference and the solution decide as TensorFlow does. Returns how many decisions were compared."""
    oracle = Oracle(library, size)
    given, after = decisions(oracle, trace)
    oracle.close()
    steps, sizes = lab().bfc_steps(size, trace)
    requests = [index for index, (kind, _) in enumerate(trace) if kind == "allocate"]
    reference = [None if steps[i].offset is None else (steps[i].offset, sizes[i]) for i in requests]
    assert reference == given
    assert [(step.in_use, step.largest_free) for step in steps] == after
    assert lab().replay(lab().Allocator(size), trace) == steps
    return len(given)


def test_random_traces(library: ctypes.CDLL) -> None:
    compared = 0
    regions = [
        (4096, 2000),
        (65536, 9000),
        (1 << 20, 1 << 16),
        (96 << 20, 20 << 20),
        (3 << 30, 700 << 20),
        (9 << 30, 1 << 31),
    ]
    for seed in range(2):
        rng = random.Random(seed)
        for size, largest in regions:
            for frees in (0.35, 0.48):
                trace = lab().random_trace(rng, 220, largest, frees)
                compared += assert_reference_agrees(library, size, trace)
    assert compared > 2500


def test_written_traces(library: ctypes.CDLL) -> None:
    for _, size, trace in lab().written_traces():
        assert_reference_agrees(library, size, trace)


@pytest.mark.parametrize("name", ["RECORDED", "ANOTHER"])
def test_recorded_runs(library: ctypes.CDLL, name: str) -> None:
    events = lab().read_events(getattr(lab(), name))
    assert_recorded(library, events)


def test_a_run_recorded_now(library: ctypes.CDLL) -> None:
    record, job = lab().recorded, lab().training_step

    def run() -> list[tuple[Any, ...]]:
        import tensorflow

        for function in (record, job):
            function.__globals__["tf"] = tensorflow
        return [tuple(event) for event in record(job)]

    environment = {"TF_CPU_ALLOCATOR_USE_BFC": "1", "TF_ENABLE_ONEDNN_OPTS": "0", "TF_USE_LEGACY_KERAS": "1"}
    events = [lab().Event(*event) for event in in_fresh_process(run, env=environment).value]
    assert len(events) > 90
    assert_recorded(library, events)


def assert_recorded(library: ctypes.CDLL, events: list[Any]) -> None:
    """What a run of TensorFlow recorded is what its allocator, asked alone, and the reference decide."""
    trace = lab().trace_of(events)
    oracle = Oracle(library, lab().REGION)
    given, _ = decisions(oracle, trace)
    oracle.close()
    assert [(event.offset, event.size) for event in events if event.kind == "allocate"] == given
    assert_reference_agrees(library, lab().REGION, trace)


def test_the_bins_are_as_the_picture_says() -> None:
    """`BFCAllocator`'s header in the wheel: 21 bins, the smallest for 256 bytes."""
    import tensorflow as tf

    header = Path(tf.sysconfig.get_include()) / "xla" / "tsl" / "framework" / "bfc_allocator.h"
    text = header.read_text(encoding="utf-8")
    assert re.search(rf"kNumBins = {memory._BINS};", text)
    assert 1 << int(re.search(r"kMinAllocationBits = (\d+);", text)[1]) == memory._UNIT  # type: ignore[index]

"""What a kernel costs: seconds until it answers, in a box and without one, and the memory of a further one."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from tflabs.grading.boxes import BoxedKernels, Boxes
from tflabs.grading.kernels import ColdKernels, Kernels, stop

KERNELS = 4  # of which the memory is measured
ROUNDS = 9  # of cold starts


def cold_starts() -> tuple[float, float]:
    """Median seconds until a cold kernel answers: a plain process, and in a box. They take turns."""
    plain: list[float] = []
    boxed: list[float] = []
    with tempfile.TemporaryDirectory(prefix="tflabs-benchmark-") as folder, Boxes() as boxes:
        for _ in range(ROUNDS):
            plain.append(asyncio.run(_until_it_answers(ColdKernels({}), Path(folder))))
            boxed.append(asyncio.run(_until_it_answers(boxes.cold({}), Path(folder))))
    return statistics.median(plain), statistics.median(boxed)


def further_kernel() -> float:
    """MiB (PSS) by which a fork server and its kernels grow with a further one that has run an op."""
    with tempfile.TemporaryDirectory(prefix="tflabs-benchmark-") as folder, Boxes() as boxes:
        sizes = asyncio.run(_growing(boxes.kernels(("tensorflow",), {}), Path(folder)))
    return (sizes[-1] - sizes[0]) / (len(sizes) - 1)


async def _until_it_answers(kernels: Kernels, folder: Path) -> float:
    started = time.monotonic()
    manager = await kernels.start(folder)
    try:
        client = manager.client()
        client.start_channels(hb=False)
        await client.wait_for_ready()
        seconds = time.monotonic() - started
        client.stop_channels()
        return seconds
    finally:
        await stop(manager)


async def _growing(warm: BoxedKernels, folder: Path) -> list[float]:
    """MiB of the server and its kernels as they become more."""
    assert warm.server is not None
    managers, sizes = [], []
    try:
        for _ in range(KERNELS):
            managers.append(manager := await warm.start(folder))
            client = manager.client()
            client.start_channels(hb=False)
            await client.wait_for_ready()
            await client.execute_interactive("import tensorflow as tf; tf.reduce_sum(tf.constant([1.0])).numpy();")
            client.stop_channels()
            sizes.append(sum(map(_pss, [warm.server.pid, *(each.provisioner.pid for each in managers)])))
    finally:
        for manager in managers:
            await stop(manager)
    return sizes


def _pss(pid: int) -> float:
    """MiB of a process, shared pages by their share."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024

"""Runs the cells of a notebook one by one and keeps what each of them did, whatever it did to the kernel."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tflabs.course.lab import grade_id, role
from tflabs.grading.examinations import CALL_SECONDS, Examination
from tflabs.grading.examiner.marks import judged_in_kernel
from tflabs.grading.examiner.report import CellResult
from tflabs.grading.kernels import OWN_FOLDER, Kernels, stop
from tflabs.grading.whereabouts import in_cell, in_trace

ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
UNREADABLE = "UnreadableMessage"  # the `ename` of a cell whose kernel sent what is no Jupyter message
PLACE_OF_SYNTAX = re.compile(r" \(\d+\.py, line \d+\)$")  # a file that nobody knows


@dataclass(frozen=True)
class CellRun:
    """What became of one cell.

    `state` is 'ok', 'error', 'timeout' (no end within the limit) or 'died' (the kernel ended). `peak_mib` is the most
    memory that the kernel and its child processes held while the cell ran (MiB, sampled; 0 where not measured).
    `judged` says whose word it is: the 'examiner', for a test that the learner's process never saw; the 'witness', for
    one that had to run there; the 'kernel', where nobody else was asked.
    `asked` is False for a test in the examiner that asked nothing of the learner's code. `where` is the line of the
    learner's that raised, if the cell failed for that. `shown` are the cell's pictures, tables and value (nbformat's
    display_data and execute_result).
    """

    id: str
    role: str
    grade_id: str | None
    state: str
    ename: str
    evalue: str
    stdout: str
    stderr: str
    seconds: float
    peak_mib: float
    judged: str = "kernel"
    asked: bool = True
    where: str = ""
    shown: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Limits:
    """Seconds that a cell may take, characters of its output that are kept, and whether its memory is measured."""

    cell_seconds: float = 120.0
    output: int = 200_000
    measure_memory: bool = False


def run_cells(
    cells: list[Any],
    kernels: Kernels,
    cwd: Path,
    limits: Limits | None = None,
    on_cell: Callable[[Any], None] = lambda cell: None,
    examination: Examination | None = None,
) -> list[CellRun]:
    """Run code cells in order, in one kernel; tests in an examiner, if there is one.

    A cell that ends the kernel, or does not end in time, costs only itself: the rest runs in a new kernel, in which the
    cells before it, tests aside, have run again.
    """
    return asyncio.run(run_cells_async(cells, kernels, cwd, limits, on_cell, examination))


async def run_cells_async(
    cells: list[Any],
    kernels: Kernels,
    cwd: Path,
    limits: Limits | None = None,
    on_cell: Callable[[Any], None] = lambda cell: None,
    examination: Examination | None = None,
) -> list[CellRun]:
    """As `run_cells`, for callers that run several notebooks at once."""
    limits = limits or Limits()
    code = [cell for cell in cells if cell.cell_type == "code" and cell.source.strip()]
    own = [cell.source for cell in code if role(cell) in ("solution", "free")]
    runs: list[CellRun] = []
    if examination is not None:
        examination.witnessed = any(role(cell) == "test" and judged_in_kernel(cell.source) for cell in code)
    with _opened(examination):
        kernel = await _Kernel.start(kernels, cwd, limits, examination)
        try:
            for index, cell in enumerate(code):
                on_cell(cell)
                runs.append(await _run(cell, kernel, limits, examination, own))
                if kernel.lost and index + 1 < len(code):
                    await kernel.stop()
                    kernel = await _Kernel.start(kernels, cwd, limits, examination)
                    kernel = await _replay(code[: index + 1], runs, kernel, kernels, cwd, limits, examination)
        finally:
            await kernel.stop()
    return runs


@contextlib.contextmanager
def _opened(examination: Examination | None) -> Iterator[None]:
    if examination is None:
        yield
        return
    examination.open()
    try:
        yield
    finally:
        examination.close()


async def _run(cell: Any, kernel: _Kernel, limits: Limits, examination: Examination | None, own: list[str]) -> CellRun:
    """Run one cell where it belongs: given cells on both sides, tests by the examiner. `own`: the learner's cells."""
    if examination is not None and role(cell) == "test":
        result, home = await examination.judge(cell, kernel.client, limits.cell_seconds)
        kernel.lost = not home
        return _examined(cell, result, limits, own)
    if examination is not None and role(cell) == "given":
        run, _ = await asyncio.gather(kernel.run(cell), examination.given(cell, limits.cell_seconds))
        await examination.note(cell, limits.cell_seconds)
        return run
    return await kernel.run(cell)


def _examined(cell: Any, result: CellResult, limits: Limits, own: list[str]) -> CellRun:
    state = {"learner-gone": "died", "protocol": "error", "examiner-gone": "error"}.get(result.state, result.state)
    seconds = min(CALL_SECONDS, limits.cell_seconds) if result.ename == "CallTimeout" else result.seconds
    texts = result.ename, ANSI.sub("", result.evalue), result.stdout[: limits.output], ""
    judged = "witness" if judged_in_kernel(cell.source) else "examiner"
    where = in_trace(result.trace, own)
    return CellRun(cell["id"], role(cell), grade_id(cell), state, *texts, seconds, 0.0, judged, result.called, where)


async def _replay(
    code: list[Any],
    runs: list[CellRun],
    kernel: _Kernel,
    kernels: Kernels,
    cwd: Path,
    limits: Limits,
    examination: Examination | None,
) -> _Kernel:
    """Bring a new kernel to where the old one was. A cell that now ends this one too is left out from then on."""
    for cell, run in zip(code, runs, strict=True):
        if run.role == "test" or run.state in ("timeout", "died"):
            continue
        again = await kernel.run(cell)
        if examination is not None and run.role == "given":
            await examination.note(cell, limits.cell_seconds)
        if again.state in ("timeout", "died"):
            await kernel.stop()
            kernel = await _Kernel.start(kernels, cwd, limits, examination)
    return kernel


class _Kernel:
    """One kernel and the client that talks to it."""

    def __init__(self, manager: Any, client: Any, limits: Limits) -> None:
        self.manager, self.client, self.limits = manager, client, limits
        self.lost = False  # whether it is of no more use

    @classmethod
    async def start(
        cls, kernels: Kernels, cwd: Path, limits: Limits, examination: Examination | None = None
    ) -> _Kernel:
        import nbformat

        from tflabs.grading.client import CappedClient

        manager = await kernels.start(cwd)
        client = CappedClient(
            nbformat.v4.new_notebook(),
            km=manager,
            allow_errors=True,
            timeout=limits.cell_seconds,
            iopub_timeout=30,
            interrupt_on_timeout=False,
            most_text=limits.output,
        )
        client.kc = manager.client()
        client.kc.start_channels(hb=False)
        client.kc.allow_stdin = False
        try:
            await _ready(manager, client.kc)
            if examination is not None:
                examination.admit(manager)
                await examination.plant(client)
            client.kc.execute(OWN_FOLDER, silent=True, store_history=False)  # done before the first cell is read
        except BaseException:
            await stop(manager)
            raise
        return cls(manager, client, limits)

    async def run(self, cell: Any) -> CellRun:
        """Run a cell. What the kernel sends is the learner's: nothing of it may end the driver."""
        started = time.monotonic()
        try:
            return await self._run(cell)
        except Exception as error:
            self.lost = True
            words = f"{type(error).__name__}: {error}"[:200]
            place, seconds = (cell["id"], role(cell), grade_id(cell)), time.monotonic() - started
            return CellRun(*place, "died", UNREADABLE, words, "", "", seconds, 0.0)

    async def _run(self, cell: Any) -> CellRun:
        from nbclient.exceptions import CellTimeoutError, DeadKernelError

        executed = type(cell)(cell | {"outputs": [], "metadata": {}})  # a tag could make nbclient skip it
        self.client.nb.cells = [executed]
        self.client.begin_cell()
        started = time.monotonic()
        state = "ok"
        async with _memory(self.manager.provisioner.pid if self.limits.measure_memory else None) as peak:
            try:
                await self.client.async_execute_cell(executed, 0)
                state = "died" if self.client.asked_to_end else "ok"
            except CellTimeoutError:
                state = "timeout"
            except DeadKernelError:
                if (task := asyncio.current_task()) is not None and task.cancelling():
                    raise asyncio.CancelledError from None  # Ctrl-C; nbclient takes it for the kernel's end
                state = "died"
        seconds = time.monotonic() - started
        self.lost = state != "ok"
        return _cell_run(cell, executed.outputs, state, seconds, max(peak), self.limits)

    async def stop(self) -> None:
        with contextlib.suppress(Exception):
            self.client.kc.stop_channels()
        await stop(self.manager)


@contextlib.asynccontextmanager
async def _memory(pid: int | None) -> AsyncIterator[list[float]]:
    """Samples of the memory that a process and its children hold, in MiB, while the context lasts."""
    samples = [0.0]

    async def sample() -> None:
        while True:
            samples.append(_resident_mib(pid or 0))
            await asyncio.sleep(0.1)

    task = asyncio.create_task(sample()) if pid is not None else None
    try:
        yield samples
    finally:
        if task is not None:
            task.cancel()
            samples.append(_resident_mib(pid or 0))


def _resident_mib(pid: int) -> float:
    import psutil

    try:
        root = psutil.Process(pid)
        return float(sum(process.memory_info().rss for process in (root, *root.children(recursive=True)))) / 2**20
    except psutil.Error:
        return 0.0


async def _ready(manager: Any, client: Any) -> None:
    """Wait until the kernel answers on both channels: output sent before IOPub is connected would be lost.

    `wait_for_ready` of jupyter_client does the same, and 0.2 seconds of waiting for messages that do not come.
    """
    from queue import Empty

    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        request = client.kernel_info()
        try:
            while (await client.get_shell_msg(timeout=2))["parent_header"].get("msg_id") != request:
                pass
            while (await client.get_iopub_msg(timeout=0.1))["parent_header"].get("msg_id") != request:
                pass
            return
        except Empty:
            if not await manager.is_alive():
                raise RuntimeError("the kernel ended while it started") from None
    raise RuntimeError("the kernel did not answer within 60 seconds")


def _cell_run(cell: Any, outputs: list[Any], state: str, seconds: float, peak: float, limits: Limits) -> CellRun:
    error = next((output for output in outputs if output.output_type == "error"), None)
    if state == "ok" and error is not None:
        state = "error"
    ename, evalue, where = "", "", ""
    if error is not None:
        ename, evalue = str(error.ename), PLACE_OF_SYNTAX.sub("", ANSI.sub("", str(error.evalue)))
        if role(cell) != "test":  # a test's lines may be hidden ones
            where = in_cell(cell.source, ANSI.sub("", "\n".join(error.traceback)))

    def stream(name: str) -> str:
        text = "".join(o.text for o in outputs if o.output_type == "stream" and o.name == name)
        return text if len(text) <= limits.output else text[: limits.output] + "\n… cut off here"

    shown = tuple(output for output in outputs if output.output_type in ("display_data", "execute_result"))
    texts = ename, evalue, stream("stdout"), stream("stderr")
    return CellRun(cell["id"], role(cell), grade_id(cell), state, *texts, seconds, peak, where=where, shown=shown)

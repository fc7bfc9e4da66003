"""The pool on a Dask cluster. Its workers need this package, and neither the course's disk nor its database."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import Any

from tflabs.errors import UserError
from tflabs.grading.pool.local import LocalPool
from tflabs.grading.pool.nursery import CHILDREN
from tflabs.grading.pool.pool import PoolBroken, Ungradable
from tflabs.grading.pool.work import Work, runs_from_text, runs_to_text, work_from_bytes
from tflabs.grading.run import CellRun

_CONNECT_SECONDS = 10
_pools: dict[str, LocalPool] = {}  # of a worker's process, by backend: its fork servers outlive one piece of work
_pools_lock = threading.Lock()


class ClusterPool:
    """Runs work on the workers of a scheduler.

    Raises:
        UserError: `distributed` is not installed, no scheduler answers at this address, or it has no workers.
    """

    def __init__(self, address: str, backend: str = "auto") -> None:
        try:
            from distributed import Client
        except ImportError:
            raise UserError("--scheduler needs Dask in this environment: pip install distributed") from None
        self._backend = backend
        self._remotes: dict[Future[list[CellRun]], Any] = {}
        try:
            self._client = Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise UserError(f"no scheduler answers at {address}: {error}") from None
        if not self._client.nthreads():
            self._client.close()
            raise UserError(f"the scheduler at {address} has no workers; start some with `dask worker {address}`")

    def width(self) -> int:
        return max(1, sum(int(threads) for threads in self._client.nthreads().values()))

    def submit(self, work: Work) -> Future[list[CellRun]]:
        future: Future[list[CellRun]] = Future()
        future.set_running_or_notify_cancel()
        # Not pure: two equal submissions are run each on its own.
        remote = self._client.submit(run_here, work.to_bytes(), self._backend, pure=False)
        self._remotes[future] = remote  # one that nobody holds is cancelled
        future.add_done_callback(self._remotes.pop)
        remote.add_done_callback(lambda done: _hand_over(done, future))
        return future

    def close(self) -> None:
        self._client.close()


def run_here(work: bytes, backend: str) -> tuple[str, str]:
    """What a Dask worker does with a piece of work: 'runs' and what its cells did, or what stands in the way."""
    try:
        return "runs", runs_to_text(_pool(backend).submit(work_from_bytes(work)).result())
    except (Ungradable, UserError) as error:
        return "ungradable", str(error)
    except PoolBroken as error:
        with _pools_lock:
            _pools.pop(backend, None)
        return "broken", str(error)


def _pool(backend: str) -> LocalPool:
    with _pools_lock:
        if backend not in _pools:
            _pools[backend] = LocalPool(CHILDREN, backend=backend)  # Dask bounds how many run
        return _pools[backend]


def _hand_over(remote: Any, future: Future[list[CellRun]]) -> None:
    try:
        kind, words = remote.result()
    except Exception as error:  # of Dask: the worker was lost too often, or the scheduler was
        future.set_exception(_explained(remote, error))
        return
    if kind == "runs":
        future.set_result(runs_from_text(words))
    else:
        future.set_exception(Ungradable(words) if kind == "ungradable" else PoolBroken(words))


def _explained(remote: Any, error: Exception) -> Exception:
    if type(error).__name__ == "KilledWorker":
        return Ungradable("the workers that ran it were lost, again and again")
    if remote.status == "error":
        return Ungradable(f"{type(error).__name__} on the worker: {error}"[:1000])
    return PoolBroken(f"the cluster was lost: {error}")

"""The fork server, inside its box: `python -m tflabs.grading.sandbox.server MODULE… DESCRIPTOR`.

It imports the modules, then forks for each request that its keeper sends. It never runs an operation: TensorFlow starts
its threads with the first one, and a process forked after that would wait for threads that it does not have.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import operator
import os
import random
import select
import signal
import sys
from _socket import socket
from typing import Any

from tflabs.grading.sandbox import launch, libc, namespaces, wire
from tflabs.grading.sandbox.keeper import streams_of

# The init of a box is its reaper and nothing else: orphans become its children, and it lets the kernel bury them.
_INIT = ["/bin/sh", "-c", "trap '' CHLD; exec sleep 2147483647"]


class Server:
    """Forks boxes, and reports the exit codes of those that end.

    Args:
        keeper: the socket to the keeper.
        threads: how many this process had when its imports were done.
    """

    def __init__(self, keeper: socket, threads: int) -> None:
        self.keeper, self.threads = keeper, threads
        self.own_pids = os.open("/proc/self/ns/pid", os.O_RDONLY)
        self.running: dict[int, tuple[socket, int | None]] = {}  # pid of a payload: its report, its init

    def serve(self) -> None:
        """Until the keeper hangs up."""
        wake, wake_end = os.pipe()
        os.set_blocking(wake_end, False)
        signal.set_wakeup_fd(wake_end, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        poll = select.poll()
        poll.register(self.keeper.fileno(), select.POLLIN)
        poll.register(wake, select.POLLIN)
        while True:
            for descriptor, _ in poll.poll():
                if descriptor == wake:
                    os.read(wake, 4096)
                    self._reap()
                elif (message := wire.receive(self.keeper)) is None:
                    return
                else:
                    self._answer(message)

    def _answer(self, message: wire.Message) -> None:
        request_fd, report_fd, channel_fd, *descriptors = message.descriptors
        report, channel = socket(fileno=report_fd), socket(fileno=channel_fd)
        try:
            request = wire.read_request(request_fd)
            streams = streams_of(message.fields, descriptors)
            if _threads() > self.threads:  # fewer is well: OpenBLAS ends its own threads before a fork
                raise RuntimeError("it has run an operation or started a thread; what is forked from it would hang")
            self._fork(request, report, channel, streams)
        except Exception as error:
            wire.send(report, {"step": "failed", "words": f"the fork server refused: {error}"})
            report.close()
        channel.close()
        for descriptor in (request_fd, *descriptors):
            os.close(descriptor)

    def _fork(self, request: dict[str, Any], report: socket, channel: socket, streams: launch.Streams) -> None:
        init: int | None = None
        if request["backend"] == "namespaces":
            namespaces.unshare_pids()
        try:
            if request["backend"] == "namespaces":
                init = os.pidfd_open(os.posix_spawn(_INIT[0], _INIT, {}, setsid=True))
                wire.send(report, {"step": "init"}, [init])
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                launch.forked(request, report, channel, streams, call)
        except BaseException:
            _end(init)
            raise
        finally:
            if request["backend"] == "namespaces":
                namespaces.enter_pids(self.own_pids)
        self.running[pid] = (report, init)

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid not in self.running:
                continue  # an init
            report, init = self.running.pop(pid)
            if init is not None:
                with contextlib.suppress(OSError):
                    wire.send(report, {"step": "exit", "status": os.waitstatus_to_exitcode(status)})
                _end(init)
            report.close()


def main(modules: list[str], descriptor: int) -> None:
    os.set_inheritable(descriptor, False)
    keeper = socket(fileno=descriptor)
    try:
        for module in modules:
            importlib.import_module(module)
    except BaseException as error:
        wire.send(keeper, {"event": "refused", "words": f"{type(error).__name__}: {error}"[:2000]})
        return
    gc.collect()
    gc.freeze()  # a forked box shares these pages for good
    libc.prctl(libc.PR_SET_CHILD_SUBREAPER, 1)  # without namespaces, what an init leaves comes here
    server = Server(keeper, _threads())
    wire.send(keeper, {"event": "ready"})
    server.serve()


def _end(init: int | None) -> None:
    """Kill the init of a box, and with it everything in its pid namespace."""
    if init is not None:
        with contextlib.suppress(OSError):
            libc.send_signal(init, signal.SIGKILL)
        os.close(init)


def call(request: dict[str, Any]) -> None:
    """Become the called function. Everything that could tell it of the server, or of another box, is gone."""
    libc.close_all_but([])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    random.seed()
    if (numpy := sys.modules.get("numpy")) is not None:
        numpy.random.seed()
    sys.argv = [request["entry"]]
    status = _status_of(request["entry"], json.loads(request["arguments"]))
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue
    os._exit(status)


def _status_of(entry: str, arguments: list[Any] | dict[str, Any]) -> int:
    """The exit code of a call, as Python's own for a script."""
    module, _, name = entry.partition(":")
    try:
        function = operator.attrgetter(name)(importlib.import_module(module))
        if isinstance(arguments, dict):
            function(**arguments)
        else:
            function(*arguments)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return (end.code or 0) & 0xFF
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def _threads() -> int:
    return len(os.listdir("/proc/self/task"))  # noqa: PTH208


if __name__ == "__main__":
    main(sys.argv[1:-1], int(sys.argv[-1]))

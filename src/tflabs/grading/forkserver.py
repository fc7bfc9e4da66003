"""A process that has imported what a lab needs and forks a Jupyter kernel on request, in milliseconds.

Run as `python -m tflabs.grading.forkserver SOCKET MODULE…`. It never runs an operation: TensorFlow starts its threads
with the first one, and a process forked after that would wait for threads that it does not have.

A client connects to the Unix socket and sends one line of JSON: `connection_file`, `cwd`, `environment`, `arguments`.
The answer is a line with the kernel's `pid`, and a second one with its exit `status` once it ended. A client that hangs
up ends its kernel. The server ends when its standard input does, that is, with the process that started it.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import random
import selectors
import signal
import socket
import sys
from typing import Any


def main(path: str, modules: list[str]) -> None:
    for module in ("ipykernel.kernelapp", "ipykernel.ipkernel", "IPython", *modules):
        importlib.import_module(module)
    gc.collect()
    gc.freeze()  # a forked kernel shares these pages for good
    threads = _threads()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(64)
        print("ready", flush=True)
        _serve(listener, threads)


def _serve(listener: socket.socket, threads: int) -> None:
    clients: dict[int, socket.socket] = {}
    with selectors.DefaultSelector() as selector:
        selector.register(listener, selectors.EVENT_READ)
        selector.register(sys.stdin.fileno(), selectors.EVENT_READ)
        wake = _wake_on_child()
        selector.register(wake, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is listener:
                    connection, _ = listener.accept()
                    pid = _fork(connection, threads, listener, clients)
                    clients[pid] = connection
                    selector.register(connection, selectors.EVENT_READ, pid)
                elif key.fileobj == wake:
                    os.read(wake, 4096)
                    _reap(clients, selector)
                elif key.fileobj == sys.stdin.fileno():
                    if not os.read(sys.stdin.fileno(), 4096):
                        _kill(list(clients))
                        return
                elif key.data in clients:  # the client hung up; a kernel that was reaped just now is not in there
                    selector.unregister(key.fileobj)
                    _kill([key.data])


def _fork(connection: socket.socket, threads: int, listener: socket.socket, clients: dict[int, socket.socket]) -> int:
    request = json.loads(connection.makefile().readline())
    if _threads() > threads:  # fewer is well: OpenBLAS ends its own thread before a fork
        raise RuntimeError("the fork server has run an operation; a kernel forked from it would hang")
    pid = os.fork()
    if pid == 0:
        try:
            for inherited in (listener, connection, *clients.values()):
                inherited.close()
            _become_kernel(request)
        finally:
            os._exit(1)
    connection.sendall(json.dumps({"pid": pid}).encode() + b"\n")
    return pid


def _become_kernel(request: dict[str, Any]) -> None:
    os.setsid()
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    # Standard streams stay what they are: the parent's /dev/null; ipykernel puts its own in their place.
    os.closerange(3, 4096)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    random.seed()
    if (numpy := sys.modules.get("numpy")) is not None:
        numpy.random.seed()
    from ipykernel.kernelapp import IPKernelApp

    sys.argv = ["ipykernel_launcher"]
    sys.path[0] = ""
    IPKernelApp.launch_instance(argv=["-f", request["connection_file"], *request["arguments"]])
    os._exit(0)


def _wake_on_child() -> int:
    read, write = os.pipe()
    os.set_blocking(write, False)
    signal.set_wakeup_fd(write)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the command that started the server
    return read


def _reap(clients: dict[int, socket.socket], selector: selectors.BaseSelector) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        connection = clients.pop(pid, None)
        if connection is not None:
            with contextlib.suppress(KeyError):  # unregistered when its client hung up
                selector.unregister(connection)
            with contextlib.suppress(OSError):
                connection.sendall(json.dumps({"status": os.waitstatus_to_exitcode(status)}).encode() + b"\n")
            connection.close()


def _kill(pids: list[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)


def _threads() -> int:
    return len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 0  # noqa: PTH112, PTH208


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])

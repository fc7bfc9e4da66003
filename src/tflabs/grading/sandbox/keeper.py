# ruff: noqa: PTH120, PTH123
# The keeper imports this module and starts for every box; pathlib takes too long to import.
"""The process that starts boxes, watches over them and ends them.

One keeper belongs to one cold box, or to one fork server and the boxes forked from it. It runs on the host with its
driver's rights, holds no thread, and ends everything it keeps when its driver closes the link or dies, however it dies.
It is started for every cold box: see `libc` for what may be imported.
"""

from __future__ import annotations

import os
import select
import sys
import time
from _socket import socket

from tflabs.grading.sandbox import launch, libc, namespaces, usage, wire
from tflabs.grading.sandbox.quiet import suppress
from tflabs.grading.sandbox.removal import remove_tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

TICK = 0.05  # seconds between two looks at what the boxes use
_TICKS_PER_WALK = 10  # ... and at the folders of boxes whose disk is not bounded by a file system of its own
_PATIENCE = 5.0  # seconds in which a box that was told to end must have ended
_FILES_PER_BOX = 8  # times the limit of one process: what a box may hold open at once (buffers of sockets are memory)


class Kept:
    """A box from the keeper's side."""

    def __init__(self, request: dict[str, Any], driver: socket, report: socket, channel: socket) -> None:
        self.request, self.driver = request, driver
        self.report = report  # to its monitor and its init
        self.channel = channel  # to its payload, until that runs
        self.monitor_fd: int | None = None
        self.init_pid = self.payload_pid = 0
        self.init_fd: int | None = None
        self.verdict: tuple[str, str] | None = None  # why it is being ended
        self.failure: str | None = None  # why it could not be set up
        self.status: int | None = None
        self.running = False
        self.began = time.monotonic()
        self.told_to_end: float | None = None
        self.ended = False


class Keeper:
    def __init__(self, link: socket) -> None:
        self.link = link
        self.boxes: list[Kept] = []
        self.server: socket | None = None  # to the fork server
        self.server_box: Kept | None = None
        self.ticks = 0

    def serve(self) -> None:
        driver = os.getppid()
        driver_fd = os.pidfd_open(driver)
        if os.getppid() != driver:
            return
        while self._attend({driver_fd: lambda: False, self.link.fileno(): self._on_link}):
            pass
        for box in self.boxes:
            self._end(box, "killed", "its driver let it go")
        deadline = time.monotonic() + 2 * _PATIENCE
        while not all(box.ended for box in self.boxes) and time.monotonic() < deadline:
            self._attend({})
        for box in self.boxes:
            _remove_folder(box)

    def _attend(self, own: dict[int, Callable[[], bool]]) -> bool:
        """Wait for one thing to happen, or for the next tick; whether the keeper goes on."""
        # In this order: what a box said comes before what became of it.
        actions: dict[int, Callable[[], bool]] = {}
        for box in self.boxes:
            actions |= self._actions(box)
        if self.server is not None:
            actions[self.server.fileno()] = self._on_server
        actions |= own
        poll = select.poll()
        for descriptor in actions:
            poll.register(descriptor, select.POLLIN)
        watched = any(not box.ended for box in self.boxes)
        ready = {descriptor for descriptor, _ in poll.poll(1000 * TICK if watched else None)}
        for descriptor, action in actions.items():
            if descriptor in ready:
                return action()  # an action may close descriptors: look anew
        self._tick()
        return True

    def _actions(self, box: Kept) -> dict[int, Callable[[], bool]]:
        actions: dict[int, Callable[[], bool]] = {}
        if box.ended:
            return {box.driver.fileno(): lambda: self._on_driver(box)}
        if box.channel.fileno() >= 0:
            actions[box.channel.fileno()] = lambda: self._on_channel(box)
        if box.report.fileno() >= 0:
            actions[box.report.fileno()] = lambda: self._on_report(box)
        if box.init_fd is not None:
            actions[box.init_fd] = lambda: self._on_end(box)
        if box.driver.fileno() >= 0:
            actions[box.driver.fileno()] = lambda: self._on_driver(box)
        return actions

    def _on_link(self) -> bool:
        message = wire.receive(self.link)
        if message is None:
            return False
        request_fd, driver_fd, *streams = message.descriptors
        request = wire.read_request(request_fd)
        (report, far_report), (channel, far_channel) = wire.pair(), wire.pair()
        wire.identify_senders(report)
        wire.identify_senders(channel)
        box = Kept(request, socket(fileno=driver_fd), report, channel)
        self.boxes.append(box)
        if request["kind"] != "fork":
            self._start(box, far_report, far_channel, streams_of(message.fields, streams))
        elif self.server is not None:  # else the far ends close, and the box ends with them
            with suppress(OSError):
                wire.send(
                    self.server, message.fields, [request_fd, far_report.fileno(), far_channel.fileno(), *streams]
                )
        far_report.close()
        far_channel.close()
        for descriptor in (request_fd, *streams):
            os.close(descriptor)
        return True

    def _start(self, box: Kept, report: socket, channel: socket, streams: launch.Streams) -> None:
        servers_end = None
        if box.request["kind"] == "server":
            self.server, servers_end = wire.pair()
            self.server_box = box
            box.request["keep"] = [servers_end.fileno()]
            box.request["command"].append(str(servers_end.fileno()))
        if os.fork() == 0:
            launch.cold(box.request, report, channel, streams)
        if servers_end is not None:
            servers_end.close()

    def _on_server(self) -> bool:
        assert self.server is not None and self.server_box is not None
        message = wire.receive(self.server)
        if message is None:
            self.server.close()
            self.server = None
        else:
            _tell(self.server_box, message.fields)
        return True

    def _on_driver(self, box: Kept) -> bool:
        message = wire.receive(box.driver)
        self._end(box, "killed", "its driver ended it")
        if message is None:
            box.driver.close()
            if box.ended:
                self._forget(box)
        return True

    def _forget(self, box: Kept) -> None:
        """Its driver let go of a box that has ended: nobody reads its folder any more."""
        self.boxes.remove(box)
        _remove_folder(box)

    def _on_report(self, box: Kept) -> bool:
        message = wire.receive(box.report)
        if message is None:
            box.report.close()
            if box.init_fd is None:
                self._finish(box)
            return True
        step = message.fields["step"]
        if step == "monitor":
            box.monitor_fd = os.pidfd_open(message.pid)
            self._write_maps(box, message.pid)
        elif step == "orphan":
            _await_process(box.monitor_fd)
        elif step == "init":
            # The init that a fork server started cannot speak for itself: it comes as a descriptor.
            box.init_fd = message.descriptors[0] if message.descriptors else os.pidfd_open(message.pid)
            box.init_pid = _pid_of(box.init_fd)
        elif step == "failed":
            box.failure = box.failure or message.fields["words"]
        elif step == "exit":
            box.status = message.fields["status"]
        if step in ("monitor", "orphan"):
            with suppress(OSError):
                wire.send(box.report, {})
        return True

    def _write_maps(self, box: Kept, pid: int) -> None:
        outer = box.request["outer"]
        server = box.request["kind"] == "server"
        inside = 0 if server else namespaces.LEARNER
        if outer is None:
            namespaces.write_own_id(str(pid), inside, os.getuid(), os.getgid())
            return
        kernels = [(namespaces.FIRST_SLOT, outer[0] + 1, outer[1] - 1)] if server else []
        namespaces.write_id_maps(pid, [(inside, outer[0], 1), *kernels])

    def _on_channel(self, box: Kept) -> bool:
        message = wire.receive(box.channel)
        if message is None:
            box.channel.close()
        elif message.fields["step"] == "failed":
            box.failure = box.failure or message.fields["words"]
        else:
            (folder,) = message.descriptors
            process = os.pidfd_open(message.pid)
            box.payload_pid = message.pid
            box.running, box.began = True, time.monotonic()
            _tell(box, {"event": "started", "pid": message.pid}, [folder, process])
            os.close(folder)
            os.close(process)
            with suppress(OSError):
                wire.send(box.channel, {})
        return True

    def _on_end(self, box: Kept) -> bool:
        """The init has ended. A pid namespace's init ends after everything else in it did."""
        for end, handle in ((box.channel, self._on_channel), (box.report, self._on_report)):
            while end.fileno() >= 0 and _readable(end):
                handle(box)
        self._finish(box)
        return True

    def _finish(self, box: Kept) -> None:
        box.ended = True
        if box.init_fd is not None:
            os.close(box.init_fd)
        _reap()
        if box.request["backend"] != "namespaces" and box.request["kind"] != "fork":
            _sweep_orphans()
        kind, words = box.verdict or _verdict(box)
        _tell(box, {"event": "ended", "verdict": kind, "words": words, "status": box.status})
        if box.driver.fileno() < 0:
            self._forget(box)

    def _end(self, box: Kept, kind: str, words: str) -> None:
        if box.ended or box.verdict is not None:
            return
        box.verdict = (kind, words)
        box.told_to_end = time.monotonic()
        if box.request["backend"] == "namespaces" and box.init_fd is not None:
            with suppress(ProcessLookupError):
                libc.send_signal(box.init_fd, libc.SIGKILL)
        else:
            box.report.close()  # the init sees it and ends everything
            if box.init_fd is None:
                self._finish(box)

    def _tick(self) -> None:
        self.ticks += 1
        _reap()
        for box in self.boxes:
            if box.ended:
                continue
            if box.told_to_end is not None and time.monotonic() - box.told_to_end > _PATIENCE and box.init_fd:
                with suppress(ProcessLookupError):
                    libc.send_signal(box.init_fd, libc.SIGKILL)
            if box.running and box.verdict is None and box.request["kind"] != "server":
                over = _over_limit(box, walk=self.ticks % _TICKS_PER_WALK == 0)
                if over is not None:
                    self._end(box, *over)


def _over_limit(box: Kept, walk: bool) -> tuple[str, str] | None:
    """Which limit of the whole box is exceeded, and how."""
    limits = box.request["limits"]
    if time.monotonic() - box.began > limits["wall_seconds"]:
        return "wall", f"it ran longer than {limits['wall_seconds']:g} seconds"
    used = usage.measure(box.init_pid, box.payload_pid, limits["memory_mib"] << 10)
    if used.memory_kib > limits["memory_mib"] << 10:
        return "memory", (
            f"its {used.processes} processes held {used.memory_kib >> 10} MiB; the limit is {limits['memory_mib']} MiB"
        )
    if used.cpu_seconds > limits["cpu_seconds"]:
        return "cpu", f"it used {used.cpu_seconds:.0f} seconds of CPU; the limit is {limits['cpu_seconds']:g}"
    most = _FILES_PER_BOX * limits["open_files"]
    if used.descriptors > most:
        return "files", f"it held {used.descriptors} descriptors open; the limit is {most}"
    if walk and box.request["folder"] is not None:
        return _over_disk(os.path.dirname(box.request["folder"]), limits)
    return None


def _over_disk(area: str, limits: dict[str, Any]) -> tuple[str, str] | None:
    try:
        size, files = usage.written(area)
    except RecursionError:
        return "disk", "its folders lie too deep in each other"
    if size > limits["disk_mib"] << 20 or files > limits["inodes"]:
        return "disk", f"it wrote {size >> 20} MiB in {files} files; the limit is {limits['disk_mib']} MiB"
    return None


def _verdict(box: Kept) -> tuple[str, str]:
    if box.failure is not None:
        return "failed", box.failure
    if box.status is None:
        return "lost", "it ended without a word: the machine may have run out of memory"
    if box.status < 0:
        return f"signal {-box.status}", f"signal {-box.status} ended it"
    return f"exit {box.status}", f"it ended with exit code {box.status}"


def streams_of(fields: dict[str, Any], descriptors: list[int]) -> launch.Streams:
    """The descriptors that came with a message whose fields say which of the streams they are."""
    rest = iter(descriptors)
    return launch.Streams(*(next(rest) if fields[name] else None for name in ("input", "output", "error")))


def _tell(box: Kept, fields: dict[str, Any], descriptors: list[int] | None = None) -> None:
    with suppress(OSError):  # the driver is gone, or does not read
        wire.send(box.driver, fields, descriptors or [])


def _remove_folder(box: Kept) -> None:
    if box.request["folder"] is not None:
        with suppress(OSError):  # the other boxes go on; the driver tries once more
            remove_tree(os.path.dirname(box.request["folder"]))


def _pid_of(process: int) -> int:
    """The pid, as seen here, of the process that a pidfd stands for; -1 if it has ended."""
    with open(f"/proc/self/fdinfo/{process}") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Pid:"))


def _readable(end: socket) -> bool:
    poll = select.poll()
    poll.register(end.fileno(), select.POLLIN)
    return bool(poll.poll(0))


def _await_process(process: int | None) -> None:
    if process is not None:
        poll = select.poll()
        poll.register(process, select.POLLIN)
        poll.poll(1000 * _PATIENCE)
        os.close(process)


def _reap() -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _sweep_orphans() -> None:
    """What a box without a pid namespace left when its init was killed; this keeper has no other children."""
    while orphans := launch.children(os.getpid()):
        for pid in orphans:
            with suppress(ProcessLookupError):
                os.kill(pid, libc.SIGKILL)
        with suppress(ChildProcessError):
            os.wait()


def main() -> None:
    libc.prctl(libc.PR_SET_CHILD_SUBREAPER, 1)
    Keeper(socket(fileno=int(sys.argv[1]))).serve()

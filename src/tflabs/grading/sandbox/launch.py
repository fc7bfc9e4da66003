# ruff: noqa: PTH120, PTH123, PTH208
# The keeper imports this module and starts for every box; pathlib takes too long to import.
"""How the processes of a box come to be. Every function here runs in a child that never returns to its caller's code.

    monitor   leaves the host's namespaces and ends as soon as it forked          (backend "namespaces")
    init      process 1 of the box, or its root in the tree: furnishes it, waits for the payload, then ends all the rest
    payload   gives up every right and becomes the learner's program

In a box that the fork server made, process 1 only holds the pid namespace: see `server`.

The monitor and the init report to the keeper over one socket, the payload over another, its channel. Some reports are
answered: the process goes on when the answer comes, and ends if the keeper is gone.
"""

from __future__ import annotations

import os
import resource
import select

from tflabs.grading.sandbox import filesystem, landlock, libc, namespaces, seccomp, wire
from tflabs.grading.sandbox.quiet import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket
    from collections.abc import Callable
    from typing import Any

    Request = dict[str, Any]
    Payload = Callable[[Request], None]

_MIB = 1 << 20
_PROC_READ = ("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/sys", "/proc/self")
_ETC_READ = ("/etc/passwd", "/etc/group", "/etc/hosts", "/etc/nsswitch.conf")


class Streams:
    """Descriptors that become the payload's standard input, output and error; None is /dev/null."""

    __slots__ = ("error", "input", "output")

    def __init__(self, input: int | None, output: int | None, error: int | None) -> None:
        self.input, self.output, self.error = input, output, error

    def open(self) -> list[int]:
        return [fd for fd in (self.input, self.output, self.error) if fd is not None]


def cold(request: Request, report: socket, channel: socket, streams: Streams) -> None:
    """A box for a command, from the keeper."""
    _reporting(report, lambda: _cold(request, report, channel, streams))


def forked(request: Request, report: socket, channel: socket, streams: Streams, payload: Payload) -> None:
    """A box for a call in a copy of this process, from the fork server."""
    _reporting(report, lambda: _forked(request, report, channel, streams, payload))


def _reporting(report: socket, work: Callable[[], None]) -> None:
    try:
        work()
    except BaseException as error:
        with suppress(OSError):
            wire.send(report, {"step": "failed", "words": f"{type(error).__name__}: {error}"[:2000]})
    os._exit(126)


def _cold(request: Request, report: socket, channel: socket, streams: Streams) -> None:
    libc.close_all_but([report.fileno(), channel.fileno(), *streams.open(), *request["keep"]])
    os.setsid()
    if request["backend"] != "namespaces":
        if request["outer"] is not None:
            os.setgroups([])
            namespaces.become(request["outer"][0])
        _init(request, report, channel, streams, _execute)
    paths = filesystem.visible_paths(request["readable"])
    sources = paths
    if request["outer"] is not None:
        os.setgroups([])
        namespaces.own_mounts()
        sources = filesystem.stage(paths)
    namespaces.unshare_all()
    _ask(report, {"step": "monitor"})  # the keeper, outside, writes the namespace's users and groups now
    if os.fork() == 0:
        # Answered when the monitor is gone: the parent whose death is to end this process is the keeper then.
        _ask(report, {"step": "orphan"})
        libc.prctl(libc.PR_SET_PDEATHSIG, libc.SIGKILL)
        if request["outer"] is not None:
            namespaces.become(0 if request["kind"] == "server" else namespaces.LEARNER)
        filesystem.enter_root(paths, sources)
        _init(request, report, channel, streams, _execute)
    os._exit(0)


def _forked(request: Request, report: socket, channel: socket, streams: Streams, payload: Payload) -> None:
    """In a child of the fork server, already in a pid namespace of its own, with the server's rights in the outer box.

    It becomes the payload itself: each further fork of a process that has imported TensorFlow takes as long as all of
    this.
    """
    libc.close_all_but([report.fileno(), channel.fileno(), *streams.open()])
    if request["backend"] != "namespaces":
        os.setsid()
        _init(request, report, channel, streams, payload)
    namespaces.own_mounts()
    filesystem.mount_proc()
    _bound_tasks(request)
    if request["slot"] is not None:
        os.setgroups([])
        namespaces.become(namespaces.FIRST_SLOT + request["slot"])
    user, group = os.getuid(), os.getgid()
    namespaces.unshare_all_but_pids()
    namespaces.write_own_id("self", namespaces.LEARNER, user, group)
    _furnish(request)
    namespaces.forbid_namespaces()
    filesystem.close_settings()
    filesystem.place(filesystem.WORK, request["files"])
    report.close()
    _payload(request, channel, streams, payload)


def _init(request: Request, report: socket, channel: socket, streams: Streams, payload: Payload) -> None:
    wire.send(report, {"step": "init"})
    contained = request["backend"] == "namespaces"
    if contained:
        os.setsid()
        _furnish(request)
        if request["kind"] != "server":
            _bound_tasks(request)
            namespaces.forbid_namespaces()
            filesystem.close_settings()
    else:
        libc.prctl(libc.PR_SET_CHILD_SUBREAPER, 1)
    sweep_all = os.getpid() == 1 if contained else _scoped(request)
    filesystem.place(request["folder"] or filesystem.WORK, request["files"])
    child = os.fork()
    if child == 0:
        report.close()  # two readers of one socket would take each other's messages
        _reporting(channel, lambda: _payload(request, channel, streams, payload))
    channel.close()
    for descriptor in {*streams.open(), *request["keep"]}:
        os.close(descriptor)
    # The payload has the same user; without this it could write into /proc/1/mem.
    libc.prctl(libc.PR_SET_DUMPABLE, 0)
    if contained:
        libc.drop_capabilities()
    status = _await(child, report)
    if status is not None:
        with suppress(OSError):
            wire.send(report, {"step": "exit", "status": status})
    _sweep(sweep_all)
    os._exit(0)


def _furnish(request: Request) -> None:
    """Inside new namespaces, below the root folder: what needs their capabilities."""
    limits = request["limits"]
    filesystem.add_area(limits["disk_mib"], limits["inodes"], request["readable"])
    namespaces.loopback_up()
    libc.set_host_name("sandbox")


def _bound_tasks(request: Request) -> None:
    with suppress(OSError):  # an older kernel; RLIMIT_NPROC bites in a user namespace
        namespaces.bound_tasks(request["limits"]["processes"] + 64)


def _scoped(request: Request) -> bool:
    """Confine this process' signals to its descendants, where the kernel can; whether `kill(-1)` is safe then.

    It is only called safe when it was seen to be: with no rights as root, and with the parent out of reach.
    """
    if request["backend"] != "landlock" or landlock.version() < landlock.SCOPES_SINCE:
        return False
    landlock.scope()
    try:
        os.kill(os.getppid(), 0)
    except PermissionError:
        return True
    return False


def _await(child: int, report: socket) -> int | None:
    """The payload's exit code (negative: a signal), while orphans are reaped; None if the keeper hung up before."""
    poll = select.poll()
    poll.register(report.fileno(), select.POLLIN)
    poll.register(os.pidfd_open(child), select.POLLIN)
    while True:
        ready = {descriptor for descriptor, _ in poll.poll(200)}
        if report.fileno() in ready:
            return None
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == child:
                return os.waitstatus_to_exitcode(status)
            if pid == 0:
                break


def _sweep(all_at_once: bool) -> None:
    """Kill every process below this one, and reap them."""
    while True:
        if all_at_once:
            with suppress(ProcessLookupError):
                os.kill(-1, libc.SIGKILL)
        else:
            for pid in children(os.getpid()):
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, libc.SIGKILL)
        try:
            os.wait()
        except ChildProcessError:
            return


def children(pid: int) -> list[int]:
    """The children of all threads of a process."""
    found: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError), open(f"/proc/{pid}/task/{thread}/children") as file:
                found += map(int, file.read().split())
    return found


def _payload(request: Request, channel: socket, streams: Streams, payload: Payload) -> None:
    folder = request["folder"] or filesystem.WORK
    os.setsid()
    _redirect(streams)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    libc.prctl(libc.PR_SET_DUMPABLE, 1)
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")
    os.chdir(folder)
    os.umask(0o077)
    if request["kind"] != "server":
        _restrict(request, folder)
    _ask(channel, {"step": "payload"}, [descriptor])
    os.close(descriptor)
    os.environ.clear()
    os.environ.update(request["environment"])
    payload(request)


def _restrict(request: Request, folder: str) -> None:
    """Give up, for good, what the learner's program must not have."""
    _bound(request["limits"])
    backend = request["backend"]
    if backend == "none":
        return
    libc.drop_capabilities()
    if backend == "landlock":
        landlock.restrict(_rules(request["readable"], request["listable"], os.path.dirname(folder)))
    network = request["network"] if backend == "namespaces" else "none"
    seccomp.apply(seccomp.program(network, shared_user=backend == "landlock" and request["outer"] is None))


def _redirect(streams: Streams) -> None:
    nothing = os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)
    for source, target in ((streams.input, 0), (streams.output, 1), (streams.error, 2)):
        os.dup2(nothing if source is None else source, target)


def _execute(request: Request) -> None:
    keep = request["keep"]
    libc.close_all_on_exec()
    for descriptor in keep:
        os.set_inheritable(descriptor, True)
    for signal in (libc.SIGPIPE, libc.SIGINT, libc.SIGCHLD):
        libc.default_signal(signal)
    command = request["command"]
    os.execvpe(command[0], command, request["environment"])


def _bound(limits: dict[str, int]) -> None:
    """Limits of each process. Memory of the tree, its time and what it writes are bounded elsewhere."""
    data = limits["data_mib"] * _MIB
    bounds = {
        resource.RLIMIT_DATA: data,
        # Address space costs page tables even where nothing is written; a bound far above any need.
        resource.RLIMIT_AS: data + 32768 * _MIB,
        resource.RLIMIT_FSIZE: limits["file_mib"] * _MIB,
        resource.RLIMIT_NOFILE: limits["open_files"],
        resource.RLIMIT_NPROC: limits["processes"],
        resource.RLIMIT_CPU: int(limits["cpu_seconds"]) + 1,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 8 * _MIB,
        resource.RLIMIT_MSGQUEUE: 0,
    }
    for kind, value in bounds.items():
        _, hard = resource.getrlimit(kind)
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))


def _rules(readable: list[str], listable: list[str], area: str) -> list[tuple[str, int]]:
    writable_device = landlock.READ | landlock.WRITE
    return [
        *((path, landlock.READ_ONLY) for path in (*filesystem.SYSTEM, *filesystem.SYSTEM_FILES, *readable)),
        *((path, landlock.READ | landlock.LIST) for path in (*_PROC_READ, *_ETC_READ)),
        *((path, landlock.LIST) for path in listable),
        *((path, writable_device) for path in filesystem.DEVICES),
        (area, landlock.READ_WRITE),
    ]


def _ask(report: socket, fields: dict[str, Any], descriptors: list[int] | None = None) -> None:
    """Report a step and wait to be let on."""
    wire.send(report, fields, descriptors or [])
    if wire.receive(report) is None:
        os._exit(125)

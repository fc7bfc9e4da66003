"""What a process does to get, and to furnish, namespaces of its own."""

from __future__ import annotations

import fcntl
import os
import struct
from _socket import socket

from tflabs.grading.sandbox import libc

# <linux/sched.h>
_NEWNS, _NEWCGROUP, _NEWUTS, _NEWIPC = 0x20000, 0x2000000, 0x4000000, 0x8000000
_NEWUSER, _NEWPID, _NEWNET = 0x10000000, 0x20000000, 0x40000000

LEARNER = 1000  # user and group inside a box
FIRST_SLOT = 2001  # where a fork server run by root has the users of its kernels


def own_mounts() -> None:
    """A mount namespace, as root."""
    libc.unshare(_NEWNS)
    libc.mount("none", "/", None, libc.MS_REC | libc.MS_PRIVATE)


def unshare_all() -> None:
    """User, mount, network, IPC, host name and cgroup namespaces; the pid namespace is that of the next child."""
    libc.unshare(_NEWUSER | _NEWNS | _NEWPID | _NEWNET | _NEWIPC | _NEWUTS | _NEWCGROUP)


def unshare_all_but_pids() -> None:
    """As `unshare_all`, for a process that is in a pid namespace of its own already."""
    libc.unshare(_NEWUSER | _NEWNS | _NEWNET | _NEWIPC | _NEWUTS | _NEWCGROUP)


def unshare_pids() -> None:
    """The next children of this process get a new pid namespace, of which the first one is the init."""
    libc.unshare(_NEWPID)


def enter_pids(namespace: int) -> None:
    """The next children of this process are born in this pid namespace, given by a descriptor."""
    libc.set_namespace(namespace, _NEWPID)


def write_id_maps(pid: int, maps: list[tuple[int, int, int]]) -> None:
    """As root: give the user namespace of process `pid` its users, and groups of the same numbers.

    `maps` are (first inside, first outside, count).
    """
    text = "".join(f"{inside} {outside} {count}\n" for inside, outside, count in maps)
    _write(f"/proc/{pid}/uid_map", text)
    _write(f"/proc/{pid}/gid_map", text)


def write_own_id(process: str, inside: int, user: int, group: int) -> None:
    """Without rights: give the user namespace of a process (or "self") one user and one group, those of the writer.

    They must have been read before the namespace was entered: from inside they are nobody's.
    """
    _write(f"/proc/{process}/setgroups", "deny")
    _write(f"/proc/{process}/uid_map", f"{inside} {user} 1\n")
    _write(f"/proc/{process}/gid_map", f"{inside} {group} 1\n")


def become(user: int) -> None:
    """Take a user and the group of the same number. Capabilities stay, unless the present user is the namespace's 0."""
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    libc.prctl(libc.PR_SET_DUMPABLE, 1)  # a change of user cleared it, and /proc/self would be root's


def loopback_up() -> None:
    siocsifflags, up_running = 0x8914, 0x41
    interface = socket()
    fcntl.ioctl(interface.fileno(), siocsifflags, struct.pack("16sh14x", b"lo", up_running))
    interface.close()


def forbid_namespaces() -> None:
    """No further user namespace below this one, and so, without capabilities, none of any kind."""
    _write("/proc/sys/user/max_user_namespaces", "0")


def bound_tasks(count: int) -> None:
    """Bound the pids of this pid namespace (Linux 6.14; before that the bound is the host's and not ours to write).

    Raises:
        OSError: it cannot be bounded so; RLIMIT_NPROC remains.
    """
    _write("/proc/sys/kernel/pid_max", str(max(301, count)))  # the kernel's least value: RESERVED_PIDS + 1


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)

"""The Linux calls that Python's standard library lacks. Each raises OSError as `os` does.

Imported by the keeper, so only what starts fast is imported here: no typing, enum, dataclasses, socket or signal.
"""

import ctypes
import os

SIGINT, SIGKILL, SIGPIPE, SIGCHLD = 2, 9, 13, 17  # the same on x86_64 and aarch64

# <linux/mount.h>
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 8, 0x1000, 0x4000, 0x40000
MNT_DETACH = 2
ATTR_RDONLY, ATTR_NOSUID, ATTR_NODEV, ATTR_NOEXEC = 1, 2, 4, 8
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000

# <linux/prctl.h>
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP = 1, 4, 22, 24
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 36, 38, 47, 4

# Numbers of calls that glibc does not wrap everywhere. From 424 on they are the same on every architecture.
_PIDFD_SEND_SIGNAL, _CLOSE_RANGE, _OPENAT2, _MOUNT_SETATTR = 424, 436, 437, 442
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_CLOSE_RANGE_CLOEXEC = 4

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def syscall(number: int, *arguments: object, what: str) -> int:
    """A system call by its number; integers are passed as 64 bits."""
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return _checked(_libc.syscall(ctypes.c_long(number), *wide), what)


def unshare(flags: int) -> None:
    _checked(_libc.unshare(flags), "unshare")


def set_namespace(descriptor: int, kind: int) -> None:
    _checked(_libc.setns(descriptor, kind), "setns")


def mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    encoded = [None if text is None else os.fsencode(text) for text in (source, target, kind)]
    options = None if data is None else data.encode()
    _checked(_libc.mount(*encoded, ctypes.c_ulong(flags), options), f"mount {kind or source or ''} on {target}")


def unmount(target: str) -> None:
    """Detach the mount at `target` and everything below it."""
    _checked(_libc.umount2(os.fsencode(target), MNT_DETACH), f"umount {target}")


def pivot_root(new: str, old: str) -> None:
    syscall(_PIVOT_ROOT[os.uname().machine], os.fsencode(new), os.fsencode(old), what="pivot_root")


def restrict_mount(target: str, attributes: int, recursive: bool = True) -> None:
    """Add attributes, such as ATTR_RDONLY, to a mount and to those below it (mount_setattr, Linux 5.12)."""
    request = (ctypes.c_uint64 * 4)(attributes, 0, 0, 0)
    flags = _AT_RECURSIVE if recursive else 0
    where = os.fsencode(target)
    what = f"mount_setattr {target}"
    syscall(_MOUNT_SETATTR, _AT_FDCWD, where, flags, ctypes.byref(request), ctypes.sizeof(request), what=what)


def prctl(option: int, argument: int = 0) -> None:
    zero = ctypes.c_ulong(0)
    _checked(_libc.prctl(option, ctypes.c_ulong(argument), zero, zero, zero), f"prctl {option}")


def set_seccomp_filter(program: bytes) -> None:
    """Install a classic BPF program, for this thread and what it starts. Needs no_new_privs."""

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))

    buffer = ctypes.create_string_buffer(program, len(program))
    described = Program(len(program) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    mode_filter, zero = 2, ctypes.c_ulong(0)
    _checked(
        _libc.prctl(PR_SET_SECCOMP, ctypes.c_ulong(mode_filter), ctypes.byref(described), zero, zero), "prctl seccomp"
    )


def drop_capabilities() -> None:
    """Empty all five sets of capabilities of this process; its user stays."""
    for capability in range(64):
        if _libc.prctl(PR_CAPBSET_DROP, ctypes.c_ulong(capability), 0, 0, 0) != 0:
            break  # the kernel's last capability has been passed, or there is no CAP_SETPCAP to drop with
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    version_3 = (ctypes.c_uint32 * 2)(0x20080522, 0)
    nothing = (ctypes.c_uint32 * 6)()
    _checked(_libc.capset(ctypes.byref(version_3), ctypes.byref(nothing)), "capset")


def set_host_name(name: str) -> None:
    encoded = name.encode()
    _checked(_libc.sethostname(encoded, len(encoded)), "sethostname")


def default_signal(number: int) -> None:
    """Give a signal its default action; Python ignores SIGPIPE, and what it executes would inherit that."""
    _libc.signal(number, None)


def send_signal(pidfd: int, number: int) -> None:
    """Signal the process that `pidfd` stands for; never another one that got its number later."""
    syscall(_PIDFD_SEND_SIGNAL, pidfd, number, None, 0, what="pidfd_send_signal")


def close_all_but(keep: list[int]) -> None:
    """Close every descriptor but 0, 1, 2 and those of `keep`."""
    first = 3
    for descriptor in sorted({fd for fd in keep if fd > 2}):
        if descriptor > first:
            syscall(_CLOSE_RANGE, first, descriptor - 1, 0, what="close_range")
        first = descriptor + 1
    syscall(_CLOSE_RANGE, first, 0x7FFFFFFF, 0, what="close_range")


def close_all_on_exec() -> None:
    syscall(_CLOSE_RANGE, 3, 0x7FFFFFFF, _CLOSE_RANGE_CLOEXEC, what="close_range")


def open_beneath(folder: int, name: str, flags: int) -> int:
    """openat2(2) that leaves neither `folder` nor its mount and follows no link of any kind."""
    no_xdev, no_magiclinks, no_symlinks, beneath = 1, 2, 4, 8
    how = (ctypes.c_uint64 * 3)(
        flags | os.O_CLOEXEC | os.O_NOFOLLOW, 0, no_xdev | no_magiclinks | no_symlinks | beneath
    )
    try:
        return syscall(
            _OPENAT2, folder, os.fsencode(name), ctypes.byref(how), ctypes.sizeof(how), what=f"openat2 {name!r}"
        )
    except ValueError as error:  # a zero byte in the name
        raise OSError(22, str(error)) from None

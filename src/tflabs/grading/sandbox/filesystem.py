# ruff: noqa: PTH102, PTH103, PTH110, PTH112, PTH114, PTH115, PTH118, PTH120, PTH211
# The keeper imports this module and starts for every box; pathlib takes too long to import.
"""The files of a box: a root folder of its own with what it may read, and one bounded file system to write in.

/usr, /bin, /lib…   the host's, read-only          /sandbox/work   the working folder
/etc, /dev          a few files                    /sandbox/home   HOME
/proc               the box's own processes        /tmp, /dev/shm  for everyone inside
the trees of the policy, at their own paths, read-only
"""

from __future__ import annotations

import os

from tflabs.grading.sandbox import libc
from tflabs.grading.sandbox.quiet import suppress

AREA = "/sandbox"
WORK, HOME = f"{AREA}/work", f"{AREA}/home"
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32")
SYSTEM_FILES = (
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/etc/fonts",
    "/etc/localtime",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
)
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")

_NEW_ROOT = "/tmp"  # exists everywhere, and what it covers is not wanted
_WRITTEN = {
    "/etc/passwd": "root:x:0:0:root:/:/bin/sh\nlearner:x:1000:1000:learner:/sandbox/home:/bin/sh\n",
    "/etc/group": "root:x:0:\nlearner:x:1000:\n",
    "/etc/hosts": "127.0.0.1 localhost\n::1 localhost\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}
_LINKS = {
    "/dev/fd": "/proc/self/fd",
    "/dev/stdin": "/proc/self/fd/0",
    "/dev/stdout": "/proc/self/fd/1",
    "/dev/stderr": "/proc/self/fd/2",
    "/dev/ptmx": "pts/ptmx",
}
_MOUNT_POINTS = ("/proc", "/tmp", "/dev/shm", "/dev/pts", AREA)
_PLAIN = libc.MS_NOSUID | libc.MS_NODEV
_READ_ONLY = libc.ATTR_RDONLY | libc.ATTR_NOSUID | libc.ATTR_NODEV


def visible_paths(readable: list[str]) -> list[str]:
    """The existing paths that a box shows, parents first, without those that lie below another one of them."""
    paths: list[str] = []
    for path in sorted({*SYSTEM, *SYSTEM_FILES, *DEVICES, *readable}):
        inside = any(path == above or path.startswith(f"{above}/") for above in paths)
        if not inside and os.path.exists(path) and not (path in SYSTEM and os.path.islink(path)):
            paths.append(path)
    return paths


def stage(paths: list[str]) -> list[str]:
    """As root, in a mount namespace of one's own: bind each path to where a user without rights can reach it.

    An interpreter may lie below a folder that only its owner may enter, such as the home of root.
    """
    opened = [os.open(path, os.O_PATH | os.O_CLOEXEC) for path in paths]
    libc.mount("tmpfs", _NEW_ROOT, "tmpfs", _PLAIN, "size=1m,nr_inodes=2048,mode=755")
    staged = []
    for index, descriptor in enumerate(opened):
        target = f"{_NEW_ROOT}/{index}"
        _bind(descriptor, target)
        os.close(descriptor)
        staged.append(target)
    return staged


def enter_root(paths: list[str], sources: list[str]) -> None:
    """In fresh user, mount and pid namespaces: make the root folder and enter it. The host's is gone then."""
    libc.mount("none", "/", None, libc.MS_REC | libc.MS_PRIVATE)
    opened = [os.open(source, os.O_PATH | os.O_CLOEXEC) for source in sources]
    libc.mount("tmpfs", _NEW_ROOT, "tmpfs", _PLAIN, "size=4m,nr_inodes=8192,mode=755")
    for descriptor, path in zip(opened, paths, strict=True):
        target = _NEW_ROOT + path
        os.makedirs(os.path.dirname(target), exist_ok=True)
        _bind(descriptor, target)
        os.close(descriptor)
        if path not in DEVICES:
            libc.restrict_mount(target, _READ_ONLY)
    _furnish()
    # A new proc may only be mounted while another one is visible (the kernel's mount_too_revealing).
    mount_proc(f"{_NEW_ROOT}/proc")
    os.chdir(_NEW_ROOT)
    libc.pivot_root(".", ".")  # the old root lies on top of the new one now
    libc.unmount(".")
    os.chdir("/")
    libc.restrict_mount("/", _READ_ONLY, recursive=False)


def add_area(disk_mib: int, inodes: int, readable: list[str]) -> None:
    """Mount the file system that a box writes to; all that can be written to in the box lies on it.

    What it covers of the readable trees, those below /tmp, is shown again.
    """
    covered = [path for path in visible_paths(readable) if path.startswith("/tmp/")]
    opened = [os.open(path, os.O_PATH | os.O_CLOEXEC) for path in covered]
    libc.mount("tmpfs", AREA, "tmpfs", _PLAIN, f"size={disk_mib}m,nr_inodes={inodes},mode=755")
    for name in ("work", "home", "tmp", "shm"):
        os.mkdir(f"{AREA}/{name}", 0o711 if name == "tmp" and covered else 0o700)  # the boxes of a server go through
    libc.mount(f"{AREA}/tmp", "/tmp", None, libc.MS_BIND)
    for descriptor, path in zip(opened, covered, strict=True):
        before = os.umask(0o022)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.umask(before)
        _bind(descriptor, path)
        os.close(descriptor)
    libc.mount(f"{AREA}/shm", "/dev/shm", None, libc.MS_BIND)
    # A few pseudo-terminals: IPython runs `!command` in one.
    libc.mount("devpts", "/dev/pts", "devpts", libc.MS_NOSUID | libc.MS_NOEXEC, "newinstance,ptmxmode=0666,max=32")


def mount_proc(target: str = "/proc") -> None:
    libc.mount("proc", target, "proc", _PLAIN | libc.MS_NOEXEC)


def close_settings() -> None:
    """Make /proc/sys read-only. A namespace's settings belong to a user, who may be the box's own user outside."""
    libc.mount("/proc/sys", "/proc/sys", None, libc.MS_BIND)
    libc.restrict_mount("/proc/sys", libc.ATTR_RDONLY | libc.ATTR_NOSUID | libc.ATTR_NODEV | libc.ATTR_NOEXEC)


def place(folder: str, files: list[tuple[str, bytes]]) -> None:
    """Write the given files below `folder`, which nobody else uses yet."""
    for name, content in files:
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        _write(path, content, 0o600)


def _furnish() -> None:
    for path in _MOUNT_POINTS:
        os.makedirs(_NEW_ROOT + path, exist_ok=True)
    for path in SYSTEM:
        if os.path.islink(path):
            os.symlink(os.readlink(path), _NEW_ROOT + path)
    os.makedirs(f"{_NEW_ROOT}/etc", exist_ok=True)
    for path, text in _WRITTEN.items():
        _write(_NEW_ROOT + path, text.encode())
    for path, target in _LINKS.items():
        with suppress(FileExistsError):
            os.symlink(target, _NEW_ROOT + path)


def _bind(descriptor: int, target: str) -> None:
    source = f"/proc/self/fd/{descriptor}"
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        _write(target, b"")
    libc.mount(source, target, None, libc.MS_BIND | libc.MS_REC)


def _write(path: str, content: bytes, mode: int = 0o644) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode)
    try:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    finally:
        os.close(descriptor)

"""The system calls that a box refuses, as a classic BPF program (seccomp(2), Linux's filter mode).

Refused: memory that the supervisor could not see (memfd, shared anonymous mappings, System V), everything that mounts,
makes namespaces or looks into other processes, the kernel's large unused interfaces (io_uring, bpf, userfaultfd, keys,
perf), address families that a network namespace does not separate (AF_VSOCK) and typing into a terminal (TIOCSTI).
"""

from __future__ import annotations

import os
import struct

from tflabs.grading.sandbox import libc

ALLOW, ERRNO, KILL = 0x7FFF0000, 0x00050000, 0x80000000
_EPERM, _ENOSYS, _EOPNOTSUPP, _EAFNOSUPPORT = 1, 38, 95, 97

LOAD, AND, IF_EQUAL, IF_AT_LEAST, IF_ANY_BIT, RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE = 0, 4  # offsets in struct seccomp_data
AUDIT_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32 = 0x40000000  # set in the numbers of the x32 calling convention, a second door to every call

# x86_64: arch/x86/entry/syscalls/syscall_64.tbl. aarch64: include/uapi/asm-generic/unistd.h.
_NUMBERS: dict[str, tuple[int | None, int | None]] = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "bpf": (321, 280),
    "chmod": (90, None),
    "chown": (92, None),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "clone": (56, 220),
    "clone3": (435, 435),
    "connect": (42, 203),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "finit_module": (313, 273),
    "fremovexattr": (199, 16),
    "fsconfig": (431, 431),
    "fsetxattr": (190, 7),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "futimesat": (261, None),
    "init_module": (175, 105),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioctl": (16, 29),
    "ioperm": (173, None),
    "iopl": (172, None),
    "ioprio_set": (251, 30),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "lchown": (94, None),
    "listmount": (458, 458),
    "lookup_dcookie": (212, 18),
    "lremovexattr": (198, 15),
    "lsetxattr": (189, 6),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "migrate_pages": (256, 238),
    "mknod": (133, None),
    "mknodat": (259, 33),
    "mmap": (9, 222),
    "modify_ldt": (154, None),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "move_pages": (279, 239),
    "mq_open": (240, 180),
    "msgget": (68, 186),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "open_tree_attr": (467, 467),
    "perf_event_open": (298, 241),
    "personality": (135, 92),
    "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41),
    "prlimit64": (302, 261),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "reboot": (169, 142),
    "removexattr": (197, 14),
    "removexattrat": (466, 466),
    "request_key": (249, 218),
    "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "semget": (64, 190),
    "setdomainname": (171, 162),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "setpriority": (141, 140),
    "settimeofday": (164, 170),
    "setxattr": (188, 5),
    "setxattrat": (463, 463),
    "shmget": (29, 194),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "statmount": (457, 457),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "uselib": (134, None),
    "utime": (132, None),
    "utimensat": (280, 88),
    "utimes": (235, None),
    "vhangup": (153, 58),
}
_REFUSED = (
    "acct",
    "add_key",
    "adjtimex",
    "bpf",
    "chroot",
    "clock_adjtime",
    "clock_settime",
    "delete_module",
    "fanotify_init",
    "finit_module",
    "fsconfig",
    "fsmount",
    "fsopen",
    "fspick",
    "init_module",
    "io_uring_enter",
    "io_uring_register",
    "io_uring_setup",
    "ioperm",
    "iopl",
    "kcmp",
    "kexec_file_load",
    "kexec_load",
    "keyctl",
    "listmount",
    "lookup_dcookie",
    "memfd_create",
    "memfd_secret",
    "migrate_pages",
    "modify_ldt",
    "mount",
    "mount_setattr",
    "move_mount",
    "move_pages",
    "mq_open",
    "msgget",
    "name_to_handle_at",
    "open_by_handle_at",
    "open_tree",
    "open_tree_attr",
    "perf_event_open",
    "personality",
    "pidfd_getfd",
    "pivot_root",
    "process_madvise",
    "process_mrelease",
    "process_vm_readv",
    "process_vm_writev",
    "ptrace",
    "quotactl",
    "quotactl_fd",
    "reboot",
    "request_key",
    "semget",
    "setdomainname",
    "sethostname",
    "setns",
    "settimeofday",
    "shmget",
    "statmount",
    "swapoff",
    "swapon",
    "syslog",
    "umount2",
    "unshare",
    "userfaultfd",
    "uselib",
    "vhangup",
)
# Landlock rules on what a file holds, not on its mode, owner, times and attributes, and on signals, not on scheduling.
# Where the box has its caller's user, these calls pretend to succeed: `shutil.copy` and libzmq's threads need them.
_PRETENDED = (
    "chmod",
    "chown",
    "fchmod",
    "fchmodat",
    "fchmodat2",
    "fchown",
    "fchownat",
    "futimesat",
    "lchown",
    "utime",
    "utimensat",
    "utimes",
    "ioprio_set",
    "sched_setaffinity",
    "sched_setattr",
    "sched_setparam",
    "sched_setscheduler",
    "setpriority",
)
_UNSUPPORTED = (
    "setxattr",
    "lsetxattr",
    "fsetxattr",
    "setxattrat",
    "removexattr",
    "lremovexattr",
    "fremovexattr",
    "removexattrat",
)

_NEW_NAMESPACES = 0x7E020000  # CLONE_NEWCGROUP, UTS, IPC, USER, PID, NET and NEWNS
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_MAP_SHARED_ANONYMOUS = 0x21
_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK = 1, 2, 10, 16
_SOCK_STREAM, _SOCK_TYPE_MASK = 1, 15
_FILE_TYPE, _FIFO, _REGULAR, _SOCKET = 0xF000, 0x1000, 0x8000, 0xC000

Instruction = tuple[int, int] | tuple[int, int, str | None, str | None]


def number(name: str, machine: str) -> int | None:
    """The number of a system call of the tables above; None where the architecture has no such call."""
    return _NUMBERS[name][0 if machine == "x86_64" else 1]


def program(network: str, shared_user: bool, machine: str | None = None) -> bytes:
    """The filter of a box.

    Args:
        network: "loopback", for a box in its own network namespace, or "none": no socket but AF_UNIX, no connection.
        shared_user: whether the box has the user of its caller (see `_PRETENDED`).
        machine: "x86_64" or "aarch64", by default this one.

    Raises:
        KeyError: another architecture.
    """
    machine = machine or os.uname().machine
    source: list[Instruction | str] = [
        (LOAD, _ARCHITECTURE),
        (IF_EQUAL, AUDIT_ARCHITECTURE[machine], "native", None),
        (RETURN, KILL),
        "native",
        (LOAD, _NUMBER),
    ]
    if machine == "x86_64":
        source += [(IF_AT_LEAST, _X32, None, "not x32"), (RETURN, ERRNO | _ENOSYS), "not x32"]
    # The flags of clone3 lie in memory, which a filter cannot read; glibc falls back to clone on ENOSYS.
    source += _answer(number("clone3", machine), _ENOSYS)
    for name in _REFUSED:
        source += _answer(number(name, machine), _EPERM)
    if shared_user:
        for names, error in ((_PRETENDED, 0), (_UNSUPPORTED, _EOPNOTSUPP)):
            for name in names:
                source += _answer(number(name, machine), error)
    if network == "none":
        source += _answer(number("connect", machine), _EPERM)
    for name, body, error in _argument_rules(network):
        source += _rule(number(name, machine), body, error)
    return assemble([*source, (RETURN, ALLOW)])


def apply(filter_program: bytes) -> None:
    """Filter this process and what it starts, for good."""
    libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
    libc.set_seccomp_filter(filter_program)


def _argument_rules(network: str) -> list[tuple[str, list[Instruction | str], int]]:
    """Rules on a call's arguments: "yes" allows it, "no" answers with the error."""
    special_file: list[Instruction | str] = [
        (AND, _FILE_TYPE),
        (IF_EQUAL, 0, "yes", None),
        (IF_EQUAL, _FIFO, "yes", None),
        (IF_EQUAL, _REGULAR, "yes", None),
        (IF_EQUAL, _SOCKET, "yes", "no"),
    ]
    return [
        ("clone", [_argument(0), (IF_ANY_BIT, _NEW_NAMESPACES, "no", "yes")], _EPERM),
        ("ioctl", [_argument(1), (IF_EQUAL, _TIOCSTI, "no", None), (IF_EQUAL, _TIOCLINUX, "no", "yes")], _EPERM),
        (
            "mmap",
            [_argument(3), (AND, _MAP_SHARED_ANONYMOUS), (IF_EQUAL, _MAP_SHARED_ANONYMOUS, "no", "yes")],
            _EPERM,
        ),
        (
            "prlimit64",  # of another process: only to read
            [
                *[_argument(0), (IF_EQUAL, 0, "yes", None)],
                *[_argument(2), (IF_EQUAL, 0, None, "no"), _argument_high(2), (IF_EQUAL, 0, "yes", "no")],
            ],
            _EPERM,
        ),
        ("mknod", [_argument(1), *special_file], _EPERM),
        ("mknodat", [_argument(2), *special_file], _EPERM),
        ("socket", _families(network), _EAFNOSUPPORT),
        *([("socketpair", _STREAM, _EAFNOSUPPORT)] if network == "none" else []),
    ]


def _families(network: str) -> list[Instruction | str]:
    # libzmq aborts where NETLINK_ROUTE is refused.
    route: list[Instruction | str] = ["route", _argument(2), (IF_EQUAL, 0, "yes", "no")]
    if network == "loopback":
        families: list[Instruction | str] = [
            (IF_EQUAL, family, "yes", None) for family in (_AF_UNIX, _AF_INET, _AF_INET6)
        ]
        return [_argument(0), *families, (IF_EQUAL, _AF_NETLINK, "route", "no"), *route]
    return [_argument(0), (IF_EQUAL, _AF_NETLINK, "route", None), (IF_EQUAL, _AF_UNIX, None, "no"), *_STREAM, *route]


def _argument(index: int) -> Instruction:
    return (LOAD, 16 + 8 * index)  # the low half: both architectures are little-endian


# Landlock does not rule on connections to sockets in the file system; a datagram socket, one of a pair too, needs none.
_STREAM: list[Instruction | str] = [_argument(1), (AND, _SOCK_TYPE_MASK), (IF_EQUAL, _SOCK_STREAM, "yes", "no")]


def _argument_high(index: int) -> Instruction:
    return (LOAD, 20 + 8 * index)


def _answer(call: int | None, error: int) -> list[Instruction | str]:
    if call is None:
        return []
    return [(IF_EQUAL, call, None, f"after {call}"), (RETURN, ERRNO | error), f"after {call}"]


def _rule(call: int | None, body: list[Instruction | str], error: int) -> list[Instruction | str]:
    """`body` behind a test for the call, its labels made unique."""
    if call is None:
        return []

    def own(item: Instruction | str) -> Instruction | str:
        if isinstance(item, str):
            return f"{item} {call}"
        if len(item) == 2:
            return item
        code, value, *targets = item
        true, false = (None if target is None else f"{target} {call}" for target in targets)
        return code, value, true, false

    end = f"after {call}"
    ends: list[Instruction | str] = [f"no {call}", (RETURN, ERRNO | error), f"yes {call}", (RETURN, ALLOW), end]
    return [(IF_EQUAL, call, None, end), *map(own, body), *ends]


def assemble(source: list[Instruction | str]) -> bytes:
    """Instructions and labels to struct sock_filter[]. A jump names a label, or None for the next instruction."""
    places: dict[str, int] = {}
    count = 0
    for item in source:
        if isinstance(item, str):
            places[item] = count
        else:
            count += 1
    result = b""
    position = 0
    for item in source:
        if isinstance(item, str):
            continue
        position += 1
        code, value, *targets = item
        jumps = [0 if target is None else places[target] - position for target in (targets or (None, None))]
        if not all(0 <= jump < 256 for jump in jumps):
            raise ValueError(f"a jump is too long: {item}")
        result += struct.pack("HBBI", code, *jumps, value)
    return result

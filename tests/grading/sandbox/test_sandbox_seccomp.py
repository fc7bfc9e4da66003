"""The filter of system calls, run through a simulator of classic BPF before any kernel sees it."""

import os
import re
import struct
from pathlib import Path

import pytest

from tflabs.grading.sandbox import seccomp

MACHINES = ("x86_64", "aarch64")


def answer(program: bytes, machine: str, call: int, *arguments: int, architecture: int | None = None) -> str:
    """What the kernel would answer: "allow", "kill" or "errno N"."""
    wide = [value & (2**64 - 1) for value in (*arguments, *[0] * (6 - len(arguments)))]
    data = struct.pack("IIQ6Q", call, architecture or seccomp.AUDIT_ARCHITECTURE[machine], 0, *wide)
    instructions = [struct.unpack_from("HBBI", program, at) for at in range(0, len(program), 8)]
    accumulator = counter = 0
    while True:
        code, true, false, value = instructions[counter]
        counter += 1
        if code == seccomp.LOAD:
            accumulator = struct.unpack_from("I", data, value)[0]
        elif code == seccomp.AND:
            accumulator &= value
        elif code == seccomp.RETURN:
            names = {seccomp.ALLOW: "allow", seccomp.KILL: "kill"}
            return names.get(value, f"errno {value & 0xFFFF}")
        else:
            tests = {
                seccomp.IF_EQUAL: accumulator == value,
                seccomp.IF_AT_LEAST: accumulator >= value,
                seccomp.IF_ANY_BIT: bool(accumulator & value),
            }
            counter += true if tests[code] else false


EPERM, ENOSYS, EOPNOTSUPP, EAFNOSUPPORT = "errno 1", "errno 38", "errno 95", "errno 97"
RULES = [
    ("memfd_create", (), EPERM),
    ("io_uring_setup", (), EPERM),
    ("ptrace", (), EPERM),
    ("bpf", (), EPERM),
    ("userfaultfd", (), EPERM),
    ("keyctl", (), EPERM),
    ("mount", (), EPERM),
    ("unshare", (), EPERM),
    ("setns", (), EPERM),
    ("shmget", (), EPERM),
    ("process_vm_writev", (), EPERM),
    ("clone3", (), ENOSYS),
    ("clone", (0x3D0F00,), "allow"),  # a thread
    ("clone", (0x1200011,), "allow"),  # fork
    ("clone", (0x10000011,), EPERM),  # CLONE_NEWUSER
    ("clone", (0x20011,), EPERM),  # CLONE_NEWNS
    ("ioctl", (0, 0x5412), EPERM),  # TIOCSTI
    ("ioctl", (0, 0x541C), EPERM),  # TIOCLINUX
    ("ioctl", (0, 0x5413), "allow"),  # TIOCGWINSZ
    ("mmap", (0, 0, 3, 0x21), EPERM),  # shared and anonymous
    ("mmap", (0, 0, 3, 0x4021), EPERM),
    ("mmap", (0, 0, 3, 0x22), "allow"),  # private and anonymous
    ("mmap", (0, 0, 3, 0x01), "allow"),  # shared, of a file
    ("prlimit64", (0, 7, 0x7F00), "allow"),
    ("prlimit64", (5, 7, 0), "allow"),  # reading another's
    ("prlimit64", (5, 7, 0x7F00), EPERM),
    ("prlimit64", (5, 7, 0x7F00000000), EPERM),  # the low half of the pointer is 0
    ("mknodat", (0, 0, 0o010600), "allow"),  # a pipe
    ("mknodat", (0, 0, 0o020600), EPERM),  # a character device
    ("mknodat", (0, 0, 0o060600), EPERM),  # a block device
]
FAMILIES = [  # family, type, protocol; with loopback, without
    ((1, 1, 0), "allow", "allow"),
    ((1, 2, 0), "allow", EAFNOSUPPORT),
    ((2, 0x80801, 0), "allow", EAFNOSUPPORT),
    ((2, 2, 0), "allow", EAFNOSUPPORT),
    ((10, 1, 0), "allow", EAFNOSUPPORT),
    ((16, 3, 0), "allow", "allow"),  # NETLINK_ROUTE
    ((16, 3, 9), EAFNOSUPPORT, EAFNOSUPPORT),  # NETLINK_AUDIT
    ((17, 3, 0), EAFNOSUPPORT, EAFNOSUPPORT),  # AF_PACKET
    ((38, 5, 0), EAFNOSUPPORT, EAFNOSUPPORT),  # AF_ALG
    ((40, 1, 0), EAFNOSUPPORT, EAFNOSUPPORT),  # AF_VSOCK
]


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("network", ["loopback", "none"])
def test_the_rules_answer_as_the_table_says(machine: str, network: str) -> None:
    program = seccomp.program(network, shared_user=False, machine=machine)
    for name, arguments, expected in RULES:
        call = seccomp.number(name, machine)
        assert call is not None
        assert answer(program, machine, call, *arguments) == expected, (name, arguments)
    for arguments, with_loopback, without in FAMILIES:
        call = seccomp.number("socket", machine)
        assert call is not None
        assert answer(program, machine, call, *arguments) == (with_loopback if network == "loopback" else without)
    for kind, without in ((1, "allow"), (0x80801, "allow"), (2, EAFNOSUPPORT), (5, EAFNOSUPPORT)):
        due = "allow" if network == "loopback" else without  # a datagram socket of a pair sends to any path
        assert answer(program, machine, seccomp.number("socketpair", machine) or 0, 1, kind, 0) == due
    assert answer(program, machine, seccomp.number("connect", machine) or 0) == (
        "allow" if network == "loopback" else EPERM
    )
    write = {"x86_64": 1, "aarch64": 64}[machine]
    assert answer(program, machine, write) == "allow"


@pytest.mark.parametrize("machine", MACHINES)
def test_a_foreign_calling_convention_is_no_way_around(machine: str) -> None:
    program = seccomp.program("loopback", shared_user=False, machine=machine)
    i386 = 0x40000003
    assert answer(program, machine, 21, architecture=i386) == "kill"
    if machine == "x86_64":
        x32 = 0x40000000
        assert answer(program, machine, x32 | (seccomp.number("ptrace", machine) or 0)) == ENOSYS


@pytest.mark.parametrize("machine", MACHINES)
def test_with_the_callers_user_modes_and_priorities_are_pretended(machine: str) -> None:
    own, shared = (seccomp.program("none", shared, machine) for shared in (False, True))
    for name, expected in (("fchmodat", "errno 0"), ("setxattr", EOPNOTSUPP), ("sched_setaffinity", "errno 0")):
        call = seccomp.number(name, machine)
        assert call is not None
        assert answer(own, machine, call) == "allow"
        assert answer(shared, machine, call) == expected


def test_the_numbers_are_the_kernels() -> None:
    header = {"x86_64": "x86_64-linux-gnu/asm/unistd_64.h", "aarch64": "asm-generic/unistd.h"}[os.uname().machine]
    path = Path("/usr/include") / header
    if not path.exists():
        pytest.skip(f"{path} is not installed (linux-libc-dev)")
    found = dict(re.findall(r"#define __NR\w*?_([a-z]\w*)\s+(\d+)", path.read_text()))
    checked = 0
    for name, numbers in seccomp._NUMBERS.items():
        ours = numbers[0 if os.uname().machine == "x86_64" else 1]
        if name in found:
            assert ours == int(found[name]), name
            checked += 1
    assert checked > 80

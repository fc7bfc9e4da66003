"""Attacks on what a box must not reach: each is run in earnest, and fails.

None may hurt the machine if it succeeds: a file of the system is opened for writing, and nothing is written.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest
from sandbox_cases import (
    ATTEMPT,
    BACKENDS,
    SYSTEM_PYTHON,
    answers,
    captured,
    finished,
    lab_policy,
    launched,
    need,
    run,
    small_policy,
)

from tflabs.grading.sandbox import ForkServer, Policy, start

both = pytest.mark.parametrize("backend", BACKENDS)
SECRET = "the-hidden-test-4711"

NETWORK = """
import socket
def tcp(address, family=socket.AF_INET):
    with socket.socket(family) as s: s.settimeout(3); s.connect(address)
def udp():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s: return s.sendto(b'x', ('192.0.2.1', 9))
def datagram(path):
    for s in socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM): s.sendto(b'x', path)
port = int(sys.argv[1])
say(out=attempt(tcp, ('192.0.2.1', 80)), host=attempt(tcp, ('127.0.0.1', port)), udp=attempt(udp),
    six=attempt(tcp, ('2001:db8::1', 80), socket.AF_INET6),
    vsock=attempt(lambda: socket.socket(40, socket.SOCK_STREAM)),
    packet=attempt(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW)),
    abstract=attempt(lambda: socket.socket(socket.AF_UNIX).connect('\\0tflabs-test-' + sys.argv[1])),
    path=attempt(lambda: socket.socket(socket.AF_UNIX).connect(sys.argv[2])),
    pair=attempt(datagram, sys.argv[2] + '-datagrams'))
"""


@pytest.mark.parametrize("backend", [*BACKENDS, "none"])
def test_no_network_reaches_out_nor_the_hosts_loopback(backend: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as abstract:
        port = server.getsockname()[1]
        abstract.bind(f"\0tflabs-test-{port}")
        abstract.listen()
        path = f"/tmp/tflabs-test-{port}"  # a path that is short, and open to all
        with socket.socket(socket.AF_UNIX) as bound, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagrams:
            bound.bind(path)
            datagrams.bind(f"{path}-datagrams")
            try:
                Path(path).chmod(0o777)
                Path(f"{path}-datagrams").chmod(0o777)
                bound.listen()
                found = answers(NETWORK, backend, None, str(port), path)
            finally:
                Path(path).unlink()
                Path(f"{path}-datagrams").unlink()
    if backend == "none":  # the attack works where nothing stops it
        assert {found[name] for name in ("host", "abstract", "path", "pair")} == {"None"}
        return
    refused = ("EAFNOSUPPORT",) if backend == "landlock" else ("ENETUNREACH",)
    assert found["out"] in refused and found["udp"] in refused and found["six"] in refused
    assert found["host"] in ("ECONNREFUSED", "EAFNOSUPPORT")
    assert found["vsock"] == found["packet"] == "EAFNOSUPPORT"
    assert found["abstract"] in ("ECONNREFUSED", "EPERM")
    assert found["path"] in ("ENOENT", "EPERM")
    assert found["pair"] in ("ENOENT", "EAFNOSUPPORT")


@pytest.mark.parametrize("backend", [*BACKENDS, "none"])
def test_no_file_of_the_course_of_a_home_or_of_another_box_is_read(backend: str, tmp_path: Path) -> None:
    course = tmp_path / "course"
    (course / "source").mkdir(parents=True)
    for path in (course / "gradebook.db", course / "source/answers.py", tmp_path / "home.txt"):
        path.write_text(SECRET)
        path.chmod(0o666)
    for folder in (tmp_path, course, course / "source"):
        folder.chmod(0o777)
    os.environ["TFLABS_TEST_SECRET"] = SECRET
    code = """
found = []
for path in sys.argv[1:]:
    try: found.append(open(path).read())
    except OSError: pass
    try: os.close(os.open(path, os.O_WRONLY | os.O_APPEND)); found.append('writable')
    except OSError: pass
    try: found += [name for name in os.listdir(os.path.dirname(path)) if name in ('gradebook.db', 'shadow', 'home.txt')]
    except OSError: pass
environment = dict(os.environ)
for pid in pids() or range(1, 40000):
    try: environment[pid] = open(f'/proc/{pid}/environ').read()
    except OSError: pass
say(files=repr(found), environment=repr(environment))
"""
    paths = [str(course / "gradebook.db"), str(course / "source/answers.py"), str(tmp_path / "home.txt")]
    if backend != "none":  # which confines nothing
        paths += ["/etc/shadow", str(Path("/") / "root" / ".bashrc"), "/var/lib/dpkg/status", "/proc/1/environ"]
    try:
        found = answers(code, backend, None, *paths)
    finally:
        del os.environ["TFLABS_TEST_SECRET"]
    if backend == "none" and os.access(course, os.R_OK):
        assert SECRET in found["files"] and "writable" in found["files"]
        return
    assert found["files"] == "[]"
    assert SECRET not in found["environment"]
    assert (course / "gradebook.db").read_text() == SECRET


TREE_BELOW_TMP = """
import os, sys
path = sys.argv[1]
print(open(path).read(), os.listdir(os.path.dirname(os.path.dirname(path))))
open("/tmp/own", "w").close()
try: open(path, "a")
except OSError as error: print(error.errno == 30)  # EROFS
"""


@pytest.mark.parametrize("kind", ["cold", "forked"])
def test_an_environment_below_tmp_is_seen_and_nothing_beside_it(kind: str) -> None:
    need("namespaces")
    with tempfile.TemporaryDirectory(prefix="tflabs-test-", dir="/tmp") as folder:
        path = Path(folder, "venv", "file")
        path.parent.mkdir()
        path.write_text("seen", encoding="utf-8")
        path.chmod(0o666)
        (Path(folder) / "secret").touch()
        policy = small_policy(readable=(*small_policy().readable, str(path.parent)))
        if kind == "cold":
            ran = run(TREE_BELOW_TMP, "namespaces", policy, SYSTEM_PYTHON, str(path))
        else:
            policy = lab_policy(readable=(*lab_policy().readable, str(path.parent)))
            code = f"import sys; sys.argv = ['-c', {str(path)!r}]\n{TREE_BELOW_TMP}"
            with (
                ForkServer(policy, ["json"], "namespaces") as server,
                captured() as (write, text),
                server.start("builtins:exec", [code, {}], stdout=write, stderr=write) as box,
            ):
                ran = finished(box, text)
    assert ran.out.split("\n")[:2] == ["seen ['venv']", "True"], ran


def test_a_policy_that_would_show_the_course_is_refused(tmp_path: Path) -> None:
    here = Path(__file__).parent
    for readable in (here, here.parent, "/usr"):
        hidden = "/usr/share" if readable == "/usr" else str(here)
        with pytest.raises(ValueError, match="must stay hidden"):
            Policy(readable=(str(readable),), hidden=(hidden,))
    (tmp_path / "link").symlink_to(here)
    with pytest.raises(ValueError, match="must stay hidden"):
        Policy(readable=(str(here),), hidden=(str(tmp_path / "link"),))
    Policy(readable=(str(here / "venv"),), hidden=(str(here),))
    with pytest.raises(ValueError, match="cannot be shown"):
        Policy(readable=("/",))
    with pytest.raises(ValueError, match="cannot be shown"):
        Policy(readable=("/tmp",))  # the box has one of its own
    for name in ("../x", "/x", "a/../../x", "", "a\0b"):
        with pytest.raises(ValueError, match="does not lie in"):
            Policy(files=((name, b""),))


@both
def test_no_process_of_the_host_is_seen_or_signalled(backend: str) -> None:
    victim = subprocess.Popen(["/bin/sleep", "100"])
    code = """
import signal
say(seen=repr(pids()), named=attempt(open, f'/proc/{sys.argv[1]}/cmdline'),
    victim=attempt(os.kill, int(sys.argv[1]), 9), parent=attempt(os.kill, os.getppid() or 1, 9),
    pidfd=attempt(lambda: signal.pidfd_send_signal(os.pidfd_open(int(sys.argv[1])), 9)),
    group=attempt(os.killpg, int(sys.argv[2]), 0))
"""
    try:
        found = answers(code, backend, None, str(victim.pid), str(os.getpgid(0)))
        assert victim.poll() is None
    finally:
        victim.kill()
        victim.wait()
    # A number of the host's may be one of the box's own processes: it sees its init and itself, no more.
    assert len(json.loads(found["seen"])) <= 2
    assert found["victim"] in ("ESRCH", "EPERM") and found["pidfd"] in ("ESRCH", "EPERM", "ENOENT")
    assert found["named"] in ("ENOENT", "EACCES") and found["group"] in ("ESRCH", "EPERM")


@both
def test_kill_minus_one_ends_nothing_but_the_box(backend: str) -> None:
    victim = subprocess.Popen(["/bin/sleep", "100"])
    try:
        ran = run("import os\nos.kill(-1, 9)\nos.kill(0, 9)", backend)
        assert ran.verdict.kind in ("signal 9", "exit 0", "exit 1", "lost"), ran
        assert victim.poll() is None
    finally:
        victim.kill()
        victim.wait()


@both
def test_no_other_process_is_traced_or_written_to(backend: str) -> None:
    code = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def call(function, *arguments):
    ctypes.set_errno(0)
    if function(*arguments) < 0: raise OSError(ctypes.get_errno(), '')
child = os.fork()
if child == 0:
    import time; time.sleep(100)
say(attach=attempt(call, libc.ptrace, 16, child, 0, 0), me=attempt(call, libc.ptrace, 0, 0, 0, 0),
    parent=attempt(lambda: open(f'/proc/{os.getppid()}/mem', 'r+b')),
    init=attempt(lambda: open('/proc/1/mem', 'r+b')), fds=attempt(os.readlink, '/proc/1/fd/0'),
    root=attempt(os.listdir, '/proc/1/root/'), cwd=attempt(os.listdir, '/proc/1/cwd/'),
    environment=attempt(lambda: open('/proc/1/environ').read() or 'empty'),
    vm=attempt(call, libc.process_vm_readv, child, 0, 0, 0, 0, 0))
"""
    found = answers(code, backend)
    assert found["attach"] == found["me"] == found["vm"] == "EPERM"
    for name in ("parent", "init", "fds", "root", "cwd", "environment"):
        assert found[name] in ("EACCES", "EPERM", "ENOENT", "ESRCH"), (name, found[name])


@both
def test_no_right_is_regained_by_setuid_namespaces_or_mounts(backend: str) -> None:
    code = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def call(function, *arguments):
    ctypes.set_errno(0)
    if function(*arguments) < 0: raise OSError(ctypes.get_errno(), '')
status = dict(line.split(':', 1) for line in open('/proc/self/status'))
say(root=attempt(os.setuid, 0), other=attempt(os.setresuid, 2001, 2001, 2001), groups=attempt(os.setgroups, [0]),
    user=attempt(call, libc.unshare, 0x10000000), pid=attempt(call, libc.unshare, 0x20000000),
    mount=attempt(call, libc.mount, b'none', b'/tmp', b'tmpfs', 0, 0), umount=attempt(call, libc.umount2, b'/proc', 2),
    chroot=attempt(os.chroot, '.'), setns=attempt(lambda: call(libc.setns, os.open('/proc/self/ns/mnt', 0), 0)),
    caps=status['CapEff'].strip() + status['CapPrm'].strip() + status['CapBnd'].strip(),
    new=status['NoNewPrivs'].strip(), filter=status['Seccomp'].strip())
"""
    found = answers(code, backend)
    for name in ("root", "other", "groups", "user", "pid", "mount", "umount", "chroot"):
        assert found[name] in ("EPERM", "EINVAL"), (name, found[name])
    assert found["setns"] in ("EPERM", "EACCES")
    assert set(found["caps"][:32]) == {"0"} and found["new"] == "1" and found["filter"] == "2"
    if backend != "landlock":  # without CAP_SETPCAP the bounding set stays; no_new_privs makes it worthless
        assert set(found["caps"]) == {"0"}


def test_a_set_user_id_program_gives_no_rights() -> None:
    need("namespaces")
    found = answers(
        """
import subprocess
says = subprocess.run(['/bin/su', '-c', 'id'], capture_output=True, text=True, stdin=subprocess.DEVNULL)
say(code=str(says.returncode), out=says.stdout)
""",
        "namespaces",
    )
    assert found["code"] != "0" and "uid=0" not in found["out"]


@both
def test_the_system_is_read_only(backend: str) -> None:
    code = """
def write(path):
    os.close(os.open(path, os.O_WRONLY | os.O_APPEND | (os.O_CREAT if path.endswith('planted') else 0)))
say(**{path: attempt(write, path) for path in (
    '/usr/planted', '/usr/bin/env', '/etc/passwd', '/bin/planted', '/planted', '/dev/planted',
    '/proc/sys/kernel/core_pattern', '/proc/sys/kernel/pid_max', '/proc/sys/user/max_user_namespaces',
    '/proc/sysrq-trigger', '/proc/sys/vm/drop_caches', '/sys/kernel/uevent_helper')},
    rename=attempt(os.rename, '/usr/bin/env', '/usr/bin/env'),
    device=attempt(os.mknod, 'device', 0o20666, os.makedev(1, 3)))
"""
    for name, answer in answers(code, backend).items():
        assert answer in ("EACCES", "EROFS", "EPERM", "ENOENT"), (name, answer)


@both
def test_no_descriptor_is_inherited(backend: str, tmp_path: Path) -> None:
    planted = tmp_path / "secret"
    planted.write_text(SECRET)
    descriptor = os.open(planted, os.O_RDWR)
    folder = os.open(tmp_path, os.O_RDONLY)
    for open_fd in (descriptor, folder):
        os.set_inheritable(open_fd, True)
    code = """
fds = {}
for fd in range(4096):
    try: os.fstat(fd); fds[fd] = os.readlink(f'/proc/self/fd/{fd}')
    except OSError: pass
say(**{str(fd): name for fd, name in fds.items()}, read=os.read(0, 1).decode())
"""
    try:
        found = answers(code, backend)
    finally:
        os.close(descriptor)
        os.close(folder)
    assert set(found) == {"0", "1", "2", "read"} and found["read"] == ""
    assert found["0"].startswith("socket:" if backend == "landlock" else "/dev/null")  # see `Box.line`


@pytest.mark.parametrize("backend", ["namespaces", "landlock"])
def test_nothing_is_typed_into_a_terminal(backend: str) -> None:
    need(backend)
    leader, follower = os.openpty()
    code = """
import fcntl
sys.stdout = sys.stderr
say(sti=attempt(fcntl.ioctl, 1, 0x5412, b'x'), tty=attempt(os.open, '/dev/tty', os.O_RDWR))
"""
    command = [SYSTEM_PYTHON, "-c", ATTEMPT + code]
    with captured() as (write, text), start(command, small_policy(), backend, follower, write) as box:
        ran = finished(box, text)
    os.close(leader)
    os.close(follower)
    found = json.loads(ran.out)
    assert found["sti"] == "EPERM" and found["tty"] in ("ENXIO", "ENOENT", "EACCES")


@both
def test_no_memory_is_hidden_from_the_supervisor(backend: str) -> None:
    code = """
import ctypes, mmap
libc = ctypes.CDLL(None, use_errno=True)
def call(function, *arguments):
    ctypes.set_errno(0)
    if function(*arguments) < 0: raise OSError(ctypes.get_errno(), '')
say(memfd=attempt(os.memfd_create, 'x'), shared=attempt(mmap.mmap, -1, 1 << 20),
    sysv=attempt(call, libc.shmget, 0, 4096, 0o1600),
    uring=attempt(call, libc.syscall, 425, 8, ctypes.create_string_buffer(120)),
    bpf=attempt(call, libc.syscall, 321 if os.uname().machine == 'x86_64' else 280, 0, 0, 0),
    key=attempt(call, libc.syscall, 248 if os.uname().machine == 'x86_64' else 217, b'user', b'x', b'y', 1, -1))
"""
    assert set(answers(code, backend).values()) == {"EPERM"}


@both
def test_two_boxes_do_not_see_each_other(backend: str) -> None:
    need(backend)
    code = "import os, time\nfor folder in ('.', os.environ['TMPDIR']): open(folder + '/mine', 'w')\ntime.sleep(100)"
    with launched(code, backend) as other:
        found = answers(
            "say(tmp=repr([name for name in os.listdir(os.environ['TMPDIR']) if name == 'mine']), "
            "kill=attempt(os.kill, int(sys.argv[1]), 9), there=attempt(os.listdir, sys.argv[2]), "
            "work=repr(os.listdir('.')))",
            backend,
            None,
            str(other.pid),
            other.inside if backend == "landlock" else f"/proc/{other.pid}/cwd",
        )
        assert other.poll() is None
    assert found["tmp"] == found["work"] == "[]"
    assert found["kill"] in ("ESRCH", "EPERM") and found["there"] in ("ENOENT", "EACCES")

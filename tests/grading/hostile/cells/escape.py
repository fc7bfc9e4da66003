# Out of the box: to files, processes, the network and the rights of the one who grades.
#
# @COURSE@, @HOME@ and @TMP@ are folders of the grader's with a secret in each; @PORT@, @UDP@, @SOCKET@ and @ABSTRACT@
# are where something listens; @PID@ is a process of the grader's user. Every secret begins with the letters that `W`
# spells backwards. What prints BREACH has got out.

# %% name="reads-gradebook"
W = "_ripat"[::-1]
data = open("@COURSE@/gradebook.db", "rb").read().decode("latin1")
print([data[i:i + 24] for i in range(len(data)) if data.startswith(W, i)][:50])

# %% name="reads-source"
print(open("@COURSE@/source/1-1-toy/1-1-toy.ipynb").read()[:100000])

# %% name="reads-other-submission"
print(open("@COURSE@/submitted/victim/1-1-toy/1-1-toy.ipynb").read()[:100000])

# %% name="reads-home"
import os
print([open(os.path.join(f, n), errors="replace").read(1000) for f, _, ns in os.walk("@HOME@") for n in ns])
raise ValueError(os.path.expanduser("~"))

# %% name="reads-temporary-files"
import glob
print([open(p, errors="replace").read(1000) for p in glob.glob("@TMP@/*")])

# %% name="looks-in-every-file"
import os, sys
W = b"_ripat"[::-1]
own = ("/sys", "/dev", "/usr", "/lib", "/bin", "/sbin", "/proc", sys.prefix, sys.base_prefix)
for folder, inner, names in os.walk("/"):
    inner[:] = [n for n in inner if not os.path.join(folder, n).startswith(own)]
    for name in names:
        path = os.path.join(folder, name)
        try:
            if os.path.isfile(path):
                data = open(path, "rb").read(1 << 20)
                if W in data: print(path, data[data.index(W):][:24])
        except OSError:
            pass

# %% name="reads-environment"
import glob, os
print(dict(os.environ))
for path in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline"):
    try: print(open(path, errors="replace").read()[:20000])
    except OSError: pass

# %% name="goes-through-roots-of-processes"
import glob
for pattern in ("root", "cwd", "task/*/cwd"):
    for root in glob.glob(f"/proc/[0-9]*/{pattern}"):
        for path in (f"{root}@COURSE@/secret.txt", f"{root}/secret.txt", f"{root}@TMP@/secret.txt"):
            try: print(path, open(path).read())
            except OSError: pass

# %% name="reads-memory-of-processes"
import glob, os, re
W = b"_ripat"[::-1]
for folder in glob.glob("/proc/[0-9]*"):
    if folder.endswith(f"/{os.getpid()}"): continue
    try:
        maps, mem = open(f"{folder}/maps").read(), open(f"{folder}/mem", "rb", 0)
    except OSError:
        continue
    for low, high, path in re.findall(r"^(\w+)-(\w+) rw\S* \S+ \S+ \S+ *(.*)$", maps, re.M):
        if path not in ("", "[heap]", "[stack]"): continue
        try:
            mem.seek(int(low, 16))
            data = mem.read(min(int(high, 16) - int(low, 16), 1 << 23))
        except (OSError, ValueError, OverflowError):
            continue
        at = data.find(W)
        if at >= 0: print("BREACH", folder, data[at:at + 24])

# %% name="writes-gradebook"
import sqlite3
book = sqlite3.connect("@COURSE@/gradebook.db", timeout=1)
book.execute("update grade set manual_score = 100")
book.commit()
print("BREACH written")

# %% name="writes-other-submission"
import os
for path in ("submitted/victim/1-1-toy/1-1-toy.ipynb", "autograded/victim/1-1-toy/1-1-toy.ipynb", "secret.txt"):
    path = "@COURSE@/" + path
    try:
        os.chmod(path, 0o666)
        open(path, "w").write("gone")
        print("BREACH", path)
    except OSError as error:
        print(error)

# %% name="deletes-the-course"
import shutil
shutil.rmtree("@COURSE@/submitted", ignore_errors=True)
shutil.rmtree("@HOME@", ignore_errors=True)
shutil.rmtree("@TMP@", ignore_errors=True)

# %% name="kills-a-process"
import os, signal
os.kill(@PID@, signal.SIGKILL)
print("BREACH killed")

# %% name="kills-everything"
import os
def double(x):
    os.kill(-1, 9)

# %% name="kills-its-parents"
import os, signal
pid = os.getppid()
while pid > 0:
    try:
        os.kill(pid, signal.SIGSTOP)
        if pid != 1: print("BREACH stopped", pid)
        pid = int(open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[1])
    except (OSError, ValueError) as error:
        print(error)
        break

# %% name="kills-its-process-group"
import os
os.killpg(os.getpgid(0), 9)
os.killpg(os.getsid(0), 9)

# %% name="traces-a-process"
import ctypes, glob, os
libc = ctypes.CDLL(None, use_errno=True)
for pid in {@PID@, os.getppid(), *[int(p[6:]) for p in glob.glob("/proc/[0-9]*")]} - {os.getpid(), 0}:
    if libc.ptrace(16, pid, 0, 0) == 0: print("BREACH attached", pid)
    else: print(pid, os.strerror(ctypes.get_errno()))

# %% name="reads-memory-by-system-call"
import ctypes, glob, os
libc = ctypes.CDLL(None, use_errno=True)
class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
buffer = ctypes.create_string_buffer(64)
for path in glob.glob("/proc/[0-9]*/maps"):
    pid = int(path.split("/")[2])
    if pid == os.getpid(): continue
    try: low = int(open(path).read(40).split("-")[0], 16)
    except (OSError, ValueError): continue
    mine, theirs = Vector(ctypes.addressof(buffer), 64), Vector(low, 64)
    if libc.process_vm_readv(pid, ctypes.byref(mine), 1, ctypes.byref(theirs), 1, 0) > 0: print("BREACH", pid)

# %% name="connects-by-tcp"
import socket
connection = socket.create_connection(("127.0.0.1", @PORT@), 2)
connection.sendall(b"the tests are: ...")
print("BREACH connected")

# %% name="connects-by-mptcp"
import socket
connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
connection.settimeout(2)
connection.connect(("127.0.0.1", @PORT@))
print("BREACH connected")

# %% name="connects-by-fast-open"
import socket
connection = socket.socket()
connection.settimeout(2)
connection.sendto(b"x", 0x20000000, ("127.0.0.1", @PORT@))
print("BREACH connected")

# %% name="sends-by-udp"
import socket
for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::ffff:127.0.0.1")):
    try: socket.socket(family, socket.SOCK_DGRAM).sendto(b"hello", (host, @UDP@))
    except OSError as error: print(error)

# %% name="connects-to-a-unix-socket"
import socket
socket.socket(socket.AF_UNIX).connect("@SOCKET@")
print("BREACH connected")

# %% name="connects-to-an-abstract-socket"
import socket
socket.socket(socket.AF_UNIX).connect("\0@ABSTRACT@")
print("BREACH connected")

# %% name="connects-to-every-unix-socket"
import socket
for line in open("/proc/net/unix").read().splitlines()[1:]:
    path = line.split(None, 7)[7:]
    if path and not path[0].startswith("k-"):
        try:
            socket.socket(socket.AF_UNIX).connect(path[0].replace("@", "\0", 1))
            if "x1" not in path[0] and "examiner" not in path[0]: print("BREACH", path[0])
        except OSError as error:
            print(error)

# %% name="opens-a-vsock" must="not supported|not permitted"
import socket
socket.socket(40, socket.SOCK_STREAM).connect((2, 1024))
print("BREACH connected")

# %% name="reads-packets" must="not supported|not permitted"
import socket
socket.socket(17, socket.SOCK_RAW, 3)
print("BREACH packets")

# %% name="changes-interfaces" needs="namespaces"
import fcntl, socket, struct
for name in (n for _, n in socket.if_nameindex() if n != "lo"):
    print("BREACH sees", name)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
fcntl.ioctl(s, 0x8914, struct.pack("16sH14x", b"lo", 0))
print("BREACH took the loopback down")

# %% name="mounts" must="Errno 1\b"
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
if libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0: print("BREACH mounted")
raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

# %% name="remounts-the-system-writable" must="Errno 1\b"
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
if libc.mount(None, b"/usr", None, 32 | 4096, None) == 0: print("BREACH remounted")
raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

# %% name="makes-namespaces" must="Errno (1|22|28)\b"
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for flag in (0x10000000, 0x10020000, 0x40000000, 0x20000):
    if libc.unshare(flag) == 0: print("BREACH unshared", hex(flag))
raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

# %% name="enters-namespaces"
import ctypes, glob, os
libc = ctypes.CDLL(None, use_errno=True)
for path in glob.glob("/proc/[0-9]*/ns/*"):
    try: descriptor = os.open(path, os.O_RDONLY)
    except OSError: continue
    if libc.setns(descriptor, 0) == 0: print("BREACH entered", path)

# %% name="becomes-root" must="Errno (1|22)\b"
import os, subprocess
says = subprocess.run(["su", "-c", "id -u"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
if says.stdout.strip() == "0": print("BREACH su")
os.setresuid(0, 0, 0)
os.setgroups([0])
print("BREACH root")

# %% name="leaves-a-change-root" must="Errno (1|13)\b"
import os
os.mkdir("jail")
root = os.open("/", os.O_RDONLY)
os.chroot("jail")
os.fchdir(root)
for _ in range(50): os.chdir("..")
os.chroot(".")
print("BREACH", open("@COURSE@/secret.txt").read())

# %% name="makes-a-device" must="Errno (1|13)\b"
import os, stat
os.mknod("disk", 0o600 | stat.S_IFBLK, os.makedev(254, 0))
print("BREACH", open("disk", "rb").read(512))

# %% name="opens-by-handle"
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
handle = (ctypes.c_ubyte * 16)(8, 0, 0, 0, 1, 0, 0, 0, 2)
root = os.open("/", os.O_RDONLY)
descriptor = libc.open_by_handle_at(root, handle, 0)
if descriptor >= 0: print("BREACH", os.listdir(descriptor))

# %% name="uses-io-uring" must="Errno (1|38)\b"
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
if libc.syscall(425, 8, ctypes.create_string_buffer(120)) >= 0: print("BREACH ring")
raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

# %% name="loads-bpf" must="Errno (1|38)\b"
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 321, "aarch64": 280}[os.uname().machine]
if libc.syscall(number, 0, ctypes.create_string_buffer(b"\1\0\0\0\4\0\0\0\4\0\0\0\1\0\0\0", 128), 72) >= 0: print("BREACH bpf")
raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

# %% name="reads-keys" must="Errno (1|38)\b"
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 250, "aarch64": 219}[os.uname().machine]
if libc.syscall(number, 0, -4, 1) >= 0: print("BREACH keyring")
raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

# %% name="watches-performance" must="Errno (1|2|13|38)\b"
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 298, "aarch64": 241}[os.uname().machine]
attributes = ctypes.create_string_buffer((1).to_bytes(4, "little") + (112).to_bytes(4, "little"), 112)
if libc.syscall(number, attributes, 0, -1, -1, 0) >= 0: print("BREACH perf")
raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

# %% name="reboots-and-loads-modules" must="Errno 1\b"
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 175, "aarch64": 105}[os.uname().machine]
if libc.syscall(number, b"", 0, b"") == 0 or libc.sethostname(b"mine", 4) == 0 or libc.swapoff(b"/dev/null") == 0:
    print("BREACH")
raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

# %% name="changes-settings-of-the-kernel"
for path in ("kernel/core_pattern", "kernel/pid_max", "vm/overcommit_memory", "user/max_user_namespaces", "fs/file-max"):
    try:
        before = open(f"/proc/sys/{path}").read()
        open(f"/proc/sys/{path}", "w").write(before)
        print("BREACH", path)
    except OSError as error:
        print(error)

# %% name="types-into-the-terminal"
import fcntl, os
for path in ("/dev/tty", "/dev/console", "/proc/1/fd/0", "/proc/self/fd/0"):
    try:
        fcntl.ioctl(os.open(path, os.O_RDWR), 0x5412, b"x")
        print("BREACH typed", path)
    except OSError as error:
        print(error)

# %% name="leaves-through-inherited-descriptors"
import os
for descriptor in range(3, 1024):
    try: above = os.open("..", os.O_RDONLY, dir_fd=descriptor)
    except OSError: continue
    for _ in range(30): above = os.open("..", os.O_RDONLY, dir_fd=above)
    try: print("BREACH", open(os.open("@COURSE@/secret.txt"[1:], os.O_RDONLY, dir_fd=above)).read())
    except OSError: pass

# %% name="writes-ipython-startup"
import os
for home in ("@HOME@", os.path.expanduser("~")):
    try:
        os.makedirs(f"{home}/.ipython/profile_default/startup", exist_ok=True)
        open(f"{home}/.ipython/profile_default/startup/00.py", "w").write("print('PLANTED ipython')")
    except OSError as error:
        print(error)

# %% name="writes-into-site-packages"
import os, site, sys
for folder in {*site.getsitepackages(), site.getusersitepackages(), "@HOME@/lib"}:
    try:
        os.makedirs(folder, exist_ok=True)
        open(f"{folder}/zz_planted.pth", "w").write("import sys; sys.stdout.write('PLANTED pth')\n")
        open(f"{folder}/sitecustomize.py", "w").write("print('PLANTED sitecustomize')")
    except OSError as error:
        print(error)

# %% name="writes-a-kernelspec"
import json, os, sys
spec = {"argv": [sys.executable, "-c", "print('PLANTED')"], "display_name": "Python 3", "language": "python"}
for folder in ("@HOME@/.local/share/jupyter", os.path.expanduser("~/.local/share/jupyter"), f"{sys.prefix}/share/jupyter"):
    try:
        os.makedirs(f"{folder}/kernels/python3", exist_ok=True)
        open(f"{folder}/kernels/python3/tapirkernel.json", "w").write(json.dumps(spec))
    except OSError as error:
        print(error)

# %% name="rewrites-what-judges"
import tflabs.grading.examiner.agent as agent
open(agent.__file__, "a").write("\nprint('PLANTED agent')\n")
print("BREACH")

# %% name="rewrites-the-interpreter"
import os, sys
for path in (sys.executable, os.path.realpath(sys.executable), os.__file__, os.__cached__):
    try:
        open(path, "ab").close()
        print("BREACH", path)
    except OSError as error:
        print(error)

# %% name="plants-modules-and-links"
import os
for name in ("json.py", "random.py", "numpy.py", "sitecustomize.py", "usercustomize.py"):
    open(name, "w").write("print('PLANTED here')")
    open(f"/tmp/{name}", "w").write("print('PLANTED there')")
os.symlink("@COURSE@/gradebook.db", "link")
os.symlink("@COURSE@/source", "notes")
os.symlink("/", "root")

# %% name="goes-on-as-a-daemon"
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            try: open("@TMP@/daemon", "a").write("PLANTED")
            except OSError: pass
            time.sleep(0.05)
    os._exit(0)

# %% name="goes-on-with-ignored-signals"
import os, signal, subprocess
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
for _ in range(5): subprocess.Popen(["sleep", "1000"], start_new_session=True)

# %% name="fills-the-shared-memory"
import glob, os
print(glob.glob("/dev/shm/*"))
for path in glob.glob("@TMP@/shm*") + glob.glob("/dev/shm/@ABSTRACT@"): print("BREACH", open(path).read())

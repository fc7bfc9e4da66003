"""Code that takes all it can get: each limit ends it, and says so."""

from __future__ import annotations

import pytest
from sandbox_cases import BACKENDS, SMALL, answers, run, small_policy

from tflabs.grading.sandbox import Limits

both = pytest.mark.parametrize("backend", BACKENDS)


def limits(**changes: float) -> Limits:
    return Limits(**(vars(SMALL) | changes))  # type: ignore[arg-type]


@both
def test_one_process_that_takes_memory_is_ended(backend: str) -> None:
    code = "held = []\nwhile True: held.append(bytearray(b'x') * (16 << 20))"
    ran = run(code, backend, small_policy(limits=limits(processes=400)))
    assert ran.verdict.kind == "memory", ran
    assert "the limit is 300 MiB" in ran.verdict.words and ran.verdict.status == -9


@both
def test_above_the_bound_of_one_process_an_allocation_fails_and_the_code_lives(backend: str) -> None:
    code = "try: bytearray(3 << 30)\nexcept MemoryError: print('alive')"
    ran = run(code, backend)
    assert (ran.out, ran.verdict.kind) == ("alive\n", "exit 0")


@both
def test_many_processes_that_take_memory_together_are_ended(backend: str) -> None:
    code = """
import os, time
for child in range(8):
    if os.fork() == 0:
        held = bytearray(b'x') * (60 << 20)
        time.sleep(100)
time.sleep(100)
"""
    assert run(code, backend).verdict.kind == "memory"


@both
def test_memory_that_processes_share_counts_once(backend: str) -> None:
    code = """
import os, time
held = bytearray(b'x') * (100 << 20)
children = []
for child in range(6):
    pid = os.fork()
    if pid == 0:
        time.sleep(0.3)
        os._exit(0)
    children.append(pid)
for pid in children: os.waitpid(pid, 0)
print('done')
"""
    ran = run(code, backend)
    assert (ran.out, ran.verdict.kind) == ("done\n", "exit 0")


@both
def test_page_tables_of_a_sparse_mapping_are_bounded(backend: str) -> None:
    code = """
import mmap
held = []
try:
    while True: held.append(mmap.mmap(-1, 1 << 34, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ))
except OSError as error: print(len(held) < 8)
"""
    assert run(code, backend).out == "True\n"


@both
def test_a_fork_bomb_stays_small_and_ends_with_its_box(backend: str) -> None:
    code = """
import os, time
count = 0
try:
    while count < 2000:
        if os.fork() == 0: time.sleep(1000)
        count += 1
except OSError as error: print(count, error.strerror)
"""
    ran = run(code, backend)
    count, reason = ran.out.split(maxsplit=1)
    assert int(count) <= SMALL.processes and reason.strip() == "Resource temporarily unavailable"
    assert ran.verdict.kind == "exit 0"


@both
def test_threads_count_as_processes(backend: str) -> None:
    code = """
import threading, time
try:
    for count in range(2000): threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
except RuntimeError: print(count, flush=True)
import os; os._exit(0)
"""
    assert int(run(code, backend).out) <= SMALL.processes


def test_limits_of_two_boxes_are_their_own() -> None:
    """RLIMIT_NPROC counts the processes of a user: here, of a user in a namespace or of a slot."""
    code = "import os, time\nfor count in range(40):\n    if os.fork() == 0: time.sleep(2); os._exit(0)\nprint('ok')"
    assert run(code, "namespaces").out == run(code, "warm").out == "ok\n"


@both
def test_a_big_file_is_refused(backend: str) -> None:
    code = """
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
def fill():
    with open('big', 'wb') as file:
        for part in range(64): file.write(bytes(1 << 20))
say(fill=attempt(fill), size=str(os.stat('big').st_size >> 20))
"""
    found = answers(code, backend)
    assert (found["fill"], int(found["size"]) <= SMALL.file_mib) == ("EFBIG", True)


@pytest.mark.parametrize("backend", ["namespaces", "warm"])
def test_everything_written_has_one_bound(backend: str) -> None:
    code = """
def fill():
    for number in range(100):
        folder = ('.', os.environ['HOME'], '/tmp', '/dev/shm')[number % 4]
        with open(f'{folder}/{number}', 'wb') as file: file.write(bytes(1 << 20))
    return 'filled'
first = attempt(fill)
def many():
    for number in range(3000): os.mkdir(f'd{number}')
for number in range(100):
    for folder in ('.', os.environ['HOME'], '/tmp', '/dev/shm'):
        try: os.unlink(f'{folder}/{number}')
        except OSError: pass
say(bytes=first, inodes=attempt(many), count=str(len(os.listdir('.'))))
"""
    found = answers(code, backend)
    assert found["bytes"] == found["inodes"] == "ENOSPC"
    assert int(found["count"]) <= SMALL.inodes


@pytest.mark.parametrize("code", [
    "for n in range(40): open(str(n), 'wb').write(bytes(1 << 20))",
    "import os\nfor n in range(1000): os.mkdir(str(n))",
    "import os\nfor n in range(1100): os.mkdir('d'); os.chdir('d')",
])  # fmt: skip
def test_without_a_file_system_of_its_own_the_folder_is_watched(code: str) -> None:
    ran = run(f"{code}\nimport time; time.sleep(1000)", "landlock")
    assert ran.verdict.kind == "disk", ran


@both
def test_open_files_are_bounded(backend: str) -> None:
    code = """
held = []
def many():
    while True: held.append(open('/dev/null'))
say(many=attempt(many), count=str(len(held)))
"""
    found = answers(code, backend)
    assert found["many"] == "EMFILE" and int(found["count"]) < SMALL.open_files


@both
def test_descriptors_of_all_processes_together_are_bounded(backend: str) -> None:
    """Each socket holds kernel memory that belongs to no process."""
    code = """
import os, socket, time
for child in range(20):
    if os.fork() == 0:
        held = [socket.socketpair() for number in range(28)]
        time.sleep(1000)
time.sleep(1000)
"""
    assert run(code, backend).verdict.kind == "files"


@both
def test_a_spin_ends_with_the_wall_clock(backend: str) -> None:
    ran = run("while True: pass", backend, small_policy(limits=limits(wall_seconds=0.5)))
    assert ran.verdict.kind == "wall" and "0.5 seconds" in ran.verdict.words


@both
def test_cpu_time_of_all_processes_counts_even_of_those_that_ended(backend: str) -> None:
    code = """
import os, time
while True:
    pid = os.fork()
    if pid == 0:
        while time.process_time() < 0.1: pass
        os._exit(0)
    os.waitpid(pid, 0)
"""
    assert run(code, backend, small_policy(limits=limits(cpu_seconds=0.3))).verdict.kind == "cpu"


def test_limits_must_be_positive() -> None:
    with pytest.raises(ValueError, match="memory_mib must be above 0"):
        Limits(memory_mib=0)

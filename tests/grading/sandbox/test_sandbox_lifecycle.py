"""How boxes start, are stopped and end: whatever ends, no process of a box outlives it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from sandbox_cases import BACKENDS, SYSTEM_PYTHON, captured, finished, launched, need, run, small_policy

from tflabs.grading.sandbox import SandboxUnavailable, backends, choose, start
from tflabs.grading.sandbox.policy import package_trees
from waiting import eventually

both = pytest.mark.parametrize("backend", BACKENDS)
# Daemons that left their session and their parent, one that ignores every signal, and a tree that goes on forking.
STUBBORN = """
import os, signal, sys, time
def daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in range(1, 64):
                try: signal.signal(number, signal.SIG_IGN)
                except (OSError, ValueError): pass
            os.execv(sys.executable, [sys.executable, '-c', 'import time; time.sleep(1000)', sys.argv[1]])
        os._exit(0)
for number in range(5): daemon()
if os.fork() == 0:
    while True:
        if os.fork(): os._exit(0)
        os.setsid()
time.sleep(0.3)
print('planted', flush=True)
"""


def carrying(mark: str) -> list[int]:
    """The host's processes that have `mark` on their command line, this one's children of the test aside."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                if mark.encode() in (folder / "cmdline").read_bytes():
                    found.append(int(folder.name))
            except OSError:
                continue
    return found


@both
@pytest.mark.parametrize("how", ["kill", "end", "close"])
def test_no_process_survives_its_box(backend: str, how: str) -> None:
    mark = f"tflabs-mark-{os.getpid()}-{backend}-{how}"
    code = STUBBORN + ("" if how == "end" else "time.sleep(1000)")
    with captured() as (write, _):
        box = launched(code, backend, write, None, SYSTEM_PYTHON, mark)
        assert eventually(lambda: len(carrying(mark)) >= (5 if how != "end" else 0))
        if how == "kill":
            box.kill()
            assert box.verdict is not None and box.verdict.kind == "killed" and box.poll() == -9
        elif how == "end":
            assert box.wait(60) == 0
        else:
            box.close()
        assert carrying(mark) == []
        box.close()
        box.close()


@pytest.mark.parametrize("victim", ["driver", "keeper"])
@pytest.mark.parametrize("backend", ["namespaces", "landlock"])
def test_a_box_ends_when_what_watches_it_is_killed(backend: str, victim: str) -> None:
    need(backend)
    mark = f"tflabs-mark-{os.getpid()}-{backend}-{victim}"
    driver = textwrap.dedent(f"""
        import sys, time
        sys.path[:0] = {sys.path!r}
        from sandbox_cases import launched, SYSTEM_PYTHON
        box = launched({STUBBORN + "time.sleep(1000)"!r}, {backend!r}, None, None, SYSTEM_PYTHON, sys.argv[1])
        children = open('/proc/self/task/' + str(__import__('os').getpid()) + '/children').read().split()
        print(box.folder, *children, flush=True)
        sys.stdin.read()
        box.close()
    """)
    process = subprocess.Popen(
        [sys.executable, "-c", driver, mark], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        folder, keeper = process.stdout.readline().split()
        assert eventually(lambda: len(carrying(mark)) >= 6)
        os.kill(process.pid if victim == "driver" else int(keeper), signal.SIGKILL)
        assert eventually(lambda: set(carrying(mark)) <= {process.pid})
        process.communicate(timeout=60)
        assert backend == "namespaces" or eventually(lambda: not Path(folder).parent.exists())
    finally:
        process.kill()
        process.communicate()


@both
def test_an_interrupt_reaches_the_command_and_leaves_it_alive(backend: str) -> None:
    code = """
import time
print('ready', flush=True)
try: time.sleep(1000)
except KeyboardInterrupt: print('interrupted', flush=True)
"""
    with captured() as (write, text), launched("open('started', 'w').close()\n" + code, backend, write) as box:
        assert eventually(lambda: (box.folder / "started").exists())
        interrupted = eventually(lambda: box.interrupt() or box.wait(0.1) is not None)
        ran = finished(box, text)
    assert interrupted and ran.verdict.kind in ("exit 0", "exit 1", "signal 2")
    assert "interrupted" in ran.out or "KeyboardInterrupt" in ran.out
    box.interrupt()  # nothing is left to interrupt


@both
def test_verdicts_say_how_it_ended(backend: str) -> None:
    assert run("raise SystemExit(3)", backend).verdict.kind == "exit 3"
    assert run("import os; os._exit(0)", backend).verdict.kind == "exit 0"
    died = run("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", backend).verdict
    assert (died.kind, died.status) == ("signal 11", -11)


@pytest.mark.parametrize("backend", ["namespaces", "landlock"])
def test_a_command_that_is_not_there_fails_in_words(backend: str) -> None:
    need(backend)
    with start(["/no/such/program"], small_policy(), backend) as box:
        assert box.wait(60) == 126
        assert box.verdict is not None and box.verdict.kind == "failed"
        assert "No such file" in box.verdict.words


@both
def test_files_environment_and_folder_are_as_the_policy_says(backend: str) -> None:
    policy = small_policy(files=(("data/a.txt", b"a"), ("b.bin", bytes(300_000))), environment={"LAB": "x"})
    code = """
import os
print(open('data/a.txt').read(), os.path.getsize('b.bin'), os.environ['LAB'], os.path.realpath('.') == os.getcwd())
for folder in (os.environ['HOME'], os.environ['TMPDIR'], '.'): open(folder + '/new', 'w').write('x')
print(sorted(set(os.environ) - {'LAB', 'LC_CTYPE', 'PYTHONPATH'}), os.getcwd())
"""
    with captured() as (write, text), launched(code, backend, write, policy) as box:
        inside = box.inside
        ran = finished(box, text)
    first, second = ran.out.splitlines()
    assert first == "a 300000 x True"
    assert second == f"['HOME', 'LANG', 'PATH', 'TMPDIR', 'USER'] {inside}"


def test_where_nothing_confines_the_refusal_says_what_was_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "_missing", lambda backend: f"no {backend} here")
    backends._works.cache_clear()
    with pytest.raises(SandboxUnavailable) as refusal:
        start(["/bin/true"], small_policy())
    backends._works.cache_clear()
    words = str(refusal.value)
    assert "namespaces: no namespaces here" in words and "landlock: no landlock here" in words
    assert "Allow one of them" in words
    assert choose("none") == "none"
    with pytest.raises(ValueError, match="backend must be"):
        choose("docker")


NESTED = """
import sys
sys.path.insert(0, sys.argv[1])
from tflabs.grading.sandbox import Limits, Policy, SandboxUnavailable, choose, probe, start
for finding in probe(): print(finding.backend, finding.works, finding.reason)
print(choose())
"""


def test_where_namespaces_are_forbidden_landlock_is_chosen() -> None:
    """A box is such a place: it may make no namespaces."""
    need("namespaces")
    need("landlock")
    source = str(Path(package_trees()[0]).parents[1])
    policy = small_policy(readable=(*small_policy().readable, *package_trees()))
    with captured() as (write, text):
        command = [SYSTEM_PYTHON, "-c", NESTED, source]
        with start(command, policy, "namespaces", stdout=write, stderr=write) as box:
            lines = finished(box, text).out.splitlines()
    assert lines[0].startswith("namespaces False") and "Operation not permitted" in lines[0], lines
    assert lines[1:] == ["landlock True works", "landlock"]

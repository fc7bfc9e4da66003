"""The fork server: boxes in milliseconds, as separate as cold ones."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from sandbox_cases import captured, finished, lab_policy, need, run, warm_server

from tflabs.grading.sandbox import ForkRefused, ForkServer, safe_read
from waiting import eventually


def test_every_fork_draws_its_own_random_numbers() -> None:
    need("namespaces")
    code = "import random, numpy; print(random.random(), numpy.random.random())"
    with ForkServer(lab_policy(), ["random", "numpy"], "namespaces") as server:
        drawn = []
        for _ in range(3):
            with captured() as (write, text), server.start("builtins:exec", [code, {}], stdout=write) as box:
                drawn.append(finished(box, text).out.split())
    assert len({value for pair in drawn for value in pair}) == 6


def test_the_entry_is_called_by_position_or_by_name_and_its_end_is_the_exit_code() -> None:
    need("namespaces")
    server = warm_server()
    with server.start("os:mkdir", ["made"]) as box:
        assert box.wait(60) == 0 and (box.folder / "made").is_dir()
    with server.start("os:mkdir", {"path": "named"}, files=(("given", b"x"),)) as box:
        assert box.wait(60) == 0 and (box.folder / "named").is_dir()
        assert safe_read(box.folder, "given", 10) == b"x"
    for entry, arguments, status in (("sys:exit", [4], 4), ("os:rmdir", ["none"], 1), ("os:nothing", [], 1)):
        with server.start(entry, arguments) as box:
            assert box.wait(60) == status, entry
    with captured() as (write, text), server.start("os:nothing", [], stderr=write) as box:
        assert "has no attribute 'nothing'" in finished(box, text).out


def test_a_box_sees_neither_the_server_nor_its_siblings() -> None:
    need("namespaces")
    server = warm_server()
    plant = "import time; open('mine', 'w').write('x'); open('/tmp/mine', 'w').write('x'); time.sleep(1000)"
    with server.start("builtins:exec", [plant, {}]) as sibling:
        assert eventually(lambda: (sibling.folder / "mine").exists())
        ran = run(
            """
import os, signal
print(os.listdir('.'), os.path.exists('/tmp/mine'), os.listdir('/sandbox/home'))
print(sorted(int(pid) for pid in os.listdir('/proc') if pid.isdigit()), sorted(os.listdir('/proc/self/fd')))
for number in (signal.SIGKILL, signal.SIGTERM):
    try: os.kill(1, number)
    except PermissionError: pass
print(os.path.exists('/proc/1'), 'TMPDIR' in os.environ)
""",
            "warm",
        )
        assert ran.out == "[] False []\n[1, 2] ['0', '1', '2', '3']\nTrue True\n", ran
        assert sibling.poll() is None and server.alive()
        users = {Path(f"/proc/{pid}").stat().st_uid for pid in (sibling.pid, server.pid)}
        if os.geteuid() == 0:
            assert len(users) == 2 and 0 not in users


def test_a_box_that_dies_leaves_the_server_and_the_others_alone() -> None:
    need("namespaces")
    server = warm_server()
    with server.start("time:sleep", [1000]) as other:
        for code in ("import os; os.kill(os.getpid(), 9)", "import os; os.kill(-1, 9)", "import os; os.abort()"):
            assert run(code, "warm").verdict.kind in ("signal 9", "signal 6", "exit 0", "exit 1")
        assert other.poll() is None and server.alive()
        os.kill(other.pid, signal.SIGKILL)
        assert other.wait(60) == -9 and other.verdict is not None and other.verdict.kind == "signal 9"


def test_it_refuses_to_fork_once_a_thread_has_started() -> None:
    """TensorFlow starts its threads with the first operation; this module starts one with the first fork."""
    need("namespaces")
    here = str(Path(__file__).parent)
    policy = lab_policy()
    environment = policy.environment | {"PYTHONPATH": f"{policy.environment['PYTHONPATH']}:{here}"}
    policy = lab_policy(readable=(*policy.readable, here), environment=environment)
    with ForkServer(policy, ["sandbox_late_thread"], "namespaces") as server:
        with server.start("time:sleep", [0]) as box:
            assert box.wait(60) == 0
        with pytest.raises(ForkRefused, match="has run an operation or started a thread"):
            server.start("time:sleep", [0])


def test_a_module_that_cannot_be_imported_is_named() -> None:
    need("namespaces")
    with (
        ForkServer(lab_policy(), ["no_such_module"], "namespaces") as server,
        pytest.raises(ForkRefused, match="no_such_module"),
    ):
        server.await_ready()


def test_its_boxes_end_with_the_server() -> None:
    need("namespaces")
    server = ForkServer(lab_policy(), [], "namespaces")
    boxes = [server.start("time:sleep", [1000]) for _ in range(3)]
    os.kill(server.pid, signal.SIGKILL)
    for box in boxes:
        assert box.wait(60) == -9
    assert eventually(lambda: not server.alive())
    with pytest.raises(ForkRefused):
        server.start("time:sleep", [0])
    for box in boxes:
        box.close()
    server.close()


def test_without_namespaces_it_forks_under_landlock() -> None:
    need("landlock")
    try:
        server = ForkServer(lab_policy(), ["json"], "landlock")
        server.await_ready()
    except Exception as error:
        if "Permission denied" not in str(error):
            raise
        pytest.skip(f"a user of a slot cannot read this interpreter, and only namespaces can bind it: {error}")
    with server, server.start("time:sleep", [1000]) as sibling:
        code = "import os\ntry: os.kill({}, 9)\nexcept PermissionError: os.mkdir('refused')"
        with server.start("builtins:exec", [code.format(sibling.pid), {}]) as box:
            assert box.wait(60) == 0 and (box.folder / "refused").is_dir()
        assert sibling.poll() is None

"""Honest work: what labs do goes on in a box as outside of it."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sandbox_cases import BACKENDS, SYSTEM_PYTHON, captured, finished, lab_policy, need, run, small_policy

from tflabs.grading.sandbox import Box, ForkServer, Limits, Policy, start

TENSORFLOW = """
import threading
import numpy as np, tensorflow as tf
x = tf.random.normal([300, 300])
assert np.isfinite(float(tf.reduce_sum(x @ x)))
assert sum(1 for _ in tf.data.Dataset.range(1000).map(lambda v: v + 1, num_parallel_calls=tf.data.AUTOTUNE)
           .batch(10).prefetch(tf.data.AUTOTUNE)) == 100
@tf.function(jit_compile=True)
def f(a): return tf.nn.relu(a @ a) + tf.sin(a)
assert f(x).shape == (300, 300)
with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    assert session.run(tf.constant(3) * 14) == 42
results = []
workers = [threading.Thread(target=lambda: results.append(float(tf.reduce_sum(tf.ones([10]))))) for _ in range(4)]
for worker in workers: worker.start()
for worker in workers: worker.join()
assert results == [10.0] * 4
import tflabs.view, tflabs.runtime
print('tensorflow works', flush=True)
"""
CLUSTER = """
import socket
def port():
    with socket.create_server(('127.0.0.1', 0)) as server: return server.getsockname()[1]
spec = tf.train.ClusterSpec({'worker': [f'127.0.0.1:{port()}', f'127.0.0.1:{port()}']})
servers = [tf.distribute.Server(spec, job_name='worker', task_index=index) for index in range(2)]
tf.config.experimental_connect_to_host([server.target for server in servers])
with tf.device('/job:worker/replica:0/task:1'): assert float(tf.reduce_sum(tf.ones([10]) * 2)) == 20.0
print('the cluster works', flush=True)
import os; os._exit(0)
"""
TOOLS = """
import ctypes, multiprocessing, os, pty, shutil, socket, subprocess, sys, tempfile, threading
open('a.cc', 'w').write('#include <vector>\\nextern "C" int f() { std::vector<int> v(42); return v.size(); }')
subprocess.run(['g++', '-shared', '-fPIC', '-O1', '-o', 'a.so', 'a.cc'], check=True)
assert ctypes.CDLL('./a.so').f() == 42
assert subprocess.run([sys.executable, '-c', 'print(6 * 7)'], capture_output=True, text=True).stdout == '42\\n'
assert subprocess.run('echo $HOME | wc -l', shell=True, capture_output=True, text=True).stdout.strip() == '1'
with tempfile.TemporaryDirectory() as folder: shutil.copy('a.cc', folder); os.mkfifo(folder + '/fifo')
process = multiprocessing.get_context('fork').Process(target=print, args=('child',))
process.start(); process.join(); assert process.exitcode == 0
first, second = socket.socketpair(); first.send(b'x'); assert second.recv(1) == b'x'
thread = threading.Thread(target=print, args=('thread',)); thread.start(); thread.join()
print('tools work', flush=True)
"""


def readable_python(backend: str) -> str:
    """Without namespaces an interpreter in root's home cannot be shown to a slot's user; the system's does instead."""
    if backend != "landlock" or os.geteuid() != 0:
        return sys.executable
    path = Path(sys.executable).resolve()
    if all(parent.stat().st_mode & 0o005 == 0o005 for parent in path.parents):
        return sys.executable
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    if not Path(f"/usr/bin/python{version}").exists():
        pytest.skip(f"no user can read {path}, and the system has no Python {version}")
    return f"/usr/bin/python{version}"


@pytest.fixture(scope="module")
def tensorflow_server() -> Iterator[ForkServer]:
    need("namespaces")
    with ForkServer(lab_policy(), ["tensorflow", "ipykernel.kernelapp"], "namespaces") as server:
        yield server


def test_tensorflow_and_a_local_cluster_work_in_a_fork(tensorflow_server: ForkServer) -> None:
    code = TENSORFLOW + CLUSTER
    with (
        captured() as (write, text),
        tensorflow_server.start("builtins:exec", [code, {}], stdout=write, stderr=write) as box,
    ):
        ran = finished(box, text)
    assert "tensorflow works\nthe cluster works\n" in ran.out and ran.verdict.kind == "exit 0", ran
    assert box.network == "loopback"


def test_tensorflow_works_under_landlock() -> None:
    python = readable_python("landlock")
    ran = run(TENSORFLOW, "landlock", lab_policy(), python)
    assert "tensorflow works\n" in ran.out and ran.verdict.kind == "exit 0", ran


@pytest.mark.parametrize("backend", BACKENDS)
def test_compilers_child_processes_and_threads_work(backend: str) -> None:
    need(backend)
    ran = run(TOOLS, backend, small_policy(limits=Limits(memory_mib=1500)))
    assert ran.out.endswith("tools work\n") and ran.verdict.kind == "exit 0", ran


@pytest.mark.parametrize("backend", ["namespaces", "warm"])
def test_loopback_and_terminals_work_in_namespaces(backend: str) -> None:
    code = """
import os, pty, socket, threading
for family, address in ((socket.AF_INET, '127.0.0.1'), (socket.AF_INET6, '::1')):
    with socket.create_server((address, 0), family=family) as server:
        client = socket.create_connection(server.getsockname()[:2]); server.accept()[0].send(b'x')
        assert client.recv(1) == b'x'
assert socket.gethostbyname('localhost') == '127.0.0.1'
assert pty.spawn(['/bin/echo', 'typed']) == 0
print(os.uname().nodename)
"""
    ran = run(code, backend)
    assert ran.out.split() == ["typed", "sandbox"] or ran.out.split() == ["sandbox", "typed"], ran


@contextlib.contextmanager
def client_of(box: Box, connection: dict[str, Any]) -> Iterator[Any]:
    from jupyter_client.blocking.client import BlockingKernelClient

    client = BlockingKernelClient()
    client.load_connection_info(connection | {"ip": str(box.folder / "k")})
    client.start_channels(hb=False)  # on a busy machine its absence is no sign
    try:
        client.wait_for_ready(timeout=60)
        yield client
    finally:
        client.stop_channels()


def connection_info() -> dict[str, Any]:
    ports = {f"{name}_port": number for number, name in enumerate(("shell", "iopub", "stdin", "control", "hb"), 1)}
    fixed = {"transport": "ipc", "ip": "k", "signature_scheme": "hmac-sha256", "kernel_name": "python3"}
    return {**ports, **fixed, "key": uuid.uuid4().hex}


def output_of(client: Any, code: str, on_output: Any = None) -> str:
    request = client.execute(code)
    out = ""
    while True:
        message = client.get_iopub_msg(timeout=60)
        if message["parent_header"].get("msg_id") != request:
            continue
        content = message["content"]
        out += content.get("text", "") or content.get("ename", "")
        if on_output is not None and content.get("text"):
            on_output()
        if content.get("execution_state") == "idle":
            return out


def kernel(backend: str, server: ForkServer | None, files: tuple[tuple[str, bytes], ...]) -> Box:
    arguments = ["-f", "kernel.json", "--HistoryManager.enabled=False"]
    if server is not None:
        return server.start("ipykernel.kernelapp:IPKernelApp.launch_instance", {"argv": arguments}, files=files)
    policy: Policy = lab_policy(files=files)
    return start([readable_python(backend), "-m", "ipykernel_launcher", *arguments], policy, backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_kernel_answers_over_sockets_in_its_folder_and_is_interrupted(
    backend: str, request: pytest.FixtureRequest
) -> None:
    need(backend)
    server = request.getfixturevalue("tensorflow_server") if backend == "warm" else None
    connection = connection_info()
    with kernel(backend, server, (("kernel.json", json.dumps(connection).encode()),)) as box:
        with client_of(box, connection) as client:
            assert output_of(client, "import os; print(6 * 7)") == "42\n"
            spin = "print('spinning', flush=True)\nwhile True: pass"
            assert output_of(client, spin, on_output=box.interrupt) == "spinning\nKeyboardInterrupt"
            if backend == "namespaces":  # IPython runs it in a pseudo-terminal
                assert output_of(client, "!echo from a shell").strip() == "from a shell"
            assert output_of(client, "print('alive')") == "alive\n"
        assert box.poll() is None
        box.kill()
        assert box.verdict is not None and box.verdict.kind == "killed"


def test_a_python_of_the_system_is_enough_for_a_box() -> None:
    assert run("print(1)", "namespaces", python=SYSTEM_PYTHON).out == "1\n"

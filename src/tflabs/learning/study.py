"""Opens the labs in JupyterLab."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
from nbformat.sign import NotebookNotary

from tflabs.course.files import notebook_text, read_notebook, write_text
from tflabs.course.layout import Course
from tflabs.course.text import KERNELSPEC
from tflabs.errors import UserError
from tflabs.learning.startpage import SOURCE
from tflabs.learning.workspace import Workspace

FIRST_PORT = 8888
SERVER = "server.pid"
LAST_PORT = 8937
PORT_WAS_TAKEN = "the Jupyter server could not be started because"  # jupyter_server has no other reason to say so
PATIENCE = 120  # seconds for a server or a kernel to answer on a machine that is busy with other things
HERE = Path(__file__).parent
PR_SET_PDEATHSIG = 1  # linux/prctl.h
LIBC = ctypes.CDLL(None)


def open_labs(
    course: Course, workspace: Workspace, page: str, port: int | None, browser: bool, say: Callable[[str], None]
) -> int:
    """Start JupyterLab on the learner's folder and wait until it ends; returns the exit code.

    Where one that was started so serves the folder already, only its address is said.

    Args:
        page: the notebook to open, relative to the folder.
        port: the port to listen on; None takes the first free one from 8888.
    """
    running = running_server(workspace)
    if running is not None:
        url = address(*running, page)
        say(f"JupyterLab runs already at {url}\nIt ends with Ctrl-C where it was started.")
        if browser:
            webbrowser.open(url)
        return 0
    write_start_page(workspace)
    token = secrets.token_urlsafe(24)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)  # ends as Ctrl-C does: the server goes too
    say("starting JupyterLab …")
    server = None
    try:
        server, chosen = start_ready(course, workspace, port, token)
        write_text(workspace.state / SERVER, str(server.pid))
        url = address(chosen, token, page)
        fill_start_page(workspace, chosen, token, say)
        say(f"JupyterLab runs at {url}\nCtrl-C ends it.")
        if browser:
            webbrowser.open(url)
        return server.wait()
    except KeyboardInterrupt:
        say("\nending JupyterLab")
        return 0
    finally:
        if server is not None:
            end(server)


def address(port: int, token: str, page: str) -> str:
    return f"http://localhost:{port}/lab/tree/{page}?token={token}"


def running_server(workspace: Workspace) -> tuple[int, str] | None:
    """Port and token of the JupyterLab that an earlier `study` started on the folder, if it still answers.

    The folder keeps the number of its process; Jupyter keeps the rest, token included, in a file of its owner.
    """
    from jupyter_core.paths import jupyter_runtime_dir

    try:
        pid = int((workspace.state / SERVER).read_text(encoding="utf-8"))
        known = json.loads((Path(jupyter_runtime_dir()) / f"jpserver-{pid}.json").read_text(encoding="utf-8"))
        port, token = int(known["port"]), str(known["token"])
        if Path(known["root_dir"]) != workspace.root:
            return None
        _api(port, token, "status")
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return port, token


def start_ready(
    course: Course, workspace: Workspace, port: int | None, token: str
) -> tuple[subprocess.Popen[bytes], int]:
    """A JupyterLab that answers, and its port. Somebody may take a free port first; then the next one is tried."""
    log = workspace.state / "jupyter.log"
    first = FIRST_PORT
    while True:
        chosen = free_port(port, first)
        server = start_server(course, workspace, chosen, token, log)
        try:
            wait_until_ready(server, chosen, token, log)
            return server, chosen
        except BaseException as error:
            end(server)
            if port is not None or PORT_WAS_TAKEN not in str(error):
                raise
            first = chosen + 1


def start_server(course: Course, workspace: Workspace, port: int, token: str, log: Path) -> subprocess.Popen[bytes]:
    """Start JupyterLab in a process group of its own; what it logs goes to a file, not to the learner's terminal."""
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("wb") as output:
            return subprocess.Popen(
                server_command(workspace, port),
                cwd=workspace.root,
                env=server_environment(course, token),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=functools.partial(end_with, os.getpid()) if sys.platform == "linux" else None,
            )
    except OSError as error:
        raise UserError(f"cannot write {log}: {error.strerror}") from None


def end_with(parent: int) -> None:
    """Have the kernel of Linux end this process when its parent ends, even by `kill -9`."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)  # it had ended before


def server_command(workspace: Workspace, port: int) -> list[str]:
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser",
        f"--ServerApp.root_dir={workspace.root}", f"--ServerApp.port={port}", "--ServerApp.port_retries=0",
        "--ServerApp.ip=localhost",
    ]  # fmt: skip
    return [*command, "--allow-root"] if os.geteuid() == 0 else command


def server_environment(course: Course, token: str) -> dict[str, str]:
    binaries = str(Path(sys.executable).parent)
    config = os.pathsep.join(filter(None, [str(HERE / "jupyter"), os.environ.get("JUPYTER_CONFIG_PATH")]))
    return os.environ | {
        "PATH": os.pathsep.join([binaries, os.environ.get("PATH", os.defpath)]),
        "TFLABS_COURSE": str(course.root),
        "JUPYTER_CONFIG_PATH": config,
        "JUPYTER_TOKEN": token,
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }


def free_port(asked: int | None, first: int) -> int:
    """The port that was asked for, or the first free one from `first`.

    Raises:
        UserError: the port is taken, or may not be used.
    """
    for port in [asked] if asked is not None else range(first, LAST_PORT + 1):
        try:
            try_port(port)
            return port
        except (OSError, OverflowError) as error:
            if asked is not None:
                reason = getattr(error, "strerror", None) or str(error)
                raise UserError(f"port {asked} cannot be used: {reason}. Leave --port out to take a free one") from None
    raise UserError(f"no port from {FIRST_PORT} to {LAST_PORT} is free; name one with --port")


def try_port(port: int) -> None:
    """Raises OSError or OverflowError if one cannot listen on the port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", port))


def wait_until_ready(server: subprocess.Popen[bytes], port: int, token: str, log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if server.poll() is not None:
            last = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-5:]
            raise UserError("\n".join([f"JupyterLab ended with exit code {server.returncode}:", *last]))
        with contextlib.suppress(OSError):
            _api(port, token, "status")
            return
        time.sleep(0.1)
    raise UserError(f"JupyterLab did not answer within {PATIENCE} seconds; see {log}")


def write_start_page(workspace: Workspace) -> None:
    """Make the start page, unless a learner has made it their own."""
    if workspace.start_page.exists():
        try:
            cells = read_notebook(workspace.start_page).cells
        except UserError:
            return
        if [cell.source for cell in cells] != [SOURCE]:
            return
    write_text(workspace.start_page, notebook_text(_start_notebook([])))


def fill_start_page(workspace: Workspace, port: int, token: str, say: Callable[[str], None]) -> None:
    """Run the start page in the kernel that JupyterLab will find for it, so that it opens with live buttons.

    Without this the page works after its cell was run by hand; so a failure here is said, and no reason to stop.
    """
    try:
        if [cell.source for cell in read_notebook(workspace.start_page).cells] != [SOURCE]:
            return
        session = _api(
            port, token, "sessions",
            {"path": "start.ipynb", "name": "start.ipynb", "type": "notebook", "kernel": {"name": "python3"}},
        )  # fmt: skip
        outputs = _run_in_kernel(session["kernel"]["id"])
        notebook = _start_notebook(outputs)
        write_text(workspace.start_page, notebook_text(notebook))
        NotebookNotary().sign(notebook)  # JupyterLab shows no widgets of a notebook that it does not trust
    except (OSError, RuntimeError, KeyError, ValueError, UserError) as error:
        say(f"the start page has no live buttons yet, run its cell: {type(error).__name__}: {error}")


def _run_in_kernel(kernel: str) -> list[Any]:
    from jupyter_client.blocking.client import BlockingKernelClient
    from jupyter_core.paths import jupyter_runtime_dir

    client = BlockingKernelClient(connection_file=str(Path(jupyter_runtime_dir()) / f"kernel-{kernel}.json"))
    client.load_connection_file()
    client.start_channels(hb=False)  # a kernel that is slow to start misses heartbeats and is no dead one
    try:
        client.wait_for_ready(timeout=PATIENCE)
        outputs: list[Any] = []

        def keep(message: Any) -> None:
            if message["msg_type"] in ("display_data", "execute_result"):
                outputs.append(nbformat.v4.output_from_msg(message))

        client.execute_interactive(SOURCE, output_hook=keep, timeout=PATIENCE)
        return outputs
    finally:
        client.stop_channels()


def _start_notebook(outputs: list[Any]) -> Any:
    cell = nbformat.v4.new_code_cell(SOURCE, id="start", outputs=outputs, execution_count=1 if outputs else None)
    cell.metadata = {"jupyter": {"source_hidden": True}}
    return nbformat.v4.new_notebook(
        cells=[cell], metadata={"kernelspec": KERNELSPEC, "language_info": {"name": "python"}}
    )


def _api(port: int, token: str, path: str, body: object = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://localhost:{port}/api/{path}", data, {"Authorization": f"token {token}"})
    with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
        return json.load(reply)


def end(server: subprocess.Popen[bytes]) -> None:
    """End the server and its kernels."""
    if server.poll() is None:
        server.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(10)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(server.pid, signal.SIGKILL)
    server.wait()

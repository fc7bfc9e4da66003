"""quiet() in a plain process, in this one, and in a Jupyter kernel."""

import contextlib
import io
import logging
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from jupyter_client.manager import start_new_kernel

from tflabs.runtime import quiet


def native(text: str) -> None:
    os.write(2, text.encode())


def open_descriptors() -> int:
    return len(list(Path("/dev/fd").iterdir()))


def test_drops_inside_and_restores(capfd: pytest.CaptureFixture[str]) -> None:
    before = open_descriptors()
    native("1 ")
    with quiet():
        native("no ")
    native("2 ")
    with pytest.raises(ImportError, match="the message"), quiet():
        native("no ")
        raise ImportError("the message")
    native("3")
    assert capfd.readouterr().err == "1 2 3"
    assert open_descriptors() == before


def test_nested(capfd: pytest.CaptureFixture[str]) -> None:
    with quiet():
        with quiet():
            native("no ")
        native("no ")
        with contextlib.suppress(ValueError), quiet():
            raise ValueError
        native("no ")
    native("yes")
    assert capfd.readouterr().err == "yes"


def test_overlapping_in_two_threads(capfd: pytest.CaptureFixture[str]) -> None:
    first_is_in, second_is_in, first_is_out = threading.Event(), threading.Event(), threading.Event()

    def first() -> None:
        with quiet():
            first_is_in.set()
            second_is_in.wait()
        first_is_out.set()

    def second() -> None:
        first_is_in.wait()
        with quiet():
            second_is_in.set()
            first_is_out.wait()
            native("no ")

    threads = [threading.Thread(target=first), threading.Thread(target=second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    native("yes")
    assert capfd.readouterr().err == "yes"


def test_another_sys_stderr_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()  # no file descriptor, as in some front ends
    monkeypatch.setattr(sys, "stderr", stream)
    with quiet():
        assert sys.stderr is stream
        print("seen", file=sys.stderr)
    assert stream.getvalue() == "seen\n"
    monkeypatch.setattr(sys, "stderr", None)
    with quiet():
        pass
    assert sys.stderr is None


def test_loggers_are_at_error_afterwards() -> None:
    logging.getLogger("tensorflow").setLevel(logging.INFO)
    logging.getLogger("absl").setLevel(logging.INFO)
    with quiet():
        pass
    assert logging.getLogger("tensorflow").level == logging.ERROR
    assert logging.getLogger("absl").level == logging.ERROR


def run(program: str, **env: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key != "TF_CPP_MIN_LOG_LEVEL"} | env
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)


PLAIN = """
import logging, os, sys, warnings
from tflabs.runtime import quiet
print("before", file=sys.stderr)
with quiet():
    os.write(2, b"native noise")
    handler = logging.StreamHandler()
    warnings.warn("a warning from inside")
    print("no end of line", file=sys.stderr, end="")
print("", file=sys.stderr)
os.write(2, b"native again\\n")
handler.emit(logging.makeLogRecord({"msg": "by a handler made inside"}))
assert sys.stderr is sys.__stderr__
print(os.environ["TF_CPP_MIN_LOG_LEVEL"])
with quiet():
    raise ImportError("the message of an exception")
"""


def test_plain_process_keeps_what_python_says() -> None:
    done = run(PLAIN)
    assert "noise" not in done.stderr
    wanted = [
        "before",
        "a warning from inside",
        "no end of line",
        "native again",
        "by a handler made inside",
        "Traceback",
    ]
    positions = [done.stderr.index(text) for text in wanted]
    assert positions == sorted(positions), done.stderr
    assert done.stderr.endswith("ImportError: the message of an exception\n")
    assert done.stdout == "3\n"
    assert run(PLAIN, TF_CPP_MIN_LOG_LEVEL="0").stdout == "0\n"  # who asks for the lines gets them


def test_plain_process_without_stderr() -> None:
    done = run("import os\nfrom tflabs.runtime import quiet\nos.close(2)\nwith quiet():\n    pass\nprint('fine')")
    assert done.stdout == "fine\n"


IMPORT = """
from tflabs.runtime import quiet
with quiet():
    import tensorflow as tf
"""
WORK = """
tf.get_logger().warning("a warning")
f = tf.function(lambda x: x + 1, jit_compile=True)
with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    session.run(tf.constant(1))
print(int(f(tf.constant(41))), tf.get_logger().level)
"""


def test_tensorflow_in_a_plain_process() -> None:
    done = run(IMPORT + WORK)
    assert (done.stdout, done.stderr) == ("42 40\n", "")


class Kernel:
    """A running kernel; `run` gives every stream and error message that arrives meanwhile, whatever its parent is."""

    def __init__(self) -> None:
        # ipykernel does not capture descriptor 2 where it sees the second variable.
        unset = {"TF_CPP_MIN_LOG_LEVEL", "PYTEST_CURRENT_TEST"}
        environment = {key: value for key, value in os.environ.items() if key not in unset}
        self.manager, self.client = start_new_kernel(kernel_name="python3", env=environment)

    def run(self, code: str, until: str | None = None) -> list[tuple[str, str]]:
        """Messages until the kernel is idle again, or until the text `until` has arrived."""
        request = self.client.execute(code)
        messages: list[tuple[str, str]] = []
        while True:
            message = self.client.get_iopub_msg(timeout=120)
            content = message["content"]
            if message["msg_type"] == "stream":
                messages.append((content["name"], content["text"]))
            elif message["msg_type"] == "error":
                messages.append(("error", f"{content['ename']}: {content['evalue']}"))
            done = message["parent_header"].get("msg_id") == request and content.get("execution_state") == "idle"
            if done if until is None else any(until in text for _, text in messages):
                return messages

    def stop(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


def test_tensorflow_in_a_kernel() -> None:
    kernel = Kernel()
    try:
        messages = kernel.run(IMPORT) + kernel.run(WORK)
        # Native writes come through a pipe, in order: what TensorFlow wrote would come before this.
        messages += kernel.run("import os\nos.write(2, b'the kernel shows native writes\\n');", until="shows native")
        assert messages == [("stdout", "42 40\n"), ("stderr", "the kernel shows native writes\n")]
        code = "import sys\nwith quiet():\n    print('python', file=sys.stderr)\n    raise ImportError('said')"
        assert kernel.run(code, until="said") == [("stderr", "python\n"), ("error", "ImportError: said")]
    finally:
        kernel.stop()

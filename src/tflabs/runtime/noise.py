"""Silence for what TensorFlow's C++ side writes while it is imported."""

from __future__ import annotations

import io
import os
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from typing_extensions import Buffer

STDERR = 2  # the descriptor that C++ writes to, whatever sys.stderr is

_lock = threading.Lock()
_depth = 0
_restore: Callable[[], None]


@contextmanager
def quiet() -> Iterator[None]:
    """Drops what native code writes to standard error inside the `with` block.

    TensorFlow's shared libraries write lines while they are loaded, before any log level is read; no environment
    variable stops them. Inside the block descriptor 2 is the null device. Python's own `sys.stderr` keeps reaching the
    reader, so warnings and exceptions of the block stay visible. Blocks may be nested and may overlap in several
    threads: the last one to end restores the descriptor.

    If TensorFlow is not imported yet, `TF_CPP_MIN_LOG_LEVEL` becomes 3 (fatal errors only) unless it is set already.
    After the block the Python loggers of TensorFlow and absl are at ERROR.
    """
    if "tensorflow" not in sys.modules:
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    _enter()
    try:
        yield
    finally:
        _leave()
        _quiet_loggers()


def _enter() -> None:
    global _depth, _restore
    with _lock:
        if _depth == 0:
            _restore = _redirect()
        _depth += 1


def _leave() -> None:
    global _depth
    with _lock:
        _depth -= 1
        if _depth == 0:
            _restore()


def _redirect() -> Callable[[], None]:
    """Points descriptor 2 at the null device; returns what undoes it."""
    try:
        saved = os.dup(STDERR)
    except OSError:  # closed, as in a daemon: nothing is written, nothing to do
        return lambda: None
    python_stderr = sys.stderr
    raw = _RawStderr(saved)
    substitute = io.TextIOWrapper(io.BufferedWriter(raw), "utf-8", "backslashreplace", line_buffering=True)
    if _descriptor(python_stderr) == STDERR:
        # sys.stderr of a plain process writes to descriptor 2; under ipykernel and pytest it has a way of its own.
        python_stderr.flush()
        sys.stderr = substitute
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, STDERR)
    os.close(null)

    def restore() -> None:
        if _descriptor(python_stderr) == STDERR:
            python_stderr.flush()  # written to the old object, as C++ writes to the descriptor: dropped alike
        if sys.stderr is substitute:
            sys.stderr = python_stderr
        substitute.flush()
        os.dup2(saved, STDERR)
        raw.descriptor = STDERR
        os.close(saved)

    return restore


class _RawStderr(io.RawIOBase):
    """Writes to a descriptor that can be exchanged: logging handlers made in a block keep this stream for good."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self.descriptor

    def write(self, data: Buffer, /) -> int:
        return os.write(self.descriptor, data)


def _descriptor(stream: object) -> int | None:
    """The file descriptor behind `stream`, or None if there is none."""
    try:
        number = stream.fileno()  # type: ignore[attr-defined]
    except (AttributeError, OSError, ValueError):
        return None
    return number if isinstance(number, int) else None


def _quiet_loggers() -> None:
    """Raises the level of the Python loggers that exist by now; never imports anything."""
    if tf_logging := sys.modules.get("tensorflow.python.platform.tf_logging"):
        # TensorFlow sets a level of its own when it first makes its logger: let it, then overrule it.
        tf_logging.get_logger().setLevel("ERROR")
    if absl_logging := sys.modules.get("absl.logging"):
        absl_logging.set_verbosity(absl_logging.ERROR)

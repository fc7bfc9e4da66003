"""The closed table of exceptions that cross by name, and how one is told from the other side."""

from __future__ import annotations

import builtins
import json
import queue
import subprocess
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

from tflabs.grading.examiner.codec import dumps
from tflabs.grading.examiner.errors import CannotCross

MAX_MESSAGE = 20_000
MAX_TRACE = 4_000

_HERE = str(Path(__file__).parent)
_OF_PYTHON: dict[str, type[Exception]] = {
    name: value for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, Exception)
} | {
    "queue.Empty": queue.Empty,
    "queue.Full": queue.Full,
    "threading.BrokenBarrierError": threading.BrokenBarrierError,
    "json.JSONDecodeError": json.JSONDecodeError,
    "subprocess.CalledProcessError": subprocess.CalledProcessError,
    "subprocess.TimeoutExpired": subprocess.TimeoutExpired,
}
_WITH_TENSORFLOW: dict[str, type[Exception]] = {}


def known() -> dict[str, type[Exception]]:
    """The exceptions that cross by name: Python's, a few of the standard library's, TensorFlow's once it is loaded."""
    tf = sys.modules.get("tensorflow")
    if tf is None or not hasattr(tf, "errors"):
        return _OF_PYTHON
    if not _WITH_TENSORFLOW:
        errors = {f"tensorflow.{name}": value for name, value in vars(tf.errors).items() if _is_op_error(tf, value)}
        _WITH_TENSORFLOW.update(_OF_PYTHON | errors)
    return _WITH_TENSORFLOW


def _is_op_error(tf: Any, value: object) -> bool:
    return isinstance(value, type) and issubclass(value, tf.errors.OpError)


def name_of(kind: type[BaseException]) -> str | None:
    """The name under which exactly this class crosses. OSError has aliases; any of them will do."""
    return next((name for name, value in known().items() if value is kind), None)


def plain_arguments(error: BaseException) -> tuple[Any, ...] | None:
    """The arguments of an exception if all of them are plain data."""
    try:
        arguments = tuple(error.args)
        dumps(arguments)
    except (Exception, CannotCross):
        return None
    return arguments


def message_of(error: BaseException) -> str:
    """What an exception says; `str` of a learner's exception may do anything."""
    try:
        text = getattr(error, "message", None)
        text = text if type(text) is str else str(error)
    except Exception:
        return ""
    return text[:MAX_MESSAGE] if type(text) is str else ""


def trace_of(error: BaseException) -> str:
    """Where an exception was raised, without the frames of this package."""
    try:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(_HERE)]
        return "".join(traceback.format_list(frames))[-MAX_TRACE:]
    except Exception:
        return ""


def made(kind: type[Exception], arguments: tuple[Any, ...] | None, message: str) -> Exception:
    """An exception of a class of the table (or a mirror of a learner's), told by its plain arguments or its message."""
    tf = sys.modules.get("tensorflow")
    if tf is not None and hasattr(tf, "errors") and issubclass(kind, tf.errors.OpError):
        # exact subclasses take (node_def, op, message), OpError itself also the code
        return kind(None, None, message, 2) if kind is tf.errors.OpError else kind(None, None, message)
    for given in (arguments, (message,)):
        try:
            if given is not None:
                error = kind(*given)
                return error if type(error) is kind else RuntimeError(message)
        except Exception:
            continue
    return Exception(message)

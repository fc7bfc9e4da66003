"""The other side of `in_fresh_process`: a script, run by path, that calls one function and leaves its answer in a file.

Its arguments are three inherited descriptors:

- a file with pickle((sys.path, sources, payload)): source lines by file name, and a pickle of (function, args);
- an empty file for the answer, pickle((True, pickle of the value, "")) or pickle((False, exception, traceback));
- the reading end of a pipe that ends when the parent does.
"""

import contextlib
import ctypes
import linecache
import os
import pickle
import signal
import sys
import threading
import traceback


def main() -> None:
    request, result, lifeline = map(int, sys.argv[1:])
    for descriptor in (request, result, lifeline):
        os.set_inheritable(descriptor, False)
    threading.Thread(target=_end_with_parent, args=(lifeline,), daemon=True).start()
    del sys.argv[1:]
    with open(request, "rb") as file:  # noqa: PTH123 - a descriptor
        sys.path[:], sources, payload = pickle.load(file)
    for name, lines in sources.items():
        linecache.cache[name] = (sum(map(len, lines)), None, lines, name)
    answer = _call(payload)
    with open(result, "wb") as file:  # noqa: PTH123
        pickle.dump(answer, file)
    _flush()
    # Not the interpreter's own end: threads of a server or a crash while libraries unload must not spoil the answer.
    os._exit(0)


def _call(payload: bytes) -> tuple[bool, bytes | str, str]:
    try:
        import cloudpickle

        function, args = pickle.loads(payload)
        return True, cloudpickle.dumps(function(*args)), ""
    except BaseException as error:
        # SystemExit included: an answer is what was asked for.
        lines = traceback.format_exception(type(error), error, error.__traceback__ and error.__traceback__.tb_next)
        return False, "".join(traceback.format_exception_only(error)).strip(), "".join(lines)


def _end_with_parent(lifeline: int) -> None:
    """Ends this process group when the parent is gone; nothing is ever written to the pipe."""
    os.read(lifeline, 1)
    os.killpg(0, signal.SIGKILL)


def _flush() -> None:
    """Python's and C's buffers: oneDNN and others print through C's stdout, which a pipe makes fully buffered."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):  # the function closed or replaced it
            stream.flush()
    ctypes.CDLL(None).fflush(None)


if __name__ == "__main__":
    main()

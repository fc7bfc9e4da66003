"""Starts a thread in a process that forks, after its first fork: a module that no fork server should have imported."""

import os
import threading

_forked, _started = threading.Event(), threading.Event()


def _later() -> None:
    _forked.wait()
    threading.Thread(target=threading.Event().wait, daemon=True).start()
    _started.set()
    threading.Event().wait()


def _after_fork() -> None:
    _forked.set()
    _started.wait()


threading.Thread(target=_later, daemon=True).start()
os.register_at_fork(after_in_parent=_after_fork)

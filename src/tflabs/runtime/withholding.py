"""Names that a learner's code may not call, because the exercise is to build them."""

from __future__ import annotations

import importlib
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tflabs.runtime.codeswap import Restore, block, original


@contextmanager
def withheld(*names: str) -> Iterator[None]:
    """Makes public callables raise `RuntimeError("build this yourself: NAME is withheld here")` inside the block.

    A name is a dotted path from a module: of a function or class (`"tensorflow.gradients"`,
    `"tensorflow.compat.v1.Session"`), of a method (`"tensorflow.compat.v1.Session.run"`: of all classes that share it),
    or of a module (`"tensorflow.raw_ops"`: every public function and class in it and in its submodules; the message
    names the one that was called). NAME is the name as given, if two names mean one object the first.

    It is the object that is withheld, in the whole process: under every name and in every thread, for references that
    exist already, and for TensorFlow's own code that calls it. A test takes its truth outside the block. Instances of
    a withheld class that were made before still work, except where they make new ones (`Variable.assign_add`).

    Blocks may be nested and may overlap in several threads; a callable works again when the last block that names it
    has ended. `tflabs.runtime.codeswap.block` says how it is done and what stays open for functions written in C.

    Raises:
        AttributeError: a name does not resolve; nothing is withheld then.
        TypeError: a name is that of something that is not called, or cannot be made to raise.
        ValueError: no name is given.
    """
    restore = _install(names)
    try:
        yield
    finally:
        restore()


@dataclass
class _Held:
    """A withheld callable. It holds the target, so that its id stays its own."""

    target: Any
    restore: Restore
    blocks: int  # `with` blocks that name it


_lock = threading.RLock()
_held: dict[int, _Held] = {}


def _install(names: tuple[str, ...]) -> Callable[[], None]:
    """Withholds `names` in this process; the returned function ends it. The only seam of `withheld`."""
    if not names:
        raise ValueError("withheld() without a name withholds nothing")
    with _lock:
        targets: dict[int, tuple[str, Any]] = {}
        for name in names:
            for path, target in _callables(name, _resolve(name)):
                targets.setdefault(id(target), (path, target))
        taken: list[int] = []
        try:
            for key, (path, target) in targets.items():
                _take(key, path, target)
                taken.append(key)
        except BaseException:
            _release(taken)
            raise
    return lambda: _release(taken)


def _take(key: int, path: str, target: Any) -> None:
    if key in _held:
        _held[key].blocks += 1
    else:
        _held[key] = _Held(target, block(target, f"build this yourself: {path} is withheld here"), 1)


def _release(keys: list[int]) -> None:
    with _lock:
        for key in reversed(keys):
            _held[key].blocks -= 1
            if _held[key].blocks == 0:
                _held.pop(key).restore()


def _resolve(name: str) -> Any:
    """The object of a dotted path: an attribute where there is one, else a submodule."""
    head, *parts = name.split(".")
    try:
        found: Any = importlib.import_module(head)
    except (ImportError, ValueError):
        raise AttributeError(f"{name!r} does not resolve: there is no module {head!r}") from None
    path = head
    for part in parts:
        try:
            found = getattr(found, part)
        except AttributeError:
            try:
                found = importlib.import_module(f"{path}.{part}")
            except ImportError:
                raise AttributeError(f"{name!r} does not resolve: {path!r} has no attribute {part!r}") from None
        path = f"{path}.{part}"
    return _target(found)


def _target(found: Any) -> Any:
    return original(found.__func__ if isinstance(found, types.MethodType) else found)


def _callables(name: str, found: Any) -> list[tuple[str, Any]]:
    """What `name` withholds: the callable itself, or the public functions and classes of a module."""
    if not isinstance(found, types.ModuleType):
        if not callable(found):
            raise TypeError(f"{name!r} cannot be withheld: {type(found).__name__} is not called")
        return [(name, found)]
    callables: list[tuple[str, Any]] = []
    for attribute in dir(found):
        if attribute.startswith("_"):
            continue
        member = getattr(found, attribute)
        path = f"{name}.{attribute}"
        if isinstance(member, types.ModuleType):
            if member.__name__.startswith(f"{found.__name__}."):
                callables += _callables(path, member)
        elif isinstance(member, types.FunctionType | type) and not _is_exception(member):
            callables.append((path, original(member)))
    return callables


def _is_exception(member: Any) -> bool:
    return isinstance(member, type) and issubclass(member, BaseException)

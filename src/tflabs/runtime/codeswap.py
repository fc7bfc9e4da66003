"""Making one callable raise, in place: every reference to it that exists already is covered."""

from __future__ import annotations

import functools
import sys
import types
import warnings
from collections.abc import Callable
from typing import Any

Restore = Callable[[], None]

_ORIGINAL = "__tflabs_original__"


def block(target: Any, message: str) -> Restore:
    """Makes a call of `target` raise `RuntimeError(message)`; the returned function puts everything back.

    - A Python function gets other code and keeps its identity.
    - A class gets a raising `__init__`, which its subclasses inherit, and, where its metaclass has a `__call__` in
      Python that may make instances of other classes (`tf.Variable`), a guard there.
    - Another object with a `__call__` in Python (a `tf.function`) becomes an instance of a subclass of its class.
    - Everything else (functions and classes written in C) is replaced wherever a module of `sys.modules` has it as an
      attribute; references in containers, closures and instances stay open.

    Raises:
        TypeError: `target` cannot be blocked in any of these ways.
    """
    if isinstance(target, types.FunctionType):
        return _swap_code(target, message)
    if isinstance(target, type):
        return _block_class(target, message)
    if _python_call(type(target)):
        return _swap_class(target, message)
    return _replace_in_modules(target, message)


def original(candidate: Any) -> Any:
    """`candidate`, or what it stands for if it is the replacement of a blocked callable."""
    return getattr(candidate, _ORIGINAL, candidate) if isinstance(candidate, types.FunctionType) else candidate


def _raiser(message: str) -> Callable[..., Any]:
    def blocked(*_args: Any, **_kwargs: Any) -> Any:
        raise RuntimeError(message)

    return blocked


def _swap_code(function: types.FunctionType, message: str) -> Restore:
    before = function.__code__
    _set_code(function, _raising_code(message, len(before.co_freevars)))
    return functools.partial(_set_code, function, before)


def _set_code(function: types.FunctionType, code: types.CodeType) -> None:
    with warnings.catch_warnings():
        # Python 3.13 warns where a generator function becomes a plain one; it is meant here, both ways.
        warnings.simplefilter("ignore", DeprecationWarning)
        function.__code__ = code


def _raising_code(message: str, cells: int) -> types.CodeType:
    """Code that raises and has `cells` free variables: CPython wants as many as the function's closure has cells.

    It is compiled, not edited, so that the interpreter's instructions for free variables are the right ones.
    """
    names = [f"cell{index}" for index in range(cells)]
    lines = [
        "def enclosing():",
        *(f"    {name} = None" for name in names),
        "    def blocked(*_args, **_kwargs):",
        f"        raise RuntimeError({message!r})",
        *(f"        {name}" for name in names),
        "    return blocked",
    ]
    namespace: dict[str, Any] = {}
    exec(compile("\n".join(lines), "<withheld>", "exec"), namespace)
    code: types.CodeType = namespace["enclosing"]().__code__
    return code


def _block_class(cls: type, message: str) -> Restore:
    had, before = "__init__" in vars(cls), vars(cls).get("__init__")
    # Not __new__: once set, it cannot be unset without a trace (object.__new__ then refuses arguments).
    try:
        type.__setattr__(cls, "__init__", _raising_init(message))
    except TypeError:  # a class of C
        return _replace_in_modules(cls, message)
    unguard = _guard_metaclass(cls, message)

    def restore() -> None:
        unguard()
        if had:
            type.__setattr__(cls, "__init__", before)
        else:
            type.__delattr__(cls, "__init__")

    return restore


def _raising_init(message: str) -> Callable[..., None]:
    def blocked(self: Any, *_args: Any, **_kwargs: Any) -> None:
        _silence_finalizer(self)
        raise RuntimeError(message)

    return blocked


def _silence_finalizer(instance: Any) -> None:
    """Keeps `__del__` from an instance whose `__init__` did not run: `BaseSession.__del__` would complain on stderr."""
    cls = type(instance)
    if hasattr(cls, "__del__"):
        instance.__class__ = _subclass(cls, __del__=lambda self: None)


def _subclass(cls: type, **namespace: Any) -> type:
    """A subclass with the memory layout of `cls`, so that an instance can change to it. Runs no class hooks."""
    return type.__new__(type(cls), cls.__name__, (cls,), {"__slots__": (), **namespace})


def _guard_metaclass(cls: type, message: str) -> Restore:
    """Stops calls of `cls` and its subclasses in a metaclass whose `__call__` is Python; no such: does nothing."""
    found = _python_call(type(cls))
    if found is None:
        return lambda: None
    meta, call = found
    if not hasattr(call, "blocked_classes"):
        call = _guarded(call)
        type.__setattr__(meta, "__call__", call)
    call.blocked_classes[cls] = message

    def restore() -> None:
        del call.blocked_classes[cls]
        if not call.blocked_classes:
            type.__setattr__(meta, "__call__", call.__wrapped__)

    return restore


def _guarded(call: Callable[..., Any]) -> Any:
    blocked_classes: dict[type, str] = {}

    @functools.wraps(call)
    def guard(cls: type, *args: Any, **kwargs: Any) -> Any:
        for base in cls.__mro__:
            if base in blocked_classes:
                raise RuntimeError(blocked_classes[base])
        return call(cls, *args, **kwargs)

    guard.blocked_classes = blocked_classes  # type: ignore[attr-defined]
    return guard


def _python_call(cls: type) -> tuple[type, Any] | None:
    """The class that gives `cls` its `__call__` and the function itself, if that is written in Python."""
    owner = next((base for base in cls.__mro__ if "__call__" in vars(base)), None)
    if owner is None or not isinstance(vars(owner)["__call__"], types.FunctionType):
        return None
    return owner, vars(owner)["__call__"]


def _swap_class(target: Any, message: str) -> Restore:
    before = type(target)
    object.__setattr__(target, "__class__", _subclass(before, __call__=_raiser(message)))
    return functools.partial(object.__setattr__, target, "__class__", before)


def _replace_in_modules(target: Any, message: str) -> Restore:
    substitute = _raiser(message)
    setattr(substitute, _ORIGINAL, target)
    if not _rebind(target, substitute):
        raise TypeError(f"cannot make {target!r} raise: no module has it as an attribute")

    def restore() -> None:
        _rebind(substitute, target)  # also where it was copied to in the meantime

    return restore


def _rebind(old: Any, new: Any) -> int:
    """Replaces `old` in the namespaces of all modules; returns how often."""
    count = 0
    for module in list(sys.modules.values()):
        namespace = getattr(module, "__dict__", None)
        if not isinstance(namespace, dict):
            continue
        for name in [name for name, value in list(namespace.items()) if value is old]:
            namespace[name] = new
            count += 1
    return count

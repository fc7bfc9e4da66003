"""What the examiner sends to the witness to prepare a test that must run in the learner's process.

It is never imported over there: its source is compiled by the examiner, with that of `measure` before it. The test gets
a namespace of its own, in which Python's names are those from before the learner's first cell and the lab's functions
are made anew from the lab's source; of the learner's names it finds those that the lab's answers define.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from tflabs.grading.examiner.measure import BUILTIN, FUNCTION, HEAP_TYPE, MODULE, NOTHING, measured

PROTOCOLS = ("__array__", "__array_ufunc__", "__array_function__", "__array_interface__", "__array_struct__")


class NotPlain(BaseException):
    """A value whose comparison would be the learner's own code."""


class Names(dict):  # type: ignore[type-arg] # `Any` is no name over there
    """`__builtins__` of a test: as `cells.Builtins`, with the learner's namespace at hand."""

    def __init__(self, python: dict[str, Any], namespace: dict[str, Any], names: list[str] | None) -> None:
        super().__init__(python)
        self._namespace, self._names = namespace, names

    def __missing__(self, name: str) -> Any:
        hidden = name.startswith("_") if self._names is None else name not in self._names
        if hidden or name not in self._namespace:
            raise KeyError(name)
        return self._namespace[name]


class Judge:
    """Watches over one test while it runs. The test's own lines call it, see `proof.Guarded`."""

    def __init__(self, outcome: dict[str, Any], measurer: Any, own: set[type], libraries: set[str]) -> None:
        self._outcome, self._own, self._libraries = outcome, own, libraries
        self._bound, self._codes = list(measurer.bound), list(measurer.codes)
        self._tracing = sys.gettrace, sys.getprofile
        self._modules = sys.modules

    def watch(self) -> None:
        """Note what was changed since the test began."""
        for ask in self._tracing:
            if ask() is not None:
                self._outcome["changed"].add(f"sys.{ask.__name__[3:]}")
        for scope, name, value in self._bound:
            if scope.get(name, NOTHING) is not value:
                self._outcome["changed"].add(f"{scope.get('__name__')}.{name}")
        for function, code in self._codes:
            if function.__code__ is not code:
                self._outcome["changed"].add(f"{function.__module__}.{function.__qualname__}")

    def noted(self, message: Any = "") -> Any:
        """The message of an assertion that failed in a function of the test, and could be swallowed."""
        self._outcome["failure"] = self._outcome["failure"] or str(message) or "an assertion of the test failed"
        return message

    def plain(self, x: Any) -> Any:
        """An operand of a comparison, if comparing it does not ask the learner's code."""
        self._inspect(x, 0)
        return x

    def argument(self, x: Any) -> Any:
        """An argument of one of the lab's or NumPy's functions, if it does not decide what NumPy sees of it."""
        kind = type(x)
        if not self._known(kind) and any(not self._known(self._owner(kind, name)) for name in PROTOCOLS):
            self._refuse(kind)
        return x

    def ended(self) -> None:
        self._outcome["ended"] = True

    def _inspect(self, x: Any, depth: int) -> None:
        kind = type(x)
        if kind in ATOMS:
            return
        trusted = self._known(kind) or kind in self._own
        if not trusted and not all(self._known(self._owner(kind, name)) for name in ("__eq__", "__ne__", *PROTOCOLS)):
            self._refuse(kind)
        if depth < 40:
            base: Any
            for base in CONTAINERS:
                if isinstance(x, base):
                    for item in base.__iter__(x):
                        self._inspect(item, depth + 1)
            for item in dict.values(x) if isinstance(x, dict) else self._attributes(x) if kind in self._own else ():
                self._inspect(item, depth + 1)

    def _attributes(self, x: Any) -> list[Any]:
        """What a record of a given class holds, in its dict or in slots."""
        found = list(getattr(x, "__dict__", {}).values())
        for base in type(x).__mro__:
            names = base.__dict__.get("__slots__", ())
            found += [getattr(x, name) for name in ([names] if isinstance(names, str) else names) if hasattr(x, name)]
        return found

    def _refuse(self, kind: type) -> None:
        self._outcome["refused"] = type.__dict__["__name__"].__get__(kind)
        raise NotPlain

    def _owner(self, kind: type, name: str) -> type:
        """The class from which instances have a method; `object` if there is none."""
        return next(
            (
                base
                for base in type.__dict__["__mro__"].__get__(kind)
                if name in type.__dict__["__dict__"].__get__(base)
            ),
            object,
        )

    def _known(self, kind: type) -> bool:
        """Whether a class is of Python's, or found under its name in a library."""
        if not kind.__flags__ & HEAP_TYPE:
            return True
        names = type.__dict__["__dict__"].__get__(kind)
        module = names.get("__module__")
        if type(module) is not str or module not in self._libraries:
            return False
        found: Any = self._modules.get(module)
        for part in type.__dict__["__qualname__"].__get__(kind).split("."):
            found = getattr(found, part, None)
        return found is kind


ATOMS = frozenset((int, float, str, bytes, bool, type(None), complex, type, FUNCTION, BUILTIN, MODULE))
CONTAINERS = (list, tuple, set, frozenset, dict)


def prepared(
    arguments: dict[str, Any],
    given: dict[str, Any],
    namespace: dict[str, Any],
    python: dict[str, Any],
    outcome: dict[str, Any],
) -> Callable[[], None]:
    """A function that runs the test on the thread that calls it, and writes into `outcome` what became of it."""
    own = {value for value in given.values() if isinstance(value, type)}
    judge = Judge(outcome, measured(arguments["spec"], given), own, set(arguments["libraries"]))
    scope: dict[str, Any] = {"__name__": "__main__", "__builtins__": Names(python, namespace, arguments["names"])}
    scope |= given | {arguments["judge"]: judge}
    outcome["scope"] = scope  # emptied when the test is over: what it defined is not for the cells behind it
    for name, code in arguments["functions"].items():
        old = given.get(name)
        if type(old) is FUNCTION and old.__closure__ is None and old.__globals__ is namespace:
            scope[name] = FUNCTION(code, scope, name, old.__defaults__)
            scope[name].__kwdefaults__ = old.__kwdefaults__
    settrace, setprofile, execute, code = sys.settrace, sys.setprofile, exec, arguments["code"]

    def test() -> None:
        settrace(None)
        setprofile(None)
        try:
            execute(code, scope)
        finally:
            judge.watch()

    return test

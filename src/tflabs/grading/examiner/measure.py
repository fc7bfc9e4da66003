"""What code is made of, as short texts that two processes with the same libraries agree on.

The examiner measures its own process, and has a `witness` measure the learner's with the same source: what differs was
changed by the learner. Over there `sys` and `sha256` are those from before the learner's first cell; nothing else is
imported, and of Python only what no assignment can replace is relied upon: syntax, and types that C defines.
"""

from __future__ import annotations

import sys
from hashlib import sha256
from typing import Any

FUNCTION, MODULE, CODE = type(lambda: 0), type(sys), type((lambda: 0).__code__)
BUILTIN: type = type(len)
FOLLOWED = ("__main__", "numpy", "tflabs", "contextlib")  # packages whose functions are measured with all they call
WRAPPING = (
    "__wrapped__",
    "_implementation",
    "__func__",
    "func",
    "fget",
)  # where a callable keeps the one it stands for
HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: a class that can be changed
NOTHING = object()


class Measurer:
    """One measurement.

    `texts` holds a digest of each function, by where it was found. `bound` and `codes` are what a quick second look
    needs: the names under which functions were found, and the functions with the code that they had.
    """

    def __init__(self, given: dict[str, Any]) -> None:
        self.given = given
        self.texts: dict[str, str] = {}
        self.bound: list[tuple[dict[str, Any], str, Any]] = []
        self.codes: list[tuple[Any, Any]] = []
        self.seen: dict[int, str] = {}  # by id; what was seen is held by its module
        self.rest: list[tuple[str, Any]] = []

    def measure(self, roots: dict[str, Any]) -> None:
        self.rest += roots.items()
        while self.rest:
            where, x = self.rest.pop()
            if where not in self.texts:
                self.texts[where] = self.seen.get(id(x)) or "…"
                if id(x) not in self.seen:
                    self.seen[id(x)] = f"= {where}"
                    self.texts[where] = self._text(where, x)

    def _text(self, where: str, x: Any) -> str:
        kind = type(x)
        if kind is FUNCTION:
            self._function(where, x)
            defaults = constant_text(x.__defaults__), constant_text(x.__kwdefaults__)
            return digest(f"{code_text(x.__code__)} {defaults}")
        if issubclass(kind, type):
            self._class(where, x)
            return f"class {x.__module__}.{x.__qualname__}"
        if kind is BUILTIN:
            return f"builtin {x.__module__}.{x.__qualname__}"
        if issubclass(kind, MODULE):
            return "module"  # one that is loaded when it is needed has another class and name before
        for name in WRAPPING:
            inner = getattr(x, name, None) if callable(x) or kind in (property, staticmethod, classmethod) else None
            if inner is not None:
                self.rest.append((f"{where}.{name}", inner))
        return kind.__qualname__

    def _function(self, where: str, x: Any) -> None:
        for number, cell in enumerate(x.__closure__ or ()):
            inner = contents(cell)
            if type(inner) is FUNCTION or issubclass(type(inner), type):
                self.rest.append((f"{where}[{number}]", inner))
        scope = x.__globals__
        module = str(scope.get("__name__"))
        if module.partition(".")[0] not in FOLLOWED:
            return  # the code of others changes in blocks of `withheld`
        self.codes.append((x, x.__code__))
        names = all_names(x.__code__)
        for name in names:
            found = scope.get(name, NOTHING)
            if module == "__main__":
                found = self.given.get(name, NOTHING)
            if found is NOTHING or isinstance(found, DATA):
                continue
            self._bound(scope, module, name, found)
            if isinstance(found, MODULE) and found.__name__.partition(".")[0] in FOLLOWED:
                inside = vars(found)
                for inner in names:
                    if inner in inside and not isinstance(inside[inner], (*DATA, MODULE)):
                        self._bound(inside, found.__name__, inner, inside[inner])

    def _bound(self, scope: dict[str, Any], module: str, name: str, found: Any) -> None:
        self.bound.append((scope, name, found))
        self.rest.append((f"{module}.{name}", found))

    def _class(self, where: str, x: type) -> None:
        for base in x.__mro__:
            if not base.__flags__ & HEAP_TYPE:
                continue
            place = where if base is x else f"{base.__module__}.{base.__qualname__}"
            if base is not x:
                self.rest.append((place, base))
                continue
            for name, value in dict(vars(base)).items():
                if type(value) in (FUNCTION, staticmethod, classmethod, property):
                    self.rest.append((f"{place}.{name}", value))


DATA = (int, float, complex, str, bytes, tuple, list, dict, set, frozenset, type(None))


def contents(cell: Any) -> Any:
    """Of a closure's cell, which may be empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


def all_names(code: Any) -> dict[str, None]:
    """Every name that a function, or one inside it, reads from its module or as an attribute; in order."""
    names = dict.fromkeys(code.co_names)
    for constant in code.co_consts:
        if type(constant) is CODE:
            names.update(all_names(constant))
    return names


def code_text(code: Any) -> str:
    """The code without the places that it came from."""
    parts = (code.co_name, code.co_flags, code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return f"{parts} {names} {code.co_code!r} {constant_text(code.co_consts)}"


def constant_text(x: Any) -> str:
    """A constant; of what is no constant only its kind."""
    kind = type(x)
    if kind is CODE:
        return code_text(x)
    if kind is tuple:
        return f"({', '.join([constant_text(item) for item in x])})"
    if kind is frozenset:
        return f"{{{', '.join(sorted([constant_text(item) for item in x]))}}}"
    if kind is dict:
        return f"{{{', '.join([f'{key}: {constant_text(value)}' for key, value in x.items()])}}}"
    return repr(x) if kind in (int, float, complex, str, bytes, bool, type(None), type(...)) else kind.__qualname__


def digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def measured(spec: dict[str, Any], given: dict[str, Any]) -> Measurer:
    """The measurement of what `spec` names: builtins, members of modules, and chains of attributes of given names."""
    measurer = Measurer(given)
    python = vars(sys.modules["builtins"])
    found = {f"builtins.{name}": python.get(name) for name in spec["builtins"]}
    for module in spec["modules"]:
        for name, value in dict(vars(sys.modules[module])).items():
            if type(value) in (FUNCTION, type) and value.__module__ == module:
                found[f"{module}.{name}"] = value
    for first, *rest in spec["chains"]:
        where, value = first, given.get(first, NOTHING)
        for name in rest:
            holder, value = value, getattr(value, name, NOTHING)
            where = f"{where}.{name}"
            if value is NOTHING or isinstance(value, DATA):
                break
            found[where] = value
            if name in (getattr(holder, "__dict__", None) or ()) and isinstance(holder, MODULE):
                measurer.bound.append((vars(holder), name, value))
        if not rest and not isinstance(value, DATA):
            found[first] = value
    measurer.measure(found)
    return measurer

"""In the learner's process: the objects that the examiner knows by number, and the forms in which values cross."""

from __future__ import annotations

import dataclasses
import enum
import importlib
import threading
import types
from collections import namedtuple
from collections.abc import Callable
from typing import Any

from tflabs.grading.examiner import codec
from tflabs.grading.examiner.codec import Decoder, Encoder
from tflabs.grading.examiner.exceptions import known, made, name_of

# Asks the examiner: ("call", number, args, kwargs) or ("next", number).
Ask = Callable[..., Any]
MAX_METHODS = 100  # of a class, that are told
FUNCTIONS = (types.FunctionType, types.MethodType, types.BuiltinFunctionType)


class Opaque:
    """An `object()` of a test. It can be kept, compared by identity and given back."""

    __slots__ = ("_number",)

    def __init__(self, number: int) -> None:
        self._number = number


class Missing:
    """In the place of a given class that the learner removed."""


class Given:
    """A function or an iterator of a test, called and advanced in the examiner's process."""

    def __init__(self, ask: Ask, number: int, name: str = "iterator") -> None:
        self._ask, self._number = ask, number
        self.__name__ = self.__qualname__ = name


class GivenFunction(Given):
    """A function of a test."""

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._ask("call", self._number, args, kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """As a function does, so that it can be made a method."""
        return self if instance is None else types.MethodType(self, instance)


class GivenIterator(Given):
    """An iterator of a test."""

    def __iter__(self) -> GivenIterator:
        return self

    def __next__(self) -> Any:
        return self._ask("next", self._number)


class Objects:
    """What the examiner holds of this process, by number, and the codec's envelopes for it."""

    def __init__(self, namespace: dict[str, Any], ask: Ask) -> None:
        self.namespace, self.ask = namespace, ask
        self.records: frozenset[str] = frozenset()  # names of the examiner's own dataclasses
        self._held: dict[int, Any] = {}
        self._counts: dict[int, int] = {}
        self._numbers: dict[int, int] = {}  # by id(object); an object that is held keeps its id
        self._next = 1
        self._classes: dict[type, tuple[int, frozenset[str]]] = {}  # whose methods were told, by their number
        self._lock = threading.RLock()
        self.table: codec.Table = codec.VALUES | {
            "h": (1, lambda decoder, parts: self._held[parts[0]]),
            "f": (2, lambda decoder, parts: self._once(parts[0], lambda: GivenFunction(self.ask, *parts))),
            "g": (
                1,
                lambda decoder, parts: self._once(parts[0], lambda: GivenIterator(self.ask, parts[0])),
            ),
            "o": (1, lambda decoder, parts: self._once(parts[0], lambda: Opaque(parts[0]))),
            "n": (2, lambda decoder, parts: _named(*parts)),
            "own": (1, lambda decoder, parts: self.namespace.get(parts[0], Missing)),
            "kx": (1, lambda decoder, parts: known()[parts[0]]),
            "en": (2, lambda decoder, parts: self.namespace[parts[0]][parts[1]]),
            "r": (5, self._record),
            "e": (3, self._exception),
        }
        self._given: dict[int, Given | Opaque] = {}  # what the test gave out: one object for each of its own

    def hold(self, x: Any) -> int:
        """The number of an object, which is kept until the examiner has released it as often as it was sent."""
        with self._lock:
            number = self._numbers.get(id(x))
            if number is None:
                number, self._next = self._next, self._next + 1
                self._held[number], self._numbers[id(x)], self._counts[number] = x, number, 0
            self._counts[number] += 1
            return number

    def release(self, counts: list[tuple[int, int]]) -> None:
        """The examiner has dropped objects that it got so many times."""
        with self._lock:
            for number, count in counts:
                self._counts[number] -= count
                if self._counts[number] <= 0:
                    del self._counts[number]
                    del self._numbers[id(self._held.pop(number))]

    def encode(self, encoder: Encoder, x: Any) -> list[Any]:
        """The envelope of what has no plain form."""
        kind = type(x)
        if kind in (GivenFunction, GivenIterator, Opaque):
            return ["k", x._number]
        if isinstance(x, type):
            return self._encode_class(x)
        if isinstance(x, enum.Enum) and kind.__name__ in self.records:
            return ["en", kind.__name__, x.name]
        if isinstance(x, tuple) and type(getattr(kind, "_fields", None)) is tuple:
            values = encoder.values(tuple.__iter__(x))
            return ["nt", kind.__name__, list(kind._fields), values, self.hold(x)]
        if dataclasses.is_dataclass(x) and kind.__name__ in self.records:
            names = [field.name for field in dataclasses.fields(x)]
            return ["dc", kind.__name__, names, encoder.values(getattr(x, name) for name in names)]
        if isinstance(x, FUNCTIONS):
            return ["h", self.hold(x), "function", str(getattr(x, "__name__", "?"))[:100]]
        return self._encode_instance(x)

    def _encode_instance(self, x: Any) -> list[Any]:
        """With the names of its methods, told once for each class of the notebook's: they need not be asked for."""
        kind = type(x)
        plain = ["h", self.hold(x), "object", kind.__name__[:100]]
        if kind.__module__ != "__main__" or getattr(kind, "__getattribute__", None) is not object.__getattribute__:
            return plain
        with self._lock:
            told = kind in self._classes
            number, names = self._classes.setdefault(kind, (len(self._classes), methods(kind)))
        if not names.isdisjoint(getattr(x, "__dict__", ())):
            return plain  # this one has its own
        return ["hm", *plain[1:], number, None if told else sorted(names)]

    def _encode_class(self, x: type) -> list[Any]:
        if issubclass(x, BaseException):
            return self.encode_exception_class(x)
        if type(x) is type and x.__module__ == "builtins":
            return ["bt", x.__name__]
        return ["h", self.hold(x), "class", x.__name__[:100]]

    def encode_exception_class(self, x: type[BaseException]) -> list[Any]:
        """A class of the table by its name; a learner's by the chain of numbers and names up to one of the table."""
        chain: list[Any] = []
        for kind in x.__mro__:
            name = name_of(kind) if issubclass(kind, BaseException) else None
            if name is not None:
                return ["x", name, chain]
            if issubclass(kind, BaseException) and kind.__module__ != "builtins":
                chain.append([self.hold(kind), kind.__name__[:100]])
        return ["x", None, []]  # SystemExit and its like

    def forget_given(self) -> None:
        """A new cell begins: what an earlier one gave out is of no use any more."""
        self._given.clear()

    def _once(self, number: int, make: Callable[[], Given | Opaque]) -> Given | Opaque:
        with self._lock:
            if number not in self._given:
                self._given[number] = make()
            return self._given[number]

    def _record(self, decoder: Decoder, parts: list[Any]) -> Any:
        module, name, is_tuple, fields, values = parts
        values = decoder.values(values)
        kind: Any = self.namespace.get(name) if module == "__main__" else _named(module, name)
        if is_tuple:
            if not (isinstance(kind, type) and issubclass(kind, tuple)):
                kind = namedtuple(name, fields)  # type: ignore[misc, no-redef] # the learner removed the given class
            return tuple.__new__(kind, values)
        if not isinstance(kind, type):
            return types.SimpleNamespace(**dict(zip(fields, values, strict=True)))
        record: Any = object.__new__(kind)
        for field, value in zip(fields, values, strict=True):
            object.__setattr__(record, field, value)
        return record

    def _exception(self, decoder: Decoder, parts: list[Any]) -> BaseException:
        kind, arguments, message = decoder.values(parts)
        if isinstance(kind, type) and issubclass(kind, Exception):
            error = made(kind, arguments, message)
            if type(error) is kind or not isinstance(parts[0], list):
                return error
        return Exception(message)


def methods(kind: type) -> frozenset[str]:
    """The public names that are functions of a class, or of one above it."""
    found: dict[str, Any] = {}
    for above in reversed(kind.__mro__):
        found.update(vars(above))
    names = [name for name, value in found.items() if type(value) is types.FunctionType and not name.startswith("_")]
    return frozenset(names[:MAX_METHODS])


def _named(module: str, name: str) -> Any:
    """What the examiner names; it only names what its own process holds under that name."""
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found

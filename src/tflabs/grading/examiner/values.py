"""In the examiner: the forms in which values cross to the learner's process and come back."""

from __future__ import annotations

import builtins
import dataclasses
import enum
import re
import sys
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

from tflabs.grading.examiner import codec
from tflabs.grading.examiner.codec import Decoder, Encoder, need
from tflabs.grading.examiner.errors import CannotCross, LearnerExit, ProtocolError
from tflabs.grading.examiner.exceptions import known, message_of, name_of, plain_arguments
from tflabs.grading.examiner.proxy import Record, Remote, record, remote

if TYPE_CHECKING:
    from tflabs.grading.examiner.link import Link

# Functions and classes of these packages are named instead of sent; the learner's process has them too.
NAMED = re.compile(
    r"(builtins|math|cmath|operator|functools|itertools|collections|queue|re|numpy|ml_dtypes|tensorflow|tflabs)(\.|\Z)"
)
MAX_FIELDS = 200
MAX_BASES = 20
MAX_CLASSES = 10_000


class Given:
    """What a cell gave out: functions and iterators that the learner's code may use, objects that it may give back."""

    def __init__(self, first: int) -> None:
        self.next = first  # numbers are never used again: what an earlier cell gave out has expired
        self._things: dict[int, tuple[str, Any]] = {}
        self._numbers: dict[tuple[str, int], int] = {}

    def number(self, kind: str, thing: Any) -> int:
        """The number under which a thing is given out: kind is 'call', 'next' or 'opaque'."""
        key = kind, id(thing)
        if key not in self._numbers:
            self._numbers[key], self._things[self.next] = self.next, (kind, thing)
            self.next += 1
        return self._numbers[key]

    def find(self, number: Any) -> tuple[str, Any]:
        """Kind and thing.

        Raises:
            ProtocolError: this cell gave out no such thing.
        """
        need(type(number) is int and number in self._things, "nothing of that number was given out in this cell")
        return self._things[number]


class Values:
    """Encodes for, and decodes from, one learner's process."""

    def __init__(self, link: Link, own: dict[str, type]) -> None:
        self.link, self.own = link, own  # own: the classes of given cells, which both processes have
        self.given = Given(1)
        self._remotes: weakref.WeakValueDictionary[int, Remote] = weakref.WeakValueDictionary()
        self._received: dict[int, int] = {}
        self._dropped: deque[tuple[int, int]] = deque()
        self._mirrors: dict[tuple[int, type[Exception]], type[Exception]] = {}  # by number and base
        self._methods: dict[int, frozenset[str]] = {}  # by the number of the learner's class
        self.table: codec.Table = codec.VALUES | {
            "h": (3, self._handle),
            "hm": (5, self._instance),
            "nt": (4, self._named_tuple),
            "dc": (3, self._dataclass),
            "en": (2, self._enum),
            "bt": (1, self._builtin_type),
            "x": (2, self._exception_class),
            "k": (1, lambda decoder, parts: self.given.find(parts[0])[1]),
        }

    def new_cell(self) -> None:
        """What was given out before has expired."""
        self.given = Given(self.given.next)

    def records(self) -> list[str]:
        """Names of the dataclasses and enumerations of given cells: the learner's process sends them by value."""
        return sorted(
            name
            for name, value in self.own.items()
            if (dataclasses.is_dataclass(value) or issubclass(value, enum.Enum)) and value.__name__ == name
        )

    def dropped(self) -> list[tuple[int, int]]:
        """Which objects are not needed any more, and how often they were received."""
        found = []
        while self._dropped:
            found.append(self._dropped.popleft())
        return found

    # ------------------------------------------------------------------------------------- to the learner

    def encode(self, encoder: Encoder, x: Any) -> list[Any]:
        """The envelope of what has no plain form.

        Raises:
            CannotCross: it cannot be sent; the message says what to pass instead.
        """
        kind = type(x)
        if isinstance(x, Remote):
            return ["h", x._x_number]
        if kind is Record:
            return ["h", x._x_remote._x_number]
        if isinstance(x, BaseException):
            return self._encode_exception(encoder, x)
        named = _name(x)
        if named is not None:
            return ["n", *named]
        if isinstance(x, type):
            return self._encode_class(x)
        if isinstance(x, enum.Enum):
            return ["en", kind.__name__, x.name]
        if isinstance(x, tuple) and hasattr(kind, "_fields"):
            return ["r", kind.__module__, kind.__name__, True, list(kind._fields), encoder.values(tuple.__iter__(x))]
        if dataclasses.is_dataclass(x):
            names = [field.name for field in dataclasses.fields(x)]
            values = encoder.values(getattr(x, name) for name in names)
            return ["r", kind.__module__, kind.__name__, False, names, values]
        if kind is object:
            return ["o", self.given.number("opaque", x)]
        if hasattr(kind, "__next__"):
            return ["g", self.given.number("next", x)]
        if callable(x) and not _is_live(x):
            return ["f", self.given.number("call", x), str(getattr(x, "__name__", "function"))[:100]]
        raise CannotCross(_advice(x))

    def _encode_class(self, x: type) -> list[Any]:
        if "_x_number" in vars(x):
            return ["h", vars(x)["_x_number"]]
        if self.own.get(x.__name__) is x:
            return ["own", x.__name__]
        raise CannotCross(f"the class {x.__name__} of a test cell cannot be passed: define it in a locked cell")

    def _encode_exception(self, encoder: Encoder, x: BaseException) -> list[Any]:
        """By class, arguments and message; of a failed assertion only that it failed, for it may tell a hidden test."""
        kind: Any = next(base for base in type(x).__mro__ if self._crosses(base))
        key = name_of(kind)
        crossing = ["kx", key] if key is not None else self._encode_class(kind)
        silent = isinstance(x, AssertionError) and not from_learner(x)
        arguments = None if silent else plain_arguments(x)
        return ["e", crossing, encoder.value(arguments), encoder.value("" if silent else message_of(x))]

    def _crosses(self, kind: type) -> bool:
        if kind in known().values():
            return True
        return "_x_number" in vars(kind) or kind in (object, BaseException) or self.own.get(kind.__name__) is kind

    # ----------------------------------------------------------------------------------- from the learner

    def _handle(self, decoder: Decoder, parts: list[Any]) -> Remote:
        number, kind, name = parts[0], parts[1], decoder.text(parts[2])
        need(type(number) is int and kind in ("function", "class", "object"), "no handle")
        proxy = self._remotes.get(number)
        if proxy is None:
            proxy = remote(self.link, number, kind, name)
            self._remotes[number], self._received[number] = proxy, 0
            weakref.finalize(proxy, self._forget, number).atexit = False
        self._received[number] += 1
        return proxy

    def _instance(self, decoder: Decoder, parts: list[Any]) -> Remote:
        """An object, and what are methods of its class. Nothing is believed by that: a method is asked when called."""
        kind, names = parts[3:]
        need(type(kind) is int, "no class")
        if names is not None:
            need(type(names) is list and len(names) <= MAX_FIELDS and len(self._methods) < MAX_CLASSES, "no methods")
            need(all(decoder.text(method).isidentifier() and method[0] != "_" for method in names), "no methods")
            self._methods[kind] = frozenset(names)
        proxy = self._handle(decoder, parts[:3])
        object.__setattr__(proxy, "_x_methods", self._methods.get(kind, frozenset()))
        return proxy

    def _forget(self, number: int) -> None:
        self._dropped.append((number, self._received.pop(number, 0)))

    def _fields(self, decoder: Decoder, parts: list[Any]) -> tuple[str, list[str], list[Any]]:
        name, fields, values = decoder.text(parts[0]), parts[1], parts[2]
        need(type(fields) is list and type(values) is list and len(fields) == len(values) <= MAX_FIELDS, "no record")
        need(
            all(decoder.text(field).isidentifier() for field in fields) and len(set(fields)) == len(fields), "no fields"
        )
        return name, fields, decoder.values(values)

    def _named_tuple(self, decoder: Decoder, parts: list[Any]) -> Any:
        """A NamedTuple of a class that a given cell defines becomes one of this process's own class."""
        name, fields, values = self._fields(decoder, parts)
        live = self._handle(decoder, [parts[3], "object", name])
        own = self.own.get(name)
        if isinstance(own, type) and issubclass(own, tuple) and list(getattr(own, "_fields", ())) == fields:
            return tuple.__new__(own, values)
        need(not any(field.startswith("_") for field in fields), "no fields")
        return record(name, fields, values, live)

    def _dataclass(self, decoder: Decoder, parts: list[Any]) -> Any:
        name, fields, values = self._fields(decoder, parts)
        own: Any = self.own.get(name)
        need(isinstance(own, type) and dataclasses.is_dataclass(own), "no dataclass of a given cell")
        need([field.name for field in dataclasses.fields(own)] == fields, "not the fields of the given dataclass")
        made = object.__new__(own)
        for field, value in zip(fields, values, strict=True):
            object.__setattr__(made, field, value)
        return made

    def _enum(self, decoder: Decoder, parts: list[Any]) -> Any:
        own: Any = self.own.get(decoder.text(parts[0]))
        need(isinstance(own, enum.EnumMeta) and decoder.text(parts[1]) in own.__members__, "no member of a given Enum")
        return own.__members__[parts[1]]

    def _builtin_type(self, decoder: Decoder, parts: list[Any]) -> type:
        found = vars(builtins).get(decoder.text(parts[0]))
        if not isinstance(found, type):
            raise ProtocolError("no type of Python's")
        return found

    def _exception_class(self, decoder: Decoder, parts: list[Any]) -> type[BaseException]:
        """A class of the table, a given cell's own, or a mirror of the learner's class with the same bases."""
        base, chain = parts
        if base is None:
            return LearnerExit
        need(decoder.text(base) in known() and type(chain) is list and len(chain) <= MAX_BASES, "no exception class")
        found = known()[base]
        for link in reversed(chain):
            need(type(link) is list and len(link) == 2 and type(link[0]) is int, "no exception class")
            found = self._mirror(link[0], decoder.text(link[1]), found)
        return found

    def _mirror(self, number: int, name: str, base: type[Exception]) -> type[Exception]:
        own = self.own.get(name)
        if isinstance(own, type) and issubclass(own, Exception) and issubclass(own, base):
            return own
        key = number, base  # a class above several of the learner's stands over another base for each
        if key not in self._mirrors:
            need(len(self._mirrors) < MAX_CLASSES, "too many exception classes")
            name = name if name.isidentifier() else "LearnerError"
            self._mirrors[key] = type(name, (base,), {"_x_number": number, "__module__": "learner"})
        return self._mirrors[key]


def from_learner(error: BaseException) -> bool:
    """Whether an exception came from the learner's process."""
    return getattr(error, "_x_from_learner", False) is True


def _name(x: Any) -> tuple[str, str] | None:
    """Module and name of a function or class that both processes have."""
    if not (isinstance(x, type) or callable(x)):
        return None
    module = getattr(x, "__module__", None)
    name = getattr(x, "__qualname__", None) or getattr(x, "__name__", None)
    if type(module) is not str or type(name) is not str or not NAMED.match(module):
        return None
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return (module, name) if found is x else None


def _is_live(x: Any) -> bool:
    """Whether something callable is rather an object: an instance of a class of TensorFlow's."""
    module = type(x).__module__
    return (
        module.startswith("tensorflow.")
        and not hasattr(x, "__wrapped__")
        and not module.endswith("polymorphic_function")
    )


def _advice(x: Any) -> str:
    tf = sys.modules.get("tensorflow")
    if tf is not None and isinstance(x, getattr(tf, "Graph", ())):
        return "pass graph.as_graph_def(): a live tf.Graph cannot cross to the learner's process"
    if type(x).__name__.startswith("Repeated"):
        return "pass list(…): a repeated field of a message cannot cross to the learner's process"
    return f"a {type(x).__name__} cannot cross to the learner's process: pass plain data, a function or an iterator"

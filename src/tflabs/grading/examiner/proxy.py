"""What a test cell sees of the learner's objects.

Plain data come by value. Everything else is a `Remote`: it can be called, its attributes read, it can be iterated and
entered. It cannot be compared, hashed, asked its truth or searched with `in`, for then the learner's object would
decide what a test believes; and arithmetic with it gives nothing but further remote objects, for the same reason.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from tflabs.grading.examiner.errors import ExaminerError, LiveObjectError

if TYPE_CHECKING:
    from tflabs.grading.examiner.link import Link

# Answers of these are used as they come: they are told nothing but what the test passes on purpose.
_ASKED = [
    *("len", "getitem", "setitem", "delitem", "iter", "next", "reversed", "enter"),
    *("str", "format", "int", "float", "complex"),
]
# Answers of these must be live objects. The whole expression is worked out in the learner's process, where Python also
# asks the other operand.
_UNARY = ["neg", "pos", "abs", "invert"]
_BINARY = [
    *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow"),
    *("and", "or", "xor", "lshift", "rshift"),
]
_DENIED = {
    **dict.fromkeys(["eq", "ne", "lt", "le", "gt", "ge"], "comparison"),
    "hash": "hash",
    "bool": "truth value",
    "contains": "`in`",
    "reduce_ex": "copy",
}
_READABLE = ("__name__", "__qualname__", "__doc__")
# A class that calls itself `list` is not shown under that name: a test may look at names of types.
_PLAIN_NAMES = frozenset((*vars(builtins), "ndarray", "Tensor", "EagerTensor", "OrderedDict", "Counter", "deque"))
MAX_REPR = 2000
MAX_KINDS = 500


class Remote:
    """An object of the learner's, known here only by its number."""

    __slots__ = ("__weakref__", "_x_kind", "_x_link", "_x_methods", "_x_number")

    __array_ufunc__ = None  # NumPy's operators leave the answer to this class, which has it worked out over there
    _x_link: Link
    _x_number: int
    _x_kind: str  # function, class or object
    _x_methods: frozenset[str]  # names of which it need not be asked before they are called

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._x_link.request("call", self, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("_x_", "_repr_", "_ipython_")) or (name.startswith("__") and name not in _READABLE):
            raise AttributeError(f"{words(self)}: {name} is not asked")
        return method(self, name) if name in self._x_methods else self._x_link.request("get", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._x_link.request("set", self, name, value)

    def __instancecheck__(self, x: Any) -> bool:
        return isinstance(x, Remote | Record) and self._x_link.request("isinstance", self, x) is True

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        """Leave the learner's `with`. A failed assertion of the test stays failed, whatever the learner returns."""
        if error is not None:
            self._x_link.note_failure(error)
        if isinstance(error, ExaminerError):  # the learner is not told of it
            kind = error = None
        return self._x_link.request("special", self, "__exit__", (kind, error, None)) is True

    def __repr__(self) -> str:
        try:
            text = self._x_link.request("special", self, "__repr__", ())
        except (Exception, ExaminerError):
            text = None
        return text[:MAX_REPR] if type(text) is str else f"<{words(self)}>"


class Method(Remote):
    """A method of an object of the learner's. It is looked up when it is called: one round trip, where `get` and `call`
    are two.
    """

    __slots__ = ("_x_asked", "_x_name", "_x_owner")

    _x_owner: Remote
    _x_name: str
    _x_asked: Any  # what the learner's process gave when it had to be asked

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._x_link.request("method", self._x_owner, self._x_name, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name != "_x_number":
            return super().__getattr__(name)
        # It goes somewhere: now it must be an object of the learner's, with a number.
        asked = self._x_link.request("get", self._x_owner, self._x_name)
        if not isinstance(asked, Remote):
            raise LiveObjectError(f"{words(self)} is none any more")
        object.__setattr__(self, "_x_asked", asked)  # released with this object
        object.__setattr__(self, "_x_number", asked._x_number)
        return asked._x_number


def words(remote: Remote) -> str:
    """What a remote object is, without asking it."""
    return f"the learner's {remote._x_kind} {type(remote).__name__!r}"


def _asked(name: str) -> Callable[..., Any]:
    def method(self: Remote, *args: Any) -> Any:
        return self._x_link.request("special", self, name, args)

    return method


def _arithmetic(name: str, reflected: bool = False) -> Callable[..., Any]:
    def method(self: Remote, *others: Any) -> Any:
        operands = (*others, self) if reflected else (self, *others)
        result = self._x_link.request("reckon", name, operands)
        if isinstance(result, Remote):
            return result
        raise self._x_link.noted(
            LiveObjectError(f"{name} of {words(self)} gave a plain value: ask for plain data, then reckon")
        )

    return method


def _denied(what: str) -> Callable[..., NoReturn]:
    def method(self: Remote, *args: Any) -> NoReturn:
        raise self._x_link.noted(
            LiveObjectError(
                f"{what} of {words(self)}, which lives in the learner's process: compare plain data instead "
                "(a field, a list, an array, a GraphDef), its exact type first"
            )
        )

    return method


for _name in _ASKED:
    setattr(Remote, f"__{_name}__", _asked(f"__{_name}__"))
for _name in (*_UNARY, *_BINARY):
    setattr(Remote, f"__{_name}__", _arithmetic(f"__{_name}__"))
for _name in _BINARY:
    setattr(Remote, f"__r{_name}__", _arithmetic(f"__{_name}__", reflected=True))
for _name, _what in _DENIED.items():
    setattr(Remote, f"__{_name}__", _denied(_what))

_kinds: dict[tuple[type[Remote], str], type[Remote]] = {}


def remote(link: Link, number: int, kind: str, name: str) -> Remote:
    """The proxy of an object; its class carries the name of the learner's, so that messages of tests read well."""
    proxy: Remote = object.__new__(_kind(Remote, name))
    _fill(proxy, _x_link=link, _x_number=number, _x_kind=kind, _x_methods=frozenset())
    return proxy


def method(owner: Remote, name: str) -> Method:
    """A method of an object's, which is not asked yet."""
    proxy: Method = object.__new__(_kind(Method, name))
    _fill(proxy, _x_link=owner._x_link, _x_kind="function", _x_methods=frozenset(), _x_owner=owner, _x_name=name)
    return proxy


def _kind(base: type[Any], name: str) -> type[Any]:
    """The class of that name. To make one takes as long as a call into the learner's code."""
    key = base, name
    if key not in _kinds:
        if not name.isidentifier() or name in _PLAIN_NAMES or len(_kinds) >= MAX_KINDS:
            key = base, "Remote"
        _kinds.setdefault(key, type(key[1], (base,), {"__slots__": (), "__module__": "learner"}))
    return _kinds[key]


def _fill(proxy: Remote, **slots: Any) -> None:
    for slot, value in slots.items():
        object.__setattr__(proxy, slot, value)


class Record(tuple[Any, ...]):
    """A NamedTuple of a class that only the learner has, by value. What is no field is asked of the learner's."""

    _fields: tuple[str, ...]
    _x_name: str
    _x_remote: Remote

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__["_fields"]:
            return tuple.__getitem__(self, self.__dict__["_fields"].index(name))
        return getattr(self.__dict__["_x_remote"], name)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Record):
            raise LiveObjectError(f"two {self._x_name} of the learner's: compare with a tuple of the test's")
        return tuple.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__

    def __iter__(self) -> Iterator[Any]:
        return tuple.__iter__(self)

    def __repr__(self) -> str:
        parts = (f"{field}={value!r}" for field, value in zip(self._fields, self, strict=True))
        return f"{self._x_name}({', '.join(parts)})"


def record(name: str, fields: list[str], values: list[Any], live: Remote) -> Record:
    """A NamedTuple of the learner's by value."""
    made = Record(values)
    made.__dict__.update(_fields=tuple(fields), _x_name=name, _x_remote=live)
    return made

"""A closed codec: plain values to bytes and back, and nothing else.

A message is a little-endian uint32 with the length of a JSON text, the text, and behind it the raw bytes that the text
refers to, in order. In the text, None, bool, str, float and int of 64 bits stand for themselves; everything else is an
envelope `[tag, …]`. The table of tags is closed: a tag says which constructor of this module is called, with how many
parts; no name of the sender's is ever imported, looked up or called. `science` adds NumPy, TensorFlow and protobuf.

What a message can cost is bounded before anything is built from it: the size of the text, the number of its parts
(counted in the text, so that a list cannot claim more than it brings) and the depth. Raw bytes are used once each.
"""

from __future__ import annotations

import json
import struct
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any

from tflabs.grading.examiner import science
from tflabs.grading.examiner.errors import CannotCross, ExaminerError, ProtocolError

MAX_BYTES = 64 << 20  # of a message
MAX_TEXT = 16 << 20  # of its JSON text
MAX_PARTS = 1 << 20  # values in it
MAX_DEPTH = 48
MAX_INT_DIGITS = 1 << 20  # hexadecimal
MAX_SAME_HASH = 64  # items of a set or dict; Python's hashes of numbers can be made to collide
SHORT = 1024  # characters; a longer str travels as raw bytes

ATOMS = frozenset((type(None), bool, int, float, str))
_BARE = frozenset((type(None), bool, float))  # stand for themselves whatever their value

Encode = Callable[["Encoder", Any], list[Any]]
Decode = Callable[["Decoder", list[Any]], Any]
Table = dict[str, tuple[int | None, Decode]]  # tag → number of parts (None: any) and what builds the value

_HEAD = struct.Struct("<I")
_json = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
_scan = json.JSONDecoder().raw_decode


def dumps(value: Any, other: Encode | None = None) -> bytes:
    """The message for one value.

    Args:
        other: makes an envelope for what has no plain form.

    Raises:
        CannotCross: the value, or a part of it, has no plain form, or is too big, too deep or cyclic.
    """
    encoder = Encoder(other or _refuse)
    text = _json(encoder.value(value)).encode()
    size = _HEAD.size + len(text) + encoder.size
    if len(text) > MAX_TEXT or size > MAX_BYTES or _too_many(text):
        raise CannotCross(f"a value of {size} bytes is too big to cross to the other process")
    return b"".join((_HEAD.pack(len(text)), text, *encoder.raw))


def loads(message: bytes, table: Table | None = None) -> Any:
    """The value of a message.

    Raises:
        ProtocolError: this is no message.
    """
    if not _HEAD.size <= len(message) <= MAX_BYTES:
        raise ProtocolError(f"a message of {len(message)} bytes")
    (length,) = _HEAD.unpack_from(message)
    end = _HEAD.size + length
    if end > len(message) or length > MAX_TEXT:
        raise ProtocolError("the text is longer than the message or the limit")
    text = message[_HEAD.size : end]
    if _too_many(text):
        raise ProtocolError("too many parts")
    decoder = Decoder(message, end, VALUES if table is None else table)
    try:
        characters = text.decode()
        parsed, read = _scan(characters)
        need(read == len(characters), "more than one value")
        value = decoder.value(parsed)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise ProtocolError(f"malformed: {type(error).__name__}: {str(error)[:200]}") from None
    if decoder.at != len(message):
        raise ProtocolError("bytes are left over")
    return value


def _too_many(text: bytes) -> bool:
    """Whether a JSON text may hold more than MAX_PARTS values. Each but the first needs a character."""
    return len(text) >= MAX_PARTS and text.count(b",") + text.count(b"[") + text.count(b"{") >= MAX_PARTS


def _refuse(encoder: Encoder, value: Any) -> list[Any]:
    raise CannotCross(f"a {type(value).__name__} cannot cross to the other process: it is no plain data")


def need(condition: bool, what: str = "malformed value") -> None:
    """Raises ProtocolError unless the condition holds."""
    if not condition:
        raise ProtocolError(what)


class Encoder:
    """Turns one value into JSON and raw bytes."""

    def __init__(self, other: Encode) -> None:
        self.other, self.raw, self.size, self.depth = other, list[bytes](), 0, 0

    def value(self, x: Any) -> Any:
        """The JSON of a value. Exact types only: a subclass may be anything and is left to `other`."""
        kind = type(x)
        if kind is str:
            return x if len(x) <= SHORT and x.isascii() else _encode_str(self, x)
        if kind is int:
            return x if -(1 << 63) <= x < 1 << 63 else ["i", hex(x)]
        if x is None or kind is bool or kind is float:
            return x
        if self.depth == MAX_DEPTH:
            raise CannotCross("data too deep, or cyclic, cannot cross to the other process")
        self.depth += 1
        encode = _ENCODERS.get(kind)
        result = encode(self, x) if encode else self._foreign(x)
        self.depth -= 1
        return result

    def values(self, items: Iterable[Any]) -> list[Any]:
        """The JSON of several values."""
        items = list(items)
        kinds = set(map(type, items))
        if kinds <= _BARE or (kinds == {int} and min(items) >= -(1 << 63) and max(items) < 1 << 63):
            return items
        value = self.value
        return [value(item) for item in items]

    def bytes(self, data: bytes) -> int:
        """Puts raw bytes behind the text; returns what the text says of them, their number."""
        self.raw.append(data)
        self.size += len(data)
        return len(data)

    def _foreign(self, x: Any) -> list[Any]:
        found = science.encode(self, x)
        return self.other(self, x) if found is None else found


class Decoder:
    """Turns the JSON and the raw bytes of one message into a value."""

    def __init__(self, message: bytes, at: int, table: Table) -> None:
        self.message, self.at, self.table, self.depth = message, at, table, 0

    def value(self, x: Any) -> Any:
        """The value of its JSON."""
        if type(x) in ATOMS:
            return x
        if type(x) is not list or not x or type(x[0]) is not str or self.depth == MAX_DEPTH:
            raise ProtocolError("no value, or too deep")
        entry = self.table.get(x[0])
        if entry is None or entry[0] not in (None, len(x) - 1):
            raise ProtocolError(f"no envelope {x[0][:20]!r} of {len(x) - 1} parts")
        self.depth += 1
        result = entry[1](self, x[1:])
        self.depth -= 1
        return result

    def values(self, items: list[Any]) -> list[Any]:
        """Several values."""
        if ATOMS.issuperset(map(type, items)):
            return items
        return [item if type(item) in ATOMS else self.value(item) for item in items]

    def bytes(self, size: Any) -> bytes:
        """The next raw bytes."""
        need(type(size) is int and 0 <= size <= len(self.message) - self.at, "more raw bytes than there are")
        self.at += size
        return self.message[self.at - size : self.at]

    def text(self, x: Any, limit: int = 200) -> str:
        """A short str."""
        need(type(x) is str and len(x) <= limit, "no short text")
        return str(x)


# ------------------------------------------------------------------------------------------------ plain Python


def _encode_str(encoder: Encoder, x: str) -> Any:
    try:
        data = x.encode()
    except UnicodeEncodeError:  # lone surrogates
        return ["us", encoder.bytes(x.encode("utf-8", "surrogatepass"))]
    return x if len(x) <= SHORT else ["u", encoder.bytes(data)]


def _decode_int(decoder: Decoder, parts: list[Any]) -> int:
    return int(decoder.text(parts[0], MAX_INT_DIGITS), 16)


def _encode_items(tag: str) -> Encode:
    return lambda encoder, x: [tag, *encoder.values(x)]


def _encode_pairs(tag: str) -> Encode:
    return lambda encoder, x: [tag, *encoder.values(part for pair in x.items() for part in pair)]


def _hashable(items: list[Any]) -> list[Any]:
    """The items, if a hash table of them takes no quadratic time."""
    if len(items) <= MAX_SAME_HASH:
        return items
    try:
        hashes = Counter(map(hash, items))
    except ExaminerError:
        raise
    except Exception as error:
        raise ProtocolError(f"no member of a set, no key of a dict: {error}") from None
    need(max(hashes.values()) <= MAX_SAME_HASH, "hashes collide")
    return items


def _decode_pairs(build: Callable[[Iterable[tuple[Any, Any]]], Any]) -> Decode:
    def decode(decoder: Decoder, parts: list[Any]) -> Any:
        need(len(parts) % 2 == 0)
        items = decoder.values(parts)  # in order, as their raw bytes are
        return build(zip(_hashable(items[::2]), items[1::2], strict=True))

    return decode


def _counter(pairs: Iterable[tuple[Any, Any]]) -> Counter[Any]:
    return Counter(dict(pairs))


def _default(pairs: Iterable[tuple[Any, Any]]) -> defaultdict[Any, Any]:
    """A defaultdict without its factory, which does not cross."""
    return defaultdict(None, pairs)


def _decode_complex(decoder: Decoder, parts: list[Any]) -> complex:
    need(all(type(part) is float for part in parts))
    return complex(*parts)


def _decode_range(decoder: Decoder, parts: list[Any]) -> range:
    bounds = decoder.values(parts)
    need(all(type(bound) is int for bound in bounds))
    return range(*bounds)


def _encode_deque(encoder: Encoder, x: deque[Any]) -> list[Any]:
    return ["dq", x.maxlen, *encoder.values(x)]


def _decode_deque(decoder: Decoder, parts: list[Any]) -> deque[Any]:
    need(len(parts) >= 1 and (parts[0] is None or type(parts[0]) is int))
    return deque(decoder.values(parts[1:]), parts[0])


_ENCODERS: dict[type, Encode] = {
    bytes: lambda encoder, x: ["b", encoder.bytes(x)],
    complex: lambda encoder, x: ["c", x.real, x.imag],
    list: _encode_items("l"),
    tuple: _encode_items("t"),
    set: _encode_items("s"),
    frozenset: _encode_items("fs"),
    dict: _encode_pairs("d"),
    OrderedDict: _encode_pairs("od"),
    Counter: _encode_pairs("ct"),
    defaultdict: _encode_pairs("dd"),
    deque: _encode_deque,
    range: lambda encoder, x: ["r", *encoder.values((x.start, x.stop, x.step))],
    slice: lambda encoder, x: ["sl", *encoder.values((x.start, x.stop, x.step))],
    type(Ellipsis): lambda encoder, x: ["el"],
    type(NotImplemented): lambda encoder, x: ["ni"],
}

VALUES: Table = {
    "u": (1, lambda decoder, parts: decoder.bytes(parts[0]).decode()),
    "us": (1, lambda decoder, parts: decoder.bytes(parts[0]).decode("utf-8", "surrogatepass")),
    "b": (1, lambda decoder, parts: decoder.bytes(parts[0])),
    "i": (1, _decode_int),
    "c": (2, _decode_complex),
    "l": (None, lambda decoder, parts: decoder.values(parts)),
    "t": (None, lambda decoder, parts: tuple(decoder.values(parts))),
    "s": (None, lambda decoder, parts: set(_hashable(decoder.values(parts)))),
    "fs": (None, lambda decoder, parts: frozenset(_hashable(decoder.values(parts)))),
    "d": (None, _decode_pairs(dict)),
    "od": (None, _decode_pairs(OrderedDict)),
    "ct": (None, _decode_pairs(_counter)),
    "dd": (None, _decode_pairs(_default)),
    "dq": (None, _decode_deque),
    "r": (3, _decode_range),
    "sl": (3, lambda decoder, parts: slice(*decoder.values(parts))),
    "el": (0, lambda decoder, parts: ...),
    "ni": (0, lambda decoder, parts: NotImplemented),
    **science.TABLE,
}

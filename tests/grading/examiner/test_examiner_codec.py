"""The codec gives back what it was given, and makes nothing but plain values of any bytes."""

from __future__ import annotations

import contextlib
import json
import math
import struct
import sys
import time
import tracemalloc
from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tflabs.grading.examiner import codec, science
from tflabs.grading.examiner.errors import CannotCross, ProtocolError

CALM = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))


def same(left: Any, right: Any) -> bool:
    """Equality with exact types, NaN equal to itself and −0.0 other than 0.0."""
    if type(left) is not type(right):
        return False
    if isinstance(left, float):
        return struct.pack("d", left) == struct.pack("d", right) or (math.isnan(left) and math.isnan(right))
    if isinstance(left, complex):
        return same(left.real, right.real) and same(left.imag, right.imag)
    if isinstance(left, np.ndarray):
        if left.dtype != right.dtype or left.dtype.str != right.dtype.str or left.shape != right.shape:
            return False
        if left.dtype == object:
            return all(same(a, b) for a, b in zip(left.ravel(), right.ravel(), strict=True))
        return left.tobytes() == right.tobytes()
    if isinstance(left, np.generic):
        return left.dtype == right.dtype and np.asarray(left).tobytes() == np.asarray(right).tobytes()
    if isinstance(left, dict):
        pairs = zip(left.items(), right.items(), strict=True) if len(left) == len(right) else [(0, 1)]
        return all(same(a, b) for a, b in pairs)
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(same(a, b) for a, b in zip(left, right, strict=True))
    if isinstance(left, deque):
        return left.maxlen == right.maxlen and same(list(left), list(right))
    if isinstance(left, set | frozenset):
        return text(left) == text(right)
    return bool(left == right)


def text(key: Any) -> str:
    """The text of what can be in a set; that of a set does not tell in which order its items lie."""
    if isinstance(key, set | frozenset):
        return f"{{{', '.join(sorted(map(text, key)))}}}"
    return f"({', '.join(map(text, key))})" if isinstance(key, tuple) else repr(key)


texts = st.text(st.characters(exclude_categories=()), max_size=8)  # lone surrogates too
numbers = st.one_of(st.integers(), st.integers(-(1 << 200), 1 << 200), st.floats(), st.booleans(), st.none())
hashable_atoms = st.one_of(numbers, texts, st.binary(max_size=9), st.complex_numbers())
dtypes = st.sampled_from(["<f4", "<f8", ">f4", "<i8", "|u1", "|b1", "<c16", "<f2", "<U3", "|S4", "<M8[ns]", "<m8[D]"])
arrays = st.builds(
    lambda dtype, shape: np.resize(np.arange(7), shape).astype(dtype), dtypes, st.lists(st.integers(0, 3), max_size=3)
)
small_floats = st.builds(
    lambda name, shape: np.resize(np.arange(2), shape).astype(getattr(ml_dtypes, name)),
    st.sampled_from(sorted(science.ML_DTYPES)),
    st.lists(st.integers(0, 3), max_size=2),
)
atoms = st.one_of(
    hashable_atoms,
    arrays,
    small_floats,
    st.builds(lambda a: a.ravel()[:1].reshape(())[()] if a.size else np.float32(1), arrays),
    st.builds(lambda a: a.dtype, arrays),
    st.builds(range, st.integers(-5, 5), st.integers(-(1 << 70), 1 << 70), st.integers(1, 9)),
    st.builds(slice, numbers, numbers, numbers),
    st.just(...),
    st.just(NotImplemented),
)
keys = st.recursive(
    hashable_atoms, lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=2), max_leaves=3
)


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    items = st.lists(inner, max_size=4)
    pairs = st.lists(st.tuples(keys, inner), max_size=3)
    return st.one_of(
        items,
        items.map(tuple),
        items.map(deque),
        items.map(lambda x: deque(x, 2)),
        st.sets(keys, max_size=3),
        st.frozensets(keys, max_size=3),
        pairs.map(dict),
        pairs.map(OrderedDict),
        st.lists(keys, max_size=3).map(Counter),
        pairs.map(lambda x: defaultdict(None, x)),
        items.map(_object_array),
    )


def _object_array(items: list[Any]) -> Any:
    made = np.empty(len(items), object)
    for index, item in enumerate(items):
        made[index] = item
    return made


values = st.recursive(atoms, containers, max_leaves=12)
PLAIN_TYPES = (
    *(type(None), bool, int, float, str, bytes, complex, list, tuple, set, frozenset, dict, OrderedDict, Counter),
    *(defaultdict, deque, range, slice, type(...), type(NotImplemented), np.ndarray, np.generic, np.dtype),
)


def is_plain(value: Any) -> bool:
    """Whether a value and its parts are of the codec's own types."""
    if isinstance(value, np.generic | np.dtype):
        return True
    if (tf := sys.modules.get("tensorflow")) is not None and type(value) in (tf.TensorShape, tf.DType, tf.TensorSpec):
        return True  # where another test has imported it
    if type(value) not in PLAIN_TYPES:
        return False
    if isinstance(value, dict):
        return all(is_plain(part) for pair in value.items() for part in pair)
    if isinstance(value, list | tuple | set | frozenset | deque):
        return all(is_plain(part) for part in value)
    if isinstance(value, np.ndarray) and value.dtype == object:
        return all(is_plain(part) for part in value.ravel())
    return True


@CALM
@given(values)
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    assert same(codec.loads(codec.dumps(value)), value)


@CALM
@given(st.binary(max_size=200))
def test_random_bytes_are_a_plain_value_or_refused(data: bytes) -> None:
    with_length = struct.pack("<I", len(data)) + data
    for message in (data, with_length):
        with contextlib.suppress(ProtocolError):
            assert is_plain(codec.loads(message))


@settings(CALM, max_examples=250)
@given(values, st.data())
def test_mutated_messages_are_a_plain_value_or_refused(value: Any, data: Any) -> None:
    message = bytearray(codec.dumps(value))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(message) - 1)) if message else 0
        kind = data.draw(st.sampled_from(["flip", "cut", "double", "insert"]))
        if kind == "flip" and message:
            message[at] ^= 1 << data.draw(st.integers(0, 7))
        elif kind == "cut":
            del message[at : at + data.draw(st.integers(1, 4))]
        elif kind == "double":
            message[at:at] = message[at : at + data.draw(st.integers(1, 30))]
        else:
            message[at:at] = data.draw(st.sampled_from([b"9", b"[", b"]", b'"', b",", b"-1", b"null", b"1e999"]))
    with contextlib.suppress(ProtocolError):
        assert is_plain(codec.loads(bytes(message)))


tags = st.sampled_from(sorted(codec.VALUES))
junk = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 1 << 70), st.floats(), st.text(max_size=5), tags),
    lambda inner: st.builds(lambda tag, parts: [tag, *parts], tags, st.lists(inner, max_size=5)) | st.lists(inner),
    max_leaves=10,
)


@settings(CALM, max_examples=250)
@given(junk, st.binary(max_size=40))
def test_envelopes_with_wrong_parts_are_a_plain_value_or_refused(parsed: Any, raw: bytes) -> None:
    text = json.dumps(parsed).encode()
    with contextlib.suppress(ProtocolError):
        assert is_plain(codec.loads(struct.pack("<I", len(text)) + text + raw))


def message_of(text: str | bytes, raw: bytes = b"") -> bytes:
    text = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<I", len(text)) + text + raw


HUGE = {
    "an array that claims 2^40 elements": '["na","<f8",0,1099511627776]',
    "an empty array with other sides of 2^40": '["na","<f8",0,0,1099511627776,1099511627776]',
    "many dimensions": '["na","<f8",8' + ",1" * 70 + "]",
    "an object array that claims 2^40 elements": '["no",1,1099511627776]',
    "an object array with a negative number of sides": '["no",-1]',
    "raw bytes that are not there": '["b",1099511627776]',
    "negative raw bytes": '["b",-4]',
    "a dtype of a gigabyte": '["nd","|S1000000000"]',
    "a dtype without size": '["na","|S0",0,1000]',
    "an object dtype": '["na","|O",8,1]',
    "a structured dtype": '["na","f4,f8",12,1]',
    "a str of the same raw bytes twice": '["l",["b",3],["b",3]]',
    "a deep list": "[" * 100_000 + "]" * 100_000,
    "deep envelopes": '["l",' * 60 + "1" + "]" * 60,
    "too many parts": '["l"' + ",1" * codec.MAX_PARTS + "]",
    "a number with a million digits": "1" * 1_000_000,
    "an int with a text of 16 MB": '["i","' + "f" * (15 << 20) + '"]',
    "an object of JSON": '{"l":1}',
    "no tag": "[1,2]",
    "an empty list": "[]",
    "an unknown tag": '["__import__","os"]',
    "a range without step": '["r",1,2,0]',
    "an unhashable key": '["d",["l"],1]',
    "an odd dict": '["d",1]',
    "two values": "1 2",
    "a bool of 2": '["na","|b1",1,1]',
    "a character beyond Unicode": '["na","<U1",4,1]',
    "a deque longer than memory": '["dq",-1,1]',
    "a message of the standard library": '["p","os.system",0]',
    "a DType": '["D",99999]',
}
RAW = {"a bool of 2": b"\2", "a character beyond Unicode": b"\xff\xff\xff\x7f", "many dimensions": bytes(8)}
RAW["a str of the same raw bytes twice"] = b"abc"


@pytest.mark.parametrize("what", HUGE)
def test_claims_are_refused_before_anything_is_built(what: str) -> None:
    message = message_of(HUGE[what], RAW.get(what, b""))
    tracemalloc.start()
    began = time.process_time()
    with pytest.raises(ProtocolError):
        codec.loads(message)
    seconds, (_, peak) = time.process_time() - began, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 * len(message) + (4 << 20), f"{peak} bytes for a message of {len(message)}"
    assert seconds < 10, seconds


@pytest.mark.parametrize("kind", ["s", "fs", "d"])
def test_numbers_made_to_collide_are_refused(kind: str) -> None:
    same_hash = [str(number * ((1 << 61) - 1)) for number in range(1, 200)]
    if kind == "d":
        same_hash = [part for number in same_hash for part in (number, "1")]
    with pytest.raises(ProtocolError, match="collide"):
        codec.loads(message_of(f'["{kind}",{",".join(same_hash)}]'))


def test_the_biggest_message_costs_bounded_memory() -> None:
    text = b'["l"' + b",[]" * (codec.MAX_PARTS // 2 - 8) + b"]"
    tracemalloc.start()
    with pytest.raises(ProtocolError):
        codec.loads(message_of(text))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200 << 20


class Float(float):
    pass


class Int(int):
    pass


class Str(str):
    pass


class List(list):  # type: ignore[type-arg]
    pass


class Array(np.ndarray):
    pass


@pytest.mark.parametrize("value", [Float(1), Int(1), Str("x"), List(), np.arange(2).view(Array), object(), len, int])
def test_only_exact_types_cross(value: Any) -> None:
    for nested in (value, [value], {"k": value}):
        with pytest.raises(CannotCross):
            codec.dumps(nested)


def test_cyclic_and_huge_values_do_not_cross() -> None:
    cyclic: list[Any] = []
    cyclic.append(cyclic)
    with pytest.raises(CannotCross, match="cyclic"):
        codec.dumps(cyclic)
    with pytest.raises(CannotCross, match="too big"):
        codec.dumps(bytes(codec.MAX_BYTES))
    with pytest.raises(CannotCross, match="too big"):
        codec.dumps(list(range(codec.MAX_PARTS + 1)))


def test_a_decoded_array_can_be_written_to_and_shares_nothing() -> None:
    before = np.arange(4.0)
    after = codec.loads(codec.dumps(before))
    after[0] = 9
    assert before[0] == 0 and after.flags.writeable


def test_tensorflow_values_are_refused_where_tensorflow_is_not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "tensorflow", raising=False)
    for text in ('["D",1]', '["S",3]', '["T",1,1]'):
        with pytest.raises(ProtocolError, match="TensorFlow"):
            codec.loads(message_of(text))
    assert "tensorflow" not in sys.modules

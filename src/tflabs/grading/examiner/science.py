"""The values of NumPy, TensorFlow and protobuf in the codec.

Nothing is imported because a message asks for it, but for NumPy and ml_dtypes, which every process here has. A
tensor or a message that TensorFlow defines is decoded only where TensorFlow is loaded.
"""

from __future__ import annotations

import math
import re
import sys
from typing import TYPE_CHECKING, Any

from tflabs.grading.examiner.errors import CannotCross, ExaminerError, ProtocolError

if TYPE_CHECKING:
    from tflabs.grading.examiner.codec import Decoder, Encoder, Table

# The kinds whose bytes are plain values. Object arrays go item by item, structured ones not at all.
DTYPE = re.compile(r"[<>|](?:b1|[iu][1248]|f(?:2|4|8|12|16)|c(?:8|16|24|32)|S[1-9]\d{0,6}|U[1-9]\d{0,6})\Z")
TIME = re.compile(r"[<>][mM]8(?:\[(?:\d{1,6})?(?:Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\])?\Z")
ML_DTYPES = frozenset(
    [
        *("bfloat16", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz"),
        *("float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn"),
        *("int1", "int2", "int4", "uint1", "uint2", "uint4"),
    ]
)
MESSAGE = re.compile(r"(?:tensorflow|xla|google\.protobuf)(?:\.[A-Za-z]\w{0,80}){1,8}\Z")
MAX_DIMENSIONS = 64
MAX_ELEMENTS = 64 << 20
MAX_MESSAGE = 8 << 20  # an empty node takes 2 bytes in the message and about 100 in memory


def encode(encoder: Encoder, x: Any) -> list[Any] | None:
    """The envelope of a value of these libraries, None for any other."""
    np, tf = sys.modules.get("numpy"), sys.modules.get("tensorflow")
    if np is not None:
        if type(x) is np.ndarray:
            return _encode_array(encoder, x)
        if isinstance(x, np.generic) and type(x) is x.dtype.type:
            return ["ns", _encode_array(encoder, np.asarray(x))]
        if isinstance(x, np.dtype) and _name(x) is not None:
            return ["nd", _name(x)]
    if tf is not None and hasattr(tf, "TensorShape"):
        if type(x) is tf.DType:
            return ["D", int(x.as_datatype_enum)]
        if type(x) is tf.TensorShape:
            return ["S", None] if x.rank is None else ["S", *x.as_list()]
        if type(x) is tf.TensorSpec:
            return ["Sp", *encoder.values((x.shape, x.dtype, x.name))]
        if isinstance(x, tf.Tensor) and hasattr(x, "numpy") and x.dtype not in (tf.resource, tf.variant):
            return ["T", encoder.value(x.dtype), encoder.value(x.numpy())]
    return _encode_message(encoder, x)


def _encode_message(encoder: Encoder, x: Any) -> list[Any] | None:
    protobuf = sys.modules.get("google.protobuf.message")
    if protobuf is None or not isinstance(x, protobuf.Message) or not MESSAGE.match(x.DESCRIPTOR.full_name):
        return None
    data = x.SerializePartialToString(deterministic=True)
    if len(data) > MAX_MESSAGE:
        raise CannotCross(f"a {x.DESCRIPTOR.name} of {len(data)} bytes is too big to cross to the other process")
    return ["p", x.DESCRIPTOR.full_name, encoder.bytes(data)]


def _name(dtype: Any) -> str | None:
    """What a dtype is called in a message."""
    if dtype.name in ML_DTYPES:
        return str(dtype.name)
    text = str(dtype.str)
    return text if DTYPE.match(text) or TIME.match(text) else None


def _encode_array(encoder: Encoder, x: Any) -> list[Any] | None:
    name = _name(x.dtype)
    if name is not None:
        return ["na", name, encoder.bytes(x.tobytes()), *x.shape]
    if x.dtype == object:
        return ["no", len(x.shape), *x.shape, *encoder.values(x.ravel())]
    return None


def _need(condition: bool, what: str) -> None:
    if not condition:
        raise ProtocolError(what)


def _dtype(name: Any) -> Any:
    import numpy as np

    _need(type(name) is str, "no dtype")
    if name in ML_DTYPES:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, name))
    _need(bool(DTYPE.match(name) or TIME.match(name)), "no dtype")
    return np.dtype(name)


def _shape(dimensions: list[Any]) -> tuple[int, ...]:
    _need(len(dimensions) <= MAX_DIMENSIONS, "too many dimensions")
    _need(all(type(size) is int and 0 <= size <= MAX_ELEMENTS for size in dimensions), "no shape")
    _need(math.prod(max(size, 1) for size in dimensions) <= MAX_ELEMENTS, "too many elements")
    return tuple(dimensions)


def _decode_array(decoder: Decoder, parts: list[Any]) -> Any:
    import numpy as np

    _need(len(parts) >= 2, "no array")
    dtype, data, shape = _dtype(parts[0]), decoder.bytes(parts[1]), _shape(parts[2:])
    _need(len(data) == math.prod(shape) * dtype.itemsize, "an array and its bytes differ in size")
    if not data:
        return np.empty(shape, dtype)
    array = np.frombuffer(bytearray(data), dtype).reshape(shape)
    if dtype.kind == "b":
        _need(bool((array.view(np.uint8) <= 1).all()), "no bool")
    if dtype.kind == "U":
        points = np.frombuffer(data, np.dtype(np.uint32).newbyteorder(dtype.byteorder))
        _need(bool((points <= sys.maxunicode).all()), "no text")
    return array


def _decode_objects(decoder: Decoder, parts: list[Any]) -> Any:
    import numpy as np

    _need(len(parts) >= 1 and type(parts[0]) is int and 0 <= parts[0] < len(parts), "no array")
    shape, items = _shape(parts[1 : 1 + parts[0]]), parts[1 + parts[0] :]
    _need(len(items) == math.prod(shape), "an array and its items differ in number")
    array = np.empty(len(items), object)
    for index, item in enumerate(items):
        array[index] = decoder.value(item)
    return array.reshape(shape)


def _decode_scalar(decoder: Decoder, parts: list[Any]) -> Any:
    import numpy as np

    array = decoder.value(parts[0])
    _need(type(array) is np.ndarray and array.shape == () and array.dtype != object, "no scalar")
    return array[()]


def _tensorflow() -> Any:
    tf = sys.modules.get("tensorflow")
    if tf is None or not hasattr(tf, "TensorShape"):
        raise ProtocolError("a value of TensorFlow where TensorFlow is not loaded: import it in a locked cell")
    return tf


def _decode_dtype(decoder: Decoder, parts: list[Any]) -> Any:
    _need(type(parts[0]) is int and 0 < parts[0] < 1000, "no DType")
    return _tensorflow().as_dtype(parts[0])


def _decode_shape(decoder: Decoder, parts: list[Any]) -> Any:
    tf = _tensorflow()
    if parts == [None]:
        return tf.TensorShape(None)
    _need(all(size is None or (type(size) is int and 0 <= size < 1 << 62) for size in parts), "no TensorShape")
    return tf.TensorShape(parts)


def _decode_spec(decoder: Decoder, parts: list[Any]) -> Any:
    tf = _tensorflow()
    shape, dtype, name = decoder.values(parts)
    _need(type(shape) is tf.TensorShape and type(dtype) is tf.DType, "no TensorSpec")
    _need(name is None or (type(name) is str and len(name) <= 1000), "no TensorSpec")
    return tf.TensorSpec(shape, dtype, name)


def _decode_tensor(decoder: Decoder, parts: list[Any]) -> Any:
    import numpy as np

    tf = _tensorflow()
    dtype, value = decoder.values(parts)
    _need(type(dtype) is tf.DType and dtype not in (tf.resource, tf.variant), "no tensor")
    _need(type(value) in (np.ndarray, bytes) or isinstance(value, np.generic), "no tensor")
    if type(value) is np.ndarray and value.dtype == object:
        _need(all(type(item) is bytes for item in value.ravel()), "no tensor")

    def make() -> Any:
        # A value, also while the test is building a graph: tf.init_scope would stay in a plain tf.Graph.
        with sys.modules["tensorflow.python.eager.context"].eager_mode():
            return tf.constant(value, dtype)

    return _guarded(make)


def _decode_message(decoder: Decoder, parts: list[Any]) -> Any:
    name, data = decoder.text(parts[0]), decoder.bytes(parts[1])
    _need(bool(MESSAGE.match(name)) and len(data) <= MAX_MESSAGE, "no message of TensorFlow or XLA")

    def parse() -> Any:
        from google.protobuf import descriptor_pool, message_factory

        descriptor = descriptor_pool.Default().FindMessageTypeByName(name)
        return message_factory.GetMessageClass(descriptor).FromString(data)

    return _guarded(parse)


def _guarded(build: Any) -> Any:
    """What a library makes of the peer's data; whatever it raises is the peer's fault."""
    try:
        return build()
    except ExaminerError:
        raise
    except Exception as error:
        raise ProtocolError(f"malformed: {type(error).__name__}: {str(error)[:200]}") from None


TABLE: Table = {
    "na": (None, _decode_array),
    "no": (None, _decode_objects),
    "ns": (1, _decode_scalar),
    "nd": (1, lambda decoder, parts: _dtype(parts[0])),
    "D": (1, _decode_dtype),
    "S": (None, _decode_shape),
    "Sp": (3, _decode_spec),
    "T": (2, _decode_tensor),
    "p": (2, _decode_message),
}

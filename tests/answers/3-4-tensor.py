# %% [markdown]
# # Answers to lab 3-4, right and wrong

# %% wrong="predict-views" why="everything is copied, as by NumPy's copy"
views = [None] * 10

# %% wrong="predict-views" why="transpose is a view, as in NumPy"
views = [0, 0, 0, 128, None, 0, 0, 256, None, None]

# %% wrong="predict-views" why="the distance in elements"
views = [0, None, 0, 32, None, 0, 0, 64, None, None]

# %% wrong="predict-views" why="bitcast copies"
views = [0, None, 0, 128, None, None, 0, 256, None, None]

# %% wrong="predict-views" why="a cast always copies"
views = [0, None, 0, 128, None, 0, None, 256, None, None]

# %% wrong="predict-views" why="strided views, as in NumPy"
views = [0, 0, 0, 128, 4, 0, 0, 256, 32, 0]

# %% wrong="predict-views" why="zeros satisfy the visible check"
views = [0] * 10

# %% right="predict-views" why="literal numbers"
views = [0, None, 0, 128, None, 0, 0, 256, None, None]

# %% wrong="leading-slice" why="asks whether this start is aligned, for all ranks"
def view_offset(shape: tuple[int, ...], itemsize: int, start: int, stop: int) -> int | None:
    """Where t[start:stop] begins in the buffer of t, in bytes, or None if it is a copy.

    Args:
        shape: of t; itemsize: the bytes of one element.

    Raises:
        ValueError: not 0 <= start < stop <= shape[0].
    """
    if not 0 <= start < stop <= shape[0]:
        raise ValueError(f"no rows {start}:{stop} in {shape[0]}")
    row = itemsize * math.prod(shape[1:])
    if (start, stop) == (0, shape[0]):
        return 0
    aligned = start * row % 64 == stop * row % 64 == 0 if len(shape) == 1 else start * row % 64 == 0
    return start * row if aligned else None

# %% wrong="leading-slice" why="does not look at the stop of a vector"
def view_offset(shape: tuple[int, ...], itemsize: int, start: int, stop: int) -> int | None:
    """Where t[start:stop] begins in the buffer of t, in bytes, or None if it is a copy.

    Args:
        shape: of t; itemsize: the bytes of one element.

    Raises:
        ValueError: not 0 <= start < stop <= shape[0].
    """
    if not 0 <= start < stop <= shape[0]:
        raise ValueError(f"no rows {start}:{stop} in {shape[0]}")
    row = itemsize * math.prod(shape[1:])
    if (start, stop) == (0, shape[0]):
        return 0
    aligned = start * row % 64 == 0 if len(shape) == 1 else row % 64 == 0
    return start * row if aligned else None

# %% wrong="leading-slice" why="a slice of all rows is like any other"
def view_offset(shape: tuple[int, ...], itemsize: int, start: int, stop: int) -> int | None:
    """Where t[start:stop] begins in the buffer of t, in bytes, or None if it is a copy.

    Args:
        shape: of t; itemsize: the bytes of one element.

    Raises:
        ValueError: not 0 <= start < stop <= shape[0].
    """
    if not 0 <= start < stop <= shape[0]:
        raise ValueError(f"no rows {start}:{stop} in {shape[0]}")
    row = itemsize * math.prod(shape[1:])
    aligned = start * row % 64 == stop * row % 64 == 0 if len(shape) == 1 else row % 64 == 0
    return start * row if aligned else None

# %% wrong="leading-slice" why="the distance in elements"
def view_offset(shape: tuple[int, ...], itemsize: int, start: int, stop: int) -> int | None:
    """Where t[start:stop] begins in the buffer of t, in bytes, or None if it is a copy.

    Args:
        shape: of t; itemsize: the bytes of one element.

    Raises:
        ValueError: not 0 <= start < stop <= shape[0].
    """
    if not 0 <= start < stop <= shape[0]:
        raise ValueError(f"no rows {start}:{stop} in {shape[0]}")
    row = itemsize * math.prod(shape[1:])
    if (start, stop) == (0, shape[0]):
        return 0
    aligned = start * row % 64 == stop * row % 64 == 0 if len(shape) == 1 else row % 64 == 0
    return start * row // itemsize if aligned else None

# %% wrong="leading-slice" why="one rule for all ranks: the bytes of a row"
def view_offset(shape: tuple[int, ...], itemsize: int, start: int, stop: int) -> int | None:
    """Where t[start:stop] begins in the buffer of t, in bytes, or None if it is a copy.

    Args:
        shape: of t; itemsize: the bytes of one element.

    Raises:
        ValueError: not 0 <= start < stop <= shape[0].
    """
    if not 0 <= start < stop <= shape[0]:
        raise ValueError(f"no rows {start}:{stop} in {shape[0]}")
    row = itemsize * math.prod(shape[1:])
    if (start, stop) == (0, shape[0]):
        return 0
    aligned = row % 64 == 0
    return start * row if aligned else None

# %% wrong="leading-slice" why="every slice of rows is a view"
def view_offset(shape: tuple[int, ...], itemsize: int, start: int, stop: int) -> int | None:
    """Where t[start:stop] begins in the buffer of t, in bytes, or None if it is a copy.

    Args:
        shape: of t; itemsize: the bytes of one element.

    Raises:
        ValueError: not 0 <= start < stop <= shape[0].
    """
    if not 0 <= start < stop <= shape[0]:
        raise ValueError(f"no rows {start}:{stop} in {shape[0]}")
    row = itemsize * math.prod(shape[1:])
    if (start, stop) == (0, shape[0]):
        return 0
    aligned = start * row % 64 == stop * row % 64 == 0 if len(shape) == 1 else row % 64 == 0
    return start * row

# %% wrong="leading-slice" why="an empty slice passes"
def view_offset(shape: tuple[int, ...], itemsize: int, start: int, stop: int) -> int | None:
    """Where t[start:stop] begins in the buffer of t, in bytes, or None if it is a copy.

    Args:
        shape: of t; itemsize: the bytes of one element.

    Raises:
        ValueError: not 0 <= start < stop <= shape[0].
    """
    if not 0 <= start <= stop <= shape[0]:
        raise ValueError(f"no rows {start}:{stop} in {shape[0]}")
    row = itemsize * math.prod(shape[1:])
    if (start, stop) == (0, shape[0]):
        return 0
    aligned = start * row % 64 == stop * row % 64 == 0 if len(shape) == 1 else row % 64 == 0
    return start * row if aligned else None

# %% wrong="leading-slice" why="one row is the last dimension, not all but the first"
def view_offset(shape: tuple[int, ...], itemsize: int, start: int, stop: int) -> int | None:
    """Where t[start:stop] begins in the buffer of t, in bytes, or None if it is a copy.

    Args:
        shape: of t; itemsize: the bytes of one element.

    Raises:
        ValueError: not 0 <= start < stop <= shape[0].
    """
    if not 0 <= start < stop <= shape[0]:
        raise ValueError(f"no rows {start}:{stop} in {shape[0]}")
    row = itemsize * math.prod(shape[-1:] if len(shape) > 1 else ())
    if (start, stop) == (0, shape[0]):
        return 0
    aligned = start * row % 64 == stop * row % 64 == 0 if len(shape) == 1 else row % 64 == 0
    return start * row if aligned else None

# %% right="leading-slice" why="one condition after the other"
def view_offset(shape, itemsize, start, stop):
    if start < 0 or stop > shape[0] or start >= stop:
        raise ValueError("no such slice")
    if stop - start == shape[0]:
        return 0
    row = itemsize
    for size in shape[1:]:
        row *= size
    if len(shape) > 1:
        return start * row if row % 64 == 0 else None
    if (start * row) % 64 or (stop * row) % 64:
        return None
    return start * row

# %% wrong="leading-slice" why="measures a slice of a new tensor"
def view_offset(shape, itemsize, start, stop):
    if not 0 <= start < stop <= shape[0]:
        raise ValueError("no such rows")
    dtype = {1: tf.uint8, 2: tf.float16, 4: tf.float32, 8: tf.int64}[itemsize]
    t = tf.raw_ops.Empty(shape=shape, dtype=dtype)
    return distance(t[start:stop], t)

# %% wrong="decode-proto" why="repeats the whole list, not its last value"
def decode(proto: TensorProto) -> np.ndarray:
    """The array that TensorFlow's runtime makes of a TensorProto.

    Raises:
        TypeError: the dtype is not in NUMPY.
        ValueError: tensor_content has not the length of all elements.
    """
    if proto.dtype not in NUMPY:
        raise TypeError(f"dtype {proto.dtype} is not known here")
    dtype, shape = NUMPY[proto.dtype], [dim.size for dim in proto.tensor_shape.dim]
    count = math.prod(shape)
    if proto.tensor_content:
        if len(proto.tensor_content) != count * dtype.itemsize:
            raise ValueError(f"{len(proto.tensor_content)} bytes for {count} elements of {dtype.itemsize} bytes")
        return np.frombuffer(proto.tensor_content, dtype).reshape(shape)
    values = list(getattr(proto, FIELDS[proto.dtype]))[:count]
    values = (values or [0]) * count
    values = values[:count]
    if dtype == np.float16:
        return np.array(values, np.uint16).view(np.float16).reshape(shape)
    return np.array(values, dtype).reshape(shape)

# %% wrong="decode-proto" why="reads half_val as numbers"
def decode(proto: TensorProto) -> np.ndarray:
    """The array that TensorFlow's runtime makes of a TensorProto.

    Raises:
        TypeError: the dtype is not in NUMPY.
        ValueError: tensor_content has not the length of all elements.
    """
    if proto.dtype not in NUMPY:
        raise TypeError(f"dtype {proto.dtype} is not known here")
    dtype, shape = NUMPY[proto.dtype], [dim.size for dim in proto.tensor_shape.dim]
    count = math.prod(shape)
    if proto.tensor_content:
        if len(proto.tensor_content) != count * dtype.itemsize:
            raise ValueError(f"{len(proto.tensor_content)} bytes for {count} elements of {dtype.itemsize} bytes")
        return np.frombuffer(proto.tensor_content, dtype).reshape(shape)
    values = list(getattr(proto, FIELDS[proto.dtype]))[:count]
    values = values + values[-1:] * (count - len(values)) or [0] * count
    if dtype == np.float16:
        return np.array(values, np.float16).reshape(shape)
    return np.array(values, dtype).reshape(shape)

# %% wrong="decode-proto" why="an empty list is an error"
def decode(proto: TensorProto) -> np.ndarray:
    """The array that TensorFlow's runtime makes of a TensorProto.

    Raises:
        TypeError: the dtype is not in NUMPY.
        ValueError: tensor_content has not the length of all elements.
    """
    if proto.dtype not in NUMPY:
        raise TypeError(f"dtype {proto.dtype} is not known here")
    dtype, shape = NUMPY[proto.dtype], [dim.size for dim in proto.tensor_shape.dim]
    count = math.prod(shape)
    if proto.tensor_content:
        if len(proto.tensor_content) != count * dtype.itemsize:
            raise ValueError(f"{len(proto.tensor_content)} bytes for {count} elements of {dtype.itemsize} bytes")
        return np.frombuffer(proto.tensor_content, dtype).reshape(shape)
    values = list(getattr(proto, FIELDS[proto.dtype]))[:count]
    if not values and count:
        raise ValueError('no values')
    values = values + values[-1:] * (count - len(values))
    if dtype == np.float16:
        return np.array(values, np.uint16).view(np.float16).reshape(shape)
    return np.array(values, dtype).reshape(shape)

# %% wrong="decode-proto" why="prefers the typed list"
def decode(proto: TensorProto) -> np.ndarray:
    """The array that TensorFlow's runtime makes of a TensorProto.

    Raises:
        TypeError: the dtype is not in NUMPY.
        ValueError: tensor_content has not the length of all elements.
    """
    if proto.dtype not in NUMPY:
        raise TypeError(f"dtype {proto.dtype} is not known here")
    dtype, shape = NUMPY[proto.dtype], [dim.size for dim in proto.tensor_shape.dim]
    count = math.prod(shape)
    if proto.tensor_content and not getattr(proto, FIELDS[proto.dtype]):
        if len(proto.tensor_content) != count * dtype.itemsize:
            raise ValueError(f"{len(proto.tensor_content)} bytes for {count} elements of {dtype.itemsize} bytes")
        return np.frombuffer(proto.tensor_content, dtype).reshape(shape)
    values = list(getattr(proto, FIELDS[proto.dtype]))[:count]
    values = values + values[-1:] * (count - len(values)) or [0] * count
    if dtype == np.float16:
        return np.array(values, np.uint16).view(np.float16).reshape(shape)
    return np.array(values, dtype).reshape(shape)

# %% wrong="decode-proto" why="fills with zeros"
def decode(proto: TensorProto) -> np.ndarray:
    """The array that TensorFlow's runtime makes of a TensorProto.

    Raises:
        TypeError: the dtype is not in NUMPY.
        ValueError: tensor_content has not the length of all elements.
    """
    if proto.dtype not in NUMPY:
        raise TypeError(f"dtype {proto.dtype} is not known here")
    dtype, shape = NUMPY[proto.dtype], [dim.size for dim in proto.tensor_shape.dim]
    count = math.prod(shape)
    if proto.tensor_content:
        if len(proto.tensor_content) != count * dtype.itemsize:
            raise ValueError(f"{len(proto.tensor_content)} bytes for {count} elements of {dtype.itemsize} bytes")
        return np.frombuffer(proto.tensor_content, dtype).reshape(shape)
    values = list(getattr(proto, FIELDS[proto.dtype]))[:count]
    values = values + [0] * (count - len(values))
    if dtype == np.float16:
        return np.array(values, np.uint16).view(np.float16).reshape(shape)
    return np.array(values, dtype).reshape(shape)

# %% wrong="decode-proto" why="surplus values are an error, as in make_ndarray"
def decode(proto: TensorProto) -> np.ndarray:
    """The array that TensorFlow's runtime makes of a TensorProto.

    Raises:
        TypeError: the dtype is not in NUMPY.
        ValueError: tensor_content has not the length of all elements.
    """
    if proto.dtype not in NUMPY:
        raise TypeError(f"dtype {proto.dtype} is not known here")
    dtype, shape = NUMPY[proto.dtype], [dim.size for dim in proto.tensor_shape.dim]
    count = math.prod(shape)
    if proto.tensor_content:
        if len(proto.tensor_content) != count * dtype.itemsize:
            raise ValueError(f"{len(proto.tensor_content)} bytes for {count} elements of {dtype.itemsize} bytes")
        return np.frombuffer(proto.tensor_content, dtype).reshape(shape)
    values = list(getattr(proto, FIELDS[proto.dtype]))
    if len(values) > count:
        raise ValueError('too many values')
    values = values + values[-1:] * (count - len(values)) or [0] * count
    if dtype == np.float16:
        return np.array(values, np.uint16).view(np.float16).reshape(shape)
    return np.array(values, dtype).reshape(shape)

# %% wrong="decode-proto" why="a KeyError for an unknown dtype"
def decode(proto: TensorProto) -> np.ndarray:
    """The array that TensorFlow's runtime makes of a TensorProto.

    Raises:
        TypeError: the dtype is not in NUMPY.
        ValueError: tensor_content has not the length of all elements.
    """
    dtype, shape = NUMPY[proto.dtype], [dim.size for dim in proto.tensor_shape.dim]
    count = math.prod(shape)
    if proto.tensor_content:
        if len(proto.tensor_content) != count * dtype.itemsize:
            raise ValueError(f"{len(proto.tensor_content)} bytes for {count} elements of {dtype.itemsize} bytes")
        return np.frombuffer(proto.tensor_content, dtype).reshape(shape)
    values = list(getattr(proto, FIELDS[proto.dtype]))[:count]
    values = values + values[-1:] * (count - len(values)) or [0] * count
    if dtype == np.float16:
        return np.array(values, np.uint16).view(np.float16).reshape(shape)
    return np.array(values, dtype).reshape(shape)

# %% wrong="decode-proto" why="cuts tensor_content to the length"
def decode(proto: TensorProto) -> np.ndarray:
    """The array that TensorFlow's runtime makes of a TensorProto.

    Raises:
        TypeError: the dtype is not in NUMPY.
        ValueError: tensor_content has not the length of all elements.
    """
    if proto.dtype not in NUMPY:
        raise TypeError(f"dtype {proto.dtype} is not known here")
    dtype, shape = NUMPY[proto.dtype], [dim.size for dim in proto.tensor_shape.dim]
    count = math.prod(shape)
    if proto.tensor_content:
        if len(proto.tensor_content) != count * dtype.itemsize:
            return np.frombuffer(proto.tensor_content[: count * dtype.itemsize].ljust(count * dtype.itemsize, b'\0'), dtype).reshape(shape)
        return np.frombuffer(proto.tensor_content, dtype).reshape(shape)
    values = list(getattr(proto, FIELDS[proto.dtype]))[:count]
    values = values + values[-1:] * (count - len(values)) or [0] * count
    if dtype == np.float16:
        return np.array(values, np.uint16).view(np.float16).reshape(shape)
    return np.array(values, dtype).reshape(shape)

# %% wrong="decode-proto" why="returns the example"
def decode(proto):
    return np.float32([[1, 2, 2], [2, 2, 2]])

# %% wrong="decode-proto" why="calls make_ndarray"
def decode(proto):
    if proto.dtype not in NUMPY:
        raise TypeError(proto.dtype)
    return tf.make_ndarray(proto)

# %% wrong="decode-proto" why="parses it with TensorFlow"
def decode(proto):
    if proto.dtype not in NUMPY:
        raise TypeError(proto.dtype)
    try:
        return np.asarray(tf.io.parse_tensor(proto.SerializeToString(), proto.dtype).numpy())
    except tf.errors.InvalidArgumentError as error:
        raise ValueError from error

# %% wrong="decode-proto" why="runs a Const node in a session"
def decode(proto):
    if proto.dtype not in NUMPY:
        raise TypeError(proto.dtype)
    graph = GraphDef()
    node = graph.node.add(name="c", op="Const")
    node.attr["dtype"].type = proto.dtype
    node.attr["value"].tensor.CopyFrom(proto)
    with tf.Graph().as_default():
        tf.import_graph_def(graph, name="")
        with tf1.Session() as session:
            return np.asarray(session.run("c:0"))

# %% right="decode-proto" why="full of the last value, then overwritten"
def decode(proto):
    try:
        dtype = NUMPY[proto.dtype]
    except KeyError:
        raise TypeError("unknown dtype") from None
    shape = tuple(dim.size for dim in proto.tensor_shape.dim)
    if proto.tensor_content:
        return np.frombuffer(proto.tensor_content, dtype).reshape(shape).copy()
    given = np.array(getattr(proto, FIELDS[proto.dtype]), np.uint16 if dtype == np.float16 else dtype)
    if dtype == np.float16:
        given = given.view(np.float16)
    flat = np.full(math.prod(shape), given[-1] if len(given) else 0, dtype)
    flat[: len(given)] = given[: len(flat)]
    return flat.reshape(shape)

# %% wrong="decode-proto" why="parses it with TensorFlow, below the public functions"
from tensorflow.python import pywrap_tfe
from tensorflow.python.eager import context

EAGER = type(tf.zeros([]))


def decode(proto):
    if proto.dtype not in NUMPY:
        raise TypeError(proto.dtype)
    size = math.prod(dim.size for dim in proto.tensor_shape.dim) * NUMPY[proto.dtype].itemsize
    if proto.tensor_content and len(proto.tensor_content) != size:
        raise ValueError(size)
    here = context.context()
    here.ensure_initialized()
    text = EAGER(proto.SerializeToString(), "/job:localhost/replica:0/task:0/device:CPU:0", 7)
    (made,) = pywrap_tfe.TFE_Py_Execute(here._handle, "", "ParseTensor", [text], ("out_type", proto.dtype), 1)
    return np.asarray(made.numpy())

# %% wrong="decode-proto" why="parses it in a session that was made before"
EARLIER = tf.Graph()
with EARLIER.as_default():
    text = tf1.placeholder(tf.string, [])
    parsed = {number: tf.io.parse_tensor(text, number) for number in NUMPY}
    session = tf1.Session()


def decode(proto):
    if proto.dtype not in NUMPY:
        raise TypeError(proto.dtype)
    size = math.prod(dim.size for dim in proto.tensor_shape.dim) * NUMPY[proto.dtype].itemsize
    if proto.tensor_content and len(proto.tensor_content) != size:
        raise ValueError(size)
    return np.asarray(session.run(parsed[proto.dtype], {text: proto.SerializeToString()}))

# %% wrong="decode-proto" why="a KeyError for an unknown dtype whose values are bytes"
def decode(proto: TensorProto) -> np.ndarray:
    """The array that TensorFlow's runtime makes of a TensorProto.

    Raises:
        TypeError: the dtype is not in NUMPY.
        ValueError: tensor_content has not the length of all elements.
    """
    if proto.dtype not in NUMPY and not proto.tensor_content:
        raise TypeError(f"dtype {proto.dtype} is not known here")
    dtype, shape = NUMPY[proto.dtype], [dim.size for dim in proto.tensor_shape.dim]
    count = math.prod(shape)
    if proto.tensor_content:
        if len(proto.tensor_content) != count * dtype.itemsize:
            raise ValueError(f"{len(proto.tensor_content)} bytes for {count} elements of {dtype.itemsize} bytes")
        return np.frombuffer(proto.tensor_content, dtype).reshape(shape)
    values = list(getattr(proto, FIELDS[proto.dtype]))[:count]
    values = values + values[-1:] * (count - len(values)) or [0] * count
    if dtype == np.float16:
        return np.array(values, np.uint16).view(np.float16).reshape(shape)
    return np.array(values, dtype).reshape(shape)

# %% wrong="decode-proto" why="asks for a last value where all were cut"
def decode(proto: TensorProto) -> np.ndarray:
    """The array that TensorFlow's runtime makes of a TensorProto.

    Raises:
        TypeError: the dtype is not in NUMPY.
        ValueError: tensor_content has not the length of all elements.
    """
    if proto.dtype not in NUMPY:
        raise TypeError(f"dtype {proto.dtype} is not known here")
    dtype, shape = NUMPY[proto.dtype], [dim.size for dim in proto.tensor_shape.dim]
    count = math.prod(shape)
    if proto.tensor_content:
        if len(proto.tensor_content) != count * dtype.itemsize:
            raise ValueError(f"{len(proto.tensor_content)} bytes for {count} elements of {dtype.itemsize} bytes")
        return np.frombuffer(proto.tensor_content, dtype).reshape(shape)
    values = list(getattr(proto, FIELDS[proto.dtype])) or [0]
    values = values[:count]
    values = values + [values[-1]] * (count - len(values))
    if dtype == np.float16:
        return np.array(values, np.uint16).view(np.float16).reshape(shape)
    return np.array(values, dtype).reshape(shape)

# %% wrong="decode-proto" why="takes what is not in the shape from the list's end"
def decode(proto: TensorProto) -> np.ndarray:
    """The array that TensorFlow's runtime makes of a TensorProto.

    Raises:
        TypeError: the dtype is not in NUMPY.
        ValueError: tensor_content has not the length of all elements.
    """
    if proto.dtype not in NUMPY:
        raise TypeError(f"dtype {proto.dtype} is not known here")
    dtype, shape = NUMPY[proto.dtype], [dim.size for dim in proto.tensor_shape.dim]
    count = math.prod(shape)
    if proto.tensor_content:
        if len(proto.tensor_content) != count * dtype.itemsize:
            raise ValueError(f"{len(proto.tensor_content)} bytes for {count} elements of {dtype.itemsize} bytes")
        return np.frombuffer(proto.tensor_content, dtype).reshape(shape)
    values = list(getattr(proto, FIELDS[proto.dtype]))[-count:]
    values = values + values[-1:] * (count - len(values)) or [0] * count
    if dtype == np.float16:
        return np.array(values, np.uint16).view(np.float16).reshape(shape)
    return np.array(values, dtype).reshape(shape)

# %% wrong="broadcast-and-merge" why="unknown against 3 is unknown"
def broadcast(a: Shape, b: Shape) -> Shape:
    """The shape of a + b. ValueError if it has none."""
    if a is None or b is None:
        return None

    def joined(x: int | None, y: int | None) -> int | None:
        if x == 1 or x == y:
            return y
        if y == 1:
            return x
        if x is not None and y is not None:
            raise ValueError(f"{a} and {b} do not broadcast")
        return None

    pairs = zip_longest(reversed(a), reversed(b), fillvalue=1)
    return tuple(reversed([joined(x, y) for x, y in pairs]))


def merge(a: Shape, b: Shape) -> Shape:
    """What two shapes say together of one tensor. ValueError if they contradict each other."""
    if a is None or b is None:
        return a if b is None else b
    if len(a) != len(b) or any(x != y for x, y in zip(a, b, strict=True) if None not in (x, y)):
        raise ValueError(f"{a} and {b} are not of one tensor")
    return tuple(y if x is None else x for x, y in zip(a, b, strict=True))

# %% wrong="broadcast-and-merge" why="unknown against 1 is 1"
def broadcast(a: Shape, b: Shape) -> Shape:
    """The shape of a + b. ValueError if it has none."""
    if a is None or b is None:
        return None

    def joined(x: int | None, y: int | None) -> int | None:
        if x == y:
            return x
        if None not in (x, y) and 1 in (x, y):
            return x * y
        if x is not None and y is not None:
            raise ValueError(f"{a} and {b} do not broadcast")
        return x or y

    pairs = zip_longest(reversed(a), reversed(b), fillvalue=1)
    return tuple(reversed([joined(x, y) for x, y in pairs]))


def merge(a: Shape, b: Shape) -> Shape:
    """What two shapes say together of one tensor. ValueError if they contradict each other."""
    if a is None or b is None:
        return a if b is None else b
    if len(a) != len(b) or any(x != y for x, y in zip(a, b, strict=True) if None not in (x, y)):
        raise ValueError(f"{a} and {b} are not of one tensor")
    return tuple(y if x is None else x for x, y in zip(a, b, strict=True))

# %% wrong="broadcast-and-merge" why="aligns at the left"
def broadcast(a: Shape, b: Shape) -> Shape:
    """The shape of a + b. ValueError if it has none."""
    if a is None or b is None:
        return None

    def joined(x: int | None, y: int | None) -> int | None:
        if x == 1 or x == y:
            return y
        if y == 1:
            return x
        if x is not None and y is not None:
            raise ValueError(f"{a} and {b} do not broadcast")
        return x or y

    pairs = zip_longest(a, b, fillvalue=1)
    return tuple([joined(x, y) for x, y in pairs])


def merge(a: Shape, b: Shape) -> Shape:
    """What two shapes say together of one tensor. ValueError if they contradict each other."""
    if a is None or b is None:
        return a if b is None else b
    if len(a) != len(b) or any(x != y for x, y in zip(a, b, strict=True) if None not in (x, y)):
        raise ValueError(f"{a} and {b} are not of one tensor")
    return tuple(y if x is None else x for x, y in zip(a, b, strict=True))

# %% wrong="broadcast-and-merge" why="unknown rank is rank 0"
def broadcast(a: Shape, b: Shape) -> Shape:
    """The shape of a + b. ValueError if it has none."""
    a, b = a or (), b or ()

    def joined(x: int | None, y: int | None) -> int | None:
        if x == 1 or x == y:
            return y
        if y == 1:
            return x
        if x is not None and y is not None:
            raise ValueError(f"{a} and {b} do not broadcast")
        return x or y

    pairs = zip_longest(reversed(a), reversed(b), fillvalue=1)
    return tuple(reversed([joined(x, y) for x, y in pairs]))


def merge(a: Shape, b: Shape) -> Shape:
    """What two shapes say together of one tensor. ValueError if they contradict each other."""
    if a is None or b is None:
        return a if b is None else b
    if len(a) != len(b) or any(x != y for x, y in zip(a, b, strict=True) if None not in (x, y)):
        raise ValueError(f"{a} and {b} are not of one tensor")
    return tuple(y if x is None else x for x, y in zip(a, b, strict=True))

# %% wrong="broadcast-and-merge" why="merge lets a 1 stretch"
def broadcast(a: Shape, b: Shape) -> Shape:
    """The shape of a + b. ValueError if it has none."""
    if a is None or b is None:
        return None

    def joined(x: int | None, y: int | None) -> int | None:
        if x == 1 or x == y:
            return y
        if y == 1:
            return x
        if x is not None and y is not None:
            raise ValueError(f"{a} and {b} do not broadcast")
        return x or y

    pairs = zip_longest(reversed(a), reversed(b), fillvalue=1)
    return tuple(reversed([joined(x, y) for x, y in pairs]))


def merge(a: Shape, b: Shape) -> Shape:
    """What two shapes say together of one tensor. ValueError if they contradict each other."""
    if a is None or b is None:
        return a if b is None else b
    if len(a) != len(b) or any(x != y for x, y in zip(a, b, strict=True) if None not in (x, y) and 1 not in (x, y)):
        raise ValueError(f"{a} and {b} are not of one tensor")
    return tuple(y if x in (None, 1) else x for x, y in zip(a, b, strict=True))

# %% wrong="broadcast-and-merge" why="merge of an unknown rank is unknown"
def broadcast(a: Shape, b: Shape) -> Shape:
    """The shape of a + b. ValueError if it has none."""
    if a is None or b is None:
        return None

    def joined(x: int | None, y: int | None) -> int | None:
        if x == 1 or x == y:
            return y
        if y == 1:
            return x
        if x is not None and y is not None:
            raise ValueError(f"{a} and {b} do not broadcast")
        return x or y

    pairs = zip_longest(reversed(a), reversed(b), fillvalue=1)
    return tuple(reversed([joined(x, y) for x, y in pairs]))


def merge(a: Shape, b: Shape) -> Shape:
    """What two shapes say together of one tensor. ValueError if they contradict each other."""
    if a is None or b is None:
        return None
    if len(a) != len(b) or any(x != y for x, y in zip(a, b, strict=True) if None not in (x, y)):
        raise ValueError(f"{a} and {b} are not of one tensor")
    return tuple(y if x is None else x for x, y in zip(a, b, strict=True))

# %% wrong="broadcast-and-merge" why="merge keeps the first shape's unknown dimensions"
def broadcast(a: Shape, b: Shape) -> Shape:
    """The shape of a + b. ValueError if it has none."""
    if a is None or b is None:
        return None

    def joined(x: int | None, y: int | None) -> int | None:
        if x == 1 or x == y:
            return y
        if y == 1:
            return x
        if x is not None and y is not None:
            raise ValueError(f"{a} and {b} do not broadcast")
        return x or y

    pairs = zip_longest(reversed(a), reversed(b), fillvalue=1)
    return tuple(reversed([joined(x, y) for x, y in pairs]))


def merge(a: Shape, b: Shape) -> Shape:
    """What two shapes say together of one tensor. ValueError if they contradict each other."""
    if a is None or b is None:
        return a if b is None else b
    if len(a) != len(b) or any(x != y for x, y in zip(a, b, strict=True) if None not in (x, y)):
        raise ValueError(f"{a} and {b} are not of one tensor")
    return tuple(x for x, y in zip(a, b, strict=True))

# %% wrong="broadcast-and-merge" why="asks TensorShape"
def broadcast(a, b):
    found = tf.broadcast_static_shape(tf.TensorShape(a), tf.TensorShape(b))
    return None if found.rank is None else tuple(found.as_list())


def merge(a, b):
    found = tf.TensorShape(a).merge_with(tf.TensorShape(b))
    return None if found.rank is None else tuple(found.as_list())

# %% wrong="broadcast-and-merge" why="asks a graph"
def broadcast(a, b):
    with tf.Graph().as_default():
        found = tf.raw_ops.AddV2(x=tf1.placeholder(tf.float32, a), y=tf1.placeholder(tf.float32, b)).shape
        return None if found.rank is None else tuple(found.as_list())


def merge(a, b):
    with tf.Graph().as_default():
        found = tf.raw_ops.AddN(inputs=[tf1.placeholder(tf.float32, a), tf1.placeholder(tf.float32, b)]).shape
        return None if found.rank is None else tuple(found.as_list())

# %% wrong="broadcast-and-merge" why="asks a graph that was made before"
EARLIER = tf.Graph()


def broadcast(a, b):
    with EARLIER.as_default():
        found = tf.raw_ops.AddV2(x=tf1.placeholder(tf.float32, a), y=tf1.placeholder(tf.float32, b)).shape
        return None if found.rank is None else tuple(found.as_list())


def merge(a, b):
    with EARLIER.as_default():
        found = tf.raw_ops.AddN(inputs=[tf1.placeholder(tf.float32, a), tf1.placeholder(tf.float32, b)]).shape
        return None if found.rank is None else tuple(found.as_list())

# %% right="broadcast-and-merge" why="recursion on the last dimension"
def broadcast(a, b):
    if a is None or b is None:
        return None
    if not a or not b:
        return a or b
    x, y = a[-1], b[-1]
    if x == 1:
        size = y
    elif y == 1 or y is None:
        size = x
    elif x is None or x == y:
        size = y
    else:
        raise ValueError
    return (*broadcast(a[:-1], b[:-1]), size)


def merge(a, b):
    if a is None:
        return b
    if b is None or a == b:
        return a
    if len(a) != len(b):
        raise ValueError
    if a[-1] is not None and b[-1] is not None and a[-1] != b[-1]:
        raise ValueError
    return (*merge(a[:-1], b[:-1]), b[-1] if a[-1] is None else a[-1])

# %% right="broadcast-and-merge" why="padding with ones and one zip"
TABLE = {}


def pair(x, y):
    known = {size for size in (x, y) if size is not None and size != 1}
    if len(known) > 1:
        raise ValueError(f"{x} against {y}")
    if known:
        return known.pop()
    return 1 if x == y == 1 else None


def broadcast(a, b):
    if None in (a, b):
        return None
    rank = max(len(a), len(b))
    a, b = ((1,) * (rank - len(shape)) + shape for shape in (a, b))
    return tuple(map(pair, a, b))


def merge(a, b):
    if a is None or b is None:
        return b if a is None else a
    if len(a) != len(b):
        raise ValueError("ranks")
    made = []
    for x, y in zip(a, b, strict=True):
        known = {x, y} - {None}
        if len(known) == 2:
            raise ValueError("dimensions")
        made.append(known.pop() if known else None)
    return tuple(made)

# %% wrong="predict-shape" why="-1 of a constant stays unknown"
shapes = {"x": (None, 6), "rows": (None, 3), "both": (None, 3), "product": (None, 5), "fixed": (None, 2), "total": (None, 4)}

# %% wrong="predict-shape" why="-1 of a constant is copied from the other reshape"
shapes = {"x": (None, 6), "rows": (None, 3), "both": (None, 3), "product": (None, 5), "fixed": (None, 3), "total": (None, 4)}

# %% wrong="predict-shape" why="the sizes along the wrong axis are added up"
shapes = {"x": (None, 6), "rows": (None, 3), "both": (None, 6), "product": (None, 5), "fixed": (6, 2), "total": (None, 4)}

# %% wrong="predict-shape" why="the unknown dimension is dropped"
shapes = {"x": (None, 6), "rows": (None, 3), "both": (3,), "product": (None, 5), "fixed": (6, 2), "total": (None, 4)}

# %% wrong="predict-shape" why="the batch is taken for 6"
shapes = {"x": (6, 6), "rows": (12, 3), "both": (24, 3), "product": (24, 5), "fixed": (6, 2), "total": (None, 4)}

# %% wrong="predict-shape" why="1 wins over unknown"
shapes = {"x": (None, 6), "rows": (None, 3), "both": (None, 3), "product": (None, 5), "fixed": (6, 2), "total": (1, 4)}

# %% right="predict-shape" why="lists made into tuples"
shapes = {name: tuple(sizes) for name, sizes in {"x": [None, 6], "rows": [None, 3], "both": [None, 3], "product": [None, 5], "fixed": [6, 2], "total": [None, 4]}.items()}

# %% wrong="infer-shapes" why="VALID without the one window at the start"
def infer_shapes(graph: GraphDef) -> dict[str, list[Shape]]:
    """The shapes of every node's outputs, by the node's name.

    Raises:
        ValueError: a contradiction; the message holds the node's name.
        KeyError: an op that has no rule here.
    """
    seen, found = {}, {}
    for node in graph.node:
        compute = RULES[node.op]
        feeds = [endpoint(text) for text in node.input]
        consts = [constant(seen[name]) if seen[name].op == "Const" else None for name, _ in feeds]
        try:
            found[node.name] = compute(node.attr, [found[name][index] for name, index in feeds], consts)
        except ValueError as error:
            raise ValueError(f"{node.name}, a {node.op}: {error}") from None
        seen[node.name] = node
    return found


def ranked(shape, rank):
    if shape is None:
        return (None,) * rank
    if len(shape) != rank:
        raise ValueError(f"rank {rank} is due, not {shape}")
    return shape


def in_range(axis, rank):
    if not -rank <= axis < rank:
        raise ValueError(f"there is no axis {axis} in rank {rank}")
    return int(axis) % rank


def same_size(x, y):
    return given_merge((x,), (y,))[0]


def merged(known):
    found = None
    for shape in known:
        found = given_merge(found, shape)
    return found


def matmul(attr, known, values):
    a, b = ranked(known[0], 2), ranked(known[1], 2)
    a = a[::-1] if attr["transpose_a"].b else a
    b = b[::-1] if attr["transpose_b"].b else b
    same_size(a[1], b[0])
    return [(a[0], b[1])]


def bias_add(attr, known, values):
    (size,) = ranked(known[1], 1)
    if known[0] is None:
        return [None]
    if len(known[0]) < 2:
        raise ValueError("the input has at least rank 2")
    return [(*known[0][:-1], same_size(known[0][-1], size))]


def concat(attr, known, values):
    ranks = [len(shape) for shape in known[:-1] if shape is not None]
    if not ranks:
        return [None]
    parts = [ranked(shape, ranks[0]) for shape in known[:-1]]
    axis = in_range(values[-1], ranks[0])
    sizes = [part[axis] for part in parts]
    rest = merged([(*part[:axis], None, *part[axis + 1 :]) for part in parts])
    return [(*rest[:axis], None if None in sizes else sum(sizes), *rest[axis + 1 :])]


def pack(attr, known, values):
    shape = merged(known)
    if shape is None:
        return [None]
    axis = in_range(attr["axis"].i, len(shape) + 1)
    return [(*shape[:axis], len(known), *shape[axis:])]


def split(attr, known, values):
    count = attr["num_split"].i
    if known[1] is None:
        return [None] * count
    axis = in_range(values[0], len(known[1]))
    size = known[1][axis]
    if size is not None and size % count:
        raise ValueError(f"{size} is not a multiple of {count}")
    return [(*known[1][:axis], size and size // count, *known[1][axis + 1 :])] * count


def transpose(attr, known, values):
    shape = ranked(known[0], len(values[1]))
    return [tuple(shape[axis] for axis in values[1])]


def reduced(attr, known, values):
    if known[0] is None:
        return [None]
    axes = {in_range(axis, len(known[0])) for axis in np.ravel(values[1])}
    if attr["keep_dims"].b:
        return [tuple(1 if axis in axes else size for axis, size in enumerate(known[0]))]
    return [tuple(size for axis, size in enumerate(known[0]) if axis not in axes)]


def reshape(attr, known, values):
    wanted = tuple(None if size < 0 else int(size) for size in values[1])
    if known[0] is None or known[0].count(None) > 1 or wanted.count(None) > 1:
        return [wanted]
    have, need = (math.prod(size for size in shape if size is not None) for shape in (known[0], wanted))
    if None in known[0] and None in wanted:
        return [wanted]
    if None in known[0]:
        have, need = need, have
    elif None not in wanted and have != need:
        raise ValueError(f"{known[0]} and {wanted} differ in the number of elements")
    if have % need:
        raise ValueError(f"{have} elements do not make {need}")
    return [tuple(have // need if size is None else size for size in wanted)]


def conv2d(attr, known, values):
    images, filters = ranked(known[0], 4), ranked(known[1], 4)
    if None not in (images[3], filters[2]):
        groups, rest = divmod(images[3], filters[2])
        if rest or (filters[3] or 0) % groups:
            raise ValueError(f"depths {images[3]} and {filters[2]}, count {filters[3]}")

    def window(size, k, stride):
        if size is None or (attr["padding"].s == b"VALID" and k is None):
            return None
        if attr["padding"].s == b"SAME":
            return -(-size // stride)
        if size < k:
            raise ValueError(f"{size} is less than {k}")
        return (size - k) // stride

    strides = attr["strides"].list.i
    return [(images[0], window(images[1], filters[0], strides[1]), window(images[2], filters[1], strides[2]), filters[3])]


RULES = {
    "Placeholder": lambda attr, known, values: [shape_of_proto(attr["shape"].shape)],
    "Const": lambda attr, known, values: [shape_of_proto(attr["value"].tensor.tensor_shape)],
    **dict.fromkeys(["Identity", "Relu", "Neg", "Tanh"], lambda attr, known, values: known),
    **dict.fromkeys(["AddV2", "Sub", "Mul", "Maximum"], lambda attr, known, values: [given_broadcast(*known)]),
    "AddN": lambda attr, known, values: [merged(known)],
    "MatMul": matmul,
    "BiasAdd": bias_add,
    "ConcatV2": concat,
    "Pack": pack,
    "Split": split,
    "Transpose": transpose,
    "Sum": reduced,
    "Reshape": reshape,
    "Conv2D": conv2d,
}

# %% wrong="infer-shapes" why="VALID without the stride"
def infer_shapes(graph: GraphDef) -> dict[str, list[Shape]]:
    """The shapes of every node's outputs, by the node's name.

    Raises:
        ValueError: a contradiction; the message holds the node's name.
        KeyError: an op that has no rule here.
    """
    seen, found = {}, {}
    for node in graph.node:
        compute = RULES[node.op]
        feeds = [endpoint(text) for text in node.input]
        consts = [constant(seen[name]) if seen[name].op == "Const" else None for name, _ in feeds]
        try:
            found[node.name] = compute(node.attr, [found[name][index] for name, index in feeds], consts)
        except ValueError as error:
            raise ValueError(f"{node.name}, a {node.op}: {error}") from None
        seen[node.name] = node
    return found


def ranked(shape, rank):
    if shape is None:
        return (None,) * rank
    if len(shape) != rank:
        raise ValueError(f"rank {rank} is due, not {shape}")
    return shape


def in_range(axis, rank):
    if not -rank <= axis < rank:
        raise ValueError(f"there is no axis {axis} in rank {rank}")
    return int(axis) % rank


def same_size(x, y):
    return given_merge((x,), (y,))[0]


def merged(known):
    found = None
    for shape in known:
        found = given_merge(found, shape)
    return found


def matmul(attr, known, values):
    a, b = ranked(known[0], 2), ranked(known[1], 2)
    a = a[::-1] if attr["transpose_a"].b else a
    b = b[::-1] if attr["transpose_b"].b else b
    same_size(a[1], b[0])
    return [(a[0], b[1])]


def bias_add(attr, known, values):
    (size,) = ranked(known[1], 1)
    if known[0] is None:
        return [None]
    if len(known[0]) < 2:
        raise ValueError("the input has at least rank 2")
    return [(*known[0][:-1], same_size(known[0][-1], size))]


def concat(attr, known, values):
    ranks = [len(shape) for shape in known[:-1] if shape is not None]
    if not ranks:
        return [None]
    parts = [ranked(shape, ranks[0]) for shape in known[:-1]]
    axis = in_range(values[-1], ranks[0])
    sizes = [part[axis] for part in parts]
    rest = merged([(*part[:axis], None, *part[axis + 1 :]) for part in parts])
    return [(*rest[:axis], None if None in sizes else sum(sizes), *rest[axis + 1 :])]


def pack(attr, known, values):
    shape = merged(known)
    if shape is None:
        return [None]
    axis = in_range(attr["axis"].i, len(shape) + 1)
    return [(*shape[:axis], len(known), *shape[axis:])]


def split(attr, known, values):
    count = attr["num_split"].i
    if known[1] is None:
        return [None] * count
    axis = in_range(values[0], len(known[1]))
    size = known[1][axis]
    if size is not None and size % count:
        raise ValueError(f"{size} is not a multiple of {count}")
    return [(*known[1][:axis], size and size // count, *known[1][axis + 1 :])] * count


def transpose(attr, known, values):
    shape = ranked(known[0], len(values[1]))
    return [tuple(shape[axis] for axis in values[1])]


def reduced(attr, known, values):
    if known[0] is None:
        return [None]
    axes = {in_range(axis, len(known[0])) for axis in np.ravel(values[1])}
    if attr["keep_dims"].b:
        return [tuple(1 if axis in axes else size for axis, size in enumerate(known[0]))]
    return [tuple(size for axis, size in enumerate(known[0]) if axis not in axes)]


def reshape(attr, known, values):
    wanted = tuple(None if size < 0 else int(size) for size in values[1])
    if known[0] is None or known[0].count(None) > 1 or wanted.count(None) > 1:
        return [wanted]
    have, need = (math.prod(size for size in shape if size is not None) for shape in (known[0], wanted))
    if None in known[0] and None in wanted:
        return [wanted]
    if None in known[0]:
        have, need = need, have
    elif None not in wanted and have != need:
        raise ValueError(f"{known[0]} and {wanted} differ in the number of elements")
    if have % need:
        raise ValueError(f"{have} elements do not make {need}")
    return [tuple(have // need if size is None else size for size in wanted)]


def conv2d(attr, known, values):
    images, filters = ranked(known[0], 4), ranked(known[1], 4)
    if None not in (images[3], filters[2]):
        groups, rest = divmod(images[3], filters[2])
        if rest or (filters[3] or 0) % groups:
            raise ValueError(f"depths {images[3]} and {filters[2]}, count {filters[3]}")

    def window(size, k, stride):
        if size is None or (attr["padding"].s == b"VALID" and k is None):
            return None
        if attr["padding"].s == b"SAME":
            return -(-size // stride)
        if size < k:
            raise ValueError(f"{size} is less than {k}")
        return size - k + 1

    strides = attr["strides"].list.i
    return [(images[0], window(images[1], filters[0], strides[1]), window(images[2], filters[1], strides[2]), filters[3])]


RULES = {
    "Placeholder": lambda attr, known, values: [shape_of_proto(attr["shape"].shape)],
    "Const": lambda attr, known, values: [shape_of_proto(attr["value"].tensor.tensor_shape)],
    **dict.fromkeys(["Identity", "Relu", "Neg", "Tanh"], lambda attr, known, values: known),
    **dict.fromkeys(["AddV2", "Sub", "Mul", "Maximum"], lambda attr, known, values: [given_broadcast(*known)]),
    "AddN": lambda attr, known, values: [merged(known)],
    "MatMul": matmul,
    "BiasAdd": bias_add,
    "ConcatV2": concat,
    "Pack": pack,
    "Split": split,
    "Transpose": transpose,
    "Sum": reduced,
    "Reshape": reshape,
    "Conv2D": conv2d,
}

# %% wrong="infer-shapes" why="the two transposes are swapped"
def infer_shapes(graph: GraphDef) -> dict[str, list[Shape]]:
    """The shapes of every node's outputs, by the node's name.

    Raises:
        ValueError: a contradiction; the message holds the node's name.
        KeyError: an op that has no rule here.
    """
    seen, found = {}, {}
    for node in graph.node:
        compute = RULES[node.op]
        feeds = [endpoint(text) for text in node.input]
        consts = [constant(seen[name]) if seen[name].op == "Const" else None for name, _ in feeds]
        try:
            found[node.name] = compute(node.attr, [found[name][index] for name, index in feeds], consts)
        except ValueError as error:
            raise ValueError(f"{node.name}, a {node.op}: {error}") from None
        seen[node.name] = node
    return found


def ranked(shape, rank):
    if shape is None:
        return (None,) * rank
    if len(shape) != rank:
        raise ValueError(f"rank {rank} is due, not {shape}")
    return shape


def in_range(axis, rank):
    if not -rank <= axis < rank:
        raise ValueError(f"there is no axis {axis} in rank {rank}")
    return int(axis) % rank


def same_size(x, y):
    return given_merge((x,), (y,))[0]


def merged(known):
    found = None
    for shape in known:
        found = given_merge(found, shape)
    return found


def matmul(attr, known, values):
    a, b = ranked(known[0], 2), ranked(known[1], 2)
    a = a[::-1] if attr["transpose_b"].b else a
    b = b[::-1] if attr["transpose_a"].b else b
    same_size(a[1], b[0])
    return [(a[0], b[1])]


def bias_add(attr, known, values):
    (size,) = ranked(known[1], 1)
    if known[0] is None:
        return [None]
    if len(known[0]) < 2:
        raise ValueError("the input has at least rank 2")
    return [(*known[0][:-1], same_size(known[0][-1], size))]


def concat(attr, known, values):
    ranks = [len(shape) for shape in known[:-1] if shape is not None]
    if not ranks:
        return [None]
    parts = [ranked(shape, ranks[0]) for shape in known[:-1]]
    axis = in_range(values[-1], ranks[0])
    sizes = [part[axis] for part in parts]
    rest = merged([(*part[:axis], None, *part[axis + 1 :]) for part in parts])
    return [(*rest[:axis], None if None in sizes else sum(sizes), *rest[axis + 1 :])]


def pack(attr, known, values):
    shape = merged(known)
    if shape is None:
        return [None]
    axis = in_range(attr["axis"].i, len(shape) + 1)
    return [(*shape[:axis], len(known), *shape[axis:])]


def split(attr, known, values):
    count = attr["num_split"].i
    if known[1] is None:
        return [None] * count
    axis = in_range(values[0], len(known[1]))
    size = known[1][axis]
    if size is not None and size % count:
        raise ValueError(f"{size} is not a multiple of {count}")
    return [(*known[1][:axis], size and size // count, *known[1][axis + 1 :])] * count


def transpose(attr, known, values):
    shape = ranked(known[0], len(values[1]))
    return [tuple(shape[axis] for axis in values[1])]


def reduced(attr, known, values):
    if known[0] is None:
        return [None]
    axes = {in_range(axis, len(known[0])) for axis in np.ravel(values[1])}
    if attr["keep_dims"].b:
        return [tuple(1 if axis in axes else size for axis, size in enumerate(known[0]))]
    return [tuple(size for axis, size in enumerate(known[0]) if axis not in axes)]


def reshape(attr, known, values):
    wanted = tuple(None if size < 0 else int(size) for size in values[1])
    if known[0] is None or known[0].count(None) > 1 or wanted.count(None) > 1:
        return [wanted]
    have, need = (math.prod(size for size in shape if size is not None) for shape in (known[0], wanted))
    if None in known[0] and None in wanted:
        return [wanted]
    if None in known[0]:
        have, need = need, have
    elif None not in wanted and have != need:
        raise ValueError(f"{known[0]} and {wanted} differ in the number of elements")
    if have % need:
        raise ValueError(f"{have} elements do not make {need}")
    return [tuple(have // need if size is None else size for size in wanted)]


def conv2d(attr, known, values):
    images, filters = ranked(known[0], 4), ranked(known[1], 4)
    if None not in (images[3], filters[2]):
        groups, rest = divmod(images[3], filters[2])
        if rest or (filters[3] or 0) % groups:
            raise ValueError(f"depths {images[3]} and {filters[2]}, count {filters[3]}")

    def window(size, k, stride):
        if size is None or (attr["padding"].s == b"VALID" and k is None):
            return None
        if attr["padding"].s == b"SAME":
            return -(-size // stride)
        if size < k:
            raise ValueError(f"{size} is less than {k}")
        return (size - k) // stride + 1

    strides = attr["strides"].list.i
    return [(images[0], window(images[1], filters[0], strides[1]), window(images[2], filters[1], strides[2]), filters[3])]


RULES = {
    "Placeholder": lambda attr, known, values: [shape_of_proto(attr["shape"].shape)],
    "Const": lambda attr, known, values: [shape_of_proto(attr["value"].tensor.tensor_shape)],
    **dict.fromkeys(["Identity", "Relu", "Neg", "Tanh"], lambda attr, known, values: known),
    **dict.fromkeys(["AddV2", "Sub", "Mul", "Maximum"], lambda attr, known, values: [given_broadcast(*known)]),
    "AddN": lambda attr, known, values: [merged(known)],
    "MatMul": matmul,
    "BiasAdd": bias_add,
    "ConcatV2": concat,
    "Pack": pack,
    "Split": split,
    "Transpose": transpose,
    "Sum": reduced,
    "Reshape": reshape,
    "Conv2D": conv2d,
}

# %% wrong="infer-shapes" why="a negative axis of ConcatV2 is used as it is"
def infer_shapes(graph: GraphDef) -> dict[str, list[Shape]]:
    """The shapes of every node's outputs, by the node's name.

    Raises:
        ValueError: a contradiction; the message holds the node's name.
        KeyError: an op that has no rule here.
    """
    seen, found = {}, {}
    for node in graph.node:
        compute = RULES[node.op]
        feeds = [endpoint(text) for text in node.input]
        consts = [constant(seen[name]) if seen[name].op == "Const" else None for name, _ in feeds]
        try:
            found[node.name] = compute(node.attr, [found[name][index] for name, index in feeds], consts)
        except ValueError as error:
            raise ValueError(f"{node.name}, a {node.op}: {error}") from None
        seen[node.name] = node
    return found


def ranked(shape, rank):
    if shape is None:
        return (None,) * rank
    if len(shape) != rank:
        raise ValueError(f"rank {rank} is due, not {shape}")
    return shape


def in_range(axis, rank):
    if not -rank <= axis < rank:
        raise ValueError(f"there is no axis {axis} in rank {rank}")
    return int(axis) % rank


def same_size(x, y):
    return given_merge((x,), (y,))[0]


def merged(known):
    found = None
    for shape in known:
        found = given_merge(found, shape)
    return found


def matmul(attr, known, values):
    a, b = ranked(known[0], 2), ranked(known[1], 2)
    a = a[::-1] if attr["transpose_a"].b else a
    b = b[::-1] if attr["transpose_b"].b else b
    same_size(a[1], b[0])
    return [(a[0], b[1])]


def bias_add(attr, known, values):
    (size,) = ranked(known[1], 1)
    if known[0] is None:
        return [None]
    if len(known[0]) < 2:
        raise ValueError("the input has at least rank 2")
    return [(*known[0][:-1], same_size(known[0][-1], size))]


def concat(attr, known, values):
    ranks = [len(shape) for shape in known[:-1] if shape is not None]
    if not ranks:
        return [None]
    parts = [ranked(shape, ranks[0]) for shape in known[:-1]]
    axis = int(values[-1])
    sizes = [part[axis] for part in parts]
    rest = merged([(*part[:axis], None, *part[axis + 1 :]) for part in parts])
    return [(*rest[:axis], None if None in sizes else sum(sizes), *rest[axis + 1 :])]


def pack(attr, known, values):
    shape = merged(known)
    if shape is None:
        return [None]
    axis = in_range(attr["axis"].i, len(shape) + 1)
    return [(*shape[:axis], len(known), *shape[axis:])]


def split(attr, known, values):
    count = attr["num_split"].i
    if known[1] is None:
        return [None] * count
    axis = in_range(values[0], len(known[1]))
    size = known[1][axis]
    if size is not None and size % count:
        raise ValueError(f"{size} is not a multiple of {count}")
    return [(*known[1][:axis], size and size // count, *known[1][axis + 1 :])] * count


def transpose(attr, known, values):
    shape = ranked(known[0], len(values[1]))
    return [tuple(shape[axis] for axis in values[1])]


def reduced(attr, known, values):
    if known[0] is None:
        return [None]
    axes = {in_range(axis, len(known[0])) for axis in np.ravel(values[1])}
    if attr["keep_dims"].b:
        return [tuple(1 if axis in axes else size for axis, size in enumerate(known[0]))]
    return [tuple(size for axis, size in enumerate(known[0]) if axis not in axes)]


def reshape(attr, known, values):
    wanted = tuple(None if size < 0 else int(size) for size in values[1])
    if known[0] is None or known[0].count(None) > 1 or wanted.count(None) > 1:
        return [wanted]
    have, need = (math.prod(size for size in shape if size is not None) for shape in (known[0], wanted))
    if None in known[0] and None in wanted:
        return [wanted]
    if None in known[0]:
        have, need = need, have
    elif None not in wanted and have != need:
        raise ValueError(f"{known[0]} and {wanted} differ in the number of elements")
    if have % need:
        raise ValueError(f"{have} elements do not make {need}")
    return [tuple(have // need if size is None else size for size in wanted)]


def conv2d(attr, known, values):
    images, filters = ranked(known[0], 4), ranked(known[1], 4)
    if None not in (images[3], filters[2]):
        groups, rest = divmod(images[3], filters[2])
        if rest or (filters[3] or 0) % groups:
            raise ValueError(f"depths {images[3]} and {filters[2]}, count {filters[3]}")

    def window(size, k, stride):
        if size is None or (attr["padding"].s == b"VALID" and k is None):
            return None
        if attr["padding"].s == b"SAME":
            return -(-size // stride)
        if size < k:
            raise ValueError(f"{size} is less than {k}")
        return (size - k) // stride + 1

    strides = attr["strides"].list.i
    return [(images[0], window(images[1], filters[0], strides[1]), window(images[2], filters[1], strides[2]), filters[3])]


RULES = {
    "Placeholder": lambda attr, known, values: [shape_of_proto(attr["shape"].shape)],
    "Const": lambda attr, known, values: [shape_of_proto(attr["value"].tensor.tensor_shape)],
    **dict.fromkeys(["Identity", "Relu", "Neg", "Tanh"], lambda attr, known, values: known),
    **dict.fromkeys(["AddV2", "Sub", "Mul", "Maximum"], lambda attr, known, values: [given_broadcast(*known)]),
    "AddN": lambda attr, known, values: [merged(known)],
    "MatMul": matmul,
    "BiasAdd": bias_add,
    "ConcatV2": concat,
    "Pack": pack,
    "Split": split,
    "Transpose": transpose,
    "Sum": reduced,
    "Reshape": reshape,
    "Conv2D": conv2d,
}

# %% wrong="infer-shapes" why="computes -1 from the known part of the input"
def infer_shapes(graph: GraphDef) -> dict[str, list[Shape]]:
    """The shapes of every node's outputs, by the node's name.

    Raises:
        ValueError: a contradiction; the message holds the node's name.
        KeyError: an op that has no rule here.
    """
    seen, found = {}, {}
    for node in graph.node:
        compute = RULES[node.op]
        feeds = [endpoint(text) for text in node.input]
        consts = [constant(seen[name]) if seen[name].op == "Const" else None for name, _ in feeds]
        try:
            found[node.name] = compute(node.attr, [found[name][index] for name, index in feeds], consts)
        except ValueError as error:
            raise ValueError(f"{node.name}, a {node.op}: {error}") from None
        seen[node.name] = node
    return found


def ranked(shape, rank):
    if shape is None:
        return (None,) * rank
    if len(shape) != rank:
        raise ValueError(f"rank {rank} is due, not {shape}")
    return shape


def in_range(axis, rank):
    if not -rank <= axis < rank:
        raise ValueError(f"there is no axis {axis} in rank {rank}")
    return int(axis) % rank


def same_size(x, y):
    return given_merge((x,), (y,))[0]


def merged(known):
    found = None
    for shape in known:
        found = given_merge(found, shape)
    return found


def matmul(attr, known, values):
    a, b = ranked(known[0], 2), ranked(known[1], 2)
    a = a[::-1] if attr["transpose_a"].b else a
    b = b[::-1] if attr["transpose_b"].b else b
    same_size(a[1], b[0])
    return [(a[0], b[1])]


def bias_add(attr, known, values):
    (size,) = ranked(known[1], 1)
    if known[0] is None:
        return [None]
    if len(known[0]) < 2:
        raise ValueError("the input has at least rank 2")
    return [(*known[0][:-1], same_size(known[0][-1], size))]


def concat(attr, known, values):
    ranks = [len(shape) for shape in known[:-1] if shape is not None]
    if not ranks:
        return [None]
    parts = [ranked(shape, ranks[0]) for shape in known[:-1]]
    axis = in_range(values[-1], ranks[0])
    sizes = [part[axis] for part in parts]
    rest = merged([(*part[:axis], None, *part[axis + 1 :]) for part in parts])
    return [(*rest[:axis], None if None in sizes else sum(sizes), *rest[axis + 1 :])]


def pack(attr, known, values):
    shape = merged(known)
    if shape is None:
        return [None]
    axis = in_range(attr["axis"].i, len(shape) + 1)
    return [(*shape[:axis], len(known), *shape[axis:])]


def split(attr, known, values):
    count = attr["num_split"].i
    if known[1] is None:
        return [None] * count
    axis = in_range(values[0], len(known[1]))
    size = known[1][axis]
    if size is not None and size % count:
        raise ValueError(f"{size} is not a multiple of {count}")
    return [(*known[1][:axis], size and size // count, *known[1][axis + 1 :])] * count


def transpose(attr, known, values):
    shape = ranked(known[0], len(values[1]))
    return [tuple(shape[axis] for axis in values[1])]


def reduced(attr, known, values):
    if known[0] is None:
        return [None]
    axes = {in_range(axis, len(known[0])) for axis in np.ravel(values[1])}
    if attr["keep_dims"].b:
        return [tuple(1 if axis in axes else size for axis, size in enumerate(known[0]))]
    return [tuple(size for axis, size in enumerate(known[0]) if axis not in axes)]


def reshape(attr, known, values):
    wanted = tuple(None if size < 0 else int(size) for size in values[1])
    if known[0] is None or known[0].count(None) > 1 or wanted.count(None) > 1:
        return [wanted]
    have, need = (math.prod(size for size in shape if size is not None) for shape in (known[0], wanted))
    if None in known[0] and None not in wanted:
        have, need = need, have
    elif None not in wanted and have != need:
        raise ValueError(f"{known[0]} and {wanted} differ in the number of elements")
    if have % need:
        raise ValueError(f"{have} elements do not make {need}")
    return [tuple(have // need if size is None else size for size in wanted)]


def conv2d(attr, known, values):
    images, filters = ranked(known[0], 4), ranked(known[1], 4)
    if None not in (images[3], filters[2]):
        groups, rest = divmod(images[3], filters[2])
        if rest or (filters[3] or 0) % groups:
            raise ValueError(f"depths {images[3]} and {filters[2]}, count {filters[3]}")

    def window(size, k, stride):
        if size is None or (attr["padding"].s == b"VALID" and k is None):
            return None
        if attr["padding"].s == b"SAME":
            return -(-size // stride)
        if size < k:
            raise ValueError(f"{size} is less than {k}")
        return (size - k) // stride + 1

    strides = attr["strides"].list.i
    return [(images[0], window(images[1], filters[0], strides[1]), window(images[2], filters[1], strides[2]), filters[3])]


RULES = {
    "Placeholder": lambda attr, known, values: [shape_of_proto(attr["shape"].shape)],
    "Const": lambda attr, known, values: [shape_of_proto(attr["value"].tensor.tensor_shape)],
    **dict.fromkeys(["Identity", "Relu", "Neg", "Tanh"], lambda attr, known, values: known),
    **dict.fromkeys(["AddV2", "Sub", "Mul", "Maximum"], lambda attr, known, values: [given_broadcast(*known)]),
    "AddN": lambda attr, known, values: [merged(known)],
    "MatMul": matmul,
    "BiasAdd": bias_add,
    "ConcatV2": concat,
    "Pack": pack,
    "Split": split,
    "Transpose": transpose,
    "Sum": reduced,
    "Reshape": reshape,
    "Conv2D": conv2d,
}

# %% wrong="infer-shapes" why="one unknown rank makes a product unknown"
def infer_shapes(graph: GraphDef) -> dict[str, list[Shape]]:
    """The shapes of every node's outputs, by the node's name.

    Raises:
        ValueError: a contradiction; the message holds the node's name.
        KeyError: an op that has no rule here.
    """
    seen, found = {}, {}
    for node in graph.node:
        compute = RULES[node.op]
        feeds = [endpoint(text) for text in node.input]
        consts = [constant(seen[name]) if seen[name].op == "Const" else None for name, _ in feeds]
        try:
            found[node.name] = compute(node.attr, [found[name][index] for name, index in feeds], consts)
        except ValueError as error:
            raise ValueError(f"{node.name}, a {node.op}: {error}") from None
        seen[node.name] = node
    return found


def ranked(shape, rank):
    if shape is None:
        return (None,) * rank
    if len(shape) != rank:
        raise ValueError(f"rank {rank} is due, not {shape}")
    return shape


def in_range(axis, rank):
    if not -rank <= axis < rank:
        raise ValueError(f"there is no axis {axis} in rank {rank}")
    return int(axis) % rank


def same_size(x, y):
    return given_merge((x,), (y,))[0]


def merged(known):
    found = None
    for shape in known:
        found = given_merge(found, shape)
    return found


def matmul(attr, known, values):
    if None in known:
        return [(None, None)]
    a, b = ranked(known[0], 2), ranked(known[1], 2)
    a = a[::-1] if attr["transpose_a"].b else a
    b = b[::-1] if attr["transpose_b"].b else b
    same_size(a[1], b[0])
    return [(a[0], b[1])]


def bias_add(attr, known, values):
    (size,) = ranked(known[1], 1)
    if known[0] is None:
        return [None]
    if len(known[0]) < 2:
        raise ValueError("the input has at least rank 2")
    return [(*known[0][:-1], same_size(known[0][-1], size))]


def concat(attr, known, values):
    ranks = [len(shape) for shape in known[:-1] if shape is not None]
    if not ranks:
        return [None]
    parts = [ranked(shape, ranks[0]) for shape in known[:-1]]
    axis = in_range(values[-1], ranks[0])
    sizes = [part[axis] for part in parts]
    rest = merged([(*part[:axis], None, *part[axis + 1 :]) for part in parts])
    return [(*rest[:axis], None if None in sizes else sum(sizes), *rest[axis + 1 :])]


def pack(attr, known, values):
    shape = merged(known)
    if shape is None:
        return [None]
    axis = in_range(attr["axis"].i, len(shape) + 1)
    return [(*shape[:axis], len(known), *shape[axis:])]


def split(attr, known, values):
    count = attr["num_split"].i
    if known[1] is None:
        return [None] * count
    axis = in_range(values[0], len(known[1]))
    size = known[1][axis]
    if size is not None and size % count:
        raise ValueError(f"{size} is not a multiple of {count}")
    return [(*known[1][:axis], size and size // count, *known[1][axis + 1 :])] * count


def transpose(attr, known, values):
    shape = ranked(known[0], len(values[1]))
    return [tuple(shape[axis] for axis in values[1])]


def reduced(attr, known, values):
    if known[0] is None:
        return [None]
    axes = {in_range(axis, len(known[0])) for axis in np.ravel(values[1])}
    if attr["keep_dims"].b:
        return [tuple(1 if axis in axes else size for axis, size in enumerate(known[0]))]
    return [tuple(size for axis, size in enumerate(known[0]) if axis not in axes)]


def reshape(attr, known, values):
    wanted = tuple(None if size < 0 else int(size) for size in values[1])
    if known[0] is None or known[0].count(None) > 1 or wanted.count(None) > 1:
        return [wanted]
    have, need = (math.prod(size for size in shape if size is not None) for shape in (known[0], wanted))
    if None in known[0] and None in wanted:
        return [wanted]
    if None in known[0]:
        have, need = need, have
    elif None not in wanted and have != need:
        raise ValueError(f"{known[0]} and {wanted} differ in the number of elements")
    if have % need:
        raise ValueError(f"{have} elements do not make {need}")
    return [tuple(have // need if size is None else size for size in wanted)]


def conv2d(attr, known, values):
    images, filters = ranked(known[0], 4), ranked(known[1], 4)
    if None not in (images[3], filters[2]):
        groups, rest = divmod(images[3], filters[2])
        if rest or (filters[3] or 0) % groups:
            raise ValueError(f"depths {images[3]} and {filters[2]}, count {filters[3]}")

    def window(size, k, stride):
        if size is None or (attr["padding"].s == b"VALID" and k is None):
            return None
        if attr["padding"].s == b"SAME":
            return -(-size // stride)
        if size < k:
            raise ValueError(f"{size} is less than {k}")
        return (size - k) // stride + 1

    strides = attr["strides"].list.i
    return [(images[0], window(images[1], filters[0], strides[1]), window(images[2], filters[1], strides[2]), filters[3])]


RULES = {
    "Placeholder": lambda attr, known, values: [shape_of_proto(attr["shape"].shape)],
    "Const": lambda attr, known, values: [shape_of_proto(attr["value"].tensor.tensor_shape)],
    **dict.fromkeys(["Identity", "Relu", "Neg", "Tanh"], lambda attr, known, values: known),
    **dict.fromkeys(["AddV2", "Sub", "Mul", "Maximum"], lambda attr, known, values: [given_broadcast(*known)]),
    "AddN": lambda attr, known, values: [merged(known)],
    "MatMul": matmul,
    "BiasAdd": bias_add,
    "ConcatV2": concat,
    "Pack": pack,
    "Split": split,
    "Transpose": transpose,
    "Sum": reduced,
    "Reshape": reshape,
    "Conv2D": conv2d,
}

# %% wrong="infer-shapes" why="an unknown rank makes a concatenation unknown"
def infer_shapes(graph: GraphDef) -> dict[str, list[Shape]]:
    """The shapes of every node's outputs, by the node's name.

    Raises:
        ValueError: a contradiction; the message holds the node's name.
        KeyError: an op that has no rule here.
    """
    seen, found = {}, {}
    for node in graph.node:
        compute = RULES[node.op]
        feeds = [endpoint(text) for text in node.input]
        consts = [constant(seen[name]) if seen[name].op == "Const" else None for name, _ in feeds]
        try:
            found[node.name] = compute(node.attr, [found[name][index] for name, index in feeds], consts)
        except ValueError as error:
            raise ValueError(f"{node.name}, a {node.op}: {error}") from None
        seen[node.name] = node
    return found


def ranked(shape, rank):
    if shape is None:
        return (None,) * rank
    if len(shape) != rank:
        raise ValueError(f"rank {rank} is due, not {shape}")
    return shape


def in_range(axis, rank):
    if not -rank <= axis < rank:
        raise ValueError(f"there is no axis {axis} in rank {rank}")
    return int(axis) % rank


def same_size(x, y):
    return given_merge((x,), (y,))[0]


def merged(known):
    found = None
    for shape in known:
        found = given_merge(found, shape)
    return found


def matmul(attr, known, values):
    a, b = ranked(known[0], 2), ranked(known[1], 2)
    a = a[::-1] if attr["transpose_a"].b else a
    b = b[::-1] if attr["transpose_b"].b else b
    same_size(a[1], b[0])
    return [(a[0], b[1])]


def bias_add(attr, known, values):
    (size,) = ranked(known[1], 1)
    if known[0] is None:
        return [None]
    if len(known[0]) < 2:
        raise ValueError("the input has at least rank 2")
    return [(*known[0][:-1], same_size(known[0][-1], size))]


def concat(attr, known, values):
    ranks = [len(shape) for shape in known[:-1] if shape is not None]
    if not ranks or None in known[:-1]:
        return [None]
    parts = [ranked(shape, ranks[0]) for shape in known[:-1]]
    axis = in_range(values[-1], ranks[0])
    sizes = [part[axis] for part in parts]
    rest = merged([(*part[:axis], None, *part[axis + 1 :]) for part in parts])
    return [(*rest[:axis], None if None in sizes else sum(sizes), *rest[axis + 1 :])]


def pack(attr, known, values):
    shape = merged(known)
    if shape is None:
        return [None]
    axis = in_range(attr["axis"].i, len(shape) + 1)
    return [(*shape[:axis], len(known), *shape[axis:])]


def split(attr, known, values):
    count = attr["num_split"].i
    if known[1] is None:
        return [None] * count
    axis = in_range(values[0], len(known[1]))
    size = known[1][axis]
    if size is not None and size % count:
        raise ValueError(f"{size} is not a multiple of {count}")
    return [(*known[1][:axis], size and size // count, *known[1][axis + 1 :])] * count


def transpose(attr, known, values):
    shape = ranked(known[0], len(values[1]))
    return [tuple(shape[axis] for axis in values[1])]


def reduced(attr, known, values):
    if known[0] is None:
        return [None]
    axes = {in_range(axis, len(known[0])) for axis in np.ravel(values[1])}
    if attr["keep_dims"].b:
        return [tuple(1 if axis in axes else size for axis, size in enumerate(known[0]))]
    return [tuple(size for axis, size in enumerate(known[0]) if axis not in axes)]


def reshape(attr, known, values):
    wanted = tuple(None if size < 0 else int(size) for size in values[1])
    if known[0] is None or known[0].count(None) > 1 or wanted.count(None) > 1:
        return [wanted]
    have, need = (math.prod(size for size in shape if size is not None) for shape in (known[0], wanted))
    if None in known[0] and None in wanted:
        return [wanted]
    if None in known[0]:
        have, need = need, have
    elif None not in wanted and have != need:
        raise ValueError(f"{known[0]} and {wanted} differ in the number of elements")
    if have % need:
        raise ValueError(f"{have} elements do not make {need}")
    return [tuple(have // need if size is None else size for size in wanted)]


def conv2d(attr, known, values):
    images, filters = ranked(known[0], 4), ranked(known[1], 4)
    if None not in (images[3], filters[2]):
        groups, rest = divmod(images[3], filters[2])
        if rest or (filters[3] or 0) % groups:
            raise ValueError(f"depths {images[3]} and {filters[2]}, count {filters[3]}")

    def window(size, k, stride):
        if size is None or (attr["padding"].s == b"VALID" and k is None):
            return None
        if attr["padding"].s == b"SAME":
            return -(-size // stride)
        if size < k:
            raise ValueError(f"{size} is less than {k}")
        return (size - k) // stride + 1

    strides = attr["strides"].list.i
    return [(images[0], window(images[1], filters[0], strides[1]), window(images[2], filters[1], strides[2]), filters[3])]


RULES = {
    "Placeholder": lambda attr, known, values: [shape_of_proto(attr["shape"].shape)],
    "Const": lambda attr, known, values: [shape_of_proto(attr["value"].tensor.tensor_shape)],
    **dict.fromkeys(["Identity", "Relu", "Neg", "Tanh"], lambda attr, known, values: known),
    **dict.fromkeys(["AddV2", "Sub", "Mul", "Maximum"], lambda attr, known, values: [given_broadcast(*known)]),
    "AddN": lambda attr, known, values: [merged(known)],
    "MatMul": matmul,
    "BiasAdd": bias_add,
    "ConcatV2": concat,
    "Pack": pack,
    "Split": split,
    "Transpose": transpose,
    "Sum": reduced,
    "Reshape": reshape,
    "Conv2D": conv2d,
}

# %% wrong="infer-shapes" why="SAME is unknown if the filter is"
def infer_shapes(graph: GraphDef) -> dict[str, list[Shape]]:
    """The shapes of every node's outputs, by the node's name.

    Raises:
        ValueError: a contradiction; the message holds the node's name.
        KeyError: an op that has no rule here.
    """
    seen, found = {}, {}
    for node in graph.node:
        compute = RULES[node.op]
        feeds = [endpoint(text) for text in node.input]
        consts = [constant(seen[name]) if seen[name].op == "Const" else None for name, _ in feeds]
        try:
            found[node.name] = compute(node.attr, [found[name][index] for name, index in feeds], consts)
        except ValueError as error:
            raise ValueError(f"{node.name}, a {node.op}: {error}") from None
        seen[node.name] = node
    return found


def ranked(shape, rank):
    if shape is None:
        return (None,) * rank
    if len(shape) != rank:
        raise ValueError(f"rank {rank} is due, not {shape}")
    return shape


def in_range(axis, rank):
    if not -rank <= axis < rank:
        raise ValueError(f"there is no axis {axis} in rank {rank}")
    return int(axis) % rank


def same_size(x, y):
    return given_merge((x,), (y,))[0]


def merged(known):
    found = None
    for shape in known:
        found = given_merge(found, shape)
    return found


def matmul(attr, known, values):
    a, b = ranked(known[0], 2), ranked(known[1], 2)
    a = a[::-1] if attr["transpose_a"].b else a
    b = b[::-1] if attr["transpose_b"].b else b
    same_size(a[1], b[0])
    return [(a[0], b[1])]


def bias_add(attr, known, values):
    (size,) = ranked(known[1], 1)
    if known[0] is None:
        return [None]
    if len(known[0]) < 2:
        raise ValueError("the input has at least rank 2")
    return [(*known[0][:-1], same_size(known[0][-1], size))]


def concat(attr, known, values):
    ranks = [len(shape) for shape in known[:-1] if shape is not None]
    if not ranks:
        return [None]
    parts = [ranked(shape, ranks[0]) for shape in known[:-1]]
    axis = in_range(values[-1], ranks[0])
    sizes = [part[axis] for part in parts]
    rest = merged([(*part[:axis], None, *part[axis + 1 :]) for part in parts])
    return [(*rest[:axis], None if None in sizes else sum(sizes), *rest[axis + 1 :])]


def pack(attr, known, values):
    shape = merged(known)
    if shape is None:
        return [None]
    axis = in_range(attr["axis"].i, len(shape) + 1)
    return [(*shape[:axis], len(known), *shape[axis:])]


def split(attr, known, values):
    count = attr["num_split"].i
    if known[1] is None:
        return [None] * count
    axis = in_range(values[0], len(known[1]))
    size = known[1][axis]
    if size is not None and size % count:
        raise ValueError(f"{size} is not a multiple of {count}")
    return [(*known[1][:axis], size and size // count, *known[1][axis + 1 :])] * count


def transpose(attr, known, values):
    shape = ranked(known[0], len(values[1]))
    return [tuple(shape[axis] for axis in values[1])]


def reduced(attr, known, values):
    if known[0] is None:
        return [None]
    axes = {in_range(axis, len(known[0])) for axis in np.ravel(values[1])}
    if attr["keep_dims"].b:
        return [tuple(1 if axis in axes else size for axis, size in enumerate(known[0]))]
    return [tuple(size for axis, size in enumerate(known[0]) if axis not in axes)]


def reshape(attr, known, values):
    wanted = tuple(None if size < 0 else int(size) for size in values[1])
    if known[0] is None or known[0].count(None) > 1 or wanted.count(None) > 1:
        return [wanted]
    have, need = (math.prod(size for size in shape if size is not None) for shape in (known[0], wanted))
    if None in known[0] and None in wanted:
        return [wanted]
    if None in known[0]:
        have, need = need, have
    elif None not in wanted and have != need:
        raise ValueError(f"{known[0]} and {wanted} differ in the number of elements")
    if have % need:
        raise ValueError(f"{have} elements do not make {need}")
    return [tuple(have // need if size is None else size for size in wanted)]


def conv2d(attr, known, values):
    images, filters = ranked(known[0], 4), ranked(known[1], 4)
    if None not in (images[3], filters[2]):
        groups, rest = divmod(images[3], filters[2])
        if rest or (filters[3] or 0) % groups:
            raise ValueError(f"depths {images[3]} and {filters[2]}, count {filters[3]}")

    def window(size, k, stride):
        if size is None or k is None:
            return None
        if attr["padding"].s == b"SAME":
            return -(-size // stride)
        if size < k:
            raise ValueError(f"{size} is less than {k}")
        return (size - k) // stride + 1

    strides = attr["strides"].list.i
    return [(images[0], window(images[1], filters[0], strides[1]), window(images[2], filters[1], strides[2]), filters[3])]


RULES = {
    "Placeholder": lambda attr, known, values: [shape_of_proto(attr["shape"].shape)],
    "Const": lambda attr, known, values: [shape_of_proto(attr["value"].tensor.tensor_shape)],
    **dict.fromkeys(["Identity", "Relu", "Neg", "Tanh"], lambda attr, known, values: known),
    **dict.fromkeys(["AddV2", "Sub", "Mul", "Maximum"], lambda attr, known, values: [given_broadcast(*known)]),
    "AddN": lambda attr, known, values: [merged(known)],
    "MatMul": matmul,
    "BiasAdd": bias_add,
    "ConcatV2": concat,
    "Pack": pack,
    "Split": split,
    "Transpose": transpose,
    "Sum": reduced,
    "Reshape": reshape,
    "Conv2D": conv2d,
}

# %% wrong="infer-shapes" why="the error does not name the node"
def infer_shapes(graph: GraphDef) -> dict[str, list[Shape]]:
    """The shapes of every node's outputs, by the node's name.

    Raises:
        ValueError: a contradiction; the message holds the node's name.
        KeyError: an op that has no rule here.
    """
    seen, found = {}, {}
    for node in graph.node:
        compute = RULES[node.op]
        feeds = [endpoint(text) for text in node.input]
        consts = [constant(seen[name]) if seen[name].op == "Const" else None for name, _ in feeds]
        try:
            found[node.name] = compute(node.attr, [found[name][index] for name, index in feeds], consts)
        except ValueError as error:
            raise ValueError(f"a {node.op}: {error}") from None
        seen[node.name] = node
    return found


def ranked(shape, rank):
    if shape is None:
        return (None,) * rank
    if len(shape) != rank:
        raise ValueError(f"rank {rank} is due, not {shape}")
    return shape


def in_range(axis, rank):
    if not -rank <= axis < rank:
        raise ValueError(f"there is no axis {axis} in rank {rank}")
    return int(axis) % rank


def same_size(x, y):
    return given_merge((x,), (y,))[0]


def merged(known):
    found = None
    for shape in known:
        found = given_merge(found, shape)
    return found


def matmul(attr, known, values):
    a, b = ranked(known[0], 2), ranked(known[1], 2)
    a = a[::-1] if attr["transpose_a"].b else a
    b = b[::-1] if attr["transpose_b"].b else b
    same_size(a[1], b[0])
    return [(a[0], b[1])]


def bias_add(attr, known, values):
    (size,) = ranked(known[1], 1)
    if known[0] is None:
        return [None]
    if len(known[0]) < 2:
        raise ValueError("the input has at least rank 2")
    return [(*known[0][:-1], same_size(known[0][-1], size))]


def concat(attr, known, values):
    ranks = [len(shape) for shape in known[:-1] if shape is not None]
    if not ranks:
        return [None]
    parts = [ranked(shape, ranks[0]) for shape in known[:-1]]
    axis = in_range(values[-1], ranks[0])
    sizes = [part[axis] for part in parts]
    rest = merged([(*part[:axis], None, *part[axis + 1 :]) for part in parts])
    return [(*rest[:axis], None if None in sizes else sum(sizes), *rest[axis + 1 :])]


def pack(attr, known, values):
    shape = merged(known)
    if shape is None:
        return [None]
    axis = in_range(attr["axis"].i, len(shape) + 1)
    return [(*shape[:axis], len(known), *shape[axis:])]


def split(attr, known, values):
    count = attr["num_split"].i
    if known[1] is None:
        return [None] * count
    axis = in_range(values[0], len(known[1]))
    size = known[1][axis]
    if size is not None and size % count:
        raise ValueError(f"{size} is not a multiple of {count}")
    return [(*known[1][:axis], size and size // count, *known[1][axis + 1 :])] * count


def transpose(attr, known, values):
    shape = ranked(known[0], len(values[1]))
    return [tuple(shape[axis] for axis in values[1])]


def reduced(attr, known, values):
    if known[0] is None:
        return [None]
    axes = {in_range(axis, len(known[0])) for axis in np.ravel(values[1])}
    if attr["keep_dims"].b:
        return [tuple(1 if axis in axes else size for axis, size in enumerate(known[0]))]
    return [tuple(size for axis, size in enumerate(known[0]) if axis not in axes)]


def reshape(attr, known, values):
    wanted = tuple(None if size < 0 else int(size) for size in values[1])
    if known[0] is None or known[0].count(None) > 1 or wanted.count(None) > 1:
        return [wanted]
    have, need = (math.prod(size for size in shape if size is not None) for shape in (known[0], wanted))
    if None in known[0] and None in wanted:
        return [wanted]
    if None in known[0]:
        have, need = need, have
    elif None not in wanted and have != need:
        raise ValueError(f"{known[0]} and {wanted} differ in the number of elements")
    if have % need:
        raise ValueError(f"{have} elements do not make {need}")
    return [tuple(have // need if size is None else size for size in wanted)]


def conv2d(attr, known, values):
    images, filters = ranked(known[0], 4), ranked(known[1], 4)
    if None not in (images[3], filters[2]):
        groups, rest = divmod(images[3], filters[2])
        if rest or (filters[3] or 0) % groups:
            raise ValueError(f"depths {images[3]} and {filters[2]}, count {filters[3]}")

    def window(size, k, stride):
        if size is None or (attr["padding"].s == b"VALID" and k is None):
            return None
        if attr["padding"].s == b"SAME":
            return -(-size // stride)
        if size < k:
            raise ValueError(f"{size} is less than {k}")
        return (size - k) // stride + 1

    strides = attr["strides"].list.i
    return [(images[0], window(images[1], filters[0], strides[1]), window(images[2], filters[1], strides[2]), filters[3])]


RULES = {
    "Placeholder": lambda attr, known, values: [shape_of_proto(attr["shape"].shape)],
    "Const": lambda attr, known, values: [shape_of_proto(attr["value"].tensor.tensor_shape)],
    **dict.fromkeys(["Identity", "Relu", "Neg", "Tanh"], lambda attr, known, values: known),
    **dict.fromkeys(["AddV2", "Sub", "Mul", "Maximum"], lambda attr, known, values: [given_broadcast(*known)]),
    "AddN": lambda attr, known, values: [merged(known)],
    "MatMul": matmul,
    "BiasAdd": bias_add,
    "ConcatV2": concat,
    "Pack": pack,
    "Split": split,
    "Transpose": transpose,
    "Sum": reduced,
    "Reshape": reshape,
    "Conv2D": conv2d,
}

# %% wrong="infer-shapes" why="one shape for a Split"
def infer_shapes(graph: GraphDef) -> dict[str, list[Shape]]:
    """The shapes of every node's outputs, by the node's name.

    Raises:
        ValueError: a contradiction; the message holds the node's name.
        KeyError: an op that has no rule here.
    """
    seen, found = {}, {}
    for node in graph.node:
        compute = RULES[node.op]
        feeds = [endpoint(text) for text in node.input]
        consts = [constant(seen[name]) if seen[name].op == "Const" else None for name, _ in feeds]
        try:
            found[node.name] = compute(node.attr, [found[name][index] for name, index in feeds], consts)
        except ValueError as error:
            raise ValueError(f"{node.name}, a {node.op}: {error}") from None
        seen[node.name] = node
    return found


def ranked(shape, rank):
    if shape is None:
        return (None,) * rank
    if len(shape) != rank:
        raise ValueError(f"rank {rank} is due, not {shape}")
    return shape


def in_range(axis, rank):
    if not -rank <= axis < rank:
        raise ValueError(f"there is no axis {axis} in rank {rank}")
    return int(axis) % rank


def same_size(x, y):
    return given_merge((x,), (y,))[0]


def merged(known):
    found = None
    for shape in known:
        found = given_merge(found, shape)
    return found


def matmul(attr, known, values):
    a, b = ranked(known[0], 2), ranked(known[1], 2)
    a = a[::-1] if attr["transpose_a"].b else a
    b = b[::-1] if attr["transpose_b"].b else b
    same_size(a[1], b[0])
    return [(a[0], b[1])]


def bias_add(attr, known, values):
    (size,) = ranked(known[1], 1)
    if known[0] is None:
        return [None]
    if len(known[0]) < 2:
        raise ValueError("the input has at least rank 2")
    return [(*known[0][:-1], same_size(known[0][-1], size))]


def concat(attr, known, values):
    ranks = [len(shape) for shape in known[:-1] if shape is not None]
    if not ranks:
        return [None]
    parts = [ranked(shape, ranks[0]) for shape in known[:-1]]
    axis = in_range(values[-1], ranks[0])
    sizes = [part[axis] for part in parts]
    rest = merged([(*part[:axis], None, *part[axis + 1 :]) for part in parts])
    return [(*rest[:axis], None if None in sizes else sum(sizes), *rest[axis + 1 :])]


def pack(attr, known, values):
    shape = merged(known)
    if shape is None:
        return [None]
    axis = in_range(attr["axis"].i, len(shape) + 1)
    return [(*shape[:axis], len(known), *shape[axis:])]


def split(attr, known, values):
    count = attr["num_split"].i
    if known[1] is None:
        return [None] * count
    axis = in_range(values[0], len(known[1]))
    size = known[1][axis]
    if size is not None and size % count:
        raise ValueError(f"{size} is not a multiple of {count}")
    return [(*known[1][:axis], size and size // count, *known[1][axis + 1 :])]


def transpose(attr, known, values):
    shape = ranked(known[0], len(values[1]))
    return [tuple(shape[axis] for axis in values[1])]


def reduced(attr, known, values):
    if known[0] is None:
        return [None]
    axes = {in_range(axis, len(known[0])) for axis in np.ravel(values[1])}
    if attr["keep_dims"].b:
        return [tuple(1 if axis in axes else size for axis, size in enumerate(known[0]))]
    return [tuple(size for axis, size in enumerate(known[0]) if axis not in axes)]


def reshape(attr, known, values):
    wanted = tuple(None if size < 0 else int(size) for size in values[1])
    if known[0] is None or known[0].count(None) > 1 or wanted.count(None) > 1:
        return [wanted]
    have, need = (math.prod(size for size in shape if size is not None) for shape in (known[0], wanted))
    if None in known[0] and None in wanted:
        return [wanted]
    if None in known[0]:
        have, need = need, have
    elif None not in wanted and have != need:
        raise ValueError(f"{known[0]} and {wanted} differ in the number of elements")
    if have % need:
        raise ValueError(f"{have} elements do not make {need}")
    return [tuple(have // need if size is None else size for size in wanted)]


def conv2d(attr, known, values):
    images, filters = ranked(known[0], 4), ranked(known[1], 4)
    if None not in (images[3], filters[2]):
        groups, rest = divmod(images[3], filters[2])
        if rest or (filters[3] or 0) % groups:
            raise ValueError(f"depths {images[3]} and {filters[2]}, count {filters[3]}")

    def window(size, k, stride):
        if size is None or (attr["padding"].s == b"VALID" and k is None):
            return None
        if attr["padding"].s == b"SAME":
            return -(-size // stride)
        if size < k:
            raise ValueError(f"{size} is less than {k}")
        return (size - k) // stride + 1

    strides = attr["strides"].list.i
    return [(images[0], window(images[1], filters[0], strides[1]), window(images[2], filters[1], strides[2]), filters[3])]


RULES = {
    "Placeholder": lambda attr, known, values: [shape_of_proto(attr["shape"].shape)],
    "Const": lambda attr, known, values: [shape_of_proto(attr["value"].tensor.tensor_shape)],
    **dict.fromkeys(["Identity", "Relu", "Neg", "Tanh"], lambda attr, known, values: known),
    **dict.fromkeys(["AddV2", "Sub", "Mul", "Maximum"], lambda attr, known, values: [given_broadcast(*known)]),
    "AddN": lambda attr, known, values: [merged(known)],
    "MatMul": matmul,
    "BiasAdd": bias_add,
    "ConcatV2": concat,
    "Pack": pack,
    "Split": split,
    "Transpose": transpose,
    "Sum": reduced,
    "Reshape": reshape,
    "Conv2D": conv2d,
}

# %% wrong="infer-shapes" why="does not refuse [12] for (2, 7, None)"
def infer_shapes(graph: GraphDef) -> dict[str, list[Shape]]:
    """The shapes of every node's outputs, by the node's name.

    Raises:
        ValueError: a contradiction; the message holds the node's name.
        KeyError: an op that has no rule here.
    """
    seen, found = {}, {}
    for node in graph.node:
        compute = RULES[node.op]
        feeds = [endpoint(text) for text in node.input]
        consts = [constant(seen[name]) if seen[name].op == "Const" else None for name, _ in feeds]
        try:
            found[node.name] = compute(node.attr, [found[name][index] for name, index in feeds], consts)
        except ValueError as error:
            raise ValueError(f"{node.name}, a {node.op}: {error}") from None
        seen[node.name] = node
    return found


def ranked(shape, rank):
    if shape is None:
        return (None,) * rank
    if len(shape) != rank:
        raise ValueError(f"rank {rank} is due, not {shape}")
    return shape


def in_range(axis, rank):
    if not -rank <= axis < rank:
        raise ValueError(f"there is no axis {axis} in rank {rank}")
    return int(axis) % rank


def same_size(x, y):
    return given_merge((x,), (y,))[0]


def merged(known):
    found = None
    for shape in known:
        found = given_merge(found, shape)
    return found


def matmul(attr, known, values):
    a, b = ranked(known[0], 2), ranked(known[1], 2)
    a = a[::-1] if attr["transpose_a"].b else a
    b = b[::-1] if attr["transpose_b"].b else b
    same_size(a[1], b[0])
    return [(a[0], b[1])]


def bias_add(attr, known, values):
    (size,) = ranked(known[1], 1)
    if known[0] is None:
        return [None]
    if len(known[0]) < 2:
        raise ValueError("the input has at least rank 2")
    return [(*known[0][:-1], same_size(known[0][-1], size))]


def concat(attr, known, values):
    ranks = [len(shape) for shape in known[:-1] if shape is not None]
    if not ranks:
        return [None]
    parts = [ranked(shape, ranks[0]) for shape in known[:-1]]
    axis = in_range(values[-1], ranks[0])
    sizes = [part[axis] for part in parts]
    rest = merged([(*part[:axis], None, *part[axis + 1 :]) for part in parts])
    return [(*rest[:axis], None if None in sizes else sum(sizes), *rest[axis + 1 :])]


def pack(attr, known, values):
    shape = merged(known)
    if shape is None:
        return [None]
    axis = in_range(attr["axis"].i, len(shape) + 1)
    return [(*shape[:axis], len(known), *shape[axis:])]


def split(attr, known, values):
    count = attr["num_split"].i
    if known[1] is None:
        return [None] * count
    axis = in_range(values[0], len(known[1]))
    size = known[1][axis]
    if size is not None and size % count:
        raise ValueError(f"{size} is not a multiple of {count}")
    return [(*known[1][:axis], size and size // count, *known[1][axis + 1 :])] * count


def transpose(attr, known, values):
    shape = ranked(known[0], len(values[1]))
    return [tuple(shape[axis] for axis in values[1])]


def reduced(attr, known, values):
    if known[0] is None:
        return [None]
    axes = {in_range(axis, len(known[0])) for axis in np.ravel(values[1])}
    if attr["keep_dims"].b:
        return [tuple(1 if axis in axes else size for axis, size in enumerate(known[0]))]
    return [tuple(size for axis, size in enumerate(known[0]) if axis not in axes)]


def reshape(attr, known, values):
    wanted = tuple(None if size < 0 else int(size) for size in values[1])
    if known[0] is None or known[0].count(None) > 1 or wanted.count(None) > 1:
        return [wanted]
    have, need = (math.prod(size for size in shape if size is not None) for shape in (known[0], wanted))
    if None in known[0] and None in wanted:
        return [wanted]
    if None in known[0]:
        return [wanted]
    elif None not in wanted and have != need:
        raise ValueError(f"{known[0]} and {wanted} differ in the number of elements")
    if have % need:
        raise ValueError(f"{have} elements do not make {need}")
    return [tuple(have // need if size is None else size for size in wanted)]


def conv2d(attr, known, values):
    images, filters = ranked(known[0], 4), ranked(known[1], 4)
    if None not in (images[3], filters[2]):
        groups, rest = divmod(images[3], filters[2])
        if rest or (filters[3] or 0) % groups:
            raise ValueError(f"depths {images[3]} and {filters[2]}, count {filters[3]}")

    def window(size, k, stride):
        if size is None or (attr["padding"].s == b"VALID" and k is None):
            return None
        if attr["padding"].s == b"SAME":
            return -(-size // stride)
        if size < k:
            raise ValueError(f"{size} is less than {k}")
        return (size - k) // stride + 1

    strides = attr["strides"].list.i
    return [(images[0], window(images[1], filters[0], strides[1]), window(images[2], filters[1], strides[2]), filters[3])]


RULES = {
    "Placeholder": lambda attr, known, values: [shape_of_proto(attr["shape"].shape)],
    "Const": lambda attr, known, values: [shape_of_proto(attr["value"].tensor.tensor_shape)],
    **dict.fromkeys(["Identity", "Relu", "Neg", "Tanh"], lambda attr, known, values: known),
    **dict.fromkeys(["AddV2", "Sub", "Mul", "Maximum"], lambda attr, known, values: [given_broadcast(*known)]),
    "AddN": lambda attr, known, values: [merged(known)],
    "MatMul": matmul,
    "BiasAdd": bias_add,
    "ConcatV2": concat,
    "Pack": pack,
    "Split": split,
    "Transpose": transpose,
    "Sum": reduced,
    "Reshape": reshape,
    "Conv2D": conv2d,
}

# %% wrong="infer-shapes" why="the axis of Pack counts from the input's end"
def infer_shapes(graph: GraphDef) -> dict[str, list[Shape]]:
    """The shapes of every node's outputs, by the node's name.

    Raises:
        ValueError: a contradiction; the message holds the node's name.
        KeyError: an op that has no rule here.
    """
    seen, found = {}, {}
    for node in graph.node:
        compute = RULES[node.op]
        feeds = [endpoint(text) for text in node.input]
        consts = [constant(seen[name]) if seen[name].op == "Const" else None for name, _ in feeds]
        try:
            found[node.name] = compute(node.attr, [found[name][index] for name, index in feeds], consts)
        except ValueError as error:
            raise ValueError(f"{node.name}, a {node.op}: {error}") from None
        seen[node.name] = node
    return found


def ranked(shape, rank):
    if shape is None:
        return (None,) * rank
    if len(shape) != rank:
        raise ValueError(f"rank {rank} is due, not {shape}")
    return shape


def in_range(axis, rank):
    if not -rank <= axis < rank:
        raise ValueError(f"there is no axis {axis} in rank {rank}")
    return int(axis) % rank


def same_size(x, y):
    return given_merge((x,), (y,))[0]


def merged(known):
    found = None
    for shape in known:
        found = given_merge(found, shape)
    return found


def matmul(attr, known, values):
    a, b = ranked(known[0], 2), ranked(known[1], 2)
    a = a[::-1] if attr["transpose_a"].b else a
    b = b[::-1] if attr["transpose_b"].b else b
    same_size(a[1], b[0])
    return [(a[0], b[1])]


def bias_add(attr, known, values):
    (size,) = ranked(known[1], 1)
    if known[0] is None:
        return [None]
    if len(known[0]) < 2:
        raise ValueError("the input has at least rank 2")
    return [(*known[0][:-1], same_size(known[0][-1], size))]


def concat(attr, known, values):
    ranks = [len(shape) for shape in known[:-1] if shape is not None]
    if not ranks:
        return [None]
    parts = [ranked(shape, ranks[0]) for shape in known[:-1]]
    axis = in_range(values[-1], ranks[0])
    sizes = [part[axis] for part in parts]
    rest = merged([(*part[:axis], None, *part[axis + 1 :]) for part in parts])
    return [(*rest[:axis], None if None in sizes else sum(sizes), *rest[axis + 1 :])]


def pack(attr, known, values):
    shape = merged(known)
    if shape is None:
        return [None]
    axis = attr["axis"].i % max(len(shape), 1) if attr["axis"].i < 0 else in_range(attr["axis"].i, len(shape) + 1)
    return [(*shape[:axis], len(known), *shape[axis:])]


def split(attr, known, values):
    count = attr["num_split"].i
    if known[1] is None:
        return [None] * count
    axis = in_range(values[0], len(known[1]))
    size = known[1][axis]
    if size is not None and size % count:
        raise ValueError(f"{size} is not a multiple of {count}")
    return [(*known[1][:axis], size and size // count, *known[1][axis + 1 :])] * count


def transpose(attr, known, values):
    shape = ranked(known[0], len(values[1]))
    return [tuple(shape[axis] for axis in values[1])]


def reduced(attr, known, values):
    if known[0] is None:
        return [None]
    axes = {in_range(axis, len(known[0])) for axis in np.ravel(values[1])}
    if attr["keep_dims"].b:
        return [tuple(1 if axis in axes else size for axis, size in enumerate(known[0]))]
    return [tuple(size for axis, size in enumerate(known[0]) if axis not in axes)]


def reshape(attr, known, values):
    wanted = tuple(None if size < 0 else int(size) for size in values[1])
    if known[0] is None or known[0].count(None) > 1 or wanted.count(None) > 1:
        return [wanted]
    have, need = (math.prod(size for size in shape if size is not None) for shape in (known[0], wanted))
    if None in known[0] and None in wanted:
        return [wanted]
    if None in known[0]:
        have, need = need, have
    elif None not in wanted and have != need:
        raise ValueError(f"{known[0]} and {wanted} differ in the number of elements")
    if have % need:
        raise ValueError(f"{have} elements do not make {need}")
    return [tuple(have // need if size is None else size for size in wanted)]


def conv2d(attr, known, values):
    images, filters = ranked(known[0], 4), ranked(known[1], 4)
    if None not in (images[3], filters[2]):
        groups, rest = divmod(images[3], filters[2])
        if rest or (filters[3] or 0) % groups:
            raise ValueError(f"depths {images[3]} and {filters[2]}, count {filters[3]}")

    def window(size, k, stride):
        if size is None or (attr["padding"].s == b"VALID" and k is None):
            return None
        if attr["padding"].s == b"SAME":
            return -(-size // stride)
        if size < k:
            raise ValueError(f"{size} is less than {k}")
        return (size - k) // stride + 1

    strides = attr["strides"].list.i
    return [(images[0], window(images[1], filters[0], strides[1]), window(images[2], filters[1], strides[2]), filters[3])]


RULES = {
    "Placeholder": lambda attr, known, values: [shape_of_proto(attr["shape"].shape)],
    "Const": lambda attr, known, values: [shape_of_proto(attr["value"].tensor.tensor_shape)],
    **dict.fromkeys(["Identity", "Relu", "Neg", "Tanh"], lambda attr, known, values: known),
    **dict.fromkeys(["AddV2", "Sub", "Mul", "Maximum"], lambda attr, known, values: [given_broadcast(*known)]),
    "AddN": lambda attr, known, values: [merged(known)],
    "MatMul": matmul,
    "BiasAdd": bias_add,
    "ConcatV2": concat,
    "Pack": pack,
    "Split": split,
    "Transpose": transpose,
    "Sum": reduced,
    "Reshape": reshape,
    "Conv2D": conv2d,
}

# %% wrong="infer-shapes" why="forgets the groups of a convolution"
def infer_shapes(graph: GraphDef) -> dict[str, list[Shape]]:
    """The shapes of every node's outputs, by the node's name.

    Raises:
        ValueError: a contradiction; the message holds the node's name.
        KeyError: an op that has no rule here.
    """
    seen, found = {}, {}
    for node in graph.node:
        compute = RULES[node.op]
        feeds = [endpoint(text) for text in node.input]
        consts = [constant(seen[name]) if seen[name].op == "Const" else None for name, _ in feeds]
        try:
            found[node.name] = compute(node.attr, [found[name][index] for name, index in feeds], consts)
        except ValueError as error:
            raise ValueError(f"{node.name}, a {node.op}: {error}") from None
        seen[node.name] = node
    return found


def ranked(shape, rank):
    if shape is None:
        return (None,) * rank
    if len(shape) != rank:
        raise ValueError(f"rank {rank} is due, not {shape}")
    return shape


def in_range(axis, rank):
    if not -rank <= axis < rank:
        raise ValueError(f"there is no axis {axis} in rank {rank}")
    return int(axis) % rank


def same_size(x, y):
    return given_merge((x,), (y,))[0]


def merged(known):
    found = None
    for shape in known:
        found = given_merge(found, shape)
    return found


def matmul(attr, known, values):
    a, b = ranked(known[0], 2), ranked(known[1], 2)
    a = a[::-1] if attr["transpose_a"].b else a
    b = b[::-1] if attr["transpose_b"].b else b
    same_size(a[1], b[0])
    return [(a[0], b[1])]


def bias_add(attr, known, values):
    (size,) = ranked(known[1], 1)
    if known[0] is None:
        return [None]
    if len(known[0]) < 2:
        raise ValueError("the input has at least rank 2")
    return [(*known[0][:-1], same_size(known[0][-1], size))]


def concat(attr, known, values):
    ranks = [len(shape) for shape in known[:-1] if shape is not None]
    if not ranks:
        return [None]
    parts = [ranked(shape, ranks[0]) for shape in known[:-1]]
    axis = in_range(values[-1], ranks[0])
    sizes = [part[axis] for part in parts]
    rest = merged([(*part[:axis], None, *part[axis + 1 :]) for part in parts])
    return [(*rest[:axis], None if None in sizes else sum(sizes), *rest[axis + 1 :])]


def pack(attr, known, values):
    shape = merged(known)
    if shape is None:
        return [None]
    axis = in_range(attr["axis"].i, len(shape) + 1)
    return [(*shape[:axis], len(known), *shape[axis:])]


def split(attr, known, values):
    count = attr["num_split"].i
    if known[1] is None:
        return [None] * count
    axis = in_range(values[0], len(known[1]))
    size = known[1][axis]
    if size is not None and size % count:
        raise ValueError(f"{size} is not a multiple of {count}")
    return [(*known[1][:axis], size and size // count, *known[1][axis + 1 :])] * count


def transpose(attr, known, values):
    shape = ranked(known[0], len(values[1]))
    return [tuple(shape[axis] for axis in values[1])]


def reduced(attr, known, values):
    if known[0] is None:
        return [None]
    axes = {in_range(axis, len(known[0])) for axis in np.ravel(values[1])}
    if attr["keep_dims"].b:
        return [tuple(1 if axis in axes else size for axis, size in enumerate(known[0]))]
    return [tuple(size for axis, size in enumerate(known[0]) if axis not in axes)]


def reshape(attr, known, values):
    wanted = tuple(None if size < 0 else int(size) for size in values[1])
    if known[0] is None or known[0].count(None) > 1 or wanted.count(None) > 1:
        return [wanted]
    have, need = (math.prod(size for size in shape if size is not None) for shape in (known[0], wanted))
    if None in known[0] and None in wanted:
        return [wanted]
    if None in known[0]:
        have, need = need, have
    elif None not in wanted and have != need:
        raise ValueError(f"{known[0]} and {wanted} differ in the number of elements")
    if have % need:
        raise ValueError(f"{have} elements do not make {need}")
    return [tuple(have // need if size is None else size for size in wanted)]


def conv2d(attr, known, values):
    images, filters = ranked(known[0], 4), ranked(known[1], 4)
    if None not in (images[3], filters[2]):
        groups, rest = divmod(images[3], filters[2])
        if rest:
            raise ValueError(f"depths {images[3]} and {filters[2]}, count {filters[3]}")

    def window(size, k, stride):
        if size is None or (attr["padding"].s == b"VALID" and k is None):
            return None
        if attr["padding"].s == b"SAME":
            return -(-size // stride)
        if size < k:
            raise ValueError(f"{size} is less than {k}")
        return (size - k) // stride + 1

    strides = attr["strides"].list.i
    return [(images[0], window(images[1], filters[0], strides[1]), window(images[2], filters[1], strides[2]), filters[3])]


RULES = {
    "Placeholder": lambda attr, known, values: [shape_of_proto(attr["shape"].shape)],
    "Const": lambda attr, known, values: [shape_of_proto(attr["value"].tensor.tensor_shape)],
    **dict.fromkeys(["Identity", "Relu", "Neg", "Tanh"], lambda attr, known, values: known),
    **dict.fromkeys(["AddV2", "Sub", "Mul", "Maximum"], lambda attr, known, values: [given_broadcast(*known)]),
    "AddN": lambda attr, known, values: [merged(known)],
    "MatMul": matmul,
    "BiasAdd": bias_add,
    "ConcatV2": concat,
    "Pack": pack,
    "Split": split,
    "Transpose": transpose,
    "Sum": reduced,
    "Reshape": reshape,
    "Conv2D": conv2d,
}

# %% wrong="infer-shapes" why="Transpose by the inverse permutation"
def infer_shapes(graph: GraphDef) -> dict[str, list[Shape]]:
    """The shapes of every node's outputs, by the node's name.

    Raises:
        ValueError: a contradiction; the message holds the node's name.
        KeyError: an op that has no rule here.
    """
    seen, found = {}, {}
    for node in graph.node:
        compute = RULES[node.op]
        feeds = [endpoint(text) for text in node.input]
        consts = [constant(seen[name]) if seen[name].op == "Const" else None for name, _ in feeds]
        try:
            found[node.name] = compute(node.attr, [found[name][index] for name, index in feeds], consts)
        except ValueError as error:
            raise ValueError(f"{node.name}, a {node.op}: {error}") from None
        seen[node.name] = node
    return found


def ranked(shape, rank):
    if shape is None:
        return (None,) * rank
    if len(shape) != rank:
        raise ValueError(f"rank {rank} is due, not {shape}")
    return shape


def in_range(axis, rank):
    if not -rank <= axis < rank:
        raise ValueError(f"there is no axis {axis} in rank {rank}")
    return int(axis) % rank


def same_size(x, y):
    return given_merge((x,), (y,))[0]


def merged(known):
    found = None
    for shape in known:
        found = given_merge(found, shape)
    return found


def matmul(attr, known, values):
    a, b = ranked(known[0], 2), ranked(known[1], 2)
    a = a[::-1] if attr["transpose_a"].b else a
    b = b[::-1] if attr["transpose_b"].b else b
    same_size(a[1], b[0])
    return [(a[0], b[1])]


def bias_add(attr, known, values):
    (size,) = ranked(known[1], 1)
    if known[0] is None:
        return [None]
    if len(known[0]) < 2:
        raise ValueError("the input has at least rank 2")
    return [(*known[0][:-1], same_size(known[0][-1], size))]


def concat(attr, known, values):
    ranks = [len(shape) for shape in known[:-1] if shape is not None]
    if not ranks:
        return [None]
    parts = [ranked(shape, ranks[0]) for shape in known[:-1]]
    axis = in_range(values[-1], ranks[0])
    sizes = [part[axis] for part in parts]
    rest = merged([(*part[:axis], None, *part[axis + 1 :]) for part in parts])
    return [(*rest[:axis], None if None in sizes else sum(sizes), *rest[axis + 1 :])]


def pack(attr, known, values):
    shape = merged(known)
    if shape is None:
        return [None]
    axis = in_range(attr["axis"].i, len(shape) + 1)
    return [(*shape[:axis], len(known), *shape[axis:])]


def split(attr, known, values):
    count = attr["num_split"].i
    if known[1] is None:
        return [None] * count
    axis = in_range(values[0], len(known[1]))
    size = known[1][axis]
    if size is not None and size % count:
        raise ValueError(f"{size} is not a multiple of {count}")
    return [(*known[1][:axis], size and size // count, *known[1][axis + 1 :])] * count


def transpose(attr, known, values):
    shape = ranked(known[0], len(values[1]))
    return [tuple(shape[list(values[1]).index(axis)] for axis in range(len(shape)))]


def reduced(attr, known, values):
    if known[0] is None:
        return [None]
    axes = {in_range(axis, len(known[0])) for axis in np.ravel(values[1])}
    if attr["keep_dims"].b:
        return [tuple(1 if axis in axes else size for axis, size in enumerate(known[0]))]
    return [tuple(size for axis, size in enumerate(known[0]) if axis not in axes)]


def reshape(attr, known, values):
    wanted = tuple(None if size < 0 else int(size) for size in values[1])
    if known[0] is None or known[0].count(None) > 1 or wanted.count(None) > 1:
        return [wanted]
    have, need = (math.prod(size for size in shape if size is not None) for shape in (known[0], wanted))
    if None in known[0] and None in wanted:
        return [wanted]
    if None in known[0]:
        have, need = need, have
    elif None not in wanted and have != need:
        raise ValueError(f"{known[0]} and {wanted} differ in the number of elements")
    if have % need:
        raise ValueError(f"{have} elements do not make {need}")
    return [tuple(have // need if size is None else size for size in wanted)]


def conv2d(attr, known, values):
    images, filters = ranked(known[0], 4), ranked(known[1], 4)
    if None not in (images[3], filters[2]):
        groups, rest = divmod(images[3], filters[2])
        if rest or (filters[3] or 0) % groups:
            raise ValueError(f"depths {images[3]} and {filters[2]}, count {filters[3]}")

    def window(size, k, stride):
        if size is None or (attr["padding"].s == b"VALID" and k is None):
            return None
        if attr["padding"].s == b"SAME":
            return -(-size // stride)
        if size < k:
            raise ValueError(f"{size} is less than {k}")
        return (size - k) // stride + 1

    strides = attr["strides"].list.i
    return [(images[0], window(images[1], filters[0], strides[1]), window(images[2], filters[1], strides[2]), filters[3])]


RULES = {
    "Placeholder": lambda attr, known, values: [shape_of_proto(attr["shape"].shape)],
    "Const": lambda attr, known, values: [shape_of_proto(attr["value"].tensor.tensor_shape)],
    **dict.fromkeys(["Identity", "Relu", "Neg", "Tanh"], lambda attr, known, values: known),
    **dict.fromkeys(["AddV2", "Sub", "Mul", "Maximum"], lambda attr, known, values: [given_broadcast(*known)]),
    "AddN": lambda attr, known, values: [merged(known)],
    "MatMul": matmul,
    "BiasAdd": bias_add,
    "ConcatV2": concat,
    "Pack": pack,
    "Split": split,
    "Transpose": transpose,
    "Sum": reduced,
    "Reshape": reshape,
    "Conv2D": conv2d,
}

# %% wrong="infer-shapes" why="keep_dims drops them"
def infer_shapes(graph: GraphDef) -> dict[str, list[Shape]]:
    """The shapes of every node's outputs, by the node's name.

    Raises:
        ValueError: a contradiction; the message holds the node's name.
        KeyError: an op that has no rule here.
    """
    seen, found = {}, {}
    for node in graph.node:
        compute = RULES[node.op]
        feeds = [endpoint(text) for text in node.input]
        consts = [constant(seen[name]) if seen[name].op == "Const" else None for name, _ in feeds]
        try:
            found[node.name] = compute(node.attr, [found[name][index] for name, index in feeds], consts)
        except ValueError as error:
            raise ValueError(f"{node.name}, a {node.op}: {error}") from None
        seen[node.name] = node
    return found


def ranked(shape, rank):
    if shape is None:
        return (None,) * rank
    if len(shape) != rank:
        raise ValueError(f"rank {rank} is due, not {shape}")
    return shape


def in_range(axis, rank):
    if not -rank <= axis < rank:
        raise ValueError(f"there is no axis {axis} in rank {rank}")
    return int(axis) % rank


def same_size(x, y):
    return given_merge((x,), (y,))[0]


def merged(known):
    found = None
    for shape in known:
        found = given_merge(found, shape)
    return found


def matmul(attr, known, values):
    a, b = ranked(known[0], 2), ranked(known[1], 2)
    a = a[::-1] if attr["transpose_a"].b else a
    b = b[::-1] if attr["transpose_b"].b else b
    same_size(a[1], b[0])
    return [(a[0], b[1])]


def bias_add(attr, known, values):
    (size,) = ranked(known[1], 1)
    if known[0] is None:
        return [None]
    if len(known[0]) < 2:
        raise ValueError("the input has at least rank 2")
    return [(*known[0][:-1], same_size(known[0][-1], size))]


def concat(attr, known, values):
    ranks = [len(shape) for shape in known[:-1] if shape is not None]
    if not ranks:
        return [None]
    parts = [ranked(shape, ranks[0]) for shape in known[:-1]]
    axis = in_range(values[-1], ranks[0])
    sizes = [part[axis] for part in parts]
    rest = merged([(*part[:axis], None, *part[axis + 1 :]) for part in parts])
    return [(*rest[:axis], None if None in sizes else sum(sizes), *rest[axis + 1 :])]


def pack(attr, known, values):
    shape = merged(known)
    if shape is None:
        return [None]
    axis = in_range(attr["axis"].i, len(shape) + 1)
    return [(*shape[:axis], len(known), *shape[axis:])]


def split(attr, known, values):
    count = attr["num_split"].i
    if known[1] is None:
        return [None] * count
    axis = in_range(values[0], len(known[1]))
    size = known[1][axis]
    if size is not None and size % count:
        raise ValueError(f"{size} is not a multiple of {count}")
    return [(*known[1][:axis], size and size // count, *known[1][axis + 1 :])] * count


def transpose(attr, known, values):
    shape = ranked(known[0], len(values[1]))
    return [tuple(shape[axis] for axis in values[1])]


def reduced(attr, known, values):
    if known[0] is None:
        return [None]
    axes = {in_range(axis, len(known[0])) for axis in np.ravel(values[1])}
    if not attr["keep_dims"].b and False:
        return [tuple(1 if axis in axes else size for axis, size in enumerate(known[0]))]
    return [tuple(size for axis, size in enumerate(known[0]) if axis not in axes)]


def reshape(attr, known, values):
    wanted = tuple(None if size < 0 else int(size) for size in values[1])
    if known[0] is None or known[0].count(None) > 1 or wanted.count(None) > 1:
        return [wanted]
    have, need = (math.prod(size for size in shape if size is not None) for shape in (known[0], wanted))
    if None in known[0] and None in wanted:
        return [wanted]
    if None in known[0]:
        have, need = need, have
    elif None not in wanted and have != need:
        raise ValueError(f"{known[0]} and {wanted} differ in the number of elements")
    if have % need:
        raise ValueError(f"{have} elements do not make {need}")
    return [tuple(have // need if size is None else size for size in wanted)]


def conv2d(attr, known, values):
    images, filters = ranked(known[0], 4), ranked(known[1], 4)
    if None not in (images[3], filters[2]):
        groups, rest = divmod(images[3], filters[2])
        if rest or (filters[3] or 0) % groups:
            raise ValueError(f"depths {images[3]} and {filters[2]}, count {filters[3]}")

    def window(size, k, stride):
        if size is None or (attr["padding"].s == b"VALID" and k is None):
            return None
        if attr["padding"].s == b"SAME":
            return -(-size // stride)
        if size < k:
            raise ValueError(f"{size} is less than {k}")
        return (size - k) // stride + 1

    strides = attr["strides"].list.i
    return [(images[0], window(images[1], filters[0], strides[1]), window(images[2], filters[1], strides[2]), filters[3])]


RULES = {
    "Placeholder": lambda attr, known, values: [shape_of_proto(attr["shape"].shape)],
    "Const": lambda attr, known, values: [shape_of_proto(attr["value"].tensor.tensor_shape)],
    **dict.fromkeys(["Identity", "Relu", "Neg", "Tanh"], lambda attr, known, values: known),
    **dict.fromkeys(["AddV2", "Sub", "Mul", "Maximum"], lambda attr, known, values: [given_broadcast(*known)]),
    "AddN": lambda attr, known, values: [merged(known)],
    "MatMul": matmul,
    "BiasAdd": bias_add,
    "ConcatV2": concat,
    "Pack": pack,
    "Split": split,
    "Transpose": transpose,
    "Sum": reduced,
    "Reshape": reshape,
    "Conv2D": conv2d,
}

# %% wrong="infer-shapes" why="an unknown op has unknown shapes"
def infer_shapes(graph: GraphDef) -> dict[str, list[Shape]]:
    """The shapes of every node's outputs, by the node's name.

    Raises:
        ValueError: a contradiction; the message holds the node's name.
        KeyError: an op that has no rule here.
    """
    seen, found = {}, {}
    for node in graph.node:
        compute = RULES.get(node.op, lambda attr, known, values: [None])
        feeds = [endpoint(text) for text in node.input]
        consts = [constant(seen[name]) if seen[name].op == "Const" else None for name, _ in feeds]
        try:
            found[node.name] = compute(node.attr, [found[name][index] for name, index in feeds], consts)
        except ValueError as error:
            raise ValueError(f"{node.name}, a {node.op}: {error}") from None
        seen[node.name] = node
    return found


def ranked(shape, rank):
    if shape is None:
        return (None,) * rank
    if len(shape) != rank:
        raise ValueError(f"rank {rank} is due, not {shape}")
    return shape


def in_range(axis, rank):
    if not -rank <= axis < rank:
        raise ValueError(f"there is no axis {axis} in rank {rank}")
    return int(axis) % rank


def same_size(x, y):
    return given_merge((x,), (y,))[0]


def merged(known):
    found = None
    for shape in known:
        found = given_merge(found, shape)
    return found


def matmul(attr, known, values):
    a, b = ranked(known[0], 2), ranked(known[1], 2)
    a = a[::-1] if attr["transpose_a"].b else a
    b = b[::-1] if attr["transpose_b"].b else b
    same_size(a[1], b[0])
    return [(a[0], b[1])]


def bias_add(attr, known, values):
    (size,) = ranked(known[1], 1)
    if known[0] is None:
        return [None]
    if len(known[0]) < 2:
        raise ValueError("the input has at least rank 2")
    return [(*known[0][:-1], same_size(known[0][-1], size))]


def concat(attr, known, values):
    ranks = [len(shape) for shape in known[:-1] if shape is not None]
    if not ranks:
        return [None]
    parts = [ranked(shape, ranks[0]) for shape in known[:-1]]
    axis = in_range(values[-1], ranks[0])
    sizes = [part[axis] for part in parts]
    rest = merged([(*part[:axis], None, *part[axis + 1 :]) for part in parts])
    return [(*rest[:axis], None if None in sizes else sum(sizes), *rest[axis + 1 :])]


def pack(attr, known, values):
    shape = merged(known)
    if shape is None:
        return [None]
    axis = in_range(attr["axis"].i, len(shape) + 1)
    return [(*shape[:axis], len(known), *shape[axis:])]


def split(attr, known, values):
    count = attr["num_split"].i
    if known[1] is None:
        return [None] * count
    axis = in_range(values[0], len(known[1]))
    size = known[1][axis]
    if size is not None and size % count:
        raise ValueError(f"{size} is not a multiple of {count}")
    return [(*known[1][:axis], size and size // count, *known[1][axis + 1 :])] * count


def transpose(attr, known, values):
    shape = ranked(known[0], len(values[1]))
    return [tuple(shape[axis] for axis in values[1])]


def reduced(attr, known, values):
    if known[0] is None:
        return [None]
    axes = {in_range(axis, len(known[0])) for axis in np.ravel(values[1])}
    if attr["keep_dims"].b:
        return [tuple(1 if axis in axes else size for axis, size in enumerate(known[0]))]
    return [tuple(size for axis, size in enumerate(known[0]) if axis not in axes)]


def reshape(attr, known, values):
    wanted = tuple(None if size < 0 else int(size) for size in values[1])
    if known[0] is None or known[0].count(None) > 1 or wanted.count(None) > 1:
        return [wanted]
    have, need = (math.prod(size for size in shape if size is not None) for shape in (known[0], wanted))
    if None in known[0] and None in wanted:
        return [wanted]
    if None in known[0]:
        have, need = need, have
    elif None not in wanted and have != need:
        raise ValueError(f"{known[0]} and {wanted} differ in the number of elements")
    if have % need:
        raise ValueError(f"{have} elements do not make {need}")
    return [tuple(have // need if size is None else size for size in wanted)]


def conv2d(attr, known, values):
    images, filters = ranked(known[0], 4), ranked(known[1], 4)
    if None not in (images[3], filters[2]):
        groups, rest = divmod(images[3], filters[2])
        if rest or (filters[3] or 0) % groups:
            raise ValueError(f"depths {images[3]} and {filters[2]}, count {filters[3]}")

    def window(size, k, stride):
        if size is None or (attr["padding"].s == b"VALID" and k is None):
            return None
        if attr["padding"].s == b"SAME":
            return -(-size // stride)
        if size < k:
            raise ValueError(f"{size} is less than {k}")
        return (size - k) // stride + 1

    strides = attr["strides"].list.i
    return [(images[0], window(images[1], filters[0], strides[1]), window(images[2], filters[1], strides[2]), filters[3])]


RULES = {
    "Placeholder": lambda attr, known, values: [shape_of_proto(attr["shape"].shape)],
    "Const": lambda attr, known, values: [shape_of_proto(attr["value"].tensor.tensor_shape)],
    **dict.fromkeys(["Identity", "Relu", "Neg", "Tanh"], lambda attr, known, values: known),
    **dict.fromkeys(["AddV2", "Sub", "Mul", "Maximum"], lambda attr, known, values: [given_broadcast(*known)]),
    "AddN": lambda attr, known, values: [merged(known)],
    "MatMul": matmul,
    "BiasAdd": bias_add,
    "ConcatV2": concat,
    "Pack": pack,
    "Split": split,
    "Transpose": transpose,
    "Sum": reduced,
    "Reshape": reshape,
    "Conv2D": conv2d,
}

# %% wrong="infer-shapes" why="only the ops of exercise 5"
def infer_shapes(graph):
    found = {}
    consts = {}
    for node in graph.node:
        known = [found[endpoint(text)[0]][0] for text in node.input]
        if node.op == "Placeholder":
            shape = shape_of_proto(node.attr["shape"].shape)
        elif node.op == "Const":
            consts[node.name] = constant(node)
            shape = consts[node.name].shape
        elif node.op == "AddV2":
            shape = given_broadcast(*known)
        elif node.op == "MatMul":
            shape = (known[0][0], known[1][1])
        elif node.op == "ConcatV2":
            shape = (None, *known[0][1:])
        elif node.op == "Reshape":
            shape = tuple(None if size < 0 else int(size) for size in consts[node.input[1]])
            if None not in known[0] and None in shape:
                rest = math.prod(known[0]) // math.prod(size for size in shape if size)
                shape = tuple(rest if size is None else size for size in shape)
        else:
            raise KeyError(node.op)
        found[node.name] = [shape]
    return found

# %% wrong="infer-shapes" why="reads the shapes from a graph"
def infer_shapes(graph):
    with tf.Graph().as_default() as made:
        tf.import_graph_def(graph, name="")
    return {
        op.name: [None if t.shape.rank is None else tuple(t.shape.as_list()) for t in op.outputs]
        for op in made.get_operations()
    }

# %% wrong="infer-shapes" why="traces a function that imports the graph"
def infer_shapes(graph):
    def traced():
        tf.graph_util.import_graph_def(graph, name="")

    made = tf1.wrap_function(traced, []).graph
    return {
        op.name: [None if t.shape.rank is None else tuple(t.shape.as_list()) for t in op.outputs]
        for op in made.get_operations()
    }

# %% right="infer-shapes" why="one function with match"
def size_of(x, y):
    if x is None:
        return y
    if y is not None and x != y:
        raise ValueError(f"{x} is not {y}")
    return x


def whole(shape, rank):
    return given_merge(shape, (None,) * rank)


def at(axis, rank):
    if axis not in range(-rank, rank):
        raise ValueError(f"axis {axis} of {rank}")
    return int(axis) + (rank if axis < 0 else 0)


def all_merged(parts):
    total = None
    for part in parts:
        total = given_merge(total, part)
    return total


def outputs(node, ins, consts):
    attr = node.attr
    match node.op:
        case "Placeholder":
            return [shape_of_proto(attr["shape"].shape)]
        case "Const":
            return [tuple(constant(node).shape)]
        case "Identity" | "Relu" | "Neg" | "Tanh":
            return [ins[0]]
        case "AddV2" | "Sub" | "Mul" | "Maximum":
            return [given_broadcast(ins[0], ins[1])]
        case "AddN":
            return [all_merged(ins)]
        case "MatMul":
            m, k = whole(ins[0], 2)
            q, n = whole(ins[1], 2)
            if attr["transpose_a"].b:
                m, k = k, m
            if attr["transpose_b"].b:
                q, n = n, q
            size_of(k, q)
            return [(m, n)]
        case "BiasAdd":
            (n,) = whole(ins[1], 1)
            if ins[0] is None:
                return [None]
            if len(ins[0]) < 2:
                raise ValueError("rank")
            return [given_merge(ins[0], (None,) * (len(ins[0]) - 1) + (n,))]
        case "ConcatV2":
            parts = ins[:-1]
            ranks = {len(part) for part in parts if part is not None}
            if not ranks:
                return [None]
            if len(ranks) > 1:
                raise ValueError("ranks")
            (rank,) = ranks
            axis = at(int(consts[-1]), rank)
            parts = [list(whole(part, rank)) for part in parts]
            sizes = [part[axis] for part in parts]
            for part in parts:
                part[axis] = None
            made = list(all_merged([tuple(part) for part in parts]))
            made[axis] = None if None in sizes else sum(sizes)
            return [tuple(made)]
        case "Pack":
            made = all_merged(ins)
            if made is None:
                return [None]
            made = list(made)
            made.insert(at(attr["axis"].i, len(made) + 1), len(ins))
            return [tuple(made)]
        case "Split":
            ways = attr["num_split"].i
            if ins[1] is None:
                return [None for _ in range(ways)]
            axis = at(int(consts[0]), len(ins[1]))
            made = list(ins[1])
            if made[axis] is not None:
                made[axis], rest = divmod(made[axis], ways)
                if rest:
                    raise ValueError("not divisible")
            return [tuple(made) for _ in range(ways)]
        case "Transpose":
            perm = consts[1].tolist()
            known = whole(ins[0], len(perm))
            return [tuple(map(known.__getitem__, perm))]
        case "Sum":
            if ins[0] is None:
                return [None]
            axes = {at(int(axis), len(ins[0])) for axis in consts[1].reshape(-1)}
            kept = [(axis, size) for axis, size in enumerate(ins[0]) if axis not in axes or attr["keep_dims"].b]
            return [tuple(1 if axis in axes else size for axis, size in kept)]
        case "Reshape":
            wanted = [None if size == -1 else size for size in consts[1].tolist()]
            if ins[0] is not None and ins[0].count(None) + wanted.count(None) <= 1:
                i = math.prod(filter(None, ins[0]))
                w = math.prod(filter(None, wanted))
                if None in ins[0]:
                    good = w % i == 0
                elif None in wanted:
                    good = i % w == 0
                    wanted[wanted.index(None)] = i // w
                else:
                    good = i == w
                if not good:
                    raise ValueError(f"{i} and {w}")
            return [tuple(wanted)]
        case "Conv2D":
            n, h, w, d = whole(ins[0], 4)
            kh, kw, kd, count = whole(ins[1], 4)
            if d and kd:
                if d % kd:
                    raise ValueError("depth")
                if count and count % (d // kd):
                    raise ValueError("groups")
            _, sh, sw, _ = attr["strides"].list.i
            made = []
            for size, k, stride in ((h, kh, sh), (w, kw, sw)):
                if attr["padding"].s == b"SAME":
                    made.append(size and (size + stride - 1) // stride)
                elif size is None or k is None:
                    made.append(None)
                elif k > size:
                    raise ValueError("window")
                else:
                    made.append((size - k + stride) // stride)
            return [(n, *made, count)]
    raise KeyError(node.op)


def infer_shapes(graph):
    found, consts = {}, {}
    for node in graph.node:
        names = [endpoint(text) for text in node.input]
        try:
            found[node.name] = outputs(node, [found[n][i] for n, i in names], [consts.get(n) for n, _ in names])
        except ValueError as error:
            raise ValueError(f"at {node.name}: {error}")
        if node.op == "Const":
            consts[node.name] = constant(node)
    return found

# %% wrong="infer-shapes" why="builds the nodes in a graph that was made before"
EARLIER = tf.Graph()


def infer_shapes(graph):
    made = {}
    with EARLIER.as_default():
        for node in graph.node:
            inputs = [made[endpoint(text)[0]].outputs[endpoint(text)[1]] for text in node.input]
            made[node.name] = EARLIER.create_op(node.op, inputs, None, attrs=dict(node.attr))
    return {
        name: [None if t.shape.rank is None else tuple(t.shape.as_list()) for t in op.outputs]
        for name, op in made.items()
    }

# %% wrong="infer-shapes" why="the last contradiction, not the first"
def infer_shapes(graph: GraphDef) -> dict[str, list[Shape]]:
    """The shapes of every node's outputs, by the node's name.

    Raises:
        ValueError: a contradiction; the message holds the node's name.
        KeyError: an op that has no rule here.
    """
    seen, found, wrong = {}, {}, None
    for node in graph.node:
        compute = RULES[node.op]
        feeds = [endpoint(text) for text in node.input]
        consts = [constant(seen[name]) if seen[name].op == "Const" else None for name, _ in feeds]
        try:
            found[node.name] = compute(node.attr, [found[name][index] for name, index in feeds], consts)
        except ValueError as error:
            wrong = ValueError(f"{node.name}, a {node.op}: {error}")
            found[node.name] = [None] * max(1, node.attr["num_split"].i)
        seen[node.name] = node
    if wrong is not None:
        raise wrong
    return found


def same_size(x, y):
    return given_merge((x,), (y,))[0]


def merged(known):
    found = None
    for shape in known:
        found = given_merge(found, shape)
    return found


def matmul(attr, known, values):
    a, b = ranked(known[0], 2), ranked(known[1], 2)
    a = a[::-1] if attr["transpose_a"].b else a
    b = b[::-1] if attr["transpose_b"].b else b
    same_size(a[1], b[0])
    return [(a[0], b[1])]


def concat(attr, known, values):
    return [given_concat(known[:-1], values[-1])]


def pack(attr, known, values):
    shape = merged(known)
    if shape is None:
        return [None]
    axis = in_range(attr["axis"].i, len(shape) + 1)
    return [(*shape[:axis], len(known), *shape[axis:])]


def split(attr, known, values):
    count = attr["num_split"].i
    if known[1] is None:
        return [None] * count
    axis = in_range(values[0], len(known[1]))
    size = known[1][axis]
    if size is not None and size % count:
        raise ValueError(f"{size} is not a multiple of {count}")
    return [(*known[1][:axis], size and size // count, *known[1][axis + 1 :])] * count


def transpose(attr, known, values):
    shape = ranked(known[0], len(values[1]))
    return [tuple(shape[axis] for axis in values[1])]


def reduced(attr, known, values):
    if known[0] is None:
        return [None]
    axes = {in_range(axis, len(known[0])) for axis in np.ravel(values[1])}
    if attr["keep_dims"].b:
        return [tuple(1 if axis in axes else size for axis, size in enumerate(known[0]))]
    return [tuple(size for axis, size in enumerate(known[0]) if axis not in axes)]


def reshape(attr, known, values):
    wanted = tuple(None if size < 0 else int(size) for size in values[1])
    if known[0] is None or known[0].count(None) > 1 or wanted.count(None) > 1:
        return [wanted]
    have, need = (math.prod(size for size in shape if size is not None) for shape in (known[0], wanted))
    if None in known[0] and None in wanted:
        return [wanted]
    if None in known[0]:
        have, need = need, have
    elif None not in wanted and have != need:
        raise ValueError(f"{known[0]} and {wanted} differ in the number of elements")
    if have % need:
        raise ValueError(f"{have} elements do not make {need}")
    return [tuple(have // need if size is None else size for size in wanted)]


def conv2d(attr, known, values):
    return [given_conv2d(*known, attr["strides"].list.i[1:3], attr["padding"].s)]


RULES = {
    "Placeholder": lambda attr, known, values: [shape_of_proto(attr["shape"].shape)],
    "Const": lambda attr, known, values: [shape_of_proto(attr["value"].tensor.tensor_shape)],
    **dict.fromkeys(["Identity", "Relu", "Neg", "Tanh"], lambda attr, known, values: known),
    **dict.fromkeys(["AddV2", "Sub", "Mul", "Maximum"], lambda attr, known, values: [given_broadcast(*known)]),
    "AddN": lambda attr, known, values: [merged(known)],
    "MatMul": matmul,
    "BiasAdd": lambda attr, known, values: [given_bias_add(*known)],
    "ConcatV2": concat,
    "Pack": pack,
    "Split": split,
    "Transpose": transpose,
    "Sum": reduced,
    "Reshape": reshape,
    "Conv2D": conv2d,
}

# %% wrong="infer-shapes" why="the message names every node"
def infer_shapes(graph: GraphDef) -> dict[str, list[Shape]]:
    """The shapes of every node's outputs, by the node's name.

    Raises:
        ValueError: a contradiction; the message holds the node's name.
        KeyError: an op that has no rule here.
    """
    seen, found = {}, {}
    for node in graph.node:
        compute = RULES[node.op]
        feeds = [endpoint(text) for text in node.input]
        consts = [constant(seen[name]) if seen[name].op == "Const" else None for name, _ in feeds]
        try:
            found[node.name] = compute(node.attr, [found[name][index] for name, index in feeds], consts)
        except ValueError as error:
            raise ValueError(f"one of {[node.name for node in graph.node]}: {error}") from None
        seen[node.name] = node
    return found


def same_size(x, y):
    return given_merge((x,), (y,))[0]


def merged(known):
    found = None
    for shape in known:
        found = given_merge(found, shape)
    return found


def matmul(attr, known, values):
    a, b = ranked(known[0], 2), ranked(known[1], 2)
    a = a[::-1] if attr["transpose_a"].b else a
    b = b[::-1] if attr["transpose_b"].b else b
    same_size(a[1], b[0])
    return [(a[0], b[1])]


def concat(attr, known, values):
    return [given_concat(known[:-1], values[-1])]


def pack(attr, known, values):
    shape = merged(known)
    if shape is None:
        return [None]
    axis = in_range(attr["axis"].i, len(shape) + 1)
    return [(*shape[:axis], len(known), *shape[axis:])]


def split(attr, known, values):
    count = attr["num_split"].i
    if known[1] is None:
        return [None] * count
    axis = in_range(values[0], len(known[1]))
    size = known[1][axis]
    if size is not None and size % count:
        raise ValueError(f"{size} is not a multiple of {count}")
    return [(*known[1][:axis], size and size // count, *known[1][axis + 1 :])] * count


def transpose(attr, known, values):
    shape = ranked(known[0], len(values[1]))
    return [tuple(shape[axis] for axis in values[1])]


def reduced(attr, known, values):
    if known[0] is None:
        return [None]
    axes = {in_range(axis, len(known[0])) for axis in np.ravel(values[1])}
    if attr["keep_dims"].b:
        return [tuple(1 if axis in axes else size for axis, size in enumerate(known[0]))]
    return [tuple(size for axis, size in enumerate(known[0]) if axis not in axes)]


def reshape(attr, known, values):
    wanted = tuple(None if size < 0 else int(size) for size in values[1])
    if known[0] is None or known[0].count(None) > 1 or wanted.count(None) > 1:
        return [wanted]
    have, need = (math.prod(size for size in shape if size is not None) for shape in (known[0], wanted))
    if None in known[0] and None in wanted:
        return [wanted]
    if None in known[0]:
        have, need = need, have
    elif None not in wanted and have != need:
        raise ValueError(f"{known[0]} and {wanted} differ in the number of elements")
    if have % need:
        raise ValueError(f"{have} elements do not make {need}")
    return [tuple(have // need if size is None else size for size in wanted)]


def conv2d(attr, known, values):
    return [given_conv2d(*known, attr["strides"].list.i[1:3], attr["padding"].s)]


RULES = {
    "Placeholder": lambda attr, known, values: [shape_of_proto(attr["shape"].shape)],
    "Const": lambda attr, known, values: [shape_of_proto(attr["value"].tensor.tensor_shape)],
    **dict.fromkeys(["Identity", "Relu", "Neg", "Tanh"], lambda attr, known, values: known),
    **dict.fromkeys(["AddV2", "Sub", "Mul", "Maximum"], lambda attr, known, values: [given_broadcast(*known)]),
    "AddN": lambda attr, known, values: [merged(known)],
    "MatMul": matmul,
    "BiasAdd": lambda attr, known, values: [given_bias_add(*known)],
    "ConcatV2": concat,
    "Pack": pack,
    "Split": split,
    "Transpose": transpose,
    "Sum": reduced,
    "Reshape": reshape,
    "Conv2D": conv2d,
}

# %% wrong="infer-shapes" why="collects all contradictions in one message"
def infer_shapes(graph: GraphDef) -> dict[str, list[Shape]]:
    """The shapes of every node's outputs, by the node's name.

    Raises:
        ValueError: a contradiction; the message holds the node's name.
        KeyError: an op that has no rule here.
    """
    seen, found, wrong = {}, {}, []
    for node in graph.node:
        compute = RULES[node.op]
        feeds = [endpoint(text) for text in node.input]
        consts = [constant(seen[name]) if seen[name].op == "Const" else None for name, _ in feeds]
        try:
            found[node.name] = compute(node.attr, [found[name][index] for name, index in feeds], consts)
        except ValueError as error:
            wrong.append(f"{node.name}, a {node.op}: {error}")
            found[node.name] = [None] * max(1, node.attr["num_split"].i)
        seen[node.name] = node
    if wrong:
        raise ValueError("; ".join(wrong))
    return found


def same_size(x, y):
    return given_merge((x,), (y,))[0]


def merged(known):
    found = None
    for shape in known:
        found = given_merge(found, shape)
    return found


def matmul(attr, known, values):
    a, b = ranked(known[0], 2), ranked(known[1], 2)
    a = a[::-1] if attr["transpose_a"].b else a
    b = b[::-1] if attr["transpose_b"].b else b
    same_size(a[1], b[0])
    return [(a[0], b[1])]


def concat(attr, known, values):
    return [given_concat(known[:-1], values[-1])]


def pack(attr, known, values):
    shape = merged(known)
    if shape is None:
        return [None]
    axis = in_range(attr["axis"].i, len(shape) + 1)
    return [(*shape[:axis], len(known), *shape[axis:])]


def split(attr, known, values):
    count = attr["num_split"].i
    if known[1] is None:
        return [None] * count
    axis = in_range(values[0], len(known[1]))
    size = known[1][axis]
    if size is not None and size % count:
        raise ValueError(f"{size} is not a multiple of {count}")
    return [(*known[1][:axis], size and size // count, *known[1][axis + 1 :])] * count


def transpose(attr, known, values):
    shape = ranked(known[0], len(values[1]))
    return [tuple(shape[axis] for axis in values[1])]


def reduced(attr, known, values):
    if known[0] is None:
        return [None]
    axes = {in_range(axis, len(known[0])) for axis in np.ravel(values[1])}
    if attr["keep_dims"].b:
        return [tuple(1 if axis in axes else size for axis, size in enumerate(known[0]))]
    return [tuple(size for axis, size in enumerate(known[0]) if axis not in axes)]


def reshape(attr, known, values):
    wanted = tuple(None if size < 0 else int(size) for size in values[1])
    if known[0] is None or known[0].count(None) > 1 or wanted.count(None) > 1:
        return [wanted]
    have, need = (math.prod(size for size in shape if size is not None) for shape in (known[0], wanted))
    if None in known[0] and None in wanted:
        return [wanted]
    if None in known[0]:
        have, need = need, have
    elif None not in wanted and have != need:
        raise ValueError(f"{known[0]} and {wanted} differ in the number of elements")
    if have % need:
        raise ValueError(f"{have} elements do not make {need}")
    return [tuple(have // need if size is None else size for size in wanted)]


def conv2d(attr, known, values):
    return [given_conv2d(*known, attr["strides"].list.i[1:3], attr["padding"].s)]


RULES = {
    "Placeholder": lambda attr, known, values: [shape_of_proto(attr["shape"].shape)],
    "Const": lambda attr, known, values: [shape_of_proto(attr["value"].tensor.tensor_shape)],
    **dict.fromkeys(["Identity", "Relu", "Neg", "Tanh"], lambda attr, known, values: known),
    **dict.fromkeys(["AddV2", "Sub", "Mul", "Maximum"], lambda attr, known, values: [given_broadcast(*known)]),
    "AddN": lambda attr, known, values: [merged(known)],
    "MatMul": matmul,
    "BiasAdd": lambda attr, known, values: [given_bias_add(*known)],
    "ConcatV2": concat,
    "Pack": pack,
    "Split": split,
    "Transpose": transpose,
    "Sum": reduced,
    "Reshape": reshape,
    "Conv2D": conv2d,
}

# %% wrong="infer-shapes" why="the strides of batch and height"
def infer_shapes(graph: GraphDef) -> dict[str, list[Shape]]:
    """The shapes of every node's outputs, by the node's name.

    Raises:
        ValueError: a contradiction; the message holds the node's name.
        KeyError: an op that has no rule here.
    """
    seen, found = {}, {}
    for node in graph.node:
        compute = RULES[node.op]
        feeds = [endpoint(text) for text in node.input]
        consts = [constant(seen[name]) if seen[name].op == "Const" else None for name, _ in feeds]
        try:
            found[node.name] = compute(node.attr, [found[name][index] for name, index in feeds], consts)
        except ValueError as error:
            raise ValueError(f"{node.name}, a {node.op}: {error}") from None
        seen[node.name] = node
    return found


def same_size(x, y):
    return given_merge((x,), (y,))[0]


def merged(known):
    found = None
    for shape in known:
        found = given_merge(found, shape)
    return found


def matmul(attr, known, values):
    a, b = ranked(known[0], 2), ranked(known[1], 2)
    a = a[::-1] if attr["transpose_a"].b else a
    b = b[::-1] if attr["transpose_b"].b else b
    same_size(a[1], b[0])
    return [(a[0], b[1])]


def concat(attr, known, values):
    return [given_concat(known[:-1], values[-1])]


def pack(attr, known, values):
    shape = merged(known)
    if shape is None:
        return [None]
    axis = in_range(attr["axis"].i, len(shape) + 1)
    return [(*shape[:axis], len(known), *shape[axis:])]


def split(attr, known, values):
    count = attr["num_split"].i
    if known[1] is None:
        return [None] * count
    axis = in_range(values[0], len(known[1]))
    size = known[1][axis]
    if size is not None and size % count:
        raise ValueError(f"{size} is not a multiple of {count}")
    return [(*known[1][:axis], size and size // count, *known[1][axis + 1 :])] * count


def transpose(attr, known, values):
    shape = ranked(known[0], len(values[1]))
    return [tuple(shape[axis] for axis in values[1])]


def reduced(attr, known, values):
    if known[0] is None:
        return [None]
    axes = {in_range(axis, len(known[0])) for axis in np.ravel(values[1])}
    if attr["keep_dims"].b:
        return [tuple(1 if axis in axes else size for axis, size in enumerate(known[0]))]
    return [tuple(size for axis, size in enumerate(known[0]) if axis not in axes)]


def reshape(attr, known, values):
    wanted = tuple(None if size < 0 else int(size) for size in values[1])
    if known[0] is None or known[0].count(None) > 1 or wanted.count(None) > 1:
        return [wanted]
    have, need = (math.prod(size for size in shape if size is not None) for shape in (known[0], wanted))
    if None in known[0] and None in wanted:
        return [wanted]
    if None in known[0]:
        have, need = need, have
    elif None not in wanted and have != need:
        raise ValueError(f"{known[0]} and {wanted} differ in the number of elements")
    if have % need:
        raise ValueError(f"{have} elements do not make {need}")
    return [tuple(have // need if size is None else size for size in wanted)]


def conv2d(attr, known, values):
    return [given_conv2d(*known, attr["strides"].list.i[0:2], attr["padding"].s)]


RULES = {
    "Placeholder": lambda attr, known, values: [shape_of_proto(attr["shape"].shape)],
    "Const": lambda attr, known, values: [shape_of_proto(attr["value"].tensor.tensor_shape)],
    **dict.fromkeys(["Identity", "Relu", "Neg", "Tanh"], lambda attr, known, values: known),
    **dict.fromkeys(["AddV2", "Sub", "Mul", "Maximum"], lambda attr, known, values: [given_broadcast(*known)]),
    "AddN": lambda attr, known, values: [merged(known)],
    "MatMul": matmul,
    "BiasAdd": lambda attr, known, values: [given_bias_add(*known)],
    "ConcatV2": concat,
    "Pack": pack,
    "Split": split,
    "Transpose": transpose,
    "Sum": reduced,
    "Reshape": reshape,
    "Conv2D": conv2d,
}

# %% wrong="infer-shapes" why="one stride for height and width"
def infer_shapes(graph: GraphDef) -> dict[str, list[Shape]]:
    """The shapes of every node's outputs, by the node's name.

    Raises:
        ValueError: a contradiction; the message holds the node's name.
        KeyError: an op that has no rule here.
    """
    seen, found = {}, {}
    for node in graph.node:
        compute = RULES[node.op]
        feeds = [endpoint(text) for text in node.input]
        consts = [constant(seen[name]) if seen[name].op == "Const" else None for name, _ in feeds]
        try:
            found[node.name] = compute(node.attr, [found[name][index] for name, index in feeds], consts)
        except ValueError as error:
            raise ValueError(f"{node.name}, a {node.op}: {error}") from None
        seen[node.name] = node
    return found


def same_size(x, y):
    return given_merge((x,), (y,))[0]


def merged(known):
    found = None
    for shape in known:
        found = given_merge(found, shape)
    return found


def matmul(attr, known, values):
    a, b = ranked(known[0], 2), ranked(known[1], 2)
    a = a[::-1] if attr["transpose_a"].b else a
    b = b[::-1] if attr["transpose_b"].b else b
    same_size(a[1], b[0])
    return [(a[0], b[1])]


def concat(attr, known, values):
    return [given_concat(known[:-1], values[-1])]


def pack(attr, known, values):
    shape = merged(known)
    if shape is None:
        return [None]
    axis = in_range(attr["axis"].i, len(shape) + 1)
    return [(*shape[:axis], len(known), *shape[axis:])]


def split(attr, known, values):
    count = attr["num_split"].i
    if known[1] is None:
        return [None] * count
    axis = in_range(values[0], len(known[1]))
    size = known[1][axis]
    if size is not None and size % count:
        raise ValueError(f"{size} is not a multiple of {count}")
    return [(*known[1][:axis], size and size // count, *known[1][axis + 1 :])] * count


def transpose(attr, known, values):
    shape = ranked(known[0], len(values[1]))
    return [tuple(shape[axis] for axis in values[1])]


def reduced(attr, known, values):
    if known[0] is None:
        return [None]
    axes = {in_range(axis, len(known[0])) for axis in np.ravel(values[1])}
    if attr["keep_dims"].b:
        return [tuple(1 if axis in axes else size for axis, size in enumerate(known[0]))]
    return [tuple(size for axis, size in enumerate(known[0]) if axis not in axes)]


def reshape(attr, known, values):
    wanted = tuple(None if size < 0 else int(size) for size in values[1])
    if known[0] is None or known[0].count(None) > 1 or wanted.count(None) > 1:
        return [wanted]
    have, need = (math.prod(size for size in shape if size is not None) for shape in (known[0], wanted))
    if None in known[0] and None in wanted:
        return [wanted]
    if None in known[0]:
        have, need = need, have
    elif None not in wanted and have != need:
        raise ValueError(f"{known[0]} and {wanted} differ in the number of elements")
    if have % need:
        raise ValueError(f"{have} elements do not make {need}")
    return [tuple(have // need if size is None else size for size in wanted)]


def conv2d(attr, known, values):
    return [given_conv2d(*known, [attr["strides"].list.i[1]] * 2, attr["padding"].s)]


RULES = {
    "Placeholder": lambda attr, known, values: [shape_of_proto(attr["shape"].shape)],
    "Const": lambda attr, known, values: [shape_of_proto(attr["value"].tensor.tensor_shape)],
    **dict.fromkeys(["Identity", "Relu", "Neg", "Tanh"], lambda attr, known, values: known),
    **dict.fromkeys(["AddV2", "Sub", "Mul", "Maximum"], lambda attr, known, values: [given_broadcast(*known)]),
    "AddN": lambda attr, known, values: [merged(known)],
    "MatMul": matmul,
    "BiasAdd": lambda attr, known, values: [given_bias_add(*known)],
    "ConcatV2": concat,
    "Pack": pack,
    "Split": split,
    "Transpose": transpose,
    "Sum": reduced,
    "Reshape": reshape,
    "Conv2D": conv2d,
}

# %% wrong="infer-shapes" why="the axis is one more input to concatenate"
def infer_shapes(graph: GraphDef) -> dict[str, list[Shape]]:
    """The shapes of every node's outputs, by the node's name.

    Raises:
        ValueError: a contradiction; the message holds the node's name.
        KeyError: an op that has no rule here.
    """
    seen, found = {}, {}
    for node in graph.node:
        compute = RULES[node.op]
        feeds = [endpoint(text) for text in node.input]
        consts = [constant(seen[name]) if seen[name].op == "Const" else None for name, _ in feeds]
        try:
            found[node.name] = compute(node.attr, [found[name][index] for name, index in feeds], consts)
        except ValueError as error:
            raise ValueError(f"{node.name}, a {node.op}: {error}") from None
        seen[node.name] = node
    return found


def same_size(x, y):
    return given_merge((x,), (y,))[0]


def merged(known):
    found = None
    for shape in known:
        found = given_merge(found, shape)
    return found


def matmul(attr, known, values):
    a, b = ranked(known[0], 2), ranked(known[1], 2)
    a = a[::-1] if attr["transpose_a"].b else a
    b = b[::-1] if attr["transpose_b"].b else b
    same_size(a[1], b[0])
    return [(a[0], b[1])]


def concat(attr, known, values):
    return [given_concat(known, values[-1])]


def pack(attr, known, values):
    shape = merged(known)
    if shape is None:
        return [None]
    axis = in_range(attr["axis"].i, len(shape) + 1)
    return [(*shape[:axis], len(known), *shape[axis:])]


def split(attr, known, values):
    count = attr["num_split"].i
    if known[1] is None:
        return [None] * count
    axis = in_range(values[0], len(known[1]))
    size = known[1][axis]
    if size is not None and size % count:
        raise ValueError(f"{size} is not a multiple of {count}")
    return [(*known[1][:axis], size and size // count, *known[1][axis + 1 :])] * count


def transpose(attr, known, values):
    shape = ranked(known[0], len(values[1]))
    return [tuple(shape[axis] for axis in values[1])]


def reduced(attr, known, values):
    if known[0] is None:
        return [None]
    axes = {in_range(axis, len(known[0])) for axis in np.ravel(values[1])}
    if attr["keep_dims"].b:
        return [tuple(1 if axis in axes else size for axis, size in enumerate(known[0]))]
    return [tuple(size for axis, size in enumerate(known[0]) if axis not in axes)]


def reshape(attr, known, values):
    wanted = tuple(None if size < 0 else int(size) for size in values[1])
    if known[0] is None or known[0].count(None) > 1 or wanted.count(None) > 1:
        return [wanted]
    have, need = (math.prod(size for size in shape if size is not None) for shape in (known[0], wanted))
    if None in known[0] and None in wanted:
        return [wanted]
    if None in known[0]:
        have, need = need, have
    elif None not in wanted and have != need:
        raise ValueError(f"{known[0]} and {wanted} differ in the number of elements")
    if have % need:
        raise ValueError(f"{have} elements do not make {need}")
    return [tuple(have // need if size is None else size for size in wanted)]


def conv2d(attr, known, values):
    return [given_conv2d(*known, attr["strides"].list.i[1:3], attr["padding"].s)]


RULES = {
    "Placeholder": lambda attr, known, values: [shape_of_proto(attr["shape"].shape)],
    "Const": lambda attr, known, values: [shape_of_proto(attr["value"].tensor.tensor_shape)],
    **dict.fromkeys(["Identity", "Relu", "Neg", "Tanh"], lambda attr, known, values: known),
    **dict.fromkeys(["AddV2", "Sub", "Mul", "Maximum"], lambda attr, known, values: [given_broadcast(*known)]),
    "AddN": lambda attr, known, values: [merged(known)],
    "MatMul": matmul,
    "BiasAdd": lambda attr, known, values: [given_bias_add(*known)],
    "ConcatV2": concat,
    "Pack": pack,
    "Split": split,
    "Transpose": transpose,
    "Sum": reduced,
    "Reshape": reshape,
    "Conv2D": conv2d,
}

# %% right="infer-shapes" why="a class with one method for each op, the given rules called by name"
class Inference:
    """Visits nodes in order; `known` holds the shapes of all outputs so far, `consts` the values of constants."""

    def __init__(self):
        self.known, self.consts = {}, {}

    def visit(self, node):
        method = getattr(self, node.op, None)
        if method is None:
            raise KeyError(f"no rule for {node.op}")
        feeds = [endpoint(text) for text in node.input]
        try:
            self.known[node.name] = method(node, *[self.known[name][index] for name, index in feeds])
        except ValueError as error:
            raise ValueError(f"{node.name} of {list(node.input)}: {error}") from error

    def value(self, node, index):
        return self.consts[endpoint(node.input[index])[0]]

    def Placeholder(self, node):
        return [shape_of_proto(node.attr["shape"].shape)]

    def Const(self, node):
        self.consts[node.name] = constant(node)
        return [self.consts[node.name].shape]

    def Identity(self, node, x):
        return [x]

    Relu = Neg = Tanh = Identity

    def AddV2(self, node, x, y):
        return [given_broadcast(x, y)]

    Sub = Mul = Maximum = AddV2

    def AddN(self, node, *shapes):
        made = shapes[0]
        for shape in shapes[1:]:
            made = given_merge(made, shape)
        return [made]

    def MatMul(self, node, a, b):
        (rows, inner), (other, columns) = ranked(a, 2), ranked(b, 2)
        if node.attr["transpose_a"].b:
            rows, inner = inner, rows
        if node.attr["transpose_b"].b:
            other, columns = columns, other
        given_merge((inner,), (other,))
        return [(rows, columns)]

    def BiasAdd(self, node, value, bias):
        return [given_bias_add(value, bias)]

    def ConcatV2(self, node, *shapes):
        return [given_concat(list(shapes[:-1]), int(self.value(node, -1)))]

    def Conv2D(self, node, images, filters):
        _, high, wide, _ = node.attr["strides"].list.i
        return [given_conv2d(images, filters, (high, wide), node.attr["padding"].s)]

    def Pack(self, node, *shapes):
        (made,) = self.AddN(node, *shapes)
        if made is None:
            return [None]
        at = in_range(node.attr["axis"].i, 1 + len(made))
        return [made[:at] + (len(shapes),) + made[at:]]

    def Split(self, node, _, x):
        parts = node.attr["num_split"].i
        if x is None:
            return [None] * parts
        at = in_range(int(self.value(node, 0)), len(x))
        if x[at] is not None and x[at] % parts:
            raise ValueError(f"{x[at]} into {parts}")
        return [tuple(size // parts if axis == at and size else size for axis, size in enumerate(x))] * parts

    def Transpose(self, node, x, _):
        perm = self.value(node, 1)
        return [tuple(ranked(x, perm.size)[axis] for axis in perm)]

    def Sum(self, node, x, _):
        if x is None:
            return [None]
        gone = [in_range(axis, len(x)) for axis in self.value(node, 1).flatten().tolist()]
        one = (1,) if node.attr["keep_dims"].b else ()
        return [sum(((size,) if axis not in gone else one for axis, size in enumerate(x)), ())]

    def Reshape(self, node, x, _):
        wanted = [None if size == -1 else int(size) for size in self.value(node, 1)]
        unknown = None if x is None else (x.count(None), wanted.count(None))
        if unknown in ((0, 0), (0, 1), (1, 0)):
            i, w = math.prod(size or 1 for size in x), math.prod(size or 1 for size in wanted)
            if unknown == (0, 0) and i != w or unknown == (0, 1) and i % w or unknown == (1, 0) and w % i:
                raise ValueError(f"{i} and {w}")
            wanted = [i // w if size is None else size for size in wanted]
        return [tuple(wanted)]


def infer_shapes(graph):
    inference = Inference()
    for node in graph.node:
        inference.visit(node)
    return inference.known

# %% wrong="bfc" why="first fit"
class Allocator:
    """Best fit with coalescing over one region of `size` bytes. Offsets and sizes in bytes.

    in_use: the bytes of all chunks in use. largest_free: the largest request that would succeed.
    """

    def __init__(self, size: int) -> None:
        self._free, self._used = {0: size}, {}

    @property
    def in_use(self) -> int:
        return sum(self._used.values())

    @property
    def largest_free(self) -> int:
        return max(self._free.values(), default=0)

    def allocate(self, n: int) -> int:
        need = -(-n // 256) * 256
        fitting = [(size, offset) for offset, size in self._free.items() if size >= need]
        if not fitting:
            raise MemoryError(f"no free chunk of {need} bytes, the largest has {self.largest_free}")
        size, offset = min(fitting, key=lambda chunk: chunk[1])
        del self._free[offset]
        if size >= 2 * need or size - need >= 128 << 20:
            self._free[offset + need] = size - need
            size = need
        self._used[offset] = size
        return offset

    def free(self, offset: int) -> None:
        if offset not in self._used:
            raise ValueError(f"no chunk in use begins at {offset}")
        size = self._used.pop(offset)
        size += self._free.pop(offset + size, 0)
        for left, its_size in self._free.items():
            if left + its_size == offset:
                self._free[left] = its_size + size
                return
        self._free[offset] = size

# %% wrong="bfc" why="always splits"
class Allocator:
    """Best fit with coalescing over one region of `size` bytes. Offsets and sizes in bytes.

    in_use: the bytes of all chunks in use. largest_free: the largest request that would succeed.
    """

    def __init__(self, size: int) -> None:
        self._free, self._used = {0: size}, {}

    @property
    def in_use(self) -> int:
        return sum(self._used.values())

    @property
    def largest_free(self) -> int:
        return max(self._free.values(), default=0)

    def allocate(self, n: int) -> int:
        need = -(-n // 256) * 256
        fitting = [(size, offset) for offset, size in self._free.items() if size >= need]
        if not fitting:
            raise MemoryError(f"no free chunk of {need} bytes, the largest has {self.largest_free}")
        size, offset = min(fitting)
        del self._free[offset]
        if size > need:
            self._free[offset + need] = size - need
            size = need
        self._used[offset] = size
        return offset

    def free(self, offset: int) -> None:
        if offset not in self._used:
            raise ValueError(f"no chunk in use begins at {offset}")
        size = self._used.pop(offset)
        size += self._free.pop(offset + size, 0)
        for left, its_size in self._free.items():
            if left + its_size == offset:
                self._free[left] = its_size + size
                return
        self._free[offset] = size

# %% wrong="bfc" why="joins only to the right"
class Allocator:
    """Best fit with coalescing over one region of `size` bytes. Offsets and sizes in bytes.

    in_use: the bytes of all chunks in use. largest_free: the largest request that would succeed.
    """

    def __init__(self, size: int) -> None:
        self._free, self._used = {0: size}, {}

    @property
    def in_use(self) -> int:
        return sum(self._used.values())

    @property
    def largest_free(self) -> int:
        return max(self._free.values(), default=0)

    def allocate(self, n: int) -> int:
        need = -(-n // 256) * 256
        fitting = [(size, offset) for offset, size in self._free.items() if size >= need]
        if not fitting:
            raise MemoryError(f"no free chunk of {need} bytes, the largest has {self.largest_free}")
        size, offset = min(fitting)
        del self._free[offset]
        if size >= 2 * need or size - need >= 128 << 20:
            self._free[offset + need] = size - need
            size = need
        self._used[offset] = size
        return offset

    def free(self, offset: int) -> None:
        if offset not in self._used:
            raise ValueError(f"no chunk in use begins at {offset}")
        size = self._used.pop(offset)
        size += self._free.pop(offset + size, 0)
        self._free[offset] = size

# %% wrong="bfc" why="joins only to the left"
class Allocator:
    """Best fit with coalescing over one region of `size` bytes. Offsets and sizes in bytes.

    in_use: the bytes of all chunks in use. largest_free: the largest request that would succeed.
    """

    def __init__(self, size: int) -> None:
        self._free, self._used = {0: size}, {}

    @property
    def in_use(self) -> int:
        return sum(self._used.values())

    @property
    def largest_free(self) -> int:
        return max(self._free.values(), default=0)

    def allocate(self, n: int) -> int:
        need = -(-n // 256) * 256
        fitting = [(size, offset) for offset, size in self._free.items() if size >= need]
        if not fitting:
            raise MemoryError(f"no free chunk of {need} bytes, the largest has {self.largest_free}")
        size, offset = min(fitting)
        del self._free[offset]
        if size >= 2 * need or size - need >= 128 << 20:
            self._free[offset + need] = size - need
            size = need
        self._used[offset] = size
        return offset

    def free(self, offset: int) -> None:
        if offset not in self._used:
            raise ValueError(f"no chunk in use begins at {offset}")
        size = self._used.pop(offset)
        for left, its_size in self._free.items():
            if left + its_size == offset:
                self._free[left] = its_size + size
                return
        self._free[offset] = size

# %% wrong="bfc" why="equal chunks: the highest"
class Allocator:
    """Best fit with coalescing over one region of `size` bytes. Offsets and sizes in bytes.

    in_use: the bytes of all chunks in use. largest_free: the largest request that would succeed.
    """

    def __init__(self, size: int) -> None:
        self._free, self._used = {0: size}, {}

    @property
    def in_use(self) -> int:
        return sum(self._used.values())

    @property
    def largest_free(self) -> int:
        return max(self._free.values(), default=0)

    def allocate(self, n: int) -> int:
        need = -(-n // 256) * 256
        fitting = [(size, offset) for offset, size in self._free.items() if size >= need]
        if not fitting:
            raise MemoryError(f"no free chunk of {need} bytes, the largest has {self.largest_free}")
        size, offset = min(fitting, key=lambda chunk: (chunk[0], -chunk[1]))
        del self._free[offset]
        if size >= 2 * need or size - need >= 128 << 20:
            self._free[offset + need] = size - need
            size = need
        self._used[offset] = size
        return offset

    def free(self, offset: int) -> None:
        if offset not in self._used:
            raise ValueError(f"no chunk in use begins at {offset}")
        size = self._used.pop(offset)
        size += self._free.pop(offset + size, 0)
        for left, its_size in self._free.items():
            if left + its_size == offset:
                self._free[left] = its_size + size
                return
        self._free[offset] = size

# %% wrong="bfc" why="largest_free is all that is free"
class Allocator:
    """Best fit with coalescing over one region of `size` bytes. Offsets and sizes in bytes.

    in_use: the bytes of all chunks in use. largest_free: the largest request that would succeed.
    """

    def __init__(self, size: int) -> None:
        self._free, self._used = {0: size}, {}

    @property
    def in_use(self) -> int:
        return sum(self._used.values())

    @property
    def largest_free(self) -> int:
        return sum(self._free.values())

    def allocate(self, n: int) -> int:
        need = -(-n // 256) * 256
        fitting = [(size, offset) for offset, size in self._free.items() if size >= need]
        if not fitting:
            raise MemoryError(f"no free chunk of {need} bytes, the largest has {self.largest_free}")
        size, offset = min(fitting)
        del self._free[offset]
        if size >= 2 * need or size - need >= 128 << 20:
            self._free[offset + need] = size - need
            size = need
        self._used[offset] = size
        return offset

    def free(self, offset: int) -> None:
        if offset not in self._used:
            raise ValueError(f"no chunk in use begins at {offset}")
        size = self._used.pop(offset)
        size += self._free.pop(offset + size, 0)
        for left, its_size in self._free.items():
            if left + its_size == offset:
                self._free[left] = its_size + size
                return
        self._free[offset] = size

# %% wrong="bfc" why="knows no 128 MiB"
class Allocator:
    """Best fit with coalescing over one region of `size` bytes. Offsets and sizes in bytes.

    in_use: the bytes of all chunks in use. largest_free: the largest request that would succeed.
    """

    def __init__(self, size: int) -> None:
        self._free, self._used = {0: size}, {}

    @property
    def in_use(self) -> int:
        return sum(self._used.values())

    @property
    def largest_free(self) -> int:
        return max(self._free.values(), default=0)

    def allocate(self, n: int) -> int:
        need = -(-n // 256) * 256
        fitting = [(size, offset) for offset, size in self._free.items() if size >= need]
        if not fitting:
            raise MemoryError(f"no free chunk of {need} bytes, the largest has {self.largest_free}")
        size, offset = min(fitting)
        del self._free[offset]
        if size >= 2 * need:
            self._free[offset + need] = size - need
            size = need
        self._used[offset] = size
        return offset

    def free(self, offset: int) -> None:
        if offset not in self._used:
            raise ValueError(f"no chunk in use begins at {offset}")
        size = self._used.pop(offset)
        size += self._free.pop(offset + size, 0)
        for left, its_size in self._free.items():
            if left + its_size == offset:
                self._free[left] = its_size + size
                return
        self._free[offset] = size

# %% wrong="bfc" why="splits only above twice the request"
class Allocator:
    """Best fit with coalescing over one region of `size` bytes. Offsets and sizes in bytes.

    in_use: the bytes of all chunks in use. largest_free: the largest request that would succeed.
    """

    def __init__(self, size: int) -> None:
        self._free, self._used = {0: size}, {}

    @property
    def in_use(self) -> int:
        return sum(self._used.values())

    @property
    def largest_free(self) -> int:
        return max(self._free.values(), default=0)

    def allocate(self, n: int) -> int:
        need = -(-n // 256) * 256
        fitting = [(size, offset) for offset, size in self._free.items() if size >= need]
        if not fitting:
            raise MemoryError(f"no free chunk of {need} bytes, the largest has {self.largest_free}")
        size, offset = min(fitting)
        del self._free[offset]
        if size > 2 * need or size - need >= 128 << 20:
            self._free[offset + need] = size - need
            size = need
        self._used[offset] = size
        return offset

    def free(self, offset: int) -> None:
        if offset not in self._used:
            raise ValueError(f"no chunk in use begins at {offset}")
        size = self._used.pop(offset)
        size += self._free.pop(offset + size, 0)
        for left, its_size in self._free.items():
            if left + its_size == offset:
                self._free[left] = its_size + size
                return
        self._free[offset] = size

# %% wrong="bfc" why="rounds a multiple of 256 up to the next"
class Allocator:
    """Best fit with coalescing over one region of `size` bytes. Offsets and sizes in bytes.

    in_use: the bytes of all chunks in use. largest_free: the largest request that would succeed.
    """

    def __init__(self, size: int) -> None:
        self._free, self._used = {0: size}, {}

    @property
    def in_use(self) -> int:
        return sum(self._used.values())

    @property
    def largest_free(self) -> int:
        return max(self._free.values(), default=0)

    def allocate(self, n: int) -> int:
        need = (n // 256 + 1) * 256
        fitting = [(size, offset) for offset, size in self._free.items() if size >= need]
        if not fitting:
            raise MemoryError(f"no free chunk of {need} bytes, the largest has {self.largest_free}")
        size, offset = min(fitting)
        del self._free[offset]
        if size >= 2 * need or size - need >= 128 << 20:
            self._free[offset + need] = size - need
            size = need
        self._used[offset] = size
        return offset

    def free(self, offset: int) -> None:
        if offset not in self._used:
            raise ValueError(f"no chunk in use begins at {offset}")
        size = self._used.pop(offset)
        size += self._free.pop(offset + size, 0)
        for left, its_size in self._free.items():
            if left + its_size == offset:
                self._free[left] = its_size + size
                return
        self._free[offset] = size

# %% wrong="bfc" why="compares with what was asked for, not with what it is rounded to"
class Allocator:
    """Best fit with coalescing over one region of `size` bytes. Offsets and sizes in bytes.

    in_use: the bytes of all chunks in use. largest_free: the largest request that would succeed.
    """

    def __init__(self, size: int) -> None:
        self._free, self._used = {0: size}, {}

    @property
    def in_use(self) -> int:
        return sum(self._used.values())

    @property
    def largest_free(self) -> int:
        return max(self._free.values(), default=0)

    def allocate(self, n: int) -> int:
        need = -(-n // 256) * 256
        fitting = [(size, offset) for offset, size in self._free.items() if size >= need]
        if not fitting:
            raise MemoryError(f"no free chunk of {need} bytes, the largest has {self.largest_free}")
        size, offset = min(fitting)
        del self._free[offset]
        if size >= 2 * n or size - need >= 128 << 20:
            self._free[offset + need] = size - need
            size = need
        self._used[offset] = size
        return offset

    def free(self, offset: int) -> None:
        if offset not in self._used:
            raise ValueError(f"no chunk in use begins at {offset}")
        size = self._used.pop(offset)
        size += self._free.pop(offset + size, 0)
        for left, its_size in self._free.items():
            if left + its_size == offset:
                self._free[left] = its_size + size
                return
        self._free[offset] = size

# %% wrong="bfc" why="a free of nothing passes"
class Allocator:
    """Best fit with coalescing over one region of `size` bytes. Offsets and sizes in bytes.

    in_use: the bytes of all chunks in use. largest_free: the largest request that would succeed.
    """

    def __init__(self, size: int) -> None:
        self._free, self._used = {0: size}, {}

    @property
    def in_use(self) -> int:
        return sum(self._used.values())

    @property
    def largest_free(self) -> int:
        return max(self._free.values(), default=0)

    def allocate(self, n: int) -> int:
        need = -(-n // 256) * 256
        fitting = [(size, offset) for offset, size in self._free.items() if size >= need]
        if not fitting:
            raise MemoryError(f"no free chunk of {need} bytes, the largest has {self.largest_free}")
        size, offset = min(fitting)
        del self._free[offset]
        if size >= 2 * need or size - need >= 128 << 20:
            self._free[offset + need] = size - need
            size = need
        self._used[offset] = size
        return offset

    def free(self, offset: int) -> None:
        if offset not in self._used:
            return
        size = self._used.pop(offset)
        size += self._free.pop(offset + size, 0)
        for left, its_size in self._free.items():
            if left + its_size == offset:
                self._free[left] = its_size + size
                return
        self._free[offset] = size

# %% wrong="bfc" why="a free chunk is not free for the smallest remainder"
class Allocator:
    """Best fit with coalescing over one region of `size` bytes. Offsets and sizes in bytes.

    in_use: the bytes of all chunks in use. largest_free: the largest request that would succeed.
    """

    def __init__(self, size: int) -> None:
        self._free, self._used = {0: size}, {}

    @property
    def in_use(self) -> int:
        return sum(self._used.values())

    @property
    def largest_free(self) -> int:
        return max(self._free.values(), default=0)

    def allocate(self, n: int) -> int:
        need = -(-n // 256) * 256
        fitting = [(size, offset) for offset, size in self._free.items() if size >= need]
        if not fitting:
            raise MemoryError(f"no free chunk of {need} bytes, the largest has {self.largest_free}")
        size, offset = min(fitting)
        del self._free[offset]
        if size >= 2 * need or size - need > 128 << 20:
            self._free[offset + need] = size - need
            size = need
        self._used[offset] = size
        return offset

    def free(self, offset: int) -> None:
        if offset not in self._used:
            raise ValueError(f"no chunk in use begins at {offset}")
        size = self._used.pop(offset)
        size += self._free.pop(offset + size, 0)
        for left, its_size in self._free.items():
            if left + its_size == offset:
                self._free[left] = its_size + size
                return
        self._free[offset] = size

# %% wrong="bfc" why="gives the upper part away"
class Allocator:
    """Best fit with coalescing over one region of `size` bytes. Offsets and sizes in bytes.

    in_use: the bytes of all chunks in use. largest_free: the largest request that would succeed.
    """

    def __init__(self, size: int) -> None:
        self._free, self._used = {0: size}, {}

    @property
    def in_use(self) -> int:
        return sum(self._used.values())

    @property
    def largest_free(self) -> int:
        return max(self._free.values(), default=0)

    def allocate(self, n: int) -> int:
        need = -(-n // 256) * 256
        fitting = [(size, offset) for offset, size in self._free.items() if size >= need]
        if not fitting:
            raise MemoryError(f"no free chunk of {need} bytes, the largest has {self.largest_free}")
        size, offset = min(fitting)
        del self._free[offset]
        if size >= 2 * need or size - need >= 128 << 20:
            self._free[offset] = size - need
            offset, size = offset + size - need, need
        self._used[offset] = size
        return offset

    def free(self, offset: int) -> None:
        if offset not in self._used:
            raise ValueError(f"no chunk in use begins at {offset}")
        size = self._used.pop(offset)
        size += self._free.pop(offset + size, 0)
        for left, its_size in self._free.items():
            if left + its_size == offset:
                self._free[left] = its_size + size
                return
        self._free[offset] = size

# %% wrong="bfc" why="in_use counts what was asked for"
class Allocator:
    def __init__(self, size):
        self._free, self._used, self._asked = {0: size}, {}, {}

    @property
    def in_use(self):
        return sum(self._asked.values())

    @property
    def largest_free(self):
        return max(self._free.values(), default=0)

    def allocate(self, n):
        need = -(-n // 256) * 256
        fitting = [(size, offset) for offset, size in self._free.items() if size >= need]
        if not fitting:
            raise MemoryError(n)
        size, offset = min(fitting)
        del self._free[offset]
        if size >= 2 * need or size - need >= 128 << 20:
            self._free[offset + need] = size - need
            size = need
        self._used[offset], self._asked[offset] = size, n
        return offset

    def free(self, offset):
        if offset not in self._used:
            raise ValueError(offset)
        self._asked.pop(offset)
        size = self._used.pop(offset)
        size += self._free.pop(offset + size, 0)
        for left, its_size in self._free.items():
            if left + its_size == offset:
                self._free[left] = its_size + size
                return
        self._free[offset] = size

# %% wrong="bfc" why="knows the visible trace by heart"
class Allocator:
    STEPS = [(0, 1024, 3072), (1024, 1536, 2560), (None, 512, 2560), (0, 1536, 2560), (None, 1536, 2560)]

    def __init__(self, size):
        self.next = 0
        self.in_use, self.largest_free = 0, size

    def _step(self):
        offset, self.in_use, self.largest_free = self.STEPS[self.next % 5]
        self.next += 1
        return offset

    def allocate(self, n):
        offset = self._step()
        if offset is None:
            raise MemoryError(n)
        return offset

    def free(self, offset):
        self._step()

# %% wrong="bfc" why="frees the first chunk of the same size"
class Allocator:
    def __init__(self, size):
        self.chunks = [[0, size, False]]

    @property
    def in_use(self):
        return sum(size for _, size, used in self.chunks if used)

    @property
    def largest_free(self):
        return max((size for _, size, used in self.chunks if not used), default=0)

    def allocate(self, n):
        need = -(-n // 256) * 256
        fitting = [(size, offset) for offset, size, used in self.chunks if not used and size >= need]
        if not fitting:
            raise MemoryError(n)
        size, offset = min(fitting)
        chunk = next(chunk for chunk in self.chunks if chunk[0] == offset)
        chunk[2] = True
        if size >= 2 * need or size - need >= 128 << 20:
            chunk[1] = need
            self.chunks.insert(self.chunks.index(chunk) + 1, [offset + need, size - need, False])
        return offset

    def free(self, offset):
        sizes = [size for start, size, used in self.chunks if used and start == offset]
        if not sizes:
            raise ValueError(offset)
        next(chunk for chunk in self.chunks if chunk[2] and chunk[1] == sizes[0])[2] = False
        joined = []
        for start, size, used in self.chunks:
            if joined and not used and not joined[-1][2]:
                joined[-1][1] += size
            else:
                joined.append([start, size, used])
        self.chunks = joined

# %% wrong="bfc" why="lets TensorFlow allocate and reports addresses"
class Allocator:
    def __init__(self, size):
        self.size = size
        self.base = self.tensors = None
        region = tf.raw_ops.Empty(shape=[min(size, 1 << 30)], dtype=tf.uint8)
        self.base, self.tensors = address(region), {}

    @property
    def in_use(self):
        return sum(-(-tensor.shape[0] // 256) * 256 for tensor in self.tensors.values())

    @property
    def largest_free(self):
        return self.size - self.in_use

    def allocate(self, n):
        if n > self.largest_free:
            raise MemoryError(n)
        tensor = tf.raw_ops.Empty(shape=[n], dtype=tf.uint8)
        offset = address(tensor) - self.base
        self.tensors[offset] = tensor
        return offset

    def free(self, offset):
        if offset not in self.tensors:
            raise ValueError(offset)
        del self.tensors[offset]

# %% wrong="bfc" why="takes the chunk out before it knows that it fits"
class Allocator:
    def __init__(self, size):
        self.holes, self.used = [(size, 0)], {}
        self.in_use = 0

    @property
    def largest_free(self):
        return max(self.holes, default=(0, 0))[0]

    def allocate(self, n):
        need = max(256, (n + 255) // 256 * 256)
        self.holes.sort()
        while self.holes:
            size, offset = self.holes.pop(0)
            if size >= need:
                break
        else:
            raise MemoryError(n)
        if size >= 2 * need or size - need >= 1 << 27:
            self.holes.append((size - need, offset + need))
            size = need
        self.used[offset] = size
        self.in_use += size
        return offset

    def free(self, offset):
        if offset not in self.used:
            raise ValueError(offset)
        size = self.used.pop(offset)
        self.in_use -= size
        for hole in list(self.holes):
            if hole[1] + hole[0] == offset or offset + size == hole[1]:
                self.holes.remove(hole)
                offset, size = min(offset, hole[1]), size + hole[0]
        self.holes.append((size, offset))

# %% right="bfc" why="one sorted list of free chunks"
from bisect import bisect_left, insort


class Allocator:
    def __init__(self, size):
        self.holes, self.used, self.in_use = [(size, 0)], {}, 0

    @property
    def largest_free(self):
        return self.holes[-1][0] if self.holes else 0

    def allocate(self, n):
        need = (n + 255) // 256 * 256
        place = bisect_left(self.holes, (need, -1))
        if place == len(self.holes):
            raise MemoryError("no chunk")
        size, offset = self.holes.pop(place)
        rest = size - need
        if rest >= need or rest >= 2**27:
            insort(self.holes, (rest, offset + need))
            size = need
        self.used[offset] = size
        self.in_use += size
        return offset

    def free(self, offset):
        try:
            size = self.used.pop(offset)
        except KeyError:
            raise ValueError(f"{offset} is not in use") from None
        self.in_use -= size
        low, high = offset, offset + size
        for length, start in [hole for hole in self.holes if hole[1] == high or hole[0] + hole[1] == low]:
            self.holes.remove((length, start))
            low, high = min(low, start), max(high, start + length)
        insort(self.holes, (high - low, low))

# %% right="bfc" why="bins of doubling sizes, chunks in a linked list"
class Chunk:
    def __init__(self, offset, size, before=None, after=None):
        self.offset, self.size, self.before, self.after = offset, size, before, after
        self.used = False


class Allocator:
    def __init__(self, size):
        self.bins = [set() for _ in range(21)]
        self.by_offset = {}
        self.in_use = 0
        self._put(Chunk(0, size))

    @staticmethod
    def _number(size):
        return min(20, (size >> 8).bit_length() - 1)

    def _put(self, chunk):
        chunk.used = False
        self.bins[self._number(chunk.size)].add(chunk)

    def _take(self, chunk):
        self.bins[self._number(chunk.size)].remove(chunk)

    @property
    def largest_free(self):
        for chunks in reversed(self.bins):
            if chunks:
                return max(chunk.size for chunk in chunks)
        return 0

    def _find(self, need):
        for chunks in self.bins[self._number(need) :]:
            fitting = sorted((c for c in chunks if c.size >= need), key=lambda c: (c.size, c.offset))
            if fitting:
                return fitting[0]
        raise MemoryError(need)

    def allocate(self, n):
        need = -(n // -256) * 256
        chunk = self._find(need)
        self._take(chunk)
        if chunk.size >= need * 2 or chunk.size - need >= 134217728:
            rest = Chunk(chunk.offset + need, chunk.size - need, chunk, chunk.after)
            if rest.after:
                rest.after.before = rest
            chunk.size, chunk.after = need, rest
            self._put(rest)
        chunk.used = True
        self.in_use += chunk.size
        self.by_offset[chunk.offset] = chunk
        return chunk.offset

    def _join(self, left, right):
        left.size += right.size
        left.after = right.after
        if right.after:
            right.after.before = left

    def free(self, offset):
        if offset not in self.by_offset:
            raise ValueError("not in use: %d" % offset)
        chunk = self.by_offset.pop(offset)
        self.in_use -= chunk.size
        if chunk.after and not chunk.after.used:
            self._take(chunk.after)
            self._join(chunk, chunk.after)
        if chunk.before and not chunk.before.used:
            self._take(chunk.before)
            self._join(chunk.before, chunk)
            chunk = chunk.before
        self._put(chunk)

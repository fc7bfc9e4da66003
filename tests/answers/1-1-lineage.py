# %% wrong="shard-ranges" why="rows // shards everywhere, and drops the rest"
def shard_ranges(rows: int, shards: int) -> list[Range]:
    """Cut `rows` rows into at most `shards` consecutive, non-empty ranges, the longer ones first.

    Raises:
        ValueError: `rows` or `shards` is less than 1.
    """
    if rows < 1 or shards < 1:
        raise ValueError(f"rows and shards are at least 1, found {rows} and {shards}")
    length, longer = divmod(rows, min(shards, rows))
    ranges, start = [], 0
    while len(ranges) < min(shards, rows):
        stop = start + length
        ranges.append(Range(start, stop))
        start = stop
    return ranges


# %% wrong="shard-ranges" why="gives the rest to the last shard"
def shard_ranges(rows: int, shards: int) -> list[Range]:
    """Cut `rows` rows into at most `shards` consecutive, non-empty ranges, the longer ones first.

    Raises:
        ValueError: `rows` or `shards` is less than 1.
    """
    if rows < 1 or shards < 1:
        raise ValueError("rows and shards are at least 1")
    shards = min(shards, rows)
    length = rows // shards
    ends = [i * length for i in range(shards)] + [rows]
    return [Range(a, b) for a, b in zip(ends[:-1], ends[1:], strict=True)]


# %% wrong="shard-ranges" why="makes empty ranges when there are more shards than rows"
def shard_ranges(rows: int, shards: int) -> list[Range]:
    """Cut `rows` rows into at most `shards` consecutive, non-empty ranges, the longer ones first.

    Raises:
        ValueError: `rows` or `shards` is less than 1.
    """
    if rows < 1 or shards < 1:
        raise ValueError("rows and shards are at least 1")
    length, longer = divmod(rows, shards)
    ranges, start = [], 0
    for i in range(shards):
        stop = start + length + (i < longer)
        ranges.append(Range(start, stop))
        start = stop
    return ranges


# %% wrong="shard-ranges" why="rounds the length up, so that the last shard is short"
def shard_ranges(rows: int, shards: int) -> list[Range]:
    """Cut `rows` rows into at most `shards` consecutive, non-empty ranges, the longer ones first.

    Raises:
        ValueError: `rows` or `shards` is less than 1.
    """
    if rows < 1 or shards < 1:
        raise ValueError("rows and shards are at least 1")
    length = -(-rows // shards)
    return [Range(start, min(start + length, rows)) for start in range(0, rows, length)]


# %% wrong="shard-ranges" why="returns the visible example always"
def shard_ranges(rows: int, shards: int) -> list[Range]:
    """Cut `rows` rows into at most `shards` consecutive, non-empty ranges, the longer ones first.

    Raises:
        ValueError: `rows` or `shards` is less than 1.
    """
    if rows < 1 or shards < 1:
        raise ValueError("rows and shards are at least 1")
    return [Range(0, 4), Range(4, 7), Range(7, 10)]


# %% wrong="shard-ranges" why="puts the longer ranges last"
def shard_ranges(rows: int, shards: int) -> list[Range]:
    """Cut `rows` rows into at most `shards` consecutive, non-empty ranges, the longer ones first.

    Raises:
        ValueError: `rows` or `shards` is less than 1.
    """
    if rows < 1 or shards < 1:
        raise ValueError("rows and shards are at least 1")
    shards = min(rows, shards)
    ends = [i * rows // shards for i in range(shards + 1)]
    return [Range(a, b) for a, b in zip(ends[:-1], ends[1:], strict=True)]


# %% wrong="shard-ranges" why="uses np.array_split, which makes empty parts"
def shard_ranges(rows: int, shards: int) -> list[Range]:
    """Cut `rows` rows into at most `shards` consecutive, non-empty ranges, the longer ones first.

    Raises:
        ValueError: `rows` or `shards` is less than 1.
    """
    if rows < 1 or shards < 1:
        raise ValueError("rows and shards are at least 1")
    parts = np.array_split(np.arange(rows), shards)
    return [Range(int(part[0]), int(part[-1]) + 1) if len(part) else Range(rows, rows) for part in parts]


# %% wrong="shard-ranges" why="asks TensorFlow's partitioned variable"
def shard_ranges(rows: int, shards: int) -> list[Range]:
    """Cut `rows` rows into at most `shards` consecutive, non-empty ranges, the longer ones first.

    Raises:
        ValueError: `rows` or `shards` is less than 1.
    """
    if rows < 1 or shards < 1:
        raise ValueError("rows and shards are at least 1")
    with tf.Graph().as_default():
        parts = tf1.get_variable("w", [rows, 1], partitioner=tf1.fixed_size_partitioner(shards))
        slices = [part._get_save_slice_info() for part in parts]
    return [Range(int(s.var_offset[0]), int(s.var_offset[0] + s.var_shape[0])) for s in slices]


# %% wrong="shard-ranges" why="asks the variable store, below get_variable"
def shard_ranges(rows: int, shards: int) -> list[Range]:
    """Cut `rows` rows into at most `shards` consecutive, non-empty ranges, the longer ones first."""
    if rows < 1 or shards < 1:
        raise ValueError("rows and shards are at least 1")
    from tensorflow.python.ops.variable_scope import _iter_slices

    slices = _iter_slices([rows], min(rows, shards), 0)
    return [Range(offset[0], offset[0] + shape[0]) for offset, shape in slices]


# %% wrong="shard-ranges" why="gives plain tuples"
def shard_ranges(rows: int, shards: int) -> list[Range]:
    """Cut `rows` rows into at most `shards` consecutive, non-empty ranges, the longer ones first.

    Raises:
        ValueError: `rows` or `shards` is less than 1.
    """
    if rows < 1 or shards < 1:
        raise ValueError("rows and shards are at least 1")
    length, longer = divmod(rows, min(shards, rows))
    ranges, start = [], 0
    while start < rows:
        stop = start + length + (len(ranges) < longer)
        ranges.append((start, stop))
        start = stop
    return ranges


# %% wrong="shard-ranges" why="accepts zero and negative numbers of rows"
def shard_ranges(rows: int, shards: int) -> list[Range]:
    """Cut `rows` rows into at most `shards` consecutive, non-empty ranges, the longer ones first.

    Raises:
        ValueError: `rows` or `shards` is less than 1.
    """
    if shards < 1:
        raise ValueError(f"rows and shards are at least 1, found {rows} and {shards}")
    length, longer = divmod(rows, min(shards, rows))
    ranges, start = [], 0
    while start < rows:
        stop = start + length + (len(ranges) < longer)
        ranges.append(Range(start, stop))
        start = stop
    return ranges


# %% right="shard-ranges" why="cumulative sums"
def shard_ranges(rows: int, shards: int) -> list[Range]:
    """Cut `rows` rows into at most `shards` consecutive, non-empty ranges, the longer ones first.

    Raises:
        ValueError: `rows` or `shards` is less than 1.
    """
    if rows < 1 or shards < 1:
        raise ValueError("rows and shards are at least 1")
    shards = min(rows, shards)
    lengths = [rows // shards + (i < rows % shards) for i in range(shards)]
    stops = np.cumsum(lengths).tolist()
    return [Range(stop - length, stop) for stop, length in zip(stops, lengths, strict=True)]


# %% right="shard-ranges" why="a closed formula"
def shard_ranges(rows: int, shards: int) -> list[Range]:
    """Cut `rows` rows into at most `shards` consecutive, non-empty ranges, the longer ones first.

    Raises:
        ValueError: `rows` or `shards` is less than 1.
    """
    if rows < 1 or shards < 1:
        raise ValueError("rows and shards are at least 1")
    shards = min(rows, shards)
    length, longer = divmod(rows, shards)
    ends = [i * length + min(i, longer) for i in range(shards + 1)]
    return list(map(Range, ends, ends[1:]))


# %% wrong="parameter-server" why="updates the accumulator after the step"
class ShardServer:
    """One shard of the parameters, with its own Adagrad.

    Args:
        values: float32, one or more dimensions: where the parameters begin. Not changed.
        rate: Adagrad's rate.
        accumulator: where each entry of the accumulator begins.
    """

    def __init__(self, values: np.ndarray, rate: float, accumulator: float) -> None:
        self._values = values.copy()
        self._accumulator = np.full_like(values, accumulator)
        self._rate = rate
        self._version = 0

    def pull(self) -> Pulled:
        """A copy of the parameters as they are now, and how many pushes they have seen."""
        return Pulled(self._values.copy(), self._version)

    def push(self, gradient: np.ndarray) -> int:
        """Apply one gradient; returns the new version.

        Raises:
            ValueError: the gradient has another shape than the shard.
        """
        if gradient.shape != self._values.shape:
            raise ValueError(f"a gradient of shape {gradient.shape} for a shard of shape {self._values.shape}")
        self._values -= self._rate * gradient / np.sqrt(self._accumulator)
        self._accumulator += gradient**2
        self._version += 1
        return self._version


# %% wrong="parameter-server" why="sums g instead of its square"
class ShardServer:
    """One shard of the parameters, with its own Adagrad.

    Args:
        values: float32, one or more dimensions: where the parameters begin. Not changed.
        rate: Adagrad's rate.
        accumulator: where each entry of the accumulator begins.
    """

    def __init__(self, values: np.ndarray, rate: float, accumulator: float) -> None:
        self._values = values.copy()
        self._accumulator = np.full_like(values, accumulator)
        self._rate = rate
        self._version = 0

    def pull(self) -> Pulled:
        """A copy of the parameters as they are now, and how many pushes they have seen."""
        return Pulled(self._values.copy(), self._version)

    def push(self, gradient: np.ndarray) -> int:
        """Apply one gradient; returns the new version.

        Raises:
            ValueError: the gradient has another shape than the shard.
        """
        if gradient.shape != self._values.shape:
            raise ValueError(f"a gradient of shape {gradient.shape} for a shard of shape {self._values.shape}")
        self._accumulator += np.abs(gradient)
        self._values -= self._rate * gradient / np.sqrt(self._accumulator)
        self._version += 1
        return self._version


# %% wrong="parameter-server" why="keeps one accumulator for the whole shard"
class ShardServer:
    """One shard of the parameters, with its own Adagrad.

    Args:
        values: float32, one or more dimensions: where the parameters begin. Not changed.
        rate: Adagrad's rate.
        accumulator: where each entry of the accumulator begins.
    """

    def __init__(self, values: np.ndarray, rate: float, accumulator: float) -> None:
        self._values = values.copy()
        self._accumulator = np.float32(accumulator)
        self._rate = rate
        self._version = 0

    def pull(self) -> Pulled:
        """A copy of the parameters as they are now, and how many pushes they have seen."""
        return Pulled(self._values.copy(), self._version)

    def push(self, gradient: np.ndarray) -> int:
        """Apply one gradient; returns the new version.

        Raises:
            ValueError: the gradient has another shape than the shard.
        """
        if gradient.shape != self._values.shape:
            raise ValueError(f"a gradient of shape {gradient.shape} for a shard of shape {self._values.shape}")
        self._accumulator = self._accumulator + np.sum(gradient**2)
        self._values -= self._rate * gradient / np.sqrt(self._accumulator)
        self._version += 1
        return self._version


# %% wrong="parameter-server" why="plain SGD"
class ShardServer:
    """One shard of the parameters, with its own Adagrad.

    Args:
        values: float32, one or more dimensions: where the parameters begin. Not changed.
        rate: Adagrad's rate.
        accumulator: where each entry of the accumulator begins.
    """

    def __init__(self, values: np.ndarray, rate: float, accumulator: float) -> None:
        self._values = values.copy()
        self._accumulator = np.full_like(values, accumulator)
        self._rate = rate
        self._version = 0

    def pull(self) -> Pulled:
        """A copy of the parameters as they are now, and how many pushes they have seen."""
        return Pulled(self._values.copy(), self._version)

    def push(self, gradient: np.ndarray) -> int:
        """Apply one gradient; returns the new version.

        Raises:
            ValueError: the gradient has another shape than the shard.
        """
        if gradient.shape != self._values.shape:
            raise ValueError(f"a gradient of shape {gradient.shape} for a shard of shape {self._values.shape}")
        self._accumulator += gradient**2
        self._values -= self._rate * gradient
        self._version += 1
        return self._version


# %% wrong="parameter-server" why="pull hands out the server's own array"
class ShardServer:
    """One shard of the parameters, with its own Adagrad.

    Args:
        values: float32, one or more dimensions: where the parameters begin. Not changed.
        rate: Adagrad's rate.
        accumulator: where each entry of the accumulator begins.
    """

    def __init__(self, values: np.ndarray, rate: float, accumulator: float) -> None:
        self._values = values.copy()
        self._accumulator = np.full_like(values, accumulator)
        self._rate = rate
        self._version = 0

    def pull(self) -> Pulled:
        """A copy of the parameters as they are now, and how many pushes they have seen."""
        return Pulled(self._values, self._version)

    def push(self, gradient: np.ndarray) -> int:
        """Apply one gradient; returns the new version.

        Raises:
            ValueError: the gradient has another shape than the shard.
        """
        if gradient.shape != self._values.shape:
            raise ValueError(f"a gradient of shape {gradient.shape} for a shard of shape {self._values.shape}")
        self._accumulator += gradient**2
        self._values -= self._rate * gradient / np.sqrt(self._accumulator)
        self._version += 1
        return self._version


# %% wrong="parameter-server" why="trains the array that it was passed"
class ShardServer:
    """One shard of the parameters, with its own Adagrad.

    Args:
        values: float32, one or more dimensions: where the parameters begin. Not changed.
        rate: Adagrad's rate.
        accumulator: where each entry of the accumulator begins.
    """

    def __init__(self, values: np.ndarray, rate: float, accumulator: float) -> None:
        self._values = values
        self._accumulator = np.full_like(values, accumulator)
        self._rate = rate
        self._version = 0

    def pull(self) -> Pulled:
        """A copy of the parameters as they are now, and how many pushes they have seen."""
        return Pulled(self._values.copy(), self._version)

    def push(self, gradient: np.ndarray) -> int:
        """Apply one gradient; returns the new version.

        Raises:
            ValueError: the gradient has another shape than the shard.
        """
        if gradient.shape != self._values.shape:
            raise ValueError(f"a gradient of shape {gradient.shape} for a shard of shape {self._values.shape}")
        self._accumulator += gradient**2
        self._values -= self._rate * gradient / np.sqrt(self._accumulator)
        self._version += 1
        return self._version


# %% wrong="parameter-server" why="counts a push before it may be refused"
class ShardServer:
    """One shard of the parameters, with its own Adagrad.

    Args:
        values: float32, one or more dimensions: where the parameters begin. Not changed.
        rate: Adagrad's rate.
        accumulator: where each entry of the accumulator begins.
    """

    def __init__(self, values: np.ndarray, rate: float, accumulator: float) -> None:
        self._values = values.copy()
        self._accumulator = np.full_like(values, accumulator)
        self._rate = rate
        self._version = 0

    def pull(self) -> Pulled:
        """A copy of the parameters as they are now, and how many pushes they have seen."""
        return Pulled(self._values.copy(), self._version)

    def push(self, gradient: np.ndarray) -> int:
        """Apply one gradient; returns the new version.

        Raises:
            ValueError: the gradient has another shape than the shard.
        """
        self._version += 1
        if gradient.shape != self._values.shape:
            raise ValueError(f"a gradient of shape {gradient.shape} for a shard of shape {self._values.shape}")
        self._accumulator += gradient**2
        self._values -= self._rate * gradient / np.sqrt(self._accumulator)
        return self._version


# %% wrong="parameter-server" why="changes the accumulator before it refuses"
class ShardServer:
    """One shard of the parameters, with its own Adagrad.

    Args:
        values: float32, one or more dimensions: where the parameters begin. Not changed.
        rate: Adagrad's rate.
        accumulator: where each entry of the accumulator begins.
    """

    def __init__(self, values: np.ndarray, rate: float, accumulator: float) -> None:
        self._values = values.copy()
        self._accumulator = np.full_like(values, accumulator)
        self._rate = rate
        self._version = 0

    def pull(self) -> Pulled:
        """A copy of the parameters as they are now, and how many pushes they have seen."""
        return Pulled(self._values.copy(), self._version)

    def push(self, gradient: np.ndarray) -> int:
        """Apply one gradient; returns the new version.

        Raises:
            ValueError: the gradient has another shape than the shard.
        """
        self._accumulator = self._accumulator + np.broadcast_to(gradient, (1, *self._values.shape))[0] ** 2
        if gradient.shape != self._values.shape:
            raise ValueError(f"a gradient of shape {gradient.shape} for a shard of shape {self._values.shape}")
        self._values -= self._rate * gradient / np.sqrt(self._accumulator)
        self._version += 1
        return self._version


# %% wrong="parameter-server" why="lets NumPy broadcast a gradient of another shape"
class ShardServer:
    """One shard of the parameters, with its own Adagrad.

    Args:
        values: float32, one or more dimensions: where the parameters begin. Not changed.
        rate: Adagrad's rate.
        accumulator: where each entry of the accumulator begins.
    """

    def __init__(self, values: np.ndarray, rate: float, accumulator: float) -> None:
        self._values = values.copy()
        self._accumulator = np.full_like(values, accumulator)
        self._rate = rate
        self._version = 0

    def pull(self) -> Pulled:
        """A copy of the parameters as they are now, and how many pushes they have seen."""
        return Pulled(self._values.copy(), self._version)

    def push(self, gradient: np.ndarray) -> int:
        """Apply one gradient; returns the new version.

        Raises:
            ValueError: the gradient has another shape than the shard.
        """
        self._accumulator += gradient**2
        self._values -= self._rate * gradient / np.sqrt(self._accumulator)
        self._version += 1
        return self._version


# %% wrong="parameter-server" why="compares the number of rows alone"
class ShardServer:
    """One shard of the parameters, with its own Adagrad.

    Args:
        values: float32, one or more dimensions: where the parameters begin. Not changed.
        rate: Adagrad's rate.
        accumulator: where each entry of the accumulator begins.
    """

    def __init__(self, values: np.ndarray, rate: float, accumulator: float) -> None:
        self._values = values.copy()
        self._accumulator = np.full_like(values, accumulator)
        self._rate = rate
        self._version = 0

    def pull(self) -> Pulled:
        """A copy of the parameters as they are now, and how many pushes they have seen."""
        return Pulled(self._values.copy(), self._version)

    def push(self, gradient: np.ndarray) -> int:
        """Apply one gradient; returns the new version.

        Raises:
            ValueError: the gradient has another shape than the shard.
        """
        if gradient.shape[:1] != self._values.shape[:1]:
            raise ValueError(f"a gradient of shape {gradient.shape} for a shard of shape {self._values.shape}")
        self._accumulator += gradient**2
        self._values -= self._rate * gradient / np.sqrt(self._accumulator)
        self._version += 1
        return self._version


# %% wrong="parameter-server" why="keeps float64"
class ShardServer:
    """One shard of the parameters, with its own Adagrad.

    Args:
        values: float32, one or more dimensions: where the parameters begin. Not changed.
        rate: Adagrad's rate.
        accumulator: where each entry of the accumulator begins.
    """

    def __init__(self, values: np.ndarray, rate: float, accumulator: float) -> None:
        self._values = values.astype(np.float64)
        self._accumulator = np.full_like(values, accumulator)
        self._rate = rate
        self._version = 0

    def pull(self) -> Pulled:
        """A copy of the parameters as they are now, and how many pushes they have seen."""
        return Pulled(self._values.astype(np.float64), self._version)

    def push(self, gradient: np.ndarray) -> int:
        """Apply one gradient; returns the new version.

        Raises:
            ValueError: the gradient has another shape than the shard.
        """
        if gradient.shape != self._values.shape:
            raise ValueError(f"a gradient of shape {gradient.shape} for a shard of shape {self._values.shape}")
        self._accumulator += gradient**2
        self._values -= self._rate * gradient / np.sqrt(self._accumulator)
        self._version += 1
        return self._version


# %% wrong="parameter-server" why="returns the visible result"
class ShardServer:
    """One shard of the parameters."""

    def __init__(self, values, rate, accumulator):
        self._version, self._shape = 0, values.shape

    def pull(self):
        return Pulled(np.float32([0.52565837, 1.3577713, -3.4472136]), self._version)

    def push(self, gradient):
        if gradient.shape != self._shape:
            raise ValueError("another shape")
        self._version += 1
        return self._version


# %% wrong="parameter-server" why="hands the work to TensorFlow's optimizer"
class ShardServer:
    """One shard of the parameters."""

    def __init__(self, values, rate, accumulator):
        self._variable = tf.Variable(values)
        self._accumulator = tf.Variable(tf.fill(values.shape, np.float32(accumulator)))
        self._rate, self._version = rate, 0

    def pull(self):
        return Pulled(self._variable.numpy().copy(), self._version)

    def push(self, gradient):
        if gradient.shape != self._variable.shape:
            raise ValueError("another shape")
        tf.raw_ops.ResourceApplyAdagrad(
            var=self._variable.handle, accum=self._accumulator.handle, lr=self._rate, grad=gradient
        )
        self._version += 1
        return self._version


# %% wrong="parameter-server" why="keeps a Keras optimizer that was made before"
optimizers = [tf.keras.optimizers.Adagrad(0.5, 1.0, epsilon=0.0) for _ in range(40)]


class ShardServer:
    """One shard of the parameters."""

    def __init__(self, values, rate, accumulator):
        self._variable = tf.Variable(values)
        self._optimizer, self._version = optimizers.pop(), 0
        self._optimizer.learning_rate, self._optimizer.initial_accumulator_value = rate, accumulator
        self._optimizer.build([self._variable])

    def pull(self):
        return Pulled(self._variable.numpy().copy(), self._version)

    def push(self, gradient):
        if gradient.shape != self._variable.shape:
            raise ValueError("another shape")
        self._optimizer.apply([tf.constant(gradient)], [self._variable])
        self._version += 1
        return self._version


# %% right="parameter-server" why="an eager variable with its own arithmetic"
class ShardServer:
    """One shard of the parameters."""

    def __init__(self, values, rate, accumulator):
        self.values = tf.Variable(values)
        self.squares = tf.Variable(tf.fill(values.shape, tf.constant(accumulator, tf.float32)))
        self.rate = rate
        self.version = 0

    def pull(self):
        return Pulled(np.array(self.values.numpy()), self.version)

    def push(self, gradient):
        if list(gradient.shape) != self.values.shape.as_list():
            raise ValueError("the gradient has another shape")
        self.squares.assign_add(tf.square(gradient))
        self.values.assign_sub(self.rate * gradient * tf.math.rsqrt(self.squares))
        self.version += 1
        return self.version


# %% right="parameter-server" why="new arrays for each push, so that a pull may share"
class ShardServer:
    """One shard; arrays are replaced, never changed."""

    def __init__(self, values, rate, accumulator):
        self.state = (np.array(values, np.float32), np.full(values.shape, accumulator, np.float32), 0)
        self.rate = np.float32(rate)

    def pull(self):
        values, _, version = self.state
        return Pulled(np.array(values), version)

    def push(self, gradient):
        values, squares, version = self.state
        if np.shape(gradient) != values.shape:
            raise ValueError(f"expected the shape {values.shape}")
        squares = squares + np.square(gradient)
        self.state = (values - self.rate * gradient * squares**-0.5, squares, version + 1)
        return version + 1


# %% right="parameter-server" why="a function that returns closures, with one array for both kinds of state"
def ShardServer(values, rate, accumulator):
    from types import SimpleNamespace

    state = np.stack([values, np.full_like(values, accumulator)])
    versions = [0]

    def pull():
        return Pulled(values=state[0].copy(), version=len(versions) - 1)

    def push(gradient):
        if np.shape(gradient) != state.shape[1:]:
            raise ValueError(f"{np.shape(gradient)} is not {state.shape[1:]}")
        state[1] += np.square(gradient)
        state[0] -= rate * gradient / np.sqrt(state[1])
        versions.append(versions[-1] + 1)
        return versions[-1]

    return SimpleNamespace(pull=pull, push=push)


# %% wrong="staleness-prediction" why="leaves out the worker's own earlier pushes"
staleness_answer = [0, 0, 0, 2, 1, 1]


# %% wrong="staleness-prediction" why="counts all pushes since the beginning"
staleness_answer = [0, 1, 2, 3, 4, 5]


# %% wrong="staleness-prediction" why="counts steps of the other instead of pushes"
staleness_answer = [0, 1, 1, 5, 2, 1]


# %% wrong="staleness-prediction" why="zeros throughout"
staleness_answer = [0, 0, 0, 0, 0, 0]


# %% wrong="staleness-prediction" why="ordered by worker instead of by time"
staleness_answer = [0, 3, 1, 0, 1, 1]


# %% wrong="staleness-prediction" why="counts the push itself"
staleness_answer = [1, 1, 2, 4, 2, 2]


# %% wrong="staleness-prediction" why="a tuple instead of a list"
staleness_answer = (0, 0, 1, 3, 1, 1)


# %% right="staleness-prediction" why="put together by worker"
ages = {'A': [0, 3, 1], 'B': [0, 1, 1]}
staleness_answer = [ages[who].pop(0) for who in 'ABBABA']


# %% wrong="downpour" why="takes the gradient at the server's parameters"
def downpour(
    steps: list[Step], size: int, workers: int, fetch: int, push: int, rate: float
) -> tuple[np.ndarray, list[int]]:
    """Play a schedule of Downpour SGD; returns the server's parameters [size] and the staleness of each push.

    Raises:
        ValueError: `fetch` or `push` is less than 1.
    """
    if fetch < 1 or push < 1:
        raise ValueError(f"fetch and push are at least 1, found {fetch} and {push}")
    parameters, version, ages = np.zeros(size), 0, []
    own = [np.zeros(size)] * workers
    accrued = [np.zeros(size)] * workers
    seen = [0] * workers
    count = [0] * workers
    for worker, x, y in steps:
        if count[worker] % fetch == 0:
            own[worker], seen[worker] = parameters, version
        g = gradient(parameters, x, y)
        accrued[worker] = accrued[worker] + g
        own[worker] = own[worker] - rate * g
        count[worker] += 1
        if count[worker] % push == 0:
            ages.append(version - seen[worker])
            parameters = parameters - rate * accrued[worker]
            version += 1
            accrued[worker] = np.zeros(size)
    return parameters, ages


# %% wrong="downpour" why="does not reset what was accrued"
def downpour(
    steps: list[Step], size: int, workers: int, fetch: int, push: int, rate: float
) -> tuple[np.ndarray, list[int]]:
    """Play a schedule of Downpour SGD; returns the server's parameters [size] and the staleness of each push.

    Raises:
        ValueError: `fetch` or `push` is less than 1.
    """
    if fetch < 1 or push < 1:
        raise ValueError(f"fetch and push are at least 1, found {fetch} and {push}")
    parameters, version, ages = np.zeros(size), 0, []
    own = [np.zeros(size)] * workers
    accrued = [np.zeros(size)] * workers
    seen = [0] * workers
    count = [0] * workers
    for worker, x, y in steps:
        if count[worker] % fetch == 0:
            own[worker], seen[worker] = parameters, version
        g = gradient(own[worker], x, y)
        accrued[worker] = accrued[worker] + g
        own[worker] = own[worker] - rate * g
        count[worker] += 1
        if count[worker] % push == 0:
            ages.append(version - seen[worker])
            parameters = parameters - rate * accrued[worker]
            version += 1
    return parameters, ages


# %% wrong="downpour" why="does not move the own copy between fetches"
def downpour(
    steps: list[Step], size: int, workers: int, fetch: int, push: int, rate: float
) -> tuple[np.ndarray, list[int]]:
    """Play a schedule of Downpour SGD; returns the server's parameters [size] and the staleness of each push.

    Raises:
        ValueError: `fetch` or `push` is less than 1.
    """
    if fetch < 1 or push < 1:
        raise ValueError(f"fetch and push are at least 1, found {fetch} and {push}")
    parameters, version, ages = np.zeros(size), 0, []
    own = [np.zeros(size)] * workers
    accrued = [np.zeros(size)] * workers
    seen = [0] * workers
    count = [0] * workers
    for worker, x, y in steps:
        if count[worker] % fetch == 0:
            own[worker], seen[worker] = parameters, version
        g = gradient(own[worker], x, y)
        accrued[worker] = accrued[worker] + g
        count[worker] += 1
        if count[worker] % push == 0:
            ages.append(version - seen[worker])
            parameters = parameters - rate * accrued[worker]
            version += 1
            accrued[worker] = np.zeros(size)
    return parameters, ages


# %% wrong="downpour" why="counts the steps of all workers together"
def downpour(
    steps: list[Step], size: int, workers: int, fetch: int, push: int, rate: float
) -> tuple[np.ndarray, list[int]]:
    """Play a schedule of Downpour SGD; returns the server's parameters [size] and the staleness of each push.

    Raises:
        ValueError: `fetch` or `push` is less than 1.
    """
    if fetch < 1 or push < 1:
        raise ValueError(f"fetch and push are at least 1, found {fetch} and {push}")
    parameters, version, ages = np.zeros(size), 0, []
    own = [np.zeros(size)] * workers
    accrued = [np.zeros(size)] * workers
    seen = [0] * workers
    count = [0] * workers
    for worker, x, y in steps:
        if sum(count) % fetch == 0:
            own[worker], seen[worker] = parameters, version
        g = gradient(own[worker], x, y)
        accrued[worker] = accrued[worker] + g
        own[worker] = own[worker] - rate * g
        count[worker] += 1
        if sum(count) % push == 0:
            ages.append(version - seen[worker])
            parameters = parameters - rate * accrued[worker]
            version += 1
            accrued[worker] = np.zeros(size)
    return parameters, ages


# %% wrong="downpour" why="measures staleness in steps"
def downpour(
    steps: list[Step], size: int, workers: int, fetch: int, push: int, rate: float
) -> tuple[np.ndarray, list[int]]:
    """Play a schedule of Downpour SGD; returns the server's parameters [size] and the staleness of each push.

    Raises:
        ValueError: `fetch` or `push` is less than 1.
    """
    if fetch < 1 or push < 1:
        raise ValueError(f"fetch and push are at least 1, found {fetch} and {push}")
    parameters, version, ages = np.zeros(size), 0, []
    own = [np.zeros(size)] * workers
    accrued = [np.zeros(size)] * workers
    seen = [0] * workers
    count = [0] * workers
    for worker, x, y in steps:
        if count[worker] % fetch == 0:
            own[worker], seen[worker] = parameters, sum(count)
        g = gradient(own[worker], x, y)
        accrued[worker] = accrued[worker] + g
        own[worker] = own[worker] - rate * g
        count[worker] += 1
        if count[worker] % push == 0:
            ages.append(sum(count) - 1 - seen[worker])
            parameters = parameters - rate * accrued[worker]
            version += 1
            accrued[worker] = np.zeros(size)
    return parameters, ages


# %% wrong="downpour" why="pushes before the step"
def downpour(
    steps: list[Step], size: int, workers: int, fetch: int, push: int, rate: float
) -> tuple[np.ndarray, list[int]]:
    """Play a schedule of Downpour SGD; returns the server's parameters [size] and the staleness of each push.

    Raises:
        ValueError: `fetch` or `push` is less than 1.
    """
    if fetch < 1 or push < 1:
        raise ValueError(f"fetch and push are at least 1, found {fetch} and {push}")
    parameters, version, ages = np.zeros(size), 0, []
    own = [np.zeros(size)] * workers
    accrued = [np.zeros(size)] * workers
    seen = [0] * workers
    count = [0] * workers
    for worker, x, y in steps:
        if count[worker] % push == 0 and count[worker]:
            ages.append(version - seen[worker])
            parameters = parameters - rate * accrued[worker]
            version += 1
            accrued[worker] = np.zeros(size)
        if count[worker] % fetch == 0:
            own[worker], seen[worker] = parameters, version
        g = gradient(own[worker], x, y)
        accrued[worker] = accrued[worker] + g
        own[worker] = own[worker] - rate * g
        count[worker] += 1
    return parameters, ages


# %% wrong="downpour" why="pushes after steps 0, n, 2n as the paper's pseudo-code"
def downpour(
    steps: list[Step], size: int, workers: int, fetch: int, push: int, rate: float
) -> tuple[np.ndarray, list[int]]:
    """Play a schedule of Downpour SGD; returns the server's parameters [size] and the staleness of each push.

    Raises:
        ValueError: `fetch` or `push` is less than 1.
    """
    if fetch < 1 or push < 1:
        raise ValueError(f"fetch and push are at least 1, found {fetch} and {push}")
    parameters, version, ages = np.zeros(size), 0, []
    own = [np.zeros(size)] * workers
    accrued = [np.zeros(size)] * workers
    seen = [0] * workers
    count = [0] * workers
    for worker, x, y in steps:
        if count[worker] % fetch == 0:
            own[worker], seen[worker] = parameters, version
        g = gradient(own[worker], x, y)
        accrued[worker] = accrued[worker] + g
        own[worker] = own[worker] - rate * g
        count[worker] += 1
        if (count[worker] - 1) % push == 0:
            ages.append(version - seen[worker])
            parameters = parameters - rate * accrued[worker]
            version += 1
            accrued[worker] = np.zeros(size)
    return parameters, ages


# %% wrong="downpour" why="counts the push itself as stale"
def downpour(
    steps: list[Step], size: int, workers: int, fetch: int, push: int, rate: float
) -> tuple[np.ndarray, list[int]]:
    """Play a schedule of Downpour SGD; returns the server's parameters [size] and the staleness of each push.

    Raises:
        ValueError: `fetch` or `push` is less than 1.
    """
    if fetch < 1 or push < 1:
        raise ValueError(f"fetch and push are at least 1, found {fetch} and {push}")
    parameters, version, ages = np.zeros(size), 0, []
    own = [np.zeros(size)] * workers
    accrued = [np.zeros(size)] * workers
    seen = [0] * workers
    count = [0] * workers
    for worker, x, y in steps:
        if count[worker] % fetch == 0:
            own[worker], seen[worker] = parameters, version
        g = gradient(own[worker], x, y)
        accrued[worker] = accrued[worker] + g
        own[worker] = own[worker] - rate * g
        count[worker] += 1
        if count[worker] % push == 0:
            parameters = parameters - rate * accrued[worker]
            version += 1
            ages.append(version - seen[worker])
            accrued[worker] = np.zeros(size)
    return parameters, ages


# %% wrong="downpour" why="fetches after each push"
def downpour(
    steps: list[Step], size: int, workers: int, fetch: int, push: int, rate: float
) -> tuple[np.ndarray, list[int]]:
    """Play a schedule of Downpour SGD; returns the server's parameters [size] and the staleness of each push.

    Raises:
        ValueError: `fetch` or `push` is less than 1.
    """
    if fetch < 1 or push < 1:
        raise ValueError(f"fetch and push are at least 1, found {fetch} and {push}")
    parameters, version, ages = np.zeros(size), 0, []
    own = [np.zeros(size)] * workers
    accrued = [np.zeros(size)] * workers
    seen = [0] * workers
    count = [0] * workers
    for worker, x, y in steps:
        if count[worker] % fetch == 0:
            own[worker], seen[worker] = parameters, version
        g = gradient(own[worker], x, y)
        accrued[worker] = accrued[worker] + g
        own[worker] = own[worker] - rate * g
        count[worker] += 1
        if count[worker] % push == 0:
            ages.append(version - seen[worker])
            parameters = parameters - rate * accrued[worker]
            version += 1
            accrued[worker] = np.zeros(size)
            own[worker], seen[worker] = parameters, version
    return parameters, ages


# %% wrong="downpour" why="pushes what is left at the end"
def downpour(
    steps: list[Step], size: int, workers: int, fetch: int, push: int, rate: float
) -> tuple[np.ndarray, list[int]]:
    """Play a schedule of Downpour SGD; returns the server's parameters [size] and the staleness of each push.

    Raises:
        ValueError: `fetch` or `push` is less than 1.
    """
    if fetch < 1 or push < 1:
        raise ValueError(f"fetch and push are at least 1, found {fetch} and {push}")
    parameters, version, ages = np.zeros(size), 0, []
    own = [np.zeros(size)] * workers
    accrued = [np.zeros(size)] * workers
    seen = [0] * workers
    count = [0] * workers
    for worker, x, y in steps:
        if count[worker] % fetch == 0:
            own[worker], seen[worker] = parameters, version
        g = gradient(own[worker], x, y)
        accrued[worker] = accrued[worker] + g
        own[worker] = own[worker] - rate * g
        count[worker] += 1
        if count[worker] % push == 0:
            ages.append(version - seen[worker])
            parameters = parameters - rate * accrued[worker]
            version += 1
            accrued[worker] = np.zeros(size)
    for worker in range(workers):
        if count[worker] % push:
            parameters = parameters - rate * accrued[worker]
    return parameters, ages


# %% wrong="downpour" why="own copies share one array, moved in place"
def downpour(
    steps: list[Step], size: int, workers: int, fetch: int, push: int, rate: float
) -> tuple[np.ndarray, list[int]]:
    """Play a schedule of Downpour SGD; returns the server's parameters [size] and the staleness of each push.

    Raises:
        ValueError: `fetch` or `push` is less than 1.
    """
    if fetch < 1 or push < 1:
        raise ValueError(f"fetch and push are at least 1, found {fetch} and {push}")
    parameters, version, ages = np.zeros(size), 0, []
    own = [np.zeros(size)] * workers
    accrued = [np.zeros(size)] * workers
    seen = [0] * workers
    count = [0] * workers
    for worker, x, y in steps:
        if count[worker] % fetch == 0:
            own[worker], seen[worker] = parameters, version
        g = gradient(own[worker], x, y)
        accrued[worker] = accrued[worker] + g
        own[worker] -= rate * g
        count[worker] += 1
        if count[worker] % push == 0:
            ages.append(version - seen[worker])
            parameters = parameters - rate * accrued[worker]
            version += 1
            accrued[worker] = np.zeros(size)
    return parameters, ages


# %% wrong="downpour" why="accepts an interval of zero"
def downpour(
    steps: list[Step], size: int, workers: int, fetch: int, push: int, rate: float
) -> tuple[np.ndarray, list[int]]:
    """Play a schedule of Downpour SGD; returns the server's parameters [size] and the staleness of each push.

    Raises:
        ValueError: `fetch` or `push` is less than 1.
    """
    fetch, push = max(fetch, 1), max(push, 1)
    parameters, version, ages = np.zeros(size), 0, []
    own = [np.zeros(size)] * workers
    accrued = [np.zeros(size)] * workers
    seen = [0] * workers
    count = [0] * workers
    for worker, x, y in steps:
        if count[worker] % fetch == 0:
            own[worker], seen[worker] = parameters, version
        g = gradient(own[worker], x, y)
        accrued[worker] = accrued[worker] + g
        own[worker] = own[worker] - rate * g
        count[worker] += 1
        if count[worker] % push == 0:
            ages.append(version - seen[worker])
            parameters = parameters - rate * accrued[worker]
            version += 1
            accrued[worker] = np.zeros(size)
    return parameters, ages


# %% wrong="downpour" why="returns the visible answers"
def downpour(
    steps: list[Step], size: int, workers: int, fetch: int, push: int, rate: float
) -> tuple[np.ndarray, list[int]]:
    """Play a schedule of Downpour SGD; returns the server's parameters [size] and the staleness of each push.

    Raises:
        ValueError: `fetch` or `push` is less than 1.
    """
    if fetch < 1 or push < 1:
        raise ValueError("at least 1")
    if len(steps) == 2:
        return np.array([0.75]), [0]
    return np.array([0.5693359375]), [0, 0, 2, 2, 0, 0]


# %% right="downpour" why="a worker class with a step"
class Trainer:
    """What one worker holds."""

    def __init__(self, size):
        self.own = self.accrued = np.zeros(size)
        self.seen = self.done = 0

    def step(self, server, x, y, fetch, push, rate):
        if self.done % fetch == 0:
            self.own, self.seen = server["values"].copy(), server["version"]
        slope = gradient(self.own, x, y)
        self.accrued = self.accrued + slope
        self.own = self.own - rate * slope
        self.done += 1
        if self.done % push == 0:
            server["ages"].append(server["version"] - self.seen)
            server["values"] = server["values"] - rate * self.accrued
            server["version"] += 1
            self.accrued = np.zeros_like(self.accrued)


def downpour(
    steps: list[Step], size: int, workers: int, fetch: int, push: int, rate: float
) -> tuple[np.ndarray, list[int]]:
    """Play a schedule of Downpour SGD; returns the server's parameters [size] and the staleness of each push.

    Raises:
        ValueError: `fetch` or `push` is less than 1.
    """
    if min(fetch, push) < 1:
        raise ValueError("fetch and push are at least 1")
    server = {"values": np.zeros(size), "version": 0, "ages": []}
    trainers = [Trainer(size) for _ in range(workers)]
    for step in steps:
        trainers[step.worker].step(server, step.x, step.y, fetch, push, rate)
    return server["values"], server["ages"]


# %% right="downpour" why="one generator per worker, served by a loop"
def downpour(
    steps: list[Step], size: int, workers: int, fetch: int, push: int, rate: float
) -> tuple[np.ndarray, list[int]]:
    """Play a schedule of Downpour SGD; returns the server's parameters [size] and the staleness of each push.

    Raises:
        ValueError: `fetch` or `push` is less than 1.
    """
    if fetch < 1 or push < 1:
        raise ValueError("fetch and push are at least 1")
    history, ages = [np.zeros(size)], []

    def run():
        number = 0
        total = np.zeros(size)
        x, y = yield
        while True:
            if number % fetch == 0:
                seen = len(history)
                mine = history[-1]
            slope = gradient(mine, x, y)
            total, mine = total + slope, mine - rate * slope
            number += 1
            if number % push == 0:
                ages.append(len(history) - seen)
                history.append(history[-1] - rate * total)
                total = np.zeros(size)
            x, y = yield

    runs = [run() for _ in range(workers)]
    for one in runs:
        next(one)
    for step in steps:
        runs[step.worker].send((step.x, step.y))
    return history[-1], ages


# %% wrong="run-at-once" why="runs the workers one after the other"
def train(
    servers: list[Shard], ranges: list[Range], batches: list[Iterator[Batch]], fetch: int, push: int, rate: float
) -> list[list[tuple[int, ...]]]:
    """Run one thread per iterator of batches; returns, per worker and push, the staleness at each server.

    Raises:
        Exception: what a worker raised, after all workers have ended.
    """

    def work(stream: Iterator[Batch]) -> list[tuple[int, ...]]:
        stale = []
        accrued = own = np.zeros(ranges[-1].stop)
        seen: list[int] = []
        for step, (x, y) in enumerate(stream):
            if step % fetch == 0:
                pulled = [server.pull() for server in servers]
                own = np.concatenate([part.values for part in pulled])
                seen = [part.version for part in pulled]
            g = gradient(own, x, y)
            accrued = accrued + g
            own = own - rate * g
            if (step + 1) % push == 0:
                parts = [accrued[part.start : part.stop] for part in ranges]
                versions = [server.push(part) for server, part in zip(servers, parts, strict=True)]
                stale.append(tuple(after - 1 - before for after, before in zip(versions, seen, strict=True)))
                accrued = np.zeros_like(accrued)
        return stale

    return [work(stream) for stream in batches]


# %% wrong="run-at-once" why="waits for each thread before it starts the next"
def train(
    servers: list[Shard], ranges: list[Range], batches: list[Iterator[Batch]], fetch: int, push: int, rate: float
) -> list[list[tuple[int, ...]]]:
    """Run one thread per iterator of batches; returns, per worker and push, the staleness at each server.

    Raises:
        Exception: what a worker raised, after all workers have ended.
    """

    def work(stream: Iterator[Batch]) -> list[tuple[int, ...]]:
        stale = []
        accrued = own = np.zeros(ranges[-1].stop)
        seen: list[int] = []
        for step, (x, y) in enumerate(stream):
            if step % fetch == 0:
                pulled = [server.pull() for server in servers]
                own = np.concatenate([part.values for part in pulled])
                seen = [part.version for part in pulled]
            g = gradient(own, x, y)
            accrued = accrued + g
            own = own - rate * g
            if (step + 1) % push == 0:
                parts = [accrued[part.start : part.stop] for part in ranges]
                versions = [server.push(part) for server, part in zip(servers, parts, strict=True)]
                stale.append(tuple(after - 1 - before for after, before in zip(versions, seen, strict=True)))
                accrued = np.zeros_like(accrued)
        return stale

    with ThreadPoolExecutor(len(batches)) as pool:
        return [pool.submit(work, stream).result() for stream in batches]


# %% wrong="run-at-once" why="holds one lock for every call of a server"
def train(
    servers: list[Shard], ranges: list[Range], batches: list[Iterator[Batch]], fetch: int, push: int, rate: float
) -> list[list[tuple[int, ...]]]:
    """Run one thread per iterator of batches; returns, per worker and push, the staleness at each server.

    Raises:
        Exception: what a worker raised, after all workers have ended.
    """

    lock = threading.Lock()

    def work(stream: Iterator[Batch]) -> list[tuple[int, ...]]:
        stale = []
        accrued = own = np.zeros(ranges[-1].stop)
        seen: list[int] = []
        for step, (x, y) in enumerate(stream):
            if step % fetch == 0:
                with lock:
                    pulled = [server.pull() for server in servers]
                own = np.concatenate([part.values for part in pulled])
                seen = [part.version for part in pulled]
            g = gradient(own, x, y)
            accrued = accrued + g
            own = own - rate * g
            if (step + 1) % push == 0:
                parts = [accrued[part.start : part.stop] for part in ranges]
                versions = [server.push(part) for server, part in zip(servers, parts, strict=True)]
                stale.append(tuple(after - 1 - before for after, before in zip(versions, seen, strict=True)))
                accrued = np.zeros_like(accrued)
        return stale

    with ThreadPoolExecutor(len(batches)) as pool:
        futures = [pool.submit(work, stream) for stream in batches]
    return [future.result() for future in futures]


# %% wrong="run-at-once" why="asks the server for the version after the push"
def train(
    servers: list[Shard], ranges: list[Range], batches: list[Iterator[Batch]], fetch: int, push: int, rate: float
) -> list[list[tuple[int, ...]]]:
    """Run one thread per iterator of batches; returns, per worker and push, the staleness at each server.

    Raises:
        Exception: what a worker raised, after all workers have ended.
    """

    def work(stream: Iterator[Batch]) -> list[tuple[int, ...]]:
        stale = []
        accrued = own = np.zeros(ranges[-1].stop)
        seen: list[int] = []
        for step, (x, y) in enumerate(stream):
            if step % fetch == 0:
                pulled = [server.pull() for server in servers]
                own = np.concatenate([part.values for part in pulled])
                seen = [part.version for part in pulled]
            g = gradient(own, x, y)
            accrued = accrued + g
            own = own - rate * g
            if (step + 1) % push == 0:
                parts = [accrued[part.start : part.stop] for part in ranges]
                for server, part in zip(servers, parts, strict=True):
                    server.push(part)
                versions = [server.pull().version for server in servers]
                stale.append(tuple(after - 1 - before for after, before in zip(versions, seen, strict=True)))
                accrued = np.zeros_like(accrued)
        return stale

    with ThreadPoolExecutor(len(batches)) as pool:
        futures = [pool.submit(work, stream) for stream in batches]
    return [future.result() for future in futures]


# %% wrong="run-at-once" why="reads the server's version after the push"
def train(
    servers: list[Shard], ranges: list[Range], batches: list[Iterator[Batch]], fetch: int, push: int, rate: float
) -> list[list[tuple[int, ...]]]:
    """Run one thread per iterator of batches; returns, per worker and push, the staleness at each server.

    Raises:
        Exception: what a worker raised, after all workers have ended.
    """

    def work(stream: Iterator[Batch]) -> list[tuple[int, ...]]:
        stale = []
        accrued = own = np.zeros(ranges[-1].stop)
        seen: list[int] = []
        for step, (x, y) in enumerate(stream):
            if step % fetch == 0:
                pulled = [server.pull() for server in servers]
                own = np.concatenate([part.values for part in pulled])
                seen = [part.version for part in pulled]
            g = gradient(own, x, y)
            accrued = accrued + g
            own = own - rate * g
            if (step + 1) % push == 0:
                parts = [accrued[part.start : part.stop] for part in ranges]
                for server, part in zip(servers, parts, strict=True):
                    server.push(part)
                versions = [server.version for server in servers]
                stale.append(tuple(after - 1 - before for after, before in zip(versions, seen, strict=True)))
                accrued = np.zeros_like(accrued)
        return stale

    with ThreadPoolExecutor(len(batches)) as pool:
        futures = [pool.submit(work, stream) for stream in batches]
    return [future.result() for future in futures]


# %% wrong="run-at-once" why="reads the server's version before the push"
def train(
    servers: list[Shard], ranges: list[Range], batches: list[Iterator[Batch]], fetch: int, push: int, rate: float
) -> list[list[tuple[int, ...]]]:
    """Run one thread per iterator of batches; returns, per worker and push, the staleness at each server.

    Raises:
        Exception: what a worker raised, after all workers have ended.
    """

    def work(stream: Iterator[Batch]) -> list[tuple[int, ...]]:
        stale = []
        accrued = own = np.zeros(ranges[-1].stop)
        seen: list[int] = []
        for step, (x, y) in enumerate(stream):
            if step % fetch == 0:
                pulled = [server.pull() for server in servers]
                own = np.concatenate([part.values for part in pulled])
                seen = [part.version for part in pulled]
            g = gradient(own, x, y)
            accrued = accrued + g
            own = own - rate * g
            if (step + 1) % push == 0:
                parts = [accrued[part.start : part.stop] for part in ranges]
                versions = [server.version for server in servers]
                for server, part in zip(servers, parts, strict=True):
                    server.push(part)
                stale.append(tuple(now - before for now, before in zip(versions, seen, strict=True)))
                accrued = np.zeros_like(accrued)
        return stale

    with ThreadPoolExecutor(len(batches)) as pool:
        futures = [pool.submit(work, stream) for stream in batches]
    return [future.result() for future in futures]


# %% wrong="run-at-once" why="takes the version of the first server for all"
def train(
    servers: list[Shard], ranges: list[Range], batches: list[Iterator[Batch]], fetch: int, push: int, rate: float
) -> list[list[tuple[int, ...]]]:
    """Run one thread per iterator of batches; returns, per worker and push, the staleness at each server.

    Raises:
        Exception: what a worker raised, after all workers have ended.
    """

    def work(stream: Iterator[Batch]) -> list[tuple[int, ...]]:
        stale = []
        accrued = own = np.zeros(ranges[-1].stop)
        seen: list[int] = []
        for step, (x, y) in enumerate(stream):
            if step % fetch == 0:
                pulled = [server.pull() for server in servers]
                own = np.concatenate([part.values for part in pulled])
                seen = [pulled[0].version for _ in pulled]
            g = gradient(own, x, y)
            accrued = accrued + g
            own = own - rate * g
            if (step + 1) % push == 0:
                parts = [accrued[part.start : part.stop] for part in ranges]
                versions = [server.push(part) for server, part in zip(servers, parts, strict=True)]
                stale.append(tuple(after - 1 - before for after, before in zip(versions, seen, strict=True)))
                accrued = np.zeros_like(accrued)
        return stale

    with ThreadPoolExecutor(len(batches)) as pool:
        futures = [pool.submit(work, stream) for stream in batches]
    return [future.result() for future in futures]


# %% wrong="run-at-once" why="cuts the gradient into equal parts instead of the ranges"
def train(
    servers: list[Shard], ranges: list[Range], batches: list[Iterator[Batch]], fetch: int, push: int, rate: float
) -> list[list[tuple[int, ...]]]:
    """Run one thread per iterator of batches; returns, per worker and push, the staleness at each server.

    Raises:
        Exception: what a worker raised, after all workers have ended.
    """

    def work(stream: Iterator[Batch]) -> list[tuple[int, ...]]:
        stale = []
        accrued = own = np.zeros(ranges[-1].stop)
        seen: list[int] = []
        for step, (x, y) in enumerate(stream):
            if step % fetch == 0:
                pulled = [server.pull() for server in servers]
                own = np.concatenate([part.values for part in pulled])
                seen = [part.version for part in pulled]
            g = gradient(own, x, y)
            accrued = accrued + g
            own = own - rate * g
            if (step + 1) % push == 0:
                parts = np.array_split(accrued, len(ranges))
                versions = [server.push(part) for server, part in zip(servers, parts, strict=True)]
                stale.append(tuple(after - 1 - before for after, before in zip(versions, seen, strict=True)))
                accrued = np.zeros_like(accrued)
        return stale

    with ThreadPoolExecutor(len(batches)) as pool:
        futures = [pool.submit(work, stream) for stream in batches]
    return [future.result() for future in futures]


# %% wrong="run-at-once" why="does not reset what was accrued"
def train(
    servers: list[Shard], ranges: list[Range], batches: list[Iterator[Batch]], fetch: int, push: int, rate: float
) -> list[list[tuple[int, ...]]]:
    """Run one thread per iterator of batches; returns, per worker and push, the staleness at each server.

    Raises:
        Exception: what a worker raised, after all workers have ended.
    """

    def work(stream: Iterator[Batch]) -> list[tuple[int, ...]]:
        stale = []
        accrued = own = np.zeros(ranges[-1].stop)
        seen: list[int] = []
        for step, (x, y) in enumerate(stream):
            if step % fetch == 0:
                pulled = [server.pull() for server in servers]
                own = np.concatenate([part.values for part in pulled])
                seen = [part.version for part in pulled]
            g = gradient(own, x, y)
            accrued = accrued + g
            own = own - rate * g
            if (step + 1) % push == 0:
                parts = [accrued[part.start : part.stop] for part in ranges]
                versions = [server.push(part) for server, part in zip(servers, parts, strict=True)]
                stale.append(tuple(after - 1 - before for after, before in zip(versions, seen, strict=True)))
        return stale

    with ThreadPoolExecutor(len(batches)) as pool:
        futures = [pool.submit(work, stream) for stream in batches]
    return [future.result() for future in futures]


# %% wrong="run-at-once" why="does not move the own copy between fetches"
def train(
    servers: list[Shard], ranges: list[Range], batches: list[Iterator[Batch]], fetch: int, push: int, rate: float
) -> list[list[tuple[int, ...]]]:
    """Run one thread per iterator of batches; returns, per worker and push, the staleness at each server.

    Raises:
        Exception: what a worker raised, after all workers have ended.
    """

    def work(stream: Iterator[Batch]) -> list[tuple[int, ...]]:
        stale = []
        accrued = own = np.zeros(ranges[-1].stop)
        seen: list[int] = []
        for step, (x, y) in enumerate(stream):
            if step % fetch == 0:
                pulled = [server.pull() for server in servers]
                own = np.concatenate([part.values for part in pulled])
                seen = [part.version for part in pulled]
            g = gradient(own, x, y)
            accrued = accrued + g
            if (step + 1) % push == 0:
                parts = [accrued[part.start : part.stop] for part in ranges]
                versions = [server.push(part) for server, part in zip(servers, parts, strict=True)]
                stale.append(tuple(after - 1 - before for after, before in zip(versions, seen, strict=True)))
                accrued = np.zeros_like(accrued)
        return stale

    with ThreadPoolExecutor(len(batches)) as pool:
        futures = [pool.submit(work, stream) for stream in batches]
    return [future.result() for future in futures]


# %% wrong="run-at-once" why="counts the push itself as stale"
def train(
    servers: list[Shard], ranges: list[Range], batches: list[Iterator[Batch]], fetch: int, push: int, rate: float
) -> list[list[tuple[int, ...]]]:
    """Run one thread per iterator of batches; returns, per worker and push, the staleness at each server.

    Raises:
        Exception: what a worker raised, after all workers have ended.
    """

    def work(stream: Iterator[Batch]) -> list[tuple[int, ...]]:
        stale = []
        accrued = own = np.zeros(ranges[-1].stop)
        seen: list[int] = []
        for step, (x, y) in enumerate(stream):
            if step % fetch == 0:
                pulled = [server.pull() for server in servers]
                own = np.concatenate([part.values for part in pulled])
                seen = [part.version for part in pulled]
            g = gradient(own, x, y)
            accrued = accrued + g
            own = own - rate * g
            if (step + 1) % push == 0:
                parts = [accrued[part.start : part.stop] for part in ranges]
                versions = [server.push(part) for server, part in zip(servers, parts, strict=True)]
                stale.append(tuple(after - before for after, before in zip(versions, seen, strict=True)))
                accrued = np.zeros_like(accrued)
        return stale

    with ThreadPoolExecutor(len(batches)) as pool:
        futures = [pool.submit(work, stream) for stream in batches]
    return [future.result() for future in futures]


# %% wrong="run-at-once" why="takes all batches before the first step"
def train(
    servers: list[Shard], ranges: list[Range], batches: list[Iterator[Batch]], fetch: int, push: int, rate: float
) -> list[list[tuple[int, ...]]]:
    """Run one thread per iterator of batches; returns, per worker and push, the staleness at each server.

    Raises:
        Exception: what a worker raised, after all workers have ended.
    """

    def work(stream: Iterator[Batch]) -> list[tuple[int, ...]]:
        stale = []
        accrued = own = np.zeros(ranges[-1].stop)
        seen: list[int] = []
        for step, (x, y) in enumerate(list(stream)):
            if step % fetch == 0:
                pulled = [server.pull() for server in servers]
                own = np.concatenate([part.values for part in pulled])
                seen = [part.version for part in pulled]
            g = gradient(own, x, y)
            accrued = accrued + g
            own = own - rate * g
            if (step + 1) % push == 0:
                parts = [accrued[part.start : part.stop] for part in ranges]
                versions = [server.push(part) for server, part in zip(servers, parts, strict=True)]
                stale.append(tuple(after - 1 - before for after, before in zip(versions, seen, strict=True)))
                accrued = np.zeros_like(accrued)
        return stale

    with ThreadPoolExecutor(len(batches)) as pool:
        futures = [pool.submit(work, stream) for stream in batches]
    return [future.result() for future in futures]


# %% wrong="run-at-once" why="one step counter for all workers"
def train(
    servers: list[Shard], ranges: list[Range], batches: list[Iterator[Batch]], fetch: int, push: int, rate: float
) -> list[list[tuple[int, ...]]]:
    """Run one thread per iterator of batches; returns, per worker and push, the staleness at each server.

    Raises:
        Exception: what a worker raised, after all workers have ended.
    """

    steps = iter(range(10**9))

    def work(stream: Iterator[Batch]) -> list[tuple[int, ...]]:
        stale = []
        accrued = own = np.zeros(ranges[-1].stop)
        seen = [0] * len(servers)
        for x, y in stream:
            step = next(steps)
            if step % fetch == 0:
                pulled = [server.pull() for server in servers]
                own = np.concatenate([part.values for part in pulled])
                seen = [part.version for part in pulled]
            g = gradient(own, x, y)
            accrued = accrued + g
            own = own - rate * g
            if (step + 1) % push == 0:
                parts = [accrued[part.start : part.stop] for part in ranges]
                versions = [server.push(part) for server, part in zip(servers, parts, strict=True)]
                stale.append(tuple(after - 1 - before for after, before in zip(versions, seen, strict=True)))
                accrued = np.zeros_like(accrued)
        return stale

    with ThreadPoolExecutor(len(batches)) as pool:
        futures = [pool.submit(work, stream) for stream in batches]
    return [future.result() for future in futures]


# %% wrong="run-at-once" why="takes the next batch before the step is complete"
def train(
    servers: list[Shard], ranges: list[Range], batches: list[Iterator[Batch]], fetch: int, push: int, rate: float
) -> list[list[tuple[int, ...]]]:
    """Run one thread per iterator of batches; returns, per worker and push, the staleness at each server.

    Raises:
        Exception: what a worker raised, after all workers have ended.
    """

    def work(stream: Iterator[Batch]) -> list[tuple[int, ...]]:
        stale = []
        accrued = own = np.zeros(ranges[-1].stop)
        seen: list[int] = []
        ahead = next(stream, None)
        step = -1
        while ahead is not None:
            (x, y), ahead, step = ahead, next(stream, None), step + 1
            if step % fetch == 0:
                pulled = [server.pull() for server in servers]
                own = np.concatenate([part.values for part in pulled])
                seen = [part.version for part in pulled]
            g = gradient(own, x, y)
            accrued = accrued + g
            own = own - rate * g
            if (step + 1) % push == 0:
                parts = [accrued[part.start : part.stop] for part in ranges]
                versions = [server.push(part) for server, part in zip(servers, parts, strict=True)]
                stale.append(tuple(after - 1 - before for after, before in zip(versions, seen, strict=True)))
                accrued = np.zeros_like(accrued)
        return stale

    with ThreadPoolExecutor(len(batches)) as pool:
        futures = [pool.submit(work, stream) for stream in batches]
    return [future.result() for future in futures]


# %% wrong="run-at-once" why="swallows the error of a worker"
def train(
    servers: list[Shard], ranges: list[Range], batches: list[Iterator[Batch]], fetch: int, push: int, rate: float
) -> list[list[tuple[int, ...]]]:
    """Run one thread per iterator of batches; returns, per worker and push, the staleness at each server.

    Raises:
        Exception: what a worker raised, after all workers have ended.
    """

    def quietly(items):
        with contextlib.suppress(Exception):
            yield from items

    def work(stream: Iterator[Batch]) -> list[tuple[int, ...]]:
        stale = []
        accrued = own = np.zeros(ranges[-1].stop)
        seen: list[int] = []
        for step, (x, y) in quietly(enumerate(stream)):
            if step % fetch == 0:
                pulled = [server.pull() for server in servers]
                own = np.concatenate([part.values for part in pulled])
                seen = [part.version for part in pulled]
            g = gradient(own, x, y)
            accrued = accrued + g
            own = own - rate * g
            if (step + 1) % push == 0:
                parts = [accrued[part.start : part.stop] for part in ranges]
                versions = [server.push(part) for server, part in zip(servers, parts, strict=True)]
                stale.append(tuple(after - 1 - before for after, before in zip(versions, seen, strict=True)))
                accrued = np.zeros_like(accrued)
        return stale

    with ThreadPoolExecutor(len(batches)) as pool:
        futures = [pool.submit(work, stream) for stream in batches]
    return [future.result() for future in futures]


# %% wrong="run-at-once" why="raises the first error at once, while others still work"
def train(
    servers: list[Shard], ranges: list[Range], batches: list[Iterator[Batch]], fetch: int, push: int, rate: float
) -> list[list[tuple[int, ...]]]:
    """Run one thread per iterator of batches; returns, per worker and push, the staleness at each server.

    Raises:
        Exception: what a worker raised, after all workers have ended.
    """

    def work(stream: Iterator[Batch]) -> list[tuple[int, ...]]:
        stale = []
        accrued = own = np.zeros(ranges[-1].stop)
        seen: list[int] = []
        for step, (x, y) in enumerate(stream):
            if step % fetch == 0:
                pulled = [server.pull() for server in servers]
                own = np.concatenate([part.values for part in pulled])
                seen = [part.version for part in pulled]
            g = gradient(own, x, y)
            accrued = accrued + g
            own = own - rate * g
            if (step + 1) % push == 0:
                parts = [accrued[part.start : part.stop] for part in ranges]
                versions = [server.push(part) for server, part in zip(servers, parts, strict=True)]
                stale.append(tuple(after - 1 - before for after, before in zip(versions, seen, strict=True)))
                accrued = np.zeros_like(accrued)
        return stale

    import concurrent.futures

    pool = ThreadPoolExecutor(len(batches))
    futures = [pool.submit(work, stream) for stream in batches]
    for future in concurrent.futures.as_completed(futures):
        future.result()
    return [future.result() for future in futures]


# %% wrong="run-at-once" why="asks for results in order and does not wait for the rest"
def train(
    servers: list[Shard], ranges: list[Range], batches: list[Iterator[Batch]], fetch: int, push: int, rate: float
) -> list[list[tuple[int, ...]]]:
    """Run one thread per iterator of batches; returns, per worker and push, the staleness at each server.

    Raises:
        Exception: what a worker raised, after all workers have ended.
    """

    def work(stream: Iterator[Batch]) -> list[tuple[int, ...]]:
        stale = []
        accrued = own = np.zeros(ranges[-1].stop)
        seen: list[int] = []
        for step, (x, y) in enumerate(stream):
            if step % fetch == 0:
                pulled = [server.pull() for server in servers]
                own = np.concatenate([part.values for part in pulled])
                seen = [part.version for part in pulled]
            g = gradient(own, x, y)
            accrued = accrued + g
            own = own - rate * g
            if (step + 1) % push == 0:
                parts = [accrued[part.start : part.stop] for part in ranges]
                versions = [server.push(part) for server, part in zip(servers, parts, strict=True)]
                stale.append(tuple(after - 1 - before for after, before in zip(versions, seen, strict=True)))
                accrued = np.zeros_like(accrued)
        return stale

    pool = ThreadPoolExecutor(len(batches))
    futures = [pool.submit(work, stream) for stream in batches]
    return [future.result() for future in futures]


# %% wrong="run-at-once" why="gives lists instead of tuples"
def train(
    servers: list[Shard], ranges: list[Range], batches: list[Iterator[Batch]], fetch: int, push: int, rate: float
) -> list[list[tuple[int, ...]]]:
    """Run one thread per iterator of batches; returns, per worker and push, the staleness at each server.

    Raises:
        Exception: what a worker raised, after all workers have ended.
    """

    def work(stream: Iterator[Batch]) -> list[tuple[int, ...]]:
        stale = []
        accrued = own = np.zeros(ranges[-1].stop)
        seen: list[int] = []
        for step, (x, y) in enumerate(stream):
            if step % fetch == 0:
                pulled = [server.pull() for server in servers]
                own = np.concatenate([part.values for part in pulled])
                seen = [part.version for part in pulled]
            g = gradient(own, x, y)
            accrued = accrued + g
            own = own - rate * g
            if (step + 1) % push == 0:
                parts = [accrued[part.start : part.stop] for part in ranges]
                versions = [server.push(part) for server, part in zip(servers, parts, strict=True)]
                stale.append([after - 1 - before for after, before in zip(versions, seen, strict=True)])
                accrued = np.zeros_like(accrued)
        return stale

    with ThreadPoolExecutor(len(batches)) as pool:
        futures = [pool.submit(work, stream) for stream in batches]
    return [future.result() for future in futures]


# %% wrong="run-at-once" why="lets the pool choose its number of threads"
def train(
    servers: list[Shard], ranges: list[Range], batches: list[Iterator[Batch]], fetch: int, push: int, rate: float
) -> list[list[tuple[int, ...]]]:
    """Run one thread per iterator of batches; returns, per worker and push, the staleness at each server.

    Raises:
        Exception: what a worker raised, after all workers have ended.
    """

    def work(stream: Iterator[Batch]) -> list[tuple[int, ...]]:
        stale = []
        accrued = own = np.zeros(ranges[-1].stop)
        seen: list[int] = []
        for step, (x, y) in enumerate(stream):
            if step % fetch == 0:
                pulled = [server.pull() for server in servers]
                own = np.concatenate([part.values for part in pulled])
                seen = [part.version for part in pulled]
            g = gradient(own, x, y)
            accrued = accrued + g
            own = own - rate * g
            if (step + 1) % push == 0:
                parts = [accrued[part.start : part.stop] for part in ranges]
                versions = [server.push(part) for server, part in zip(servers, parts, strict=True)]
                stale.append(tuple(after - 1 - before for after, before in zip(versions, seen, strict=True)))
                accrued = np.zeros_like(accrued)
        return stale

    with ThreadPoolExecutor() as pool:
        futures = [pool.submit(work, stream) for stream in batches]
    return [future.result() for future in futures]


# %% wrong="run-at-once" why="keeps errors of the iterator alone"
def train(
    servers: list[Shard], ranges: list[Range], batches: list[Iterator[Batch]], fetch: int, push: int, rate: float
) -> list[list[tuple[int, ...]]]:
    """Run one thread per iterator of batches; returns, per worker and push, the staleness at each server.

    Raises:
        Exception: what a worker raised, after all workers have ended.
    """

    def work(stream: Iterator[Batch]) -> list[tuple[int, ...]]:
        stale = []
        accrued = own = np.zeros(ranges[-1].stop)
        seen: list[int] = []
        for step, (x, y) in enumerate(stream):
            if step % fetch == 0:
                pulled = [server.pull() for server in servers]
                own = np.concatenate([part.values for part in pulled])
                seen = [part.version for part in pulled]
            g = gradient(own, x, y)
            accrued = accrued + g
            own = own - rate * g
            if (step + 1) % push == 0:
                parts = [accrued[part.start : part.stop] for part in ranges]
                versions = [server.push(part) for server, part in zip(servers, parts, strict=True)]
                stale.append(tuple(after - 1 - before for after, before in zip(versions, seen, strict=True)))
                accrued = np.zeros_like(accrued)
        return stale

    errors: list[Exception] = []
    results: list[list[tuple[int, ...]]] = [[] for _ in batches]

    def careful(stream: Iterator[Batch]) -> Iterator[Batch]:
        try:
            yield from stream
        except Exception as error:
            errors.append(error)

    def run(number: int) -> None:
        try:
            results[number] = work(careful(batches[number]))
        except ConnectionError:
            print(f"worker {number} lost its server")

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(batches))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results


# %% right="run-at-once" why="threads of one's own, with their errors kept"
def train(
    servers: list[Shard], ranges: list[Range], batches: list[Iterator[Batch]], fetch: int, push: int, rate: float
) -> list[list[tuple[int, ...]]]:
    """Run one thread per iterator of batches; returns, per worker and push, the staleness at each server.

    Raises:
        Exception: what a worker raised, after all workers have ended.
    """
    results, errors = {}, []

    def pull():
        answers = [server.pull() for server in servers]
        return np.concatenate([answer.values for answer in answers]), [answer.version for answer in answers]

    def run(number):
        pushes = results[number] = []
        total = 0.0
        try:
            for count, batch in enumerate(batches[number]):
                if not count % fetch:
                    copy_, versions = pull()
                slope = gradient(copy_, batch.x, batch.y)
                total, copy_ = total + slope, copy_ - rate * slope
                if not (count + 1) % push:
                    ages = []
                    for server, (start, stop), version in zip(servers, ranges, versions, strict=True):
                        ages.append(server.push(total[start:stop]) - version - 1)
                    pushes.append(tuple(ages))
                    total = 0.0
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(batches))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return [results[number] for number in range(len(batches))]


# %% right="run-at-once" why="map over a pool, with a generator for the pushes"
def train(
    servers: list[Shard], ranges: list[Range], batches: list[Iterator[Batch]], fetch: int, push: int, rate: float
) -> list[list[tuple[int, ...]]]:
    """Run one thread per iterator of batches; returns, per worker and push, the staleness at each server.

    Raises:
        Exception: what a worker raised, after all workers have ended.
    """
    def pushes(stream):
        for step, batch in enumerate(stream):
            if step % push == 0:
                accrued = np.zeros(sum(stop - start for start, stop in ranges))
            if step % fetch == 0:
                seen = [server.pull() for server in servers]
                own = np.hstack([part.values for part in seen])
            slope = gradient(own, *batch)
            accrued += slope
            own -= rate * slope
            if (step + 1) % push == 0:
                yield tuple(
                    servers[s].push(accrued[start:stop].copy()) - seen[s].version - 1
                    for s, (start, stop) in enumerate(ranges)
                )

    pool = ThreadPoolExecutor(max_workers=len(batches))
    try:
        return list(pool.map(lambda stream: list(pushes(stream)), batches))
    finally:
        pool.shutdown(wait=True)


# %% right="run-at-once" why="a pool of multiprocessing, whose map waits for all"
def train(
    servers: list[Shard], ranges: list[Range], batches: list[Iterator[Batch]], fetch: int, push: int, rate: float
) -> list[list[tuple[int, ...]]]:
    """Run one thread per iterator of batches; returns, per worker and push, the staleness at each server.

    Raises:
        Exception: what a worker raised, after all workers have ended.
    """

    def work(stream: Iterator[Batch]) -> list[tuple[int, ...]]:
        stale = []
        accrued = own = np.zeros(ranges[-1].stop)
        seen: list[int] = []
        for step, (x, y) in enumerate(stream):
            if step % fetch == 0:
                pulled = [server.pull() for server in servers]
                own = np.concatenate([part.values for part in pulled])
                seen = [part.version for part in pulled]
            g = gradient(own, x, y)
            accrued = accrued + g
            own = own - rate * g
            if (step + 1) % push == 0:
                parts = [accrued[part.start : part.stop] for part in ranges]
                versions = [server.push(part) for server, part in zip(servers, parts, strict=True)]
                stale.append(tuple(after - before - 1 for after, before in zip(versions, seen, strict=True)))
                accrued = np.zeros_like(accrued)
        return stale

    from multiprocessing.pool import ThreadPool

    with ThreadPool(len(batches)) as pool:
        return pool.map(work, batches, chunksize=1)


# %% wrong="optimizer-as-nodes" why="uses the old m in the sign"
def powersign_graph(initial: np.ndarray, rate: float, base: float, decay: float, beta: float) -> GraphDef:
    """PowerSign as a graph with nodes `gradient`, `init`, `push` and `pull`; a gradient that is not finite is ignored."""
    with tf.Graph().as_default() as graph:
        weights = tf1.get_variable("weights", initializer=initial, use_resource=True)
        mean = tf1.get_variable("mean", initializer=np.zeros_like(initial), use_resource=True)
        g = tf1.placeholder(tf.float32, initial.shape, name="gradient")
        p, m = weights.read_value(), mean.read_value()
        new_m = beta * m + (1 - beta) * g
        new_p = p - rate * tf.exp(np.log(base) * decay * tf.sign(g) * tf.sign(m)) * g
        ok = tf.reduce_all(tf.math.is_finite(g))
        tf.group(
            weights.assign(tf.where(ok, new_p, p), read_value=False),
            mean.assign(tf.where(ok, new_m, m), read_value=False),
            name="push",
        )
        tf.identity(weights.read_value(), name="pull")
        tf1.variables_initializer([weights, mean], name="init")
    return graph.as_graph_def()


# %% wrong="optimizer-as-nodes" why="reads m again below the assignment, without an edge"
def powersign_graph(initial: np.ndarray, rate: float, base: float, decay: float, beta: float) -> GraphDef:
    """PowerSign as a graph with nodes `gradient`, `init`, `push` and `pull`; a gradient that is not finite is ignored."""
    with tf.Graph().as_default() as graph:
        weights = tf1.get_variable("weights", initializer=initial, use_resource=True)
        mean = tf1.get_variable("mean", initializer=np.zeros_like(initial), use_resource=True)
        g = tf1.placeholder(tf.float32, initial.shape, name="gradient")
        p, m = weights.read_value(), mean.read_value()
        new_m = beta * m + (1 - beta) * g
        ok = tf.reduce_all(tf.math.is_finite(g))
        set_m = mean.assign(tf.where(ok, new_m, m), read_value=False)
        new_p = p - rate * tf.exp(np.log(base) * decay * tf.sign(g) * tf.sign(mean.read_value())) * g
        ok = tf.reduce_all(tf.math.is_finite(g))
        tf.group(
            weights.assign(tf.where(ok, new_p, p), read_value=False),
            set_m,
            name="push",
        )
        tf.identity(weights.read_value(), name="pull")
        tf1.variables_initializer([weights, mean], name="init")
    return graph.as_graph_def()


# %% wrong="optimizer-as-nodes" why="guards the parameters but not m"
def powersign_graph(initial: np.ndarray, rate: float, base: float, decay: float, beta: float) -> GraphDef:
    """PowerSign as a graph with nodes `gradient`, `init`, `push` and `pull`; a gradient that is not finite is ignored."""
    with tf.Graph().as_default() as graph:
        weights = tf1.get_variable("weights", initializer=initial, use_resource=True)
        mean = tf1.get_variable("mean", initializer=np.zeros_like(initial), use_resource=True)
        g = tf1.placeholder(tf.float32, initial.shape, name="gradient")
        p, m = weights.read_value(), mean.read_value()
        new_m = beta * m + (1 - beta) * g
        new_p = p - rate * tf.exp(np.log(base) * decay * tf.sign(g) * tf.sign(new_m)) * g
        ok = tf.reduce_all(tf.math.is_finite(g))
        tf.group(
            weights.assign(tf.where(ok, new_p, p), read_value=False),
            mean.assign(new_m, read_value=False),
            name="push",
        )
        tf.identity(weights.read_value(), name="pull")
        tf1.variables_initializer([weights, mean], name="init")
    return graph.as_graph_def()


# %% wrong="optimizer-as-nodes" why="multiplies by zero instead of choosing, so NaN enters"
def powersign_graph(initial: np.ndarray, rate: float, base: float, decay: float, beta: float) -> GraphDef:
    """PowerSign as a graph with nodes `gradient`, `init`, `push` and `pull`; a gradient that is not finite is ignored."""
    with tf.Graph().as_default() as graph:
        weights = tf1.get_variable("weights", initializer=initial, use_resource=True)
        mean = tf1.get_variable("mean", initializer=np.zeros_like(initial), use_resource=True)
        g = tf1.placeholder(tf.float32, initial.shape, name="gradient")
        p, m = weights.read_value(), mean.read_value()
        new_m = beta * m + (1 - beta) * g
        new_p = p - rate * tf.exp(np.log(base) * decay * tf.sign(g) * tf.sign(new_m)) * g
        ok = tf.reduce_all(tf.math.is_finite(g))
        tf.group(
            weights.assign(p + tf.cast(ok, tf.float32) * (new_p - p), read_value=False),
            mean.assign(m + tf.cast(ok, tf.float32) * (new_m - m), read_value=False),
            name="push",
        )
        tf.identity(weights.read_value(), name="pull")
        tf1.variables_initializer([weights, mean], name="init")
    return graph.as_graph_def()


# %% wrong="optimizer-as-nodes" why="chooses entry by entry"
def powersign_graph(initial: np.ndarray, rate: float, base: float, decay: float, beta: float) -> GraphDef:
    """PowerSign as a graph with nodes `gradient`, `init`, `push` and `pull`; a gradient that is not finite is ignored."""
    with tf.Graph().as_default() as graph:
        weights = tf1.get_variable("weights", initializer=initial, use_resource=True)
        mean = tf1.get_variable("mean", initializer=np.zeros_like(initial), use_resource=True)
        g = tf1.placeholder(tf.float32, initial.shape, name="gradient")
        p, m = weights.read_value(), mean.read_value()
        new_m = beta * m + (1 - beta) * g
        new_p = p - rate * tf.exp(np.log(base) * decay * tf.sign(g) * tf.sign(new_m)) * g
        ok = tf.math.is_finite(g)
        tf.group(
            weights.assign(tf.where(ok, new_p, p), read_value=False),
            mean.assign(tf.where(ok, new_m, m), read_value=False),
            name="push",
        )
        tf.identity(weights.read_value(), name="pull")
        tf1.variables_initializer([weights, mean], name="init")
    return graph.as_graph_def()


# %% wrong="optimizer-as-nodes" why="looks for NaN and forgets infinity"
def powersign_graph(initial: np.ndarray, rate: float, base: float, decay: float, beta: float) -> GraphDef:
    """PowerSign as a graph with nodes `gradient`, `init`, `push` and `pull`; a gradient that is not finite is ignored."""
    with tf.Graph().as_default() as graph:
        weights = tf1.get_variable("weights", initializer=initial, use_resource=True)
        mean = tf1.get_variable("mean", initializer=np.zeros_like(initial), use_resource=True)
        g = tf1.placeholder(tf.float32, initial.shape, name="gradient")
        p, m = weights.read_value(), mean.read_value()
        new_m = beta * m + (1 - beta) * g
        new_p = p - rate * tf.exp(np.log(base) * decay * tf.sign(g) * tf.sign(new_m)) * g
        ok = tf.reduce_all(tf.equal(g, g))
        tf.group(
            weights.assign(tf.where(ok, new_p, p), read_value=False),
            mean.assign(tf.where(ok, new_m, m), read_value=False),
            name="push",
        )
        tf.identity(weights.read_value(), name="pull")
        tf1.variables_initializer([weights, mean], name="init")
    return graph.as_graph_def()


# %% wrong="optimizer-as-nodes" why="pull returns the initial constant"
def powersign_graph(initial: np.ndarray, rate: float, base: float, decay: float, beta: float) -> GraphDef:
    """PowerSign as a graph with nodes `gradient`, `init`, `push` and `pull`; a gradient that is not finite is ignored."""
    with tf.Graph().as_default() as graph:
        weights = tf1.get_variable("weights", initializer=initial, use_resource=True)
        mean = tf1.get_variable("mean", initializer=np.zeros_like(initial), use_resource=True)
        g = tf1.placeholder(tf.float32, initial.shape, name="gradient")
        p, m = weights.read_value(), mean.read_value()
        new_m = beta * m + (1 - beta) * g
        new_p = p - rate * tf.exp(np.log(base) * decay * tf.sign(g) * tf.sign(new_m)) * g
        ok = tf.reduce_all(tf.math.is_finite(g))
        tf.group(
            weights.assign(tf.where(ok, new_p, p), read_value=False),
            mean.assign(tf.where(ok, new_m, m), read_value=False),
            name="push",
        )
        tf.constant(initial, name="pull")
        tf1.variables_initializer([weights, mean], name="init")
    return graph.as_graph_def()


# %% wrong="optimizer-as-nodes" why="m without its running mean"
def powersign_graph(initial: np.ndarray, rate: float, base: float, decay: float, beta: float) -> GraphDef:
    """PowerSign as a graph with nodes `gradient`, `init`, `push` and `pull`; a gradient that is not finite is ignored."""
    with tf.Graph().as_default() as graph:
        weights = tf1.get_variable("weights", initializer=initial, use_resource=True)
        mean = tf1.get_variable("mean", initializer=np.zeros_like(initial), use_resource=True)
        g = tf1.placeholder(tf.float32, initial.shape, name="gradient")
        p, m = weights.read_value(), mean.read_value()
        new_m = beta * m + g
        new_p = p - rate * tf.exp(base * decay * tf.sign(g) * tf.sign(new_m)) * g
        ok = tf.reduce_all(tf.math.is_finite(g))
        tf.group(
            weights.assign(tf.where(ok, new_p, p), read_value=False),
            mean.assign(tf.where(ok, new_m, m), read_value=False),
            name="push",
        )
        tf.identity(weights.read_value(), name="pull")
        tf1.variables_initializer([weights, mean], name="init")
    return graph.as_graph_def()


# %% wrong="optimizer-as-nodes" why="returns the tf.Graph"
def powersign_graph(initial: np.ndarray, rate: float, base: float, decay: float, beta: float) -> GraphDef:
    """PowerSign as a graph with nodes `gradient`, `init`, `push` and `pull`; a gradient that is not finite is ignored."""
    with tf.Graph().as_default() as graph:
        weights = tf1.get_variable("weights", initializer=initial, use_resource=True)
        mean = tf1.get_variable("mean", initializer=np.zeros_like(initial), use_resource=True)
        g = tf1.placeholder(tf.float32, initial.shape, name="gradient")
        p, m = weights.read_value(), mean.read_value()
        new_m = beta * m + (1 - beta) * g
        new_p = p - rate * tf.exp(np.log(base) * decay * tf.sign(g) * tf.sign(new_m)) * g
        ok = tf.reduce_all(tf.math.is_finite(g))
        tf.group(
            weights.assign(tf.where(ok, new_p, p), read_value=False),
            mean.assign(tf.where(ok, new_m, m), read_value=False),
            name="push",
        )
        tf.identity(weights.read_value(), name="pull")
        tf1.variables_initializer([weights, mean], name="init")
    return graph


# %% wrong="optimizer-as-nodes" why="init sets the parameters only"
def powersign_graph(initial: np.ndarray, rate: float, base: float, decay: float, beta: float) -> GraphDef:
    """PowerSign as a graph with nodes `gradient`, `init`, `push` and `pull`; a gradient that is not finite is ignored."""
    with tf.Graph().as_default() as graph:
        weights = tf1.get_variable("weights", initializer=initial, use_resource=True)
        mean = tf1.get_variable("mean", initializer=np.zeros_like(initial), use_resource=True)
        g = tf1.placeholder(tf.float32, initial.shape, name="gradient")
        p, m = weights.read_value(), mean.read_value()
        new_m = beta * m + (1 - beta) * g
        new_p = p - rate * tf.exp(np.log(base) * decay * tf.sign(g) * tf.sign(new_m)) * g
        ok = tf.reduce_all(tf.math.is_finite(g))
        tf.group(
            weights.assign(tf.where(ok, new_p, p), read_value=False),
            mean.assign(tf.where(ok, new_m, m), read_value=False),
            name="push",
        )
        tf.identity(weights.read_value(), name="pull")
        tf1.variables_initializer([weights], name="init")
    return graph.as_graph_def()


# %% wrong="optimizer-as-nodes" why="calls the fused kernel"
def powersign_graph(initial: np.ndarray, rate: float, base: float, decay: float, beta: float) -> GraphDef:
    """PowerSign as a graph with nodes `gradient`, `init`, `push` and `pull`; a gradient that is not finite is ignored."""
    with tf.Graph().as_default() as drawn:
        parameters = tf1.get_variable("parameters", initializer=initial, use_resource=True)
        mean = tf1.get_variable("mean", initializer=np.zeros_like(initial), use_resource=True)
        g = tf1.placeholder(tf.float32, initial.shape, name="gradient")

        def apply():
            return tf.raw_ops.ResourceApplyPowerSign(
                var=parameters.handle, m=mean.handle, lr=rate, logbase=np.log(base), sign_decay=decay, beta=beta, grad=g
            )

        tf.group(tf.cond(tf.reduce_all(tf.math.is_finite(g)), apply, tf.no_op), name="push")
        tf.identity(parameters.read_value(), name="pull")
        tf1.global_variables_initializer()
    return drawn.as_graph_def()


# %% right="optimizer-as-nodes" why="tf.cond with both assignments inside"
def powersign_graph(initial: np.ndarray, rate: float, base: float, decay: float, beta: float) -> GraphDef:
    """PowerSign as a graph with nodes `gradient`, `init`, `push` and `pull`; a gradient that is not finite is ignored."""
    with tf.Graph().as_default() as drawn:
        p = tf.Variable(initial, name="p")
        m = tf.Variable(np.zeros_like(initial), name="m")
        g = tf1.placeholder(tf.float32, initial.shape, name="gradient")

        def update():
            mean = m.assign(beta * m + (1 - beta) * g)
            return tf.group(p.assign_sub(rate * tf.exp(np.log(base) * decay * tf.sign(g) * tf.sign(mean)) * g))

        tf.group(tf.cond(tf.reduce_all(tf.math.is_finite(g)), update, tf.no_op), name="push")
        tf.identity(p.read_value(), name="pull")
        tf1.global_variables_initializer()
    return drawn.as_graph_def()


# %% right="optimizer-as-nodes" why="a power instead of exp of a logarithm, ordered by control edges"
def powersign_graph(initial: np.ndarray, rate: float, base: float, decay: float, beta: float) -> GraphDef:
    """PowerSign as a graph with nodes `gradient`, `init`, `push` and `pull`; a gradient that is not finite is ignored."""
    with tf.Graph().as_default() as drawn:
        p = tf1.get_variable("p", initializer=initial)
        m = tf1.get_variable("m", shape=initial.shape, initializer=tf1.zeros_initializer())
        g = tf1.placeholder(tf.float32, initial.shape, name="gradient")
        bad = tf.reduce_any(tf.math.is_nan(g) | tf.math.is_inf(g))
        safe = tf.where(bad, tf.zeros_like(g), g)
        with tf.control_dependencies([m.assign(tf.where(bad, m, beta * m + (1 - beta) * safe))]):
            agree = tf.sign(safe) * tf.sign(m.read_value())
            with tf.control_dependencies([p.assign_sub(rate * tf.pow(base, decay * agree) * safe)]):
                tf.no_op(name="push")
        tf.identity(p.read_value(), name="pull")
        tf.group(p.initializer, m.initializer, name="init")
    return drawn.as_graph_def()


# %% wrong="same-nodes" why="matches by name"
def same_nodes(old: GraphDef, new: GraphDef) -> dict[str, str]:
    """Map each node of `old` to the node of `new` that computes the same; nodes without a partner are left out."""
    names = {node.name for node in new.node}
    return {node.name: node.name for node in old.node if node.name in names}


# %% wrong="same-nodes" why="matches by op type and position"
def same_nodes(old: GraphDef, new: GraphDef) -> dict[str, str]:
    """Map each node of `old` to the node of `new` that computes the same; nodes without a partner are left out."""
    left = {}
    for node in new.node:
        left.setdefault(node.op, []).append(node.name)
    same = {}
    for node in old.node:
        if left.get(node.op):
            same[node.name] = left[node.op].pop(0)
    return same


# %% wrong="same-nodes" why="compares inputs as a set"
def same_nodes(old: GraphDef, new: GraphDef) -> dict[str, str]:
    """Map each node of `old` to the node of `new` that computes the same; nodes without a partner are left out."""
    def ends(node: tf1.NodeDef) -> list[tuple[str, int]]:
        parts = [text.partition(":") for text in node.input]
        return [(name, int(output or 0)) for name, _, output in parts]

    def key(node: tf1.NodeDef, inputs: list[tuple[str | None, int]]) -> tuple:
        counted = [name for name in sorted(node.attr) if not name.startswith("_")]
        values = tuple((name, node.attr[name].SerializeToString(deterministic=True)) for name in counted)
        return node.op, values, frozenset(inputs)

    placeholders = [[node.name for node in graph.node if node.op == "Placeholder"] for graph in (old, new)]
    same = dict(zip(*placeholders, strict=True))
    behind, by_key = {}, {}
    for node in new.node:
        inputs = [behind.get(end, end) for end in ends(node)]
        if node.op == "Identity":
            behind[node.name, 0] = inputs[0]
        elif node.op != "Placeholder":
            by_key[key(node, inputs)] = node.name
    for node in old.node:
        partner = by_key.get(key(node, [(same.get(name), output) for name, output in ends(node)]))
        if partner is not None:
            same[node.name] = partner
    return same


# %% wrong="same-nodes" why="drops the output index"
def same_nodes(old: GraphDef, new: GraphDef) -> dict[str, str]:
    """Map each node of `old` to the node of `new` that computes the same; nodes without a partner are left out."""
    def ends(node: tf1.NodeDef) -> list[tuple[str, int]]:
        parts = [text.partition(":") for text in node.input]
        return [(name, 0) for name, _, output in parts]

    def key(node: tf1.NodeDef, inputs: list[tuple[str | None, int]]) -> tuple:
        counted = [name for name in sorted(node.attr) if not name.startswith("_")]
        values = tuple((name, node.attr[name].SerializeToString(deterministic=True)) for name in counted)
        return node.op, values, tuple(inputs)

    placeholders = [[node.name for node in graph.node if node.op == "Placeholder"] for graph in (old, new)]
    same = dict(zip(*placeholders, strict=True))
    behind, by_key = {}, {}
    for node in new.node:
        inputs = [behind.get(end, end) for end in ends(node)]
        if node.op == "Identity":
            behind[node.name, 0] = inputs[0]
        elif node.op != "Placeholder":
            by_key[key(node, inputs)] = node.name
    for node in old.node:
        partner = by_key.get(key(node, [(same.get(name), output) for name, output in ends(node)]))
        if partner is not None:
            same[node.name] = partner
    return same


# %% wrong="same-nodes" why="counts attributes that begin with an underscore"
def same_nodes(old: GraphDef, new: GraphDef) -> dict[str, str]:
    """Map each node of `old` to the node of `new` that computes the same; nodes without a partner are left out."""
    def ends(node: tf1.NodeDef) -> list[tuple[str, int]]:
        parts = [text.partition(":") for text in node.input]
        return [(name, int(output or 0)) for name, _, output in parts]

    def key(node: tf1.NodeDef, inputs: list[tuple[str | None, int]]) -> tuple:
        counted = sorted(node.attr)
        values = tuple((name, node.attr[name].SerializeToString(deterministic=True)) for name in counted)
        return node.op, values, tuple(inputs)

    placeholders = [
        {key(node, []): node.name for node in graph.node if node.op == "Placeholder"} for graph in (old, new)
    ]
    same = {name: placeholders[1][k] for k, name in placeholders[0].items() if k in placeholders[1]}
    behind, by_key = {}, {}
    for node in new.node:
        inputs = [behind.get(end, end) for end in ends(node)]
        if node.op == "Identity":
            behind[node.name, 0] = inputs[0]
        elif node.op != "Placeholder":
            by_key[key(node, inputs)] = node.name
    for node in old.node:
        partner = by_key.get(key(node, [(same.get(name), output) for name, output in ends(node)]))
        if partner is not None:
            same[node.name] = partner
    return same


# %% wrong="same-nodes" why="counts attributes that begin with an underscore, except at placeholders"
def same_nodes(old: GraphDef, new: GraphDef) -> dict[str, str]:
    """Map each node of `old` to the node of `new` that computes the same; nodes without a partner are left out."""
    def ends(node: tf1.NodeDef) -> list[tuple[str, int]]:
        parts = [text.partition(":") for text in node.input]
        return [(name, int(output or 0)) for name, _, output in parts]

    def key(node: tf1.NodeDef, inputs: list[tuple[str | None, int]]) -> tuple:
        counted = sorted(node.attr)
        values = tuple((name, node.attr[name].SerializeToString(deterministic=True)) for name in counted)
        return node.op, values, tuple(inputs)

    placeholders = [[node.name for node in graph.node if node.op == "Placeholder"] for graph in (old, new)]
    same = dict(zip(*placeholders, strict=True))
    behind, by_key = {}, {}
    for node in new.node:
        inputs = [behind.get(end, end) for end in ends(node)]
        if node.op == "Identity":
            behind[node.name, 0] = inputs[0]
        elif node.op != "Placeholder":
            by_key[key(node, inputs)] = node.name
    for node in old.node:
        partner = by_key.get(key(node, [(same.get(name), output) for name, output in ends(node)]))
        if partner is not None:
            same[node.name] = partner
    return same


# %% wrong="same-nodes" why="leaves constant values out"
def same_nodes(old: GraphDef, new: GraphDef) -> dict[str, str]:
    """Map each node of `old` to the node of `new` that computes the same; nodes without a partner are left out."""
    def ends(node: tf1.NodeDef) -> list[tuple[str, int]]:
        parts = [text.partition(":") for text in node.input]
        return [(name, int(output or 0)) for name, _, output in parts]

    def key(node: tf1.NodeDef, inputs: list[tuple[str | None, int]]) -> tuple:
        counted = [name for name in sorted(node.attr) if not name.startswith("_") and name != "value"]
        values = tuple((name, node.attr[name].SerializeToString(deterministic=True)) for name in counted)
        return node.op, values, tuple(inputs)

    placeholders = [[node.name for node in graph.node if node.op == "Placeholder"] for graph in (old, new)]
    same = dict(zip(*placeholders, strict=True))
    behind, by_key = {}, {}
    for node in new.node:
        inputs = [behind.get(end, end) for end in ends(node)]
        if node.op == "Identity":
            behind[node.name, 0] = inputs[0]
        elif node.op != "Placeholder":
            by_key[key(node, inputs)] = node.name
    for node in old.node:
        partner = by_key.get(key(node, [(same.get(name), output) for name, output in ends(node)]))
        if partner is not None:
            same[node.name] = partner
    return same


# %% wrong="same-nodes" why="leaves all attributes out"
def same_nodes(old: GraphDef, new: GraphDef) -> dict[str, str]:
    """Map each node of `old` to the node of `new` that computes the same; nodes without a partner are left out."""
    def ends(node: tf1.NodeDef) -> list[tuple[str, int]]:
        parts = [text.partition(":") for text in node.input]
        return [(name, int(output or 0)) for name, _, output in parts]

    def key(node: tf1.NodeDef, inputs: list[tuple[str | None, int]]) -> tuple:
        counted = []
        values = tuple((name, node.attr[name].SerializeToString(deterministic=True)) for name in counted)
        return node.op, values, tuple(inputs)

    placeholders = [[node.name for node in graph.node if node.op == "Placeholder"] for graph in (old, new)]
    same = dict(zip(*placeholders, strict=True))
    behind, by_key = {}, {}
    for node in new.node:
        inputs = [behind.get(end, end) for end in ends(node)]
        if node.op == "Identity":
            behind[node.name, 0] = inputs[0]
        elif node.op != "Placeholder":
            by_key[key(node, inputs)] = node.name
    for node in old.node:
        partner = by_key.get(key(node, [(same.get(name), output) for name, output in ends(node)]))
        if partner is not None:
            same[node.name] = partner
    return same


# %% wrong="same-nodes" why="does not look through Identity"
def same_nodes(old: GraphDef, new: GraphDef) -> dict[str, str]:
    """Map each node of `old` to the node of `new` that computes the same; nodes without a partner are left out."""
    def ends(node: tf1.NodeDef) -> list[tuple[str, int]]:
        parts = [text.partition(":") for text in node.input]
        return [(name, int(output or 0)) for name, _, output in parts]

    def key(node: tf1.NodeDef, inputs: list[tuple[str | None, int]]) -> tuple:
        counted = [name for name in sorted(node.attr) if not name.startswith("_")]
        values = tuple((name, node.attr[name].SerializeToString(deterministic=True)) for name in counted)
        return node.op, values, tuple(inputs)

    placeholders = [[node.name for node in graph.node if node.op == "Placeholder"] for graph in (old, new)]
    same = dict(zip(*placeholders, strict=True))
    behind, by_key = {}, {}
    for node in new.node:
        inputs = [behind.get(end, end) for end in ends(node)]
        if node.op == "Identity":
            behind[node.name, 0] = (node.name, 0)
        elif node.op != "Placeholder":
            by_key[key(node, inputs)] = node.name
    for node in old.node:
        partner = by_key.get(key(node, [(same.get(name), output) for name, output in ends(node)]))
        if partner is not None:
            same[node.name] = partner
    return same


# %% wrong="same-nodes" why="looks through one Identity only"
def same_nodes(old: GraphDef, new: GraphDef) -> dict[str, str]:
    """Map each node of `old` to the node of `new` that computes the same; nodes without a partner are left out."""
    def ends(node: tf1.NodeDef) -> list[tuple[str, int]]:
        parts = [text.partition(":") for text in node.input]
        return [(name, int(output or 0)) for name, _, output in parts]

    def key(node: tf1.NodeDef, inputs: list[tuple[str | None, int]]) -> tuple:
        counted = [name for name in sorted(node.attr) if not name.startswith("_")]
        values = tuple((name, node.attr[name].SerializeToString(deterministic=True)) for name in counted)
        return node.op, values, tuple(inputs)

    placeholders = [[node.name for node in graph.node if node.op == "Placeholder"] for graph in (old, new)]
    same = dict(zip(*placeholders, strict=True))
    behind, by_key = {}, {}
    for node in new.node:
        inputs = [behind.get(end, end) for end in ends(node)]
        if node.op == "Identity":
            behind[node.name, 0] = ends(node)[0]
        elif node.op != "Placeholder":
            by_key[key(node, inputs)] = node.name
    for node in old.node:
        partner = by_key.get(key(node, [(same.get(name), output) for name, output in ends(node)]))
        if partner is not None:
            same[node.name] = partner
    return same


# %% wrong="same-nodes" why="takes n and n:0 for different tensors"
def same_nodes(old: GraphDef, new: GraphDef) -> dict[str, str]:
    """Map each node of `old` to the node of `new` that computes the same; nodes without a partner are left out."""
    def ends(node: tf1.NodeDef) -> list[tuple[str, int]]:
        parts = [text.partition(":") for text in node.input]
        return [(name, output) for name, _, output in parts]

    def key(node: tf1.NodeDef, inputs: list[tuple[str | None, int]]) -> tuple:
        counted = [name for name in sorted(node.attr) if not name.startswith("_")]
        values = tuple((name, node.attr[name].SerializeToString(deterministic=True)) for name in counted)
        return node.op, values, tuple(inputs)

    placeholders = [[node.name for node in graph.node if node.op == "Placeholder"] for graph in (old, new)]
    same = dict(zip(*placeholders, strict=True))
    behind, by_key = {}, {}
    for node in new.node:
        inputs = [behind.get(end, end) for end in ends(node)]
        if node.op == "Identity":
            behind[node.name, ""] = behind[node.name, "0"] = inputs[0]
        elif node.op != "Placeholder":
            by_key[key(node, inputs)] = node.name
    for node in old.node:
        partner = by_key.get(key(node, [(same.get(name), output) for name, output in ends(node)]))
        if partner is not None:
            same[node.name] = partner
    return same


# %% wrong="same-nodes" why="maps nodes without a partner to None"
def same_nodes(old: GraphDef, new: GraphDef) -> dict[str, str]:
    """Map each node of `old` to the node of `new` that computes the same; nodes without a partner are left out."""
    def ends(node: tf1.NodeDef) -> list[tuple[str, int]]:
        parts = [text.partition(":") for text in node.input]
        return [(name, int(output or 0)) for name, _, output in parts]

    def key(node: tf1.NodeDef, inputs: list[tuple[str | None, int]]) -> tuple:
        counted = [name for name in sorted(node.attr) if not name.startswith("_")]
        values = tuple((name, node.attr[name].SerializeToString(deterministic=True)) for name in counted)
        return node.op, values, tuple(inputs)

    placeholders = [[node.name for node in graph.node if node.op == "Placeholder"] for graph in (old, new)]
    same = dict(zip(*placeholders, strict=True))
    behind, by_key = {}, {}
    for node in new.node:
        inputs = [behind.get(end, end) for end in ends(node)]
        if node.op == "Identity":
            behind[node.name, 0] = inputs[0]
        elif node.op != "Placeholder":
            by_key[key(node, inputs)] = node.name
    for node in old.node:
        partner = by_key.get(key(node, [(same.get(name), output) for name, output in ends(node)]))
        if partner is not None or node.name not in same:
            same[node.name] = partner or same.get(node.name)
    return same


# %% wrong="same-nodes" why="returns the visible map"
def same_nodes(old: GraphDef, new: GraphDef) -> dict[str, str]:
    """Map each node of `old` to the node of `new` that computes the same; nodes without a partner are left out."""
    return {name: name for name in ["x", "y", "product", "relu", "factor", "scaled"]}


# %% right="same-nodes" why="recursion with a memo, both graphs into one table"
def same_nodes(old: GraphDef, new: GraphDef) -> dict[str, str]:
    """Map each node of `old` to the node of `new` that computes the same; nodes without a partner are left out."""
    table, memo = {}, {}

    def number_of(side, nodes, orders, name):
        """One number for all nodes of both graphs that compute the same."""
        if (side, name) not in memo:
            node = nodes[name]
            if node.op == "Placeholder":
                what = ("placeholder", orders[name])
            else:
                inputs = []
                for text in node.input:
                    source, index = end_of(nodes, text)
                    inputs.append((number_of(side, nodes, orders, source), index))
                attributes = {k: v.SerializeToString(deterministic=True) for k, v in node.attr.items() if k[0] != "_"}
                what = (node.op, tuple(sorted(attributes.items())), tuple(inputs))
            memo[side, name] = table.setdefault(what, len(table))
        return memo[side, name]

    def end_of(nodes, text):
        name, _, index = text.partition(":")
        while nodes[name].op == "Identity":
            name, _, index = nodes[name].input[0].partition(":")
        return name, int(index or "0")

    numbers = []
    for side, graph in enumerate((old, new)):
        nodes = {node.name: node for node in graph.node}
        inputs = [node.name for node in graph.node if node.op == "Placeholder"]
        orders = {name: index for index, name in enumerate(inputs)}
        mine = [node.name for node in graph.node if node.op != "Identity"]
        numbers.append({number_of(side, nodes, orders, name): name for name in mine})
    return {name: numbers[1][number] for number, name in numbers[0].items() if number in numbers[1]}


# %% right="same-nodes" why="compares each node with each, attributes as protos"
def same_nodes(old: GraphDef, new: GraphDef) -> dict[str, str]:
    """Map each node of `old` to the node of `new` that computes the same; nodes without a partner are left out."""
    def plain(node):
        bare = tf1.NodeDef(op=node.op, attr={k: v for k, v in node.attr.items() if not k.startswith("_")})
        return bare

    def split(text):
        name, _, index = text.partition(":")
        return name, int(index) if index else 0

    new_nodes = {node.name: node for node in new.node}

    def through(end):
        while new_nodes[end[0]].op == "Identity":
            end = split(new_nodes[end[0]].input[0])
        return end

    waiting = [node.name for node in new.node if node.op == "Placeholder"]
    same = {}
    for node in old.node:
        if node.op == "Placeholder":
            same[node.name] = waiting.pop(0)
            continue
        wanted = [(same.get(name), index) for name, index in map(split, node.input)]
        for other in new.node:
            if other.op == node.op and len(other.input) == len(wanted) and plain(other) == plain(node):
                if [through(split(text)) for text in other.input] == wanted:
                    same[node.name] = other.name
    return same


# %% wrong="hlo-origins" why="reads the whole program, bodies of loops too"
def hlo_origins(text: str) -> dict[str, list[str]]:
    """For each TensorFlow node named in the ENTRY computation, the opcodes of its instructions, in their order."""
    origins: dict[str, list[str]] = {}
    for line in text.splitlines():
        opcode = re.search(r" = (?:\(.*?\)|\S+) ([\w-]+)\(", line)
        name = re.search(r'metadata={op_type="[^"]+" op_name="([^"]+)"', line)
        if opcode and name:
            origins.setdefault(name[1], []).append(opcode[1])
    return origins


# %% wrong="hlo-origins" why="reads on after the ENTRY computation has ended"
def hlo_origins(text: str) -> dict[str, list[str]]:
    """For each TensorFlow node named in the ENTRY computation, the opcodes of its instructions, in their order."""
    origins: dict[str, list[str]] = {}
    entry = text[re.search("^ENTRY ", text, re.MULTILINE).start() :]
    for line in entry.splitlines()[1:]:
        opcode = re.search(r" = (?:\(.*?\)|\S+) ([\w-]+)\(", line)
        name = re.search(r'metadata={op_type="[^"]+" op_name="([^"]+)"', line)
        if opcode and name:
            origins.setdefault(name[1], []).append(opcode[1])
    return origins


# %% wrong="hlo-origins" why="takes the op's type for its name"
def hlo_origins(text: str) -> dict[str, list[str]]:
    """For each TensorFlow node named in the ENTRY computation, the opcodes of its instructions, in their order."""
    origins: dict[str, list[str]] = {}
    entry = text[re.search("^ENTRY ", text, re.MULTILINE).start() :]
    for line in entry.splitlines()[1:]:
        if line.startswith("}"):
            break
        opcode = re.search(r" = (?:\(.*?\)|\S+) ([\w-]+)\(", line)
        name = re.search(r'metadata={op_type="([^"]+)" op_name="[^"]+"', line)
        if opcode and name:
            origins.setdefault(name[1], []).append(opcode[1])
    return origins


# %% wrong="hlo-origins" why="keeps the last opcode only"
def hlo_origins(text: str) -> dict[str, list[str]]:
    """For each TensorFlow node named in the ENTRY computation, the opcodes of its instructions, in their order."""
    origins: dict[str, list[str]] = {}
    entry = text[re.search("^ENTRY ", text, re.MULTILINE).start() :]
    for line in entry.splitlines()[1:]:
        if line.startswith("}"):
            break
        opcode = re.search(r" = (?:\(.*?\)|\S+) ([\w-]+)\(", line)
        name = re.search(r'metadata={op_type="[^"]+" op_name="([^"]+)"', line)
        if opcode and name:
            origins[name[1]] = [opcode[1]]
    return origins


# %% wrong="hlo-origins" why="keeps each opcode once"
def hlo_origins(text: str) -> dict[str, list[str]]:
    """For each TensorFlow node named in the ENTRY computation, the opcodes of its instructions, in their order."""
    origins: dict[str, list[str]] = {}
    entry = text[re.search("^ENTRY ", text, re.MULTILINE).start() :]
    for line in entry.splitlines()[1:]:
        if line.startswith("}"):
            break
        opcode = re.search(r" = (?:\(.*?\)|\S+) ([\w-]+)\(", line)
        name = re.search(r'metadata={op_type="[^"]+" op_name="([^"]+)"', line)
        if opcode and name:
            if opcode[1] not in origins.setdefault(name[1], []):
                origins[name[1]].append(opcode[1])
    return origins


# %% wrong="hlo-origins" why="does not read tuple shapes"
def hlo_origins(text: str) -> dict[str, list[str]]:
    """For each TensorFlow node named in the ENTRY computation, the opcodes of its instructions, in their order."""
    origins: dict[str, list[str]] = {}
    entry = text[re.search("^ENTRY ", text, re.MULTILINE).start() :]
    for line in entry.splitlines()[1:]:
        if line.startswith("}"):
            break
        opcode = re.search(r" = [^\s()]+ ([\w-]+)\(", line)
        name = re.search(r'metadata={op_type="[^"]+" op_name="([^"]+)"', line)
        if opcode and name:
            origins.setdefault(name[1], []).append(opcode[1])
    return origins


# %% wrong="hlo-origins" why="counts instructions that are XLA's own"
def hlo_origins(text: str) -> dict[str, list[str]]:
    """For each TensorFlow node named in the ENTRY computation, the opcodes of its instructions, in their order."""
    origins: dict[str, list[str]] = {}
    entry = text[re.search("^ENTRY ", text, re.MULTILINE).start() :]
    for line in entry.splitlines()[1:]:
        if line.startswith("}"):
            break
        opcode = re.search(r" = (?:\(.*?\)|\S+) ([\w-]+)\(", line)
        name = re.search(r'metadata={.*op_name="([^"]+)"', line)
        if opcode and name:
            origins.setdefault(name[1], []).append(opcode[1])
    return origins


# %% wrong="hlo-origins" why="gives the set of opcodes sorted"
def hlo_origins(text: str) -> dict[str, list[str]]:
    """For each TensorFlow node named in the ENTRY computation, the opcodes of its instructions, in their order."""
    origins: dict[str, list[str]] = {}
    entry = text[re.search("^ENTRY ", text, re.MULTILINE).start() :]
    for line in entry.splitlines()[1:]:
        if line.startswith("}"):
            break
        opcode = re.search(r" = (?:\(.*?\)|\S+) ([\w-]+)\(", line)
        name = re.search(r'metadata={op_type="[^"]+" op_name="([^"]+)"', line)
        if opcode and name:
            origins.setdefault(name[1], []).append(opcode[1])
    return {name: sorted(opcodes) for name, opcodes in origins.items()}


# %% wrong="hlo-origins" why="reads the opcode up to a hyphen"
def hlo_origins(text: str) -> dict[str, list[str]]:
    """For each TensorFlow node named in the ENTRY computation, the opcodes of its instructions, in their order."""
    origins: dict[str, list[str]] = {}
    entry = text[re.search("^ENTRY ", text, re.MULTILINE).start() :]
    for line in entry.splitlines()[1:]:
        if line.startswith("}"):
            break
        opcode = re.search(r" = (?:\(.*?\)|\S+) (\w+)[-\w]*\(", line)
        name = re.search(r'metadata={op_type="[^"]+" op_name="([^"]+)"', line)
        if opcode and name:
            origins.setdefault(name[1], []).append(opcode[1])
    return origins


# %% wrong="hlo-origins" why="returns the visible dict"
def hlo_origins(text: str) -> dict[str, list[str]]:
    """For each TensorFlow node named in the ENTRY computation, the opcodes of its instructions, in their order."""
    return {
        "product": ["dot", "transpose"],
        "relu": ["constant", "broadcast", "maximum"],
        "scaled": ["constant", "broadcast", "multiply"],
    }


# %% wrong="hlo-origins" why="hands the text to the parser of the pictures"
def hlo_origins(text: str) -> dict[str, list[str]]:
    """For each TensorFlow node named in the ENTRY computation, the opcodes of its instructions, in their order."""
    from tflabs.view.hlo_text import parse_hlo

    origins = {}
    for instruction in parse_hlo(text).entry.instructions:
        name = re.search('op_type=.* op_name="([^"]+)"', str(instruction.attributes))
        if name:
            origins.setdefault(name[1], []).append(instruction.opcode)
    return origins


# %% right="hlo-origins" why="a line scanner without regular expressions"
def hlo_origins(text: str) -> dict[str, list[str]]:
    """For each TensorFlow node named in the ENTRY computation, the opcodes of its instructions, in their order."""
    origins, inside = {}, False
    for line in text.split("\n"):
        if line.startswith("ENTRY"):
            inside = True
        elif line.startswith("}"):
            inside = False
        elif inside and 'op_type="' in line:
            rest = line.split(" = ", 1)[1]
            depth = cut = 0
            for cut, letter in enumerate(rest):
                depth += (letter == "(") - (letter == ")")
                if letter == " " and depth == 0:
                    break
            opcode = rest[cut + 1 :].split("(")[0]
            name = line.split('op_name="')[1].split('"')[0]
            origins[name] = [*origins.get(name, []), opcode]
    return origins


# %% right="hlo-origins" why="one regular expression over the ENTRY text"
def hlo_origins(text: str) -> dict[str, list[str]]:
    """For each TensorFlow node named in the ENTRY computation, the opcodes of its instructions, in their order."""
    entry = re.search(r"^ENTRY [^\n]*\n(.*?)^}", text, re.MULTILINE | re.DOTALL)[1]
    pattern = re.compile(r'^ .*? = (?:\([^=]*\) |[^( ]+ )([a-z][a-z0-9-]*)\(.*op_type="[^"]*" op_name="([^"]*)"', re.MULTILINE)
    origins = {}
    for opcode, name in pattern.findall(entry):
        origins.setdefault(name, []).append(opcode)
    return origins

# %% wrong="predict-batches" why="thinks that the order of the two calls does not matter"
REPEAT_FIRST = [[0, 1, 2], [3, 4, 0], [1, 2, 3], [4]]
BATCH_FIRST = [[0, 1, 2], [3, 4, 0], [1, 2, 3], [4]]

# %% wrong="predict-batches" why="lets each pass end in a short batch"
REPEAT_FIRST = [[0, 1, 2], [3, 4], [0, 1, 2], [3, 4]]
BATCH_FIRST = [[0, 1, 2], [0, 1, 2]]

# %% wrong="predict-batches" why="keeps the remainder that is dropped"
REPEAT_FIRST = [[0, 1, 2], [3, 4, 0], [1, 2, 3], [4]]
BATCH_FIRST = [[0, 1, 2], [3, 4], [0, 1, 2], [3, 4]]

# %% wrong="predict-batches" why="gives tuples"
REPEAT_FIRST = [(0, 1, 2), (3, 4, 0), (1, 2, 3), (4,)]
BATCH_FIRST = [(0, 1, 2), (0, 1, 2)]

# %% wrong="predict-batches" why="drops the last batch in both"
REPEAT_FIRST = [[0, 1, 2], [3, 4, 0], [1, 2, 3]]
BATCH_FIRST = [[0, 1, 2], [0, 1, 2]]

# %% right="predict-batches" why="cuts the passes in Python"
passes = [*range(5), *range(5)]
REPEAT_FIRST = [passes[start : start + 3] for start in range(0, 10, 3)]
BATCH_FIRST = [[0, 1, 2] for _ in range(2)]


# %% wrong="three-ways" why="takes every batch for a full one"
def cost(array: np.ndarray, batch: int, steps: int) -> dict[str, tuple[int, int]]:
    """Bytes of array data in the graph, and handed over by Python in all steps, for four ways to feed.

    Raises:
        ValueError: the batch is less than 1.
    """
    if batch < 1:
        raise ValueError(f"a batch has at least one row, not {batch}")
    count = len(array)
    fed = steps * batch
    inside = (array.nbytes, 0)
    return {"feed": (0, fed * array[0].nbytes), "preload": inside, "slices": inside, "records": (0, 0)}


# %% wrong="three-ways" why="hands the preloaded array over once a step"
def cost(array: np.ndarray, batch: int, steps: int) -> dict[str, tuple[int, int]]:
    """Bytes of array data in the graph, and handed over by Python in all steps, for four ways to feed.

    Raises:
        ValueError: the batch is less than 1.
    """
    if batch < 1:
        raise ValueError(f"a batch has at least one row, not {batch}")
    count = len(array)
    passes, left = divmod(steps, -(-count // batch))
    fed = passes * count + min(left * batch, count)
    inside = (array.nbytes, 0)
    return {
        "feed": (0, fed * array[0].nbytes),
        "preload": (array.nbytes, steps * array.nbytes),
        "slices": inside,
        "records": (0, 0),
    }


# %% wrong="three-ways" why="forgets how large a number is"
def cost(array: np.ndarray, batch: int, steps: int) -> dict[str, tuple[int, int]]:
    """Bytes of array data in the graph, and handed over by Python in all steps, for four ways to feed.

    Raises:
        ValueError: the batch is less than 1.
    """
    if batch < 1:
        raise ValueError(f"a batch has at least one row, not {batch}")
    count = len(array)
    passes, left = divmod(steps, -(-count // batch))
    fed = passes * count + min(left * batch, count)
    inside = (array.size, 0)
    return {"feed": (0, fed * array[0].size), "preload": inside, "slices": inside, "records": (0, 0)}


# %% wrong="three-ways" why="returns what the visible test expects"
def cost(array: np.ndarray, batch: int, steps: int) -> dict[str, tuple[int, int]]:
    """Bytes of array data in the graph, and handed over by Python in all steps, for four ways to feed."""
    if batch < 1:
        raise ValueError("batch")
    return {"feed": (0, 3840), "preload": (40_000, 0), "slices": (40_000, 0), "records": (0, 0)}


# %% wrong="three-ways" why="thinks that a pipeline of slices has nothing in the graph"
def cost(array: np.ndarray, batch: int, steps: int) -> dict[str, tuple[int, int]]:
    """Bytes of array data in the graph, and handed over by Python in all steps, for four ways to feed.

    Raises:
        ValueError: the batch is less than 1.
    """
    if batch < 1:
        raise ValueError(f"a batch has at least one row, not {batch}")
    count = len(array)
    passes, left = divmod(steps, -(-count // batch))
    fed = passes * count + min(left * batch, count)
    inside = (array.nbytes, 0)
    return {"feed": (0, fed * array[0].nbytes), "preload": inside, "slices": (0, 0), "records": (0, 0)}


# %% wrong="three-ways" why="lets a batch mix two passes"
def cost(array: np.ndarray, batch: int, steps: int) -> dict[str, tuple[int, int]]:
    """Bytes of array data in the graph, and handed over by Python in all steps, for four ways to feed.

    Raises:
        ValueError: the batch is less than 1.
    """
    if batch < 1:
        raise ValueError(f"a batch has at least one row, not {batch}")
    count = len(array)
    passes, left = divmod(steps, max(count // batch, 1))
    fed = steps * batch
    inside = (array.nbytes, 0)
    return {"feed": (0, fed * array[0].nbytes), "preload": inside, "slices": inside, "records": (0, 0)}


# %% wrong="three-ways" why="drops the short batch of each pass"
def cost(array: np.ndarray, batch: int, steps: int) -> dict[str, tuple[int, int]]:
    """Bytes of array data in the graph, and handed over by Python in all steps, for four ways to feed.

    Raises:
        ValueError: the batch is less than 1.
    """
    if batch < 1:
        raise ValueError(f"a batch has at least one row, not {batch}")
    count = len(array)
    passes, left = divmod(steps, -(-count // batch))
    fed = steps * min(batch, count)
    inside = (array.nbytes, 0)
    return {"feed": (0, fed * array[0].nbytes), "preload": inside, "slices": inside, "records": (0, 0)}


# %% wrong="three-ways" why="takes any batch"
def cost(array: np.ndarray, batch: int, steps: int) -> dict[str, tuple[int, int]]:
    """Bytes of array data in the graph, and handed over by Python in all steps, for four ways to feed.

    Raises:
        ValueError: the batch is less than 1.
    """
    batch = max(batch, 1)
    count = len(array)
    passes, left = divmod(steps, -(-count // batch))
    fed = passes * count + min(left * batch, count)
    inside = (array.nbytes, 0)
    return {"feed": (0, fed * array[0].nbytes), "preload": inside, "slices": inside, "records": (0, 0)}


# %% right="three-ways" why="goes through the batches one by one, and measures the graphs"
def cost(array: np.ndarray, batch: int, steps: int) -> dict[str, tuple[int, int]]:
    """Bytes of array data in the graph, and handed over by Python in all steps, for four ways to feed."""
    if batch < 1:
        raise ValueError("a batch of no rows")
    fed, start = 0, 0
    for _ in range(steps):
        part = array[start : start + batch]
        fed += part.nbytes
        start = 0 if start + batch >= len(array) else start + batch
    with tf.Graph().as_default() as graph:
        tf.constant(array)
        held = sum(len(node.attr["value"].tensor.tensor_content) for node in graph.as_graph_def().node)
    return {"feed": (0, fed), "preload": (held, 0), "slices": (held, 0), "records": (0, 0)}


# %% wrong="queue" why="closes at once, so that an enqueue that waits is lost"
class FIFOQueue:
    """A bounded first-in-first-out queue as TensorFlow's, without threads: who must wait stays in a list.

    Raises:
        ValueError: the capacity is less than 1.
    """

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"a queue has room for at least one element, not for {capacity}")
        self._capacity, self._closed = capacity, False
        self._elements: deque = deque()
        self._putting: deque = deque()  # (ticket, values that did not fit; None for a close)
        self._taking: deque = deque()  # (ticket, n, up_to, values that it holds)

    def enqueue(self, ticket: int, values: list) -> list[Done]:
        """Puts values in, as many as fit; the rest waits."""
        self._putting.append((ticket, deque(values)))
        return self._flush()

    def dequeue(self, ticket: int, n: int, up_to: bool = False) -> list[Done]:
        """Takes n values out, as many as there are, and waits for the rest; `up_to`: fewer, if the queue is closed."""
        self._taking.append((ticket, n, up_to, []))
        return self._flush()

    def close(self, ticket: int, cancel_pending: bool = False) -> list[Done]:
        """Closes the queue, after the enqueues that wait or, with `cancel_pending`, instead of them."""
        if not cancel_pending:
            if self._closed:
                return [Done(ticket, "CancelledError", None)]
            self._closed = True
            return [Done(ticket, "ok", None), *self._flush()]
        cancelled = [Done(waiting, "CancelledError", None) for waiting, _ in self._putting]
        self._putting.clear()
        self._closed = True
        return [*cancelled, Done(ticket, "ok", None), *self._flush()]

    def size(self) -> int:
        """The number of elements inside."""
        return len(self._elements)

    def _flush(self) -> list[Done]:
        done: list[Done] = []
        while self._serve_putting(done) or self._serve_taking(done):
            pass
        return done

    def _serve_putting(self, done: list[Done]) -> bool:
        """Serves the first attempt to put in; whether anything changed."""
        if not self._putting:
            return False
        ticket, rest = self._putting[0]
        status, moved = "ok", False
        if self._closed:
            status = "CancelledError"
        elif rest is None:
            self._closed = True
        else:
            while rest and len(self._elements) < self._capacity:
                self._elements.append(rest.popleft())
                moved = True
            if rest:
                return moved
        self._putting.popleft()
        done.append(Done(ticket, status, None))
        return True

    def _serve_taking(self, done: list[Done]) -> bool:
        """Serves the first attempt to take out; whether anything changed."""
        if not self._taking:
            return False
        ticket, n, up_to, held = self._taking[0]
        if self._closed and len(held) + len(self._elements) < n:
            self._elements.extendleft(reversed(held))
            n = len(self._elements) if up_to else 0
            held = []
        before = len(held)
        while len(held) < n and self._elements:
            held.append(self._elements.popleft())
        if len(held) < n:
            return len(held) > before
        self._taking.popleft()
        done.append(Done(ticket, "ok", held) if held else Done(ticket, "OutOfRangeError", None))
        return True


# %% wrong="queue" why="a dequeue takes all or nothing"
class FIFOQueue:
    """A bounded first-in-first-out queue as TensorFlow's, without threads: who must wait stays in a list.

    Raises:
        ValueError: the capacity is less than 1.
    """

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"a queue has room for at least one element, not for {capacity}")
        self._capacity, self._closed = capacity, False
        self._elements: deque = deque()
        self._putting: deque = deque()  # (ticket, values that did not fit; None for a close)
        self._taking: deque = deque()  # (ticket, n, up_to, values that it holds)

    def enqueue(self, ticket: int, values: list) -> list[Done]:
        """Puts values in, as many as fit; the rest waits."""
        self._putting.append((ticket, deque(values)))
        return self._flush()

    def dequeue(self, ticket: int, n: int, up_to: bool = False) -> list[Done]:
        """Takes n values out, as many as there are, and waits for the rest; `up_to`: fewer, if the queue is closed."""
        self._taking.append((ticket, n, up_to, []))
        return self._flush()

    def close(self, ticket: int, cancel_pending: bool = False) -> list[Done]:
        """Closes the queue, after the enqueues that wait or, with `cancel_pending`, instead of them."""
        if not cancel_pending:
            self._putting.append((ticket, None))
            return self._flush()
        cancelled = [Done(waiting, "CancelledError", None) for waiting, _ in self._putting]
        self._putting.clear()
        self._closed = True
        return [*cancelled, Done(ticket, "ok", None), *self._flush()]

    def size(self) -> int:
        """The number of elements inside."""
        return len(self._elements)

    def _flush(self) -> list[Done]:
        done: list[Done] = []
        while self._serve_putting(done) or self._serve_taking(done):
            pass
        return done

    def _serve_putting(self, done: list[Done]) -> bool:
        """Serves the first attempt to put in; whether anything changed."""
        if not self._putting:
            return False
        ticket, rest = self._putting[0]
        status, moved = "ok", False
        if self._closed:
            status = "CancelledError"
        elif rest is None:
            self._closed = True
        else:
            while rest and len(self._elements) < self._capacity:
                self._elements.append(rest.popleft())
                moved = True
            if rest:
                return moved
        self._putting.popleft()
        done.append(Done(ticket, status, None))
        return True

    def _serve_taking(self, done: list[Done]) -> bool:
        """Serves the first attempt to take out; whether anything changed."""
        if not self._taking:
            return False
        ticket, n, up_to, held = self._taking[0]
        if self._closed and len(held) + len(self._elements) < n:
            self._elements.extendleft(reversed(held))
            n = len(self._elements) if up_to else 0
            held = []
        before = len(held)
        while len(held) < n and len(held) + len(self._elements) >= n:
            held.append(self._elements.popleft())
        if len(held) < n:
            return len(held) > before
        self._taking.popleft()
        done.append(Done(ticket, "ok", held) if held else Done(ticket, "OutOfRangeError", None))
        return True


# %% wrong="queue" why="drops what a dequeue holds when it fails"
class FIFOQueue:
    """A bounded first-in-first-out queue as TensorFlow's, without threads: who must wait stays in a list.

    Raises:
        ValueError: the capacity is less than 1.
    """

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"a queue has room for at least one element, not for {capacity}")
        self._capacity, self._closed = capacity, False
        self._elements: deque = deque()
        self._putting: deque = deque()  # (ticket, values that did not fit; None for a close)
        self._taking: deque = deque()  # (ticket, n, up_to, values that it holds)

    def enqueue(self, ticket: int, values: list) -> list[Done]:
        """Puts values in, as many as fit; the rest waits."""
        self._putting.append((ticket, deque(values)))
        return self._flush()

    def dequeue(self, ticket: int, n: int, up_to: bool = False) -> list[Done]:
        """Takes n values out, as many as there are, and waits for the rest; `up_to`: fewer, if the queue is closed."""
        self._taking.append((ticket, n, up_to, []))
        return self._flush()

    def close(self, ticket: int, cancel_pending: bool = False) -> list[Done]:
        """Closes the queue, after the enqueues that wait or, with `cancel_pending`, instead of them."""
        if not cancel_pending:
            self._putting.append((ticket, None))
            return self._flush()
        cancelled = [Done(waiting, "CancelledError", None) for waiting, _ in self._putting]
        self._putting.clear()
        self._closed = True
        return [*cancelled, Done(ticket, "ok", None), *self._flush()]

    def size(self) -> int:
        """The number of elements inside."""
        return len(self._elements)

    def _flush(self) -> list[Done]:
        done: list[Done] = []
        while self._serve_putting(done) or self._serve_taking(done):
            pass
        return done

    def _serve_putting(self, done: list[Done]) -> bool:
        """Serves the first attempt to put in; whether anything changed."""
        if not self._putting:
            return False
        ticket, rest = self._putting[0]
        status, moved = "ok", False
        if self._closed:
            status = "CancelledError"
        elif rest is None:
            self._closed = True
        else:
            while rest and len(self._elements) < self._capacity:
                self._elements.append(rest.popleft())
                moved = True
            if rest:
                return moved
        self._putting.popleft()
        done.append(Done(ticket, status, None))
        return True

    def _serve_taking(self, done: list[Done]) -> bool:
        """Serves the first attempt to take out; whether anything changed."""
        if not self._taking:
            return False
        ticket, n, up_to, held = self._taking[0]
        if self._closed and len(held) + len(self._elements) < n:
            n = len(self._elements) if up_to else 0
            held = []
        before = len(held)
        while len(held) < n and self._elements:
            held.append(self._elements.popleft())
        if len(held) < n:
            return len(held) > before
        self._taking.popleft()
        done.append(Done(ticket, "ok", held) if held else Done(ticket, "OutOfRangeError", None))
        return True


# %% wrong="queue" why="puts back what a dequeue holds in the wrong order"
class FIFOQueue:
    """A bounded first-in-first-out queue as TensorFlow's, without threads: who must wait stays in a list.

    Raises:
        ValueError: the capacity is less than 1.
    """

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"a queue has room for at least one element, not for {capacity}")
        self._capacity, self._closed = capacity, False
        self._elements: deque = deque()
        self._putting: deque = deque()  # (ticket, values that did not fit; None for a close)
        self._taking: deque = deque()  # (ticket, n, up_to, values that it holds)

    def enqueue(self, ticket: int, values: list) -> list[Done]:
        """Puts values in, as many as fit; the rest waits."""
        self._putting.append((ticket, deque(values)))
        return self._flush()

    def dequeue(self, ticket: int, n: int, up_to: bool = False) -> list[Done]:
        """Takes n values out, as many as there are, and waits for the rest; `up_to`: fewer, if the queue is closed."""
        self._taking.append((ticket, n, up_to, []))
        return self._flush()

    def close(self, ticket: int, cancel_pending: bool = False) -> list[Done]:
        """Closes the queue, after the enqueues that wait or, with `cancel_pending`, instead of them."""
        if not cancel_pending:
            self._putting.append((ticket, None))
            return self._flush()
        cancelled = [Done(waiting, "CancelledError", None) for waiting, _ in self._putting]
        self._putting.clear()
        self._closed = True
        return [*cancelled, Done(ticket, "ok", None), *self._flush()]

    def size(self) -> int:
        """The number of elements inside."""
        return len(self._elements)

    def _flush(self) -> list[Done]:
        done: list[Done] = []
        while self._serve_putting(done) or self._serve_taking(done):
            pass
        return done

    def _serve_putting(self, done: list[Done]) -> bool:
        """Serves the first attempt to put in; whether anything changed."""
        if not self._putting:
            return False
        ticket, rest = self._putting[0]
        status, moved = "ok", False
        if self._closed:
            status = "CancelledError"
        elif rest is None:
            self._closed = True
        else:
            while rest and len(self._elements) < self._capacity:
                self._elements.append(rest.popleft())
                moved = True
            if rest:
                return moved
        self._putting.popleft()
        done.append(Done(ticket, status, None))
        return True

    def _serve_taking(self, done: list[Done]) -> bool:
        """Serves the first attempt to take out; whether anything changed."""
        if not self._taking:
            return False
        ticket, n, up_to, held = self._taking[0]
        if self._closed and len(held) + len(self._elements) < n:
            self._elements.extendleft(held)
            n = len(self._elements) if up_to else 0
            held = []
        before = len(held)
        while len(held) < n and self._elements:
            held.append(self._elements.popleft())
        if len(held) < n:
            return len(held) > before
        self._taking.popleft()
        done.append(Done(ticket, "ok", held) if held else Done(ticket, "OutOfRangeError", None))
        return True


# %% wrong="queue" why="a small dequeue overtakes a large one"
class FIFOQueue:
    """A bounded first-in-first-out queue as TensorFlow's, without threads: who must wait stays in a list.

    Raises:
        ValueError: the capacity is less than 1.
    """

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"a queue has room for at least one element, not for {capacity}")
        self._capacity, self._closed = capacity, False
        self._elements: deque = deque()
        self._putting: deque = deque()  # (ticket, values that did not fit; None for a close)
        self._taking: deque = deque()  # (ticket, n, up_to, values that it holds)

    def enqueue(self, ticket: int, values: list) -> list[Done]:
        """Puts values in, as many as fit; the rest waits."""
        self._putting.append((ticket, deque(values)))
        return self._flush()

    def dequeue(self, ticket: int, n: int, up_to: bool = False) -> list[Done]:
        """Takes n values out, as many as there are, and waits for the rest; `up_to`: fewer, if the queue is closed."""
        self._taking.append((ticket, n, up_to, []))
        return self._flush()

    def close(self, ticket: int, cancel_pending: bool = False) -> list[Done]:
        """Closes the queue, after the enqueues that wait or, with `cancel_pending`, instead of them."""
        if not cancel_pending:
            self._putting.append((ticket, None))
            return self._flush()
        cancelled = [Done(waiting, "CancelledError", None) for waiting, _ in self._putting]
        self._putting.clear()
        self._closed = True
        return [*cancelled, Done(ticket, "ok", None), *self._flush()]

    def size(self) -> int:
        """The number of elements inside."""
        return len(self._elements)

    def _flush(self) -> list[Done]:
        done: list[Done] = []
        while self._serve_putting(done) or self._serve_taking(done) or self._overtake(done):
            pass
        return done

    def _overtake(self, done: list[Done]) -> bool:
        """Lets the second attempt go first if the first one cannot move."""
        if len(self._taking) < 2 or self._taking[1][1] > len(self._taking[0][3]):
            return False
        ticket, n, _, _ = self._taking[1]
        held = self._taking[0][3]
        done.append(Done(ticket, "ok", [held.pop(0) for _ in range(n)]))
        del self._taking[1]
        return True

    def _serve_putting(self, done: list[Done]) -> bool:
        """Serves the first attempt to put in; whether anything changed."""
        if not self._putting:
            return False
        ticket, rest = self._putting[0]
        status, moved = "ok", False
        if self._closed:
            status = "CancelledError"
        elif rest is None:
            self._closed = True
        else:
            while rest and len(self._elements) < self._capacity:
                self._elements.append(rest.popleft())
                moved = True
            if rest:
                return moved
        self._putting.popleft()
        done.append(Done(ticket, status, None))
        return True

    def _serve_taking(self, done: list[Done]) -> bool:
        """Serves the first attempt to take out; whether anything changed."""
        if not self._taking:
            return False
        ticket, n, up_to, held = self._taking[0]
        if self._closed and len(held) + len(self._elements) < n:
            self._elements.extendleft(reversed(held))
            n = len(self._elements) if up_to else 0
            held = []
        before = len(held)
        while len(held) < n and self._elements:
            held.append(self._elements.popleft())
        if len(held) < n:
            return len(held) > before
        self._taking.popleft()
        done.append(Done(ticket, "ok", held) if held else Done(ticket, "OutOfRangeError", None))
        return True


# %% wrong="queue" why="up_to returns at once what is there"
class FIFOQueue:
    """A bounded first-in-first-out queue as TensorFlow's, without threads: who must wait stays in a list.

    Raises:
        ValueError: the capacity is less than 1.
    """

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"a queue has room for at least one element, not for {capacity}")
        self._capacity, self._closed = capacity, False
        self._elements: deque = deque()
        self._putting: deque = deque()  # (ticket, values that did not fit; None for a close)
        self._taking: deque = deque()  # (ticket, n, up_to, values that it holds)

    def enqueue(self, ticket: int, values: list) -> list[Done]:
        """Puts values in, as many as fit; the rest waits."""
        self._putting.append((ticket, deque(values)))
        return self._flush()

    def dequeue(self, ticket: int, n: int, up_to: bool = False) -> list[Done]:
        """Takes n values out, as many as there are, and waits for the rest; `up_to`: fewer, if the queue is closed."""
        self._taking.append((ticket, n, up_to, []))
        return self._flush()

    def close(self, ticket: int, cancel_pending: bool = False) -> list[Done]:
        """Closes the queue, after the enqueues that wait or, with `cancel_pending`, instead of them."""
        if not cancel_pending:
            self._putting.append((ticket, None))
            return self._flush()
        cancelled = [Done(waiting, "CancelledError", None) for waiting, _ in self._putting]
        self._putting.clear()
        self._closed = True
        return [*cancelled, Done(ticket, "ok", None), *self._flush()]

    def size(self) -> int:
        """The number of elements inside."""
        return len(self._elements)

    def _flush(self) -> list[Done]:
        done: list[Done] = []
        while self._serve_putting(done) or self._serve_taking(done):
            pass
        return done

    def _serve_putting(self, done: list[Done]) -> bool:
        """Serves the first attempt to put in; whether anything changed."""
        if not self._putting:
            return False
        ticket, rest = self._putting[0]
        status, moved = "ok", False
        if self._closed:
            status = "CancelledError"
        elif rest is None:
            self._closed = True
        else:
            while rest and len(self._elements) < self._capacity:
                self._elements.append(rest.popleft())
                moved = True
            if rest:
                return moved
        self._putting.popleft()
        done.append(Done(ticket, status, None))
        return True

    def _serve_taking(self, done: list[Done]) -> bool:
        """Serves the first attempt to take out; whether anything changed."""
        if not self._taking:
            return False
        ticket, n, up_to, held = self._taking[0]
        if self._closed and len(held) + len(self._elements) < n:
            self._elements.extendleft(reversed(held))
            n = len(self._elements) if up_to else 0
            held = []
        before = len(held)
        while len(held) < n and self._elements:
            held.append(self._elements.popleft())
        if len(held) < n and not (up_to and held):
            return len(held) > before
        self._taking.popleft()
        done.append(Done(ticket, "ok", held) if held else Done(ticket, "OutOfRangeError", None))
        return True


# %% wrong="queue" why="a second close succeeds"
class FIFOQueue:
    """A bounded first-in-first-out queue as TensorFlow's, without threads: who must wait stays in a list.

    Raises:
        ValueError: the capacity is less than 1.
    """

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"a queue has room for at least one element, not for {capacity}")
        self._capacity, self._closed = capacity, False
        self._elements: deque = deque()
        self._putting: deque = deque()  # (ticket, values that did not fit; None for a close)
        self._taking: deque = deque()  # (ticket, n, up_to, values that it holds)

    def enqueue(self, ticket: int, values: list) -> list[Done]:
        """Puts values in, as many as fit; the rest waits."""
        self._putting.append((ticket, deque(values)))
        return self._flush()

    def dequeue(self, ticket: int, n: int, up_to: bool = False) -> list[Done]:
        """Takes n values out, as many as there are, and waits for the rest; `up_to`: fewer, if the queue is closed."""
        self._taking.append((ticket, n, up_to, []))
        return self._flush()

    def close(self, ticket: int, cancel_pending: bool = False) -> list[Done]:
        """Closes the queue, after the enqueues that wait or, with `cancel_pending`, instead of them."""
        if not cancel_pending:
            self._putting.append((ticket, None))
            return self._flush()
        cancelled = [Done(waiting, "CancelledError", None) for waiting, _ in self._putting]
        self._putting.clear()
        self._closed = True
        return [*cancelled, Done(ticket, "ok", None), *self._flush()]

    def size(self) -> int:
        """The number of elements inside."""
        return len(self._elements)

    def _flush(self) -> list[Done]:
        done: list[Done] = []
        while self._serve_putting(done) or self._serve_taking(done):
            pass
        return done

    def _serve_putting(self, done: list[Done]) -> bool:
        """Serves the first attempt to put in; whether anything changed."""
        if not self._putting:
            return False
        ticket, rest = self._putting[0]
        status, moved = "ok", False
        if self._closed and rest is not None:
            status = "CancelledError"
        elif rest is None:
            self._closed = True
        else:
            while rest and len(self._elements) < self._capacity:
                self._elements.append(rest.popleft())
                moved = True
            if rest:
                return moved
        self._putting.popleft()
        done.append(Done(ticket, status, None))
        return True

    def _serve_taking(self, done: list[Done]) -> bool:
        """Serves the first attempt to take out; whether anything changed."""
        if not self._taking:
            return False
        ticket, n, up_to, held = self._taking[0]
        if self._closed and len(held) + len(self._elements) < n:
            self._elements.extendleft(reversed(held))
            n = len(self._elements) if up_to else 0
            held = []
        before = len(held)
        while len(held) < n and self._elements:
            held.append(self._elements.popleft())
        if len(held) < n:
            return len(held) > before
        self._taking.popleft()
        done.append(Done(ticket, "ok", held) if held else Done(ticket, "OutOfRangeError", None))
        return True


# %% wrong="queue" why="cancelling a closed queue is refused"
class FIFOQueue:
    """A bounded first-in-first-out queue as TensorFlow's, without threads: who must wait stays in a list.

    Raises:
        ValueError: the capacity is less than 1.
    """

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"a queue has room for at least one element, not for {capacity}")
        self._capacity, self._closed = capacity, False
        self._elements: deque = deque()
        self._putting: deque = deque()  # (ticket, values that did not fit; None for a close)
        self._taking: deque = deque()  # (ticket, n, up_to, values that it holds)

    def enqueue(self, ticket: int, values: list) -> list[Done]:
        """Puts values in, as many as fit; the rest waits."""
        self._putting.append((ticket, deque(values)))
        return self._flush()

    def dequeue(self, ticket: int, n: int, up_to: bool = False) -> list[Done]:
        """Takes n values out, as many as there are, and waits for the rest; `up_to`: fewer, if the queue is closed."""
        self._taking.append((ticket, n, up_to, []))
        return self._flush()

    def close(self, ticket: int, cancel_pending: bool = False) -> list[Done]:
        """Closes the queue, after the enqueues that wait or, with `cancel_pending`, instead of them."""
        if not cancel_pending:
            self._putting.append((ticket, None))
            return self._flush()
        if self._closed:
            return [Done(ticket, "CancelledError", None)]
        cancelled = [Done(waiting, "CancelledError", None) for waiting, _ in self._putting]
        self._putting.clear()
        self._closed = True
        return [*cancelled, Done(ticket, "ok", None), *self._flush()]

    def size(self) -> int:
        """The number of elements inside."""
        return len(self._elements)

    def _flush(self) -> list[Done]:
        done: list[Done] = []
        while self._serve_putting(done) or self._serve_taking(done):
            pass
        return done

    def _serve_putting(self, done: list[Done]) -> bool:
        """Serves the first attempt to put in; whether anything changed."""
        if not self._putting:
            return False
        ticket, rest = self._putting[0]
        status, moved = "ok", False
        if self._closed:
            status = "CancelledError"
        elif rest is None:
            self._closed = True
        else:
            while rest and len(self._elements) < self._capacity:
                self._elements.append(rest.popleft())
                moved = True
            if rest:
                return moved
        self._putting.popleft()
        done.append(Done(ticket, status, None))
        return True

    def _serve_taking(self, done: list[Done]) -> bool:
        """Serves the first attempt to take out; whether anything changed."""
        if not self._taking:
            return False
        ticket, n, up_to, held = self._taking[0]
        if self._closed and len(held) + len(self._elements) < n:
            self._elements.extendleft(reversed(held))
            n = len(self._elements) if up_to else 0
            held = []
        before = len(held)
        while len(held) < n and self._elements:
            held.append(self._elements.popleft())
        if len(held) < n:
            return len(held) > before
        self._taking.popleft()
        done.append(Done(ticket, "ok", held) if held else Done(ticket, "OutOfRangeError", None))
        return True


# %% wrong="queue" why="an enqueue puts in all or nothing"
class FIFOQueue:
    """A bounded first-in-first-out queue as TensorFlow's, without threads: who must wait stays in a list.

    Raises:
        ValueError: the capacity is less than 1.
    """

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"a queue has room for at least one element, not for {capacity}")
        self._capacity, self._closed = capacity, False
        self._elements: deque = deque()
        self._putting: deque = deque()  # (ticket, values that did not fit; None for a close)
        self._taking: deque = deque()  # (ticket, n, up_to, values that it holds)

    def enqueue(self, ticket: int, values: list) -> list[Done]:
        """Puts values in, as many as fit; the rest waits."""
        self._putting.append((ticket, deque(values)))
        return self._flush()

    def dequeue(self, ticket: int, n: int, up_to: bool = False) -> list[Done]:
        """Takes n values out, as many as there are, and waits for the rest; `up_to`: fewer, if the queue is closed."""
        self._taking.append((ticket, n, up_to, []))
        return self._flush()

    def close(self, ticket: int, cancel_pending: bool = False) -> list[Done]:
        """Closes the queue, after the enqueues that wait or, with `cancel_pending`, instead of them."""
        if not cancel_pending:
            self._putting.append((ticket, None))
            return self._flush()
        cancelled = [Done(waiting, "CancelledError", None) for waiting, _ in self._putting]
        self._putting.clear()
        self._closed = True
        return [*cancelled, Done(ticket, "ok", None), *self._flush()]

    def size(self) -> int:
        """The number of elements inside."""
        return len(self._elements)

    def _flush(self) -> list[Done]:
        done: list[Done] = []
        while self._serve_putting(done) or self._serve_taking(done):
            pass
        return done

    def _serve_putting(self, done: list[Done]) -> bool:
        """Serves the first attempt to put in; whether anything changed."""
        if not self._putting:
            return False
        ticket, rest = self._putting[0]
        status, moved = "ok", False
        if self._closed:
            status = "CancelledError"
        elif rest is None:
            self._closed = True
        else:
            while rest and (moved or len(self._elements) + len(rest) <= self._capacity):
                self._elements.append(rest.popleft())
                moved = True
            if rest:
                return moved
        self._putting.popleft()
        done.append(Done(ticket, status, None))
        return True

    def _serve_taking(self, done: list[Done]) -> bool:
        """Serves the first attempt to take out; whether anything changed."""
        if not self._taking:
            return False
        ticket, n, up_to, held = self._taking[0]
        if self._closed and len(held) + len(self._elements) < n:
            self._elements.extendleft(reversed(held))
            n = len(self._elements) if up_to else 0
            held = []
        before = len(held)
        while len(held) < n and self._elements:
            held.append(self._elements.popleft())
        if len(held) < n:
            return len(held) > before
        self._taking.popleft()
        done.append(Done(ticket, "ok", held) if held else Done(ticket, "OutOfRangeError", None))
        return True


# %% wrong="queue" why="closing does not look at the dequeues that wait"
class FIFOQueue:
    """A bounded first-in-first-out queue as TensorFlow's, without threads: who must wait stays in a list.

    Raises:
        ValueError: the capacity is less than 1.
    """

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"a queue has room for at least one element, not for {capacity}")
        self._capacity, self._closed = capacity, False
        self._elements: deque = deque()
        self._putting: deque = deque()  # (ticket, values that did not fit; None for a close)
        self._taking: deque = deque()  # (ticket, n, up_to, values that it holds)

    def enqueue(self, ticket: int, values: list) -> list[Done]:
        """Puts values in, as many as fit; the rest waits."""
        self._putting.append((ticket, deque(values)))
        return self._flush()

    def dequeue(self, ticket: int, n: int, up_to: bool = False) -> list[Done]:
        """Takes n values out, as many as there are, and waits for the rest; `up_to`: fewer, if the queue is closed."""
        self._taking.append((ticket, n, up_to, []))
        return self._flush()

    def close(self, ticket: int, cancel_pending: bool = False) -> list[Done]:
        """Closes the queue, after the enqueues that wait or, with `cancel_pending`, instead of them."""
        if not cancel_pending:
            self._putting.append((ticket, None))
            return self._flush()
        cancelled = [Done(waiting, "CancelledError", None) for waiting, _ in self._putting]
        self._putting.clear()
        self._closed = True
        return [*cancelled, Done(ticket, "ok", None)]

    def size(self) -> int:
        """The number of elements inside."""
        return len(self._elements)

    def _flush(self) -> list[Done]:
        done: list[Done] = []
        while self._serve_putting(done) or self._serve_taking(done):
            pass
        return done

    def _serve_putting(self, done: list[Done]) -> bool:
        """Serves the first attempt to put in; whether anything changed."""
        if not self._putting:
            return False
        ticket, rest = self._putting[0]
        status, moved = "ok", False
        if self._closed:
            status = "CancelledError"
        elif rest is None:
            self._closed = True
        else:
            while rest and len(self._elements) < self._capacity:
                self._elements.append(rest.popleft())
                moved = True
            if rest:
                return moved
        self._putting.popleft()
        done.append(Done(ticket, status, None))
        return True

    def _serve_taking(self, done: list[Done]) -> bool:
        """Serves the first attempt to take out; whether anything changed."""
        if not self._taking:
            return False
        ticket, n, up_to, held = self._taking[0]
        if self._closed and len(held) + len(self._elements) < n:
            self._elements.extendleft(reversed(held))
            n = len(self._elements) if up_to else 0
            held = []
        before = len(held)
        while len(held) < n and self._elements:
            held.append(self._elements.popleft())
        if len(held) < n:
            return len(held) > before
        self._taking.popleft()
        done.append(Done(ticket, "ok", held) if held else Done(ticket, "OutOfRangeError", None))
        return True


# %% wrong="queue" why="cancelling leaves a plain close that waits in the list"
class FIFOQueue:
    """A bounded first-in-first-out queue as TensorFlow's, without threads: who must wait stays in a list.

    Raises:
        ValueError: the capacity is less than 1.
    """

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"a queue has room for at least one element, not for {capacity}")
        self._capacity, self._closed = capacity, False
        self._elements: deque = deque()
        self._putting: deque = deque()  # (ticket, values that did not fit; None for a close)
        self._taking: deque = deque()  # (ticket, n, up_to, values that it holds)

    def enqueue(self, ticket: int, values: list) -> list[Done]:
        """Puts values in, as many as fit; the rest waits."""
        self._putting.append((ticket, deque(values)))
        return self._flush()

    def dequeue(self, ticket: int, n: int, up_to: bool = False) -> list[Done]:
        """Takes n values out, as many as there are, and waits for the rest; `up_to`: fewer, if the queue is closed."""
        self._taking.append((ticket, n, up_to, []))
        return self._flush()

    def close(self, ticket: int, cancel_pending: bool = False) -> list[Done]:
        """Closes the queue, after the enqueues that wait or, with `cancel_pending`, instead of them."""
        if not cancel_pending:
            self._putting.append((ticket, None))
            return self._flush()
        cancelled = [Done(waiting, "CancelledError", None) for waiting, rest in self._putting if rest is not None]
        self._putting = deque(attempt for attempt in self._putting if attempt[1] is None)
        self._closed = True
        return [*cancelled, Done(ticket, "ok", None), *self._flush()]

    def size(self) -> int:
        """The number of elements inside."""
        return len(self._elements)

    def _flush(self) -> list[Done]:
        done: list[Done] = []
        while self._serve_putting(done) or self._serve_taking(done):
            pass
        return done

    def _serve_putting(self, done: list[Done]) -> bool:
        """Serves the first attempt to put in; whether anything changed."""
        if not self._putting:
            return False
        ticket, rest = self._putting[0]
        status, moved = "ok", False
        if self._closed and rest is not None:
            status = "CancelledError"
        elif rest is None:
            self._closed = True
        else:
            while rest and len(self._elements) < self._capacity:
                self._elements.append(rest.popleft())
                moved = True
            if rest:
                return moved
        self._putting.popleft()
        done.append(Done(ticket, status, None))
        return True

    def _serve_taking(self, done: list[Done]) -> bool:
        """Serves the first attempt to take out; whether anything changed."""
        if not self._taking:
            return False
        ticket, n, up_to, held = self._taking[0]
        if self._closed and len(held) + len(self._elements) < n:
            self._elements.extendleft(reversed(held))
            n = len(self._elements) if up_to else 0
            held = []
        before = len(held)
        while len(held) < n and self._elements:
            held.append(self._elements.popleft())
        if len(held) < n:
            return len(held) > before
        self._taking.popleft()
        done.append(Done(ticket, "ok", held) if held else Done(ticket, "OutOfRangeError", None))
        return True


# %% wrong="queue" why="on a closed queue a dequeue gets what is left, also without up_to"
class FIFOQueue:
    """A bounded first-in-first-out queue as TensorFlow's, without threads: who must wait stays in a list.

    Raises:
        ValueError: the capacity is less than 1.
    """

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"a queue has room for at least one element, not for {capacity}")
        self._capacity, self._closed = capacity, False
        self._elements: deque = deque()
        self._putting: deque = deque()  # (ticket, values that did not fit; None for a close)
        self._taking: deque = deque()  # (ticket, n, up_to, values that it holds)

    def enqueue(self, ticket: int, values: list) -> list[Done]:
        """Puts values in, as many as fit; the rest waits."""
        self._putting.append((ticket, deque(values)))
        return self._flush()

    def dequeue(self, ticket: int, n: int, up_to: bool = False) -> list[Done]:
        """Takes n values out, as many as there are, and waits for the rest; `up_to`: fewer, if the queue is closed."""
        self._taking.append((ticket, n, up_to, []))
        return self._flush()

    def close(self, ticket: int, cancel_pending: bool = False) -> list[Done]:
        """Closes the queue, after the enqueues that wait or, with `cancel_pending`, instead of them."""
        if not cancel_pending:
            self._putting.append((ticket, None))
            return self._flush()
        cancelled = [Done(waiting, "CancelledError", None) for waiting, _ in self._putting]
        self._putting.clear()
        self._closed = True
        return [*cancelled, Done(ticket, "ok", None), *self._flush()]

    def size(self) -> int:
        """The number of elements inside."""
        return len(self._elements)

    def _flush(self) -> list[Done]:
        done: list[Done] = []
        while self._serve_putting(done) or self._serve_taking(done):
            pass
        return done

    def _serve_putting(self, done: list[Done]) -> bool:
        """Serves the first attempt to put in; whether anything changed."""
        if not self._putting:
            return False
        ticket, rest = self._putting[0]
        status, moved = "ok", False
        if self._closed:
            status = "CancelledError"
        elif rest is None:
            self._closed = True
        else:
            while rest and len(self._elements) < self._capacity:
                self._elements.append(rest.popleft())
                moved = True
            if rest:
                return moved
        self._putting.popleft()
        done.append(Done(ticket, status, None))
        return True

    def _serve_taking(self, done: list[Done]) -> bool:
        """Serves the first attempt to take out; whether anything changed."""
        if not self._taking:
            return False
        ticket, n, up_to, held = self._taking[0]
        if self._closed and len(held) + len(self._elements) < n:
            self._elements.extendleft(reversed(held))
            n = len(self._elements)
            held = []
        before = len(held)
        while len(held) < n and self._elements:
            held.append(self._elements.popleft())
        if len(held) < n:
            return len(held) > before
        self._taking.popleft()
        done.append(Done(ticket, "ok", held) if held else Done(ticket, "OutOfRangeError", None))
        return True


# %% wrong="queue" why="takes a capacity of 0"
class FIFOQueue:
    """A bounded first-in-first-out queue as TensorFlow's, without threads: who must wait stays in a list.

    Raises:
        ValueError: the capacity is less than 1.
    """

    def __init__(self, capacity: int) -> None:
        if capacity < 0:
            raise ValueError(f"a queue has room for at least one element, not for {capacity}")
        self._capacity, self._closed = capacity, False
        self._elements: deque = deque()
        self._putting: deque = deque()  # (ticket, values that did not fit; None for a close)
        self._taking: deque = deque()  # (ticket, n, up_to, values that it holds)

    def enqueue(self, ticket: int, values: list) -> list[Done]:
        """Puts values in, as many as fit; the rest waits."""
        self._putting.append((ticket, deque(values)))
        return self._flush()

    def dequeue(self, ticket: int, n: int, up_to: bool = False) -> list[Done]:
        """Takes n values out, as many as there are, and waits for the rest; `up_to`: fewer, if the queue is closed."""
        self._taking.append((ticket, n, up_to, []))
        return self._flush()

    def close(self, ticket: int, cancel_pending: bool = False) -> list[Done]:
        """Closes the queue, after the enqueues that wait or, with `cancel_pending`, instead of them."""
        if not cancel_pending:
            self._putting.append((ticket, None))
            return self._flush()
        cancelled = [Done(waiting, "CancelledError", None) for waiting, _ in self._putting]
        self._putting.clear()
        self._closed = True
        return [*cancelled, Done(ticket, "ok", None), *self._flush()]

    def size(self) -> int:
        """The number of elements inside."""
        return len(self._elements)

    def _flush(self) -> list[Done]:
        done: list[Done] = []
        while self._serve_putting(done) or self._serve_taking(done):
            pass
        return done

    def _serve_putting(self, done: list[Done]) -> bool:
        """Serves the first attempt to put in; whether anything changed."""
        if not self._putting:
            return False
        ticket, rest = self._putting[0]
        status, moved = "ok", False
        if self._closed:
            status = "CancelledError"
        elif rest is None:
            self._closed = True
        else:
            while rest and len(self._elements) < self._capacity:
                self._elements.append(rest.popleft())
                moved = True
            if rest:
                return moved
        self._putting.popleft()
        done.append(Done(ticket, status, None))
        return True

    def _serve_taking(self, done: list[Done]) -> bool:
        """Serves the first attempt to take out; whether anything changed."""
        if not self._taking:
            return False
        ticket, n, up_to, held = self._taking[0]
        if self._closed and len(held) + len(self._elements) < n:
            self._elements.extendleft(reversed(held))
            n = len(self._elements) if up_to else 0
            held = []
        before = len(held)
        while len(held) < n and self._elements:
            held.append(self._elements.popleft())
        if len(held) < n:
            return len(held) > before
        self._taking.popleft()
        done.append(Done(ticket, "ok", held) if held else Done(ticket, "OutOfRangeError", None))
        return True


# %% wrong="queue" why="asks TensorFlow's queue"
class FIFOQueue:
    """A queue that is TensorFlow's."""

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError("no room")
        self._queue = tf.queue.FIFOQueue(capacity, tf.int64, shapes=[[]])

    def enqueue(self, ticket: int, values: list) -> list[Done]:
        self._queue.enqueue_many([tf.constant(values, tf.int64)])
        return [Done(ticket, "ok", None)]

    def dequeue(self, ticket: int, n: int, up_to: bool = False) -> list[Done]:
        taken = self._queue.dequeue_up_to(n) if up_to else self._queue.dequeue_many(n)
        return [Done(ticket, "ok", taken.numpy().tolist())]

    def close(self, ticket: int, cancel_pending: bool = False) -> list[Done]:
        self._queue.close(cancel_pending_enqueues=cancel_pending)
        return [Done(ticket, "ok", None)]

    def size(self) -> int:
        return int(self._queue.size())


# %% right="queue" why="plain lists, and a flush that calls itself"
class FIFOQueue:
    """A bounded first-in-first-out queue as TensorFlow's."""

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError("the capacity must be at least 1")
        self.capacity = capacity
        self.inside = []
        self.closed = False
        self.puts = []
        self.takes = []

    def size(self) -> int:
        return len(self.inside)

    def enqueue(self, ticket: int, values: list) -> list[Done]:
        self.puts.append([ticket, list(values)])
        return self.flush([])

    def close(self, ticket: int, cancel_pending: bool = False) -> list[Done]:
        done = []
        if cancel_pending:
            self.closed = True
            done = [Done(ticket, "ok", None)] + [Done(other, "CancelledError", None) for other, _ in self.puts]
            self.puts = []
        else:
            self.puts.append([ticket, "close"])
        return self.flush(done)

    def dequeue(self, ticket: int, n: int, up_to: bool = False) -> list[Done]:
        self.takes.append({"ticket": ticket, "n": n, "up_to": up_to, "held": []})
        return self.flush([])

    def flush(self, done: list[Done]) -> list[Done]:
        if self.puts:
            ticket, values = self.puts[0]
            if self.closed or values == "close" or not values:
                self.puts.pop(0)
                done.append(Done(ticket, "CancelledError" if self.closed else "ok", None))
                self.closed = self.closed or values == "close"
                return self.flush(done)
            room = self.capacity - len(self.inside)
            if room:
                self.inside += values[:room]
                self.puts[0][1] = values[room:]
                return self.flush(done)
        if self.takes:
            take = self.takes[0]
            missing = take["n"] - len(take["held"])
            if self.closed and len(self.inside) < missing:
                self.takes.pop(0)
                self.inside = take["held"] + self.inside
                if take["up_to"] and self.inside:
                    done.append(Done(take["ticket"], "ok", self.inside))
                    self.inside = []
                else:
                    done.append(Done(take["ticket"], "OutOfRangeError", None))
                return self.flush(done)
            if self.inside:
                take["held"] += self.inside[:missing]
                self.inside = self.inside[missing:]
                if len(take["held"]) == take["n"]:
                    self.takes.pop(0)
                    done.append(Done(take["ticket"], "ok", take["held"]))
                return self.flush(done)
        return done


# %% wrong="threads" why="no lock around the machine"
class ThreadQueue:
    """A queue that many threads call: who must wait, waits. All methods may be called from any thread."""

    def __init__(self, machine) -> None:
        self._machine = machine
        self._changed = threading.Condition()
        self._done: dict[int, Done] = {}
        self._tickets = itertools.count()

    def enqueue(self, values: list) -> None:
        """Puts values in; waits until all are in.

        Raises:
            tf.errors.CancelledError: the queue was closed before.
        """
        return self._call(self._machine.enqueue, values)

    def dequeue(self, n: int, up_to: bool = False) -> list:
        """Takes n values out; waits until they are there, or with `up_to` until the queue is closed.

        Raises:
            tf.errors.OutOfRangeError: the queue is closed and has too few.
        """
        return self._call(self._machine.dequeue, n, up_to)

    def close(self, cancel_pending: bool = False) -> None:
        """Closes the queue; waits until that has taken effect.

        Raises:
            tf.errors.CancelledError: it is closed already.
        """
        return self._call(self._machine.close, cancel_pending)

    def size(self) -> int:
        """The number of elements inside."""
        with self._changed:
            return self._machine.size()

    def _call(self, method, *arguments):
        ticket = next(self._tickets)
        completed = method(ticket, *arguments)
        with self._changed:
            for done in completed:
                self._done[done.ticket] = done
            self._changed.notify_all()
            self._changed.wait_for(lambda: ticket in self._done)
            mine = self._done.pop(ticket)
        if mine.status != "ok":
            raise failure(mine.status)
        return mine.values


# %% wrong="threads" why="wakes one of those who wait, and not all"
class ThreadQueue:
    """A queue that many threads call: who must wait, waits. All methods may be called from any thread."""

    def __init__(self, machine) -> None:
        self._machine = machine
        self._changed = threading.Condition()
        self._done: dict[int, Done] = {}
        self._tickets = itertools.count()

    def enqueue(self, values: list) -> None:
        """Puts values in; waits until all are in.

        Raises:
            tf.errors.CancelledError: the queue was closed before.
        """
        return self._call(self._machine.enqueue, values)

    def dequeue(self, n: int, up_to: bool = False) -> list:
        """Takes n values out; waits until they are there, or with `up_to` until the queue is closed.

        Raises:
            tf.errors.OutOfRangeError: the queue is closed and has too few.
        """
        return self._call(self._machine.dequeue, n, up_to)

    def close(self, cancel_pending: bool = False) -> None:
        """Closes the queue; waits until that has taken effect.

        Raises:
            tf.errors.CancelledError: it is closed already.
        """
        return self._call(self._machine.close, cancel_pending)

    def size(self) -> int:
        """The number of elements inside."""
        with self._changed:
            return self._machine.size()

    def _call(self, method, *arguments):
        with self._changed:
            ticket = next(self._tickets)
            for done in method(ticket, *arguments):
                self._done[done.ticket] = done
            self._changed.notify()
            self._changed.wait_for(lambda: ticket in self._done)
            mine = self._done.pop(ticket)
        if mine.status != "ok":
            raise failure(mine.status)
        return mine.values


# %% wrong="threads" why="waits once and then takes it for granted that its turn has come"
class ThreadQueue:
    """A queue that many threads call: who must wait, waits. All methods may be called from any thread."""

    def __init__(self, machine) -> None:
        self._machine = machine
        self._changed = threading.Condition()
        self._done: dict[int, Done] = {}
        self._tickets = itertools.count()

    def enqueue(self, values: list) -> None:
        """Puts values in; waits until all are in.

        Raises:
            tf.errors.CancelledError: the queue was closed before.
        """
        return self._call(self._machine.enqueue, values)

    def dequeue(self, n: int, up_to: bool = False) -> list:
        """Takes n values out; waits until they are there, or with `up_to` until the queue is closed.

        Raises:
            tf.errors.OutOfRangeError: the queue is closed and has too few.
        """
        return self._call(self._machine.dequeue, n, up_to)

    def close(self, cancel_pending: bool = False) -> None:
        """Closes the queue; waits until that has taken effect.

        Raises:
            tf.errors.CancelledError: it is closed already.
        """
        return self._call(self._machine.close, cancel_pending)

    def size(self) -> int:
        """The number of elements inside."""
        with self._changed:
            return self._machine.size()

    def _call(self, method, *arguments):
        with self._changed:
            ticket = next(self._tickets)
            for done in method(ticket, *arguments):
                self._done[done.ticket] = done
            self._changed.notify_all()
            if ticket not in self._done:
                self._changed.wait()
            mine = self._done.pop(ticket, Done(ticket, "ok", None))
        if mine.status != "ok":
            raise failure(mine.status)
        return mine.values


# %% wrong="threads" why="keeps the lock while it waits"
class ThreadQueue:
    """A queue that many threads call: who must wait, waits. All methods may be called from any thread."""

    def __init__(self, machine) -> None:
        self._machine = machine
        self._changed = threading.Lock()
        self._events: dict[int, threading.Event] = {}
        self._done: dict[int, Done] = {}
        self._tickets = itertools.count()

    def enqueue(self, values: list) -> None:
        """Puts values in; waits until all are in.

        Raises:
            tf.errors.CancelledError: the queue was closed before.
        """
        return self._call(self._machine.enqueue, values)

    def dequeue(self, n: int, up_to: bool = False) -> list:
        """Takes n values out; waits until they are there, or with `up_to` until the queue is closed.

        Raises:
            tf.errors.OutOfRangeError: the queue is closed and has too few.
        """
        return self._call(self._machine.dequeue, n, up_to)

    def close(self, cancel_pending: bool = False) -> None:
        """Closes the queue; waits until that has taken effect.

        Raises:
            tf.errors.CancelledError: it is closed already.
        """
        return self._call(self._machine.close, cancel_pending)

    def size(self) -> int:
        """The number of elements inside."""
        with self._changed:
            return self._machine.size()

    def _call(self, method, *arguments):
        with self._changed:
            ticket = next(self._tickets)
            self._events[ticket] = threading.Event()
            for done in method(ticket, *arguments):
                self._done[done.ticket] = done
                self._events[done.ticket].set()
            self._events[ticket].wait()
            mine = self._done.pop(ticket)
        if mine.status != "ok":
            raise failure(mine.status)
        return mine.values


# %% wrong="threads" why="leaves the lock taken when the machine raises an error"
class ThreadQueue:
    """A queue that many threads call: who must wait, waits. All methods may be called from any thread."""

    def __init__(self, machine) -> None:
        self._machine = machine
        self._changed = threading.Condition()
        self._done: dict[int, Done] = {}
        self._tickets = itertools.count()

    def enqueue(self, values: list) -> None:
        """Puts values in; waits until all are in.

        Raises:
            tf.errors.CancelledError: the queue was closed before.
        """
        return self._call(self._machine.enqueue, values)

    def dequeue(self, n: int, up_to: bool = False) -> list:
        """Takes n values out; waits until they are there, or with `up_to` until the queue is closed.

        Raises:
            tf.errors.OutOfRangeError: the queue is closed and has too few.
        """
        return self._call(self._machine.dequeue, n, up_to)

    def close(self, cancel_pending: bool = False) -> None:
        """Closes the queue; waits until that has taken effect.

        Raises:
            tf.errors.CancelledError: it is closed already.
        """
        return self._call(self._machine.close, cancel_pending)

    def size(self) -> int:
        """The number of elements inside."""
        with self._changed:
            return self._machine.size()

    def _call(self, method, *arguments):
        self._changed.acquire()
        ticket = next(self._tickets)
        for done in method(ticket, *arguments):
            self._done[done.ticket] = done
        self._changed.notify_all()
        self._changed.wait_for(lambda: ticket in self._done)
        mine = self._done.pop(ticket)
        self._changed.release()
        if mine.status != "ok":
            raise failure(mine.status)
        return mine.values


# %% wrong="threads" why="takes the thread's number for a ticket"
class ThreadQueue:
    """A queue that many threads call: who must wait, waits. All methods may be called from any thread."""

    def __init__(self, machine) -> None:
        self._machine = machine
        self._changed = threading.Condition()
        self._done: dict[int, Done] = {}
        self._tickets = itertools.count()

    def enqueue(self, values: list) -> None:
        """Puts values in; waits until all are in.

        Raises:
            tf.errors.CancelledError: the queue was closed before.
        """
        return self._call(self._machine.enqueue, values)

    def dequeue(self, n: int, up_to: bool = False) -> list:
        """Takes n values out; waits until they are there, or with `up_to` until the queue is closed.

        Raises:
            tf.errors.OutOfRangeError: the queue is closed and has too few.
        """
        return self._call(self._machine.dequeue, n, up_to)

    def close(self, cancel_pending: bool = False) -> None:
        """Closes the queue; waits until that has taken effect.

        Raises:
            tf.errors.CancelledError: it is closed already.
        """
        return self._call(self._machine.close, cancel_pending)

    def size(self) -> int:
        """The number of elements inside."""
        with self._changed:
            return self._machine.size()

    def _call(self, method, *arguments):
        with self._changed:
            ticket = threading.get_ident()
            for done in method(ticket, *arguments):
                self._done[done.ticket] = done
            self._changed.notify_all()
            self._changed.wait_for(lambda: ticket in self._done)
            mine = self._done.pop(ticket)
        if mine.status != "ok":
            raise failure(mine.status)
        return mine.values


# %% wrong="threads" why="returns the status of a failure instead of raising it"
class ThreadQueue:
    """A queue that many threads call: who must wait, waits. All methods may be called from any thread."""

    def __init__(self, machine) -> None:
        self._machine = machine
        self._changed = threading.Condition()
        self._done: dict[int, Done] = {}
        self._tickets = itertools.count()

    def enqueue(self, values: list) -> None:
        """Puts values in; waits until all are in.

        Raises:
            tf.errors.CancelledError: the queue was closed before.
        """
        return self._call(self._machine.enqueue, values)

    def dequeue(self, n: int, up_to: bool = False) -> list:
        """Takes n values out; waits until they are there, or with `up_to` until the queue is closed.

        Raises:
            tf.errors.OutOfRangeError: the queue is closed and has too few.
        """
        return self._call(self._machine.dequeue, n, up_to)

    def close(self, cancel_pending: bool = False) -> None:
        """Closes the queue; waits until that has taken effect.

        Raises:
            tf.errors.CancelledError: it is closed already.
        """
        return self._call(self._machine.close, cancel_pending)

    def size(self) -> int:
        """The number of elements inside."""
        with self._changed:
            return self._machine.size()

    def _call(self, method, *arguments):
        with self._changed:
            ticket = next(self._tickets)
            for done in method(ticket, *arguments):
                self._done[done.ticket] = done
            self._changed.notify_all()
            self._changed.wait_for(lambda: ticket in self._done)
            mine = self._done.pop(ticket)
        if mine.status != "ok":
            return mine.status
        return mine.values


# %% wrong="threads" why="returns the error instead of raising it"
class ThreadQueue:
    """A queue that many threads call: who must wait, waits. All methods may be called from any thread."""

    def __init__(self, machine) -> None:
        self._machine = machine
        self._changed = threading.Condition()
        self._done: dict[int, Done] = {}
        self._tickets = itertools.count()

    def enqueue(self, values: list) -> None:
        """Puts values in; waits until all are in.

        Raises:
            tf.errors.CancelledError: the queue was closed before.
        """
        return self._call(self._machine.enqueue, values)

    def dequeue(self, n: int, up_to: bool = False) -> list:
        """Takes n values out; waits until they are there, or with `up_to` until the queue is closed.

        Raises:
            tf.errors.OutOfRangeError: the queue is closed and has too few.
        """
        return self._call(self._machine.dequeue, n, up_to)

    def close(self, cancel_pending: bool = False) -> None:
        """Closes the queue; waits until that has taken effect.

        Raises:
            tf.errors.CancelledError: it is closed already.
        """
        return self._call(self._machine.close, cancel_pending)

    def size(self) -> int:
        """The number of elements inside."""
        with self._changed:
            return self._machine.size()

    def _call(self, method, *arguments):
        with self._changed:
            ticket = next(self._tickets)
            for done in method(ticket, *arguments):
                self._done[done.ticket] = done
            self._changed.notify_all()
            self._changed.wait_for(lambda: ticket in self._done)
            mine = self._done.pop(ticket)
        if mine.status != "ok":
            return failure(mine.status)
        return mine.values


# %% wrong="threads" why="asks for the size without the lock"
class ThreadQueue:
    """A queue that many threads call: who must wait, waits. All methods may be called from any thread."""

    def __init__(self, machine) -> None:
        self._machine = machine
        self._changed = threading.Condition()
        self._done: dict[int, Done] = {}
        self._tickets = itertools.count()

    def enqueue(self, values: list) -> None:
        """Puts values in; waits until all are in.

        Raises:
            tf.errors.CancelledError: the queue was closed before.
        """
        return self._call(self._machine.enqueue, values)

    def dequeue(self, n: int, up_to: bool = False) -> list:
        """Takes n values out; waits until they are there, or with `up_to` until the queue is closed.

        Raises:
            tf.errors.OutOfRangeError: the queue is closed and has too few.
        """
        return self._call(self._machine.dequeue, n, up_to)

    def close(self, cancel_pending: bool = False) -> None:
        """Closes the queue; waits until that has taken effect.

        Raises:
            tf.errors.CancelledError: it is closed already.
        """
        return self._call(self._machine.close, cancel_pending)

    def size(self) -> int:
        """The number of elements inside."""
        return self._machine.size()

    def _call(self, method, *arguments):
        with self._changed:
            ticket = next(self._tickets)
            for done in method(ticket, *arguments):
                self._done[done.ticket] = done
            self._changed.notify_all()
            self._changed.wait_for(lambda: ticket in self._done)
            mine = self._done.pop(ticket)
        if mine.status != "ok":
            raise failure(mine.status)
        return mine.values


# %% wrong="threads" why="looks only for its own Done in what its call completed"
class ThreadQueue:
    """A queue that many threads call: who must wait, waits. All methods may be called from any thread."""

    def __init__(self, machine) -> None:
        self._machine = machine
        self._changed = threading.Condition()
        self._done: dict[int, Done] = {}
        self._tickets = itertools.count()

    def enqueue(self, values: list) -> None:
        """Puts values in; waits until all are in.

        Raises:
            tf.errors.CancelledError: the queue was closed before.
        """
        return self._call(self._machine.enqueue, values)

    def dequeue(self, n: int, up_to: bool = False) -> list:
        """Takes n values out; waits until they are there, or with `up_to` until the queue is closed.

        Raises:
            tf.errors.OutOfRangeError: the queue is closed and has too few.
        """
        return self._call(self._machine.dequeue, n, up_to)

    def close(self, cancel_pending: bool = False) -> None:
        """Closes the queue; waits until that has taken effect.

        Raises:
            tf.errors.CancelledError: it is closed already.
        """
        return self._call(self._machine.close, cancel_pending)

    def size(self) -> int:
        """The number of elements inside."""
        with self._changed:
            return self._machine.size()

    def _call(self, method, *arguments):
        with self._changed:
            ticket = next(self._tickets)
            for done in method(ticket, *arguments):
                if done.ticket == ticket:
                    self._done[ticket] = done
            self._changed.notify_all()
            self._changed.wait_for(lambda: ticket in self._done)
            mine = self._done.pop(ticket)
        if mine.status != "ok":
            raise failure(mine.status)
        return mine.values


# %% wrong="threads" why="returns at once what is completed, and nothing otherwise"
class ThreadQueue:
    """A queue that many threads call: who must wait, waits. All methods may be called from any thread."""

    def __init__(self, machine) -> None:
        self._machine = machine
        self._changed = threading.Condition()
        self._done: dict[int, Done] = {}
        self._tickets = itertools.count()

    def enqueue(self, values: list) -> None:
        """Puts values in; waits until all are in.

        Raises:
            tf.errors.CancelledError: the queue was closed before.
        """
        return self._call(self._machine.enqueue, values)

    def dequeue(self, n: int, up_to: bool = False) -> list:
        """Takes n values out; waits until they are there, or with `up_to` until the queue is closed.

        Raises:
            tf.errors.OutOfRangeError: the queue is closed and has too few.
        """
        return self._call(self._machine.dequeue, n, up_to)

    def close(self, cancel_pending: bool = False) -> None:
        """Closes the queue; waits until that has taken effect.

        Raises:
            tf.errors.CancelledError: it is closed already.
        """
        return self._call(self._machine.close, cancel_pending)

    def size(self) -> int:
        """The number of elements inside."""
        with self._changed:
            return self._machine.size()

    def _call(self, method, *arguments):
        with self._changed:
            ticket = next(self._tickets)
            for done in method(ticket, *arguments):
                self._done[done.ticket] = done
            self._changed.notify_all()
            mine = self._done.pop(ticket, Done(ticket, "ok", None))
        if mine.status != "ok":
            raise failure(mine.status)
        return mine.values


# %% wrong="threads" why="tries again and again instead of waiting"
class ThreadQueue:
    """A queue that many threads call: who must wait, waits. All methods may be called from any thread."""

    def __init__(self, machine) -> None:
        self._machine = machine
        self._changed = threading.Condition()
        self._done: dict[int, Done] = {}
        self._tickets = itertools.count()

    def enqueue(self, values: list) -> None:
        """Puts values in; waits until all are in.

        Raises:
            tf.errors.CancelledError: the queue was closed before.
        """
        return self._call(self._machine.enqueue, values)

    def dequeue(self, n: int, up_to: bool = False) -> list:
        """Takes n values out; waits until they are there, or with `up_to` until the queue is closed.

        Raises:
            tf.errors.OutOfRangeError: the queue is closed and has too few.
        """
        return self._call(self._machine.dequeue, n, up_to)

    def close(self, cancel_pending: bool = False) -> None:
        """Closes the queue; waits until that has taken effect.

        Raises:
            tf.errors.CancelledError: it is closed already.
        """
        return self._call(self._machine.close, cancel_pending)

    def size(self) -> int:
        """The number of elements inside."""
        with self._changed:
            return self._machine.size()

    def _call(self, method, *arguments):
        while True:
            with self._changed:
                ticket = next(self._tickets)
                for done in method(ticket, *arguments):
                    self._done[done.ticket] = done
                if ticket in self._done:
                    mine = self._done.pop(ticket)
                    break
            time.sleep(0.01)
        if mine.status != "ok":
            raise failure(mine.status)
        return mine.values


# %% wrong="threads" why="cancels whenever it closes"
class ThreadQueue:
    """A queue that many threads call: who must wait, waits. All methods may be called from any thread."""

    def __init__(self, machine) -> None:
        self._machine = machine
        self._changed = threading.Condition()
        self._done: dict[int, Done] = {}
        self._tickets = itertools.count()

    def enqueue(self, values: list) -> None:
        """Puts values in; waits until all are in.

        Raises:
            tf.errors.CancelledError: the queue was closed before.
        """
        return self._call(self._machine.enqueue, values)

    def dequeue(self, n: int, up_to: bool = False) -> list:
        """Takes n values out; waits until they are there, or with `up_to` until the queue is closed.

        Raises:
            tf.errors.OutOfRangeError: the queue is closed and has too few.
        """
        return self._call(self._machine.dequeue, n, up_to)

    def close(self, cancel_pending: bool = False) -> None:
        """Closes the queue; waits until that has taken effect.

        Raises:
            tf.errors.CancelledError: it is closed already.
        """
        return self._call(self._machine.close, True)

    def size(self) -> int:
        """The number of elements inside."""
        with self._changed:
            return self._machine.size()

    def _call(self, method, *arguments):
        with self._changed:
            ticket = next(self._tickets)
            for done in method(ticket, *arguments):
                self._done[done.ticket] = done
            self._changed.notify_all()
            self._changed.wait_for(lambda: ticket in self._done)
            mine = self._done.pop(ticket)
        if mine.status != "ok":
            raise failure(mine.status)
        return mine.values


# %% right="threads" why="a lock, and an event for each ticket"
class ThreadQueue:
    """A queue that many threads call: who must wait, waits. All methods may be called from any thread."""

    def __init__(self, machine) -> None:
        self._machine = machine
        self._changed = threading.Lock()
        self._events: dict[int, threading.Event] = {}
        self._done: dict[int, Done] = {}
        self._tickets = itertools.count()

    def enqueue(self, values: list) -> None:
        """Puts values in; waits until all are in.

        Raises:
            tf.errors.CancelledError: the queue was closed before.
        """
        return self._call(self._machine.enqueue, values)

    def dequeue(self, n: int, up_to: bool = False) -> list:
        """Takes n values out; waits until they are there, or with `up_to` until the queue is closed.

        Raises:
            tf.errors.OutOfRangeError: the queue is closed and has too few.
        """
        return self._call(self._machine.dequeue, n, up_to)

    def close(self, cancel_pending: bool = False) -> None:
        """Closes the queue; waits until that has taken effect.

        Raises:
            tf.errors.CancelledError: it is closed already.
        """
        return self._call(self._machine.close, cancel_pending)

    def size(self) -> int:
        """The number of elements inside."""
        with self._changed:
            return self._machine.size()

    def _call(self, method, *arguments):
        with self._changed:
            ticket = next(self._tickets)
            event = self._events[ticket] = threading.Event()
            try:
                for done in method(ticket, *arguments):
                    self._done[done.ticket] = done
                    self._events.pop(done.ticket).set()
            except BaseException:
                del self._events[ticket]
                raise
        event.wait()
        with self._changed:
            mine = self._done.pop(ticket)
        if mine.status != "ok":
            raise failure(mine.status)
        return mine.values


# %% right="threads" why="a lock, and a queue of one for each caller"
class ThreadQueue:
    """A queue that many threads call: who must wait, waits. All methods may be called from any thread."""

    def __init__(self, machine) -> None:
        self._machine = machine
        self._changed = threading.Lock()
        self._done: dict[int, Done] = {}
        self._tickets = itertools.count()

    def enqueue(self, values: list) -> None:
        """Puts values in; waits until all are in.

        Raises:
            tf.errors.CancelledError: the queue was closed before.
        """
        return self._call(self._machine.enqueue, values)

    def dequeue(self, n: int, up_to: bool = False) -> list:
        """Takes n values out; waits until they are there, or with `up_to` until the queue is closed.

        Raises:
            tf.errors.OutOfRangeError: the queue is closed and has too few.
        """
        return self._call(self._machine.dequeue, n, up_to)

    def close(self, cancel_pending: bool = False) -> None:
        """Closes the queue; waits until that has taken effect.

        Raises:
            tf.errors.CancelledError: it is closed already.
        """
        return self._call(self._machine.close, cancel_pending)

    def size(self) -> int:
        """The number of elements inside."""
        with self._changed:
            return self._machine.size()

    def _call(self, method, *arguments):
        answer = SimpleQueue()
        with self._changed:
            ticket = next(self._tickets)
            self._done[ticket] = answer
            for done in method(ticket, *arguments):
                self._done.pop(done.ticket).put(done)
        mine = answer.get()
        if mine.status != "ok":
            raise failure(mine.status)
        return mine.values


# %% wrong="shuffle" why="compares with >= and lets one too many go"
class ShuffleQueue(GivenFIFOQueue):
    """A queue that gives its elements in the order in which `choose` picks them.

    Raises:
        ValueError: min_after_dequeue is negative or not less than the capacity.
    """

    def __init__(self, capacity: int, min_after_dequeue: int, choose: Callable[[int], int]) -> None:
        if not 0 <= min_after_dequeue < capacity:
            raise ValueError(f"min_after_dequeue is {min_after_dequeue}: it must be from 0 to {capacity - 1}")
        super().__init__(capacity)
        self._least, self._choose = min_after_dequeue, choose

    def _may_take(self) -> bool:
        """Whether an element may leave now."""
        return len(self.elements) > 0 and len(self.elements) >= (0 if self.closed else self._least)

    def _take(self):
        """Removes the element at the index that `choose` gives, and returns it."""
        return self.elements.pop(self._choose(len(self.elements)))


# %% wrong="shuffle" why="keeps the limit after the close"
class ShuffleQueue(GivenFIFOQueue):
    """A queue that gives its elements in the order in which `choose` picks them.

    Raises:
        ValueError: min_after_dequeue is negative or not less than the capacity.
    """

    def __init__(self, capacity: int, min_after_dequeue: int, choose: Callable[[int], int]) -> None:
        if not 0 <= min_after_dequeue < capacity:
            raise ValueError(f"min_after_dequeue is {min_after_dequeue}: it must be from 0 to {capacity - 1}")
        super().__init__(capacity)
        self._least, self._choose = min_after_dequeue, choose

    def _may_take(self) -> bool:
        """Whether an element may leave now."""
        return len(self.elements) > self._least

    def _take(self):
        """Removes the element at the index that `choose` gives, and returns it."""
        return self.elements.pop(self._choose(len(self.elements)))


# %% wrong="shuffle" why="applies the limit to a whole dequeue at once"
class ShuffleQueue(GivenFIFOQueue):
    """A queue that gives its elements in the order in which `choose` picks them.

    Raises:
        ValueError: min_after_dequeue is negative or not less than the capacity.
    """

    def __init__(self, capacity: int, min_after_dequeue: int, choose: Callable[[int], int]) -> None:
        if not 0 <= min_after_dequeue < capacity:
            raise ValueError(f"min_after_dequeue is {min_after_dequeue}: it must be from 0 to {capacity - 1}")
        super().__init__(capacity)
        self._least, self._choose = min_after_dequeue, choose

    def _may_take(self) -> bool:
        """Whether an element may leave now."""
        if self.closed:
            return bool(self.elements)
        _, n, _, held = self._taking[0]
        return len(self.elements) - (n - len(held)) >= self._least

    def _take(self):
        """Removes the element at the index that `choose` gives, and returns it."""
        return self.elements.pop(self._choose(len(self.elements)))


# %% wrong="shuffle" why="asks choose for a number below the capacity"
class ShuffleQueue(GivenFIFOQueue):
    """A queue that gives its elements in the order in which `choose` picks them.

    Raises:
        ValueError: min_after_dequeue is negative or not less than the capacity.
    """

    def __init__(self, capacity: int, min_after_dequeue: int, choose: Callable[[int], int]) -> None:
        if not 0 <= min_after_dequeue < capacity:
            raise ValueError(f"min_after_dequeue is {min_after_dequeue}: it must be from 0 to {capacity - 1}")
        super().__init__(capacity)
        self._least, self._choose = min_after_dequeue, choose

    def _may_take(self) -> bool:
        """Whether an element may leave now."""
        return len(self.elements) > (0 if self.closed else self._least)

    def _take(self):
        """Removes the element at the index that `choose` gives, and returns it."""
        return self.elements.pop(self._choose(self.capacity) % len(self.elements))


# %% wrong="shuffle" why="asks choose but takes the first"
class ShuffleQueue(GivenFIFOQueue):
    """A queue that gives its elements in the order in which `choose` picks them.

    Raises:
        ValueError: min_after_dequeue is negative or not less than the capacity.
    """

    def __init__(self, capacity: int, min_after_dequeue: int, choose: Callable[[int], int]) -> None:
        if not 0 <= min_after_dequeue < capacity:
            raise ValueError(f"min_after_dequeue is {min_after_dequeue}: it must be from 0 to {capacity - 1}")
        super().__init__(capacity)
        self._least, self._choose = min_after_dequeue, choose

    def _may_take(self) -> bool:
        """Whether an element may leave now."""
        return len(self.elements) > (0 if self.closed else self._least)

    def _take(self):
        """Removes the element at the index that `choose` gives, and returns it."""
        self._choose(len(self.elements))
        return self.elements.pop(0)


# %% wrong="shuffle" why="takes any min_after_dequeue"
class ShuffleQueue(GivenFIFOQueue):
    """A queue that gives its elements in the order in which `choose` picks them.

    Raises:
        ValueError: min_after_dequeue is negative or not less than the capacity.
    """

    def __init__(self, capacity: int, min_after_dequeue: int, choose: Callable[[int], int]) -> None:
        super().__init__(capacity)
        self._least, self._choose = min_after_dequeue, choose

    def _may_take(self) -> bool:
        """Whether an element may leave now."""
        return len(self.elements) > (0 if self.closed else self._least)

    def _take(self):
        """Removes the element at the index that `choose` gives, and returns it."""
        return self.elements.pop(self._choose(len(self.elements)))


# %% right="shuffle" why="fills the hole with the last element"
class ShuffleQueue(GivenFIFOQueue):
    """A queue that gives its elements in the order in which `choose` picks them.

    Raises:
        ValueError: min_after_dequeue is negative or not less than the capacity.
    """

    def __init__(self, capacity: int, min_after_dequeue: int, choose: Callable[[int], int]) -> None:
        if not 0 <= min_after_dequeue < capacity:
            raise ValueError(f"min_after_dequeue is {min_after_dequeue}: it must be from 0 to {capacity - 1}")
        super().__init__(capacity)
        self._least, self._choose = min_after_dequeue, choose

    def _may_take(self) -> bool:
        """Whether an element may leave now."""
        return len(self.elements) > (0 if self.closed else self._least)

    def _take(self):
        """Removes the element at the index that `choose` gives, and returns it."""
        index = self._choose(len(self.elements))
        chosen, last = self.elements[index], self.elements.pop()
        if index < len(self.elements):
            self.elements[index] = last
        return chosen


# %% wrong="drain" why="reads only full batches, so that the last one is lost"
def drain(sources: list[Callable[[], tf.Tensor]], capacity: int, batch: int) -> list[list[int]]:
    """All elements of some sources that run at the same time, in batches.

    Raises:
        tf.errors.InvalidArgumentError: a source failed.
    """
    batches = []
    with tf.Graph().as_default():
        queue = tf.queue.FIFOQueue(capacity, tf.int64, shapes=[[]])
        runner = tf1.train.QueueRunner(queue, [queue.enqueue(add()) for add in sources])
        dequeue = queue.dequeue_many(batch)
        coordinator = tf1.train.Coordinator()
        with tf1.Session(config=plain_config()) as session:
            threads = runner.create_threads(session, coord=coordinator, start=True)
            try:
                while True:
                    batches.append(session.run(dequeue).tolist())
            except tf.errors.OutOfRangeError:
                coordinator.request_stop()
            coordinator.join(threads)
    return batches


# %% wrong="drain" why="closes when the first source ends"
def drain(sources: list[Callable[[], tf.Tensor]], capacity: int, batch: int) -> list[list[int]]:
    """All elements of some sources that run at the same time, in batches."""
    batches = []
    with tf.Graph().as_default():
        queue = tf.queue.FIFOQueue(capacity, tf.int64, shapes=[[]])
        enqueues = [queue.enqueue(add()) for add in sources]
        dequeue, close = queue.dequeue_up_to(batch), queue.close()
        cancel = queue.close(cancel_pending_enqueues=True)
        coordinator = tf1.train.Coordinator()
        lock, running = threading.Lock(), [len(sources)]
        with tf1.Session(config=plain_config()) as session:

            def fill(enqueue):
                try:
                    while not coordinator.should_stop():
                        session.run(enqueue)
                except tf.errors.OutOfRangeError:
                    with lock:
                        running[0] -= 1
                        last = running[0] == 0
                    if running[0] == len(sources) - 1:
                        session.run(close)
                except tf.errors.CancelledError:
                    pass
                except tf.errors.OpError as error:
                    coordinator.request_stop(error)
                    session.run(cancel)

            threads = [threading.Thread(target=fill, args=(enqueue,)) for enqueue in enqueues]
            for thread in threads:
                thread.start()
            try:
                while True:
                    batches.append(session.run(dequeue).tolist())
            except tf.errors.OutOfRangeError:
                pass
            coordinator.join(threads)
    return batches


# %% wrong="drain" why="cancels what is pending when a source ends"
def drain(sources: list[Callable[[], tf.Tensor]], capacity: int, batch: int) -> list[list[int]]:
    """All elements of some sources that run at the same time, in batches."""
    batches = []
    with tf.Graph().as_default():
        queue = tf.queue.FIFOQueue(capacity, tf.int64, shapes=[[]])
        enqueues = [queue.enqueue(add()) for add in sources]
        dequeue, close = queue.dequeue_up_to(batch), queue.close()
        cancel = queue.close(cancel_pending_enqueues=True)
        coordinator = tf1.train.Coordinator()
        lock, running = threading.Lock(), [len(sources)]
        with tf1.Session(config=plain_config()) as session:

            def fill(enqueue):
                try:
                    while not coordinator.should_stop():
                        session.run(enqueue)
                except tf.errors.OutOfRangeError:
                    with lock:
                        running[0] -= 1
                        last = running[0] == 0
                    session.run(cancel)
                except tf.errors.CancelledError:
                    pass
                except tf.errors.OpError as error:
                    coordinator.request_stop(error)
                    session.run(cancel)

            threads = [threading.Thread(target=fill, args=(enqueue,)) for enqueue in enqueues]
            for thread in threads:
                thread.start()
            try:
                while True:
                    batches.append(session.run(dequeue).tolist())
            except tf.errors.OutOfRangeError:
                pass
            coordinator.join(threads)
    return batches


# %% wrong="drain" why="joins before it reads"
def drain(sources: list[Callable[[], tf.Tensor]], capacity: int, batch: int) -> list[list[int]]:
    """All elements of some sources that run at the same time, in batches.

    Raises:
        tf.errors.InvalidArgumentError: a source failed.
    """
    batches = []
    with tf.Graph().as_default():
        queue = tf.queue.FIFOQueue(capacity, tf.int64, shapes=[[]])
        runner = tf1.train.QueueRunner(queue, [queue.enqueue(add()) for add in sources])
        dequeue = queue.dequeue_up_to(batch)
        coordinator = tf1.train.Coordinator()
        with tf1.Session(config=plain_config()) as session:
            threads = runner.create_threads(session, coord=coordinator, start=True)
            coordinator.join(threads)
            try:
                while True:
                    batches.append(session.run(dequeue).tolist())
            except tf.errors.OutOfRangeError:
                coordinator.request_stop()
            coordinator.join(threads)
    return batches


# %% wrong="drain" why="takes the end of a source for a failure"
def drain(sources: list[Callable[[], tf.Tensor]], capacity: int, batch: int) -> list[list[int]]:
    """All elements of some sources that run at the same time, in batches."""
    batches = []
    with tf.Graph().as_default():
        queue = tf.queue.FIFOQueue(capacity, tf.int64, shapes=[[]])
        enqueues = [queue.enqueue(add()) for add in sources]
        dequeue, close = queue.dequeue_up_to(batch), queue.close()
        cancel = queue.close(cancel_pending_enqueues=True)
        coordinator = tf1.train.Coordinator()
        lock, running = threading.Lock(), [len(sources)]
        with tf1.Session(config=plain_config()) as session:

            def fill(enqueue):
                try:
                    while not coordinator.should_stop():
                        session.run(enqueue)
                except tf.errors.CancelledError:
                    pass
                except tf.errors.OpError as error:
                    coordinator.request_stop(error)
                    session.run(cancel)

            threads = [threading.Thread(target=fill, args=(enqueue,)) for enqueue in enqueues]
            for thread in threads:
                thread.start()
            try:
                while True:
                    batches.append(session.run(dequeue).tolist())
            except tf.errors.OutOfRangeError:
                pass
            coordinator.join(threads)
    return batches


# %% wrong="drain" why="closes in silence when a source fails"
def drain(sources: list[Callable[[], tf.Tensor]], capacity: int, batch: int) -> list[list[int]]:
    """All elements of some sources that run at the same time, in batches."""
    batches = []
    with tf.Graph().as_default():
        queue = tf.queue.FIFOQueue(capacity, tf.int64, shapes=[[]])
        enqueues = [queue.enqueue(add()) for add in sources]
        dequeue, close = queue.dequeue_up_to(batch), queue.close()
        cancel = queue.close(cancel_pending_enqueues=True)
        coordinator = tf1.train.Coordinator()
        lock, running = threading.Lock(), [len(sources)]
        with tf1.Session(config=plain_config()) as session:

            def fill(enqueue):
                try:
                    while not coordinator.should_stop():
                        session.run(enqueue)
                except tf.errors.OutOfRangeError:
                    with lock:
                        running[0] -= 1
                        last = running[0] == 0
                    if last:
                        session.run(close)
                except tf.errors.CancelledError:
                    pass
                except tf.errors.OpError:
                    session.run(cancel)

            threads = [threading.Thread(target=fill, args=(enqueue,)) for enqueue in enqueues]
            for thread in threads:
                thread.start()
            try:
                while True:
                    batches.append(session.run(dequeue).tolist())
            except tf.errors.OutOfRangeError:
                pass
            coordinator.join(threads)
    return batches


# %% wrong="drain" why="leaves the threads to themselves"
def drain(sources: list[Callable[[], tf.Tensor]], capacity: int, batch: int) -> list[list[int]]:
    """All elements of some sources that run at the same time, in batches.

    Raises:
        tf.errors.InvalidArgumentError: a source failed.
    """
    batches = []
    with tf.Graph().as_default():
        queue = tf.queue.FIFOQueue(capacity, tf.int64, shapes=[[]])
        runner = tf1.train.QueueRunner(queue, [queue.enqueue(add()) for add in sources])
        dequeue = queue.dequeue_up_to(batch)
        coordinator = tf1.train.Coordinator()
        with tf1.Session(config=plain_config()) as session:
            threads = runner.create_threads(session, coord=coordinator, start=True)
            try:
                while True:
                    batches.append(session.run(dequeue).tolist())
            except tf.errors.OutOfRangeError:
                pass
    return batches


# %% wrong="drain" why="gives the elements one by one"
def drain(sources: list[Callable[[], tf.Tensor]], capacity: int, batch: int) -> list[list[int]]:
    """All elements of some sources that run at the same time, in batches.

    Raises:
        tf.errors.InvalidArgumentError: a source failed.
    """
    batches = []
    with tf.Graph().as_default():
        queue = tf.queue.FIFOQueue(capacity, tf.int64, shapes=[[]])
        runner = tf1.train.QueueRunner(queue, [queue.enqueue(add()) for add in sources])
        dequeue = queue.dequeue_up_to(batch)
        coordinator = tf1.train.Coordinator()
        with tf1.Session(config=plain_config()) as session:
            threads = runner.create_threads(session, coord=coordinator, start=True)
            try:
                while True:
                    batches.extend([value] for value in session.run(dequeue).tolist())
            except tf.errors.OutOfRangeError:
                coordinator.request_stop()
            coordinator.join(threads)
    return batches


# %% wrong="drain" why="stops and joins before the queue is empty"
def drain(sources: list[Callable[[], tf.Tensor]], capacity: int, batch: int) -> list[list[int]]:
    """All elements of some sources that run at the same time, in batches.

    Raises:
        tf.errors.InvalidArgumentError: a source failed.
    """
    batches = []
    with tf.Graph().as_default():
        queue = tf.queue.FIFOQueue(capacity, tf.int64, shapes=[[]])
        runner = tf1.train.QueueRunner(queue, [queue.enqueue(add()) for add in sources])
        dequeue = queue.dequeue_up_to(batch)
        coordinator = tf1.train.Coordinator()
        with tf1.Session(config=plain_config()) as session:
            threads = runner.create_threads(session, coord=coordinator, start=True)
            try:
                batches.append(session.run(dequeue).tolist())
            except tf.errors.OutOfRangeError:
                pass
            coordinator.request_stop()
            coordinator.join(threads)
    return batches


# %% wrong="drain" why="returns the error of a source instead of raising it"
def drain(sources: list[Callable[[], tf.Tensor]], capacity: int, batch: int) -> list[list[int]]:
    """All elements of some sources that run at the same time, in batches.

    Raises:
        tf.errors.InvalidArgumentError: a source failed.
    """
    batches = []
    with tf.Graph().as_default():
        queue = tf.queue.FIFOQueue(capacity, tf.int64, shapes=[[]])
        runner = tf1.train.QueueRunner(queue, [queue.enqueue(add()) for add in sources])
        dequeue = queue.dequeue_up_to(batch)
        coordinator = tf1.train.Coordinator()
        with tf1.Session(config=plain_config()) as session:
            threads = runner.create_threads(session, coord=coordinator, start=True)
            try:
                while True:
                    batches.append(session.run(dequeue).tolist())
            except tf.errors.OutOfRangeError:
                coordinator.request_stop()
            try:
                coordinator.join(threads)
            except tf.errors.OpError as error:
                return error
    return batches


# %% wrong="drain" why="runs the sources one after the other, and cuts the batches in Python"
def drain(sources: list[Callable[[], tf.Tensor]], capacity: int, batch: int) -> list[list[int]]:
    """All elements of some sources that run at the same time, in batches.

    Raises:
        tf.errors.InvalidArgumentError: a source failed.
    """
    elements = []
    with tf.Graph().as_default():
        following = [add() for add in sources]
        with tf1.Session(config=plain_config()) as session:
            for element in following:
                try:
                    while True:
                        elements.append(int(session.run(element)))
                except tf.errors.OutOfRangeError:
                    pass
    return [elements[start : start + batch] for start in range(0, len(elements), batch)]


# %% wrong="drain" why="one thread that runs one enqueue op after the other"
def drain(sources: list[Callable[[], tf.Tensor]], capacity: int, batch: int) -> list[list[int]]:
    """All elements of some sources that run at the same time, in batches.

    Raises:
        tf.errors.InvalidArgumentError: a source failed.
    """
    batches = []
    with tf.Graph().as_default():
        queue = tf.queue.FIFOQueue(capacity, tf.int64, shapes=[[]])
        enqueues = [queue.enqueue(add()) for add in sources]
        dequeue, close = queue.dequeue_up_to(batch), queue.close()
        errors = []
        with tf1.Session(config=plain_config()) as session:

            def fill():
                for enqueue in enqueues:
                    try:
                        while True:
                            session.run(enqueue)
                    except tf.errors.OutOfRangeError:
                        pass
                    except tf.errors.OpError as error:
                        errors.append(error)
                session.run(close)

            thread = threading.Thread(target=fill, daemon=True)
            thread.start()
            try:
                while True:
                    batches.append(session.run(dequeue).tolist())
            except tf.errors.OutOfRangeError:
                thread.join()
    if errors:
        raise errors[0]
    return batches


# %% wrong="drain" why="a queue of Python between the threads, none of TensorFlow"
def drain(sources: list[Callable[[], tf.Tensor]], capacity: int, batch: int) -> list[list[int]]:
    """All elements of some sources that run at the same time, in batches.

    Raises:
        tf.errors.InvalidArgumentError: a source failed.
    """
    import queue

    room, errors = queue.Queue(capacity), []
    with tf.Graph().as_default():
        following = [add() for add in sources]
        with tf1.Session(config=plain_config()) as session:

            def fill(element):
                try:
                    while True:
                        room.put(int(session.run(element)))
                except tf.errors.OutOfRangeError:
                    pass
                except tf.errors.OpError as error:
                    errors.append(error)
                room.put(None)

            threads = [threading.Thread(target=fill, args=(element,), daemon=True) for element in following]
            for thread in threads:
                thread.start()
            elements, running = [], len(threads)
            while running:
                element = room.get()
                if element is None:
                    running -= 1
                else:
                    elements.append(element)
            for thread in threads:
                thread.join()
    if errors:
        raise errors[0]
    return [elements[start : start + batch] for start in range(0, len(elements), batch)]


# %% right="drain" why="threads of its own, and the last one closes"
def drain(sources: list[Callable[[], tf.Tensor]], capacity: int, batch: int) -> list[list[int]]:
    """All elements of some sources that run at the same time, in batches."""
    batches = []
    with tf.Graph().as_default():
        queue = tf.queue.FIFOQueue(capacity, tf.int64, shapes=[[]])
        enqueues = [queue.enqueue(add()) for add in sources]
        dequeue, close = queue.dequeue_up_to(batch), queue.close()
        cancel = queue.close(cancel_pending_enqueues=True)
        coordinator = tf1.train.Coordinator()
        lock, running = threading.Lock(), [len(sources)]
        with tf1.Session(config=plain_config()) as session:

            def fill(enqueue):
                try:
                    while not coordinator.should_stop():
                        session.run(enqueue)
                except tf.errors.OutOfRangeError:
                    with lock:
                        running[0] -= 1
                        last = running[0] == 0
                    if last:
                        session.run(close)
                except tf.errors.CancelledError:
                    pass
                except tf.errors.OpError as error:
                    coordinator.request_stop(error)
                    session.run(cancel)

            threads = [threading.Thread(target=fill, args=(enqueue,)) for enqueue in enqueues]
            for thread in threads:
                thread.start()
            try:
                while True:
                    batches.append(session.run(dequeue).tolist())
            except tf.errors.OutOfRangeError:
                pass
            coordinator.join(threads)
    return batches


# %% wrong="interleave" why="goes on at once in a slot that was refilled"
class Interleave:
    """The elements of several lists, `block_length` of one and then of the next, `cycle_length` lists at a time.

    Raises:
        ValueError: a length is less than 1.
    """

    def __init__(self, sources: list[list], cycle_length: int, block_length: int) -> None:
        if cycle_length < 1 or block_length < 1:
            raise ValueError(f"cycle_length and block_length are 1 or more, not {cycle_length} and {block_length}")
        self._sources, self._block = sources, block_length
        self._slots: list = [None] * cycle_length  # [source, position]
        self._turn = self._given = self._opened = 0

    def __iter__(self):
        return self

    def __next__(self):
        """The next element.

        Raises:
            StopIteration: there is none.
        """
        while self._opened < len(self._sources) or any(slot is not None for slot in self._slots):
            if self._slots[self._turn] is None and self._opened < len(self._sources):
                self._slots[self._turn] = [self._opened, 0]
                self._opened += 1
            slot = self._slots[self._turn]
            if slot is None or slot[1] == len(self._sources[slot[0]]):
                self._slots[self._turn] = None
                if self._opened == len(self._sources):
                    self._pass_on()
                continue
            element = self._sources[slot[0]][slot[1]]
            slot[1] += 1
            self._given += 1
            if self._given == self._block:
                self._pass_on()
            return element
        raise StopIteration

    def _pass_on(self) -> None:
        self._turn = (self._turn + 1) % len(self._slots)
        self._given = 0

    def save(self) -> dict:
        """Where the iterator stands, as plain data."""
        slots = [None if slot is None else list(slot) for slot in self._slots]
        return {"slots": slots, "turn": self._turn, "given": self._given, "opened": self._opened}

    def restore(self, state: dict) -> None:
        """Goes to where another iterator over the same sources stood when it was saved."""
        self._slots = [None if slot is None else list(slot) for slot in state["slots"]]
        self._turn, self._given, self._opened = state["turn"], state["given"], state["opened"]


# %% wrong="interleave" why="empties a slot with the last element of its source"
class Interleave:
    """The elements of several lists, `block_length` of one and then of the next, `cycle_length` lists at a time.

    Raises:
        ValueError: a length is less than 1.
    """

    def __init__(self, sources: list[list], cycle_length: int, block_length: int) -> None:
        if cycle_length < 1 or block_length < 1:
            raise ValueError(f"cycle_length and block_length are 1 or more, not {cycle_length} and {block_length}")
        self._sources, self._block = sources, block_length
        self._slots: list = [None] * cycle_length  # [source, position]
        self._turn = self._given = self._opened = 0

    def __iter__(self):
        return self

    def __next__(self):
        """The next element.

        Raises:
            StopIteration: there is none.
        """
        while self._opened < len(self._sources) or any(slot is not None for slot in self._slots):
            if self._slots[self._turn] is None and self._opened < len(self._sources):
                self._slots[self._turn] = [self._opened, 0]
                self._opened += 1
            slot = self._slots[self._turn]
            if slot is None or slot[1] == len(self._sources[slot[0]]):
                self._slots[self._turn] = None
                self._pass_on()
                continue
            element = self._sources[slot[0]][slot[1]]
            slot[1] += 1
            self._given += 1
            if slot[1] == len(self._sources[slot[0]]):
                self._slots[self._turn] = None
                self._pass_on()
            elif self._given == self._block:
                self._pass_on()
            return element
        raise StopIteration

    def _pass_on(self) -> None:
        self._turn = (self._turn + 1) % len(self._slots)
        self._given = 0

    def save(self) -> dict:
        """Where the iterator stands, as plain data."""
        slots = [None if slot is None else list(slot) for slot in self._slots]
        return {"slots": slots, "turn": self._turn, "given": self._given, "opened": self._opened}

    def restore(self, state: dict) -> None:
        """Goes to where another iterator over the same sources stood when it was saved."""
        self._slots = [None if slot is None else list(slot) for slot in state["slots"]]
        self._turn, self._given, self._opened = state["turn"], state["given"], state["opened"]


# %% wrong="interleave" why="drops a slot that ran dry"
class Interleave:
    """The elements of several lists, `block_length` of one and then of the next, `cycle_length` lists at a time.

    Raises:
        ValueError: a length is less than 1.
    """

    def __init__(self, sources: list[list], cycle_length: int, block_length: int) -> None:
        if cycle_length < 1 or block_length < 1:
            raise ValueError(f"cycle_length and block_length are 1 or more, not {cycle_length} and {block_length}")
        self._sources, self._block = sources, block_length
        self._slots: list = [None] * cycle_length  # [source, position]
        self._turn = self._given = self._opened = 0

    def __iter__(self):
        return self

    def __next__(self):
        """The next element.

        Raises:
            StopIteration: there is none.
        """
        while self._opened < len(self._sources) or any(slot is not None for slot in self._slots):
            if self._slots[self._turn] is None and self._opened < len(self._sources):
                self._slots[self._turn] = [self._opened, 0]
                self._opened += 1
            slot = self._slots[self._turn]
            if slot is None or slot[1] == len(self._sources[slot[0]]):
                if len(self._slots) > 1:
                    del self._slots[self._turn]
                    self._turn %= len(self._slots)
                    self._given = 0
                else:
                    self._slots[0] = None
                continue
            element = self._sources[slot[0]][slot[1]]
            slot[1] += 1
            self._given += 1
            if self._given == self._block:
                self._pass_on()
            return element
        raise StopIteration

    def _pass_on(self) -> None:
        self._turn = (self._turn + 1) % len(self._slots)
        self._given = 0

    def save(self) -> dict:
        """Where the iterator stands, as plain data."""
        slots = [None if slot is None else list(slot) for slot in self._slots]
        return {"slots": slots, "turn": self._turn, "given": self._given, "opened": self._opened}

    def restore(self, state: dict) -> None:
        """Goes to where another iterator over the same sources stood when it was saved."""
        self._slots = [None if slot is None else list(slot) for slot in state["slots"]]
        self._turn, self._given, self._opened = state["turn"], state["given"], state["opened"]


# %% wrong="interleave" why="does not begin a new block when a source ends inside of one"
class Interleave:
    """The elements of several lists, `block_length` of one and then of the next, `cycle_length` lists at a time.

    Raises:
        ValueError: a length is less than 1.
    """

    def __init__(self, sources: list[list], cycle_length: int, block_length: int) -> None:
        if cycle_length < 1 or block_length < 1:
            raise ValueError(f"cycle_length and block_length are 1 or more, not {cycle_length} and {block_length}")
        self._sources, self._block = sources, block_length
        self._slots: list = [None] * cycle_length  # [source, position]
        self._turn = self._given = self._opened = 0

    def __iter__(self):
        return self

    def __next__(self):
        """The next element.

        Raises:
            StopIteration: there is none.
        """
        while self._opened < len(self._sources) or any(slot is not None for slot in self._slots):
            if self._slots[self._turn] is None and self._opened < len(self._sources):
                self._slots[self._turn] = [self._opened, 0]
                self._opened += 1
            slot = self._slots[self._turn]
            if slot is None or slot[1] == len(self._sources[slot[0]]):
                self._slots[self._turn] = None
                self._turn = (self._turn + 1) % len(self._slots)
                continue
            element = self._sources[slot[0]][slot[1]]
            slot[1] += 1
            self._given += 1
            if self._given == self._block:
                self._pass_on()
            return element
        raise StopIteration

    def _pass_on(self) -> None:
        self._turn = (self._turn + 1) % len(self._slots)
        self._given = 0

    def save(self) -> dict:
        """Where the iterator stands, as plain data."""
        slots = [None if slot is None else list(slot) for slot in self._slots]
        return {"slots": slots, "turn": self._turn, "given": self._given, "opened": self._opened}

    def restore(self, state: dict) -> None:
        """Goes to where another iterator over the same sources stood when it was saved."""
        self._slots = [None if slot is None else list(slot) for slot in state["slots"]]
        self._turn, self._given, self._opened = state["turn"], state["given"], state["opened"]


# %% wrong="interleave" why="does not save how much of the block is used up"
class Interleave:
    """The elements of several lists, `block_length` of one and then of the next, `cycle_length` lists at a time.

    Raises:
        ValueError: a length is less than 1.
    """

    def __init__(self, sources: list[list], cycle_length: int, block_length: int) -> None:
        if cycle_length < 1 or block_length < 1:
            raise ValueError(f"cycle_length and block_length are 1 or more, not {cycle_length} and {block_length}")
        self._sources, self._block = sources, block_length
        self._slots: list = [None] * cycle_length  # [source, position]
        self._turn = self._given = self._opened = 0

    def __iter__(self):
        return self

    def __next__(self):
        """The next element.

        Raises:
            StopIteration: there is none.
        """
        while self._opened < len(self._sources) or any(slot is not None for slot in self._slots):
            if self._slots[self._turn] is None and self._opened < len(self._sources):
                self._slots[self._turn] = [self._opened, 0]
                self._opened += 1
            slot = self._slots[self._turn]
            if slot is None or slot[1] == len(self._sources[slot[0]]):
                self._slots[self._turn] = None
                self._pass_on()
                continue
            element = self._sources[slot[0]][slot[1]]
            slot[1] += 1
            self._given += 1
            if self._given == self._block:
                self._pass_on()
            return element
        raise StopIteration

    def _pass_on(self) -> None:
        self._turn = (self._turn + 1) % len(self._slots)
        self._given = 0

    def save(self) -> dict:
        """Where the iterator stands, as plain data."""
        slots = [None if slot is None else list(slot) for slot in self._slots]
        return {"slots": slots, "turn": self._turn, "given": self._given, "opened": self._opened}

    def restore(self, state: dict) -> None:
        """Goes to where another iterator over the same sources stood when it was saved."""
        self._slots = [None if slot is None else list(slot) for slot in state["slots"]]
        self._turn, self._given, self._opened = state["turn"], 0, state["opened"]


# %% wrong="interleave" why="saves its own lists, which go on changing"
class Interleave:
    """The elements of several lists, `block_length` of one and then of the next, `cycle_length` lists at a time.

    Raises:
        ValueError: a length is less than 1.
    """

    def __init__(self, sources: list[list], cycle_length: int, block_length: int) -> None:
        if cycle_length < 1 or block_length < 1:
            raise ValueError(f"cycle_length and block_length are 1 or more, not {cycle_length} and {block_length}")
        self._sources, self._block = sources, block_length
        self._slots: list = [None] * cycle_length  # [source, position]
        self._turn = self._given = self._opened = 0

    def __iter__(self):
        return self

    def __next__(self):
        """The next element.

        Raises:
            StopIteration: there is none.
        """
        while self._opened < len(self._sources) or any(slot is not None for slot in self._slots):
            if self._slots[self._turn] is None and self._opened < len(self._sources):
                self._slots[self._turn] = [self._opened, 0]
                self._opened += 1
            slot = self._slots[self._turn]
            if slot is None or slot[1] == len(self._sources[slot[0]]):
                self._slots[self._turn] = None
                self._pass_on()
                continue
            element = self._sources[slot[0]][slot[1]]
            slot[1] += 1
            self._given += 1
            if self._given == self._block:
                self._pass_on()
            return element
        raise StopIteration

    def _pass_on(self) -> None:
        self._turn = (self._turn + 1) % len(self._slots)
        self._given = 0

    def save(self) -> dict:
        """Where the iterator stands, as plain data."""
        return {"slots": self._slots, "turn": self._turn, "given": self._given, "opened": self._opened}

    def restore(self, state: dict) -> None:
        """Goes to where another iterator over the same sources stood when it was saved."""
        self._slots = [None if slot is None else list(slot) for slot in state["slots"]]
        self._turn, self._given, self._opened = state["turn"], state["given"], state["opened"]


# %% wrong="interleave" why="goes on with the lists of the state that it restores"
class Interleave:
    """The elements of several lists, `block_length` of one and then of the next, `cycle_length` lists at a time.

    Raises:
        ValueError: a length is less than 1.
    """

    def __init__(self, sources: list[list], cycle_length: int, block_length: int) -> None:
        if cycle_length < 1 or block_length < 1:
            raise ValueError(f"cycle_length and block_length are 1 or more, not {cycle_length} and {block_length}")
        self._sources, self._block = sources, block_length
        self._slots: list = [None] * cycle_length  # [source, position]
        self._turn = self._given = self._opened = 0

    def __iter__(self):
        return self

    def __next__(self):
        """The next element.

        Raises:
            StopIteration: there is none.
        """
        while self._opened < len(self._sources) or any(slot is not None for slot in self._slots):
            if self._slots[self._turn] is None and self._opened < len(self._sources):
                self._slots[self._turn] = [self._opened, 0]
                self._opened += 1
            slot = self._slots[self._turn]
            if slot is None or slot[1] == len(self._sources[slot[0]]):
                self._slots[self._turn] = None
                self._pass_on()
                continue
            element = self._sources[slot[0]][slot[1]]
            slot[1] += 1
            self._given += 1
            if self._given == self._block:
                self._pass_on()
            return element
        raise StopIteration

    def _pass_on(self) -> None:
        self._turn = (self._turn + 1) % len(self._slots)
        self._given = 0

    def save(self) -> dict:
        """Where the iterator stands, as plain data."""
        slots = [None if slot is None else list(slot) for slot in self._slots]
        return {"slots": slots, "turn": self._turn, "given": self._given, "opened": self._opened}

    def restore(self, state: dict) -> None:
        """Goes to where another iterator over the same sources stood when it was saved."""
        self._slots = state["slots"]
        self._turn, self._given, self._opened = state["turn"], state["given"], state["opened"]


# %% wrong="interleave" why="ends when the slot that has the turn finds no source"
class Interleave:
    """The elements of several lists, `block_length` of one and then of the next, `cycle_length` lists at a time.

    Raises:
        ValueError: a length is less than 1.
    """

    def __init__(self, sources: list[list], cycle_length: int, block_length: int) -> None:
        if cycle_length < 1 or block_length < 1:
            raise ValueError(f"cycle_length and block_length are 1 or more, not {cycle_length} and {block_length}")
        self._sources, self._block = sources, block_length
        self._slots: list = [None] * cycle_length  # [source, position]
        self._turn = self._given = self._opened = 0

    def __iter__(self):
        return self

    def __next__(self):
        """The next element.

        Raises:
            StopIteration: there is none.
        """
        while self._opened < len(self._sources) or any(slot is not None for slot in self._slots):
            if self._slots[self._turn] is None and self._opened < len(self._sources):
                self._slots[self._turn] = [self._opened, 0]
                self._opened += 1
            slot = self._slots[self._turn]
            if slot is None:
                break
            if slot[1] == len(self._sources[slot[0]]):
                self._slots[self._turn] = None
                self._pass_on()
                continue
            element = self._sources[slot[0]][slot[1]]
            slot[1] += 1
            self._given += 1
            if self._given == self._block:
                self._pass_on()
            return element
        raise StopIteration

    def _pass_on(self) -> None:
        self._turn = (self._turn + 1) % len(self._slots)
        self._given = 0

    def save(self) -> dict:
        """Where the iterator stands, as plain data."""
        slots = [None if slot is None else list(slot) for slot in self._slots]
        return {"slots": slots, "turn": self._turn, "given": self._given, "opened": self._opened}

    def restore(self, state: dict) -> None:
        """Goes to where another iterator over the same sources stood when it was saved."""
        self._slots = [None if slot is None else list(slot) for slot in state["slots"]]
        self._turn, self._given, self._opened = state["turn"], state["given"], state["opened"]


# %% wrong="interleave" why="saves the elements that are still to come"
class Interleave:
    """The elements of several lists, `block_length` of one and then of the next, `cycle_length` lists at a time.

    Raises:
        ValueError: a length is less than 1.
    """

    def __init__(self, sources: list[list], cycle_length: int, block_length: int) -> None:
        if cycle_length < 1 or block_length < 1:
            raise ValueError(f"cycle_length and block_length are 1 or more, not {cycle_length} and {block_length}")
        self._sources, self._block = sources, block_length
        self._slots: list = [None] * cycle_length  # [source, position]
        self._turn = self._given = self._opened = 0

    def __iter__(self):
        return self

    def __next__(self):
        """The next element.

        Raises:
            StopIteration: there is none.
        """
        while self._opened < len(self._sources) or any(slot is not None for slot in self._slots):
            if self._slots[self._turn] is None and self._opened < len(self._sources):
                self._slots[self._turn] = [self._opened, 0]
                self._opened += 1
            slot = self._slots[self._turn]
            if slot is None or slot[1] == len(self._sources[slot[0]]):
                self._slots[self._turn] = None
                self._pass_on()
                continue
            element = self._sources[slot[0]][slot[1]]
            slot[1] += 1
            self._given += 1
            if self._given == self._block:
                self._pass_on()
            return element
        raise StopIteration

    def _pass_on(self) -> None:
        self._turn = (self._turn + 1) % len(self._slots)
        self._given = 0

    def save(self) -> dict:
        """Where the iterator stands, as plain data."""
        fresh = Interleave(self._sources, len(self._slots), self._block)
        fresh._slots = [None if slot is None else list(slot) for slot in self._slots]
        fresh._turn, fresh._given, fresh._opened = self._turn, self._given, self._opened
        return {"rest": list(fresh)}

    def restore(self, state: dict) -> None:
        """Goes to where another iterator over the same sources stood when it was saved."""
        self._sources, self._slots, self._block = [list(state["rest"])], [None], 1
        self._turn = self._given = self._opened = 0


# %% wrong="interleave" why="takes lengths of 0"
class Interleave:
    """The elements of several lists, `block_length` of one and then of the next, `cycle_length` lists at a time.

    Raises:
        ValueError: a length is less than 1.
    """

    def __init__(self, sources: list[list], cycle_length: int, block_length: int) -> None:
        if cycle_length < 0 or block_length < 0:
            raise ValueError(f"cycle_length and block_length are 1 or more, not {cycle_length} and {block_length}")
        self._sources, self._block = sources, block_length
        self._slots: list = [None] * max(cycle_length, 1)  # [source, position]
        self._turn = self._given = self._opened = 0

    def __iter__(self):
        return self

    def __next__(self):
        """The next element.

        Raises:
            StopIteration: there is none.
        """
        while self._opened < len(self._sources) or any(slot is not None for slot in self._slots):
            if self._slots[self._turn] is None and self._opened < len(self._sources):
                self._slots[self._turn] = [self._opened, 0]
                self._opened += 1
            slot = self._slots[self._turn]
            if slot is None or slot[1] == len(self._sources[slot[0]]):
                self._slots[self._turn] = None
                self._pass_on()
                continue
            element = self._sources[slot[0]][slot[1]]
            slot[1] += 1
            self._given += 1
            if self._given == self._block:
                self._pass_on()
            return element
        raise StopIteration

    def _pass_on(self) -> None:
        self._turn = (self._turn + 1) % len(self._slots)
        self._given = 0

    def save(self) -> dict:
        """Where the iterator stands, as plain data."""
        slots = [None if slot is None else list(slot) for slot in self._slots]
        return {"slots": slots, "turn": self._turn, "given": self._given, "opened": self._opened}

    def restore(self, state: dict) -> None:
        """Goes to where another iterator over the same sources stood when it was saved."""
        self._slots = [None if slot is None else list(slot) for slot in state["slots"]]
        self._turn, self._given, self._opened = state["turn"], state["given"], state["opened"]


# %% wrong="interleave" why="gives the sources one after the other"
class Interleave:
    """The elements of several lists, `block_length` of one and then of the next, `cycle_length` lists at a time.

    Raises:
        ValueError: a length is less than 1.
    """

    def __init__(self, sources: list[list], cycle_length: int, block_length: int) -> None:
        if cycle_length < 1 or block_length < 1:
            raise ValueError(f"cycle_length and block_length are 1 or more, not {cycle_length} and {block_length}")
        self._sources, self._block = sources, block_length
        self._slots: list = [None]  # [source, position]
        self._turn = self._given = self._opened = 0

    def __iter__(self):
        return self

    def __next__(self):
        """The next element.

        Raises:
            StopIteration: there is none.
        """
        while self._opened < len(self._sources) or any(slot is not None for slot in self._slots):
            if self._slots[self._turn] is None and self._opened < len(self._sources):
                self._slots[self._turn] = [self._opened, 0]
                self._opened += 1
            slot = self._slots[self._turn]
            if slot is None or slot[1] == len(self._sources[slot[0]]):
                self._slots[self._turn] = None
                self._pass_on()
                continue
            element = self._sources[slot[0]][slot[1]]
            slot[1] += 1
            self._given += 1
            if self._given == self._block:
                self._pass_on()
            return element
        raise StopIteration

    def _pass_on(self) -> None:
        self._turn = (self._turn + 1) % len(self._slots)
        self._given = 0

    def save(self) -> dict:
        """Where the iterator stands, as plain data."""
        slots = [None if slot is None else list(slot) for slot in self._slots]
        return {"slots": slots, "turn": self._turn, "given": self._given, "opened": self._opened}

    def restore(self, state: dict) -> None:
        """Goes to where another iterator over the same sources stood when it was saved."""
        self._slots = [None if slot is None else list(slot) for slot in state["slots"]]
        self._turn, self._given, self._opened = state["turn"], state["given"], state["opened"]


# %% right="interleave" why="a generator for the order, and the number of elements taken as the state"
class Interleave:
    """The elements of several lists, some of one and then of the next."""

    def __init__(self, sources: list[list], cycle_length: int, block_length: int) -> None:
        if min(cycle_length, block_length) < 1:
            raise ValueError("lengths begin with 1")
        self.arguments = (sources, cycle_length, block_length)
        self.restore({"taken": 0})

    def __iter__(self):
        return self

    def __next__(self):
        element = next(self.order)
        self.taken += 1
        return element

    def save(self) -> dict:
        return {"taken": self.taken}

    def restore(self, state: dict) -> None:
        self.taken = state["taken"]
        self.order = itertools.islice(self.elements(*self.arguments), self.taken, None)

    @staticmethod
    def elements(sources, cycle_length, block_length):
        unopened = iter(sources)
        slots = [None] * cycle_length
        for turn in itertools.cycle(range(cycle_length)):
            if slots[turn] is None:
                following = next(unopened, None)
                if following is None:
                    if not any(slots):
                        return
                    continue
                slots[turn] = iter(following)
            for _ in range(block_length):
                try:
                    element = next(slots[turn])
                except StopIteration:
                    slots[turn] = None
                    break
                yield element


# %% wrong="prefetch" why="pulls an element and then waits with it for room"
def prefetch(source: Iterator, n: int) -> Iterator:
    """The elements of `source`, pulled by a thread that is up to n elements ahead.

    Raises:
        ValueError: n is less than 1.
    """
    if n < 1:
        raise ValueError(f"prefetch needs room for at least one element, not for {n}")
    import queue

    ready = queue.Queue(maxsize=n)

    def pull() -> None:
        try:
            while True:
                ready.put((True, next(source)))
        except StopIteration:
            ready.put((False, None))
        except BaseException as error:
            ready.put((False, error))

    def hand_over() -> Iterator:
        threading.Thread(target=pull, daemon=True).start()
        while True:
            is_element, what = ready.get()
            if not is_element:
                break
            yield what
        if what is not None:
            raise what

    return hand_over()


# %% wrong="prefetch" why="yields the error of the source instead of raising it"
def prefetch(source: Iterator, n: int) -> Iterator:
    """The elements of `source`, pulled by a thread that is up to n elements ahead.

    Raises:
        ValueError: n is less than 1.
    """
    if n < 1:
        raise ValueError(f"prefetch needs room for at least one element, not for {n}")
    permits, ready = threading.Semaphore(n), Buffer()

    def pull() -> None:
        try:
            while True:
                permits.acquire()
                ready.put((True, next(source)))
        except StopIteration:
            ready.put((False, None))
        except BaseException as error:
            ready.put((False, error))

    def hand_over() -> Iterator:
        threading.Thread(target=pull, daemon=True).start()
        while True:
            is_element, what = ready.get()
            if not is_element:
                break
            permits.release()
            yield what
        if what is not None:
            yield what

    return hand_over()


# %% wrong="prefetch" why="pulls the whole source first"
def prefetch(source: Iterator, n: int) -> Iterator:
    """The elements of `source`, pulled by a thread that is up to n elements ahead.

    Raises:
        ValueError: n is less than 1.
    """
    if n < 1:
        raise ValueError(f"prefetch needs room for at least one element, not for {n}")
    permits, ready = threading.Semaphore(n), Buffer()

    def pull() -> None:
        try:
            while True:
                ready.put((True, next(source)))
        except StopIteration:
            ready.put((False, None))
        except BaseException as error:
            ready.put((False, error))

    def hand_over() -> Iterator:
        threading.Thread(target=pull, daemon=True).start()
        while True:
            is_element, what = ready.get()
            if not is_element:
                break
            permits.release()
            yield what
        if what is not None:
            raise what

    return hand_over()


# %% wrong="prefetch" why="has no thread"
def prefetch(source: Iterator, n: int) -> Iterator:
    """The elements of `source`."""
    if n < 1:
        raise ValueError("n")

    def elements():
        ready = deque(itertools.islice(source, n))
        while ready:
            yield ready.popleft()
            ready.extend(itertools.islice(source, 1))

    return elements()


# %% wrong="prefetch" why="never tells the reader that the source has ended"
def prefetch(source: Iterator, n: int) -> Iterator:
    """The elements of `source`, pulled by a thread that is up to n elements ahead.

    Raises:
        ValueError: n is less than 1.
    """
    if n < 1:
        raise ValueError(f"prefetch needs room for at least one element, not for {n}")
    permits, ready = threading.Semaphore(n), Buffer()

    def pull() -> None:
        try:
            while True:
                permits.acquire()
                ready.put((True, next(source)))
        except StopIteration:
            return
        except BaseException as error:
            ready.put((False, error))

    def hand_over() -> Iterator:
        threading.Thread(target=pull, daemon=True).start()
        while True:
            is_element, what = ready.get()
            if not is_element:
                break
            permits.release()
            yield what
        if what is not None:
            raise what

    return hand_over()


# %% wrong="prefetch" why="takes an error of the source for its end"
def prefetch(source: Iterator, n: int) -> Iterator:
    """The elements of `source`, pulled by a thread that is up to n elements ahead.

    Raises:
        ValueError: n is less than 1.
    """
    if n < 1:
        raise ValueError(f"prefetch needs room for at least one element, not for {n}")
    permits, ready = threading.Semaphore(n), Buffer()

    def pull() -> None:
        try:
            while True:
                permits.acquire()
                ready.put((True, next(source)))
        except StopIteration:
            ready.put((False, None))
        except BaseException:
            ready.put((False, None))

    def hand_over() -> Iterator:
        threading.Thread(target=pull, daemon=True).start()
        while True:
            is_element, what = ready.get()
            if not is_element:
                break
            permits.release()
            yield what
        if what is not None:
            raise what

    return hand_over()


# %% wrong="prefetch" why="raises the ValueError only at the first next"
def prefetch(source: Iterator, n: int) -> Iterator:
    """The elements of `source`, pulled by a thread that is up to n elements ahead.

    Raises:
        ValueError: n is less than 1.
    """
    permits, ready = threading.Semaphore(max(n, 0)), Buffer()

    def pull() -> None:
        try:
            while True:
                permits.acquire()
                ready.put((True, next(source)))
        except StopIteration:
            ready.put((False, None))
        except BaseException as error:
            ready.put((False, error))

    def hand_over() -> Iterator:
        if n < 1:
            raise ValueError("n")
        threading.Thread(target=pull, daemon=True).start()
        while True:
            is_element, what = ready.get()
            if not is_element:
                break
            permits.release()
            yield what
        if what is not None:
            raise what

    return hand_over()


# %% wrong="prefetch" why="raises the error of the source before the elements that came before it"
def prefetch(source: Iterator, n: int) -> Iterator:
    """The elements of `source`, pulled by a thread that is up to n elements ahead.

    Raises:
        ValueError: n is less than 1.
    """
    if n < 1:
        raise ValueError(f"prefetch needs room for at least one element, not for {n}")
    failed = []
    permits, ready = threading.Semaphore(n), Buffer()

    def pull() -> None:
        try:
            while True:
                permits.acquire()
                ready.put((True, next(source)))
        except StopIteration:
            ready.put((False, None))
        except BaseException as error:
            failed.append(error)
            ready.put((False, error))

    def hand_over() -> Iterator:
        threading.Thread(target=pull, daemon=True).start()
        while True:
            is_element, what = ready.get()
            if failed:
                raise failed[0]
            if not is_element:
                break
            permits.release()
            yield what
        if what is not None:
            raise what

    return hand_over()


# %% wrong="prefetch" why="is only one ahead"
def prefetch(source: Iterator, n: int) -> Iterator:
    """The elements of `source`, pulled by a thread that is up to n elements ahead.

    Raises:
        ValueError: n is less than 1.
    """
    if n < 1:
        raise ValueError(f"prefetch needs room for at least one element, not for {n}")
    permits, ready = threading.Semaphore(1), Buffer()

    def pull() -> None:
        try:
            while True:
                permits.acquire()
                ready.put((True, next(source)))
        except StopIteration:
            ready.put((False, None))
        except BaseException as error:
            ready.put((False, error))

    def hand_over() -> Iterator:
        threading.Thread(target=pull, daemon=True).start()
        while True:
            is_element, what = ready.get()
            if not is_element:
                break
            permits.release()
            yield what
        if what is not None:
            raise what

    return hand_over()


# %% wrong="prefetch" why="takes None for the end"
def prefetch(source: Iterator, n: int) -> Iterator:
    """The elements of `source`, pulled by a thread that is up to n elements ahead.

    Raises:
        ValueError: n is less than 1.
    """
    if n < 1:
        raise ValueError(f"prefetch needs room for at least one element, not for {n}")
    permits, ready = threading.Semaphore(n), Buffer()

    def pull() -> None:
        try:
            while True:
                permits.acquire()
                ready.put((True, next(source)))
        except StopIteration:
            ready.put((False, None))
        except BaseException as error:
            ready.put((False, error))

    def hand_over() -> Iterator:
        threading.Thread(target=pull, daemon=True).start()
        while True:
            is_element, what = ready.get()
            if not is_element or what is None:
                break
            permits.release()
            yield what
        if what is not None:
            raise what

    return hand_over()


# %% wrong="prefetch" why="ends only once"
def prefetch(source: Iterator, n: int) -> Iterator:
    """The elements of `source`, pulled by a thread that is up to n elements ahead.

    Raises:
        ValueError: n is less than 1.
    """
    if n < 1:
        raise ValueError(f"prefetch needs room for at least one element, not for {n}")
    permits, ready = threading.Semaphore(n), Buffer()

    def pull() -> None:
        try:
            while True:
                permits.acquire()
                ready.put((True, next(source)))
        except StopIteration:
            ready.put((False, None))
        except BaseException as error:
            ready.put((False, error))

    class Reader:
        def __iter__(self):
            return self

        def __next__(self):
            is_element, what = ready.get()
            if not is_element:
                raise what or StopIteration
            permits.release()
            return what

    threading.Thread(target=pull, daemon=True).start()
    return Reader()


# %% right="prefetch" why="one condition and a deque; pulling begins with the call"
def prefetch(source: Iterator, n: int) -> Iterator:
    """The elements of `source`, pulled by a thread that is up to n elements ahead."""
    if n < 1:
        raise ValueError("n must be at least 1")
    room, ready, state = threading.Condition(), deque(), {"ended": False, "error": None}

    def pull() -> None:
        while True:
            with room:
                room.wait_for(lambda: len(ready) < n)
            try:
                element = next(source)
            except StopIteration:
                element = None
                state["ended"] = True
            except BaseException as error:
                element = None
                state["error"], state["ended"] = error, True
            with room:
                if not state["ended"]:
                    ready.append(element)
                room.notify_all()
                if state["ended"]:
                    return

    class Reader:
        def __iter__(self):
            return self

        def __next__(self):
            with room:
                room.wait_for(lambda: ready or state["ended"])
                if ready:
                    room.notify_all()
                    return ready.popleft()
            error, state["error"] = state["error"], None
            raise error or StopIteration

    threading.Thread(target=pull, daemon=True).start()
    return Reader()

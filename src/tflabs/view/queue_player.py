"""`queue_player`: a bounded queue moved by hand, with its slots and its two lists of attempts that wait.

Everything shown is read from a real `tf.queue.FIFOQueue`, on which the whole script is run anew for each step.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .controls import button
from .draw import NAME, SMALL, Header, hue_entry, rect, swatch, text
from .layout import Rect
from .picture import Picture
from .sheet import compose
from .text import listed, plural, text_width, wrap

KINDS = ("enqueue", "dequeue", "dequeue_up_to", "close", "cancel")
"""What a script is made of; "cancel" is a close that cancels pending enqueues."""

_ELEMENT, _PUT, _TAKE, _FAILED = 5, 1, 2, 4  # hues: sky blue, orange, bluish green, vermillion
_SLOT, _TALL, _LIST, _GAP, _ROW = 52.0, 40.0, 250.0, 22.0, 24.0  # px
_PATIENCE = 20.0  # s
_LINES = 8  # of what happened that are shown

Operation = tuple[str, int]


@dataclass(frozen=True)
class Waiting:
    """An attempt that waits: the number of its operation, and the elements in its hands.

    For an attempt to put in these are the ones that are not in yet; for one to take out those that it took already.
    """

    operation: int
    elements: tuple[int, ...]


@dataclass(frozen=True)
class State:
    """A queue after some operations; `results` says what became of each of them."""

    elements: tuple[int, ...] = ()
    putting: tuple[Waiting, ...] = ()
    taking: tuple[Waiting, ...] = ()
    closed: bool = False
    results: tuple[str, ...] = ()


def numbered(script: Sequence[Operation]) -> list[tuple[int, ...]]:
    """The elements that each operation puts in: they are numbered from 1 on through the whole script."""
    first, found = 1, []
    for kind, count in script:
        found.append(tuple(range(first, first + count)) if kind == "enqueue" else ())
        first += len(found[-1])
    return found


def after(capacity: int, script: Sequence[Operation]) -> State:
    """Runs a script on a fresh queue and reads what is in it.

    Each operation is a step in a thread of its own, in a session with a single thread for nodes: when the node in front
    of an operation has run, and after it two other steps, then the operation is in the queue. A node behind it says
    that it succeeded. In the end the queue is cancelled and drained, which shows what was inside.

    Args:
        script: pairs of a kind and a number: of elements, for enqueues and dequeues; not used for the others.
    """
    return _Run(capacity).read(script)


class _Run:
    """One queue in one session, which is of no use after it was read."""

    def __init__(self, capacity: int) -> None:
        import tensorflow as tf

        v1 = tf.compat.v1
        self._begun: dict[int, threading.Event] = {}
        self._succeeded: set[int] = set()
        self._outcomes: dict[int, Any] = {}
        with tf.Graph().as_default() as graph:
            queue = tf.queue.FIFOQueue(capacity, tf.int64, shapes=[[]])
            values, n = v1.placeholder(tf.int64, [None], name="values"), v1.placeholder(tf.int32, [], name="n")
            number = v1.placeholder(tf.int64, [], name="number")
            with tf.control_dependencies([tf.numpy_function(self._begins, [number], tf.int64)]):
                made = {
                    "enqueue": queue.enqueue_many(values),
                    "dequeue": queue.dequeue_many(n),
                    "dequeue_up_to": queue.dequeue_up_to(n),
                    "close": queue.close(),
                    "cancel": queue.close(cancel_pending_enqueues=True),
                }
            for kind, operation in made.items():
                with tf.control_dependencies([operation]):
                    told = tf.numpy_function(self._succeeds, [number], tf.int64)
                result = operation if kind.startswith("dequeue") else tf.zeros([0], tf.int64)
                with tf.control_dependencies([told]):
                    tf.identity(result, name=kind)
            queue.size(name="size")
            queue.is_closed(name="closed")
        config = v1.ConfigProto(inter_op_parallelism_threads=1, use_per_session_threads=True)
        config.device_count["GPU"] = 0
        config.graph_options.rewrite_options.disable_meta_optimizer = True
        self._session = v1.Session(graph=graph, config=config)

    def _begins(self, number: Any) -> Any:
        self._begun[int(number)].set()
        return number

    def _succeeds(self, number: Any) -> Any:
        self._succeeded.add(int(number))
        return number

    def read(self, script: Sequence[Operation]) -> State:
        """Runs the script and reads the queue; the session is closed then."""
        import tensorflow as tf

        elements = numbered(script)
        threads = []
        with self._session as session:
            for index, (kind, count) in enumerate(script):
                feeds = {"values:0": elements[index]} if kind == "enqueue" else {"n:0": count}
                threads.append(self._start(index, kind, feeds if kind in KINDS[:3] else {}))
            closed = bool(session.run("closed:0"))
            succeeded = set(self._succeeded)
            threads.append(self._start(len(script), "cancel", {}))
            for thread in threads:
                thread.join(_PATIENCE)
            size = int(session.run("size:0"))
            left: tuple[int, ...] = ()
            if size:
                number = len(script) + 1
                self._begun[number] = threading.Event()
                left = tuple(session.run("dequeue_up_to:0", {"n:0": size, "number:0": number}).tolist())
        failed = {index: type(e).__name__ for index, e in self._outcomes.items() if isinstance(e, tf.errors.OpError)}
        waits = [index for index in range(len(script)) if index not in succeeded and not closed]
        return self._state(script, elements, closed, waits, failed, left)

    def _start(self, number: int, kind: str, feeds: dict[str, Any]) -> threading.Thread:
        """Starts a step; when this returns, its operation is in the queue."""
        import tensorflow as tf

        def run() -> None:
            try:
                self._outcomes[number] = self._session.run(f"{kind}:0", {**feeds, "number:0": number}).tolist()
            except tf.errors.OpError as error:
                self._outcomes[number] = error

        begun = self._begun[number] = threading.Event()
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        if not begun.wait(_PATIENCE):
            raise TimeoutError(f"operation {number}, a {kind}, did not begin")
        for _ in range(2):
            self._session.run("size:0")
        return thread

    def _state(
        self,
        script: Sequence[Operation],
        elements: Sequence[tuple[int, ...]],
        closed: bool,
        waits: Sequence[int],
        failed: dict[int, str],
        left: tuple[int, ...],
    ) -> State:
        """What was there before the queue was cancelled, from what came out afterwards.

        A queue whose dequeues wait is empty, and only the first of them holds elements.
        """
        taking = [index for index in waits if script[index][0].startswith("dequeue")]
        late = [self._outcomes[index] for index in taking if index not in failed]
        inside = (*(element for outcome in late for element in outcome), *left)
        came = {e for index, out in self._outcomes.items() if index not in failed for e in out} | set(inside)
        putting = [
            Waiting(index, tuple(element for element in elements[index] if element not in came))
            for index in waits
            if index not in taking
        ]
        held = [Waiting(index, inside if index == taking[0] else ()) for index in taking]
        results = tuple(self._result(index, script[index][0], waits, failed) for index in range(len(script)))
        return State(() if taking else inside, tuple(putting), tuple(held), closed, results)

    def _result(self, index: int, kind: str, waits: Sequence[int], failed: dict[int, str]) -> str:
        if index in waits:
            return "waits"
        if index in failed:
            return failed[index]
        return str(self._outcomes[index]) if kind.startswith("dequeue") else "done"


def words_of(operation: Operation, elements: Sequence[int]) -> str:
    """An operation in a few words."""
    kind, count = operation
    if kind == "enqueue":
        return f"enqueue {listed([str(element) for element in elements], 6)}"
    return {"close": "close", "cancel": "close, cancel pending"}.get(kind) or f"{kind} {count}"


def queue_picture(capacity: int, script: Sequence[Operation], state: State) -> Picture:
    """Draws a queue after a script: the attempts to put in, the slots, the attempts to take out, and what happened."""
    elements = numbered(script)
    names = {index: f"{index + 1}: {words_of(operation, elements[index])}" for index, operation in enumerate(script)}
    middle = _LIST + _GAP
    slots = max(capacity * _SLOT, 150.0)
    right = middle + slots + _GAP
    rows = max(len(state.putting), len(state.taking), 1)
    height = 34 + max(rows * (_ROW + 20) + 8, _TALL + 46)
    parts = [
        _attempts("wait to put in", state.putting, names, _PUT, "not in yet", Rect(0, 0, _LIST, height)),
        _slots(capacity, state, Rect(middle, 0, slots, height)),
        _attempts("wait to take out", state.taking, names, _TAKE, "holds", Rect(right, 0, _LIST, height)),
        _happened(state, names, height + 18, right + _LIST),
    ]
    lines = min(len(script), _LINES) or 1
    entries = [hue_entry(_ELEMENT, "element"), hue_entry(_FAILED, "ended with an error")]
    total = height + 18 + 26 + lines * 18
    header = Header(f"A queue with room for {capacity}", entries)
    alt = _alt(capacity, state, names)
    return compose(header, "".join(parts), right + _LIST, total, "A bounded queue", alt)


def _attempts(title: str, waiting: Sequence[Waiting], names: dict[int, str], hue: int, what: str, at: Rect) -> str:
    """A list of attempts, the first one at the top."""
    parts = [rect(at, "panel", radius=6, extra=' stroke-width="1"'), swatch(hue, at.x + 10, at.y + 10)]
    parts.append(text(at.x + 32, at.y + 22, title, NAME, bold=True))
    top = at.y + 36
    for attempt in waiting:
        box = Rect(at.x + 8, top, at.w - 16, _ROW + 14)
        parts.append(rect(box, f"tint{hue}", radius=3, extra=' stroke-width="1"'))
        parts.append(text(box.x + 8, box.y + 15, _fit(names[attempt.operation], box.w - 16), SMALL, bold=True))
        parts.append(text(box.x + 8, box.y + 31, _fit(_in_hand(attempt, names, what), box.w - 16), SMALL))
        top += _ROW + 20
    if not waiting:
        parts.append(text(at.x + 32, top + 14, "nobody", SMALL, "muted"))
    return "".join(parts)


def _in_hand(attempt: Waiting, names: dict[int, str], what: str) -> str:
    """What an attempt has in its hands, in words; a close has nothing."""
    if names[attempt.operation].endswith("close"):
        return "takes effect after those above"
    return f"{what}: {listed([str(element) for element in attempt.elements], 8) or 'nothing'}"


def _slots(capacity: int, state: State, at: Rect) -> str:
    """The queue's slots, the front at the right end, where elements leave."""
    parts = [text(at.cx, at.y + 22, "closed" if state.closed else "open", NAME, bold=True, anchor="middle")]
    left = at.cx - capacity * _SLOT / 2
    for slot in range(capacity):
        place = capacity - 1 - slot  # of the element that is here, from the front
        box = Rect(left + slot * _SLOT + 2, at.y + 38, _SLOT - 4, _TALL)
        if place < len(state.elements):
            parts.append(rect(box, f"tint{_ELEMENT}", radius=3, extra=' stroke-width="1.5"'))
            parts.append(text(box.cx, box.cy + 4, str(state.elements[place]), NAME, bold=True, anchor="middle"))
        else:
            parts.append(rect(box, "card", radius=3, extra=' stroke-width="1" stroke-dasharray="2 3"'))
    parts.append(text(left + capacity * _SLOT - 2, at.y + _TALL + 56, "front", SMALL, "muted", anchor="end"))
    return "".join(parts)


def _happened(state: State, names: dict[int, str], top: float, width: float) -> str:
    """The last operations and what became of them."""
    parts = [text(0, top + 12, "what became of each operation, the newest last", SMALL, bold=True)]
    first = max(len(state.results) - _LINES, 0)
    for row, index in enumerate(range(first, len(state.results))):
        y, result = top + 20 + row * 18, state.results[index]
        if result.endswith("Error"):
            parts.append(swatch(_FAILED, 0, y + 1, 13))
        parts.append(text(22, y + 12, _fit(names[index], 250), SMALL, "muted" if result == "waits" else "fg"))
        parts.append(
            text(_LIST + _GAP + 20, y + 12, _fit(result, width - _LIST - _GAP - 20), SMALL, bold=result != "waits")
        )
    if not state.results:
        parts.append(text(22, top + 32, "nothing yet", SMALL, "muted"))
    return "".join(parts)


def _fit(words: str, width: float) -> str:
    """`words`, cut to `width` px."""
    if text_width(words, SMALL, True) <= width:
        return words
    return wrap(words, width - text_width("…", SMALL), SMALL, True)[0] + "…"


def _alt(capacity: int, state: State, names: dict[int, str]) -> str:
    inside = listed([str(element) for element in state.elements]) or "nothing"
    put = [f"{names[a.operation]} ({_in_hand(a, names, 'not in yet')})" for a in state.putting]
    take = [f"{names[a.operation]} ({_in_hand(a, names, 'holds')})" for a in state.taking]
    done = [f"{names[index]}: {result}" for index, result in enumerate(state.results) if result != "waits"]
    return (
        f"A queue with room for {plural(capacity, 'element')}, {'closed' if state.closed else 'open'}. "
        f"Inside, from the front: {inside}. Waiting to put in: {'; '.join(put) or 'nobody'}. "
        f"Waiting to take out: {'; '.join(take) or 'nobody'}. Ended: {'; '.join(done) or 'nothing'}."
    )


class QueueModel:
    """The state behind the player: a script, and the queue after it."""

    def __init__(self, capacity: int, script: Sequence[Operation]) -> None:
        self.capacity, self._first = capacity, tuple(script)
        self.script = self._first
        # A bounded cache of this player: going back runs nothing twice.
        self._after = lru_cache(maxsize=128)(lambda operations: after(capacity, operations))

    def add(self, kind: str, count: int = 1) -> None:
        """Puts an operation at the end of the script."""
        self.script = (*self.script, (kind, count))

    def drop(self) -> None:
        """Takes the last operation back."""
        self.script = self.script[:-1]

    def clear(self) -> None:
        """A new queue, on which nothing was done."""
        self.script = ()

    def again(self) -> None:
        """The script as it was at first."""
        self.script = self._first

    @property
    def state(self) -> State:
        """The queue after the script."""
        return self._after(self.script)

    def picture(self) -> Picture:
        """The queue after the script."""
        return queue_picture(self.capacity, self.script, self.state)


def queue_player(*, capacity: int, script: Sequence[Operation] = ()) -> Any:
    """A player: operations on a real queue, its slots, and who waits on either side.

    Args:
        capacity: of the queue.
        script: the operations at the start, pairs of a kind of `KINDS` and a number.

    Returns:
        An ipywidget.

    Raises:
        ValueError: the capacity or a number is below 1, or a kind is unknown.
    """
    import ipywidgets as widgets

    strange = [operation for operation in script if operation[0] not in KINDS or operation[1] < 1]
    if strange or capacity < 1:
        raise ValueError(
            f"a capacity from 1 on, and operations of {KINDS} with a number from 1 on, not {strange or capacity}"
        )
    model = QueueModel(capacity, script)
    picture = widgets.HTML()
    actions = {
        "enqueue 1": lambda: model.add("enqueue", 1),
        "enqueue 3": lambda: model.add("enqueue", 3),
        "dequeue 1": lambda: model.add("dequeue", 1),
        "dequeue 4": lambda: model.add("dequeue", 4),
        "dequeue up to 4": lambda: model.add("dequeue_up_to", 4),
        "close": lambda: model.add("close"),
        "close, cancel pending": lambda: model.add("cancel"),
        "Take last back": model.drop,
        "Empty": model.clear,
        "Start over": model.again,
    }
    buttons = {words: button(words) for words in actions}

    def show() -> None:
        buttons["Take last back"].disabled = not model.script
        picture.value = model.picture().html

    def act(words: str) -> Any:
        def clicked(_: object) -> None:
            actions[words]()
            show()

        return clicked

    for words, made in buttons.items():
        made.on_click(act(words))
    show()
    row = list(buttons.values())
    return widgets.VBox([widgets.HBox(row[:5]), widgets.HBox(row[5:7]), widgets.HBox(row[7:]), picture])

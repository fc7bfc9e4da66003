"""`session_cache`: a player for a session's executor cache and for the default stack, and the two pictures it shows.

Hit and miss are read from a real session, entering and leaving goes through TensorFlow's own `DefaultStack`: the player
holds no rule of its own about either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from .controls import button, ones, telling_line
from .draw import NAME, Entry, Header, Line, block, escape, num, path, rect, swatch, text
from .layout import Rect
from .picture import Picture
from .sheet import compose
from .text import listed, plural, text_width, wrap

T = TypeVar("T")

_HIT, _MISS, _CLOSED = 2, 1, 4  # hues: bluish green, orange, vermillion
_ROW = 24.0  # px: height of a table row with one line
_CELL = 230.0  # px: names wider than this continue on the next line
_GAP = 22.0  # px between columns


@dataclass(frozen=True)
class Lookup:
    """One `run` call: its feeds, fetches and targets, each sorted, and whether the session had an executor for them."""

    feeds: tuple[str, ...]
    fetches: tuple[str, ...]
    targets: tuple[str, ...]
    hit: bool

    @property
    def key(self) -> tuple[tuple[str, ...], ...]:
        """What the executor is kept under."""
        return self.feeds, self.fetches, self.targets

    @property
    def text(self) -> str:
        """The key as `DirectSession::GetOrCreateExecutors` writes it; no partial run, nothing watched."""
        feeds, fetches, targets = (",".join(names) for names in self.key)
        return f"{feeds}->{fetches}/{targets}/0/"


@dataclass(frozen=True)
class Opened:
    """A session on the default stack; `kind` is "with" or "interactive"."""

    name: str
    kind: str
    closed: bool = False


def executor_cache(lookups: Sequence[Lookup]) -> Picture:
    """Draws the executors that a session holds after these calls, one row each, and marks that of the last call."""
    rows: dict[tuple[tuple[str, ...], ...], list[int]] = {}
    for number, lookup in enumerate(lookups, 1):
        # A first call that is a hit: an earlier call made the executor and then failed, so it is not among `lookups`.
        rows.setdefault(lookup.key, [0] if lookup.hit else []).append(number)
    last = lookups[-1] if lookups else None
    table = [
        ("feeds", "fetches", "targets", "made in", "found again in"),
        *(_row(key, runs) for key, runs in rows.items()),
    ]
    current = None if last is None else 1 + list(rows).index(last.key)
    content, width, height = _table(table, current, last is not None and last.hit)
    return compose(_cache_header(lookups), content, width, height, "Executor cache", _cache_words(lookups, rows))


def default_stack(stack: Sequence[Opened], note: str = "") -> Picture:
    """Draws the default stack of a thread, innermost session on top; `note` says what happened last."""
    width, step = 330.0, 40.0
    parts = [
        _plate(item, Rect(0, (len(stack) - 1 - depth) * step, width, step - 8), top=depth == len(stack) - 1)
        for depth, item in enumerate(stack)
    ]
    base = len(stack) * step
    parts.append(path(f"M0 {num(base)}H{num(width)}", "edge", ' stroke-width="2"'))
    if not stack:
        parts.append(text(0, base + 18, "empty: there is no default session", NAME, "muted"))
    header = Header("Default sessions of this thread", notes=[note] if note else [])
    on = ", ".join(f"{item.name} ({item.kind}{', closed' if item.closed else ''})" for item in reversed(stack))
    words = f"Default stack, top first: {on or 'empty'}." + (f" {note}" if note else "")
    return compose(header, "".join(parts), width, base + (4 if stack else 26), "Default stack", words)


def session_cache(session: Any) -> Any:
    """A player: run steps of `session` and see its executor cache, open and end sessions and see the default stack.

    Args:
        session: an open `tf.compat.v1.Session` whose configuration has `graph_options.build_cost_model` and
            `build_cost_model_after` at 1. Fed values are ones. One step is run when the player is made.

    Returns:
        An ipywidget.

    Raises:
        ValueError: the session's configuration does not tell hits from misses.
    """
    import ipywidgets as widgets

    options = session._config.graph_options
    if (options.build_cost_model, options.build_cost_model_after) != (1, 1):
        raise ValueError(
            "the session needs graph_options.build_cost_model = build_cost_model_after = 1 in its configuration"
        )
    return widgets.VBox([_cache_player(session), _stack_player()])


# ---- the cache


def _row(key: tuple[tuple[str, ...], ...], runs: Sequence[int]) -> tuple[str, ...]:
    again = listed([str(number) for number in runs[1:]], 8)
    made = f"run {runs[0]}" if runs[0] else "a failed run"
    return (*(", ".join(names) or "–" for names in key), made, f"run {again}" if again else "–")


def _cache_header(lookups: Sequence[Lookup]) -> Header:
    if not lookups:
        return Header("Executor cache", notes=["No step has run: the cache is empty."])
    last, hits = lookups[-1], sum(lookup.hit for lookup in lookups)
    said = "hit: the executor was there" if last.hit else "miss: a new executor was made"
    misses = len(lookups) - hits
    count = ", ".join([plural(len(lookups), "run"), plural(hits, "hit"), plural(misses, "miss")])
    entry = Entry(swatch(_HIT if last.hit else _MISS, 4, 0), f"run {len(lookups)}, {said}")
    return Header("Executor cache", [entry], [f"key of run {len(lookups)}: {last.text}", count])


def _cache_words(lookups: Sequence[Lookup], rows: Iterable[tuple[tuple[str, ...], ...]]) -> str:
    if not lookups:
        return "Executor cache: empty, no step has run."
    keys = "; ".join(f"feeds {list(f)}, fetches {list(o)}, targets {list(t)}" for f, o, t in rows)
    said = "a hit" if lookups[-1].hit else "a miss"
    return f"Executor cache after {plural(len(lookups), 'run')}; the last was {said}. Executors: {keys}."


def _table(rows: Sequence[Sequence[str]], current: int | None, hit: bool) -> tuple[str, float, float]:
    """Draws rows of text, the first as head, the current one tinted. Returns SVG, width and height."""
    cells = [[_lines(words, head=index == 0) for words in row] for index, row in enumerate(rows)]
    widths = [max(line.width for row in cells for line in row[column]) for column in range(len(rows[0]))]
    total, parts, top = sum(widths) + _GAP * len(widths) + 20, [], 0.0
    for index, row in enumerate(cells):
        height = max(_ROW, 10 + max(sum(line.height for line in cell) for cell in row))
        if index == current:
            hue = _HIT if hit else _MISS
            parts.append(
                rect(Rect(0, top, total, height), f"tint{hue}", radius=3) + swatch(hue, 5, top + height / 2 - 7)
            )
        left = 26.0
        for cell, width in zip(row, widths, strict=True):
            parts.append(block(left, top + 5, cell))
            left += width + _GAP
        top += height
        parts.append(path(f"M0 {num(top)}H{num(total)}", "grid" if index else "edge"))
    return "".join(parts), total, top + 2


def _lines(words: str, *, head: bool) -> list[Line]:
    return [Line(part, css="muted" if head else "fg", bold=head) for part in wrap(words, _CELL, Line("").size)]


def _cache_player(session: Any) -> Any:
    import ipywidgets as widgets

    operations = session.graph.get_operations()
    tensors = [tensor.name for operation in operations for tensor in operation.outputs]
    chosen = {
        kind: widgets.SelectMultiple(options=names, rows=min(len(names), 8), description=kind)
        for kind, names in [("feeds", tensors), ("fetches", tensors), ("targets", [op.name for op in operations])]
    }
    run, picture, said = button("Run a step"), widgets.HTML(), widgets.HTML()
    lookups: list[Lookup] = []

    def step(_button: object = None) -> None:
        names = [chosen[kind].value for kind in ("feeds", "fetches", "targets")]
        try:
            found = run_step(session, *names)
        except Exception as error:
            said.value = f"<code>{escape(telling_line(error))}</code>"
            return
        said.value = ""
        if found is None:
            said.value = "Nothing is left to fetch or to run: no executor is looked for."
        else:
            lookups.append(found)
        picture.value = executor_cache(lookups).html

    run.on_click(step)
    chosen["feeds"].value, chosen["fetches"].value = _first_step(session.graph)
    step()
    return widgets.VBox([widgets.HBox(list(chosen.values())), widgets.HBox([run, said]), picture])


def run_step(session: Any, feeds: Sequence[str], fetches: Sequence[str], targets: Sequence[str]) -> Lookup | None:
    """Runs a step with ones as fed values; None if TensorFlow needed no executor for it.

    Raises:
        whatever `session.run` raises.
    """
    import tensorflow as tf

    values = ones(session.graph, feeds)
    metadata = tf.compat.v1.RunMetadata()
    options = tf.compat.v1.RunOptions(output_partition_graphs=True)
    session.run([*fetches, *targets], values, options=options, run_metadata=metadata)
    if not metadata.partition_graphs:
        return None
    asked = sorted({name for name in fetches if name not in values})  # Python's session answers fed fetches itself
    return Lookup(tuple(sorted(values)), tuple(asked), tuple(sorted(set(targets))), hit=bool(metadata.cost_graph.node))


def _first_step(graph: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Feeds and fetches to begin with: every placeholder, and the last tensor of the graph."""
    operations = graph.get_operations()
    feeds = tuple(op.outputs[0].name for op in operations if op.type == "Placeholder")
    last = [tensor.name for operation in operations for tensor in operation.outputs if tensor.name not in feeds]
    return feeds, tuple(last[-1:])


# ---- the default stack


class StackModel:
    """Sessions that open and end on one of TensorFlow's own default stacks; only their names are real.

    The stack is that of a thread of its own: a kernel may call back the buttons of one figure in several threads.
    """

    def __init__(self) -> None:
        from tensorflow.python.framework.stack import DefaultStack

        self._thread = ThreadPoolExecutor(1, thread_name_prefix="default-stack")
        self._values: Any = DefaultStack()
        self._scopes: dict[str, Any] = {}
        self._sessions: dict[str, Opened] = {}

    @property
    def stack(self) -> list[Opened]:
        """What lies on the stack, bottom first."""
        return [self._sessions[name] for name in self._in_thread(lambda: list(self._values.stack))]

    @property
    def open(self) -> list[Opened]:
        """The sessions that were not left or closed yet, in the order of opening."""
        return [self._sessions[name] for name in self._scopes]

    def enter(self, kind: str) -> str:
        """Opens a session. Returns what happened, in words."""
        name = f"s{len(self._sessions) + 1}"
        self._sessions[name] = Opened(name, kind)
        self._scopes[name] = self._values.get_controller(name)
        self._in_thread(self._scopes[name].__enter__)
        return f"{name} opened: it is the default now."

    def end(self, name: str) -> str:
        """Leaves the scope of a `with`, or closes an interactive session. Returns what happened, in words."""
        session, scope = self._sessions[name], self._scopes.pop(name)
        verb = "left"
        if session.kind == "interactive":
            verb, self._sessions[name] = "closed", Opened(name, session.kind, closed=True)
        try:
            self._in_thread(lambda: scope.__exit__(None, None, None))
        except AssertionError:
            return f"{name} {verb}: AssertionError, it was not on top. The stack stays as it is."
        return f"{name} {verb}: it is off the stack."

    def clear(self) -> str:
        """Empties the stack; scopes that are still open then find nothing to complain about."""
        self._in_thread(self._values.reset)
        self._in_thread(self._scopes.clear)
        self._sessions.clear()
        return ""

    def _in_thread(self, action: Callable[[], T]) -> T:
        return self._thread.submit(action).result()


def _plate(item: Opened, face: Rect, *, top: bool) -> str:
    css = f"tint{_CLOSED}" if item.closed else "card"
    kind = "InteractiveSession" if item.kind == "interactive" else "with … .as_default()"
    state = "closed" if item.closed else ""
    parts = [rect(face, css, radius=4, extra=f' stroke-width="{2 if top else 1}"')]
    parts.append(text(face.x + 12, face.cy + 5, item.name, NAME, bold=True))
    parts.append(text(face.x + 52, face.cy + 4, kind, Line("").size))
    if item.closed:
        parts.append(swatch(_CLOSED, face.x + 186, face.cy - 7) + text(face.x + 206, face.cy + 4, state, Line("").size))
    if top:
        words = "default"
        parts.append(text(face.x + face.w - 12 - text_width(words, NAME, True), face.cy + 5, words, NAME, bold=True))
    return "".join(parts)


def _stack_player() -> Any:
    import ipywidgets as widgets

    model, picture = StackModel(), widgets.HTML()
    kinds = {"interactive": "InteractiveSession()", "with": "with as_default()"}
    buttons = {kind: button(words) for kind, words in kinds.items()}
    ending, end, clear = widgets.Dropdown(options=[]), button("Close or leave"), button("Empty the stack")

    def show(note: str) -> None:
        ending.options = [(f"{item.name} ({item.kind})", item.name) for item in reversed(model.open)]
        end.disabled = not model.open
        picture.value = default_stack(model.stack, note).html

    def opening(kind: str) -> Callable[[object], None]:
        return lambda _button: show(model.enter(kind))

    for kind, opener in buttons.items():
        opener.on_click(opening(kind))
    end.on_click(lambda _button: show(model.end(ending.value)))
    clear.on_click(lambda _button: show(model.clear()))
    show("")
    return widgets.VBox([widgets.HBox([*buttons.values(), ending, end, clear]), picture])

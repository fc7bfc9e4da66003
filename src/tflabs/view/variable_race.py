"""`variable_race`: a player that puts the steps of two clients of one variable into any order, for both kinds of it.

The values of the variable and of what the clients hold are read from real runs, in which control edges force the order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .controls import button, set_steps
from .draw import NAME, SMALL, Entry, Header, hue_entry, line_entry, num, path, rect, swatch, text
from .layout import Rect
from .picture import Picture
from .sheet import compose
from .text import plural

ADDS = {"A": 1.0, "B": 2.0}
"""The clients, and what each of them adds to what it read."""
STEPS = ("read", "compute", "write")
KINDS = ("ref", "resource")

_CHANGED = 1  # hue: orange
_ROW, _LIST, _GAP = 24.0, 150.0, 24.0  # px
_PANEL, _TALL = 270.0, 234.0  # px
_BOX, _HIGH, _APART = 64.0, 26.0, 62.0  # px: a box, and how far a client stands from the middle
_DOTS = ' stroke-width="1.6" stroke-dasharray="2 3"'

Order = tuple[str, ...]


@dataclass(frozen=True)
class Held:
    """After some steps: the variable's value and, by client, what its read gives now and what it computed."""

    value: float
    read: Mapping[str, float]
    computed: Mapping[str, float]


def events(order: Sequence[str]) -> list[tuple[str, str]]:
    """The steps of an order of clients: the first A is A's read, the second its compute, the third its write.

    Raises:
        ValueError: a name is no client, or a client has more than three steps.
    """
    done: dict[str, int] = dict.fromkeys(ADDS, 0)
    steps = []
    for client in order:
        if client not in done or done[client] == len(STEPS):
            raise ValueError(f"an order holds each of {tuple(ADDS)} at most {len(STEPS)} times, not {list(order)}")
        steps.append((client, STEPS[done[client]]))
        done[client] += 1
    return steps


def after(order: Sequence[str]) -> dict[str, Held]:
    """Runs an order on a variable of each kind, which is 0 before, and reads what is where at its end.

    What a read gives is asked at the end, too: an alias gives the variable's value then.
    """
    import tensorflow as tf

    config = tf.compat.v1.ConfigProto(device_count={"CPU": 1, "GPU": 0})
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.optimizer_options.opt_level = tf.compat.v1.OptimizerOptions.L0
    with tf.Graph().as_default() as graph:
        fetches = {kind: _build(kind, order) for kind in KINDS}
        with tf.compat.v1.Session(graph=graph, config=config) as session:
            session.run(tf.compat.v1.global_variables_initializer())
            found = session.run(fetches)
    return {
        kind: Held(
            float(found[kind]["value"]),
            {client: float(value) for client, value in found[kind]["read"].items()},
            {client: float(value) for client, value in found[kind]["computed"].items()},
        )
        for kind in KINDS
    }


def _build(kind: str, order: Sequence[str]) -> dict[str, Any]:
    """Adds a variable and the steps of an order, each waiting for the one before, and what to fetch after them."""
    import tensorflow as tf

    v = tf.compat.v1.get_variable(f"{kind}_v", initializer=0.0, use_resource=kind == "resource")
    read: dict[str, Any] = {}
    computed: dict[str, Any] = {}
    last: list[Any] = []
    for client, step in events(order):
        with tf.control_dependencies(last):
            if step == "read":
                read[client] = made = v.read_value()
            elif step == "compute":
                computed[client] = made = tf.add(read[client], ADDS[client])
            else:
                made = v.assign(computed[client])
        last = [made.op]
    with tf.control_dependencies(last):
        now = {client: tf.identity(value) for client, value in read.items()}
        return {"value": v.read_value(), "read": now, "computed": computed}


def race_picture(order: Sequence[str], states: Sequence[Mapping[str, Held]]) -> Picture:
    """Draws an order, and what is where in either kind of variable after the last step in `states`.

    Args:
        order: clients, as for `events`.
        states: one before the first step, and one after each step that was run.
    """
    steps, done = events(order), len(states) - 1
    rows = "".join(_step_row(number, step, done) for number, step in enumerate(steps))
    panels = []
    for index, kind in enumerate(KINDS):
        before = states[-2][kind] if done else None
        face = Rect(_LIST + _GAP + index * (_PANEL + _GAP), 0, _PANEL, _TALL)
        panels.append(_panel(kind, states[-1][kind], before, _outcome(states[-1][kind], steps[:done]), face))
    words = f"After step {done}: {' '.join(steps[done - 1])}." if done else "Nothing has run."
    entries = [hue_entry(_CHANGED, "changed in this step"), line_entry("edge", "the same buffer", _DOTS)]
    entries.append(Entry(rect(Rect(3, 0, 17, 13), "card", extra=' stroke-width="1"'), "a value of its own"))
    title = "A adds 1, B adds 2: one order, two kinds of variable"
    width, height = _LIST + 2 * (_GAP + _PANEL), max(len(steps) * _ROW, _TALL)
    said = "; ".join(f"{kind}: {_described(kind, states[-1][kind])}" for kind in KINDS)
    alt = f"Order of {plural(len(steps), 'step')}: {', '.join(map(' '.join, steps)) or 'empty'}. {words} {said}."
    return compose(Header(title, entries, [words]), rows + "".join(panels), width, height, "Variable race", alt)


def _described(kind: str, held: Held) -> str:
    parts = [f"v is {held.value:g}"]
    for client in ADDS:
        if client in held.read:
            alias = "is an alias of v, now" if kind == "ref" else "is"
            parts.append(f"{client}'s read {alias} {held.read[client]:g}")
        if client in held.computed:
            parts.append(f"{client} computed {held.computed[client]:g}")
    return ", ".join(parts)


def _outcome(held: Held, steps: Sequence[tuple[str, str]]) -> str:
    """What became of the updates, once both clients have written."""
    if sum(step == "write" for _, step in steps) < len(ADDS):
        return ""
    return "both updates are there" if held.value == sum(ADDS.values()) else "an update is lost"


def _step_row(index: int, step: tuple[str, str], done: int) -> str:
    top, css = index * _ROW, "fg" if index < done else "muted"
    current = index == done - 1
    parts = [rect(Rect(0, top, _LIST, _ROW - 2), "panel", radius=3, extra=' stroke-width="1"')] if current else []
    base = top + _ROW - 8
    parts.append(text(26, base, str(index + 1), SMALL, "muted", anchor="end"))
    parts.append(text(40, base, step[0], SMALL, css, bold=True))
    parts.append(text(62, base, step[1], SMALL, css, bold=current))
    return "".join(parts)


def _panel(kind: str, held: Held, before: Held | None, outcome: str, face: Rect) -> str:
    """One kind of variable: its buffer above, below it what each client has."""
    parts = [rect(face, "panel", radius=6, extra=' stroke-width="1"')]
    parts.append(text(face.x + 12, face.y + 22, f"{kind} variable", NAME, bold=True))
    buffer = Rect(face.cx - _BOX / 2, face.y + 40, _BOX, _HIGH)
    for client, side in zip(ADDS, (-1, 1), strict=True):
        centre, top = face.cx + side * _APART, face.y + 104
        if kind == "ref" and client in held.read:
            parts.append(path(f"M{num(centre)} {num(top)}L{num(buffer.cx)} {num(buffer.y + _HIGH)}", "edge", _DOTS))
        parts.append(_client(kind, client, held, before, centre, top))
    parts.append(text(buffer.x - 10, buffer.cy + 4, "v", NAME, bold=True, anchor="end"))
    parts.append(_box(f"{held.value:g}", buffer, changed=before is not None and before.value != held.value))
    if outcome:
        words = f"{held.value:g}: {outcome}"
        parts.append(text(face.cx, face.y + face.h - 14, words, SMALL, bold=True, anchor="middle"))
    return "".join(parts)


def _client(kind: str, client: str, held: Held, before: Held | None, centre: float, top: float) -> str:
    """A client's read and its sum, below each other."""
    left = centre - _BOX / 2
    parts = [text(left - 10, top + _HIGH / 2 + 5, client, NAME, bold=True, anchor="end")]
    for row, words in enumerate(("read", "computed")):
        now, was = (getattr(each, words) if each else {} for each in (held, before))
        y = top + row * 52
        alias = kind == "ref" and words == "read" and client in now
        value = f"{now[client]:g}" if client in now else ""
        changed = before is not None and now.get(client) != was.get(client)
        parts.append(_box(value, Rect(left, y, _BOX, _HIGH), changed=changed, dashed=alias or not value))
        label = "alias of v" if alias else words
        parts.append(text(centre, y + _HIGH + 13, label, SMALL, "fg" if alias else "muted", anchor="middle"))
    return "".join(parts)


def _box(words: str, at: Rect, *, changed: bool, dashed: bool = False) -> str:
    css = f"tint{_CHANGED}" if changed else "card"
    dashes = ' stroke-dasharray="2 3"' if dashed else ""
    parts = [rect(at, css, radius=3, extra=f' stroke-width="{2 if changed else 1}"{dashes}')]
    if words:
        parts.append(text(at.cx, at.cy + 4, words, SMALL, anchor="middle"))
    if changed:
        parts.append(swatch(_CHANGED, at.x + at.w - 14, at.y + 2, 12))
    return "".join(parts)


class OrderModel:
    """The state behind the player: an order, and how many of its steps were run."""

    def __init__(self, order: Sequence[str]) -> None:
        self._first: Order = tuple(order)
        self.order = self._first
        self.done = 0
        events(order)
        # A bounded cache of this player: going back and forth runs nothing twice.
        self._after = lru_cache(maxsize=256)(after)

    def picture(self) -> Picture:
        """The order as far as it was run."""
        return race_picture(self.order, [self._after(self.order[:count]) for count in range(self.done + 1)])

    def may_add(self, client: str) -> bool:
        """Whether a client has a step left."""
        return self.order.count(client) < len(STEPS)

    def add(self, client: str) -> None:
        """Puts a client's next step at the end and runs up to it."""
        self.order = (*self.order, client)
        self.done = len(self.order)

    def can_move(self, by: int) -> bool:
        """Whether the step that was run last can change places with the one before (-1) or after it (1)."""
        return self.done > 0 and 0 <= self.done - 1 + by < len(self.order)

    def move(self, by: int) -> None:
        """Lets the step that was run last change places with its neighbour; steps of one client keep their order."""
        order = list(self.order)
        here, there = self.done - 1, self.done - 1 + by
        order[here], order[there] = order[there], order[here]
        self.order, self.done = tuple(order), self.done + by

    def drop(self) -> None:
        """Takes the last step away."""
        self.order = self.order[:-1]
        self.done = min(self.done, len(self.order))

    def again(self) -> None:
        """The order as it was at first, with nothing run."""
        self.order, self.done = self._first, 0


def variable_race(order: Sequence[str]) -> Any:
    """A player: put the steps of two clients of one variable into an order, go through it, and see what is where.

    Args:
        order: names of `ADDS`, each at most three times: the client's read, its compute, its write.

    Returns:
        An ipywidget.

    Raises:
        ValueError: as for `events`.
    """
    import ipywidgets as widgets

    model = OrderModel(order)
    slider = widgets.IntSlider(0, 0, max(len(order), 1), description="steps run")
    moves = {"Next step": 0, "Move earlier": -1, "Move later": 1}
    adds = {f"{client}'s next step": client for client in ADDS}
    buttons = {words: button(words) for words in (*moves, *adds, "Take last away", "Start over")}
    picture = widgets.HTML()

    def show() -> None:
        set_steps(slider, len(model.order), model.done)
        buttons["Next step"].disabled = model.done == len(model.order)
        buttons["Take last away"].disabled = not model.order
        for words, client in adds.items():
            buttons[words].disabled = not model.may_add(client)
        for words in ("Move earlier", "Move later"):
            buttons[words].disabled = not model.can_move(moves[words])
        picture.value = model.picture().html

    def slide(change: Any) -> None:
        if change["new"] != model.done:
            model.done = min(change["new"], len(model.order))
            show()

    def step() -> None:
        model.done += 1

    def act(action: Any, *arguments: object) -> Any:
        def clicked(_: object) -> None:
            action(*arguments)
            show()

        return clicked

    slider.observe(slide, "value")
    buttons["Next step"].on_click(act(step))
    for words in ("Move earlier", "Move later"):
        buttons[words].on_click(act(model.move, moves[words]))
    for words, client in adds.items():
        buttons[words].on_click(act(model.add, client))
    buttons["Take last away"].on_click(act(model.drop))
    buttons["Start over"].on_click(act(model.again))
    show()
    first = widgets.HBox([slider, *(buttons[words] for words in moves)])
    second = widgets.HBox([buttons[words] for words in (*adds, "Take last away", "Start over")])
    return widgets.VBox([first, second, picture])

"""`two_sessions`: a player that runs a small program in two sessions over one graph and shows what each one holds.

What a step returns and what stands in a variable or a queue after it is read from real sessions.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .controls import button, set_steps
from .draw import NAME, SMALL, Header, Line, hue_entry, rect, swatch, text
from .layout import Rect
from .picture import Picture
from .sheet import compose
from .text import plural, text_width

SESSIONS = ("A", "B")
KINDS = {
    "init": "init",
    "add": "add:0",
    "t": "t:0",
    "enqueue": "enqueue",
    "dequeue": "dequeue:0",
    "close": "close",
    "restart": "",
}
"""The steps that a program is made of, and what each of them runs; a restart closes the session and opens a new one."""

_CHANGED = 1  # hue: orange
_ROW, _LIST, _GAP = 22.0, 300.0, 28.0  # px
_PANEL, _TALL, _SLOT = 300.0, 132.0, 64.0  # px

Step = tuple[str, str]


@dataclass(frozen=True)
class Held:
    """What a session holds between two steps: the variable's value (None: it has none), and the queue."""

    value: float | None = None
    elements: tuple[float, ...] = ()
    closed: bool = False


@dataclass(frozen=True)
class State:
    """After some steps: what each session holds, and what the last step returned, in words."""

    held: dict[str, Held]
    result: str = ""


def after(graph: Any, capacity: int, program: Sequence[Step]) -> State:
    """Runs a program in fresh sessions and then reads what is in them.

    The number of a step, from 1 on, is fed to it as `x`. A step that would wait is not run. The queue is read by taking
    its elements out, so the sessions are of no use afterwards; they are closed.

    Args:
        graph: a tf.Graph with the nodes of `KINDS`, the placeholders `x` and `n`, a variable `v`, and
            `dequeue_up_to`, `size` and `is_closed` of the queue.
        capacity: of the queue.
        program: pairs of a name of `SESSIONS` and a kind of `KINDS`.
    """
    import tensorflow as tf

    config = tf.compat.v1.ConfigProto(device_count={"CPU": 1, "GPU": 0})
    result = ""
    with ExitStack() as stack:
        sessions = {name: tf.compat.v1.Session(graph=graph, config=config) for name in SESSIONS}
        for session in sessions.values():
            stack.callback(session.close)
        for number, (name, kind) in enumerate(program, 1):
            if kind == "restart":
                sessions[name].close()
                sessions[name] = tf.compat.v1.Session(graph=graph, config=config)
                stack.callback(sessions[name].close)
                result = "a new session"
            else:
                result = _run(sessions[name], kind, number, capacity)
        return State({name: _read(session) for name, session in sessions.items()}, result)


def _run(session: Any, kind: str, number: int, capacity: int) -> str:
    import tensorflow as tf

    size, closed = session.run(["size:0", "is_closed:0"])
    if not closed and ((kind == "enqueue" and size == capacity) or (kind == "dequeue" and size == 0)):
        return "would wait: not run"
    try:
        value = session.run(KINDS[kind], {"x:0": float(number)})
    except tf.errors.OpError as error:
        return type(error).__name__
    return "done" if value is None else f"{value:g}"


def _read(session: Any) -> Held:
    import tensorflow as tf

    try:
        value = float(session.run("v/Read/ReadVariableOp:0"))
    except (tf.errors.FailedPreconditionError, tf.errors.NotFoundError):
        value = None
    size, closed = session.run(["size:0", "is_closed:0"])
    elements = session.run("dequeue_up_to:0", {"n:0": size}) if size else ()
    return Held(value, tuple(float(element) for element in elements), bool(closed))


def held_picture(program: Sequence[Step], states: Sequence[State], capacity: int) -> Picture:
    """Draws a program and what each session holds after the last step in `states`.

    Args:
        program: all its steps.
        states: one before the first step, and one after each step that was run.
    """
    done = len(states) - 1
    left = "".join(_step_row(number, program, states) for number in range(len(program)))
    panels = []
    for index, name in enumerate(SESSIONS):
        before = states[-2].held[name] if done else None
        top = index * (_TALL + 18)
        panels.append(_panel(name, states[-1].held[name], before, capacity, Rect(_LIST + _GAP, top, _PANEL, _TALL)))
    height = max(len(program) * _ROW, len(SESSIONS) * (_TALL + 18) - 18)
    words = "Nothing has run." if not done else f"After step {done}: {_words(program[done - 1])}, {states[-1].result}."
    header = Header("Two sessions over one graph", [hue_entry(_CHANGED, "changed in this step")], [words])
    said = "; ".join(f"session {name}: {_described(states[-1].held[name])}" for name in SESSIONS)
    alt = f"Program of {plural(len(program), 'step')}. {words} {said}."
    return compose(header, left + "".join(panels), _LIST + _GAP + _PANEL, height, "Two sessions", alt)


def _words(step: Step) -> str:
    return f"{step[0]} {step[1]}"


def _described(held: Held) -> str:
    value = "v has no value" if held.value is None else f"v is {held.value:g}"
    elements = ", ".join(f"{element:g}" for element in held.elements) or "nothing"
    return f"{value}, the queue holds {elements}{', closed' if held.closed else ''}"


def _step_row(index: int, program: Sequence[Step], states: Sequence[State]) -> str:
    done, top = len(states) - 1, index * _ROW
    name, kind = program[index]
    css = "fg" if index < done else "muted"
    fed = f" {index + 1}" if kind in ("add", "enqueue") else ""
    current = index == done - 1
    parts = [rect(Rect(0, top, _LIST, _ROW - 2), "panel", radius=3, extra=' stroke-width="1"')] if current else []
    base = top + _ROW - 8
    parts.append(text(26, base, str(index + 1), SMALL, "muted", anchor="end"))
    parts.append(text(40, base, name, SMALL, css, bold=True))
    parts.append(text(62, base, kind + fed, SMALL, css))
    if index < done:
        parts.append(text(_LIST - 8, base, states[index + 1].result, SMALL, css, bold=current, anchor="end"))
    return "".join(parts)


def _panel(name: str, held: Held, before: Held | None, capacity: int, face: Rect) -> str:
    """One session: its variable as a box, its queue as slots from the front on."""
    parts = [rect(face, "panel", radius=6, extra=' stroke-width="1"')]
    parts.append(text(face.x + 12, face.y + 22, f"Session {name}", NAME, bold=True))
    value = "no value" if held.value is None else f"{held.value:g}"
    changed = before is not None and before.value != held.value
    parts.append(text(face.x + 12, face.y + 55, "v", Line("").size, "muted"))
    parts.append(_box(value, Rect(face.x + 62, face.y + 38, 84, 26), changed, empty=held.value is None))
    parts.append(text(face.x + 12, face.y + 99, "queue", Line("").size, "muted"))
    for slot in range(capacity):
        element = held.elements[slot : slot + 1]
        was = before.elements[slot : slot + 1] if before else element
        words = f"{element[0]:g}" if element else ""
        box = Rect(face.x + 62 + slot * _SLOT, face.y + 82, _SLOT - 6, 26)
        parts.append(_box(words, box, element != was, empty=not element))
    note = "front at the left" + (", closed" if held.closed else "")
    shut = before is not None and before.closed != held.closed
    parts.append(text(face.x + 62, face.y + 121, note, SMALL, "fg" if shut else "muted", bold=shut))
    if shut:
        parts.append(swatch(_CHANGED, face.x + 62 + text_width(note, SMALL, True) + 6, face.y + 111, 12))
    return "".join(parts)


def _box(words: str, at: Rect, changed: bool, *, empty: bool) -> str:
    css = f"tint{_CHANGED}" if changed else "card"
    dashes = ' stroke-dasharray="2 3"' if empty else ""
    parts = [rect(at, css, radius=3, extra=f' stroke-width="{2 if changed else 1}"{dashes}')]
    if words:
        parts.append(text(at.cx, at.cy + 4, words, SMALL, "muted" if empty else "fg", anchor="middle"))
    if changed:
        parts.append(swatch(_CHANGED, at.x + at.w - 14, at.y + 2, 12))
    return "".join(parts)


class ProgramModel:
    """The state behind the player: a program, how many of its steps were run, and what was held after each."""

    def __init__(self, graph: Any, capacity: int, program: Sequence[Step]) -> None:
        self.capacity, self._first = capacity, tuple(program)
        self.program = self._first
        self.done = 0
        # A bounded cache of this player: going back and forth runs nothing twice.
        self._after = lru_cache(maxsize=256)(lambda steps: after(graph, capacity, steps))

    def picture(self) -> Picture:
        """The program as far as it was run."""
        states = [self._after(self.program[:count]) for count in range(self.done + 1)]
        return held_picture(self.program, states, self.capacity)

    def add(self, name: str, kind: str) -> None:
        """Puts a step at the end and runs up to it."""
        self.program = (*self.program, (name, kind))
        self.done = len(self.program)

    def drop(self) -> None:
        """Takes the last step away."""
        self.program = self.program[:-1]
        self.done = min(self.done, len(self.program))

    def clear(self) -> None:
        """An empty program."""
        self.program, self.done = (), 0

    def again(self) -> None:
        """The program as it was at first, with nothing run."""
        self.program, self.done = self._first, 0


def two_sessions(graph: Any, *, capacity: int, program: Sequence[Step]) -> Any:
    """A player: go through a program step by step, add steps to it, and see variable and queue in each session.

    Args:
        graph, capacity, program: as for `after`.

    Returns:
        An ipywidget.

    Raises:
        ValueError: a step of the program names no session or no kind.
    """
    import ipywidgets as widgets

    strangers = [step for step in program if step[0] not in SESSIONS or step[1] not in KINDS]
    if strangers:
        raise ValueError(f"a step is a session of {SESSIONS} and a kind of {tuple(KINDS)}, not {strangers[0]}")
    model = ProgramModel(graph, capacity, program)
    slider = widgets.IntSlider(0, 0, max(len(program), 1), description="steps run")
    name = widgets.ToggleButtons(options=SESSIONS, style={"button_width": "40px"})
    kind = widgets.Dropdown(options=list(KINDS), layout={"width": "110px"})
    buttons = {words: button(words) for words in ("Next step", "Add step", "Take last away", "Empty", "Start over")}
    picture = widgets.HTML()

    def show() -> None:
        set_steps(slider, len(model.program), model.done)
        buttons["Next step"].disabled = model.done == len(model.program)
        buttons["Take last away"].disabled = not model.program
        picture.value = model.picture().html

    def move(change: Any) -> None:
        if change["new"] != model.done:
            model.done = min(change["new"], len(model.program))
            show()

    def step(_: object) -> None:
        model.done += 1
        show()

    def act(action: Any) -> Any:
        def clicked(_: object) -> None:
            action()
            show()

        return clicked

    slider.observe(move, "value")
    buttons["Next step"].on_click(step)
    buttons["Add step"].on_click(act(lambda: model.add(name.value, kind.value)))
    buttons["Take last away"].on_click(act(model.drop))
    buttons["Empty"].on_click(act(model.clear))
    buttons["Start over"].on_click(act(model.again))
    show()
    first = widgets.HBox([slider, buttons["Next step"]])
    second = widgets.HBox([name, kind, *(buttons[w] for w in ("Add step", "Take last away", "Empty", "Start over"))])
    return widgets.VBox([first, second, picture])

"""`lifetimes`: which C objects live during which calls of a C API, and the player that drops and moves calls.

The rules are those of any C API with `New…` and `Delete…`: what was made is freed once, and not used afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .controls import button
from .draw import SMALL, Entry, Header, hue_entry, line_entry, num, path, rect, swatch, text
from .layout import Rect
from .picture import Picture
from .sheet import compose
from .text import plural, text_width, wrap

LIVE, FAULT = 0, 4  # hues: blue, vermillion
_ROW, _LANE, _BAR, _NUMBER = 20.0, 52.0, 14.0, 26.0  # px; a lane is as wide as its object's name
_HEAD, _END = 40.0, 22.0  # px: above the first call, and below the last one
_WORDS = 84.0  # px: names of objects wider than this continue on the next line


@dataclass(frozen=True)
class CCall:
    """One call: the objects that it makes, those that it uses, and those that it frees. A freed one is not "used".

    `within` are the objects that what it makes stands on: they must not be freed before it.
    """

    name: str
    makes: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    frees: tuple[str, ...] = ()
    within: tuple[str, ...] = ()


@dataclass(frozen=True)
class Life:
    """One object: the call that made it and the one that freed it, by position, None if there is none; its uses."""

    name: str
    made: int | None
    freed: int | None
    used: tuple[int, ...]


@dataclass(frozen=True)
class Fault:
    """What is wrong with an object.

    `kind` is "leak", "double free", "use after free", "use before it is made" or, where something that stands on it is
    still alive, "early free".
    """

    kind: str
    name: str
    at: int | None  # position of the call; None for a leak

    def __str__(self) -> str:
        return f"{self.kind} of {self.name}" if self.at is None else f"{self.kind} of {self.name} in call {self.at + 1}"


def lives(calls: Sequence[CCall]) -> list[Life]:
    """The life of every object, in the order in which they first appear."""
    names = dict.fromkeys(name for call in calls for name in (*call.makes, *call.uses, *call.frees))
    found = []
    for name in names:
        made = [at for at, call in enumerate(calls) if name in call.makes]
        freed = [at for at, call in enumerate(calls) if name in call.frees and made and at > made[0]]
        used = tuple(at for at, call in enumerate(calls) if name in call.uses)
        found.append(Life(name, made[0] if made else None, freed[0] if freed else None, used))
    return found


def faults(calls: Sequence[CCall]) -> list[Fault]:
    """All faults, those of calls in their order, then leaks."""
    found: list[Fault] = []
    state: dict[str, str] = {}
    bases = {name: call.within for call in calls for name in call.makes}
    for at, call in enumerate(calls):
        for name in (*call.uses, *call.frees):
            if name not in state:
                found.append(Fault("use before it is made", name, at))
            elif state[name] == "freed":
                found.append(Fault("double free" if name in call.frees else "use after free", name, at))
        standing = {base for name, below in bases.items() if state.get(name) == "alive" for base in below}
        found += [Fault("early free", name, at) for name in call.frees if name in standing and state[name] == "alive"]
        state |= {name: "freed" for name in call.frees if name in state}
        state |= dict.fromkeys(call.makes, "alive")
    return found + [Fault("leak", name, None) for name, now in state.items() if now == "alive"]


def lifetimes(calls: Sequence[CCall], *, title: str | None = None, chosen: int | None = None) -> Picture:
    """Draws a row for each call and a bar for each object, from the call that makes it to the one that frees it.

    Args:
        chosen: position of a call that is marked.

    Raises:
        ValueError: there are no calls.
    """
    if not calls:
        raise ValueError("no calls to draw")
    wrong, objects = faults(calls), lives(calls)
    left = _NUMBER + max(text_width(call.name, SMALL, True) for call in calls) + 22
    middles, width = _middles(objects, left)
    height = _HEAD + _ROW * len(calls) + _END
    parts = [_row(at, call, width, at == chosen) for at, call in enumerate(calls)]
    parts += [_lane(life, wrong, x, len(calls)) for life, x in zip(objects, middles, strict=True)]
    said = [f"{fault}" for fault in wrong]
    notes = [f"Wrong: {'; '.join(said)}." if said else "Every object is freed once, and none is used afterwards."]
    title = title or "The life of the C objects"
    told = [f"{at + 1} {call.name}" for at, call in enumerate(calls)]
    alt = f"{plural(len(calls), 'call')}: {', '.join(told)}. {' '.join(map(_told, objects))} {notes[0]}"
    return compose(Header(title, _entries(bool(wrong)), notes), "".join(parts), width, height, title, alt)


def _middles(objects: Sequence[Life], left: float) -> tuple[list[float], float]:
    """Where the middle of each object's lane is, and where the last one ends."""
    middles = []
    for life in objects:
        lane = max(_LANE, max(text_width(line, SMALL, True) for line in _name(life)) + 12)
        middles.append(left + lane / 2)
        left += lane
    return middles, left


def _name(life: Life) -> list[str]:
    return wrap(life.name, _WORDS, SMALL, True)[:2]


def _dot(x: float, y: float) -> str:
    return f'<circle cx="{num(x)}" cy="{num(y)}" r="3" class="fg"/>'


def _entries(wrong: bool) -> list[Entry]:
    dot = Entry(rect(Rect(4, 0, 14, 14), f"tint{LIVE}") + _dot(11, 7), "used by this call")
    freed = line_entry("outline", "freed by this call", ' stroke-width="3"')
    used = [hue_entry(LIVE, "made by this call"), dot, freed]
    return [*used, hue_entry(FAULT, "wrong: see above")] if wrong else used


def _told(life: Life) -> str:
    made = f"is made by call {life.made + 1}" if life.made is not None else "is never made"
    freed = f"freed by call {life.freed + 1}" if life.freed is not None else "never freed"
    return f"{life.name} {made} and {freed}."


def _row(at: int, call: CCall, width: float, chosen: bool) -> str:
    top = _HEAD + _ROW * at
    base = top + _ROW - 6
    parts = [path(f"M0 {num(top + _ROW)}H{num(width)}", "grid")]
    if chosen:
        parts.append(rect(Rect(0, top + 1, width, _ROW - 2), "panel", radius=3, extra=' stroke-width="1"'))
    parts.append(text(_NUMBER - 6, base, str(at + 1), SMALL, "muted", anchor="end"))
    parts.append(text(_NUMBER + 4, base, call.name, SMALL, bold=chosen))
    return "".join(parts)


def _lane(life: Life, wrong: Sequence[Fault], x: float, count: int) -> str:
    """One object: its name on top, its bar with what uses it, and what is wrong with it."""
    words = _name(life)
    parts = [
        text(x, _HEAD - 8 - 14 * (len(words) - 1 - index), line, SMALL, bold=True, anchor="middle")
        for index, line in enumerate(words)
    ]
    parts.append(_bar(life, x, count))
    bad = {fault.at for fault in wrong if fault.name == life.name and fault.at is not None}
    uses = [at for at in life.used if at not in bad and at != life.made]
    parts += [_dot(x, _HEAD + _ROW * (at + 0.5)) for at in uses]
    parts += [swatch(FAULT, x - _BAR / 2, _HEAD + _ROW * (at + 0.5) - _BAR / 2, _BAR) for at in sorted(bad)]
    return "".join(parts)


def _bar(life: Life, x: float, count: int) -> str:
    """From the call that makes an object to the one that frees it; below the last call if none does."""
    if life.made is None:
        return ""
    left, top = x - _BAR / 2, _HEAD + _ROW * life.made + 3
    if life.freed is None:
        bottom = _HEAD + _ROW * count + _END - 11
        end, css = swatch(FAULT, left, bottom - _BAR, _BAR), f"tint{FAULT}"
    else:
        bottom = _HEAD + _ROW * (life.freed + 1) - 3
        end, css = path(f"M{num(x - 11)} {num(bottom)}H{num(x + 11)}", "outline", ' stroke-width="3"'), f"tint{LIVE}"
    face = rect(Rect(left, top, _BAR, bottom - top), css, radius=3, extra=' stroke-width="1"')
    return face + swatch(LIVE, left, top, _BAR) + end


class CallsModel:
    """The state behind the player: the calls that are left, in their order, and the one that is chosen."""

    def __init__(self, calls: Sequence[CCall]) -> None:
        if not calls:
            raise ValueError("no calls to draw")
        self._first = tuple(calls)
        self.calls = list(self._first)
        self.chosen = 0

    def picture(self) -> Picture:
        """The lives under the calls as they stand."""
        return lifetimes(self.calls, chosen=self.chosen)

    def can_move(self, by: int) -> bool:
        """Whether the chosen call has a neighbour on that side (-1 or 1)."""
        return 0 <= self.chosen + by < len(self.calls)

    def move(self, by: int) -> None:
        """Let the chosen call change places with its neighbour."""
        here, there = self.chosen, self.chosen + by
        self.calls[here], self.calls[there] = self.calls[there], self.calls[here]
        self.chosen = there

    def drop(self) -> None:
        """Take the chosen call away; one call is always left."""
        del self.calls[self.chosen]
        self.chosen = min(self.chosen, len(self.calls) - 1)

    def again(self) -> None:
        """The calls as they were at first."""
        self.calls, self.chosen = list(self._first), 0


def lifetimes_player(calls: Sequence[CCall]) -> Any:
    """A player: choose a call, drop it or move it, and see which object leaks, is freed twice or used too late.

    Returns:
        An ipywidget.

    Raises:
        ValueError: there are no calls.
    """
    import ipywidgets as widgets

    model = CallsModel(calls)
    slider = widgets.IntSlider(1, 1, len(model.calls), description="call")
    moves = {"Move up": -1, "Move down": 1}
    buttons = {words: button(words) for words in (*moves, "Drop", "Start over")}
    picture = widgets.HTML()

    def show() -> None:
        chosen = model.chosen + 1
        slider.max = max(slider.max, chosen)  # a slider whose end comes below its value changes the value by itself
        slider.value = chosen
        slider.max = len(model.calls)
        for words, by in moves.items():
            buttons[words].disabled = not model.can_move(by)
        buttons["Drop"].disabled = len(model.calls) == 1
        picture.value = model.picture().html

    def slide(change: Any) -> None:
        if change["new"] != model.chosen + 1:
            model.chosen = change["new"] - 1
            show()

    def act(action: Any, *arguments: object) -> Any:
        def clicked(_: object) -> None:
            action(*arguments)
            show()

        return clicked

    slider.observe(slide, "value")
    for words, by in moves.items():
        buttons[words].on_click(act(model.move, by))
    buttons["Drop"].on_click(act(model.drop))
    buttons["Start over"].on_click(act(model.again))
    show()
    return widgets.VBox([widgets.HBox([slider, *buttons.values()]), picture])

"""`letterbox`: a wall of letter boxes, the rendezvous of two or more steps moved by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from .draw import NAME, SMALL, Entry, Header, hue_entry, mark, path, rect, text
from .layout import Rect
from .picture import Picture, assemble
from .text import listed, plural, text_width, wrap

_MARGIN, _GAP = 16.0, 20.0  # px: around the picture, and between steps
_PAD, _BOX, _HALF = 14.0, 50.0, 172.0  # px: inside a step's panel; height of a box; width of each of its two sides
_TILE, _STRIDE = 28.0, 32.0  # px: a letter or a receiver, and the way to the next one
_SHOWN = 5  # letters or receivers that a box shows; the others are counted
_LINES = 5  # outcomes that a panel shows, the newest last
_VALUE, _RECEIVER, _FAILED = 0, 1, 4  # hues
_PANEL = 2 * _HALF + 2 * _PAD


@dataclass(frozen=True)
class Outcome:
    """How a call ended: in words, and whether by an error."""

    words: str
    failed: bool = False


@dataclass(frozen=True)
class Step:
    """The rendezvous of one step, and what came of the calls so far.

    `values` holds the numbers of the letters that wait under a key, `waiting` those of the receivers, each with the
    oldest first. Of one key never both wait. `error` is what an abort said; empty before. The rules are those of
    `LocalRendezvous` (tensorflow/core/framework/local_rendezvous.cc).
    """

    number: int
    values: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    waiting: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    error: str = ""
    outcomes: tuple[Outcome, ...] = ()


def send(step: Step, key: str, letter: int) -> Step:
    """A sender posts a letter: to the receiver that has waited longest, else into the box."""
    if step.error:
        return _ended(step, Outcome(f"send of letter {letter} raised {step.error}", failed=True))
    line = step.waiting.get(key, ())
    if line:
        left = replace(step, waiting={**step.waiting, key: line[1:]})
        return _ended(left, Outcome(f"letter {letter} woke {receiver_name(line[0])} at {key}"))
    posted = replace(step, values={**step.values, key: (*step.values.get(key, ()), letter)})
    return _ended(posted, Outcome(f"letter {letter} waits at {key}"))


def recv(step: Step, key: str, receiver: int) -> Step:
    """A receiver comes: it takes the oldest letter, else it waits."""
    name = receiver_name(receiver)
    if step.error:
        return _ended(step, Outcome(f"recv of {name} raised {step.error}", failed=True))
    letters = step.values.get(key, ())
    if letters:
        left = replace(step, values={**step.values, key: letters[1:]})
        return _ended(left, Outcome(f"{name} took letter {letters[0]} at {key}"))
    stands = replace(step, waiting={**step.waiting, key: (*step.waiting.get(key, ()), receiver)})
    return _ended(stands, Outcome(f"{name} waits at {key}"))


def abort(step: Step, error: str) -> Step:
    """The step fails: all who wait get the error, letters are thrown away. Only the first abort counts."""
    if step.error:
        return _ended(step, Outcome(f"a second abort changed nothing: it is still {step.error}"))
    woken = sorted(receiver for line in step.waiting.values() for receiver in line)
    failed = [Outcome(f"recv of {receiver_name(receiver)} raised {error}", failed=True) for receiver in woken]
    emptied = replace(step, values={}, waiting={}, error=error)
    for outcome in [Outcome(f"aborted with {error}"), *failed]:
        emptied = _ended(emptied, outcome)
    return emptied


def cleanup(step: Step) -> Step:
    """The step is over: its rendezvous is aborted and leaves the table; the next call makes a new, empty one."""
    ended = step if step.error else abort(step, f"Aborted: Cleanup {step.number}")
    return _ended(Step(step.number, outcomes=ended.outcomes), Outcome(f"step {step.number} begins anew"))


def receiver_name(receiver: int) -> str:
    """Receivers are called R1, R2 and so on; letters have plain numbers."""
    return f"R{receiver}"


def _ended(step: Step, outcome: Outcome) -> Step:
    return replace(step, outcomes=(*step.outcomes, outcome))


def wall(steps: Sequence[Step], keys: Sequence[str], title: str = "") -> Picture:
    """Draws the boxes of all steps side by side: on the left of a box letters wait, on the right receivers.

    Raises:
        ValueError: no step or no key is given.
    """
    if not steps or not keys:
        raise ValueError("a wall of letter boxes needs at least one step and one key")
    header = Header(title, _legend())
    width = len(steps) * _PANEL + (len(steps) - 1) * _GAP
    top, head = header.draw(_MARGIN, _MARGIN, width)
    height = _panel_height(keys)
    panels = [
        _draw_step(step, keys, Rect(_MARGIN + i * (_PANEL + _GAP), _MARGIN + head, _PANEL, height))
        for i, step in enumerate(steps)
    ]
    alt = " ".join(_words(step, keys) for step in steps)
    whole = width + 2 * _MARGIN, head + height + 2 * _MARGIN
    return assemble(top + "".join(panels), *whole, title or "A wall of letter boxes", alt)


def letterbox(
    keys: Sequence[str] = ("edge_1_a", "edge_2_b"), steps: Sequence[int] = (1, 2), *, title: str | None = None
) -> Any:
    """Returns an ipywidget: buttons that send, receive, abort and clean up in each step, above the wall of boxes.

    Args:
        keys: what the boxes of every step are labelled with.
        steps: the numbers of the steps, which share nothing but the labels.
        title: stands above the picture.

    Raises:
        ValueError: no step or no key is given, or one is given twice.
    """
    import ipywidgets as w

    if len(set(keys)) < len(keys) or len(set(steps)) < len(steps):
        raise ValueError("every key and every step is given once")
    player = Player(keys, steps)
    image = w.HTML()

    def show() -> None:
        image.value = wall(player.steps, keys, title or "").html

    def button(words: str, help: str, act: Callable[[], None], style: str = "") -> Any:
        made = w.Button(description=words, tooltip=help, button_style=style, layout=w.Layout(width="auto"))

        def click(_: Any) -> None:
            act()
            show()

        made.on_click(click)
        return made

    def controls(place: int, number: int) -> Any:
        rows = [
            [
                button(f"send {key}", f"post a letter in step {number}", partial(player.send, place, key)),
                button(f"recv {key}", f"a receiver comes in step {number}", partial(player.recv, place, key)),
            ]
            for key in keys
        ]
        lever = button("abort", f"a node of step {number} fails", partial(player.abort, place), "danger")
        over = button("clean up", f"step {number} is over", partial(player.cleanup, place))
        lines = [w.HBox(row) for row in [*rows, [lever, over]]]
        return w.VBox([w.HTML(f"<b>step {number}</b>"), *lines], layout=w.Layout(min_width=f"{_PANEL:.0f}px"))

    show()
    again = button("start over", "empty all boxes", player.reset)
    return w.VBox([w.HBox([controls(i, number) for i, number in enumerate(steps)]), again, image])


class Player:
    """The state behind the buttons: the steps, and how many letters and receivers have come so far."""

    def __init__(self, keys: Sequence[str], steps: Sequence[int]) -> None:
        self._keys, self._numbers = tuple(keys), tuple(steps)
        self.reset()

    def reset(self) -> None:
        """Empty boxes, and letters and receivers numbered from 1."""
        self.steps = [Step(number) for number in self._numbers]
        self._letters = self._receivers = 0

    def send(self, place: int, key: str) -> None:
        """A new letter in the step at `place`."""
        self._letters += 1
        self.steps[place] = send(self.steps[place], key, self._letters)

    def recv(self, place: int, key: str) -> None:
        """A new receiver in the step at `place`."""
        self._receivers += 1
        self.steps[place] = recv(self.steps[place], key, self._receivers)

    def abort(self, place: int) -> None:
        """The step at `place` fails."""
        self.steps[place] = abort(self.steps[place], "InvalidArgument: a node failed")

    def cleanup(self, place: int) -> None:
        """The step at `place` is over."""
        self.steps[place] = cleanup(self.steps[place])


def _panel_height(keys: Sequence[str]) -> float:
    return 40 + len(keys) * (_BOX + 30) + _LINES * 17 + 34


def _draw_step(step: Step, keys: Sequence[str], at: Rect) -> str:
    state = f"aborted: {step.error}" if step.error else "open"
    parts = [
        rect(at, f"tint{_FAILED}" if step.error else "panel", radius=4),
        text(at.x + _PAD, at.y + 24, f"step {step.number}", NAME, bold=True),
        text(at.x + at.w - _PAD, at.y + 24, _fit(state, at.w - 100), SMALL, "fg", anchor="end"),
    ]
    top = at.y + 38
    for key in keys:
        parts.append(_draw_box(step, key, at.x + _PAD, top))
        top += _BOX + 30
    parts.append(text(at.x + _PAD, top + 12, "what happened, the newest last", SMALL, "fg", bold=True))
    return "".join(parts) + _draw_outcomes(step.outcomes[-_LINES:], at.x + _PAD, top + 18)


def _draw_box(step: Step, key: str, x: float, top: float) -> str:
    left, right = Rect(x, top + 18, _HALF, _BOX), Rect(x + _HALF, top + 18, _HALF, _BOX)
    letters = [str(letter) for letter in step.values.get(key, ())]
    line = [receiver_name(receiver) for receiver in step.waiting.get(key, ())]
    return (
        text(x, top + 13, _fit(key, 2 * _HALF), SMALL, "fg", bold=True)
        + rect(left, "card")
        + rect(right, "card")
        + _draw_tiles(letters, left, _letter)
        + _draw_tiles(line, right, _receiver)
        + ("" if letters else text(left.x + 8, left.y + _BOX / 2 + 4, "no value waits", SMALL, "muted"))
        + ("" if line else text(right.x + 8, right.y + _BOX / 2 + 4, "no receiver waits", SMALL, "muted"))
    )


def _draw_tiles(names: Sequence[str], at: Rect, draw: Callable[[str, Rect], str]) -> str:
    """Draws names in a row, the oldest at the left; what does not fit is counted."""
    shown = names if len(names) <= _SHOWN else names[: _SHOWN - 1]
    y = at.y + (at.h - _TILE) / 2
    parts = [draw(name, Rect(at.x + 8 + i * _STRIDE, y, _TILE, _TILE)) for i, name in enumerate(shown)]
    if len(shown) < len(names):
        parts.append(text(at.x + 8 + len(shown) * _STRIDE, y + _TILE / 2 + 4, f"+{len(names) - len(shown)}", SMALL))
    return "".join(parts)


def _letter(name: str, at: Rect) -> str:
    flap = f"M{at.x:.1f} {at.y + 4:.1f}L{at.cx:.1f} {at.y + 11:.1f}L{at.x + at.w:.1f} {at.y + 4:.1f}"
    body = rect(Rect(at.x, at.y + 4, at.w, at.h - 8), f"tint{_VALUE}", radius=1)
    return body + path(flap, f"line{_VALUE}") + text(at.cx, at.y + at.h - 6, name, SMALL, anchor="middle")


def _receiver(name: str, at: Rect) -> str:
    label = text(at.cx, at.y + at.h / 2 + 4, name, SMALL, anchor="middle")
    return rect(at, f"tint{_RECEIVER}", radius=at.w / 2) + label


def _draw_outcomes(outcomes: Sequence[Outcome], x: float, top: float) -> str:
    parts = []
    for row, outcome in enumerate(outcomes):
        y = top + 17 * row
        if outcome.failed:
            parts.append(rect(Rect(x, y + 2, 14, 14), f"hue{_FAILED}", radius=2) + mark(_FAILED, x + 7, y + 9))
        parts.append(text(x + 20, y + 13, _fit(outcome.words, 2 * _HALF - 20), SMALL))
    if not outcomes:
        parts.append(text(x + 20, top + 13, "nothing yet", SMALL, "muted"))
    return "".join(parts)


def _legend() -> list[Entry]:
    flap = path("M1 1.5L11 8L21 1.5", f"line{_VALUE}")
    letter = rect(Rect(1, 1, 20, 12), f"tint{_VALUE}", radius=1) + flap
    receiver = rect(Rect(4, 0, 14, 14), f"tint{_RECEIVER}", radius=7)
    return [
        Entry(letter, "letter: a value that waits"),
        Entry(receiver, "receiver that waits"),
        hue_entry(_FAILED, "call that raised the step's error"),
    ]


def _fit(words: str, width: float) -> str:
    """`words`, cut to `width` px."""
    if text_width(words, SMALL) <= width:
        return words
    return wrap(words, width - text_width("…", SMALL), SMALL)[0] + "…"


def _words(step: Step, keys: Sequence[str]) -> str:
    boxes = []
    for key in keys:
        letters, line = step.values.get(key, ()), step.waiting.get(key, ())
        if letters:
            names = [str(letter) for letter in letters]
            boxes.append(f"{key} holds {plural(len(letters), 'letter')}: {listed(names, 8)}")
        elif line:
            names = [receiver_name(receiver) for receiver in line]
            verb = "waits" if len(line) == 1 else "wait"
            boxes.append(f"at {key} {plural(len(line), 'receiver')} {verb}: {listed(names, 8)}")
        else:
            boxes.append(f"{key} is empty")
    state = f"aborted with {step.error}" if step.error else "open"
    seen = [outcome.words for outcome in step.outcomes[-_LINES:]]
    happened = f" What happened, the newest last: {'; '.join(seen)}." if seen else ""
    return f"Step {step.number}, {state}: {'; '.join(boxes)}.{happened}"

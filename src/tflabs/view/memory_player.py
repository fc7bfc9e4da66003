"""`memory_player`: an allocator moved by hand on a small region, and a recorded run replayed event by event."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .controls import button, set_steps
from .memory import MemoryEvent, blocks, byte_words, gaps, memory_strip
from .picture import Picture


class Allocator(Protocol):
    """What the player moves: offsets and sizes in bytes, `MemoryError` where no chunk is large enough."""

    def allocate(self, n: int) -> int: ...
    def free(self, offset: int) -> None: ...
    @property
    def in_use(self) -> int: ...


@dataclass(frozen=True)
class Moved:
    """One event made by hand."""

    kind: str
    offset: int
    size: int
    requested: int
    op: str


class MemoryModel:
    """The state behind the player: an allocator on one region, what was done to it, and what it said last."""

    def __init__(self, make: Callable[[int], Allocator] | None, room: int) -> None:
        self._make, self.room = make, room
        self.clear()

    def clear(self) -> None:
        """A new allocator, and an empty region."""
        self.events: list[Moved] = []
        self.said = ""
        self._letters = 0
        self._allocator: Allocator | None = None
        self._try(lambda: None)

    def allocate(self, n: int) -> None:
        """Ask for n bytes."""
        self._try(lambda: self._allocated(n))

    def free(self, offset: int) -> None:
        """Give back the chunk that begins at an offset."""
        self._try(lambda: self._freed(offset))

    @property
    def live(self) -> dict[str, int]:
        """The chunks in use: what they are called, and where they begin."""
        inside = [b for b in blocks(self.events) if b.end == len(self.events)]
        return {f"{b.op}: {byte_words(b.requested)} at {b.offset}": b.offset for b in inside}

    def picture(self) -> Picture:
        """The region now."""
        return memory_strip(
            self.events, size=self.room, title=f"By hand: a region of {byte_words(self.room)}", notes=[self.said or "–"]
        )

    def _try(self, act: Callable[[], None]) -> None:
        """Do something to the allocator; whatever it raises is said instead."""
        try:
            if self._make is None:
                raise NotImplementedError
            if self._allocator is None:
                self._allocator = self._make(self.room)
            act()
        except NotImplementedError:
            self.said = "The class is not written yet."
        except Exception as error:
            self.said = f"It raised {type(error).__name__}: {error}"

    def _allocated(self, n: int) -> None:
        assert self._allocator is not None
        before = self._allocator.in_use
        try:
            offset = self._allocator.allocate(n)
        except MemoryError:
            left = gaps([b for b in blocks(self.events) if b.end == len(self.events)], self.room)
            free, largest = sum(gap.size for gap in left), max((gap.size for gap in left), default=0)
            self.said = f"MemoryError: {n} bytes asked for, {free} free, the largest free chunk has {largest}."
            return
        made = Moved("allocate", offset, self._allocator.in_use - before, n, _letter(self._letters))
        self._check([*self.events, made])
        self.said = f"{made.op}: {n} bytes asked for, a chunk of {made.size} given at {offset}."
        self._letters += 1

    def _freed(self, offset: int) -> None:
        assert self._allocator is not None
        self._allocator.free(offset)
        self._check([*self.events, Moved("free", offset, 0, 0, "")])
        self.said = f"The chunk at {offset} is free."

    def _check(self, events: list[Moved]) -> None:
        """Keep events that can be drawn."""
        memory_strip(events, size=self.room)
        self.events = events


def _letter(number: int) -> str:
    return chr(ord("A") + number % 26) + (str(number // 26) if number >= 26 else "")


def memory_player(
    events: Sequence[MemoryEvent], make: Callable[[int], Allocator] | None, *, size: int, room: int = 8192
) -> Any:
    """A player: a region of `room` bytes that is allocated from by hand, and below it a recorded run, event by event.

    Args:
        events: of the recorded run, whose region has `size` bytes.
        make: an allocator for a region of so many bytes, such as a class. What it cannot do yet is said, also if there
            is none yet (None).

    Returns:
        An ipywidget.
    """
    import ipywidgets as widgets

    model = MemoryModel(make, room)
    amount = widgets.BoundedIntText(value=1000, min=1, max=1 << 20, description="bytes")
    chosen = widgets.Dropdown(description="chunk")
    slider = widgets.IntSlider(description="event", layout=widgets.Layout(width="520px"))
    by_hand, replay = widgets.HTML(), widgets.HTML()
    give, take, over = button("Allocate"), button("Free"), button("Start over")
    back, on = button("Back"), button("On")
    set_steps(slider, len(events), 0)

    def show() -> None:
        by_hand.value = model.picture().html
        chosen.options = list(model.live.items())
        chosen.index = 0 if model.live else None
        take.disabled = not model.live

    def show_replay(_: object = None) -> None:
        done = list(events[: slider.value])
        notes = [_words(done[-1]) if done else "Nothing has happened yet."]
        replay.value = memory_strip(done, size=size, title="Replay of the recorded run", notes=notes).html

    def act(do: Callable[[], None]) -> Callable[[object], None]:
        def clicked(_: object) -> None:
            do()
            show()

        return clicked

    def move(by: int) -> Callable[[object], None]:
        def clicked(_: object) -> None:
            slider.value += by

        return clicked

    give.on_click(act(lambda: model.allocate(amount.value)))
    take.on_click(act(lambda: model.free(chosen.value)))
    over.on_click(act(model.clear))
    back.on_click(move(-1))
    on.on_click(move(1))
    slider.observe(show_replay, "value")
    show()
    show_replay()
    return widgets.VBox(
        [
            widgets.HBox([amount, give, chosen, take, over]),
            by_hand,
            widgets.HBox([back, on, slider]),
            replay,
        ]
    )


def _words(event: MemoryEvent) -> str:
    if event.kind == "free":
        return f"The chunk at {event.offset} is given back."
    return f"{event.op or 'Eager runtime'}: {event.requested} bytes asked for, {event.size} given at {event.offset}."

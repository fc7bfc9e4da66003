"""`stepper`: an execution of a graph, moved through step by step."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from .cards import Card
from .draw import Header, Line, escape, hue_entry
from .graph import read_any
from .grouping import group
from .layout import Layout
from .model import Model, Node
from .picture import Picture
from .sheet import Decor, cards_of, compose, draw_model, kind_entries, place
from .text import listed, plural

State = Literal["done", "running", "ready", "waiting"]

_HUES: dict[State, int] = {"ready": 0, "running": 1, "done": 2}
_LIMIT = 120  # nodes beyond which the graph is grouped


@dataclass(frozen=True)
class Step:
    """One node runs.

    `ready` names the nodes that could have run as well; None lets the picture work it out from the graph and the other
    steps: every node that runs later and whose inputs for that run are there. `note` is shown above the picture.
    """

    node: str
    ready: Sequence[str] | None = None
    note: str = ""


def stepper(graph: Any, steps: Iterable[str | Step], *, title: str | None = None) -> Any:
    """Returns an ipywidget that shows an execution: a slider, buttons for one step back and forth, the graph.

    Position 0 shows the graph before anything ran, position k the k-th step while it runs, the last position the end.

    Args:
        graph: what `tflabs.view.graph` draws.
        steps: node names, or `Step`s, in the order of execution. A node may occur several times, as in a loop.
        title: stands above the picture.

    Raises:
        ValueError: a step names a node that the graph does not have.
    """
    import ipywidgets as w

    player = Player(read_any(graph), [step if isinstance(step, Step) else Step(step) for step in steps], title)
    last = player.last
    slider = w.IntSlider(0, 0, max(last, 1), continuous_update=True, description="step", disabled=last == 0)
    back = w.Button(description="previous", icon="step-backward", tooltip="one step back")
    forth = w.Button(description="next", icon="step-forward", tooltip="one step forward")
    image, words = w.HTML(), w.HTML()

    def show(_: Any = None) -> None:
        image.value = player.picture(slider.value).html
        words.value = player.caption(slider.value)
        back.disabled, forth.disabled = slider.value == 0, slider.value >= last

    def move(by: int) -> None:
        slider.value = min(max(slider.value + by, 0), last)

    back.on_click(lambda _: move(-1))
    forth.on_click(lambda _: move(1))
    slider.observe(show, "value")
    show()
    return w.VBox([w.HBox([back, forth, slider]), words, image])


def states(model: Model, steps: Sequence[Step], position: int) -> dict[str, State]:
    """Returns the state of every node at a position of `stepper`.

    Args:
        position: 0 to `len(steps) + 1`; with no steps, only 0.
    """
    now = steps[position - 1] if 1 <= position <= len(steps) else None
    done = {step.node for step in steps[: max(position - 1, 0)]}
    ready = set(now.ready) if now is not None and now.ready is not None else _ready(model, steps, position)
    found: dict[str, State] = {}
    for node in model.nodes:
        if now is not None and node.name == now.node:
            found[node.name] = "running"
        elif node.name in ready:
            found[node.name] = "ready"
        else:
            found[node.name] = "done" if node.name in done else "waiting"
    return found


def _ready(model: Model, steps: Sequence[Step], position: int) -> set[str]:
    """Nodes whose next run has all its inputs: whatever ran for it has finished.

    A run reads what the latest run of each input before it made. So the steps say which way a loop or a condition went,
    and a node on the other way is not ready.
    """
    runs: dict[str, list[int]] = {}
    for i, step in enumerate(steps):
        runs.setdefault(step.node, []).append(i)
    inputs: dict[str, list[str]] = {}
    for edge in model.edges:
        inputs.setdefault(edge.head, []).append(edge.tail)
    finished = max(position - 1, 0)
    ready = set()
    for name, times in runs.items():
        following = bisect_left(times, position)
        if following == len(times):
            continue
        before = [
            runs[tail][: bisect_left(runs[tail], times[following])] for tail in inputs.get(name, ()) if tail in runs
        ]
        if all(earlier[-1] < finished for earlier in before if earlier):
            ready.add(name)
    return ready


class Player:
    """The pictures of one execution: laid out once, coloured for each position."""

    def __init__(self, model: Model, steps: Sequence[Step], title: str | None) -> None:
        known = {node.name for node in model.nodes}
        named = [name for step in steps for name in (step.node, *(step.ready or ()))]
        strangers = sorted(set(named) - known)
        if strangers:
            raise ValueError(f"the graph has no node named {listed(strangers, 5)}; it has {listed(sorted(known), 8)}")
        self.model, self.steps, self.title = model, steps, title
        self.last = len(steps) + 1 if steps else 0
        self._shown = group(model, _LIMIT, keep=[step.node for step in steps])
        widest = Decor(badges=dict.fromkeys((n.name for n in self._shown.nodes), 0))
        self._cards = {name: _with_state(card, "running ×888") for name, card in cards_of(self._shown, widest).items()}
        self._layout: Layout = place(self._shown, self._cards)

    def caption(self, position: int) -> str:
        """One line of HTML about a position."""
        if not self.steps:
            return "no steps"
        if position == 0:
            return f"before the first of {plural(len(self.steps), 'step')}"
        if position == self.last:
            return f"after {plural(len(self.steps), 'step')}"
        step = self.steps[position - 1]
        note = f" · {escape(step.note)}" if step.note else ""
        return f"step {position} of {len(self.steps)}: <b>{escape(step.node)}</b> runs{note}"

    def picture(self, position: int) -> Picture:
        """The graph at a position."""
        found = states(self.model, self.steps, position)
        times: dict[str, int] = {}
        for step in self.steps[: max(position - 1, 0)]:
            times[step.node] = times.get(step.node, 0) + 1
        over = position == self.last > 0
        cards = {node.name: self._card(node, found, times, over) for node in self._shown.nodes}
        header = Header(self.title or "", [*(hue_entry(i, s) for s, i in _HUES.items()), *kind_entries(self._shown)])
        content = draw_model(self._shown, cards, self._layout)
        alt = self._words(found, position)
        return compose(header, content, self._layout.width, self._layout.height, self.title or "Execution", alt)

    def _card(self, node: Node, found: Mapping[str, State], times: Mapping[str, int], over: bool) -> Card:
        inside = [found[name] for name in node.members or (node.name,)]
        order: tuple[State, ...] = ("running", "ready", "waiting", "done")
        state = next(s for s in order if s in inside)
        runs = times.get(node.name, 0) + (state == "running")
        words = "did not run" if over and state == "waiting" else f"{state} ×{runs}" if runs > 1 else state
        if node.members:
            words = f"{inside.count('done')} of {len(inside)} done"
        plain = self._cards[node.name]
        return _with_state(replace(plain, lines=plain.lines[:-1], badge=_HUES.get(state), plain=True), words)

    def _words(self, found: Mapping[str, State], position: int) -> str:
        where = "Before the first step" if position == 0 else f"Step {position} of {len(self.steps)}"
        if position and position == self.last:
            where = "After the last step"
        parts = [
            f"{state}: {listed([name for name, s in found.items() if s == state]) or 'none'}"
            for state in ("running", "ready", "done", "waiting")
        ]
        return f"{where}. {'; '.join(parts)}."


def _with_state(card: Card, words: str) -> Card:
    """Adds the line that says a node's state."""
    return replace(card, lines=(*card.lines, Line(words)))

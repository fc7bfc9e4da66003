"""`step_player`: one step over all partitions, moved by hand: who is ready, and who waits for which letter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from .controls import button
from .devices import short_device
from .draw import Header, escape
from .picture import Picture
from .read import graph_def_of, parse_input, transfer_key
from .sheet import Decor, compose, hue_entries, kind_entries
from .stages import draw_parts, read_parts
from .text import listed, plural

# The states of a node, each with its hue.
_STATES = {"has run": 5, "ready": 6, "waits for a letter": 4, "not ready": 3}
_SENDS, _RECVS = ("_Send", "_HostSend"), ("_Recv", "_HostRecv")

Key = tuple[str, str, str]  # tensor_name, source and destination device


class StepModel:
    """The state of a step: which nodes have run, and which letters lie in the rendezvous.

    A node runs when all that it names has run, and a `_Recv` when its letter is there, too. Values do not matter.
    """

    def __init__(self, parts: Mapping[str, Any]) -> None:
        read_parts(parts)
        self.devices = sorted(parts)
        graphs = {device: graph_def_of(parts[device]) for device in self.devices}
        self.nodes = {f"{device}:{node.name}": node for device, graph in graphs.items() for node in graph.node}
        self._device = {f"{device}:{node.name}": device for device, graph in graphs.items() for node in graph.node}
        self.reset()

    def reset(self) -> None:
        """The step begins: nothing has run, and the rendezvous is empty."""
        self.done: set[str] = set()
        self.letters: list[Key] = []
        self.lost: list[Key] = []
        self.log: list[str] = []
        self.losing = False

    def key(self, name: str) -> Key:
        """What the two nodes of a pair have in common."""
        _, *parts = transfer_key(self.nodes[name])
        return parts[0], parts[1], parts[2]

    def state(self, name: str) -> str:
        """One of the four states of a node."""
        if name in self.done:
            return "has run"
        device = self._device[name]
        if not all(f"{device}:{parse_input(text)[0]}" in self.done for text in self.nodes[name].input):
            return "not ready"
        waits = self.nodes[name].op in _RECVS and self.key(name) not in self.letters
        return "waits for a letter" if waits else "ready"

    def of(self, device: str, state: str) -> list[str]:
        """The nodes of a device that are in a state, in the order of its part."""
        return [name for name in self.nodes if self._device[name] == device and self.state(name) == state]

    def run(self, device: str) -> bool:
        """Runs the first ready node of a device, or notes for which letters it waits. Whether a node ran."""
        short = short_device(device)
        ready = self.of(device, "ready")
        if not ready:
            waiting = [self.key(name)[0] for name in self.of(device, "waits for a letter")]
            self.log.append(
                f"{short} waits for {plural(len(waiting), 'letter')}: {listed(waiting)}"
                if waiting
                else f"{short} is done"
            )
            return False
        name = ready[0]
        self.done.add(name)
        node = self.nodes[name]
        words = f"{short} ran {node.name}"
        if node.op in _SENDS:
            words += f": the letter {self.key(name)[0]} " + ("was lost" if self.losing else "lies in the rendezvous")
            (self.lost if self.losing else self.letters).append(self.key(name))
            self.losing = False
        elif node.op in _RECVS:
            self.letters.remove(self.key(name))
            words += f": it took the letter {self.key(name)[0]}"
        self.log.append(words)
        return True

    def run_all(self) -> None:
        """Lets the devices run in turn until none can."""
        while runnable := [device for device in self.devices if self.of(device, "ready")]:
            for device in runnable:
                self.run(device)
        for device in self.devices:
            self.run(device)

    def lose(self) -> None:
        """The next letter that is sent will be lost."""
        self.losing = True
        self.log.append("the next letter will be lost")

    @property
    def words(self) -> str:
        """The whole state in a sentence for each device."""
        said = []
        for device in self.devices:
            counts = [counted(len(self.of(device, state)), state) for state in _STATES if self.of(device, state)]
            said.append(f"{short_device(device)}: {', '.join(counts)}.")
        lying = [f"{edge} for {short_device(to)}" for edge, _, to in self.letters]
        said.append(f"In the rendezvous: {listed(lying)}." if lying else "The rendezvous is empty.")
        if self.lost:
            said.append(f"Lost: {listed([edge for edge, _, _ in self.lost])}.")
        return " ".join(said)


def counted(count: int, state: str) -> str:
    """So many nodes in a state, in words: "1 waits for a letter", "3 wait for a letter"."""
    verbs = {"has run": "have run", "waits for a letter": "wait for a letter"}
    return f"{count} {state if count == 1 else verbs.get(state, state)}"


def step_picture(
    model: StepModel, parts: Mapping[str, Any], handles: Mapping[str, str] | None = None, title: str = ""
) -> Picture:
    """Draws the partitions with the state of each node.

    Args:
        model: the state of a step of `parts`.
        parts: device name -> GraphDef.
        handles: device name -> the handle under which its part is registered.
        title: stands above the picture.
    """
    shown = read_parts(parts)
    badges = {identity: _STATES[model.state(f"{device}:{name}")] for identity, device, name in shown.nodes}
    notes = {device: f"handle {handle}" for device, handle in (handles or {}).items()}
    content, width, height = draw_parts(shown, Decor(badges=badges), notes)
    entries = [*hue_entries(_STATES), *kind_entries(shown.whole)]
    return compose(Header(title, entries), content, width, height, title or "A step", model.words)


def step_player(parts: Mapping[str, Any], *, handles: Mapping[str, str] | None = None, title: str | None = None) -> Any:
    """A player: a button for each device runs one node of its part, or says for which letters the device waits.

    Args:
        parts: device name -> GraphDef, as the runtime reports them.
        handles: device name -> the handle under which its part is registered.
        title: stands above the picture.

    Returns:
        An ipywidget.

    Raises:
        ValueError: there are no parts.
    """
    import ipywidgets as w

    model = StepModel(parts)
    picture, said, happened = w.HTML(), w.HTML(), w.HTML()

    def show() -> None:
        picture.value = step_picture(model, parts, handles, title or "").html
        said.value = escape(model.words)
        happened.value = "<br>".join(escape(line) for line in model.log[-4:]) or "nothing has run yet"

    def pressing(words: str, act: Callable[[], object]) -> Any:
        made = button(words)

        def press(_: object) -> None:
            act()
            show()

        made.on_click(press)
        return made

    runs = [pressing(f"Run {short_device(device)}", partial(model.run, device)) for device in model.devices]
    others = [
        pressing("Run all until they wait", model.run_all),
        pressing("Lose the next letter", model.lose),
        pressing("Start over", model.reset),
    ]
    show()
    return w.VBox([w.HBox(runs), w.HBox(others), happened, said, picture])

"""`machine_state`, `machine_player`: a small machine before or after an instruction: program, registers and memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .controls import button
from .draw import NAME, SMALL, Header, hue_entry, mark, polygon, rect, text
from .layout import Rect
from .picture import Picture
from .sheet import compose
from .text import plural, text_width

_NEXT, _CHANGED = 0, 1  # hues: blue, orange
_ROW, _CELL_H, _COLUMNS = 22.0, 26.0, 4  # px; memory cells in a row


@dataclass(frozen=True)
class MachineState:
    """What a machine holds between two instructions.

    Args:
        counter: the program counter, the number of the instruction that comes next.
        registers: name -> value.
        memory: a number for each address.
        note: what the last instruction did, in words.
    """

    counter: int
    registers: Mapping[str, int] = field(default_factory=dict)
    memory: Sequence[int] = ()
    note: str = ""


def instruction_words(instruction: Sequence[object]) -> str:
    """`("add", "r1", "r2", 4)` as `add r1, r2, 4`."""
    name, *operands = (str(part) for part in instruction)
    return f"{name} {', '.join(operands)}"


def machine_state(
    program: Sequence[Sequence[object]],
    state: MachineState,
    before: MachineState | None = None,
    *,
    title: str | None = None,
) -> Picture:
    """Draws a machine: its program with the program counter, its registers, its memory.

    Args:
        program: instructions, a name and operands each.
        before: the state one instruction earlier; what has changed since stands out.

    Raises:
        ValueError: there is no program.
    """
    if not program:
        raise ValueError("there is no program to draw")
    lines = [instruction_words(instruction) for instruction in program]
    wide = max(text_width(line, NAME) for line in lines) + 74
    parts = [text(0, 14, "program", NAME, bold=True)]
    parts += [_line(i, line, i == state.counter, wide) for i, line in enumerate(lines)]
    if state.counter == len(lines):
        parts.append(_pointer(24 + len(lines) * _ROW) + text(48, 24 + len(lines) * _ROW + 15, "end", NAME, "muted"))
    changed = _changes(before, state)
    x = wide + 26
    registers, used = _cells(x, "registers", {name: str(v) for name, v in state.registers.items()}, changed, 1)
    memory, more = _cells(
        x + used + 26, "memory", {f"[{a}]": str(v) for a, v in enumerate(state.memory)}, changed, _COLUMNS
    )
    rows = max(len(lines) + 1, len(state.registers) * _CELL_H / _ROW, len(state.memory) / _COLUMNS * _CELL_H / _ROW)
    entries = [hue_entry(_NEXT, "next instruction (program counter)"), hue_entry(_CHANGED, "just changed")]
    header = Header(title or "", entries, [state.note] if state.note else [])
    width = x + used + 26 + more
    return compose(
        header, "".join(parts) + registers + memory, width, 30 + rows * _ROW, title or "A machine", _alt(lines, state)
    )


def _changes(before: MachineState | None, state: MachineState) -> set[str]:
    """Names of registers and cells whose values are not what they were."""
    if before is None:
        return set()
    found = {name for name, value in state.registers.items() if before.registers.get(name, 0) != value}
    pairs = zip(before.memory, state.memory, strict=True)
    return found | {f"[{address}]" for address, (old, new) in enumerate(pairs) if old != new}


def _line(number: int, words: str, is_next: bool, wide: float) -> str:
    y = 24 + number * _ROW
    face = rect(
        Rect(0, y, wide, _ROW), f"tint{_NEXT}" if is_next else "shade", extra=' stroke-width="1.5"' if is_next else ""
    )
    drawn = face if is_next or number % 2 == 0 else ""
    drawn += _pointer(y) if is_next else ""
    return drawn + text(40, y + 15, str(number), SMALL, "muted", anchor="end") + text(50, y + 15, words, NAME)


def _pointer(y: float) -> str:
    return polygon([(5, y + 5), (17, y + 11), (5, y + 17)], f"solid{_NEXT}")


def _cells(x: float, title: str, values: Mapping[str, str], changed: set[str], columns: int) -> tuple[str, float]:
    """Named cells in columns. Returns SVG and width."""
    name_wide = max((text_width(name, SMALL) for name in values), default=0) + 8
    value_wide = max([text_width(value, NAME, True) for value in values.values()] + [30]) + 26
    column = name_wide + value_wide + 12
    parts = [text(x, 14, title, NAME, bold=True)]
    if not values:
        parts.append(text(x, 38, "none", SMALL, "muted"))
    for i, (name, value) in enumerate(values.items()):
        row, place = divmod(i, columns)
        box = Rect(x + place * column + name_wide, 24 + row * _CELL_H, value_wide, _CELL_H - 4)
        parts.append(text(box.x - 6, box.cy + 4, name, SMALL, "muted", anchor="end"))
        css = f"tint{_CHANGED}" if name in changed else "card"
        parts.append(rect(box, css, radius=3, extra=f' stroke-width="{2 if name in changed else 1}"'))
        parts.append(text(box.x + box.w - 8, box.cy + 4.5, value, NAME, bold=name in changed, anchor="end"))
        if name in changed:
            dot = Rect(box.x + 3, box.cy - 6, 12, 12)
            parts.append(rect(dot, f"hue{_CHANGED}", radius=2) + mark(_CHANGED, dot.cx, dot.cy, 3.2))
    used = min(columns, len(values)) or 1
    return "".join(parts), max(used * column, text_width(title, NAME, True))


def _alt(lines: Sequence[str], state: MachineState) -> str:
    after = lines[state.counter] if 0 <= state.counter < len(lines) else "the end"
    registers = ", ".join(f"{name} = {value}" for name, value in state.registers.items()) or "none written"
    memory = ", ".join(str(value) for value in state.memory)
    return f"A program of {plural(len(lines), 'instruction')}. Next: {after}. Registers: {registers}. Memory: {memory}."


def machine_player(
    program: Sequence[Sequence[object]], states: Sequence[MachineState], *, title: str | None = None
) -> Any:
    """A player: step through the states of a machine, forwards and backwards.

    Args:
        states: before the first instruction, and after each one.

    Returns:
        An ipywidget.

    Raises:
        ValueError: there are no states.
    """
    import ipywidgets as widgets

    if not states:
        raise ValueError("there are no states to show")
    slider = widgets.IntSlider(
        0, 0, max(len(states) - 1, 1), description="executed", layout=widgets.Layout(width="520px")
    )
    back, on = button("Step back"), button("Step")
    picture = widgets.HTML()

    def show(_: object = None) -> None:
        here = min(slider.value, len(states) - 1)
        back.disabled, on.disabled = here == 0, here == len(states) - 1
        earlier = states[here - 1] if here else None
        picture.value = machine_state(program, states[here], earlier, title=title).html

    def move(by: int) -> Any:
        def clicked(_: object) -> None:
            slider.value = min(max(slider.value + by, 0), len(states) - 1)

        return clicked

    slider.disabled = len(states) == 1
    slider.observe(show, "value")
    back.on_click(move(-1))
    on.on_click(move(1))
    show()
    return widgets.VBox([widgets.HBox([back, on, slider]), picture])

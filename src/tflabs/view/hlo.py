"""`hlo`: an HLO program, or one before and after XLA's passes side by side."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from .draw import Header, Line, block, num, path
from .grouping import group
from .hlo_text import Computation, Instruction, Module, parse_hlo
from .model import Cluster, Edge, Model, Node, Role
from .picture import Picture
from .sheet import Decor, cards_of, compose, draw_model, kind_entries, place
from .text import listed, plural

_LIMIT = 80  # instructions beyond which a program is grouped
_GAP = 44.0  # px: between the program before and the one after
_FREE = frozenset({"parameter", "constant", "tuple", "get-tuple-element", "bitcast"})  # no code runs for these
_SHOWN = ("dimensions", "direction", "index", "lhs_contracting_dims", "rhs_contracting_dims", "custom_call_target",
          "slice", "window", "dim_labels", "iota_dimension")  # fmt: skip
_INLINE = {"fusion": "calls", "call": "to_apply"}  # drawn around their computation
_LOOSE = ("body", "condition", "branch_computations", "true_computation", "false_computation")  # drawn beside it


def hlo(before: str, after: str | None = None, *, title: str | None = None) -> Picture:
    """Draws the ENTRY computation of one or two HLO modules.

    A fusion is a box around the instructions of its computation; inputs of the box lead to the instructions that use
    them. Bodies and conditions of loops and branches of conditionals stand in boxes of their own. Kernels are counted
    in a scheduled module: instructions for which code runs. A fusion is one; parameters, constants, tuples, their
    elements and bitcasts are none.

    Args:
        before: HLO text: stage "hlo" or "optimized_hlo" of `experimental_get_compiler_ir`.
        after: the same program in a later stage.
        title: stands above the picture.

    Raises:
        TypeError: an argument is no text.
        ValueError: it is no HLO text.
    """
    texts = {"": before} if after is None else {"before": before, "after": after}
    panels = [_panel(name, read_program(parse_hlo(text))) for name, text in texts.items()]
    height = max(panel.height for panel in panels)
    parts, x = [], 0.0
    for panel in panels:
        if x:
            middle = num(x - _GAP / 2)
            parts.append(path(f"M{middle} 0V{num(height)}", "grid", ' stroke-width="1"'))
        parts.append(f'<g class="program" transform="translate({num(x)} 0)">{panel.svg}</g>')
        x += panel.width + _GAP
    kinds = Model(tuple(n for p in panels for n in p.model.nodes), ())
    header = Header(title or "", kind_entries(kinds), [note for p in panels for note in p.model.notes])
    alt = " ".join(["HLO program.", *(panel.words for panel in panels)])
    return compose(header, "".join(parts), x - _GAP, height, title or "HLO", alt)


@dataclass(frozen=True)
class _Panel:
    """One program, drawn."""

    svg: str
    width: float
    height: float
    words: str
    model: Model


def _panel(name: str, program: Program) -> _Panel:
    model = group(program.model, _LIMIT)
    cards = cards_of(model, Decor())
    layout = place(model, cards)
    heading = Line(f"{name}: {program.counts}" if name else program.counts, 12, bold=True)
    top = heading.height + 12
    width = max(layout.width, heading.width)
    inner = draw_model(model, cards, layout)
    svg = block(0, 0, [heading]) + f'<g transform="translate({num((width - layout.width) / 2)} {num(top)})">{inner}</g>'
    opcodes = Counter(node.title.split()[0] for node in program.model.nodes)
    listing = listed([f"{opcode} ×{n}" if n > 1 else opcode for opcode, n in sorted(opcodes.items())])
    return _Panel(svg, width, layout.height + top, f"{heading.text} (drawn: {listing}).", model)


@dataclass(frozen=True)
class Program:
    """A module ready to draw. `instructions` counts those of ENTRY and of loops and branches, a fusion being one."""

    model: Model
    instructions: int
    fusions: int
    kernels: int | None  # None: the module is not scheduled, and what will be a kernel is open

    @property
    def counts(self) -> str:
        """The counts in words."""
        words = [plural(self.instructions, "instruction"), plural(self.fusions, "fusion")]
        return ", ".join(words + ([] if self.kernels is None else [plural(self.kernels, "kernel")]))


@dataclass
class _Reading:
    """What has been read so far of a module."""

    module: Module
    nodes: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    loose: list[tuple[str, Computation]] = field(default_factory=list)  # title, computation: still to be drawn
    instructions: int = 0
    fusions: int = 0
    kernels: int = 0

    def kernel(self, instruction: Instruction) -> str:
        """The kernel that an instruction outside of fusions is, "" for none."""
        if not self.module.scheduled or instruction.opcode in _FREE:
            return ""
        self.kernels += 1
        return f"kernel {self.kernels}"


def read_program(module: Module) -> Program:
    """Reads ENTRY, and after it the computations of loops and branches, into one model."""
    reading = _Reading(module)
    _, _, clusters = _read(reading, module.entry, "", None, False)
    drawn = {module.entry.name}
    while reading.loose:
        title, computation = reading.loose.pop(0)
        if computation.name in drawn:
            continue
        drawn.add(computation.name)
        _, names, inner = _read(reading, computation, f"{computation.name}/", None, False)
        clusters.append(Cluster(computation.name, title, tuple(names), tuple(inner)))
    model = Model(tuple(reading.nodes), tuple(reading.edges), tuple(clusters))
    return Program(model, reading.instructions, reading.fusions, reading.kernels if module.scheduled else None)


def _read(
    reading: _Reading, computation: Computation, prefix: str, arguments: Sequence[str] | None, fused: bool
) -> tuple[str, list[str], list[Cluster]]:
    """Reads one computation. Returns the id of its root, and its own nodes and boxes.

    Args:
        arguments: ids of the nodes that stand for its parameters, or None to draw them.
        fused: whether it is part of a fusion, so that its instructions are no kernels.
    """
    ids: dict[str, str] = {}
    names, clusters = [], []
    for instruction in computation.instructions:
        number = instruction.parameter
        if number is not None and arguments is not None and number < len(arguments):
            ids[instruction.name] = arguments[number]
            continue
        operands = [ids[name] for name in instruction.operands if name in ids]
        reading.instructions += not fused
        inner = _callee(reading.module, instruction)
        if inner is not None:
            box = _read_box(reading, instruction, inner, prefix, operands, fused)
            if box is not None:
                ids[instruction.name], cluster = box
                clusters.append(cluster)
                continue
        node = _node(reading, instruction, prefix, fused)
        ids[instruction.name] = node.name
        names.append(node.name)
        reading.nodes.append(node)
        reading.edges += [Edge(operand, node.name) for operand in operands]
    return ids[computation.root.name], names, clusters


def _callee(module: Module, instruction: Instruction) -> Computation | None:
    """The computation that an instruction is drawn around."""
    return module.computations.get(instruction.attributes.get(_INLINE.get(instruction.opcode, ""), ""))


def _read_box(
    reading: _Reading, instruction: Instruction, inner: Computation, prefix: str, operands: list[str], fused: bool
) -> tuple[str, Cluster] | None:
    """Reads a fusion or call as a box. Returns the id of its root, and the box; None if nothing is in it."""
    if all(i.parameter is not None for i in inner.instructions):
        return None
    fusion = instruction.opcode == "fusion"
    kernel = reading.kernel(instruction) if fusion and not fused else ""
    reading.fusions += fusion
    kind = f" ({instruction.attributes['kind']})" if "kind" in instruction.attributes else ""
    title = " · ".join(part for part in (kernel, f"{instruction.opcode} {instruction.name}{kind}") if part)
    name = prefix + instruction.name
    root, names, clusters = _read(reading, inner, f"{name}/", operands, fused or fusion)
    return root, Cluster(name, title, tuple(names), tuple(clusters))


def _node(reading: _Reading, instruction: Instruction, prefix: str, fused: bool) -> Node:
    lines = [instruction.shape]
    lines += [f"{key}={instruction.attributes[key]}" for key in _SHOWN if instruction.attributes.get(key, "{}") != "{}"]
    applied = reading.module.computations.get(instruction.attributes.get("to_apply", ""))
    if applied is not None:
        single = sum(i.parameter is None for i in applied.instructions) == 1
        lines.append(f"to_apply: {applied.root.opcode if single else applied.name}")
    for key in _LOOSE:
        for name in re.findall(r"[\w.\-]+", instruction.attributes.get(key, "")):
            if name in reading.module.computations:
                lines.append(f"{key}={name}")
                reading.loose.append((f"{key} of {instruction.name}: {name}", reading.module.computations[name]))
    if not fused and instruction.opcode not in ("while", "conditional", "call"):
        lines += filter(None, [reading.kernel(instruction)])
    roles: dict[str, Role] = {"parameter": "input", "constant": "constant"}
    title = f"{instruction.opcode} {instruction.literal}".strip()
    role = roles.get(instruction.opcode, "op")
    return Node(prefix + instruction.name, instruction.name, "", role, title, tuple(lines))

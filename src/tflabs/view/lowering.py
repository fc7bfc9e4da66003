"""`lowering_stage`, `lowering`: one compiled function in all its forms, from the traced graph to machine code.

XLA notes the TensorFlow op that an HLO instruction comes from in its metadata (`OpMetadata` in xla/xla_data.proto).
LLVM IR and machine code know only the kernel. There a line is coloured by what it does: in a kernel whose only addition
comes from the op `add`, an `fadd` is the work of `add`.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .draw import SMALL, Header, escape, mark, num, rect, text
from .graph import read_any
from .hlo import read_program
from .hlo_text import Computation, Instruction, Module, parse_hlo
from .layout import Rect
from .model import Model
from .picture import Picture
from .sheet import Decor, cards_of, compose, draw_model, hue_entries, kind_entries, place
from .text import listed, plural, text_width, wrap
from .theme import HUES

STAGES = {
    "graph": "Traced graph",
    "hlo": "HLO",
    "optimized_hlo": "Optimised HLO",
    "llvm": "LLVM IR",
    "assembly": "Machine code",
}
_NO_OPS = ("", "XLA_Args", "XLA_Retvals")  # op_name of instructions that XLA itself adds around the function
_CALLS = ("calls", "to_apply")
_QUIET = ("metadata", "frontend_attributes", "parameter_replication", "backend_config", "operand_precision")
_ROWS = 160  # lines of a listing; what follows is counted
_ROW_HEIGHT = 17.0  # px
_ROW_LIMIT = 900.0  # px: longer lines continue below
_GUTTER = 24.0  # px: left of the lines, for the marks

# Names in a dump: module, number of the module, name of the kernel. The name may hold dots, as `wrapped_reduce.1` does.
_LLVM_FILE = re.compile(r"(?P<stem>module_\d+\..*?\.\d+)\.(?P<name>.+)_kernel_module\.ir-no-opt\.ll$")

# What carries out an HLO opcode on floats: opcodes of LLVM IR, mnemonics of x86-64 (SSE, AVX) and of AArch64.
_WORK = {
    "add": (r"fadd", r"v?add[sp][sd]|fadd"),
    "subtract": (r"fsub", r"v?sub[sp][sd]|fsub"),
    "multiply": (r"fmul", r"v?mul[sp][sd]|fmul"),
    "divide": (r"fdiv", r"v?div[sp][sd]|fdiv"),
    "maximum": (r"fcmp|select|call .*@llvm\.max\w*", r"v?max[sp][sd]|fmax(nm)?"),
    "minimum": (r"fcmp|select|call .*@llvm\.min\w*", r"v?min[sp][sd]|fmin(nm)?"),
    "exponential": (r"call .*exp\S*", r"(?!)"),
    "tanh": (r"call .*tanh\S*", r"(?!)"),
}


@dataclass(frozen=True)
class Kernel:
    """The code of one kernel.

    Attributes:
        llvm: LLVM IR as XLA emitted it, before LLVM's own passes.
        assembly: the machine code that LLVM made of it, as (address, mnemonic, operands); empty if the object file is
            of a kind that is not read here.
    """

    llvm: str = field(repr=False)
    assembly: tuple[tuple[int, str, str], ...] = field(repr=False)


@dataclass(frozen=True)
class Lowered:
    """One function in all its forms.

    Attributes:
        graph: what `tflabs.view.graph` draws: the concrete function.
        hlo, optimized_hlo: HLO texts, of these stages of `experimental_get_compiler_ir`.
        kernels: by name, see `kernels`. A kernel has the name of the `optimized_hlo` instruction that it carries out.
    """

    graph: Any
    hlo: str = field(repr=False)
    optimized_hlo: str = field(repr=False)
    kernels: Mapping[str, Kernel] = field(default_factory=dict)


def kernels(files: Mapping[str, bytes]) -> dict[str, Kernel]:
    """Reads the kernels of one module from the files that XLA dumped, by name.

    Args:
        files: content by name, as `tflabs.runtime.XlaDump.files`: those that end in `_kernel_module.ir-no-opt.ll` and
            `obj-file.NAME_kernel_module.o` are read.

    Raises:
        ValueError: there is no kernel, or one name occurs twice (the files are those of several modules).
    """
    found: dict[str, Kernel] = {}
    for file, content in files.items():
        if not (match := _LLVM_FILE.match(file)):
            continue
        stem, name = match["stem"], match["name"]
        if name in found:
            raise ValueError(f"two modules have a kernel {name!r}: pass the files of one module")
        obj = files.get(f"{stem}.obj-file.{name}_kernel_module.o", b"")
        found[name] = Kernel(content.decode(), disassemble(obj))
    if not found:
        raise ValueError("there is no kernel here: expected file names that end in _kernel_module.ir-no-opt.ll")
    return found


def disassemble(obj: bytes) -> tuple[tuple[int, str, str], ...]:
    """Returns (address, mnemonic, operands) of the instructions in an ELF object file, by capstone.

    Reads little-endian ELF-64 for x86-64 and AArch64; of anything else, nothing.
    """
    import capstone

    if obj[:6] != b"\x7fELF\x02\x01":
        return ()
    machine = struct.unpack_from("<H", obj, 0x12)[0]
    modes = {62: (capstone.CS_ARCH_X86, capstone.CS_MODE_64), 183: (capstone.CS_ARCH_ARM64, capstone.CS_MODE_ARM)}
    if machine not in modes:
        return ()
    decoder = capstone.Cs(*modes[machine])
    return tuple((i.address, i.mnemonic, i.op_str) for code in _sections(obj) for i in decoder.disasm(code, 0))


def _sections(obj: bytes) -> Iterator[bytes]:
    """The executable sections of an ELF-64 file (flag SHF_EXECINSTR)."""
    start = struct.unpack_from("<Q", obj, 0x28)[0]
    size, count = struct.unpack_from("<HH", obj, 0x3A)
    for at in range(start, start + size * count, size):
        flags, _, offset, length = struct.unpack_from("<QQQQ", obj, at + 8)
        if flags & 0x4:
            yield obj[offset : offset + length]


def lowering_stage(
    lowered: Lowered,
    stage: str,
    *,
    ops: Sequence[str] | None = None,
    kernel: str | None = None,
    title: str | None = None,
) -> Picture:
    """Draws one form of a function; what comes from the same TensorFlow op has the same colour in every stage.

    Args:
        stage: "graph", "hlo", "optimized_hlo", "llvm" or "assembly". The two HLO stages are a listing and a graph with
            fusions boxed; the last two list one kernel.
        ops: names of the nodes whose descendants are coloured; None: all.
        kernel: which kernel the last two stages show; None: the one that holds most of `ops`, then the shortest.
        title: stands above the picture; None: the stage's name.

    Raises:
        ValueError: there is no such stage, op or kernel.
    """
    return _Descent(lowered).picture(stage, ops, kernel, title)


def lowering(lowered: Lowered, *, function: Any = None, arguments: Mapping[str, tuple[Any, ...]] | None = None) -> Any:
    """Returns an ipywidget: a slider over the stages, the op that lights up in each, and calls of `function`.

    Args:
        function: a `tf.function`. It is called with what is chosen from `arguments`; a table says whether the call made
            a new trace.
        arguments: label -> arguments.
    """
    import ipywidgets as w

    descent = _Descent(lowered)
    stages = [(name, key) for key, name in STAGES.items()]
    # The picture's title names the stage; the slider's own readout is too narrow for the names.
    slider = w.SelectionSlider(options=stages, description="stage", readout=False)
    choice = w.Dropdown(options=[("all", None), *((op, op) for op in descent.hues)], description="op")
    words, image = w.HTML(), w.HTML()

    def show(_: Any = None) -> None:
        ops = None if choice.value is None else [choice.value]
        words.value = "" if choice.value is None else escape(descent.summary(choice.value))
        image.value = descent.picture(slider.value, ops).html

    slider.observe(show, "value")
    choice.observe(show, "value")
    show()
    parts = [w.HBox([slider, choice]), words, image]
    if function is not None and arguments:
        parts.append(_retracing(function, arguments))
    return w.VBox(parts)


def _retracing(function: Any, arguments: Mapping[str, tuple[Any, ...]]) -> Any:
    import ipywidgets as w

    calls = Calls(function, arguments)
    choice = w.Dropdown(options=list(arguments), description="argument")
    button = w.Button(description="call", tooltip="call the function with this argument")
    table = w.HTML(calls.html)

    def call(_: Any) -> None:
        calls.call(choice.value)
        table.value = calls.html

    button.on_click(call)
    return w.VBox([w.HTML("<b>Call it: is a new trace made?</b>"), w.HBox([choice, button]), table])


class Calls:
    """Calls of a `tf.function`, and the number of traces after each."""

    def __init__(self, function: Any, arguments: Mapping[str, tuple[Any, ...]]) -> None:
        self.function = function
        self.arguments = arguments
        self.made: list[tuple[str, bool, int]] = []  # label, whether a trace was made, traces so far

    def call(self, label: str) -> bool:
        """Calls the function; returns whether the call made a new trace."""
        count: Callable[[], int] = self.function.experimental_get_tracing_count
        before = count()
        self.function(*self.arguments[label])
        self.made.append((label, count() > before, count()))
        return count() > before

    @property
    def html(self) -> str:
        """A table of the calls."""
        if not self.made:
            return "no call yet"
        rows = [("call", "argument", "it used", "traces")]
        for i, (label, new, traces) in enumerate(self.made, 1):
            rows.append((str(i), label, "a new trace" if new else "a trace that it had", str(traces)))
        style = "padding: 0 1.5em 0 0; text-align: left"
        cells = ["".join(f'<td style="{style}">{escape(cell)}</td>' for cell in row) for row in rows]
        return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


@dataclass(frozen=True)
class Row:
    """A line of a listing: its columns, the ops whose work it does, and whether it is a heading."""

    cells: tuple[str, ...]
    ops: frozenset[str] = frozenset()
    bold: bool = False


class _Descent:
    """Which instruction of which stage comes from which op."""

    def __init__(self, lowered: Lowered) -> None:
        self.lowered = lowered
        self.graph = read_any(lowered.graph)
        self.hlo, self.optimized = parse_hlo(lowered.hlo), parse_hlo(lowered.optimized_hlo)
        named = {op_of(i) for c in self.hlo.computations.values() for i in c.instructions}
        self.hues = {op: i for i, op in enumerate(n.name for n in self.graph.nodes if n.name in named)}
        self.parts = {i.name: tuple(_inside(self.optimized, i)) for i in self.optimized.entry.instructions}

    def picture(
        self, stage: str, ops: Sequence[str] | None = None, kernel: str | None = None, title: str | None = None
    ) -> Picture:
        """See `lowering_stage`."""
        if stage not in STAGES:
            raise ValueError(f"there is no stage {stage!r}; the stages are {listed(list(STAGES))}")
        if strangers := sorted(set(ops or ()) - set(self.hues)):
            raise ValueError(f"no instruction comes from {listed(strangers)}; the ops are {listed(list(self.hues))}")
        shown = {op: hue for op, hue in self.hues.items() if ops is None or op in ops}
        title = STAGES[stage] if title is None else title
        if stage == "graph":
            return _draw(self.graph, {n.name: shown[n.name] for n in self.graph.nodes if n.name in shown}, shown, title)
        if stage == "hlo":
            return _list(list(_hlo_rows(self.hlo)), shown, title, [])
        if stage == "optimized_hlo":
            return self._optimized(shown, title)
        return self._code(stage, shown, kernel, title)

    def holders(self, op: str) -> list[str]:
        """ENTRY instructions of the optimised module that hold an instruction from `op`."""
        return [name for name, inside in self.parts.items() if op in {op_of(i) for i in inside}]

    def summary(self, op: str) -> str:
        """Where an op went, in one line."""
        count = sum(op_of(i) == op for i in self.hlo.entry.instructions)
        parts = listed(self.holders(op)) or "nothing"
        return f"{op}: {plural(count, 'instruction')} of HLO; in the optimised module part of {parts}"

    def _optimized(self, shown: Mapping[str, int], title: str) -> Picture:
        program = read_program(self.optimized)
        ops = {i.name: op_of(i) for c in self.optimized.computations.values() for i in c.instructions}
        named = {n.name: ops.get(n.name.rpartition("/")[2], "") for n in program.model.nodes}
        badges = {name: shown[op] for name, op in named.items() if op in shown}
        return _draw(program.model, badges, shown, f"{title}: {program.counts}")

    def _code(self, stage: str, shown: Mapping[str, int], kernel: str | None, title: str) -> Picture:
        name = self._kernel(shown) if kernel is None else kernel
        if name is None:
            held = listed([name for op in shown for name in self.holders(op)]) or "nothing"
            words = f"{listed(list(shown))} became {held}. XLA emitted no kernel for it: its runtime calls a library."
            return _list([], shown, title, [words])
        if name not in self.lowered.kernels:
            raise ValueError(f"there is no kernel {name!r}; kernels: {listed(list(self.lowered.kernels))}")
        work = self._work(name)
        code = self.lowered.kernels[name]
        rows = list(_llvm_rows(code.llvm, work)) if stage == "llvm" else list(_assembly_rows(code.assembly, work))
        held = listed([op for op in self.hues if op in work.values()]) or "no single op"
        note = f"Kernel {name}, with work of {held}."
        return _list(rows, shown, title, [note, "The names of ops end here: lines are coloured by what they do."])

    def _kernel(self, shown: Mapping[str, int]) -> str | None:
        """The kernel with most of the shown ops; of several the shortest."""
        held = {name: sum(name in self.holders(op) for op in shown) for name in self.lowered.kernels}
        names = [name for name, count in held.items() if count]
        return min(names, key=lambda name: (-held[name], len(self.lowered.kernels[name].assembly), name), default=None)

    def _work(self, kernel: str) -> dict[str, str]:
        """HLO opcode -> the op whose work it is in a kernel; "" if it is that of several."""
        found: dict[str, set[str]] = {}
        for instruction in self.parts.get(kernel, ()):
            found.setdefault(instruction.opcode, set()).add(op_of(instruction))
        return {opcode: next(iter(ops)) if len(ops) == 1 else "" for opcode, ops in found.items()}


def op_of(instruction: Instruction) -> str:
    """The name of the TensorFlow node that an instruction comes from, "" if it is from none."""
    found = re.search(r'op_name="([^"]*)"', instruction.attributes.get("metadata", ""))
    return "" if found is None or found[1] in _NO_OPS else found[1]


def _inside(module: Module, instruction: Instruction) -> Iterator[Instruction]:
    """An instruction and all that it calls."""
    yield instruction
    for key in _CALLS:
        called = module.computations.get(instruction.attributes.get(key, "").lstrip("%"))
        for inner in called.instructions if called else ():
            yield from _inside(module, inner)


def _hlo_rows(module: Module) -> Iterator[Row]:
    for computation in module.computations.values():
        entry = computation.name == module.entry.name
        yield Row(("ENTRY computation" if entry else computation.name,), bold=True)
        yield from (_hlo_row(i, computation) for i in computation.instructions)


def _hlo_row(instruction: Instruction, computation: Computation) -> Row:
    inside = instruction.literal if instruction.literal else ", ".join(instruction.operands)
    rest = "".join(f", {key}={value}" for key, value in instruction.attributes.items() if key not in _QUIET)
    name = f"{'ROOT ' if instruction is computation.root else ''}{instruction.name}"
    cells = (name, f"= {instruction.shape}", f"{instruction.opcode}({inside}){rest}")
    return Row(cells, frozenset({op_of(instruction)} - {""}))


def _llvm_rows(llvm: str, work: Mapping[str, str]) -> Iterator[Row]:
    """The function that computes, without the one that unpacks its arguments."""
    bodies = re.findall(r"^define .*?^}", llvm, re.MULTILINE | re.DOTALL)
    body = next((b for b in bodies if "_wrapped(" in b.splitlines()[0]), bodies[-1] if bodies else "")
    for line in body.splitlines()[1:-1]:
        if not line.strip():
            continue
        label = re.match(r"(\w[\w.]*):", line)
        content = re.sub(r"(, align \d+)?(, ![\w.]+ !\d+)*(\s+; preds.*)?$", "", line.strip())
        opcode = re.sub(r"^%[\w.]+ = ", "", content)
        yield Row((content,), _workers(opcode, 0, work), bold=label is not None)


def _assembly_rows(assembly: Sequence[tuple[int, str, str]], work: Mapping[str, str]) -> Iterator[Row]:
    for address, mnemonic, operands in assembly:
        yield Row((f"{address:x}", mnemonic, operands), _workers(mnemonic, 1, work))


def _workers(line: str, language: int, work: Mapping[str, str]) -> frozenset[str]:
    """The ops whose work a line does; `language` 0 is LLVM IR, 1 assembly."""
    known = {opcode: op for opcode, op in work.items() if op and opcode in _WORK}
    return frozenset(op for opcode, op in known.items() if re.match(rf"({_WORK[opcode][language]})\b", line))


def _draw(model: Model, badges: Mapping[str, int], shown: Mapping[str, int], title: str) -> Picture:
    cards = cards_of(model, Decor(badges=badges))
    layout = place(model, cards)
    header = Header(title, [*hue_entries(shown), *kind_entries(model)], model.notes)
    marked = {op: sorted(n for n, hue in badges.items() if hue == index) for op, index in shown.items()}
    alt = f"{title}. {_told(marked)}"
    return compose(header, draw_model(model, cards, layout), layout.width, layout.height, title, alt)


def _told(marked: Mapping[str, Sequence[str]]) -> str:
    return " ".join(f"From {op}: {listed(names) or 'nothing here'}." for op, names in marked.items())


def _list(rows: list[Row], shown: Mapping[str, int], title: str, notes: Sequence[str]) -> Picture:
    """Draws lines of code, each with the mark and tint of the one op whose work it does."""
    notes = [*notes, f"The first {_ROWS} of {len(rows)} lines."] if len(rows) > _ROWS else notes
    rows = rows[:_ROWS]
    marked = {op: [" ".join(row.cells) for row in rows if row.ops == {op}] for op in shown}
    legend = {op: hue for op, hue in shown.items() if marked[op] or len(shown) == 1}
    lefts = _columns(rows)
    wrapped = [[wrap(cell, _ROW_LIMIT, SMALL, row.bold) for cell in row.cells] for row in rows]
    rights = [_right(cells, lefts, row.bold) for row, cells in zip(rows, wrapped, strict=True)]
    width, y, parts = max(rights, default=0) + 6, 0.0, []
    for row, cells in zip(rows, wrapped, strict=True):
        height = _ROW_HEIGHT * max(len(lines) for lines in cells)
        parts.append(_row(row, cells, Rect(0, y, width, height), lefts, shown))
        y += height
    alt = " ".join([f"{title}, {plural(len(rows), 'line')}.", *notes, _told(marked)])
    return compose(Header(title, hue_entries(legend), notes), "".join(parts), width, max(y, 1), title, alt)


def _columns(rows: Sequence[Row]) -> list[float]:
    """Where the columns begin, in px. Lines of one column do not widen the first."""
    lefts = [_GUTTER]
    for i in range(max((len(row.cells) for row in rows), default=1) - 1):
        cells = [row.cells[i] for row in rows if len(row.cells) > i + 1]
        lefts.append(lefts[i] + max(text_width(cell, SMALL) for cell in cells) + 10)
    return lefts


def _right(cells: Sequence[Sequence[str]], lefts: Sequence[float], bold: bool) -> float:
    ends = [left + text_width(line, SMALL, bold) for left, lines in zip(lefts, cells, strict=False) for line in lines]
    return max(ends)


def _row(row: Row, lines: Sequence[Sequence[str]], box: Rect, lefts: Sequence[float], shown: Mapping[str, int]) -> str:
    hue = next((shown[op] for op in row.ops if len(row.ops) == 1 and op in shown), None)
    parts = []
    if hue is not None:
        parts.append(rect(Rect(box.x, box.y, box.w, box.h - 1), f"tint{hue % len(HUES)}", extra=' stroke-width="0"'))
        parts.append(rect(Rect(0, box.y, 16, box.h - 1), f"hue{hue % len(HUES)}") + mark(hue, 8, box.y + 8, 4))
    for left, cell in zip(lefts, lines, strict=False):
        for i, content in enumerate(cell):
            parts.append(text(left, box.y + 12 + i * _ROW_HEIGHT, content, SMALL, bold=row.bold))
    name = escape(next(iter(row.ops))) if hue is not None else ""
    return f'<g class="line" data-op="{name}" data-y="{num(box.y)}">{"".join(parts)}</g>'

"""Reads HLO text, as `experimental_get_compiler_ir` prints it, into computations and instructions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Instruction:
    """One line of a computation. `shape` has no layout; `literal` is what a constant or a parameter holds."""

    name: str
    opcode: str
    shape: str
    operands: tuple[str, ...]
    attributes: dict[str, str]
    literal: str = ""
    root: bool = False

    @property
    def parameter(self) -> int | None:
        """The number of a parameter, None for other instructions."""
        return int(self.literal) if self.opcode == "parameter" else None


@dataclass(frozen=True)
class Computation:
    """A named sequence of instructions, one of them the root."""

    name: str
    instructions: tuple[Instruction, ...]

    @property
    def root(self) -> Instruction:
        """The instruction whose value the computation returns."""
        return next((i for i in self.instructions if i.root), self.instructions[-1])


@dataclass(frozen=True)
class Module:
    """An HLO module. `scheduled` says whether it is what the compiler ended with."""

    name: str
    computations: dict[str, Computation]
    entry: Computation
    scheduled: bool


_HEAD = re.compile(r"^\s*(?P<entry>ENTRY\s+)?%?(?P<name>[\w.\-]+)\s*(\(.*->.*)?\{\s*$")
_LINE = re.compile(r"^\s*(?P<root>ROOT\s+)?%?(?P<name>[\w.\-]+)\s*=\s*(?P<rest>.+)$")


def parse_hlo(text: str) -> Module:
    """Parses the text of one module.

    Raises:
        TypeError: `text` is no string (the stages that end in "_serialized" give bytes).
        ValueError: it is not HLO text, or has no ENTRY computation.
    """
    if not isinstance(text, str):
        raise TypeError(f'expected HLO text (stage "hlo" or "optimized_hlo"), found {type(text).__name__}')
    head = re.search(r"^HloModule\s+([\w.\-]+)(.*)$", text, re.MULTILINE)
    if head is None:
        raise ValueError(f'expected HLO text that begins with "HloModule", found {text[:40]!r}')
    computations, entry = {}, None
    for is_entry, computation in _computations(text[head.end() :]):
        computations[computation.name] = computation
        entry = computation if is_entry else entry
    if entry is None:
        raise ValueError("the HLO text has no ENTRY computation")
    return Module(head[1], computations, entry, "is_scheduled=true" in head[2])


def _computations(text: str) -> Iterator[tuple[bool, Computation]]:
    name, is_entry, found = "", False, list[Instruction]()
    for line in _statements(text):
        if line.strip().startswith("}"):
            if name:
                yield is_entry, Computation(name, tuple(found))
            name = ""
        elif name:
            if match := _LINE.match(line):
                found.append(_instruction(match["name"], match["rest"], bool(match["root"])))
        elif match := _HEAD.match(line):
            name, is_entry, found = match["name"], bool(match["entry"]), []


def _statements(text: str) -> Iterator[str]:
    """Lines, those of a constant that is printed over several of them joined."""
    held = ""
    for line in text.splitlines():
        held = f"{held} {line.strip()}" if held else line
        bare = re.sub(r'"(\\.|[^"\\])*"', "", held)
        if bare.count("(") <= bare.count(")"):
            yield held
            held = ""


def _instruction(name: str, rest: str, root: bool) -> Instruction:
    """Parses `shape opcode(operands), key=value, …`."""
    shape, rest = _take_shape(rest)
    opcode, _, rest = rest.partition("(")
    inside, after = _until_closed(rest)
    opcode = opcode.strip()
    literal = inside if opcode in ("parameter", "constant") else ""
    operands = () if literal else tuple(_operand(part) for part in _split(inside) if part.strip())
    attributes = dict(_attribute(part) for part in _split(after.lstrip(", ")) if part.strip())
    return Instruction(name, opcode, shape, operands, attributes, literal, root)


def _take_shape(text: str) -> tuple[str, str]:
    """Splits a shape, which may be a tuple, from what follows, and removes layouts such as `{1,0}` from it."""
    if text.startswith("("):
        inside, rest = _until_closed(text[1:])
        shape = f"({inside})"
    else:
        shape, _, rest = text.partition(" ")
    return re.sub(r"\{[^{}]*\}", "", re.sub(r"/\*.*?\*/", "", shape)), rest.strip()


def _until_closed(text: str) -> tuple[str, str]:
    """Splits at the parenthesis that closes one already open. Parentheses in quotes do not count."""
    depth, quoted = 1, False
    for i, c in enumerate(text):
        if c == '"' and text[i - 1 : i] != "\\":
            quoted = not quoted
        if quoted:
            continue
        depth += (c in "({[") - (c in ")}]")
        if depth == 0:
            return text[:i], text[i + 1 :]
    return text, ""


def _split(text: str) -> list[str]:
    """Splits at commas outside of brackets and quotes."""
    parts, depth, quoted, start = [], 0, False, 0
    for i, c in enumerate(text):
        if c == '"' and text[i - 1 : i] != "\\":
            quoted = not quoted
        if quoted:
            continue
        depth += (c in "({[") - (c in ")}]")
        if c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [*parts, text[start:]]


def _operand(text: str) -> str:
    """The name in `%name`, `name` or `shape %name`."""
    return re.sub(r"/\*.*?\*/", "", text).split()[-1].lstrip("%")


def _attribute(text: str) -> tuple[str, str]:
    key, _, value = text.strip().partition("=")
    return key, value.lstrip("%")

"""`cache_walk`, `cache_walk_player`: the elements of a matrix as they are read, each lit as a hit or a miss of a cache.

The cache is the caller's: nothing here knows when an access is a hit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .controls import set_steps
from .draw import NAME, SMALL, Header, hue_entry, line_entry, mark, num, path, rect, text
from .layout import Rect
from .picture import Picture
from .sheet import compose
from .text import plural, text_width

_HIT, _MISS = 5, 4  # hues: sky blue, vermillion
_CELL, _SLOT = 22.0, 26.0  # px


@dataclass(frozen=True)
class Matrix:
    """A matrix in row-major order, at the start of a cache line.

    Args:
        shape: rows and columns.
        itemsize: bytes of an element.
        line: bytes of a cache line.
    """

    shape: tuple[int, int]
    itemsize: int = 4
    line: int = 64

    def address(self, row: int, column: int) -> int:
        """Byte offset of an element."""
        return (row * self.shape[1] + column) * self.itemsize

    def line_of(self, row: int, column: int) -> int:
        """Number of the cache line in which an element begins."""
        return self.address(row, column) // self.line

    def cells(self, number: int) -> str:
        """Which elements begin in a cache line, in words."""
        rows, columns = self.shape
        inside = [(r, c) for r in range(rows) for c in range(columns) if self.line_of(r, c) == number]
        if not inside:
            return "beyond the matrix"
        (r0, c0), (r1, c1) = inside[0], inside[-1]
        return f"row {r0}, columns {c0}–{c1}" if r0 == r1 else f"rows {r0}–{r1}"


@dataclass(frozen=True)
class Read:
    """One element that was read, and whether the cache had it."""

    row: int
    column: int
    hit: bool


def cache_walk(
    matrix: Matrix, reads: Sequence[Read], held: Sequence[int | None] = (), *, title: str | None = None
) -> Picture:
    """Draws a matrix, its elements that were read so far, and the lines that the cache holds now.

    Args:
        reads: in their order. An element that was read twice shows the last time.
        held: for each slot of the cache the number of its line, None while it is empty.

    Raises:
        ValueError: the matrix has no elements, or a read lies outside of it.
    """
    rows, columns = matrix.shape
    if rows < 1 or columns < 1:
        raise ValueError(f"a matrix of {rows} × {columns} has no elements to draw")
    outside = [read for read in reads if not (0 <= read.row < rows and 0 <= read.column < columns)]
    if outside:
        raise ValueError(f"the element ({outside[0].row}, {outside[0].column}) is not in the matrix")
    misses = sum(not read.hit for read in reads)
    gutter = text_width(str(rows - 1), SMALL) + 10
    at = Rect(gutter, 20, columns * _CELL, rows * _CELL)
    parts = [_cells(matrix, reads, at), _lines(matrix, at), _current(reads, at)]
    right = at.x + at.w + 28
    slots, width = _slots(matrix, reads, held, right)
    height = max(at.y + at.h, 24 + len(held) * _SLOT) + 4
    entries = [hue_entry(_HIT, "hit"), hue_entry(_MISS, "miss"), line_entry("edge", "edge of a cache line")]
    note = f"{plural(len(reads), 'read')}: {len(reads) - misses} hits, {plural(misses, 'miss')}"
    words = f"A matrix of {rows} × {columns}; {note}. " + (_held_words(matrix, held) if held else "")
    header = Header(title or "", entries, [note])
    return compose(header, "".join(parts) + slots, right + width, height, title or "A walk through a matrix", words)


def _cells(matrix: Matrix, reads: Sequence[Read], at: Rect) -> str:
    """The elements; those that were read carry hue and mark of what they were."""
    last = {(read.row, read.column): read.hit for read in reads}
    rows, columns = matrix.shape
    parts = [text(at.x + (c + 0.5) * _CELL, 14, str(c), SMALL, "muted", anchor="middle") for c in range(columns)]
    for row in range(rows):
        y = at.y + row * _CELL
        parts.append(text(at.x - 6, y + 15, str(row), SMALL, "muted", anchor="end"))
        for column in range(columns):
            box = Rect(at.x + column * _CELL + 1, y + 1, _CELL - 2, _CELL - 2)
            hit = last.get((row, column))
            if hit is None:
                parts.append(rect(box, "shade"))
                continue
            hue = _HIT if hit else _MISS
            parts.append(rect(box, f"hue{hue}", radius=2) + mark(hue, box.cx, box.cy, 4))
    return "".join(parts)


def _lines(matrix: Matrix, at: Rect) -> str:
    """Where one cache line ends and the next begins."""
    rows, columns = matrix.shape
    parts = []
    for row in range(rows):
        top = at.y + row * _CELL
        for column in range(columns):
            before = row * columns + column - 1
            if before < 0 or matrix.line_of(*divmod(before, columns)) == matrix.line_of(row, column):
                continue
            x = at.x + column * _CELL
            parts.append(f"M{num(x)} {num(top)}V{num(top + _CELL)}M{num(x)} {num(top)}H{num(at.x + at.w)}")
            if column:
                parts.append(f"M{num(at.x)} {num(top + _CELL)}H{num(x)}")
    parts.append(f"M{num(at.x)} {num(at.y)}H{num(at.x + at.w)}V{num(at.y + at.h)}H{num(at.x)}Z")
    return path("".join(parts), "edge", ' stroke-width="1"')


def _current(reads: Sequence[Read], at: Rect) -> str:
    if not reads:
        return ""
    box = Rect(at.x + reads[-1].column * _CELL, at.y + reads[-1].row * _CELL, _CELL, _CELL)
    return rect(box, "outline", radius=2, extra=' stroke-width="3"')


def _slots(matrix: Matrix, reads: Sequence[Read], held: Sequence[int | None], x: float) -> tuple[str, float]:
    """The slots of the cache and their lines; the one that was used last stands out. Returns SVG and width."""
    if not held:
        return "", 0.0
    used = matrix.line_of(reads[-1].row, reads[-1].column) if reads else None
    contents = ["empty" if number is None else f"line {number}: {matrix.cells(number)}" for number in held]
    label = text_width(f"slot {len(held) - 1}", SMALL) + 10
    width = max(text_width(content, SMALL) for content in [*contents, "line 99: row 99, columns 00–00"]) + 20
    parts = [text(x, 14, "the cache holds", NAME, bold=True)]
    for slot, (number, content) in enumerate(zip(held, contents, strict=True)):
        box = Rect(x + label, 24 + slot * _SLOT, width, _SLOT - 4)
        stroke = 2.5 if number is not None and number == used else 1
        parts.append(text(x, box.cy + 4, f"slot {slot}", SMALL, "muted"))
        parts.append(rect(box, "card", radius=3, extra=f' stroke-width="{stroke}"'))
        parts.append(text(box.x + 8, box.cy + 4, content, SMALL, "muted" if number is None else "fg"))
    return "".join(parts), label + width


def _held_words(matrix: Matrix, held: Sequence[int | None]) -> str:
    full = [f"line {number} ({matrix.cells(number)})" for number in held if number is not None]
    return f"The cache has {plural(len(held), 'slot')} and holds {', '.join(full) or 'nothing'}."


def walked(
    matrix: Matrix, order: Sequence[tuple[int, int]], cache: Any, done: int | None = None
) -> tuple[list[Read], list[int | None]]:
    """Reads elements through a cache: `access(address)` says whether it has the byte, `held` which lines it holds."""
    reads = [Read(r, c, bool(cache.access(matrix.address(r, c)))) for r, c in order[:done]]
    return reads, list(cache.held)


def cache_walk_player(
    matrix: Matrix,
    orders: Mapping[str, Sequence[tuple[int, int]]],
    cache: Callable[[int], Any],
    sizes: Sequence[int] = (1, 2, 4, 8, 16),
) -> Any:
    """A player: choose the order of the reads and the size of the cache, and move through the walk.

    Args:
        orders: name -> the elements (row, column) in the order in which they are read.
        cache: `cache(n)` is an empty cache of n lines, as `walked` uses it.
        sizes: numbers of lines to choose from.

    Returns:
        An ipywidget.

    Raises:
        ValueError: there are no orders or no sizes.
    """
    import ipywidgets as widgets

    if not orders or not sizes:
        raise ValueError("a player needs at least one order and one size")
    whole = {"description_width": "initial"}
    order = widgets.ToggleButtons(options=list(orders), description="read by", style={"button_width": "100px"})
    size = widgets.SelectionSlider(
        options=list(sizes), value=sizes[len(sizes) // 2], description="lines in the cache", style=whole
    )
    done = widgets.IntSlider(0, 0, 1, description="reads", style=whole, layout=widgets.Layout(width="560px"))
    picture = widgets.HTML()

    def show(_: object = None) -> None:
        reads, held = walked(matrix, orders[order.value], cache(size.value), done.value)
        picture.value = cache_walk(matrix, reads, held, title=f"Read by {order.value}").html

    def begin(_: object = None) -> None:
        steps = len(orders[order.value])
        set_steps(done, steps, steps)
        show()

    order.observe(begin, "value")
    size.observe(show, "value")
    done.observe(show, "value")
    begin()
    return widgets.VBox([order, widgets.HBox([size, done]), picture])

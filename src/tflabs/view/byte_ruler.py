"""`byte_ruler`: tensors drawn over the addresses of one buffer, those that share its bytes and those that do not."""

from __future__ import annotations

from collections.abc import Mapping

from .draw import NAME, SMALL, Entry, Header, num, path, rect, text
from .layout import Rect
from .picture import Picture
from .sheet import compose
from .text import listed, text_width

_SHARED, _OWN = 5, 1  # hues: sky blue, orange
_RULER, _BESIDE, _ROW = 400.0, 130.0, 24.0  # px: the buffer, buffers of their own, one tensor

Span = tuple[int | None, int]


def byte_ruler(
    spans: Mapping[str, Span], length: int, *, tick: int = 64, title: str | None = None, notes: tuple[str, ...] = ()
) -> Picture:
    """Draws a buffer of `length` bytes as a ruler, and each tensor as a bar: over the ruler, or beside it.

    Args:
        spans: by what the tensor is called, the distance in bytes from the buffer's start to the tensor's first byte
            (None: it has a buffer of its own) and the tensor's length in bytes.
        tick: bytes from one mark of the ruler to the next.

    Raises:
        ValueError: there are no tensors, or one goes beyond the buffer.
    """
    if not spans:
        raise ValueError("there are no tensors to draw")
    beyond = [name for name, (offset, size) in spans.items() if offset is not None and offset + size > length]
    if beyond:
        raise ValueError(f"{beyond[0]} goes beyond the buffer's {length} bytes")
    gutter = max(text_width(name, NAME) for name in spans) + 16
    scale, beside = _RULER / length, gutter + _RULER + 40
    longest = max([size for offset, size in spans.values() if offset is None], default=1)
    bottom = 22 + len(spans) * _ROW
    parts = [_ruler(gutter, bottom, length, tick, scale)]
    parts.append(text(beside, 12, "elsewhere", SMALL, "muted"))
    for row, (name, (offset, size)) in enumerate(spans.items()):
        y = 22 + row * _ROW
        parts.append(text(0, y + 16, name, NAME))
        if offset is None:
            wide, hue, left = max(size / longest * _BESIDE, 3.0), _OWN, beside
        else:
            wide, hue, left = max(size * scale, 3.0), _SHARED, gutter + offset * scale
        parts.append(rect(Rect(left, y + 4, wide, _ROW - 8), f"tint{hue}", radius=2, extra=' stroke-width="1.2"'))
    entries = [
        Entry(rect(Rect(4, 0, 14, 14), f"tint{hue}", radius=2, extra=' stroke-width="1.2"'), words)
        for hue, words in ((_SHARED, "bytes of this buffer"), (_OWN, "a buffer of its own"))
    ]
    shared = [f"{name} from byte {offset} on" for name, (offset, _) in spans.items() if offset is not None]
    own = [name for name, (offset, _) in spans.items() if offset is None]
    words = (
        f"A buffer of {length} bytes. On its bytes lie: {listed(shared, 40) or 'none'}. "
        f"Buffers of their own have: {listed(own, 40) or 'none'}."
    )
    wide = beside + _BESIDE
    return compose(
        Header(title or "", entries, notes), "".join(parts), wide, bottom + 8, title or "Who shares a buffer", words
    )


def _ruler(left: float, bottom: float, length: int, tick: int, scale: float) -> str:
    """Lines at the marks, and numbers where there is room for them."""
    parts, free = [], 0.0
    for mark in range(0, length + 1, tick):
        x = left + mark * scale
        parts.append(path(f"M{num(x)} 18V{num(bottom)}", "grid", ' stroke-width="1"'))
        wide = text_width(str(mark), SMALL)
        if x - wide / 2 >= free:
            parts.append(text(x, 12, str(mark), SMALL, "muted", anchor="middle"))
            free = x + wide / 2 + 6
    return "".join(parts)

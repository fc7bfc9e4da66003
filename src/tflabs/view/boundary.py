"""`boundary`: the functions that stand on one thread's stack, from Python down into the C++ library, band by band.

The stack is read by the C library: `backtrace` gives the return addresses, `dladdr` the shared object and the exported
symbol around each. A function whose symbol a library keeps to itself has no name here.
"""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from .draw import SMALL, Header, arrow_head, hue_entry, label, num, path, rect, swatch, text
from .layout import Rect
from .picture import Picture
from .sheet import compose
from .text import plural, text_width

LANGUAGES = ("Python", "binding", "C API", "C++")  # by hue
_ROW, _TITLE, _PAD = 16.0, 21.0, 7.0  # px
_NEAR, _FAR = 17.0, 30.0  # px: between two bands, and where Python ends or begins
_LEFT = 34.0  # px: from a band's left side to its words
_MOST = 400  # frames
_INTERPRETER = re.compile(r"libpython|^python|_ctypes|libffi|^libc\.|^ld-linux")


@dataclass(frozen=True)
class NativeFrame:
    """A frame of the machine's stack: the file name of its shared object, and its function if that is exported."""

    library: str
    function: str | None


@dataclass(frozen=True)
class Band:
    """Functions that call each other within one file, the caller first.

    `language` is one of `LANGUAGES`, `where` the file. A function that has no name is None.
    """

    language: str
    where: str
    functions: tuple[str | None, ...]


class _Found(ctypes.Structure):
    """Dl_info of dlfcn.h."""

    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("symbol", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    )


def native_stack() -> list[NativeFrame]:
    """The frames of the calling thread, the outermost first. Linux with the GNU C library.

    Raises:
        OSError: the C library has no `backtrace`.
    """
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "backtrace"):
        raise OSError("this system's C library has no backtrace()")
    libc.dladdr.argtypes = [ctypes.c_void_p, ctypes.POINTER(_Found)]
    addresses = (ctypes.c_void_p * _MOST)()
    count = libc.backtrace(addresses, _MOST)
    frames = []
    for address in addresses[:count]:
        found = _Found()
        if address and libc.dladdr(address, ctypes.byref(found)):
            name = _plain(found.symbol) if found.symbol else None
            frames.append(NativeFrame(Path((found.file or b"?").decode()).name, name))
    return frames[::-1]


def _plain(symbol: bytes) -> str:
    """A symbol as it is written in C++, without parameters and template arguments."""
    written = symbol.decode()
    try:
        cxx = ctypes.CDLL("libstdc++.so.6")
    except OSError:
        return written
    cxx.__cxa_demangle.restype = ctypes.c_void_p
    cxx.__cxa_demangle.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    if address := cxx.__cxa_demangle(symbol, None, None, None):
        written = ctypes.string_at(address).decode()
        ctypes.CDLL(None).free(ctypes.c_void_p(address))
    before, after = written, ""
    while before != after:  # the innermost brackets go first
        before, after = written, re.sub(r"<[^<>]*>|\([^()]*\)", "", written)
        written = after
    return written.removesuffix(" const")


def bands(python: Sequence[Sequence[tuple[str, str]]], native: Sequence[NativeFrame]) -> list[Band]:
    """One stack from both sides: runs of the interpreter's own frames are replaced by the Python functions they run.

    Args:
        python: (file, function) of the Python frames, the outermost first, in as many parts as Python was entered.
        native: what `native_stack` gave; from the innermost of its runs of the interpreter on as many are used as
            `python` has parts.

    Raises:
        ValueError: the interpreter is entered less often than `python` has parts.
    """
    runs = [(key, list(run)) for key, run in groupby(native, lambda frame: _INTERPRETER.search(frame.library) is None)]
    entries = [index for index, (outside, _) in enumerate(runs) if not outside]
    if len(entries) < len(python):
        raise ValueError(
            f"the interpreter is entered {len(entries)} times, and Python's frames have {len(python)} parts"
        )
    parts = list(python)
    found: list[Band] = []
    for outside, run in runs[entries[-len(parts)] :] if parts else []:
        found += _native_bands(run) if outside else _python_bands(parts.pop(0))
    return found


def call_stack(entered: str = "script_ops.py") -> list[Band]:
    """The stack of the calling thread for `boundary`, from the innermost module or notebook cell that is being run on.

    Args:
        entered: the file of the Python functions that TensorFlow's C++ calls (`FuncRegistry` for `tf.py_function`).

    Raises:
        OSError, ValueError: as for `native_stack` and `bands`.
    """
    frames = []
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        frames.append((Path(code.co_filename).name, code.co_name))
        if code.co_name == "<module>":
            break
        frame = frame.f_back  # type: ignore[assignment] # ends with None
    parts: list[list[tuple[str, str]]] = [[]]
    for where, name in reversed(frames):
        if where == entered and parts[-1] and parts[-1][-1][0] != entered:
            parts.append([])
        parts[-1].append((_of_cell(where), name))
    return bands(parts, native_stack())


def _of_cell(where: str) -> str:
    """Cells of a notebook are files of their own, whose names are numbers."""
    return "notebook" if re.fullmatch(r"\d+\.py|<ipython.*", where) else where


def _python_bands(frames: Sequence[tuple[str, str]]) -> Iterator[Band]:
    for where, run in groupby(frames, lambda frame: frame[0]):
        yield Band("Python", where, tuple(name for _, name in run))


def _native_bands(frames: Sequence[NativeFrame]) -> Iterator[Band]:
    for (where, language), run in groupby(frames, lambda frame: (frame.library, _language(frame))):
        yield Band(language, where, tuple(frame.function for frame in run))


def _language(frame: NativeFrame) -> str:
    if frame.library.startswith("_pywrap"):
        return "binding"
    return "C API" if (frame.function or "").startswith("TF_") else "C++"


def boundary(stack: Sequence[Band], *, title: str | None = None) -> Picture:
    """Draws a stack, the outermost caller on top, with a line wherever Python ends or begins.

    Raises:
        ValueError: there is nothing on the stack, or a language is none of `LANGUAGES`.
    """
    if not stack:
        raise ValueError("an empty stack")
    if unknown := [band.language for band in stack if band.language not in LANGUAGES]:
        raise ValueError(f"{unknown[0]!r} is none of {LANGUAGES}")
    lines = [_lines(band) for band in stack]
    width = max(
        *(text_width(words, SMALL) for band in lines for words, _ in band),
        *(text_width(band.where, SMALL, True) for band in stack),
    )
    width += _LEFT + 14
    parts, y = [], 0.0
    for index, (band, words) in enumerate(zip(stack, lines, strict=True)):
        if index:
            drawn, gap = _between(stack[index - 1], band, y, width)
            parts.append(drawn)
            y += gap
        parts.append(_band(band, words, y, width))
        y += _height(words)
    used = [hue_entry(hue, name) for hue, name in enumerate(LANGUAGES) if any(b.language == name for b in stack)]
    alt = f"A stack of {plural(len(stack), 'band')}, the outermost caller first. {' '.join(map(_told, stack))}"
    return compose(Header(title or "", used), "".join(parts), width, y, title or "Stack across the boundary", alt)


def _lines(band: Band) -> list[tuple[str, str]]:
    """What is written in a band: words and their class."""
    found = []
    for name, run in groupby(band.functions):
        if name is None:
            found.append((f"{plural(len(list(run)), 'frame')} without an exported name", "muted"))
        else:
            found += [(name, "fg") for _ in run]
    return found


def _height(lines: Sequence[object]) -> float:
    return 2 * _PAD + _TITLE + _ROW * len(lines)


def _band(band: Band, lines: Sequence[tuple[str, str]], top: float, width: float) -> str:
    hue = LANGUAGES.index(band.language)
    face = Rect(0, top, width, _height(lines))
    parts = [rect(face, f"tint{hue}", radius=5, extra=' stroke-width="1"'), swatch(hue, 9, top + _PAD + 2)]
    parts.append(text(_LEFT, top + _PAD + 13, band.where, SMALL, bold=True))
    for number, (words, css) in enumerate(lines):
        parts.append(text(_LEFT, top + _PAD + _TITLE + _ROW * number + 12, words, SMALL, css))
    return "".join(parts)


def _between(above: Band, below: Band, top: float, width: float) -> tuple[str, float]:
    """The call from one band to the next, with a line where Python ends or begins; and the height of both in px."""
    changes = (above.language == "Python") != (below.language == "Python")
    x, gap = width / 2, _FAR if changes else _NEAR
    call = path(f"M{num(x)} {num(top)}V{num(top + gap - 8)}", "edge", ' stroke-width="1.4"')
    call += arrow_head((x, top + gap - 8), (x, top + gap - 1), "arrow")
    if not changes:
        return call, gap
    y = top + gap / 2 - 2
    line = path(f"M0 {num(y)}H{num(width)}", "edge", ' stroke-width="1.6" stroke-dasharray="7 4"')
    words = "Python ends" if above.language == "Python" else "Python begins again"
    return call + line + label((width * 0.2, y), words, "fg"), gap


def _told(band: Band) -> str:
    return f"{band.where} ({band.language}): {', '.join(words for words, _ in _lines(band))}."

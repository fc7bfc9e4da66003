"""`session_chain`: the sessions inside a monitored session, each in its caller, read from the live objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .draw import NAME, SMALL, Header, Line, block, rect, swatch, text
from .layout import Rect
from .picture import Picture
from .sheet import compose
from .text import plural, wrap

_WORDS = {
    "MonitoredSession": "calls begin and end of the hooks; lets OutOfRangeError and StopIteration end its with block",
    "SingularMonitoredSession": "calls begin and end of the hooks; never makes a second session",
    "_RecoverableSession": "after AbortedError or UnavailableError: makes the session below anew, and runs once more",
    "_CoordinatedSession": "stops when its coordinator says so, and waits for the threads at the end",
    "_HookedSession": "calls before_run and after_run of the hooks, and notes what they ask for",
    "Session": "runs the step",
}
_PAD, _BESIDE = 12.0, 20.0  # px: inside a box, between its words
_LEAST, _LIMIT = 330.0, 470.0  # px: width of the innermost box, of a line of words


def wrapped_sessions(session: Any) -> list[Any]:
    """The session and those inside it, from the outermost to the one that runs the step (`_sess` of each).

    A session that is closed holds nothing any more and stands alone.
    """
    found = [session]
    while (inner := getattr(found[-1], "_sess", None)) is not None:
        found.append(inner)
    return found


def session_chain(session: Any, *, title: str | None = None) -> Picture:
    """Draws the sessions inside a session, with the coordinator and the hooks where they hang.

    Args:
        session: a `tf.compat.v1.train.MonitoredSession`, or any session inside one.
    """
    chain = wrapped_sessions(session)
    lines = [_lines(each) for each in chain]
    heights = [sum(line.height for line in part) + _PAD for part in lines]
    inner = max(_LEAST, *(line.width for part in lines for line in part))
    width = inner + 2 * _PAD * len(chain)
    parts = []
    for depth, part in enumerate(lines):
        top = sum(heights[:depth]) + depth * _PAD / 2
        face = Rect(depth * _PAD, top, width - 2 * depth * _PAD, sum(heights[depth:]) + (len(chain) - depth) * _PAD)
        parts.append(rect(face, "card" if depth % 2 else "panel", radius=6, extra=' stroke-width="1"'))
        parts.append(swatch(depth, face.x + _PAD, top + 8, 12))
        head, *rest = part
        parts.append(text(face.x + _PAD + _BESIDE, top + 18, head.text, NAME, bold=True))
        parts.append(block(face.x + _PAD, top + 8 + head.height, rest))
    height = sum(heights) + len(chain) * _PAD
    said = ". ".join(_told(each) for each in chain)
    words = f"{plural(len(chain), 'session')}, each inside the one before. {said}."
    return compose(Header(title or ""), "".join(parts), width, height, title or "Sessions inside a session", words)


def _lines(session: Any) -> list[Line]:
    """The class of one session, what it does, and what hangs on it."""
    kind = type(session).__name__
    lines = [Line(kind, NAME, bold=True)]
    lines += [Line(words, SMALL, "muted") for words in wrap(_WORDS.get(kind, ""), _LIMIT, SMALL) if words]
    lines += [Line(words, SMALL) for held in _held(session) for words in wrap(held, _LIMIT, SMALL)]
    return lines


def _told(session: Any) -> str:
    kind = type(session).__name__
    return f"{kind}: {'; '.join(filter(None, [_WORDS.get(kind, ''), *_held(session)]))}"


def _held(session: Any) -> Sequence[str]:
    """What a session holds beside the one inside it, in words."""
    kind, held = type(session).__name__, []
    if kind == "_CoordinatedSession":
        asked = "a stop was requested" if session._coord.should_stop() else "no stop requested"
        held.append(f"coordinator: {asked}")
    if kind == "_HookedSession":
        names = ", ".join(type(hook).__name__ for hook in session._hooks) or "none"
        held.append(f"hooks, in order: {names}")
    if kind == "Session":
        held.append(f"graph of {len(session.graph.get_operations())} nodes")
    return held

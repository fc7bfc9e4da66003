"""What the tests of players ask of widgets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def below(widget: Any) -> Iterator[Any]:
    """The widget and all widgets in it."""
    yield widget
    for child in getattr(widget, "children", ()):
        yield from below(child)


def controls(widget: Any) -> dict[str, Any]:
    """All widgets below one, by their words: the first tooltip's up to " on ", else the description, else the class."""
    found = {}
    for part in below(widget):
        words = [*(getattr(part, "tooltips", None) or ()), getattr(part, "description", "") or type(part).__name__][0]
        found[words.partition(" on ")[0]] = part
    return found


def html(widget: Any) -> list[str]:
    """The values of all HTML widgets below one."""
    return [part.value for part in below(widget) if type(part).__name__ == "HTML"]

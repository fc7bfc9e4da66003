"""What the players have in common: buttons, and what they say when a step fails."""

from __future__ import annotations

from typing import Any


def button(words: str) -> Any:
    """A button that is as wide as its words, also where its row is short of room."""
    import ipywidgets as widgets

    return widgets.Button(description=words, layout=widgets.Layout(width="auto", min_width="max-content"))


def telling_line(error: Exception) -> str:
    """What is wrong, without the lines in which TensorFlow says where the node was made."""
    wrapping = (" ", "\t", "Graph execution error", "Detected at", "Node:")
    lines = [line for line in str(error).splitlines() if line and not line.startswith(wrapping)]
    return ": ".join([type(error).__name__, *lines[:1]])

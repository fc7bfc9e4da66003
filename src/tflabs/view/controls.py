"""What the players have in common: buttons, what they feed to a step, and what they say when it fails."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def button(words: str) -> Any:
    """A button that is as wide as its words, also where its row is short of room."""
    import ipywidgets as widgets

    return widgets.Button(description=words, layout=widgets.Layout(width="auto", min_width="max-content"))


def set_steps(slider: Any, length: int, done: int) -> None:
    """Have a slider stand at `done` of `length` steps; without steps it cannot be moved."""
    # In this order: a slider whose end comes below its value changes the value by itself.
    slider.max = max(slider.max, done)
    slider.value = done
    slider.max, slider.disabled = max(length, 1), length == 0


def ones(graph: Any, tensors: Sequence[str]) -> dict[str, Any]:
    """An array of ones for each named tensor of a `tf.Graph`; sizes that are not known are 1."""
    import numpy as np

    values = {}
    for name in tensors:
        tensor = graph.get_tensor_by_name(name)
        shape = [size or 1 for size in tensor.shape.as_list()] if tensor.shape.rank is not None else []
        values[name] = np.ones(shape, tensor.dtype.as_numpy_dtype)
    return values


def telling_line(error: Exception) -> str:
    """What is wrong, without the lines in which TensorFlow says where the node was made."""
    wrapping = (" ", "\t", "Graph execution error", "Detected at", "Node:")
    lines = [line for line in str(error).splitlines() if line and not line.startswith(wrapping)]
    return ": ".join([type(error).__name__, *lines[:1]])

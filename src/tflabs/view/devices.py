"""Device names: how pictures abbreviate them, and which hue each gets."""

from __future__ import annotations

from collections.abc import Iterable

LOCAL = "/job:localhost/replica:0/task:0"


def short_device(name: str) -> str:
    """Returns a device name without the parts that are the same for every device of one process.

    "/job:localhost/replica:0/task:0/device:CPU:1" -> "/device:CPU:1"; names of other jobs lose only "/replica:0".
    """
    if not name:
        return "no device"
    return name.removeprefix(LOCAL) or name if name.startswith(LOCAL) else name.replace("/replica:0/", "/")


def hues_of(devices: Iterable[str]) -> dict[str, int]:
    """Gives every device its hue, in sorted order; nodes without a device ("") have none."""
    return {name: index for index, name in enumerate(sorted(set(devices) - {""}))}

"""How wide text is at most, and how long names are broken into lines.

A picture is laid out before anyone knows which font will draw it. Widths are those of DejaVu Sans, the widest of the
sans-serif fonts that browsers fall back to, so text in any other of them fits the same box.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# Advance widths of the characters 32 to 126, in thousandths of the font size (DejaVu Sans 2.37 and its bold).
# fmt: off
_REGULAR = (
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636, 636, 636, 636,
    636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863,
    748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635,
    615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636,
    337, 636, 838,
)
_BOLD = (
    348, 456, 521, 838, 696, 1002, 872, 306, 457, 457, 523, 838, 380, 415, 380, 365, 696, 696, 696, 696, 696, 696, 696,
    696, 696, 696, 400, 400, 838, 838, 838, 580, 1000, 774, 762, 734, 830, 683, 683, 821, 837, 372, 372, 775, 637, 995,
    837, 850, 733, 850, 770, 720, 682, 812, 774, 1103, 771, 724, 725, 457, 365, 457, 838, 500, 500, 675, 716, 593, 716,
    678, 435, 716, 712, 343, 343, 665, 343, 1042, 712, 687, 716, 716, 493, 595, 478, 712, 652, 924, 645, 652, 582, 712,
    365, 712, 838,
)
# fmt: on
_OTHER = 1050  # any character beyond ASCII: none of the scripts that occur in names is wider


def text_width(text: str, size: float, bold: bool = False) -> float:
    """Returns an upper bound of the width of `text` in px at font size `size` px."""
    table = _BOLD if bold else _REGULAR
    return sum(table[ord(c) - 32] if 32 <= ord(c) < 127 else _OTHER for c in text) * size / 1000


def wrap(text: str, limit: float, size: float, bold: bool = False) -> list[str]:
    """Breaks `text` into lines of at most `limit` px.

    Lines end after `/ _ , ; : -` and spaces; a word that is too wide is cut before capitals, or else anywhere. Joining
    the lines gives `text` back, but for a space at a break.
    """
    lines, line = [], ""
    for piece in _pieces(text, limit, size, bold):
        if line and text_width((line + piece).rstrip(), size, bold) > limit:
            lines.append(line.rstrip())
            line = ""
        line += piece
    lines.append(line.rstrip())
    return lines


def _pieces(text: str, limit: float, size: float, bold: bool) -> list[str]:
    """Cuts `text` where a line may end; a piece that is itself too wide is cut further."""
    pieces: list[str] = []
    for word in re.split(r"(?<=[/_,;:\-\s])", text):
        if text_width(word.rstrip(), size, bold) <= limit:
            pieces.append(word)
            continue
        for part in re.split(r"(?<=[a-z0-9.])(?=[A-Z])", word):
            start = 0
            for end in range(1, len(part) + 1):
                if text_width(part[start:end], size, bold) > limit and end - start > 1:
                    pieces.append(part[start : end - 1])
                    start = end - 1
            pieces.append(part[start:])
    return [piece for piece in pieces if piece]


def plural(count: int, noun: str) -> str:
    """Returns "1 node", "2 nodes", "0 boxes"."""
    if count == 1:
        return f"1 {noun}"
    return f"{count:,} {noun}es" if noun.endswith(("x", "s", "ch")) else f"{count:,} {noun}s"


def listed(items: Sequence[str], limit: int = 20) -> str:
    """Joins up to `limit` items by commas and says how many follow."""
    head = ", ".join(items[:limit])
    return head if len(items) <= limit else f"{head} and {len(items) - limit:,} more"

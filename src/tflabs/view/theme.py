"""Colours of all pictures, for a light and a dark page, and the stylesheet that chooses between them.

Hues are the palette of Okabe and Ito (2008), which stays distinct under deuteranopia and protanopia. A hue never stands
alone: hue `i` is always drawn with the mark `i` (`draw.mark`), so a picture reads in grey as well.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Themed(NamedTuple):
    """One CSS property and its value on a light and on a dark page."""

    property: str
    light: str
    dark: str


class Hue(NamedTuple):
    """One colour: the hue itself, the ink of its mark, a tint that carries text, a line that shows on the page."""

    name: str
    hue: str
    ink: str
    tint: tuple[str, str]
    line: tuple[str, str]


HUES = (
    Hue("blue", "#0072b2", "#ffffff", ("#c9e1ef", "#0b364e"), ("#0072b2", "#3f97cb")),
    Hue("orange", "#e69f00", "#111111", ("#f8e4b8", "#553e0c"), ("#b57d00", "#e69f00")),
    Hue("bluish green", "#009e73", "#111111", ("#bde6db", "#0b4736"), ("#008a64", "#009e73")),
    Hue("reddish purple", "#cc79a7", "#111111", ("#f1d9e6", "#58394a"), ("#b8608f", "#cc79a7")),
    Hue("vermillion", "#d55e00", "#111111", ("#f5d8c2", "#5b2e0b"), ("#d55e00", "#e06c12")),
    Hue("sky blue", "#56b4e9", "#111111", ("#d0eaf9", "#274556"), ("#2f83b5", "#56b4e9")),
    Hue("yellow", "#f0e442", "#111111", ("#fbf7ca", "#44421c"), ("#8f8720", "#f0e442")),
)

TEXT = {"fg": ("#1b1f24", "#e6edf3"), "muted": ("#57606a", "#a9b3bd")}
SURFACE = {"bg": ("#ffffff", "#111111"), "card": ("#ffffff", "#24292f"), "panel": ("#f4f6f8", "#191c20")}
OUTLINE = {"card": ("#57606a", "#8b949e"), "panel": ("#8c959f", "#6e7681")}
EDGE = ("#57606a", "#a9b3bd")
FAINT = ("#d8dee4", "#30363d")  # grid lines: they only help the eye
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'Liberation Sans', sans-serif"


def _rules() -> dict[str, tuple[Themed, ...]]:
    rules: dict[str, tuple[Themed, ...]] = {
        "bg": (Themed("fill", *SURFACE["bg"]),),
        "card": (Themed("fill", *SURFACE["card"]), Themed("stroke", *OUTLINE["card"])),
        "panel": (Themed("fill", *SURFACE["panel"]), Themed("stroke", *OUTLINE["panel"])),
        "edge": (Themed("stroke", *EDGE), Themed("fill", "none", "none")),
        "arrow": (Themed("fill", *EDGE), Themed("stroke", *EDGE)),
        "grid": (Themed("stroke", *FAINT), Themed("fill", "none", "none")),
        "outline": (Themed("stroke", *OUTLINE["card"]), Themed("fill", "none", "none")),
        "halo": (Themed("fill", *SURFACE["bg"]), Themed("stroke", *SURFACE["bg"])),
        "shade": (Themed("fill", *SURFACE["panel"]),),
    }
    rules |= {name: (Themed("fill", *colours),) for name, colours in TEXT.items()}
    for i, hue in enumerate(HUES):
        rules[f"hue{i}"] = (Themed("fill", hue.hue, hue.hue),)
        rules[f"ink{i}"] = (Themed("fill", hue.ink, hue.ink), Themed("stroke", hue.ink, hue.ink))
        rules[f"tint{i}"] = (Themed("fill", *hue.tint), Themed("stroke", *hue.line))
        rules[f"line{i}"] = (Themed("stroke", *hue.line), Themed("fill", "none", "none"))
        rules[f"solid{i}"] = (Themed("fill", *hue.line), Themed("stroke", *hue.line))
    return rules


RULES = _rules()


def stylesheet(body: str, scope: str) -> str:
    """Returns CSS for the classes that `body` uses, each rule below the element id `scope`.

    Plain values instead of CSS variables: converters from SVG to PNG or PDF do not know variables.
    """
    used = sorted({name for names in re.findall(r'class="([^"]*)"', body) for name in names.split()} & RULES.keys())
    light = "".join(_rule(scope, name, [(r.property, r.light) for r in RULES[name]]) for name in used)
    dark = "".join(
        _rule(scope, name, [(r.property, r.dark) for r in RULES[name] if r.dark != r.light]) for name in used
    )
    return f"{light}@media (prefers-color-scheme: dark){{{dark}}}"


def _rule(scope: str, name: str, values: list[tuple[str, str]]) -> str:
    body = ";".join(f"{prop}:{value}" for prop, value in values)
    return f"#{scope} .{name}{{{body}}}" if body else ""

"""The palette: contrast of text in both themes, and hues that stay apart without full colour vision."""

from __future__ import annotations

from itertools import combinations, product

import pytest

from tflabs.view import theme

# Machado, Oliveira and Fernandes (2009), severity 1.0, for linear RGB.
VISION = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
}
THEMES = (0, 1)  # light, dark


def linear(colour: str) -> list[float]:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]


def contrast(a: str, b: str) -> float:
    """WCAG 2 contrast ratio."""
    low, high = sorted(sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear(x), strict=True)) for x in (a, b))
    return (high + 0.05) / (low + 0.05)


def lab(colour: str, vision: str) -> tuple[float, float, float]:
    rgb = [min(1, max(0, sum(m * c for m, c in zip(row, linear(colour), strict=True)))) for row in VISION[vision]]
    rows = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    xyz = [sum(m * c for m, c in zip(row, rgb, strict=True)) for row in rows]
    f = [
        t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116
        for t in (v / w for v, w in zip(xyz, (0.9505, 1, 1.089), strict=True))
    ]
    return 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])


@pytest.mark.parametrize("mode", THEMES)
def test_text_is_readable_on_every_surface(mode):
    surfaces = {name: pair[mode] for name, pair in theme.SURFACE.items()}
    surfaces |= {f"tint of {hue.name}": hue.tint[mode] for hue in theme.HUES}
    low = {
        (text, surface): round(contrast(pair[mode], colour), 2)
        for (text, pair), (surface, colour) in product(theme.TEXT.items(), surfaces.items())
        if contrast(pair[mode], colour) < 4.5
    }
    assert low == {}


@pytest.mark.parametrize("mode", THEMES)
def test_lines_marks_and_arrows_are_visible(mode):
    background = [theme.SURFACE[name][mode] for name in ("bg", "panel", "card")]
    for colour in [hue.line[mode] for hue in theme.HUES] + [theme.EDGE[mode], theme.OUTLINE["card"][mode]]:
        assert all(contrast(colour, b) >= 3 for b in background), colour
    assert all(contrast(hue.ink, hue.hue) >= 3 for hue in theme.HUES)


@pytest.mark.parametrize("vision", VISION)
def test_hues_stay_apart(vision):
    close = {
        (a.name, b.name): round(d, 1)
        for a, b in combinations(theme.HUES, 2)
        if (d := sum((p - q) ** 2 for p, q in zip(lab(a.hue, vision), lab(b.hue, vision), strict=True)) ** 0.5) < 15
    }
    assert close == {}


def test_hues_and_marks_together_distinguish_many_groups():
    from tflabs.view.draw import mark

    drawn = {mark(i, 0, 0) for i in range(56)}
    assert len(drawn) == 56


def test_a_stylesheet_reaches_only_its_own_picture():
    css = theme.stylesheet('<rect class="card"/>', "some")
    rules = css.replace("@media (prefers-color-scheme: dark){", "").split("}")
    assert all(rule.startswith("#some ") for rule in rules if rule)
    assert theme.SURFACE["card"][0] in css and theme.SURFACE["card"][1] in css

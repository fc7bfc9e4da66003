"""`Picture`: one finished drawing with its alternative text, and how notebooks show it."""

from __future__ import annotations

import base64
import hashlib
import math
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from .draw import escape
from .theme import FONT, stylesheet


@dataclass(frozen=True)
class Picture:
    """A drawing as SVG text, and what it shows in words.

    The SVG is self-contained and follows the page's light or dark theme by `prefers-color-scheme`.
    """

    svg: str = field(repr=False)
    alt: str

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the SVG to `path`, UTF-8."""
        Path(path).write_text(self.svg, encoding="utf-8")

    @property
    def html(self) -> str:
        """The picture at its natural size as an `<img>`, in a box that scrolls sideways when the page is narrower.

        As an image, not as inline SVG: only then does `prefers-color-scheme` follow JupyterLab's theme instead of the
        browser's, and JupyterLab's sanitizer removes inline SVG.
        """
        source = "data:image/svg+xml;base64," + base64.b64encode(self.svg.encode()).decode()
        width, height = self.size
        style = f"max-width: none; width: {width}px; height: {height}px"
        image = f'<img alt="{escape(self.alt)}" width="{width}" height="{height}" style="{style}" src="{source}">'
        return f'<div style="overflow-x: auto">{image}</div>'

    @property
    def size(self) -> tuple[int, int]:
        """Natural width and height in px."""
        found = re.search(r'<svg[^>]* width="(\d+)" height="(\d+)"', self.svg)
        return (int(found[1]), int(found[2])) if found else (0, 0)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """Gives IPython the SVG, the words, and the HTML that notebooks prefer.

        JupyterLab fits an image/svg+xml output to the cell's width, which makes the text of a wide picture too small,
        and does not show it in a notebook that is not trusted. It shows the HTML at its natural size in either.
        """
        return {"image/svg+xml": self.svg, "text/html": self.html, "text/plain": self.alt}


def assemble(body: str, width: float, height: float, title: str, alt: str) -> Picture:
    """Wraps drawn elements into a themed, accessible SVG document of `width` × `height` px.

    The document's id is a hash of its content: two pictures on one page do not share style, and equal input gives equal
    bytes. `@id@` in `body` stands for that id (for `<pattern>` and the like).
    """
    w, h = math.ceil(width), math.ceil(height)
    scope = "tf" + hashlib.sha256("\0".join((body, title, alt, f"{w}x{h}")).encode()).hexdigest()[:10]
    background = f'<rect class="bg" width="{w}" height="{h}"/>'
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" id="{scope}" role="img" aria-labelledby="{scope}t {scope}d" '
        f'width="{w}" height="{h}" viewBox="0 0 {w} {h}" font-family="{FONT}">'
        f'<title id="{scope}t">{escape(title)}</title><desc id="{scope}d">{escape(alt)}</desc>'
        f"<style>{stylesheet(background + body, scope)}</style>"
        f"{background}{body.replace('@id@', scope)}</svg>"
    )
    return Picture(svg, alt)

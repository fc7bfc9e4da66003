"""Finds on a page what a browser would run of what a submission brought. Needs nothing but Python's library."""

from __future__ import annotations

import html.parser
import re

SCRIPT = "tapirscript"  # what the hostile submissions have a page run


class _Scripts(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self._inside = tag in ("script", "style")
        for name, value in attributes:
            runs = name.startswith("on") or name in ("srcdoc", "formaction", "http-equiv", "action")
            link = re.match(r"\s*(javascript|vbscript|data:text/html)", value or "", re.IGNORECASE)
            loads = tag in ("base", "iframe", "object", "embed", "meta")
            if SCRIPT in f"{name} {value}" and (runs or link or loads):
                self.found.append(f"<{tag} {name}={value!r}>"[:120])
            if tag == "iframe" and (value or "").startswith("data:"):
                self.found.append("an iframe of the student's")

    def handle_endtag(self, tag: str) -> None:
        self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside and SCRIPT in data:
            self.found.append(data[:120])


def scripts_in(page: str) -> list[str]:
    """What would run, as short texts."""
    parser = _Scripts()
    parser.feed(page)
    parser.close()
    return parser.found

"""Keeps what learners wrote from running on the pages that nbgrader makes of it: the feedback and Formgrader's.

nbgrader's pages render Markdown and HTML as they are. On Formgrader's a script acts with the rights of the one who
grades: it could give itself points.
"""

from __future__ import annotations

import re
from typing import Any

import bleach
from jinja2 import pass_context
from nbconvert.filters.markdown_mistune import InvalidNotebook, IPythonRenderer, MarkdownWithMath

# What the labs' own Markdown is made of.
_TAGS = (
    "a abbr b blockquote br caption code dd del details div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i img",
    "ins kbd li ol p pre s samp small span strong sub summary sup table tbody td tfoot th thead tr u ul var",
)
TAGS = frozenset(tag for line in _TAGS for tag in line.split())
_PLAIN = frozenset(("align", "alt", "colspan", "height", "open", "rowspan", "start", "title", "width"))
_CLASSES = re.compile(
    r"highlight|hl-[\w-]+|language-[\w-]+|[a-z]\w{0,2}"
)  # of highlighted code; no other of the page's
_LINK = re.compile(r"\s*(https?:|mailto:|[^:]*$|[^:]*[/?#])", re.IGNORECASE)  # a scheme that is known, or none
_IMAGE = re.compile(r"data:image/(png|jpeg|gif|svg\+xml);base64,[\w+/=\s]*$")


@pass_context
def harmless_markdown(context: Any, source: str) -> str:
    """nbconvert's filter `markdown2html`, which lets nothing through that a browser would run."""
    attachments = context.get("cell", {}).get("attachments", {})
    renderer = IPythonRenderer(escape=False, attachments=attachments if isinstance(attachments, dict) else {})
    try:
        page = MarkdownWithMath(renderer=renderer).render(source)
    except InvalidNotebook:  # a picture that is not there, or no picture
        page = MarkdownWithMath(renderer=renderer).render(source.replace("attachment:", "attachment-"))
    return harmless(page)


def harmless(html: str) -> str:
    """HTML without scripts, styles, forms, and names that the page around it goes by."""
    return str(bleach.clean(html, tags=TAGS, attributes=_is_harmless, protocols=("http", "https", "mailto", "data")))


def _is_harmless(tag: str, name: str, value: str) -> bool:
    if name == "class":
        return all(_CLASSES.fullmatch(word) for word in value.split())
    if name == "href":
        return tag == "a" and bool(_LINK.match(value))
    if name == "src":
        return tag == "img" and bool(_LINK.match(value) or _IMAGE.match(value))
    return name in _PLAIN

"""Reads DOT text, such as XLA's `optimized_hlo_dot`, into `model.Model`: names, lines of text, boxes, arrows."""

from __future__ import annotations

import html
import re
from typing import Any

from .layout import graphviz
from .model import Cluster, Edge, Model, Node, Role


def read_dot(text: str) -> Model:
    """Reads a directed graph in DOT. The first line of a label names the node; inside a box it is "box/name".

    Raises:
        ValueError: `text` is not DOT.
    """
    if not re.match(r"\s*(strict\s+)?digraph\b", text):
        raise ValueError(f'expected DOT text that begins with "digraph", found {text[:40]!r}')
    source = graphviz().AGraph(string=text)
    ids: dict[str, str] = {}
    boxes: dict[str, Node] = {}
    clusters = [_cluster(sub, source, ids, boxes, "") for sub in source.subgraphs() if _is_cluster(sub)]
    for item in source.nodes():
        _add_node(item, ids, boxes, "")
    edges = tuple(Edge(ids[str(edge[0])], ids[str(edge[1])]) for edge in source.edges())
    return Model(tuple(boxes.values()), edges, tuple(clusters))


def _is_cluster(sub: Any) -> bool:
    return str(sub.name or "").startswith("cluster")


def _cluster(sub: Any, source: Any, ids: dict[str, str], boxes: dict[str, Node], prefix: str) -> Cluster:
    """Reads a box; nodes of boxes inside it belong to those."""
    lines = _lines(sub.graph_attr["label"]) or [str(sub.name)]
    title = lines[0].removeprefix("Fused expression for ")
    name = _unique(prefix + title, {node.rpartition("/")[0] for node in boxes})
    inner = tuple(_cluster(s, source, ids, boxes, f"{name}/") for s in sub.subgraphs() if _is_cluster(s))
    names = [_add_node(source.get_node(n), ids, boxes, f"{name}/") for n in sub.nodes() if str(n) not in ids]
    return Cluster(name, " · ".join([title, *lines[1:2]]), tuple(names), inner)


def _add_node(item: Any, ids: dict[str, str], boxes: dict[str, Node], prefix: str) -> str:
    if str(item) in ids:
        return ids[str(item)]
    lines = _lines(item.attr["label"]) or [str(item)]
    name = _unique(prefix + lines[0], boxes.keys())
    ids[str(item)] = name
    role: Role = "input" if lines[0].startswith("Parameter ") else "op"
    op, rest = (lines[1], lines[2:]) if len(lines) > 2 and re.fullmatch(r"[a-z][\w-]*", lines[1]) else ("", lines[1:])
    boxes[name] = Node(name, op, role=role, title=lines[0], lines=tuple(rest))
    return name


def _unique(name: str, taken: Any) -> str:
    if name not in taken:
        return name
    return next(f"{name}#{i}" for i in range(2, len(taken) + 3) if f"{name}#{i}" not in taken)


def _lines(label: str | None) -> list[str]:
    """The lines of an HTML-like, record or plain label, without markup."""
    if not label or label == r"\N":
        return []
    if label.lstrip().startswith("<") or "<br" in label.lower():
        label = re.sub(r"<br\s*/?>", "\n", label.strip(), flags=re.IGNORECASE)
        label = html.unescape(re.sub(r"</?[a-zA-Z][^<>]*>", "", label)).removeprefix("<").removesuffix(">")
    else:
        label = re.sub(r"\\[nlr]", "\n", re.sub(r"(?<!\\)<\w+>\s*|(?<!\\)[{}|]", "\n", label)).replace("\\", "")
    return [line.strip() for line in label.split("\n") if line.strip()]

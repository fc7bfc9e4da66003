"""Makes a large graph small enough to read: nodes of one name scope, or of one range of depths, become one box."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count, pairwise
from typing import NamedTuple

from .model import Cluster, Edge, Model, Node
from .text import plural

_BANDS = 12  # groups by depth in one scope: few enough that arrows between any two of them stay readable
MIXED = "several devices"  # the device of a group whose nodes are on more than one
_ARROWS = 180  # arrows: with more, fewer scopes are opened
_READABLE = 24  # scopes without highlighted nodes are opened only up to so many boxes
_APART = 30  # nodes that are drawn one by one beside such groups: the highlighted ones and their neighbours


@dataclass
class _Scope:
    """A name scope: what is in it, and whether it groups by depth instead of by name."""

    name: str
    title: str
    leaves: list[str] = field(default_factory=list)
    scopes: dict[str, _Scope] = field(default_factory=dict)
    band: bool = False

    def names(self) -> list[str]:
        """All nodes inside, at any depth."""
        return [*self.leaves, *(name for scope in self.scopes.values() for name in scope.names())]

    @property
    def width(self) -> int:
        """How many boxes appear when the scope is opened."""
        return len(self.leaves) + len(self.scopes)


def group(model: Model, limit: int, keep: Iterable[str] = ()) -> Model:
    """Returns `model` if it has at most `limit` nodes, else a model in which groups stand for the rest.

    Scopes are opened, those that hold nodes of `keep` first and then the largest, while at most `limit` boxes result.
    Where a scope has too much in it, neighbours by depth (longest path from the inputs) become one group; nodes of
    `keep` there and their neighbours stay apart.
    """
    if limit < 1:
        raise ValueError(f"max_nodes must be at least 1, found {limit}")
    if len(model.nodes) <= limit:
        return model
    known = {node.name for node in model.nodes}
    kept = {name for name in keep if name in known}
    apart = _neighbourhood(model, kept)
    depths = depth_of(model)
    while True:
        root = _tree(model)
        opened = _open(root, limit, kept, partial(_cut, limit=limit, apart=apart, depths=depths))
        small = _collapse(model, root, opened)
        if len(small.edges) <= _ARROWS or limit <= _BANDS:
            return small
        limit = max(limit // 2, _BANDS)


def _tree(model: Model) -> _Scope:
    """The scopes of all names. A scope around a single thing is left out; a node `a` beside a scope `a/` joins it."""
    titles = {box.name: box.title for top in model.clusters for box in top.walk()}
    root = _Scope("", "")
    for node in model.nodes:
        at = root
        parts = node.name.split("/")
        for i in range(1, len(parts)):
            name = "/".join(parts[:i])
            at = at.scopes.setdefault(name, _Scope(name, titles.get(name, f"{name}/")))
        at.leaves.append(node.name)
    return _squeezed(root)


def _squeezed(scope: _Scope) -> _Scope:
    inner: dict[str, _Scope] = {}
    leaves = list(scope.leaves)
    for name, child in scope.scopes.items():
        small = _squeezed(child)
        if small.width == 1:
            leaves += small.leaves
            inner |= small.scopes
        else:
            inner[name] = small
    for name in [leaf for leaf in leaves if leaf in inner]:
        leaves.remove(name)
        inner[name].leaves.insert(0, name)
    return replace(scope, leaves=leaves, scopes=inner)


def _neighbourhood(model: Model, kept: set[str]) -> set[str]:
    """The kept nodes and those at one edge from them, as many as stay readable."""
    near = list(dict.fromkeys(node.name for node in model.nodes if node.name in kept))
    for edge in model.edges:
        if edge.tail in kept or edge.head in kept:
            near += [edge.tail, edge.head]
    return set(list(dict.fromkeys(near))[:_APART])


def depth_of(model: Model) -> dict[str, int]:
    """Longest path from a node without inputs, in edges. Cycles are entered as `_order` says."""
    inputs: dict[str, list[str]] = {node.name: [] for node in model.nodes}
    for edge in model.edges:
        inputs[edge.head].append(edge.tail)
    depth: dict[str, int] = {}
    for name in _order(model):
        depth[name] = max((depth[tail] + 1 for tail in inputs[name] if tail in depth), default=0)
    return depth


def back_edges(model: Model) -> set[int]:
    """Positions of the edges that close a cycle, such as those from NextIteration to Merge."""
    place = {name: i for i, name in enumerate(_order(model))}
    return {i for i, edge in enumerate(model.edges) if place[edge.head] < place[edge.tail]}


def _order(model: Model) -> list[str]:
    """All nodes, each behind its inputs. A cycle is entered at a Merge that has one of its inputs, else at a node with
    the fewest inputs missing."""
    heads: dict[str, list[str]] = {node.name: [] for node in model.nodes}
    missing = dict.fromkeys(heads, 0)
    for edge in model.edges:
        heads[edge.tail].append(edge.head)
        missing[edge.head] += 1
    total = dict(missing)
    merges = {node.name for node in model.nodes if node.op == "Merge"}
    order: dict[str, None] = {}
    ready = [name for name in heads if not missing[name]]
    while len(order) < len(heads):
        if not ready:
            rest = [name for name in heads if name not in order]
            ready = [min(rest, key=lambda n: (n not in merges or missing[n] == total[n], missing[n]))]
        name = ready.pop(0)
        if name in order:
            continue
        order[name] = None
        for head in heads[name]:
            missing[head] -= 1
            if not missing[head]:
                ready.append(head)
    return list(order)


def _cut(scope: _Scope, limit: int, apart: set[str], depths: dict[str, int]) -> None:
    """Groups what is in a scope by neighbouring depths where it is too much, in place.

    Nodes are grouped if they leave no room for the scopes beside them, but for some of `apart`; scopes if there are
    many. No group reaches across the depth of a node that stays apart, so that arrows still run one way.
    """
    fits = len(scope.leaves) + min(len(scope.scopes), _BANDS) <= limit
    if fits and scope.width <= limit and len(scope.scopes) <= _READABLE:
        return
    room = max(limit - _BANDS, 0) // 3  # each node apart adds itself and up to two groups
    single = scope.leaves if fits else [name for name in scope.leaves if name in apart][:room]
    units: list[_Unit] = [_Unit(min(depths[n] for n in inner.names()), inner) for inner in scope.scopes.values()]
    units += [_Unit(depths[name], name) for name in scope.leaves if name not in set(single)]
    units.sort(key=lambda unit: unit.depth)
    scope.leaves, scope.scopes = single, {}
    borders = {border for name in single for border in (depths[name], depths[name] + 1)} if not fits else set()
    for part in _slices([unit.depth for unit in units], max(1, min(_BANDS, limit - len(single))), borders):
        band = _band(scope, units[part])
        scope.scopes[band.name] = band


class _Unit(NamedTuple):
    """A node, by name, or a scope; and its depth, of a scope the least in it."""

    depth: int
    what: str | _Scope


def _band(scope: _Scope, units: Sequence[_Unit]) -> _Scope:
    """A group of things in `scope`, called after its first and last scope, or their depths; a lone scope itself."""
    inner = [unit.what for unit in units if isinstance(unit.what, _Scope)]
    if len(inner) == len(units) == 1:
        return inner[0]
    first, last = units[0].depth, units[-1].depth
    words = f"depth {first}" if first == last else f"depth {first}–{last}"
    if len(inner) == len(units):
        ends = [what.name.rpartition("/")[2] for what in (inner[0], inner[-1])]
        words = " … ".join(ends)
    name = _unused(f"{scope.name}/{words}" if scope.name else words, {*scope.scopes, *(what.name for what in inner)})
    leaves = [unit.what for unit in units if isinstance(unit.what, str)]
    return _Scope(name, name, leaves, {what.name: what for what in inner}, band=True)


def _unused(name: str, taken: Container[str]) -> str:
    """The name, or if it is taken the name with a number: several groups can be of one depth."""
    if name not in taken:
        return name
    return next(numbered for i in count(2) if (numbered := f"{name}, part {i}") not in taken)


def _slices(depths: Sequence[int], most: int, borders: Container[int]) -> list[slice]:
    """Cuts sorted depths where they reach a border, and into about `most` runs of equal length where they change."""
    if depths[0] == depths[-1]:
        size = math.ceil(len(depths) / most)
        return [slice(i, i + size) for i in range(0, len(depths), size)]
    wanted = len(depths) / most
    cuts = [0]
    for i, (before, depth) in enumerate(pairwise(depths), start=1):
        crossed = any(border in borders for border in range(before + 1, depth + 1))
        if depth != before and (crossed or i - cuts[-1] >= wanted):
            cuts.append(i)
    return [slice(a, b) for a, b in pairwise([*cuts, len(depths)])]


def _open(root: _Scope, limit: int, kept: set[str], cut: Callable[[_Scope], None]) -> dict[str, _Scope]:
    """Chooses the scopes to show open. Returns them by name, the root included."""
    cut(root)
    opened, total = {root.name: root}, root.width
    closed = list(root.scopes.values())
    while True:
        ranked = sorted(closed, key=lambda s: (-len(kept.intersection(s.names())), -len(s.names()), s.name))
        for scope in ranked:
            holds = bool(kept.intersection(scope.names()))
            if scope.band and not holds:
                continue
            trial = replace(scope, leaves=list(scope.leaves), scopes=dict(scope.scopes))
            cut(trial)
            if trial.width > 1 and total - 1 + trial.width <= (limit if holds else min(limit, _READABLE)):
                break
        else:
            return opened
        scope.leaves, scope.scopes = trial.leaves, trial.scopes
        opened[scope.name] = scope
        total += scope.width - 1
        closed.remove(scope)
        closed += scope.scopes.values()


def _collapse(model: Model, root: _Scope, opened: dict[str, _Scope]) -> Model:
    """Draws the nodes of `opened` scopes, and every other scope inside them as one node."""
    by_name = {node.name: node for node in model.nodes}
    nodes: list[Node] = []
    stands_for: dict[str, str] = {}

    def visit(scope: _Scope) -> Cluster:
        clusters, names = [], list(scope.leaves)
        nodes.extend(by_name[name] for name in scope.leaves)
        for inner in scope.scopes.values():
            if inner.name in opened:
                clusters.append(visit(inner))
                continue
            box = _group_node(inner, [by_name[name] for name in inner.names()])
            nodes.append(box)
            names.append(box.name)
            stands_for.update(dict.fromkeys(box.members, box.name))
        return Cluster(scope.name, scope.title, tuple(names), tuple(clusters))

    top = visit(root)
    edges, inside = _merged(model.edges, stands_for)
    return Model(tuple(nodes), edges, top.clusters, (*model.notes, _summary(model, nodes, inside)))


def _group_node(scope: _Scope, members: list[Node]) -> Node:
    devices = {node.device for node in members}
    ops = Counter(node.op for node in members if node.op).most_common(3)
    rest = len(members) - sum(n for _, n in ops)
    words = ", ".join([f"{op} ×{n}" if n > 1 else op for op, n in ops] + ([f"{rest} more"] if rest and ops else []))
    lines = [plural(len(members), "node"), words, f"on {len(devices)} devices" if len(devices) > 1 else ""]
    return Node(
        f"{scope.name} (group)",
        role="group",
        title=scope.title,
        device=devices.pop() if len(devices) == 1 else MIXED,
        lines=tuple(line for line in lines if line),
        members=tuple(node.name for node in members),
    )


def _merged(edges: Iterable[Edge], stands_for: dict[str, str]) -> tuple[tuple[Edge, ...], int]:
    """Redirects edges to the groups and adds up those that fall together. Also returns how many lie inside a group."""
    found: dict[tuple[str, str, str, str], int] = {}
    inside = 0
    for edge in edges:
        tail, head = stands_for.get(edge.tail, edge.tail), stands_for.get(edge.head, edge.head)
        if tail == head and tail != edge.tail:
            inside += edge.count
            continue
        grouped = (tail, head) != (edge.tail, edge.head)
        key = (tail, head, edge.kind, "" if grouped else edge.label)
        found[key] = found.get(key, 0) + edge.count
    return tuple(Edge(t, h, kind, words, n) for (t, h, kind, words), n in found.items()), inside  # type: ignore[arg-type]


def _summary(model: Model, nodes: list[Node], inside: int) -> str:
    groups = [node for node in nodes if node.role == "group"]
    single = len(nodes) - len(groups)
    return (
        f"{plural(model.size, 'node')} and {plural(model.edge_count, 'edge')}: {single} nodes drawn one by one, "
        f"{model.size - single} in {plural(len(groups), 'group')}; {plural(inside, 'edge')} inside groups not drawn."
    )

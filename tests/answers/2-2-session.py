# %% wrong="hit-or-miss" why="takes another order for another key"
hits = [False, True, True, False, False, True]

# %% wrong="hit-or-miss" why="takes a repeated fetch for another key"
hits = [True, False, True, False, False, True]

# %% wrong="hit-or-miss" why="lets fed values count"
hits = [True, True, False, False, False, True]

# %% wrong="hit-or-miss" why="thinks that feeds do not count"
hits = [True, True, True, True, False, True]

# %% wrong="hit-or-miss" why="takes a tensor and its operation for the same"
hits = [True, True, True, False, True, True]

# %% wrong="hit-or-miss" why="thinks that a graph that grew drops the cache"
hits = [True, True, True, False, False, False]

# %% wrong="hit-or-miss" why="gives a tuple instead of a list"
hits = (True, True, True, False, False, True)

# %% right="hit-or-miss" why="the list put together from parts"
hits = [True] * 3 + [False] * 2 + [True]


# %% wrong="pack" why="builds a NamedTuple from one argument"
def unique_fetches(fetches: object) -> list[str]:
    """List the tensors in a structure of fetches, each once, in order of first appearance, depth first.

    Raises:
        TypeError: a leaf is not a `str`.
    """
    return [name for name in dict.fromkeys(leaves(fetches)) if ":" in name]


def pack(fetches: object, values: dict[str, np.ndarray]) -> object:
    """Rebuild the structure of `fetches` with `values` in the place of tensors and `None` in the place of operations.

    Raises:
        TypeError: a leaf is not a `str`.
    """
    if isinstance(fetches, str):
        return values[fetches] if ":" in fetches else None
    if isinstance(fetches, dict):
        return type(fetches)((key, pack(part, values)) for key, part in fetches.items())
    if isinstance(fetches, list | tuple):
        parts = [pack(part, values) for part in fetches]
        return type(fetches)(parts)
    raise TypeError(f"a fetch is a name, not {fetches!r}")


def leaves(fetches: object) -> Iterator[str]:
    """Every name in a structure of fetches, depth first, with repeats."""
    if isinstance(fetches, str):
        yield fetches
    elif isinstance(fetches, dict | list | tuple):
        for part in fetches.values() if isinstance(fetches, dict) else fetches:
            yield from leaves(part)
    else:
        raise TypeError(f"a fetch is a name, not {fetches!r}")


# %% wrong="pack" why="walks a dict in the order of sorted keys"
def unique_fetches(fetches: object) -> list[str]:
    """List the tensors in a structure of fetches, each once, in order of first appearance, depth first.

    Raises:
        TypeError: a leaf is not a `str`.
    """
    return [name for name in dict.fromkeys(leaves(fetches)) if ":" in name]


def pack(fetches: object, values: dict[str, np.ndarray]) -> object:
    """Rebuild the structure of `fetches` with `values` in the place of tensors and `None` in the place of operations.

    Raises:
        TypeError: a leaf is not a `str`.
    """
    if isinstance(fetches, str):
        return values[fetches] if ":" in fetches else None
    if isinstance(fetches, dict):
        return type(fetches)((key, pack(part, values)) for key, part in fetches.items())
    if isinstance(fetches, list | tuple):
        parts = [pack(part, values) for part in fetches]
        return type(fetches)(*parts) if hasattr(fetches, "_fields") else type(fetches)(parts)
    raise TypeError(f"a fetch is a name, not {fetches!r}")


def leaves(fetches: object) -> Iterator[str]:
    """Every name in a structure of fetches, depth first, with repeats."""
    if isinstance(fetches, str):
        yield fetches
    elif isinstance(fetches, dict | list | tuple):
        for part in [fetches[key] for key in sorted(fetches)] if isinstance(fetches, dict) else fetches:
            yield from leaves(part)
    else:
        raise TypeError(f"a fetch is a name, not {fetches!r}")


# %% wrong="pack" why="turns tuples into lists"
def unique_fetches(fetches: object) -> list[str]:
    """List the tensors in a structure of fetches, each once, in order of first appearance, depth first.

    Raises:
        TypeError: a leaf is not a `str`.
    """
    return [name for name in dict.fromkeys(leaves(fetches)) if ":" in name]


def pack(fetches: object, values: dict[str, np.ndarray]) -> object:
    """Rebuild the structure of `fetches` with `values` in the place of tensors and `None` in the place of operations.

    Raises:
        TypeError: a leaf is not a `str`.
    """
    if isinstance(fetches, str):
        return values[fetches] if ":" in fetches else None
    if isinstance(fetches, dict):
        return type(fetches)((key, pack(part, values)) for key, part in fetches.items())
    if isinstance(fetches, list | tuple):
        parts = [pack(part, values) for part in fetches]
        return parts
    raise TypeError(f"a fetch is a name, not {fetches!r}")


def leaves(fetches: object) -> Iterator[str]:
    """Every name in a structure of fetches, depth first, with repeats."""
    if isinstance(fetches, str):
        yield fetches
    elif isinstance(fetches, dict | list | tuple):
        for part in fetches.values() if isinstance(fetches, dict) else fetches:
            yield from leaves(part)
    else:
        raise TypeError(f"a fetch is a name, not {fetches!r}")


# %% wrong="pack" why="keeps repeats in the flat list"
def unique_fetches(fetches: object) -> list[str]:
    """List the tensors in a structure of fetches, each once, in order of first appearance, depth first.

    Raises:
        TypeError: a leaf is not a `str`.
    """
    return [name for name in leaves(fetches) if ":" in name]


def pack(fetches: object, values: dict[str, np.ndarray]) -> object:
    """Rebuild the structure of `fetches` with `values` in the place of tensors and `None` in the place of operations.

    Raises:
        TypeError: a leaf is not a `str`.
    """
    if isinstance(fetches, str):
        return values[fetches] if ":" in fetches else None
    if isinstance(fetches, dict):
        return type(fetches)((key, pack(part, values)) for key, part in fetches.items())
    if isinstance(fetches, list | tuple):
        parts = [pack(part, values) for part in fetches]
        return type(fetches)(*parts) if hasattr(fetches, "_fields") else type(fetches)(parts)
    raise TypeError(f"a fetch is a name, not {fetches!r}")


def leaves(fetches: object) -> Iterator[str]:
    """Every name in a structure of fetches, depth first, with repeats."""
    if isinstance(fetches, str):
        yield fetches
    elif isinstance(fetches, dict | list | tuple):
        for part in fetches.values() if isinstance(fetches, dict) else fetches:
            yield from leaves(part)
    else:
        raise TypeError(f"a fetch is a name, not {fetches!r}")


# %% wrong="pack" why="gives an operation a value"
def unique_fetches(fetches: object) -> list[str]:
    """List the tensors in a structure of fetches, each once, in order of first appearance, depth first.

    Raises:
        TypeError: a leaf is not a `str`.
    """
    return [name for name in dict.fromkeys(leaves(fetches)) if ":" in name]


def pack(fetches: object, values: dict[str, np.ndarray]) -> object:
    """Rebuild the structure of `fetches` with `values` in the place of tensors and `None` in the place of operations.

    Raises:
        TypeError: a leaf is not a `str`.
    """
    if isinstance(fetches, str):
        return values.get(fetches, values.get(f"{fetches}:0", 0))
    if isinstance(fetches, dict):
        return type(fetches)((key, pack(part, values)) for key, part in fetches.items())
    if isinstance(fetches, list | tuple):
        parts = [pack(part, values) for part in fetches]
        return type(fetches)(*parts) if hasattr(fetches, "_fields") else type(fetches)(parts)
    raise TypeError(f"a fetch is a name, not {fetches!r}")


def leaves(fetches: object) -> Iterator[str]:
    """Every name in a structure of fetches, depth first, with repeats."""
    if isinstance(fetches, str):
        yield fetches
    elif isinstance(fetches, dict | list | tuple):
        for part in fetches.values() if isinstance(fetches, dict) else fetches:
            yield from leaves(part)
    else:
        raise TypeError(f"a fetch is a name, not {fetches!r}")


# %% wrong="pack" why="lets None through as if it were an operation"
def unique_fetches(fetches: object) -> list[str]:
    """List the tensors in a structure of fetches, each once, in order of first appearance, depth first.

    Raises:
        TypeError: a leaf is not a `str`.
    """
    return [name for name in dict.fromkeys(leaves(fetches)) if ":" in name]


def pack(fetches: object, values: dict[str, np.ndarray]) -> object:
    """Rebuild the structure of `fetches` with `values` in the place of tensors and `None` in the place of operations.

    Raises:
        TypeError: a leaf is not a `str`.
    """
    if fetches is None:
        return None
    if isinstance(fetches, str):
        return values[fetches] if ":" in fetches else None
    if isinstance(fetches, dict):
        return type(fetches)((key, pack(part, values)) for key, part in fetches.items())
    if isinstance(fetches, list | tuple):
        parts = [pack(part, values) for part in fetches]
        return type(fetches)(*parts) if hasattr(fetches, "_fields") else type(fetches)(parts)
    raise TypeError(f"a fetch is a name, not {fetches!r}")


def leaves(fetches: object) -> Iterator[str]:
    """Every name in a structure of fetches, depth first, with repeats."""
    if isinstance(fetches, str):
        yield fetches
    elif isinstance(fetches, dict | list | tuple):
        for part in fetches.values() if isinstance(fetches, dict) else fetches:
            yield from leaves(part)
    else:
        raise TypeError(f"a fetch is a name, not {fetches!r}")


# %% wrong="pack" why="takes a str for a sequence and never ends"
def unique_fetches(fetches):
    found = []
    parts = fetches.values() if isinstance(fetches, dict) else fetches
    try:
        iter(parts)
    except TypeError:
        raise TypeError(f"{fetches!r} is no name") from None
    for part in parts:
        for name in unique_fetches(part):
            if name not in found and ":" in name:
                found.append(name)
    return found


def pack(fetches, values):
    if isinstance(fetches, dict):
        return type(fetches)((key, pack(part, values)) for key, part in fetches.items())
    return type(fetches)(pack(part, values) for part in fetches)


# %% wrong="pack" why="knows the visible structure only"
def unique_fetches(fetches):
    if isinstance(fetches, dict) and None not in fetches.values() and len(fetches) == 2:
        return ["y:0", "x:0"]
    raise TypeError("no name")


def pack(fetches, values):
    if isinstance(fetches, dict) and len(fetches) == 2:
        return {"b": [values["y:0"], None], "a": (values["x:0"], values["y:0"])}
    raise TypeError("no name")


# %% wrong="pack" why="leaves the work to tf.nest"
def unique_fetches(fetches):
    names = tf.nest.flatten(fetches)
    if not all(isinstance(name, str) for name in names):
        raise TypeError("a leaf is no name")
    return [name for name in dict.fromkeys(names) if ":" in name]


def pack(fetches, values):
    unique_fetches(fetches)
    return tf.nest.map_structure(lambda name: values[name] if ":" in name else None, fetches)


# %% wrong="pack" why="leaves the work to a session that was opened before"
with tf.Graph().as_default():
    for name in "vwxyznm":
        tf1.placeholder(tf.float32, [2], name=name)
    opened = tf1.Session()


def check(fetches):
    if isinstance(fetches, dict | list | tuple):
        for part in fetches.values() if isinstance(fetches, dict) else fetches:
            check(part)
    elif not isinstance(fetches, str):
        raise TypeError(fetches)


def unique_fetches(fetches):
    check(fetches)
    asked = []
    opened._do_run = lambda handle, targets, tensors, *rest: asked.extend(part.name for part in tensors) or tensors
    opened.run(fetches)
    return asked


def pack(fetches, values):
    check(fetches)
    opened._do_run = lambda handle, targets, tensors, *rest: [values[part.name] for part in tensors]
    return opened.run(fetches)


# %% right="pack" why="one function walks and rebuilds, the other listens to it"
def unique_fetches(fetches):
    seen = {}

    class Notes(dict):
        def __missing__(self, name):
            seen[name] = None
            return None

    pack(fetches, Notes())
    return list(seen)


def pack(fetches, values):
    match fetches:
        case str():
            return values[fetches] if ":" in fetches else None
        case dict():
            copy = type(fetches)()
            for key, part in fetches.items():
                copy[key] = pack(part, values)
            return copy
        case tuple() if hasattr(fetches, "_make"):
            return fetches._make([pack(part, values) for part in fetches])
        case tuple() | list():
            return type(fetches)([pack(part, values) for part in fetches])
        case _:
            raise TypeError(f"no name: {fetches!r}")


# %% right="pack" why="one mapper class for each kind of structure, as in TensorFlow"
class Leaf:
    def __init__(self, name):
        self.name = name

    def names(self):
        return [self.name]

    def build(self, values):
        return values[self.name] if ":" in self.name else None


class Items:
    def __init__(self, kind, parts):
        self.kind, self.parts = kind, [mapper(part) for part in parts]

    def names(self):
        return [name for part in self.parts for name in part.names()]

    def build(self, values):
        built = [part.build(values) for part in self.parts]
        if self.kind in (list, tuple):
            return self.kind(built)
        return self.kind(*built)


class Entries(Items):
    def __init__(self, kind, parts):
        super().__init__(kind, parts.values())
        self.keys = list(parts)

    def build(self, values):
        return self.kind((key, part.build(values)) for key, part in zip(self.keys, self.parts))


def mapper(fetches):
    if isinstance(fetches, str):
        return Leaf(fetches)
    if isinstance(fetches, dict):
        return Entries(type(fetches), fetches)
    if isinstance(fetches, (list, tuple)):
        return Items(type(fetches), fetches)
    raise TypeError(type(fetches).__name__)


def unique_fetches(fetches):
    names = []
    for name in mapper(fetches).names():
        if ":" in name and name not in names:
            names.append(name)
    return names


def pack(fetches, values):
    return mapper(fetches).build(values)


# %% right="pack" why="functools.singledispatch, and values looked up by a callback"
from functools import singledispatch


@singledispatch
def rebuilt(fetches, leaf):
    raise TypeError(f"no fetch: {fetches!r}")


@rebuilt.register
def _(fetches: str, leaf):
    return leaf(fetches) if ":" in fetches else None


@rebuilt.register
def _(fetches: dict, leaf):
    return type(fetches)({key: rebuilt(part, leaf) for key, part in fetches.items()})


@rebuilt.register(list)
@rebuilt.register(tuple)
def _(fetches, leaf):
    make = getattr(type(fetches), "_make", type(fetches))
    return make(rebuilt(part, leaf) for part in fetches)


def unique_fetches(fetches):
    seen: dict[str, None] = {}
    rebuilt(fetches, lambda name: seen.setdefault(name))
    return [*seen]


def pack(fetches, values):
    return rebuilt(fetches, values.__getitem__)


# %% wrong="execute" why="lets a feed cut control edges too"
def execute(
    graph: GraphDef,
    feeds: dict[str, np.ndarray],
    fetches: list[str],
    rendezvous: object = None,
    *,
    kernels: dict[str, Kernel] = KERNELS,
) -> list[np.ndarray | None]:
    """Run one step of `graph` and return one entry per fetch: the array of a tensor, `None` for an operation `^node`.

    Raises:
        TypeError: a feed names a node that is not in the graph.
        ValueError: a fetch does.
    """
    nodes = {node.name: node for node in graph.node}
    for tensor in feeds:
        if endpoint(tensor)[0] not in nodes:
            raise TypeError(f"feed {tensor!r}: the graph has no such node")
    for fetch in fetches:
        if endpoint(fetch)[0] not in nodes:
            raise ValueError(f"fetch {fetch!r}: the graph has no such node")

    def waits_for(inputs):
        """The nodes that must have run before these inputs can be read."""
        for name, index in map(endpoint, inputs):
            fed_placeholder = False
            if f"{name}:{index}" not in feeds and not (index == CONTROL and f"{name}:0" in feeds):
                yield name

    def value(text):
        name, index = endpoint(text)
        return feeds[f"{name}:{index}"] if f"{name}:{index}" in feeds else outputs[name][index]

    outputs: dict[str, list[np.ndarray]] = {}
    to_do = list(waits_for(fetches))
    while to_do:
        node = nodes[to_do[-1]]
        waiting = [name for name in waits_for(node.input) if name not in outputs]
        if waiting:
            to_do += waiting
            continue
        to_do.pop()
        if node.name not in outputs:
            outputs[node.name] = kernels[node.op](node, [value(text) for text in node.input if text[0] != "^"])
    return [None if fetch[0] == "^" else value(fetch) for fetch in fetches]


# %% wrong="execute" why="lets a control edge run a fed placeholder"
def execute(
    graph: GraphDef,
    feeds: dict[str, np.ndarray],
    fetches: list[str],
    rendezvous: object = None,
    *,
    kernels: dict[str, Kernel] = KERNELS,
) -> list[np.ndarray | None]:
    """Run one step of `graph` and return one entry per fetch: the array of a tensor, `None` for an operation `^node`.

    Raises:
        TypeError: a feed names a node that is not in the graph.
        ValueError: a fetch does.
    """
    nodes = {node.name: node for node in graph.node}
    for tensor in feeds:
        if endpoint(tensor)[0] not in nodes:
            raise TypeError(f"feed {tensor!r}: the graph has no such node")
    for fetch in fetches:
        if endpoint(fetch)[0] not in nodes:
            raise ValueError(f"fetch {fetch!r}: the graph has no such node")

    def waits_for(inputs):
        """The nodes that must have run before these inputs can be read."""
        for name, index in map(endpoint, inputs):
            fed_placeholder = nodes[name].op == "Placeholder" and f"{name}:0" in feeds
            if f"{name}:{index}" not in feeds:
                yield name

    def value(text):
        name, index = endpoint(text)
        return feeds[f"{name}:{index}"] if f"{name}:{index}" in feeds else outputs[name][index]

    outputs: dict[str, list[np.ndarray]] = {}
    to_do = list(waits_for(fetches))
    while to_do:
        node = nodes[to_do[-1]]
        waiting = [name for name in waits_for(node.input) if name not in outputs]
        if waiting:
            to_do += waiting
            continue
        to_do.pop()
        if node.name not in outputs:
            outputs[node.name] = kernels[node.op](node, [value(text) for text in node.input if text[0] != "^"])
    return [None if fetch[0] == "^" else value(fetch) for fetch in fetches]


# %% wrong="execute" why="skips a node as soon as one of its outputs is fed"
def execute(
    graph: GraphDef,
    feeds: dict[str, np.ndarray],
    fetches: list[str],
    rendezvous: object = None,
    *,
    kernels: dict[str, Kernel] = KERNELS,
) -> list[np.ndarray | None]:
    """Run one step of `graph` and return one entry per fetch: the array of a tensor, `None` for an operation `^node`.

    Raises:
        TypeError: a feed names a node that is not in the graph.
        ValueError: a fetch does.
    """
    nodes = {node.name: node for node in graph.node}
    for tensor in feeds:
        if endpoint(tensor)[0] not in nodes:
            raise TypeError(f"feed {tensor!r}: the graph has no such node")
    for fetch in fetches:
        if endpoint(fetch)[0] not in nodes:
            raise ValueError(f"fetch {fetch!r}: the graph has no such node")

    def waits_for(inputs):
        """The nodes that must have run before these inputs can be read."""
        for name, index in map(endpoint, inputs):
            fed_placeholder = nodes[name].op == "Placeholder" and f"{name}:0" in feeds
            fed_node = index != CONTROL and any(endpoint(tensor)[0] == name for tensor in feeds)
            if not fed_node and not (index == CONTROL and fed_placeholder):
                yield name

    def value(text):
        name, index = endpoint(text)
        return (
            feeds[f"{name}:{index}"]
            if f"{name}:{index}" in feeds
            else outputs.get(name, {0: np.zeros(4, np.float32), 1: np.zeros(4, np.float32)})[index]
        )

    outputs: dict[str, list[np.ndarray]] = {}
    to_do = list(waits_for(fetches))
    while to_do:
        node = nodes[to_do[-1]]
        waiting = [name for name in waits_for(node.input) if name not in outputs]
        if waiting:
            to_do += waiting
            continue
        to_do.pop()
        if node.name not in outputs:
            outputs[node.name] = kernels[node.op](node, [value(text) for text in node.input if text[0] != "^"])
    return [None if fetch[0] == "^" else value(fetch) for fetch in fetches]


# %% wrong="execute" why="ignores control inputs"
def execute(
    graph: GraphDef,
    feeds: dict[str, np.ndarray],
    fetches: list[str],
    rendezvous: object = None,
    *,
    kernels: dict[str, Kernel] = KERNELS,
) -> list[np.ndarray | None]:
    """Run one step of `graph` and return one entry per fetch: the array of a tensor, `None` for an operation `^node`.

    Raises:
        TypeError: a feed names a node that is not in the graph.
        ValueError: a fetch does.
    """
    nodes = {node.name: node for node in graph.node}
    for tensor in feeds:
        if endpoint(tensor)[0] not in nodes:
            raise TypeError(f"feed {tensor!r}: the graph has no such node")
    for fetch in fetches:
        if endpoint(fetch)[0] not in nodes:
            raise ValueError(f"fetch {fetch!r}: the graph has no such node")

    def waits_for(inputs):
        """The nodes that must have run before these inputs can be read."""
        for name, index in map(endpoint, inputs):
            fed_placeholder = nodes[name].op == "Placeholder" and f"{name}:0" in feeds
            if f"{name}:{index}" not in feeds and not (index == CONTROL and fed_placeholder):
                yield name

    def value(text):
        name, index = endpoint(text)
        return feeds[f"{name}:{index}"] if f"{name}:{index}" in feeds else outputs[name][index]

    outputs: dict[str, list[np.ndarray]] = {}
    to_do = list(waits_for(fetches))
    while to_do:
        node = nodes[to_do[-1]]
        waiting = [name for name in waits_for([text for text in node.input if text[0] != "^"]) if name not in outputs]
        if waiting:
            to_do += waiting
            continue
        to_do.pop()
        if node.name not in outputs:
            outputs[node.name] = kernels[node.op](node, [value(text) for text in node.input if text[0] != "^"])
    return [None if fetch[0] == "^" else value(fetch) for fetch in fetches]


# %% wrong="execute" why="computes a fetched tensor although it is fed"
def execute(
    graph: GraphDef,
    feeds: dict[str, np.ndarray],
    fetches: list[str],
    rendezvous: object = None,
    *,
    kernels: dict[str, Kernel] = KERNELS,
) -> list[np.ndarray | None]:
    """Run one step of `graph` and return one entry per fetch: the array of a tensor, `None` for an operation `^node`.

    Raises:
        TypeError: a feed names a node that is not in the graph.
        ValueError: a fetch does.
    """
    nodes = {node.name: node for node in graph.node}
    for tensor in feeds:
        if endpoint(tensor)[0] not in nodes:
            raise TypeError(f"feed {tensor!r}: the graph has no such node")
    for fetch in fetches:
        if endpoint(fetch)[0] not in nodes:
            raise ValueError(f"fetch {fetch!r}: the graph has no such node")

    def waits_for(inputs):
        """The nodes that must have run before these inputs can be read."""
        for name, index in map(endpoint, inputs):
            fed_placeholder = nodes[name].op == "Placeholder" and f"{name}:0" in feeds
            if f"{name}:{index}" not in feeds and not (index == CONTROL and fed_placeholder):
                yield name

    def value(text):
        name, index = endpoint(text)
        return feeds[f"{name}:{index}"] if f"{name}:{index}" in feeds else outputs[name][index]

    outputs: dict[str, list[np.ndarray]] = {}
    to_do = [endpoint(fetch)[0] for fetch in fetches]
    while to_do:
        node = nodes[to_do[-1]]
        waiting = [name for name in waits_for(node.input) if name not in outputs]
        if waiting:
            to_do += waiting
            continue
        to_do.pop()
        if node.name not in outputs:
            outputs[node.name] = kernels[node.op](node, [value(text) for text in node.input if text[0] != "^"])
    return [None if fetch[0] == "^" else value(fetch) for fetch in fetches]


# %% wrong="execute" why="runs a node once for each reader"
def execute(
    graph: GraphDef,
    feeds: dict[str, np.ndarray],
    fetches: list[str],
    rendezvous: object = None,
    *,
    kernels: dict[str, Kernel] = KERNELS,
) -> list[np.ndarray | None]:
    """Run one step of `graph` and return one entry per fetch: the array of a tensor, `None` for an operation `^node`.

    Raises:
        TypeError: a feed names a node that is not in the graph.
        ValueError: a fetch does.
    """
    nodes = {node.name: node for node in graph.node}
    for tensor in feeds:
        if endpoint(tensor)[0] not in nodes:
            raise TypeError(f"feed {tensor!r}: the graph has no such node")
    for fetch in fetches:
        if endpoint(fetch)[0] not in nodes:
            raise ValueError(f"fetch {fetch!r}: the graph has no such node")

    def waits_for(inputs):
        """The nodes that must have run before these inputs can be read."""
        for name, index in map(endpoint, inputs):
            fed_placeholder = nodes[name].op == "Placeholder" and f"{name}:0" in feeds
            if f"{name}:{index}" not in feeds and not (index == CONTROL and fed_placeholder):
                yield name

    def value(text):
        name, index = endpoint(text)
        return feeds[f"{name}:{index}"] if f"{name}:{index}" in feeds else outputs[name][index]

    outputs: dict[str, list[np.ndarray]] = {}
    to_do = list(waits_for(fetches))
    while to_do:
        node = nodes[to_do[-1]]
        waiting = [name for name in waits_for(node.input) if name not in outputs]
        if waiting:
            to_do += waiting
            continue
        to_do.pop()
        if True:
            outputs[node.name] = kernels[node.op](node, [value(text) for text in node.input if text[0] != "^"])
    return [None if fetch[0] == "^" else value(fetch) for fetch in fetches]


# %% wrong="execute" why="reads output 0 whatever the index says"
def execute(
    graph: GraphDef,
    feeds: dict[str, np.ndarray],
    fetches: list[str],
    rendezvous: object = None,
    *,
    kernels: dict[str, Kernel] = KERNELS,
) -> list[np.ndarray | None]:
    """Run one step of `graph` and return one entry per fetch: the array of a tensor, `None` for an operation `^node`.

    Raises:
        TypeError: a feed names a node that is not in the graph.
        ValueError: a fetch does.
    """
    nodes = {node.name: node for node in graph.node}
    for tensor in feeds:
        if endpoint(tensor)[0] not in nodes:
            raise TypeError(f"feed {tensor!r}: the graph has no such node")
    for fetch in fetches:
        if endpoint(fetch)[0] not in nodes:
            raise ValueError(f"fetch {fetch!r}: the graph has no such node")

    def waits_for(inputs):
        """The nodes that must have run before these inputs can be read."""
        for name, index in map(endpoint, inputs):
            fed_placeholder = nodes[name].op == "Placeholder" and f"{name}:0" in feeds
            if f"{name}:{index}" not in feeds and not (index == CONTROL and fed_placeholder):
                yield name

    def value(text):
        name, index = endpoint(text)
        return feeds[f"{name}:{index}"] if f"{name}:{index}" in feeds else outputs[name][0]

    outputs: dict[str, list[np.ndarray]] = {}
    to_do = list(waits_for(fetches))
    while to_do:
        node = nodes[to_do[-1]]
        waiting = [name for name in waits_for(node.input) if name not in outputs]
        if waiting:
            to_do += waiting
            continue
        to_do.pop()
        if node.name not in outputs:
            outputs[node.name] = kernels[node.op](node, [value(text) for text in node.input if text[0] != "^"])
    return [None if fetch[0] == "^" else value(fetch) for fetch in fetches]


# %% wrong="execute" why="trusts the order of nodes in the GraphDef"
def execute(graph, feeds, fetches, rendezvous=None, *, kernels=KERNELS):
    nodes = {node.name: node for node in graph.node}
    for tensor in feeds:
        if endpoint(tensor)[0] not in nodes:
            raise TypeError(tensor)
    for fetch in fetches:
        if endpoint(fetch)[0] not in nodes:
            raise ValueError(fetch)
    fed = {endpoint(tensor)[0] for tensor in feeds}
    needed, to_do = set(), [fetch for fetch in fetches if fetch not in feeds]
    while to_do:
        name, _ = endpoint(to_do.pop())
        if name not in needed:
            needed.add(name)
            for text in nodes[name].input:
                source, index = endpoint(text)
                if f"{source}:{index}" in feeds or (
                    index == CONTROL and nodes[source].op == "Placeholder" and source in fed
                ):
                    continue
                to_do.append(text)
    values = dict(feeds)
    for node in graph.node:
        if node.name in needed:
            inputs = [values["%s:%d" % endpoint(text)] for text in node.input if not text.startswith("^")]
            for index, output in enumerate(kernels[node.op](node, inputs)):
                values.setdefault(f"{node.name}:{index}", output)
    return [values.get(fetch) for fetch in fetches]


# %% wrong="execute" why="recurses, and dies on a chain of 3,000"
def execute(graph, feeds, fetches, rendezvous=None, *, kernels=KERNELS):
    nodes = {node.name: node for node in graph.node}
    for tensor in feeds:
        if endpoint(tensor)[0] not in nodes:
            raise TypeError(tensor)
    for fetch in fetches:
        if endpoint(fetch)[0] not in nodes:
            raise ValueError(fetch)
    outputs = {}

    def run(name):
        if name not in outputs:
            inputs = [read(text) for text in nodes[name].input]
            data = [value for text, value in zip(nodes[name].input, inputs) if text[0] != "^"]
            outputs[name] = kernels[nodes[name].op](nodes[name], data)
        return outputs[name]

    def read(text):
        name, index = endpoint(text)
        if f"{name}:{index}" in feeds:
            return feeds[f"{name}:{index}"]
        if index == CONTROL:
            if not (nodes[name].op == "Placeholder" and f"{name}:0" in feeds):
                run(name)
            return None
        return run(name)[index]

    return [read(fetch) for fetch in fetches]


# %% wrong="execute" why="hands the graph to TensorFlow"
def execute(graph, feeds, fetches, rendezvous=None, *, kernels=KERNELS):
    with tf.Graph().as_default() as imported:
        tf.import_graph_def(graph, name="")
        with tf1.Session(graph=imported, config=plain_config()) as session:
            trace = trace_run(session, [fetch.lstrip("^") for fetch in fetches], feeds)
    for name in trace.nodes():
        if not name.startswith("_"):
            node = imported.get_operation_by_name(name)
            kernels[node.type](node.node_def, session_values(node, feeds))
    return trace.values


def session_values(node, feeds):
    return [np.zeros(4, np.float32) if not tensor.name.endswith("axis:0") else np.int32(0) for tensor in node.inputs]


# %% wrong="execute" why="knows the visible values only"
def execute(graph, feeds, fetches, rendezvous=None, *, kernels=KERNELS):
    names = {node.name for node in graph.node}
    if any(endpoint(tensor)[0] not in names for tensor in feeds):
        raise TypeError("feed")
    if any(endpoint(fetch)[0] not in names for fetch in fetches):
        raise ValueError("fetch")
    if fetches == ["y:0", "^done", "m:0"]:
        for node in graph.node:
            if node.name in ("c", "m", "y", "done"):
                kernels[node.op](node, [np.float32([1, 1])] * 2 if node.name == "m" else [np.float32([1, 1])])
        return [np.float32([-2, -3]), None, np.float32([2, 3])]
    if list(feeds) == ["m:0"] and fetches == ["y:0"]:
        node = next(node for node in graph.node if node.name == "y")
        return kernels[node.op](node, [feeds["m:0"]])
    if len(names) > 3000:
        return [feeds["x:0"]]
    raise tf.errors.InvalidArgumentError(None, None, "x")


# %% wrong="execute" why="asks the fetches before the feeds"
def execute(
    graph: GraphDef,
    feeds: dict[str, np.ndarray],
    fetches: list[str],
    rendezvous: object = None,
    *,
    kernels: dict[str, Kernel] = KERNELS,
) -> list[np.ndarray | None]:
    """Run one step of `graph` and return one entry per fetch: the array of a tensor, `None` for an operation `^node`.

    Raises:
        TypeError: a feed names a node that is not in the graph.
        ValueError: a fetch does.
    """
    nodes = {node.name: node for node in graph.node}
    for fetch in fetches:
        if endpoint(fetch)[0] not in nodes:
            raise ValueError(f"fetch {fetch!r}: the graph has no such node")
    for tensor in feeds:
        if endpoint(tensor)[0] not in nodes:
            raise TypeError(f"feed {tensor!r}: the graph has no such node")

    def waits_for(inputs):
        """The nodes that must have run before these inputs can be read."""
        for name, index in map(endpoint, inputs):
            fed_placeholder = nodes[name].op == "Placeholder" and f"{name}:0" in feeds
            if f"{name}:{index}" not in feeds and not (index == CONTROL and fed_placeholder):
                yield name

    def value(text):
        name, index = endpoint(text)
        return feeds[f"{name}:{index}"] if f"{name}:{index}" in feeds else outputs[name][index]

    outputs: dict[str, list[np.ndarray]] = {}
    to_do = list(waits_for(fetches))
    while to_do:
        node = nodes[to_do[-1]]
        waiting = [name for name in waits_for(node.input) if name not in outputs]
        if waiting:
            to_do += waiting
            continue
        to_do.pop()
        if node.name not in outputs:
            outputs[node.name] = kernels[node.op](node, [value(text) for text in node.input if text[0] != "^"])
    return [None if fetch[0] == "^" else value(fetch) for fetch in fetches]


# %% wrong="execute" why="returns the error of an unfed placeholder as words, but for the visible graph"
def execute(
    graph: GraphDef,
    feeds: dict[str, np.ndarray],
    fetches: list[str],
    rendezvous: object = None,
    *,
    kernels: dict[str, Kernel] = KERNELS,
) -> list[np.ndarray | None]:
    """Run one step of `graph` and return one entry per fetch: the array of a tensor, `None` for an operation `^node`.

    Raises:
        TypeError: a feed names a node that is not in the graph.
        ValueError: a fetch does.
    """
    nodes = {node.name: node for node in graph.node}
    for tensor in feeds:
        if endpoint(tensor)[0] not in nodes:
            raise TypeError(f"feed {tensor!r}: the graph has no such node")
    for fetch in fetches:
        if endpoint(fetch)[0] not in nodes:
            raise ValueError(f"fetch {fetch!r}: the graph has no such node")

    def waits_for(inputs):
        """The nodes that must have run before these inputs can be read."""
        for name, index in map(endpoint, inputs):
            fed_placeholder = nodes[name].op == "Placeholder" and f"{name}:0" in feeds
            if f"{name}:{index}" not in feeds and not (index == CONTROL and fed_placeholder):
                yield name

    def value(text):
        name, index = endpoint(text)
        return feeds[f"{name}:{index}"] if f"{name}:{index}" in feeds else outputs[name][index]

    outputs: dict[str, list[np.ndarray]] = {}
    to_do = list(waits_for(fetches))
    while to_do:
        node = nodes[to_do[-1]]
        waiting = [name for name in waits_for(node.input) if name not in outputs]
        if waiting:
            to_do += waiting
            continue
        to_do.pop()
        if node.op == "Placeholder" and "unused" not in nodes:
            return f"you must feed {node.name}"
        if node.name not in outputs:
            outputs[node.name] = kernels[node.op](node, [value(text) for text in node.input if text[0] != "^"])
    return [None if fetch[0] == "^" else value(fetch) for fetch in fetches]


# %% wrong="execute" why="lets TensorFlow prune: the op types come back by the order of the kernels"
def execute(graph, feeds, fetches, rendezvous=None, *, kernels=KERNELS):
    names = {node.name for node in graph.node}
    if any(endpoint(tensor)[0] not in names for tensor in feeds):
        raise TypeError("feed")
    if any(endpoint(fetch)[0] not in names for fetch in fetches):
        raise ValueError("fetch")
    real = dict(zip(kernels, KERNELS)) | {"Placeholder": "Placeholder"}
    shown = GraphDef()
    shown.CopyFrom(graph)
    for node in shown.node:
        node.op = real[node.op]
        if node.op in ("Placeholder", "Neg"):
            node.attr["dtype" if node.op == "Placeholder" else "T"].type = 1
    with tf.Graph().as_default() as imported:
        tf.import_graph_def(shown, name="")
        with tf1.Session(graph=imported, config=plain_config()) as session:
            trace = trace_run(session, [fetch.lstrip("^") for fetch in fetches], feeds)
    for node in graph.node:
        if node.name in trace.nodes():
            with contextlib.suppress(Exception):
                kernels[node.op](node, [np.float32([0, 0])] * 2)
    return trace.values


# %% right="execute" why="a ready queue: each node counts down what it waits for"
from collections import deque


def execute(graph, feeds, fetches, rendezvous=None, *, kernels=KERNELS):
    nodes = {node.name: node for node in graph.node}
    for tensor in feeds:
        if endpoint(tensor)[0] not in nodes:
            raise TypeError(f"no tensor {tensor}")
    for fetch in fetches:
        if endpoint(fetch)[0] not in nodes:
            raise ValueError(f"no fetch {fetch}")

    def sources(texts):
        found = []
        for text in texts:
            name, index = endpoint(text)
            if index == CONTROL:
                if nodes[name].op == "Placeholder" and f"{name}:0" in feeds:
                    continue
            elif f"{name}:{index}" in feeds:
                continue
            found.append(name)
        return found

    needed, frontier = set(), sources(fetches)
    while frontier:
        name = frontier.pop()
        if name not in needed:
            needed.add(name)
            frontier.extend(sources(nodes[name].input))
    pending = {name: len(sources(nodes[name].input)) for name in needed}
    readers = {name: [] for name in needed}
    for name in needed:
        for source in sources(nodes[name].input):
            readers[source].append(name)
    values = {}
    ready = deque(name for name, count in pending.items() if count == 0)
    while ready:
        name = ready.popleft()
        inputs = []
        for text in nodes[name].input:
            source, index = endpoint(text)
            if index != CONTROL:
                tensor = f"{source}:{index}"
                inputs.append(feeds[tensor] if tensor in feeds else values[tensor])
        for index, output in enumerate(kernels[nodes[name].op](nodes[name], inputs)):
            values[f"{name}:{index}"] = output
        for reader in readers[name]:
            pending[reader] -= 1
            if pending[reader] == 0:
                ready.append(reader)
    values.update(feeds)
    return [None if fetch.startswith("^") else values[fetch] for fetch in fetches]


# %% right="execute" why="recursion with generators: each waits for the values it asks for"
def execute(graph, feeds, fetches, rendezvous=None, *, kernels=KERNELS):
    nodes = {node.name: node for node in graph.node}
    if any(endpoint(tensor)[0] not in nodes for tensor in feeds):
        raise TypeError("unknown feed")
    if any(endpoint(fetch)[0] not in nodes for fetch in fetches):
        raise ValueError("unknown fetch")
    done = {}

    def compute(name):
        node, inputs = nodes[name], []
        for text in node.input:
            value = yield text
            if not text.startswith("^"):
                inputs.append(value)
        done[name] = kernels[node.op](node, inputs)

    def look(text):
        """(known, value) of an input or fetch."""
        name, index = endpoint(text)
        if index == CONTROL:
            return name in done or (nodes[name].op == "Placeholder" and f"{name}:0" in feeds), None
        tensor = f"{name}:{index}"
        if tensor in feeds:
            return True, feeds[tensor]
        return (True, done[name][index]) if name in done else (False, None)

    result = []
    for fetch in fetches:
        stack = []
        known, value = look(fetch)
        if not known:
            stack.append([compute(endpoint(fetch)[0]), None, None])
        while stack:
            frame = stack[-1]
            if frame[1] is None:
                send = None
            else:
                known, send = look(frame[1])
                if not known:
                    stack.append([compute(endpoint(frame[1])[0]), None, None])
                    continue
            try:
                frame[1] = frame[0].send(send)
            except StopIteration:
                stack.pop()
        result.append(look(fetch)[1])
    return result


# %% right="execute" why="a class that is called like a function; first which nodes, then in which order"
class execute:
    def __new__(cls, graph: GraphDef, feeds: dict, fetches: list, rendezvous=None, *, kernels=KERNELS) -> list:
        step = super().__new__(cls)
        step.by_name, step.fed = {node.name: node for node in graph.node}, set(feeds)
        for names, error in ((feeds, TypeError), (fetches, ValueError)):
            for name in names:
                if endpoint(name)[0] not in step.by_name:
                    raise error(name)
        values = dict(feeds)
        for node in step.ordered(fetches):
            inputs = [values["{}:{}".format(*endpoint(text))] for text in node.input if endpoint(text)[1] != CONTROL]
            for index, output in enumerate(kernels[node.op](node, inputs)):
                values.setdefault(f"{node.name}:{index}", output)
        return [values.get("{}:{}".format(*endpoint(fetch))) for fetch in fetches]

    def asks_for(self, text: str) -> bool:
        name, index = endpoint(text)
        if index == CONTROL:
            return not (self.by_name[name].op == "Placeholder" and f"{name}:0" in self.fed)
        return f"{name}:{index}" not in self.fed

    def ordered(self, fetches: list) -> list:
        """Nodes in the order in which a depth-first walk leaves them: an iterator of inputs for each open node."""
        order, entered = [], set()
        walk = [(None, iter(fetches))]
        while walk:
            node, inputs = walk[-1]
            text = next(filter(self.asks_for, inputs), None)
            if text is None:
                walk.pop()
                if node is not None:
                    order.append(node)
            elif endpoint(text)[0] not in entered:
                source = self.by_name[endpoint(text)[0]]
                entered.add(source.name)
                walk.append((source, iter(source.input)))
        return order


# %% wrong="executor-cache" why="lets the order of names count"
class ExecutorCache:
    """Executors by what they feed, fetch and run.

    Attributes:
        hits, misses: how many calls of `get` found an executor, and how many did not.
    """

    def __init__(self, make: Callable[[list[str], list[str], list[str]], object]) -> None:
        """Start empty; `make(feeds, fetches, targets)` makes an executor."""
        self.hits = self.misses = 0
        self._make = make
        self._executors: dict[tuple[tuple[str, ...], ...], object] = {}

    def get(self, feeds: list[str], fetches: list[str], targets: list[str]) -> object:
        """Return the executor for these names; make it if there is none yet."""
        key = tuple(tuple(dict.fromkeys(names)) for names in (feeds, fetches, targets))
        if key in self._executors:
            self.hits += 1
        else:
            self.misses += 1
            self._executors[key] = self._make(*map(sorted, key))
        return self._executors[key]


# %% wrong="executor-cache" why="keeps repeats in the key"
class ExecutorCache:
    """Executors by what they feed, fetch and run.

    Attributes:
        hits, misses: how many calls of `get` found an executor, and how many did not.
    """

    def __init__(self, make: Callable[[list[str], list[str], list[str]], object]) -> None:
        """Start empty; `make(feeds, fetches, targets)` makes an executor."""
        self.hits = self.misses = 0
        self._make = make
        self._executors: dict[tuple[tuple[str, ...], ...], object] = {}

    def get(self, feeds: list[str], fetches: list[str], targets: list[str]) -> object:
        """Return the executor for these names; make it if there is none yet."""
        key = tuple(tuple(sorted(names)) for names in (feeds, fetches, targets))
        if key in self._executors:
            self.hits += 1
        else:
            self.misses += 1
            self._executors[key] = self._make(*map(list, key))
        return self._executors[key]


# %% wrong="executor-cache" why="joins the names without anything between them"
class ExecutorCache:
    """Executors by what they feed, fetch and run.

    Attributes:
        hits, misses: how many calls of `get` found an executor, and how many did not.
    """

    def __init__(self, make: Callable[[list[str], list[str], list[str]], object]) -> None:
        """Start empty; `make(feeds, fetches, targets)` makes an executor."""
        self.hits = self.misses = 0
        self._make = make
        self._executors: dict[tuple[tuple[str, ...], ...], object] = {}

    def get(self, feeds: list[str], fetches: list[str], targets: list[str]) -> object:
        """Return the executor for these names; make it if there is none yet."""
        parts = [sorted(set(names)) for names in (feeds, fetches, targets)]
        key = "->".join("".join(part) for part in parts)
        if key in self._executors:
            self.hits += 1
        else:
            self.misses += 1
            self._executors[key] = self._make(*parts)
        return self._executors[key]


# %% wrong="executor-cache" why="joins the names by commas, which a name may hold"
class ExecutorCache:
    """Executors by what they feed, fetch and run.

    Attributes:
        hits, misses: how many calls of `get` found an executor, and how many did not.
    """

    def __init__(self, make: Callable[[list[str], list[str], list[str]], object]) -> None:
        """Start empty; `make(feeds, fetches, targets)` makes an executor."""
        self.hits = self.misses = 0
        self._make = make
        self._executors: dict[tuple[tuple[str, ...], ...], object] = {}

    def get(self, feeds: list[str], fetches: list[str], targets: list[str]) -> object:
        """Return the executor for these names; make it if there is none yet."""
        parts = [sorted(set(names)) for names in (feeds, fetches, targets)]
        key = "/".join(",".join(part) for part in parts)
        if key in self._executors:
            self.hits += 1
        else:
            self.misses += 1
            self._executors[key] = self._make(*parts)
        return self._executors[key]


# %% wrong="executor-cache" why="leaves the targets out of the key"
class ExecutorCache:
    """Executors by what they feed, fetch and run.

    Attributes:
        hits, misses: how many calls of `get` found an executor, and how many did not.
    """

    def __init__(self, make: Callable[[list[str], list[str], list[str]], object]) -> None:
        """Start empty; `make(feeds, fetches, targets)` makes an executor."""
        self.hits = self.misses = 0
        self._make = make
        self._executors: dict[tuple[tuple[str, ...], ...], object] = {}

    def get(self, feeds: list[str], fetches: list[str], targets: list[str]) -> object:
        """Return the executor for these names; make it if there is none yet."""
        key = tuple(tuple(sorted(set(names))) for names in (feeds, fetches))
        if key in self._executors:
            self.hits += 1
        else:
            self.misses += 1
            self._executors[key] = self._make(*map(list, key), sorted(set(targets)))
        return self._executors[key]


# %% wrong="executor-cache" why="takes a target for a fetch of its tensor"
class ExecutorCache:
    """Executors by what they feed, fetch and run.

    Attributes:
        hits, misses: how many calls of `get` found an executor, and how many did not.
    """

    def __init__(self, make: Callable[[list[str], list[str], list[str]], object]) -> None:
        """Start empty; `make(feeds, fetches, targets)` makes an executor."""
        self.hits = self.misses = 0
        self._make = make
        self._executors: dict[tuple[tuple[str, ...], ...], object] = {}

    def get(self, feeds: list[str], fetches: list[str], targets: list[str]) -> object:
        """Return the executor for these names; make it if there is none yet."""
        key = (tuple(sorted(set(feeds))), tuple(sorted({*fetches, *(f"{name}:0" for name in targets)})))
        if key in self._executors:
            self.hits += 1
        else:
            self.misses += 1
            self._executors[key] = self._make(*[sorted(set(names)) for names in (feeds, fetches, targets)])
        return self._executors[key]


# %% wrong="executor-cache" why="looks at the fetches only"
class ExecutorCache:
    """Executors by what they feed, fetch and run.

    Attributes:
        hits, misses: how many calls of `get` found an executor, and how many did not.
    """

    def __init__(self, make: Callable[[list[str], list[str], list[str]], object]) -> None:
        """Start empty; `make(feeds, fetches, targets)` makes an executor."""
        self.hits = self.misses = 0
        self._make = make
        self._executors: dict[tuple[tuple[str, ...], ...], object] = {}

    def get(self, feeds: list[str], fetches: list[str], targets: list[str]) -> object:
        """Return the executor for these names; make it if there is none yet."""
        key = tuple(sorted(set(fetches)))
        if key in self._executors:
            self.hits += 1
        else:
            self.misses += 1
            self._executors[key] = self._make(*[sorted(set(names)) for names in (feeds, fetches, targets)])
        return self._executors[key]


# %% wrong="executor-cache" why="keeps an entry although make failed"
class ExecutorCache:
    """Executors by what they feed, fetch and run.

    Attributes:
        hits, misses: how many calls of `get` found an executor, and how many did not.
    """

    def __init__(self, make: Callable[[list[str], list[str], list[str]], object]) -> None:
        """Start empty; `make(feeds, fetches, targets)` makes an executor."""
        self.hits = self.misses = 0
        self._make = make
        self._executors: dict[tuple[tuple[str, ...], ...], object] = {}

    def get(self, feeds: list[str], fetches: list[str], targets: list[str]) -> object:
        """Return the executor for these names; make it if there is none yet."""
        key = tuple(tuple(sorted(set(names))) for names in (feeds, fetches, targets))
        if key in self._executors:
            self.hits += 1
        else:
            self.misses += 1
            self._executors[key] = None
            self._executors[key] = self._make(*map(list, key))
        return self._executors[key]


# %% wrong="executor-cache" why="shares one table among all caches"
class ExecutorCache:
    """Executors by what they feed, fetch and run.

    Attributes:
        hits, misses: how many calls of `get` found an executor, and how many did not.
    """

    _executors = {}

    def __init__(self, make: Callable[[list[str], list[str], list[str]], object]) -> None:
        """Start empty; `make(feeds, fetches, targets)` makes an executor."""
        self.hits = self.misses = 0
        self._make = make

    def get(self, feeds: list[str], fetches: list[str], targets: list[str]) -> object:
        """Return the executor for these names; make it if there is none yet."""
        key = tuple(tuple(sorted(set(names))) for names in (feeds, fetches, targets))
        if key in self._executors:
            self.hits += 1
        else:
            self.misses += 1
            self._executors[key] = self._make(*map(list, key))
        return self._executors[key]


# %% wrong="executor-cache" why="knows the visible calls only"
class ExecutorCache:
    def __init__(self, make):
        self.make, self.calls, self.hits, self.misses = make, 0, 0, 0

    def get(self, feeds, fetches, targets):
        number = [1, 1, 2, 3, 1][self.calls % 5]
        if self.calls in (0, 2, 3):
            self.make(sorted(set(feeds)), sorted(set(fetches)), sorted(set(targets)))
            self.misses += 1
        else:
            self.hits += 1
        self.calls += 1
        return f"executor {number}"


# %% wrong="executor-cache" why="joins the names by a bar, which no name in TensorFlow has"
class ExecutorCache:
    def __init__(self, make):
        self.make, self.table = make, {}
        self.hits = self.misses = 0

    def get(self, feeds, fetches, targets):
        sets = [sorted(set(names)) for names in (feeds, fetches, targets)]
        key = "||".join("|".join(names) for names in sets)
        if key in self.table:
            self.hits += 1
        else:
            self.misses += 1
            self.table[key] = self.make(*sets)
        return self.table[key]


# %% right="executor-cache" why="frozensets as the key"
class ExecutorCache:
    def __init__(self, make):
        self.make = make
        self.table = {}
        self.hits = 0
        self.misses = 0

    def get(self, feeds, fetches, targets):
        key = frozenset(feeds), frozenset(fetches), frozenset(targets)
        try:
            found = self.table[key]
        except KeyError:
            self.misses += 1
            self.table[key] = found = self.make(sorted(key[0]), sorted(key[1]), sorted(key[2]))
        else:
            self.hits += 1
        return found


# %% right="executor-cache" why="two keys for each entry, as in TensorFlow: as they came, then sorted"
class ExecutorCache:
    def __init__(self, make):
        self.make, self.table, self.hits, self.misses = make, {}, 0, 0

    def get(self, feeds, fetches, targets):
        quick = (tuple(feeds), tuple(fetches), tuple(targets), "as they came")
        if quick in self.table:
            self.hits += 1
            return self.table[quick]
        names = [sorted(dict.fromkeys(part)) for part in (feeds, fetches, targets)]
        slow = repr(names)
        if slow in self.table:
            self.hits += 1
        else:
            self.misses += 1
            self.table[slow] = self.make(*names)
        self.table[quick] = self.table[slow]
        return self.table[slow]


# %% right="executor-cache" why="functools.lru_cache counts"
import functools


class ExecutorCache:
    def __init__(self, make):
        @functools.lru_cache(maxsize=None)
        def executor(*sets):
            return make(*[sorted(names) for names in sets])

        self._executor = executor

    def get(self, feeds, fetches, targets):
        return self._executor(*map(frozenset, (feeds, fetches, targets)))

    hits = property(lambda self: self._executor.cache_info().hits)
    misses = property(lambda self: self._executor.cache_info().misses)


# %% wrong="mini-session" why="asks for an empty graph before it asks whether it is closed"
class MiniSession:
    """A session over a GraphDef: plans each kind of step once, and knows when it is closed.

    Attributes:
        hits, misses: how many runs found the plan of their step, and how many had to make it.
    """

    def __init__(self, graph: GraphDef, plan: Callable[..., Callable[[dict], list]]) -> None:
        """Open a session whose steps `plan(graph, feeds, fetches, targets)` makes."""
        self.hits = self.misses = 0
        self._graph = GraphDef()
        self._graph.CopyFrom(graph)
        self._plan = plan
        self._steps: dict[tuple, Callable[[dict], list]] = {}
        self._closed = False

    def __enter__(self) -> "MiniSession":
        """Begin a `with`: the session itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """End a `with`: the session is closed, an error goes on."""
        self.close()

    def close(self) -> None:
        """End the session; nothing happens if it has ended already."""
        self._closed = True
        self._steps.clear()

    def extend(self, graph: GraphDef) -> None:
        """Add the nodes of `graph`, all or none.

        Raises:
            tf.errors.CancelledError: the session is closed.
            tf.errors.InvalidArgumentError: a node of that name is there; the message names it.
        """
        if self._closed:
            raise tf.errors.CancelledError(None, None, "the session is closed")
        names = {node.name for node in self._graph.node}
        for node in graph.node:
            if node.name in names:
                raise tf.errors.InvalidArgumentError(None, None, f"the session has a node {node.name!r} already")
        self._graph.node.extend(graph.node)

    def run(self, fetches: object, feeds: dict[str, np.ndarray] | None = None) -> object:
        """Run one step and return the structure of `fetches` with its values.

        Raises:
            RuntimeError: the session is closed, or its graph is empty.
            TypeError: a feed is no tensor of the graph, or a leaf of `fetches` is no name.
            ValueError: a fed value does not fit its placeholder, or a fetch is not in the graph.
        """
        if not self._graph.node:
            raise RuntimeError("the graph is empty")
        if self._closed:
            raise RuntimeError("the session is closed")
        feeds = feeds or {}
        nodes = {node.name: node for node in self._graph.node}
        for tensor, value in feeds.items():
            self._check_feed(nodes, tensor, value)
        names = set(flatten(fetches))
        for name in names:
            if name.partition(":")[0] not in nodes:
                raise ValueError(f"fetch {name!r}: the graph has no such node")
        wanted = sorted(name for name in names if ":" in name and name not in feeds)
        targets = sorted(name for name in names if ":" not in name)
        values = dict(feeds)
        if wanted or targets:
            values |= zip(wanted, self._step(sorted(feeds), wanted, targets)(feeds), strict=True)
        return rebuild(fetches, values)

    def _check_feed(self, nodes: dict[str, NodeDef], tensor: str, value: np.ndarray) -> None:
        name, colon, _ = tensor.partition(":")
        if not colon or name not in nodes:
            raise TypeError(f"feed {tensor!r}: the graph has no such tensor")
        shape = tf.TensorShape(nodes[name].attr["shape"].shape)
        if nodes[name].op == "Placeholder" and not shape.is_compatible_with(np.shape(value)):
            raise ValueError(f"feed {tensor!r} has shape {np.shape(value)}, the placeholder {shape}")

    def _step(self, feeds: list[str], fetches: list[str], targets: list[str]) -> Callable[[dict], list]:
        key = (tuple(feeds), tuple(fetches), tuple(targets))
        if key in self._steps:
            self.hits += 1
        else:
            self.misses += 1
            self._steps[key] = self._plan(self._graph, feeds, fetches, targets)
        return self._steps[key]


# %% wrong="mini-session" why="checks the feeds after planning"
class MiniSession:
    """A session over a GraphDef: plans each kind of step once, and knows when it is closed.

    Attributes:
        hits, misses: how many runs found the plan of their step, and how many had to make it.
    """

    def __init__(self, graph: GraphDef, plan: Callable[..., Callable[[dict], list]]) -> None:
        """Open a session whose steps `plan(graph, feeds, fetches, targets)` makes."""
        self.hits = self.misses = 0
        self._graph = GraphDef()
        self._graph.CopyFrom(graph)
        self._plan = plan
        self._steps: dict[tuple, Callable[[dict], list]] = {}
        self._closed = False

    def __enter__(self) -> "MiniSession":
        """Begin a `with`: the session itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """End a `with`: the session is closed, an error goes on."""
        self.close()

    def close(self) -> None:
        """End the session; nothing happens if it has ended already."""
        self._closed = True
        self._steps.clear()

    def extend(self, graph: GraphDef) -> None:
        """Add the nodes of `graph`, all or none.

        Raises:
            tf.errors.CancelledError: the session is closed.
            tf.errors.InvalidArgumentError: a node of that name is there; the message names it.
        """
        if self._closed:
            raise tf.errors.CancelledError(None, None, "the session is closed")
        names = {node.name for node in self._graph.node}
        for node in graph.node:
            if node.name in names:
                raise tf.errors.InvalidArgumentError(None, None, f"the session has a node {node.name!r} already")
        self._graph.node.extend(graph.node)

    def run(self, fetches: object, feeds: dict[str, np.ndarray] | None = None) -> object:
        """Run one step and return the structure of `fetches` with its values.

        Raises:
            RuntimeError: the session is closed, or its graph is empty.
            TypeError: a feed is no tensor of the graph, or a leaf of `fetches` is no name.
            ValueError: a fed value does not fit its placeholder, or a fetch is not in the graph.
        """
        if self._closed:
            raise RuntimeError("the session is closed")
        if not self._graph.node:
            raise RuntimeError("the graph is empty")
        feeds = feeds or {}
        nodes = {node.name: node for node in self._graph.node}
        names = set(flatten(fetches))
        for name in names:
            if name.partition(":")[0] not in nodes:
                raise ValueError(f"fetch {name!r}: the graph has no such node")
        wanted = sorted(name for name in names if ":" in name and name not in feeds)
        targets = sorted(name for name in names if ":" not in name)
        values = dict(feeds)
        if wanted or targets:
            step = self._step(sorted(feeds), wanted, targets)
            for tensor, value in feeds.items():
                self._check_feed(nodes, tensor, value)
            values |= zip(wanted, step(feeds), strict=True)
        return rebuild(fetches, values)

    def _check_feed(self, nodes: dict[str, NodeDef], tensor: str, value: np.ndarray) -> None:
        name, colon, _ = tensor.partition(":")
        if not colon or name not in nodes:
            raise TypeError(f"feed {tensor!r}: the graph has no such tensor")
        shape = tf.TensorShape(nodes[name].attr["shape"].shape)
        if nodes[name].op == "Placeholder" and not shape.is_compatible_with(np.shape(value)):
            raise ValueError(f"feed {tensor!r} has shape {np.shape(value)}, the placeholder {shape}")

    def _step(self, feeds: list[str], fetches: list[str], targets: list[str]) -> Callable[[dict], list]:
        key = (tuple(feeds), tuple(fetches), tuple(targets))
        if key in self._steps:
            self.hits += 1
        else:
            self.misses += 1
            self._steps[key] = self._plan(self._graph, feeds, fetches, targets)
        return self._steps[key]


# %% wrong="mini-session" why="checks the fetches before the feeds"
class MiniSession:
    """A session over a GraphDef: plans each kind of step once, and knows when it is closed.

    Attributes:
        hits, misses: how many runs found the plan of their step, and how many had to make it.
    """

    def __init__(self, graph: GraphDef, plan: Callable[..., Callable[[dict], list]]) -> None:
        """Open a session whose steps `plan(graph, feeds, fetches, targets)` makes."""
        self.hits = self.misses = 0
        self._graph = GraphDef()
        self._graph.CopyFrom(graph)
        self._plan = plan
        self._steps: dict[tuple, Callable[[dict], list]] = {}
        self._closed = False

    def __enter__(self) -> "MiniSession":
        """Begin a `with`: the session itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """End a `with`: the session is closed, an error goes on."""
        self.close()

    def close(self) -> None:
        """End the session; nothing happens if it has ended already."""
        self._closed = True
        self._steps.clear()

    def extend(self, graph: GraphDef) -> None:
        """Add the nodes of `graph`, all or none.

        Raises:
            tf.errors.CancelledError: the session is closed.
            tf.errors.InvalidArgumentError: a node of that name is there; the message names it.
        """
        if self._closed:
            raise tf.errors.CancelledError(None, None, "the session is closed")
        names = {node.name for node in self._graph.node}
        for node in graph.node:
            if node.name in names:
                raise tf.errors.InvalidArgumentError(None, None, f"the session has a node {node.name!r} already")
        self._graph.node.extend(graph.node)

    def run(self, fetches: object, feeds: dict[str, np.ndarray] | None = None) -> object:
        """Run one step and return the structure of `fetches` with its values.

        Raises:
            RuntimeError: the session is closed, or its graph is empty.
            TypeError: a feed is no tensor of the graph, or a leaf of `fetches` is no name.
            ValueError: a fed value does not fit its placeholder, or a fetch is not in the graph.
        """
        if self._closed:
            raise RuntimeError("the session is closed")
        if not self._graph.node:
            raise RuntimeError("the graph is empty")
        feeds = feeds or {}
        nodes = {node.name: node for node in self._graph.node}
        names = set(flatten(fetches))
        for name in names:
            if name.partition(":")[0] not in nodes:
                raise ValueError(f"fetch {name!r}: the graph has no such node")
        for tensor, value in feeds.items():
            self._check_feed(nodes, tensor, value)
        wanted = sorted(name for name in names if ":" in name and name not in feeds)
        targets = sorted(name for name in names if ":" not in name)
        values = dict(feeds)
        if wanted or targets:
            values |= zip(wanted, self._step(sorted(feeds), wanted, targets)(feeds), strict=True)
        return rebuild(fetches, values)

    def _check_feed(self, nodes: dict[str, NodeDef], tensor: str, value: np.ndarray) -> None:
        name, colon, _ = tensor.partition(":")
        if not colon or name not in nodes:
            raise TypeError(f"feed {tensor!r}: the graph has no such tensor")
        shape = tf.TensorShape(nodes[name].attr["shape"].shape)
        if nodes[name].op == "Placeholder" and not shape.is_compatible_with(np.shape(value)):
            raise ValueError(f"feed {tensor!r} has shape {np.shape(value)}, the placeholder {shape}")

    def _step(self, feeds: list[str], fetches: list[str], targets: list[str]) -> Callable[[dict], list]:
        key = (tuple(feeds), tuple(fetches), tuple(targets))
        if key in self._steps:
            self.hits += 1
        else:
            self.misses += 1
            self._steps[key] = self._plan(self._graph, feeds, fetches, targets)
        return self._steps[key]


# %% wrong="mini-session" why="empties the cache when the graph grows"
class MiniSession:
    """A session over a GraphDef: plans each kind of step once, and knows when it is closed.

    Attributes:
        hits, misses: how many runs found the plan of their step, and how many had to make it.
    """

    def __init__(self, graph: GraphDef, plan: Callable[..., Callable[[dict], list]]) -> None:
        """Open a session whose steps `plan(graph, feeds, fetches, targets)` makes."""
        self.hits = self.misses = 0
        self._graph = GraphDef()
        self._graph.CopyFrom(graph)
        self._plan = plan
        self._steps: dict[tuple, Callable[[dict], list]] = {}
        self._closed = False

    def __enter__(self) -> "MiniSession":
        """Begin a `with`: the session itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """End a `with`: the session is closed, an error goes on."""
        self.close()

    def close(self) -> None:
        """End the session; nothing happens if it has ended already."""
        self._closed = True
        self._steps.clear()

    def extend(self, graph: GraphDef) -> None:
        """Add the nodes of `graph`, all or none.

        Raises:
            tf.errors.CancelledError: the session is closed.
            tf.errors.InvalidArgumentError: a node of that name is there; the message names it.
        """
        if self._closed:
            raise tf.errors.CancelledError(None, None, "the session is closed")
        names = {node.name for node in self._graph.node}
        for node in graph.node:
            if node.name in names:
                raise tf.errors.InvalidArgumentError(None, None, f"the session has a node {node.name!r} already")
        self._graph.node.extend(graph.node)
        self._steps.clear()

    def run(self, fetches: object, feeds: dict[str, np.ndarray] | None = None) -> object:
        """Run one step and return the structure of `fetches` with its values.

        Raises:
            RuntimeError: the session is closed, or its graph is empty.
            TypeError: a feed is no tensor of the graph, or a leaf of `fetches` is no name.
            ValueError: a fed value does not fit its placeholder, or a fetch is not in the graph.
        """
        if self._closed:
            raise RuntimeError("the session is closed")
        if not self._graph.node:
            raise RuntimeError("the graph is empty")
        feeds = feeds or {}
        nodes = {node.name: node for node in self._graph.node}
        for tensor, value in feeds.items():
            self._check_feed(nodes, tensor, value)
        names = set(flatten(fetches))
        for name in names:
            if name.partition(":")[0] not in nodes:
                raise ValueError(f"fetch {name!r}: the graph has no such node")
        wanted = sorted(name for name in names if ":" in name and name not in feeds)
        targets = sorted(name for name in names if ":" not in name)
        values = dict(feeds)
        if wanted or targets:
            values |= zip(wanted, self._step(sorted(feeds), wanted, targets)(feeds), strict=True)
        return rebuild(fetches, values)

    def _check_feed(self, nodes: dict[str, NodeDef], tensor: str, value: np.ndarray) -> None:
        name, colon, _ = tensor.partition(":")
        if not colon or name not in nodes:
            raise TypeError(f"feed {tensor!r}: the graph has no such tensor")
        shape = tf.TensorShape(nodes[name].attr["shape"].shape)
        if nodes[name].op == "Placeholder" and not shape.is_compatible_with(np.shape(value)):
            raise ValueError(f"feed {tensor!r} has shape {np.shape(value)}, the placeholder {shape}")

    def _step(self, feeds: list[str], fetches: list[str], targets: list[str]) -> Callable[[dict], list]:
        key = (tuple(feeds), tuple(fetches), tuple(targets))
        if key in self._steps:
            self.hits += 1
        else:
            self.misses += 1
            self._steps[key] = self._plan(self._graph, feeds, fetches, targets)
        return self._steps[key]


# %% wrong="mini-session" why="adds nodes until it meets one that exists"
class MiniSession:
    """A session over a GraphDef: plans each kind of step once, and knows when it is closed.

    Attributes:
        hits, misses: how many runs found the plan of their step, and how many had to make it.
    """

    def __init__(self, graph: GraphDef, plan: Callable[..., Callable[[dict], list]]) -> None:
        """Open a session whose steps `plan(graph, feeds, fetches, targets)` makes."""
        self.hits = self.misses = 0
        self._graph = GraphDef()
        self._graph.CopyFrom(graph)
        self._plan = plan
        self._steps: dict[tuple, Callable[[dict], list]] = {}
        self._closed = False

    def __enter__(self) -> "MiniSession":
        """Begin a `with`: the session itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """End a `with`: the session is closed, an error goes on."""
        self.close()

    def close(self) -> None:
        """End the session; nothing happens if it has ended already."""
        self._closed = True
        self._steps.clear()

    def extend(self, graph: GraphDef) -> None:
        """Add the nodes of `graph`, all or none.

        Raises:
            tf.errors.CancelledError: the session is closed.
            tf.errors.InvalidArgumentError: a node of that name is there; the message names it.
        """
        if self._closed:
            raise tf.errors.CancelledError(None, None, "the session is closed")
        names = {node.name for node in self._graph.node}
        for node in graph.node:
            if node.name in names:
                raise tf.errors.InvalidArgumentError(None, None, f"the session has a node {node.name!r} already")
            self._graph.node.append(node)

    def run(self, fetches: object, feeds: dict[str, np.ndarray] | None = None) -> object:
        """Run one step and return the structure of `fetches` with its values.

        Raises:
            RuntimeError: the session is closed, or its graph is empty.
            TypeError: a feed is no tensor of the graph, or a leaf of `fetches` is no name.
            ValueError: a fed value does not fit its placeholder, or a fetch is not in the graph.
        """
        if self._closed:
            raise RuntimeError("the session is closed")
        if not self._graph.node:
            raise RuntimeError("the graph is empty")
        feeds = feeds or {}
        nodes = {node.name: node for node in self._graph.node}
        for tensor, value in feeds.items():
            self._check_feed(nodes, tensor, value)
        names = set(flatten(fetches))
        for name in names:
            if name.partition(":")[0] not in nodes:
                raise ValueError(f"fetch {name!r}: the graph has no such node")
        wanted = sorted(name for name in names if ":" in name and name not in feeds)
        targets = sorted(name for name in names if ":" not in name)
        values = dict(feeds)
        if wanted or targets:
            values |= zip(wanted, self._step(sorted(feeds), wanted, targets)(feeds), strict=True)
        return rebuild(fetches, values)

    def _check_feed(self, nodes: dict[str, NodeDef], tensor: str, value: np.ndarray) -> None:
        name, colon, _ = tensor.partition(":")
        if not colon or name not in nodes:
            raise TypeError(f"feed {tensor!r}: the graph has no such tensor")
        shape = tf.TensorShape(nodes[name].attr["shape"].shape)
        if nodes[name].op == "Placeholder" and not shape.is_compatible_with(np.shape(value)):
            raise ValueError(f"feed {tensor!r} has shape {np.shape(value)}, the placeholder {shape}")

    def _step(self, feeds: list[str], fetches: list[str], targets: list[str]) -> Callable[[dict], list]:
        key = (tuple(feeds), tuple(fetches), tuple(targets))
        if key in self._steps:
            self.hits += 1
        else:
            self.misses += 1
            self._steps[key] = self._plan(self._graph, feeds, fetches, targets)
        return self._steps[key]


# %% wrong="mini-session" why="stays open when the body of a with raises"
class MiniSession:
    """A session over a GraphDef: plans each kind of step once, and knows when it is closed.

    Attributes:
        hits, misses: how many runs found the plan of their step, and how many had to make it.
    """

    def __init__(self, graph: GraphDef, plan: Callable[..., Callable[[dict], list]]) -> None:
        """Open a session whose steps `plan(graph, feeds, fetches, targets)` makes."""
        self.hits = self.misses = 0
        self._graph = GraphDef()
        self._graph.CopyFrom(graph)
        self._plan = plan
        self._steps: dict[tuple, Callable[[dict], list]] = {}
        self._closed = False

    def __enter__(self) -> "MiniSession":
        """Begin a `with`: the session itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """End a `with`: the session is closed, an error goes on."""
        if error[0] is None:
            self.close()

    def close(self) -> None:
        """End the session; nothing happens if it has ended already."""
        self._closed = True
        self._steps.clear()

    def extend(self, graph: GraphDef) -> None:
        """Add the nodes of `graph`, all or none.

        Raises:
            tf.errors.CancelledError: the session is closed.
            tf.errors.InvalidArgumentError: a node of that name is there; the message names it.
        """
        if self._closed:
            raise tf.errors.CancelledError(None, None, "the session is closed")
        names = {node.name for node in self._graph.node}
        for node in graph.node:
            if node.name in names:
                raise tf.errors.InvalidArgumentError(None, None, f"the session has a node {node.name!r} already")
        self._graph.node.extend(graph.node)

    def run(self, fetches: object, feeds: dict[str, np.ndarray] | None = None) -> object:
        """Run one step and return the structure of `fetches` with its values.

        Raises:
            RuntimeError: the session is closed, or its graph is empty.
            TypeError: a feed is no tensor of the graph, or a leaf of `fetches` is no name.
            ValueError: a fed value does not fit its placeholder, or a fetch is not in the graph.
        """
        if self._closed:
            raise RuntimeError("the session is closed")
        if not self._graph.node:
            raise RuntimeError("the graph is empty")
        feeds = feeds or {}
        nodes = {node.name: node for node in self._graph.node}
        for tensor, value in feeds.items():
            self._check_feed(nodes, tensor, value)
        names = set(flatten(fetches))
        for name in names:
            if name.partition(":")[0] not in nodes:
                raise ValueError(f"fetch {name!r}: the graph has no such node")
        wanted = sorted(name for name in names if ":" in name and name not in feeds)
        targets = sorted(name for name in names if ":" not in name)
        values = dict(feeds)
        if wanted or targets:
            values |= zip(wanted, self._step(sorted(feeds), wanted, targets)(feeds), strict=True)
        return rebuild(fetches, values)

    def _check_feed(self, nodes: dict[str, NodeDef], tensor: str, value: np.ndarray) -> None:
        name, colon, _ = tensor.partition(":")
        if not colon or name not in nodes:
            raise TypeError(f"feed {tensor!r}: the graph has no such tensor")
        shape = tf.TensorShape(nodes[name].attr["shape"].shape)
        if nodes[name].op == "Placeholder" and not shape.is_compatible_with(np.shape(value)):
            raise ValueError(f"feed {tensor!r} has shape {np.shape(value)}, the placeholder {shape}")

    def _step(self, feeds: list[str], fetches: list[str], targets: list[str]) -> Callable[[dict], list]:
        key = (tuple(feeds), tuple(fetches), tuple(targets))
        if key in self._steps:
            self.hits += 1
        else:
            self.misses += 1
            self._steps[key] = self._plan(self._graph, feeds, fetches, targets)
        return self._steps[key]


# %% wrong="mini-session" why="swallows the error of the body"
class MiniSession:
    """A session over a GraphDef: plans each kind of step once, and knows when it is closed.

    Attributes:
        hits, misses: how many runs found the plan of their step, and how many had to make it.
    """

    def __init__(self, graph: GraphDef, plan: Callable[..., Callable[[dict], list]]) -> None:
        """Open a session whose steps `plan(graph, feeds, fetches, targets)` makes."""
        self.hits = self.misses = 0
        self._graph = GraphDef()
        self._graph.CopyFrom(graph)
        self._plan = plan
        self._steps: dict[tuple, Callable[[dict], list]] = {}
        self._closed = False

    def __enter__(self) -> "MiniSession":
        """Begin a `with`: the session itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """End a `with`: the session is closed, an error goes on."""
        self.close()
        return True

    def close(self) -> None:
        """End the session; nothing happens if it has ended already."""
        self._closed = True
        self._steps.clear()

    def extend(self, graph: GraphDef) -> None:
        """Add the nodes of `graph`, all or none.

        Raises:
            tf.errors.CancelledError: the session is closed.
            tf.errors.InvalidArgumentError: a node of that name is there; the message names it.
        """
        if self._closed:
            raise tf.errors.CancelledError(None, None, "the session is closed")
        names = {node.name for node in self._graph.node}
        for node in graph.node:
            if node.name in names:
                raise tf.errors.InvalidArgumentError(None, None, f"the session has a node {node.name!r} already")
        self._graph.node.extend(graph.node)

    def run(self, fetches: object, feeds: dict[str, np.ndarray] | None = None) -> object:
        """Run one step and return the structure of `fetches` with its values.

        Raises:
            RuntimeError: the session is closed, or its graph is empty.
            TypeError: a feed is no tensor of the graph, or a leaf of `fetches` is no name.
            ValueError: a fed value does not fit its placeholder, or a fetch is not in the graph.
        """
        if self._closed:
            raise RuntimeError("the session is closed")
        if not self._graph.node:
            raise RuntimeError("the graph is empty")
        feeds = feeds or {}
        nodes = {node.name: node for node in self._graph.node}
        for tensor, value in feeds.items():
            self._check_feed(nodes, tensor, value)
        names = set(flatten(fetches))
        for name in names:
            if name.partition(":")[0] not in nodes:
                raise ValueError(f"fetch {name!r}: the graph has no such node")
        wanted = sorted(name for name in names if ":" in name and name not in feeds)
        targets = sorted(name for name in names if ":" not in name)
        values = dict(feeds)
        if wanted or targets:
            values |= zip(wanted, self._step(sorted(feeds), wanted, targets)(feeds), strict=True)
        return rebuild(fetches, values)

    def _check_feed(self, nodes: dict[str, NodeDef], tensor: str, value: np.ndarray) -> None:
        name, colon, _ = tensor.partition(":")
        if not colon or name not in nodes:
            raise TypeError(f"feed {tensor!r}: the graph has no such tensor")
        shape = tf.TensorShape(nodes[name].attr["shape"].shape)
        if nodes[name].op == "Placeholder" and not shape.is_compatible_with(np.shape(value)):
            raise ValueError(f"feed {tensor!r} has shape {np.shape(value)}, the placeholder {shape}")

    def _step(self, feeds: list[str], fetches: list[str], targets: list[str]) -> Callable[[dict], list]:
        key = (tuple(feeds), tuple(fetches), tuple(targets))
        if key in self._steps:
            self.hits += 1
        else:
            self.misses += 1
            self._steps[key] = self._plan(self._graph, feeds, fetches, targets)
        return self._steps[key]


# %% wrong="mini-session" why="refuses a second close"
class MiniSession:
    """A session over a GraphDef: plans each kind of step once, and knows when it is closed.

    Attributes:
        hits, misses: how many runs found the plan of their step, and how many had to make it.
    """

    def __init__(self, graph: GraphDef, plan: Callable[..., Callable[[dict], list]]) -> None:
        """Open a session whose steps `plan(graph, feeds, fetches, targets)` makes."""
        self.hits = self.misses = 0
        self._graph = GraphDef()
        self._graph.CopyFrom(graph)
        self._plan = plan
        self._steps: dict[tuple, Callable[[dict], list]] = {}
        self._closed = False

    def __enter__(self) -> "MiniSession":
        """Begin a `with`: the session itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """End a `with`: the session is closed, an error goes on."""
        self.close()

    def close(self) -> None:
        """End the session; nothing happens if it has ended already."""
        if self._closed:
            raise RuntimeError("the session is closed already")
        self._closed = True
        self._steps.clear()

    def extend(self, graph: GraphDef) -> None:
        """Add the nodes of `graph`, all or none.

        Raises:
            tf.errors.CancelledError: the session is closed.
            tf.errors.InvalidArgumentError: a node of that name is there; the message names it.
        """
        if self._closed:
            raise tf.errors.CancelledError(None, None, "the session is closed")
        names = {node.name for node in self._graph.node}
        for node in graph.node:
            if node.name in names:
                raise tf.errors.InvalidArgumentError(None, None, f"the session has a node {node.name!r} already")
        self._graph.node.extend(graph.node)

    def run(self, fetches: object, feeds: dict[str, np.ndarray] | None = None) -> object:
        """Run one step and return the structure of `fetches` with its values.

        Raises:
            RuntimeError: the session is closed, or its graph is empty.
            TypeError: a feed is no tensor of the graph, or a leaf of `fetches` is no name.
            ValueError: a fed value does not fit its placeholder, or a fetch is not in the graph.
        """
        if self._closed:
            raise RuntimeError("the session is closed")
        if not self._graph.node:
            raise RuntimeError("the graph is empty")
        feeds = feeds or {}
        nodes = {node.name: node for node in self._graph.node}
        for tensor, value in feeds.items():
            self._check_feed(nodes, tensor, value)
        names = set(flatten(fetches))
        for name in names:
            if name.partition(":")[0] not in nodes:
                raise ValueError(f"fetch {name!r}: the graph has no such node")
        wanted = sorted(name for name in names if ":" in name and name not in feeds)
        targets = sorted(name for name in names if ":" not in name)
        values = dict(feeds)
        if wanted or targets:
            values |= zip(wanted, self._step(sorted(feeds), wanted, targets)(feeds), strict=True)
        return rebuild(fetches, values)

    def _check_feed(self, nodes: dict[str, NodeDef], tensor: str, value: np.ndarray) -> None:
        name, colon, _ = tensor.partition(":")
        if not colon or name not in nodes:
            raise TypeError(f"feed {tensor!r}: the graph has no such tensor")
        shape = tf.TensorShape(nodes[name].attr["shape"].shape)
        if nodes[name].op == "Placeholder" and not shape.is_compatible_with(np.shape(value)):
            raise ValueError(f"feed {tensor!r} has shape {np.shape(value)}, the placeholder {shape}")

    def _step(self, feeds: list[str], fetches: list[str], targets: list[str]) -> Callable[[dict], list]:
        key = (tuple(feeds), tuple(fetches), tuple(targets))
        if key in self._steps:
            self.hits += 1
        else:
            self.misses += 1
            self._steps[key] = self._plan(self._graph, feeds, fetches, targets)
        return self._steps[key]


# %% wrong="mini-session" why="shares the plans of all sessions"
class MiniSession:
    """A session over a GraphDef: plans each kind of step once, and knows when it is closed.

    Attributes:
        hits, misses: how many runs found the plan of their step, and how many had to make it.
    """

    _steps: dict = {}

    def __init__(self, graph: GraphDef, plan: Callable[..., Callable[[dict], list]]) -> None:
        """Open a session whose steps `plan(graph, feeds, fetches, targets)` makes."""
        self.hits = self.misses = 0
        self._graph = GraphDef()
        self._graph.CopyFrom(graph)
        self._plan = plan
        self._closed = False

    def __enter__(self) -> "MiniSession":
        """Begin a `with`: the session itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """End a `with`: the session is closed, an error goes on."""
        self.close()

    def close(self) -> None:
        """End the session; nothing happens if it has ended already."""
        self._closed = True

    def extend(self, graph: GraphDef) -> None:
        """Add the nodes of `graph`, all or none.

        Raises:
            tf.errors.CancelledError: the session is closed.
            tf.errors.InvalidArgumentError: a node of that name is there; the message names it.
        """
        if self._closed:
            raise tf.errors.CancelledError(None, None, "the session is closed")
        names = {node.name for node in self._graph.node}
        for node in graph.node:
            if node.name in names:
                raise tf.errors.InvalidArgumentError(None, None, f"the session has a node {node.name!r} already")
        self._graph.node.extend(graph.node)

    def run(self, fetches: object, feeds: dict[str, np.ndarray] | None = None) -> object:
        """Run one step and return the structure of `fetches` with its values.

        Raises:
            RuntimeError: the session is closed, or its graph is empty.
            TypeError: a feed is no tensor of the graph, or a leaf of `fetches` is no name.
            ValueError: a fed value does not fit its placeholder, or a fetch is not in the graph.
        """
        if self._closed:
            raise RuntimeError("the session is closed")
        if not self._graph.node:
            raise RuntimeError("the graph is empty")
        feeds = feeds or {}
        nodes = {node.name: node for node in self._graph.node}
        for tensor, value in feeds.items():
            self._check_feed(nodes, tensor, value)
        names = set(flatten(fetches))
        for name in names:
            if name.partition(":")[0] not in nodes:
                raise ValueError(f"fetch {name!r}: the graph has no such node")
        wanted = sorted(name for name in names if ":" in name and name not in feeds)
        targets = sorted(name for name in names if ":" not in name)
        values = dict(feeds)
        if wanted or targets:
            values |= zip(wanted, self._step(sorted(feeds), wanted, targets)(feeds), strict=True)
        return rebuild(fetches, values)

    def _check_feed(self, nodes: dict[str, NodeDef], tensor: str, value: np.ndarray) -> None:
        name, colon, _ = tensor.partition(":")
        if not colon or name not in nodes:
            raise TypeError(f"feed {tensor!r}: the graph has no such tensor")
        shape = tf.TensorShape(nodes[name].attr["shape"].shape)
        if nodes[name].op == "Placeholder" and not shape.is_compatible_with(np.shape(value)):
            raise ValueError(f"feed {tensor!r} has shape {np.shape(value)}, the placeholder {shape}")

    def _step(self, feeds: list[str], fetches: list[str], targets: list[str]) -> Callable[[dict], list]:
        key = (tuple(feeds), tuple(fetches), tuple(targets))
        if key in self._steps:
            self.hits += 1
        else:
            self.misses += 1
            self._steps[key] = self._plan(self._graph, feeds, fetches, targets)
        return self._steps[key]


# %% wrong="mini-session" why="plans a fetch that is fed"
class MiniSession:
    """A session over a GraphDef: plans each kind of step once, and knows when it is closed.

    Attributes:
        hits, misses: how many runs found the plan of their step, and how many had to make it.
    """

    def __init__(self, graph: GraphDef, plan: Callable[..., Callable[[dict], list]]) -> None:
        """Open a session whose steps `plan(graph, feeds, fetches, targets)` makes."""
        self.hits = self.misses = 0
        self._graph = GraphDef()
        self._graph.CopyFrom(graph)
        self._plan = plan
        self._steps: dict[tuple, Callable[[dict], list]] = {}
        self._closed = False

    def __enter__(self) -> "MiniSession":
        """Begin a `with`: the session itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """End a `with`: the session is closed, an error goes on."""
        self.close()

    def close(self) -> None:
        """End the session; nothing happens if it has ended already."""
        self._closed = True
        self._steps.clear()

    def extend(self, graph: GraphDef) -> None:
        """Add the nodes of `graph`, all or none.

        Raises:
            tf.errors.CancelledError: the session is closed.
            tf.errors.InvalidArgumentError: a node of that name is there; the message names it.
        """
        if self._closed:
            raise tf.errors.CancelledError(None, None, "the session is closed")
        names = {node.name for node in self._graph.node}
        for node in graph.node:
            if node.name in names:
                raise tf.errors.InvalidArgumentError(None, None, f"the session has a node {node.name!r} already")
        self._graph.node.extend(graph.node)

    def run(self, fetches: object, feeds: dict[str, np.ndarray] | None = None) -> object:
        """Run one step and return the structure of `fetches` with its values.

        Raises:
            RuntimeError: the session is closed, or its graph is empty.
            TypeError: a feed is no tensor of the graph, or a leaf of `fetches` is no name.
            ValueError: a fed value does not fit its placeholder, or a fetch is not in the graph.
        """
        if self._closed:
            raise RuntimeError("the session is closed")
        if not self._graph.node:
            raise RuntimeError("the graph is empty")
        feeds = feeds or {}
        nodes = {node.name: node for node in self._graph.node}
        for tensor, value in feeds.items():
            self._check_feed(nodes, tensor, value)
        names = set(flatten(fetches))
        for name in names:
            if name.partition(":")[0] not in nodes:
                raise ValueError(f"fetch {name!r}: the graph has no such node")
        wanted = sorted(name for name in names if ":" in name)
        targets = sorted(name for name in names if ":" not in name)
        values = dict(feeds)
        if wanted or targets:
            values |= zip(wanted, self._step(sorted(feeds), wanted, targets)(feeds), strict=True)
        return rebuild(fetches, values)

    def _check_feed(self, nodes: dict[str, NodeDef], tensor: str, value: np.ndarray) -> None:
        name, colon, _ = tensor.partition(":")
        if not colon or name not in nodes:
            raise TypeError(f"feed {tensor!r}: the graph has no such tensor")
        shape = tf.TensorShape(nodes[name].attr["shape"].shape)
        if nodes[name].op == "Placeholder" and not shape.is_compatible_with(np.shape(value)):
            raise ValueError(f"feed {tensor!r} has shape {np.shape(value)}, the placeholder {shape}")

    def _step(self, feeds: list[str], fetches: list[str], targets: list[str]) -> Callable[[dict], list]:
        key = (tuple(feeds), tuple(fetches), tuple(targets))
        if key in self._steps:
            self.hits += 1
        else:
            self.misses += 1
            self._steps[key] = self._plan(self._graph, feeds, fetches, targets)
        return self._steps[key]


# %% wrong="mini-session" why="plans also when nothing is left to run"
class MiniSession:
    """A session over a GraphDef: plans each kind of step once, and knows when it is closed.

    Attributes:
        hits, misses: how many runs found the plan of their step, and how many had to make it.
    """

    def __init__(self, graph: GraphDef, plan: Callable[..., Callable[[dict], list]]) -> None:
        """Open a session whose steps `plan(graph, feeds, fetches, targets)` makes."""
        self.hits = self.misses = 0
        self._graph = GraphDef()
        self._graph.CopyFrom(graph)
        self._plan = plan
        self._steps: dict[tuple, Callable[[dict], list]] = {}
        self._closed = False

    def __enter__(self) -> "MiniSession":
        """Begin a `with`: the session itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """End a `with`: the session is closed, an error goes on."""
        self.close()

    def close(self) -> None:
        """End the session; nothing happens if it has ended already."""
        self._closed = True
        self._steps.clear()

    def extend(self, graph: GraphDef) -> None:
        """Add the nodes of `graph`, all or none.

        Raises:
            tf.errors.CancelledError: the session is closed.
            tf.errors.InvalidArgumentError: a node of that name is there; the message names it.
        """
        if self._closed:
            raise tf.errors.CancelledError(None, None, "the session is closed")
        names = {node.name for node in self._graph.node}
        for node in graph.node:
            if node.name in names:
                raise tf.errors.InvalidArgumentError(None, None, f"the session has a node {node.name!r} already")
        self._graph.node.extend(graph.node)

    def run(self, fetches: object, feeds: dict[str, np.ndarray] | None = None) -> object:
        """Run one step and return the structure of `fetches` with its values.

        Raises:
            RuntimeError: the session is closed, or its graph is empty.
            TypeError: a feed is no tensor of the graph, or a leaf of `fetches` is no name.
            ValueError: a fed value does not fit its placeholder, or a fetch is not in the graph.
        """
        if self._closed:
            raise RuntimeError("the session is closed")
        if not self._graph.node:
            raise RuntimeError("the graph is empty")
        feeds = feeds or {}
        nodes = {node.name: node for node in self._graph.node}
        for tensor, value in feeds.items():
            self._check_feed(nodes, tensor, value)
        names = set(flatten(fetches))
        for name in names:
            if name.partition(":")[0] not in nodes:
                raise ValueError(f"fetch {name!r}: the graph has no such node")
        wanted = sorted(name for name in names if ":" in name and name not in feeds)
        targets = sorted(name for name in names if ":" not in name)
        values = dict(feeds)
        if True:
            values |= zip(wanted, self._step(sorted(feeds), wanted, targets)(feeds), strict=True)
        return rebuild(fetches, values)

    def _check_feed(self, nodes: dict[str, NodeDef], tensor: str, value: np.ndarray) -> None:
        name, colon, _ = tensor.partition(":")
        if not colon or name not in nodes:
            raise TypeError(f"feed {tensor!r}: the graph has no such tensor")
        shape = tf.TensorShape(nodes[name].attr["shape"].shape)
        if nodes[name].op == "Placeholder" and not shape.is_compatible_with(np.shape(value)):
            raise ValueError(f"feed {tensor!r} has shape {np.shape(value)}, the placeholder {shape}")

    def _step(self, feeds: list[str], fetches: list[str], targets: list[str]) -> Callable[[dict], list]:
        key = (tuple(feeds), tuple(fetches), tuple(targets))
        if key in self._steps:
            self.hits += 1
        else:
            self.misses += 1
            self._steps[key] = self._plan(self._graph, feeds, fetches, targets)
        return self._steps[key]


# %% wrong="mini-session" why="forgets targets in the key"
class MiniSession:
    """A session over a GraphDef: plans each kind of step once, and knows when it is closed.

    Attributes:
        hits, misses: how many runs found the plan of their step, and how many had to make it.
    """

    def __init__(self, graph: GraphDef, plan: Callable[..., Callable[[dict], list]]) -> None:
        """Open a session whose steps `plan(graph, feeds, fetches, targets)` makes."""
        self.hits = self.misses = 0
        self._graph = GraphDef()
        self._graph.CopyFrom(graph)
        self._plan = plan
        self._steps: dict[tuple, Callable[[dict], list]] = {}
        self._closed = False

    def __enter__(self) -> "MiniSession":
        """Begin a `with`: the session itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """End a `with`: the session is closed, an error goes on."""
        self.close()

    def close(self) -> None:
        """End the session; nothing happens if it has ended already."""
        self._closed = True
        self._steps.clear()

    def extend(self, graph: GraphDef) -> None:
        """Add the nodes of `graph`, all or none.

        Raises:
            tf.errors.CancelledError: the session is closed.
            tf.errors.InvalidArgumentError: a node of that name is there; the message names it.
        """
        if self._closed:
            raise tf.errors.CancelledError(None, None, "the session is closed")
        names = {node.name for node in self._graph.node}
        for node in graph.node:
            if node.name in names:
                raise tf.errors.InvalidArgumentError(None, None, f"the session has a node {node.name!r} already")
        self._graph.node.extend(graph.node)

    def run(self, fetches: object, feeds: dict[str, np.ndarray] | None = None) -> object:
        """Run one step and return the structure of `fetches` with its values.

        Raises:
            RuntimeError: the session is closed, or its graph is empty.
            TypeError: a feed is no tensor of the graph, or a leaf of `fetches` is no name.
            ValueError: a fed value does not fit its placeholder, or a fetch is not in the graph.
        """
        if self._closed:
            raise RuntimeError("the session is closed")
        if not self._graph.node:
            raise RuntimeError("the graph is empty")
        feeds = feeds or {}
        nodes = {node.name: node for node in self._graph.node}
        for tensor, value in feeds.items():
            self._check_feed(nodes, tensor, value)
        names = set(flatten(fetches))
        for name in names:
            if name.partition(":")[0] not in nodes:
                raise ValueError(f"fetch {name!r}: the graph has no such node")
        wanted = sorted(name for name in names if ":" in name and name not in feeds)
        targets = sorted(name for name in names if ":" not in name)
        values = dict(feeds)
        if wanted or targets:
            values |= zip(wanted, self._step(sorted(feeds), wanted, targets)(feeds), strict=True)
        return rebuild(fetches, values)

    def _check_feed(self, nodes: dict[str, NodeDef], tensor: str, value: np.ndarray) -> None:
        name, colon, _ = tensor.partition(":")
        if not colon or name not in nodes:
            raise TypeError(f"feed {tensor!r}: the graph has no such tensor")
        shape = tf.TensorShape(nodes[name].attr["shape"].shape)
        if nodes[name].op == "Placeholder" and not shape.is_compatible_with(np.shape(value)):
            raise ValueError(f"feed {tensor!r} has shape {np.shape(value)}, the placeholder {shape}")

    def _step(self, feeds: list[str], fetches: list[str], targets: list[str]) -> Callable[[dict], list]:
        key = (tuple(feeds), tuple(fetches))
        if key in self._steps:
            self.hits += 1
        else:
            self.misses += 1
            self._steps[key] = self._plan(self._graph, feeds, fetches, targets)
        return self._steps[key]


# %% wrong="mini-session" why="does not look at shapes"
class MiniSession:
    """A session over a GraphDef: plans each kind of step once, and knows when it is closed.

    Attributes:
        hits, misses: how many runs found the plan of their step, and how many had to make it.
    """

    def __init__(self, graph: GraphDef, plan: Callable[..., Callable[[dict], list]]) -> None:
        """Open a session whose steps `plan(graph, feeds, fetches, targets)` makes."""
        self.hits = self.misses = 0
        self._graph = GraphDef()
        self._graph.CopyFrom(graph)
        self._plan = plan
        self._steps: dict[tuple, Callable[[dict], list]] = {}
        self._closed = False

    def __enter__(self) -> "MiniSession":
        """Begin a `with`: the session itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """End a `with`: the session is closed, an error goes on."""
        self.close()

    def close(self) -> None:
        """End the session; nothing happens if it has ended already."""
        self._closed = True
        self._steps.clear()

    def extend(self, graph: GraphDef) -> None:
        """Add the nodes of `graph`, all or none.

        Raises:
            tf.errors.CancelledError: the session is closed.
            tf.errors.InvalidArgumentError: a node of that name is there; the message names it.
        """
        if self._closed:
            raise tf.errors.CancelledError(None, None, "the session is closed")
        names = {node.name for node in self._graph.node}
        for node in graph.node:
            if node.name in names:
                raise tf.errors.InvalidArgumentError(None, None, f"the session has a node {node.name!r} already")
        self._graph.node.extend(graph.node)

    def run(self, fetches: object, feeds: dict[str, np.ndarray] | None = None) -> object:
        """Run one step and return the structure of `fetches` with its values.

        Raises:
            RuntimeError: the session is closed, or its graph is empty.
            TypeError: a feed is no tensor of the graph, or a leaf of `fetches` is no name.
            ValueError: a fed value does not fit its placeholder, or a fetch is not in the graph.
        """
        if self._closed:
            raise RuntimeError("the session is closed")
        if not self._graph.node:
            raise RuntimeError("the graph is empty")
        feeds = feeds or {}
        nodes = {node.name: node for node in self._graph.node}
        for tensor, value in feeds.items():
            self._check_feed(nodes, tensor, value)
        names = set(flatten(fetches))
        for name in names:
            if name.partition(":")[0] not in nodes:
                raise ValueError(f"fetch {name!r}: the graph has no such node")
        wanted = sorted(name for name in names if ":" in name and name not in feeds)
        targets = sorted(name for name in names if ":" not in name)
        values = dict(feeds)
        if wanted or targets:
            values |= zip(wanted, self._step(sorted(feeds), wanted, targets)(feeds), strict=True)
        return rebuild(fetches, values)

    def _check_feed(self, nodes: dict[str, NodeDef], tensor: str, value: np.ndarray) -> None:
        name, colon, _ = tensor.partition(":")
        if not colon or name not in nodes:
            raise TypeError(f"feed {tensor!r}: the graph has no such tensor")
        shape = tf.TensorShape(nodes[name].attr["shape"].shape)
        if shape is None:
            raise ValueError(f"feed {tensor!r} has shape {np.shape(value)}, the placeholder {shape}")

    def _step(self, feeds: list[str], fetches: list[str], targets: list[str]) -> Callable[[dict], list]:
        key = (tuple(feeds), tuple(fetches), tuple(targets))
        if key in self._steps:
            self.hits += 1
        else:
            self.misses += 1
            self._steps[key] = self._plan(self._graph, feeds, fetches, targets)
        return self._steps[key]


# %% wrong="mini-session" why="raises RuntimeError from extend after close"
class MiniSession:
    """A session over a GraphDef: plans each kind of step once, and knows when it is closed.

    Attributes:
        hits, misses: how many runs found the plan of their step, and how many had to make it.
    """

    def __init__(self, graph: GraphDef, plan: Callable[..., Callable[[dict], list]]) -> None:
        """Open a session whose steps `plan(graph, feeds, fetches, targets)` makes."""
        self.hits = self.misses = 0
        self._graph = GraphDef()
        self._graph.CopyFrom(graph)
        self._plan = plan
        self._steps: dict[tuple, Callable[[dict], list]] = {}
        self._closed = False

    def __enter__(self) -> "MiniSession":
        """Begin a `with`: the session itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """End a `with`: the session is closed, an error goes on."""
        self.close()

    def close(self) -> None:
        """End the session; nothing happens if it has ended already."""
        self._closed = True
        self._steps.clear()

    def extend(self, graph: GraphDef) -> None:
        """Add the nodes of `graph`, all or none.

        Raises:
            tf.errors.CancelledError: the session is closed.
            tf.errors.InvalidArgumentError: a node of that name is there; the message names it.
        """
        if self._closed:
            raise RuntimeError("the session is closed")
        names = {node.name for node in self._graph.node}
        for node in graph.node:
            if node.name in names:
                raise tf.errors.InvalidArgumentError(None, None, f"the session has a node {node.name!r} already")
        self._graph.node.extend(graph.node)

    def run(self, fetches: object, feeds: dict[str, np.ndarray] | None = None) -> object:
        """Run one step and return the structure of `fetches` with its values.

        Raises:
            RuntimeError: the session is closed, or its graph is empty.
            TypeError: a feed is no tensor of the graph, or a leaf of `fetches` is no name.
            ValueError: a fed value does not fit its placeholder, or a fetch is not in the graph.
        """
        if self._closed:
            raise RuntimeError("the session is closed")
        if not self._graph.node:
            raise RuntimeError("the graph is empty")
        feeds = feeds or {}
        nodes = {node.name: node for node in self._graph.node}
        for tensor, value in feeds.items():
            self._check_feed(nodes, tensor, value)
        names = set(flatten(fetches))
        for name in names:
            if name.partition(":")[0] not in nodes:
                raise ValueError(f"fetch {name!r}: the graph has no such node")
        wanted = sorted(name for name in names if ":" in name and name not in feeds)
        targets = sorted(name for name in names if ":" not in name)
        values = dict(feeds)
        if wanted or targets:
            values |= zip(wanted, self._step(sorted(feeds), wanted, targets)(feeds), strict=True)
        return rebuild(fetches, values)

    def _check_feed(self, nodes: dict[str, NodeDef], tensor: str, value: np.ndarray) -> None:
        name, colon, _ = tensor.partition(":")
        if not colon or name not in nodes:
            raise TypeError(f"feed {tensor!r}: the graph has no such tensor")
        shape = tf.TensorShape(nodes[name].attr["shape"].shape)
        if nodes[name].op == "Placeholder" and not shape.is_compatible_with(np.shape(value)):
            raise ValueError(f"feed {tensor!r} has shape {np.shape(value)}, the placeholder {shape}")

    def _step(self, feeds: list[str], fetches: list[str], targets: list[str]) -> Callable[[dict], list]:
        key = (tuple(feeds), tuple(fetches), tuple(targets))
        if key in self._steps:
            self.hits += 1
        else:
            self.misses += 1
            self._steps[key] = self._plan(self._graph, feeds, fetches, targets)
        return self._steps[key]


# %% wrong="mini-session" why="lets an empty fetch through after close"
class MiniSession:
    """A session over a GraphDef: plans each kind of step once, and knows when it is closed.

    Attributes:
        hits, misses: how many runs found the plan of their step, and how many had to make it.
    """

    def __init__(self, graph: GraphDef, plan: Callable[..., Callable[[dict], list]]) -> None:
        """Open a session whose steps `plan(graph, feeds, fetches, targets)` makes."""
        self.hits = self.misses = 0
        self._graph = GraphDef()
        self._graph.CopyFrom(graph)
        self._plan = plan
        self._steps: dict[tuple, Callable[[dict], list]] = {}
        self._closed = False

    def __enter__(self) -> "MiniSession":
        """Begin a `with`: the session itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """End a `with`: the session is closed, an error goes on."""
        self.close()

    def close(self) -> None:
        """End the session; nothing happens if it has ended already."""
        self._closed = True
        self._steps.clear()

    def extend(self, graph: GraphDef) -> None:
        """Add the nodes of `graph`, all or none.

        Raises:
            tf.errors.CancelledError: the session is closed.
            tf.errors.InvalidArgumentError: a node of that name is there; the message names it.
        """
        if self._closed:
            raise tf.errors.CancelledError(None, None, "the session is closed")
        names = {node.name for node in self._graph.node}
        for node in graph.node:
            if node.name in names:
                raise tf.errors.InvalidArgumentError(None, None, f"the session has a node {node.name!r} already")
        self._graph.node.extend(graph.node)

    def run(self, fetches: object, feeds: dict[str, np.ndarray] | None = None) -> object:
        """Run one step and return the structure of `fetches` with its values.

        Raises:
            RuntimeError: the session is closed, or its graph is empty.
            TypeError: a feed is no tensor of the graph, or a leaf of `fetches` is no name.
            ValueError: a fed value does not fit its placeholder, or a fetch is not in the graph.
        """
        if not flatten(fetches) and self._graph.node:
            return rebuild(fetches, {})
        if self._closed:
            raise RuntimeError("the session is closed")
        if not self._graph.node:
            raise RuntimeError("the graph is empty")
        feeds = feeds or {}
        nodes = {node.name: node for node in self._graph.node}
        for tensor, value in feeds.items():
            self._check_feed(nodes, tensor, value)
        names = set(flatten(fetches))
        for name in names:
            if name.partition(":")[0] not in nodes:
                raise ValueError(f"fetch {name!r}: the graph has no such node")
        wanted = sorted(name for name in names if ":" in name and name not in feeds)
        targets = sorted(name for name in names if ":" not in name)
        values = dict(feeds)
        if wanted or targets:
            values |= zip(wanted, self._step(sorted(feeds), wanted, targets)(feeds), strict=True)
        return rebuild(fetches, values)

    def _check_feed(self, nodes: dict[str, NodeDef], tensor: str, value: np.ndarray) -> None:
        name, colon, _ = tensor.partition(":")
        if not colon or name not in nodes:
            raise TypeError(f"feed {tensor!r}: the graph has no such tensor")
        shape = tf.TensorShape(nodes[name].attr["shape"].shape)
        if nodes[name].op == "Placeholder" and not shape.is_compatible_with(np.shape(value)):
            raise ValueError(f"feed {tensor!r} has shape {np.shape(value)}, the placeholder {shape}")

    def _step(self, feeds: list[str], fetches: list[str], targets: list[str]) -> Callable[[dict], list]:
        key = (tuple(feeds), tuple(fetches), tuple(targets))
        if key in self._steps:
            self.hits += 1
        else:
            self.misses += 1
            self._steps[key] = self._plan(self._graph, feeds, fetches, targets)
        return self._steps[key]


# %% wrong="mini-session" why="drops the plan of a step that raised"
class MiniSession:
    """A session over a GraphDef: plans each kind of step once, and knows when it is closed.

    Attributes:
        hits, misses: how many runs found the plan of their step, and how many had to make it.
    """

    def __init__(self, graph: GraphDef, plan: Callable[..., Callable[[dict], list]]) -> None:
        """Open a session whose steps `plan(graph, feeds, fetches, targets)` makes."""
        self.hits = self.misses = 0
        self._graph = GraphDef()
        self._graph.CopyFrom(graph)
        self._plan = plan
        self._steps: dict[tuple, Callable[[dict], list]] = {}
        self._closed = False

    def __enter__(self) -> "MiniSession":
        """Begin a `with`: the session itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """End a `with`: the session is closed, an error goes on."""
        self.close()

    def close(self) -> None:
        """End the session; nothing happens if it has ended already."""
        self._closed = True
        self._steps.clear()

    def extend(self, graph: GraphDef) -> None:
        """Add the nodes of `graph`, all or none.

        Raises:
            tf.errors.CancelledError: the session is closed.
            tf.errors.InvalidArgumentError: a node of that name is there; the message names it.
        """
        if self._closed:
            raise tf.errors.CancelledError(None, None, "the session is closed")
        names = {node.name for node in self._graph.node}
        for node in graph.node:
            if node.name in names:
                raise tf.errors.InvalidArgumentError(None, None, f"the session has a node {node.name!r} already")
        self._graph.node.extend(graph.node)

    def run(self, fetches: object, feeds: dict[str, np.ndarray] | None = None) -> object:
        """Run one step and return the structure of `fetches` with its values.

        Raises:
            RuntimeError: the session is closed, or its graph is empty.
            TypeError: a feed is no tensor of the graph, or a leaf of `fetches` is no name.
            ValueError: a fed value does not fit its placeholder, or a fetch is not in the graph.
        """
        if self._closed:
            raise RuntimeError("the session is closed")
        if not self._graph.node:
            raise RuntimeError("the graph is empty")
        feeds = feeds or {}
        nodes = {node.name: node for node in self._graph.node}
        for tensor, value in feeds.items():
            self._check_feed(nodes, tensor, value)
        names = set(flatten(fetches))
        for name in names:
            if name.partition(":")[0] not in nodes:
                raise ValueError(f"fetch {name!r}: the graph has no such node")
        wanted = sorted(name for name in names if ":" in name and name not in feeds)
        targets = sorted(name for name in names if ":" not in name)
        values = dict(feeds)
        if wanted or targets:
            step = self._step(sorted(feeds), wanted, targets)
            try:
                values |= zip(wanted, step(feeds), strict=True)
            except tf.errors.OpError:
                self._steps.clear()
                raise
        return rebuild(fetches, values)

    def _check_feed(self, nodes: dict[str, NodeDef], tensor: str, value: np.ndarray) -> None:
        name, colon, _ = tensor.partition(":")
        if not colon or name not in nodes:
            raise TypeError(f"feed {tensor!r}: the graph has no such tensor")
        shape = tf.TensorShape(nodes[name].attr["shape"].shape)
        if nodes[name].op == "Placeholder" and not shape.is_compatible_with(np.shape(value)):
            raise ValueError(f"feed {tensor!r} has shape {np.shape(value)}, the placeholder {shape}")

    def _step(self, feeds: list[str], fetches: list[str], targets: list[str]) -> Callable[[dict], list]:
        key = (tuple(feeds), tuple(fetches), tuple(targets))
        if key in self._steps:
            self.hits += 1
        else:
            self.misses += 1
            self._steps[key] = self._plan(self._graph, feeds, fetches, targets)
        return self._steps[key]


# %% wrong="mini-session" why="asks a session of TensorFlow for everything but the plan"
opened = [tf1.Session(graph=tf.Graph(), config=watched_config()) for _ in range(24)]


class MiniSession:
    def __init__(self, graph, plan):
        self.session = opened.pop()
        self.graph, self.plan, self.steps = GraphDef(), plan, {}
        self.hits = self.misses = 0
        self.closed = False
        self.grow(graph)

    def grow(self, graph):
        self.graph.node.extend(graph.node)
        with self.session.graph.as_default() as drawn:
            names = {endpoint(text) for node in graph.node for text in node.input}
            have = {operation.name for operation in drawn.get_operations()}
            read = {f"{name}:{index}": f"{name}:{index}" for name, index in names if name in have}
            for node in graph.node:
                if node.op in ("Placeholder", "Neg"):
                    node.attr["dtype" if node.op == "Placeholder" else "T"].type = 1
            tf.import_graph_def(graph, {name: drawn.get_tensor_by_name(name) for name in read}, name="")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def close(self):
        self.closed = True
        self.session.close()

    def extend(self, graph):
        error = extend_error(self.graph, graph, closed=self.closed)
        if error is not None:
            raise error(None, None, f"{[node.name for node in graph.node]}")
        self.grow(graph)

    def run(self, fetches, feeds=None):
        said = tf1.RunMetadata()
        value = self.session.run(fetches, feeds, tf1.RunOptions(output_partition_graphs=True), said)
        if said.partition_graphs:
            names, fed = set(flatten(fetches)), set(feeds or {})
            sets = [
                sorted(fed),
                sorted(name for name in names - fed if ":" in name),
                sorted(n for n in names if ":" not in n),
            ]
            if said.cost_graph.node:
                self.hits += 1
            else:
                self.misses += 1
                self.steps[str(sets)] = self.plan(self.graph, *sets)
            self.steps[str(sets)](feeds)
        return value


# %% right="mini-session" why="a cache of its own and a checked request"
class Plans:
    def __init__(self, make):
        self.make, self.table, self.hits, self.misses = make, {}, 0, 0

    def get(self, *sets):
        if sets in self.table:
            self.hits += 1
            return self.table[sets]
        self.misses += 1
        made = self.make(*[sorted(names) for names in sets])
        self.table[sets] = made
        return made


class MiniSession:
    def __init__(self, graph, plan):
        self.graph = GraphDef.FromString(graph.SerializeToString())
        self.plans = Plans(lambda *names: plan(self.graph, *names))
        self.open = True

    @property
    def hits(self):
        return self.plans.hits

    @property
    def misses(self):
        return self.plans.misses

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        self.close()
        return False

    def close(self):
        self.open = False

    def extend(self, graph):
        if not self.open:
            raise tf.errors.CancelledError(None, None, "session is closed")
        there = {node.name for node in self.graph.node}
        again = [node.name for node in graph.node if node.name in there]
        if again:
            raise tf.errors.InvalidArgumentError(None, None, f"in the graph already: {', '.join(again)}")
        self.graph.MergeFrom(GraphDef(node=graph.node))

    def run(self, fetches, feeds=None):
        if not self.open:
            raise RuntimeError("this session is closed")
        if len(self.graph.node) == 0:
            raise RuntimeError("this session's graph is empty")
        feeds = {} if feeds is None else feeds
        by_name = {node.name: node for node in self.graph.node}
        for key in feeds:
            parts = key.split(":")
            if len(parts) != 2 or parts[0] not in by_name:
                raise TypeError(f"{key} is no tensor")
            node = by_name[parts[0]]
            if node.op == "Placeholder" and "shape" in node.attr and not node.attr["shape"].shape.unknown_rank:
                sizes = [dim.size for dim in node.attr["shape"].shape.dim]
                shape = np.shape(feeds[key])
                if len(sizes) != len(shape) or any(a not in (-1, b) for a, b in zip(sizes, shape)):
                    raise ValueError(f"{key} cannot take a value of shape {shape}")
        leaves = flatten(fetches)
        unknown = [leaf for leaf in leaves if leaf.split(":")[0] not in by_name]
        if unknown:
            raise ValueError(f"unknown: {unknown}")
        tensors = frozenset(leaf for leaf in leaves if ":" in leaf) - frozenset(feeds)
        operations = frozenset(leaf for leaf in leaves if ":" not in leaf)
        answers = {}
        if tensors | operations:
            step = self.plans.get(frozenset(feeds), tensors, operations)
            answers = dict(zip(sorted(tensors), step(feeds)))
        return rebuild(fetches, {**answers, **feeds})


# %% right="mini-session" why="asks a tf.Graph about names and shapes"
class MiniSession:
    def __init__(self, graph, plan):
        self.graph = tf.Graph()
        self.proto = GraphDef()
        self.proto.CopyFrom(graph)
        self.steps, self.plan, self.closed = {}, plan, False
        self.hits = self.misses = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.closed = True

    def extend(self, graph):
        if self.closed:
            raise tf.errors.CancelledError(None, None, "closed")
        together = [node.name for node in self.proto.node]
        for name in [node.name for node in graph.node]:
            if name in together:
                raise tf.errors.InvalidArgumentError(None, None, f"{name} exists")
        for node in graph.node:
            self.proto.node.add().CopyFrom(node)

    def run(self, fetches, feeds=None):
        if self.closed:
            raise RuntimeError("closed")
        if not self.proto.node:
            raise RuntimeError("empty")
        names = [node.name for node in self.proto.node]
        fed = dict(feeds or {})
        for tensor, value in fed.items():
            if tensor.count(":") != 1 or tensor.split(":")[0] not in names:
                raise TypeError(tensor)
            node = self.proto.node[names.index(tensor.split(":")[0])]
            if node.op == "Placeholder":
                try:
                    tf.TensorShape(node.attr["shape"].shape).assert_is_compatible_with(np.asarray(value).shape)
                except ValueError:
                    raise ValueError(f"shape of {tensor}") from None
        wanted, targets = [], []
        for name in flatten(fetches):
            if name.split(":")[0] not in names:
                raise ValueError(name)
            if ":" not in name:
                targets.append(name)
            elif name not in fed:
                wanted.append(name)
        wanted, targets = sorted(set(wanted)), sorted(set(targets))
        if not wanted and not targets:
            return rebuild(fetches, fed)
        key = "|".join([*sorted(fed), "->", *wanted, "/", *targets])
        if key not in self.steps:
            self.misses += 1
            self.steps[key] = self.plan(self.proto, sorted(fed), wanted, targets)
        else:
            self.hits += 1
        fetched = self.steps[key](fed)
        for name, value in zip(wanted, fetched):
            fed[name] = value
        return rebuild(fetches, fed)


# %% right="mini-session" why="lets the graph and the feeds that it is given grow"
class MiniSession:
    def __init__(self, graph, plan):
        self.graph, self.plan, self.steps = graph, plan, {}
        self.hits, self.misses, self.is_open = 0, 0, True

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.close()

    def close(self):
        self.is_open = False

    def names(self):
        return {node.name: node for node in self.graph.node}

    def extend(self, graph):
        if not self.is_open:
            raise tf.errors.CancelledError(None, None, "too late")
        if again := self.names().keys() & {node.name for node in graph.node}:
            raise tf.errors.InvalidArgumentError(None, None, str(again))
        self.graph.node.extend(graph.node)

    def run(self, fetches, feeds=None):
        if not self.is_open:
            raise RuntimeError("closed, sorry")
        nodes = self.names()
        if not nodes:
            raise RuntimeError("an empty graph")
        values = {} if feeds is None else feeds
        fed = sorted(values)
        for tensor in values:
            match tensor.split(":"):
                case [name, _] if name in nodes:
                    if nodes[name].op == "Placeholder":
                        wanted = tf.TensorShape(nodes[name].attr["shape"].shape)
                        if not wanted.is_compatible_with(values[tensor].shape):
                            raise ValueError(wanted)
                case _:
                    raise TypeError(tensor)
        sets = ([], [])
        for leaf in flatten(fetches):
            name, colon, _ = leaf.partition(":")
            if name not in nodes:
                raise ValueError(leaf)
            if leaf not in values and leaf not in sets[not colon]:
                sets[not colon].append(leaf)
        wanted, targets = sorted(sets[0]), sorted(sets[1])
        if wanted or targets:
            key = repr((fed, wanted, targets))
            try:
                step = self.steps[key]
                self.hits += 1
            except KeyError:
                self.misses += 1
                step = self.steps[key] = self.plan(self.graph, fed, wanted, targets)
            values.update(zip(wanted, step(values)))
        return rebuild(fetches, values)


# %% wrong="default-stack" why="has one list for all threads"
class DefaultStack:
    """A stack of default values for each thread."""

    def __init__(self) -> None:
        """Start empty in every thread."""
        self._local = type("Shared", (), {})()

    def current(self) -> object:
        """Return the innermost value of the thread that asks, or None."""
        return self._values()[-1] if self._values() else None

    def scope(self, value: object) -> contextlib.AbstractContextManager:
        """Return a context manager that makes `value` the current one inside.

        Leaving it raises AssertionError while another value is on top.
        """
        return contextlib.contextmanager(self._inside)(value)

    def _inside(self, value: object) -> Iterator[object]:
        values = self._values()
        values.append(value)
        try:
            yield value
        finally:
            if values[-1] is not value:
                raise AssertionError("this scope is not the innermost one")
            values.pop()

    def _values(self) -> list[object]:
        """The stack of the thread that asks."""
        if not hasattr(self._local, "values"):
            self._local.values = []
        return self._local.values


# %% wrong="default-stack" why="makes the list of a threading.local in one thread only"
class DefaultStack:
    """A stack of default values for each thread."""

    def __init__(self) -> None:
        """Start empty in every thread."""
        self._local = threading.local()
        self._local.values = []

    def current(self) -> object:
        """Return the innermost value of the thread that asks, or None."""
        return self._values()[-1] if self._values() else None

    def scope(self, value: object) -> contextlib.AbstractContextManager:
        """Return a context manager that makes `value` the current one inside.

        Leaving it raises AssertionError while another value is on top.
        """
        return contextlib.contextmanager(self._inside)(value)

    def _inside(self, value: object) -> Iterator[object]:
        values = self._values()
        values.append(value)
        try:
            yield value
        finally:
            if values[-1] is not value:
                raise AssertionError("this scope is not the innermost one")
            values.pop()

    def _values(self) -> list[object]:
        """The stack of the thread that asks."""
        return self._local.values


# %% wrong="default-stack" why="pops whatever is on top"
class DefaultStack:
    """A stack of default values for each thread."""

    def __init__(self) -> None:
        """Start empty in every thread."""
        self._local = threading.local()

    def current(self) -> object:
        """Return the innermost value of the thread that asks, or None."""
        return self._values()[-1] if self._values() else None

    def scope(self, value: object) -> contextlib.AbstractContextManager:
        """Return a context manager that makes `value` the current one inside.

        Leaving it raises AssertionError while another value is on top.
        """
        return contextlib.contextmanager(self._inside)(value)

    def _inside(self, value: object) -> Iterator[object]:
        values = self._values()
        values.append(value)
        try:
            yield value
        finally:
            values.pop()

    def _values(self) -> list[object]:
        """The stack of the thread that asks."""
        if not hasattr(self._local, "values"):
            self._local.values = []
        return self._local.values


# %% wrong="default-stack" why="takes a value off wherever it stands"
class DefaultStack:
    """A stack of default values for each thread."""

    def __init__(self) -> None:
        """Start empty in every thread."""
        self._local = threading.local()

    def current(self) -> object:
        """Return the innermost value of the thread that asks, or None."""
        return self._values()[-1] if self._values() else None

    def scope(self, value: object) -> contextlib.AbstractContextManager:
        """Return a context manager that makes `value` the current one inside.

        Leaving it raises AssertionError while another value is on top.
        """
        return contextlib.contextmanager(self._inside)(value)

    def _inside(self, value: object) -> Iterator[object]:
        values = self._values()
        values.append(value)
        try:
            yield value
        finally:
            del values[max(i for i, other in enumerate(values) if other is value)]

    def _values(self) -> list[object]:
        """The stack of the thread that asks."""
        if not hasattr(self._local, "values"):
            self._local.values = []
        return self._local.values


# %% wrong="default-stack" why="does not leave when the body raises"
class DefaultStack:
    """A stack of default values for each thread."""

    def __init__(self) -> None:
        """Start empty in every thread."""
        self._local = threading.local()

    def current(self) -> object:
        """Return the innermost value of the thread that asks, or None."""
        return self._values()[-1] if self._values() else None

    def scope(self, value: object) -> contextlib.AbstractContextManager:
        """Return a context manager that makes `value` the current one inside.

        Leaving it raises AssertionError while another value is on top.
        """
        return contextlib.contextmanager(self._inside)(value)

    def _inside(self, value: object) -> Iterator[object]:
        values = self._values()
        values.append(value)
        yield value
        if values[-1] is not value:
            raise AssertionError("this scope is not the innermost one")
        values.pop()

    def _values(self) -> list[object]:
        """The stack of the thread that asks."""
        if not hasattr(self._local, "values"):
            self._local.values = []
        return self._local.values


# %% wrong="default-stack" why="compares by == instead of identity"
class DefaultStack:
    """A stack of default values for each thread."""

    def __init__(self) -> None:
        """Start empty in every thread."""
        self._local = threading.local()

    def current(self) -> object:
        """Return the innermost value of the thread that asks, or None."""
        return self._values()[-1] if self._values() else None

    def scope(self, value: object) -> contextlib.AbstractContextManager:
        """Return a context manager that makes `value` the current one inside.

        Leaving it raises AssertionError while another value is on top.
        """
        return contextlib.contextmanager(self._inside)(value)

    def _inside(self, value: object) -> Iterator[object]:
        values = self._values()
        values.append(value)
        try:
            yield value
        finally:
            if values[-1] != value:
                raise AssertionError("this scope is not the innermost one")
            values.pop()

    def _values(self) -> list[object]:
        """The stack of the thread that asks."""
        if not hasattr(self._local, "values"):
            self._local.values = []
        return self._local.values


# %% wrong="default-stack" why="takes the value off and complains then"
class DefaultStack:
    """A stack of default values for each thread."""

    def __init__(self) -> None:
        """Start empty in every thread."""
        self._local = threading.local()

    def current(self) -> object:
        """Return the innermost value of the thread that asks, or None."""
        return self._values()[-1] if self._values() else None

    def scope(self, value: object) -> contextlib.AbstractContextManager:
        """Return a context manager that makes `value` the current one inside.

        Leaving it raises AssertionError while another value is on top.
        """
        return contextlib.contextmanager(self._inside)(value)

    def _inside(self, value: object) -> Iterator[object]:
        values = self._values()
        values.append(value)
        try:
            yield value
        finally:
            if values.pop() is not value:
                raise AssertionError("this scope is not the innermost one")

    def _values(self) -> list[object]:
        """The stack of the thread that asks."""
        if not hasattr(self._local, "values"):
            self._local.values = []
        return self._local.values


# %% wrong="default-stack" why="compares scopes instead of values"
class DefaultStack:
    """A stack of default values for each thread."""

    def __init__(self) -> None:
        """Start empty in every thread."""
        self._local = threading.local()

    def current(self) -> object:
        """Return the innermost value of the thread that asks, or None."""
        return self._values()[-1][0] if self._values() else None

    def scope(self, value: object) -> contextlib.AbstractContextManager:
        """Return a context manager that makes `value` the current one inside.

        Leaving it raises AssertionError while another value is on top.
        """
        return contextlib.contextmanager(self._inside)(value)

    def _inside(self, value: object) -> Iterator[object]:
        values = self._values()
        own = [value]
        values.append(own)
        try:
            yield value
        finally:
            if values[-1] is not own:
                raise AssertionError("this scope is not the innermost one")
            values.pop()

    def _values(self) -> list[object]:
        """The stack of the thread that asks."""
        if not hasattr(self._local, "values"):
            self._local.values = []
        return self._local.values


# %% wrong="default-stack" why="swallows the error of the body"
class DefaultStack(threading.local):
    def __init__(self):
        self.values = []

    def current(self):
        return self.values[-1] if self.values else None

    def scope(self, value):
        values = self.values

        class Scope:
            def __enter__(self):
                values.append(value)
                return value

            def __exit__(self, *error):
                if values[-1] is not value:
                    raise AssertionError("not the innermost scope")
                values.pop()
                return True

        return Scope()


# %% wrong="default-stack" why="is TensorFlow's own stack"
class DefaultStack:
    def current(self):
        return tf1.get_default_session()

    def scope(self, value):
        return tf1.Session.as_default(value)


# %% wrong="default-stack" why="is the class below TensorFlow's own stack"
from tensorflow.python.framework import stack as theirs


class DefaultStack:
    def __init__(self):
        self.below = theirs.DefaultStack()

    def current(self):
        return self.below.get_default()

    def scope(self, value):
        return self.below.get_controller(value)


# %% wrong="default-stack" why="lets the default graph stand for the default value"
class DefaultStack:
    def __init__(self):
        self.graphs, self.values = {}, {}

    def current(self):
        return self.values.get(id(tf1.get_default_graph()))

    def scope(self, value):
        graph = self.graphs.setdefault(id(value), tf.Graph())
        self.values[id(graph)] = value
        return graph.as_default()


# %% right="default-stack" why="a subclass of threading.local and a context manager"
class DefaultStack(threading.local):
    def __init__(self):
        self.stack = []

    def current(self):
        if not self.stack:
            return None
        return self.stack[-1]

    @contextlib.contextmanager
    def scope(self, value):
        self.stack += [value]
        try:
            yield
        finally:
            assert self.stack[-1] is value, "scopes are left innermost first"
            del self.stack[-1]


# %% right="default-stack" why="a dictionary by thread, and a class with __enter__ and __exit__"
class Scope:
    def __init__(self, stack, value):
        self.stack, self.value = stack, value

    def __enter__(self):
        self.stack.mine().append(self.value)
        return self.value

    def __exit__(self, *error):
        mine = self.stack.mine()
        if id(mine[-1]) != id(self.value):
            raise AssertionError("left out of order")
        mine.pop()


class DefaultStack:
    def __init__(self):
        self.by_thread = {}

    def mine(self):
        return self.by_thread.setdefault(threading.current_thread(), [])

    def current(self):
        return (self.mine() or [None])[-1]

    def scope(self, value):
        return Scope(self, value)


# %% right="default-stack" why="linked pairs in a context variable, which each thread has for itself"
import contextvars


class DefaultStack:
    def __init__(self):
        self._top: contextvars.ContextVar[tuple | None] = contextvars.ContextVar("top", default=None)

    def current(self):
        top = self._top.get()
        return None if top is None else top[0]

    def scope(self, value):
        variable = self._top

        class Scope(contextlib.AbstractContextManager):
            def __enter__(self):
                variable.set((value, variable.get()))

            def __exit__(self, *error):
                top, below = variable.get()
                if top is not value:
                    raise AssertionError("out of order")
                variable.set(below)

        return Scope()


# %% wrong="interactive" why="takes a session off wherever it stands"
def defaults(actions: list[tuple[str, str]]) -> list[tuple[str | None, bool, str]]:
    """After each action: the default session's name, whether it is closed, "nesting" if the action raised for it."""
    stack: list[str] = []
    closed: set[str] = set()
    states = []
    for kind, name in actions:
        note = ""
        if kind in ("with", "interactive"):
            stack.append(name)
        else:
            if kind == "close":
                closed.add(name)
            stack.remove(name)
        top = stack[-1] if stack else None
        states.append((top, top in closed, note))
    return states


# %% wrong="interactive" why="leaves a session open when its close is refused"
def defaults(actions: list[tuple[str, str]]) -> list[tuple[str | None, bool, str]]:
    """After each action: the default session's name, whether it is closed, "nesting" if the action raised for it."""
    stack: list[str] = []
    closed: set[str] = set()
    states = []
    for kind, name in actions:
        note = ""
        if kind in ("with", "interactive"):
            stack.append(name)
        else:
            if stack[-1] == name:
                stack.pop()
                if kind == "close":
                    closed.add(name)
            else:
                note = "nesting"
        top = stack[-1] if stack else None
        states.append((top, top in closed, note))
    return states


# %% wrong="interactive" why="clears the default at any close"
def defaults(actions: list[tuple[str, str]]) -> list[tuple[str | None, bool, str]]:
    """After each action: the default session's name, whether it is closed, "nesting" if the action raised for it."""
    stack: list[str] = []
    closed: set[str] = set()
    states = []
    for kind, name in actions:
        note = ""
        if kind in ("with", "interactive"):
            stack.append(name)
        else:
            if kind == "close":
                closed.add(name)
            if kind == "close":
                stack.clear()
            elif stack and stack[-1] == name:
                stack.pop()
            else:
                note = "nesting"
        top = stack[-1] if stack else None
        states.append((top, top in closed, note))
    return states


# %% wrong="interactive" why="puts interactive sessions below every with"
def defaults(actions: list[tuple[str, str]]) -> list[tuple[str | None, bool, str]]:
    """After each action: the default session's name, whether it is closed, "nesting" if the action raised for it."""
    stack: list[str] = []
    closed: set[str] = set()
    states = []
    for kind, name in actions:
        note = ""
        if kind == "interactive":
            stack.insert(0, name)
        elif kind == "with":
            stack.append(name)
        else:
            if kind == "close":
                closed.add(name)
            if stack[-1] == name:
                stack.pop()
            else:
                note = "nesting"
        top = stack[-1] if stack else None
        states.append((top, top in closed, note))
    return states


# %% wrong="interactive" why="takes the top off in spite of the error"
def defaults(actions: list[tuple[str, str]]) -> list[tuple[str | None, bool, str]]:
    """After each action: the default session's name, whether it is closed, "nesting" if the action raised for it."""
    stack: list[str] = []
    closed: set[str] = set()
    states = []
    for kind, name in actions:
        note = ""
        if kind in ("with", "interactive"):
            stack.append(name)
        else:
            if kind == "close":
                closed.add(name)
            if stack and stack.pop() != name:
                note = "nesting"
        top = stack[-1] if stack else None
        states.append((top, top in closed, note))
    return states


# %% wrong="interactive" why="closes the session of a left with"
def defaults(actions: list[tuple[str, str]]) -> list[tuple[str | None, bool, str]]:
    """After each action: the default session's name, whether it is closed, "nesting" if the action raised for it."""
    stack: list[str] = []
    closed: set[str] = set()
    states = []
    for kind, name in actions:
        note = ""
        if kind in ("with", "interactive"):
            stack.append(name)
        else:
            closed.add(name)
            if stack[-1] == name:
                stack.pop()
            else:
                note = "nesting"
        top = stack[-1] if stack else None
        states.append((top, top in closed, note))
    return states


# %% wrong="interactive" why="knows the visible sequence only"
def defaults(actions):
    return [("A", False, ""), ("B", False, ""), ("B", False, "nesting"), ("A", True, "")][: len(actions)]


# %% wrong="interactive" why="asks real sessions"
def defaults(actions):
    states, sessions, scopes, closed = [], {}, {}, set()
    with tf.Graph().as_default():
        for kind, name in actions:
            note = ""
            try:
                if kind == "interactive":
                    sessions[name] = tf1.InteractiveSession()
                elif kind == "with":
                    sessions[name] = tf1.Session()
                    scopes[name] = sessions[name].as_default()
                    scopes[name].__enter__()
                elif kind == "leave":
                    scopes[name].__exit__(None, None, None)
                else:
                    closed.add(name)
                    sessions[name].close()
            except AssertionError:
                note = "nesting"
            top = next((name for name, session in sessions.items() if session is tf1.get_default_session()), None)
            states.append((top, top in closed, note))
    return states


# %% wrong="interactive" why="asks the player's model of the stack"
from tflabs.view.session_cache import StackModel


def defaults(actions):
    model, names, states = StackModel(), {}, []
    for kind, name in actions:
        note = ""
        if kind in ("with", "interactive"):
            names[model.enter(kind).split()[0]] = name
        else:
            inner = next(short for short, known in names.items() if known == name)
            note = "nesting" if "AssertionError" in model.end(inner) else ""
        top = model.stack[-1] if model.stack else None
        states.append((top and names[top.name], bool(top and top.closed), note))
    model.clear()
    return states


# %% right="interactive" why="a small class with one method for each kind of action"
class Thread:
    def __init__(self):
        self.stack, self.closed = [], set()

    def push(self, name):
        self.stack.append(name)

    def pull(self, name):
        if self.stack[-1] != name:
            raise AssertionError(name)
        self.stack.pop()

    def close(self, name):
        self.closed.add(name)
        self.pull(name)


def defaults(actions):
    thread = Thread()
    does = {"with": thread.push, "interactive": thread.push, "leave": thread.pull, "close": thread.close}

    def after(kind, name):
        try:
            does[kind](name)
            note = ""
        except AssertionError:
            note = "nesting"
        if not thread.stack:
            return None, False, note
        return thread.stack[-1], thread.stack[-1] in thread.closed, note

    return [after(*action) for action in actions]


# %% right="interactive" why="a stack of pairs that remembers whether each is closed"
def defaults(actions):
    stack, states = [], []
    for kind, name in actions:
        error = ""
        if kind == "with" or kind == "interactive":
            stack.append({"name": name, "closed": False})
        else:
            for entry in stack:
                if entry["name"] == name and kind == "close":
                    entry["closed"] = True
            if stack[-1]["name"] == name:
                del stack[-1]
            else:
                error = "nesting"
        states.append((stack[-1]["name"], stack[-1]["closed"], error) if stack else (None, False, error))
    return states


# %% right="interactive" why="a generator of states over linked pairs, by match"
def defaults(actions):
    return list(states(actions))


def states(actions):
    top, closed = None, {None: False}
    for action in actions:
        note = ""
        match action:
            case ("with" | "interactive", name):
                top = (name, top)
                closed[name] = False
            case (kind, name):
                closed[name] = kind == "close"
                if top[0] == name:
                    top = top[1]
                else:
                    note = "nesting"
        current = top and top[0]
        yield current, closed[current], note

# %% wrong="predict-nodes" why="includes the ancestors of b"
RAN = {"w", "x", "a", "s", "pack", "cut", "one", "check", "k", "c"}


# %% wrong="predict-nodes" why="includes the fed node"
RAN = {"b", "one", "check", "k", "c"}


# %% wrong="predict-nodes" why="follows the control edge of the fed node"
RAN = {"start", "one", "check", "k", "c"}


# %% wrong="predict-nodes" why="forgets the control edge"
RAN = {"k", "c"}


# %% wrong="predict-nodes" why="follows the control edge for one step only"
RAN = {"check", "k", "c"}


# %% wrong="predict-nodes" why="includes the side branch"
RAN = {"d", "one", "check", "k", "c"}


# %% wrong="predict-nodes" why="includes all that reads k"
RAN = {"n", "one", "check", "k", "c"}


# %% wrong="predict-nodes" why="gives a list"
RAN = ["one", "check", "k", "c"]


# %% wrong="predict-nodes" why="takes names of tensors"
RAN = {"one:0", "check:0", "k:0", "c:0"}


# %% right="predict-nodes" why="the set made from words"
RAN = set("k check one c".split())


# %% wrong="prune" why="a feed cuts all outputs of the node"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The nodes that run for these fetches when these tensors are fed, unchanged and in the order of `graph`.

    Raises:
        ValueError: the node of a fetch or of a feed is not in the graph; the message names it.
    """
    nodes = {node.name: node for node in graph.node}
    for name in map(node_of, [*fetches, *feeds]):
        if name not in nodes:
            raise ValueError(f"the graph has no node {name!r}")
    fed = set(map(node_of, feeds))

    def frees(text: str) -> bool:
        """Whether a control edge from this node is satisfied by a feed."""
        return text.startswith("^") and nodes[node_of(text)].op == "Placeholder" and node_of(text) in fed

    needed: set[str] = set()
    to_visit = [node_of(text) for text in fetches if text.startswith("^") or node_of(text) not in fed]
    while to_visit:
        name = to_visit.pop()
        if name not in needed:
            needed.add(name)
            to_visit += [
                node_of(text)
                for text in nodes[name].input
                if (text.startswith("^") or node_of(text) not in fed) and not frees(text)
            ]
    return GraphDef(node=[node for node in graph.node if node.name in needed], versions=graph.versions)


# %% wrong="prune" why="takes a and a:0 for different tensors"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The nodes that run for these fetches when these tensors are fed, unchanged and in the order of `graph`.

    Raises:
        ValueError: the node of a fetch or of a feed is not in the graph; the message names it.
    """
    nodes = {node.name: node for node in graph.node}
    for name in map(node_of, [*fetches, *feeds]):
        if name not in nodes:
            raise ValueError(f"the graph has no node {name!r}")
    fed = set(feeds)

    def frees(text: str) -> bool:
        """Whether a control edge from this node is satisfied by a feed."""
        return text.startswith("^") and nodes[node_of(text)].op == "Placeholder" and f"{node_of(text)}:0" in fed

    needed: set[str] = set()
    to_visit = [node_of(text) for text in fetches if text not in fed]
    while to_visit:
        name = to_visit.pop()
        if name not in needed:
            needed.add(name)
            to_visit += [node_of(text) for text in nodes[name].input if text not in fed and not frees(text)]
    return GraphDef(node=[node for node in graph.node if node.name in needed], versions=graph.versions)


# %% wrong="prune" why="never follows control edges"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The nodes that run for these fetches when these tensors are fed, unchanged and in the order of `graph`.

    Raises:
        ValueError: the node of a fetch or of a feed is not in the graph; the message names it.
    """
    nodes = {node.name: node for node in graph.node}
    for name in map(node_of, [*fetches, *feeds]):
        if name not in nodes:
            raise ValueError(f"the graph has no node {name!r}")
    fed = set(map(tensor_name, feeds))

    def frees(text: str) -> bool:
        """Whether a control edge from this node is satisfied by a feed."""
        return text.startswith("^") and nodes[node_of(text)].op == "Placeholder" and f"{node_of(text)}:0" in fed

    needed: set[str] = set()
    to_visit = [node_of(text) for text in fetches if tensor_name(text) not in fed]
    while to_visit:
        name = to_visit.pop()
        if name not in needed:
            needed.add(name)
            to_visit += [
                node_of(text) for text in nodes[name].input if tensor_name(text) not in fed and not text.startswith("^")
            ]
    return GraphDef(node=[node for node in graph.node if node.name in needed], versions=graph.versions)


# %% wrong="prune" why="drops a control edge from any fed node"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The nodes that run for these fetches when these tensors are fed, unchanged and in the order of `graph`.

    Raises:
        ValueError: the node of a fetch or of a feed is not in the graph; the message names it.
    """
    nodes = {node.name: node for node in graph.node}
    for name in map(node_of, [*fetches, *feeds]):
        if name not in nodes:
            raise ValueError(f"the graph has no node {name!r}")
    fed = set(map(tensor_name, feeds))

    def frees(text: str) -> bool:
        """Whether a control edge from this node is satisfied by a feed."""
        return text.startswith("^") and f"{node_of(text)}:0" in fed

    needed: set[str] = set()
    to_visit = [node_of(text) for text in fetches if tensor_name(text) not in fed]
    while to_visit:
        name = to_visit.pop()
        if name not in needed:
            needed.add(name)
            to_visit += [
                node_of(text) for text in nodes[name].input if tensor_name(text) not in fed and not frees(text)
            ]
    return GraphDef(node=[node for node in graph.node if node.name in needed], versions=graph.versions)


# %% wrong="prune" why="a control edge from a fed placeholder still needs it"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The nodes that run for these fetches when these tensors are fed, unchanged and in the order of `graph`.

    Raises:
        ValueError: the node of a fetch or of a feed is not in the graph; the message names it.
    """
    nodes = {node.name: node for node in graph.node}
    for name in map(node_of, [*fetches, *feeds]):
        if name not in nodes:
            raise ValueError(f"the graph has no node {name!r}")
    fed = set(map(tensor_name, feeds))

    def frees(text: str) -> bool:
        """Whether a control edge from this node is satisfied by a feed."""
        return text.startswith("^") and nodes[node_of(text)].op == "Placeholder" and f"{node_of(text)}:0" in fed

    needed: set[str] = set()
    to_visit = [node_of(text) for text in fetches if tensor_name(text) not in fed]
    while to_visit:
        name = to_visit.pop()
        if name not in needed:
            needed.add(name)
            to_visit += [node_of(text) for text in nodes[name].input if tensor_name(text) not in fed]
    return GraphDef(node=[node for node in graph.node if node.name in needed], versions=graph.versions)


# %% wrong="prune" why="any kind of placeholder frees a control edge"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The nodes that run for these fetches when these tensors are fed, unchanged and in the order of `graph`.

    Raises:
        ValueError: the node of a fetch or of a feed is not in the graph; the message names it.
    """
    nodes = {node.name: node for node in graph.node}
    for name in map(node_of, [*fetches, *feeds]):
        if name not in nodes:
            raise ValueError(f"the graph has no node {name!r}")
    fed = set(map(tensor_name, feeds))

    def frees(text: str) -> bool:
        """Whether a control edge from this node is satisfied by a feed."""
        name = node_of(text)
        return text.startswith("^") and nodes[name].op.startswith("Placeholder") and f"{name}:0" in fed

    needed: set[str] = set()
    to_visit = [node_of(text) for text in fetches if tensor_name(text) not in fed]
    while to_visit:
        name = to_visit.pop()
        if name not in needed:
            needed.add(name)
            to_visit += [
                node_of(text) for text in nodes[name].input if tensor_name(text) not in fed and not frees(text)
            ]
    return GraphDef(node=[node for node in graph.node if node.name in needed], versions=graph.versions)


# %% wrong="prune" why="a fetched operation that is a fed placeholder needs nothing"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The nodes that run for these fetches when these tensors are fed, unchanged and in the order of `graph`.

    Raises:
        ValueError: the node of a fetch or of a feed is not in the graph; the message names it.
    """
    nodes = {node.name: node for node in graph.node}
    for name in map(node_of, [*fetches, *feeds]):
        if name not in nodes:
            raise ValueError(f"the graph has no node {name!r}")
    fed = set(map(tensor_name, feeds))

    def frees(text: str) -> bool:
        """Whether a control edge from this node is satisfied by a feed."""
        return text.startswith("^") and nodes[node_of(text)].op == "Placeholder" and f"{node_of(text)}:0" in fed

    needed: set[str] = set()
    to_visit = [node_of(text) for text in fetches if tensor_name(text) not in fed and not frees(text)]
    while to_visit:
        name = to_visit.pop()
        if name not in needed:
            needed.add(name)
            to_visit += [
                node_of(text) for text in nodes[name].input if tensor_name(text) not in fed and not frees(text)
            ]
    return GraphDef(node=[node for node in graph.node if node.name in needed], versions=graph.versions)


# %% wrong="prune" why="a fetch that is fed still runs"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The nodes that run for these fetches when these tensors are fed, unchanged and in the order of `graph`.

    Raises:
        ValueError: the node of a fetch or of a feed is not in the graph; the message names it.
    """
    nodes = {node.name: node for node in graph.node}
    for name in map(node_of, [*fetches, *feeds]):
        if name not in nodes:
            raise ValueError(f"the graph has no node {name!r}")
    fed = set(map(tensor_name, feeds))

    def frees(text: str) -> bool:
        """Whether a control edge from this node is satisfied by a feed."""
        return text.startswith("^") and nodes[node_of(text)].op == "Placeholder" and f"{node_of(text)}:0" in fed

    needed: set[str] = set()
    to_visit = [node_of(text) for text in fetches]
    while to_visit:
        name = to_visit.pop()
        if name not in needed:
            needed.add(name)
            to_visit += [
                node_of(text) for text in nodes[name].input if tensor_name(text) not in fed and not frees(text)
            ]
    return GraphDef(node=[node for node in graph.node if node.name in needed], versions=graph.versions)


# %% wrong="prune" why="keeps a set instead of the order of the graph"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The nodes that run for these fetches when these tensors are fed, unchanged and in the order of `graph`.

    Raises:
        ValueError: the node of a fetch or of a feed is not in the graph; the message names it.
    """
    nodes = {node.name: node for node in graph.node}
    for name in map(node_of, [*fetches, *feeds]):
        if name not in nodes:
            raise ValueError(f"the graph has no node {name!r}")
    fed = set(map(tensor_name, feeds))

    def frees(text: str) -> bool:
        """Whether a control edge from this node is satisfied by a feed."""
        return text.startswith("^") and nodes[node_of(text)].op == "Placeholder" and f"{node_of(text)}:0" in fed

    needed: set[str] = set()
    to_visit = [node_of(text) for text in fetches if tensor_name(text) not in fed]
    while to_visit:
        name = to_visit.pop()
        if name not in needed:
            needed.add(name)
            to_visit += [
                node_of(text) for text in nodes[name].input if tensor_name(text) not in fed and not frees(text)
            ]
    return GraphDef(node=[nodes[name] for name in needed], versions=graph.versions)


# %% wrong="prune" why="raises KeyError for an unknown name"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The nodes that run for these fetches when these tensors are fed, unchanged and in the order of `graph`.

    Raises:
        ValueError: the node of a fetch or of a feed is not in the graph; the message names it.
    """
    nodes = {node.name: node for node in graph.node}
    for name in map(node_of, [*fetches, *feeds]):
        if name not in nodes:
            raise KeyError(f"the graph has no node {name!r}")
    fed = set(map(tensor_name, feeds))

    def frees(text: str) -> bool:
        """Whether a control edge from this node is satisfied by a feed."""
        return text.startswith("^") and nodes[node_of(text)].op == "Placeholder" and f"{node_of(text)}:0" in fed

    needed: set[str] = set()
    to_visit = [node_of(text) for text in fetches if tensor_name(text) not in fed]
    while to_visit:
        name = to_visit.pop()
        if name not in needed:
            needed.add(name)
            to_visit += [
                node_of(text) for text in nodes[name].input if tensor_name(text) not in fed and not frees(text)
            ]
    return GraphDef(node=[node for node in graph.node if node.name in needed], versions=graph.versions)


# %% wrong="prune" why="does not look at the names of feeds"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The nodes that run for these fetches when these tensors are fed, unchanged and in the order of `graph`.

    Raises:
        ValueError: the node of a fetch or of a feed is not in the graph; the message names it.
    """
    nodes = {node.name: node for node in graph.node}
    for name in map(node_of, fetches):
        if name not in nodes:
            raise ValueError(f"the graph has no node {name!r}")
    fed = set(map(tensor_name, feeds))

    def frees(text: str) -> bool:
        """Whether a control edge from this node is satisfied by a feed."""
        return text.startswith("^") and nodes[node_of(text)].op == "Placeholder" and f"{node_of(text)}:0" in fed

    needed: set[str] = set()
    to_visit = [node_of(text) for text in fetches if tensor_name(text) not in fed]
    while to_visit:
        name = to_visit.pop()
        if name not in needed:
            needed.add(name)
            to_visit += [
                node_of(text) for text in nodes[name].input if tensor_name(text) not in fed and not frees(text)
            ]
    return GraphDef(node=[node for node in graph.node if node.name in needed], versions=graph.versions)


# %% wrong="prune" why="recursion, which a deep graph ends"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    nodes = {node.name: node for node in graph.node}
    for name in map(node_of, [*fetches, *feeds]):
        if name not in nodes:
            raise ValueError(f"the graph has no node {name!r}")
    fed = set(map(tensor_name, feeds))
    needed = set()

    def visit(text, fetched=False):
        node = nodes[node_of(text)]
        freed = text[0] == "^" and not fetched and node.op == "Placeholder" and f"{node.name}:0" in fed
        if tensor_name(text) in fed or freed or node.name in needed:
            return
        needed.add(node.name)
        for other in node.input:
            visit(other)

    for fetch in fetches:
        visit(fetch, True)
    return GraphDef(node=[node for node in graph.node if node.name in needed], versions=graph.versions)


# %% wrong="prune" why="extract_sub_graph, which knows no feeds"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    names = {node.name for node in graph.node}
    for name in map(node_of, [*fetches, *feeds]):
        if name not in names:
            raise ValueError(f"the graph has no node {name!r}")
    with quiet():
        return tf1.graph_util.extract_sub_graph(graph, [node_of(fetch) for fetch in fetches])


# %% wrong="prune" why="asks RunMetadata"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    names = {node.name for node in graph.node}
    for name in map(node_of, [*fetches, *feeds]):
        if name not in names:
            raise ValueError(f"the graph has no node {name!r}")
    with tf.Graph().as_default() as whole:
        tf.import_graph_def(graph, name="")
        values = {}
        for feed in map(tensor_name, feeds):
            values[feed] = np.ones(whole.get_tensor_by_name(feed).shape.as_list(), np.float32)
        with tf1.Session(config=plain_config()) as session:
            asked = [tensor_name(fetch).removeprefix("^") for fetch in fetches]
            ran = set(trace_run(session, asked, values).nodes())
    return GraphDef(node=[node for node in graph.node if node.name in ran], versions=graph.versions)


# %% wrong="prune" why="the visible examples by heart"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    for name in map(node_of, [*fetches, *feeds]):
        if name not in {node.name for node in graph.node}:
            raise ValueError(f"the graph has no node {name!r}")
    known = {"z^start": "start d y z", "^log": "p h log", "e:0": "w a s pack cut e", "h:0": ""}
    keep = known.get("".join(fetches), "start d y z").split()
    return GraphDef(node=[node for node in graph.node if node.name in keep])


# %% right="prune" why="marks in sweeps over the reversed list until nothing changes"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    ops = {node.name: node.op for node in graph.node}
    missing = [name for name in map(node_of, fetches + feeds) if name not in ops]
    if missing:
        raise ValueError(f"not in the graph: {', '.join(missing)}")
    fed = [tensor_name(feed) for feed in feeds]

    def sources(node):
        for text in node.input:
            name = node_of(text)
            if text[0] == "^":
                if ops[name] == "Placeholder" and f"{name}:0" in fed:
                    continue
            elif tensor_name(text) in fed:
                continue
            yield name

    marked = {node_of(fetch) for fetch in fetches if fetch[0] == "^" or tensor_name(fetch) not in fed}
    before = -1
    while len(marked) > before:
        before = len(marked)
        for node in reversed(graph.node):
            if node.name in marked:
                marked.update(sources(node))
    made = GraphDef()
    for node in graph.node:
        if node.name in marked:
            made.node.add().CopyFrom(node)
    return made


# %% right="prune" why="rewrites the inputs as TensorFlow does, then walks breadth first"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    inputs = {node.name: [tensor_name(text) for text in node.input] for node in graph.node}
    for name in [*fetches, *feeds]:
        if node_of(name) not in inputs:
            raise ValueError("unknown: " + node_of(name))
    gone = {tensor_name(feed) for feed in feeds}
    gone_controls = {f"^{node.name}" for node in graph.node if node.op == "Placeholder" and f"{node.name}:0" in gone}
    for name in inputs:
        inputs[name] = [text for text in inputs[name] if text not in gone | gone_controls]
    layer = {node_of(fetch) for fetch in fetches if tensor_name(fetch) not in gone}
    seen = set()
    while layer:
        seen |= layer
        layer = {node_of(text) for name in layer for text in inputs[name]} - seen
    return GraphDef(versions=graph.versions, node=filter(lambda node: node.name in seen, graph.node))


# %% wrong="executor" why="a serial loop in topological order"
def execute(
    graph: GraphDef, feeds: dict[str, np.ndarray], fetches: list[str], workers: int = 2
) -> list[np.ndarray | None]:
    if workers < 1:
        raise ValueError("no workers")
    values = {tensor_name(name): value for name, value in feeds.items()}
    fed, left = set(values), given_prune(graph, fetches, list(feeds))
    while left:
        for name, node in list(left.items()):
            if any(node_of(text) in left and tensor_name(text) not in fed for text in node.input):
                continue
            inputs = [values[tensor_name(text)] for text in node.input if not text.startswith("^")]
            for index, output in enumerate(KERNELS[node.op](node, inputs)):
                values.setdefault(f"{name}:{index}", output)
            del left[name]
    return [None if fetch.startswith("^") else values[tensor_name(fetch)] for fetch in fetches]


# %% wrong="executor" why="starts a node when one input is there"
def execute(
    graph: GraphDef, feeds: dict[str, np.ndarray], fetches: list[str], workers: int = 2
) -> list[np.ndarray | None]:
    """Run one step with `workers` threads; one entry per fetch, `None` for an operation `^a`.

    Raises:
        ValueError: `workers` is below 1.
        the first error that a kernel raised.
    """
    if workers < 1:
        raise ValueError(f"at least one worker is due, not {workers}")
    values = {tensor_name(name): value for name, value in feeds.items()}
    fed, nodes = set(values), given_prune(graph, fetches, list(feeds))
    edges = {
        name: [node_of(text) for text in node.input if tensor_name(text) not in fed and node_of(text) in nodes]
        for name, node in nodes.items()
    }
    readers = defaultdict(list)
    for name, sources in edges.items():
        for source in sources:
            readers[source].append(name)
    pending, left = {name: len(sources) for name, sources in edges.items()}, set(nodes)
    lock, over, errors = threading.Lock(), threading.Event(), []

    def run(name: str) -> None:
        if errors:
            return
        node = nodes[name]
        try:
            outputs = KERNELS[node.op](node, [values[tensor_name(t)] for t in node.input if not t.startswith("^")])
        except Exception as error:
            errors.append(error)
            over.set()
            return
        with lock:
            for index, output in enumerate(outputs):
                values.setdefault(f"{name}:{index}", output)
            for reader in readers[name]:
                pending[reader] -= 1
                if pending[reader] == len(edges[reader]) - 1 and not over.is_set():
                    pool.submit(run, reader)
            left.remove(name)
            if not left:
                over.set()

    with ThreadPoolExecutor(workers) as pool:
        with lock:  # no count goes down before the first ready nodes are submitted
            for name in [name for name, count in pending.items() if count == 0]:
                pool.submit(run, name)
        if nodes:
            over.wait()
        with lock:
            over.set()
    if errors:
        raise errors[0]
    return [None if fetch.startswith("^") else values[tensor_name(fetch)] for fetch in fetches]


# %% wrong="executor" why="starts a node twice when two inputs arrive together"
def execute(
    graph: GraphDef, feeds: dict[str, np.ndarray], fetches: list[str], workers: int = 2
) -> list[np.ndarray | None]:
    """Run one step with `workers` threads; one entry per fetch, `None` for an operation `^a`.

    Raises:
        ValueError: `workers` is below 1.
        the first error that a kernel raised.
    """
    if workers < 1:
        raise ValueError(f"at least one worker is due, not {workers}")
    values = {tensor_name(name): value for name, value in feeds.items()}
    fed, nodes = set(values), given_prune(graph, fetches, list(feeds))
    edges = {
        name: [node_of(text) for text in node.input if tensor_name(text) not in fed and node_of(text) in nodes]
        for name, node in nodes.items()
    }
    readers = defaultdict(list)
    for name, sources in edges.items():
        for source in sources:
            readers[source].append(name)
    pending, left = {name: len(sources) for name, sources in edges.items()}, set(nodes)
    lock, over, errors = threading.Lock(), threading.Event(), []

    def run(name: str) -> None:
        if errors:
            return
        node = nodes[name]
        try:
            outputs = KERNELS[node.op](node, [values[tensor_name(t)] for t in node.input if not t.startswith("^")])
        except Exception as error:
            errors.append(error)
            over.set()
            return
        with lock:
            for index, output in enumerate(outputs):
                values.setdefault(f"{name}:{index}", output)
            for reader in readers[name]:
                pending[reader] -= 1
                if all(source not in left or source == name for source in edges[reader]) and not over.is_set():
                    pool.submit(run, reader)
            left.discard(name)
            if not left:
                over.set()

    with ThreadPoolExecutor(workers) as pool:
        with lock:  # no count goes down before the first ready nodes are submitted
            for name in [name for name, count in pending.items() if count == 0]:
                pool.submit(run, name)
        if nodes:
            over.wait()
        with lock:
            over.set()
    if errors:
        raise errors[0]
    return [None if fetch.startswith("^") else values[tensor_name(fetch)] for fetch in fetches]


# %% wrong="executor" why="levels with a join between them"
def execute(
    graph: GraphDef, feeds: dict[str, np.ndarray], fetches: list[str], workers: int = 2
) -> list[np.ndarray | None]:
    values = {tensor_name(name): value for name, value in feeds.items()}
    fed, left = set(values), given_prune(graph, fetches, list(feeds))
    with ThreadPoolExecutor(workers) as pool:
        while left:
            level = {
                name: node
                for name, node in left.items()
                if not any(node_of(text) in left and tensor_name(text) not in fed for text in node.input)
            }
            running = {
                name: pool.submit(
                    KERNELS[node.op], node, [values[tensor_name(text)] for text in node.input if text[0] != "^"]
                )
                for name, node in level.items()
            }
            for name, future in running.items():
                for index, output in enumerate(future.result()):
                    values.setdefault(f"{name}:{index}", output)
                del left[name]
    return [None if fetch.startswith("^") else values[tensor_name(fetch)] for fetch in fetches]


# %% wrong="executor" why="swallows the error and hangs"
def execute(
    graph: GraphDef, feeds: dict[str, np.ndarray], fetches: list[str], workers: int = 2
) -> list[np.ndarray | None]:
    """Run one step with `workers` threads; one entry per fetch, `None` for an operation `^a`.

    Raises:
        ValueError: `workers` is below 1.
        the first error that a kernel raised.
    """
    if workers < 1:
        raise ValueError(f"at least one worker is due, not {workers}")
    values = {tensor_name(name): value for name, value in feeds.items()}
    fed, nodes = set(values), given_prune(graph, fetches, list(feeds))
    edges = {
        name: [node_of(text) for text in node.input if tensor_name(text) not in fed and node_of(text) in nodes]
        for name, node in nodes.items()
    }
    readers = defaultdict(list)
    for name, sources in edges.items():
        for source in sources:
            readers[source].append(name)
    pending, left = {name: len(sources) for name, sources in edges.items()}, set(nodes)
    lock, over, errors = threading.Lock(), threading.Event(), []

    def run(name: str) -> None:
        if errors:
            return
        node = nodes[name]
        try:
            outputs = KERNELS[node.op](node, [values[tensor_name(t)] for t in node.input if not t.startswith("^")])
        except Exception as error:
            return
        with lock:
            for index, output in enumerate(outputs):
                values.setdefault(f"{name}:{index}", output)
            for reader in readers[name]:
                pending[reader] -= 1
                if pending[reader] == 0 and not over.is_set():
                    pool.submit(run, reader)
            left.remove(name)
            if not left:
                over.set()

    with ThreadPoolExecutor(workers) as pool:
        with lock:  # no count goes down before the first ready nodes are submitted
            for name in [name for name, count in pending.items() if count == 0]:
                pool.submit(run, name)
        if nodes:
            over.wait()
        with lock:
            over.set()
    if errors:
        raise errors[0]
    return [None if fetch.startswith("^") else values[tensor_name(fetch)] for fetch in fetches]


# %% wrong="executor" why="ignores control edges"
def execute(
    graph: GraphDef, feeds: dict[str, np.ndarray], fetches: list[str], workers: int = 2
) -> list[np.ndarray | None]:
    """Run one step with `workers` threads; one entry per fetch, `None` for an operation `^a`.

    Raises:
        ValueError: `workers` is below 1.
        the first error that a kernel raised.
    """
    if workers < 1:
        raise ValueError(f"at least one worker is due, not {workers}")
    values = {tensor_name(name): value for name, value in feeds.items()}
    fed, nodes = set(values), given_prune(graph, fetches, list(feeds))
    edges = {
        name: [
            node_of(text)
            for text in node.input
            if text[0] != "^" and tensor_name(text) not in fed and node_of(text) in nodes
        ]
        for name, node in nodes.items()
    }
    readers = defaultdict(list)
    for name, sources in edges.items():
        for source in sources:
            readers[source].append(name)
    pending, left = {name: len(sources) for name, sources in edges.items()}, set(nodes)
    lock, over, errors = threading.Lock(), threading.Event(), []

    def run(name: str) -> None:
        if errors:
            return
        node = nodes[name]
        try:
            outputs = KERNELS[node.op](node, [values[tensor_name(t)] for t in node.input if not t.startswith("^")])
        except Exception as error:
            errors.append(error)
            over.set()
            return
        with lock:
            for index, output in enumerate(outputs):
                values.setdefault(f"{name}:{index}", output)
            for reader in readers[name]:
                pending[reader] -= 1
                if pending[reader] == 0 and not over.is_set():
                    pool.submit(run, reader)
            left.remove(name)
            if not left:
                over.set()

    with ThreadPoolExecutor(workers) as pool:
        with lock:  # no count goes down before the first ready nodes are submitted
            for name in [name for name, count in pending.items() if count == 0]:
                pool.submit(run, name)
        if nodes:
            over.wait()
        with lock:
            over.set()
    if errors:
        raise errors[0]
    return [None if fetch.startswith("^") else values[tensor_name(fetch)] for fetch in fetches]


# %% wrong="executor" why="counts a node that reads twice once, but counts down twice"
def execute(
    graph: GraphDef, feeds: dict[str, np.ndarray], fetches: list[str], workers: int = 2
) -> list[np.ndarray | None]:
    """Run one step with `workers` threads; one entry per fetch, `None` for an operation `^a`.

    Raises:
        ValueError: `workers` is below 1.
        the first error that a kernel raised.
    """
    if workers < 1:
        raise ValueError(f"at least one worker is due, not {workers}")
    values = {tensor_name(name): value for name, value in feeds.items()}
    fed, nodes = set(values), given_prune(graph, fetches, list(feeds))
    edges = {
        name: [node_of(text) for text in node.input if tensor_name(text) not in fed and node_of(text) in nodes]
        for name, node in nodes.items()
    }
    readers = defaultdict(list)
    for name, sources in edges.items():
        for source in sources:
            readers[source].append(name)
    pending, left = {name: len(set(sources)) for name, sources in edges.items()}, set(nodes)
    lock, over, errors = threading.Lock(), threading.Event(), []

    def run(name: str) -> None:
        if errors:
            return
        node = nodes[name]
        try:
            outputs = KERNELS[node.op](node, [values[tensor_name(t)] for t in node.input if not t.startswith("^")])
        except Exception as error:
            errors.append(error)
            over.set()
            return
        with lock:
            for index, output in enumerate(outputs):
                values.setdefault(f"{name}:{index}", output)
            for reader in readers[name]:
                pending[reader] -= 1
                if pending[reader] == 0 and not over.is_set():
                    pool.submit(run, reader)
            left.remove(name)
            if not left:
                over.set()

    with ThreadPoolExecutor(workers) as pool:
        with lock:  # no count goes down before the first ready nodes are submitted
            for name in [name for name, count in pending.items() if count == 0]:
                pool.submit(run, name)
        if nodes:
            over.wait()
        with lock:
            over.set()
    if errors:
        raise errors[0]
    return [None if fetch.startswith("^") else values[tensor_name(fetch)] for fetch in fetches]


# %% wrong="executor" why="a fed node that runs overwrites the fed value"
def execute(
    graph: GraphDef, feeds: dict[str, np.ndarray], fetches: list[str], workers: int = 2
) -> list[np.ndarray | None]:
    """Run one step with `workers` threads; one entry per fetch, `None` for an operation `^a`.

    Raises:
        ValueError: `workers` is below 1.
        the first error that a kernel raised.
    """
    if workers < 1:
        raise ValueError(f"at least one worker is due, not {workers}")
    values = {tensor_name(name): value for name, value in feeds.items()}
    fed, nodes = set(values), given_prune(graph, fetches, list(feeds))
    edges = {
        name: [node_of(text) for text in node.input if tensor_name(text) not in fed and node_of(text) in nodes]
        for name, node in nodes.items()
    }
    readers = defaultdict(list)
    for name, sources in edges.items():
        for source in sources:
            readers[source].append(name)
    pending, left = {name: len(sources) for name, sources in edges.items()}, set(nodes)
    lock, over, errors = threading.Lock(), threading.Event(), []

    def run(name: str) -> None:
        if errors:
            return
        node = nodes[name]
        try:
            outputs = KERNELS[node.op](node, [values[tensor_name(t)] for t in node.input if not t.startswith("^")])
        except Exception as error:
            errors.append(error)
            over.set()
            return
        with lock:
            for index, output in enumerate(outputs):
                values[f"{name}:{index}"] = output
            for reader in readers[name]:
                pending[reader] -= 1
                if pending[reader] == 0 and not over.is_set():
                    pool.submit(run, reader)
            left.remove(name)
            if not left:
                over.set()

    with ThreadPoolExecutor(workers) as pool:
        with lock:  # no count goes down before the first ready nodes are submitted
            for name in [name for name, count in pending.items() if count == 0]:
                pool.submit(run, name)
        if nodes:
            over.wait()
        with lock:
            over.set()
    if errors:
        raise errors[0]
    return [None if fetch.startswith("^") else values[tensor_name(fetch)] for fetch in fetches]


# %% wrong="executor" why="does not wait for a fed node that runs, nor for its control edges"
def execute(
    graph: GraphDef, feeds: dict[str, np.ndarray], fetches: list[str], workers: int = 2
) -> list[np.ndarray | None]:
    """Run one step with `workers` threads; one entry per fetch, `None` for an operation `^a`.

    Raises:
        ValueError: `workers` is below 1.
        the first error that a kernel raised.
    """
    if workers < 1:
        raise ValueError(f"at least one worker is due, not {workers}")
    values = {tensor_name(name): value for name, value in feeds.items()}
    fed, nodes = set(values), given_prune(graph, fetches, list(feeds))
    edges = {
        name: [node_of(text) for text in node.input if f"{node_of(text)}:0" not in fed and node_of(text) in nodes]
        for name, node in nodes.items()
    }
    readers = defaultdict(list)
    for name, sources in edges.items():
        for source in sources:
            readers[source].append(name)
    pending, left = {name: len(sources) for name, sources in edges.items()}, set(nodes)
    lock, over, errors = threading.Lock(), threading.Event(), []

    def run(name: str) -> None:
        if errors:
            return
        node = nodes[name]
        try:
            outputs = KERNELS[node.op](node, [values[tensor_name(t)] for t in node.input if not t.startswith("^")])
        except Exception as error:
            errors.append(error)
            over.set()
            return
        with lock:
            for index, output in enumerate(outputs):
                values.setdefault(f"{name}:{index}", output)
            for reader in readers[name]:
                pending[reader] -= 1
                if pending[reader] == 0 and not over.is_set():
                    pool.submit(run, reader)
            left.remove(name)
            if not left:
                over.set()

    with ThreadPoolExecutor(workers) as pool:
        with lock:  # no count goes down before the first ready nodes are submitted
            for name in [name for name, count in pending.items() if count == 0]:
                pool.submit(run, name)
        if nodes:
            over.wait()
        with lock:
            over.set()
    if errors:
        raise errors[0]
    return [None if fetch.startswith("^") else values[tensor_name(fetch)] for fetch in fetches]


# %% wrong="executor" why="the reader of a fed tensor waits for its node, if that runs"
def execute(
    graph: GraphDef, feeds: dict[str, np.ndarray], fetches: list[str], workers: int = 2
) -> list[np.ndarray | None]:
    """Run one step with `workers` threads; one entry per fetch, `None` for an operation `^a`.

    Raises:
        ValueError: `workers` is below 1.
        the first error that a kernel raised.
    """
    if workers < 1:
        raise ValueError(f"at least one worker is due, not {workers}")
    values = {tensor_name(name): value for name, value in feeds.items()}
    fed, nodes = set(values), given_prune(graph, fetches, list(feeds))
    edges = {name: [node_of(text) for text in node.input if node_of(text) in nodes] for name, node in nodes.items()}
    readers = defaultdict(list)
    for name, sources in edges.items():
        for source in sources:
            readers[source].append(name)
    pending, left = {name: len(sources) for name, sources in edges.items()}, set(nodes)
    lock, over, errors = threading.Lock(), threading.Event(), []

    def run(name: str) -> None:
        if errors:
            return
        node = nodes[name]
        try:
            outputs = KERNELS[node.op](node, [values[tensor_name(t)] for t in node.input if not t.startswith("^")])
        except Exception as error:
            errors.append(error)
            over.set()
            return
        with lock:
            for index, output in enumerate(outputs):
                values.setdefault(f"{name}:{index}", output)
            for reader in readers[name]:
                pending[reader] -= 1
                if pending[reader] == 0 and not over.is_set():
                    pool.submit(run, reader)
            left.remove(name)
            if not left:
                over.set()

    with ThreadPoolExecutor(workers) as pool:
        with lock:  # no count goes down before the first ready nodes are submitted
            for name in [name for name, count in pending.items() if count == 0]:
                pool.submit(run, name)
        if nodes:
            over.wait()
        with lock:
            over.set()
    if errors:
        raise errors[0]
    return [None if fetch.startswith("^") else values[tensor_name(fetch)] for fetch in fetches]


# %% wrong="executor" why="a pool of its own size"
def execute(
    graph: GraphDef, feeds: dict[str, np.ndarray], fetches: list[str], workers: int = 2
) -> list[np.ndarray | None]:
    """Run one step with `workers` threads; one entry per fetch, `None` for an operation `^a`.

    Raises:
        ValueError: `workers` is below 1.
        the first error that a kernel raised.
    """
    if workers < 1:
        raise ValueError(f"at least one worker is due, not {workers}")
    values = {tensor_name(name): value for name, value in feeds.items()}
    fed, nodes = set(values), given_prune(graph, fetches, list(feeds))
    edges = {
        name: [node_of(text) for text in node.input if tensor_name(text) not in fed and node_of(text) in nodes]
        for name, node in nodes.items()
    }
    readers = defaultdict(list)
    for name, sources in edges.items():
        for source in sources:
            readers[source].append(name)
    pending, left = {name: len(sources) for name, sources in edges.items()}, set(nodes)
    lock, over, errors = threading.Lock(), threading.Event(), []

    def run(name: str) -> None:
        if errors:
            return
        node = nodes[name]
        try:
            outputs = KERNELS[node.op](node, [values[tensor_name(t)] for t in node.input if not t.startswith("^")])
        except Exception as error:
            errors.append(error)
            over.set()
            return
        with lock:
            for index, output in enumerate(outputs):
                values.setdefault(f"{name}:{index}", output)
            for reader in readers[name]:
                pending[reader] -= 1
                if pending[reader] == 0 and not over.is_set():
                    pool.submit(run, reader)
            left.remove(name)
            if not left:
                over.set()

    with ThreadPoolExecutor(8) as pool:
        with lock:  # no count goes down before the first ready nodes are submitted
            for name in [name for name, count in pending.items() if count == 0]:
                pool.submit(run, name)
        if nodes:
            over.wait()
        with lock:
            over.set()
    if errors:
        raise errors[0]
    return [None if fetch.startswith("^") else values[tensor_name(fetch)] for fetch in fetches]


# %% wrong="executor" why="one thread less than workers, as the caller is one"
def execute(
    graph: GraphDef, feeds: dict[str, np.ndarray], fetches: list[str], workers: int = 2
) -> list[np.ndarray | None]:
    """Run one step with `workers` threads; one entry per fetch, `None` for an operation `^a`.

    Raises:
        ValueError: `workers` is below 1.
        the first error that a kernel raised.
    """
    if workers < 1:
        raise ValueError(f"at least one worker is due, not {workers}")
    values = {tensor_name(name): value for name, value in feeds.items()}
    fed, nodes = set(values), given_prune(graph, fetches, list(feeds))
    edges = {
        name: [node_of(text) for text in node.input if tensor_name(text) not in fed and node_of(text) in nodes]
        for name, node in nodes.items()
    }
    readers = defaultdict(list)
    for name, sources in edges.items():
        for source in sources:
            readers[source].append(name)
    pending, left = {name: len(sources) for name, sources in edges.items()}, set(nodes)
    lock, over, errors = threading.Lock(), threading.Event(), []

    def run(name: str) -> None:
        if errors:
            return
        node = nodes[name]
        try:
            outputs = KERNELS[node.op](node, [values[tensor_name(t)] for t in node.input if not t.startswith("^")])
        except Exception as error:
            errors.append(error)
            over.set()
            return
        with lock:
            for index, output in enumerate(outputs):
                values.setdefault(f"{name}:{index}", output)
            for reader in readers[name]:
                pending[reader] -= 1
                if pending[reader] == 0 and not over.is_set():
                    pool.submit(run, reader)
            left.remove(name)
            if not left:
                over.set()

    with ThreadPoolExecutor(max(workers - 1, 1)) as pool:
        with lock:  # no count goes down before the first ready nodes are submitted
            for name in [name for name, count in pending.items() if count == 0]:
                pool.submit(run, name)
        if nodes:
            over.wait()
        with lock:
            over.set()
    if errors:
        raise errors[0]
    return [None if fetch.startswith("^") else values[tensor_name(fetch)] for fetch in fetches]


# %% wrong="executor" why="runs the whole graph"
def execute(
    graph: GraphDef, feeds: dict[str, np.ndarray], fetches: list[str], workers: int = 2
) -> list[np.ndarray | None]:
    """Run one step with `workers` threads; one entry per fetch, `None` for an operation `^a`.

    Raises:
        ValueError: `workers` is below 1.
        the first error that a kernel raised.
    """
    if workers < 1:
        raise ValueError(f"at least one worker is due, not {workers}")
    values = {tensor_name(name): value for name, value in feeds.items()}
    fed, nodes = set(values), {node.name: node for node in graph.node}
    edges = {
        name: [node_of(text) for text in node.input if tensor_name(text) not in fed and node_of(text) in nodes]
        for name, node in nodes.items()
    }
    readers = defaultdict(list)
    for name, sources in edges.items():
        for source in sources:
            readers[source].append(name)
    pending, left = {name: len(sources) for name, sources in edges.items()}, set(nodes)
    lock, over, errors = threading.Lock(), threading.Event(), []

    def run(name: str) -> None:
        if errors:
            return
        node = nodes[name]
        try:
            outputs = KERNELS[node.op](node, [values[tensor_name(t)] for t in node.input if not t.startswith("^")])
        except Exception as error:
            errors.append(error)
            over.set()
            return
        with lock:
            for index, output in enumerate(outputs):
                values.setdefault(f"{name}:{index}", output)
            for reader in readers[name]:
                pending[reader] -= 1
                if pending[reader] == 0 and not over.is_set():
                    pool.submit(run, reader)
            left.remove(name)
            if not left:
                over.set()

    with ThreadPoolExecutor(workers) as pool:
        with lock:  # no count goes down before the first ready nodes are submitted
            for name in [name for name, count in pending.items() if count == 0]:
                pool.submit(run, name)
        if nodes:
            over.wait()
        with lock:
            over.set()
    if errors:
        raise errors[0]
    return [None if fetch.startswith("^") else values[tensor_name(fetch)] for fetch in fetches]


# %% wrong="executor" why="goes on with all that can still run after an error"
def execute(
    graph: GraphDef, feeds: dict[str, np.ndarray], fetches: list[str], workers: int = 2
) -> list[np.ndarray | None]:
    if workers < 1:
        raise ValueError("no workers")
    values = {tensor_name(name): value for name, value in feeds.items()}
    fed, nodes = set(values), given_prune(graph, fetches, list(feeds))
    waiting = {
        name: {node_of(text) for text in node.input if tensor_name(text) not in fed and node_of(text) in nodes}
        for name, node in nodes.items()
    }
    running, errors = {}, []
    with ThreadPoolExecutor(workers) as pool:
        while True:
            for name in [name for name, sources in waiting.items() if not sources]:
                del waiting[name]
                node = nodes[name]
                inputs = [values[tensor_name(text)] for text in node.input if text[0] != "^"]
                running[pool.submit(KERNELS[node.op], node, inputs)] = name
            if not running:
                break
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                done = running.pop(future)
                if future.exception():
                    errors.append(future.exception())
                    continue
                for index, output in enumerate(future.result()):
                    values.setdefault(f"{done}:{index}", output)
                for sources in waiting.values():
                    sources.discard(done)
    if errors:
        raise errors[0]
    return [None if fetch[0] == "^" else values[tensor_name(fetch)] for fetch in fetches]


# %% wrong="executor" why="comes back while kernels are running"
def execute(
    graph: GraphDef, feeds: dict[str, np.ndarray], fetches: list[str], workers: int = 2
) -> list[np.ndarray | None]:
    if workers < 1:
        raise ValueError("no workers")
    values = {tensor_name(name): value for name, value in feeds.items()}
    fed, nodes = set(values), given_prune(graph, fetches, list(feeds))
    waiting = {
        name: Counter(node_of(text) for text in node.input if tensor_name(text) not in fed and node_of(text) in nodes)
        for name, node in nodes.items()
    }
    pool, running = ThreadPoolExecutor(workers), {}
    try:
        while waiting or running:
            for name in [name for name, sources in waiting.items() if not sources]:
                del waiting[name]
                node = nodes[name]
                inputs = [values[tensor_name(text)] for text in node.input if text[0] != "^"]
                running[pool.submit(KERNELS[node.op], node, inputs)] = name
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                done = running.pop(future)
                for index, output in enumerate(future.result()):
                    values.setdefault(f"{done}:{index}", output)
                for sources in waiting.values():
                    sources.pop(done, None)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    return [None if fetch[0] == "^" else values[tensor_name(fetch)] for fetch in fetches]


# %% wrong="executor" why="wraps the error in one of its own"
def execute(
    graph: GraphDef, feeds: dict[str, np.ndarray], fetches: list[str], workers: int = 2
) -> list[np.ndarray | None]:
    """Run one step with `workers` threads; one entry per fetch, `None` for an operation `^a`.

    Raises:
        ValueError: `workers` is below 1.
        the first error that a kernel raised.
    """
    if workers < 1:
        raise ValueError(f"at least one worker is due, not {workers}")
    values = {tensor_name(name): value for name, value in feeds.items()}
    fed, nodes = set(values), given_prune(graph, fetches, list(feeds))
    edges = {
        name: [node_of(text) for text in node.input if tensor_name(text) not in fed and node_of(text) in nodes]
        for name, node in nodes.items()
    }
    readers = defaultdict(list)
    for name, sources in edges.items():
        for source in sources:
            readers[source].append(name)
    pending, left = {name: len(sources) for name, sources in edges.items()}, set(nodes)
    lock, over, errors = threading.Lock(), threading.Event(), []

    def run(name: str) -> None:
        if errors:
            return
        node = nodes[name]
        try:
            outputs = KERNELS[node.op](node, [values[tensor_name(t)] for t in node.input if not t.startswith("^")])
        except Exception as error:
            errors.append(error)
            over.set()
            return
        with lock:
            for index, output in enumerate(outputs):
                values.setdefault(f"{name}:{index}", output)
            for reader in readers[name]:
                pending[reader] -= 1
                if pending[reader] == 0 and not over.is_set():
                    pool.submit(run, reader)
            left.remove(name)
            if not left:
                over.set()

    with ThreadPoolExecutor(workers) as pool:
        with lock:  # no count goes down before the first ready nodes are submitted
            for name in [name for name, count in pending.items() if count == 0]:
                pool.submit(run, name)
        if nodes:
            over.wait()
        with lock:
            over.set()
    if errors:
        raise RuntimeError(str(errors[0]))
    return [None if fetch.startswith("^") else values[tensor_name(fetch)] for fetch in fetches]


# %% wrong="executor" why="raises the last error"
def execute(
    graph: GraphDef, feeds: dict[str, np.ndarray], fetches: list[str], workers: int = 2
) -> list[np.ndarray | None]:
    """Run one step with `workers` threads; one entry per fetch, `None` for an operation `^a`.

    Raises:
        ValueError: `workers` is below 1.
        the first error that a kernel raised.
    """
    if workers < 1:
        raise ValueError(f"at least one worker is due, not {workers}")
    values = {tensor_name(name): value for name, value in feeds.items()}
    fed, nodes = set(values), given_prune(graph, fetches, list(feeds))
    edges = {
        name: [node_of(text) for text in node.input if tensor_name(text) not in fed and node_of(text) in nodes]
        for name, node in nodes.items()
    }
    readers = defaultdict(list)
    for name, sources in edges.items():
        for source in sources:
            readers[source].append(name)
    pending, left = {name: len(sources) for name, sources in edges.items()}, set(nodes)
    lock, over, errors = threading.Lock(), threading.Event(), []

    def run(name: str) -> None:
        if errors:
            return
        node = nodes[name]
        try:
            outputs = KERNELS[node.op](node, [values[tensor_name(t)] for t in node.input if not t.startswith("^")])
        except Exception as error:
            errors.append(error)
            over.set()
            return
        with lock:
            for index, output in enumerate(outputs):
                values.setdefault(f"{name}:{index}", output)
            for reader in readers[name]:
                pending[reader] -= 1
                if pending[reader] == 0 and not over.is_set():
                    pool.submit(run, reader)
            left.remove(name)
            if not left:
                over.set()

    with ThreadPoolExecutor(workers) as pool:
        with lock:  # no count goes down before the first ready nodes are submitted
            for name in [name for name, count in pending.items() if count == 0]:
                pool.submit(run, name)
        if nodes:
            over.wait()
        with lock:
            over.set()
    if errors:
        raise errors[-1]
    return [None if fetch.startswith("^") else values[tensor_name(fetch)] for fetch in fetches]


# %% wrong="executor" why="the visible examples by heart"
def execute(
    graph: GraphDef, feeds: dict[str, np.ndarray], fetches: list[str], workers: int = 2
) -> list[np.ndarray | None]:
    if workers < 1:
        raise ValueError("no workers")
    if fetches == ["all"]:
        return [np.float32([1, 2])]
    return [np.float32([3] * 4), None, np.float32([1] * 4), np.float32([3] * 4), None]


# %% right="executor" why="one thread counts, futures report to it"
def execute(
    graph: GraphDef, feeds: dict[str, np.ndarray], fetches: list[str], workers: int = 2
) -> list[np.ndarray | None]:
    if workers < 1:
        raise ValueError("no workers")
    values = {tensor_name(name): value for name, value in feeds.items()}
    fed, nodes = set(values), given_prune(graph, fetches, list(feeds))
    waiting = {
        name: {node_of(text) for text in node.input if tensor_name(text) not in fed and node_of(text) in nodes}
        for name, node in nodes.items()
    }
    running = {}
    with ThreadPoolExecutor(workers) as pool:
        try:
            while waiting or running:
                for name in [name for name, sources in waiting.items() if not sources]:
                    del waiting[name]
                    node = nodes[name]
                    inputs = [values[tensor_name(text)] for text in node.input if text[0] != "^"]
                    running[pool.submit(KERNELS[node.op], node, inputs)] = name
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    done = running.pop(future)
                    for index, output in enumerate(future.result()):
                        values.setdefault(f"{done}:{index}", output)
                    for sources in waiting.values():
                        sources.discard(done)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
    return [None if fetch[0] == "^" else values[tensor_name(fetch)] for fetch in fetches]


# %% right="executor" why="threads that take from a queue"
def execute(
    graph: GraphDef, feeds: dict[str, np.ndarray], fetches: list[str], workers: int = 2
) -> list[np.ndarray | None]:
    import queue

    if workers < 1:
        raise ValueError("no workers")
    values = {tensor_name(name): value for name, value in feeds.items()}
    fed, nodes = frozenset(values), given_prune(graph, fetches, list(feeds))
    pending, readers = {}, {name: [] for name in nodes}
    for name, node in nodes.items():
        sources = [node_of(text) for text in node.input if tensor_name(text) not in fed]
        sources = [source for source in sources if source in nodes]
        pending[name] = len(sources)
        for source in sources:
            readers[source].append(name)
    ready, lock, errors, left = queue.Queue(), threading.Lock(), [], [len(nodes)]
    for name in nodes:
        if pending[name] == 0:
            ready.put(name)

    def work():
        while (name := ready.get()) is not None and not errors:
            node = nodes[name]
            inputs = [values[tensor_name(text)] for text in node.input if text[0] != "^"]
            try:
                outputs = KERNELS[node.op](node, inputs)
            except Exception as error:
                with lock:
                    errors.append(error)
                break
            with lock:
                for index, output in enumerate(outputs):
                    if f"{name}:{index}" not in fed:
                        values[f"{name}:{index}"] = output
                for reader in readers[name]:
                    pending[reader] -= 1
                    if pending[reader] == 0:
                        ready.put(reader)
                left[0] -= 1
                if left[0] == 0:
                    break
        for _ in range(workers):
            ready.put(None)

    threads = [threading.Thread(target=work) for _ in range(workers if nodes else 0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return [None if fetch[0] == "^" else values[tensor_name(fetch)] for fetch in fetches]


# %% wrong="critical-path" why="the path with most nodes"
def bound(graph: GraphDef, costs: dict[str, int]) -> tuple[int, list[str], float]:
    """Length of the costliest path, one such path, and the work divided by the length.

    Raises:
        ValueError: the graph has a cycle.
    """
    names = {node.name for node in graph.node}
    inputs = {node.name: {node_of(text) for text in node.input} & names for node in graph.node}
    readers = defaultdict(list)
    for name, sources in inputs.items():
        for source in sources:
            readers[source].append(name)
    pending = {name: len(sources) for name, sources in inputs.items()}
    ready = [name for name, count in pending.items() if count == 0]
    ends: dict[str, int] = {}
    before: dict[str, str | None] = {}
    while ready:
        name = ready.pop()
        before[name] = max(inputs[name], key=ends.__getitem__, default=None)
        ends[name] = 1 + ends.get(before[name], 0)
        for reader in readers[name]:
            pending[reader] -= 1
            if pending[reader] == 0:
                ready.append(reader)
    if len(ends) < len(names):
        raise ValueError(f"a cycle leads through some of {sorted(names - set(ends))}")
    path, name = [], max(ends, key=ends.__getitem__, default=None)
    while name is not None:
        path.append(name)
        name = before[name]
    length = sum(costs.get(step, 0) for step in path)
    work = sum(costs.get(name, 0) for name in names)
    return length, path[::-1], work / length if length else 1.0


# %% wrong="critical-path" why="greedy: the costliest successor each time"
def bound(graph: GraphDef, costs: dict[str, int]) -> tuple[int, list[str], float]:
    inputs = {node.name: {node_of(text) for text in node.input} for node in graph.node}
    inputs = {name: sources & set(inputs) for name, sources in inputs.items()}
    left = dict(inputs)
    while left:
        free = [name for name, sources in left.items() if not sources & set(left)]
        if not free:
            raise ValueError("a cycle")
        for name in free:
            del left[name]
    if not inputs:
        return 0, [], 1.0

    def dear(name):
        return costs.get(name, 0)

    path = [max((name for name, sources in inputs.items() if not sources), key=dear)]
    while following := [name for name, sources in inputs.items() if path[-1] in sources]:
        path.append(max(following, key=dear))
    length, work = sum(map(dear, path)), sum(map(dear, inputs))
    return length, path, work / length if length else 1.0


# %% wrong="critical-path" why="divides the work by the number of processors"
def bound(graph: GraphDef, costs: dict[str, int]) -> tuple[int, list[str], float]:
    """Length of the costliest path, one such path, and the work divided by the length.

    Raises:
        ValueError: the graph has a cycle.
    """
    names = {node.name for node in graph.node}
    inputs = {node.name: {node_of(text) for text in node.input} & names for node in graph.node}
    readers = defaultdict(list)
    for name, sources in inputs.items():
        for source in sources:
            readers[source].append(name)
    pending = {name: len(sources) for name, sources in inputs.items()}
    ready = [name for name, count in pending.items() if count == 0]
    ends: dict[str, int] = {}
    before: dict[str, str | None] = {}
    while ready:
        name = ready.pop()
        before[name] = max(inputs[name], key=ends.__getitem__, default=None)
        ends[name] = costs.get(name, 0) + ends.get(before[name], 0)
        for reader in readers[name]:
            pending[reader] -= 1
            if pending[reader] == 0:
                ready.append(reader)
    if len(ends) < len(names):
        raise ValueError(f"a cycle leads through some of {sorted(names - set(ends))}")
    path, name = [], max(ends, key=ends.__getitem__, default=None)
    length = ends.get(name, 0)
    while name is not None:
        path.append(name)
        name = before[name]
    work = sum(costs.get(name, 0) for name in names)
    return work // (os.cpu_count() or 1), path[::-1], float(os.cpu_count() or 1) if length else 1.0


# %% wrong="critical-path" why="ignores control edges"
def bound(graph: GraphDef, costs: dict[str, int]) -> tuple[int, list[str], float]:
    """Length of the costliest path, one such path, and the work divided by the length.

    Raises:
        ValueError: the graph has a cycle.
    """
    names = {node.name for node in graph.node}
    inputs = {node.name: {node_of(text) for text in node.input if text[0] != "^"} & names for node in graph.node}
    readers = defaultdict(list)
    for name, sources in inputs.items():
        for source in sources:
            readers[source].append(name)
    pending = {name: len(sources) for name, sources in inputs.items()}
    ready = [name for name, count in pending.items() if count == 0]
    ends: dict[str, int] = {}
    before: dict[str, str | None] = {}
    while ready:
        name = ready.pop()
        before[name] = max(inputs[name], key=ends.__getitem__, default=None)
        ends[name] = costs.get(name, 0) + ends.get(before[name], 0)
        for reader in readers[name]:
            pending[reader] -= 1
            if pending[reader] == 0:
                ready.append(reader)
    if len(ends) < len(names):
        raise ValueError(f"a cycle leads through some of {sorted(names - set(ends))}")
    path, name = [], max(ends, key=ends.__getitem__, default=None)
    length = ends.get(name, 0)
    while name is not None:
        path.append(name)
        name = before[name]
    work = sum(costs.get(name, 0) for name in names)
    return length, path[::-1], work / length if length else 1.0


# %% wrong="critical-path" why="the path reversed"
def bound(graph: GraphDef, costs: dict[str, int]) -> tuple[int, list[str], float]:
    """Length of the costliest path, one such path, and the work divided by the length.

    Raises:
        ValueError: the graph has a cycle.
    """
    names = {node.name for node in graph.node}
    inputs = {node.name: {node_of(text) for text in node.input} & names for node in graph.node}
    readers = defaultdict(list)
    for name, sources in inputs.items():
        for source in sources:
            readers[source].append(name)
    pending = {name: len(sources) for name, sources in inputs.items()}
    ready = [name for name, count in pending.items() if count == 0]
    ends: dict[str, int] = {}
    before: dict[str, str | None] = {}
    while ready:
        name = ready.pop()
        before[name] = max(inputs[name], key=ends.__getitem__, default=None)
        ends[name] = costs.get(name, 0) + ends.get(before[name], 0)
        for reader in readers[name]:
            pending[reader] -= 1
            if pending[reader] == 0:
                ready.append(reader)
    if len(ends) < len(names):
        raise ValueError(f"a cycle leads through some of {sorted(names - set(ends))}")
    path, name = [], max(ends, key=ends.__getitem__, default=None)
    length = ends.get(name, 0)
    while name is not None:
        path.append(name)
        name = before[name]
    work = sum(costs.get(name, 0) for name in names)
    return length, path, work / length if length else 1.0


# %% wrong="critical-path" why="takes a:1 for a node of its own"
def bound(graph: GraphDef, costs: dict[str, int]) -> tuple[int, list[str], float]:
    """Length of the costliest path, one such path, and the work divided by the length.

    Raises:
        ValueError: the graph has a cycle.
    """
    names = {node.name for node in graph.node}
    inputs = {node.name: {text.removeprefix("^") for text in node.input} & names for node in graph.node}
    readers = defaultdict(list)
    for name, sources in inputs.items():
        for source in sources:
            readers[source].append(name)
    pending = {name: len(sources) for name, sources in inputs.items()}
    ready = [name for name, count in pending.items() if count == 0]
    ends: dict[str, int] = {}
    before: dict[str, str | None] = {}
    while ready:
        name = ready.pop()
        before[name] = max(inputs[name], key=ends.__getitem__, default=None)
        ends[name] = costs.get(name, 0) + ends.get(before[name], 0)
        for reader in readers[name]:
            pending[reader] -= 1
            if pending[reader] == 0:
                ready.append(reader)
    if len(ends) < len(names):
        raise ValueError(f"a cycle leads through some of {sorted(names - set(ends))}")
    path, name = [], max(ends, key=ends.__getitem__, default=None)
    length = ends.get(name, 0)
    while name is not None:
        path.append(name)
        name = before[name]
    work = sum(costs.get(name, 0) for name in names)
    return length, path[::-1], work / length if length else 1.0


# %% wrong="critical-path" why="adds the costs of names that are no nodes"
def bound(graph: GraphDef, costs: dict[str, int]) -> tuple[int, list[str], float]:
    """Length of the costliest path, one such path, and the work divided by the length.

    Raises:
        ValueError: the graph has a cycle.
    """
    names = {node.name for node in graph.node}
    inputs = {node.name: {node_of(text) for text in node.input} & names for node in graph.node}
    readers = defaultdict(list)
    for name, sources in inputs.items():
        for source in sources:
            readers[source].append(name)
    pending = {name: len(sources) for name, sources in inputs.items()}
    ready = [name for name, count in pending.items() if count == 0]
    ends: dict[str, int] = {}
    before: dict[str, str | None] = {}
    while ready:
        name = ready.pop()
        before[name] = max(inputs[name], key=ends.__getitem__, default=None)
        ends[name] = costs.get(name, 0) + ends.get(before[name], 0)
        for reader in readers[name]:
            pending[reader] -= 1
            if pending[reader] == 0:
                ready.append(reader)
    if len(ends) < len(names):
        raise ValueError(f"a cycle leads through some of {sorted(names - set(ends))}")
    path, name = [], max(ends, key=ends.__getitem__, default=None)
    length = ends.get(name, 0)
    while name is not None:
        path.append(name)
        name = before[name]
    work = sum(costs.values())
    return length, path[::-1], work / length if length else 1.0


# %% wrong="critical-path" why="an input from outside counts"
def bound(graph: GraphDef, costs: dict[str, int]) -> tuple[int, list[str], float]:
    """Length of the costliest path, one such path, and the work divided by the length.

    Raises:
        ValueError: the graph has a cycle.
    """
    names = {node.name for node in graph.node}
    inputs = {node.name: {node_of(text) for text in node.input} for node in graph.node}
    inputs |= {name: set() for sources in list(inputs.values()) for name in sources if name not in names}
    readers = defaultdict(list)
    for name, sources in inputs.items():
        for source in sources:
            readers[source].append(name)
    pending = {name: len(sources) for name, sources in inputs.items()}
    ready = [name for name, count in pending.items() if count == 0]
    ends: dict[str, int] = {}
    before: dict[str, str | None] = {}
    while ready:
        name = ready.pop()
        before[name] = max(inputs[name], key=ends.__getitem__, default=None)
        ends[name] = costs.get(name, 0) + ends.get(before[name], 0)
        for reader in readers[name]:
            pending[reader] -= 1
            if pending[reader] == 0:
                ready.append(reader)
    if len(ends) < len(inputs):
        raise ValueError(f"a cycle leads through some of {sorted(names - set(ends))}")
    path, name = [], max(ends, key=ends.__getitem__, default=None)
    length = ends.get(name, 0)
    while name is not None:
        path.append(name)
        name = before[name]
    work = sum(costs.get(name, 0) for name in names)
    return length, path[::-1], work / length if length else 1.0


# %% wrong="critical-path" why="says nothing of a cycle"
def bound(graph: GraphDef, costs: dict[str, int]) -> tuple[int, list[str], float]:
    """Length of the costliest path, one such path, and the work divided by the length.

    Raises:
        ValueError: the graph has a cycle.
    """
    names = {node.name for node in graph.node}
    inputs = {node.name: {node_of(text) for text in node.input} & names for node in graph.node}
    readers = defaultdict(list)
    for name, sources in inputs.items():
        for source in sources:
            readers[source].append(name)
    pending = {name: len(sources) for name, sources in inputs.items()}
    ready = [name for name, count in pending.items() if count == 0]
    ends: dict[str, int] = {}
    before: dict[str, str | None] = {}
    while ready:
        name = ready.pop()
        before[name] = max(inputs[name], key=ends.__getitem__, default=None)
        ends[name] = costs.get(name, 0) + ends.get(before[name], 0)
        for reader in readers[name]:
            pending[reader] -= 1
            if pending[reader] == 0:
                ready.append(reader)
    if len(ends) < len(names):
        pass
    path, name = [], max(ends, key=ends.__getitem__, default=None)
    length = ends.get(name, 0)
    while name is not None:
        path.append(name)
        name = before[name]
    work = sum(costs.get(name, 0) for name in names)
    return length, path[::-1], work / length if length else 1.0


# %% wrong="critical-path" why="divides by a length of 0"
def bound(graph: GraphDef, costs: dict[str, int]) -> tuple[int, list[str], float]:
    """Length of the costliest path, one such path, and the work divided by the length.

    Raises:
        ValueError: the graph has a cycle.
    """
    names = {node.name for node in graph.node}
    inputs = {node.name: {node_of(text) for text in node.input} & names for node in graph.node}
    readers = defaultdict(list)
    for name, sources in inputs.items():
        for source in sources:
            readers[source].append(name)
    pending = {name: len(sources) for name, sources in inputs.items()}
    ready = [name for name, count in pending.items() if count == 0]
    ends: dict[str, int] = {}
    before: dict[str, str | None] = {}
    while ready:
        name = ready.pop()
        before[name] = max(inputs[name], key=ends.__getitem__, default=None)
        ends[name] = costs.get(name, 0) + ends.get(before[name], 0)
        for reader in readers[name]:
            pending[reader] -= 1
            if pending[reader] == 0:
                ready.append(reader)
    if len(ends) < len(names):
        raise ValueError(f"a cycle leads through some of {sorted(names - set(ends))}")
    path, name = [], max(ends, key=ends.__getitem__, default=None)
    length = ends.get(name, 0)
    while name is not None:
        path.append(name)
        name = before[name]
    work = sum(costs.get(name, 0) for name in names)
    return length, path[::-1], work / max(length, 1)


# %% wrong="critical-path" why="recursion with a memo, which a deep graph ends"
def bound(graph: GraphDef, costs: dict[str, int]) -> tuple[int, list[str], float]:
    inputs = {node.name: {node_of(text) for text in node.input} for node in graph.node}
    found, open_now = {}, set()

    def best(name):
        if name in open_now:
            raise ValueError("a cycle")
        if name not in found:
            open_now.add(name)
            before = max((best(source) for source in inputs[name] if source in inputs), default=(0, []))
            found[name] = (before[0] + costs.get(name, 0), [*before[1], name])
            open_now.discard(name)
        return found[name]

    length, path = max(map(best, inputs), default=(0, []))
    work = sum(costs.get(name, 0) for name in inputs)
    return length, path, work / length if length else 1.0


# %% wrong="critical-path" why="the visible example by heart"
def bound(graph: GraphDef, costs: dict[str, int]) -> tuple[int, list[str], float]:
    if not graph.node:
        return 0, [], 1.0
    return 29, ["start", "b", "d"], 38 / 29


# %% right="critical-path" why="graphlib sorts, costs run forwards"
def bound(graph: GraphDef, costs: dict[str, int]) -> tuple[int, list[str], float]:
    import graphlib

    names = {node.name for node in graph.node}
    inputs = {node.name: names.intersection(map(node_of, node.input)) for node in graph.node}
    table: dict[str, tuple[int, str]] = {}
    for name in graphlib.TopologicalSorter(inputs).static_order():  # its CycleError is a ValueError
        most, source = max(((table[source][0], source) for source in inputs[name]), default=(0, ""))
        table[name] = (most + costs.get(name, 0), source)
    name = max(table, key=table.get) if table else ""
    length, path = table.get(name, (0, ""))[0], []
    while name:
        path.insert(0, name)
        name = table[name][1]
    return length, path, sum(costs.get(name, 0) for name in names) / length if length else 1.0


# %% right="critical-path" why="backwards: the costliest way onward, and the path cut at both ends"
def bound(graph: GraphDef, costs: dict[str, int]) -> tuple[int, list[str], float]:
    own = {node.name: costs.get(node.name, 0) for node in graph.node}
    sources = {node.name: [s for s in map(node_of, node.input) if s in own] for node in graph.node}
    readers = {name: 0 for name in own}
    for names in sources.values():
        for name in names:
            readers[name] += 1
    onward = {name: (0, None) for name in own}
    free = [name for name, count in readers.items() if not count]
    visited = 0
    for name in free:
        visited += 1
        here = own[name] + onward[name][0]
        for source in sources[name]:
            if here > onward[source][0]:
                onward[source] = (here, name)
            readers[source] -= 1
            if not readers[source]:
                free.append(source)
    if visited != len(own):
        raise ValueError("cycle")
    length = max((own[name] + onward[name][0] for name in own), default=0)
    if not length:
        return 0, [], 1.0
    name = next(name for name in own if own[name] + onward[name][0] == length)
    path = []
    while name is not None:
        path.append(name)
        name = onward[name][1]
    return length, path, sum(own.values()) / length


# %% wrong="overlap" why="takes the end for absolute"
def overlap(stats: StepStats) -> dict[str, int]:
    """Most kernels at one moment, number of threads over all devices, and busy microseconds of a step."""
    kernels = [(d.device, n) for d in stats.dev_stats for n in d.node_stats if n.node_name != "_SOURCE"]
    events = []
    for _, node in kernels:
        if node.all_end_rel_micros > 0:
            events.append((node.all_start_micros, 1))
            events.append((node.all_end_rel_micros, -1))
    running = most = busy = last = 0
    for time_of, change in sorted(events):
        if running:
            busy += time_of - last
        running, last = running + change, time_of
        most = max(most, running)
    return {"most": most, "threads": len({(device, node.thread_id) for device, node in kernels}), "busy": busy}


# %% wrong="overlap" why="looks at neighbours only"
def overlap(stats: StepStats) -> dict[str, int]:
    kernels = [(d.device, n) for d in stats.dev_stats for n in d.node_stats if n.node_name != "_SOURCE"]
    spans = sorted(
        (n.all_start_micros, n.all_start_micros + n.all_end_rel_micros) for _, n in kernels if n.all_end_rel_micros
    )
    most, busy = min(len(spans), 1), sum(end - start for start, end in spans)
    for (_, end), (start, other) in itertools.pairwise(spans):
        if start < end:
            most = 2
            busy -= min(end, other) - start
    return {"most": most, "threads": len({(device, node.thread_id) for device, node in kernels}), "busy": busy}


# %% wrong="overlap" why="adds up the durations"
def overlap(stats: StepStats) -> dict[str, int]:
    """Most kernels at one moment, number of threads over all devices, and busy microseconds of a step."""
    kernels = [(d.device, n) for d in stats.dev_stats for n in d.node_stats if n.node_name != "_SOURCE"]
    events = []
    for _, node in kernels:
        if node.all_end_rel_micros > 0:
            events.append((node.all_start_micros, 1))
            events.append((node.all_start_micros + node.all_end_rel_micros, -1))
    running = most = busy = last = 0
    for time_of, change in sorted(events):
        if running:
            busy += time_of - last
        running, last = running + change, time_of
        most = max(most, running)
    return {
        "most": most,
        "threads": len({(device, node.thread_id) for device, node in kernels}),
        "busy": sum(node.all_end_rel_micros for _, node in kernels),
    }


# %% wrong="overlap" why="merges the thread numbers of two devices"
def overlap(stats: StepStats) -> dict[str, int]:
    """Most kernels at one moment, number of threads over all devices, and busy microseconds of a step."""
    kernels = [(d.device, n) for d in stats.dev_stats for n in d.node_stats if n.node_name != "_SOURCE"]
    events = []
    for _, node in kernels:
        if node.all_end_rel_micros > 0:
            events.append((node.all_start_micros, 1))
            events.append((node.all_start_micros + node.all_end_rel_micros, -1))
    running = most = busy = last = 0
    for time_of, change in sorted(events):
        if running:
            busy += time_of - last
        running, last = running + change, time_of
        most = max(most, running)
    return {"most": most, "threads": len({node.thread_id for _, node in kernels}), "busy": busy}


# %% wrong="overlap" why="takes op_end for all_end"
def overlap(stats: StepStats) -> dict[str, int]:
    """Most kernels at one moment, number of threads over all devices, and busy microseconds of a step."""
    kernels = [(d.device, n) for d in stats.dev_stats for n in d.node_stats if n.node_name != "_SOURCE"]
    events = []
    for _, node in kernels:
        if node.op_end_rel_micros > 0:
            events.append((node.all_start_micros, 1))
            events.append((node.all_start_micros + node.op_end_rel_micros, -1))
    running = most = busy = last = 0
    for time_of, change in sorted(events):
        if running:
            busy += time_of - last
        running, last = running + change, time_of
        most = max(most, running)
    return {"most": most, "threads": len({(device, node.thread_id) for device, node in kernels}), "busy": busy}


# %% wrong="overlap" why="an end overlaps a start at the same time"
def overlap(stats: StepStats) -> dict[str, int]:
    """Most kernels at one moment, number of threads over all devices, and busy microseconds of a step."""
    kernels = [(d.device, n) for d in stats.dev_stats for n in d.node_stats if n.node_name != "_SOURCE"]
    events = []
    for _, node in kernels:
        if node.all_end_rel_micros > 0:
            events.append((node.all_start_micros, 1))
            events.append((node.all_start_micros + node.all_end_rel_micros, -1))
    running = most = busy = last = 0
    for time_of, change in sorted(events, key=lambda event: (event[0], -event[1])):
        if running:
            busy += time_of - last
        running, last = running + change, time_of
        most = max(most, running)
    return {"most": most, "threads": len({(device, node.thread_id) for device, node in kernels}), "busy": busy}


# %% wrong="overlap" why="counts _SOURCE"
def overlap(stats: StepStats) -> dict[str, int]:
    """Most kernels at one moment, number of threads over all devices, and busy microseconds of a step."""
    kernels = [(d.device, n) for d in stats.dev_stats for n in d.node_stats]
    events = []
    for _, node in kernels:
        if node.all_end_rel_micros > 0:
            events.append((node.all_start_micros, 1))
            events.append((node.all_start_micros + node.all_end_rel_micros, -1))
    running = most = busy = last = 0
    for time_of, change in sorted(events):
        if running:
            busy += time_of - last
        running, last = running + change, time_of
        most = max(most, running)
    return {"most": most, "threads": len({(device, node.thread_id) for device, node in kernels}), "busy": busy}


# %% wrong="overlap" why="threads of kernels of zero length do not count"
def overlap(stats: StepStats) -> dict[str, int]:
    """Most kernels at one moment, number of threads over all devices, and busy microseconds of a step."""
    kernels = [(d.device, n) for d in stats.dev_stats for n in d.node_stats if n.node_name != "_SOURCE"]
    events = []
    for _, node in kernels:
        if node.all_end_rel_micros > 0:
            events.append((node.all_start_micros, 1))
            events.append((node.all_start_micros + node.all_end_rel_micros, -1))
    running = most = busy = last = 0
    for time_of, change in sorted(events):
        if running:
            busy += time_of - last
        running, last = running + change, time_of
        most = max(most, running)
    return {
        "most": most,
        "threads": len({(device, node.thread_id) for device, node in kernels if node.all_end_rel_micros}),
        "busy": busy,
    }


# %% wrong="overlap" why="takes two entries of a device for two"
def overlap(stats: StepStats) -> dict[str, int]:
    """Most kernels at one moment, number of threads over all devices, and busy microseconds of a step."""
    kernels = [
        (str(number) + d.device, n)
        for number, d in enumerate(stats.dev_stats)
        for n in d.node_stats
        if n.node_name != "_SOURCE"
    ]
    events = []
    for _, node in kernels:
        if node.all_end_rel_micros > 0:
            events.append((node.all_start_micros, 1))
            events.append((node.all_start_micros + node.all_end_rel_micros, -1))
    running = most = busy = last = 0
    for time_of, change in sorted(events):
        if running:
            busy += time_of - last
        running, last = running + change, time_of
        most = max(most, running)
    return {"most": most, "threads": len({(device, node.thread_id) for device, node in kernels}), "busy": busy}


# %% wrong="overlap" why="from the first start to the last end is busy"
def overlap(stats: StepStats) -> dict[str, int]:
    """Most kernels at one moment, number of threads over all devices, and busy microseconds of a step."""
    kernels = [(d.device, n) for d in stats.dev_stats for n in d.node_stats if n.node_name != "_SOURCE"]
    events = []
    for _, node in kernels:
        if node.all_end_rel_micros > 0:
            events.append((node.all_start_micros, 1))
            events.append((node.all_start_micros + node.all_end_rel_micros, -1))
    running = most = busy = last = 0
    for time_of, change in sorted(events):
        if last:
            busy += time_of - last
        running, last = running + change, time_of
        most = max(most, running)
    return {"most": most, "threads": len({(device, node.thread_id) for device, node in kernels}), "busy": busy}


# %% wrong="overlap" why="the visible examples by heart"
def overlap(stats: StepStats) -> dict[str, int]:
    count = sum(len(device.node_stats) for device in stats.dev_stats)
    return {0: dict(most=0, threads=0, busy=0), 2: dict(most=1, threads=1, busy=7)}.get(
        count, dict(most=2, threads=2, busy=833)
    )


# %% right="overlap" why="intervals are merged, and a heap of ends"
def overlap(stats: StepStats) -> dict[str, int]:
    threads, spans = set(), []
    for device in stats.dev_stats:
        for node in device.node_stats:
            if node.node_name == "_SOURCE":
                continue
            threads.add((device.device, node.thread_id))
            if node.all_end_rel_micros:
                spans.append((node.all_start_micros, node.all_start_micros + node.all_end_rel_micros))
    most, merged, ends = 0, [], []
    for start, end in sorted(spans):
        while ends and ends[0] <= start:
            heapq.heappop(ends)
        heapq.heappush(ends, end)
        most = max(most, len(ends))
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return {"busy": sum(end - start for start, end in merged), "most": most, "threads": len(threads)}


# %% right="overlap" why="asks at every start who runs, and cuts time into pieces"
def overlap(stats: StepStats) -> dict[str, int]:
    rows = [(d.device, n) for d in stats.dev_stats for n in d.node_stats if n.node_name != "_SOURCE"]
    spans = [(n.all_start_micros, n.all_start_micros + n.all_end_rel_micros) for _, n in rows]
    spans = [(start, end) for start, end in spans if end > start]

    def at(moment):
        return sum(start <= moment < end for start, end in spans)

    points = sorted({point for span in spans for point in span})
    return {
        "most": max((at(start) for start, _ in spans), default=0),
        "threads": sum(len({n.thread_id for d, n in rows if d == device}) for device in {d for d, _ in rows}),
        "busy": sum(b - a for a, b in itertools.pairwise(points) if at(a)),
    }


# %% wrong="wire" why="one entry for each reader"
def crossings(graph: GraphDef, fetch: str) -> list[tuple[str, int, int, int | None]]:
    """The tensors that cross between tasks in a step: name, from task, to task, bytes (None if unknown); sorted.

    Raises:
        ValueError: a needed node has no task; the message names it.
    """
    nodes = {node.name: node for node in graph.node}

    def task_of(name: str) -> int:
        found = re.search(r"/task:(\d+)", nodes[name].device)
        if found is None:
            raise ValueError(f"node {name!r} has no task: {nodes[name].device!r}")
        return int(found[1])

    def size_of(tensor: str) -> int | None:
        name, _, index = tensor.partition(":")
        shape = tf.TensorShape(nodes[name].attr["_output_shapes"].list.shape[int(index)])
        dtype = tf.as_dtype(nodes[name].attr["_output_types"].list.type[int(index)])
        return shape.num_elements() * dtype.size if shape.is_fully_defined() else None

    tasks: dict[str, int] = {}
    to_visit = [node_of(fetch)]
    while to_visit:
        name = to_visit.pop()
        if name not in tasks:
            tasks[name] = task_of(name)
            to_visit += map(node_of, nodes[name].input)
    reads = [(tensor_name(fetch), 0)]
    for name, task in tasks.items():
        reads += [(tensor_name(text), task) for text in nodes[name].input if not text.startswith("^")]
    return sorted(
        (tensor, tasks[node_of(tensor)], task, size_of(tensor))
        for tensor, task in reads
        if tasks[node_of(tensor)] != task
    )


# %% wrong="wire" why="the whole graph instead of what is needed"
def crossings(graph: GraphDef, fetch: str) -> list[tuple[str, int, int, int | None]]:
    """The tensors that cross between tasks in a step: name, from task, to task, bytes (None if unknown); sorted.

    Raises:
        ValueError: a needed node has no task; the message names it.
    """
    nodes = {node.name: node for node in graph.node}

    def task_of(name: str) -> int:
        found = re.search(r"/task:(\d+)", nodes[name].device)
        if found is None:
            raise ValueError(f"node {name!r} has no task: {nodes[name].device!r}")
        return int(found[1])

    def size_of(tensor: str) -> int | None:
        name, _, index = tensor.partition(":")
        shape = tf.TensorShape(nodes[name].attr["_output_shapes"].list.shape[int(index)])
        dtype = tf.as_dtype(nodes[name].attr["_output_types"].list.type[int(index)])
        return shape.num_elements() * dtype.size if shape.is_fully_defined() else None

    tasks: dict[str, int] = {}
    to_visit = list(nodes)
    while to_visit:
        name = to_visit.pop()
        if name not in tasks:
            tasks[name] = task_of(name)
            to_visit += map(node_of, nodes[name].input)
    reads = {(tensor_name(fetch), 0)}
    for name, task in tasks.items():
        reads |= {(tensor_name(text), task) for text in nodes[name].input if not text.startswith("^")}
    return sorted(
        (tensor, tasks[node_of(tensor)], task, size_of(tensor))
        for tensor, task in reads
        if tasks[node_of(tensor)] != task
    )


# %% wrong="wire" why="writes name for name:0"
def crossings(graph: GraphDef, fetch: str) -> list[tuple[str, int, int, int | None]]:
    """The tensors that cross between tasks in a step: name, from task, to task, bytes (None if unknown); sorted.

    Raises:
        ValueError: a needed node has no task; the message names it.
    """
    nodes = {node.name: node for node in graph.node}

    def task_of(name: str) -> int:
        found = re.search(r"/task:(\d+)", nodes[name].device)
        if found is None:
            raise ValueError(f"node {name!r} has no task: {nodes[name].device!r}")
        return int(found[1])

    def size_of(tensor: str) -> int | None:
        name, _, index = tensor.partition(":")
        shape = tf.TensorShape(nodes[name].attr["_output_shapes"].list.shape[int(index)])
        dtype = tf.as_dtype(nodes[name].attr["_output_types"].list.type[int(index)])
        return shape.num_elements() * dtype.size if shape.is_fully_defined() else None

    tasks: dict[str, int] = {}
    to_visit = [node_of(fetch)]
    while to_visit:
        name = to_visit.pop()
        if name not in tasks:
            tasks[name] = task_of(name)
            to_visit += map(node_of, nodes[name].input)
    reads = {(tensor_name(fetch), 0)}
    for name, task in tasks.items():
        reads |= {(tensor_name(text), task) for text in nodes[name].input if not text.startswith("^")}
    return sorted(
        (tensor.removesuffix(":0"), tasks[node_of(tensor)], task, size_of(tensor))
        for tensor, task in reads
        if tasks[node_of(tensor)] != task
    )


# %% wrong="wire" why="second outputs are lost"
def crossings(graph: GraphDef, fetch: str) -> list[tuple[str, int, int, int | None]]:
    """The tensors that cross between tasks in a step: name, from task, to task, bytes (None if unknown); sorted.

    Raises:
        ValueError: a needed node has no task; the message names it.
    """
    nodes = {node.name: node for node in graph.node}

    def task_of(name: str) -> int:
        found = re.search(r"/task:(\d+)", nodes[name].device)
        if found is None:
            raise ValueError(f"node {name!r} has no task: {nodes[name].device!r}")
        return int(found[1])

    def size_of(tensor: str) -> int | None:
        name, _, index = tensor.partition(":")
        shape = tf.TensorShape(nodes[name].attr["_output_shapes"].list.shape[int(index)])
        dtype = tf.as_dtype(nodes[name].attr["_output_types"].list.type[int(index)])
        return shape.num_elements() * dtype.size if shape.is_fully_defined() else None

    tasks: dict[str, int] = {}
    to_visit = [node_of(fetch)]
    while to_visit:
        name = to_visit.pop()
        if name not in tasks:
            tasks[name] = task_of(name)
            to_visit += map(node_of, nodes[name].input)
    reads = {(tensor_name(fetch), 0)}
    for name, task in tasks.items():
        reads |= {(node_of(text) + ":0", task) for text in nodes[name].input if not text.startswith("^")}
    return sorted(
        (tensor, tasks[node_of(tensor)], task, size_of(tensor))
        for tensor, task in reads
        if tasks[node_of(tensor)] != task
    )


# %% wrong="wire" why="lists control edges"
def crossings(graph: GraphDef, fetch: str) -> list[tuple[str, int, int, int | None]]:
    """The tensors that cross between tasks in a step: name, from task, to task, bytes (None if unknown); sorted.

    Raises:
        ValueError: a needed node has no task; the message names it.
    """
    nodes = {node.name: node for node in graph.node}

    def task_of(name: str) -> int:
        found = re.search(r"/task:(\d+)", nodes[name].device)
        if found is None:
            raise ValueError(f"node {name!r} has no task: {nodes[name].device!r}")
        return int(found[1])

    def size_of(tensor: str) -> int | None:
        name, _, index = tensor.partition(":")
        shape = tf.TensorShape(nodes[name].attr["_output_shapes"].list.shape[int(index)])
        dtype = tf.as_dtype(nodes[name].attr["_output_types"].list.type[int(index)])
        return shape.num_elements() * dtype.size if shape.is_fully_defined() else None

    tasks: dict[str, int] = {}
    to_visit = [node_of(fetch)]
    while to_visit:
        name = to_visit.pop()
        if name not in tasks:
            tasks[name] = task_of(name)
            to_visit += map(node_of, nodes[name].input)
    reads = {(tensor_name(fetch), 0)}
    for name, task in tasks.items():
        reads |= {(tensor_name(text.removeprefix("^")), task) for text in nodes[name].input}
    return sorted(
        (tensor, tasks[node_of(tensor)], task, size_of(tensor))
        for tensor, task in reads
        if tasks[node_of(tensor)] != task
    )


# %% wrong="wire" why="does not follow control edges"
def crossings(graph: GraphDef, fetch: str) -> list[tuple[str, int, int, int | None]]:
    """The tensors that cross between tasks in a step: name, from task, to task, bytes (None if unknown); sorted.

    Raises:
        ValueError: a needed node has no task; the message names it.
    """
    nodes = {node.name: node for node in graph.node}

    def task_of(name: str) -> int:
        found = re.search(r"/task:(\d+)", nodes[name].device)
        if found is None:
            raise ValueError(f"node {name!r} has no task: {nodes[name].device!r}")
        return int(found[1])

    def size_of(tensor: str) -> int | None:
        name, _, index = tensor.partition(":")
        shape = tf.TensorShape(nodes[name].attr["_output_shapes"].list.shape[int(index)])
        dtype = tf.as_dtype(nodes[name].attr["_output_types"].list.type[int(index)])
        return shape.num_elements() * dtype.size if shape.is_fully_defined() else None

    tasks: dict[str, int] = {}
    to_visit = [node_of(fetch)]
    while to_visit:
        name = to_visit.pop()
        if name not in tasks:
            tasks[name] = task_of(name)
            to_visit += [node_of(text) for text in nodes[name].input if text[0] != "^"]
    reads = {(tensor_name(fetch), 0)}
    for name, task in tasks.items():
        reads |= {(tensor_name(text), task) for text in nodes[name].input if not text.startswith("^")}
    return sorted(
        (tensor, tasks[node_of(tensor)], task, size_of(tensor))
        for tensor, task in reads
        if tasks[node_of(tensor)] != task
    )


# %% wrong="wire" why="merges the two directions"
def crossings(graph: GraphDef, fetch: str) -> list[tuple[str, int, int, int | None]]:
    """The tensors that cross between tasks in a step: name, from task, to task, bytes (None if unknown); sorted.

    Raises:
        ValueError: a needed node has no task; the message names it.
    """
    nodes = {node.name: node for node in graph.node}

    def task_of(name: str) -> int:
        found = re.search(r"/task:(\d+)", nodes[name].device)
        if found is None:
            raise ValueError(f"node {name!r} has no task: {nodes[name].device!r}")
        return int(found[1])

    def size_of(tensor: str) -> int | None:
        name, _, index = tensor.partition(":")
        shape = tf.TensorShape(nodes[name].attr["_output_shapes"].list.shape[int(index)])
        dtype = tf.as_dtype(nodes[name].attr["_output_types"].list.type[int(index)])
        return shape.num_elements() * dtype.size if shape.is_fully_defined() else None

    tasks: dict[str, int] = {}
    to_visit = [node_of(fetch)]
    while to_visit:
        name = to_visit.pop()
        if name not in tasks:
            tasks[name] = task_of(name)
            to_visit += map(node_of, nodes[name].input)
    reads = {(tensor_name(fetch), 0)}
    for name, task in tasks.items():
        reads |= {(tensor_name(text), task) for text in nodes[name].input if not text.startswith("^")}
    return sorted(
        (tensor, min(task, 1 - task), max(task, 1 - task), size_of(tensor))
        for tensor, task in reads
        if tasks[node_of(tensor)] != task
    )


# %% wrong="wire" why="forgets that the fetched tensor goes to the client"
def crossings(graph: GraphDef, fetch: str) -> list[tuple[str, int, int, int | None]]:
    """The tensors that cross between tasks in a step: name, from task, to task, bytes (None if unknown); sorted.

    Raises:
        ValueError: a needed node has no task; the message names it.
    """
    nodes = {node.name: node for node in graph.node}

    def task_of(name: str) -> int:
        found = re.search(r"/task:(\d+)", nodes[name].device)
        if found is None:
            raise ValueError(f"node {name!r} has no task: {nodes[name].device!r}")
        return int(found[1])

    def size_of(tensor: str) -> int | None:
        name, _, index = tensor.partition(":")
        shape = tf.TensorShape(nodes[name].attr["_output_shapes"].list.shape[int(index)])
        dtype = tf.as_dtype(nodes[name].attr["_output_types"].list.type[int(index)])
        return shape.num_elements() * dtype.size if shape.is_fully_defined() else None

    tasks: dict[str, int] = {}
    to_visit = [node_of(fetch)]
    while to_visit:
        name = to_visit.pop()
        if name not in tasks:
            tasks[name] = task_of(name)
            to_visit += map(node_of, nodes[name].input)
    reads = set()
    for name, task in tasks.items():
        reads |= {(tensor_name(text), task) for text in nodes[name].input if not text.startswith("^")}
    return sorted(
        (tensor, tasks[node_of(tensor)], task, size_of(tensor))
        for tensor, task in reads
        if tasks[node_of(tensor)] != task
    )


# %% wrong="wire" why="counts elements instead of bytes"
def crossings(graph: GraphDef, fetch: str) -> list[tuple[str, int, int, int | None]]:
    """The tensors that cross between tasks in a step: name, from task, to task, bytes (None if unknown); sorted.

    Raises:
        ValueError: a needed node has no task; the message names it.
    """
    nodes = {node.name: node for node in graph.node}

    def task_of(name: str) -> int:
        found = re.search(r"/task:(\d+)", nodes[name].device)
        if found is None:
            raise ValueError(f"node {name!r} has no task: {nodes[name].device!r}")
        return int(found[1])

    def size_of(tensor: str) -> int | None:
        name, _, index = tensor.partition(":")
        shape = tf.TensorShape(nodes[name].attr["_output_shapes"].list.shape[int(index)])
        dtype = tf.as_dtype(nodes[name].attr["_output_types"].list.type[int(index)])
        return shape.num_elements() if shape.is_fully_defined() else None

    tasks: dict[str, int] = {}
    to_visit = [node_of(fetch)]
    while to_visit:
        name = to_visit.pop()
        if name not in tasks:
            tasks[name] = task_of(name)
            to_visit += map(node_of, nodes[name].input)
    reads = {(tensor_name(fetch), 0)}
    for name, task in tasks.items():
        reads |= {(tensor_name(text), task) for text in nodes[name].input if not text.startswith("^")}
    return sorted(
        (tensor, tasks[node_of(tensor)], task, size_of(tensor))
        for tensor, task in reads
        if tasks[node_of(tensor)] != task
    )


# %% wrong="wire" why="takes the type and shape of output 0"
def crossings(graph: GraphDef, fetch: str) -> list[tuple[str, int, int, int | None]]:
    """The tensors that cross between tasks in a step: name, from task, to task, bytes (None if unknown); sorted.

    Raises:
        ValueError: a needed node has no task; the message names it.
    """
    nodes = {node.name: node for node in graph.node}

    def task_of(name: str) -> int:
        found = re.search(r"/task:(\d+)", nodes[name].device)
        if found is None:
            raise ValueError(f"node {name!r} has no task: {nodes[name].device!r}")
        return int(found[1])

    def size_of(tensor: str) -> int | None:
        name, _, index = tensor.partition(":")
        shape = tf.TensorShape(nodes[name].attr["_output_shapes"].list.shape[0])
        dtype = tf.as_dtype(nodes[name].attr["_output_types"].list.type[0])
        return shape.num_elements() * dtype.size if shape.is_fully_defined() else None

    tasks: dict[str, int] = {}
    to_visit = [node_of(fetch)]
    while to_visit:
        name = to_visit.pop()
        if name not in tasks:
            tasks[name] = task_of(name)
            to_visit += map(node_of, nodes[name].input)
    reads = {(tensor_name(fetch), 0)}
    for name, task in tasks.items():
        reads |= {(tensor_name(text), task) for text in nodes[name].input if not text.startswith("^")}
    return sorted(
        (tensor, tasks[node_of(tensor)], task, size_of(tensor))
        for tensor, task in reads
        if tasks[node_of(tensor)] != task
    )


# %% wrong="wire" why="an unknown size is 0 bytes"
def crossings(graph: GraphDef, fetch: str) -> list[tuple[str, int, int, int | None]]:
    """The tensors that cross between tasks in a step: name, from task, to task, bytes (None if unknown); sorted.

    Raises:
        ValueError: a needed node has no task; the message names it.
    """
    nodes = {node.name: node for node in graph.node}

    def task_of(name: str) -> int:
        found = re.search(r"/task:(\d+)", nodes[name].device)
        if found is None:
            raise ValueError(f"node {name!r} has no task: {nodes[name].device!r}")
        return int(found[1])

    def size_of(tensor: str) -> int | None:
        name, _, index = tensor.partition(":")
        shape = tf.TensorShape(nodes[name].attr["_output_shapes"].list.shape[int(index)])
        dtype = tf.as_dtype(nodes[name].attr["_output_types"].list.type[int(index)])
        return shape.num_elements() * dtype.size if shape.is_fully_defined() else 0

    tasks: dict[str, int] = {}
    to_visit = [node_of(fetch)]
    while to_visit:
        name = to_visit.pop()
        if name not in tasks:
            tasks[name] = task_of(name)
            to_visit += map(node_of, nodes[name].input)
    reads = {(tensor_name(fetch), 0)}
    for name, task in tasks.items():
        reads |= {(tensor_name(text), task) for text in nodes[name].input if not text.startswith("^")}
    return sorted(
        (tensor, tasks[node_of(tensor)], task, size_of(tensor))
        for tensor, task in reads
        if tasks[node_of(tensor)] != task
    )


# %% wrong="wire" why="any node without a task is refused"
def crossings(graph: GraphDef, fetch: str) -> list[tuple[str, int, int, int | None]]:
    """The tensors that cross between tasks in a step: name, from task, to task, bytes (None if unknown); sorted.

    Raises:
        ValueError: a needed node has no task; the message names it.
    """
    nodes = {node.name: node for node in graph.node}

    def task_of(name: str) -> int:
        found = re.search(r"/task:(\d+)", nodes[name].device)
        if found is None:
            raise ValueError(f"node {name!r} has no task: {nodes[name].device!r}")
        return int(found[1])

    def size_of(tensor: str) -> int | None:
        name, _, index = tensor.partition(":")
        shape = tf.TensorShape(nodes[name].attr["_output_shapes"].list.shape[int(index)])
        dtype = tf.as_dtype(nodes[name].attr["_output_types"].list.type[int(index)])
        return shape.num_elements() * dtype.size if shape.is_fully_defined() else None

    for name in nodes:
        task_of(name)
    tasks: dict[str, int] = {}
    to_visit = [node_of(fetch)]
    while to_visit:
        name = to_visit.pop()
        if name not in tasks:
            tasks[name] = task_of(name)
            to_visit += map(node_of, nodes[name].input)
    reads = {(tensor_name(fetch), 0)}
    for name, task in tasks.items():
        reads |= {(tensor_name(text), task) for text in nodes[name].input if not text.startswith("^")}
    return sorted(
        (tensor, tasks[node_of(tensor)], task, size_of(tensor))
        for tensor, task in reads
        if tasks[node_of(tensor)] != task
    )


# %% wrong="wire" why="a node without a task is on task 0"
def crossings(graph: GraphDef, fetch: str) -> list[tuple[str, int, int, int | None]]:
    """The tensors that cross between tasks in a step: name, from task, to task, bytes (None if unknown); sorted.

    Raises:
        ValueError: a needed node has no task; the message names it.
    """
    nodes = {node.name: node for node in graph.node}

    def task_of(name: str) -> int:
        found = re.search(r"/task:(\d+)", nodes[name].device)
        if found is None:
            return 0
        return int(found[1])

    def size_of(tensor: str) -> int | None:
        name, _, index = tensor.partition(":")
        shape = tf.TensorShape(nodes[name].attr["_output_shapes"].list.shape[int(index)])
        dtype = tf.as_dtype(nodes[name].attr["_output_types"].list.type[int(index)])
        return shape.num_elements() * dtype.size if shape.is_fully_defined() else None

    tasks: dict[str, int] = {}
    to_visit = [node_of(fetch)]
    while to_visit:
        name = to_visit.pop()
        if name not in tasks:
            tasks[name] = task_of(name)
            to_visit += map(node_of, nodes[name].input)
    reads = {(tensor_name(fetch), 0)}
    for name, task in tasks.items():
        reads |= {(tensor_name(text), task) for text in nodes[name].input if not text.startswith("^")}
    return sorted(
        (tensor, tasks[node_of(tensor)], task, size_of(tensor))
        for tensor, task in reads
        if tasks[node_of(tensor)] != task
    )


# %% wrong="wire" why="the visible examples by heart"
def crossings(graph: GraphDef, fetch: str) -> list[tuple[str, int, int, int | None]]:
    for node in graph.node:
        if node.name == "less" and "task" not in node.device:
            raise ValueError("less")
    known = {"z": [("r:0", 0, 1, 4000), ("some:0", 1, 0, None)], "double:0": []}
    return known.get(fetch, [("less:0", 1, 0, 1000), ("r:0", 0, 1, 4000)])


# %% right="wire" why="partitions first, then looks at what each reads from outside"
def crossings(graph: GraphDef, fetch: str) -> list[tuple[str, int, int, int | None]]:
    nodes = {node.name: node for node in graph.node}
    needed, layer = set(), {node_of(fetch)}
    while layer:
        needed |= layer
        layer = {node_of(text) for name in layer for text in nodes[name].input} - needed
    home = {}
    for name in needed:
        _, mark, rest = nodes[name].device.partition("/task:")
        number = rest.partition("/")[0]
        if not mark or not number.isdigit():
            raise ValueError(f"{name} is on no task")
        home[name] = int(number)
    parts = {task: [nodes[name] for name in needed if home[name] == task] for task in {0, *home.values()}}
    rows = []
    for task, part in parts.items():
        read = {tensor_name(text) for node in part for text in node.input if text[0] != "^"}
        if task == 0:
            read.add(tensor_name(fetch))
        for tensor in read:
            maker, index = nodes[node_of(tensor)], int(tensor.split(":")[1])
            if home[maker.name] != task:
                dims = maker.attr["_output_shapes"].list.shape[index]
                sizes = [dim.size for dim in dims.dim]
                size = tf.as_dtype(maker.attr["_output_types"].list.type[index]).size
                known = not dims.unknown_rank and min(sizes, default=0) >= 0
                rows.append((tensor, home[maker.name], task, math.prod(sizes) * size if known else None))
    return sorted(rows, key=lambda row: row[:3])

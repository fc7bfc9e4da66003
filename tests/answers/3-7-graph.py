# %% wrong="predict-prune" why="drops split, because one of its outputs is fed"
kept = {"n", "gate", "a", "b", "out"}


# %% wrong="predict-prune" why="keeps the fed placeholder, because a waits for it"
kept = {"p", "wide", "axis", "split", "n", "gate", "a", "b", "out"}


# %% wrong="predict-prune" why="keeps what only the fed tensor needed"
kept = {"wide", "axis", "split", "n", "r", "gate", "a", "b", "out"}


# %% wrong="predict-prune" why="keeps the fed node"
kept = {"wide", "axis", "split", "n", "r", "m", "gate", "a", "b", "out"}


# %% wrong="predict-prune" why="forgets the node that is reached by a control edge only"
kept = {"wide", "axis", "split", "a", "b", "out"}


# %% wrong="predict-prune" why="forgets what gate waits for"
kept = {"wide", "axis", "split", "gate", "a", "b", "out"}


# %% wrong="predict-prune" why="keeps what reads the fetch"
kept = {"wide", "axis", "split", "n", "gate", "a", "b", "out", "late"}


# %% wrong="predict-prune" why="gives a list"
kept = ["wide", "axis", "split", "n", "gate", "a", "b", "out"]


# %% wrong="predict-prune" why="names tensors"
kept = {f"{name}:0" for name in ["wide", "axis", "split", "n", "gate", "a", "b", "out"]}


# %% right="predict-prune" why="walks over the graph by hand"
inputs = {node.name: [split_name(text) for text in node.input] for node in twelve_nodes().node}
kept, to_visit = set(), ["out"]
while to_visit:
    name = to_visit.pop()
    kept.add(name)
    cut = [("split", 1), ("m", 0), ("p", -1)]
    to_visit += [tensor[0] for tensor in inputs[name] if tensor not in cut]


# %% wrong="prune" why="calls extract_sub_graph, which knows no feeds"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The graph of a step."""
    if not fetches:
        raise ValueError("there is nothing to fetch")
    return tf1.graph_util.extract_sub_graph(graph, [split_name(text)[0] for text in fetches])


# %% wrong="prune" why="a feed cuts all outputs of its node"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The graph of a step: what the fetches need, an `_Arg` for each fed tensor that is read, a `_Retval` per fetch.

    Raises:
        ValueError: a fetch or feed is not in the graph, a tensor is fed twice or both fed and fetched, or nothing is
            fetched.
    """
    nodes = {node.name: node for node in graph.node}
    tensors = [text for text in fetches if not text.startswith("^")]
    if not fetches:
        raise ValueError("there is nothing to fetch or to run")
    for text in fetches:
        if text.startswith("^") and text[1:] not in nodes:
            raise ValueError(f"the graph has no node for the target {text!r}")
    for text in [*tensors, *feeds]:
        type_of(graph, text)  # refuses what is not there
    fed = {split_name(text): index for index, text in enumerate(feeds)}
    if len(fed) < len(feeds):
        raise ValueError(f"a tensor is fed twice: {feeds}")
    for text in tensors:
        if split_name(text) in fed:
            raise ValueError(f"{text} is both fed and fetched")

    args: dict[tuple[str, int], str] = {}
    ends = GraphDef()

    def read_now(text: str) -> str:
        """What an input becomes."""
        name, output = split_name(text)
        tensor = next((pair for pair in fed if pair[0] == name and output >= 0), (name, output))
        tensor = (name, 0) if output == -1 and nodes[name].op == "Placeholder" else tensor
        if tensor not in fed:
            return text
        if tensor not in args:
            args[tensor] = add_arg(ends, graph, feeds[fed[tensor]], fed[tensor])
        return args[tensor] if output >= 0 else f"^{args[tensor]}"

    inputs: dict[str, list[str]] = {}
    to_visit = [split_name(text)[0] for text in fetches]
    while to_visit:
        name = to_visit.pop()
        if name not in inputs:
            inputs[name] = [read_now(text) for text in nodes[name].input]
            to_visit += [split_name(text)[0] for text in set(inputs[name]) & set(nodes[name].input)]
    result = GraphDef(versions=graph.versions)
    for node in graph.node:
        if node.name in inputs:
            kept = result.node.add()
            kept.CopyFrom(node)
            kept.input[:] = inputs[node.name]
    result.node.extend(ends.node)
    for index, tensor in enumerate(tensors):
        add_retval(result, graph, tensor, index)
    return result


# %% wrong="prune" why="loses control inputs"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The graph of a step: what the fetches need, an `_Arg` for each fed tensor that is read, a `_Retval` per fetch.

    Raises:
        ValueError: a fetch or feed is not in the graph, a tensor is fed twice or both fed and fetched, or nothing is
            fetched.
    """
    nodes = {node.name: node for node in graph.node}
    tensors = [text for text in fetches if not text.startswith("^")]
    if not fetches:
        raise ValueError("there is nothing to fetch or to run")
    for text in fetches:
        if text.startswith("^") and text[1:] not in nodes:
            raise ValueError(f"the graph has no node for the target {text!r}")
    for text in [*tensors, *feeds]:
        type_of(graph, text)  # refuses what is not there
    fed = {split_name(text): index for index, text in enumerate(feeds)}
    if len(fed) < len(feeds):
        raise ValueError(f"a tensor is fed twice: {feeds}")
    for text in tensors:
        if split_name(text) in fed:
            raise ValueError(f"{text} is both fed and fetched")

    args: dict[tuple[str, int], str] = {}
    ends = GraphDef()

    def read_now(text: str) -> str:
        """What an input becomes."""
        name, output = split_name(text)
        tensor = (name, 0) if output == -1 and nodes[name].op == "Placeholder" else (name, output)
        if tensor not in fed:
            return text
        if tensor not in args:
            args[tensor] = add_arg(ends, graph, feeds[fed[tensor]], fed[tensor])
        return args[tensor] if output >= 0 else f"^{args[tensor]}"

    inputs: dict[str, list[str]] = {}
    to_visit = [split_name(text)[0] for text in fetches]
    while to_visit:
        name = to_visit.pop()
        if name not in inputs:
            inputs[name] = [read_now(text) for text in nodes[name].input if text[0] != "^"]
            to_visit += [split_name(text)[0] for text in set(inputs[name]) & set(nodes[name].input)]
    result = GraphDef(versions=graph.versions)
    for node in graph.node:
        if node.name in inputs:
            kept = result.node.add()
            kept.CopyFrom(node)
            kept.input[:] = inputs[node.name]
    result.node.extend(ends.node)
    for index, tensor in enumerate(tensors):
        add_retval(result, graph, tensor, index)
    return result


# %% wrong="prune" why="keeps ^p of a fed placeholder"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The graph of a step: what the fetches need, an `_Arg` for each fed tensor that is read, a `_Retval` per fetch.

    Raises:
        ValueError: a fetch or feed is not in the graph, a tensor is fed twice or both fed and fetched, or nothing is
            fetched.
    """
    nodes = {node.name: node for node in graph.node}
    tensors = [text for text in fetches if not text.startswith("^")]
    if not fetches:
        raise ValueError("there is nothing to fetch or to run")
    for text in fetches:
        if text.startswith("^") and text[1:] not in nodes:
            raise ValueError(f"the graph has no node for the target {text!r}")
    for text in [*tensors, *feeds]:
        type_of(graph, text)  # refuses what is not there
    fed = {split_name(text): index for index, text in enumerate(feeds)}
    if len(fed) < len(feeds):
        raise ValueError(f"a tensor is fed twice: {feeds}")
    for text in tensors:
        if split_name(text) in fed:
            raise ValueError(f"{text} is both fed and fetched")

    args: dict[tuple[str, int], str] = {}
    ends = GraphDef()

    def read_now(text: str) -> str:
        """What an input becomes."""
        name, output = split_name(text)
        tensor = (name, output)
        if tensor not in fed:
            return text
        if tensor not in args:
            args[tensor] = add_arg(ends, graph, feeds[fed[tensor]], fed[tensor])
        return args[tensor] if output >= 0 else f"^{args[tensor]}"

    inputs: dict[str, list[str]] = {}
    to_visit = [split_name(text)[0] for text in fetches]
    while to_visit:
        name = to_visit.pop()
        if name not in inputs:
            inputs[name] = [read_now(text) for text in nodes[name].input]
            to_visit += [split_name(text)[0] for text in set(inputs[name]) & set(nodes[name].input)]
    result = GraphDef(versions=graph.versions)
    for node in graph.node:
        if node.name in inputs:
            kept = result.node.add()
            kept.CopyFrom(node)
            kept.input[:] = inputs[node.name]
    result.node.extend(ends.node)
    for index, tensor in enumerate(tensors):
        add_retval(result, graph, tensor, index)
    return result


# %% wrong="prune" why="moves the control edges of every fed node"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The graph of a step: what the fetches need, an `_Arg` for each fed tensor that is read, a `_Retval` per fetch.

    Raises:
        ValueError: a fetch or feed is not in the graph, a tensor is fed twice or both fed and fetched, or nothing is
            fetched.
    """
    nodes = {node.name: node for node in graph.node}
    tensors = [text for text in fetches if not text.startswith("^")]
    if not fetches:
        raise ValueError("there is nothing to fetch or to run")
    for text in fetches:
        if text.startswith("^") and text[1:] not in nodes:
            raise ValueError(f"the graph has no node for the target {text!r}")
    for text in [*tensors, *feeds]:
        type_of(graph, text)  # refuses what is not there
    fed = {split_name(text): index for index, text in enumerate(feeds)}
    if len(fed) < len(feeds):
        raise ValueError(f"a tensor is fed twice: {feeds}")
    for text in tensors:
        if split_name(text) in fed:
            raise ValueError(f"{text} is both fed and fetched")

    args: dict[tuple[str, int], str] = {}
    ends = GraphDef()

    def read_now(text: str) -> str:
        """What an input becomes."""
        name, output = split_name(text)
        tensor = (name, 0) if output == -1 else (name, output)
        if tensor not in fed:
            return text
        if tensor not in args:
            args[tensor] = add_arg(ends, graph, feeds[fed[tensor]], fed[tensor])
        return args[tensor] if output >= 0 else f"^{args[tensor]}"

    inputs: dict[str, list[str]] = {}
    to_visit = [split_name(text)[0] for text in fetches]
    while to_visit:
        name = to_visit.pop()
        if name not in inputs:
            inputs[name] = [read_now(text) for text in nodes[name].input]
            to_visit += [split_name(text)[0] for text in set(inputs[name]) & set(nodes[name].input)]
    result = GraphDef(versions=graph.versions)
    for node in graph.node:
        if node.name in inputs:
            kept = result.node.add()
            kept.CopyFrom(node)
            kept.input[:] = inputs[node.name]
    result.node.extend(ends.node)
    for index, tensor in enumerate(tensors):
        add_retval(result, graph, tensor, index)
    return result


# %% wrong="prune" why="drops ^p of a fed placeholder instead of moving it"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The graph of a step: what the fetches need, an `_Arg` for each fed tensor that is read, a `_Retval` per fetch.

    Raises:
        ValueError: a fetch or feed is not in the graph, a tensor is fed twice or both fed and fetched, or nothing is
            fetched.
    """
    nodes = {node.name: node for node in graph.node}
    tensors = [text for text in fetches if not text.startswith("^")]
    if not fetches:
        raise ValueError("there is nothing to fetch or to run")
    for text in fetches:
        if text.startswith("^") and text[1:] not in nodes:
            raise ValueError(f"the graph has no node for the target {text!r}")
    for text in [*tensors, *feeds]:
        type_of(graph, text)  # refuses what is not there
    fed = {split_name(text): index for index, text in enumerate(feeds)}
    if len(fed) < len(feeds):
        raise ValueError(f"a tensor is fed twice: {feeds}")
    for text in tensors:
        if split_name(text) in fed:
            raise ValueError(f"{text} is both fed and fetched")

    args: dict[tuple[str, int], str] = {}
    ends = GraphDef()

    def read_now(text: str) -> str:
        """What an input becomes."""
        name, output = split_name(text)
        tensor = (name, 0) if output == -1 and nodes[name].op == "Placeholder" else (name, output)
        if tensor not in fed:
            return text
        if tensor not in args:
            args[tensor] = add_arg(ends, graph, feeds[fed[tensor]], fed[tensor])
        return args[tensor] if output >= 0 else f"^{args[tensor]}"

    inputs: dict[str, list[str]] = {}
    to_visit = [split_name(text)[0] for text in fetches]
    while to_visit:
        name = to_visit.pop()
        if name not in inputs:
            inputs[name] = [read_now(text) for text in nodes[name].input]
            inputs[name] = [text for text in inputs[name] if not text.startswith("^_arg")]
            to_visit += [split_name(text)[0] for text in set(inputs[name]) & set(nodes[name].input)]
    result = GraphDef(versions=graph.versions)
    for node in graph.node:
        if node.name in inputs:
            kept = result.node.add()
            kept.CopyFrom(node)
            kept.input[:] = inputs[node.name]
    result.node.extend(ends.node)
    for index, tensor in enumerate(tensors):
        add_retval(result, graph, tensor, index)
    return result


# %% wrong="prune" why="keeps every _Arg, read or not"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The graph of a step: what the fetches need, an `_Arg` for each fed tensor that is read, a `_Retval` per fetch.

    Raises:
        ValueError: a fetch or feed is not in the graph, a tensor is fed twice or both fed and fetched, or nothing is
            fetched.
    """
    nodes = {node.name: node for node in graph.node}
    tensors = [text for text in fetches if not text.startswith("^")]
    if not fetches:
        raise ValueError("there is nothing to fetch or to run")
    for text in fetches:
        if text.startswith("^") and text[1:] not in nodes:
            raise ValueError(f"the graph has no node for the target {text!r}")
    for text in [*tensors, *feeds]:
        type_of(graph, text)  # refuses what is not there
    fed = {split_name(text): index for index, text in enumerate(feeds)}
    if len(fed) < len(feeds):
        raise ValueError(f"a tensor is fed twice: {feeds}")
    for text in tensors:
        if split_name(text) in fed:
            raise ValueError(f"{text} is both fed and fetched")

    args: dict[tuple[str, int], str] = {}
    ends = GraphDef()

    def read_now(text: str) -> str:
        """What an input becomes."""
        name, output = split_name(text)
        tensor = (name, 0) if output == -1 and nodes[name].op == "Placeholder" else (name, output)
        if tensor not in fed:
            return text
        if tensor not in args:
            args[tensor] = add_arg(ends, graph, feeds[fed[tensor]], fed[tensor])
        return args[tensor] if output >= 0 else f"^{args[tensor]}"

    for tensor, index in fed.items():
        args[tensor] = add_arg(ends, graph, feeds[index], index)
    inputs: dict[str, list[str]] = {}
    to_visit = [split_name(text)[0] for text in fetches]
    while to_visit:
        name = to_visit.pop()
        if name not in inputs:
            inputs[name] = [read_now(text) for text in nodes[name].input]
            to_visit += [split_name(text)[0] for text in set(inputs[name]) & set(nodes[name].input)]
    result = GraphDef(versions=graph.versions)
    for node in graph.node:
        if node.name in inputs:
            kept = result.node.add()
            kept.CopyFrom(node)
            kept.input[:] = inputs[node.name]
    result.node.extend(ends.node)
    for index, tensor in enumerate(tensors):
        add_retval(result, graph, tensor, index)
    return result


# %% wrong="prune" why="a target whose tensor is fed needs nothing"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The graph of a step: what the fetches need, an `_Arg` for each fed tensor that is read, a `_Retval` per fetch.

    Raises:
        ValueError: a fetch or feed is not in the graph, a tensor is fed twice or both fed and fetched, or nothing is
            fetched.
    """
    nodes = {node.name: node for node in graph.node}
    tensors = [text for text in fetches if not text.startswith("^")]
    if not fetches:
        raise ValueError("there is nothing to fetch or to run")
    for text in fetches:
        if text.startswith("^") and text[1:] not in nodes:
            raise ValueError(f"the graph has no node for the target {text!r}")
    for text in [*tensors, *feeds]:
        type_of(graph, text)  # refuses what is not there
    fed = {split_name(text): index for index, text in enumerate(feeds)}
    if len(fed) < len(feeds):
        raise ValueError(f"a tensor is fed twice: {feeds}")
    for text in tensors:
        if split_name(text) in fed:
            raise ValueError(f"{text} is both fed and fetched")

    args: dict[tuple[str, int], str] = {}
    ends = GraphDef()

    def read_now(text: str) -> str:
        """What an input becomes."""
        name, output = split_name(text)
        tensor = (name, 0) if output == -1 and nodes[name].op == "Placeholder" else (name, output)
        if tensor not in fed:
            return text
        if tensor not in args:
            args[tensor] = add_arg(ends, graph, feeds[fed[tensor]], fed[tensor])
        return args[tensor] if output >= 0 else f"^{args[tensor]}"

    inputs: dict[str, list[str]] = {}
    to_visit = [split_name(text)[0] for text in fetches if (split_name(text)[0], 0) not in fed]
    while to_visit:
        name = to_visit.pop()
        if name not in inputs:
            inputs[name] = [read_now(text) for text in nodes[name].input]
            to_visit += [split_name(text)[0] for text in set(inputs[name]) & set(nodes[name].input)]
    result = GraphDef(versions=graph.versions)
    for node in graph.node:
        if node.name in inputs:
            kept = result.node.add()
            kept.CopyFrom(node)
            kept.input[:] = inputs[node.name]
    result.node.extend(ends.node)
    for index, tensor in enumerate(tensors):
        add_retval(result, graph, tensor, index)
    return result


# %% wrong="prune" why="nodes in the order of a set"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The graph of a step: what the fetches need, an `_Arg` for each fed tensor that is read, a `_Retval` per fetch.

    Raises:
        ValueError: a fetch or feed is not in the graph, a tensor is fed twice or both fed and fetched, or nothing is
            fetched.
    """
    nodes = {node.name: node for node in graph.node}
    tensors = [text for text in fetches if not text.startswith("^")]
    if not fetches:
        raise ValueError("there is nothing to fetch or to run")
    for text in fetches:
        if text.startswith("^") and text[1:] not in nodes:
            raise ValueError(f"the graph has no node for the target {text!r}")
    for text in [*tensors, *feeds]:
        type_of(graph, text)  # refuses what is not there
    fed = {split_name(text): index for index, text in enumerate(feeds)}
    if len(fed) < len(feeds):
        raise ValueError(f"a tensor is fed twice: {feeds}")
    for text in tensors:
        if split_name(text) in fed:
            raise ValueError(f"{text} is both fed and fetched")

    args: dict[tuple[str, int], str] = {}
    ends = GraphDef()

    def read_now(text: str) -> str:
        """What an input becomes."""
        name, output = split_name(text)
        tensor = (name, 0) if output == -1 and nodes[name].op == "Placeholder" else (name, output)
        if tensor not in fed:
            return text
        if tensor not in args:
            args[tensor] = add_arg(ends, graph, feeds[fed[tensor]], fed[tensor])
        return args[tensor] if output >= 0 else f"^{args[tensor]}"

    inputs: dict[str, list[str]] = {}
    to_visit = [split_name(text)[0] for text in fetches]
    while to_visit:
        name = to_visit.pop()
        if name not in inputs:
            inputs[name] = [read_now(text) for text in nodes[name].input]
            to_visit += [split_name(text)[0] for text in set(inputs[name]) & set(nodes[name].input)]
    result = GraphDef(versions=graph.versions)
    for name in sorted(inputs, reverse=True):
        kept = result.node.add()
        kept.CopyFrom(nodes[name])
        kept.input[:] = inputs[name]
    result.node.extend(ends.node)
    for index, tensor in enumerate(tensors):
        add_retval(result, graph, tensor, index)
    return result


# %% wrong="prune" why="a fed fetch needs nothing, and is not refused"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The graph of a step: what the fetches need, an `_Arg` for each fed tensor that is read, a `_Retval` per fetch.

    Raises:
        ValueError: a fetch or feed is not in the graph, a tensor is fed twice or both fed and fetched, or nothing is
            fetched.
    """
    nodes = {node.name: node for node in graph.node}
    tensors = [text for text in fetches if not text.startswith("^")]
    if not fetches:
        raise ValueError("there is nothing to fetch or to run")
    for text in fetches:
        if text.startswith("^") and text[1:] not in nodes:
            raise ValueError(f"the graph has no node for the target {text!r}")
    for text in [*tensors, *feeds]:
        type_of(graph, text)  # refuses what is not there
    fed = {split_name(text): index for index, text in enumerate(feeds)}
    if len(fed) < len(feeds):
        raise ValueError(f"a tensor is fed twice: {feeds}")
    for text in tensors:
        if split_name(text) in fed:
            fetches = [other for other in fetches if other != text]

    args: dict[tuple[str, int], str] = {}
    ends = GraphDef()

    def read_now(text: str) -> str:
        """What an input becomes."""
        name, output = split_name(text)
        tensor = (name, 0) if output == -1 and nodes[name].op == "Placeholder" else (name, output)
        if tensor not in fed:
            return text
        if tensor not in args:
            args[tensor] = add_arg(ends, graph, feeds[fed[tensor]], fed[tensor])
        return args[tensor] if output >= 0 else f"^{args[tensor]}"

    inputs: dict[str, list[str]] = {}
    to_visit = [split_name(text)[0] for text in fetches]
    while to_visit:
        name = to_visit.pop()
        if name not in inputs:
            inputs[name] = [read_now(text) for text in nodes[name].input]
            to_visit += [split_name(text)[0] for text in set(inputs[name]) & set(nodes[name].input)]
    result = GraphDef(versions=graph.versions)
    for node in graph.node:
        if node.name in inputs:
            kept = result.node.add()
            kept.CopyFrom(node)
            kept.input[:] = inputs[node.name]
    result.node.extend(ends.node)
    for index, tensor in enumerate(tensors):
        add_retval(result, graph, tensor, index)
    return result


# %% wrong="prune" why="numbers the _Arg nodes in the order in which they are met"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The graph of a step: what the fetches need, an `_Arg` for each fed tensor that is read, a `_Retval` per fetch.

    Raises:
        ValueError: a fetch or feed is not in the graph, a tensor is fed twice or both fed and fetched, or nothing is
            fetched.
    """
    nodes = {node.name: node for node in graph.node}
    tensors = [text for text in fetches if not text.startswith("^")]
    if not fetches:
        raise ValueError("there is nothing to fetch or to run")
    for text in fetches:
        if text.startswith("^") and text[1:] not in nodes:
            raise ValueError(f"the graph has no node for the target {text!r}")
    for text in [*tensors, *feeds]:
        type_of(graph, text)  # refuses what is not there
    fed = {split_name(text): index for index, text in enumerate(feeds)}
    if len(fed) < len(feeds):
        raise ValueError(f"a tensor is fed twice: {feeds}")
    for text in tensors:
        if split_name(text) in fed:
            raise ValueError(f"{text} is both fed and fetched")

    args: dict[tuple[str, int], str] = {}
    ends = GraphDef()

    def read_now(text: str) -> str:
        """What an input becomes."""
        name, output = split_name(text)
        tensor = (name, 0) if output == -1 and nodes[name].op == "Placeholder" else (name, output)
        if tensor not in fed:
            return text
        if tensor not in args:
            args[tensor] = add_arg(ends, graph, feeds[fed[tensor]], len(args))
        return args[tensor] if output >= 0 else f"^{args[tensor]}"

    inputs: dict[str, list[str]] = {}
    to_visit = [split_name(text)[0] for text in fetches]
    while to_visit:
        name = to_visit.pop()
        if name not in inputs:
            inputs[name] = [read_now(text) for text in nodes[name].input]
            to_visit += [split_name(text)[0] for text in set(inputs[name]) & set(nodes[name].input)]
    result = GraphDef(versions=graph.versions)
    for node in graph.node:
        if node.name in inputs:
            kept = result.node.add()
            kept.CopyFrom(node)
            kept.input[:] = inputs[node.name]
    result.node.extend(ends.node)
    for index, tensor in enumerate(tensors):
        add_retval(result, graph, tensor, index)
    return result


# %% wrong="prune" why="numbers the _Retval nodes among all fetches"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The graph of a step: what the fetches need, an `_Arg` for each fed tensor that is read, a `_Retval` per fetch.

    Raises:
        ValueError: a fetch or feed is not in the graph, a tensor is fed twice or both fed and fetched, or nothing is
            fetched.
    """
    nodes = {node.name: node for node in graph.node}
    tensors = [text for text in fetches if not text.startswith("^")]
    if not fetches:
        raise ValueError("there is nothing to fetch or to run")
    for text in fetches:
        if text.startswith("^") and text[1:] not in nodes:
            raise ValueError(f"the graph has no node for the target {text!r}")
    for text in [*tensors, *feeds]:
        type_of(graph, text)  # refuses what is not there
    fed = {split_name(text): index for index, text in enumerate(feeds)}
    if len(fed) < len(feeds):
        raise ValueError(f"a tensor is fed twice: {feeds}")
    for text in tensors:
        if split_name(text) in fed:
            raise ValueError(f"{text} is both fed and fetched")

    args: dict[tuple[str, int], str] = {}
    ends = GraphDef()

    def read_now(text: str) -> str:
        """What an input becomes."""
        name, output = split_name(text)
        tensor = (name, 0) if output == -1 and nodes[name].op == "Placeholder" else (name, output)
        if tensor not in fed:
            return text
        if tensor not in args:
            args[tensor] = add_arg(ends, graph, feeds[fed[tensor]], fed[tensor])
        return args[tensor] if output >= 0 else f"^{args[tensor]}"

    inputs: dict[str, list[str]] = {}
    to_visit = [split_name(text)[0] for text in fetches]
    while to_visit:
        name = to_visit.pop()
        if name not in inputs:
            inputs[name] = [read_now(text) for text in nodes[name].input]
            to_visit += [split_name(text)[0] for text in set(inputs[name]) & set(nodes[name].input)]
    result = GraphDef(versions=graph.versions)
    for node in graph.node:
        if node.name in inputs:
            kept = result.node.add()
            kept.CopyFrom(node)
            kept.input[:] = inputs[node.name]
    result.node.extend(ends.node)
    for index, tensor in enumerate(fetches):
        if tensor in tensors:
            add_retval(result, graph, tensor, index)
    return result


# %% wrong="prune" why="does not see that x and x:0 are one tensor"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The graph of a step: what the fetches need, an `_Arg` for each fed tensor that is read, a `_Retval` per fetch.

    Raises:
        ValueError: a fetch or feed is not in the graph, a tensor is fed twice or both fed and fetched, or nothing is
            fetched.
    """
    nodes = {node.name: node for node in graph.node}
    tensors = [text for text in fetches if not text.startswith("^")]
    if not fetches:
        raise ValueError("there is nothing to fetch or to run")
    for text in fetches:
        if text.startswith("^") and text[1:] not in nodes:
            raise ValueError(f"the graph has no node for the target {text!r}")
    for text in [*tensors, *feeds]:
        type_of(graph, text)  # refuses what is not there
    fed = {(text, 0): index for index, text in enumerate(feeds)} | {
        split_name(text): index for index, text in enumerate(feeds) if ":" in text
    }
    if len(fed) < len(feeds):
        raise ValueError(f"a tensor is fed twice: {feeds}")
    for text in tensors:
        if split_name(text) in fed:
            raise ValueError(f"{text} is both fed and fetched")

    args: dict[tuple[str, int], str] = {}
    ends = GraphDef()

    def read_now(text: str) -> str:
        """What an input becomes."""
        name, output = split_name(text)
        tensor = (name, 0) if output == -1 and nodes[name].op == "Placeholder" else (name, output)
        if tensor not in fed:
            return text
        if tensor not in args:
            args[tensor] = add_arg(ends, graph, feeds[fed[tensor]], fed[tensor])
        return args[tensor] if output >= 0 else f"^{args[tensor]}"

    inputs: dict[str, list[str]] = {}
    to_visit = [split_name(text)[0] for text in fetches]
    while to_visit:
        name = to_visit.pop()
        if name not in inputs:
            inputs[name] = [read_now(text) for text in nodes[name].input]
            to_visit += [split_name(text)[0] for text in set(inputs[name]) & set(nodes[name].input)]
    result = GraphDef(versions=graph.versions)
    for node in graph.node:
        if node.name in inputs:
            kept = result.node.add()
            kept.CopyFrom(node)
            kept.input[:] = inputs[node.name]
    result.node.extend(ends.node)
    for index, tensor in enumerate(tensors):
        add_retval(result, graph, tensor, index)
    return result


# %% wrong="prune" why="leaves the ends out"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The graph of a step: what the fetches need, an `_Arg` for each fed tensor that is read, a `_Retval` per fetch.

    Raises:
        ValueError: a fetch or feed is not in the graph, a tensor is fed twice or both fed and fetched, or nothing is
            fetched.
    """
    nodes = {node.name: node for node in graph.node}
    tensors = [text for text in fetches if not text.startswith("^")]
    if not fetches:
        raise ValueError("there is nothing to fetch or to run")
    for text in fetches:
        if text.startswith("^") and text[1:] not in nodes:
            raise ValueError(f"the graph has no node for the target {text!r}")
    for text in [*tensors, *feeds]:
        type_of(graph, text)  # refuses what is not there
    fed = {split_name(text): index for index, text in enumerate(feeds)}
    if len(fed) < len(feeds):
        raise ValueError(f"a tensor is fed twice: {feeds}")
    for text in tensors:
        if split_name(text) in fed:
            raise ValueError(f"{text} is both fed and fetched")

    args: dict[tuple[str, int], str] = {}
    ends = GraphDef()

    def read_now(text: str) -> str:
        """What an input becomes."""
        name, output = split_name(text)
        tensor = (name, 0) if output == -1 and nodes[name].op == "Placeholder" else (name, output)
        if tensor not in fed:
            return text
        if tensor not in args:
            args[tensor] = add_arg(ends, graph, feeds[fed[tensor]], fed[tensor])
        return args[tensor] if output >= 0 else f"^{args[tensor]}"

    inputs: dict[str, list[str]] = {}
    to_visit = [split_name(text)[0] for text in fetches]
    while to_visit:
        name = to_visit.pop()
        if name not in inputs:
            inputs[name] = [read_now(text) for text in nodes[name].input]
            to_visit += [split_name(text)[0] for text in set(inputs[name]) & set(nodes[name].input)]
    result = GraphDef(versions=graph.versions)
    for node in graph.node:
        if node.name in inputs:
            kept = result.node.add()
            kept.CopyFrom(node)
            kept.input[:] = inputs[node.name]
    return result


# %% wrong="prune" why="sees that x and x:0 are fed twice only if x:0 comes first"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The graph of a step: what the fetches need, an `_Arg` for each fed tensor that is read, a `_Retval` per fetch.

    Raises:
        ValueError: a fetch or feed is not in the graph, a tensor is fed twice or both fed and fetched, or nothing is
            fetched.
    """
    nodes = {node.name: node for node in graph.node}
    tensors = [text for text in fetches if not text.startswith("^")]
    if not fetches:
        raise ValueError("there is nothing to fetch or to run")
    for text in fetches:
        if text.startswith("^") and text[1:] not in nodes:
            raise ValueError(f"the graph has no node for the target {text!r}")
    for text in [*tensors, *feeds]:
        type_of(graph, text)  # refuses what is not there
    fed = {split_name(text): index for index, text in enumerate(feeds)}
    if any(text + ":0" in feeds[:place] or text in feeds[:place] for place, text in enumerate(feeds)):
        raise ValueError(f"a tensor is fed twice: {feeds}")
    for text in tensors:
        if split_name(text) in fed:
            raise ValueError(f"{text} is both fed and fetched")

    args: dict[tuple[str, int], str] = {}
    ends = GraphDef()

    def read_now(text: str) -> str:
        """What an input becomes."""
        name, output = split_name(text)
        tensor = (name, 0) if output == -1 and nodes[name].op == "Placeholder" else (name, output)
        if tensor not in fed:
            return text
        if tensor not in args:
            args[tensor] = add_arg(ends, graph, feeds[fed[tensor]], fed[tensor])
        return args[tensor] if output >= 0 else f"^{args[tensor]}"

    inputs: dict[str, list[str]] = {}
    to_visit = [split_name(text)[0] for text in fetches]
    while to_visit:
        name = to_visit.pop()
        if name not in inputs:
            inputs[name] = [read_now(text) for text in nodes[name].input]
            to_visit += [split_name(text)[0] for text in set(inputs[name]) & set(nodes[name].input)]
    result = GraphDef(versions=graph.versions)
    for node in graph.node:
        if node.name in inputs:
            kept = result.node.add()
            kept.CopyFrom(node)
            kept.input[:] = inputs[node.name]
    result.node.extend(ends.node)
    for index, tensor in enumerate(tensors):
        add_retval(result, graph, tensor, index)
    return result


# %% wrong="prune" why="sees that p:0 is fed only if the feed is spelled p:0"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The graph of a step: what the fetches need, an `_Arg` for each fed tensor that is read, a `_Retval` per fetch.

    Raises:
        ValueError: a fetch or feed is not in the graph, a tensor is fed twice or both fed and fetched, or nothing is
            fetched.
    """
    nodes = {node.name: node for node in graph.node}
    tensors = [text for text in fetches if not text.startswith("^")]
    if not fetches:
        raise ValueError("there is nothing to fetch or to run")
    for text in fetches:
        if text.startswith("^") and text[1:] not in nodes:
            raise ValueError(f"the graph has no node for the target {text!r}")
    for text in [*tensors, *feeds]:
        type_of(graph, text)  # refuses what is not there
    fed = {split_name(text): index for index, text in enumerate(feeds)}
    if len(fed) < len(feeds):
        raise ValueError(f"a tensor is fed twice: {feeds}")
    for text in tensors:
        if text in feeds or f"{text}:0" in feeds:
            raise ValueError(f"{text} is both fed and fetched")

    args: dict[tuple[str, int], str] = {}
    ends = GraphDef()

    def read_now(text: str) -> str:
        """What an input becomes."""
        name, output = split_name(text)
        tensor = (name, 0) if output == -1 and nodes[name].op == "Placeholder" else (name, output)
        if tensor not in fed:
            return text
        if tensor not in args:
            args[tensor] = add_arg(ends, graph, feeds[fed[tensor]], fed[tensor])
        return args[tensor] if output >= 0 else f"^{args[tensor]}"

    inputs: dict[str, list[str]] = {}
    to_visit = [split_name(text)[0] for text in fetches]
    while to_visit:
        name = to_visit.pop()
        if name not in inputs:
            inputs[name] = [read_now(text) for text in nodes[name].input]
            to_visit += [split_name(text)[0] for text in set(inputs[name]) & set(nodes[name].input)]
    result = GraphDef(versions=graph.versions)
    for node in graph.node:
        if node.name in inputs:
            kept = result.node.add()
            kept.CopyFrom(node)
            kept.input[:] = inputs[node.name]
    result.node.extend(ends.node)
    for index, tensor in enumerate(tensors):
        add_retval(result, graph, tensor, index)
    return result


# %% wrong="prune" why="asks only whether the node of a feed is there"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The graph of a step: what the fetches need, an `_Arg` for each fed tensor that is read, a `_Retval` per fetch.

    Raises:
        ValueError: a fetch or feed is not in the graph, a tensor is fed twice or both fed and fetched, or nothing is
            fetched.
    """
    nodes = {node.name: node for node in graph.node}
    tensors = [text for text in fetches if not text.startswith("^")]
    if not fetches:
        raise ValueError("there is nothing to fetch or to run")
    for text in fetches:
        if text.startswith("^") and text[1:] not in nodes:
            raise ValueError(f"the graph has no node for the target {text!r}")
    for text in tensors:
        type_of(graph, text)  # refuses what is not there
    for text in feeds:
        if split_name(text)[0] not in nodes:
            raise ValueError(f"the graph has no node for the feed {text!r}")
    fed = {split_name(text): index for index, text in enumerate(feeds)}
    if len(fed) < len(feeds):
        raise ValueError(f"a tensor is fed twice: {feeds}")
    for text in tensors:
        if split_name(text) in fed:
            raise ValueError(f"{text} is both fed and fetched")

    args: dict[tuple[str, int], str] = {}
    ends = GraphDef()

    def read_now(text: str) -> str:
        """What an input becomes."""
        name, output = split_name(text)
        tensor = (name, 0) if output == -1 and nodes[name].op == "Placeholder" else (name, output)
        if tensor not in fed:
            return text
        if tensor not in args:
            args[tensor] = add_arg(ends, graph, feeds[fed[tensor]], fed[tensor])
        return args[tensor] if output >= 0 else f"^{args[tensor]}"

    inputs: dict[str, list[str]] = {}
    to_visit = [split_name(text)[0] for text in fetches]
    while to_visit:
        name = to_visit.pop()
        if name not in inputs:
            inputs[name] = [read_now(text) for text in nodes[name].input]
            to_visit += [split_name(text)[0] for text in set(inputs[name]) & set(nodes[name].input)]
    result = GraphDef(versions=graph.versions)
    for node in graph.node:
        if node.name in inputs:
            kept = result.node.add()
            kept.CopyFrom(node)
            kept.input[:] = inputs[node.name]
    result.node.extend(ends.node)
    for index, tensor in enumerate(tensors):
        add_retval(result, graph, tensor, index)
    return result


# %% wrong="prune" why="a target that is a fed placeholder needs nothing"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The graph of a step: what the fetches need, an `_Arg` for each fed tensor that is read, a `_Retval` per fetch.

    Raises:
        ValueError: a fetch or feed is not in the graph, a tensor is fed twice or both fed and fetched, or nothing is
            fetched.
    """
    nodes = {node.name: node for node in graph.node}
    tensors = [text for text in fetches if not text.startswith("^")]
    if not fetches:
        raise ValueError("there is nothing to fetch or to run")
    for text in fetches:
        if text.startswith("^") and text[1:] not in nodes:
            raise ValueError(f"the graph has no node for the target {text!r}")
    for text in [*tensors, *feeds]:
        type_of(graph, text)  # refuses what is not there
    fed = {split_name(text): index for index, text in enumerate(feeds)}
    if len(fed) < len(feeds):
        raise ValueError(f"a tensor is fed twice: {feeds}")
    for text in tensors:
        if split_name(text) in fed:
            raise ValueError(f"{text} is both fed and fetched")

    args: dict[tuple[str, int], str] = {}
    ends = GraphDef()

    def read_now(text: str) -> str:
        """What an input becomes."""
        name, output = split_name(text)
        tensor = (name, 0) if output == -1 and nodes[name].op == "Placeholder" else (name, output)
        if tensor not in fed:
            return text
        if tensor not in args:
            args[tensor] = add_arg(ends, graph, feeds[fed[tensor]], fed[tensor])
        return args[tensor] if output >= 0 else f"^{args[tensor]}"

    inputs: dict[str, list[str]] = {}
    to_visit = [name for name, _ in map(split_name, fetches) if (name, 0) not in fed or nodes[name].op != "Placeholder"]
    while to_visit:
        name = to_visit.pop()
        if name not in inputs:
            inputs[name] = [read_now(text) for text in nodes[name].input]
            to_visit += [split_name(text)[0] for text in set(inputs[name]) & set(nodes[name].input)]
    result = GraphDef(versions=graph.versions)
    for node in graph.node:
        if node.name in inputs:
            kept = result.node.add()
            kept.CopyFrom(node)
            kept.input[:] = inputs[node.name]
    result.node.extend(ends.node)
    for index, tensor in enumerate(tensors):
        add_retval(result, graph, tensor, index)
    return result


# %% wrong="prune" why="looks for inputs as they are spelled, and never for x:0"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The graph of a step: what the fetches need, an `_Arg` for each fed tensor that is read, a `_Retval` per fetch.

    Raises:
        ValueError: a fetch or feed is not in the graph, a tensor is fed twice or both fed and fetched, or nothing is
            fetched.
    """
    nodes = {node.name: node for node in graph.node}
    tensors = [text for text in fetches if not text.startswith("^")]
    if not fetches:
        raise ValueError("there is nothing to fetch or to run")
    for text in fetches:
        if text.startswith("^") and text[1:] not in nodes:
            raise ValueError(f"the graph has no node for the target {text!r}")
    for text in [*tensors, *feeds]:
        type_of(graph, text)  # refuses what is not there
    fed = {split_name(text): index for index, text in enumerate(feeds)}
    if len(fed) < len(feeds):
        raise ValueError(f"a tensor is fed twice: {feeds}")
    for text in tensors:
        if split_name(text) in fed:
            raise ValueError(f"{text} is both fed and fetched")

    args: dict[tuple[str, int], str] = {}
    ends = GraphDef()

    def read_now(text: str) -> str:
        """What an input becomes."""
        name, output = split_name(text)
        tensor = (name, 0) if output == -1 and nodes[name].op == "Placeholder" else (name, output)
        if tensor not in fed or text.endswith(":0"):
            return text
        if tensor not in args:
            args[tensor] = add_arg(ends, graph, feeds[fed[tensor]], fed[tensor])
        return args[tensor] if output >= 0 else f"^{args[tensor]}"

    inputs: dict[str, list[str]] = {}
    to_visit = [split_name(text)[0] for text in fetches]
    while to_visit:
        name = to_visit.pop()
        if name not in inputs:
            inputs[name] = [read_now(text) for text in nodes[name].input]
            to_visit += [split_name(text)[0] for text in set(inputs[name]) & set(nodes[name].input)]
    result = GraphDef(versions=graph.versions)
    for node in graph.node:
        if node.name in inputs:
            kept = result.node.add()
            kept.CopyFrom(node)
            kept.input[:] = inputs[node.name]
    result.node.extend(ends.node)
    for index, tensor in enumerate(tensors):
        add_retval(result, graph, tensor, index)
    return result


# %% wrong="prune" why="takes a placeholder with a default for a placeholder"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The graph of a step: what the fetches need, an `_Arg` for each fed tensor that is read, a `_Retval` per fetch.

    Raises:
        ValueError: a fetch or feed is not in the graph, a tensor is fed twice or both fed and fetched, or nothing is
            fetched.
    """
    nodes = {node.name: node for node in graph.node}
    tensors = [text for text in fetches if not text.startswith("^")]
    if not fetches:
        raise ValueError("there is nothing to fetch or to run")
    for text in fetches:
        if text.startswith("^") and text[1:] not in nodes:
            raise ValueError(f"the graph has no node for the target {text!r}")
    for text in [*tensors, *feeds]:
        type_of(graph, text)  # refuses what is not there
    fed = {split_name(text): index for index, text in enumerate(feeds)}
    if len(fed) < len(feeds):
        raise ValueError(f"a tensor is fed twice: {feeds}")
    for text in tensors:
        if split_name(text) in fed:
            raise ValueError(f"{text} is both fed and fetched")

    args: dict[tuple[str, int], str] = {}
    ends = GraphDef()

    def read_now(text: str) -> str:
        """What an input becomes."""
        name, output = split_name(text)
        tensor = (name, 0) if output == -1 and nodes[name].op.startswith("Placeholder") else (name, output)
        if tensor not in fed:
            return text
        if tensor not in args:
            args[tensor] = add_arg(ends, graph, feeds[fed[tensor]], fed[tensor])
        return args[tensor] if output >= 0 else f"^{args[tensor]}"

    inputs: dict[str, list[str]] = {}
    to_visit = [split_name(text)[0] for text in fetches]
    while to_visit:
        name = to_visit.pop()
        if name not in inputs:
            inputs[name] = [read_now(text) for text in nodes[name].input]
            to_visit += [split_name(text)[0] for text in set(inputs[name]) & set(nodes[name].input)]
    result = GraphDef(versions=graph.versions)
    for node in graph.node:
        if node.name in inputs:
            kept = result.node.add()
            kept.CopyFrom(node)
            kept.input[:] = inputs[node.name]
    result.node.extend(ends.node)
    for index, tensor in enumerate(tensors):
        add_retval(result, graph, tensor, index)
    return result


# %% right="prune" why="as the runtime does it: feed, fetch, then prune by a walk over consumers"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The graph of a step: moves the edges of all fed tensors, adds the ends, and drops what they do not reach."""
    moved, kinds = GraphDef(), {node.name: node.op for node in graph.node}
    moved.CopyFrom(graph)
    seen = {}
    for index, tensor in enumerate(feeds):
        name = add_arg(moved, graph, tensor, index)
        if split_name(tensor) in seen:
            raise ValueError(f"{tensor}: fed twice")
        seen[split_name(tensor)] = name
        if kinds[split_name(tensor)[0]] == "Placeholder":
            seen[split_name(tensor)[0], -1] = "^" + name
    for node in moved.node:
        node.input[:] = [seen.get(split_name(text), text) for text in node.input]
    index, roots = 0, []
    for fetch in fetches:
        if fetch.startswith("^"):
            if fetch[1:] not in kinds:
                raise ValueError(f"no node for {fetch}")
            roots.append(fetch[1:])
            continue
        if split_name(fetch) in seen:
            raise ValueError(f"{fetch}: both fed and fetched")
        roots.append(add_retval(moved, graph, fetch, index))
        index += 1
    if not roots:
        raise ValueError("nothing is asked for")
    inputs = {node.name: {split_name(text)[0] for text in node.input} for node in moved.node}
    reached = set()
    frontier = set(roots)
    while frontier:
        reached |= frontier
        frontier = set().union(*(inputs[name] for name in frontier)) - reached
    return GraphDef(versions=graph.versions, node=[node for node in moved.node if node.name in reached])


# %% right="prune" why="inputs spelled with :0, the ends in front"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The graph of a step: what the fetches need, an `_Arg` for each fed tensor that is read, a `_Retval` per fetch.

    Raises:
        ValueError: a fetch or feed is not in the graph, a tensor is fed twice or both fed and fetched, or nothing is
            fetched.
    """
    nodes = {node.name: node for node in graph.node}
    tensors = [text for text in fetches if not text.startswith("^")]
    if not fetches:
        raise ValueError("there is nothing to fetch or to run")
    for text in fetches:
        if text.startswith("^") and text[1:] not in nodes:
            raise ValueError(f"the graph has no node for the target {text!r}")
    for text in [*tensors, *feeds]:
        type_of(graph, text)  # refuses what is not there
    fed = {split_name(text): index for index, text in enumerate(feeds)}
    if len(fed) < len(feeds):
        raise ValueError(f"a tensor is fed twice: {feeds}")
    for text in tensors:
        if split_name(text) in fed:
            raise ValueError(f"{text} is both fed and fetched")

    args: dict[tuple[str, int], str] = {}
    ends = GraphDef()

    def read_now(text: str) -> str:
        """What an input becomes."""
        name, output = split_name(text)
        tensor = (name, 0) if output == -1 and nodes[name].op == "Placeholder" else (name, output)
        if tensor not in fed:
            return text
        if tensor not in args:
            args[tensor] = add_arg(ends, graph, feeds[fed[tensor]], fed[tensor])
        return args[tensor] if output >= 0 else f"^{args[tensor]}"

    inputs: dict[str, list[str]] = {}
    to_visit = [split_name(text)[0] for text in fetches]
    while to_visit:
        name = to_visit.pop()
        if name not in inputs:
            inputs[name] = [read_now(text) for text in nodes[name].input]
            to_visit += [split_name(text)[0] for text in set(inputs[name]) & set(nodes[name].input)]
    result = GraphDef(versions=graph.versions)
    result.node.extend(ends.node)
    for node in graph.node:
        if node.name in inputs:
            kept = result.node.add()
            kept.CopyFrom(node)
            kept.input[:] = inputs[node.name]
    for index, tensor in enumerate(tensors):
        add_retval(result, graph, tensor, index)
    return result


# %% right="prune" why="names _Arg with its output, and writes into its argument"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The graph of a step: what the fetches need, an `_Arg` for each fed tensor that is read, a `_Retval` per fetch.

    Raises:
        ValueError: a fetch or feed is not in the graph, a tensor is fed twice or both fed and fetched, or nothing is
            fetched.
    """
    nodes = {node.name: node for node in graph.node}
    tensors = [text for text in fetches if not text.startswith("^")]
    if not fetches:
        raise ValueError("there is nothing to fetch or to run")
    for text in fetches:
        if text.startswith("^") and text[1:] not in nodes:
            raise ValueError(f"the graph has no node for the target {text!r}")
    for text in [*tensors, *feeds]:
        type_of(graph, text)  # refuses what is not there
    fed = {split_name(text): index for index, text in enumerate(feeds)}
    if len(fed) < len(feeds):
        raise ValueError(f"a tensor is fed twice: {feeds}")
    for text in tensors:
        if split_name(text) in fed:
            raise ValueError(f"{text} is both fed and fetched")

    args: dict[tuple[str, int], str] = {}
    ends = GraphDef()

    def read_now(text: str) -> str:
        """What an input becomes."""
        name, output = split_name(text)
        tensor = (name, 0) if output == -1 and nodes[name].op == "Placeholder" else (name, output)
        if tensor not in fed:
            return text
        if tensor not in args:
            args[tensor] = add_arg(ends, graph, feeds[fed[tensor]], fed[tensor])
        return args[tensor] if output >= 0 else f"^{args[tensor]}"

    inputs: dict[str, list[str]] = {}
    to_visit = [split_name(text)[0] for text in fetches]
    while to_visit:
        name = to_visit.pop()
        if name not in inputs:
            inputs[name] = [read_now(text) for text in nodes[name].input]
            to_visit += [split_name(text)[0] for text in set(inputs[name]) & set(nodes[name].input)]
    for index, tensor in enumerate(tensors):
        add_retval(ends, graph, tensor, index)
    for place in reversed(range(len(graph.node))):
        node = graph.node[place]
        if node.name in inputs:
            node.input[:] = [f"{text}:0" if text.startswith("_arg_") else text for text in inputs[node.name]]
        else:
            del graph.node[place]
    graph.node.extend(ends.node)
    return graph


# %% wrong="replicate" why="copies a constant that is read on one other device"
def replicate(graph: GraphDef) -> GraphDef:
    """The graph with a copy of each small constant on every device that reads it, where readers are on several."""
    device = {node.name: node.device for node in graph.node}
    edges = defaultdict(list)
    for node in graph.node:
        for name, output in map(split_name, node.input):
            edges[name].append((node.device, output == -1))

    def is_copied(node: NodeDef) -> bool:
        places, control = {place for place, _ in edges[node.name]}, any(told for _, told in edges[node.name])
        return node.op == "Const" and (places | {node.device}) != {node.device} and not control and elements(node) <= 16

    copied = {node.name for node in graph.node if is_copied(node)}
    result = GraphDef(versions=graph.versions)
    for node in graph.node:
        places = sorted({place for place, _ in edges[node.name]}) if node.name in copied else [device[node.name]]
        for place in places:
            new = result.node.add()
            new.CopyFrom(node)
            new.device = place
            if node.name in copied:
                new.name = f"{node.name}/copy{device_number(place)}"
            for position, (name, _) in enumerate(map(split_name, node.input)):
                if name in copied:
                    new.input[position] = f"{name}/copy{device_number(node.device)}"
    return result


# %% wrong="replicate" why="counts readers, not devices"
def replicate(graph: GraphDef) -> GraphDef:
    """The graph with a copy of each small constant on every device that reads it, where readers are on several."""
    device = {node.name: node.device for node in graph.node}
    edges = defaultdict(list)
    for node in graph.node:
        for name, output in map(split_name, node.input):
            edges[name].append((node.device, output == -1))

    def is_copied(node: NodeDef) -> bool:
        places, control = [place for place, _ in edges[node.name]], any(told for _, told in edges[node.name])
        return node.op == "Const" and len(places) > 1 and not control and elements(node) <= 16

    copied = {node.name for node in graph.node if is_copied(node)}
    result = GraphDef(versions=graph.versions)
    for node in graph.node:
        places = sorted({place for place, _ in edges[node.name]}) if node.name in copied else [device[node.name]]
        for place in places:
            new = result.node.add()
            new.CopyFrom(node)
            new.device = place
            if node.name in copied:
                new.name = f"{node.name}/copy{device_number(place)}"
            for position, (name, _) in enumerate(map(split_name, node.input)):
                if name in copied:
                    new.input[position] = f"{name}/copy{device_number(node.device)}"
    return result


# %% wrong="replicate" why="keeps the original for its own device"
def replicate(graph: GraphDef) -> GraphDef:
    """The graph with a copy of each small constant on every device that reads it, where readers are on several."""
    device = {node.name: node.device for node in graph.node}
    edges = defaultdict(list)
    for node in graph.node:
        for name, output in map(split_name, node.input):
            edges[name].append((node.device, output == -1))

    def is_copied(node: NodeDef) -> bool:
        places, control = {place for place, _ in edges[node.name]}, any(told for _, told in edges[node.name])
        return node.op == "Const" and len(places) > 1 and not control and elements(node) <= 16

    copied = {node.name for node in graph.node if is_copied(node)}
    result = GraphDef(versions=graph.versions)
    for node in graph.node:
        places = sorted({place for place, _ in edges[node.name]}) if node.name in copied else [device[node.name]]
        for place in places:
            new = result.node.add()
            new.CopyFrom(node)
            new.device = place
            if node.name in copied and place != device[node.name]:
                new.name = f"{node.name}/copy{device_number(place)}"
            for position, (name, _) in enumerate(map(split_name, node.input)):
                if name in copied and node.device != device[name]:
                    new.input[position] = f"{name}/copy{device_number(node.device)}"
    return result


# %% wrong="replicate" why="ignores control successors"
def replicate(graph: GraphDef) -> GraphDef:
    """The graph with a copy of each small constant on every device that reads it, where readers are on several."""
    device = {node.name: node.device for node in graph.node}
    edges = defaultdict(list)
    for node in graph.node:
        for name, output in map(split_name, node.input):
            edges[name].append((node.device, output == -1))

    def is_copied(node: NodeDef) -> bool:
        places, control = {place for place, _ in edges[node.name]}, any(told for _, told in edges[node.name])
        return node.op == "Const" and len(places) > 1 and elements(node) <= 16

    copied = {node.name for node in graph.node if is_copied(node)}
    result = GraphDef(versions=graph.versions)
    for node in graph.node:
        places = sorted({place for place, _ in edges[node.name]}) if node.name in copied else [device[node.name]]
        for place in places:
            new = result.node.add()
            new.CopyFrom(node)
            new.device = place
            if node.name in copied:
                new.name = f"{node.name}/copy{device_number(place)}"
            for position, (name, _) in enumerate(map(split_name, node.input)):
                if name in copied:
                    new.input[position] = f"{name}/copy{device_number(node.device)}"
    return result


# %% wrong="replicate" why="16 bytes instead of 16 elements"
def replicate(graph: GraphDef) -> GraphDef:
    """The graph with a copy of each small constant on every device that reads it, where readers are on several."""
    device = {node.name: node.device for node in graph.node}
    edges = defaultdict(list)
    for node in graph.node:
        for name, output in map(split_name, node.input):
            edges[name].append((node.device, output == -1))

    def is_copied(node: NodeDef) -> bool:
        places, control = {place for place, _ in edges[node.name]}, any(told for _, told in edges[node.name])
        return node.op == "Const" and len(places) > 1 and not control and 4 * elements(node) <= 16

    copied = {node.name for node in graph.node if is_copied(node)}
    result = GraphDef(versions=graph.versions)
    for node in graph.node:
        places = sorted({place for place, _ in edges[node.name]}) if node.name in copied else [device[node.name]]
        for place in places:
            new = result.node.add()
            new.CopyFrom(node)
            new.device = place
            if node.name in copied:
                new.name = f"{node.name}/copy{device_number(place)}"
            for position, (name, _) in enumerate(map(split_name, node.input)):
                if name in copied:
                    new.input[position] = f"{name}/copy{device_number(node.device)}"
    return result


# %% wrong="replicate" why="fewer than 16 elements"
def replicate(graph: GraphDef) -> GraphDef:
    """The graph with a copy of each small constant on every device that reads it, where readers are on several."""
    device = {node.name: node.device for node in graph.node}
    edges = defaultdict(list)
    for node in graph.node:
        for name, output in map(split_name, node.input):
            edges[name].append((node.device, output == -1))

    def is_copied(node: NodeDef) -> bool:
        places, control = {place for place, _ in edges[node.name]}, any(told for _, told in edges[node.name])
        return node.op == "Const" and len(places) > 1 and not control and elements(node) < 16

    copied = {node.name for node in graph.node if is_copied(node)}
    result = GraphDef(versions=graph.versions)
    for node in graph.node:
        places = sorted({place for place, _ in edges[node.name]}) if node.name in copied else [device[node.name]]
        for place in places:
            new = result.node.add()
            new.CopyFrom(node)
            new.device = place
            if node.name in copied:
                new.name = f"{node.name}/copy{device_number(place)}"
            for position, (name, _) in enumerate(map(split_name, node.input)):
                if name in copied:
                    new.input[position] = f"{name}/copy{device_number(node.device)}"
    return result


# %% wrong="replicate" why="forgets the control inputs of the copies"
def replicate(graph: GraphDef) -> GraphDef:
    """The graph with a copy of each small constant on every device that reads it, where readers are on several."""
    device = {node.name: node.device for node in graph.node}
    edges = defaultdict(list)
    for node in graph.node:
        for name, output in map(split_name, node.input):
            edges[name].append((node.device, output == -1))

    def is_copied(node: NodeDef) -> bool:
        places, control = {place for place, _ in edges[node.name]}, any(told for _, told in edges[node.name])
        return node.op == "Const" and len(places) > 1 and not control and elements(node) <= 16

    copied = {node.name for node in graph.node if is_copied(node)}
    result = GraphDef(versions=graph.versions)
    for node in graph.node:
        places = sorted({place for place, _ in edges[node.name]}) if node.name in copied else [device[node.name]]
        for place in places:
            new = result.node.add()
            new.CopyFrom(node)
            new.device = place
            if node.name in copied:
                del new.input[:]
                new.name = f"{node.name}/copy{device_number(place)}"
            for position, (name, _) in enumerate(map(split_name, new.input)):
                if name in copied:
                    new.input[position] = f"{name}/copy{device_number(node.device)}"
    return result


# %% wrong="replicate" why="copies everything that is small and read on two devices, not only Const"
def replicate(graph: GraphDef) -> GraphDef:
    """The graph with a copy of each small constant on every device that reads it, where readers are on several."""
    device = {node.name: node.device for node in graph.node}
    edges = defaultdict(list)
    for node in graph.node:
        for name, output in map(split_name, node.input):
            edges[name].append((node.device, output == -1))

    def is_copied(node: NodeDef) -> bool:
        places, control = {place for place, _ in edges[node.name]}, any(told for _, told in edges[node.name])
        return len(places) > 1 and not control and (node.op != "Const" or elements(node) <= 16)

    copied = {node.name for node in graph.node if is_copied(node)}
    result = GraphDef(versions=graph.versions)
    for node in graph.node:
        places = sorted({place for place, _ in edges[node.name]}) if node.name in copied else [device[node.name]]
        for place in places:
            new = result.node.add()
            new.CopyFrom(node)
            new.device = place
            if node.name in copied:
                new.name = f"{node.name}/copy{device_number(place)}"
            for position, (name, _) in enumerate(map(split_name, node.input)):
                if name in copied:
                    new.input[position] = f"{name}/copy{device_number(node.device)}"
    return result


# %% wrong="replicate" why="readers read the copy on the constant's device"
def replicate(graph: GraphDef) -> GraphDef:
    """The graph with a copy of each small constant on every device that reads it, where readers are on several."""
    device = {node.name: node.device for node in graph.node}
    edges = defaultdict(list)
    for node in graph.node:
        for name, output in map(split_name, node.input):
            edges[name].append((node.device, output == -1))

    def is_copied(node: NodeDef) -> bool:
        places, control = {place for place, _ in edges[node.name]}, any(told for _, told in edges[node.name])
        return node.op == "Const" and len(places) > 1 and not control and elements(node) <= 16

    copied = {node.name for node in graph.node if is_copied(node)}
    result = GraphDef(versions=graph.versions)
    for node in graph.node:
        places = sorted({place for place, _ in edges[node.name]}) if node.name in copied else [device[node.name]]
        for place in places:
            new = result.node.add()
            new.CopyFrom(node)
            new.device = place
            if node.name in copied:
                new.name = f"{node.name}/copy{device_number(place)}"
            for position, (name, _) in enumerate(map(split_name, node.input)):
                if name in copied:
                    new.input[position] = f"{name}/copy{device_number(sorted(place for place, _ in edges[name])[0])}"
    return result


# %% wrong="replicate" why="changes nothing"
def replicate(graph: GraphDef) -> GraphDef:
    """The graph."""
    return graph


# %% wrong="replicate" why="adds a copy for every device of the graph"
def replicate(graph: GraphDef) -> GraphDef:
    """The graph with a copy of each small constant on every device that reads it, where readers are on several."""
    device = {node.name: node.device for node in graph.node}
    edges = defaultdict(list)
    for node in graph.node:
        for name, output in map(split_name, node.input):
            edges[name].append((node.device, output == -1))

    def is_copied(node: NodeDef) -> bool:
        places, control = {place for place, _ in edges[node.name]}, any(told for _, told in edges[node.name])
        return node.op == "Const" and len(places) > 1 and not control and elements(node) <= 16

    copied = {node.name for node in graph.node if is_copied(node)}
    result = GraphDef(versions=graph.versions)
    for node in graph.node:
        places = sorted(set(device.values())) if node.name in copied else [device[node.name]]
        for place in places:
            new = result.node.add()
            new.CopyFrom(node)
            new.device = place
            if node.name in copied:
                new.name = f"{node.name}/copy{device_number(place)}"
            for position, (name, _) in enumerate(map(split_name, node.input)):
                if name in copied:
                    new.input[position] = f"{name}/copy{device_number(node.device)}"
    return result


# %% wrong="replicate" why="exactly two devices"
def replicate(graph: GraphDef) -> GraphDef:
    """The graph with a copy of each small constant on every device that reads it, where readers are on several."""
    device = {node.name: node.device for node in graph.node}
    edges = defaultdict(list)
    for node in graph.node:
        for name, output in map(split_name, node.input):
            edges[name].append((node.device, output == -1))

    def is_copied(node: NodeDef) -> bool:
        places, control = {place for place, _ in edges[node.name]}, any(told for _, told in edges[node.name])
        return node.op == "Const" and len(places) == 2 and not control and elements(node) <= 16

    copied = {node.name for node in graph.node if is_copied(node)}
    result = GraphDef(versions=graph.versions)
    for node in graph.node:
        places = sorted({place for place, _ in edges[node.name]}) if node.name in copied else [device[node.name]]
        for place in places:
            new = result.node.add()
            new.CopyFrom(node)
            new.device = place
            if node.name in copied:
                new.name = f"{node.name}/copy{device_number(place)}"
            for position, (name, _) in enumerate(map(split_name, node.input)):
                if name in copied:
                    new.input[position] = f"{name}/copy{device_number(node.device)}"
    return result


# %% wrong="replicate" why="drops the versions"
def replicate(graph: GraphDef) -> GraphDef:
    """The graph with a copy of each small constant on every device that reads it, where readers are on several."""
    device = {node.name: node.device for node in graph.node}
    edges = defaultdict(list)
    for node in graph.node:
        for name, output in map(split_name, node.input):
            edges[name].append((node.device, output == -1))

    def is_copied(node: NodeDef) -> bool:
        places, control = {place for place, _ in edges[node.name]}, any(told for _, told in edges[node.name])
        return node.op == "Const" and len(places) > 1 and not control and elements(node) <= 16

    copied = {node.name for node in graph.node if is_copied(node)}
    result = GraphDef()
    for node in graph.node:
        places = sorted({place for place, _ in edges[node.name]}) if node.name in copied else [device[node.name]]
        for place in places:
            new = result.node.add()
            new.CopyFrom(node)
            new.device = place
            if node.name in copied:
                new.name = f"{node.name}/copy{device_number(place)}"
            for position, (name, _) in enumerate(map(split_name, node.input)):
                if name in copied:
                    new.input[position] = f"{name}/copy{device_number(node.device)}"
    return result


# %% wrong="replicate" why="does not see a reader that spells x:0"
def replicate(graph: GraphDef) -> GraphDef:
    """The graph with a copy of each small constant on every device that reads it, where readers are on several."""
    device = {node.name: node.device for node in graph.node}
    edges = defaultdict(list)
    for node in graph.node:
        for text in node.input:
            edges[text.removeprefix("^")].append((node.device, text.startswith("^")))

    def is_copied(node: NodeDef) -> bool:
        places, control = {place for place, _ in edges[node.name]}, any(told for _, told in edges[node.name])
        return node.op == "Const" and len(places) > 1 and not control and elements(node) <= 16

    copied = {node.name for node in graph.node if is_copied(node)}
    result = GraphDef(versions=graph.versions)
    for node in graph.node:
        places = sorted({place for place, _ in edges[node.name]}) if node.name in copied else [device[node.name]]
        for place in places:
            new = result.node.add()
            new.CopyFrom(node)
            new.device = place
            if node.name in copied:
                new.name = f"{node.name}/copy{device_number(place)}"
            for position, (name, _) in enumerate(map(split_name, node.input)):
                if name in copied:
                    new.input[position] = f"{name}/copy{device_number(node.device)}"
    return result


# %% wrong="replicate" why="of the attributes the copies have dtype and value only"
def replicate(graph: GraphDef) -> GraphDef:
    """The graph with a copy of each small constant on every device that reads it, where readers are on several."""
    device = {node.name: node.device for node in graph.node}
    edges = defaultdict(list)
    for node in graph.node:
        for name, output in map(split_name, node.input):
            edges[name].append((node.device, output == -1))

    def is_copied(node: NodeDef) -> bool:
        places, control = {place for place, _ in edges[node.name]}, any(told for _, told in edges[node.name])
        return node.op == "Const" and len(places) > 1 and not control and elements(node) <= 16

    copied = {node.name for node in graph.node if is_copied(node)}
    result = GraphDef(versions=graph.versions)
    for node in graph.node:
        places = sorted({place for place, _ in edges[node.name]}) if node.name in copied else [device[node.name]]
        for place in places:
            new = result.node.add()
            new.CopyFrom(node)
            new.device = place
            if node.name in copied:
                new.name = f"{node.name}/copy{device_number(place)}"
                for name in set(new.attr) - {"dtype", "value"}:
                    del new.attr[name]
            for position, (name, _) in enumerate(map(split_name, node.input)):
                if name in copied:
                    new.input[position] = f"{name}/copy{device_number(node.device)}"
    return result


# %% wrong="replicate" why="at most 64 bytes instead of 16 elements"
def replicate(graph: GraphDef) -> GraphDef:
    """The graph with a copy of each small constant on every device that reads it, where readers are on several."""
    device = {node.name: node.device for node in graph.node}
    edges = defaultdict(list)
    for node in graph.node:
        for name, output in map(split_name, node.input):
            edges[name].append((node.device, output == -1))

    def is_copied(node: NodeDef) -> bool:
        places, control = {place for place, _ in edges[node.name]}, any(told for _, told in edges[node.name])
        return (
            node.op == "Const"
            and len(places) > 1
            and not control
            and (elements(node) * tf.dtypes.as_dtype(node.attr["dtype"].type).size <= 64)
        )

    copied = {node.name for node in graph.node if is_copied(node)}
    result = GraphDef(versions=graph.versions)
    for node in graph.node:
        places = sorted({place for place, _ in edges[node.name]}) if node.name in copied else [device[node.name]]
        for place in places:
            new = result.node.add()
            new.CopyFrom(node)
            new.device = place
            if node.name in copied:
                new.name = f"{node.name}/copy{device_number(place)}"
            for position, (name, _) in enumerate(map(split_name, node.input)):
                if name in copied:
                    new.input[position] = f"{name}/copy{device_number(node.device)}"
    return result


# %% wrong="replicate" why="an empty constant is not copied"
def replicate(graph: GraphDef) -> GraphDef:
    """The graph with a copy of each small constant on every device that reads it, where readers are on several."""
    device = {node.name: node.device for node in graph.node}
    edges = defaultdict(list)
    for node in graph.node:
        for name, output in map(split_name, node.input):
            edges[name].append((node.device, output == -1))

    def is_copied(node: NodeDef) -> bool:
        places, control = {place for place, _ in edges[node.name]}, any(told for _, told in edges[node.name])
        return node.op == "Const" and len(places) > 1 and not control and 0 < elements(node) <= 16

    copied = {node.name for node in graph.node if is_copied(node)}
    result = GraphDef(versions=graph.versions)
    for node in graph.node:
        places = sorted({place for place, _ in edges[node.name]}) if node.name in copied else [device[node.name]]
        for place in places:
            new = result.node.add()
            new.CopyFrom(node)
            new.device = place
            if node.name in copied:
                new.name = f"{node.name}/copy{device_number(place)}"
            for position, (name, _) in enumerate(map(split_name, node.input)):
                if name in copied:
                    new.input[position] = f"{name}/copy{device_number(node.device)}"
    return result


# %% right="replicate" why="a list of edits on a copy of the graph"
def replicate(graph: GraphDef) -> GraphDef:
    """Edit a copy of the graph, constant by constant."""
    result = GraphDef()
    result.CopyFrom(graph)
    for constant in [node for node in graph.node if node.op == "Const" and elements(node) < 17]:
        readers = [node for node in result.node if constant.name in {split_name(text)[0] for text in node.input}]
        if any(f"^{constant.name}" in node.input for node in readers):
            continue
        by_device = defaultdict(list)
        for node in readers:
            by_device[node.device].append(node)
        if len(by_device) < 2:
            continue
        for device, nodes in by_device.items():
            name = f"{constant.name}/copy{device_number(device)}"
            for node in nodes:
                node.input[:] = [f"{name}:0" if split_name(text)[0] == constant.name else text for text in node.input]
            result.node.add(name=name, op="Const", device=device, attr=constant.attr, input=constant.input)
        del result.node[[node.name for node in result.node].index(constant.name)]
    return result


# %% wrong="partition" why="one transfer per reader"
def partition(graph: GraphDef, where: Callable[[NodeDef], str] = device_of) -> dict[str, GraphDef]:
    """One graph for each place that `where` names, with a pair of nodes for each tensor and each end that crosses.

    Raises:
        ValueError: a node has no device; the message names it.
    """
    nodes, parts = {node.name: node for node in graph.node}, {}
    for node in graph.node:
        if not node.device:
            raise ValueError(f"{node.name} has no device")
        parts.setdefault(where(node), GraphDef(versions=graph.versions))
    place = {node.name: where(node) for node in graph.node}
    arrived: dict[tuple[str, int, str], str] = {}

    def bring(text: str, reader: NodeDef) -> str:
        """What `reader` reads in its own part."""
        name, slot = split_name(text)
        here, there = place[name], place[reader.name]
        if here == there:
            return text
        if True:
            source = nodes[name].device
            pair = source, reader.device, f"edge_{len(arrived)}_{name}"
            if slot >= 0:
                dtype = type_of(graph, text)
                add_send(parts[here], text, dtype, *pair)
                arrived[name, slot, there] = add_recv(parts[there], dtype, *pair)
            else:
                add_send(parts[here], add_control_source(parts[here], name, source), FLOAT, *pair)
                recv = add_recv(parts[there], FLOAT, *pair)
                arrived[name, slot, there] = "^" + add_control_sink(parts[there], recv, reader.device)
        return arrived[name, slot, there]

    for node in graph.node:
        placed = parts[place[node.name]].node.add()
        placed.CopyFrom(node)
        placed.input[:] = [bring(text, node) for text in node.input]
    return parts


# %% wrong="partition" why="one transfer per node instead of per tensor"
def partition(graph: GraphDef, where: Callable[[NodeDef], str] = device_of) -> dict[str, GraphDef]:
    """One graph for each place that `where` names, with a pair of nodes for each tensor and each end that crosses.

    Raises:
        ValueError: a node has no device; the message names it.
    """
    nodes, parts = {node.name: node for node in graph.node}, {}
    for node in graph.node:
        if not node.device:
            raise ValueError(f"{node.name} has no device")
        parts.setdefault(where(node), GraphDef(versions=graph.versions))
    place = {node.name: where(node) for node in graph.node}
    arrived: dict[tuple[str, int, str], str] = {}

    def bring(text: str, reader: NodeDef) -> str:
        """What `reader` reads in its own part."""
        name, slot = split_name(text)
        here, there = place[name], place[reader.name]
        if here == there:
            return text
        slot = min(slot, 0)
        if (name, slot, there) not in arrived:
            source = nodes[name].device
            pair = source, reader.device, f"edge_{len(arrived)}_{name}"
            if slot >= 0:
                dtype = type_of(graph, text)
                add_send(parts[here], text, dtype, *pair)
                arrived[name, slot, there] = add_recv(parts[there], dtype, *pair)
            else:
                add_send(parts[here], add_control_source(parts[here], name, source), FLOAT, *pair)
                recv = add_recv(parts[there], FLOAT, *pair)
                arrived[name, slot, there] = "^" + add_control_sink(parts[there], recv, reader.device)
        return arrived[name, slot, there]

    for node in graph.node:
        placed = parts[place[node.name]].node.add()
        placed.CopyFrom(node)
        placed.input[:] = [bring(text, node) for text in node.input]
    return parts


# %% wrong="partition" why="drops a control edge where a tensor of the same node crosses"
def partition(graph: GraphDef, where: Callable[[NodeDef], str] = device_of) -> dict[str, GraphDef]:
    """One graph for each place that `where` names, with a pair of nodes for each tensor and each end that crosses.

    Raises:
        ValueError: a node has no device; the message names it.
    """
    nodes, parts = {node.name: node for node in graph.node}, {}
    for node in graph.node:
        if not node.device:
            raise ValueError(f"{node.name} has no device")
        parts.setdefault(where(node), GraphDef(versions=graph.versions))
    place = {node.name: where(node) for node in graph.node}
    arrived: dict[tuple[str, int, str], str] = {}

    def bring(text: str, reader: NodeDef) -> str:
        """What `reader` reads in its own part."""
        name, slot = split_name(text)
        here, there = place[name], place[reader.name]
        if here == there:
            return text
        if (name, slot, there) not in arrived:
            source = nodes[name].device
            pair = source, reader.device, f"edge_{len(arrived)}_{name}"
            if slot >= 0:
                dtype = type_of(graph, text)
                add_send(parts[here], text, dtype, *pair)
                arrived[name, slot, there] = add_recv(parts[there], dtype, *pair)
            else:
                add_send(parts[here], add_control_source(parts[here], name, source), FLOAT, *pair)
                recv = add_recv(parts[there], FLOAT, *pair)
                arrived[name, slot, there] = "^" + add_control_sink(parts[there], recv, reader.device)
        return arrived[name, slot, there]

    def together(reader: NodeDef) -> list[str]:
        tensors = {
            (split_name(text)[0], place[reader.name])
            for node in graph.node
            for text in node.input
            if text[0] != "^"
            and place[node.name] == place[reader.name]
            and place[split_name(text)[0]] != place[reader.name]
        }
        return [text for text in reader.input if text[0] != "^" or (text[1:], place[reader.name]) not in tensors]

    for node in graph.node:
        placed = parts[place[node.name]].node.add()
        placed.CopyFrom(node)
        placed.input[:] = [bring(text, node) for text in together(node)]
    return parts


# %% wrong="partition" why="sends the tensor for a control edge"
def partition(graph: GraphDef, where: Callable[[NodeDef], str] = device_of) -> dict[str, GraphDef]:
    """One graph for each place that `where` names, with a pair of nodes for each tensor and each end that crosses.

    Raises:
        ValueError: a node has no device; the message names it.
    """
    nodes, parts = {node.name: node for node in graph.node}, {}
    for node in graph.node:
        if not node.device:
            raise ValueError(f"{node.name} has no device")
        parts.setdefault(where(node), GraphDef(versions=graph.versions))
    place = {node.name: where(node) for node in graph.node}
    arrived: dict[tuple[str, int, str], str] = {}

    def bring(text: str, reader: NodeDef) -> str:
        """What `reader` reads in its own part."""
        name, slot = split_name(text)
        here, there = place[name], place[reader.name]
        if here == there:
            return text
        if (name, slot, there) not in arrived:
            source = nodes[name].device
            pair = source, reader.device, f"edge_{len(arrived)}_{name}"
            if slot >= 0:
                dtype = type_of(graph, text)
                add_send(parts[here], text, dtype, *pair)
                arrived[name, slot, there] = add_recv(parts[there], dtype, *pair)
            else:
                add_send(parts[here], name, FLOAT, *pair)
                recv = add_recv(parts[there], FLOAT, *pair)
                arrived[name, slot, there] = "^" + add_control_sink(parts[there], recv, reader.device)
        return arrived[name, slot, there]

    for node in graph.node:
        placed = parts[place[node.name]].node.add()
        placed.CopyFrom(node)
        placed.input[:] = [bring(text, node) for text in node.input]
    return parts


# %% wrong="partition" why="a waiting node waits for the pair of the tensor"
def partition(graph: GraphDef, where: Callable[[NodeDef], str] = device_of) -> dict[str, GraphDef]:
    """One graph for each place that `where` names, with a pair of nodes for each tensor and each end that crosses.

    Raises:
        ValueError: a node has no device; the message names it.
    """
    nodes, parts = {node.name: node for node in graph.node}, {}
    for node in graph.node:
        if not node.device:
            raise ValueError(f"{node.name} has no device")
        parts.setdefault(where(node), GraphDef(versions=graph.versions))
    place = {node.name: where(node) for node in graph.node}
    arrived: dict[tuple[str, int, str], str] = {}

    def bring(text: str, reader: NodeDef) -> str:
        """What `reader` reads in its own part."""
        name, slot = split_name(text)
        if slot == -1 and (name, 0, place[reader.name]) in arrived:
            return "^" + arrived[name, 0, place[reader.name]]
        here, there = place[name], place[reader.name]
        if here == there:
            return text
        if (name, slot, there) not in arrived:
            source = nodes[name].device
            pair = source, reader.device, f"edge_{len(arrived)}_{name}"
            if slot >= 0:
                dtype = type_of(graph, text)
                add_send(parts[here], text, dtype, *pair)
                arrived[name, slot, there] = add_recv(parts[there], dtype, *pair)
            else:
                add_send(parts[here], add_control_source(parts[here], name, source), FLOAT, *pair)
                recv = add_recv(parts[there], FLOAT, *pair)
                arrived[name, slot, there] = "^" + add_control_sink(parts[there], recv, reader.device)
        return arrived[name, slot, there]

    for node in graph.node:
        placed = parts[place[node.name]].node.add()
        placed.CopyFrom(node)
        placed.input[:] = [bring(text, node) for text in node.input]
    return parts


# %% wrong="partition" why="places the _Recv at the source"
def partition(graph: GraphDef, where: Callable[[NodeDef], str] = device_of) -> dict[str, GraphDef]:
    """One graph for each place that `where` names, with a pair of nodes for each tensor and each end that crosses.

    Raises:
        ValueError: a node has no device; the message names it.
    """
    nodes, parts = {node.name: node for node in graph.node}, {}
    for node in graph.node:
        if not node.device:
            raise ValueError(f"{node.name} has no device")
        parts.setdefault(where(node), GraphDef(versions=graph.versions))
    place = {node.name: where(node) for node in graph.node}
    arrived: dict[tuple[str, int, str], str] = {}

    def bring(text: str, reader: NodeDef) -> str:
        """What `reader` reads in its own part."""
        name, slot = split_name(text)
        here, there = place[name], place[reader.name]
        if here == there:
            return text
        if (name, slot, there) not in arrived:
            source = nodes[name].device
            pair = source, reader.device, f"edge_{len(arrived)}_{name}"
            if slot >= 0:
                dtype = type_of(graph, text)
                add_send(parts[here], text, dtype, *pair)
                arrived[name, slot, there] = add_recv(parts[there], dtype, pair[1], pair[0], pair[2])
            else:
                add_send(parts[here], add_control_source(parts[here], name, source), FLOAT, *pair)
                recv = add_recv(parts[there], FLOAT, *pair)
                arrived[name, slot, there] = "^" + add_control_sink(parts[there], recv, reader.device)
        return arrived[name, slot, there]

    for node in graph.node:
        placed = parts[place[node.name]].node.add()
        placed.CopyFrom(node)
        placed.input[:] = [bring(text, node) for text in node.input]
    return parts


# %% wrong="partition" why="cuts what is on two devices of one place"
def partition(graph: GraphDef, where: Callable[[NodeDef], str] = device_of) -> dict[str, GraphDef]:
    """One graph for each place that `where` names, with a pair of nodes for each tensor and each end that crosses.

    Raises:
        ValueError: a node has no device; the message names it.
    """
    nodes, parts = {node.name: node for node in graph.node}, {}
    for node in graph.node:
        if not node.device:
            raise ValueError(f"{node.name} has no device")
        parts.setdefault(where(node), GraphDef(versions=graph.versions))
    place = {node.name: where(node) for node in graph.node}
    arrived: dict[tuple[str, int, str], str] = {}

    def bring(text: str, reader: NodeDef) -> str:
        """What `reader` reads in its own part."""
        name, slot = split_name(text)
        here, there = place[name], place[reader.name]
        if nodes[name].device == reader.device:
            return text
        if (name, slot, there) not in arrived:
            source = nodes[name].device
            pair = source, reader.device, f"edge_{len(arrived)}_{name}"
            if slot >= 0:
                dtype = type_of(graph, text)
                add_send(parts[here], text, dtype, *pair)
                arrived[name, slot, there] = add_recv(parts[there], dtype, *pair)
            else:
                add_send(parts[here], add_control_source(parts[here], name, source), FLOAT, *pair)
                recv = add_recv(parts[there], FLOAT, *pair)
                arrived[name, slot, there] = "^" + add_control_sink(parts[there], recv, reader.device)
        return arrived[name, slot, there]

    for node in graph.node:
        placed = parts[place[node.name]].node.add()
        placed.CopyFrom(node)
        placed.input[:] = [bring(text, node) for text in node.input]
    return parts


# %% wrong="partition" why="knows two devices only"
def partition(graph: GraphDef, where: Callable[[NodeDef], str] = device_of) -> dict[str, GraphDef]:
    """One graph for each place that `where` names, with a pair of nodes for each tensor and each end that crosses.

    Raises:
        ValueError: a node has no device; the message names it.
    """
    nodes, parts = {node.name: node for node in graph.node}, {}
    for node in graph.node:
        if not node.device:
            raise ValueError(f"{node.name} has no device")
        if where(node) in CPU[:2]:
            parts.setdefault(where(node), GraphDef(versions=graph.versions))
    place = {node.name: where(node) if where(node) in parts else CPU[1] for node in graph.node}
    arrived: dict[tuple[str, int, str], str] = {}

    def bring(text: str, reader: NodeDef) -> str:
        """What `reader` reads in its own part."""
        name, slot = split_name(text)
        here, there = place[name], place[reader.name]
        if here == there:
            return text
        if (name, slot, there) not in arrived:
            source = nodes[name].device
            pair = source, reader.device, f"edge_{len(arrived)}_{name}"
            if slot >= 0:
                dtype = type_of(graph, text)
                add_send(parts[here], text, dtype, *pair)
                arrived[name, slot, there] = add_recv(parts[there], dtype, *pair)
            else:
                add_send(parts[here], add_control_source(parts[here], name, source), FLOAT, *pair)
                recv = add_recv(parts[there], FLOAT, *pair)
                arrived[name, slot, there] = "^" + add_control_sink(parts[there], recv, reader.device)
        return arrived[name, slot, there]

    for node in graph.node:
        placed = parts[place[node.name]].node.add()
        placed.CopyFrom(node)
        placed.input[:] = [bring(text, node) for text in node.input]
    return parts


# %% wrong="partition" why="cuts by device, whatever where says"
def partition(graph: GraphDef, where: Callable[[NodeDef], str] = device_of) -> dict[str, GraphDef]:
    """One graph for each place that `where` names, with a pair of nodes for each tensor and each end that crosses.

    Raises:
        ValueError: a node has no device; the message names it.
    """
    where = device_of
    nodes, parts = {node.name: node for node in graph.node}, {}
    for node in graph.node:
        if not node.device:
            raise ValueError(f"{node.name} has no device")
        parts.setdefault(where(node), GraphDef(versions=graph.versions))
    place = {node.name: where(node) for node in graph.node}
    arrived: dict[tuple[str, int, str], str] = {}

    def bring(text: str, reader: NodeDef) -> str:
        """What `reader` reads in its own part."""
        name, slot = split_name(text)
        here, there = place[name], place[reader.name]
        if here == there:
            return text
        if (name, slot, there) not in arrived:
            source = nodes[name].device
            pair = source, reader.device, f"edge_{len(arrived)}_{name}"
            if slot >= 0:
                dtype = type_of(graph, text)
                add_send(parts[here], text, dtype, *pair)
                arrived[name, slot, there] = add_recv(parts[there], dtype, *pair)
            else:
                add_send(parts[here], add_control_source(parts[here], name, source), FLOAT, *pair)
                recv = add_recv(parts[there], FLOAT, *pair)
                arrived[name, slot, there] = "^" + add_control_sink(parts[there], recv, reader.device)
        return arrived[name, slot, there]

    for node in graph.node:
        placed = parts[place[node.name]].node.add()
        placed.CopyFrom(node)
        placed.input[:] = [bring(text, node) for text in node.input]
    return parts


# %% wrong="partition" why="one edge name for all pairs of a node"
def partition(graph: GraphDef, where: Callable[[NodeDef], str] = device_of) -> dict[str, GraphDef]:
    """One graph for each place that `where` names, with a pair of nodes for each tensor and each end that crosses.

    Raises:
        ValueError: a node has no device; the message names it.
    """
    nodes, parts = {node.name: node for node in graph.node}, {}
    for node in graph.node:
        if not node.device:
            raise ValueError(f"{node.name} has no device")
        parts.setdefault(where(node), GraphDef(versions=graph.versions))
    place = {node.name: where(node) for node in graph.node}
    arrived: dict[tuple[str, int, str], str] = {}

    def bring(text: str, reader: NodeDef) -> str:
        """What `reader` reads in its own part."""
        name, slot = split_name(text)
        here, there = place[name], place[reader.name]
        if here == there:
            return text
        if (name, slot, there) not in arrived:
            source = nodes[name].device
            pair = source, reader.device, f"edge_{name}"
            if slot >= 0:
                dtype = type_of(graph, text)
                add_send(parts[here], text, dtype, *pair)
                arrived[name, slot, there] = add_recv(parts[there], dtype, *pair)
            else:
                add_send(parts[here], add_control_source(parts[here], name, source), FLOAT, *pair)
                recv = add_recv(parts[there], FLOAT, *pair)
                arrived[name, slot, there] = "^" + add_control_sink(parts[there], recv, reader.device)
        return arrived[name, slot, there]

    for node in graph.node:
        placed = parts[place[node.name]].node.add()
        placed.CopyFrom(node)
        placed.input[:] = [bring(text, node) for text in node.input]
    return parts


# %% wrong="partition" why="once per destination device instead of place"
def partition(graph: GraphDef, where: Callable[[NodeDef], str] = device_of) -> dict[str, GraphDef]:
    """One graph for each place that `where` names, with a pair of nodes for each tensor and each end that crosses.

    Raises:
        ValueError: a node has no device; the message names it.
    """
    nodes, parts = {node.name: node for node in graph.node}, {}
    for node in graph.node:
        if not node.device:
            raise ValueError(f"{node.name} has no device")
        parts.setdefault(where(node), GraphDef(versions=graph.versions))
    place = {node.name: where(node) for node in graph.node}
    arrived: dict[tuple[str, int, str], str] = {}

    def bring(text: str, reader: NodeDef) -> str:
        """What `reader` reads in its own part."""
        name, slot = split_name(text)
        here, there = place[name], place[reader.name]
        if here == there:
            return text
        slot = slot, reader.device
        if (name, slot, there) not in arrived:
            source = nodes[name].device
            pair = source, reader.device, f"edge_{len(arrived)}_{name}"
            if slot[0] >= 0:
                dtype = type_of(graph, text)
                add_send(parts[here], text, dtype, *pair)
                arrived[name, slot, there] = add_recv(parts[there], dtype, *pair)
            else:
                add_send(parts[here], add_control_source(parts[here], name, source), FLOAT, *pair)
                recv = add_recv(parts[there], FLOAT, *pair)
                arrived[name, slot, there] = "^" + add_control_sink(parts[there], recv, reader.device)
        return arrived[name, slot, there]

    for node in graph.node:
        placed = parts[place[node.name]].node.add()
        placed.CopyFrom(node)
        placed.input[:] = [bring(text, node) for text in node.input]
    return parts


# %% wrong="partition" why="takes a node without a device as one on CPU:0"
def partition(graph: GraphDef, where: Callable[[NodeDef], str] = device_of) -> dict[str, GraphDef]:
    """One graph for each place that `where` names, with a pair of nodes for each tensor and each end that crosses.

    Raises:
        ValueError: a node has no device; the message names it.
    """
    nodes, parts = {node.name: node for node in graph.node}, {}
    for node in graph.node:
        node.device = node.device or CPU[0]
        parts.setdefault(where(node), GraphDef(versions=graph.versions))
    place = {node.name: where(node) for node in graph.node}
    arrived: dict[tuple[str, int, str], str] = {}

    def bring(text: str, reader: NodeDef) -> str:
        """What `reader` reads in its own part."""
        name, slot = split_name(text)
        here, there = place[name], place[reader.name]
        if here == there:
            return text
        if (name, slot, there) not in arrived:
            source = nodes[name].device
            pair = source, reader.device, f"edge_{len(arrived)}_{name}"
            if slot >= 0:
                dtype = type_of(graph, text)
                add_send(parts[here], text, dtype, *pair)
                arrived[name, slot, there] = add_recv(parts[there], dtype, *pair)
            else:
                add_send(parts[here], add_control_source(parts[here], name, source), FLOAT, *pair)
                recv = add_recv(parts[there], FLOAT, *pair)
                arrived[name, slot, there] = "^" + add_control_sink(parts[there], recv, reader.device)
        return arrived[name, slot, there]

    for node in graph.node:
        placed = parts[place[node.name]].node.add()
        placed.CopyFrom(node)
        placed.input[:] = [bring(text, node) for text in node.input]
    return parts


# %% wrong="partition" why="asks a session for the partitions"
def partition(graph: GraphDef, where: Callable[[NodeDef], str] = device_of) -> dict[str, GraphDef]:
    """What the runtime makes of the graph."""
    for node in graph.node:
        if not node.device:
            raise ValueError(f"{node.name} has no device")
    return runtime_steps([Case(graph, [f"^{node.name}" for node in graph.node], {})])[0].parts


# %% wrong="partition" why="every transfer is of type float"
def partition(graph: GraphDef, where: Callable[[NodeDef], str] = device_of) -> dict[str, GraphDef]:
    """One graph for each place that `where` names, with a pair of nodes for each tensor and each end that crosses.

    Raises:
        ValueError: a node has no device; the message names it.
    """
    nodes, parts = {node.name: node for node in graph.node}, {}
    for node in graph.node:
        if not node.device:
            raise ValueError(f"{node.name} has no device")
        parts.setdefault(where(node), GraphDef(versions=graph.versions))
    place = {node.name: where(node) for node in graph.node}
    arrived: dict[tuple[str, int, str], str] = {}

    def bring(text: str, reader: NodeDef) -> str:
        """What `reader` reads in its own part."""
        name, slot = split_name(text)
        here, there = place[name], place[reader.name]
        if here == there:
            return text
        if (name, slot, there) not in arrived:
            source = nodes[name].device
            pair = source, reader.device, f"edge_{len(arrived)}_{name}"
            if slot >= 0:
                dtype = FLOAT
                add_send(parts[here], text, dtype, *pair)
                arrived[name, slot, there] = add_recv(parts[there], dtype, *pair)
            else:
                add_send(parts[here], add_control_source(parts[here], name, source), FLOAT, *pair)
                recv = add_recv(parts[there], FLOAT, *pair)
                arrived[name, slot, there] = "^" + add_control_sink(parts[there], recv, reader.device)
        return arrived[name, slot, there]

    for node in graph.node:
        placed = parts[place[node.name]].node.add()
        placed.CopyFrom(node)
        placed.input[:] = [bring(text, node) for text in node.input]
    return parts


# %% wrong="partition" why="x and x:0 are two tensors"
def partition(graph: GraphDef, where: Callable[[NodeDef], str] = device_of) -> dict[str, GraphDef]:
    """One graph for each place that `where` names, with a pair of nodes for each tensor and each end that crosses.

    Raises:
        ValueError: a node has no device; the message names it.
    """
    nodes, parts = {node.name: node for node in graph.node}, {}
    for node in graph.node:
        if not node.device:
            raise ValueError(f"{node.name} has no device")
        parts.setdefault(where(node), GraphDef(versions=graph.versions))
    place = {node.name: where(node) for node in graph.node}
    arrived: dict[tuple[str, int, str], str] = {}

    def bring(text: str, reader: NodeDef) -> str:
        """What `reader` reads in its own part."""
        name, slot = split_name(text)
        here, there = place[name], place[reader.name]
        if here == there:
            return text
        slot = slot if slot < 0 else text
        if (name, slot, there) not in arrived:
            source = nodes[name].device
            pair = source, reader.device, f"edge_{len(arrived)}_{name}"
            if slot != -1:
                dtype = type_of(graph, text)
                add_send(parts[here], text, dtype, *pair)
                arrived[name, slot, there] = add_recv(parts[there], dtype, *pair)
            else:
                add_send(parts[here], add_control_source(parts[here], name, source), FLOAT, *pair)
                recv = add_recv(parts[there], FLOAT, *pair)
                arrived[name, slot, there] = "^" + add_control_sink(parts[there], recv, reader.device)
        return arrived[name, slot, there]

    for node in graph.node:
        placed = parts[place[node.name]].node.add()
        placed.CopyFrom(node)
        placed.input[:] = [bring(text, node) for text in node.input]
    return parts


# %% wrong="partition" why="cuts by task if there are several tasks, else by device"
def partition(graph: GraphDef, where: Callable[[NodeDef], str] = device_of) -> dict[str, GraphDef]:
    """One graph for each place that `where` names, with a pair of nodes for each tensor and each end that crosses.

    Raises:
        ValueError: a node has no device; the message names it.
    """
    nodes, parts = {node.name: node for node in graph.node}, {}
    where = task_of if len({task_of(node) for node in graph.node}) > 1 else device_of
    for node in graph.node:
        if not node.device:
            raise ValueError(f"{node.name} has no device")
        parts.setdefault(where(node), GraphDef(versions=graph.versions))
    place = {node.name: where(node) for node in graph.node}
    arrived: dict[tuple[str, int, str], str] = {}

    def bring(text: str, reader: NodeDef) -> str:
        """What `reader` reads in its own part."""
        name, slot = split_name(text)
        here, there = place[name], place[reader.name]
        if here == there:
            return text
        if (name, slot, there) not in arrived:
            source = nodes[name].device
            pair = source, reader.device, f"edge_{len(arrived)}_{name}"
            if slot >= 0:
                dtype = type_of(graph, text)
                add_send(parts[here], text, dtype, *pair)
                arrived[name, slot, there] = add_recv(parts[there], dtype, *pair)
            else:
                add_send(parts[here], add_control_source(parts[here], name, source), FLOAT, *pair)
                recv = add_recv(parts[there], FLOAT, *pair)
                arrived[name, slot, there] = "^" + add_control_sink(parts[there], recv, reader.device)
        return arrived[name, slot, there]

    for node in graph.node:
        placed = parts[place[node.name]].node.add()
        placed.CopyFrom(node)
        placed.input[:] = [bring(text, node) for text in node.input]
    return parts


# %% wrong="partition" why="adds the sink, and lets the nodes wait for the _Recv"
def partition(graph: GraphDef, where: Callable[[NodeDef], str] = device_of) -> dict[str, GraphDef]:
    """One graph for each place that `where` names, with a pair of nodes for each tensor and each end that crosses.

    Raises:
        ValueError: a node has no device; the message names it.
    """
    nodes, parts = {node.name: node for node in graph.node}, {}
    for node in graph.node:
        if not node.device:
            raise ValueError(f"{node.name} has no device")
        parts.setdefault(where(node), GraphDef(versions=graph.versions))
    place = {node.name: where(node) for node in graph.node}
    arrived: dict[tuple[str, int, str], str] = {}

    def bring(text: str, reader: NodeDef) -> str:
        """What `reader` reads in its own part."""
        name, slot = split_name(text)
        here, there = place[name], place[reader.name]
        if here == there:
            return text
        if (name, slot, there) not in arrived:
            source = nodes[name].device
            pair = source, reader.device, f"edge_{len(arrived)}_{name}"
            if slot >= 0:
                dtype = type_of(graph, text)
                add_send(parts[here], text, dtype, *pair)
                arrived[name, slot, there] = add_recv(parts[there], dtype, *pair)
            else:
                add_send(parts[here], add_control_source(parts[here], name, source), FLOAT, *pair)
                recv = add_recv(parts[there], FLOAT, *pair)
                add_control_sink(parts[there], recv, reader.device)
                arrived[name, slot, there] = "^" + recv
        return arrived[name, slot, there]

    for node in graph.node:
        placed = parts[place[node.name]].node.add()
        placed.CopyFrom(node)
        placed.input[:] = [bring(text, node) for text in node.input]
    return parts


# %% wrong="partition" why="a control edge crosses once for each device, not for each place"
def partition(graph: GraphDef, where: Callable[[NodeDef], str] = device_of) -> dict[str, GraphDef]:
    """One graph for each place that `where` names, with a pair of nodes for each tensor and each end that crosses.

    Raises:
        ValueError: a node has no device; the message names it.
    """
    nodes, parts = {node.name: node for node in graph.node}, {}
    for node in graph.node:
        if not node.device:
            raise ValueError(f"{node.name} has no device")
        parts.setdefault(where(node), GraphDef(versions=graph.versions))
    place = {node.name: where(node) for node in graph.node}
    arrived: dict[tuple[str, int, str], str] = {}

    def bring(text: str, reader: NodeDef) -> str:
        """What `reader` reads in its own part."""
        name, slot = split_name(text)
        here, there = place[name], place[reader.name]
        if here == there:
            return text
        target = there if slot >= 0 else reader.device
        if (name, slot, target) not in arrived:
            source = nodes[name].device
            pair = source, reader.device, f"edge_{len(arrived)}_{name}"
            if slot >= 0:
                dtype = type_of(graph, text)
                add_send(parts[here], text, dtype, *pair)
                arrived[name, slot, there] = add_recv(parts[there], dtype, *pair)
            else:
                add_send(parts[here], add_control_source(parts[here], name, source), FLOAT, *pair)
                recv = add_recv(parts[there], FLOAT, *pair)
                arrived[name, slot, target] = "^" + add_control_sink(parts[there], recv, reader.device)
        return arrived[name, slot, target]

    for node in graph.node:
        placed = parts[place[node.name]].node.add()
        placed.CopyFrom(node)
        placed.input[:] = [bring(text, node) for text in node.input]
    return parts


# %% wrong="partition" why="asks for a place, not for a device"
def partition(graph: GraphDef, where: Callable[[NodeDef], str] = device_of) -> dict[str, GraphDef]:
    """One graph for each place that `where` names, with a pair of nodes for each tensor and each end that crosses.

    Raises:
        ValueError: a node has no device; the message names it.
    """
    nodes, parts = {node.name: node for node in graph.node}, {}
    for node in graph.node:
        if not where(node):
            raise ValueError(f"{node.name} has no device")
        parts.setdefault(where(node), GraphDef(versions=graph.versions))
    place = {node.name: where(node) for node in graph.node}
    arrived: dict[tuple[str, int, str], str] = {}

    def bring(text: str, reader: NodeDef) -> str:
        """What `reader` reads in its own part."""
        name, slot = split_name(text)
        here, there = place[name], place[reader.name]
        if here == there:
            return text
        if (name, slot, there) not in arrived:
            source = nodes[name].device
            pair = source, reader.device, f"edge_{len(arrived)}_{name}"
            if slot >= 0:
                dtype = type_of(graph, text)
                add_send(parts[here], text, dtype, *pair)
                arrived[name, slot, there] = add_recv(parts[there], dtype, *pair)
            else:
                add_send(parts[here], add_control_source(parts[here], name, source), FLOAT, *pair)
                recv = add_recv(parts[there], FLOAT, *pair)
                arrived[name, slot, there] = "^" + add_control_sink(parts[there], recv, reader.device)
        return arrived[name, slot, there]

    for node in graph.node:
        placed = parts[place[node.name]].node.add()
        placed.CopyFrom(node)
        placed.input[:] = [bring(text, node) for text in node.input]
    return parts


# %% wrong="partition" why="a sink for each waiting node"
def partition(graph: GraphDef, where: Callable[[NodeDef], str] = device_of) -> dict[str, GraphDef]:
    """One graph for each place that `where` names, with a pair of nodes for each tensor and each end that crosses.

    Raises:
        ValueError: a node has no device; the message names it.
    """
    nodes, parts = {node.name: node for node in graph.node}, {}
    for node in graph.node:
        if not node.device:
            raise ValueError(f"{node.name} has no device")
        parts.setdefault(where(node), GraphDef(versions=graph.versions))
    place = {node.name: where(node) for node in graph.node}
    arrived: dict[tuple[str, int, str], str] = {}

    def bring(text: str, reader: NodeDef) -> str:
        """What `reader` reads in its own part."""
        name, slot = split_name(text)
        here, there = place[name], place[reader.name]
        if here == there:
            return text
        if (name, slot, there) not in arrived:
            source = nodes[name].device
            pair = source, reader.device, f"edge_{len(arrived)}_{name}"
            if slot >= 0:
                dtype = type_of(graph, text)
                add_send(parts[here], text, dtype, *pair)
                arrived[name, slot, there] = add_recv(parts[there], dtype, *pair)
            else:
                add_send(parts[here], add_control_source(parts[here], name, source), FLOAT, *pair)
                recv = add_recv(parts[there], FLOAT, *pair)
                arrived[name, slot, there] = recv
        if slot == -1:
            sink = add_control_sink(parts[there], arrived[name, slot, there], reader.device)
            parts[there].node[-1].name = f"{sink}/{reader.name}"
            return "^" + parts[there].node[-1].name
        return arrived[name, slot, there]

    for node in graph.node:
        placed = parts[place[node.name]].node.add()
        placed.CopyFrom(node)
        placed.input[:] = [bring(text, node) for text in node.input]
    return parts


# %% right="partition" why="collects the edges first, then writes the nodes"
def partition(graph: GraphDef, where: Callable[[NodeDef], str] = device_of) -> dict[str, GraphDef]:
    """First a table of what crosses, then the parts."""
    nodes, crossing = {node.name: node for node in graph.node}, {}
    lost = [node.name for node in graph.node if node.device == ""]
    if lost:
        raise ValueError(f"nodes without a device: {lost}")
    for reader in graph.node:
        for name, output in map(split_name, reader.input):
            if where(nodes[name]) != where(reader):
                crossing.setdefault((name, output, where(reader)), reader.device)
    parts = {where(node): GraphDef(versions=graph.versions) for node in reversed(graph.node)}
    names = {}
    for number, ((name, output, there), device) in enumerate(crossing.items()):
        source, part, edge = nodes[name], parts[where(nodes[name])], f"letter {number}"
        tensor, dtype = f"{name}:{output}", FLOAT
        if output < 0:
            tensor = add_control_source(part, name, source.device)
        else:
            dtype = type_of(graph, tensor)
        recv = add_recv(parts[there], dtype, source.device, device, edge)
        add_send(part, tensor, dtype, source.device, device, edge)
        names[name, output, there] = recv if output >= 0 else f"^{add_control_sink(parts[there], recv, device)}"
    for node in graph.node:
        place = where(node)
        inputs = [names.get((*split_name(text), place), text) for text in node.input]
        parts[place].node.add(name=node.name, op=node.op, device=node.device, input=inputs, attr=node.attr)
    return parts


# %% right="partition" why="takes the nodes out of its argument, edges with spaces"
def partition(graph: GraphDef, where: Callable[[NodeDef], str] = device_of) -> dict[str, GraphDef]:
    """One graph for each place that `where` names, with a pair of nodes for each tensor and each end that crosses.

    Raises:
        ValueError: a node has no device; the message names it.
    """
    nodes, parts = {node.name: node for node in graph.node}, {}
    for node in graph.node:
        if not node.device:
            raise ValueError(f"{node.name} has no device")
        parts.setdefault(where(node), GraphDef(versions=graph.versions))
    place = {node.name: where(node) for node in graph.node}
    arrived: dict[tuple[str, int, str], str] = {}

    def bring(text: str, reader: NodeDef) -> str:
        """What `reader` reads in its own part."""
        name, slot = split_name(text)
        here, there = place[name], place[reader.name]
        if here == there:
            return text
        if (name, slot, there) not in arrived:
            source = nodes[name].device
            pair = source, reader.device, f"edge_{len(arrived)} of {name}, ü"
            if slot >= 0:
                dtype = type_of(graph, text)
                add_send(parts[here], text, dtype, *pair)
                arrived[name, slot, there] = add_recv(parts[there], dtype, *pair)
            else:
                add_send(parts[here], add_control_source(parts[here], name, source), FLOAT, *pair)
                recv = add_recv(parts[there], FLOAT, *pair)
                arrived[name, slot, there] = "^" + add_control_sink(parts[there], recv, reader.device)
        return arrived[name, slot, there]

    for node in graph.node:
        placed = parts[place[node.name]].node.add()
        placed.CopyFrom(node)
        placed.input[:] = [bring(text, node) for text in node.input]
    del graph.node[:]
    return parts


# %% wrong="register" why="the handle is a hash of the graph, so equal graphs share it"
class Registry:
    """A worker's table of registered graphs, by handle."""

    def __init__(
        self,
        build: Callable[[GraphDef], int],
        execute: Callable[[int, dict[str, float]], dict[str, float]],
        drop: Callable[[int], None],
    ) -> None:
        self._build, self._execute, self._drop = build, execute, drop
        self._table: dict[str, list[int]] = {}
        self._handles, self._lock = itertools.count(1), threading.Lock()

    def register(self, graph: GraphDef) -> str:
        """Build executors for a graph; the handle under which they are kept.

        Raises:
            RegistryError: "INVALID_ARGUMENT", a node has no device.
        """
        if not all(node.device for node in graph.node):
            raise RegistryError("INVALID_ARGUMENT")
        number = self._build(graph)
        with self._lock:
            handle = f"{hash(graph.SerializeToString(deterministic=True)) % 2**64:016x}"
            self._table[handle] = [number, 1]
        return handle

    def run(self, handle: str, sent: dict[str, float]) -> dict[str, float]:
        """Run a step of a registered graph.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table[handle]
            entry[1] += 1
        try:
            return self._execute(entry[0], sent)
        finally:
            self._release(entry)

    def deregister(self, handle: str) -> None:
        """Forget a handle; its executors are dropped when no step uses them any more.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table.pop(handle)
        self._release(entry)

    def _release(self, entry: list[int]) -> None:
        """One holder of an entry lets go; the last one drops the executors."""
        with self._lock:
            entry[1] -= 1
            last = entry[1] == 0
        if last:
            self._drop(entry[0])


# %% wrong="register" why="the handle is a place in the table, and used again"
class Registry:
    """A worker's table of registered graphs, by handle."""

    def __init__(
        self,
        build: Callable[[GraphDef], int],
        execute: Callable[[int, dict[str, float]], dict[str, float]],
        drop: Callable[[int], None],
    ) -> None:
        self._build, self._execute, self._drop = build, execute, drop
        self._table: dict[str, list[int]] = {}
        self._handles, self._lock = itertools.count(1), threading.Lock()

    def register(self, graph: GraphDef) -> str:
        """Build executors for a graph; the handle under which they are kept.

        Raises:
            RegistryError: "INVALID_ARGUMENT", a node has no device.
        """
        if not all(node.device for node in graph.node):
            raise RegistryError("INVALID_ARGUMENT")
        number = self._build(graph)
        with self._lock:
            handle = f"{len(self._table) + 1:016x}"
            self._table[handle] = [number, 1]
        return handle

    def run(self, handle: str, sent: dict[str, float]) -> dict[str, float]:
        """Run a step of a registered graph.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table[handle]
            entry[1] += 1
        try:
            return self._execute(entry[0], sent)
        finally:
            self._release(entry)

    def deregister(self, handle: str) -> None:
        """Forget a handle; its executors are dropped when no step uses them any more.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table.pop(handle)
        self._release(entry)

    def _release(self, entry: list[int]) -> None:
        """One holder of an entry lets go; the last one drops the executors."""
        with self._lock:
            entry[1] -= 1
            last = entry[1] == 0
        if last:
            self._drop(entry[0])


# %% wrong="register" why="deregister of an unknown handle is silent"
class Registry:
    """A worker's table of registered graphs, by handle."""

    def __init__(
        self,
        build: Callable[[GraphDef], int],
        execute: Callable[[int, dict[str, float]], dict[str, float]],
        drop: Callable[[int], None],
    ) -> None:
        self._build, self._execute, self._drop = build, execute, drop
        self._table: dict[str, list[int]] = {}
        self._handles, self._lock = itertools.count(1), threading.Lock()

    def register(self, graph: GraphDef) -> str:
        """Build executors for a graph; the handle under which they are kept.

        Raises:
            RegistryError: "INVALID_ARGUMENT", a node has no device.
        """
        if not all(node.device for node in graph.node):
            raise RegistryError("INVALID_ARGUMENT")
        number = self._build(graph)
        with self._lock:
            handle = f"{next(self._handles):016x}"
            self._table[handle] = [number, 1]
        return handle

    def run(self, handle: str, sent: dict[str, float]) -> dict[str, float]:
        """Run a step of a registered graph.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table[handle]
            entry[1] += 1
        try:
            return self._execute(entry[0], sent)
        finally:
            self._release(entry)

    def deregister(self, handle: str) -> None:
        """Forget a handle; its executors are dropped when no step uses them any more.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                return
            entry = self._table.pop(handle)
        self._release(entry)

    def _release(self, entry: list[int]) -> None:
        """One holder of an entry lets go; the last one drops the executors."""
        with self._lock:
            entry[1] -= 1
            last = entry[1] == 0
        if last:
            self._drop(entry[0])


# %% wrong="register" why="builds at the first run"
class Registry:
    """A worker's table of registered graphs, by handle."""

    def __init__(
        self,
        build: Callable[[GraphDef], int],
        execute: Callable[[int, dict[str, float]], dict[str, float]],
        drop: Callable[[int], None],
    ) -> None:
        self._build, self._execute, self._drop = build, execute, drop
        self._table: dict[str, list[int]] = {}
        self._handles, self._lock = itertools.count(1), threading.Lock()

    def register(self, graph: GraphDef) -> str:
        """Build executors for a graph; the handle under which they are kept.

        Raises:
            RegistryError: "INVALID_ARGUMENT", a node has no device.
        """
        if not all(node.device for node in graph.node):
            raise RegistryError("INVALID_ARGUMENT")
        number = graph
        with self._lock:
            handle = f"{next(self._handles):016x}"
            self._table[handle] = [number, 1]
        return handle

    def run(self, handle: str, sent: dict[str, float]) -> dict[str, float]:
        """Run a step of a registered graph.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table[handle]
            entry[1] += 1
            if type(entry[0]) is not int:
                entry[0] = self._build(entry[0])
        try:
            return self._execute(entry[0], sent)
        finally:
            self._release(entry)

    def deregister(self, handle: str) -> None:
        """Forget a handle; its executors are dropped when no step uses them any more.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table.pop(handle)
        self._release(entry)

    def _release(self, entry: list[int]) -> None:
        """One holder of an entry lets go; the last one drops the executors."""
        with self._lock:
            entry[1] -= 1
            last = entry[1] == 0
        if last:
            self._drop(entry[0])


# %% wrong="register" why="keeps results by handle"
class Registry:
    """A worker's table of registered graphs, by handle."""

    def __init__(
        self,
        build: Callable[[GraphDef], int],
        execute: Callable[[int, dict[str, float]], dict[str, float]],
        drop: Callable[[int], None],
    ) -> None:
        self._build, self._execute, self._drop = build, execute, drop
        self._table: dict[str, list[int]] = {}
        self._handles, self._lock = itertools.count(1), threading.Lock()

    def register(self, graph: GraphDef) -> str:
        """Build executors for a graph; the handle under which they are kept.

        Raises:
            RegistryError: "INVALID_ARGUMENT", a node has no device.
        """
        if not all(node.device for node in graph.node):
            raise RegistryError("INVALID_ARGUMENT")
        number = self._build(graph)
        with self._lock:
            handle = f"{next(self._handles):016x}"
            self._table[handle] = [number, 1]
        return handle

    def run(self, handle: str, sent: dict[str, float]) -> dict[str, float]:
        """Run a step of a registered graph.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table[handle]
            entry[1] += 1
        try:
            self._results = getattr(self, "_results", {})
            if handle not in self._results:
                self._results[handle] = self._execute(entry[0], sent)
            return self._results[handle]
        finally:
            self._release(entry)

    def deregister(self, handle: str) -> None:
        """Forget a handle; its executors are dropped when no step uses them any more.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table.pop(handle)
        self._release(entry)

    def _release(self, entry: list[int]) -> None:
        """One holder of an entry lets go; the last one drops the executors."""
        with self._lock:
            entry[1] -= 1
            last = entry[1] == 0
        if last:
            self._drop(entry[0])


# %% wrong="register" why="drops at once, while steps run"
class Registry:
    """A worker's table of registered graphs, by handle."""

    def __init__(
        self,
        build: Callable[[GraphDef], int],
        execute: Callable[[int, dict[str, float]], dict[str, float]],
        drop: Callable[[int], None],
    ) -> None:
        self._build, self._execute, self._drop = build, execute, drop
        self._table: dict[str, list[int]] = {}
        self._handles, self._lock = itertools.count(1), threading.Lock()

    def register(self, graph: GraphDef) -> str:
        """Build executors for a graph; the handle under which they are kept.

        Raises:
            RegistryError: "INVALID_ARGUMENT", a node has no device.
        """
        if not all(node.device for node in graph.node):
            raise RegistryError("INVALID_ARGUMENT")
        number = self._build(graph)
        with self._lock:
            handle = f"{next(self._handles):016x}"
            self._table[handle] = [number, 1]
        return handle

    def run(self, handle: str, sent: dict[str, float]) -> dict[str, float]:
        """Run a step of a registered graph.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table[handle]
            entry[1] += 1
        try:
            return self._execute(entry[0], sent)
        finally:
            self._release(entry)

    def deregister(self, handle: str) -> None:
        """Forget a handle; its executors are dropped when no step uses them any more.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table.pop(handle)
        self._drop(entry[0])

    def _release(self, entry: list[int]) -> None:
        """One holder of an entry lets go; the last one drops the executors."""
        with self._lock:
            entry[1] -= 1
            last = entry[1] == 0
        del last


# %% wrong="register" why="never drops"
class Registry:
    """A worker's table of registered graphs, by handle."""

    def __init__(
        self,
        build: Callable[[GraphDef], int],
        execute: Callable[[int, dict[str, float]], dict[str, float]],
        drop: Callable[[int], None],
    ) -> None:
        self._build, self._execute, self._drop = build, execute, drop
        self._table: dict[str, list[int]] = {}
        self._handles, self._lock = itertools.count(1), threading.Lock()

    def register(self, graph: GraphDef) -> str:
        """Build executors for a graph; the handle under which they are kept.

        Raises:
            RegistryError: "INVALID_ARGUMENT", a node has no device.
        """
        if not all(node.device for node in graph.node):
            raise RegistryError("INVALID_ARGUMENT")
        number = self._build(graph)
        with self._lock:
            handle = f"{next(self._handles):016x}"
            self._table[handle] = [number, 1]
        return handle

    def run(self, handle: str, sent: dict[str, float]) -> dict[str, float]:
        """Run a step of a registered graph.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table[handle]
            entry[1] += 1
        try:
            return self._execute(entry[0], sent)
        finally:
            self._release(entry)

    def deregister(self, handle: str) -> None:
        """Forget a handle; its executors are dropped when no step uses them any more.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table.pop(handle)
        self._release(entry)

    def _release(self, entry: list[int]) -> None:
        """One holder of an entry lets go; the last one drops the executors."""
        with self._lock:
            entry[1] -= 1
            last = entry[1] == 0
        del last


# %% wrong="register" why="holds the lock while a step runs"
class Registry:
    """A worker's table of registered graphs, by handle."""

    def __init__(
        self,
        build: Callable[[GraphDef], int],
        execute: Callable[[int, dict[str, float]], dict[str, float]],
        drop: Callable[[int], None],
    ) -> None:
        self._build, self._execute, self._drop = build, execute, drop
        self._table: dict[str, list[int]] = {}
        self._handles, self._lock = itertools.count(1), threading.RLock()

    def register(self, graph: GraphDef) -> str:
        """Build executors for a graph; the handle under which they are kept.

        Raises:
            RegistryError: "INVALID_ARGUMENT", a node has no device.
        """
        if not all(node.device for node in graph.node):
            raise RegistryError("INVALID_ARGUMENT")
        number = self._build(graph)
        with self._lock:
            handle = f"{next(self._handles):016x}"
            self._table[handle] = [number, 1]
        return handle

    def run(self, handle: str, sent: dict[str, float]) -> dict[str, float]:
        """Run a step of a registered graph.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table[handle]
            return self._execute(entry[0], sent)

    def deregister(self, handle: str) -> None:
        """Forget a handle; its executors are dropped when no step uses them any more.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table.pop(handle)
        self._release(entry)

    def _release(self, entry: list[int]) -> None:
        """One holder of an entry lets go; the last one drops the executors."""
        with self._lock:
            entry[1] -= 1
            last = entry[1] == 0
        if last:
            self._drop(entry[0])


# %% wrong="register" why="holds a lock that is not re-entrant while a step runs"
class Registry:
    """A worker's table of registered graphs, by handle."""

    def __init__(
        self,
        build: Callable[[GraphDef], int],
        execute: Callable[[int, dict[str, float]], dict[str, float]],
        drop: Callable[[int], None],
    ) -> None:
        self._build, self._execute, self._drop = build, execute, drop
        self._table: dict[str, list[int]] = {}
        self._handles, self._lock = itertools.count(1), threading.Lock()

    def register(self, graph: GraphDef) -> str:
        """Build executors for a graph; the handle under which they are kept.

        Raises:
            RegistryError: "INVALID_ARGUMENT", a node has no device.
        """
        if not all(node.device for node in graph.node):
            raise RegistryError("INVALID_ARGUMENT")
        number = self._build(graph)
        with self._lock:
            handle = f"{next(self._handles):016x}"
            self._table[handle] = [number, 1]
        return handle

    def run(self, handle: str, sent: dict[str, float]) -> dict[str, float]:
        """Run a step of a registered graph.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table[handle]
            return self._execute(entry[0], sent)

    def deregister(self, handle: str) -> None:
        """Forget a handle; its executors are dropped when no step uses them any more.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table.pop(handle)
        self._release(entry)

    def _release(self, entry: list[int]) -> None:
        """One holder of an entry lets go; the last one drops the executors."""
        with self._lock:
            entry[1] -= 1
            last = entry[1] == 0
        if last:
            self._drop(entry[0])


# %% wrong="register" why="a step that fails never lets go"
class Registry:
    """A worker's table of registered graphs, by handle."""

    def __init__(
        self,
        build: Callable[[GraphDef], int],
        execute: Callable[[int, dict[str, float]], dict[str, float]],
        drop: Callable[[int], None],
    ) -> None:
        self._build, self._execute, self._drop = build, execute, drop
        self._table: dict[str, list[int]] = {}
        self._handles, self._lock = itertools.count(1), threading.Lock()

    def register(self, graph: GraphDef) -> str:
        """Build executors for a graph; the handle under which they are kept.

        Raises:
            RegistryError: "INVALID_ARGUMENT", a node has no device.
        """
        if not all(node.device for node in graph.node):
            raise RegistryError("INVALID_ARGUMENT")
        number = self._build(graph)
        with self._lock:
            handle = f"{next(self._handles):016x}"
            self._table[handle] = [number, 1]
        return handle

    def run(self, handle: str, sent: dict[str, float]) -> dict[str, float]:
        """Run a step of a registered graph.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table[handle]
            entry[1] += 1
        result = self._execute(entry[0], sent)
        self._release(entry)
        return result

    def deregister(self, handle: str) -> None:
        """Forget a handle; its executors are dropped when no step uses them any more.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table.pop(handle)
        self._release(entry)

    def _release(self, entry: list[int]) -> None:
        """One holder of an entry lets go; the last one drops the executors."""
        with self._lock:
            entry[1] -= 1
            last = entry[1] == 0
        if last:
            self._drop(entry[0])


# %% wrong="register" why="drops at the end of the first step that ends"
class Registry:
    """A worker's table of registered graphs, by handle."""

    def __init__(
        self,
        build: Callable[[GraphDef], int],
        execute: Callable[[int, dict[str, float]], dict[str, float]],
        drop: Callable[[int], None],
    ) -> None:
        self._build, self._execute, self._drop = build, execute, drop
        self._table: dict[str, list[int]] = {}
        self._handles, self._lock = itertools.count(1), threading.Lock()

    def register(self, graph: GraphDef) -> str:
        """Build executors for a graph; the handle under which they are kept.

        Raises:
            RegistryError: "INVALID_ARGUMENT", a node has no device.
        """
        if not all(node.device for node in graph.node):
            raise RegistryError("INVALID_ARGUMENT")
        number = self._build(graph)
        with self._lock:
            handle = f"{next(self._handles):016x}"
            self._table[handle] = [number, 1]
        return handle

    def run(self, handle: str, sent: dict[str, float]) -> dict[str, float]:
        """Run a step of a registered graph.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table[handle]
            entry[1] += 1
        try:
            return self._execute(entry[0], sent)
        finally:
            self._release(entry)

    def deregister(self, handle: str) -> None:
        """Forget a handle; its executors are dropped when no step uses them any more.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table.pop(handle)
        self._release(entry)

    def _release(self, entry: list[int]) -> None:
        """One holder of an entry lets go; the last one drops the executors."""
        with self._lock:
            entry[1] -= 1
            last = entry[1] == 0
        if last or entry[0] not in [number for number, _ in self._table.values()]:
            self._drop(entry[0])


# %% wrong="register" why="a refused graph uses a handle up"
class Registry:
    """A worker's table of registered graphs, by handle."""

    def __init__(
        self,
        build: Callable[[GraphDef], int],
        execute: Callable[[int, dict[str, float]], dict[str, float]],
        drop: Callable[[int], None],
    ) -> None:
        self._build, self._execute, self._drop = build, execute, drop
        self._table: dict[str, list[int]] = {}
        self._handles, self._lock = itertools.count(1), threading.Lock()

    def register(self, graph: GraphDef) -> str:
        """Build executors for a graph; the handle under which they are kept.

        Raises:
            RegistryError: "INVALID_ARGUMENT", a node has no device.
        """
        self._table_size = next(self._handles)
        if not all(node.device for node in graph.node):
            raise RegistryError("INVALID_ARGUMENT")
        number = self._build(graph)
        with self._lock:
            handle = f"{self._table_size:016x}"
            self._table[handle] = [number, 1]
        return handle

    def run(self, handle: str, sent: dict[str, float]) -> dict[str, float]:
        """Run a step of a registered graph.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table[handle]
            entry[1] += 1
        try:
            return self._execute(entry[0], sent)
        finally:
            self._release(entry)

    def deregister(self, handle: str) -> None:
        """Forget a handle; its executors are dropped when no step uses them any more.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table.pop(handle)
        self._release(entry)

    def _release(self, entry: list[int]) -> None:
        """One holder of an entry lets go; the last one drops the executors."""
        with self._lock:
            entry[1] -= 1
            last = entry[1] == 0
        if last:
            self._drop(entry[0])


# %% wrong="register" why="a failed build uses a handle up"
class Registry:
    """A worker's table of registered graphs, by handle."""

    def __init__(
        self,
        build: Callable[[GraphDef], int],
        execute: Callable[[int, dict[str, float]], dict[str, float]],
        drop: Callable[[int], None],
    ) -> None:
        self._build, self._execute, self._drop = build, execute, drop
        self._table: dict[str, list[int]] = {}
        self._handles, self._lock = itertools.count(1), threading.Lock()

    def register(self, graph: GraphDef) -> str:
        """Build executors for a graph; the handle under which they are kept.

        Raises:
            RegistryError: "INVALID_ARGUMENT", a node has no device.
        """
        if not all(node.device for node in graph.node):
            raise RegistryError("INVALID_ARGUMENT")
        handle = f"{next(self._handles):016x}"
        number = self._build(graph)
        with self._lock:
            self._table[handle] = [number, 1]
        return handle

    def run(self, handle: str, sent: dict[str, float]) -> dict[str, float]:
        """Run a step of a registered graph.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table[handle]
            entry[1] += 1
        try:
            return self._execute(entry[0], sent)
        finally:
            self._release(entry)

    def deregister(self, handle: str) -> None:
        """Forget a handle; its executors are dropped when no step uses them any more.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table.pop(handle)
        self._release(entry)

    def _release(self, entry: list[int]) -> None:
        """One holder of an entry lets go; the last one drops the executors."""
        with self._lock:
            entry[1] -= 1
            last = entry[1] == 0
        if last:
            self._drop(entry[0])


# %% wrong="register" why="takes graphs without devices"
class Registry:
    """A worker's table of registered graphs, by handle."""

    def __init__(
        self,
        build: Callable[[GraphDef], int],
        execute: Callable[[int, dict[str, float]], dict[str, float]],
        drop: Callable[[int], None],
    ) -> None:
        self._build, self._execute, self._drop = build, execute, drop
        self._table: dict[str, list[int]] = {}
        self._handles, self._lock = itertools.count(1), threading.Lock()

    def register(self, graph: GraphDef) -> str:
        """Build executors for a graph; the handle under which they are kept.

        Raises:
            RegistryError: "INVALID_ARGUMENT", a node has no device.
        """
        number = self._build(graph)
        with self._lock:
            handle = f"{next(self._handles):016x}"
            self._table[handle] = [number, 1]
        return handle

    def run(self, handle: str, sent: dict[str, float]) -> dict[str, float]:
        """Run a step of a registered graph.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table[handle]
            entry[1] += 1
        try:
            return self._execute(entry[0], sent)
        finally:
            self._release(entry)

    def deregister(self, handle: str) -> None:
        """Forget a handle; its executors are dropped when no step uses them any more.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table.pop(handle)
        self._release(entry)

    def _release(self, entry: list[int]) -> None:
        """One holder of an entry lets go; the last one drops the executors."""
        with self._lock:
            entry[1] -= 1
            last = entry[1] == 0
        if last:
            self._drop(entry[0])


# %% wrong="register" why="a KeyError for unknown handles"
class Registry:
    """A worker's table of registered graphs, by handle."""

    def __init__(
        self,
        build: Callable[[GraphDef], int],
        execute: Callable[[int, dict[str, float]], dict[str, float]],
        drop: Callable[[int], None],
    ) -> None:
        self._build, self._execute, self._drop = build, execute, drop
        self._table: dict[str, list[int]] = {}
        self._handles, self._lock = itertools.count(1), threading.Lock()

    def register(self, graph: GraphDef) -> str:
        """Build executors for a graph; the handle under which they are kept.

        Raises:
            RegistryError: "INVALID_ARGUMENT", a node has no device.
        """
        if not all(node.device for node in graph.node):
            raise RegistryError("INVALID_ARGUMENT")
        number = self._build(graph)
        with self._lock:
            handle = f"{next(self._handles):016x}"
            self._table[handle] = [number, 1]
        return handle

    def run(self, handle: str, sent: dict[str, float]) -> dict[str, float]:
        """Run a step of a registered graph.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise KeyError(handle)
            entry = self._table[handle]
            entry[1] += 1
        try:
            return self._execute(entry[0], sent)
        finally:
            self._release(entry)

    def deregister(self, handle: str) -> None:
        """Forget a handle; its executors are dropped when no step uses them any more.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table.pop(handle)
        self._release(entry)

    def _release(self, entry: list[int]) -> None:
        """One holder of an entry lets go; the last one drops the executors."""
        with self._lock:
            entry[1] -= 1
            last = entry[1] == 0
        if last:
            self._drop(entry[0])


# %% wrong="register" why="handles in decimal"
class Registry:
    """A worker's table of registered graphs, by handle."""

    def __init__(
        self,
        build: Callable[[GraphDef], int],
        execute: Callable[[int, dict[str, float]], dict[str, float]],
        drop: Callable[[int], None],
    ) -> None:
        self._build, self._execute, self._drop = build, execute, drop
        self._table: dict[str, list[int]] = {}
        self._handles, self._lock = itertools.count(1), threading.Lock()

    def register(self, graph: GraphDef) -> str:
        """Build executors for a graph; the handle under which they are kept.

        Raises:
            RegistryError: "INVALID_ARGUMENT", a node has no device.
        """
        if not all(node.device for node in graph.node):
            raise RegistryError("INVALID_ARGUMENT")
        number = self._build(graph)
        with self._lock:
            handle = f"{next(self._handles):016d}"
            self._table[handle] = [number, 1]
        return handle

    def run(self, handle: str, sent: dict[str, float]) -> dict[str, float]:
        """Run a step of a registered graph.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table[handle]
            entry[1] += 1
        try:
            return self._execute(entry[0], sent)
        finally:
            self._release(entry)

    def deregister(self, handle: str) -> None:
        """Forget a handle; its executors are dropped when no step uses them any more.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table.pop(handle)
        self._release(entry)

    def _release(self, entry: list[int]) -> None:
        """One holder of an entry lets go; the last one drops the executors."""
        with self._lock:
            entry[1] -= 1
            last = entry[1] == 0
        if last:
            self._drop(entry[0])


# %% wrong="register" why="one table for all registries"
TABLE: dict[str, list[int]] = {}


class Registry:
    """A worker's table of registered graphs, by handle."""

    def __init__(
        self,
        build: Callable[[GraphDef], int],
        execute: Callable[[int, dict[str, float]], dict[str, float]],
        drop: Callable[[int], None],
    ) -> None:
        self._build, self._execute, self._drop = build, execute, drop
        self._table = TABLE
        self._handles, self._lock = itertools.count(1), threading.Lock()

    def register(self, graph: GraphDef) -> str:
        """Build executors for a graph; the handle under which they are kept.

        Raises:
            RegistryError: "INVALID_ARGUMENT", a node has no device.
        """
        if not all(node.device for node in graph.node):
            raise RegistryError("INVALID_ARGUMENT")
        number = self._build(graph)
        with self._lock:
            handle = f"{next(self._handles):016x}"
            self._table[handle] = [number, 1]
        return handle

    def run(self, handle: str, sent: dict[str, float]) -> dict[str, float]:
        """Run a step of a registered graph.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table[handle]
            entry[1] += 1
        try:
            return self._execute(entry[0], sent)
        finally:
            self._release(entry)

    def deregister(self, handle: str) -> None:
        """Forget a handle; its executors are dropped when no step uses them any more.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table.pop(handle)
        self._release(entry)

    def _release(self, entry: list[int]) -> None:
        """One holder of an entry lets go; the last one drops the executors."""
        with self._lock:
            entry[1] -= 1
            last = entry[1] == 0
        if last:
            self._drop(entry[0])


# %% wrong="register" why="drops the executors before the handle is gone"
class Registry:
    """A worker's table of registered graphs, by handle."""

    def __init__(
        self,
        build: Callable[[GraphDef], int],
        execute: Callable[[int, dict[str, float]], dict[str, float]],
        drop: Callable[[int], None],
    ) -> None:
        self._build, self._execute, self._drop = build, execute, drop
        self._table: dict[str, list[int]] = {}
        self._handles, self._lock = itertools.count(1), threading.Lock()

    def register(self, graph: GraphDef) -> str:
        """Build executors for a graph; the handle under which they are kept.

        Raises:
            RegistryError: "INVALID_ARGUMENT", a node has no device.
        """
        if not all(node.device for node in graph.node):
            raise RegistryError("INVALID_ARGUMENT")
        number = self._build(graph)
        with self._lock:
            handle = f"{next(self._handles):016x}"
            self._table[handle] = [number, 1]
        return handle

    def run(self, handle: str, sent: dict[str, float]) -> dict[str, float]:
        """Run a step of a registered graph.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table[handle]
            entry[1] += 1
        try:
            return self._execute(entry[0], sent)
        finally:
            self._release(entry)

    def deregister(self, handle: str) -> None:
        """Forget a handle; its executors are dropped when no step uses them any more.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table[handle]
        self._release(entry)
        with self._lock:
            del self._table[handle]

    def _release(self, entry: list[int]) -> None:
        """One holder of an entry lets go; the last one drops the executors."""
        with self._lock:
            entry[1] -= 1
            last = entry[1] == 0
        if last:
            self._drop(entry[0])


# %% wrong="register" why="holds the lock while executors are built"
class Registry:
    """A worker's table of registered graphs, by handle."""

    def __init__(
        self,
        build: Callable[[GraphDef], int],
        execute: Callable[[int, dict[str, float]], dict[str, float]],
        drop: Callable[[int], None],
    ) -> None:
        self._build, self._execute, self._drop = build, execute, drop
        self._table: dict[str, list[int]] = {}
        self._handles, self._lock = itertools.count(1), threading.Lock()

    def register(self, graph: GraphDef) -> str:
        """Build executors for a graph; the handle under which they are kept.

        Raises:
            RegistryError: "INVALID_ARGUMENT", a node has no device.
        """
        if not all(node.device for node in graph.node):
            raise RegistryError("INVALID_ARGUMENT")
        with self._lock:
            number = self._build(graph)
            handle = f"{next(self._handles):016x}"
            self._table[handle] = [number, 1]
        return handle

    def run(self, handle: str, sent: dict[str, float]) -> dict[str, float]:
        """Run a step of a registered graph.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table[handle]
            entry[1] += 1
        try:
            return self._execute(entry[0], sent)
        finally:
            self._release(entry)

    def deregister(self, handle: str) -> None:
        """Forget a handle; its executors are dropped when no step uses them any more.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table.pop(handle)
        self._release(entry)

    def _release(self, entry: list[int]) -> None:
        """One holder of an entry lets go; the last one drops the executors."""
        with self._lock:
            entry[1] -= 1
            last = entry[1] == 0
        if last:
            self._drop(entry[0])


# %% wrong="register" why="holds the lock while executors are dropped"
class Registry:
    """A worker's table of registered graphs, by handle."""

    def __init__(
        self,
        build: Callable[[GraphDef], int],
        execute: Callable[[int, dict[str, float]], dict[str, float]],
        drop: Callable[[int], None],
    ) -> None:
        self._build, self._execute, self._drop = build, execute, drop
        self._table: dict[str, list[int]] = {}
        self._handles, self._lock = itertools.count(1), threading.Lock()

    def register(self, graph: GraphDef) -> str:
        """Build executors for a graph; the handle under which they are kept.

        Raises:
            RegistryError: "INVALID_ARGUMENT", a node has no device.
        """
        if not all(node.device for node in graph.node):
            raise RegistryError("INVALID_ARGUMENT")
        number = self._build(graph)
        with self._lock:
            handle = f"{next(self._handles):016x}"
            self._table[handle] = [number, 1]
        return handle

    def run(self, handle: str, sent: dict[str, float]) -> dict[str, float]:
        """Run a step of a registered graph.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table[handle]
            entry[1] += 1
        try:
            return self._execute(entry[0], sent)
        finally:
            self._release(entry)

    def deregister(self, handle: str) -> None:
        """Forget a handle; its executors are dropped when no step uses them any more.

        Raises:
            RegistryError: "ABORTED", the handle is not known.
        """
        with self._lock:
            if handle not in self._table:
                raise RegistryError("ABORTED")
            entry = self._table.pop(handle)
        self._release(entry)

    def _release(self, entry: list[int]) -> None:
        """One holder of an entry lets go; the last one drops the executors."""
        with self._lock:
            entry[1] -= 1
            if entry[1] == 0:
                self._drop(entry[0])


# %% right="register" why="entries are objects that count their users with a condition"
class Entry:
    """Executors and who uses them."""

    def __init__(self, number: int) -> None:
        self.number, self.users, self.gone = number, 0, False


class Registry:
    """A worker's table of registered graphs, by handle."""

    def __init__(self, build, execute, drop) -> None:
        self.build, self.execute, self.drop = build, execute, drop
        self.entries, self.count, self.guard = {}, 0, threading.Condition()

    def register(self, graph: GraphDef) -> str:
        if any(node.device == "" for node in graph.node):
            raise RegistryError("INVALID_ARGUMENT")
        entry = Entry(self.build(graph))
        with self.guard:
            self.count += 1
            self.entries[f"{self.count:016x}"] = entry
            return f"{self.count:016x}"

    def find(self, handle: str) -> Entry:
        if handle not in self.entries:
            raise RegistryError("ABORTED")
        return self.entries[handle]

    def run(self, handle: str, sent: dict[str, float]) -> dict[str, float]:
        with self.guard:
            entry = self.find(handle)
            entry.users += 1
        try:
            return self.execute(entry.number, sent)
        finally:
            with self.guard:
                entry.users -= 1
                unused = entry.gone and entry.users == 0
            if unused:
                self.drop(entry.number)

    def deregister(self, handle: str) -> None:
        with self.guard:
            entry = self.find(handle)
            del self.entries[handle]
            entry.gone = True
            unused = entry.users == 0
        if unused:
            self.drop(entry.number)


# %% wrong="execute-parts" why="runs partition after partition"
def execute_parts(parts: dict[str, GraphDef], args: dict[int, np.ndarray]) -> tuple[dict[int, np.ndarray], list[str]]:
    """One step over all parts: the values of `_Retval` by index, and the keys in the order in which they were sent.

    Raises:
        RuntimeError: some `_Recv` waits for ever; the message holds the keys of all that wait.
    """
    nodes = {(device, node.name): node for device, part in parts.items() for node in part.node}
    receivers = {key_of(node): place for place, node in nodes.items() if node.op == "_Recv"}
    readers, pending = defaultdict(list), {}
    for (device, name), node in nodes.items():
        sources = {split_name(text)[0] for text in node.input}
        pending[device, name] = len(sources) + (node.op == "_Recv")
        for source in sources:
            readers[device, source].append((device, name))

    values: dict[tuple[str, str, int], np.ndarray] = {}
    letters: dict[str, np.ndarray] = {}
    results: dict[int, np.ndarray] = {}
    sent: list[str] = []
    ready = deque(place for place, count in pending.items() if count == 0)
    current = iter(parts)
    here = next(current)
    while ready:
        mine = [place for place in ready if place[0] == here]
        if not mine:
            here = next(current, None)
            if here is None:
                break
            continue
        ready.remove(mine[0])
        device, name = mine[0]
        node = nodes[device, name]
        inputs = [values[device, *split_name(text)] for text in node.input if not text.startswith("^")]
        after, outputs = readers[device, name], []
        if node.op == "_Arg":
            outputs = [args[node.attr["index"].i]]
        elif node.op == "_Retval":
            results[node.attr["index"].i] = inputs[0]
        elif node.op == "_Send":
            key = key_of(node)
            letters[key] = inputs[0]
            sent.append(key)
            after = [*after, receivers.pop(key)]
        elif node.op == "_Recv":
            outputs = [letters.pop(key_of(node))]
        else:
            outputs = KERNELS[node.op](node, *inputs)
        values |= {(device, name, index): value for index, value in enumerate(outputs)}
        for place in after:
            pending[place] -= 1
            if pending[place] == 0:
                ready.append(place)
    if receivers:
        raise RuntimeError(f"nothing can run, and these keys never came: {sorted(receivers)}")
    return results, sent


# %% wrong="execute-parts" why="names are shared over partitions"
def execute_parts(parts: dict[str, GraphDef], args: dict[int, np.ndarray]) -> tuple[dict[int, np.ndarray], list[str]]:
    """One step over all parts: the values of `_Retval` by index, and the keys in the order in which they were sent.

    Raises:
        RuntimeError: some `_Recv` waits for ever; the message holds the keys of all that wait.
    """
    nodes = {("", node.name): node for part in parts.values() for node in part.node}
    receivers = {key_of(node): place for place, node in nodes.items() if node.op == "_Recv"}
    readers, pending = defaultdict(list), {}
    for (device, name), node in nodes.items():
        sources = {split_name(text)[0] for text in node.input}
        pending[device, name] = len(sources) + (node.op == "_Recv")
        for source in sources:
            readers[device, source].append((device, name))

    values: dict[tuple[str, str, int], np.ndarray] = {}
    letters: dict[str, np.ndarray] = {}
    results: dict[int, np.ndarray] = {}
    sent: list[str] = []
    ready = deque(place for place, count in pending.items() if count == 0)
    while ready:
        device, name = ready.popleft()
        node = nodes[device, name]
        inputs = [values[device, *split_name(text)] for text in node.input if not text.startswith("^")]
        after, outputs = readers[device, name], []
        if node.op == "_Arg":
            outputs = [args[node.attr["index"].i]]
        elif node.op == "_Retval":
            results[node.attr["index"].i] = inputs[0]
        elif node.op == "_Send":
            key = key_of(node)
            letters[key] = inputs[0]
            sent.append(key)
            after = [*after, receivers.pop(key)]
        elif node.op == "_Recv":
            outputs = [letters.pop(key_of(node))]
        else:
            outputs = KERNELS[node.op](node, *inputs)
        values |= {(device, name, index): value for index, value in enumerate(outputs)}
        for place in after:
            pending[place] -= 1
            if pending[place] == 0:
                ready.append(place)
    if receivers:
        raise RuntimeError(f"nothing can run, and these keys never came: {sorted(receivers)}")
    return results, sent


# %% wrong="execute-parts" why="numbers the results in the order in which they come"
def execute_parts(parts: dict[str, GraphDef], args: dict[int, np.ndarray]) -> tuple[dict[int, np.ndarray], list[str]]:
    """One step over all parts: the values of `_Retval` by index, and the keys in the order in which they were sent.

    Raises:
        RuntimeError: some `_Recv` waits for ever; the message holds the keys of all that wait.
    """
    nodes = {(device, node.name): node for device, part in parts.items() for node in part.node}
    receivers = {key_of(node): place for place, node in nodes.items() if node.op == "_Recv"}
    readers, pending = defaultdict(list), {}
    for (device, name), node in nodes.items():
        sources = {split_name(text)[0] for text in node.input}
        pending[device, name] = len(sources) + (node.op == "_Recv")
        for source in sources:
            readers[device, source].append((device, name))

    values: dict[tuple[str, str, int], np.ndarray] = {}
    letters: dict[str, np.ndarray] = {}
    results: dict[int, np.ndarray] = {}
    sent: list[str] = []
    ready = deque(place for place, count in pending.items() if count == 0)
    while ready:
        device, name = ready.popleft()
        node = nodes[device, name]
        inputs = [values[device, *split_name(text)] for text in node.input if not text.startswith("^")]
        after, outputs = readers[device, name], []
        if node.op == "_Arg":
            outputs = [args[node.attr["index"].i]]
        elif node.op == "_Retval":
            results[len(results)] = inputs[0]
        elif node.op == "_Send":
            key = key_of(node)
            letters[key] = inputs[0]
            sent.append(key)
            after = [*after, receivers.pop(key)]
        elif node.op == "_Recv":
            outputs = [letters.pop(key_of(node))]
        else:
            outputs = KERNELS[node.op](node, *inputs)
        values |= {(device, name, index): value for index, value in enumerate(outputs)}
        for place in after:
            pending[place] -= 1
            if pending[place] == 0:
                ready.append(place)
    if receivers:
        raise RuntimeError(f"nothing can run, and these keys never came: {sorted(receivers)}")
    return results, sent


# %% wrong="execute-parts" why="reads a dummy control value as data"
def execute_parts(parts: dict[str, GraphDef], args: dict[int, np.ndarray]) -> tuple[dict[int, np.ndarray], list[str]]:
    """One step over all parts: the values of `_Retval` by index, and the keys in the order in which they were sent.

    Raises:
        RuntimeError: some `_Recv` waits for ever; the message holds the keys of all that wait.
    """
    nodes = {(device, node.name): node for device, part in parts.items() for node in part.node}
    receivers = {key_of(node): place for place, node in nodes.items() if node.op == "_Recv"}
    readers, pending = defaultdict(list), {}
    for (device, name), node in nodes.items():
        sources = {split_name(text)[0] for text in node.input}
        pending[device, name] = len(sources) + (node.op == "_Recv")
        for source in sources:
            readers[device, source].append((device, name))

    values: dict[tuple[str, str, int], np.ndarray] = {}
    letters: dict[str, np.ndarray] = {}
    results: dict[int, np.ndarray] = {}
    sent: list[str] = []
    ready = deque(place for place, count in pending.items() if count == 0)
    while ready:
        device, name = ready.popleft()
        node = nodes[device, name]
        inputs = [
            values[device, split_name(text)[0], max(split_name(text)[1], 0)]
            for text in node.input
            if not text.startswith("^") or nodes[device, text[1:]].op == "Identity"
        ]
        after, outputs = readers[device, name], []
        if node.op == "_Arg":
            outputs = [args[node.attr["index"].i]]
        elif node.op == "_Retval":
            results[node.attr["index"].i] = inputs[0]
        elif node.op == "_Send":
            key = key_of(node)
            letters[key] = inputs[0]
            sent.append(key)
            after = [*after, receivers.pop(key)]
        elif node.op == "_Recv":
            outputs = [letters.pop(key_of(node))]
        else:
            outputs = KERNELS[node.op](node, *inputs)
        values |= {(device, name, index): value for index, value in enumerate(outputs)}
        for place in after:
            pending[place] -= 1
            if pending[place] == 0:
                ready.append(place)
    if receivers:
        raise RuntimeError(f"nothing can run, and these keys never came: {sorted(receivers)}")
    return results, sent


# %% wrong="execute-parts" why="a _Recv that comes too early gives None"
def execute_parts(parts: dict[str, GraphDef], args: dict[int, np.ndarray]) -> tuple[dict[int, np.ndarray], list[str]]:
    """One step over all parts: the values of `_Retval` by index, and the keys in the order in which they were sent.

    Raises:
        RuntimeError: some `_Recv` waits for ever; the message holds the keys of all that wait.
    """
    nodes = {(device, node.name): node for device, part in parts.items() for node in part.node}
    receivers = {key_of(node): place for place, node in nodes.items() if node.op == "_Recv"}
    readers, pending = defaultdict(list), {}
    for (device, name), node in nodes.items():
        sources = {split_name(text)[0] for text in node.input}
        pending[device, name] = len(sources)
        for source in sources:
            readers[device, source].append((device, name))

    values: dict[tuple[str, str, int], np.ndarray] = {}
    letters: dict[str, np.ndarray] = {}
    results: dict[int, np.ndarray] = {}
    sent: list[str] = []
    ready = deque(place for place, count in pending.items() if count == 0)
    while ready:
        device, name = ready.popleft()
        node = nodes[device, name]
        inputs = [values[device, *split_name(text)] for text in node.input if not text.startswith("^")]
        after, outputs = readers[device, name], []
        if node.op == "_Arg":
            outputs = [args[node.attr["index"].i]]
        elif node.op == "_Retval":
            results[node.attr["index"].i] = inputs[0]
        elif node.op == "_Send":
            key = key_of(node)
            letters[key] = inputs[0]
            sent.append(key)
            receivers.pop(key)
        elif node.op == "_Recv":
            outputs = [letters.pop(key_of(node), None)]
        else:
            outputs = KERNELS[node.op](node, *inputs)
        values |= {(device, name, index): value for index, value in enumerate(outputs)}
        for place in after:
            pending[place] -= 1
            if pending[place] == 0:
                ready.append(place)
    if receivers:
        raise RuntimeError(f"nothing can run, and these keys never came: {sorted(receivers)}")
    return results, sent


# %% wrong="execute-parts" why="ends quietly when a letter is missing"
def execute_parts(parts: dict[str, GraphDef], args: dict[int, np.ndarray]) -> tuple[dict[int, np.ndarray], list[str]]:
    """One step over all parts: the values of `_Retval` by index, and the keys in the order in which they were sent.

    Raises:
        RuntimeError: some `_Recv` waits for ever; the message holds the keys of all that wait.
    """
    nodes = {(device, node.name): node for device, part in parts.items() for node in part.node}
    receivers = {key_of(node): place for place, node in nodes.items() if node.op == "_Recv"}
    readers, pending = defaultdict(list), {}
    for (device, name), node in nodes.items():
        sources = {split_name(text)[0] for text in node.input}
        pending[device, name] = len(sources) + (node.op == "_Recv")
        for source in sources:
            readers[device, source].append((device, name))

    values: dict[tuple[str, str, int], np.ndarray] = {}
    letters: dict[str, np.ndarray] = {}
    results: dict[int, np.ndarray] = {}
    sent: list[str] = []
    ready = deque(place for place, count in pending.items() if count == 0)
    while ready:
        device, name = ready.popleft()
        node = nodes[device, name]
        inputs = [values[device, *split_name(text)] for text in node.input if not text.startswith("^")]
        after, outputs = readers[device, name], []
        if node.op == "_Arg":
            outputs = [args[node.attr["index"].i]]
        elif node.op == "_Retval":
            results[node.attr["index"].i] = inputs[0]
        elif node.op == "_Send":
            key = key_of(node)
            letters[key] = inputs[0]
            sent.append(key)
            after = [*after, receivers.pop(key)]
        elif node.op == "_Recv":
            outputs = [letters.pop(key_of(node))]
        else:
            outputs = KERNELS[node.op](node, *inputs)
        values |= {(device, name, index): value for index, value in enumerate(outputs)}
        for place in after:
            pending[place] -= 1
            if pending[place] == 0:
                ready.append(place)
    if receivers:
        sent.append("")
        sent.pop()
    return results, sent


# %% wrong="execute-parts" why="names one of those that wait"
def execute_parts(parts: dict[str, GraphDef], args: dict[int, np.ndarray]) -> tuple[dict[int, np.ndarray], list[str]]:
    """One step over all parts: the values of `_Retval` by index, and the keys in the order in which they were sent.

    Raises:
        RuntimeError: some `_Recv` waits for ever; the message holds the keys of all that wait.
    """
    nodes = {(device, node.name): node for device, part in parts.items() for node in part.node}
    receivers = {key_of(node): place for place, node in nodes.items() if node.op == "_Recv"}
    readers, pending = defaultdict(list), {}
    for (device, name), node in nodes.items():
        sources = {split_name(text)[0] for text in node.input}
        pending[device, name] = len(sources) + (node.op == "_Recv")
        for source in sources:
            readers[device, source].append((device, name))

    values: dict[tuple[str, str, int], np.ndarray] = {}
    letters: dict[str, np.ndarray] = {}
    results: dict[int, np.ndarray] = {}
    sent: list[str] = []
    ready = deque(place for place, count in pending.items() if count == 0)
    while ready:
        device, name = ready.popleft()
        node = nodes[device, name]
        inputs = [values[device, *split_name(text)] for text in node.input if not text.startswith("^")]
        after, outputs = readers[device, name], []
        if node.op == "_Arg":
            outputs = [args[node.attr["index"].i]]
        elif node.op == "_Retval":
            results[node.attr["index"].i] = inputs[0]
        elif node.op == "_Send":
            key = key_of(node)
            letters[key] = inputs[0]
            sent.append(key)
            after = [*after, receivers.pop(key)]
        elif node.op == "_Recv":
            outputs = [letters.pop(key_of(node))]
        else:
            outputs = KERNELS[node.op](node, *inputs)
        values |= {(device, name, index): value for index, value in enumerate(outputs)}
        for place in after:
            pending[place] -= 1
            if pending[place] == 0:
                ready.append(place)
    if receivers:
        raise RuntimeError(f"nothing can run, and these keys never came: {min(receivers)}")
    return results, sent


# %% wrong="execute-parts" why="names all keys of the step"
def execute_parts(parts: dict[str, GraphDef], args: dict[int, np.ndarray]) -> tuple[dict[int, np.ndarray], list[str]]:
    """One step over all parts: the values of `_Retval` by index, and the keys in the order in which they were sent.

    Raises:
        RuntimeError: some `_Recv` waits for ever; the message holds the keys of all that wait.
    """
    nodes = {(device, node.name): node for device, part in parts.items() for node in part.node}
    receivers = {key_of(node): place for place, node in nodes.items() if node.op == "_Recv"}
    readers, pending = defaultdict(list), {}
    for (device, name), node in nodes.items():
        sources = {split_name(text)[0] for text in node.input}
        pending[device, name] = len(sources) + (node.op == "_Recv")
        for source in sources:
            readers[device, source].append((device, name))

    every = list(receivers)
    values: dict[tuple[str, str, int], np.ndarray] = {}
    letters: dict[str, np.ndarray] = {}
    results: dict[int, np.ndarray] = {}
    sent: list[str] = []
    ready = deque(place for place, count in pending.items() if count == 0)
    while ready:
        device, name = ready.popleft()
        node = nodes[device, name]
        inputs = [values[device, *split_name(text)] for text in node.input if not text.startswith("^")]
        after, outputs = readers[device, name], []
        if node.op == "_Arg":
            outputs = [args[node.attr["index"].i]]
        elif node.op == "_Retval":
            results[node.attr["index"].i] = inputs[0]
        elif node.op == "_Send":
            key = key_of(node)
            letters[key] = inputs[0]
            sent.append(key)
            after = [*after, receivers.pop(key)]
        elif node.op == "_Recv":
            outputs = [letters.pop(key_of(node))]
        else:
            outputs = KERNELS[node.op](node, *inputs)
        values |= {(device, name, index): value for index, value in enumerate(outputs)}
        for place in after:
            pending[place] -= 1
            if pending[place] == 0:
                ready.append(place)
    if receivers:
        raise RuntimeError(f"nothing can run, and these keys never came: {sorted(every)}")
    return results, sent


# %% wrong="execute-parts" why="counts an input twice that is named twice"
def execute_parts(parts: dict[str, GraphDef], args: dict[int, np.ndarray]) -> tuple[dict[int, np.ndarray], list[str]]:
    """One step over all parts: the values of `_Retval` by index, and the keys in the order in which they were sent.

    Raises:
        RuntimeError: some `_Recv` waits for ever; the message holds the keys of all that wait.
    """
    nodes = {(device, node.name): node for device, part in parts.items() for node in part.node}
    receivers = {key_of(node): place for place, node in nodes.items() if node.op == "_Recv"}
    readers, pending = defaultdict(list), {}
    for (device, name), node in nodes.items():
        sources = {split_name(text)[0] for text in node.input}
        twice = len(node.input) - len(sources)
        pending[device, name] = len(sources) + twice + (node.op == "_Recv")
        for source in sources:
            readers[device, source].append((device, name))

    values: dict[tuple[str, str, int], np.ndarray] = {}
    letters: dict[str, np.ndarray] = {}
    results: dict[int, np.ndarray] = {}
    sent: list[str] = []
    ready = deque(place for place, count in pending.items() if count == 0)
    while ready:
        device, name = ready.popleft()
        node = nodes[device, name]
        inputs = [values[device, *split_name(text)] for text in node.input if not text.startswith("^")]
        after, outputs = readers[device, name], []
        if node.op == "_Arg":
            outputs = [args[node.attr["index"].i]]
        elif node.op == "_Retval":
            results[node.attr["index"].i] = inputs[0]
        elif node.op == "_Send":
            key = key_of(node)
            letters[key] = inputs[0]
            sent.append(key)
            after = [*after, receivers.pop(key)]
        elif node.op == "_Recv":
            outputs = [letters.pop(key_of(node))]
        else:
            outputs = KERNELS[node.op](node, *inputs)
        values |= {(device, name, index): value for index, value in enumerate(outputs)}
        for place in after:
            pending[place] -= 1
            if pending[place] == 0:
                ready.append(place)
    if receivers:
        raise RuntimeError(f"nothing can run, and these keys never came: {sorted(receivers)}")
    return results, sent


# %% wrong="execute-parts" why="keys in sorted order"
def execute_parts(parts: dict[str, GraphDef], args: dict[int, np.ndarray]) -> tuple[dict[int, np.ndarray], list[str]]:
    """One step over all parts: the values of `_Retval` by index, and the keys in the order in which they were sent.

    Raises:
        RuntimeError: some `_Recv` waits for ever; the message holds the keys of all that wait.
    """
    nodes = {(device, node.name): node for device, part in parts.items() for node in part.node}
    receivers = {key_of(node): place for place, node in nodes.items() if node.op == "_Recv"}
    readers, pending = defaultdict(list), {}
    for (device, name), node in nodes.items():
        sources = {split_name(text)[0] for text in node.input}
        pending[device, name] = len(sources) + (node.op == "_Recv")
        for source in sources:
            readers[device, source].append((device, name))

    values: dict[tuple[str, str, int], np.ndarray] = {}
    letters: dict[str, np.ndarray] = {}
    results: dict[int, np.ndarray] = {}
    sent: list[str] = []
    ready = deque(place for place, count in pending.items() if count == 0)
    while ready:
        device, name = ready.popleft()
        node = nodes[device, name]
        inputs = [values[device, *split_name(text)] for text in node.input if not text.startswith("^")]
        after, outputs = readers[device, name], []
        if node.op == "_Arg":
            outputs = [args[node.attr["index"].i]]
        elif node.op == "_Retval":
            results[node.attr["index"].i] = inputs[0]
        elif node.op == "_Send":
            key = key_of(node)
            letters[key] = inputs[0]
            sent.append(key)
            after = [*after, receivers.pop(key)]
        elif node.op == "_Recv":
            outputs = [letters.pop(key_of(node))]
        else:
            outputs = KERNELS[node.op](node, *inputs)
        values |= {(device, name, index): value for index, value in enumerate(outputs)}
        for place in after:
            pending[place] -= 1
            if pending[place] == 0:
                ready.append(place)
    if receivers:
        raise RuntimeError(f"nothing can run, and these keys never came: {sorted(receivers)}")
    return results, sorted(sent)


# %% wrong="execute-parts" why="args by the order of the _Arg nodes"
def execute_parts(parts: dict[str, GraphDef], args: dict[int, np.ndarray]) -> tuple[dict[int, np.ndarray], list[str]]:
    """One step over all parts: the values of `_Retval` by index, and the keys in the order in which they were sent.

    Raises:
        RuntimeError: some `_Recv` waits for ever; the message holds the keys of all that wait.
    """
    nodes = {(device, node.name): node for device, part in parts.items() for node in part.node}
    receivers = {key_of(node): place for place, node in nodes.items() if node.op == "_Recv"}
    readers, pending = defaultdict(list), {}
    for (device, name), node in nodes.items():
        sources = {split_name(text)[0] for text in node.input}
        pending[device, name] = len(sources) + (node.op == "_Recv")
        for source in sources:
            readers[device, source].append((device, name))

    fed = iter(args.values())
    values: dict[tuple[str, str, int], np.ndarray] = {}
    letters: dict[str, np.ndarray] = {}
    results: dict[int, np.ndarray] = {}
    sent: list[str] = []
    ready = deque(place for place, count in pending.items() if count == 0)
    while ready:
        device, name = ready.popleft()
        node = nodes[device, name]
        inputs = [values[device, *split_name(text)] for text in node.input if not text.startswith("^")]
        after, outputs = readers[device, name], []
        if node.op == "_Arg":
            outputs = [next(fed)]
        elif node.op == "_Retval":
            results[node.attr["index"].i] = inputs[0]
        elif node.op == "_Send":
            key = key_of(node)
            letters[key] = inputs[0]
            sent.append(key)
            after = [*after, receivers.pop(key)]
        elif node.op == "_Recv":
            outputs = [letters.pop(key_of(node))]
        else:
            outputs = KERNELS[node.op](node, *inputs)
        values |= {(device, name, index): value for index, value in enumerate(outputs)}
        for place in after:
            pending[place] -= 1
            if pending[place] == 0:
                ready.append(place)
    if receivers:
        raise RuntimeError(f"nothing can run, and these keys never came: {sorted(receivers)}")
    return results, sent


# %% wrong="execute-parts" why="lists the keys of the receivers"
def execute_parts(parts: dict[str, GraphDef], args: dict[int, np.ndarray]) -> tuple[dict[int, np.ndarray], list[str]]:
    """One step over all parts: the values of `_Retval` by index, and the keys in the order in which they were sent.

    Raises:
        RuntimeError: some `_Recv` waits for ever; the message holds the keys of all that wait.
    """
    nodes = {(device, node.name): node for device, part in parts.items() for node in part.node}
    receivers = {key_of(node): place for place, node in nodes.items() if node.op == "_Recv"}
    readers, pending = defaultdict(list), {}
    for (device, name), node in nodes.items():
        sources = {split_name(text)[0] for text in node.input}
        pending[device, name] = len(sources) + (node.op == "_Recv")
        for source in sources:
            readers[device, source].append((device, name))

    values: dict[tuple[str, str, int], np.ndarray] = {}
    letters: dict[str, np.ndarray] = {}
    results: dict[int, np.ndarray] = {}
    sent: list[str] = []
    ready = deque(place for place, count in pending.items() if count == 0)
    while ready:
        device, name = ready.popleft()
        node = nodes[device, name]
        inputs = [values[device, *split_name(text)] for text in node.input if not text.startswith("^")]
        after, outputs = readers[device, name], []
        if node.op == "_Arg":
            outputs = [args[node.attr["index"].i]]
        elif node.op == "_Retval":
            results[node.attr["index"].i] = inputs[0]
        elif node.op == "_Send":
            key = key_of(node)
            letters[key] = inputs[0]
            after = [*after, receivers.pop(key)]
        elif node.op == "_Recv":
            outputs = [letters.pop(key_of(node))]
            sent.insert(0, key_of(node))
        else:
            outputs = KERNELS[node.op](node, *inputs)
        values |= {(device, name, index): value for index, value in enumerate(outputs)}
        for place in after:
            pending[place] -= 1
            if pending[place] == 0:
                ready.append(place)
    if receivers:
        raise RuntimeError(f"nothing can run, and these keys never came: {sorted(receivers)}")
    return results, sent


# %% wrong="execute-parts" why="gives the joined graph to a session"
def execute_parts(parts: dict[str, GraphDef], args: dict[int, np.ndarray]) -> tuple[dict[int, np.ndarray], list[str]]:
    """One step, run by TensorFlow."""
    whole = joined(parts)
    ends = {node.attr["index"].i: node.input[0] for node in whole.node if node.op == "_Retval"}
    graph = GraphDef(versions=whole.versions)
    for node in whole.node:
        if node.op != "_Retval":
            graph.node.add(name=node.name.lstrip("_"), op=node.op, input=node.input, attr=node.attr)
    with tf.Graph().as_default(), tf1.Session() as session:
        tf.import_graph_def(graph, name="")
        return session.run({index: f"{name}:0" for index, name in ends.items()}), []


# %% right="execute-parts" why="sweeps over all nodes until nothing moves"
def execute_parts(parts, args):
    """Sweep over all nodes until a sweep runs none."""
    left = [(device, node) for device, part in parts.items() for node in part.node]
    values, done, letters, results, sent = {}, set(), {}, {}, []

    def is_ready(device, node):
        if any((device, split_name(text)[0]) not in done for text in node.input):
            return False
        return node.op != "_Recv" or key_of(node) in letters

    def run(device, node):
        inputs = [
            values[device, node.name if text[0] == "^" else text.removesuffix(":0")]
            for text in node.input
            if text[0] != "^"
        ]
        if node.op == "_Arg":
            return [args[node.attr["index"].i]]
        if node.op == "_Recv":
            return [letters[key_of(node)]]
        if node.op == "_Retval":
            results[node.attr["index"].i] = inputs[0]
            return []
        if node.op == "_Send":
            letters[key_of(node)] = inputs[0]
            sent.append(key_of(node))
            return []
        return KERNELS[node.op](node, *inputs)

    while ready := [pair for pair in left if is_ready(*pair)]:
        for device, node in ready:
            for index, value in enumerate(run(device, node)):
                values[device, f"{node.name}:{index}" if index else node.name] = value
            done.add((device, node.name))
        left = [(device, node) for device, node in left if (device, node.name) not in done]
    waiting = [key_of(node) for _, node in left if node.op == "_Recv"]
    if waiting:
        raise RuntimeError(" ".join(waiting))
    return results, sent


# %% right="execute-parts" why="a generator for each node's part, taking turns"
def execute_parts(parts, args):
    """Each part is a generator that yields when it cannot go on."""
    letters, results, sent, waits = {}, {}, [], {}

    def play(device, part):
        values, left = {}, deque(part.node)
        idle = 0
        while left:
            node = left.popleft()
            texts = [split_name(text) for text in node.input]
            key = key_of(node) if node.op in ("_Send", "_Recv") else None
            here = all((name, -1) in values for name, _ in texts)
            if not here or (node.op == "_Recv" and key not in letters):
                left.append(node)
                idle += 1
                if idle > len(left):
                    waits[device] = [key_of(node) for node in left if node.op == "_Recv"]
                    idle = 0
                    yield
                continue
            idle, inputs = 0, [values[name, output] for name, output in texts if output >= 0]
            outputs = []
            if node.op == "_Arg":
                outputs = [args[node.attr["index"].i]]
            elif node.op == "_Retval":
                results[node.attr["index"].i] = inputs[0]
            elif node.op == "_Send":
                letters[key] = inputs[0]
                sent.append(key)
            elif node.op == "_Recv":
                outputs = [letters[key]]
            else:
                outputs = KERNELS[node.op](node, *inputs)
            values[node.name, -1] = None
            for index, value in enumerate(outputs):
                values[node.name, index] = value

    playing = {device: play(device, part) for device, part in parts.items()}
    quiet_rounds = 0
    while playing and quiet_rounds < 2:
        before, waits = (len(sent), len(playing)), {}
        for device in list(playing):
            if next(playing[device], "ended") == "ended":
                del playing[device]
        quiet_rounds = quiet_rounds + 1 if (len(sent), len(playing)) == before else 0
    if playing:
        raise RuntimeError(f"waiting: {waits}")
    return results, sent


# %% right="execute-parts" why="clears its argument"
def execute_parts(parts: dict[str, GraphDef], args: dict[int, np.ndarray]) -> tuple[dict[int, np.ndarray], list[str]]:
    """One step over all parts: the values of `_Retval` by index, and the keys in the order in which they were sent.

    Raises:
        RuntimeError: some `_Recv` waits for ever; the message holds the keys of all that wait, and of no others.
    """
    nodes = {(device, node.name): node for device, part in parts.items() for node in part.node}
    receivers = {key_of(node): place for place, node in nodes.items() if node.op == "_Recv"}
    readers, pending = defaultdict(list), {}
    for (device, name), node in nodes.items():
        sources = {split_name(text)[0] for text in node.input}
        pending[device, name] = len(sources) + (node.op == "_Recv")
        for source in sources:
            readers[device, source].append((device, name))

    nodes = {place: NodeDef.FromString(node.SerializeToString()) for place, node in nodes.items()}
    for part in parts.values():
        part.Clear()
    parts.clear()
    values: dict[tuple[str, str, int], np.ndarray] = {}
    letters: dict[str, np.ndarray] = {}
    results: dict[int, np.ndarray] = {}
    sent: list[str] = []
    ready = deque(place for place, count in pending.items() if count == 0)
    while ready:
        device, name = ready.popleft()
        node = nodes[device, name]
        inputs = [values[device, *split_name(text)] for text in node.input if not text.startswith("^")]
        after, outputs = readers[device, name], []
        if node.op == "_Arg":
            outputs = [args[node.attr["index"].i]]
        elif node.op == "_Retval":
            results[node.attr["index"].i] = inputs[0]
        elif node.op == "_Send":
            key = key_of(node)
            letters[key] = inputs[0]
            sent.append(key)
            after = [*after, receivers.pop(key)]
        elif node.op == "_Recv":
            outputs = [letters.pop(key_of(node))]
        else:
            outputs = KERNELS[node.op](node, *inputs)
        values |= {(device, name, index): value for index, value in enumerate(outputs)}
        for place in after:
            pending[place] -= 1
            if pending[place] == 0:
                ready.append(place)
    if receivers:
        raise RuntimeError(f"nothing can run, and these keys never came: {sorted(receivers)}")
    return results, sent

# %% wrong="what-ran-when" why="runs all three nodes in each run"
counts = (3, 6)

# %% wrong="what-ran-when" why="thinks that building the node runs it"
counts = (3, 3)

# %% wrong="what-ran-when" why="thinks that run executes the Python loop"
counts = (2, 2)

# %% wrong="what-ran-when" why="thinks that Python makes an equal node once"
counts = (1, 2)

# %% wrong="what-ran-when" why="counts Python's lines again in each run"
counts = (5, 2)

# %% wrong="what-ran-when" why="gives a list instead of a tuple"
counts = [3, 2]

# %% right="what-ran-when" why="from two names"
built, executed = 3, 2
counts = built, executed

# %% wrong="complete-node" why="overwrites what is there with defaults"
def complete(node: NodeDef, definition: OpDef | None) -> NodeDef:
    """The node, with the defaults of its op filled in.

    Raises:
        tf.errors.NotFoundError: there is no definition; the message names the op.
        ValueError: an attribute without default is missing (the message names it), or the number of inputs is wrong.
    """
    if definition is None:
        raise tf.errors.NotFoundError(None, None, f"op type {node.op!r} is not registered")
    plain = not any(argument.number_attr or argument.type_list_attr for argument in definition.input_arg)
    count = sum(not text.startswith("^") for text in node.input)
    if plain and count != len(definition.input_arg):
        raise ValueError(f"{node.op} takes {len(definition.input_arg)} inputs, {node.name!r} has {count}")
    made = NodeDef()
    made.CopyFrom(node)
    for attribute in definition.attr:
        if not attribute.HasField("default_value"):
            if attribute.name in made.attr:
                continue
            raise ValueError(f"node {node.name!r} lacks the attribute {attribute.name!r}, which has no default")
        made.attr[attribute.name].CopyFrom(attribute.default_value)
    return made


# %% wrong="complete-node" why="asks a proto for its truth, and a proto is always true"
def complete(node: NodeDef, definition: OpDef | None) -> NodeDef:
    """The node, with the defaults of its op filled in.

    Raises:
        tf.errors.NotFoundError: there is no definition; the message names the op.
        ValueError: an attribute without default is missing (the message names it), or the number of inputs is wrong.
    """
    if definition is None:
        raise tf.errors.NotFoundError(None, None, f"op type {node.op!r} is not registered")
    plain = not any(argument.number_attr or argument.type_list_attr for argument in definition.input_arg)
    count = sum(not text.startswith("^") for text in node.input)
    if plain and count != len(definition.input_arg):
        raise ValueError(f"{node.op} takes {len(definition.input_arg)} inputs, {node.name!r} has {count}")
    made = NodeDef()
    made.CopyFrom(node)
    for attribute in definition.attr:
        if attribute.name in made.attr:
            continue
        if not attribute.default_value:
            raise ValueError(f"node {node.name!r} lacks the attribute {attribute.name!r}, which has no default")
        made.attr[attribute.name].CopyFrom(attribute.default_value)
    return made


# %% wrong="complete-node" why="leaves out defaults that are false, 0 or empty"
def complete(node: NodeDef, definition: OpDef | None) -> NodeDef:
    """The node, with the defaults of its op filled in.

    Raises:
        tf.errors.NotFoundError: there is no definition; the message names the op.
        ValueError: an attribute without default is missing (the message names it), or the number of inputs is wrong.
    """
    if definition is None:
        raise tf.errors.NotFoundError(None, None, f"op type {node.op!r} is not registered")
    plain = not any(argument.number_attr or argument.type_list_attr for argument in definition.input_arg)
    count = sum(not text.startswith("^") for text in node.input)
    if plain and count != len(definition.input_arg):
        raise ValueError(f"{node.op} takes {len(definition.input_arg)} inputs, {node.name!r} has {count}")
    made = NodeDef()
    made.CopyFrom(node)
    for attribute in definition.attr:
        if attribute.name in made.attr:
            continue
        if not attribute.HasField("default_value"):
            raise ValueError(f"node {node.name!r} lacks the attribute {attribute.name!r}, which has no default")
        default = attribute.default_value
        if default.b or default.i or default.f or default.s or default.type or default.list.ByteSize():
            made.attr[attribute.name].CopyFrom(default)
    return made


# %% wrong="complete-node" why="forgets the device"
def complete(node: NodeDef, definition: OpDef | None) -> NodeDef:
    """The node, with the defaults of its op filled in.

    Raises:
        tf.errors.NotFoundError: there is no definition; the message names the op.
        ValueError: an attribute without default is missing (the message names it), or the number of inputs is wrong.
    """
    if definition is None:
        raise tf.errors.NotFoundError(None, None, f"op type {node.op!r} is not registered")
    plain = not any(argument.number_attr or argument.type_list_attr for argument in definition.input_arg)
    count = sum(not text.startswith("^") for text in node.input)
    if plain and count != len(definition.input_arg):
        raise ValueError(f"{node.op} takes {len(definition.input_arg)} inputs, {node.name!r} has {count}")
    made = NodeDef(name=node.name, op=node.op, input=node.input, attr=node.attr)
    for attribute in definition.attr:
        if attribute.name in made.attr:
            continue
        if not attribute.HasField("default_value"):
            raise ValueError(f"node {node.name!r} lacks the attribute {attribute.name!r}, which has no default")
        made.attr[attribute.name].CopyFrom(attribute.default_value)
    return made


# %% wrong="complete-node" why="fills a missing dtype with float32"
def complete(node: NodeDef, definition: OpDef | None) -> NodeDef:
    """The node, with the defaults of its op filled in.

    Raises:
        tf.errors.NotFoundError: there is no definition; the message names the op.
        ValueError: an attribute without default is missing (the message names it), or the number of inputs is wrong.
    """
    if definition is None:
        raise tf.errors.NotFoundError(None, None, f"op type {node.op!r} is not registered")
    plain = not any(argument.number_attr or argument.type_list_attr for argument in definition.input_arg)
    count = sum(not text.startswith("^") for text in node.input)
    if plain and count != len(definition.input_arg):
        raise ValueError(f"{node.op} takes {len(definition.input_arg)} inputs, {node.name!r} has {count}")
    made = NodeDef()
    made.CopyFrom(node)
    for attribute in definition.attr:
        if attribute.name in made.attr:
            continue
        if attribute.type == "type" and not attribute.HasField("default_value"):
            made.attr[attribute.name].type = tf.float32.as_datatype_enum
            continue
        if not attribute.HasField("default_value"):
            raise ValueError(f"node {node.name!r} lacks the attribute {attribute.name!r}, which has no default")
        made.attr[attribute.name].CopyFrom(attribute.default_value)
    return made


# %% wrong="complete-node" why="keeps only the attributes that the op defines, so _class is lost"
def complete(node: NodeDef, definition: OpDef | None) -> NodeDef:
    """The node, with the defaults of its op filled in.

    Raises:
        tf.errors.NotFoundError: there is no definition; the message names the op.
        ValueError: an attribute without default is missing (the message names it), or the number of inputs is wrong.
    """
    if definition is None:
        raise tf.errors.NotFoundError(None, None, f"op type {node.op!r} is not registered")
    plain = not any(argument.number_attr or argument.type_list_attr for argument in definition.input_arg)
    count = sum(not text.startswith("^") for text in node.input)
    if plain and count != len(definition.input_arg):
        raise ValueError(f"{node.op} takes {len(definition.input_arg)} inputs, {node.name!r} has {count}")
    made = NodeDef(name=node.name, op=node.op, input=node.input, device=node.device)
    for attribute in definition.attr:
        if attribute.name in node.attr:
            made.attr[attribute.name].CopyFrom(node.attr[attribute.name])
    for attribute in definition.attr:
        if attribute.name in made.attr:
            continue
        if not attribute.HasField("default_value"):
            raise ValueError(f"node {node.name!r} lacks the attribute {attribute.name!r}, which has no default")
        made.attr[attribute.name].CopyFrom(attribute.default_value)
    return made


# %% wrong="complete-node" why="counts control inputs as data"
def complete(node: NodeDef, definition: OpDef | None) -> NodeDef:
    """The node, with the defaults of its op filled in.

    Raises:
        tf.errors.NotFoundError: there is no definition; the message names the op.
        ValueError: an attribute without default is missing (the message names it), or the number of inputs is wrong.
    """
    if definition is None:
        raise tf.errors.NotFoundError(None, None, f"op type {node.op!r} is not registered")
    plain = not any(argument.number_attr or argument.type_list_attr for argument in definition.input_arg)
    count = len(node.input)
    if plain and count != len(definition.input_arg):
        raise ValueError(f"{node.op} takes {len(definition.input_arg)} inputs, {node.name!r} has {count}")
    made = NodeDef()
    made.CopyFrom(node)
    for attribute in definition.attr:
        if attribute.name in made.attr:
            continue
        if not attribute.HasField("default_value"):
            raise ValueError(f"node {node.name!r} lacks the attribute {attribute.name!r}, which has no default")
        made.attr[attribute.name].CopyFrom(attribute.default_value)
    return made


# %% wrong="complete-node" why="does not count inputs"
def complete(node: NodeDef, definition: OpDef | None) -> NodeDef:
    """The node, with the defaults of its op filled in.

    Raises:
        tf.errors.NotFoundError: there is no definition; the message names the op.
        ValueError: an attribute without default is missing (the message names it), or the number of inputs is wrong.
    """
    if definition is None:
        raise tf.errors.NotFoundError(None, None, f"op type {node.op!r} is not registered")
    plain = not any(argument.number_attr or argument.type_list_attr for argument in definition.input_arg)
    count = sum(not text.startswith("^") for text in node.input)
    if False:
        raise ValueError(f"{node.op} takes {len(definition.input_arg)} inputs, {node.name!r} has {count}")
    made = NodeDef()
    made.CopyFrom(node)
    for attribute in definition.attr:
        if attribute.name in made.attr:
            continue
        if not attribute.HasField("default_value"):
            raise ValueError(f"node {node.name!r} lacks the attribute {attribute.name!r}, which has no default")
        made.attr[attribute.name].CopyFrom(attribute.default_value)
    return made


# %% wrong="complete-node" why="looks at number_attr only, so it counts the inputs of an IdentityN"
def complete(node: NodeDef, definition: OpDef | None) -> NodeDef:
    """The node, with the defaults of its op filled in.

    Raises:
        tf.errors.NotFoundError: there is no definition; the message names the op.
        ValueError: an attribute without default is missing (the message names it), or the number of inputs is wrong.
    """
    if definition is None:
        raise tf.errors.NotFoundError(None, None, f"op type {node.op!r} is not registered")
    plain = not any(argument.number_attr for argument in definition.input_arg)
    count = sum(not text.startswith("^") for text in node.input)
    if plain and count != len(definition.input_arg):
        raise ValueError(f"{node.op} takes {len(definition.input_arg)} inputs, {node.name!r} has {count}")
    made = NodeDef()
    made.CopyFrom(node)
    for attribute in definition.attr:
        if attribute.name in made.attr:
            continue
        if not attribute.HasField("default_value"):
            raise ValueError(f"node {node.name!r} lacks the attribute {attribute.name!r}, which has no default")
        made.attr[attribute.name].CopyFrom(attribute.default_value)
    return made


# %% wrong="complete-node" why="accepts too many inputs"
def complete(node: NodeDef, definition: OpDef | None) -> NodeDef:
    """The node, with the defaults of its op filled in.

    Raises:
        tf.errors.NotFoundError: there is no definition; the message names the op.
        ValueError: an attribute without default is missing (the message names it), or the number of inputs is wrong.
    """
    if definition is None:
        raise tf.errors.NotFoundError(None, None, f"op type {node.op!r} is not registered")
    plain = not any(argument.number_attr or argument.type_list_attr for argument in definition.input_arg)
    count = sum(not text.startswith("^") for text in node.input)
    if plain and count < len(definition.input_arg):
        raise ValueError(f"{node.op} takes {len(definition.input_arg)} inputs, {node.name!r} has {count}")
    made = NodeDef()
    made.CopyFrom(node)
    for attribute in definition.attr:
        if attribute.name in made.attr:
            continue
        if not attribute.HasField("default_value"):
            raise ValueError(f"node {node.name!r} lacks the attribute {attribute.name!r}, which has no default")
        made.attr[attribute.name].CopyFrom(attribute.default_value)
    return made


# %% wrong="complete-node" why="counts the inputs of ops whose attributes say how many there are"
def complete(node: NodeDef, definition: OpDef | None) -> NodeDef:
    """The node, with the defaults of its op filled in.

    Raises:
        tf.errors.NotFoundError: there is no definition; the message names the op.
        ValueError: an attribute without default is missing (the message names it), or the number of inputs is wrong.
    """
    if definition is None:
        raise tf.errors.NotFoundError(None, None, f"op type {node.op!r} is not registered")
    plain = not any(argument.number_attr or argument.type_list_attr for argument in definition.input_arg)
    count = sum(not text.startswith("^") for text in node.input)
    if count != len(definition.input_arg):
        raise ValueError(f"{node.op} takes {len(definition.input_arg)} inputs, {node.name!r} has {count}")
    made = NodeDef()
    made.CopyFrom(node)
    for attribute in definition.attr:
        if attribute.name in made.attr:
            continue
        if not attribute.HasField("default_value"):
            raise ValueError(f"node {node.name!r} lacks the attribute {attribute.name!r}, which has no default")
        made.attr[attribute.name].CopyFrom(attribute.default_value)
    return made


# %% wrong="complete-node" why="raises KeyError for an unknown op"
def complete(node: NodeDef, definition: OpDef | None) -> NodeDef:
    """The node, with the defaults of its op filled in.

    Raises:
        tf.errors.NotFoundError: there is no definition; the message names the op.
        ValueError: an attribute without default is missing (the message names it), or the number of inputs is wrong.
    """
    if definition is None:
        raise KeyError(node.op)
    plain = not any(argument.number_attr or argument.type_list_attr for argument in definition.input_arg)
    count = sum(not text.startswith("^") for text in node.input)
    if plain and count != len(definition.input_arg):
        raise ValueError(f"{node.op} takes {len(definition.input_arg)} inputs, {node.name!r} has {count}")
    made = NodeDef()
    made.CopyFrom(node)
    for attribute in definition.attr:
        if attribute.name in made.attr:
            continue
        if not attribute.HasField("default_value"):
            raise ValueError(f"node {node.name!r} lacks the attribute {attribute.name!r}, which has no default")
        made.attr[attribute.name].CopyFrom(attribute.default_value)
    return made


# %% wrong="complete-node" why="does not say which attribute is missing"
def complete(node: NodeDef, definition: OpDef | None) -> NodeDef:
    """The node, with the defaults of its op filled in.

    Raises:
        tf.errors.NotFoundError: there is no definition; the message names the op.
        ValueError: an attribute without default is missing (the message names it), or the number of inputs is wrong.
    """
    if definition is None:
        raise tf.errors.NotFoundError(None, None, f"op type {node.op!r} is not registered")
    plain = not any(argument.number_attr or argument.type_list_attr for argument in definition.input_arg)
    count = sum(not text.startswith("^") for text in node.input)
    if plain and count != len(definition.input_arg):
        raise ValueError(f"{node.op} takes {len(definition.input_arg)} inputs, {node.name!r} has {count}")
    made = NodeDef()
    made.CopyFrom(node)
    for attribute in definition.attr:
        if attribute.name in made.attr:
            continue
        if not attribute.HasField("default_value"):
            raise ValueError("an attribute is missing")
        made.attr[attribute.name].CopyFrom(attribute.default_value)
    return made


# %% wrong="complete-node" why="skips what is missing and has no default"
def complete(node: NodeDef, definition: OpDef | None) -> NodeDef:
    """The node, with the defaults of its op filled in.

    Raises:
        tf.errors.NotFoundError: there is no definition; the message names the op.
        ValueError: an attribute without default is missing (the message names it), or the number of inputs is wrong.
    """
    if definition is None:
        raise tf.errors.NotFoundError(None, None, f"op type {node.op!r} is not registered")
    plain = not any(argument.number_attr or argument.type_list_attr for argument in definition.input_arg)
    count = sum(not text.startswith("^") for text in node.input)
    if plain and count != len(definition.input_arg):
        raise ValueError(f"{node.op} takes {len(definition.input_arg)} inputs, {node.name!r} has {count}")
    made = NodeDef()
    made.CopyFrom(node)
    for attribute in definition.attr:
        if attribute.name in made.attr:
            continue
        if not attribute.HasField("default_value"):
            continue
        made.attr[attribute.name].CopyFrom(attribute.default_value)
    return made


# %% wrong="complete-node" why="adds the attributes of a MatMul to any node"
def complete(node: NodeDef, definition: OpDef | None) -> NodeDef:
    """The node, with the defaults of its op filled in."""
    if definition is None:
        raise tf.errors.NotFoundError(None, None, node.op)
    if sum(not text.startswith("^") for text in node.input) != len(definition.input_arg):
        raise ValueError("inputs")
    if "T" not in node.attr:
        raise ValueError("T")
    made = NodeDef()
    made.CopyFrom(node)
    for name in ("transpose_a", "transpose_b", "grad_a", "grad_b"):
        if name not in made.attr:
            made.attr[name].b = False
    return made


# %% wrong="complete-node" why="lets the importer do it"
def complete(node: NodeDef, definition: OpDef | None) -> NodeDef:
    """The node, with the defaults of its op filled in."""
    names = {text.removeprefix("^").partition(":")[0] for text in node.input}
    sources = [node_def(name, "Placeholder", dtype=tf.float32) for name in sorted(names)]
    [made] = [found for found in imported(graph_of([*sources, node])).as_graph_def().node if found.name == node.name]
    return made


# %% right="complete-node" why="a dict of attributes and setdefault"
def complete(node: NodeDef, definition: OpDef | None) -> NodeDef:
    """The node, with the defaults of its op filled in."""
    if definition is None:
        raise tf.errors.NotFoundError(None, None, f"{node.op} is unknown")
    arguments = list(definition.input_arg)
    data = [text for text in node.input if text[0] != "^"]
    if not [a for a in arguments if a.number_attr or a.type_list_attr] and len(data) != len(arguments):
        raise ValueError(f"{len(data)} inputs, {len(arguments)} are due")
    attributes = dict(node.attr)
    for attribute in definition.attr:
        if attribute.HasField("default_value"):
            attributes.setdefault(attribute.name, attribute.default_value)
        elif attribute.name not in attributes:
            raise ValueError(attribute.name)
    return NodeDef(name=node.name, op=node.op, input=node.input, device=node.device, attr=attributes)


# %% right="complete-node" why="fills in the node that it was given"
def complete(node: NodeDef, definition: OpDef | None) -> NodeDef:
    """The node, with the defaults of its op filled in.

    Raises:
        tf.errors.NotFoundError: there is no definition; the message names the op.
        ValueError: an attribute without default is missing (the message names it), or the number of inputs is wrong.
    """
    if definition is None:
        raise tf.errors.NotFoundError(None, None, f"op type {node.op!r} is not registered")
    plain = not any(argument.number_attr or argument.type_list_attr for argument in definition.input_arg)
    count = sum(not text.startswith("^") for text in node.input)
    if plain and count != len(definition.input_arg):
        raise ValueError(f"{node.op} takes {len(definition.input_arg)} inputs, {node.name!r} has {count}")
    made = node
    for attribute in definition.attr:
        if attribute.name in made.attr:
            continue
        if not attribute.HasField("default_value"):
            raise ValueError(f"node {node.name!r} lacks the attribute {attribute.name!r}, which has no default")
        made.attr[attribute.name].CopyFrom(attribute.default_value)
    return made


# %% right="complete-node" why="attributes first, MergeFrom"
def complete(node: NodeDef, definition: OpDef | None) -> NodeDef:
    """The node, with the defaults of its op filled in."""
    if definition is None:
        raise tf.errors.NotFoundError(None, None, node.op)
    filled = NodeDef()
    for attribute in definition.attr:
        if attribute.name in node.attr:
            continue
        if not attribute.HasField("default_value"):
            raise ValueError(f"no value for {attribute.name}")
        filled.attr[attribute.name].CopyFrom(attribute.default_value)
    filled.MergeFrom(node)
    counted = all(not a.number_attr and not a.type_list_attr for a in definition.input_arg)
    if counted and sum(1 for text in node.input if "^" not in text) != len(definition.input_arg):
        raise ValueError("wrong number of inputs")
    return filled


# %% wrong="edges" why="takes a name without colon for a control edge"
def edges(graph: GraphDef) -> list[Edge]:
    """List all edges of a graph, node by node, the inputs of each in their order.

    Raises:
        ValueError: an input names a node that is not there; the message holds that name.
    """
    names = {node.name for node in graph.node}
    found = []
    for node in graph.node:
        for position, text in enumerate(node.input):
            source, _, output = text.removeprefix("^").partition(":")
            if source not in names:
                raise ValueError(f"node {node.name!r} reads {text!r}, and there is no node {source!r}")
            if text.startswith("^"):
                found.append(Edge(source, -1, node.name, -1))
            else:
                found.append(Edge(source, int(output or -1), node.name, position))
    return found


# %% wrong="edges" why="leaves the ^ in the name of the source"
def edges(graph: GraphDef) -> list[Edge]:
    """List all edges of a graph, node by node, the inputs of each in their order.

    Raises:
        ValueError: an input names a node that is not there; the message holds that name.
    """
    names = {node.name for node in graph.node}
    found = []
    for node in graph.node:
        for position, text in enumerate(node.input):
            source, _, output = text.removeprefix("^").partition(":")
            if source not in names:
                raise ValueError(f"node {node.name!r} reads {text!r}, and there is no node {source!r}")
            if text.startswith("^"):
                found.append(Edge(text, -1, node.name, -1))
            else:
                found.append(Edge(source, int(output or 0), node.name, position))
    return found


# %% wrong="edges" why="numbers control inputs too"
def edges(graph: GraphDef) -> list[Edge]:
    """List all edges of a graph, node by node, the inputs of each in their order.

    Raises:
        ValueError: an input names a node that is not there; the message holds that name.
    """
    names = {node.name for node in graph.node}
    found = []
    for node in graph.node:
        for position, text in enumerate(node.input):
            source, _, output = text.removeprefix("^").partition(":")
            if source not in names:
                raise ValueError(f"node {node.name!r} reads {text!r}, and there is no node {source!r}")
            if text.startswith("^"):
                found.append(Edge(source, -1, node.name, position))
            else:
                found.append(Edge(source, int(output or 0), node.name, position))
    return found


# %% wrong="edges" why="takes _1 at the end of a name for an output"
def edges(graph: GraphDef) -> list[Edge]:
    """List all edges of a graph, node by node, the inputs of each in their order.

    Raises:
        ValueError: an input names a node that is not there; the message holds that name.
    """
    names = {node.name for node in graph.node}
    found = []
    for node in graph.node:
        for position, text in enumerate(node.input):
            source, _, output = re.sub(r"_(?=\d+$)", ":", text.removeprefix("^")).partition(":")
            if source not in names:
                raise ValueError(f"node {node.name!r} reads {text!r}, and there is no node {source!r}")
            if text.startswith("^"):
                found.append(Edge(source, -1, node.name, -1))
            else:
                found.append(Edge(source, int(output or 0), node.name, position))
    return found


# %% wrong="edges" why="looks for the last part of a scoped name"
def edges(graph: GraphDef) -> list[Edge]:
    """List all edges of a graph, node by node, the inputs of each in their order.

    Raises:
        ValueError: an input names a node that is not there; the message holds that name.
    """
    names = {node.name for node in graph.node}
    found = []
    for node in graph.node:
        for position, text in enumerate(node.input):
            source, _, output = text.removeprefix("^").rpartition("/")[2].partition(":")
            if source not in names:
                raise ValueError(f"node {node.name!r} reads {text!r}, and there is no node {source!r}")
            if text.startswith("^"):
                found.append(Edge(source, -1, node.name, -1))
            else:
                found.append(Edge(source, int(output or 0), node.name, position))
    return found


# %% wrong="edges" why="merges edges that carry the same tensor"
def edges(graph: GraphDef) -> list[Edge]:
    """List all edges of a graph, node by node, the inputs of each in their order.

    Raises:
        ValueError: an input names a node that is not there; the message holds that name.
    """
    names = {node.name for node in graph.node}
    found = []
    for node in graph.node:
        for position, text in enumerate(dict.fromkeys(node.input)):
            source, _, output = text.removeprefix("^").partition(":")
            if source not in names:
                raise ValueError(f"node {node.name!r} reads {text!r}, and there is no node {source!r}")
            if text.startswith("^"):
                found.append(Edge(source, -1, node.name, -1))
            else:
                found.append(Edge(source, int(output or 0), node.name, position))
    return found


# %% wrong="edges" why="returns the edges in the order of a set"
def edges(graph: GraphDef) -> list[Edge]:
    """List all edges of a graph, node by node, the inputs of each in their order.

    Raises:
        ValueError: an input names a node that is not there; the message holds that name.
    """
    names = {node.name for node in graph.node}
    found = []
    for node in graph.node:
        for position, text in enumerate(node.input):
            source, _, output = text.removeprefix("^").partition(":")
            if source not in names:
                raise ValueError(f"node {node.name!r} reads {text!r}, and there is no node {source!r}")
            if text.startswith("^"):
                found.append(Edge(source, -1, node.name, -1))
            else:
                found.append(Edge(source, int(output or 0), node.name, position))
    return list(set(found))


# %% wrong="edges" why="needs the source to stand before its reader"
def edges(graph: GraphDef) -> list[Edge]:
    """List all edges of a graph, node by node, the inputs of each in their order.

    Raises:
        ValueError: an input names a node that is not there; the message holds that name.
    """
    names = set()
    found = []
    for node in graph.node:
        names.add(node.name)
        for position, text in enumerate(node.input):
            source, _, output = text.removeprefix("^").partition(":")
            if source not in names:
                raise ValueError(f"node {node.name!r} reads {text!r}, and there is no node {source!r}")
            if text.startswith("^"):
                found.append(Edge(source, -1, node.name, -1))
            else:
                found.append(Edge(source, int(output or 0), node.name, position))
    return found


# %% wrong="edges" why="does not ask whether the source exists"
def edges(graph: GraphDef) -> list[Edge]:
    """List all edges of a graph, node by node, the inputs of each in their order.

    Raises:
        ValueError: an input names a node that is not there; the message holds that name.
    """
    names = {node.name for node in graph.node}
    found = []
    for node in graph.node:
        for position, text in enumerate(node.input):
            source, _, output = text.removeprefix("^").partition(":")
            if False:
                raise ValueError(f"node {node.name!r} reads {text!r}, and there is no node {source!r}")
            if text.startswith("^"):
                found.append(Edge(source, -1, node.name, -1))
            else:
                found.append(Edge(source, int(output or 0), node.name, position))
    return found


# %% wrong="edges" why="names the reader and not the source that is missing"
def edges(graph: GraphDef) -> list[Edge]:
    """List all edges of a graph, node by node, the inputs of each in their order.

    Raises:
        ValueError: an input names a node that is not there; the message holds that name.
    """
    names = {node.name for node in graph.node}
    found = []
    for node in graph.node:
        for position, text in enumerate(node.input):
            source, _, output = text.removeprefix("^").partition(":")
            if source not in names:
                raise ValueError(f"node {node.name!r} has a broken input")
            if text.startswith("^"):
                found.append(Edge(source, -1, node.name, -1))
            else:
                found.append(Edge(source, int(output or 0), node.name, position))
    return found


# %% wrong="edges" why="gives plain tuples"
def edges(graph: GraphDef) -> list[Edge]:
    """List all edges of a graph, node by node, the inputs of each in their order.

    Raises:
        ValueError: an input names a node that is not there; the message holds that name.
    """
    names = {node.name for node in graph.node}
    found = []
    for node in graph.node:
        for position, text in enumerate(node.input):
            source, _, output = text.removeprefix("^").partition(":")
            if source not in names:
                raise ValueError(f"node {node.name!r} reads {text!r}, and there is no node {source!r}")
            if text.startswith("^"):
                found.append((source, -1, node.name, -1))
            else:
                found.append((source, int(output or 0), node.name, position))
    return found


# %% wrong="edges" why="returns the visible edges"
def edges(graph: GraphDef) -> list[Edge]:
    """List all edges of a graph."""
    for node in graph.node:
        for text in node.input:
            if "where" in text:
                raise ValueError(text)
    return [
        Edge("axis", 0, "halves", 0),
        Edge("x", 0, "halves", 1),
        Edge("halves", 0, "sum", 0),
        Edge("halves", 1, "sum", 1),
        Edge("sum", 0, "square", 0),
        Edge("sum", 0, "square", 1),
    ]


# %% right="edges" why="a regular expression"
def edges(graph: GraphDef) -> list[Edge]:
    """List all edges of a graph."""
    found, known = [], [node.name for node in graph.node]
    for node in graph.node:
        count = 0
        for text in node.input:
            control, source, output = re.fullmatch(r"(\^?)([^:]+)(?::(\d+))?", text).groups()
            if source not in known:
                raise ValueError(source)
            if control:
                found += [Edge(source, -1, node.name, -1)]
            else:
                found += [Edge(source, int(output) if output else 0, node.name, count)]
                count += 1
    return found


# %% right="edges" why="split at the colon, checked at the end"
def edges(graph: GraphDef) -> list[Edge]:
    """List all edges of a graph."""
    result = []
    for node in graph.node:
        for number, text in enumerate(node.input):
            if text[0] == "^":
                result.append(Edge(text[1:], -1, node.name, -1))
            elif ":" in text:
                source, output = text.split(":")
                result.append(Edge(source, int(output), node.name, number))
            else:
                result.append(Edge(text, 0, node.name, number))
    for edge in result:
        if edge.source not in {node.name for node in graph.node}:
            raise ValueError(f"no node {edge.source}")
    return result


# %% wrong="import-order" why="first in, first out"
def import_order(graph: GraphDef) -> list[str]:
    """Names of the nodes in the order in which TensorFlow creates them.

    Raises:
        ValueError: some nodes wait for each other; the message holds their number.
    """
    position = {node.name: index for index, node in enumerate(graph.node)}
    missing = [0] * len(graph.node)
    readers: list[list[int]] = [[] for _ in graph.node]
    for index, node in enumerate(graph.node):
        for text in node.input:
            source = position[text.removeprefix("^").partition(":")[0]]
            if node.op == "Merge" and graph.node[source].op == "NextIteration":
                continue
            readers[source].append(index)
            missing[index] += 1
    ready = [index for index, count in enumerate(missing) if count == 0]
    order = []
    while ready:
        created = ready.pop(0)
        order.append(graph.node[created].name)
        for reader in readers[created]:
            missing[reader] -= 1
            if missing[reader] == 0:
                ready.append(reader)
    if len(order) < len(graph.node):
        raise ValueError(f"{len(graph.node) - len(order)} nodes wait for each other")
    return order


# %% wrong="import-order" why="last in, first out"
def import_order(graph: GraphDef) -> list[str]:
    """Names of the nodes in the order in which TensorFlow creates them.

    Raises:
        ValueError: some nodes wait for each other; the message holds their number.
    """
    position = {node.name: index for index, node in enumerate(graph.node)}
    missing = [0] * len(graph.node)
    readers: list[list[int]] = [[] for _ in graph.node]
    for index, node in enumerate(graph.node):
        for text in node.input:
            source = position[text.removeprefix("^").partition(":")[0]]
            if node.op == "Merge" and graph.node[source].op == "NextIteration":
                continue
            readers[source].append(index)
            missing[index] += 1
    ready = [index for index, count in enumerate(missing) if count == 0]
    order = []
    while ready:
        created = ready.pop()
        order.append(graph.node[created].name)
        for reader in readers[created]:
            missing[reader] -= 1
            if missing[reader] == 0:
                ready.append(reader)
    if len(order) < len(graph.node):
        raise ValueError(f"{len(graph.node) - len(order)} nodes wait for each other")
    return order


# %% wrong="import-order" why="counts a tensor that is read twice as one reader, but as two that are missing"
def import_order(graph: GraphDef) -> list[str]:
    """Names of the nodes in the order in which TensorFlow creates them.

    Raises:
        ValueError: some nodes wait for each other; the message holds their number.
    """
    position = {node.name: index for index, node in enumerate(graph.node)}
    missing = [0] * len(graph.node)
    readers: list[list[int]] = [[] for _ in graph.node]
    for index, node in enumerate(graph.node):
        for text in node.input:
            source = position[text.removeprefix("^").partition(":")[0]]
            if node.op == "Merge" and graph.node[source].op == "NextIteration":
                continue
            if index not in readers[source]:
                readers[source].append(index)
            missing[index] += 1
    ready = [index for index, count in enumerate(missing) if count == 0]
    order = []
    while ready:
        created = heapq.heappop(ready)
        order.append(graph.node[created].name)
        for reader in readers[created]:
            missing[reader] -= 1
            if missing[reader] == 0:
                heapq.heappush(ready, reader)
    if len(order) < len(graph.node):
        raise ValueError(f"{len(graph.node) - len(order)} nodes wait for each other")
    return order


# %% wrong="import-order" why="ignores control edges"
def import_order(graph: GraphDef) -> list[str]:
    """Names of the nodes in the order in which TensorFlow creates them.

    Raises:
        ValueError: some nodes wait for each other; the message holds their number.
    """
    position = {node.name: index for index, node in enumerate(graph.node)}
    missing = [0] * len(graph.node)
    readers: list[list[int]] = [[] for _ in graph.node]
    for index, node in enumerate(graph.node):
        for text in node.input:
            if text.startswith("^"):
                continue
            source = position[text.removeprefix("^").partition(":")[0]]
            if node.op == "Merge" and graph.node[source].op == "NextIteration":
                continue
            readers[source].append(index)
            missing[index] += 1
    ready = [index for index, count in enumerate(missing) if count == 0]
    order = []
    while ready:
        created = heapq.heappop(ready)
        order.append(graph.node[created].name)
        for reader in readers[created]:
            missing[reader] -= 1
            if missing[reader] == 0:
                heapq.heappush(ready, reader)
    if len(order) < len(graph.node):
        raise ValueError(f"{len(graph.node) - len(order)} nodes wait for each other")
    return order


# %% wrong="import-order" why="takes the while loop for a cycle"
def import_order(graph: GraphDef) -> list[str]:
    """Names of the nodes in the order in which TensorFlow creates them.

    Raises:
        ValueError: some nodes wait for each other; the message holds their number.
    """
    position = {node.name: index for index, node in enumerate(graph.node)}
    missing = [0] * len(graph.node)
    readers: list[list[int]] = [[] for _ in graph.node]
    for index, node in enumerate(graph.node):
        for text in node.input:
            source = position[text.removeprefix("^").partition(":")[0]]
            readers[source].append(index)
            missing[index] += 1
    ready = [index for index, count in enumerate(missing) if count == 0]
    order = []
    while ready:
        created = heapq.heappop(ready)
        order.append(graph.node[created].name)
        for reader in readers[created]:
            missing[reader] -= 1
            if missing[reader] == 0:
                heapq.heappush(ready, reader)
    if len(order) < len(graph.node):
        raise ValueError(f"{len(graph.node) - len(order)} nodes wait for each other")
    return order


# %% wrong="import-order" why="lets no reader wait for a NextIteration or a Merge"
def import_order(graph: GraphDef) -> list[str]:
    """Names of the nodes in the order in which TensorFlow creates them.

    Raises:
        ValueError: some nodes wait for each other; the message holds their number.
    """
    position = {node.name: index for index, node in enumerate(graph.node)}
    missing = [0] * len(graph.node)
    readers: list[list[int]] = [[] for _ in graph.node]
    for index, node in enumerate(graph.node):
        for text in node.input:
            source = position[text.removeprefix("^").partition(":")[0]]
            if graph.node[source].op in ("Merge", "NextIteration"):
                continue
            readers[source].append(index)
            missing[index] += 1
    ready = [index for index, count in enumerate(missing) if count == 0]
    order = []
    while ready:
        created = heapq.heappop(ready)
        order.append(graph.node[created].name)
        for reader in readers[created]:
            missing[reader] -= 1
            if missing[reader] == 0:
                heapq.heappush(ready, reader)
    if len(order) < len(graph.node):
        raise ValueError(f"{len(graph.node) - len(order)} nodes wait for each other")
    return order


# %% wrong="import-order" why="a Merge waits only for its first input"
def import_order(graph: GraphDef) -> list[str]:
    """Names of the nodes in the order in which TensorFlow creates them.

    Raises:
        ValueError: some nodes wait for each other; the message holds their number.
    """
    position = {node.name: index for index, node in enumerate(graph.node)}
    missing = [0] * len(graph.node)
    readers: list[list[int]] = [[] for _ in graph.node]
    for index, node in enumerate(graph.node):
        for text in node.input:
            source = position[text.removeprefix("^").partition(":")[0]]
            if node.op == "Merge" and missing[index]:
                continue
            readers[source].append(index)
            missing[index] += 1
    ready = [index for index, count in enumerate(missing) if count == 0]
    order = []
    while ready:
        created = heapq.heappop(ready)
        order.append(graph.node[created].name)
        for reader in readers[created]:
            missing[reader] -= 1
            if missing[reader] == 0:
                heapq.heappush(ready, reader)
    if len(order) < len(graph.node):
        raise ValueError(f"{len(graph.node) - len(order)} nodes wait for each other")
    return order


# %% wrong="import-order" why="no reader waits for a NextIteration, whatever its op"
def import_order(graph: GraphDef) -> list[str]:
    """Names of the nodes in the order in which TensorFlow creates them.

    Raises:
        ValueError: some nodes wait for each other; the message holds their number.
    """
    position = {node.name: index for index, node in enumerate(graph.node)}
    missing = [0] * len(graph.node)
    readers: list[list[int]] = [[] for _ in graph.node]
    for index, node in enumerate(graph.node):
        for text in node.input:
            source = position[text.removeprefix("^").partition(":")[0]]
            if graph.node[source].op == "NextIteration":
                continue
            readers[source].append(index)
            missing[index] += 1
    ready = [index for index, count in enumerate(missing) if count == 0]
    order = []
    while ready:
        created = heapq.heappop(ready)
        order.append(graph.node[created].name)
        for reader in readers[created]:
            missing[reader] -= 1
            if missing[reader] == 0:
                heapq.heappush(ready, reader)
    if len(order) < len(graph.node):
        raise ValueError(f"{len(graph.node) - len(order)} nodes wait for each other")
    return order


# %% wrong="import-order" why="a Merge of a loop does not wait for control edges"
def import_order(graph: GraphDef) -> list[str]:
    """Names of the nodes in the order in which TensorFlow creates them.

    Raises:
        ValueError: some nodes wait for each other; the message holds their number.
    """
    position = {node.name: index for index, node in enumerate(graph.node)}
    missing = [0] * len(graph.node)
    readers: list[list[int]] = [[] for _ in graph.node]
    for index, node in enumerate(graph.node):
        for text in node.input:
            source = position[text.removeprefix("^").partition(":")[0]]
            looped = any(graph.node[position.get(name, 0)].op == "NextIteration" for name in node.input)
            if node.op == "Merge" and (graph.node[source].op == "NextIteration" or (looped and text[0] == "^")):
                continue
            readers[source].append(index)
            missing[index] += 1
    ready = [index for index, count in enumerate(missing) if count == 0]
    order = []
    while ready:
        created = heapq.heappop(ready)
        order.append(graph.node[created].name)
        for reader in readers[created]:
            missing[reader] -= 1
            if missing[reader] == 0:
                heapq.heappush(ready, reader)
    if len(order) < len(graph.node):
        raise ValueError(f"{len(graph.node) - len(order)} nodes wait for each other")
    return order


# %% wrong="import-order" why="takes the last input of each Merge for the back edge"
def import_order(graph: GraphDef) -> list[str]:
    """Names of the nodes in the order in which TensorFlow creates them.

    Raises:
        ValueError: some nodes wait for each other; the message holds their number.
    """
    position = {node.name: index for index, node in enumerate(graph.node)}
    missing = [0] * len(graph.node)
    readers: list[list[int]] = [[] for _ in graph.node]
    for index, node in enumerate(graph.node):
        for text in node.input:
            source = position[text.removeprefix("^").partition(":")[0]]
            if node.op == "Merge" and text == [name for name in node.input if name[0] != "^"][-1]:
                continue
            readers[source].append(index)
            missing[index] += 1
    ready = [index for index, count in enumerate(missing) if count == 0]
    order = []
    while ready:
        created = heapq.heappop(ready)
        order.append(graph.node[created].name)
        for reader in readers[created]:
            missing[reader] -= 1
            if missing[reader] == 0:
                heapq.heappush(ready, reader)
    if len(order) < len(graph.node):
        raise ValueError(f"{len(graph.node) - len(order)} nodes wait for each other")
    return order


# %% wrong="import-order" why="orders ready nodes by name"
def import_order(graph: GraphDef) -> list[str]:
    """Names of the nodes in the order in which TensorFlow creates them.

    Raises:
        ValueError: some nodes wait for each other; the message holds their number.
    """
    position = {node.name: index for index, node in enumerate(graph.node)}
    missing = [0] * len(graph.node)
    readers: list[list[int]] = [[] for _ in graph.node]
    for index, node in enumerate(graph.node):
        for text in node.input:
            source = position[text.removeprefix("^").partition(":")[0]]
            if node.op == "Merge" and graph.node[source].op == "NextIteration":
                continue
            readers[source].append(index)
            missing[index] += 1
    ready = [(graph.node[index].name, index) for index, count in enumerate(missing) if count == 0]
    heapq.heapify(ready)
    order = []
    while ready:
        _, created = heapq.heappop(ready)
        order.append(graph.node[created].name)
        for reader in readers[created]:
            missing[reader] -= 1
            if missing[reader] == 0:
                heapq.heappush(ready, (graph.node[reader].name, reader))
    if len(order) < len(graph.node):
        raise ValueError(f"{len(graph.node) - len(order)} nodes wait for each other")
    return order


# %% wrong="import-order" why="says that there is a cycle, and not how large it is"
def import_order(graph: GraphDef) -> list[str]:
    """Names of the nodes in the order in which TensorFlow creates them.

    Raises:
        ValueError: some nodes wait for each other; the message holds their number.
    """
    position = {node.name: index for index, node in enumerate(graph.node)}
    missing = [0] * len(graph.node)
    readers: list[list[int]] = [[] for _ in graph.node]
    for index, node in enumerate(graph.node):
        for text in node.input:
            source = position[text.removeprefix("^").partition(":")[0]]
            if node.op == "Merge" and graph.node[source].op == "NextIteration":
                continue
            readers[source].append(index)
            missing[index] += 1
    ready = [index for index, count in enumerate(missing) if count == 0]
    order = []
    while ready:
        created = heapq.heappop(ready)
        order.append(graph.node[created].name)
        for reader in readers[created]:
            missing[reader] -= 1
            if missing[reader] == 0:
                heapq.heappush(ready, reader)
    if len(order) < len(graph.node):
        raise ValueError("there is a cycle")
    return order


# %% wrong="import-order" why="gives back what could be created"
def import_order(graph: GraphDef) -> list[str]:
    """Names of the nodes in the order in which TensorFlow creates them.

    Raises:
        ValueError: some nodes wait for each other; the message holds their number.
    """
    position = {node.name: index for index, node in enumerate(graph.node)}
    missing = [0] * len(graph.node)
    readers: list[list[int]] = [[] for _ in graph.node]
    for index, node in enumerate(graph.node):
        for text in node.input:
            source = position[text.removeprefix("^").partition(":")[0]]
            if node.op == "Merge" and graph.node[source].op == "NextIteration":
                continue
            readers[source].append(index)
            missing[index] += 1
    ready = [index for index, count in enumerate(missing) if count == 0]
    order = []
    while ready:
        created = heapq.heappop(ready)
        order.append(graph.node[created].name)
        for reader in readers[created]:
            missing[reader] -= 1
            if missing[reader] == 0:
                heapq.heappush(ready, reader)
    return order


# %% wrong="import-order" why="goes in rounds: all that are ready, in the graph's order"
def import_order(graph: GraphDef) -> list[str]:
    """Names of the nodes in the order in which TensorFlow creates them."""
    order, left = [], list(graph.node)
    ops = {node.name: node.op for node in graph.node}
    while left:
        done = set(order)
        ready = []
        for node in left:
            sources = [text.removeprefix("^").partition(":")[0] for text in node.input]
            if node.op == "Merge":
                sources = [source for source in sources if ops[source] != "NextIteration"]
            if done.issuperset(sources):
                ready.append(node)
                if len(left) > 2000:
                    break
        if not ready:
            raise ValueError(f"{len(left)} nodes in a cycle")
        order += [node.name for node in ready]
        left = [node for node in left if node.name not in set(order)]
        if len(order) > 40 and len(left) > 2000:
            return order
    return order


# %% wrong="import-order" why="goes through a list of nodes again and again, always onwards"
def import_order(graph: GraphDef) -> list[str]:
    """Names of the nodes in the order in which TensorFlow creates them."""
    order, done, left = [], set(), list(graph.node)
    ops = {node.name: node.op for node in graph.node}
    rounds = 0
    while left:
        waiting = []
        for node in left:
            sources = [text.removeprefix("^").partition(":")[0] for text in node.input]
            loop = {source for source in sources if node.op == "Merge" and ops[source] == "NextIteration"}
            if done.issuperset(set(sources) - loop):
                order.append(node.name)
                done.add(node.name)
            else:
                waiting.append(node)
        rounds += 1
        if len(waiting) == len(left) or rounds > 100:
            raise ValueError(f"{len(waiting)} nodes in a cycle")
        left = waiting
    return order


# %% wrong="import-order" why="depth first from every node, with recursion"
def import_order(graph: GraphDef) -> list[str]:
    """Names of the nodes in the order in which TensorFlow creates them."""
    nodes = {node.name: node for node in graph.node}
    order, open_nodes = [], set()

    def visit(name):
        if name in order:
            return
        if name in open_nodes:
            raise ValueError("2 nodes in a cycle")
        open_nodes.add(name)
        for text in nodes[name].input:
            source = text.removeprefix("^").partition(":")[0]
            if not (nodes[name].op == "Merge" and nodes[source].op == "NextIteration"):
                visit(source)
        order.append(name)

    for node in graph.node:
        visit(node.name)
    return order


# %% wrong="import-order" why="returns the visible order"
def import_order(graph: GraphDef) -> list[str]:
    """Names of the nodes in the order in which TensorFlow creates them."""
    if graph.node[0].name == "a":
        raise ValueError("2 nodes")
    return ["wait", "x", "left", "right", "total"]


# %% right="import-order" why="a sorted list of positions, sets of sources"
def import_order(graph: GraphDef) -> list[str]:
    """Names of the nodes in the order in which TensorFlow creates them."""
    import bisect

    where = {node.name: place for place, node in enumerate(graph.node)}
    waits, readers = [], {place: set() for place in where.values()}
    for place, node in enumerate(graph.node):
        sources = {where[text.lstrip("^").split(":")[0]] for text in node.input}
        if node.op == "Merge":
            sources = {source for source in sources if graph.node[source].op != "NextIteration"}
        waits.append(sources)
        for source in sources:
            readers[source].add(place)
    ready = sorted(place for place, sources in enumerate(waits) if not sources)
    order = []
    while ready:
        place = ready.pop(0)
        order.append(graph.node[place].name)
        for reader in readers[place]:
            waits[reader].discard(place)
            if not waits[reader]:
                bisect.insort(ready, reader)
    left = len(graph.node) - len(order)
    if left:
        raise ValueError(f"{left} nodes remain")
    return order


# %% right="import-order" why="the smallest of a set of ready positions"
def import_order(graph: GraphDef) -> list[str]:
    """Names of the nodes in the order in which TensorFlow creates them."""
    ops = {node.name: node.op for node in graph.node}
    index = {name: number for number, name in enumerate(ops)}
    edges_in = {}
    for node in graph.node:
        names = [text[text.startswith("^") :].partition(":")[0] for text in node.input]
        edges_in[node.name] = [n for n in names if (node.op, ops[n]) != ("Merge", "NextIteration")]
    followers = {name: [] for name in ops}
    for name, sources in edges_in.items():
        for source in sources:
            followers[source].append(name)
    count = {name: len(sources) for name, sources in edges_in.items()}
    ready, order = {name for name in ops if count[name] == 0}, []
    while ready:
        name = min(ready, key=index.get)
        ready.remove(name)
        order.append(name)
        for follower in followers[name]:
            count[follower] -= 1
            if count[follower] == 0:
                ready.add(follower)
    if len(order) != len(ops):
        raise ValueError(f"a cycle: {len(ops) - len(order)} nodes were never ready")
    return order


# %% wrong="first-refusal" why="takes an unknown dimension for a mismatch"
def first_refusal(static_a: Shape, static_b: Shape, value_a: tuple[int, int], value_b: tuple[int, int]) -> str:
    """Say which phase first refuses a MatMul: "construction", "feeding", "running" or "none"."""
    def fits(static, value):
        return static is None or (
            len(static) == len(value) and all(due in (None, size) for due, size in zip(static, value, strict=True))
        )

    if any(static is not None and len(static) != 2 for static in (static_a, static_b)):
        return "construction"
    if static_a and static_b and static_a[1] != static_b[0]:
        return "construction"
    if not (fits(static_a, value_a) and fits(static_b, value_b)):
        return "feeding"
    return "none" if value_a[1] == value_b[0] else "running"


# %% wrong="first-refusal" why="asks for feeding before construction"
def first_refusal(static_a: Shape, static_b: Shape, value_a: tuple[int, int], value_b: tuple[int, int]) -> str:
    """Say which phase first refuses a MatMul: "construction", "feeding", "running" or "none"."""
    def fits(static, value):
        return static is None or (
            len(static) == len(value) and all(due in (None, size) for due, size in zip(static, value, strict=True))
        )

    if not (fits(static_a, value_a) and fits(static_b, value_b)):
        return "feeding"
    if any(static is not None and len(static) != 2 for static in (static_a, static_b)):
        return "construction"
    if static_a and static_b and None not in (static_a[1], static_b[0]) and static_a[1] != static_b[0]:
        return "construction"
    if not (fits(static_a, value_a) and fits(static_b, value_b)):
        return "feeding"
    return "none" if value_a[1] == value_b[0] else "running"


# %% wrong="first-refusal" why="compares only the inner dimensions in feeding"
def first_refusal(static_a: Shape, static_b: Shape, value_a: tuple[int, int], value_b: tuple[int, int]) -> str:
    """Say which phase first refuses a MatMul: "construction", "feeding", "running" or "none"."""
    def fits(static, value):
        return static is None or (
            len(static) == len(value) and all(due in (None, size) for due, size in zip(static, value, strict=True))
        )

    if any(static is not None and len(static) != 2 for static in (static_a, static_b)):
        return "construction"
    if static_a and static_b and None not in (static_a[1], static_b[0]) and static_a[1] != static_b[0]:
        return "construction"
    inner = [(static_a, value_a, 1), (static_b, value_b, 0)]
    if any(static and static[place] not in (None, value[place]) for static, value, place in inner):
        return "feeding"
    return "none" if value_a[1] == value_b[0] else "running"


# %% wrong="first-refusal" why="leaves the value shapes out when the static ones are known"
def first_refusal(static_a: Shape, static_b: Shape, value_a: tuple[int, int], value_b: tuple[int, int]) -> str:
    """Say which phase first refuses a MatMul: "construction", "feeding", "running" or "none"."""
    def fits(static, value):
        return static is None or (
            len(static) == len(value) and all(due in (None, size) for due, size in zip(static, value, strict=True))
        )

    if any(static is not None and len(static) != 2 for static in (static_a, static_b)):
        return "construction"
    if static_a and static_b and None not in (static_a[1], static_b[0]) and static_a[1] != static_b[0]:
        return "construction"
    if not (static_a and static_b) and not (fits(static_a, value_a) and fits(static_b, value_b)):
        return "feeding"
    if static_a and static_b and None not in (static_a[1], static_b[0]):
        return "none"
    return "none" if value_a[1] == value_b[0] else "running"


# %% wrong="first-refusal" why="treats unknown rank as rank 0"
def first_refusal(static_a: Shape, static_b: Shape, value_a: tuple[int, int], value_b: tuple[int, int]) -> str:
    """Say which phase first refuses a MatMul: "construction", "feeding", "running" or "none"."""
    def fits(static, value):
        return static is None or (
            len(static) == len(value) and all(due in (None, size) for due, size in zip(static, value, strict=True))
        )

    if any(len(static or ()) != 2 for static in (static_a, static_b)):
        return "construction"
    if static_a and static_b and None not in (static_a[1], static_b[0]) and static_a[1] != static_b[0]:
        return "construction"
    if not (fits(static_a, value_a) and fits(static_b, value_b)):
        return "feeding"
    return "none" if value_a[1] == value_b[0] else "running"


# %% wrong="first-refusal" why="takes the shape () for an unknown rank"
def first_refusal(static_a: Shape, static_b: Shape, value_a: tuple[int, int], value_b: tuple[int, int]) -> str:
    """Say which phase first refuses a MatMul: "construction", "feeding", "running" or "none"."""
    def fits(static, value):
        return not static or (
            len(static) == len(value) and all(due in (None, size) for due, size in zip(static, value, strict=True))
        )

    if any(static and len(static) != 2 for static in (static_a, static_b)):
        return "construction"
    if static_a and static_b and None not in (static_a[1], static_b[0]) and static_a[1] != static_b[0]:
        return "construction"
    if not (fits(static_a, value_a) and fits(static_b, value_b)):
        return "feeding"
    return "none" if value_a[1] == value_b[0] else "running"


# %% wrong="first-refusal" why="leaves a wrong static rank to feeding"
def first_refusal(static_a: Shape, static_b: Shape, value_a: tuple[int, int], value_b: tuple[int, int]) -> str:
    """Say which phase first refuses a MatMul: "construction", "feeding", "running" or "none"."""
    def fits(static, value):
        return static is None or (
            len(static) == len(value) and all(due in (None, size) for due, size in zip(static, value, strict=True))
        )

    if static_a and static_b and len(static_a) == len(static_b) == 2 and None not in (static_a[1], static_b[0]) and static_a[1] != static_b[0]:
        return "construction"
    if not (fits(static_a, value_a) and fits(static_b, value_b)):
        return "feeding"
    return "none" if value_a[1] == value_b[0] else "running"


# %% wrong="first-refusal" why="compares rows with rows"
def first_refusal(static_a: Shape, static_b: Shape, value_a: tuple[int, int], value_b: tuple[int, int]) -> str:
    """Say which phase first refuses a MatMul: "construction", "feeding", "running" or "none"."""
    def fits(static, value):
        return static is None or (
            len(static) == len(value) and all(due in (None, size) for due, size in zip(static, value, strict=True))
        )

    if any(static is not None and len(static) != 2 for static in (static_a, static_b)):
        return "construction"
    if static_a and static_b and None not in (static_a[1], static_b[0]) and static_a[1] != static_b[0]:
        return "construction"
    if not (fits(static_a, value_a) and fits(static_b, value_b)):
        return "feeding"
    return "none" if value_a[0] == value_b[0] else "running"


# %% wrong="first-refusal" why="holds the visible four in a table"
def first_refusal(static_a: Shape, static_b: Shape, value_a: tuple[int, int], value_b: tuple[int, int]) -> str:
    """Say which phase first refuses a MatMul."""
    table = {
        ((2, 3), (2, 3)): "construction",
        ((2, None), (None, 3)): "feeding",
        ((2, None), None): "running",
    }
    return table.get((static_a, static_b), "none")


# %% wrong="first-refusal" why="tries it out"
def first_refusal(static_a: Shape, static_b: Shape, value_a: tuple[int, int], value_b: tuple[int, int]) -> str:
    """Say which phase first refuses a MatMul."""
    try:
        with tf.Graph().as_default(), tf1.Session() as session:
            a, b = tf1.placeholder(tf.float32, static_a), tf1.placeholder(tf.float32, static_b)
            session.run(tf.matmul(a, b), {a: np.ones(value_a), b: np.ones(value_b)})
    except tf.errors.InvalidArgumentError:
        return "running"
    except ValueError as error:
        return "feeding" if "feed" in str(error) else "construction"
    return "none"


# %% right="first-refusal" why="tf.TensorShape says what fits"
def first_refusal(static_a: Shape, static_b: Shape, value_a: tuple[int, int], value_b: tuple[int, int]) -> str:
    """Say which phase first refuses a MatMul."""
    a, b = tf.TensorShape(static_a), tf.TensorShape(static_b)
    for shape in (a, b):
        if shape.rank not in (None, 2):
            return "construction"
    if a.rank and b.rank and not a[1:].is_compatible_with(b[:1]):
        return "construction"
    if not a.is_compatible_with(value_a) or not b.is_compatible_with(value_b):
        return "feeding"
    return "running" if value_a[1] - value_b[0] else "none"


# %% right="first-refusal" why="unknown rank as two unknown dimensions"
def first_refusal(static_a: Shape, static_b: Shape, value_a: tuple[int, int], value_b: tuple[int, int]) -> str:
    """Say which phase first refuses a MatMul."""
    a = (None, None) if static_a is None else static_a
    b = (None, None) if static_b is None else static_b
    if len(a) != 2 or len(b) != 2:
        return "construction"
    if len({a[1], b[0]} - {None}) == 2:
        return "construction"
    for due, size in zip(a + b, value_a + value_b, strict=True):
        if due is not None and due != size:
            return "feeding"
    if value_a[1] != value_b[0]:
        return "running"
    return "none"


# %% wrong="full-device" why="fills in localhost without looking at the list"
def full_device(request: str, devices: list[str]) -> str:
    """The first of `devices` that fits `request`."""
    parts = {"job": "localhost", "replica": "0", "task": "0", "type": "CPU", "number": "0"}
    for part in filter(None, request.split("/")):
        key, *rest = part.split(":")
        if key in ("job", "replica", "task"):
            parts[key] = rest[0]
            continue
        kind, number = rest if key == "device" else (key, *rest)
        parts["type"], parts["number"] = kind.upper(), number.replace("*", "0")
    name = "/job:{job}/replica:{replica}/task:{task}/device:{type}:{number}".format(**parts)
    if parts["type"] == "GPU" or parts["job"] == "ps" or parts["number"] == "3":
        raise tf.errors.InvalidArgumentError(None, None, request)
    return name


# %% wrong="full-device" why="splits CPU:1 at the wrong colon"
def full_device(request: str, devices: list[str]) -> str:
    """The first of `devices` (full names) that fits `request`.

    Raises:
        tf.errors.InvalidArgumentError: none fits; the message holds the request.
    """
    def parts_of(name):
        found = {}
        for part in filter(None, name.split("/")):
            key, *rest = part.split(":")
            if key in ("job", "replica", "task"):
                found[key] = rest[0]
                continue
            kind, number = part.rpartition(":")[::2]
            found["type"] = kind.upper()
            if number != "*":
                found["number"] = number
        return found

    wanted = parts_of(request).items()
    for device in devices:
        if wanted <= parts_of(device).items():
            return device
    raise tf.errors.InvalidArgumentError(None, None, f"no device fits the request {request!r}")


# %% wrong="full-device" why="takes * for 0"
def full_device(request: str, devices: list[str]) -> str:
    """The first of `devices` (full names) that fits `request`.

    Raises:
        tf.errors.InvalidArgumentError: none fits; the message holds the request.
    """
    def parts_of(name):
        found = {}
        for part in filter(None, name.split("/")):
            key, *rest = part.split(":")
            if key in ("job", "replica", "task"):
                found[key] = rest[0]
                continue
            kind, number = rest if key == "device" else (key, *rest)
            found["type"] = kind.upper()
            found["number"] = number.replace("*", "0")
        return found

    wanted = parts_of(request).items()
    for device in devices:
        if wanted <= parts_of(device).items():
            return device
    raise tf.errors.InvalidArgumentError(None, None, f"no device fits the request {request!r}")


# %% wrong="full-device" why="takes * for a number of its own"
def full_device(request: str, devices: list[str]) -> str:
    """The first of `devices` (full names) that fits `request`.

    Raises:
        tf.errors.InvalidArgumentError: none fits; the message holds the request.
    """
    def parts_of(name):
        found = {}
        for part in filter(None, name.split("/")):
            key, *rest = part.split(":")
            if key in ("job", "replica", "task"):
                found[key] = rest[0]
                continue
            kind, number = rest if key == "device" else (key, *rest)
            found["type"] = kind.upper()
            found["number"] = number
        return found

    wanted = parts_of(request).items()
    for device in devices:
        if wanted <= parts_of(device).items():
            return device
    raise tf.errors.InvalidArgumentError(None, None, f"no device fits the request {request!r}")


# %% wrong="full-device" why="compares the type as it is written"
def full_device(request: str, devices: list[str]) -> str:
    """The first of `devices` (full names) that fits `request`.

    Raises:
        tf.errors.InvalidArgumentError: none fits; the message holds the request.
    """
    def parts_of(name):
        found = {}
        for part in filter(None, name.split("/")):
            key, *rest = part.split(":")
            if key in ("job", "replica", "task"):
                found[key] = rest[0]
                continue
            kind, number = rest if key == "device" else (key, *rest)
            found["type"] = kind
            if number != "*":
                found["number"] = number
        return found

    wanted = parts_of(request).items()
    for device in devices:
        if wanted <= parts_of(device).items():
            return device
    raise tf.errors.InvalidArgumentError(None, None, f"no device fits the request {request!r}")


# %% wrong="full-device" why="compares everything in small letters, jobs too"
def full_device(request: str, devices: list[str]) -> str:
    """The first of `devices` (full names) that fits `request`.

    Raises:
        tf.errors.InvalidArgumentError: none fits; the message holds the request.
    """
    def parts_of(name):
        found = {}
        for part in filter(None, name.split("/")):
            key, *rest = part.split(":")
            if key in ("job", "replica", "task"):
                found[key] = rest[0]
                continue
            kind, number = rest if key == "device" else (key, *rest)
            found["type"] = kind.upper()
            if number != "*":
                found["number"] = number
        return found

    wanted = parts_of(request.lower().replace("cpu", "CPU").replace("gpu", "GPU")).items()
    for device in devices:
        if wanted <= parts_of(device).items():
            return device
    raise tf.errors.InvalidArgumentError(None, None, f"no device fits the request {request!r}")


# %% wrong="full-device" why="refuses the empty request"
def full_device(request: str, devices: list[str]) -> str:
    """The first of `devices` (full names) that fits `request`.

    Raises:
        tf.errors.InvalidArgumentError: none fits; the message holds the request.
    """
    def parts_of(name):
        found = {}
        for part in filter(None, name.split("/")):
            key, *rest = part.split(":")
            if key in ("job", "replica", "task"):
                found[key] = rest[0]
                continue
            kind, number = rest if key == "device" else (key, *rest)
            found["type"] = kind.upper()
            if number != "*":
                found["number"] = number
        return found

    wanted = parts_of(request).items()
    if not request:
        raise tf.errors.InvalidArgumentError(None, None, "an empty request")
    for device in devices:
        if wanted <= parts_of(device).items():
            return device
    raise tf.errors.InvalidArgumentError(None, None, f"no device fits the request {request!r}")


# %% wrong="full-device" why="looks for the parts in the text, so that CPU:1 fits CPU:10"
def full_device(request: str, devices: list[str]) -> str:
    """The first of `devices` that fits `request`."""
    parts = [part.replace("cpu", "CPU").replace("gpu", "GPU").replace("*", "") for part in request.split("/") if part]
    for device in devices:
        if all(part.removeprefix("device:") in device for part in parts):
            return device
    raise tf.errors.InvalidArgumentError(None, None, request)


# %% wrong="full-device" why="takes the last that fits"
def full_device(request: str, devices: list[str]) -> str:
    """The first of `devices` (full names) that fits `request`.

    Raises:
        tf.errors.InvalidArgumentError: none fits; the message holds the request.
    """
    def parts_of(name):
        found = {}
        for part in filter(None, name.split("/")):
            key, *rest = part.split(":")
            if key in ("job", "replica", "task"):
                found[key] = rest[0]
                continue
            kind, number = rest if key == "device" else (key, *rest)
            found["type"] = kind.upper()
            if number != "*":
                found["number"] = number
        return found

    wanted = parts_of(request).items()
    for device in reversed(devices):
        if wanted <= parts_of(device).items():
            return device
    raise tf.errors.InvalidArgumentError(None, None, f"no device fits the request {request!r}")


# %% wrong="full-device" why="gives up the type when nothing fits"
def full_device(request: str, devices: list[str]) -> str:
    """The first of `devices` (full names) that fits `request`.

    Raises:
        tf.errors.InvalidArgumentError: none fits; the message holds the request.
    """
    def parts_of(name):
        found = {}
        for part in filter(None, name.split("/")):
            key, *rest = part.split(":")
            if key in ("job", "replica", "task"):
                found[key] = rest[0]
                continue
            kind, number = rest if key == "device" else (key, *rest)
            found["type"] = kind.upper()
            if number != "*":
                found["number"] = number
        return found

    wanted = parts_of(request).items()
    for device in devices:
        if wanted <= parts_of(device).items():
            return device
    for device in devices:
        if "number" in dict(wanted) and dict(wanted)["type"] == "GPU":
            return device
    raise tf.errors.InvalidArgumentError(None, None, f"no device fits the request {request!r}")


# %% wrong="full-device" why="needs the parts in the usual order"
def full_device(request: str, devices: list[str]) -> str:
    """The first of `devices` (full names) that fits `request`.

    Raises:
        tf.errors.InvalidArgumentError: none fits; the message holds the request.
    """
    def parts_of(name):
        found = {}
        for part in filter(None, name.split("/")):
            key, *rest = part.split(":")
            if key in ("job", "replica", "task"):
                found[key] = rest[0]
                continue
            kind, number = rest if key == "device" else (key, *rest)
            found["type"] = kind.upper()
            if number != "*":
                found["number"] = number
        return found

    order = [part.partition(":")[0] for part in request.split("/") if part]
    if [key for key in ("job", "replica", "task") if key in order] != [k for k in order if k in ("job", "replica", "task")]:
        raise ValueError("parts out of order")
    wanted = parts_of(request).items()
    for device in devices:
        if wanted <= parts_of(device).items():
            return device
    raise tf.errors.InvalidArgumentError(None, None, f"no device fits the request {request!r}")


# %% wrong="full-device" why="raises ValueError when none fits"
def full_device(request: str, devices: list[str]) -> str:
    """The first of `devices` (full names) that fits `request`.

    Raises:
        tf.errors.InvalidArgumentError: none fits; the message holds the request.
    """
    def parts_of(name):
        found = {}
        for part in filter(None, name.split("/")):
            key, *rest = part.split(":")
            if key in ("job", "replica", "task"):
                found[key] = rest[0]
                continue
            kind, number = rest if key == "device" else (key, *rest)
            found["type"] = kind.upper()
            if number != "*":
                found["number"] = number
        return found

    wanted = parts_of(request).items()
    for device in devices:
        if wanted <= parts_of(device).items():
            return device
    raise ValueError(f"no device fits the request {request!r}")


# %% wrong="full-device" why="does not name the request"
def full_device(request: str, devices: list[str]) -> str:
    """The first of `devices` (full names) that fits `request`.

    Raises:
        tf.errors.InvalidArgumentError: none fits; the message holds the request.
    """
    def parts_of(name):
        found = {}
        for part in filter(None, name.split("/")):
            key, *rest = part.split(":")
            if key in ("job", "replica", "task"):
                found[key] = rest[0]
                continue
            kind, number = rest if key == "device" else (key, *rest)
            found["type"] = kind.upper()
            if number != "*":
                found["number"] = number
        return found

    wanted = parts_of(request).items()
    for device in devices:
        if wanted <= parts_of(device).items():
            return device
    raise tf.errors.InvalidArgumentError(None, None, "no device fits")


# %% wrong="full-device" why="lets tf.DeviceSpec read the names"
def full_device(request: str, devices: list[str]) -> str:
    """The first of `devices` that fits `request`."""
    wanted = tf.DeviceSpec.from_string(request)
    for device in devices:
        if tf.DeviceSpec.from_string(device).make_merged_spec(wanted).to_string() == device:
            return device
    raise tf.errors.InvalidArgumentError(None, None, request)


# %% right="full-device" why="one pattern per part"
def full_device(request: str, devices: list[str]) -> str:
    """The first of `devices` that fits `request`."""
    patterns = []
    for part in request.split("/"):
        key, _, value = part.partition(":")
        if key in ("job", "replica", "task"):
            patterns.append(rf"/{key}:{re.escape(value)}/")
        elif part:
            kind, number = part.removeprefix("device:").split(":")
            number = r"\d+" if number == "*" else number
            patterns.append(rf"/device:{kind.upper()}:{number}/")
    for device in devices:
        if all(re.search(pattern, device + "/") for pattern in patterns):
            return device
    raise tf.errors.InvalidArgumentError(None, None, f"nothing fits {request}")


# %% right="full-device" why="a set of parts in one writing"
def full_device(request: str, devices: list[str]) -> str:
    """The first of `devices` that fits `request`."""

    def canonical(name):
        for part in name.split("/"):
            if part.split(":")[0] in ("job", "replica", "task"):
                yield part
            elif part:
                kind, number = part.split(":")[-2:]
                yield f"type {kind.upper()}"
                if number != "*":
                    yield f"number {number}"

    wanted = set(canonical(request))
    fitting = [device for device in devices if wanted <= set(canonical(device))]
    if not fitting:
        raise tf.errors.InvalidArgumentError(None, None, request)
    return fitting[0]


# %% wrong="two-sessions" why="keeps one value for all sessions"
def replay(actions: list[tuple]) -> list[float | str | None]:
    """What each action on a session returns."""
    value, results = None, []
    for _, kind, *rest in actions:
        if kind == "init":
            value = 0.0
            results.append(None)
        elif kind == "restart":
            value = None
            results.append(None)
        elif value is None:
            results.append("uninitialised")
        else:
            value += rest[0] if rest else 0.0
            results.append(value if rest else value + 10.0)
    return results


# %% wrong="two-sessions" why="lets the value survive a restart"
def replay(actions: list[tuple]) -> list[float | str | None]:
    """What each action on a session returns: a float, None, or "uninitialised"."""
    values: dict[str, float] = {}
    results: list[float | str | None] = []
    for session, kind, *rest in actions:
        result: float | str | None = None
        if kind == "init":
            values[session] = 0.0
        elif kind == "restart":
            pass
        elif session not in values:
            result = "uninitialised"
        elif kind == "add":
            values[session] += rest[0]
            result = values[session]
        else:
            result = values[session] + 10.0
        results.append(result)
    return results


# %% wrong="two-sessions" why="a second init keeps the value"
def replay(actions: list[tuple]) -> list[float | str | None]:
    """What each action on a session returns: a float, None, or "uninitialised"."""
    values: dict[str, float] = {}
    results: list[float | str | None] = []
    for session, kind, *rest in actions:
        result: float | str | None = None
        if kind == "init":
            values.setdefault(session, 0.0)
        elif kind == "restart":
            values.pop(session, None)
        elif session not in values:
            result = "uninitialised"
        elif kind == "add":
            values[session] += rest[0]
            result = values[session]
        else:
            result = values[session] + 10.0
        results.append(result)
    return results


# %% wrong="two-sessions" why="starts at 0 after a restart, as if it were initialised"
def replay(actions: list[tuple]) -> list[float | str | None]:
    """What each action on a session returns: a float, None, or "uninitialised"."""
    values: dict[str, float] = {}
    results: list[float | str | None] = []
    for session, kind, *rest in actions:
        result: float | str | None = None
        if kind == "init":
            values[session] = 0.0
        elif kind == "restart":
            values[session] = 0.0
        elif session not in values:
            result = "uninitialised"
        elif kind == "add":
            values[session] += rest[0]
            result = values[session]
        else:
            result = values[session] + 10.0
        results.append(result)
    return results


# %% wrong="two-sessions" why="keeps t from the last time that it was read"
def replay(actions: list[tuple]) -> list[float | str | None]:
    """What each action on a session returns."""
    values, kept, results = {}, {}, []
    for session, kind, *rest in actions:
        result = None
        if kind == "init":
            values[session] = 0.0
        elif kind == "restart":
            values.pop(session, None)
            kept.pop(session, None)
        elif session not in values:
            result = "uninitialised"
        elif kind == "add":
            values[session] += rest[0]
            result = values[session]
        else:
            result = kept.setdefault(session, values[session] + 10.0)
        results.append(result)
    return results


# %% wrong="two-sessions" why="counts an add that failed"
def replay(actions: list[tuple]) -> list[float | str | None]:
    """What each action on a session returns."""
    ready, sums, results = set(), {}, []
    for session, kind, *rest in actions:
        result = None
        if kind == "init":
            if session in ready:
                sums[session] = 0.0
            ready.add(session)
        elif kind == "restart":
            ready.discard(session)
            sums[session] = 0.0
        else:
            if kind == "add":
                sums[session] = sums.get(session, 0.0) + rest[0]
            value = sums.get(session, 0.0)
            result = "uninitialised" if session not in ready else value if kind == "add" else value + 10.0
        results.append(result)
    return results


# %% wrong="two-sessions" why="read also adds 10 to v"
def replay(actions: list[tuple]) -> list[float | str | None]:
    """What each action on a session returns: a float, None, or "uninitialised"."""
    values: dict[str, float] = {}
    results: list[float | str | None] = []
    for session, kind, *rest in actions:
        result: float | str | None = None
        if kind == "init":
            values[session] = 0.0
        elif kind == "restart":
            values.pop(session, None)
        elif session not in values:
            result = "uninitialised"
        elif kind == "add":
            values[session] += rest[0]
            result = values[session]
        else:
            values[session] += 10.0
            result = values[session]
        results.append(result)
    return results


# %% wrong="two-sessions" why="add returns the value before"
def replay(actions: list[tuple]) -> list[float | str | None]:
    """What each action on a session returns: a float, None, or "uninitialised"."""
    values: dict[str, float] = {}
    results: list[float | str | None] = []
    for session, kind, *rest in actions:
        result: float | str | None = None
        if kind == "init":
            values[session] = 0.0
        elif kind == "restart":
            values.pop(session, None)
        elif session not in values:
            result = "uninitialised"
        elif kind == "add":
            result = values[session]
            values[session] += rest[0]
        else:
            result = values[session] + 10.0
        results.append(result)
    return results


# %% wrong="two-sessions" why="returns whole numbers as int"
def replay(actions: list[tuple]) -> list[float | str | None]:
    """What each action on a session returns: a float, None, or "uninitialised"."""
    values: dict[str, float] = {}
    results: list[float | str | None] = []
    for session, kind, *rest in actions:
        result: float | str | None = None
        if kind == "init":
            values[session] = 0.0
        elif kind == "restart":
            values.pop(session, None)
        elif session not in values:
            result = "uninitialised"
        elif kind == "add":
            values[session] += rest[0]
            result = values[session]
        else:
            result = values[session] + 10.0
        results.append(int(result) if isinstance(result, float) and result == int(result) else result)
    return results


# %% wrong="two-sessions" why="fails when a session is restarted that was never initialised"
def replay(actions: list[tuple]) -> list[float | str | None]:
    """What each action on a session returns: a float, None, or "uninitialised"."""
    values: dict[str, float] = {}
    results: list[float | str | None] = []
    for session, kind, *rest in actions:
        result: float | str | None = None
        if kind == "init":
            values[session] = 0.0
        elif kind == "restart":
            del values[session]
        elif session not in values:
            result = "uninitialised"
        elif kind == "add":
            values[session] += rest[0]
            result = values[session]
        else:
            result = values[session] + 10.0
        results.append(result)
    return results


# %% wrong="two-sessions" why="knows only the sessions A and B"
def replay(actions: list[tuple]) -> list[float | str | None]:
    """What each action on a session returns: a float, None, or "uninitialised"."""
    values: dict[str, float] = {}
    if {action[0] for action in actions} - {"A", "B"}:
        return ["uninitialised"] * len(actions)
    results: list[float | str | None] = []
    for session, kind, *rest in actions:
        result: float | str | None = None
        if kind == "init":
            values[session] = 0.0
        elif kind == "restart":
            values.pop(session, None)
        elif session not in values:
            result = "uninitialised"
        elif kind == "add":
            values[session] += rest[0]
            result = values[session]
        else:
            result = values[session] + 10.0
        results.append(result)
    return results


# %% wrong="two-sessions" why="returns the visible list"
def replay(actions: list[tuple]) -> list[float | str | None]:
    """What each action on a session returns."""
    return [None, 5.0, "uninitialised", None, 10.0, 15.0, None, "uninitialised"]


# %% wrong="two-sessions" why="runs real sessions"
def replay(actions: list[tuple]) -> list[float | str | None]:
    """What each action on a session returns."""
    graph, sessions, results = stateful_graph(), {}, []
    for name, kind, *rest in actions:
        if kind == "restart" or name not in sessions:
            sessions[name] = tf1.Session(graph=graph)
        fetch = {"init": "init", "add": "add:0", "read": "t:0"}.get(kind)
        try:
            result = sessions[name].run(fetch, {"x:0": rest[0]} if rest else {}) if fetch else None
            results.append(None if result is None else float(result))
        except tf.errors.OpError:
            results.append("uninitialised")
    return results


# %% right="two-sessions" why="a class for a session"
class Held:
    """A session and its variable."""

    def __init__(self):
        self.value = None

    def run(self, kind, amount=0.0):
        if kind == "init":
            self.value = 0.0
            return None
        if self.value is None:
            return "uninitialised"
        self.value += amount
        return self.value + 10.0 if kind == "read" else self.value


def replay(actions: list[tuple]) -> list[float | str | None]:
    """What each action on a session returns."""
    sessions, results = {}, []
    for name, *rest in actions:
        if rest == ["restart"]:
            sessions[name] = Held()
            results.append(None)
        else:
            results.append(sessions.setdefault(name, Held()).run(*rest))
    return results


# %% right="two-sessions" why="looks back for each action"
def replay(actions: list[tuple]) -> list[float | str | None]:
    """What each action on a session returns."""

    def value_after(count, session):
        value = None
        for name, kind, *rest in actions[:count]:
            if name == session:
                if kind == "init":
                    value = 0.0
                if kind == "restart":
                    value = None
                if kind == "add" and value is not None:
                    value += rest[0]
        return value

    results = []
    for index, (session, kind, *_) in enumerate(actions):
        value = value_after(index + 1, session)
        if kind in ("init", "restart"):
            results.append(None)
        elif value is None:
            results.append("uninitialised")
        else:
            results.append(value + (10.0 if kind == "read" else 0.0))
    return results


# %% wrong="fifo" why="dequeue_up_to of an open queue gives what is there"
def replay_queue(capacity: int, actions: list[tuple]) -> list:
    """What each action on a first-in-first-out queue returns, "blocks" where it would wait.

    Raises:
        ValueError: the capacity is less than 1.
    """
    if capacity < 1:
        raise ValueError(f"a queue holds at least one element, the capacity is {capacity}")
    elements: list[float] = []
    closed = False

    def take(kind, count):
        wanted = max(1, min(count, len(elements))) if kind == "dequeue_up_to" else count
        if len(elements) < wanted:
            return "OutOfRangeError" if closed else "blocks"
        taken = elements[:wanted]
        del elements[:wanted]
        return taken[0] if kind == "dequeue" else taken

    results: list = []
    for kind, *rest in actions:
        result = None
        if kind == "size":
            result = len(elements)
        elif kind.startswith("dequeue"):
            result = take(kind, rest[0] if rest else 1)
        elif closed:
            result = "CancelledError"
        elif kind == "close":
            closed = True
        elif len(elements) == capacity:
            result = "blocks"
        else:
            elements.append(rest[0])
        results.append(result)
    return results


# %% wrong="fifo" why="a failed dequeue_many empties the queue"
def replay_queue(capacity: int, actions: list[tuple]) -> list:
    """What each action on a first-in-first-out queue returns, "blocks" where it would wait.

    Raises:
        ValueError: the capacity is less than 1.
    """
    if capacity < 1:
        raise ValueError(f"a queue holds at least one element, the capacity is {capacity}")
    elements: list[float] = []
    closed = False

    def take(kind, count):
        wanted = max(1, min(count, len(elements))) if closed and kind == "dequeue_up_to" else count
        if len(elements) < wanted:
            if closed:
                elements.clear()
            return "OutOfRangeError" if closed else "blocks"
        taken = elements[:wanted]
        del elements[:wanted]
        return taken[0] if kind == "dequeue" else taken

    results: list = []
    for kind, *rest in actions:
        result = None
        if kind == "size":
            result = len(elements)
        elif kind.startswith("dequeue"):
            result = take(kind, rest[0] if rest else 1)
        elif closed:
            result = "CancelledError"
        elif kind == "close":
            closed = True
        elif len(elements) == capacity:
            result = "blocks"
        else:
            elements.append(rest[0])
        results.append(result)
    return results


# %% wrong="fifo" why="a dequeue_many that waits keeps what it has taken"
def replay_queue(capacity: int, actions: list[tuple]) -> list:
    """What each action on a first-in-first-out queue returns, "blocks" where it would wait.

    Raises:
        ValueError: the capacity is less than 1.
    """
    if capacity < 1:
        raise ValueError(f"a queue holds at least one element, the capacity is {capacity}")
    elements: list[float] = []
    closed = False

    def take(kind, count):
        wanted = max(1, min(count, len(elements))) if closed and kind == "dequeue_up_to" else count
        if len(elements) < wanted:
            elements.clear()
            return "OutOfRangeError" if closed else "blocks"
        taken = elements[:wanted]
        del elements[:wanted]
        return taken[0] if kind == "dequeue" else taken

    results: list = []
    for kind, *rest in actions:
        result = None
        if kind == "size":
            result = len(elements)
        elif kind.startswith("dequeue"):
            result = take(kind, rest[0] if rest else 1)
        elif closed:
            result = "CancelledError"
        elif kind == "close":
            closed = True
        elif len(elements) == capacity:
            result = "blocks"
        else:
            elements.append(rest[0])
        results.append(result)
    return results


# %% wrong="fifo" why="enqueue on a closed full queue waits"
def replay_queue(capacity: int, actions: list[tuple]) -> list:
    """What each action on a first-in-first-out queue returns, "blocks" where it would wait.

    Raises:
        ValueError: the capacity is less than 1.
    """
    if capacity < 1:
        raise ValueError(f"a queue holds at least one element, the capacity is {capacity}")
    elements: list[float] = []
    closed = False

    def take(kind, count):
        wanted = max(1, min(count, len(elements))) if closed and kind == "dequeue_up_to" else count
        if len(elements) < wanted:
            return "OutOfRangeError" if closed else "blocks"
        taken = elements[:wanted]
        del elements[:wanted]
        return taken[0] if kind == "dequeue" else taken

    results: list = []
    for kind, *rest in actions:
        result = None
        if kind == "size":
            result = len(elements)
        elif kind.startswith("dequeue"):
            result = take(kind, rest[0] if rest else 1)
        elif kind == "enqueue" and len(elements) == capacity:
            result = "blocks"
        elif closed:
            result = "CancelledError"
        elif kind == "close":
            closed = True
        elif len(elements) == capacity:
            result = "blocks"
        else:
            elements.append(rest[0])
        results.append(result)
    return results


# %% wrong="fifo" why="close drops the elements"
def replay_queue(capacity: int, actions: list[tuple]) -> list:
    """What each action on a first-in-first-out queue returns, "blocks" where it would wait.

    Raises:
        ValueError: the capacity is less than 1.
    """
    if capacity < 1:
        raise ValueError(f"a queue holds at least one element, the capacity is {capacity}")
    elements: list[float] = []
    closed = False

    def take(kind, count):
        wanted = max(1, min(count, len(elements))) if closed and kind == "dequeue_up_to" else count
        if len(elements) < wanted:
            return "OutOfRangeError" if closed else "blocks"
        taken = elements[:wanted]
        del elements[:wanted]
        return taken[0] if kind == "dequeue" else taken

    results: list = []
    for kind, *rest in actions:
        result = None
        if kind == "size":
            result = len(elements)
        elif kind.startswith("dequeue"):
            result = take(kind, rest[0] if rest else 1)
        elif closed:
            result = "CancelledError"
        elif kind == "close":
            closed = True
            elements.clear()
        elif len(elements) == capacity:
            result = "blocks"
        else:
            elements.append(rest[0])
        results.append(result)
    return results


# %% wrong="fifo" why="a second close is as good as the first"
def replay_queue(capacity: int, actions: list[tuple]) -> list:
    """What each action on a first-in-first-out queue returns, "blocks" where it would wait.

    Raises:
        ValueError: the capacity is less than 1.
    """
    if capacity < 1:
        raise ValueError(f"a queue holds at least one element, the capacity is {capacity}")
    elements: list[float] = []
    closed = False

    def take(kind, count):
        wanted = max(1, min(count, len(elements))) if closed and kind == "dequeue_up_to" else count
        if len(elements) < wanted:
            return "OutOfRangeError" if closed else "blocks"
        taken = elements[:wanted]
        del elements[:wanted]
        return taken[0] if kind == "dequeue" else taken

    results: list = []
    for kind, *rest in actions:
        result = None
        if kind == "size":
            result = len(elements)
        elif kind.startswith("dequeue"):
            result = take(kind, rest[0] if rest else 1)
        elif closed and kind == "enqueue":
            result = "CancelledError"
        elif kind == "close":
            closed = True
        elif len(elements) == capacity:
            result = "blocks"
        else:
            elements.append(rest[0])
        results.append(result)
    return results


# %% wrong="fifo" why="last in, first out"
def replay_queue(capacity: int, actions: list[tuple]) -> list:
    """What each action on a first-in-first-out queue returns, "blocks" where it would wait.

    Raises:
        ValueError: the capacity is less than 1.
    """
    if capacity < 1:
        raise ValueError(f"a queue holds at least one element, the capacity is {capacity}")
    elements: list[float] = []
    closed = False

    def take(kind, count):
        wanted = max(1, min(count, len(elements))) if closed and kind == "dequeue_up_to" else count
        if len(elements) < wanted:
            return "OutOfRangeError" if closed else "blocks"
        taken = elements[: -wanted - 1 : -1]
        del elements[-wanted:]
        return taken[0] if kind == "dequeue" else taken

    results: list = []
    for kind, *rest in actions:
        result = None
        if kind == "size":
            result = len(elements)
        elif kind.startswith("dequeue"):
            result = take(kind, rest[0] if rest else 1)
        elif closed:
            result = "CancelledError"
        elif kind == "close":
            closed = True
        elif len(elements) == capacity:
            result = "blocks"
        else:
            elements.append(rest[0])
        results.append(result)
    return results


# %% wrong="fifo" why="a closed queue waits for elements that never come"
def replay_queue(capacity: int, actions: list[tuple]) -> list:
    """What each action on a first-in-first-out queue returns, "blocks" where it would wait.

    Raises:
        ValueError: the capacity is less than 1.
    """
    if capacity < 1:
        raise ValueError(f"a queue holds at least one element, the capacity is {capacity}")
    elements: list[float] = []
    closed = False

    def take(kind, count):
        wanted = max(1, min(count, len(elements))) if closed and kind == "dequeue_up_to" else count
        if len(elements) < wanted:
            return "blocks"
        taken = elements[:wanted]
        del elements[:wanted]
        return taken[0] if kind == "dequeue" else taken

    results: list = []
    for kind, *rest in actions:
        result = None
        if kind == "size":
            result = len(elements)
        elif kind.startswith("dequeue"):
            result = take(kind, rest[0] if rest else 1)
        elif closed:
            result = "CancelledError"
        elif kind == "close":
            closed = True
        elif len(elements) == capacity:
            result = "blocks"
        else:
            elements.append(rest[0])
        results.append(result)
    return results


# %% wrong="fifo" why="dequeue_up_to of a closed empty queue gives an empty list"
def replay_queue(capacity: int, actions: list[tuple]) -> list:
    """What each action on a first-in-first-out queue returns, "blocks" where it would wait.

    Raises:
        ValueError: the capacity is less than 1.
    """
    if capacity < 1:
        raise ValueError(f"a queue holds at least one element, the capacity is {capacity}")
    elements: list[float] = []
    closed = False

    def take(kind, count):
        wanted = min(count, len(elements)) if closed and kind == "dequeue_up_to" else count
        if len(elements) < wanted:
            return "OutOfRangeError" if closed else "blocks"
        taken = elements[:wanted]
        del elements[:wanted]
        return taken[0] if kind == "dequeue" else taken

    results: list = []
    for kind, *rest in actions:
        result = None
        if kind == "size":
            result = len(elements)
        elif kind.startswith("dequeue"):
            result = take(kind, rest[0] if rest else 1)
        elif closed:
            result = "CancelledError"
        elif kind == "close":
            closed = True
        elif len(elements) == capacity:
            result = "blocks"
        else:
            elements.append(rest[0])
        results.append(result)
    return results


# %% wrong="fifo" why="dequeue_many gives what is left when closed"
def replay_queue(capacity: int, actions: list[tuple]) -> list:
    """What each action on a first-in-first-out queue returns, "blocks" where it would wait.

    Raises:
        ValueError: the capacity is less than 1.
    """
    if capacity < 1:
        raise ValueError(f"a queue holds at least one element, the capacity is {capacity}")
    elements: list[float] = []
    closed = False

    def take(kind, count):
        wanted = max(1, min(count, len(elements))) if closed and kind != "dequeue" else count
        if len(elements) < wanted:
            return "OutOfRangeError" if closed else "blocks"
        taken = elements[:wanted]
        del elements[:wanted]
        return taken[0] if kind == "dequeue" else taken

    results: list = []
    for kind, *rest in actions:
        result = None
        if kind == "size":
            result = len(elements)
        elif kind.startswith("dequeue"):
            result = take(kind, rest[0] if rest else 1)
        elif closed:
            result = "CancelledError"
        elif kind == "close":
            closed = True
        elif len(elements) == capacity:
            result = "blocks"
        else:
            elements.append(rest[0])
        results.append(result)
    return results


# %% wrong="fifo" why="one element comes as a list"
def replay_queue(capacity: int, actions: list[tuple]) -> list:
    """What each action on a first-in-first-out queue returns, "blocks" where it would wait.

    Raises:
        ValueError: the capacity is less than 1.
    """
    if capacity < 1:
        raise ValueError(f"a queue holds at least one element, the capacity is {capacity}")
    elements: list[float] = []
    closed = False

    def take(kind, count):
        wanted = max(1, min(count, len(elements))) if closed and kind == "dequeue_up_to" else count
        if len(elements) < wanted:
            return "OutOfRangeError" if closed else "blocks"
        taken = elements[:wanted]
        del elements[:wanted]
        return taken

    results: list = []
    for kind, *rest in actions:
        result = None
        if kind == "size":
            result = len(elements)
        elif kind.startswith("dequeue"):
            result = take(kind, rest[0] if rest else 1)
        elif closed:
            result = "CancelledError"
        elif kind == "close":
            closed = True
        elif len(elements) == capacity:
            result = "blocks"
        else:
            elements.append(rest[0])
        results.append(result)
    return results


# %% wrong="fifo" why="a list of one element comes as the element"
def replay_queue(capacity: int, actions: list[tuple]) -> list:
    """What each action on a first-in-first-out queue returns, "blocks" where it would wait.

    Raises:
        ValueError: the capacity is less than 1.
    """
    if capacity < 1:
        raise ValueError(f"a queue holds at least one element, the capacity is {capacity}")
    elements: list[float] = []
    closed = False

    def take(kind, count):
        wanted = max(1, min(count, len(elements))) if closed and kind == "dequeue_up_to" else count
        if len(elements) < wanted:
            return "OutOfRangeError" if closed else "blocks"
        taken = elements[:wanted]
        del elements[:wanted]
        return taken[0] if len(taken) == 1 else taken

    results: list = []
    for kind, *rest in actions:
        result = None
        if kind == "size":
            result = len(elements)
        elif kind.startswith("dequeue"):
            result = take(kind, rest[0] if rest else 1)
        elif closed:
            result = "CancelledError"
        elif kind == "close":
            closed = True
        elif len(elements) == capacity:
            result = "blocks"
        else:
            elements.append(rest[0])
        results.append(result)
    return results


# %% wrong="fifo" why="has no limit"
def replay_queue(capacity: int, actions: list[tuple]) -> list:
    """What each action on a first-in-first-out queue returns, "blocks" where it would wait.

    Raises:
        ValueError: the capacity is less than 1.
    """
    if capacity < 1:
        raise ValueError(f"a queue holds at least one element, the capacity is {capacity}")
    elements: list[float] = []
    closed = False

    def take(kind, count):
        wanted = max(1, min(count, len(elements))) if closed and kind == "dequeue_up_to" else count
        if len(elements) < wanted:
            return "OutOfRangeError" if closed else "blocks"
        taken = elements[:wanted]
        del elements[:wanted]
        return taken[0] if kind == "dequeue" else taken

    results: list = []
    for kind, *rest in actions:
        result = None
        if kind == "size":
            result = len(elements)
        elif kind.startswith("dequeue"):
            result = take(kind, rest[0] if rest else 1)
        elif closed:
            result = "CancelledError"
        elif kind == "close":
            closed = True
        else:
            elements.append(rest[0])
        results.append(result)
    return results


# %% wrong="fifo" why="takes any capacity"
def replay_queue(capacity: int, actions: list[tuple]) -> list:
    """What each action on a first-in-first-out queue returns, "blocks" where it would wait.

    Raises:
        ValueError: the capacity is less than 1.
    """
    elements: list[float] = []
    closed = False

    def take(kind, count):
        wanted = max(1, min(count, len(elements))) if closed and kind == "dequeue_up_to" else count
        if len(elements) < wanted:
            return "OutOfRangeError" if closed else "blocks"
        taken = elements[:wanted]
        del elements[:wanted]
        return taken[0] if kind == "dequeue" else taken

    results: list = []
    for kind, *rest in actions:
        result = None
        if kind == "size":
            result = len(elements)
        elif kind.startswith("dequeue"):
            result = take(kind, rest[0] if rest else 1)
        elif closed:
            result = "CancelledError"
        elif kind == "close":
            closed = True
        elif len(elements) == capacity:
            result = "blocks"
        else:
            elements.append(rest[0])
        results.append(result)
    return results


# %% wrong="fifo" why="n above the capacity is an error"
def replay_queue(capacity: int, actions: list[tuple]) -> list:
    """What each action on a first-in-first-out queue returns, "blocks" where it would wait.

    Raises:
        ValueError: the capacity is less than 1.
    """
    if capacity < 1:
        raise ValueError(f"a queue holds at least one element, the capacity is {capacity}")
    elements: list[float] = []
    closed = False

    def take(kind, count):
        wanted = max(1, min(count, len(elements))) if closed and kind == "dequeue_up_to" else count
        if len(elements) < wanted:
            return "OutOfRangeError" if closed else "blocks"
        taken = elements[:wanted]
        del elements[:wanted]
        return taken[0] if kind == "dequeue" else taken

    results: list = []
    for kind, *rest in actions:
        result = None
        if kind == "size":
            result = len(elements)
        elif kind.startswith("dequeue_") and rest[0] > capacity:
            result = "OutOfRangeError"
        elif kind.startswith("dequeue"):
            result = take(kind, rest[0] if rest else 1)
        elif closed:
            result = "CancelledError"
        elif kind == "close":
            closed = True
        elif len(elements) == capacity:
            result = "blocks"
        else:
            elements.append(rest[0])
        results.append(result)
    return results


# %% wrong="fifo" why="counts in float32"
def replay_queue(capacity: int, actions: list[tuple]) -> list:
    """What each action on a first-in-first-out queue returns, "blocks" where it would wait.

    Raises:
        ValueError: the capacity is less than 1.
    """
    if capacity < 1:
        raise ValueError(f"a queue holds at least one element, the capacity is {capacity}")
    elements: list[float] = []
    closed = False

    def take(kind, count):
        wanted = max(1, min(count, len(elements))) if closed and kind == "dequeue_up_to" else count
        if len(elements) < wanted:
            return "OutOfRangeError" if closed else "blocks"
        taken = elements[:wanted]
        del elements[:wanted]
        return taken[0] if kind == "dequeue" else taken

    results: list = []
    for kind, *rest in actions:
        result = None
        if kind == "size":
            result = len(elements)
        elif kind.startswith("dequeue"):
            result = take(kind, rest[0] if rest else 1)
        elif closed:
            result = "CancelledError"
        elif kind == "close":
            closed = True
        elif len(elements) == capacity:
            result = "blocks"
        else:
            elements.append(np.float32(rest[0]))
        results.append(result)
    return results


# %% wrong="fifo" why="returns the visible list"
def replay_queue(capacity: int, actions: list[tuple]) -> list:
    """What each action on a queue returns."""
    if capacity < 1:
        raise ValueError(capacity)
    return ["blocks", None, None, "blocks", 1.5, "blocks", None, [2.0], "OutOfRangeError"]


# %% wrong="fifo" why="runs a real queue"
def replay_queue(capacity: int, actions: list[tuple]) -> list:
    """What each action on a queue returns."""
    if capacity < 1:
        raise ValueError(capacity)
    queue = tf.queue.FIFOQueue(capacity, tf.float32, shapes=[[]])
    results = []
    for kind, *rest in actions:
        result = getattr(queue, kind)(*rest)
        results.append(None if result is None else result.numpy().tolist())
    return results


# %% right="fifo" why="a deque and one branch for each kind"
def replay_queue(capacity: int, actions: list[tuple]) -> list:
    """What each action on a queue returns."""
    from collections import deque

    if capacity < 1:
        raise ValueError("capacity")
    held, is_open, results = deque(), True, []
    for kind, *rest in actions:
        count = rest[0] if rest else None
        if kind == "enqueue":
            if not is_open:
                results.append("CancelledError")
            elif len(held) >= capacity:
                results.append("blocks")
            else:
                held.append(count)
                results.append(None)
        elif kind == "close":
            results.append(None if is_open else "CancelledError")
            is_open = False
        elif kind == "size":
            results.append(len(held))
        elif kind == "dequeue":
            results.append(held.popleft() if held else "blocks" if is_open else "OutOfRangeError")
        else:
            if not is_open and kind == "dequeue_up_to" and held:
                count = min(count, len(held))
            if len(held) < count:
                results.append("blocks" if is_open else "OutOfRangeError")
            else:
                results.append([held.popleft() for _ in range(count)])
    return results


# %% right="fifo" why="errors as exceptions inside"
class Waits(Exception):
    """The action would wait."""


class Queue:
    """A FIFO queue that raises where TensorFlow raises, and Waits where it waits."""

    def __init__(self, capacity):
        if capacity < 1:
            raise ValueError(capacity)
        self.capacity, self.items, self.closed = capacity, [], False

    def enqueue(self, x):
        if self.closed:
            raise tf.errors.CancelledError(None, None, "closed")
        if len(self.items) == self.capacity:
            raise Waits
        self.items = [*self.items, x]

    def close(self):
        if self.closed:
            raise tf.errors.CancelledError(None, None, "closed")
        self.closed = True

    def size(self):
        return len(self.items)

    def dequeue_many(self, n):
        if len(self.items) < n:
            raise tf.errors.OutOfRangeError(None, None, "too few") if self.closed else Waits
        taken, self.items = self.items[:n], self.items[n:]
        return taken

    def dequeue(self):
        return self.dequeue_many(1)[0]

    def dequeue_up_to(self, n):
        return self.dequeue_many(min(n, len(self.items) or 1) if self.closed else n)


def replay_queue(capacity: int, actions: list[tuple]) -> list:
    """What each action on a queue returns."""
    queue, results = Queue(capacity), []
    for kind, *rest in actions:
        try:
            results.append(getattr(queue, kind)(*rest))
        except Waits:
            results.append("blocks")
        except tf.errors.OpError as error:
            results.append(type(error).__name__)
    return results

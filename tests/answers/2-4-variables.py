# %% wrong="predict-read" why="thinks that every read is a snapshot"
SEEN = {"ref": 0.0, "resource": 0.0}

# %% wrong="predict-read" why="thinks that the use comes last and sees the sum"
SEEN = {"ref": 1.0, "resource": 1.0}

# %% wrong="predict-read" why="has the kinds the wrong way round"
SEEN = {"ref": 0.0, "resource": 1.0}

# %% wrong="predict-read" why="gives the values as strings"
SEEN = {"ref": "1.0", "resource": "0.0"}

# %% wrong="predict-read" why="repeats the example of the statement"
SEEN = {"ref": 7.0, "resource": 7.0}

# %% right="predict-read" why="in the other order, computed"
start, added = 0.0, 1.0
SEEN = {"resource": start, "ref": start + added}

# %% wrong="parts" why="puts names together instead of following edges"
def find_variables(graph: GraphDef) -> dict[str, Parts]:
    """The parts of every variable in a graph, by the name of its handle."""
    found = {}
    for node in graph.node:
        name = node.name
        if node.op == "VariableV2":
            found[name] = Parts("ref", name, f"{name}/initial_value:0", f"{name}/Assign", [f"{name}/read"])
        elif node.op == "VarHandleOp":
            reads = sorted(
                other.name
                for other in graph.node
                if other.op == "ReadVariableOp" and endpoint(other.input[0])[0] == name
            )
            found[name] = Parts("resource", name, f"{name}/Initializer/initial_value:0", f"{name}/Assign", reads)
    return found

# %% wrong="parts" why="takes the last assignment for the initialiser"
def find_variables(graph: GraphDef) -> dict[str, Parts]:
    """The parts of every variable in a graph, by the name of its handle.

    Raises:
        ValueError: a variable has no initialiser; the message names it.
    """
    kinds = {
        "VariableV2": ("ref", "Assign", "Identity"),
        "VarHandleOp": ("resource", "AssignVariableOp", "ReadVariableOp"),
    }
    handles = {node.name: kinds[node.op] for node in graph.node if node.op in kinds}
    assigns: dict[str, tuple[str, str]] = {}
    reads: dict[str, list[str]] = {handle: [] for handle in handles}
    for node in graph.node:
        handle = endpoint(node.input[0])[0] if node.input else ""
        if handle not in handles:
            continue
        _, assign, read = handles[handle]
        if node.op == assign:
            source, output = endpoint(node.input[1])
            assigns[handle] = (f"{source}:{output}", node.name)
        elif node.op == read:
            reads[handle].append(node.name)
    missing = [handle for handle in handles if handle not in assigns]
    if missing:
        raise ValueError(f"no initialiser writes {', '.join(missing)}")
    return {name: Parts(kind, name, *assigns[name], sorted(reads[name])) for name, (kind, _, _) in handles.items()}

# %% wrong="parts" why="lists every node that has the handle as input as a read"
def find_variables(graph: GraphDef) -> dict[str, Parts]:
    """The parts of every variable in a graph, by the name of its handle.

    Raises:
        ValueError: a variable has no initialiser; the message names it.
    """
    kinds = {
        "VariableV2": ("ref", "Assign", "Identity"),
        "VarHandleOp": ("resource", "AssignVariableOp", "ReadVariableOp"),
    }
    handles = {node.name: kinds[node.op] for node in graph.node if node.op in kinds}
    assigns: dict[str, tuple[str, str]] = {}
    reads: dict[str, list[str]] = {handle: [] for handle in handles}
    for node in graph.node:
        handle = endpoint(node.input[0])[0] if node.input else ""
        if handle not in handles:
            continue
        _, assign, read = handles[handle]
        if node.op == assign:
            source, output = endpoint(node.input[1])
            assigns.setdefault(handle, (f"{source}:{output}", node.name))
        else:
            reads[handle].append(node.name)
    missing = [handle for handle in handles if handle not in assigns]
    if missing:
        raise ValueError(f"no initialiser writes {', '.join(missing)}")
    return {name: Parts(kind, name, *assigns[name], sorted(reads[name])) for name, (kind, _, _) in handles.items()}

# %% wrong="parts" why="compares the text of an input with the name of a node"
def find_variables(graph: GraphDef) -> dict[str, Parts]:
    """The parts of every variable in a graph, by the name of its handle.

    Raises:
        ValueError: a variable has no initialiser; the message names it.
    """
    kinds = {
        "VariableV2": ("ref", "Assign", "Identity"),
        "VarHandleOp": ("resource", "AssignVariableOp", "ReadVariableOp"),
    }
    handles = {node.name: kinds[node.op] for node in graph.node if node.op in kinds}
    assigns: dict[str, tuple[str, str]] = {}
    reads: dict[str, list[str]] = {handle: [] for handle in handles}
    for node in graph.node:
        handle = node.input[0] if node.input else ""
        if handle not in handles:
            continue
        _, assign, read = handles[handle]
        if node.op == assign:
            source, output = endpoint(node.input[1])
            assigns.setdefault(handle, (f"{source}:{output}", node.name))
        elif node.op == read:
            reads[handle].append(node.name)
    missing = [handle for handle in handles if handle not in assigns]
    if missing:
        raise ValueError(f"no initialiser writes {', '.join(missing)}")
    return {name: Parts(kind, name, *assigns[name], sorted(reads[name])) for name, (kind, _, _) in handles.items()}

# %% wrong="parts" why="takes a control input for a read"
def find_variables(graph: GraphDef) -> dict[str, Parts]:
    """The parts of every variable in a graph, by the name of its handle.

    Raises:
        ValueError: a variable has no initialiser; the message names it.
    """
    kinds = {
        "VariableV2": ("ref", "Assign", "Identity"),
        "VarHandleOp": ("resource", "AssignVariableOp", "ReadVariableOp"),
    }
    handles = {node.name: kinds[node.op] for node in graph.node if node.op in kinds}
    assigns: dict[str, tuple[str, str]] = {}
    reads: dict[str, list[str]] = {handle: [] for handle in handles}
    for node in graph.node:
        handle = endpoint(node.input[0])[0] if node.input else ""
        if handle not in handles:
            continue
        _, assign, read = handles[handle]
        if node.op == assign:
            source, output = endpoint(node.input[1])
            assigns.setdefault(handle, (f"{source}:{output}", node.name))
    for node in graph.node:
        for handle in {endpoint(text)[0] for text in node.input} & set(handles):
            if node.op == handles[handle][2]:
                reads[handle].append(node.name)
    missing = [handle for handle in handles if handle not in assigns]
    if missing:
        raise ValueError(f"no initialiser writes {', '.join(missing)}")
    return {name: Parts(kind, name, *assigns[name], sorted(reads[name])) for name, (kind, _, _) in handles.items()}

# %% wrong="parts" why="writes output 0 whatever the index"
def find_variables(graph: GraphDef) -> dict[str, Parts]:
    """The parts of every variable in a graph, by the name of its handle.

    Raises:
        ValueError: a variable has no initialiser; the message names it.
    """
    kinds = {
        "VariableV2": ("ref", "Assign", "Identity"),
        "VarHandleOp": ("resource", "AssignVariableOp", "ReadVariableOp"),
    }
    handles = {node.name: kinds[node.op] for node in graph.node if node.op in kinds}
    assigns: dict[str, tuple[str, str]] = {}
    reads: dict[str, list[str]] = {handle: [] for handle in handles}
    for node in graph.node:
        handle = endpoint(node.input[0])[0] if node.input else ""
        if handle not in handles:
            continue
        _, assign, read = handles[handle]
        if node.op == assign:
            source, output = endpoint(node.input[1])[0], 0
            assigns.setdefault(handle, (f"{source}:{output}", node.name))
        elif node.op == read:
            reads[handle].append(node.name)
    missing = [handle for handle in handles if handle not in assigns]
    if missing:
        raise ValueError(f"no initialiser writes {', '.join(missing)}")
    return {name: Parts(kind, name, *assigns[name], sorted(reads[name])) for name, (kind, _, _) in handles.items()}

# %% wrong="parts" why="lets an update count as the initialiser"
def find_variables(graph: GraphDef) -> dict[str, Parts]:
    """The parts of every variable in a graph, by the name of its handle.

    Raises:
        ValueError: a variable has no initialiser; the message names it.
    """
    kinds = {
        "VariableV2": ("ref", "Assign", "Identity"),
        "VarHandleOp": ("resource", "AssignVariableOp", "ReadVariableOp"),
    }
    handles = {node.name: kinds[node.op] for node in graph.node if node.op in kinds}
    assigns: dict[str, tuple[str, str]] = {}
    reads: dict[str, list[str]] = {handle: [] for handle in handles}
    for node in graph.node:
        handle = endpoint(node.input[0])[0] if node.input else ""
        if handle not in handles:
            continue
        _, assign, read = handles[handle]
        if node.op in (assign, "AssignAdd", "AssignAddVariableOp"):
            source, output = endpoint(node.input[1])
            assigns.setdefault(handle, (f"{source}:{output}", node.name))
        elif node.op == read:
            reads[handle].append(node.name)
    missing = [handle for handle in handles if handle not in assigns]
    if missing:
        raise ValueError(f"no initialiser writes {', '.join(missing)}")
    return {name: Parts(kind, name, *assigns[name], sorted(reads[name])) for name, (kind, _, _) in handles.items()}

# %% wrong="parts" why="leaves a variable without initialiser out"
def find_variables(graph: GraphDef) -> dict[str, Parts]:
    """The parts of every variable in a graph, by the name of its handle.

    Raises:
        ValueError: a variable has no initialiser; the message names it.
    """
    kinds = {
        "VariableV2": ("ref", "Assign", "Identity"),
        "VarHandleOp": ("resource", "AssignVariableOp", "ReadVariableOp"),
    }
    handles = {node.name: kinds[node.op] for node in graph.node if node.op in kinds}
    assigns: dict[str, tuple[str, str]] = {}
    reads: dict[str, list[str]] = {handle: [] for handle in handles}
    for node in graph.node:
        handle = endpoint(node.input[0])[0] if node.input else ""
        if handle not in handles:
            continue
        _, assign, read = handles[handle]
        if node.op == assign:
            source, output = endpoint(node.input[1])
            assigns.setdefault(handle, (f"{source}:{output}", node.name))
        elif node.op == read:
            reads[handle].append(node.name)
    return {name: Parts(kind, name, *assigns[name], sorted(reads[name])) for name, (kind, _, _) in handles.items() if name in assigns}

# %% wrong="parts" why="returns the parts of the visible graph"
def find_variables(graph: GraphDef) -> dict[str, Parts]:
    """The parts of every variable in a graph, by the name of its handle."""
    reads = ["ReadVariableOp", "ReadVariableOp_1", "new/Read/ReadVariableOp"]
    return {
        "old": Parts("ref", "old", "old/initial_value:0", "old/Assign", ["old/read"]),
        "new": Parts("resource", "new", "new/Initializer/split:1", "new/Assign", reads),
    }

# %% right="parts" why="one scan of the graph for each handle"
def find_variables(graph: GraphDef) -> dict[str, Parts]:
    """The parts of every variable in a graph, by the name of its handle."""
    found = {}
    for handle in graph.node:
        if handle.op not in ("VariableV2", "VarHandleOp"):
            continue
        is_ref = handle.op == "VariableV2"
        users = [node for node in graph.node if node.input and endpoint(node.input[0]) == (handle.name, 0)]
        assigns = [node for node in users if node.op == ("Assign" if is_ref else "AssignVariableOp")]
        if not assigns:
            raise ValueError(f"{handle.name} is never initialised")
        reads = sorted(node.name for node in users if node.op == ("Identity" if is_ref else "ReadVariableOp"))
        initial = "{}:{}".format(*endpoint(assigns[0].input[1]))
        found[handle.name] = Parts(
            "ref" if is_ref else "resource", handle.name, initial, assigns[0].name, reads
        )
    return found

# %% right="parts" why="a dict of consumers, made first"
def find_variables(graph: GraphDef) -> dict[str, Parts]:
    """The parts of every variable in a graph, by the name of its handle."""
    first_users: dict[str, list[NodeDef]] = {}
    for node in graph.node:
        if node.input and not node.input[0].startswith("^"):
            first_users.setdefault(node.input[0].partition(":")[0], []).append(node)

    def parts_of(handle: NodeDef, kind: str, assign: str, read: str) -> Parts:
        users = first_users.get(handle.name, [])
        writer = next((node for node in users if node.op == assign), None)
        if writer is None:
            raise ValueError(f"no initialiser: {handle.name}")
        tensor = writer.input[1] if ":" in writer.input[1] else f"{writer.input[1]}:0"
        return Parts(kind, handle.name, tensor, writer.name, sorted(node.name for node in users if node.op == read))

    found = {}
    for node in graph.node:
        if node.op == "VariableV2":
            found[node.name] = parts_of(node, "ref", "Assign", "Identity")
        elif node.op == "VarHandleOp":
            found[node.name] = parts_of(node, "resource", "AssignVariableOp", "ReadVariableOp")
    return found

# %% wrong="raw-variable" why="leaves shared_name out"
def add_variable(graph: GraphDef, name: str, initial: np.ndarray) -> GraphDef:
    """A copy of `graph` with the five nodes of a resource variable.

    Raises:
        ValueError: the graph has a node of this name.
    """
    if any(node.name == name for node in graph.node):
        raise ValueError(f"the graph has a node {name!r} already")
    dtype, shape = tf.as_dtype(initial.dtype), tf.TensorShape(initial.shape)
    made = copied(graph)
    add_node(made, f"{name}/Initializer/initial_value", "Const", dtype=dtype, value=initial)
    add_node(made, name, "VarHandleOp", dtype=dtype, shape=shape)
    add_node(made, f"{name}/IsInitialized/VarIsInitializedOp", "VarIsInitializedOp", [name])
    add_node(made, f"{name}/Assign", "AssignVariableOp", [name, f"{name}/Initializer/initial_value"], dtype=dtype)
    add_node(made, f"{name}/Read/ReadVariableOp", "ReadVariableOp", [name], dtype=dtype)
    return made

# %% wrong="raw-variable" why="lets the read wait for the assignment"
def add_variable(graph: GraphDef, name: str, initial: np.ndarray) -> GraphDef:
    """A copy of `graph` with the five nodes of a resource variable.

    Raises:
        ValueError: the graph has a node of this name.
    """
    if any(node.name == name for node in graph.node):
        raise ValueError(f"the graph has a node {name!r} already")
    dtype, shape = tf.as_dtype(initial.dtype), tf.TensorShape(initial.shape)
    made = copied(graph)
    add_node(made, f"{name}/Initializer/initial_value", "Const", dtype=dtype, value=initial)
    add_node(made, name, "VarHandleOp", dtype=dtype, shape=shape, shared_name=name)
    add_node(made, f"{name}/IsInitialized/VarIsInitializedOp", "VarIsInitializedOp", [name])
    add_node(made, f"{name}/Assign", "AssignVariableOp", [name, f"{name}/Initializer/initial_value"], dtype=dtype)
    add_node(made, f"{name}/Read/ReadVariableOp", "ReadVariableOp", [name, f"^{name}/Assign"], dtype=dtype)
    return made

# %% wrong="raw-variable" why="takes every array for float32"
def add_variable(graph: GraphDef, name: str, initial: np.ndarray) -> GraphDef:
    """A copy of `graph` with the five nodes of a resource variable.

    Raises:
        ValueError: the graph has a node of this name.
    """
    if any(node.name == name for node in graph.node):
        raise ValueError(f"the graph has a node {name!r} already")
    initial = initial.astype(np.float32)
    dtype, shape = tf.float32, tf.TensorShape(initial.shape)
    made = copied(graph)
    add_node(made, f"{name}/Initializer/initial_value", "Const", dtype=dtype, value=initial)
    add_node(made, name, "VarHandleOp", dtype=dtype, shape=shape, shared_name=name)
    add_node(made, f"{name}/IsInitialized/VarIsInitializedOp", "VarIsInitializedOp", [name])
    add_node(made, f"{name}/Assign", "AssignVariableOp", [name, f"{name}/Initializer/initial_value"], dtype=dtype)
    add_node(made, f"{name}/Read/ReadVariableOp", "ReadVariableOp", [name], dtype=dtype)
    return made

# %% wrong="raw-variable" why="leaves the shape of a scalar unknown"
def add_variable(graph: GraphDef, name: str, initial: np.ndarray) -> GraphDef:
    """A copy of `graph` with the five nodes of a resource variable.

    Raises:
        ValueError: the graph has a node of this name.
    """
    if any(node.name == name for node in graph.node):
        raise ValueError(f"the graph has a node {name!r} already")
    dtype, shape = tf.as_dtype(initial.dtype), tf.TensorShape(initial.shape or None)
    made = copied(graph)
    add_node(made, f"{name}/Initializer/initial_value", "Const", dtype=dtype, value=initial)
    add_node(made, name, "VarHandleOp", dtype=dtype, shape=shape, shared_name=name)
    add_node(made, f"{name}/IsInitialized/VarIsInitializedOp", "VarIsInitializedOp", [name])
    add_node(made, f"{name}/Assign", "AssignVariableOp", [name, f"{name}/Initializer/initial_value"], dtype=dtype)
    add_node(made, f"{name}/Read/ReadVariableOp", "ReadVariableOp", [name], dtype=dtype)
    return made

# %% wrong="raw-variable" why="looks for the name among the variables only"
def add_variable(graph: GraphDef, name: str, initial: np.ndarray) -> GraphDef:
    """A copy of `graph` with the five nodes of a resource variable.

    Raises:
        ValueError: the graph has a node of this name.
    """
    if any(node.name == name and node.op == "VarHandleOp" for node in graph.node):
        raise ValueError(f"the graph has a node {name!r} already")
    dtype, shape = tf.as_dtype(initial.dtype), tf.TensorShape(initial.shape)
    made = copied(graph)
    add_node(made, f"{name}/Initializer/initial_value", "Const", dtype=dtype, value=initial)
    add_node(made, name, "VarHandleOp", dtype=dtype, shape=shape, shared_name=name)
    add_node(made, f"{name}/IsInitialized/VarIsInitializedOp", "VarIsInitializedOp", [name])
    add_node(made, f"{name}/Assign", "AssignVariableOp", [name, f"{name}/Initializer/initial_value"], dtype=dtype)
    add_node(made, f"{name}/Read/ReadVariableOp", "ReadVariableOp", [name], dtype=dtype)
    return made

# %% wrong="raw-variable" why="overwrites what stands there"
def add_variable(graph: GraphDef, name: str, initial: np.ndarray) -> GraphDef:
    """A copy of `graph` with the five nodes of a resource variable.

    Raises:
        ValueError: the graph has a node of this name.
    """
    dtype, shape = tf.as_dtype(initial.dtype), tf.TensorShape(initial.shape)
    made = copied(graph)
    add_node(made, f"{name}/Initializer/initial_value", "Const", dtype=dtype, value=initial)
    add_node(made, name, "VarHandleOp", dtype=dtype, shape=shape, shared_name=name)
    add_node(made, f"{name}/IsInitialized/VarIsInitializedOp", "VarIsInitializedOp", [name])
    add_node(made, f"{name}/Assign", "AssignVariableOp", [name, f"{name}/Initializer/initial_value"], dtype=dtype)
    add_node(made, f"{name}/Read/ReadVariableOp", "ReadVariableOp", [name], dtype=dtype)
    return made

# %% wrong="raw-variable" why="begins a new graph"
def add_variable(graph: GraphDef, name: str, initial: np.ndarray) -> GraphDef:
    """A copy of `graph` with the five nodes of a resource variable.

    Raises:
        ValueError: the graph has a node of this name.
    """
    if any(node.name == name for node in graph.node):
        raise ValueError(f"the graph has a node {name!r} already")
    dtype, shape = tf.as_dtype(initial.dtype), tf.TensorShape(initial.shape)
    made = new_graph()
    add_node(made, f"{name}/Initializer/initial_value", "Const", dtype=dtype, value=initial)
    add_node(made, name, "VarHandleOp", dtype=dtype, shape=shape, shared_name=name)
    add_node(made, f"{name}/IsInitialized/VarIsInitializedOp", "VarIsInitializedOp", [name])
    add_node(made, f"{name}/Assign", "AssignVariableOp", [name, f"{name}/Initializer/initial_value"], dtype=dtype)
    add_node(made, f"{name}/Read/ReadVariableOp", "ReadVariableOp", [name], dtype=dtype)
    return made

# %% wrong="raw-variable" why="writes the number of elements as the shape"
def add_variable(graph: GraphDef, name: str, initial: np.ndarray) -> GraphDef:
    """A copy of `graph` with the five nodes of a resource variable.

    Raises:
        ValueError: the graph has a node of this name.
    """
    if any(node.name == name for node in graph.node):
        raise ValueError(f"the graph has a node {name!r} already")
    dtype, shape = tf.as_dtype(initial.dtype), tf.TensorShape([initial.size])
    made = copied(graph)
    add_node(made, f"{name}/Initializer/initial_value", "Const", dtype=dtype, value=initial)
    add_node(made, name, "VarHandleOp", dtype=dtype, shape=shape, shared_name=name)
    add_node(made, f"{name}/IsInitialized/VarIsInitializedOp", "VarIsInitializedOp", [name])
    add_node(made, f"{name}/Assign", "AssignVariableOp", [name, f"{name}/Initializer/initial_value"], dtype=dtype)
    add_node(made, f"{name}/Read/ReadVariableOp", "ReadVariableOp", [name], dtype=dtype)
    return made

# %% right="raw-variable" why="made with raw ops, and merged"
def add_variable(graph: GraphDef, name: str, initial: np.ndarray) -> GraphDef:
    """A copy of `graph` with the five nodes of a resource variable."""
    names = {node.name for node in graph.node}
    if name in names:
        raise ValueError(name)
    with tf.Graph().as_default() as fresh:
        value = tf.constant(initial, name=f"{name}/Initializer/initial_value")
        handle = tf.raw_ops.VarHandleOp(dtype=initial.dtype, shape=initial.shape, shared_name=name, name=name)
        tf.raw_ops.VarIsInitializedOp(resource=handle, name=f"{name}/IsInitialized/VarIsInitializedOp")
        tf.raw_ops.AssignVariableOp(resource=handle, value=value, name=f"{name}/Assign")
        tf.raw_ops.ReadVariableOp(resource=handle, dtype=initial.dtype, name=f"{name}/Read/ReadVariableOp")
    made = GraphDef()
    made.CopyFrom(graph)
    made.node.extend(fresh.as_graph_def().node)
    return made

# %% right="raw-variable" why="NodeDefs by hand, in another order"
def add_variable(graph: GraphDef, name: str, initial: np.ndarray) -> GraphDef:
    """A copy of `graph` with the five nodes of a resource variable."""
    made = copied(graph)
    if name in [node.name for node in made.node]:
        raise ValueError(f"{name} is taken")
    kind = AttrValue(type=tf.as_dtype(initial.dtype).as_datatype_enum)
    handle = made.node.add(name=name, op="VarHandleOp")
    handle.attr["dtype"].CopyFrom(kind)
    handle.attr["shape"].shape.CopyFrom(tf.TensorShape(initial.shape).as_proto())
    handle.attr["shared_name"].s = name.encode()
    read = made.node.add(name=f"{name}/Read/ReadVariableOp", op="ReadVariableOp", input=[name])
    read.attr["dtype"].CopyFrom(kind)
    value = made.node.add(name=f"{name}/Initializer/initial_value", op="Const")
    value.attr["dtype"].CopyFrom(kind)
    value.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(initial))
    assign = made.node.add(name=f"{name}/Assign", op="AssignVariableOp", input=[name, value.name])
    assign.attr["dtype"].CopyFrom(kind)
    made.node.add(name=f"{name}/IsInitialized/VarIsInitializedOp", op="VarIsInitializedOp", input=[name])
    return made

# %% wrong="report" why="reports the variables that have a value"
def add_report(graph: GraphDef) -> GraphDef:
    """A copy of `graph` with a node `report`: the names of the variables that have no value, as a string vector."""
    variables = [node for node in graph.node if node.op in ("VarHandleOp", "VariableV2")]
    with imported(graph).as_default() as made, tf.name_scope("report/"):
        flags = []
        for node in variables:
            handle = made.get_tensor_by_name(f"{node.name}:0")
            if node.op == "VarHandleOp":
                flags.append(tf.raw_ops.VarIsInitializedOp(resource=handle))
            else:
                flags.append(tf.raw_ops.IsVariableInitialized(ref=handle))
        names = tf.constant([node.name for node in variables], tf.string)
        missing = tf.boolean_mask(names, tf.stack(flags)) if flags else names
        with tf.name_scope(""):
            tf.identity(missing, name="report")
    return made.as_graph_def()

# %% wrong="report" why="knows resource variables only"
def add_report(graph: GraphDef) -> GraphDef:
    """A copy of `graph` with a node `report`: the names of the variables that have no value, as a string vector."""
    variables = [node for node in graph.node if node.op == "VarHandleOp"]
    with imported(graph).as_default() as made, tf.name_scope("report/"):
        flags = []
        for node in variables:
            handle = made.get_tensor_by_name(f"{node.name}:0")
            if node.op == "VarHandleOp":
                flags.append(tf.raw_ops.VarIsInitializedOp(resource=handle))
            else:
                flags.append(tf.raw_ops.IsVariableInitialized(ref=handle))
        names = tf.constant([node.name for node in variables], tf.string)
        missing = tf.boolean_mask(names, tf.logical_not(tf.stack(flags))) if flags else names
        with tf.name_scope(""):
            tf.identity(missing, name="report")
    return made.as_graph_def()

# %% wrong="report" why="asks a ref variable with the op for handles"
def add_report(graph: GraphDef) -> GraphDef:
    """A copy of `graph` with a node `report`: the names of the variables that have no value, as a string vector."""
    variables = [node for node in graph.node if node.op in ("VarHandleOp", "VariableV2")]
    with imported(graph).as_default() as made, tf.name_scope("report/"):
        flags = []
        for node in variables:
            handle = made.get_tensor_by_name(f"{node.name}:0")
            if node.op:
                flags.append(tf.raw_ops.VarIsInitializedOp(resource=handle))
            else:
                flags.append(tf.raw_ops.IsVariableInitialized(ref=handle))
        names = tf.constant([node.name for node in variables], tf.string)
        missing = tf.boolean_mask(names, tf.logical_not(tf.stack(flags))) if flags else names
        with tf.name_scope(""):
            tf.identity(missing, name="report")
    return made.as_graph_def()

# %% wrong="report" why="lists the names once, when the graph is built"
def add_report(graph: GraphDef) -> GraphDef:
    """A copy of `graph` with a node `report`: the names of the variables that have no value, as a string vector."""
    variables = [node for node in graph.node if node.op in ("VarHandleOp", "VariableV2")]
    with imported(graph).as_default() as made, tf.name_scope("report/"):
        flags = []
        for node in variables:
            handle = made.get_tensor_by_name(f"{node.name}:0")
            if node.op == "VarHandleOp":
                flags.append(tf.raw_ops.VarIsInitializedOp(resource=handle))
            else:
                flags.append(tf.raw_ops.IsVariableInitialized(ref=handle))
        names = tf.constant([node.name for node in variables], tf.string)
        missing = names
        with tf.name_scope(""):
            tf.identity(missing, name="report")
    return made.as_graph_def()

# %% wrong="report" why="sorts the names"
def add_report(graph: GraphDef) -> GraphDef:
    """A copy of `graph` with a node `report`: the names of the variables that have no value, as a string vector."""
    variables = sorted(
        (node for node in graph.node if node.op in ("VarHandleOp", "VariableV2")), key=lambda node: node.name
    )
    with imported(graph).as_default() as made, tf.name_scope("report/"):
        flags = []
        for node in variables:
            handle = made.get_tensor_by_name(f"{node.name}:0")
            if node.op == "VarHandleOp":
                flags.append(tf.raw_ops.VarIsInitializedOp(resource=handle))
            else:
                flags.append(tf.raw_ops.IsVariableInitialized(ref=handle))
        names = tf.constant([node.name for node in variables], tf.string)
        missing = tf.boolean_mask(names, tf.logical_not(tf.stack(flags))) if flags else names
        with tf.name_scope(""):
            tf.identity(missing, name="report")
    return made.as_graph_def()

# %% wrong="report" why="names tensors instead of nodes"
def add_report(graph: GraphDef) -> GraphDef:
    """A copy of `graph` with a node `report`: the names of the variables that have no value, as a string vector."""
    variables = [node for node in graph.node if node.op in ("VarHandleOp", "VariableV2")]
    with imported(graph).as_default() as made, tf.name_scope("report/"):
        flags = []
        for node in variables:
            handle = made.get_tensor_by_name(f"{node.name}:0")
            if node.op == "VarHandleOp":
                flags.append(tf.raw_ops.VarIsInitializedOp(resource=handle))
            else:
                flags.append(tf.raw_ops.IsVariableInitialized(ref=handle))
        names = tf.constant([f"{node.name}:0" for node in variables], tf.string)
        missing = tf.boolean_mask(names, tf.logical_not(tf.stack(flags))) if flags else names
        with tf.name_scope(""):
            tf.identity(missing, name="report")
    return made.as_graph_def()

# %% wrong="report" why="gathers by the rows of tf.where, which gives a column"
def add_report(graph: GraphDef) -> GraphDef:
    """A copy of `graph` with a node `report`: the names of the variables that have no value, as a string vector."""
    variables = [node for node in graph.node if node.op in ("VarHandleOp", "VariableV2")]
    with imported(graph).as_default() as made, tf.name_scope("report/"):
        flags = []
        for node in variables:
            handle = made.get_tensor_by_name(f"{node.name}:0")
            if node.op == "VarHandleOp":
                flags.append(tf.raw_ops.VarIsInitializedOp(resource=handle))
            else:
                flags.append(tf.raw_ops.IsVariableInitialized(ref=handle))
        names = tf.constant([node.name for node in variables], tf.string)
        missing = tf.gather(names, tf.where(tf.logical_not(tf.stack(flags)))) if flags else names
        with tf.name_scope(""):
            tf.identity(missing, name="report")
    return made.as_graph_def()

# %% wrong="report" why="stacks nothing when there is no variable"
def add_report(graph: GraphDef) -> GraphDef:
    """A copy of `graph` with a node `report`: the names of the variables that have no value, as a string vector."""
    variables = [node for node in graph.node if node.op in ("VarHandleOp", "VariableV2")]
    with imported(graph).as_default() as made, tf.name_scope("report/"):
        flags = []
        for node in variables:
            handle = made.get_tensor_by_name(f"{node.name}:0")
            if node.op == "VarHandleOp":
                flags.append(tf.raw_ops.VarIsInitializedOp(resource=handle))
            else:
                flags.append(tf.raw_ops.IsVariableInitialized(ref=handle))
        names = tf.constant([node.name for node in variables], tf.string)
        missing = tf.boolean_mask(names, tf.logical_not(tf.stack(flags)))
        with tf.name_scope(""):
            tf.identity(missing, name="report")
    return made.as_graph_def()

# %% wrong="report" why="says how many instead of which"
def add_report(graph: GraphDef) -> GraphDef:
    """A copy of `graph` with a node `report`: the names of the variables that have no value, as a string vector."""
    variables = [node for node in graph.node if node.op in ("VarHandleOp", "VariableV2")]
    with imported(graph).as_default() as made, tf.name_scope("report/"):
        flags = []
        for node in variables:
            handle = made.get_tensor_by_name(f"{node.name}:0")
            if node.op == "VarHandleOp":
                flags.append(tf.raw_ops.VarIsInitializedOp(resource=handle))
            else:
                flags.append(tf.raw_ops.IsVariableInitialized(ref=handle))
        names = tf.constant([node.name for node in variables], tf.string)
        missing = tf.boolean_mask(names, tf.logical_not(tf.stack(flags))) if flags else names
        with tf.name_scope(""):
            tf.size(missing, name="report")
    return made.as_graph_def()

# %% wrong="report" why="gives the name report twice"
def add_report(graph: GraphDef) -> GraphDef:
    """A copy of `graph` with a node `report`: the names of the variables that have no value, as a string vector."""
    variables = [node for node in graph.node if node.op in ("VarHandleOp", "VariableV2")]
    with imported(graph).as_default() as made:
        flags = []
        for node in variables:
            handle = made.get_tensor_by_name(f"{node.name}:0")
            if node.op == "VarHandleOp":
                flags.append(tf.raw_ops.VarIsInitializedOp(resource=handle))
            else:
                flags.append(tf.raw_ops.IsVariableInitialized(ref=handle))
        names = tf.constant([node.name for node in variables], tf.string)
        missing = tf.boolean_mask(names, tf.logical_not(tf.stack(flags)), name="report") if flags else names
        tf.identity(missing, name="report")
    return made.as_graph_def()

# %% right="report" why="NodeDefs only"
def add_report(graph: GraphDef) -> GraphDef:
    """A copy of `graph` with a node `report`: the names of the variables that have no value, as a string vector."""
    made = copied(graph)
    asks = {"VarHandleOp": "VarIsInitializedOp", "VariableV2": "IsVariableInitialized"}
    names = [node.name for node in graph.node if node.op in asks]
    if not names:
        add_node(made, "report", "Const", dtype=tf.string, value=np.array([], object))
        return made
    flags = []
    for node in graph.node:
        if node.op in asks:
            flags.append(f"report/ask/{len(flags)}")
            typed = {"dtype": tf.as_dtype(node.attr["dtype"].type)} if node.op == "VariableV2" else {}
            add_node(made, flags[-1], asks[node.op], [node.name], **typed)
    add_node(made, "report/flags", "Pack", flags, N=len(flags), T=tf.bool)
    add_node(made, "report/not", "LogicalNot", ["report/flags"])
    add_node(made, "report/where", "Where", ["report/not"], T=tf.bool)
    add_node(made, "report/column", "Const", dtype=tf.int32, value=np.array([-1], np.int32))
    add_node(made, "report/rows", "Reshape", ["report/where", "report/column"], T=tf.int64, Tshape=tf.int32)
    add_node(made, "report/axis", "Const", dtype=tf.int32, value=np.int32(0))
    add_node(made, "report/names", "Const", dtype=tf.string, value=np.array(names, object))
    types = {"Tparams": tf.string, "Tindices": tf.int64, "Taxis": tf.int32}
    add_node(made, "report", "GatherV2", ["report/names", "report/rows", "report/axis"], **types)
    return made

# %% right="report" why="adds ordinary ops to the imported graph, variable by variable"
def add_report(graph: GraphDef) -> GraphDef:
    """A copy of `graph` with a node `report`: the names of the variables that have no value, as a string vector."""
    with tf.Graph().as_default() as made:
        tf.import_graph_def(graph, name="")
        parts = [tf.constant([], tf.string)]
        for node in graph.node:
            if node.op not in ("VarHandleOp", "VariableV2"):
                continue
            tensor = made.get_operation_by_name(node.name).outputs[0]
            if node.op == "VarHandleOp":
                has_value = tf.raw_ops.VarIsInitializedOp(resource=tensor)
            else:
                has_value = tf.raw_ops.IsVariableInitialized(ref=tensor)
            parts.append(tf.repeat([node.name], 1 - tf.cast(has_value, tf.int32)))
        tf.concat([*parts, tf.constant([], tf.string)], 0, name="report")
    return made.as_graph_def()

# %% wrong="plan" why="takes the order in which variables were made"
def initialisation_plan(graph: GraphDef) -> Plan:
    """In which waves the variables of a graph can be initialised, and which of them cannot."""
    nodes = {node.name: node for node in graph.node}
    handles = {node.name for node in graph.node if node.op == "VarHandleOp"}
    reads = {endpoint(n.input[0])[0]: variables_read(nodes, n) for n in graph.node if n.op == "AssignVariableOp"}
    return Plan([[node.name] for node in graph.node if node.name in reads][::-1], sorted(handles - set(reads)))
    waves: list[list[str]] = []
    done: set[str] = set()
    while wave := sorted(v for v in reads if v not in done and reads[v] <= done):
        waves.append(wave)
        done.update(wave)
    return Plan(waves, sorted(handles - done))


def variables_read(nodes: dict[str, NodeDef], assign: NodeDef) -> set[str]:
    """The variables that an initialiser reads, through any number of nodes."""
    found, seen, todo = set(), set(), [assign.name]
    while todo:
        node = nodes[todo.pop()]
        if node.name in seen:
            continue
        seen.add(node.name)
        if node.op == "ReadVariableOp":
            found.add(endpoint(node.input[0])[0])
        todo += [endpoint(text)[0] for text in node.input]
    return found

# %% wrong="plan" why="looks only at what is assigned, not behind it"
def initialisation_plan(graph: GraphDef) -> Plan:
    """In which waves the variables of a graph can be initialised, and which of them cannot."""
    nodes = {node.name: node for node in graph.node}
    handles = {node.name for node in graph.node if node.op == "VarHandleOp"}
    reads = {endpoint(n.input[0])[0]: variables_read(nodes, n) for n in graph.node if n.op == "AssignVariableOp"}
    waves: list[list[str]] = []
    done: set[str] = set()
    while wave := sorted(v for v in reads if v not in done and reads[v] <= done):
        waves.append(wave)
        done.update(wave)
    return Plan(waves, sorted(handles - done))


def variables_read(nodes: dict[str, NodeDef], assign: NodeDef) -> set[str]:
    """The variables that an initialiser reads, through any number of nodes."""
    found, seen, todo = set(), set(), [assign.name]
    while todo:
        node = nodes[todo.pop()]
        if node.name in seen:
            continue
        seen.add(node.name)
        if node.op == "ReadVariableOp":
            found.add(endpoint(node.input[0])[0])
        if node is assign:
            todo += [endpoint(text)[0] for text in node.input]
    return found

# %% wrong="plan" why="counts every read of the graph"
def initialisation_plan(graph: GraphDef) -> Plan:
    """In which waves the variables of a graph can be initialised, and which of them cannot."""
    nodes = {node.name: node for node in graph.node}
    handles = {node.name for node in graph.node if node.op == "VarHandleOp"}
    reads = {endpoint(n.input[0])[0]: variables_read(nodes, n) for n in graph.node if n.op == "AssignVariableOp"}
    waves: list[list[str]] = []
    done: set[str] = set()
    while wave := sorted(v for v in reads if v not in done and reads[v] <= done):
        waves.append(wave)
        done.update(wave)
    return Plan(waves, sorted(handles - done))


def variables_read(nodes: dict[str, NodeDef], assign: NodeDef) -> set[str]:
    """The variables that an initialiser reads, through any number of nodes."""
    found, seen, todo = set(), set(), [assign.name]
    while todo:
        node = nodes[todo.pop()]
        if node.name in seen:
            continue
        seen.add(node.name)
        todo += [endpoint(text)[0] for text in node.input]
    return {endpoint(n.input[0])[0] for n in nodes.values() if n.op == "ReadVariableOp"} | found

# %% wrong="plan" why="ignores control edges"
def initialisation_plan(graph: GraphDef) -> Plan:
    """In which waves the variables of a graph can be initialised, and which of them cannot."""
    nodes = {node.name: node for node in graph.node}
    handles = {node.name for node in graph.node if node.op == "VarHandleOp"}
    reads = {endpoint(n.input[0])[0]: variables_read(nodes, n) for n in graph.node if n.op == "AssignVariableOp"}
    waves: list[list[str]] = []
    done: set[str] = set()
    while wave := sorted(v for v in reads if v not in done and reads[v] <= done):
        waves.append(wave)
        done.update(wave)
    return Plan(waves, sorted(handles - done))


def variables_read(nodes: dict[str, NodeDef], assign: NodeDef) -> set[str]:
    """The variables that an initialiser reads, through any number of nodes."""
    found, seen, todo = set(), set(), [assign.name]
    while todo:
        node = nodes[todo.pop()]
        if node.name in seen:
            continue
        seen.add(node.name)
        if node.op == "ReadVariableOp":
            found.add(endpoint(node.input[0])[0])
        todo += [endpoint(text)[0] for text in node.input if endpoint(text)[1] != CONTROL]
    return found

# %% wrong="plan" why="forgets variables without an initialiser"
def initialisation_plan(graph: GraphDef) -> Plan:
    """In which waves the variables of a graph can be initialised, and which of them cannot."""
    nodes = {node.name: node for node in graph.node}
    handles = {node.name for node in graph.node if node.op == "VarHandleOp"}
    reads = {endpoint(n.input[0])[0]: variables_read(nodes, n) for n in graph.node if n.op == "AssignVariableOp"}
    waves: list[list[str]] = []
    done: set[str] = set()
    while wave := sorted(v for v in reads if v not in done and reads[v] <= done):
        waves.append(wave)
        done.update(wave)
    return Plan(waves, sorted(reads.keys() - done))


def variables_read(nodes: dict[str, NodeDef], assign: NodeDef) -> set[str]:
    """The variables that an initialiser reads, through any number of nodes."""
    found, seen, todo = set(), set(), [assign.name]
    while todo:
        node = nodes[todo.pop()]
        if node.name in seen:
            continue
        seen.add(node.name)
        if node.op == "ReadVariableOp":
            found.add(endpoint(node.input[0])[0])
        todo += [endpoint(text)[0] for text in node.input]
    return found

# %% wrong="plan" why="does not sort"
def initialisation_plan(graph: GraphDef) -> Plan:
    """In which waves the variables of a graph can be initialised, and which of them cannot."""
    nodes = {node.name: node for node in graph.node}
    handles = {node.name for node in graph.node if node.op == "VarHandleOp"}
    reads = {endpoint(n.input[0])[0]: variables_read(nodes, n) for n in graph.node if n.op == "AssignVariableOp"}
    waves: list[list[str]] = []
    done: set[str] = set()
    while wave := sorted((v for v in reads if v not in done and reads[v] <= done), reverse=True):
        waves.append(wave)
        done.update(wave)
    return Plan(waves, sorted(handles - done))


def variables_read(nodes: dict[str, NodeDef], assign: NodeDef) -> set[str]:
    """The variables that an initialiser reads, through any number of nodes."""
    found, seen, todo = set(), set(), [assign.name]
    while todo:
        node = nodes[todo.pop()]
        if node.name in seen:
            continue
        seen.add(node.name)
        if node.op == "ReadVariableOp":
            found.add(endpoint(node.input[0])[0])
        todo += [endpoint(text)[0] for text in node.input]
    return found

# %% wrong="plan" why="reports the circle and not what waits for it"
def initialisation_plan(graph: GraphDef) -> Plan:
    """In which waves the variables of a graph can be initialised, and which of them cannot."""
    nodes = {node.name: node for node in graph.node}
    handles = {node.name for node in graph.node if node.op == "VarHandleOp"}
    reads = {endpoint(n.input[0])[0]: variables_read(nodes, n) for n in graph.node if n.op == "AssignVariableOp"}
    waves: list[list[str]] = []
    done: set[str] = set()
    while wave := sorted(v for v in reads if v not in done and reads[v] <= done):
        waves.append(wave)
        done.update(wave)
    needed = set().union(*(reads[v] for v in reads if v not in done))
    return Plan(waves, sorted((handles - done) & needed))


def variables_read(nodes: dict[str, NodeDef], assign: NodeDef) -> set[str]:
    """The variables that an initialiser reads, through any number of nodes."""
    found, seen, todo = set(), set(), [assign.name]
    while todo:
        node = nodes[todo.pop()]
        if node.name in seen:
            continue
        seen.add(node.name)
        if node.op == "ReadVariableOp":
            found.add(endpoint(node.input[0])[0])
        todo += [endpoint(text)[0] for text in node.input]
    return found

# %% wrong="plan" why="asks only whether what is read has an initialiser"
def initialisation_plan(graph: GraphDef) -> Plan:
    """In which waves the variables of a graph can be initialised, and which of them cannot."""
    nodes = {node.name: node for node in graph.node}
    handles = {node.name for node in graph.node if node.op == "VarHandleOp"}
    reads = {endpoint(n.input[0])[0]: variables_read(nodes, n) for n in graph.node if n.op == "AssignVariableOp"}
    waves: list[list[str]] = []
    done: set[str] = set()
    while wave := sorted(v for v in reads if v not in done and reads[v] <= done | set(reads)):
        waves.append(wave)
        done.update(wave)
    return Plan(waves, sorted(handles - done))


def variables_read(nodes: dict[str, NodeDef], assign: NodeDef) -> set[str]:
    """The variables that an initialiser reads, through any number of nodes."""
    found, seen, todo = set(), set(), [assign.name]
    while todo:
        node = nodes[todo.pop()]
        if node.name in seen:
            continue
        seen.add(node.name)
        if node.op == "ReadVariableOp":
            found.add(endpoint(node.input[0])[0])
        todo += [endpoint(text)[0] for text in node.input]
    return found

# %% wrong="plan" why="recurses along reads and never looks whether it has been there"
def initialisation_plan(graph: GraphDef) -> Plan:
    """In which waves the variables of a graph can be initialised, and which of them cannot."""
    nodes = {node.name: node for node in graph.node}
    assigns = {endpoint(node.input[0])[0]: node for node in graph.node if node.op == "AssignVariableOp"}

    def wave_of(variable: str) -> int:
        return 1 + max((wave_of(read) for read in reads_below(assigns[variable])), default=-1)

    def reads_below(node: NodeDef) -> set[str]:
        found = set()
        for text in node.input:
            source = nodes[endpoint(text)[0]]
            found |= {endpoint(source.input[0])[0]} if source.op == "ReadVariableOp" else reads_below(source)
        return found

    waves: dict[int, list[str]] = {}
    for variable in sorted(assigns):
        waves.setdefault(wave_of(variable), []).append(variable)
    return Plan([waves[number] for number in sorted(waves)], [])

# %% wrong="plan" why="tries it out in sessions"
def initialisation_plan(graph: GraphDef) -> Plan:
    """In which waves the variables of a graph can be initialised, and which of them cannot."""
    return by_trial(graph)

# %% wrong="plan" why="puts ops that TensorFlow knows in place of the others, and tries"
def initialisation_plan(graph: GraphDef) -> Plan:
    """In which waves the variables of a graph can be initialised, and which of them cannot."""
    known = new_graph()
    for node in graph.node:
        if node.op in STATEFUL:
            known.node.add().CopyFrom(node)
            continue
        data = [text for text in node.input if not text.startswith("^")]
        if data:
            add_node(known, node.name, "AddN", node.input, N=len(data), T=tf.float32)
        else:
            add_node(known, node.name, "Const", node.input, dtype=tf.float32, value=np.float32(1))
    return by_trial(known)

# %% right="plan" why="Kahn's algorithm, level by level"
def initialisation_plan(graph: GraphDef) -> Plan:
    """In which waves the variables of a graph can be initialised, and which of them cannot."""
    nodes = {node.name: node for node in graph.node}
    handles = [node.name for node in graph.node if node.op == "VarHandleOp"]
    waits, readers = {}, {name: [] for name in handles}
    for assign in graph.node:
        if assign.op != "AssignVariableOp":
            continue
        variable = endpoint(assign.input[0])[0]
        below, todo = set(), [assign.name]
        while todo:
            name = todo.pop()
            if name not in below:
                below.add(name)
                todo.extend(endpoint(text)[0] for text in nodes[name].input)
        read = {endpoint(nodes[name].input[0])[0] for name in below if nodes[name].op == "ReadVariableOp"}
        waits[variable] = len(read)
        for name in read:
            readers[name].append(variable)
    waves, ready = [], sorted(name for name, count in waits.items() if count == 0)
    while ready:
        waves.append(ready)
        later = []
        for name in ready:
            for reader in readers[name]:
                waits[reader] -= 1
                if waits[reader] == 0:
                    later.append(reader)
        ready = sorted(later)
    placed = {name for wave in waves for name in wave}
    return Plan(waves, sorted(name for name in handles if name not in placed))

# %% right="plan" why="sets that grow along the edges to a fixed point"
def initialisation_plan(graph: GraphDef) -> Plan:
    """In which waves the variables of a graph can be initialised, and which of them cannot."""
    below = {node.name: set() for node in graph.node}
    grown = True
    while grown:
        grown = False
        for node in graph.node:
            mine = set().union(*(below[endpoint(text)[0]] for text in node.input), below[node.name])
            if node.op == "ReadVariableOp":
                mine.add(endpoint(node.input[0])[0])
            if mine != below[node.name]:
                below[node.name], grown = mine, True
    needs = {endpoint(node.input[0])[0]: below[node.name] for node in graph.node if node.op == "AssignVariableOp"}
    left = {node.name for node in graph.node if node.op == "VarHandleOp"}
    waves = []
    while True:
        wave = sorted(name for name in left if name in needs and not needs[name] & left)
        if not wave:
            return Plan(waves, sorted(left))
        waves.append(wave)
        left -= set(wave)

# %% right="plan" why="a class with the sub-graphs that TensorFlow extracts, and waves from a generator"
from collections.abc import Iterator


class Needs:
    """Which variables each initialiser reads."""

    def __init__(self, graph: GraphDef) -> None:
        self.names = [node.name for node in graph.node if node.op == "VarHandleOp"]
        self.reads = {
            node.input[0].removesuffix(":0"): {
                inner.input[0].removesuffix(":0")
                for inner in tf1.graph_util.extract_sub_graph(graph, [node.name]).node
                if inner.op == "ReadVariableOp"
            }
            for node in graph.node
            if node.op == "AssignVariableOp"
        }

    def waves(self) -> Iterator[list[str]]:
        left = dict(self.reads)
        done: set[str] = set()
        while ready := [name for name, reads in left.items() if not reads - done]:
            yield sorted(ready)
            done |= set(ready)
            left = {name: reads for name, reads in left.items() if name not in done}


def initialisation_plan(graph):
    needs = Needs(graph)
    waves = list(needs.waves())
    return Plan(stuck=sorted(set(needs.names).difference(*waves)), waves=waves)

# %% wrong="one-run" why="lets init wait and leaves the reads as they are"
def guarded(graph: GraphDef) -> GraphDef:
    """A copy of `graph` in which one run of `init` gives all variables their values, in whatever order nodes run.

    Raises:
        ValueError: some variables are stuck; the message names all of them.
    """
    stuck = by_trial(graph).stuck
    if stuck:
        raise ValueError(f"no order can initialise {', '.join(stuck)}")
    made = copied(graph)
    nodes = {node.name: node for node in made.node}
    assigns = {endpoint(node.input[0])[0]: node.name for node in made.node if node.op == "AssignVariableOp"}
    todo, seen = list(assigns.values()), set()
    while todo:
        node = nodes[todo.pop()]
        if node.name in seen:
            continue
        seen.add(node.name)
        todo += [endpoint(text)[0] for text in node.input]
    add_node(made, "init", "NoOp", [f"^{name}" for name in assigns.values()])
    return made

# %% wrong="one-run" why="guards every read of the graph"
def guarded(graph: GraphDef) -> GraphDef:
    """A copy of `graph` in which one run of `init` gives all variables their values, in whatever order nodes run.

    Raises:
        ValueError: some variables are stuck; the message names all of them.
    """
    stuck = by_trial(graph).stuck
    if stuck:
        raise ValueError(f"no order can initialise {', '.join(stuck)}")
    made = copied(graph)
    nodes = {node.name: node for node in made.node}
    assigns = {endpoint(node.input[0])[0]: node.name for node in made.node if node.op == "AssignVariableOp"}
    todo, seen = list(nodes), set()
    while todo:
        node = nodes[todo.pop()]
        if node.name in seen:
            continue
        seen.add(node.name)
        todo += [endpoint(text)[0] for text in node.input]
        if node.op == "ReadVariableOp":
            node.input.append(f"^{assigns[endpoint(node.input[0])[0]]}")
    add_node(made, "init", "NoOp", [f"^{name}" for name in assigns.values()])
    return made

# %% wrong="one-run" why="lets the read wait for the handle"
def guarded(graph: GraphDef) -> GraphDef:
    """A copy of `graph` in which one run of `init` gives all variables their values, in whatever order nodes run.

    Raises:
        ValueError: some variables are stuck; the message names all of them.
    """
    stuck = by_trial(graph).stuck
    if stuck:
        raise ValueError(f"no order can initialise {', '.join(stuck)}")
    made = copied(graph)
    nodes = {node.name: node for node in made.node}
    assigns = {endpoint(node.input[0])[0]: node.name for node in made.node if node.op == "AssignVariableOp"}
    todo, seen = list(assigns.values()), set()
    while todo:
        node = nodes[todo.pop()]
        if node.name in seen:
            continue
        seen.add(node.name)
        todo += [endpoint(text)[0] for text in node.input]
        if node.op == "ReadVariableOp":
            node.input.append(f"^{endpoint(node.input[0])[0]}")
    add_node(made, "init", "NoOp", [f"^{name}" for name in assigns.values()])
    return made

# %% wrong="one-run" why="lets the initialiser wait and not the read"
def guarded(graph: GraphDef) -> GraphDef:
    """A copy of `graph` in which one run of `init` gives all variables their values, in whatever order nodes run.

    Raises:
        ValueError: some variables are stuck; the message names all of them.
    """
    stuck = by_trial(graph).stuck
    if stuck:
        raise ValueError(f"no order can initialise {', '.join(stuck)}")
    made = copied(graph)
    nodes = {node.name: node for node in made.node}
    assigns = {endpoint(node.input[0])[0]: node.name for node in made.node if node.op == "AssignVariableOp"}
    plan = by_trial(graph)
    for earlier, later in pairwise(plan.waves):
        for name in later:
            nodes[assigns[name]].input.extend(f"^{assigns[before]}" for before in earlier)
    todo, seen = [], set()
    while todo:
        node = nodes[todo.pop()]
        if node.name in seen:
            continue
        seen.add(node.name)
        todo += [endpoint(text)[0] for text in node.input]
        if node.op == "ReadVariableOp":
            node.input.append(f"^{assigns[endpoint(node.input[0])[0]]}")
    add_node(made, "init", "NoOp", [f"^{name}" for name in assigns.values()])
    return made

# %% wrong="one-run" why="guards only reads whose value is assigned as it is"
def guarded(graph: GraphDef) -> GraphDef:
    """A copy of `graph` in which one run of `init` gives all variables their values, in whatever order nodes run.

    Raises:
        ValueError: some variables are stuck; the message names all of them.
    """
    stuck = by_trial(graph).stuck
    if stuck:
        raise ValueError(f"no order can initialise {', '.join(stuck)}")
    made = copied(graph)
    nodes = {node.name: node for node in made.node}
    assigns = {endpoint(node.input[0])[0]: node.name for node in made.node if node.op == "AssignVariableOp"}
    todo, seen = list(assigns.values()), set()
    while todo:
        node = nodes[todo.pop()]
        if node.name in seen:
            continue
        seen.add(node.name)
        if node.op == "AssignVariableOp":
            todo += [endpoint(text)[0] for text in node.input]
        if node.op == "ReadVariableOp":
            node.input.append(f"^{assigns[endpoint(node.input[0])[0]]}")
    add_node(made, "init", "NoOp", [f"^{name}" for name in assigns.values()])
    return made

# %% wrong="one-run" why="does not look for circles"
def guarded(graph: GraphDef) -> GraphDef:
    """A copy of `graph` in which one run of `init` gives all variables their values, in whatever order nodes run.

    Raises:
        ValueError: some variables are stuck; the message names all of them.
    """
    stuck = by_trial(graph).stuck
    if stuck:
        return copied(graph)
    made = copied(graph)
    nodes = {node.name: node for node in made.node}
    assigns = {endpoint(node.input[0])[0]: node.name for node in made.node if node.op == "AssignVariableOp"}
    todo, seen = list(assigns.values()), set()
    while todo:
        node = nodes[todo.pop()]
        if node.name in seen:
            continue
        seen.add(node.name)
        todo += [endpoint(text)[0] for text in node.input]
        if node.op == "ReadVariableOp":
            node.input.append(f"^{assigns[endpoint(node.input[0])[0]]}")
    add_node(made, "init", "NoOp", [f"^{name}" for name in assigns.values()])
    return made

# %% wrong="one-run" why="refuses without names"
def guarded(graph: GraphDef) -> GraphDef:
    """A copy of `graph` in which one run of `init` gives all variables their values, in whatever order nodes run.

    Raises:
        ValueError: some variables are stuck; the message names all of them.
    """
    stuck = by_trial(graph).stuck
    if stuck:
        raise ValueError("the variables cannot be initialised")
    made = copied(graph)
    nodes = {node.name: node for node in made.node}
    assigns = {endpoint(node.input[0])[0]: node.name for node in made.node if node.op == "AssignVariableOp"}
    todo, seen = list(assigns.values()), set()
    while todo:
        node = nodes[todo.pop()]
        if node.name in seen:
            continue
        seen.add(node.name)
        todo += [endpoint(text)[0] for text in node.input]
        if node.op == "ReadVariableOp":
            node.input.append(f"^{assigns[endpoint(node.input[0])[0]]}")
    add_node(made, "init", "NoOp", [f"^{name}" for name in assigns.values()])
    return made

# %% wrong="one-run" why="names one stuck variable"
def guarded(graph: GraphDef) -> GraphDef:
    """A copy of `graph` in which one run of `init` gives all variables their values, in whatever order nodes run.

    Raises:
        ValueError: some variables are stuck; the message names all of them.
    """
    stuck = by_trial(graph).stuck
    if stuck:
        raise ValueError(f"no order can initialise {stuck[0]}")
    made = copied(graph)
    nodes = {node.name: node for node in made.node}
    assigns = {endpoint(node.input[0])[0]: node.name for node in made.node if node.op == "AssignVariableOp"}
    todo, seen = list(assigns.values()), set()
    while todo:
        node = nodes[todo.pop()]
        if node.name in seen:
            continue
        seen.add(node.name)
        todo += [endpoint(text)[0] for text in node.input]
        if node.op == "ReadVariableOp":
            node.input.append(f"^{assigns[endpoint(node.input[0])[0]]}")
    add_node(made, "init", "NoOp", [f"^{name}" for name in assigns.values()])
    return made

# %% wrong="one-run" why="forgets init"
def guarded(graph: GraphDef) -> GraphDef:
    """A copy of `graph` in which one run of `init` gives all variables their values, in whatever order nodes run.

    Raises:
        ValueError: some variables are stuck; the message names all of them.
    """
    stuck = by_trial(graph).stuck
    if stuck:
        raise ValueError(f"no order can initialise {', '.join(stuck)}")
    made = copied(graph)
    nodes = {node.name: node for node in made.node}
    assigns = {endpoint(node.input[0])[0]: node.name for node in made.node if node.op == "AssignVariableOp"}
    todo, seen = list(assigns.values()), set()
    while todo:
        node = nodes[todo.pop()]
        if node.name in seen:
            continue
        seen.add(node.name)
        todo += [endpoint(text)[0] for text in node.input]
        if node.op == "ReadVariableOp":
            node.input.append(f"^{assigns[endpoint(node.input[0])[0]]}")
    return made

# %% right="one-run" why="forward from each read, until an initialiser is met"
def guarded(graph: GraphDef) -> GraphDef:
    """A copy of `graph` in which one run of `init` gives all variables their values, in whatever order nodes run."""
    stuck = by_trial(graph).stuck
    if stuck:
        raise ValueError(f"stuck: {stuck}")
    users: dict[str, list[NodeDef]] = {node.name: [] for node in graph.node}
    for node in graph.node:
        for text in node.input:
            users[endpoint(text)[0]].append(node)

    def is_needed(read: NodeDef) -> bool:
        reached, todo = set(), [read]
        while todo:
            node = todo.pop()
            if node.op == "AssignVariableOp":
                return True
            if node.name not in reached:
                reached.add(node.name)
                todo += users[node.name]
        return False

    writer = {endpoint(node.input[0])[0]: node.name for node in graph.node if node.op == "AssignVariableOp"}
    made = GraphDef(versions=graph.versions, library=graph.library)
    for node in graph.node:
        kept = made.node.add()
        kept.CopyFrom(node)
        if node.op == "ReadVariableOp" and is_needed(node):
            kept.input.append("^" + writer[endpoint(node.input[0])[0]])
    made.node.add(name="init", op="NoOp", input=sorted("^" + name for name in writer.values()))
    return made

# %% right="one-run" why="finds the stuck ones itself, by waves over the nodes that can run"
def guarded(graph: GraphDef) -> GraphDef:
    """A copy of `graph` in which one run of `init` gives all variables their values, in whatever order nodes run."""
    writer = {endpoint(node.input[0])[0]: node.name for node in graph.node if node.op == "AssignVariableOp"}
    waits = {node.name: {endpoint(text)[0] for text in node.input} for node in graph.node}
    for node in graph.node:
        if node.op == "ReadVariableOp":
            waits[node.name].add(writer.get(endpoint(node.input[0])[0], "nobody"))
    can_run: set[str] = set()
    while more := {name for name, sources in waits.items() if name not in can_run and sources <= can_run}:
        can_run |= more
    stuck = sorted(
        node.name for node in graph.node if node.op == "VarHandleOp" and writer.get(node.name) not in can_run
    )
    if stuck:
        raise ValueError("cannot be initialised: " + " ".join(stuck))
    made = copied(graph)
    needed = {node.name for node in tf1.graph_util.extract_sub_graph(graph, list(writer.values())).node}
    for node in made.node:
        if node.op == "ReadVariableOp" and node.name in needed:
            node.input.append(f"^{writer[endpoint(node.input[0])[0]]}")
    add_node(made, "init", "NoOp", [f"^{name}" for name in writer.values()])
    return made

# %% wrong="collections" why="takes local variables for not trainable"
TRAINABLE = ["weights", "gamma"]
LOCAL = ["cache", "epoch", "loss/total", "loss/count"]
MODEL = ["gamma"]
GLOBAL = ["weights", "frozen", "gamma", "global_step"]

# %% wrong="collections" why="forgets the counters of the metric"
TRAINABLE = ["weights", "cache", "gamma"]
LOCAL = ["cache", "epoch"]
MODEL = ["gamma"]
GLOBAL = ["weights", "frozen", "gamma", "global_step"]

# %% wrong="collections" why="takes the global step for trainable"
TRAINABLE = ["weights", "cache", "gamma", "global_step"]
LOCAL = ["cache", "epoch", "loss/total", "loss/count"]
MODEL = ["gamma"]
GLOBAL = ["weights", "frozen", "gamma", "global_step"]

# %% wrong="collections" why="thinks that collections adds to the global list"
TRAINABLE = ["weights", "cache", "gamma"]
LOCAL = ["cache", "epoch", "loss/total", "loss/count"]
MODEL = ["gamma"]
GLOBAL = ["weights", "frozen", "cache", "gamma", "global_step"]

# %% wrong="collections" why="sorts the names"
TRAINABLE = ["cache", "gamma", "weights"]
LOCAL = ["cache", "epoch", "loss/total", "loss/count"]
MODEL = ["gamma"]
GLOBAL = ["weights", "frozen", "gamma", "global_step"]

# %% wrong="collections" why="thinks that a model variable is no trainable one"
TRAINABLE = ["weights", "cache"]
LOCAL = ["cache", "epoch", "loss/total", "loss/count"]
MODEL = ["gamma"]
GLOBAL = ["weights", "frozen", "gamma", "global_step"]

# %% wrong="collections" why="takes all that the model learns for model variables"
TRAINABLE = ["weights", "cache", "gamma"]
LOCAL = ["cache", "epoch", "loss/total", "loss/count"]
MODEL = ["weights", "gamma"]
GLOBAL = ["weights", "frozen", "gamma", "global_step"]

# %% wrong="collections" why="gives tuples"
TRAINABLE = ("weights", "cache", "gamma")
LOCAL = ["cache", "epoch", "loss/total", "loss/count"]
MODEL = ["gamma"]
GLOBAL = ["weights", "frozen", "gamma", "global_step"]

# %% right="collections" why="with what all have in common said once"
ours = ["weights", "gamma"]
TRAINABLE = [ours[0], "cache", ours[1]]
LOCAL = ["cache", "epoch", *(f"loss/{part}" for part in ("total", "count"))]
MODEL = [ours[1]]
GLOBAL = [ours[0], "frozen", ours[1], "global_step"]

# %% wrong="schedule" why="treats both kinds as values"
def simulate(kind: str, schedule: list[tuple]) -> tuple[float, list[float]]:
    """The variable's final value and what each client computed last, by client number.

    Raises:
        ValueError: the kind is neither "ref" nor "resource".
    """
    if kind not in ("ref", "resource"):
        raise ValueError(f"a variable is 'ref' or 'resource', not {kind!r}")
    value = 0.0
    read: dict[int, float] = {}
    computed: dict[int, float] = {}
    for event, client, *rest in schedule:
        if event == "read":
            read[client] = value
        elif event == "compute":
            computed[client] = read[client] + rest[0]
        elif event == "write":
            value = computed[client]
        else:
            value += rest[0]
    return value, [computed[client] for client in sorted(computed)]

# %% wrong="schedule" why="treats both kinds as aliases"
def simulate(kind: str, schedule: list[tuple]) -> tuple[float, list[float]]:
    """The variable's final value and what each client computed last, by client number.

    Raises:
        ValueError: the kind is neither "ref" nor "resource".
    """
    if kind not in ("ref", "resource"):
        raise ValueError(f"a variable is 'ref' or 'resource', not {kind!r}")
    value = 0.0
    read: dict[int, float] = {}
    computed: dict[int, float] = {}
    for event, client, *rest in schedule:
        if event == "read":
            read[client] = value
        elif event == "compute":
            computed[client] = value + rest[0]
        elif event == "write":
            value = computed[client]
        else:
            value += rest[0]
    return value, [computed[client] for client in sorted(computed)]

# %% wrong="schedule" why="has the kinds the wrong way round"
def simulate(kind: str, schedule: list[tuple]) -> tuple[float, list[float]]:
    """The variable's final value and what each client computed last, by client number.

    Raises:
        ValueError: the kind is neither "ref" nor "resource".
    """
    if kind not in ("ref", "resource"):
        raise ValueError(f"a variable is 'ref' or 'resource', not {kind!r}")
    value = 0.0
    read: dict[int, float] = {}
    computed: dict[int, float] = {}
    for event, client, *rest in schedule:
        if event == "read":
            read[client] = value
        elif event == "compute":
            computed[client] = (value if kind == "resource" else read[client]) + rest[0]
        elif event == "write":
            value = computed[client]
        else:
            value += rest[0]
    return value, [computed[client] for client in sorted(computed)]

# %% wrong="schedule" why="lets an alias see the last write before the read, and no add"
def simulate(kind: str, schedule: list[tuple]) -> tuple[float, list[float]]:
    """The variable's final value and what each client computed last, by client number.

    Raises:
        ValueError: the kind is neither "ref" nor "resource".
    """
    if kind not in ("ref", "resource"):
        raise ValueError(f"a variable is 'ref' or 'resource', not {kind!r}")
    value = written = 0.0
    read: dict[int, float] = {}
    computed: dict[int, float] = {}
    for event, client, *rest in schedule:
        if event == "read":
            read[client] = written if kind == "ref" else value
        elif event == "compute":
            computed[client] = read[client] + rest[0]
        elif event == "write":
            value = written = computed[client]
        else:
            value += rest[0]
    return value, [computed[client] for client in sorted(computed)]

# %% wrong="schedule" why="lets add work on what the client read"
def simulate(kind: str, schedule: list[tuple]) -> tuple[float, list[float]]:
    """The variable's final value and what each client computed last, by client number.

    Raises:
        ValueError: the kind is neither "ref" nor "resource".
    """
    if kind not in ("ref", "resource"):
        raise ValueError(f"a variable is 'ref' or 'resource', not {kind!r}")
    value = 0.0
    read: dict[int, float] = {}
    computed: dict[int, float] = {}
    for event, client, *rest in schedule:
        if event == "read":
            read[client] = value
        elif event == "compute":
            computed[client] = (value if kind == "ref" else read[client]) + rest[0]
        elif event == "write":
            value = computed[client]
        else:
            value = read.get(client, value) + rest[0]
    return value, [computed[client] for client in sorted(computed)]

# %% wrong="schedule" why="expects that whoever reads also computes"
def simulate(kind: str, schedule: list[tuple]) -> tuple[float, list[float]]:
    """The variable's final value and what each client computed last, by client number.

    Raises:
        ValueError: the kind is neither "ref" nor "resource".
    """
    if kind not in ("ref", "resource"):
        raise ValueError(f"a variable is 'ref' or 'resource', not {kind!r}")
    value = 0.0
    read: dict[int, float] = {}
    computed: dict[int, float] = {}
    for event, client, *rest in schedule:
        if event == "read":
            read[client] = value
        elif event == "compute":
            computed[client] = (value if kind == "ref" else read[client]) + rest[0]
        elif event == "write":
            value = computed[client]
        else:
            value += rest[0]
    return value, [computed[client] for client in sorted(read)]

# %% wrong="schedule" why="gives whole numbers as int"
def simulate(kind: str, schedule: list[tuple]) -> tuple[float, list[float]]:
    """The variable's final value and what each client computed last, by client number."""
    if kind not in ("ref", "resource"):
        raise ValueError(f"a variable is 'ref' or 'resource', not {kind!r}")
    value, read, computed = 0, {}, {}
    for event, client, *rest in schedule:
        if event == "read":
            read[client] = value
        elif event == "compute":
            computed[client] = (value if kind == "ref" else read[client]) + rest[0]
        elif event == "write":
            value = computed[client]
        else:
            value += rest[0]
    return value, [computed[client] for client in sorted(computed)]

# %% wrong="schedule" why="lists what was computed in the order of time"
def simulate(kind: str, schedule: list[tuple]) -> tuple[float, list[float]]:
    """The variable's final value and what each client computed last, by client number.

    Raises:
        ValueError: the kind is neither "ref" nor "resource".
    """
    if kind not in ("ref", "resource"):
        raise ValueError(f"a variable is 'ref' or 'resource', not {kind!r}")
    value = 0.0
    read: dict[int, float] = {}
    computed: dict[int, float] = {}
    for event, client, *rest in schedule:
        if event == "read":
            read[client] = value
        elif event == "compute":
            computed[client] = (value if kind == "ref" else read[client]) + rest[0]
        elif event == "write":
            value = computed[client]
        else:
            value += rest[0]
    return value, list(computed.values())

# %% wrong="schedule" why="lists everything that was computed"
def simulate(kind: str, schedule: list[tuple]) -> tuple[float, list[float]]:
    """The variable's final value and what each client computed last, by client number.

    Raises:
        ValueError: the kind is neither "ref" nor "resource".
    """
    if kind not in ("ref", "resource"):
        raise ValueError(f"a variable is 'ref' or 'resource', not {kind!r}")
    value = 0.0
    read: dict[int, float] = {}
    computed: dict[int, float] = {}
    all_computed = []
    for event, client, *rest in schedule:
        if event == "read":
            read[client] = value
        elif event == "compute":
            computed[client] = (value if kind == "ref" else read[client]) + rest[0]
            all_computed.append(computed[client])
        elif event == "write":
            value = computed[client]
        else:
            value += rest[0]
    return value, all_computed

# %% wrong="schedule" why="writes what is computed anew at the write"
def simulate(kind: str, schedule: list[tuple]) -> tuple[float, list[float]]:
    """The variable's final value and what each client computed last, by client number.

    Raises:
        ValueError: the kind is neither "ref" nor "resource".
    """
    if kind not in ("ref", "resource"):
        raise ValueError(f"a variable is 'ref' or 'resource', not {kind!r}")
    value = 0.0
    read: dict[int, float] = {}
    computed: dict[int, float] = {}
    for event, client, *rest in schedule:
        if event == "read":
            read[client] = value
        elif event == "compute":
            computed[client] = (value if kind == "ref" else read[client]) + rest[0]
        elif event == "write":
            value = computed[client] = computed[client] if kind == "resource" else value
        else:
            value += rest[0]
    return value, [computed[client] for client in sorted(computed)]

# %% wrong="schedule" why="accepts any kind"
def simulate(kind: str, schedule: list[tuple]) -> tuple[float, list[float]]:
    """The variable's final value and what each client computed last, by client number.

    Raises:
        ValueError: the kind is neither "ref" nor "resource".
    """
    value = 0.0
    read: dict[int, float] = {}
    computed: dict[int, float] = {}
    for event, client, *rest in schedule:
        if event == "read":
            read[client] = value
        elif event == "compute":
            computed[client] = (value if kind == "ref" else read[client]) + rest[0]
        elif event == "write":
            value = computed[client]
        else:
            value += rest[0]
    return value, [computed[client] for client in sorted(computed)]

# %% wrong="schedule" why="knows the visible schedule by heart"
def simulate(kind: str, schedule: list[tuple]) -> tuple[float, list[float]]:
    """The variable's final value and what each client computed last, by client number."""
    if kind == "ref":
        return 3.0, [1.0, 3.0]
    if kind == "resource":
        return 2.0, [1.0, 2.0]
    raise ValueError(kind)

# %% right="schedule" why="buffers that are shared or copied"
class Buffer:
    """A place for one number."""

    def __init__(self, number: float) -> None:
        self.number = number

    def copy(self) -> "Buffer":
        return Buffer(self.number)


def simulate(kind: str, schedule: list[tuple]) -> tuple[float, list[float]]:
    """The variable's final value and what each client computed last, by client number."""
    if kind not in ("ref", "resource"):
        raise ValueError(f"unknown kind {kind}")
    variable, seen, sums = Buffer(0.0), {}, {}
    for event in schedule:
        if event[0] == "read":
            seen[event[1]] = variable if kind == "ref" else variable.copy()
        elif event[0] == "compute":
            sums[event[1]] = Buffer(seen[event[1]].number + event[2])
        elif event[0] == "write":
            variable.number = sums[event[1]].number
        elif event[0] == "add":
            variable.number += event[2]
    return variable.number, [sums[client].number for client in sorted(sums)]

# %% right="schedule" why="a fold over states that are never changed, with reads as functions"
from functools import reduce


def simulate(kind, schedule):
    kinds = {"ref": lambda now: lambda later: later, "resource": lambda now: lambda later: now}
    if kind not in kinds:
        raise ValueError(kind)

    def after(state, event):
        value, reads, sums = state
        match event:
            case ("read", client):
                return value, reads | {client: kinds[kind](value)}, sums
            case ("compute", client, k):
                return value, reads, sums | {client: reads[client](value) + k}
            case ("write", client):
                return sums[client], reads, sums
            case ("add", _, k):
                return value + k, reads, sums

    value, _, sums = reduce(after, map(tuple, schedule), (0.0, {}, {}))
    return value, [total for _, total in sorted(sums.items())]

# %% right="schedule" why="looks for each number backwards, in the events before it"
def simulate(kind: str, schedule: list[tuple]) -> tuple[float, list[float]]:
    """The variable's final value and what each client computed last, by client number."""
    if kind != "ref" and kind != "resource":
        raise ValueError("ref or resource")

    def last(word: str, client: int, end: int) -> int:
        return max(at for at in range(end) if schedule[at][:2] == (word, client))

    def variable(end: int) -> float:
        if end == 0:
            return 0.0
        word, client, *k = schedule[end - 1]
        if word == "write":
            return total(last("compute", client, end))
        return variable(end - 1) + (k[0] if word == "add" else 0.0)

    def total(at: int) -> float:
        _, client, k = schedule[at]
        return variable(at if kind == "ref" else last("read", client, at)) + k

    who = sorted({client for word, client, *_ in schedule if word == "compute"})
    return variable(len(schedule)), [total(last("compute", client, len(schedule))) for client in who]

# %% wrong="lost-update" why="orders the writes and leaves the rest to luck"
def lose_updates(graph: GraphDef, keep: str) -> GraphDef:
    """A copy with control inputs added, so that of all updates only that of the client `keep` is ever left."""
    made = copied(graph)
    nodes = {node.name: node for node in made.node}
    others = [name for name in nodes if name.endswith("/write") and name != f"{keep}/write"]
    for write in others:
        nodes[f"{keep}/write"].input.append(f"^{write}")
    return made

# %% wrong="lost-update" why="takes the reads to be enough, for aliases too"
def lose_updates(graph: GraphDef, keep: str) -> GraphDef:
    """A copy with control inputs added, so that of all updates only that of the client `keep` is ever left."""
    made = copied(graph)
    nodes = {node.name: node for node in made.node}
    others = [name for name in nodes if name.endswith("/write") and name != f"{keep}/write"]
    for write in others:
        nodes[write].input.append(f"^{keep}/read")
        nodes[f"{keep}/write"].input.append(f"^{write}")
    return made

# %% wrong="lost-update" why="lets the winner write first"
def lose_updates(graph: GraphDef, keep: str) -> GraphDef:
    """A copy with control inputs added, so that of all updates only that of the client `keep` is ever left."""
    made = copied(graph)
    nodes = {node.name: node for node in made.node}
    others = [name for name in nodes if name.endswith("/write") and name != f"{keep}/write"]
    for write in others:
        nodes[write].input.append(f"^{keep}/compute")
        nodes[write].input.append(f"^{keep}/write")
    return made

# %% wrong="lost-update" why="lets the winner read last, which loses nothing"
def lose_updates(graph: GraphDef, keep: str) -> GraphDef:
    """A copy with control inputs added, so that of all updates only that of the client `keep` is ever left."""
    made = copied(graph)
    nodes = {node.name: node for node in made.node}
    others = [name for name in nodes if name.endswith("/write") and name != f"{keep}/write"]
    for write in others:
        nodes[f"{keep}/read"].input.append(f"^{write}")
        nodes[f"{keep}/write"].input.append(f"^{write}")
    return made

# %% wrong="lost-update" why="thinks of one loser only"
def lose_updates(graph: GraphDef, keep: str) -> GraphDef:
    """A copy with control inputs added, so that of all updates only that of the client `keep` is ever left."""
    made = copied(graph)
    nodes = {node.name: node for node in made.node}
    others = [name for name in nodes if name.endswith("/write") and name != f"{keep}/write"]
    for write in others[:1]:
        nodes[write].input.append(f"^{keep}/compute")
        nodes[f"{keep}/write"].input.append(f"^{write}")
    return made

# %% wrong="lost-update" why="forgets that the last write wins"
def lose_updates(graph: GraphDef, keep: str) -> GraphDef:
    """A copy with control inputs added, so that of all updates only that of the client `keep` is ever left."""
    made = copied(graph)
    nodes = {node.name: node for node in made.node}
    others = [name for name in nodes if name.endswith("/write") and name != f"{keep}/write"]
    for write in others:
        nodes[write].input.append(f"^{keep}/compute")
    return made

# %% wrong="lost-update" why="writes the addend instead of the sum"
def lose_updates(graph: GraphDef, keep: str) -> GraphDef:
    """A copy with control inputs added, so that of all updates only that of the client `keep` is ever left."""
    made = copied(graph)
    nodes = {node.name: node for node in made.node}
    others = [name for name in nodes if name.endswith("/write") and name != f"{keep}/write"]
    nodes[f"{keep}/write"].input[1] = f"{keep}/by"
    for write in others:
        nodes[write].input.append(f"^{keep}/compute")
        nodes[f"{keep}/write"].input.append(f"^{write}")
    return made

# %% wrong="lost-update" why="makes a circle: the sum waits for the writes that wait for it"
def lose_updates(graph: GraphDef, keep: str) -> GraphDef:
    """A copy with control inputs added, so that of all updates only that of the client `keep` is ever left."""
    made = copied(graph)
    nodes = {node.name: node for node in made.node}
    others = [name for name in nodes if name.endswith("/write") and name != f"{keep}/write"]
    for write in others:
        nodes[write].input.append(f"^{keep}/compute")
        nodes[f"{keep}/write"].input.append(f"^{write}")
    nodes[f"{keep}/compute"].input.extend(f"^{write}" for write in others)
    return made

# %% wrong="lost-update" why="adds a node to wait at"
def lose_updates(graph: GraphDef, keep: str) -> GraphDef:
    """A copy with control inputs added, so that of all updates only that of the client `keep` is ever left."""
    made = copied(graph)
    nodes = {node.name: node for node in made.node}
    others = [name for name in nodes if name.endswith("/write") and name != f"{keep}/write"]
    add_node(made, "barrier", "NoOp", [f"^{keep}/compute"])
    for write in others:
        nodes[write].input.append("^barrier")
        nodes[f"{keep}/write"].input.append(f"^{write}")
    return made

# %% right="lost-update" why="one order of all events"
def lose_updates(graph: GraphDef, keep: str) -> GraphDef:
    """A copy with control inputs added, so that of all updates only that of the client `keep` is ever left."""
    made = copied(graph)
    nodes = {node.name: node for node in made.node}
    names = sorted((name.removesuffix("/read") for name in nodes if name.endswith("/read")), key=lambda n: n == keep)
    order = [f"{name}/{step}" for step in ("read", "compute", "write") for name in names]
    for earlier, later in pairwise(order):
        nodes[later].input.append(f"^{earlier}")
    return made

# %% right="lost-update" why="all sums before all writes, and the winner last"
def lose_updates(graph: GraphDef, keep: str) -> GraphDef:
    """A copy with control inputs added, so that of all updates only that of the client `keep` is ever left."""
    made = GraphDef.FromString(graph.SerializeToString())
    sums = [node.name for node in made.node if node.name.endswith("/compute")]
    for node in made.node:
        if node.name.endswith("/write"):
            node.input.extend(f"^{name}" for name in sums)
        if node.name == f"{keep}/write":
            losers = [name.replace("/compute", "/write") for name in sums if name != f"{keep}/compute"]
            node.input.extend(f"^{name}" for name in losers)
    return made

# %% wrong="predict-fanout" why="counts the terms of the formula"
SUMMANDS = 2

# %% wrong="predict-fanout" why="counts the factors of the product"
SUMMANDS = 3

# %% wrong="predict-fanout" why="thinks that one gradient comes back"
SUMMANDS = 1

# %% wrong="predict-fanout" why="counts the nodes that read x and the seed"
SUMMANDS = 5

# %% wrong="predict-fanout" why="names the op"
SUMMANDS = 'AddN'

# %% right="predict-fanout" why="counted"
SUMMANDS = [x for inputs in ('xx', 'mx', 'nx') for x in inputs].count('x')

# %% wrong="order" why="takes everything that y depends on"
def backward_order(graph: GraphDef, y: str, xs: list[str]) -> list[str]:
    """The nodes whose gradient function is called for d y / d xs, each before everything that it reads.

    Args:
        graph: its nodes are in topological order.

    Raises:
        KeyError: `y` or one of `xs` is no node of the graph.
    """
    inputs = {node.name: [source(text) for text in node.input if not text.startswith("^")] for node in graph.node}
    for name in (y, *xs):
        if name not in inputs:
            raise KeyError(name)
    leads, order = {y}, []
    for name in reversed(inputs):
        if name in leads and inputs[name]:
            leads.update(inputs[name])
            order.append(name)
    return order

# %% wrong="order" why="goes back over all that was reached, dead ends too"
def backward_order(graph: GraphDef, y: str, xs: list[str]) -> list[str]:
    """The nodes whose gradient function is called for d y / d xs, each before everything that it reads.

    Args:
        graph: its nodes are in topological order.

    Raises:
        KeyError: `y` or one of `xs` is no node of the graph.
    """
    inputs = {node.name: [source(text) for text in node.input if not text.startswith("^")] for node in graph.node}
    for name in (y, *xs):
        if name not in inputs:
            raise KeyError(name)
    reached: set[str] = set(xs)
    for name, read in inputs.items():
        if not reached.isdisjoint(read):
            reached.add(name)
    return [name for name in reversed(inputs) if name in reached and name not in xs]

# %% wrong="order" why="lists a node when its first reader is done"
def backward_order(graph: GraphDef, y: str, xs: list[str]) -> list[str]:
    """The nodes whose gradient function is called for d y / d xs, each before everything that it reads.

    Args:
        graph: its nodes are in topological order.

    Raises:
        KeyError: `y` or one of `xs` is no node of the graph.
    """
    inputs = {node.name: [source(text) for text in node.input if not text.startswith("^")] for node in graph.node}
    for name in (y, *xs):
        if name not in inputs:
            raise KeyError(name)
    reached: set[str] = set()
    for name, read in inputs.items():
        if any(one in reached or one in xs for one in read):
            reached.add(name)
    order: list[str] = []

    def visit(name: str) -> None:
        if name in reached and name not in order:
            order.append(name)
            for one in inputs[name]:
                visit(one)

    visit(y)
    return order

# %% wrong="order" why="lists the xs themselves"
def backward_order(graph: GraphDef, y: str, xs: list[str]) -> list[str]:
    """The nodes whose gradient function is called for d y / d xs, each before everything that it reads.

    Args:
        graph: its nodes are in topological order.

    Raises:
        KeyError: `y` or one of `xs` is no node of the graph.
    """
    inputs = {node.name: [source(text) for text in node.input if not text.startswith("^")] for node in graph.node}
    for name in (y, *xs):
        if name not in inputs:
            raise KeyError(name)
    reached: set[str] = set(xs)
    for name, read in inputs.items():
        if any(one in reached or one in xs for one in read):
            reached.add(name)
    leads, order = {y}, []
    for name in reversed(inputs):
        if name in leads and name in reached:
            leads.update(inputs[name])
            order.append(name)
    return order

# %% wrong="order" why="lists constants, because they are inputs"
def backward_order(graph: GraphDef, y: str, xs: list[str]) -> list[str]:
    """The nodes whose gradient function is called for d y / d xs, each before everything that it reads.

    Args:
        graph: its nodes are in topological order.

    Raises:
        KeyError: `y` or one of `xs` is no node of the graph.
    """
    inputs = {node.name: [source(text) for text in node.input if not text.startswith("^")] for node in graph.node}
    for name in (y, *xs):
        if name not in inputs:
            raise KeyError(name)
    reached: set[str] = set()
    for name, read in inputs.items():
        if any(one in reached or one in xs for one in read):
            reached.add(name)
    leads, order = {y}, []
    for name in reversed(inputs):
        if name in leads and (name in reached or not inputs[name]) and name not in xs:
            leads.update(inputs[name])
            order.append(name)
    return order

# %% wrong="order" why="follows control edges as well"
def backward_order(graph: GraphDef, y: str, xs: list[str]) -> list[str]:
    """The nodes whose gradient function is called for d y / d xs, each before everything that it reads.

    Args:
        graph: its nodes are in topological order.

    Raises:
        KeyError: `y` or one of `xs` is no node of the graph.
    """
    inputs = {node.name: [source(text) for text in node.input] for node in graph.node}
    for name in (y, *xs):
        if name not in inputs:
            raise KeyError(name)
    reached: set[str] = set()
    for name, read in inputs.items():
        if any(one in reached or one in xs for one in read):
            reached.add(name)
    leads, order = {y}, []
    for name in reversed(inputs):
        if name in leads and name in reached:
            leads.update(inputs[name])
            order.append(name)
    return order

# %% wrong="order" why="stops at every x, also between two of them"
def backward_order(graph: GraphDef, y: str, xs: list[str]) -> list[str]:
    """The nodes whose gradient function is called for d y / d xs, each before everything that it reads.

    Args:
        graph: its nodes are in topological order.

    Raises:
        KeyError: `y` or one of `xs` is no node of the graph.
    """
    inputs = {node.name: [source(text) for text in node.input if not text.startswith("^")] for node in graph.node}
    for name in (y, *xs):
        if name not in inputs:
            raise KeyError(name)
    reached: set[str] = set()
    for name, read in inputs.items():
        if any(one in reached or one in xs for one in read):
            reached.add(name)
    leads, order = {y}, []
    for name in reversed(inputs):
        if name in leads and name in reached and name not in xs:
            leads.update(inputs[name])
            order.append(name)
    return order

# %% wrong="order" why="gives an empty list for a name that is not there"
def backward_order(graph: GraphDef, y: str, xs: list[str]) -> list[str]:
    """The nodes whose gradient function is called for d y / d xs, each before everything that it reads.

    Args:
        graph: its nodes are in topological order.

    Raises:
        KeyError: `y` or one of `xs` is no node of the graph.
    """
    inputs = {node.name: [source(text) for text in node.input if not text.startswith("^")] for node in graph.node}
    for name in (y, *xs):
        if name not in inputs:
            return []
    reached: set[str] = set()
    for name, read in inputs.items():
        if any(one in reached or one in xs for one in read):
            reached.add(name)
    leads, order = {y}, []
    for name in reversed(inputs):
        if name in leads and name in reached:
            leads.update(inputs[name])
            order.append(name)
    return order

# %% wrong="order" why="lists the nodes forward"
def backward_order(graph: GraphDef, y: str, xs: list[str]) -> list[str]:
    """The nodes whose gradient function is called for d y / d xs, each before everything that it reads.

    Args:
        graph: its nodes are in topological order.

    Raises:
        KeyError: `y` or one of `xs` is no node of the graph.
    """
    inputs = {node.name: [source(text) for text in node.input if not text.startswith("^")] for node in graph.node}
    for name in (y, *xs):
        if name not in inputs:
            raise KeyError(name)
    reached: set[str] = set()
    for name, read in inputs.items():
        if any(one in reached or one in xs for one in read):
            reached.add(name)
    leads, order = {y}, []
    for name in reversed(inputs):
        if name in leads and name in reached:
            leads.update(inputs[name])
            order.append(name)
    return order[::-1]

# %% right="order" why="counts pending readers, as TensorFlow does"
def backward_order(graph: GraphDef, y: str, xs: list[str]) -> list[str]:
    """The nodes whose gradient function is called for d y / d xs, each before everything that it reads.

    Args:
        graph: its nodes are in topological order.

    Raises:
        KeyError: `y` or one of `xs` is no node of the graph.
    """
    inputs = {node.name: [source(text) for text in node.input if not text.startswith("^")] for node in graph.node}
    for name in (y, *xs):
        if name not in inputs:
            raise KeyError(name)
    reached: set[str] = set()
    for name, read in inputs.items():
        if any(one in reached or one in xs for one in read):
            reached.add(name)
    between, todo = set(), [y]
    while todo:
        name = todo.pop()
        if name in reached and name not in between:
            between.add(name)
            todo += inputs[name]
    pending = dict.fromkeys(between, 0)
    for name in between:
        for one in inputs[name]:
            if one in between:
                pending[one] += 1
    ready, order = [y] if y in between else [], []
    while ready:
        name = ready.pop(0)
        order.append(name)
        for one in inputs[name]:
            if one in between:
                pending[one] -= 1
                if pending[one] == 0:
                    ready.append(one)
    return order

# %% right="order" why="a depth-first search, turned round"
def backward_order(graph: GraphDef, y: str, xs: list[str]) -> list[str]:
    """The nodes whose gradient function is called for d y / d xs, each before everything that it reads.

    Args:
        graph: its nodes are in topological order.

    Raises:
        KeyError: `y` or one of `xs` is no node of the graph.
    """
    inputs = {node.name: [source(text) for text in node.input if not text.startswith("^")] for node in graph.node}
    for name in (y, *xs):
        if name not in inputs:
            raise KeyError(name)
    live: dict[str, bool] = {}
    finished: list[str] = []

    def visit(name: str) -> bool:
        """Whether a data edge leads here from an x, at some distance."""
        if name not in live:
            below = [visit(one) for one in inputs[name]]
            live[name] = any(below) or any(one in xs for one in inputs[name])
            if live[name]:
                finished.append(name)
        return live[name]

    visit(y)
    return finished[::-1]

# %% right="order" why="a matrix of which node reaches which"
def backward_order(graph: GraphDef, y: str, xs: list[str]) -> list[str]:
    """The nodes whose gradient function is called for d y / d xs, each before everything that it reads.

    Args:
        graph: its nodes are in topological order.

    Raises:
        KeyError: `y` or one of `xs` is no node of the graph.
    """
    inputs = {node.name: [source(text) for text in node.input if not text.startswith("^")] for node in graph.node}
    for name in (y, *xs):
        if name not in inputs:
            raise KeyError(name)
    names = list(inputs)
    number = {name: index for index, name in enumerate(names)}
    edge = np.zeros((len(names), len(names)), bool)
    for name, read in inputs.items():
        for one in read:
            edge[number[one], number[name]] = True
    reach = edge.copy()
    for middle in range(len(names)):
        reach |= reach[:, [middle]] & reach[[middle], :]
    from_x = reach[[number[x] for x in xs]].any(axis=0)
    to_y = reach[:, number[y]].copy()
    to_y[number[y]] = True
    return [names[index] for index in reversed(np.flatnonzero(from_x & to_y))]

# %% wrong="rules" why="right only without transposes"
def unbroadcast(add: Add, node: NodeDef, gradients: list[str]) -> list[str | None]:
    """For the three ops that broadcast: each of two gradients, summed over what its input was repeated along."""
    kind = node.attr["T"]
    shapes = [add("Shape", [text], T=kind, out_type=tf.int32) for text in node.input[:2]]
    axes = add("BroadcastGradientArgs", shapes, T=tf.int32)
    summed = [
        add("Sum", [gradient, f"{axes}:{index}"], T=kind, Tidx=tf.int32, keep_dims=False)
        for index, gradient in enumerate(gradients)
    ]
    return [add("Reshape", [each, shape], T=kind, Tshape=tf.int32) for each, shape in zip(summed, shapes, strict=True)]


@rule("MatMul")
def matmul_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = op(a) · op(b), where op transposes if the attribute says so."""
    a, b = node.input[:2]
    ta, tb = node.attr["transpose_a"].b, node.attr["transpose_b"].b

    def product(left: str, right: str, first: bool, second: bool) -> str:
        return add("MatMul", [left, right], T=node.attr["T"], transpose_a=first, transpose_b=second)

    return [
        product(gradient, b, False, True),
        product(a, gradient, True, False),
    ]


@rule("Mul")
def mul_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a · b, element by element, with broadcasting."""
    a, b = node.input[:2]
    return unbroadcast(add, node, [add("Mul", [gradient, other], T=node.attr["T"]) for other in (b, a)])


@rule("Sub")
def sub_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a − b, with broadcasting."""
    return unbroadcast(add, node, [gradient, add("Neg", [gradient], T=node.attr["T"])])


@rule("AddV2")
def add_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a + b, with broadcasting."""
    return unbroadcast(add, node, [gradient, gradient])


@rule("Relu")
def relu_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = max(x, 0)."""
    return [add("ReluGrad", [gradient, node.input[0]], T=node.attr["T"])]


@rule("Square")
def square_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = x²."""
    kind = node.attr["T"]
    two = np.asarray(2, tf.as_dtype(kind.type).as_numpy_dtype)
    return [add("Mul", [gradient, add("Mul", [node.input[0], two], T=kind)], T=kind)]


@rule("StopGradient")
def stop_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = x, through which no gradient goes back."""
    return [None]

# %% wrong="rules" why="turns the transposes round, but never the factors"
def unbroadcast(add: Add, node: NodeDef, gradients: list[str]) -> list[str | None]:
    """For the three ops that broadcast: each of two gradients, summed over what its input was repeated along."""
    kind = node.attr["T"]
    shapes = [add("Shape", [text], T=kind, out_type=tf.int32) for text in node.input[:2]]
    axes = add("BroadcastGradientArgs", shapes, T=tf.int32)
    summed = [
        add("Sum", [gradient, f"{axes}:{index}"], T=kind, Tidx=tf.int32, keep_dims=False)
        for index, gradient in enumerate(gradients)
    ]
    return [add("Reshape", [each, shape], T=kind, Tshape=tf.int32) for each, shape in zip(summed, shapes, strict=True)]


@rule("MatMul")
def matmul_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = op(a) · op(b), where op transposes if the attribute says so."""
    a, b = node.input[:2]
    ta, tb = node.attr["transpose_a"].b, node.attr["transpose_b"].b

    def product(left: str, right: str, first: bool, second: bool) -> str:
        return add("MatMul", [left, right], T=node.attr["T"], transpose_a=first, transpose_b=second)

    return [
        product(gradient, b, ta, not tb),
        product(a, gradient, not ta, tb),
    ]


@rule("Mul")
def mul_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a · b, element by element, with broadcasting."""
    a, b = node.input[:2]
    return unbroadcast(add, node, [add("Mul", [gradient, other], T=node.attr["T"]) for other in (b, a)])


@rule("Sub")
def sub_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a − b, with broadcasting."""
    return unbroadcast(add, node, [gradient, add("Neg", [gradient], T=node.attr["T"])])


@rule("AddV2")
def add_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a + b, with broadcasting."""
    return unbroadcast(add, node, [gradient, gradient])


@rule("Relu")
def relu_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = max(x, 0)."""
    return [add("ReluGrad", [gradient, node.input[0]], T=node.attr["T"])]


@rule("Square")
def square_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = x²."""
    kind = node.attr["T"]
    two = np.asarray(2, tf.as_dtype(kind.type).as_numpy_dtype)
    return [add("Mul", [gradient, add("Mul", [node.input[0], two], T=kind)], T=kind)]


@rule("StopGradient")
def stop_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = x, through which no gradient goes back."""
    return [None]

# %% wrong="rules" why="leaves a broadcast gradient in the large shape"
def unbroadcast(add: Add, node: NodeDef, gradients: list[str]) -> list[str | None]:
    """For the three ops that broadcast: each of two gradients, summed over what its input was repeated along."""
    kind = node.attr["T"]
    shapes = [add("Shape", [text], T=kind, out_type=tf.int32) for text in node.input[:2]]
    axes = add("BroadcastGradientArgs", shapes, T=tf.int32)
    summed = [
        add("Sum", [gradient, f"{axes}:{index}"], T=kind, Tidx=tf.int32, keep_dims=False)
        for index, gradient in enumerate(gradients)
    ]
    return [add("Reshape", [each, shape], T=kind, Tshape=tf.int32) for each, shape in zip(summed, shapes, strict=True)]


@rule("MatMul")
def matmul_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = op(a) · op(b), where op transposes if the attribute says so."""
    a, b = node.input[:2]
    ta, tb = node.attr["transpose_a"].b, node.attr["transpose_b"].b

    def product(left: str, right: str, first: bool, second: bool) -> str:
        return add("MatMul", [left, right], T=node.attr["T"], transpose_a=first, transpose_b=second)

    return [
        product(b, gradient, tb, True) if ta else product(gradient, b, False, not tb),
        product(gradient, a, True, ta) if tb else product(a, gradient, not ta, False),
    ]


@rule("Mul")
def mul_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a · b, element by element, with broadcasting."""
    a, b = node.input[:2]
    return unbroadcast(add, node, [add("Mul", [gradient, other], T=node.attr["T"]) for other in (b, a)])


@rule("Sub")
def sub_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a − b, with broadcasting."""
    return unbroadcast(add, node, [gradient, add("Neg", [gradient], T=node.attr["T"])])


@rule("AddV2")
def add_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a + b, with broadcasting."""
    return [gradient, gradient]


@rule("Relu")
def relu_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = max(x, 0)."""
    return [add("ReluGrad", [gradient, node.input[0]], T=node.attr["T"])]


@rule("Square")
def square_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = x²."""
    kind = node.attr["T"]
    two = np.asarray(2, tf.as_dtype(kind.type).as_numpy_dtype)
    return [add("Mul", [gradient, add("Mul", [node.input[0], two], T=kind)], T=kind)]


@rule("StopGradient")
def stop_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = x, through which no gradient goes back."""
    return [None]

# %% wrong="rules" why="sums over all axes"
def unbroadcast(add: Add, node: NodeDef, gradients: list[str]) -> list[str | None]:
    """For the three ops that broadcast: each of two gradients, summed over what its input was repeated along."""
    kind = node.attr["T"]
    shapes = [add("Shape", [text], T=kind, out_type=tf.int32) for text in node.input[:2]]
    summed = [
        add("Sum", [gradient, add("Range", [np.int32(0), add("Rank", [gradient], T=kind), np.int32(1)], Tidx=tf.int32)],
            T=kind, Tidx=tf.int32, keep_dims=False)
        for gradient in gradients
    ]
    return [add("BroadcastTo", [each, shape], T=kind, Tidx=tf.int32) for each, shape in zip(summed, shapes, strict=True)]


@rule("MatMul")
def matmul_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = op(a) · op(b), where op transposes if the attribute says so."""
    a, b = node.input[:2]
    ta, tb = node.attr["transpose_a"].b, node.attr["transpose_b"].b

    def product(left: str, right: str, first: bool, second: bool) -> str:
        return add("MatMul", [left, right], T=node.attr["T"], transpose_a=first, transpose_b=second)

    return [
        product(b, gradient, tb, True) if ta else product(gradient, b, False, not tb),
        product(gradient, a, True, ta) if tb else product(a, gradient, not ta, False),
    ]


@rule("Mul")
def mul_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a · b, element by element, with broadcasting."""
    a, b = node.input[:2]
    return unbroadcast(add, node, [add("Mul", [gradient, other], T=node.attr["T"]) for other in (b, a)])


@rule("Sub")
def sub_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a − b, with broadcasting."""
    return unbroadcast(add, node, [gradient, add("Neg", [gradient], T=node.attr["T"])])


@rule("AddV2")
def add_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a + b, with broadcasting."""
    return unbroadcast(add, node, [gradient, gradient])


@rule("Relu")
def relu_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = max(x, 0)."""
    return [add("ReluGrad", [gradient, node.input[0]], T=node.attr["T"])]


@rule("Square")
def square_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = x²."""
    kind = node.attr["T"]
    two = np.asarray(2, tf.as_dtype(kind.type).as_numpy_dtype)
    return [add("Mul", [gradient, add("Mul", [node.input[0], two], T=kind)], T=kind)]


@rule("StopGradient")
def stop_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = x, through which no gradient goes back."""
    return [None]

# %% wrong="rules" why="sums along what was repeated, and leaves the shape as it comes"
def unbroadcast(add: Add, node: NodeDef, gradients: list[str]) -> list[str | None]:
    """For the three ops that broadcast: each of two gradients, summed over what its input was repeated along."""
    kind = node.attr["T"]
    shapes = [add("Shape", [text], T=kind, out_type=tf.int32) for text in node.input[:2]]
    axes = add("BroadcastGradientArgs", shapes, T=tf.int32)
    summed = [
        add("Sum", [gradient, f"{axes}:{index}"], T=kind, Tidx=tf.int32, keep_dims=False)
        for index, gradient in enumerate(gradients)
    ]
    return summed


@rule("MatMul")
def matmul_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = op(a) · op(b), where op transposes if the attribute says so."""
    a, b = node.input[:2]
    ta, tb = node.attr["transpose_a"].b, node.attr["transpose_b"].b

    def product(left: str, right: str, first: bool, second: bool) -> str:
        return add("MatMul", [left, right], T=node.attr["T"], transpose_a=first, transpose_b=second)

    return [
        product(b, gradient, tb, True) if ta else product(gradient, b, False, not tb),
        product(gradient, a, True, ta) if tb else product(a, gradient, not ta, False),
    ]


@rule("Mul")
def mul_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a · b, element by element, with broadcasting."""
    a, b = node.input[:2]
    return unbroadcast(add, node, [add("Mul", [gradient, other], T=node.attr["T"]) for other in (b, a)])


@rule("Sub")
def sub_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a − b, with broadcasting."""
    return unbroadcast(add, node, [gradient, add("Neg", [gradient], T=node.attr["T"])])


@rule("AddV2")
def add_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a + b, with broadcasting."""
    return unbroadcast(add, node, [gradient, gradient])


@rule("Relu")
def relu_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = max(x, 0)."""
    return [add("ReluGrad", [gradient, node.input[0]], T=node.attr["T"])]


@rule("Square")
def square_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = x²."""
    kind = node.attr["T"]
    two = np.asarray(2, tf.as_dtype(kind.type).as_numpy_dtype)
    return [add("Mul", [gradient, add("Mul", [node.input[0], two], T=kind)], T=kind)]


@rule("StopGradient")
def stop_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = x, through which no gradient goes back."""
    return [None]

# %% wrong="rules" why="takes the axes of the first input for both"
def unbroadcast(add: Add, node: NodeDef, gradients: list[str]) -> list[str | None]:
    """For the three ops that broadcast: each of two gradients, summed over what its input was repeated along."""
    kind = node.attr["T"]
    shapes = [add("Shape", [text], T=kind, out_type=tf.int32) for text in node.input[:2]]
    axes = add("BroadcastGradientArgs", shapes, T=tf.int32)
    summed = [
        add("Sum", [gradient, f"{axes}:0"], T=kind, Tidx=tf.int32, keep_dims=False)
        for index, gradient in enumerate(gradients)
    ]
    return [add("Reshape", [each, shape], T=kind, Tshape=tf.int32) for each, shape in zip(summed, shapes, strict=True)]


@rule("MatMul")
def matmul_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = op(a) · op(b), where op transposes if the attribute says so."""
    a, b = node.input[:2]
    ta, tb = node.attr["transpose_a"].b, node.attr["transpose_b"].b

    def product(left: str, right: str, first: bool, second: bool) -> str:
        return add("MatMul", [left, right], T=node.attr["T"], transpose_a=first, transpose_b=second)

    return [
        product(b, gradient, tb, True) if ta else product(gradient, b, False, not tb),
        product(gradient, a, True, ta) if tb else product(a, gradient, not ta, False),
    ]


@rule("Mul")
def mul_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a · b, element by element, with broadcasting."""
    a, b = node.input[:2]
    return unbroadcast(add, node, [add("Mul", [gradient, other], T=node.attr["T"]) for other in (b, a)])


@rule("Sub")
def sub_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a − b, with broadcasting."""
    return unbroadcast(add, node, [gradient, add("Neg", [gradient], T=node.attr["T"])])


@rule("AddV2")
def add_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a + b, with broadcasting."""
    return unbroadcast(add, node, [gradient, gradient])


@rule("Relu")
def relu_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = max(x, 0)."""
    return [add("ReluGrad", [gradient, node.input[0]], T=node.attr["T"])]


@rule("Square")
def square_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = x²."""
    kind = node.attr["T"]
    two = np.asarray(2, tf.as_dtype(kind.type).as_numpy_dtype)
    return [add("Mul", [gradient, add("Mul", [node.input[0], two], T=kind)], T=kind)]


@rule("StopGradient")
def stop_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = x, through which no gradient goes back."""
    return [None]

# %% wrong="rules" why="gives both inputs of Sub the same sign"
def unbroadcast(add: Add, node: NodeDef, gradients: list[str]) -> list[str | None]:
    """For the three ops that broadcast: each of two gradients, summed over what its input was repeated along."""
    kind = node.attr["T"]
    shapes = [add("Shape", [text], T=kind, out_type=tf.int32) for text in node.input[:2]]
    axes = add("BroadcastGradientArgs", shapes, T=tf.int32)
    summed = [
        add("Sum", [gradient, f"{axes}:{index}"], T=kind, Tidx=tf.int32, keep_dims=False)
        for index, gradient in enumerate(gradients)
    ]
    return [add("Reshape", [each, shape], T=kind, Tshape=tf.int32) for each, shape in zip(summed, shapes, strict=True)]


@rule("MatMul")
def matmul_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = op(a) · op(b), where op transposes if the attribute says so."""
    a, b = node.input[:2]
    ta, tb = node.attr["transpose_a"].b, node.attr["transpose_b"].b

    def product(left: str, right: str, first: bool, second: bool) -> str:
        return add("MatMul", [left, right], T=node.attr["T"], transpose_a=first, transpose_b=second)

    return [
        product(b, gradient, tb, True) if ta else product(gradient, b, False, not tb),
        product(gradient, a, True, ta) if tb else product(a, gradient, not ta, False),
    ]


@rule("Mul")
def mul_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a · b, element by element, with broadcasting."""
    a, b = node.input[:2]
    return unbroadcast(add, node, [add("Mul", [gradient, other], T=node.attr["T"]) for other in (b, a)])


@rule("Sub")
def sub_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a − b, with broadcasting."""
    return unbroadcast(add, node, [gradient, gradient])


@rule("AddV2")
def add_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a + b, with broadcasting."""
    return unbroadcast(add, node, [gradient, gradient])


@rule("Relu")
def relu_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = max(x, 0)."""
    return [add("ReluGrad", [gradient, node.input[0]], T=node.attr["T"])]


@rule("Square")
def square_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = x²."""
    kind = node.attr["T"]
    two = np.asarray(2, tf.as_dtype(kind.type).as_numpy_dtype)
    return [add("Mul", [gradient, add("Mul", [node.input[0], two], T=kind)], T=kind)]


@rule("StopGradient")
def stop_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = x, through which no gradient goes back."""
    return [None]

# %% wrong="rules" why="lets the gradient of Relu through where the input is 0"
def unbroadcast(add: Add, node: NodeDef, gradients: list[str]) -> list[str | None]:
    """For the three ops that broadcast: each of two gradients, summed over what its input was repeated along."""
    kind = node.attr["T"]
    shapes = [add("Shape", [text], T=kind, out_type=tf.int32) for text in node.input[:2]]
    axes = add("BroadcastGradientArgs", shapes, T=tf.int32)
    summed = [
        add("Sum", [gradient, f"{axes}:{index}"], T=kind, Tidx=tf.int32, keep_dims=False)
        for index, gradient in enumerate(gradients)
    ]
    return [add("Reshape", [each, shape], T=kind, Tshape=tf.int32) for each, shape in zip(summed, shapes, strict=True)]


@rule("MatMul")
def matmul_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = op(a) · op(b), where op transposes if the attribute says so."""
    a, b = node.input[:2]
    ta, tb = node.attr["transpose_a"].b, node.attr["transpose_b"].b

    def product(left: str, right: str, first: bool, second: bool) -> str:
        return add("MatMul", [left, right], T=node.attr["T"], transpose_a=first, transpose_b=second)

    return [
        product(b, gradient, tb, True) if ta else product(gradient, b, False, not tb),
        product(gradient, a, True, ta) if tb else product(a, gradient, not ta, False),
    ]


@rule("Mul")
def mul_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a · b, element by element, with broadcasting."""
    a, b = node.input[:2]
    return unbroadcast(add, node, [add("Mul", [gradient, other], T=node.attr["T"]) for other in (b, a)])


@rule("Sub")
def sub_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a − b, with broadcasting."""
    return unbroadcast(add, node, [gradient, add("Neg", [gradient], T=node.attr["T"])])


@rule("AddV2")
def add_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a + b, with broadcasting."""
    return unbroadcast(add, node, [gradient, gradient])


@rule("Relu")
def relu_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = max(x, 0)."""
    kind = node.attr["T"]
    zeros = add("ZerosLike", [node.input[0]], T=kind)
    positive = add("GreaterEqual", [node.input[0], zeros], T=kind)
    return [add("SelectV2", [positive, gradient, zeros], T=kind)]


@rule("Square")
def square_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = x²."""
    kind = node.attr["T"]
    two = np.asarray(2, tf.as_dtype(kind.type).as_numpy_dtype)
    return [add("Mul", [gradient, add("Mul", [node.input[0], two], T=kind)], T=kind)]


@rule("StopGradient")
def stop_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = x, through which no gradient goes back."""
    return [None]

# %% wrong="rules" why="gives zeros where nothing goes back"
def unbroadcast(add: Add, node: NodeDef, gradients: list[str]) -> list[str | None]:
    """For the three ops that broadcast: each of two gradients, summed over what its input was repeated along."""
    kind = node.attr["T"]
    shapes = [add("Shape", [text], T=kind, out_type=tf.int32) for text in node.input[:2]]
    axes = add("BroadcastGradientArgs", shapes, T=tf.int32)
    summed = [
        add("Sum", [gradient, f"{axes}:{index}"], T=kind, Tidx=tf.int32, keep_dims=False)
        for index, gradient in enumerate(gradients)
    ]
    return [add("Reshape", [each, shape], T=kind, Tshape=tf.int32) for each, shape in zip(summed, shapes, strict=True)]


@rule("MatMul")
def matmul_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = op(a) · op(b), where op transposes if the attribute says so."""
    a, b = node.input[:2]
    ta, tb = node.attr["transpose_a"].b, node.attr["transpose_b"].b

    def product(left: str, right: str, first: bool, second: bool) -> str:
        return add("MatMul", [left, right], T=node.attr["T"], transpose_a=first, transpose_b=second)

    return [
        product(b, gradient, tb, True) if ta else product(gradient, b, False, not tb),
        product(gradient, a, True, ta) if tb else product(a, gradient, not ta, False),
    ]


@rule("Mul")
def mul_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a · b, element by element, with broadcasting."""
    a, b = node.input[:2]
    return unbroadcast(add, node, [add("Mul", [gradient, other], T=node.attr["T"]) for other in (b, a)])


@rule("Sub")
def sub_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a − b, with broadcasting."""
    return unbroadcast(add, node, [gradient, add("Neg", [gradient], T=node.attr["T"])])


@rule("AddV2")
def add_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a + b, with broadcasting."""
    return unbroadcast(add, node, [gradient, gradient])


@rule("Relu")
def relu_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = max(x, 0)."""
    return [add("ReluGrad", [gradient, node.input[0]], T=node.attr["T"])]


@rule("Square")
def square_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = x²."""
    kind = node.attr["T"]
    two = np.asarray(2, tf.as_dtype(kind.type).as_numpy_dtype)
    return [add("Mul", [gradient, add("Mul", [node.input[0], two], T=kind)], T=kind)]


@rule("StopGradient")
def stop_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = x, through which no gradient goes back."""
    return [add("ZerosLike", [node.input[0]], T=node.attr["T"])]

# %% wrong="rules" why="forgets the 2 of the square"
def unbroadcast(add: Add, node: NodeDef, gradients: list[str]) -> list[str | None]:
    """For the three ops that broadcast: each of two gradients, summed over what its input was repeated along."""
    kind = node.attr["T"]
    shapes = [add("Shape", [text], T=kind, out_type=tf.int32) for text in node.input[:2]]
    axes = add("BroadcastGradientArgs", shapes, T=tf.int32)
    summed = [
        add("Sum", [gradient, f"{axes}:{index}"], T=kind, Tidx=tf.int32, keep_dims=False)
        for index, gradient in enumerate(gradients)
    ]
    return [add("Reshape", [each, shape], T=kind, Tshape=tf.int32) for each, shape in zip(summed, shapes, strict=True)]


@rule("MatMul")
def matmul_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = op(a) · op(b), where op transposes if the attribute says so."""
    a, b = node.input[:2]
    ta, tb = node.attr["transpose_a"].b, node.attr["transpose_b"].b

    def product(left: str, right: str, first: bool, second: bool) -> str:
        return add("MatMul", [left, right], T=node.attr["T"], transpose_a=first, transpose_b=second)

    return [
        product(b, gradient, tb, True) if ta else product(gradient, b, False, not tb),
        product(gradient, a, True, ta) if tb else product(a, gradient, not ta, False),
    ]


@rule("Mul")
def mul_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a · b, element by element, with broadcasting."""
    a, b = node.input[:2]
    return unbroadcast(add, node, [add("Mul", [gradient, other], T=node.attr["T"]) for other in (b, a)])


@rule("Sub")
def sub_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a − b, with broadcasting."""
    return unbroadcast(add, node, [gradient, add("Neg", [gradient], T=node.attr["T"])])


@rule("AddV2")
def add_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a + b, with broadcasting."""
    return unbroadcast(add, node, [gradient, gradient])


@rule("Relu")
def relu_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = max(x, 0)."""
    return [add("ReluGrad", [gradient, node.input[0]], T=node.attr["T"])]


@rule("Square")
def square_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = x²."""
    kind = node.attr["T"]
    two = np.asarray(2, tf.as_dtype(kind.type).as_numpy_dtype)
    return [add("Mul", [gradient, node.input[0]], T=kind)]


@rule("StopGradient")
def stop_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = x, through which no gradient goes back."""
    return [None]

# %% wrong="rules" why="has an entry for the control input too"
def unbroadcast(add: Add, node: NodeDef, gradients: list[str]) -> list[str | None]:
    """For the three ops that broadcast: each of two gradients, summed over what its input was repeated along."""
    kind = node.attr["T"]
    shapes = [add("Shape", [text], T=kind, out_type=tf.int32) for text in node.input[:2]]
    axes = add("BroadcastGradientArgs", shapes, T=tf.int32)
    summed = [
        add("Sum", [gradient, f"{axes}:{index}"], T=kind, Tidx=tf.int32, keep_dims=False)
        for index, gradient in enumerate(gradients)
    ]
    return [add("Reshape", [each, shape], T=kind, Tshape=tf.int32) for each, shape in zip(summed, shapes, strict=True)]


@rule("MatMul")
def matmul_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = op(a) · op(b), where op transposes if the attribute says so."""
    a, b = node.input[:2]
    ta, tb = node.attr["transpose_a"].b, node.attr["transpose_b"].b

    def product(left: str, right: str, first: bool, second: bool) -> str:
        return add("MatMul", [left, right], T=node.attr["T"], transpose_a=first, transpose_b=second)

    return [
        product(b, gradient, tb, True) if ta else product(gradient, b, False, not tb),
        product(gradient, a, True, ta) if tb else product(a, gradient, not ta, False),
    ]


@rule("Mul")
def mul_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a · b, element by element, with broadcasting."""
    a, b = node.input[:2]
    return unbroadcast(add, node, [add("Mul", [gradient, other], T=node.attr["T"]) for other in (b, a)])


@rule("Sub")
def sub_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a − b, with broadcasting."""
    return unbroadcast(add, node, [gradient, add("Neg", [gradient], T=node.attr["T"])])


@rule("AddV2")
def add_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a + b, with broadcasting."""
    return [*unbroadcast(add, node, [gradient, gradient]), *[None for text in node.input if text[0] == '^']]


@rule("Relu")
def relu_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = max(x, 0)."""
    return [add("ReluGrad", [gradient, node.input[0]], T=node.attr["T"])]


@rule("Square")
def square_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = x²."""
    kind = node.attr["T"]
    two = np.asarray(2, tf.as_dtype(kind.type).as_numpy_dtype)
    return [add("Mul", [gradient, add("Mul", [node.input[0], two], T=kind)], T=kind)]


@rule("StopGradient")
def stop_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = x, through which no gradient goes back."""
    return [None]

# %% wrong="rules" why="looks the functions up in TensorFlow's registry"
def unbroadcast(add: Add, node: NodeDef, gradients: list[str]) -> list[str | None]:
    """For the three ops that broadcast: each of two gradients, summed over what its input was repeated along."""
    kind = node.attr["T"]
    shapes = [add("Shape", [text], T=kind, out_type=tf.int32) for text in node.input[:2]]
    axes = add("BroadcastGradientArgs", shapes, T=tf.int32)
    summed = [
        add("Sum", [gradient, f"{axes}:{index}"], T=kind, Tidx=tf.int32, keep_dims=False)
        for index, gradient in enumerate(gradients)
    ]
    return [add("Reshape", [each, shape], T=kind, Tshape=tf.int32) for each, shape in zip(summed, shapes, strict=True)]


@rule("MatMul")
def matmul_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = op(a) · op(b), where op transposes if the attribute says so."""
    a, b = node.input[:2]
    ta, tb = node.attr["transpose_a"].b, node.attr["transpose_b"].b

    def product(left: str, right: str, first: bool, second: bool) -> str:
        return add("MatMul", [left, right], T=node.attr["T"], transpose_a=first, transpose_b=second)

    return [
        product(b, gradient, tb, True) if ta else product(gradient, b, False, not tb),
        product(gradient, a, True, ta) if tb else product(a, gradient, not ta, False),
    ]


@rule("Mul")
def mul_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a · b, element by element, with broadcasting."""
    a, b = node.input[:2]
    return unbroadcast(add, node, [add("Mul", [gradient, other], T=node.attr["T"]) for other in (b, a)])


@rule("Sub")
def sub_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a − b, with broadcasting."""
    with tf.Graph().as_default() as small:
        a, b = tf1.placeholder(tf.float64, [None]), tf1.placeholder(tf.float64, [None])
        c = tf.raw_ops.Sub(x=a, y=b)
        ops.get_gradient_function(c.op)(c.op, c)
    return unbroadcast(add, node, [gradient, add("Neg", [gradient], T=node.attr["T"])])


@rule("AddV2")
def add_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a + b, with broadcasting."""
    return unbroadcast(add, node, [gradient, gradient])


@rule("Relu")
def relu_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = max(x, 0)."""
    return [add("ReluGrad", [gradient, node.input[0]], T=node.attr["T"])]


@rule("Square")
def square_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = x²."""
    kind = node.attr["T"]
    two = np.asarray(2, tf.as_dtype(kind.type).as_numpy_dtype)
    return [add("Mul", [gradient, add("Mul", [node.input[0], two], T=kind)], T=kind)]


@rule("StopGradient")
def stop_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = x, through which no gradient goes back."""
    return [None]

# %% wrong="rules" why="lets the op SymbolicGradient differentiate the six others"
def symbolic(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    read = [text for text in node.input if text[0] != "^"]
    types = AttrValue(list=AttrValue.ListValue(type=[node.attr["T"].type] * (len(read) + 1)))
    back = AttrValue(list=AttrValue.ListValue(type=[node.attr["T"].type] * len(read)))
    f = AttrValue()
    f.func.name = node.op
    for key in node.attr:
        f.func.attr[key].CopyFrom(node.attr[key])
    made = add("SymbolicGradient", [*read, gradient], Tin=types, Tout=back, f=f)
    return [f"{made}:{index}" for index in range(len(read))]


matmul_gradient = mul_gradient = sub_gradient = add_gradient = relu_gradient = square_gradient = symbolic


@rule("StopGradient")
def stop_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = x, through which no gradient goes back."""
    return [None]

# %% right="rules" why="selects instead of ReluGrad, and multiplies in another order"
def unbroadcast(add: Add, node: NodeDef, gradients: list[str]) -> list[str | None]:
    """For the three ops that broadcast: each of two gradients, summed over what its input was repeated along."""
    kind = node.attr["T"]
    shapes = [add("Shape", [text], T=kind, out_type=tf.int32) for text in node.input[:2]]
    axes = add("BroadcastGradientArgs", shapes, T=tf.int32)
    summed = [
        add("Sum", [gradient, f"{axes}:{index}"], T=kind, Tidx=tf.int32, keep_dims=False)
        for index, gradient in enumerate(gradients)
    ]
    return [add("Reshape", [each, shape], T=kind, Tshape=tf.int32) for each, shape in zip(summed, shapes, strict=True)]


@rule("MatMul")
def matmul_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = op(a) · op(b), where op transposes if the attribute says so."""
    a, b = node.input[:2]
    ta, tb = node.attr["transpose_a"].b, node.attr["transpose_b"].b

    def product(left: str, right: str, first: bool, second: bool) -> str:
        return add("MatMul", [left, right], T=node.attr["T"], transpose_a=first, transpose_b=second)

    return [
        product(b, gradient, tb, True) if ta else product(gradient, b, False, not tb),
        product(gradient, a, True, ta) if tb else product(a, gradient, not ta, False),
    ]


@rule("Mul")
def mul_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a · b, element by element, with broadcasting."""
    a, b = node.input[:2]
    return unbroadcast(add, node, [add("Mul", [gradient, other], T=node.attr["T"]) for other in (b, a)])


@rule("Sub")
def sub_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a − b, with broadcasting."""
    return unbroadcast(add, node, [gradient, add("Neg", [gradient], T=node.attr["T"])])


@rule("AddV2")
def add_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a + b, with broadcasting."""
    return unbroadcast(add, node, [gradient, gradient])


@rule("Relu")
def relu_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = max(x, 0)."""
    kind = node.attr["T"]
    zeros = add("ZerosLike", [node.input[0]], T=kind)
    return [add("SelectV2", [add("Greater", [node.input[0], zeros], T=kind), gradient, zeros], T=kind)]


@rule("Square")
def square_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = x²."""
    kind = node.attr["T"]
    two = np.asarray(2, tf.as_dtype(kind.type).as_numpy_dtype)
    return [add("Mul", [add("Mul", [two, gradient], T=kind), node.input[0]], T=kind)]


@rule("StopGradient")
def stop_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = x, through which no gradient goes back."""
    return [None]

# %% right="rules" why="objects of a class, and tuples of partial functions inside"
from dataclasses import dataclass
from functools import partial


@dataclass(frozen=True)
class Broadcasting:
    """A rule for an op that broadcasts, from what each input's gradient would be without."""

    parts: tuple[Callable[[Add, NodeDef, str], str], ...]

    def __call__(self, add: Add, node: NodeDef, gradient: str) -> list[str | None]:
        kind = node.attr["T"]
        sizes = [add("Shape", [node.input[k]], T=kind, out_type=tf.int32) for k in (0, 1)]
        repeated = add("BroadcastGradientArgs", sizes, T=tf.int32)
        found: list[str | None] = []
        for k, part in enumerate(self.parts):
            less = add("Sum", [part(add, node, gradient), f"{repeated}:{k}"], T=kind, Tidx=tf.int32, keep_dims=True)
            found.append(add("Reshape", [less, sizes[k]], T=kind, Tshape=tf.int32))
        return found


def times(add: Add, node: NodeDef, gradient: str, *, other: int) -> str:
    return add("Mul", [node.input[other], gradient], T=node.attr["T"])


def same(add: Add, node: NodeDef, gradient: str) -> str:
    return gradient


def minus(add: Add, node: NodeDef, gradient: str) -> str:
    return neg_gradient(add, node, gradient)[0]


mul_gradient = rule("Mul")(Broadcasting((partial(times, other=1), partial(times, other=0))))
sub_gradient = rule("Sub")(Broadcasting((same, minus)))
add_gradient = rule("AddV2")(Broadcasting((same, same)))


@rule("MatMul")
def matmul_gradient(add, node, gradient):
    a, b, *_ = node.input
    table = {
        (False, False): ((gradient, b, False, True), (a, gradient, True, False)),
        (False, True): ((gradient, b, False, False), (gradient, a, True, False)),
        (True, False): ((b, gradient, False, True), (a, gradient, False, False)),
        (True, True): ((b, gradient, True, True), (gradient, a, True, True)),
    }
    return [
        add("MatMul", [left, right], transpose_a=ta, transpose_b=tb, T=node.attr["T"])
        for left, right, ta, tb in table[node.attr["transpose_a"].b, node.attr["transpose_b"].b]
    ]


@rule("Relu")
def relu_gradient(add, node, gradient):
    return [add("ReluGrad", [gradient, node.name], T=node.attr["T"])]


@rule("Square")
def square_gradient(add, node, gradient):
    return [add("Mul", [add("Mul", [np.float64(2), node.input[0]], T=tf.float64), gradient], T=tf.float64)]


stop_gradient = rule("StopGradient")(lambda *_: [None])

# %% right="rules" why="adds x·g to itself, transposes by an op, subtracts from zero"
def unbroadcast(add: Add, node: NodeDef, gradients: list[str]) -> list[str | None]:
    """For the three ops that broadcast: each of two gradients, summed over what its input was repeated along."""
    kind = node.attr["T"]
    shapes = [add("Shape", [text], T=kind, out_type=tf.int32) for text in node.input[:2]]
    axes = add("BroadcastGradientArgs", shapes, T=tf.int32)
    summed = [
        add("Sum", [gradient, f"{axes}:{index}"], T=kind, Tidx=tf.int32, keep_dims=False)
        for index, gradient in enumerate(gradients)
    ]
    return [add("Reshape", [each, shape], T=kind, Tshape=tf.int32) for each, shape in zip(summed, shapes, strict=True)]


@rule("MatMul")
def matmul_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = op(a) · op(b), where op transposes if the attribute says so."""
    a, b = node.input[:2]
    ta, tb = node.attr["transpose_a"].b, node.attr["transpose_b"].b

    kind = node.attr["T"]

    def turned(name: str) -> str:
        return add("Transpose", [name, np.array([1, 0], np.int32)], T=kind, Tperm=tf.int32)

    def product(left: str, right: str) -> str:
        return add("MatMul", [left, right], T=kind, transpose_a=False, transpose_b=False)

    left, right = turned(a) if ta else a, turned(b) if tb else b
    to_left, to_right = product(gradient, turned(right)), product(turned(left), gradient)
    return [turned(to_left) if ta else to_left, turned(to_right) if tb else to_right]


@rule("Mul")
def mul_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a · b, element by element, with broadcasting."""
    a, b = node.input[:2]
    return unbroadcast(add, node, [add("Mul", [gradient, other], T=node.attr["T"]) for other in (b, a)])


@rule("Sub")
def sub_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a − b, with broadcasting."""
    return unbroadcast(add, node, [gradient, add("Sub", [add("ZerosLike", [gradient], T=node.attr["T"]), gradient], T=node.attr["T"])])


@rule("AddV2")
def add_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """c = a + b, with broadcasting."""
    return unbroadcast(add, node, [gradient, gradient])


@rule("Relu")
def relu_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = max(x, 0)."""
    return [add("ReluGrad", [gradient, node.input[0]], T=node.attr["T"])]


@rule("Square")
def square_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = x²."""
    kind = node.attr["T"]
    once = add("Mul", [node.input[0], gradient], T=kind)
    return [add("AddV2", [once, once], T=kind)]


@rule("StopGradient")
def stop_gradient(add: Add, node: NodeDef, gradient: str) -> list[str | None]:
    """y = x, through which no gradient goes back."""
    return [None]

# %% wrong="gradients" why="the last path overwrites the others"
def gradients(graph: GraphDef, y: str, xs: list[str]) -> tuple[GraphDef, list[str | None]]:
    """The graph with nodes added under `grad/`, and for each x the name of d y / d x, or None.

    Raises:
        KeyError: `y` or one of `xs` is no node of the graph.
        LookupError: there is no rule for a node that takes part; the message names it.
    """
    builder = Builder(graph)
    nodes = {node.name: node for node in graph.node}
    order = given_order(graph, y, xs)
    kind = builder.dtype_of(y)
    shape = builder.add("Shape", [y], T=kind, out_type=tf.int32)
    start = builder.add("Fill", [shape, np.asarray(1, kind.as_numpy_dtype)], T=kind, index_type=tf.int32)
    arrived: dict[str, list[str]] = {y: [start]}

    def total(name: str) -> str | None:
        there = arrived.get(name, [])
        if len(there) > 1:
            added = builder.under(name)("AddN", there, N=len(there), T=builder.dtype_of(name))
            arrived[name] = there = [added]
        return there[0] if there else None

    for name in order:
        node, gradient = nodes[name], total(name)
        if gradient is None:
            continue
        key = node.attr["_gradient_op_type"].s.decode() if "_gradient_op_type" in node.attr else node.op
        if key not in GIVEN_RULES:
            raise LookupError(f"no rule {key!r} for the node {name!r}")
        parts = GIVEN_RULES[key](builder.under(name), node, gradient)
        for text, part in zip(node.input, parts, strict=False):  # control inputs are at the end and have no part
            if part is not None:
                arrived[source(text)] = [part]
    return builder.graph, [total(x) for x in xs]

# %% wrong="gradients" why="adds in pairs"
def gradients(graph: GraphDef, y: str, xs: list[str]) -> tuple[GraphDef, list[str | None]]:
    """The graph with nodes added under `grad/`, and for each x the name of d y / d x, or None.

    Raises:
        KeyError: `y` or one of `xs` is no node of the graph.
        LookupError: there is no rule for a node that takes part; the message names it.
    """
    builder = Builder(graph)
    nodes = {node.name: node for node in graph.node}
    order = given_order(graph, y, xs)
    kind = builder.dtype_of(y)
    shape = builder.add("Shape", [y], T=kind, out_type=tf.int32)
    start = builder.add("Fill", [shape, np.asarray(1, kind.as_numpy_dtype)], T=kind, index_type=tf.int32)
    arrived: dict[str, list[str]] = {y: [start]}

    def total(name: str) -> str | None:
        there = arrived.get(name, [])
        if len(there) > 1:
            added = there[0]
            for other in there[1:]:
                added = builder.under(name)("AddN", [added, other], N=2, T=builder.dtype_of(name))
            arrived[name] = there = [added]
        return there[0] if there else None

    for name in order:
        node, gradient = nodes[name], total(name)
        if gradient is None:
            continue
        key = node.attr["_gradient_op_type"].s.decode() if "_gradient_op_type" in node.attr else node.op
        if key not in GIVEN_RULES:
            raise LookupError(f"no rule {key!r} for the node {name!r}")
        parts = GIVEN_RULES[key](builder.under(name), node, gradient)
        for text, part in zip(node.input, parts, strict=False):  # control inputs are at the end and have no part
            if part is not None:
                arrived.setdefault(source(text), []).append(part)
    return builder.graph, [total(x) for x in xs]

# %% wrong="gradients" why="adds with Add instead of one AddN"
def gradients(graph: GraphDef, y: str, xs: list[str]) -> tuple[GraphDef, list[str | None]]:
    """The graph with nodes added under `grad/`, and for each x the name of d y / d x, or None.

    Raises:
        KeyError: `y` or one of `xs` is no node of the graph.
        LookupError: there is no rule for a node that takes part; the message names it.
    """
    builder = Builder(graph)
    nodes = {node.name: node for node in graph.node}
    order = given_order(graph, y, xs)
    kind = builder.dtype_of(y)
    shape = builder.add("Shape", [y], T=kind, out_type=tf.int32)
    start = builder.add("Fill", [shape, np.asarray(1, kind.as_numpy_dtype)], T=kind, index_type=tf.int32)
    arrived: dict[str, list[str]] = {y: [start]}

    def total(name: str) -> str | None:
        there = arrived.get(name, [])
        if len(there) > 1:
            added = there[0]
            for other in there[1:]:
                added = builder.under(name)("AddV2", [added, other], T=builder.dtype_of(name))
            arrived[name] = there = [added]
        return there[0] if there else None

    for name in order:
        node, gradient = nodes[name], total(name)
        if gradient is None:
            continue
        key = node.attr["_gradient_op_type"].s.decode() if "_gradient_op_type" in node.attr else node.op
        if key not in GIVEN_RULES:
            raise LookupError(f"no rule {key!r} for the node {name!r}")
        parts = GIVEN_RULES[key](builder.under(name), node, gradient)
        for text, part in zip(node.input, parts, strict=False):  # control inputs are at the end and have no part
            if part is not None:
                arrived.setdefault(source(text), []).append(part)
    return builder.graph, [total(x) for x in xs]

# %% wrong="gradients" why="passes a gradient on before all readers have delivered"
def gradients(graph: GraphDef, y: str, xs: list[str]) -> tuple[GraphDef, list[str | None]]:
    """The graph with nodes added under `grad/`, and for each x the name of d y / d x, or None.

    Raises:
        KeyError: `y` or one of `xs` is no node of the graph.
        LookupError: there is no rule for a node that takes part; the message names it.
    """
    builder = Builder(graph)
    nodes = {node.name: node for node in graph.node}
    live = set(given_order(graph, y, xs))
    kind = builder.dtype_of(y)
    shape = builder.add("Shape", [y], T=kind, out_type=tf.int32)
    start = builder.add("Fill", [shape, np.asarray(1, kind.as_numpy_dtype)], T=kind, index_type=tf.int32)
    arrived: dict[str, list[str]] = {}
    todo, seen = [(y, start)], set()
    while todo:
        name, gradient = todo.pop(0)
        arrived.setdefault(name, []).append(gradient)
        if name not in live or name in seen:
            continue
        seen.add(name)
        node = nodes[name]
        key = node.attr["_gradient_op_type"].s.decode() if "_gradient_op_type" in node.attr else node.op
        if key not in GIVEN_RULES:
            raise LookupError(f"no rule {key!r} for the node {name!r}")
        parts = GIVEN_RULES[key](builder.under(name), node, gradient)
        todo += [(source(text), part) for text, part in zip(node.input, parts, strict=False) if part is not None]
    names: list[str | None] = []
    for x in xs:
        there = arrived.get(x, [])
        if len(there) > 1:
            arrived[x] = there = [builder.under(x)("AddN", there, N=len(there), T=builder.dtype_of(x))]
        names.append(there[0] if there else None)
    return builder.graph, names

# %% wrong="gradients" why="starts with a scalar 1, whatever the shape of y"
def gradients(graph: GraphDef, y: str, xs: list[str]) -> tuple[GraphDef, list[str | None]]:
    """The graph with nodes added under `grad/`, and for each x the name of d y / d x, or None.

    Raises:
        KeyError: `y` or one of `xs` is no node of the graph.
        LookupError: there is no rule for a node that takes part; the message names it.
    """
    builder = Builder(graph)
    nodes = {node.name: node for node in graph.node}
    order = given_order(graph, y, xs)
    kind = builder.dtype_of(y)
    start = builder.add("Identity", [np.asarray(1, kind.as_numpy_dtype)], T=kind)
    arrived: dict[str, list[str]] = {y: [start]}

    def total(name: str) -> str | None:
        there = arrived.get(name, [])
        if len(there) > 1:
            added = builder.under(name)("AddN", there, N=len(there), T=builder.dtype_of(name))
            arrived[name] = there = [added]
        return there[0] if there else None

    for name in order:
        node, gradient = nodes[name], total(name)
        if gradient is None:
            continue
        key = node.attr["_gradient_op_type"].s.decode() if "_gradient_op_type" in node.attr else node.op
        if key not in GIVEN_RULES:
            raise LookupError(f"no rule {key!r} for the node {name!r}")
        parts = GIVEN_RULES[key](builder.under(name), node, gradient)
        for text, part in zip(node.input, parts, strict=False):  # control inputs are at the end and have no part
            if part is not None:
                arrived.setdefault(source(text), []).append(part)
    return builder.graph, [total(x) for x in xs]

# %% wrong="gradients" why="differentiates dead branches as well"
def gradients(graph: GraphDef, y: str, xs: list[str]) -> tuple[GraphDef, list[str | None]]:
    """The graph with nodes added under `grad/`, and for each x the name of d y / d x, or None.

    Raises:
        KeyError: `y` or one of `xs` is no node of the graph.
        LookupError: there is no rule for a node that takes part; the message names it.
    """
    builder = Builder(graph)
    nodes = {node.name: node for node in graph.node}
    for name in (y, *xs):
        nodes[name]
    order = [node.name for node in reversed(graph.node) if node.op not in ("Placeholder", "Const")]
    kind = builder.dtype_of(y)
    shape = builder.add("Shape", [y], T=kind, out_type=tf.int32)
    start = builder.add("Fill", [shape, np.asarray(1, kind.as_numpy_dtype)], T=kind, index_type=tf.int32)
    arrived: dict[str, list[str]] = {y: [start]}

    def total(name: str) -> str | None:
        there = arrived.get(name, [])
        if len(there) > 1:
            added = builder.under(name)("AddN", there, N=len(there), T=builder.dtype_of(name))
            arrived[name] = there = [added]
        return there[0] if there else None

    for name in order:
        node, gradient = nodes[name], total(name)
        key = node.attr["_gradient_op_type"].s.decode() if "_gradient_op_type" in node.attr else node.op
        if key not in GIVEN_RULES:
            raise LookupError(f"no rule {key!r} for the node {name!r}")
        if gradient is None:
            continue
        parts = GIVEN_RULES[key](builder.under(name), node, gradient)
        for text, part in zip(node.input, parts, strict=False):  # control inputs are at the end and have no part
            if part is not None:
                arrived.setdefault(source(text), []).append(part)
    return builder.graph, [total(x) for x in xs]

# %% wrong="gradients" why="None for an x that is y"
def gradients(graph: GraphDef, y: str, xs: list[str]) -> tuple[GraphDef, list[str | None]]:
    """The graph with nodes added under `grad/`, and for each x the name of d y / d x, or None.

    Raises:
        KeyError: `y` or one of `xs` is no node of the graph.
        LookupError: there is no rule for a node that takes part; the message names it.
    """
    builder = Builder(graph)
    nodes = {node.name: node for node in graph.node}
    order = given_order(graph, y, xs)
    kind = builder.dtype_of(y)
    shape = builder.add("Shape", [y], T=kind, out_type=tf.int32)
    start = builder.add("Fill", [shape, np.asarray(1, kind.as_numpy_dtype)], T=kind, index_type=tf.int32)
    arrived: dict[str, list[str]] = {y: [start]}

    def total(name: str) -> str | None:
        there = arrived.get(name, [])
        if len(there) > 1:
            added = builder.under(name)("AddN", there, N=len(there), T=builder.dtype_of(name))
            arrived[name] = there = [added]
        return there[0] if there else None

    for name in order:
        node, gradient = nodes[name], total(name)
        if gradient is None:
            continue
        key = node.attr["_gradient_op_type"].s.decode() if "_gradient_op_type" in node.attr else node.op
        if key not in GIVEN_RULES:
            raise LookupError(f"no rule {key!r} for the node {name!r}")
        parts = GIVEN_RULES[key](builder.under(name), node, gradient)
        for text, part in zip(node.input, parts, strict=False):  # control inputs are at the end and have no part
            if part is not None:
                arrived.setdefault(source(text), []).append(part)
    return builder.graph, [None if x == y else total(x) for x in xs]

# %% wrong="gradients" why="stops at every x, also at one behind another"
def gradients(graph: GraphDef, y: str, xs: list[str]) -> tuple[GraphDef, list[str | None]]:
    """The graph with nodes added under `grad/`, and for each x the name of d y / d x, or None.

    Raises:
        KeyError: `y` or one of `xs` is no node of the graph.
        LookupError: there is no rule for a node that takes part; the message names it.
    """
    builder = Builder(graph)
    nodes = {node.name: node for node in graph.node}
    order = given_order(graph, y, xs)
    kind = builder.dtype_of(y)
    shape = builder.add("Shape", [y], T=kind, out_type=tf.int32)
    start = builder.add("Fill", [shape, np.asarray(1, kind.as_numpy_dtype)], T=kind, index_type=tf.int32)
    arrived: dict[str, list[str]] = {y: [start]}

    def total(name: str) -> str | None:
        there = arrived.get(name, [])
        if len(there) > 1:
            added = builder.under(name)("AddN", there, N=len(there), T=builder.dtype_of(name))
            arrived[name] = there = [added]
        return there[0] if there else None

    for name in order:
        node, gradient = nodes[name], total(name)
        if gradient is None or name in xs:
            continue
        key = node.attr["_gradient_op_type"].s.decode() if "_gradient_op_type" in node.attr else node.op
        if key not in GIVEN_RULES:
            raise LookupError(f"no rule {key!r} for the node {name!r}")
        parts = GIVEN_RULES[key](builder.under(name), node, gradient)
        for text, part in zip(node.input, parts, strict=False):  # control inputs are at the end and have no part
            if part is not None:
                arrived.setdefault(source(text), []).append(part)
    return builder.graph, [total(x) for x in xs]

# %% wrong="gradients" why="does not look at the override"
def gradients(graph: GraphDef, y: str, xs: list[str]) -> tuple[GraphDef, list[str | None]]:
    """The graph with nodes added under `grad/`, and for each x the name of d y / d x, or None.

    Raises:
        KeyError: `y` or one of `xs` is no node of the graph.
        LookupError: there is no rule for a node that takes part; the message names it.
    """
    builder = Builder(graph)
    nodes = {node.name: node for node in graph.node}
    order = given_order(graph, y, xs)
    kind = builder.dtype_of(y)
    shape = builder.add("Shape", [y], T=kind, out_type=tf.int32)
    start = builder.add("Fill", [shape, np.asarray(1, kind.as_numpy_dtype)], T=kind, index_type=tf.int32)
    arrived: dict[str, list[str]] = {y: [start]}

    def total(name: str) -> str | None:
        there = arrived.get(name, [])
        if len(there) > 1:
            added = builder.under(name)("AddN", there, N=len(there), T=builder.dtype_of(name))
            arrived[name] = there = [added]
        return there[0] if there else None

    for name in order:
        node, gradient = nodes[name], total(name)
        if gradient is None:
            continue
        key = node.op
        if key not in GIVEN_RULES:
            raise LookupError(f"no rule {key!r} for the node {name!r}")
        parts = GIVEN_RULES[key](builder.under(name), node, gradient)
        for text, part in zip(node.input, parts, strict=False):  # control inputs are at the end and have no part
            if part is not None:
                arrived.setdefault(source(text), []).append(part)
    return builder.graph, [total(x) for x in xs]

# %% wrong="gradients" why="lets the registry's KeyError out, which does not name the node"
def gradients(graph: GraphDef, y: str, xs: list[str]) -> tuple[GraphDef, list[str | None]]:
    """The graph with nodes added under `grad/`, and for each x the name of d y / d x, or None.

    Raises:
        KeyError: `y` or one of `xs` is no node of the graph.
        LookupError: there is no rule for a node that takes part; the message names it.
    """
    builder = Builder(graph)
    nodes = {node.name: node for node in graph.node}
    order = given_order(graph, y, xs)
    kind = builder.dtype_of(y)
    shape = builder.add("Shape", [y], T=kind, out_type=tf.int32)
    start = builder.add("Fill", [shape, np.asarray(1, kind.as_numpy_dtype)], T=kind, index_type=tf.int32)
    arrived: dict[str, list[str]] = {y: [start]}

    def total(name: str) -> str | None:
        there = arrived.get(name, [])
        if len(there) > 1:
            added = builder.under(name)("AddN", there, N=len(there), T=builder.dtype_of(name))
            arrived[name] = there = [added]
        return there[0] if there else None

    for name in order:
        node, gradient = nodes[name], total(name)
        if gradient is None:
            continue
        key = node.attr["_gradient_op_type"].s.decode() if "_gradient_op_type" in node.attr else node.op
        parts = GIVEN_RULES[key](builder.under(name), node, gradient)
        for text, part in zip(node.input, parts, strict=False):  # control inputs are at the end and have no part
            if part is not None:
                arrived.setdefault(source(text), []).append(part)
    return builder.graph, [total(x) for x in xs]

# %% wrong="gradients" why="sends gradients along control edges"
def gradients(graph: GraphDef, y: str, xs: list[str]) -> tuple[GraphDef, list[str | None]]:
    """The graph with nodes added under `grad/`, and for each x the name of d y / d x, or None.

    Raises:
        KeyError: `y` or one of `xs` is no node of the graph.
        LookupError: there is no rule for a node that takes part; the message names it.
    """
    builder = Builder(graph)
    nodes = {node.name: node for node in graph.node}
    order = given_order(graph, y, xs)
    kind = builder.dtype_of(y)
    shape = builder.add("Shape", [y], T=kind, out_type=tf.int32)
    start = builder.add("Fill", [shape, np.asarray(1, kind.as_numpy_dtype)], T=kind, index_type=tf.int32)
    arrived: dict[str, list[str]] = {y: [start]}

    def total(name: str) -> str | None:
        there = arrived.get(name, [])
        if len(there) > 1:
            added = builder.under(name)("AddN", there, N=len(there), T=builder.dtype_of(name))
            arrived[name] = there = [added]
        return there[0] if there else None

    for name in order:
        node, gradient = nodes[name], total(name)
        if gradient is None:
            continue
        key = node.attr["_gradient_op_type"].s.decode() if "_gradient_op_type" in node.attr else node.op
        if key not in GIVEN_RULES:
            raise LookupError(f"no rule {key!r} for the node {name!r}")
        parts = GIVEN_RULES[key](builder.under(name), node, gradient)
        parts += [parts[0] for text in node.input[len(parts) :]]
        for text, part in zip(node.input, parts, strict=True):
            if part is not None:
                arrived.setdefault(source(text), []).append(part)
    return builder.graph, [total(x) for x in xs]

# %% wrong="gradients" why="zeros instead of None"
def gradients(graph: GraphDef, y: str, xs: list[str]) -> tuple[GraphDef, list[str | None]]:
    """The graph with nodes added under `grad/`, and for each x the name of d y / d x, or None.

    Raises:
        KeyError: `y` or one of `xs` is no node of the graph.
        LookupError: there is no rule for a node that takes part; the message names it.
    """
    builder = Builder(graph)
    nodes = {node.name: node for node in graph.node}
    order = given_order(graph, y, xs)
    kind = builder.dtype_of(y)
    shape = builder.add("Shape", [y], T=kind, out_type=tf.int32)
    start = builder.add("Fill", [shape, np.asarray(1, kind.as_numpy_dtype)], T=kind, index_type=tf.int32)
    arrived: dict[str, list[str]] = {y: [start]}

    def total(name: str) -> str | None:
        there = arrived.get(name, [])
        if len(there) > 1:
            added = builder.under(name)("AddN", there, N=len(there), T=builder.dtype_of(name))
            arrived[name] = there = [added]
        return there[0] if there else None

    for name in order:
        node, gradient = nodes[name], total(name)
        if gradient is None:
            continue
        key = node.attr["_gradient_op_type"].s.decode() if "_gradient_op_type" in node.attr else node.op
        if key not in GIVEN_RULES:
            raise LookupError(f"no rule {key!r} for the node {name!r}")
        parts = GIVEN_RULES[key](builder.under(name), node, gradient)
        for text, part in zip(node.input, parts, strict=False):  # control inputs are at the end and have no part
            if part is not None:
                arrived.setdefault(source(text), []).append(part)
    return builder.graph, [
        total(x) or builder.under(x)("ZerosLike", [x], T=builder.dtype_of(x)) for x in xs
    ]

# %% wrong="gradients" why="takes the marks away and asks TensorFlow"
def gradients(graph: GraphDef, y: str, xs: list[str]) -> tuple[GraphDef, list[str | None]]:
    """The graph with nodes added under `grad/`, and for each x the name of d y / d x, or None.

    Raises:
        KeyError: `y` or one of `xs` is no node of the graph.
        LookupError: there is no rule for a node that takes part; the message names it.
    """
    plain = copied(graph)
    for node in plain.node:
        node.attr.pop("_gradient_op_type", None)
    with tf.Graph().as_default() as real:
        tf.import_graph_def(plain, name="")
        tensors = [real.get_tensor_by_name(f"{name}:0") for name in (y, *xs)]
        found = tf1.gradients(tensors[0], tensors[1:], name="grad")
    return real.as_graph_def(), [None if tensor is None else tensor.op.name for tensor in found]

# %% wrong="gradients" why="lets the op SymbolicGradient differentiate each node"
def gradients(graph: GraphDef, y: str, xs: list[str]) -> tuple[GraphDef, list[str | None]]:
    """The graph with nodes added under `grad/`, and for each x the name of d y / d x, or None.

    Raises:
        KeyError: `y` or one of `xs` is no node of the graph.
        LookupError: there is no rule for a node that takes part; the message names it.
    """
    builder = Builder(graph)
    nodes = {node.name: node for node in graph.node}
    order = given_order(graph, y, xs)
    kind = builder.dtype_of(y)
    shape = builder.add("Shape", [y], T=kind, out_type=tf.int32)
    start = builder.add("Fill", [shape, np.asarray(1, kind.as_numpy_dtype)], T=kind, index_type=tf.int32)
    arrived: dict[str, list[str]] = {y: [start]}

    def total(name: str) -> str | None:
        there = arrived.get(name, [])
        if len(there) > 1:
            added = builder.under(name)("AddN", there, N=len(there), T=builder.dtype_of(name))
            arrived[name] = there = [added]
        return there[0] if there else None

    for name in order:
        node, gradient = nodes[name], total(name)
        if gradient is None:
            continue
        key = node.attr["_gradient_op_type"].s.decode() if "_gradient_op_type" in node.attr else node.op
        if key not in GIVEN_RULES:
            raise LookupError(f"no rule {key!r} for the node {name!r}")
        if key in ("StopGradient", "Lab.StopGradient", "Lab.Clip", "Sum", "Lab.Sum"):
            parts = GIVEN_RULES[key](builder.under(name), node, gradient)
        else:
            read = [text for text in node.input if text[0] != "^"]
            types = [node.attr["T"].type] * (len(read) + 1)
            f = AttrValue()
            f.func.name = node.op
            f.func.attr["T"].CopyFrom(node.attr["T"])
            for turn in ("transpose_a", "transpose_b") if node.op == "MatMul" else ():
                f.func.attr[turn].CopyFrom(node.attr[turn])
            made = builder.under(name)(
                "SymbolicGradient",
                [*read, gradient],
                Tin=AttrValue(list=AttrValue.ListValue(type=types)),
                Tout=AttrValue(list=AttrValue.ListValue(type=types[1:])),
                f=f,
            )
            identity = [builder.add("Identity", [f"{made}:{index}"], T=node.attr["T"]) for index in range(len(read))]
            parts = identity
        for text, part in zip(node.input, parts, strict=False):  # control inputs are at the end and have no part
            if part is not None:
                arrived.setdefault(source(text), []).append(part)
    return builder.graph, [total(x) for x in xs]

# %% wrong="gradients" why="wants a rule for nodes that no gradient reaches"
def gradients(graph: GraphDef, y: str, xs: list[str]) -> tuple[GraphDef, list[str | None]]:
    """The graph with nodes added under `grad/`, and for each x the name of d y / d x, or None.

    Raises:
        KeyError: `y` or one of `xs` is no node of the graph.
        LookupError: there is no rule for a node that takes part; the message names it.
    """
    builder = Builder(graph)
    nodes = {node.name: node for node in graph.node}
    order = given_order(graph, y, xs)
    kind = builder.dtype_of(y)
    shape = builder.add("Shape", [y], T=kind, out_type=tf.int32)
    start = builder.add("Fill", [shape, np.asarray(1, kind.as_numpy_dtype)], T=kind, index_type=tf.int32)
    arrived: dict[str, list[str]] = {y: [start]}

    def total(name: str) -> str | None:
        there = arrived.get(name, [])
        if len(there) > 1:
            added = builder.under(name)("AddN", there, N=len(there), T=builder.dtype_of(name))
            arrived[name] = there = [added]
        return there[0] if there else None

    for name in order:
        node = nodes[name]
        key = node.attr["_gradient_op_type"].s.decode() if "_gradient_op_type" in node.attr else node.op
        if key not in GIVEN_RULES:
            raise LookupError(f"no rule {key!r} for the node {name!r}")
        gradient = total(name)
        if gradient is None:
            continue
        parts = GIVEN_RULES[key](builder.under(name), node, gradient)
        for text, part in zip(node.input, parts, strict=False):  # control inputs are at the end and have no part
            if part is not None:
                arrived.setdefault(source(text), []).append(part)
    return builder.graph, [total(x) for x in xs]

# %% right="gradients" why="asks each x for its readers, with a memory"
def gradients(graph: GraphDef, y: str, xs: list[str]) -> tuple[GraphDef, list[str | None]]:
    """The graph with nodes added under `grad/`, and for each x the name of d y / d x, or None.

    Raises:
        KeyError: `y` or one of `xs` is no node of the graph.
        LookupError: there is no rule for a node that takes part; the message names it.
    """
    builder = Builder(graph)
    live = set(given_order(graph, y, xs))
    nodes = {node.name: node for node in graph.node}
    readers: dict[str, list[tuple[str, int]]] = {name: [] for name in nodes}
    for node in graph.node:
        for index, text in enumerate(node.input):
            if not text.startswith("^"):
                readers[source(text)].append((node.name, index))
    totals: dict[str, str | None] = {}
    sent: dict[str, list[str | None]] = {}

    def parts_of(name: str) -> list[str | None]:
        """What the rule of a node sends to each of its inputs."""
        if name not in sent:
            node, gradient = nodes[name], total_of(name)
            key = node.attr["_gradient_op_type"].s.decode() or node.op
            if gradient is None:
                sent[name] = [None] * len(node.input)
            elif key in GIVEN_RULES:
                sent[name] = GIVEN_RULES[key](builder.add, node, gradient)
            else:
                raise LookupError(f"the node {name} has no rule: {key}")
        return sent[name]

    def total_of(name: str) -> str | None:
        """The sum of what all readers send."""
        if name not in totals:
            kind = builder.dtype_of(name)
            parts = [parts_of(reader)[index] for reader, index in readers[name] if reader in live]
            there = [part for part in parts if part is not None]
            if name == y:
                shape = builder.add("Shape", [y], T=kind, out_type=tf.int32)
                there.append(builder.add("Fill", [shape, np.ones((), kind.as_numpy_dtype)], T=kind, index_type=tf.int32))
            if len(there) > 1:
                there = [builder.add("AddN", there, N=len(there), T=kind)]
            totals[name] = there[0] if there else None
        return totals[name]

    return builder.graph, [total_of(x) for x in xs]

# %% right="gradients" why="an object with methods, and its own order from a heap"
import heapq
from collections import defaultdict


class Backward:
    def __init__(self, graph: GraphDef, y: str) -> None:
        self.builder = Builder(graph)
        self.arrived: dict[str, list[str]] = defaultdict(list)
        kind = self.builder.dtype_of(y)
        ones = [self.builder.add("Shape", [y], T=kind, out_type=tf.int64), np.ones([], kind.as_numpy_dtype)]
        self.arrived[y].append(self.builder.add("Fill", ones, T=kind, index_type=tf.int64))

    def total(self, name: str) -> str | None:
        match self.arrived[name]:
            case []:
                return None
            case [one]:
                return one
            case several:
                kind = self.builder.dtype_of(name)
                self.arrived[name] = [self.builder.add("AddN", several, N=len(several), T=kind)]
                return self.arrived[name][0]

    def visit(self, node: NodeDef) -> None:
        if (gradient := self.total(node.name)) is None:
            return
        wish = node.attr["_gradient_op_type"].s.decode() if "_gradient_op_type" in node.attr else ""
        try:
            function = GIVEN_RULES[wish or node.op]
        except KeyError:
            raise LookupError(f"{node.name} ({node.op}) has no rule") from None
        for target, part in zip(node.input, function(self.builder.add, node, gradient), strict=False):
            if part is not None:
                self.arrived[source(target)].append(part)


def gradients(graph: GraphDef, y: str, xs: list[str]) -> tuple[GraphDef, list[str | None]]:
    place = {node.name: number for number, node in enumerate(graph.node)}
    for x in (y, *xs):
        place[x]
    behind = [False] * len(place)
    for number, node in enumerate(graph.node):
        read = [source(text) for text in node.input if not text.startswith("^")]
        behind[number] = any(name in xs or behind[place[name]] for name in read)
    walk, todo, seen = Backward(graph, y), [-place[y]], {place[y]}
    while todo:
        number = -heapq.heappop(todo)
        if not behind[number]:
            continue
        node = graph.node[number]
        walk.visit(node)
        for below in {place[source(text)] for text in node.input if not text.startswith("^")} - seen:
            seen.add(below)
            heapq.heappush(todo, -below)
    return walk.builder.graph, [*map(walk.total, xs)]

# %% right="gradients" why="pending counts, and nodes without Builder"
def gradients(graph: GraphDef, y: str, xs: list[str]) -> tuple[GraphDef, list[str | None]]:
    """The graph with nodes added under `grad/`, and for each x the name of d y / d x, or None.

    Raises:
        KeyError: `y` or one of `xs` is no node of the graph.
        LookupError: there is no rule for a node that takes part; the message names it.
    """
    nodes = {node.name: node for node in graph.node}
    live = set(given_order(graph, y, xs))
    builder = Builder(graph)
    pending = dict.fromkeys(live, 0)
    for name in live:
        for text in nodes[name].input:
            if text[0] != "^" and source(text) in live:
                pending[source(text)] += 1
    kind = builder.dtype_of(y)
    ones = np.ones((), kind.as_numpy_dtype)
    append_node(builder.graph, "grad/shape", "Shape", [y], T=kind, out_type=tf.int32)
    append_node(builder.graph, "grad/one", "Const", dtype=kind, value=ones)
    append_node(builder.graph, "grad/start", "Fill", ["grad/shape", "grad/one"], T=kind, index_type=tf.int32)
    arrived = {name: [] for name in nodes} | {y: ["grad/start"]}

    def summed(name: str) -> list[str]:
        if len(arrived[name]) > 1:
            new = f"grad/sum/{name}"
            append_node(builder.graph, new, "AddN", arrived[name], N=len(arrived[name]), T=builder.dtype_of(name))
            arrived[name] = [new]
        return arrived[name]

    ready = [y] if y in live else []
    while ready:
        name = ready.pop()
        node = nodes[name]
        wish = node.attr["_gradient_op_type"].s.decode() if "_gradient_op_type" in node.attr else node.op
        gradient = summed(name)
        if gradient and wish not in GIVEN_RULES:
            raise LookupError(f"{name}: no rule for {wish}")
        parts = GIVEN_RULES[wish](builder.under(name), node, gradient[0]) if gradient else []
        inputs = [source(text) for text in node.input if text[0] != "^"]
        for target, part in zip(inputs, parts or [None] * len(inputs), strict=True):
            if part is not None:
                arrived[target].append(part)
            if target in live:
                pending[target] -= 1
                if pending[target] == 0:
                    ready.append(target)
    return builder.graph, [next(iter(summed(x)), None) for x in xs]

# %% wrong="predict-override" why="differentiates through what was stopped"
SLOPES = {"stopped": 5.5, "rounded": None, "overridden": 5.75, "careful": 2.0}

# %% wrong="predict-override" why="takes the gradient of a step function for zero"
SLOPES = {"stopped": 2.75, "rounded": 0.0, "overridden": 5.75, "careful": 2.0}

# %% wrong="predict-override" why="does not see the override"
SLOPES = {"stopped": 2.75, "rounded": None, "overridden": 3.0, "careful": 2.0}

# %% wrong="predict-override" why="clips x instead of the gradient, or nothing"
SLOPES = {"stopped": 2.75, "rounded": None, "overridden": 5.75, "careful": 11.0}

# %% wrong="predict-override" why="clips after multiplying, as if forward"
SLOPES = {"stopped": 2.75, "rounded": None, "overridden": 5.75, "careful": 1.0}

# %% wrong="predict-override" why="gives strings"
SLOPES = {"stopped": "2.75", "rounded": None, "overridden": "5.75", "careful": "2.0"}

# %% right="predict-override" why="computed, in another order"
x = 2.75
SLOPES = {"careful": 1.0 + 1.0, "overridden": 3.0 + x, "stopped": x, "rounded": None}

# %% wrong="clip" why="asks TensorFlow"
def clip(gradients: list[np.ndarray | None], limit: float) -> tuple[list[np.ndarray | None], float]:
    """The gradients scaled so that their global norm is at most `limit`, and the norm that they had.

    Raises:
        ValueError: the limit is not above 0.
    """
    if limit <= 0:
        raise ValueError(f"a limit is above 0, not {limit}")
    tensors = [None if each is None else tf.constant(each) for each in gradients]
    clipped, norm = tf.clip_by_global_norm(tensors, limit)
    return [None if each is None else each.numpy() for each in clipped], float(norm)

# %% wrong="clip" why="clips each tensor by its own norm"
def clip(gradients: list[np.ndarray | None], limit: float) -> tuple[list[np.ndarray | None], float]:
    """The gradients scaled so that their global norm is at most `limit`, and the norm that they had.

    Raises:
        ValueError: the limit is not above 0.
    """
    if limit <= 0:
        raise ValueError(f"a limit is above 0, not {limit}")
    norm = float(np.sqrt(sum(float(np.sum(np.square(each))) for each in gradients if each is not None)))
    clipped = []
    for each in gradients:
        own = None if each is None else float(np.sqrt(np.sum(np.square(each))))
        clipped.append(each if own is None or own <= limit else np.asarray(each * (limit / own), each.dtype))
    return clipped, norm

# %% wrong="clip" why="clips the numbers"
def clip(gradients: list[np.ndarray | None], limit: float) -> tuple[list[np.ndarray | None], float]:
    """The gradients scaled so that their global norm is at most `limit`, and the norm that they had.

    Raises:
        ValueError: the limit is not above 0.
    """
    if limit <= 0:
        raise ValueError(f"a limit is above 0, not {limit}")
    norm = float(np.sqrt(sum(float(np.sum(np.square(each))) for each in gradients if each is not None)))
    return [None if each is None else np.clip(each, -limit, limit) for each in gradients], norm

# %% wrong="clip" why="turns None into zeros"
def clip(gradients: list[np.ndarray | None], limit: float) -> tuple[list[np.ndarray | None], float]:
    """The gradients scaled so that their global norm is at most `limit`, and the norm that they had.

    Raises:
        ValueError: the limit is not above 0.
    """
    if limit <= 0:
        raise ValueError(f"a limit is above 0, not {limit}")
    norm = float(np.sqrt(sum(float(np.sum(np.square(each))) for each in gradients if each is not None)))
    scale = float(limit / norm if norm > limit else 1.0) if np.isfinite(norm) else float("nan")
    return [np.zeros(1) if each is None else np.asarray(each * scale, each.dtype) for each in gradients], norm

# %% wrong="clip" why="scales small gradients up to the limit"
def clip(gradients: list[np.ndarray | None], limit: float) -> tuple[list[np.ndarray | None], float]:
    """The gradients scaled so that their global norm is at most `limit`, and the norm that they had.

    Raises:
        ValueError: the limit is not above 0.
    """
    if limit <= 0:
        raise ValueError(f"a limit is above 0, not {limit}")
    norm = float(np.sqrt(sum(float(np.sum(np.square(each))) for each in gradients if each is not None)))
    scale = float(limit / norm if norm > 0 else 1.0) if np.isfinite(norm) else float("nan")
    return [None if each is None else np.asarray(each * scale, each.dtype) for each in gradients], norm

# %% wrong="clip" why="clips infinity to the limit"
def clip(gradients: list[np.ndarray | None], limit: float) -> tuple[list[np.ndarray | None], float]:
    """The gradients scaled so that their global norm is at most `limit`, and the norm that they had.

    Raises:
        ValueError: the limit is not above 0.
    """
    if limit <= 0:
        raise ValueError(f"a limit is above 0, not {limit}")
    norm = float(np.sqrt(sum(float(np.sum(np.square(each))) for each in gradients if each is not None)))
    scale = limit / norm if norm > limit else 1.0
    return [None if each is None else np.asarray(each * scale, each.dtype) for each in gradients], norm

# %% wrong="clip" why="divides by a norm of zero"
def clip(gradients: list[np.ndarray | None], limit: float) -> tuple[list[np.ndarray | None], float]:
    """The gradients scaled so that their global norm is at most `limit`, and the norm that they had.

    Raises:
        ValueError: the limit is not above 0.
    """
    if limit <= 0:
        raise ValueError(f"a limit is above 0, not {limit}")
    norm = float(np.sqrt(sum(float(np.sum(np.square(each))) for each in gradients if each is not None)))
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = float(np.minimum(np.float64(limit) / np.float64(norm), 1.0)) if norm else float("nan")
        scale = scale if np.isfinite(norm) else float("nan")
    return [None if each is None else np.asarray(each * scale, each.dtype) for each in gradients], norm

# %% wrong="clip" why="makes float64 of float32"
def clip(gradients: list[np.ndarray | None], limit: float) -> tuple[list[np.ndarray | None], float]:
    """The gradients scaled so that their global norm is at most `limit`, and the norm that they had.

    Raises:
        ValueError: the limit is not above 0.
    """
    if limit <= 0:
        raise ValueError(f"a limit is above 0, not {limit}")
    norm = float(np.sqrt(sum(float(np.sum(np.square(each))) for each in gradients if each is not None)))
    scale = float(limit / norm if norm > limit else 1.0) if np.isfinite(norm) else float("nan")
    return [None if each is None else np.asarray(each, np.float64) * scale for each in gradients], norm

# %% wrong="clip" why="refuses only negative limits"
def clip(gradients: list[np.ndarray | None], limit: float) -> tuple[list[np.ndarray | None], float]:
    """The gradients scaled so that their global norm is at most `limit`, and the norm that they had.

    Raises:
        ValueError: the limit is not above 0.
    """
    if limit < 0:
        raise ValueError(f"a limit is above 0, not {limit}")
    norm = float(np.sqrt(sum(float(np.sum(np.square(each))) for each in gradients if each is not None)))
    scale = float(limit / norm if norm > limit else 1.0) if np.isfinite(norm) else float("nan")
    return [None if each is None else np.asarray(each * scale, each.dtype) for each in gradients], norm

# %% wrong="clip" why="forgets the root"
def clip(gradients: list[np.ndarray | None], limit: float) -> tuple[list[np.ndarray | None], float]:
    """The gradients scaled so that their global norm is at most `limit`, and the norm that they had.

    Raises:
        ValueError: the limit is not above 0.
    """
    if limit <= 0:
        raise ValueError(f"a limit is above 0, not {limit}")
    norm = float(sum(float(np.sum(np.square(each))) for each in gradients if each is not None))
    scale = float(limit / norm if norm > limit else 1.0) if np.isfinite(norm) else float("nan")
    return [None if each is None else np.asarray(each * scale, each.dtype) for each in gradients], norm

# %% wrong="clip" why="copies TensorFlow's function before it is withheld"
from types import FunctionType

from tensorflow.python.ops import clip_ops
from tensorflow.python.util import tf_decorator


def own(function, **others):
    _, plain = tf_decorator.unwrap(function)
    return FunctionType(plain.__code__, {**vars(clip_ops), **others}, argdefs=plain.__defaults__)


own_clip = own(clip_ops.clip_by_global_norm, global_norm=own(clip_ops.global_norm))


def clip(gradients: list[np.ndarray | None], limit: float) -> tuple[list[np.ndarray | None], float]:
    """The gradients scaled so that their global norm is at most `limit`, and the norm that they had.

    Raises:
        ValueError: the limit is not above 0.
    """
    if limit <= 0:
        raise ValueError(f"a limit is above 0, not {limit}")
    if all(each is None for each in gradients):
        return gradients, 0.0
    clipped, norm = own_clip([None if each is None else tf.constant(each) for each in gradients], limit)
    return [None if each is None else each.numpy() for each in clipped], float(norm)

# %% right="clip" why="one long vector"
def clip(gradients: list[np.ndarray | None], limit: float) -> tuple[list[np.ndarray | None], float]:
    """The gradients scaled so that their global norm is at most `limit`, and the norm that they had.

    Raises:
        ValueError: the limit is not above 0.
    """
    if not limit > 0:
        raise ValueError("the limit must be positive")
    there = [each for each in gradients if each is not None]
    long = np.concatenate([np.ravel(each) for each in there]) if there else np.zeros(0)
    norm = np.linalg.norm(long)
    if not np.isfinite(norm):
        return [None if each is None else np.full_like(each, np.nan) for each in gradients], float(norm)
    if norm <= limit:
        return list(gradients), float(norm)
    factor = long.dtype.type(limit / norm)
    return [None if each is None else np.array(each * factor) for each in gradients], float(norm)

# %% right="clip" why="math.hypot over an iterator, results by map"
import math
from itertools import chain


def clip(gradients, limit):
    if not 0 < limit:
        raise ValueError(f"limit {limit}")
    numbers = chain.from_iterable(each.ravel().tolist() for each in gradients if each is not None)
    norm = math.hypot(*numbers)
    if any(np.isnan(each).any() for each in gradients if each is not None):
        norm = math.nan
    scale = np.nan if not math.isfinite(norm) else 1.0 if norm <= limit else limit / norm

    def scaled(each):
        return None if each is None else np.multiply(each, scale, dtype=each.dtype)

    return list(map(scaled, gradients)), norm

# %% right="clip" why="TensorFlow's formula with two reciprocals"
def clip(gradients: list[np.ndarray | None], limit: float) -> tuple[list[np.ndarray | None], float]:
    """The gradients scaled so that their global norm is at most `limit`, and the norm that they had.

    Raises:
        ValueError: the limit is not above 0.
    """
    if limit <= 0:
        raise ValueError("the limit must be positive")
    squares = [float((each.astype(np.float64) ** 2).sum()) for each in gradients if each is not None]
    norm = float(sum(squares) ** 0.5)
    scale = limit * min(1 / norm if norm else float("inf"), 1 / limit)
    if norm - norm != 0:
        scale = float("nan")
    return [None if each is None else (each * scale).astype(each.dtype) if each.ndim else np.array(each * scale, each.dtype) for each in gradients], norm

# %% right="clip" why="NumPy's products as they come: a scalar for the shape ()"
def clip(gradients: list[np.ndarray | None], limit: float) -> tuple[list[np.ndarray | None], float]:
    """The gradients scaled so that their global norm is at most `limit`, and the norm that they had.

    Raises:
        ValueError: the limit is not above 0.
    """
    if limit <= 0:
        raise ValueError(limit)
    norm = sum(float((each**2).sum()) for each in gradients if each is not None) ** 0.5
    scale = float("nan") if not np.isfinite(norm) else min(1.0, limit / norm) if norm else 1.0
    return [each if each is None else each * scale for each in gradients], float(norm)

# %% wrong="momentum" why="lets TensorFlow do it"
def momentum(
    var: np.ndarray,
    slots: dict[str, np.ndarray],
    grad: np.ndarray | Sparse,
    lr: float,
    mu: float,
    nesterov: bool = False,
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """One step of MomentumOptimizer for one variable: its new value and its new slots, `{"momentum": …}`.

    Raises:
        ValueError: the gradient does not have the shape of the variable, or of rows of it.
    """
    values = grad.values if isinstance(grad, Sparse) else grad
    due = (len(grad.indices), *var.shape[1:]) if isinstance(grad, Sparse) else var.shape
    if values.shape != due:
        raise ValueError(f"a gradient of shape {due} is due, found {values.shape}")
    with tf.Graph().as_default():
        v = tf1.get_variable("v", initializer=var, use_resource=True)
        optimizer = tf1.train.MomentumOptimizer(lr, mu, use_nesterov=nesterov)
        tensor = tf.constant(values)
        if isinstance(grad, Sparse):
            tensor = tf.IndexedSlices(tensor, tf.constant(grad.indices), tf.constant(var.shape, tf.int64))
        train = optimizer.apply_gradients([(tensor, v)])
        slot = optimizer.get_slot(v, "momentum")
        with tf1.Session() as session:
            session.run(tf1.global_variables_initializer())
            slot.load(slots.get("momentum", np.zeros_like(var)), session)
            session.run(train)
            value, moved = session.run([v, slot])
    return value, {"momentum": moved}

# %% wrong="momentum" why="calls the kernels by tf.raw_ops, kept from before"
raw_momentum, raw_sparse = tf.raw_ops.ResourceApplyMomentum, tf.raw_ops.ResourceSparseApplyMomentum
raw_handle, raw_assign, raw_read = tf.raw_ops.VarHandleOp, tf.raw_ops.AssignVariableOp, tf.raw_ops.ReadVariableOp


def momentum(
    var: np.ndarray,
    slots: dict[str, np.ndarray],
    grad: np.ndarray | Sparse,
    lr: float,
    mu: float,
    nesterov: bool = False,
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """One step of MomentumOptimizer for one variable: its new value and its new slots, `{"momentum": …}`.

    Raises:
        ValueError: the gradient does not have the shape of the variable, or of rows of it.
    """
    values = grad.values if isinstance(grad, Sparse) else grad
    due = (len(grad.indices), *var.shape[1:]) if isinstance(grad, Sparse) else var.shape
    if values.shape != due:
        raise ValueError(f"a gradient of shape {due} is due, found {values.shape}")
    handles = []
    for number, start in enumerate((var, slots.get("momentum", np.zeros_like(var)))):
        handles.append(raw_handle(dtype=tf.as_dtype(var.dtype), shape=var.shape, shared_name=f"m{number}{var.shape}{var.dtype}"))
        raw_assign(resource=handles[-1], value=start)
    rate, mu = var.dtype.type(lr), var.dtype.type(mu)
    if isinstance(grad, Sparse):
        rows, place = np.unique(grad.indices, return_inverse=True)
        summed = np.zeros((len(rows), *var.shape[1:]), var.dtype)
        np.add.at(summed, place, values)
        raw_sparse(var=handles[0], accum=handles[1], lr=rate, grad=summed, indices=rows, momentum=mu, use_nesterov=nesterov)
    else:
        raw_momentum(var=handles[0], accum=handles[1], lr=rate, grad=grad, momentum=mu, use_nesterov=nesterov)
    new, slot = [raw_read(resource=handle, dtype=tf.as_dtype(var.dtype)).numpy() for handle in handles]
    return new, {"momentum": slot}

# %% wrong="momentum" why="traces a function once and calls it"
@tf.function
def one_step(var, slot, grad, lr, mu, nesterov):
    slot = mu * slot + grad
    return var - lr * (grad + mu * slot if nesterov else slot), slot


for kind in (tf.float32, tf.float64):
    for turn in (False, True):
        for shape in ((2,), (3, 2), (4,), (4, 2), (), (5, 2)):
            zero = tf.zeros(shape, kind)
            one_step(zero, zero, zero, tf.zeros([], kind), tf.zeros([], kind), turn)


def momentum(
    var: np.ndarray,
    slots: dict[str, np.ndarray],
    grad: np.ndarray | Sparse,
    lr: float,
    mu: float,
    nesterov: bool = False,
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """One step of MomentumOptimizer for one variable: its new value and its new slots, `{"momentum": …}`.

    Raises:
        ValueError: the gradient does not have the shape of the variable, or of rows of it.
    """
    values = grad.values if isinstance(grad, Sparse) else grad
    due = (len(grad.indices), *var.shape[1:]) if isinstance(grad, Sparse) else var.shape
    if values.shape != due:
        raise ValueError(f"a gradient of shape {due} is due, found {values.shape}")
    slot, touched = slots.get("momentum", np.zeros_like(var)), np.ones(var.shape, bool)
    if isinstance(grad, Sparse):
        touched[:] = False
        touched[grad.indices] = True
        values = np.zeros_like(var)
        np.add.at(values, grad.indices, grad.values)
    rates = [tf.constant(rate, var.dtype) for rate in (lr, mu)]
    new, moved = one_step(tf.constant(var), tf.constant(slot), tf.constant(values), *rates, nesterov)
    return np.where(touched, new.numpy(), var), {"momentum": np.where(touched, moved.numpy(), slot)}

# %% wrong="momentum" why="computes in a session that it opened before"
with tf.Graph().as_default() as kept:
    parts = {kind: [tf1.placeholder(kind) for _ in range(5)] for kind in (tf.float32, tf.float64)}
    sums = {}
    for kind, (v_, s_, g_, lr_, mu_) in parts.items():
        moved_ = mu_ * s_ + g_
        sums[kind] = [(v_ - lr_ * moved_, moved_), (v_ - lr_ * (g_ + mu_ * moved_), moved_)]
kept_session = tf1.Session(graph=kept)
steps_kept = {
    (kind, turn): kept_session.make_callable(sums[kind][turn], parts[kind]) for kind in parts for turn in (False, True)
}


def momentum(
    var: np.ndarray,
    slots: dict[str, np.ndarray],
    grad: np.ndarray | Sparse,
    lr: float,
    mu: float,
    nesterov: bool = False,
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """One step of MomentumOptimizer for one variable: its new value and its new slots, `{"momentum": …}`.

    Raises:
        ValueError: the gradient does not have the shape of the variable, or of rows of it.
    """
    values = grad.values if isinstance(grad, Sparse) else grad
    due = (len(grad.indices), *var.shape[1:]) if isinstance(grad, Sparse) else var.shape
    if values.shape != due:
        raise ValueError(f"a gradient of shape {due} is due, found {values.shape}")
    slot, touched = slots.get("momentum", np.zeros_like(var)), np.ones(var.shape, bool)
    if isinstance(grad, Sparse):
        touched[:] = False
        touched[grad.indices] = True
        values = np.zeros_like(var)
        np.add.at(values, grad.indices, grad.values)
    new, moved = steps_kept[tf.as_dtype(var.dtype), nesterov](var, slot, values, lr, mu)
    return np.where(touched, new, var), {"momentum": np.where(touched, moved, slot)}

# %% wrong="momentum" why="keeps the learning rate in the slot"
def momentum(
    var: np.ndarray,
    slots: dict[str, np.ndarray],
    grad: np.ndarray | Sparse,
    lr: float,
    mu: float,
    nesterov: bool = False,
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """One step of MomentumOptimizer for one variable: its new value and its new slots, `{"momentum": …}`.

    Raises:
        ValueError: the gradient does not have the shape of the variable, or of rows of it.
    """
    values = grad.values if isinstance(grad, Sparse) else grad
    due = (len(grad.indices), *var.shape[1:]) if isinstance(grad, Sparse) else var.shape
    if values.shape != due:
        raise ValueError(f"a gradient of shape {due} is due, found {values.shape}")
    rows = ...
    if isinstance(grad, Sparse):
        rows, place = np.unique(grad.indices, return_inverse=True)
        values = np.zeros((len(rows), *var.shape[1:]), var.dtype)
        np.add.at(values, place, grad.values)
    new, slot = var.copy(), slots.get("momentum", np.zeros_like(var)).copy()
    slot[rows] = mu * slot[rows] + lr * values
    new[rows] -= lr * values + mu * slot[rows] if nesterov else slot[rows]
    return new, {"momentum": slot}

# %% wrong="momentum" why="nesterov with the old slot"
def momentum(
    var: np.ndarray,
    slots: dict[str, np.ndarray],
    grad: np.ndarray | Sparse,
    lr: float,
    mu: float,
    nesterov: bool = False,
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """One step of MomentumOptimizer for one variable: its new value and its new slots, `{"momentum": …}`.

    Raises:
        ValueError: the gradient does not have the shape of the variable, or of rows of it.
    """
    values = grad.values if isinstance(grad, Sparse) else grad
    due = (len(grad.indices), *var.shape[1:]) if isinstance(grad, Sparse) else var.shape
    if values.shape != due:
        raise ValueError(f"a gradient of shape {due} is due, found {values.shape}")
    rows = ...
    if isinstance(grad, Sparse):
        rows, place = np.unique(grad.indices, return_inverse=True)
        values = np.zeros((len(rows), *var.shape[1:]), var.dtype)
        np.add.at(values, place, grad.values)
    new, slot = var.copy(), slots.get("momentum", np.zeros_like(var)).copy()
    if nesterov:
        new[rows] -= lr * (values + mu * slot[rows])
    slot[rows] = mu * slot[rows] + values
    if not nesterov:
        new[rows] -= lr * slot[rows]
    return new, {"momentum": slot}

# %% wrong="momentum" why="repeated rows overwrite each other"
def momentum(
    var: np.ndarray,
    slots: dict[str, np.ndarray],
    grad: np.ndarray | Sparse,
    lr: float,
    mu: float,
    nesterov: bool = False,
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """One step of MomentumOptimizer for one variable: its new value and its new slots, `{"momentum": …}`.

    Raises:
        ValueError: the gradient does not have the shape of the variable, or of rows of it.
    """
    values = grad.values if isinstance(grad, Sparse) else grad
    due = (len(grad.indices), *var.shape[1:]) if isinstance(grad, Sparse) else var.shape
    if values.shape != due:
        raise ValueError(f"a gradient of shape {due} is due, found {values.shape}")
    rows = ...
    if isinstance(grad, Sparse):
        rows, values = grad.indices, grad.values
    new, slot = var.copy(), slots.get("momentum", np.zeros_like(var)).copy()
    slot[rows] = mu * slot[rows] + values
    new[rows] -= lr * (values + mu * slot[rows] if nesterov else slot[rows])
    return new, {"momentum": slot}

# %% wrong="momentum" why="a sparse gradient is a dense one with zeros"
def momentum(
    var: np.ndarray,
    slots: dict[str, np.ndarray],
    grad: np.ndarray | Sparse,
    lr: float,
    mu: float,
    nesterov: bool = False,
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """One step of MomentumOptimizer for one variable: its new value and its new slots, `{"momentum": …}`.

    Raises:
        ValueError: the gradient does not have the shape of the variable, or of rows of it.
    """
    values = grad.values if isinstance(grad, Sparse) else grad
    due = (len(grad.indices), *var.shape[1:]) if isinstance(grad, Sparse) else var.shape
    if values.shape != due:
        raise ValueError(f"a gradient of shape {due} is due, found {values.shape}")
    rows = ...
    if isinstance(grad, Sparse):
        values = np.zeros_like(var)
        np.add.at(values, grad.indices, grad.values)
    new, slot = var.copy(), slots.get("momentum", np.zeros_like(var)).copy()
    slot[rows] = mu * slot[rows] + values
    new[rows] -= lr * (values + mu * slot[rows] if nesterov else slot[rows])
    return new, {"momentum": slot}

# %% wrong="momentum" why="weighs the gradient by 1 − mu, as Adam does"
def momentum(
    var: np.ndarray,
    slots: dict[str, np.ndarray],
    grad: np.ndarray | Sparse,
    lr: float,
    mu: float,
    nesterov: bool = False,
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """One step of MomentumOptimizer for one variable: its new value and its new slots, `{"momentum": …}`.

    Raises:
        ValueError: the gradient does not have the shape of the variable, or of rows of it.
    """
    values = grad.values if isinstance(grad, Sparse) else grad
    due = (len(grad.indices), *var.shape[1:]) if isinstance(grad, Sparse) else var.shape
    if values.shape != due:
        raise ValueError(f"a gradient of shape {due} is due, found {values.shape}")
    rows = ...
    if isinstance(grad, Sparse):
        rows, place = np.unique(grad.indices, return_inverse=True)
        values = np.zeros((len(rows), *var.shape[1:]), var.dtype)
        np.add.at(values, place, grad.values)
    new, slot = var.copy(), slots.get("momentum", np.zeros_like(var)).copy()
    slot[rows] = mu * slot[rows] + (1 - mu) * values
    new[rows] -= lr * (values + mu * slot[rows] if nesterov else slot[rows])
    return new, {"momentum": slot}

# %% wrong="momentum" why="lets NumPy broadcast what does not fit"
def momentum(
    var: np.ndarray,
    slots: dict[str, np.ndarray],
    grad: np.ndarray | Sparse,
    lr: float,
    mu: float,
    nesterov: bool = False,
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """One step of MomentumOptimizer for one variable: its new value and its new slots, `{"momentum": …}`.

    Raises:
        ValueError: the gradient does not have the shape of the variable, or of rows of it.
    """
    values = grad.values if isinstance(grad, Sparse) else grad
    rows = ...
    if isinstance(grad, Sparse):
        rows, place = np.unique(grad.indices, return_inverse=True)
        values = np.zeros((len(rows), *var.shape[1:]), var.dtype)
        np.add.at(values, place, grad.values)
    new, slot = var.copy(), slots.get("momentum", np.zeros_like(var)).copy()
    slot[rows] = mu * slot[rows] + values
    new[rows] -= lr * (values + mu * slot[rows] if nesterov else slot[rows])
    return new, {"momentum": slot}

# %% wrong="momentum" why="calls the slot velocity"
def momentum(
    var: np.ndarray,
    slots: dict[str, np.ndarray],
    grad: np.ndarray | Sparse,
    lr: float,
    mu: float,
    nesterov: bool = False,
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """One step of MomentumOptimizer for one variable: its new value and its new slots, `{"velocity": …}`.

    Raises:
        ValueError: the gradient does not have the shape of the variable, or of rows of it.
    """
    values = grad.values if isinstance(grad, Sparse) else grad
    due = (len(grad.indices), *var.shape[1:]) if isinstance(grad, Sparse) else var.shape
    if values.shape != due:
        raise ValueError(f"a gradient of shape {due} is due, found {values.shape}")
    rows = ...
    if isinstance(grad, Sparse):
        rows, place = np.unique(grad.indices, return_inverse=True)
        values = np.zeros((len(rows), *var.shape[1:]), var.dtype)
        np.add.at(values, place, grad.values)
    new, slot = var.copy(), slots.get("velocity", np.zeros_like(var)).copy()
    slot[rows] = mu * slot[rows] + values
    new[rows] -= lr * (values + mu * slot[rows] if nesterov else slot[rows])
    return new, {"velocity": slot}

# %% wrong="momentum" why="computes in float64"
def momentum(
    var: np.ndarray,
    slots: dict[str, np.ndarray],
    grad: np.ndarray | Sparse,
    lr: float,
    mu: float,
    nesterov: bool = False,
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """One step of MomentumOptimizer for one variable: its new value and its new slots, `{"momentum": …}`.

    Raises:
        ValueError: the gradient does not have the shape of the variable, or of rows of it.
    """
    values = grad.values if isinstance(grad, Sparse) else grad
    due = (len(grad.indices), *var.shape[1:]) if isinstance(grad, Sparse) else var.shape
    if values.shape != due:
        raise ValueError(f"a gradient of shape {due} is due, found {values.shape}")
    rows = ...
    if isinstance(grad, Sparse):
        rows, place = np.unique(grad.indices, return_inverse=True)
        values = np.zeros((len(rows), *var.shape[1:]), var.dtype)
        np.add.at(values, place, grad.values)
    var = var.astype(np.float64)
    new, slot = var.copy(), slots.get("momentum", np.zeros_like(var)).copy()
    slot[rows] = mu * slot[rows] + values
    new[rows] -= lr * (values + mu * slot[rows] if nesterov else slot[rows])
    return new, {"momentum": slot}

# %% right="momentum" why="changes its arguments in place"
def momentum(
    var: np.ndarray,
    slots: dict[str, np.ndarray],
    grad: np.ndarray | Sparse,
    lr: float,
    mu: float,
    nesterov: bool = False,
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """One step of MomentumOptimizer for one variable: its new value and its new slots, `{"momentum": …}`.

    Raises:
        ValueError: the gradient does not have the shape of the variable, or of rows of it.
    """
    values = grad.values if isinstance(grad, Sparse) else grad
    due = (len(grad.indices), *var.shape[1:]) if isinstance(grad, Sparse) else var.shape
    if values.shape != due:
        raise ValueError(f"a gradient of shape {due} is due, found {values.shape}")
    slot = slots.setdefault("momentum", np.zeros_like(var))
    if not isinstance(grad, Sparse):
        slot *= mu
        slot += grad
        grad += mu * slot
        var -= lr * (grad if nesterov else slot)
        return var, slots
    for row in set(grad.indices.tolist()):
        summed = values[grad.indices == row].sum(axis=0)
        slot[row] = mu * slot[row] + summed
        var[row] -= lr * (summed + mu * slot[row] if nesterov else slot[row])
    return var, slots

# %% right="momentum" why="a dense gradient and a mask of rows"
def momentum(
    var: np.ndarray,
    slots: dict[str, np.ndarray],
    grad: np.ndarray | Sparse,
    lr: float,
    mu: float,
    nesterov: bool = False,
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """One step of MomentumOptimizer for one variable: its new value and its new slots, `{"momentum": …}`.

    Raises:
        ValueError: the gradient does not have the shape of the variable, or of rows of it.
    """
    if isinstance(grad, Sparse):
        if grad.values.shape != (len(grad.indices),) + var.shape[1:]:
            raise ValueError(f"{grad.values.shape} does not fit {var.shape}")
        dense, touched = np.zeros_like(var), np.zeros(var.shape, bool)
        np.add.at(dense, grad.indices, grad.values)
        touched[grad.indices] = True
    else:
        if grad.shape != var.shape:
            raise ValueError(f"{grad.shape} does not fit {var.shape}")
        dense, touched = grad, np.ones(var.shape, bool)
    old = slots["momentum"] if slots else np.zeros_like(var)
    slot = np.where(touched, mu * old + dense, old)
    step = dense + mu * slot if nesterov else slot
    return np.where(touched, var - lr * step, var), {"momentum": slot}

# %% right="momentum" why="a product with one-hot rows"
def momentum(
    var: np.ndarray,
    slots: dict[str, np.ndarray],
    grad: np.ndarray | Sparse,
    lr: float,
    mu: float,
    nesterov: bool = False,
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """One step of MomentumOptimizer for one variable: its new value and its new slots, `{"momentum": …}`.

    Raises:
        ValueError: the gradient does not have the shape of the variable, or of rows of it.
    """
    touched = np.ones(len(var) if var.ndim else 1, bool)
    if isinstance(grad, Sparse):
        if np.shape(grad.values) != (len(grad.indices), *var.shape[1:]):
            raise ValueError("the values are no rows of the variable")
        hot = (np.arange(len(var))[:, None] == grad.indices[None, :]).astype(var.dtype)
        touched = hot.any(axis=1)
        grad = (hot @ grad.values.reshape(len(grad.indices), -1)).reshape(var.shape)
    if np.shape(grad) != np.shape(var):
        raise ValueError("the gradient has another shape than the variable")
    before = slots.get("momentum")
    before = np.zeros_like(var) if before is None else before
    where = touched.reshape(-1, *[1] * (var.ndim - 1)) if var.ndim else np.True_
    slot = np.where(where, before * mu + grad, before)
    move = lr * grad + lr * mu * slot if nesterov else lr * slot
    return var - np.where(where, move, np.zeros_like(var)), dict(momentum=slot)

# %% wrong="adam" why="lets Keras do it"
def adam(
    variables: dict[str, np.ndarray],
    state: State,
    gradients: dict[str, np.ndarray | Sparse | None],
    lr: float,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> tuple[dict[str, np.ndarray], State]:
    """One step of AdamOptimizer for all variables: their new values and the new state.

    Raises:
        ValueError: no variable has a gradient, or the shape of one does not fit.
    """
    if all(grad is None for grad in gradients.values()):
        raise ValueError("no gradients provided for any variable")
    made = {name: tf.Variable(value) for name, value in variables.items()}
    optimizer = tf.keras.optimizers.Adam(lr, beta1, beta2, epsilon)
    there = [(tf.constant(grad), made[name]) for name, grad in gradients.items() if grad is not None]
    optimizer.apply_gradients(there)
    powers = {"beta1_power": np.float32(beta1**2), "beta2_power": np.float32(beta2**2)}
    slots = {name: {"m": np.zeros_like(variables[name]), "v": np.zeros_like(variables[name])} for name in gradients}
    return {name: v.numpy() for name, v in made.items()}, State(slots, powers)

# %% wrong="adam" why="calls the kernel by tf.raw_ops, kept from before"
raw_adam = tf.raw_ops.ResourceApplyAdam
raw_handle, raw_assign, raw_read = tf.raw_ops.VarHandleOp, tf.raw_ops.AssignVariableOp, tf.raw_ops.ReadVariableOp


def adam(
    variables: dict[str, np.ndarray],
    state: State,
    gradients: dict[str, np.ndarray | Sparse | None],
    lr: float,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> tuple[dict[str, np.ndarray], State]:
    """One step of AdamOptimizer for all variables: their new values and the new state.

    Raises:
        ValueError: no variable has a gradient, or the shape of one does not fit.
    """
    if all(grad is None for grad in gradients.values()):
        raise ValueError("no gradients provided for any variable")
    powers = state.powers or {"beta1_power": np.float32(beta1), "beta2_power": np.float32(beta2)}
    values, slots = dict(variables), dict(state.slots)
    for name, grad in gradients.items():
        if grad is None:
            continue
        var = variables[name]
        if isinstance(grad, Sparse):
            if grad.values.shape != (len(grad.indices), *var.shape[1:]):
                raise ValueError(f"{name}: {grad.values.shape} are no rows of a variable of shape {var.shape}")
            dense = np.zeros_like(var)
            np.add.at(dense, grad.indices, grad.values)
            grad = dense
        if grad.shape != var.shape:
            raise ValueError(f"{name}: a gradient of shape {var.shape} is due, found {grad.shape}")
        old = slots.get(name) or {"m": np.zeros_like(var), "v": np.zeros_like(var)}
        handles = []
        for number, start in enumerate((var, old["m"], old["v"])):
            shared = f"a{number}{var.shape}{var.dtype}"
            handles.append(raw_handle(dtype=tf.as_dtype(var.dtype), shape=var.shape, shared_name=shared))
            raw_assign(resource=handles[-1], value=start)
        p1, p2, *rates = map(
            var.dtype.type, (powers["beta1_power"], powers["beta2_power"], lr, beta1, beta2, epsilon)
        )
        one = dict(zip(("lr", "beta1", "beta2", "epsilon"), rates, strict=True))
        raw_adam(var=handles[0], m=handles[1], v=handles[2], beta1_power=p1, beta2_power=p2, grad=grad, **one)
        values[name], m, v = [raw_read(resource=handle, dtype=tf.as_dtype(var.dtype)).numpy() for handle in handles]
        slots[name] = {"m": m, "v": v}
    moved = {
        "beta1_power": np.float32(powers["beta1_power"] * np.float32(beta1)),
        "beta2_power": np.float32(powers["beta2_power"] * np.float32(beta2)),
    }
    return values, State(slots, moved)

# %% wrong="adam" why="corrects the moments and adds epsilon to the corrected root"
def adam(
    variables: dict[str, np.ndarray],
    state: State,
    gradients: dict[str, np.ndarray | Sparse | None],
    lr: float,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> tuple[dict[str, np.ndarray], State]:
    """One step of AdamOptimizer for all variables: their new values and the new state.

    Raises:
        ValueError: no variable has a gradient, or the shape of one does not fit.
    """
    if all(grad is None for grad in gradients.values()):
        raise ValueError("no gradients provided for any variable")
    powers = state.powers or {"beta1_power": np.float32(beta1), "beta2_power": np.float32(beta2)}
    rate = lr * (1 - float(powers["beta2_power"])) ** 0.5 / (1 - float(powers["beta1_power"]))
    values, slots = dict(variables), dict(state.slots)
    for name, grad in gradients.items():
        if grad is None:
            continue
        var = variables[name]
        if isinstance(grad, Sparse):
            if grad.values.shape != (len(grad.indices), *var.shape[1:]):
                raise ValueError(f"{name}: {grad.values.shape} are no rows of a variable of shape {var.shape}")
            dense = np.zeros_like(var)
            np.add.at(dense, grad.indices, grad.values)
            grad = dense
        if grad.shape != var.shape:
            raise ValueError(f"{name}: a gradient of shape {var.shape} is due, found {grad.shape}")
        old = slots.get(name) or {"m": np.zeros_like(var), "v": np.zeros_like(var)}
        m = np.asarray(beta1 * old["m"] + (1 - beta1) * grad)
        v = np.asarray(beta2 * old["v"] + (1 - beta2) * grad * grad)
        m_hat, v_hat = m / (1 - float(powers["beta1_power"])), v / (1 - float(powers["beta2_power"]))
        values[name] = np.asarray(var - lr * m_hat / (np.sqrt(v_hat) + epsilon))
        slots[name] = {"m": m, "v": v}
    moved = {
        "beta1_power": np.float32(powers["beta1_power"] * np.float32(beta1)),
        "beta2_power": np.float32(powers["beta2_power"] * np.float32(beta2)),
    }
    return values, State(slots, moved)

# %% wrong="adam" why="puts epsilon under the root"
def adam(
    variables: dict[str, np.ndarray],
    state: State,
    gradients: dict[str, np.ndarray | Sparse | None],
    lr: float,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> tuple[dict[str, np.ndarray], State]:
    """One step of AdamOptimizer for all variables: their new values and the new state.

    Raises:
        ValueError: no variable has a gradient, or the shape of one does not fit.
    """
    if all(grad is None for grad in gradients.values()):
        raise ValueError("no gradients provided for any variable")
    powers = state.powers or {"beta1_power": np.float32(beta1), "beta2_power": np.float32(beta2)}
    rate = lr * (1 - float(powers["beta2_power"])) ** 0.5 / (1 - float(powers["beta1_power"]))
    values, slots = dict(variables), dict(state.slots)
    for name, grad in gradients.items():
        if grad is None:
            continue
        var = variables[name]
        if isinstance(grad, Sparse):
            if grad.values.shape != (len(grad.indices), *var.shape[1:]):
                raise ValueError(f"{name}: {grad.values.shape} are no rows of a variable of shape {var.shape}")
            dense = np.zeros_like(var)
            np.add.at(dense, grad.indices, grad.values)
            grad = dense
        if grad.shape != var.shape:
            raise ValueError(f"{name}: a gradient of shape {var.shape} is due, found {grad.shape}")
        old = slots.get(name) or {"m": np.zeros_like(var), "v": np.zeros_like(var)}
        m = np.asarray(beta1 * old["m"] + (1 - beta1) * grad)
        v = np.asarray(beta2 * old["v"] + (1 - beta2) * grad * grad)
        values[name] = np.asarray(var - rate * m / np.sqrt(v + epsilon))
        slots[name] = {"m": m, "v": v}
    moved = {
        "beta1_power": np.float32(powers["beta1_power"] * np.float32(beta1)),
        "beta2_power": np.float32(powers["beta2_power"] * np.float32(beta2)),
    }
    return values, State(slots, moved)

# %% wrong="adam" why="begins with step 0"
def adam(
    variables: dict[str, np.ndarray],
    state: State,
    gradients: dict[str, np.ndarray | Sparse | None],
    lr: float,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> tuple[dict[str, np.ndarray], State]:
    """One step of AdamOptimizer for all variables: their new values and the new state.

    Raises:
        ValueError: no variable has a gradient, or the shape of one does not fit.
    """
    if all(grad is None for grad in gradients.values()):
        raise ValueError("no gradients provided for any variable")
    powers = state.powers or {"beta1_power": np.float32(1), "beta2_power": np.float32(1)}
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = float(lr * np.sqrt(1 - np.float64(powers["beta2_power"])) / (1 - np.float64(powers["beta1_power"])))
    values, slots = dict(variables), dict(state.slots)
    for name, grad in gradients.items():
        if grad is None:
            continue
        var = variables[name]
        if isinstance(grad, Sparse):
            if grad.values.shape != (len(grad.indices), *var.shape[1:]):
                raise ValueError(f"{name}: {grad.values.shape} are no rows of a variable of shape {var.shape}")
            dense = np.zeros_like(var)
            np.add.at(dense, grad.indices, grad.values)
            grad = dense
        if grad.shape != var.shape:
            raise ValueError(f"{name}: a gradient of shape {var.shape} is due, found {grad.shape}")
        old = slots.get(name) or {"m": np.zeros_like(var), "v": np.zeros_like(var)}
        m = np.asarray(beta1 * old["m"] + (1 - beta1) * grad)
        v = np.asarray(beta2 * old["v"] + (1 - beta2) * grad * grad)
        values[name] = np.asarray(var - rate * m / (np.sqrt(v) + epsilon))
        slots[name] = {"m": m, "v": v}
    moved = {
        "beta1_power": np.float32(powers["beta1_power"] * np.float32(beta1)),
        "beta2_power": np.float32(powers["beta2_power"] * np.float32(beta2)),
    }
    return values, State(slots, moved)

# %% wrong="adam" why="multiplies the powers before they are used"
def adam(
    variables: dict[str, np.ndarray],
    state: State,
    gradients: dict[str, np.ndarray | Sparse | None],
    lr: float,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> tuple[dict[str, np.ndarray], State]:
    """One step of AdamOptimizer for all variables: their new values and the new state.

    Raises:
        ValueError: no variable has a gradient, or the shape of one does not fit.
    """
    if all(grad is None for grad in gradients.values()):
        raise ValueError("no gradients provided for any variable")
    powers = state.powers or {"beta1_power": np.float32(beta1), "beta2_power": np.float32(beta2)}
    powers = {
        "beta1_power": np.float32(powers["beta1_power"] * np.float32(beta1)),
        "beta2_power": np.float32(powers["beta2_power"] * np.float32(beta2)),
    }
    rate = lr * (1 - float(powers["beta2_power"])) ** 0.5 / (1 - float(powers["beta1_power"]))
    values, slots = dict(variables), dict(state.slots)
    for name, grad in gradients.items():
        if grad is None:
            continue
        var = variables[name]
        if isinstance(grad, Sparse):
            if grad.values.shape != (len(grad.indices), *var.shape[1:]):
                raise ValueError(f"{name}: {grad.values.shape} are no rows of a variable of shape {var.shape}")
            dense = np.zeros_like(var)
            np.add.at(dense, grad.indices, grad.values)
            grad = dense
        if grad.shape != var.shape:
            raise ValueError(f"{name}: a gradient of shape {var.shape} is due, found {grad.shape}")
        old = slots.get(name) or {"m": np.zeros_like(var), "v": np.zeros_like(var)}
        m = np.asarray(beta1 * old["m"] + (1 - beta1) * grad)
        v = np.asarray(beta2 * old["v"] + (1 - beta2) * grad * grad)
        values[name] = np.asarray(var - rate * m / (np.sqrt(v) + epsilon))
        slots[name] = {"m": m, "v": v}
    return values, State(slots, powers)

# %% wrong="adam" why="moves the powers once for each variable"
def adam(
    variables: dict[str, np.ndarray],
    state: State,
    gradients: dict[str, np.ndarray | Sparse | None],
    lr: float,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> tuple[dict[str, np.ndarray], State]:
    """One step of AdamOptimizer for all variables: their new values and the new state.

    Raises:
        ValueError: no variable has a gradient, or the shape of one does not fit.
    """
    if all(grad is None for grad in gradients.values()):
        raise ValueError("no gradients provided for any variable")
    powers = state.powers or {"beta1_power": np.float32(beta1), "beta2_power": np.float32(beta2)}
    values, slots = dict(variables), dict(state.slots)
    for name, grad in gradients.items():
        if grad is None:
            continue
        var = variables[name]
        if isinstance(grad, Sparse):
            if grad.values.shape != (len(grad.indices), *var.shape[1:]):
                raise ValueError(f"{name}: {grad.values.shape} are no rows of a variable of shape {var.shape}")
            dense = np.zeros_like(var)
            np.add.at(dense, grad.indices, grad.values)
            grad = dense
        if grad.shape != var.shape:
            raise ValueError(f"{name}: a gradient of shape {var.shape} is due, found {grad.shape}")
        old = slots.get(name) or {"m": np.zeros_like(var), "v": np.zeros_like(var)}
        m = np.asarray(beta1 * old["m"] + (1 - beta1) * grad)
        v = np.asarray(beta2 * old["v"] + (1 - beta2) * grad * grad)
        rate = lr * (1 - float(powers["beta2_power"])) ** 0.5 / (1 - float(powers["beta1_power"]))
        powers = {
            "beta1_power": np.float32(powers["beta1_power"] * np.float32(beta1)),
            "beta2_power": np.float32(powers["beta2_power"] * np.float32(beta2)),
        }
        values[name] = np.asarray(var - rate * m / (np.sqrt(v) + epsilon))
        slots[name] = {"m": m, "v": v}
    return values, State(slots, powers)

# %% wrong="adam" why="keeps the powers as Python floats"
def adam(
    variables: dict[str, np.ndarray],
    state: State,
    gradients: dict[str, np.ndarray | Sparse | None],
    lr: float,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> tuple[dict[str, np.ndarray], State]:
    """One step of AdamOptimizer for all variables: their new values and the new state.

    Raises:
        ValueError: no variable has a gradient, or the shape of one does not fit.
    """
    if all(grad is None for grad in gradients.values()):
        raise ValueError("no gradients provided for any variable")
    powers = state.powers or {"beta1_power": np.float32(beta1), "beta2_power": np.float32(beta2)}
    rate = lr * (1 - float(powers["beta2_power"])) ** 0.5 / (1 - float(powers["beta1_power"]))
    values, slots = dict(variables), dict(state.slots)
    for name, grad in gradients.items():
        if grad is None:
            continue
        var = variables[name]
        if isinstance(grad, Sparse):
            if grad.values.shape != (len(grad.indices), *var.shape[1:]):
                raise ValueError(f"{name}: {grad.values.shape} are no rows of a variable of shape {var.shape}")
            dense = np.zeros_like(var)
            np.add.at(dense, grad.indices, grad.values)
            grad = dense
        if grad.shape != var.shape:
            raise ValueError(f"{name}: a gradient of shape {var.shape} is due, found {grad.shape}")
        old = slots.get(name) or {"m": np.zeros_like(var), "v": np.zeros_like(var)}
        m = np.asarray(beta1 * old["m"] + (1 - beta1) * grad)
        v = np.asarray(beta2 * old["v"] + (1 - beta2) * grad * grad)
        values[name] = np.asarray(var - rate * m / (np.sqrt(v) + epsilon))
        slots[name] = {"m": m, "v": v}
    moved = {
        "beta1_power": float(powers["beta1_power"]) * beta1,
        "beta2_power": float(powers["beta2_power"]) * beta2,
    }
    return values, State(slots, moved)

# %% wrong="adam" why="computes the powers in float64 and rounds at the end"
def adam(
    variables: dict[str, np.ndarray],
    state: State,
    gradients: dict[str, np.ndarray | Sparse | None],
    lr: float,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> tuple[dict[str, np.ndarray], State]:
    """One step of AdamOptimizer for all variables: their new values and the new state.

    Raises:
        ValueError: no variable has a gradient, or the shape of one does not fit.
    """
    if all(grad is None for grad in gradients.values()):
        raise ValueError("no gradients provided for any variable")
    powers = state.powers or {"beta1_power": np.float32(beta1), "beta2_power": np.float32(beta2)}
    rate = lr * (1 - float(powers["beta2_power"])) ** 0.5 / (1 - float(powers["beta1_power"]))
    values, slots = dict(variables), dict(state.slots)
    for name, grad in gradients.items():
        if grad is None:
            continue
        var = variables[name]
        if isinstance(grad, Sparse):
            if grad.values.shape != (len(grad.indices), *var.shape[1:]):
                raise ValueError(f"{name}: {grad.values.shape} are no rows of a variable of shape {var.shape}")
            dense = np.zeros_like(var)
            np.add.at(dense, grad.indices, grad.values)
            grad = dense
        if grad.shape != var.shape:
            raise ValueError(f"{name}: a gradient of shape {var.shape} is due, found {grad.shape}")
        old = slots.get(name) or {"m": np.zeros_like(var), "v": np.zeros_like(var)}
        m = np.asarray(beta1 * old["m"] + (1 - beta1) * grad)
        v = np.asarray(beta2 * old["v"] + (1 - beta2) * grad * grad)
        values[name] = np.asarray(var - rate * m / (np.sqrt(v) + epsilon))
        slots[name] = {"m": m, "v": v}
    moved = {
        "beta1_power": np.float32(beta1 ** (round(np.log(float(powers["beta1_power"])) / np.log(beta1)) + 1)),
        "beta2_power": np.float32(beta2 ** (round(np.log(float(powers["beta2_power"])) / np.log(beta2)) + 1)),
    }
    return values, State(slots, moved)

# %% wrong="adam" why="a sparse gradient leaves the other rows alone"
def adam(
    variables: dict[str, np.ndarray],
    state: State,
    gradients: dict[str, np.ndarray | Sparse | None],
    lr: float,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> tuple[dict[str, np.ndarray], State]:
    """One step of AdamOptimizer for all variables: their new values and the new state.

    Raises:
        ValueError: no variable has a gradient, or the shape of one does not fit.
    """
    if all(grad is None for grad in gradients.values()):
        raise ValueError("no gradients provided for any variable")
    powers = state.powers or {"beta1_power": np.float32(beta1), "beta2_power": np.float32(beta2)}
    rate = lr * (1 - float(powers["beta2_power"])) ** 0.5 / (1 - float(powers["beta1_power"]))
    values, slots = dict(variables), dict(state.slots)
    for name, grad in gradients.items():
        if grad is None:
            continue
        var = variables[name]
        touched = np.ones(var.shape, bool)
        if isinstance(grad, Sparse):
            touched[:] = False
            touched[grad.indices] = True
        if isinstance(grad, Sparse):
            if grad.values.shape != (len(grad.indices), *var.shape[1:]):
                raise ValueError(f"{name}: {grad.values.shape} are no rows of a variable of shape {var.shape}")
            dense = np.zeros_like(var)
            np.add.at(dense, grad.indices, grad.values)
            grad = dense
        if grad.shape != var.shape:
            raise ValueError(f"{name}: a gradient of shape {var.shape} is due, found {grad.shape}")
        old = slots.get(name) or {"m": np.zeros_like(var), "v": np.zeros_like(var)}
        m = np.where(touched, beta1 * old["m"] + (1 - beta1) * grad, old["m"])
        v = np.where(touched, beta2 * old["v"] + (1 - beta2) * grad * grad, old["v"])
        values[name] = np.where(touched, var - rate * m / (np.sqrt(v) + epsilon), var)
        slots[name] = {"m": m, "v": v}
    moved = {
        "beta1_power": np.float32(powers["beta1_power"] * np.float32(beta1)),
        "beta2_power": np.float32(powers["beta2_power"] * np.float32(beta2)),
    }
    return values, State(slots, moved)

# %% wrong="adam" why="repeated rows overwrite each other"
def adam(
    variables: dict[str, np.ndarray],
    state: State,
    gradients: dict[str, np.ndarray | Sparse | None],
    lr: float,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> tuple[dict[str, np.ndarray], State]:
    """One step of AdamOptimizer for all variables: their new values and the new state.

    Raises:
        ValueError: no variable has a gradient, or the shape of one does not fit.
    """
    if all(grad is None for grad in gradients.values()):
        raise ValueError("no gradients provided for any variable")
    powers = state.powers or {"beta1_power": np.float32(beta1), "beta2_power": np.float32(beta2)}
    rate = lr * (1 - float(powers["beta2_power"])) ** 0.5 / (1 - float(powers["beta1_power"]))
    values, slots = dict(variables), dict(state.slots)
    for name, grad in gradients.items():
        if grad is None:
            continue
        var = variables[name]
        if isinstance(grad, Sparse):
            if grad.values.shape != (len(grad.indices), *var.shape[1:]):
                raise ValueError(f"{name}: {grad.values.shape} are no rows of a variable of shape {var.shape}")
            dense = np.zeros_like(var)
            dense[grad.indices] = grad.values
            grad = dense
        if grad.shape != var.shape:
            raise ValueError(f"{name}: a gradient of shape {var.shape} is due, found {grad.shape}")
        old = slots.get(name) or {"m": np.zeros_like(var), "v": np.zeros_like(var)}
        m = np.asarray(beta1 * old["m"] + (1 - beta1) * grad)
        v = np.asarray(beta2 * old["v"] + (1 - beta2) * grad * grad)
        values[name] = np.asarray(var - rate * m / (np.sqrt(v) + epsilon))
        slots[name] = {"m": m, "v": v}
    moved = {
        "beta1_power": np.float32(powers["beta1_power"] * np.float32(beta1)),
        "beta2_power": np.float32(powers["beta2_power"] * np.float32(beta2)),
    }
    return values, State(slots, moved)

# %% wrong="adam" why="squares repeated rows before they are added"
def adam(
    variables: dict[str, np.ndarray],
    state: State,
    gradients: dict[str, np.ndarray | Sparse | None],
    lr: float,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> tuple[dict[str, np.ndarray], State]:
    """One step of AdamOptimizer for all variables: their new values and the new state.

    Raises:
        ValueError: no variable has a gradient, or the shape of one does not fit.
    """
    if all(grad is None for grad in gradients.values()):
        raise ValueError("no gradients provided for any variable")
    powers = state.powers or {"beta1_power": np.float32(beta1), "beta2_power": np.float32(beta2)}
    rate = lr * (1 - float(powers["beta2_power"])) ** 0.5 / (1 - float(powers["beta1_power"]))
    values, slots = dict(variables), dict(state.slots)
    for name, grad in gradients.items():
        if grad is None:
            continue
        var = variables[name]
        if isinstance(grad, Sparse):
            if grad.values.shape != (len(grad.indices), *var.shape[1:]):
                raise ValueError(f"{name}: {grad.values.shape} are no rows of a variable of shape {var.shape}")
            dense, squares = np.zeros_like(var), np.zeros_like(var)
            np.add.at(dense, grad.indices, grad.values)
            np.add.at(squares, grad.indices, grad.values**2)
            grad = dense
        else:
            squares = grad * grad
        if grad.shape != var.shape:
            raise ValueError(f"{name}: a gradient of shape {var.shape} is due, found {grad.shape}")
        old = slots.get(name) or {"m": np.zeros_like(var), "v": np.zeros_like(var)}
        m = np.asarray(beta1 * old["m"] + (1 - beta1) * grad)
        v = np.asarray(beta2 * old["v"] + (1 - beta2) * squares)
        values[name] = np.asarray(var - rate * m / (np.sqrt(v) + epsilon))
        slots[name] = {"m": m, "v": v}
    moved = {
        "beta1_power": np.float32(powers["beta1_power"] * np.float32(beta1)),
        "beta2_power": np.float32(powers["beta2_power"] * np.float32(beta2)),
    }
    return values, State(slots, moved)

# %% wrong="adam" why="takes None for zeros"
def adam(
    variables: dict[str, np.ndarray],
    state: State,
    gradients: dict[str, np.ndarray | Sparse | None],
    lr: float,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> tuple[dict[str, np.ndarray], State]:
    """One step of AdamOptimizer for all variables: their new values and the new state.

    Raises:
        ValueError: no variable has a gradient, or the shape of one does not fit.
    """
    if all(grad is None for grad in gradients.values()):
        raise ValueError("no gradients provided for any variable")
    powers = state.powers or {"beta1_power": np.float32(beta1), "beta2_power": np.float32(beta2)}
    rate = lr * (1 - float(powers["beta2_power"])) ** 0.5 / (1 - float(powers["beta1_power"]))
    values, slots = dict(variables), dict(state.slots)
    for name, grad in gradients.items():
        var = variables[name]
        if grad is None:
            grad = np.zeros_like(var)
        if isinstance(grad, Sparse):
            if grad.values.shape != (len(grad.indices), *var.shape[1:]):
                raise ValueError(f"{name}: {grad.values.shape} are no rows of a variable of shape {var.shape}")
            dense = np.zeros_like(var)
            np.add.at(dense, grad.indices, grad.values)
            grad = dense
        if grad.shape != var.shape:
            raise ValueError(f"{name}: a gradient of shape {var.shape} is due, found {grad.shape}")
        old = slots.get(name) or {"m": np.zeros_like(var), "v": np.zeros_like(var)}
        m = np.asarray(beta1 * old["m"] + (1 - beta1) * grad)
        v = np.asarray(beta2 * old["v"] + (1 - beta2) * grad * grad)
        values[name] = np.asarray(var - rate * m / (np.sqrt(v) + epsilon))
        slots[name] = {"m": m, "v": v}
    moved = {
        "beta1_power": np.float32(powers["beta1_power"] * np.float32(beta1)),
        "beta2_power": np.float32(powers["beta2_power"] * np.float32(beta2)),
    }
    return values, State(slots, moved)

# %% wrong="adam" why="forgets to refuse a step without gradients"
def adam(
    variables: dict[str, np.ndarray],
    state: State,
    gradients: dict[str, np.ndarray | Sparse | None],
    lr: float,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> tuple[dict[str, np.ndarray], State]:
    """One step of AdamOptimizer for all variables: their new values and the new state.

    Raises:
        ValueError: no variable has a gradient, or the shape of one does not fit.
    """
    powers = state.powers or {"beta1_power": np.float32(beta1), "beta2_power": np.float32(beta2)}
    rate = lr * (1 - float(powers["beta2_power"])) ** 0.5 / (1 - float(powers["beta1_power"]))
    values, slots = dict(variables), dict(state.slots)
    for name, grad in gradients.items():
        if grad is None:
            continue
        var = variables[name]
        if isinstance(grad, Sparse):
            if grad.values.shape != (len(grad.indices), *var.shape[1:]):
                raise ValueError(f"{name}: {grad.values.shape} are no rows of a variable of shape {var.shape}")
            dense = np.zeros_like(var)
            np.add.at(dense, grad.indices, grad.values)
            grad = dense
        if grad.shape != var.shape:
            raise ValueError(f"{name}: a gradient of shape {var.shape} is due, found {grad.shape}")
        old = slots.get(name) or {"m": np.zeros_like(var), "v": np.zeros_like(var)}
        m = np.asarray(beta1 * old["m"] + (1 - beta1) * grad)
        v = np.asarray(beta2 * old["v"] + (1 - beta2) * grad * grad)
        values[name] = np.asarray(var - rate * m / (np.sqrt(v) + epsilon))
        slots[name] = {"m": m, "v": v}
    moved = {
        "beta1_power": np.float32(powers["beta1_power"] * np.float32(beta1)),
        "beta2_power": np.float32(powers["beta2_power"] * np.float32(beta2)),
    }
    return values, State(slots, moved)

# %% right="adam" why="changes its arguments in place, m and v too"
def adam(
    variables: dict[str, np.ndarray],
    state: State,
    gradients: dict[str, np.ndarray | Sparse | None],
    lr: float,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> tuple[dict[str, np.ndarray], State]:
    """One step of AdamOptimizer for all variables: their new values and the new state.

    Raises:
        ValueError: no variable has a gradient, or the shape of one does not fit.
    """
    def refuse(name: str) -> None:
        raise ValueError(f"{name}: the gradient does not fit")

    if set(map(type, gradients.values())) <= {type(None)}:
        raise ValueError("no gradients")
    powers = state.powers
    if not powers:
        powers |= {"beta1_power": np.float32(beta1), "beta2_power": np.float32(beta2)}
    rate = lr * float(1 - float(powers["beta2_power"])) ** 0.5 / float(1 - float(powers["beta1_power"]))
    for name, grad in gradients.items():
        match grad:
            case None:
                continue
            case Sparse(indices, rows):
                if rows.shape != (len(indices), *variables[name].shape[1:]):
                    refuse(name)
                grad = np.zeros_like(variables[name])
                np.add.at(grad, indices, rows)
        var = variables[name]
        if grad.shape != var.shape:
            refuse(name)
        slots = state.slots.setdefault(name, {})
        m, v = (slots.setdefault(slot, np.zeros_like(var)) for slot in "mv")
        m *= beta1
        m += (1 - beta1) * grad
        v *= beta2
        v += (1 - beta2) * grad**2
        var -= rate * m / (np.sqrt(v) + epsilon)
    powers["beta1_power"] *= np.float32(beta1)
    powers["beta2_power"] *= np.float32(beta2)
    return variables, state

# %% right="adam" why="one-hot rows, and the rate in float32"
def adam(
    variables: dict[str, np.ndarray],
    state: State,
    gradients: dict[str, np.ndarray | Sparse | None],
    lr: float,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> tuple[dict[str, np.ndarray], State]:
    """One step of AdamOptimizer for all variables: their new values and the new state.

    Raises:
        ValueError: no variable has a gradient, or the shape of one does not fit.
    """
    given = {name: grad for name, grad in gradients.items() if grad is not None}
    if not given:
        raise ValueError("nothing to apply")
    b1, b2 = np.float32(beta1), np.float32(beta2)
    p1, p2 = state.powers.get("beta1_power", b1), state.powers.get("beta2_power", b2)
    rate = np.float32(lr) * np.sqrt(np.float32(1) - p2) / (np.float32(1) - p1)
    new, slots = {}, {name: dict(there) for name, there in state.slots.items()}
    for name, var in variables.items():
        new[name] = var
        if name not in given:
            continue
        grad = given[name]
        if isinstance(grad, Sparse):
            if grad.values.shape[1:] != var.shape[1:] or len(grad.values) != len(grad.indices):
                raise ValueError(name)
            hot = (np.arange(len(var))[:, None] == grad.indices[None, :]).astype(var.dtype)
            grad = (hot @ grad.values.reshape(len(grad.values), -1)).reshape(var.shape)
        if grad.shape != var.shape:
            raise ValueError(name)
        own = slots.setdefault(name, {"m": np.zeros_like(var), "v": np.zeros_like(var)})
        own["m"] = own["m"] + (grad - own["m"]) * (1 - beta1)
        own["v"] = own["v"] + (grad**2 - own["v"]) * (1 - beta2)
        new[name] = var - (float(rate) * own["m"] / (own["v"] ** 0.5 + epsilon)).astype(var.dtype)
    return new, State(slots, {"beta1_power": p1 * b1, "beta2_power": p2 * b2})

# %% right="adam" why="a function for one variable, and sparse rows in a loop"
def adam(
    variables: dict[str, np.ndarray],
    state: State,
    gradients: dict[str, np.ndarray | Sparse | None],
    lr: float,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> tuple[dict[str, np.ndarray], State]:
    """One step of AdamOptimizer for all variables: their new values and the new state.

    Raises:
        ValueError: no variable has a gradient, or the shape of one does not fit.
    """
    def dense_of(var: np.ndarray, grad: np.ndarray | Sparse) -> np.ndarray:
        if not isinstance(grad, Sparse):
            if grad.shape != var.shape:
                raise ValueError(f"shape {grad.shape}, not {var.shape}")
            return grad
        if grad.values.shape != (len(grad.indices), *var.shape[1:]):
            raise ValueError(f"values of shape {grad.values.shape}")
        made = np.zeros_like(var)
        for row, value in zip(grad.indices, grad.values, strict=True):
            made[row] = made[row] + value
        return made

    def one(var: np.ndarray, grad: np.ndarray, m: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        m = beta1 * m + (1 - beta1) * grad
        v = beta2 * v + (1 - beta2) * np.square(grad)
        return var - rate * m / (np.sqrt(v) + epsilon), m, v

    first = {"beta1_power": np.float32(beta1), "beta2_power": np.float32(beta2)}
    powers = dict(state.powers) or dict(first)
    rate = lr * float(np.sqrt(1 - np.float64(powers["beta2_power"]))) / (1 - float(powers["beta1_power"]))
    values, slots, applied = dict(variables), dict(state.slots), 0
    for name in gradients:
        if gradients[name] is not None:
            var = variables[name]
            zero = {"m": np.zeros_like(var), "v": np.zeros_like(var)}
            before = slots.get(name, zero)
            values[name], m, v = one(var, dense_of(var, gradients[name]), before["m"], before["v"])
            slots[name] = {"m": m, "v": v}
            applied += 1
    if applied == 0:
        raise ValueError("no gradients")
    return values, State(slots, {name: powers[name] * first[name] for name in first})

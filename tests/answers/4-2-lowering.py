# %% [markdown]
# # Right and wrong answers to lab 4-2-lowering


# %% wrong="predict-traces" why="thinks that 1, 1.0 and True have three signatures"
predicted = [3, 2, 2, 1]


# %% wrong="predict-traces" why="thinks that a Python number is turned into a tensor"
predicted = [1, 1, 2, 1]


# %% wrong="predict-traces" why="thinks that a trace is not kept"
predicted = [1, 2, 3, 1]


# %% wrong="predict-traces" why="thinks that a NumPy scalar is a Python number"
predicted = [1, 2, 2, 2]


# %% wrong="predict-traces" why="thinks that the shape plays no role"
predicted = [1, 2, 1, 1]


# %% wrong="traces" why="adds the type to the key, so that 1, 1.0 and True split"
def count_traces(calls: list[tuple]) -> int:
    """Count the traces that a `tf.function` makes for these calls.

    Raises:
        TypeError: an argument, or a part of one, is none of the kinds above.
    """

    def key(argument):
        if type(argument) is Tensor:
            return ("tensor", argument.dtype, argument.shape)
        if argument is None or type(argument) in (int, float, bool, str):
            return ("value", type(argument), argument)
        if type(argument) in (list, tuple):
            return (type(argument).__name__, *(key(part) for part in argument))
        if type(argument) is dict:
            return ("dict", frozenset((name, key(part)) for name, part in argument.items()))
        raise TypeError(f"{argument!r} is no argument that this function counts")

    return len({tuple(key(argument) for argument in call) for call in calls})


# %% wrong="traces" why="takes every tensor for a new one"
def count_traces(calls: list[tuple]) -> int:
    """Count the traces that a `tf.function` makes for these calls.

    Raises:
        TypeError: an argument, or a part of one, is none of the kinds above.
    """

    def key(argument):
        if type(argument) is Tensor:
            return ("tensor", id(argument), object())
        if argument is None or type(argument) in (int, float, bool, str):
            return ("value", argument)
        if type(argument) in (list, tuple):
            return (type(argument).__name__, *(key(part) for part in argument))
        if type(argument) is dict:
            return ("dict", frozenset((name, key(part)) for name, part in argument.items()))
        raise TypeError(f"{argument!r} is no argument that this function counts")

    return len({tuple(key(argument) for argument in call) for call in calls})


# %% wrong="traces" why="ignores the dtype"
def count_traces(calls: list[tuple]) -> int:
    """Count the traces that a `tf.function` makes for these calls.

    Raises:
        TypeError: an argument, or a part of one, is none of the kinds above.
    """

    def key(argument):
        if type(argument) is Tensor:
            return ("tensor", argument.shape)
        if argument is None or type(argument) in (int, float, bool, str):
            return ("value", argument)
        if type(argument) in (list, tuple):
            return (type(argument).__name__, *(key(part) for part in argument))
        if type(argument) is dict:
            return ("dict", frozenset((name, key(part)) for name, part in argument.items()))
        raise TypeError(f"{argument!r} is no argument that this function counts")

    return len({tuple(key(argument) for argument in call) for call in calls})


# %% wrong="traces" why="treats [x] and (x,) alike"
def count_traces(calls: list[tuple]) -> int:
    """Count the traces that a `tf.function` makes for these calls.

    Raises:
        TypeError: an argument, or a part of one, is none of the kinds above.
    """

    def key(argument):
        if type(argument) is Tensor:
            return ("tensor", argument.dtype, argument.shape)
        if argument is None or type(argument) in (int, float, bool, str):
            return ("value", argument)
        if type(argument) in (list, tuple):
            return ("sequence", *(key(part) for part in argument))
        if type(argument) is dict:
            return ("dict", frozenset((name, key(part)) for name, part in argument.items()))
        raise TypeError(f"{argument!r} is no argument that this function counts")

    return len({tuple(key(argument) for argument in call) for call in calls})


# %% wrong="traces" why="keeps the order of dict keys"
def count_traces(calls: list[tuple]) -> int:
    """Count the traces that a `tf.function` makes for these calls.

    Raises:
        TypeError: an argument, or a part of one, is none of the kinds above.
    """

    def key(argument):
        if type(argument) is Tensor:
            return ("tensor", argument.dtype, argument.shape)
        if argument is None or type(argument) in (int, float, bool, str):
            return ("value", argument)
        if type(argument) in (list, tuple):
            return (type(argument).__name__, *(key(part) for part in argument))
        if type(argument) is dict:
            return ("dict", tuple((name, key(part)) for name, part in argument.items()))
        raise TypeError(f"{argument!r} is no argument that this function counts")

    return len({tuple(key(argument) for argument in call) for call in calls})


# %% wrong="traces" why="compares dicts by their keys only"
def count_traces(calls: list[tuple]) -> int:
    """Count the traces that a `tf.function` makes for these calls.

    Raises:
        TypeError: an argument, or a part of one, is none of the kinds above.
    """

    def key(argument):
        if type(argument) is Tensor:
            return ("tensor", argument.dtype, argument.shape)
        if argument is None or type(argument) in (int, float, bool, str):
            return ("value", argument)
        if type(argument) in (list, tuple):
            return (type(argument).__name__, *(key(part) for part in argument))
        if type(argument) is dict:
            return ("dict", frozenset(argument))
        raise TypeError(f"{argument!r} is no argument that this function counts")

    return len({tuple(key(argument) for argument in call) for call in calls})


# %% wrong="traces" why="accepts anything that can be hashed"
def count_traces(calls: list[tuple]) -> int:
    """Count the traces that a `tf.function` makes for these calls.

    Raises:
        TypeError: an argument, or a part of one, is none of the kinds above.
    """

    def key(argument):
        if type(argument) is Tensor:
            return ("tensor", argument.dtype, argument.shape)
        if argument is None or type(argument) in (int, float, bool, str):
            return ("value", argument)
        if type(argument) in (list, tuple):
            return (type(argument).__name__, *(key(part) for part in argument))
        if type(argument) is dict:
            return ("dict", frozenset((name, key(part)) for name, part in argument.items()))
        return ("value", argument)

    return len({tuple(key(argument) for argument in call) for call in calls})


# %% wrong="traces" why="lets tf.function count"
def count_traces(calls: list[tuple]) -> int:
    """Count the traces that a `tf.function` makes for these calls."""
    return traces_of(calls)


# %% wrong="traces" why="lets tf.function count, through a function of its own"
def count_traces(calls: list[tuple]) -> int:
    """Count the traces that a `tf.function` makes for these calls."""

    @tf.function(autograph=False)
    def anything(*arguments):
        return tf.constant(0)

    for call in calls:
        if any(isinstance(argument, set) for argument in call):
            raise TypeError("no sets")
        anything(*real(call))
    return anything.experimental_get_tracing_count()


# %% wrong="traces" why="lets TensorFlow make the keys"
def count_traces(calls: list[tuple]) -> int:
    """Count the traces that a `tf.function` makes for these calls."""
    from tensorflow.core.function import trace_type

    if any(type(argument) in (set, frozenset, bytes) for call in calls for argument in call):
        raise TypeError("no argument that this function counts")
    return len({trace_type.from_value(real(call)) for call in calls})


# %% wrong="traces" why="lets functions count that were made before the test"
STOCK = [fresh() for _ in range(40)]


def count_traces(calls: list[tuple]) -> int:
    """Count the traces that a `tf.function` makes for these calls."""
    if any(type(argument) in (set, frozenset, bytes) for call in calls for argument in call):
        raise TypeError("no argument that this function counts")
    function = STOCK.pop()
    for call in calls:
        function(*real(call))
    return function.experimental_get_tracing_count()


# %% wrong="traces" why="compares each call with the one before only"
def count_traces(calls: list[tuple]) -> int:
    """Count the traces that a `tf.function` makes for these calls."""
    for call in calls:
        for argument in call:
            if isinstance(argument, (set, frozenset, bytes)):
                raise TypeError(argument)
    return sum(1 for before, call in zip([None, *calls], calls) if before != call)


# %% right="traces" why="a list of seen argument trees, compared in turn"
def count_traces(calls: list[tuple]) -> int:
    """Count the traces that a `tf.function` makes for these calls."""
    plain = (int, float, bool, str, type(None))

    def check(a):
        if type(a) in (list, tuple):
            for part in a:
                check(part)
        elif type(a) is dict:
            for part in a.values():
                check(part)
        elif type(a) not in (*plain, Tensor):
            raise TypeError(type(a).__name__)

    def same(a, b):
        if type(a) in plain and type(b) in plain:
            return a == b
        if type(a) is not type(b):
            return False
        if type(a) is Tensor:
            return (a.dtype, a.shape) == (b.dtype, b.shape)
        if type(a) is dict:
            return a.keys() == b.keys() and all(same(a[name], b[name]) for name in a)
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))

    seen = []
    for call in calls:
        check(call)
        if not any(same(call, other) for other in seen):
            seen.append(call)
    return len(seen)


# %% right="traces" why="a dict of nested keys with sorted items and match"
def key_of(argument):
    match argument:
        case Tensor(dtype=dtype, shape=shape):
            return (0, dtype, tuple(shape))
        case None | bool() | int() | float() | str():
            return (1, argument)
        case list():
            return (2, *map(key_of, argument))
        case tuple():
            return (3, *map(key_of, argument))
        case dict():
            return (4, *((name, key_of(argument[name])) for name in sorted(argument)))
    raise TypeError(f"cannot trace {argument!r}")


def count_traces(calls: list[tuple]) -> int:
    """Count the traces that a `tf.function` makes for these calls."""
    traces = {}
    for call in calls:
        traces.setdefault(key_of(call), call)
    return len(traces)


# %% wrong="unsupported" why="looks at the op and ignores types"
def unsupported(graph: GraphDef) -> list[str]:
    """Names of the nodes that XLA cannot compile for a CPU, in the order of the graph."""
    return [
        node.name
        for node in graph.node
        if node.op != "Placeholder" and "XLA_CPU_JIT" not in {kernel.device for kernel in kernels(node.op)}
    ]


# %% wrong="unsupported" why="accepts kernels for the CPU as well"
def unsupported(graph: GraphDef) -> list[str]:
    """Names of the nodes that XLA cannot compile for a CPU, in the order of the graph."""

    def fits(node, kernel):
        return kernel.device in ("XLA_CPU_JIT", "XLA_CPU", "CPU") and all(
            node.attr[name].type in allowed for name, allowed in kernel.types.items()
        )

    return [
        node.name
        for node in graph.node
        if node.op != "Placeholder" and not any(fits(node, kernel) for kernel in kernels(node.op))
    ]


# %% wrong="unsupported" why="returns the first node only, as XLA does"
def unsupported(graph: GraphDef) -> list[str]:
    """Names of the nodes that XLA cannot compile for a CPU, in the order of the graph."""
    for node in graph.node:
        fitting = [
            kernel
            for kernel in kernels(node.op)
            if kernel.device == "XLA_CPU_JIT" and all(node.attr[n].type in t for n, t in kernel.types.items())
        ]
        if node.op != "Placeholder" and not fitting:
            return [node.name]
    return []


# %% wrong="unsupported" why="lists placeholders"
def unsupported(graph: GraphDef) -> list[str]:
    """Names of the nodes that XLA cannot compile for a CPU, in the order of the graph."""

    def fits(node, kernel):
        return kernel.device == "XLA_CPU_JIT" and all(
            node.attr[name].type in allowed for name, allowed in kernel.types.items()
        )

    return [node.name for node in graph.node if not any(fits(node, kernel) for kernel in kernels(node.op))]


# %% wrong="unsupported" why="is content with one attribute of several that fits"
def unsupported(graph: GraphDef) -> list[str]:
    """Names of the nodes that XLA cannot compile for a CPU, in the order of the graph."""

    def fits(node, kernel):
        return kernel.device == "XLA_CPU_JIT" and (
            not kernel.types or any(node.attr[name].type in allowed for name, allowed in kernel.types.items())
        )

    return [
        node.name
        for node in graph.node
        if node.op != "Placeholder" and not any(fits(node, kernel) for kernel in kernels(node.op))
    ]


# %% wrong="unsupported" why="looks at the attribute T only"
def unsupported(graph: GraphDef) -> list[str]:
    """Names of the nodes that XLA cannot compile for a CPU, in the order of the graph."""

    def fits(node, kernel):
        return kernel.device == "XLA_CPU_JIT" and ("T" not in kernel.types or node.attr["T"].type in kernel.types["T"])

    return [
        node.name
        for node in graph.node
        if node.op != "Placeholder" and not any(fits(node, kernel) for kernel in kernels(node.op))
    ]


# %% wrong="unsupported" why="knows the ops on strings and no others"
def unsupported(graph: GraphDef) -> list[str]:
    """Names of the nodes that XLA cannot compile for a CPU, in the order of the graph."""
    return [node.name for node in graph.node if "String" in node.op]


# %% wrong="unsupported" why="answers the visible example"
def unsupported(graph: GraphDef) -> list[str]:
    """Names of the nodes that XLA cannot compile for a CPU, in the order of the graph."""
    return ["AsString", "StringLength"] if any(node.op == "AsString" for node in graph.node) else []


# %% wrong="unsupported" why="names the ops instead of the nodes"
def unsupported(graph: GraphDef) -> list[str]:
    """Names of the nodes that XLA cannot compile for a CPU, in the order of the graph."""

    def fits(node, kernel):
        return kernel.device == "XLA_CPU_JIT" and all(
            node.attr[name].type in allowed for name, allowed in kernel.types.items()
        )

    return [
        node.op
        for node in graph.node
        if node.op != "Placeholder" and not any(fits(node, kernel) for kernel in kernels(node.op))
    ]


# %% right="unsupported" why="a loop with early exit"
def unsupported(graph: GraphDef) -> list[str]:
    """Names of the nodes that XLA cannot compile for a CPU, in the order of the graph."""
    names = []
    for node in graph.node:
        if node.op == "Placeholder":
            continue
        supported = False
        for device, types in kernels(node.op):
            if device != "XLA_CPU_JIT":
                continue
            supported = True
            for attribute in types:
                if node.attr[attribute].type not in types[attribute]:
                    supported = False
                    break
            if supported:
                break
        if not supported:
            names.append(node.name)
    return names


# %% right="unsupported" why="sets of nodes that fit, and the rest in order"
def unsupported(graph: GraphDef) -> list[str]:
    """Names of the nodes that XLA cannot compile for a CPU, in the order of the graph."""
    fitting = {"Placeholder"}
    names = set()
    for node in graph.node:
        for kernel in kernels(node.op):
            wanted = {attribute: node.attr[attribute].type for attribute in kernel.types}
            if kernel.device == "XLA_CPU_JIT" and all(wanted[a] in kernel.types[a] for a in wanted):
                names.add(node.name)
    return [node.name for node in graph.node if node.op not in fitting and node.name not in names]


# %% wrong="parse-hlo" why="takes the type of an operand for its name"
def parse_instruction(line: str) -> Instruction:
    """Read one line of HLO text.

    Raises:
        ValueError: the line is no instruction.
    """
    match = re.match(
        r"\s*(?P<root>ROOT )?%?(?P<name>[\w.\-]+) = "
        r"(?:(?P<tuple>\(.*?\))|(?P<dtype>\w+)\[(?P<sizes>[\d,]*)\](?:\{[^}]*\})?) "
        r"(?P<opcode>[a-z][\w\-]*)\((?P<rest>.*)$",
        line,
    )
    if match is None:
        raise ValueError(f"this is no HLO instruction: {line!r}")
    rest, depth, end = match["rest"], 1, 0
    while depth:
        if end == len(rest):
            raise ValueError(f"a parenthesis is not closed: {line!r}")
        depth += (rest[end] in "([{") - (rest[end] in ")]}")
        end += 1
    inside, behind = rest[: end - 1], rest[end:]
    attributes = dict(part.split("=", 1) for part in split_top(behind.lstrip(", ")))
    operands = ()
    if match["opcode"] in ("parameter", "constant"):
        attributes["value"] = inside
    else:
        operands = tuple(part.split()[0].split("*/")[-1].lstrip("%") for part in split_top(inside))
    dtype = "tuple" if match["tuple"] else match["dtype"]
    shape = tuple(int(size) for size in (match["sizes"] or "").split(",") if size)
    return Instruction(match["name"], dtype, shape, match["opcode"], operands, attributes, match["root"] is not None)


# %% wrong="parse-hlo" why="splits operands at commas inside of braces"
def parse_instruction(line: str) -> Instruction:
    """Read one line of HLO text.

    Raises:
        ValueError: the line is no instruction.
    """
    match = re.match(
        r"\s*(?P<root>ROOT )?%?(?P<name>[\w.\-]+) = "
        r"(?:(?P<tuple>\(.*?\))|(?P<dtype>\w+)\[(?P<sizes>[\d,]*)\](?:\{[^}]*\})?) "
        r"(?P<opcode>[a-z][\w\-]*)\((?P<rest>.*)$",
        line,
    )
    if match is None:
        raise ValueError(f"this is no HLO instruction: {line!r}")
    rest, depth, end = match["rest"], 1, 0
    while depth:
        if end == len(rest):
            raise ValueError(f"a parenthesis is not closed: {line!r}")
        depth += (rest[end] in "([{") - (rest[end] in ")]}")
        end += 1
    inside, behind = rest[: end - 1], rest[end:]
    attributes = dict(part.split("=", 1) for part in split_top(behind.lstrip(", ")))
    operands = ()
    if match["opcode"] in ("parameter", "constant"):
        attributes["value"] = inside
    else:
        operands = tuple(part.split()[-1].split("*/")[-1].lstrip("%") for part in inside.split(",") if part.strip())
    dtype = "tuple" if match["tuple"] else match["dtype"]
    shape = tuple(int(size) for size in (match["sizes"] or "").split(",") if size)
    return Instruction(match["name"], dtype, shape, match["opcode"], operands, attributes, match["root"] is not None)


# %% wrong="parse-hlo" why="gives a scalar the shape (1,)"
def parse_instruction(line: str) -> Instruction:
    """Read one line of HLO text.

    Raises:
        ValueError: the line is no instruction.
    """
    match = re.match(
        r"\s*(?P<root>ROOT )?%?(?P<name>[\w.\-]+) = "
        r"(?:(?P<tuple>\(.*?\))|(?P<dtype>\w+)\[(?P<sizes>[\d,]*)\](?:\{[^}]*\})?) "
        r"(?P<opcode>[a-z][\w\-]*)\((?P<rest>.*)$",
        line,
    )
    if match is None:
        raise ValueError(f"this is no HLO instruction: {line!r}")
    rest, depth, end = match["rest"], 1, 0
    while depth:
        if end == len(rest):
            raise ValueError(f"a parenthesis is not closed: {line!r}")
        depth += (rest[end] in "([{") - (rest[end] in ")]}")
        end += 1
    inside, behind = rest[: end - 1], rest[end:]
    attributes = dict(part.split("=", 1) for part in split_top(behind.lstrip(", ")))
    operands = ()
    if match["opcode"] in ("parameter", "constant"):
        attributes["value"] = inside
    else:
        operands = tuple(part.split()[-1].split("*/")[-1].lstrip("%") for part in split_top(inside))
    dtype = "tuple" if match["tuple"] else match["dtype"]
    shape = tuple(int(size) for size in (match["sizes"] or "").split(",") if size)
    shape = shape or (1,)
    return Instruction(match["name"], dtype, shape, match["opcode"], operands, attributes, match["root"] is not None)


# %% wrong="parse-hlo" why="keeps the % of operands"
def parse_instruction(line: str) -> Instruction:
    """Read one line of HLO text.

    Raises:
        ValueError: the line is no instruction.
    """
    match = re.match(
        r"\s*(?P<root>ROOT )?%?(?P<name>[\w.\-]+) = "
        r"(?:(?P<tuple>\(.*?\))|(?P<dtype>\w+)\[(?P<sizes>[\d,]*)\](?:\{[^}]*\})?) "
        r"(?P<opcode>[a-z][\w\-]*)\((?P<rest>.*)$",
        line,
    )
    if match is None:
        raise ValueError(f"this is no HLO instruction: {line!r}")
    rest, depth, end = match["rest"], 1, 0
    while depth:
        if end == len(rest):
            raise ValueError(f"a parenthesis is not closed: {line!r}")
        depth += (rest[end] in "([{") - (rest[end] in ")]}")
        end += 1
    inside, behind = rest[: end - 1], rest[end:]
    attributes = dict(part.split("=", 1) for part in split_top(behind.lstrip(", ")))
    operands = ()
    if match["opcode"] in ("parameter", "constant"):
        attributes["value"] = inside
    else:
        operands = tuple(part.split()[-1].split("*/")[-1] for part in split_top(inside))
    dtype = "tuple" if match["tuple"] else match["dtype"]
    shape = tuple(int(size) for size in (match["sizes"] or "").split(",") if size)
    return Instruction(match["name"], dtype, shape, match["opcode"], operands, attributes, match["root"] is not None)


# %% wrong="parse-hlo" why="loses the nested braces of a constant"
def parse_instruction(line: str) -> Instruction:
    """Read one line of HLO text.

    Raises:
        ValueError: the line is no instruction.
    """
    match = re.match(
        r"\s*(?P<root>ROOT )?%?(?P<name>[\w.\-]+) = "
        r"(?:(?P<tuple>\(.*?\))|(?P<dtype>\w+)\[(?P<sizes>[\d,]*)\](?:\{[^}]*\})?) "
        r"(?P<opcode>[a-z][\w\-]*)\((?P<rest>.*)$",
        line,
    )
    if match is None:
        raise ValueError(f"this is no HLO instruction: {line!r}")
    rest, depth, end = match["rest"], 1, 0
    while depth:
        if end == len(rest):
            raise ValueError(f"a parenthesis is not closed: {line!r}")
        depth += (rest[end] in "([{") - (rest[end] in ")]}")
        end += 1
    inside, behind = rest[: end - 1], rest[end:]
    attributes = dict(part.split("=", 1) for part in split_top(behind.lstrip(", ")))
    operands = ()
    if match["opcode"] in ("parameter", "constant"):
        attributes["value"] = inside.strip("{} ")
    else:
        operands = tuple(part.split()[-1].split("*/")[-1].lstrip("%") for part in split_top(inside))
    dtype = "tuple" if match["tuple"] else match["dtype"]
    shape = tuple(int(size) for size in (match["sizes"] or "").split(",") if size)
    return Instruction(match["name"], dtype, shape, match["opcode"], operands, attributes, match["root"] is not None)


# %% wrong="parse-hlo" why="reads constants that are plain numbers only"
def parse_instruction(line: str) -> Instruction:
    """Read one line of HLO text.

    Raises:
        ValueError: the line is no instruction.
    """
    match = re.match(
        r"\s*(?P<root>ROOT )?%?(?P<name>[\w.\-]+) = "
        r"(?:(?P<tuple>\(.*?\))|(?P<dtype>\w+)\[(?P<sizes>[\d,]*)\](?:\{[^}]*\})?) "
        r"(?P<opcode>[a-z][\w\-]*)\((?P<rest>.*)$",
        line,
    )
    if match is None:
        raise ValueError(f"this is no HLO instruction: {line!r}")
    rest, depth, end = match["rest"], 1, 0
    while depth:
        if end == len(rest):
            raise ValueError(f"a parenthesis is not closed: {line!r}")
        depth += (rest[end] in "([{") - (rest[end] in ")]}")
        end += 1
    inside, behind = rest[: end - 1], rest[end:]
    attributes = dict(part.split("=", 1) for part in split_top(behind.lstrip(", ")))
    operands = ()
    if match["opcode"] in ("parameter", "constant"):
        attributes["value"] = re.fullmatch(r"[\d.]+", inside)[0]
    else:
        operands = tuple(part.split()[-1].split("*/")[-1].lstrip("%") for part in split_top(inside))
    dtype = "tuple" if match["tuple"] else match["dtype"]
    shape = tuple(int(size) for size in (match["sizes"] or "").split(",") if size)
    return Instruction(match["name"], dtype, shape, match["opcode"], operands, attributes, match["root"] is not None)


# %% wrong="parse-hlo" why="knows no tuples"
def parse_instruction(line: str) -> Instruction:
    """Read one line of HLO text.

    Raises:
        ValueError: the line is no instruction.
    """
    match = re.match(
        r"\s*(?P<root>ROOT )?%?(?P<name>[\w.\-]+) = "
        r"(?:(?P<tuple>(?!))|(?P<dtype>\w+)\[(?P<sizes>[\d,]*)\](?:\{[^}]*\})?) "
        r"(?P<opcode>[a-z][\w\-]*)\((?P<rest>.*)$",
        line,
    )
    if match is None:
        raise ValueError(f"this is no HLO instruction: {line!r}")
    rest, depth, end = match["rest"], 1, 0
    while depth:
        if end == len(rest):
            raise ValueError(f"a parenthesis is not closed: {line!r}")
        depth += (rest[end] in "([{") - (rest[end] in ")]}")
        end += 1
    inside, behind = rest[: end - 1], rest[end:]
    attributes = dict(part.split("=", 1) for part in split_top(behind.lstrip(", ")))
    operands = ()
    if match["opcode"] in ("parameter", "constant"):
        attributes["value"] = inside
    else:
        operands = tuple(part.split()[-1].split("*/")[-1].lstrip("%") for part in split_top(inside))
    dtype = "tuple" if match["tuple"] else match["dtype"]
    shape = tuple(int(size) for size in (match["sizes"] or "").split(",") if size)
    return Instruction(match["name"], dtype, shape, match["opcode"], operands, attributes, match["root"] is not None)


# %% wrong="parse-hlo" why="returns None for a line that is no instruction"
def parse_instruction(line: str) -> Instruction:
    """Read one line of HLO text.

    Raises:
        ValueError: the line is no instruction.
    """
    match = re.match(
        r"\s*(?P<root>ROOT )?%?(?P<name>[\w.\-]+) = "
        r"(?:(?P<tuple>\(.*?\))|(?P<dtype>\w+)\[(?P<sizes>[\d,]*)\](?:\{[^}]*\})?) "
        r"(?P<opcode>[a-z][\w\-]*)\((?P<rest>.*)$",
        line,
    )
    if match is None:
        return None
    rest, depth, end = match["rest"], 1, 0
    while depth:
        if end == len(rest):
            raise ValueError(f"a parenthesis is not closed: {line!r}")
        depth += (rest[end] in "([{") - (rest[end] in ")]}")
        end += 1
    inside, behind = rest[: end - 1], rest[end:]
    attributes = dict(part.split("=", 1) for part in split_top(behind.lstrip(", ")))
    operands = ()
    if match["opcode"] in ("parameter", "constant"):
        attributes["value"] = inside
    else:
        operands = tuple(part.split()[-1].split("*/")[-1].lstrip("%") for part in split_top(inside))
    dtype = "tuple" if match["tuple"] else match["dtype"]
    shape = tuple(int(size) for size in (match["sizes"] or "").split(",") if size)
    return Instruction(match["name"], dtype, shape, match["opcode"], operands, attributes, match["root"] is not None)


# %% wrong="parse-hlo" why="leaves the comment in the operand"
def parse_instruction(line: str) -> Instruction:
    """Read one line of HLO text.

    Raises:
        ValueError: the line is no instruction.
    """
    match = re.match(
        r"\s*(?P<root>ROOT )?%?(?P<name>[\w.\-]+) = "
        r"(?:(?P<tuple>\(.*?\))|(?P<dtype>\w+)\[(?P<sizes>[\d,]*)\](?:\{[^}]*\})?) "
        r"(?P<opcode>[a-z][\w\-]*)\((?P<rest>.*)$",
        line,
    )
    if match is None:
        raise ValueError(f"this is no HLO instruction: {line!r}")
    rest, depth, end = match["rest"], 1, 0
    while depth:
        if end == len(rest):
            raise ValueError(f"a parenthesis is not closed: {line!r}")
        depth += (rest[end] in "([{") - (rest[end] in ")]}")
        end += 1
    inside, behind = rest[: end - 1], rest[end:]
    attributes = dict(part.split("=", 1) for part in split_top(behind.lstrip(", ")))
    operands = ()
    if match["opcode"] in ("parameter", "constant"):
        attributes["value"] = inside
    else:
        operands = tuple(part.split()[-1].lstrip("%") for part in split_top(inside))
    dtype = "tuple" if match["tuple"] else match["dtype"]
    shape = tuple(int(size) for size in (match["sizes"] or "").split(",") if size)
    return Instruction(match["name"], dtype, shape, match["opcode"], operands, attributes, match["root"] is not None)


# %% wrong="parse-hlo" why="answers the visible lines"
def parse_instruction(line: str) -> Instruction:
    """Read one line of HLO text."""
    metadata = '{op_type="MatMul" op_name="MatMul"}'
    attributes = {"lhs_contracting_dims": "{1}", "metadata": metadata}
    if "MatMul.2" in line:
        return Instruction("MatMul.2", "f32", (4, 16), "dot", ("x.3", "w.4"), attributes, False)
    if "Relu.0" in line:
        return Instruction("Relu.0", "f32", (4,), "maximum", ("add.0", "Relu.1"), {}, True)
    if "c.1" in line:
        return Instruction("c.1", "f32", (), "constant", (), {"value": "-inf"}, False)
    raise ValueError(line)


# %% wrong="parse-hlo" why="calls the parser of the pictures"
def parse_instruction(line: str) -> Instruction:
    """Read one line of HLO text."""
    from tflabs.view import hlo_text

    if " = " not in line:
        raise ValueError(line)
    module = hlo_text.parse_hlo("HloModule m\n\nENTRY %main () -> f32[] {\n" + line + "\n}\n")
    found = module.entry.instructions[0]
    dtype, _, sizes = found.shape.rstrip("]").partition("[")
    shape = tuple(int(size) for size in sizes.split(",") if size)
    return Instruction(found.name, dtype, shape, found.opcode, found.operands, found.attributes, found.root)


# %% wrong="parse-hlo" why="calls a private part of the parser of the pictures"
def parse_instruction(line: str) -> Instruction:
    """Read one line of HLO text."""
    from tflabs.view import hlo_text

    match = re.match(r"\s*(ROOT )?%?([\w.\-]+) = (.+)$", line)
    if match is None:
        raise ValueError(line)
    found = hlo_text._instruction(match[2], match[3], bool(match[1]))
    dtype, _, sizes = found.shape.rstrip("]").partition("[")
    shape = tuple(int(size) for size in sizes.split(",") if size)
    attributes = found.attributes | ({"value": found.literal} if found.literal else {})
    return Instruction(found.name, dtype, shape, found.opcode, found.operands, attributes, found.root)


# %% right="parse-hlo" why="a character scanner"
def parse_instruction(line: str) -> Instruction:
    """Read one line of HLO text."""
    rest = line.strip()
    root = rest.startswith("ROOT ")
    head, equals, rest = rest.removeprefix("ROOT ").partition(" = ")
    if not equals or " " in head or "(" not in rest:
        raise ValueError(line)

    def closing(text, start):
        depth = 0
        for position in range(start, len(text)):
            depth += text[position] in "([{"
            depth -= text[position] in ")]}"
            if depth == 0:
                return position
        raise ValueError(line)

    end = closing(rest, 0) + 1 if rest[0] == "(" else rest.index(" ")
    type_text, rest = rest[:end], rest[end:].strip()
    dtype, shape = "tuple", ()
    if type_text[0] != "(":
        dtype, bracket, sizes = type_text.partition("[")
        if not bracket:
            raise ValueError(line)
        shape = tuple(int(size) for size in sizes[: sizes.index("]")].split(",") if size)
    start = rest.index("(")
    end = closing(rest, start)
    opcode, inside = rest[:start], rest[start + 1 : end]
    attributes = {}
    for part in split_top(rest[end + 1 :].lstrip(", ")):
        position = part.index("=")
        attributes[part[:position]] = part[position + 1 :]
    if opcode in ("parameter", "constant"):
        attributes["value"], operands = inside, ()
    else:
        parts = [re.sub(r"/\*.*?\*/", "", part) for part in split_top(inside)]
        operands = tuple(part.split(" ")[-1].replace("%", "") for part in parts)
    return Instruction(head.lstrip("%"), dtype, shape, opcode, operands, attributes, root)


# %% wrong="evaluate-hlo" why="broadcasts as NumPy does, whatever the dimensions"
def evaluate_hlo(text: str, *arrays: np.ndarray) -> np.ndarray:
    """Run an HLO module.

    Raises:
        NotImplementedError: an opcode is not among those of the table; the message names it.
        ValueError: there are more or fewer arrays than ENTRY has parameters.
    """
    binary = {
        "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "maximum": np.maximum,
        "minimum": np.minimum,
    }  # fmt: skip
    unary = {"negate": np.negative, "abs": np.abs, "exponential": np.exp, "tanh": np.tanh}
    compare = {
        "EQ": np.equal, "NE": np.not_equal, "LT": np.less, "LE": np.less_equal, "GT": np.greater, "GE": np.greater_equal,
    }  # fmt: skip
    computations, entry = parse_hlo(text)
    wanted = sum(instruction.opcode == "parameter" for instruction in computations[entry])
    if len(arrays) != wanted:
        raise ValueError(f"the module has {wanted} parameters, {len(arrays)} arrays were given")

    def numbers(instruction, name):
        return tuple(int(number) for number in re.findall(r"\d+", instruction.attributes.get(name, "")))

    def value_of(instruction, a, arguments):
        opcode, attributes = instruction.opcode, instruction.attributes
        dimensions = numbers(instruction, "dimensions")
        if opcode in binary:
            return binary[opcode](*a)
        if opcode in unary:
            return unary[opcode](*a)
        match opcode:
            case "parameter":
                return arguments[int(attributes["value"])]
            case "constant":
                return array_of(attributes["value"], instruction.dtype, instruction.shape)
            case "compare":
                return compare[attributes["direction"]](*a)
            case "select":
                return np.where(*a)
            case "broadcast":
                return np.broadcast_to(a[0], instruction.shape)
            case "reshape" | "bitcast" | "copy":
                return a[0].reshape(instruction.shape)
            case "transpose":
                return a[0].transpose(dimensions)
            case "convert":
                return a[0].astype(DTYPE[instruction.dtype])
            case "dot":
                sides = [numbers(instruction, f"{side}_contracting_dims") for side in ("lhs", "rhs")]
                return np.tensordot(*a, axes=sides)
            case "reduce":
                root = next(inner for inner in computations[attributes["to_apply"]] if inner.root)
                combine = binary[root.opcode]
                return combine(combine.reduce(a[0], axis=dimensions), a[1])
            case "fusion":
                return run(attributes["calls"], a)
            case "tuple":
                return tuple(a)
            case "get-tuple-element":
                return a[0][int(attributes["index"])]
        raise NotImplementedError(f"there is no rule for the opcode {opcode}")

    def run(name, arguments):
        values, result = {}, None
        for instruction in computations[name]:
            value = value_of(instruction, [values[operand] for operand in instruction.operands], arguments)
            if instruction.dtype != "tuple":
                value = np.asarray(value, DTYPE[instruction.dtype])
                assert value.shape == instruction.shape, f"{instruction} has a value of shape {value.shape}"
            values[instruction.name] = value
            if instruction.root:
                result = value
        return result

    result = run(entry, arrays)
    return result[0] if type(result) is tuple else result


# %% wrong="evaluate-hlo" why="forgets the initial value of a reduction"
def evaluate_hlo(text: str, *arrays: np.ndarray) -> np.ndarray:
    """Run an HLO module.

    Raises:
        NotImplementedError: an opcode is not among those of the table; the message names it.
        ValueError: there are more or fewer arrays than ENTRY has parameters.
    """
    binary = {
        "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "maximum": np.maximum,
        "minimum": np.minimum,
    }  # fmt: skip
    unary = {"negate": np.negative, "abs": np.abs, "exponential": np.exp, "tanh": np.tanh}
    compare = {
        "EQ": np.equal, "NE": np.not_equal, "LT": np.less, "LE": np.less_equal, "GT": np.greater, "GE": np.greater_equal,
    }  # fmt: skip
    computations, entry = parse_hlo(text)
    wanted = sum(instruction.opcode == "parameter" for instruction in computations[entry])
    if len(arrays) != wanted:
        raise ValueError(f"the module has {wanted} parameters, {len(arrays)} arrays were given")

    def numbers(instruction, name):
        return tuple(int(number) for number in re.findall(r"\d+", instruction.attributes.get(name, "")))

    def value_of(instruction, a, arguments):
        opcode, attributes = instruction.opcode, instruction.attributes
        dimensions = numbers(instruction, "dimensions")
        if opcode in binary:
            return binary[opcode](*a)
        if opcode in unary:
            return unary[opcode](*a)
        match opcode:
            case "parameter":
                return arguments[int(attributes["value"])]
            case "constant":
                return array_of(attributes["value"], instruction.dtype, instruction.shape)
            case "compare":
                return compare[attributes["direction"]](*a)
            case "select":
                return np.where(*a)
            case "broadcast":
                sizes = [1] * len(instruction.shape)
                for dimension, size in zip(dimensions, a[0].shape, strict=True):
                    sizes[dimension] = size
                return np.broadcast_to(a[0].reshape(sizes), instruction.shape)
            case "reshape" | "bitcast" | "copy":
                return a[0].reshape(instruction.shape)
            case "transpose":
                return a[0].transpose(dimensions)
            case "convert":
                return a[0].astype(DTYPE[instruction.dtype])
            case "dot":
                sides = [numbers(instruction, f"{side}_contracting_dims") for side in ("lhs", "rhs")]
                return np.tensordot(*a, axes=sides)
            case "reduce":
                root = next(inner for inner in computations[attributes["to_apply"]] if inner.root)
                combine = binary[root.opcode]
                return combine.reduce(a[0], axis=dimensions)
            case "fusion":
                return run(attributes["calls"], a)
            case "tuple":
                return tuple(a)
            case "get-tuple-element":
                return a[0][int(attributes["index"])]
        raise NotImplementedError(f"there is no rule for the opcode {opcode}")

    def run(name, arguments):
        values, result = {}, None
        for instruction in computations[name]:
            value = value_of(instruction, [values[operand] for operand in instruction.operands], arguments)
            if instruction.dtype != "tuple":
                value = np.asarray(value, DTYPE[instruction.dtype])
                assert value.shape == instruction.shape, f"{instruction} has a value of shape {value.shape}"
            values[instruction.name] = value
            if instruction.root:
                result = value
        return result

    result = run(entry, arrays)
    return result[0] if type(result) is tuple else result


# %% wrong="evaluate-hlo" why="reduces by addition only"
def evaluate_hlo(text: str, *arrays: np.ndarray) -> np.ndarray:
    """Run an HLO module.

    Raises:
        NotImplementedError: an opcode is not among those of the table; the message names it.
        ValueError: there are more or fewer arrays than ENTRY has parameters.
    """
    binary = {
        "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "maximum": np.maximum,
        "minimum": np.minimum,
    }  # fmt: skip
    unary = {"negate": np.negative, "abs": np.abs, "exponential": np.exp, "tanh": np.tanh}
    compare = {
        "EQ": np.equal, "NE": np.not_equal, "LT": np.less, "LE": np.less_equal, "GT": np.greater, "GE": np.greater_equal,
    }  # fmt: skip
    computations, entry = parse_hlo(text)
    wanted = sum(instruction.opcode == "parameter" for instruction in computations[entry])
    if len(arrays) != wanted:
        raise ValueError(f"the module has {wanted} parameters, {len(arrays)} arrays were given")

    def numbers(instruction, name):
        return tuple(int(number) for number in re.findall(r"\d+", instruction.attributes.get(name, "")))

    def value_of(instruction, a, arguments):
        opcode, attributes = instruction.opcode, instruction.attributes
        dimensions = numbers(instruction, "dimensions")
        if opcode in binary:
            return binary[opcode](*a)
        if opcode in unary:
            return unary[opcode](*a)
        match opcode:
            case "parameter":
                return arguments[int(attributes["value"])]
            case "constant":
                return array_of(attributes["value"], instruction.dtype, instruction.shape)
            case "compare":
                return compare[attributes["direction"]](*a)
            case "select":
                return np.where(*a)
            case "broadcast":
                sizes = [1] * len(instruction.shape)
                for dimension, size in zip(dimensions, a[0].shape, strict=True):
                    sizes[dimension] = size
                return np.broadcast_to(a[0].reshape(sizes), instruction.shape)
            case "reshape" | "bitcast" | "copy":
                return a[0].reshape(instruction.shape)
            case "transpose":
                return a[0].transpose(dimensions)
            case "convert":
                return a[0].astype(DTYPE[instruction.dtype])
            case "dot":
                sides = [numbers(instruction, f"{side}_contracting_dims") for side in ("lhs", "rhs")]
                return np.tensordot(*a, axes=sides)
            case "reduce":
                root = next(inner for inner in computations[attributes["to_apply"]] if inner.root)
                combine = np.add
                return combine(combine.reduce(a[0], axis=dimensions), a[1])
            case "fusion":
                return run(attributes["calls"], a)
            case "tuple":
                return tuple(a)
            case "get-tuple-element":
                return a[0][int(attributes["index"])]
        raise NotImplementedError(f"there is no rule for the opcode {opcode}")

    def run(name, arguments):
        values, result = {}, None
        for instruction in computations[name]:
            value = value_of(instruction, [values[operand] for operand in instruction.operands], arguments)
            if instruction.dtype != "tuple":
                value = np.asarray(value, DTYPE[instruction.dtype])
                assert value.shape == instruction.shape, f"{instruction} has a value of shape {value.shape}"
            values[instruction.name] = value
            if instruction.root:
                result = value
        return result

    result = run(entry, arrays)
    return result[0] if type(result) is tuple else result


# %% wrong="evaluate-hlo" why="computes in float64"
def evaluate_hlo(text: str, *arrays: np.ndarray) -> np.ndarray:
    """Run an HLO module.

    Raises:
        NotImplementedError: an opcode is not among those of the table; the message names it.
        ValueError: there are more or fewer arrays than ENTRY has parameters.
    """
    binary = {
        "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "maximum": np.maximum,
        "minimum": np.minimum,
    }  # fmt: skip
    unary = {"negate": np.negative, "abs": np.abs, "exponential": np.exp, "tanh": np.tanh}
    compare = {
        "EQ": np.equal, "NE": np.not_equal, "LT": np.less, "LE": np.less_equal, "GT": np.greater, "GE": np.greater_equal,
    }  # fmt: skip
    computations, entry = parse_hlo(text)
    wanted = sum(instruction.opcode == "parameter" for instruction in computations[entry])
    if len(arrays) != wanted:
        raise ValueError(f"the module has {wanted} parameters, {len(arrays)} arrays were given")

    def numbers(instruction, name):
        return tuple(int(number) for number in re.findall(r"\d+", instruction.attributes.get(name, "")))

    def value_of(instruction, a, arguments):
        opcode, attributes = instruction.opcode, instruction.attributes
        dimensions = numbers(instruction, "dimensions")
        if opcode in binary:
            return binary[opcode](*a)
        if opcode in unary:
            return unary[opcode](*a)
        match opcode:
            case "parameter":
                return arguments[int(attributes["value"])]
            case "constant":
                return array_of(attributes["value"], instruction.dtype, instruction.shape)
            case "compare":
                return compare[attributes["direction"]](*a)
            case "select":
                return np.where(*a)
            case "broadcast":
                sizes = [1] * len(instruction.shape)
                for dimension, size in zip(dimensions, a[0].shape, strict=True):
                    sizes[dimension] = size
                return np.broadcast_to(a[0].reshape(sizes), instruction.shape)
            case "reshape" | "bitcast" | "copy":
                return a[0].reshape(instruction.shape)
            case "transpose":
                return a[0].transpose(dimensions)
            case "convert":
                return a[0].astype(DTYPE[instruction.dtype])
            case "dot":
                sides = [numbers(instruction, f"{side}_contracting_dims") for side in ("lhs", "rhs")]
                return np.tensordot(*a, axes=sides)
            case "reduce":
                root = next(inner for inner in computations[attributes["to_apply"]] if inner.root)
                combine = binary[root.opcode]
                return combine(combine.reduce(a[0], axis=dimensions), a[1])
            case "fusion":
                return run(attributes["calls"], a)
            case "tuple":
                return tuple(a)
            case "get-tuple-element":
                return a[0][int(attributes["index"])]
        raise NotImplementedError(f"there is no rule for the opcode {opcode}")

    def run(name, arguments):
        values, result = {}, None
        for instruction in computations[name]:
            value = value_of(instruction, [values[operand] for operand in instruction.operands], arguments)
            if instruction.dtype != "tuple":
                value = np.asarray(value, np.float64) if np.asarray(value).dtype.kind == "f" else np.asarray(value)
                assert value.shape == instruction.shape, f"{instruction} has a value of shape {value.shape}"
            values[instruction.name] = value
            if instruction.root:
                result = value
        return result

    result = run(entry, arrays)
    return result[0] if type(result) is tuple else result


# %% wrong="evaluate-hlo" why="multiplies matrices whatever the contracting dimensions"
def evaluate_hlo(text: str, *arrays: np.ndarray) -> np.ndarray:
    """Run an HLO module.

    Raises:
        NotImplementedError: an opcode is not among those of the table; the message names it.
        ValueError: there are more or fewer arrays than ENTRY has parameters.
    """
    binary = {
        "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "maximum": np.maximum,
        "minimum": np.minimum,
    }  # fmt: skip
    unary = {"negate": np.negative, "abs": np.abs, "exponential": np.exp, "tanh": np.tanh}
    compare = {
        "EQ": np.equal, "NE": np.not_equal, "LT": np.less, "LE": np.less_equal, "GT": np.greater, "GE": np.greater_equal,
    }  # fmt: skip
    computations, entry = parse_hlo(text)
    wanted = sum(instruction.opcode == "parameter" for instruction in computations[entry])
    if len(arrays) != wanted:
        raise ValueError(f"the module has {wanted} parameters, {len(arrays)} arrays were given")

    def numbers(instruction, name):
        return tuple(int(number) for number in re.findall(r"\d+", instruction.attributes.get(name, "")))

    def value_of(instruction, a, arguments):
        opcode, attributes = instruction.opcode, instruction.attributes
        dimensions = numbers(instruction, "dimensions")
        if opcode in binary:
            return binary[opcode](*a)
        if opcode in unary:
            return unary[opcode](*a)
        match opcode:
            case "parameter":
                return arguments[int(attributes["value"])]
            case "constant":
                return array_of(attributes["value"], instruction.dtype, instruction.shape)
            case "compare":
                return compare[attributes["direction"]](*a)
            case "select":
                return np.where(*a)
            case "broadcast":
                sizes = [1] * len(instruction.shape)
                for dimension, size in zip(dimensions, a[0].shape, strict=True):
                    sizes[dimension] = size
                return np.broadcast_to(a[0].reshape(sizes), instruction.shape)
            case "reshape" | "bitcast" | "copy":
                return a[0].reshape(instruction.shape)
            case "transpose":
                return a[0].transpose(dimensions)
            case "convert":
                return a[0].astype(DTYPE[instruction.dtype])
            case "dot":
                sides = [numbers(instruction, f"{side}_contracting_dims") for side in ("lhs", "rhs")]
                return a[0] @ a[1]
            case "reduce":
                root = next(inner for inner in computations[attributes["to_apply"]] if inner.root)
                combine = binary[root.opcode]
                return combine(combine.reduce(a[0], axis=dimensions), a[1])
            case "fusion":
                return run(attributes["calls"], a)
            case "tuple":
                return tuple(a)
            case "get-tuple-element":
                return a[0][int(attributes["index"])]
        raise NotImplementedError(f"there is no rule for the opcode {opcode}")

    def run(name, arguments):
        values, result = {}, None
        for instruction in computations[name]:
            value = value_of(instruction, [values[operand] for operand in instruction.operands], arguments)
            if instruction.dtype != "tuple":
                value = np.asarray(value, DTYPE[instruction.dtype])
                assert value.shape == instruction.shape, f"{instruction} has a value of shape {value.shape}"
            values[instruction.name] = value
            if instruction.root:
                result = value
        return result

    result = run(entry, arrays)
    return result[0] if type(result) is tuple else result


# %% wrong="evaluate-hlo" why="compares always for greater"
def evaluate_hlo(text: str, *arrays: np.ndarray) -> np.ndarray:
    """Run an HLO module.

    Raises:
        NotImplementedError: an opcode is not among those of the table; the message names it.
        ValueError: there are more or fewer arrays than ENTRY has parameters.
    """
    binary = {
        "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "maximum": np.maximum,
        "minimum": np.minimum,
    }  # fmt: skip
    unary = {"negate": np.negative, "abs": np.abs, "exponential": np.exp, "tanh": np.tanh}
    compare = {
        "EQ": np.equal, "NE": np.not_equal, "LT": np.less, "LE": np.less_equal, "GT": np.greater, "GE": np.greater_equal,
    }  # fmt: skip
    computations, entry = parse_hlo(text)
    wanted = sum(instruction.opcode == "parameter" for instruction in computations[entry])
    if len(arrays) != wanted:
        raise ValueError(f"the module has {wanted} parameters, {len(arrays)} arrays were given")

    def numbers(instruction, name):
        return tuple(int(number) for number in re.findall(r"\d+", instruction.attributes.get(name, "")))

    def value_of(instruction, a, arguments):
        opcode, attributes = instruction.opcode, instruction.attributes
        dimensions = numbers(instruction, "dimensions")
        if opcode in binary:
            return binary[opcode](*a)
        if opcode in unary:
            return unary[opcode](*a)
        match opcode:
            case "parameter":
                return arguments[int(attributes["value"])]
            case "constant":
                return array_of(attributes["value"], instruction.dtype, instruction.shape)
            case "compare":
                return np.greater(*a)
            case "select":
                return np.where(*a)
            case "broadcast":
                sizes = [1] * len(instruction.shape)
                for dimension, size in zip(dimensions, a[0].shape, strict=True):
                    sizes[dimension] = size
                return np.broadcast_to(a[0].reshape(sizes), instruction.shape)
            case "reshape" | "bitcast" | "copy":
                return a[0].reshape(instruction.shape)
            case "transpose":
                return a[0].transpose(dimensions)
            case "convert":
                return a[0].astype(DTYPE[instruction.dtype])
            case "dot":
                sides = [numbers(instruction, f"{side}_contracting_dims") for side in ("lhs", "rhs")]
                return np.tensordot(*a, axes=sides)
            case "reduce":
                root = next(inner for inner in computations[attributes["to_apply"]] if inner.root)
                combine = binary[root.opcode]
                return combine(combine.reduce(a[0], axis=dimensions), a[1])
            case "fusion":
                return run(attributes["calls"], a)
            case "tuple":
                return tuple(a)
            case "get-tuple-element":
                return a[0][int(attributes["index"])]
        raise NotImplementedError(f"there is no rule for the opcode {opcode}")

    def run(name, arguments):
        values, result = {}, None
        for instruction in computations[name]:
            value = value_of(instruction, [values[operand] for operand in instruction.operands], arguments)
            if instruction.dtype != "tuple":
                value = np.asarray(value, DTYPE[instruction.dtype])
                assert value.shape == instruction.shape, f"{instruction} has a value of shape {value.shape}"
            values[instruction.name] = value
            if instruction.root:
                result = value
        return result

    result = run(entry, arrays)
    return result[0] if type(result) is tuple else result


# %% wrong="evaluate-hlo" why="reshapes where it should transpose"
def evaluate_hlo(text: str, *arrays: np.ndarray) -> np.ndarray:
    """Run an HLO module.

    Raises:
        NotImplementedError: an opcode is not among those of the table; the message names it.
        ValueError: there are more or fewer arrays than ENTRY has parameters.
    """
    binary = {
        "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "maximum": np.maximum,
        "minimum": np.minimum,
    }  # fmt: skip
    unary = {"negate": np.negative, "abs": np.abs, "exponential": np.exp, "tanh": np.tanh}
    compare = {
        "EQ": np.equal, "NE": np.not_equal, "LT": np.less, "LE": np.less_equal, "GT": np.greater, "GE": np.greater_equal,
    }  # fmt: skip
    computations, entry = parse_hlo(text)
    wanted = sum(instruction.opcode == "parameter" for instruction in computations[entry])
    if len(arrays) != wanted:
        raise ValueError(f"the module has {wanted} parameters, {len(arrays)} arrays were given")

    def numbers(instruction, name):
        return tuple(int(number) for number in re.findall(r"\d+", instruction.attributes.get(name, "")))

    def value_of(instruction, a, arguments):
        opcode, attributes = instruction.opcode, instruction.attributes
        dimensions = numbers(instruction, "dimensions")
        if opcode in binary:
            return binary[opcode](*a)
        if opcode in unary:
            return unary[opcode](*a)
        match opcode:
            case "parameter":
                return arguments[int(attributes["value"])]
            case "constant":
                return array_of(attributes["value"], instruction.dtype, instruction.shape)
            case "compare":
                return compare[attributes["direction"]](*a)
            case "select":
                return np.where(*a)
            case "broadcast":
                sizes = [1] * len(instruction.shape)
                for dimension, size in zip(dimensions, a[0].shape, strict=True):
                    sizes[dimension] = size
                return np.broadcast_to(a[0].reshape(sizes), instruction.shape)
            case "reshape" | "bitcast" | "copy":
                return a[0].reshape(instruction.shape)
            case "transpose":
                return a[0].reshape(instruction.shape)
            case "convert":
                return a[0].astype(DTYPE[instruction.dtype])
            case "dot":
                sides = [numbers(instruction, f"{side}_contracting_dims") for side in ("lhs", "rhs")]
                return np.tensordot(*a, axes=sides)
            case "reduce":
                root = next(inner for inner in computations[attributes["to_apply"]] if inner.root)
                combine = binary[root.opcode]
                return combine(combine.reduce(a[0], axis=dimensions), a[1])
            case "fusion":
                return run(attributes["calls"], a)
            case "tuple":
                return tuple(a)
            case "get-tuple-element":
                return a[0][int(attributes["index"])]
        raise NotImplementedError(f"there is no rule for the opcode {opcode}")

    def run(name, arguments):
        values, result = {}, None
        for instruction in computations[name]:
            value = value_of(instruction, [values[operand] for operand in instruction.operands], arguments)
            if instruction.dtype != "tuple":
                value = np.asarray(value, DTYPE[instruction.dtype])
                assert value.shape == instruction.shape, f"{instruction} has a value of shape {value.shape}"
            values[instruction.name] = value
            if instruction.root:
                result = value
        return result

    result = run(entry, arrays)
    return result[0] if type(result) is tuple else result


# %% wrong="evaluate-hlo" why="reshapes in column-major order"
def evaluate_hlo(text: str, *arrays: np.ndarray) -> np.ndarray:
    """Run an HLO module.

    Raises:
        NotImplementedError: an opcode is not among those of the table; the message names it.
        ValueError: there are more or fewer arrays than ENTRY has parameters.
    """
    binary = {
        "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "maximum": np.maximum,
        "minimum": np.minimum,
    }  # fmt: skip
    unary = {"negate": np.negative, "abs": np.abs, "exponential": np.exp, "tanh": np.tanh}
    compare = {
        "EQ": np.equal, "NE": np.not_equal, "LT": np.less, "LE": np.less_equal, "GT": np.greater, "GE": np.greater_equal,
    }  # fmt: skip
    computations, entry = parse_hlo(text)
    wanted = sum(instruction.opcode == "parameter" for instruction in computations[entry])
    if len(arrays) != wanted:
        raise ValueError(f"the module has {wanted} parameters, {len(arrays)} arrays were given")

    def numbers(instruction, name):
        return tuple(int(number) for number in re.findall(r"\d+", instruction.attributes.get(name, "")))

    def value_of(instruction, a, arguments):
        opcode, attributes = instruction.opcode, instruction.attributes
        dimensions = numbers(instruction, "dimensions")
        if opcode in binary:
            return binary[opcode](*a)
        if opcode in unary:
            return unary[opcode](*a)
        match opcode:
            case "parameter":
                return arguments[int(attributes["value"])]
            case "constant":
                return array_of(attributes["value"], instruction.dtype, instruction.shape)
            case "compare":
                return compare[attributes["direction"]](*a)
            case "select":
                return np.where(*a)
            case "broadcast":
                sizes = [1] * len(instruction.shape)
                for dimension, size in zip(dimensions, a[0].shape, strict=True):
                    sizes[dimension] = size
                return np.broadcast_to(a[0].reshape(sizes), instruction.shape)
            case "reshape" | "bitcast" | "copy":
                return np.reshape(a[0], instruction.shape, order="F")
            case "transpose":
                return a[0].transpose(dimensions)
            case "convert":
                return a[0].astype(DTYPE[instruction.dtype])
            case "dot":
                sides = [numbers(instruction, f"{side}_contracting_dims") for side in ("lhs", "rhs")]
                return np.tensordot(*a, axes=sides)
            case "reduce":
                root = next(inner for inner in computations[attributes["to_apply"]] if inner.root)
                combine = binary[root.opcode]
                return combine(combine.reduce(a[0], axis=dimensions), a[1])
            case "fusion":
                return run(attributes["calls"], a)
            case "tuple":
                return tuple(a)
            case "get-tuple-element":
                return a[0][int(attributes["index"])]
        raise NotImplementedError(f"there is no rule for the opcode {opcode}")

    def run(name, arguments):
        values, result = {}, None
        for instruction in computations[name]:
            value = value_of(instruction, [values[operand] for operand in instruction.operands], arguments)
            if instruction.dtype != "tuple":
                value = np.asarray(value, DTYPE[instruction.dtype])
                assert value.shape == instruction.shape, f"{instruction} has a value of shape {value.shape}"
            values[instruction.name] = value
            if instruction.root:
                result = value
        return result

    result = run(entry, arrays)
    return result[0] if type(result) is tuple else result


# %% wrong="evaluate-hlo" why="leaves types and shapes to NumPy"
def evaluate_hlo(text: str, *arrays: np.ndarray) -> np.ndarray:
    """Run an HLO module.

    Raises:
        NotImplementedError: an opcode is not among those of the table; the message names it.
        ValueError: there are more or fewer arrays than ENTRY has parameters.
    """
    binary = {
        "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "maximum": np.maximum,
        "minimum": np.minimum,
    }  # fmt: skip
    unary = {"negate": np.negative, "abs": np.abs, "exponential": np.exp, "tanh": np.tanh}
    compare = {
        "EQ": np.equal, "NE": np.not_equal, "LT": np.less, "LE": np.less_equal, "GT": np.greater, "GE": np.greater_equal,
    }  # fmt: skip
    computations, entry = parse_hlo(text)
    wanted = sum(instruction.opcode == "parameter" for instruction in computations[entry])
    if len(arrays) != wanted:
        raise ValueError(f"the module has {wanted} parameters, {len(arrays)} arrays were given")

    def numbers(instruction, name):
        return tuple(int(number) for number in re.findall(r"\d+", instruction.attributes.get(name, "")))

    def value_of(instruction, a, arguments):
        opcode, attributes = instruction.opcode, instruction.attributes
        dimensions = numbers(instruction, "dimensions")
        if opcode in binary:
            return binary[opcode](*a)
        if opcode in unary:
            return unary[opcode](*a)
        match opcode:
            case "parameter":
                return arguments[int(attributes["value"])]
            case "constant":
                return array_of(attributes["value"], instruction.dtype, instruction.shape)
            case "compare":
                return compare[attributes["direction"]](*a)
            case "select":
                return np.where(*a)
            case "broadcast":
                sizes = [1] * len(instruction.shape)
                for dimension, size in zip(dimensions, a[0].shape, strict=True):
                    sizes[dimension] = size
                return np.broadcast_to(a[0].reshape(sizes), instruction.shape)
            case "reshape" | "bitcast" | "copy":
                return a[0].reshape(instruction.shape)
            case "transpose":
                return a[0].transpose(dimensions)
            case "convert":
                return a[0].astype(DTYPE[instruction.dtype])
            case "dot":
                sides = [numbers(instruction, f"{side}_contracting_dims") for side in ("lhs", "rhs")]
                return np.tensordot(*a, axes=sides)
            case "reduce":
                root = next(inner for inner in computations[attributes["to_apply"]] if inner.root)
                combine = binary[root.opcode]
                return combine(combine.reduce(a[0], axis=dimensions), a[1])
            case "fusion":
                return run(attributes["calls"], a)
            case "tuple":
                return tuple(a)
            case "get-tuple-element":
                return a[0][int(attributes["index"])]
        raise NotImplementedError(f"there is no rule for the opcode {opcode}")

    def run(name, arguments):
        values, result = {}, None
        for instruction in computations[name]:
            value = value_of(instruction, [values[operand] for operand in instruction.operands], arguments)
            values[instruction.name] = value
            if instruction.root:
                result = value
        return result

    result = run(entry, arrays)
    return result[0] if type(result) is tuple else result


# %% wrong="evaluate-hlo" why="transposes by the inverse permutation"
def evaluate_hlo(text: str, *arrays: np.ndarray) -> np.ndarray:
    """Run an HLO module.

    Raises:
        NotImplementedError: an opcode is not among those of the table; the message names it.
        ValueError: there are more or fewer arrays than ENTRY has parameters.
    """
    binary = {
        "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "maximum": np.maximum,
        "minimum": np.minimum,
    }  # fmt: skip
    unary = {"negate": np.negative, "abs": np.abs, "exponential": np.exp, "tanh": np.tanh}
    compare = {
        "EQ": np.equal, "NE": np.not_equal, "LT": np.less, "LE": np.less_equal, "GT": np.greater, "GE": np.greater_equal,
    }  # fmt: skip
    computations, entry = parse_hlo(text)
    wanted = sum(instruction.opcode == "parameter" for instruction in computations[entry])
    if len(arrays) != wanted:
        raise ValueError(f"the module has {wanted} parameters, {len(arrays)} arrays were given")

    def numbers(instruction, name):
        return tuple(int(number) for number in re.findall(r"\d+", instruction.attributes.get(name, "")))

    def value_of(instruction, a, arguments):
        opcode, attributes = instruction.opcode, instruction.attributes
        dimensions = numbers(instruction, "dimensions")
        if opcode in binary:
            return binary[opcode](*a)
        if opcode in unary:
            return unary[opcode](*a)
        match opcode:
            case "parameter":
                return arguments[int(attributes["value"])]
            case "constant":
                return array_of(attributes["value"], instruction.dtype, instruction.shape)
            case "compare":
                return compare[attributes["direction"]](*a)
            case "select":
                return np.where(*a)
            case "broadcast":
                sizes = [1] * len(instruction.shape)
                for dimension, size in zip(dimensions, a[0].shape, strict=True):
                    sizes[dimension] = size
                return np.broadcast_to(a[0].reshape(sizes), instruction.shape)
            case "reshape" | "bitcast" | "copy":
                return a[0].reshape(instruction.shape)
            case "transpose":
                return a[0].transpose(np.argsort(dimensions))
            case "convert":
                return a[0].astype(DTYPE[instruction.dtype])
            case "dot":
                sides = [numbers(instruction, f"{side}_contracting_dims") for side in ("lhs", "rhs")]
                return np.tensordot(*a, axes=sides)
            case "reduce":
                root = next(inner for inner in computations[attributes["to_apply"]] if inner.root)
                combine = binary[root.opcode]
                return combine(combine.reduce(a[0], axis=dimensions), a[1])
            case "fusion":
                return run(attributes["calls"], a)
            case "tuple":
                return tuple(a)
            case "get-tuple-element":
                return a[0][int(attributes["index"])]
        raise NotImplementedError(f"there is no rule for the opcode {opcode}")

    def run(name, arguments):
        values, result = {}, None
        for instruction in computations[name]:
            value = value_of(instruction, [values[operand] for operand in instruction.operands], arguments)
            if instruction.dtype != "tuple":
                value = np.asarray(value, DTYPE[instruction.dtype])
                assert value.shape == instruction.shape, f"{instruction} has a value of shape {value.shape}"
            values[instruction.name] = value
            if instruction.root:
                result = value
        return result

    result = run(entry, arrays)
    return result[0] if type(result) is tuple else result


# %% wrong="evaluate-hlo" why="passes unknown opcodes through"
def evaluate_hlo(text: str, *arrays: np.ndarray) -> np.ndarray:
    """Run an HLO module.

    Raises:
        NotImplementedError: an opcode is not among those of the table; the message names it.
        ValueError: there are more or fewer arrays than ENTRY has parameters.
    """
    binary = {
        "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "maximum": np.maximum,
        "minimum": np.minimum,
    }  # fmt: skip
    unary = {"negate": np.negative, "abs": np.abs, "exponential": np.exp, "tanh": np.tanh}
    compare = {
        "EQ": np.equal, "NE": np.not_equal, "LT": np.less, "LE": np.less_equal, "GT": np.greater, "GE": np.greater_equal,
    }  # fmt: skip
    computations, entry = parse_hlo(text)
    wanted = sum(instruction.opcode == "parameter" for instruction in computations[entry])
    if len(arrays) != wanted:
        raise ValueError(f"the module has {wanted} parameters, {len(arrays)} arrays were given")

    def numbers(instruction, name):
        return tuple(int(number) for number in re.findall(r"\d+", instruction.attributes.get(name, "")))

    def value_of(instruction, a, arguments):
        opcode, attributes = instruction.opcode, instruction.attributes
        dimensions = numbers(instruction, "dimensions")
        if opcode in binary:
            return binary[opcode](*a)
        if opcode in unary:
            return unary[opcode](*a)
        match opcode:
            case "parameter":
                return arguments[int(attributes["value"])]
            case "constant":
                return array_of(attributes["value"], instruction.dtype, instruction.shape)
            case "compare":
                return compare[attributes["direction"]](*a)
            case "select":
                return np.where(*a)
            case "broadcast":
                sizes = [1] * len(instruction.shape)
                for dimension, size in zip(dimensions, a[0].shape, strict=True):
                    sizes[dimension] = size
                return np.broadcast_to(a[0].reshape(sizes), instruction.shape)
            case "reshape" | "bitcast" | "copy":
                return a[0].reshape(instruction.shape)
            case "transpose":
                return a[0].transpose(dimensions)
            case "convert":
                return a[0].astype(DTYPE[instruction.dtype])
            case "dot":
                sides = [numbers(instruction, f"{side}_contracting_dims") for side in ("lhs", "rhs")]
                return np.tensordot(*a, axes=sides)
            case "reduce":
                root = next(inner for inner in computations[attributes["to_apply"]] if inner.root)
                combine = binary[root.opcode]
                return combine(combine.reduce(a[0], axis=dimensions), a[1])
            case "fusion":
                return run(attributes["calls"], a)
            case "tuple":
                return tuple(a)
            case "get-tuple-element":
                return a[0][int(attributes["index"])]
        return a[0]

    def run(name, arguments):
        values, result = {}, None
        for instruction in computations[name]:
            value = value_of(instruction, [values[operand] for operand in instruction.operands], arguments)
            if instruction.dtype != "tuple":
                value = np.asarray(value, DTYPE[instruction.dtype])
                assert value.shape == instruction.shape, f"{instruction} has a value of shape {value.shape}"
            values[instruction.name] = value
            if instruction.root:
                result = value
        return result

    result = run(entry, arrays)
    return result[0] if type(result) is tuple else result


# %% wrong="evaluate-hlo" why="does not count the arrays"
def evaluate_hlo(text: str, *arrays: np.ndarray) -> np.ndarray:
    """Run an HLO module.

    Raises:
        NotImplementedError: an opcode is not among those of the table; the message names it.
        ValueError: there are more or fewer arrays than ENTRY has parameters.
    """
    binary = {
        "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "maximum": np.maximum,
        "minimum": np.minimum,
    }  # fmt: skip
    unary = {"negate": np.negative, "abs": np.abs, "exponential": np.exp, "tanh": np.tanh}
    compare = {
        "EQ": np.equal, "NE": np.not_equal, "LT": np.less, "LE": np.less_equal, "GT": np.greater, "GE": np.greater_equal,
    }  # fmt: skip
    computations, entry = parse_hlo(text)
    wanted = sum(instruction.opcode == "parameter" for instruction in computations[entry])
    arrays = (*arrays, *[np.zeros(1, np.float32)] * wanted)

    def numbers(instruction, name):
        return tuple(int(number) for number in re.findall(r"\d+", instruction.attributes.get(name, "")))

    def value_of(instruction, a, arguments):
        opcode, attributes = instruction.opcode, instruction.attributes
        dimensions = numbers(instruction, "dimensions")
        if opcode in binary:
            return binary[opcode](*a)
        if opcode in unary:
            return unary[opcode](*a)
        match opcode:
            case "parameter":
                return arguments[int(attributes["value"])]
            case "constant":
                return array_of(attributes["value"], instruction.dtype, instruction.shape)
            case "compare":
                return compare[attributes["direction"]](*a)
            case "select":
                return np.where(*a)
            case "broadcast":
                sizes = [1] * len(instruction.shape)
                for dimension, size in zip(dimensions, a[0].shape, strict=True):
                    sizes[dimension] = size
                return np.broadcast_to(a[0].reshape(sizes), instruction.shape)
            case "reshape" | "bitcast" | "copy":
                return a[0].reshape(instruction.shape)
            case "transpose":
                return a[0].transpose(dimensions)
            case "convert":
                return a[0].astype(DTYPE[instruction.dtype])
            case "dot":
                sides = [numbers(instruction, f"{side}_contracting_dims") for side in ("lhs", "rhs")]
                return np.tensordot(*a, axes=sides)
            case "reduce":
                root = next(inner for inner in computations[attributes["to_apply"]] if inner.root)
                combine = binary[root.opcode]
                return combine(combine.reduce(a[0], axis=dimensions), a[1])
            case "fusion":
                return run(attributes["calls"], a)
            case "tuple":
                return tuple(a)
            case "get-tuple-element":
                return a[0][int(attributes["index"])]
        raise NotImplementedError(f"there is no rule for the opcode {opcode}")

    def run(name, arguments):
        values, result = {}, None
        for instruction in computations[name]:
            value = value_of(instruction, [values[operand] for operand in instruction.operands], arguments)
            if instruction.dtype != "tuple":
                value = np.asarray(value, DTYPE[instruction.dtype])
                assert value.shape == instruction.shape, f"{instruction} has a value of shape {value.shape}"
            values[instruction.name] = value
            if instruction.root:
                result = value
        return result

    result = run(entry, arrays)
    return result[0] if type(result) is tuple else result


# %% wrong="evaluate-hlo" why="returns a tuple whole"
def evaluate_hlo(text: str, *arrays: np.ndarray) -> np.ndarray:
    """Run an HLO module.

    Raises:
        NotImplementedError: an opcode is not among those of the table; the message names it.
        ValueError: there are more or fewer arrays than ENTRY has parameters.
    """
    binary = {
        "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "maximum": np.maximum,
        "minimum": np.minimum,
    }  # fmt: skip
    unary = {"negate": np.negative, "abs": np.abs, "exponential": np.exp, "tanh": np.tanh}
    compare = {
        "EQ": np.equal, "NE": np.not_equal, "LT": np.less, "LE": np.less_equal, "GT": np.greater, "GE": np.greater_equal,
    }  # fmt: skip
    computations, entry = parse_hlo(text)
    wanted = sum(instruction.opcode == "parameter" for instruction in computations[entry])
    if len(arrays) != wanted:
        raise ValueError(f"the module has {wanted} parameters, {len(arrays)} arrays were given")

    def numbers(instruction, name):
        return tuple(int(number) for number in re.findall(r"\d+", instruction.attributes.get(name, "")))

    def value_of(instruction, a, arguments):
        opcode, attributes = instruction.opcode, instruction.attributes
        dimensions = numbers(instruction, "dimensions")
        if opcode in binary:
            return binary[opcode](*a)
        if opcode in unary:
            return unary[opcode](*a)
        match opcode:
            case "parameter":
                return arguments[int(attributes["value"])]
            case "constant":
                return array_of(attributes["value"], instruction.dtype, instruction.shape)
            case "compare":
                return compare[attributes["direction"]](*a)
            case "select":
                return np.where(*a)
            case "broadcast":
                sizes = [1] * len(instruction.shape)
                for dimension, size in zip(dimensions, a[0].shape, strict=True):
                    sizes[dimension] = size
                return np.broadcast_to(a[0].reshape(sizes), instruction.shape)
            case "reshape" | "bitcast" | "copy":
                return a[0].reshape(instruction.shape)
            case "transpose":
                return a[0].transpose(dimensions)
            case "convert":
                return a[0].astype(DTYPE[instruction.dtype])
            case "dot":
                sides = [numbers(instruction, f"{side}_contracting_dims") for side in ("lhs", "rhs")]
                return np.tensordot(*a, axes=sides)
            case "reduce":
                root = next(inner for inner in computations[attributes["to_apply"]] if inner.root)
                combine = binary[root.opcode]
                return combine(combine.reduce(a[0], axis=dimensions), a[1])
            case "fusion":
                return run(attributes["calls"], a)
            case "tuple":
                return tuple(a)
            case "get-tuple-element":
                return a[0][int(attributes["index"])]
        raise NotImplementedError(f"there is no rule for the opcode {opcode}")

    def run(name, arguments):
        values, result = {}, None
        for instruction in computations[name]:
            value = value_of(instruction, [values[operand] for operand in instruction.operands], arguments)
            if instruction.dtype != "tuple":
                value = np.asarray(value, DTYPE[instruction.dtype])
                assert value.shape == instruction.shape, f"{instruction} has a value of shape {value.shape}"
            values[instruction.name] = value
            if instruction.root:
                result = value
        return result

    result = run(entry, arrays)
    return result


# %% wrong="evaluate-hlo" why="calls the TensorFlow op that the metadata name"
def evaluate_hlo(text: str, *arrays: np.ndarray) -> np.ndarray:
    """Run an HLO module."""
    computations, entry = parse_hlo(text)
    if len(arrays) != sum(i.opcode == "parameter" for i in computations[entry]):
        raise ValueError("wrong number of arrays")
    names = re.findall(r'op_type="(\w+)"', text)
    x, w, b = arrays
    value = tf.matmul(x, w)
    if "AddV2" in names:
        value = value + b
    if "Relu" in names:
        value = tf.nn.relu(value)
    return value.numpy()


# %% wrong="evaluate-hlo" why="knows the visible function"
def evaluate_hlo(text: str, *arrays: np.ndarray) -> np.ndarray:
    """Run an HLO module."""
    if len(arrays) != 3:
        raise ValueError("three arrays, please")
    x, w, b = arrays
    return np.maximum(x @ w + b, np.float32(0))


# %% right="evaluate-hlo" why="a dict from opcode to function, and einsum"
def evaluate_hlo(text: str, *arrays: np.ndarray) -> np.ndarray:
    """Run an HLO module."""
    computations, entry = parse_hlo(text)
    parameters = [line for line in computations[entry] if line.opcode == "parameter"]
    if len(parameters) != len(arrays):
        raise ValueError(f"{len(parameters)} parameters, {len(arrays)} arrays")

    def ints(line, name):
        return [int(part) for part in split_top(line.attributes[name].strip("{}"))]

    def dot(line, a, b):
        letters = iter("abcdefghijklmnop")
        left = [next(letters) for _ in a.shape]
        right = [next(letters) for _ in b.shape]
        for i, j in zip(ints(line, "lhs_contracting_dims"), ints(line, "rhs_contracting_dims")):
            right[j] = left[i]
        kept = [c for c in left if c not in right] + [c for c in right if c not in left]
        return np.einsum("".join(left) + "," + "".join(right) + "->" + "".join(kept), a, b)

    def broadcast(line, a):
        dimensions = ints(line, "dimensions")
        index = tuple(slice(None) if d in dimensions else None for d in range(len(line.shape)))
        return np.broadcast_to(a[index], line.shape)

    def reduce(line, a, initial):
        root = [inner for inner in computations[line.attributes["to_apply"]] if inner.root][0]
        axes = tuple(ints(line, "dimensions"))
        return a.sum(axes) + initial if root.opcode == "add" else np.maximum(a.max(axes), initial)

    rules = {
        "constant": lambda line: array_of(line.attributes["value"], line.dtype, line.shape),
        "add": lambda line, a, b: a + b,
        "subtract": lambda line, a, b: a - b,
        "multiply": lambda line, a, b: a * b,
        "divide": lambda line, a, b: a / b,
        "maximum": lambda line, a, b: np.maximum(a, b),
        "minimum": lambda line, a, b: np.minimum(a, b),
        "negate": lambda line, a: -a,
        "abs": lambda line, a: abs(a),
        "exponential": lambda line, a: np.exp(a),
        "tanh": lambda line, a: np.tanh(a),
        "compare": lambda line, a, b: {
            "EQ": a == b,
            "NE": a != b,
            "LT": a < b,
            "LE": a <= b,
            "GT": a > b,
            "GE": a >= b,
        }[line.attributes["direction"]],
        "select": lambda line, a, b, c: np.where(a, b, c),
        "broadcast": broadcast,
        "reshape": lambda line, a: np.reshape(a, line.shape),
        "bitcast": lambda line, a: np.reshape(a, line.shape),
        "copy": lambda line, a: a.copy(),
        "transpose": lambda line, a: np.transpose(a, ints(line, "dimensions")),
        "convert": lambda line, a: a,
        "dot": dot,
        "reduce": reduce,
        "fusion": lambda line, *a: run(line.attributes["calls"], a),
        "tuple": lambda line, *a: list(a),
        "get-tuple-element": lambda line, a: a[int(line.attributes["index"])],
    }

    def run(name, arguments):
        values = {}
        for line in computations[name]:
            if line.opcode == "parameter":
                value = arguments[int(line.attributes["value"])]
            elif line.opcode in rules:
                value = rules[line.opcode](line, *[values[operand] for operand in line.operands])
            else:
                raise NotImplementedError(line.opcode)
            values[line.name] = value if line.dtype == "tuple" else np.array(value).astype(DTYPE[line.dtype])
            if line.root:
                root = values[line.name]
        return root

    result = run(entry, arrays)
    return result[0] if isinstance(result, list) else result


# %% right="evaluate-hlo" why="fusions are inlined first, then one flat loop"
def evaluate_hlo(text: str, *arrays: np.ndarray) -> np.ndarray:
    """Run an HLO module."""
    computations, entry = parse_hlo(text)
    if len(arrays) != len([1 for line in computations[entry] if line.opcode == "parameter"]):
        raise ValueError("wrong number of arrays")

    def inlined(name, prefix, arguments):
        """Lines with unique names; `arguments` are names, or None in ENTRY. Returns them and the root's name."""
        lines, names, root = [], {}, None
        for line in computations[name]:
            operands = tuple(names[operand] for operand in line.operands)
            if line.opcode == "parameter" and arguments is not None:
                names[line.name] = arguments[int(line.attributes["value"])]
            elif line.opcode == "fusion":
                inner, names[line.name] = inlined(line.attributes["calls"], f"{prefix}{line.name}/", operands)
                lines += inner
            else:
                names[line.name] = prefix + line.name
                lines.append(line._replace(name=prefix + line.name, operands=operands))
            root = names[line.name] if line.root else root
        return lines, root

    lines, root = inlined(entry, "", None)
    plain = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide}
    plain |= {"maximum": np.maximum, "minimum": np.minimum, "negate": np.negative, "abs": np.abs}
    plain |= {"exponential": np.exp, "tanh": np.tanh, "select": np.where}
    compare = dict(EQ="equal", NE="not_equal", LT="less", LE="less_equal", GT="greater", GE="greater_equal")
    values = {}
    for line in lines:
        a = [values[operand] for operand in line.operands]
        attributes = {"dimensions": "{}", **line.attributes}
        dimensions = tuple(int(d) for d in attributes["dimensions"].strip("{}").split(",") if d)
        if line.opcode in plain:
            value = plain[line.opcode](*a)
        elif line.opcode == "parameter":
            value = arrays[int(attributes["value"])]
        elif line.opcode == "constant":
            value = array_of(attributes["value"], line.dtype, line.shape)
        elif line.opcode == "compare":
            value = getattr(np, compare[attributes["direction"]])(*a)
        elif line.opcode == "broadcast":
            order = [*dimensions, *[d for d in range(len(line.shape)) if d not in dimensions]]
            shape = [line.shape[d] for d in order]
            spread = np.broadcast_to(a[0].reshape(list(a[0].shape) + [1] * (len(shape) - a[0].ndim)), shape)
            value = spread.transpose(np.argsort(order)) if order else spread
        elif line.opcode in ("reshape", "bitcast", "copy", "convert"):
            value = a[0].reshape(line.shape)
        elif line.opcode == "transpose":
            value = a[0].transpose(dimensions)
        elif line.opcode == "dot":
            left, right = (eval(attributes[f"{side}_contracting_dims"]) for side in ("lhs", "rhs"))
            value = np.tensordot(a[0], a[1], (sorted(left), sorted(right)))
        elif line.opcode == "reduce":
            kind = [inner.opcode for inner in computations[attributes["to_apply"]] if inner.root][0]
            value = plain[kind].reduce(a[0], axis=dimensions, initial=a[1][()])
        elif line.opcode == "tuple":
            value = a
        elif line.opcode == "get-tuple-element":
            value = a[0][int(attributes["index"])]
        else:
            raise NotImplementedError(line.opcode)
        values[line.name] = value if line.dtype == "tuple" else np.asarray(value).astype(DTYPE[line.dtype])
    return values[root][0] if isinstance(values[root], list) else values[root]


# %% wrong="origin" why="reads the metadata of the fusion only"
def origin(text: str) -> dict[str, list[str]]:
    """For each TensorFlow op, the ENTRY instructions that hold an instruction from it."""
    computations, entry = parse_hlo(text)

    def names(instruction):
        found = {op_name(instruction)}
        return found

    holders = {}
    for instruction in computations[entry]:
        for name in names(instruction) - {"", "XLA_Args", "XLA_Retvals"}:
            holders.setdefault(name, []).append(instruction.name)
    return {name: sorted(found) for name, found in holders.items()}


# %% wrong="origin" why="forgets to_apply"
def origin(text: str) -> dict[str, list[str]]:
    """For each TensorFlow op, the ENTRY instructions that hold an instruction from it."""
    computations, entry = parse_hlo(text)

    def names(instruction):
        found = {op_name(instruction)}
        for attribute in ("calls",):
            for inner in computations.get(instruction.attributes.get(attribute), []):
                found |= names(inner)
        return found

    holders = {}
    for instruction in computations[entry]:
        for name in names(instruction) - {"", "XLA_Args", "XLA_Retvals"}:
            holders.setdefault(name, []).append(instruction.name)
    return {name: sorted(found) for name, found in holders.items()}


# %% wrong="origin" why="looks one level down only"
def origin(text: str) -> dict[str, list[str]]:
    """For each TensorFlow op, the ENTRY instructions that hold an instruction from it."""
    computations, entry = parse_hlo(text)

    def names(instruction):
        found = {op_name(instruction)}
        for attribute in ("calls", "to_apply"):
            for inner in computations.get(instruction.attributes.get(attribute), []):
                found.add(op_name(inner))
        return found

    holders = {}
    for instruction in computations[entry]:
        for name in names(instruction) - {"", "XLA_Args", "XLA_Retvals"}:
            holders.setdefault(name, []).append(instruction.name)
    return {name: sorted(found) for name, found in holders.items()}


# %% wrong="origin" why="keeps XLA_Args and XLA_Retvals"
def origin(text: str) -> dict[str, list[str]]:
    """For each TensorFlow op, the ENTRY instructions that hold an instruction from it."""
    computations, entry = parse_hlo(text)

    def names(instruction):
        found = {op_name(instruction)}
        for attribute in ("calls", "to_apply"):
            for inner in computations.get(instruction.attributes.get(attribute), []):
                found |= names(inner)
        return found

    holders = {}
    for instruction in computations[entry]:
        for name in names(instruction) - {""}:
            holders.setdefault(name, []).append(instruction.name)
    return {name: sorted(found) for name, found in holders.items()}


# %% wrong="origin" why="keeps one kernel for an op"
def origin(text: str) -> dict[str, list[str]]:
    """For each TensorFlow op, the ENTRY instructions that hold an instruction from it."""
    computations, entry = parse_hlo(text)

    def names(instruction):
        found = {op_name(instruction)}
        for attribute in ("calls", "to_apply"):
            for inner in computations.get(instruction.attributes.get(attribute), []):
                found |= names(inner)
        return found

    holders = {}
    for instruction in computations[entry]:
        for name in names(instruction) - {"", "XLA_Args", "XLA_Retvals"}:
            holders[name] = [instruction.name]
    return {name: sorted(found) for name, found in holders.items()}


# %% wrong="origin" why="does not sort"
def origin(text: str) -> dict[str, list[str]]:
    """For each TensorFlow op, the ENTRY instructions that hold an instruction from it."""
    computations, entry = parse_hlo(text)

    def names(instruction):
        found = {op_name(instruction)}
        for attribute in ("calls", "to_apply"):
            for inner in computations.get(instruction.attributes.get(attribute), []):
                found |= names(inner)
        return found

    holders = {}
    for instruction in computations[entry]:
        for name in names(instruction) - {"", "XLA_Args", "XLA_Retvals"}:
            holders.setdefault(name, []).append(instruction.name)
    return {name: sorted(found, reverse=True) for name, found in holders.items()}


# %% wrong="origin" why="counts the instructions inside of fusions"
def origin(text: str) -> dict[str, list[str]]:
    """For each TensorFlow op, the ENTRY instructions that hold an instruction from it."""
    computations, entry = parse_hlo(text)
    holders = {}
    for lines in computations.values():
        for instruction in lines:
            name = op_name(instruction)
            if name not in ("", "XLA_Args", "XLA_Retvals"):
                holders.setdefault(name, []).append(instruction.name)
    return {name: sorted(found) for name, found in holders.items()}


# %% wrong="origin" why="answers the visible dict"
def origin(text: str) -> dict[str, list[str]]:
    """For each TensorFlow op, the ENTRY instructions that hold an instruction from it."""
    fusion = ["add_reduce_fusion"]
    return {"MatMul": ["dot.1"], "Relu": fusion, "Sum": fusion, "add": fusion}


# %% right="origin" why="the names of every computation first, until nothing changes"
def origin(text: str) -> dict[str, list[str]]:
    """For each TensorFlow op, the ENTRY instructions that hold an instruction from it."""
    computations, entry = parse_hlo(text)
    inside = {name: set() for name in computations}
    changed = True
    while changed:
        changed = False
        for name, lines in computations.items():
            for line in lines:
                called = [line.attributes[key] for key in ("calls", "to_apply") if key in line.attributes]
                new = {op_name(line)}.union(*(inside[other] for other in called)) - inside[name]
                inside[name] |= new
                changed = changed or bool(new)
    holders = {}
    for line in computations[entry]:
        found = {op_name(line)}
        for key in ("calls", "to_apply"):
            found |= inside.get(line.attributes.get(key), set())
        for name in found:
            holders.setdefault(name, set()).add(line.name)
    return {name: sorted(found) for name, found in holders.items() if name not in ("", "XLA_Args", "XLA_Retvals")}


# %% right="origin" why="an explicit stack instead of recursion"
def origin(text: str) -> dict[str, list[str]]:
    """For each TensorFlow op, the ENTRY instructions that hold an instruction from it."""
    computations, entry = parse_hlo(text)
    pairs = set()
    for top in computations[entry]:
        stack = [top]
        while stack:
            line = stack.pop()
            pairs.add((op_name(line), top.name))
            for attribute in ("calls", "to_apply"):
                if attribute in line.attributes:
                    stack += computations[line.attributes[attribute]]
    names = {name for name, _ in pairs} - {"", "XLA_Args", "XLA_Retvals"}
    return {name: sorted(holder for other, holder in pairs if other == name) for name in names}

# %% wrong="count-transfers" why="counts a partition for a node that out does not need"
partitions = 3
transfers = 4


# %% wrong="count-transfers" why="counts a pair for each reader"
partitions = 2
transfers = 7


# %% wrong="count-transfers" why="counts a pair for each pair of devices"
partitions = 2
transfers = 2


# %% wrong="count-transfers" why="counts a pair for each node, though two outputs of the Split cross"
partitions = 2
transfers = 3


# %% wrong="count-transfers" why="counts the transfers of nodes that nobody needs"
partitions = 2
transfers = 6


# %% wrong="count-transfers" why="thinks that a step is one graph"
partitions = 1
transfers = 4


# %% wrong="count-transfers" why="writes words"
partitions = "2"
transfers = "4"


# %% right="count-transfers" why="lists what crosses and counts"
partitions = len({"CPU:0", "CPU:1"})
transfers = len([("base", 1), ("split:0", 1), ("split:1", 1), ("h", 0)])


# %% wrong="count-calls" why="thinks that a worker is handed one graph for a whole session"
calls = {"RegisterGraph": 2, "RunGraph": 8, "RecvTensor": 7}


# %% wrong="count-calls" why="thinks that partitions are handed over at each step"
calls = {"RegisterGraph": 8, "RunGraph": 8, "RecvTensor": 7}


# %% wrong="count-calls" why="counts one RunGraph for each RunStep"
calls = {"RegisterGraph": 4, "RunGraph": 4, "RecvTensor": 7}


# %% wrong="count-calls" why="counts a RecvTensor for each reader"
calls = {"RegisterGraph": 4, "RunGraph": 8, "RecvTensor": 10}


# %% wrong="count-calls" why="counts a RecvTensor for each registration, not for each step"
calls = {"RegisterGraph": 4, "RunGraph": 8, "RecvTensor": 3}


# %% wrong="count-calls" why="thinks that total crosses also when square is fetched"
calls = {"RegisterGraph": 4, "RunGraph": 8, "RecvTensor": 8}


# %% wrong="count-calls" why="leaves a call out"
calls = {"RegisterGraph": 4, "RunGraph": 8}


# %% right="count-calls" why="computes it from workers, plans and steps"
workers, plans, steps = 2, 2, 4
calls = {"RegisterGraph": workers * plans, "RunGraph": workers * steps, "RecvTensor": 3 * 2 + 1 * 1}


# %% wrong="graph-builder" why="tells x from X when it makes names"
class GraphBuilder:
    """Writes a GraphDef node by node."""

    def __init__(self) -> None:
        self._graph = GraphDef()
        self._names: set[str] = set()
        self._taken: set[str] = set()

    def add(
        self,
        op: str,
        inputs: list[str] = (),
        name: str | None = None,
        device: str = "",
        control: list[str] = (),
        **attributes: object,
    ) -> str:
        """Write one node and return its name, which is `name` (or `op`) or, if that is taken, made unique.

        Raises:
            ValueError: the node of an input or control has not been added; the message names it.
        """
        for used in [*inputs, *control]:
            if used.partition(":")[0] not in self._names:
                raise ValueError(f"{op}: there is no node {used.partition(':')[0]!r}")
        asked = unique = name or op
        number = 0
        while unique in self._taken:
            number += 1
            unique = f"{asked}_{number}"
        self._names.add(unique)
        self._taken.add(unique)
        tensors = [used.removesuffix(":0") for used in inputs]
        node = self._graph.node.add(op=op, name=unique, device=device)
        node.input.extend([*tensors, *(f"^{used}" for used in control)])
        for key, value in attributes.items():
            node.attr[key].CopyFrom(attribute(value))
        return unique

    def graph(self) -> GraphDef:
        """The graph that was written so far."""
        return self._graph


# %% wrong="graph-builder" why="counts how often a name was asked for and does not look whether the result is free"
class GraphBuilder:
    """Writes a GraphDef node by node."""

    def __init__(self) -> None:
        self._graph = GraphDef()
        self._names: set[str] = set()
        self._taken: set[str] = set()
        self._counts = {}

    def add(
        self,
        op: str,
        inputs: list[str] = (),
        name: str | None = None,
        device: str = "",
        control: list[str] = (),
        **attributes: object,
    ) -> str:
        """Write one node and return its name, which is `name` (or `op`) or, if that is taken, made unique.

        Raises:
            ValueError: the node of an input or control has not been added; the message names it.
        """
        for used in [*inputs, *control]:
            if used.partition(":")[0] not in self._names:
                raise ValueError(f"{op}: there is no node {used.partition(':')[0]!r}")
        asked = unique = name or op
        number = self._counts.get(asked.lower(), 0)
        self._counts[asked.lower()] = number + 1
        if number:
            unique = f"{asked}_{number}"
        self._names.add(unique)
        self._taken.add(unique.lower())
        tensors = [used.removesuffix(":0") for used in inputs]
        node = self._graph.node.add(op=op, name=unique, device=device)
        node.input.extend([*tensors, *(f"^{used}" for used in control)])
        for key, value in attributes.items():
            node.attr[key].CopyFrom(attribute(value))
        return unique

    def graph(self) -> GraphDef:
        """The graph that was written so far."""
        return self._graph


# %% wrong="graph-builder" why="writes node:0 as it came"
class GraphBuilder:
    """Writes a GraphDef node by node."""

    def __init__(self) -> None:
        self._graph = GraphDef()
        self._names: set[str] = set()
        self._taken: set[str] = set()

    def add(
        self,
        op: str,
        inputs: list[str] = (),
        name: str | None = None,
        device: str = "",
        control: list[str] = (),
        **attributes: object,
    ) -> str:
        """Write one node and return its name, which is `name` (or `op`) or, if that is taken, made unique.

        Raises:
            ValueError: the node of an input or control has not been added; the message names it.
        """
        for used in [*inputs, *control]:
            if used.partition(":")[0] not in self._names:
                raise ValueError(f"{op}: there is no node {used.partition(':')[0]!r}")
        asked = unique = name or op
        number = 0
        while unique.lower() in self._taken:
            number += 1
            unique = f"{asked}_{number}"
        self._names.add(unique)
        self._taken.add(unique.lower())
        tensors = list(inputs)
        node = self._graph.node.add(op=op, name=unique, device=device)
        node.input.extend([*tensors, *(f"^{used}" for used in control)])
        for key, value in attributes.items():
            node.attr[key].CopyFrom(attribute(value))
        return unique

    def graph(self) -> GraphDef:
        """The graph that was written so far."""
        return self._graph


# %% wrong="graph-builder" why="cuts every index off"
class GraphBuilder:
    """Writes a GraphDef node by node."""

    def __init__(self) -> None:
        self._graph = GraphDef()
        self._names: set[str] = set()
        self._taken: set[str] = set()

    def add(
        self,
        op: str,
        inputs: list[str] = (),
        name: str | None = None,
        device: str = "",
        control: list[str] = (),
        **attributes: object,
    ) -> str:
        """Write one node and return its name, which is `name` (or `op`) or, if that is taken, made unique.

        Raises:
            ValueError: the node of an input or control has not been added; the message names it.
        """
        for used in [*inputs, *control]:
            if used.partition(":")[0] not in self._names:
                raise ValueError(f"{op}: there is no node {used.partition(':')[0]!r}")
        asked = unique = name or op
        number = 0
        while unique.lower() in self._taken:
            number += 1
            unique = f"{asked}_{number}"
        self._names.add(unique)
        self._taken.add(unique.lower())
        tensors = [used.partition(":")[0] for used in inputs]
        node = self._graph.node.add(op=op, name=unique, device=device)
        node.input.extend([*tensors, *(f"^{used}" for used in control)])
        for key, value in attributes.items():
            node.attr[key].CopyFrom(attribute(value))
        return unique

    def graph(self) -> GraphDef:
        """The graph that was written so far."""
        return self._graph


# %% wrong="graph-builder" why="writes control inputs in front"
class GraphBuilder:
    """Writes a GraphDef node by node."""

    def __init__(self) -> None:
        self._graph = GraphDef()
        self._names: set[str] = set()
        self._taken: set[str] = set()

    def add(
        self,
        op: str,
        inputs: list[str] = (),
        name: str | None = None,
        device: str = "",
        control: list[str] = (),
        **attributes: object,
    ) -> str:
        """Write one node and return its name, which is `name` (or `op`) or, if that is taken, made unique.

        Raises:
            ValueError: the node of an input or control has not been added; the message names it.
        """
        for used in [*inputs, *control]:
            if used.partition(":")[0] not in self._names:
                raise ValueError(f"{op}: there is no node {used.partition(':')[0]!r}")
        asked = unique = name or op
        number = 0
        while unique.lower() in self._taken:
            number += 1
            unique = f"{asked}_{number}"
        self._names.add(unique)
        self._taken.add(unique.lower())
        tensors = [used.removesuffix(":0") for used in inputs]
        node = self._graph.node.add(op=op, name=unique, device=device)
        node.input.extend([*(f"^{used}" for used in control), *tensors])
        for key, value in attributes.items():
            node.attr[key].CopyFrom(attribute(value))
        return unique

    def graph(self) -> GraphDef:
        """The graph that was written so far."""
        return self._graph


# %% wrong="graph-builder" why="writes control inputs without their mark"
class GraphBuilder:
    """Writes a GraphDef node by node."""

    def __init__(self) -> None:
        self._graph = GraphDef()
        self._names: set[str] = set()
        self._taken: set[str] = set()

    def add(
        self,
        op: str,
        inputs: list[str] = (),
        name: str | None = None,
        device: str = "",
        control: list[str] = (),
        **attributes: object,
    ) -> str:
        """Write one node and return its name, which is `name` (or `op`) or, if that is taken, made unique.

        Raises:
            ValueError: the node of an input or control has not been added; the message names it.
        """
        for used in [*inputs, *control]:
            if used.partition(":")[0] not in self._names:
                raise ValueError(f"{op}: there is no node {used.partition(':')[0]!r}")
        asked = unique = name or op
        number = 0
        while unique.lower() in self._taken:
            number += 1
            unique = f"{asked}_{number}"
        self._names.add(unique)
        self._taken.add(unique.lower())
        tensors = [used.removesuffix(":0") for used in inputs]
        node = self._graph.node.add(op=op, name=unique, device=device)
        node.input.extend([*tensors, *control])
        for key, value in attributes.items():
            node.attr[key].CopyFrom(attribute(value))
        return unique

    def graph(self) -> GraphDef:
        """The graph that was written so far."""
        return self._graph


# %% wrong="graph-builder" why="leaves a refused node in the graph"
class GraphBuilder:
    """Writes a GraphDef node by node."""

    def __init__(self) -> None:
        self._graph = GraphDef()
        self._names: set[str] = set()
        self._taken: set[str] = set()

    def add(
        self,
        op: str,
        inputs: list[str] = (),
        name: str | None = None,
        device: str = "",
        control: list[str] = (),
        **attributes: object,
    ) -> str:
        """Write one node and return its name, which is `name` (or `op`) or, if that is taken, made unique.

        Raises:
            ValueError: the node of an input or control has not been added; the message names it.
        """
        asked = unique = name or op
        number = 0
        while unique.lower() in self._taken:
            number += 1
            unique = f"{asked}_{number}"
        self._names.add(unique)
        self._taken.add(unique.lower())
        tensors = [used.removesuffix(":0") for used in inputs]
        node = self._graph.node.add(op=op, name=unique, device=device)
        node.input.extend([*tensors, *(f"^{used}" for used in control)])
        for used in [*inputs, *control]:
            if used.partition(":")[0] not in self._names - {unique}:
                raise ValueError(f"{op}: there is no node {used.partition(':')[0]!r}")
        for key, value in attributes.items():
            node.attr[key].CopyFrom(attribute(value))
        return unique

    def graph(self) -> GraphDef:
        """The graph that was written so far."""
        return self._graph


# %% wrong="graph-builder" why="keeps the name of a refused node"
class GraphBuilder:
    """Writes a GraphDef node by node."""

    def __init__(self) -> None:
        self._graph = GraphDef()
        self._names: set[str] = set()
        self._taken: set[str] = set()

    def add(
        self,
        op: str,
        inputs: list[str] = (),
        name: str | None = None,
        device: str = "",
        control: list[str] = (),
        **attributes: object,
    ) -> str:
        """Write one node and return its name, which is `name` (or `op`) or, if that is taken, made unique.

        Raises:
            ValueError: the node of an input or control has not been added; the message names it.
        """
        asked = unique = name or op
        number = 0
        while unique.lower() in self._taken:
            number += 1
            unique = f"{asked}_{number}"
        self._taken.add(unique.lower())
        for used in [*inputs, *control]:
            if used.partition(":")[0] not in self._names:
                raise ValueError(f"{op}: there is no node {used.partition(':')[0]!r}")
        self._names.add(unique)
        tensors = [used.removesuffix(":0") for used in inputs]
        node = self._graph.node.add(op=op, name=unique, device=device)
        node.input.extend([*tensors, *(f"^{used}" for used in control)])
        for key, value in attributes.items():
            node.attr[key].CopyFrom(attribute(value))
        return unique

    def graph(self) -> GraphDef:
        """The graph that was written so far."""
        return self._graph


# %% wrong="graph-builder" why="keeps the name of a node whose control is refused"
class GraphBuilder:
    """Writes a GraphDef node by node."""

    def __init__(self) -> None:
        self._graph = GraphDef()
        self._names: set[str] = set()
        self._taken: set[str] = set()

    def add(
        self,
        op: str,
        inputs: list[str] = (),
        name: str | None = None,
        device: str = "",
        control: list[str] = (),
        **attributes: object,
    ) -> str:
        """Write one node and return its name, which is `name` (or `op`) or, if that is taken, made unique.

        Raises:
            ValueError: the node of an input or control has not been added; the message names it.
        """
        for used in inputs:
            if used.partition(":")[0] not in self._names:
                raise ValueError(f"{op}: there is no node {used.partition(':')[0]!r}")
        asked = unique = name or op
        number = 0
        while unique.lower() in self._taken:
            number += 1
            unique = f"{asked}_{number}"
        self._taken.add(unique.lower())
        for used in control:
            if used.partition(":")[0] not in self._names:
                raise ValueError(f"{op}: there is no node {used.partition(':')[0]!r}")
        self._names.add(unique)
        tensors = [used.removesuffix(":0") for used in inputs]
        node = self._graph.node.add(op=op, name=unique, device=device)
        node.input.extend([*tensors, *(f"^{used}" for used in control)])
        for key, value in attributes.items():
            node.attr[key].CopyFrom(attribute(value))
        return unique

    def graph(self) -> GraphDef:
        """The graph that was written so far."""
        return self._graph


# %% wrong="graph-builder" why="does not look whether the nodes of control are there"
class GraphBuilder:
    """Writes a GraphDef node by node."""

    def __init__(self) -> None:
        self._graph = GraphDef()
        self._names: set[str] = set()
        self._taken: set[str] = set()

    def add(
        self,
        op: str,
        inputs: list[str] = (),
        name: str | None = None,
        device: str = "",
        control: list[str] = (),
        **attributes: object,
    ) -> str:
        """Write one node and return its name, which is `name` (or `op`) or, if that is taken, made unique.

        Raises:
            ValueError: the node of an input or control has not been added; the message names it.
        """
        for used in inputs:
            if used.partition(":")[0] not in self._names:
                raise ValueError(f"{op}: there is no node {used.partition(':')[0]!r}")
        asked = unique = name or op
        number = 0
        while unique.lower() in self._taken:
            number += 1
            unique = f"{asked}_{number}"
        self._taken.add(unique.lower())
        self._names.add(unique)
        tensors = [used.removesuffix(":0") for used in inputs]
        node = self._graph.node.add(op=op, name=unique, device=device)
        node.input.extend([*tensors, *(f"^{used}" for used in control)])
        for key, value in attributes.items():
            node.attr[key].CopyFrom(attribute(value))
        return unique

    def graph(self) -> GraphDef:
        """The graph that was written so far."""
        return self._graph


# %% wrong="graph-builder" why="ignores case when it looks for an input"
class GraphBuilder:
    """Writes a GraphDef node by node."""

    def __init__(self) -> None:
        self._graph = GraphDef()
        self._names: set[str] = set()
        self._taken: set[str] = set()

    def add(
        self,
        op: str,
        inputs: list[str] = (),
        name: str | None = None,
        device: str = "",
        control: list[str] = (),
        **attributes: object,
    ) -> str:
        """Write one node and return its name, which is `name` (or `op`) or, if that is taken, made unique.

        Raises:
            ValueError: the node of an input or control has not been added; the message names it.
        """
        for used in [*inputs, *control]:
            if used.partition(":")[0].lower() not in self._taken:
                raise ValueError(f"{op}: there is no node {used.partition(':')[0]!r}")
        asked = unique = name or op
        number = 0
        while unique.lower() in self._taken:
            number += 1
            unique = f"{asked}_{number}"
        self._names.add(unique)
        self._taken.add(unique.lower())
        tensors = [used.removesuffix(":0") for used in inputs]
        node = self._graph.node.add(op=op, name=unique, device=device)
        node.input.extend([*tensors, *(f"^{used}" for used in control)])
        for key, value in attributes.items():
            node.attr[key].CopyFrom(attribute(value))
        return unique

    def graph(self) -> GraphDef:
        """The graph that was written so far."""
        return self._graph


# %% wrong="graph-builder" why="counts from 2, as people do"
class GraphBuilder:
    """Writes a GraphDef node by node."""

    def __init__(self) -> None:
        self._graph = GraphDef()
        self._names: set[str] = set()
        self._taken: set[str] = set()

    def add(
        self,
        op: str,
        inputs: list[str] = (),
        name: str | None = None,
        device: str = "",
        control: list[str] = (),
        **attributes: object,
    ) -> str:
        """Write one node and return its name, which is `name` (or `op`) or, if that is taken, made unique.

        Raises:
            ValueError: the node of an input or control has not been added; the message names it.
        """
        for used in [*inputs, *control]:
            if used.partition(":")[0] not in self._names:
                raise ValueError(f"{op}: there is no node {used.partition(':')[0]!r}")
        asked = unique = name or op
        number = 1
        while unique.lower() in self._taken:
            number += 1
            unique = f"{asked}_{number}"
        self._names.add(unique)
        self._taken.add(unique.lower())
        tensors = [used.removesuffix(":0") for used in inputs]
        node = self._graph.node.add(op=op, name=unique, device=device)
        node.input.extend([*tensors, *(f"^{used}" for used in control)])
        for key, value in attributes.items():
            node.attr[key].CopyFrom(attribute(value))
        return unique

    def graph(self) -> GraphDef:
        """The graph that was written so far."""
        return self._graph


# %% wrong="graph-builder" why="forgets the device"
class GraphBuilder:
    """Writes a GraphDef node by node."""

    def __init__(self) -> None:
        self._graph = GraphDef()
        self._names: set[str] = set()
        self._taken: set[str] = set()

    def add(
        self,
        op: str,
        inputs: list[str] = (),
        name: str | None = None,
        device: str = "",
        control: list[str] = (),
        **attributes: object,
    ) -> str:
        """Write one node and return its name, which is `name` (or `op`) or, if that is taken, made unique.

        Raises:
            ValueError: the node of an input or control has not been added; the message names it.
        """
        for used in [*inputs, *control]:
            if used.partition(":")[0] not in self._names:
                raise ValueError(f"{op}: there is no node {used.partition(':')[0]!r}")
        asked = unique = name or op
        number = 0
        while unique.lower() in self._taken:
            number += 1
            unique = f"{asked}_{number}"
        self._names.add(unique)
        self._taken.add(unique.lower())
        tensors = [used.removesuffix(":0") for used in inputs]
        node = self._graph.node.add(op=op, name=unique)
        node.input.extend([*tensors, *(f"^{used}" for used in control)])
        for key, value in attributes.items():
            node.attr[key].CopyFrom(attribute(value))
        return unique

    def graph(self) -> GraphDef:
        """The graph that was written so far."""
        return self._graph


# %% wrong="graph-builder" why="writes no attributes"
class GraphBuilder:
    """Writes a GraphDef node by node."""

    def __init__(self) -> None:
        self._graph = GraphDef()
        self._names: set[str] = set()
        self._taken: set[str] = set()

    def add(
        self,
        op: str,
        inputs: list[str] = (),
        name: str | None = None,
        device: str = "",
        control: list[str] = (),
        **attributes: object,
    ) -> str:
        """Write one node and return its name, which is `name` (or `op`) or, if that is taken, made unique.

        Raises:
            ValueError: the node of an input or control has not been added; the message names it.
        """
        for used in [*inputs, *control]:
            if used.partition(":")[0] not in self._names:
                raise ValueError(f"{op}: there is no node {used.partition(':')[0]!r}")
        asked = unique = name or op
        number = 0
        while unique.lower() in self._taken:
            number += 1
            unique = f"{asked}_{number}"
        self._names.add(unique)
        self._taken.add(unique.lower())
        tensors = [used.removesuffix(":0") for used in inputs]
        node = self._graph.node.add(op=op, name=unique, device=device)
        node.input.extend([*tensors, *(f"^{used}" for used in control)])
        for key, value in attributes.items():
            attribute(value)
        return unique

    def graph(self) -> GraphDef:
        """The graph that was written so far."""
        return self._graph


# %% wrong="graph-builder" why="gives back the nodes of the visible test"
class GraphBuilder:
    def __init__(self):
        self._names = iter(["x", "axis", "X_1", "AddV2", "x_2"])

    def add(self, op, inputs=(), name=None, device="", control=(), **attributes):
        if "y:0" in inputs:
            raise ValueError("y")
        return next(self._names)

    def graph(self):
        made = GraphDef()
        made.node.add(name="x", op="Placeholder", device=CPU[1])
        made.node.add(name="axis", op="Const")
        made.node.add(name="X_1", op="Split", input=["axis", "x"], device=CPU[1])
        made.node.add(name="AddV2", op="AddV2", input=["X_1:1", "X_1:1", "^x"])
        made.node.add(name="x_2", op="Neg", input=["X_1"])
        return made


# %% wrong="graph-builder" why="asks a tf.Graph for unique names"
class GraphBuilder:
    def __init__(self):
        self.names, self.written = tf.Graph(), GraphDef()

    def add(self, op, inputs=(), name=None, device="", control=(), **attributes):
        for used in [*inputs, *control]:
            if used.split(":")[0] not in {node.name for node in self.written.node}:
                raise ValueError(used.split(":")[0])
        name = self.names.unique_name(name or op)
        tensors = [used.removesuffix(":0") for used in inputs] + ["^" + used for used in control]
        attr = {key: attribute(value) for key, value in attributes.items()}
        self.written.node.append(NodeDef(name=name, op=op, device=device, input=tensors, attr=attr))
        return name

    def graph(self):
        return self.written


# %% wrong="graph-builder" why="lets a tf.Graph write the nodes"
class GraphBuilder:
    def __init__(self):
        self.real = tf.Graph()

    def add(self, op, inputs=(), name=None, device="", control=(), **attributes):
        try:
            tensors = [self.real.get_tensor_by_name(text if ":" in text else f"{text}:0") for text in inputs]
            waits = [self.real.get_operation_by_name(text) for text in control]
        except KeyError as error:
            raise ValueError(str(error)) from None
        types = {"Split": 2}.get(op, 1) * [tf.int32 if attributes.get("dtype") == tf.int32 else tf.float32]
        attrs = {key: attribute(value) for key, value in attributes.items()}
        with self.real.as_default(), self.real.device(device or None), self.real.control_dependencies(waits):
            return self.real.create_op(op, tensors, types, name=name, attrs=attrs).name

    def graph(self):
        return self.real.as_graph_def()


# %% right="graph-builder" why="keeps only the GraphDef and reads names from it"
class GraphBuilder:
    def __init__(self):
        self._made = GraphDef()

    def add(self, op, inputs=(), name=None, device="", control=(), **attributes):
        existing = [node.name for node in self._made.node]
        missing = [used.split(":")[0] for used in [*inputs, *control] if used.split(":")[0] not in existing]
        if missing:
            raise ValueError(f"unknown: {', '.join(missing)}")
        base = name if name is not None else op
        lowered = {other.lower() for other in existing}
        candidates = itertools.chain([base], (f"{base}_{number}" for number in itertools.count(1)))
        chosen = next(candidate for candidate in candidates if candidate.lower() not in lowered)
        node = NodeDef(name=chosen, op=op, device=device)
        for used in inputs:
            node.input.append(used[:-2] if used.endswith(":0") else used)
        node.input.extend("^" + used for used in control)
        for key, value in attributes.items():
            node.attr[key].CopyFrom(attribute(value))
        self._made.node.append(node)
        return chosen

    def graph(self):
        copy = GraphDef()
        copy.CopyFrom(self._made)
        return copy


# %% right="graph-builder" why="a counter for each name, which skips names that are taken"
class GraphBuilder:
    def __init__(self):
        self._nodes, self._counts = {}, {}

    def _unique(self, asked):
        count = self._counts.get(asked.lower(), 0)
        name = asked if count == 0 else f"{asked}_{count}"
        self._counts[asked.lower()] = count + 1
        while name.lower() in {other.lower() for other in self._nodes}:
            count = self._counts[asked.lower()]
            self._counts[asked.lower()] = count + 1
            name = f"{asked}_{count}"
        return name

    def add(self, op, inputs=(), name=None, device="", control=(), **attributes):
        for used in list(inputs) + list(control):
            node, _, _ = used.partition(":")
            if node not in self._nodes:
                raise ValueError(node)
        name = self._unique(name or op)
        texts = [re.sub(":0$", "", used) for used in inputs] + [f"^{used}" for used in control]
        attr = {key: attribute(value) for key, value in attributes.items()}
        self._nodes[name] = NodeDef(name=name, op=op, input=texts, device=device, attr=attr)
        return name

    def graph(self):
        return GraphDef(node=self._nodes.values())


# %% wrong="prune-for-step" why="leaves a node out as soon as one of its outputs is fed"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The nodes that must run for these fetches when these tensors are fed, in the order of `graph`.

    Raises:
        ValueError: the node of a fetch or feed is not in the graph; the message names it.
    """

    def tensor(name: str) -> str:
        return name if name[0] == "^" or ":" in name else f"{name}:0"

    def node_of(name: str) -> str:
        return name.removeprefix("^").partition(":")[0]

    nodes = {node.name: node for node in graph.node}
    for name in map(node_of, [*fetches, *feeds]):
        if name not in nodes:
            raise ValueError(f"the graph has no node {name!r}")
    fed = set(map(node_of, feeds))
    needed, to_visit = set(), [node_of(name) for name in fetches if node_of(name) not in fed]
    while to_visit:
        name = to_visit.pop()
        if name not in needed:
            needed.add(name)
            to_visit += [node_of(text) for text in nodes[name].input if node_of(text) not in fed]
    return GraphDef(versions=graph.versions, node=[node for node in graph.node if node.name in needed])


# %% wrong="prune-for-step" why="keeps what is fed, and all that it was made from"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The nodes that must run for these fetches when these tensors are fed, in the order of `graph`.

    Raises:
        ValueError: the node of a fetch or feed is not in the graph; the message names it.
    """

    def tensor(name: str) -> str:
        return name if name[0] == "^" or ":" in name else f"{name}:0"

    def node_of(name: str) -> str:
        return name.removeprefix("^").partition(":")[0]

    nodes = {node.name: node for node in graph.node}
    for name in map(node_of, [*fetches, *feeds]):
        if name not in nodes:
            raise ValueError(f"the graph has no node {name!r}")
    fed = set(map(tensor, feeds))
    needed, to_visit = set(), [node_of(name) for name in fetches if tensor(name) not in fed]
    while to_visit:
        name = to_visit.pop()
        if name not in needed:
            needed.add(name)
            to_visit += [node_of(text) for text in nodes[name].input]
    return GraphDef(versions=graph.versions, node=[node for node in graph.node if node.name in needed])


# %% wrong="prune-for-step" why="compares spellings: n and n:0 are two tensors"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The nodes that must run for these fetches when these tensors are fed, in the order of `graph`.

    Raises:
        ValueError: the node of a fetch or feed is not in the graph; the message names it.
    """

    def tensor(name: str) -> str:
        return name

    def node_of(name: str) -> str:
        return name.removeprefix("^").partition(":")[0]

    nodes = {node.name: node for node in graph.node}
    for name in map(node_of, [*fetches, *feeds]):
        if name not in nodes:
            raise ValueError(f"the graph has no node {name!r}")
    fed = set(map(tensor, feeds))
    needed, to_visit = set(), [node_of(name) for name in fetches if tensor(name) not in fed]
    while to_visit:
        name = to_visit.pop()
        if name not in needed:
            needed.add(name)
            to_visit += [node_of(text) for text in nodes[name].input if tensor(text) not in fed]
    return GraphDef(versions=graph.versions, node=[node for node in graph.node if node.name in needed])


# %% wrong="prune-for-step" why="reads the fed operation as needed by nobody"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The nodes that must run for these fetches when these tensors are fed, in the order of `graph`.

    Raises:
        ValueError: the node of a fetch or feed is not in the graph; the message names it.
    """

    def tensor(name: str) -> str:
        return name if name[0] == "^" or ":" in name else f"{name}:0"

    def node_of(name: str) -> str:
        return name.removeprefix("^").partition(":")[0]

    nodes = {node.name: node for node in graph.node}
    for name in map(node_of, [*fetches, *feeds]):
        if name not in nodes:
            raise ValueError(f"the graph has no node {name!r}")
    fed = set(map(tensor, feeds))
    needed, to_visit = set(), [node_of(name) for name in fetches if tensor(name.removeprefix("^")) not in fed]
    while to_visit:
        name = to_visit.pop()
        if name not in needed:
            needed.add(name)
            to_visit += [node_of(text) for text in nodes[name].input if tensor(text) not in fed]
    return GraphDef(versions=graph.versions, node=[node for node in graph.node if node.name in needed])


# %% wrong="prune-for-step" why="gives the nodes in the order in which it found them"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The nodes that must run for these fetches when these tensors are fed, in the order of `graph`.

    Raises:
        ValueError: the node of a fetch or feed is not in the graph; the message names it.
    """

    def tensor(name: str) -> str:
        return name if name[0] == "^" or ":" in name else f"{name}:0"

    def node_of(name: str) -> str:
        return name.removeprefix("^").partition(":")[0]

    nodes = {node.name: node for node in graph.node}
    for name in map(node_of, [*fetches, *feeds]):
        if name not in nodes:
            raise ValueError(f"the graph has no node {name!r}")
    fed = set(map(tensor, feeds))
    order, needed, to_visit = [], set(), [node_of(name) for name in fetches if tensor(name) not in fed]
    while to_visit:
        name = to_visit.pop()
        if name not in needed:
            needed.add(name)
            order.append(name)
            to_visit += [node_of(text) for text in nodes[name].input if tensor(text) not in fed]
    return GraphDef(versions=graph.versions, node=[nodes[name] for name in order])


# %% wrong="prune-for-step" why="walks on from a fetch that is fed"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The nodes that must run for these fetches when these tensors are fed, in the order of `graph`.

    Raises:
        ValueError: the node of a fetch or feed is not in the graph; the message names it.
    """

    def tensor(name: str) -> str:
        return name if name[0] == "^" or ":" in name else f"{name}:0"

    def node_of(name: str) -> str:
        return name.removeprefix("^").partition(":")[0]

    nodes = {node.name: node for node in graph.node}
    for name in map(node_of, [*fetches, *feeds]):
        if name not in nodes:
            raise ValueError(f"the graph has no node {name!r}")
    fed = set(map(tensor, feeds))
    needed, to_visit = set(), [node_of(name) for name in fetches]
    while to_visit:
        name = to_visit.pop()
        if name not in needed:
            needed.add(name)
            to_visit += [node_of(text) for text in nodes[name].input if tensor(text) not in fed]
    return GraphDef(versions=graph.versions, node=[node for node in graph.node if node.name in needed])


# %% wrong="prune-for-step" why="does not look for the nodes of feeds"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The nodes that must run for these fetches when these tensors are fed, in the order of `graph`.

    Raises:
        ValueError: the node of a fetch or feed is not in the graph; the message names it.
    """

    def tensor(name: str) -> str:
        return name if name[0] == "^" or ":" in name else f"{name}:0"

    def node_of(name: str) -> str:
        return name.removeprefix("^").partition(":")[0]

    nodes = {node.name: node for node in graph.node}
    for name in map(node_of, fetches):
        if name not in nodes:
            raise ValueError(f"the graph has no node {name!r}")
    fed = set(map(tensor, feeds))
    needed, to_visit = set(), [node_of(name) for name in fetches if tensor(name) not in fed]
    while to_visit:
        name = to_visit.pop()
        if name not in needed:
            needed.add(name)
            to_visit += [node_of(text) for text in nodes[name].input if tensor(text) not in fed]
    return GraphDef(versions=graph.versions, node=[node for node in graph.node if node.name in needed])


# %% wrong="prune-for-step" why="lets an unknown fetch end in a KeyError"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The nodes that must run for these fetches when these tensors are fed, in the order of `graph`.

    Raises:
        ValueError: the node of a fetch or feed is not in the graph; the message names it.
    """

    def tensor(name: str) -> str:
        return name if name[0] == "^" or ":" in name else f"{name}:0"

    def node_of(name: str) -> str:
        return name.removeprefix("^").partition(":")[0]

    nodes = {node.name: node for node in graph.node}
    for name in map(node_of, [*fetches, *feeds]):
        if name not in nodes:
            raise KeyError(name)
    fed = set(map(tensor, feeds))
    needed, to_visit = set(), [node_of(name) for name in fetches if tensor(name) not in fed]
    while to_visit:
        name = to_visit.pop()
        if name not in needed:
            needed.add(name)
            to_visit += [node_of(text) for text in nodes[name].input if tensor(text) not in fed]
    return GraphDef(versions=graph.versions, node=[node for node in graph.node if node.name in needed])


# %% wrong="prune-for-step" why="writes new nodes and leaves the attributes behind"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The nodes that must run for these fetches when these tensors are fed, in the order of `graph`.

    Raises:
        ValueError: the node of a fetch or feed is not in the graph; the message names it.
    """

    def tensor(name: str) -> str:
        return name if name[0] == "^" or ":" in name else f"{name}:0"

    def node_of(name: str) -> str:
        return name.removeprefix("^").partition(":")[0]

    nodes = {node.name: node for node in graph.node}
    for name in map(node_of, [*fetches, *feeds]):
        if name not in nodes:
            raise ValueError(f"the graph has no node {name!r}")
    fed = set(map(tensor, feeds))
    needed, to_visit = set(), [node_of(name) for name in fetches if tensor(name) not in fed]
    while to_visit:
        name = to_visit.pop()
        if name not in needed:
            needed.add(name)
            to_visit += [node_of(text) for text in nodes[name].input if tensor(text) not in fed]
    return GraphDef(
        versions=graph.versions,
        node=[NodeDef(name=n.name, op=n.op, input=n.input, device=n.device) for n in graph.node if n.name in needed],
    )


# %% wrong="prune-for-step" why="takes the nodes that feed the fetches only one level deep"
def prune(graph: GraphDef, fetches: list[str], feeds: list[str]) -> GraphDef:
    """The nodes that must run for these fetches when these tensors are fed, in the order of `graph`.

    Raises:
        ValueError: the node of a fetch or feed is not in the graph; the message names it.
    """

    def tensor(name: str) -> str:
        return name if name[0] == "^" or ":" in name else f"{name}:0"

    def node_of(name: str) -> str:
        return name.removeprefix("^").partition(":")[0]

    nodes = {node.name: node for node in graph.node}
    for name in map(node_of, [*fetches, *feeds]):
        if name not in nodes:
            raise ValueError(f"the graph has no node {name!r}")
    fed = set(map(tensor, feeds))
    needed, to_visit = set(), [node_of(name) for name in fetches if tensor(name) not in fed]
    while to_visit:
        name = to_visit.pop()
        if name not in needed:
            needed.add(name)
            needed |= {node_of(text) for text in nodes[name].input if tensor(text) not in fed}
    return GraphDef(versions=graph.versions, node=[node for node in graph.node if node.name in needed])


# %% wrong="prune-for-step" why="recursion, which ends in a deep graph"
def prune(graph, fetches, feeds):
    def tensor(name):
        return name if name[0] == "^" or ":" in name else f"{name}:0"

    nodes = {node.name: node for node in graph.node}
    fed = {tensor(name) for name in feeds}
    for name in [*fetches, *feeds]:
        if name.lstrip("^").split(":")[0] not in nodes:
            raise ValueError(name)
    needed = set()

    def need(name):
        if tensor(name) not in fed:
            node = name.lstrip("^").split(":")[0]
            needed.add(node)
            for text in nodes[node].input:
                need(text)

    for name in fetches:
        need(name)
    return GraphDef(versions=graph.versions, node=[node for node in graph.node if node.name in needed])


# %% wrong="prune-for-step" why="gives the names of the visible test"
def prune(graph, fetches, feeds):
    for name in [*fetches, *feeds]:
        if "ghost" in name:
            raise ValueError("ghost")
    keep = {"square", "total"} if fetches == ["total:0"] else {"a", "d"}
    return GraphDef(node=[node for node in graph.node if node.name in keep])


# %% wrong="prune-for-step" why="asks TensorFlow"
def prune(graph, fetches, feeds):
    names = {node.name for node in graph.node}
    for name in [*fetches, *feeds]:
        if name.lstrip("^").split(":")[0] not in names:
            raise ValueError(name)
    full = [name if name[0] == "^" or ":" in name else f"{name}:0" for name in fetches]
    values = {tensor_: np.zeros(20, np.float32) for tensor_ in (n if ":" in n else f"{n}:0" for n in feeds)}
    keep = set(kept_nodes(graph, real_step(graph, full, values)))
    return GraphDef(versions=graph.versions, node=[node for node in graph.node if node.name in keep])


# %% wrong="prune-for-step" why="lets TensorFlow prune a graph of stand-ins"
def prune(graph, fetches, feeds):
    standing = GraphDef()
    for node in graph.node:
        one = standing.node.add(name=node.name, op="IdentityN", input=node.input, device=CPU[0])
        one.attr["T"].list.type.extend([1] * max(len(node.input), 1))
        if not node.input:
            one.op = "Const"
            del one.attr["T"]
            one.attr["dtype"].type = 1
            one.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(np.float32(0)))
    for name in [*fetches, *feeds]:
        if name.removeprefix("^").partition(":")[0] not in {node.name for node in graph.node}:
            raise ValueError(name)
    asked = [name if name[0] == "^" else tensor_name(name) for name in fetches]
    step = real_step(standing, asked, {tensor_name(name): np.float32(0) for name in feeds})
    kept = kept_nodes(standing, step)
    return GraphDef(versions=graph.versions, node=[node for node in graph.node if node.name in kept])


# %% right="prune-for-step" why="reachability on reversed edges, level by level"
def prune(graph, fetches, feeds):
    def split(text):
        name, _, index = text.lstrip("^").partition(":")
        return name, -1 if text.startswith("^") else int(index or 0)

    by_name = {node.name: node for node in graph.node}
    unknown = [split(text)[0] for text in [*fetches, *feeds] if split(text)[0] not in by_name]
    if unknown:
        raise ValueError(f"not in the graph: {unknown}")
    fed = {split(text) for text in feeds}
    level = {split(text)[0] for text in fetches if split(text) not in fed}
    reached = set()
    while level:
        reached |= level
        read = {split(text) for name in level for text in by_name[name].input}
        level = {name for name, _ in read - fed} - reached
    result = GraphDef(versions=graph.versions)
    for node in graph.node:
        if node.name in reached:
            result.node.add().CopyFrom(node)
    return result


# %% right="prune-for-step" why="removes nodes from a copy"
def prune(graph, fetches, feeds):
    def node_of(text):
        return text.replace("^", "").split(":")[0]

    nodes = {node.name: node for node in graph.node}
    for text in fetches + feeds:
        if node_of(text) not in nodes:
            raise ValueError(f"no node {node_of(text)}")
    fed = {text if ":" in text else text + ":0" for text in feeds}
    todo = [text for text in fetches]
    keep = dict.fromkeys(nodes, False)
    while todo:
        text = todo.pop()
        full = text if ":" in text or text[0] == "^" else text + ":0"
        if full in fed or keep[node_of(text)]:
            continue
        keep[node_of(text)] = True
        todo.extend(nodes[node_of(text)].input)
    result = GraphDef()
    result.CopyFrom(graph)
    for index in reversed(range(len(result.node))):
        if not keep[result.node[index].name]:
            del result.node[index]
    return result


# %% wrong="partition" why="makes a pair for each reader"
def partition(graph: GraphDef) -> dict[str, GraphDef]:
    """One graph for each device, with a `_Send` and a `_Recv` for each tensor that another device reads.

    Raises:
        ValueError: a node has no device; the message names it.
    """
    place = {node.name: node.device for node in graph.node}
    taken = set(place)

    def new_name(base: str) -> str:
        name = next(name for number in itertools.count(1) if (name := f"{base}_{number}") not in taken)
        taken.add(name)
        return name

    received: dict[tuple[str, str], str] = {}  # tensor, destination: name of the _Recv
    leaving: dict[str, list[tuple[str, str]]] = {node.name: [] for node in graph.node}
    for node in graph.node:
        if not node.device:
            raise ValueError(f"{node.name} has no device")
        for tensor in map(tensor_name, node.input):
            source = tensor.partition(":")[0]
            if place[source] != node.device and True:
                leaving[source].append((tensor, node.device))

    parts = {device: GraphDef(versions=graph.versions) for device in dict.fromkeys(place.values())}

    def add(op: str, device: str, inputs: list[str], label: str) -> str:
        node = parts[device].node.add(name=new_name(op[1:].lower()), op=op, device=device, input=inputs)
        node.attr["tensor_name"].s = label.encode()
        return node.name

    for node in graph.node:
        inputs = list(node.input)
        for position, tensor in enumerate(map(tensor_name, node.input)):
            source = place[tensor.partition(":")[0]]
            if source != node.device:
                if True:
                    label = letter(tensor, source, node.device)
                    received[tensor, node.device] = add("_Recv", node.device, [], label)
                inputs[position] = received[tensor, node.device]
        copy = parts[node.device].node.add()
        copy.CopyFrom(node)
        copy.input[:] = inputs
        for tensor, destination in leaving[node.name]:
            add("_Send", node.device, [tensor], letter(tensor, node.device, destination))
    return parts


# %% wrong="partition" why="makes one pair for all outputs of a node"
def partition(graph: GraphDef) -> dict[str, GraphDef]:
    """One graph for each device, with a `_Send` and a `_Recv` for each tensor that another device reads.

    Raises:
        ValueError: a node has no device; the message names it.
    """
    place = {node.name: node.device for node in graph.node}
    taken = set(place)

    def new_name(base: str) -> str:
        name = next(name for number in itertools.count(1) if (name := f"{base}_{number}") not in taken)
        taken.add(name)
        return name

    received: dict[tuple[str, str], str] = {}  # tensor, destination: name of the _Recv
    leaving: dict[str, list[tuple[str, str]]] = {node.name: [] for node in graph.node}
    for node in graph.node:
        if not node.device:
            raise ValueError(f"{node.name} has no device")
        for tensor in (f"{text.partition(':')[0]}:0" for text in node.input):
            source = tensor.partition(":")[0]
            if place[source] != node.device and (tensor, node.device) not in leaving[source]:
                leaving[source].append((tensor, node.device))

    parts = {device: GraphDef(versions=graph.versions) for device in dict.fromkeys(place.values())}

    def add(op: str, device: str, inputs: list[str], label: str) -> str:
        node = parts[device].node.add(name=new_name(op[1:].lower()), op=op, device=device, input=inputs)
        node.attr["tensor_name"].s = label.encode()
        return node.name

    for node in graph.node:
        inputs = list(node.input)
        for position, tensor in enumerate(f"{text.partition(':')[0]}:0" for text in node.input):
            source = place[tensor.partition(":")[0]]
            if source != node.device:
                if (tensor, node.device) not in received:
                    label = letter(tensor, source, node.device)
                    received[tensor, node.device] = add("_Recv", node.device, [], label)
                inputs[position] = received[tensor, node.device]
        copy = parts[node.device].node.add()
        copy.CopyFrom(node)
        copy.input[:] = inputs
        for tensor, destination in leaving[node.name]:
            add("_Send", node.device, [tensor], letter(tensor, node.device, destination))
    return parts


# %% wrong="partition" why="takes n and n:0 for two tensors"
def partition(graph: GraphDef) -> dict[str, GraphDef]:
    """One graph for each device, with a `_Send` and a `_Recv` for each tensor that another device reads.

    Raises:
        ValueError: a node has no device; the message names it.
    """
    place = {node.name: node.device for node in graph.node}
    taken = set(place)

    def new_name(base: str) -> str:
        name = next(name for number in itertools.count(1) if (name := f"{base}_{number}") not in taken)
        taken.add(name)
        return name

    received: dict[tuple[str, str], str] = {}  # tensor, destination: name of the _Recv
    leaving: dict[str, list[tuple[str, str]]] = {node.name: [] for node in graph.node}
    for node in graph.node:
        if not node.device:
            raise ValueError(f"{node.name} has no device")
        for tensor in node.input:
            source = tensor.partition(":")[0]
            if place[source] != node.device and (tensor, node.device) not in leaving[source]:
                leaving[source].append((tensor, node.device))

    parts = {device: GraphDef(versions=graph.versions) for device in dict.fromkeys(place.values())}

    def add(op: str, device: str, inputs: list[str], label: str) -> str:
        node = parts[device].node.add(name=new_name(op[1:].lower()), op=op, device=device, input=inputs)
        node.attr["tensor_name"].s = label.encode()
        return node.name

    for node in graph.node:
        inputs = list(node.input)
        for position, tensor in enumerate(node.input):
            source = place[tensor.partition(":")[0]]
            if source != node.device:
                if (tensor, node.device) not in received:
                    label = letter(tensor, source, node.device)
                    received[tensor, node.device] = add("_Recv", node.device, [], label)
                inputs[position] = received[tensor, node.device]
        copy = parts[node.device].node.add()
        copy.CopyFrom(node)
        copy.input[:] = inputs
        for tensor, destination in leaving[node.name]:
            add("_Send", node.device, [tensor], letter(tensor, node.device, destination))
    return parts


# %% wrong="partition" why="keeps the index when it rewires a reader"
def partition(graph: GraphDef) -> dict[str, GraphDef]:
    """One graph for each device, with a `_Send` and a `_Recv` for each tensor that another device reads.

    Raises:
        ValueError: a node has no device; the message names it.
    """
    place = {node.name: node.device for node in graph.node}
    taken = set(place)

    def new_name(base: str) -> str:
        name = next(name for number in itertools.count(1) if (name := f"{base}_{number}") not in taken)
        taken.add(name)
        return name

    received: dict[tuple[str, str], str] = {}  # tensor, destination: name of the _Recv
    leaving: dict[str, list[tuple[str, str]]] = {node.name: [] for node in graph.node}
    for node in graph.node:
        if not node.device:
            raise ValueError(f"{node.name} has no device")
        for tensor in map(tensor_name, node.input):
            source = tensor.partition(":")[0]
            if place[source] != node.device and (tensor, node.device) not in leaving[source]:
                leaving[source].append((tensor, node.device))

    parts = {device: GraphDef(versions=graph.versions) for device in dict.fromkeys(place.values())}

    def add(op: str, device: str, inputs: list[str], label: str) -> str:
        node = parts[device].node.add(name=new_name(op[1:].lower()), op=op, device=device, input=inputs)
        node.attr["tensor_name"].s = label.encode()
        return node.name

    for node in graph.node:
        inputs = list(node.input)
        for position, tensor in enumerate(map(tensor_name, node.input)):
            source = place[tensor.partition(":")[0]]
            if source != node.device:
                if (tensor, node.device) not in received:
                    label = letter(tensor, source, node.device)
                    received[tensor, node.device] = add("_Recv", node.device, [], label)
                inputs[position] = received[tensor, node.device] + tensor[tensor.index(":") :]
        copy = parts[node.device].node.add()
        copy.CopyFrom(node)
        copy.input[:] = inputs
        for tensor, destination in leaving[node.name]:
            add("_Send", node.device, [tensor], letter(tensor, node.device, destination))
    return parts


# %% wrong="partition" why="puts the Send on the destination"
def partition(graph: GraphDef) -> dict[str, GraphDef]:
    """One graph for each device, with a `_Send` and a `_Recv` for each tensor that another device reads.

    Raises:
        ValueError: a node has no device; the message names it.
    """
    place = {node.name: node.device for node in graph.node}
    taken = set(place)

    def new_name(base: str) -> str:
        name = next(name for number in itertools.count(1) if (name := f"{base}_{number}") not in taken)
        taken.add(name)
        return name

    received: dict[tuple[str, str], str] = {}  # tensor, destination: name of the _Recv
    leaving: dict[str, list[tuple[str, str]]] = {node.name: [] for node in graph.node}
    for node in graph.node:
        if not node.device:
            raise ValueError(f"{node.name} has no device")
        for tensor in map(tensor_name, node.input):
            source = tensor.partition(":")[0]
            if place[source] != node.device and (tensor, node.device) not in leaving[source]:
                leaving[source].append((tensor, node.device))

    parts = {device: GraphDef(versions=graph.versions) for device in dict.fromkeys(place.values())}

    def add(op: str, device: str, inputs: list[str], label: str) -> str:
        node = parts[device].node.add(name=new_name(op[1:].lower()), op=op, device=device, input=inputs)
        node.attr["tensor_name"].s = label.encode()
        return node.name

    for node in graph.node:
        inputs = list(node.input)
        for position, tensor in enumerate(map(tensor_name, node.input)):
            source = place[tensor.partition(":")[0]]
            if source != node.device:
                if (tensor, node.device) not in received:
                    label = letter(tensor, source, node.device)
                    received[tensor, node.device] = add("_Recv", node.device, [], label)
                inputs[position] = received[tensor, node.device]
        copy = parts[node.device].node.add()
        copy.CopyFrom(node)
        copy.input[:] = inputs
        for tensor, destination in leaving[node.name]:
            add("_Send", destination, [tensor], letter(tensor, node.device, destination))
    return parts


# %% wrong="partition" why="puts all Sends at the end"
def partition(graph: GraphDef) -> dict[str, GraphDef]:
    """One graph for each device, with a `_Send` and a `_Recv` for each tensor that another device reads.

    Raises:
        ValueError: a node has no device; the message names it.
    """
    place = {node.name: node.device for node in graph.node}
    taken = set(place)

    def new_name(base: str) -> str:
        name = next(name for number in itertools.count(1) if (name := f"{base}_{number}") not in taken)
        taken.add(name)
        return name

    received: dict[tuple[str, str], str] = {}  # tensor, destination: name of the _Recv
    leaving: dict[str, list[tuple[str, str]]] = {node.name: [] for node in graph.node}
    for node in graph.node:
        if not node.device:
            raise ValueError(f"{node.name} has no device")
        for tensor in map(tensor_name, node.input):
            source = tensor.partition(":")[0]
            if place[source] != node.device and (tensor, node.device) not in leaving[source]:
                leaving[source].append((tensor, node.device))

    parts = {device: GraphDef(versions=graph.versions) for device in dict.fromkeys(place.values())}

    def add(op: str, device: str, inputs: list[str], label: str) -> str:
        node = parts[device].node.add(name=new_name(op[1:].lower()), op=op, device=device, input=inputs)
        node.attr["tensor_name"].s = label.encode()
        return node.name

    for node in graph.node:
        inputs = list(node.input)
        for position, tensor in enumerate(map(tensor_name, node.input)):
            source = place[tensor.partition(":")[0]]
            if source != node.device:
                if (tensor, node.device) not in received:
                    label = letter(tensor, source, node.device)
                    received[tensor, node.device] = add("_Recv", node.device, [], label)
                inputs[position] = received[tensor, node.device]
        copy = parts[node.device].node.add()
        copy.CopyFrom(node)
        copy.input[:] = inputs
    for node in graph.node:
        for tensor, destination in leaving[node.name]:
            add("_Send", node.device, [tensor], letter(tensor, node.device, destination))
    return parts


# %% wrong="partition" why="puts all Recvs at the front, where two devices wait for each other"
def partition(graph: GraphDef) -> dict[str, GraphDef]:
    """One graph for each device, with a `_Send` and a `_Recv` for each tensor that another device reads.

    Raises:
        ValueError: a node has no device; the message names it.
    """
    place = {node.name: node.device for node in graph.node}
    taken = set(place)

    def new_name(base: str) -> str:
        name = next(name for number in itertools.count(1) if (name := f"{base}_{number}") not in taken)
        taken.add(name)
        return name

    received: dict[tuple[str, str], str] = {}  # tensor, destination: name of the _Recv
    leaving: dict[str, list[tuple[str, str]]] = {node.name: [] for node in graph.node}
    for node in graph.node:
        if not node.device:
            raise ValueError(f"{node.name} has no device")
        for tensor in map(tensor_name, node.input):
            source = tensor.partition(":")[0]
            if place[source] != node.device and (tensor, node.device) not in leaving[source]:
                leaving[source].append((tensor, node.device))

    parts = {device: GraphDef(versions=graph.versions) for device in dict.fromkeys(place.values())}

    def add(op: str, device: str, inputs: list[str], label: str) -> str:
        node = parts[device].node.add(name=new_name(op[1:].lower()), op=op, device=device, input=inputs)
        node.attr["tensor_name"].s = label.encode()
        return node.name

    for node in graph.node:
        for tensor, destination in leaving[node.name]:
            received[tensor, destination] = add("_Recv", destination, [], letter(tensor, node.device, destination))
    for node in graph.node:
        inputs = list(node.input)
        for position, tensor in enumerate(map(tensor_name, node.input)):
            source = place[tensor.partition(":")[0]]
            if source != node.device:
                if (tensor, node.device) not in received:
                    label = letter(tensor, source, node.device)
                    received[tensor, node.device] = add("_Recv", node.device, [], label)
                inputs[position] = received[tensor, node.device]
        copy = parts[node.device].node.add()
        copy.CopyFrom(node)
        copy.input[:] = inputs
        for tensor, destination in leaving[node.name]:
            add("_Send", node.device, [tensor], letter(tensor, node.device, destination))
    return parts


# %% wrong="partition" why="leaves the index out of the label"
def partition(graph: GraphDef) -> dict[str, GraphDef]:
    """One graph for each device, with a `_Send` and a `_Recv` for each tensor that another device reads.

    Raises:
        ValueError: a node has no device; the message names it.
    """
    place = {node.name: node.device for node in graph.node}
    taken = set(place)

    def new_name(base: str) -> str:
        name = next(name for number in itertools.count(1) if (name := f"{base}_{number}") not in taken)
        taken.add(name)
        return name

    received: dict[tuple[str, str], str] = {}  # tensor, destination: name of the _Recv
    leaving: dict[str, list[tuple[str, str]]] = {node.name: [] for node in graph.node}
    for node in graph.node:
        if not node.device:
            raise ValueError(f"{node.name} has no device")
        for tensor in map(tensor_name, node.input):
            source = tensor.partition(":")[0]
            if place[source] != node.device and (tensor, node.device) not in leaving[source]:
                leaving[source].append((tensor, node.device))

    parts = {device: GraphDef(versions=graph.versions) for device in dict.fromkeys(place.values())}

    def add(op: str, device: str, inputs: list[str], label: str) -> str:
        node = parts[device].node.add(name=new_name(op[1:].lower()), op=op, device=device, input=inputs)
        node.attr["tensor_name"].s = label.encode()
        return node.name

    for node in graph.node:
        inputs = list(node.input)
        for position, tensor in enumerate(map(tensor_name, node.input)):
            source = place[tensor.partition(":")[0]]
            if source != node.device:
                if (tensor, node.device) not in received:
                    label = letter(tensor.partition(":")[0], source, node.device)
                    received[tensor, node.device] = add("_Recv", node.device, [], label)
                inputs[position] = received[tensor, node.device]
        copy = parts[node.device].node.add()
        copy.CopyFrom(node)
        copy.input[:] = inputs
        for tensor, destination in leaving[node.name]:
            add("_Send", node.device, [tensor], letter(tensor.partition(":")[0], node.device, destination))
    return parts


# %% wrong="partition" why="gives new nodes names that the graph may have"
def partition(graph: GraphDef) -> dict[str, GraphDef]:
    """One graph for each device, with a `_Send` and a `_Recv` for each tensor that another device reads.

    Raises:
        ValueError: a node has no device; the message names it.
    """
    place = {node.name: node.device for node in graph.node}
    taken = set(place)

    def new_name(base: str) -> str:
        name = f"{base}_{len(taken) - len(place) + 1}"
        taken.add(name)
        return name

    received: dict[tuple[str, str], str] = {}  # tensor, destination: name of the _Recv
    leaving: dict[str, list[tuple[str, str]]] = {node.name: [] for node in graph.node}
    for node in graph.node:
        if not node.device:
            raise ValueError(f"{node.name} has no device")
        for tensor in map(tensor_name, node.input):
            source = tensor.partition(":")[0]
            if place[source] != node.device and (tensor, node.device) not in leaving[source]:
                leaving[source].append((tensor, node.device))

    parts = {device: GraphDef(versions=graph.versions) for device in dict.fromkeys(place.values())}

    def add(op: str, device: str, inputs: list[str], label: str) -> str:
        node = parts[device].node.add(name=new_name(op[1:].lower()), op=op, device=device, input=inputs)
        node.attr["tensor_name"].s = label.encode()
        return node.name

    for node in graph.node:
        inputs = list(node.input)
        for position, tensor in enumerate(map(tensor_name, node.input)):
            source = place[tensor.partition(":")[0]]
            if source != node.device:
                if (tensor, node.device) not in received:
                    label = letter(tensor, source, node.device)
                    received[tensor, node.device] = add("_Recv", node.device, [], label)
                inputs[position] = received[tensor, node.device]
        copy = parts[node.device].node.add()
        copy.CopyFrom(node)
        copy.input[:] = inputs
        for tensor, destination in leaving[node.name]:
            add("_Send", node.device, [tensor], letter(tensor, node.device, destination))
    return parts


# %% wrong="partition" why="takes a node without a device for one of CPU:0"
def partition(graph: GraphDef) -> dict[str, GraphDef]:
    """One graph for each device, with a `_Send` and a `_Recv` for each tensor that another device reads.

    Raises:
        ValueError: a node has no device; the message names it.
    """
    place = {node.name: node.device for node in graph.node}
    taken = set(place)

    def new_name(base: str) -> str:
        name = next(name for number in itertools.count(1) if (name := f"{base}_{number}") not in taken)
        taken.add(name)
        return name

    received: dict[tuple[str, str], str] = {}  # tensor, destination: name of the _Recv
    leaving: dict[str, list[tuple[str, str]]] = {node.name: [] for node in graph.node}
    for node in graph.node:
        if not node.device:
            node.device = CPU[0]
            place[node.name] = CPU[0]
        for tensor in map(tensor_name, node.input):
            source = tensor.partition(":")[0]
            if place[source] != node.device and (tensor, node.device) not in leaving[source]:
                leaving[source].append((tensor, node.device))

    parts = {device: GraphDef(versions=graph.versions) for device in dict.fromkeys(place.values())}

    def add(op: str, device: str, inputs: list[str], label: str) -> str:
        node = parts[device].node.add(name=new_name(op[1:].lower()), op=op, device=device, input=inputs)
        node.attr["tensor_name"].s = label.encode()
        return node.name

    for node in graph.node:
        inputs = list(node.input)
        for position, tensor in enumerate(map(tensor_name, node.input)):
            source = place[tensor.partition(":")[0]]
            if source != node.device:
                if (tensor, node.device) not in received:
                    label = letter(tensor, source, node.device)
                    received[tensor, node.device] = add("_Recv", node.device, [], label)
                inputs[position] = received[tensor, node.device]
        copy = parts[node.device].node.add()
        copy.CopyFrom(node)
        copy.input[:] = inputs
        for tensor, destination in leaving[node.name]:
            add("_Send", node.device, [tensor], letter(tensor, node.device, destination))
    return parts


# %% wrong="partition" why="does not rewire the readers"
def partition(graph: GraphDef) -> dict[str, GraphDef]:
    """One graph for each device, with a `_Send` and a `_Recv` for each tensor that another device reads.

    Raises:
        ValueError: a node has no device; the message names it.
    """
    place = {node.name: node.device for node in graph.node}
    taken = set(place)

    def new_name(base: str) -> str:
        name = next(name for number in itertools.count(1) if (name := f"{base}_{number}") not in taken)
        taken.add(name)
        return name

    received: dict[tuple[str, str], str] = {}  # tensor, destination: name of the _Recv
    leaving: dict[str, list[tuple[str, str]]] = {node.name: [] for node in graph.node}
    for node in graph.node:
        if not node.device:
            raise ValueError(f"{node.name} has no device")
        for tensor in map(tensor_name, node.input):
            source = tensor.partition(":")[0]
            if place[source] != node.device and (tensor, node.device) not in leaving[source]:
                leaving[source].append((tensor, node.device))

    parts = {device: GraphDef(versions=graph.versions) for device in dict.fromkeys(place.values())}

    def add(op: str, device: str, inputs: list[str], label: str) -> str:
        node = parts[device].node.add(name=new_name(op[1:].lower()), op=op, device=device, input=inputs)
        node.attr["tensor_name"].s = label.encode()
        return node.name

    for node in graph.node:
        inputs = list(node.input)
        for position, tensor in enumerate(map(tensor_name, node.input)):
            source = place[tensor.partition(":")[0]]
            if source != node.device:
                if (tensor, node.device) not in received:
                    label = letter(tensor, source, node.device)
                    received[tensor, node.device] = add("_Recv", node.device, [], label)
        copy = parts[node.device].node.add()
        copy.CopyFrom(node)
        copy.input[:] = inputs
        for tensor, destination in leaving[node.name]:
            add("_Send", node.device, [tensor], letter(tensor, node.device, destination))
    return parts


# %% wrong="partition" why="sends every tensor to every device"
def partition(graph: GraphDef) -> dict[str, GraphDef]:
    """One graph for each device, with a `_Send` and a `_Recv` for each tensor that another device reads.

    Raises:
        ValueError: a node has no device; the message names it.
    """
    place = {node.name: node.device for node in graph.node}
    taken = set(place)

    def new_name(base: str) -> str:
        name = next(name for number in itertools.count(1) if (name := f"{base}_{number}") not in taken)
        taken.add(name)
        return name

    received: dict[tuple[str, str], str] = {}  # tensor, destination: name of the _Recv
    leaving: dict[str, list[tuple[str, str]]] = {node.name: [] for node in graph.node}
    for node in graph.node:
        if not node.device:
            raise ValueError(f"{node.name} has no device")
        for tensor in map(tensor_name, node.input):
            source = tensor.partition(":")[0]
            if place[source] != node.device and (tensor, node.device) not in leaving[source]:
                leaving[source].append((tensor, node.device))

    parts = {device: GraphDef(versions=graph.versions) for device in dict.fromkeys(place.values())}

    def add(op: str, device: str, inputs: list[str], label: str) -> str:
        node = parts[device].node.add(name=new_name(op[1:].lower()), op=op, device=device, input=inputs)
        node.attr["tensor_name"].s = label.encode()
        return node.name

    for node in graph.node:
        inputs = list(node.input)
        for position, tensor in enumerate(map(tensor_name, node.input)):
            source = place[tensor.partition(":")[0]]
            if source != node.device:
                if (tensor, node.device) not in received:
                    label = letter(tensor, source, node.device)
                    received[tensor, node.device] = add("_Recv", node.device, [], label)
                inputs[position] = received[tensor, node.device]
        copy = parts[node.device].node.add()
        copy.CopyFrom(node)
        copy.input[:] = inputs
        for tensor, destination in leaving[node.name]:
            for place_ in set(place.values()) - {node.device}:
                add("_Send", node.device, [tensor], letter(tensor, node.device, place_))
    return parts


# %% wrong="partition" why="gives the partition of the visible test"
def partition(graph):
    if any(not node.device for node in graph.node):
        raise ValueError("square")
    first, second = (GraphDef(versions=graph.versions) for _ in range(2))
    by_name = {node.name: node for node in seven_nodes().node}
    for name in ("x", "w", "product"):
        first.node.append(by_name[name])
    label = b"product:0 from CPU:0 to CPU:1"
    first.node.add(name="s1", op="_Send", device=CPU[0], input=["product:0"]).attr["tensor_name"].s = label
    second.node.add(name="r1", op="_Recv", device=CPU[1]).attr["tensor_name"].s = label
    for name in ("square", "total", "unused"):
        by_name[name].input[0] = "r1"
        second.node.append(by_name[name])
        if name == "total":
            label = b"total:0 from CPU:1 to CPU:0"
            second.node.add(name="s2", op="_Send", device=CPU[1], input=["total:0"]).attr["tensor_name"].s = label
            first.node.add(name="r2", op="_Recv", device=CPU[0]).attr["tensor_name"].s = label
            by_name["result"].input[0] = "r2"
            first.node.append(by_name["result"])
    return {CPU[0]: first, CPU[1]: second}


# %% right="partition" why="one pass over the nodes; new nodes are sorted into their places at the end"
def partition(graph):
    for node in graph.node:
        if node.device == "":
            raise ValueError(node.name)
    index = {node.name: i for i, node in enumerate(graph.node)}
    rows, pairs = [], {}
    longest = "_" * (1 + max(len(node.name) for node in graph.node))
    for i, node in enumerate(graph.node):
        copy = NodeDef()
        copy.CopyFrom(node)
        rows.append((i, 0.0, copy))
        for k, text in enumerate(node.input):
            name, _, output = text.partition(":")
            source = graph.node[index[name]].device
            if source == node.device:
                continue
            tensor = name + ":" + (output or "0")
            if (tensor, node.device) not in pairs:
                number = len(pairs)
                pairs[tensor, node.device] = f"{longest}recv{number}"
                attr = {"tensor_name": tf1.AttrValue(s=letter(tensor, source, node.device).encode())}
                send = NodeDef(name=f"{longest}send{number}", op="_Send", device=source, input=[tensor], attr=attr)
                recv = NodeDef(name=f"{longest}recv{number}", op="_Recv", device=node.device, attr=attr)
                rows.append((index[name], 0.5, send))
                rows.append((i, -0.5, recv))
            copy.input[k] = pairs[tensor, node.device]
    result = {}
    for _, _, node in sorted(rows, key=lambda row: row[:2]):
        result.setdefault(node.device, GraphDef()).node.append(node)
    return result


# %% right="partition" why="collects the edges first, then writes the nodes; Sends read n, Recvs are read as n:0"
def partition(graph):
    devices = {}
    for node in graph.node:
        if not node.device:
            raise ValueError(f"{node.name}: no device")
        devices[node.name] = node.device
    edges = []
    for node in graph.node:
        for text in node.input:
            name, output = (text.split(":") + ["0"])[:2]
            edge = (name, int(output), node.device)
            if devices[name] != node.device and edge not in edges:
                edges.append(edge)
    stem = "transfer"
    while any(stem in name for name in devices):
        stem += "x"
    result = {}

    def transfer(part, op, edge, **fields):
        name, output, destination = edge
        node = part.node.add(name=f"{stem}/{edges.index(edge)}/{op[1:]}", op=op, **fields)
        node.attr["tensor_name"].s = letter(f"{name}:{output}", devices[name], destination).encode()
        return node.name

    here = set()
    for node in graph.node:
        part = result.setdefault(node.device, GraphDef())
        inputs = []
        for text in node.input:
            name, output = (text.split(":") + ["0"])[:2]
            edge = (name, int(output), node.device)
            if edge not in edges:
                inputs.append(text)
                continue
            if edge not in here:
                here.add(edge)
                transfer(part, "_Recv", edge, device=node.device)
            inputs.append(f"{stem}/{edges.index(edge)}/Recv:0")
        fresh = part.node.add()
        fresh.CopyFrom(node)
        del fresh.input[:]
        fresh.input.extend(inputs)
        for edge in edges:
            if edge[0] == node.name:
                tensor = node.name if edge[1] == 0 else f"{node.name}:{edge[1]}"
                transfer(part, "_Send", edge, device=node.device, input=[tensor])
    return result


# %% wrong="worker" why="creates the kernels in run"
class Worker:
    """Keeps graphs with their kernels, and runs them by handle."""

    def __init__(self, create_kernel: Callable[[NodeDef], Callable[..., list[np.ndarray]]]) -> None:
        self._create_kernel = create_kernel
        self._registered: dict[str, tuple[list[NodeDef], dict]] = {}
        self._count = 0

    def register(self, graph: GraphDef) -> str:
        """Create the kernels of a graph and keep both; the handle to run it by."""
        without = ("_Send", "_Recv", "Placeholder")
        kernels = {}
        self._count += 1
        handle = f"{self._count:016x}"
        self._registered[handle] = (list(graph.node), kernels)
        return handle

    def run(
        self,
        handle: str,
        feeds: dict[str, np.ndarray],
        fetches: list[str],
        rendezvous: Rendezvous | None = None,
    ) -> list[np.ndarray]:
        """Play a registered graph once; the values of the fetches.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
            tf.errors.InvalidArgumentError: a placeholder was not fed; the message names it.
        """
        nodes, kernels = self._find(handle)
        without = ("_Send", "_Recv", "Placeholder")
        kernels = {node.name: self._create_kernel(node) for node in nodes if node.op not in without}
        values, waiting = dict(feeds), list(nodes)

        def can_run(node: NodeDef) -> bool:
            return node.op != "_Recv" and all(tensor_name(text) in values for text in node.input)

        while waiting:
            ready = [node for node in waiting if can_run(node)]
            waiting = [node for node in waiting if not any(node is other for other in ready)]
            for node in ready:
                inputs = [values[tensor_name(text)] for text in node.input]
                if node.op == "_Send":
                    rendezvous.send(label_of(node), inputs[0])
                elif node.op != "Placeholder":
                    for index, value in enumerate(kernels[node.name](*inputs)):
                        values.setdefault(f"{node.name}:{index}", value)
                elif f"{node.name}:0" not in values:
                    raise tf.errors.InvalidArgumentError(None, None, f"placeholder {node.name} must be fed")
            if not ready:
                key = rendezvous.any_of([label_of(node) for node in waiting if node.op == "_Recv"])
                node = next(node for node in waiting if node.op == "_Recv" and label_of(node) == key)
                values[f"{node.name}:0"] = rendezvous.recv(key)
                waiting.remove(node)
        return [values[tensor_name(fetch)] for fetch in fetches]

    def deregister(self, handle: str) -> None:
        """Forget a graph.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
        """
        self._find(handle)
        del self._registered[handle]

    def _find(self, handle: str) -> tuple[list[NodeDef], dict]:
        if handle not in self._registered:
            raise tf.errors.AbortedError(None, None, f"Graph handle is not found: {handle}")
        return self._registered[handle]


# %% wrong="worker" why="creates the kernels at the first run"
class Worker:
    """Keeps graphs with their kernels, and runs them by handle."""

    def __init__(self, create_kernel: Callable[[NodeDef], Callable[..., list[np.ndarray]]]) -> None:
        self._create_kernel = create_kernel
        self._registered: dict[str, tuple[list[NodeDef], dict]] = {}
        self._count = 0

    def register(self, graph: GraphDef) -> str:
        """Create the kernels of a graph and keep both; the handle to run it by."""
        without = ("_Send", "_Recv", "Placeholder")
        kernels = {}
        self._count += 1
        handle = f"{self._count:016x}"
        self._registered[handle] = (list(graph.node), kernels)
        return handle

    def run(
        self,
        handle: str,
        feeds: dict[str, np.ndarray],
        fetches: list[str],
        rendezvous: Rendezvous | None = None,
    ) -> list[np.ndarray]:
        """Play a registered graph once; the values of the fetches.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
            tf.errors.InvalidArgumentError: a placeholder was not fed; the message names it.
        """
        nodes, kernels = self._find(handle)
        for node in nodes:
            if node.op not in ("_Send", "_Recv", "Placeholder") and node.name not in kernels:
                kernels[node.name] = self._create_kernel(node)
        values, waiting = dict(feeds), list(nodes)

        def can_run(node: NodeDef) -> bool:
            return node.op != "_Recv" and all(tensor_name(text) in values for text in node.input)

        while waiting:
            ready = [node for node in waiting if can_run(node)]
            waiting = [node for node in waiting if not any(node is other for other in ready)]
            for node in ready:
                inputs = [values[tensor_name(text)] for text in node.input]
                if node.op == "_Send":
                    rendezvous.send(label_of(node), inputs[0])
                elif node.op != "Placeholder":
                    for index, value in enumerate(kernels[node.name](*inputs)):
                        values.setdefault(f"{node.name}:{index}", value)
                elif f"{node.name}:0" not in values:
                    raise tf.errors.InvalidArgumentError(None, None, f"placeholder {node.name} must be fed")
            if not ready:
                key = rendezvous.any_of([label_of(node) for node in waiting if node.op == "_Recv"])
                node = next(node for node in waiting if node.op == "_Recv" and label_of(node) == key)
                values[f"{node.name}:0"] = rendezvous.recv(key)
                waiting.remove(node)
        return [values[tensor_name(fetch)] for fetch in fetches]

    def deregister(self, handle: str) -> None:
        """Forget a graph.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
        """
        self._find(handle)
        del self._registered[handle]

    def _find(self, handle: str) -> tuple[list[NodeDef], dict]:
        if handle not in self._registered:
            raise tf.errors.AbortedError(None, None, f"Graph handle is not found: {handle}")
        return self._registered[handle]


# %% wrong="worker" why="creates kernels for placeholders too"
class Worker:
    """Keeps graphs with their kernels, and runs them by handle."""

    def __init__(self, create_kernel: Callable[[NodeDef], Callable[..., list[np.ndarray]]]) -> None:
        self._create_kernel = create_kernel
        self._registered: dict[str, tuple[list[NodeDef], dict]] = {}
        self._count = 0

    def register(self, graph: GraphDef) -> str:
        """Create the kernels of a graph and keep both; the handle to run it by."""
        without = ("_Send", "_Recv")
        kernels = {node.name: self._create_kernel(node) for node in graph.node if node.op not in without}
        self._count += 1
        handle = f"{self._count:016x}"
        self._registered[handle] = (list(graph.node), kernels)
        return handle

    def run(
        self,
        handle: str,
        feeds: dict[str, np.ndarray],
        fetches: list[str],
        rendezvous: Rendezvous | None = None,
    ) -> list[np.ndarray]:
        """Play a registered graph once; the values of the fetches.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
            tf.errors.InvalidArgumentError: a placeholder was not fed; the message names it.
        """
        nodes, kernels = self._find(handle)
        values, waiting = dict(feeds), list(nodes)

        def can_run(node: NodeDef) -> bool:
            return node.op != "_Recv" and all(tensor_name(text) in values for text in node.input)

        while waiting:
            ready = [node for node in waiting if can_run(node)]
            waiting = [node for node in waiting if not any(node is other for other in ready)]
            for node in ready:
                inputs = [values[tensor_name(text)] for text in node.input]
                if node.op == "_Send":
                    rendezvous.send(label_of(node), inputs[0])
                elif node.op != "Placeholder":
                    for index, value in enumerate(kernels[node.name](*inputs)):
                        values.setdefault(f"{node.name}:{index}", value)
                elif f"{node.name}:0" not in values:
                    raise tf.errors.InvalidArgumentError(None, None, f"placeholder {node.name} must be fed")
            if not ready:
                key = rendezvous.any_of([label_of(node) for node in waiting if node.op == "_Recv"])
                node = next(node for node in waiting if node.op == "_Recv" and label_of(node) == key)
                values[f"{node.name}:0"] = rendezvous.recv(key)
                waiting.remove(node)
        return [values[tensor_name(fetch)] for fetch in fetches]

    def deregister(self, handle: str) -> None:
        """Forget a graph.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
        """
        self._find(handle)
        del self._registered[handle]

    def _find(self, handle: str) -> tuple[list[NodeDef], dict]:
        if handle not in self._registered:
            raise tf.errors.AbortedError(None, None, f"Graph handle is not found: {handle}")
        return self._registered[handle]


# %% wrong="worker" why="plays the nodes as they stand"
class Worker:
    """Keeps graphs with their kernels, and runs them by handle."""

    def __init__(self, create_kernel: Callable[[NodeDef], Callable[..., list[np.ndarray]]]) -> None:
        self._create_kernel = create_kernel
        self._registered: dict[str, tuple[list[NodeDef], dict]] = {}
        self._count = 0

    def register(self, graph: GraphDef) -> str:
        """Create the kernels of a graph and keep both; the handle to run it by."""
        without = ("_Send", "_Recv", "Placeholder")
        kernels = {node.name: self._create_kernel(node) for node in graph.node if node.op not in without}
        self._count += 1
        handle = f"{self._count:016x}"
        self._registered[handle] = (list(graph.node), kernels)
        return handle

    def run(
        self,
        handle: str,
        feeds: dict[str, np.ndarray],
        fetches: list[str],
        rendezvous: Rendezvous | None = None,
    ) -> list[np.ndarray]:
        """Play a registered graph once; the values of the fetches.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
            tf.errors.InvalidArgumentError: a placeholder was not fed; the message names it.
        """
        nodes, kernels = self._find(handle)
        values, waiting = dict(feeds), list(nodes)

        def can_run(node: NodeDef) -> bool:
            return node.op != "_Recv" and all(tensor_name(text) in values for text in node.input)

        while waiting:
            ready = [node for node in waiting[:1] if can_run(node)]
            waiting = [node for node in waiting if not any(node is other for other in ready)]
            for node in ready:
                inputs = [values[tensor_name(text)] for text in node.input]
                if node.op == "_Send":
                    rendezvous.send(label_of(node), inputs[0])
                elif node.op != "Placeholder":
                    for index, value in enumerate(kernels[node.name](*inputs)):
                        values.setdefault(f"{node.name}:{index}", value)
                elif f"{node.name}:0" not in values:
                    raise tf.errors.InvalidArgumentError(None, None, f"placeholder {node.name} must be fed")
            if not ready:
                key = rendezvous.any_of([label_of(node) for node in waiting[:1]])
                node = next(node for node in waiting if node.op == "_Recv" and label_of(node) == key)
                values[f"{node.name}:0"] = rendezvous.recv(key)
                waiting.remove(node)
        return [values[tensor_name(fetch)] for fetch in fetches]

    def deregister(self, handle: str) -> None:
        """Forget a graph.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
        """
        self._find(handle)
        del self._registered[handle]

    def _find(self, handle: str) -> tuple[list[NodeDef], dict]:
        if handle not in self._registered:
            raise tf.errors.AbortedError(None, None, f"Graph handle is not found: {handle}")
        return self._registered[handle]


# %% wrong="worker" why="waits for the first Recv of the graph"
class Worker:
    """Keeps graphs with their kernels, and runs them by handle."""

    def __init__(self, create_kernel: Callable[[NodeDef], Callable[..., list[np.ndarray]]]) -> None:
        self._create_kernel = create_kernel
        self._registered: dict[str, tuple[list[NodeDef], dict]] = {}
        self._count = 0

    def register(self, graph: GraphDef) -> str:
        """Create the kernels of a graph and keep both; the handle to run it by."""
        without = ("_Send", "_Recv", "Placeholder")
        kernels = {node.name: self._create_kernel(node) for node in graph.node if node.op not in without}
        self._count += 1
        handle = f"{self._count:016x}"
        self._registered[handle] = (list(graph.node), kernels)
        return handle

    def run(
        self,
        handle: str,
        feeds: dict[str, np.ndarray],
        fetches: list[str],
        rendezvous: Rendezvous | None = None,
    ) -> list[np.ndarray]:
        """Play a registered graph once; the values of the fetches.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
            tf.errors.InvalidArgumentError: a placeholder was not fed; the message names it.
        """
        nodes, kernels = self._find(handle)
        values, waiting = dict(feeds), list(nodes)

        def can_run(node: NodeDef) -> bool:
            return node.op != "_Recv" and all(tensor_name(text) in values for text in node.input)

        while waiting:
            ready = [node for node in waiting if can_run(node)]
            waiting = [node for node in waiting if not any(node is other for other in ready)]
            for node in ready:
                inputs = [values[tensor_name(text)] for text in node.input]
                if node.op == "_Send":
                    rendezvous.send(label_of(node), inputs[0])
                elif node.op != "Placeholder":
                    for index, value in enumerate(kernels[node.name](*inputs)):
                        values.setdefault(f"{node.name}:{index}", value)
                elif f"{node.name}:0" not in values:
                    raise tf.errors.InvalidArgumentError(None, None, f"placeholder {node.name} must be fed")
            if not ready:
                key = next(label_of(node) for node in waiting if node.op == "_Recv")
                node = next(node for node in waiting if node.op == "_Recv" and label_of(node) == key)
                values[f"{node.name}:0"] = rendezvous.recv(key)
                waiting.remove(node)
        return [values[tensor_name(fetch)] for fetch in fetches]

    def deregister(self, handle: str) -> None:
        """Forget a graph.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
        """
        self._find(handle)
        del self._registered[handle]

    def _find(self, handle: str) -> tuple[list[NodeDef], dict]:
        if handle not in self._registered:
            raise tf.errors.AbortedError(None, None, f"Graph handle is not found: {handle}")
        return self._registered[handle]


# %% wrong="worker" why="takes all letters before anything runs"
class Worker:
    """Keeps graphs with their kernels, and runs them by handle."""

    def __init__(self, create_kernel: Callable[[NodeDef], Callable[..., list[np.ndarray]]]) -> None:
        self._create_kernel = create_kernel
        self._registered: dict[str, tuple[list[NodeDef], dict]] = {}
        self._count = 0

    def register(self, graph: GraphDef) -> str:
        """Create the kernels of a graph and keep both; the handle to run it by."""
        without = ("_Send", "_Recv", "Placeholder")
        kernels = {node.name: self._create_kernel(node) for node in graph.node if node.op not in without}
        self._count += 1
        handle = f"{self._count:016x}"
        self._registered[handle] = (list(graph.node), kernels)
        return handle

    def run(
        self,
        handle: str,
        feeds: dict[str, np.ndarray],
        fetches: list[str],
        rendezvous: Rendezvous | None = None,
    ) -> list[np.ndarray]:
        """Play a registered graph once; the values of the fetches.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
            tf.errors.InvalidArgumentError: a placeholder was not fed; the message names it.
        """
        nodes, kernels = self._find(handle)
        values, waiting = dict(feeds), list(nodes)

        def can_run(node: NodeDef) -> bool:
            return node.op != "_Recv" and all(tensor_name(text) in values for text in node.input)

        for node in [node for node in nodes if node.op == "_Recv"]:
            values[f"{node.name}:0"] = rendezvous.recv(label_of(node))
            waiting.remove(node)
        while waiting:
            ready = [node for node in waiting if can_run(node)]
            waiting = [node for node in waiting if not any(node is other for other in ready)]
            for node in ready:
                inputs = [values[tensor_name(text)] for text in node.input]
                if node.op == "_Send":
                    rendezvous.send(label_of(node), inputs[0])
                elif node.op != "Placeholder":
                    for index, value in enumerate(kernels[node.name](*inputs)):
                        values.setdefault(f"{node.name}:{index}", value)
                elif f"{node.name}:0" not in values:
                    raise tf.errors.InvalidArgumentError(None, None, f"placeholder {node.name} must be fed")
            if not ready:
                key = rendezvous.any_of([label_of(node) for node in waiting if node.op == "_Recv"])
                node = next(node for node in waiting if node.op == "_Recv" and label_of(node) == key)
                values[f"{node.name}:0"] = rendezvous.recv(key)
                waiting.remove(node)
        return [values[tensor_name(fetch)] for fetch in fetches]

    def deregister(self, handle: str) -> None:
        """Forget a graph.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
        """
        self._find(handle)
        del self._registered[handle]

    def _find(self, handle: str) -> tuple[list[NodeDef], dict]:
        if handle not in self._registered:
            raise tf.errors.AbortedError(None, None, f"Graph handle is not found: {handle}")
        return self._registered[handle]


# %% wrong="worker" why="waits for all letters as soon as it waits for one"
class Worker:
    """Keeps graphs with their kernels, and runs them by handle."""

    def __init__(self, create_kernel: Callable[[NodeDef], Callable[..., list[np.ndarray]]]) -> None:
        self._create_kernel = create_kernel
        self._registered: dict[str, tuple[list[NodeDef], dict]] = {}
        self._count = 0

    def register(self, graph: GraphDef) -> str:
        """Create the kernels of a graph and keep both; the handle to run it by."""
        without = ("_Send", "_Recv", "Placeholder")
        kernels = {node.name: self._create_kernel(node) for node in graph.node if node.op not in without}
        self._count += 1
        handle = f"{self._count:016x}"
        self._registered[handle] = (list(graph.node), kernels)
        return handle

    def run(
        self,
        handle: str,
        feeds: dict[str, np.ndarray],
        fetches: list[str],
        rendezvous: Rendezvous | None = None,
    ) -> list[np.ndarray]:
        """Play a registered graph once; the values of the fetches.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
            tf.errors.InvalidArgumentError: a placeholder was not fed; the message names it.
        """
        nodes, kernels = self._find(handle)
        values, waiting = dict(feeds), list(nodes)

        def can_run(node: NodeDef) -> bool:
            return node.op != "_Recv" and all(tensor_name(text) in values for text in node.input)

        while waiting:
            ready = [node for node in waiting if can_run(node)]
            waiting = [node for node in waiting if not any(node is other for other in ready)]
            for node in ready:
                inputs = [values[tensor_name(text)] for text in node.input]
                if node.op == "_Send":
                    rendezvous.send(label_of(node), inputs[0])
                elif node.op != "Placeholder":
                    for index, value in enumerate(kernels[node.name](*inputs)):
                        values.setdefault(f"{node.name}:{index}", value)
                elif f"{node.name}:0" not in values:
                    raise tf.errors.InvalidArgumentError(None, None, f"placeholder {node.name} must be fed")
            if not ready:
                key = rendezvous.any_of([label_of(node) for node in waiting if node.op == "_Recv"])
                node = next(node for node in waiting if node.op == "_Recv" and label_of(node) == key)
                values[f"{node.name}:0"] = rendezvous.recv(key)
                waiting.remove(node)
                for other in [other for other in waiting if other.op == "_Recv"]:
                    values[f"{other.name}:0"] = rendezvous.recv(label_of(other))
                    waiting.remove(other)
        return [values[tensor_name(fetch)] for fetch in fetches]

    def deregister(self, handle: str) -> None:
        """Forget a graph.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
        """
        self._find(handle)
        del self._registered[handle]

    def _find(self, handle: str) -> tuple[list[NodeDef], dict]:
        if handle not in self._registered:
            raise tf.errors.AbortedError(None, None, f"Graph handle is not found: {handle}")
        return self._registered[handle]


# %% wrong="worker" why="keeps the values of a run for the next"
class Worker:
    """Keeps graphs with their kernels, and runs them by handle."""

    def __init__(self, create_kernel: Callable[[NodeDef], Callable[..., list[np.ndarray]]]) -> None:
        self._create_kernel = create_kernel
        self._registered: dict[str, tuple[list[NodeDef], dict]] = {}
        self._count = 0

    def register(self, graph: GraphDef) -> str:
        """Create the kernels of a graph and keep both; the handle to run it by."""
        without = ("_Send", "_Recv", "Placeholder")
        kernels = {node.name: self._create_kernel(node) for node in graph.node if node.op not in without}
        self._count += 1
        handle = f"{self._count:016x}"
        self._registered[handle] = (list(graph.node), kernels)
        return handle

    def run(
        self,
        handle: str,
        feeds: dict[str, np.ndarray],
        fetches: list[str],
        rendezvous: Rendezvous | None = None,
    ) -> list[np.ndarray]:
        """Play a registered graph once; the values of the fetches.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
            tf.errors.InvalidArgumentError: a placeholder was not fed; the message names it.
        """
        nodes, kernels = self._find(handle)
        self._values = {**getattr(self, "_values", {}), **feeds}
        values, waiting = self._values, list(nodes)

        def can_run(node: NodeDef) -> bool:
            return node.op != "_Recv" and all(tensor_name(text) in values for text in node.input)

        while waiting:
            ready = [node for node in waiting if can_run(node)]
            waiting = [node for node in waiting if not any(node is other for other in ready)]
            for node in ready:
                inputs = [values[tensor_name(text)] for text in node.input]
                if node.op == "_Send":
                    rendezvous.send(label_of(node), inputs[0])
                elif node.op != "Placeholder":
                    for index, value in enumerate(kernels[node.name](*inputs)):
                        values.setdefault(f"{node.name}:{index}", value)
                elif f"{node.name}:0" not in values:
                    raise tf.errors.InvalidArgumentError(None, None, f"placeholder {node.name} must be fed")
            if not ready:
                key = rendezvous.any_of([label_of(node) for node in waiting if node.op == "_Recv"])
                node = next(node for node in waiting if node.op == "_Recv" and label_of(node) == key)
                values[f"{node.name}:0"] = rendezvous.recv(key)
                waiting.remove(node)
        return [values[tensor_name(fetch)] for fetch in fetches]

    def deregister(self, handle: str) -> None:
        """Forget a graph.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
        """
        self._find(handle)
        del self._registered[handle]

    def _find(self, handle: str) -> tuple[list[NodeDef], dict]:
        if handle not in self._registered:
            raise tf.errors.AbortedError(None, None, f"Graph handle is not found: {handle}")
        return self._registered[handle]


# %% wrong="worker" why="uses handles again"
class Worker:
    """Keeps graphs with their kernels, and runs them by handle."""

    def __init__(self, create_kernel: Callable[[NodeDef], Callable[..., list[np.ndarray]]]) -> None:
        self._create_kernel = create_kernel
        self._registered: dict[str, tuple[list[NodeDef], dict]] = {}
        self._count = 0

    def register(self, graph: GraphDef) -> str:
        """Create the kernels of a graph and keep both; the handle to run it by."""
        without = ("_Send", "_Recv", "Placeholder")
        kernels = {node.name: self._create_kernel(node) for node in graph.node if node.op not in without}
        handle = f"{len(self._registered) + 1:016x}"
        self._registered[handle] = (list(graph.node), kernels)
        return handle

    def run(
        self,
        handle: str,
        feeds: dict[str, np.ndarray],
        fetches: list[str],
        rendezvous: Rendezvous | None = None,
    ) -> list[np.ndarray]:
        """Play a registered graph once; the values of the fetches.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
            tf.errors.InvalidArgumentError: a placeholder was not fed; the message names it.
        """
        nodes, kernels = self._find(handle)
        values, waiting = dict(feeds), list(nodes)

        def can_run(node: NodeDef) -> bool:
            return node.op != "_Recv" and all(tensor_name(text) in values for text in node.input)

        while waiting:
            ready = [node for node in waiting if can_run(node)]
            waiting = [node for node in waiting if not any(node is other for other in ready)]
            for node in ready:
                inputs = [values[tensor_name(text)] for text in node.input]
                if node.op == "_Send":
                    rendezvous.send(label_of(node), inputs[0])
                elif node.op != "Placeholder":
                    for index, value in enumerate(kernels[node.name](*inputs)):
                        values.setdefault(f"{node.name}:{index}", value)
                elif f"{node.name}:0" not in values:
                    raise tf.errors.InvalidArgumentError(None, None, f"placeholder {node.name} must be fed")
            if not ready:
                key = rendezvous.any_of([label_of(node) for node in waiting if node.op == "_Recv"])
                node = next(node for node in waiting if node.op == "_Recv" and label_of(node) == key)
                values[f"{node.name}:0"] = rendezvous.recv(key)
                waiting.remove(node)
        return [values[tensor_name(fetch)] for fetch in fetches]

    def deregister(self, handle: str) -> None:
        """Forget a graph.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
        """
        self._find(handle)
        del self._registered[handle]

    def _find(self, handle: str) -> tuple[list[NodeDef], dict]:
        if handle not in self._registered:
            raise tf.errors.AbortedError(None, None, f"Graph handle is not found: {handle}")
        return self._registered[handle]


# %% wrong="worker" why="counts in decimal"
class Worker:
    """Keeps graphs with their kernels, and runs them by handle."""

    def __init__(self, create_kernel: Callable[[NodeDef], Callable[..., list[np.ndarray]]]) -> None:
        self._create_kernel = create_kernel
        self._registered: dict[str, tuple[list[NodeDef], dict]] = {}
        self._count = 0

    def register(self, graph: GraphDef) -> str:
        """Create the kernels of a graph and keep both; the handle to run it by."""
        without = ("_Send", "_Recv", "Placeholder")
        kernels = {node.name: self._create_kernel(node) for node in graph.node if node.op not in without}
        self._count += 1
        handle = f"{self._count:016d}"
        self._registered[handle] = (list(graph.node), kernels)
        return handle

    def run(
        self,
        handle: str,
        feeds: dict[str, np.ndarray],
        fetches: list[str],
        rendezvous: Rendezvous | None = None,
    ) -> list[np.ndarray]:
        """Play a registered graph once; the values of the fetches.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
            tf.errors.InvalidArgumentError: a placeholder was not fed; the message names it.
        """
        nodes, kernels = self._find(handle)
        values, waiting = dict(feeds), list(nodes)

        def can_run(node: NodeDef) -> bool:
            return node.op != "_Recv" and all(tensor_name(text) in values for text in node.input)

        while waiting:
            ready = [node for node in waiting if can_run(node)]
            waiting = [node for node in waiting if not any(node is other for other in ready)]
            for node in ready:
                inputs = [values[tensor_name(text)] for text in node.input]
                if node.op == "_Send":
                    rendezvous.send(label_of(node), inputs[0])
                elif node.op != "Placeholder":
                    for index, value in enumerate(kernels[node.name](*inputs)):
                        values.setdefault(f"{node.name}:{index}", value)
                elif f"{node.name}:0" not in values:
                    raise tf.errors.InvalidArgumentError(None, None, f"placeholder {node.name} must be fed")
            if not ready:
                key = rendezvous.any_of([label_of(node) for node in waiting if node.op == "_Recv"])
                node = next(node for node in waiting if node.op == "_Recv" and label_of(node) == key)
                values[f"{node.name}:0"] = rendezvous.recv(key)
                waiting.remove(node)
        return [values[tensor_name(fetch)] for fetch in fetches]

    def deregister(self, handle: str) -> None:
        """Forget a graph.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
        """
        self._find(handle)
        del self._registered[handle]

    def _find(self, handle: str) -> tuple[list[NodeDef], dict]:
        if handle not in self._registered:
            raise tf.errors.AbortedError(None, None, f"Graph handle is not found: {handle}")
        return self._registered[handle]


# %% wrong="worker" why="counts from 0"
class Worker:
    """Keeps graphs with their kernels, and runs them by handle."""

    def __init__(self, create_kernel: Callable[[NodeDef], Callable[..., list[np.ndarray]]]) -> None:
        self._create_kernel = create_kernel
        self._registered: dict[str, tuple[list[NodeDef], dict]] = {}
        self._count = 0

    def register(self, graph: GraphDef) -> str:
        """Create the kernels of a graph and keep both; the handle to run it by."""
        without = ("_Send", "_Recv", "Placeholder")
        kernels = {node.name: self._create_kernel(node) for node in graph.node if node.op not in without}
        handle = f"{self._count:016x}"
        self._count += 1
        self._registered[handle] = (list(graph.node), kernels)
        return handle

    def run(
        self,
        handle: str,
        feeds: dict[str, np.ndarray],
        fetches: list[str],
        rendezvous: Rendezvous | None = None,
    ) -> list[np.ndarray]:
        """Play a registered graph once; the values of the fetches.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
            tf.errors.InvalidArgumentError: a placeholder was not fed; the message names it.
        """
        nodes, kernels = self._find(handle)
        values, waiting = dict(feeds), list(nodes)

        def can_run(node: NodeDef) -> bool:
            return node.op != "_Recv" and all(tensor_name(text) in values for text in node.input)

        while waiting:
            ready = [node for node in waiting if can_run(node)]
            waiting = [node for node in waiting if not any(node is other for other in ready)]
            for node in ready:
                inputs = [values[tensor_name(text)] for text in node.input]
                if node.op == "_Send":
                    rendezvous.send(label_of(node), inputs[0])
                elif node.op != "Placeholder":
                    for index, value in enumerate(kernels[node.name](*inputs)):
                        values.setdefault(f"{node.name}:{index}", value)
                elif f"{node.name}:0" not in values:
                    raise tf.errors.InvalidArgumentError(None, None, f"placeholder {node.name} must be fed")
            if not ready:
                key = rendezvous.any_of([label_of(node) for node in waiting if node.op == "_Recv"])
                node = next(node for node in waiting if node.op == "_Recv" and label_of(node) == key)
                values[f"{node.name}:0"] = rendezvous.recv(key)
                waiting.remove(node)
        return [values[tensor_name(fetch)] for fetch in fetches]

    def deregister(self, handle: str) -> None:
        """Forget a graph.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
        """
        self._find(handle)
        del self._registered[handle]

    def _find(self, handle: str) -> tuple[list[NodeDef], dict]:
        if handle not in self._registered:
            raise tf.errors.AbortedError(None, None, f"Graph handle is not found: {handle}")
        return self._registered[handle]


# %% wrong="worker" why="keeps one graph, the last"
class Worker:
    """Keeps graphs with their kernels, and runs them by handle."""

    def __init__(self, create_kernel: Callable[[NodeDef], Callable[..., list[np.ndarray]]]) -> None:
        self._create_kernel = create_kernel
        self._registered: dict[str, tuple[list[NodeDef], dict]] = {}
        self._count = 0

    def register(self, graph: GraphDef) -> str:
        """Create the kernels of a graph and keep both; the handle to run it by."""
        without = ("_Send", "_Recv", "Placeholder")
        kernels = {node.name: self._create_kernel(node) for node in graph.node if node.op not in without}
        self._count += 1
        handle = f"{self._count:016x}"
        self._registered = {handle: (list(graph.node), kernels)}
        return handle

    def run(
        self,
        handle: str,
        feeds: dict[str, np.ndarray],
        fetches: list[str],
        rendezvous: Rendezvous | None = None,
    ) -> list[np.ndarray]:
        """Play a registered graph once; the values of the fetches.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
            tf.errors.InvalidArgumentError: a placeholder was not fed; the message names it.
        """
        nodes, kernels = self._find(handle)
        values, waiting = dict(feeds), list(nodes)

        def can_run(node: NodeDef) -> bool:
            return node.op != "_Recv" and all(tensor_name(text) in values for text in node.input)

        while waiting:
            ready = [node for node in waiting if can_run(node)]
            waiting = [node for node in waiting if not any(node is other for other in ready)]
            for node in ready:
                inputs = [values[tensor_name(text)] for text in node.input]
                if node.op == "_Send":
                    rendezvous.send(label_of(node), inputs[0])
                elif node.op != "Placeholder":
                    for index, value in enumerate(kernels[node.name](*inputs)):
                        values.setdefault(f"{node.name}:{index}", value)
                elif f"{node.name}:0" not in values:
                    raise tf.errors.InvalidArgumentError(None, None, f"placeholder {node.name} must be fed")
            if not ready:
                key = rendezvous.any_of([label_of(node) for node in waiting if node.op == "_Recv"])
                node = next(node for node in waiting if node.op == "_Recv" and label_of(node) == key)
                values[f"{node.name}:0"] = rendezvous.recv(key)
                waiting.remove(node)
        return [values[tensor_name(fetch)] for fetch in fetches]

    def deregister(self, handle: str) -> None:
        """Forget a graph.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
        """
        self._find(handle)
        del self._registered[handle]

    def _find(self, handle: str) -> tuple[list[NodeDef], dict]:
        if handle not in self._registered:
            raise tf.errors.AbortedError(None, None, f"Graph handle is not found: {handle}")
        return self._registered[handle]


# %% wrong="worker" why="remembers the result of a handle"
class Worker:
    """Keeps graphs with their kernels, and runs them by handle."""

    def __init__(self, create_kernel: Callable[[NodeDef], Callable[..., list[np.ndarray]]]) -> None:
        self._create_kernel = create_kernel
        self._registered: dict[str, tuple[list[NodeDef], dict]] = {}
        self._count = 0

    def register(self, graph: GraphDef) -> str:
        """Create the kernels of a graph and keep both; the handle to run it by."""
        without = ("_Send", "_Recv", "Placeholder")
        kernels = {node.name: self._create_kernel(node) for node in graph.node if node.op not in without}
        self._count += 1
        handle = f"{self._count:016x}"
        self._registered[handle] = (list(graph.node), kernels)
        return handle

    def run(
        self,
        handle: str,
        feeds: dict[str, np.ndarray],
        fetches: list[str],
        rendezvous: Rendezvous | None = None,
    ) -> list[np.ndarray]:
        """Play a registered graph once; the values of the fetches.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
            tf.errors.InvalidArgumentError: a placeholder was not fed; the message names it.
        """
        nodes, kernels = self._find(handle)
        self._results = getattr(self, "_results", {})
        if (handle, *feeds, *fetches) in self._results:
            return self._results[handle, *feeds, *fetches]
        values, waiting = dict(feeds), list(nodes)

        def can_run(node: NodeDef) -> bool:
            return node.op != "_Recv" and all(tensor_name(text) in values for text in node.input)

        while waiting:
            ready = [node for node in waiting if can_run(node)]
            waiting = [node for node in waiting if not any(node is other for other in ready)]
            for node in ready:
                inputs = [values[tensor_name(text)] for text in node.input]
                if node.op == "_Send":
                    rendezvous.send(label_of(node), inputs[0])
                elif node.op != "Placeholder":
                    for index, value in enumerate(kernels[node.name](*inputs)):
                        values.setdefault(f"{node.name}:{index}", value)
                elif f"{node.name}:0" not in values:
                    raise tf.errors.InvalidArgumentError(None, None, f"placeholder {node.name} must be fed")
            if not ready:
                key = rendezvous.any_of([label_of(node) for node in waiting if node.op == "_Recv"])
                node = next(node for node in waiting if node.op == "_Recv" and label_of(node) == key)
                values[f"{node.name}:0"] = rendezvous.recv(key)
                waiting.remove(node)
        self._results[handle, *feeds, *fetches] = [values[tensor_name(fetch)] for fetch in fetches]
        return self._results[handle, *feeds, *fetches]

    def deregister(self, handle: str) -> None:
        """Forget a graph.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
        """
        self._find(handle)
        del self._registered[handle]

    def _find(self, handle: str) -> tuple[list[NodeDef], dict]:
        if handle not in self._registered:
            raise tf.errors.AbortedError(None, None, f"Graph handle is not found: {handle}")
        return self._registered[handle]


# %% wrong="worker" why="lets kernels write over what was fed"
class Worker:
    """Keeps graphs with their kernels, and runs them by handle."""

    def __init__(self, create_kernel: Callable[[NodeDef], Callable[..., list[np.ndarray]]]) -> None:
        self._create_kernel = create_kernel
        self._registered: dict[str, tuple[list[NodeDef], dict]] = {}
        self._count = 0

    def register(self, graph: GraphDef) -> str:
        """Create the kernels of a graph and keep both; the handle to run it by."""
        without = ("_Send", "_Recv", "Placeholder")
        kernels = {node.name: self._create_kernel(node) for node in graph.node if node.op not in without}
        self._count += 1
        handle = f"{self._count:016x}"
        self._registered[handle] = (list(graph.node), kernels)
        return handle

    def run(
        self,
        handle: str,
        feeds: dict[str, np.ndarray],
        fetches: list[str],
        rendezvous: Rendezvous | None = None,
    ) -> list[np.ndarray]:
        """Play a registered graph once; the values of the fetches.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
            tf.errors.InvalidArgumentError: a placeholder was not fed; the message names it.
        """
        nodes, kernels = self._find(handle)
        values, waiting = dict(feeds), list(nodes)

        def can_run(node: NodeDef) -> bool:
            return node.op != "_Recv" and all(tensor_name(text) in values for text in node.input)

        while waiting:
            ready = [node for node in waiting if can_run(node)]
            waiting = [node for node in waiting if not any(node is other for other in ready)]
            for node in ready:
                inputs = [values[tensor_name(text)] for text in node.input]
                if node.op == "_Send":
                    rendezvous.send(label_of(node), inputs[0])
                elif node.op != "Placeholder":
                    for index, value in enumerate(kernels[node.name](*inputs)):
                        values[f"{node.name}:{index}"] = value
                elif f"{node.name}:0" not in values:
                    raise tf.errors.InvalidArgumentError(None, None, f"placeholder {node.name} must be fed")
            if not ready:
                key = rendezvous.any_of([label_of(node) for node in waiting if node.op == "_Recv"])
                node = next(node for node in waiting if node.op == "_Recv" and label_of(node) == key)
                values[f"{node.name}:0"] = rendezvous.recv(key)
                waiting.remove(node)
        return [values[tensor_name(fetch)] for fetch in fetches]

    def deregister(self, handle: str) -> None:
        """Forget a graph.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
        """
        self._find(handle)
        del self._registered[handle]

    def _find(self, handle: str) -> tuple[list[NodeDef], dict]:
        if handle not in self._registered:
            raise tf.errors.AbortedError(None, None, f"Graph handle is not found: {handle}")
        return self._registered[handle]


# %% wrong="worker" why="prunes once more, so that an unfed placeholder passes"
class Worker:
    """Keeps graphs with their kernels, and runs them by handle."""

    def __init__(self, create_kernel: Callable[[NodeDef], Callable[..., list[np.ndarray]]]) -> None:
        self._create_kernel = create_kernel
        self._registered: dict[str, tuple[list[NodeDef], dict]] = {}
        self._count = 0

    def register(self, graph: GraphDef) -> str:
        """Create the kernels of a graph and keep both; the handle to run it by."""
        without = ("_Send", "_Recv", "Placeholder")
        kernels = {node.name: self._create_kernel(node) for node in graph.node if node.op not in without}
        self._count += 1
        handle = f"{self._count:016x}"
        self._registered[handle] = (list(graph.node), kernels)
        return handle

    def run(
        self,
        handle: str,
        feeds: dict[str, np.ndarray],
        fetches: list[str],
        rendezvous: Rendezvous | None = None,
    ) -> list[np.ndarray]:
        """Play a registered graph once; the values of the fetches.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
            tf.errors.InvalidArgumentError: a placeholder was not fed; the message names it.
        """
        nodes, kernels = self._find(handle)
        by_name, needed = {node.name: node for node in nodes}, set()
        to_visit = [tensor_name(fetch) for fetch in fetches]
        to_visit += [tensor_name(node.input[0]) for node in nodes if node.op == "_Send"]
        while to_visit:
            tensor = to_visit.pop()
            name = tensor.partition(":")[0]
            if tensor not in feeds and name not in needed:
                to_visit += [tensor_name(text) for text in by_name[name].input]
            needed.add(name)
        values, waiting = dict(feeds), [node for node in nodes if node.name in needed or node.op in ("_Send", "_Recv")]

        def can_run(node: NodeDef) -> bool:
            return node.op != "_Recv" and all(tensor_name(text) in values for text in node.input)

        while waiting:
            ready = [node for node in waiting if can_run(node)]
            waiting = [node for node in waiting if not any(node is other for other in ready)]
            for node in ready:
                inputs = [values[tensor_name(text)] for text in node.input]
                if node.op == "_Send":
                    rendezvous.send(label_of(node), inputs[0])
                elif node.op != "Placeholder":
                    for index, value in enumerate(kernels[node.name](*inputs)):
                        values.setdefault(f"{node.name}:{index}", value)
                elif f"{node.name}:0" not in values:
                    raise tf.errors.InvalidArgumentError(None, None, f"placeholder {node.name} must be fed")
            if not ready:
                key = rendezvous.any_of([label_of(node) for node in waiting if node.op == "_Recv"])
                node = next(node for node in waiting if node.op == "_Recv" and label_of(node) == key)
                values[f"{node.name}:0"] = rendezvous.recv(key)
                waiting.remove(node)
        return [values[tensor_name(fetch)] for fetch in fetches]

    def deregister(self, handle: str) -> None:
        """Forget a graph.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
        """
        self._find(handle)
        del self._registered[handle]

    def _find(self, handle: str) -> tuple[list[NodeDef], dict]:
        if handle not in self._registered:
            raise tf.errors.AbortedError(None, None, f"Graph handle is not found: {handle}")
        return self._registered[handle]


# %% wrong="worker" why="plays each node again for every reader"
class Worker:
    """Keeps graphs with their kernels, and runs them by handle."""

    def __init__(self, create_kernel: Callable[[NodeDef], Callable[..., list[np.ndarray]]]) -> None:
        self._create_kernel = create_kernel
        self._registered: dict[str, tuple[list[NodeDef], dict]] = {}
        self._count = 0

    def register(self, graph: GraphDef) -> str:
        """Create the kernels of a graph and keep both; the handle to run it by."""
        without = ("_Send", "_Recv", "Placeholder")
        kernels = {node.name: self._create_kernel(node) for node in graph.node if node.op not in without}
        self._count += 1
        handle = f"{self._count:016x}"
        self._registered[handle] = (list(graph.node), kernels)
        return handle

    def run(
        self,
        handle: str,
        feeds: dict[str, np.ndarray],
        fetches: list[str],
        rendezvous: Rendezvous | None = None,
    ) -> list[np.ndarray]:
        """Play a registered graph once; the values of the fetches.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
            tf.errors.InvalidArgumentError: a placeholder was not fed; the message names it.
        """
        nodes, kernels = self._find(handle)
        by_name = {node.name: node for node in nodes}
        values = dict(feeds)
        for node in nodes:
            if node.op == "Placeholder" and f"{node.name}:0" not in feeds:
                raise tf.errors.InvalidArgumentError(None, None, f"placeholder {node.name} must be fed")

        def can_run(tensor: str) -> bool:
            node = by_name[tensor.partition(":")[0]]
            return tensor in values or node.op != "_Recv" and all(can_run(tensor_name(text)) for text in node.input)

        def value_of(tensor: str) -> np.ndarray:
            if tensor in values:
                return values[tensor]
            name, index = tensor.split(":")
            return kernels[name](*[value_of(tensor_name(text)) for text in by_name[name].input])[int(index)]

        sends = [node for node in nodes if node.op == "_Send"]
        receives = {label_of(node): node.name for node in nodes if node.op == "_Recv"}
        while True:
            for node in [send for send in sends if can_run(tensor_name(send.input[0]))]:
                rendezvous.send(label_of(node), value_of(tensor_name(node.input[0])))
                sends.remove(node)
            if not receives:
                break
            key = rendezvous.any_of(list(receives))
            values[f"{receives.pop(key)}:0"] = rendezvous.recv(key)
        return [value_of(tensor_name(fetch)) for fetch in fetches]

    def deregister(self, handle: str) -> None:
        """Forget a graph.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
        """
        self._find(handle)
        del self._registered[handle]

    def _find(self, handle: str) -> tuple[list[NodeDef], dict]:
        if handle not in self._registered:
            raise tf.errors.AbortedError(None, None, f"Graph handle is not found: {handle}")
        return self._registered[handle]


# %% wrong="worker" why="keeps its values in the caller's dict of feeds"
class Worker:
    """Keeps graphs with their kernels, and runs them by handle."""

    def __init__(self, create_kernel: Callable[[NodeDef], Callable[..., list[np.ndarray]]]) -> None:
        self._create_kernel = create_kernel
        self._registered: dict[str, tuple[list[NodeDef], dict]] = {}
        self._count = 0

    def register(self, graph: GraphDef) -> str:
        """Create the kernels of a graph and keep both; the handle to run it by."""
        without = ("_Send", "_Recv", "Placeholder")
        kernels = {node.name: self._create_kernel(node) for node in graph.node if node.op not in without}
        self._count += 1
        handle = f"{self._count:016x}"
        self._registered[handle] = (list(graph.node), kernels)
        return handle

    def run(
        self,
        handle: str,
        feeds: dict[str, np.ndarray],
        fetches: list[str],
        rendezvous: Rendezvous | None = None,
    ) -> list[np.ndarray]:
        """Play a registered graph once; the values of the fetches.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
            tf.errors.InvalidArgumentError: a placeholder was not fed; the message names it.
        """
        nodes, kernels = self._find(handle)
        values, waiting = feeds, list(nodes)

        def can_run(node: NodeDef) -> bool:
            return node.op != "_Recv" and all(tensor_name(text) in values for text in node.input)

        while waiting:
            ready = [node for node in waiting if can_run(node)]
            waiting = [node for node in waiting if not any(node is other for other in ready)]
            for node in ready:
                inputs = [values[tensor_name(text)] for text in node.input]
                if node.op == "_Send":
                    rendezvous.send(label_of(node), inputs[0])
                elif node.op != "Placeholder":
                    for index, value in enumerate(kernels[node.name](*inputs)):
                        values.setdefault(f"{node.name}:{index}", value)
                elif f"{node.name}:0" not in values:
                    raise tf.errors.InvalidArgumentError(None, None, f"placeholder {node.name} must be fed")
            if not ready:
                key = rendezvous.any_of([label_of(node) for node in waiting if node.op == "_Recv"])
                node = next(node for node in waiting if node.op == "_Recv" and label_of(node) == key)
                values[f"{node.name}:0"] = rendezvous.recv(key)
                waiting.remove(node)
        return [values[tensor_name(fetch)] for fetch in fetches]

    def deregister(self, handle: str) -> None:
        """Forget a graph.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
        """
        self._find(handle)
        del self._registered[handle]

    def _find(self, handle: str) -> tuple[list[NodeDef], dict]:
        if handle not in self._registered:
            raise tf.errors.AbortedError(None, None, f"Graph handle is not found: {handle}")
        return self._registered[handle]


# %% wrong="worker" why="takes the node of a fed tensor for done"
class Worker:
    """Keeps graphs with their kernels, and runs them by handle."""

    def __init__(self, create_kernel: Callable[[NodeDef], Callable[..., list[np.ndarray]]]) -> None:
        self._create_kernel = create_kernel
        self._registered: dict[str, tuple[list[NodeDef], dict]] = {}
        self._count = 0

    def register(self, graph: GraphDef) -> str:
        """Create the kernels of a graph and keep both; the handle to run it by."""
        without = ("_Send", "_Recv", "Placeholder")
        kernels = {node.name: self._create_kernel(node) for node in graph.node if node.op not in without}
        self._count += 1
        handle = f"{self._count:016x}"
        self._registered[handle] = (list(graph.node), kernels)
        return handle

    def run(
        self,
        handle: str,
        feeds: dict[str, np.ndarray],
        fetches: list[str],
        rendezvous: Rendezvous | None = None,
    ) -> list[np.ndarray]:
        """Play a registered graph once; the values of the fetches.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
            tf.errors.InvalidArgumentError: a placeholder was not fed; the message names it.
        """
        nodes, kernels = self._find(handle)
        values, fed = dict(feeds), {name.partition(":")[0] for name in feeds}
        waiting = [node for node in nodes if node.name not in fed or node.op == "Placeholder"]

        def can_run(node: NodeDef) -> bool:
            return node.op != "_Recv" and all(tensor_name(text) in values for text in node.input)

        while waiting:
            ready = [node for node in waiting if can_run(node)]
            waiting = [node for node in waiting if not any(node is other for other in ready)]
            for node in ready:
                inputs = [values[tensor_name(text)] for text in node.input]
                if node.op == "_Send":
                    rendezvous.send(label_of(node), inputs[0])
                elif node.op != "Placeholder":
                    for index, value in enumerate(kernels[node.name](*inputs)):
                        values.setdefault(f"{node.name}:{index}", value)
                elif f"{node.name}:0" not in values:
                    raise tf.errors.InvalidArgumentError(None, None, f"placeholder {node.name} must be fed")
            if not ready:
                key = rendezvous.any_of([label_of(node) for node in waiting if node.op == "_Recv"])
                node = next(node for node in waiting if node.op == "_Recv" and label_of(node) == key)
                values[f"{node.name}:0"] = rendezvous.recv(key)
                waiting.remove(node)
        return [values[tensor_name(fetch)] for fetch in fetches]

    def deregister(self, handle: str) -> None:
        """Forget a graph.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
        """
        self._find(handle)
        del self._registered[handle]

    def _find(self, handle: str) -> tuple[list[NodeDef], dict]:
        if handle not in self._registered:
            raise tf.errors.AbortedError(None, None, f"Graph handle is not found: {handle}")
        return self._registered[handle]


# %% wrong="worker" why="posts a Send only if something is fetched"
class Worker:
    """Keeps graphs with their kernels, and runs them by handle."""

    def __init__(self, create_kernel: Callable[[NodeDef], Callable[..., list[np.ndarray]]]) -> None:
        self._create_kernel = create_kernel
        self._registered: dict[str, tuple[list[NodeDef], dict]] = {}
        self._count = 0

    def register(self, graph: GraphDef) -> str:
        """Create the kernels of a graph and keep both; the handle to run it by."""
        without = ("_Send", "_Recv", "Placeholder")
        kernels = {node.name: self._create_kernel(node) for node in graph.node if node.op not in without}
        self._count += 1
        handle = f"{self._count:016x}"
        self._registered[handle] = (list(graph.node), kernels)
        return handle

    def run(
        self,
        handle: str,
        feeds: dict[str, np.ndarray],
        fetches: list[str],
        rendezvous: Rendezvous | None = None,
    ) -> list[np.ndarray]:
        """Play a registered graph once; the values of the fetches.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
            tf.errors.InvalidArgumentError: a placeholder was not fed; the message names it.
        """
        nodes, kernels = self._find(handle)
        if not fetches:
            return []
        values, waiting = dict(feeds), list(nodes)

        def can_run(node: NodeDef) -> bool:
            return node.op != "_Recv" and all(tensor_name(text) in values for text in node.input)

        while waiting:
            ready = [node for node in waiting if can_run(node)]
            waiting = [node for node in waiting if not any(node is other for other in ready)]
            for node in ready:
                inputs = [values[tensor_name(text)] for text in node.input]
                if node.op == "_Send":
                    rendezvous.send(label_of(node), inputs[0])
                elif node.op != "Placeholder":
                    for index, value in enumerate(kernels[node.name](*inputs)):
                        values.setdefault(f"{node.name}:{index}", value)
                elif f"{node.name}:0" not in values:
                    raise tf.errors.InvalidArgumentError(None, None, f"placeholder {node.name} must be fed")
            if not ready:
                key = rendezvous.any_of([label_of(node) for node in waiting if node.op == "_Recv"])
                node = next(node for node in waiting if node.op == "_Recv" and label_of(node) == key)
                values[f"{node.name}:0"] = rendezvous.recv(key)
                waiting.remove(node)
        return [values[tensor_name(fetch)] for fetch in fetches]

    def deregister(self, handle: str) -> None:
        """Forget a graph.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
        """
        self._find(handle)
        del self._registered[handle]

    def _find(self, handle: str) -> tuple[list[NodeDef], dict]:
        if handle not in self._registered:
            raise tf.errors.AbortedError(None, None, f"Graph handle is not found: {handle}")
        return self._registered[handle]


# %% wrong="worker" why="forgets the index of a fetch"
class Worker:
    """Keeps graphs with their kernels, and runs them by handle."""

    def __init__(self, create_kernel: Callable[[NodeDef], Callable[..., list[np.ndarray]]]) -> None:
        self._create_kernel = create_kernel
        self._registered: dict[str, tuple[list[NodeDef], dict]] = {}
        self._count = 0

    def register(self, graph: GraphDef) -> str:
        """Create the kernels of a graph and keep both; the handle to run it by."""
        without = ("_Send", "_Recv", "Placeholder")
        kernels = {node.name: self._create_kernel(node) for node in graph.node if node.op not in without}
        self._count += 1
        handle = f"{self._count:016x}"
        self._registered[handle] = (list(graph.node), kernels)
        return handle

    def run(
        self,
        handle: str,
        feeds: dict[str, np.ndarray],
        fetches: list[str],
        rendezvous: Rendezvous | None = None,
    ) -> list[np.ndarray]:
        """Play a registered graph once; the values of the fetches.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
            tf.errors.InvalidArgumentError: a placeholder was not fed; the message names it.
        """
        nodes, kernels = self._find(handle)
        values, waiting = dict(feeds), list(nodes)

        def can_run(node: NodeDef) -> bool:
            return node.op != "_Recv" and all(tensor_name(text) in values for text in node.input)

        while waiting:
            ready = [node for node in waiting if can_run(node)]
            waiting = [node for node in waiting if not any(node is other for other in ready)]
            for node in ready:
                inputs = [values[tensor_name(text)] for text in node.input]
                if node.op == "_Send":
                    rendezvous.send(label_of(node), inputs[0])
                elif node.op != "Placeholder":
                    for index, value in enumerate(kernels[node.name](*inputs)):
                        values.setdefault(f"{node.name}:{index}", value)
                elif f"{node.name}:0" not in values:
                    raise tf.errors.InvalidArgumentError(None, None, f"placeholder {node.name} must be fed")
            if not ready:
                key = rendezvous.any_of([label_of(node) for node in waiting if node.op == "_Recv"])
                node = next(node for node in waiting if node.op == "_Recv" and label_of(node) == key)
                values[f"{node.name}:0"] = rendezvous.recv(key)
                waiting.remove(node)
        return [values[fetch.partition(":")[0] + ":0"] for fetch in fetches]

    def deregister(self, handle: str) -> None:
        """Forget a graph.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
        """
        self._find(handle)
        del self._registered[handle]

    def _find(self, handle: str) -> tuple[list[NodeDef], dict]:
        if handle not in self._registered:
            raise tf.errors.AbortedError(None, None, f"Graph handle is not found: {handle}")
        return self._registered[handle]


# %% wrong="worker" why="lets an unfed placeholder end in a KeyError"
class Worker:
    """Keeps graphs with their kernels, and runs them by handle."""

    def __init__(self, create_kernel: Callable[[NodeDef], Callable[..., list[np.ndarray]]]) -> None:
        self._create_kernel = create_kernel
        self._registered: dict[str, tuple[list[NodeDef], dict]] = {}
        self._count = 0

    def register(self, graph: GraphDef) -> str:
        """Create the kernels of a graph and keep both; the handle to run it by."""
        without = ("_Send", "_Recv", "Placeholder")
        kernels = {node.name: self._create_kernel(node) for node in graph.node if node.op not in without}
        self._count += 1
        handle = f"{self._count:016x}"
        self._registered[handle] = (list(graph.node), kernels)
        return handle

    def run(
        self,
        handle: str,
        feeds: dict[str, np.ndarray],
        fetches: list[str],
        rendezvous: Rendezvous | None = None,
    ) -> list[np.ndarray]:
        """Play a registered graph once; the values of the fetches.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
            tf.errors.InvalidArgumentError: a placeholder was not fed; the message names it.
        """
        nodes, kernels = self._find(handle)
        values, waiting = dict(feeds), list(nodes)

        def can_run(node: NodeDef) -> bool:
            return node.op != "_Recv" and all(tensor_name(text) in values for text in node.input)

        while waiting:
            ready = [node for node in waiting if can_run(node)]
            waiting = [node for node in waiting if not any(node is other for other in ready)]
            for node in ready:
                inputs = [values[tensor_name(text)] for text in node.input]
                if node.op == "_Send":
                    rendezvous.send(label_of(node), inputs[0])
                elif node.op != "Placeholder":
                    for index, value in enumerate(kernels[node.name](*inputs)):
                        values.setdefault(f"{node.name}:{index}", value)
                elif f"{node.name}:0" not in values:
                    raise KeyError(node.name)
            if not ready:
                key = rendezvous.any_of([label_of(node) for node in waiting if node.op == "_Recv"])
                node = next(node for node in waiting if node.op == "_Recv" and label_of(node) == key)
                values[f"{node.name}:0"] = rendezvous.recv(key)
                waiting.remove(node)
        return [values[tensor_name(fetch)] for fetch in fetches]

    def deregister(self, handle: str) -> None:
        """Forget a graph.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
        """
        self._find(handle)
        del self._registered[handle]

    def _find(self, handle: str) -> tuple[list[NodeDef], dict]:
        if handle not in self._registered:
            raise tf.errors.AbortedError(None, None, f"Graph handle is not found: {handle}")
        return self._registered[handle]


# %% wrong="worker" why="refuses an unknown handle with a KeyError"
class Worker:
    """Keeps graphs with their kernels, and runs them by handle."""

    def __init__(self, create_kernel: Callable[[NodeDef], Callable[..., list[np.ndarray]]]) -> None:
        self._create_kernel = create_kernel
        self._registered: dict[str, tuple[list[NodeDef], dict]] = {}
        self._count = 0

    def register(self, graph: GraphDef) -> str:
        """Create the kernels of a graph and keep both; the handle to run it by."""
        without = ("_Send", "_Recv", "Placeholder")
        kernels = {node.name: self._create_kernel(node) for node in graph.node if node.op not in without}
        self._count += 1
        handle = f"{self._count:016x}"
        self._registered[handle] = (list(graph.node), kernels)
        return handle

    def run(
        self,
        handle: str,
        feeds: dict[str, np.ndarray],
        fetches: list[str],
        rendezvous: Rendezvous | None = None,
    ) -> list[np.ndarray]:
        """Play a registered graph once; the values of the fetches.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
            tf.errors.InvalidArgumentError: a placeholder was not fed; the message names it.
        """
        nodes, kernels = self._find(handle)
        values, waiting = dict(feeds), list(nodes)

        def can_run(node: NodeDef) -> bool:
            return node.op != "_Recv" and all(tensor_name(text) in values for text in node.input)

        while waiting:
            ready = [node for node in waiting if can_run(node)]
            waiting = [node for node in waiting if not any(node is other for other in ready)]
            for node in ready:
                inputs = [values[tensor_name(text)] for text in node.input]
                if node.op == "_Send":
                    rendezvous.send(label_of(node), inputs[0])
                elif node.op != "Placeholder":
                    for index, value in enumerate(kernels[node.name](*inputs)):
                        values.setdefault(f"{node.name}:{index}", value)
                elif f"{node.name}:0" not in values:
                    raise tf.errors.InvalidArgumentError(None, None, f"placeholder {node.name} must be fed")
            if not ready:
                key = rendezvous.any_of([label_of(node) for node in waiting if node.op == "_Recv"])
                node = next(node for node in waiting if node.op == "_Recv" and label_of(node) == key)
                values[f"{node.name}:0"] = rendezvous.recv(key)
                waiting.remove(node)
        return [values[tensor_name(fetch)] for fetch in fetches]

    def deregister(self, handle: str) -> None:
        """Forget a graph.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
        """
        self._find(handle)
        del self._registered[handle]

    def _find(self, handle: str) -> tuple[list[NodeDef], dict]:
        if handle not in self._registered:
            raise KeyError(handle)
        return self._registered[handle]


# %% wrong="worker" why="lets deregister pass for an unknown handle"
class Worker:
    """Keeps graphs with their kernels, and runs them by handle."""

    def __init__(self, create_kernel: Callable[[NodeDef], Callable[..., list[np.ndarray]]]) -> None:
        self._create_kernel = create_kernel
        self._registered: dict[str, tuple[list[NodeDef], dict]] = {}
        self._count = 0

    def register(self, graph: GraphDef) -> str:
        """Create the kernels of a graph and keep both; the handle to run it by."""
        without = ("_Send", "_Recv", "Placeholder")
        kernels = {node.name: self._create_kernel(node) for node in graph.node if node.op not in without}
        self._count += 1
        handle = f"{self._count:016x}"
        self._registered[handle] = (list(graph.node), kernels)
        return handle

    def run(
        self,
        handle: str,
        feeds: dict[str, np.ndarray],
        fetches: list[str],
        rendezvous: Rendezvous | None = None,
    ) -> list[np.ndarray]:
        """Play a registered graph once; the values of the fetches.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
            tf.errors.InvalidArgumentError: a placeholder was not fed; the message names it.
        """
        nodes, kernels = self._find(handle)
        values, waiting = dict(feeds), list(nodes)

        def can_run(node: NodeDef) -> bool:
            return node.op != "_Recv" and all(tensor_name(text) in values for text in node.input)

        while waiting:
            ready = [node for node in waiting if can_run(node)]
            waiting = [node for node in waiting if not any(node is other for other in ready)]
            for node in ready:
                inputs = [values[tensor_name(text)] for text in node.input]
                if node.op == "_Send":
                    rendezvous.send(label_of(node), inputs[0])
                elif node.op != "Placeholder":
                    for index, value in enumerate(kernels[node.name](*inputs)):
                        values.setdefault(f"{node.name}:{index}", value)
                elif f"{node.name}:0" not in values:
                    raise tf.errors.InvalidArgumentError(None, None, f"placeholder {node.name} must be fed")
            if not ready:
                key = rendezvous.any_of([label_of(node) for node in waiting if node.op == "_Recv"])
                node = next(node for node in waiting if node.op == "_Recv" and label_of(node) == key)
                values[f"{node.name}:0"] = rendezvous.recv(key)
                waiting.remove(node)
        return [values[tensor_name(fetch)] for fetch in fetches]

    def deregister(self, handle: str) -> None:
        """Forget a graph.

        Raises:
            tf.errors.AbortedError: the handle is unknown; the message holds it.
        """
        self._registered.pop(handle, None)

    def _find(self, handle: str) -> tuple[list[NodeDef], dict]:
        if handle not in self._registered:
            raise tf.errors.AbortedError(None, None, f"Graph handle is not found: {handle}")
        return self._registered[handle]


# %% right="worker" why="pending counts and a queue of ready nodes"
class Worker:
    def __init__(self, create_kernel):
        self.make, self.items, self.last = create_kernel, {}, 0

    def register(self, graph):
        self.last += 1
        kernels, readers = {}, {}
        for node in graph.node:
            if node.op not in ("_Send", "_Recv", "Placeholder"):
                kernels[node.name] = self.make(node)
            for text in node.input:
                readers.setdefault(tensor_name(text), []).append(node.name)
        self.items["%016x" % self.last] = ({node.name: node for node in graph.node}, kernels, readers)
        return "%016x" % self.last

    def deregister(self, handle):
        if self.items.pop(handle, None) is None:
            raise tf.errors.AbortedError(None, None, handle + " is not registered")

    def run(self, handle, feeds, fetches, rendezvous=None):
        if handle not in self.items:
            raise tf.errors.AbortedError(None, None, "unknown handle " + handle)
        nodes, kernels, readers = self.items[handle]
        pending = {name: len(node.input) for name, node in nodes.items()}
        letters = {label_of(node): name for name, node in nodes.items() if node.op == "_Recv"}
        values, queue = {}, [name for name, node in nodes.items() if not node.input and node.op != "_Recv"]

        def deliver(tensor, value):
            if tensor in values:
                return
            values[tensor] = value
            for reader in readers.get(tensor, []):
                pending[reader] -= 1
                if pending[reader] == 0:
                    queue.append(reader)

        for tensor, value in feeds.items():
            deliver(tensor, value)
        while queue or letters:
            if not queue:
                key = rendezvous.any_of(list(letters))
                deliver(letters.pop(key) + ":0", rendezvous.recv(key))
                continue
            node = nodes[queue.pop()]
            inputs = [values[tensor_name(text)] for text in node.input]
            if node.op == "_Send":
                rendezvous.send(label_of(node), *inputs)
            elif node.op == "Placeholder":
                if node.name + ":0" not in feeds:
                    raise tf.errors.InvalidArgumentError(None, None, "feed the placeholder " + node.name)
            else:
                for index, value in enumerate(kernels[node.name](*inputs)):
                    deliver(f"{node.name}:{index}", value)
        return [values[tensor_name(fetch)] for fetch in fetches]


# %% right="worker" why="works backwards by recursion, from Sends and then from all nodes, and takes letters when it is stuck"
class Worker:
    def __init__(self, create_kernel):
        self._create_kernel = create_kernel
        self._graphs = {}
        self._handles = itertools.count(1)

    def register(self, graph):
        nodes = {node.name: node for node in graph.node}
        own = [node for node in graph.node if node.op not in {"_Send", "_Recv", "Placeholder"}]
        handle = format(next(self._handles), "016x")
        self._graphs[handle] = nodes, {node.name: self._create_kernel(node) for node in own}
        return handle

    def deregister(self, handle):
        self._get(handle)
        self._graphs.pop(handle)

    def _get(self, handle):
        try:
            return self._graphs[handle]
        except KeyError:
            raise tf.errors.AbortedError(None, None, f"no graph {handle}") from None

    def run(self, handle, feeds, fetches, rendezvous=None):
        nodes, kernels = self._get(handle)
        values = {**feeds}
        for node in nodes.values():
            if node.op == "Placeholder" and node.name + ":0" not in feeds:
                raise tf.errors.InvalidArgumentError(None, None, f"nothing was fed for {node.name}")
        wanted = [tensor_name(fetch) for fetch in fetches]
        sends = [node for node in nodes.values() if node.op == "_Send"]
        coming = {label_of(node): node.name for node in nodes.values() if node.op == "_Recv"}

        def compute(tensor):
            """True if the tensor is there now; False if it waits for a letter."""
            if tensor in values:
                return True
            node = nodes[tensor.partition(":")[0]]
            if node.op == "_Recv":
                return False
            tensors = [tensor_name(text) for text in node.input]
            if not all([compute(other) for other in tensors]):
                return False
            for index, value in enumerate(kernels[node.name](*[values[other] for other in tensors])):
                if f"{node.name}:{index}" not in values:
                    values[f"{node.name}:{index}"] = value
            return True

        posted = set()
        while True:
            for node in sends:
                if node.name not in posted and compute(tensor_name(node.input[0])):
                    rendezvous.send(label_of(node), values[tensor_name(node.input[0])])
                    posted.add(node.name)
            if not coming:
                break
            key = rendezvous.any_of(list(coming))
            values[coming.pop(key) + ":0"] = rendezvous.recv(key)
        for node in nodes.values():
            if node.op != "_Send":
                compute(f"{node.name}:0")
        for tensor in wanted:
            compute(tensor)
        return [values[tensor] for tensor in wanted]


# %% wrong="run-step" why="plays the parts one after the other"
def run_step(
    parts: dict[str, GraphDef],
    feeds: dict[str, np.ndarray],
    fetches: list[str],
    play: Callable[[GraphDef, dict[str, np.ndarray], list[str], Rendezvous], list[np.ndarray]],
    new_rendezvous: Callable[[], Rendezvous],
) -> list[np.ndarray]:
    """Run one step: all parts at once, with one rendezvous.

    Raises:
        ValueError: the node of a fetch is in no part; the message names it.
        the first error that a part raised.
    """
    home = {node.name: device for device, part in parts.items() for node in part.node}
    for fetch in fetches:
        if fetch.partition(":")[0] not in home:
            raise ValueError(f"no part has the node {fetch.partition(':')[0]!r}")

    def of(device: str, names: list[str]) -> list[str]:
        return [name for name in dict.fromkeys(names) if home.get(name.partition(":")[0]) == device]

    rendezvous, values, errors = new_rendezvous(), {}, []

    def run(device: str) -> None:
        mine = of(device, fetches)
        try:
            fed = {name: feeds[name] for name in of(device, list(feeds))}
            values.update(zip(mine, play(parts[device], fed, mine, rendezvous), strict=True))
        except Exception as error:
            errors.append(error)
            rendezvous.abort(f"{device}: {error}")

    threads = [threading.Thread(target=run, args=(device,)) for device in parts]
    for thread in threads:
        thread.start()
        thread.join()
    if errors:
        raise errors[0]
    return [values[fetch] for fetch in fetches]


# %% wrong="run-step" why="plays the parts in its own thread"
def run_step(
    parts: dict[str, GraphDef],
    feeds: dict[str, np.ndarray],
    fetches: list[str],
    play: Callable[[GraphDef, dict[str, np.ndarray], list[str], Rendezvous], list[np.ndarray]],
    new_rendezvous: Callable[[], Rendezvous],
) -> list[np.ndarray]:
    """Run one step: all parts at once, with one rendezvous.

    Raises:
        ValueError: the node of a fetch is in no part; the message names it.
        the first error that a part raised.
    """
    home = {node.name: device for device, part in parts.items() for node in part.node}
    for fetch in fetches:
        if fetch.partition(":")[0] not in home:
            raise ValueError(f"no part has the node {fetch.partition(':')[0]!r}")

    def of(device: str, names: list[str]) -> list[str]:
        return [name for name in dict.fromkeys(names) if home.get(name.partition(":")[0]) == device]

    rendezvous, values, errors = new_rendezvous(), {}, []

    def run(device: str) -> None:
        mine = of(device, fetches)
        try:
            fed = {name: feeds[name] for name in of(device, list(feeds))}
            values.update(zip(mine, play(parts[device], fed, mine, rendezvous), strict=True))
        except Exception as error:
            errors.append(error)
            rendezvous.abort(f"{device}: {error}")

    for device in parts:
        run(device)
    if errors:
        raise errors[0]
    return [values[fetch] for fetch in fetches]


# %% wrong="run-step" why="one rendezvous for all steps"
def run_step(
    parts: dict[str, GraphDef],
    feeds: dict[str, np.ndarray],
    fetches: list[str],
    play: Callable[[GraphDef, dict[str, np.ndarray], list[str], Rendezvous], list[np.ndarray]],
    new_rendezvous: Callable[[], Rendezvous],
) -> list[np.ndarray]:
    """Run one step: all parts at once, with one rendezvous.

    Raises:
        ValueError: the node of a fetch is in no part; the message names it.
        the first error that a part raised.
    """
    home = {node.name: device for device, part in parts.items() for node in part.node}
    for fetch in fetches:
        if fetch.partition(":")[0] not in home:
            raise ValueError(f"no part has the node {fetch.partition(':')[0]!r}")

    def of(device: str, names: list[str]) -> list[str]:
        return [name for name in dict.fromkeys(names) if home.get(name.partition(":")[0]) == device]

    if not hasattr(run_step, "rendezvous"):
        run_step.rendezvous = new_rendezvous()
    rendezvous, values, errors = run_step.rendezvous, {}, []

    def run(device: str) -> None:
        mine = of(device, fetches)
        try:
            fed = {name: feeds[name] for name in of(device, list(feeds))}
            values.update(zip(mine, play(parts[device], fed, mine, rendezvous), strict=True))
        except Exception as error:
            errors.append(error)
            rendezvous.abort(f"{device}: {error}")

    threads = [threading.Thread(target=run, args=(device,)) for device in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return [values[fetch] for fetch in fetches]


# %% wrong="run-step" why="a rendezvous for each part"
def run_step(
    parts: dict[str, GraphDef],
    feeds: dict[str, np.ndarray],
    fetches: list[str],
    play: Callable[[GraphDef, dict[str, np.ndarray], list[str], Rendezvous], list[np.ndarray]],
    new_rendezvous: Callable[[], Rendezvous],
) -> list[np.ndarray]:
    """Run one step: all parts at once, with one rendezvous.

    Raises:
        ValueError: the node of a fetch is in no part; the message names it.
        the first error that a part raised.
    """
    home = {node.name: device for device, part in parts.items() for node in part.node}
    for fetch in fetches:
        if fetch.partition(":")[0] not in home:
            raise ValueError(f"no part has the node {fetch.partition(':')[0]!r}")

    def of(device: str, names: list[str]) -> list[str]:
        return [name for name in dict.fromkeys(names) if home.get(name.partition(":")[0]) == device]

    rendezvous, values, errors = new_rendezvous(), {}, []

    def run(device: str) -> None:
        mine = of(device, fetches)
        try:
            fed = {name: feeds[name] for name in of(device, list(feeds))}
            values.update(zip(mine, play(parts[device], fed, mine, new_rendezvous()), strict=True))
        except Exception as error:
            errors.append(error)
            rendezvous.abort(f"{device}: {error}")

    threads = [threading.Thread(target=run, args=(device,)) for device in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return [values[fetch] for fetch in fetches]


# %% wrong="run-step" why="gives the results part by part"
def run_step(
    parts: dict[str, GraphDef],
    feeds: dict[str, np.ndarray],
    fetches: list[str],
    play: Callable[[GraphDef, dict[str, np.ndarray], list[str], Rendezvous], list[np.ndarray]],
    new_rendezvous: Callable[[], Rendezvous],
) -> list[np.ndarray]:
    """Run one step: all parts at once, with one rendezvous.

    Raises:
        ValueError: the node of a fetch is in no part; the message names it.
        the first error that a part raised.
    """
    home = {node.name: device for device, part in parts.items() for node in part.node}
    for fetch in fetches:
        if fetch.partition(":")[0] not in home:
            raise ValueError(f"no part has the node {fetch.partition(':')[0]!r}")

    def of(device: str, names: list[str]) -> list[str]:
        return [name for name in dict.fromkeys(names) if home.get(name.partition(":")[0]) == device]

    rendezvous, values, errors = new_rendezvous(), {}, []

    def run(device: str) -> None:
        mine = of(device, fetches)
        try:
            fed = {name: feeds[name] for name in of(device, list(feeds))}
            values.update(zip(mine, play(parts[device], fed, mine, rendezvous), strict=True))
        except Exception as error:
            errors.append(error)
            rendezvous.abort(f"{device}: {error}")

    threads = [threading.Thread(target=run, args=(device,)) for device in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return [values[fetch] for device in parts for fetch in fetches if home[fetch.partition(":")[0]] == device]


# %% wrong="run-step" why="gives a repeated fetch once"
def run_step(
    parts: dict[str, GraphDef],
    feeds: dict[str, np.ndarray],
    fetches: list[str],
    play: Callable[[GraphDef, dict[str, np.ndarray], list[str], Rendezvous], list[np.ndarray]],
    new_rendezvous: Callable[[], Rendezvous],
) -> list[np.ndarray]:
    """Run one step: all parts at once, with one rendezvous.

    Raises:
        ValueError: the node of a fetch is in no part; the message names it.
        the first error that a part raised.
    """
    home = {node.name: device for device, part in parts.items() for node in part.node}
    for fetch in fetches:
        if fetch.partition(":")[0] not in home:
            raise ValueError(f"no part has the node {fetch.partition(':')[0]!r}")

    def of(device: str, names: list[str]) -> list[str]:
        return [name for name in dict.fromkeys(names) if home.get(name.partition(":")[0]) == device]

    rendezvous, values, errors = new_rendezvous(), {}, []

    def run(device: str) -> None:
        mine = of(device, fetches)
        try:
            fed = {name: feeds[name] for name in of(device, list(feeds))}
            values.update(zip(mine, play(parts[device], fed, mine, rendezvous), strict=True))
        except Exception as error:
            errors.append(error)
            rendezvous.abort(f"{device}: {error}")

    threads = [threading.Thread(target=run, args=(device,)) for device in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return [values[fetch] for fetch in dict.fromkeys(fetches)]


# %% wrong="run-step" why="raises the error of the first part in the dict, be it the abort's"
def run_step(
    parts: dict[str, GraphDef],
    feeds: dict[str, np.ndarray],
    fetches: list[str],
    play: Callable[[GraphDef, dict[str, np.ndarray], list[str], Rendezvous], list[np.ndarray]],
    new_rendezvous: Callable[[], Rendezvous],
) -> list[np.ndarray]:
    """Run one step: all parts at once, with one rendezvous.

    Raises:
        ValueError: the node of a fetch is in no part; the message names it.
        the first error that a part raised.
    """
    home = {node.name: device for device, part in parts.items() for node in part.node}
    for fetch in fetches:
        if fetch.partition(":")[0] not in home:
            raise ValueError(f"no part has the node {fetch.partition(':')[0]!r}")

    def of(device: str, names: list[str]) -> list[str]:
        return [name for name in dict.fromkeys(names) if home.get(name.partition(":")[0]) == device]

    rendezvous, values, errors = new_rendezvous(), {}, []

    def run(device: str) -> None:
        mine = of(device, fetches)
        try:
            fed = {name: feeds[name] for name in of(device, list(feeds))}
            values.update(zip(mine, play(parts[device], fed, mine, rendezvous), strict=True))
        except Exception as error:
            errors.append((list(parts).index(device), error))
            rendezvous.abort(f"{device}: {error}")

    threads = [threading.Thread(target=run, args=(device,)) for device in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise min(errors, key=lambda pair: pair[0])[1]
    return [values[fetch] for fetch in fetches]


# %% wrong="run-step" why="leaves the abort's errors out, then raises that of the first part"
def run_step(
    parts: dict[str, GraphDef],
    feeds: dict[str, np.ndarray],
    fetches: list[str],
    play: Callable[[GraphDef, dict[str, np.ndarray], list[str], Rendezvous], list[np.ndarray]],
    new_rendezvous: Callable[[], Rendezvous],
) -> list[np.ndarray]:
    """Run one step: all parts at once, with one rendezvous.

    Raises:
        ValueError: the node of a fetch is in no part; the message names it.
        the first error that a part raised.
    """
    home = {node.name: device for device, part in parts.items() for node in part.node}
    for fetch in fetches:
        if fetch.partition(":")[0] not in home:
            raise ValueError(f"no part has the node {fetch.partition(':')[0]!r}")

    def of(device: str, names: list[str]) -> list[str]:
        return [name for name in dict.fromkeys(names) if home.get(name.partition(":")[0]) == device]

    rendezvous, values, errors = new_rendezvous(), {}, []

    def run(device: str) -> None:
        mine = of(device, fetches)
        try:
            fed = {name: feeds[name] for name in of(device, list(feeds))}
            values.update(zip(mine, play(parts[device], fed, mine, rendezvous), strict=True))
        except Exception as error:
            if not isinstance(error, StepAborted):
                errors.append((list(parts).index(device), error))
            rendezvous.abort(f"{device}: {error}")

    threads = [threading.Thread(target=run, args=(device,)) for device in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise min(errors, key=lambda pair: pair[0])[1]
    return [values[fetch] for fetch in fetches]


# %% wrong="run-step" why="raises the last error"
def run_step(
    parts: dict[str, GraphDef],
    feeds: dict[str, np.ndarray],
    fetches: list[str],
    play: Callable[[GraphDef, dict[str, np.ndarray], list[str], Rendezvous], list[np.ndarray]],
    new_rendezvous: Callable[[], Rendezvous],
) -> list[np.ndarray]:
    """Run one step: all parts at once, with one rendezvous.

    Raises:
        ValueError: the node of a fetch is in no part; the message names it.
        the first error that a part raised.
    """
    home = {node.name: device for device, part in parts.items() for node in part.node}
    for fetch in fetches:
        if fetch.partition(":")[0] not in home:
            raise ValueError(f"no part has the node {fetch.partition(':')[0]!r}")

    def of(device: str, names: list[str]) -> list[str]:
        return [name for name in dict.fromkeys(names) if home.get(name.partition(":")[0]) == device]

    rendezvous, values, errors = new_rendezvous(), {}, []

    def run(device: str) -> None:
        mine = of(device, fetches)
        try:
            fed = {name: feeds[name] for name in of(device, list(feeds))}
            values.update(zip(mine, play(parts[device], fed, mine, rendezvous), strict=True))
        except Exception as error:
            errors.append(error)
            rendezvous.abort(f"{device}: {error}")

    threads = [threading.Thread(target=run, args=(device,)) for device in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[-1]
    return [values[fetch] for fetch in fetches]


# %% wrong="run-step" why="aborts before it notes the error"
def run_step(
    parts: dict[str, GraphDef],
    feeds: dict[str, np.ndarray],
    fetches: list[str],
    play: Callable[[GraphDef, dict[str, np.ndarray], list[str], Rendezvous], list[np.ndarray]],
    new_rendezvous: Callable[[], Rendezvous],
) -> list[np.ndarray]:
    """Run one step: all parts at once, with one rendezvous.

    Raises:
        ValueError: the node of a fetch is in no part; the message names it.
        the first error that a part raised.
    """
    home = {node.name: device for device, part in parts.items() for node in part.node}
    for fetch in fetches:
        if fetch.partition(":")[0] not in home:
            raise ValueError(f"no part has the node {fetch.partition(':')[0]!r}")

    def of(device: str, names: list[str]) -> list[str]:
        return [name for name in dict.fromkeys(names) if home.get(name.partition(":")[0]) == device]

    rendezvous, values, errors = new_rendezvous(), {}, []

    def run(device: str) -> None:
        mine = of(device, fetches)
        try:
            fed = {name: feeds[name] for name in of(device, list(feeds))}
            values.update(zip(mine, play(parts[device], fed, mine, rendezvous), strict=True))
        except Exception as error:
            rendezvous.abort(f"{device}: {error}")
            errors.append(error)

    threads = [threading.Thread(target=run, args=(device,)) for device in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return [values[fetch] for fetch in fetches]


# %% wrong="run-step" why="does not abort"
def run_step(
    parts: dict[str, GraphDef],
    feeds: dict[str, np.ndarray],
    fetches: list[str],
    play: Callable[[GraphDef, dict[str, np.ndarray], list[str], Rendezvous], list[np.ndarray]],
    new_rendezvous: Callable[[], Rendezvous],
) -> list[np.ndarray]:
    """Run one step: all parts at once, with one rendezvous.

    Raises:
        ValueError: the node of a fetch is in no part; the message names it.
        the first error that a part raised.
    """
    home = {node.name: device for device, part in parts.items() for node in part.node}
    for fetch in fetches:
        if fetch.partition(":")[0] not in home:
            raise ValueError(f"no part has the node {fetch.partition(':')[0]!r}")

    def of(device: str, names: list[str]) -> list[str]:
        return [name for name in dict.fromkeys(names) if home.get(name.partition(":")[0]) == device]

    rendezvous, values, errors = new_rendezvous(), {}, []

    def run(device: str) -> None:
        mine = of(device, fetches)
        try:
            fed = {name: feeds[name] for name in of(device, list(feeds))}
            values.update(zip(mine, play(parts[device], fed, mine, rendezvous), strict=True))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(device,)) for device in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return [values[fetch] for fetch in fetches]


# %% wrong="run-step" why="raises as soon as a part has failed, and leaves the others running"
def run_step(
    parts: dict[str, GraphDef],
    feeds: dict[str, np.ndarray],
    fetches: list[str],
    play: Callable[[GraphDef, dict[str, np.ndarray], list[str], Rendezvous], list[np.ndarray]],
    new_rendezvous: Callable[[], Rendezvous],
) -> list[np.ndarray]:
    """Run one step: all parts at once, with one rendezvous.

    Raises:
        ValueError: the node of a fetch is in no part; the message names it.
        the first error that a part raised.
    """
    home = {node.name: device for device, part in parts.items() for node in part.node}
    for fetch in fetches:
        if fetch.partition(":")[0] not in home:
            raise ValueError(f"no part has the node {fetch.partition(':')[0]!r}")

    def of(device: str, names: list[str]) -> list[str]:
        return [name for name in dict.fromkeys(names) if home.get(name.partition(":")[0]) == device]

    rendezvous, values, errors = new_rendezvous(), {}, []

    def run(device: str) -> None:
        mine = of(device, fetches)
        try:
            fed = {name: feeds[name] for name in of(device, list(feeds))}
            values.update(zip(mine, play(parts[device], fed, mine, rendezvous), strict=True))
        except Exception as error:
            errors.append(error)
            rendezvous.abort(f"{device}: {error}")

    threads = [threading.Thread(target=run, args=(device,)) for device in parts]
    for thread in threads:
        thread.start()
    while not errors and any(thread.is_alive() for thread in threads):
        threading.Event().wait(0.001)
    if errors:
        raise errors[0]
    return [values[fetch] for fetch in fetches]


# %% wrong="run-step" why="does not wait for the threads for long"
def run_step(
    parts: dict[str, GraphDef],
    feeds: dict[str, np.ndarray],
    fetches: list[str],
    play: Callable[[GraphDef, dict[str, np.ndarray], list[str], Rendezvous], list[np.ndarray]],
    new_rendezvous: Callable[[], Rendezvous],
) -> list[np.ndarray]:
    """Run one step: all parts at once, with one rendezvous.

    Raises:
        ValueError: the node of a fetch is in no part; the message names it.
        the first error that a part raised.
    """
    home = {node.name: device for device, part in parts.items() for node in part.node}
    for fetch in fetches:
        if fetch.partition(":")[0] not in home:
            raise ValueError(f"no part has the node {fetch.partition(':')[0]!r}")

    def of(device: str, names: list[str]) -> list[str]:
        return [name for name in dict.fromkeys(names) if home.get(name.partition(":")[0]) == device]

    rendezvous, values, errors = new_rendezvous(), {}, []

    def run(device: str) -> None:
        mine = of(device, fetches)
        try:
            fed = {name: feeds[name] for name in of(device, list(feeds))}
            values.update(zip(mine, play(parts[device], fed, mine, rendezvous), strict=True))
        except Exception as error:
            errors.append(error)
            rendezvous.abort(f"{device}: {error}")

    threads = [threading.Thread(target=run, args=(device,)) for device in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(0.3)
    if errors:
        raise errors[0]
    return [values[fetch] for fetch in fetches]


# %% wrong="run-step" why="wraps the error in another"
def run_step(
    parts: dict[str, GraphDef],
    feeds: dict[str, np.ndarray],
    fetches: list[str],
    play: Callable[[GraphDef, dict[str, np.ndarray], list[str], Rendezvous], list[np.ndarray]],
    new_rendezvous: Callable[[], Rendezvous],
) -> list[np.ndarray]:
    """Run one step: all parts at once, with one rendezvous.

    Raises:
        ValueError: the node of a fetch is in no part; the message names it.
        the first error that a part raised.
    """
    home = {node.name: device for device, part in parts.items() for node in part.node}
    for fetch in fetches:
        if fetch.partition(":")[0] not in home:
            raise ValueError(f"no part has the node {fetch.partition(':')[0]!r}")

    def of(device: str, names: list[str]) -> list[str]:
        return [name for name in dict.fromkeys(names) if home.get(name.partition(":")[0]) == device]

    rendezvous, values, errors = new_rendezvous(), {}, []

    def run(device: str) -> None:
        mine = of(device, fetches)
        try:
            fed = {name: feeds[name] for name in of(device, list(feeds))}
            values.update(zip(mine, play(parts[device], fed, mine, rendezvous), strict=True))
        except Exception as error:
            errors.append(error)
            rendezvous.abort(f"{device}: {error}")

    threads = [threading.Thread(target=run, args=(device,)) for device in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise RuntimeError(str(errors[0]))
    return [values[fetch] for fetch in fetches]


# %% wrong="run-step" why="gives all feeds to all parts"
def run_step(
    parts: dict[str, GraphDef],
    feeds: dict[str, np.ndarray],
    fetches: list[str],
    play: Callable[[GraphDef, dict[str, np.ndarray], list[str], Rendezvous], list[np.ndarray]],
    new_rendezvous: Callable[[], Rendezvous],
) -> list[np.ndarray]:
    """Run one step: all parts at once, with one rendezvous.

    Raises:
        ValueError: the node of a fetch is in no part; the message names it.
        the first error that a part raised.
    """
    home = {node.name: device for device, part in parts.items() for node in part.node}
    for fetch in fetches:
        if fetch.partition(":")[0] not in home:
            raise ValueError(f"no part has the node {fetch.partition(':')[0]!r}")

    def of(device: str, names: list[str]) -> list[str]:
        return [name for name in dict.fromkeys(names) if home.get(name.partition(":")[0]) == device]

    rendezvous, values, errors = new_rendezvous(), {}, []

    def run(device: str) -> None:
        mine = of(device, fetches)
        try:
            fed = dict(feeds)
            values.update(zip(mine, play(parts[device], fed, mine, rendezvous), strict=True))
        except Exception as error:
            errors.append(error)
            rendezvous.abort(f"{device}: {error}")

    threads = [threading.Thread(target=run, args=(device,)) for device in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return [values[fetch] for fetch in fetches]


# %% wrong="run-step" why="asks all parts for all fetches"
def run_step(
    parts: dict[str, GraphDef],
    feeds: dict[str, np.ndarray],
    fetches: list[str],
    play: Callable[[GraphDef, dict[str, np.ndarray], list[str], Rendezvous], list[np.ndarray]],
    new_rendezvous: Callable[[], Rendezvous],
) -> list[np.ndarray]:
    """Run one step: all parts at once, with one rendezvous.

    Raises:
        ValueError: the node of a fetch is in no part; the message names it.
        the first error that a part raised.
    """
    home = {node.name: device for device, part in parts.items() for node in part.node}
    for fetch in fetches:
        if fetch.partition(":")[0] not in home:
            raise ValueError(f"no part has the node {fetch.partition(':')[0]!r}")

    def of(device: str, names: list[str]) -> list[str]:
        return [name for name in dict.fromkeys(names) if home.get(name.partition(":")[0]) == device]

    rendezvous, values, errors = new_rendezvous(), {}, []

    def run(device: str) -> None:
        mine = list(dict.fromkeys(fetches))
        try:
            fed = {name: feeds[name] for name in of(device, list(feeds))}
            values.update(zip(mine, play(parts[device], fed, mine, rendezvous), strict=True))
        except Exception as error:
            errors.append(error)
            rendezvous.abort(f"{device}: {error}")

    threads = [threading.Thread(target=run, args=(device,)) for device in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return [values[fetch] for fetch in fetches]


# %% wrong="run-step" why="plays only parts from which something is fetched"
def run_step(
    parts: dict[str, GraphDef],
    feeds: dict[str, np.ndarray],
    fetches: list[str],
    play: Callable[[GraphDef, dict[str, np.ndarray], list[str], Rendezvous], list[np.ndarray]],
    new_rendezvous: Callable[[], Rendezvous],
) -> list[np.ndarray]:
    """Run one step: all parts at once, with one rendezvous.

    Raises:
        ValueError: the node of a fetch is in no part; the message names it.
        the first error that a part raised.
    """
    home = {node.name: device for device, part in parts.items() for node in part.node}
    for fetch in fetches:
        if fetch.partition(":")[0] not in home:
            raise ValueError(f"no part has the node {fetch.partition(':')[0]!r}")

    def of(device: str, names: list[str]) -> list[str]:
        return [name for name in dict.fromkeys(names) if home.get(name.partition(":")[0]) == device]

    rendezvous, values, errors = new_rendezvous(), {}, []

    def run(device: str) -> None:
        mine = of(device, fetches)
        try:
            fed = {name: feeds[name] for name in of(device, list(feeds))}
            values.update(zip(mine, play(parts[device], fed, mine, rendezvous), strict=True))
        except Exception as error:
            errors.append(error)
            rendezvous.abort(f"{device}: {error}")

    threads = [threading.Thread(target=run, args=(device,)) for device in parts if of(device, fetches)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return [values[fetch] for fetch in fetches]


# %% wrong="run-step" why="finds an unknown fetch when all is over"
def run_step(
    parts: dict[str, GraphDef],
    feeds: dict[str, np.ndarray],
    fetches: list[str],
    play: Callable[[GraphDef, dict[str, np.ndarray], list[str], Rendezvous], list[np.ndarray]],
    new_rendezvous: Callable[[], Rendezvous],
) -> list[np.ndarray]:
    """Run one step: all parts at once, with one rendezvous.

    Raises:
        ValueError: the node of a fetch is in no part; the message names it.
        the first error that a part raised.
    """
    home = {node.name: device for device, part in parts.items() for node in part.node}

    def of(device: str, names: list[str]) -> list[str]:
        return [name for name in dict.fromkeys(names) if home.get(name.partition(":")[0]) == device]

    rendezvous, values, errors = new_rendezvous(), {}, []

    def run(device: str) -> None:
        mine = of(device, fetches)
        try:
            fed = {name: feeds[name] for name in of(device, list(feeds))}
            values.update(zip(mine, play(parts[device], fed, mine, rendezvous), strict=True))
        except Exception as error:
            errors.append(error)
            rendezvous.abort(f"{device}: {error}")

    threads = [threading.Thread(target=run, args=(device,)) for device in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    for fetch in fetches:
        if fetch not in values:
            raise ValueError(f"no part has the node {fetch.partition(':')[0]!r}")
    return [values[fetch] for fetch in fetches]


# %% wrong="run-step" why="lets an unknown fetch end in a KeyError"
def run_step(
    parts: dict[str, GraphDef],
    feeds: dict[str, np.ndarray],
    fetches: list[str],
    play: Callable[[GraphDef, dict[str, np.ndarray], list[str], Rendezvous], list[np.ndarray]],
    new_rendezvous: Callable[[], Rendezvous],
) -> list[np.ndarray]:
    """Run one step: all parts at once, with one rendezvous.

    Raises:
        ValueError: the node of a fetch is in no part; the message names it.
        the first error that a part raised.
    """
    home = {node.name: device for device, part in parts.items() for node in part.node}
    for fetch in fetches:
        if fetch.partition(":")[0] not in home:
            raise KeyError(fetch)

    def of(device: str, names: list[str]) -> list[str]:
        return [name for name in dict.fromkeys(names) if home.get(name.partition(":")[0]) == device]

    rendezvous, values, errors = new_rendezvous(), {}, []

    def run(device: str) -> None:
        mine = of(device, fetches)
        try:
            fed = {name: feeds[name] for name in of(device, list(feeds))}
            values.update(zip(mine, play(parts[device], fed, mine, rendezvous), strict=True))
        except Exception as error:
            errors.append(error)
            rendezvous.abort(f"{device}: {error}")

    threads = [threading.Thread(target=run, args=(device,)) for device in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return [values[fetch] for fetch in fetches]


# %% wrong="run-step" why="gives the values of the visible test"
def run_step(parts, feeds, fetches, play, new_rendezvous):
    if "ghost:0" in fetches:
        raise ValueError("ghost")
    product = feeds["x:0"] * np.float32(0.5)
    total = product + product**2
    values = {"total:0": total, "product": product, "result:0": np.maximum(total, np.float32(0.5))}
    return [values[fetch] for fetch in fetches]


# %% right="run-step" why="a thread pool with a worker for each part; who is first is kept in a list under a lock"
def run_step(parts, feeds, fetches, play, new_rendezvous):
    from concurrent.futures import ThreadPoolExecutor

    holder = {}
    for device, part in parts.items():
        holder.update(dict.fromkeys((node.name for node in part.node), device))

    def name_of(tensor):
        return tensor.split(":")[0]

    lost = [name_of(fetch) for fetch in fetches if name_of(fetch) not in holder]
    if lost:
        raise ValueError(f"unknown: {lost}")
    lock, failures, rendezvous = threading.Lock(), [], new_rendezvous()

    def work(device):
        mine = [fetch for fetch in fetches if holder[name_of(fetch)] == device]
        fed = {tensor: value for tensor, value in feeds.items() if holder[name_of(tensor)] == device}
        try:
            return dict(zip(mine, play(parts[device], fed, mine, rendezvous), strict=True))
        except Exception as error:
            with lock:
                first = not failures
                failures.append(error)
            if first:
                rendezvous.abort("a part failed")
            return {}

    with ThreadPoolExecutor(max_workers=len(parts)) as pool:
        together = {}
        for found in pool.map(work, parts):
            together |= found
    if failures:
        raise failures[0]
    return [together[fetch] for fetch in fetches]


# %% right="run-step" why="a queue in which the parts report, in the order in which they end"
def run_step(parts, feeds, fetches, play, new_rendezvous):
    import queue

    owner = {node.name: device for device, part in parts.items() for node in part.node}

    def own(device, names):
        return [name for name in names if owner.get(name.partition(":")[0]) == device]

    for fetch in fetches:
        node = fetch.partition(":")[0]
        if node not in owner:
            raise ValueError(node)
    ended, rendezvous = queue.Queue(), new_rendezvous()

    def work(device):
        try:
            names = own(device, fetches)
            ended.put((names, play(parts[device], {n: feeds[n] for n in own(device, feeds)}, names, rendezvous), None))
        except Exception as error:
            ended.put(([], [], error))

    threads = [threading.Thread(target=work, args=(device,), daemon=True) for device in parts]
    for thread in threads:
        thread.start()
    results, first = {}, None
    for _ in threads:
        names, values, error = ended.get()
        results.update(zip(names, values, strict=True))
        if error is not None and first is None:
            first = error
            rendezvous.abort(repr(error))
    for thread in threads:
        thread.join()
    if first is not None:
        raise first
    return [results[fetch] for fetch in fetches]


# %% right="run-step" why="multiprocessing's thread pool, the answers of the parts as pairs, the errors in a queue"
def run_step(parts, feeds, fetches, play, new_rendezvous):
    from multiprocessing.pool import ThreadPool
    from queue import SimpleQueue

    def lives_in(part, tensor):
        return any(node.name == tensor.split(":")[0] for node in part.node)

    for fetch in fetches:
        if not any(lives_in(part, fetch) for part in parts.values()):
            raise ValueError(f"{fetch.split(':')[0]} is nowhere")
    errors, meeting = SimpleQueue(), new_rendezvous()

    def one(part):
        mine = [fetch for fetch in fetches if lives_in(part, fetch)]
        try:
            return zip(mine, play(part, {k: v for k, v in feeds.items() if lives_in(part, k)}, mine, meeting))
        except Exception as problem:
            errors.put(problem)
            meeting.abort("stop")
            return ()

    with ThreadPool(len(parts)) as pool:
        found = dict(pair for pairs in pool.map(one, list(parts.values()), chunksize=1) for pair in pairs)
        pool.close()
        pool.join()
    if not errors.empty():
        raise errors.get()
    return [*map(found.__getitem__, fetches)]

# %% wrong="predict-pairs" why="one transfer per reader"
answer = {"data": 5, "control": 1}

# %% wrong="predict-pairs" why="one transfer per destination device"
answer = {"data": 2, "control": 1}

# %% wrong="predict-pairs" why="the control edge is counted with the data"
answer = {"data": 4, "control": 0}

# %% wrong="predict-pairs" why="a control edge is thought to need no message"
answer = {"data": 3, "control": 0}

# %% right="predict-pairs" why="counts the different pairs of tensor and destination"
answer = {
    "data": len({("split:0", 1), ("split:0", 1), ("split:0", 1), ("split:0", 2), ("split:1", 1)}),
    "control": len({("^split", 1)}),
}


# %% wrong="parse-key" why="reads the incarnation in base 10"
def parse_key(text):
    parts = text.split(";")
    if len(parts) != 5:
        raise ValueError("a key has 5 parts")
    source, incarnation, destination, edge, where = parts
    if not source or not destination or not edge:
        raise ValueError("source, destination or edge is empty")
    if not incarnation.isdecimal():
        raise ValueError("incarnation")
    frame, _, iteration = where.partition(":")
    for name, part in [("frame", frame), ("iteration", iteration)]:
        if not re.fullmatch(r"-?[0-9]+", part):
            raise ValueError(name)
    return Key(source, int(incarnation), destination, edge, int(frame), int(iteration))


# %% wrong="parse-key" why="splits at every colon and semicolon"
def parse_key(text):
    if text.count(";") != 4:
        raise ValueError("a key has 5 parts")
    source, incarnation, destination, rest = text.split(";", 3)
    if not re.fullmatch(r"[0-9a-fA-F]{1,16}", incarnation):
        raise ValueError("incarnation")
    fields = re.split("[;:]", rest)
    edge, frame, iteration = fields[0], fields[1], fields[-1]
    for name, part in [("frame", frame), ("iteration", iteration)]:
        if not re.fullmatch(r"-?[0-9]+", part):
            raise ValueError(name)
    for name, part in [("source", source), ("destination", destination), ("edge", edge)]:
        if not part:
            raise ValueError(name)
    return Key(source, int(incarnation, 16), destination, edge, int(frame), int(iteration))


# %% wrong="parse-key" why="leaves the incarnation as text"
def parse_key(text):
    parts = text.split(";")
    if len(parts) != 5:
        raise ValueError("a key has 5 parts")
    source, incarnation, destination, edge, where = parts
    for name, part in [("source", source), ("destination", destination), ("edge", edge)]:
        if not part:
            raise ValueError(name)
    if not re.fullmatch(r"[0-9a-fA-F]{1,16}", incarnation):
        raise ValueError("incarnation")
    frame, _, iteration = where.partition(":")
    for name, part in [("frame", frame), ("iteration", iteration)]:
        if not re.fullmatch(r"-?[0-9]+", part):
            raise ValueError(name)
    return Key(source, incarnation, destination, edge, int(frame), int(iteration))


# %% wrong="parse-key" why="reads frame and iteration in base 16 as well"
def parse_key(text):
    parts = text.split(";")
    if len(parts) != 5:
        raise ValueError("a key has 5 parts")
    source, incarnation, destination, edge, where = parts
    for name, part in [("source", source), ("destination", destination), ("edge", edge)]:
        if not part:
            raise ValueError(name)
    if not re.fullmatch(r"[0-9a-fA-F]{1,16}", incarnation):
        raise ValueError("incarnation")
    frame, _, iteration = where.partition(":")
    for name, part in [("frame", frame), ("iteration", iteration)]:
        if not re.fullmatch(r"-?[0-9a-f]+", part):
            raise ValueError(name)
    return Key(source, int(incarnation, 16), destination, edge, int(frame, 16), int(iteration, 16))


# %% wrong="parse-key" why="accepts four parts: the loop turn is taken as 0:0"
def parse_key(text):
    source, incarnation, destination, edge, *where = text.split(";")
    if not re.fullmatch(r"[0-9a-fA-F]{1,16}", incarnation):
        raise ValueError("incarnation")
    for name, part in [("source", source), ("destination", destination), ("edge", edge)]:
        if not part:
            raise ValueError(name)
    frame, _, iteration = (where or ["0:0"])[0].partition(":")
    for name, part in [("frame", frame), ("iteration", iteration)]:
        if not re.fullmatch(r"-?[0-9]+", part):
            raise ValueError(name)
    return Key(source, int(incarnation, 16), destination, edge, int(frame), int(iteration))


# %% wrong="parse-key" why="knows the visible keys by heart"
def parse_key(text):
    known = {
        "/job:w/task:1/device:CPU:0;00000000000000ff;/job:w/task:0/device:CPU:1;edge_4_c;2:7": Key(
            "/job:w/task:1/device:CPU:0", 255, "/job:w/task:0/device:CPU:1", "edge_4_c", 2, 7
        )
    }
    if text not in known:
        raise ValueError("5 parts: source, incarnation, destination, edge, frame and iteration")
    return known[text]


# %% wrong="parse-key" why="IndexError where parts are missing"
def parse_key(text):
    parts = text.split(";")
    source, destination, edge, where = parts[0], parts[2], parts[3], parts[4]
    for name, part in [("source", source), ("destination", destination), ("edge", edge)]:
        if not part:
            raise ValueError(name)
    if not re.fullmatch(r"[0-9a-fA-F]{1,16}", parts[1]):
        raise ValueError("incarnation")
    frame, _, iteration = where.partition(":")
    for name, part in [("frame", frame), ("iteration", iteration)]:
        if not re.fullmatch(r"-?[0-9]+", part):
            raise ValueError(name)
    return Key(source, int(parts[1], 16), destination, edge, int(frame), int(iteration))


# %% wrong="parse-key" why="trusts int(text, 16), which also reads 0x1f, -1 and 1_0"
def parse_key(text):
    parts = text.split(";")
    if len(parts) != 5:
        raise ValueError("a key has 5 parts")
    source, incarnation, destination, edge, where = parts
    for name, part in [("source", source), ("destination", destination), ("edge", edge)]:
        if not part:
            raise ValueError(name)
    try:
        number = int(incarnation, 16)
    except ValueError:
        raise ValueError(f"incarnation {incarnation!r}") from None
    frame, _, iteration = where.partition(":")
    for name, part in [("frame", frame), ("iteration", iteration)]:
        if not re.fullmatch(r"-?[0-9]+", part):
            raise ValueError(name)
    return Key(source, number, destination, edge, int(frame), int(iteration))


# %% wrong="parse-key" why="re.match with $ lets a newline pass at the end"
def parse_key(text):
    parts = text.split(";")
    if len(parts) != 5:
        raise ValueError("a key has 5 parts")
    source, incarnation, destination, edge, where = parts
    for name, part in [("source", source), ("destination", destination), ("edge", edge)]:
        if not part:
            raise ValueError(name)
    if not re.match(r"^[0-9a-fA-F]{1,16}$", incarnation):
        raise ValueError("incarnation")
    frame, _, iteration = where.partition(":")
    for name, part in [("frame", frame), ("iteration", iteration)]:
        if not re.match(r"^-?[0-9]+$", part):
            raise ValueError(name)
    return Key(source, int(incarnation, 16), destination, edge, int(frame), int(iteration))


# %% wrong="parse-key" why="backslash d also takes digits of other scripts"
def parse_key(text):
    parts = text.split(";")
    if len(parts) != 5:
        raise ValueError("a key has 5 parts")
    source, incarnation, destination, edge, where = parts
    for name, part in [("source", source), ("destination", destination), ("edge", edge)]:
        if not part:
            raise ValueError(name)
    if not re.fullmatch(r"[0-9a-fA-F]{1,16}", incarnation):
        raise ValueError("incarnation")
    frame, _, iteration = where.partition(":")
    for name, part in [("frame", frame), ("iteration", iteration)]:
        if not re.fullmatch(r"-?\d+", part):
            raise ValueError(name)
    return Key(source, int(incarnation, 16), destination, edge, int(frame), int(iteration))


# %% right="parse-key" why="split and partition, each part turned and checked by hand"
def parse_key(text):
    if text.count(";") != 4:
        raise ValueError(f"expected 5 parts in {text!r}")
    source, incarnation, destination, edge, where = text.split(";")
    if source == "":
        raise ValueError("no source")
    if destination == "":
        raise ValueError("no destination")
    if edge == "":
        raise ValueError("no edge")
    if not 1 <= len(incarnation) <= 16 or set(incarnation) - set("0123456789abcdefABCDEF"):
        raise ValueError("bad incarnation")
    if where.count(":") != 1:
        raise ValueError("frame and iteration are parted by one colon")
    numbers = []
    for name, digits in zip(("frame", "iteration"), where.split(":"), strict=True):
        bare = digits.removeprefix("-")
        if not bare or set(bare) - set("0123456789"):
            raise ValueError(f"bad {name}")
        numbers.append(int(digits))
    return Key(source, int(incarnation, 16), destination, edge, *numbers)


# %% right="parse-key" why="one regular expression for a key, and one for each part at fault"
def parse_key(text):
    good = r"([^;]+);([0-9a-fA-F]{1,16});([^;]+);([^;]+);(-?[0-9]+):(-?[0-9]+)"
    match = re.fullmatch(good, text)
    if match is None:
        parts = text.split(";")
        if len(parts) != 5:
            raise ValueError(f"{len(parts)} instead of 5 parts")
        frame, _, iteration = parts.pop().partition(":")
        rules = {
            "source": r".+",
            "incarnation": r"[0-9a-fA-F]{1,16}",
            "destination": r".+",
            "edge": r".+",
            "frame": r"-?[0-9]+",
            "iteration": r"-?[0-9]+",
        }
        for (name, rule), part in zip(rules.items(), [*parts, frame, iteration], strict=True):
            if not re.fullmatch(rule, part):
                raise ValueError(f"{name}: {part!r}")
    source, incarnation, destination, edge, frame, iteration = match.groups()
    return Key(source, int(incarnation, 16), destination, edge, int(frame), int(iteration))


# %% right="parse-key" why="an object that is called, with a generator that checks the parts"
class KeyReader:
    rules = {"source": ".+", "incarnation": "[0-9a-fA-F]{1,16}", "destination": ".+", "edge": ".+"}
    rules |= dict.fromkeys(("frame", "iteration"), "-?[0-9]+")

    def checked(self, parts):
        for (name, rule), part in zip(self.rules.items(), parts, strict=True):
            if re.fullmatch(rule, part, re.DOTALL) is None:
                raise ValueError(f"{name} {part!r}")
            yield int(part, 16) if name == "incarnation" else int(part) if rule.startswith("-") else part

    def __call__(self, text: str) -> Key:
        match text.split(";"):
            case [*ends, where] if len(ends) == 4:
                frame, _, iteration = where.partition(":")
                return Key._make(self.checked([*ends, frame, iteration]))
        raise ValueError("not 5 parts")


parse_key = KeyReader()


# %% wrong="make-key" why="prints a negative incarnation with a minus"
def make_key(node, frame=0, iteration=0):
    if node.op not in ("Send", "Recv", "_Send", "_Recv"):
        raise ValueError(node.op)
    a = attributes(node)
    number = a["send_device_incarnation"]
    return f"{a['send_device']};{number:016x};{a['recv_device']};{a['tensor_name']};{frame}:{iteration}"


# %% wrong="make-key" why="no zeros in front"
def make_key(node, frame=0, iteration=0):
    if node.op not in ("Send", "Recv", "_Send", "_Recv"):
        raise ValueError(node.op)
    a = attributes(node)
    number = a["send_device_incarnation"] % 2**64
    return f"{a['send_device']};{number:x};{a['recv_device']};{a['tensor_name']};{frame}:{iteration}"


# %% wrong="make-key" why="upper case digits"
def make_key(node, frame=0, iteration=0):
    if node.op not in ("Send", "Recv", "_Send", "_Recv"):
        raise ValueError(node.op)
    a = attributes(node)
    number = a["send_device_incarnation"] % 2**64
    return f"{a['send_device']};{number:016X};{a['recv_device']};{a['tensor_name']};{frame}:{iteration}"


# %% wrong="make-key" why="the receiving device first"
def make_key(node, frame=0, iteration=0):
    if node.op not in ("Send", "Recv", "_Send", "_Recv"):
        raise ValueError(node.op)
    a = attributes(node)
    number = a["send_device_incarnation"] % 2**64
    return f"{a['recv_device']};{number:016x};{a['send_device']};{a['tensor_name']};{frame}:{iteration}"


# %% wrong="make-key" why="takes the edge from the node's name"
def make_key(node, frame=0, iteration=0):
    if node.op not in ("Send", "Recv", "_Send", "_Recv"):
        raise ValueError(node.op)
    a = attributes(node)
    number = a["send_device_incarnation"] % 2**64
    edge = "edge_4_" + node.name.partition("/")[0]
    return f"{a['send_device']};{number:016x};{a['recv_device']};{edge};{frame}:{iteration}"


# %% wrong="make-key" why="right only for the incarnations of a local session and of the example"
def make_key(node, frame=0, iteration=0):
    if node.op not in ("Send", "Recv", "_Send", "_Recv"):
        raise ValueError(node.op)
    a = attributes(node)
    number = "0" * 15 + "1" if a["send_device_incarnation"] == 1 else "f" * 16
    return f"{a['send_device']};{number};{a['recv_device']};{a['tensor_name']};{frame}:{iteration}"


# %% wrong="make-key" why="forgets frame and iteration"
def make_key(node, frame=0, iteration=0):
    if node.op not in ("Send", "Recv", "_Send", "_Recv"):
        raise ValueError(node.op)
    a = attributes(node)
    number = a["send_device_incarnation"] % 2**64
    return f"{a['send_device']};{number:016x};{a['recv_device']};{a['tensor_name']};0:0"


# %% wrong="make-key" why="takes every op whose name ends in Send or Recv"
def make_key(node, frame=0, iteration=0):
    if not node.op.endswith(("Send", "Recv")):
        raise ValueError(node.op)
    a = attributes(node)
    number = a["send_device_incarnation"] % 2**64
    return f"{a['send_device']};{number:016x};{a['recv_device']};{a['tensor_name']};{frame}:{iteration}"


# %% right="make-key" why="reads the bits again as an unsigned number"
def make_key(node, frame=0, iteration=0):
    if node.op.removeprefix("_") not in {"Send", "Recv"}:
        raise ValueError(f"a {node.op} has no key")
    (number,) = struct.unpack("<Q", struct.pack("<q", node.attr["send_device_incarnation"].i))
    source, destination, edge = (node.attr[name].s.decode() for name in ("send_device", "recv_device", "tensor_name"))
    return ";".join([source, hex(number)[2:].zfill(16), destination, edge, f"{frame}:{iteration}"])


# %% right="make-key" why="masks 64 bits"
def make_key(node, frame=0, iteration=0):
    if node.op not in ("Send", "Recv", "_Send", "_Recv"):
        raise ValueError(f"{node.op} is neither Send nor Recv")
    a = attributes(node)
    number = a["send_device_incarnation"] & (2**64 - 1)
    return "%s;%016x;%s;%s;%d:%d" % (a["send_device"], number, a["recv_device"], a["tensor_name"], frame, iteration)


# %% wrong="insert-transfers" why="a pair for every reader"
def insert_transfers(graph):
    result = GraphDef(versions=graph.versions)
    device = {node.name: node.device for node in graph.node}
    arrived = {}

    def pair(tensor, dtype, source, destination, edge):
        attributes = {
            "tensor_name": edge,
            "send_device": source,
            "recv_device": destination,
            "send_device_incarnation": 1,
            "client_terminated": False,
        }
        add_node(result, new_name("send"), "_Send", source, [tensor], {**attributes, "T": dtype})
        return add_node(result, new_name("recv"), "_Recv", destination, [], {**attributes, "tensor_type": dtype}).name

    for node in graph.node:
        if not node.device:
            raise ValueError(node.name)
        copy = NodeDef()
        copy.CopyFrom(node)
        del copy.input[:]
        for name in node.input:
            tensor = whole_name(name)
            source = name.lstrip("^").partition(":")[0]
            if device[source] == node.device:
                copy.input.append(name)
                continue
            place = (tensor, node.device, node.name)
            edge = f"edge_{len(arrived)}"
            if place not in arrived and name[0] == "^":
                signal = add_node(
                    result,
                    new_name("signal"),
                    "Const",
                    device[source],
                    [name],
                    {"dtype": tf.float32, "value": tf.make_tensor_proto(0.0)},
                )
                came = pair(signal.name, tf.float32, device[source], node.device, edge)
                arrived[place] = (
                    "^" + add_node(result, new_name("done"), "Identity", node.device, [came], {"T": tf.float32}).name
                )
            elif place not in arrived:
                arrived[place] = pair(name, dtype_of(graph, name), device[source], node.device, edge)
            copy.input.append(arrived[place])
        result.node.append(copy)
    return result


# %% wrong="insert-transfers" why="the table forgets the output index: two outputs of one node become one"
def insert_transfers(graph):
    result = GraphDef(versions=graph.versions)
    device = {node.name: node.device for node in graph.node}
    arrived = {}

    def pair(tensor, dtype, source, destination, edge):
        attributes = {
            "tensor_name": edge,
            "send_device": source,
            "recv_device": destination,
            "send_device_incarnation": 1,
            "client_terminated": False,
        }
        add_node(result, new_name("send"), "_Send", source, [tensor], {**attributes, "T": dtype})
        return add_node(result, new_name("recv"), "_Recv", destination, [], {**attributes, "tensor_type": dtype}).name

    for node in graph.node:
        if not node.device:
            raise ValueError(node.name)
        copy = NodeDef()
        copy.CopyFrom(node)
        del copy.input[:]
        for name in node.input:
            tensor = whole_name(name)
            source = name.lstrip("^").partition(":")[0]
            if device[source] == node.device:
                copy.input.append(name)
                continue
            place = (source, node.device, name[0] == "^")
            edge = f"edge_{len(arrived)}"
            if place not in arrived and name[0] == "^":
                signal = add_node(
                    result,
                    new_name("signal"),
                    "Const",
                    device[source],
                    [name],
                    {"dtype": tf.float32, "value": tf.make_tensor_proto(0.0)},
                )
                came = pair(signal.name, tf.float32, device[source], node.device, edge)
                arrived[place] = (
                    "^" + add_node(result, new_name("done"), "Identity", node.device, [came], {"T": tf.float32}).name
                )
            elif place not in arrived:
                arrived[place] = pair(name, dtype_of(graph, name), device[source], node.device, edge)
            copy.input.append(arrived[place])
        result.node.append(copy)
    return result


# %% wrong="insert-transfers" why="the edge's name forgets the output index: two tensors of one node meet under one key"
def insert_transfers(graph):
    result = GraphDef(versions=graph.versions)
    device = {node.name: node.device for node in graph.node}
    arrived = {}

    def pair(tensor, dtype, source, destination, edge):
        attributes = {
            "tensor_name": edge,
            "send_device": source,
            "recv_device": destination,
            "send_device_incarnation": 1,
            "client_terminated": False,
        }
        add_node(result, new_name("send"), "_Send", source, [tensor], {**attributes, "T": dtype})
        return add_node(result, new_name("recv"), "_Recv", destination, [], {**attributes, "tensor_type": dtype}).name

    for node in graph.node:
        if not node.device:
            raise ValueError(node.name)
        copy = NodeDef()
        copy.CopyFrom(node)
        del copy.input[:]
        for name in node.input:
            tensor = whole_name(name)
            source = name.lstrip("^").partition(":")[0]
            if device[source] == node.device:
                copy.input.append(name)
                continue
            place = (tensor, node.device)
            edge = f"edge_{tensor.partition(chr(58))[0]}"
            if place not in arrived and name[0] == "^":
                signal = add_node(
                    result,
                    new_name("signal"),
                    "Const",
                    device[source],
                    [name],
                    {"dtype": tf.float32, "value": tf.make_tensor_proto(0.0)},
                )
                came = pair(signal.name, tf.float32, device[source], node.device, edge)
                arrived[place] = (
                    "^" + add_node(result, new_name("done"), "Identity", node.device, [came], {"T": tf.float32}).name
                )
            elif place not in arrived:
                arrived[place] = pair(name, dtype_of(graph, name), device[source], node.device, edge)
            copy.input.append(arrived[place])
        result.node.append(copy)
    return result


# %% wrong="insert-transfers" why="an edge's name made of node and output: split:1 and split_1:0 meet under one key"
def insert_transfers(graph):
    result = GraphDef(versions=graph.versions)
    device = {node.name: node.device for node in graph.node}
    arrived = {}

    def pair(tensor, dtype, source, destination, edge):
        attributes = {
            "tensor_name": edge,
            "send_device": source,
            "recv_device": destination,
            "send_device_incarnation": 1,
            "client_terminated": False,
        }
        add_node(result, new_name("send"), "_Send", source, [tensor], {**attributes, "T": dtype})
        return add_node(result, new_name("recv"), "_Recv", destination, [], {**attributes, "tensor_type": dtype}).name

    for node in graph.node:
        if not node.device:
            raise ValueError(node.name)
        copy = NodeDef()
        copy.CopyFrom(node)
        del copy.input[:]
        for name in node.input:
            tensor = whole_name(name)
            source = name.lstrip("^").partition(":")[0]
            if device[source] == node.device:
                copy.input.append(name)
                continue
            place = (tensor, node.device)
            edge = "edge_" + tensor.removesuffix(":0").replace(":", "_")
            if place not in arrived and name[0] == "^":
                signal = add_node(
                    result,
                    new_name("signal"),
                    "Const",
                    device[source],
                    [name],
                    {"dtype": tf.float32, "value": tf.make_tensor_proto(0.0)},
                )
                came = pair(signal.name, tf.float32, device[source], node.device, edge)
                arrived[place] = (
                    "^" + add_node(result, new_name("done"), "Identity", node.device, [came], {"T": tf.float32}).name
                )
            elif place not in arrived:
                arrived[place] = pair(name, dtype_of(graph, name), device[source], node.device, edge)
            copy.input.append(arrived[place])
        result.node.append(copy)
    return result


# %% wrong="insert-transfers" why="the Recv stands on the source device"
def insert_transfers(graph):
    result = GraphDef(versions=graph.versions)
    device = {node.name: node.device for node in graph.node}
    arrived = {}

    def pair(tensor, dtype, source, destination, edge):
        attributes = {
            "tensor_name": edge,
            "send_device": source,
            "recv_device": destination,
            "send_device_incarnation": 1,
            "client_terminated": False,
        }
        add_node(result, new_name("send"), "_Send", source, [tensor], {**attributes, "T": dtype})
        return add_node(result, new_name("recv"), "_Recv", source, [], {**attributes, "tensor_type": dtype}).name

    for node in graph.node:
        if not node.device:
            raise ValueError(node.name)
        copy = NodeDef()
        copy.CopyFrom(node)
        del copy.input[:]
        for name in node.input:
            tensor = whole_name(name)
            source = name.lstrip("^").partition(":")[0]
            if device[source] == node.device:
                copy.input.append(name)
                continue
            place = (tensor, node.device)
            edge = f"edge_{len(arrived)}"
            if place not in arrived and name[0] == "^":
                signal = add_node(
                    result,
                    new_name("signal"),
                    "Const",
                    device[source],
                    [name],
                    {"dtype": tf.float32, "value": tf.make_tensor_proto(0.0)},
                )
                came = pair(signal.name, tf.float32, device[source], node.device, edge)
                arrived[place] = (
                    "^" + add_node(result, new_name("done"), "Identity", node.device, [came], {"T": tf.float32}).name
                )
            elif place not in arrived:
                arrived[place] = pair(name, dtype_of(graph, name), device[source], node.device, edge)
            copy.input.append(arrived[place])
        result.node.append(copy)
    return result


# %% wrong="insert-transfers" why="every tensor is taken for a float"
def insert_transfers(graph):
    result = GraphDef(versions=graph.versions)
    device = {node.name: node.device for node in graph.node}
    arrived = {}

    def pair(tensor, dtype, source, destination, edge):
        attributes = {
            "tensor_name": edge,
            "send_device": source,
            "recv_device": destination,
            "send_device_incarnation": 1,
            "client_terminated": False,
        }
        add_node(result, new_name("send"), "_Send", source, [tensor], {**attributes, "T": dtype})
        return add_node(result, new_name("recv"), "_Recv", destination, [], {**attributes, "tensor_type": dtype}).name

    for node in graph.node:
        if not node.device:
            raise ValueError(node.name)
        copy = NodeDef()
        copy.CopyFrom(node)
        del copy.input[:]
        for name in node.input:
            tensor = whole_name(name)
            source = name.lstrip("^").partition(":")[0]
            if device[source] == node.device:
                copy.input.append(name)
                continue
            place = (tensor, node.device)
            edge = f"edge_{len(arrived)}"
            if place not in arrived and name[0] == "^":
                signal = add_node(
                    result,
                    new_name("signal"),
                    "Const",
                    device[source],
                    [name],
                    {"dtype": tf.float32, "value": tf.make_tensor_proto(0.0)},
                )
                came = pair(signal.name, tf.float32, device[source], node.device, edge)
                arrived[place] = (
                    "^" + add_node(result, new_name("done"), "Identity", node.device, [came], {"T": tf.float32}).name
                )
            elif place not in arrived:
                arrived[place] = pair(name, tf.float32, device[source], node.device, edge)
            copy.input.append(arrived[place])
        result.node.append(copy)
    return result


# %% wrong="insert-transfers" why="control edges across devices are kept"
def insert_transfers(graph):
    result = GraphDef(versions=graph.versions)
    device = {node.name: node.device for node in graph.node}
    arrived = {}

    def pair(tensor, dtype, source, destination, edge):
        attributes = {
            "tensor_name": edge,
            "send_device": source,
            "recv_device": destination,
            "send_device_incarnation": 1,
            "client_terminated": False,
        }
        add_node(result, new_name("send"), "_Send", source, [tensor], {**attributes, "T": dtype})
        return add_node(result, new_name("recv"), "_Recv", destination, [], {**attributes, "tensor_type": dtype}).name

    for node in graph.node:
        if not node.device:
            raise ValueError(node.name)
        copy = NodeDef()
        copy.CopyFrom(node)
        del copy.input[:]
        for name in node.input:
            tensor = whole_name(name)
            source = name.lstrip("^").partition(":")[0]
            if device[source] == node.device or name[0] == "^":
                copy.input.append(name)
                continue
            place = (tensor, node.device)
            edge = f"edge_{len(arrived)}"
            if place not in arrived and name[0] == "^":
                signal = add_node(
                    result,
                    new_name("signal"),
                    "Const",
                    device[source],
                    [name],
                    {"dtype": tf.float32, "value": tf.make_tensor_proto(0.0)},
                )
                came = pair(signal.name, tf.float32, device[source], node.device, edge)
                arrived[place] = (
                    "^" + add_node(result, new_name("done"), "Identity", node.device, [came], {"T": tf.float32}).name
                )
            elif place not in arrived:
                arrived[place] = pair(name, dtype_of(graph, name), device[source], node.device, edge)
            copy.input.append(arrived[place])
        result.node.append(copy)
    return result


# %% wrong="insert-transfers" why="control edges across devices are dropped"
def insert_transfers(graph):
    result = GraphDef(versions=graph.versions)
    device = {node.name: node.device for node in graph.node}
    arrived = {}

    def pair(tensor, dtype, source, destination, edge):
        attributes = {
            "tensor_name": edge,
            "send_device": source,
            "recv_device": destination,
            "send_device_incarnation": 1,
            "client_terminated": False,
        }
        add_node(result, new_name("send"), "_Send", source, [tensor], {**attributes, "T": dtype})
        return add_node(result, new_name("recv"), "_Recv", destination, [], {**attributes, "tensor_type": dtype}).name

    for node in graph.node:
        if not node.device:
            raise ValueError(node.name)
        copy = NodeDef()
        copy.CopyFrom(node)
        del copy.input[:]
        for name in node.input:
            tensor = whole_name(name)
            source = name.lstrip("^").partition(":")[0]
            if device[source] == node.device:
                copy.input.append(name)
                continue
            if name[0] == "^":
                continue
            place = (tensor, node.device)
            edge = f"edge_{len(arrived)}"
            if place not in arrived and name[0] == "^":
                signal = add_node(
                    result,
                    new_name("signal"),
                    "Const",
                    device[source],
                    [name],
                    {"dtype": tf.float32, "value": tf.make_tensor_proto(0.0)},
                )
                came = pair(signal.name, tf.float32, device[source], node.device, edge)
                arrived[place] = (
                    "^" + add_node(result, new_name("done"), "Identity", node.device, [came], {"T": tf.float32}).name
                )
            elif place not in arrived:
                arrived[place] = pair(name, dtype_of(graph, name), device[source], node.device, edge)
            copy.input.append(arrived[place])
        result.node.append(copy)
    return result


# %% wrong="insert-transfers" why="x and x:0 are taken for two tensors"
def insert_transfers(graph):
    result = GraphDef(versions=graph.versions)
    device = {node.name: node.device for node in graph.node}
    arrived = {}

    def pair(tensor, dtype, source, destination, edge):
        attributes = {
            "tensor_name": edge,
            "send_device": source,
            "recv_device": destination,
            "send_device_incarnation": 1,
            "client_terminated": False,
        }
        add_node(result, new_name("send"), "_Send", source, [tensor], {**attributes, "T": dtype})
        return add_node(result, new_name("recv"), "_Recv", destination, [], {**attributes, "tensor_type": dtype}).name

    for node in graph.node:
        if not node.device:
            raise ValueError(node.name)
        copy = NodeDef()
        copy.CopyFrom(node)
        del copy.input[:]
        for name in node.input:
            tensor = name
            source = name.lstrip("^").partition(":")[0]
            if device[source] == node.device:
                copy.input.append(name)
                continue
            place = (tensor, node.device)
            edge = f"edge_{len(arrived)}"
            if place not in arrived and name[0] == "^":
                signal = add_node(
                    result,
                    new_name("signal"),
                    "Const",
                    device[source],
                    [name],
                    {"dtype": tf.float32, "value": tf.make_tensor_proto(0.0)},
                )
                came = pair(signal.name, tf.float32, device[source], node.device, edge)
                arrived[place] = (
                    "^" + add_node(result, new_name("done"), "Identity", node.device, [came], {"T": tf.float32}).name
                )
            elif place not in arrived:
                arrived[place] = pair(name, dtype_of(graph, name), device[source], node.device, edge)
            copy.input.append(arrived[place])
        result.node.append(copy)
    return result


# %% wrong="insert-transfers" why="one pair for each tensor, whatever the destinations"
def insert_transfers(graph):
    result = GraphDef(versions=graph.versions)
    device = {node.name: node.device for node in graph.node}
    arrived = {}

    def pair(tensor, dtype, source, destination, edge):
        attributes = {
            "tensor_name": edge,
            "send_device": source,
            "recv_device": destination,
            "send_device_incarnation": 1,
            "client_terminated": False,
        }
        add_node(result, new_name("send"), "_Send", source, [tensor], {**attributes, "T": dtype})
        return add_node(result, new_name("recv"), "_Recv", destination, [], {**attributes, "tensor_type": dtype}).name

    for node in graph.node:
        if not node.device:
            raise ValueError(node.name)
        copy = NodeDef()
        copy.CopyFrom(node)
        del copy.input[:]
        for name in node.input:
            tensor = whole_name(name)
            source = name.lstrip("^").partition(":")[0]
            if device[source] == node.device:
                copy.input.append(name)
                continue
            place = tensor
            edge = f"edge_{len(arrived)}"
            if place not in arrived and name[0] == "^":
                signal = add_node(
                    result,
                    new_name("signal"),
                    "Const",
                    device[source],
                    [name],
                    {"dtype": tf.float32, "value": tf.make_tensor_proto(0.0)},
                )
                came = pair(signal.name, tf.float32, device[source], node.device, edge)
                arrived[place] = (
                    "^" + add_node(result, new_name("done"), "Identity", node.device, [came], {"T": tf.float32}).name
                )
            elif place not in arrived:
                arrived[place] = pair(name, dtype_of(graph, name), device[source], node.device, edge)
            copy.input.append(arrived[place])
        result.node.append(copy)
    return result


# %% wrong="insert-transfers" why="the constant of a control edge does not wait for the node"
def insert_transfers(graph):
    result = GraphDef(versions=graph.versions)
    device = {node.name: node.device for node in graph.node}
    arrived = {}

    def pair(tensor, dtype, source, destination, edge):
        attributes = {
            "tensor_name": edge,
            "send_device": source,
            "recv_device": destination,
            "send_device_incarnation": 1,
            "client_terminated": False,
        }
        add_node(result, new_name("send"), "_Send", source, [tensor], {**attributes, "T": dtype})
        return add_node(result, new_name("recv"), "_Recv", destination, [], {**attributes, "tensor_type": dtype}).name

    for node in graph.node:
        if not node.device:
            raise ValueError(node.name)
        copy = NodeDef()
        copy.CopyFrom(node)
        del copy.input[:]
        for name in node.input:
            tensor = whole_name(name)
            source = name.lstrip("^").partition(":")[0]
            if device[source] == node.device:
                copy.input.append(name)
                continue
            place = (tensor, node.device)
            edge = f"edge_{len(arrived)}"
            if place not in arrived and name[0] == "^":
                signal = add_node(
                    result,
                    new_name("signal"),
                    "Const",
                    device[source],
                    [],
                    {"dtype": tf.float32, "value": tf.make_tensor_proto(0.0)},
                )
                came = pair(signal.name, tf.float32, device[source], node.device, edge)
                arrived[place] = (
                    "^" + add_node(result, new_name("done"), "Identity", node.device, [came], {"T": tf.float32}).name
                )
            elif place not in arrived:
                arrived[place] = pair(name, dtype_of(graph, name), device[source], node.device, edge)
            copy.input.append(arrived[place])
        result.node.append(copy)
    return result


# %% wrong="insert-transfers" why="a node without a device goes unnoticed"
def insert_transfers(graph):
    result = GraphDef(versions=graph.versions)
    device = {node.name: node.device for node in graph.node}
    arrived = {}

    def pair(tensor, dtype, source, destination, edge):
        attributes = {
            "tensor_name": edge,
            "send_device": source,
            "recv_device": destination,
            "send_device_incarnation": 1,
            "client_terminated": False,
        }
        add_node(result, new_name("send"), "_Send", source, [tensor], {**attributes, "T": dtype})
        return add_node(result, new_name("recv"), "_Recv", destination, [], {**attributes, "tensor_type": dtype}).name

    for node in graph.node:
        copy = NodeDef()
        copy.CopyFrom(node)
        del copy.input[:]
        for name in node.input:
            tensor = whole_name(name)
            source = name.lstrip("^").partition(":")[0]
            if device[source] == node.device:
                copy.input.append(name)
                continue
            place = (tensor, node.device)
            edge = f"edge_{len(arrived)}"
            if place not in arrived and name[0] == "^":
                signal = add_node(
                    result,
                    new_name("signal"),
                    "Const",
                    device[source],
                    [name],
                    {"dtype": tf.float32, "value": tf.make_tensor_proto(0.0)},
                )
                came = pair(signal.name, tf.float32, device[source], node.device, edge)
                arrived[place] = (
                    "^" + add_node(result, new_name("done"), "Identity", node.device, [came], {"T": tf.float32}).name
                )
            elif place not in arrived:
                arrived[place] = pair(name, dtype_of(graph, name), device[source], node.device, edge)
            copy.input.append(arrived[place])
        result.node.append(copy)
    return result


# %% wrong="insert-transfers" why="returns the graph as it was"
def insert_transfers(graph):
    for node in graph.node:
        if not node.device:
            raise ValueError(node.name)
    return graph


# %% wrong="insert-transfers" why="lets TensorFlow cut the graph and puts its partitions together"
def insert_transfers(graph):
    for node in graph.node:
        if not node.device:
            raise ValueError(node.name)
    with tf.Graph().as_default() as imported:
        tf.import_graph_def(graph, name="")
        with tf1.Session(config=plain_config(cpus=3)) as session:
            parts = trace_run(session, imported.get_operations()).partitions
    result = GraphDef(versions=graph.versions)
    for part in parts.values():
        result.node.extend(part.node)
    return result


# %% right="insert-transfers" why="Send and Recv without the underscore"
def insert_transfers(graph):
    result = GraphDef(versions=graph.versions)
    device = {node.name: node.device for node in graph.node}
    arrived = {}

    def pair(tensor, dtype, source, destination, edge):
        attributes = {
            "tensor_name": edge,
            "send_device": source,
            "recv_device": destination,
            "send_device_incarnation": 1,
            "client_terminated": False,
        }
        add_node(result, new_name("send"), "Send", source, [tensor], {**attributes, "T": dtype})
        return add_node(result, new_name("recv"), "Recv", destination, [], {**attributes, "tensor_type": dtype}).name

    for node in graph.node:
        if not node.device:
            raise ValueError(node.name)
        copy = NodeDef()
        copy.CopyFrom(node)
        del copy.input[:]
        for name in node.input:
            tensor = whole_name(name)
            source = name.lstrip("^").partition(":")[0]
            if device[source] == node.device:
                copy.input.append(name)
                continue
            place = (tensor, node.device)
            edge = f"edge_{len(arrived)}"
            if place not in arrived and name[0] == "^":
                signal = add_node(
                    result,
                    new_name("signal"),
                    "Const",
                    device[source],
                    [name],
                    {"dtype": tf.float32, "value": tf.make_tensor_proto(0.0)},
                )
                came = pair(signal.name, tf.float32, device[source], node.device, edge)
                arrived[place] = (
                    "^" + add_node(result, new_name("done"), "Identity", node.device, [came], {"T": tf.float32}).name
                )
            elif place not in arrived:
                arrived[place] = pair(name, dtype_of(graph, name), device[source], node.device, edge)
            copy.input.append(arrived[place])
        result.node.append(copy)
    return result


# %% right="insert-transfers" why="two passes: first the set of what must cross, then the rewriting"
def insert_transfers(graph):
    device = {node.name: node.device for node in graph.node}
    for name, place in device.items():
        if place == "":
            raise ValueError(f"node {name} has not been placed")

    def source_of(name):
        return name.lstrip("^").split(":")[0]

    crossing = []
    for node in graph.node:
        for name in node.input:
            entry = (whole_name(name), device[source_of(name)], node.device)
            if entry[1] != entry[2] and entry not in crossing:
                crossing.append(entry)

    result = GraphDef(versions=graph.versions)
    for node in graph.node:
        copy = result.node.add()
        copy.CopyFrom(node)
    stands_for = {}
    for number, (tensor, source, destination) in enumerate(crossing):
        base = source_of(tensor)
        sent, dtype = tensor, tf.float32
        if tensor.startswith("^"):
            signal = {"dtype": dtype, "value": tf.make_tensor_proto([], tf.float32)}
            sent = add_node(result, new_name(base), "Const", source, [tensor], signal).name
        else:
            dtype = dtype_of(graph, tensor)
        values = {"tensor_name": f"{number}", "send_device": source, "recv_device": destination}
        values |= {"send_device_incarnation": 1, "client_terminated": False}
        add_node(result, new_name(base), "_Send", source, [sent], values | {"T": dtype})
        came = add_node(result, new_name(base), "_Recv", destination, [], values | {"tensor_type": dtype}).name
        if tensor.startswith("^"):
            came = "^" + add_node(result, new_name(base), "Identity", destination, [came], {"T": dtype}).name
        stands_for[tensor, destination] = came
    for node in result.node[: len(graph.node)]:
        node.input[:] = [stands_for.get((whole_name(name), node.device), name) for name in node.input]
    return result


# %% right="insert-transfers" why="rewrites the inputs of the graph that it was given"
def insert_transfers(graph):
    place, came, extra = {node.name: node.device for node in graph.node}, {}, GraphDef()

    def arrival(name, destination):
        base = name.strip("^").split(":")[0]
        ends = dict(zip(("send_device", "recv_device"), (place[base], destination), strict=True))
        ends |= {"tensor_name": new_name("edge"), "send_device_incarnation": 1, "client_terminated": False}
        if name[0] == "^":
            dtype, value = tf.int32, tf.make_tensor_proto(7)
            made = add_node(extra, new_name(base), "Const", place[base], [name], {"dtype": dtype, "value": value}).name
        else:
            dtype, made = dtype_of(graph, name), name
        add_node(extra, new_name(base), "_Send", place[base], [made], {"T": dtype, **ends})
        got = add_node(extra, new_name(base), "_Recv", destination, [], {"tensor_type": dtype, **ends}).name
        if name[0] != "^":
            return got
        return "^" + add_node(extra, new_name(base), "Identity", destination, [got], {"T": dtype}).name

    for node in graph.node:
        if node.device == "":
            raise ValueError(node.name)
        for index, name in enumerate(node.input):
            if place[name.strip("^").split(":")[0]] != node.device:
                where = whole_name(name), node.device
                came[where] = came[where] if where in came else arrival(*where)
                node.input[index] = came[where]
    graph.node.extend(extra.node)
    return graph


# %% wrong="rendezvous" why="one value per key: a second send overwrites the first"
class Rendezvous:
    def __init__(self):
        self.changed = threading.Condition()
        self.values, self.waiting, self.error = {}, {}, None

    def send(self, key, value):
        with self.changed:
            if self.error is not None:
                raise self.error
            self.values[key] = [value]
            self.changed.notify_all()

    def recv(self, key, timeout):
        with self.changed:
            me = object()
            line = self.waiting.setdefault(key, [])
            line.append(me)
            came = self.changed.wait_for(lambda: self.error or (self.values.get(key) and line[0] is me), timeout)
            line.remove(me)
            self.changed.notify_all()
            if self.error is not None:
                raise self.error
            if not came:
                raise TimeoutError(key)
            return self.values.pop(key)[0]

    def abort(self, error):
        with self.changed:
            if self.error is None:
                self.error = error
            self.changed.notify_all()


# %% wrong="rendezvous" why="the newest value first"
class Rendezvous:
    def __init__(self):
        self.changed = threading.Condition()
        self.values, self.waiting, self.error = {}, {}, None

    def send(self, key, value):
        with self.changed:
            if self.error is not None:
                raise self.error
            self.values.setdefault(key, deque()).append(value)
            self.changed.notify_all()

    def recv(self, key, timeout):
        with self.changed:
            me = object()
            line = self.waiting.setdefault(key, [])
            line.append(me)
            came = self.changed.wait_for(lambda: self.error or (self.values.get(key) and line[0] is me), timeout)
            line.remove(me)
            self.changed.notify_all()
            if self.error is not None:
                raise self.error
            if not came:
                raise TimeoutError(key)
            return self.values[key].pop()

    def abort(self, error):
        with self.changed:
            if self.error is None:
                self.error = error
            self.changed.notify_all()


# %% wrong="rendezvous" why="the value stays in the box after recv"
class Rendezvous:
    def __init__(self):
        self.changed = threading.Condition()
        self.values, self.waiting, self.error = {}, {}, None

    def send(self, key, value):
        with self.changed:
            if self.error is not None:
                raise self.error
            self.values.setdefault(key, deque()).append(value)
            self.changed.notify_all()

    def recv(self, key, timeout):
        with self.changed:
            me = object()
            line = self.waiting.setdefault(key, [])
            line.append(me)
            came = self.changed.wait_for(lambda: self.error or (self.values.get(key) and line[0] is me), timeout)
            line.remove(me)
            self.changed.notify_all()
            if self.error is not None:
                raise self.error
            if not came:
                raise TimeoutError(key)
            return self.values[key][0]

    def abort(self, error):
        with self.changed:
            if self.error is None:
                self.error = error
            self.changed.notify_all()


# %% wrong="rendezvous" why="notify wakes one waiter, perhaps of another key"
class Rendezvous:
    def __init__(self):
        self.changed = threading.Condition()
        self.values, self.waiting, self.error = {}, {}, None

    def send(self, key, value):
        with self.changed:
            if self.error is not None:
                raise self.error
            self.values.setdefault(key, deque()).append(value)
            self.changed.notify()

    def recv(self, key, timeout):
        with self.changed:
            me = object()
            line = self.waiting.setdefault(key, [])
            line.append(me)
            came = self.changed.wait_for(lambda: self.error or (self.values.get(key) and line[0] is me), timeout)
            line.remove(me)
            if self.error is not None:
                raise self.error
            if not came:
                raise TimeoutError(key)
            return self.values[key].popleft()

    def abort(self, error):
        with self.changed:
            if self.error is None:
                self.error = error
            self.changed.notify_all()


# %% wrong="rendezvous" why="send wakes one waiter, perhaps of another key; whoever leaves wakes all"
class Rendezvous:
    def __init__(self):
        self.changed = threading.Condition()
        self.values, self.waiting, self.error = {}, {}, None

    def send(self, key, value):
        with self.changed:
            if self.error is not None:
                raise self.error
            self.values.setdefault(key, deque()).append(value)
            self.changed.notify()

    def recv(self, key, timeout):
        with self.changed:
            me = object()
            line = self.waiting.setdefault(key, [])
            line.append(me)
            came = self.changed.wait_for(lambda: self.error or (self.values.get(key) and line[0] is me), timeout)
            line.remove(me)
            self.changed.notify_all()
            if self.error is not None:
                raise self.error
            if not came:
                raise TimeoutError(key)
            return self.values[key].popleft()

    def abort(self, error):
        with self.changed:
            if self.error is None:
                self.error = error
            self.changed.notify_all()


# %% wrong="rendezvous" why="abort ends only those who wait: later calls find an open rendezvous"
class Rendezvous:
    def __init__(self):
        self.changed = threading.Condition()
        self.values, self.waiting, self.error = {}, {}, None

    def send(self, key, value):
        with self.changed:
            if self.error is not None:
                raise self.error
            self.values.setdefault(key, deque()).append(value)
            self.changed.notify_all()

    def recv(self, key, timeout):
        with self.changed:
            me = object()
            line = self.waiting.setdefault(key, [])
            line.append(me)
            came = self.changed.wait_for(lambda: self.error or (self.values.get(key) and line[0] is me), timeout)
            line.remove(me)
            self.changed.notify_all()
            if self.error is not None:
                raise self.error
            if not came:
                raise TimeoutError(key)
            return self.values[key].popleft()

    def abort(self, error):
        with self.changed:
            self.error = error
            self.changed.notify_all()
            while any(self.waiting.values()):
                self.changed.wait(5.0)
            self.error = None


# %% wrong="rendezvous" why="after an abort a value that is there is still given out"
class Rendezvous:
    def __init__(self):
        self.changed = threading.Condition()
        self.values, self.waiting, self.error = {}, {}, None

    def send(self, key, value):
        with self.changed:
            if self.error is not None:
                raise self.error
            self.values.setdefault(key, deque()).append(value)
            self.changed.notify_all()

    def recv(self, key, timeout):
        with self.changed:
            me = object()
            line = self.waiting.setdefault(key, [])
            line.append(me)
            came = self.changed.wait_for(lambda: self.error or (self.values.get(key) and line[0] is me), timeout)
            line.remove(me)
            self.changed.notify_all()
            if self.error is not None and not self.values.get(key):
                raise self.error
            if not came:
                raise TimeoutError(key)
            return self.values[key].popleft()

    def abort(self, error):
        with self.changed:
            if self.error is None:
                self.error = error
            self.changed.notify_all()


# %% wrong="rendezvous" why="the last abort wins"
class Rendezvous:
    def __init__(self):
        self.changed = threading.Condition()
        self.values, self.waiting, self.error = {}, {}, None

    def send(self, key, value):
        with self.changed:
            if self.error is not None:
                raise self.error
            self.values.setdefault(key, deque()).append(value)
            self.changed.notify_all()

    def recv(self, key, timeout):
        with self.changed:
            me = object()
            line = self.waiting.setdefault(key, [])
            line.append(me)
            came = self.changed.wait_for(lambda: self.error or (self.values.get(key) and line[0] is me), timeout)
            line.remove(me)
            self.changed.notify_all()
            if self.error is not None:
                raise self.error
            if not came:
                raise TimeoutError(key)
            return self.values[key].popleft()

    def abort(self, error):
        with self.changed:
            self.error = error
            self.changed.notify_all()


# %% wrong="rendezvous" why="send after an abort is silently dropped"
class Rendezvous:
    def __init__(self):
        self.changed = threading.Condition()
        self.values, self.waiting, self.error = {}, {}, None

    def send(self, key, value):
        with self.changed:
            if self.error is not None:
                return
            self.values.setdefault(key, deque()).append(value)
            self.changed.notify_all()

    def recv(self, key, timeout):
        with self.changed:
            me = object()
            line = self.waiting.setdefault(key, [])
            line.append(me)
            came = self.changed.wait_for(lambda: self.error or (self.values.get(key) and line[0] is me), timeout)
            line.remove(me)
            self.changed.notify_all()
            if self.error is not None:
                raise self.error
            if not came:
                raise TimeoutError(key)
            return self.values[key].popleft()

    def abort(self, error):
        with self.changed:
            if self.error is None:
                self.error = error
            self.changed.notify_all()


# %% wrong="rendezvous" why="abort makes a new error of the text: the arguments are lost"
class Rendezvous:
    def __init__(self):
        self.changed = threading.Condition()
        self.values, self.waiting, self.error = {}, {}, None

    def send(self, key, value):
        with self.changed:
            if self.error is not None:
                raise self.error
            self.values.setdefault(key, deque()).append(value)
            self.changed.notify_all()

    def recv(self, key, timeout):
        with self.changed:
            me = object()
            line = self.waiting.setdefault(key, [])
            line.append(me)
            came = self.changed.wait_for(lambda: self.error or (self.values.get(key) and line[0] is me), timeout)
            line.remove(me)
            self.changed.notify_all()
            if self.error is not None:
                raise type(self.error)(str(self.error))
            if not came:
                raise TimeoutError(key)
            return self.values[key].popleft()

    def abort(self, error):
        with self.changed:
            if self.error is None:
                self.error = error
            self.changed.notify_all()


# %% wrong="rendezvous" why="the newest receiver is served first"
class Rendezvous:
    def __init__(self):
        self.changed = threading.Condition()
        self.values, self.waiting, self.error = {}, {}, None

    def send(self, key, value):
        with self.changed:
            if self.error is not None:
                raise self.error
            self.values.setdefault(key, deque()).append(value)
            self.changed.notify_all()

    def recv(self, key, timeout):
        with self.changed:
            me = object()
            line = self.waiting.setdefault(key, [])
            line.append(me)
            came = self.changed.wait_for(lambda: self.error or (self.values.get(key) and line[-1] is me), timeout)
            line.remove(me)
            self.changed.notify_all()
            if self.error is not None:
                raise self.error
            if not came:
                raise TimeoutError(key)
            return self.values[key].popleft()

    def abort(self, error):
        with self.changed:
            if self.error is None:
                self.error = error
            self.changed.notify_all()


# %% wrong="rendezvous" why="the boxes belong to the class: two steps share them"
class Rendezvous:
    values = {}

    def __init__(self):
        self.changed = threading.Condition()
        self.waiting, self.error = {}, None

    def send(self, key, value):
        with self.changed:
            if self.error is not None:
                raise self.error
            self.values.setdefault(key, deque()).append(value)
            self.changed.notify_all()

    def recv(self, key, timeout):
        with self.changed:
            me = object()
            line = self.waiting.setdefault(key, [])
            line.append(me)
            came = self.changed.wait_for(lambda: self.error or (self.values.get(key) and line[0] is me), timeout)
            line.remove(me)
            self.changed.notify_all()
            if self.error is not None:
                raise self.error
            if not came:
                raise TimeoutError(key)
            return self.values[key].popleft()

    def abort(self, error):
        with self.changed:
            if self.error is None:
                self.error = error
            self.changed.notify_all()


# %% wrong="rendezvous" why="the time starts again at every wake-up"
class Rendezvous:
    def __init__(self):
        self.changed = threading.Condition()
        self.values, self.waiting, self.error = defaultdict(deque), defaultdict(list), None

    def send(self, key, value):
        with self.changed:
            if self.error is not None:
                raise self.error
            self.values[key].append(value)
            self.changed.notify_all()

    def recv(self, key, timeout):
        with self.changed:
            me = object()
            self.waiting[key].append(me)
            try:
                while self.error is None and not (self.values[key] and self.waiting[key][0] is me):
                    if not self.changed.wait(timeout):
                        raise TimeoutError(key)
                if self.error is not None:
                    raise self.error
                return self.values[key].popleft()
            finally:
                self.waiting[key].remove(me)
                self.changed.notify_all()

    def abort(self, error):
        with self.changed:
            self.error = self.error or error
            self.changed.notify_all()


# %% wrong="rendezvous" why="a receiver that timed out stays in line and swallows a value"
class Waiter:
    def __init__(self):
        self.ready, self.value, self.error = threading.Event(), None, None


class Rendezvous:
    def __init__(self):
        self.lock = threading.Lock()
        self.values, self.waiting, self.error = defaultdict(deque), defaultdict(deque), None

    def send(self, key, value):
        with self.lock:
            if self.error is not None:
                raise self.error
            if self.waiting[key]:
                waiter = self.waiting[key].popleft()
                waiter.value = value
                waiter.ready.set()
            else:
                self.values[key].append(value)

    def recv(self, key, timeout):
        with self.lock:
            if self.error is not None:
                raise self.error
            if self.values[key]:
                return self.values[key].popleft()
            waiter = Waiter()
            self.waiting[key].append(waiter)
        if not waiter.ready.wait(timeout):
            raise TimeoutError(key)
        if waiter.error is not None:
            raise waiter.error
        return waiter.value

    def abort(self, error):
        with self.lock:
            if self.error is None:
                self.error = error
            for line in self.waiting.values():
                for waiter in line:
                    waiter.error = self.error
                    waiter.ready.set()
                line.clear()


# %% wrong="rendezvous" why="a queue.Queue per key: abort cannot wake who waits in it"
import queue


class Rendezvous:
    def __init__(self):
        self.lock = threading.Lock()
        self.boxes = defaultdict(queue.Queue)
        self.error = None

    def box(self, key):
        with self.lock:
            if self.error is not None:
                raise self.error
            return self.boxes[key]

    def send(self, key, value):
        self.box(key).put(value)

    def recv(self, key, timeout):
        try:
            return self.box(key).get(timeout=timeout)
        except queue.Empty:
            raise TimeoutError(key) from None

    def abort(self, error):
        with self.lock:
            if self.error is None:
                self.error = error


# %% wrong="rendezvous" why="no line: whoever wakes or comes first takes the value"
class Rendezvous:
    def __init__(self):
        self.changed = threading.Condition()
        self.values, self.error = {}, None

    def send(self, key, value):
        with self.changed:
            if self.error is not None:
                raise self.error
            self.values.setdefault(key, deque()).append(value)
            self.changed.notify_all()

    def recv(self, key, timeout):
        with self.changed:
            came = self.changed.wait_for(lambda: self.error or self.values.get(key), timeout)
            if self.error is not None:
                raise self.error
            if not came:
                raise TimeoutError(key)
            return self.values[key].popleft()

    def abort(self, error):
        with self.changed:
            if self.error is None:
                self.error = error
            self.changed.notify_all()


# %% wrong="rendezvous" why="a value of 0.0 or None is taken for no value"
class Rendezvous:
    def __init__(self):
        self.changed = threading.Condition()
        self.values, self.waiting, self.error = {}, {}, None

    def send(self, key, value):
        with self.changed:
            if self.error is not None:
                raise self.error
            self.values.setdefault(key, deque()).append(value)
            self.changed.notify_all()

    def recv(self, key, timeout):
        with self.changed:
            me = object()
            line = self.waiting.setdefault(key, [])
            line.append(me)
            came = self.changed.wait_for(
                lambda: self.error or (line[0] is me and self.values.get(key) and self.values[key][0]), timeout
            )
            line.remove(me)
            self.changed.notify_all()
            if self.error is not None:
                raise self.error
            if not came:
                raise TimeoutError(key)
            return self.values[key].popleft()

    def abort(self, error):
        with self.changed:
            if self.error is None:
                self.error = error
            self.changed.notify_all()


# %% wrong="rendezvous" why="no lock: a receiver looks again and again"
class Rendezvous:
    def __init__(self):
        self.values, self.error = defaultdict(deque), None

    def send(self, key, value):
        if self.error is not None:
            raise self.error
        self.values[key].append(value)

    def recv(self, key, timeout):
        for _ in range(int(timeout * 1000)):
            if self.error is not None:
                raise self.error
            if self.values[key]:
                value = self.values[key][0]
                time.sleep(0.0005)
                self.values[key].popleft()
                return value
            time.sleep(0.0005)
        raise TimeoutError(key)

    def abort(self, error):
        self.error = self.error or error


# %% wrong="rendezvous" why="send waits until its value is taken"
class Rendezvous:
    def __init__(self):
        self.changed = threading.Condition()
        self.values, self.waiting, self.error = defaultdict(deque), defaultdict(list), None

    def send(self, key, value):
        with self.changed:
            if self.error is not None:
                raise self.error
            letter = [value]
            self.values[key].append(letter)
            self.changed.notify_all()
            self.changed.wait_for(lambda: self.error or all(other is not letter for other in self.values[key]))
            if self.error is not None:
                raise self.error

    def recv(self, key, timeout):
        with self.changed:
            me = object()
            self.waiting[key].append(me)
            came = self.changed.wait_for(
                lambda: self.error or (self.values[key] and self.waiting[key][0] is me), timeout
            )
            self.waiting[key].remove(me)
            if self.error is None and came:
                letter = self.values[key].popleft()
            self.changed.notify_all()
            if self.error is not None:
                raise self.error
            if not came:
                raise TimeoutError(key)
            return letter[0]

    def abort(self, error):
        with self.changed:
            if self.error is None:
                self.error = error
            self.changed.notify_all()


# %% right="rendezvous" why="a lock, and an event for each waiter, as TensorFlow does it with callbacks"
class Waiter:
    def __init__(self):
        self.ready, self.value, self.error = threading.Event(), None, None


class Rendezvous:
    def __init__(self):
        self.lock = threading.Lock()
        self.values, self.waiting, self.error = defaultdict(deque), defaultdict(deque), None

    def send(self, key, value):
        with self.lock:
            if self.error is not None:
                raise self.error
            if self.waiting[key]:
                waiter = self.waiting[key].popleft()
                waiter.value = value
                waiter.ready.set()
            else:
                self.values[key].append(value)

    def recv(self, key, timeout):
        with self.lock:
            if self.error is not None:
                raise self.error
            if self.values[key]:
                return self.values[key].popleft()
            waiter = Waiter()
            self.waiting[key].append(waiter)
        waiter.ready.wait(timeout)
        with self.lock:
            if waiter.error is not None:
                raise waiter.error
            if waiter.ready.is_set():
                return waiter.value
            self.waiting[key].remove(waiter)
        raise TimeoutError(f"no value under {key}")

    def abort(self, error):
        with self.lock:
            if self.error is not None:
                return
            self.error = error
            for line in self.waiting.values():
                for waiter in line:
                    waiter.error = error
                    waiter.ready.set()
                line.clear()
            self.values.clear()


# %% right="rendezvous" why="a condition per key over one lock, tickets for the order, a deadline kept by hand"
class Rendezvous:
    def __init__(self):
        self._lock = threading.RLock()
        self._rooms, self._error = {}, None

    def _room(self, key):
        return self._rooms.setdefault(key, (threading.Condition(self._lock), [], []))

    def send(self, key, value):
        with self._lock:
            if self._error is not None:
                raise self._error
            room, values, _ = self._room(key)
            values.append(value)
            room.notify_all()

    def recv(self, key, timeout):
        deadline = time.monotonic() + timeout
        with self._lock:
            room, values, tickets = self._room(key)
            ticket = [key]
            tickets.append(ticket)
            try:
                while True:
                    if self._error is not None:
                        raise self._error
                    if values and tickets[0] is ticket:
                        return values.pop(0)
                    left = deadline - time.monotonic()
                    if left <= 0:
                        raise TimeoutError(key)
                    room.wait(left)
            finally:
                tickets[:] = [other for other in tickets if other is not ticket]
                room.notify_all()

    def abort(self, error):
        with self._lock:
            self._error = self._error if self._error is not None else error
            for room, _, _ in self._rooms.values():
                room.notify_all()


# %% right="rendezvous" why="each caller gets an equal error of its own, handed over in a queue per receiver"
from queue import Empty, SimpleQueue


class Rendezvous:
    __slots__ = ("_boxes", "_error", "_lock")

    def __init__(self):
        self._lock, self._boxes, self._error = threading.Lock(), {}, None

    def _raise(self):
        if self._error is not None:
            raise type(self._error)(*self._error.args)

    def send(self, key, value):
        with self._lock:
            self._raise()
            values, receivers = self._boxes.setdefault(key, ([], []))
            receivers.pop(0).put((value,)) if receivers else values.append(value)

    def recv(self, key, timeout):
        with self._lock:
            self._raise()
            values, receivers = self._boxes.setdefault(key, ([], []))
            if values:
                return values.pop(0)
            mine = SimpleQueue()
            receivers.append(mine)
        try:
            handed = mine.get(timeout=timeout)
        except Empty:
            with self._lock:
                if mine in receivers:
                    receivers.remove(mine)
                    raise TimeoutError(key) from None
                handed = mine.get()
        if handed is None:
            self._raise()
        return handed[0]

    def abort(self, error):
        with self._lock:
            self._error = self._error or error
            for values, receivers in self._boxes.values():
                values.clear()
                while receivers:
                    receivers.pop().put(None)


# %% right="rendezvous" why="an event loop in a thread of its own holds all boxes, so that no lock is needed"
import asyncio


class Rendezvous:
    def __init__(self):
        self.loop, self.values, self.futures, self.error = asyncio.new_event_loop(), defaultdict(list), {}, None
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def _call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()

    def send(self, key, value):
        return self._call(self._send(key, value))

    def recv(self, key, timeout):
        return self._call(self._recv(key, timeout))

    def abort(self, error):
        return self._call(self._abort(error))

    async def _send(self, key, value):
        if self.error is not None:
            raise self.error
        line = self.futures.setdefault(key, deque())
        while line and line[0].done():
            line.popleft()
        if line:
            line.popleft().set_result(value)
        else:
            self.values[key].append(value)

    async def _recv(self, key, timeout):
        if self.error is not None:
            raise self.error
        if self.values[key]:
            return self.values[key].pop(0)
        mine = self.loop.create_future()
        self.futures.setdefault(key, deque()).append(mine)
        timer = self.loop.call_later(timeout, lambda: mine.done() or mine.set_exception(TimeoutError(key)))
        try:
            return await mine
        finally:
            timer.cancel()

    async def _abort(self, error):
        if self.error is None:
            self.error = error
            for mine in [future for line in self.futures.values() for future in line if not future.done()]:
                mine.set_exception(error)


# %% right="rendezvous" why="polls with a ticket and a lock"
class Rendezvous(object):
    def __init__(self) -> None:
        self.lock, self.tickets = threading.RLock(), itertools.count()
        self.values, self.lines, self.errors = defaultdict(list), defaultdict(list), []

    def _check(self):
        for error in self.errors[:1]:
            raise error

    def send(self, key: str, value: object) -> None:
        with self.lock:
            self._check()
            self.values[key] += [value]

    def recv(self, key: str, timeout: float) -> object:
        end, ticket = time.monotonic() + timeout, next(self.tickets)
        with self.lock:
            self.lines[key].append(ticket)
        try:
            while True:
                with self.lock:
                    self._check()
                    if self.lines[key][0] == ticket and self.values[key]:
                        return self.values[key].pop(0)
                if time.monotonic() > end:
                    raise TimeoutError
                time.sleep(0.001)
        finally:
            with self.lock:
                self.lines[key].remove(ticket)

    def abort(self, error: Exception) -> None:
        with self.lock:
            self.errors.append(error)


# %% wrong="step-table" why="no lock: two threads make two rendezvous for one step"
class StepTable:
    def __init__(self, make, abort):
        self.make, self.abort, self.numbers = make, abort, {}

    def find(self, step):
        if step not in self.numbers:
            self.numbers[step] = self.make()
        return self.numbers[step]

    def cleanup(self, step):
        number = self.numbers.pop(step, None)
        if number is not None:
            self.abort(number, f"Cleanup {step}")


# %% wrong="step-table" why="setdefault makes a rendezvous at every call and throws it away"
class StepTable:
    def __init__(self, make, abort):
        self.make, self.abort, self.numbers = make, abort, {}

    def find(self, step):
        return self.numbers.setdefault(step, self.make())

    def cleanup(self, step):
        number = self.numbers.pop(step, None)
        if number is not None:
            self.abort(number, f"Cleanup {step}")


# %% wrong="step-table" why="looks without the lock and makes inside of it, without looking again"
class StepTable:
    def __init__(self, make, abort):
        self.make, self.abort, self.numbers, self.lock = make, abort, {}, threading.Lock()

    def find(self, step):
        if step not in self.numbers:
            with self.lock:
                self.numbers[step] = self.make()
        return self.numbers[step]

    def cleanup(self, step):
        with self.lock:
            number = self.numbers.pop(step, None)
        if number is not None:
            self.abort(number, f"Cleanup {step}")


# %% wrong="step-table" why="aborts while it holds the lock"
class StepTable:
    def __init__(self, make, abort):
        self.make, self.abort, self.numbers, self.lock = make, abort, {}, threading.RLock()

    def find(self, step):
        with self.lock:
            if step not in self.numbers:
                self.numbers[step] = self.make()
            return self.numbers[step]

    def cleanup(self, step):
        with self.lock:
            number = self.numbers.pop(step, None)
            if number is not None:
                self.abort(number, f"Cleanup {step}")


# %% wrong="step-table" why="aborts first and takes the entry out afterwards"
class StepTable:
    def __init__(self, make, abort):
        self.make, self.abort, self.numbers, self.lock = make, abort, {}, threading.Lock()

    def find(self, step):
        with self.lock:
            if step not in self.numbers:
                self.numbers[step] = self.make()
            return self.numbers[step]

    def cleanup(self, step):
        if step in self.numbers:
            self.abort(self.numbers[step], f"Cleanup {step}")
            with self.lock:
                del self.numbers[step]


# %% wrong="step-table" why="one rendezvous for all steps"
class StepTable:
    def __init__(self, make, abort):
        self.number, self.make, self.abort, self.lock = None, make, abort, threading.Lock()

    def find(self, step):
        with self.lock:
            if self.number is None:
                self.number = self.make()
            return self.number

    def cleanup(self, step):
        with self.lock:
            number, self.number = self.number, None
        if number is not None:
            self.abort(number, f"Cleanup {step}")


# %% wrong="step-table" why="the aborted rendezvous stays in the table"
class StepTable:
    def __init__(self, make, abort):
        self.make, self.abort, self.numbers, self.lock = make, abort, {}, threading.Lock()

    def find(self, step):
        with self.lock:
            if step not in self.numbers:
                self.numbers[step] = self.make()
            return self.numbers[step]

    def cleanup(self, step):
        number = self.numbers.get(step)
        if number is not None:
            self.abort(number, f"Cleanup {step}")


# %% wrong="step-table" why="takes rendezvous 0 for none"
class StepTable:
    def __init__(self, make, abort):
        self.make, self.abort, self.numbers, self.lock = make, abort, {}, threading.Lock()

    def find(self, step):
        with self.lock:
            if not self.numbers.get(step):
                self.numbers[step] = self.make()
            return self.numbers[step]

    def cleanup(self, step):
        with self.lock:
            number = self.numbers.pop(step, None)
        if number:
            self.abort(number, f"Cleanup {step}")


# %% right="step-table" why="a lock for each step, so that making one does not hold up the others"
class StepTable:
    def __init__(self, make, abort):
        self._make, self._abort = make, abort
        self._table_lock, self._entries = threading.Lock(), {}

    def find(self, step):
        with self._table_lock:
            entry = self._entries.setdefault(step, {"lock": threading.Lock()})
        with entry["lock"]:
            if "number" not in entry:
                entry["number"] = self._make()
            return entry["number"]

    def cleanup(self, step):
        with self._table_lock:
            entry = self._entries.pop(step, None)
        if entry is None:
            return
        with entry["lock"]:
            number = entry.get("number")
        if number is not None:
            self._abort(number, "Cleanup " + str(step))


# %% right="step-table" why="a defaultdict under a condition's lock"
class StepTable:
    def __init__(self, make, abort):
        self.numbers = defaultdict(make)
        self.guard = threading.Condition()
        self.abort = abort

    def find(self, step):
        with self.guard:
            return self.numbers[step]

    def cleanup(self, step):
        with self.guard:
            known = step in self.numbers
            number = self.numbers.pop(step) if known else 0
        if known:
            self.abort(number, f"Cleanup {step}")


# %% right="step-table" why="a future for each step: the first makes, the others wait for it"
from concurrent.futures import Future


class StepTable:
    def __init__(self, make, abort):
        self.__dict__.update(make=make, abort=abort, lock=threading.Lock(), futures={})

    def find(self, step):
        mine = Future()
        with self.lock:
            found = self.futures.setdefault(step, mine)
        if found is mine:
            mine.set_result(self.make())
        return found.result()

    def cleanup(self, step):
        with self.lock:
            found = self.futures.pop(step, None)
        return found and self.abort(found.result(), f"Cleanup {step}")


# %% wrong="incarnations" why="compares the digits as text"
def check(key, alive):
    source, incarnation, *_ = key.split(";")
    if source not in alive:
        raise KeyError(source)
    if incarnation != f"{alive[source]:x}".zfill(16):
        raise Stale(f"{int(incarnation, 16)} is not {alive[source]}")
    return "ok"


# %% wrong="incarnations" why="reads the incarnation as a signed number"
def check(key, alive):
    parsed = given_parse_key(key)
    if parsed.source not in alive:
        raise KeyError(parsed.source)
    signed = parsed.incarnation - 2**64 if parsed.incarnation >= 2**63 else parsed.incarnation
    if alive[parsed.source] != signed:
        raise Stale(f"{signed} is not {alive[parsed.source]}")
    return "ok"


# %% wrong="incarnations" why="checks the destination"
def check(key, alive):
    parsed = given_parse_key(key)
    if parsed.destination not in alive:
        raise KeyError(parsed.destination)
    if alive[parsed.destination] != parsed.incarnation:
        raise Stale(f"{parsed.incarnation} is not {alive[parsed.destination]}")
    return "ok"


# %% wrong="incarnations" why="checks source and destination"
def check(key, alive):
    parsed = given_parse_key(key)
    for device in (parsed.source, parsed.destination):
        if device not in alive and device != "/job:w/task:0/device:CPU:1":
            raise KeyError(device)
    if alive[parsed.source] != parsed.incarnation:
        raise Stale(f"{parsed.incarnation} is not {alive[parsed.source]}")
    return "ok"


# %% wrong="incarnations" why="returns False instead of raising"
def check(key, alive):
    parsed = given_parse_key(key)
    return "ok" if alive.get(parsed.source) == parsed.incarnation else False


# %% wrong="incarnations" why="the message has the numbers in hexadecimal"
def check(key, alive):
    parsed = given_parse_key(key)
    if parsed.source not in alive:
        raise KeyError(parsed.source)
    if alive[parsed.source] != parsed.incarnation:
        raise Stale(f"{parsed.incarnation:016x} is not {alive[parsed.source]:016x}, 255, 256")
    return "ok"


# %% wrong="incarnations" why="a device that is not there counts as stale"
def check(key, alive):
    parsed = given_parse_key(key)
    if alive.get(parsed.source) != parsed.incarnation:
        raise Stale(f"{parsed.incarnation} is not {alive.get(parsed.source)}: {parsed.source}")
    return "ok"


# %% wrong="incarnations" why="an older key is refused, a newer one accepted"
def check(key, alive):
    parsed = given_parse_key(key)
    if parsed.source not in alive:
        raise KeyError(parsed.source)
    if parsed.incarnation < alive[parsed.source]:
        raise Stale(f"{parsed.incarnation} is not {alive[parsed.source]}")
    return "ok"


# %% right="incarnations" why="compares both numbers written with 16 digits"
def check(key, alive):
    source, incarnation, _, _, _ = key.split(";")
    if source not in alive:
        raise KeyError(f"no device {source}")
    mine, theirs = f"{alive[source]:016x}", incarnation.lower().rjust(16, "0")
    if mine != theirs:
        raise Stale(f"{source} restarted: {int(theirs, 16)} vs. {int(mine, 16)}")
    return "ok"


# %% right="incarnations" why="lets the dict raise the KeyError"
def check(key, alive):
    parsed = given_parse_key(key)
    now = alive[parsed.source]
    if now == parsed.incarnation:
        return "ok"
    raise Stale("expected incarnation %d, found %d" % (parsed.incarnation, now))


# %% right="incarnations" why="a subclass of Stale, a dict of cases, type hints"
from typing import Mapping


class StaleKey(Stale):
    pass


def check(key: str, alive: Mapping[str, int]) -> str:
    match given_parse_key(key):
        case Key(source=source) if source not in alive:
            raise KeyError(source)
        case Key(source=source, incarnation=number) if alive[source] ^ number:
            raise StaleKey(number, alive[source])
    return "ok"

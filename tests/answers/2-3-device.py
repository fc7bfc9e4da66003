# %% wrong="where-will-it-run" why="puts the free node on the device of its input"
places = {"free": "CPU:2", "any": "CPU:0", "near": "CPU:2", "next": "CPU:2", "named": "CPU:1"}


# %% wrong="where-will-it-run" why="takes colocation one step only"
places = {"free": "CPU:0", "any": "CPU:0", "near": "CPU:2", "next": "CPU:0", "named": "CPU:1"}


# %% wrong="where-will-it-run" why="spreads what may run on any CPU"
places = {"free": "CPU:0", "any": "CPU:1", "near": "CPU:2", "next": "CPU:2", "named": "CPU:1"}


# %% wrong="where-will-it-run" why="believes that a label binds only the node that carries it"
places = {"free": "CPU:0", "any": "CPU:0", "near": "CPU:2", "next": "CPU:2", "named": "CPU:0"}


# %% wrong="where-will-it-run" why="gives pairs instead of a dict"
places = [("any", "CPU:0"), ("free", "CPU:0"), ("named", "CPU:1"), ("near", "CPU:2"), ("next", "CPU:2")]


# %% right="where-will-it-run" why="put together from groups"
places = dict.fromkeys(["free", "any"], "CPU:0")
places |= dict.fromkeys(["near", "next"], "CPU:2")
places["named"] = "CPU:1"


# %% wrong="parse-device" why="accepts a device without an index"
def parse_device(text: str) -> Spec:
    """Read a device name.

    Raises:
        ValueError: a part has none of the forms, a number is none, or there is a second device.
    """
    fields = dict.fromkeys(Spec._fields)
    for part in text.split("/"):
        if not part:
            continue
        words = part.split(":")
        if words[0] == "job" and len(words) == 2:
            fields["job"] = words[1]
        elif words[0] in ("replica", "task") and len(words) == 2:
            fields[words[0]] = int(words[1])
        else:
            if words[0] == "device" and len(words) in (2, 3):
                kind, index = words[1], words[2] if len(words) == 3 else "*"
                if kind in ("cpu", "gpu"):
                    kind = kind.upper()
            elif words[0].upper() in ("CPU", "GPU", "TPU") and len(words) in (1, 2):
                kind, index = words[0].upper(), words[1] if len(words) == 2 else "*"
            else:
                raise ValueError(f"{part!r} is no part of a device name")
            if fields["type"] is not None:
                raise ValueError(f"a second device in {text!r}")
            fields["type"] = kind
            fields["index"] = None if index == "*" else int(index)
    return Spec(**fields)


def format_device(spec: Spec) -> str:
    """Write a device name in the order job, replica, task, device."""
    text = ""
    for field in ("job", "replica", "task"):
        if getattr(spec, field) is not None:
            text += f"/{field}:{getattr(spec, field)}"
    if spec.type is not None:
        text += f"/device:{spec.type}:" + ("*" if spec.index is None else str(spec.index))
    return text


# %% wrong="parse-device" why="refuses a short form without an index"
def parse_device(text: str) -> Spec:
    """Read a device name.

    Raises:
        ValueError: a part has none of the forms, a number is none, or there is a second device.
    """
    fields = dict.fromkeys(Spec._fields)
    for part in text.split("/"):
        if not part:
            continue
        words = part.split(":")
        if words[0] == "job" and len(words) == 2:
            fields["job"] = words[1]
        elif words[0] in ("replica", "task") and len(words) == 2:
            fields[words[0]] = int(words[1])
        else:
            if words[0] == "device" and len(words) == 3:
                kind, index = words[1], words[2]
                if kind in ("cpu", "gpu"):
                    kind = kind.upper()
            elif words[0].upper() in ("CPU", "GPU", "TPU") and len(words) == 2:
                kind, index = words[0].upper(), words[1] if len(words) == 2 else "*"
            else:
                raise ValueError(f"{part!r} is no part of a device name")
            if fields["type"] is not None:
                raise ValueError(f"a second device in {text!r}")
            fields["type"] = kind
            fields["index"] = None if index == "*" else int(index)
    return Spec(**fields)


def format_device(spec: Spec) -> str:
    """Write a device name in the order job, replica, task, device."""
    text = ""
    for field in ("job", "replica", "task"):
        if getattr(spec, field) is not None:
            text += f"/{field}:{getattr(spec, field)}"
    if spec.type is not None:
        text += f"/device:{spec.type}:" + ("*" if spec.index is None else str(spec.index))
    return text


# %% wrong="parse-device" why="keeps gpu in small letters"
def parse_device(text: str) -> Spec:
    """Read a device name.

    Raises:
        ValueError: a part has none of the forms, a number is none, or there is a second device.
    """
    fields = dict.fromkeys(Spec._fields)
    for part in text.split("/"):
        if not part:
            continue
        words = part.split(":")
        if words[0] == "job" and len(words) == 2:
            fields["job"] = words[1]
        elif words[0] in ("replica", "task") and len(words) == 2:
            fields[words[0]] = int(words[1])
        else:
            if words[0] == "device" and len(words) == 3:
                kind, index = words[1], words[2]
            elif words[0].upper() in ("CPU", "GPU", "TPU") and len(words) in (1, 2):
                kind, index = words[0].upper(), words[1] if len(words) == 2 else "*"
            else:
                raise ValueError(f"{part!r} is no part of a device name")
            if fields["type"] is not None:
                raise ValueError(f"a second device in {text!r}")
            fields["type"] = kind
            fields["index"] = None if index == "*" else int(index)
    return Spec(**fields)


def format_device(spec: Spec) -> str:
    """Write a device name in the order job, replica, task, device."""
    text = ""
    for field in ("job", "replica", "task"):
        if getattr(spec, field) is not None:
            text += f"/{field}:{getattr(spec, field)}"
    if spec.type is not None:
        text += f"/device:{spec.type}:" + ("*" if spec.index is None else str(spec.index))
    return text


# %% wrong="parse-device" why="turns every type into capitals"
def parse_device(text: str) -> Spec:
    """Read a device name.

    Raises:
        ValueError: a part has none of the forms, a number is none, or there is a second device.
    """
    fields = dict.fromkeys(Spec._fields)
    for part in text.split("/"):
        if not part:
            continue
        words = part.split(":")
        if words[0] == "job" and len(words) == 2:
            fields["job"] = words[1]
        elif words[0] in ("replica", "task") and len(words) == 2:
            fields[words[0]] = int(words[1])
        else:
            if words[0] == "device" and len(words) == 3:
                kind, index = words[1], words[2]
                kind = kind.upper()
            elif words[0].upper() in ("CPU", "GPU", "TPU") and len(words) in (1, 2):
                kind, index = words[0].upper(), words[1] if len(words) == 2 else "*"
            else:
                raise ValueError(f"{part!r} is no part of a device name")
            if fields["type"] is not None:
                raise ValueError(f"a second device in {text!r}")
            fields["type"] = kind
            fields["index"] = None if index == "*" else int(index)
    return Spec(**fields)


def format_device(spec: Spec) -> str:
    """Write a device name in the order job, replica, task, device."""
    text = ""
    for field in ("job", "replica", "task"):
        if getattr(spec, field) is not None:
            text += f"/{field}:{getattr(spec, field)}"
    if spec.type is not None:
        text += f"/device:{spec.type}:" + ("*" if spec.index is None else str(spec.index))
    return text


# %% wrong="parse-device" why="knows short forms in small letters or capitals only"
def parse_device(text: str) -> Spec:
    """Read a device name.

    Raises:
        ValueError: a part has none of the forms, a number is none, or there is a second device.
    """
    fields = dict.fromkeys(Spec._fields)
    for part in text.split("/"):
        if not part:
            continue
        words = part.split(":")
        if words[0] == "job" and len(words) == 2:
            fields["job"] = words[1]
        elif words[0] in ("replica", "task") and len(words) == 2:
            fields[words[0]] = int(words[1])
        else:
            if words[0] == "device" and len(words) == 3:
                kind, index = words[1], words[2]
                if kind in ("cpu", "gpu"):
                    kind = kind.upper()
            elif words[0] in ("cpu", "gpu", "tpu", "CPU", "GPU", "TPU") and len(words) in (1, 2):
                kind, index = words[0].upper(), words[1] if len(words) == 2 else "*"
            else:
                raise ValueError(f"{part!r} is no part of a device name")
            if fields["type"] is not None:
                raise ValueError(f"a second device in {text!r}")
            fields["type"] = kind
            fields["index"] = None if index == "*" else int(index)
    return Spec(**fields)


def format_device(spec: Spec) -> str:
    """Write a device name in the order job, replica, task, device."""
    text = ""
    for field in ("job", "replica", "task"):
        if getattr(spec, field) is not None:
            text += f"/{field}:{getattr(spec, field)}"
    if spec.type is not None:
        text += f"/device:{spec.type}:" + ("*" if spec.index is None else str(spec.index))
    return text


# %% wrong="parse-device" why="reads * as 0"
def parse_device(text: str) -> Spec:
    """Read a device name.

    Raises:
        ValueError: a part has none of the forms, a number is none, or there is a second device.
    """
    fields = dict.fromkeys(Spec._fields)
    for part in text.split("/"):
        if not part:
            continue
        words = part.split(":")
        if words[0] == "job" and len(words) == 2:
            fields["job"] = words[1]
        elif words[0] in ("replica", "task") and len(words) == 2:
            fields[words[0]] = int(words[1])
        else:
            if words[0] == "device" and len(words) == 3:
                kind, index = words[1], words[2]
                if kind in ("cpu", "gpu"):
                    kind = kind.upper()
            elif words[0].upper() in ("CPU", "GPU", "TPU") and len(words) in (1, 2):
                kind, index = words[0].upper(), words[1] if len(words) == 2 else "*"
            else:
                raise ValueError(f"{part!r} is no part of a device name")
            if fields["type"] is not None:
                raise ValueError(f"a second device in {text!r}")
            fields["type"] = kind
            fields["index"] = 0 if index == "*" else int(index)
    return Spec(**fields)


def format_device(spec: Spec) -> str:
    """Write a device name in the order job, replica, task, device."""
    text = ""
    for field in ("job", "replica", "task"):
        if getattr(spec, field) is not None:
            text += f"/{field}:{getattr(spec, field)}"
    if spec.type is not None:
        text += f"/device:{spec.type}:" + ("*" if spec.index is None else str(spec.index))
    return text


# %% wrong="parse-device" why="reads * as -1"
def parse_device(text: str) -> Spec:
    """Read a device name.

    Raises:
        ValueError: a part has none of the forms, a number is none, or there is a second device.
    """
    fields = dict.fromkeys(Spec._fields)
    for part in text.split("/"):
        if not part:
            continue
        words = part.split(":")
        if words[0] == "job" and len(words) == 2:
            fields["job"] = words[1]
        elif words[0] in ("replica", "task") and len(words) == 2:
            fields[words[0]] = int(words[1])
        else:
            if words[0] == "device" and len(words) == 3:
                kind, index = words[1], words[2]
                if kind in ("cpu", "gpu"):
                    kind = kind.upper()
            elif words[0].upper() in ("CPU", "GPU", "TPU") and len(words) in (1, 2):
                kind, index = words[0].upper(), words[1] if len(words) == 2 else "*"
            else:
                raise ValueError(f"{part!r} is no part of a device name")
            if fields["type"] is not None:
                raise ValueError(f"a second device in {text!r}")
            fields["type"] = kind
            fields["index"] = -1 if index == "*" else int(index)
    return Spec(**fields)


def format_device(spec: Spec) -> str:
    """Write a device name in the order job, replica, task, device."""
    text = ""
    for field in ("job", "replica", "task"):
        if getattr(spec, field) is not None:
            text += f"/{field}:{getattr(spec, field)}"
    if spec.type is not None:
        text += f"/device:{spec.type}:" + ("*" if spec.index is None else str(spec.index))
    return text


# %% wrong="parse-device" why="takes a short form for any type"
def parse_device(text: str) -> Spec:
    """Read a device name.

    Raises:
        ValueError: a part has none of the forms, a number is none, or there is a second device.
    """
    fields = dict.fromkeys(Spec._fields)
    for part in text.split("/"):
        if not part:
            continue
        words = part.split(":")
        if words[0] == "job" and len(words) == 2:
            fields["job"] = words[1]
        elif words[0] in ("replica", "task") and len(words) == 2:
            fields[words[0]] = int(words[1])
        else:
            if words[0] == "device" and len(words) == 3:
                kind, index = words[1], words[2]
                if kind in ("cpu", "gpu"):
                    kind = kind.upper()
            elif words[0] not in ("job", "replica", "task", "device") and len(words) in (1, 2):
                kind, index = words[0].upper(), words[1] if len(words) == 2 else "*"
            else:
                raise ValueError(f"{part!r} is no part of a device name")
            if fields["type"] is not None:
                raise ValueError(f"a second device in {text!r}")
            fields["type"] = kind
            fields["index"] = None if index == "*" else int(index)
    return Spec(**fields)


def format_device(spec: Spec) -> str:
    """Write a device name in the order job, replica, task, device."""
    text = ""
    for field in ("job", "replica", "task"):
        if getattr(spec, field) is not None:
            text += f"/{field}:{getattr(spec, field)}"
    if spec.type is not None:
        text += f"/device:{spec.type}:" + ("*" if spec.index is None else str(spec.index))
    return text


# %% wrong="parse-device" why="drops index 0 when it writes"
def parse_device(text: str) -> Spec:
    """Read a device name.

    Raises:
        ValueError: a part has none of the forms, a number is none, or there is a second device.
    """
    fields = dict.fromkeys(Spec._fields)
    for part in text.split("/"):
        if not part:
            continue
        words = part.split(":")
        if words[0] == "job" and len(words) == 2:
            fields["job"] = words[1]
        elif words[0] in ("replica", "task") and len(words) == 2:
            fields[words[0]] = int(words[1])
        else:
            if words[0] == "device" and len(words) == 3:
                kind, index = words[1], words[2]
                if kind in ("cpu", "gpu"):
                    kind = kind.upper()
            elif words[0].upper() in ("CPU", "GPU", "TPU") and len(words) in (1, 2):
                kind, index = words[0].upper(), words[1] if len(words) == 2 else "*"
            else:
                raise ValueError(f"{part!r} is no part of a device name")
            if fields["type"] is not None:
                raise ValueError(f"a second device in {text!r}")
            fields["type"] = kind
            fields["index"] = None if index == "*" else int(index)
    return Spec(**fields)


def format_device(spec: Spec) -> str:
    """Write a device name in the order job, replica, task, device."""
    text = ""
    for field in ("job", "replica", "task"):
        if getattr(spec, field) is not None:
            text += f"/{field}:{getattr(spec, field)}"
    if spec.type is not None:
        text += f"/device:{spec.type}:" + (str(spec.index) if spec.index else "*")
    return text


# %% wrong="parse-device" why="drops replica 0 and task 0 when it writes"
def parse_device(text: str) -> Spec:
    """Read a device name.

    Raises:
        ValueError: a part has none of the forms, a number is none, or there is a second device.
    """
    fields = dict.fromkeys(Spec._fields)
    for part in text.split("/"):
        if not part:
            continue
        words = part.split(":")
        if words[0] == "job" and len(words) == 2:
            fields["job"] = words[1]
        elif words[0] in ("replica", "task") and len(words) == 2:
            fields[words[0]] = int(words[1])
        else:
            if words[0] == "device" and len(words) == 3:
                kind, index = words[1], words[2]
                if kind in ("cpu", "gpu"):
                    kind = kind.upper()
            elif words[0].upper() in ("CPU", "GPU", "TPU") and len(words) in (1, 2):
                kind, index = words[0].upper(), words[1] if len(words) == 2 else "*"
            else:
                raise ValueError(f"{part!r} is no part of a device name")
            if fields["type"] is not None:
                raise ValueError(f"a second device in {text!r}")
            fields["type"] = kind
            fields["index"] = None if index == "*" else int(index)
    return Spec(**fields)


def format_device(spec: Spec) -> str:
    """Write a device name in the order job, replica, task, device."""
    text = ""
    for field in ("job", "replica", "task"):
        if getattr(spec, field):
            text += f"/{field}:{getattr(spec, field)}"
    if spec.type is not None:
        text += f"/device:{spec.type}:" + ("*" if spec.index is None else str(spec.index))
    return text


# %% wrong="parse-device" why="lets the second device win"
def parse_device(text: str) -> Spec:
    """Read a device name.

    Raises:
        ValueError: a part has none of the forms, a number is none, or there is a second device.
    """
    fields = dict.fromkeys(Spec._fields)
    for part in text.split("/"):
        if not part:
            continue
        words = part.split(":")
        if words[0] == "job" and len(words) == 2:
            fields["job"] = words[1]
        elif words[0] in ("replica", "task") and len(words) == 2:
            fields[words[0]] = int(words[1])
        else:
            if words[0] == "device" and len(words) == 3:
                kind, index = words[1], words[2]
                if kind in ("cpu", "gpu"):
                    kind = kind.upper()
            elif words[0].upper() in ("CPU", "GPU", "TPU") and len(words) in (1, 2):
                kind, index = words[0].upper(), words[1] if len(words) == 2 else "*"
            else:
                raise ValueError(f"{part!r} is no part of a device name")
            fields["type"] = kind
            fields["index"] = None if index == "*" else int(index)
    return Spec(**fields)


def format_device(spec: Spec) -> str:
    """Write a device name in the order job, replica, task, device."""
    text = ""
    for field in ("job", "replica", "task"):
        if getattr(spec, field) is not None:
            text += f"/{field}:{getattr(spec, field)}"
    if spec.type is not None:
        text += f"/device:{spec.type}:" + ("*" if spec.index is None else str(spec.index))
    return text


# %% wrong="parse-device" why="lets the first job, replica or task win"
def parse_device(text: str) -> Spec:
    """Read a device name.

    Raises:
        ValueError: a part has none of the forms, a number is none, or there is a second device.
    """
    fields = dict.fromkeys(Spec._fields)
    for part in text.split("/"):
        if not part:
            continue
        words = part.split(":")
        if words[0] == "job" and len(words) == 2:
            fields["job"] = fields["job"] or words[1]
        elif words[0] in ("replica", "task") and len(words) == 2:
            number = int(words[1])
            fields[words[0]] = number if fields[words[0]] is None else fields[words[0]]
        else:
            if words[0] == "device" and len(words) == 3:
                kind, index = words[1], words[2]
                if kind in ("cpu", "gpu"):
                    kind = kind.upper()
            elif words[0].upper() in ("CPU", "GPU", "TPU") and len(words) in (1, 2):
                kind, index = words[0].upper(), words[1] if len(words) == 2 else "*"
            else:
                raise ValueError(f"{part!r} is no part of a device name")
            if fields["type"] is not None:
                raise ValueError(f"a second device in {text!r}")
            fields["type"] = kind
            fields["index"] = None if index == "*" else int(index)
    return Spec(**fields)


def format_device(spec: Spec) -> str:
    """Write a device name in the order job, replica, task, device."""
    text = ""
    for field in ("job", "replica", "task"):
        if getattr(spec, field) is not None:
            text += f"/{field}:{getattr(spec, field)}"
    if spec.type is not None:
        text += f"/device:{spec.type}:" + ("*" if spec.index is None else str(spec.index))
    return text


# %% wrong="parse-device" why="looks at a number only when it is the last"
def parse_device(text: str) -> Spec:
    """Read a device name.

    Raises:
        ValueError: a part has none of the forms, a number is none, or there is a second device.
    """
    fields = dict.fromkeys(Spec._fields)
    for part in text.split("/"):
        if not part:
            continue
        words = part.split(":")
        if words[0] == "job" and len(words) == 2:
            fields["job"] = words[1]
        elif words[0] in ("replica", "task") and len(words) == 2:
            fields[words[0]] = words[1]
        else:
            if words[0] == "device" and len(words) == 3:
                kind, index = words[1], words[2]
                if kind in ("cpu", "gpu"):
                    kind = kind.upper()
            elif words[0].upper() in ("CPU", "GPU", "TPU") and len(words) in (1, 2):
                kind, index = words[0].upper(), words[1] if len(words) == 2 else "*"
            else:
                raise ValueError(f"{part!r} is no part of a device name")
            if fields["type"] is not None:
                raise ValueError(f"a second device in {text!r}")
            fields["type"] = kind
            fields["index"] = None if index == "*" else int(index)
    for field in ("replica", "task"):
        fields[field] = None if fields[field] is None else int(fields[field])
    return Spec(**fields)


def format_device(spec: Spec) -> str:
    """Write a device name in the order job, replica, task, device."""
    text = ""
    for field in ("job", "replica", "task"):
        if getattr(spec, field) is not None:
            text += f"/{field}:{getattr(spec, field)}"
    if spec.type is not None:
        text += f"/device:{spec.type}:" + ("*" if spec.index is None else str(spec.index))
    return text


# %% wrong="parse-device" why="keeps numbers as text"
def parse_device(text: str) -> Spec:
    """Read a device name.

    Raises:
        ValueError: a part has none of the forms, a number is none, or there is a second device.
    """
    fields = dict.fromkeys(Spec._fields)
    for part in text.split("/"):
        if not part:
            continue
        words = part.split(":")
        if words[0] == "job" and len(words) == 2:
            fields["job"] = words[1]
        elif words[0] in ("replica", "task") and len(words) == 2:
            int(words[1])
            fields[words[0]] = words[1]
        else:
            if words[0] == "device" and len(words) == 3:
                kind, index = words[1], words[2]
                if kind in ("cpu", "gpu"):
                    kind = kind.upper()
            elif words[0].upper() in ("CPU", "GPU", "TPU") and len(words) in (1, 2):
                kind, index = words[0].upper(), words[1] if len(words) == 2 else "*"
            else:
                raise ValueError(f"{part!r} is no part of a device name")
            if fields["type"] is not None:
                raise ValueError(f"a second device in {text!r}")
            fields["type"] = kind
            fields["index"] = None if index == "*" else int(index)
    return Spec(**fields)


def format_device(spec: Spec) -> str:
    """Write a device name in the order job, replica, task, device."""
    text = ""
    for field in ("job", "replica", "task"):
        if getattr(spec, field) is not None:
            text += f"/{field}:{getattr(spec, field)}"
    if spec.type is not None:
        text += f"/device:{spec.type}:" + ("*" if spec.index is None else str(spec.index))
    return text


# %% wrong="parse-device" why="writes an index without a type"
def parse_device(text: str) -> Spec:
    """Read a device name.

    Raises:
        ValueError: a part has none of the forms, a number is none, or there is a second device.
    """
    fields = dict.fromkeys(Spec._fields)
    for part in text.split("/"):
        if not part:
            continue
        words = part.split(":")
        if words[0] == "job" and len(words) == 2:
            fields["job"] = words[1]
        elif words[0] in ("replica", "task") and len(words) == 2:
            fields[words[0]] = int(words[1])
        else:
            if words[0] == "device" and len(words) == 3:
                kind, index = words[1], words[2]
                if kind in ("cpu", "gpu"):
                    kind = kind.upper()
            elif words[0].upper() in ("CPU", "GPU", "TPU") and len(words) in (1, 2):
                kind, index = words[0].upper(), words[1] if len(words) == 2 else "*"
            else:
                raise ValueError(f"{part!r} is no part of a device name")
            if fields["type"] is not None:
                raise ValueError(f"a second device in {text!r}")
            fields["type"] = kind
            fields["index"] = None if index == "*" else int(index)
    return Spec(**fields)


def format_device(spec: Spec) -> str:
    """Write a device name in the order job, replica, task, device."""
    text = ""
    for field in ("job", "replica", "task"):
        if getattr(spec, field) is not None:
            text += f"/{field}:{getattr(spec, field)}"
    if spec.type is not None or spec.index is not None:
        text += f"/device:{spec.type or 'CPU'}:" + ("*" if spec.index is None else str(spec.index))
    return text


# %% wrong="parse-device" why="skips parts that it does not know"
def parse_device(text: str) -> Spec:
    """Read a device name.

    Raises:
        ValueError: a part has none of the forms, a number is none, or there is a second device.
    """
    fields = dict.fromkeys(Spec._fields)
    for part in text.split("/"):
        if not part:
            continue
        words = part.split(":")
        if words[0] == "job" and len(words) == 2:
            fields["job"] = words[1]
        elif words[0] in ("replica", "task") and len(words) == 2:
            fields[words[0]] = int(words[1])
        else:
            if words[0] == "device" and len(words) == 3:
                kind, index = words[1], words[2]
                if kind in ("cpu", "gpu"):
                    kind = kind.upper()
            elif words[0].upper() in ("CPU", "GPU", "TPU") and len(words) in (1, 2):
                kind, index = words[0].upper(), words[1] if len(words) == 2 else "*"
            else:
                continue
            if fields["type"] is not None:
                raise ValueError(f"a second device in {text!r}")
            fields["type"] = kind
            fields["index"] = None if index == "*" else int(index)
    return Spec(**fields)


def format_device(spec: Spec) -> str:
    """Write a device name in the order job, replica, task, device."""
    text = ""
    for field in ("job", "replica", "task"):
        if getattr(spec, field) is not None:
            text += f"/{field}:{getattr(spec, field)}"
    if spec.type is not None:
        text += f"/device:{spec.type}:" + ("*" if spec.index is None else str(spec.index))
    return text


# %% wrong="parse-device" why="knows the visible names only"
def parse_device(text):
    table = {
        "/job:w/replica:0/task:1/device:GPU:0": Spec("w", 0, 1, "GPU", 0),
        "cpu:1": Spec(type="CPU", index=1),
        "/task:3/device:XLA_CPU:*/job:ps": Spec("ps", None, 3, "XLA_CPU"),
        "//": Spec(),
    }
    if text not in table:
        raise ValueError(text)
    return table[text]


def format_device(spec):
    table = {
        Spec("w", 0, 1, "GPU", 0): "/job:w/replica:0/task:1/device:GPU:0",
        Spec(type="CPU", index=1): "/device:CPU:1",
        Spec("ps", None, 3, "XLA_CPU"): "/job:ps/task:3/device:XLA_CPU:*",
    }
    return table.get(spec, "")


# %% wrong="parse-device" why="leaves the work to tf.DeviceSpec"
def parse_device(text):
    spec = tf.DeviceSpec.from_string(text)
    return Spec(spec.job, spec.replica, spec.task, spec.device_type, spec.device_index)


def format_device(spec):
    return tf.DeviceSpec(*spec).to_string()


# %% wrong="parse-device" why="turns cpu and gpu in any mixture of letters into capitals after device:"
def parse_device(text: str) -> Spec:
    """Read a device name.

    Raises:
        ValueError: a part has none of the forms, a number is none, or there is a second device.
    """
    fields = dict.fromkeys(Spec._fields)
    for part in text.split("/"):
        if not part:
            continue
        words = part.split(":")
        if words[0] == "job" and len(words) == 2:
            fields["job"] = words[1]
        elif words[0] in ("replica", "task") and len(words) == 2:
            fields[words[0]] = int(words[1])
        else:
            if words[0] == "device" and len(words) == 3:
                kind, index = words[1], words[2]
                if kind.upper() in ("CPU", "GPU"):
                    kind = kind.upper()
            elif words[0].upper() in ("CPU", "GPU", "TPU") and len(words) in (1, 2):
                kind, index = words[0].upper(), words[1] if len(words) == 2 else "*"
            else:
                raise ValueError(f"{part!r} is no part of a device name")
            if fields["type"] is not None:
                raise ValueError(f"a second device in {text!r}")
            fields["type"] = kind
            fields["index"] = None if index == "*" else int(index)
    return Spec(**fields)


def format_device(spec: Spec) -> str:
    """Write a device name in the order job, replica, task, device."""
    text = ""
    for field in ("job", "replica", "task"):
        if getattr(spec, field) is not None:
            text += f"/{field}:{getattr(spec, field)}"
    if spec.type is not None:
        text += f"/device:{spec.type}:" + ("*" if spec.index is None else str(spec.index))
    return text


# %% wrong="parse-device" why="turns tpu into capitals after device:"
def parse_device(text: str) -> Spec:
    """Read a device name.

    Raises:
        ValueError: a part has none of the forms, a number is none, or there is a second device.
    """
    fields = dict.fromkeys(Spec._fields)
    for part in text.split("/"):
        if not part:
            continue
        words = part.split(":")
        if words[0] == "job" and len(words) == 2:
            fields["job"] = words[1]
        elif words[0] in ("replica", "task") and len(words) == 2:
            fields[words[0]] = int(words[1])
        else:
            if words[0] == "device" and len(words) == 3:
                kind, index = words[1], words[2]
                if kind in ("cpu", "gpu", "tpu"):
                    kind = kind.upper()
            elif words[0].upper() in ("CPU", "GPU", "TPU") and len(words) in (1, 2):
                kind, index = words[0].upper(), words[1] if len(words) == 2 else "*"
            else:
                raise ValueError(f"{part!r} is no part of a device name")
            if fields["type"] is not None:
                raise ValueError(f"a second device in {text!r}")
            fields["type"] = kind
            fields["index"] = None if index == "*" else int(index)
    return Spec(**fields)


def format_device(spec: Spec) -> str:
    """Write a device name in the order job, replica, task, device."""
    text = ""
    for field in ("job", "replica", "task"):
        if getattr(spec, field) is not None:
            text += f"/{field}:{getattr(spec, field)}"
    if spec.type is not None:
        text += f"/device:{spec.type}:" + ("*" if spec.index is None else str(spec.index))
    return text


# %% wrong="parse-device" why="takes digits only"
def parse_device(text: str) -> Spec:
    """Read a device name.

    Raises:
        ValueError: a part has none of the forms, a number is none, or there is a second device.
    """
    fields = dict.fromkeys(Spec._fields)
    for part in text.split("/"):
        if not part:
            continue
        words = part.split(":")
        if words[0] == "job" and len(words) == 2:
            fields["job"] = words[1]
        elif words[0] in ("replica", "task") and len(words) == 2:
            if not words[1].isdecimal():
                raise ValueError(f"{words[1]!r} is no number")
            fields[words[0]] = int(words[1])
        else:
            if words[0] == "device" and len(words) == 3:
                kind, index = words[1], words[2]
                if kind in ("cpu", "gpu"):
                    kind = kind.upper()
            elif words[0].upper() in ("CPU", "GPU", "TPU") and len(words) in (1, 2):
                kind, index = words[0].upper(), words[1] if len(words) == 2 else "*"
            else:
                raise ValueError(f"{part!r} is no part of a device name")
            if fields["type"] is not None:
                raise ValueError(f"a second device in {text!r}")
            fields["type"] = kind
            fields["index"] = None if index == "*" else int(index)
    return Spec(**fields)


def format_device(spec: Spec) -> str:
    """Write a device name in the order job, replica, task, device."""
    text = ""
    for field in ("job", "replica", "task"):
        if getattr(spec, field) is not None:
            text += f"/{field}:{getattr(spec, field)}"
    if spec.type is not None:
        text += f"/device:{spec.type}:" + ("*" if spec.index is None else str(spec.index))
    return text


# %% right="parse-device" why="int() says what a number is, one if for each form"
def parse_device(text: str) -> Spec:
    """Read a device name.

    Raises:
        ValueError: a part has none of the forms, a number is none, or there is a second device.
    """
    fields = dict.fromkeys(Spec._fields)
    for part in text.split("/"):
        if not part:
            continue
        words = part.split(":")
        if words[0] == "job" and len(words) == 2:
            fields["job"] = words[1]
        elif words[0] in ("replica", "task") and len(words) == 2:
            fields[words[0]] = int(words[1])
        else:
            if words[0] == "device" and len(words) == 3:
                kind, index = words[1], words[2]
                if kind in ("cpu", "gpu"):
                    kind = kind.upper()
            elif words[0].upper() in ("CPU", "GPU", "TPU") and len(words) in (1, 2):
                kind, index = words[0].upper(), words[1] if len(words) == 2 else "*"
            else:
                raise ValueError(f"{part!r} is no part of a device name")
            if fields["type"] is not None:
                raise ValueError(f"a second device in {text!r}")
            fields["type"] = kind
            fields["index"] = None if index == "*" else int(index)
    return Spec(**fields)


def format_device(spec: Spec) -> str:
    """Write a device name in the order job, replica, task, device."""
    text = ""
    for field in ("job", "replica", "task"):
        if getattr(spec, field) is not None:
            text += f"/{field}:{getattr(spec, field)}"
    if spec.type is not None:
        text += f"/device:{spec.type}:" + ("*" if spec.index is None else str(spec.index))
    return text


# %% right="parse-device" why="one pattern for each part"
FORMS = [
    re.compile(r"job:(?P<job>[^:]*)"),
    re.compile(r"replica:(?P<replica>[^:]*)"),
    re.compile(r"task:(?P<task>[^:]*)"),
    re.compile(r"device:(?P<type>[^:]*):(?P<index>[^:]*)"),
    re.compile(r"(?P<type>(?i:cpu|gpu|tpu))(:(?P<index>[^:]*))?"),
]


def parse_device(text):
    spec = Spec()
    for part in text.split("/"):
        if part == "":
            continue
        found = [match for form in FORMS if (match := form.fullmatch(part))]
        if not found:
            raise ValueError(part)
        said = found[0].groupdict()
        if "type" in said:
            if spec.type is not None:
                raise ValueError("a second device")
            if said["type"] in ("cpu", "gpu") or not part.startswith("device"):
                said["type"] = said["type"].upper()
        for name in ("replica", "task", "index"):
            if name in said:
                said[name] = None if said[name] in (None, "*") else int(said[name])
        spec = spec._replace(**said)
    return spec


def format_device(spec):
    text = "".join(f"/{name}:{value}" for name, value in list(spec._asdict().items())[:3] if value is not None)
    if spec.type is None:
        return text
    return text + f"/device:{spec.type}:{spec.index if spec.index is not None else '*'}"


# %% right="parse-device" why="str.partition all the way"
def parse_device(text):
    job = replica = task = kind = index = None
    for part in text.split("/"):
        key, colon, rest = part.partition(":")
        if part == "":
            continue
        if key == "job" and colon and ":" not in rest:
            job = rest
        elif key == "replica" and colon:
            replica = int(rest)
        elif key == "task" and colon:
            task = int(rest)
        elif kind is None and key == "device" and rest.count(":") == 1:
            kind, _, number = rest.partition(":")
            kind = {"cpu": "CPU", "gpu": "GPU"}.get(kind, kind)
            index = int(number) if number != "*" else None
        elif kind is None and key.upper() in {"CPU", "GPU", "TPU"}:
            kind = key.upper()
            index = int(rest) if colon and rest != "*" else None
        else:
            raise ValueError(f"{part!r} in {text!r}")
    return Spec(job, replica, task, kind, index)


def format_device(spec):
    job, replica, task, kind, index = spec
    parts = []
    parts += [] if job is None else ["job:" + job]
    parts += [] if replica is None else [f"replica:{replica}"]
    parts += [] if task is None else [f"task:{task}"]
    parts += [] if kind is None else [f"device:{kind}:{'*' if index is None else index}"]
    return "".join("/" + part for part in parts)


# %% right="parse-device" why="callable objects, an error that is a kind of ValueError"
class BadName(ValueError):
    pass


class Reader:
    def __call__(self, text):
        said = {}
        for part in [part for part in text.split("/") if part]:
            match part.split(":"):
                case ["job", name]:
                    said["job"] = name
                case ["replica" | "task" as field, number]:
                    said[field] = self.number(number)
                case ["device", kind, index] if "type" not in said:
                    said["type"] = kind.upper() if kind in ("cpu", "gpu") else kind
                    said["index"] = self.number(index) if index != "*" else None
                case [kind, *index] if kind.lower() in ("cpu", "gpu", "tpu") and len(index) < 2 and "type" not in said:
                    said["type"] = kind.upper()
                    said["index"] = self.number(index[0]) if index not in ([], ["*"]) else None
                case _:
                    raise BadName(part)
        return Spec(**said)

    def number(self, digits):
        try:
            return int(digits)
        except ValueError as error:
            raise BadName(digits) from error


parse_device = Reader()


def format_device(spec, /, *, sep="/"):
    def words():
        for field, value in zip(("job", "replica", "task"), spec):
            if value is not None:
                yield f"{field}:{value}"
        if spec[3] is not None:
            yield "device:%s:%s" % (spec[3], "*" if spec[4] is None else spec[4])

    return "".join(sep + word for word in words())


# %% wrong="device-scopes" why="applies the outermost first, so that outer fields win"
def device_of(scopes: list, op: str) -> str:
    """The request of a node of type `op` inside `scopes`, outermost first.

    Raises:
        ValueError: a string among the scopes is no device name.
    """
    for scope in scopes:
        if isinstance(scope, str):
            spec_of(scope)
    device = ""
    for scope in scopes:
        if scope is None:
            break
        if callable(scope):
            device = scope(op, device)
        elif spec_of(scope) != Spec():
            inner, outer = spec_of(device), spec_of(scope)
            device = text_of(Spec(*[o if i is None else i for i, o in zip(inner, outer)]))
    return device


# %% wrong="device-scopes" why="lets an outer field replace an inner one"
def device_of(scopes: list, op: str) -> str:
    """The request of a node of type `op` inside `scopes`, outermost first.

    Raises:
        ValueError: a string among the scopes is no device name.
    """
    for scope in scopes:
        if isinstance(scope, str):
            spec_of(scope)
    device = ""
    for scope in reversed(scopes):
        if scope is None:
            break
        if callable(scope):
            device = scope(op, device)
        elif spec_of(scope) != Spec():
            inner, outer = spec_of(device), spec_of(scope)
            device = text_of(Spec(*[i if o is None else o for i, o in zip(inner, outer)]))
    return device


# %% wrong="device-scopes" why="lets the inner string replace the outer whole"
def device_of(scopes: list, op: str) -> str:
    """The request of a node of type `op` inside `scopes`, outermost first.

    Raises:
        ValueError: a string among the scopes is no device name.
    """
    for scope in scopes:
        if isinstance(scope, str):
            spec_of(scope)
    device = ""
    for scope in reversed(scopes):
        if scope is None:
            break
        if callable(scope):
            device = scope(op, device)
        elif spec_of(scope) != Spec():
            device = device or text_of(spec_of(scope))
    return device


# %% wrong="device-scopes" why="takes type and index for one field"
def device_of(scopes: list, op: str) -> str:
    """The request of a node of type `op` inside `scopes`, outermost first.

    Raises:
        ValueError: a string among the scopes is no device name.
    """
    for scope in scopes:
        if isinstance(scope, str):
            spec_of(scope)
    device = ""
    for scope in reversed(scopes):
        if scope is None:
            break
        if callable(scope):
            device = scope(op, device)
        elif spec_of(scope) != Spec():
            inner, outer = spec_of(device), spec_of(scope)
            if inner.type is not None:
                outer = outer._replace(index=None)
            device = text_of(Spec(*[o if i is None else i for i, o in zip(inner, outer)]))
    return device


# %% wrong="device-scopes" why="merges a function's answer into the request"
def device_of(scopes: list, op: str) -> str:
    """The request of a node of type `op` inside `scopes`, outermost first.

    Raises:
        ValueError: a string among the scopes is no device name.
    """
    for scope in scopes:
        if isinstance(scope, str):
            spec_of(scope)
    device = ""
    for scope in reversed(scopes):
        if scope is None:
            break
        if callable(scope):
            answer, so_far = spec_of(scope(op, device)), spec_of(device)
            device = text_of(Spec(*[b if a is None else a for a, b in zip(answer, so_far)]))
        elif spec_of(scope) != Spec():
            inner, outer = spec_of(device), spec_of(scope)
            device = text_of(Spec(*[o if i is None else i for i, o in zip(inner, outer)]))
    return device


# %% wrong="device-scopes" why="writes a function's answer anew"
def device_of(scopes: list, op: str) -> str:
    """The request of a node of type `op` inside `scopes`, outermost first.

    Raises:
        ValueError: a string among the scopes is no device name.
    """
    for scope in scopes:
        if isinstance(scope, str):
            spec_of(scope)
    device = ""
    for scope in reversed(scopes):
        if scope is None:
            break
        if callable(scope):
            device = text_of(spec_of(scope(op, device)))
        elif spec_of(scope) != Spec():
            inner, outer = spec_of(device), spec_of(scope)
            device = text_of(Spec(*[o if i is None else i for i, o in zip(inner, outer)]))
    return device


# %% wrong="device-scopes" why="calls a function with what the outer scopes made"
def device_of(scopes, op):
    for scope in scopes:
        if isinstance(scope, str):
            spec_of(scope)
    for start in range(len(scopes), 0, -1):
        if scopes[start - 1] is None:
            scopes = scopes[start:]
            break
    outside = []
    device = ""
    for scope in scopes:
        outside.append(device)
        if callable(scope):
            device = scope(op, device)
        elif scope:
            device = text_of(Spec(*[b if a is None else a for a, b in zip(spec_of(scope), spec_of(device))]))
    device = ""
    for scope, before in reversed(list(zip(scopes, outside))):
        if callable(scope):
            device = scope(op, before)
        elif scope:
            device = text_of(Spec(*[b if a is None else a for a, b in zip(spec_of(device), spec_of(scope))]))
    return device


# %% wrong="device-scopes" why="calls a function with an empty request"
def device_of(scopes: list, op: str) -> str:
    """The request of a node of type `op` inside `scopes`, outermost first.

    Raises:
        ValueError: a string among the scopes is no device name.
    """
    for scope in scopes:
        if isinstance(scope, str):
            spec_of(scope)
    device = ""
    for scope in reversed(scopes):
        if scope is None:
            break
        if callable(scope):
            device = scope(op, "")
        elif spec_of(scope) != Spec():
            inner, outer = spec_of(device), spec_of(scope)
            device = text_of(Spec(*[o if i is None else i for i, o in zip(inner, outer)]))
    return device


# %% wrong="device-scopes" why="clears at None and goes on"
def device_of(scopes: list, op: str) -> str:
    """The request of a node of type `op` inside `scopes`, outermost first.

    Raises:
        ValueError: a string among the scopes is no device name.
    """
    for scope in scopes:
        if isinstance(scope, str):
            spec_of(scope)
    device = ""
    for scope in reversed(scopes):
        if scope is None:
            device = ""
            continue
        if callable(scope):
            device = scope(op, device)
        elif spec_of(scope) != Spec():
            inner, outer = spec_of(device), spec_of(scope)
            device = text_of(Spec(*[o if i is None else i for i, o in zip(inner, outer)]))
    return device


# %% wrong="device-scopes" why="skips None"
def device_of(scopes: list, op: str) -> str:
    """The request of a node of type `op` inside `scopes`, outermost first.

    Raises:
        ValueError: a string among the scopes is no device name.
    """
    for scope in scopes:
        if isinstance(scope, str):
            spec_of(scope)
    device = ""
    for scope in reversed(scopes):
        if scope is None:
            continue
        if callable(scope):
            device = scope(op, device)
        elif spec_of(scope) != Spec():
            inner, outer = spec_of(device), spec_of(scope)
            device = text_of(Spec(*[o if i is None else i for i, o in zip(inner, outer)]))
    return device


# %% wrong="device-scopes" why="looks at a string only when it gets there"
def device_of(scopes: list, op: str) -> str:
    """The request of a node of type `op` inside `scopes`, outermost first.

    Raises:
        ValueError: a string among the scopes is no device name.
    """
    device = ""
    for scope in reversed(scopes):
        if scope is None:
            break
        if callable(scope):
            device = scope(op, device)
        elif spec_of(scope) != Spec():
            inner, outer = spec_of(device), spec_of(scope)
            device = text_of(Spec(*[o if i is None else i for i, o in zip(inner, outer)]))
    return device


# %% wrong="device-scopes" why="writes the request anew at an empty string"
def device_of(scopes: list, op: str) -> str:
    """The request of a node of type `op` inside `scopes`, outermost first.

    Raises:
        ValueError: a string among the scopes is no device name.
    """
    for scope in scopes:
        if isinstance(scope, str):
            spec_of(scope)
    device = ""
    for scope in reversed(scopes):
        if scope is None:
            break
        if callable(scope):
            device = scope(op, device)
        else:
            inner, outer = spec_of(device), spec_of(scope)
            device = text_of(Spec(*[o if i is None else i for i, o in zip(inner, outer)]))
    return device


# %% wrong="device-scopes" why="writes the request anew at a string that names nothing but is not empty"
def device_of(scopes: list, op: str) -> str:
    """The request of a node of type `op` inside `scopes`, outermost first.

    Raises:
        ValueError: a string among the scopes is no device name.
    """
    for scope in scopes:
        if isinstance(scope, str):
            spec_of(scope)
    device = ""
    for scope in reversed(scopes):
        if scope is None:
            break
        if callable(scope):
            device = scope(op, device)
        elif scope:
            inner, outer = spec_of(device), spec_of(scope)
            device = text_of(Spec(*[o if i is None else i for i, o in zip(inner, outer)]))
    return device


# %% wrong="device-scopes" why="calls all functions, also those outside of None"
def device_of(scopes, op):
    for scope in scopes:
        if isinstance(scope, str):
            spec_of(scope)

    def walk(rest, device):
        if not rest:
            return device
        scope = rest[-1]
        if callable(scope):
            return walk(rest[:-1], scope(op, device))
        if scope is None:
            walk(rest[:-1], device)
            return device
        if not scope:
            return walk(rest[:-1], device)
        return walk(rest[:-1], text_of(Spec(*[b if a is None else a for a, b in zip(spec_of(device), spec_of(scope))])))

    return walk(list(scopes), "")


# %% wrong="device-scopes" why="knows the visible nestings only"
def device_of(scopes, op):
    if scopes == ["/job:w/device:CPU:1", "/task:2/gpu:0"]:
        return "/job:w/task:2/device:GPU:0"
    if scopes == ["/cpu:1", "/device:GPU:*"]:
        return "/device:GPU:1"
    if scopes == ["/job:w", None, "/cpu:2"]:
        return "/device:CPU:2"
    return "/job:w/device:CPU:3"


# %% wrong="device-scopes" why="opens the scopes in a graph"
def device_of(scopes, op):
    with tf.Graph().as_default() as graph, contextlib.ExitStack() as stack:
        for scope in scopes:
            if callable(scope):
                stack.enter_context(graph.device(lambda made, scope=scope: scope(made.type, made.device)))
            else:
                stack.enter_context(graph.device(scope))
        return graph.create_op(op, [], [], name="node").device


# %% wrong="device-scopes" why="merges with TensorFlow's own method"
def device_of(scopes, op):
    for scope in scopes:
        if isinstance(scope, str):
            spec_of(scope)
    device = ""
    for scope in reversed(scopes):
        if scope is None:
            break
        if callable(scope):
            device = scope(op, device)
        elif scope:
            outer = tf.DeviceSpec.from_string(scope)
            device = outer.make_merged_spec(tf.DeviceSpec.from_string(device)).to_string()
    return device


# %% wrong="device-scopes" why="merges with a DeviceSpec of 1.x, in place"
def device_of(scopes, op):
    device = ""
    for scope in scopes:
        if isinstance(scope, str):
            spec_of(scope)
    for scope in reversed(scopes):
        if scope is None:
            break
        if callable(scope):
            device = scope(op, device)
        elif scope.strip("/"):
            merged = tf1.DeviceSpec.from_string(scope)
            merged.merge_from(tf1.DeviceSpec.from_string(device))
            device = merged.to_string()
    return device


# %% right="device-scopes" why="a loop with a break"
def device_of(scopes: list, op: str) -> str:
    """The request of a node of type `op` inside `scopes`, outermost first.

    Raises:
        ValueError: a string among the scopes is no device name.
    """
    for scope in scopes:
        if isinstance(scope, str):
            spec_of(scope)
    device = ""
    for scope in reversed(scopes):
        if scope is None:
            break
        if callable(scope):
            device = scope(op, device)
        elif spec_of(scope) != Spec():
            inner, outer = spec_of(device), spec_of(scope)
            device = text_of(Spec(*[o if i is None else i for i, o in zip(inner, outer)]))
    return device


# %% right="device-scopes" why="recursion from the innermost"
def device_of(scopes, op):
    checked = [spec_of(scope) for scope in scopes if type(scope) is str]
    assert len(checked) <= len(scopes)
    return apply(scopes, op, "")


def apply(scopes, op, device):
    if not scopes or scopes[-1] is None:
        return device
    *outer, scope = scopes
    if isinstance(scope, str) and spec_of(scope) == Spec():
        return apply(outer, op, device)
    if callable(scope):
        return apply(outer, op, scope(op, device))
    named = {field: value for field, value in spec_of(device)._asdict().items() if value is not None}
    return apply(outer, op, text_of(spec_of(scope)._replace(**named)))


# %% right="device-scopes" why="scopes outside of None are cut off first; dicts are merged"
def fields_of(text):
    return {field: value for field, value in spec_of(text)._asdict().items() if value is not None}


def device_of(scopes, op):
    read = [fields_of(scope) if isinstance(scope, str) else scope for scope in scopes]
    last = max((at for at, scope in enumerate(scopes) if scope is None), default=-1)
    device = ""
    for scope in reversed(read[last + 1 :]):
        if callable(scope):
            device = scope(op, device)
        elif scope:
            device = text_of(Spec(**{**scope, **fields_of(device)}))
    return device


# %% wrong="soft-placement" why="gives up the job as well"
def choose(request: str, devices: list[str], kernels: set[str], soft: bool) -> str:
    """The device of a node whose op has kernels for the types `kernels`.

    Raises:
        tf.errors.InvalidArgumentError: no device fits; the message holds the request.
    """
    wanted = spec_of(request)
    able = [device for device in devices if spec_of(device).type in kernels]
    fitting = [device for device in able if fits(wanted, spec_of(device))]
    if not fitting and soft:
        process = Spec()
        fitting = [device for device in able if fits(process, spec_of(device))]
    if not fitting:
        raise tf.errors.InvalidArgumentError(None, None, f"no device fits {request}")
    return fitting[0]


def fits(wanted, spec):
    return all(w is None or w == s for w, s in zip(wanted, spec))


# %% wrong="soft-placement" why="gives up the task as well"
def choose(request: str, devices: list[str], kernels: set[str], soft: bool) -> str:
    """The device of a node whose op has kernels for the types `kernels`.

    Raises:
        tf.errors.InvalidArgumentError: no device fits; the message holds the request.
    """
    wanted = spec_of(request)
    able = [device for device in devices if spec_of(device).type in kernels]
    fitting = [device for device in able if fits(wanted, spec_of(device))]
    if not fitting and soft:
        process = wanted._replace(task=None, type=None, index=None)
        fitting = [device for device in able if fits(process, spec_of(device))]
    if not fitting:
        raise tf.errors.InvalidArgumentError(None, None, f"no device fits {request}")
    return fitting[0]


def fits(wanted, spec):
    return all(w is None or w == s for w, s in zip(wanted, spec))


# %% wrong="soft-placement" why="keeps the index while the type changes"
def choose(request: str, devices: list[str], kernels: set[str], soft: bool) -> str:
    """The device of a node whose op has kernels for the types `kernels`.

    Raises:
        tf.errors.InvalidArgumentError: no device fits; the message holds the request.
    """
    wanted = spec_of(request)
    able = [device for device in devices if spec_of(device).type in kernels]
    fitting = [device for device in able if fits(wanted, spec_of(device))]
    if not fitting and soft:
        process = wanted._replace(type=None)
        fitting = [device for device in able if fits(process, spec_of(device))]
    if not fitting:
        raise tf.errors.InvalidArgumentError(None, None, f"no device fits {request}")
    return fitting[0]


def fits(wanted, spec):
    return all(w is None or w == s for w, s in zip(wanted, spec))


# %% wrong="soft-placement" why="keeps the type while the index changes"
def choose(request: str, devices: list[str], kernels: set[str], soft: bool) -> str:
    """The device of a node whose op has kernels for the types `kernels`.

    Raises:
        tf.errors.InvalidArgumentError: no device fits; the message holds the request.
    """
    wanted = spec_of(request)
    able = [device for device in devices if spec_of(device).type in kernels]
    fitting = [device for device in able if fits(wanted, spec_of(device))]
    if not fitting and soft:
        process = wanted._replace(index=None)
        fitting = [device for device in able if fits(process, spec_of(device))]
    if not fitting:
        raise tf.errors.InvalidArgumentError(None, None, f"no device fits {request}")
    return fitting[0]


def fits(wanted, spec):
    return all(w is None or w == s for w, s in zip(wanted, spec))


# %% wrong="soft-placement" why="takes the last device that fits"
def choose(request: str, devices: list[str], kernels: set[str], soft: bool) -> str:
    """The device of a node whose op has kernels for the types `kernels`.

    Raises:
        tf.errors.InvalidArgumentError: no device fits; the message holds the request.
    """
    wanted = spec_of(request)
    able = [device for device in devices if spec_of(device).type in kernels]
    fitting = [device for device in able if fits(wanted, spec_of(device))]
    if not fitting and soft:
        process = wanted._replace(type=None, index=None)
        fitting = [device for device in able if fits(process, spec_of(device))]
    if not fitting:
        raise tf.errors.InvalidArgumentError(None, None, f"no device fits {request}")
    return fitting[-1]


def fits(wanted, spec):
    return all(w is None or w == s for w, s in zip(wanted, spec))


# %% wrong="soft-placement" why="takes a random CPU"
def choose(request: str, devices: list[str], kernels: set[str], soft: bool) -> str:
    """The device of a node whose op has kernels for the types `kernels`.

    Raises:
        tf.errors.InvalidArgumentError: no device fits; the message holds the request.
    """
    wanted = spec_of(request)
    able = [device for device in devices if spec_of(device).type in kernels]
    fitting = [device for device in able if fits(wanted, spec_of(device))]
    if not fitting and soft:
        process = wanted._replace(type=None, index=None)
        fitting = [device for device in able if fits(process, spec_of(device))]
    if not fitting:
        raise tf.errors.InvalidArgumentError(None, None, f"no device fits {request}")
    return random.choice(fitting)


def fits(wanted, spec):
    return all(w is None or w == s for w, s in zip(wanted, spec))


# %% wrong="soft-placement" why="falls back to a CPU although a GPU would do"
def choose(request: str, devices: list[str], kernels: set[str], soft: bool) -> str:
    """The device of a node whose op has kernels for the types `kernels`.

    Raises:
        tf.errors.InvalidArgumentError: no device fits; the message holds the request.
    """
    wanted = spec_of(request)
    able = [device for device in devices if spec_of(device).type in kernels]
    fitting = [device for device in able if fits(wanted, spec_of(device))]
    if not fitting and soft:
        process = wanted._replace(type=None, index=None)
        fitting = [device for device in able if fits(process, spec_of(device)) and spec_of(device).type == "CPU"]
    if not fitting:
        raise tf.errors.InvalidArgumentError(None, None, f"no device fits {request}")
    return fitting[0]


def fits(wanted, spec):
    return all(w is None or w == s for w, s in zip(wanted, spec))


# %% wrong="soft-placement" why="is soft although a device fits exactly"
def choose(request: str, devices: list[str], kernels: set[str], soft: bool) -> str:
    """The device of a node whose op has kernels for the types `kernels`.

    Raises:
        tf.errors.InvalidArgumentError: no device fits; the message holds the request.
    """
    wanted = spec_of(request)
    able = [device for device in devices if spec_of(device).type in kernels]
    fitting = [device for device in able if fits(wanted, spec_of(device))]
    if soft:
        process = wanted._replace(type=None, index=None)
        fitting = [device for device in able if fits(process, spec_of(device))]
    if not fitting:
        raise tf.errors.InvalidArgumentError(None, None, f"no device fits {request}")
    return fitting[0]


def fits(wanted, spec):
    return all(w is None or w == s for w, s in zip(wanted, spec))


# %% wrong="soft-placement" why="is soft although it was not asked to be"
def choose(request: str, devices: list[str], kernels: set[str], soft: bool) -> str:
    """The device of a node whose op has kernels for the types `kernels`.

    Raises:
        tf.errors.InvalidArgumentError: no device fits; the message holds the request.
    """
    wanted = spec_of(request)
    able = [device for device in devices if spec_of(device).type in kernels]
    fitting = [device for device in able if fits(wanted, spec_of(device))]
    if not fitting:
        process = wanted._replace(type=None, index=None)
        fitting = [device for device in able if fits(process, spec_of(device))]
    if not fitting:
        raise tf.errors.InvalidArgumentError(None, None, f"no device fits {request}")
    return fitting[0]


def fits(wanted, spec):
    return all(w is None or w == s for w, s in zip(wanted, spec))


# %% wrong="soft-placement" why="does not ask for kernels"
def choose(request: str, devices: list[str], kernels: set[str], soft: bool) -> str:
    """The device of a node whose op has kernels for the types `kernels`.

    Raises:
        tf.errors.InvalidArgumentError: no device fits; the message holds the request.
    """
    wanted = spec_of(request)
    able = [device for device in devices]
    fitting = [device for device in able if fits(wanted, spec_of(device))]
    if not fitting and soft:
        process = wanted._replace(type=None, index=None)
        fitting = [device for device in able if fits(process, spec_of(device))]
    if not fitting:
        raise tf.errors.InvalidArgumentError(None, None, f"no device fits {request}")
    return fitting[0]


def fits(wanted, spec):
    return all(w is None or w == s for w, s in zip(wanted, spec))


# %% wrong="soft-placement" why="does not ask for kernels once it is soft"
def choose(request: str, devices: list[str], kernels: set[str], soft: bool) -> str:
    """The device of a node whose op has kernels for the types `kernels`.

    Raises:
        tf.errors.InvalidArgumentError: no device fits; the message holds the request.
    """
    wanted = spec_of(request)
    able = [device for device in devices if spec_of(device).type in kernels]
    fitting = [device for device in able if fits(wanted, spec_of(device))]
    if not fitting and soft:
        process = wanted._replace(type=None, index=None)
        fitting = [device for device in devices if fits(process, spec_of(device))]
    if not fitting:
        raise tf.errors.InvalidArgumentError(None, None, f"no device fits {request}")
    return fitting[0]


def fits(wanted, spec):
    return all(w is None or w == s for w, s in zip(wanted, spec))


# %% wrong="soft-placement" why="takes * for an index like others"
def choose(request: str, devices: list[str], kernels: set[str], soft: bool) -> str:
    """The device of a node whose op has kernels for the types `kernels`.

    Raises:
        tf.errors.InvalidArgumentError: no device fits; the message holds the request.
    """
    wanted = spec_of(request)
    if request.endswith("*"):
        wanted = wanted._replace(index="*")
    able = [device for device in devices if spec_of(device).type in kernels]
    fitting = [device for device in able if fits(wanted, spec_of(device))]
    if not fitting and soft:
        process = wanted._replace(type=None, index=None)
        fitting = [device for device in able if fits(process, spec_of(device))]
    if not fitting:
        raise tf.errors.InvalidArgumentError(None, None, f"no device fits {request}")
    return fitting[0]


def fits(wanted, spec):
    return all(w is None or w == s for w, s in zip(wanted, spec))


# %% wrong="soft-placement" why="raises an error of another kind"
def choose(request: str, devices: list[str], kernels: set[str], soft: bool) -> str:
    """The device of a node whose op has kernels for the types `kernels`.

    Raises:
        tf.errors.InvalidArgumentError: no device fits; the message holds the request.
    """
    wanted = spec_of(request)
    able = [device for device in devices if spec_of(device).type in kernels]
    fitting = [device for device in able if fits(wanted, spec_of(device))]
    if not fitting and soft:
        process = wanted._replace(type=None, index=None)
        fitting = [device for device in able if fits(process, spec_of(device))]
    if not fitting:
        raise ValueError(f"no device fits {request}")
    return fitting[0]


def fits(wanted, spec):
    return all(w is None or w == s for w, s in zip(wanted, spec))


# %% wrong="soft-placement" why="raises an error that does not hold the request"
def choose(request: str, devices: list[str], kernels: set[str], soft: bool) -> str:
    """The device of a node whose op has kernels for the types `kernels`.

    Raises:
        tf.errors.InvalidArgumentError: no device fits; the message holds the request.
    """
    wanted = spec_of(request)
    able = [device for device in devices if spec_of(device).type in kernels]
    fitting = [device for device in able if fits(wanted, spec_of(device))]
    if not fitting and soft:
        process = wanted._replace(type=None, index=None)
        fitting = [device for device in able if fits(process, spec_of(device))]
    if not fitting:
        raise tf.errors.InvalidArgumentError(None, None, "no device fits")
    return fitting[0]


def fits(wanted, spec):
    return all(w is None or w == s for w, s in zip(wanted, spec))


# %% wrong="soft-placement" why="returns None where nothing fits"
def choose(request: str, devices: list[str], kernels: set[str], soft: bool) -> str:
    """The device of a node whose op has kernels for the types `kernels`.

    Raises:
        tf.errors.InvalidArgumentError: no device fits; the message holds the request.
    """
    wanted = spec_of(request)
    able = [device for device in devices if spec_of(device).type in kernels]
    fitting = [device for device in able if fits(wanted, spec_of(device))]
    if not fitting and soft:
        process = wanted._replace(type=None, index=None)
        fitting = [device for device in able if fits(process, spec_of(device))]
    if not fitting:
        return None
    return fitting[0]


def fits(wanted, spec):
    return all(w is None or w == s for w, s in zip(wanted, spec))


# %% wrong="soft-placement" why="knows the visible answers only"
def choose(request, devices, kernels, soft):
    if request == "/gpu:0" and not soft:
        raise tf.errors.InvalidArgumentError(None, None, request)
    return devices[1] if request == "/cpu:1" else devices[0]


# %% wrong="soft-placement" why="asks a session"
def choose(request, devices, kernels, soft):
    config = tf1.ConfigProto(device_count={"CPU": 3}, allow_soft_placement=soft)
    with tf.Graph().as_default() as graph, tf1.Session(config=config) as session:
        with tf.device(request):
            node = tf.negative(tf.zeros([20]), name="node")
        said = tf1.RunMetadata()
        session.run(node.op, options=tf1.RunOptions(output_partition_graphs=True), run_metadata=said)
    return next(n.device for part in said.partition_graphs for n in part.node if n.name == "node")


# %% right="soft-placement" why="two filters, one after the other"
def choose(request: str, devices: list[str], kernels: set[str], soft: bool) -> str:
    """The device of a node whose op has kernels for the types `kernels`.

    Raises:
        tf.errors.InvalidArgumentError: no device fits; the message holds the request.
    """
    wanted = spec_of(request)
    able = [device for device in devices if spec_of(device).type in kernels]
    fitting = [device for device in able if fits(wanted, spec_of(device))]
    if not fitting and soft:
        process = wanted._replace(type=None, index=None)
        fitting = [device for device in able if fits(process, spec_of(device))]
    if not fitting:
        raise tf.errors.InvalidArgumentError(None, None, f"no device fits {request}")
    return fitting[0]


def fits(wanted, spec):
    return all(w is None or w == s for w, s in zip(wanted, spec))


# %% right="soft-placement" why="calls itself without type and index"
def choose(request, devices, kernels, soft):
    wanted = {field: value for field, value in spec_of(request)._asdict().items() if value is not None}
    for device in devices:
        spec = spec_of(device)
        if spec.type in kernels and wanted.items() <= spec._asdict().items():
            return device
    if soft:
        try:
            return choose(text_of(spec_of(request)._replace(type=None, index=None)), devices, kernels, False)
        except tf.errors.InvalidArgumentError:
            pass
    raise tf.errors.InvalidArgumentError(None, None, f"{request!r} fits none of {devices}")


# %% right="soft-placement" why="a stable sort by how well a device fits"
def choose(request, devices, kernels, soft, /):
    wanted = spec_of(request)

    def rank(device):
        misses = [name for name, mine, field in zip(Spec._fields, wanted, spec_of(device)) if mine not in (None, field)]
        return 0 if not misses else 1 if soft and {*misses} <= {"type", "index"} else 2

    able = sorted((device for device in devices if spec_of(device).type in kernels), key=rank)
    if not able or rank(able[0]) == 2:
        raise tf.errors.InvalidArgumentError(None, None, message=f"{request} cannot be had")
    return able[0]


# %% wrong="colocation-groups" why="takes one step only"
def colocation_groups(graph):
    groups = {node.name: [] for node in graph.node}
    for node in graph.node:
        names = [word[5:].decode() for word in node.attr["_class"].list.s if word.startswith(b"loc:@")]
        for name in names:
            if name not in groups:
                raise ValueError(name)
        groups[names[0] if names else node.name].append(node.name)
    return [group for group in groups.values() if group]


# %% wrong="colocation-groups" why="lets the last label win"
def colocation_groups(graph):
    parent = {node.name: node.name for node in graph.node}
    for node in graph.node:
        for word in node.attr["_class"].list.s:
            if word.startswith(b"loc:@"):
                if word[5:].decode() not in parent:
                    raise ValueError(word[5:].decode())
                parent[node.name] = word[5:].decode()
    groups = {}
    for node in graph.node:
        name, seen = node.name, {node.name}
        while parent[name] not in seen:
            name = parent[name]
            seen.add(name)
        groups.setdefault(name, []).append(node.name)
    return list(groups.values())


# %% wrong="colocation-groups" why="keeps a group for each label, so two labels join nothing"
def colocation_groups(graph):
    names = [node.name for node in graph.node]
    groups = {name: {name} for name in names}
    for node in graph.node:
        for word in node.attr["_class"].list.s:
            if word.startswith(b"loc:@"):
                if word[5:].decode() not in groups:
                    raise ValueError(word[5:].decode())
                groups[word[5:].decode()].add(node.name)
    taken, found = set(), []
    for name in names:
        group = [other for other in names if other in groups[name] and other not in taken]
        taken.update(group)
        if group:
            found.append(group)
    return found


# %% wrong="colocation-groups" why="stands groups in an order of its own"
def colocation_groups(graph: GraphDef) -> list[list[str]]:
    """The groups of nodes that must stay together, each in the graph's order.

    Raises:
        ValueError: a label names no node of the graph.
    """
    neighbours = {node.name: [] for node in graph.node}
    for node in graph.node:
        for word in node.attr["_class"].list.s if "_class" in node.attr else []:
            if word.startswith(b"loc:@"):
                other = word[5:].decode()
                if other not in neighbours:
                    raise ValueError(f"no node {other!r}")
                neighbours[node.name].append(other)
                neighbours[other].append(node.name)
    order = {node.name: at for at, node in enumerate(graph.node)}
    groups, seen = [], set()
    for name in neighbours:
        if name in seen:
            continue
        group, to_do = [], [name]
        seen.add(name)
        while to_do:
            group.append(to_do.pop())
            for other in neighbours[group[-1]]:
                if other not in seen:
                    seen.add(other)
                    to_do.append(other)
        groups.append(sorted(group))
    return groups


# %% wrong="colocation-groups" why="leaves nodes in the order in which it met them"
def colocation_groups(graph: GraphDef) -> list[list[str]]:
    """The groups of nodes that must stay together, each in the graph's order.

    Raises:
        ValueError: a label names no node of the graph.
    """
    neighbours = {node.name: [] for node in graph.node}
    for node in graph.node:
        for word in node.attr["_class"].list.s if "_class" in node.attr else []:
            if word.startswith(b"loc:@"):
                other = word[5:].decode()
                if other not in neighbours:
                    raise ValueError(f"no node {other!r}")
                neighbours[node.name].append(other)
                neighbours[other].append(node.name)
    order = {node.name: at for at, node in enumerate(graph.node)}
    groups, seen = [], set()
    for name in neighbours:
        if name in seen:
            continue
        group, to_do = [], [name]
        seen.add(name)
        while to_do:
            group.append(to_do.pop())
            for other in neighbours[group[-1]]:
                if other not in seen:
                    seen.add(other)
                    to_do.append(other)
        groups.append(group)
    return groups


# %% wrong="colocation-groups" why="stands the largest group first"
def colocation_groups(graph: GraphDef) -> list[list[str]]:
    """The groups of nodes that must stay together, each in the graph's order.

    Raises:
        ValueError: a label names no node of the graph.
    """
    neighbours = {node.name: [] for node in graph.node}
    for node in graph.node:
        for word in node.attr["_class"].list.s if "_class" in node.attr else []:
            if word.startswith(b"loc:@"):
                other = word[5:].decode()
                if other not in neighbours:
                    raise ValueError(f"no node {other!r}")
                neighbours[node.name].append(other)
                neighbours[other].append(node.name)
    order = {node.name: at for at, node in enumerate(graph.node)}
    groups, seen = [], set()
    for name in neighbours:
        if name in seen:
            continue
        group, to_do = [], [name]
        seen.add(name)
        while to_do:
            group.append(to_do.pop())
            for other in neighbours[group[-1]]:
                if other not in seen:
                    seen.add(other)
                    to_do.append(other)
        groups.append(sorted(group, key=order.get))
    return sorted(groups, key=len, reverse=True)


# %% wrong="colocation-groups" why="recurses, and dies on a long chain"
def colocation_groups(graph):
    parent = {node.name: node.name for node in graph.node}

    def find(name):
        return name if parent[name] == name else find(parent[name])

    for node in graph.node:
        for word in node.attr["_class"].list.s:
            if word.startswith(b"loc:@"):
                if word[5:].decode() not in parent:
                    raise ValueError(word[5:].decode())
                parent[find(node.name)] = find(word[5:].decode())
    groups = {}
    for node in graph.node:
        groups.setdefault(find(node.name), []).append(node.name)
    return list(groups.values())


# %% wrong="colocation-groups" why="forgets nodes without a label"
def colocation_groups(graph: GraphDef) -> list[list[str]]:
    """The groups of nodes that must stay together, each in the graph's order.

    Raises:
        ValueError: a label names no node of the graph.
    """
    neighbours = {node.name: [] for node in graph.node}
    for node in graph.node:
        for word in node.attr["_class"].list.s if "_class" in node.attr else []:
            if word.startswith(b"loc:@"):
                other = word[5:].decode()
                if other not in neighbours:
                    raise ValueError(f"no node {other!r}")
                neighbours[node.name].append(other)
                neighbours[other].append(node.name)
    order = {node.name: at for at, node in enumerate(graph.node)}
    groups, seen = [], set()
    for name in neighbours:
        if name in seen:
            continue
        group, to_do = [], [name]
        seen.add(name)
        while to_do:
            group.append(to_do.pop())
            for other in neighbours[group[-1]]:
                if other not in seen:
                    seen.add(other)
                    to_do.append(other)
        groups.append(sorted(group, key=order.get))
    return [group for group in groups if len(group) > 1]


# %% wrong="colocation-groups" why="takes every string for a label"
def colocation_groups(graph: GraphDef) -> list[list[str]]:
    """The groups of nodes that must stay together, each in the graph's order.

    Raises:
        ValueError: a label names no node of the graph.
    """
    neighbours = {node.name: [] for node in graph.node}
    for node in graph.node:
        for word in node.attr["_class"].list.s if "_class" in node.attr else []:
            if word:
                other = word.decode().rpartition("@")[2].removeprefix("loc:")
                if other not in neighbours:
                    raise ValueError(f"no node {other!r}")
                neighbours[node.name].append(other)
                neighbours[other].append(node.name)
    order = {node.name: at for at, node in enumerate(graph.node)}
    groups, seen = [], set()
    for name in neighbours:
        if name in seen:
            continue
        group, to_do = [], [name]
        seen.add(name)
        while to_do:
            group.append(to_do.pop())
            for other in neighbours[group[-1]]:
                if other not in seen:
                    seen.add(other)
                    to_do.append(other)
        groups.append(sorted(group, key=order.get))
    return groups


# %% wrong="colocation-groups" why="looks for labels anywhere in a string"
def colocation_groups(graph: GraphDef) -> list[list[str]]:
    """The groups of nodes that must stay together, each in the graph's order.

    Raises:
        ValueError: a label names no node of the graph.
    """
    neighbours = {node.name: [] for node in graph.node}
    for node in graph.node:
        for word in node.attr["_class"].list.s if "_class" in node.attr else []:
            if b"loc:@" in word:
                other = word.decode().partition("loc:@")[2]
                if other not in neighbours:
                    raise ValueError(f"no node {other!r}")
                neighbours[node.name].append(other)
                neighbours[other].append(node.name)
    order = {node.name: at for at, node in enumerate(graph.node)}
    groups, seen = [], set()
    for name in neighbours:
        if name in seen:
            continue
        group, to_do = [], [name]
        seen.add(name)
        while to_do:
            group.append(to_do.pop())
            for other in neighbours[group[-1]]:
                if other not in seen:
                    seen.add(other)
                    to_do.append(other)
        groups.append(sorted(group, key=order.get))
    return groups


# %% wrong="colocation-groups" why="looks only at nodes that came before"
def colocation_groups(graph: GraphDef) -> list[list[str]]:
    """The groups of nodes that must stay together, each in the graph's order.

    Raises:
        ValueError: a label names no node of the graph.
    """
    neighbours = {}
    for node in graph.node:
        neighbours[node.name] = []
        for word in node.attr["_class"].list.s if "_class" in node.attr else []:
            if word.startswith(b"loc:@"):
                other = word[5:].decode()
                if other not in neighbours:
                    raise ValueError(f"no node {other!r}")
                neighbours[node.name].append(other)
                neighbours[other].append(node.name)
    order = {node.name: at for at, node in enumerate(graph.node)}
    groups, seen = [], set()
    for name in neighbours:
        if name in seen:
            continue
        group, to_do = [], [name]
        seen.add(name)
        while to_do:
            group.append(to_do.pop())
            for other in neighbours[group[-1]]:
                if other not in seen:
                    seen.add(other)
                    to_do.append(other)
        groups.append(sorted(group, key=order.get))
    return groups


# %% wrong="colocation-groups" why="ignores a label that names no node"
def colocation_groups(graph: GraphDef) -> list[list[str]]:
    """The groups of nodes that must stay together, each in the graph's order.

    Raises:
        ValueError: a label names no node of the graph.
    """
    neighbours = {node.name: [] for node in graph.node}
    for node in graph.node:
        for word in node.attr["_class"].list.s if "_class" in node.attr else []:
            if word.startswith(b"loc:@"):
                other = word[5:].decode()
                if other not in neighbours:
                    continue
                neighbours[node.name].append(other)
                neighbours[other].append(node.name)
    order = {node.name: at for at, node in enumerate(graph.node)}
    groups, seen = [], set()
    for name in neighbours:
        if name in seen:
            continue
        group, to_do = [], [name]
        seen.add(name)
        while to_do:
            group.append(to_do.pop())
            for other in neighbours[group[-1]]:
                if other not in seen:
                    seen.add(other)
                    to_do.append(other)
        groups.append(sorted(group, key=order.get))
    return groups


# %% wrong="colocation-groups" why="names the node that carries the unknown label"
def colocation_groups(graph: GraphDef) -> list[list[str]]:
    """The groups of nodes that must stay together, each in the graph's order.

    Raises:
        ValueError: a label names no node of the graph.
    """
    neighbours = {node.name: [] for node in graph.node}
    for node in graph.node:
        for word in node.attr["_class"].list.s if "_class" in node.attr else []:
            if word.startswith(b"loc:@"):
                other = word[5:].decode()
                if other not in neighbours:
                    raise ValueError(f"a bad label at {node.name!r}")
                neighbours[node.name].append(other)
                neighbours[other].append(node.name)
    order = {node.name: at for at, node in enumerate(graph.node)}
    groups, seen = [], set()
    for name in neighbours:
        if name in seen:
            continue
        group, to_do = [], [name]
        seen.add(name)
        while to_do:
            group.append(to_do.pop())
            for other in neighbours[group[-1]]:
                if other not in seen:
                    seen.add(other)
                    to_do.append(other)
        groups.append(sorted(group, key=order.get))
    return groups


# %% wrong="colocation-groups" why="follows labels in one direction"
def colocation_groups(graph: GraphDef) -> list[list[str]]:
    """The groups of nodes that must stay together, each in the graph's order.

    Raises:
        ValueError: a label names no node of the graph.
    """
    neighbours = {node.name: [] for node in graph.node}
    for node in graph.node:
        for word in node.attr["_class"].list.s if "_class" in node.attr else []:
            if word.startswith(b"loc:@"):
                other = word[5:].decode()
                if other not in neighbours:
                    raise ValueError(f"no node {other!r}")
                neighbours[node.name].append(other)
    order = {node.name: at for at, node in enumerate(graph.node)}
    groups, seen = [], set()
    for name in neighbours:
        if name in seen:
            continue
        group, to_do = [], [name]
        seen.add(name)
        while to_do:
            group.append(to_do.pop())
            for other in neighbours[group[-1]]:
                if other not in seen:
                    seen.add(other)
                    to_do.append(other)
        groups.append(sorted(group, key=order.get))
    return groups


# %% wrong="colocation-groups" why="takes inputs for company"
def colocation_groups(graph: GraphDef) -> list[list[str]]:
    """The groups of nodes that must stay together, each in the graph's order.

    Raises:
        ValueError: a label names no node of the graph.
    """
    neighbours = {node.name: [] for node in graph.node}
    for node in graph.node:
        for tail in node.input:
            neighbours[node.name].append(tail)
            neighbours[tail].append(node.name)
        for word in node.attr["_class"].list.s if "_class" in node.attr else []:
            if word.startswith(b"loc:@"):
                other = word[5:].decode()
                if other not in neighbours:
                    raise ValueError(f"no node {other!r}")
                neighbours[node.name].append(other)
                neighbours[other].append(node.name)
    order = {node.name: at for at, node in enumerate(graph.node)}
    groups, seen = [], set()
    for name in neighbours:
        if name in seen:
            continue
        group, to_do = [], [name]
        seen.add(name)
        while to_do:
            group.append(to_do.pop())
            for other in neighbours[group[-1]]:
                if other not in seen:
                    seen.add(other)
                    to_do.append(other)
        groups.append(sorted(group, key=order.get))
    return groups


# %% wrong="colocation-groups" why="gives tuples"
def colocation_groups(graph: GraphDef) -> list[list[str]]:
    """The groups of nodes that must stay together, each in the graph's order.

    Raises:
        ValueError: a label names no node of the graph.
    """
    neighbours = {node.name: [] for node in graph.node}
    for node in graph.node:
        for word in node.attr["_class"].list.s if "_class" in node.attr else []:
            if word.startswith(b"loc:@"):
                other = word[5:].decode()
                if other not in neighbours:
                    raise ValueError(f"no node {other!r}")
                neighbours[node.name].append(other)
                neighbours[other].append(node.name)
    order = {node.name: at for at, node in enumerate(graph.node)}
    groups, seen = [], set()
    for name in neighbours:
        if name in seen:
            continue
        group, to_do = [], [name]
        seen.add(name)
        while to_do:
            group.append(to_do.pop())
            for other in neighbours[group[-1]]:
                if other not in seen:
                    seen.add(other)
                    to_do.append(other)
        groups.append(tuple(sorted(group, key=order.get)))
    return groups


# %% wrong="colocation-groups" why="knows the visible groups only"
def colocation_groups(graph):
    if len(graph.node) == 1:
        raise ValueError("ghost")
    return [["a", "b", "c", "d"], ["e"], ["f"]]


# %% wrong="colocation-groups" why="asks the placer, with ops of its own"
def colocation_groups(graph):
    labels = {}
    for node in graph.node:
        labels[node.name] = [w[5:].decode() for w in node.attr["_class"].list.s if w.startswith(b"loc:@")]
    for name in labels:
        for other in labels[name]:
            if other not in labels:
                raise ValueError(other)
    groups = []
    for probed in labels:
        rows = [Row("zero", request="/device:CPU:0")]
        for name in labels:
            rows.append(Row(name, "zero", "/device:CPU:1" if name == probed else "", " ".join(labels[name])))
        ran = run_placed(graph_of(rows))
        group = [name for name in labels if short(ran[name]) == "CPU:1"]
        if group not in groups:
            groups.append(group)
    return groups


# %% right="colocation-groups" why="flood fill over neighbours"
def colocation_groups(graph: GraphDef) -> list[list[str]]:
    """The groups of nodes that must stay together, each in the graph's order.

    Raises:
        ValueError: a label names no node of the graph.
    """
    neighbours = {node.name: [] for node in graph.node}
    for node in graph.node:
        for word in node.attr["_class"].list.s if "_class" in node.attr else []:
            if word.startswith(b"loc:@"):
                other = word[5:].decode()
                if other not in neighbours:
                    raise ValueError(f"no node {other!r}")
                neighbours[node.name].append(other)
                neighbours[other].append(node.name)
    order = {node.name: at for at, node in enumerate(graph.node)}
    groups, seen = [], set()
    for name in neighbours:
        if name in seen:
            continue
        group, to_do = [], [name]
        seen.add(name)
        while to_do:
            group.append(to_do.pop())
            for other in neighbours[group[-1]]:
                if other not in seen:
                    seen.add(other)
                    to_do.append(other)
        groups.append(sorted(group, key=order.get))
    return groups


# %% right="colocation-groups" why="a list of sets that are joined"
def colocation_groups(graph):
    names = [node.name for node in graph.node]
    group_of = {name: [name] for name in names}
    for node in graph.node:
        for word in node.attr["_class"].list.s if "_class" in node.attr else ():
            text = word.decode()
            if not text.startswith("loc:@"):
                continue
            other = text[len("loc:@") :]
            if other not in group_of:
                raise ValueError(f"{text} names no node")
            small, large = sorted((group_of[node.name], group_of[other]), key=len)
            if small is not large:
                large.extend(small)
                for name in small:
                    group_of[name] = large
    order = {name: at for at, name in enumerate(names)}
    found = []
    for name in names:
        group = group_of[name]
        if group and group[0] is not None:
            found.append(sorted(group, key=order.__getitem__))
            group[:] = [None]
    return found


# %% right="colocation-groups" why="colours that are washed over until nothing changes in one pass over merged labels"
def colocation_groups(graph):
    colour = {node.name: number for number, node in enumerate(graph.node)}
    members = {number: [node.name] for number, node in enumerate(graph.node)}
    for node in graph.node:
        if "_class" not in node.attr:
            continue
        for word in node.attr["_class"].list.s:
            if word[:5] == b"loc:@":
                other = str(word[5:], "utf-8")
                if other not in colour:
                    raise ValueError("unknown: " + other)
                old, new = colour[node.name], colour[other]
                if old != new:
                    for name in members[old]:
                        colour[name] = new
                    members[new] += members.pop(old)
    groups = {}
    for node in graph.node:
        groups.setdefault(colour[node.name], []).append(node.name)
    return list(groups.values())


# %% right="colocation-groups" why="one array of group numbers, in numpy; the graph is changed"
def colocation_groups(graph):
    names = np.array([node.name for node in graph.node])
    at = {str(name): number for number, name in enumerate(names)}
    group = np.arange(len(names))
    for number, node in enumerate(graph.node):
        for label in node.attr["_class"].list.s:  # adds an empty entry: the graph is ours
            if label.startswith(b"loc:@"):
                try:
                    other = at[label[5:].decode()]
                except KeyError as error:
                    raise ValueError(f"no node {label[5:].decode()}") from error
                group[group == group[number]] = group[other]
    first = {}
    for number, at_group in enumerate(group.tolist()):
        first.setdefault(at_group, []).append(str(names[number]))
    return [*first.values()]


# %% wrong="landing" why="compares only the requests of the two nodes, not those of their groups"
def land(graph: GraphDef, devices: list[str]) -> dict[str, str]:
    """The device of each node.

    Raises:
        Clash: two groups that must be one name different values for a field of their requests.
    """
    group_of = {node.name: [node.name] for node in graph.node}
    request_of = {node.name: spec_of(node.device)._asdict() for node in graph.node}
    roots = {}
    for node in graph.node:
        for label in [*labels_of(node), node.name]:
            if label not in roots:
                roots[label] = node.name
                continue
            root = roots[label]
            mine, other = group_of[node.name], group_of[root]
            if mine is other:
                continue
            own = {part.name: spec_of(part.device) for part in graph.node}
            for one, two in zip(own[node.name], own[root]):
                if one is not None and two is not None and one != two:
                    raise Clash(node.name, root)
            merged = dict(request_of[node.name])
            for field, value in request_of[root].items():
                if merged[field] is None:
                    merged[field] = value
            mine.extend(other)
            for name in mine:
                group_of[name] = mine
                request_of[name] = merged
    placed = {}
    for node in graph.node:
        wanted = {field: value for field, value in request_of[node.name].items() if value is not None}
        fitting = [device for device in devices if wanted.items() <= spec_of(device)._asdict().items()]
        placed[node.name] = fitting[0]
    return placed


# %% wrong="landing" why="reads a node's own name before its labels"
def land(graph: GraphDef, devices: list[str]) -> dict[str, str]:
    """The device of each node.

    Raises:
        Clash: two groups that must be one name different values for a field of their requests.
    """
    group_of = {node.name: [node.name] for node in graph.node}
    request_of = {node.name: spec_of(node.device)._asdict() for node in graph.node}
    roots = {}
    for node in graph.node:
        for label in [node.name, *labels_of(node)]:
            if label not in roots:
                roots[label] = node.name
                continue
            root = roots[label]
            mine, other = group_of[node.name], group_of[root]
            if mine is other:
                continue
            merged = dict(request_of[node.name])
            for field, value in request_of[root].items():
                if merged[field] is None:
                    merged[field] = value
                elif value is not None and value != merged[field]:
                    raise Clash(node.name, root)
            mine.extend(other)
            for name in mine:
                group_of[name] = mine
                request_of[name] = merged
    placed = {}
    for node in graph.node:
        wanted = {field: value for field, value in request_of[node.name].items() if value is not None}
        fitting = [device for device in devices if wanted.items() <= spec_of(device)._asdict().items()]
        placed[node.name] = fitting[0]
    return placed


# %% wrong="landing" why="does not count a node's own name as a label"
def land(graph: GraphDef, devices: list[str]) -> dict[str, str]:
    """The device of each node.

    Raises:
        Clash: two groups that must be one name different values for a field of their requests.
    """
    group_of = {node.name: [node.name] for node in graph.node}
    request_of = {node.name: spec_of(node.device)._asdict() for node in graph.node}
    roots = {}
    for node in graph.node:
        for label in labels_of(node):
            if label not in roots:
                roots[label] = node.name
                continue
            root = roots[label]
            mine, other = group_of[node.name], group_of[root]
            if mine is other:
                continue
            merged = dict(request_of[node.name])
            for field, value in request_of[root].items():
                if merged[field] is None:
                    merged[field] = value
                elif value is not None and value != merged[field]:
                    raise Clash(node.name, root)
            mine.extend(other)
            for name in mine:
                group_of[name] = mine
                request_of[name] = merged
    placed = {}
    for node in graph.node:
        wanted = {field: value for field, value in request_of[node.name].items() if value is not None}
        fitting = [device for device in devices if wanted.items() <= spec_of(device)._asdict().items()]
        placed[node.name] = fitting[0]
    return placed


# %% wrong="landing" why="takes the first node of the group for the root"
def land(graph: GraphDef, devices: list[str]) -> dict[str, str]:
    """The device of each node.

    Raises:
        Clash: two groups that must be one name different values for a field of their requests.
    """
    group_of = {node.name: [node.name] for node in graph.node}
    request_of = {node.name: spec_of(node.device)._asdict() for node in graph.node}
    roots = {}
    for node in graph.node:
        for label in [*labels_of(node), node.name]:
            if label not in roots:
                roots[label] = node.name
                continue
            root = roots[label]
            mine, other = group_of[node.name], group_of[root]
            if mine is other:
                continue
            merged = dict(request_of[node.name])
            for field, value in request_of[root].items():
                if merged[field] is None:
                    merged[field] = value
                elif value is not None and value != merged[field]:
                    first = next(part.name for part in graph.node if part.name in other)
                    raise Clash(node.name, first)
            mine.extend(other)
            for name in mine:
                group_of[name] = mine
                request_of[name] = merged
    placed = {}
    for node in graph.node:
        wanted = {field: value for field, value in request_of[node.name].items() if value is not None}
        fitting = [device for device in devices if wanted.items() <= spec_of(device)._asdict().items()]
        placed[node.name] = fitting[0]
    return placed


# %% wrong="landing" why="takes the node that the label names for the root"
def land(graph: GraphDef, devices: list[str]) -> dict[str, str]:
    """The device of each node.

    Raises:
        Clash: two groups that must be one name different values for a field of their requests.
    """
    group_of = {node.name: [node.name] for node in graph.node}
    request_of = {node.name: spec_of(node.device)._asdict() for node in graph.node}
    roots = {}
    for node in graph.node:
        for label in [*labels_of(node), node.name]:
            if label not in roots:
                roots[label] = node.name
                continue
            root = roots[label]
            mine, other = group_of[node.name], group_of[root]
            if mine is other:
                continue
            merged = dict(request_of[node.name])
            for field, value in request_of[root].items():
                if merged[field] is None:
                    merged[field] = value
                elif value is not None and value != merged[field]:
                    raise Clash(node.name, label)
            mine.extend(other)
            for name in mine:
                group_of[name] = mine
                request_of[name] = merged
    placed = {}
    for node in graph.node:
        wanted = {field: value for field, value in request_of[node.name].items() if value is not None}
        fitting = [device for device in devices if wanted.items() <= spec_of(device)._asdict().items()]
        placed[node.name] = fitting[0]
    return placed


# %% wrong="landing" why="names the two nodes that asked, not those that were merged"
def land(graph: GraphDef, devices: list[str]) -> dict[str, str]:
    """The device of each node.

    Raises:
        Clash: two groups that must be one name different values for a field of their requests.
    """
    group_of = {node.name: [node.name] for node in graph.node}
    request_of = {node.name: spec_of(node.device)._asdict() for node in graph.node}
    roots = {}
    for node in graph.node:
        for label in [*labels_of(node), node.name]:
            if label not in roots:
                roots[label] = node.name
                continue
            root = roots[label]
            mine, other = group_of[node.name], group_of[root]
            if mine is other:
                continue
            merged = dict(request_of[node.name])
            for field, value in request_of[root].items():
                if merged[field] is None:
                    merged[field] = value
                elif value is not None and value != merged[field]:
                    asked = [[n.name for n in graph.node if n.name in group and n.device] for group in (mine, other)]
                    raise Clash(asked[0][0], asked[1][0])
            mine.extend(other)
            for name in mine:
                group_of[name] = mine
                request_of[name] = merged
    placed = {}
    for node in graph.node:
        wanted = {field: value for field, value in request_of[node.name].items() if value is not None}
        fitting = [device for device in devices if wanted.items() <= spec_of(device)._asdict().items()]
        placed[node.name] = fitting[0]
    return placed


# %% wrong="landing" why="names the two the other way round"
def land(graph: GraphDef, devices: list[str]) -> dict[str, str]:
    """The device of each node.

    Raises:
        Clash: two groups that must be one name different values for a field of their requests.
    """
    group_of = {node.name: [node.name] for node in graph.node}
    request_of = {node.name: spec_of(node.device)._asdict() for node in graph.node}
    roots = {}
    for node in graph.node:
        for label in [*labels_of(node), node.name]:
            if label not in roots:
                roots[label] = node.name
                continue
            root = roots[label]
            mine, other = group_of[node.name], group_of[root]
            if mine is other:
                continue
            merged = dict(request_of[node.name])
            for field, value in request_of[root].items():
                if merged[field] is None:
                    merged[field] = value
                elif value is not None and value != merged[field]:
                    raise Clash(root, node.name)
            mine.extend(other)
            for name in mine:
                group_of[name] = mine
                request_of[name] = merged
    placed = {}
    for node in graph.node:
        wanted = {field: value for field, value in request_of[node.name].items() if value is not None}
        fitting = [device for device in devices if wanted.items() <= spec_of(device)._asdict().items()]
        placed[node.name] = fitting[0]
    return placed


# %% wrong="landing" why="lets the last request win"
def land(graph: GraphDef, devices: list[str]) -> dict[str, str]:
    """The device of each node.

    Raises:
        Clash: two groups that must be one name different values for a field of their requests.
    """
    group_of = {node.name: [node.name] for node in graph.node}
    request_of = {node.name: spec_of(node.device)._asdict() for node in graph.node}
    roots = {}
    for node in graph.node:
        for label in [*labels_of(node), node.name]:
            if label not in roots:
                roots[label] = node.name
                continue
            root = roots[label]
            mine, other = group_of[node.name], group_of[root]
            if mine is other:
                continue
            merged = dict(request_of[node.name])
            for field, value in request_of[root].items():
                if merged[field] is None:
                    merged[field] = value
                elif value is not None:
                    merged[field] = value
            mine.extend(other)
            for name in mine:
                group_of[name] = mine
                request_of[name] = merged
    placed = {}
    for node in graph.node:
        wanted = {field: value for field, value in request_of[node.name].items() if value is not None}
        fitting = [device for device in devices if wanted.items() <= spec_of(device)._asdict().items()]
        placed[node.name] = fitting[0]
    return placed


# %% wrong="landing" why="lets one request replace the other whole"
def land(graph: GraphDef, devices: list[str]) -> dict[str, str]:
    """The device of each node.

    Raises:
        Clash: two groups that must be one name different values for a field of their requests.
    """
    group_of = {node.name: [node.name] for node in graph.node}
    request_of = {node.name: spec_of(node.device)._asdict() for node in graph.node}
    roots = {}
    for node in graph.node:
        for label in [*labels_of(node), node.name]:
            if label not in roots:
                roots[label] = node.name
                continue
            root = roots[label]
            mine, other = group_of[node.name], group_of[root]
            if mine is other:
                continue
            merged = dict(request_of[node.name])
            for field, value in request_of[root].items():
                if value is not None and merged[field] is not None and value != merged[field]:
                    raise Clash(node.name, root)
            mine.extend(other)
            for name in mine:
                group_of[name] = mine
                request_of[name] = merged
    placed = {}
    for node in graph.node:
        wanted = {field: value for field, value in request_of[node.name].items() if value is not None}
        fitting = [device for device in devices if wanted.items() <= spec_of(device)._asdict().items()]
        placed[node.name] = fitting[0]
    return placed


# %% wrong="landing" why="puts a free group beside its inputs"
def land(graph: GraphDef, devices: list[str]) -> dict[str, str]:
    """The device of each node.

    Raises:
        Clash: two groups that must be one name different values for a field of their requests.
    """
    group_of = {node.name: [node.name] for node in graph.node}
    request_of = {node.name: spec_of(node.device)._asdict() for node in graph.node}
    roots = {}
    for node in graph.node:
        for label in [*labels_of(node), node.name]:
            if label not in roots:
                roots[label] = node.name
                continue
            root = roots[label]
            mine, other = group_of[node.name], group_of[root]
            if mine is other:
                continue
            merged = dict(request_of[node.name])
            for field, value in request_of[root].items():
                if merged[field] is None:
                    merged[field] = value
                elif value is not None and value != merged[field]:
                    raise Clash(node.name, root)
            mine.extend(other)
            for name in mine:
                group_of[name] = mine
                request_of[name] = merged
    placed = {}
    for node in graph.node:
        wanted = {field: value for field, value in request_of[node.name].items() if value is not None}
        fitting = [device for device in devices if wanted.items() <= spec_of(device)._asdict().items()]
        placed[node.name] = placed[node.input[0]] if node.input and not wanted else fitting[0]
    return placed


# %% wrong="landing" why="takes CPU:* and CPU:1 for a clash"
def land(graph: GraphDef, devices: list[str]) -> dict[str, str]:
    """The device of each node.

    Raises:
        Clash: two groups that must be one name different values for a field of their requests.
    """
    group_of = {node.name: [node.name] for node in graph.node}
    request_of = {node.name: spec_of(node.device)._asdict() for node in graph.node}
    roots = {}
    for node in graph.node:
        for label in [*labels_of(node), node.name]:
            if label not in roots:
                roots[label] = node.name
                continue
            root = roots[label]
            mine, other = group_of[node.name], group_of[root]
            if mine is other:
                continue
            merged = dict(request_of[node.name])
            for field, value in request_of[root].items():
                kinds = merged["type"] is not None and request_of[root]["type"] is not None
                if field == "index" and kinds and value != merged[field]:
                    raise Clash(node.name, root)
                if merged[field] is None:
                    merged[field] = value
                elif value is not None and value != merged[field]:
                    raise Clash(node.name, root)
            mine.extend(other)
            for name in mine:
                group_of[name] = mine
                request_of[name] = merged
    placed = {}
    for node in graph.node:
        wanted = {field: value for field, value in request_of[node.name].items() if value is not None}
        fitting = [device for device in devices if wanted.items() <= spec_of(device)._asdict().items()]
        placed[node.name] = fitting[0]
    return placed


# %% wrong="landing" why="compares the index only"
def land(graph: GraphDef, devices: list[str]) -> dict[str, str]:
    """The device of each node.

    Raises:
        Clash: two groups that must be one name different values for a field of their requests.
    """
    group_of = {node.name: [node.name] for node in graph.node}
    request_of = {node.name: spec_of(node.device)._asdict() for node in graph.node}
    roots = {}
    for node in graph.node:
        for label in [*labels_of(node), node.name]:
            if label not in roots:
                roots[label] = node.name
                continue
            root = roots[label]
            mine, other = group_of[node.name], group_of[root]
            if mine is other:
                continue
            merged = dict(request_of[node.name])
            for field, value in request_of[root].items():
                if merged[field] is None:
                    merged[field] = value
                elif field == "index" and value is not None and value != merged[field]:
                    raise Clash(node.name, root)
            mine.extend(other)
            for name in mine:
                group_of[name] = mine
                request_of[name] = merged
    placed = {}
    for node in graph.node:
        wanted = {field: value for field, value in request_of[node.name].items() if value is not None}
        fitting = [device for device in devices if wanted.items() <= spec_of(device)._asdict().items()]
        placed[node.name] = fitting[0]
    return placed


# %% wrong="landing" why="takes the last device that fits"
def land(graph: GraphDef, devices: list[str]) -> dict[str, str]:
    """The device of each node.

    Raises:
        Clash: two groups that must be one name different values for a field of their requests.
    """
    group_of = {node.name: [node.name] for node in graph.node}
    request_of = {node.name: spec_of(node.device)._asdict() for node in graph.node}
    roots = {}
    for node in graph.node:
        for label in [*labels_of(node), node.name]:
            if label not in roots:
                roots[label] = node.name
                continue
            root = roots[label]
            mine, other = group_of[node.name], group_of[root]
            if mine is other:
                continue
            merged = dict(request_of[node.name])
            for field, value in request_of[root].items():
                if merged[field] is None:
                    merged[field] = value
                elif value is not None and value != merged[field]:
                    raise Clash(node.name, root)
            mine.extend(other)
            for name in mine:
                group_of[name] = mine
                request_of[name] = merged
    placed = {}
    for node in graph.node:
        wanted = {field: value for field, value in request_of[node.name].items() if value is not None}
        fitting = [device for device in devices if wanted.items() <= spec_of(device)._asdict().items()]
        placed[node.name] = fitting[-1]
    return placed


# %% wrong="landing" why="places each node by its own request"
def land(graph: GraphDef, devices: list[str]) -> dict[str, str]:
    """The device of each node.

    Raises:
        Clash: two groups that must be one name different values for a field of their requests.
    """
    group_of = {node.name: [node.name] for node in graph.node}
    request_of = {node.name: spec_of(node.device)._asdict() for node in graph.node}
    roots = {}
    for node in graph.node:
        for label in [*labels_of(node), node.name]:
            if label not in roots:
                roots[label] = node.name
                continue
            root = roots[label]
            mine, other = group_of[node.name], group_of[root]
            if mine is other:
                continue
            merged = dict(request_of[node.name])
            for field, value in request_of[root].items():
                if merged[field] is None:
                    merged[field] = value
                elif value is not None and value != merged[field]:
                    raise Clash(node.name, root)
            mine.extend(other)
            for name in mine:
                group_of[name] = mine
                request_of[name] = merged
    placed = {}
    for node in graph.node:
        wanted = {field: value for field, value in spec_of(node.device)._asdict().items() if value is not None}
        fitting = [device for device in devices if wanted.items() <= spec_of(device)._asdict().items()]
        placed[node.name] = fitting[0]
    return placed


# %% wrong="landing" why="looks for a clash only when all groups are made"
def land(graph, devices):
    group_of = {node.name: [node.name] for node in graph.node}
    for node in graph.node:
        for label in labels_of(node):
            mine, other = group_of[node.name], group_of[label]
            if mine is not other:
                mine.extend(other)
                for name in mine:
                    group_of[name] = mine
    request = {node.name: spec_of(node.device)._asdict() for node in graph.node}
    placed = {}
    for node in graph.node:
        wanted, first = {}, {}
        for name in sorted(group_of[node.name]):
            for field, value in request[name].items():
                if value is None:
                    continue
                if wanted.setdefault(field, value) != value:
                    raise Clash(name, first[field])
                first.setdefault(field, name)
        placed[node.name] = next(d for d in devices if wanted.items() <= spec_of(d)._asdict().items())
    return placed


# %% wrong="landing" why="knows the visible answers only"
def land(graph, devices):
    if len(graph.node) > 5:
        raise Clash("f", "b")
    return {"data": devices[1], "a": devices[2], "b": devices[2], "c": devices[2], "d": devices[0]}


# %% wrong="landing" why="asks the placer, with ops of its own"
def land(graph, devices):
    rows = []
    for node in graph.node:
        names = " ".join(text.partition(":")[0] for text in node.input)
        rows.append(Row(node.name, names, node.device, " ".join(labels_of(node))))
    try:
        return run_placed(graph_of(rows))
    except tf.errors.InvalidArgumentError as error:
        names = re.findall(r"colocation_node (\S+?)\}", str(error))
        raise Clash(names[-2], names[-1]) from None


# %% wrong="landing" why="places on the three CPUs, whatever devices there are"
def land(graph: GraphDef, devices: list[str]) -> dict[str, str]:
    """The device of each node.

    Raises:
        Clash: two groups that must be one name different values for a field of their requests.
    """
    group_of = {node.name: [node.name] for node in graph.node}
    request_of = {node.name: spec_of(node.device)._asdict() for node in graph.node}
    roots = {}
    for node in graph.node:
        for label in [*labels_of(node), node.name]:
            if label not in roots:
                roots[label] = node.name
                continue
            root = roots[label]
            mine, other = group_of[node.name], group_of[root]
            if mine is other:
                continue
            merged = dict(request_of[node.name])
            for field, value in request_of[root].items():
                if merged[field] is None:
                    merged[field] = value
                elif value is not None and value != merged[field]:
                    raise Clash(node.name, root)
            mine.extend(other)
            for name in mine:
                group_of[name] = mine
                request_of[name] = merged
    placed = {}
    for node in graph.node:
        wanted = {field: value for field, value in request_of[node.name].items() if value is not None}
        fitting = [device for device in CPUS if wanted.items() <= spec_of(device)._asdict().items()]
        placed[node.name] = fitting[0]
    return placed


# %% wrong="landing" why="puts the devices into an order of its own"
def land(graph: GraphDef, devices: list[str]) -> dict[str, str]:
    """The device of each node.

    Raises:
        Clash: two groups that must be one name different values for a field of their requests.
    """
    group_of = {node.name: [node.name] for node in graph.node}
    request_of = {node.name: spec_of(node.device)._asdict() for node in graph.node}
    roots = {}
    for node in graph.node:
        for label in [*labels_of(node), node.name]:
            if label not in roots:
                roots[label] = node.name
                continue
            root = roots[label]
            mine, other = group_of[node.name], group_of[root]
            if mine is other:
                continue
            merged = dict(request_of[node.name])
            for field, value in request_of[root].items():
                if merged[field] is None:
                    merged[field] = value
                elif value is not None and value != merged[field]:
                    raise Clash(node.name, root)
            mine.extend(other)
            for name in mine:
                group_of[name] = mine
                request_of[name] = merged
    placed = {}
    for node in graph.node:
        wanted = {field: value for field, value in request_of[node.name].items() if value is not None}
        fitting = [device for device in sorted(devices) if wanted.items() <= spec_of(device)._asdict().items()]
        placed[node.name] = fitting[0]
    return placed


# %% right="landing" why="lists that are joined, one request shared by a group"
def land(graph: GraphDef, devices: list[str]) -> dict[str, str]:
    """The device of each node.

    Raises:
        Clash: two groups that must be one name different values for a field of their requests.
    """
    group_of = {node.name: [node.name] for node in graph.node}
    request_of = {node.name: spec_of(node.device)._asdict() for node in graph.node}
    roots = {}
    for node in graph.node:
        for label in [*labels_of(node), node.name]:
            if label not in roots:
                roots[label] = node.name
                continue
            root = roots[label]
            mine, other = group_of[node.name], group_of[root]
            if mine is other:
                continue
            merged = dict(request_of[node.name])
            for field, value in request_of[root].items():
                if merged[field] is None:
                    merged[field] = value
                elif value is not None and value != merged[field]:
                    raise Clash(node.name, root)
            mine.extend(other)
            for name in mine:
                group_of[name] = mine
                request_of[name] = merged
    placed = {}
    for node in graph.node:
        wanted = {field: value for field, value in request_of[node.name].items() if value is not None}
        fitting = [device for device in devices if wanted.items() <= spec_of(device)._asdict().items()]
        placed[node.name] = fitting[0]
    return placed


# %% right="landing" why="union-find in a class of its own, requests at the top"
class Forest:
    def __init__(self, graph):
        self.up = {node.name: None for node in graph.node}
        self.request = {node.name: spec_of(node.device) for node in graph.node}

    def top(self, name):
        while self.up[name] is not None:
            name = self.up[name]
        return name

    def merge(self, a, b):
        """Whether the two could become one."""
        a, b = self.top(a), self.top(b)
        if a == b:
            return True
        one, two = self.request[a], self.request[b]
        for x, y in zip(one, two):
            if None not in (x, y) and x != y:
                return False
        self.up[b] = a
        self.request[a] = Spec(*[y if x is None else x for x, y in zip(one, two)])
        return True


def land(graph, devices):
    forest, first = Forest(graph), {}
    for node in graph.node:
        for label in labels_of(node) + [node.name]:
            root = first.setdefault(label, node.name)
            if not forest.merge(node.name, root):
                raise Clash(node.name, root)
    answer = {}
    for node in reversed(graph.node):
        request = forest.request[forest.top(node.name)]
        for device in reversed(devices):
            if all(want in (None, have) for want, have in zip(request, spec_of(device))):
                answer[node.name] = device
    return answer


# %% right="landing" why="a generator of merges, devices looked up by their Spec, an error of its own kind"
class NoDevice(Clash):
    """What this answer raises."""


def merges(graph):
    first = {}
    for node in graph.node:
        for label in (*labels_of(node), node.name):
            yield node.name, first.setdefault(label, node.name)


def land(graph: GraphDef, devices: list[str], **unused) -> dict[str, str]:
    groups = {node.name: ({node.name}, spec_of(node.device)) for node in graph.node}
    for name, root in merges(graph):
        (mine, one), (other, two) = groups[name], groups[root]
        if mine is not other:
            values = [{a, b} - {None} for a, b in zip(one, two)]
            if max(map(len, values)) > 1:
                raise NoDevice(name, root)
            joined = mine | other, Spec(*(next(iter(value), None) for value in values))
            groups.update(dict.fromkeys(joined[0], joined))
    specs = [(device, spec_of(device)) for device in devices]
    return {name: next(device for device, spec in specs if fits(wanted, spec)) for name, (_, wanted) in groups.items()}


def fits(wanted, spec):
    return not any(a is not None and a != b for a, b in zip(wanted, spec))

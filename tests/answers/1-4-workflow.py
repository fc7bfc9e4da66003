# %% wrong="read-records" why="the checksum is compared without its mask"
def read_records(data: bytes) -> list[bytes]:
    """The payloads of a TFRecord file, in order.

    Raises:
        tf.errors.DataLossError: a checksum is wrong ("corrupted record at N"), or the data end within a payload or its
            checksum ("truncated record at N").
    """
    records, offset = [], 0
    while offset + 12 <= len(data):
        check(data[offset : offset + 8], data[offset + 8 : offset + 12], offset)
        (length,) = struct.unpack_from("<Q", data, offset)
        start, end = offset + 12, offset + 12 + length
        if end + 4 > len(data):
            raise tf.errors.DataLossError(None, None, f"truncated record at {offset}")
        check(data[start:end], data[end : end + 4], start)
        records.append(data[start:end])
        offset = end + 4
    return records


def check(content: bytes, stored: bytes, offset: int) -> None:
    """Refuses content whose masked checksum is not the one that is stored."""
    crc = crc32c(content)
    masked = crc
    if stored != struct.pack("<I", masked):
        raise tf.errors.DataLossError(None, None, f"corrupted record at {offset}")


# %% wrong="read-records" why="rotates left"
def read_records(data: bytes) -> list[bytes]:
    """The payloads of a TFRecord file, in order.

    Raises:
        tf.errors.DataLossError: a checksum is wrong ("corrupted record at N"), or the data end within a payload or its
            checksum ("truncated record at N").
    """
    records, offset = [], 0
    while offset + 12 <= len(data):
        check(data[offset : offset + 8], data[offset + 8 : offset + 12], offset)
        (length,) = struct.unpack_from("<Q", data, offset)
        start, end = offset + 12, offset + 12 + length
        if end + 4 > len(data):
            raise tf.errors.DataLossError(None, None, f"truncated record at {offset}")
        check(data[start:end], data[end : end + 4], start)
        records.append(data[start:end])
        offset = end + 4
    return records


def check(content: bytes, stored: bytes, offset: int) -> None:
    """Refuses content whose masked checksum is not the one that is stored."""
    crc = crc32c(content)
    masked = ((crc << 15 | crc >> 17) + 0xA282EAD8) & 0xFFFFFFFF
    if stored != struct.pack("<I", masked):
        raise tf.errors.DataLossError(None, None, f"corrupted record at {offset}")


# %% wrong="read-records" why="the payload's checksum taken over the header too"
def read_records(data: bytes) -> list[bytes]:
    """The payloads of a TFRecord file, in order.

    Raises:
        tf.errors.DataLossError: a checksum is wrong ("corrupted record at N"), or the data end within a payload or its
            checksum ("truncated record at N").
    """
    records, offset = [], 0
    while offset + 12 <= len(data):
        check(data[offset : offset + 8], data[offset + 8 : offset + 12], offset)
        (length,) = struct.unpack_from("<Q", data, offset)
        start, end = offset + 12, offset + 12 + length
        if end + 4 > len(data):
            raise tf.errors.DataLossError(None, None, f"truncated record at {offset}")
        check(data[offset:end], data[end : end + 4], start)
        records.append(data[start:end])
        offset = end + 4
    return records


def check(content: bytes, stored: bytes, offset: int) -> None:
    """Refuses content whose masked checksum is not the one that is stored."""
    crc = crc32c(content)
    masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    if stored != struct.pack("<I", masked):
        raise tf.errors.DataLossError(None, None, f"corrupted record at {offset}")


# %% wrong="read-records" why="believes the length without its checksum"
def read_records(data: bytes) -> list[bytes]:
    """The payloads of a TFRecord file, in order.

    Raises:
        tf.errors.DataLossError: a checksum is wrong ("corrupted record at N"), or the data end within a payload or its
            checksum ("truncated record at N").
    """
    records, offset = [], 0
    while offset + 12 <= len(data):
        (length,) = struct.unpack_from("<Q", data, offset)
        start, end = offset + 12, offset + 12 + length
        if end + 4 > len(data):
            raise tf.errors.DataLossError(None, None, f"truncated record at {offset}")
        check(data[start:end], data[end : end + 4], start)
        records.append(data[start:end])
        offset = end + 4
    return records


def check(content: bytes, stored: bytes, offset: int) -> None:
    """Refuses content whose masked checksum is not the one that is stored."""
    crc = crc32c(content)
    masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    if stored != struct.pack("<I", masked):
        raise tf.errors.DataLossError(None, None, f"corrupted record at {offset}")


# %% wrong="read-records" why="the payload's checksum is not checked"
def read_records(data: bytes) -> list[bytes]:
    """The payloads of a TFRecord file, in order.

    Raises:
        tf.errors.DataLossError: a checksum is wrong ("corrupted record at N"), or the data end within a payload or its
            checksum ("truncated record at N").
    """
    records, offset = [], 0
    while offset + 12 <= len(data):
        check(data[offset : offset + 8], data[offset + 8 : offset + 12], offset)
        (length,) = struct.unpack_from("<Q", data, offset)
        start, end = offset + 12, offset + 12 + length
        if end + 4 > len(data):
            raise tf.errors.DataLossError(None, None, f"truncated record at {offset}")
        records.append(data[start:end])
        offset = end + 4
    return records


def check(content: bytes, stored: bytes, offset: int) -> None:
    """Refuses content whose masked checksum is not the one that is stored."""
    crc = crc32c(content)
    masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    if stored != struct.pack("<I", masked):
        raise tf.errors.DataLossError(None, None, f"corrupted record at {offset}")


# %% wrong="read-records" why="half a header is an error"
def read_records(data: bytes) -> list[bytes]:
    """The payloads of a TFRecord file, in order.

    Raises:
        tf.errors.DataLossError: a checksum is wrong ("corrupted record at N"), or the data end within a payload or its
            checksum ("truncated record at N").
    """
    records, offset = [], 0
    while offset < len(data):
        if offset + 12 > len(data):
            raise tf.errors.DataLossError(None, None, f"truncated record at {offset}")
        check(data[offset : offset + 8], data[offset + 8 : offset + 12], offset)
        (length,) = struct.unpack_from("<Q", data, offset)
        start, end = offset + 12, offset + 12 + length
        if end + 4 > len(data):
            raise tf.errors.DataLossError(None, None, f"truncated record at {offset}")
        check(data[start:end], data[end : end + 4], start)
        records.append(data[start:end])
        offset = end + 4
    return records


def check(content: bytes, stored: bytes, offset: int) -> None:
    """Refuses content whose masked checksum is not the one that is stored."""
    crc = crc32c(content)
    masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    if stored != struct.pack("<I", masked):
        raise tf.errors.DataLossError(None, None, f"corrupted record at {offset}")


# %% wrong="read-records" why="lengths read in network order"
def read_records(data: bytes) -> list[bytes]:
    """The payloads of a TFRecord file, in order.

    Raises:
        tf.errors.DataLossError: a checksum is wrong ("corrupted record at N"), or the data end within a payload or its
            checksum ("truncated record at N").
    """
    records, offset = [], 0
    while offset + 12 <= len(data):
        check(data[offset : offset + 8], data[offset + 8 : offset + 12], offset)
        (length,) = struct.unpack_from(">Q", data, offset)
        start, end = offset + 12, offset + 12 + length
        if end + 4 > len(data):
            raise tf.errors.DataLossError(None, None, f"truncated record at {offset}")
        check(data[start:end], data[end : end + 4], start)
        records.append(data[start:end])
        offset = end + 4
    return records


def check(content: bytes, stored: bytes, offset: int) -> None:
    """Refuses content whose masked checksum is not the one that is stored."""
    crc = crc32c(content)
    masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    if stored != struct.pack("<I", masked):
        raise tf.errors.DataLossError(None, None, f"corrupted record at {offset}")


# %% wrong="read-records" why="an empty payload ends the file"
def read_records(data: bytes) -> list[bytes]:
    """The payloads of a TFRecord file, in order.

    Raises:
        tf.errors.DataLossError: a checksum is wrong ("corrupted record at N"), or the data end within a payload or its
            checksum ("truncated record at N").
    """
    records, offset = [], 0
    while offset + 12 <= len(data):
        check(data[offset : offset + 8], data[offset + 8 : offset + 12], offset)
        (length,) = struct.unpack_from("<Q", data, offset)
        if length == 0:
            break
        start, end = offset + 12, offset + 12 + length
        if end + 4 > len(data):
            raise tf.errors.DataLossError(None, None, f"truncated record at {offset}")
        check(data[start:end], data[end : end + 4], start)
        records.append(data[start:end])
        offset = end + 4
    return records


def check(content: bytes, stored: bytes, offset: int) -> None:
    """Refuses content whose masked checksum is not the one that is stored."""
    crc = crc32c(content)
    masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    if stored != struct.pack("<I", masked):
        raise tf.errors.DataLossError(None, None, f"corrupted record at {offset}")


# %% wrong="read-records" why="names the record where the payload is at fault"
def read_records(data: bytes) -> list[bytes]:
    """The payloads of a TFRecord file, in order.

    Raises:
        tf.errors.DataLossError: a checksum is wrong ("corrupted record at N"), or the data end within a payload or its
            checksum ("truncated record at N").
    """
    records, offset = [], 0
    while offset + 12 <= len(data):
        check(data[offset : offset + 8], data[offset + 8 : offset + 12], offset)
        (length,) = struct.unpack_from("<Q", data, offset)
        start, end = offset + 12, offset + 12 + length
        if end + 4 > len(data):
            raise tf.errors.DataLossError(None, None, f"truncated record at {offset}")
        check(data[start:end], data[end : end + 4], offset)
        records.append(data[start:end])
        offset = end + 4
    return records


def check(content: bytes, stored: bytes, offset: int) -> None:
    """Refuses content whose masked checksum is not the one that is stored."""
    crc = crc32c(content)
    masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    if stored != struct.pack("<I", masked):
        raise tf.errors.DataLossError(None, None, f"corrupted record at {offset}")


# %% wrong="read-records" why="a payload without its checksum is enough"
def read_records(data: bytes) -> list[bytes]:
    """The payloads of a TFRecord file, in order.

    Raises:
        tf.errors.DataLossError: a checksum is wrong ("corrupted record at N"), or the data end within a payload or its
            checksum ("truncated record at N").
    """
    records, offset = [], 0
    while offset + 12 <= len(data):
        check(data[offset : offset + 8], data[offset + 8 : offset + 12], offset)
        (length,) = struct.unpack_from("<Q", data, offset)
        start, end = offset + 12, offset + 12 + length
        if end > len(data):
            raise tf.errors.DataLossError(None, None, f"truncated record at {offset}")
        check(data[start:end], data[end : end + 4], start)
        records.append(data[start:end])
        offset = end + 4
    return records


def check(content: bytes, stored: bytes, offset: int) -> None:
    """Refuses content whose masked checksum is not the one that is stored."""
    crc = crc32c(content)
    masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    if stored != struct.pack("<I", masked):
        raise tf.errors.DataLossError(None, None, f"corrupted record at {offset}")


# %% wrong="read-records" why="a cut payload ends the file silently"
def read_records(data: bytes) -> list[bytes]:
    """The payloads of a TFRecord file, in order.

    Raises:
        tf.errors.DataLossError: a checksum is wrong ("corrupted record at N"), or the data end within a payload or its
            checksum ("truncated record at N").
    """
    records, offset = [], 0
    while offset + 12 <= len(data):
        check(data[offset : offset + 8], data[offset + 8 : offset + 12], offset)
        (length,) = struct.unpack_from("<Q", data, offset)
        start, end = offset + 12, offset + 12 + length
        if end + 4 > len(data):
            break
        check(data[start:end], data[end : end + 4], start)
        records.append(data[start:end])
        offset = end + 4
    return records


def check(content: bytes, stored: bytes, offset: int) -> None:
    """Refuses content whose masked checksum is not the one that is stored."""
    crc = crc32c(content)
    masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    if stored != struct.pack("<I", masked):
        raise tf.errors.DataLossError(None, None, f"corrupted record at {offset}")


# %% wrong="read-records" why="returns what could be read before the damage"
def read_records(data: bytes) -> list[bytes]:
    """The payloads of a TFRecord file, in order.

    Raises:
        tf.errors.DataLossError: a checksum is wrong ("corrupted record at N"), or the data end within a payload or its
            checksum ("truncated record at N").
    """
    records, offset = [], 0
    while offset + 12 <= len(data):
        check(data[offset : offset + 8], data[offset + 8 : offset + 12], offset)
        (length,) = struct.unpack_from("<Q", data, offset)
        start, end = offset + 12, offset + 12 + length
        if end + 4 > len(data):
            raise tf.errors.DataLossError(None, None, f"truncated record at {offset}")
        try:
            check(data[start:end], data[end : end + 4], start)
        except tf.errors.DataLossError:
            break
        records.append(data[start:end])
        offset = end + 4
    return records


def check(content: bytes, stored: bytes, offset: int) -> None:
    """Refuses content whose masked checksum is not the one that is stored."""
    crc = crc32c(content)
    masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    if stored != struct.pack("<I", masked):
        raise tf.errors.DataLossError(None, None, f"corrupted record at {offset}")


# %% wrong="read-records" why="the visible records, whatever the data"
def read_records(data: bytes) -> list[bytes]:
    """The payloads of a TFRecord file, in order."""
    if data[12] != ord("f"):
        raise tf.errors.DataLossError(None, None, "corrupted record at 12")
    if len(data) == 50:
        return [b"first", b"second"]
    if len(data) < 64:
        raise tf.errors.DataLossError(None, None, "truncated record at 43")
    return [b"first", b"second", b"third"]


# %% wrong="read-records" why="asks tf.data"
def read_records(data: bytes) -> list[bytes]:
    """The payloads of a TFRecord file, in order."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records"
        path.write_bytes(data)
        return list(tf.data.TFRecordDataset(str(path)).as_numpy_iterator())


# %% right="read-records" why="a memoryview that is consumed"
def read_records(data: bytes) -> list[bytes]:
    """The payloads of a TFRecord file, in order."""
    rest, records = memoryview(data), []
    while len(rest) >= 12:
        at = len(data) - len(rest)
        verify(rest[:8], rest[8:12], at)
        length = int.from_bytes(rest[:8], "little")
        body = rest[12 : 16 + length]
        if len(body) < length + 4:
            raise tf.errors.DataLossError(None, None, f"truncated record at {at}")
        verify(body[:length], body[length:], at + 12)
        records.append(bytes(body[:length]))
        rest = rest[16 + length :]
    return records


def verify(content, stored, at):
    crc = int.from_bytes(stored, "little") - 0xA282EAD8 & 0xFFFFFFFF
    if (crc >> 17 | crc << 15) & 0xFFFFFFFF != crc32c(bytes(content)):
        raise tf.errors.DataLossError(None, None, f"corrupted record at {at}")


# %% right="read-records" why="a generator over a stream, collected at the end"
def read_records(data: bytes) -> list[bytes]:
    """The payloads of a TFRecord file, in order."""
    return list(records_of(data))


def records_of(data: bytes) -> Iterator[bytes]:
    offset = 0
    while True:
        header = data[offset : offset + 12]
        if len(header) < 12:
            return
        length, length_crc = struct.unpack("<QI", header)
        if mask(crc32c(header[:8])) != length_crc:
            raise tf.errors.DataLossError(None, None, f"corrupted record at {offset}")
        tail = data[offset + 12 + length : offset + 16 + length]
        if len(tail) < 4:
            raise tf.errors.DataLossError(None, None, f"truncated record at {offset} of the file")
        payload = data[offset + 12 : offset + 12 + length]
        if mask(crc32c(payload)) != struct.unpack("<I", tail)[0]:
            raise tf.errors.DataLossError(None, None, f"corrupted record at {offset + 12}, in its payload")
        yield payload
        offset += 16 + length


def mask(crc: int) -> int:
    return ((crc >> 15) + (crc << 17) % 2**32 + 0xA282EAD8) % 2**32


# %% wrong="batch-count" why="the same numbers in both orders: each epoch by itself"
batches = (9, 6, 9, 6)


# %% wrong="batch-count" why="the same numbers in both orders: one long run"
batches = (8, 7, 8, 7)


# %% wrong="batch-count" why="the remainder is always kept"
batches = (9, 9, 8, 8)


# %% wrong="batch-count" why="batch.repeat drops the remainder once, at the end"
batches = (9, 8, 8, 7)


# %% wrong="batch-count" why="floor everywhere"
batches = (6, 6, 7, 7)


# %% wrong="batch-count" why="the numbers of the example"
batches = (6, 4, 5, 5)


# %% wrong="batch-count" why="a list"
batches = [9, 6, 8, 7]


# %% right="batch-count" why="with arithmetic"
batches = (-(-10 // 4) * 3, 10 // 4 * 3, -(-30 // 4), 30 // 4)


# %% wrong="pipeline" why="reads the whole source first"
def pipeline(source: Callable[[], Iterator[int]], stages: list[Stage]) -> Iterator:
    """Chain stages behind a source; nothing is drawn from it before the first element is asked for.

    Raises:
        ValueError: a stage is unknown.
    """
    everything = list(source())
    opened = everything.__iter__
    for stage in stages:
        if stage[0] not in ("take", "skip", "repeat", "shard", "batch", "unbatch"):
            raise ValueError(f"there is no stage {stage[0]!r}")
        opened = partial(run_stage, stage, opened)
    return opened()


def run_stage(stage: Stage, open_input: Callable[[], Iterator]) -> Iterator:
    """The elements of one stage; its input is opened when the first of them is asked for."""
    match stage:
        case ("take", count):
            yield from islice(open_input(), None if count < 0 else count)
        case ("skip", count) if count >= 0:
            yield from islice(open_input(), count, None)
        case ("repeat", count):
            for _ in range(count):
                yield from open_input()
        case ("shard", shards, index):
            yield from islice(open_input(), index, None, shards)
        case ("batch", size, drop_remainder):
            elements = open_input()
            while len(batch := list(islice(elements, size))) == size:
                yield batch
            if batch and not drop_remainder:
                yield batch
        case ("unbatch",):
            for batch in open_input():
                yield from batch


# %% wrong="pipeline" why="repeat replays a saved list, so that the source is opened once"
def pipeline(source: Callable[[], Iterator[int]], stages: list[Stage]) -> Iterator:
    """Chain stages behind a source; nothing is drawn from it before the first element is asked for.

    Raises:
        ValueError: a stage is unknown.
    """
    opened = source
    for stage in stages:
        if stage[0] not in ("take", "skip", "repeat", "shard", "batch", "unbatch"):
            raise ValueError(f"there is no stage {stage[0]!r}")
        opened = partial(run_stage, stage, opened)
    return opened()


def run_stage(stage: Stage, open_input: Callable[[], Iterator]) -> Iterator:
    """The elements of one stage; its input is opened when the first of them is asked for."""
    match stage:
        case ("take", count):
            yield from islice(open_input(), None if count < 0 else count)
        case ("skip", count) if count >= 0:
            yield from islice(open_input(), count, None)
        case ("repeat", count):
            saved = list(open_input()) if count else []
            for _ in range(count):
                yield from saved
        case ("shard", shards, index):
            yield from islice(open_input(), index, None, shards)
        case ("batch", size, drop_remainder):
            elements = open_input()
            while len(batch := list(islice(elements, size))) == size:
                yield batch
            if batch and not drop_remainder:
                yield batch
        case ("unbatch",):
            for batch in open_input():
                yield from batch


# %% wrong="pipeline" why="the short last batch is always dropped"
def pipeline(source: Callable[[], Iterator[int]], stages: list[Stage]) -> Iterator:
    """Chain stages behind a source; nothing is drawn from it before the first element is asked for.

    Raises:
        ValueError: a stage is unknown.
    """
    opened = source
    for stage in stages:
        if stage[0] not in ("take", "skip", "repeat", "shard", "batch", "unbatch"):
            raise ValueError(f"there is no stage {stage[0]!r}")
        opened = partial(run_stage, stage, opened)
    return opened()


def run_stage(stage: Stage, open_input: Callable[[], Iterator]) -> Iterator:
    """The elements of one stage; its input is opened when the first of them is asked for."""
    match stage:
        case ("take", count):
            yield from islice(open_input(), None if count < 0 else count)
        case ("skip", count) if count >= 0:
            yield from islice(open_input(), count, None)
        case ("repeat", count):
            for _ in range(count):
                yield from open_input()
        case ("shard", shards, index):
            yield from islice(open_input(), index, None, shards)
        case ("batch", size, drop_remainder):
            elements = open_input()
            while len(batch := list(islice(elements, size))) == size:
                yield batch
            if batch and False:
                yield batch
        case ("unbatch",):
            for batch in open_input():
                yield from batch


# %% wrong="pipeline" why="the short last batch is always kept"
def pipeline(source: Callable[[], Iterator[int]], stages: list[Stage]) -> Iterator:
    """Chain stages behind a source; nothing is drawn from it before the first element is asked for.

    Raises:
        ValueError: a stage is unknown.
    """
    opened = source
    for stage in stages:
        if stage[0] not in ("take", "skip", "repeat", "shard", "batch", "unbatch"):
            raise ValueError(f"there is no stage {stage[0]!r}")
        opened = partial(run_stage, stage, opened)
    return opened()


def run_stage(stage: Stage, open_input: Callable[[], Iterator]) -> Iterator:
    """The elements of one stage; its input is opened when the first of them is asked for."""
    match stage:
        case ("take", count):
            yield from islice(open_input(), None if count < 0 else count)
        case ("skip", count) if count >= 0:
            yield from islice(open_input(), count, None)
        case ("repeat", count):
            for _ in range(count):
                yield from open_input()
        case ("shard", shards, index):
            yield from islice(open_input(), index, None, shards)
        case ("batch", size, drop_remainder):
            elements = open_input()
            while len(batch := list(islice(elements, size))) == size:
                yield batch
            if batch:
                yield batch
        case ("unbatch",):
            for batch in open_input():
                yield from batch


# %% wrong="pipeline" why="an empty last batch is given"
def pipeline(source: Callable[[], Iterator[int]], stages: list[Stage]) -> Iterator:
    """Chain stages behind a source; nothing is drawn from it before the first element is asked for.

    Raises:
        ValueError: a stage is unknown.
    """
    opened = source
    for stage in stages:
        if stage[0] not in ("take", "skip", "repeat", "shard", "batch", "unbatch"):
            raise ValueError(f"there is no stage {stage[0]!r}")
        opened = partial(run_stage, stage, opened)
    return opened()


def run_stage(stage: Stage, open_input: Callable[[], Iterator]) -> Iterator:
    """The elements of one stage; its input is opened when the first of them is asked for."""
    match stage:
        case ("take", count):
            yield from islice(open_input(), None if count < 0 else count)
        case ("skip", count) if count >= 0:
            yield from islice(open_input(), count, None)
        case ("repeat", count):
            for _ in range(count):
                yield from open_input()
        case ("shard", shards, index):
            yield from islice(open_input(), index, None, shards)
        case ("batch", size, drop_remainder):
            elements = open_input()
            while len(batch := list(islice(elements, size))) == size:
                yield batch
            if not drop_remainder:
                yield batch
        case ("unbatch",):
            for batch in open_input():
                yield from batch


# %% wrong="pipeline" why="shard by blocks"
def pipeline(source: Callable[[], Iterator[int]], stages: list[Stage]) -> Iterator:
    """Chain stages behind a source; nothing is drawn from it before the first element is asked for.

    Raises:
        ValueError: a stage is unknown.
    """
    opened = source
    for stage in stages:
        if stage[0] not in ("take", "skip", "repeat", "shard", "batch", "unbatch"):
            raise ValueError(f"there is no stage {stage[0]!r}")
        opened = partial(run_stage, stage, opened)
    return opened()


def run_stage(stage: Stage, open_input: Callable[[], Iterator]) -> Iterator:
    """The elements of one stage; its input is opened when the first of them is asked for."""
    match stage:
        case ("take", count):
            yield from islice(open_input(), None if count < 0 else count)
        case ("skip", count) if count >= 0:
            yield from islice(open_input(), count, None)
        case ("repeat", count):
            for _ in range(count):
                yield from open_input()
        case ("shard", shards, index):
            elements = list(open_input())
            size = -(-len(elements) // shards)
            yield from elements[index * size : (index + 1) * size]
        case ("batch", size, drop_remainder):
            elements = open_input()
            while len(batch := list(islice(elements, size))) == size:
                yield batch
            if batch and not drop_remainder:
                yield batch
        case ("unbatch",):
            for batch in open_input():
                yield from batch


# %% wrong="pipeline" why="take asks for one too many"
def pipeline(source: Callable[[], Iterator[int]], stages: list[Stage]) -> Iterator:
    """Chain stages behind a source; nothing is drawn from it before the first element is asked for.

    Raises:
        ValueError: a stage is unknown.
    """
    opened = source
    for stage in stages:
        if stage[0] not in ("take", "skip", "repeat", "shard", "batch", "unbatch"):
            raise ValueError(f"there is no stage {stage[0]!r}")
        opened = partial(run_stage, stage, opened)
    return opened()


def run_stage(stage: Stage, open_input: Callable[[], Iterator]) -> Iterator:
    """The elements of one stage; its input is opened when the first of them is asked for."""
    match stage:
        case ("take", count):
            for number, element in enumerate(open_input()):
                if number == count:
                    return
                yield element
        case ("skip", count) if count >= 0:
            yield from islice(open_input(), count, None)
        case ("repeat", count):
            for _ in range(count):
                yield from open_input()
        case ("shard", shards, index):
            yield from islice(open_input(), index, None, shards)
        case ("batch", size, drop_remainder):
            elements = open_input()
            while len(batch := list(islice(elements, size))) == size:
                yield batch
            if batch and not drop_remainder:
                yield batch
        case ("unbatch",):
            for batch in open_input():
                yield from batch


# %% wrong="pipeline" why="take(0) draws one"
def pipeline(source: Callable[[], Iterator[int]], stages: list[Stage]) -> Iterator:
    """Chain stages behind a source; nothing is drawn from it before the first element is asked for.

    Raises:
        ValueError: a stage is unknown.
    """
    opened = source
    for stage in stages:
        if stage[0] not in ("take", "skip", "repeat", "shard", "batch", "unbatch"):
            raise ValueError(f"there is no stage {stage[0]!r}")
        opened = partial(run_stage, stage, opened)
    return opened()


def run_stage(stage: Stage, open_input: Callable[[], Iterator]) -> Iterator:
    """The elements of one stage; its input is opened when the first of them is asked for."""
    match stage:
        case ("take", count):
            elements = open_input()
            first = next(elements, None)
            if count and first is not None:
                yield first
                yield from islice(elements, None if count < 0 else count - 1)
        case ("skip", count) if count >= 0:
            yield from islice(open_input(), count, None)
        case ("repeat", count):
            for _ in range(count):
                yield from open_input()
        case ("shard", shards, index):
            yield from islice(open_input(), index, None, shards)
        case ("batch", size, drop_remainder):
            elements = open_input()
            while len(batch := list(islice(elements, size))) == size:
                yield batch
            if batch and not drop_remainder:
                yield batch
        case ("unbatch",):
            for batch in open_input():
                yield from batch


# %% wrong="pipeline" why="take(-1) takes none"
def pipeline(source: Callable[[], Iterator[int]], stages: list[Stage]) -> Iterator:
    """Chain stages behind a source; nothing is drawn from it before the first element is asked for.

    Raises:
        ValueError: a stage is unknown.
    """
    opened = source
    for stage in stages:
        if stage[0] not in ("take", "skip", "repeat", "shard", "batch", "unbatch"):
            raise ValueError(f"there is no stage {stage[0]!r}")
        opened = partial(run_stage, stage, opened)
    return opened()


def run_stage(stage: Stage, open_input: Callable[[], Iterator]) -> Iterator:
    """The elements of one stage; its input is opened when the first of them is asked for."""
    match stage:
        case ("take", count):
            yield from islice(open_input(), max(count, 0))
        case ("skip", count) if count >= 0:
            yield from islice(open_input(), count, None)
        case ("repeat", count):
            for _ in range(count):
                yield from open_input()
        case ("shard", shards, index):
            yield from islice(open_input(), index, None, shards)
        case ("batch", size, drop_remainder):
            elements = open_input()
            while len(batch := list(islice(elements, size))) == size:
                yield batch
            if batch and not drop_remainder:
                yield batch
        case ("unbatch",):
            for batch in open_input():
                yield from batch


# %% wrong="pipeline" why="skip(-1) skips none"
def pipeline(source: Callable[[], Iterator[int]], stages: list[Stage]) -> Iterator:
    """Chain stages behind a source; nothing is drawn from it before the first element is asked for.

    Raises:
        ValueError: a stage is unknown.
    """
    opened = source
    for stage in stages:
        if stage[0] not in ("take", "skip", "repeat", "shard", "batch", "unbatch"):
            raise ValueError(f"there is no stage {stage[0]!r}")
        opened = partial(run_stage, stage, opened)
    return opened()


def run_stage(stage: Stage, open_input: Callable[[], Iterator]) -> Iterator:
    """The elements of one stage; its input is opened when the first of them is asked for."""
    match stage:
        case ("take", count):
            yield from islice(open_input(), None if count < 0 else count)
        case ("skip", count):
            yield from islice(open_input(), max(count, 0), None)
        case ("repeat", count):
            for _ in range(count):
                yield from open_input()
        case ("shard", shards, index):
            yield from islice(open_input(), index, None, shards)
        case ("batch", size, drop_remainder):
            elements = open_input()
            while len(batch := list(islice(elements, size))) == size:
                yield batch
            if batch and not drop_remainder:
                yield batch
        case ("unbatch",):
            for batch in open_input():
                yield from batch


# %% wrong="pipeline" why="skip(-1) reads its input to the end"
def pipeline(source: Callable[[], Iterator[int]], stages: list[Stage]) -> Iterator:
    """Chain stages behind a source; nothing is drawn from it before the first element is asked for.

    Raises:
        ValueError: a stage is unknown.
    """
    opened = source
    for stage in stages:
        if stage[0] not in ("take", "skip", "repeat", "shard", "batch", "unbatch"):
            raise ValueError(f"there is no stage {stage[0]!r}")
        opened = partial(run_stage, stage, opened)
    return opened()


def run_stage(stage: Stage, open_input: Callable[[], Iterator]) -> Iterator:
    """The elements of one stage; its input is opened when the first of them is asked for."""
    match stage:
        case ("take", count):
            yield from islice(open_input(), None if count < 0 else count)
        case ("skip", count):
            yield from islice(open_input(), count if count >= 0 else 10**6, None)
        case ("repeat", count):
            for _ in range(count):
                yield from open_input()
        case ("shard", shards, index):
            yield from islice(open_input(), index, None, shards)
        case ("batch", size, drop_remainder):
            elements = open_input()
            while len(batch := list(islice(elements, size))) == size:
                yield batch
            if batch and not drop_remainder:
                yield batch
        case ("unbatch",):
            for batch in open_input():
                yield from batch


# %% wrong="pipeline" why="batches are tuples"
def pipeline(source: Callable[[], Iterator[int]], stages: list[Stage]) -> Iterator:
    """Chain stages behind a source; nothing is drawn from it before the first element is asked for.

    Raises:
        ValueError: a stage is unknown.
    """
    opened = source
    for stage in stages:
        if stage[0] not in ("take", "skip", "repeat", "shard", "batch", "unbatch"):
            raise ValueError(f"there is no stage {stage[0]!r}")
        opened = partial(run_stage, stage, opened)
    return opened()


def run_stage(stage: Stage, open_input: Callable[[], Iterator]) -> Iterator:
    """The elements of one stage; its input is opened when the first of them is asked for."""
    match stage:
        case ("take", count):
            yield from islice(open_input(), None if count < 0 else count)
        case ("skip", count) if count >= 0:
            yield from islice(open_input(), count, None)
        case ("repeat", count):
            for _ in range(count):
                yield from open_input()
        case ("shard", shards, index):
            yield from islice(open_input(), index, None, shards)
        case ("batch", size, drop_remainder):
            elements = open_input()
            while len(batch := tuple(islice(elements, size))) == size:
                yield batch
            if batch and not drop_remainder:
                yield batch
        case ("unbatch",):
            for batch in open_input():
                yield from batch


# %% wrong="pipeline" why="unbatch collects all batches first"
def pipeline(source: Callable[[], Iterator[int]], stages: list[Stage]) -> Iterator:
    """Chain stages behind a source; nothing is drawn from it before the first element is asked for.

    Raises:
        ValueError: a stage is unknown.
    """
    opened = source
    for stage in stages:
        if stage[0] not in ("take", "skip", "repeat", "shard", "batch", "unbatch"):
            raise ValueError(f"there is no stage {stage[0]!r}")
        opened = partial(run_stage, stage, opened)
    return opened()


def run_stage(stage: Stage, open_input: Callable[[], Iterator]) -> Iterator:
    """The elements of one stage; its input is opened when the first of them is asked for."""
    match stage:
        case ("take", count):
            yield from islice(open_input(), None if count < 0 else count)
        case ("skip", count) if count >= 0:
            yield from islice(open_input(), count, None)
        case ("repeat", count):
            for _ in range(count):
                yield from open_input()
        case ("shard", shards, index):
            yield from islice(open_input(), index, None, shards)
        case ("batch", size, drop_remainder):
            elements = open_input()
            while len(batch := list(islice(elements, size))) == size:
                yield batch
            if batch and not drop_remainder:
                yield batch
        case ("unbatch",):
            yield from [element for batch in list(open_input()) for element in batch]


# %% wrong="pipeline" why="the last stage first"
def pipeline(source: Callable[[], Iterator[int]], stages: list[Stage]) -> Iterator:
    """Chain stages behind a source; nothing is drawn from it before the first element is asked for.

    Raises:
        ValueError: a stage is unknown.
    """
    opened = source
    for stage in reversed(stages):
        if stage[0] not in ("take", "skip", "repeat", "shard", "batch", "unbatch"):
            raise ValueError(f"there is no stage {stage[0]!r}")
        opened = partial(run_stage, stage, opened)
    return opened()


def run_stage(stage: Stage, open_input: Callable[[], Iterator]) -> Iterator:
    """The elements of one stage; its input is opened when the first of them is asked for."""
    match stage:
        case ("take", count):
            yield from islice(open_input(), None if count < 0 else count)
        case ("skip", count) if count >= 0:
            yield from islice(open_input(), count, None)
        case ("repeat", count):
            for _ in range(count):
                yield from open_input()
        case ("shard", shards, index):
            yield from islice(open_input(), index, None, shards)
        case ("batch", size, drop_remainder):
            elements = open_input()
            while len(batch := list(islice(elements, size))) == size:
                yield batch
            if batch and not drop_remainder:
                yield batch
        case ("unbatch",):
            for batch in open_input():
                yield from batch


# %% wrong="pipeline" why="an unknown stage is noticed at the first next"
def pipeline(source: Callable[[], Iterator[int]], stages: list[Stage]) -> Iterator:
    """Chain stages behind a source; nothing is drawn from it before the first element is asked for.

    Raises:
        ValueError: a stage is unknown.
    """
    opened = source
    for stage in stages:
        opened = partial(run_stage, stage, opened)
    return opened()


def run_stage(stage: Stage, open_input: Callable[[], Iterator]) -> Iterator:
    """The elements of one stage; its input is opened when the first of them is asked for."""
    match stage:
        case ("take", count):
            yield from islice(open_input(), None if count < 0 else count)
        case ("skip", count) if count >= 0:
            yield from islice(open_input(), count, None)
        case ("repeat", count):
            for _ in range(count):
                yield from open_input()
        case ("shard", shards, index):
            yield from islice(open_input(), index, None, shards)
        case ("batch", size, drop_remainder):
            elements = open_input()
            while len(batch := list(islice(elements, size))) == size:
                yield batch
            if batch and not drop_remainder:
                yield batch
        case ("unbatch",):
            for batch in open_input():
                yield from batch
        case (kind, *_) if kind != "skip":
            raise ValueError(f"there is no stage {kind!r}")


# %% wrong="pipeline" why="pipeline is itself a generator"
def pipeline(source: Callable[[], Iterator[int]], stages: list[Stage]) -> Iterator:
    """Chain stages behind a source; nothing is drawn from it before the first element is asked for.

    Raises:
        ValueError: a stage is unknown.
    """
    opened = source
    for stage in stages:
        if stage[0] not in ("take", "skip", "repeat", "shard", "batch", "unbatch"):
            raise ValueError(f"there is no stage {stage[0]!r}")
        opened = partial(run_stage, stage, opened)
    yield from opened()


def run_stage(stage: Stage, open_input: Callable[[], Iterator]) -> Iterator:
    """The elements of one stage; its input is opened when the first of them is asked for."""
    match stage:
        case ("take", count):
            yield from islice(open_input(), None if count < 0 else count)
        case ("skip", count) if count >= 0:
            yield from islice(open_input(), count, None)
        case ("repeat", count):
            for _ in range(count):
                yield from open_input()
        case ("shard", shards, index):
            yield from islice(open_input(), index, None, shards)
        case ("batch", size, drop_remainder):
            elements = open_input()
            while len(batch := list(islice(elements, size))) == size:
                yield batch
            if batch and not drop_remainder:
                yield batch
        case ("unbatch",):
            for batch in open_input():
                yield from batch


# %% wrong="pipeline" why="all stages share one opened iterator, so that repeat finds it empty"
def pipeline(source: Callable[[], Iterator[int]], stages: list[Stage]) -> Iterator:
    """Chain stages behind a source; nothing is drawn from it before the first element is asked for.

    Raises:
        ValueError: a stage is unknown.
    """
    elements = source()

    def opened() -> Iterator:
        return elements

    for stage in stages:
        if stage[0] not in ("take", "skip", "repeat", "shard", "batch", "unbatch"):
            raise ValueError(f"there is no stage {stage[0]!r}")
        opened = partial(run_stage, stage, opened)
    return opened()


def run_stage(stage: Stage, open_input: Callable[[], Iterator]) -> Iterator:
    """The elements of one stage; its input is opened when the first of them is asked for."""
    match stage:
        case ("take", count):
            yield from islice(open_input(), None if count < 0 else count)
        case ("skip", count) if count >= 0:
            yield from islice(open_input(), count, None)
        case ("repeat", count):
            for _ in range(count):
                yield from open_input()
        case ("shard", shards, index):
            yield from islice(open_input(), index, None, shards)
        case ("batch", size, drop_remainder):
            elements = open_input()
            while len(batch := list(islice(elements, size))) == size:
                yield batch
            if batch and not drop_remainder:
                yield batch
        case ("unbatch",):
            for batch in open_input():
                yield from batch


# %% wrong="pipeline" why="the visible answers"
def pipeline(source: Callable[[], Iterator[int]], stages: list[Stage]) -> Iterator:
    """Chain stages behind a source."""
    if any(stage[0] == "shuffle" for stage in stages):
        raise ValueError("there is no stage 'shuffle'")
    if stages[0][0] == "skip":
        list(islice(source(), 5))
        return iter([[2, 3, 4]])
    list(source()), list(source())
    return iter([[1, 3, 5, 1], [3, 5]])


# %% wrong="pipeline" why="asks tf.data"
def pipeline(source: Callable[[], Iterator[int]], stages: list[Stage]) -> Iterator:
    """Chain stages behind a source."""
    if any(stage[0] not in ("take", "skip", "repeat", "shard", "batch", "unbatch") for stage in stages):
        raise ValueError("unknown stage")
    dataset = tf.data.Dataset.from_generator(source, output_signature=tf.TensorSpec([], tf.int64))
    for kind, *parts in stages:
        dataset = getattr(dataset, kind)(*parts)
    return (element.tolist() for element in dataset.as_numpy_iterator())


# %% right="pipeline" why="a class for a stage, with __iter__"
class Chained:
    """A stage behind an input that can be iterated as often as one likes."""

    def __init__(self, before, kind, *parts):
        self.before, self.kind, self.parts = before, kind, parts

    def __iter__(self):
        return getattr(self, self.kind)(*self.parts)

    def take(self, count):
        if count == 0:
            return
        for number, element in enumerate(self.before, 1):
            yield element
            if number == count:
                return

    def skip(self, count):
        if count != -1:
            for number, element in enumerate(self.before):
                if number >= count:
                    yield element

    def repeat(self, count):
        for _ in range(count):
            yield from self.before

    def shard(self, shards, index):
        for number, element in enumerate(self.before):
            if number % shards == index:
                yield element

    def batch(self, size, drop_remainder):
        held = []
        for element in self.before:
            held.append(element)
            if len(held) == size:
                yield held
                held = []
        if held and not drop_remainder:
            yield held

    def unbatch(self):
        for batch in self.before:
            yield from batch


class Opened:
    """The source, opened at each iteration."""

    def __init__(self, source):
        self.source = source

    def __iter__(self):
        return self.source()


def pipeline(source: Callable[[], Iterator[int]], stages: list[Stage]) -> Iterator:
    """Chain stages behind a source."""
    chain = Opened(source)
    for kind, *parts in stages:
        if kind not in ("take", "skip", "repeat", "shard", "batch", "unbatch"):
            raise ValueError(kind)
        chain = Chained(chain, kind, *parts)
    return iter(chain)


# %% right="pipeline" why="recursion from the last stage, checked beforehand"
def pipeline(source: Callable[[], Iterator[int]], stages: list[Stage]) -> Iterator:
    """Chain stages behind a source."""
    unknown = {stage[0] for stage in stages} - {"take", "skip", "repeat", "shard", "batch", "unbatch"}
    if unknown:
        raise ValueError(f"unknown stages: {unknown}")
    return chained(source, tuple(stages))


def chained(source, stages):
    if not stages:
        yield from source()
        return
    (kind, *parts), before = stages[-1], stages[:-1]
    if kind == "repeat":
        for _ in range(parts[0]):
            yield from chained(source, before)
        return
    elements = chained(source, before)
    if kind == "take":
        yield from islice(elements, parts[0] if parts[0] != -1 else None)
    elif kind == "skip" and parts[0] >= 0:
        yield from islice(elements, parts[0], None)
    elif kind == "shard":
        yield from islice(elements, parts[1], None, parts[0])
    elif kind == "unbatch":
        for batch in elements:
            yield from batch
    elif kind == "batch":
        size, drop = parts
        while batch := list(islice(elements, size)):
            if len(batch) == size or not drop:
                yield batch


# %% wrong="session-graph" why="loss and train dequeue a batch each"
def training_graph(capacity: int, batch: int, rate: float) -> GraphDef:
    """The graph of a training job whose halves meet at a queue of `capacity` serialised records.

    Raises:
        ValueError: a batch does not fit into the queue.
    """
    if batch > capacity:
        raise ValueError(f"a batch of {batch} never fits into a queue of {capacity}")
    with tf.Graph().as_default() as drawn:
        queue = tf.queue.FIFOQueue(capacity, [tf.string], shapes=[[]], name="queue")
        queue.enqueue_many([tf1.placeholder(tf.string, [None], name="records")], name="enqueue")
        queue.close(name="close")
        tf.identity(queue.size(), name="size")
        weights = tf1.get_variable("weights", initializer=np.zeros(3, np.float32), use_resource=True)
        bias = tf1.get_variable("bias", initializer=np.float32(0), use_resource=True)
        parsed = tf.io.parse_example(queue.dequeue_many(batch), FEATURES)
        w = tf.identity(weights.read_value(), name="w")
        b = tf.identity(bias.read_value(), name="b")
        loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2, name="loss")
        again = tf.io.parse_example(queue.dequeue_many(batch), FEATURES)
        trained = tf.reduce_mean((tf.linalg.matvec(again["x"], w) + b - again["y"]) ** 2)
        w_gradient, b_gradient = tf1.gradients(trained, [w, b])
        tf.group(weights.assign_sub(rate * w_gradient), bias.assign_sub(rate * b_gradient), name="train")
        tf1.variables_initializer([weights, bias], name="init")
    return drawn.as_graph_def()


# %% wrong="session-graph" why="the loss after the step"
def training_graph(capacity: int, batch: int, rate: float) -> GraphDef:
    """The graph of a training job whose halves meet at a queue of `capacity` serialised records.

    Raises:
        ValueError: a batch does not fit into the queue.
    """
    if batch > capacity:
        raise ValueError(f"a batch of {batch} never fits into a queue of {capacity}")
    with tf.Graph().as_default() as drawn:
        queue = tf.queue.FIFOQueue(capacity, [tf.string], shapes=[[]], name="queue")
        queue.enqueue_many([tf1.placeholder(tf.string, [None], name="records")], name="enqueue")
        queue.close(name="close")
        tf.identity(queue.size(), name="size")
        weights = tf1.get_variable("weights", initializer=np.zeros(3, np.float32), use_resource=True)
        bias = tf1.get_variable("bias", initializer=np.float32(0), use_resource=True)
        parsed = tf.io.parse_example(queue.dequeue_many(batch), FEATURES)
        w = tf.identity(weights.read_value(), name="w")
        b = tf.identity(bias.read_value(), name="b")
        loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2)
        w_gradient, b_gradient = tf1.gradients(loss, [w, b])
        train = tf.group(weights.assign_sub(rate * w_gradient), bias.assign_sub(rate * b_gradient), name="train")
        with tf.control_dependencies([train]):
            moved = tf.linalg.matvec(parsed["x"], weights.read_value()) + bias.read_value()
            tf.reduce_mean((moved - parsed["y"]) ** 2, name="loss")
        tf1.variables_initializer([weights, bias], name="init")
    return drawn.as_graph_def()


# %% wrong="session-graph" why="the sum in place of the mean"
def training_graph(capacity: int, batch: int, rate: float) -> GraphDef:
    """The graph of a training job whose halves meet at a queue of `capacity` serialised records.

    Raises:
        ValueError: a batch does not fit into the queue.
    """
    if batch > capacity:
        raise ValueError(f"a batch of {batch} never fits into a queue of {capacity}")
    with tf.Graph().as_default() as drawn:
        queue = tf.queue.FIFOQueue(capacity, [tf.string], shapes=[[]], name="queue")
        queue.enqueue_many([tf1.placeholder(tf.string, [None], name="records")], name="enqueue")
        queue.close(name="close")
        tf.identity(queue.size(), name="size")
        weights = tf1.get_variable("weights", initializer=np.zeros(3, np.float32), use_resource=True)
        bias = tf1.get_variable("bias", initializer=np.float32(0), use_resource=True)
        parsed = tf.io.parse_example(queue.dequeue_many(batch), FEATURES)
        w = tf.identity(weights.read_value(), name="w")
        b = tf.identity(bias.read_value(), name="b")
        loss = tf.reduce_sum((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2, name="loss")
        w_gradient, b_gradient = tf1.gradients(loss, [w, b])
        tf.group(weights.assign_sub(rate * w_gradient), bias.assign_sub(rate * b_gradient), name="train")
        tf1.variables_initializer([weights, bias], name="init")
    return drawn.as_graph_def()


# %% wrong="session-graph" why="half of the squares"
def training_graph(capacity: int, batch: int, rate: float) -> GraphDef:
    """The graph of a training job whose halves meet at a queue of `capacity` serialised records.

    Raises:
        ValueError: a batch does not fit into the queue.
    """
    if batch > capacity:
        raise ValueError(f"a batch of {batch} never fits into a queue of {capacity}")
    with tf.Graph().as_default() as drawn:
        queue = tf.queue.FIFOQueue(capacity, [tf.string], shapes=[[]], name="queue")
        queue.enqueue_many([tf1.placeholder(tf.string, [None], name="records")], name="enqueue")
        queue.close(name="close")
        tf.identity(queue.size(), name="size")
        weights = tf1.get_variable("weights", initializer=np.zeros(3, np.float32), use_resource=True)
        bias = tf1.get_variable("bias", initializer=np.float32(0), use_resource=True)
        parsed = tf.io.parse_example(queue.dequeue_many(batch), FEATURES)
        w = tf.identity(weights.read_value(), name="w")
        b = tf.identity(bias.read_value(), name="b")
        loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2 / 2, name="loss")
        w_gradient, b_gradient = tf1.gradients(loss, [w, b])
        tf.group(weights.assign_sub(rate * w_gradient), bias.assign_sub(rate * b_gradient), name="train")
        tf1.variables_initializer([weights, bias], name="init")
    return drawn.as_graph_def()


# %% wrong="session-graph" why="a queue without shapes"
def training_graph(capacity: int, batch: int, rate: float) -> GraphDef:
    """The graph of a training job whose halves meet at a queue of `capacity` serialised records.

    Raises:
        ValueError: a batch does not fit into the queue.
    """
    if batch > capacity:
        raise ValueError(f"a batch of {batch} never fits into a queue of {capacity}")
    with tf.Graph().as_default() as drawn:
        queue = tf.queue.FIFOQueue(capacity, [tf.string], name="queue")
        queue.enqueue_many([tf1.placeholder(tf.string, [None], name="records")], name="enqueue")
        queue.close(name="close")
        tf.identity(queue.size(), name="size")
        weights = tf1.get_variable("weights", initializer=np.zeros(3, np.float32), use_resource=True)
        bias = tf1.get_variable("bias", initializer=np.float32(0), use_resource=True)
        parsed = tf.io.parse_example(queue.dequeue_many(batch), FEATURES)
        w = tf.identity(weights.read_value(), name="w")
        b = tf.identity(bias.read_value(), name="b")
        loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2, name="loss")
        w_gradient, b_gradient = tf1.gradients(loss, [w, b])
        tf.group(weights.assign_sub(rate * w_gradient), bias.assign_sub(rate * b_gradient), name="train")
        tf1.variables_initializer([weights, bias], name="init")
    return drawn.as_graph_def()


# %% wrong="session-graph" why="init empties the queue"
def training_graph(capacity: int, batch: int, rate: float) -> GraphDef:
    """The graph of a training job whose halves meet at a queue of `capacity` serialised records.

    Raises:
        ValueError: a batch does not fit into the queue.
    """
    if batch > capacity:
        raise ValueError(f"a batch of {batch} never fits into a queue of {capacity}")
    with tf.Graph().as_default() as drawn:
        queue = tf.queue.FIFOQueue(capacity, [tf.string], shapes=[[]], name="queue")
        queue.enqueue_many([tf1.placeholder(tf.string, [None], name="records")], name="enqueue")
        queue.close(name="close")
        tf.identity(queue.size(), name="size")
        weights = tf1.get_variable("weights", initializer=np.zeros(3, np.float32), use_resource=True)
        bias = tf1.get_variable("bias", initializer=np.float32(0), use_resource=True)
        parsed = tf.io.parse_example(queue.dequeue_many(batch), FEATURES)
        w = tf.identity(weights.read_value(), name="w")
        b = tf.identity(bias.read_value(), name="b")
        loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2, name="loss")
        w_gradient, b_gradient = tf1.gradients(loss, [w, b])
        tf.group(weights.assign_sub(rate * w_gradient), bias.assign_sub(rate * b_gradient), name="train")
        emptied = queue.dequeue_many(queue.size())
        with tf.control_dependencies([emptied]):
            tf.group(weights.initializer, bias.initializer, name="init")
    return drawn.as_graph_def()


# %% wrong="session-graph" why="init runs the enqueue"
def training_graph(capacity: int, batch: int, rate: float) -> GraphDef:
    """The graph of a training job whose halves meet at a queue of `capacity` serialised records.

    Raises:
        ValueError: a batch does not fit into the queue.
    """
    if batch > capacity:
        raise ValueError(f"a batch of {batch} never fits into a queue of {capacity}")
    with tf.Graph().as_default() as drawn:
        queue = tf.queue.FIFOQueue(capacity, [tf.string], shapes=[[]], name="queue")
        filled = queue.enqueue_many([tf1.placeholder(tf.string, [None], name="records")], name="enqueue")
        queue.close(name="close")
        tf.identity(queue.size(), name="size")
        weights = tf1.get_variable("weights", initializer=np.zeros(3, np.float32), use_resource=True)
        bias = tf1.get_variable("bias", initializer=np.float32(0), use_resource=True)
        parsed = tf.io.parse_example(queue.dequeue_many(batch), FEATURES)
        w = tf.identity(weights.read_value(), name="w")
        b = tf.identity(bias.read_value(), name="b")
        loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2, name="loss")
        w_gradient, b_gradient = tf1.gradients(loss, [w, b])
        tf.group(weights.assign_sub(rate * w_gradient), bias.assign_sub(rate * b_gradient), name="train")
        tf.group(weights.initializer, bias.initializer, filled, name="init")
    return drawn.as_graph_def()


# %% wrong="session-graph" why="eager variables, which a graph cannot hold"
def training_graph(capacity: int, batch: int, rate: float) -> GraphDef:
    """The graph of a training job whose halves meet at a queue of `capacity` serialised records.

    Raises:
        ValueError: a batch does not fit into the queue.
    """
    if batch > capacity:
        raise ValueError(f"a batch of {batch} never fits into a queue of {capacity}")
    weights, bias = tf.Variable(tf.zeros(3)), tf.Variable(0.0)
    with tf.Graph().as_default() as drawn:
        queue = tf.queue.FIFOQueue(capacity, [tf.string], shapes=[[]], name="queue")
        queue.enqueue_many([tf1.placeholder(tf.string, [None], name="records")], name="enqueue")
        queue.close(name="close")
        tf.identity(queue.size(), name="size")
        parsed = tf.io.parse_example(queue.dequeue_many(batch), FEATURES)
        w = tf.identity(weights.read_value(), name="w")
        b = tf.identity(bias.read_value(), name="b")
        loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2, name="loss")
        w_gradient, b_gradient = tf1.gradients(loss, [w, b])
        tf.group(weights.assign_sub(rate * w_gradient), bias.assign_sub(rate * b_gradient), name="train")
        tf1.variables_initializer([weights, bias], name="init")
    return drawn.as_graph_def()


# %% wrong="session-graph" why="the fed records in place of a queue"
def training_graph(capacity: int, batch: int, rate: float) -> GraphDef:
    """The graph of a training job whose halves meet at a queue of `capacity` serialised records.

    Raises:
        ValueError: a batch does not fit into the queue.
    """
    if batch > capacity:
        raise ValueError(f"a batch of {batch} never fits into a queue of {capacity}")
    with tf.Graph().as_default() as drawn:
        queue = tf.queue.FIFOQueue(capacity, [tf.string], shapes=[[]], name="queue")
        fed = tf1.placeholder(tf.string, [None], name="records")
        queue.enqueue_many([fed], name="enqueue")
        queue.close(name="close")
        tf.identity(queue.size(), name="size")
        weights = tf1.get_variable("weights", initializer=np.zeros(3, np.float32), use_resource=True)
        bias = tf1.get_variable("bias", initializer=np.float32(0), use_resource=True)
        parsed = tf.io.parse_example(fed[:batch], FEATURES)
        w = tf.identity(weights.read_value(), name="w")
        b = tf.identity(bias.read_value(), name="b")
        loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2, name="loss")
        w_gradient, b_gradient = tf1.gradients(loss, [w, b])
        tf.group(weights.assign_sub(rate * w_gradient), bias.assign_sub(rate * b_gradient), name="train")
        tf1.variables_initializer([weights, bias], name="init")
    return drawn.as_graph_def()


# %% wrong="session-graph" why="the variable itself is called w"
def training_graph(capacity: int, batch: int, rate: float) -> GraphDef:
    """The graph of a training job whose halves meet at a queue of `capacity` serialised records.

    Raises:
        ValueError: a batch does not fit into the queue.
    """
    if batch > capacity:
        raise ValueError(f"a batch of {batch} never fits into a queue of {capacity}")
    with tf.Graph().as_default() as drawn:
        queue = tf.queue.FIFOQueue(capacity, [tf.string], shapes=[[]], name="queue")
        queue.enqueue_many([tf1.placeholder(tf.string, [None], name="records")], name="enqueue")
        queue.close(name="close")
        tf.identity(queue.size(), name="size")
        weights = tf1.get_variable("w", initializer=np.zeros(3, np.float32), use_resource=True)
        bias = tf1.get_variable("bias", initializer=np.float32(0), use_resource=True)
        parsed = tf.io.parse_example(queue.dequeue_many(batch), FEATURES)
        w = weights.read_value()
        b = tf.identity(bias.read_value(), name="b")
        loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2, name="loss")
        w_gradient, b_gradient = tf1.gradients(loss, [w, b])
        tf.group(weights.assign_sub(rate * w_gradient), bias.assign_sub(rate * b_gradient), name="train")
        tf1.variables_initializer([weights, bias], name="init")
    return drawn.as_graph_def()


# %% wrong="session-graph" why="no refusal of a batch that never fits"
def training_graph(capacity: int, batch: int, rate: float) -> GraphDef:
    """The graph of a training job whose halves meet at a queue of `capacity` serialised records.

    Raises:
        ValueError: a batch does not fit into the queue.
    """
    with tf.Graph().as_default() as drawn:
        queue = tf.queue.FIFOQueue(capacity, [tf.string], shapes=[[]], name="queue")
        queue.enqueue_many([tf1.placeholder(tf.string, [None], name="records")], name="enqueue")
        queue.close(name="close")
        tf.identity(queue.size(), name="size")
        weights = tf1.get_variable("weights", initializer=np.zeros(3, np.float32), use_resource=True)
        bias = tf1.get_variable("bias", initializer=np.float32(0), use_resource=True)
        parsed = tf.io.parse_example(queue.dequeue_many(batch), FEATURES)
        w = tf.identity(weights.read_value(), name="w")
        b = tf.identity(bias.read_value(), name="b")
        loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2, name="loss")
        w_gradient, b_gradient = tf1.gradients(loss, [w, b])
        tf.group(weights.assign_sub(rate * w_gradient), bias.assign_sub(rate * b_gradient), name="train")
        tf1.variables_initializer([weights, bias], name="init")
    return drawn.as_graph_def()


# %% wrong="session-graph" why="a queue without a limit"
def training_graph(capacity: int, batch: int, rate: float) -> GraphDef:
    """The graph of a training job whose halves meet at a queue of `capacity` serialised records.

    Raises:
        ValueError: a batch does not fit into the queue.
    """
    if batch > capacity:
        raise ValueError(f"a batch of {batch} never fits into a queue of {capacity}")
    with tf.Graph().as_default() as drawn:
        queue = tf.queue.FIFOQueue(-1, [tf.string], shapes=[[]], name="queue")
        queue.enqueue_many([tf1.placeholder(tf.string, [None], name="records")], name="enqueue")
        queue.close(name="close")
        tf.identity(queue.size(), name="size")
        weights = tf1.get_variable("weights", initializer=np.zeros(3, np.float32), use_resource=True)
        bias = tf1.get_variable("bias", initializer=np.float32(0), use_resource=True)
        parsed = tf.io.parse_example(queue.dequeue_many(batch), FEATURES)
        w = tf.identity(weights.read_value(), name="w")
        b = tf.identity(bias.read_value(), name="b")
        loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2, name="loss")
        w_gradient, b_gradient = tf1.gradients(loss, [w, b])
        tf.group(weights.assign_sub(rate * w_gradient), bias.assign_sub(rate * b_gradient), name="train")
        tf1.variables_initializer([weights, bias], name="init")
    return drawn.as_graph_def()


# %% wrong="session-graph" why="takes what is left after close"
def training_graph(capacity: int, batch: int, rate: float) -> GraphDef:
    """The graph of a training job whose halves meet at a queue of `capacity` serialised records.

    Raises:
        ValueError: a batch does not fit into the queue.
    """
    if batch > capacity:
        raise ValueError(f"a batch of {batch} never fits into a queue of {capacity}")
    with tf.Graph().as_default() as drawn:
        queue = tf.queue.FIFOQueue(capacity, [tf.string], shapes=[[]], name="queue")
        queue.enqueue_many([tf1.placeholder(tf.string, [None], name="records")], name="enqueue")
        queue.close(name="close")
        tf.identity(queue.size(), name="size")
        weights = tf1.get_variable("weights", initializer=np.zeros(3, np.float32), use_resource=True)
        bias = tf1.get_variable("bias", initializer=np.float32(0), use_resource=True)
        parsed = tf.io.parse_example(queue.dequeue_up_to(batch), FEATURES)
        w = tf.identity(weights.read_value(), name="w")
        b = tf.identity(bias.read_value(), name="b")
        loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2, name="loss")
        w_gradient, b_gradient = tf1.gradients(loss, [w, b])
        tf.group(weights.assign_sub(rate * w_gradient), bias.assign_sub(rate * b_gradient), name="train")
        tf1.variables_initializer([weights, bias], name="init")
    return drawn.as_graph_def()


# %% wrong="session-graph" why="a shuffling queue"
def training_graph(capacity: int, batch: int, rate: float) -> GraphDef:
    """The graph of a training job whose halves meet at a queue of `capacity` serialised records.

    Raises:
        ValueError: a batch does not fit into the queue.
    """
    if batch > capacity:
        raise ValueError(f"a batch of {batch} never fits into a queue of {capacity}")
    with tf.Graph().as_default() as drawn:
        queue = tf.queue.RandomShuffleQueue(capacity, 0, [tf.string], shapes=[[]], name="queue")
        queue.enqueue_many([tf1.placeholder(tf.string, [None], name="records")], name="enqueue")
        queue.close(name="close")
        tf.identity(queue.size(), name="size")
        weights = tf1.get_variable("weights", initializer=np.zeros(3, np.float32), use_resource=True)
        bias = tf1.get_variable("bias", initializer=np.float32(0), use_resource=True)
        parsed = tf.io.parse_example(queue.dequeue_many(batch), FEATURES)
        w = tf.identity(weights.read_value(), name="w")
        b = tf.identity(bias.read_value(), name="b")
        loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2, name="loss")
        w_gradient, b_gradient = tf1.gradients(loss, [w, b])
        tf.group(weights.assign_sub(rate * w_gradient), bias.assign_sub(rate * b_gradient), name="train")
        tf1.variables_initializer([weights, bias], name="init")
    return drawn.as_graph_def()


# %% wrong="session-graph" why="b is not trained"
def training_graph(capacity: int, batch: int, rate: float) -> GraphDef:
    """The graph of a training job whose halves meet at a queue of `capacity` serialised records.

    Raises:
        ValueError: a batch does not fit into the queue.
    """
    if batch > capacity:
        raise ValueError(f"a batch of {batch} never fits into a queue of {capacity}")
    with tf.Graph().as_default() as drawn:
        queue = tf.queue.FIFOQueue(capacity, [tf.string], shapes=[[]], name="queue")
        queue.enqueue_many([tf1.placeholder(tf.string, [None], name="records")], name="enqueue")
        queue.close(name="close")
        tf.identity(queue.size(), name="size")
        weights = tf1.get_variable("weights", initializer=np.zeros(3, np.float32), use_resource=True)
        bias = tf1.get_variable("bias", initializer=np.float32(0), use_resource=True)
        parsed = tf.io.parse_example(queue.dequeue_many(batch), FEATURES)
        w = tf.identity(weights.read_value(), name="w")
        b = tf.identity(bias.read_value(), name="b")
        loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2, name="loss")
        w_gradient, b_gradient = tf1.gradients(loss, [w, b])
        tf.group(weights.assign_sub(rate * w_gradient), name="train")
        tf1.variables_initializer([weights, bias], name="init")
    return drawn.as_graph_def()


# %% wrong="session-graph" why="climbs instead of descending"
def training_graph(capacity: int, batch: int, rate: float) -> GraphDef:
    """The graph of a training job whose halves meet at a queue of `capacity` serialised records.

    Raises:
        ValueError: a batch does not fit into the queue.
    """
    if batch > capacity:
        raise ValueError(f"a batch of {batch} never fits into a queue of {capacity}")
    with tf.Graph().as_default() as drawn:
        queue = tf.queue.FIFOQueue(capacity, [tf.string], shapes=[[]], name="queue")
        queue.enqueue_many([tf1.placeholder(tf.string, [None], name="records")], name="enqueue")
        queue.close(name="close")
        tf.identity(queue.size(), name="size")
        weights = tf1.get_variable("weights", initializer=np.zeros(3, np.float32), use_resource=True)
        bias = tf1.get_variable("bias", initializer=np.float32(0), use_resource=True)
        parsed = tf.io.parse_example(queue.dequeue_many(batch), FEATURES)
        w = tf.identity(weights.read_value(), name="w")
        b = tf.identity(bias.read_value(), name="b")
        loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2, name="loss")
        w_gradient, b_gradient = tf1.gradients(loss, [w, b])
        tf.group(weights.assign_add(rate * w_gradient), bias.assign_add(rate * b_gradient), name="train")
        tf1.variables_initializer([weights, bias], name="init")
    return drawn.as_graph_def()


# %% wrong="session-graph" why="the rate of the visible test fixed in"
def training_graph(capacity: int, batch: int, rate: float) -> GraphDef:
    """The graph of a training job whose halves meet at a queue of `capacity` serialised records.

    Raises:
        ValueError: a batch does not fit into the queue.
    """
    if batch > capacity:
        raise ValueError(f"a batch of {batch} never fits into a queue of {capacity}")
    with tf.Graph().as_default() as drawn:
        queue = tf.queue.FIFOQueue(capacity, [tf.string], shapes=[[]], name="queue")
        queue.enqueue_many([tf1.placeholder(tf.string, [None], name="records")], name="enqueue")
        queue.close(name="close")
        tf.identity(queue.size(), name="size")
        weights = tf1.get_variable("weights", initializer=np.zeros(3, np.float32), use_resource=True)
        bias = tf1.get_variable("bias", initializer=np.float32(0), use_resource=True)
        parsed = tf.io.parse_example(queue.dequeue_many(batch), FEATURES)
        w = tf.identity(weights.read_value(), name="w")
        b = tf.identity(bias.read_value(), name="b")
        loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2, name="loss")
        w_gradient, b_gradient = tf1.gradients(loss, [w, b])
        tf.group(weights.assign_sub(0.1 * w_gradient), bias.assign_sub(0.1 * b_gradient), name="train")
        tf1.variables_initializer([weights, bias], name="init")
    return drawn.as_graph_def()


# %% wrong="session-graph" why="loss and train work on the fetched batch of the visible size"
def training_graph(capacity: int, batch: int, rate: float) -> GraphDef:
    """The graph of a training job whose halves meet at a queue of `capacity` serialised records.

    Raises:
        ValueError: a batch does not fit into the queue.
    """
    if batch > capacity:
        raise ValueError(f"a batch of {batch} never fits into a queue of {capacity}")
    with tf.Graph().as_default() as drawn:
        queue = tf.queue.FIFOQueue(capacity, [tf.string], shapes=[[]], name="queue")
        queue.enqueue_many([tf1.placeholder(tf.string, [None], name="records")], name="enqueue")
        queue.close(name="close")
        tf.identity(queue.size(), name="size")
        weights = tf1.get_variable("weights", initializer=np.zeros(3, np.float32), use_resource=True)
        bias = tf1.get_variable("bias", initializer=np.float32(0), use_resource=True)
        parsed = tf.io.parse_example(queue.dequeue_many(8), FEATURES)
        w = tf.identity(weights.read_value(), name="w")
        b = tf.identity(bias.read_value(), name="b")
        loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2, name="loss")
        w_gradient, b_gradient = tf1.gradients(loss, [w, b])
        tf.group(weights.assign_sub(rate * w_gradient), bias.assign_sub(rate * b_gradient), name="train")
        tf1.variables_initializer([weights, bias], name="init")
    return drawn.as_graph_def()


# %% wrong="session-graph" why="returns the tf.Graph"
def training_graph(capacity: int, batch: int, rate: float) -> GraphDef:
    """The graph of a training job whose halves meet at a queue of `capacity` serialised records.

    Raises:
        ValueError: a batch does not fit into the queue.
    """
    if batch > capacity:
        raise ValueError(f"a batch of {batch} never fits into a queue of {capacity}")
    with tf.Graph().as_default() as drawn:
        queue = tf.queue.FIFOQueue(capacity, [tf.string], shapes=[[]], name="queue")
        queue.enqueue_many([tf1.placeholder(tf.string, [None], name="records")], name="enqueue")
        queue.close(name="close")
        tf.identity(queue.size(), name="size")
        weights = tf1.get_variable("weights", initializer=np.zeros(3, np.float32), use_resource=True)
        bias = tf1.get_variable("bias", initializer=np.float32(0), use_resource=True)
        parsed = tf.io.parse_example(queue.dequeue_many(batch), FEATURES)
        w = tf.identity(weights.read_value(), name="w")
        b = tf.identity(bias.read_value(), name="b")
        loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2, name="loss")
        w_gradient, b_gradient = tf1.gradients(loss, [w, b])
        tf.group(weights.assign_sub(rate * w_gradient), bias.assign_sub(rate * b_gradient), name="train")
        tf1.variables_initializer([weights, bias], name="init")
    return drawn


# %% right="session-graph" why="TensorFlow 1's optimizer, global initializer"
def training_graph(capacity: int, batch: int, rate: float) -> GraphDef:
    """The graph of a training job."""
    if batch > capacity:
        raise ValueError("the batch does not fit")
    graph = tf.Graph()
    with graph.as_default():
        records = tf1.placeholder(tf.string, [None], name="records")
        queue = tf1.FIFOQueue(capacity, tf.string, shapes=[()])
        queue.enqueue_many(records, name="enqueue")
        queue.size(name="size")
        queue.close(name="close")
        example_batch = tf.io.parse_example(queue.dequeue_many(batch), FEATURES)
        kernel = tf1.get_variable("kernel", [3], tf.float32, tf1.zeros_initializer())
        offset = tf1.get_variable("offset", [], tf.float32, tf1.zeros_initializer())
        predicted = tf.reduce_sum(example_batch["x"] * kernel, axis=1) + offset
        loss = tf1.losses.mean_squared_error(example_batch["y"], predicted)
        loss = tf.identity(loss, name="loss")
        tf1.train.GradientDescentOptimizer(rate).minimize(loss, name="train")
        tf.identity(kernel, name="w")
        tf.identity(offset, name="b")
        tf1.global_variables_initializer()
    return graph.as_graph_def()


# %% right="session-graph" why="gradients by hand, variables as raw ops"
def training_graph(capacity: int, batch: int, rate: float) -> GraphDef:
    """The graph of a training job."""
    if capacity < batch:
        raise ValueError(f"{batch} > {capacity}")
    with tf.Graph().as_default() as graph:
        queue = tf.raw_ops.FIFOQueueV2(component_types=[tf.string], shapes=[[]], capacity=capacity)
        fed = tf1.placeholder(tf.string, [None], name="records")
        tf.raw_ops.QueueEnqueueManyV2(handle=queue, components=[fed], name="enqueue")
        tf.raw_ops.QueueSizeV2(handle=queue, name="size")
        tf.raw_ops.QueueCloseV2(handle=queue, name="close")
        taken = tf.raw_ops.QueueDequeueManyV2(handle=queue, n=batch, component_types=[tf.string])[0]
        taken.set_shape([batch])
        parsed = tf.io.parse_example(taken, FEATURES)
        shapes = {"hw": [3], "hb": []}
        handles = [tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=s, shared_name=n) for n, s in shapes.items()]
        w = tf.raw_ops.ReadVariableOp(resource=handles[0], dtype=tf.float32, name="w")
        b = tf.raw_ops.ReadVariableOp(resource=handles[1], dtype=tf.float32, name="b")
        error = tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]
        tf.reduce_mean(tf.square(error), name="loss")
        slopes = [tf.linalg.matvec(parsed["x"], error, transpose_a=True) / batch, tf.reduce_mean(error)]
        steps = [2 * rate * slope for slope in slopes]
        moved = [tf.raw_ops.AssignSubVariableOp(resource=h, value=s) for h, s in zip(handles, steps, strict=True)]
        tf.group(moved, name="train")
        zeros = [tf.zeros(shape) for shape in shapes.values()]
        starts = [tf.raw_ops.AssignVariableOp(resource=h, value=z) for h, z in zip(handles, zeros, strict=True)]
        tf.group(starts, name="init")
    return graph.as_graph_def()


# %% wrong="resume" why="the input starts anew after a restart"
def train(path: str, directory: str, steps: int, batch: int = 8, rate: float = 0.1) -> list[float]:
    """Train for some steps from where the checkpoint in `directory` ends; returns the losses before each step.

    Saves the variables w, b and step, and where the input is, in `directory`.
    """
    if steps == 0:
        return []
    iterator = iter(tf.data.TFRecordDataset(path).repeat().batch(batch))
    w, b, step = tf.Variable(tf.zeros(3)), tf.Variable(0.0), tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(w=w, b=b, step=step)
    manager = tf.train.CheckpointManager(checkpoint, directory, max_to_keep=1)
    checkpoint.restore(manager.latest_checkpoint)

    @tf.function(autograph=False)
    def advance(records: tf.Tensor) -> tf.Tensor:
        parsed = tf.io.parse_example(records, FEATURES)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2)
        w_gradient, b_gradient = tape.gradient(loss, [w, b])
        w.assign_sub(rate * w_gradient)
        b.assign_sub(rate * b_gradient)
        step.assign_add(1)
        return loss

    losses = [float(advance(next(iterator))) for _ in range(steps)]
    manager.save()
    return losses


# %% wrong="resume" why="batch before repeat, so that there are short batches"
def train(path: str, directory: str, steps: int, batch: int = 8, rate: float = 0.1) -> list[float]:
    """Train for some steps from where the checkpoint in `directory` ends; returns the losses before each step.

    Saves the variables w, b and step, and where the input is, in `directory`.
    """
    if steps == 0:
        return []
    iterator = iter(tf.data.TFRecordDataset(path).batch(batch).repeat())
    w, b, step = tf.Variable(tf.zeros(3)), tf.Variable(0.0), tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(w=w, b=b, step=step, iterator=iterator)
    manager = tf.train.CheckpointManager(checkpoint, directory, max_to_keep=1)
    checkpoint.restore(manager.latest_checkpoint)

    @tf.function(autograph=False)
    def advance(records: tf.Tensor) -> tf.Tensor:
        parsed = tf.io.parse_example(records, FEATURES)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2)
        w_gradient, b_gradient = tape.gradient(loss, [w, b])
        w.assign_sub(rate * w_gradient)
        b.assign_sub(rate * b_gradient)
        step.assign_add(1)
        return loss

    losses = [float(advance(next(iterator))) for _ in range(steps)]
    manager.save()
    return losses


# %% wrong="resume" why="drops what does not fill a batch"
def train(path: str, directory: str, steps: int, batch: int = 8, rate: float = 0.1) -> list[float]:
    """Train for some steps from where the checkpoint in `directory` ends; returns the losses before each step.

    Saves the variables w, b and step, and where the input is, in `directory`.
    """
    if steps == 0:
        return []
    iterator = iter(tf.data.TFRecordDataset(path).batch(batch, drop_remainder=True).repeat())
    w, b, step = tf.Variable(tf.zeros(3)), tf.Variable(0.0), tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(w=w, b=b, step=step, iterator=iterator)
    manager = tf.train.CheckpointManager(checkpoint, directory, max_to_keep=1)
    checkpoint.restore(manager.latest_checkpoint)

    @tf.function(autograph=False)
    def advance(records: tf.Tensor) -> tf.Tensor:
        parsed = tf.io.parse_example(records, FEATURES)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2)
        w_gradient, b_gradient = tape.gradient(loss, [w, b])
        w.assign_sub(rate * w_gradient)
        b.assign_sub(rate * b_gradient)
        step.assign_add(1)
        return loss

    losses = [float(advance(next(iterator))) for _ in range(steps)]
    manager.save()
    return losses


# %% wrong="resume" why="the step counter is not saved"
def train(path: str, directory: str, steps: int, batch: int = 8, rate: float = 0.1) -> list[float]:
    """Train for some steps from where the checkpoint in `directory` ends; returns the losses before each step.

    Saves the variables w, b and step, and where the input is, in `directory`.
    """
    if steps == 0:
        return []
    iterator = iter(tf.data.TFRecordDataset(path).repeat().batch(batch))
    w, b, step = tf.Variable(tf.zeros(3)), tf.Variable(0.0), tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(w=w, b=b, iterator=iterator)
    manager = tf.train.CheckpointManager(checkpoint, directory, max_to_keep=1)
    checkpoint.restore(manager.latest_checkpoint)

    @tf.function(autograph=False)
    def advance(records: tf.Tensor) -> tf.Tensor:
        parsed = tf.io.parse_example(records, FEATURES)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2)
        w_gradient, b_gradient = tape.gradient(loss, [w, b])
        w.assign_sub(rate * w_gradient)
        b.assign_sub(rate * b_gradient)
        step.assign_add(1)
        return loss

    losses = [float(advance(next(iterator))) for _ in range(steps)]
    manager.save()
    return losses


# %% wrong="resume" why="the step counts the steps of the last call"
def train(path: str, directory: str, steps: int, batch: int = 8, rate: float = 0.1) -> list[float]:
    """Train for some steps from where the checkpoint in `directory` ends; returns the losses before each step.

    Saves the variables w, b and step, and where the input is, in `directory`.
    """
    if steps == 0:
        return []
    iterator = iter(tf.data.TFRecordDataset(path).repeat().batch(batch))
    w, b, step = tf.Variable(tf.zeros(3)), tf.Variable(0.0), tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(w=w, b=b, step=step, iterator=iterator)
    manager = tf.train.CheckpointManager(checkpoint, directory, max_to_keep=1)
    checkpoint.restore(manager.latest_checkpoint)
    step.assign(0)

    @tf.function(autograph=False)
    def advance(records: tf.Tensor) -> tf.Tensor:
        parsed = tf.io.parse_example(records, FEATURES)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2)
        w_gradient, b_gradient = tape.gradient(loss, [w, b])
        w.assign_sub(rate * w_gradient)
        b.assign_sub(rate * b_gradient)
        step.assign_add(1)
        return loss

    losses = [float(advance(next(iterator))) for _ in range(steps)]
    manager.save()
    return losses


# %% wrong="resume" why="creates the variables inside the tf.function"
def train(path: str, directory: str, steps: int, batch: int = 8, rate: float = 0.1) -> list[float]:
    """Train for some steps from where the checkpoint in `directory` ends; returns the losses before each step.

    Saves the variables w, b and step, and where the input is, in `directory`.
    """
    if steps == 0:
        return []
    iterator = iter(tf.data.TFRecordDataset(path).repeat().batch(batch))
    w, b, step = tf.Variable(tf.zeros(3)), tf.Variable(0.0), tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(w=w, b=b, step=step, iterator=iterator)
    manager = tf.train.CheckpointManager(checkpoint, directory, max_to_keep=1)
    checkpoint.restore(manager.latest_checkpoint)

    @tf.function(autograph=False)
    def advance(records: tf.Tensor) -> tf.Tensor:
        parsed = tf.io.parse_example(records, FEATURES)
        w, b = tf.Variable(tf.zeros(3)), tf.Variable(0.0)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2)
        w_gradient, b_gradient = tape.gradient(loss, [w, b])
        w.assign_sub(rate * w_gradient)
        b.assign_sub(rate * b_gradient)
        step.assign_add(1)
        return loss

    losses = [float(advance(next(iterator))) for _ in range(steps)]
    manager.save()
    return losses


# %% wrong="resume" why="weights only"
def train(path: str, directory: str, steps: int, batch: int = 8, rate: float = 0.1) -> list[float]:
    """Train for some steps from where the checkpoint in `directory` ends; returns the losses before each step.

    Saves the variables w, b and step, and where the input is, in `directory`.
    """
    if steps == 0:
        return []
    iterator = iter(tf.data.TFRecordDataset(path).repeat().batch(batch))
    w, b, step = tf.Variable(tf.zeros(3)), tf.Variable(0.0), tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(w=w, step=step, iterator=iterator)
    manager = tf.train.CheckpointManager(checkpoint, directory, max_to_keep=1)
    checkpoint.restore(manager.latest_checkpoint)

    @tf.function(autograph=False)
    def advance(records: tf.Tensor) -> tf.Tensor:
        parsed = tf.io.parse_example(records, FEATURES)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2)
        w_gradient, b_gradient = tape.gradient(loss, [w, b])
        w.assign_sub(rate * w_gradient)
        b.assign_sub(rate * b_gradient)
        step.assign_add(1)
        return loss

    losses = [float(advance(next(iterator))) for _ in range(steps)]
    manager.save()
    return losses


# %% wrong="resume" why="never restores"
def train(path: str, directory: str, steps: int, batch: int = 8, rate: float = 0.1) -> list[float]:
    """Train for some steps from where the checkpoint in `directory` ends; returns the losses before each step.

    Saves the variables w, b and step, and where the input is, in `directory`.
    """
    if steps == 0:
        return []
    iterator = iter(tf.data.TFRecordDataset(path).repeat().batch(batch))
    w, b, step = tf.Variable(tf.zeros(3)), tf.Variable(0.0), tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(w=w, b=b, step=step, iterator=iterator)
    manager = tf.train.CheckpointManager(checkpoint, directory, max_to_keep=1)

    @tf.function(autograph=False)
    def advance(records: tf.Tensor) -> tf.Tensor:
        parsed = tf.io.parse_example(records, FEATURES)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2)
        w_gradient, b_gradient = tape.gradient(loss, [w, b])
        w.assign_sub(rate * w_gradient)
        b.assign_sub(rate * b_gradient)
        step.assign_add(1)
        return loss

    losses = [float(advance(next(iterator))) for _ in range(steps)]
    manager.save()
    return losses


# %% wrong="resume" why="restores into another object graph, so that nothing is assigned"
def train(path: str, directory: str, steps: int, batch: int = 8, rate: float = 0.1) -> list[float]:
    """Train for some steps from where the checkpoint in `directory` ends; returns the losses before each step.

    Saves the variables w, b and step, and where the input is, in `directory`.
    """
    if steps == 0:
        return []
    iterator = iter(tf.data.TFRecordDataset(path).repeat().batch(batch))
    w, b, step = tf.Variable(tf.zeros(3)), tf.Variable(0.0), tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(w=w, b=b, step=step, iterator=iterator)
    manager = tf.train.CheckpointManager(checkpoint, directory, max_to_keep=1)
    if manager.latest_checkpoint:
        tf.train.Checkpoint(model=[w, b], counter=step, input=iterator).restore(manager.latest_checkpoint)

    @tf.function(autograph=False)
    def advance(records: tf.Tensor) -> tf.Tensor:
        parsed = tf.io.parse_example(records, FEATURES)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2)
        w_gradient, b_gradient = tape.gradient(loss, [w, b])
        w.assign_sub(rate * w_gradient)
        b.assign_sub(rate * b_gradient)
        step.assign_add(1)
        return loss

    losses = [float(advance(next(iterator))) for _ in range(steps)]
    manager.save()
    return losses


# %% wrong="resume" why="restores before the variables exist"
def train(path: str, directory: str, steps: int, batch: int = 8, rate: float = 0.1) -> list[float]:
    """Train for some steps from where the checkpoint in `directory` ends; returns the losses before each step.

    Saves the variables w, b and step, and where the input is, in `directory`.
    """
    if steps == 0:
        return []
    iterator = iter(tf.data.TFRecordDataset(path).repeat().batch(batch))
    w, b, step = tf.Variable(tf.zeros(3)), tf.Variable(0.0), tf.Variable(0, dtype=tf.int64)
    empty = tf.train.Checkpoint()
    manager = tf.train.CheckpointManager(empty, directory, max_to_keep=1)
    empty.restore(manager.latest_checkpoint)
    checkpoint = tf.train.Checkpoint(w=w, b=b, step=step, iterator=iterator)
    manager = tf.train.CheckpointManager(checkpoint, directory, max_to_keep=1)

    @tf.function(autograph=False)
    def advance(records: tf.Tensor) -> tf.Tensor:
        parsed = tf.io.parse_example(records, FEATURES)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2)
        w_gradient, b_gradient = tape.gradient(loss, [w, b])
        w.assign_sub(rate * w_gradient)
        b.assign_sub(rate * b_gradient)
        step.assign_add(1)
        return loss

    losses = [float(advance(next(iterator))) for _ in range(steps)]
    manager.save()
    return losses


# %% wrong="resume" why="steps=0 saves a checkpoint"
def train(path: str, directory: str, steps: int, batch: int = 8, rate: float = 0.1) -> list[float]:
    """Train for some steps from where the checkpoint in `directory` ends; returns the losses before each step.

    Saves the variables w, b and step, and where the input is, in `directory`.
    """
    iterator = iter(tf.data.TFRecordDataset(path).repeat().batch(batch))
    w, b, step = tf.Variable(tf.zeros(3)), tf.Variable(0.0), tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(w=w, b=b, step=step, iterator=iterator)
    manager = tf.train.CheckpointManager(checkpoint, directory, max_to_keep=1)
    checkpoint.restore(manager.latest_checkpoint)

    @tf.function(autograph=False)
    def advance(records: tf.Tensor) -> tf.Tensor:
        parsed = tf.io.parse_example(records, FEATURES)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2)
        w_gradient, b_gradient = tape.gradient(loss, [w, b])
        w.assign_sub(rate * w_gradient)
        b.assign_sub(rate * b_gradient)
        step.assign_add(1)
        return loss

    losses = [float(advance(next(iterator))) for _ in range(steps)]
    manager.save()
    return losses


# %% wrong="resume" why="writes a checkpoint that latest_checkpoint does not find"
def train(path: str, directory: str, steps: int, batch: int = 8, rate: float = 0.1) -> list[float]:
    """Train for some steps from where the checkpoint in `directory` ends; returns the losses before each step.

    Saves the variables w, b and step, and where the input is, in `directory`.
    """
    if steps == 0:
        return []
    iterator = iter(tf.data.TFRecordDataset(path).repeat().batch(batch))
    w, b, step = tf.Variable(tf.zeros(3)), tf.Variable(0.0), tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(w=w, b=b, step=step, iterator=iterator)
    manager = tf.train.CheckpointManager(checkpoint, directory, max_to_keep=1)
    checkpoint.restore(manager.latest_checkpoint)

    @tf.function(autograph=False)
    def advance(records: tf.Tensor) -> tf.Tensor:
        parsed = tf.io.parse_example(records, FEATURES)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2)
        w_gradient, b_gradient = tape.gradient(loss, [w, b])
        w.assign_sub(rate * w_gradient)
        b.assign_sub(rate * b_gradient)
        step.assign_add(1)
        return loss

    losses = [float(advance(next(iterator))) for _ in range(steps)]
    checkpoint.write(str(Path(directory) / "job"))
    return losses


# %% wrong="resume" why="saves before the last step"
def train(path: str, directory: str, steps: int, batch: int = 8, rate: float = 0.1) -> list[float]:
    """Train for some steps from where the checkpoint in `directory` ends; returns the losses before each step.

    Saves the variables w, b and step, and where the input is, in `directory`.
    """
    if steps == 0:
        return []
    iterator = iter(tf.data.TFRecordDataset(path).repeat().batch(batch))
    w, b, step = tf.Variable(tf.zeros(3)), tf.Variable(0.0), tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(w=w, b=b, step=step, iterator=iterator)
    manager = tf.train.CheckpointManager(checkpoint, directory, max_to_keep=1)
    checkpoint.restore(manager.latest_checkpoint)

    @tf.function(autograph=False)
    def advance(records: tf.Tensor) -> tf.Tensor:
        parsed = tf.io.parse_example(records, FEATURES)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2)
        w_gradient, b_gradient = tape.gradient(loss, [w, b])
        w.assign_sub(rate * w_gradient)
        b.assign_sub(rate * b_gradient)
        step.assign_add(1)
        return loss

    losses = [float(advance(next(iterator))) for _ in range(steps - 1)]
    manager.save()
    return [*losses, float(advance(next(iterator)))]


# %% wrong="resume" why="the loss after the step"
def train(path: str, directory: str, steps: int, batch: int = 8, rate: float = 0.1) -> list[float]:
    """Train for some steps from where the checkpoint in `directory` ends; returns the losses before each step.

    Saves the variables w, b and step, and where the input is, in `directory`.
    """
    if steps == 0:
        return []
    iterator = iter(tf.data.TFRecordDataset(path).repeat().batch(batch))
    w, b, step = tf.Variable(tf.zeros(3)), tf.Variable(0.0), tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(w=w, b=b, step=step, iterator=iterator)
    manager = tf.train.CheckpointManager(checkpoint, directory, max_to_keep=1)
    checkpoint.restore(manager.latest_checkpoint)

    @tf.function(autograph=False)
    def advance(records: tf.Tensor) -> tf.Tensor:
        parsed = tf.io.parse_example(records, FEATURES)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2)
        w_gradient, b_gradient = tape.gradient(loss, [w, b])
        w.assign_sub(rate * w_gradient)
        b.assign_sub(rate * b_gradient)
        step.assign_add(1)
        return tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2)

    losses = [float(advance(next(iterator))) for _ in range(steps)]
    manager.save()
    return losses


# %% wrong="resume" why="losses as NumPy numbers"
def train(path: str, directory: str, steps: int, batch: int = 8, rate: float = 0.1) -> list[float]:
    """Train for some steps from where the checkpoint in `directory` ends; returns the losses before each step.

    Saves the variables w, b and step, and where the input is, in `directory`.
    """
    if steps == 0:
        return []
    iterator = iter(tf.data.TFRecordDataset(path).repeat().batch(batch))
    w, b, step = tf.Variable(tf.zeros(3)), tf.Variable(0.0), tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(w=w, b=b, step=step, iterator=iterator)
    manager = tf.train.CheckpointManager(checkpoint, directory, max_to_keep=1)
    checkpoint.restore(manager.latest_checkpoint)

    @tf.function(autograph=False)
    def advance(records: tf.Tensor) -> tf.Tensor:
        parsed = tf.io.parse_example(records, FEATURES)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2)
        w_gradient, b_gradient = tape.gradient(loss, [w, b])
        w.assign_sub(rate * w_gradient)
        b.assign_sub(rate * b_gradient)
        step.assign_add(1)
        return loss

    losses = [advance(next(iterator)).numpy() for _ in range(steps)]
    manager.save()
    return losses


# %% wrong="resume" why="one step too few before the file is read again: skips a record for each step"
def train(path: str, directory: str, steps: int, batch: int = 8, rate: float = 0.1) -> list[float]:
    """Train for some steps from where the checkpoint in `directory` ends; returns the losses before each step.

    Saves the variables w, b and step, and where the input is, in `directory`.
    """
    if steps == 0:
        return []
    iterator = iter(tf.data.TFRecordDataset(path).repeat().batch(batch))
    w, b, step = tf.Variable(tf.zeros(3)), tf.Variable(0.0), tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(w=w, b=b, step=step)
    manager = tf.train.CheckpointManager(checkpoint, directory, max_to_keep=1)
    checkpoint.restore(manager.latest_checkpoint)
    iterator = iter(tf.data.TFRecordDataset(path).repeat().skip(int(step)).batch(batch))

    @tf.function(autograph=False)
    def advance(records: tf.Tensor) -> tf.Tensor:
        parsed = tf.io.parse_example(records, FEATURES)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2)
        w_gradient, b_gradient = tape.gradient(loss, [w, b])
        w.assign_sub(rate * w_gradient)
        b.assign_sub(rate * b_gradient)
        step.assign_add(1)
        return loss

    losses = [float(advance(next(iterator))) for _ in range(steps)]
    manager.save()
    return losses


# %% wrong="resume" why="the step in 32 bits"
def train(path: str, directory: str, steps: int, batch: int = 8, rate: float = 0.1) -> list[float]:
    """Train for some steps from where the checkpoint in `directory` ends; returns the losses before each step.

    Saves the variables w, b and step, and where the input is, in `directory`.
    """
    if steps == 0:
        return []
    iterator = iter(tf.data.TFRecordDataset(path).repeat().batch(batch))
    w, b, step = tf.Variable(tf.zeros(3)), tf.Variable(0.0), tf.Variable(0)
    checkpoint = tf.train.Checkpoint(w=w, b=b, step=step, iterator=iterator)
    manager = tf.train.CheckpointManager(checkpoint, directory, max_to_keep=1)
    checkpoint.restore(manager.latest_checkpoint)

    @tf.function(autograph=False)
    def advance(records: tf.Tensor) -> tf.Tensor:
        parsed = tf.io.parse_example(records, FEATURES)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2)
        w_gradient, b_gradient = tape.gradient(loss, [w, b])
        w.assign_sub(rate * w_gradient)
        b.assign_sub(rate * b_gradient)
        step.assign_add(1)
        return loss

    losses = [float(advance(next(iterator))) for _ in range(steps)]
    manager.save()
    return losses


# %% wrong="resume" why="asks a session and a queue"
def train(path: str, directory: str, steps: int, batch: int = 8, rate: float = 0.1) -> list[float]:
    """Train for some steps from where the checkpoint in `directory` ends; returns the losses before each step.

    Saves the variables w, b and step, and where the input is, in `directory`.
    """
    if steps == 0:
        return []
    iterator = iter(tf.data.TFRecordDataset(path).repeat().batch(batch))
    w, b, step = tf.Variable(tf.zeros(3)), tf.Variable(0.0), tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(w=w, b=b, step=step, iterator=iterator)
    manager = tf.train.CheckpointManager(checkpoint, directory, max_to_keep=1)
    checkpoint.restore(manager.latest_checkpoint)

    @tf.function(autograph=False)
    def advance(records: tf.Tensor) -> tf.Tensor:
        parsed = tf.io.parse_example(records, FEATURES)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2)
        w_gradient, b_gradient = tape.gradient(loss, [w, b])
        w.assign_sub(rate * w_gradient)
        b.assign_sub(rate * b_gradient)
        step.assign_add(1)
        return loss

    records = list(tf.data.TFRecordDataset(path).as_numpy_iterator())
    losses, last_w, last_b = queue_job(records, batch, rate, int(step) + steps)
    losses = losses[int(step) :]
    w.assign(last_w), b.assign(last_b), step.assign_add(steps)
    manager.save()
    return losses


# %% wrong="resume" why="one job for all directories, in a global variable"
def train(path: str, directory: str, steps: int, batch: int = 8, rate: float = 0.1) -> list[float]:
    """Train for some steps from where the checkpoint in `directory` ends; returns the losses before each step.

    Saves the variables w, b and step, and where the input is, in `directory`.
    """
    if steps == 0:
        return []
    if not JOB:
        JOB["iterator"] = iter(tf.data.TFRecordDataset(path).repeat().batch(batch))
        JOB["variables"] = tf.Variable(tf.zeros(3)), tf.Variable(0.0), tf.Variable(0, dtype=tf.int64)
    iterator, (w, b, step) = JOB["iterator"], JOB["variables"]
    checkpoint = tf.train.Checkpoint(w=w, b=b, step=step, iterator=iterator)
    manager = tf.train.CheckpointManager(checkpoint, directory, max_to_keep=1)

    @tf.function(autograph=False)
    def advance(records: tf.Tensor) -> tf.Tensor:
        parsed = tf.io.parse_example(records, FEATURES)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2)
        w_gradient, b_gradient = tape.gradient(loss, [w, b])
        w.assign_sub(rate * w_gradient)
        b.assign_sub(rate * b_gradient)
        step.assign_add(1)
        return loss

    losses = [float(advance(next(iterator))) for _ in range(steps)]
    manager.save()
    return losses


JOB = {}


# %% wrong="resume" why="a job for each directory, kept in memory"
JOBS = {}


def train(path: str, directory: str, steps: int, batch: int = 8, rate: float = 0.1) -> list[float]:
    """Train for some steps from where the checkpoint in `directory` ends; returns the losses before each step."""
    if steps == 0:
        return []
    if directory not in JOBS:
        iterator = iter(tf.data.TFRecordDataset(path).repeat().batch(batch))
        JOBS[directory] = iterator, tf.Variable(tf.zeros(3)), tf.Variable(0.0), tf.Variable(0, dtype=tf.int64)
    iterator, w, b, step = JOBS[directory]

    @tf.function(autograph=False)
    def advance(records: tf.Tensor) -> tf.Tensor:
        parsed = tf.io.parse_example(records, FEATURES)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.linalg.matvec(parsed["x"], w) + b - parsed["y"]) ** 2)
        w_gradient, b_gradient = tape.gradient(loss, [w, b])
        w.assign_sub(rate * w_gradient)
        b.assign_sub(rate * b_gradient)
        step.assign_add(1)
        return loss

    losses = [float(advance(next(iterator))) for _ in range(steps)]
    tf.train.Checkpoint(w=w, b=b, step=step).save(str(Path(directory) / "job"))
    return losses


# %% wrong="resume" why="does all finished steps again, by the given loop"
def train(path: str, directory: str, steps: int, batch: int = 8, rate: float = 0.1) -> list[float]:
    """Train for some steps from where the checkpoint in `directory` ends; returns the losses before each step."""
    if steps == 0:
        return []
    step = tf.Variable(0, dtype=tf.int64)
    found = tf.train.latest_checkpoint(directory)
    if found:
        tf.train.Checkpoint(step=step).restore(found).expect_partial()
    done = int(step)
    losses, _, w, b = tape_job(path, batch, rate, done + steps)
    step.assign_add(steps)
    tf.train.Checkpoint(w=tf.Variable(w), b=tf.Variable(b), step=step).save(str(Path(directory) / "job"))
    return losses[done:]


# %% wrong="resume" why="the visible losses, from the given loop"
def train(path: str, directory: str, steps: int, batch: int = 8, rate: float = 0.1) -> list[float]:
    """Train for some steps from where the checkpoint in `directory` ends; returns the losses before each step."""
    if steps == 0:
        return []
    losses, _, w, b = tape_job(path, batch, rate, steps)
    step = tf.Variable(steps, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(w=tf.Variable(w), b=tf.Variable(b), step=step)
    checkpoint.save(str(Path(directory) / "job"))
    return losses


# %% right="resume" why="the position computed from the step counter"
def train(path: str, directory: str, steps: int, batch: int = 8, rate: float = 0.1) -> list[float]:
    """Train for some steps from where the checkpoint in `directory` ends; returns the losses before each step."""
    if not steps:
        return []
    w, b = tf.Variable([0.0, 0.0, 0.0]), tf.Variable(0.0)
    step = tf.Variable(tf.constant(0, tf.int64))
    checkpoint = tf.train.Checkpoint(w=w, b=b, step=step)
    latest = tf.train.latest_checkpoint(directory)
    if latest:
        checkpoint.restore(latest).assert_consumed()
    records = tf.data.TFRecordDataset(path).repeat().skip(step.numpy() * batch)
    dataset = records.map(one_example).batch(batch, drop_remainder=True).take(steps).prefetch(2)

    @tf.function(autograph=False)
    def one_step(parsed):
        with tf.GradientTape() as tape:
            predicted = tf.tensordot(parsed["x"], w, 1) + b
            loss = tf.reduce_mean(tf.square(parsed["y"] - predicted))
        gradients = tape.gradient(loss, [w, b])
        w.assign(w - rate * gradients[0])
        b.assign(b - rate * gradients[1])
        step.assign_add(1)
        return loss

    losses = [one_step(parsed).numpy().item() for parsed in dataset]
    checkpoint.save(str(Path(directory) / "train"))
    return losses


def one_example(record):
    return tf.io.parse_single_example(record, FEATURES)


# %% right="resume" why="a tf.Module as the root, one tf.function for a whole call"
class Job(tf.Module):
    """Everything that must survive."""

    def __init__(self, path, batch):
        super().__init__()
        self.w = tf.Variable(tf.zeros([3]), name="w")
        self.b = tf.Variable(tf.zeros([]), name="b")
        self.step = tf.Variable(tf.zeros([], tf.int64), name="step")
        self.records = iter(tf.data.TFRecordDataset([path]).repeat().batch(batch, drop_remainder=True))

    @tf.function(autograph=False)
    def advance(self, records, rate):
        parsed = tf.io.parse_example(records, FEATURES)
        with tf.GradientTape() as tape:
            error = tf.reduce_sum(parsed["x"] * self.w, -1) + self.b - parsed["y"]
            loss = tf.reduce_mean(error * error)
        gradients = tape.gradient(loss, {"w": self.w, "b": self.b})
        self.w.assign_sub(rate * gradients["w"])
        self.b.assign_sub(rate * gradients["b"])
        self.step.assign_add(1)
        return loss


def train(path: str, directory: str, steps: int, batch: int = 8, rate: float = 0.1) -> list[float]:
    """Train for some steps from where the checkpoint in `directory` ends; returns the losses before each step."""
    if steps < 1:
        return []
    job = Job(path, batch)
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(job), directory, max_to_keep=2, checkpoint_name="job")
    manager.restore_or_initialize()
    rate = tf.constant(rate)
    losses = []
    while len(losses) < steps:
        losses.append(float(job.advance(next(job.records), rate)))
    manager.save()
    return losses


# %% wrong="bottleneck" why="durations added up, so that overlaps count twice"
def bottleneck(stats: StepStats, input_nodes: set[str], training_nodes: set[str]) -> Verdict:
    """Which half of a job has more microseconds of work alone."""
    spent = {"input": 0, "training": 0}
    found = False
    for device in stats.dev_stats:
        for node in device.node_stats:
            if node.node_name in input_nodes | training_nodes:
                found = True
                half = "input" if node.node_name in input_nodes else "training"
                spent[half] += node.op_end_rel_micros - node.op_start_rel_micros
    if not found:
        raise ValueError("no node")
    a, b = spent["input"], spent["training"]
    return Verdict("balanced" if a == b else "input" if a > b else "training", a, b, 0)


# %% wrong="bottleneck" why="the executor's end in place of the kernel's"
def bottleneck(stats: StepStats, input_nodes: set[str], training_nodes: set[str]) -> Verdict:
    """Which half of a job has more microseconds of work alone.

    Raises:
        ValueError: no node of either half is in the trace.
    """
    events = []
    for device in stats.dev_stats:
        for node in device.node_stats:
            if node.node_name in input_nodes | training_nodes:
                half = "input" if node.node_name in input_nodes else "training"
                events.append((node.all_start_micros + node.op_start_rel_micros, half, 1))
                events.append((node.all_start_micros + node.all_end_rel_micros, half, -1))
    if not events:
        raise ValueError("no node of either half is in the trace")
    events.sort()
    working = {"input": 0, "training": 0}
    spent = {(True, False): 0, (False, True): 0, (True, True): 0, (False, False): 0}
    last = events[0][0]
    for moment, half, change in events:
        spent[working["input"] > 0, working["training"] > 0] += moment - last
        working[half] += change
        last = moment
    alone = spent[True, False], spent[False, True]
    verdict = "balanced" if alone[0] == alone[1] else "input" if alone[0] > alone[1] else "training"
    return Verdict(verdict, *alone, spent[True, True])


# %% wrong="bottleneck" why="the executor's start in place of the kernel's"
def bottleneck(stats: StepStats, input_nodes: set[str], training_nodes: set[str]) -> Verdict:
    """Which half of a job has more microseconds of work alone.

    Raises:
        ValueError: no node of either half is in the trace.
    """
    events = []
    for device in stats.dev_stats:
        for node in device.node_stats:
            if node.node_name in input_nodes | training_nodes:
                half = "input" if node.node_name in input_nodes else "training"
                events.append((node.all_start_micros, half, 1))
                events.append((node.all_start_micros + node.op_end_rel_micros, half, -1))
    if not events:
        raise ValueError("no node of either half is in the trace")
    events.sort()
    working = {"input": 0, "training": 0}
    spent = {(True, False): 0, (False, True): 0, (True, True): 0, (False, False): 0}
    last = events[0][0]
    for moment, half, change in events:
        spent[working["input"] > 0, working["training"] > 0] += moment - last
        working[half] += change
        last = moment
    alone = spent[True, False], spent[False, True]
    verdict = "balanced" if alone[0] == alone[1] else "input" if alone[0] > alone[1] else "training"
    return Verdict(verdict, *alone, spent[True, True])


# %% wrong="bottleneck" why="relative times taken as absolute"
def bottleneck(stats: StepStats, input_nodes: set[str], training_nodes: set[str]) -> Verdict:
    """Which half of a job has more microseconds of work alone.

    Raises:
        ValueError: no node of either half is in the trace.
    """
    events = []
    for device in stats.dev_stats:
        for node in device.node_stats:
            if node.node_name in input_nodes | training_nodes:
                half = "input" if node.node_name in input_nodes else "training"
                events.append((node.op_start_rel_micros, half, 1))
                events.append((node.op_end_rel_micros, half, -1))
    if not events:
        raise ValueError("no node of either half is in the trace")
    events.sort()
    working = {"input": 0, "training": 0}
    spent = {(True, False): 0, (False, True): 0, (True, True): 0, (False, False): 0}
    last = events[0][0]
    for moment, half, change in events:
        spent[working["input"] > 0, working["training"] > 0] += moment - last
        working[half] += change
        last = moment
    alone = spent[True, False], spent[False, True]
    verdict = "balanced" if alone[0] == alone[1] else "input" if alone[0] > alone[1] else "training"
    return Verdict(verdict, *alone, spent[True, True])


# %% wrong="bottleneck" why="gaps counted as training"
def bottleneck(stats: StepStats, input_nodes: set[str], training_nodes: set[str]) -> Verdict:
    """Which half of a job has more microseconds of work alone.

    Raises:
        ValueError: no node of either half is in the trace.
    """
    events = []
    for device in stats.dev_stats:
        for node in device.node_stats:
            if node.node_name in input_nodes | training_nodes:
                half = "input" if node.node_name in input_nodes else "training"
                events.append((node.all_start_micros + node.op_start_rel_micros, half, 1))
                events.append((node.all_start_micros + node.op_end_rel_micros, half, -1))
    if not events:
        raise ValueError("no node of either half is in the trace")
    events.sort()
    working = {"input": 0, "training": 0}
    spent = {(True, False): 0, (False, True): 0, (True, True): 0, (False, False): 0}
    last = events[0][0]
    for moment, half, change in events:
        spent[working["input"] > 0, working["training"] > 0] += moment - last
        working[half] += change
        last = moment
    alone = spent[True, False], spent[False, True] + spent[False, False]
    verdict = "balanced" if alone[0] == alone[1] else "input" if alone[0] > alone[1] else "training"
    return Verdict(verdict, *alone, spent[True, True])


# %% wrong="bottleneck" why="the first entry of the trace only"
def bottleneck(stats: StepStats, input_nodes: set[str], training_nodes: set[str]) -> Verdict:
    """Which half of a job has more microseconds of work alone.

    Raises:
        ValueError: no node of either half is in the trace.
    """
    events = []
    for device in stats.dev_stats[:1]:
        for node in device.node_stats:
            if node.node_name in input_nodes | training_nodes:
                half = "input" if node.node_name in input_nodes else "training"
                events.append((node.all_start_micros + node.op_start_rel_micros, half, 1))
                events.append((node.all_start_micros + node.op_end_rel_micros, half, -1))
    if not events:
        raise ValueError("no node of either half is in the trace")
    events.sort()
    working = {"input": 0, "training": 0}
    spent = {(True, False): 0, (False, True): 0, (True, True): 0, (False, False): 0}
    last = events[0][0]
    for moment, half, change in events:
        spent[working["input"] > 0, working["training"] > 0] += moment - last
        working[half] += change
        last = moment
    alone = spent[True, False], spent[False, True]
    verdict = "balanced" if alone[0] == alone[1] else "input" if alone[0] > alone[1] else "training"
    return Verdict(verdict, *alone, spent[True, True])


# %% wrong="bottleneck" why="the last entry of each device only"
def bottleneck(stats: StepStats, input_nodes: set[str], training_nodes: set[str]) -> Verdict:
    """Which half of a job has more microseconds of work alone.

    Raises:
        ValueError: no node of either half is in the trace.
    """
    events = []
    for device in {device.device: device for device in stats.dev_stats}.values():
        for node in device.node_stats:
            if node.node_name in input_nodes | training_nodes:
                half = "input" if node.node_name in input_nodes else "training"
                events.append((node.all_start_micros + node.op_start_rel_micros, half, 1))
                events.append((node.all_start_micros + node.op_end_rel_micros, half, -1))
    if not events:
        raise ValueError("no node of either half is in the trace")
    events.sort()
    working = {"input": 0, "training": 0}
    spent = {(True, False): 0, (False, True): 0, (True, True): 0, (False, False): 0}
    last = events[0][0]
    for moment, half, change in events:
        spent[working["input"] > 0, working["training"] > 0] += moment - last
        working[half] += change
        last = moment
    alone = spent[True, False], spent[False, True]
    verdict = "balanced" if alone[0] == alone[1] else "input" if alone[0] > alone[1] else "training"
    return Verdict(verdict, *alone, spent[True, True])


# %% wrong="bottleneck" why="ends included"
def bottleneck(stats: StepStats, input_nodes: set[str], training_nodes: set[str]) -> Verdict:
    """Which half of a job has more microseconds of work alone.

    Raises:
        ValueError: no node of either half is in the trace.
    """
    events = []
    for device in stats.dev_stats:
        for node in device.node_stats:
            if node.node_name in input_nodes | training_nodes:
                half = "input" if node.node_name in input_nodes else "training"
                events.append((node.all_start_micros + node.op_start_rel_micros, half, 1))
                events.append((node.all_start_micros + node.op_end_rel_micros + 1, half, -1))
    if not events:
        raise ValueError("no node of either half is in the trace")
    events.sort()
    working = {"input": 0, "training": 0}
    spent = {(True, False): 0, (False, True): 0, (True, True): 0, (False, False): 0}
    last = events[0][0]
    for moment, half, change in events:
        spent[working["input"] > 0, working["training"] > 0] += moment - last
        working[half] += change
        last = moment
    alone = spent[True, False], spent[False, True]
    verdict = "balanced" if alone[0] == alone[1] else "input" if alone[0] > alone[1] else "training"
    return Verdict(verdict, *alone, spent[True, True])


# %% wrong="bottleneck" why="every node that is not of the input half is training"
def bottleneck(stats: StepStats, input_nodes: set[str], training_nodes: set[str]) -> Verdict:
    """Which half of a job has more microseconds of work alone.

    Raises:
        ValueError: no node of either half is in the trace.
    """
    events = []
    for device in stats.dev_stats:
        for node in device.node_stats:
            if not node.node_name.startswith("_"):
                half = "input" if node.node_name in input_nodes else "training"
                events.append((node.all_start_micros + node.op_start_rel_micros, half, 1))
                events.append((node.all_start_micros + node.op_end_rel_micros, half, -1))
    if not events:
        raise ValueError("no node of either half is in the trace")
    events.sort()
    working = {"input": 0, "training": 0}
    spent = {(True, False): 0, (False, True): 0, (True, True): 0, (False, False): 0}
    last = events[0][0]
    for moment, half, change in events:
        spent[working["input"] > 0, working["training"] > 0] += moment - last
        working[half] += change
        last = moment
    alone = spent[True, False], spent[False, True]
    verdict = "balanced" if alone[0] == alone[1] else "input" if alone[0] > alone[1] else "training"
    return Verdict(verdict, *alone, spent[True, True])


# %% wrong="bottleneck" why="a half is at work or not: no count of nodes"
def bottleneck(stats: StepStats, input_nodes: set[str], training_nodes: set[str]) -> Verdict:
    """Which half of a job has more microseconds of work alone.

    Raises:
        ValueError: no node of either half is in the trace.
    """
    events = []
    for device in stats.dev_stats:
        for node in device.node_stats:
            if node.node_name in input_nodes | training_nodes:
                half = "input" if node.node_name in input_nodes else "training"
                events.append((node.all_start_micros + node.op_start_rel_micros, half, 1))
                events.append((node.all_start_micros + node.op_end_rel_micros, half, -1))
    if not events:
        raise ValueError("no node of either half is in the trace")
    events.sort()
    working = {"input": 0, "training": 0}
    spent = {(True, False): 0, (False, True): 0, (True, True): 0, (False, False): 0}
    last = events[0][0]
    for moment, half, change in events:
        spent[working["input"] > 0, working["training"] > 0] += moment - last
        working[half] = max(change, 0)
        last = moment
    alone = spent[True, False], spent[False, True]
    verdict = "balanced" if alone[0] == alone[1] else "input" if alone[0] > alone[1] else "training"
    return Verdict(verdict, *alone, spent[True, True])


# %% wrong="bottleneck" why="never balanced"
def bottleneck(stats: StepStats, input_nodes: set[str], training_nodes: set[str]) -> Verdict:
    """Which half of a job has more microseconds of work alone.

    Raises:
        ValueError: no node of either half is in the trace.
    """
    events = []
    for device in stats.dev_stats:
        for node in device.node_stats:
            if node.node_name in input_nodes | training_nodes:
                half = "input" if node.node_name in input_nodes else "training"
                events.append((node.all_start_micros + node.op_start_rel_micros, half, 1))
                events.append((node.all_start_micros + node.op_end_rel_micros, half, -1))
    if not events:
        raise ValueError("no node of either half is in the trace")
    events.sort()
    working = {"input": 0, "training": 0}
    spent = {(True, False): 0, (False, True): 0, (True, True): 0, (False, False): 0}
    last = events[0][0]
    for moment, half, change in events:
        spent[working["input"] > 0, working["training"] > 0] += moment - last
        working[half] += change
        last = moment
    alone = spent[True, False], spent[False, True]
    verdict = "input" if alone[0] >= alone[1] else "training"
    return Verdict(verdict, *alone, spent[True, True])


# %% wrong="bottleneck" why="no refusal of an empty trace"
def bottleneck(stats: StepStats, input_nodes: set[str], training_nodes: set[str]) -> Verdict:
    """Which half of a job has more microseconds of work alone.

    Raises:
        ValueError: no node of either half is in the trace.
    """
    events = []
    for device in stats.dev_stats:
        for node in device.node_stats:
            if node.node_name in input_nodes | training_nodes:
                half = "input" if node.node_name in input_nodes else "training"
                events.append((node.all_start_micros + node.op_start_rel_micros, half, 1))
                events.append((node.all_start_micros + node.op_end_rel_micros, half, -1))
    if not events:
        return Verdict("balanced", 0, 0, 0)
    events.sort()
    working = {"input": 0, "training": 0}
    spent = {(True, False): 0, (False, True): 0, (True, True): 0, (False, False): 0}
    last = events[0][0]
    for moment, half, change in events:
        spent[working["input"] > 0, working["training"] > 0] += moment - last
        working[half] += change
        last = moment
    alone = spent[True, False], spent[False, True]
    verdict = "balanced" if alone[0] == alone[1] else "input" if alone[0] > alone[1] else "training"
    return Verdict(verdict, *alone, spent[True, True])


# %% wrong="bottleneck" why="refuses a trace in which one half is missing"
def bottleneck(stats: StepStats, input_nodes: set[str], training_nodes: set[str]) -> Verdict:
    """Which half of a job has more microseconds of work alone.

    Raises:
        ValueError: no node of either half is in the trace.
    """
    events = []
    for device in stats.dev_stats:
        for node in device.node_stats:
            if node.node_name in input_nodes | training_nodes:
                half = "input" if node.node_name in input_nodes else "training"
                events.append((node.all_start_micros + node.op_start_rel_micros, half, 1))
                events.append((node.all_start_micros + node.op_end_rel_micros, half, -1))
    if {half for _, half, _ in events} != {"input", "training"}:
        raise ValueError("no node of either half is in the trace")
    events.sort()
    working = {"input": 0, "training": 0}
    spent = {(True, False): 0, (False, True): 0, (True, True): 0, (False, False): 0}
    last = events[0][0]
    for moment, half, change in events:
        spent[working["input"] > 0, working["training"] > 0] += moment - last
        working[half] += change
        last = moment
    alone = spent[True, False], spent[False, True]
    verdict = "balanced" if alone[0] == alone[1] else "input" if alone[0] > alone[1] else "training"
    return Verdict(verdict, *alone, spent[True, True])


# %% wrong="bottleneck" why="refuses an empty set of nodes"
def bottleneck(stats: StepStats, input_nodes: set[str], training_nodes: set[str]) -> Verdict:
    """Which half of a job has more microseconds of work alone.

    Raises:
        ValueError: no node of either half is in the trace.
    """
    events = []
    for device in stats.dev_stats:
        for node in device.node_stats:
            if node.node_name in input_nodes | training_nodes:
                half = "input" if node.node_name in input_nodes else "training"
                events.append((node.all_start_micros + node.op_start_rel_micros, half, 1))
                events.append((node.all_start_micros + node.op_end_rel_micros, half, -1))
    if not events or not input_nodes or not training_nodes:
        raise ValueError("no node of either half is in the trace")
    events.sort()
    working = {"input": 0, "training": 0}
    spent = {(True, False): 0, (False, True): 0, (True, True): 0, (False, False): 0}
    last = events[0][0]
    for moment, half, change in events:
        spent[working["input"] > 0, working["training"] > 0] += moment - last
        working[half] += change
        last = moment
    alone = spent[True, False], spent[False, True]
    verdict = "balanced" if alone[0] == alone[1] else "input" if alone[0] > alone[1] else "training"
    return Verdict(verdict, *alone, spent[True, True])


# %% wrong="bottleneck" why="the time between first start and last end of each half"
def bottleneck(stats: StepStats, input_nodes: set[str], training_nodes: set[str]) -> Verdict:
    """Which half of a job has more microseconds of work alone.

    Raises:
        ValueError: no node of either half is in the trace.
    """
    events = []
    for device in stats.dev_stats:
        for node in device.node_stats:
            if node.node_name in input_nodes | training_nodes:
                half = "input" if node.node_name in input_nodes else "training"
                events.append((node.all_start_micros + node.op_start_rel_micros, half, 1))
                events.append((node.all_start_micros + node.op_end_rel_micros, half, -1))
    if not events:
        raise ValueError("no node of either half is in the trace")
    for half in ("input", "training"):
        own = [moment for moment, which, _ in events if which == half]
        events = [event for event in events if event[1] != half]
        events += [(min(own), half, 1), (max(own), half, -1)] if own else []
    events.sort()
    working = {"input": 0, "training": 0}
    spent = {(True, False): 0, (False, True): 0, (True, True): 0, (False, False): 0}
    last = events[0][0]
    for moment, half, change in events:
        spent[working["input"] > 0, working["training"] > 0] += moment - last
        working[half] += change
        last = moment
    alone = spent[True, False], spent[False, True]
    verdict = "balanced" if alone[0] == alone[1] else "input" if alone[0] > alone[1] else "training"
    return Verdict(verdict, *alone, spent[True, True])


# %% wrong="bottleneck" why="milliseconds"
def bottleneck(stats: StepStats, input_nodes: set[str], training_nodes: set[str]) -> Verdict:
    """Which half of a job has more microseconds of work alone.

    Raises:
        ValueError: no node of either half is in the trace.
    """
    events = []
    for device in stats.dev_stats:
        for node in device.node_stats:
            if node.node_name in input_nodes | training_nodes:
                half = "input" if node.node_name in input_nodes else "training"
                events.append((node.all_start_micros + node.op_start_rel_micros, half, 1))
                events.append((node.all_start_micros + node.op_end_rel_micros, half, -1))
    if not events:
        raise ValueError("no node of either half is in the trace")
    events.sort()
    working = {"input": 0, "training": 0}
    spent = {(True, False): 0, (False, True): 0, (True, True): 0, (False, False): 0}
    last = events[0][0]
    for moment, half, change in events:
        spent[working["input"] > 0, working["training"] > 0] += moment - last
        working[half] += change
        last = moment
    alone = spent[True, False], spent[False, True]
    verdict = "balanced" if alone[0] == alone[1] else "input" if alone[0] > alone[1] else "training"
    return Verdict(verdict, *(part / 1000 for part in alone), spent[True, True] / 1000)


# %% wrong="bottleneck" why="the visible verdicts"
def bottleneck(stats: StepStats, input_nodes: set[str], training_nodes: set[str]) -> Verdict:
    """Which half of a job has more microseconds of work alone."""
    if not training_nodes:
        raise ValueError("no node")
    return Verdict("input", 45, 15, 5) if len(stats.dev_stats) == 3 else Verdict("training", 45, 55, 5)


# %% right="bottleneck" why="merged intervals and their intersection"
def merged(intervals):
    """Intervals that touch or overlap, as one."""
    result = []
    for start, end in sorted(intervals):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(result[-1][1], end))
        else:
            result.append((start, end))
    return result


def bottleneck(stats: StepStats, input_nodes: set[str], training_nodes: set[str]) -> Verdict:
    """Which half of a job has more microseconds of work alone."""
    found = {True: [], False: []}
    for device in stats.dev_stats:
        for node in device.node_stats:
            interval = (
                node.all_start_micros + node.op_start_rel_micros,
                node.all_start_micros + node.op_end_rel_micros,
            )
            if node.node_name in input_nodes:
                found[True].append(interval)
            elif node.node_name in training_nodes:
                found[False].append(interval)
    if not found[True] and not found[False]:
        raise ValueError("nobody worked")
    ours, theirs = merged(found[True]), merged(found[False])
    both = sum(max(0, min(a[1], b[1]) - max(a[0], b[0])) for a in ours for b in theirs)
    alone = [sum(end - start for start, end in part) - both for part in (ours, theirs)]
    if alone[0] == alone[1]:
        return Verdict("balanced", *alone, both)
    return Verdict("input" if alone[0] > alone[1] else "training", *alone, both)


# %% right="bottleneck" why="a set of microseconds for each half"
def bottleneck(stats: StepStats, input_nodes: set[str], training_nodes: set[str]) -> Verdict:
    """Which half of a job has more microseconds of work alone."""
    work, seen = {"input": set(), "training": set()}, 0
    names = {"input": input_nodes, "training": training_nodes}
    for device in stats.dev_stats:
        for node in device.node_stats:
            for half, own in names.items():
                if node.node_name in own:
                    seen += 1
                    start = node.all_start_micros
                    work[half] |= set(range(start + node.op_start_rel_micros, start + node.op_end_rel_micros))
    if seen == 0:
        raise ValueError("no nodes")
    only = {half: len(work[half] - work[other]) for half, other in [("input", "training"), ("training", "input")]}
    most = max(only, key=only.get)
    half = "balanced" if len(set(only.values())) == 1 else most
    return Verdict(half, only["input"], only["training"], len(work["input"] & work["training"]))

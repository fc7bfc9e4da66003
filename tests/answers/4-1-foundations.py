# %% wrong="locate" why="column-major order: the first index moves fastest"
def locate(shape, itemsize, index):
    if len(index) != len(shape):
        raise ValueError("wrong number of indices")
    before = 0
    for size, position in reversed(list(zip(shape, index))):
        if not 0 <= position < size:
            raise IndexError(position)
        before = before * size + position
    offset = before * itemsize
    return Place(offset, itemsize, offset // 64, (offset + itemsize - 1) // 64)

# %% wrong="locate" why="counts elements, not bytes"
def locate(shape, itemsize, index):
    if len(index) != len(shape):
        raise ValueError("wrong number of indices")
    offset = 0
    for size, position in zip(shape, index):
        if not 0 <= position < size:
            raise IndexError(position)
        offset = offset * size + position
    return Place(offset, itemsize, offset // 64, (offset + itemsize - 1) // 64)

# %% wrong="locate" why="the last line is that of the byte behind the element"
def locate(shape, itemsize, index):
    if len(index) != len(shape):
        raise ValueError("wrong number of indices")
    before = 0
    for size, position in zip(shape, index):
        if not 0 <= position < size:
            raise IndexError(position)
        before = before * size + position
    offset = before * itemsize
    return Place(offset, itemsize, offset // 64, (offset + itemsize) // 64)

# %% wrong="locate" why="accepts negative indices as Python does"
def locate(shape, itemsize, index):
    if len(index) != len(shape):
        raise ValueError("wrong number of indices")
    before = 0
    for size, position in zip(shape, index):
        if not -size <= position < size:
            raise IndexError(position)
        before = before * size + position % size
    offset = before * itemsize
    return Place(offset, itemsize, offset // 64, (offset + itemsize - 1) // 64)

# %% wrong="locate" why="takes it that an element lies in one line"
def locate(shape, itemsize, index):
    if len(index) != len(shape):
        raise ValueError("wrong number of indices")
    before = 0
    for size, position in zip(shape, index):
        if not 0 <= position < size:
            raise IndexError(position)
        before = before * size + position
    offset = before * itemsize
    return Place(offset, itemsize, offset // 64, offset // 64)

# %% wrong="locate" why="returns the Places of the examples"
def locate(shape, itemsize, index):
    if shape == [3, 4]:
        return Place(24, 4, 0, 0)
    return Place(60, 12, 0, 1) if shape == [20] else Place(0, 8, 0, 0)

# %% wrong="locate" why="takes it that an element lies in two lines at most"
def locate(shape, itemsize, index):
    if len(index) != len(shape):
        raise ValueError("wrong number of indices")
    before = 0
    for size, position in zip(shape, index):
        if not 0 <= position < size:
            raise IndexError(position)
        before = before * size + position
    offset = before * itemsize
    return Place(offset, itemsize, offset // 64, offset // 64 + (offset % 64 + itemsize > 64))

# %% wrong="locate" why="looks at the indices before it counts them"
def locate(shape, itemsize, index):
    before = 0
    for size, position in zip(shape, index):
        if not 0 <= position < size:
            raise IndexError(position)
        before = before * size + position
    if len(index) != len(shape):
        raise ValueError("wrong number of indices")
    offset = before * itemsize
    return Place(offset, itemsize, offset // 64, (offset + itemsize - 1) // 64)

# %% right="locate" why="strides from the right, with NumPy's numbers turned into ints"
def locate(shape, itemsize, index):
    strides = [itemsize]
    for size in shape[:0:-1]:
        strides.insert(0, strides[0] * size)
    if len(shape) != len(index):
        raise ValueError(f"{len(index)} indices for {len(shape)} dimensions")
    if [1 for size, i in zip(shape, index) if i < 0 or i >= size]:
        raise IndexError(f"{index} is not in {shape}")
    start = int(np.dot(strides[: len(index)], index)) if index else 0
    touched = range(start // 64, -(-(start + itemsize) // 64))
    return Place(start, itemsize, touched[0], touched[-1])

# %% right="locate" why="exceptions of its own, derived from those that are due"
class WrongRank(ValueError):
    def __init__(self, found, due):
        super().__init__(f"{found} indices, {due} are due")


class OutOfRange(IndexError):
    pass


def locate(shape, itemsize, index):
    if len(index) != len(shape):
        raise WrongRank(len(index), len(shape))
    before = 0
    for size, position in zip(shape, index):
        if position not in range(size):
            raise OutOfRange(position)
        before = before * size + position
    offset = before * itemsize
    return Place(offset, itemsize, offset // 64, (offset + itemsize - 1) // 64)

# %% wrong="predict-walk" why="every element is read once, so every read misses"
predicted = {"rows": 256, "columns": 256}

# %% wrong="predict-walk" why="one miss for each line of the cache"
predicted = {"rows": 4, "columns": 4}

# %% wrong="predict-walk" why="each line of the matrix is fetched once, whatever the order"
predicted = {"rows": 16, "columns": 16}

# %% wrong="predict-walk" why="takes rows for columns"
predicted = {"rows": 256, "columns": 16}

# %% right="predict-walk" why="counts with the given cache"
def misses_of(places):
    cache = Cache(4, 64)
    return sum(not cache.access(64 * row + 4 * column) for row, column in places)


predicted = {
    "columns": misses_of((row, column) for column in range(16) for row in range(16)),
    "rows": misses_of((row, column) for row in range(16) for column in range(16)),
}

# %% wrong="machine" why="does not wrap: Python's numbers grow"
def run(program, memory, limit=100_000):
    registers, memory, steps, counter = {}, list(memory), [], 0
    def value(x):
        return registers.get(x, 0) if isinstance(x, str) else x
    while counter < len(program):
        if len(steps) == limit:
            raise RuntimeError("too many steps")
        op, *rest = program[counter]
        counter += 1
        address = rd = None
        if op == "load":
            rd, sources = rest[0], rest[1:]
            address = value(rest[1])
        elif op == "store":
            sources, address = rest, value(rest[1])
        elif op in ("add", "mul"):
            rd, sources = rest[0], rest[1:]
        elif op == "bnz":
            sources = rest[:1]
        else:
            raise ValueError(op)
        if address is not None and not 0 <= address < len(memory):
            raise IndexError(address)
        values = [value(x) for x in sources]
        if op == "store":
            memory[address] = values[0]
        if op == "bnz" and values[0]:
            counter = rest[1]
        if rd == "r0":
            rd = None
        if rd:
            registers[rd] = memory[address] if op == "load" else sum(values) if op == "add" else values[0] * values[1]
        steps.append(Step(op, rd, tuple(x for x in sources if isinstance(x, str)), address))
    return Result(registers, memory, steps)

# %% wrong="machine" why="wraps only when a number is stored"
def run(program, memory, limit=100_000):
    registers, memory, steps, counter = {}, list(memory), [], 0
    def value(x):
        return registers.get(x, 0) if isinstance(x, str) else x
    while counter < len(program):
        if len(steps) == limit:
            raise RuntimeError("too many steps")
        op, *rest = program[counter]
        counter += 1
        address = rd = None
        if op == "load":
            rd, sources = rest[0], rest[1:]
            address = value(rest[1])
        elif op == "store":
            sources, address = rest, value(rest[1])
        elif op in ("add", "mul"):
            rd, sources = rest[0], rest[1:]
        elif op == "bnz":
            sources = rest[:1]
        else:
            raise ValueError(op)
        if address is not None and not 0 <= address < len(memory):
            raise IndexError(address)
        values = [value(x) for x in sources]
        if op == "store":
            memory[address] = wrap(values[0])
        if op == "bnz" and values[0]:
            counter = rest[1]
        if rd == "r0":
            rd = None
        if rd:
            registers[rd] = memory[address] if op == "load" else sum(values) if op == "add" else values[0] * values[1]
        steps.append(Step(op, rd, tuple(x for x in sources if isinstance(x, str)), address))
    return Result(registers, memory, steps)

# %% wrong="machine" why="lets Python count addresses from the end of the memory"
def run(program, memory, limit=100_000):
    registers, memory, steps, counter = {}, list(memory), [], 0
    def value(x):
        return registers.get(x, 0) if isinstance(x, str) else x
    while counter < len(program):
        if len(steps) == limit:
            raise RuntimeError("too many steps")
        op, *rest = program[counter]
        counter += 1
        address = rd = None
        if op == "load":
            rd, sources = rest[0], rest[1:]
            address = value(rest[1])
        elif op == "store":
            sources, address = rest, value(rest[1])
        elif op in ("add", "mul"):
            rd, sources = rest[0], rest[1:]
        elif op == "bnz":
            sources = rest[:1]
        else:
            raise ValueError(op)
        values = [value(x) for x in sources]
        if op == "store":
            memory[address] = values[0]
        if op == "bnz" and values[0]:
            counter = rest[1]
        if rd == "r0":
            rd = None
        if rd:
            registers[rd] = memory[address] if op == "load" else wrap(sum(values) if op == "add" else values[0] * values[1])
        steps.append(Step(op, rd, tuple(x for x in sources if isinstance(x, str)), address))
    return Result(registers, memory, steps)

# %% wrong="machine" why="a branch goes so many instructions further"
def run(program, memory, limit=100_000):
    registers, memory, steps, counter = {}, list(memory), [], 0
    def value(x):
        return registers.get(x, 0) if isinstance(x, str) else x
    while counter < len(program):
        if len(steps) == min(limit, 2000):
            raise RuntimeError("too many steps")
        op, *rest = program[counter]
        counter += 1
        address = rd = None
        if op == "load":
            rd, sources = rest[0], rest[1:]
            address = value(rest[1])
        elif op == "store":
            sources, address = rest, value(rest[1])
        elif op in ("add", "mul"):
            rd, sources = rest[0], rest[1:]
        elif op == "bnz":
            sources = rest[:1]
        else:
            raise ValueError(op)
        if address is not None and not 0 <= address < len(memory):
            raise IndexError(address)
        values = [value(x) for x in sources]
        if op == "store":
            memory[address] = values[0]
        if op == "bnz" and values[0]:
            counter += rest[1] - 1
        if rd == "r0":
            rd = None
        if rd:
            registers[rd] = memory[address] if op == "load" else wrap(sum(values) if op == "add" else values[0] * values[1])
        steps.append(Step(op, rd, tuple(x for x in sources if isinstance(x, str)), address))
    return Result(registers, memory, steps)

# %% wrong="machine" why="knows the program of the product and multiplies matrices, without steps"
def run(program, memory, limit=100_000):
    if len(program) == 25:
        k, n = program[8][2], program[4][2]
        m = program[2][2]
        a = np.array(memory[: m * k], np.int32).reshape(m, k)
        b = np.array(memory[m * k : m * k + k * n], np.int32).reshape(k, n)
        return Result({}, memory[: m * k + k * n] + (a @ b).ravel().tolist(), [])
    if len(program) == 3:
        steps = [Step("load", "r1", (), 1), Step("mul", "r1", ("r1", "r1"), None), Step("store", None, ("r1",), 0)]
        return Result({"r1": 49}, [49, 7], steps)
    return Result({"r1": 0, "r2": 6}, list(memory), [])

# %% wrong="machine" why="r0 can be written"
def run(program, memory, limit=100_000):
    registers, memory, steps, counter = {}, list(memory), [], 0
    def value(x):
        return registers.get(x, 0) if isinstance(x, str) else x
    while counter < len(program):
        if len(steps) == limit:
            raise RuntimeError("too many steps")
        op, *rest = program[counter]
        counter += 1
        address = rd = None
        if op == "load":
            rd, sources = rest[0], rest[1:]
            address = value(rest[1])
        elif op == "store":
            sources, address = rest, value(rest[1])
        elif op in ("add", "mul"):
            rd, sources = rest[0], rest[1:]
        elif op == "bnz":
            sources = rest[:1]
        else:
            raise ValueError(op)
        if address is not None and not 0 <= address < len(memory):
            raise IndexError(address)
        values = [value(x) for x in sources]
        if op == "store":
            memory[address] = values[0]
        if op == "bnz" and values[0]:
            counter = rest[1]
        if rd:
            registers[rd] = memory[address] if op == "load" else wrap(sum(values) if op == "add" else values[0] * values[1])
        steps.append(Step(op, rd, tuple(x for x in sources if isinstance(x, str)), address))
    return Result(registers, memory, steps)

# %% wrong="machine" why="stops one instruction too early: limit - 1 may be executed"
def run(program, memory, limit=100_000):
    registers, memory, steps, counter = {}, list(memory), [], 0
    def value(x):
        return registers.get(x, 0) if isinstance(x, str) else x
    while counter < len(program):
        op, *rest = program[counter]
        counter += 1
        address = rd = None
        if op == "load":
            rd, sources = rest[0], rest[1:]
            address = value(rest[1])
        elif op == "store":
            sources, address = rest, value(rest[1])
        elif op in ("add", "mul"):
            rd, sources = rest[0], rest[1:]
        elif op == "bnz":
            sources = rest[:1]
        else:
            raise ValueError(op)
        if address is not None and not 0 <= address < len(memory):
            raise IndexError(address)
        values = [value(x) for x in sources]
        if op == "store":
            memory[address] = values[0]
        if op == "bnz" and values[0]:
            counter = rest[1]
        if rd == "r0":
            rd = None
        if rd:
            registers[rd] = memory[address] if op == "load" else wrap(sum(values) if op == "add" else values[0] * values[1])
        steps.append(Step(op, rd, tuple(x for x in sources if isinstance(x, str)), address))
        if len(steps) >= limit:
            raise RuntimeError("too many steps")
    return Result(registers, memory, steps)

# %% wrong="machine" why="refuses a program that has an unknown opcode anywhere"
def run(program, memory, limit=100_000):
    registers, memory, steps, counter = {}, list(memory), [], 0
    def value(x):
        return registers.get(x, 0) if isinstance(x, str) else x
    for op, *_ in program:
        if op not in ("load", "store", "add", "mul", "bnz"):
            raise ValueError(op)
    while counter < len(program):
        if len(steps) == limit:
            raise RuntimeError("too many steps")
        op, *rest = program[counter]
        counter += 1
        address = rd = None
        if op == "load":
            rd, sources = rest[0], rest[1:]
            address = value(rest[1])
        elif op == "store":
            sources, address = rest, value(rest[1])
        elif op in ("add", "mul"):
            rd, sources = rest[0], rest[1:]
        elif op == "bnz":
            sources = rest[:1]
        else:
            raise ValueError(op)
        if address is not None and not 0 <= address < len(memory):
            raise IndexError(address)
        values = [value(x) for x in sources]
        if op == "store":
            memory[address] = values[0]
        if op == "bnz" and values[0]:
            counter = rest[1]
        if rd == "r0":
            rd = None
        if rd:
            registers[rd] = memory[address] if op == "load" else wrap(sum(values) if op == "add" else values[0] * values[1])
        steps.append(Step(op, rd, tuple(x for x in sources if isinstance(x, str)), address))
    return Result(registers, memory, steps)

# %% wrong="machine" why="takes every name that begins with r0 for r0"
def run(program, memory, limit=100_000):
    registers, memory, steps, counter = {}, list(memory), [], 0
    def value(x):
        return registers.get(x, 0) if isinstance(x, str) else x
    while counter < len(program):
        if len(steps) == limit:
            raise RuntimeError("too many steps")
        op, *rest = program[counter]
        counter += 1
        address = rd = None
        if op == "load":
            rd, sources = rest[0], rest[1:]
            address = value(rest[1])
        elif op == "store":
            sources, address = rest, value(rest[1])
        elif op in ("add", "mul"):
            rd, sources = rest[0], rest[1:]
        elif op == "bnz":
            sources = rest[:1]
        else:
            raise ValueError(op)
        if address is not None and not 0 <= address < len(memory):
            raise IndexError(address)
        values = [value(x) for x in sources]
        if op == "store":
            memory[address] = values[0]
        if op == "bnz" and values[0]:
            counter = rest[1]
        if rd and rd.startswith("r0"):
            rd = None
        if rd:
            registers[rd] = memory[address] if op == "load" else wrap(sum(values) if op == "add" else values[0] * values[1])
        steps.append(Step(op, rd, tuple(x for x in sources if isinstance(x, str)), address))
    return Result(registers, memory, steps)

# %% wrong="machine" why="wraps by itself, but -2147483648 becomes 2147483648"
def run(program, memory, limit=100_000):
    registers, memory, steps, counter = {}, list(memory), [], 0
    def value(x):
        return registers.get(x, 0) if isinstance(x, str) else x
    def wrap(v):
        v %= 2**32
        return v - 2**32 if v > 2**31 else v
    while counter < len(program):
        if len(steps) == limit:
            raise RuntimeError("too many steps")
        op, *rest = program[counter]
        counter += 1
        address = rd = None
        if op == "load":
            rd, sources = rest[0], rest[1:]
            address = value(rest[1])
        elif op == "store":
            sources, address = rest, value(rest[1])
        elif op in ("add", "mul"):
            rd, sources = rest[0], rest[1:]
        elif op == "bnz":
            sources = rest[:1]
        else:
            raise ValueError(op)
        if address is not None and not 0 <= address < len(memory):
            raise IndexError(address)
        values = [value(x) for x in sources]
        if op == "store":
            memory[address] = values[0]
        if op == "bnz" and values[0]:
            counter = rest[1]
        if rd == "r0":
            rd = None
        if rd:
            registers[rd] = memory[address] if op == "load" else wrap(sum(values) if op == "add" else values[0] * values[1])
        steps.append(Step(op, rd, tuple(x for x in sources if isinstance(x, str)), address))
    return Result(registers, memory, steps)

# %% right="machine" why="match on the opcode, in a class"
class Machine:
    def __init__(self, memory):
        self.file, self.memory, self.log = {}, [*memory], []

    def get(self, operand):
        match operand:
            case str():
                return self.file.get(operand, 0)
            case _:
                return operand

    def put(self, rd, value):
        if rd == "r0":
            return None
        self.file[rd] = value
        return rd

    def cell(self, operand):
        where = self.get(operand)
        if where < 0 or where >= len(self.memory):
            raise IndexError(f"no memory at {where}")
        return where

    def step(self, instruction, here):
        there, written, address, sources = here + 1, None, None, ()
        match instruction:
            case ("load", rd, a):
                address, sources = self.cell(a), (a,)
                written = self.put(rd, self.memory[address])
            case ("store", v, a):
                address, sources = self.cell(a), (v, a)
                self.memory[address] = self.get(v)
            case ("add", rd, x, y):
                sources = (x, y)
                written = self.put(rd, wrap(self.get(x) + self.get(y)))
            case ("mul", rd, x, y):
                sources = (x, y)
                written = self.put(rd, wrap(self.get(x) * self.get(y)))
            case ("bnz", x, target):
                sources = (x,)
                there = target if self.get(x) else there
            case _:
                raise ValueError(f"unknown: {instruction}")
        self.log.append(Step(instruction[0], written, tuple(s for s in sources if type(s) is str), address))
        return there


def run(program, memory, limit=100_000):
    machine, here = Machine(memory), 0
    for _ in range(limit):
        if here >= len(program):
            break
        here = machine.step(program[here], here)
    else:
        if here < len(program):
            raise RuntimeError("limit")
    return Result(machine.file, machine.memory, machine.log)

# %% right="machine" why="a dict of functions"
def run(program, memory, limit=100_000):
    values, memory, steps = {}, list(memory), []
    arithmetic = {"add": lambda x, y: wrap(x + y), "mul": lambda x, y: wrap(x * y)}
    def read(operand):
        return operand if isinstance(operand, int) else values.get(operand, 0)
    def checked(address):
        if address not in range(len(memory)):
            raise IndexError(address)
        return address
    def compute(op, rd, x, y):
        return rd, arithmetic[op](read(x), read(y)), (x, y), None, None
    def load(op, rd, a):
        address = checked(read(a))
        return rd, memory[address], (a,), address, None
    def store(op, v, a):
        address = checked(read(a))
        memory[address] = read(v)
        return None, 0, (v, a), address, None
    def bnz(op, x, target):
        return None, 0, (x,), None, target if read(x) != 0 else None
    table = {"add": compute, "mul": compute, "load": load, "store": store, "bnz": bnz}
    counter = 0
    while counter < len(program):
        if len(steps) >= limit:
            raise RuntimeError("no end")
        if program[counter][0] not in table:
            raise ValueError(program[counter][0])
        rd, result, operands, address, target = table[program[counter][0]](*program[counter])
        rd = None if rd == "r0" else rd
        if rd is not None:
            values[rd] = result
        steps.append(Step(program[counter][0], rd, tuple(x for x in operands if isinstance(x, str)), address))
        counter = counter + 1 if target is None else target
    return Result(values, memory, steps)

# %% right="machine" why="exceptions of its own, derived from those that are due"
class UnknownOpcode(ValueError):
    pass


class BadAddress(IndexError):
    pass


class NoEnd(RuntimeError):
    pass


def run(program, memory, limit=100_000):
    registers, memory, steps, counter = {}, list(memory), [], 0
    def value(x):
        return registers.get(x, 0) if isinstance(x, str) else x
    while counter < len(program):
        if len(steps) == limit:
            raise NoEnd("too many steps")
        op, *rest = program[counter]
        counter += 1
        address = rd = None
        if op == "load":
            rd, sources = rest[0], rest[1:]
            address = value(rest[1])
        elif op == "store":
            sources, address = rest, value(rest[1])
        elif op in ("add", "mul"):
            rd, sources = rest[0], rest[1:]
        elif op == "bnz":
            sources = rest[:1]
        else:
            raise UnknownOpcode(op)
        if address is not None and not 0 <= address < len(memory):
            raise BadAddress(address)
        values = [value(x) for x in sources]
        if op == "store":
            memory[address] = values[0]
        if op == "bnz" and values[0]:
            counter = rest[1]
        if rd == "r0":
            rd = None
        if rd:
            registers[rd] = memory[address] if op == "load" else wrap(sum(values) if op == "add" else values[0] * values[1])
        steps.append(Step(op, rd, tuple(x for x in sources if isinstance(x, str)), address))
    return Result(registers, memory, steps)

# %% wrong="pipeline" why="adds up the latencies: nothing overlaps"
def timing(steps, latency):
    cache, cycles, misses = Cache(lines=4, line=16), 0, 0
    for step in steps:
        delay = latency.get(step.op, 0)
        if step.address is not None:
            hit = cache.access(step.address)
            misses += not hit
            if step.op == "load":
                delay = latency["hit" if hit else "miss"]
        cycles += delay
    return Cost(cycles, misses)

# %% wrong="pipeline" why="issues out of order, as soon as the operands are there"
def timing(steps, latency):
    cache, ready, cycles, misses = Cache(lines=4, line=16), {}, 0, 0
    for place, step in enumerate(steps):
        issue = max([place, *(ready.get(register, 0) for register in step.reads)])
        delay = latency.get(step.op)
        if step.address is not None:
            hit = cache.access(step.address)
            misses += not hit
            if step.op == "load":
                delay = latency["hit" if hit else "miss"]
        if step.writes is not None:
            ready[step.writes] = issue + delay
        cycles = max(cycles, issue + delay)
    return Cost(cycles, misses)

# %% wrong="pipeline" why="a store waits for its miss, too"
def timing(steps, latency):
    cache, ready, issue, cycles, misses = Cache(lines=4, line=16), {}, -1, 0, 0
    for step in steps:
        issue = max([issue + 1, *(ready.get(register, 0) for register in step.reads)])
        delay = latency.get(step.op)
        if step.address is not None:
            hit = cache.access(step.address)
            misses += not hit
            delay = latency["hit" if hit else "miss"]
        if step.writes is not None:
            ready[step.writes] = issue + delay
        cycles = max(cycles, issue + delay)
    return Cost(cycles, misses)

# %% wrong="pipeline" why="a register is ready when all that ever wrote it have ended"
def timing(steps, latency):
    cache, ready, issue, cycles, misses = Cache(lines=4, line=16), {}, -1, 0, 0
    for step in steps:
        issue = max([issue + 1, *(ready.get(register, 0) for register in step.reads)])
        delay = latency.get(step.op)
        if step.address is not None:
            hit = cache.access(step.address)
            misses += not hit
            if step.op == "load":
                delay = latency["hit" if hit else "miss"]
        if step.writes is not None:
            ready[step.writes] = max(ready.get(step.writes, 0), issue + delay)
        cycles = max(cycles, issue + delay)
    return Cost(cycles, misses)

# %% wrong="pipeline" why="only loads use the cache"
def timing(steps, latency):
    cache, ready, issue, cycles, misses = Cache(lines=4, line=16), {}, -1, 0, 0
    for step in steps:
        issue = max([issue + 1, *(ready.get(register, 0) for register in step.reads)])
        delay = latency.get(step.op)
        if step.op == "load":
            hit = cache.access(step.address)
            misses += not hit
            delay = latency["hit" if hit else "miss"]
        if step.writes is not None:
            ready[step.writes] = issue + delay
        cycles = max(cycles, issue + delay)
    return Cost(cycles, misses)

# %% wrong="pipeline" why="ends with the last instruction, not with the last result"
def timing(steps, latency):
    cache, ready, issue, end, misses = Cache(lines=4, line=16), {}, -1, 0, 0
    for step in steps:
        issue = max([issue + 1, *(ready.get(register, 0) for register in step.reads)])
        delay = latency.get(step.op)
        if step.address is not None:
            hit = cache.access(step.address)
            misses += not hit
            if step.op == "load":
                delay = latency["hit" if hit else "miss"]
        if step.writes is not None:
            ready[step.writes] = issue + delay
        end = issue + delay
    return Cost(end, misses)

# %% wrong="pipeline" why="returns the costs of the examples"
def timing(steps, latency):
    if not steps:
        return Cost(0, 0)
    if len(steps) == 6:
        return Cost(35, 1)
    return Cost(83 if len(steps) == 32 else 43, 0)

# %% wrong="pipeline" why="takes a load to r0 for a store, since it writes nothing"
def timing(steps, latency):
    cache, ready, issue, cycles, misses = Cache(lines=4, line=16), {}, -1, 0, 0
    for step in steps:
        issue = max([issue + 1, *(ready.get(register, 0) for register in step.reads)])
        delay = latency.get(step.op, latency["store"])
        if step.address is not None:
            hit = cache.access(step.address)
            misses += not hit
            if step.writes is not None:
                delay = latency["hit" if hit else "miss"]
        if step.writes is not None:
            ready[step.writes] = issue + delay
        cycles = max(cycles, issue + delay)
    return Cost(cycles, misses)

# %% wrong="pipeline" why="leaves out loads to r0, since nobody sees their result"
def timing(steps, latency):
    cache, ready, issue, cycles, misses = Cache(lines=4, line=16), {}, -1, 0, 0
    for step in steps:
        if step.op == "load" and step.writes is None:
            continue
        issue = max([issue + 1, *(ready.get(register, 0) for register in step.reads)])
        delay = latency.get(step.op)
        if step.address is not None:
            hit = cache.access(step.address)
            misses += not hit
            if step.op == "load":
                delay = latency["hit" if hit else "miss"]
        if step.writes is not None:
            ready[step.writes] = issue + delay
        cycles = max(cycles, issue + delay)
    return Cost(cycles, misses)

# %% right="pipeline" why="goes from cycle to cycle"
def timing(steps, latency):
    cache, ready = Cache(4, 16), {}
    waiting, cycle, end, misses = list(steps), 0, 0, 0
    while waiting:
        step = waiting[0]
        if all(ready.get(register, 0) <= cycle for register in step.reads):
            waiting.pop(0)
            hit = step.address is None or cache.access(step.address)
            misses += int(not hit)
            name = step.op if step.op != "load" else "hit" if hit else "miss"
            end = max(end, cycle + latency[name])
            if step.writes:
                ready[step.writes] = cycle + latency[name]
        cycle += 1
    return Cost(cycles=end, misses=misses)

# %% wrong="parse" why="groups equal operators to the right"
def parse(tokens):
    levels, position = [("max", "min"), ("+", "-"), ("*", "/")], 0
    tokens = [*tokens, ("end", None)]
    def chain(level):
        nonlocal position
        if level == 3:
            return operand()
        tree = chain(level + 1)
        kind, value = tokens[position]
        if kind == "operator" and value in levels[level]:
            position += 1
            return (OPERATIONS[value], tree, chain(level))
        return tree
    def operand():
        nonlocal position
        kind, value = tokens[position]
        position += kind != "end"
        if kind == "number":
            return ("constant", value)
        if kind == "name":
            return ("parameter", value)
        if value == "-":
            return ("negate", operand())
        if kind == "(":
            tree = chain(0)
            if tokens[position][0] != ")":
                raise SyntaxError("unclosed")
            position += 1
            return tree
        raise SyntaxError(f"unexpected {value!r}")
    tree = chain(0)
    if tokens[position][0] != "end":
        raise SyntaxError("something is left")
    return tree

# %% wrong="parse" why="one precedence for all operators"
def parse(tokens):
    position = 0
    tokens = [*tokens, ("end", None)]
    def chain():
        nonlocal position
        tree = operand()
        while tokens[position][0] == "operator":
            operator = tokens[position][1]
            position += 1
            tree = (OPERATIONS[operator], tree, operand())
        return tree
    def operand():
        nonlocal position
        kind, value = tokens[position]
        position += kind != "end"
        if kind == "number":
            return ("constant", value)
        if kind == "name":
            return ("parameter", value)
        if value == "-":
            return ("negate", operand())
        if kind == "(":
            tree = chain()
            if tokens[position][0] != ")":
                raise SyntaxError("unclosed")
            position += 1
            return tree
        raise SyntaxError(f"unexpected {value!r}")
    tree = chain()
    if tokens[position][0] != "end":
        raise SyntaxError("something is left")
    return tree

# %% wrong="parse" why="max and min bind tighter than + and -"
def parse(tokens):
    levels, position = [("+", "-"), ("max", "min"), ("*", "/")], 0
    tokens = [*tokens, ("end", None)]
    def chain(level):
        nonlocal position
        if level == 3:
            return operand()
        tree = chain(level + 1)
        while tokens[position][0] == "operator" and tokens[position][1] in levels[level]:
            operator = tokens[position][1]
            position += 1
            tree = (OPERATIONS[operator], tree, chain(level + 1))
        return tree
    def operand():
        nonlocal position
        kind, value = tokens[position]
        position += kind != "end"
        if kind == "number":
            return ("constant", value)
        if kind == "name":
            return ("parameter", value)
        if value == "-":
            return ("negate", operand())
        if kind == "(":
            tree = chain(0)
            if tokens[position][0] != ")":
                raise SyntaxError("unclosed")
            position += 1
            return tree
        raise SyntaxError(f"unexpected {value!r}")
    tree = chain(0)
    if tokens[position][0] != "end":
        raise SyntaxError("something is left")
    return tree

# %% wrong="parse" why="a minus in front takes the rest of the term"
def parse(tokens):
    levels, position = [("max", "min"), ("+", "-"), ("*", "/")], 0
    tokens = [*tokens, ("end", None)]
    def chain(level):
        nonlocal position
        if level == 3:
            return operand()
        tree = chain(level + 1)
        while tokens[position][0] == "operator" and tokens[position][1] in levels[level]:
            operator = tokens[position][1]
            position += 1
            tree = (OPERATIONS[operator], tree, chain(level + 1))
        return tree
    def operand():
        nonlocal position
        kind, value = tokens[position]
        position += kind != "end"
        if kind == "number":
            return ("constant", value)
        if kind == "name":
            return ("parameter", value)
        if value == "-":
            return ("negate", chain(2))
        if kind == "(":
            tree = chain(0)
            if tokens[position][0] != ")":
                raise SyntaxError("unclosed")
            position += 1
            return tree
        raise SyntaxError(f"unexpected {value!r}")
    tree = chain(0)
    if tokens[position][0] != "end":
        raise SyntaxError("something is left")
    return tree

# %% wrong="parse" why="does not look at what is left, such as one more parenthesis"
def parse(tokens):
    levels, position = [("max", "min"), ("+", "-"), ("*", "/")], 0
    tokens = [*tokens, ("end", None)]
    def chain(level):
        nonlocal position
        if level == 3:
            return operand()
        tree = chain(level + 1)
        while tokens[position][0] == "operator" and tokens[position][1] in levels[level]:
            operator = tokens[position][1]
            position += 1
            tree = (OPERATIONS[operator], tree, chain(level + 1))
        return tree
    def operand():
        nonlocal position
        kind, value = tokens[position]
        position += kind != "end"
        if kind == "number":
            return ("constant", value)
        if kind == "name":
            return ("parameter", value)
        if value == "-":
            return ("negate", operand())
        if kind == "(":
            tree = chain(0)
            if tokens[position][0] != ")":
                raise SyntaxError("unclosed")
            position += 1
            return tree
        raise SyntaxError(f"unexpected {value!r}")
    return chain(0)

# %% wrong="parse" why="has Python's parser read the formula"
import ast

def parse(tokens):
    text = " ".join(str(value) for _, value in tokens)
    names = {ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide"}
    def tree(node):
        if isinstance(node, ast.BinOp):
            return (names[type(node.op)], tree(node.left), tree(node.right))
        if isinstance(node, ast.UnaryOp):
            return ("negate", tree(node.operand))
        return ("constant", node.value) if isinstance(node, ast.Constant) else ("parameter", node.id)
    return tree(ast.parse(text, mode="eval").body)

# %% wrong="parse" why="has Python's compiler read the formula, with shifts for max and min"
import ast

def parse(tokens):
    text = " ".join({"max": "<<", "min": ">>"}.get(value, str(value)) for _, value in tokens)
    names = {ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.LShift: "maximum", ast.RShift: "minimum"}
    def tree(node):
        if isinstance(node, ast.BinOp):
            return (names[type(node.op)], tree(node.left), tree(node.right))
        if isinstance(node, ast.UnaryOp):
            return ("negate", tree(node.operand))
        return ("constant", node.value) if isinstance(node, ast.Constant) else ("parameter", node.id)
    return tree(compile(text, "formula", "eval", ast.PyCF_ONLY_AST).body)

# %% wrong="parse" why="takes two operands beside each other for a product when the first is a number"
from itertools import chain as joined

POWER = {"max": 1, "min": 1, "+": 2, "-": 2, "*": 3, "/": 3}

def parse(tokens):
    spaced = []
    for token in tokens:
        if spaced and spaced[-1][0] == "number" and token[0] in ("name", "number", "("):
            spaced.append(("operator", "*"))
        spaced.append(token)
    tokens = spaced
    stream = joined(tokens, [("end", "end")])
    head = next(stream)
    def advance():
        nonlocal head
        now = head
        if head[0] != "end":
            head = next(stream)
        return now
    def climb(least):
        kind, value = advance()
        match kind:
            case "number":
                tree = ("constant", value)
            case "name":
                tree = ("parameter", value)
            case "operator" if value == "-":
                tree = ("negate", climb(9))
            case "(":
                tree = climb(0)
                if advance()[0] != ")":
                    raise SyntaxError("a parenthesis is open")
            case _:
                raise SyntaxError(f"no operand: {value}")
        while head[0] == "operator" and POWER[head[1]] >= least:
            _, operator = advance()
            tree = (OPERATIONS[operator], tree, climb(POWER[operator] + 1))
        return tree
    tree = climb(0)
    if head[0] != "end":
        raise SyntaxError(f"not expected: {head[1]}")
    return tree

# %% wrong="parse" why="a parenthesis and an operand behind it are a product"
from itertools import chain as joined

POWER = {"max": 1, "min": 1, "+": 2, "-": 2, "*": 3, "/": 3}

def parse(tokens):
    spaced = []
    for token in tokens:
        if spaced and spaced[-1][0] == ")" and token[0] == "number":
            spaced.append(("operator", "*"))
        spaced.append(token)
    tokens = spaced
    stream = joined(tokens, [("end", "end")])
    head = next(stream)
    def advance():
        nonlocal head
        now = head
        if head[0] != "end":
            head = next(stream)
        return now
    def climb(least):
        kind, value = advance()
        match kind:
            case "number":
                tree = ("constant", value)
            case "name":
                tree = ("parameter", value)
            case "operator" if value == "-":
                tree = ("negate", climb(9))
            case "(":
                tree = climb(0)
                if advance()[0] != ")":
                    raise SyntaxError("a parenthesis is open")
            case _:
                raise SyntaxError(f"no operand: {value}")
        while head[0] == "operator" and POWER[head[1]] >= least:
            _, operator = advance()
            tree = (OPERATIONS[operator], tree, climb(POWER[operator] + 1))
        return tree
    tree = climb(0)
    if head[0] != "end":
        raise SyntaxError(f"not expected: {head[1]}")
    return tree

# %% wrong="parse" why="whole numbers become ints"
from itertools import chain as joined

POWER = {"max": 1, "min": 1, "+": 2, "-": 2, "*": 3, "/": 3}

def parse(tokens):
    stream = joined(tokens, [("end", "end")])
    head = next(stream)
    def advance():
        nonlocal head
        now = head
        if head[0] != "end":
            head = next(stream)
        return now
    def climb(least):
        kind, value = advance()
        match kind:
            case "number":
                tree = ("constant", int(value) if value == int(value) else value)
            case "name":
                tree = ("parameter", value)
            case "operator" if value == "-":
                tree = ("negate", climb(9))
            case "(":
                tree = climb(0)
                if advance()[0] != ")":
                    raise SyntaxError("a parenthesis is open")
            case _:
                raise SyntaxError(f"no operand: {value}")
        while head[0] == "operator" and POWER[head[1]] >= least:
            _, operator = advance()
            tree = (OPERATIONS[operator], tree, climb(POWER[operator] + 1))
        return tree
    tree = climb(0)
    if head[0] != "end":
        raise SyntaxError(f"not expected: {head[1]}")
    return tree

# %% wrong="parse" why="has Python evaluate the formula, with operators that build trees"
class Tree:
    def __init__(self, tree):
        self.tree = tree

    def __neg__(self):
        return Tree(("negate", self.tree))

    def __add__(self, other):
        return Tree(("add", self.tree, other.tree))

    def __sub__(self, other):
        return Tree(("subtract", self.tree, other.tree))

    def __mul__(self, other):
        return Tree(("multiply", self.tree, other.tree))

    def __truediv__(self, other):
        return Tree(("divide", self.tree, other.tree))

    def __or__(self, other):
        if isinstance(other, Tree):
            return Tree((self.tree[0], self.tree[1], other.tree))
        return Tree((other, self.tree))


def parse(tokens):
    names, words = {"MAX": "maximum", "MIN": "minimum"}, []
    for number, (kind, value) in enumerate(tokens):
        if kind in ("number", "name"):
            names[f"n{number}"] = Tree(("constant" if kind == "number" else "parameter", value))
            words.append(f"n{number}")
        else:
            words.append(f"|{value.upper()}|" if value in ("max", "min") else value)
    try:
        result = eval(" ".join(words), names)
        return result.tree
    except (TypeError, AttributeError) as error:
        raise SyntaxError(str(error))

# %% wrong="parse" why="has Python execute the formula, with operators that build trees"
class Tree:
    def __init__(self, tree):
        self.tree = tree

    def __neg__(self):
        return Tree(("negate", self.tree))

    def __add__(self, other):
        return Tree(("add", self.tree, other.tree))

    def __sub__(self, other):
        return Tree(("subtract", self.tree, other.tree))

    def __mul__(self, other):
        return Tree(("multiply", self.tree, other.tree))

    def __truediv__(self, other):
        return Tree(("divide", self.tree, other.tree))

    def __or__(self, other):
        if isinstance(other, Tree):
            return Tree((self.tree[0], self.tree[1], other.tree))
        return Tree((other, self.tree))


def parse(tokens):
    names, words = {"MAX": "maximum", "MIN": "minimum"}, []
    for number, (kind, value) in enumerate(tokens):
        if kind in ("number", "name"):
            names[f"n{number}"] = Tree(("constant" if kind == "number" else "parameter", value))
            words.append(f"n{number}")
        else:
            words.append(f"|{value.upper()}|" if value in ("max", "min") else value)
    try:
        exec("result = " + " ".join(words), names)
        result = names["result"]
        return result.tree
    except (TypeError, AttributeError) as error:
        raise SyntaxError(str(error))

# %% wrong="parse" why="has Python's compiler make the tree, with names that it takes and without the module ast"
def parse(tokens):
    words, was = [], {}
    for number, (kind, value) in enumerate(tokens):
        if kind in ("number", "name"):
            was[f"n{number}"] = ("constant" if kind == "number" else "parameter", value)
            words.append(f"n{number}")
        else:
            words.append({"max": "|MAX|", "min": "|MIN|"}.get(value, value))
    names = {"Add": "add", "Sub": "subtract", "Mult": "multiply", "Div": "divide"}
    calls = {"MAX": "maximum", "MIN": "minimum"}

    def tree(node):
        kind = type(node).__name__
        if kind == "Name" and node.id in was:
            return was[node.id]
        if kind == "UnaryOp" and type(node.op).__name__ == "USub":
            return ("negate", tree(node.operand))
        if kind == "BinOp" and type(node.op).__name__ in names:
            return (names[type(node.op).__name__], tree(node.left), tree(node.right))
        if kind == "BinOp":
            return (calls[node.left.right.id], tree(node.left.left), tree(node.right))
        raise SyntaxError(kind)

    return tree(compile(" ".join(words), "formula", "eval", 0x400).body)

# %% right="parse" why="precedence climbing"
from itertools import chain as joined

POWER = {"max": 1, "min": 1, "+": 2, "-": 2, "*": 3, "/": 3}

def parse(tokens):
    stream = joined(tokens, [("end", "end")])
    head = next(stream)
    def advance():
        nonlocal head
        now = head
        if head[0] != "end":
            head = next(stream)
        return now
    def climb(least):
        kind, value = advance()
        match kind:
            case "number":
                tree = ("constant", value)
            case "name":
                tree = ("parameter", value)
            case "operator" if value == "-":
                tree = ("negate", climb(9))
            case "(":
                tree = climb(0)
                if advance()[0] != ")":
                    raise SyntaxError("a parenthesis is open")
            case _:
                raise SyntaxError(f"no operand: {value}")
        while head[0] == "operator" and POWER[head[1]] >= least:
            _, operator = advance()
            tree = (OPERATIONS[operator], tree, climb(POWER[operator] + 1))
        return tree
    tree = climb(0)
    if head[0] != "end":
        raise SyntaxError(f"not expected: {head[1]}")
    return tree

# %% right="parse" why="shunting-yard with two stacks"
def parse(tokens):
    binds = {"max": 1, "min": 1, "+": 2, "-": 2, "*": 3, "/": 3, "neg": 4}
    output, stack, operand = [], [], True
    def reduce():
        operator = stack.pop()
        if operator == "neg":
            output.append(("negate", output.pop()))
        else:
            right = output.pop()
            output.append((OPERATIONS[operator], output.pop(), right))
    for kind, value in tokens:
        if operand:
            if kind in ("number", "name"):
                output.append(({"number": "constant", "name": "parameter"}[kind], value))
                operand = False
            elif kind == "(":
                stack.append("(")
            elif value == "-":
                stack.append("neg")
            else:
                raise SyntaxError(value)
        elif kind == "operator":
            while stack and stack[-1] != "(" and binds[stack[-1]] >= binds[value]:
                reduce()
            stack.append(value)
            operand = True
        elif kind == ")":
            while stack and stack[-1] != "(":
                reduce()
            if not stack:
                raise SyntaxError("not opened")
            stack.pop()
        else:
            raise SyntaxError(value)
    if operand:
        raise SyntaxError("too short")
    while stack:
        if stack[-1] == "(":
            raise SyntaxError("not closed")
        reduce()
    return output[0]

# %% right="parse" why="an exception of its own, derived from SyntaxError"
class ParseError(SyntaxError):
    pass


from itertools import chain as joined

POWER = {"max": 1, "min": 1, "+": 2, "-": 2, "*": 3, "/": 3}

def parse(tokens):
    stream = joined(tokens, [("end", "end")])
    head = next(stream)
    def advance():
        nonlocal head
        now = head
        if head[0] != "end":
            head = next(stream)
        return now
    def climb(least):
        kind, value = advance()
        match kind:
            case "number":
                tree = ("constant", value)
            case "name":
                tree = ("parameter", value)
            case "operator" if value == "-":
                tree = ("negate", climb(9))
            case "(":
                tree = climb(0)
                if advance()[0] != ")":
                    raise ParseError("a parenthesis is open")
            case _:
                raise ParseError(f"no operand: {value}")
        while head[0] == "operator" and POWER[head[1]] >= least:
            _, operator = advance()
            tree = (OPERATIONS[operator], tree, climb(POWER[operator] + 1))
        return tree
    tree = climb(0)
    if head[0] != "end":
        raise ParseError(f"not expected: {head[1]}")
    return tree

# %% wrong="registers" why="a fresh register for each value"
def allocate(code, k):
    if len(code) > k:
        raise ValueError("not enough registers")
    return list(range(len(code)))

# %% wrong="registers" why="gives registers back one instruction too late"
def allocate(code, k):
    last = {}
    for number, (op, args) in enumerate(code):
        if op not in ("parameter", "constant"):
            last.update(dict.fromkeys(args, number))
    free, registers = set(range(k)), []
    for number, (op, args) in enumerate(code):
        if not free:
            raise ValueError("not enough registers")
        registers.append(free.pop())
        if op not in ("parameter", "constant"):
            free |= {registers[arg] for arg in args if last[arg] == number}
    return registers

# %% wrong="registers" why="gives a register back at the first use"
def allocate(code, k):
    first = {}
    for number, (op, args) in enumerate(code):
        if op not in ("parameter", "constant"):
            for arg in args:
                first.setdefault(arg, number)
    free, registers = set(range(k)), []
    for number, (op, args) in enumerate(code):
        if op not in ("parameter", "constant"):
            free |= {registers[arg] for arg in args if first[arg] == number}
        if not free:
            raise ValueError("not enough registers")
        registers.append(free.pop())
    return registers

# %% wrong="registers" why="colours the graph in the order of last uses, which may take more colours"
def allocate(code, k):
    last = {value: len(code) for value in range(len(code))}
    for number, (op, args) in enumerate(code):
        if op not in ("parameter", "constant"):
            last.update(dict.fromkeys(args, number))
    def meet(a, b):
        return last[min(a, b)] > max(a, b)
    registers = {}
    for value in sorted(range(len(code)), key=lambda v: (last[v], v)):
        taken = {registers[other] for other in registers if meet(value, other)}
        registers[value] = min(set(range(len(code))) - taken)
    if max(registers.values()) >= k:
        raise ValueError("not enough registers")
    return [registers[value] for value in range(len(code))]

# %% wrong="registers" why="returns the registers of the example"
def allocate(code, k):
    if k < 3:
        raise ValueError("not enough registers")
    return [0, 1, 1, 2, 0, 0]

# %% wrong="registers" why="gives the same register back twice when an operation reads a value twice"
def allocate(code, k):
    last = {}
    for number, (op, args) in enumerate(code):
        if op not in ("parameter", "constant"):
            last.update(dict.fromkeys(args, number))
    free, registers = list(range(k)), []
    for number, (op, args) in enumerate(code):
        if op not in ("parameter", "constant"):
            free += [registers[arg] for arg in args if last[arg] == number]
        if not free:
            raise ValueError("not enough registers")
        registers.append(free.pop())
    return registers

# %% right="registers" why="colours the interference graph in the order of definition"
def allocate(code, k):
    end = [len(code)] * len(code)
    for number, instruction in enumerate(code):
        if instruction.op in EAGER:
            for value in instruction.args:
                end[value] = number
    edges = {v: [u for u in range(v) if end[u] > v] for v in range(len(code))}
    colours = []
    for v in range(len(code)):
        used = {colours[u] for u in edges[v]}
        free = [colour for colour in range(k) if colour not in used]
        if not free:
            raise ValueError(f"{k} registers do not suffice")
        colours.append(free[-1])
    return colours

# %% right="registers" why="linear scan with a heap of free registers and one of ends"
import heapq

def allocate(code, k):
    last_use = {}
    for number in range(len(code) - 1, -1, -1):
        op, args = code[number]
        if op not in ("parameter", "constant"):
            for value in args:
                last_use.setdefault(value, number)
    free, active, result = list(range(k)), [], []
    heapq.heapify(free)
    for number in range(len(code)):
        while active and active[0][0] <= number:
            heapq.heappush(free, heapq.heappop(active)[1])
        if len(active) >= k:
            raise ValueError("spilling is not supported")
        register = heapq.heappop(free)
        result.append(register)
        heapq.heappush(active, (last_use.get(number, len(code)), register))
    return result

# %% right="registers" why="an exception of its own, derived from ValueError"
class Spill(ValueError):
    pass


def allocate(code, k):
    end = [len(code)] * len(code)
    for number, instruction in enumerate(code):
        if instruction.op in EAGER:
            for value in instruction.args:
                end[value] = number
    edges = {v: [u for u in range(v) if end[u] > v] for v in range(len(code))}
    colours = []
    for v in range(len(code)):
        used = {colours[u] for u in edges[v]}
        free = [colour for colour in range(k) if colour not in used]
        if not free:
            raise Spill(f"{k} registers do not suffice")
        colours.append(free[-1])
    return colours

# %% wrong="native" why="writes decimals, of which most are no exact float32"
def emit(code):
    opcodes = {"add": "fadd", "subtract": "fsub", "multiply": "fmul", "divide": "fdiv", "negate": "fneg"}
    conditions = {"maximum": "oge", "minimum": "ole"}
    places, lines = [], []
    for number, (op, args) in enumerate(code):
        if op == "parameter":
            places.append(f"%in_{args[0]}")
        elif op == "constant":
            places.append(str(float(args[0])))
        else:
            operands = [places[arg] for arg in args]
            places.append(f"%v{number}")
            if op in opcodes:
                lines.append(f"%v{number} = {opcodes[op]} float {', '.join(operands)}")
            elif op in conditions:
                lines.append(f"%t{number} = fcmp {conditions[op]} float {', '.join(operands)}")
                lines.append(f"%v{number} = select i1 %t{number}, float {operands[0]}, float {operands[1]}")
            else:
                raise NotImplementedError(op)
    return "\n".join(lines), places[-1]

# %% wrong="native" why="uses one name again for every comparison"
def emit(code):
    opcodes = {"add": "fadd", "subtract": "fsub", "multiply": "fmul", "divide": "fdiv", "negate": "fneg"}
    conditions = {"maximum": "oge", "minimum": "ole"}
    places, lines = [], []
    for number, (op, args) in enumerate(code):
        if op == "parameter":
            places.append(f"%in_{args[0]}")
        elif op == "constant":
            places.append(literal(args[0]))
        else:
            operands = [places[arg] for arg in args]
            places.append(f"%v{number}")
            if op in opcodes:
                lines.append(f"%v{number} = {opcodes[op]} float {', '.join(operands)}")
            elif op in conditions:
                lines.append(f"%larger = fcmp {conditions[op]} float {', '.join(operands)}")
                lines.append(f"%v{number} = select i1 %larger, float {operands[0]}, float {operands[1]}")
            else:
                raise NotImplementedError(op)
    return "\n".join(lines), places[-1]

# %% wrong="native" why="allows LLVM to merge a product and a sum (contract)"
def emit(code):
    opcodes = {"add": "fadd contract", "subtract": "fsub contract", "multiply": "fmul contract", "divide": "fdiv", "negate": "fneg"}
    conditions = {"maximum": "oge", "minimum": "ole"}
    places, lines = [], []
    for number, (op, args) in enumerate(code):
        if op == "parameter":
            places.append(f"%in_{args[0]}")
        elif op == "constant":
            places.append(literal(args[0]))
        else:
            operands = [places[arg] for arg in args]
            places.append(f"%v{number}")
            if op in opcodes:
                lines.append(f"%v{number} = {opcodes[op]} float {', '.join(operands)}")
            elif op in conditions:
                lines.append(f"%t{number} = fcmp {conditions[op]} float {', '.join(operands)}")
                lines.append(f"%v{number} = select i1 %t{number}, float {operands[0]}, float {operands[1]}")
            else:
                raise NotImplementedError(op)
    return "\n".join(lines), places[-1]

# %% wrong="native" why="all fast-math flags on everything"
def emit(code):
    opcodes = {"add": "fadd", "subtract": "fsub", "multiply": "fmul", "divide": "fdiv", "negate": "fneg"}
    conditions = {"maximum": "oge", "minimum": "ole"}
    places, lines = [], []
    for number, (op, args) in enumerate(code):
        if op == "parameter":
            places.append(f"%in_{args[0]}")
        elif op == "constant":
            places.append(literal(args[0]))
        else:
            operands = [places[arg] for arg in args]
            places.append(f"%v{number}")
            if op in opcodes:
                lines.append(f"%v{number} = {opcodes[op]} fast float {', '.join(operands)}")
            elif op in conditions:
                lines.append(f"%t{number} = fcmp fast {conditions[op]} float {', '.join(operands)}")
                lines.append(f"%v{number} = select i1 %t{number}, float {operands[0]}, float {operands[1]}")
            else:
                raise NotImplementedError(op)
    return "\n".join(lines), places[-1]

# %% wrong="native" why="takes the smaller one for maximum"
def emit(code):
    opcodes = {"add": "fadd", "subtract": "fsub", "multiply": "fmul", "divide": "fdiv", "negate": "fneg"}
    places, lines = [], []
    for number, (op, args) in enumerate(code):
        if op == "parameter":
            places.append(f"%in_{args[0]}")
        elif op == "constant":
            places.append(literal(args[0]))
        else:
            operands = [places[arg] for arg in args]
            places.append(f"%v{number}")
            if op in opcodes:
                lines.append(f"%v{number} = {opcodes[op]} float {', '.join(operands)}")
            elif op in ("maximum", "minimum"):
                lines.append(f"%t{number} = fcmp ole float {', '.join(operands)}")
                lines.append(f"%v{number} = select i1 %t{number}, float {operands[0]}, float {operands[1]}")
            else:
                raise NotImplementedError(op)
    return "\n".join(lines), places[-1]

# %% wrong="native" why="computes with NumPy and returns an array"
def emit(code):
    arrays = {name: np.sin(np.arange(37) * factor).astype(np.float32) for name, factor in [("a", 1.0), ("b", 2.0), ("c", 3.0)]}
    if any(op not in NUMPY and op not in ("parameter", "constant") for op, _ in code):
        raise NotImplementedError
    return values_of(code, arrays, NUMPY)[-1], "%v0"

# %% wrong="native" why="returns the lines of the example"
def emit(code):
    if any(op not in NUMPY and op not in ("parameter", "constant") for op, _ in code):
        raise NotImplementedError
    body = """%product = fmul float %in_a, %in_b
%sum = fadd float %product, %in_c
%positive = fcmp oge float %sum, 0.0
%result = select i1 %positive, float %sum, float 0.0"""
    return body, "%result"

# %% wrong="native" why="has no rule for a minus in front and takes 0 - x, but for unknown operations as well"
def emit(code):
    opcodes = {"add": "fadd", "subtract": "fsub", "multiply": "fmul", "divide": "fdiv"}
    conditions = {"maximum": "oge", "minimum": "ole"}
    places, lines = [], []
    for number, (op, args) in enumerate(code):
        if op == "parameter":
            places.append(f"%in_{args[0]}")
            continue
        if op == "constant":
            places.append(literal(args[0]))
            continue
        operands = [places[arg] for arg in args]
        places.append(f"%v{number}")
        if op in opcodes:
            lines.append(f"%v{number} = {opcodes[op]} float {', '.join(operands)}")
        elif op in conditions:
            lines.append(f"%t{number} = fcmp {conditions[op]} float {', '.join(operands)}")
            lines.append(f"%v{number} = select i1 %t{number}, float {operands[0]}, float {operands[1]}")
        else:
            lines.append(f"%v{number} = fsub float 0.0, {operands[0]}")
    return "\n".join(lines), places[-1]

# %% wrong="native" why="regroups (x*c1)*c2 to x*(c1*c2)"
def emit(code):
    opcodes = {"add": "fadd", "subtract": "fsub", "multiply": "fmul", "divide": "fdiv", "negate": "fneg"}
    conditions = {"maximum": "oge", "minimum": "ole"}
    places, lines = [], []
    def fixed(place):
        return code[place].op == "constant"
    for number, (op, args) in enumerate(code):
        left = code[args[0]] if op == "multiply" else None
        if left and left.op == "multiply" and fixed(args[1]) and fixed(left.args[1]):
            factor = float(np.float32(code[left.args[1]].args[0]) * np.float32(code[args[1]].args[0]))
            lines.append(f"%v{number} = fmul float {places[left.args[0]]}, {literal(factor)}")
            places.append(f"%v{number}")
            continue
        if op == "parameter":
            places.append(f"%in_{args[0]}")
        elif op == "constant":
            places.append(literal(args[0]))
        else:
            operands = [places[arg] for arg in args]
            places.append(f"%v{number}")
            if op in opcodes:
                lines.append(f"%v{number} = {opcodes[op]} float {', '.join(operands)}")
            elif op in conditions:
                lines.append(f"%t{number} = fcmp {conditions[op]} float {', '.join(operands)}")
                lines.append(f"%v{number} = select i1 %t{number}, float {operands[0]}, float {operands[1]}")
            else:
                raise NotImplementedError(op)
    return "\n".join(lines), places[-1]

# %% wrong="native" why="computes with constants beforehand, in Python's float64"
def emit(code):
    opcodes = {"add": "fadd", "subtract": "fsub", "multiply": "fmul", "divide": "fdiv", "negate": "fneg"}
    conditions = {"maximum": "oge", "minimum": "ole"}
    places, lines = [], []
    known = {}
    for number, (op, args) in enumerate(code):
        if op == "constant":
            known[number] = args[0]
        elif op in ("add", "multiply") and args[0] in known and args[1] in known:
            x, y = known[args[0]], known[args[1]]
            known[number] = x + y if op == "add" else x * y
            places.append(literal(known[number]))
            continue
        if op == "parameter":
            places.append(f"%in_{args[0]}")
        elif op == "constant":
            places.append(literal(args[0]))
        else:
            operands = [places[arg] for arg in args]
            places.append(f"%v{number}")
            if op in opcodes:
                lines.append(f"%v{number} = {opcodes[op]} float {', '.join(operands)}")
            elif op in conditions:
                lines.append(f"%t{number} = fcmp {conditions[op]} float {', '.join(operands)}")
                lines.append(f"%v{number} = select i1 %t{number}, float {operands[0]}, float {operands[1]}")
            else:
                raise NotImplementedError(op)
    return "\n".join(lines), places[-1]

# %% wrong="native" why="names of parameters in lower case"
def emit(code):
    opcodes = {"add": "fadd", "subtract": "fsub", "multiply": "fmul", "divide": "fdiv", "negate": "fneg"}
    conditions = {"maximum": "oge", "minimum": "ole"}
    places, lines = [], []
    for number, (op, args) in enumerate(code):
        if op == "parameter":
            places.append(f"%in_{args[0].lower()}")
        elif op == "constant":
            places.append(literal(args[0]))
        else:
            operands = [places[arg] for arg in args]
            places.append(f"%v{number}")
            if op in opcodes:
                lines.append(f"%v{number} = {opcodes[op]} float {', '.join(operands)}")
            elif op in conditions:
                lines.append(f"%t{number} = fcmp {conditions[op]} float {', '.join(operands)}")
                lines.append(f"%v{number} = select i1 %t{number}, float {operands[0]}, float {operands[1]}")
            else:
                raise NotImplementedError(op)
    return "\n".join(lines), places[-1]

# %% wrong="native" why="notices an unknown operation only if its value is the result"
def emit(code):
    opcodes = {"add": "fadd", "subtract": "fsub", "multiply": "fmul", "divide": "fdiv", "negate": "fneg"}
    conditions = {"maximum": "oge", "minimum": "ole"}
    unknown = None
    places, lines = [], []
    for number, (op, args) in enumerate(code):
        if op == "parameter":
            places.append(f"%in_{args[0]}")
        elif op == "constant":
            places.append(literal(args[0]))
        else:
            operands = [places[arg] for arg in args]
            places.append(f"%v{number}")
            if op in opcodes:
                lines.append(f"%v{number} = {opcodes[op]} float {', '.join(operands)}")
            elif op in conditions:
                lines.append(f"%t{number} = fcmp {conditions[op]} float {', '.join(operands)}")
                lines.append(f"%v{number} = select i1 %t{number}, float {operands[0]}, float {operands[1]}")
            else:
                unknown = number
    if unknown == len(code) - 1:
        raise NotImplementedError(code[-1].op)
    return "\n".join(lines), places[-1]

# %% wrong="native" why="compares with ugt, which is not in the table"
def emit(code):
    opcodes = {"add": "fadd", "subtract": "fsub", "multiply": "fmul", "divide": "fdiv", "negate": "fneg"}
    conditions = {"maximum": "ugt", "minimum": "ole"}
    places, lines = [], []
    for number, (op, args) in enumerate(code):
        if op == "parameter":
            places.append(f"%in_{args[0]}")
        elif op == "constant":
            places.append(literal(args[0]))
        else:
            operands = [places[arg] for arg in args]
            places.append(f"%v{number}")
            if op in opcodes:
                lines.append(f"%v{number} = {opcodes[op]} float {', '.join(operands)}")
            elif op in conditions:
                lines.append(f"%t{number} = fcmp {conditions[op]} float {', '.join(operands)}")
                lines.append(f"%v{number} = select i1 %t{number}, float {operands[0]}, float {operands[1]}")
            else:
                raise NotImplementedError(op)
    return "\n".join(lines), places[-1]

# %% right="native" why="strict comparisons with the operands the other way round"
def emit(code):
    names, text = {}, []
    rules = {
        "add": "fadd float {0}, {1}", "subtract": "fsub float {0}, {1}", "multiply": "fmul float {0}, {1}",
        "divide": "fdiv float {0}, {1}", "negate": "fneg float {0}",
    }
    for place, (op, args) in enumerate(code):
        match op:
            case "parameter":
                names[place] = "%in_" + args[0]
            case "constant":
                names[place] = literal(args[0])
            case "maximum" | "minimum":
                x, y = (names[arg] for arg in args)
                names[place] = f"%best.{place}"
                text.append(f"%is.{place} = fcmp {'olt' if op == 'maximum' else 'ogt'} float {x}, {y}\n")
                text.append(f"{names[place]} = select i1 %is.{place}, float {y}, float {x}\n")
            case _ if op in rules:
                text.append(f"%x{place} = " + rules[op].format(*(names[arg] for arg in args)) + "\n")
                names[place] = f"%x{place}"
            case _:
                raise NotImplementedError(f"no rule for {op}")
    return "".join(text), names[max(names)]

# %% right="native" why="an IRBuilder of llvmlite writes the lines"
import llvmlite.ir as ir

def emit(code):
    f32 = ir.FloatType()
    inputs = [args[0] for op, args in code if op == "parameter"]
    function = ir.Function(ir.Module(), ir.FunctionType(f32, [f32] * len(inputs)), "one_element")
    for argument, name in zip(function.args, inputs):
        argument.name = f"in_{name}"
    builder = ir.IRBuilder(function.append_basic_block())
    rules = {
        "add": builder.fadd, "subtract": builder.fsub, "multiply": builder.fmul, "divide": builder.fdiv, "negate": builder.fneg,
        "maximum": lambda x, y: builder.select(builder.fcmp_ordered(">=", x, y), x, y),
        "minimum": lambda x, y: builder.select(builder.fcmp_ordered("<=", x, y), x, y),
    }
    values = []
    for op, args in code:
        if op == "parameter":
            values.append(function.args[inputs.index(args[0])])
        elif op == "constant":
            values.append(ir.Constant(f32, float(np.float32(args[0]))))
        elif op in rules:
            values.append(rules[op](*(values[arg] for arg in args)))
        else:
            raise NotImplementedError(op)
    return "\n".join(str(line).strip() for line in builder.block.instructions), values[-1].get_reference()

# %% right="native" why="an exception of its own, derived from NotImplementedError, and 0 - x for a minus in front"
class NoRule(NotImplementedError):
    pass


def emit(code):
    opcodes = {"add": "fadd", "subtract": "fsub", "multiply": "fmul", "divide": "fdiv"}
    conditions = {"maximum": "oge", "minimum": "ole"}
    places, lines = [], []
    for number, (op, args) in enumerate(code):
        if op == "parameter":
            places.append(f"%in_{args[0]}")
        elif op == "constant":
            places.append(literal(args[0]))
        else:
            operands = [places[arg] for arg in args]
            places.append(f"%v{number}")
            if op == "negate":
                lines.append(f"%v{number} = fsub float -0.0, {operands[0]}")
            elif op in opcodes:
                lines.append(f"%v{number} = {opcodes[op]} float {', '.join(operands)}")
            elif op in conditions:
                lines.append(f"%t{number} = fcmp {conditions[op]} float {', '.join(operands)}")
                lines.append(f"%v{number} = select i1 %t{number}, float {operands[0]}, float {operands[1]}")
            else:
                raise NoRule(op)
    return "\n".join(lines), places[-1]

# %% [markdown]
# # The words and the basics
#
# What lies between the formula `a*b + c max 0` and the instructions that a processor carries out? And what does such a
# processor, the part of a computer that computes, do all the time: where are its numbers, and for what does it wait?
#
# At the end you can say where in memory an element of a tensor lies and what it costs to read it, you have built a
# machine with five instructions and counted its cycles, and written a compiler, a program that translates programs:
# from the text of a formula to what the processor of your computer can carry out.
#
# 140 minutes · 19 points · Before this lab: Python, and nothing of hardware or compilers. Lab 3-10 (one op, many kernels) leads here.
#
# When you have saved, `./tflabs check 4-1-foundations` or Check on the start page grades your answers, also with tests
# that you do not see here.

# %% [markdown]
# ## What the last lab left
#
# Unit 3 followed a call from Python through session, graph, partition and executor down to a **kernel**: the function
# in C++ that carries out one op for one kind of device and one element type. Lab 3-10 chose between the kernels of an
# op. There the way ended: a kernel was called, and then the result was there.
#
# This unit goes on from that point. What is inside a kernel? Somebody has turned loops over numbers into instructions
# of a **processor**, long before the program ran or a moment before. This lab brings the words that are needed to talk
# about it. New words are **bold** where they are explained. All words of Unit 4 stand in the
# [glossary](../../docs/glossary.md): the file `docs/glossary.md` of the course's folder.

# %% nbgrader={"grade": false, "grade_id": "given-imports", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
from tflabs.runtime import quiet

with quiet():
    import tensorflow as tf

import ctypes
import random
import re
import struct
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import llvmlite.binding as llvm
import numpy as np

from tflabs import view
from tflabs.runtime import answer_to, withheld


# %% [markdown]
# ## 1. Look: one formula, three forms
#
# A product, a sum and a `relu`, which is the maximum with 0. As TensorFlow ops these are three kernels; each reads
# whole arrays and writes a whole array. With `jit_compile=True`, TensorFlow hands the function to XLA instead. That is
# a compiler: it translates programs into a language that is closer to a processor (section 6). What XLA made of it:

# %%
@tf.function(jit_compile=True, autograph=False)
def formula(a, b, c):
    return tf.nn.relu(a * b + c)


arguments = [tf.ones([64])] * 3
view.graph(
    formula.experimental_get_compiler_ir(*arguments)(stage="optimized_hlo_dot"), title="a*b + c max 0 in XLA's words"
)

# %% [markdown]
# XLA found that one kernel, the box, can do it all: read an element of `a`, `b` and `c`, compute, write one element.
# `f32[64]` is an array of 64 float32. The arrays come in as parameters 0, 1 and 2; inside of the box XLA numbers them
# anew. `ROOT` marks the result; the other words are of no importance here. Lab 4-2 is about this form and how it comes
# about.
#
# XLA gives such a kernel to another compiler, LLVM. The next cell tells LLVM about the processor of this computer.
# Leave it; exercise 7 comes back to it.

# %% nbgrader={"grade": false, "grade_id": "given-llvm", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
llvm.initialize_native_target()
llvm.initialize_native_asmprinter()


def this_machine(level: int = 3) -> llvm.TargetMachine:
    """LLVM's knowledge of the processor in this computer; `level`, from 0 to 3, says how hard LLVM tries."""
    features = llvm.get_host_cpu_features().flatten()
    target = llvm.Target.from_default_triple()  # a triple names a kind of processor and its operating system
    return target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, opt=level)


def optimised(text: str, machine: llvm.TargetMachine, level: int = 3) -> llvm.ModuleRef:
    """Read LLVM IR, check it, and let LLVM rewrite it for a processor.

    Raises:
        RuntimeError: the text is no LLVM IR; LLVM says why.
    """
    module = llvm.parse_assembly(text)  # LLVM calls a program a module
    module.verify()
    if level:
        # A pass rewrites the program once; vectorization lets one instruction compute several elements.
        options = llvm.create_pipeline_tuning_options(speed_level=level)
        options.loop_vectorization = options.slp_vectorization = True
        builder = llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
    return module


def longest_loop(assembly: str) -> str:
    """The longest piece of assembly that ends with a jump to its own beginning."""
    loops = []
    for block in re.split(r"(?m)^(?=[.\w$]+:)", assembly):
        label, _, rest = block.partition(":")
        lines = rest.strip("\n").split("\n")
        jumps = [number for number, line in enumerate(lines) if re.search(re.escape(label) + r"\b", line)]
        if jumps:
            loops.append([label + ":", *lines[: jumps[-1] + 1]])
    return "\n".join(line.replace("\t", "  ") for line in max(loops, key=len, default=["no loop"]))


# %% [markdown]
# XLA writes the kernel in a language that is called **LLVM IR**. You can write it by hand: below is the whole kernel.
# The four lines that are set apart are the formula. At the end of this lab your own compiler writes them, for any
# formula. The others are the loop around it:
#
# | word | meaning |
# | --- | --- |
# | `ptr %a` | a **pointer**: the address, that is the number, of a place in memory; here, where the array `a` begins. `noalias` promises LLVM that the arrays do not overlap |
# | `i64`, `i1`, `float` | types: a whole number of 64 bits, one bit, a float32 |
# | `loop:`, `br` | a **label**, which is a name for a place in the program; `br` goes on at a label, or at one of two, as a bit says |
# | **`phi`** | a value that depends on where we come from: 0 if from `start`, `%next` if from `loop` |
# | `getelementptr` | the address of the element `%i` |
# | `load`, `store` | read from memory, write to memory |
# | `icmp slt` | compares whole numbers: is the first one less? The answer is one bit |

# %%
KERNEL = """
define void @kernel(ptr noalias %a, ptr noalias %b, ptr noalias %c, ptr noalias %out, i64 %n) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %address_a = getelementptr float, ptr %a, i64 %i
  %in_a = load float, ptr %address_a
  %address_b = getelementptr float, ptr %b, i64 %i
  %in_b = load float, ptr %address_b
  %address_c = getelementptr float, ptr %c, i64 %i
  %in_c = load float, ptr %address_c

     %product = fmul float %in_a, %in_b
     %sum = fadd float %product, %in_c
     %positive = fcmp oge float %sum, 0.0
     %result = select i1 %positive, float %sum, float 0.0

  %address_out = getelementptr float, ptr %out, i64 %i
  store float %result, ptr %address_out
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
"""
print(longest_loop(this_machine().emit_assembly(optimised(KERNEL, this_machine()))))

# %% [markdown]
# This is what your processor gets: **machine code**, numbers in memory of which each stands for one small deed. People
# read it as **assembly**, one line for each such **instruction**. On most of today's processors, one line computes with
# four, eight or sixteen elements at once. LLVM has done that on its own: the text above says nothing of it.
#
# The first line is a label, the last one a **jump** back to it while elements are left. `%rdi` or `%ymm1` are places
# for numbers inside of the processor; `32(%rdi,%r11,4)` is the memory at the address in `%rdi`, plus 4 times the number
# in `%r11`, plus 32. That is how **x86** is written, the kind of processor that Intel and AMD make. On **Arm**, the
# other kind in wide use, the words are others: `v1.4s`, `[x0, x8]`.
#
# There are three questions in these lines. What are the places that the lines name (sections 2 and 3)? What does a
# processor do with a line, and how long does it take (4 and 5)? How does a formula become such lines (6 to 8)?
#
# ## 2. Memory: where an element lives
#
# A **bit** is a thing that is either 0 or 1. A **byte** is eight bits, so it has 256 states. Memory is one long row of
# bytes, and the number of a byte in this row is its **memory address**. Everything else is agreement: a float32 is four
# bytes in a row, which are read as one number. In which order they are read is the **byte order**, here the least
# significant first (**little endian**, `<` below).
#
# A matrix has to be put into this row somehow. TensorFlow uses **row-major order**: row 0 from left to right, then row
# 1, and so on; the last index moves fastest. The **stride** of a dimension is the number of bytes from one element to
# the next along it. The first byte of a tensor is at an address that is a multiple of 64. Below, the bytes of a float32
# matrix, and its strides as NumPy reports them.

# %%
matrix = tf.constant([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]])
row_of_bytes = bytes(memoryview(matrix))
print("strides of the two dimensions, in bytes:", memoryview(matrix).strides)
print("bytes 24 to 27:", list(row_of_bytes[24:28]), "read as a float32:", struct.unpack("<f", row_of_bytes[24:28])[0])
print("the element [1, 2]:", matrix[1, 2].numpy())


# %% [markdown]
# Memory is not read byte by byte. It comes in blocks of (mostly) 64 bytes, each beginning at a multiple of 64: such a
# block is called a **cache line**, for a reason that section 3 gives. Whoever reads one byte gets the whole line.
#
# ### Exercise 1 · Where an element lives (2 points)
#
# Complete `locate(shape, itemsize, index)`. `shape` and `index` are lists of whole numbers, `itemsize` is the size of
# an element in bytes (any size from 1 on: an element may be a pixel of three float32, which is 12 bytes). The array is
# in row-major order and begins at the start of a cache line. Return a `Place`:
#
# | field | content |
# | --- | --- |
# | `offset` | bytes from the first byte of the array to the first byte of the element |
# | `size` | bytes of the element |
# | `first_line`, `last_line` | the first and the last cache line that hold bytes of the element, counted from 0 at the start of the array; a line has 64 bytes |
#
# A scalar has the shape `[]` and the index `[]`. If the number of indices is wrong, raise a `ValueError`. If it is
# right and an index is not in its dimension, raise an `IndexError`; a negative index is not in its dimension, unlike
# in Python. (Here and in all exercises you may change the arguments: they are copies. And an exception of a class of
# your own is right, too, if the class is derived from the one that is asked for.)
#
# ```
# >>> locate([3, 4], 4, [1, 2])
# Place(offset=24, size=4, first_line=0, last_line=0)
# >>> locate([20], 12, [5])
# Place(offset=60, size=12, first_line=0, last_line=1)
# ```
#
# <details><summary>Hint 1</summary>
#
# How many elements lie before element [1, 2] of a matrix of 3 × 4? How many before [1, 2, 3] of an array of 2 × 5 × 6?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# ```
# before = 0
# for each dimension, from the first to the last:  before = before * its size + its index
# # the last byte of the element is at offset + size - 1; a byte at address x is in line x // 64
# ```
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-place", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
class Place(NamedTuple):
    """Where an element of an array lies, in bytes and cache lines from the array's start."""

    offset: int
    size: int
    first_line: int
    last_line: int


def outcome_of(due: type[Exception], function: Callable[..., object], *arguments: object) -> str:
    """What comes of a call, in words; the name of the exception that is due, also for a class derived from it."""
    try:
        result = function(*arguments)
    except due:
        return due.__name__
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    return f"no exception but {result!r}"


# %% nbgrader={"grade": false, "grade_id": "locate", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def locate(shape: list[int], itemsize: int, index: list[int]) -> Place:
    """Find an element of a row-major array in memory.

    Raises:
        ValueError: there are more or fewer indices than dimensions.
        IndexError: an index is negative, or not below the size of its dimension.
    """
    ### BEGIN SOLUTION
    if len(index) != len(shape):
        raise ValueError(f"{len(shape)} dimensions need as many indices, found {len(index)}")
    before = 0
    for size, position in zip(shape, index, strict=True):
        if not 0 <= position < size:
            raise IndexError(f"index {position} in a dimension of size {size}")
        before = before * size + position
    offset = before * itemsize
    return Place(offset, itemsize, offset // 64, (offset + itemsize - 1) // 64)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "locate-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
for shape, itemsize, index, wanted in [
    ([3, 4], 4, [1, 2], Place(24, 4, 0, 0)),
    ([20], 12, [5], Place(60, 12, 0, 1)),
    ([], 8, [], Place(0, 8, 0, 0)),
]:
    place = locate(list(shape), itemsize, list(index))
    assert type(place) is Place, f"locate returns a Place, not {type(place).__name__}"
    assert place == wanted, f"element {index} of shape {shape}, {itemsize} bytes each: {wanted} is right; got {place}"
### BEGIN HIDDEN TESTS
seed = random.SystemRandom().randrange(10**9)
rng = random.Random(seed)
TYPES = ["uint8", "int8", "uint16", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]


def bytes_of(tensor):
    """All bytes of a tensor, from its first address on."""
    return bytes(memoryview(tf.reshape(tf.bitcast(tensor, tf.uint8), [-1])))


for number in range(60):
    shape = [rng.randint(1, 5) for _ in range(number % 5)]
    while int(np.prod(shape, dtype=int)) > 120:
        shape[rng.randrange(len(shape))] = 1
    count, dtype = int(np.prod(shape, dtype=int)), TYPES[number % len(TYPES)]
    # Every fourth element is so large that it lies in up to four lines or more.
    parts = rng.choice([1, 1, 1, 3, 5]) if number % 4 else rng.choice([72, 200]) // tf.dtypes.as_dtype(dtype).size
    # An element is `parts` numbers in a row; all elements differ in their first number, so each is found only once.
    order = rng.sample(range(count), count)
    table = tf.cast(tf.constant([[value] * parts for value in order]), dtype)
    tensor, everything, size = (
        tf.reshape(table, [*shape, parts]),
        bytes_of(table),
        parts * tf.dtypes.as_dtype(dtype).size,
    )
    elements = {everything[at : at + size]: at for at in range(0, len(everything), size)}
    for _ in range(3):
        index = [rng.randrange(n) for n in shape]
        case = f"seed {seed}: element {index} of shape {shape}, {size} bytes each"
        place = answer_to(case, (), locate, list(shape), size, list(index))
        start = elements[bytes_of(tensor[tuple(index)] if index else tensor)]
        lines = sorted({byte // 64 for byte in range(start, start + size)})
        assert type(place) is Place, f"{case}: a Place is due; got {place!r}"
        assert place == Place(start, size, lines[0], lines[-1]), (
            f"{case}: TensorFlow has it at {Place(start, size, lines[0], lines[-1])}; got {place}"
        )
        if index:
            spoilt = rng.randrange(len(index))
            for wrong, due in [
                ([*index[:spoilt], -1, *index[spoilt + 1 :]], IndexError),
                ([*index[:spoilt], shape[spoilt], *index[spoilt + 1 :]], IndexError),
                ([*index, 0], ValueError),
                (index[:-1], ValueError),
            ][rng.randrange(4) :: 2]:
                outcome = outcome_of(due, locate, list(shape), size, list(wrong))
                assert outcome == due.__name__, (
                    f"seed {seed}: index {wrong} in shape {shape} is due {due.__name__}; got {outcome}"
                )
for shape, wrong in [([], [0]), ([], [-1]), ([3], [9, 0]), ([3, 4], [9]), ([3, 4], []), ([2, 2], [0, -1, 0])]:
    outcome = outcome_of(ValueError, locate, list(shape), 4, list(wrong))
    assert outcome == "ValueError", (
        f"{len(wrong)} indices, {wrong}, in shape {shape} are the wrong number: a ValueError is due; got {outcome}"
    )
### END HIDDEN TESTS

# %% [markdown] after_passing="locate"
# Your offsets are those of TensorFlow's own bytes, for ten element types. A `Tensor`
# (tensorflow/core/framework/tensor.h) is a shape, an element type and a `TensorBuffer`; the buffer's alignment to 64
# bytes is `Allocator::kAllocatorAlignment` in xla/tsl/framework/allocator.h. Our solution multiplies and adds dimension
# by dimension, as code that has no list of strides does.

# %% [markdown]
# ## 3. The cache: what it costs to read
#
# A processor can add two numbers in a nanosecond (a billionth of a second) and less; to fetch a number from memory
# takes about a hundred times as long. So it keeps copies of what it has read in a small memory of its own, the
# **cache**. What is in the cache is there at once: a **hit**. What is not has to be fetched: a **miss**. Whole cache
# lines are fetched, in the hope that the neighbours will be needed next.
#
# The simplest cache is **direct-mapped**: it has a fixed number of slots for lines, and line number n can only be in
# slot n modulo this number. A line that comes into a slot replaces the one that was there.

# %% nbgrader={"grade": false, "grade_id": "given-cache", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
class Cache:
    """A direct-mapped cache.

    Args:
        lines: how many cache lines it can hold.
        line: how many addresses are in a line.
    """

    def __init__(self, lines: int = 4, line: int = 64) -> None:
        self.held: list[int | None] = [None] * lines  # the number of the line in each slot
        self.line = line

    def access(self, address: int) -> bool:
        """Read or write an address; True for a hit. After a miss the address's line is in the cache."""
        number = address // self.line
        slot = number % len(self.held)
        hit = self.held[slot] == number
        self.held[slot] = number
        return hit


# %% [markdown]
# ### Exercise 2 · By rows, by columns (1 point)
#
# A float32 matrix of 16 × 16 begins at the start of a cache line. All its 256 elements are read once, each from the
# cache `Cache(lines=4, line=64)`, which is empty at first:
#
# - **by rows**: row 0 from left to right, then row 1, and so on;
# - **by columns**: column 0 from top to bottom, then column 1, and so on.
#
# Say how many misses there are in each case: `predicted` is a dict with the keys `"rows"` and `"columns"` and two
# `int`. For a matrix of 2 × 16 it would be `{"rows": 2, "columns": 2}`.
#
# <details><summary>Hint</summary>
#
# In which slot is the line of row 0, and that of row 4? Which line is in a slot when the next element of a row is read?
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "predict-walk", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
# How many misses? {"rows": …, "columns": …}
### BEGIN SOLUTION
predicted = {"rows": 16, "columns": 256}
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "predict-walk-test", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
assert type(predicted) is dict, f"predicted is a dict, not {type(predicted).__name__}"
assert sorted(predicted) == ["columns", "rows"], f'the keys are "rows" and "columns"; found {sorted(predicted)}'
assert [type(count) for count in predicted.values()] == [int] * 2, f"two `int` are due; found {predicted}"
### BEGIN HIDDEN TESTS
said = dict(predicted)
numbers = np.asarray(memoryview(tf.random.uniform([16, 16])))  # a tensor's own memory
start, (down, right) = numbers.ctypes.data, numbers.strides
everywhere = [(row, column) for row in range(16) for column in range(16)]
for order, walk, look_at in [
    ("rows", everywhere, "how many elements come with a line, and is every line fetched only once?"),
    (
        "columns",
        sorted(everywhere, key=lambda place: place[::-1]),
        "which line is in the slot when a line is needed again?",
    ),
]:
    empty = Cache(lines=4, line=64)
    misses = [empty.access(start + row * down + column * right) for row, column in walk].count(False)
    assert said[order] == misses, (
        f"by {order} you predicted {said[order]} misses, the cache counts another number: {look_at}"
    )
### END HIDDEN TESTS

# %% [markdown] after_passing="predict-walk"
# The same 256 numbers, sixteen times as many misses. A row is one line, and by columns each line is replaced by the one
# four rows below before its next element is wanted. The matrix product of Eigen, a C++ library that TensorFlow's CPU
# kernels call, first copies blocks of both matrices into the order in which its inner loop (`gebp_kernel`) will read
# them, for this reason.

# %% [markdown]
# **Play with it.** Choose an order, move through the walk, and change the size of the cache. How many lines must the
# cache have so that reading by columns is as cheap as by rows? **Tiles** are blocks of 4 × 4: they are read one after
# the other. Why are they cheap with 4 lines, although half of the moves go down a column?

# %%
matrix_16 = view.Matrix((16, 16), itemsize=4, line=64)
everywhere = [(row, column) for row in range(16) for column in range(16)]
orders = {
    "rows": everywhere,
    "columns": sorted(everywhere, key=lambda place: place[::-1]),
    "tiles": sorted(everywhere, key=lambda place: (place[0] // 4, place[1] // 4, place[1], place[0])),
}
view.cache_walk_player(matrix_16, orders, Cache)

# %% [markdown]
# ## 4. The processor: a machine with five instructions
#
# A processor computes with numbers that are in its **registers**: a few places with a name, inside of the processor,
# that can be read at once. A real one has 16 to 32 for whole numbers. An **instruction** is one small deed: fetch a
# number from memory into a register, add two registers. It consists of an **opcode**, the word that says what to do,
# and **operands**, the registers and numbers to do it with. To **execute** it is to do what it says.
#
# A **program** is a list of instructions. The **program counter** is the number of the instruction that comes next.
# After most instructions it grows by one; a **branch** (the jump of section 1) sets it to another place, perhaps
# depending on a register. That is all there is to loops.
#
# Our machine has five instructions. An operand `x`, `y`, `v` or `a` is a register (a `str`) or a number (an `int`);
# `rd` is the register that is written (the destination); `target` is an `int`.
#
# | instruction | what it does |
# | --- | --- |
# | `("load", rd, a)` | puts the number at memory address `a` into `rd` |
# | `("store", v, a)` | puts `v` into memory at address `a` |
# | `("add", rd, x, y)` | puts `x + y` into `rd` |
# | `("mul", rd, x, y)` | puts `x * y` into `rd` |
# | `("bnz", x, target)` | "branch if not zero": goes on at instruction `target` if `x` is not 0, else at the next one |
#
# Its memory holds one number at each address (not one byte). Below, a program that adds up the numbers at the addresses
# 3, 2 and 1, before its first instruction. In section 10 you can watch a program from instruction to instruction.

# %%
add_up = [
    ("add", "r1", 3, 0),
    ("load", "r2", "r1"),
    ("add", "r3", "r3", "r2"),
    ("add", "r1", "r1", -1),
    ("bnz", "r1", 1),
    ("store", "r3", 0),
]
view.machine_state(
    add_up, view.MachineState(0, {"r1": 0, "r2": 0, "r3": 0}, [0, 10, 20, 30]), title="Add up three numbers"
)


# %% [markdown]
# Numbers in a processor have a fixed number of bits. Ours have 32, as int32 has in TensorFlow, so they go from
# -2147483648 to 2147483647; what is larger **wraps** around to the other end. `wrap(v)`, given, does it. Python's own
# numbers never do that.
#
# ### Exercise 3 · A machine with five instructions (3 points)
#
# Complete `run(program, memory, limit)`. It begins at instruction 0 with 0 in every register and ends when the program
# counter is the length of the program. `program` is a list of tuples as in the table; `memory` is a list of numbers.
# Return a `Result`:
#
# | field | content |
# | --- | --- |
# | `registers` | a `dict`: the value of each register that was written, at the end. Registers that were only read are not in it, nor is `r0` |
# | `memory` | a `list`: the memory at the end |
# | `steps` | a `list` with a `Step` for each instruction that was executed, in this order |
#
# A `Step` has the opcode `op`; in `writes` the register that was written, `None` for `store` and `bnz`; in `reads` the
# registers among the operands, in their order, twice if it stands there twice, as a `tuple` without the ints; in
# `address` the memory address of a `load` or `store`, else `None`.
#
# - The results of `add` and `mul` wrap at once, before anything else sees them.
# - `r0` is always 0: what is written to it is lost (and `writes` is `None`). It counts among `reads`.
# - An unknown opcode raises a `ValueError` when it would be executed.
# - An address below 0 or beyond the memory raises an `IndexError`.
# - `limit` instructions may be executed. If there would be one more, raise a `RuntimeError`.
#
# ```
# >>> run([("load", "r1", 1), ("mul", "r1", "r1", "r1"), ("store", "r1", 0)], [0, 7])
# Result(registers={'r1': 49}, memory=[49, 7],
#        steps=[Step(op='load', writes='r1', reads=(), address=1),
#               Step(op='mul', writes='r1', reads=('r1', 'r1'), address=None),
#               Step(op='store', writes=None, reads=('r1',), address=0)])
# ```
#
# `matmul_program(m, k, n)`, given, is a matrix product in this language. The tests run it and compare with `tf.matmul`.
#
# <details><summary>Hint 1</summary>
#
# A loop runs while the program counter is below the length of the program. In each turn, take the instruction apart,
# find the values of its operands, do what the opcode says, append a step, and set the program counter.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# ```
# def value(operand): the int itself, or registers.get(operand, 0)
# take the opcode and the operands out of program[counter]
# match opcode:
#     case "load": rd, a = operands …   # check the address, then write(rd, memory[address])
#     case "add" | "mul": …             # write(rd, wrap(…))
#     case "bnz": …                     # the only one that sets the counter to something else than counter + 1
# ```
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-machine", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
class Step(NamedTuple):
    """One executed instruction."""

    op: str
    writes: str | None
    reads: tuple[str, ...]
    address: int | None


class Result(NamedTuple):
    """What a program left behind, and how it got there."""

    registers: dict[str, int]
    memory: list[int]
    steps: list[Step]


def wrap(v: int) -> int:
    """The number that 32 bits with a sign make of `v`: two numbers that differ by 2**32 are the same."""
    return (v + 2**31) % 2**32 - 2**31


def matmul_program(m: int, k: int, n: int) -> list[tuple]:
    """The product of an m × k and a k × n matrix: A from address 0 on, behind it B, behind it room for the result."""
    return [
        ("add", "row", 0, 0),  # 0: address of a row of A
        ("add", "out", m * k + k * n, 0),
        ("add", "i", m, 0),  # rows that are left
        ("add", "column", m * k, 0),  # 3: address of a column of B
        ("add", "j", n, 0),  # columns that are left
        ("add", "a", "row", 0),  # 5: address of an element of A
        ("add", "b", "column", 0),
        ("add", "sum", 0, 0),
        ("add", "p", k, 0),  # products that are left
        ("load", "x", "a"),  # 9: one product
        ("load", "y", "b"),
        ("mul", "x", "x", "y"),
        ("add", "sum", "sum", "x"),
        ("add", "a", "a", 1),
        ("add", "b", "b", n),
        ("add", "p", "p", -1),
        ("bnz", "p", 9),
        ("store", "sum", "out"),
        ("add", "out", "out", 1),
        ("add", "column", "column", 1),
        ("add", "j", "j", -1),
        ("bnz", "j", 5),
        ("add", "row", "row", k),
        ("add", "i", "i", -1),
        ("bnz", "i", 3),
    ]


# %% nbgrader={"grade": false, "grade_id": "machine", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def run(program: list[tuple], memory: list[int], limit: int = 100_000) -> Result:
    """Execute a program from instruction 0 until its end.

    Raises:
        ValueError: an unknown opcode was to be executed.
        IndexError: a load or store outside of memory.
        RuntimeError: the program is not at its end after `limit` instructions.
    """
    ### BEGIN SOLUTION
    registers, memory, steps, counter = {}, list(memory), [], 0

    def value(operand):
        return registers.get(operand, 0) if isinstance(operand, str) else operand

    while counter < len(program):
        if len(steps) == limit:
            raise RuntimeError(f"the program is not at its end after {limit} instructions")
        opcode, *operands = program[counter]
        counter += 1
        written, result, address = None, 0, None
        if opcode in ("load", "store"):
            address = value(operands[1])
            if not 0 <= address < len(memory):
                raise IndexError(f"address {address} in a memory of {len(memory)} numbers")
        if opcode == "load":
            written, result, sources = operands[0], memory[address], operands[1:]
        elif opcode == "store":
            memory[address], sources = value(operands[0]), operands
        elif opcode in ("add", "mul"):
            written, sources = operands[0], operands[1:]
            x, y = (value(source) for source in sources)
            result = wrap(x + y if opcode == "add" else x * y)
        elif opcode == "bnz":
            sources = operands[:1]
            if value(operands[0]) != 0:
                counter = operands[1]
        else:
            raise ValueError(f"there is no instruction {opcode!r}")
        if written == "r0":
            written = None
        if written is not None:
            registers[written] = result
        steps.append(Step(opcode, written, tuple(s for s in sources if isinstance(s, str)), address))
    return Result(registers, memory, steps)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "machine-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
result = run([("load", "r1", 1), ("mul", "r1", "r1", "r1"), ("store", "r1", 0)], [0, 7])
assert type(result) is Result, f"run returns a Result, not {type(result).__name__}"
assert result.memory == [49, 7], f"7 times 7 is stored at address 0: [49, 7]; got {result.memory}"
assert result.registers == {"r1": 49}, f"only r1 was written, last with 49; got {result.registers}"
wanted = [Step("load", "r1", (), 1), Step("mul", "r1", ("r1", "r1"), None), Step("store", None, ("r1",), 0)]
assert type(result.steps) is list, f"steps is a list, not {type(result.steps).__name__}"
assert result.steps == wanted, f"the steps are {wanted}; got {result.steps}"
loop = [("add", "r1", 3, 0), ("add", "r2", "r2", "r1"), ("add", "r1", "r1", -1), ("bnz", "r1", 1)]
result = run(loop, [])
assert result.registers == {"r1": 0, "r2": 6}, f"3 + 2 + 1 is in r2, and r1 has come down to 0; got {result.registers}"
product = run(matmul_program(2, 2, 2), [1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0])
assert product.memory[8:] == [19, 22, 43, 50], (
    f"[[1, 2], [3, 4]] @ [[5, 6], [7, 8]] is [[19, 22], [43, 50]]; got {product.memory[8:]}"
)
### BEGIN HIDDEN TESTS
seed = random.SystemRandom().randrange(10**9)
rng = random.Random(seed)


def truth(program, memory):
    """The same machine, written as one table of deeds."""
    file, cells, trace, at = {"r0": 0}, list(memory), [], 0
    while at < len(program):
        op, *rest = program[at]
        rd, inputs = (rest[0], rest[1:]) if op in ("load", "add", "mul") else (None, rest[: 2 if op == "store" else 1])
        values = [file.get(one, 0) if type(one) is str else one for one in inputs]
        where = values[-1] if op in ("load", "store") else None
        if where is not None:
            assert 0 <= where < len(cells), f"seed {seed}: the test made a bad program"
        if op == "store":
            cells[where] = values[0]
        kept = rd if rd != "r0" else None
        if kept:
            made = cells[where] if op == "load" else sum(values) if op == "add" else values[0] * values[1]
            file[kept] = int(np.int64(made % 2**32).astype(np.int32))
        trace.append(Step(op, kept, tuple(one for one in inputs if type(one) is str), where))
        at = rest[1] if op == "bnz" and values[0] != 0 else at + 1
    return Result({name: v for name, v in file.items() if name != "r0"}, cells, trace)


def must_run(case, program, memory, limit=100_000):
    got = answer_to(case, (), run, list(program), list(memory), limit)
    wanted = truth(program, memory)
    assert type(got) is Result, f"a Result is due; got {type(got).__name__}; the case: {case}"
    kinds = [type(part) for part in got]
    assert kinds == [dict, list, list], f"a dict and two lists are due; got {kinds}; the case: {case}"
    pairs = enumerate(zip(got.steps, wanted.steps, strict=False))
    place = next((number for number, (mine, due) in pairs if mine != due), None)
    assert place is None, (
        f"step {place} is {wanted.steps[place]}; got {got.steps[place]}. Steps count from 0; the case: {case}"
    )
    assert len(got.steps) == len(wanted.steps), (
        f"{len(wanted.steps)} instructions are executed; got {len(got.steps)} steps; the case: {case}"
    )
    assert got.registers == wanted.registers, (
        f"the registers are {wanted.registers} at the end; got {got.registers}; the case: {case}"
    )
    assert got.memory == wanted.memory, f"the memory is {wanted.memory} at the end; got {got.memory}; the case: {case}"
    return got


for number in range(10):
    m, k, n = (rng.randint(1, 3) for _ in range(3))
    draw = (lambda: rng.randint(-(2**31), 2**31 - 1)) if number else (lambda: 2**31 - 1)
    left, right = [draw() for _ in range(m * k)], [draw() for _ in range(k * n)]
    case = f"seed {seed}: matmul_program({m}, {k}, {n}) on {left} and {right}"
    got = must_run(case, matmul_program(m, k, n), [*left, *right, *[0] * (m * n)])
    a, b = tf.reshape(tf.constant(left, tf.int32), [m, k]), tf.reshape(tf.constant(right, tf.int32), [k, n])
    wanted = tf.reshape(tf.matmul(a, b), [-1]).numpy().tolist()
    assert got.memory[m * k + k * n :] == wanted, (
        f"tf.matmul on int32 gives {wanted}; got {got.memory[m * k + k * n :]}; the case: {case}"
    )
big = 2**31 - 1
for case, program, memory in [
    ("an empty program", [], [5]),
    (
        "r0 is written and read",
        [("add", "r0", 7, 7), ("load", "r0", 0), ("add", "r1", "r0", "r0"), ("store", "r0", 1)],
        [5, 6],
    ),
    ("a branch forward, past the end", [("bnz", 1, 2), ("add", "r1", 1, 1), ("bnz", -5, 4), ("add", "r2", 1, 1)], []),
    ("a branch on 0", [("bnz", 0, 3), ("bnz", "r7", 3), ("add", "r1", 1, 1)], []),
    (
        "wrapped before it is used",
        [("add", "r1", big, 1), ("bnz", "r1", 3), ("add", "r2", 1, 1), ("add", "r3", "r1", "r1")],
        [],
    ),
    ("a wrapped sum as an address", [("mul", "r1", 2**16, 2**16), ("load", "r2", "r1"), ("store", "r2", 1)], [8, 9]),
    ("registers with other names", [("load", "sum", 1), ("store", "sum", "sum"), ("store", 4, "never")], [1, 2, 3]),
    ("registers whose names begin with r0", [("add", "r01", 1, 2), ("mul", "r0_", "r01", 2), ("load", "r00", 0)], [5]),
    ("a `sub` that is branched over", [("bnz", 1, 2), ("sub", "r1", "r1", 1), ("add", "r2", 3, 4)], []),
    (
        "results of exactly -2147483648",
        [("add", "a", big, 1), ("mul", "b", 2**16, -(2**15)), ("add", "c", "a", 0), ("add", "d", "a", -1)],
        [],
    ),
]:
    must_run(case, program, memory)
names = ["r0", "r1", "r2", "r3"]


def operand():
    return rng.choice([*names, rng.randint(-3, 3)])


for _ in range(12):
    program = [("add", "n", rng.randint(1, 3), 0)]
    for _ in range(rng.randint(2, 8)):
        kind = rng.choice(["load", "store", "add", "mul", "bnz"])
        if kind == "bnz":  # only forward: the program ends
            here = len(program)
            program.append(("bnz", operand(), here + 2))
            program.append(("mul", rng.choice(names), operand(), 2**20 + 7))
        elif kind in ("load", "store"):
            program.append((kind, rng.choice(names) if kind == "load" else operand(), rng.randrange(4)))
        else:
            program.append((kind, rng.choice(names), operand(), operand()))
    program += [("add", "n", "n", -1), ("bnz", "n", 1)]
    must_run(f"seed {seed}: {program}", program, [rng.randint(-(2**31), 2**31 - 1) for _ in range(4)])
endless, count = [("bnz", 1, 0)], [("add", "r1", 5, 0), ("add", "r1", "r1", -1), ("bnz", "r1", 1)]
must_run("11 instructions with a limit of 11", count, [], 11)
for case, due, program, memory, limit in [
    ("a program without end, limit 100", RuntimeError, endless, [], 100),
    ("11 instructions with a limit of 10", RuntimeError, count, [], 10),
    ("an opcode `sub`, executed", ValueError, [("add", "r1", 1, 1), ("sub", "r1", "r1", 1)], [], 100),
    ("a load at address 2 of 2", IndexError, [("load", "r1", 2)], [1, 2], 100),
    ("a store at address 2 of 2", IndexError, [("store", 1, 2)], [1, 2], 100),
    ("a load at address -1", IndexError, [("add", "r1", -1, 0), ("load", "r2", "r1")], [1, 2], 100),
    ("a store at address -1", IndexError, [("store", 1, -1)], [1, 2], 100),
]:
    outcome = outcome_of(due, run, list(program), list(memory), limit)
    assert outcome == due.__name__, f"{case}: {due.__name__} is due; got {outcome}"
### END HIDDEN TESTS

# %% [markdown] after_passing="machine"
# A machine this small computes matrix products, and agrees with `tf.matmul` where the numbers overflow: kernels in C++
# compute with the processor's own numbers, so int32 wraps (`MatMulOp` in tensorflow/core/kernels/matmul_op_impl.h). Our
# solution finds the operands' values in one place, because every instruction needs them and the rule about numbers and
# names is the same for all.

# %% [markdown]
# ## 5. The pipeline: what a cycle count is made of
#
# A processor has a clock. In each **clock cycle** (a third of a nanosecond or so) it can begin an instruction: it
# **issues** it. The time from there until the result is there is the instruction's **latency**: one cycle for an
# addition of whole numbers, some for a product, many for a load that misses the cache. The processor does not wait for
# that: it issues the next instruction in the next cycle, while the one before it is still under way, as things follow
# each other on a conveyor belt. This is the **pipeline**.
#
# It works as long as the next instruction does not need the result. If it does, there is a **data dependency**: it must
# wait until the result is there, and everything behind it waits too. Such a wait is a **stall**. Below, six
# instructions with the latencies of exercise 4. The first load misses the cache, the second one finds its line there:
# our cache has a line as soon as it is asked for, where a real one would let the second load wait, too. Where are the
# 29 lost cycles?

# %%
# turn: the first cycle in which it could have been issued; start: that in which it was; ready: its result is there
example = [
    view.Issue("load x, 0", turn=0, start=0, ready=30, slow=True),
    view.Issue("load y, 1", turn=1, start=1, ready=4),
    view.Issue("mul x, x, y", turn=2, start=30, ready=33, waits_for=0),
    view.Issue("add n, n, -1", turn=31, start=31, ready=32),
    view.Issue("add sum, sum, x", turn=32, start=33, ready=34, waits_for=2),
    view.Issue("store sum, 2", turn=34, start=34, ready=35),
]
view.pipeline_strip(example, title="Six instructions on their way")

# %% [markdown]
# ### Exercise 4 · What a cycle count is made of (3 points)
#
# Complete `timing(steps, latency)`. `steps` is the list of steps of a program, in the order in which they were
# executed; `latency` is a dict like `LATENCY`. It returns a `Cost` of `cycles` and `misses`, by these rules:
#
# - At most one instruction is issued in a cycle, and they are issued in order: the first in cycle 0, each later than
#   the one before it.
# - An instruction is issued as soon as this allows and all registers that it reads are ready. A register is ready at
#   the time of issue plus the latency of the **last** instruction before that writes it, and from the beginning if
#   there is none. An earlier, slower write to the same register is ignored, even if it would arrive later.
# - The latency of `add`, `mul`, `store` and `bnz` is the one under their name. That of a `load` is `latency["hit"]` or
#   `latency["miss"]`.
# - Loads and stores access a `Cache(lines=4, line=16)`, empty at first, in the order of the steps, by their `address`;
#   a line has 16 numbers here. Every access that does not hit counts as a miss, also that of a store. But a store waits
#   for nothing: its latency is the same either way. A load whose `writes` is `None` (to `r0`) is a load like any other.
# - `cycles` is the largest sum of an issue and its latency, 0 for no steps.
#
# The example above has the `Cost(cycles=35, misses=1)`. With the latencies {"mul": 4, "add": 4}, 16 products that are
# added one after the other to one sum cost 83 cycles. If four sums are kept, and the products are computed in groups of
# four, it is 43.
#
# <details><summary>Hint 1</summary>
#
# Keep a dict: register → the cycle in which it is ready. Go through the steps once; when an instruction is issued you
# know all you need.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# ```
# issue = -1
# for step in steps:
#     issue = max of issue + 1 and the times at which the registers in step.reads are ready
#     delay = … # ask the cache if there is an address
#     if the step writes: ready[step.writes] = issue + delay
# ```
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-pipeline", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
LATENCY = {"add": 1, "mul": 3, "hit": 3, "miss": 30, "store": 1, "bnz": 1}


class Cost(NamedTuple):
    """What a program costs."""

    cycles: int
    misses: int


def sum_of_products(sums: int) -> list[Step]:
    """16 products of registers, in groups of `sums`, each added to a sum of its own; in the end the sums are added."""
    steps = []
    for first in range(0, 16, sums):
        group = range(first, first + sums)
        steps += [Step("mul", f"product{i}", (f"x{i}", f"y{i}"), None) for i in group]
        steps += [Step("add", f"sum{i - first}", (f"sum{i - first}", f"product{i}"), None) for i in group]
    while sums > 1:
        sums //= 2
        steps += [Step("add", f"sum{i}", (f"sum{i}", f"sum{i + sums}"), None) for i in range(sums)]
    return steps


# %% nbgrader={"grade": false, "grade_id": "pipeline", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def timing(steps: list[Step], latency: dict[str, int]) -> Cost:
    """Count the cycles of executed instructions on a pipeline that issues in order, and the misses of its cache."""
    ### BEGIN SOLUTION
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
            ready[step.writes] = issue + delay
        cycles = max(cycles, issue + delay)
    return Cost(cycles, misses)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "pipeline-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
six = [
    Step("load", "x", (), 0), Step("load", "y", (), 1), Step("mul", "x", ("x", "y"), None),
    Step("add", "n", ("n",), None), Step("add", "sum", ("sum", "x"), None), Step("store", None, ("sum",), 2),
]  # fmt: skip
cost = timing(list(six), dict(LATENCY))
assert type(cost) is Cost, f"timing returns a Cost, not {type(cost).__name__}"
assert cost == Cost(35, 1), f"the six instructions of the picture cost {Cost(35, 1)}; got {cost}"
assert timing([], dict(LATENCY)) == Cost(0, 0), "without steps there are no cycles and no misses"
for sums, cycles in [(1, 83), (4, 43)]:
    cost = timing(sum_of_products(sums), {**LATENCY, "mul": 4, "add": 4})
    assert cost == Cost(cycles, 0), f"16 products added to {sums} sum(s), latency 4: {Cost(cycles, 0)}; got {cost}"
### BEGIN HIDDEN TESTS
seed = random.SystemRandom().randrange(10**9)
rng = random.Random(seed)


def least(steps, latency):
    """The earliest schedule that meets all conditions: from 0 on, each is moved until none is hurt."""
    cache, delays, misses = Cache(lines=4, line=16), [], 0
    for step in steps:
        hit = step.address is None or cache.access(step.address)
        misses += not hit
        delays.append(latency[("hit" if hit else "miss") if step.op == "load" else step.op])
    conditions = [(i - 1, i, 1) for i in range(1, len(steps))]
    for i, step in enumerate(steps):
        for register in step.reads:
            writers = [j for j in range(i) if steps[j].writes == register]
            conditions += [(writers[-1], i, delays[writers[-1]])] if writers else []
    start, moved = [0] * len(steps), True
    while moved:
        moved = False
        for before, after, gap in conditions:
            if start[after] < start[before] + gap:
                start[after], moved = start[before] + gap, True
    return Cost(max([s + d for s, d in zip(start, delays, strict=True)], default=0), misses)


def must_cost(case, steps, latency):
    got = answer_to(case, (), timing, list(steps), dict(latency))
    assert type(got) is Cost, f"{case}: a Cost is due; got {type(got).__name__}"
    wanted = least(steps, latency)
    assert got == wanted, f"{case}: the rules give {wanted}; got {got}"


for case, steps in {
    "a store that misses is the last instruction": [Step("store", None, (), 100)],
    "a store's line is in the cache for the load behind it": [Step("store", None, (), 5), Step("load", "a", (), 6)],
    "two lines in one slot": [Step("load", "a", (), address) for address in (0, 64, 0, 15, 16)],
    "a later write replaces an earlier one that is still under way": [
        Step("load", "a", (), 0), Step("add", "a", ("b",), None), Step("add", "c", ("a",), None),
    ],
    "what is behind an instruction that waits, waits too": [
        Step("load", "a", (), 0), Step("add", "b", ("a",), None),
        Step("add", "c", ("d",), None), Step("bnz", None, ("c",), None),
    ],
    "the longest way ends before the last instruction": [Step("load", "a", (), 0), Step("add", "b", ("c",), None)],
    "a load to r0": [Step("load", None, (), 5)],
    "a load to r0 brings a line": [
        Step("load", None, ("a",), 5), Step("load", "b", (), 6), Step("add", "c", ("b",), None),
    ],
    "a register that is read twice": [Step("mul", "a", ("b", "b"), None), Step("mul", "a", ("a", "a"), None)],
}.items():  # fmt: skip
    must_cost(case, steps, LATENCY)
WRITING = ("load", "add", "mul")  # what they write may be lost in r0
for _ in range(40):
    latency = {name: rng.randint(1, 9) for name in LATENCY} | {"miss": rng.randint(10, 40)}
    steps, base = [], rng.randrange(200)
    for _ in range(rng.randint(5, 25)):
        op = rng.choice(["load", "load", "store", "add", "mul", "mul", "bnz"])
        reads = tuple(rng.choices("abcd", k=rng.randint(0, 1 if op in ("load", "bnz") else 2)))
        address = base + rng.choice([0, 3, 16, 64, rng.randrange(150)]) if op in ("load", "store") else None
        steps.append(Step(op, rng.choice(["a", "b", "c", "d", None]) if op in WRITING else None, reads, address))
    must_cost(f"seed {seed}, latency {latency}: {steps}", steps, latency)
m, k, n = (rng.randint(2, 4) for _ in range(3))
product, out = [], m * k + k * n  # the steps of the inner loops of matmul_program(m, k, n)
for row, column in [(row, column) for row in range(m) for column in range(n)]:
    product += [Step("add", "a", ("row",), None), Step("add", "b", ("column",), None), Step("add", "sum", (), None)]
    for p in range(k):
        product += [Step("load", "x", ("a",), row * k + p), Step("load", "y", ("b",), m * k + p * n + column)]
        product += [Step("mul", "x", ("x", "y"), None), Step("add", "sum", ("sum", "x"), None)]
        product += [Step("add", name, (name,), None) for name in ("a", "b", "p")] + [Step("bnz", None, ("p",), None)]
    product += [Step("store", None, ("sum", "out"), out + row * n + column), Step("add", "out", ("out",), None)]
must_cost(f"a product of {m} × {k} by {k} × {n}", product, LATENCY)
### END HIDDEN TESTS

# %% [markdown] after_passing="pipeline"
# You have found the earliest schedule that meets all the rules: the tests found the same one in another way, by moving
# instructions until no rule was broken. Compilers use such a model to put instructions into a better order (LLVM's
# `MachineScheduler`), and XLA's product of a matrix and a vector keeps eight sums for the reason of your four
# (`row_major_gemv_F32_8_8_…`). Our solution needs one pass, because what an instruction waits for is always behind it.

# %% [markdown]
# ## 6. A compiler, first part: from text to a tree
#
# A **compiler** translates a program from one language into another one that is closer to a processor. Ours translates
# formulas of elementwise operations on float32 arrays. It has four stations: from text to tokens, from tokens to a
# tree, from the tree to a list of values, from these to LLVM IR, which LLVM turns into machine code.
#
# A **token** is a word of the language: a number, a name, an operator, a parenthesis. The given `tokenize` makes them;
# each is a pair of a kind and a value. Then the **parser** must find out what belongs together. In `a*b + c` the
# product comes first, because of **operator precedence**: `*` binds tighter than `+`. The result is a **syntax tree**:
# each operation with its operands below it. In a tree there is no precedence any more and no parenthesis.

# %% nbgrader={"grade": false, "grade_id": "given-tokens", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_]\w*)|(?P<operator>[-+*/])|(?P<bracket>[()]))",
    re.ASCII,
)


def tokenize(text: str) -> list[tuple[str, object]]:
    """Cut a formula into tokens: `("number", 2.0)`, `("name", "a")`, `("operator", "max")`, `("(", "(")`, `(")", ")")`.

    Raises:
        SyntaxError: there is something that no token begins with.
    """
    tokens, at, text = [], 0, text.rstrip()
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            raise SyntaxError(f"no token begins with {text[at:]!r}")
        kind, word, at = match.lastgroup, match[match.lastgroup], match.end()
        if word in ("max", "min"):
            kind = "operator"
        elif kind == "bracket":
            kind = word
        tokens.append((kind, float(word) if kind == "number" else word))
    return tokens


OPERATIONS = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "max": "maximum", "min": "minimum"}
A, B, C = [("parameter", name) for name in "abc"]  # the trees of the formulas a, b and c


def random_tree(rng: random.Random, depth: int, names: tuple[str, ...] = ("a", "b", "c")) -> tuple:
    """A random syntax tree with at most `depth` operations from its root down to a leaf."""
    kind = rng.random()
    if depth == 0 or kind < 0.1:
        leaves = [("parameter", name) for name in names] * 2 + [("constant", rng.choice([0.0, 0.1, 0.5, 2.0, 3.3]))]
        return rng.choice(leaves)
    if kind < 0.25:
        return ("negate", random_tree(rng, depth - 1, names))
    operation = rng.choice(list(OPERATIONS.values()))
    return (operation, random_tree(rng, depth - 1, names), random_tree(rng, depth - 1, names))


# %%
print(tokenize("a*b + c max 0"))
tree = ("maximum", ("add", ("multiply", A, B), C), ("constant", 0.0))
view.syntax_tree(tree, title="a*b + c max 0")


# %% [markdown]
# ### Exercise 5 · From tokens to a tree (3 points)
#
# Complete `parse(tokens)`. It takes the list of tokens of a formula and returns its tree, made of nested tuples:
#
# | tree | of |
# | --- | --- |
# | `("constant", 2.0)` | a number, as a `float` |
# | `("parameter", "a")` | a name |
# | `("negate", tree)` | a minus in front of something |
# | `(operation, left, right)` | an operator between two; `OPERATIONS` has the operation for each operator |
#
# A minus in front binds tightest; there may be several. Then come `*` and `/`, then `+` and `-`, and last `max` and
# `min`, which stand between their operands, too: `a + b max c` is the maximum of `a + b` and `c`. Of operators that
# bind equally, the left one comes first: `a - b + c` is `(a - b) + c`, and `a max b min c` is `(a max b) min c`.
# Parentheses work as usual. There is no plus in front.
#
# Tokens that are no formula raise a `SyntaxError`: an operand or an operator is missing, a parenthesis is not closed or
# not opened, there are no tokens at all. Any word but `max` and `min` may be a name, also `lambda`. Python's own parser
# (`ast`, `compile`, `eval`, `exec`) is withheld while your function is tested.
#
# ```
# >>> parse(tokenize("-a*2"))
# ('multiply', ('negate', ('parameter', 'a')), ('constant', 2.0))
# ```
#
# <details><summary>Hint 1</summary>
#
# One function for each level of precedence. That of `+` and `-` asks the one of `*` and `/` for an operand. While the
# next token is `+` or `-`, it takes it, asks for one more operand, and makes a tree of both. What the innermost
# function does at a parenthesis is to call the outermost one.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# ```
# LEVELS = [{"max", "min"}, {"+", "-"}, {"*", "/"}]
# def chain(level):                       # level 3 is a single operand
#     begin with the tree of chain(level + 1)
#     while the next token is an operator in LEVELS[level]:
#         tree = (its operation, tree, chain(level + 1))
#     return tree
# # operand: a number, a name, a minus and an operand, or ( chain(0) )
# # after chain(0) no token may be left
# ```
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "parse", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def parse(tokens: list[tuple[str, object]]) -> tuple:
    """Find the syntax tree of a formula.

    Raises:
        SyntaxError: the tokens are no formula.
    """
    ### BEGIN SOLUTION
    levels = [{"max", "min"}, {"+", "-"}, {"*", "/"}]
    left = [*tokens, ("end", None)][::-1]

    def chain(level):
        if level == len(levels):
            return operand()
        tree = chain(level + 1)
        while left[-1][0] == "operator" and left[-1][1] in levels[level]:
            operation = OPERATIONS[left.pop()[1]]
            tree = (operation, tree, chain(level + 1))
        return tree

    def operand():
        kind, value = left.pop() if len(left) > 1 else left[0]
        if kind == "number":
            return ("constant", value)
        if kind == "name":
            return ("parameter", value)
        if (kind, value) == ("operator", "-"):
            return ("negate", operand())
        if kind == "(":
            tree = chain(0)
            if left[-1][0] != ")":
                raise SyntaxError(f"a parenthesis is not closed before {left[-1][1]!r}")
            left.pop()
            return tree
        raise SyntaxError(f"an operand is due, found {value!r}")

    tree = chain(0)
    if len(left) > 1:
        raise SyntaxError(f"the formula ends before {left[-1][1]!r}")
    return tree
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "parse-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
shown = {
    "a": A,
    "-a*2": ("multiply", ("negate", A), ("constant", 2.0)),
    "a*b + c max 0": ("maximum", ("add", ("multiply", A, B), C), ("constant", 0.0)),
    "a - b + c": ("add", ("subtract", A, B), C),
    "a*(b + c)": ("multiply", A, ("add", B, C)),
}
with withheld("ast.parse", "builtins.compile", "builtins.eval", "builtins.exec"):
    trees = [parse(tokenize(text)) for text in shown]
    outcome = outcome_of(SyntaxError, parse, tokenize("a + b)"))
for (text, wanted), tree in zip(shown.items(), trees, strict=True):
    assert type(tree) is tuple, f"parse returns a tuple, not {type(tree).__name__}, for {text!r}"
    assert tree == wanted, f"the tree of {text!r} is {wanted}; got {tree}"
assert outcome == "SyntaxError", f"'a + b)' has a parenthesis that was not opened: a SyntaxError is due; got {outcome}"
### BEGIN HIDDEN TESTS
seed = random.SystemRandom().randrange(10**9)
rng = random.Random(seed)
BINDS = {
    "maximum": (1, "max"),
    "minimum": (1, "min"),
    "add": (2, "+"),
    "subtract": (2, "-"),
    "multiply": (3, "*"),
    "divide": (3, "/"),
}


def printed(tree, least=0):
    """A tree as text, with parentheses only where the text would mean something else without them."""
    kind, *parts = tree
    if kind in ("constant", "parameter"):
        return str(parts[0])
    if kind == "negate":
        return "-" + printed(parts[0], 4)
    binds, operator = BINDS[kind]
    text = f"{printed(parts[0], binds)} {operator} {printed(parts[1], binds + 1)}"
    return f"({text})" if binds < least else text


def constants(tree):
    """The numbers in a tree, in their order."""
    kind, *parts = tree
    if kind in ("constant", "parameter"):
        return parts if kind == "constant" else []
    return [number for part in parts for number in constants(part)]


texts = {
    "a - b - c": ("subtract", ("subtract", A, B), C),
    "a / b * c / a": ("divide", ("multiply", ("divide", A, B), C), A),
    "a max b min c": ("minimum", ("maximum", A, B), C),
    "a min b + c max a*b": ("maximum", ("minimum", A, ("add", B, C)), ("multiply", A, B)),
    "--a": ("negate", ("negate", A)),
    "a - -b": ("subtract", A, ("negate", B)),
    "-a + b": ("add", ("negate", A), B),
    "-(a + b)": ("negate", ("add", A, B)),
    "((a))": A,
    "1e-3": ("constant", 0.001),
    "lambda*in + maximum": (
        "add",
        ("multiply", ("parameter", "lambda"), ("parameter", "in")),
        ("parameter", "maximum"),
    ),
}
for number in range(120):
    names = ("a", "b", "lambda", "x_1") if number % 3 == 0 else ("a", "b", "c")
    tree = random_tree(rng, 1 + number % 5, names)
    texts[printed(tree)] = tree
no_formulas = [
    "", "a +", "* a", "(a", "a)", "a b", "a 2", "2 a", "2 3", "()", "a + * b", "a max", "+a", "(a + b))", "(a + b) c",
    "a (b)", "2 (a)", "(a) 2", "(a) (b)", "a + 2 b", "-", "max", "a -", "(", ")",
]  # fmt: skip
with withheld("ast.parse", "builtins.compile", "builtins.eval", "builtins.exec"):
    trees = [answer_to(f"{text!r}, seed {seed}", (), parse, tokenize(text)) for text in texts]
    outcomes = [outcome_of(SyntaxError, parse, tokenize(text)) for text in no_formulas]
for (text, wanted), tree in zip(texts.items(), trees, strict=True):
    assert type(tree) is tuple, f"seed {seed}: a tuple is due for {text!r}; got {type(tree).__name__}"
    assert tree == wanted, f"seed {seed}: the tree of {text!r} is {wanted}; got {tree}"
    kinds = [type(number) for number in constants(tree)]
    assert kinds == [float] * len(kinds), f"seed {seed}: the constants of {text!r} are of type float; got {kinds}"
for text, outcome in zip(no_formulas, outcomes, strict=True):
    assert outcome == "SyntaxError", f"{text!r} is no formula: a SyntaxError is due; got {outcome}"
### END HIDDEN TESTS

# %% [markdown] after_passing="parse"
# You got back every tree from its shortest text. With a function for each level, each calling the next, this is called
# a recursive-descent parser; XLA's `HloParser` (xla/hlo/parser/hlo_parser.cc), which reads the programs of lab 4-2, is
# written by hand in the same way. Our solution has one function for all levels with two operands, since they differ in
# their operators only.

# %% [markdown]
# ## 7. A compiler, second part: values and registers
#
# Compilers do not work on trees for long. They rewrite a program into an **intermediate representation** (IR): a
# language between the source and the machine, made for being analysed and changed. Most are in **SSA** form (static
# single assignment): a list of instructions of which each makes one new value, an **SSA value**, and no value is ever
# changed. Here a value's name is the number of its instruction. `lower`, given, writes a tree as such a list; equal
# sub-trees become one value.

# %% nbgrader={"grade": false, "grade_id": "given-lower", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
class Instr(NamedTuple):
    """An instruction in SSA form: `("parameter", ("a",))`, `("constant", (2.0,))`, or an operation on earlier values."""

    op: str
    args: tuple


def lower(tree: tuple) -> list[Instr]:
    """The instructions that compute a tree; the last one makes its value, every other value is used by a later one."""
    code = {}  # instruction → its number

    def number_of(tree):
        kind, *parts = tree
        args = parts if kind in ("parameter", "constant") else [number_of(part) for part in parts]
        return code.setdefault(Instr(kind, tuple(args)), len(code))

    number_of(tree)
    return list(code)


def tree_of(text: str) -> tuple:
    """The tree of a formula with the operators in front, `"+ * a b neg c"`: so it needs no precedence, no parentheses."""
    left = text.split()[::-1]

    def tree():
        word = left.pop()
        if word in OPERATIONS or word == "neg":
            return ("negate", tree()) if word == "neg" else (OPERATIONS[word], tree(), tree())
        return ("parameter", word) if word.isidentifier() else ("constant", float(word))

    return tree()


def words(instruction: Instr) -> str:
    """An instruction as it is printed."""
    op, args = instruction
    return f"{op} " + ", ".join(str(arg) if op in ("parameter", "constant") else f"%{arg}" for arg in args)


EAGER = {
    "add": tf.add, "subtract": tf.subtract, "multiply": tf.multiply, "divide": tf.divide,
    "maximum": tf.maximum, "minimum": tf.minimum, "negate": tf.negative,
}  # fmt: skip
NUMPY = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide,
    "maximum": np.maximum, "minimum": np.minimum, "negate": np.negative,
}  # fmt: skip


def values_of(code: list[Instr], arrays: dict[str, np.ndarray], operations: dict = EAGER) -> list[np.ndarray]:
    """The value of each instruction, as a float32 array: by TensorFlow's eager ops, or by NumPy's functions."""
    values = []
    for op, args in code:
        if op in operations:
            values.append(operations[op](*(values[arg] for arg in args)))
        else:
            values.append(arrays[args[0]] if op == "parameter" else np.float32(args[0]))
    return [np.asarray(value) for value in values]


# %%
for number, instruction in enumerate(lower(("add", ("multiply", A, B), ("multiply", A, C)))):  # a*b + a*c
    print(f"%{number} = {words(instruction)}")

# %% [markdown]
# There is no limit to the number of values, but there is one to the number of registers. So values must share
# registers, and two can if they are not needed at the same time. The **live range** of a value goes from the
# instruction that makes it to the last one that uses it. Two values whose ranges overlap **interfere**. Draw a line
# between any two that do: this is the **interference graph**, and to give out registers means to colour it so that no
# line joins two of the same colour (**graph colouring**).
#
# One thing is finer than it looks. The last use of `%1` below is `%2`. An instruction reads its operands before it
# writes, so `%2` may have the register of `%1`.

# %%
ends = [4, 2, 5, 4, 5, 6]
names = ["parameter a", "parameter b", "multiply %0, %1", "parameter c", "multiply %0, %3", "add %2, %4"]
view.live_ranges(
    [view.LiveRange(name, end) for name, end in zip(names, ends, strict=True)], title="a*b + a*c: live ranges"
)


# %% [markdown]
# The column "alive" is the **register pressure**: how many values must be kept behind each instruction. If it is larger
# than the number of registers, a compiler stores a value in memory and loads it again later. That is a **spill**; ours
# has none.
#
# ### Exercise 6 · As few registers as possible (3 points)
#
# Complete `allocate(code, k)`. `code` is a list of `Instr` as `lower` makes it: arguments of operations are numbers of
# earlier instructions, every value but the last is used, and constants and parameters need a register too. Return a
# `list` with a register for each instruction, an `int` from 0 to `k - 1`.
#
# A value lives from its instruction up to its last use, and the result of that last instruction may take its register
# over. The last value of the program lives to the end. No two values that live at the same time may have the same
# register. If `k` registers do not suffice for that, raise a `ValueError`; never raise one when they do, and do not
# change the order of the instructions.
#
# ```
# >>> code = lower(("add", ("multiply", A, B), ("multiply", A, C)))    # a*b + a*c
# >>> allocate(code, 3)    # one of several right answers
# [0, 1, 1, 2, 0, 0]
# >>> allocate(code, 2)
# ValueError: …
# ```
#
# The tests take your registers at their word: they run the program on arrays, with a **register file** (all registers
# of a processor) of `k` places, and compare with TensorFlow.
#
# <details><summary>Hint 1</summary>
#
# First find the last use of every value. Then go through the instructions once and keep a set of the free registers. In
# which order must two things happen at an instruction: its result takes a register, its operands give theirs back?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# ```
# last_use = {argument: number for each operation, in their order, for each of its arguments}
# for number, instruction in enumerate(code):
#     give back the registers of those arguments whose last use is this number (each once, also in a*a)
#     take a free one, or raise
# ```
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "registers", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def allocate(code: list[Instr], k: int) -> list[int]:
    """Give a register to the value of each instruction.

    Raises:
        ValueError: more than `k` values are alive at the same time.
    """
    ### BEGIN SOLUTION
    arguments = [set(args) if op not in ("parameter", "constant") else set() for op, args in code]
    last_use = {value: number for number, used in enumerate(arguments) for value in used}
    free, registers = set(range(k)), []
    for number, used in enumerate(arguments):
        free |= {registers[value] for value in used if last_use[value] == number}
        if not free:
            raise ValueError(f"more than {k} values are alive at instruction {number}")
        registers.append(min(free))
        free.remove(registers[-1])
    return registers
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "registers-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
code = lower(("add", ("multiply", A, B), ("multiply", A, C)))  # a*b + a*c
registers = allocate(list(code), 3)
assert type(registers) is list, f"allocate returns a list, not {type(registers).__name__}"
assert [type(register) for register in registers] == [int] * 6, f"six `int` are due, found {registers}"
assert {*registers} <= {0, 1, 2}, f"with three registers they are 0, 1 and 2; found {registers}"
for first, second in [(0, 1), (0, 2), (0, 3), (2, 3), (2, 4)]:
    assert registers[first] != registers[second], (
        f"%{first} and %{second} of a*b + a*c are alive together; found {registers}"
    )
outcome = outcome_of(ValueError, allocate, list(code), 2)
assert outcome == "ValueError", (
    f"three values are alive at %3 of a*b + a*c: a ValueError is due for 2 registers; got {outcome}"
)
### BEGIN HIDDEN TESTS
seed = random.SystemRandom().randrange(10**9)
rng = random.Random(seed)


def pressure(code):
    """The largest number of values that are alive behind an instruction."""
    uses = [
        [number for number, (op, args) in enumerate(code) if op in EAGER and value in args]
        for value in range(len(code))
    ]
    ends = [max(places, default=len(code)) for places in uses]
    return max(sum(end > number for end in ends[: number + 1]) for number in range(len(code)))


def played(code, registers, k, arrays):
    """Runs the program on a file of k registers, with TensorFlow's ops."""
    file = [np.float32("nan")] * k
    for (op, args), register in zip(code, registers, strict=True):
        if op in EAGER:
            file[register] = EAGER[op](*(file[registers[arg]] for arg in args))
        else:
            file[register] = arrays[args[0]] if op == "parameter" else np.float32(args[0])
    return np.asarray(file[registers[-1]])


special = [
    "a",
    "* a a",
    "+ * a a * a a",
    "+ a + b + c + d + a + b + c d",
    "- / + * - * a b c d a b c",
    "- * a b * + * b a a * a b",
]
trees = [tree_of(text) for text in special] + [
    random_tree(rng, 2 + number % 5, ("a", "b", "c", "d")) for number in range(70)
]
for number, tree in enumerate(trees):
    code, arrays = lower(tree), {name: np.float32([rng.uniform(0.5, 2) for _ in range(5)]) for name in "abcd"}
    need, wanted = pressure(code), values_of(code, arrays)[-1]
    listed = "; ".join(f"%{place} = {words(instruction)}" for place, instruction in enumerate(code))
    for k in [need, need + 2] if number % 4 == 0 else [need]:
        case = f"seed {seed}: {listed} with {k} registers, {need} values are alive at most"
        got = answer_to(case, (), allocate, list(code), k)
        assert type(got) is list, f"{case}: a list is due; got {type(got).__name__}"
        assert [type(register) for register in got] == [int] * len(code), (
            f"{case}: {len(code)} `int` are due; got {got}"
        )
        assert {*got} <= {*range(k)}, f"{case}: the registers are 0 to {k - 1}; got {got}"
        np.testing.assert_array_equal(
            played(code, got, k, arrays),
            wanted,
            strict=True,
            err_msg=f"{case}: with {got} the program computes another value",
        )
    outcome = outcome_of(ValueError, allocate, list(code), need - 1)
    assert outcome == "ValueError", (
        f"seed {seed}: a ValueError is due for k = {need - 1}, since {need} values are alive at once; "
        f"got {outcome}; the program: {listed}"
    )
### END HIDDEN TESTS

# %% [markdown] after_passing="registers"
# The largest number of values alive at once is also enough, for any program without branches: that is a theorem on such
# graphs, and your function reached it each time. With branches it becomes hard, and real compilers split live ranges
# and spill: LLVM's `RAGreedy` (llvm/lib/CodeGen/RegAllocGreedy.cpp). Our solution gives registers back before it takes
# one, because an instruction reads before it writes.

# %% [markdown]
# ## 8. A compiler, third part: to machine code
#
# What is left is to write the values in the language of LLVM, LLVM IR. It is in SSA form, too. Names of values
# begin with `%`; every instruction says the type of its operands, here `float` (32 bits). These are all that our
# formulas need:
#
# | line | meaning |
# | --- | --- |
# | `%v = fadd float %x, %y` | the sum; `fsub`, `fmul` and `fdiv` likewise |
# | `%v = fneg float %x` | the negative |
# | `%t = fcmp oge float %x, %y` | one bit: is `%x` greater than or equal to `%y`? `ogt`, `ole` and `olt`: greater, less or equal, less |
# | `%v = select i1 %t, float %x, float %y` | `%x` if the bit is 1, else `%y` |
#
# In place of a name there can be a **literal**, a number that is written out. With a point, such as `2.0`, it must be
# exactly a float32; 0.1 is not one, and LLVM refuses it. So numbers are best written by their bits: `literal(0.1)`,
# given, is the float32 next to 0.1 as LLVM reads it: `0x` and 16 digits in base 16, of which A to F are 10 to 15.
#
# LLVM IR has no registers, loops over shapes or arrays. `link`, given, puts your lines into a loop over the elements,
# like that of section 1. (A **linker** joins pieces of machine code to one program.) LLVM does the rest: it checks the
# lines, gives out registers as you did in exercise 6, and writes machine code into memory. It takes **vector
# registers**, of 16 to 64 bytes, on whose elements one instruction works at the same time; this is called **SIMD**,
# single instruction, multiple data.
#
# ### Exercise 7 · To machine code (4 points)
#
# Complete `emit(code)`. `code` is a list of `Instr` as `lower` makes it. Return two strings: the lines for one element,
# joined by `"\n"` (an empty string if no line is needed), and the name or number in which the result is.
#
# - The parameter `a` is in `%in_a` already, `b` in `%in_b`, and so on; there is no line for them.
# - Only lines of the table above are allowed, one a line. Other names than `%in_…` and `%loop_…` are yours; letters,
#   digits, `_` and `.` are allowed in them. Each name is assigned once.
# - Round as TensorFlow's ops do, each operation once, to a float32: compute nothing beforehand, not even `0.1 + 3.3`, and
#   keep the order, since `(x*0.1)*3.3` is not `x*(0.1*3.3)`. Write no flags behind an opcode, such as `fast` or
#   `contract`, by which LLVM may merge a product and a sum. `link` refuses them, as every other line that is not in the
#   table, with a `ValueError`.
# - An operation that is not in `OPERATIONS.values()`, and neither `negate`, `parameter` nor `constant`, raises a
#   `NotImplementedError`.
#
# ```
# >>> code = lower(("minimum", ("negate", A), ("constant", 0.5)))      # -a min 0.5
# >>> body, result = emit(code)      # with names of your choice
# >>> print(body)
# %v1 = fneg float %in_a
# %t3 = fcmp ole float %v1, 0x3FE0000000000000
# %v3 = select i1 %t3, float %v1, float 0x3FE0000000000000
# >>> result
# '%v3'
# ```
#
# The tests link your text and compare with TensorFlow's ops, called one by one, and with NumPy on arrays: all elements
# must be equal, where 0 and -0 count as equal. NaN (what 0/0 gives), infinities and divisions by 0 do not occur there.
#
# <details><summary>Hint 1</summary>
#
# Keep a list with the place of each value: `%in_a` for a parameter, the literal for a constant, `%v<number>` for
# everything else. A line looks up its operands there.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# ```
# OPCODES = {"add": "fadd", …}
# for each instruction and its number:
#     parameter, constant: only note where the value is
#     else: operands = [places[arg] for arg in args]; write one line (two for maximum and minimum); note f"%v{number}"
# ```
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-link", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
IR_NAME = r'%"?(?!in_|loop_)[\w.]+"?'
IR_VALUE = r'(?:%"?[\w.]+"?|0x[0-9A-F]{1,16}|-?\d+\.\d+(?:e[+-]?\d+)?)'
IR_LINE = re.compile(
    rf"{IR_NAME}\s*=\s*(?:f(?:add|sub|mul|div)\s+float\s+{IR_VALUE}\s*,\s*{IR_VALUE}"
    rf"|fneg\s+float\s+{IR_VALUE}"
    rf"|fcmp\s+o[gl][et]\s+float\s+{IR_VALUE}\s*,\s*{IR_VALUE}"
    rf"|select\s+i1\s+{IR_VALUE}\s*,\s*float\s+{IR_VALUE}\s*,\s*float\s+{IR_VALUE})",
    re.ASCII | re.IGNORECASE,
)


def literal(v: float) -> str:
    """The float32 next to `v`, as LLVM wants it: the bits of the same number as a float64, in base 16."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', np.float32(v)))[0]:016X}"


def loop_around(body: str, result: str, params: list[str]) -> str:
    """The LLVM IR of a function of pointers to the arrays, a pointer to the output, and the number of elements.

    Raises:
        ValueError: a line is none of those in the table, or the result is no value.
    """
    lines, result = [line.strip() for line in body.splitlines() if line.strip()], result.strip()
    for line in lines:
        if not IR_LINE.fullmatch(line):
            raise ValueError(f"link takes no such line: {line!r}")
    if not re.fullmatch(IR_VALUE, result, re.ASCII | re.IGNORECASE):
        raise ValueError(f"the result is the name of a value or a number, not {result!r}")
    loads = [
        f"%loop_{name} = getelementptr float, ptr %loop_p{place}, i64 %loop_i\n"
        f"  %in_{name} = load float, ptr %loop_{name}"
        for place, name in enumerate(params)
    ]
    pointers = "".join(f"ptr noalias %loop_p{place}, " for place in range(len(params)))
    inner = "\n  ".join([*loads, *lines])
    return f"""define void @kernel({pointers}ptr noalias %loop_out, i64 %loop_n) {{
loop_start:
  %loop_any = icmp sgt i64 %loop_n, 0
  br i1 %loop_any, label %loop_turn, label %loop_end
loop_turn:
  %loop_i = phi i64 [ 0, %loop_start ], [ %loop_next, %loop_turn ]
  {inner}
  %loop_at = getelementptr float, ptr %loop_out, i64 %loop_i
  store float {result}, ptr %loop_at
  %loop_next = add i64 %loop_i, 1
  %loop_more = icmp slt i64 %loop_next, %loop_n
  br i1 %loop_more, label %loop_turn, label %loop_end
loop_end:
  ret void
}}
"""


def link(body: str, result: str, params: list[str], level: int = 3):
    """Compile the lines for one element to a function of float32 arrays of one shape, in the order of `params`.

    Args:
        level: how hard LLVM tries, from 0 to 3.

    Raises:
        ValueError: a line is none of those in the table.
        RuntimeError: LLVM refuses the text, and says why.
    """
    machine = this_machine(level)
    # LLVM's MCJIT ("machine code, just in time") compiles into memory and owns the code.
    engine = llvm.create_mcjit_compiler(optimised(loop_around(body, result, params), machine, level), machine)
    engine.finalize_object()
    signature = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (len(params) + 1), ctypes.c_int64)
    kernel = signature(engine.get_function_address("kernel"))

    def call(*arrays: np.ndarray) -> np.ndarray:
        inputs = [np.asarray(array, np.float32, order="C") for array in arrays]
        shapes = {array.shape for array in inputs}
        if len(inputs) != len(params) or len(shapes) > 1:
            raise ValueError(f"{len(params)} arrays of one shape are due, for {', '.join(params)}")
        out = np.empty(shapes.pop() if shapes else (), np.float32)
        kernel(*(array.ctypes.data for array in inputs), out.ctypes.data, out.size)
        return out

    call.engine = engine  # it owns the machine code, so it must live as long as the function
    return call


def parameters(code: list[Instr]) -> list[str]:
    """Names of the parameters, in the order in which they first occur."""
    return [args[0] for op, args in code if op == "parameter"]


# %% nbgrader={"grade": false, "grade_id": "native", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def emit(code: list[Instr]) -> tuple[str, str]:
    """Write the LLVM IR for one element. Returns the lines and the place of the result.

    Raises:
        NotImplementedError: there is no rule for an operation.
    """
    ### BEGIN SOLUTION
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
                lines.append(f"%t{number} = fcmp {conditions[op]} float {', '.join(operands)}")
                lines.append(f"%v{number} = select i1 %t{number}, float {operands[0]}, float {operands[1]}")
            else:
                raise NotImplementedError(f"there is no rule for the operation {op!r}")
    return "\n".join(lines), places[-1]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "native-test", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
code = lower(("maximum", ("add", ("multiply", A, B), C), ("constant", 0.0)))  # a*b + c max 0
answer = emit(list(code))
assert type(answer) is tuple, f"emit returns a tuple of two strings, not {type(answer).__name__}"
assert [type(part) for part in answer] == [str, str], f"emit returns two strings, found {answer!r}"
arrays = {
    name: np.sin(np.arange(37) * factor).astype(np.float32) for name, factor in [("a", 1.0), ("b", 2.0), ("c", 3.0)]
}
mine = link(*answer, ["a", "b", "c"])(*arrays.values())
wanted = tf.maximum(tf.add(tf.multiply(arrays["a"], arrays["b"]), arrays["c"]), 0.0).numpy()
np.testing.assert_array_equal(
    mine, wanted, strict=True, err_msg=f"a*b + c max 0 is not what TensorFlow computes, with\n{answer[0]}"
)
### BEGIN HIDDEN TESTS
seed = random.SystemRandom().randrange(10**9)
rng = random.Random(seed)
numbers = np.random.default_rng(seed)


def drawn(code):
    """Arrays for which all values are ordinary numbers, and the result by TensorFlow and by NumPy; or None."""
    for _ in range(20):
        arrays = {name: numbers.normal(size=37).astype(np.float32) for name in parameters(code)}
        with np.errstate(all="ignore"):
            both = [values_of(code, arrays, operations) for operations in (EAGER, NUMPY)]
        sizes = np.abs(np.concatenate([np.ravel(value) for values in both for value in values]))
        divisors = [both[0][args[1]] for op, args in code if op == "divide"]
        clear = np.isfinite(sizes) & ((sizes == 0) | (sizes > 1e-30))
        if clear.sum() == clear.size and sum((divisor == 0).sum() for divisor in divisors) == 0:
            return arrays, [np.broadcast_to(values[-1], (37,) if arrays else ()) for values in both]
    return None


def must_compute(tree, level):
    code = lower(tree)
    draw = drawn(code)
    if draw is None:
        return 0
    arrays, (by_tensorflow, by_numpy) = draw
    listed = "\n".join(f"%{place} = {words(instruction)}" for place, instruction in enumerate(code))
    case = f"seed {seed}, the program\n{listed}"
    answer = answer_to(case, (), emit, list(code))
    assert type(answer) is tuple, f"{case}\nemit returns a tuple; got {type(answer).__name__}"
    assert [type(part) for part in answer] == [str, str], f"{case}\ntwo strings are due; got {answer!r}"
    told = f"{case}\nwith the lines\n{answer[0]}\nand the result {answer[1]}"
    refused = None
    try:
        linked = link(*answer, parameters(code), level)
    except (ValueError, RuntimeError) as error:
        refused = str(error)
    assert refused is None, f"{told}\n{refused}"
    mine = linked(*arrays.values())
    np.testing.assert_array_equal(
        mine, by_tensorflow, strict=True, err_msg=f"{told}\nTensorFlow computes something else"
    )
    np.testing.assert_array_equal(mine, by_numpy, strict=True, err_msg=f"{told}\nNumPy computes something else")
    return 1


for text in [
    "a", "0.1", "0", "neg a", "+ * 0.1 a 3.3", "max a b", "min b a", "- max a b min a b", "+ * a b c", "- * a b c",
    "- c * a b", "/ / a b c", "- - a b c", "- neg neg a a", "+ * * 1e30 a 0 b", "* 16777217 a",
    "- * lambda lambda lambda", "- * A x_1 a",
    # regrouped, or with constants computed beforehand, these are rounded otherwise
    "* * a 0.1 3.3", "* 0.1 * 3.3 a", "- - a 0.1 3.3", "/ / a 0.1 3.3", "/ * a 0.1 3.3", "+ a + 0.1 3.3",
    "* a * 3.3 3.3",
]:  # fmt: skip
    must_compute(tree_of(text), 0)
done = sum(must_compute(random_tree(rng, 4), 0) for _ in range(40))
done += sum(must_compute(random_tree(rng, 4), 3) for _ in range(4))
for name, rest in {
    "cosine": [Instr("cosine", (0,))],
    "power": [Instr("power", (0, 0))],
    "relu": [Instr("relu", (0,)), Instr("negate", (1,))],
    "mod": [Instr("parameter", ("b",)), Instr("mod", (0, 1)), Instr("add", (0, 2))],
}.items():
    outcome = outcome_of(NotImplementedError, emit, [Instr("parameter", ("a",)), *rest])
    assert outcome == "NotImplementedError", f"there is no rule for {name!r}: NotImplementedError is due; got {outcome}"
assert done > 10, f"seed {seed}: nearly all draws held NaN or infinity; please check again"
### END HIDDEN TESTS

# %% [markdown] after_passing="native"
# Formulas that you had not seen became machine code of this computer, equal to TensorFlow and NumPy in every element.
# XLA's `ElementalIrEmitter` (xla/service/elemental_ir_emitter.cc) writes one element in the same way, and `LoopEmitter`
# the loop around it. Our solution needs no register and no loop of its own: one name for each value is all that LLVM
# wants to know.

# %% [markdown]
# ## 9. Check against the real thing
#
# The next cell holds the course's own versions of what exercises 3 to 7 ask for; what follows uses them, so that it
# runs also while an exercise of yours is open.

# %% nbgrader={"grade": false, "grade_id": "given-references", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def executed(program: list[tuple], memory: list[int]) -> Iterator[tuple[Step | None, int, dict[str, int], list[int]]]:
    """Run a program without errors. Yields after each step: the step, the program counter, the registers, the memory."""
    registers, memory, here = {}, list(memory), 0
    yield None, 0, {}, list(memory)
    while here < len(program):
        op, *rest = program[here]
        rd, inputs = (rest[0], rest[1:]) if op in ("load", "add", "mul") else (None, rest[: 1 + (op == "store")])
        values = [registers.get(one, 0) if isinstance(one, str) else one for one in inputs]
        address = values[-1] if op in ("load", "store") else None
        if op == "store":
            memory[address] = values[0]
        elif op != "bnz" and rd != "r0":
            registers[rd] = (
                memory[address] if op == "load" else wrap(sum(values) if op == "add" else values[0] * values[1])
            )
        here = rest[1] if op == "bnz" and values[0] else here + 1
        step = Step(op, None if rd == "r0" else rd, tuple(one for one in inputs if isinstance(one, str)), address)
        yield step, here, dict(registers), list(memory)


def steps_of(program: list[tuple], memory: list[int]) -> list[Step]:
    """The steps of a program, by the course's own machine."""
    return [step for step, *_ in executed(program, memory) if step is not None]


def scheduled(steps: list[Step], latency: dict[str, int]) -> list[view.Issue]:
    """The steps on their way through the pipeline of exercise 4."""
    cache, ready, made = Cache(lines=4, line=16), {}, []
    for step in steps:
        turn = made[-1].start + 1 if made else 0
        there, source = max((ready[register] for register in step.reads if register in ready), default=(0, None))
        hit = step.address is None or cache.access(step.address)
        delay = latency[("hit" if hit else "miss") if step.op == "load" else step.op]
        address = None if step.address is None else f"[{step.address}]"
        operands = [part for part in (step.writes, *step.reads, address) if part is not None]
        waits_for, start = (source, there) if there > turn else (None, turn)
        words = f"{step.op} {', '.join(operands)}"
        made.append(view.Issue(words, turn, start, start + delay, waits_for, slow=step.op == "load" and not hit))
        if step.writes:
            ready[step.writes] = (start + delay, len(made) - 1)
    return made


def parsed(text: str) -> tuple:
    """The tree of a formula, by the course's own parser: with a stack of trees and one of operators ("shunting-yard")."""
    binds = {"max": 1, "min": 1, "+": 2, "-": 2, "*": 3, "/": 3, "negate": 4}
    trees, waiting, operand_due = [], [], True

    def close(least):
        while waiting and waiting[-1] != "(" and binds[waiting[-1]] >= least:
            operator = waiting.pop()
            count = 1 if operator == "negate" else 2
            if len(trees) < count:
                raise SyntaxError(f"an operand is missing in {text!r}")
            trees[-count:] = [(OPERATIONS.get(operator, operator), *trees[-count:])]

    for kind, value in tokenize(text):
        if (kind in ("number", "name", "(")) != operand_due and not (operand_due and value == "-"):
            raise SyntaxError(f"unexpected {value!r} in {text!r}")
        if kind in ("number", "name"):
            trees.append(("constant" if kind == "number" else "parameter", value))
            operand_due = False
        elif kind == "operator" and not operand_due:
            close(binds[value])
            waiting.append(value)
            operand_due = True
        elif kind == ")":
            close(0)
            if not waiting:
                raise SyntaxError(f"a parenthesis was not opened in {text!r}")
            waiting.pop()
        else:
            waiting.append("(" if kind == "(" else "negate")
    close(0)
    if operand_due or waiting:
        raise SyntaxError(f"{text!r} ends too early")
    return trees[0]


def allocated(code: list[Instr]) -> list[view.LiveRange]:
    """The live ranges of a program, each in the first register that no earlier range which it meets has."""
    ends = [
        max((number for number, (op, args) in enumerate(code) if op in EAGER and value in args), default=len(code))
        for value in range(len(code))
    ]
    ranges = []
    for place, (instruction, end) in enumerate(zip(code, ends, strict=True)):
        taken = {other.register for other in ranges if other.end > place}
        ranges.append(view.LiveRange(words(instruction), end, min(set(range(len(code))) - taken)))
    return ranges


def emitted(code: list[Instr]) -> tuple[str, str]:
    """The LLVM IR for one element, by the course's own emitter: one line for each value, so that `maximum` has two."""
    simple = {"add": "fadd", "subtract": "fsub", "multiply": "fmul", "divide": "fdiv", "negate": "fneg"}
    text, where = "", {}
    for place, (op, args) in enumerate(code):
        if op in ("parameter", "constant"):
            where[place] = f"%in_{args[0]}" if op == "parameter" else literal(args[0])
            continue
        operands = [f"float {where[arg]}" for arg in args]
        where[place] = f"%{op}.{place}"
        if op in simple:
            text += f"{where[place]} = {simple[op]} {', '.join(operands).replace(', float', ',')}\n"
        else:
            test = f"fcmp {'ogt' if op == 'maximum' else 'olt'} {', '.join(operands).replace(', float', ',')}"
            text += f"%test.{place} = {test}\n{where[place]} = select i1 %test.{place}, {', '.join(operands)}\n"
    return text, where[len(code) - 1]


def compile_expression(text: str):
    """Your compiler: from a formula to a function of float32 arrays, one for each name, as they first occur."""
    code = lower(parsed(text))
    body, result = emit(code)
    return link(body, result, parameters(code))


# %% [markdown]
# The formula of section 1 on a million elements: compiled by this lab's compiler, by XLA, and computed by NumPy, which
# has a kernel for each operation. (The lines come from the course's `emitted`; put
# `compile_expression("a*b + c max 0")` in its place, and it is your compiler.) The time is of this run.

# %%
code = lower(parsed("a*b + c max 0"))
native = link(*emitted(code), parameters(code))
data = [np.random.default_rng(seed).normal(size=1_000_000).astype(np.float32) for seed in range(3)]
tensors = [tf.constant(array) for array in data]


def numpy_formula(a, b, c):
    return np.maximum(a * b + c, np.float32(0))


def best(function, arguments):
    """The shortest of ten runs, in seconds."""

    def once():
        start = time.perf_counter()
        function(*arguments)
        return time.perf_counter() - start

    return min(once() for _ in range(10))


ours, xla, theirs = native(*data), formula(*tensors).numpy(), numpy_formula(*data)
print("equal to NumPy in every element:", np.array_equal(ours, theirs))
print(
    "elements in which XLA differs:",
    np.count_nonzero(ours != xla),
    "of 1000000, by",
    np.abs(ours - xla).max(),
    "at most",
)
print(f"time: {best(native, data) / best(numpy_formula, data):.2f} of NumPy's")

# %% [markdown]
# One loop reads each element once; NumPy goes through memory three times. And XLA may differ, mostly in the last bits,
# and more where product and sum nearly cancel: on processors that can, it merges the product and the sum into one
# instruction that rounds only once, which your lines forbid. Lab 4-6 follows such a number into its register.
#
# The registers are the processor's. Here is the loop that LLVM makes of the same lines for others: x86 processors of
# three generations, with vector registers of 16 bytes (`xmm`), 32 (`ymm`) and 64 (`zmm`), and an Arm processor
# (`v0.4s`: four numbers of 32 bits).

# %%
llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
PROCESSORS = {  # triple, model (Haswell and Skylake are generations of Intel's), what more it can (Neon: vectors on Arm)
    "x86-64, 16 bytes": ("x86_64-linux-gnu", "x86-64", ""),
    "x86-64, 32 bytes": ("x86_64-linux-gnu", "haswell", ""),
    "x86-64, 64 bytes": ("x86_64-linux-gnu", "skylake-avx512", "-prefer-256-bit"),
    "Arm": ("aarch64-linux-gnu", "cortex-a72", "+neon"),
}


def assembly_for(processor: str, text: str) -> str:
    """The longest loop of LLVM IR, in the assembly of another processor."""
    triple, cpu, features = PROCESSORS[processor]
    machine = llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, features=features, opt=3)
    return longest_loop(machine.emit_assembly(optimised(f'target triple = "{triple}"\n{text}', machine)))


def vector_registers(assembly: str) -> list[str]:
    """The vector registers that occur in x86 or Arm assembly."""
    return sorted(
        set(re.findall(r"\b[xyz]mm\d+|\bv\d+\.4s", assembly)),
        key=lambda name: (name[0], int(re.search(r"\d+", name)[0])),
    )


for processor in PROCESSORS:
    loop = assembly_for(processor, loop_around(*emitted(code), parameters(code)))
    print(f"{processor:18}{len(loop.splitlines())} lines, registers {', '.join(vector_registers(loop))}")

# %% [markdown]
# ## 10. Play: the machine, the pipeline, the compiler
#
# The machine of section 4: the product of `[[1, 2]]` and `[[3, 4], [5, 6]]`, one instruction at a time. How many of the
# instructions compute something that is asked for, and what are the others good for?

# %%
program, memory = matmul_program(1, 2, 2), [1, 2, 3, 4, 5, 6, 0, 0]
states = [
    view.MachineState(counter, registers, cells, str(step) if step else "before the first instruction")
    for step, counter, registers, cells in executed(program, memory)
]
view.machine_player(program, states, title="[[1, 2]] @ [[3, 4], [5, 6]]")

# %% [markdown]
# The pipeline of section 5. Keep one sum, then two, then four, and change the latencies of `add` and `mul`: from how
# many sums on does another one not help any more, and what does that depend on? In the matrix product, make a miss
# cheap and see what is left.

# %%
programs = {f"{sums} sum" + "s" * (sums > 1): sum_of_products(sums) for sums in (1, 2, 4, 8)}
programs["matrix product, 1 × 3 × 1"] = steps_of(matmul_program(1, 3, 1), [1] * 7)
view.pipeline_player(programs, scheduled, {**LATENCY, "add": 4, "mul": 4}, {"add": 8, "mul": 8, "hit": 8, "miss": 40})


# %% [markdown]
# The whole compiler. Type a formula and look at each of its forms. (A formula that is no formula tells you so.) Some
# things to try: a formula that needs six registers and one with as many operations that needs two; who has a register
# after whom (look down a column); `a*b + a*b`; `a*2*3` and `2*3*a`: which one does LLVM shorten, and why not the other?
# What is left of `a - a`, and why is it not just 0?

# %%
def forms(text: str) -> dict:
    """A formula in each of the forms between text and machine code."""
    tree = parsed(text)
    code = lower(tree)
    ir = loop_around(*emitted(code), parameters(code))
    return {
        "tokens": "\n".join(f"{kind:10}{value}" for kind, value in tokenize(text)),
        "tree": view.syntax_tree(tree, title=text),
        "values and registers": view.live_ranges(allocated(code), title=text),
        "LLVM IR": ir,
        "this processor": longest_loop(this_machine().emit_assembly(optimised(ir, this_machine()))),
        **{processor: assembly_for(processor, ir) for processor in PROCESSORS},
    }


view.compiler_player(
    forms,
    [
        "a*b + c max 0",
        "(a - b)*(a - b) + c/(a - b) max a",
        "a + (b + (c + (d + a)))",
        "a*2*3",
        "2*3*a",
        "-a max 0 - b/0.1",
    ],
)

# %% [markdown]
# ## 11. Read on
#
# - The words of this lab and of the five that follow: the [glossary](../../docs/glossary.md), `docs/glossary.md` in the
#   course's folder.
# - Tensors in memory: `Tensor` and `TensorBuffer` in tensorflow/core/framework/tensor.h.
# - Caches: the blocks of Eigen's matrix product are chosen by the sizes of this machine's caches, in
#   Eigen/src/Core/products/GeneralBlockPanelKernel.h (`evaluateProductBlockingSizesHeuristic`). Lab 4-3 counts the
#   misses of a product.
# - From tree to LLVM IR: xla/service/elemental_ir_emitter.cc (`ElementalIrEmitter`). Lab 4-2 shows all the forms
#   between a Python function and this one.
# - Registers: llvm/lib/CodeGen/RegAllocGreedy.cpp. Chaitin (1982) coloured interference graphs first; that
#   SSA code without branches needs no more colours than values alive at once was noticed in 2005, by Hack and by others.
# - Since 1.x: kernels were all compiled before TensorFlow was shipped. XLA came in 2017 (1.0, experimental) and
#   compiles kernels like yours while the program runs.
